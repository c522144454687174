/* SPDX-License-Identifier: MIT
 * GPU registers. Private to emu/afuc/. */
#ifndef CPS_AFUC_GPU_H
#define CPS_AFUC_GPU_H

#include "emu/afuc/bank.h"

CPS_MUST_USE struct cps_err *gpu_init_(struct cps_afuc *machine);
uint32_t gpu_read_(struct afuc_core *core, uint32_t offset);
void gpu_write_(struct afuc_core *core, uint32_t offset, uint32_t value, unsigned path);

/** Whether CP_PROTECT forbids the access to any of @p count registers. */
bool gpu_protected_(const struct afuc_core *core, uint32_t offset, uint32_t count, bool write);

/** Whether a register does nothing but hold a value. */
static inline bool gpu_is_plain_(const struct cps_afuc *m, uint32_t offset)
{
    return !(m->reg_flags[offset] & REG_BEHAVES);
}

/** A write that is no more than a store and an event is done; false: it is more, and nothing has
 * happened. @p core is plain. */
static inline bool gpu_store_(struct afuc_core *core, uint32_t offset, uint32_t value,
                              unsigned path)
{
    struct cps_afuc *m = core->machine;
    if (CPS_UNLIKELY(!gpu_is_plain_(m, offset)))
        return false;
    core_event_(core, CPS_EV_REG, path, offset, value);
    m->engine.changes += bank_set_(m, core->pipe, offset, value);
    return true;
}

/** Whether @p count registers from @p offset lie in blocks in which none behaves. */
static inline bool gpu_all_plain_(const struct cps_afuc *m, uint32_t offset, uint32_t count)
{
    if (offset >= GPU_REGS || count > GPU_REGS - offset)
        return false;
    uint32_t first = offset / REG_BLOCK;
    uint32_t last = (offset + count - !!count) / REG_BLOCK;
    bool behaves = m->behaves[first] | m->behaves[last];
    while (CPS_UNLIKELY(++first < last))
        behaves |= m->behaves[first];
    return !behaves;
}

/** The same of so few that they lie in three blocks at most. */
static inline bool gpu_few_plain_(const struct cps_afuc *m, uint32_t offset, uint32_t count)
{
    uint32_t first = offset / REG_BLOCK;
    uint32_t last = (offset + count - !!count) / REG_BLOCK; /* those behind the last one behave */
    return !(m->behaves[first] | m->behaves[(first + last) / 2] | m->behaves[last]);
}

/** Gives @p count consecutive registers that all pipes share their values, without events or
 * effect. */
static inline void gpu_set_shared_(struct cps_afuc *m, uint32_t offset, const uint32_t *word,
                                   uint32_t count)
{
    uint32_t *reg = &m->reg[offset];
    uint8_t *flags = &m->reg_flags[offset];
    uint32_t changes = 0;
    machine_touch_(m, offset);
    machine_touch_(m, offset + count - !!count);
    for (uint32_t i = TOUCHED_REGS; CPS_UNLIKELY(i < count); i += TOUCHED_REGS)
        machine_touch_(m, offset + i);
    for (uint32_t i = 0; i < count; i++) {
        changes += reg[i] != word[i];
        reg[i] = word[i];
        flags[i] |= REG_WRITTEN;
    }
    m->engine.changes += changes;
}

/** The same of those of a core's pipe. */
static inline void gpu_set_plain_(struct afuc_core *core, uint32_t offset, const uint32_t *word,
                                  uint32_t count)
{
    struct cps_afuc *m = core->machine;
    if (CPS_LIKELY(!m->bank[core->pipe % PIPE_COUNT]))
        gpu_set_shared_(m, offset, word, count);
    else
        bank_set_several_(m, core->pipe, offset, word, count);
}

/** Whether the protected mode puts writes through `$usraddr` under CP_PROTECT on the level at hand
 * (ctrl.def, PROTECTED_MODE). */
static inline bool gpu_mode_protects_(const struct afuc_core *core)
{
    uint32_t bit = core->protected_bit[core->s.level != CPS_LEVEL_RB];
    return !bit || (core->s.control[core->privilege[1]] & bit);
}

/** Whether CP_PROTECT forbids a core that is plain anything. */
static inline bool gpu_plain_protects_(const struct afuc_core *core)
{
    return (bank_get_(core->machine, core->pipe, core->protect) & 1) && gpu_mode_protects_(core);
}

#endif
