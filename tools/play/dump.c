/* SPDX-License-Identifier: MIT
 * What a dump of a hang says, in memory. */
#include "tools/play/dump.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/base/list.h"

/* Where things lie in CP_UCODE_DBG of a6xx, in dwords (H). */
#define UCODE_DBG_TABLE 0x4000u
#define TABLE_SIZE      128u
#define DATA_LIMIT      (UINT64_C(2) << 30)

static void add_ring(struct dump *dump, const struct cps_item *item)
{
    if (dump->ring_count == DUMP_MAX_RINGS)
        return;
    dump->ring[dump->ring_count++] = (struct dump_ring){
        .id = item->ring.id,
        .iova = item->ring.iova,
        .size = item->ring.size,
        .rptr = item->ring.rptr,
        .wptr = item->ring.wptr,
        .last_fence = item->ring.last_fence,
        .retired_fence = item->ring.retired_fence,
    };
}

static struct cps_err *add_block(struct dump *dump, const struct cps_item *item)
{
    if (dump->block_count == DUMP_MAX_BLOCKS)
        return NULL;
    struct dump_block *block = &dump->block[dump->block_count];
    block->words = malloc((item->block.count + 1) * sizeof(*block->words));
    if (!block->words)
        return cps_err_nomem();
    if (item->block.count)
        memcpy(block->words, item->block.words, item->block.count * sizeof(*block->words));
    block->count = item->block.count;
    snprintf(block->name, sizeof(block->name), "%s", item->block.name);
    dump->block_count++;
    return NULL;
}

/* Chunks that follow each other become one. */
static bool append(struct dump_data *last, const struct cps_item *item)
{
    if (last->iova + last->size != item->buffer.iova)
        return false;
    uint8_t *more = realloc(last->bytes, last->size + (size_t)item->buffer.size);
    if (!more)
        return false;
    memcpy(more + last->size, item->buffer.data, (size_t)item->buffer.size);
    last->bytes = more;
    last->size += (size_t)item->buffer.size;
    return true;
}

static struct cps_err *add_data(struct dump *dump, const struct cps_item *item)
{
    dump->data_bytes += item->buffer.size;
    if (dump->data_bytes > DATA_LIMIT)
        return cps_err_new(CPS_ERR_INPUT, "the dump's buffers pass the limit of 2 GiB");
    if (dump->data_count && append(&dump->data[dump->data_count - 1], item))
        return NULL;
    uint8_t *bytes = NULL;
    if (CPS_LIST_ROOM(dump->data, dump->data_count))
        bytes = malloc((size_t)item->buffer.size + 1);
    if (!bytes)
        return cps_err_nomem();
    memcpy(bytes, item->buffer.data, (size_t)item->buffer.size);
    dump->data[dump->data_count++] =
        (struct dump_data){item->buffer.iova, (size_t)item->buffer.size, bytes};
    return NULL;
}

static void add_register(struct dump *dump, const struct cps_item *item)
{
    if (item->reg.offset >= DUMP_REGS || strcmp(item->reg.section, "registers") != 0)
        return;
    dump->reg[item->reg.offset] = item->reg.value;
    dump->known[item->reg.offset] = true;
}

static void add_text(struct dump *dump, const struct cps_item *item)
{
    cps_buf_str(&dump->text, item->kind == CPS_ITEM_NOTE ? "warning: " : "");
    for (size_t i = 0; i < item->text.size; i++) {
        char c = item->text.bytes[i];
        cps_buf_add(&dump->text, c >= ' ' && c != 0x7f ? &c : "?", 1);
    }
    cps_buf_str(&dump->text, "\n");
}

