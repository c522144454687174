/* SPDX-License-Identifier: MIT
 * The picture of the full-screen view: where panes are, then everything redrawn each time; curses
 * sends what changed. Colours where the terminal has some and the user wants them, else bold and
 * reversed letters, as far as it has those. */
#define _GNU_SOURCE /* strcasestr() */
#include <curses.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/face/screen/screen_private.h"

/* ---- layout: columns as wide, and slots as high, as their panes need, where there is room ---- */

#define COLUMNS     3
#define MIN_LINES   4 /* of a slot, with its title */
#define MOST_BELOW  14
#define MIN_COLUMNS 48 /* of text that wraps */

/* The first that is not larger than the terminal. Of each slot its column (9: below all), then the
 * keys of the panes that share it. */
static const struct {
    int width, height;
    const char *slots;
} layouts[] = {
    {160, 32, "01 12 13 14 160 258 29 97"},
    {100, 34, "01 12 143 156890 97"},
    {100, 20, "01 12 14356890 97"},
    {0, 0, "01234567890"},
};

static void add_slot(struct screen *s, int column, const char *keys, size_t count)
{
    struct slot *slot = &s->slot[s->slots];
    *slot = (struct slot){.column = column};
    while (count--) {
        enum pane_id pane = screen_pane_of_(s, *keys++);
        if (pane == PANES)
            continue;
        if (!slot->panes || s->pane[pane].recent > s->pane[slot->shown].recent)
            slot->shown = pane;
        slot->pane[slot->panes++] = pane;
    }
    s->slots += slot->panes > 0;
}

/* What a column or a slot needs, would like to have, and gets. */
struct share {
    int need, wish, size;
};

/* Shares @p total among wishes: who wishes less than an equal share gets it, the others share what
 * is left; what is over is the last one's. */
static void share_room(const int *wish, unsigned count, int total, int *ret)
{
    bool done[SCREEN_SLOTS] = {false};
    int open = (int)count;
    for (bool again = open > 0; again;) {
        int each = total / open;
        again = false;
        for (unsigned i = 0; i < count; i++) {
            if (done[i] || wish[i] > each)
                continue;
            ret[i] = wish[i];
            total -= wish[i];
            done[i] = true;
            again = --open > 0;
        }
    }
    for (unsigned i = 0; i < count; i++) {
        if (done[i])
            continue;
        ret[i] = total / open--;
        total -= ret[i];
    }
    if (count)
        ret[count - 1] += total;
}

/* Each gets what it needs, if all can; what is left goes to those that wish more. */
static void share_needs(struct share *shares, unsigned count, int total)
{
    int need[SCREEN_SLOTS] = {0};
    int more[SCREEN_SLOTS] = {0};
    int got[SCREEN_SLOTS] = {0};
    int left = total;
    for (unsigned i = 0; i < count; i++) {
        need[i] = shares[i].need;
        left -= need[i];
        more[i] = shares[i].wish > need[i] ? shares[i].wish - need[i] : 0;
    }
    share_room(left < 0 ? need : more, count, left < 0 ? total : left, got);
    for (unsigned i = 0; i < count; i++)
        shares[i].size = got[i] + (left < 0 ? 0 : need[i]);
}

/* What a pane cannot do without: lines that wrap can be of any length. */
static int needed_width(const struct screen *s, enum pane_id pane)
{
    unsigned flags = screen_panes_[pane].flags;
    int wish = s->pane[pane].wish_width;
    return flags & PANE_WRAPS ? MIN_COLUMNS : flags & PANE_FITS ? wish * 7 / 8 : wish;
}

