/* SPDX-License-Identifier: MIT
 * A job whose parts can be left out. */
#include "tools/explain/reduce/reduce.h"

#include <stdlib.h>
#include <string.h>

#include "isa/base/le.h"
#include "isa/base/pm4.h"
#include "tools/cmd/terminal/oom.h"
#include "trace/capture/pm4walk.h"

uint8_t *job_bytes(const struct job *job, size_t item, uint32_t at)
{
    return (uint8_t *)job->item[item].buffer.data + 4 * (size_t)at;
}

/* Appends an item, with room for its contents and @p room bytes more. */
static void add(struct job *job, const struct cps_item *item, size_t room)
{
    struct cps_item copy = *item;
    if (item->kind == CPS_ITEM_DATA) {
        uint8_t *bytes = tool_alloc((size_t)item->buffer.size + room + 1, 1);
        memcpy(bytes, item->buffer.data, (size_t)item->buffer.size);
        copy.buffer.data = bytes;
    }
    TOOL_ROOM(job->item, job->count);
    job->item[job->count++] = copy;
}

static bool follows(const struct cps_item *last, const struct cps_item *item)
{
    return last->kind == CPS_ITEM_DATA && item->kind == CPS_ITEM_DATA &&
           last->buffer.iova + last->buffer.size == item->buffer.iova;
}

/* Readers give long buffers in pieces, and PM4 text packet by packet. */
static void add_joined(struct job *job, const struct cps_item *item, size_t left)
{
    size_t size = 0;
    for (size_t i = 1; i < left && follows(&item[i - 1], &item[i]); i++)
        size += (size_t)item[i].buffer.size;
    add(job, item, size);
    struct cps_item *joined = &job->item[job->count - 1];
    for (size_t i = 1; i < left && follows(&item[i - 1], &item[i]); i++) {
        memcpy((uint8_t *)joined->buffer.data + joined->buffer.size, item[i].buffer.data,
               (size_t)item[i].buffer.size);
        joined->buffer.size += item[i].buffer.size;
    }
}

void job_init(struct job *job, struct feed *feed)
{
    *job = (struct job){0};
    for (size_t i = 0; i < feed->count; i++) {
        if (!i || !follows(&feed->item[i - 1], &feed->item[i]))
            add_joined(job, &feed->item[i], feed->count - i);
    }
    feed_deinit(feed);
    job->gone = tool_alloc(job->count, sizeof(*job->gone));
}

void job_copy(struct job *job, const struct job *from)
{
    *job = (struct job){0};
    for (size_t i = 0; i < from->count; i++) {
        if (!from->gone[i])
            add(job, &from->item[i], 0);
    }
    job->gone = tool_alloc(job->count, sizeof(*job->gone));
}

bool job_has(const struct job *job, enum cps_item_kind kind)
{
    bool found = false;
    for (size_t i = 0; i < job->count; i++)
        found |= job->item[i].kind == kind;
    return found;
}

void job_deinit(struct job *job)
{
    for (size_t i = 0; i < job->count; i++) {
        if (job->item[i].kind == CPS_ITEM_DATA)
            free((void *)job->item[i].buffer.data);
    }
    free(job->item);
    free(job->gone);
    free(job->undo);
    free(job->view);
    free(job->origin);
    *job = (struct job){0};
}

/* Spreads a number over 64 bits (SplitMix64). */
static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

void job_key_add(struct drop_key *key, const struct drop *drop)
{
    uint64_t place = (uint64_t)drop->item << 32 | drop->at;
    key->low += mix(mix(place) + drop->kind);
    key->high += mix(~mix(place ^ UINT64_C(0x5851f42d4c957f2d)) - drop->kind);
}

static void change(struct job *job, const struct drop *drop, uint32_t word, uint32_t value)
{
    uint8_t *bytes = job_bytes(job, drop->item, drop->at + word);
    TOOL_ROOM(job->undo, job->undos);
    job->undo[job->undos++] = (struct job_undo){drop->item, drop->at + word, cps_le32(bytes)};
    cps_put_le32(bytes, value);
}

void job_drop(struct job *job, const struct drop *drop)
{
    if (drop->kind == DROP_ITEM) {
        job->gone[drop->item] = true;
        return;
    }
    uint32_t head = cps_le32(job_bytes(job, drop->item, drop->at));
    if (drop->kind == DROP_PACKET) {
        change(job, drop, 0, cps_pm4_type7(PM4_CP_NOP, cps_pm4_decode(head).count));
        return;
    }
    change(job, drop, 0, (head & PM4_GROUP_ID) | PM4_GROUP_DISABLE);
    change(job, drop, 1, 0);
    change(job, drop, 2, 0);
}

void job_back(struct job *job, const struct drop *drop, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (drop[i].kind == DROP_ITEM)
            job->gone[drop[i].item] = false;
    }
    while (job->undos) {
        const struct job_undo *undo = &job->undo[--job->undos];
        cps_put_le32(job_bytes(job, undo->item, undo->at), undo->word);
    }
}

void job_keep(struct job *job, const struct drop *drop)
{
    job_drop(job, drop);
    job_key_add(&job->done, drop);
    job->undos = 0;
}

void job_view(struct job *job)
{
    if (!job->view)
        job->view = tool_alloc(job->count, sizeof(*job->view));
    if (!job->origin)
        job->origin = tool_alloc(job->count, sizeof(*job->origin));
    job->views = 0;
    for (size_t i = 0; i < job->count; i++) {
        if (job->gone[i])
            continue;
        job->origin[job->views] = (uint32_t)i;
        job->view[job->views++] = job->item[i];
    }
}