static struct cps_err *take_item(struct cps_item_sink *sink, const struct cps_item *item)
{
    struct dump *dump = (struct dump *)sink;
    switch (item->kind) {
    case CPS_ITEM_RING:
        add_ring(dump, item);
        return NULL;
    case CPS_ITEM_REGISTER:
        add_register(dump, item);
        return NULL;
    case CPS_ITEM_BLOCK:
        return add_block(dump, item);
    case CPS_ITEM_BUFFER:
        dump->buffers++;
        return NULL;
    case CPS_ITEM_DATA:
        return add_data(dump, item);
    case CPS_ITEM_CHIP:
        if (!dump->gpu)
            dump->gpu = item->chip.gpu_id ? item->chip.gpu_id : item->chip.chip_id & 0xffffffff;
        return NULL;
    case CPS_ITEM_TEXT:
    case CPS_ITEM_NOTE:
        add_text(dump, item);
        return NULL;
    default:
        return NULL;
    }
}

struct cps_err *dump_read(struct dump *dump, struct cps_stream *stream)
{
    const uint8_t *data = NULL;
    size_t size = 0;
    dump->sink.item = take_item;
    CPS_TRY(cps_stream_peek(stream, 32, &data, &size));
    dump->format = cps_capture_format(data, size);
    dump->reg = calloc(DUMP_REGS, sizeof(*dump->reg));
    dump->known = calloc(DUMP_REGS, sizeof(*dump->known));
    if (!dump->reg || !dump->known)
        return cps_err_nomem();
    CPS_TRY(cps_capture_read(stream, NULL, &dump->sink));
    return dump->text.failed ? cps_err_nomem() : NULL;
}

void dump_deinit(struct dump *dump)
{
    for (unsigned i = 0; i < dump->block_count; i++)
        free(dump->block[i].words);
    for (size_t i = 0; i < dump->data_count; i++)
        free(dump->data[i].bytes);
    free(dump->data);
    free(dump->reg);
    free(dump->known);
    cps_buf_deinit(&dump->text);
}

const struct dump_block *dump_block(const struct dump *dump, const char *name)
{
    for (unsigned i = 0; i < dump->block_count; i++) {
        if (!strcmp(dump->block[i].name, name))
            return &dump->block[i];
    }
    return NULL;
}

uint32_t dump_word(const struct dump_block *block, size_t index)
{
    return block && index < block->count ? block->words[index] : 0;
}

bool dump_reg(const struct dump *dump, uint32_t offset, uint32_t *ret)
{
    *ret = offset < DUMP_REGS ? dump->reg[offset] : 0;
    return offset < DUMP_REGS && dump->known[offset];
}

bool dump_memory(const struct dump *dump, uint64_t iova, uint32_t *ret)
{
    for (size_t i = 0; i < dump->data_count; i++) {
        const struct dump_data *data = &dump->data[i];
        uint64_t at = iova - data->iova;
        if (iova < data->iova || at + 4 > data->size)
            continue;
        const uint8_t *bytes = data->bytes + at;
        *ret = bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
               (uint32_t)bytes[3] << 24;
        return true;
    }
    return false;
}

const struct dump_ring *dump_hung_ring(const struct dump *dump)
{
    for (unsigned i = 0; i < dump->ring_count; i++) {
        if (dump->ring[i].last_fence != dump->ring[i].retired_fence)
            return &dump->ring[i];
    }
    return dump->ring_count ? &dump->ring[0] : NULL;
}

const uint32_t *dump_table(const struct dump *dump)
{
    const struct dump_block *block = dump_block(dump, "CP_UCODE_DBG");
    if (!block || block->count < UCODE_DBG_TABLE + TABLE_SIZE)
        return NULL;
    return block->words + UCODE_DBG_TABLE;
}

uint32_t dump_default_handler(const uint32_t *table)
{
    uint32_t best = 0;
    unsigned most = 0;
    for (unsigned i = 0; i < TABLE_SIZE; i++) {
        unsigned same = 0;
        for (unsigned k = 0; k < TABLE_SIZE; k++)
            same += table[k] == table[i];
        if (same > most) {
            most = same;
            best = table[i];
        }
    }
    return best;
}

int dump_handler_of(const uint32_t *table, uint32_t pc)
{
    int best = -1;
    for (unsigned i = 0; i < TABLE_SIZE; i++) {
        if (table[i] <= pc && (best < 0 || table[i] > table[best]))
            best = (int)i;
    }
    return best;
}

