/* SPDX-License-Identifier: MIT
 * The debugger's commands that look. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/debug/expr.h"
#include "isa/base/lex.h"
#include "tools/debug/look.h"
#include "tools/debug/command.h"
#include "tools/debug/point.h"

static void print_binary(struct cps_buf *out, uint64_t value)
{
    unsigned bit = 63;
    while (bit && !(value >> bit & 1))
        bit--;
    cps_buf_str(out, "0b");
    for (bit++; bit--;)
        cps_buf_str(out, value >> bit & 1 ? "1" : "0");
}

struct cps_err *command_print_(struct debugger *r, const char *arguments, int go)
{
    char form = 0;
    uint64_t value = 0;
    (void)go;
    if (*arguments == '/') {
        form = arguments[1];
        if (!form || !strchr("xdt", form))
            return cps_err_new(CPS_ERR_SYNTAX, "%s: expected /x, /d or /t", arguments);
        arguments = cps_lex_blank(arguments + 2);
    }
    CPS_TRY(expr_eval(&r->session, r->session.core, NULL, arguments, &value));
    if (form == 'd')
        cps_buf_printf(&r->out, "%" PRIu64, value);
    else if (form == 't')
        print_binary(&r->out, value);
    else
        cps_buf_printf(&r->out, "0x%08" PRIx64, value);
    if (!form)
        cps_buf_printf(&r->out, " = %" PRIu64, value);
    struct cps_place place;
    if (expr_place(&r->session, r->session.core, arguments, &place) &&
        place.file == CPS_FILE_REGISTER) {
        CPS_BUF fields = {0};
        cps_name_fields(session_names(&r->session, r->session.core), CPS_SPACE_GPU,
                        (uint32_t)place.number, (uint32_t)value, &fields);
        cps_buf_str(&r->out, fields.size ? "  " : "");
        cps_buf_join(&r->out, &fields);
        look_whole(&r->session, r->session.core, (uint32_t)place.number, &r->out);
    }
    cps_buf_str(&r->out, "\n");
    return NULL;
}

struct cps_err *command_examine_(struct debugger *r, const char *arguments, int go)
{
    unsigned long count = 16;
    uint64_t iova = 0;
    (void)go;
    if (*arguments == '/') {
        char *at = NULL;
        count = strtoul(arguments + 1, &at, 0);
        if (at == arguments + 1 || count < 1 || count > 65536)
            return cps_err_new(CPS_ERR_SYNTAX, "%s: expected /N, N from 1 to 65536", arguments);
        at += strspn(at, "xw"); /* gdb's letters for what this does anyway */
        arguments = cps_lex_blank(at);
    }
    CPS_TRY(expr_eval(&r->session, r->session.core, NULL, arguments, &iova));
    look_memory(&r->session, expr_memory(&r->session), iova & ~UINT64_C(3), (uint32_t)count,
                &r->out);
    return NULL;
}

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

static struct cps_err *show_registers(struct debugger *r)
{
    look_registers(&r->session, r->session.core, 90, r->moved ? &r->before : NULL, &r->out);
    return NULL;
}

static struct cps_err *show_control(struct debugger *r)
{
    return show_space(r, CPS_SPACE_CONTROL, CPS_FILE_CONTROL);
}

static struct cps_err *show_sqe(struct debugger *r)
{
    return show_space(r, CPS_SPACE_SQE, CPS_FILE_SQE);
}

static struct cps_err *show_packet(struct debugger *r)
{
    if (!session_afuc(&r->session))
        return cps_err_new(CPS_ERR_SYNTAX, "%s has no packets",
                           session_engine(&r->session)->ops->name);
    look_packet(&r->session, r->session.core, &r->out);
    return NULL;
}

