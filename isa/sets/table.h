/* SPDX-License-Identifier: MIT
 * What the rows of an instruction table (afuc.def and its peers) mean. Plain data, one level of
 * expansion, no function pointers. Private to isa/.
 *
 * Generations (`gens`) are masks of CPS_GEN_BIT(), which the head of each table gives short names.
 *
 * FIELD(id, name, low, width, kind, gens[, file])
 *     One operand: `width` bits from bit `low`, which may lie behind the first 64 but not across
 *     them. In other generations than `gens` the bits are don't-care. `name` is what messages and
 * cps_insn_field() call it; prefixes are written as
 *     "(name)" or "(nameN)".
 * FORM(id, mnemonic, text, ignored, fields...)
 *     One way to write an instruction. `mnemonic` replaces the operation's own name unless NULL.
 *     `text` is what follows it; print and parse both walk it, and each `{}` is the next field
 *     that is not a prefix. `ignored` are bits that the processor does not look at.
 * OP(id, text, kind, meaning)
 *     One operation. ALU: `meaning` is a C expression over a, b (sources), d (old destination),
 *     carry and t (64-bit scratch), whose value goes to the destination. OWN: the interpreter has
 *     a handler of its own, `meaning` is text for the reader.
 * ENC(op, gens, form, match, mask, flags)
 *     One encoding of an operation: words with (word & mask) == match. The first matching row of
 *     a generation wins; ALIAS rows stand before the more general row that they overlap (an old
 *     spelling, which is only read, behind it), LITERAL rows are printed as [word].
 *
 * An instruction is as long as its opcode and fields reach, in whole units; where the instruction
 * set has a length field (cps_isa.length_low), that field says it too. */
#ifndef CPS_TABLE_H
#define CPS_TABLE_H

#include "isa/isa.h"

/** How a field is written. */
enum cps_field_kind {
    CPS_FIELD_FLAG,  /**< prefix "(name)" when 1 */
    CPS_FIELD_COUNT, /**< prefix "(nameN)" when N > 0 */
    CPS_FIELD_SRC,   /**< register read */
    CPS_FIELD_DST,   /**< register written */
    CPS_FIELD_HEX,   /**< unsigned, hexadecimal */
    CPS_FIELD_DEC,   /**< unsigned, decimal */
    CPS_FIELD_BIT,   /**< bit number, "b5" */
    CPS_FIELD_ABS,   /**< dword index in the image, "#label" */
    CPS_FIELD_SKIP,  /**< no bits: the target is always `low` words ahead */
    CPS_FIELD_BANG,  /**< "!" when 1 */
    CPS_FIELD_CTL,   /**< control register number, "@NAME" */
    CPS_FIELD_SQE,   /**< SQE register number, "%NAME" */
    CPS_FIELD_BASE,  /**< byte offset of a memory access */
    CPS_FIELD_TWICE, /**< unsigned, written doubled */
    CPS_FIELD_BITNO, /**< number of a hardware flag, or its name */
    CPS_FIELD_EVENT, /**< number of an event, or its name */
    CPS_FIELD_PAIRS, /**< no bits of its own: pairs of words up to the end, "a=b, c=d" */
    /* of VP1 */
    CPS_FIELD_GROUPABS, /**< number of a group of four units, "#label" */
    CPS_FIELD_REG,      /**< register of the field's file, "$a5"; from here on in operand.c */
    CPS_FIELD_TWIN,     /**< register of the field's file and the condition of that number */
    CPS_FIELD_SELECT,   /**< register, or "(slct $c0 zf $a5d)": 2 bits, 4 bits, 5 bits */
    CPS_FIELD_CDST,     /**< register in front of the others, nothing if all bits are set */
    CPS_FIELD_CLAST,    /**< the same behind the others */
    CPS_FIELD_OPTION,   /**< behind the others: "name" or "name=0x2", nothing if 0 */
    CPS_FIELD_SIGNED,   /**< signed, hexadecimal; signed from here on, the last in operand.c */
    CPS_FIELD_REL,      /**< signed distance in dwords from the instruction, "#label" */
    CPS_FIELD_GROUP,    /**< signed distance in groups of four units, "#label" */
};

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

/** OUT, REG, VAL: of SEQ, expressions over the words of that name (seq.def). The others: of VP1,
 * how its expressions are used (vp1.def). */
enum cps_op_kind {
    CPS_OP_ALU,
    CPS_OP_OWN,
    CPS_OP_OUT,
    CPS_OP_REG,
    CPS_OP_VAL,
    CPS_OP_FULL,
    CPS_OP_FULLZ,
    CPS_OP_PART,
    CPS_OP_SBYTE,
    CPS_OP_UBYTE,
    CPS_OP_VS,
    CPS_OP_VU,
    CPS_OP_VSH,
    CPS_OP_VLOG,
    CPS_OP_MAD,
};

struct cps_op {
    const char *text;
    const char *meaning;
    uint8_t kind; /**< enum cps_op_kind */
};

enum cps_enc_flags { CPS_ENC_PLAIN = 0, CPS_ENC_ALIAS = 1, CPS_ENC_LITERAL = 2 };

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
    const struct cps_regfile *files; /**< where registers have files; file_count of them */
    size_t file_count;
    const struct cps_unit *units; /**< in the order of a bundle; unit_count of them */
    size_t unit_count;
};

/** What cps_isa_afuc() gives, for constant data. */
extern const struct cps_isa cps_isa_afuc_;

static inline uint64_t cps_field_mask_(const struct cps_field *field)
{
    return ((UINT64_C(1) << field->width) - 1)
           << (field->kind == CPS_FIELD_SKIP ? 0 : field->low & 63);
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
    return field->kind >= CPS_FIELD_SIGNED;
}
static inline bool cps_field_is_prefix_(const struct cps_field *field)
{
    return field->kind == CPS_FIELD_FLAG || field->kind == CPS_FIELD_COUNT;
}

/** operand.c: appends an operand of the kinds from CPS_FIELD_REG to CPS_FIELD_SIGNED. */
void cps_put_operand_(const struct cps_isa *isa, const struct cps_field *field, int64_t value,
                      const struct cps_print_names *names, struct cps_buf *out);
/** Reads such an operand and moves *at behind it. @return NULL, or what was expected at *at */
const char *cps_parse_operand_(const struct cps_isa *isa, const struct cps_field *field,
                               const struct cps_parse_names *names, const char **at, int64_t *ret);

#endif
