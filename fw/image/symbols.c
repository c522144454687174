/* SPDX-License-Identifier: MIT
 * Symbols and source lines: names of parts and packets, the lists, how places are looked up in
 * them, and symbols for a file that has none of its own: from text, or from the ELF form of the
 * same image. */
#include <string.h>

#include "fw/image/private.h"
#include "isa/base/lex.h"
#include "isa/base/list.h"

/* ---- names ---- */

static const struct {
    const char *name, *section;
} roles[] = {
#define ROLE(id, name, section, first, second, meaning) {name, section},
#include "isa/target.def"
};

const char *cps_fw_role_name(enum cps_fw_role role)
{
    return roles[role].name;
}

const char *cps_fw_role_section(enum cps_fw_role role)
{
    return roles[role].section;
}

void cps_fw_sections_(bool elf, struct cps_buf *out)
{
    unsigned last = CPS_FW_ROLE_COUNT - 1;
    while (last && !roles[last].section)
        last--;
    bool first = true;
    for (unsigned i = 0; i <= last; i++) {
        if (!roles[i].section)
            continue;
        cps_buf_str(out, first ? "" : i == last ? " or " : ", ");
        if (elf)
            cps_buf_printf(out, ".text.%s", roles[i].name);
        else
            cps_buf_str(out, roles[i].section);
        first = false;
    }
}

static bool is_unknown_label(const char *name, size_t length, unsigned *ret)
{
    unsigned id = 0;
    if (length < 5 || length > 7 || memcmp(name, "UNKN", 4) != 0)
        return false;
    for (size_t i = 4; i < length; i++) {
        if (name[i] < '0' || name[i] > '9')
            return false;
        id = id * 10 + (unsigned)(name[i] - '0');
    }
    *ret = id;
    return id < CPS_FW_TABLE_SIZE;
}

bool cps_fw_packet_(const struct cps_names *names, const char *name, size_t length, unsigned *ret)
{
    uint32_t number = 0;
    if (is_unknown_label(name, length, ret))
        return true;
    if (!cps_name_number(names, CPS_SPACE_PACKET, name, length, &number) ||
        number >= CPS_FW_TABLE_SIZE)
        return false;
    *ret = number;
    return true;
}

/* ---- lists ---- */

struct cps_err *cps_fw_debug_symbol_(struct cps_fw_debug *debug, const char *name, size_t length,
                                     struct cps_fw_symbol symbol)
{
    symbol.name = strndup(name, length);
    if (!symbol.name || !CPS_LIST_ROOM(debug->symbols, debug->symbol_count)) {
        free(symbol.name);
        return cps_err_nomem();
    }
    debug->symbols[debug->symbol_count++] = symbol;
    return NULL;
}

struct cps_err *cps_fw_debug_file_(struct cps_fw_debug *debug, const char *path, uint32_t *ret)
{
    for (*ret = 0; *ret < debug->file_count; ++*ret) {
        if (!strcmp(debug->files[*ret], path))
            return NULL;
    }
    char *copy = strdup(path);
    if (!copy || !CPS_LIST_ROOM(debug->files, debug->file_count)) {
        free(copy);
        return cps_err_nomem();
    }
    debug->files[debug->file_count++] = copy;
    return NULL;
}

bool cps_fw_debug_line_(struct cps_fw_debug *debug, struct cps_fw_line line)
{
    if (!CPS_LIST_ROOM(debug->lines, debug->line_count))
        return false;
    debug->lines[debug->line_count++] = line;
    return true;
}

void cps_fw_debug_deinit(struct cps_fw_debug *debug)
{
    for (size_t i = 0; i < debug->symbol_count; i++)
        free(debug->symbols[i].name);
    for (size_t i = 0; i < debug->file_count; i++)
        free(debug->files[i]);
    free(debug->symbols);
    free(debug->lines);
    free(debug->files);
    *debug = (struct cps_fw_debug){0};
}

void cps_program_deinit(struct cps_program *program)
{
    free(program->image.words);
    cps_fw_debug_deinit(&program->debug);
    *program = (struct cps_program){0};
}

/* Places in the order of the image. */
static int compare_places(uint32_t part_a, uint32_t a, uint32_t part_b, uint32_t b)
{
    if (part_a != part_b)
        return part_a < part_b ? -1 : 1;
    return a < b ? -1 : a > b;
}

