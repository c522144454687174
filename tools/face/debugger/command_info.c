/* SPDX-License-Identifier: MIT
 * The debugger's commands that show what there is: `info` and its topics, events, processors. */
#include <inttypes.h>
#include <string.h>

#include "tools/face/debugger/command.h"

/* Control or SQE registers that are not 0; `how` is the sigil of their file. */
static struct cps_err *show_space(struct debugger *r, struct command_args *args)
{
    char sigil = (char)args->how;
    const struct session *s = &r->session;
    const struct cps_file *file = cps_engine_file(session_engine(s), sigil);
    if (!file)
        return cps_err_new(CPS_ERR_SYNTAX, "%s has no %cregisters", session_engine(s)->ops->name,
                           sigil);
    for (uint32_t i = 0; i < file->count; i++) {
        unsigned part = 0;
        uint64_t value = session_value(s, s->core, sigil, i);
        const char *name = cps_name(session_names(s, s->core), look_space(sigil), i, &part);
        if (!value)
            continue;
        cps_buf_printf(&r->out, "%c0x%03" PRIx32 " %08" PRIx64 "  %s", sigil, i, value,
                       name ? name : "");
        cps_buf_printf(&r->out, part ? "+0x%x\n" : "\n", part);
    }
    return NULL;
}

/* A register as expressions know it: "$02", "02", "@IB_LEVEL", "RB_CCU_CNTL". */
static struct cps_err *show_register(struct debugger *r, const char *name, size_t length)
{
    CPS_BUF text = {0};
    uint64_t value = 0;
    struct cps_location place;
    cps_buf_printf(&text, "$%.*s", (int)length, name);
    const char *known = tool_text(&text);
    if (*name == '$' || *name == '@' || *name == '%' ||
        (!expr_place(&r->session, r->session.core, known, &place) && strcmp(known, "$npc") != 0))
        known++;
    CPS_TRY(expr_eval_part(&r->session, r->session.core, known, strlen(known), &value));
    cps_buf_printf(&r->out, "%-15s ", known);
    return command_put_print(r, known, 0, &r->out);
}

static struct cps_err *show_registers(struct debugger *r, struct command_args *args)
{
    for (const char *at = args->text; *at;) {
        size_t length = strcspn(at, " \t");
        CPS_TRY(show_register(r, at, length));
        at = cps_lex_blank(at + length);
        if (!*at)
            return NULL;
    }
    look_registers(&r->session, r->session.core, 90, r->moved ? &r->before : NULL, &r->out);
    return NULL;
}

static struct cps_err *show_all(struct debugger *r, struct command_args *args)
{
    static const char files[] = {CPS_FILE_CONTROL, CPS_FILE_SQE};
    CPS_TRY(show_registers(r, args));
    for (unsigned i = 0; i < 2; i++) {
        if (cps_engine_file(session_engine(&r->session), files[i]))
            CPS_TRY(show_space(r, &(struct command_args){.how = files[i]}));
    }
    return NULL;
}

static struct cps_err *show_packet(struct debugger *r, struct command_args *args)
{
    (void)args;
    if (!session_afuc(&r->session))
        return cps_err_new(CPS_ERR_SYNTAX, "%s has no packets",
                           session_engine(&r->session)->ops->name);
    look_packet(&r->session, r->session.core, &r->out);
    return NULL;
}

/* "[N] [all]" */
static struct cps_err *show_draw(struct debugger *r, struct command_args *args)
{
    int64_t draw = -1;
    const char *at = args->text;
    if (*at && strcmp(at, "all") != 0 && (!cps_lex_number(&at, &draw) || draw < 0))
        return cps_err_new(CPS_ERR_SYNTAX, "info draw %s: expected a number, \"all\", or both",
                           args->text);
    at = cps_lex_blank(at);
    bool all = !strcmp(at, "all");
    if (*at && !all)
        return cps_err_new(CPS_ERR_SYNTAX, "info draw %s: expected \"all\" or the end", args->text);
    return draw < 0 ? look_state_here(&r->session, all, &r->out)
                    : look_state_draw(&r->session, (long)draw, all, &r->out);
}

