/* SPDX-License-Identifier: MIT
 * libcps-isa: what instructions and registers are. Decode, print, parse and encode machine words,
 * and translate register, packet and event numbers to names and back. Nothing runs here.
 *
 * This library does not know files, firmware containers or machines.
 *
 * Threads: it keeps no state, all tables are constant, and only handles (struct cps_names)
 * allocate. Every function may be called from everywhere; a handle that nobody destroys may be used
 * by many threads at a time, because nothing changes it.
 *
 * To add an instruction set:
 *   1. write NAME.def: FIELD, FORM, OP and ENC rows (table.h says what they mean), and the GEN and
 *      LAYOUT rows of its generations (target.def);
 *   2. expand it in a file of sets/ and declare its cps_isa_NAME here;
 *   3. `meson test` sweeps every row: no overlap, all bits accounted for, text and word round trip;
 *   4. an engine (emu/engine.h) expands the OP rows' meanings.
 */
#ifndef CPS_ISA_H
#define CPS_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "target.h"

CPS_C_BEGIN

/** The event that PGRAPH is idle, which `waitst` of SEQ can wait for: behind the 32 that NVIDIA's
 * chips number. */
#define CPS_EVENT_PGRAPH_IDLE 32u

/**
 * The release of the library that a program runs with; CPS_VERSION of isa/version.h is the one that
 * it was compiled with.
 * @return constant text of the form "0.2.0", never NULL
 */
CPS_PUBLIC const char *cps_version(void);

/** Most fields that one instruction can have. */
#define CPS_MAX_OPERANDS 8

/* Rows of an instruction set's table, which only the library looks into. */
struct cps_form;
struct cps_enc;

/** One decoded instruction: plain data, no allocation behind it. */
struct cps_insn {
    /** Its first bits. */
    uint64_t word;
    /** Bits 64 to 95 of long ones. */
    uint32_t high;
    /** The matching row, or NULL: no row of the generation matches. */
    const struct cps_enc *enc;
    /** A number of enum cps_afuc_op or its peers; 0 when @p enc is NULL. */
    uint16_t op;
    /** Number of the matching row. */
    uint16_t row;
    /** It states, or there is, another length than the row has. */
    bool misfit;
    /** Bytes that it takes, at least one unit. */
    uint32_t length;
    /** Bytes that the row has; differs from @p length in a misfit. */
    uint32_t needs;
    /** Bits set in it that no field or opcode explains. */
    uint64_t unclaimed;
    /** Values of enc's fields, in the order of its form. */
    int64_t operand[CPS_MAX_OPERANDS];
    /** Where it was decoded from (not owned), NULL for a bare word. */
    const uint8_t *bytes;
};

/** The afuc instruction set, which newer Mesa calls QRisc (afuc.def). */
CPS_PUBLIC extern const struct cps_isa cps_isa_afuc;

/** Operation numbers of afuc, in table order; CPS_AFUC_NONE is not an instruction. */
enum cps_afuc_op {
    CPS_AFUC_NONE,
#define OP(id, text, kind, ...) CPS_AFUC_##id,
#include "afuc.def"
    CPS_AFUC_OP_COUNT,
};
/** Fields of afuc's instructions, the rows FIELD of its table: for cps_insn_field(). */
enum cps_afuc_field {
    CPS_AFUC_F_NONE,
#define FIELD(id, ...) CPS_AFUC_F_##id,
#include "afuc.def"
    CPS_AFUC_F_COUNT,
};

/** NVIDIA's HWSQ: single bytes with up to four bytes of operand (hwsq.def). */
CPS_PUBLIC extern const struct cps_isa cps_isa_hwsq;
/** NVIDIA's PDAEMON SEQ: a header word and its parameters (seq.def). */
CPS_PUBLIC extern const struct cps_isa cps_isa_seq;
/** NVIDIA's PFIFO executes no code: a set without rows, which names it. */
CPS_PUBLIC extern const struct cps_isa cps_isa_pfifo;
/** NVIDIA's VP1: words of four units, in bundles (vp1.def). */
CPS_PUBLIC extern const struct cps_isa cps_isa_vp1;

