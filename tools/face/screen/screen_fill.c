/* SPDX-License-Identifier: MIT
 * What panes of the full-screen view hold, and what Enter, or a second click, does on a line of
 * one. */
#include <curses.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/face/debugger/expr.h"
#include "tools/face/screen/screen_private.h"

#define EVENTS       200      /* that are shown until somebody looks further back */
#define MEMORY_ROWS  64       /* of four dwords */
#define MOST_WORDS   512      /* of a packet */
#define ROW          16       /* bytes */
#define CELL         14       /* columns of a register */
#define SHORT_WAY    1000000u /* steps: some tenths of a second */
#define MOST_WRITTEN 24       /* registers */

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

static void put_error(struct cps_err *err, struct cps_buf *out)
{
    if (err)
        cps_buf_printf(out, "%s\n", err->message);
    cps_err_free(err);
}

/* ---- code: a view of an image that moves only where the cursor leaves it ---- */

bool screen_is_code_(const struct session *session, uint64_t at)
{
    return at <= UINT32_MAX && session_has_code(session, session->core, at);
}

bool screen_has_code_(const struct session *session)
{
    return cps_isa_has_code(session_engine(session)->ops->isa);
}

void screen_fill_code_(struct screen *s, struct cps_buf *out)
{
    if (screen_is_code_(session_of(s), s->base))
        look_code(session_of(s), session_of(s)->core, s->base, 0, (unsigned)LINES, out);
    else
        cps_buf_str(out, "no code is here\n");
}

/* The instruction @p lines further on, or back. */
static uint32_t move_pc(const struct session *session, uint32_t at, int lines)
{
    uint32_t previous = 0;
    if (cps_isa_is_regular(session_engine(session)->ops->isa))
        return (int64_t)at + lines < 0 ? 0 : (uint32_t)((int64_t)at + lines);
    for (; lines > 0; lines--)
        at += session_length(session, session->core, at);
    for (; lines < 0 && at; lines++, at = previous) {
        uint32_t next = previous = 0;
        while ((next = previous + session_length(session, session->core, previous)) < at)
            previous = next;
    }
    return at;
}

int screen_code_line_(const char *text, uint32_t pc)
{
    char mark[16];
    int line = 0;
    snprintf(mark, sizeof(mark), " %04" PRIx32 " ", pc);
    for (const char *at = text; *at; line++) {
        size_t length = strcspn(at, "\n");
        if (length > 8 && !strncmp(at + 3, mark, strlen(mark)))
            return line;
        at += length + (at[length] == '\n');
    }
    return -1;
}

static bool is_seen(const struct screen *s, uint32_t base, int rows)
{
    CPS_BUF text = {0};
    look_code(session_of(s), session_of(s)->core, base, 0, (unsigned)rows, &text);
    int line = screen_code_line_(cps_buf_text(&text), s->cursor);
    return line >= 0 && line < rows;
}

/* A line further, if that is enough; else the cursor gets what led to it, and what follows. */
void screen_settle_(struct screen *s, int rows)
{
    const struct session *session = session_of(s);
    uint32_t before = s->base;
    rows = rows > 1 ? rows : 1;
    if (is_seen(s, s->base, rows))
        return;
    for (int i = 1; i <= 3 && s->base == before; i++) {
        if (is_seen(s, move_pc(session, before, i), rows))
            s->base = move_pc(session, before, i);
    }
    if (s->base == before && s->cursor < before && move_pc(session, before, -1) <= s->cursor)
        s->base = s->cursor;
    if (s->base == before)
        s->base = move_pc(session, s->cursor, -rows / 3);
    if (!is_seen(s, s->base, rows))
        s->base = s->cursor;
    s->pane[PANE_CODE].filled = 0;
}

void screen_move_code_(struct screen *s, int lines)
{
    int step = lines < 0 ? -1 : 1;
    for (; lines; lines -= step) {
        uint32_t next = move_pc(session_of(s), s->cursor, step);
        if (!screen_is_code_(session_of(s), next))
            return;
        s->cursor = next;
    }
}

