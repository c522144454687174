/* SPDX-License-Identifier: MIT
 * Regions and positions of CP_ROQ. */
#include "tools/run/hang/roq.h"

/* Where the driver says that regions begin (D: a6xx_hw_init() of the kernel, register database).
 * CP_ROQ_THRESHOLDS_1 has MRB, VSD, IB1 and IB2 in bytes, CP_ROQ_THRESHOLDS_2 SDS in 15:0 and the
 * size of it all in 31:16; units of 4 dwords. */
enum { THRESHOLDS_1 = 0x8c1, THRESHOLDS_2 = 0x8c2, UNIT = 4 };
/* Read and write positions: dwords of the whole, 10:0 and 26:16 (H: a630, which has 10 bits). */
enum { POSITION_BITS = 0x7ff, POSITION_WRITE = 16 };

static const uint16_t position_register[ROQ_REGIONS] = {
    [ROQ_RING] = 0x939, [ROQ_MRB] = 0x93d, [ROQ_VSD] = 0x93e,
    [ROQ_IB1] = 0x93a,  [ROQ_IB2] = 0x93b, [ROQ_SDS] = 0x93c,
};

static bool inside(const struct roq_queue *queue, uint32_t position)
{
    return position >= queue->begin && position - queue->begin < queue->size;
}

static void read_positions(const struct dump *dump, enum roq_region region, struct roq_queue *queue)
{
    uint32_t value = 0;
    bool known = dump_reg(dump, position_register[region], &value);
    uint32_t read = value & POSITION_BITS;
    uint32_t write = value >> POSITION_WRITE & POSITION_BITS;
    queue->known = known && inside(queue, read) && inside(queue, write);
    queue->read = read - queue->begin;
    queue->write = write - queue->begin;
}

void roq_read(const struct dump *dump, struct roq *ret)
{
    uint32_t low = 0, high = 0;
    *ret = (struct roq){.block = dump_block(dump, "CP_ROQ")};
    if (!ret->block || !dump_reg(dump, THRESHOLDS_1, &low) || !dump_reg(dump, THRESHOLDS_2, &high))
        return;
    const uint32_t border[ROQ_REGIONS + 1] = {
        0, low & 0xff, low >> 8 & 0xff, low >> 16 & 0xff, low >> 24, high & 0xffff, high >> 16,
    };
    for (unsigned region = 0; region < ROQ_REGIONS; region++) {
        struct roq_queue *queue = &ret->queue[region];
        if (border[region + 1] <= border[region])
            continue;
        queue->begin = UNIT * border[region];
        queue->size = UNIT * (border[region + 1] - border[region]);
        read_positions(dump, region, queue);
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
    enum { IB1_BASE = 0x928, IB1_REST = 0x92a, IB1_DWORDS = 0x943, IB_STRIDE = 3 };
    uint32_t low = 0, high = 0;
    uint32_t base = IB1_BASE + (level - 1) * IB_STRIDE;
    *ret = (struct roq_fetch){0};
    bool known = dump_reg(dump, base, &low) && dump_reg(dump, base + 1, &high) &&
                 dump_reg(dump, IB1_REST + (level - 1) * IB_STRIDE, &ret->rest) &&
                 dump_reg(dump, IB1_DWORDS + level - 1, &ret->dwords);
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
