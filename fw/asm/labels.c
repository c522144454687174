/* SPDX-License-Identifier: MIT
 * The labels of an assembly source. */
#include "fw/asm/labels.h"

#include <string.h>

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
