/* SPDX-License-Identifier: MIT
 * Pieces of HTML. */
#include "html.h"

#include <string.h>

#include "diffplace.h"

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

/* Length of the character at @p at, 0 if there is none that a document may hold. */
static size_t length_of(const unsigned char *at)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = at[0] < 0x80    ? 1
                    : at[0] < 0xc0  ? 0
                    : at[0] < 0xe0  ? 2
                    : at[0] < 0xf0  ? 3
                    : at[0] <= 0xf4 ? 4
                                    : 0;
    if (length == 1)
        return at[0] >= ' ' || at[0] == '\n' || at[0] == '\t';
    uint32_t code = at[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (at[i] & 0x3f);
    }
    bool surrogate = code >= 0xd800 && code < 0xe000;
    bool none = code == 0xfffe || code == 0xffff || code > 0x10ffff;
    return length && code >= least[length] && !surrogate && !none ? length : 0;
}

static void put_text(struct cps_buf *out, const char *text, size_t size)
{
    for (size_t i = 0; i < size;) {
        size_t length = length_of((const unsigned char *)text + i);
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

void html_pre(struct cps_buf *out, const char *text)
{
    if (*text)
        html_wrap(out, "<pre>", text, "</pre>\n");
}

/* Wide blocks scroll; tabindex lets the keyboard do it. */
void html_pre_marked(struct cps_buf *out, const char *text)
{
    cps_buf_str(out, "<pre tabindex=\"0\">");
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
    cps_buf_str(out, "</pre>\n");
}
