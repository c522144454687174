/* SPDX-License-Identifier: MIT
 * Breakpoints and watchpoints as users type them. */
#define _GNU_SOURCE /* memrchr() */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tools/face/debugger/look.h"
#include "isa/base/lex.h"
#include "tools/cmd/terminal/oom.h"
#include "trace/form/text.h"

static bool condition_holds(void *context, struct cps_debug *debug, unsigned core,
                            const struct cps_event *event)
{
    const struct typed_point *typed = context;
    uint64_t value = 0;
    struct cps_event packet; /* at hand: of none there is no level */
    (void)debug;
    if (typed->levels && !(session_last_packet(typed->session, core, &packet) &&
                           typed->levels >> cps_event_sub(&packet) & 1))
        return false;
    if (!typed->condition)
        return true;
    struct cps_err *err = expr_eval(typed->session, core, event, typed->condition, &value);
    bool holds = err || value; /* one that cannot be computed stops, as gdb's do */
    cps_err_free(err);
    return holds;
}

/* Splits off "if EXPRESSION". */
static struct cps_err *create_point(const struct session *session, const char *word,
                                    const char *text, struct cps_debug_point *ret)
{
    const char *condition = text; /* after a blank or alone */
    while ((condition = strstr(condition, "if")) &&
           ((condition != text && !strchr(" \t", condition[-1])) || !condition[2] ||
            !strchr(" \t", condition[2])))
        condition += 2;
    size_t length = condition ? (size_t)(condition - text) : strlen(text);
    while (length && strchr(" \t", text[length - 1]))
        length--;
    struct typed_point *typed = tool_alloc(1, sizeof(*typed));
    *ret = (struct cps_debug_point){
        .core = -1, .last = UINT64_MAX, .when = condition_holds, .context = typed};
    typed->session = session;
    typed->word = word;
    typed->text = tool_strdup(text);
    typed->text[length] = '\0';
    return condition ? point_condition(ret, cps_lex_blank(condition + 2)) : NULL;
}

struct cps_err *point_condition(struct cps_debug_point *point, const char *condition)
{
    struct typed_point *typed = point->context;
    struct cps_event none = {0};
    uint64_t value = 0;
    if (condition && *condition)
        CPS_TRY(expr_eval(typed->session, typed->session->core, &none, condition, &value));
    free(typed->condition);
    typed->condition = condition && *condition ? tool_strdup(condition) : NULL;
    return NULL;
}

struct cps_debug_point *point_at(const struct session *session, unsigned core, uint32_t pc,
                                 bool enabled)
{
    struct cps_debug_point *p = NULL;
    for (unsigned i = 0; (p = cps_debug_point(session->debug, i)); i++) {
        if (p->what == CPS_AT_PC && p->pc == pc && p->core == (int)core &&
            !(enabled && p->disabled))
            return p;
    }
    return NULL;
}

const char *point_noun(const struct cps_debug_point *point)
{
    const struct typed_point *typed = point->context;
    bool is_break = typed ? !strcmp(typed->word, "break") : point_is_break(point);
    return is_break ? "breakpoint" : "watchpoint";
}

void point_release(struct cps_debug_point *point)
{
    struct typed_point *typed = point->context;
    if (!typed)
        return;
    free(typed->text);
    free(typed->condition);
    free(typed->commands);
    free(typed);
    point->context = NULL;
}

bool point_remove(struct session *session, int id)
{
    struct cps_debug_point *point = cps_debug_find(session->debug, id);
    if (point)
        point_release(point);
    return cps_debug_remove(session->debug, id);
}

void point_clear(struct session *session)
{
    struct cps_debug_point *point = NULL;
    while (session->debug && (point = cps_debug_point(session->debug, 0)))
        point_remove(session, point->id);
}

static struct cps_err *bad_text(const char *text, const char *expected)
{
    return cps_err_new(CPS_ERR_SYNTAX, "%s: expected %s", text, expected);
}

#define LEVELS "@rb, @ib1, @ib2, @ib3, @sds or @int"

/* "ib2", in either case; 0: it is no level. */
static uint32_t level_bits(const char *name)
{
    uint32_t bits = 0;
    for (unsigned sub = 0; sub < CPS_EVENT_SUBS; sub++) {
        const char *word = cps_event_sub_word(CPS_EV_PKT, sub);
        bits |= word && !strcasecmp(word, name) ? 1u << sub : 0;
    }
    return bits;
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
        return bad_text(text, "pkt:NAME or pkt:OPCODE, either followed by @LEVEL");
    if (length) {
        ret->mask = 0xf07f0000;
        ret->value = 7u << 28 | (opcode & 0x7f) << 16;
    }
    ret->subs = level ? level_bits(level + 1) : 0;
    return level && !ret->subs ? bad_text(text, LEVELS) : NULL;
}

