/* SPDX-License-Identifier: MIT
 * Messages with their length in front. */
#include "tools/face/dap/frame.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/cmd/terminal/oom.h"
#include "trace/out/json.h"

#define MAX_LINE 1024

static struct cps_err *bad_input(const struct frame *f, const char *expected)
{
    return cps_err_input(f->name, f->offset, "expected %s of the %s", expected, f->protocol);
}

/* The next byte, or EOF; also after a wake. */
static int get_byte(struct frame *f)
{
    struct pollfd all[3] = {
        {f->in, POLLIN, 0}, {f->wake, POLLIN, 0}, {f->answer ? f->door : -1, POLLIN, 0}};
    while (f->at == f->size) {
        if (poll(all, 3, -1) < 0 && errno == EINTR)
            continue;
        if (all[1].revents)
            return EOF;
        if (all[2].revents)
            f->answer(f->door);
        if (!all[0].revents)
            continue;
        ssize_t got = read(f->in, f->buffer, sizeof(f->buffer));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            f->failed = errno;
        if (got <= 0)
            return EOF;
        f->at = 0;
        f->size = (size_t)got;
    }
    f->offset++;
    return (unsigned char)f->buffer[f->at++];
}

/* A line of the header without its end; *end: the input ended before it. */
static struct cps_err *read_line(struct frame *f, char line[MAX_LINE], bool *end)
{
    size_t size = 0;
    int c = get_byte(f);
    *end = c == EOF;
    for (; c != EOF && c != '\n'; c = get_byte(f)) {
        if (size == MAX_LINE - 1)
            return bad_input(f, "a header line of at most 1023 bytes");
        line[size++] = (char)c;
    }
    if (size && line[size - 1] == '\r')
        size--;
    line[size] = '\0';
    return c == EOF && !*end ? bad_input(f, "the rest of a header") : NULL;
}

static struct cps_err *read_header(struct frame *f, size_t *size, bool *end)
{
    static const char key[] = "Content-Length:";
    char line[MAX_LINE];
    *size = SIZE_MAX;
    CPS_TRY(read_line(f, line, end));
    while (!*end && *line) {
        bool more = false;
        char *rest = NULL;
        if (!strncmp(line, key, sizeof(key) - 1)) {
            *size = strtoul(line + sizeof(key) - 1, &rest, 10);
            if (*rest || rest == line + sizeof(key) - 1)
                *size = SIZE_MAX;
        }
        CPS_TRY(read_line(f, line, &more));
        if (more)
            return bad_input(f, "the rest of a header");
    }
    if (!*end && (*size == SIZE_MAX || *size > FRAME_MAX_BYTES))
        return bad_input(f, "\"Content-Length: N\", N at most 16 MiB,");
    return NULL;
}

/* How many values and members begin in a text that may be JSON. */
static size_t count_values(const char *text, size_t size)
{
    size_t count = 0;
    bool in_string = false;
    for (size_t i = 0; i < size; i++) {
        if (in_string && text[i] == '\\')
            i++;
        else if (text[i] == '"')
            in_string = !in_string;
        else if (!in_string)
            count += text[i] == '{' || text[i] == '[' || text[i] == ',' || text[i] == ':';
    }
    return count;
}

static struct cps_err *read_message(struct frame *f, struct json_object **ret)
{
    size_t size = 0;
    bool end = false;
    *ret = NULL;
    CPS_TRY(read_header(f, &size, &end));
    if (end)
        return NULL;
    CPS_FREE char *text = calloc(size + 1, 1); /* the peer's size: it must not end the program */
    if (!text)
        return cps_err_nomem();
    for (size_t i = 0; i < size; i++) {
        int c = get_byte(f);
        if (c == EOF)
            return bad_input(f, "as many bytes as the header states");
        text[i] = (char)c;
    }
    size_t values = count_values(text, size);
    if (values > FRAME_MAX_VALUES)
        return bad_input(f, "at most 100000 values and members in a message");
    f->weight = size + values * FRAME_VALUE_BYTES;
    CPS_TRY(cps_json_parse(text, size, ret));
    if (json_object_get_type(*ret) != json_type_object) {
        json_object_put(*ret);
        *ret = NULL;
        return bad_input(f, "a JSON object as message");
    }
    return NULL;
}

struct cps_err *frame_read(struct frame *frame, struct json_object **ret)
{
    struct cps_err *err = read_message(frame, ret);
    if (!frame->failed)
        return err;
    cps_err_free(err);
    errno = frame->failed;
    return cps_err_os(frame->name, "read");
}

void frame_write(FILE *out, struct json_object *message)
{
    CPS_BUF text = {0};
    cps_json_put(&text, message, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
    json_object_put(message);
    fprintf(out, "Content-Length: %zu\r\n\r\n%s", text.size, tool_text(&text));
    fflush(out);
}

struct cps_err *frame_check_kind(const char *request, const char *name, struct json_object *value,
                                 char kind)
{
    enum { LONG = 40 };
    static const struct {
        char kind;
        enum json_type type, empty; /* Lua cannot tell an empty object from an empty list */
        const char *name;
    } kinds[] = {{'n', json_type_int, json_type_int, "a whole number"},
                 {'t', json_type_string, json_type_string, "a text"},
                 {'b', json_type_boolean, json_type_boolean, "true or false"},
                 {'l', json_type_array, json_type_object, "a list"},
                 {'o', json_type_object, json_type_array, "an object"}};
    CPS_BUF found = {0};
    unsigned i = 0;
    while (kinds[i].kind != kind)
        i++;
    enum json_type type = json_object_get_type(value);
    bool is_empty = (type == json_type_array && !cps_json_count(value)) ||
                    (type == json_type_object && !json_object_object_length(value));
    bool right = type == kinds[i].type || (type == kinds[i].empty && is_empty);
    bool has_nul = type == json_type_string && strlen(json_object_get_string(value)) !=
                                                   (size_t)json_object_get_string_len(value);
    if (!value || (right && !has_nul)) /* one would be cut there */
        return NULL;
    cps_json_put(&found, value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
    return cps_err_new(CPS_ERR_INPUT, "%s: \"%s\" is %s: expected %s", request, name,
                       found.size > LONG ? json_type_to_name(type) : tool_text(&found),
                       right ? "a text without NUL" : kinds[i].name);
}
