/* SPDX-License-Identifier: MIT
 * Numbers to names and back: GPU, control, SQE and pipe registers, packets and events. */
#include "isa/isa.h"

#include <inttypes.h>

#include "isa/names/changed.h"
#include "isa/names/table.h"
#include "isa/names/rnn.h"

#define CHIPS_5   CPS_CHIP_BIT(5)
#define CHIPS_6   CPS_CHIP_BIT(6)
#define CHIPS_7   CPS_CHIP_BIT(7)
#define CHIPS_8   CPS_CHIP_BIT(8)
#define CHIPS_ANY CPS_CHIPS_ALL

static const struct {
    uint8_t chips;
    const char *domain[CPS_SPACE_COUNT]; /* which table of the source holds the names of a space */
} layouts[] = {
#define LAYOUT(id, gen, word, variants, gpu, control, sqe, pipe, packet, event, flag) \
    {CHIPS_##variants,                                                                \
     {[CPS_SPACE_GPU] = gpu,                                                          \
      [CPS_SPACE_CONTROL] = control,                                                  \
      [CPS_SPACE_SQE] = sqe,                                                          \
      [CPS_SPACE_PIPE] = pipe,                                                        \
      [CPS_SPACE_PACKET] = packet,                                                    \
      [CPS_SPACE_EVENT] = event,                                                      \
      [CPS_SPACE_FLAG] = flag}},
#include "isa/target.def"
};

/* Where names are looked for, in this order. */
enum { FROM_USER, FROM_BUILT_IN, SOURCE_COUNT };

struct cps_names {
    enum cps_layout layout;
    uint8_t chips;
    struct cps_rnn *rnn; /* owner of the user's tables, or NULL */
    const struct cps_name_table *table[SOURCE_COUNT][CPS_SPACE_COUNT];
};

int cps_names_space_(enum cps_layout layout, const char *name)
{
    for (int space = 0; space < CPS_SPACE_COUNT; space++) {
        const char *domain = layouts[layout].domain[space];
        if (domain && !strcmp(domain, name))
            return space;
    }
    /* A tree may hold the later registers in a domain of their own. */
    enum cps_gen gen = cps_layout_gen(layout);
    bool later = (cps_gen_since(gen, CPS_A7XX) && !strcmp(name, "A7XX")) ||
                 (gen == CPS_A8XX && !strcmp(name, "A8XX"));
    return later ? CPS_SPACE_GPU : -1;
}

static void choose_built_in(struct cps_names *names)
{
    for (size_t i = 0; i < cps_name_table_count_; i++) {
        const struct cps_name_table *table = &cps_name_tables_[i];
        int space = cps_names_space_(names->layout, table->domain);
        if (space >= 0)
            names->table[FROM_BUILT_IN][space] = table;
    }
}

struct cps_err *cps_names_create(enum cps_layout layout, const char *rnn_dir,
                                 struct cps_names **ret)
{
    struct cps_rnn *rnn = NULL;
    if (rnn_dir)
        CPS_TRY(cps_rnn_load_(layout, rnn_dir, &rnn));
    struct cps_names *names = calloc(1, sizeof(*names));
    if (!names) {
        cps_rnn_destroy_(rnn);
        return cps_err_nomem();
    }
    names->layout = layout;
    names->chips = layouts[layout].chips;
    names->rnn = rnn;
    choose_built_in(names);
    for (unsigned space = 0; rnn && space < CPS_SPACE_COUNT; space++)
        names->table[FROM_USER][space] = cps_rnn_table_(rnn, (enum cps_space)space);
    *ret = names;
    return NULL;
}

void cps_names_destroy(struct cps_names *names)
{
    if (!names)
        return;
    cps_rnn_destroy_(names->rnn);
    free(names);
}

