/* SPDX-License-Identifier: MIT
 * What the rows of an instruction table (afuc.def and its peers) mean. Plain data, one level of
 * expansion, no function pointers. Private to isa/.
 *
 * Generations (`gens`) are masks of CPS_GEN_BIT(), which the head of each table gives short names.
 *
 * FIELD(id, name, low, width, kind, gens[, file])
 *     One operand: `width` bits from bit `low`, which may lie behind the first 64 but not across
 *     them. In other generations than `gens` the bits are don't-care. `name` is what messages call
 *     it, prefixes are written as "(name)" or "(nameN)". Rows with one name are one field in
 *     several places, whichever of their ids cps_insn_field() is given.
 * FORM(id, mnemonic, text, ignored, fields...)
 *     One way to write an instruction. `mnemonic` replaces the operation's own name unless NULL.
 *     `text` is what follows it; print and parse both walk it, and each `{}` is the next field
 *     that is not a prefix. `ignored` are bits that the processor does not look at.
 * OP(id, text, kind, flow, meaning), of afuc OP(id, text, kind, flow, act, meaning)
 *     One operation. `flow` is what comes after it: an enum cps_flow. ALU: `meaning` is a C
 *     expression over a, b (sources), d (old destination), carry and t (64-bit scratch), whose
 *     value goes to the destination. IF: `meaning` is one over a (source) and b (immediate), and
 *     says whether it branches. OWN: the interpreter has a handler of its own, `meaning` is text
 *     for the reader. `act` names a row ACT of that table, which says what the operation reads and
 *     writes beside its sources. SEQ and VP1 have kinds of their own, which their tables explain.
 * ENC(op, gens, form, match, mask, flags)
 *     One encoding of an operation: words with (word & mask) == match. The first matching row of
 *     a generation wins; ALIAS rows stand before the more general row that they overlap (an old
 *     spelling, which is only read, behind it), LITERAL rows are printed as [word], OWN rows are in
 *     the style of Mesa, which has not found them.
 *
 * An instruction is as long as its opcode and fields reach, in whole units; where the instruction
 * set has a length field (cps_isa.length_low), that field says it too. */
#ifndef CPS_TABLE_H
#define CPS_TABLE_H

#include "isa/sets/decoder.h"

/** How a field is written and read: the rows of kind.def. */
enum cps_field_kind {
#define KIND(id, flags, scale, print, parse, target) CPS_FIELD_##id,
#include "isa/sets/kind.def"
    CPS_FIELD_KIND_COUNT,
};
enum cps_kind_flags { CPS_KIND_PREFIX = 1, CPS_KIND_SIGNED = 2, CPS_KIND_TARGET = 4 };

