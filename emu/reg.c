/* SPDX-License-Identifier: MIT
 * The index of registers that behave. */
#include "emu/reg.h"

#include <inttypes.h>
#include <stdlib.h>

/* Tables whose numbers are all below this are indexed by number. */
#define DENSE 0x1000u

static uint32_t last_of(const struct cps_reg_row *row)
{
    return row->first + (row->count - 1) * row->stride;
}

static bool has(const struct cps_reg_row *row, uint32_t number)
{
    return number >= row->first && number <= last_of(row) &&
           (number - row->first) % row->stride == 0;
}

const struct cps_reg_row *cps_reg_search_(const struct cps_reg_index *index, uint32_t number)
{
    const struct cps_reg_row *const *sorted = index->row + index->dense;
    uint32_t low = 0;
    uint32_t high = index->sorted;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (sorted[middle]->first <= number)
            low = middle + 1;
        else
            high = middle;
    }
    for (uint32_t back = 0; back < low && back <= index->depth; back++) {
        if (has(sorted[low - 1 - back], number))
            return sorted[low - 1 - back];
    }
    return NULL;
}

static int by_first(const void *a, const void *b)
{
    const struct cps_reg_row *x = *(const struct cps_reg_row *const *)a;
    const struct cps_reg_row *y = *(const struct cps_reg_row *const *)b;
    return (x->first > y->first) - (x->first < y->first);
}

static struct cps_err *refuse(uint32_t number)
{
    return cps_err_new(CPS_ERR_INPUT, "two rows have register 0x%" PRIx32, number);
}

static struct cps_err *fill(struct cps_reg_index *index, const struct cps_reg_row *row)
{
    for (uint32_t i = 0; i < row->count; i++) {
        const struct cps_reg_row **slot = &index->row[row->first + i * row->stride];
        if (*slot)
            return refuse(row->first + i * row->stride);
        *slot = row;
    }
    return NULL;
}

/* Rows may only lie between the registers of another one if both have the same stride. */
static struct cps_err *sort(struct cps_reg_index *index)
{
    const struct cps_reg_row **sorted = index->row + index->dense;
    qsort(sorted, index->sorted, sizeof(*sorted), by_first);
    for (uint32_t i = 1; i < index->sorted; i++) {
        for (uint32_t j = 0; j < i; j++) {
            if (last_of(sorted[j]) < sorted[i]->first)
                continue;
            if (sorted[i]->stride != sorted[j]->stride || has(sorted[j], sorted[i]->first))
                return refuse(sorted[i]->first);
            index->depth = i - j > index->depth ? i - j : index->depth;
        }
    }
    return NULL;
}

/* How many rows there are, and the number after their last register. */
struct extent {
    uint32_t rows;
    uint64_t end;
};

static struct extent measure(const struct cps_reg_table *tables, size_t count, uint64_t gens)
{
    struct extent extent = {0};
    for (size_t t = 0; t < count; t++) {
        for (size_t i = 0; i < tables[t].count; i++) {
            const struct cps_reg_row *row = &tables[t].row[i];
            if (!(row->gens & gens))
                continue;
            uint64_t end = (uint64_t)last_of(row) + 1;
            extent.end = end > extent.end ? end : extent.end;
            extent.rows++;
        }
    }
    return extent;
}

static struct cps_err *add_rows(struct cps_reg_index *index, const struct cps_reg_table *table,
                                uint64_t gens)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct cps_reg_row *row = &table->row[i];
        if (row->gens & gens && index->dense)
            CPS_TRY(fill(index, row));
        else if (row->gens & gens)
            index->row[index->sorted++] = row;
    }
    return NULL;
}

struct cps_err *cps_reg_index_create_(const struct cps_reg_table *tables, size_t count,
                                      uint64_t gens, struct cps_reg_index **ret)
{
    struct extent extent = measure(tables, count, gens);
    size_t room = extent.end <= DENSE ? (size_t)extent.end : extent.rows;
    struct cps_reg_index *index = calloc(1, sizeof(*index) + room * sizeof(index->row[0]));
    if (!index)
        return cps_err_nomem();
    index->refs = 1;
    index->dense = extent.end <= DENSE ? (uint32_t)extent.end : 0;
    struct cps_err *err = NULL;
    for (size_t t = 0; t < count && !err; t++)
        err = add_rows(index, &tables[t], gens);
    if (!err)
        err = sort(index);
    if (err)
        cps_reg_index_unref_(index);
    else
        *ret = index;
    return err;
}

void cps_reg_index_ref_(struct cps_reg_index *index)
{
    if (index)
        index->refs++;
}

void cps_reg_index_unref_(struct cps_reg_index *index)
{
    if (index && --index->refs == 0)
        free(index);
}

uint32_t cps_reg_read_member_(const struct cps_access *at)
{
    return *cps_reg_member_(at->device, at->row, at->index);
}

void cps_reg_write_member_(const struct cps_access *at)
{
    *cps_reg_member_(at->device, at->row, at->index) = at->value;
}

void cps_reg_count_member_(const struct cps_access *at)
{
    ++*cps_reg_member_(at->device, at->row, at->index);
}

uint32_t cps_reg_read_none_(const struct cps_access *at)
{
    (void)at;
    return 0;
}

void cps_reg_write_none_(const struct cps_access *at)
{
    (void)at;
}

uint32_t cps_reg_lanes_(const struct cps_access *at, uint32_t old)
{
    uint32_t mask = 0;
    for (unsigned lane = 0; lane < 4; lane++)
        mask |= at->lanes >> lane & 1 ? UINT32_C(0xff) << 8 * lane : 0;
    return (old & ~mask) | (at->value & mask);
}
