/* SPDX-License-Identifier: MIT
 * The interpreter's loop in two expansions: without events, and with STEP events, counters, or a
 * log of branches. */
#include "emu/afuc/control/control.h"
#include "emu/afuc/queue/queue.h"

#include <string.h>

static bool wants_steps(const struct afuc_core *core)
{
    return cps_tap_wants_(&core->machine->engine.tap, CPS_EV_STEP);
}

/* ---- a log of branches: where control went, in which packet, and how privileged. What runs
 * between two of them needs no entry ---- */

/* Where firmware keeps the level that it is on, from a7xx on (F: 740 0046). */
enum { R_LEVEL = 0x12 };

/* What says how privileged a core is: a bit for the level, the protected mode, and the level as the
 * firmware sees it. Numbers that a layout lacks lead to a register that nobody writes. */
uint8_t afuc_privilege_(const struct afuc_core *core)
{
    const struct afuc_state *s = &core->s;
    uint32_t levels = s->control[core->privilege[0]];
    uint32_t protected_mode = s->control[core->privilege[1]];
    return (uint8_t)((levels >> (s->level & 7) & 1) | (protected_mode >> 29 & 7) << 1 |
                     (s->r[R_LEVEL] & core->level_bits) << 4);
}

/* A call that is too deep takes the place of one that is still to return. Firmware that only
 * leaves calls open, or sets the depth back, takes nothing that is lost. */
static int32_t impossible_depth(struct cps_edge_log *log, unsigned core, int32_t depth)
{
    int32_t *now = &log->stack[core][0];
    int32_t *deepest = &log->stack[core][1];
    bool returned = depth == *now - 1;
    if (depth > *deepest || depth < *now - 1)
        *deepest = depth;
    *now = depth;
    if (depth < 0)
        return depth;
    return returned && depth + (int32_t)STACK_DEPTH < *deepest ? *deepest : 0;
}

static inline void note_edge(struct afuc_core *core, const struct afuc_uop *uop,
                             const struct afuc_uop *there)
{
    struct cps_edge_log *log = core->log;
    const struct afuc_state *s = &core->s;
    int32_t depth = (int32_t)s->sqe[SQE_SP];
    uint32_t branch = (uint32_t)(uop - core->uops);
    uint32_t to = (uint32_t)(there - core->uops);
    log->edge[log->count] = (struct cps_edge){.from = core->log_from,
                                              .branch = branch,
                                              .to = to,
                                              .core = (uint8_t)(core - core->machine->core),
                                              .level = (uint8_t)s->level,
                                              .packet = (uint8_t)s->id,
                                              .privilege = afuc_privilege_(core)};
    log->count += log->count < log->room - 1;
    core->log_from = to;
    depth = impossible_depth(log, (unsigned)(core - core->machine->core), depth);
    if (CPS_UNLIKELY(depth) && !log->depth) {
        log->depth = depth;
        log->at = branch;
        log->header = s->header;
        log->core = (uint8_t)(core - core->machine->core);
    }
}

/* ---- events, counters and log after an instruction ---- */

/* @p to  where it branches, NULL: it does not; @p before  general registers before it */
static void note_step(struct afuc_core *core, const struct afuc_uop *uop, const struct afuc_uop *to,
                      uint32_t before[R_COUNT])
{
    uint32_t pc = (uint32_t)(uop - core->uops);
    if (core->cover) {
        core->cover[pc].run++;
        core->cover[pc].taken += to != NULL;
    }
    if (wants_steps(core)) {
        core->written |= 1u << (uop->dst & 31) | (uop->flags & U_PRE ? 1u << (uop->s1 & 31) : 0);
        cps_tap_step_(&core->machine->engine.tap, core->who, pc, before, core->s.r, 32);
        memcpy(before, core->s.r, sizeof(core->s.r));
    } else if (core->log && to) {
        note_edge(core, uop, to);
    }
}

#define AFUC_RUN afuc_run_
#define WATCHED  false
#include "emu/afuc/body.h"

#define AFUC_RUN afuc_run_watched_
#define WATCHED  true
#include "emu/afuc/body.h"
