/* SPDX-License-Identifier: MIT
 * Items as PM4 text: the inverse of pm4text.c. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "isa/base/within.h"
#include "isa/base/le.h"
#include "isa/base/lex.h"
#include "isa/base/list.h"
#include "isa/base/pm4.h"
#include "trace/capture/pm4text.h"
#include "trace/capture/pm4walk.h"

/* Part of the contents of an item: what becomes a buffer of the text. */
struct part {
    size_t item;
    uint32_t at, dwords;
    uint64_t iova;
    bool stream;
    char name[24];
};

struct writer {
    const struct cps_item *item;
    size_t count;
    struct cps_buf *out;
    struct cps_names *names;
    struct pm4_walk walk;
    struct part *part; /* in the order of the items, then of their contents */
    size_t parts;
    const struct part **by_iova;
    unsigned numbers[5]; /* of names, by their kind */
};

/* The last word of contents that end within one is padded with zeros. */
static uint32_t word(const struct cps_item *load, uint32_t at)
{
    uint8_t bytes[4] = {0};
    uint64_t left = load->buffer.size - 4 * (uint64_t)at;
    memcpy(bytes, load->buffer.data + 4 * (size_t)at, left < 4 ? (size_t)left : 4);
    return cps_le32(bytes);
}

static struct cps_err *add_part(struct writer *w, size_t item, uint32_t at, uint32_t end,
                                const struct pm4_stream *stream)
{
    static const char *const kinds[] = {[PM4_REF_SUBMIT] = "submit",
                                        [PM4_REF_RING] = "ring",
                                        [PM4_REF_IB] = "ib",
                                        [PM4_REF_GROUP] = "group",
                                        "data"};
    unsigned kind = stream ? stream->kind : PM4_REF_GROUP + 1;
    struct part part = {.item = item,
                        .at = at,
                        .dwords = end - at,
                        .iova = w->item[item].buffer.iova + 4 * (uint64_t)at,
                        .stream = stream != NULL};
    if (at == end)
        return NULL;
    snprintf(part.name, sizeof(part.name), "%s%u", kinds[kind], w->numbers[kind]++);
    if (!CPS_LIST_ROOM(w->part, w->parts))
        return cps_err_nomem();
    w->part[w->parts++] = part;
    return NULL;
}

/* What items name comes first: it has to be whole. Then those that begin earlier, and are longer.
 */
static int compare_streams(const void *left, const void *right)
{
    const struct pm4_stream *a = left;
    const struct pm4_stream *b = right;
    if (a->item != b->item)
        return a->item < b->item ? -1 : 1;
    bool a_root = a->kind <= PM4_REF_RING;
    if (a_root != (b->kind <= PM4_REF_RING))
        return a_root ? -1 : 1;
    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    return (a->dwords < b->dwords) - (a->dwords > b->dwords);
}

static int compare_places(const void *left, const void *right)
{
    const struct pm4_stream *a = left;
    const struct pm4_stream *b = right;
    return (a->at > b->at) - (a->at < b->at);
}

/* Keeps those of @p stream that do not overlap one before, sorted by place. @return how many */
static size_t separate(struct pm4_stream *stream, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        bool free = true;
        for (size_t k = 0; k < kept && free; k++)
            free = stream[i].at >= stream[k].at + stream[k].dwords ||
                   stream[k].at >= stream[i].at + stream[i].dwords;
        if (free)
            stream[kept++] = stream[i];
    }
    qsort(stream, kept, sizeof(*stream), compare_places);
    return kept;
}

/* The contents of an item, cut where streams begin and end. */
static struct cps_err *cut_item(struct writer *w, size_t item, struct pm4_stream *stream,
                                size_t count)
{
    uint32_t end = (uint32_t)((w->item[item].buffer.size + 3) / 4);
    uint32_t at = 0;
    count = count ? separate(stream, count) : 0;
    for (size_t i = 0; i < count; i++) {
        CPS_TRY(add_part(w, item, at, stream[i].at, NULL));
        at = stream[i].at + stream[i].dwords;
        CPS_TRY(add_part(w, item, stream[i].at, at, &stream[i]));
    }
    return add_part(w, item, at, end, NULL);
}