static struct cps_err *event_point(const char *text, struct cps_debug_point *ret)
{
    char classes[256] = "";
    ret->what = CPS_AT_EVENT;
    for (size_t i = 0; text[6 + i] && i < sizeof(classes) - 1; i++)
        classes[i] = (char)tolower((unsigned char)text[6 + i]);
    if (strlen(text + 6) >= sizeof(classes) || !cps_text_classes(classes, &ret->kinds))
        return bad_text(text, "event:CLASS,..., as --events takes them");
    ret->kinds &= ~(1u << CPS_EV_STEP | 1u << CPS_EV_STEPX);
    return NULL;
}

/* "line:12" of a run file: after what the host does there. */
static struct cps_err *host_point(const char *text, struct cps_debug_point *ret)
{
    const char *at = text + 5;
    int64_t line = 0;
    if (!cps_lex_number(&at, &line) || *at || line < 1)
        return bad_text(text, "line:N, a line of the run file");
    ret->what = CPS_AT_LINE;
    ret->first = ret->last = (uint64_t)line;
    return NULL;
}

bool point_line(const struct session *session, unsigned core, const char *text, size_t length,
                uint32_t *ret)
{
    unsigned part = 0;
    const struct cps_fw *fw = session_fw(session, core, &part);
    const char *colon = memrchr(text, ':', length);
    uint32_t wanted = colon ? (uint32_t)strtoul(colon + 1, NULL, 10) : 0;
    uint32_t best = UINT32_MAX;
    for (size_t i = 0; fw && wanted && i < fw->debug.line_count; i++) {
        const struct cps_fw_line *line = &fw->debug.lines[i];
        const char *file = fw->debug.files[line->file];
        const char *slash = strrchr(file, '/');
        size_t stem = (size_t)(colon - text);
        bool same =
            cps_lex_is(text, stem, file) || cps_lex_is(text, stem, slash ? slash + 1 : file);
        if (!same || line->part != part || line->line < wanted || line->line >= best)
            continue;
        best = line->line;
        *ret = line->dword;
    }
    return best != UINT32_MAX;
}

const char *point_core(const struct session *s, const char *text, unsigned *core)
{
    for (unsigned i = 0; i < session_engine(s)->cores; i++) {
        const char *name = session_core_name(s, i);
        size_t length = strlen(name);
        if (strncmp(text, name, length) != 0 || text[length] != ':')
            continue;
        *core = i;
        return text + length + 1;
    }
    return text;
}

/* "CP_NOP+0x2@ib2": it counts at the level after "@" alone; a control register begins with
 * one. What is more than a number may have another value at another time. */
static struct cps_err *place_point(const struct session *session, unsigned core, const char *text,
                                   struct cps_debug_point *ret)
{
    struct typed_point *typed = ret->context;
    uint64_t value = 0;
    int64_t number = 0;
    struct cps_err *err = NULL;
    text = point_core(session, text, &core);
    size_t length = strlen(text);
    const char *level = length ? memrchr(text + 1, '@', length - 1) : NULL;
    ret->what = CPS_AT_PC;
    ret->core = (int)core;
    if (level && session_afuc(session)) {
        typed->levels = level_bits(level + 1);
        length = (size_t)(level - text);
        if (!typed->levels)
            return bad_text(text, "a place followed by " LEVELS "");
    }
    bool named = point_line(session, core, text, length, &ret->pc) ||
                 session_find_place(session, core, text, length, &ret->pc);
    if (named)
        value = ret->pc;
    else
        err = expr_eval_part(session, core, length ? text : "$pc", length ? length : 3, &value);
    const char *at = cps_lex_blank(*text == '*' ? text + 1 : text);
    typed->moves = !named && length && (!cps_lex_number(&at, &number) || at != text + length);
    cps_err_free(err);
    if (err)
        return bad_text(text,
                        "a packet, label, address, FILE:LINE, pkt:NAME, event:CLASS or line:N");
    if (!session_has_code(session, core, value))
        return cps_err_new(CPS_ERR_SYNTAX, "%s: %s has no code there", length ? text : "here",
                           session_core_name(session, core));
    ret->pc = (uint32_t)value;
    return NULL;
}

struct cps_err *point_break(const struct session *session, unsigned core, const char *text,
                            struct cps_debug_point *ret)
{
    struct cps_err *err = create_point(session, "break", text, ret);
    const char *place = ((struct typed_point *)ret->context)->text;
    if (!err)
        err = !strncmp(place, "pkt:", 4)     ? packet_point(session, core, place, ret)
              : !strncmp(place, "event:", 6) ? event_point(place, ret)
              : !strncmp(place, "line:", 5)  ? host_point(place, ret)
                                             : place_point(session, core, place, ret);
    if (err)
        point_release(ret);
    return err;
}

