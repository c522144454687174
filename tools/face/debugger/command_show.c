/* SPDX-License-Identifier: MIT
 * The debugger's commands that look at what happened, and at whom. */
#include <inttypes.h>
#include <string.h>

#include "isa/base/lex.h"
#include "tools/face/debugger/command_private.h"

struct cps_err *command_log_(struct debugger *r, const char *arguments, int go)
{
    int64_t count = 20;
    (void)go;
    const char *at = arguments;
    if (*at && (!cps_lex_number(&at, &count) || *at || count > 65536))
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

/* By name, or by number, from 0. */
static int find_core(const struct session *s, const char *text)
{
    int64_t number = 0;
    const char *at = text;
    if (cps_lex_number(&at, &number) && !*at && number >= 0 && number < session_engine(s)->cores)
        return (int)number;
    return session_find_core(s, text);
}

struct cps_err *command_core_(struct debugger *r, const char *arguments, int go)
{
    (void)go;
    if (*arguments) {
        int core = find_core(&r->session, arguments);
        if (core < 0)
            return cps_err_new(CPS_ERR_SYNTAX, "there is no processor \"%s\" here", arguments);
        r->session.core = (unsigned)core;
        r->frame = 0;
        r->has_listed = false;
        r->moved = false;
    }
    return command_info_(r, "cores", 0);
}
