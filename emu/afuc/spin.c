/* SPDX-License-Identifier: MIT
 * Deadlocks by proof: a machine is deterministic, so once all of its state repeats, it repeats for
 * ever. Brent's algorithm over the plain state, entered only after a long time in which no register
 * and no memory changed. IBs that chain to themselves are found like polls: where a stream is read
 * is part of the state. Short circles are looked for after every tick. For long ones that would
 * cost more than running: they are found by looking at every 31st, a prime, so that a circle of n
 * ticks is met again after 31 n at most. */
#include "emu/afuc/machine.h"
#include "emu/afuc/sched.h"

#include <string.h>

#define SHORT_CIRCLE 4096u /* ticks */
#define LONG_STRIDE  31u

struct snapshot {
    struct afuc_state state[MAX_CORES];
    uint32_t core, left; /* of the turn */
    uint64_t changes;
};

static void take(const struct cps_afuc *machine, struct snapshot *ret)
{
    for (unsigned i = 0; i < machine->engine.cores; i++)
        memcpy(&ret->state[i], &machine->core[i].s, sizeof(ret->state[i]));
    ret->core = machine->turn.core;
    ret->left = machine->turn.left;
    ret->changes = machine_changes_(machine);
}

static bool same(const struct cps_afuc *machine, const struct snapshot *then)
{
    if (machine->turn.core != then->core ||
        (machine->engine.cores > 1 && machine->turn.left != then->left))
        return false;
    for (unsigned i = 0; i < machine->engine.cores; i++) {
        const struct afuc_state *now = &machine->core[i].s;
        if (now->pc != then->state[i].pc || memcmp(now, &then->state[i], sizeof(*now)) != 0)
            return false;
    }
    return machine_changes_(machine) == then->changes;
}

static void rewind_queue(struct fifo *fifo)
{
    if (!fifo->count && !fifo->request_count)
        fifo->head = 0;
}

/* Which place of an empty queue the next word takes is no behaviour. A poll takes one each time,
 * and would be the same again only when it has gone through all of them. */
static void rewind_queues(struct cps_afuc *machine)
{
    for (unsigned i = 0; i < machine->engine.cores; i++) {
        rewind_queue(&machine->core[i].s.memdata);
        rewind_queue(&machine->core[i].s.regdata);
    }
}

bool machine_spins_(struct cps_afuc *machine, uint64_t largest, uint64_t budget, uint64_t *ran)
{
    struct snapshot *then = malloc(sizeof(*then));
    bool found = false;
    if (!then) {
        cps_mem_fail(machine->engine.mem);
        return true; /* the run ends, and is no result */
    }
    for (uint64_t window = 64; !found && window <= largest; window *= 2) {
        uint64_t stride = window <= SHORT_CIRCLE ? 1 : LONG_STRIDE;
        rewind_queues(machine);
        take(machine, then);
        for (uint64_t i = 0; i < window && !found; i += stride) {
            uint64_t steps = machine_round_(machine, stride);
            *ran += steps;
            rewind_queues(machine);
            if ((!steps && !machine->turn.ran) || *ran >= budget)
                goto done;
            found = same(machine, then);
        }
    }
done:
    free(then);
    return found;
}
