/* SPDX-License-Identifier: MIT
 * Delta debugging. */
#include "tools/explain/reduce/reduce.h"

#include <stdlib.h>
#include <string.h>

#include "tools/cmd/terminal/oom.h"

/* Parts that are tried alone: more of them seldom hold, and each costs a run. */
#define MOST_ALONE 4

struct search {
    struct ddmin_test *test;
    size_t count; /* of things */
    size_t *in;   /* those that are still in */
    size_t left;  /* how many */
    bool *out;    /* the flags of the next question */
};

static size_t start_of(const struct search *s, size_t parts, size_t part)
{
    size_t rest = s->left % parts;
    return part * (s->left / parts) + (part < rest ? part : rest);
}

/* Whether the job is the same without [from, to) of what is in; with @p alone, without the others.
 * If it is, they go. */
static struct cps_err *try(struct search *s, size_t from, size_t to, bool alone, bool *ret)
{
    size_t kept = 0;
    memset(s->out, true, s->count * sizeof(*s->out));
    for (size_t i = 0; i < s->left; i++)
        s->out[s->in[i]] = alone != (i >= from && i < to);
    CPS_TRY(s->test->holds(s->test, s->out, ret));
    for (size_t i = 0; *ret && i < s->left; i++) {
        if (!s->out[s->in[i]])
            s->in[kept++] = s->in[i];
    }
    s->left = *ret ? kept : s->left;
    return NULL;
}

static struct cps_err *try_alone(struct search *s, size_t parts, bool *ret)
{
    *ret = false;
    for (size_t part = 0; parts > 1 && parts <= MOST_ALONE && part < parts && !*ret; part++)
        CPS_TRY(try(s, start_of(s, parts, part), start_of(s, parts, part + 1), true, ret));
    return NULL;
}

/* All but one part, for each part in turn; what goes does not come back. @p ret  something went */
static struct cps_err *try_without(struct search *s, size_t parts, bool *ret)
{
    size_t size = (s->left + parts - 1) / parts;
    *ret = false;
    for (size_t from = 0; from < s->left;) {
        size_t to = s->left - from < size ? s->left : from + size;
        bool gone = false;
        CPS_TRY(try(s, from, to, false, &gone));
        *ret |= gone;
        from = gone ? from : to;
    }
    return NULL;
}

static struct cps_err *search(struct search *s)
{
    bool gone = false;
    CPS_TRY(try(s, 0, s->left, false, &gone));
    for (size_t parts = 2; s->left;) {
        bool single = parts >= s->left;
        parts = single ? s->left : parts;
        CPS_TRY(try_alone(s, parts, &gone));
        if (gone) {
            parts = 2;
            continue;
        }
        CPS_TRY(try_without(s, parts, &gone));
        if (single && !gone)
            break;
        parts = gone ? parts : 2 * parts;
    }
    return NULL;
}

struct cps_err *ddmin(struct ddmin_test *test, size_t count, bool *out)
{
    struct search s = {.test = test, .count = count, .left = count};
    if (!count)
        return NULL;
    s.in = tool_alloc(count, sizeof(*s.in));
    s.out = tool_alloc(count, sizeof(*s.out));
    for (size_t i = 0; i < count; i++)
        s.in[i] = i;
    struct cps_err *err = search(&s);
    memset(out, true, count * sizeof(*out));
    for (size_t i = 0; i < s.left; i++)
        out[s.in[i]] = false;
    free(s.in);
    free(s.out);
    return err;
}
