/* SPDX-License-Identifier: MIT
 * Values of registers and packets taken apart into fields. Nothing here is text yet. */
#include "isa/names/names.h"

enum { MAX_SELECTED = 8 }; /* fields of one packet that select words; the real ones have one */

/* What a walk over fields has in hand. */
struct walk {
    const struct cps_names *names;
    const struct cps_name_source *source;
    cps_value_fn *each;
    void *context;
    /* Which value each enumeration has that selects, of a packet. */
    struct {
        uint16_t values;
        uint32_t mask;
    } selected[MAX_SELECTED];
    unsigned selected_count;
};

static uint64_t ones(unsigned low, unsigned high)
{
    return (UINT64_MAX >> (63 - (high - low))) << low;
}

static bool holds(const struct walk *w, const struct cps_name_when *when)
{
    if (!when->values)
        return true;
    for (unsigned i = 0; i < w->selected_count; i++) {
        if (w->selected[i].values == when->values)
            return w->selected[i].mask & when->mask;
    }
    return false;
}

static bool has_field(const struct walk *w, const struct cps_name_field *field)
{
    return field->chips & w->names->chips && holds(w, &field->when);
}

/* The name of a value of an enumeration, or of the register whose offset it is. */
static const char *value_text(const struct walk *w, const struct cps_name_type *type, uint64_t bits)
{
    if (bits > UINT32_MAX)
        return NULL;
    if (type->values)
        return cps_names_in_(w->names, &w->source->tables[type->values - 1], (uint32_t)bits);
    unsigned half = 0;
    const char *name = type->kind == CPS_KIND_REG
                           ? cps_name(w->names, CPS_SPACE_GPU, (uint32_t)bits, &half)
                           : NULL;
    return half ? NULL : name;
}

/* One field, of which bits `first` to `last` of the word are in hand. */
static void hand_out(const struct walk *w, const struct cps_name_field *field, uint64_t value,
                     unsigned first, unsigned last, struct cps_value *ret)
{
    unsigned low = field->low > first ? field->low : first;
    unsigned high = field->high < last ? field->high : last;
    bool is_whole = low == field->low && high == field->high;
    ret->name = field->name;
    ret->low = (uint8_t)low;
    ret->high = (uint8_t)high;
    ret->bits = (value & ones(low - first, high - first)) >> (low - first);
    /* Half an address or number is only bits; half an enumeration's value is no other one's. */
    ret->kind = is_whole ? field->type.kind : (uint8_t)CPS_KIND_HEX;
    ret->radix = field->type.radix;
    ret->shift = is_whole ? field->type.shift : 0;
    ret->is_flag = is_whole && field->type.kind == CPS_KIND_BOOL && low == high;
    ret->is_address = ret->kind == CPS_KIND_ADDRESS;
    ret->text = is_whole ? value_text(w, &field->type, ret->bits) : NULL;
    if (!is_whole && !field->name[0])
        return;
    w->each(w->context, ret);
}

/* The fields of a row, then what they leave over; a register that is one value leaves nothing. Bits
 * `first` to `last` are in `value`. */
static void walk_row(const struct walk *w, const struct cps_name_row *row,
                     const struct cps_name_field *fields, uint64_t value, unsigned first,
                     unsigned last, struct cps_value *ret)
{
    uint64_t left = row->field_count ? value & ones(0, last - first) : 0;
    for (uint32_t i = 0; i < row->field_count; i++) {
        const struct cps_name_field *field = &fields[row->first_field + i];
        if (!has_field(w, field) || field->low > last || field->high < first)
            continue;
        unsigned low = field->low > first ? field->low - first : 0;
        unsigned high = (field->high < last ? field->high : last) - first;
        left &= field->name[0] ? ~ones(low, high) : 0;
        hand_out(w, field, value, first, last, ret);
    }
    if (!left)
        return;
    *ret = (struct cps_value){
        ret->word,    ret->number,         .low = (uint8_t)first, .high = (uint8_t)last,
        .bits = left, .kind = CPS_KIND_HEX};
    w->each(w->context, ret);
}

static bool is_numbered(const char *name)
{
    return name[strspn(name, "0123456789")] == '\0';
}

