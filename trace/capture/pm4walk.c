/* SPDX-License-Identifier: MIT
 * Command streams in a list of items. */
#include "trace/capture/pm4walk.h"

#include <string.h>

#include "isa/base/within.h"
#include "isa/base/le.h"
#include "isa/base/list.h"
#include "isa/base/pm4.h"

struct walker {
    const struct cps_item *item;
    size_t count;
    struct pm4_walk *walk;
    uint8_t **seen; /* per item a bit for each word that a packet begins at */
};

size_t pm4_load_at_(const struct cps_item *item, size_t before, uint64_t iova, uint64_t bytes)
{
    while (before-- && item[before].kind != CPS_ITEM_RESET) {
        const struct cps_item *load = &item[before];
        if (load->kind == CPS_ITEM_DATA && iova >= load->buffer.iova &&
            iova - load->buffer.iova <= load->buffer.size &&
            bytes <= load->buffer.size - (iova - load->buffer.iova))
            return before;
    }
    return SIZE_MAX;
}

uint32_t pm4_word_(const struct cps_item *item, uint32_t at)
{
    return cps_le32(item->buffer.data + 4 * (size_t)at);
}

uint32_t pm4_length_(const struct cps_item *item, uint32_t at, uint32_t end)
{
    struct cps_pm4 packet = cps_pm4_decode(pm4_word_(item, at));
    if (packet.kind == CPS_PM4_BAD || packet.count >= end - at)
        return 0;
    return packet.count + 1;
}

bool pm4_is_call_(uint32_t opcode)
{
    return opcode == PM4_CP_INDIRECT_BUFFER || opcode == PM4_CP_INDIRECT_BUFFER_PFD ||
           opcode == PM4_CP_INDIRECT_BUFFER_CHAIN;
}

/* A stream by its place, once. */
static struct cps_err *add_stream(struct walker *w, const struct pm4_stream *stream, size_t *ret)
{
    struct pm4_walk *walk = w->walk;
    for (*ret = 0; *ret < walk->streams; ++*ret) {
        struct pm4_stream *known = &walk->stream[*ret];
        if (known->item == stream->item && known->at == stream->at &&
            known->dwords == stream->dwords) {
            known->kind = known->kind < stream->kind ? known->kind : stream->kind;
            return NULL;
        }
    }
    if (!CPS_LIST_ROOM(walk->stream, walk->streams))
        return cps_err_nomem();
    walk->stream[walk->streams++] = *stream;
    return NULL;
}

static struct cps_err *add_ref(struct walker *w, struct pm4_ref ref, size_t before, uint64_t iova,
                               uint32_t dwords)
{
    size_t load = pm4_load_at_(w->item, before, iova, 4 * (uint64_t)dwords);
    if (!dwords)
        return NULL;
    if (load == SIZE_MAX || (iova - w->item[load].buffer.iova) % 4) {
        w->walk->lost = true;
        return NULL;
    }
    const struct pm4_stream stream = {load, (uint32_t)((iova - w->item[load].buffer.iova) / 4),
                                      dwords, ref.kind};
    CPS_TRY(add_stream(w, &stream, &ref.stream));
    if (!CPS_LIST_ROOM(w->walk->ref, w->walk->refs))
        return cps_err_nomem();
    w->walk->ref[w->walk->refs++] = ref;
    return NULL;
}

/* "lo hi size" from word @p at on. */
static struct cps_err *add_call(struct walker *w, size_t item, uint32_t at, size_t before)
{
    const struct cps_item *load = &w->item[item];
    uint64_t iova = (uint64_t)pm4_word_(load, at + 1) << 32 | pm4_word_(load, at);
    return add_ref(w, (struct pm4_ref){PM4_REF_IB, item, at + 2, 0}, before, iova,
                   pm4_word_(load, at + 2) & PM4_IB_SIZE);
}

