/* SPDX-License-Identifier: MIT
 * What micro-operations read, write and do, from the columns of isa/afuc.def: for code that follows
 * instructions instead of running them. Private to emu/afuc/ and tools/explain/prove/. */
#ifndef CPS_AFUC_ACT_H
#define CPS_AFUC_ACT_H

#include "emu/afuc/core/core.h"

/** What an instruction does. Code that switches on it has no default, so that a new row ACT does
 * not compile until each of them has a case. */
enum afuc_act {
    ACT_EXPRESSION, /**< the value of a row of kind ALU goes to the destination */
    ACT_CONDITION,  /**< a row of kind IF says whether it branches */
    ACT_ILLEGAL,
#define ACT(id, kind, reads, writes) ACT_ENUM_##kind(id)
#define ACT_ENUM_ALU(id)
#define ACT_ENUM_IF(id)
#define ACT_ENUM_OWN(id) ACT_##id,
#include "isa/afuc.def"
#undef ACT_ENUM_ALU
#undef ACT_ENUM_IF
#undef ACT_ENUM_OWN
};

/** Bits of afuc_row.reads and afuc_row.writes, beside those of general registers: the numbers of
 * queues and of $00. */
#define AFUC_CARRY   (UINT32_C(1) << R_ADDR)
#define AFUC_DST     (UINT32_C(1) << R_USRADDR) /**< the destination */
#define AFUC_CONTROL UINT32_C(1)                /**< the control register of the immediate */
#define AFUC_OTHERS  (AFUC_CARRY | AFUC_DST | AFUC_CONTROL)

struct afuc_row {
    enum afuc_act act;
    unsigned op;      /**< enum cps_afuc_op */
    unsigned flow;    /**< enum cps_flow */
    const char *text; /**< the expression or condition; else what the operation does, for people */
    uint32_t reads, writes; /**< beside src1 and src2 */
};

/** The row of a micro-operation, enum uop_code. */
const struct afuc_row *afuc_row_(unsigned code);
/** The value of an expression, or whether a condition holds.
 * @param old    value of the destination before
 * @param carry  in and out */
uint32_t afuc_evaluate_(unsigned code, uint32_t a, uint32_t b, uint32_t old, uint32_t *carry);

#endif
