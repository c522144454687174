/* SPDX-License-Identifier: MIT
 * The user's labels in a listing. */
#include "fw/listing/listing.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "isa/base/lex.h"
#include "isa/base/list.h"
#include "fw/image/private.h"

/* So that the longest instruction with a label fits into a statement of the assembler. */
#define MAX_LENGTH 200

/* "l0012", "fxn0012": what the listing calls the place itself. */
static bool is_generated(const char *name, bool *ret_is_own, uint32_t dword)
{
    char own[24];
    size_t prefix = !strncmp(name, "fxn", 3) ? 3 : name[0] == 'l' ? 1 : 0;
    snprintf(own, sizeof(own), "%04" PRIx32, dword);
    *ret_is_own = !strcmp(name + prefix, own);
    return prefix && strspn(name + prefix, "0123456789abcdef") == strlen(name + prefix);
}

static bool is_packet_like(const char *name, const struct cps_names *names)
{
    unsigned id = 0;
    return !strncmp(name, "CP_", 3) || !strncmp(name, "PKT", 3) || !strncmp(name, "UNKN", 4) ||
           cps_fw_packet_(names, name, strlen(name), &id);
}

static bool is_usable(const struct cps_fw_part *part, const struct cps_fw_symbol *symbol,
                      const struct cps_names *names)
{
    bool is_own = false;
    size_t length = strlen(symbol->name);
    if (length > MAX_LENGTH || cps_lex_identifier(symbol->name) != length ||
        symbol->dword >= part->size || is_packet_like(symbol->name, names))
        return false;
    if (!strcmp(symbol->name, "jumptbl"))
        return symbol->dword == part->table;
    return !is_generated(symbol->name, &is_own, symbol->dword) || is_own;
}

static int compare_names(const void *left, const void *right)
{
    const struct cps_fw_symbol *a = *(const struct cps_fw_symbol *const *)left;
    const struct cps_fw_symbol *b = *(const struct cps_fw_symbol *const *)right;
    int order = strcmp(a->name, b->name);
    return order ? order : a->dword < b->dword ? -1 : a->dword > b->dword;
}

static int compare_places(const void *left, const void *right)
{
    const struct cps_fw_symbol *a = *(const struct cps_fw_symbol *const *)left;
    const struct cps_fw_symbol *b = *(const struct cps_fw_symbol *const *)right;
    if (a->dword != b->dword)
        return a->dword < b->dword ? -1 : 1;
    return strcmp(a->name, b->name);
}

static void drop_repeated(struct cps_listing_labels *labels)
{
    size_t kept = 0;
    qsort(labels->list, labels->count, sizeof(*labels->list), compare_names);
    for (size_t i = 0; i < labels->count; i++) {
        if (!kept || strcmp(labels->list[kept - 1]->name, labels->list[i]->name) != 0)
            labels->list[kept++] = labels->list[i];
    }
    labels->count = kept;
    qsort(labels->list, labels->count, sizeof(*labels->list), compare_places);
}

struct cps_err *cps_listing_labels_init_(const struct cps_fw *fw, uint32_t part,
                                         const struct cps_names *names,
                                         struct cps_listing_labels *ret)
{
    struct cps_listing_labels labels = {NULL, 0};
    for (size_t i = 0; i < fw->debug.symbol_count; i++) {
        const struct cps_fw_symbol *symbol = &fw->debug.symbols[i];
        if (symbol->part != part || !is_usable(&fw->part[part], symbol, names))
            continue;
        if (!CPS_LIST_ROOM(labels.list, labels.count)) {
            cps_listing_labels_deinit_(&labels);
            return cps_err_nomem();
        }
        labels.list[labels.count++] = symbol;
    }
    if (labels.count)
        drop_repeated(&labels);
    *ret = labels;
    return NULL;
}

void cps_listing_labels_deinit_(struct cps_listing_labels *labels)
{
    free(labels->list);
    *labels = (struct cps_listing_labels){NULL, 0};
}

const struct cps_fw_symbol *const *cps_listing_labels_find_(const struct cps_listing_labels *labels,
                                                            uint32_t dword)
{
    size_t low = 0;
    for (size_t high = labels->count; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (labels->list[middle]->dword < dword)
            low = middle + 1;
        else
            high = middle;
    }
    return low < labels->count && labels->list[low]->dword == dword ? &labels->list[low] : NULL;
}
