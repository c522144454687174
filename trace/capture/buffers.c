/* SPDX-License-Identifier: MIT
 * The buffers of a capture: definitions in the order of the file, in generations that a reset
 * ends. */
#include "trace/capture/buffers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "isa/base/list.h"
#include "isa/base/shown.h"

/* ---- the index ---- */

/* Which of many ranges, the newest first, an address lies in: a segment tree over the places where
 * ranges begin and end; zero is the one of no ranges. Leaf i stands for the addresses from edge[i]
 * to edge[i + 1], the last one for those to 2^64; node n has the children 2n and 2n + 1. Entries of
 * a node, in rising order, are the ranges that cover all of it, but not all of its parent. */
struct index {
    uint64_t *edge;
    uint32_t edges;
    uint32_t *first; /* of each of 2 * edges nodes, and one more: where its entries begin */
    uint32_t *entry; /* numbers of ranges */
};

enum { MAX_RANGES = 1 << 30 };

static int compare_edges(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* Where ranges begin, and where addresses begin that lie behind one; each once, sorted. */
static void find_edges(const struct cps_buffer *range, size_t count, struct index *index)
{
    size_t edges = 0;
    uint32_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        index->edge[edges++] = range[i].iova;
        if (range[i].last != UINT64_MAX)
            index->edge[edges++] = range[i].last + 1;
    }
    qsort(index->edge, edges, sizeof(*index->edge), compare_edges);
    for (size_t i = 0; i < edges; i++) {
        if (!kept || index->edge[kept - 1] != index->edge[i])
            index->edge[kept++] = index->edge[i];
    }
    index->edges = kept;
}

