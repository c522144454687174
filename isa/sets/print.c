/* SPDX-License-Identifier: MIT
 * Instructions to text, along the FORM. */
#include "isa/sets/kinds.h"

#include <inttypes.h>
#include <string.h>

#include "isa/base/le.h"

/* Prints the prefixes and returns the position of the first field that is not one. */
static unsigned put_prefixes(struct cps_printer *p, const struct cps_form *form)
{
    unsigned i = 0;
    for (; i < CPS_MAX_OPERANDS && form->field[i]; i++) {
        const struct cps_field *field = &p->isa->fields[form->field[i]];
        if (!cps_field_is_prefix_(field))
            break;
        cps_put_field_(p, field, p->insn->operand[i]);
    }
    return i;
}

void cps_print_decoded(const struct cps_isa *isa, const struct cps_insn *insn, uint32_t pc,
                       const struct cps_print_names *names, struct cps_buf *out)
{
    struct cps_printer p = {isa, insn, names, out, pc, NULL};
    const struct cps_form *form = cps_form_(isa, insn->enc);
    unsigned i = put_prefixes(&p, form);
    cps_buf_str(out, cps_mnemonic_(isa, insn->enc));
    size_t bare = out->size;
    if (form->text[0])
        cps_buf_str(out, " ");
    for (const char *at = form->text; *at; at++) {
        if (at[0] != '{') {
            cps_buf_add(out, at, 1);
            continue;
        }
        cps_put_field_(&p, &isa->fields[form->field[i]], insn->operand[i]);
        i++;
        at++;
    }
    if (out->size == bare + 1) /* all of its operands are absent */
        out->data[out->size = bare] = '\0';
}

/* "[0123abcd]", or one such literal a unit: "[5f] [21] [01]". */
static void put_literal(const struct cps_isa *isa, const struct cps_insn *insn, struct cps_buf *out)
{
    const unsigned unit = isa->unit;
    if (!insn->bytes) {
        cps_buf_printf(out, "[%0*" PRIx64 "]", (int)unit * 2, insn->word);
        return;
    }
    for (uint32_t at = 0; at < insn->length; at += unit) {
        uint32_t value = unit == 4 ? cps_le32(insn->bytes + at) : insn->bytes[at];
        cps_buf_printf(out, "%s[%0*" PRIx32 "]", at ? " " : "", (int)unit * 2, value);
    }
}

static bool is_literal(const struct cps_insn *insn, const struct cps_print_names *names)
{
    if (!insn->enc || insn->misfit || (insn->enc->flags & CPS_ENC_LITERAL))
        return true;
    bool is_mesa = names && names->style == CPS_STYLE_MESA;
    return insn->unclaimed || (is_mesa && insn->enc->flags & CPS_ENC_OWN);
}

void cps_print(const struct cps_isa *isa, const struct cps_insn *insn, uint32_t pc,
               const struct cps_print_names *names, struct cps_buf *out)
{
    if (is_literal(insn, names))
        put_literal(isa, insn, out);
    else
        cps_print_decoded(isa, insn, pc, names, out);
}
