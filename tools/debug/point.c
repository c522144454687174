/* SPDX-License-Identifier: MIT
 * Breakpoints and watchpoints as people type them. */
#include "tools/debug/point.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/debug/expr.h"
#include "isa/base/lex.h"
#include "trace/form/text.h"

static bool condition_holds(void *context, struct cps_debug *debug, unsigned core,
                            const struct cps_event *event)
{
    const struct spot *spot = context;
    uint64_t value = 0;
    (void)debug;
    if (!spot->condition)
        return true;
    struct cps_err *err = expr_eval(spot->session, core, event, spot->condition, &value);
    bool holds = err || value; /* one that cannot be computed stops, as gdb's do */
    cps_err_free(err);
    return holds;
}

/* Splits off " if EXPRESSION". */
static struct cps_err *create(const struct session *session, const char *text,
                              struct cps_debug_point *ret)
{
    const char *condition = strstr(text, " if ");
    size_t length = condition ? (size_t)(condition - text) : strlen(text);
    while (length && text[length - 1] == ' ')
        length--;
    struct spot *spot = calloc(1, sizeof(*spot));
    *ret = (struct cps_debug_point){.core = -1, .last = UINT64_MAX, .context = spot};
    if (!spot)
        return cps_err_nomem();
    spot->session = session;
    spot->text = strndup(text, length);
    ret->when = condition_holds;
    if (!spot->text)
        return cps_err_nomem();
    return condition ? spot_condition(ret, condition + 4) : NULL;
}

struct cps_err *spot_condition(struct cps_debug_point *point, const char *condition)
{
    struct spot *spot = point->context;
    struct cps_event none = {0};
    uint64_t value = 0;
    char *copy = NULL;
    if (condition && *condition) {
        CPS_TRY(expr_eval(spot->session, spot->session->core, &none, condition, &value));
        copy = strdup(condition);
        if (!copy)
            return cps_err_nomem();
    }
    free(spot->condition);
    spot->condition = copy;
    return NULL;
}

void spot_release(struct cps_debug_point *point)
{
    struct spot *spot = point->context;
    if (!spot)
        return;
    free(spot->text);
    free(spot->condition);
    free(spot);
    point->context = NULL;
}

bool spot_remove(struct session *session, int id)
{
    struct cps_debug_point *point = cps_debug_find(session->debug, id);
    if (point)
        spot_release(point);
    return cps_debug_remove(session->debug, id);
}

void spot_clear(struct session *session)
{
    struct cps_debug_point *point = NULL;
    while (session->debug && (point = cps_debug_point(session->debug, 0)))
        spot_remove(session, point->id);
}

static struct cps_err *bad(const char *text, const char *expected)
{
    return cps_err_new(CPS_ERR_SYNTAX, "%s: expected %s", text, expected);
}

/* "pkt:CP_NOP@ib2"; either part may be missing. */
static struct cps_err *packet_point(const struct session *session, unsigned core, const char *text,
                                    struct cps_debug_point *ret)
{
    const char *at = text + 4;
    const char *level = strchr(at, '@');
    size_t length = level ? (size_t)(level - at) : strlen(at);
    const char *number_at = at;
    int64_t number = 0;
    uint32_t opcode = 0;
    ret->what = CPS_AT_EVENT;
    ret->kinds = 1u << CPS_EV_PKT;
    if (cps_lex_number(&number_at, &number) && number_at == at + length)
        opcode = (uint32_t)number;
    else if (length &&
             !cps_name_number(session_names(session, core), CPS_SPACE_PACKET, at, length, &opcode))
        return bad(text, "pkt:NAME, pkt:OPCODE, either with @LEVEL behind it");
    if (length) {
        ret->mask = 0xf07f0000;
        ret->value = 7u << 28 | (opcode & 0x7f) << 16;
    }
    for (unsigned sub = 0; level && sub < CPS_EVENT_SUBS; sub++) {
        const char *word = cps_event_sub_word(CPS_EV_PKT, sub);
        ret->subs |= word && !strcmp(word, level + 1) ? 1u << sub : 0;
    }
    return level && !ret->subs ? bad(text, "@rb, @ib1, @ib2, @ib3, @sds or @int") : NULL;
}

static struct cps_err *event_point(const char *text, struct cps_debug_point *ret)
{
    ret->what = CPS_AT_EVENT;
    if (!cps_text_classes(text + 6, &ret->kinds))
        return bad(text, "event:CLASS,..., as --events takes them");
    ret->kinds &= ~(1u << CPS_EV_STEP | 1u << CPS_EV_STEPX);
    return NULL;
}

/* "file.afuc:12": the first word of that line, or of the next one that has words. */
static bool line_place(const struct session *session, unsigned core, const char *text,
                       uint32_t *ret)
{
    const struct cps_fw_part *part = NULL;
    const struct cps_fw *fw = session_fw(session, core, &part);
    const char *colon = strrchr(text, ':');
    uint32_t wanted = colon ? (uint32_t)strtoul(colon + 1, NULL, 10) : 0;
    uint32_t best = UINT32_MAX;
    for (size_t i = 0; fw && wanted && i < fw->debug.line_count; i++) {
        const struct cps_fw_line *line = &fw->debug.lines[i];
        const char *file = fw->debug.files[line->file];
        const char *slash = strrchr(file, '/');
        size_t length = (size_t)(colon - text);
        const char *name = slash ? slash + 1 : file;
        bool same = (strlen(file) == length && !memcmp(file, text, length)) ||
                    (strlen(name) == length && !memcmp(name, text, length));
        if (!same || line->part != session_part(fw, part) || line->line < wanted ||
            line->line >= best)
            continue;
        best = line->line;
        *ret = line->dword;
    }
    return best != UINT32_MAX;
}