/** Operation numbers of HWSQ. */
enum cps_hwsq_op {
    CPS_HWSQ_NONE,
#define OP(id, text, kind, ...) CPS_HWSQ_##id,
#include "nv/hwsq.def"
    CPS_HWSQ_OP_COUNT,
};
/** Fields of HWSQ's instructions. */
enum cps_hwsq_field {
    CPS_HWSQ_F_NONE,
#define FIELD(id, ...) CPS_HWSQ_F_##id,
#include "nv/hwsq.def"
    CPS_HWSQ_F_COUNT,
};
/** Operation numbers of SEQ. */
enum cps_seq_op {
    CPS_SEQ_NONE,
#define OP(id, text, kind, ...) CPS_SEQ_##id,
#include "nv/seq.def"
    CPS_SEQ_OP_COUNT,
};
/** Fields of SEQ's operations. */
enum cps_seq_field {
    CPS_SEQ_F_NONE,
#define FIELD(id, ...) CPS_SEQ_F_##id,
#include "nv/seq.def"
    CPS_SEQ_F_COUNT,
};
/** Operation numbers of VP1. */
enum cps_vp1_op {
    CPS_VP1_NONE,
#define OP(id, text, kind, ...) CPS_VP1_##id,
#include "nv/vp1.def"
    CPS_VP1_OP_COUNT,
};
/** Fields of VP1's words. */
enum cps_vp1_field {
    CPS_VP1_F_NONE,
#define FIELD(id, ...) CPS_VP1_F_##id,
#include "nv/vp1.def"
    CPS_VP1_F_COUNT,
};

/**
 * The name of an instruction set: "afuc", "hwsq", "seq", "pfifo", "vp1".
 * @param isa  the set
 * @return never NULL
 */
CPS_PUBLIC const char *cps_isa_name(const struct cps_isa *isa);
/**
 * Bytes of the smallest instruction: what addresses and labels count.
 * @param isa  the set
 * @return 4 for afuc, SEQ and VP1, 1 for HWSQ
 */
CPS_PUBLIC unsigned cps_isa_unit(const struct cps_isa *isa);
/**
 * Whether every instruction takes one unit.
 * @param isa  the set
 */
CPS_PUBLIC bool cps_isa_is_regular(const struct cps_isa *isa);
/**
 * Whether there are instructions at all.
 * @param isa  the set
 */
CPS_PUBLIC bool cps_isa_has_code(const struct cps_isa *isa);

/**
 * The mnemonic of an operation.
 * @param isa  the set
 * @param op   its number, below the set's OP_COUNT
 * @return constant text
 */
CPS_PUBLIC const char *cps_op_name(const struct cps_isa *isa, unsigned op);

/** What comes after an operation: the `flow` column of its OP row. */
enum cps_flow {
    /** What stands behind it; also of what is no instruction. */
    CPS_FLOW_NEXT,
    /** Its target, always; without a target field a register says where. */
    CPS_FLOW_JUMP,
    /** Its target or what stands behind it, as a condition says. */
    CPS_FLOW_BRANCH,
    /** Its target, always, and later a RETURN comes back. */
    CPS_FLOW_CALL,
    /** The same, as a condition says. */
    CPS_FLOW_CALLIF,
    /** Where a call, or an interruption, left off. */
    CPS_FLOW_RETURN,
    /** The handler of the next packet. */
    CPS_FLOW_DISPATCH,
    /** Its target or what stands behind it, as the hardware decides. */
    CPS_FLOW_SKIP,
    /** Nothing: the program is over. */
    CPS_FLOW_END,
    /** How many there are. */
    CPS_FLOW_COUNT,
};
/**
 * What comes after an operation.
 * @param isa  the set
 * @param op   its number, below the set's OP_COUNT; 0, no instruction, is NEXT
 */
