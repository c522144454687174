/* SPDX-License-Identifier: MIT
 * Questions: REG, mem:ADDRESS or event:N, and when. */
#include "tools/explain/why/why.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "isa/base/lex.h"
#include "tools/cmd/terminal/oom.h"

static struct cps_err *expected(const char *text)
{
    return cps_err_new(CPS_ERR_USAGE,
                       "%s: expected a register's name or number or mem:ADDRESS, with @draw:N or "
                       "@event:N after it for a value that is not the last; or event:N",
                       text);
}

static bool read_number(const char *at, const char *end, uint64_t *ret)
{
    int64_t number = 0;
    if (!cps_lex_number(&at, &number) || at != end)
        return false;
    *ret = (uint64_t)number;
    return true;
}

static bool begins(const char *text, const char *word)
{
    return !strncmp(text, word, strlen(word));
}

/* "draw:7", "event:12". */
static bool read_when(const char *at, struct why_ask *ask)
{
    bool draw = begins(at, "draw:");
    if (!draw && !begins(at, "event:"))
        return false;
    ask->when = draw ? WHY_AT_DRAW : WHY_AT_EVENT;
    at += draw ? strlen("draw:") : strlen("event:");
    return read_number(at, at + strlen(at), &ask->number);
}

static struct why_ask *new_ask(struct why *why, const char *text)
{
    TOOL_ROOM(why->ask, why->count);
    why->ask[why->count] = (struct why_ask){.text = tool_strdup(text), .kept = UINT32_MAX};
    return &why->ask[why->count++];
}

void why_add_place(struct why *why, const char *text, const struct cps_location *place)
{
    struct why_ask *ask = new_ask(why, text);
    ask->what = place->file == CPS_FILE_GENERAL   ? WHY_GENERAL
                : place->file == CPS_FILE_CONTROL ? WHY_CONTROL
                : place->file == CPS_FILE_MEMORY  ? WHY_MEMORY
                                                  : WHY_REGISTER;
    ask->place = place->number;
    ask->core = place->core;
    ask->is_known = true;
}

struct cps_err *why_add(struct why *why, const char *text)
{
    struct why_ask *ask = new_ask(why, text);
    const char *at = strrchr(text, '@');
    if (begins(text, "event:")) {
        ask->what = WHY_EVENT;
        return read_when(text, ask) ? NULL : expected(text);
    }
    if (at && !read_when(at + 1, ask))
        return expected(text);
    ask->what = begins(text, "mem:") ? WHY_MEMORY : WHY_REGISTER;
    const char *end = at ? at : text + strlen(text);
    if (ask->what == WHY_MEMORY && !read_number(text + strlen("mem:"), end, &ask->place))
        return expected(text);
    ask->place &= ~UINT64_C(3);
    return end > text ? NULL : expected(text);
}

static struct cps_err *find_register(const struct why *why, struct why_ask *ask)
{
    const char *end = strrchr(ask->text, '@');
    size_t length = end ? (size_t)(end - ask->text) : strlen(ask->text);
    uint32_t number = 0;
    if (read_number(ask->text, ask->text + length, &ask->place) && ask->place < GPU_REGS)
        return NULL;
    if (!cps_name_number(why->play->names[why->engine->who[0]], CPS_SPACE_GPU, ask->text, length,
                         &number))
        return cps_err_new(CPS_ERR_USAGE, "%s: this GPU has no such register", ask->text);
    ask->place = number;
    return NULL;
}

/* Events before draws, each in order. */
static int compare(const void *left, const void *right)
{
    const struct why_ask *a = *(struct why_ask *const *)left;
    const struct why_ask *b = *(struct why_ask *const *)right;
    if (a->when != b->when)
        return a->when < b->when ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

struct cps_err *why_resolve(struct why *why)
{
    for (size_t i = 0; i < why->count; i++) {
        if (why->ask[i].what == WHY_REGISTER && !why->ask[i].is_known)
            CPS_TRY(find_register(why, &why->ask[i]));
    }
    why->later = tool_alloc(why->count + 1, sizeof(struct why_ask *));
    for (size_t i = 0; i < why->count; i++) {
        if (why->ask[i].when == WHY_END)
            continue;
        why->events += why->ask[i].when == WHY_AT_EVENT;
        why->draws += why->ask[i].when == WHY_AT_DRAW;
        why->later[why->events + why->draws - 1] = &why->ask[i];
    }
    qsort(why->later, why->events + why->draws, sizeof(struct why_ask *), compare);
    return NULL;
}

void why_deinit(struct why *why)
{
    origin_destroy_(why->origin);
    for (size_t i = 0; i < why->count; i++)
        free(why->ask[i].text);
    free(why->ask);
    free(why->later);
}
