/* SPDX-License-Identifier: MIT
 * Cases out of captures: each stream is cut between packets into pieces of a case's length. The
 * piece is what the case submits; streams that it names come with it, from their beginning, as far
 * as there is room. All move to where cases have theirs. */
#include "tools/explain/fuzz/case.h"

#include <stdlib.h>

#include "tools/cmd/terminal/oom.h"
#include "trace/capture/pm4walk.h"

struct cutter {
    const struct cps_item *item;
    struct pm4_walk walk; /* refs by their place */
    uint32_t *done;       /* of each stream, words that are in a case or left out */
    struct fuzz_case made;
    size_t from[CASE_STREAMS]; /* which stream of the walk is where, and from which word on */
    uint32_t begin[CASE_STREAMS];
};

static int by_place(const void *a, const void *b)
{
    const struct pm4_ref *x = a;
    const struct pm4_ref *y = b;
    return x->item != y->item ? (x->item < y->item ? -1 : 1) : (x->at > y->at) - (x->at < y->at);
}

/* The first reference in word @p at of an item or behind it. */
static size_t first_ref(const struct pm4_walk *walk, size_t item, uint32_t at)
{
    const struct pm4_ref wanted = {.item = item, .at = at};
    size_t low = 0;
    for (size_t high = walk->refs; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (by_place(&walk->ref[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Appends whole packets of a stream from word @p begin on: one more stream of the case. */
static void add_piece(struct cutter *c, size_t number, uint32_t begin)
{
    const struct pm4_stream *from = &c->walk.stream[number];
    const struct cps_item *load = &c->item[from->item];
    struct case_stream *to = &c->made.stream[c->made.streams];
    uint32_t end = from->at + from->dwords;
    uint32_t at = from->at + begin;
    *to = (struct case_stream){.iova = CASE_BASE + c->made.streams * CASE_STRIDE};
    for (uint32_t length = 0; at < end; at += length) {
        length = pm4_length_(load, at, end);
        if (!length || length > CASE_WORDS - to->count)
            break;
        for (uint32_t i = 0; i < length; i++)
            to->word[to->count++] = pm4_word_(load, at + i);
    }
    c->from[c->made.streams] = number;
    c->begin[c->made.streams] = begin;
    c->made.streams += to->count > 0;
}

/* The case's stream that holds the beginning of a stream; CASE_STREAMS: there is no room. */
static unsigned find_piece(struct cutter *c, size_t number)
{
    for (unsigned i = 0; i < c->made.streams; i++) {
        if (c->from[i] == number && !c->begin[i])
            return i;
    }
    unsigned streams = c->made.streams;
    if (streams < CASE_STREAMS)
        add_piece(c, number, 0);
    return c->made.streams > streams ? streams : CASE_STREAMS;
}

/* Lets the packets of a piece name streams of the case. */
static void name_streams(struct cutter *c, unsigned piece)
{
    struct case_stream *s = &c->made.stream[piece];
    const struct pm4_stream *from = &c->walk.stream[c->from[piece]];
    uint32_t at = from->at + c->begin[piece];
    for (size_t i = first_ref(&c->walk, from->item, at); i < c->walk.refs; i++) {
        const struct pm4_ref *ref = &c->walk.ref[i];
        if (ref->item != from->item || ref->at - at >= s->count)
            return;
        unsigned named = ref->kind >= PM4_REF_IB ? find_piece(c, ref->stream) : CASE_STREAMS;
        if (named == CASE_STREAMS)
            continue;
        const struct case_stream *to = &c->made.stream[named];
        uint32_t *size = &s->word[ref->at - at];
        uint32_t *address = ref->kind == PM4_REF_IB ? size - 2 : size + 1;
        uint32_t mask = ref->kind == PM4_REF_IB ? PM4_IB_SIZE : PM4_GROUP_SIZE;
        *size = (*size & ~mask) | to->count;
        address[0] = (uint32_t)to->iova;
        address[1] = (uint32_t)(to->iova >> 32);
    }
}

static struct cps_err *cut_case(struct cutter *c, size_t number, struct case_taken *taken,
                                case_each_fn *each, void *context)
{
    c->made.streams = 0;
    add_piece(c, number, c->done[number]);
    if (!c->made.streams) { /* too long a packet is left out; after a word of none, all is */
        const struct pm4_stream *s = &c->walk.stream[number];
        uint32_t left = s->dwords - c->done[number];
        uint32_t length =
            pm4_length_(&c->item[s->item], s->at + c->done[number], s->at + s->dwords);
        taken->left += length ? length : left;
        c->done[number] += length ? length : left;
        return NULL;
    }
    for (unsigned i = 0; i < c->made.streams; i++)
        name_streams(c, i);
    for (unsigned i = 0; i < c->made.streams; i++) {
        uint32_t *done = &c->done[c->from[i]];
        uint32_t end = c->begin[i] + c->made.stream[i].count;
        taken->words += end > *done ? end - *done : 0;
        *done = end > *done ? end : *done;
    }
    taken->cases++;
    return each(context, &c->made);
}

struct cps_err *case_cut(const struct cps_item *item, size_t count, struct case_taken *taken,
                         case_each_fn *each, void *context)
{
    struct cutter *c = tool_alloc(1, sizeof(*c));
    c->item = item;
    struct cps_err *err = pm4_walk_(item, count, &c->walk);
    taken->lost |= c->walk.lost;
    if (!err && c->walk.streams) {
        c->done = tool_alloc(c->walk.streams, sizeof(*c->done));
        if (c->walk.refs)
            qsort(c->walk.ref, c->walk.refs, sizeof(*c->walk.ref), by_place);
    }
    for (size_t i = 0; i < c->walk.streams && !err; i++) {
        while (!err && c->done[i] < c->walk.stream[i].dwords)
            err = cut_case(c, i, taken, each, context);
    }
    pm4_walk_deinit_(&c->walk);
    free(c->done);
    free(c);
    return err;
}
