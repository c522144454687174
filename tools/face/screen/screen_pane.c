/* SPDX-License-Identifier: MIT
 * Panes of the full-screen view: their texts, stored until something changes. */
#include <curses.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/face/screen/screen_private.h"

#define EVENTS       200      /* that are shown until the user looks further back */
#define MEMORY_ROWS  64       /* of four dwords */
#define MOST_WORDS   512      /* of a packet */
#define ROW          16       /* bytes */
#define CELL         14       /* columns of a register */
#define FITS_WIDTH   56       /* columns of registers at least */
#define WIDER        12       /* columns */
#define TAB          8        /* columns */
#define SHORT_WAY    1000000u /* steps: some tenths of a second */
#define MOST_WRITTEN 24       /* registers */

const struct pane_row screen_panes_[PANES] = {
#define PANE(id, key, title, flags, offered, fill, enter, asks, help) \
    {key, title, flags, screen_has_##offered##_, screen_fill_##fill##_, asks, help},
#include "tools/face/screen/screen_pane.def"
};

enum pane_id screen_pane_of_(const struct screen *s, int key)
{
    unsigned i = 0;
    while (i < PANES && (screen_panes_[i].key != key || !screen_panes_[i].offered(session_of(s))))
        i++;
    return (enum pane_id)i;
}

/* ---- texts ---- */

void screen_plain_(struct cps_buf *out, const char *text)
{
    size_t start = out->size;
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '\t')
            cps_buf_pad(out, start, (out->size - start) / TAB * TAB + TAB);
        else if (c == '\n' || (c >= ' ' && c < 127))
            cps_buf_add(out, text, 1);
        else
            cps_buf_printf(out, "\\x%02x", c);
        if (c == '\n')
            start = out->size;
    }
}

/* How much of a line fits: to its end, else to its last blank, unless that is far from there. */
static size_t fitting_length(const char *line, size_t length, size_t width)
{
    size_t cut = width;
    if (length <= width)
        return length;
    while (cut > width / 4 && line[cut] != ' ')
        cut--;
    return cut > width / 4 ? cut : width;
}

void screen_wrap_(struct cps_buf *out, const char *text, int columns, size_t indent)
{
    size_t width = columns > 1 ? (size_t)columns : 1;
    for (; *text; text += *text == '\n') {
        size_t length = strcspn(text, "\n");
        size_t inner = indent + strspn(text, " ");
        size_t hang = 0;
        if (!length)
            cps_buf_str(out, "\n");
        while (length) {
            size_t fits = fitting_length(text, length, width - hang);
            cps_buf_printf(out, "%*s%.*s\n", (int)hang, "", (int)fits, text);
            while (fits < length && text[fits] == ' ')
                fits++;
            text += fits;
            length -= fits;
            hang = inner < width / 2 ? inner : width / 2;
        }
    }
}

/* Whether the text is another one. */
static bool fill_pane(struct screen *s, enum pane_id pane, int width)
{
    const struct pane_row *row = &screen_panes_[pane];
    struct pane *p = &s->pane[pane];
    CPS_BUF text = {0};
    if (p->filled == s->changes && (!(row->flags & PANE_FITS) || p->raw_width == width))
        return false;
    p->raw_width = width;
    row->fill(s, &text);
    cps_buf_clear(&p->raw);
    screen_plain_(&p->raw, tool_text(&text));
    p->filled = s->changes;
    return true;
}

void screen_make_(struct screen *s, enum pane_id pane, int width)
{
    struct pane *p = &s->pane[pane];
    if (!fill_pane(s, pane, width) && p->width == width)
        return;
    cps_buf_clear(&p->text);
    if (screen_panes_[pane].flags & PANE_WRAPS)
        screen_wrap_(&p->text, cps_buf_text(&p->raw), width, 4);
    else
        cps_buf_join(&p->text, &p->raw);
    if (p->text.size && p->text.data[p->text.size - 1] != '\n')
        cps_buf_str(&p->text, "\n");
    p->width = width;
    p->lines = 0;
    for (size_t at = 0; at < p->text.size; at++) {
        TOOL_ROOM(p->start, p->lines);
        p->start[p->lines++] = (uint32_t)at;
        at += strcspn(p->text.data + at, "\n");
        p->text.data[at] = '\0';
    }
}

const char *screen_line_of_(const struct pane *p, int line)
{
    return line >= 0 && line < (int)p->lines ? p->text.data + p->start[line] : "";
}

void screen_request_width_(struct screen *s, enum pane_id pane)
{
    struct pane *p = &s->pane[pane];
    int lines = pane != PANE_CODE ? INT32_MAX
                : p->height       ? p->height
                                  : LINES / 2; /* that are seen */
    int wish = 0;
    if (screen_panes_[pane].flags & PANE_FITS) {
        /* One at which it takes no more than a third of the lines. */
        for (wish = FITS_WIDTH; wish < COLS / 2; wish += WIDER) {
            int high = 0;
            fill_pane(s, pane, wish);
            for (const char *at = cps_buf_text(&p->raw); *at; at++)
                high += *at == '\n';
            if (high <= LINES / 3)
                break;
        }
        p->width = 0; /* the shown text is another one */
    } else {
        if (fill_pane(s, pane, SCREEN_MIN_WIDTH))
            p->width = 0;
        for (const char *at = cps_buf_text(&p->raw); *at && lines--;) {
            int length = (int)strcspn(at, "\n");
            wish = length > wish ? length : wish;
            at += length + (at[length] == '\n');
        }
    }
    p->wish_width = wish > p->wish_width ? wish : p->wish_width;
}

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

