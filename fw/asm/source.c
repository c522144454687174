/* SPDX-License-Identifier: MIT
 * Assembly source as lines, and the errors found in it. */
#include "fw/asm/asm.h"
#include "isa/base/within.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Of a source line shown below an error. */
#define SHOWN 160

void cps_asm_text_init_(struct cps_asm_text *text, const char *name, const char *source,
                        size_t size)
{
    memset(text, 0, sizeof(*text));
    text->name = name;
    text->start = source;
    text->end = source + size;
    text->longest = CPS_ASM_MAX_LINE;
    cps_asm_rewind_(text);
}

void cps_asm_text_deinit_(struct cps_asm_text *text)
{
    cps_buf_deinit(&text->errors);
    cps_buf_deinit(&text->held);
}

void cps_asm_rewind_(struct cps_asm_text *text)
{
    text->statement = "";
    text->next = text->start;
    text->number = 0;
}

bool cps_asm_next_(struct cps_asm_text *text)
{
    if (text->next == text->end || text->error_count > CPS_ASM_MAX_ERRORS)
        return false;
    size_t left = (size_t)(text->end - text->next);
    const char *newline = memchr(text->next, '\n', left);
    text->line = text->next;
    text->length = newline ? (size_t)(newline - text->line) : left;
    text->next = newline ? newline + 1 : text->end;
    text->number++;
    /* Copies what is before the comment, so that parsers see one terminated statement. */
    const char *semicolon = text->length ? memchr(text->line, ';', text->length) : NULL;
    size_t size = semicolon ? (size_t)(semicolon - text->line) : text->length;
    while (size && isspace((unsigned char)text->line[size - 1]))
        size--;
    cps_buf_clear(&text->held);
    const char *nul = size ? memchr(text->line, '\0', size) : NULL;
    if (size > text->longest) {
        cps_asm_error_(text, text->longest, "statement is %zu bytes long, expected at most %zu",
                       size, text->longest);
    } else if (nul) {
        cps_asm_error_(text, (size_t)(nul - text->line), "expected text, found a NUL byte");
    } else {
        cps_buf_add(&text->held, text->line, size);
    }
    text->statement = text->held.failed ? "" : cps_buf_text(&text->held);
    return true;
}

/* The line, and below it a caret that tabs move as they move the line. */
static void show_line(struct cps_asm_text *text, size_t column)
{
    struct cps_buf *out = &text->errors;
    size_t size = text->length;
    if (size && text->line[size - 1] == '\r')
        size--;
    if (size > SHOWN)
        size = SHOWN;
    cps_buf_str(out, "\n");
    for (size_t i = 0; i < size; i++) {
        char c = text->line[i];
        cps_buf_add(out, c == '\t' || isprint((unsigned char)c) ? &c : "?", 1);
    }
    if (column > size)
        return;
    cps_buf_str(out, "\n");
    for (size_t i = 0; i < column; i++)
        cps_buf_str(out, i < text->length && text->line[i] == '\t' ? "\t" : " ");
    cps_buf_str(out, "^");
}

bool cps_asm_error_(struct cps_asm_text *text, size_t column, const char *format, ...)
{
    if (text->muted || text->error_count > CPS_ASM_MAX_ERRORS)
        return false;
    if (text->error_count)
        cps_buf_str(&text->errors, "\n");
    if (++text->error_count > CPS_ASM_MAX_ERRORS) {
        cps_buf_printf(&text->errors, "%s: more errors follow", text->name);
        return false;
    }
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    if (text->each)
        text->each(text->context, text->number, column, message);
    cps_buf_printf(&text->errors, "%s:%" PRIu32 ":%zu: %s", text->name, text->number, column + 1,
                   message);
    show_line(text, column);
    return false;
}

const char *cps_asm_comment_(const struct cps_asm_text *text, size_t *ret)
{
    const char *semicolon = text->length ? memchr(text->line, ';', text->length) : NULL;
    if (!semicolon)
        return NULL;
    *ret = text->length - (size_t)(semicolon + 1 - text->line);
    return semicolon + 1;
}

struct cps_err *cps_asm_errors_(const struct cps_asm_text *text)
{
    if (text->errors.failed || text->held.failed)
        return cps_err_nomem();
    if (!text->error_count)
        return NULL;
    return cps_err_lines_(CPS_ERR_SYNTAX, cps_buf_text(&text->errors));
}
