/* SPDX-License-Identifier: MIT
 * Instructions to text, along the FORM. */
#include "isa/sets/table.h"

#include <inttypes.h>

#include "isa/base/le.h"

struct printer {
    const struct cps_isa *isa;
    const struct cps_insn *insn;
    const struct cps_print_names *names;
    struct cps_buf *out;
    uint32_t pc;
};

static void put_register(const struct printer *p, const char *const *special, int64_t number)
{
    const char *name = special[number & 31];
    if (name)
        cps_buf_printf(p->out, "$%s", name);
    else
        cps_buf_printf(p->out, "$%02x", (unsigned)number);
}

static void put_target(const struct printer *p, uint32_t target)
{
    const char *label =
        p->names && p->names->label ? p->names->label(p->names->context, target) : NULL;
    if (label)
        cps_buf_printf(p->out, "#%s", label);
    else
        cps_buf_hex(p->out, target, 4);
}

/* In pre-increment form the register number is in the offset register, so a name for the base
 * would mislead. */
static bool is_preincrement(const struct printer *p)
{
    const struct cps_form *form = cps_form_(p->isa, p->insn->enc);
    for (unsigned i = 0; i < CPS_MAX_OPERANDS && form->field[i]; i++) {
        if (p->isa->fields[form->field[i]].kind == CPS_FIELD_BANG)
            return p->insn->operand[i];
    }
    return false;
}

static void put_named(const struct printer *p, enum cps_space space, char sigil, uint32_t number)
{
    unsigned index = 0;
    const struct cps_names *names = p->names ? p->names->names : NULL;
    const char *name = names && !is_preincrement(p) ? cps_name(names, space, number, &index) : NULL;
    if (!name)
        cps_buf_hex(p->out, number, 3);
    else if (index)
        cps_buf_printf(p->out, "%c%s+0x%x", sigil, name, index);
    else
        cps_buf_printf(p->out, "%c%s", sigil, name);
}

/* A number that may have a name, decimal without. */
static void put_number(const struct printer *p, enum cps_space space, int64_t number)
{
    const struct cps_names *names = p->names ? p->names->names : NULL;
    const char *name = names ? cps_name(names, space, (uint32_t)number, NULL) : NULL;
    if (name)
        cps_buf_str(p->out, name);
    else
        cps_buf_printf(p->out, "%" PRId64, number);
}

static void put_pairs(const struct printer *p)
{
    const struct cps_insn *insn = p->insn;
    for (uint32_t at = insn->needs; insn->bytes && at + 8 <= insn->length; at += 8) {
        cps_buf_str(p->out, at == insn->needs ? "" : ", ");
        cps_buf_hex(p->out, cps_le32(insn->bytes + at), 8);
        cps_buf_str(p->out, "=");
        cps_buf_hex(p->out, cps_le32(insn->bytes + at + 4), 8);
    }
}

static void put_operand(const struct printer *p, const struct cps_field *field, int64_t value)
{
    switch ((enum cps_field_kind)field->kind) {
    case CPS_FIELD_FLAG:
        if (value)
            cps_buf_printf(p->out, "(%s)", field->name);
        break;
    case CPS_FIELD_COUNT:
        if (value)
            cps_buf_printf(p->out, "(%s%" PRId64 ")", field->name, value);
        break;
    case CPS_FIELD_SRC:
        put_register(p, p->isa->source_names, value);
        break;
    case CPS_FIELD_DST:
        put_register(p, p->isa->target_names, value);
        break;
    case CPS_FIELD_HEX:
    case CPS_FIELD_BASE:
        cps_buf_hex(p->out, (uint64_t)value, (field->width + 3u) / 4u);
        break;
    case CPS_FIELD_DEC:
        cps_buf_printf(p->out, "%" PRId64, value);
        break;
    case CPS_FIELD_BIT:
        cps_buf_printf(p->out, "b%" PRId64, value);
        break;
    case CPS_FIELD_REL:
    case CPS_FIELD_SKIP:
        put_target(p, p->pc + (uint32_t)value);
        break;
    case CPS_FIELD_ABS:
        put_target(p, (uint32_t)value);
        break;
    case CPS_FIELD_BANG:
        if (value)
            cps_buf_str(p->out, "!");
        break;
    case CPS_FIELD_CTL:
        put_named(p, CPS_SPACE_CONTROL, '@', (uint32_t)value);
        break;
    case CPS_FIELD_SQE:
        put_named(p, CPS_SPACE_SQE, '%', (uint32_t)value);
        break;
    case CPS_FIELD_TWICE:
        cps_buf_printf(p->out, "%" PRId64, value * 2);
        break;
    case CPS_FIELD_BITNO:
        put_number(p, CPS_SPACE_FLAG, value);
        break;
    case CPS_FIELD_EVENT:
        put_number(p, CPS_SPACE_EVENT, value);
        break;
    case CPS_FIELD_PAIRS:
        put_pairs(p);
        break;
    case CPS_FIELD_GROUP:
        put_target(p, (p->pc & ~3u) + 4 * (uint32_t)value);
        break;
    case CPS_FIELD_GROUPABS:
        put_target(p, 4 * (uint32_t)value);
        break;
    default:
        cps_put_operand_(p->isa, field, value, p->names, p->out);
        break;
    }
}

/* Prints the prefixes and returns the position of the first field that is not one. */
static unsigned put_prefixes(const struct printer *p, const struct cps_form *form)
{
    unsigned i = 0;
    for (; i < CPS_MAX_OPERANDS && form->field[i]; i++) {
        const struct cps_field *field = &p->isa->fields[form->field[i]];
        if (!cps_field_is_prefix_(field))
            break;
        put_operand(p, field, p->insn->operand[i]);
    }
    return i;
}

void cps_print_decoded(const struct cps_isa *isa, const struct cps_insn *insn, uint32_t pc,
                       const struct cps_print_names *names, struct cps_buf *out)
{
    const struct printer p = {isa, insn, names, out, pc};
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
        put_operand(&p, &isa->fields[form->field[i]], insn->operand[i]);
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

void cps_print(const struct cps_isa *isa, const struct cps_insn *insn, uint32_t pc,
               const struct cps_print_names *names, struct cps_buf *out)
{
    if (!insn->enc || insn->unclaimed || insn->misfit || (insn->enc->flags & CPS_ENC_LITERAL))
        put_literal(isa, insn, out);
    else
        cps_print_decoded(isa, insn, pc, names, out);
}
