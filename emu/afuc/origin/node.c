/* SPDX-License-Identifier: MIT
 * Nodes, and which of them survive: those that a place or a question still leads to. When there is
 * no room the others go; when even that leaves too many, the oldest are cut off. */
#include "emu/afuc/origin/state.h"

#include "isa/base/list.h"

#include <stdlib.h>

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

/* While nodes are marked, and then have new numbers, this is beside each of them. */
struct sweep {
    struct origin *o;
    uint32_t *number;
    uint32_t first; /* older ones are cut off */
};

static struct sweep *sweep_of(struct origin *o)
{
    return o->context_of_sweep;
}

static void mark(struct origin *o, uint32_t *node)
{
    sweep_of(o)->number[*node] = 1;
}

static void renumber(struct origin *o, uint32_t *node)
{
    *node = sweep_of(o)->number[*node];
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
    struct sweep s = {o, calloc(o->count, sizeof(*s.number)), 0};
    if (!s.number) {
        cps_mem_fail(o->machine->engine.mem);
        return;
    }
    o->context_of_sweep = &s;
    origin_places_(o, mark);
    mark_inputs(o, s.number);
    s.first = first_left(o, s.number, o->most / 2);
    o->cut |= s.first > 2;
    compact(o, s.number, s.first);
    origin_places_(o, renumber);
    o->context_of_sweep = NULL;
    free(s.number);
}

void origin_make_room_(struct origin *o)
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
