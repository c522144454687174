/* SPDX-License-Identifier: MIT
 * Expressions over a machine's state, as C writes them: conditions, `p`, what editors evaluate.
 *
 *     $02 $rem $addr $pc $npc     general registers, program counter, the dword behind it
 *     @IB_LEVEL @0x054            control registers      %SP %0x05   SQE registers
 *     RB_CCU_CNTL reg:0x8810      GPU registers          [0x1000]    a dword of memory
 *     $a.addr a.addr val          values of scripts' engines, by the names that `info registers`
 * has ramin:0x100 memory:0x0      memories of engines that have several CP_NOP CP_NOP+0x2 label
 * addresses of places in the firmware header opcode count payload[2] iova level   of the packet at
 * hand draw submission submit step event line    position of the run value offset of the event at
 * hand, in conditions of watchpoints
 *     + - * / % & | ^ ~ ! << >> == != < > <= >= && || ( )    on 64-bit unsigned numbers */
#ifndef CPS_EXPR_H
#define CPS_EXPR_H

#include "tools/face/debugger/session.h"

/**
 * Evaluates @p text for core @p core.
 * @param event  for `value` and `offset`; NULL: they are errors
 * @return NULL, or CPS_ERR_SYNTAX with the column (from 1, of session->line if @p text is a part of
 * it) and what was expected
 */
CPS_MUST_USE struct cps_err *expr_eval(const struct session *session, unsigned core,
                                       const struct cps_event *event, const char *text,
                                       uint64_t *ret);
/** The same for the first @p length bytes of @p text, at no event. */
CPS_MUST_USE struct cps_err *expr_eval_part(const struct session *session, unsigned core,
                                            const char *text, size_t length, uint64_t *ret);
/** The column of @p at in the line that was typed, from 1; 1 if it is no part of it. */
size_t expr_column(const struct session *session, const char *at);
/** Recognises "$02", "$pc", "@IB_LEVEL", "RB_CCU_CNTL", "[0x1000]", "a.addr", "ramin:0x100"; false:
 * it is no single place. @param[out] ret  its core is @p core */
bool expr_place(const struct session *session, unsigned core, const char *text,
                struct cps_place *ret);

/** The memory that "[ADDRESS]" is about: the first that the engine has, by enum cps_file_sigil. */
char expr_memory(const struct session *session);
/**
 * Writes the value of @p text to what @p place names, as a change of the run.
 * @param[out] ret  the value as it was stored; may be NULL
 * @return NULL, CPS_ERR_SYNTAX, or what cps_debug_edit() says
 */
CPS_MUST_USE struct cps_err *expr_assign(struct session *session, unsigned core, const char *place,
                                         const char *text, uint64_t *ret);

#endif
