/* SPDX-License-Identifier: MIT
 * Streams followed without firmware. Facts: pm4.def. */
#include "tools/explain/stream/walk.h"

#include <stdlib.h>
#include <string.h>

#include "emu/mem.h"
#include "isa/base/pm4.h"
#include "trace/event/launch.h"

static const struct {
    uint8_t marker;
    uint32_t mask;
} modes[] = {
#define MODE(...) {__VA_ARGS__},
#include "isa/pm4.def"
};

/* One stream on its way. */
struct stream {
    uint64_t addr;
    uint32_t dwords;
    unsigned level;
    uint64_t ring;  /* that contains it, and goes on at its start after its end; 0: none does */
    uint64_t bytes; /* of the ring */
};

/* A packet of it, with its words. */
struct packet {
    uint32_t header;
    struct cps_pm4 pm4;
    const struct cps_packet_row *row; /* of type 7, or NULL */
    uint32_t *word;
    uint32_t words; /* that the stream has */
    unsigned level;
    bool is_kept; /* its stream is run at another time */
};

static uint64_t address_of(const struct stream *stream, uint32_t dword)
{
    uint64_t at = stream->addr + 4 * (uint64_t)dword;
    return stream->bytes ? stream->ring + (at - stream->ring) % stream->bytes : at;
}

static void put_event(const struct stream_walk *walk, unsigned kind, unsigned sub, uint64_t addr,
                      uint32_t value)
{
    const struct cps_event event = cps_event_make(kind, sub, CPS_CPU_SQE, 0, addr, value);
    walk->sink->put(walk->sink, &event, 1);
}

static bool is_held(const struct stream_walk *walk, uint64_t addr)
{
    bool known = false;
    cps_mem_read(walk->mem, addr, &known);
    return known;
}

/* ---- What packets do ---- */

void stream_walk_registers(const struct cps_names *names, uint32_t header, const uint32_t *words,
                           size_t count,
                           void (*each)(void *context, uint32_t number, const uint32_t *value),
                           void *context)
{
    enum { NUMBER = 0x3ffff };
    struct cps_pm4 pm4 = cps_pm4_decode_any(header);
    const struct cps_packet_row *row = cps_packet_row_(pm4.opcode, cps_packet_name_(names, header));
    for (size_t i = 0; pm4.kind == CPS_PM4_TYPE4 && i < count; i++)
        each(context, pm4.reg + (uint32_t)i, &words[i]);
    size_t first = row ? row->write.first : count;
    if (first >= count)
        return;
    if (row->write.how == CPS_WRITE_NUMBER)
        each(context, words[first] & NUMBER, NULL);
    for (size_t i = first + 1; row->write.how == CPS_WRITE_LIST && i < count; i++)
        each(context, (words[first] & NUMBER) + (uint32_t)(i - first - 1), &words[i]);
    for (size_t i = first; row->write.how == CPS_WRITE_PAIRS && i + 1 < count; i += 2)
        each(context, words[i] & NUMBER, &words[i + 1]);
}

static void put_register(void *context, uint32_t number, const uint32_t *value)
{
    if (value)
        put_event(context, CPS_EV_REG, CPS_PATH_USER, number, *value);
}

static void put_missing(struct stream_walk *walk, uint64_t addr, uint32_t why)
{
    walk->missing++;
    put_event(walk, CPS_EV_UNMODELLED, CPS_PLACE_STREAM, addr, why);
}

static void run_stream(struct stream_walk *walk, struct stream stream, bool is_kept);

static void run_group(struct stream_walk *walk, unsigned group)
{
    struct stream stream = {.addr = walk->group[group].addr,
                            .dwords = walk->group[group].dwords,
                            .level = CPS_LEVEL_SDS};
    bool has_masks = walk->gen != CPS_A5XX;
    walk->group[group].dwords = 0;
    if (stream.dwords && (!has_masks || walk->group[group].mask & walk->mode))
        run_stream(walk, stream, false);
}

static void set_groups(struct stream_walk *walk, const struct packet *p)
{
    enum { DISABLE = 2, DISABLE_ALL = 4, AT_ONCE = 8 };
    for (uint32_t i = 0; i + 2 < p->words; i += 3) {
        uint32_t flags = p->word[i] >> 16 & 15;
        unsigned group = p->word[i] >> 24 & 31;
        for (unsigned k = 0; flags & DISABLE_ALL && k < WALK_GROUPS; k++)
            walk->group[k].dwords = 0;
        if (flags & DISABLE_ALL)
            continue;
        walk->group[group].dwords = flags & DISABLE ? 0 : p->word[i] & 0xffff;
        walk->group[group].mask = p->word[i] >> 20 & 7;
        walk->group[group].addr = (uint64_t)p->word[i + 2] << 32 | p->word[i + 1];
        if (flags & AT_ONCE)
            run_group(walk, group);
    }
}