static struct cps_err *show_points(struct debugger *r)
{
    const struct cps_debug_point *p = NULL;
    for (unsigned i = 0; (p = cps_debug_point(r->session.debug, i)); i++) {
        const struct typed_point *typed = p->context;
        cps_buf_printf(&r->out, "%d %s %s%s%s%s, %" PRIu64 " hits\n", p->id,
                       point_is_break(p) ? "break" : "watch", typed ? typed->text : "",
                       typed && typed->condition ? " if " : "",
                       typed && typed->condition ? typed->condition : "",
                       p->disabled ? " (disabled)" : "", p->hits);
    }
    return NULL;
}

static struct cps_err *show_events(struct debugger *r)
{
    look_events(&r->session, 10, &r->out);
    return NULL;
}

static struct cps_err *show_cores(struct debugger *r)
{
    for (unsigned i = 0; i < session_engine(&r->session)->cores; i++) {
        cps_buf_str(&r->out, i == r->session.core ? "* " : "  ");
        look_where(&r->session, i, &r->out);
    }
    return NULL;
}

/* What the input holds, as far as it makes the engine run. */
static struct cps_err *show_submissions(struct debugger *r)
{
    static const char *const words[CPS_ITEM_KINDS] = {
        [CPS_ITEM_INIT] = "the driver's first packets",
        [CPS_ITEM_RING] = "ring",
        [CPS_ITEM_CODE] = "upload",
        [CPS_ITEM_WRITE] = "write",
        [CPS_ITEM_READ] = "read",
        [CPS_ITEM_OBJECT] = "object",
        [CPS_ITEM_WAIT] = "wait",
        [CPS_ITEM_RUN] = "run",
        [CPS_ITEM_END] = "the host is done",
    };
    const struct feed *feed = &r->session.play.feed;
    const struct cps_item *now = session_item(&r->session);
    for (size_t i = 0; i < feed->count; i++) {
        const struct cps_item *item = &feed->item[i];
        char mark = item == now ? '*' : ' ';
        if (item->kind == CPS_ITEM_SUBMIT)
            cps_buf_printf(&r->out, "%c %" PRIu32 "  0x%016" PRIx64 ", %" PRIu32 " dwords\n", mark,
                           item->stream.index, item->stream.iova, item->stream.dwords);
        else if (words[item->kind] && play_is_script(&r->session.play))
            cps_buf_printf(&r->out, "%c line %" PRIu32 "  %s 0x%" PRIx32 " 0x%" PRIx32 "\n", mark,
                           item->line, words[item->kind], item->host.addr, item->host.value);
    }
    return NULL;
}

static struct cps_err *show_counts(struct debugger *r)
{
    look_counts(&r->session, &r->out);
    return NULL;
}

static struct cps_err *show_line(struct debugger *r)
{
    look_where(&r->session, r->session.core, &r->out);
    return NULL;
}

#define TOPICS       \
    TOPIC(registers) \
    TOPIC(control)   \
    TOPIC(sqe)       \
    TOPIC(packet)    \
    TOPIC(break) TOPIC(events) TOPIC(cores) TOPIC(submissions) TOPIC(line) TOPIC(counts)
const char *const command_topics[] = {
#define TOPIC(name) #name,
    TOPICS NULL
#undef TOPIC
};
#define show_break show_points
static struct cps_err *(*const shows[])(struct debugger *) = {
#define TOPIC(name) show_##name,
    TOPICS
#undef TOPIC
};

struct cps_err *command_info_(struct debugger *r, const char *arguments, int go)
{
    (void)go;
    for (size_t i = 0; *arguments && command_topics[i]; i++) {
        if (strncmp(command_topics[i], arguments, strlen(arguments)) != 0)
            continue;
        return shows[i](r);
    }
    return cps_err_new(CPS_ERR_SYNTAX,
                       "info %s: expected registers, control, sqe, packet, break, events, cores, "
                       "submissions, line or counts",
                       arguments);
}

struct cps_err *command_backtrace_(struct debugger *r, const char *arguments, int go)
{
    (void)arguments;
    (void)go;
    look_backtrace(&r->session, r->session.core, &r->out);
    return NULL;
}

