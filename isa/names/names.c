/* SPDX-License-Identifier: MIT
 * Numbers to names and back: GPU, control, SQE and pipe registers, packets and events. */
#include "isa/isa.h"

#include "isa/names/names.h"
#include "isa/names/words.h"
#include "isa/packet.h"

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

const char *cps_names_domain_(enum cps_layout layout, const char *name)
{
    /* A tree may hold the later registers in a domain of their own. */
    enum cps_gen gen = cps_layout_gen(layout);
    if (!cps_gen_is_afuc(gen) && !strcmp(name, "NV_MMIO"))
        return layouts[layout].domain[CPS_SPACE_GPU];
    bool later = (cps_gen_since(gen, CPS_A7XX) && !strcmp(name, "A7XX")) ||
                 (gen == CPS_A8XX && !strcmp(name, "A8XX"));
    return later ? layouts[layout].domain[CPS_SPACE_GPU] : name;
}

static const struct cps_name_table *find_table(const struct cps_name_source *source,
                                               const char *domain)
{
    uint16_t index = domain ? cps_source_find_(source, domain) : 0;
    return index ? &source->tables[index - 1] : NULL;
}

static void choose_tables(struct cps_names *names, unsigned from,
                          const struct cps_name_source *source)
{
    names->source[from] = source;
    for (int space = 0; source && space < CPS_SPACE_COUNT; space++)
        names->table[from][space] = find_table(source, layouts[names->layout].domain[space]);
}

/* The words after its header have a table of the packet's name, or of the one it shares. */
const struct cps_name_table *cps_names_payload_(const struct cps_names *names, uint32_t opcode,
                                                unsigned *from)
{
    const char *name = cps_name(names, CPS_SPACE_PACKET, opcode, NULL);
    const struct cps_packet_row *row = cps_packet_row_(opcode, name);
    if (row && row->layout)
        name = row->layout;
    for (*from = 0; *from < CPS_NAMES_SOURCES; ++*from) {
        const struct cps_name_source *source = names->source[*from];
        const struct cps_name_table *table = source ? find_table(source, name) : NULL;
        if (table)
            return table;
    }
    return NULL;
}

unsigned cps_names_gen_(const struct cps_names *names)
{
    return cps_layout_gen(names->layout);
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
    choose_tables(names, CPS_NAMES_BUILT_IN, &cps_name_built_in_);
    choose_tables(names, CPS_NAMES_USER, rnn ? cps_rnn_source_(rnn) : NULL);
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

/* @p space  CPS_SPACE_COUNT: the table is of no space of registers, but of an enumeration */
static const struct cps_name_row *find_exact(const struct cps_names *names, enum cps_space space,
                                             const struct cps_name_table *table, uint32_t number)
{
    for (size_t i = table ? lower_bound(table, number) : 0;
         table && i < table->count && table->rows[i].number == number; i++) {
        if (has_name(names, space, &table->rows[i]))
            return &table->rows[i];
    }
    return NULL;
}

const char *cps_names_in_(const struct cps_names *names, const struct cps_name_table *table,
                          uint32_t number)
{
    const struct cps_name_row *row = find_exact(names, CPS_SPACE_COUNT, table, number);
    return row ? row->name : NULL;
}

const char *cps_name_old_(uint32_t number)
{
    const struct cps_names any = {.chips = CPS_CHIPS_ALL};
    return cps_names_in_(&any, find_table(&cps_name_built_in_, "AXXX"), number);
}

const struct cps_name_row *cps_names_cover_(const struct cps_names *names, enum cps_space space,
                                            uint32_t number, unsigned *index, unsigned *from)
{
    for (*from = 0; *from < CPS_NAMES_SOURCES; ++*from) {
        *index = 0;
        const struct cps_name_table *table = names->table[*from][space];
        const struct cps_name_row *row = find_exact(names, space, table, number);
        if (!row && number > 0) {
            *index = 1;
            row = find_exact(names, space, table, number - 1);
            if (row && !row->wide)
                row = NULL;
        }
        if (row)
            return row;
    }
    return NULL;
}

const char *cps_name(const struct cps_names *names, enum cps_space space, uint32_t number,
                     unsigned *index)
{
    unsigned half;
    unsigned from;
    const struct cps_name_row *row = cps_names_cover_(names, space, number, &half, &from);
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
    for (unsigned source = 0; source < CPS_NAMES_SOURCES; source++) {
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

/* The first number from @p number on that has a name; NONE if none does. */
#define NONE UINT32_MAX
static uint32_t next_named(const struct cps_names *names, enum cps_space space, uint32_t number)
{
    uint32_t first = NONE;
    for (unsigned source = 0; source < CPS_NAMES_SOURCES; source++) {
        const struct cps_name_table *table = names->table[source][space];
        for (size_t i = table ? lower_bound(table, number) : 0;
             table && i < table->count && table->rows[i].number < first; i++) {
            if (has_name(names, space, &table->rows[i]))
                first = table->rows[i].number;
        }
    }
    return first;
}

void cps_names_words_(const struct cps_names *names, enum cps_space space, struct cps_buf *out)
{
    uint32_t at = names ? next_named(names, space, 0) : NONE;
    const char *before = " (";
    while (at != NONE) {
        uint32_t next = next_named(names, space, at + 1);
        const char *name = cps_name(names, space, at, NULL);
        cps_buf_printf(out, "%s%s%s", before, name ? name : "", next != NONE ? "" : ")");
        at = next;
        before = next != NONE && next_named(names, space, next + 1) == NONE ? " or " : ", ";
    }
}
