/* SPDX-License-Identifier: MIT
 * What panes of the full-screen view hold: registers with their fields, the state at a draw, where
 * a value comes from. The last two go the way to here once more: while it is short whenever
 * something changed, else only if somebody asks for it. */
#include "tools/step/screen_private.h"

#ifdef CPS_HAVE_CURSES
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "emu/debug/retrace.h"
#include "tools/debug/look_fields.h"
#include "tools/debug/why.h"
#include "tools/stream/state_here.h"
#include "tools/stream/state_text.h"

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

/* Whose draws: of a7xx on each processor has its own; of a5xx the ME draws. */
static unsigned drawing(const struct session *session)
{
    unsigned who = session_engine(session)->who[session->core];
    return who == CPS_CPU_PFP ? CPS_CPU_ME : who;
}

static void put_state(const struct screen *s, const struct state_result *result,
                      struct cps_buf *out)
{
    const struct state_pair pair = {.names = result->names,
                                    .now = result->state.now,
                                    .before = result->state.before,
                                    .since = result->state.since};
    uint32_t counts[STATE_GONE + 1] = {0};
    CPS_BUF rows = {0};
    state_text(&pair, result, !s->all, &rows, counts);
    state_text_counts(counts, out);
    cps_buf_str(out, s->all ? "; a: only what changed\n" : "; a: all\n");
    cps_buf_join(out, &rows);
}

struct here {
    struct state_here *state;
    const struct screen *screen;
    struct cps_buf *out;
};

static struct cps_err *begin(void *context, struct cps_engine *engine, uint64_t fed)
{
    struct here *here = context;
    (void)fed;
    cps_engine_sink(engine, state_here_sink(here->state), STATE_HERE_KINDS);
    return NULL;
}

static struct cps_err *end(void *context, struct cps_engine *engine)
{
    struct here *here = context;
    const struct state_result *result = state_here_result(here->state);
    cps_engine_sink(engine, NULL, 0);
    if (!result->state.launch.kind) {
        cps_buf_printf(here->out, "nothing was drawn by %s until here\n",
                       cps_processor_name(result->who));
    } else {
        cps_buf_str(here->out, state_here_in_draw(here->state) ? "in " : "behind ");
        state_text_launch(result, here->out);
        cps_buf_str(here->out, "\n");
    }
    put_state(here->screen, result, here->out);
    return NULL;
}

static void put_state_here(struct screen *s, struct cps_buf *out)
{
    struct session *session = session_of(s);
    unsigned who = drawing(session);
    struct here here = {.screen = s, .out = out};
    const struct cps_debug_retrace retrace = {begin, end, &here};
    if (!is_short(s, out))
        return;
    struct cps_err *err =
        state_here_create(session->play.names[who], session->play.buffers, who, &here.state);
    if (!err)
        err = cps_debug_retrace(session->debug, &retrace);
    put_error(err, out);
    state_here_destroy(here.state);
}

/* A draw of the capture, as `cpscope state --draw` has it: changes of the session are no part. */
static void put_draw(struct screen *s, const char *asked, struct cps_buf *out)
{
    const struct session *session = session_of(s);
    const struct cps_options *opt = session->opt;
    const char *firmware[3] = {opt->fw_count ? opt->fw[0] : NULL,
                               opt->fw_count > 1 ? opt->fw[1] : NULL, NULL};
    char *rest = NULL;
    struct state_setup setup = {.opt = opt, .firmware = firmware, .who = drawing(session)};
    struct state_result result = {0};
    setup.draw = strtol(asked, &rest, 0);
    setup.capture = opt->arg_count ? opt->arg[0] : NULL;
    if (*rest || setup.draw < 0 || (!opt->arg_count && !opt->demo)) {
        cps_buf_printf(out, "\"%s\" is no number of a draw of a capture\n", asked);
        return;
    }
    struct cps_err *err = state_gather(&setup, &result);
    if (!err && !result.state.now)
        cps_buf_printf(out, "draw %ld: the run makes %" PRIu32 " of them, counted from 0\n",
                       setup.draw, result.count);
    if (!err && result.state.now) {
        state_text_launch(&result, out);
        cps_buf_str(out, ", as the capture has it\n");
        put_state(s, &result, out);
    }
    put_error(err, out);
    state_deinit(&result);
}

void screen_fill_state_(struct screen *s, int width, struct cps_buf *out)
{
    const char *asked = s->pane[PANE_STATE].asked;
    (void)width;
    if (*asked)
        put_draw(s, asked, out);
    else
        put_state_here(s, out);
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
