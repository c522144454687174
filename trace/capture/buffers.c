/* SPDX-License-Identifier: MIT
 * The buffers of a capture: definitions in the order of the file, in generations that a reset
 * ends. */
#include "trace/capture/buffers.h"

#include <inttypes.h>
#include <string.h>

#include "isa/base/list.h"
#include "isa/base/shown.h"
#include "trace/capture/buffers_index.h"

/* Buffers that are valid together: from one reset to the next. */
struct generation {
    size_t first; /* definition */
    size_t count;
    uint32_t from; /* submissions seen when it began */
    bool is_sealed;
    struct cps_buffers_index index;
};

/* A submission whose buffer is not marked yet. */
struct begin {
    uint64_t iova;
    uint32_t submission;
};

struct cps_buffers {
    struct cps_buffer *list;
    size_t count;
    struct generation *generation;
    size_t generations; /* at least one */
    size_t sealed;      /* of those, which cannot change any more */
    struct begin *begin;
    size_t begins;
    size_t marked;        /* of those */
    uint32_t submissions; /* seen */
};

static struct cps_err *begin_generation(struct cps_buffers *b)
{
    if (!CPS_LIST_ROOM(b->generation, b->generations))
        return cps_err_nomem();
    b->generation[b->generations++] =
        (struct generation){.first = b->count, .from = b->submissions, .is_sealed = true};
    return NULL;
}

struct cps_err *cps_buffers_create(struct cps_buffers **ret)
{
    struct cps_buffers *b = calloc(1, sizeof(*b));
    if (!b)
        return cps_err_nomem();
    struct cps_err *err = begin_generation(b);
    if (err)
        cps_buffers_destroy(b);
    else
        *ret = b;
    return err;
}

void cps_buffers_destroy(struct cps_buffers *buffers)
{
    if (!buffers)
        return;
    for (size_t i = 0; i < buffers->generations; i++)
        cps_buffers_index_deinit_(&buffers->generation[i].index);
    for (size_t i = 0; i < buffers->count; i++)
        free((char *)(uintptr_t)buffers->list[i].name);
    free(buffers->generation);
    free(buffers->begin);
    free(buffers->list);
    free(buffers);
}

static struct generation *newest(const struct cps_buffers *b)
{
    return &b->generation[b->generations - 1];
}

/* ---- items ---- */

static uint64_t last_byte(uint64_t iova, uint64_t size)
{
    return size - 1 > UINT64_MAX - iova ? UINT64_MAX : iova + (size - 1);
}

static struct cps_err *keep_name(const char *name, size_t size, struct cps_buffer *ret)
{
    if (!name || !size)
        return NULL;
    char *copy = malloc(size + 1);
    if (!copy)
        return cps_err_nomem();
    memcpy(copy, name, size);
    copy[size] = '\0';
    ret->name = copy;
    return NULL;
}

/* Room for a definition, which is the newest one then; NULL: there is none. */
static struct cps_buffer *define(struct cps_buffers *b, uint64_t iova, uint64_t size)
{
    struct generation *now = newest(b);
    if (!CPS_LIST_ROOM(b->list, b->count))
        return NULL;
    struct cps_buffer *ret = &b->list[b->count++];
    *ret = (struct cps_buffer){
        .iova = iova, .last = last_byte(iova, size), .from = b->submissions, .until = UINT32_MAX};
    now->count++;
    now->is_sealed = false;
    return ret;
}

static struct cps_err *take_buffer(struct cps_buffers *b, const struct cps_item *item)
{
    if (!item->buffer.size)
        return NULL;
    struct cps_buffer *buffer = define(b, item->buffer.iova, item->buffer.size);
    if (!buffer)
        return cps_err_nomem();
    return keep_name(item->buffer.name, item->buffer.name_size, buffer);
}

static struct cps_err *take_ring(struct cps_buffers *b, const struct cps_item *item)
{
    if (!item->ring.size)
        return NULL;
    struct cps_buffer *buffer = define(b, item->ring.iova, item->ring.size);
    if (!buffer)
        return cps_err_nomem();
    buffer->kind = CPS_BUFFER_RING;
    return NULL;
}

