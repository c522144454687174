/* SPDX-License-Identifier: MIT
 * Test cases; and cases out of captures: each stream is cut between packets into pieces of a case's
 * length. The piece is what the case submits; streams that it names come with it, from their
 * beginning, as far as there is room. All move to where cases have theirs. */
#include "tools/explain/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "isa/base/le.h"
#include "isa/base/pm4.h"
#include "tools/cmd/terminal/oom.h"
#include "trace/capture/pm4walk.h"

void case_clear(struct fuzz_case *ret)
{
    ret->streams = 1;
    ret->stream[0].iova = CASE_BASE;
    ret->stream[0].count = 0;
}

void case_copy(struct fuzz_case *to, const struct fuzz_case *from)
{
    to->streams = from->streams;
    for (unsigned i = 0; i < from->streams; i++) {
        to->stream[i].iova = from->stream[i].iova;
        to->stream[i].count = from->stream[i].count;
        memcpy(to->stream[i].word, from->stream[i].word,
               from->stream[i].count * sizeof(*from->stream[i].word));
    }
}

uint32_t case_words(const struct fuzz_case *from)
{
    uint32_t words = 0;
    for (unsigned i = 0; i < from->streams; i++)
        words += from->stream[i].count;
    return words;
}

struct case_packet case_packet_at(const struct fuzz_case *from, unsigned stream, uint32_t at)
{
    const struct case_stream *s = &from->stream[stream];
    struct cps_pm4 packet = cps_pm4_decode(s->word[at]);
    uint32_t length = 1 + packet.count;
    return (struct case_packet){stream, at, length < s->count - at ? length : s->count - at};
}

unsigned case_list(const struct fuzz_case *from, struct case_packet *ret)
{
    unsigned count = 0;
    for (unsigned i = 0; i < from->streams; i++) {
        for (uint32_t at = 0; at < from->stream[i].count; at += ret[count - 1].length)
            ret[count++] = case_packet_at(from, i, at);
    }
    return count;
}

unsigned case_stream_at(const struct fuzz_case *from, uint64_t iova)
{
    unsigned i = 0;
    while (i < from->streams && from->stream[i].iova != iova)
        i++;
    return i < from->streams ? i : CASE_STREAMS;
}

bool case_insert(struct case_stream *stream, uint32_t at, const uint32_t *word, uint32_t count)
{
    if (count > CASE_WORDS - stream->count || at > stream->count)
        return false;
    memmove(&stream->word[at + count], &stream->word[at],
            (stream->count - at) * sizeof(*stream->word));
    memcpy(&stream->word[at], word, count * sizeof(*word));
    stream->count += count;
    return true;
}

void case_remove(struct case_stream *stream, uint32_t at, uint32_t count)
{
    memmove(&stream->word[at], &stream->word[at + count],
            (stream->count - at - count) * sizeof(*stream->word));
    stream->count -= count;
}

/* A size in the bits of @p mask, if the words after or before it name a stream. */
static void fit(struct fuzz_case *edited, const uint32_t *was, const uint32_t *address,
                uint32_t *size, uint32_t mask)
{
    uint64_t iova = (uint64_t)address[1] << 32 | address[0];
    unsigned named = case_stream_at(edited, iova);
    if (named < CASE_STREAMS && (!was || (*size & mask) == was[named]))
        *size = (*size & ~mask) | edited->stream[named].count;
}

void case_fit(struct fuzz_case *edited, const uint32_t *was)
{
    const uint32_t nop = cps_pm4_type7(PM4_CP_NOP, 0);
    if (!edited->stream[0].count)
        case_insert(&edited->stream[0], 0, &nop, 1);
    for (unsigned i = 0; i < edited->streams; i++) {
        struct case_stream *s = &edited->stream[i];
        for (uint32_t at = 0; at < s->count;) {
            struct case_packet packet = case_packet_at(edited, i, at);
            struct cps_pm4 head = cps_pm4_decode(s->word[at]);
            uint32_t *word = &s->word[at + 1];
            bool type7 = head.kind == CPS_PM4_TYPE7;
            if (type7 && pm4_is_call_(head.opcode) && packet.length > 3)
                fit(edited, was, word, &word[2], PM4_IB_SIZE);
            for (uint32_t k = 0;
                 type7 && head.opcode == PM4_CP_SET_DRAW_STATE && k + 3 < packet.length; k += 3)
                fit(edited, was, &word[k + 1], &word[k], PM4_GROUP_SIZE);
            at += packet.length;
        }
    }
}

size_t case_items(const struct fuzz_case *from, uint8_t *bytes, struct cps_item *ret)
{
    size_t count = 0;
    for (unsigned i = 0; i < from->streams; i++) {
        const struct case_stream *s = &from->stream[i];
        if (!s->count)
            continue;
        for (uint32_t k = 0; k < s->count; k++)
            cps_put_le32(bytes + 4 * (size_t)k, s->word[k]);
        ret[count++] = (struct cps_item){
            .kind = CPS_ITEM_DATA,
            .buffer = {.iova = s->iova, .size = 4 * (uint64_t)s->count, .data = bytes}};
        bytes += 4 * (size_t)s->count;
    }
    ret[count++] = (struct cps_item){
        .kind = CPS_ITEM_SUBMIT,
        .stream = {.iova = from->stream[0].iova, .dwords = from->stream[0].count}};
    return count;
}

/* Contents that follow those of the last stream go on there. @return whether there was room */
static bool read_data(const struct cps_item *item, struct fuzz_case *ret)
{
    for (uint64_t k = 0; 4 * k + 4 <= item->buffer.size; k++) {
        uint64_t iova = item->buffer.iova + 4 * k;
        struct case_stream *s = &ret->stream[ret->streams - !!ret->streams];
        bool more = ret->streams && s->count < CASE_WORDS && iova == s->iova + 4 * s->count &&
                    (k || iova % CASE_STRIDE);
        if (!more && ret->streams == CASE_STREAMS)
            return false;
        if (!more) {
            s = &ret->stream[ret->streams++];
            s->iova = iova;
            s->count = 0;
        }
        s->word[s->count++] = cps_le32(item->buffer.data + 4 * k);
    }
    return true;
}

bool case_read(const struct feed *feed, struct fuzz_case *ret)
{
    const struct cps_item *submit = NULL;
    ret->streams = 0;
    for (size_t i = 0; i < feed->count; i++) {
        const struct cps_item *item = &feed->item[i];
        bool again = submit && item->kind == CPS_ITEM_SUBMIT;
        if (again || (item->kind == CPS_ITEM_DATA && !read_data(item, ret)))
            return false;
        if (item->kind == CPS_ITEM_SUBMIT)
            submit = item;
    }
    unsigned first = submit ? case_stream_at(ret, submit->stream.iova) : CASE_STREAMS;
    if (first == CASE_STREAMS || submit->stream.dwords > ret->stream[first].count)
        return false;
    struct case_stream other = ret->stream[0];
    ret->stream[0] = ret->stream[first];
    ret->stream[first] = other;
    ret->stream[0].count = submit->stream.dwords;
    return true;
}

/* ---- Out of captures ---- */

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

/* The first reference at or after word @p at of an item. */
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
