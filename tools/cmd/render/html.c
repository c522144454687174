/* SPDX-License-Identifier: MIT
 * Pieces of HTML. */
#include "tools/cmd/render/html.h"

#include <string.h>

#include "isa/base/shown.h"
#include "report_css.h"

static const char *escape_of(char c)
{
    switch (c) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

static void put_text(struct cps_buf *out, const char *text, size_t size)
{
    for (size_t i = 0; i < size;) {
        size_t length = text[i] == '\n' || text[i] == '\t' ? 1 : cps_shown_(text + i);
        const char *escape = escape_of(text[i]);
        if (escape)
            cps_buf_str(out, escape);
        else if (length)
            cps_buf_add(out, text + i, length);
        else
            cps_buf_str(out, "\xef\xbf\xbd");
        i += length ? length : 1;
    }
}

void html_text(struct cps_buf *out, const char *text)
{
    put_text(out, text, strlen(text));
}

void html_wrap(struct cps_buf *out, const char *before, const char *text, const char *after)
{
    cps_buf_str(out, before);
    html_text(out, text);
    cps_buf_str(out, after);
}

void html_head(struct cps_buf *out, const char *title)
{
    /* The policy is a promise: nothing is fetched, and no text of an input can become a script. */
    cps_buf_str(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                     "style-src 'unsafe-inline'; img-src data:\">\n"
                     "<meta name=\"viewport\" content=\"width=device-width\">\n"
                     "<link rel=\"icon\" href=\"data:,\">");
    html_wrap(out, "<title>", title, "</title>\n<style>\n" REPORT_CSS "\n</style></head><body>\n");
}

void html_pre(struct cps_buf *out, const char *text)
{
    if (*text)
        html_wrap(out, "<pre>", text, "</pre>\n");
}

void html_marked(struct cps_buf *out, const char *text)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        bool here = text[0] == PLACE_HERE;
        char mark = length > 1 ? text[1] : ' ';
        const char *tag = here && mark == PLACE_CHANGED ? "<mark class=\"here changed\">"
                          : here                        ? "<mark class=\"here\">"
                          : mark == PLACE_CHANGED       ? "<mark class=\"changed\">"
                                                        : NULL;
        if (tag)
            cps_buf_str(out, tag);
        put_text(out, text, length);
        cps_buf_str(out, tag ? "</mark>\n" : "\n");
        text += length + (text[length] == '\n');
    }
}
