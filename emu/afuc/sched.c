/* SPDX-License-Identifier: MIT
 * The scheduler: cores take turns of a fixed number of instructions in a fixed order, so that a
 * run is the same on every machine. */
#include "emu/afuc/control/control.h"
#include "emu/afuc/queue/queue.h"
#include "emu/afuc/origin/origin.h"
#include <string.h>

#define TURN_ALONE    65536u /* instructions of a turn; nobody waits for a single core */
#define TURN_SHARED   128u
#define TURN_IN_ERROR 64u /* an error loop is recognised soon */

static uint64_t run_core(struct afuc_core *core, uint64_t budget)
{
    bool watched =
        core->cover || core->log || cps_tap_wants_(&core->machine->engine.tap, CPS_EV_STEP);
    if (CPS_UNLIKELY(core->machine->origin))
        return origin_run_(core->machine->origin, core, budget);
    return watched ? afuc_run_watched_(core, budget) : afuc_run_(core, budget);
}

static bool runnable(const struct afuc_core *core)
{
    bool waits = core->s.wait == WAIT_PIPE && !stamp_reached_(core);
    return core->s.started && core->s.wait != WAIT_FAULT && !waits;
}

/* When nobody can go on any more, words that somebody else would have written are taken for
 * written, if the policy says so. */
static bool assume_reached(struct cps_afuc *machine)
{
    bool assumed = false;
    for (unsigned i = 0; i < machine->engine.cores; i++) {
        struct afuc_core *core = &machine->core[i];
        if (core->s.wait != WAIT_PIPE || !machine_waits_end_(machine, false))
            continue;
        core_event_(core, CPS_EV_ASSUME, CPS_WHAT_WAIT, SHARED_CONTROL + core->s.onchip[0],
                    core->s.onchip[1]);
        machine->shared[core->s.onchip[0] % SHARED_COUNT] = core->s.onchip[1];
        assumed = true;
    }
    return assumed;
}

/* At `waitin` with nothing in the ring, or in the MEQ. The processors of a7xx also wait in loops of
 * their own that parse headers (740 0199, BV 0132): there nothing is left of a packet. */
bool core_idle_(const struct afuc_core *core)
{
    const struct afuc_state *s = &core->s;
    if (s->wait != WAIT_STREAM)
        return !s->started;
    if (s->level == LEVEL_MEQ)
        return !s->meq.count && core->uops[s->pc].code == UOP_WAITIN;
    bool own_loop = cps_gen_since(core->machine->engine.gen, CPS_A7XX) && s->r[R_REM] == 0;
    return s->level == LEVEL_RB && (own_loop || core->uops[s->pc].code == UOP_WAITIN);
}

/* Whether every core waits for the ring. */
static bool idle(const struct cps_afuc *machine)
{
    for (unsigned i = 0; i < machine->engine.cores; i++) {
        if (!core_idle_(&machine->core[i]))
            return false;
    }
    return true;
}

/* The error that a core has reported; 0: none has. */
static uint32_t first_error(const struct cps_afuc *machine)
{
    uint32_t code = 0;
    for (unsigned i = 0; !code && i < machine->engine.cores; i++)
        code = machine->core[i].s.error_code;
    return code;
}

static uint32_t turn(const struct cps_afuc *machine)
{
    if (first_error(machine))
        return TURN_IN_ERROR;
    return machine->engine.cores == 1 ? TURN_ALONE : TURN_SHARED;
}

/* The next core's turn, and the next round after the last one. */
static void next_turn(struct cps_afuc *machine)
{
    struct turn *t = &machine->turn;
    t->left = t->most;
    if (++t->core >= machine->engine.cores)
        *t = (struct turn){.finished = true, .ran = t->ran};
}

/* Goes on with the round of turns, at most @p budget ticks; returns how many passed. A round in
 * which nobody ran has machine->turn.finished and not .ran. */
static uint64_t run_round(struct cps_afuc *machine, uint64_t budget)
{
    struct turn *t = &machine->turn;
    uint64_t ran = 0;
    if (t->finished || !t->most)
        *t = (struct turn){.most = turn(machine), .left = turn(machine)};
    while (!t->finished && ran < budget) {
        struct afuc_core *core = &machine->core[t->core];
        if (CPS_UNLIKELY(machine->watched))
            afuc_interrupt_(core);
        uint64_t asked = t->left < budget - ran ? t->left : budget - ran;
        uint64_t done = runnable(core) ? run_core(core, asked) : 0;
        ran += done;
        t->ran |= done != 0;
        machine->engine.ran_core = done ? t->core : machine->engine.ran_core;
        t->left -= (uint32_t)done;
        if (done < asked || !t->left)
            next_turn(machine);
    }
    return ran;
}

/* ---- deadlocks by proof ----
 *
 * A machine is deterministic, so once all of its state repeats, it repeats for ever. Brent's
 * algorithm over the plain state, entered only after a long time in which no register and no memory
 * changed. IBs that chain to themselves are found like polls: where a stream is read is part of the
 * state. Short loops are looked for after every tick. For long ones that would cost more than
 * running: they are found by looking at every 31st, a prime, so that a loop of n ticks is met again
 * after 31 n at most. */

#define SHORT_CIRCLE 4096u /* ticks */
#define LONG_STRIDE  31u

struct snapshot {
    struct afuc_state state[MAX_CORES];
    uint32_t core, left; /* of the turn */
    uint32_t port[ME_READ_PORT_REGS];
    uint64_t changes;
};