static struct cps_err *cut_items(struct writer *w)
{
    struct pm4_stream *stream = w->walk.stream;
    size_t at = 0;
    if (w->walk.streams)
        qsort(stream, w->walk.streams, sizeof(*stream), compare_streams);
    for (size_t i = 0; i < w->count; i++) {
        size_t first = at;
        while (at < w->walk.streams && stream[at].item == i)
            at++;
        if (w->item[i].kind == CPS_ITEM_DATA)
            CPS_TRY(cut_item(w, i, stream ? stream + first : NULL, at - first));
    }
    return NULL;
}

static int compare_iovas(const void *left, const void *right)
{
    const struct part *a = *(const struct part *const *)left;
    const struct part *b = *(const struct part *const *)right;
    if (a->iova != b->iova)
        return a->iova < b->iova ? -1 : 1;
    return a < b ? -1 : a > b;
}

static struct cps_err *sort_parts(struct writer *w)
{
    w->by_iova = calloc(w->parts + 1, sizeof(*w->by_iova));
    if (!w->by_iova)
        return cps_err_nomem();
    for (size_t i = 0; i < w->parts; i++)
        w->by_iova[i] = &w->part[i];
    qsort(w->by_iova, w->parts, sizeof(*w->by_iova), compare_iovas);
    return NULL;
}

/* A part at @p iova, one of @p dwords if there is any. */
static const struct part *part_at(const struct writer *w, uint64_t iova, uint32_t dwords)
{
    size_t from = 0;
    size_t to = w->parts;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (w->by_iova[middle]->iova < iova)
            from = middle + 1;
        else
            to = middle;
    }
    const struct part *found = NULL;
    for (; from < w->parts && w->by_iova[from]->iova == iova; from++) {
        if (!found || (found->dwords != dwords && w->by_iova[from]->dwords == dwords))
            found = w->by_iova[from];
    }
    return found;
}

/* Words as they are, but for the address and the size of a part, which get its name. */
static void put_values(struct writer *w, const struct cps_item *load, uint32_t at, uint32_t end)
{
    while (at < end) {
        uint32_t low = word(load, at);
        uint64_t iova = at + 1 < end ? (uint64_t)word(load, at + 1) << 32 | low : 0;
        const struct part *part =
            iova ? part_at(w, iova, at + 2 < end ? word(load, at + 2) : 0) : NULL;
        if (!part) {
            cps_buf_printf(w->out, " 0x%" PRIx32, low);
            at++;
            continue;
        }
        cps_buf_printf(w->out, " @%s", part->name);
        at += 2;
        if (at < end && word(load, at) == part->dwords) {
            cps_buf_printf(w->out, " #%s", part->name);
            at++;
        }
    }
}

static void put_words(struct writer *w, const struct cps_item *load, uint32_t at, uint32_t end)
{
    while (at < end) {
        uint32_t stop = end - at > 8 ? at + 8 : end;
        cps_buf_str(w->out, "    .word");
        for (; at < stop; at++)
            cps_buf_printf(w->out, " 0x%08" PRIx32, word(load, at));
        cps_buf_str(w->out, "\n");
    }
}

/* The name, if the reader would take it for the same number. */
static const char *name_of(const struct writer *w, enum cps_space space, uint32_t number)
{
    const char *name = cps_name(w->names, space, number, NULL);
    uint32_t back = 0;
    bool same =
        name && cps_name_number(w->names, space, name, strlen(name), &back) && back == number;
    return same && cps_lex_identifier(name) ? name : NULL;
}

/* False: the packet has to be written as words. */
static bool put_packet(struct writer *w, const struct cps_item *load, uint32_t at, uint32_t length)
{
    struct cps_pm4 packet = cps_pm4_decode(word(load, at));
    const char *name = packet.kind == CPS_PM4_TYPE7 ? name_of(w, CPS_SPACE_PACKET, packet.opcode)
                                                    : name_of(w, CPS_SPACE_GPU, packet.reg);
    if (packet.kind == CPS_PM4_TYPE7 && (!name || name[cps_lex_identifier(name)]))
        return false;
    if (packet.kind == CPS_PM4_TYPE7)
        cps_buf_printf(w->out, "    %s", name);
    else if (name)
        cps_buf_printf(w->out, "    reg %s", name);
    else
        cps_buf_printf(w->out, "    reg 0x%" PRIx32, packet.reg);
    put_values(w, load, at + 1, at + length);
    cps_buf_str(w->out, "\n");
    return true;
}