/* Whether contents belong to the newest definition: they begin in it or right behind it. */
static bool continues(const struct cps_buffers *b, uint64_t iova)
{
    const struct cps_buffer *buffer = b->count ? &b->list[b->count - 1] : NULL;
    return newest(b)->count &&
           (iova == buffer->last + 1 || (iova >= buffer->iova && iova <= buffer->last));
}

/* Contents come behind the definition of their buffer, and may be longer than it says. Some have
 * none: then they are one. */
static struct cps_err *take_data(struct cps_buffers *b, const struct cps_item *item)
{
    uint64_t size = item->buffer.size;
    if (!size)
        return NULL;
    struct cps_buffer *buffer = continues(b, item->buffer.iova)
                                    ? &b->list[b->count - 1]
                                    : define(b, item->buffer.iova, size);
    if (!buffer)
        return cps_err_nomem();
    uint64_t last = last_byte(item->buffer.iova, size);
    buffer->held += size;
    if (last > buffer->last) {
        buffer->last = last;
        newest(b)->is_sealed = false;
    }
    return NULL;
}

static struct cps_err *take_submission(struct cps_buffers *b, const struct cps_item *item)
{
    if (!CPS_LIST_ROOM(b->begin, b->begins))
        return cps_err_nomem();
    b->begin[b->begins++] = (struct begin){item->stream.iova, b->submissions++};
    return NULL;
}

static struct cps_err *take_reset(struct cps_buffers *b)
{
    const struct generation *now = newest(b);
    for (size_t i = 0; i < now->count; i++)
        b->list[now->first + i].until = b->submissions;
    return begin_generation(b);
}

struct cps_err *cps_buffers_item(struct cps_buffers *buffers, const struct cps_item *item)
{
    switch (item->kind) {
    case CPS_ITEM_BUFFER:
        return take_buffer(buffers, item);
    case CPS_ITEM_DATA:
        return take_data(buffers, item);
    case CPS_ITEM_RING:
        return take_ring(buffers, item);
    case CPS_ITEM_SUBMIT:
        return take_submission(buffers, item);
    case CPS_ITEM_RESET:
        return take_reset(buffers);
    default:
        return NULL;
    }
}

/* ---- sealing ---- */

/* A definition by what it covers. */
struct range {
    uint64_t iova, last;
    size_t index;
};

static int compare_ranges(const void *left, const void *right)
{
    const struct range *a = left;
    const struct range *b = right;
    if (a->iova != b->iova)
        return a->iova < b->iova ? -1 : 1;
    if (a->last != b->last)
        return a->last < b->last ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* Drivers list all buffers, and then those with contents once more: that is one buffer each. */
static struct cps_err *number_buffers(const struct generation *g, struct cps_buffer *list)
{
    CPS_FREE struct range *range = malloc(sizeof(*range) * (g->count + 1));
    CPS_FREE size_t *same = malloc(sizeof(*same) * (g->count + 1)); /* first one of the range */
    uint32_t number = 0;
    if (!range || !same)
        return cps_err_nomem();
    for (size_t i = 0; i < g->count; i++)
        range[i] = (struct range){list[i].iova, list[i].last, i};
    qsort(range, g->count, sizeof(*range), compare_ranges);
    for (size_t i = 0; i < g->count; i++) {
        bool again = i && range[i].iova == range[i - 1].iova && range[i].last == range[i - 1].last;
        same[range[i].index] = again ? same[range[i - 1].index] : range[i].index;
    }
    for (size_t i = 0; i < g->count; i++)
        list[i].number = same[i] == i ? number++ : list[same[i]].number;
    return NULL;
}

static struct cps_err *seal(struct cps_buffers *b, struct generation *g)
{
    if (g->is_sealed)
        return NULL;
    CPS_TRY(number_buffers(g, b->list + g->first));
    CPS_TRY(cps_buffers_index_(b->list + g->first, g->count, &g->index));
    g->is_sealed = true;
    return NULL;
}

struct cps_err *cps_buffers_seal(struct cps_buffers *buffers)
{
    for (size_t i = buffers->sealed; i < buffers->generations; i++)
        CPS_TRY(seal(buffers, &buffers->generation[i]));
    buffers->sealed = buffers->generations - 1;
    for (; buffers->marked < buffers->begins; buffers->marked++) {
        const struct begin *begin = &buffers->begin[buffers->marked];
        const struct cps_buffer *at = cps_buffers_at(buffers, begin->submission, begin->iova);
        if (at && at->kind == CPS_BUFFER_PLAIN)
            buffers->list[at - buffers->list].kind = CPS_BUFFER_STREAM;
    }
    return NULL;
}

/* ---- looking up ---- */

struct cps_err *cps_buffers_now(struct cps_buffers **buffers, const struct cps_item *item)
{
    if (item->kind == CPS_ITEM_RESET) {
        struct cps_buffers *fresh = NULL;
        CPS_TRY(cps_buffers_create(&fresh));
        cps_buffers_destroy(*buffers);
        *buffers = fresh;
        return NULL;
    }
    CPS_TRY(cps_buffers_item(*buffers, item));
    return item->kind == CPS_ITEM_SUBMIT ? cps_buffers_seal(*buffers) : NULL;
}

size_t cps_buffers_count(const struct cps_buffers *buffers)
{
    return buffers ? buffers->count : 0;
}

const struct cps_buffer *cps_buffers_get(const struct cps_buffers *buffers, size_t index)
{
    return &buffers->list[index];
}

/* The last generation that began before a submission did. */
static const struct generation *generation_of(const struct cps_buffers *b, uint32_t submission)
{
    size_t low = 0;
    size_t high = b->generations;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (b->generation[middle].from <= submission)
            low = middle;
        else
            high = middle;
    }
    return &b->generation[low];
}

