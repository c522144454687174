/* SPDX-License-Identifier: MIT
 * What `info` shows. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "isa/base/lex.h"
#include "tools/face/debugger/command_private.h"
#include "tools/face/debugger/look_state.h"

static struct cps_err *show_space(struct debugger *r, enum cps_space space, char file)
{
    const struct cps_names *names = session_names(&r->session, r->session.core);
    const struct cps_engine *engine = session_engine(&r->session);
    const struct cps_file *row = cps_engine_file(engine, file);
    if (!row)
        return cps_err_new(CPS_ERR_SYNTAX, "%s has no %cregisters", engine->ops->name, file);
    for (uint32_t i = 0; i < row->count; i++) {
        unsigned part = 0;
        uint64_t value = session_value(&r->session, r->session.core, file, i);
        const char *name = cps_name(names, space, i, &part);
        if (!value)
            continue;
        cps_buf_printf(&r->out, "%c0x%03" PRIx32 " %08" PRIx64 "  %s", file, i, value,
                       name ? name : "");
        cps_buf_printf(&r->out, part ? "+0x%x\n" : "\n", part);
    }
    return NULL;
}

/* One of those that expressions know: "$02", "02", "@IB_LEVEL", "RB_CCU_CNTL". */
static struct cps_err *show_register(struct debugger *r, const char *name, size_t length)
{
    CPS_BUF text = {0};
    uint64_t value = 0;
    struct cps_place place;
    cps_buf_printf(&text, "$%.*s", (int)length, name);
    if (text.failed)
        return cps_err_nomem();
    const char *known = cps_buf_text(&text);
    if (*name == '$' || *name == '@' || *name == '%' ||
        (!expr_place(&r->session, r->session.core, known, &place) && strcmp(known, "$npc") != 0))
        known++;
    CPS_TRY(expr_eval_part(&r->session, r->session.core, known, strlen(known), &value));
    cps_buf_printf(&r->out, "%-15s ", known);
    return command_put_print(r, known, 0, &r->out);
}

static struct cps_err *show_registers(struct debugger *r, const char *arguments)
{
    while (*arguments) {
        size_t length = strcspn(arguments, " \t");
        CPS_TRY(show_register(r, arguments, length));
        arguments = cps_lex_blank(arguments + length);
        if (!*arguments)
            return NULL;
    }
    look_registers(&r->session, r->session.core, 90, r->moved ? &r->before : NULL, &r->out);
    return NULL;
}

static struct cps_err *show_control(struct debugger *r, const char *arguments)
{
    (void)arguments;
    return show_space(r, CPS_SPACE_CONTROL, CPS_FILE_CONTROL);
}

static struct cps_err *show_sqe(struct debugger *r, const char *arguments)
{
    (void)arguments;
    return show_space(r, CPS_SPACE_SQE, CPS_FILE_SQE);
}

static struct cps_err *need_packets(const struct debugger *r)
{
    if (session_afuc(&r->session))
        return NULL;
    return cps_err_new(CPS_ERR_SYNTAX, "%s has no packets", session_engine(&r->session)->ops->name);
}

static struct cps_err *show_packet(struct debugger *r, const char *arguments)
{
    (void)arguments;
    CPS_TRY(need_packets(r));
    look_packet(&r->session, r->session.core, &r->out);
    return NULL;
}

/* "[N] [all]" */
static struct cps_err *show_draw(struct debugger *r, const char *arguments)
{
    int64_t draw = -1;
    const char *at = arguments;
    if (*at && strcmp(at, "all") != 0 && (!cps_lex_number(&at, &draw) || draw < 0))
        return cps_err_new(CPS_ERR_SYNTAX, "info draw %s: expected a number, \"all\", or both",
                           arguments);
    at = cps_lex_blank(at);
    bool all = !strcmp(at, "all");
    if (*at && !all)
        return cps_err_new(CPS_ERR_SYNTAX, "info draw %s: expected \"all\" or the end", arguments);
    return draw < 0 ? look_state_here(&r->session, all, &r->out)
                    : look_state_draw(&r->session, (long)draw, all, &r->out);
}