/* Columns side by side, a line between them: those that have panes at all. */
static void place_across(struct screen *s)
{
    struct share shares[COLUMNS] = {{0}};
    unsigned index[COLUMNS] = {0}; /* of a column among those */
    unsigned columns = 0;
    for (int c = 0; c < COLUMNS; c++) {
        struct share *share = &shares[columns];
        for (unsigned i = 0; i < s->slots; i++) {
            if (s->slot[i].column != c)
                continue;
            int wish = s->pane[s->slot[i].shown].wish_width + 1;
            int need = needed_width(s, s->slot[i].shown) + 1;
            share->wish = wish > share->wish ? wish : share->wish;
            share->need = need > share->need ? need : share->need;
        }
        index[c] = columns;
        columns += share->wish > 0;
    }
    share_needs(shares, columns, COLS);
    for (unsigned i = 0; i < s->slots; i++) {
        struct slot *slot = &s->slot[i];
        slot->x = 0;
        slot->width = COLS;
        if (slot->column == SCREEN_BELOW)
            continue;
        unsigned own = index[slot->column];
        slot->width = shares[own].size - (own + 1 < columns);
        while (own)
            slot->x += shares[--own].size;
    }
}

static int wished_lines(struct screen *s, const struct slot *slot)
{
    struct pane *p = &s->pane[slot->shown];
    screen_make_(s, slot->shown, slot->width);
    int lines = (int)p->lines;
    if (!(screen_panes_[slot->shown].flags & PANE_FITS)) /* which gets less lines with its width */
        lines = lines > p->wish_lines ? lines : p->wish_lines;
    p->wish_lines = lines;
    return lines + 1 < MIN_LINES ? MIN_LINES : lines + 1;
}

static void place_down(struct screen *s, int column, int y, int height)
{
    struct share shares[SCREEN_SLOTS] = {{0}};
    unsigned count = 0;
    for (unsigned i = 0; i < s->slots; i++) {
        if (s->slot[i].column != column)
            continue;
        bool whole = screen_panes_[s->slot[i].shown].flags & PANE_FITS;
        int wish = wished_lines(s, &s->slot[i]);
        shares[count++] = (struct share){whole ? wish : MIN_LINES, wish, 0};
    }
    share_needs(shares, count, height);
    count = 0;
    for (unsigned i = 0; i < s->slots; i++) {
        if (s->slot[i].column != column)
            continue;
        s->slot[i].y = y;
        s->slot[i].height = shares[count++].size;
        y += s->slot[i].height;
    }
}

/* Lines below all columns: a quarter, or what no column needs. */
static int lines_below(struct screen *s, int rows)
{
    int wish[SCREEN_BELOW + 1] = {0};
    int most = rows / 4 < MOST_BELOW ? rows / 4 : MOST_BELOW;
    int above = 0;
    for (unsigned i = 0; i < s->slots; i++)
        wish[s->slot[i].column] += wished_lines(s, &s->slot[i]);
    for (int column = 0; column < COLUMNS; column++)
        above = wish[column] > above ? wish[column] : above;
    int below = wish[SCREEN_BELOW];
    int spare = rows - above < below ? rows - above : below;
    return !below ? 0 : spare > most ? spare : most;
}

/* Places all panes in the terminal as it is. */
static void lay_out(struct screen *s)
{
    int rows = LINES - 2; /* the status and the command line */
    unsigned i = 0;
    while (layouts[i].width > (s->zoom ? 0 : COLS) || layouts[i].height > LINES)
        i++;
    s->slots = 0;
    for (const char *at = layouts[i].slots; *at; at += *at == ' ') {
        size_t length = strcspn(at, " ");
        add_slot(s, *at - '0', at + 1, length - 1);
        at += length;
    }
    for (i = 0; i < s->slots; i++)
        screen_request_width_(s, s->slot[i].shown);
    place_across(s);
    int below = lines_below(s, rows);
    for (int column = 0; column < COLUMNS; column++)
        place_down(s, column, 1, rows - below);
    place_down(s, SCREEN_BELOW, 1 + rows - below, below);
    if (!screen_slot_of_(s, s->focus))
        s->focus = s->slot[0].shown;
}

void screen_new_layout_(struct screen *s)
{
    for (unsigned i = 0; i < PANES; i++)
        s->pane[i].wish_width = s->pane[i].wish_lines = 0;
}

const struct slot *screen_slot_of_(const struct screen *s, enum pane_id pane)
{
    for (unsigned i = 0; i < s->slots; i++) {
        if (s->slot[i].shown == pane)
            return &s->slot[i];
    }
    return NULL;
}

