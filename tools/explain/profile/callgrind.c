/* SPDX-License-Identifier: MIT
 * Callgrind's format, version 1 (valgrind.org, "Callgrind Format Specification"): functions with
 * the instructions of each dword, and the calls between them. Frames without code, which are
 * processors and streams, stand at dword 0. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/explain/profile/profile.h"

/* A cost of a function: at a dword of its own, or of what it calls from there. */
struct item {
    struct profile_node from; /* without `parent` and `site`, so that equal ones are one function */
    struct profile_node to;   /* `kind` is PROFILE_ROOT: no call */
    uint32_t pc;
    uint64_t calls, cost;
};

static struct profile_node function_of(const struct profile_node *node)
{
    return (struct profile_node){.kind = node->kind, .who = node->who, .key = node->key};
}

static int compare_nodes(const struct profile_node *a, const struct profile_node *b)
{
    if (a->who != b->who)
        return a->who < b->who ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return a->key < b->key ? -1 : a->key > b->key;
}

static int compare(const void *x, const void *y)
{
    const struct item *a = x;
    const struct item *b = y;
    int order = compare_nodes(&a->from, &b->from);
    order = order ? order : compare_nodes(&a->to, &b->to);
    return order ? order : a->pc < b->pc ? -1 : a->pc > b->pc;
}

/* Both lists as one, sorted, equal ones added up. @return how many */
static size_t gather(const struct profile *p, const uint64_t *total, struct item *items)
{
    const struct profile_tree *tree = &p->tree;
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < tree->costs; i++) {
        const struct profile_cost *cost = &tree->cost[i];
        items[count++] = (struct item){
            .from = function_of(&tree->node[cost->node]), .pc = cost->pc, .cost = cost->count};
    }
    for (size_t i = 1; i < tree->nodes; i++) {
        const struct profile_node *node = &tree->node[i];
        if (node->parent)
            items[count++] = (struct item){.from = function_of(&tree->node[node->parent]),
                                           .to = function_of(node),
                                           .pc = node->site,
                                           .calls = node->visits,
                                           .cost = total[i]};
    }
    qsort(items, count, sizeof(*items), compare);
    for (size_t i = 0; i < count; i++) {
        if (kept && !compare(&items[kept - 1], &items[i])) {
            items[kept - 1].calls += items[i].calls;
            items[kept - 1].cost += items[i].cost;
        } else {
            items[kept++] = items[i];
        }
    }
    return kept;
}

static void put_line(const struct profile *p, const char *key, const struct profile_node *node,
                     struct cps_buf *out)
{
    CPS_BUF name = {0};
    profile_name(p, node, &name);
    out->failed = out->failed || name.failed;
    cps_buf_printf(out, "%s=", key);
    if (node->kind != PROFILE_PROCESSOR)
        cps_buf_printf(out, "%s:", cps_processor_name(node->who));
    for (size_t i = 0; i < name.size; i++)
        cps_buf_add(out, (unsigned char)name.data[i] < ' ' ? "_" : &name.data[i], 1);
    cps_buf_str(out, "\n");
}

static uint32_t start_of(const struct profile_node *node)
{
    return node->kind == PROFILE_CALL || node->kind == PROFILE_INTERRUPT ? node->key : 0;
}

static void put_position(const struct profile *p, unsigned who, uint32_t pc, struct cps_buf *out)
{
    cps_buf_printf(out, "0x%" PRIx32 " %" PRIu32, pc, profile_line(p, who, pc));
}

static void put_item(const struct profile *p, const struct item *item, struct cps_buf *out)
{
    if (item->to.kind != PROFILE_ROOT) {
        put_line(p, "cfn", &item->to, out);
        cps_buf_printf(out, "calls=%" PRIu64 " ", item->calls);
        put_position(p, item->to.who, start_of(&item->to), out);
        cps_buf_str(out, "\n");
    }
    put_position(p, item->from.who, item->pc, out);
    cps_buf_printf(out, " %" PRIu64 "\n", item->cost);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void put_head(const struct profile *p, struct cps_buf *out)
{
    cps_buf_printf(out,
                   "# callgrind format\nversion: 1\ncreator: cpscope\n"
                   "positions: instr line\nevents: Instructions\nsummary: %" PRIu64 "\n",
                   p->instructions);
}

static void put_items(const struct profile *p, const struct item *items, size_t count,
                      struct cps_buf *out)
{
    for (size_t i = 0; i < count; i++) {
        bool other = !i || items[i].from.who != items[i - 1].from.who;
        if (other) {
            CPS_BUF name = {0};
            cps_buf_str(&name, base_name(profile_firmware(p, items[i].from.who)));
            for (size_t c = 0; c < name.size; c++)
                name.data[c] = (unsigned char)name.data[c] < ' ' ? '_' : name.data[c];
            out->failed = out->failed || name.failed;
            cps_buf_printf(out, "\nob=%s\nfl=%s\n", cps_buf_text(&name), cps_buf_text(&name));
        }
        if (other || compare_nodes(&items[i].from, &items[i - 1].from))
            put_line(p, "fn", &items[i].from, out);
        put_item(p, &items[i], out);
    }
    cps_buf_printf(out, "\ntotals: %" PRIu64 "\n", p->instructions);
}

struct cps_err *profile_callgrind(const struct profile *p, struct cps_buf *out)
{
    uint64_t *total = profile_tree_totals(&p->tree);
    struct item *items = calloc(p->tree.costs + p->tree.nodes + 1, sizeof(*items));
    if (total && items) {
        put_head(p, out);
        put_items(p, items, gather(p, total, items), out);
    }
    bool failed = !total || !items || out->failed;
    free(total);
    free(items);
    return failed ? cps_err_nomem() : NULL;
}
