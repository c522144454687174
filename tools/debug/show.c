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

struct cps_err *repl_print_(struct repl *r, const char *arguments, int go)
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
    uint64_t number = 0;
    if (expr_place(&r->session, r->session.core, arguments, &number) == EXPR_REG) {
        CPS_BUF fields = {0};
        cps_name_fields(session_names(&r->session, r->session.core), CPS_SPACE_GPU,
                        (uint32_t)number, (uint32_t)value, &fields);
        cps_buf_printf(&r->out, "%s%s", fields.size ? "  " : "", cps_buf_text(&fields));
    }
    cps_buf_str(&r->out, "\n");
    return NULL;
}

struct cps_err *repl_examine_(struct repl *r, const char *arguments, int go)
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
    look_memory(&r->session, iova & ~UINT64_C(3), (uint32_t)count, &r->out);
    return NULL;
}

static void show_space(struct repl *r, enum cps_space space, uint32_t count, char sign)
{
    const struct cps_names *names = session_names(&r->session, r->session.core);
    struct cps_machine *m = session_machine(&r->session);
    for (uint32_t i = 0; i < count; i++) {
        unsigned part = 0;
        uint32_t value = sign == '@' ? cps_machine_control(m, r->session.core, i)
                                     : cps_machine_sqe(m, r->session.core, i);
        const char *name = cps_name(names, space, i, &part);
        if (!value)
            continue;
        cps_buf_printf(&r->out, "%c0x%03" PRIx32 " %08" PRIx32 "  %s", sign, i, value,
                       name ? name : "");
        cps_buf_printf(&r->out, part ? "+0x%x\n" : "\n", part);
    }
}

static void show_registers(struct repl *r)
{
    look_registers(&r->session, r->session.core, 6, r->changed, &r->out);
}

static void show_control(struct repl *r)
{
    show_space(r, CPS_SPACE_CONTROL, 0x1000, '@');
}

static void show_sqe(struct repl *r)
{
    show_space(r, CPS_SPACE_SQE, 0x40, '%');
}

static void show_packet(struct repl *r)
{
    look_packet(&r->session, r->session.core, &r->out);
}

static void show_points(struct repl *r)
{
    const struct cps_debug_point *p = NULL;
    for (unsigned i = 0; (p = cps_debug_point(r->session.debug, i)); i++) {
        const struct spot *spot = p->context;
        cps_buf_printf(&r->out, "%d %s %s%s%s%s, %" PRIu64 " hits\n", p->id,
                       p->what == CPS_AT_PC ? "break" : "watch", spot ? spot->text : "",
                       spot && spot->condition ? " if " : "",
                       spot && spot->condition ? spot->condition : "",
                       p->disabled ? " (disabled)" : "", p->hits);
    }
}

static void show_events(struct repl *r)
{
    look_events(&r->session, 10, &r->out);
}

static void show_cores(struct repl *r)
{
    for (unsigned i = 0; i < cps_machine_core_count(session_machine(&r->session)); i++) {
        cps_buf_str(&r->out, i == r->session.core ? "* " : "  ");
        look_where(&r->session, i, &r->out);
    }
}

static void show_submissions(struct repl *r)
{
    uint32_t now = cps_debug_place(r->session.debug).submission;
    for (uint32_t i = 0; i < r->session.feed_count; i++)
        cps_buf_printf(&r->out, "%c %" PRIu32 "  0x%016" PRIx64 ", %" PRIu32 " dwords\n",
                       i + 1 == now ? '*' : ' ', i, r->session.feed[i].iova,
                       r->session.feed[i].dwords);
}

static void show_line(struct repl *r)
{
    look_where(&r->session, r->session.core, &r->out);
}

#define TOPICS       \
    TOPIC(registers) \
    TOPIC(control)   \
    TOPIC(sqe) TOPIC(packet) TOPIC(break) TOPIC(events) TOPIC(cores) TOPIC(submissions) TOPIC(line)
const char *const repl_topics[] = {
#define TOPIC(name) #name,
    TOPICS NULL
#undef TOPIC
};
#define show_break show_points
static void (*const shows[])(struct repl *) = {
#define TOPIC(name) show_##name,
    TOPICS
#undef TOPIC
};

struct cps_err *repl_info_(struct repl *r, const char *arguments, int go)
{
    (void)go;
    for (size_t i = 0; *arguments && repl_topics[i]; i++) {
        if (strncmp(repl_topics[i], arguments, strlen(arguments)) != 0)
            continue;
        shows[i](r);
        return NULL;
    }
    return cps_err_new(CPS_ERR_SYNTAX,
                       "info %s: expected registers, control, sqe, packet, break, events, cores, "
                       "submissions or line",
                       arguments);
}

struct cps_err *repl_backtrace_(struct repl *r, const char *arguments, int go)
{
    (void)arguments;
    (void)go;
    look_backtrace(&r->session, r->session.core, &r->out);
    return NULL;
}

struct cps_err *repl_disas_(struct repl *r, const char *arguments, int go)
{
    struct session *s = &r->session;
    uint32_t pc = cps_machine_pc(session_machine(s), s->core);
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

struct cps_err *repl_log_(struct repl *r, const char *arguments, int go)
{
    int64_t count = 20;
    (void)go;
    if (*arguments && (!cps_lex_number(&arguments, &count) || *arguments || count > 65536))
        return cps_err_new(CPS_ERR_SYNTAX, "%s: expected a number up to 65536", arguments);
    look_events(&r->session, (unsigned)count, &r->out);
    return NULL;
}

/* The packet that was being handled then: behind the end of a stream, one of a lower level. */
static void print_packet_before(struct repl *r, const struct cps_debug_place *place)
{
    const struct session *s = &r->session;
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
        look_event(s, &event, &r->out);
        return;
    }
}

struct cps_err *repl_who_(struct repl *r, const char *arguments, int go)
{
    struct session *s = &r->session;
    struct cps_debug_point point;
    struct cps_debug_stop stop;
    struct cps_debug_place place;
    (void)go;
    CPS_TRY(spot_watch(s, s->core, SPOT_WRITE, arguments, &point));
    bool found = cps_debug_last(s->debug, &point, &stop, &place);
    spot_release(&point);
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
        look_event(s, &stop.event, &r->out);
    }
    print_packet_before(r, &place);
    cps_buf_printf(&r->out, "  goto %" PRIu64 " shows the machine behind it\n", place.step);
    return NULL;
}

struct cps_err *repl_core_(struct repl *r, const char *arguments, int go)
{
    (void)go;
    if (*arguments) {
        int core = session_find_core(&r->session, arguments);
        if (core < 0)
            return cps_err_new(CPS_ERR_SYNTAX, "there is no processor \"%s\" here", arguments);
        r->session.core = (unsigned)core;
        r->changed = 0;
    }
    show_cores(r);
    return NULL;
}
