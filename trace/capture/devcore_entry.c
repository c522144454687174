/* SPDX-License-Identifier: MIT
 * Rings, buffers and blocks of a devcoredump, and their ascii85 contents. */
#include "trace/capture/devcore.h"

#include <string.h>

#include "isa/base/le.h"
#include "isa/base/list.h"
#include "trace/capture/ascii85.h"

/* What kernels of different ages call the same block; other names stay as they are. */
static const struct {
    const char *dumped, *name;
} block_names[] = {
    {"CP_SEQ_STAT", "CP_SQE_STAT"}, /* a spelling of old kernels */
    {"CP_UCODE_DBG_DATA", "CP_UCODE_DBG"},
    {"CP_SQE_UCODE_DBG", "CP_UCODE_DBG"},
    {"CP_ROQ_DBG", "CP_ROQ"},
    {"CP_MEMPOOOL", "CP_MEMPOOL"}, /* another one */
    {"CP_MEM_POOL_DBG", "CP_MEMPOOL"},
    {"CP_DRAW_STATE_ADDR", "CP_DRAW_STATE"},
    {"CP_BV_SQE_STAT_ADDR", "CP_BV_SQE_STAT"},
    {"CP_BV_DRAW_STATE_ADDR", "CP_BV_DRAW_STATE"},
    {"CP_BV_SQE_UCODE_DBG_ADDR", "CP_BV_SQE_UCODE_DBG"},
    {"CP_SQE_AC_STAT_ADDR", "CP_SQE_AC_STAT"}, /* of LPAC */
    {"CP_LPAC_DRAW_STATE_ADDR", "CP_LPAC_DRAW_STATE"},
    {"CP_SQE_AC_UCODE_DBG_ADDR", "CP_SQE_AC_UCODE_DBG"},
};

struct cps_err *cps_devcore_give_(struct cps_devcore *d, struct cps_item *item)
{
    item->offset = d->lines.offset;
    return d->sink->item(d->sink, item);
}

struct cps_err *cps_devcore_note_(struct cps_devcore *d, const char *text)
{
    struct cps_item item = {.kind = CPS_ITEM_NOTE, .text = {text, strlen(text), false}};
    return cps_devcore_give_(d, &item);
}

static struct cps_err *give_ring(struct cps_devcore *d)
{
    const struct cps_devcore_entry *e = &d->entry;
    struct cps_item item = {.kind = CPS_ITEM_RING};
    item.ring.id = (uint32_t)e->id;
    item.ring.iova = e->iova;
    item.ring.size = e->size;
    item.ring.rptr = (uint32_t)e->rptr;
    item.ring.wptr = (uint32_t)e->wptr;
    item.ring.last_fence = (uint32_t)e->last_fence;
    item.ring.retired_fence = (uint32_t)e->retired_fence;
    return cps_devcore_give_(d, &item);
}

static const char *block_name(const char *dumped)
{
    for (size_t i = 0; i < sizeof(block_names) / sizeof(block_names[0]); i++) {
        if (!strcmp(block_names[i].dumped, dumped))
            return block_names[i].name;
    }
    return dumped;
}

static struct cps_err *give_block(struct cps_devcore *d)
{
    struct cps_item item = {.kind = CPS_ITEM_BLOCK};
    item.block.name = block_name(d->entry.name);
    item.block.words = d->block_count ? d->block : NULL;
    item.block.count = d->block_count;
    item.block.size = (size_t)d->entry.dwords;
    return cps_devcore_give_(d, &item);
}

/* Kernels print all of these before the contents; what is missing was cut off or never there. */
static bool is_complete(const struct cps_devcore *d)
{
    const struct cps_devcore_entry *e = &d->entry;
    if (d->section == CPS_DEVCORE_INDEXED)
        return e->name[0] && e->dwords != CPS_DEVCORE_UNKNOWN;
    return e->iova != CPS_DEVCORE_UNKNOWN && e->size != CPS_DEVCORE_UNKNOWN;
}

struct cps_err *cps_devcore_entry_(struct cps_devcore *d)
{
    struct cps_devcore_entry *e = &d->entry;
    if (!e->open || e->given)
        return NULL;
    e->given = true;
    d->cut |= !is_complete(d) && d->lines.done;
    if (d->cut || (d->lines.ended && d->section == CPS_DEVCORE_INDEXED))
        return NULL; /* the words that a block lacks would be taken for zeros */
    if (!is_complete(d))
        return cps_devcore_note_(d, "warning: an entry without name or address, or size, is "
                                    "ignored");
    if (d->section == CPS_DEVCORE_INDEXED)
        return give_block(d);
    if (d->section == CPS_DEVCORE_RINGS)
        return give_ring(d);
    struct cps_item item = {.kind = CPS_ITEM_BUFFER,
                            .buffer = {.iova = e->iova, .size = e->size, .data = NULL}};
    item.buffer.name = e->name[0] ? e->name : NULL;
    item.buffer.name_size = strlen(e->name);
    return cps_devcore_give_(d, &item);
}

void cps_devcore_reset_(struct cps_devcore *d, bool open)
{
    d->entry = (struct cps_devcore_entry){.iova = CPS_DEVCORE_UNKNOWN,
                                          .size = CPS_DEVCORE_UNKNOWN,
                                          .dwords = CPS_DEVCORE_UNKNOWN,
                                          .context = CPS_DEVCORE_UNKNOWN,
                                          .open = open};
    d->block_count = 0;
}

