/* SPDX-License-Identifier: MIT
 * Trees of results, and text by layouts. */
#include "tools/cmd/render/doc.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "isa/base/shown.h"
#include "tools/cmd/render/html.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/cmd/terminal/report.h"
#include "tools/cmd/terminal/text.h"
#include "trace/out/json.h"

/* ---- Building ---- */

struct json_object *doc_new(void)
{
    return tool_json(json_object_new_object());
}

/* The argument of a conversion of integers, "%d" or "%08lx", that ends at @p last. */
static uint64_t take_number(const char *last, va_list *args)
{
    bool is_signed = *last == 'd';
    if (last[-1] == 'z')
        return va_arg(*args, size_t);
    if (last[-1] == 'l' && last[-2] == 'l')
        return va_arg(*args, unsigned long long);
    if (last[-1] == 'l')
        return is_signed ? (uint64_t)va_arg(*args, long) : va_arg(*args, unsigned long);
    return is_signed ? (uint64_t)va_arg(*args, int) : va_arg(*args, unsigned);
}

/* What a conversion of integers makes. @p last  its last letter */
static struct json_object *new_number(const char *form, const char *last, va_list *args)
{
    uint64_t value = take_number(last, args);
    if (*last == 'x') {
        CPS_BUF hex = {0};
        unsigned digits = (unsigned)strtoul(form + 1, NULL, 10);
        cps_buf_hex(&hex, value, digits ? digits : 1);
        return hex.failed ? NULL : json_object_new_string(cps_buf_text(&hex));
    }
    return *last == 'd' ? json_object_new_int64((int64_t)value) : json_object_new_uint64(value);
}

enum { KEY_SIZE = 48 };

static void copy_word(char to[KEY_SIZE], const char *from, size_t length)
{
    length = length < KEY_SIZE ? length : KEY_SIZE - 1;
    memcpy(to, from, length);
    to[length] = '\0';
}

static void put_members(struct json_object *to, const char *at, va_list *args)
{
    while (*at) {
        char key[KEY_SIZE], word[KEY_SIZE];
        const char *form = strchr(at, '=') + 1;
        size_t length = strcspn(form, " ");
        const char *last = form + length - 1;
        bool is_marked = form[-2] == '?';
        copy_word(key, at, (size_t)(form - at) - 1 - is_marked);
        at = form + length + (form[length] == ' ');
        if (*form != '%') {
            copy_word(word, form, length);
            cps_json_text(to, key, word);
        } else if (*last == 'p') {
            const struct cps_buf *text = va_arg(*args, const void *);
            if (*tool_text(text) || !is_marked)
                cps_json_buf(to, key, text);
        } else if (*last != 's' && is_marked) {
            cps_json_bool(to, key, take_number(last, args));
        } else if (*last != 's') {
            cps_json_add(to, key, new_number(form, last, args));
        } else {
            const char *text = va_arg(*args, const char *);
            if (text && (*text || !is_marked))
                cps_json_text(to, key, text);
        }
    }
}

void doc_put(struct json_object *to, const char *members, ...)
{
    va_list args;
    va_start(args, members);
    put_members(to, members, &args);
    va_end(args);
}

struct json_object *doc_row(struct json_object *list, const char *members, ...)
{
    va_list args;
    struct json_object *row = doc_new();
    va_start(args, members);
    put_members(row, members, &args);
    va_end(args);
    tool_need(list && !json_object_array_add(list, row));
    return row;
}

struct json_object *doc_array(struct json_object *list, const char *values, ...)
{
    va_list args;
    struct json_object *row = tool_json(json_object_new_array());
    va_start(args, values);
    while (*values) {
        size_t length = strcspn(values, " ");
        const char *last = values + length - 1;
        cps_json_append(row, *last == 's' ? doc_shown(va_arg(args, const char *))
                                          : new_number(values, last, &args));
        values += length + (values[length] == ' ');
    }
    va_end(args);
    if (list)
        tool_need(!json_object_array_add(list, row));
    return row;
}

