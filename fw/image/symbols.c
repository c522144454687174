/* SPDX-License-Identifier: MIT
 * Symbols for a file that has none of its own: from text, or from the ELF form of the same image.
 */
#include <string.h>

#include "isa/base/lex.h"
#include "fw/image/private.h"

/* Longest line, and so longest name, in bytes. */
#define MAX_LINE 500

struct text {
    const char *name; /* of the file */
    const char *next, *end;
    uint32_t number;         /* of the line, from 1 */
    char line[MAX_LINE + 1]; /* without comment and end */
};

static struct cps_err *expected(const struct text *t, const char *at, const char *what)
{
    return cps_err_new(CPS_ERR_SYNTAX, "%s:%u:%zu: expected %s", t->name, t->number,
                       (size_t)(at - t->line) + 1, what);
}

static struct cps_err *next_line(struct text *t)
{
    const char *newline = memchr(t->next, '\n', (size_t)(t->end - t->next));
    const char *end = newline ? newline : t->end;
    const char *hash = memchr(t->next, '#', (size_t)(end - t->next));
    size_t size = (size_t)((hash ? hash : end) - t->next);
    t->number++;
    t->line[0] = '\0';
    if (size > MAX_LINE || memchr(t->next, '\0', size))
        return expected(t, t->line, "a line of text, at most 500 bytes");
    while (size && strchr(" \t\r", t->next[size - 1]))
        size--;
    memcpy(t->line, t->next, size);
    t->line[size] = '\0';
    t->next = newline ? newline + 1 : t->end;
    return NULL;
}

/* The part that "bv:" and the like at *at name, else the first one. */
static struct cps_err *get_part(const struct cps_fw *fw, const struct text *t, const char **at,
                                uint32_t *ret)
{
    size_t length = cps_lex_identifier(*at);
    *ret = 0;
    if (!length || (*at)[length] != ':')
        return NULL;
    for (uint32_t i = 0; i < fw->part_count; i++) {
        const char *role = cps_fw_role_name(fw->part[i].role);
        if (strlen(role) == length && !memcmp(role, *at, length)) {
            *ret = i;
            *at = cps_lex_blank(*at + length + 1);
            return NULL;
        }
    }
    return expected(t, *at, "a processor that the firmware is for");
}

static struct cps_err *take_line(const struct cps_fw *fw, const struct text *t,
                                 struct cps_fw_debug *ret)
{
    struct cps_fw_symbol symbol = {NULL, 0, 0, -1};
    const char *at = cps_lex_blank(t->line);
    int64_t address = 0;
    if (!*at)
        return NULL;
    CPS_TRY(get_part(fw, t, &at, &symbol.part));
    const char *number = at;
    if (!cps_lex_number(&at, &address) || (*at != ' ' && *at != '\t'))
        return expected(t, number, "a dword address and a name");
    if (address > fw->part[symbol.part].size)
        return expected(t, number, "an address inside the image");
    at = cps_lex_blank(at);
    size_t length = cps_lex_identifier(at);
    if (!length)
        return expected(t, at, "a name of letters, digits and _");
    if (*cps_lex_blank(at + length))
        return expected(t, cps_lex_blank(at + length), "the end of the line");
    symbol.dword = (uint32_t)address;
    return cps_fw_debug_symbol_(ret, at, length, symbol);
}

static struct cps_err *read_text(const struct cps_fw *fw, const char *name, const char *bytes,
                                 size_t size, struct cps_fw_debug *ret)
{
    struct text t = {.name = name, .next = bytes, .end = bytes + size};
    while (t.next < t.end) {
        CPS_TRY(next_line(&t));
        CPS_TRY(take_line(fw, &t, ret));
    }
    return NULL;
}

static struct cps_err *check_part(const struct cps_fw *fw, const char *name,
                                  const struct cps_program *program, unsigned i)
{
    bool same = program->part_count == fw->part_count &&
                program->part[i].start == fw->part[i].start &&
                program->part[i].size == fw->part[i].size;
    return same ? NULL
                : cps_err_input(name, 0,
                                "processors' images differ from those of %s, expected "
                                "symbols of the same image",
                                fw->name);
}

/* Symbols of another image would name wrong places without a word. */
static struct cps_err *check_image(const struct cps_fw *fw, const char *name,
                                   const struct cps_program *program)
{
    if (program->image.count - 1 != fw->count)
        return cps_err_input(name, 0, "image of %u dwords, expected %u as %s has",
                             program->image.count - 1, fw->count, fw->name);
    for (uint32_t i = 0; i < fw->count; i++) {
        if (program->image.words[1 + i] != fw->words[i])
            return cps_err_input(name, 0, "dword 0x%04x is 0x%08x, expected 0x%08x as in %s", i,
                                 program->image.words[1 + i], fw->words[i], fw->name);
    }
    for (unsigned i = 0; i < fw->part_count; i++)
        CPS_TRY(check_part(fw, name, program, i));
    return NULL;
}

static struct cps_err *read_elf(const struct cps_fw *fw, const char *name, const uint8_t *bytes,
                                size_t size, struct cps_fw_debug *ret)
{
    CPS_CLEANUP(cps_program_deinit) struct cps_program program = {0};
    CPS_TRY(cps_elf_read(name, bytes, size, &program));
    CPS_TRY(check_image(fw, name, &program));
    *ret = program.debug;
    program.debug = (struct cps_fw_debug){0};
    return NULL;
}

/* Symbols come to those that are there; lines, if there are any, stand in for the old ones. */
static struct cps_err *merge(struct cps_fw *fw, struct cps_fw_debug *from)
{
    struct cps_fw_debug *to = &fw->debug;
    for (size_t i = 0; i < from->symbol_count; i++) {
        const struct cps_fw_symbol *symbol = &from->symbols[i];
        CPS_TRY(cps_fw_debug_symbol_(to, symbol->name, strlen(symbol->name), *symbol));
    }
    if (from->line_count) {
        struct cps_fw_debug old = *to;
        to->lines = from->lines;
        to->line_count = from->line_count;
        to->files = from->files;
        to->file_count = from->file_count;
        from->lines = old.lines;
        from->line_count = old.line_count;
        from->files = old.files;
        from->file_count = old.file_count;
    }
    cps_fw_debug_sort_(to);
    return NULL;
}

struct cps_err *cps_fw_symbols_parse(struct cps_fw *fw, const char *name, const void *bytes,
                                     size_t size)
{
    CPS_CLEANUP(cps_fw_debug_deinit) struct cps_fw_debug debug = {0};
    if (cps_is_elf(bytes, size))
        CPS_TRY(read_elf(fw, name, bytes, size, &debug));
    else
        CPS_TRY(read_text(fw, name, bytes, size, &debug));
    CPS_TRY(cps_fw_debug_packets_(fw, &debug));
    return merge(fw, &debug);
}