/** Kinds that have a flag, as bits. */
enum {
#define KIND(id, flags, scale, print, parse, target) \
    | ((flags)&CPS_KIND_PREFIX ? INT32_C(1) << CPS_FIELD_##id : 0)
    CPS_KINDS_PREFIX = 0
#include "isa/sets/kind.def"
    ,
#define KIND(id, flags, scale, print, parse, target) \
    | ((flags)&CPS_KIND_SIGNED ? INT32_C(1) << CPS_FIELD_##id : 0)
    CPS_KINDS_SIGNED = 0
#include "isa/sets/kind.def"
    ,
#define KIND(id, flags, scale, print, parse, target) \
    | ((flags)&CPS_KIND_TARGET ? INT32_C(1) << CPS_FIELD_##id : 0)
    CPS_KINDS_TARGET = 0
#include "isa/sets/kind.def"
};
_Static_assert(CPS_FIELD_KIND_COUNT < 31, "kinds of fields");

struct cps_field {
    const char *name;
    uint8_t low;
    uint8_t width;
    uint8_t kind;  /**< enum cps_field_kind */
    uint32_t gens; /**< bits of this set's generations */
    uint8_t file;  /**< of registers: index into cps_isa.files */
};

/** Names of one register file: by cps_print_names.scheme, then one more that is read. */
struct cps_regfile {
    struct {
        const char *name; /**< NULL: none */
        uint8_t first;    /**< number in the name of register 0 */
    } as[3];
};
/** Opcodes (the upper byte of a word) of one unit. */
struct cps_unit {
    uint8_t first, last;
};

struct cps_form {
    const char *mnemonic; /**< NULL: the operation's */
    const char *text;
    uint64_t ignored;
    uint8_t field[CPS_MAX_OPERANDS]; /**< indexes into cps_isa.fields, 0-terminated if shorter */
};

struct cps_op {
    const char *text;
    uint8_t flow;        /**< enum cps_flow */
    const char *meaning; /**< the column as the row has it: C, or a string with its quotes */
};

enum cps_enc_flags { CPS_ENC_PLAIN = 0, CPS_ENC_ALIAS = 1, CPS_ENC_LITERAL = 2, CPS_ENC_OWN = 4 };

struct cps_enc {
    uint32_t gens; /**< bits of this set's generations */
    uint16_t op;
    uint8_t form;
    uint8_t flags;
    uint64_t match;
    uint64_t mask;
};

struct cps_isa {
    const char *name;
    uint8_t unit;                   /**< bytes of the smallest instruction */
    uint8_t length_low;             /**< where instructions say their length in units */
    uint8_t length_width;           /**< 0: they do not */
    bool one_unit;                  /**< every instruction is one unit long */
    bool delay_slots;               /**< cps_insn_has_slot() */
    bool bracket_flags;             /**< an old spelling has a last operand for bits 15:12 */
    const struct cps_field *fields; /**< entry 0 is unused */
    const struct cps_form *forms;
    const struct cps_op *ops; /**< entry 0 is "no instruction" */
    size_t op_count;
    const struct cps_enc *encs;
    size_t enc_count;
    /** Register names by number, as written when read and when written; NULL entries: "$xx".
     * NULL for sets without registers. */
    const char *const *source_names;
    const char *const *target_names;
    /** Of the others, by enum cps_style; or NULL. */
    const char *const (*style_names)[32];
    const struct cps_regfile *files; /**< where registers have files; file_count of them */
    size_t file_count;
    const struct cps_unit *units; /**< in the order of a bundle; unit_count of them */
    size_t unit_count;
};

static inline uint64_t cps_field_mask_(const struct cps_field *field)
{
    return ((UINT64_C(1) << field->width) - 1)
           << (field->kind == CPS_FIELD_SKIP ? 0 : field->low & 63);
}
/** The bits of a field that its text says: of a byte in a word all, if they are its zero or sign
 * extension. */
static inline uint64_t cps_field_claims_(const struct cps_field *field, int64_t value)
{
    bool is_extended = value <= UINT8_MAX || (value >= 0xffffff80 && value <= UINT32_MAX);
    if (field->kind == CPS_FIELD_BYTE && !is_extended)
        return UINT64_C(0xff) << (field->low & 63);
    return cps_field_mask_(field);
}
/** Where its bits lie: 0 the first 64, 1 those behind. */
static inline unsigned cps_field_half_(const struct cps_field *field)
{
    return field->kind == CPS_FIELD_SKIP ? 0 : field->low >> 6;
}
/** Bits of a length field, in the first 64. */
static inline uint64_t cps_length_mask_(const struct cps_isa *isa)
{
    return ((UINT64_C(1) << isa->length_width) - 1) << isa->length_low;
}
/** kinds.c: what the text has for a value of 1. */
int64_t cps_field_scale_(const struct cps_field *field);
/** encode.c: the bits of an instruction, and bytes that a row has without its list. */
CPS_MUST_USE struct cps_err *cps_encode_bits_(const struct cps_isa *isa,
                                              const struct cps_insn *insn, uint64_t ret[2]);
uint32_t cps_enc_length_(const struct cps_isa *isa, const struct cps_enc *enc);
static inline const struct cps_form *cps_form_(const struct cps_isa *isa, const struct cps_enc *enc)
{
    return &isa->forms[enc->form];
}
static inline const char *cps_mnemonic_(const struct cps_isa *isa, const struct cps_enc *enc)
{
    const char *own = cps_form_(isa, enc)->mnemonic;
    return own ? own : isa->ops[enc->op].text;
}
static inline bool cps_field_is_signed_(const struct cps_field *field)
{
    return CPS_KINDS_SIGNED >> field->kind & 1;
}
static inline bool cps_field_is_target_(const struct cps_field *field)
{
    return CPS_KINDS_TARGET >> field->kind & 1;
}
static inline bool cps_field_is_prefix_(const struct cps_field *field)
{
    return CPS_KINDS_PREFIX >> field->kind & 1;
}
/** decode.c: the unit that a field of such a kind says, in an instruction at unit @p pc. */
uint32_t cps_field_target_(const struct cps_field *field, uint32_t pc, uint32_t value);

#endif
