/* SPDX-License-Identifier: MIT
 * Packets out of nothing, and what firmware takes. */
#include "tools/explain/fuzz/fuzz.h"

#include <string.h>

#include "fw/image/icache.h"
#include "isa/base/pm4.h"
#include "trace/capture/pm4walk.h"

#define MOST_FIELDS  48u /* words of a payload */
#define MOST_REPEATS 6u

void grammar_init(struct grammar *g, const struct cps_fw *fw, const struct protection *protection,
                  const struct learned *learned)
{
    uint32_t table[CPS_FW_TABLE_SIZE];
    bool own[CPS_FW_TABLE_SIZE];
    uint8_t weight[CPS_FW_TABLE_SIZE] = {0};
    *g = (struct grammar){.fw = fw, .protection = protection, .learned = learned};
    for (size_t i = 0; i < cps_packet_count_; i++) {
        const struct cps_packet_row *row = &cps_packet_rows_[i];
        if (cps_packet_is_tried_(row, cps_gen_row(fw->gen)->number))
            g->fields[row->opcode] = row->words;
        if (row->tried)
            weight[row->opcode] = row->weight;
    }
    cps_fw_table_of_(fw, &fw->part[0], table);
    cps_fw_own_handlers_(table, own);
    for (unsigned i = 0; i < CPS_FW_TABLE_SIZE; i++) {
        own[i] = own[i] && !grammar_is_hardwares(i);
        if (own[i])
            g->own[g->owns++] = (uint8_t)i;
        for (unsigned k = 0; own[i] && g->fields[i] && k < weight[i]; k++)
            g->known[g->knowns++] = (uint8_t)i;
    }
}

/* D: adreno_pm4.xml has no packet of a stream there; entries are IN_IB_END, IN_GMU_INTERRUPT,
 * IN_PREEMPT; F: 6ee entry 9 is the bootstrap's. What firmware does with one in a stream shows
 * nothing: no source tells whether hardware dispatches it from there, and in which state. */
bool grammar_is_hardwares(unsigned opcode)
{
    return opcode < PM4_CP_NOP;
}

uint64_t grammar_address(const struct fuzz_case *at, struct rng *rng)
{
    const struct case_stream *s = &at->stream[rng_below(rng, at->streams)];
    uint32_t kind = rng_below(rng, 8);
    uint64_t behind = CASE_BASE + CASE_STREAMS * CASE_STRIDE;
    if (kind < 4)
        return s->iova;
    if (kind < 6)
        return s->iova + 4 * (uint64_t)rng_below(rng, CASE_WORDS);
    return behind + 4 * (uint64_t)rng_below(rng, 1024) + (kind == 7 ? rng_below(rng, 4) : 0);
}

/* Where no stream lies, but sometimes. */
static uint64_t written_address(const struct fuzz_case *at, struct rng *rng)
{
    uint64_t behind = CASE_BASE + CASE_STREAMS * CASE_STRIDE;
    return rng_chance(rng, 15) ? grammar_address(at, rng)
                               : behind + 4 * (uint64_t)rng_below(rng, 1024);
}

/* A word of the code: its low half is an immediate in most instructions. */
static uint32_t constant(const struct grammar *g, struct rng *rng)
{
    return g->fw->count ? g->fw->words[rng_below(rng, g->fw->count)] & 0xffff : 0;
}

static uint32_t few_bits(struct rng *rng)
{
    uint32_t value = 0;
    for (uint32_t i = rng_below(rng, 4); i; i--)
        value |= UINT32_C(1) << rng_below(rng, 32);
    return value;
}

uint32_t grammar_value(const struct grammar *g, const struct fuzz_case *at, struct rng *rng)
{
    switch (rng_below(rng, 8)) {
    case 0:
        return rng_below(rng, 4);
    case 1:
        return few_bits(rng);
    case 2:
        return constant(g, rng);
    case 3:
        return (uint32_t)grammar_address(at, rng);
    case 4:
        return rng_chance(rng, 50) ? UINT32_MAX - rng_below(rng, 3) : rng_below(rng, 256);
    default:
        return rng_word(rng);
    }
}

