/* SPDX-License-Identifier: MIT
 * Numbers to names and back: GPU, control, SQE and pipe registers, packets and events. */
#include "isa/isa.h"

#include "isa/names/table.h"
#include "isa/names/rnn.h"

/* Which table of the source holds the names of a space; the later layouts share a6xx's file. */
#define COMMON_SPACES \
    [CPS_SPACE_PACKET] = "adreno_pm4_type3_packets", [CPS_SPACE_EVENT] = "vgt_event_type"

static const char *const domains[CPS_LAYOUT_COUNT][CPS_SPACE_COUNT] = {
    [CPS_LAYOUT_A5XX_PFP] =
        {COMMON_SPACES, [CPS_SPACE_GPU] = "A5XX", [CPS_SPACE_CONTROL] = "A5XX_CONTROL_REG",
         [CPS_SPACE_PIPE] = "A5XX_PIPE_REG"},
    [CPS_LAYOUT_A5XX_ME] =
        {COMMON_SPACES, [CPS_SPACE_GPU] = "A5XX", [CPS_SPACE_CONTROL] = "A5XX_CONTROL_REG",
         [CPS_SPACE_PIPE] = "A5XX_PIPE_REG"},
    [CPS_LAYOUT_A6XX] =
        {COMMON_SPACES, [CPS_SPACE_GPU] = "A6XX", [CPS_SPACE_CONTROL] = "A6XX_CONTROL_REG",
         [CPS_SPACE_SQE] = "A6XX_SQE_REG", [CPS_SPACE_PIPE] = "A6XX_PIPE_REG"},
    [CPS_LAYOUT_A7XX] =
        {COMMON_SPACES, [CPS_SPACE_GPU] = "A6XX", [CPS_SPACE_CONTROL] = "A7XX_CONTROL_REG",
         [CPS_SPACE_SQE] = "A6XX_SQE_REG", [CPS_SPACE_PIPE] = "A7XX_PIPE_REG"},
    [CPS_LAYOUT_A7XX_GEN3] =
        {COMMON_SPACES, [CPS_SPACE_GPU] = "A6XX", [CPS_SPACE_CONTROL] = "A7XX_GEN3_CONTROL_REG",
         [CPS_SPACE_SQE] = "A6XX_SQE_REG", [CPS_SPACE_PIPE] = "A7XX_PIPE_REG"},
    [CPS_LAYOUT_A8XX] =
        {COMMON_SPACES, [CPS_SPACE_GPU] = "A6XX", [CPS_SPACE_CONTROL] = "A7XX_GEN3_CONTROL_REG",
         [CPS_SPACE_SQE] = "A6XX_SQE_REG", [CPS_SPACE_PIPE] = "A7XX_PIPE_REG"},
    [CPS_LAYOUT_NV17] = {[CPS_SPACE_GPU] = "NV_MMIO", [CPS_SPACE_FLAG] = "NV17_HWSQ_FLAG"},
    [CPS_LAYOUT_NV41] = {[CPS_SPACE_GPU] = "NV_MMIO",
                         [CPS_SPACE_FLAG] = "NV41_HWSQ_FLAG",
                         [CPS_SPACE_EVENT] = "HWSQ_EVENT"},
    [CPS_LAYOUT_G80] = {[CPS_SPACE_GPU] = "NV_MMIO",
                        [CPS_SPACE_FLAG] = "G80_HWSQ_FLAG",
                        [CPS_SPACE_EVENT] = "HWSQ_EVENT"},
    [CPS_LAYOUT_G92] = {[CPS_SPACE_GPU] = "NV_MMIO",
                        [CPS_SPACE_FLAG] = "G80_HWSQ_FLAG",
                        [CPS_SPACE_EVENT] = "HWSQ_EVENT"},
    [CPS_LAYOUT_SEQ_OLD] = {[CPS_SPACE_GPU] = "NV_MMIO", [CPS_SPACE_EVENT] = "SEQ_OLD_COND"},
    [CPS_LAYOUT_SEQ_NEW] = {[CPS_SPACE_GPU] = "NV_MMIO", [CPS_SPACE_EVENT] = "SEQ_NEW_COND"},
    [CPS_LAYOUT_NV1] = {[CPS_SPACE_GPU] = "NV1_MMIO"},
    [CPS_LAYOUT_NV3] = {[CPS_SPACE_GPU] = "NV3_MMIO"},
    [CPS_LAYOUT_NV3T] = {[CPS_SPACE_GPU] = "NV3T_MMIO"},
    [CPS_LAYOUT_VP1_NV41] = {[CPS_SPACE_GPU] = "NV_MMIO", [CPS_SPACE_FLAG] = "VP1_FLAG"},
    [CPS_LAYOUT_VP1_NV44] = {[CPS_SPACE_GPU] = "NV_MMIO", [CPS_SPACE_FLAG] = "VP1_FLAG"},
    [CPS_LAYOUT_VP1_G80] = {[CPS_SPACE_GPU] = "NV_MMIO", [CPS_SPACE_FLAG] = "VP1_FLAG"},
};

