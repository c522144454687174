/* SPDX-License-Identifier: MIT
 * What special registers do. Private to emu/afuc/. */
#ifndef CPS_AFUC_PORT_H
#define CPS_AFUC_PORT_H

#include "emu/afuc/gpu.h"

bool afuc_ready_(struct afuc_core *core, const struct afuc_uop *uop);
uint32_t afuc_read_(struct afuc_core *core, const struct afuc_uop *uop, unsigned number);
void afuc_write_(struct afuc_core *core, unsigned number, uint32_t value);
void afuc_extra_moves_(struct afuc_core *core, const struct afuc_uop *uop);
void afuc_store_(struct afuc_core *core, uint32_t offset, uint32_t value);
uint32_t afuc_load_word_(struct afuc_core *core, uint32_t offset);

/** The instruction at hand calls where all eight places of the stack are taken, or returns where
 * none is. */
void afuc_report_stack_(struct afuc_core *core);

/** What keeps $data from being the next of consecutive registers: bits of the address selected. */
enum { USRADDR_MODES = 1u << 20 | 1u << 18, ADDR_MODES = 0xffu << 24 | 1u << 18 };

/** Writes the register selected; false: it, or how it is selected, is not plain, and nothing has
 * happened. */
static inline bool afuc_put_data_(struct afuc_core *core, uint32_t value)
{
    struct afuc_state *s = &core->s;
    uint32_t *address = s->user_selected ? &s->usraddr : &s->addr;
    uint32_t modes = s->user_selected ? USRADDR_MODES : ADDR_MODES;
    unsigned path = s->user_selected ? CPS_PATH_USER : CPS_PATH_DATA;
    if (CPS_UNLIKELY(!core->plain || (*address & modes)) ||
        (s->user_selected && gpu_plain_protects_(core)))
        return false;
    if (!gpu_store_(core, *address & (GPU_REGS - 1), value, path))
        return false;
    ++*address;
    return true;
}

/** Stores an address that selects a plain register; false: it does more, or is none, and nothing
 * has happened. */
static inline bool afuc_select_(struct afuc_core *core, unsigned number, uint32_t value)
{
    struct afuc_state *s = &core->s;
    bool user = number == R_USRADDR;
    if (number == R_DATA || !core->plain || (!user && (value >> 24 || s->interrupted)))
        return false;
    *(user ? &s->usraddr : &s->addr) = value;
    s->user_selected = user;
    return true;
}

#endif
