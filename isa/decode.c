/* SPDX-License-Identifier: MIT
 * Words to instructions: the first row of the generation whose mask matches. */
#include "table.h"

#include <string.h>

static int64_t extract(const struct cps_field *field, uint64_t word)
{
    if (field->kind == CPS_FIELD_SKIP)
        return field->low;
    uint64_t value = word >> field->low & ((UINT64_C(1) << field->width) - 1);
    if (field->kind != CPS_FIELD_REL)
        return (int64_t)value;
    uint64_t sign = UINT64_C(1) << (field->width - 1);
    return (int64_t)(value ^ sign) - (int64_t)sign;
}

static const struct cps_enc *match_row(const struct cps_isa *isa, enum cps_gen gen, uint64_t word)
{
    for (size_t i = 0; i < isa->enc_count; i++) {
        const struct cps_enc *enc = &isa->encs[i];
        if ((word & enc->mask) == enc->match && (enc->gens & gen))
            return enc;
    }
    return NULL;
}

void cps_decode(const struct cps_isa *isa, enum cps_gen gen, uint64_t word, struct cps_insn *ret)
{
    *ret = (struct cps_insn){.word = word, .length = isa->unit};
    const struct cps_enc *enc = match_row(isa, gen, word);
    if (!enc)
        return;
    const struct cps_form *form = cps_form_(isa, enc);
    uint64_t claimed = enc->mask;
    for (unsigned i = 0; i < CPS_MAX_OPERANDS && form->field[i]; i++) {
        const struct cps_field *field = &isa->fields[form->field[i]];
        if (!(field->gens & gen))
            continue;
        ret->operand[i] = extract(field, word);
        claimed |= cps_field_mask_(field);
    }
    ret->enc = enc;
    ret->op = enc->op;
    ret->unclaimed = word & ~claimed & 0xffffffff;
}

/* Where in the form a field called @p name stands, or -1. */
static int field_position(const struct cps_isa *isa, const struct cps_enc *enc, const char *name)
{
    const struct cps_form *form = cps_form_(isa, enc);
    for (unsigned i = 0; i < CPS_MAX_OPERANDS && form->field[i]; i++) {
        if (strcmp(isa->fields[form->field[i]].name, name) == 0)
            return (int)i;
    }
    return -1;
}

int64_t cps_insn_field(const struct cps_isa *isa, const struct cps_insn *insn, const char *name,
                       int64_t fallback)
{
    int at = insn->enc ? field_position(isa, insn->enc, name) : -1;
    return at < 0 ? fallback : insn->operand[at];
}
