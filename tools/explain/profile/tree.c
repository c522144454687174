/* SPDX-License-Identifier: MIT
 * The tree of frames: two lists and their hashes. */
#include "tools/explain/profile/tree.h"

#include <stdlib.h>

#include "isa/base/list.h"

#define MOST_NODES (1u << 20) /* firmware that calls itself in ever new ways ends here */

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t h = (a ^ b * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xff51afd7ed558ccd);
    return h ^ h >> 32;
}

static bool same_frame(const struct profile_node *a, const struct profile_node *b)
{
    return a->parent == b->parent && a->key == b->key && a->site == b->site && a->kind == b->kind &&
           a->who == b->who;
}

static uint64_t hash_frame(const struct profile_node *n)
{
    uint64_t what = (uint64_t)n->kind << 8 | n->who;
    return mix(mix((uint64_t)n->parent << 32 | n->key, n->site), what);
}

static uint64_t hash_place(const struct profile_cost *cost)
{
    return mix(cost->node, cost->pc);
}

static void enter(struct profile_index *index, uint64_t hash, uint32_t number)
{
    size_t at = hash & (index->room - 1);
    while (index->slot[at])
        at = (at + 1) & (index->room - 1);
    index->slot[at] = number + 1;
}

/* Twice the slots when half of them are taken; @p hash_of  item @p number of the list. */
static bool grow(struct profile_index *index, const struct profile_tree *tree,
                 uint64_t (*hash_of)(const struct profile_tree *tree, uint32_t number))
{
    if (index->count * 2 < index->room)
        return true;
    struct profile_index larger = {.room = index->room ? 2 * index->room : 256,
                                   .count = index->count};
    larger.slot = calloc(larger.room, sizeof(*larger.slot));
    if (!larger.slot)
        return false;
    for (uint32_t i = 0; i < index->count; i++)
        enter(&larger, hash_of(tree, i), i);
    free(index->slot);
    *index = larger;
    return true;
}

static uint64_t hash_of_node(const struct profile_tree *tree, uint32_t number)
{
    return hash_frame(&tree->node[number]);
}

static uint64_t hash_of_cost(const struct profile_tree *tree, uint32_t number)
{
    return hash_place(&tree->cost[number]);
}

static uint32_t add_frame(struct profile_tree *tree, const struct profile_node *frame,
                          uint64_t hash)
{
    if (tree->nodes >= MOST_NODES) {
        tree->full = true;
        return frame->parent;
    }
    if (!CPS_LIST_ROOM(tree->node, tree->nodes)) {
        tree->lost = true;
        return frame->parent;
    }
    tree->node[tree->nodes] = *frame;
    tree->by_frame.count++;
    enter(&tree->by_frame, hash, (uint32_t)tree->nodes);
    return (uint32_t)tree->nodes++;
}

uint32_t profile_tree_frame(struct profile_tree *tree, const struct profile_node *frame)
{
    uint64_t hash = hash_frame(frame);
    if (!grow(&tree->by_frame, tree, hash_of_node)) {
        tree->lost = true;
        return frame->parent;
    }
    const struct profile_index *index = &tree->by_frame;
    for (size_t at = hash & (index->room - 1); index->slot[at]; at = (at + 1) & (index->room - 1)) {
        if (same_frame(&tree->node[index->slot[at] - 1], frame))
            return index->slot[at] - 1;
    }
    return add_frame(tree, frame, hash);
}

static struct profile_cost *find_cost(struct profile_tree *tree, const struct profile_cost *cost,
                                      uint64_t hash)
{
    const struct profile_index *index = &tree->by_place;
    for (size_t at = hash & (index->room - 1); index->slot[at]; at = (at + 1) & (index->room - 1)) {
        struct profile_cost *found = &tree->cost[index->slot[at] - 1];
        if (found->node == cost->node && found->pc == cost->pc)
            return found;
    }
    return NULL;
}

void profile_tree_count(struct profile_tree *tree, uint32_t node, uint32_t pc)
{
    const struct profile_cost cost = {node, pc, 1};
    uint64_t hash = hash_place(&cost);
    if (node >= tree->nodes)
        return; /* memory was short for the root */
    tree->node[node].self++;
    if (!grow(&tree->by_place, tree, hash_of_cost)) {
        tree->lost = true;
        return;
    }
    struct profile_cost *found = find_cost(tree, &cost, hash);
    if (found) {
        found->count++;
        return;
    }
    if (!CPS_LIST_ROOM(tree->cost, tree->costs)) {
        tree->lost = true;
        return;
    }
    tree->cost[tree->costs] = cost;
    tree->by_place.count++;
    enter(&tree->by_place, hash, (uint32_t)tree->costs++);
}

uint64_t *profile_tree_totals(const struct profile_tree *tree)
{
    uint64_t *ret = calloc(tree->nodes ? tree->nodes : 1, sizeof(*ret));
    if (!ret)
        return NULL;
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
    *tree = (struct profile_tree){0};
}
