/* SPDX-License-Identifier: MIT
 * Fuzz target: rnndb XML, as Adreno's and as NVIDIA's. Whatever is accepted must give sorted tables
 * within the limits. */
#include <string.h>

#include "isa/names/rnn_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Fields must lie in the word, and name tables that there are. */
static void check_fields(const struct cps_name_source *source, const struct cps_name_table *table,
                         const struct cps_name_row *row)
{
    for (uint32_t i = 0; i < row->field_count; i++) {
        const struct cps_name_field *field = &table->fields[row->first_field + i];
        if (!field->name || field->low > field->high || field->high > 63 ||
            field->type.kind >= CPS_KIND_COUNT || field->type.shift > 63 ||
            field->type.values > source->count || field->when.values > source->count)
            __builtin_trap();
    }
    if (row->when.values > source->count || (row->length > 1 && !row->stride))
        __builtin_trap();
}

/* Rows must be in the orders that the binary searches rely on. */
static void check_table(const struct cps_name_source *source, const struct cps_name_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        check_fields(source, table, &table->rows[i]);
    for (size_t i = 1; i < table->count; i++) {
        const struct cps_name_row *row = table->rows;
        if (cps_row_order_(&row[i - 1], &row[i]) >= 0 ||
            strcmp(row[table->by_name[i - 1]].name, row[table->by_name[i]].name) > 0)
            __builtin_trap();
    }
}

static void parse(struct cps_rnn *rnn, const uint8_t *data, size_t size)
{
    struct cps_err *err = cps_rnn_parse_(rnn, "fuzz.xml", data, size);
    if (!err)
        err = cps_rnn_finish_(rnn);
    const struct cps_name_source *source = cps_rnn_source_(rnn);
    for (size_t i = 0; !err && i < source->count; i++)
        check_table(source, &source->tables[i]);
    if (rnn->names > CPS_RNN_MAX_NAMES)
        __builtin_trap();
    cps_err_free(err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum cps_layout layouts[] = {CPS_LAYOUT_A7XX, CPS_LAYOUT_G92};
    for (unsigned i = 0; i < 2; i++) {
        struct cps_rnn *rnn = NULL;
        struct cps_err *err = cps_rnn_create_(layouts[i], &rnn);
        if (!err)
            parse(rnn, data, size);
        cps_err_free(err);
        cps_rnn_destroy_(rnn);
    }
    return 0;
}
