/* SPDX-License-Identifier: MIT
 * Control and SQE registers. Private to emu/afuc/. */
#ifndef CPS_AFUC_CTRL_H
#define CPS_AFUC_CTRL_H

#include "emu/afuc/machine.h"

/** Control registers, by row of ctrl.def. */
enum ctl {
#define CTRL(id, ...) CTL_##id,
#include "emu/afuc/ctrl.def"
    CTL_COUNT,
};

uint32_t afuc_control_read_(struct afuc_core *core, uint32_t number);
/** @param extra  source of the (sdsN) words; only DRAW_STATE_SET_HDR looks at them */
void afuc_control_write_(struct afuc_core *core, uint32_t number, uint32_t value,
                         const uint32_t *extra);
uint32_t afuc_sqe_read_(struct afuc_core *core, uint32_t number);
void afuc_sqe_write_(struct afuc_core *core, uint32_t number, uint32_t value);
/** Whether the DDE of @p by has room for what a write of control register @p number sends to it:
 * words, draw-state groups, a fetch. */
bool afuc_dde_takes_(const struct afuc_core *by, uint32_t number);
/** Indexes the rows of the core's layout. */
CPS_MUST_USE struct cps_err *afuc_control_init_(struct afuc_core *core);
/** The stored value of a control register; 0 where the layout lacks it. No side effects. */
uint32_t afuc_control_get_(const struct afuc_core *core, enum ctl which);
void afuc_control_set_(struct afuc_core *core, enum ctl which, uint32_t value);
/** The same of a register that has a row; a write has been counted. */
uint32_t afuc_control_row_read_(struct afuc_core *core, uint32_t number);
void afuc_control_row_write_(struct afuc_core *core, uint32_t number, uint32_t value);
/** A word of the core's state, by where a row of ctrl.def has it. */
static inline uint32_t *afuc_member_(struct afuc_core *core, uint32_t member)
{
    return (uint32_t *)(void *)((char *)core + member);
}
/** One of the six registers that show the draw-state group which DRAW_STATE_SEL selects. */
static inline uint32_t *afuc_group_word_(struct afuc_core *core, uint32_t index)
{
    return &core->s.group[core->s.control[core->group_sel] % GROUP_COUNT].sds_base[0] + index;
}
/** Its number in the core's layout, 0xffff where the layout lacks it. */
uint32_t afuc_control_number_(const struct afuc_core *core, enum ctl which);

#endif