CPS_PUBLIC enum cps_flow cps_op_flow(const struct cps_isa *isa, unsigned op);
/**
 * What comes after a decoded instruction. Where it goes says cps_insn_target().
 * @param isa   the set that decoded it
 * @param insn  as decoded
 */
CPS_PUBLIC enum cps_flow cps_insn_flow(const struct cps_isa *isa, const struct cps_insn *insn);
/**
 * Whether what stands behind an instruction of afuc, or a bundle of VP1, runs before it goes where
 * it goes: a delay slot. Then a call returns behind that.
 * @param isa   the set that decoded it
 * @param insn  as decoded
 * @return false for all that is NEXT, SKIP or END
 */
CPS_PUBLIC bool cps_insn_has_slot(const struct cps_isa *isa, const struct cps_insn *insn);

/**
 * The value of a field in a decoded instruction.
 * @param isa       the set that decoded it
 * @param insn      as decoded
 * @param field     enum cps_afuc_field or its peer of @p isa. Rows that share a name are one field
 *                  in several places: CPS_AFUC_F_DST finds what CPS_AFUC_F_DSTA does
 * @param fallback  what to return when the instruction has no such field
 */
CPS_PUBLIC int64_t cps_insn_field(const struct cps_isa *isa, const struct cps_insn *insn,
                                  unsigned field, int64_t fallback);

/**
 * Decodes one word. Never fails: what no row explains has no cps_insn.enc.
 * @param isa   the set
 * @param gen   the generation whose rows count
 * @param word  the instruction; of sets with longer ones its first bits
 * @param ret   gets it
 */
CPS_PUBLIC void cps_decode(const struct cps_isa *isa, enum cps_gen gen, uint64_t word,
                           struct cps_insn *ret);
/**
 * Decodes what some bytes begin with, of any length. Never fails: an instruction that does not end
 * within @p size is a misfit.
 * @param isa    the set
 * @param gen    the generation whose rows count
 * @param bytes  least significant byte first; @p ret keeps the pointer, so they must outlive it
 * @param size   bytes, at least cps_isa_unit()
 * @param ret    gets it
 */
CPS_PUBLIC void cps_decode_bytes(const struct cps_isa *isa, enum cps_gen gen, const uint8_t *bytes,
                                 size_t size, struct cps_insn *ret);

/**
 * Where a branch goes.
 * @param isa   the set that decoded it
 * @param insn  as decoded
 * @param pc    where it stands in its image, in units of cps_isa_unit()
 * @param ret   gets the target, in the same units; it may lie outside of the image
 * @return false if it has no field that says it
 */
CPS_PUBLIC bool cps_insn_target(const struct cps_isa *isa, const struct cps_insn *insn, uint32_t pc,
                                uint32_t *ret);
/**
 * The bits that say where a branch goes.
 * @param isa   the set that decoded it
 * @param insn  as decoded
 * @return a mask over its first 64 bits; 0 if none do
 */
CPS_PUBLIC uint64_t cps_insn_target_bits(const struct cps_isa *isa, const struct cps_insn *insn);
/**
 * Whether a word is of the same bundle as the one in front of it.
 * @param isa     the set; false in those without bundles
 * @param pc      where @p word stands, in units
 * @param before  the word in front of it
 * @param word    the word
 */
CPS_PUBLIC bool cps_insn_joins(const struct cps_isa *isa, uint32_t pc, uint32_t before,
                               uint32_t word);
/**
 * The unit of the processor that executes a word, in the order of a bundle.
 * @param isa   the set
 * @param word  the word
 * @return 0 in sets without bundles
 */
CPS_PUBLIC unsigned cps_insn_unit(const struct cps_isa *isa, uint32_t word);

/** Names of registers where people have given them two: VP1's, of the measurements that came
 * first, and of envytools. */
