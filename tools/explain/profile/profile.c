/* SPDX-License-Identifier: MIT
 * A profile from its first event to its sums. */
#include "tools/explain/profile/profile.h"

#include <stdlib.h>
#include <string.h>

#include "isa/base/list.h"

static void put(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    struct profile *p = (struct profile *)sink;
    for (size_t i = 0; i < count; i++)
        profile_follow_(p, &events[i]);
}

void profile_begin(struct profile *p, struct play *play)
{
    const struct profile_node root = {.kind = PROFILE_ROOT};
    p->sink.put = put;
    p->play = play;
    profile_tree_frame(&p->tree, &root);
    unsigned who = cps_launch_processor_(play->gen);
    cps_launches_init_(&p->launches, play->names[who], who, true);
    play->trace = &p->sink;
    play->kinds = PROFILE_KINDS;
}

void profile_deinit(struct profile *p)
{
    profile_tree_deinit(&p->tree);
    free(p->wait);
}

struct cps_err *profile_finish(struct profile *p)
{
    profile_close_(p);
    return p->tree.lost || p->is_wait_lost ? cps_err_nomem() : NULL;
}

/* The stream that a packet is of: the level above it, or internal. */
static uint32_t level_of(const struct profile_tree *tree, const struct profile_node *node)
{
    const struct profile_node *parent = &tree->node[node->parent];
    return parent->kind == PROFILE_LEVEL ? parent->key : CPS_LEVEL_INT;
}

static struct profile_row row_of(const struct profile_tree *tree, const struct profile_node *node,
                                 uint64_t total)
{
    struct profile_row row = {*node, total};
    row.what.parent = 0;
    row.what.site = node->kind == PROFILE_PACKET ? level_of(tree, node) : 0;
    return row;
}

static void add_row(struct profile_row *to, const struct profile_row *row)
{
    if (row->what.visits && (!to->what.visits || row->what.least < to->what.least))
        to->what.least = row->what.least;
    if (row->what.most > to->what.most)
        to->what.most = row->what.most;
    to->what.visits += row->what.visits;
    to->what.self += row->what.self;
    to->what.own += row->what.own;
    to->total += row->total;
}

static int by_what(const void *x, const void *y)
{
    const struct profile_node *a = &((const struct profile_row *)x)->what;
    const struct profile_node *b = &((const struct profile_row *)y)->what;
    const uint32_t left[] = {a->who, a->kind, a->site, a->key};
    const uint32_t right[] = {b->who, b->kind, b->site, b->key};
    for (unsigned i = 0; i < 4; i++) {
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    }
    return 0;
}

static uint64_t weight(const struct profile_row *row)
{
    return row->what.kind == PROFILE_PACKET      ? row->what.own
           : row->what.kind == PROFILE_PROCESSOR ? row->total
                                                 : row->what.self;
}

static int by_weight(const void *x, const void *y)
{
    uint64_t a = weight(x);
    uint64_t b = weight(y);
    return a != b ? a > b ? -1 : 1 : by_what(x, y);
}

static bool is_wanted(const struct profile_node *node, enum profile_kind kind)
{
    bool is_function = node->kind == PROFILE_CALL || node->kind == PROFILE_INTERRUPT;
    if (kind == PROFILE_CALL)
        return is_function;
    return node->kind == kind || (kind == PROFILE_PACKET && node->kind == PROFILE_BOOT);
}

/* The code of a boot has calls, but no packets: what it spent is all below. */
static void add_boot(struct profile_row *row)
{
    if (row->what.kind == PROFILE_BOOT)
        row->what.own = row->what.least = row->what.most = row->total;
}

long profile_rows(const struct profile *p, enum profile_kind kind, struct profile_row **ret)
{
    const struct profile_tree *tree = &p->tree;
    struct profile_row *rows = calloc(tree->nodes ? tree->nodes : 1, sizeof(*rows));
    uint64_t *total = profile_tree_totals(tree);
    size_t found = 0, kept = 0;
    for (size_t i = 0; rows && total && i < tree->nodes; i++) {
        if (is_wanted(&tree->node[i], kind))
            rows[found++] = row_of(tree, &tree->node[i], total[i]);
    }
    free(total);
    if (!rows || !total)
        return free(rows), -1;
    qsort(rows, found, sizeof(*rows), by_what);
    for (size_t i = 0; i < found; i++) {
        add_boot(&rows[i]);
        if (kept && !by_what(&rows[kept - 1], &rows[i]))
            add_row(&rows[kept - 1], &rows[i]);
        else
            rows[kept++] = rows[i];
    }
    qsort(rows, kept, sizeof(*rows), by_weight);
    *ret = rows;
    return (long)kept;
}