/* ---- paint ---- */

/* Bright black, where there are sixteen colours; else the terminal's own. */
#define GREY 8

/* What parts of the picture look like. */
enum paint {
    PAINT_PLAIN,
    PAINT_TITLE,
    PAINT_FOCUS, /* title of the pane that has the keys */
    PAINT_HEAD,
    PAINT_NAME,
    PAINT_CHANGE,
    PAINT_FAINT,
    PAINT_NOW,   /* runs next */
    PAINT_POINT, /* breakpoint */
    PAINT_CURSOR,
    PAINT_MATCH,
    PAINTS
};

static const struct {
    attr_t plain;         /* without colours */
    short colour, ground; /* -1: the terminal's own */
    attr_t attr;
} paints[PAINTS] = {
    [PAINT_PLAIN] = {0, -1, -1, 0},
    [PAINT_TITLE] = {A_REVERSE, COLOR_WHITE, COLOR_BLUE, 0},
    [PAINT_FOCUS] = {A_REVERSE | A_BOLD, COLOR_BLACK, COLOR_CYAN, 0},
    [PAINT_HEAD] = {A_BOLD, -1, -1, A_BOLD},
    [PAINT_NAME] = {0, COLOR_CYAN, -1, 0},
    [PAINT_CHANGE] = {A_BOLD, COLOR_YELLOW, -1, A_BOLD},
    [PAINT_FAINT] = {0, GREY, -1, 0},
    [PAINT_NOW] = {A_BOLD, COLOR_GREEN, -1, A_BOLD},
    [PAINT_POINT] = {A_BOLD, COLOR_RED, -1, A_BOLD},
    [PAINT_CURSOR] = {A_REVERSE, -1, -1, A_REVERSE},
    [PAINT_MATCH] = {A_UNDERLINE | A_BOLD, COLOR_BLACK, COLOR_YELLOW, 0},
};

/* The second group of an expression, wherever it matches in lines of the panes of these keys; later
 * rows win. */
static const struct {
    const char *keys, *pattern;
    enum paint paint;
} rules[] = {
    {"3457890", "(^|[ (=])([A-Z][][A-Z0-9_.]{2,})", PAINT_NAME},
    {"13590", "^()([^ ].*:|:)$", PAINT_HEAD},
    {"1", "^(....)([0-9a-f]+ [^ ]*)", PAINT_FAINT}, /* "    00fd c6430059  breq" */
    {"13590", "^()(=>.*)", PAINT_NOW},
    {"1", "^()(->)", PAINT_NOW},
    {"1", "^(..)([*])", PAINT_POINT},
    {"2", "()([*][^ ]* *.{8})", PAINT_CHANGE}, /* "*$02 00000001" */
    {"4", "^()( \\. .{12})", PAINT_FAINT},     /* " .  0  00000001" */
    {"4", "^()(=>.{13})", PAINT_NOW},
    {"6", "^()([0-9a-f]{16}:)", PAINT_FAINT},
    {"7", "^()( *[0-9]+)", PAINT_FAINT},
    {"8", "^()([A-Z0-9_?]+)$", PAINT_HEAD},
    {"8", "^()([*+]) 0x", PAINT_CHANGE},
};
#define RULES (sizeof(rules) / sizeof(rules[0]))

static regex_t compiled[RULES];

void screen_paint_start_(struct screen *s)
{
    const char *none = getenv("NO_COLOR");
    for (size_t i = 0; i < RULES; i++)
        tool_need(regcomp(&compiled[i], rules[i].pattern, REG_EXTENDED) == 0);
    s->colours = !(none && *none) && has_colors() && start_color() == OK;
    if (!s->colours)
        return;
    bool own = use_default_colors() == OK;
    for (short i = 1; i < PAINTS; i++) {
        short colour = paints[i].colour < COLORS ? paints[i].colour : -1;
        init_pair(i, colour < 0 && !own ? COLOR_WHITE : colour,
                  paints[i].ground < 0 && !own ? COLOR_BLACK : paints[i].ground);
    }
}

