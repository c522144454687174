/* SPDX-License-Identifier: MIT
 * Where the images of cores lie, and how a core gets its own. */
#include "emu/afuc/load.h"
#include "emu/afuc/machine.h"
#include "emu/afuc/start.h"

/* The ME's image of a5xx, a file of its own. */
#define ME_IMAGE_OFFSET UINT64_C(0x1000000)

#define NO_CONTROL 0xffffu /* NA in ctrl.def */

uint64_t machine_image_iova_(const struct cps_afuc *machine, unsigned core)
{
    const struct afuc_core *c = &machine->core[core];
    if (c->who == CPS_CPU_ME)
        return machine->instr_iova + ME_IMAGE_OFFSET;
    return machine->instr_iova + 4 * (uint64_t)c->start;
}

struct cps_err *machine_load_core_(struct afuc_core *core, const uint32_t *words, uint32_t count,
                                   uint32_t start)
{
    struct cps_afuc *machine = core->machine;
    unsigned index = (unsigned)(core - machine->core);
    afuc_image_unref_(machine->image[index]);
    machine->image[index] = NULL;
    CPS_TRY(afuc_load_(words + start, count - start, core->machine->engine.gen, machine->go,
                       core->control, &machine->image[index]));
    core->uops = machine->image[index]->uop;
    core->uop_count = count - start;
    core->start = start;
    if (core->cover && core->cover_count <= core->uop_count)
        core->cover = NULL;
    core->s.started = 1;
    return NULL;
}

/* Restarting a core that runs is not known to happen; it goes on. */
void machine_start_core_(struct afuc_core *by, enum cps_processor who, uint64_t iova)
{
    struct cps_afuc *machine = by->machine;
    uint64_t start = (iova - machine->instr_iova) / 4;
    struct afuc_core *core = machine_find_core_(machine, who);
    if (!core || start >= machine->word_count) {
        core_event_(by, CPS_EV_UNMODELLED, CPS_PLACE_MEMORY, iova, 0);
        return;
    }
    if (core->s.started)
        return;
    if (core->base != NO_CONTROL) {
        core->s.control[core->base] = (uint32_t)iova;
        core->s.control[core->base + 1] = (uint32_t)(iova >> 32);
    }
    struct cps_err *err =
        machine_load_core_(core, machine->words, machine->word_count, (uint32_t)start);
    if (err)
        afuc_fault_(by, FAULT_MEMORY, (uint32_t)iova);
    cps_err_free(err);
}