/* Read and write positions of the queues in CP_ROQ: 9:0 next to read, 25:16 next to write; bases,
 * words not fetched yet, sizes (H: a630). */
enum {
    ROQ_RB = 0x939,
    ROQ_IB1 = 0x93a,
    IB1_BASE = 0x928,
    IB1_REST = 0x92a,
    IB1_DWORDS = 0x943,
    IB_STRIDE = 3
};

/* The ring is fetched in granules, so that positions in the queue say nothing by themselves: the
 * place is where the words read last are those of the ring. */
static bool ring_position(const struct dump *dump, const struct dump_ring *ring, uint32_t *ret)
{
    const struct dump_block *roq = dump_block(dump, "CP_ROQ");
    uint32_t position = 0;
    uint32_t size = (uint32_t)(ring->size / 4);
    if (!roq || !dump_reg(dump, ROQ_RB, &position))
        return false;
    uint32_t read = position & 0x3ff;
    uint32_t most = 0;
    for (uint32_t at = 1; at <= size; at++) {
        uint32_t same = 0;
        uint32_t word = 0;
        while (same < read && same < at && same < 32 &&
               dump_memory(dump, ring->iova + 4 * (uint64_t)(at - 1 - same), &word) &&
               word == dump_word(roq, read - 1 - same))
            same++;
        if (same > most) {
            most = same;
            *ret = at % size;
        }
    }
    return most >= 4;
}

/* Each region of CP_ROQ is a ring of its own. The driver's CP_ROQ_THRESHOLDS say where they begin,
 * in units of 4 dwords (H: a630; D: a6xx_hw_init() of the kernel). @return dwords of the region of
 * IB1 or IB2; 0: not known */
static uint32_t region_size(const struct dump *dump, uint32_t level)
{
    enum { THRESHOLDS_1 = 0x8c1, THRESHOLDS_2 = 0x8c2 };
    uint32_t low = 0, high = 0;
    if (!dump_reg(dump, THRESHOLDS_1, &low) || !dump_reg(dump, THRESHOLDS_2, &high))
        return 0;
    uint32_t ib1 = 4 * (low >> 16 & 0xff);
    uint32_t ib2 = 4 * (low >> 24);
    uint32_t sds = 4 * (high & 0x1ff);
    uint32_t begin = level == 1 ? ib1 : ib2;
    uint32_t end = level == 1 ? ib2 : sds;
    return end > begin ? end - begin : 0;
}

/* Words in a region that were fetched and not read yet. */
static uint32_t words_waiting(const struct dump *dump, uint32_t level, uint32_t queue)
{
    uint32_t size = region_size(dump, level);
    uint32_t read = queue & 0x3ff;
    uint32_t write = queue >> 16 & 0x3ff;
    return write >= read || !size ? write - read : write + size - read;
}

bool dump_position(const struct dump *dump, const struct dump_ring *ring, uint32_t level,
                   struct dump_position *ret)
{
    uint32_t low = 0, high = 0, rest = 0, queue = 0;
    *ret = (struct dump_position){0, (uint32_t)(ring->size / 4), 0};
    if (level == 0)
        return ring_position(dump, ring, &ret->consumed);
    if (level > 2)
        return false;
    uint32_t base = IB1_BASE + (level - 1) * IB_STRIDE;
    bool known = dump_reg(dump, base, &low) && dump_reg(dump, base + 1, &high) &&
                 dump_reg(dump, IB1_REST + (level - 1) * IB_STRIDE, &rest) &&
                 dump_reg(dump, ROQ_IB1 + level - 1, &queue) &&
                 dump_reg(dump, IB1_DWORDS + level - 1, &ret->dwords);
    uint32_t waiting = words_waiting(dump, level, queue);
    ret->iova = (uint64_t)high << 32 | low;
    if (!known || rest > ret->dwords || waiting > ret->dwords - rest)
        return false;
    ret->consumed = ret->dwords - rest - waiting;
    return true;
}