/* Commands of a point stand below it, as in gdb. */
static void put_commands(const struct typed_point *typed, struct cps_buf *out)
{
    for (const char *line = typed->commands ? typed->commands : ""; *line;) {
        size_t length = strcspn(line, "\n");
        cps_buf_printf(out, "        %.*s\n", (int)length, line);
        line += length + 1;
    }
}

static void put_point(const struct session *s, const struct cps_debug_point *p, struct cps_buf *out)
{
    const struct typed_point *typed = p->context;
    bool access = typed && strcmp(typed->word, "break") != 0; /* watch, rwatch or awatch */
    const char *sort = point_is_break(p) ? "break" : "watch";
    const char *here = typed && p->what == CPS_AT_PC && !*typed->text ? "here" : "";
    cps_buf_printf(out, "%d %s %s%s", p->id, access ? typed->word : sort, typed ? typed->text : "",
                   here);
    if (p->core >= 0 && session_engine(s)->cores > 1)
        cps_buf_printf(out, ", %s", session_core_name(s, (unsigned)p->core));
    if (typed && typed->condition)
        cps_buf_printf(out, " if %s", typed->condition);
    cps_buf_printf(out, "%s%s", p->once ? " (once)" : "", p->disabled ? " (disabled)" : "");
    if (p->ignore)
        cps_buf_printf(out, " (passes %" PRIu64 " more)", p->ignore);
    cps_buf_printf(out, ", %" PRIu64 " hits\n", p->hits);
    if (typed)
        put_commands(typed, out);
}

static struct cps_err *show_points(struct debugger *r, const char *arguments)
{
    const struct cps_debug_point *p = NULL;
    (void)arguments;
    for (unsigned i = 0; (p = cps_debug_point(r->session.debug, i)); i++)
        put_point(&r->session, p, &r->out);
    return NULL;
}

static struct cps_err *show_watchpoints(struct debugger *r, const char *arguments)
{
    const struct cps_debug_point *p = NULL;
    (void)arguments;
    for (unsigned i = 0; (p = cps_debug_point(r->session.debug, i)); i++) {
        if (!point_is_break(p))
            put_point(&r->session, p, &r->out);
    }
    return NULL;
}

