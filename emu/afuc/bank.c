/* SPDX-License-Identifier: MIT
 * Registers of pipes: their banks, and which pipe is whose. */
#include "emu/afuc/bank.h"

#include <string.h>

unsigned bank_pipe_(enum cps_processor who)
{
    static const uint8_t pipes[CPS_CPU_COUNT] = {
#define PROCESSOR(id, name, pipe, meaning) [CPS_CPU_##id] = (pipe),
#include "isa/target.def"
    };
    return pipes[who];
}

/* A DDE draws into the pipe that it works for (F: gen80000, DDE 037f..0382, makes its aperture of
 * that number). */
unsigned bank_fed_(enum cps_processor who)
{
    if (who == CPS_CPU_DDE_BR)
        return bank_pipe_(CPS_CPU_SQE);
    return bank_pipe_(who == CPS_CPU_DDE_BV ? CPS_CPU_BV : who);
}

struct cps_err *bank_init_(struct cps_afuc *machine)
{
    for (unsigned i = 0; i < machine->engine.cores; i++) {
        struct afuc_core *core = &machine->core[i];
        unsigned pipe = bank_fed_(core->who);
        core->pipe = pipe;
        core->plain = machine->engine.gen != CPS_A5XX && (pipe || machine->engine.gen == CPS_A6XX);
        if (!cps_gen_since(machine->engine.gen, CPS_A7XX) || pipe <= PIPE_BR || machine->bank[pipe])
            continue;
        machine->bank[pipe] = calloc(1, sizeof(**machine->bank));
        if (!machine->bank[pipe])
            return cps_err_nomem();
    }
    return NULL;
}

struct cps_err *bank_clone_(struct cps_afuc *copy)
{
    struct reg_bank *from[PIPE_COUNT];
    memcpy(from, copy->bank, sizeof(from));
    memset(copy->bank, 0, sizeof(copy->bank));
    for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++) {
        if (!from[pipe])
            continue;
        copy->bank[pipe] = malloc(sizeof(**copy->bank));
        if (!copy->bank[pipe])
            return cps_err_nomem();
        memcpy(copy->bank[pipe], from[pipe], sizeof(**copy->bank));
        copy->bank[pipe]->touched = false;
    }
    return NULL;
}

void bank_restore_(struct cps_afuc *machine, const struct cps_afuc *from)
{
    for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++) {
        if (machine->bank[pipe] && machine->bank[pipe]->touched)
            memcpy(machine->bank[pipe], from->bank[pipe], sizeof(**machine->bank));
        if (machine->bank[pipe])
            machine->bank[pipe]->touched = false;
    }
}

void bank_deinit_(struct cps_afuc *machine)
{
    for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++)
        free(machine->bank[pipe]);
}

void bank_forget_(struct cps_afuc *machine, uint32_t offset)
{
    for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++) {
        uint32_t at = 0;
        struct reg_bank *bank = bank_of_(machine, pipe, offset, &at);
        if (bank) {
            bank->touched = true;
            bank->written[at] = 0;
        }
    }
}

/* 13:12 on a7xx, 15:12 on a8xx (D: CP_APERTURE_CNTL_HOST). */
unsigned bank_aperture_(const struct afuc_core *core)
{
    uint32_t bits = core->layout == CPS_LAYOUT_A8XX ? 15 : 3;
    const struct afuc_state *s = &core->s;
    return (s->preempt.aperture ? s->preempt.aperture : s->aperture) >> 12 & bits;
}

void bank_set_several_(struct cps_afuc *machine, unsigned pipe, uint32_t offset,
                       const uint32_t *word, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        machine->engine.changes += bank_set_(machine, pipe, offset + i, word[i]);
}
