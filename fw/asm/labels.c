/* SPDX-License-Identifier: MIT
 * Labels, in the order of section and name; and what else the assembler knows about its source and
 * the words alone do not tell. */
#include "fw/asm/asm.h"

#include <string.h>

#include "fw/image/private.h"
#include "isa/base/list.h"

void cps_asm_labels_deinit_(struct cps_asm_labels *labels)
{
    free(labels->list);
    *labels = (struct cps_asm_labels){0};
}

bool cps_asm_labels_add_(struct cps_asm_labels *labels, struct cps_asm_label label)
{
    if (!CPS_LIST_ROOM(labels->list, labels->count))
        return false;
    labels->list[labels->count++] = label;
    return true;
}

static int compare_names(const struct cps_asm_label *a, const struct cps_asm_label *b)
{
    if (a->section != b->section)
        return a->section < b->section ? -1 : 1;
    size_t length = a->length < b->length ? a->length : b->length;
    int order = memcmp(a->name, b->name, length);
    if (order || a->length == b->length)
        return order;
    return a->length < b->length ? -1 : 1;
}

/* Equal names keep their order in the source (and in the line), so that the first one is found. */
static int compare(const void *left, const void *right)
{
    const struct cps_asm_label *a = left;
    const struct cps_asm_label *b = right;
    int order = compare_names(a, b);
    return order ? order : a->name < b->name ? -1 : a->name > b->name;
}

void cps_asm_labels_sort_(struct cps_asm_labels *labels)
{
    if (labels->count)
        qsort(labels->list, labels->count, sizeof(*labels->list), compare);
}

const struct cps_asm_label *cps_asm_labels_find_(const struct cps_asm_labels *labels,
                                                 unsigned section, const char *name, size_t length)
{
    const struct cps_asm_label key = {.name = name, .length = length, .section = section};
    size_t low = 0;
    size_t high = labels->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_names(&labels->list[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == labels->count || compare_names(&labels->list[low], &key) != 0)
        return NULL;
    return &labels->list[low];
}

/* One entry for all words of a statement. */
bool cps_asm_note_line_(struct cps_assembler *a)
{
    struct cps_fw_debug *debug = a->debug;
    uint32_t part = a->part_count - 1;
    if (debug->line_count) {
        const struct cps_fw_line *last = &debug->lines[debug->line_count - 1];
        if (last->part == part && last->line == a->text.number)
            return true;
    }
    const struct cps_fw_line line = {part, cps_asm_pc_(a), 0, a->text.number};
    a->failed |= !cps_fw_debug_line_(debug, line);
    return !a->failed;
}

static struct cps_err *put_symbols(struct cps_assembler *a)
{
    for (size_t i = 0; i < a->labels.count; i++) {
        const struct cps_asm_label *label = &a->labels.list[i];
        unsigned id = 0;
        bool is_packet = cps_fw_packet_(a->names, label->name, label->length, &id);
        const struct cps_fw_symbol symbol = {.part = a->part_of[label->section],
                                             .dword = label->offset,
                                             .packet = is_packet ? (int)id : -1};
        CPS_TRY(cps_fw_debug_symbol_(a->debug, label->name, label->length, symbol));
    }
    return NULL;
}

struct cps_err *cps_asm_program_(struct cps_assembler *a, struct cps_program *ret)
{
    uint32_t file = 0;
    ret->gen = a->gen;
    ret->part_count = a->part_count;
    for (unsigned i = 0; i < a->part_count; i++) {
        uint32_t end = i + 1 < a->part_count ? a->part[i + 1].start : a->position;
        ret->part[i] = a->part[i];
        ret->part[i].size = end - a->part[i].start;
    }
    if (a->layout == CPS_LAYOUT_A5XX_PFP || a->layout == CPS_LAYOUT_A5XX_ME)
        ret->part[0].role = a->layout == CPS_LAYOUT_A5XX_ME ? CPS_FW_ME : CPS_FW_PFP;
    CPS_TRY(cps_fw_debug_file_(a->debug, a->text.name, &file));
    CPS_TRY(put_symbols(a));
    cps_fw_debug_sort_(a->debug);
    return NULL;
}
