/* SPDX-License-Identifier: MIT
 * The listing of envydis. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fw/nv/envy/table.h"

struct printer {
    enum cps_gen gen;
    uint64_t word;
    uint64_t at;
    uint64_t claimed; /* bits that something explains */
    bool odd_operand;
    struct envy_insn *insn;
    struct cps_buf *out;
};

static uint64_t mask_of(unsigned low, unsigned bits)
{
    return bits ? (UINT64_MAX >> (64 - bits)) << low : 0;
}

/* The atom's bits, those of its second part above. */
static uint64_t take_bits(struct printer *p, const struct envy_atom *atom)
{
    uint64_t first = mask_of(atom->low, atom->bits);
    uint64_t second = mask_of(atom->low2, atom->bits2);
    p->claimed |= first | second;
    return (p->word & first) >> atom->low | (p->word & second) >> atom->low2 << atom->bits;
}

/* Its value: with its sign, and shifted. */
static uint64_t value_of(struct printer *p, const struct envy_atom *atom)
{
    uint64_t value = take_bits(p, atom);
    unsigned bits = atom->bits + atom->bits2;
    if (atom->is_signed && value >> (bits - 1) & 1)
        value -= UINT64_C(1) << bits;
    return value << atom->shift;
}

/* A place that lies before the code keeps its 64 bits, as there. */
static void put_target(struct printer *p, const struct envy_atom *atom)
{
    uint64_t value = value_of(p, atom);
    if (atom->relative)
        value += p->at & ~(uint64_t)0 << atom->shift;
    p->insn->mark = atom->mark;
    p->insn->target = value;
    cps_buf_printf(p->out, "0x%" PRIx64, value);
}

static const struct envy_row *find_row(const struct printer *p, enum envy_table table)
{
    size_t count = 0;
    const struct envy_row *rows = cps_envy_rows_(&count);
    for (size_t i = 0; i < count; i++) {
        if (rows[i].table == table && rows[i].gens & cps_gen_mask(p->gen) &&
            (p->word & rows[i].mask) == rows[i].value)
            return &rows[i];
    }
    return NULL; /* tables end with a row that fits everything, or have all values */
}

static const struct envy_row *put_table(struct printer *p, enum envy_table table);

static void put_number(struct printer *p, const struct envy_atom *atom)
{
    uint64_t value = value_of(p, atom);
    bool negative = value >> 63;
    cps_buf_printf(p->out, "%s0x%" PRIx64, negative ? "-" : "", negative ? 0 - value : value);
}

static void put_register(struct printer *p, const struct envy_atom *atom)
{
    uint64_t number = take_bits(p, atom);
    if (atom->zero >= 0 && number == (uint64_t)atom->zero)
        cps_buf_str(p->out, "0x0");
    else if (atom->alias && number == (uint64_t)atom->alias_of)
        cps_buf_printf(p->out, "$%s", atom->alias);
    else if (atom->bits)
        cps_buf_printf(p->out, "$%s%" PRIu64 "%s", atom->name, number, atom->suffix);
    else
        cps_buf_printf(p->out, "$%s", atom->name);
}

/* The deepest are operands of an operand: tables do not hold themselves. */
static void put_text(struct printer *p, const char *text)
{
    while (*text) {
        if (*text != '{') {
            cps_buf_add(p->out, text++, 1);
            continue;
        }
        const struct envy_atom *atom = cps_envy_atom_(text, &text);
        switch (atom->kind) {
        case ENVY_NUM:
            put_number(p, atom);
            break;
        case ENVY_TARGET:
            put_target(p, atom);
            break;
        case ENVY_REG:
            put_register(p, atom);
            break;
        case ENVY_TABLE:
            put_table(p, atom->table);
            break;
        case ENVY_CHOICE:
            put_text(p, take_bits(p, atom) ? atom->suffix : atom->name);
            break;
        case ENVY_NOTHING:
            take_bits(p, atom);
            break;
        case ENVY_DISCARD:
            cps_buf_str(p->out, "#");
            break;
        }
    }
}

static const struct envy_row *put_table(struct printer *p, enum envy_table table)
{
    const struct envy_row *row = find_row(p, table);
    p->claimed |= row->mask;
    p->odd_operand |= strstr(row->text, "unk1") != NULL;
    put_text(p, row->text);
    return row;
}

