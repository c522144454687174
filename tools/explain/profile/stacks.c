/* SPDX-License-Identifier: MIT
 * Frames by name: packets by theirs, functions by symbol or place. Folded stacks are frames with
 * ';' between them, a blank, and instructions, for flamegraph.pl, inferno and speedscope;
 * Callgrind's format, version 1 (valgrind.org, "Callgrind Format Specification"), is functions with
 * the instructions of each dword, and the calls between them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cmd/terminal/oom.h"
#include "tools/explain/profile/profile.h"

/* ---- Names ---- */

static void packet_name(const struct profile *p, const struct profile_node *node,
                        struct cps_buf *out)
{
    const struct cps_names *names = p->play->names[node->who];
    uint32_t key = node->key;
    const char *name =
        key < PROFILE_TYPE4 && names ? cps_name(names, CPS_SPACE_PACKET, key, NULL) : NULL;
    if (name)
        cps_buf_str(out, name);
    else if (key == PROFILE_NONE)
        cps_buf_str(out, "boot");
    else if (key >= PROFILE_TYPE4)
        cps_buf_str(out, key == PROFILE_TYPE4 ? "type4" : "bad");
    else
        cps_buf_printf(out, "UNKN%" PRIu32, key);
}

void profile_name(const struct profile *p, const struct profile_node *node, struct cps_buf *out)
{
    size_t before = out->size;
    switch ((enum profile_kind)node->kind) {
    case PROFILE_ROOT:
        break;
    case PROFILE_PROCESSOR:
        cps_buf_str(out, cps_processor_name(node->who));
        break;
    case PROFILE_LEVEL:
        cps_buf_str(out, cps_event_sub_word(CPS_EV_PKT, node->key));
        break;
    case PROFILE_BOOT:
        cps_buf_str(out, "boot");
        break;
    case PROFILE_PACKET:
        packet_name(p, node, out);
        break;
    case PROFILE_INTERRUPT:
        cps_buf_str(out, "interrupt:");
        before = out->size;
        /* fall through */
    case PROFILE_CALL: /* labels and handlers have names, other functions their place */
        play_function(p->play, node->who, node->key, out);
        if (out->size == before)
            cps_buf_printf(out, "fn_%04" PRIx32, node->key);
        break;
    }
}

/* Appends a name without the characters that separate frames and counts in a line of folded stacks;
 * else without those that end the line. */
static void put_plain(const char *name, bool folded, struct cps_buf *out)
{
    for (; *name; name++) {
        unsigned char c = (unsigned char)*name;
        bool separates = folded ? c <= ' ' || c == ';' || c == 0x7f : c < ' ';
        cps_buf_add(out, separates ? "_" : name, 1);
    }
}

static void put_frame(const struct profile *p, const struct profile_node *node, bool folded,
                      struct cps_buf *out)
{
    CPS_BUF name = {0};
    profile_name(p, node, &name);
    put_plain(tool_text(&name), folded, out);
}

/* ---- Folded stacks ---- */

struct stack {
    char *text; /* owned */
    uint64_t count;
};

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct stack *)a)->text, ((const struct stack *)b)->text);
}

static void put_stack(const struct profile *p, size_t number, struct cps_buf *out)
{
    const struct profile_node *node = &p->node[number];
    if (node->parent) {
        put_stack(p, node->parent, out);
        cps_buf_str(out, ";");
    }
    put_frame(p, node, true, out);
}

/* Stacks that differ only in their call sites are one. */
void profile_folded(const struct profile *p, struct cps_buf *out)
{
    struct stack *stacks = tool_alloc(p->nodes, sizeof(*stacks));
    size_t count = 0;
    for (size_t i = 0; i < p->nodes; i++) {
        CPS_BUF text = {0};
        if (!p->node[i].self)
            continue;
        put_stack(p, i, &text);
        stacks[count++] = (struct stack){tool_strdup(tool_text(&text)), p->node[i].self};
    }
    qsort(stacks, count, sizeof(*stacks), by_text);
    for (size_t i = 0; i < count; i++) {
        if (i + 1 < count && !by_text(&stacks[i], &stacks[i + 1]))
            stacks[i + 1].count += stacks[i].count;
        else
            cps_buf_printf(out, "%s %" PRIu64 "\n", stacks[i].text, stacks[i].count);
        free(stacks[i].text);
    }
    free(stacks);
}