struct json_object *doc_shown(const char *text)
{
    CPS_BUF shown = {0};
    cps_shown_put_(&shown, text);
    return tool_json(json_object_new_string(tool_text(&shown)));
}

/* ---- Text and HTML ---- */

struct writer {
    struct cps_buf *out;
    size_t start; /* of what this writer appends */
    bool is_html;
    bool is_tag; /* text: inside a tag, which is left out */
};

/* The object at hand, or another value, and what it is part of. */
struct scope {
    struct json_object *value;
    struct json_object *key; /* of a member of an object */
    size_t index;            /* of an item */
    const struct scope *outer;
};

static void put_layout(const struct scope *scope, const char *at, const char *end,
                       struct writer *w);

static struct json_object *find(const struct scope *scope, const char *key)
{
    struct json_object *value = NULL;
    if (!strcmp(key, ".") || !strcmp(key, "@"))
        return *key == '.' ? scope->value : scope->key;
    for (; scope && !value; scope = scope->outer)
        value = cps_json_get(scope->value, key);
    return value;
}

static bool is_true(struct json_object *value)
{
    switch (json_object_get_type(value)) {
    case json_type_boolean:
    case json_type_string:
        return json_object_get_boolean(value);
    case json_type_array:
        return cps_json_count(value) != 0;
    default:
        return value != NULL;
    }
}

static void put_literal(struct writer *w, const char *text, size_t size)
{
    for (size_t at = 0; at < size && !w->is_html; at++) {
        size_t start = at;
        while (at < size && text[at] != '\n' && text[at] != (w->is_tag ? '>' : '<'))
            at++;
        if (!w->is_tag)
            cps_buf_add(w->out, text + start, at - start);
        if (at == size)
            return;
        if (text[at] != '\n') {
            w->is_tag = !w->is_tag;
            continue;
        }
        while (w->out->size > w->start && w->out->data[w->out->size - 1] == ' ')
            w->out->data[--w->out->size] = '\0';
        cps_buf_str(w->out, w->is_tag ? "" : "\n");
    }
    if (w->is_html)
        cps_buf_add(w->out, text, size);
}

static void put_value(const struct scope *scope, struct json_object *value, const char *form,
                      struct writer *w)
{
    CPS_BUF text = {0};
    char *kind = NULL;
    bool is_left = *form == '-';
    bool is_wide = form[is_left] == '*';
    bool has_zeros = form[is_left] == '0';
    int width = (int)strtol(form + is_left + is_wide, &kind, 10);
    int digits = has_zeros ? width : 1;
    const char *plain = value ? json_object_get_string(value) : "";
    tool_need(plain != NULL);
    if (is_wide)
        width = json_object_get_int(find(scope, ".width"));
    if (*kind == 'x')
        cps_buf_printf(&text, "%0*" PRIx64, digits, json_object_get_uint64(value));
    else if (*kind == 'e' && !w->is_html)
        cps_shown_put_(&text, plain);
    else if (has_zeros)
        cps_buf_printf(&text, "%0*" PRIu64, digits, json_object_get_uint64(value));
    else
        cps_buf_str(&text, plain);
    if (!w->is_html)
        cps_buf_printf(w->out, "%*s", is_left ? -width : width, tool_text(&text));
    else
        (*kind == 'm' ? html_marked : html_text)(w->out, tool_text(&text));
}