static int compare_symbols(const void *left, const void *right)
{
    const struct cps_fw_symbol *a = left;
    const struct cps_fw_symbol *b = right;
    int order = compare_places(a->part, a->dword, b->part, b->dword);
    return order ? order : strcmp(a->name, b->name);
}

static int compare_lines(const void *left, const void *right)
{
    const struct cps_fw_line *a = left;
    const struct cps_fw_line *b = right;
    int order = compare_places(a->part, a->dword, b->part, b->dword);
    if (!order)
        order = compare_places(a->file, a->line, b->file, b->line);
    return order;
}

void cps_fw_debug_sort_(struct cps_fw_debug *debug)
{
    if (debug->symbol_count)
        qsort(debug->symbols, debug->symbol_count, sizeof(*debug->symbols), compare_symbols);
    if (debug->line_count)
        qsort(debug->lines, debug->line_count, sizeof(*debug->lines), compare_lines);
}

const struct cps_fw_symbol *cps_fw_symbol_at(const struct cps_fw *fw, uint32_t part, uint32_t dword,
                                             uint32_t *offset)
{
    const struct cps_fw_symbol *list = fw->debug.symbols;
    size_t end = 0; /* of those that do not lie after the place */
    for (size_t high = fw->debug.symbol_count; end < high;) {
        size_t middle = end + (high - end) / 2;
        if (compare_places(list[middle].part, list[middle].dword, part, dword) <= 0)
            end = middle + 1;
        else
            high = middle;
    }
    if (!end || list[end - 1].part != part)
        return NULL;
    const struct cps_fw_symbol *found = &list[end - 1];
    while (found > list && !compare_places(found[-1].part, found[-1].dword, part, found->dword))
        found--;
    if (offset)
        *offset = dword - found->dword;
    return found;
}

const struct cps_fw_line *cps_fw_line_at(const struct cps_fw *fw, uint32_t part, uint32_t dword)
{
    const struct cps_fw_line *list = fw->debug.lines;
    size_t end = 0;
    if (part >= fw->part_count || dword >= fw->part[part].size)
        return NULL;
    for (size_t high = fw->debug.line_count; end < high;) {
        size_t middle = end + (high - end) / 2;
        if (compare_places(list[middle].part, list[middle].dword, part, dword) <= 0)
            end = middle + 1;
        else
            high = middle;
    }
    return end && list[end - 1].part == part ? &list[end - 1] : NULL;
}

/* Whether @p name begins with the part's role and a colon: then @p ret is what follows. */
static bool has_role(const struct cps_fw_part *part, const char *name, const char **ret)
{
    const char *role = cps_fw_role_name(part->role);
    size_t length = strlen(role);
    if (strncmp(name, role, length) != 0 || name[length] != ':')
        return false;
    *ret = name + length + 1;
    return true;
}

const struct cps_fw_symbol *cps_fw_symbol_find(const struct cps_fw *fw, const char *name)
{
    uint32_t only = fw->part_count;
    for (uint32_t i = 0; i < fw->part_count && only == fw->part_count; i++)
        only = has_role(&fw->part[i], name, &name) ? i : only;
    for (size_t i = 0; i < fw->debug.symbol_count; i++) {
        const struct cps_fw_symbol *symbol = &fw->debug.symbols[i];
        if ((only == fw->part_count || symbol->part == only) && !strcmp(symbol->name, name))
            return symbol;
    }
    return NULL;
}

/* ---- files of symbols ---- */

bool cps_is_elf(const void *bytes, size_t size)
{
    return size >= 4 && !memcmp(bytes, "\177ELF", 4);
}

struct cps_err *cps_fw_debug_packets_(const struct cps_fw *fw, struct cps_fw_debug *debug)
{
    struct cps_names *names = NULL;
    CPS_TRY(cps_names_create(fw->layout, NULL, &names));
    for (size_t i = 0; i < debug->symbol_count; i++) {
        struct cps_fw_symbol *symbol = &debug->symbols[i];
        unsigned id = 0;
        bool is_packet = cps_fw_packet_(names, symbol->name, strlen(symbol->name), &id);
        symbol->packet = is_packet ? (int)id : -1;
    }
    cps_names_destroy(names);
    return NULL;
}

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
    else {
        struct text t = {.name = name, .next = bytes, .end = bytes + size};
        while (t.next < t.end) {
            CPS_TRY(next_line(&t));
            CPS_TRY(take_line(fw, &t, &debug));
        }
    }
    CPS_TRY(cps_fw_debug_packets_(fw, &debug));
    return merge(fw, &debug);
}