/* ---- Callgrind ---- */

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

static int compare_items(const void *x, const void *y)
{
    const struct item *a = x;
    const struct item *b = y;
    int order = profile_compare(&a->from, &b->from);
    order = order ? order : profile_compare(&a->to, &b->to);
    return order ? order : a->pc < b->pc ? -1 : a->pc > b->pc;
}

/* Both lists as one, sorted, equal ones added up. @return how many */
static size_t gather_items(const struct profile *p, struct item *items)
{
    size_t count = 0, kept = 0;
    CPS_FREE uint64_t *total = profile_totals(p);
    for (size_t i = 0; i < p->costs; i++) {
        const struct profile_cost *cost = &p->cost[i];
        items[count++] = (struct item){
            .from = function_of(&p->node[cost->node]), .pc = cost->pc, .cost = cost->count};
    }
    for (size_t i = 1; i < p->nodes; i++) {
        const struct profile_node *node = &p->node[i];
        if (node->parent)
            items[count++] = (struct item){.from = function_of(&p->node[node->parent]),
                                           .to = function_of(node),
                                           .pc = node->site,
                                           .calls = node->visits,
                                           .cost = total[i]};
    }
    qsort(items, count, sizeof(*items), compare_items);
    for (size_t i = 0; i < count; i++) {
        if (kept && !compare_items(&items[kept - 1], &items[i])) {
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
    cps_buf_printf(out, "%s=", key);
    if (node->kind != PROFILE_PROCESSOR)
        cps_buf_printf(out, "%s:", cps_processor_name(node->who));
    put_frame(p, node, false, out);
    cps_buf_str(out, "\n");
}

static void put_position(const struct profile *p, unsigned who, uint32_t pc, struct cps_buf *out)
{
    uint32_t part = 0;
    const struct cps_fw *fw = play_image(p->play, who, &part);
    const struct cps_fw_line *line = fw ? cps_fw_line_at(fw, part, pc) : NULL;
    cps_buf_printf(out, "0x%" PRIx32 " %" PRIu32, pc, line ? line->line : 0);
}

/* Frames without code, which are processors and streams, are at dword 0. */
static void put_item(const struct profile *p, const struct item *item, struct cps_buf *out)
{
    bool has_code = item->to.kind == PROFILE_CALL || item->to.kind == PROFILE_INTERRUPT;
    if (item->to.kind != PROFILE_ROOT) {
        put_line(p, "cfn", &item->to, out);
        cps_buf_printf(out, "calls=%" PRIu64 " ", item->calls);
        put_position(p, item->to.who, has_code ? item->to.key : 0, out);
        cps_buf_str(out, "\n");
    }
    put_position(p, item->from.who, item->pc, out);
    cps_buf_printf(out, " %" PRIu64 "\n", item->cost);
}

/* The name of the firmware's file that a processor runs. */
static void put_firmware(const struct profile *p, unsigned who, struct cps_buf *out)
{
    uint32_t part = 0;
    const struct cps_fw *fw = play_image(p->play, who, &part);
    const char *path = fw ? fw->name : p->play->fw->name;
    const char *slash = strrchr(path, '/');
    for (unsigned i = 0; i < 2; i++) {
        cps_buf_str(out, i ? "\nfl=" : "\nob=");
        put_plain(slash ? slash + 1 : path, false, out);
    }
    cps_buf_str(out, "\n");
}

void profile_callgrind(const struct profile *p, struct cps_buf *out)
{
    struct item *items = tool_alloc(p->costs + p->nodes, sizeof(*items));
    size_t count = gather_items(p, items);
    cps_buf_printf(out,
                   "# callgrind format\nversion: 1\ncreator: cpscope\n"
                   "positions: instr line\nevents: Instructions\nsummary: %" PRIu64 "\n",
                   p->instructions);
    for (size_t i = 0; i < count; i++) {
        bool other = !i || items[i].from.who != items[i - 1].from.who;
        if (other)
            put_firmware(p, items[i].from.who, out);
        if (other || profile_compare(&items[i].from, &items[i - 1].from))
            put_line(p, "fn", &items[i].from, out);
        put_item(p, &items[i], out);
    }
    cps_buf_printf(out, "\ntotals: %" PRIu64 "\n", p->instructions);
    free(items);
}