bool screen_has_code_(const struct session *session)
{
    return cps_isa_has_code(session_engine(session)->ops->isa);
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

bool screen_shows_code_(const char *line, uint32_t pc)
{
    char mark[16];
    snprintf(mark, sizeof(mark), " %04" PRIx32 " ", pc);
    return strcspn(line, "\n") > 8 && !strncmp(line + 3, mark, strlen(mark));
}

/* Whether a view of @p rows from @p base on has the cursor. */
static bool is_seen(const struct screen *s, uint32_t base, int rows)
{
    CPS_BUF text = {0};
    look_code(session_of(s), session_of(s)->core, base, 0, (unsigned)rows, &text);
    for (const char *at = tool_text(&text); *at && rows--; at += strcspn(at, "\n") + 1) {
        if (screen_shows_code_(at, s->cursor))
            return true;
    }
    return false;
}

/* A line further, if that is enough; else the cursor gets what led to it, and what follows. */
void screen_settle_(struct screen *s, int rows)
{
    const struct session *session = session_of(s);
    uint32_t before = s->base;
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

static uint32_t pc_of(const struct screen *s)
{
    return cps_engine_where(session_engine(session_of(s)), session_of(s)->core).pc;
}

void screen_follow_(struct screen *s)
{
    s->cursor = pc_of(s);
    for (unsigned i = 0; i < PANES; i++) {
        if (screen_panes_[i].flags & (PANE_ENDS | PANE_MARKS))
            s->pane[i].cursor = -1;
    }
    s->events = 0;
    s->changes++;
}

void screen_choose_(struct screen *s, enum pane_id pane)
{
    if (pane == PANES)
        return;
    s->unasked = false;
    if (pane != s->focus)
        s->back = s->focus;
    s->focus = pane;
    s->pane[pane].recent = ++s->chosen;
}

void screen_choose_core_(struct screen *s, unsigned core)
{
    session_of(s)->core = core;
    s->debugger->moved = false;
    screen_follow_(s);
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

/* Of several processors each with its place; the packet has a pane of its own. */
void screen_fill_calls_(struct screen *s, struct cps_buf *out)
{
    const struct session *session = session_of(s);
    CPS_BUF text = {0};
    unsigned cores = session_engine(session)->cores;
    for (unsigned i = 0; cores > 1 && i < cores; i++) {
        struct cps_where where = cps_engine_where(session_engine(session), i);
        cps_buf_printf(out, "%s %-6s ", i == session->core ? "=>" : "  ",
                       session_core_name(session, i));
        if (where.started)
            look_pc(session, i, where.pc, out);
        else
            cps_buf_str(out, "is not started");
        cps_buf_str(out, "\n");
    }
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

/* At the address that was asked for; else around the last write, or at the packet. */
void screen_fill_memory_(struct screen *s, struct cps_buf *out)
{
    const struct session *session = session_of(s);
    const struct cps_afuc *afuc = session_afuc(session);
    const char *asked = s->pane[PANE_MEMORY].asked;
    struct cps_event event;
    uint64_t number = cps_debug_location(session->debug).event;
    struct cps_err *err = NULL;
    s->written_known = session_event_before(session, CPS_EV_MEMW, &number, &event);
    s->written = s->written_known ? event.addr : s->written;
    uint64_t at = s->written;
    if (*asked) {
        err = expr_eval(session, session->core, NULL, asked, &at);
        if (!err)
            cps_buf_printf(out, "%s = 0x%" PRIx64 "\n", asked, at);
    } else if (s->written_known) {
        cps_buf_printf(out, "0x%" PRIx64 " was written last; e asks for another address\n", at);
        at = at < 2 * ROW ? 0 : at - 2 * (uint64_t)ROW;
    } else if (afuc && cps_afuc_header_iova(afuc, session->core)) {
        at = cps_afuc_header_iova(afuc, session->core);
        cps_buf_printf(out, "nothing has been written yet; 0x%" PRIx64 " has the packet\n", at);
    } else {
        cps_buf_str(out, "nothing has been written yet; e asks for an address\n");
        return;
    }
    if (!err)
        look_memory(session, expr_memory(session), at & ~(uint64_t)(ROW - 1), 4 * MEMORY_ROWS, out);
    put_error(err, out);
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
 * changed, else only if the user asks for it, and the pane shows how. */
static bool is_short(struct screen *s, struct cps_buf *out)
{
    struct session *session = session_of(s);
    uint64_t step = cps_debug_location(session->debug).step;
    session->spent = 0;
    s->debugger->interrupt = 0;
    if (step < SHORT_WAY || step == s->long_way)
        return true;
    cps_buf_printf(out, "%" PRIu64 " instructions led here: Enter runs them again\n", step);
    return false;
}

void screen_fill_state_(struct screen *s, struct cps_buf *out)
{
    const char *asked = s->pane[PANE_STATE].asked;
    char *rest = NULL;
    long draw = strtol(asked, &rest, 0);
    cps_buf_str(out, s->all ? "a: only what changed\n" : "a: all\n");
    if (*asked && (*rest || draw < 0))
        cps_buf_printf(out, "\"%s\" is not the number of a draw\n", asked);
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
    uint64_t number = cps_debug_location(session->debug).event;
    if (!*asked && !session_event_before(session, CPS_EV_REG, &number, &event)) {
        cps_buf_str(out, "no register was written yet; e asks for a value\n");
        return;
    }
    snprintf(text, sizeof(text), "event:%" PRIu64, number);
    if (is_short(s, out))
        put_error(session_why(session, session->core, *asked ? asked : text, false, out), out);
}

/* ---- Enter ---- */