/* Registers that streams write, those that they may not, and any. */
static uint32_t any_register(const struct grammar *g, struct rng *rng)
{
    uint32_t kind = rng_below(rng, 8);
    if (kind < 3)
        return 0x8000 + rng_below(rng, 0x4000);
    if (kind < 6)
        return protection_pick(g->protection, rng_word(rng));
    return kind == 6 ? constant(g, rng) : rng_below(rng, PROTECTION_REGS);
}

/* One that is there, or one more, which is filled later. */
static struct case_stream *any_stream(struct fuzz_case *at, unsigned from, struct rng *rng)
{
    bool new = at->streams < CASE_STREAMS &&rng_chance(rng, 50);
    unsigned first = rng_chance(rng, 3) || from + 1 >= at->streams ? 0 : from + 1;
    if (!new)
        return &at->stream[first + rng_below(rng, at->streams - first)];
    uint64_t iova = CASE_BASE;
    while (case_stream_at(at, iova) < CASE_STREAMS)
        iova += CASE_STRIDE;
    struct case_stream *s = &at->stream[at->streams++];
    s->iova = iova;
    s->count = 0;
    return s;
}

static uint32_t put_address(uint64_t iova, uint32_t *ret)
{
    ret[0] = (uint32_t)iova;
    ret[1] = (uint32_t)(iova >> 32);
    return 2;
}

static uint32_t put_stream(struct fuzz_case *at, unsigned from, struct rng *rng, uint32_t *ret)
{
    const struct case_stream *s = any_stream(at, from, rng);
    put_address(s->iova, ret);
    ret[2] = s->count | (rng_chance(rng, 25) ? 1u << (20 + rng_below(rng, 12)) : 0);
    return 3;
}

/* Group and modes: in most of them all three. */
static uint32_t put_group(struct fuzz_case *at, unsigned from, struct rng *rng, uint32_t *ret)
{
    const struct case_stream *s = any_stream(at, from, rng);
    uint32_t modes = rng_chance(rng, 70) ? 7 : rng_below(rng, 8);
    uint32_t flags = rng_chance(rng, 25) ? 1u << (16 + rng_below(rng, 4)) : 0;
    ret[0] = s->count | modes << 20 | flags | rng_below(rng, 32) << 24;
    return 1 + put_address(s->iova, &ret[1]);
}

/* A word for a field of one word, as pm4.def names it. */
static uint32_t field_value(const struct grammar *g, const struct fuzz_case *at, struct rng *rng,
                            char field)
{
    static const uint32_t initiators[] = {0x84, 0x88, 0x04, 0x44, 0xc4, 0x184, 0x10084, 0x20084};
    uint32_t value = 0;
    switch (field) {
    case 'r':
        value = rng_chance(rng, 50) ? rng_below(rng, 4) << 18 | few_bits(rng) << 18 : 0;
        return any_register(g, rng) | value;
    case 'n':
        return rng_chance(rng, 90) ? rng_below(rng, 8) : grammar_value(g, at, rng);
    case 'f':
        return rng_chance(rng, 80) ? few_bits(rng) | rng_below(rng, 64) : rng_word(rng);
    case 'd':
        return rng_chance(rng, 80) ? initiators[rng_below(rng, 8)] : rng_word(rng);
    case 'e':
        value = rng_below(rng, 0x40);
        return rng_chance(rng, 50) ? value : value | few_bits(rng) << 8;
    case 't':
        return 1 + rng_below(rng, 3) + (rng_chance(rng, 20) ? UINT32_C(1) << 31 : 0) +
               (rng_chance(rng, 20) ? UINT32_C(1) << 27 : 0);
    case 'k':
        return rng_chance(rng, 80) ? rng_below(rng, 16) : 0x100 + rng_below(rng, 2);
    default:
        return grammar_value(g, at, rng);
    }
}