static struct cps_err *place_point(const struct session *session, unsigned core, const char *text,
                                   struct cps_debug_point *ret)
{
    uint64_t value = 0;
    struct cps_err *err = NULL;
    ret->what = CPS_AT_PC;
    ret->core = (int)core;
    if (line_place(session, core, text, &ret->pc) ||
        session_find_place(session, core, text, strlen(text), &ret->pc))
        value = ret->pc;
    else
        err = expr_eval(session, core, NULL, *text ? text : "$pc", &value);
    cps_err_free(err);
    if (err)
        return bad(text, "a packet, label, address, FILE:LINE, pkt:NAME or event:CLASS");
    if (value >= cps_machine_image_size(session_machine(session), core))
        return cps_err_new(CPS_ERR_SYNTAX, "%s: the image of %s has 0x%x dwords", text,
                           session_core_name(session, core),
                           cps_machine_image_size(session_machine(session), core));
    ret->pc = (uint32_t)value;
    return NULL;
}

static struct cps_err *finish(struct cps_err *err, struct cps_debug_point *ret)
{
    if (err)
        spot_release(ret);
    return err;
}

struct cps_err *spot_break(const struct session *session, unsigned core, const char *text,
                           struct cps_debug_point *ret)
{
    struct cps_err *err = create(session, text, ret);
    const char *place = err ? "" : ((struct spot *)ret->context)->text;
    if (!err && !strncmp(place, "pkt:", 4))
        err = packet_point(session, core, place, ret);
    else if (!err && !strncmp(place, "event:", 6))
        err = event_point(place, ret);
    else if (!err)
        err = place_point(session, core, place, ret);
    return finish(err, ret);
}

static const struct {
    enum expr_place place;
    uint32_t write, read; /* event kinds; 0: such reads make no event */
} kinds[] = {
    {EXPR_CONTROL, 1u << CPS_EV_CTRL, 0},
    {EXPR_REG, 1u << CPS_EV_REG, 1u << CPS_EV_REGR},
    {EXPR_MEMORY, 1u << CPS_EV_MEMW, 1u << CPS_EV_MEMR},
};

/* What a single place, or the end of a range, is. "|" is a pipe register: it is only written. */
static enum expr_place one_place(const struct session *session, unsigned core, const char *text,
                                 uint64_t *number, bool *pipe)
{
    uint32_t found = 0;
    const char *at = text + 1;
    int64_t value = 0;
    *pipe = *text == '|';
    if (!*pipe)
        return expr_place(session, core, text, number);
    if (cps_name_number(session_names(session, core), CPS_SPACE_PIPE, at, strlen(at), &found))
        *number = found;
    else if (cps_lex_number(&at, &value) && !*at)
        *number = (uint64_t)value;
    else
        return EXPR_NONE;
    return EXPR_CONTROL;
}

static struct cps_err *set_kinds(const char *text, unsigned access, enum expr_place place,
                                 bool pipe, struct cps_debug_point *ret)
{
    for (size_t i = 0; !pipe && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (kinds[i].place == place)
            ret->kinds = (access & SPOT_WRITE ? kinds[i].write : 0) |
                         (access & SPOT_READ ? kinds[i].read : 0);
    }
    if (pipe && access & SPOT_WRITE)
        ret->kinds = 1u << CPS_EV_PIPE;
    return ret->kinds ? NULL
                      : bad(text, "what makes such events: reads of memory and GPU registers, "
                                  "writes of these and of control and pipe registers");
}

/* "FIRST-LAST" behind what `create` split off; a lone place is a range of one. */
static struct cps_err *range_point(const struct session *session, unsigned core, unsigned access,
                                   const char *text, struct cps_debug_point *ret)
{
    static const char *const expected =
        "$REGISTER, @CONTROL, |PIPE, a GPU register, [ADDRESS], or a range FIRST-LAST of them";
    char first[128];
    const char *dash = strchr(text, '-');
    bool pipe = false;
    bool pipe_last = false;
    size_t length = dash ? (size_t)(dash - text) : strlen(text);
    if (length >= sizeof(first))
        return bad(text, expected);
    memcpy(first, text, length);
    first[length] = '\0';
    enum expr_place place = one_place(session, core, first, &ret->first, &pipe);
    ret->last = ret->first;
    if (place == EXPR_MEMORY)
        ret->last |= 3;
    if (dash) {
        char last[160];
        snprintf(
            last, sizeof(last), "%s%s",
            strncmp(first, "reg:", 4) || dash[1] < '0' || dash[1] > '9' ? "" : "reg:", dash + 1);
        if (one_place(session, core, last, &ret->last, &pipe_last) != place || pipe != pipe_last)
            return bad(text, expected);
    }
    if (place == EXPR_GPR && !dash) {
        ret->what = CPS_AT_GPR;
        ret->gpr = (unsigned)ret->first;
        ret->core = (int)core;
        return NULL;
    }
    ret->what = CPS_AT_EVENT;
    if (place == EXPR_NONE || place == EXPR_GPR || place == EXPR_PC || place == EXPR_SQE)
        return bad(text, expected);
    return set_kinds(text, access, place, pipe, ret);
}

struct cps_err *spot_watch(const struct session *session, unsigned core, unsigned access,
                           const char *text, struct cps_debug_point *ret)
{
    struct cps_err *err = create(session, text, ret);
    if (!err)
        err = range_point(session, core, access, ((struct spot *)ret->context)->text, ret);
    return finish(err, ret);
}
