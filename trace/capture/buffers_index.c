/* SPDX-License-Identifier: MIT
 * Segment tree of ranges of addresses, written once and then only read. */
#include "trace/capture/buffers_index.h"

#include <stdlib.h>

enum { MAX_RANGES = 1 << 30 };

static int compare_edges(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* Where ranges begin, and where addresses begin that lie behind one; each once, sorted. */
static void find_edges(const struct cps_buffer *range, size_t count,
                       struct cps_buffers_index *index)
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
static uint32_t edges_up_to(const struct cps_buffers_index *index, uint64_t address)
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
static void add(struct cps_buffers_index *index, const struct cps_buffer *range, uint32_t number,
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
static uint32_t sum_up(struct cps_buffers_index *index)
{
    uint32_t sum = 0;
    for (uint32_t node = 0; node <= 2 * index->edges; node++) {
        uint32_t entries = index->first[node];
        index->first[node] = sum;
        sum += entries;
    }
    return sum;
}

static struct cps_err *fill(const struct cps_buffer *range, size_t count,
                            struct cps_buffers_index *index)
{
    index->first = calloc(2 * (size_t)index->edges + 1, sizeof(*index->first));
    if (!index->first)
        return cps_err_nomem();
    for (size_t i = 0; i < count; i++)
        add(index, &range[i], (uint32_t)i, true);
    index->entry = malloc(sizeof(*index->entry) * ((size_t)sum_up(index) + 1));
    if (!index->entry)
        return cps_err_nomem();
    for (size_t i = 0; i < count; i++)
        add(index, &range[i], (uint32_t)i, false);
    /* Each node's entries now begin where those of the one before end. */
    for (uint32_t node = 2 * index->edges; node; node--)
        index->first[node] = index->first[node - 1];
    index->first[0] = 0;
    return NULL;
}

struct cps_err *cps_buffers_index_(const struct cps_buffer *range, size_t count,
                                   struct cps_buffers_index *ret)
{
    struct cps_buffers_index made = {0};
    if (count > MAX_RANGES)
        return cps_err_nomem();
    made.edge = malloc(sizeof(*made.edge) * (2 * count + 1));
    if (!made.edge)
        return cps_err_nomem();
    find_edges(range, count, &made);
    struct cps_err *err = fill(range, count, &made);
    struct cps_buffers_index unused = err ? made : *ret;
    if (!err)
        *ret = made;
    cps_buffers_index_deinit_(&unused);
    return err;
}

void cps_buffers_index_deinit_(struct cps_buffers_index *index)
{
    free(index->edge);
    free(index->first);
    free(index->entry);
    *index = (struct cps_buffers_index){0};
}

/* The last entry of a node that is below @p bound, plus 1; 0: there is none. */
static size_t last_of(const struct cps_buffers_index *index, uint32_t node, size_t bound)
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

size_t cps_buffers_index_find_(const struct cps_buffers_index *index, size_t bound,
                               uint64_t address)
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
