/* SPDX-License-Identifier: MIT
 * Headings and tables as text or as a page. */
#include "tools/cmd/render/sheet.h"

#include <stdarg.h>
#include <stdio.h>

#include "isa/base/shown.h"
#include "tools/cmd/render/html.h"

#define MOST_TEXT 8192u /* of a formatted cell: twice the longest path */

static void put(struct sheet *s, const char *tags)
{
    if (s->page)
        cps_buf_str(s->out, tags);
}

void sheet_begin(struct sheet *s, const char *title)
{
    if (!s->page)
        return;
    html_head(s->out, title);
    html_wrap(s->out, "<main>\n<h1>", title, "</h1>\n");
}

void sheet_end(struct sheet *s)
{
    put(s, "</main></body></html>\n");
}

void sheet_part(struct sheet *s, size_t number, const char *title)
{
    if (s->page)
        cps_buf_printf(s->out, "<section id=\"f%zu\">", number);
    put(s, "<h3>");
    (s->page ? html_text : cps_shown_put_)(s->out, title);
    put(s, "</h3>");
    cps_buf_str(s->out, "\n");
}

void sheet_end_part(struct sheet *s)
{
    cps_buf_str(s->out, s->page ? "</section>\n" : "\n");
}

void sheet_table(struct sheet *s, const char *id, const unsigned *width)
{
    s->width = width;
    if (s->page)
        cps_buf_printf(s->out, "<table%s%s%s><tbody>\n", id ? " id=\"" : "", id ? id : "",
                       id ? "\"" : "");
}

void sheet_end_table(struct sheet *s)
{
    put(s, "</tbody></table>\n");
}

void sheet_row(struct sheet *s, unsigned indent, bool heads)
{
    s->column = 0;
    s->heads = heads;
    cps_buf_printf(s->out, s->page ? "<tr>" : "%*s", (int)indent, "");
}

/* Text does not end with the blanks of its columns. */
void sheet_end_row(struct sheet *s)
{
    while (!s->page && s->out->size && s->out->data[s->out->size - 1] == ' ')
        s->out->data[--s->out->size] = '\0';
    cps_buf_str(s->out, s->page ? "</tr>\n" : "\n");
}

static void put_cell(struct sheet *s, const char *style, const char *address, const char *text)
{
    unsigned column = s->column++;
    if (!s->page) {
        size_t end = s->out->size + s->width[column];
        cps_shown_put_(s->out, text);
        cps_buf_printf(s->out, "%*s", end > s->out->size ? (int)(end - s->out->size) + 1 : 1, "");
        return;
    }
    const char *tag = !column || s->heads ? "th" : "td";
    cps_buf_printf(s->out, "<%s%s%s%s>", tag, style ? " class=\"" : "", style ? style : "",
                   style ? "\"" : "");
    html_wrap(s->out, address ? "<a href=\"" : "<span", address ? address : "",
              address ? "\">" : ">");
    html_wrap(s->out, "", text, address ? "</a>" : "</span>");
    cps_buf_printf(s->out, "</%s>", tag);
}

void sheet_cell(struct sheet *s, const char *style, const char *text)
{
    put_cell(s, style, NULL, text);
}

void sheet_link(struct sheet *s, const char *style, const char *address, const char *text)
{
    put_cell(s, style, address, text);
}

void sheet_cellf(struct sheet *s, const char *format, ...)
{
    char text[MOST_TEXT];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    put_cell(s, NULL, NULL, text);
}

void sheet_pair(struct sheet *s, const char *key, const char *format, ...)
{
    char text[MOST_TEXT];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (s->page) {
        html_wrap(s->out, "<tr><th scope=\"row\">", key, "</th>");
        html_wrap(s->out, "<td>", text, "</td></tr>\n");
    } else {
        cps_buf_printf(s->out, "  %-10s%s", key, *text ? " " : "");
        cps_shown_put_(s->out, text);
        cps_buf_str(s->out, "\n");
    }
}
