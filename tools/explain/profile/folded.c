/* SPDX-License-Identifier: MIT
 * Folded stacks: frames with ';' between them, a blank, and instructions; for flamegraph.pl,
 * inferno and speedscope. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/explain/profile/profile.h"

/* What separates frames and counts there is no part of a name. */
static void put_name(const struct profile *p, const struct profile_node *node, struct cps_buf *out)
{
    CPS_BUF name = {0};
    profile_name(p, node, &name);
    out->failed = out->failed || name.failed;
    for (size_t i = 0; i < name.size; i++) {
        unsigned char c = (unsigned char)name.data[i];
        cps_buf_add(out, c <= ' ' || c == ';' || c == 0x7f ? "_" : &name.data[i], 1);
    }
}

static void put_stack(const struct profile *p, size_t number, struct cps_buf *out)
{
    size_t stack[2 * CPS_FRAMES_MOST_];
    unsigned depth = 0;
    for (size_t at = number; at && depth < 2 * CPS_FRAMES_MOST_; at = p->tree.node[at].parent)
        stack[depth++] = at;
    while (depth) {
        put_name(p, &p->tree.node[stack[--depth]], out);
        cps_buf_str(out, depth ? ";" : "");
    }
}

struct stack {
    char *text; /* owned */
    uint64_t count;
};

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct stack *)a)->text, ((const struct stack *)b)->text);
}

/* Stacks that differ in where calls stand only are one. */
static void put_stacks(struct stack *stacks, size_t count, struct cps_buf *out)
{
    qsort(stacks, count, sizeof(*stacks), by_text);
    for (size_t i = 0; i < count; i++) {
        if (i + 1 < count && !by_text(&stacks[i], &stacks[i + 1]))
            stacks[i + 1].count += stacks[i].count;
        else
            cps_buf_printf(out, "%s %" PRIu64 "\n", stacks[i].text, stacks[i].count);
    }
}

struct cps_err *profile_folded(const struct profile *p, struct cps_buf *out)
{
    size_t count = 0;
    bool failed = false;
    struct stack *stacks = calloc(p->tree.nodes ? p->tree.nodes : 1, sizeof(*stacks));
    if (!stacks)
        return cps_err_nomem();
    for (size_t i = 0; i < p->tree.nodes && !failed; i++) {
        CPS_BUF text = {0};
        if (!p->tree.node[i].self)
            continue;
        put_stack(p, i, &text);
        stacks[count].count = p->tree.node[i].self;
        stacks[count].text = text.failed ? NULL : strdup(cps_buf_text(&text));
        failed = !stacks[count].text;
        count += !failed;
    }
    if (!failed)
        put_stacks(stacks, count, out);
    for (size_t i = 0; i < count; i++)
        free(stacks[i].text);
    free(stacks);
    return failed || out->failed ? cps_err_nomem() : NULL;
}
