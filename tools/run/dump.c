/* SPDX-License-Identifier: MIT
 * What a dump of a hang says, in memory. */
#include "tools/run/dump.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fw/fw.h"
#include "isa/base/le.h"
#include "isa/base/list.h"

/* Where things lie in CP_UCODE_DBG of a6xx, in dwords (H). */
#define UCODE_DBG_TABLE 0x4000u
#define TABLE_SIZE      128u
#define DATA_LIMIT      (UINT64_C(2) << 30)
#define RB_BASE         0x800u /* CP_RB_BASE of a5xx on */

static void add_ring(struct dump *dump, const struct cps_item *item)
{
    if (dump->ring_count == DUMP_MAX_RINGS) {
        dump->dropped++;
        return;
    }
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
    if (dump->block_count == DUMP_MAX_BLOCKS) {
        dump->dropped++;
        return NULL;
    }
    struct dump_block *block = &dump->block[dump->block_count];
    block->words = malloc((item->block.count + 1) * sizeof(*block->words));
    if (!block->words)
        return cps_err_nomem();
    if (item->block.count)
        memcpy(block->words, item->block.words, item->block.count * sizeof(*block->words));
    block->count = item->block.count;
    block->size = item->block.size;
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

static const char *const cluster_names[DUMP_CLUSTERS] = {
    [DUMP_FE] = "FE",     [DUMP_SP_VS] = "SP_VS", [DUMP_PC_VS] = "PC_VS",
    [DUMP_GRAS] = "GRAS", [DUMP_SP_PS] = "SP_PS", [DUMP_PS] = "PS",
};

const char *dump_cluster_name(enum dump_cluster cluster)
{
    return cluster_names[cluster];
}

/* "CLUSTER_SP_PS"; @return DUMP_CLUSTERS for others */
static unsigned cluster_of(const char *section)
{
    unsigned cluster = 0;
    bool named = !strncmp(section, "CLUSTER_", 8);
    while (cluster < DUMP_CLUSTERS && !(named && !strcmp(section + 8, cluster_names[cluster])))
        cluster++;
    return cluster;
}

static struct cps_err *add_banked(struct dump *dump, const struct cps_item *item)
{
    unsigned cluster = cluster_of(item->reg.section);
    if (cluster == DUMP_CLUSTERS || item->reg.context < 0 || item->reg.context > 1)
        return NULL;
    if (!CPS_LIST_ROOM(dump->banked, dump->banked_count))
        return cps_err_nomem();
    dump->clusters[item->reg.offset] |= (uint8_t)(1u << cluster);
    dump->banked[dump->banked_count++] = (struct dump_banked){
        item->reg.offset, item->reg.value, (uint8_t)cluster, (uint8_t)item->reg.context};
    return NULL;
}

/* The value behind @p key; NULL: it is another line. */
static const char *value_of(const struct cps_item *item, const char *key)
{
    size_t length = strlen(key);
    bool same = item->text.size > length && !memcmp(item->text.bytes, key, length);
    return same ? item->text.bytes + length : NULL;
}

/* A line of `fault-info`; that of the packet is one of coredump.h. */
static void take_fault(struct dump *dump, const struct cps_item *item)
{
    struct dump_fault *fault = &dump->fault;
    char line[80];
    snprintf(line, sizeof(line), "%.*s", (int)(item->text.size < 79 ? item->text.size : 79),
             item->text.bytes);
    fault->known |= sscanf(line, "- iova=%" SCNx64, &fault->iova) == 1;
    fault->is_write |= !strcmp(line, "- dir=WRITE");
    if (!strncmp(line, "- packet=", 9) &&
        sscanf(line, "- packet=%" SCNx32 " iova=%" SCNx64 " level=%" SCNu32, &fault->header,
               &fault->packet, &fault->level) != 3)
        fault->packet = 0;
}

/* Lines of a dump that coredump.h wrote. */
static void take_own(struct dump *dump, const struct cps_item *item)
{
    const char *end = item->text.bytes + item->text.size;
    const char *policy = value_of(item, "policy: ");
    const char *ticks = value_of(item, "ticks: ");
    const char *stop = value_of(item, "stop: ");
    char line[64];
    if (policy && !dump->policy.size)
        cps_buf_add(&dump->policy, policy, (size_t)(end - policy));
    if (stop && !dump->stop.size)
        cps_buf_add(&dump->stop, stop, (size_t)(end - stop));
    snprintf(line, sizeof(line), "%.*s", ticks ? (int)(end - ticks) : 0, ticks ? ticks : "");
    if (ticks && sscanf(line, "%" SCNu64 " since dword %" SCNu32, &dump->ticks, &dump->begin) != 2)
        dump->ticks = dump->begin = 0;
}

static struct cps_err *take_item(struct cps_item_sink *sink, const struct cps_item *item)
{
    struct dump *dump = (struct dump *)sink;
    if (dump->table)
        CPS_TRY(cps_buffers_item(dump->table, item));
    switch (item->kind) {
    case CPS_ITEM_RING:
        add_ring(dump, item);
        return NULL;
    case CPS_ITEM_REGISTER:
        if (item->reg.offset >= DUMP_REGS)
            return NULL;
        if (strcmp(item->reg.section, "registers") != 0)
            return add_banked(dump, item);
        dump->reg[item->reg.offset] = item->reg.value;
        dump->known[item->reg.offset] = true;
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
        take_own(dump, item);
        take_fault(dump, item);
        /* fall through */
    case CPS_ITEM_NOTE:
        if (item->kind == CPS_ITEM_NOTE && item->text.cut)
            cps_buf_add(&dump->cut, item->text.bytes, item->text.size);
        cps_buf_str(&dump->text, item->kind == CPS_ITEM_NOTE ? "warning: " : "");
        for (size_t i = 0; i < item->text.size; i++) {
            char c = item->text.bytes[i];
            cps_buf_add(&dump->text, c >= ' ' && c != 0x7f ? &c : "?", 1);
        }
        cps_buf_str(&dump->text, "\n");
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
    dump->clusters = calloc(DUMP_REGS, sizeof(*dump->clusters));
    if (!dump->reg || !dump->known || !dump->clusters)
        return cps_err_nomem();
    CPS_TRY(cps_capture_read(stream, NULL, &dump->sink));
    if (dump->dropped)
        cps_buf_printf(&dump->text,
                       "warning: %u rings and blocks beyond the first %u and %u are left out\n",
                       dump->dropped, DUMP_MAX_RINGS, DUMP_MAX_BLOCKS);
    return dump->text.failed || dump->cut.failed || dump->policy.failed || dump->stop.failed
               ? cps_err_nomem()
               : NULL;
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
    free(dump->banked);
    free(dump->clusters);
    cps_buf_deinit(&dump->text);
    cps_buf_deinit(&dump->cut);
    cps_buf_deinit(&dump->policy);
    cps_buf_deinit(&dump->stop);
}

const struct dump_block *dump_block(const struct dump *dump, const char *name)
{
    for (unsigned i = 0; i < dump->block_count; i++) {
        if (!strcmp(dump->block[i].name, name))
            return &dump->block[i];
    }
    return NULL;
}

const char *dump_level_name(uint32_t level)
{
    static const char *const names[] = {"the ring", "IB1", "IB2", "a draw-state group"};
    return level < 4 ? names[level] : "an unknown level";
}

/* Firmware of a8xx replaces entries of its table while it runs (V: 5 of 128 in gen80000-077), which
 * only an emulator's dump can show. */
bool dump_has_table(const struct dump *dump, const struct cps_fw *fw)
{
    enum { REPLACED = 8 };
    const uint32_t *table = dump_table(dump);
    unsigned different = 0;
    if (!table || !fw->part_count)
        return false;
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++)
        different += cps_fw_handler(fw, &fw->part[0], id) != table[id];
    return different <= (dump->policy.size && fw->gen == CPS_A8XX ? REPLACED : 0);
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
        if (iova < data->iova || data->size < 4 || at > data->size - 4)
            continue;
        *ret = cps_le32(data->bytes + at);
        return true;
    }
    return false;
}