/* How many edges are not behind an address. */
static uint32_t edges_up_to(const struct index *index, uint64_t address)
{
    uint32_t low = 0;
    uint32_t high = index->edges;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (index->edge[middle] <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Counts a range in `first` of the nodes that it is an entry of, or makes it one of them. */
static void add_range(struct index *index, const struct cps_buffer *range, uint32_t number,
                      bool counting)
{
    uint32_t left = index->edges + edges_up_to(index, range->iova) - 1;
    uint32_t right = index->edges + edges_up_to(index, range->last);
    for (; left < right; left /= 2, right /= 2) {
        uint32_t node[2] = {left % 2 ? left++ : 0, right % 2 ? --right : 0};
        for (unsigned i = 0; i < 2; i++) {
            if (node[i] && counting)
                index->first[node[i]]++;
            else if (node[i])
                index->entry[index->first[node[i]]++] = number;
        }
    }
}

/* From how many entries a node has to where they begin. */
static uint32_t sum_up(struct index *index)
{
    uint32_t sum = 0;
    for (uint32_t node = 0; node <= 2 * index->edges; node++) {
        uint32_t entries = index->first[node];
        index->first[node] = sum;
        sum += entries;
    }
    return sum;
}

static struct cps_err *fill_nodes(const struct cps_buffer *range, size_t count, struct index *index)
{
    index->first = calloc(2 * (size_t)index->edges + 1, sizeof(*index->first));
    if (!index->first)
        return cps_err_nomem();
    for (size_t i = 0; i < count; i++)
        add_range(index, &range[i], (uint32_t)i, true);
    index->entry = malloc(sizeof(*index->entry) * ((size_t)sum_up(index) + 1));
    if (!index->entry)
        return cps_err_nomem();
    for (size_t i = 0; i < count; i++)
        add_range(index, &range[i], (uint32_t)i, false);
    /* Each node's entries now begin where those of the one before end. */
    for (uint32_t node = 2 * index->edges; node; node--)
        index->first[node] = index->first[node - 1];
    index->first[0] = 0;
    return NULL;
}

static void free_index(struct index *index)
{
    free(index->edge);
    free(index->first);
    free(index->entry);
    *index = (struct index){0};
}

/* Indexes ranges, at most 2^30. On error @p ret is as before. */
static struct cps_err *make_index(const struct cps_buffer *range, size_t count, struct index *ret)
{
    struct index made = {0};
    if (count > MAX_RANGES)
        return cps_err_nomem();
    made.edge = malloc(sizeof(*made.edge) * (2 * count + 1));
    if (!made.edge)
        return cps_err_nomem();
    find_edges(range, count, &made);
    struct cps_err *err = fill_nodes(range, count, &made);
    struct index unused = err ? made : *ret;
    if (!err)
        *ret = made;
    free_index(&unused);
    return err;
}

/* The last entry of a node that is below @p bound, plus 1; 0: there is none. */
static size_t last_of(const struct index *index, uint32_t node, size_t bound)
{
    uint32_t low = index->first[node];
    uint32_t high = index->first[node + 1];
    uint32_t start = low;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (index->entry[middle] < bound)
            low = middle + 1;
        else
            high = middle;
    }
    return low == start ? 0 : (size_t)index->entry[low - 1] + 1;
}

/* The last of the first @p bound ranges that has @p address; SIZE_MAX: none has. */
static size_t find_range(const struct index *index, size_t bound, uint64_t address)
{
    uint32_t leaf = edges_up_to(index, address);
    size_t best = 0;
    if (!leaf)
        return SIZE_MAX;
    for (uint32_t node = index->edges + leaf - 1; node; node /= 2) {
        size_t last = last_of(index, node, bound);
        best = last > best ? last : best;
    }
    return best - 1; /* 0 becomes SIZE_MAX */
}

/* ---- the table ---- */

/* Buffers that are valid together: from one reset to the next. */
struct generation {
    size_t first; /* definition */
    size_t count;
    uint32_t from; /* submissions seen when it began */
    bool is_sealed;
    struct index index;
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
        free_index(&buffers->generation[i].index);
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
    struct cps_buffer *buffer = define(b, item->buffer.iova, item->buffer.size);
    if (!buffer)
        return cps_err_nomem();
    if (item->buffer.name && item->buffer.name_size)
        buffer->name = strndup(item->buffer.name, item->buffer.name_size);
    return item->buffer.name && item->buffer.name_size && !buffer->name ? cps_err_nomem() : NULL;
}

/* Contents come behind the definition of their buffer, and may be longer than it says. Some have
 * none: then they are one. */
static struct cps_err *take_data(struct cps_buffers *b, const struct cps_item *item)
{
    uint64_t iova = item->buffer.iova;
    uint64_t last = last_byte(iova, item->buffer.size);
    struct cps_buffer *buffer = newest(b)->count ? &b->list[b->count - 1] : NULL;
    /* In the newest definition, or right behind it. */
    if (!buffer || (iova != buffer->last + 1 && (iova < buffer->iova || iova > buffer->last)))
        buffer = define(b, iova, item->buffer.size);
    if (!buffer)
        return cps_err_nomem();
    buffer->held += item->buffer.size;
    if (last > buffer->last) {
        buffer->last = last;
        newest(b)->is_sealed = false;
    }
    return NULL;
}

struct cps_err *cps_buffers_item(struct cps_buffers *buffers, const struct cps_item *item)
{
    const struct generation *now = newest(buffers);
    struct cps_buffer *ring = NULL;
    switch (item->kind) {
    case CPS_ITEM_BUFFER:
        return item->buffer.size ? take_buffer(buffers, item) : NULL;
    case CPS_ITEM_DATA:
        return item->buffer.size ? take_data(buffers, item) : NULL;
    case CPS_ITEM_RING:
        if (!item->ring.size)
            return NULL;
        ring = define(buffers, item->ring.iova, item->ring.size);
        if (ring)
            ring->kind = CPS_BUFFER_RING;
        return ring ? NULL : cps_err_nomem();
    case CPS_ITEM_SUBMIT:
        if (!CPS_LIST_ROOM(buffers->begin, buffers->begins))
            return cps_err_nomem();
        buffers->begin[buffers->begins++] =
            (struct begin){item->stream.iova, buffers->submissions++};
        return NULL;
    case CPS_ITEM_RESET:
        for (size_t i = 0; i < now->count; i++)
            buffers->list[now->first + i].until = buffers->submissions;
        return begin_generation(buffers);
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

struct cps_err *cps_buffers_seal(struct cps_buffers *buffers)
{
    for (size_t i = buffers->sealed; i < buffers->generations; i++) {
        struct generation *g = &buffers->generation[i];
        if (g->is_sealed)
            continue;
        CPS_TRY(number_buffers(g, buffers->list + g->first));
        CPS_TRY(make_index(buffers->list + g->first, g->count, &g->index));
        g->is_sealed = true;
    }
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
    size_t found = find_range(&g->index, defined_by(buffers, g, submission), address);
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
