/* SPDX-License-Identifier: MIT
 * Instructions to words and bytes. */
#include "isa/sets/table.h"

#include <inttypes.h>

static struct cps_err *insert(const struct cps_field *field, int64_t value, uint64_t bits[2])
{
    int64_t limit = INT64_C(1) << field->width;
    bool is_signed = cps_field_is_signed_(field);
    int64_t lowest = is_signed ? -(limit / 2) : 0;
    int64_t highest = is_signed ? limit / 2 - 1 : limit - 1;
    if (field->kind == CPS_FIELD_SKIP)
        lowest = highest = field->low;
    if (value < lowest || value > highest) {
        /* In the units of the text; a relative target is a distance from where it is. */
        int64_t scale = cps_field_scale_(field);
        bool is_far = cps_field_is_target_(field) && cps_field_is_signed_(field);
        return cps_err_new(
            CPS_ERR_SYNTAX, "%s is %" PRId64 "%s, expected a value from %" PRId64 " to %" PRId64,
            field->name, value * scale, is_far ? " away" : "", lowest * scale, highest * scale);
    }
    if (cps_field_claims_(field, value) != cps_field_mask_(field))
        return cps_err_new(CPS_ERR_SYNTAX,
                           "%s is 0x%" PRIx64 ", expected a byte (0x0 to 0xff, or 0xffffff80 to "
                           "0xffffffff), because no other bits count",
                           field->name, (uint64_t)value);
    if (field->width)
        bits[cps_field_half_(field)] |= ((uint64_t)value & (uint64_t)(limit - 1))
                                        << (field->low & 63);
    return NULL;
}

struct cps_err *cps_encode_bits_(const struct cps_isa *isa, const struct cps_insn *insn,
                                 uint64_t ret[2])
{
    const struct cps_form *form = cps_form_(isa, insn->enc);
    uint64_t bits[2] = {insn->enc->match, 0};
    for (unsigned i = 0; i < CPS_MAX_OPERANDS && form->field[i]; i++)
        CPS_TRY(insert(&isa->fields[form->field[i]], insn->operand[i], bits));
    if (!(insn->enc->mask & cps_length_mask_(isa)))
        bits[0] |= (uint64_t)(insn->length / isa->unit) << isa->length_low & cps_length_mask_(isa);
    ret[0] = bits[0];
    ret[1] = bits[1];
    return NULL;
}
