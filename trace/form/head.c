/* SPDX-License-Identifier: MIT
 * The head of a trace: lines of "# key value", which every form keeps as they are. */
#include <stdio.h>
#include <string.h>

#include "isa/base/lex.h"
#include "isa/base/shown.h"
#include "trace/form/forms.h"

static const char first_line[] = "# cpscope-trace 1\n";

/* Copies a word or the rest of a line; false: it does not fit, and is cut. */
static bool copy(char *to, size_t room, const char *from, size_t length)
{
    bool fits = length < room;
    length = fits ? length : room - 1;
    memcpy(to, from, length);
    to[length] = '\0';
    return fits;
}

/* "NAME sha256:DIGITS"; names may hold blanks. */
static bool parse_file(const char *value, size_t length, struct cps_trace_file *ret)
{
    static const char mark[] = " sha256:";
    for (size_t i = length; i >= sizeof(mark) - 1; i--) {
        const char *at = value + i - (sizeof(mark) - 1);
        if (memcmp(at, mark, sizeof(mark) - 1) != 0)
            continue;
        copy(ret->name, sizeof(ret->name), value, (size_t)(at - value)); /* found by its digest */
        return copy(ret->sha256, sizeof(ret->sha256), value + i, length - i);
    }
    return false;
}

/* One line behind its "# "; false if a known key has a value that cannot be. */
static bool parse_line(struct cps_trace_head *head, const char *line, size_t length)
{
    const char *blank = memchr(line, ' ', length);
    size_t key = blank ? (size_t)(blank - line) : length;
    const char *value = blank ? blank + 1 : line + length;
    size_t size = length - (size_t)(value - line);
    char word[16];
    copy(word, sizeof(word), value, size);
    if (cps_lex_is(line, key, "gen")) {
        bool known = cps_gen_parse(word, &head->gen) && cps_gen_is_afuc(head->gen);
        head->layout = cps_gen_layout(head->gen);
        return known;
    }
    if (cps_lex_is(line, key, "engine")) {
        head->prefix = cps_gen_keyed("chip", word)->prefix;
    } else if (cps_lex_is(line, key, "chip") || cps_lex_is(line, key, "abi")) {
        char name[24];
        snprintf(name, sizeof(name), "%s%s",
                 cps_lex_is(line, key, "abi") ? cps_gen_keyed("abi", "")->prefix
                 : head->prefix               ? head->prefix
                                              : "",
                 word);
        bool known = cps_gen_parse(name, &head->gen) && !cps_gen_is_afuc(head->gen);
        head->layout = cps_gen_layout(head->gen);
        return known;
    }
    if (cps_lex_is(line, key, "layout"))
        cps_layout_parse(word, &head->layout);
    else if (cps_lex_is(line, key, "processors"))
        head->with_processor = true;
    else if (cps_lex_is(line, key, "as"))
        return cps_gen_parse(word, &head->as) && cps_gen_is_afuc(head->as);
    else if (cps_lex_is(line, key, "chip-id"))
        return copy(head->chip_id, sizeof(head->chip_id), value, size);
    else if (cps_lex_is(line, key, "policy"))
        return copy(head->policy, sizeof(head->policy), value, size);
    else if (cps_lex_is(line, key, "events"))
        return copy(head->events, sizeof(head->events), value, size);
    else if (cps_lex_is(line, key, "capture"))
        return parse_file(value, size, &head->capture);
    else if (cps_lex_is(line, key, "firmware") && head->firmware_count < 2)
        return parse_file(value, size, &head->firmware[head->firmware_count++]);
    return true;
}

static struct cps_err *no_line(const char *file, const char *text, const char *line, size_t length)
{
    return cps_err_input(file, (uint64_t)(line - text),
                         "\"%.*s\" is no line of a trace's head, expected \"# key value\"",
                         (int)(length < 60 ? length : 60), line);
}

/* A head is shown wherever a trace is: what is no text in it is escaped before it is looked at. */
struct cps_err *cps_trace_head_parse(const char *file, const char *text, struct cps_trace_head *ret)
{
    CPS_BUF shown = {0};
    size_t size = 0;
    *ret = (struct cps_trace_head){.gen = CPS_A6XX, .layout = CPS_LAYOUT_A6XX};
    if (strncmp(text, first_line, sizeof(first_line) - 1) != 0)
        return cps_err_input(file, 0, "expected the line \"# cpscope-trace 1\"");
    if (strlen(text) > TRACE_HEAD_BYTES)
        return cps_err_input(file, TRACE_HEAD_BYTES, "the head is longer than 4 MiB");
    for (const char *at = text; *at; at += size + (at[size] == '\n')) {
        size = strcspn(at, "\n");
        bool is_line = size > 2 && !memcmp(at, "# ", 2) && at[size] == '\n';
        for (size_t i = 0; i < size; i++) /* only what every format can hold */
            is_line = is_line && ((unsigned char)at[i] >= ' ' || at[i] == '\t');
        if (!is_line)
            return no_line(file, text, at, size);
    }
    cps_shown_add_(&shown, text, strlen(text), true);
    if (shown.failed)
        return cps_err_nomem();
    for (const char *line = shown.data; *line; line += size + 1) {
        size = strcspn(line, "\n");
        if (!parse_line(ret, line + 2, size - 2))
            return no_line(file, shown.data, line, size);
    }
    ret->text = CPS_TAKE(shown.data);
    return NULL;
}

/* Names of files may hold any byte. */
static void put_file(struct cps_buf *text, const char *key, const struct cps_trace_input *file)
{
    cps_buf_printf(text, "# %s ", key);
    cps_shown_put_(text, file->name);
    cps_buf_printf(text, " sha256:%s\n", file->sha256);
}

struct cps_err *cps_trace_head_make(const struct cps_trace_header *header, enum cps_layout layout,
                                    bool with_processor, struct cps_trace_head *ret)
{
    CPS_BUF text = {0};
    const struct cps_gen_row *row = cps_gen_row(header->gen);
    cps_buf_str(&text, first_line);
    if (!cps_gen_is_afuc(header->gen))
        cps_buf_printf(&text, "# engine %s\n", cps_isa_name(row->isa));
    cps_buf_printf(&text, "# %s %s\n", row->key, row->word);
    if (*cps_layout_word(layout))
        cps_buf_printf(&text, "# layout %s\n", cps_layout_word(layout));
    for (unsigned i = 0; i < header->firmware_count; i++)
        put_file(&text, "firmware", &header->firmware[i]);
    put_file(&text, "capture", &header->capture);
    if (header->chip_id)
        cps_buf_printf(&text, "# chip-id %s\n", header->chip_id);
    if (header->as)
        cps_buf_printf(&text, "# as %s\n# note a capture of any generation runs as this one\n",
                       cps_gen_name(header->as));
    cps_buf_printf(&text, "# policy %s\n# events %s\n", header->policy, header->events);
    if (with_processor)
        cps_buf_str(&text, "# processors yes\n");
    if (text.failed)
        return cps_err_nomem();
    return cps_trace_head_parse("trace", text.data, ret);
}

void cps_trace_head_deinit(struct cps_trace_head *head)
{
    free(head->text);
    head->text = NULL;
}
