/* SPDX-License-Identifier: MIT
 * Panes of the full-screen view: their texts, kept until something changes. */
#include <curses.h>
#include <stdlib.h>
#include <string.h>

#include "tools/face/screen/screen_private.h"

#define TAB   8
#define WIDER 12 /* columns */

const struct pane_row screen_panes_[PANES] = {
#define PANE(id, key, title, flags, wish, offered, fill, enter, asks, help) \
    {key,                                                                   \
     title,                                                                 \
     flags,                                                                 \
     wish,                                                                  \
     screen_has_##offered##_,                                               \
     screen_fill_##fill##_,                                                 \
     screen_enter_##enter##_,                                               \
     asks,                                                                  \
     help},
#include "tools/face/screen/screen_pane.def"
};

bool screen_offers_(const struct screen *s, enum pane_id pane)
{
    return screen_panes_[pane].offered(session_of(s));
}

enum pane_id screen_pane_of_(const struct screen *s, int key)
{
    for (unsigned i = 0; i < PANES; i++) {
        if (screen_panes_[i].key == key && screen_offers_(s, (enum pane_id)i))
            return (enum pane_id)i;
    }
    return PANES;
}

void screen_plain_(struct cps_buf *out, const char *text)
{
    size_t start = out->size;
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '\n') {
            cps_buf_str(out, "\n");
            start = out->size;
        } else if (c == '\t') {
            cps_buf_pad(out, start, (out->size - start) / TAB * TAB + TAB);
        } else if (c >= ' ' && c < 127) {
            cps_buf_add(out, text, 1);
        } else {
            cps_buf_printf(out, "\\x%02x", c);
        }
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

static void wrap_line(struct cps_buf *out, const char *line, size_t length, size_t width,
                      size_t indent)
{
    indent += strspn(line, " ");
    size_t hang = 0;
    indent = indent < width / 2 ? indent : width / 2;
    while (length) {
        size_t fits = fitting_length(line, length, width - hang);
        cps_buf_printf(out, "%*s", (int)hang, "");
        cps_buf_add(out, line, fits);
        cps_buf_str(out, "\n");
        while (fits < length && line[fits] == ' ')
            fits++;
        line += fits;
        length -= fits;
        hang = indent;
    }
}

void screen_wrap_(struct cps_buf *out, const char *text, int width, size_t indent)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        if (!length)
            cps_buf_str(out, "\n");
        wrap_line(out, text, length, width > 1 ? (size_t)width : 1, indent);
        text += length + (text[length] == '\n');
    }
}

/* Where lines begin; one that has no end gets one. */
static void index_lines(struct pane *p)
{
    p->lines = 0;
    if (p->text.size && p->text.data[p->text.size - 1] != '\n')
        cps_buf_str(&p->text, "\n");
    const char *text = cps_buf_text(&p->text);
    for (size_t at = 0; at <= p->text.size; at += strcspn(text + at, "\n") + 1) {
        if (p->lines + 1 >= p->room) {
            uint32_t room = p->room ? 2 * p->room : 64;
            p->start = tool_realloc(p->start, room * sizeof(*p->start));
            p->room = room;
        }
        p->start[p->lines] = (uint32_t)at;
        p->lines += at < p->text.size;
        if (at == p->text.size)
            break;
    }
}

const char *screen_line_of_(const struct pane *p, uint32_t line, size_t *length)
{
    if (line >= p->lines) {
        *length = 0;
        return "";
    }
    *length = p->start[line + 1] - p->start[line] - 1;
    return cps_buf_text(&p->text) + p->start[line];
}

static bool fill_pane(struct screen *s, enum pane_id pane, int width)
{
    const struct pane_row *row = &screen_panes_[pane];
    struct pane *p = &s->pane[pane];
    CPS_BUF text = {0};
    bool fits = !(row->flags & PANE_FITS) || p->raw_width == width;
    if (p->filled == s->changes && fits)
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
    p->width = width;
    index_lines(p);
}

/* Of text that fits any width: one at which it takes no more than a third of the lines. */
static int fitting_width(struct screen *s, enum pane_id pane)
{
    int width = screen_panes_[pane].wish;
    for (; width < COLS / 2; width += WIDER) {
        int lines = 0;
        fill_pane(s, pane, width);
        for (const char *at = cps_buf_text(&s->pane[pane].raw); *at; at++)
            lines += *at == '\n';
        if (lines <= LINES / 3)
            break;
    }
    s->pane[pane].width = 0; /* what is shown is made anew */
    return width;
}

void request_width(struct screen *s, enum pane_id pane)
{
    const struct pane_row *row = &screen_panes_[pane];
    struct pane *p = &s->pane[pane];
    int lines = pane != PANE_CODE ? INT32_MAX
                : p->height       ? p->height
                                  : LINES / 2; /* that are seen */
    int wish = row->wish ? fitting_width(s, pane) : 0;
    if (!row->wish && fill_pane(s, pane, SCREEN_MIN_WIDTH))
        p->width = 0;
    for (const char *at = cps_buf_text(&p->raw); !row->wish && *at && lines--;) {
        int length = (int)strcspn(at, "\n");
        wish = length > wish ? length : wish;
        at += length + (at[length] == '\n');
    }
    p->wish_width = wish > p->wish_width ? wish : p->wish_width;
}