static uint32_t put_field(const struct grammar *g, struct fuzz_case *at, unsigned from,
                          struct rng *rng, char field, uint32_t *ret)
{
    switch (field) {
    case 'a':
        return put_address(grammar_address(at, rng), ret);
    case 'w':
        return put_address(written_address(at, rng), ret);
    case 'i':
        return put_stream(at, from, rng, ret);
    case 'g':
        return put_group(at, from, rng, ret);
    default:
        *ret = field_value(g, at, rng, field);
        return 1;
    }
}

/* Fields up to what may be missing or come again, which decides on the rest. */
static uint32_t put_fields(const struct grammar *g, struct fuzz_case *at, unsigned from,
                           struct rng *rng, const char *fields, uint32_t *ret)
{
    uint32_t words = 0;
    const char *again = NULL;
    uint32_t left = 0;
    for (const char *f = fields; words < MOST_FIELDS; f++) {
        if (!*f && left--) {
            f = again;
            continue;
        }
        if (!*f)
            break;
        if (*f == '?' && rng_chance(rng, 50))
            break;
        if (*f == '*') {
            again = f;
            left = rng_below(rng, MOST_REPEATS);
            if (!left)
                break;
            left--;
        } else if (*f != '?') {
            words += put_field(g, at, from, rng, *f, &ret[words]);
        }
    }
    return words;
}

/* Mostly one that is documented and that there is a handler for. */
static unsigned any_opcode(const struct grammar *g, struct rng *rng)
{
    uint32_t kind = rng_below(rng, 100);
    if (kind < 80 && g->knowns)
        return g->known[rng_below(rng, g->knowns)];
    return kind < 98 && g->owns ? g->own[rng_below(rng, g->owns)]
                                : rng_below(rng, CPS_FW_TABLE_SIZE);
}

uint32_t grammar_packet(const struct grammar *g, struct fuzz_case *at, unsigned stream,
                        struct rng *rng, uint32_t *ret)
{
    if (rng_chance(rng, 15)) {
        uint32_t count = rng_chance(rng, 70) ? 1 : rng_below(rng, 8);
        ret[0] = cps_pm4_type4(any_register(g, rng), count);
        for (uint32_t i = 0; i < count; i++)
            ret[1 + i] = grammar_value(g, at, rng);
        return 1 + count;
    }
    if (rng_chance(rng, 1)) {
        ret[0] = rng_word(rng);
        return 1;
    }
    unsigned opcode = any_opcode(g, rng);
    bool known = g->fields[opcode] && !rng_chance(rng, 5);
    uint32_t words = put_fields(g, at, stream, rng, known ? g->fields[opcode] : "*vv", &ret[1]);
    uint32_t taken = rng_chance(rng, 95) ? learn_count(g->learned, opcode, words, rng) : words;
    while (words < taken)
        ret[1 + words++] = grammar_value(g, at, rng);
    ret[0] = cps_pm4_type7(opcode, taken);
    return 1 + taken;
}

static void fill(const struct grammar *g, struct fuzz_case *at, unsigned stream, uint32_t packets,
                 struct rng *rng)
{
    uint32_t word[CASE_WORDS];
    for (uint32_t i = 0; i < packets; i++) {
        uint32_t count = grammar_packet(g, at, stream, rng, word);
        struct case_stream *s = &at->stream[stream];
        if (!case_insert(s, s->count, word, count))
            return;
    }
}

void grammar_fill(const struct grammar *g, struct rng *rng, struct fuzz_case *edited)
{
    for (unsigned i = 1; i < edited->streams; i++) {
        if (!edited->stream[i].count)
            fill(g, edited, i, 1 + rng_below(rng, 4), rng);
    }
}

/* Packets of a stream may make further streams, which are filled when their turn comes. */
void grammar_case(const struct grammar *g, struct rng *rng, struct fuzz_case *ret)
{
    case_clear(ret);
    for (unsigned i = 0; i < ret->streams; i++)
        fill(g, ret, i, 1 + rng_below(rng, i ? 4 : 8), rng);
    case_fit(ret, NULL);
}

/* ---- What firmware takes ---- */

