/* SPDX-License-Identifier: MIT
 * What panes of the full-screen view hold: registers, calls, the packet, memory, events, output. */
#include "tools/face/screen/screen_private.h"

#ifdef CPS_HAVE_CURSES
#include <inttypes.h>
#include <string.h>

#include "tools/face/debugger/expr.h"
#include "tools/face/debugger/look.h"

#define EVENTS      200 /* that are shown until somebody looks further back */
#define MEMORY_ROWS 64  /* of four dwords */
#define MOST_WORDS  512 /* of a packet */
#define ROW         16  /* bytes */
#define CELL        14  /* columns of a register */

bool screen_has_anything_(const struct session *session)
{
    (void)session;
    return true;
}

bool screen_has_packets_(const struct session *session)
{
    return session_afuc(session) != NULL;
}

bool screen_has_memory_(const struct session *session)
{
    return cps_engine_file(session_engine(session), expr_memory(session)) != NULL;
}

static bool fits(const struct cps_buf *text, int width)
{
    for (const char *at = cps_buf_text(text); *at;) {
        size_t length = strcspn(at, "\n");
        if ((int)length > width)
            return false;
        at += length + (at[length] == '\n');
    }
    return true;
}

/* Some names are longer than others: with those in a row there may be one column less. */
void screen_fill_registers_(struct screen *s, int width, struct cps_buf *out)
{
    const struct debugger *r = s->debugger;
    const struct look_values *before = r->moved ? &r->before : NULL;
    for (int wide = width; wide > 0; wide -= CELL) {
        cps_buf_clear(out);
        look_registers(&r->session, r->session.core, (unsigned)wide, before, out);
        if (fits(out, width))
            return;
    }
}

/* One processor of several: its name, and where it is. */
static void put_processor(const struct session *session, unsigned core, struct cps_buf *out)
{
    struct cps_where where = cps_engine_where(session_engine(session), core);
    cps_buf_printf(out, "%s %-6s ", core == session->core ? "=>" : "  ",
                   session_core_name(session, core));
    if (where.started) {
        cps_buf_printf(out, "%04" PRIx32 " ", where.pc);
        session_place(session, core, where.pc, out);
    } else {
        cps_buf_str(out, "is not started");
    }
    cps_buf_str(out, "\n");
}

/* The packet has a pane of its own. */
void screen_fill_calls_(struct screen *s, int width, struct cps_buf *out)
{
    const struct session *session = session_of(s);
    CPS_BUF text = {0};
    (void)width;
    for (unsigned i = 0; session_engine(session)->cores > 1 && i < session_engine(session)->cores;
         i++)
        put_processor(session, i, out);
    look_backtrace(session, session->core, &text);
    for (const char *at = cps_buf_text(&text); *at;) {
        size_t length = strcspn(at, "\n") + 1;
        if (*at != ' ' && strncmp(at, "packet", 6) != 0)
            cps_buf_add(out, at, at[length - 1] ? length : length - 1);
        at += at[length - 1] ? length : length - 1;
    }
}

void screen_fill_packet_(struct screen *s, int width, struct cps_buf *out)
{
    (void)width;
    look_payload(session_of(s), session_of(s)->core, MOST_WORDS, out);
}

void screen_fill_events_(struct screen *s, int width, struct cps_buf *out)
{
    (void)width;
    look_events(session_of(s), s->events ? s->events : EVENTS, out);
}

void screen_fill_output_(struct screen *s, int width, struct cps_buf *out)
{
    (void)width;
    cps_buf_str(out, cps_buf_text(&s->output));
}

/* The newest write, as far as events are kept. */
static bool last_write(const struct session *session, uint64_t *ret)
{
    struct cps_event event;
    uint64_t number = cps_debug_place(session->debug).event;
    while (number-- && cps_debug_event(session->debug, number, &event)) {
        if (cps_event_kind(&event) != CPS_EV_MEMW)
            continue;
        *ret = event.addr;
        return true;
    }
    return false;
}

/* Where the pane begins, in front of what is looked for; false: that is said instead. */
static bool choose_address(struct screen *s, uint64_t *ret, struct cps_buf *out)
{
    const struct session *session = session_of(s);
    const char *asked = s->pane[PANE_MEMORY].asked;
    s->written_known = last_write(session, &s->written);
    *ret = s->written;
    if (*asked) {
        struct cps_err *err = expr_eval(session, session->core, NULL, asked, ret);
        if (err)
            cps_buf_printf(out, "%s\n", err->message);
        else
            cps_buf_printf(out, "%s = 0x%" PRIx64 "\n", asked, *ret);
        bool good = !err;
        cps_err_free(err);
        return good;
    }
    const struct cps_afuc *afuc = session_afuc(session);
    if (!s->written_known && afuc && cps_afuc_header_iova(afuc, session->core)) {
        *ret = cps_afuc_header_iova(afuc, session->core);
        cps_buf_printf(out, "nothing has been written yet; 0x%" PRIx64 " has the packet\n", *ret);
        return true;
    }
    if (!s->written_known) {
        cps_buf_str(out, "nothing has been written yet; e asks for an address\n");
        return false;
    }
    cps_buf_printf(out, "0x%" PRIx64 " was written last; e asks for another address\n", *ret);
    *ret = *ret < 2 * ROW ? 0 : *ret - 2 * (uint64_t)ROW;
    return true;
}

void screen_fill_memory_(struct screen *s, int width, struct cps_buf *out)
{
    uint64_t at = 0;
    (void)width;
    if (!choose_address(s, &at, out))
        return;
    look_memory(session_of(s), expr_memory(session_of(s)), at & ~(uint64_t)(ROW - 1),
                4 * MEMORY_ROWS, out);
}

#endif
