/* SPDX-License-Identifier: MIT
 * Expressions over a machine's state, as C writes them: conditions, `p`, what editors evaluate.
 *
 *     $02 $rem $addr $pc $npc     general registers, program counter, the dword behind it
 *     @IB_LEVEL @0x054            control registers      %SP %0x05   SQE registers
 *     RB_CCU_CNTL reg:0x8810      GPU registers          [0x1000]    a dword of memory
 *     CP_NOP CP_NOP+0x2 label     addresses of places in the firmware
 *     header opcode level submission step event          where the core stands
 *     value offset                of the event at hand, in conditions of watchpoints
 *     + - * / % & | ^ ~ ! << >> == != < > <= >= && || ( )    on 64-bit unsigned numbers */
#ifndef CPS_EXPR_H
#define CPS_EXPR_H

#include "tools/debug/session.h"

/**
 * Evaluates @p text for core @p core.
 * @param event  for `value` and `offset`; NULL: they are errors
 * @return NULL, or CPS_ERR_SYNTAX with the column (from 1) and what was expected
 */
CPS_MUST_USE struct cps_err *expr_eval(const struct session *session, unsigned core,
                                       const struct cps_event *event, const char *text,
                                       uint64_t *ret);
/** What an expression that is a single place can be written to. */
enum expr_place { EXPR_NONE, EXPR_GPR, EXPR_PC, EXPR_CONTROL, EXPR_SQE, EXPR_REG, EXPR_MEMORY };
/** Recognises "$02", "@IB_LEVEL", "RB_CCU_CNTL", "[0x1000]"; EXPR_NONE: it is none of these. */
enum expr_place expr_place(const struct session *session, unsigned core, const char *text,
                           uint64_t *number);

/**
 * Writes the value of @p text to what @p place names, as a change of the run.
 * @param[out] ret  the value as it was stored; may be NULL
 * @return NULL, CPS_ERR_SYNTAX, or what cps_debug_edit() says
 */
CPS_MUST_USE struct cps_err *expr_assign(struct session *session, unsigned core, const char *place,
                                         const char *text, uint32_t *ret);

#endif
