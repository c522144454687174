/* SPDX-License-Identifier: MIT
 * Words and bytes to instructions: the first row of the generation whose mask matches. */
#include "isa/sets/table.h"

#include <string.h>

#include "isa/base/le.h"

/* Bytes that `word` and `high` of an instruction hold. */
#define HELD 12u

static int64_t extract(const struct cps_field *field, const struct cps_insn *insn)
{
    if (field->kind == CPS_FIELD_SKIP)
        return field->low;
    uint64_t half = cps_field_half_(field) ? insn->high : insn->word;
    uint64_t value = half >> (field->low & 63) & ((UINT64_C(1) << field->width) - 1);
    if (!cps_field_is_signed_(field))
        return (int64_t)value;
    uint64_t sign = UINT64_C(1) << (field->width - 1);
    return (int64_t)(value ^ sign) - (int64_t)sign;
}

static const struct cps_enc *match_row(const struct cps_isa *isa, uint32_t bit, uint64_t word)
{
    for (size_t i = 0; i < isa->enc_count; i++) {
        const struct cps_enc *enc = &isa->encs[i];
        if ((word & enc->mask) == enc->match && (enc->gens & bit))
            return enc;
    }
    return NULL;
}

uint32_t cps_enc_length_(const struct cps_isa *isa, const struct cps_enc *enc)
{
    const struct cps_form *form = cps_form_(isa, enc);
    unsigned bits = 0;
    if (isa->one_unit)
        return isa->unit;
    while (bits < 64 && enc->mask >> bits)
        bits++;
    for (unsigned i = 0; i < CPS_MAX_OPERANDS && form->field[i]; i++) {
        const struct cps_field *field = &isa->fields[form->field[i]];
        unsigned end = field->kind == CPS_FIELD_SKIP ? 0 : field->low + field->width;
        bits = end > bits ? end : bits;
    }
    unsigned unit = isa->unit * 8u;
    return (bits + unit - 1) / unit * isa->unit;
}

static bool has_list(const struct cps_isa *isa, const struct cps_enc *enc)
{
    return enc && isa->fields[cps_form_(isa, enc)->field[0]].kind == CPS_FIELD_PAIRS;
}

/* Decides how long it is, of @p size bytes that are there. */
static void measure(const struct cps_isa *isa, size_t size, struct cps_insn *insn)
{
    insn->needs = insn->length = isa->unit;
    if (isa->one_unit)
        return;
    uint32_t room = (uint32_t)(size < UINT32_MAX ? size - size % isa->unit : UINT32_MAX);
    uint64_t states = cps_length_mask_(isa);
    if (insn->enc)
        insn->needs = cps_enc_length_(isa, insn->enc);
    insn->length = insn->needs;
    if (isa->length_width && !(insn->enc && insn->enc->mask & states)) {
        insn->length = (uint32_t)((insn->word & states) >> isa->length_low) * isa->unit;
        if (has_list(isa, insn->enc))
            insn->misfit = insn->length <= insn->needs || (insn->length - insn->needs) % 8;
        else
            insn->misfit = insn->enc && insn->length != insn->needs;
    }
    if (insn->length > room) {
        insn->misfit = insn->enc != NULL;
        insn->length = room;
    }
    if (!insn->length)
        insn->length = isa->unit;
}

/* Bits set in the first @p needs bytes that are in no mask. */
static uint64_t unclaimed(const struct cps_insn *insn, const uint64_t claimed[2])
{
    uint64_t low = insn->needs < 8 ? (UINT64_C(1) << insn->needs * 8) - 1 : UINT64_MAX;
    uint64_t high = insn->needs > 8 ? UINT32_MAX : 0;
    return (insn->word & ~claimed[0] & low) | (insn->high & ~claimed[1] & high);
}

/* Fills in what the row @p enc, NULL for none, says of the instruction. */
static void explain(const struct cps_isa *isa, uint32_t bit, const struct cps_enc *enc, size_t size,
                    struct cps_insn *ret)
{
    ret->enc = enc;
    measure(isa, size, ret);
    if (!enc)
        return;
    ret->row = (uint16_t)(enc - isa->encs);
    const struct cps_form *form = cps_form_(isa, enc);
    uint64_t claimed[2] = {enc->mask | cps_length_mask_(isa), 0};
    for (unsigned i = 0; i < CPS_MAX_OPERANDS && form->field[i]; i++) {
        const struct cps_field *field = &isa->fields[form->field[i]];
        if (!(field->gens & bit))
            continue;
        ret->operand[i] = extract(field, ret);
        claimed[cps_field_half_(field)] |= cps_field_claims_(field, ret->operand[i]);
    }
    ret->op = enc->op;
    ret->unclaimed = unclaimed(ret, claimed);
}

/* The rows of a generation, and what they want the upper five bits to be. */
struct head {
    uint16_t row;
    uint8_t mask, match;
};

