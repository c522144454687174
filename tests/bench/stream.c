/* SPDX-License-Identifier: MIT
 * A deck of packets for each level, shuffled, and dealt out to streams as the rows of mix.def say.
 */
#include "tests/bench/stream.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "isa/base/le.h"
#include "isa/base/pm4.h"
#include "isa/packet.h"

enum level { IB1, IB2, SDS, LEVELS };
enum { MOST_PACKETS = 512, MOST_STREAMS = 64, MOST_WORDS = 4 };
enum { BUFFERS = 0x01000000, SPACING = 0x10000, DATA_IOVA = 0x00f10000 };
enum { SECTION_GPUADDR = 3, SECTION_CMDSTREAM = 6, SECTION_CONTENTS = 12 };

/* A row that is a packet. */
struct card {
    uint8_t level, opcode; /* 0: type 4 */
    uint16_t dwords, times;
    uint32_t word[MOST_WORDS];
};

static const struct card cards[] = {
#define TYPE4(level, registers, times)            {level, 0, registers, times, {0}},
#define PACKET(level, opcode, dwords, times, ...) {level, opcode, dwords, times, {__VA_ARGS__}},
#include "tests/bench/mix.def"
};

/* A row that is a stream. */
static const struct shape {
    uint8_t level, packets, times;
    bool draws;
} shapes[] = {
#define STREAM(...) {__VA_ARGS__},
#include "tests/bench/mix.def"
};

enum {
#define GROUPS(entries) ENTRIES = (entries),
#define DATA(dwords)    DATA_DWORDS = (dwords),
#include "tests/bench/mix.def"
};

/* Where registers are written that no firmware takes for a command of its own. */
static const uint32_t blocks[] = {0x8000, 0x8090, 0x8820, 0x8860, 0x9100, 0x9200, 0xa980, 0xb180};

/* A stream that is made. */
struct made {
    uint64_t iova;
    uint32_t dwords;
    unsigned level;
};

struct maker {
    struct cps_buf *out;
    uint32_t random;
    const struct card *deck[LEVELS][MOST_PACKETS];
    unsigned held[LEVELS]; /* cards in it */
    unsigned dealt[LEVELS];
    struct made made[MOST_STREAMS];
    unsigned count;
    unsigned draw;         /* of this submission */
    struct cps_buf *words; /* of the stream at hand, as bytes */
};

static uint32_t next(struct maker *m)
{
    m->random = m->random * 1664525u + 1013904223u;
    return m->random >> 12;
}

static void put(struct cps_buf *to, uint32_t word)
{
    uint8_t bytes[4];
    cps_put_le32(bytes, word);
    cps_buf_add(to, (const char *)bytes, 4);
}

static void put_address(struct cps_buf *out, uint32_t section, uint64_t iova, uint32_t size)
{
    put(out, section);
    put(out, 12);
    put(out, (uint32_t)iova);
    put(out, size);
    put(out, (uint32_t)(iova >> 32));
}

static void put_buffer(struct cps_buf *out, uint64_t iova, const struct cps_buf *contents)
{
    put_address(out, SECTION_GPUADDR, iova, (uint32_t)contents->size);
    put(out, SECTION_CONTENTS);
    put(out, (uint32_t)contents->size);
    cps_buf_join(out, contents);
}

static void shuffle(struct maker *m, unsigned level)
{
    unsigned count = 0;
    for (unsigned i = 0; i < sizeof(cards) / sizeof(cards[0]); i++) {
        for (unsigned k = 0; cards[i].level == level && k < cards[i].times; k++)
            m->deck[level][count++] = &cards[i];
    }
    for (unsigned i = count; i > 1; i--) {
        unsigned with = next(m) % i;
        const struct card *card = m->deck[level][i - 1];
        m->deck[level][i - 1] = m->deck[level][with];
        m->deck[level][with] = card;
    }
    m->held[level] = count;
    m->dealt[level] = 0;
}

static void put_card(struct maker *m, const struct card *card)
{
    if (card->opcode) {
        put(m->words, cps_pm4_type7(card->opcode, card->dwords));
        for (unsigned i = 0; i < card->dwords; i++)
            put(m->words, i < MOST_WORDS ? card->word[i] : 0);
        return;
    }
    uint32_t block = blocks[next(m) % (sizeof(blocks) / sizeof(blocks[0]))];
    put(m->words, cps_pm4_type4(block + next(m) % 32, card->dwords));
    for (unsigned i = 0; i < card->dwords; i++)
        put(m->words, next(m) % 4 ? 0 : next(m));
}