enum cps_scheme { CPS_NAMES_MEASURED, CPS_NAMES_ENVYTOOLS };

/** How instructions of afuc are spelt: CPS_STYLE_OWN, or CPS_STYLE_MESA as Mesa's tools print them.
 */
enum cps_style {
#define STYLE(id, ...) CPS_STYLE_##id,
#include "style.def"
    CPS_STYLE_COUNT, /**< number of styles */
};

/**
 * Where in cps_insn.operand the field is that cps_insn_field() finds: the same for all instructions
 * of a row, for callers that decode many.
 * @param isa    the set that decoded it
 * @param insn   as decoded
 * @param field  as for cps_insn_field()
 * @return an index, or -1 if the instruction has no such field
 */
CPS_PUBLIC int cps_insn_position(const struct cps_isa *isa, const struct cps_insn *insn,
                                 unsigned field);

struct cps_names;

/** What the printer asks its caller for. Zero-initialised is valid: numbers instead of names. */
struct cps_print_names {
    /** Control and SQE register names, or NULL. */
    const struct cps_names *names;
    /** The label at unit @p target of the image, or NULL to print the number. */
    const char *(*label)(void *context, uint32_t target);
    /** What `label` gets. */
    void *context;
    /** Which names registers of VP1 get. */
    enum cps_scheme scheme;
    /** How afuc is spelt. */
    enum cps_style style;
};

/**
 * Appends the text of an instruction, so that cps_parse() gives the same word back. What is not an
 * instruction, or has unclaimed bits, becomes a literal `[0123abcd]`.
 * @param isa    the set that decoded it
 * @param insn   as decoded
 * @param pc     where it stands in its image, in units: branches are relative to it
 * @param names  for names and labels; NULL: numbers
 * @param out    where to
 */
CPS_PUBLIC void cps_print(const struct cps_isa *isa, const struct cps_insn *insn, uint32_t pc,
                          const struct cps_print_names *names, struct cps_buf *out);

/**
 * As cps_print(), but shows the decoded instruction even where its word has unclaimed bits or is
 * customarily written as a literal: for people, not for the assembler.
 * @param isa    the set that decoded it
 * @param insn   as decoded; its `enc` is not NULL
 * @param pc     where it stands in its image, in units
 * @param names  for names and labels; NULL: numbers
 * @param out    where to
 */
CPS_PUBLIC void cps_print_decoded(const struct cps_isa *isa, const struct cps_insn *insn,
                                  uint32_t pc, const struct cps_print_names *names,
                                  struct cps_buf *out);

/** What the parser asks its caller for. Zero-initialised is valid: no names and no labels. */
struct cps_parse_names {
    /** Control and SQE register names, or NULL. */
    const struct cps_names *names;
    /** Finds the label of @p length bytes at @p name: true and its place in units, else false. */
    bool (*label)(void *context, const char *name, size_t length, uint32_t *ret);
    /** What `label` gets. */
    void *context;
    /** Whose meaning a name has that both use. */
    enum cps_scheme scheme;
};

