/* SPDX-License-Identifier: MIT
 * A job whose parts can be left out. */
#include "tools/explain/reduce/job.h"

#include <stdlib.h>
#include <string.h>

#include "isa/base/le.h"
#include "isa/base/list.h"
#include "isa/base/pm4.h"
#include "isa/base/within.h"
#include "trace/capture/pm4walk.h"

uint8_t *job_bytes(const struct job *job, size_t item, uint32_t at)
{
    return (uint8_t *)job->item[item].buffer.data + 4 * (size_t)at;
}

/* Appends an item, with room for its contents and @p room bytes more. */
static struct cps_err *add(struct job *job, const struct cps_item *item, size_t room)
{
    struct cps_item copy = *item;
    uint8_t *bytes = NULL;
    if (item->kind == CPS_ITEM_DATA) {
        bytes = malloc((size_t)item->buffer.size + room + 1);
        if (!bytes)
            return cps_err_nomem();
        memcpy(bytes, item->buffer.data, (size_t)item->buffer.size);
        copy.buffer.data = bytes;
    }
    if (!CPS_LIST_ROOM(job->item, job->count)) {
        free(bytes);
        return cps_err_nomem();
    }
    job->item[job->count++] = copy;
    return NULL;
}

static bool follows(const struct cps_item *last, const struct cps_item *item)
{
    return last->kind == CPS_ITEM_DATA && item->kind == CPS_ITEM_DATA &&
           last->buffer.iova + last->buffer.size == item->buffer.iova;
}

/* Readers give long buffers in pieces, and PM4 text packet by packet. */
static struct cps_err *add_joined(struct job *job, const struct cps_item *item, size_t left)
{
    size_t size = 0;
    for (size_t i = 1; i < left && follows(&item[i - 1], &item[i]); i++)
        size += (size_t)item[i].buffer.size;
    CPS_TRY(add(job, item, size));
    struct cps_item *joined = &job->item[job->count - 1];
    for (size_t i = 1; i < left && follows(&item[i - 1], &item[i]); i++) {
        memcpy((uint8_t *)joined->buffer.data + joined->buffer.size, item[i].buffer.data,
               (size_t)item[i].buffer.size);
        joined->buffer.size += item[i].buffer.size;
    }
    return NULL;
}

static struct cps_err *make_flags(struct job *job)
{
    job->gone = calloc(job->count + 1, sizeof(*job->gone));
    return job->gone ? NULL : cps_err_nomem();
}

struct cps_err *job_init(struct job *job, struct feed *feed)
{
    *job = (struct job){0};
    for (size_t i = 0; i < feed->count; i++) {
        if (!i || !follows(&feed->item[i - 1], &feed->item[i]))
            CPS_TRY(add_joined(job, &feed->item[i], feed->count - i));
    }
    feed_deinit(feed);
    return make_flags(job);
}

struct cps_err *job_copy(struct job *job, const struct job *from)
{
    *job = (struct job){0};
    for (size_t i = 0; i < from->count; i++) {
        if (!from->gone[i])
            CPS_TRY(add(job, &from->item[i], 0));
    }
    return make_flags(job);
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

static struct cps_err *change(struct job *job, const struct drop *drop, uint32_t word,
                              uint32_t value)
{
    uint8_t *bytes = job_bytes(job, drop->item, drop->at + word);
    if (!CPS_LIST_ROOM(job->undo, job->undos))
        return cps_err_nomem();
    job->undo[job->undos++] = (struct job_undo){drop->item, drop->at + word, cps_le32(bytes)};
    cps_put_le32(bytes, value);
    return NULL;
}

struct cps_err *job_drop(struct job *job, const struct drop *drop)
{
    if (drop->kind == DROP_ITEM) {
        job->gone[drop->item] = true;
        return NULL;
    }
    uint32_t head = cps_le32(job_bytes(job, drop->item, drop->at));
    if (drop->kind == DROP_PACKET)
        return change(job, drop, 0, cps_pm4_type7(PM4_CP_NOP, cps_pm4_decode(head).count));
    CPS_TRY(change(job, drop, 0, (head & PM4_GROUP_ID) | PM4_GROUP_DISABLE));
    CPS_TRY(change(job, drop, 1, 0));
    return change(job, drop, 2, 0);
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

struct cps_err *job_keep(struct job *job, const struct drop *drop)
{
    CPS_TRY(job_drop(job, drop));
    job_key_add(&job->done, drop);
    job->undos = 0;
    return NULL;
}

struct cps_err *job_view(struct job *job)
{
    if (!job->view)
        job->view = calloc(job->count + 1, sizeof(*job->view));
    if (!job->origin)
        job->origin = calloc(job->count + 1, sizeof(*job->origin));
    if (!job->view || !job->origin)
        return cps_err_nomem();
    job->views = 0;
    for (size_t i = 0; i < job->count; i++) {
        if (job->gone[i])
            continue;
        job->origin[job->views] = (uint32_t)i;
        job->view[job->views++] = job->item[i];
    }
    return NULL;
}