/* How many definitions of a generation come before a submission. */
static size_t defined_by(const struct cps_buffers *b, const struct generation *g,
                         uint32_t submission)
{
    size_t low = 0;
    size_t high = g->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (b->list[g->first + middle].from <= submission)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool cps_buffers_known(const struct cps_buffers *buffers, uint32_t submission)
{
    return buffers && defined_by(buffers, generation_of(buffers, submission), submission);
}

const struct cps_buffer *cps_buffers_at(const struct cps_buffers *buffers, uint32_t submission,
                                        uint64_t address)
{
    if (!buffers)
        return NULL;
    const struct generation *g = generation_of(buffers, submission);
    size_t found = cps_buffers_index_find_(&g->index, defined_by(buffers, g, submission), address);
    return found == SIZE_MAX ? NULL : &buffers->list[g->first + found];
}

/* ---- texts ---- */

const char *cps_buffer_kind_text(enum cps_buffer_kind kind)
{
    static const char *const text[] = {"buf", "ring", "ib1"};
    return text[kind];
}

void cps_buffer_put(const struct cps_buffer *buffer, uint64_t address, struct cps_buf *out)
{
    if (!buffer) {
        cps_buf_str(out, "[no buf]");
        return;
    }
    cps_buf_printf(out, "[%s %" PRIu32, cps_buffer_kind_text(buffer->kind), buffer->number);
    if (buffer->name) {
        cps_buf_str(out, " \"");
        cps_shown_put_(out, buffer->name);
        cps_buf_str(out, "\"");
    }
    cps_buf_str(out, " +");
    cps_buf_hex(out, address - buffer->iova, 1);
    cps_buf_str(out, "]");
}

bool cps_buffers_put(const struct cps_buffers *buffers, uint32_t submission, uint64_t address,
                     struct cps_buf *out)
{
    const struct cps_buffer *at = cps_buffers_at(buffers, submission, address);
    if (!cps_buffers_known(buffers, submission) || (!at && !address))
        return false;
    cps_buf_str(out, " ");
    cps_buffer_put(at, address, out);
    return true;
}

bool cps_buffers_put_value(const struct cps_buffers *buffers, uint32_t submission,
                           const struct cps_value *value, struct cps_buf *out)
{
    uint64_t address = 0;
    return cps_value_address(value, &address) && cps_buffers_put(buffers, submission, address, out);
}
