/* SPDX-License-Identifier: MIT
 * Regions and positions of CP_ROQ. */
#include "tools/run/hang/hang.h"
#include "isa/base/le.h"

/* Where the driver says that regions begin (D: a6xx_hw_init() of the kernel, register database).
 * CP_ROQ_THRESHOLDS_1 has MRB, VSD, IB1 and IB2 in bytes, CP_ROQ_THRESHOLDS_2 SDS in 15:0 and the
 * size of it all in 31:16; units of 4 dwords. */
enum { UNIT = 4 };
/* Read and write positions: dwords of the whole, 10:0 and 26:16 (H: a630, which has 10 bits). */
enum { POSITION_BITS = 0x7ff, POSITION_WRITE = 16 };

/* D: register database. On a5xx, of which no source says where they are, those numbers are free. */
static const struct roq_registers a6xx_registers = {
    .status = {[ROQ_RING] = 0x939,
               [ROQ_MRB] = 0x93d,
               [ROQ_VSD] = 0x93e,
               [ROQ_IB1] = 0x93a,
               [ROQ_IB2] = 0x93b,
               [ROQ_SDS] = 0x93c},
    .available = {[ROQ_RING] = 0x948,
                  [ROQ_MRB] = 0x94c,
                  [ROQ_VSD] = 0x94d,
                  [ROQ_IB1] = 0x949,
                  [ROQ_IB2] = 0x94a,
                  [ROQ_SDS] = 0x94b},
    .base = {0x928, 0x92b, 0x92e},
    .rest = {0x92a, 0x92d, 0x930},
    .dwords = {0x943, 0x944, 0x945},
};
static const struct roq_registers a8xx_registers = {
    .status = {[ROQ_RING] = 0x920,
               [ROQ_MRB] = 0x925,
               [ROQ_VSD] = 0x926,
               [ROQ_IB1] = 0x921,
               [ROQ_IB2] = 0x922,
               [ROQ_SDS] = 0x924},
    .available = {[ROQ_RING] = 0x918,
                  [ROQ_MRB] = 0x91d,
                  [ROQ_VSD] = 0x91e,
                  [ROQ_IB1] = 0x919,
                  [ROQ_IB2] = 0x91a,
                  [ROQ_SDS] = 0x91c},
    .base = {0x900, 0x904, 0x90c},
    .rest = {0x902, 0x906, 0x90e},
    .dwords = {0x903, 0x907, 0x90f},
};

const struct roq_registers *roq_registers_of(enum cps_gen gen)
{
    return cps_gen_since(gen, CPS_A8XX) ? &a8xx_registers : &a6xx_registers;
}

void roq_borders(uint32_t low, uint32_t high, uint32_t ret[ROQ_REGIONS + 1])
{
    const uint32_t border[ROQ_REGIONS + 1] = {
        0, low & 0xff, low >> 8 & 0xff, low >> 16 & 0xff, low >> 24, high & 0xffff, high >> 16,
    };
    for (unsigned i = 0; i <= ROQ_REGIONS; i++)
        ret[i] = UNIT * border[i];
}

static bool inside(const struct roq_queue *queue, uint32_t position)
{
    return position >= queue->begin && position - queue->begin < queue->size;
}

void roq_read(const struct dump *dump, struct roq *ret)
{
    uint32_t low = 0, high = 0;
    uint32_t border[ROQ_REGIONS + 1];
    const struct roq_registers *registers = roq_registers_of(dump_gen(dump));
    *ret = (struct roq){.block = dump_block(dump, "CP_ROQ")};
    bool known = dump_reg(dump, ROQ_THRESHOLDS_1, &low) && dump_reg(dump, ROQ_THRESHOLDS_2, &high);
    if (dump->policy.size && (!known || dump_gen(dump) != CPS_A6XX)) {
        low = (uint32_t)ROQ_DEFAULT_LOW;
        high = ROQ_DEFAULT_HIGH;
    } else if (!known) {
        return;
    }
    if (!ret->block)
        return;
    roq_borders(low, high, border);
    for (unsigned region = 0; region < ROQ_REGIONS; region++) {
        struct roq_queue *queue = &ret->queue[region];
        if (border[region + 1] <= border[region])
            continue;
        queue->begin = border[region];
        queue->size = border[region + 1] - border[region];
        uint32_t value = 0;
        known = dump_reg(dump, registers->status[region], &value);
        uint32_t read = value & POSITION_BITS;
        uint32_t write = value >> POSITION_WRITE & POSITION_BITS;
        queue->known = known && inside(queue, read) && inside(queue, write);
        queue->read = read - queue->begin;
        queue->write = write - queue->begin;
    }
}

uint32_t roq_waiting(const struct roq_queue *queue)
{
    return queue->known ? (queue->write + queue->size - queue->read) % queue->size : 0;
}

uint32_t roq_word(const struct roq *roq, enum roq_region region, int64_t distance)
{
    const struct roq_queue *queue = &roq->queue[region];
    int64_t at = ((int64_t)queue->read + distance) % queue->size;
    return dump_word(roq->block, queue->begin + (size_t)(at < 0 ? at + queue->size : at));
}