/* "size and flags, lo, hi" for each group. */
static struct cps_err *add_groups(struct walker *w, size_t item, uint32_t at, uint32_t count,
                                  size_t before)
{
    const struct cps_item *load = &w->item[item];
    for (uint32_t i = 0; i + 3 <= count; i += 3) {
        uint32_t head = pm4_word_(load, at + i);
        uint64_t iova = (uint64_t)pm4_word_(load, at + i + 2) << 32 | pm4_word_(load, at + i + 1);
        if (!(head & PM4_GROUP_DISABLE))
            CPS_TRY(add_ref(w, (struct pm4_ref){PM4_REF_GROUP, item, at + i, 0}, before, iova,
                            head & PM4_GROUP_SIZE));
    }
    return NULL;
}

static bool is_new(struct walker *w, size_t item, uint32_t at)
{
    uint8_t *seen = w->seen[item];
    bool new = !(seen[at / 8] >> at % 8 & 1);
    seen[at / 8] |= (uint8_t)(1 << at % 8);
    return new;
}

/* Packets of a stream as it is when item @p before is played, up to what is none or known. */
static struct cps_err *follow(struct walker *w, const struct pm4_stream *stream, size_t before)
{
    const struct cps_item *load = &w->item[stream->item];
    uint32_t end = stream->at + stream->dwords;
    uint32_t length = 0;
    if (!w->seen[stream->item])
        w->seen[stream->item] = calloc(1, (size_t)(load->buffer.size / 32) + 1);
    if (!w->seen[stream->item])
        return cps_err_nomem();
    for (uint32_t at = stream->at; at < end && is_new(w, stream->item, at); at += length) {
        length = pm4_length_(load, at, end);
        if (!length)
            return NULL;
        struct cps_pm4 packet = cps_pm4_decode(pm4_word_(load, at));
        if (packet.kind != CPS_PM4_TYPE7)
            continue;
        if (pm4_is_call_(packet.opcode) && packet.count >= 3)
            CPS_TRY(add_call(w, stream->item, at + 1, before));
        if (packet.opcode == PM4_CP_SET_DRAW_STATE)
            CPS_TRY(add_groups(w, stream->item, at + 1, packet.count, before));
    }
    return NULL;
}

/* A ring that comes round has no one place. */
static struct cps_err *add_ring(struct walker *w, size_t i)
{
    const struct cps_item *item = &w->item[i];
    if (item->ring.rptr > item->ring.wptr) {
        w->walk->lost = true;
        return NULL;
    }
    return add_ref(w, (struct pm4_ref){PM4_REF_RING, i, 0, 0}, i,
                   item->ring.iova + 4 * (uint64_t)item->ring.rptr,
                   item->ring.wptr - item->ring.rptr);
}

static struct cps_err *walk_items(struct walker *w)
{
    for (size_t i = 0; i < w->count; i++) {
        const struct cps_item *item = &w->item[i];
        size_t next = w->walk->streams;
        if (item->kind == CPS_ITEM_SUBMIT)
            CPS_TRY(add_ref(w, (struct pm4_ref){PM4_REF_SUBMIT, i, 0, 0}, i, item->stream.iova,
                            item->stream.dwords));
        else if (item->kind == CPS_ITEM_RING)
            CPS_TRY(add_ring(w, i));
        for (; next < w->walk->streams; next++) {
            const struct pm4_stream stream = w->walk->stream[next];
            CPS_TRY(follow(w, &stream, i));
        }
    }
    return NULL;
}

struct cps_err *pm4_walk_(const struct cps_item *item, size_t count, struct pm4_walk *ret)
{
    struct walker w = {item, count, ret, calloc(count + 1, sizeof(*w.seen))};
    *ret = (struct pm4_walk){0};
    struct cps_err *err = w.seen ? walk_items(&w) : cps_err_nomem();
    for (size_t i = 0; w.seen && i < count; i++)
        free(w.seen[i]);
    free(w.seen);
    return err;
}

void pm4_walk_deinit_(struct pm4_walk *walk)
{
    free(walk->stream);
    free(walk->ref);
    *walk = (struct pm4_walk){0};
}