static const struct {
    enum cps_gen gen;
    const char *name;
    enum cps_layout layout; /* the first one */
} gens[] = {
    {CPS_A5XX, "a5xx", CPS_LAYOUT_A5XX_PFP},
    {CPS_A6XX, "a6xx", CPS_LAYOUT_A6XX},
    {CPS_A7XX, "a7xx", CPS_LAYOUT_A7XX},
    {CPS_A8XX, "a8xx", CPS_LAYOUT_A8XX},
    {CPS_NV17, "nv17", CPS_LAYOUT_NV17},
    {CPS_NV41, "nv41", CPS_LAYOUT_NV41},
    {CPS_G80, "g80", CPS_LAYOUT_G80},
    {CPS_G92, "g92", CPS_LAYOUT_G92},
    {CPS_SEQ_OLD, "seq-old", CPS_LAYOUT_SEQ_OLD},
    {CPS_SEQ_NEW, "seq-new", CPS_LAYOUT_SEQ_NEW},
    {CPS_NV1, "nv1", CPS_LAYOUT_NV1},
    {CPS_NV3, "nv3", CPS_LAYOUT_NV3},
    {CPS_NV3T, "nv3t", CPS_LAYOUT_NV3T},
    {CPS_VP1_NV41, "vp1-nv41", CPS_LAYOUT_VP1_NV41},
    {CPS_VP1_NV44, "vp1-nv44", CPS_LAYOUT_VP1_NV44},
    {CPS_VP1_G80, "vp1-g80", CPS_LAYOUT_VP1_G80},
};

enum { GEN_COUNT = sizeof(gens) / sizeof(gens[0]) };

/* Where names are looked for, in this order. */
enum { FROM_USER, FROM_BUILT_IN, SOURCE_COUNT };

struct cps_names {
    enum cps_layout layout;
    uint8_t chips;
    struct cps_rnn *rnn; /* owner of the user's tables, or NULL */
    const struct cps_name_table *table[SOURCE_COUNT][CPS_SPACE_COUNT];
};

enum cps_layout cps_gen_layout(enum cps_gen gen)
{
    for (unsigned i = 0; i < GEN_COUNT; i++) {
        if (gens[i].gen == gen)
            return gens[i].layout;
    }
    return CPS_LAYOUT_A8XX;
}

enum cps_gen cps_layout_gen(enum cps_layout layout)
{
    for (unsigned i = 0; i < GEN_COUNT; i++) {
        if (gens[i].layout == layout)
            return gens[i].gen;
    }
    return layout == CPS_LAYOUT_A5XX_ME ? CPS_A5XX : CPS_A7XX;
}

const char *cps_gen_name(enum cps_gen gen)
{
    for (unsigned i = 0; i < GEN_COUNT; i++) {
        if (gens[i].gen == gen)
            return gens[i].name;
    }
    return "unknown";
}

bool cps_gen_parse(const char *name, enum cps_gen *ret)
{
    for (unsigned i = 0; i < GEN_COUNT; i++) {
        bool is_digit = gens[i].gen <= CPS_A8XX && name[0] == gens[i].name[1] && !name[1];
        if (is_digit || !strcmp(name, gens[i].name)) {
            *ret = gens[i].gen;
            return true;
        }
    }
    return false;
}

static uint8_t layout_chips(enum cps_layout layout)
{
    switch (cps_layout_gen(layout)) {
    case CPS_A5XX:
        return CPS_CHIP_BIT(5);
    case CPS_A6XX:
        return CPS_CHIP_BIT(6);
    case CPS_A7XX:
        return CPS_CHIP_BIT(7);
    case CPS_A8XX:
        /* rnndb's "A7XX" often means "so far": where it has no a8xx name, a7xx's is the best. */
        return CPS_CHIP_BIT(7) | CPS_CHIP_BIT(8);
    default:
        return CPS_CHIPS_ALL; /* the domains tell NVIDIA's apart */
    }
}

int cps_names_space_(enum cps_layout layout, const char *name)
{
    for (int space = 0; space < CPS_SPACE_COUNT; space++) {
        const char *domain = domains[layout][space];
        if (domain && !strcmp(domain, name))
            return space;
    }
    /* A tree may hold the later registers in a domain of their own. */
    enum cps_gen gen = cps_layout_gen(layout);
    bool later = (gen & (CPS_A7XX | CPS_A8XX) && !strcmp(name, "A7XX")) ||
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
    names->chips = layout_chips(layout);
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

bool cps_name_is_void(const struct cps_names *names, enum cps_space space, uint32_t number)
{
    unsigned half;
    const struct cps_name_field *fields;
    const struct cps_name_row *row = find_cover(names, space, number, &half, &fields);
    return row && row->is_void;
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

/* Appends one field if its part in this half of the register is not zero. */
static void add_field(const struct cps_name_field *field, unsigned half, uint32_t value,
                      size_t start, struct cps_buf *out)
{
    unsigned base = half * 32;
    if (field->high < base || field->low > base + 31)
        return;
    unsigned low = field->low > base ? field->low - base : 0;
    unsigned high = field->high < base + 31 ? field->high - base : 31;
    uint32_t part = value >> low & (UINT32_MAX >> (31 - (high - low)));
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