static void take_snapshot(struct cps_afuc *machine, struct snapshot *ret)
{
    for (unsigned i = 0; i < machine->engine.cores; i++) {
        memcpy(&ret->state[i], &machine->core[i].s, sizeof(ret->state[i]));
        machine->core[i].polled.places = 0;
    }
    ret->core = machine->turn.core;
    ret->left = machine->turn.left;
    memcpy(ret->port, machine->reg + ME_READ_PORT, sizeof(ret->port));
    ret->changes = machine_changes_(machine);
}

static bool is_same(const struct cps_afuc *machine, const struct snapshot *then)
{
    if (machine->turn.core != then->core ||
        (machine->engine.cores > 1 && machine->turn.left != then->left))
        return false;
    for (unsigned i = 0; i < machine->engine.cores; i++) {
        const struct afuc_state *now = &machine->core[i].s;
        if (now->pc != then->state[i].pc || memcmp(now, &then->state[i], sizeof(*now)) != 0)
            return false;
    }
    return machine_changes_(machine) == then->changes &&
           memcmp(then->port, machine->reg + ME_READ_PORT, sizeof(then->port)) == 0;
}

/* Which place of an empty queue the next word takes is no behaviour. A poll takes one each time,
 * and would be the same again only when it has gone through all of them. */
static void rewind_queues(struct cps_afuc *machine)
{
    for (unsigned i = 0; i < 2 * machine->engine.cores; i++) {
        struct afuc_state *s = &machine->core[i / 2].s;
        struct fifo *fifo = i % 2 ? &s->memdata : &s->regdata;
        if (!fifo->count && !fifo->request_count)
            fifo->head = 0;
    }
}

/* Whether the cores loop for ever in at most @p largest steps. Steps them until *ran, to which it
 * adds, reaches @p budget. */
static bool spins(struct cps_afuc *machine, uint64_t largest, uint64_t budget, uint64_t *ran)
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
        take_snapshot(machine, then);
        for (uint64_t i = 0; i < window && !found; i += stride) {
            uint64_t steps = run_round(machine, stride);
            *ran += steps;
            rewind_queues(machine);
            if ((!steps && !machine->turn.ran) || *ran >= budget)
                goto done;
            found = is_same(machine, then);
        }
    }
done:
    free(then);
    return found;
}

/* ---- a run ---- */

/* Whether some core can never go on. */
static bool faulted(const struct cps_afuc *machine)
{
    for (unsigned i = 0; i < machine->engine.cores; i++) {
        if (machine->core[i].s.wait == WAIT_FAULT)
            return true;
    }
    return false;
}

/* The firmware's own error code 1 is a packet that it refuses (F: 6ee 00c4, reached from every
 * unused entry of the packet table and from misplaced IBs); BV of a7xx has its codes 13 bits
 * higher, LPAC 8 (F: 740 0220, BV 01c1, LPAC 008b). */
static bool refuses_packet(uint32_t code)
{
    return code == 1 || code == 1u << 13 || code == 1u << 8;
}

/* Why a machine that can do nothing and is not idle stopped. */
static enum cps_stop error_of(const struct cps_afuc *machine)
{
    uint32_t code = first_error(machine);
    return !code ? CPS_STOP_DEADLOCK : refuses_packet(code) ? CPS_STOP_BAD_PACKET : CPS_STOP_FAULT;
}

/* Cores that take turns come back to where they were only after many turns. */
static uint64_t circle(const struct cps_afuc *machine, uint64_t alone)
{
    return machine->engine.cores == 1 ? alone : 64 * alone;
}

/* Whether the cores loop. The search takes a small, constant share of the
 * instructions, whatever the firmware does; after an error code a short circle is expected. */
static bool stuck(struct cps_afuc *machine, uint64_t budget, uint64_t *ran)
{
    struct stillness *watch = &machine->stillness;
    if (*ran >= budget)
        return false;
    if (first_error(machine))
        return spins(machine, circle(machine, 64), budget, ran);
    if (machine_changes_(machine) != watch->mark || !watch->look_at) {
        *watch = (struct stillness){machine_changes_(machine), 0, TURN_ALONE};
        return false;
    }
    watch->still += *ran;
    if (watch->still < watch->look_at)
        return false;
    watch->look_at = watch->still * 8;
    return spins(machine, circle(machine, 4096) / 16 + 4096 + watch->still / 16, budget, ran);
}

/* A core alone has long turns. Who logs branches runs many short cases, in pieces: after an error
 * it does not wait for the end of the turn. Others stop where an uninterrupted run does. */
static uint64_t share(const struct cps_afuc *machine, uint64_t budget)
{
    bool soon = machine->engine.cores == 1 && machine->core[0].log && budget > TURN_IN_ERROR &&
                first_error(machine);
    return soon ? TURN_IN_ERROR : budget;
}

static enum cps_stop run(struct cps_afuc *machine, uint64_t budget)
{
    const struct cps_engine *engine = &machine->engine;
    machine->stillness.look_at = 0;
    while (budget && !(engine->asked && engine->asked(engine->asked_context))) {
        uint64_t ran = run_round(machine, share(machine, budget));
        if (faulted(machine))
            return CPS_STOP_FAULT;
        if (machine->turn.finished && !machine->turn.ran) {
            if (assume_reached(machine) || (idle(machine) && rings_idle_(machine)))
                continue;
            return idle(machine) && !rings_away_(machine) ? CPS_STOP_IDLE : error_of(machine);
        }
        if (stuck(machine, budget, &ran))
            return error_of(machine);
        budget -= ran < budget ? ran : budget;
    }
    return CPS_STOP_BUDGET;
}

enum cps_stop machine_run_(struct cps_engine *engine, uint64_t ticks)
{
    struct cps_afuc *machine = (struct cps_afuc *)engine;
    enum cps_stop stop = run(machine, ticks);
    engine->instructions = engine->clock - machine->repeats;
    return stop;
}
