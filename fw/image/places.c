/* SPDX-License-Identifier: MIT
 * Symbols and source lines: the lists, and how places are looked up in them. */
#include <string.h>

#include "fw/image/private.h"
#include "isa/base/list.h"

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
    size_t end = 0; /* of those that do not lie behind the place */
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