/* Pipe registers are only written, and have no value to look at. */
#define PIPE_FILE '|'

/* Which accesses make events. Others are watched by their values. */
static const struct {
    char file;
    uint32_t write, read; /* event kinds; 0: such accesses make no event */
} kinds[] = {
    {CPS_FILE_CONTROL, 1u << CPS_EV_CTRL, 0},
    {CPS_FILE_REGISTER, 1u << CPS_EV_REG, 1u << CPS_EV_REGR},
    {CPS_FILE_MEMORY, 1u << CPS_EV_MEMW, 1u << CPS_EV_MEMR},
    {PIPE_FILE, 1u << CPS_EV_PIPE, 0},
};

/* What a single place, or the end of a range, is. */
static bool one_place(const struct session *session, unsigned core, const char *text,
                      struct cps_location *ret)
{
    uint32_t found = 0;
    const char *at = text + 1;
    int64_t value = 0;
    if (*text != PIPE_FILE)
        return expr_place(session, core, text, ret);
    if (cps_name_number(session_names(session, core), CPS_SPACE_PIPE, at, strlen(at), &found))
        value = found;
    else if (!cps_lex_number(&at, &value) || *at)
        return false;
    *ret = (struct cps_location){(uint8_t)core, PIPE_FILE, (uint64_t)value};
    return true;
}

/* Cuts "FIRST-LAST" where both sides are places; a lone place is a range of one. Names of values
 * may hold a "-" themselves. */
static bool cut_range(const struct session *session, unsigned core, const char *text,
                      struct cps_location ends[2])
{
    char first[128];
    char last[160];
    const char *dash = strchr(text, '-');
    if (one_place(session, core, text, &ends[0])) {
        ends[1] = ends[0];
        return true;
    }
    if (!dash || (size_t)(dash - text) >= sizeof(first))
        return false;
    snprintf(first, sizeof(first), "%.*s", (int)(dash - text), text);
    snprintf(last, sizeof(last), "%s%s",
             strncmp(first, "reg:", 4) || dash[1] < '0' || dash[1] > '9' ? "" : "reg:", dash + 1);
    return one_place(session, core, first, &ends[0]) && one_place(session, core, last, &ends[1]) &&
           ends[0].file == ends[1].file;
}

static struct cps_err *range_point(const struct session *session, unsigned core, unsigned access,
                                   struct typed_point *typed, struct cps_debug_point *ret)
{
    struct cps_location ends[2];
    const char *text = typed->text;
    typed->moves = *text == '[' && text[strspn(text, "[]-0123456789abcdefxABCDEFX \t")];
    if (!cut_range(session, core, text, ends))
        return bad_text(text, "$REGISTER, @CONTROL, |PIPE, a GPU register, [ADDRESS], or a range "
                              "FIRST-LAST of them");
    char sigil = ends[0].file;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (kinds[i].file == sigil)
            ret->kinds = (access & POINT_WRITE ? kinds[i].write : 0) |
                         (access & POINT_READ ? kinds[i].read : 0);
    }
    ret->what = ret->kinds ? CPS_AT_EVENT : CPS_AT_PLACE;
    bool is_one = ends[0].number == ends[1].number;
    if (!ret->kinds && (access & POINT_READ || !is_one || sigil == CPS_FILE_PC))
        return bad_text(text,
                        "reads of memory or GPU registers, writes of these or of control or pipe "
                        "registers, or changes of a single value");
    if (!ret->kinds) { /* it is watched by its value */
        ret->place = ends[0];
        ret->core = sigil == CPS_FILE_GENERAL || sigil == CPS_FILE_SQE ? ends[0].core : -1;
        return NULL;
    }
    const struct cps_file *file = cps_engine_file(session_engine(session), sigil);
    if (ends[0].number > ends[1].number)
        return bad_text(text, "a range with its first not after its last");
    ret->first = ends[0].number;
    ret->last = ends[1].number | (file && is_one ? file->step - 1u : 0);
    return NULL;
}

struct cps_err *point_watch(const struct session *session, unsigned core, unsigned access,
                            const char *text, struct cps_debug_point *ret)
{
    static const char *const words[] = {"watch", "watch", "rwatch", "awatch"};
    struct cps_err *err = create_point(session, words[access & 3], text, ret);
    if (!err)
        err = range_point(session, core, access, ret->context, ret);
    if (err)
        point_release(ret);
    return err;
}
