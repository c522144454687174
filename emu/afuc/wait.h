/* SPDX-License-Identifier: MIT
 * The policy about values that the rest of the GPU would write. Private to emu/afuc/. */
#ifndef CPS_AFUC_WAIT_H
#define CPS_AFUC_WAIT_H

#include "emu/afuc/core.h"

/** Opcodes of packets that wait; what for, and from which generation on: wait.c. */
#define WAIT_OPCODES(W) W(MEM_GTE, 0x14) W(REG_MEM, 0x3c) W(TWO_REGS, 0x70) W(TWO_MEMS, 0x71)
enum wait_opcode {
#define WAIT_OPCODE(id, opcode) WAIT_ON_##id = (opcode),
    WAIT_OPCODES(WAIT_OPCODE)
#undef WAIT_OPCODE
};

/** Whether a header may be one of theirs: most are not. */
static inline bool wait_may_poll_(uint32_t header)
{
    switch (header >> 16 & 0x7f) {
#define WAIT_OPCODE(id, opcode) case WAIT_ON_##id:
        WAIT_OPCODES(WAIT_OPCODE)
#undef WAIT_OPCODE
        return true;
    default:
        return false;
    }
}

void wait_policy_(struct afuc_core *core, uint32_t header);
/** Whether the policy may look: the ME gets the packet's words one by one, and the PFP may poll
 * what the ME has yet to write. */
bool wait_ready_(struct afuc_core *core, uint32_t header);

#endif