/* Of several with work, the processor is at the one that CP_RB_BASE names. */
const struct dump_ring *dump_hung_ring(const struct dump *dump)
{
    const struct dump_ring *hung = NULL;
    uint32_t low = 0, high = 0;
    bool known = dump_reg(dump, RB_BASE, &low) && dump_reg(dump, RB_BASE + 1, &high);
    for (unsigned i = 0; i < dump->ring_count; i++) {
        const struct dump_ring *ring = &dump->ring[i];
        bool is_current = known && ring->iova == ((uint64_t)high << 32 | low);
        if (ring->last_fence != ring->retired_fence && (!hung || is_current))
            hung = ring;
    }
    return hung || !dump->ring_count ? hung : &dump->ring[0];
}

enum cps_gen dump_gen(const struct dump *dump)
{
    static const enum cps_gen gens[] = {CPS_A5XX, CPS_A6XX, CPS_A7XX, CPS_A8XX};
    unsigned number = cps_gpu_generation(dump->gpu);
    return dump->gpu && number >= 5 && number <= 8 ? gens[number - 5] : CPS_A6XX;
}

bool dump_has_layouts(const struct dump *dump)
{
    return dump->policy.size || dump_gen(dump) == CPS_A6XX;
}

uint32_t dump_scratch_first(enum cps_layout layout)
{
    bool is_gen3 = layout == CPS_LAYOUT_A7XX_GEN3 || layout == CPS_LAYOUT_A8XX;
    return layout == CPS_LAYOUT_A5XX_PFP ? 0x40 : is_gen3 ? 0x400 : SCRATCH_FIRST;
}

uint32_t dump_scratch_count(enum cps_layout layout)
{
    return layout == CPS_LAYOUT_A5XX_PFP ? 0x40 : SCRATCH_COUNT;
}

const uint32_t *dump_table(const struct dump *dump)
{
    const struct dump_block *block = dump_block(dump, "CP_UCODE_DBG");
    if (!block || block->count < UCODE_DBG_TABLE + TABLE_SIZE)
        return NULL;
    return block->words + UCODE_DBG_TABLE;
}