static void put_each(const struct scope *scope, struct json_object *list, const char *separator,
                     const char *body, const char *end, struct writer *w)
{
    size_t before = w->out->size;
    struct scope item = {.outer = scope};
    for (size_t count = cps_json_count(list); item.index < count; item.index++) {
        item.value = json_object_array_get_idx(list, item.index);
        if (w->out->size != before)
            put_literal(w, separator, (size_t)(body - separator - 1));
        put_layout(&item, body, end, w);
    }
    if (!json_object_is_type(list, json_type_object))
        return;
    json_object_object_foreach(list, key, value)
    {
        item.value = value;
        item.key = tool_json(json_object_new_string(key));
        if (w->out->size != before)
            put_literal(w, separator, (size_t)(body - separator - 1));
        put_layout(&item, body, end, w);
        json_object_put(item.key);
        item.index++;
    }
}

/* The text between two braces. */
static void put_item(const struct scope *scope, const char *at, const char *end, struct writer *w)
{
    char key[KEY_SIZE], form[KEY_SIZE] = "";
    size_t length = strcspn(at, ":?!~>*/}");
    const char *body = at + length + 1;
    copy_word(key, at, length);
    char *wanted = strchr(key, '=');
    if (wanted)
        *wanted++ = '\0';
    struct json_object *value = find(scope, key);
    switch (at[length]) {
    case '?':
    case '!': {
        bool is = wanted ? value && !strcmp(json_object_get_string(value), wanted) : is_true(value);
        if (is == (at[length] == '?'))
            put_layout(scope, body, end, w);
        break;
    }
    case '~':
        if (json_object_get_int64(value) != 1)
            put_layout(scope, body, end, w);
        break;
    case '>': {
        const struct scope inside = {value, NULL, scope->index, scope};
        if (value)
            put_layout(&inside, body, end, w);
        break;
    }
    case '*':
        put_each(scope, value, body - 1, body, end, w);
        break;
    case '/':
        put_each(scope, value, body, strchr(body, '/') + 1, end, w);
        break;
    default:
        if (at[length] == ':')
            copy_word(form, body, (size_t)(end - body));
        if (w->is_tag)
            break;
        if (*key == '#')
            cps_buf_printf(w->out, "%zu", scope->index);
        else
            put_value(scope, value, form, w);
        break;
    }
}

static void put_layout(const struct scope *scope, const char *at, const char *end, struct writer *w)
{
    while (at < end) {
        const char *open = memchr(at, '{', (size_t)(end - at));
        const char *close = open ? open : end;
        put_literal(w, at, (size_t)(close - at));
        if (!open)
            return;
        for (unsigned depth = 1; depth; depth += *close == '{', depth -= *close == '}')
            close++;
        put_item(scope, open + 1, close, w);
        at = close + 1;
    }
}

static void put_tree(struct json_object *root, const char *layout, bool html, struct cps_buf *out)
{
    const struct scope scope = {.value = tool_json(root)};
    struct writer writer = {.out = out, .start = out->size, .is_html = html};
    put_layout(&scope, layout, layout + strlen(layout), &writer);
}

void doc_text(struct json_object *root, const char *layout, struct cps_buf *out)
{
    put_tree(root, layout, false, out);
}

void doc_html(struct json_object *root, const char *layout, struct cps_buf *out)
{
    put_tree(root, layout, true, out);
}

void doc_page(struct json_object *root, const char *title, const char *layout, struct cps_buf *out)
{
    html_head(out, title);
    doc_html(root, layout, out);
    cps_buf_str(out, "</body></html>\n");
}

/* ---- Output ---- */

void doc_strip(struct json_object *root)
{
    for (size_t i = 0; i < cps_json_count(root); i++)
        doc_strip(json_object_array_get_idx(root, i));
    if (!json_object_is_type(root, json_type_object))
        return;
    json_object_object_foreach(root, key, value)
    {
        if (key[0] == '.')
            json_object_object_del(root, key);
        else
            doc_strip(value);
    }
}

struct cps_err *doc_print(struct json_object *root, const char *layout, bool json)
{
    CPS_BUF text = {0};
    if (json) {
        doc_strip(root);
        return report_json(root);
    }
    doc_text(root, layout, &text);
    json_object_put(root);
    return report_text(&text);
}
