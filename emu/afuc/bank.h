/* SPDX-License-Identifier: MIT
 * GPU registers that each pipe has for itself, from a7xx on. BR's are the machine's own array; what
 * another pipe has not written reads as BR's do, because the driver writes most of them for all
 * pipes at once. Private to emu/afuc/.
 *
 * D: apertures of the host (kernel: a6xx_gpu_state.c, a8xx_gpu.c), whose format control register
 * APERTURE has. Data that goes through the pipe is the core's own; REG_WRITE and REG_READ go where
 * the aperture points. Slices of a8xx are not told apart. */
#ifndef CPS_AFUC_BANK_H
#define CPS_AFUC_BANK_H

#include "emu/afuc/machine.h"

enum { PIPE_BR = 1 };
/** The registers of clusters, and on a8xx those of the command processor. */
enum { BANK_CLUSTERS = 0x8000, BANK_CLUSTER_REGS = 0x4000, BANK_CP = 0x800, BANK_CP_REGS = 0x400 };
#define BANK_REGS (BANK_CLUSTER_REGS + BANK_CP_REGS)

struct reg_bank {
    bool touched; /* as cps_afuc.touched */
    uint32_t reg[BANK_REGS];
    uint8_t written[BANK_REGS];
};

/** Makes the banks that the machine's processors need. */
CPS_MUST_USE struct cps_err *bank_init_(struct cps_afuc *machine);
/** Replaces the banks of a copied machine by copies. */
CPS_MUST_USE struct cps_err *bank_clone_(struct cps_afuc *copy);
/** Makes banks as those of the machine that this one is a clone of. */
void bank_restore_(struct cps_afuc *machine, const struct cps_afuc *from);
void bank_deinit_(struct cps_afuc *machine);
/** The pipe of enum adreno_pipe that a processor is, and the one whose clusters it feeds. */
unsigned bank_pipe_(enum cps_processor who);
unsigned bank_fed_(enum cps_processor who);
/** The pipe that REG_WRITE and REG_READ of @p core reach; 0: all. At most 15. */
unsigned bank_aperture_(const struct afuc_core *core);

/** After a write for all pipes: none has a value of its own any more. */
void bank_forget_(struct cps_afuc *machine, uint32_t offset);

/** The bank that holds a register of @p pipe, with its place in it; NULL: the machine's array. */
static inline struct reg_bank *bank_of_(const struct cps_afuc *machine, unsigned pipe,
                                        uint32_t offset, uint32_t *ret)
{
    struct reg_bank *bank = machine->bank[pipe % PIPE_COUNT];
    if (CPS_LIKELY(!bank))
        return NULL;
    *ret = offset - BANK_CLUSTERS;
    if (*ret < BANK_CLUSTER_REGS)
        return bank;
    *ret = offset - BANK_CP + BANK_CLUSTER_REGS;
    bool cp = machine->layout == CPS_LAYOUT_A8XX && offset - BANK_CP < BANK_CP_REGS;
    return cp ? bank : NULL;
}

/** What a register of @p pipe holds. */
static inline uint32_t bank_get_(const struct cps_afuc *machine, unsigned pipe, uint32_t offset)
{
    uint32_t at = 0;
    const struct reg_bank *bank = bank_of_(machine, pipe, offset, &at);
    return bank && bank->written[at] ? bank->reg[at] : machine->reg[offset % GPU_REGS];
}

/** Whether somebody gave it a value. */
static inline bool bank_written_(const struct cps_afuc *machine, unsigned pipe, uint32_t offset)
{
    uint32_t at = 0;
    const struct reg_bank *bank = bank_of_(machine, pipe, offset, &at);
    return (bank && bank->written[at]) || machine->reg_flags[offset] & REG_WRITTEN;
}

/** Gives it a value, without effect. @return whether it is another one than before */
static inline bool bank_set_(struct cps_afuc *machine, unsigned pipe, uint32_t offset,
                             uint32_t value)
{
    uint32_t at = 0;
    struct reg_bank *bank = bank_of_(machine, pipe, offset, &at);
    bool changed = bank_get_(machine, pipe, offset) != value;
    if (!bank) {
        machine_set_reg_(machine, offset, value);
        if (!pipe && cps_gen_since(machine->engine.gen, CPS_A7XX))
            bank_forget_(machine, offset);
        return changed;
    }
    bank->touched = true;
    bank->reg[at] = value;
    bank->written[at] = 1;
    return changed;
}

/** The same of @p count consecutive registers, and counts the changes. */
void bank_set_several_(struct cps_afuc *machine, unsigned pipe, uint32_t offset,
                       const uint32_t *word, uint32_t count);

#endif