/* The ring is fetched in granules of 4 dwords, so that positions in the queue say nothing by
 * themselves: the place is where the words read last are those of the ring. */
static bool ring_position(const struct dump *dump, const struct dump_ring *ring,
                          const struct roq *roq, uint32_t *ret)
{
    enum { ENOUGH = 4, MOST = 64 };
    uint32_t size = (uint32_t)(ring->size / 4);
    const struct roq_queue *queue = &roq->queue[ROQ_RING];
    uint32_t history = queue->size - roq_waiting(queue);
    uint32_t most = 0;
    for (uint32_t at = 0; at < size; at++) {
        uint32_t same = 0;
        uint32_t word = 0;
        while (
            same < history && same < size && same < MOST &&
            dump_memory(dump, ring->iova + 4 * (uint64_t)((at + size - 1 - same) % size), &word) &&
            word == roq_word(roq, ROQ_RING, -1 - (int64_t)same))
            same++;
        if (same > most) {
            most = same;
            *ret = at;
        }
    }
    return most >= ENOUGH;
}

bool roq_fetch(const struct dump *dump, uint32_t level, struct roq_fetch *ret)
{
    uint32_t low = 0, high = 0;
    const struct roq_registers *registers = roq_registers_of(dump_gen(dump));
    uint32_t base = registers->base[(level - 1) % ROQ_LEVELS];
    *ret = (struct roq_fetch){0};
    bool known = dump_reg(dump, base, &low) && dump_reg(dump, base + 1, &high) &&
                 dump_reg(dump, registers->rest[(level - 1) % ROQ_LEVELS], &ret->rest) &&
                 dump_reg(dump, registers->dwords[(level - 1) % ROQ_LEVELS], &ret->dwords);
    ret->iova = (uint64_t)high << 32 | low;
    return known;
}

bool roq_ring_position(const struct dump *dump, const struct dump_ring *ring, uint32_t *ret)
{
    struct roq roq;
    roq_read(dump, &roq);
    *ret = 0;
    return roq.queue[ROQ_RING].known && ring->size <= DUMP_RING_LIMIT &&
           ring_position(dump, ring, &roq, ret);
}

/* ---- The place of a hang in the dump's memory. Registers name the fetch that is being filled,
 * which with look-ahead need not be the one that is read: the words themselves do not err. ---- */

/* Fewer words say nothing, more cost time; a header is not further back than its packet can be. */
enum { ENOUGH = 4, MOST = 32 };

struct search {
    const struct dump_data *data;
    const struct roq *roq;
    enum roq_region region;
    int64_t history, waiting; /* dwords that the region has on both sides */
};

static bool agrees(const struct search *s, size_t at, int64_t distance)
{
    int64_t byte = (int64_t)at + 4 * distance;
    return byte >= 0 && byte + 4 <= (int64_t)s->data->size &&
           cps_le32(s->data->bytes + byte) == roq_word(s->roq, s->region, distance);
}

/* How many words agree around byte @p at, as the next one to read: @return 0 if the one in front of
 * it does not. */
static uint32_t words_around(const struct search *s, size_t at)
{
    uint32_t words = 0;
    for (int64_t i = 1; i <= s->history && i <= MOST && agrees(s, at, -i); i++)
        words++;
    for (int64_t i = 0; words && i < s->waiting && i < MOST && agrees(s, at, i); i++)
        words++;
    return words;
}

/* The packet's header stands as far in front of the place as words agree. */
static uint64_t header_before(const struct search *s, size_t at, uint32_t header)
{
    for (int64_t i = 1; i <= s->history && agrees(s, at, -i); i++) {
        if (roq_word(s->roq, s->region, -i) == header)
            return s->data->iova + at - 4 * (uint64_t)i;
    }
    return 0;
}

static void search(const struct search *s, uint32_t header, struct hang_estimate *ret)
{
    for (size_t at = 4; at <= s->data->size; at += 4) {
        uint32_t words = words_around(s, at);
        if (words < ENOUGH || words < ret->words)
            continue;
        uint64_t packet = header ? header_before(s, at, header) : 0;
        if (header && !packet)
            continue;
        unsigned places = words == ret->words ? ret->places + 1 : 1;
        if (places == 1)
            *ret = (struct hang_estimate){s->data->iova + at, packet, words, 1};
        ret->places = places;
    }
}

bool hang_estimate(const struct dump *dump, const struct roq *roq, uint32_t level, uint32_t header,
                   struct hang_estimate *ret)
{
    struct search s = {.roq = roq, .region = roq_of_level(level)};
    const struct roq_queue *queue = &roq->queue[s.region];
    *ret = (struct hang_estimate){0};
    if (level > 3 || !queue->known)
        return false;
    s.waiting = roq_waiting(queue);
    s.history = queue->size - s.waiting;
    for (size_t i = 0; i < dump->data_count; i++) {
        s.data = &dump->data[i];
        search(&s, header, ret);
    }
    return ret->words;
}