void screen_follow_(struct screen *s)
{
    s->cursor = cps_engine_where(session_engine(session_of(s)), session_of(s)->core).pc;
    for (unsigned i = 0; i < PANES; i++) {
        if (screen_panes_[i].flags & (PANE_ENDS | PANE_MARKS))
            s->pane[i].cursor = -1;
    }
    s->events = 0;
    s->changes++;
}

/* ---- registers, calls, the packet, events, output ---- */

/* Some names are longer than others: with those in a row there may be one column less. */
void screen_fill_registers_(struct screen *s, struct cps_buf *out)
{
    const struct debugger *r = s->debugger;
    int width = s->pane[PANE_REGS].raw_width;
    bool fits = false;
    for (int wide = width; wide > 0 && !fits; wide -= CELL) {
        cps_buf_clear(out);
        look_registers(&r->session, r->session.core, (unsigned)wide, r->moved ? &r->before : NULL,
                       out);
        fits = true;
        for (const char *at = cps_buf_text(out); *at; at += strcspn(at, "\n") + 1)
            fits = fits && (int)strcspn(at, "\n") <= width;
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
void screen_fill_calls_(struct screen *s, struct cps_buf *out)
{
    const struct session *session = session_of(s);
    CPS_BUF text = {0};
    unsigned cores = session_engine(session)->cores;
    for (unsigned i = 0; cores > 1 && i < cores; i++)
        put_processor(session, i, out);
    look_backtrace(session, session->core, &text);
    for (const char *at = tool_text(&text); *at; at += strcspn(at, "\n") + 1) {
        if (*at != ' ' && strncmp(at, "packet", 6) != 0)
            cps_buf_add(out, at, strcspn(at, "\n") + 1);
    }
}

void screen_fill_packet_(struct screen *s, struct cps_buf *out)
{
    look_payload(session_of(s), session_of(s)->core, MOST_WORDS, out);
}

void screen_fill_events_(struct screen *s, struct cps_buf *out)
{
    look_events(session_of(s), s->events ? s->events : EVENTS, out);
}

void screen_fill_output_(struct screen *s, struct cps_buf *out)
{
    cps_buf_join(out, &s->output);
}

/* ---- memory ---- */

/* Where the pane begins, in front of what is looked for; false: that is shown instead. */
static bool choose_address(struct screen *s, uint64_t *ret, struct cps_buf *out)
{
    const struct session *session = session_of(s);
    const struct cps_afuc *afuc = session_afuc(session);
    const char *asked = s->pane[PANE_MEMORY].asked;
    struct cps_event event;
    uint64_t number = cps_debug_place(session->debug).event;
    s->written_known = look_event_before(session, CPS_EV_MEMW, &number, &event);
    s->written = s->written_known ? event.addr : s->written;
    *ret = s->written;
    if (*asked) {
        struct cps_err *err = expr_eval(session, session->core, NULL, asked, ret);
        bool good = !err;
        if (good)
            cps_buf_printf(out, "%s = 0x%" PRIx64 "\n", asked, *ret);
        put_error(err, out);
        return good;
    }
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

void screen_fill_memory_(struct screen *s, struct cps_buf *out)
{
    uint64_t at = 0;
    if (choose_address(s, &at, out))
        look_memory(session_of(s), expr_memory(session_of(s)), at & ~(uint64_t)(ROW - 1),
                    4 * MEMORY_ROWS, out);
}

/* ---- fields, the state at a draw, where a value comes from ---- */

void screen_fill_fields_(struct screen *s, struct cps_buf *out)
{
    const struct session *session = session_of(s);
    const char *asked = s->pane[PANE_FIELDS].asked;
    if (*asked && !look_register(session, session->core, asked, out))
        cps_buf_printf(out, "no register is called \"%s\"\n", asked);
    if (*asked)
        cps_buf_str(out, "\n");
    look_fields(session, session->core, MOST_WRITTEN, out);
}

/* Whether a pane may go the way to here once more, now: while it is short whenever something
 * changed, else only if somebody asks for it, and the pane says how. */
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

void screen_fill_state_(struct screen *s, struct cps_buf *out)
{
    const char *asked = s->pane[PANE_STATE].asked;
    char *rest = NULL;
    long draw = strtol(asked, &rest, 0);
    cps_buf_str(out, s->all ? "a: only what changed\n" : "a: all\n");
    if (*asked && (*rest || draw < 0))
        cps_buf_printf(out, "\"%s\" is no number of a draw of a capture\n", asked);
    else if (*asked)
        put_error(look_state_draw(session_of(s), draw, s->all, out), out);
    else if (is_short(s, out))
        put_error(look_state_here(session_of(s), s->all, out), out);
}

/* Without a question that of the newest write of a GPU register, as far as events are kept. */
void screen_fill_why_(struct screen *s, struct cps_buf *out)
{
    struct session *session = session_of(s);
    const char *asked = s->pane[PANE_WHY].asked;
    char text[32] = "";
    struct cps_event event;
    uint64_t number = cps_debug_place(session->debug).event;
    if (!*asked && !look_event_before(session, CPS_EV_REG, &number, &event)) {
        cps_buf_str(out, "no register was written yet; e asks for a value\n");
        return;
    }
    snprintf(text, sizeof(text), "event:%" PRIu64, number);
    if (is_short(s, out))
        put_error(session_why(session, session->core, *asked ? asked : text, false, out), out);
}

/* ---- Enter ---- */

void screen_enter_nothing_(struct screen *s, const char *line)
{
    (void)s;
    (void)line;
}

/* What goes a long way goes it now: the pane says so, on whichever line. */
void screen_enter_asking_(struct screen *s, const char *line)
{
    (void)line;
    if (!strstr(cps_buf_text(&s->pane[s->focus].text), "Enter goes that way")) {
        screen_ask_(s, s->focus);
        return;
    }
    s->long_way = cps_debug_place(session_of(s)->debug).step;
    s->changes++;
}

void screen_enter_code_(struct screen *s, const char *line)
{
    char command[48];
    (void)line;
    if (s->cursor == cps_engine_where(session_engine(session_of(s)), session_of(s)->core).pc)
        return;
    snprintf(command, sizeof(command), "tbreak *0x%" PRIx32, s->cursor);
    screen_command_(s, command, true);
    screen_command_(s, "continue", true);
}

void screen_enter_events_(struct screen *s, const char *line)
{
    char command[48];
    char *end = NULL;
    uint64_t number = strtoull(line, &end, 10);
    snprintf(command, sizeof(command), "event %" PRIu64, number);
    if (end != line)
        screen_command_(s, command, true);
}

void screen_choose_core_(struct screen *s, unsigned core)
{
    session_of(s)->core = core;
    s->debugger->moved = false;
    screen_follow_(s);
}

/* "=> bv    0104 CP_NOP": a processor; "#1  0104 CP_NOP": a place in its code. */
void screen_enter_calls_(struct screen *s, const char *line)
{
    const char *name = line + strspn(line, "=> ");
    char *end = NULL;
    for (unsigned i = 0; i < session_engine(session_of(s))->cores; i++) {
        const char *core = session_core_name(session_of(s), i);
        if (strncmp(name, core, strlen(core)) != 0 || name[strlen(core)] != ' ')
            continue;
        screen_choose_core_(s, i);
        return;
    }
    const char *place = *line == '#' ? strchr(line, ' ') : NULL;
    uint32_t pc = place ? (uint32_t)strtoul(place, &end, 16) : 0;
    if (!place || end == place)
        return;
    s->cursor = pc;
    screen_choose_(s, PANE_CODE);
}