void screen_paint_end_(void)
{
    for (size_t i = 0; i < RULES; i++)
        regfree(&compiled[i]);
}

/* Changes how @p count columns look. */
static void paint_columns(const struct screen *s, int y, int x, int count, enum paint paint)
{
    if (count > 0 && y >= 0 && y < LINES && x >= 0 && x < COLS)
        mvchgat(y, x, count < COLS - x ? count : COLS - x,
                s->colours ? paints[paint].attr : paints[paint].plain,
                s->colours ? (short)paint : 0, NULL);
}

/* A line of which columns from @p left on are seen at @p x. */
struct view {
    const struct screen *s;
    int y, x, width, left;
    const char *text;
};

static void paint_part(const struct view *v, size_t from, size_t count, enum paint paint)
{
    int begin = (int)from - v->left;
    int end = begin + (int)count;
    begin = begin < 0 ? 0 : begin;
    end = end > v->width ? v->width : end;
    paint_columns(v->s, v->y, v->x + begin, end - begin, paint);
}

static void paint_line(const struct view *v, enum pane_id pane)
{
    for (size_t i = 0; i < RULES; i++) {
        regmatch_t group[3] = {{0}};
        const char *at = strchr(rules[i].keys, screen_panes_[pane].key) ? v->text : "";
        for (; *at && !regexec(&compiled[i], at, 3, group, at > v->text ? REG_NOTBOL : 0);
             at += group[0].rm_eo)
            paint_part(v, (size_t)(at - v->text + group[2].rm_so),
                       (size_t)(group[2].rm_eo - group[2].rm_so), rules[i].paint);
    }
    if (pane == PANE_CODE && screen_shows_code_(v->text, v->s->cursor))
        paint_part(v, 4, strspn(v->text + 4, "0123456789abcdef"), PAINT_CURSOR);
    /* "0000000000100060: 70438009 ...": four dwords after 18 columns. */
    uint64_t at = pane == PANE_MEMORY ? strtoull(v->text, NULL, 16) : 0;
    if (pane == PANE_MEMORY && v->s->written_known && strlen(v->text) >= 18 && v->text[16] == ':' &&
        v->s->written - at < 16)
        paint_part(v, 18 + 9 * ((size_t)(v->s->written - at) / 4), 8, PAINT_CHANGE);
}

/* ---- titles ---- */

/* The text of a slot's title, and where its tabs begin. As there is room: "[1 code]  2 regs ",
 * "[1 code]2 regs 3 calls" (a bracket is the blank between), "[1 code] 2 3". */
static void put_title(const struct slot *slot, struct cps_buf *out, int begin[PANES])
{
    enum { WIDE, CLOSE, KEYS, MODES };
    for (int mode = WIDE; mode < MODES; mode++) {
        cps_buf_clear(out);
        for (unsigned i = 0; i < slot->panes; i++) {
            const struct pane_row *row = &screen_panes_[slot->pane[i]];
            bool close = mode == CLOSE && i;
            bool bracket = close && out->data[out->size - 1] == ']';
            char text[64];
            begin[i] = slot->x + (int)out->size - close;
            out->size -= close && !bracket;
            snprintf(text, sizeof(text),
                     slot->panes == 1               ? " %c %s "
                     : slot->pane[i] == slot->shown ? "[%c %s]"
                     : mode == KEYS                 ? " %c"
                                                    : " %c %s ",
                     row->key, row->title);
            cps_buf_str(out, text + bracket);
        }
        if ((int)out->size <= slot->width)
            return;
    }
}

enum pane_id screen_tab_at_(const struct slot *slot, int x)
{
    CPS_BUF text = {0};
    int begin[PANES];
    unsigned i = slot->panes;
    put_title(slot, &text, begin);
    while (i && x < begin[i - 1])
        i--;
    return i && x < slot->x + (int)text.size ? slot->pane[i - 1] : PANES;
}

/* ---- panes ---- */