static void set_mode(struct stream_walk *walk, const struct packet *p)
{
    enum { IS_IFPC = 0x100 };
    for (size_t i = 0; p->words && i < sizeof(modes) / sizeof(modes[0]); i++) {
        if (!(p->word[0] & IS_IFPC) && (p->word[0] & 15) == modes[i].marker)
            walk->mode = modes[i].mask;
    }
}

/* Streams that the packet names. @p chained  gets the one that goes on in place of this one. */
static void call_streams(struct stream_walk *walk, const struct packet *p, struct stream *chained)
{
    const struct cps_packet_callee *callee = &p->row->call;
    int last = callee->times > callee->size ? callee->times : callee->size;
    if (!callee->is_call || p->words <= (uint32_t)last)
        return;
    const uint32_t *address = &p->word[callee->address];
    uint32_t mask = (1u << callee->bits) - 1;
    struct stream to = {.addr = (uint64_t)address[1] << 32 | address[0],
                        .dwords = p->word[callee->size] >> callee->low & mask,
                        .level = p->level + 1};
    if (callee->how == CPS_CALL_CHAIN) {
        to.level = p->level;
        *chained = to;
        return;
    }
    if (p->level >= CPS_LEVEL_IB3) { /* there is no level below */
        put_missing(walk, to.addr, STREAM_TOO_DEEP);
        return;
    }
    /* A count of 2^32 costs a packet; so after a stream that is missing the rest is ignored. */
    uint32_t times = callee->times < 0 ? 1 : p->word[callee->times];
    bool held = true;
    for (uint32_t i = 0; i < times && held && to.dwords && !walk->full; i++) {
        held = is_held(walk, to.addr);
        run_stream(walk, to, p->is_kept || callee->how == CPS_CALL_KEEP);
        to.addr += 4 * (uint64_t)to.dwords;
    }
}

static void run_packet(struct stream_walk *walk, const struct packet *p, struct stream *chained)
{
    enum cps_launch_kind kind = cps_launch_kind_of_(walk->names, p->header, p->word, p->words);
    if (!p->is_kept)
        stream_walk_registers(walk->names, p->header, p->word, p->words, put_register, walk);
    if (!p->row)
        return;
    if (!p->is_kept && p->row->sets_mode) /* a kept one is only shown */
        set_mode(walk, p);
    if (!p->is_kept && p->row->sets_groups) {
        set_groups(walk, p);
    } else if (!p->is_kept && (kind == CPS_LAUNCH_DRAW || kind == CPS_LAUNCH_DISPATCH)) {
        for (unsigned i = 0; i < WALK_GROUPS; i++)
            run_group(walk, i);
    } else {
        call_streams(walk, p, chained);
    }
}

/* ---- Streams ---- */

/* Reads the packet at a dword of a stream, and reports it. @return dwords that it takes */
static uint32_t take_packet(struct stream_walk *walk, const struct stream *stream, uint32_t at,
                            struct packet *p)
{
    uint32_t rest = stream->dwords - at - 1;
    uint64_t addr = address_of(stream, at);
    p->header = cps_mem_read(walk->mem, addr, NULL);
    p->pm4 = cps_pm4_decode(p->header);
    p->row = p->pm4.kind == CPS_PM4_TYPE7
                 ? cps_packet_row_(p->pm4.opcode, cps_packet_name_(walk->names, p->header))
                 : NULL;
    p->level = stream->level;
    walk->bad += p->pm4.kind == CPS_PM4_BAD;
    walk->packets++;
    put_event(walk, CPS_EV_PKT, stream->level, addr, p->header);
    uint32_t wanted = p->pm4.count < rest ? p->pm4.count : rest;
    for (p->words = 0; p->words < wanted; p->words++) {
        bool known = false;
        p->word[p->words] = cps_mem_read(walk->mem, address_of(stream, at + 1 + p->words), &known);
        if (!known)
            break;
        put_event(walk, CPS_EV_WORD, 0, p->words, p->word[p->words]);
    }
    return 1 + p->pm4.count;
}

static void run_stream(struct stream_walk *walk, struct stream stream, bool is_kept)
{
    if (walk->full)
        return;
    if (walk->depth == WALK_DEPTH) {
        put_missing(walk, stream.addr, STREAM_TOO_DEEP);
        return;
    }
    struct packet p = {.is_kept = is_kept, .word = walk->word[walk->depth++]};
    for (uint32_t at = 0; at < stream.dwords && !walk->full;) {
        struct stream chained = {0};
        if (walk->packets >= walk->limit) {
            walk->full = true;
            break;
        }
        if (!is_held(walk, address_of(&stream, at))) {
            put_missing(walk, address_of(&stream, at), STREAM_NOT_HELD);
            break;
        }
        at += take_packet(walk, &stream, at, &p);
        run_packet(walk, &p, &chained);
        if (chained.dwords) {
            stream = chained;
            at = 0;
        }
    }
    walk->depth--;
}

