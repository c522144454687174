/* SPDX-License-Identifier: MIT
 * Instructions to words. */
#include "table.h"

#include <inttypes.h>

static struct cps_err *insert(const struct cps_field *field, int64_t value, uint64_t *word)
{
    int64_t limit = INT64_C(1) << field->width;
    bool is_signed = field->kind == CPS_FIELD_REL;
    int64_t lowest = is_signed ? -(limit / 2) : 0;
    int64_t highest = is_signed ? limit / 2 - 1 : limit - 1;
    if (field->kind == CPS_FIELD_SKIP)
        lowest = highest = field->low;
    if (value < lowest || value > highest)
        return cps_err_new(CPS_ERR_SYNTAX,
                           "%s is %" PRId64 ", expected a value from %" PRId64 " to %" PRId64,
                           field->name, value, lowest, highest);
    if (field->width)
        *word |= ((uint64_t)value & (uint64_t)(limit - 1)) << field->low;
    return NULL;
}

struct cps_err *cps_encode(const struct cps_isa *isa, const struct cps_insn *insn, uint64_t *ret)
{
    if (!insn->enc) {
        *ret = insn->word;
        return NULL;
    }
    const struct cps_form *form = cps_form_(isa, insn->enc);
    uint64_t word = insn->enc->match;
    for (unsigned i = 0; i < CPS_MAX_OPERANDS && form->field[i]; i++)
        CPS_TRY(insert(&isa->fields[form->field[i]], insn->operand[i], &word));
    *ret = word;
    return NULL;
}