static void put_unknown(const struct printer *p, unsigned unit, size_t have)
{
    uint64_t unknown = p->word & ~p->claimed & mask_of(0, p->insn->bytes * 8);
    if (!unknown)
        return;
    cps_buf_str(p->out, " [unknown:");
    for (unsigned i = 0; i < p->insn->bytes; i += unit) {
        if (i >= have)
            cps_buf_str(p->out, " ??");
        else
            cps_buf_printf(p->out, " %0*" PRIx64, (int)unit * 2,
                           unknown >> i * 8 & mask_of(0, unit * 8));
    }
    cps_buf_str(p->out, "]");
}

void cps_envy_print_(enum cps_gen gen, const uint8_t *bytes, size_t size, uint64_t at,
                     struct envy_insn *ret, struct cps_buf *out)
{
    struct printer p = {.gen = gen, .at = at, .insn = ret, .out = out};
    size_t start = out->size;
    *ret = (struct envy_insn){0};
    for (unsigned i = 0; i < ENVY_BYTES && i < size; i++)
        p.word |= (uint64_t)bytes[i] << i * 8;
    if (cps_envy_table_(gen) == ENVY_VP1)
        p.word &= UINT32_MAX;
    const struct envy_row *row = put_table(&p, cps_envy_table_(gen));
    ret->bytes = row->bytes;
    /* An operand that is not there leaves its blank. */
    size_t to = start;
    for (size_t from = start; from < out->size; from++) {
        if (out->data[from] != ' ' || (to > start && out->data[to - 1] != ' '))
            out->data[to++] = out->data[from];
    }
    while (to > start && out->data[to - 1] == ' ')
        to--;
    out->size = to;
    if (out->data)
        out->data[to] = '\0';
    put_unknown(&p, cps_isa_unit(cps_gen_isa(gen)), size);
    cps_buf_str(out, ret->bytes > size ? " [incomplete]" : "");
    cps_buf_str(out, *row->text == '?' ? " [unknown instruction]" : "");
    cps_buf_str(out, p.odd_operand ? " [unknown operand]" : "");
}

/* ---- the listing ---- */

/* Bytes in their order; of a word, its number. */
static void put_bytes(const uint8_t *bytes, size_t have, unsigned count, unsigned unit,
                      struct cps_buf *out)
{
    unsigned most = unit == 1 ? ENVY_BYTES : 1;
    for (unsigned i = 0; i < most; i++) {
        cps_buf_str(out, " ");
        for (unsigned k = unit; k-- > 0;) {
            if (i && i >= count)
                cps_buf_str(out, "  ");
            else if (i + k >= have)
                cps_buf_str(out, "??");
            else
                cps_buf_printf(out, "%02x", bytes[i * unit + k]);
        }
    }
}

/* Two passes: marks of what branches and calls lead to, then lines. */
struct cps_err *cps_envy_listing_(enum cps_gen gen, const void *bytes, size_t size,
                                  struct cps_buf *out)
{
    const unsigned unit = cps_isa_unit(cps_gen_isa(gen));
    CPS_FREE uint8_t *marks = calloc(size + 1, 1); /* per unit: 1 << enum envy_mark */
    CPS_BUF text = {0};
    struct envy_insn insn;
    if (!marks)
        return cps_err_nomem();
    size -= size % unit;
    for (unsigned pass = 0; pass < 2; pass++) {
        for (size_t at = 0; at < size && !text.failed && !out->failed; at += insn.bytes) {
            const uint8_t *code = (const uint8_t *)bytes + at;
            unsigned mark = marks[at / unit];
            cps_buf_clear(&text);
            cps_envy_print_(gen, code, size - at, at / unit, &insn, &text);
            if (!pass && insn.mark != ENVY_NOWHERE && insn.target < size / unit)
                marks[insn.target] |= (uint8_t)(1u << insn.mark);
            if (!pass)
                continue;
            bool called = mark & 1u << ENVY_CALL;
            cps_buf_printf(out, "%s%08zx:", called ? "\n" : "", at / unit);
            put_bytes(code, size - at, insn.bytes, unit, out);
            cps_buf_printf(out, "  %s%s %s\n", called ? "C" : " ",
                           mark & 1u << ENVY_BRANCH ? "B" : " ", cps_buf_text(&text));
        }
    }
    return text.failed || out->failed ? cps_err_nomem() : NULL;
}
