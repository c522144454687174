/* SPDX-License-Identifier: MIT
 * What panes of the full-screen view hold: registers with their fields, the state at a draw, where
 * a value comes from. The last two go the way to here once more: while it is short whenever
 * something changed, else only if somebody asks for it. */
#include "tools/face/debugger/look.h"
#include "tools/face/screen/screen_private.h"

#ifdef CPS_HAVE_CURSES
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define SHORT_WAY    1000000u /* steps: some tenths of a second */
#define MOST_WRITTEN 24

void screen_fill_fields_(struct screen *s, int width, struct cps_buf *out)
{
    const struct session *session = session_of(s);
    const char *asked = s->pane[PANE_FIELDS].asked;
    (void)width;
    if (*asked && !look_register(session, session->core, asked, out))
        cps_buf_printf(out, "no register is called \"%s\"\n", asked);
    if (*asked)
        cps_buf_str(out, "\n");
    look_fields(session, session->core, MOST_WRITTEN, out);
}

/* Whether a pane may go the whole way now; else it says what to do. */
static bool is_short(struct screen *s, struct cps_buf *out)
{
    struct session *session = session_of(s);
    uint64_t step = cps_debug_place(session->debug).step;
    session->spent = 0;
    s->debugger->interrupt = 0;
    if (step < SHORT_WAY || step == s->long_way)
        return true;
    cps_buf_printf(out, "%" PRIu64 " instructions led here: Enter goes that way again\n", step);
    return false;
}

static void put_error(struct cps_err *err, struct cps_buf *out)
{
    if (err)
        cps_buf_printf(out, "%s\n", err->message);
    cps_err_free(err);
}

/* ---- the state ---- */

void screen_fill_state_(struct screen *s, int width, struct cps_buf *out)
{
    const char *asked = s->pane[PANE_STATE].asked;
    char *rest = NULL;
    long draw = strtol(asked, &rest, 0);
    (void)width;
    cps_buf_str(out, s->all ? "a: only what changed\n" : "a: all\n");
    if (*asked && (*rest || draw < 0))
        cps_buf_printf(out, "\"%s\" is no number of a draw of a capture\n", asked);
    else if (*asked)
        put_error(look_state_draw(session_of(s), draw, s->all, out), out);
    else if (is_short(s, out))
        put_error(look_state_here(session_of(s), s->all, out), out);
}

/* ---- why ---- */

/* The newest write of a GPU register by firmware, as far as events are kept. */
static bool last_write(const struct session *session, uint64_t *ret)
{
    struct cps_event event;
    for (uint64_t i = cps_debug_place(session->debug).event;
         i-- && cps_debug_event(session->debug, i, &event);) {
        if (cps_event_kind(&event) != CPS_EV_REG)
            continue;
        *ret = i;
        return true;
    }
    return false;
}

void screen_fill_why_(struct screen *s, int width, struct cps_buf *out)
{
    struct session *session = session_of(s);
    const char *asked = s->pane[PANE_WHY].asked;
    char event[32] = "";
    uint64_t number = 0;
    (void)width;
    if (!*asked && !last_write(session, &number)) {
        cps_buf_str(out, "no register was written yet; e asks for a value\n");
        return;
    }
    if (!*asked)
        snprintf(event, sizeof(event), "event:%" PRIu64, number);
    if (is_short(s, out))
        put_error(session_why(session, session->core, *asked ? asked : event, false, out), out);
}

#endif