/* Its commands stand below it, as in gdb. */
static void put_point(const struct session *s, const struct cps_debug_point *p, struct cps_buf *out)
{
    const struct typed_point *typed = p->context;
    const char *here = typed && p->what == CPS_AT_PC && !*typed->text ? "here" : "";
    cps_buf_printf(out, "%d %s %s%s", p->id, typed ? typed->word : "break",
                   typed ? typed->text : "", here);
    if (p->core >= 0 && session_engine(s)->cores > 1)
        cps_buf_printf(out, ", %s", session_core_name(s, (unsigned)p->core));
    if (typed && typed->condition)
        cps_buf_printf(out, " if %s", typed->condition);
    cps_buf_printf(out, "%s%s", p->once ? " (once)" : "", p->disabled ? " (disabled)" : "");
    if (p->ignore)
        cps_buf_printf(out, " (passes %" PRIu64 " more)", p->ignore);
    cps_buf_printf(out, ", %" PRIu64 " hit%s\n", p->hits, p->hits == 1 ? "" : "s");
    for (const char *line = typed && typed->commands ? typed->commands : ""; *line;) {
        size_t length = strcspn(line, "\n");
        cps_buf_printf(out, "        %.*s\n", (int)length, line);
        line += length + 1;
    }
}

/* All points, or without those that people call breakpoints. */
static struct cps_err *show_points(struct debugger *r, struct command_args *args)
{
    const struct cps_debug_point *p = NULL;
    for (unsigned i = 0; (p = cps_debug_point(r->session.debug, i)); i++) {
        if (!args->how || !point_is_break(p))
            put_point(&r->session, p, &r->out);
    }
    return NULL;
}

static struct cps_err *show_display(struct debugger *r, struct command_args *args)
{
    (void)args;
    for (size_t i = 0; i < r->shown_count; i++) {
        const struct command_shown *shown = &r->shown[i];
        cps_buf_printf(&r->out, "%d: ", shown->id);
        if (shown->form.count)
            cps_buf_printf(&r->out, "/%" PRIu32 "%c ", shown->form.count, shown->form.letter);
        else if (shown->form.letter)
            cps_buf_printf(&r->out, "/%c ", shown->form.letter);
        cps_buf_printf(&r->out, "%s\n", shown->text);
    }
    return NULL;
}

static struct cps_err *show_events(struct debugger *r, struct command_args *args)
{
    look_events(&r->session, (unsigned)args->how, &r->out);
    return NULL;
}

static void look_cores(const struct session *s, unsigned core, struct cps_buf *out)
{
    for (unsigned i = 0; i < session_engine(s)->cores; i++) {
        cps_buf_str(out, i == core ? "* " : "  ");
        look_where(s, i, out);
    }
}

static struct cps_err *show_symbol(struct debugger *r, struct command_args *args)
{
    uint32_t pc = 0;
    CPS_BUF name = {0};
    CPS_TRY(command_place(r, args->text, strlen(args->text), &pc));
    session_place(&r->session, r->session.core, pc, &name);
    cps_buf_printf(&r->out, "%04" PRIx32 " %s\n", pc,
                   name.size ? tool_text(&name) : "is in no handler, and no label is known");
    return NULL;
}

/* An action of the host, in the words of a run file. */
static void put_step(const struct cps_item *item, struct cps_buf *out)
{
    const char *where = play_where(item);
    unsigned bits = item->host.size * 8u;
    switch (item->kind) {
    case CPS_ITEM_CODE:
        cps_buf_printf(out, item->code.at ? "upload 0x%" PRIx32 : "upload", item->code.at);
        break;
    case CPS_ITEM_WRITE:
        cps_buf_str(out, bits == 8 ? "write8" : bits == 16 ? "write16" : "write");
        cps_buf_printf(out, " %s0x%" PRIx32 " 0x%" PRIx32, where, item->host.addr,
                       item->host.value);
        break;
    case CPS_ITEM_READ:
        cps_buf_printf(out, "read %s0x%" PRIx32, where, item->host.addr);
        if (item->host.mask)
            cps_buf_printf(out, " 0x%" PRIx32, item->host.value);
        if (item->host.mask && ~item->host.mask)
            cps_buf_printf(out, " 0x%" PRIx32, item->host.mask);
        break;
    case CPS_ITEM_OBJECT:
        cps_buf_printf(out, "object %" PRIu32 " 0x%" PRIx32 " 0x%" PRIx32, item->host.mask,
                       item->host.addr, item->host.value);
        break;
    case CPS_ITEM_WAIT:
        cps_buf_printf(out, "wait %" PRIu64, item->host.ticks);
        break;
    default:
        cps_buf_str(out, item->kind == CPS_ITEM_RUN ? "run" : "the host is done");
    }
}

