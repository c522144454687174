/* SPDX-License-Identifier: MIT
 * JSON from text. json-c's own reader drops members that it has no memory for and says nothing, so
 * ours makes the values one by one, and looks at each. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "isa/base/shown.h"
#include "trace/out/json.h"

enum { DEPTH = 32, NUMBER_BYTES = 400 };

/* Functions return false where the text is no JSON, and where memory is short. */
struct reader {
    const char *at, *end;
    unsigned depth;
    bool nomem;
    struct cps_buf text;       /* the string at hand */
    struct cps_buf key[DEPTH]; /* of the member at hand, by depth */
};

static bool value(struct reader *r, struct json_object **ret);

static void skip_blank(struct reader *r)
{
    while (r->at < r->end && *r->at && strchr(" \t\r\n", *r->at))
        r->at++;
}

static bool take_char(struct reader *r, char c)
{
    skip_blank(r);
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

/* Four digits. */
static bool hex(struct reader *r, uint32_t *ret)
{
    *ret = 0;
    if (r->end - r->at < 4)
        return false;
    for (unsigned i = 0; i < 4; i++) {
        static const char digits[] = "0123456789abcdefABCDEF";
        const char *digit = *r->at ? strchr(digits, *r->at++) : NULL;
        if (!digit)
            return false;
        *ret = *ret << 4 | (uint32_t)(digit - digits < 16 ? digit - digits : digit - digits - 6);
    }
    return true;
}

static void put_utf8(struct cps_buf *out, uint32_t code)
{
    char bytes[4];
    unsigned count = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const uint8_t first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (unsigned i = count; i-- > 1; code >>= 6)
        bytes[i] = (char)(0x80 | (code & 0x3f));
    bytes[0] = (char)(first[count] | code);
    cps_buf_add(out, bytes, count);
}

/* Behind "\u"; halves of a pair that stand alone become U+FFFD. */
static bool unicode(struct reader *r, struct cps_buf *out)
{
    uint32_t code = 0;
    uint32_t low = 0;
    if (!hex(r, &code))
        return false;
    if (code >> 10 == 0xd800 >> 10 && r->end - r->at >= 6 && r->at[0] == '\\' && r->at[1] == 'u') {
        const char *before = r->at;
        r->at += 2;
        if (!hex(r, &low))
            return false;
        if (low >> 10 == 0xdc00 >> 10)
            code = 0x10000 + ((code & 0x3ff) << 10 | (low & 0x3ff));
        else
            r->at = before;
    }
    put_utf8(out, code >> 11 == 0xd800 >> 11 ? 0xfffd : code);
    return true;
}

static bool escape(struct reader *r, struct cps_buf *out)
{
    static const char from[] = "bfnrt\"\\/";
    static const char to[] = "\b\f\n\r\t\"\\/";
    if (r->at == r->end)
        return false;
    char c = *r->at++;
    const char *found = c ? strchr(from, c) : NULL;
    if (c == 'u')
        return unicode(r, out);
    if (found)
        cps_buf_add(out, &to[found - from], 1);
    return found;
}

/* Bytes of the character at hand that stands for itself in a string; 0: it may not. */
static size_t plain(const struct reader *r)
{
    char one[5] = {0};
    uint32_t code = 0;
    if ((unsigned char)*r->at < 0x80)
        return (unsigned char)*r->at >= ' ';
    memcpy(one, r->at, r->end - r->at < 4 ? (size_t)(r->end - r->at) : 4);
    return cps_utf8_(one, &code);
}

static bool string(struct reader *r, struct cps_buf *out)
{
    cps_buf_clear(out);
    if (!take_char(r, '"'))
        return false;
    for (;;) {
        const char *from = r->at;
        size_t length = 1;
        while (r->at < r->end && *r->at != '"' && *r->at != '\\' && (length = plain(r)))
            r->at += length;
        cps_buf_add(out, from, (size_t)(r->at - from));
        if (r->at == r->end || !length)
            return false;
        if (*r->at++ == '"')
            break;
        if (!escape(r, out))
            return false;
    }
    r->nomem = r->nomem || out->failed;
    return !out->failed;
}

/* What was made, or that there was no memory for it. */
static bool made(struct reader *r, struct json_object *object, struct json_object **ret)
{
    *ret = object;
    r->nomem = r->nomem || !object;
    return object;
}

/* A whole number as json-c has it: at the ends of its range beyond them. */
static struct json_object *whole(const char *text)
{
    if (*text == '-')
        return json_object_new_int64(strtoll(text, NULL, 10));
    uint64_t number = strtoull(text, NULL, 10);
    return number > INT64_MAX ? json_object_new_uint64(number)
                              : json_object_new_int64((int64_t)number);
}

static size_t digits(const char *text)
{
    return strspn(text, "0123456789");
}

static bool number(struct reader *r, struct json_object **ret)
{
    char text[NUMBER_BYTES] = "";
    size_t size = 0;
    while (r->at < r->end && *r->at && strchr("+-.0123456789eE", *r->at) && size + 1 < sizeof(text))
        text[size++] = *r->at++;
    const char *at = text + (*text == '-');
    size_t count = digits(at);
    bool is_double = false;
    at += count;
    if (count && *at == '.') {
        is_double = true;
        count = digits(at + 1);
        at += 1 + count;
    }
    if (count && (*at == 'e' || *at == 'E')) {
        is_double = true;
        at += 1 + (at[1] == '+' || at[1] == '-');
        count = digits(at);
        at += count;
    }
    if (!count || *at)
        return false;
    return made(r, is_double ? json_object_new_double_s(strtod(text, NULL), text) : whole(text),
                ret);
}

static bool word(struct reader *r, const char *which)
{
    size_t size = strlen(which);
    if ((size_t)(r->end - r->at) < size || memcmp(r->at, which, size) != 0)
        return false;
    r->at += size;
    return true;
}

static bool member(struct reader *r, struct json_object *object)
{
    struct cps_buf *key = &r->key[r->depth - 1];
    struct json_object *found = NULL;
    if (!string(r, key) || !take_char(r, ':') || !value(r, &found)) {
        json_object_put(found);
        return false;
    }
    if (found)
        cps_json_add(object, cps_buf_text(key), found);
    else
        cps_json_null(object, cps_buf_text(key));
    return true;
}

static bool item(struct reader *r, struct json_object *array)
{
    struct json_object *found = NULL;
    bool good = value(r, &found);
    r->nomem = r->nomem || (good && json_object_array_add(array, found));
    if (!good || r->nomem)
        json_object_put(found);
    return good && !r->nomem;
}

/* What stands between brackets, with commas. */
static bool list(struct reader *r, char end, struct json_object *to,
                 bool (*one)(struct reader *r, struct json_object *to))
{
    bool good = true;
    if (take_char(r, end))
        return true;
    do
        good = one(r, to);
    while (good && take_char(r, ','));
    return good && take_char(r, end);
}

static bool container(struct reader *r, struct json_object **ret)
{
    bool is_object = *r->at++ == '{';
    if (r->depth == DEPTH ||
        !made(r, is_object ? json_object_new_object() : json_object_new_array(), ret))
        return false;
    r->depth++;
    bool good = is_object ? list(r, '}', *ret, member) : list(r, ']', *ret, item);
    r->depth--;
    return good;
}

static bool value(struct reader *r, struct json_object **ret)
{
    skip_blank(r);
    if (r->at == r->end)
        return false;
    switch (*r->at) {
    case '{':
    case '[':
        return container(r, ret);
    case '"':
        return string(r, &r->text) &&
               made(r, json_object_new_string_len(cps_buf_text(&r->text), (int)r->text.size), ret);
    case 't':
        return word(r, "true") && made(r, json_object_new_boolean(true), ret);
    case 'f':
        return word(r, "false") && made(r, json_object_new_boolean(false), ret);
    case 'n':
        return word(r, "null");
    default:
        return number(r, ret);
    }
}

struct cps_err *cps_json_parse(const char *text, size_t size, struct json_object **ret)
{
    struct reader r = {.at = text, .end = text + size};
    struct json_object *found = NULL;
    bool good = size < INT32_MAX && value(&r, &found);
    skip_blank(&r);
    good = good && r.at == r.end;
    cps_buf_deinit(&r.text);
    for (unsigned i = 0; i < DEPTH; i++)
        cps_buf_deinit(&r.key[i]);
    bool nomem = r.nomem || (good && found && !cps_json_complete(found));
    if (good && !nomem)
        *ret = found;
    else
        json_object_put(found);
    return nomem ? cps_err_nomem() : NULL;
}