/**
 * Parses one instruction.
 * @param isa     the set
 * @param gen     the generation whose rows count
 * @param text    the instruction alone, without label and comment, up to its NUL
 * @param pc      where it will stand in its image, in units
 * @param names   for names and labels; NULL: neither is understood
 * @param column  on error gets the column of the offending text, from 0
 * @param ret     gets the word; untouched on error
 * @return NULL, or CPS_ERR_SYNTAX with a message that says what was expected; no file, no line
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_parse(const struct cps_isa *isa, enum cps_gen gen,
                                                  const char *text, uint32_t pc,
                                                  const struct cps_parse_names *names,
                                                  size_t *column, uint64_t *ret);
/**
 * As cps_parse(), for instructions of any length.
 * @param isa     the set
 * @param gen     the generation whose rows count
 * @param text    the instruction alone
 * @param pc      where it will stand in its image, in units
 * @param names   for names and labels; NULL: neither is understood
 * @param column  on error gets the column of the offending text, from 0
 * @param ret     gets the bytes appended, least significant first
 * @return NULL, or CPS_ERR_SYNTAX
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_parse_bytes(const struct cps_isa *isa, enum cps_gen gen,
                                                        const char *text, uint32_t pc,
                                                        const struct cps_parse_names *names,
                                                        size_t *column, struct cps_buf *ret);

/** Number spaces that have names. */
enum cps_space {
    /** GPU registers, 18-bit dword offsets. */
    CPS_SPACE_GPU,
    /** Control registers of one processor (`@NAME`). */
    CPS_SPACE_CONTROL,
    /** SQE registers (`%NAME`). */
    CPS_SPACE_SQE,
    /** Pipe registers (`|NAME`), 8 bits. */
    CPS_SPACE_PIPE,
    /** PM4 type-7 opcodes, 7 bits. */
    CPS_SPACE_PACKET,
    /** Numbers of vgt_event_type, 8 bits; what HWSQ and SEQ wait for. */
    CPS_SPACE_EVENT,
    /** HWSQ's flags, 5 bits; bits of VP1's $c. */
    CPS_SPACE_FLAG,
    /** How many there are. */
    CPS_SPACE_COUNT,
};

/**
 * Opens the names of one layout.
 * @param layout   which
 * @param rnn_dir  NULL for the built-in tables only; else a directory that holds rnndb XML files
 *                 (Mesa's or the kernel's `registers/adreno`), whose names then win
 * @param ret      gets the handle, which the caller destroys
 * @return NULL, CPS_ERR_NOMEM, CPS_ERR_OS (a file cannot be read), CPS_ERR_INPUT (file, line), or
 *         CPS_ERR_UNSUPPORTED when built without XML support
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *
cps_names_create(enum cps_layout layout, const char *rnn_dir, struct cps_names **ret);
/**
 * Releases a handle and every name that it gave.
 * @param names  from cps_names_create(); NULL is fine
 */
CPS_PUBLIC void cps_names_destroy(struct cps_names *names);

/**
 * The name that covers a number.
 * @param names   the handle
 * @param space   which numbers
 * @param number  the one in question
 * @param index   gets 0 for the register itself, 1 for the upper half of a 64-bit register
 *                (`NAME+0x1`); may be NULL
 * @return NULL if it has none; valid as long as the handle
 */
CPS_PUBLIC const char *cps_name(const struct cps_names *names, enum cps_space space,
                                uint32_t number, unsigned *index);

/**
 * The number behind a name, in any variant that has it.
 * @param names   the handle
 * @param space   which numbers
 * @param name    the name, with an index in brackets where there are many: `CP_SCRATCH[2].REG`
 * @param length  bytes of it
 * @param ret     gets the number
 * @return false if nothing is called so
 */
CPS_PUBLIC bool cps_name_number(const struct cps_names *names, enum cps_space space,
                                const char *name, size_t length, uint32_t *ret);

/** A value of a register or of a packet's words, taken apart as the names say. */
struct cps_value {
    /** The register, or the packet's word; NULL where the source only counts the words. */
    const char *word;
    /** Of the register; of the word behind the packet's header, counted from 0. */
    uint32_t number;
    /** The field. "": the word is one value. NULL: bits that no field has, `bits` in their place.
     */
    const char *name;
    /** Bits of the word, counted through both halves of one of 64 bits. */
    uint8_t low, high;
    /** What the field holds, shifted down to bit 0. */
    uint64_t bits;
    /** What the value is called: of an enumeration, or the register whose offset it is; or NULL. */
    const char *text;
    /** A single bit that is only said to be set. */
    bool is_flag;
    /** The bits are an address in the GPU's memory, in bytes, once shifted. */
    bool is_address;
    /** How it is written: the names' own. */
    uint8_t kind, radix, shift;
};