/* Items of the input that make the engine run. */
static void look_submissions(const struct session *s, unsigned core, struct cps_buf *out)
{
    const struct feed *feed = &s->play.feed;
    (void)core;
    for (size_t i = 0; i < feed->count; i++) {
        const struct cps_item *item = &feed->item[i];
        char mark = item == session_item(s) ? '*' : ' ';
        if (item->kind == CPS_ITEM_SUBMIT) {
            cps_buf_printf(out, "%c %" PRIu32 "  0x%016" PRIx64 ", %" PRIu32 " dwords\n", mark,
                           item->stream.index, item->stream.iova, item->stream.dwords);
        } else if (cps_item_acts(item) && play_is_script(&s->play)) {
            cps_buf_printf(out, item->line ? "%c line %" PRIu32 "  " : "%c ", mark, item->line);
            put_step(item, out);
            cps_buf_str(out, "\n");
        }
    }
}

static void look_counts(const struct session *s, unsigned core, struct cps_buf *out)
{
    const struct cps_engine *engine = session_engine(s);
    (void)core;
    cps_buf_printf(out,
                   "%" PRIu64 " %s, %" PRIu64 " instructions, %" PRIu64 " register writes, %" PRIu64
                   " memory writes\n",
                   engine->packets, play_is_script(&s->play) ? "starts" : "packets",
                   engine->instructions, engine->tap.count[CPS_EV_REG],
                   engine->tap.count[CPS_EV_MEMW]);
}

/* A beginning means the first topic that has it. */
static const struct topic {
    const char *name, *other; /* gdb's word for it, or its former name; "": none */
    command_handler *show;    /* or NULL */
    int how;                  /* which of several topics of one handler it is */
    const char *help;
    void (*look)(const struct session *s, unsigned core, struct cps_buf *out);
} topics[] = {
    {"registers", "", show_registers, 0, "[NAME...]: general registers, or the named ones", NULL},
    {"breakpoints", "break", show_points, 0, "all points, with their conditions, hits and commands",
     NULL},
    {"watchpoints", "", show_points, 1, "those of accesses and events", NULL},
    {"display", "", show_display, 0, "expressions shown after every stop", NULL},
    {"packet", "", show_packet, 0, "the current packet: header, payload with its fields", NULL},
    {"draw", "", show_draw, 0,
     "[N] [all]: the state at the current draw, or at draw N of the capture: what changed", NULL},
    {"threads", "cores", NULL, 0, "position of each processor", look_cores},
    {"frame", "", command_frame_, 0, "the selected frame", NULL},
    {"stack", "", NULL, 0, "calls, packet and streams that led here", look_backtrace},
    {"control", "", show_space, CPS_FILE_CONTROL, "control registers that are not 0", NULL},
    {"sqe", "", show_space, CPS_FILE_SQE, "SQE registers that are not 0", NULL},
    {"all-registers", "", show_all, 0, "all of these", NULL},
    {"events", "", show_events, 10, "the last ones", NULL},
    {"submissions", "", NULL, 0, "submissions of the input", look_submissions},
    {"line", "program", NULL, 0, "position of the run", look_where},
    {"symbol", "address", show_symbol, 0, "PLACE: its name and its address", NULL},
    {"counts", "", NULL, 0, "packets, instructions and writes so far", look_counts},
};
#define TOPICS (sizeof(topics) / sizeof(topics[0]))

const char *command_topic(unsigned index)
{
    return index < TOPICS ? topics[index].name : NULL;
}

