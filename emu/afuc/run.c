/* SPDX-License-Identifier: MIT
 * The interpreter's loop in four expansions: with nobody watching, with counters, with a log of
 * branches, and with STEP events. */
#include "emu/afuc/control/control.h"
#include "emu/afuc/queue/queue.h"

#include <string.h>

/* ---- with nobody watching ---- */

#define AFUC_RUN          afuc_run_
#define AFUC_GO           ip->go
#define WATCH_BEGIN()     ((void)0)
#define WATCH_NEXT()      ((void)0)
#define WATCH_TAKEN()     ((void)0)
#define WATCH_BULK(most)  afuc_bulk_(core, ip, most)
#define WATCH_TYPE4(most) afuc_type4_(core, ip, most)
#include "emu/afuc/body.h"

const void *const *afuc_handlers_(void)
{
    return (const void *const *)(uintptr_t)afuc_run_(NULL, 0);
}

/* ---- counters: how often each instruction ran, and how often it branched ---- */

static uint64_t counted_bulk(struct afuc_core *core, const struct afuc_uop *uop,
                             struct cps_cover *cover, uint64_t most)
{
    uint64_t done = afuc_bulk_(core, uop, most);
    cover[uop - core->uops].run += done;
    return done;
}

#define AFUC_RUN          afuc_run_counted_
#define AFUC_GO           handler[ip->take]
#define WATCH_BEGIN()     struct cps_cover *const cover = core->cover
#define WATCH_NEXT()      cover[ip - core->uops].run++
#define WATCH_TAKEN()     (cover[ip - core->uops].run++, cover[ip - core->uops].taken++)
#define WATCH_BULK(most)  counted_bulk(core, ip, cover, most)
#define WATCH_TYPE4(most) UINT64_C(0)
#include "emu/afuc/body.h"

/* ---- a log of branches: where control went, in which packet, and how privileged. What runs
 * between two of them needs no entry ---- */

/* Where firmware keeps the level that it stands on, from a7xx on (F: 740 0046). */
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

static void note_edge(struct afuc_core *core, uint32_t branch, uint32_t to)
{
    struct cps_edge_log *log = core->log;
    const struct afuc_state *s = &core->s;
    int32_t depth = (int32_t)s->sqe[SQE_SP];
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

#define AFUC_RUN          afuc_run_logged_
#define AFUC_GO           handler[ip->take]
#define WATCH_BEGIN()     ((void)0)
#define WATCH_NEXT()      ((void)0)
#define WATCH_TAKEN()     note_edge(core, (uint32_t)(ip - core->uops), (uint32_t)(there - core->uops))
#define WATCH_BULK(most)  afuc_bulk_(core, ip, most)
#define WATCH_TYPE4(most) UINT64_C(0)
#include "emu/afuc/body.h"

/* ---- STEP events: after each instruction, the registers that it changed; with counters, too, if
 * there are any ---- */

static void note_written(struct afuc_core *core, const struct afuc_uop *uop)
{
    core->written |= 1u << (uop->dst & 31);
    if (uop->flags & U_PRE)
        core->written |= 1u << (uop->s1 & 31);
}

static void count(struct afuc_core *core, const struct afuc_uop *uop, bool taken)
{
    if (!core->cover)
        return;
    core->cover[uop - core->uops].run++;
    core->cover[uop - core->uops].taken += taken;
}

#define AFUC_RUN afuc_run_watched_
#define AFUC_GO  handler[ip->take]
#define WATCH_BEGIN()         \
    uint32_t before[R_COUNT]; \
    memcpy(before, r, sizeof(before))
#define WATCH_STEP(goes)                                                                          \
    do {                                                                                          \
        note_written(core, ip);                                                                   \
        count(core, ip, goes);                                                                    \
        cps_tap_step_(&core->machine->engine.tap, core->who, (uint32_t)(ip - core->uops), before, \
                      r, 32);                                                                     \
        memcpy(before, r, sizeof(before));                                                        \
    } while (0)
#define WATCH_NEXT()      WATCH_STEP(false)
#define WATCH_TAKEN()     WATCH_STEP(true)
#define WATCH_BULK(most)  UINT64_C(0)
#define WATCH_TYPE4(most) UINT64_C(0)
#include "emu/afuc/body.h"