/* The first row of the lowest number that is not below `number`. */
static size_t lower_bound(const struct cps_name_table *table, uint32_t number)
{
    size_t low = 0;
    size_t high = table->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->rows[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool has_name(const struct cps_names *names, enum cps_space space,
                     const struct cps_name_row *row)
{
    /* The ME has no documented numbers but this one; the PFP's would be wrong names. */
    if (names->layout == CPS_LAYOUT_A5XX_ME && space == CPS_SPACE_CONTROL)
        return !strcmp(row->name, "STORE_HI");
    return row->chips & names->chips;
}

static const struct cps_name_row *find_exact(const struct cps_names *names, unsigned source,
                                             enum cps_space space, uint32_t number)
{
    const struct cps_name_table *table = names->table[source][space];
    if (!table)
        return NULL;
    for (size_t i = lower_bound(table, number); i < table->count && table->rows[i].number == number;
         i++) {
        if (has_name(names, space, &table->rows[i]))
            return &table->rows[i];
    }
    return NULL;
}

/* The row that covers a number; `fields` are the table's, since rows only index them. */
static const struct cps_name_row *find_cover(const struct cps_names *names, enum cps_space space,
                                             uint32_t number, unsigned *index,
                                             const struct cps_name_field **fields)
{
    for (unsigned source = 0; source < SOURCE_COUNT; source++) {
        *index = 0;
        const struct cps_name_row *row = find_exact(names, source, space, number);
        if (!row && number > 0) {
            *index = 1;
            row = find_exact(names, source, space, number - 1);
            if (row && !row->wide)
                row = NULL;
        }
        if (row) {
            *fields = names->table[source][space]->fields;
            return row;
        }
    }
    return NULL;
}

const char *cps_name(const struct cps_names *names, enum cps_space space, uint32_t number,
                     unsigned *index)
{
    unsigned half;
    const struct cps_name_field *fields;
    const struct cps_name_row *row = find_cover(names, space, number, &half, &fields);
    if (!row)
        return NULL;
    if (index)
        *index = half;
    return row->name;
}

static int compare_name(const struct cps_name_row *row, const char *name, size_t length)
{
    size_t have = strlen(row->name);
    int order = memcmp(row->name, name, have < length ? have : length);
    return order ? order : have < length ? -1 : have > length;
}

/* The best row called `name`: one of the handle's generation, else of any. */
static const struct cps_name_row *find_name(const struct cps_name_table *table, uint8_t chips,
                                            const char *name, size_t length)
{
    size_t low = 0;
    size_t high = table->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_name(&table->rows[table->by_name[middle]], name, length) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    const struct cps_name_row *other = NULL;
    for (size_t i = low; i < table->count; i++) {
        const struct cps_name_row *row = &table->rows[table->by_name[i]];
        if (compare_name(row, name, length) != 0)
            break;
        if (row->chips & chips)
            return row;
        if (!other)
            other = row;
    }
    return other;
}

bool cps_name_number(const struct cps_names *names, enum cps_space space, const char *name,
                     size_t length, uint32_t *ret)
{
    for (unsigned source = 0; source < SOURCE_COUNT; source++) {
        const struct cps_name_table *table = names->table[source][space];
        const struct cps_name_row *row =
            table ? find_name(table, names->chips, name, length) : NULL;
        if (row) {
            *ret = row->number;
            return true;
        }
    }
    return false;
}

/* Which bits of this half of the register a field has; 0 if none. */
static uint32_t field_bits(const struct cps_name_field *field, unsigned half, unsigned *low)
{
    unsigned base = half * 32;
    *low = 0;
    if (field->high < base || field->low > base + 31)
        return 0;
    *low = field->low > base ? field->low - base : 0;
    unsigned high = field->high < base + 31 ? field->high - base : 31;
    return (UINT32_MAX >> (31 - (high - *low))) << *low;
}

/* Appends one field if its part in this half of the register is not zero. */
static void add_field(const struct cps_name_field *field, unsigned half, uint32_t value,
                      size_t start, struct cps_buf *out)
{
    unsigned low = 0;
    uint32_t bits = field_bits(field, half, &low);
    uint32_t part = (value & bits) >> low;
    if (!part)
        return;
    if (out->size != start)
        cps_buf_str(out, " ");
    cps_buf_str(out, field->name);
    if (field->low != field->high) {
        cps_buf_add(out, "=", 1);
        cps_buf_hex(out, part, 1);
    }
}

void cps_name_fields(const struct cps_names *names, enum cps_space space, uint32_t number,
                     uint32_t value, struct cps_buf *out)
{
    unsigned half;
    const struct cps_name_field *fields;
    const struct cps_name_row *row = find_cover(names, space, number, &half, &fields);
    size_t start = out->size;
    for (uint32_t i = 0; row && i < row->field_count; i++) {
        const struct cps_name_field *field = &fields[row->first_field + i];
        if (field->chips & names->chips)
            add_field(field, half, value, start, out);
    }
}

static void add_part(const uint32_t *value, uint32_t bits, unsigned low, struct cps_buf *out)
{
    if (value)
        cps_buf_printf(out, "0x%" PRIx32, (*value & bits) >> low);
    else
        cps_buf_str(out, "missing");
}

uint32_t cps_name_changed_(const struct cps_names *names, enum cps_space space, uint32_t number,
                           const uint32_t *a, const uint32_t *b, struct cps_buf *out)
{
    unsigned half;
    const struct cps_name_field *fields;
    const struct cps_name_row *row = find_cover(names, space, number, &half, &fields);
    uint32_t differ = (a ? *a : 0) ^ (b ? *b : 0);
    uint32_t known = 0;
    size_t start = out->size;
    for (uint32_t i = 0; row && i < row->field_count; i++) {
        const struct cps_name_field *field = &fields[row->first_field + i];
        unsigned low = 0;
        uint32_t bits = field->chips & names->chips ? field_bits(field, half, &low) : 0;
        known |= bits;
        if (!(differ & bits))
            continue;
        cps_buf_printf(out, "%s%s ", out->size == start ? "" : ", ", field->name);
        add_part(a, bits, low, out);
        cps_buf_str(out, " -> ");
        add_part(b, bits, low, out);
    }
    return known;
}