/* ---- Items ---- */

static struct cps_err *open_names(struct stream_walk *walk, uint64_t gpu)
{
    enum cps_layout layout =
        walk->gen == CPS_GEN_NONE ? cps_gpu_layout(gpu) : cps_gen_layout(walk->gen);
    if (walk->names)
        return NULL;
    walk->gen = cps_layout_gen(layout);
    CPS_TRY(cps_names_create(layout, walk->rnn, &walk->names));
    *walk->publish = walk->names;
    return NULL;
}

static struct cps_err *submit(struct stream_walk *walk, struct stream stream)
{
    const struct cps_event event = cps_event_make(CPS_EV_SUBMIT, 0, CPS_CPU_NONE, stream.dwords,
                                                  stream.addr, walk->submissions++);
    CPS_TRY(open_names(walk, 0));
    walk->sink->put(walk->sink, &event, 1);
    walk->packets = 0;
    run_stream(walk, stream, false);
    return NULL;
}

struct cps_err *stream_walk_end(struct stream_walk *walk)
{
    uint32_t n = walk->ring.dwords, oldest = 0;
    if (cps_mem_failed(walk->mem)) /* words read since are no result */
        return cps_err_nomem();
    if (!n)
        return NULL;
    struct stream ring = {.addr = walk->ring.iova + 4 * (uint64_t)(walk->ring.wptr % n),
                          .level = CPS_LEVEL_RB,
                          .ring = walk->ring.iova,
                          .bytes = 4 * (uint64_t)n};
    /* by dwords before the write pointer: whether packets lead from there to it */
    CPS_FREE uint8_t *good = malloc(n);
    if (!good)
        return cps_err_nomem();
    good[0] = 1;
    for (uint32_t back = 1; back < n; back++) {
        uint32_t header = cps_mem_read(walk->mem, address_of(&ring, n - back), NULL);
        struct cps_pm4 pm4 = cps_pm4_decode(header);
        good[back] = pm4.kind != CPS_PM4_BAD && pm4.count < back && good[back - 1 - pm4.count];
        oldest = good[back] ? back : oldest;
    }
    walk->next = walk->ring.iova + 4 * (uint64_t)(walk->ring.rptr % n);
    ring.addr = address_of(&ring, n - oldest);
    ring.dwords = oldest;
    if (oldest)
        CPS_TRY(submit(walk, ring));
    return cps_mem_failed(walk->mem) ? cps_err_nomem() : NULL;
}

static void take_ring(struct stream_walk *walk, const struct cps_item *item)
{
    enum { MOST_RING = 4 << 20 };
    uint64_t dwords = item->ring.size / 4;
    bool waits = walk->ring.dwords && walk->ring.rptr != walk->ring.wptr;
    if (waits || !dwords || dwords > MOST_RING)
        return; /* the first one in which something is left is the one that ran */
    walk->ring.iova = item->ring.iova;
    walk->ring.dwords = (uint32_t)dwords;
    walk->ring.rptr = item->ring.rptr;
    walk->ring.wptr = item->ring.wptr;
}

static struct cps_err *take_item(struct cps_item_sink *items, const struct cps_item *item)
{
    struct stream_walk *walk = (struct stream_walk *)items;
    switch (item->kind) {
    case CPS_ITEM_CHIP:
        return open_names(walk,
                          item->chip.gpu_id ? item->chip.gpu_id : item->chip.chip_id & 0xffffffff);
    case CPS_ITEM_RESET: /* a job can have several streams, and the mode outlives it */
        memset(walk->group, 0, sizeof(walk->group));
        cps_mem_forget(walk->mem);
        return NULL;
    case CPS_ITEM_DATA:
        return cps_mem_load(walk->mem, item->buffer.iova, item->buffer.data, item->buffer.size);
    case CPS_ITEM_SUBMIT:
        return submit(walk, (struct stream){.addr = item->stream.iova,
                                            .dwords = item->stream.dwords,
                                            .level = CPS_LEVEL_IB1});
    case CPS_ITEM_RING:
        take_ring(walk, item);
        return NULL;
    default:
        return NULL;
    }
}

struct cps_err *stream_walk_init(struct stream_walk *walk)
{
    walk->items.item = take_item;
    walk->mode = 4; /* SYSMEM */
    walk->word = malloc(WALK_DEPTH * sizeof(*walk->word));
    return walk->word ? cps_mem_create(CPS_MEM_LIMIT, &walk->mem) : cps_err_nomem();
}

void stream_walk_deinit(struct stream_walk *walk)
{
    cps_mem_destroy(walk->mem);
    cps_names_destroy(walk->names);
    free(walk->word);
    walk->mem = NULL;
    walk->names = NULL;
    walk->word = NULL;
}
