/* SPDX-License-Identifier: MIT
 * The tree of frames: two lists and their hashes. */
#include "tools/explain/profile/profile.h"

#include <stdlib.h>

#include "tools/cmd/terminal/oom.h"

#define MOST_NODES (1u << 20) /* firmware that calls itself in ever new ways ends here */

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t h = (a ^ b * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xff51afd7ed558ccd);
    return h ^ h >> 32;
}

/* The first slot from @p at on that is of the hash, or free; moves @p at to it. */
static struct profile_slot *next_slot(const struct profile_index *index, uint64_t hash, size_t *at)
{
    *at &= index->room - 1;
    while (index->slot[*at].number && index->slot[*at].hash != hash)
        *at = (*at + 1) & (index->room - 1);
    return &index->slot[*at];
}

static void enter(struct profile_index *index, uint64_t hash, uint32_t number)
{
    size_t at = hash;
    struct profile_slot *slot;
    while ((slot = next_slot(index, hash, &at))->number)
        at++;
    *slot = (struct profile_slot){hash, number};
    index->count++;
}

/* Twice the slots when half of them are taken. */
static void make_room(struct profile_index *index)
{
    if (index->count * 2 < index->room)
        return;
    struct profile_index larger = {.room = index->room ? 2 * index->room : 256};
    larger.slot = tool_alloc(larger.room, sizeof(*larger.slot));
    for (size_t i = 0; i < index->room; i++) {
        if (index->slot[i].number)
            enter(&larger, index->slot[i].hash, index->slot[i].number);
    }
    free(index->slot);
    *index = larger;
}

uint32_t profile_tree_frame(struct profile_tree *tree, const struct profile_node *frame)
{
    uint64_t hash = mix(mix((uint64_t)frame->parent << 32 | frame->key, frame->site),
                        (uint64_t)frame->kind << 8 | frame->who);
    struct profile_slot *slot;
    make_room(&tree->by_frame);
    for (size_t at = hash; (slot = next_slot(&tree->by_frame, hash, &at))->number; at++) {
        const struct profile_node *old = &tree->node[slot->number - 1];
        if (old->parent == frame->parent && old->key == frame->key && old->site == frame->site &&
            old->kind == frame->kind && old->who == frame->who)
            return slot->number - 1;
    }
    if (tree->nodes >= MOST_NODES)
        return frame->parent;
    TOOL_ROOM(tree->node, tree->nodes);
    tree->node[tree->nodes++] = *frame;
    enter(&tree->by_frame, hash, (uint32_t)tree->nodes);
    return (uint32_t)tree->nodes - 1;
}

void profile_tree_count(struct profile_tree *tree, uint32_t node, uint32_t pc)
{
    uint64_t hash = mix(node, pc);
    struct profile_slot *slot;
    tree->node[node].self++;
    make_room(&tree->by_place);
    for (size_t at = hash; (slot = next_slot(&tree->by_place, hash, &at))->number; at++) {
        struct profile_cost *cost = &tree->cost[slot->number - 1];
        if (cost->node == node && cost->pc == pc) {
            cost->count++;
            return;
        }
    }
    TOOL_ROOM(tree->cost, tree->costs);
    tree->cost[tree->costs++] = (struct profile_cost){node, pc, 1};
    enter(&tree->by_place, hash, (uint32_t)tree->costs);
}

uint64_t *profile_tree_totals(const struct profile_tree *tree)
{
    uint64_t *ret = tool_alloc(tree->nodes, sizeof(*ret));
    for (size_t i = tree->nodes; i-- > 0;) {
        ret[i] += tree->node[i].self;
        if (i)
            ret[tree->node[i].parent] += ret[i];
    }
    return ret;
}

void profile_tree_deinit(struct profile_tree *tree)
{
    free(tree->node);
    free(tree->cost);
    free(tree->by_frame.slot);
    free(tree->by_place.slot);
}