static unsigned heads_of(const struct cps_isa *isa, uint32_t bit, struct head *ret)
{
    unsigned count = 0;
    for (size_t i = 0; i < isa->enc_count; i++) {
        uint32_t mask = (uint32_t)isa->encs[i].mask;
        if (isa->encs[i].gens & bit)
            ret[count++] = (struct head){(uint16_t)i, (uint8_t)(mask >> 27),
                                         (uint8_t)((uint32_t)isa->encs[i].match >> 27)};
    }
    return count;
}

void cps_decoder_init(struct cps_decoder *decoder, const struct cps_isa *isa, enum cps_gen gen)
{
    struct head head[CPS_MAX_ROWS];
    unsigned heads = heads_of(isa, cps_gen_bit(gen), head);
    uint16_t count = 0;
    *decoder = (struct cps_decoder){.isa = isa, .bit = cps_gen_bit(gen)};
    for (uint32_t slot = 0; slot < 32; slot++) {
        decoder->from[slot] = count;
        for (unsigned i = 0; i < heads && count < CPS_DECODER_ROWS; i++) {
            if (!((slot ^ head[i].match) & head[i].mask))
                decoder->row[count++] = head[i].row;
        }
    }
    decoder->from[32] = count;
}

void cps_decoder_decode(const struct cps_decoder *decoder, uint32_t word, struct cps_insn *ret)
{
    const struct cps_enc *found = NULL;
    for (unsigned i = decoder->from[word >> 27]; !found && i < decoder->from[(word >> 27) + 1];
         i++) {
        const struct cps_enc *enc = &decoder->isa->encs[decoder->row[i]];
        found = (word & enc->mask) == enc->match ? enc : NULL;
    }
    *ret = (struct cps_insn){.word = word};
    explain(decoder->isa, decoder->bit, found, decoder->isa->unit, ret);
}

void cps_decode(const struct cps_isa *isa, enum cps_gen gen, uint64_t word, struct cps_insn *ret)
{
    uint32_t bit = cps_gen_bit(gen);
    *ret = (struct cps_insn){.word = word};
    explain(isa, bit, match_row(isa, bit, word), isa->unit, ret);
}

void cps_decode_bytes(const struct cps_isa *isa, enum cps_gen gen, const uint8_t *bytes,
                      size_t size, struct cps_insn *ret)
{
    uint32_t bit = cps_gen_bit(gen);
    uint8_t held[HELD] = {0};
    memcpy(held, bytes, size < HELD ? size : HELD);
    *ret = (struct cps_insn){.word = cps_le32(held) | (uint64_t)cps_le32(held + 4) << 32,
                             .high = cps_le32(held + 8),
                             .bytes = bytes};
    explain(isa, bit, match_row(isa, bit, ret->word), size, ret);
}

int cps_insn_position(const struct cps_isa *isa, const struct cps_insn *insn, unsigned field)
{
    if (!insn->enc)
        return -1;
    const struct cps_form *form = cps_form_(isa, insn->enc);
    const char *name = isa->fields[field].name;
    for (unsigned i = 0; i < CPS_MAX_OPERANDS && form->field[i]; i++) {
        const char *other = isa->fields[form->field[i]].name;
        if (other == name || (*other == *name && !strcmp(other, name)))
            return (int)i;
    }
    return -1;
}

int64_t cps_insn_field(const struct cps_isa *isa, const struct cps_insn *insn, unsigned field,
                       int64_t fallback)
{
    int at = cps_insn_position(isa, insn, field);
    return at < 0 ? fallback : insn->operand[at];
}

/* The operand that says where a branch goes, -1 if none does. */
static int target_position(const struct cps_isa *isa, const struct cps_insn *insn)
{
    const struct cps_form *form = insn->enc ? cps_form_(isa, insn->enc) : NULL;
    for (unsigned i = 0; form && i < CPS_MAX_OPERANDS && form->field[i]; i++) {
        if (cps_field_is_target_(&isa->fields[form->field[i]]))
            return (int)i;
    }
    return -1;
}

uint64_t cps_insn_target_bits(const struct cps_isa *isa, const struct cps_insn *insn)
{
    int at = target_position(isa, insn);
    return at < 0 ? 0 : cps_field_mask_(&isa->fields[cps_form_(isa, insn->enc)->field[at]]);
}

uint32_t cps_field_target_(const struct cps_field *field, uint32_t pc, uint32_t v)
{
    switch ((enum cps_field_kind)field->kind) {
#define KIND(id, flags, scale, print, parse, target) \
    case CPS_FIELD_##id:                             \
        return target;
#include "isa/sets/kind.def"
    default:
        return 0;
    }
}

bool cps_insn_target(const struct cps_isa *isa, const struct cps_insn *insn, uint32_t pc,
                     uint32_t *ret)
{
    int at = target_position(isa, insn);
    if (at < 0)
        return false;
    *ret = cps_field_target_(&isa->fields[cps_form_(isa, insn->enc)->field[at]], pc,
                             (uint32_t)insn->operand[at]);
    return true;
}
