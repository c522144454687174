/* SPDX-License-Identifier: MIT
 * Ticks one by one, items, and who is told of events. */
#include "emu/afuc/origin/state.h"

#include "isa/base/list.h"

#include <stdlib.h>

/* ---- nodes, and which of them survive ----
 *
 * Those that a place or a question still leads to. When there is no room the others go; when even
 * that leaves too many, the oldest are cut off. */

/* A tick makes fewer nodes than this, unless it copies memory: then they are cut. */
enum { SPARE = 65536 };

static bool grow(struct origin *o)
{
    uint32_t room = o->room ? 2 * o->room : 4 * SPARE;
    room = room < o->most ? room : o->most;
    struct origin_node *node = realloc(o->node, room * sizeof(*node));
    if (!node)
        return false;
    o->node = node;
    o->room = room;
    return true;
}

uint32_t origin_new_(struct origin *o, unsigned kind, uint32_t value, uint64_t place)
{
    const struct tick *t = &o->t;
    if (o->count == o->room && (o->room == o->most || !grow(o))) {
        o->cut = true;
        if (o->room != o->most)
            cps_mem_fail(o->machine->engine.mem);
        return ORIGIN_CUT;
    }
    o->node[o->count] = (struct origin_node){
        .place = place,
        .clock = o->machine->engine.clock,
        .value = value,
        .packet = t->tags ? t->tags->packet : 0,
        .pc = t->pc,
        .aux = o->block_count,
        .submission = o->machine->submission,
        .kind = (uint8_t)kind,
        .who = (uint8_t)(t->core ? t->core->who : CPS_CPU_HOST),
        .dst = R_TRASH,
    };
    return o->count++;
}

static void mark(struct origin *o, uint32_t *node)
{
    o->number_of[*node] = 1;
}

static void renumber(struct origin *o, uint32_t *node)
{
    *node = o->number_of[*node];
}

/* Inputs are older than what is made of them, so that one pass from the newest on finds all. */
static void mark_inputs(struct origin *o, uint32_t *number)
{
    for (uint32_t i = o->count; i-- > 2;) {
        const struct origin_node *node = &o->node[i];
        if (!number[i])
            continue;
        number[node->packet] = 1;
        for (unsigned k = 0; k < ORIGIN_INPUTS; k++)
            number[node->in[k]] = 1;
    }
}

/* The newest that may be cut off for at most @p most to be left. */
static uint32_t first_left(const struct origin *o, const uint32_t *number, uint32_t most)
{
    uint32_t left = 0;
    for (uint32_t i = o->count; i-- > 2;) {
        left += number[i];
        if (left > most)
            return i + 1;
    }
    return 2;
}

static void compact(struct origin *o, uint32_t *number, uint32_t first)
{
    uint32_t next = 2;
    number[0] = 0;
    number[1] = 1;
    for (uint32_t i = 2; i < o->count; i++) {
        if (!number[i])
            continue;
        if (i < first) {
            number[i] = ORIGIN_CUT;
            continue;
        }
        struct origin_node node = o->node[i];
        node.packet = number[node.packet];
        for (unsigned k = 0; k < ORIGIN_INPUTS; k++)
            node.in[k] = number[node.in[k]];
        o->node[next] = node;
        number[i] = next++;
    }
    o->count = next;
}

static void sweep(struct origin *o)
{
    o->number_of = calloc(o->count, sizeof(*o->number_of));
    if (!o->number_of) {
        cps_mem_fail(o->machine->engine.mem);
        return;
    }
    origin_places_(o, mark);
    mark_inputs(o, o->number_of);
    uint32_t first = first_left(o, o->number_of, o->most / 2);
    o->cut |= first > 2;
    compact(o, o->number_of, first);
    origin_places_(o, renumber);
    free(o->number_of);
}

static void make_room(struct origin *o)
{
    if (o->count + SPARE <= o->enough)
        return;
    sweep(o);
    uint32_t twice = 2 * o->count + 8 * SPARE;
    o->enough = twice < o->most ? twice : o->most;
}

const struct origin_node *origin_at_(const struct origin *o, uint32_t node)
{
    return &o->node[node < o->count ? node : 0];
}

bool origin_cut_(const struct origin *o)
{
    return o->cut;
}

uint32_t origin_keep_(struct origin *o, uint32_t node)
{
    if (!CPS_LIST_ROOM(o->kept, o->kept_count))
        return UINT32_MAX;
    o->kept[o->kept_count] = node;
    return o->kept_count++;
}

uint32_t origin_kept_(const struct origin *o, uint32_t kept)
{
    return kept < o->kept_count ? o->kept[kept] : 0;
}

/* ---- ticks ---- */

/* 56 bytes each; what survives is much less than what is made. */
enum { MOST = 1u << 22, FEWEST = 1u << 18 };

static void report_event(struct origin *o, const struct cps_event *event, uint32_t node)
{
    bool counts = o->kinds >> cps_event_kind(event) & 1;
    if (o->seen)
        o->seen(o->context, counts ? o->number : UINT64_MAX, event, node);
    o->number += counts;
}

static void keep_event(struct origin *o, const struct cps_event *event)
{
    if (!CPS_LIST_ROOM(o->event, o->events)) {
        cps_mem_fail(o->machine->engine.mem);
        return;
    }
    o->event[o->events++] = (struct seen_event){.event = *event};
}

static void take_events(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    struct origin *o = (struct origin *)sink;
    for (size_t i = 0; i < count; i++) {
        if (o->inside) {
            keep_event(o, &events[i]);
            continue;
        }
        o->t = (struct tick){0};
        origin_host_event_(o, &events[i]);
        report_event(o, &events[i], 0);
    }
}

