/* SPDX-License-Identifier: MIT
 * The tables that rnndb XML is read into: growing, resolving, sorting. */
#include "isa/names/rnn_store.h"

#include "isa/base/list.h"

/* Copied names stand one behind the other in blocks, so that 200,000 of them are few objects. */
enum { TEXT_BLOCK = 64 * 1024 };

struct cps_rnn_text {
    struct cps_rnn_text *older;
    size_t used;
    char data[TEXT_BLOCK];
};

struct cps_err *cps_rnn_create_(enum cps_layout layout, struct cps_rnn **ret)
{
    struct cps_rnn *rnn = calloc(1, sizeof(*rnn));
    if (!rnn)
        return cps_err_nomem();
    rnn->layout = layout;
    *ret = rnn;
    return NULL;
}

void cps_rnn_destroy_(struct cps_rnn *rnn)
{
    if (!rnn)
        return;
    for (unsigned space = 0; space < CPS_SPACE_COUNT; space++) {
        free((void *)rnn->table[space].rows);
        free((void *)rnn->table[space].by_name);
    }
    while (rnn->text) {
        struct cps_rnn_text *older = rnn->text->older;
        free(rnn->text);
        rnn->text = older;
    }
    free(rnn->rows);
    free(rnn->fields);
    free(rnn->bitsets);
    free(rnn);
}

const struct cps_name_table *cps_rnn_table_(const struct cps_rnn *rnn, enum cps_space space)
{
    return &rnn->table[space];
}

const char *cps_rnn_copy_(struct cps_rnn *rnn, const char *text)
{
    size_t size = strlen(text) + 1;
    if (size > TEXT_BLOCK)
        return NULL;
    if (!rnn->text || TEXT_BLOCK - rnn->text->used < size) {
        struct cps_rnn_text *block = malloc(sizeof(*block));
        if (!block)
            return NULL;
        block->older = rnn->text;
        block->used = 0;
        rnn->text = block;
    }
    char *copy = rnn->text->data + rnn->text->used;
    rnn->text->used += size;
    return memcpy(copy, text, size);
}

/* Counts one more element; false when there are too many. */
static bool count_name(struct cps_rnn *rnn)
{
    return rnn->names < CPS_RNN_MAX_NAMES && ++rnn->names;
}

bool cps_rnn_add_row_(struct cps_rnn *rnn, const struct cps_rnn_row *row)
{
    if (!count_name(rnn) || !CPS_LIST_ROOM(rnn->rows, rnn->row_count))
        return false;
    rnn->rows[rnn->row_count] = *row;
    rnn->rows[rnn->row_count].row.order = rnn->row_count;
    rnn->row_count++;
    return true;
}

bool cps_rnn_add_field_(struct cps_rnn *rnn, const struct cps_name_field *field)
{
    if (!count_name(rnn) || !CPS_LIST_ROOM(rnn->fields, rnn->field_count))
        return false;
    rnn->fields[rnn->field_count++] = *field;
    return true;
}

bool cps_rnn_add_bitset_(struct cps_rnn *rnn, const struct cps_rnn_bitset *bitset)
{
    if (!count_name(rnn) || !CPS_LIST_ROOM(rnn->bitsets, rnn->bitset_count))
        return false;
    rnn->bitsets[rnn->bitset_count++] = *bitset;
    return true;
}

/* Where a bit set is defined twice, the first definition sorts first. */
static int compare_bitsets(const void *left, const void *right)
{
    const struct cps_rnn_bitset *a = left;
    const struct cps_rnn_bitset *b = right;
    int order = strcmp(a->name, b->name);
    uint32_t end_a = a->first_field + a->field_count;
    uint32_t end_b = b->first_field + b->field_count;
    return order ? order : end_a < end_b ? -1 : end_a > end_b;
}

static const struct cps_rnn_bitset *find_bitset(const struct cps_rnn *rnn, const char *name)
{
    uint32_t low = 0;
    uint32_t high = rnn->bitset_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (strcmp(rnn->bitsets[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < rnn->bitset_count && !strcmp(rnn->bitsets[low].name, name);
    return found ? &rnn->bitsets[low] : NULL;
}

static void resolve_types(struct cps_rnn *rnn)
{
    if (rnn->bitset_count)
        qsort(rnn->bitsets, rnn->bitset_count, sizeof(*rnn->bitsets), compare_bitsets);
    for (uint32_t i = 0; i < rnn->row_count; i++) {
        struct cps_rnn_row *row = &rnn->rows[i];
        const struct cps_rnn_bitset *bitset =
            row->type && !row->row.field_count ? find_bitset(rnn, row->type) : NULL;
        if (!bitset)
            continue;
        row->row.first_field = bitset->first_field;
        row->row.field_count = bitset->field_count;
    }
}

static bool sort_by_name(const struct cps_name_row *rows, size_t count, uint32_t *by_name)
{
    CPS_FREE const struct cps_name_row **sorted = malloc(count * sizeof(*sorted));
    if (!sorted)
        return false;
    for (size_t i = 0; i < count; i++)
        sorted[i] = &rows[i];
    qsort(sorted, count, sizeof(*sorted), cps_row_by_name_);
    for (size_t i = 0; i < count; i++)
        by_name[i] = (uint32_t)(sorted[i] - rows);
    return true;
}

static size_t copy_space(const struct cps_rnn *rnn, int space, struct cps_name_row *ret)
{
    size_t count = 0;
    for (uint32_t i = 0; i < rnn->row_count; i++) {
        if (rnn->rows[i].space == space)
            ret[count++] = rnn->rows[i].row;
    }
    return count;
}

static struct cps_err *finish_space(struct cps_rnn *rnn, int space)
{
    struct cps_name_table *table = &rnn->table[space];
    table->fields = rnn->fields;
    if (!rnn->row_count)
        return NULL;
    struct cps_name_row *rows = malloc(rnn->row_count * sizeof(*rows));
    uint32_t *by_name = malloc(rnn->row_count * sizeof(*by_name));
    table->rows = rows;
    table->by_name = by_name;
    if (!rows || !by_name)
        return cps_err_nomem();
    size_t count = copy_space(rnn, space, rows);
    if (!count)
        return NULL;
    qsort(rows, count, sizeof(*rows), cps_row_order_);
    if (!sort_by_name(rows, count, by_name))
        return cps_err_nomem();
    table->count = count;
    return NULL;
}

struct cps_err *cps_rnn_finish_(struct cps_rnn *rnn)
{
    resolve_types(rnn);
    for (int space = 0; space < CPS_SPACE_COUNT; space++)
        CPS_TRY(finish_space(rnn, space));
    return NULL;
}