static void put_part(struct writer *w, const struct part *part)
{
    const struct cps_item *load = &w->item[part->item];
    uint32_t at = part->at;
    uint32_t end = part->at + part->dwords;
    cps_buf_printf(w->out, "buffer 0x%" PRIx64 " %s\n", part->iova, part->name);
    while (part->stream && at < end) {
        uint32_t length = pm4_length_(load, at, end);
        if (!length)
            break; /* the rest is no packet, and nobody knows where the next one begins */
        if (!put_packet(w, load, at, length))
            put_words(w, load, at, at + length);
        at += length;
    }
    put_words(w, load, at, end);
}

static struct cps_err *put_root(struct writer *w, size_t i, const char *keyword, uint64_t iova,
                                uint32_t dwords, const char *ring)
{
    size_t load = pm4_load_at_(w->item, i, iova, 4 * (uint64_t)dwords);
    for (size_t k = 0; k < w->parts; k++) {
        const struct part *part = &w->part[k];
        if (part->item != load || part->iova != iova || part->dwords != dwords)
            continue;
        cps_buf_printf(w->out, "%s %s%s\n", keyword, part->name, ring);
        return NULL;
    }
    return cps_err_new(CPS_ERR_UNSUPPORTED,
                       "the %" PRIu32 " dwords at 0x%016" PRIx64
                       " lie in no single buffer, which PM4 text needs of what it runs",
                       dwords, iova);
}

static void put_chip(struct writer *w, const struct cps_item *item)
{
    if (item->chip.gpu_id && item->chip.gpu_id < 1000)
        cps_buf_printf(w->out, "gpu %" PRIu32 "\n", item->chip.gpu_id);
    else if (item->chip.gpu_id || item->chip.chip_id)
        cps_buf_printf(w->out, "chip 0x%08" PRIx64 "\n",
                       item->chip.gpu_id ? item->chip.gpu_id : item->chip.chip_id);
}

static struct cps_err *put_item(struct writer *w, size_t i, size_t *part)
{
    const struct cps_item *item = &w->item[i];
    switch (item->kind) {
    case CPS_ITEM_CHIP:
        put_chip(w, item);
        return NULL;
    case CPS_ITEM_RESET:
        cps_buf_str(w->out, "reset\n");
        return NULL;
    case CPS_ITEM_INIT:
        cps_buf_str(w->out, "init\n");
        return NULL;
    case CPS_ITEM_REGISTER:
        cps_buf_printf(w->out, "start 0x%" PRIx32 " 0x%" PRIx32 "\n", item->reg.offset,
                       item->reg.value);
        return NULL;
    case CPS_ITEM_DATA:
        for (; *part < w->parts && w->part[*part].item == i; ++*part)
            put_part(w, &w->part[*part]);
        return NULL;
    case CPS_ITEM_SUBMIT:
        return put_root(w, i, "submit", item->stream.iova, item->stream.dwords,
                        item->stream.lpac ? " lpac" : "");
    case CPS_ITEM_RING:
        return put_root(w, i, "ring", item->ring.iova + 4 * (uint64_t)item->ring.rptr,
                        item->ring.wptr - item->ring.rptr, "");
    default:
        return NULL;
    }
}

static enum cps_layout layout_of(const struct cps_item *item, size_t count)
{
    uint64_t gpu = 0;
    for (size_t i = 0; i < count && !gpu; i++) {
        if (item[i].kind == CPS_ITEM_CHIP)
            gpu = item[i].chip.gpu_id ? item[i].chip.gpu_id : item[i].chip.chip_id & 0xffffffff;
    }
    return cps_gpu_layout(gpu ? gpu : 630);
}

static struct cps_err *put_items(struct writer *w)
{
    size_t part = 0;
    CPS_TRY(cps_names_create(layout_of(w->item, w->count), NULL, &w->names));
    CPS_TRY(pm4_walk_(w->item, w->count, &w->walk));
    CPS_TRY(cut_items(w));
    CPS_TRY(sort_parts(w));
    cps_buf_str(w->out, "# cpscope-pm4 1\n");
    for (size_t i = 0; i < w->count; i++)
        CPS_TRY(put_item(w, i, &part));
    return w->out->failed ? cps_err_nomem() : NULL;
}

struct cps_err *cps_pm4text_write(const struct cps_item *items, size_t count, struct cps_buf *out)
{
    struct writer w = {.item = items, .count = count, .out = out};
    struct cps_err *err = put_items(&w);
    pm4_walk_deinit_(&w.walk);
    cps_names_destroy(w.names);
    free(w.part);
    free(w.by_iova);
    return err;
}
