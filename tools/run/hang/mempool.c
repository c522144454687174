/* SPDX-License-Identifier: MIT
 * The queues in CP_MEMPOOL. Each is a list of blocks of 8 chunks; a chunk holds up to two writes.
 */
#include "tools/run/hang/hang.h"

#include <inttypes.h>
#include <stdlib.h>

#include "isa/base/list.h"

enum { CHUNK_WORDS = 4, BLOCK_CHUNKS = 8, BLOCK_WORDS = CHUNK_WORDS * BLOCK_CHUNKS };

/* Where things stand, in dwords, in a pool of a number of blocks (D: Mesa's crashdec says that some
 * chips have a smaller one, a610 48 blocks in the kernel's a6xx_hw_init()). */
struct shape {
    uint32_t blocks, next, state, sizes;
};
static const struct shape shapes[] = {
    {0x80, 0x1000, 0x1800, 0x2000},
    {0x30, 0x0800, 0x0c00, 0x1000},
};
/* Rows of 8 dwords behind `state`, a queue a dword; and the sizes in chunks behind `sizes`. */
enum {
    ROW = 8,
    WRITER = 1 * ROW,
    WRITER_SECOND = 3 * ROW,
    READER = 5 * ROW,
    READER_SECOND = 7 * ROW,
    QUEUE_SIZES = 0x18,
};

struct walk {
    const struct dump_block *block;
    const struct shape *shape;
    unsigned queue;
    struct mempool *pool;
};

struct chunk_at {
    uint32_t block, chunk;
};

/* A pointer has the first block and the chunk; the second block stands beside it. Which of the two
 * it is in depends on which half of a block the chunk is in (D). */
static struct chunk_at place_of(const struct walk *w, uint32_t first, uint32_t second)
{
    uint32_t state = w->shape->state + w->queue;
    uint32_t word = dump_word(w->block, state + first);
    uint32_t chunk = word & (BLOCK_CHUNKS - 1);
    uint32_t block =
        chunk >= BLOCK_CHUNKS / 2 ? word / BLOCK_CHUNKS : dump_word(w->block, state + second);
    return (struct chunk_at){block, chunk};
}

static uint64_t bits(const uint32_t *words, unsigned first, unsigned count)
{
    uint64_t value = words[first / 32] | (uint64_t)(first / 32 < 3 ? words[first / 32 + 1] : 0)
                                             << 32;
    return value >> first % 32 & ((UINT64_C(1) << count) - 1);
}

static struct cps_err *add(struct mempool_queue *queue, const uint32_t *chunk, unsigned which)
{
    enum { VALID = 0, DATA = 2, OFFSET = 66, PIPE = 102, CONTEXT = 104 };
    if (!bits(chunk, VALID + which, 1))
        return NULL;
    if (!CPS_LIST_ROOM(queue->entry, queue->count))
        return cps_err_nomem();
    queue->entry[queue->count++] = (struct mempool_entry){
        .offset = (uint32_t)bits(chunk, OFFSET + 18 * which, 18),
        .value = (uint32_t)bits(chunk, DATA + 32 * which, 32),
        .context = (uint8_t)bits(chunk, CONTEXT + which, 1),
        .pipe = bits(chunk, PIPE + which, 1),
    };
    return NULL;
}

static void refuse(struct mempool *pool, unsigned queue, const char *what, uint32_t found,
                   uint32_t expected)
{
    pool->known = false;
    cps_buf_printf(&pool->why, "CP_MEMPOOL: the queue of %s %s 0x%" PRIx32 ", expected 0x%" PRIx32,
                   dump_cluster_name(queue), what, found, expected);
}

/* The blocks from the reader to the writer; the number of chunks must be what the pool says. */
static struct cps_err *walk_queue(const struct walk *w)
{
    struct chunk_at at = place_of(w, READER, READER_SECOND);
    const struct chunk_at end = place_of(w, WRITER, WRITER_SECOND);
    uint32_t size = dump_word(w->block, w->shape->sizes + QUEUE_SIZES + w->queue);
    uint32_t chunks = 0;
    uint32_t most = w->shape->blocks * BLOCK_CHUNKS;
    while (chunks <= most && (at.block != end.block || at.chunk != end.chunk)) {
        if (at.block >= w->shape->blocks) {
            refuse(w->pool, w->queue, "has a block", at.block, w->shape->blocks - 1);
            return NULL;
        }
        uint32_t chunk[CHUNK_WORDS];
        size_t first = (size_t)at.block * BLOCK_WORDS + at.chunk * CHUNK_WORDS;
        for (unsigned i = 0; i < CHUNK_WORDS; i++)
            chunk[i] = dump_word(w->block, first + i);
        CPS_TRY(add(&w->pool->queue[w->queue], chunk, 0));
        CPS_TRY(add(&w->pool->queue[w->queue], chunk, 1));
        chunks++;
        if (++at.chunk < BLOCK_CHUNKS)
            continue;
        at.chunk = 0;
        at.block = dump_word(w->block, w->shape->next + at.block);
    }
    if (chunks != size)
        refuse(w->pool, w->queue, "has chunks", chunks, size);
    return NULL;
}

/* The pool's number of blocks stands at its end, at a place that depends on it. */
static const struct shape *shape_of(const struct dump_block *block)
{
    for (unsigned i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        if (dump_word(block, shapes[i].sizes) == shapes[i].blocks)
            return &shapes[i];
    }
    return NULL;
}

struct cps_err *mempool_read(const struct dump *dump, struct mempool *ret)
{
    struct walk w = {.block = dump_block(dump, "CP_MEMPOOL"), .pool = ret};
    *ret = (struct mempool){0};
    if (!w.block)
        return NULL;
    w.shape = shape_of(w.block);
    ret->known = w.shape;
    if (!w.shape)
        cps_buf_printf(&ret->why,
                       "CP_MEMPOOL: the pool's size is 0x%" PRIx32 " blocks, expected 0x80 or 0x30",
                       dump_word(w.block, shapes[0].sizes));
    for (w.queue = 0; ret->known && w.queue < DUMP_CLUSTERS; w.queue++)
        CPS_TRY(walk_queue(&w));
    for (unsigned i = 0; !ret->known && i < DUMP_CLUSTERS; i++)
        ret->queue[i].count = 0; /* of damage, nothing is believed */
    return ret->why.failed ? cps_err_nomem() : NULL;
}

void mempool_deinit(struct mempool *pool)
{
    for (unsigned i = 0; i < DUMP_CLUSTERS; i++)
        free(pool->queue[i].entry);
    cps_buf_deinit(&pool->why);
    *pool = (struct mempool){0};
}