static int clamp_value(int value, int least, int most)
{
    return value > most ? (most < least ? least : most) : value < least ? least : value;
}

/* The first line that is seen: one that lets the cursor be seen, if there is one. */
static void settle_view(struct screen *s, enum pane_id pane, int rows)
{
    struct pane *p = &s->pane[pane];
    int last = (int)p->lines - rows;
    if (p->cursor >= (int)p->lines)
        p->cursor = (int)p->lines - 1;
    if (screen_panes_[pane].flags & PANE_ENDS && p->cursor < 0)
        p->top = last;
    bool marks = screen_panes_[pane].flags & PANE_MARKS && p->cursor < 0;
    int seen = marks ? -1 : p->cursor;
    for (int i = 0; marks && seen < 0 && i < (int)p->lines; i++) {
        if (!strncmp(screen_line_of_(p, i), "=>", 2))
            seen = i;
    }
    if (marks && seen < rows)
        p->top = 0;
    else if (marks && (seen < p->top || seen >= p->top + rows))
        p->top = seen - rows / 3;
    if (seen >= 0 && seen < p->top)
        p->top = seen;
    if (seen >= 0 && seen >= p->top + rows)
        p->top = seen - rows + 1;
    p->top = pane == PANE_CODE ? 0 : clamp_value(p->top, 0, last);
    p->height = rows;
}

static void draw_line(const struct screen *s, const struct slot *slot, int row)
{
    enum pane_id pane = slot->shown;
    const struct pane *p = &s->pane[pane];
    int line = p->top + row;
    const char *text = screen_line_of_(p, line);
    struct view view = {s, slot->y + 1 + row, slot->x, slot->width, p->left, text};
    int length = (int)strlen(text);
    int left = p->left < length ? p->left : length;
    bool more = length - left > slot->width;
    view.width -= more;
    mvaddnstr(view.y, view.x, text + left, more ? view.width : length - left);
    paint_line(&view, pane);
    if (more)
        mvaddch(view.y, slot->x + slot->width - 1, '>');
    if (left && length)
        mvaddch(view.y, slot->x, '<');
    if (pane == s->focus && pane != PANE_CODE && line == p->cursor)
        paint_columns(s, view.y, slot->x, slot->width, PAINT_CURSOR);
    const char *found =
        s->found && pane == s->focus && *s->search ? strcasestr(text, s->search) : NULL;
    if (found)
        paint_part(&view, (size_t)(found - text), strlen(s->search), PAINT_MATCH);
}

static void draw_pane(struct screen *s, const struct slot *slot)
{
    CPS_BUF title = {0};
    int begin[PANES];
    int rows = slot->height - 1;
    int right = slot->x + slot->width;
    if (rows < 1 || slot->width < 2)
        return;
    if (slot->shown == PANE_CODE)
        screen_settle_(s, rows);
    screen_make_(s, slot->shown, slot->width);
    settle_view(s, slot->shown, rows);
    put_title(slot, &title, begin);
    mvaddnstr(slot->y, slot->x, tool_text(&title), slot->width);
    paint_columns(s, slot->y, slot->x, slot->width,
                  slot->shown == s->focus ? PAINT_FOCUS : PAINT_TITLE);
    for (int i = 0; i < rows && s->pane[slot->shown].top + i < (int)s->pane[slot->shown].lines; i++)
        draw_line(s, slot, i);
    for (int i = 0; i < slot->height && right < COLS; i++) {
        mvaddch(slot->y + i, right, '|');
        paint_columns(s, slot->y + i, right, 1, PAINT_FAINT);
    }
}

/* ---- the first line, and the last ---- */

static void draw_status(const struct screen *s)
{
    CPS_BUF text = {0};
    CPS_BUF shown = {0};
    look_where(session_of(s), session_of(s)->core, &text);
    for (size_t i = 0; i < text.size; i++)
        text.data[i] = text.data[i] == '\n' ? ' ' : text.data[i];
    screen_plain_(&shown, cps_buf_text(&text));
    mvaddnstr(0, 0, cps_buf_text(&shown), COLS);
    paint_columns(s, 0, 0, COLS, PAINT_HEAD);
}