static void count(uint16_t *counter, unsigned more)
{
    *counter = *counter + more < UINT16_MAX ? (uint16_t)(*counter + more) : UINT16_MAX;
}

/* Whether packets follow each other from one word to the other: some were left out, as conditions
 * do. */
static bool leads_to(const struct fuzz_case *input, unsigned stream, uint32_t from, uint32_t to)
{
    while (from < to)
        from += case_packet_at(input, stream, from).length;
    return from == to;
}

void learn_next(struct learned *learned, const struct fuzz_case *input,
                const struct learn_last *last, unsigned level, uint64_t iova)
{
    struct cps_pm4 packet = cps_pm4_decode(last->header);
    /* The stream in which both places are, the second one perhaps at its end. */
    uint64_t from = last->iova;
    uint64_t to = iova;
    unsigned i = 0;
    while (i < input->streams) {
        const struct case_stream *s = &input->stream[i];
        if (from >= s->iova && from < to && to <= s->iova + 4 * (uint64_t)s->count)
            break;
        i++;
    }
    unsigned stream = i;
    if (packet.kind != CPS_PM4_TYPE7)
        return;
    count(&learned->passed[packet.opcode][level % LEARN_LEVELS], 1);
    if (stream == input->streams)
        return;
    uint32_t words = (uint32_t)((iova - last->iova) / 4) - 1;
    uint32_t at = (uint32_t)((last->iova - input->stream[stream].iova) / 4);
    if (words == packet.count && words < LEARN_COUNTS) {
        count(&learned->took[packet.opcode][words], 1);
    } else if (!leads_to(input, stream, at, at + 1 + words)) {
        if (packet.count < LEARN_COUNTS)
            count(&learned->lost[packet.opcode][packet.count], 1);
        if (words < LEARN_COUNTS)
            count(&learned->took[packet.opcode][words], 1);
    }
}

void learn_starved(struct learned *learned, uint32_t header)
{
    struct cps_pm4 packet = cps_pm4_decode(header);
    if (packet.kind == CPS_PM4_TYPE7 && packet.count < LEARN_COUNTS)
        count(&learned->lost[packet.opcode][packet.count], 1);
}

void learn_refused(struct learned *learned, uint32_t header, unsigned level)
{
    struct cps_pm4 packet = cps_pm4_decode(header);
    if (packet.kind == CPS_PM4_TYPE7)
        count(&learned->refused[packet.opcode][level % LEARN_LEVELS], 1);
}

void learn_join(struct learned *learned, const struct learned *more)
{
    uint16_t *to = (uint16_t *)learned;
    const uint16_t *from = (const uint16_t *)more;
    for (size_t i = 0; i < sizeof(*learned) / sizeof(*to); i++)
        count(&to[i], from[i]);
}

bool learn_is_bad(const struct learned *learned, unsigned opcode, uint32_t words)
{
    const uint16_t *took = learned->took[opcode % LEARN_OPCODES];
    const uint16_t *lost = learned->lost[opcode % LEARN_OPCODES];
    return words < LEARN_COUNTS && lost[words] > 1 + took[words];
}

bool learn_is_refused(const struct learned *learned, unsigned opcode, unsigned level)
{
    const uint16_t *passed = learned->passed[opcode % LEARN_OPCODES];
    const uint16_t *refused = learned->refused[opcode % LEARN_OPCODES];
    level %= LEARN_LEVELS;
    return refused[level] > 1 + passed[level];
}

uint32_t learn_count(const struct learned *learned, unsigned opcode, uint32_t wanted,
                     struct rng *rng)
{
    const uint16_t *took = learned->took[opcode % LEARN_OPCODES];
    const uint16_t *lost = learned->lost[opcode % LEARN_OPCODES];
    uint32_t found = wanted;
    uint32_t seen = 0;
    if (!learn_is_bad(learned, opcode, wanted))
        return wanted;
    for (uint32_t i = 0; i < LEARN_COUNTS; i++) {
        if (took[i] > lost[i] && !rng_below(rng, ++seen))
            found = i;
    }
    return found;
}