static void deal(struct maker *m, unsigned level, unsigned count)
{
    for (; count && m->dealt[level] < m->held[level]; count--)
        put_card(m, m->deck[level][m->dealt[level]++]);
}

/* Each draw has its share of the groups, and entries that are empty. */
static void put_draw(struct maker *m, unsigned draws)
{
    enum { ALL_MODES = 7u << 20, INITIATOR = 0x84 };
    unsigned entry = 0;
    unsigned group = 0;
    put(m->words, cps_pm4_type7(PM4_CP_SET_DRAW_STATE, 3 * ENTRIES));
    for (unsigned i = 0; i < m->count && entry < ENTRIES; i++) {
        if (m->made[i].level != SDS || group++ % draws != m->draw % draws)
            continue;
        put(m->words, entry++ << 24 | ALL_MODES | m->made[i].dwords);
        put(m->words, (uint32_t)m->made[i].iova);
        put(m->words, 0);
    }
    for (; entry < ENTRIES; entry++) {
        put(m->words, entry << 24 | ALL_MODES);
        put(m->words, 0);
        put(m->words, 0);
    }
    put(m->words, cps_pm4_type7(PM4_CP_DRAW_INDX_OFFSET, 3));
    put(m->words, INITIATOR);
    put(m->words, 1);
    put(m->words, 3);
    m->draw++;
}

static void put_call(struct maker *m, const struct made *to)
{
    put(m->words, cps_pm4_type7(PM4_CP_INDIRECT_BUFFER, 3));
    put(m->words, (uint32_t)to->iova);
    put(m->words, 0);
    put(m->words, to->dwords);
}

/* The first level: its calls stand at even distances among its packets. */
static void put_calls(struct maker *m)
{
    unsigned calls = 0;
    unsigned called = 0;
    for (unsigned i = 0; i < m->count; i++)
        calls += m->made[i].level == IB2;
    for (unsigned i = 0; i < m->count; i++) {
        if (m->made[i].level != IB2)
            continue;
        called++;
        deal(m, IB1, m->held[IB1] * called / (calls + 1) - m->dealt[IB1]);
        put_call(m, &m->made[i]);
    }
    deal(m, IB1, m->held[IB1]);
}

static unsigned count_draws(void)
{
    unsigned draws = 0;
    for (unsigned i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        draws += shapes[i].draws ? shapes[i].times : 0;
    return draws;
}

static void make_stream(struct maker *m, const struct shape *shape)
{
    enum { OF_DRAW = 2, BEHIND_DRAW = 2 };
    struct made *made = &m->made[m->count];
    cps_buf_clear(m->words);
    if (shape->level == IB1)
        put_calls(m);
    else
        deal(m, shape->level, shape->packets - (shape->draws ? OF_DRAW + BEHIND_DRAW : 0u));
    if (shape->draws) {
        put_draw(m, count_draws());
        deal(m, shape->level, BEHIND_DRAW);
    }
    *made = (struct made){BUFFERS + (uint64_t)m->count * SPACING, (uint32_t)(m->words->size / 4),
                          shape->level};
    m->count++;
    put_buffer(m->out, made->iova, m->words);
}

static void make_level(struct maker *m, unsigned level)
{
    for (unsigned i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        for (unsigned k = 0; shapes[i].level == level && k < shapes[i].times; k++)
            make_stream(m, &shapes[i]);
    }
}

/* As compressible as what real captures hold: some of it new, much of it zero. */
static void make_data(struct maker *m)
{
    cps_buf_clear(m->words);
    for (unsigned i = 0; i < DATA_DWORDS; i++)
        put(m->words, i % 8 ? 0 : 0x3f800000u | next(m));
    put_buffer(m->out, DATA_IOVA, m->words);
}

/* Who is called is made before the caller; which of them comes first in the file is all the same.
 */
static void make_submission(struct maker *m)
{
    m->count = m->draw = 0;
    for (unsigned level = 0; level < LEVELS; level++)
        shuffle(m, level);
    make_data(m);
    make_level(m, SDS);
    make_level(m, IB2);
    make_level(m, IB1);
    const struct made *first = &m->made[m->count - 1];
    put_address(m->out, SECTION_CMDSTREAM, first->iova, first->dwords);
}

void bench_stream(unsigned submissions, struct cps_buf *ret)
{
    CPS_BUF words = {0};
    struct maker m = {.out = ret, .words = &words, .random = 1};
    for (unsigned i = 0; i < submissions; i++)
        make_submission(&m);
    ret->failed = ret->failed || words.failed;
}
