/* SPDX-License-Identifier: MIT
 * libcps-isa: what instructions and registers are. Decode, print, parse and encode machine words,
 * and translate register, packet and event numbers to names and back. Nothing runs here.
 *
 * This library does not know files, firmware containers or machines. It keeps no state: all
 * tables are constant, every function is thread-safe, only handles allocate.
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

/**
 * The release of the library that a program runs with; CPS_VERSION of isa/version.h is the one that
 * it was compiled with.
 * @return constant text of the form "0.2.0"; cannot fail
 *
 * Thread-safe.
 */
CPS_PUBLIC const char *cps_version(void);

/** Most fields that one instruction can have. */
#define CPS_MAX_OPERANDS 8

struct cps_form;
struct cps_enc;

/** One decoded instruction: plain data, no allocation behind it. */
struct cps_insn {
    uint64_t word;             /**< its first bits */
    uint32_t high;             /**< bits 64 to 95 of long ones */
    const struct cps_enc *enc; /**< the matching row, or NULL: no row of the generation matches */
    uint16_t op;               /**< enum cps_afuc_op and its peers; 0 when @p enc is NULL */
    uint16_t row;              /**< number of the matching row */
    bool misfit;               /**< it states, or there is, another length than the row has */
    uint32_t length;           /**< bytes that it takes, at least one unit */
    uint32_t needs;            /**< bytes that the row has; differs from @p length in a misfit */
    uint64_t unclaimed;        /**< bits set in it that no field or opcode explains */
    int64_t operand[CPS_MAX_OPERANDS]; /**< values of enc's fields, in the order of its form */
    const uint8_t *bytes; /**< where it was decoded from (not owned), NULL for a bare word */
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

enum cps_hwsq_op {
    CPS_HWSQ_NONE,
#define OP(id, text, kind, ...) CPS_HWSQ_##id,
#include "hwsq.def"
    CPS_HWSQ_OP_COUNT,
};
enum cps_hwsq_field {
    CPS_HWSQ_F_NONE,
#define FIELD(id, ...) CPS_HWSQ_F_##id,
#include "hwsq.def"
    CPS_HWSQ_F_COUNT,
};
enum cps_seq_op {
    CPS_SEQ_NONE,
#define OP(id, text, kind, ...) CPS_SEQ_##id,
#include "seq.def"
    CPS_SEQ_OP_COUNT,
};
enum cps_seq_field {
    CPS_SEQ_F_NONE,
#define FIELD(id, ...) CPS_SEQ_F_##id,
#include "seq.def"
    CPS_SEQ_F_COUNT,
};
enum cps_vp1_op {
    CPS_VP1_NONE,
#define OP(id, text, kind, ...) CPS_VP1_##id,
#include "vp1.def"
    CPS_VP1_OP_COUNT,
};
enum cps_vp1_field {
    CPS_VP1_F_NONE,
#define FIELD(id, ...) CPS_VP1_F_##id,
#include "vp1.def"
    CPS_VP1_F_COUNT,
};

/** "afuc", "hwsq", "seq", "pfifo", "vp1". */
CPS_PUBLIC const char *cps_isa_name(const struct cps_isa *isa);
/** Bytes of the smallest instruction: what addresses and labels count. */
CPS_PUBLIC unsigned cps_isa_unit(const struct cps_isa *isa);
/** Whether every instruction takes one unit. */
CPS_PUBLIC bool cps_isa_is_regular(const struct cps_isa *isa);
/** Whether there are instructions at all. */
CPS_PUBLIC bool cps_isa_has_code(const struct cps_isa *isa);

/** The mnemonic of an operation. */
CPS_PUBLIC const char *cps_op_name(const struct cps_isa *isa, unsigned op);

/** What comes after an operation: the `flow` column of its OP row. */
enum cps_flow {
    CPS_FLOW_NEXT,     /**< what stands behind it; also of what is no instruction */
    CPS_FLOW_JUMP,     /**< its target, always; without a target field a register says where */
    CPS_FLOW_BRANCH,   /**< its target or what stands behind it, as a condition says */
    CPS_FLOW_CALL,     /**< its target, always, and later a RETURN comes back */
    CPS_FLOW_CALLIF,   /**< the same, as a condition says */
    CPS_FLOW_RETURN,   /**< where a call, or an interruption, left off */
    CPS_FLOW_DISPATCH, /**< the handler of the next packet */
    CPS_FLOW_SKIP,     /**< its target or what stands behind it, as the hardware decides */
    CPS_FLOW_END,      /**< nothing: the program is over */
    CPS_FLOW_COUNT,
};
CPS_PUBLIC enum cps_flow cps_op_flow(const struct cps_isa *isa, unsigned op);
/** Of a decoded instruction. Where it goes says cps_insn_target(). */
CPS_PUBLIC enum cps_flow cps_insn_flow(const struct cps_isa *isa, const struct cps_insn *insn);
/** Whether what stands behind @p insn, an instruction of afuc or a bundle of VP1, runs before it
 * goes where it goes; then a call returns behind that. Never for NEXT, SKIP and END. */
CPS_PUBLIC bool cps_insn_has_slot(const struct cps_isa *isa, const struct cps_insn *insn);

/**
 * Value of a field in a decoded instruction, or @p fallback when the instruction has no such field.
 *
 * @param field  enum cps_afuc_field or its peer of @p isa. Rows that share a name are one field in
 *               several places: CPS_AFUC_F_DST finds what CPS_AFUC_F_DSTA does
 */
CPS_PUBLIC int64_t cps_insn_field(const struct cps_isa *isa, const struct cps_insn *insn,
                                  unsigned field, int64_t fallback);

/** Decodes @p word as generation @p gen has it. Never fails: see cps_insn.enc. */
CPS_PUBLIC void cps_decode(const struct cps_isa *isa, enum cps_gen gen, uint64_t word,
                           struct cps_insn *ret);
/** Decodes what @p bytes begin with, of any length; @p size is at least a unit. @p ret keeps the
 * pointer. An instruction that does not end within @p size is a misfit. */
CPS_PUBLIC void cps_decode_bytes(const struct cps_isa *isa, enum cps_gen gen, const uint8_t *bytes,
                                 size_t size, struct cps_insn *ret);

/** Where the target of a branch at unit @p pc of its image lies, in units; false if @p insn has no
 * field that says it. */
CPS_PUBLIC bool cps_insn_target(const struct cps_isa *isa, const struct cps_insn *insn, uint32_t pc,
                                uint32_t *ret);
/** The bits of the first 64 that say so; 0 if none do. */
CPS_PUBLIC uint64_t cps_insn_target_bits(const struct cps_isa *isa, const struct cps_insn *insn);
/** Whether the word at unit @p pc is of the same bundle as @p before, which stands in front of it.
 * Never in sets without bundles. */
CPS_PUBLIC bool cps_insn_joins(const struct cps_isa *isa, uint32_t pc, uint32_t before,
                               uint32_t word);
/** The unit that executes a word, in the order of a bundle; 0 in sets without bundles. */
CPS_PUBLIC unsigned cps_insn_unit(const struct cps_isa *isa, uint32_t word);

/** Names of registers where people have given them two: VP1's, of the measurements that came
 * first, and of envytools. */
enum cps_scheme { CPS_NAMES_SEED, CPS_NAMES_ENVYTOOLS };

/** Which of cps_insn.operand the field is that cps_insn_field() finds, -1 if none: the same for all
 * instructions of a row. */
CPS_PUBLIC int cps_insn_position(const struct cps_isa *isa, const struct cps_insn *insn,
                                 unsigned field);

struct cps_names;

/** What the printer asks its caller for. Zero-initialised is valid: numbers instead of names. */
struct cps_print_names {
    const struct cps_names *names; /**< control and SQE register names, or NULL */
    /** The label at dword @p target of the image, or NULL to print the number. */
    const char *(*label)(void *context, uint32_t target);
    void *context;
    enum cps_scheme scheme;
};

/**
 * Appends the text of @p insn, standing at dword @p pc of its image, so that cps_parse() gives the
 * same word back. What is not an instruction, or has unclaimed bits, becomes a literal
 * `[0123abcd]`.
 */
CPS_PUBLIC void cps_print(const struct cps_isa *isa, const struct cps_insn *insn, uint32_t pc,
                          const struct cps_print_names *names, struct cps_buf *out);

/** As cps_print(), but shows the decoded instruction even where its word has unclaimed bits or is
 * customarily written as a literal: for people, not for the assembler. @p insn->enc is not NULL. */
CPS_PUBLIC void cps_print_decoded(const struct cps_isa *isa, const struct cps_insn *insn,
                                  uint32_t pc, const struct cps_print_names *names,
                                  struct cps_buf *out);

/** What the parser asks its caller for. */
struct cps_parse_names {
    const struct cps_names *names; /**< control and SQE register names, or NULL */
    /** Finds label @p name: true and the dword offset in @p ret, else false. */
    bool (*label)(void *context, const char *name, size_t length, uint32_t *ret);
    void *context;
    enum cps_scheme scheme; /**< whose meaning a name has that both use */
};

/**
 * Parses one instruction (no label, no comment) that stands at dword @p pc.
 *
 * @param[out] column  on error the column of the offending text, from 0
 * @param[out] ret     the word
 * @return NULL, or CPS_ERR_SYNTAX with a message that says what was expected; no file, no line
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_parse(const struct cps_isa *isa, enum cps_gen gen,
                                                  const char *text, uint32_t pc,
                                                  const struct cps_parse_names *names,
                                                  size_t *column, uint64_t *ret);
/** As cps_parse(), for instructions of any length: appends their bytes to @p ret. */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_parse_bytes(const struct cps_isa *isa, enum cps_gen gen,
                                                        const char *text, uint32_t pc,
                                                        const struct cps_parse_names *names,
                                                        size_t *column, struct cps_buf *ret);

/** Number spaces that have names. */
enum cps_space {
    CPS_SPACE_GPU,     /**< GPU registers, 18-bit dword offsets */
    CPS_SPACE_CONTROL, /**< control registers of one processor (`@NAME`) */
    CPS_SPACE_SQE,     /**< SQE registers (`%NAME`) */
    CPS_SPACE_PIPE,    /**< pipe registers (`|NAME`), 8 bits */
    CPS_SPACE_PACKET,  /**< PM4 type-7 opcodes, 7 bits */
    CPS_SPACE_EVENT,   /**< vgt_event_type, 8 bits; what HWSQ and SEQ wait for */
    CPS_SPACE_FLAG,    /**< HWSQ's flags, 5 bits; bits of VP1's $c */
    CPS_SPACE_COUNT,
};

/**
 * Opens the names of one layout.
 *
 * @param rnn_dir  NULL for the built-in tables only; else a directory that holds rnndb XML files
 *                 (Mesa's or the kernel's `registers/adreno`), whose names then win
 * @return NULL, or CPS_ERR_OS / CPS_ERR_INPUT (file, line) / CPS_ERR_UNSUPPORTED when built
 *         without XML support. The caller destroys @p ret.
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *
cps_names_create(enum cps_layout layout, const char *rnn_dir, struct cps_names **ret);
CPS_PUBLIC void cps_names_destroy(struct cps_names *names);

/**
 * The name that covers @p number, or NULL.
 *
 * @param[out] index  0 for the register itself, 1 for the upper half of a 64-bit register
 *                    (`NAME+0x1`); may be NULL
 */
CPS_PUBLIC const char *cps_name(const struct cps_names *names, enum cps_space space,
                                uint32_t number, unsigned *index);

/** The number behind a name of @p length bytes, in any variant that has it; false if unknown. */
CPS_PUBLIC bool cps_name_number(const struct cps_names *names, enum cps_space space,
                                const char *name, size_t length, uint32_t *ret);

/** Whether register @p number is marked as one without payload (pipe registers). */
CPS_PUBLIC bool cps_name_is_void(const struct cps_names *names, enum cps_space space,
                                 uint32_t number);

/**
 * Appends `NAME=value` for each bit field of a register that is not zero, separated by spaces;
 * nothing for registers without fields. Values are hexadecimal, single-bit fields only named.
 */
CPS_PUBLIC void cps_name_fields(const struct cps_names *names, enum cps_space space,
                                uint32_t number, uint32_t value, struct cps_buf *out);

CPS_C_END

#endif