struct cps_err *command_info_(struct debugger *r, struct command_args *args)
{
    size_t length = strcspn(args->text, " \t");
    CPS_BUF known = {0};
    for (size_t i = 0; i < TOPICS; i++) {
        const struct topic *topic = &topics[i];
        bool named = length && (!strncmp(topic->name, args->text, length) ||
                                !strncmp(topic->other, args->text, length));
        if (named && topic->show)
            return topic->show(
                r, &(struct command_args){cps_lex_blank(args->text + length), topic->how, 1});
        if (named) {
            topic->look(&r->session, r->session.core, &r->out);
            return NULL;
        }
        cps_buf_printf(&known, "%s%s", i ? ", " : "", topic->name);
        if (!length)
            cps_buf_printf(&r->out, "info %-14s %s\n", topic->name, topic->help);
    }
    return length ? cps_err_new(CPS_ERR_SYNTAX, "info %s: expected one of %s", args->text,
                                tool_text(&known))
                  : NULL;
}

/* By name, or by number, from 0. */
struct cps_err *command_core_(struct debugger *r, struct command_args *args)
{
    if (*args->text) {
        int64_t number = 0;
        const char *at = args->text;
        bool is_number = cps_lex_number(&at, &number) && !*at && number >= 0 &&
                         number < session_engine(&r->session)->cores;
        int core = is_number ? (int)number : session_find_core(&r->session, args->text);
        if (core < 0)
            return cps_err_new(CPS_ERR_SYNTAX, "there is no processor \"%s\" here", args->text);
        r->session.core = (unsigned)core;
        r->frame = 0;
        r->has_listed = false;
        r->moved = false;
    }
    look_cores(&r->session, r->session.core, &r->out);
    return NULL;
}

/* ---- events ---- */

struct cps_err *command_log_(struct debugger *r, struct command_args *args)
{
    int64_t count = 20;
    if (*args->text)
        CPS_TRY(command_number(args->text, INT64_MIN, 65536, "a number up to 65536", &count));
    look_events(&r->session, (unsigned)count, &r->out);
    return NULL;
}

/* The packet that was being handled then: after the end of a stream, one of a lower level. */
static void print_packet_before(struct debugger *r, const struct cps_debug_location *place)
{
    const struct session *s = &r->session;
    uint32_t submission = place->submission ? place->submission - 1 : 0;
    unsigned below = CPS_LEVEL_INT;
    bool ended = false;
    struct cps_event event;
    uint64_t number = place->event;
    while (session_event_before(s, CPS_EV_PKT, &number, &event)) {
        unsigned level = cps_event_sub(&event);
        if (ended && level < below)
            below = level;
        ended = level == CPS_LEVEL_INT;
        if (level >= below)
            continue;
        cps_buf_str(&r->out, "  in ");
        look_event(s, &event, submission, &r->out);
        return;
    }
}

struct cps_err *command_who_(struct debugger *r, struct command_args *args)
{
    struct session *s = &r->session;
    struct cps_debug_point point;
    struct cps_debug_stop stop;
    struct cps_debug_location place;
    CPS_TRY(point_watch(s, s->core, POINT_WRITE, args->text, &point));
    bool found = cps_debug_last(s->debug, &point, &stop, &place);
    point_release(&point);
    if (!found) {
        cps_buf_str(&r->out, "no write since the reset\n");
        return NULL;
    }
    cps_buf_printf(&r->out, "step %" PRIu64 ", event %" PRIu64 ": ", place.step, place.event);
    cps_buf_printf(&r->out, "%s ", session_core_name(s, stop.core));
    look_pc(s, stop.core, stop.pc, &r->out);
    cps_buf_str(&r->out, ": ");
    look_insn(s, stop.core, stop.pc, &r->out);
    cps_buf_str(&r->out, "\n");
    if (stop.has_event) {
        cps_buf_str(&r->out, "  ");
        look_event(s, &stop.event, place.submission ? place.submission - 1 : 0, &r->out);
    }
    print_packet_before(r, &place);
    cps_buf_printf(&r->out, "  goto %" PRIu64 " shows the machine after it\n", place.step);
    return NULL;
}

struct cps_err *command_why_(struct debugger *r, struct command_args *args)
{
    if (!*args->text)
        return cps_err_new(CPS_ERR_SYNTAX, "why: expected $02, @CONTROL, a register, [ADDRESS] or "
                                           "event:N");
    return session_why(&r->session, r->session.core, args->text, false, &r->out);
}