static void note_tails(const struct afuc_core *core, uint32_t *tail)
{
    for (unsigned l = 0; l < LEVEL_COUNT; l++)
        tail[l] = (core->s.queue[l].head + core->s.queue[l].count) % QUEUE_DEPTH;
}

static void begin(struct origin *o, struct afuc_core *core)
{
    struct afuc_state *s = &core->s;
    struct tick *t = &o->t;
    bool queued = s->level < LEVEL_COUNT;
    t->core = core;
    t->tags = o->core[core - o->machine->core];
    t->uop = &core->uops[s->pc];
    t->pc = s->pc;
    for (unsigned i = 0; i < R_COUNT; i++)
        t->r[i] = s->r[i];
    t->carry = s->carry;
    t->level = s->level;
    t->injected = s->injected;
    t->meq_head = s->meq.head;
    t->side_end = s->side_packets && !s->side_left;
    t->peeking = s->peeking;
    t->head = queued ? s->queue[s->level].head : 0;
    t->pos = queued ? s->queue[s->level].pos : 0;
    t->outs = t->next_out = t->last_out = 0;
    t->read = t->assumed = 0;
    const struct afuc_core *other = core->me ? core->me : core->dde;
    if (other)
        t->meq_tail = (other->s.meq.head + other->s.meq.count) % MEQ_WORDS;
    if (t->uop->code != UOP_CWRITE)
        return;
    note_tails(core, t->tail[0]);
    if (other)
        note_tails(other, t->tail[1]);
}

static void end(struct origin *o, bool done)
{
    struct tick *t = &o->t;
    if (o->events)
        origin_reads_(o, t);
    if (done)
        origin_effects_(o, t);
    if (o->events)
        origin_writes_(o, t);
    if (done)
        origin_calls_(o, t);
    /* A core's queues are filled by its own ticks, or with an event that shows it. */
    origin_fifo_match_(o, &t->tags->memdata, &t->core->s.memdata);
    origin_fifo_match_(o, &t->tags->regdata, &t->core->s.regdata);
    for (size_t i = 0; i < o->events; i++)
        report_event(o, &o->event[i].event, o->event[i].node);
    o->events = 0;
}

uint64_t origin_run_(struct origin *o, struct afuc_core *core, uint64_t budget)
{
    uint64_t ran = 0;
    bool goes_on = true;
    bool watched = core->machine->engine.tap.kinds >> CPS_EV_STEP & 1;
    cps_tap_flush_(&o->machine->engine.tap);
    while (goes_on && ran < budget) {
        make_room(o);
        begin(o, core);
        o->inside = true;
        bool done = (watched ? afuc_run_watched_(core, 1) : afuc_run_(core, 1)) != 0;
        cps_tap_flush_(&o->machine->engine.tap);
        end(o, done);
        o->inside = false;
        ran += done;
        goes_on = done && core->s.wait == WAIT_NONE; /* a wait for the pipe is after its write */
    }
    return ran;
}

static void add_block(struct origin *o, struct origin_block block)
{
    if (!CPS_LIST_ROOM(o->block, o->block_count)) {
        cps_mem_fail(o->machine->engine.mem);
        return;
    }
    o->block[o->block_count++] = block;
}

/* A block of size 0 says that those before it are gone. */
void origin_item_(struct origin *o, const struct cps_item *item)
{
    if (item->kind == CPS_ITEM_RECOVER) {
        origin_forget_processors_(o);
    } else if (item->kind == CPS_ITEM_RESET) {
        add_block(o, (struct origin_block){0});
        origin_forget_memory_(o);
    } else if (item->kind == CPS_ITEM_DATA && item->buffer.size) {
        origin_forget_range_(o, item->buffer.iova, item->buffer.size);
        add_block(o, (struct origin_block){item->buffer.iova, item->buffer.size, item->buffer.at,
                                           item->line});
    }
}

const struct origin_block *origin_block_(const struct origin *o, const struct origin_node *node,
                                         uint64_t *offset)
{
    for (uint32_t i = node->aux < o->block_count ? node->aux : o->block_count; i-- > 0;) {
        const struct origin_block *block = &o->block[i];
        if (!block->size)
            return NULL;
        if (node->place - block->iova >= block->size)
            continue;
        *offset = node->place - block->iova + (block->offset ? block->offset - 1 : 0);
        return block;
    }
    return NULL;
}

void origin_tell_(struct origin *o, uint32_t kinds, origin_seen *seen, void *context)
{
    o->kinds = kinds;
    o->seen = seen;
    o->context = context;
}

struct cps_sink *origin_sink_(struct origin *o)
{
    return &o->sink;
}

void origin_destroy_(struct origin *o)
{
    if (!o)
        return;
    origin_free_places_(o);
    free(o->node);
    free(o->kept);
    free(o->block);
    free(o->event);
    free(o);
}

struct cps_err *origin_create_(struct cps_afuc *machine, uint32_t most, struct origin **ret)
{
    struct origin *o = calloc(1, sizeof(*o));
    if (!o)
        return cps_err_nomem();
    o->sink.put = take_events;
    o->machine = machine;
    o->most = !most ? MOST : most < FEWEST ? FEWEST : most;
    o->enough = o->most;
    origin_new_(o, ORIGIN_NONE, 0, 0); /* the two nodes that all others refer to */
    origin_new_(o, ORIGIN_CUT, 0, 0);
    bool made = o->count == 2 && pages_init_(&o->memory);
    for (unsigned i = 0; made && i < machine->engine.cores; i++) {
        o->core[i] = calloc(1, sizeof(*o->core[i]));
        made = o->core[i] != NULL;
    }
    if (!made) {
        origin_destroy_(o);
        return cps_err_nomem();
    }
    machine->origin = o;
    *ret = o;
    return NULL;
}