/** Gets one value after another. */
typedef void cps_value_fn(void *context, const struct cps_value *value);

/**
 * Takes a register's value apart: each field, also those that are 0, then bits that no field has.
 * @param names    the handle
 * @param space    which numbers
 * @param number   the register; the upper half of one of 64 bits is a register of its own here
 * @param value    what it holds
 * @param each     called for each field, in the order of the source; not at all without fields
 * @param context  its first argument
 */
CPS_PUBLIC void cps_name_values(const struct cps_names *names, enum cps_space space,
                                uint32_t number, uint32_t value, cps_value_fn *each, void *context);
/**
 * The same for both halves at once.
 * @param names    the handle
 * @param space    which numbers
 * @param number   the register's lower half
 * @param value    what it holds
 * @param each     called for each field
 * @param context  its first argument
 * @return false, and nothing is called, if no register of 64 bits begins there
 */
CPS_PUBLIC bool cps_name_values64(const struct cps_names *names, enum cps_space space,
                                  uint32_t number, uint64_t value, cps_value_fn *each,
                                  void *context);
/**
 * Which half of an address a register of the GPU is.
 * @param names   the handle; NULL: it knows none
 * @param number  the register
 * @return 1 for the lower, 2 for the upper half; 0: it is none
 */
CPS_PUBLIC unsigned cps_name_address_half(const struct cps_names *names, uint32_t number);
/**
 * Takes the words of a type 7 packet apart, as far as they go. Words that depend on a field of the
 * packet (its variants) are those that it selects; words that no source names are left out.
 * @param names    the handle
 * @param opcode   of the header, 7 bits
 * @param words    behind the header
 * @param count    how many of them there are
 * @param each     called for each field, in the order of the words
 * @param context  its first argument
 */
CPS_PUBLIC void cps_packet_values(const struct cps_names *names, uint32_t opcode,
                                  const uint32_t *words, size_t count, cps_value_fn *each,
                                  void *context);
/**
 * Appends a value as its type is written: a name, `0x60`, `12`, `-0.5`, `r3.x`.
 * @param value  as a callback got it
 * @param out    where to
 */
CPS_PUBLIC void cps_value_put(const struct cps_value *value, struct cps_buf *out);

/**
 * Which address a value is. Half an address, or one of 32 bits only, where addresses have 64, is
 * none.
 * @param value  as a callback got it
 * @param ret    gets it, in bytes
 * @return false, and nothing is set, if it is none
 */
CPS_PUBLIC bool cps_value_address(const struct cps_value *value, uint64_t *ret);

/**
 * Appends a value with its name: `NAME=value`, a flag that is set by its name alone. Bits that no
 * field has are called `no-name`, words without a name `[n]`.
 * @param value  as a callback got it
 * @param out    where to
 * @return false, and nothing is appended, if it is a flag that is not set
 */
CPS_PUBLIC bool cps_value_line(const struct cps_value *value, struct cps_buf *out);

/**
 * Appends `NAME=value` for each field of a register, separated by blanks; nothing for registers
 * without fields. Single bits are only named, and only if they are set; bits that no field has
 * stand last, as `no-name=0x1000`. A register that is one value has only that.
 * @param names   the handle
 * @param space   which numbers
 * @param number  the register
 * @param value   what it holds
 * @param out     where to
 */
CPS_PUBLIC void cps_name_fields(const struct cps_names *names, enum cps_space space,
                                uint32_t number, uint32_t value, struct cps_buf *out);
/**
 * The same for the words of a type 7 packet; a word's name stands in front of its fields.
 * @param names   the handle
 * @param opcode  of the header, 7 bits
 * @param words   behind the header
 * @param count   how many of them there are
 * @param out     where to
 */
CPS_PUBLIC void cps_packet_fields(const struct cps_names *names, uint32_t opcode,
                                  const uint32_t *words, size_t count, struct cps_buf *out);

CPS_C_END

#endif
