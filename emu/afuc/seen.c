/* SPDX-License-Identifier: MIT
 * What a run looks at of its firmware, and the state that it begins in. */
#include "emu/afuc/seen.h"

#include <stdlib.h>
#include <string.h>

#include "emu/afuc/machine.h"

/* Of a5xx the PFP's, which stands first in memory. */
static uint32_t image_words(const struct cps_afuc *machine)
{
    return machine->words ? machine->word_count : machine->core[0].uop_count;
}

static uint64_t packets_of(const struct cps_afuc *machine, unsigned id)
{
    uint64_t sum = 0;
    const size_t levels = sizeof(machine->packets_by_id) / sizeof(machine->packets_by_id[0]);
    for (size_t level = 0; level < levels; level++)
        sum += machine->packets_by_id[level][id];
    return sum;
}

bool afuc_seen_begin_(struct cps_afuc *machine, uint8_t *seen, uint32_t count)
{
    for (unsigned id = 0; id < 128; id++)
        machine->packets_before[id] = packets_of(machine, id);
    if (count != image_words(machine) || machine->injection_count)
        return false;
    cps_mem_watch(machine->engine.mem, machine->instr_iova, seen, count);
    machine->seen = seen;
    return true;
}

static void add_run(const struct afuc_core *core, uint8_t *seen)
{
    const struct cps_cover *const cover = core->cover;
    const uint32_t last = core->uop_count;
    for (uint32_t pc = 0; pc <= last; pc++) {
        if (cover[pc].run)
            seen[pc] = 1;
    }
}

/* What a core executed, and the instruction that it stands at: that one was decoded. Cores that
 * count in the array of the first one, which goes to the end of the image, have been added. */
static bool add_core(const struct afuc_core *core, const struct afuc_core *first, uint8_t *seen,
                     uint32_t count)
{
    if (!core->s.started)
        return true;
    if (!core->cover || core->start + core->uop_count > count)
        return false;
    bool added = core != first && first->cover && first->s.started && core->start >= first->start &&
                 core->cover == first->cover + (core->start - first->start);
    if (!added)
        add_run(core, seen + core->start);
    if (core->s.pc <= core->uop_count)
        seen[core->start + core->s.pc] = 1;
    return true;
}

bool afuc_seen_end_(struct cps_afuc *machine)
{
    bool whole = machine->seen != NULL;
    for (unsigned i = 0; whole && i < machine->engine.cores; i++) {
        const struct afuc_core *core = &machine->core[i];
        whole = core->who == CPS_CPU_ME ||
                add_core(core, machine->core, machine->seen, image_words(machine));
    }
    cps_mem_watch(machine->engine.mem, 0, NULL, 0);
    machine->seen = NULL;
    return whole;
}

bool afuc_seen_entry_(const struct cps_afuc *machine, unsigned id)
{
    return packets_of(machine, id % 128) != machine->packets_before[id % 128];
}

/* Bytes between members have no value. */
static void clean(struct fifo *fifo, const struct fifo *from)
{
    memset(fifo->request, 0, sizeof(fifo->request));
    for (unsigned i = 0; i < FIFO_REQUESTS; i++) {
        fifo->request[i].iova = from->request[i].iova;
        fifo->request[i].dwords = from->request[i].dwords;
    }
}

static struct cps_err *put_core(const struct afuc_core *core, cps_put_bytes *put, void *to)
{
    const uint64_t rest[] = {core->uop_count,    core->who,           core->pipe,
                             core->layout,       core->start,         core->base,
                             core->polled.place, core->polled.number, core->me != NULL,
                             core->dde != NULL};
    struct afuc_state *state = malloc(sizeof(*state));
    if (!state)
        return cps_err_nomem();
    memcpy(state, &core->s, sizeof(*state));
    memset(state->table, 0, sizeof(state->table));
    clean(&state->memdata, &core->s.memdata);
    clean(&state->regdata, &core->s.regdata);
    put(to, state, sizeof(*state));
    put(to, rest, sizeof(rest));
    free(state);
    return NULL;
}

/* Most registers are as after power-on: those that are not are told, with their numbers. */
static void put_array(const uint32_t *word, const uint8_t *flags, uint32_t count,
                      cps_put_bytes *put, void *to)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t row[] = {i, word[i], flags[i]};
        if (word[i] || flags[i])
            put(to, row, sizeof(row));
    }
    put(to, &count, sizeof(count));
}

static void put_registers(const struct cps_afuc *machine, cps_put_bytes *put, void *to)
{
    put_array(machine->reg, machine->reg_flags, GPU_REGS, put, to);
    put(to, machine->shared, sizeof(machine->shared));
    put(to, machine->completed, sizeof(machine->completed));
    for (unsigned i = 0; i < PIPE_COUNT; i++) {
        const struct reg_bank *bank = machine->bank[i];
        if (bank)
            put_array(bank->reg, bank->written, BANK_REGS, put, to);
    }
}

static void put_machine(const struct cps_afuc *m, cps_put_bytes *put, void *to)
{
    const struct cps_engine *e = &m->engine;
    const uint64_t words[] = {
        e->gen,
        e->clock,
        e->instructions,
        e->packets,
        e->time,
        e->changes,
        e->answer,
        e->ran_core,
        e->cores,
        m->layout,
        image_words(m),
        m->instr_iova,
        m->ring_iova,
        m->ring_dwords,
        m->ring_wptr,
        m->lpac_wptr,
        m->workarounds,
        m->repeats,
        m->turn.core,
        m->turn.left,
        m->turn.most,
        m->turn.ran,
        m->turn.finished,
        m->stillness.mark,
        m->stillness.still,
        m->stillness.look_at,
        m->injection_count,
        m->injection_next,
        m->submission,
        m->submission_packets,
        cps_mem_changes(e->mem),
    };
    put(to, words, sizeof(words));
    put(to, e->who, sizeof(e->who));
    put(to, &m->rings, sizeof(m->rings));
    put(to, m->packets_by_id, sizeof(m->packets_by_id));
}

struct cps_err *afuc_state_(struct cps_afuc *machine, cps_put_bytes *put, void *to)
{
    put_machine(machine, put, to);
    put_registers(machine, put, to);
    for (unsigned i = 0; i < machine->engine.cores; i++)
        CPS_TRY(put_core(&machine->core[i], put, to));
    return cps_mem_contents(machine->engine.mem, machine->instr_iova, image_words(machine), put,
                            to);
}