/* The fields of a register: of the half that has the number, or of both, which begin there. */
static bool walk_register(const struct cps_names *names, enum cps_space space, uint32_t number,
                          uint64_t value, bool both, cps_value_fn *each, void *context)
{
    unsigned half;
    unsigned from;
    const struct cps_name_row *row = cps_names_cover_(names, space, number, &half, &from);
    if (!row || (both && (half || !row->wide)))
        return false;
    const struct walk walk = {names, names->source[from], each, context, .selected_count = 0};
    struct cps_value ret = {.word = row->name, .number = number};
    walk_row(&walk, row, names->table[from][space]->fields, value, half * 32,
             both ? 63 : half * 32 + 31, &ret);
    return true;
}

void cps_name_values(const struct cps_names *names, enum cps_space space, uint32_t number,
                     uint32_t value, cps_value_fn *each, void *context)
{
    walk_register(names, space, number, value, false, each, context);
}

bool cps_name_values64(const struct cps_names *names, enum cps_space space, uint32_t number,
                       uint64_t value, cps_value_fn *each, void *context)
{
    return walk_register(names, space, number, value, true, each, context);
}

static void look_for_address(void *context, const struct cps_value *value)
{
    uint64_t address = 0;
    *(bool *)context |= cps_value_address(value, &address);
}

unsigned cps_name_address_half(const struct cps_names *names, uint32_t number)
{
    unsigned half = 0;
    bool is_address = false;
    if (!names || !cps_name(names, CPS_SPACE_GPU, number, &half) || half > 1)
        return 0;
    cps_name_values64(names, CPS_SPACE_GPU, number - half, 0, look_for_address, &is_address);
    return is_address ? 1 + half : 0;
}

/* Whether a row of a packet describes its word `at`. */
static bool covers(const struct cps_name_row *row, uint32_t at)
{
    if (row->length < 2)
        return row->number == at;
    uint32_t distance = at - row->number;
    return at >= row->number && distance % row->stride == 0 && distance / row->stride < row->length;
}

/* Notes what the fields of the packet select that every variant of it has. */
static void select_variants(struct walk *w, const struct cps_name_table *table,
                            const uint32_t *words, size_t count)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct cps_name_row *row = &table->rows[i];
        if (!(row->chips & w->names->chips) || row->when.values || row->number >= count)
            continue;
        for (uint32_t k = 0; k < row->field_count; k++) {
            const struct cps_name_field *field = &table->fields[row->first_field + k];
            uint64_t bits = (words[row->number] & ones(field->low, field->high)) >> field->low;
            if (!field->type.selects || field->high > 31 || !(field->chips & w->names->chips) ||
                bits > 31 || w->selected_count == MAX_SELECTED)
                continue;
            w->selected[w->selected_count].values = field->type.values;
            w->selected[w->selected_count++].mask = 1u << bits;
        }
    }
}

/* The row for a word: rnndb has pairs of words also as one of 64 bits, which says more. */
static const struct cps_name_row *
packet_row(const struct walk *w, const struct cps_name_table *table, uint32_t at, size_t count)
{
    const struct cps_name_row *best = NULL;
    for (size_t i = 0; i < table->count; i++) {
        const struct cps_name_row *row = &table->rows[i];
        bool is_there = row->chips & w->names->chips && covers(row, at) && holds(w, &row->when) &&
                        (!row->wide || at + 1 < count);
        if (is_there && (!best || (row->wide && !best->wide)))
            best = row;
    }
    return best;
}

void cps_packet_values(const struct cps_names *names, uint32_t opcode, const uint32_t *words,
                       size_t count, cps_value_fn *each, void *context)
{
    unsigned from;
    const struct cps_name_table *table = cps_names_payload_(names, opcode, &from);
    if (!table)
        return;
    struct walk walk = {names, names->source[from], each, context, .selected_count = 0};
    select_variants(&walk, table, words, count);
    for (uint32_t at = 0; at < count; at++) {
        const struct cps_name_row *row = packet_row(&walk, table, at, count);
        bool is_wide = row && row->wide;
        uint64_t value = words[at] | (is_wide ? (uint64_t)words[at + 1] << 32 : 0);
        struct cps_value ret = {.name = "", .number = at, .high = is_wide ? 63 : 31, .bits = value};
        if (row && !is_numbered(row->name))
            ret.word = row->name;
        if (row && row->field_count)
            walk_row(&walk, row, table->fields, value, 0, ret.high, &ret);
        else
            each(context, &ret);
        at += is_wide;
    }
}