struct cps_err *command_disas_(struct debugger *r, const char *arguments, int go)
{
    struct session *s = &r->session;
    uint32_t pc = cps_engine_where(session_engine(s), s->core).pc;
    size_t length = strcspn(arguments, " \t");
    const char *rest = cps_lex_blank(arguments + length);
    int64_t count = 0;
    uint64_t value = pc;
    (void)go;
    if (*rest && (!cps_lex_number(&rest, &count) || *rest || count < 1 || count > 65536))
        return cps_err_new(CPS_ERR_SYNTAX, "%s: expected a number of instructions", rest);
    if (length) {
        CPS_FREE char *place = strndup(arguments, length);
        if (!place)
            return cps_err_nomem();
        if (session_find_place(s, s->core, place, length, &pc))
            value = pc;
        else
            CPS_TRY(expr_eval(s, s->core, NULL, place, &value));
    }
    look_code(s, s->core, (uint32_t)value, count ? 0 : 5, count ? (unsigned)count - 1 : 8, &r->out);
    return NULL;
}

struct cps_err *command_log_(struct debugger *r, const char *arguments, int go)
{
    int64_t count = 20;
    (void)go;
    if (*arguments && (!cps_lex_number(&arguments, &count) || *arguments || count > 65536))
        return cps_err_new(CPS_ERR_SYNTAX, "%s: expected a number up to 65536", arguments);
    look_events(&r->session, (unsigned)count, &r->out);
    return NULL;
}

/* The packet that was being handled then: behind the end of a stream, one of a lower level. */
static void print_packet_before(struct debugger *r, const struct cps_debug_place *place)
{
    const struct session *s = &r->session;
    uint32_t submission = place->submission ? place->submission - 1 : 0;
    unsigned below = CPS_LEVEL_INT;
    bool ended = false;
    struct cps_event event;
    for (uint64_t i = place->event; i-- && cps_debug_event(s->debug, i, &event);) {
        unsigned level = cps_event_sub(&event);
        if (cps_event_kind(&event) != CPS_EV_PKT)
            continue;
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

struct cps_err *command_who_(struct debugger *r, const char *arguments, int go)
{
    struct session *s = &r->session;
    struct cps_debug_point point;
    struct cps_debug_stop stop;
    struct cps_debug_place place;
    (void)go;
    CPS_TRY(point_watch(s, s->core, POINT_WRITE, arguments, &point));
    bool found = cps_debug_last(s->debug, &point, &stop, &place);
    point_release(&point);
    if (!found) {
        cps_buf_str(&r->out, "nobody, as far back as the reset\n");
        return NULL;
    }
    cps_buf_printf(&r->out, "step %" PRIu64 ", event %" PRIu64 ": ", place.step, place.event);
    cps_buf_printf(&r->out, "%s %04" PRIx32 " ", session_core_name(s, stop.core), stop.pc);
    session_place(s, stop.core, stop.pc, &r->out);
    cps_buf_str(&r->out, ": ");
    look_insn(s, stop.core, stop.pc, &r->out);
    cps_buf_str(&r->out, "\n");
    if (stop.has_event) {
        cps_buf_str(&r->out, "  ");
        look_event(s, &stop.event, place.submission ? place.submission - 1 : 0, &r->out);
    }
    print_packet_before(r, &place);
    cps_buf_printf(&r->out, "  goto %" PRIu64 " shows the machine behind it\n", place.step);
    return NULL;
}

struct cps_err *command_core_(struct debugger *r, const char *arguments, int go)
{
    (void)go;
    if (*arguments) {
        int core = session_find_core(&r->session, arguments);
        if (core < 0)
            return cps_err_new(CPS_ERR_SYNTAX, "there is no processor \"%s\" here", arguments);
        r->session.core = (unsigned)core;
        r->moved = false;
    }
    return show_cores(r);
}