static struct cps_err *show_display(struct debugger *r, const char *arguments)
{
    (void)arguments;
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

static struct cps_err *show_events(struct debugger *r, const char *arguments)
{
    (void)arguments;
    look_events(&r->session, 10, &r->out);
    return NULL;
}

static struct cps_err *show_cores(struct debugger *r, const char *arguments)
{
    (void)arguments;
    for (unsigned i = 0; i < session_engine(&r->session)->cores; i++) {
        cps_buf_str(&r->out, i == r->session.core ? "* " : "  ");
        look_where(&r->session, i, &r->out);
    }
    return NULL;
}

static struct cps_err *show_frame(struct debugger *r, const char *arguments)
{
    return command_frame_(r, arguments, 0);
}

static struct cps_err *show_stack(struct debugger *r, const char *arguments)
{
    return command_backtrace_(r, arguments, 0);
}

static struct cps_err *show_symbol(struct debugger *r, const char *arguments)
{
    uint32_t pc = 0;
    CPS_BUF name = {0};
    CPS_TRY(command_place(r, arguments, strlen(arguments), &pc));
    session_place(&r->session, r->session.core, pc, &name);
    r->out.failed = r->out.failed || name.failed;
    cps_buf_printf(&r->out, "%04" PRIx32 " %s\n", pc,
                   name.size ? cps_buf_text(&name) : "is in no handler, and no label is known");
    return NULL;
}

/* What the host does, in the words of a run file. */
static void put_step(const struct cps_item *item, struct cps_buf *out)
{
    const char *where = play_where(item);
    switch (item->kind) {
    case CPS_ITEM_CODE:
        cps_buf_printf(out, item->code.at ? "upload 0x%" PRIx32 : "upload", item->code.at);
        break;
    case CPS_ITEM_WRITE:
        cps_buf_printf(out, "write%s %s0x%" PRIx32 " 0x%" PRIx32,
                       item->host.size == 1   ? "8"
                       : item->host.size == 2 ? "16"
                                              : "",
                       where, item->host.addr, item->host.value);
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

/* What the input holds, as far as it makes the engine run. */
static struct cps_err *show_submissions(struct debugger *r, const char *arguments)
{
    (void)arguments;
    const struct feed *feed = &r->session.play.feed;
    const struct cps_item *now = session_item(&r->session);
    for (size_t i = 0; i < feed->count; i++) {
        const struct cps_item *item = &feed->item[i];
        char mark = item == now ? '*' : ' ';
        if (item->kind == CPS_ITEM_SUBMIT) {
            cps_buf_printf(&r->out, "%c %" PRIu32 "  0x%016" PRIx64 ", %" PRIu32 " dwords\n", mark,
                           item->stream.index, item->stream.iova, item->stream.dwords);
        } else if (cps_item_acts(item) && play_is_script(&r->session.play)) {
            cps_buf_printf(&r->out, item->line ? "%c line %" PRIu32 "  " : "%c ", mark, item->line);
            put_step(item, &r->out);
            cps_buf_str(&r->out, "\n");
        }
    }
    return NULL;
}

static struct cps_err *show_counts(struct debugger *r, const char *arguments)
{
    (void)arguments;
    look_counts(&r->session, &r->out);
    return NULL;
}

static struct cps_err *show_line(struct debugger *r, const char *arguments)
{
    (void)arguments;
    look_where(&r->session, r->session.core, &r->out);
    return NULL;
}

static struct cps_err *show_all(struct debugger *r, const char *arguments)
{
    const struct cps_engine *engine = session_engine(&r->session);
    CPS_TRY(show_registers(r, arguments));
    if (cps_engine_file(engine, CPS_FILE_CONTROL))
        CPS_TRY(show_control(r, ""));
    return cps_engine_file(engine, CPS_FILE_SQE) ? show_sqe(r, "") : NULL;
}

/* A beginning means the first topic that has it. */
static const struct topic {
    const char *name, *other; /* gdb's word for it, or what it was called before; or NULL */
    struct cps_err *(*show)(struct debugger *debugger, const char *arguments);
    const char *help;
} topics[] = {
    {"registers", NULL, show_registers, "[NAME...]: general registers, or those that are named"},
    {"breakpoints", "break", show_points, "all points, with their conditions, hits and commands"},
    {"watchpoints", NULL, show_watchpoints, "those that are about accesses and events"},
    {"display", NULL, show_display, "what is shown behind every stop"},
    {"packet", NULL, show_packet, "the packet at hand: header, payload with its fields"},
    {"draw", NULL, show_draw,
     "[N] [all]: the state at the draw at hand, or at draw N of the capture: what changed"},
    {"threads", "cores", show_cores, "where the processors stand"},
    {"frame", NULL, show_frame, "the frame that was chosen"},
    {"stack", NULL, show_stack, "calls, packet and streams that led here"},
    {"control", NULL, show_control, "control registers that are not 0"},
    {"sqe", NULL, show_sqe, "SQE registers that are not 0"},
    {"all-registers", NULL, show_all, "all of these"},
    {"events", NULL, show_events, "the last ones"},
    {"submissions", NULL, show_submissions, "what the input holds"},
    {"line", "program", show_line, "where the run stands"},
    {"symbol", "address", show_symbol, "PLACE: what it is called, and its address"},
    {"counts", NULL, show_counts, "packets, instructions and writes so far"},
};
#define TOPICS (sizeof(topics) / sizeof(topics[0]))

const char *command_topic(unsigned index)
{
    return index < TOPICS ? topics[index].name : NULL;
}

struct cps_err *command_info_(struct debugger *r, const char *arguments, int go)
{
    size_t length = strcspn(arguments, " \t");
    (void)go;
    for (size_t i = 0; length && i < TOPICS; i++) {
        const struct topic *topic = &topics[i];
        if (!strncmp(topic->name, arguments, length) ||
            (topic->other && !strncmp(topic->other, arguments, length)))
            return topic->show(r, cps_lex_blank(arguments + length));
    }
    CPS_BUF known = {0};
    for (size_t i = 0; i < TOPICS; i++)
        cps_buf_printf(&known, "%s%s", i ? ", " : "", topics[i].name);
    if (length)
        return cps_err_new(CPS_ERR_SYNTAX, "info %s: expected one of %s", arguments,
                           cps_buf_text(&known));
    for (size_t i = 0; i < TOPICS; i++)
        cps_buf_printf(&r->out, "info %-14s %s\n", topics[i].name, topics[i].help);
    return NULL;
}