static struct cps_err *begin_contents(struct cps_devcore *d)
{
    d->bad = d->excess = false;
    d->block_count = 0;
    d->done = 0;
    d->size = is_complete(d) ? 4 * d->entry.dwords : 0;
    if (d->section == CPS_DEVCORE_INDEXED)
        return NULL;
    CPS_TRY(cps_devcore_entry_(d));
    d->size = is_complete(d) ? d->entry.size : 0;
    if (d->size > d->limits->buffer_bytes || d->size > d->limits->total_bytes - d->total)
        return cps_err_input(cps_stream_name(d->lines.stream), d->lines.offset,
                             "contents of 0x%llx bytes, expected at most 0x%llx, 0x%llx in all",
                             (unsigned long long)d->size,
                             (unsigned long long)d->limits->buffer_bytes,
                             (unsigned long long)d->limits->total_bytes);
    d->total += d->size;
    return NULL;
}

static struct cps_err *keep_words(struct cps_devcore *d, size_t count)
{
    size_t need = d->block_count + count;
    if (!CPS_LIST_RESERVE(d->block, d->block_capacity, need))
        return cps_err_nomem();
    memcpy(d->block + d->block_count, d->words, count * sizeof(*d->words));
    d->block_count = need;
    d->done += 4 * (uint64_t)count;
    return NULL;
}

static struct cps_err *give_words(struct cps_devcore *d, size_t count)
{
    uint64_t rest = d->size - d->done;
    size_t size = 4 * count < rest ? 4 * count : (size_t)rest;
    for (size_t i = 0; i < count; i++)
        cps_put_le32(d->bytes + 4 * i, d->words[i]);
    struct cps_item item = {
        .kind = CPS_ITEM_DATA,
        .buffer = {.iova = d->entry.iova + d->done, .size = size, .data = d->bytes}};
    d->done += size;
    return cps_devcore_give_(d, &item);
}

/* Takes the words just decoded, as far as there is room for them. */
static struct cps_err *take_words(struct cps_devcore *d, size_t count)
{
    uint64_t room = (d->size - d->done + 3) / 4;
    if (d->section == CPS_DEVCORE_INDEXED && room > CPS_BLOCK_LIMIT - d->block_count)
        room = CPS_BLOCK_LIMIT - d->block_count;
    d->excess |= count > room;
    count = count < room ? count : (size_t)room;
    if (!count)
        return NULL;
    return d->section == CPS_DEVCORE_INDEXED ? keep_words(d, count) : give_words(d, count);
}

static struct cps_err *read_data_line(struct cps_devcore *d, struct cps_ascii85 *decoder)
{
    const char *text = NULL;
    size_t size = 0;
    bool stuck = d->bad;
    bool blank = true;
    while (!stuck) {
        size_t used = 0;
        CPS_TRY(cps_lines_piece_(&d->lines, &text, &size));
        size_t made = cps_ascii85_decode_(decoder, text, size, d->words, CPS_DEVCORE_CHUNK, &used);
        cps_lines_take_(&d->lines, used);
        CPS_TRY(take_words(d, made));
        stuck = !size || (used < size && made < CPS_DEVCORE_CHUNK);
    }
    CPS_TRY(cps_lines_end_(&d->lines, &blank));
    if (blank || d->bad)
        return NULL;
    d->bad = true;
    return cps_devcore_note_(
        d, "warning: a character that is not ascii85, the data behind it are ignored");
}

/* The kernel leaves out zeros at the end of the contents. After damage nothing is known. */
static struct cps_err *end_contents(struct cps_devcore *d, const struct cps_ascii85 *decoder)
{
    d->bad |= d->lines.ended;
    if (decoder->count && !d->bad) {
        d->bad = true;
        CPS_TRY(cps_devcore_note_(d, "warning: the last ascii85 group is incomplete and dropped"));
    }
    if (d->excess)
        CPS_TRY(cps_devcore_note_(
            d, "warning: more data than stated, or than is kept, the rest is dropped"));
    if (d->section == CPS_DEVCORE_INDEXED)
        return cps_devcore_entry_(d);
    memset(d->words, 0, sizeof(d->words));
    while (!d->bad && d->done < d->size) {
        uint64_t rest = (d->size - d->done + 3) / 4;
        CPS_TRY(give_words(d, rest < CPS_DEVCORE_CHUNK ? (size_t)rest : CPS_DEVCORE_CHUNK));
    }
    return NULL;
}

/* The contents stand on the lines that are further to the right than their key. */
struct cps_err *cps_devcore_data_(struct cps_devcore *d)
{
    struct cps_ascii85 decoder = {0};
    unsigned indent = d->lines.indent;
    CPS_TRY(begin_contents(d));
    CPS_TRY(cps_lines_start_(&d->lines));
    d->cut |= d->lines.done;
    if (d->lines.done)
        return NULL;
    if (d->lines.indent <= indent) {
        d->bad = true;
        CPS_TRY(cps_devcore_note_(d, "warning: data are announced, but there are none"));
    }
    while (!d->lines.done && d->lines.indent > indent) {
        CPS_TRY(read_data_line(d, &decoder));
        CPS_TRY(cps_lines_start_(&d->lines));
    }
    return end_contents(d, &decoder);
}