/* Of a text that is longer than its place its end is seen. */
static void draw_entered(const struct screen *s)
{
    const char *prompt = s->entering == ENTERING_COMMAND  ? ":"
                         : s->entering == ENTERING_SEARCH ? "/"
                                                          : screen_panes_[s->asking].asks;
    int start = (int)strlen(prompt) + (s->entering == ENTERING_ASKED ? 2 : 0);
    int length = (int)strlen(s->line.text);
    if (start > COLS / 2)
        start = 0;
    else
        mvprintw(LINES - 1, 0, s->entering == ENTERING_ASKED ? "%s: " : "%s", prompt);
    int room = COLS - 1 - start;
    int from = length > room ? length - room : 0;
    mvaddnstr(LINES - 1, start, s->line.text + from, room);
}

static void draw_bottom(const struct screen *s)
{
    static const char hints[] = "? help   : command   / search   Tab pane   q prompt";
    CPS_BUF text = {0};
    screen_plain_(&text, cps_buf_text(&s->message));
    mvaddnstr(LINES - 1, 0, text.size ? cps_buf_text(&text) : hints, COLS - 1);
    if (text.size)
        paint_columns(s, LINES - 1, 0, COLS, PAINT_CHANGE);
    if (text.size >= (size_t)COLS)
        mvaddch(LINES - 1, COLS - 2, '>');
    int left = COLS - 1 - (int)text.size - 2;
    if (text.size && left >= (int)sizeof(hints))
        mvaddstr(LINES - 1, COLS - (int)sizeof(hints), hints);
}

/* The lines of a text from @p first on, from row @p y to row @p last. @param heads  those that
 * begin with no blank are headings @return how many it has */
static int draw_text(const struct screen *s, const char *text, int first, int y, int last,
                     bool heads)
{
    int line = 0;
    for (; *text; line++) {
        size_t length = strcspn(text, "\n");
        int row = y + line - first;
        if (row >= y && row <= last)
            mvaddnstr(row, 0, text, (int)length);
        if (row >= y && row <= last && heads && *text != ' ')
            paint_columns(s, row, 0, (int)length, PAINT_HEAD);
        text += length + (text[length] == '\n');
    }
    return line;
}

static void draw_help(struct screen *s)
{
    CPS_BUF text = {0};
    int rows = LINES - 2;
    screen_help_text_(s, &text);
    int count = draw_text(s, tool_text(&text), 0, 0, -1, true);
    s->help_top = clamp_value(s->help_top, 0, count - rows);
    mvaddnstr(0, 0, " help: Up, Down, PgUp, PgDn; Escape returns", COLS);
    paint_columns(s, 0, 0, COLS, PAINT_FOCUS);
    draw_text(s, cps_buf_text(&text), s->help_top, 1, rows, true);
    if (s->help_top + rows < count)
        mvprintw(LINES - 1, 0, "%d more lines", count - s->help_top - rows);
}

static void draw_too_small(const struct screen *s)
{
    char text[80];
    CPS_BUF lines = {0};
    snprintf(text, sizeof(text), "too small: %dx%d, needs %dx%d", COLS, LINES, SCREEN_MIN_WIDTH,
             SCREEN_MIN_HEIGHT);
    screen_wrap_(&lines, text, COLS, 0);
    draw_text(s, cps_buf_text(&lines), 0, 0, LINES - 1, false);
}

void screen_draw_(struct screen *s)
{
    erase();
    if (COLS < SCREEN_MIN_WIDTH || LINES < SCREEN_MIN_HEIGHT) {
        draw_too_small(s);
    } else if (s->help) {
        draw_help(s);
    } else {
        lay_out(s);
        draw_status(s);
        for (unsigned i = 0; i < s->slots; i++)
            draw_pane(s, &s->slot[i]);
        if (s->entering)
            draw_entered(s);
        else
            draw_bottom(s);
    }
    curs_set(s->entering != ENTERING_NOTHING);
    refresh();
}
