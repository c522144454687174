/* SPDX-License-Identifier: MIT
 * Rows of instruction tables as people read them. */
#include "isa/sets/syntax.h"

#include <stdio.h>
#include <string.h>

#include "isa/sets/table.h"

size_t cps_syntax_count_(const struct cps_isa *isa)
{
    return isa->enc_count;
}

bool cps_syntax_(const struct cps_isa *isa, enum cps_gen gen, size_t row, struct cps_syntax *ret)
{
    const struct cps_enc *enc = &isa->encs[row];
    if (!(enc->gens & cps_gen_bit(gen)) || enc->flags & CPS_ENC_LITERAL)
        return false;
    *ret = (struct cps_syntax){cps_mnemonic_(isa, enc), enc->op};
    return *ret->mnemonic != '\0';
}

static const struct cps_field *field_at(const struct cps_isa *isa, const struct cps_form *form,
                                        unsigned index)
{
    bool is_there = index < CPS_MAX_OPERANDS && form->field[index];
    return is_there ? &isa->fields[form->field[index]] : NULL;
}

/* The next field that is no prefix. */
static const struct cps_field *next_operand(const struct cps_isa *isa, const struct cps_form *form,
                                            unsigned *index)
{
    const struct cps_field *field = field_at(isa, form, *index);
    while (field && cps_field_is_prefix_(field))
        field = field_at(isa, form, ++*index);
    ++*index;
    return field;
}

void cps_syntax_put_(const struct cps_isa *isa, size_t row, struct cps_buf *out)
{
    const struct cps_enc *enc = &isa->encs[row];
    const struct cps_form *form = cps_form_(isa, enc);
    const struct cps_field *field = NULL;
    unsigned index = 0;
    for (unsigned i = 0; (field = field_at(isa, form, i)); i++) {
        if (cps_field_is_prefix_(field))
            cps_buf_printf(out, "[(%s%s)]", field->name, field->kind == CPS_FIELD_COUNT ? "N" : "");
    }
    cps_buf_str(out, cps_mnemonic_(isa, enc));
    cps_buf_str(out, *form->text ? " " : "");
    for (const char *at = form->text; *at;) {
        size_t literal = strcspn(at, "{");
        cps_buf_add(out, at, literal);
        at += literal;
        if (!*at)
            break;
        field = next_operand(isa, form, &index);
        cps_buf_str(out, !field                          ? ""
                         : field->kind == CPS_FIELD_BANG ? "[!]"
                         : field->kind == CPS_FIELD_CTL  ? "@name"
                         : field->kind == CPS_FIELD_SQE  ? "%name"
                         : cps_field_is_target_(field)   ? "#label"
                                                         : field->name);
        at += strcspn(at, "}");
        at += *at == '}';
    }
}

bool cps_syntax_meaning_(const struct cps_isa *isa, unsigned op, struct cps_buf *out)
{
    const char *at = isa->ops[op].meaning;
    bool is_text = *at == '"';
    bool inside = false;
    for (; *at; at++) {
        if (is_text && *at == '"')
            inside = !inside;
        else if (inside || !is_text)
            cps_buf_add(out, at, 1);
    }
    return !is_text;
}

bool cps_syntax_register_(const struct cps_isa *isa, unsigned number, bool written, char ret[16])
{
    const char *const *names = written ? isa->target_names : isa->source_names;
    if (!names || number > 31)
        return false;
    if (names[number])
        snprintf(ret, 16, "%s", names[number] + (*names[number] == '$'));
    else
        snprintf(ret, 16, "%02x", number);
    return true;
}
