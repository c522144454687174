/* SPDX-License-Identifier: MIT
 * waitin and its relatives. Private to emu/afuc/. */
#ifndef CPS_AFUC_PACKET_H
#define CPS_AFUC_PACKET_H

#include "emu/afuc/queue.h"
#include "emu/afuc/wait.h"

enum afuc_dispatch {
    DISPATCH_NOTHING,   /* no header yet */
    DISPATCH_PACKET,    /* go to @p target behind the delay slot */
    DISPATCH_INTERRUPT, /* go there at once: the delay slot belongs to the packet behind */
};
/** Looks the next header up. @p target may lie outside the image. */
enum afuc_dispatch afuc_dispatch_(struct afuc_core *core, uint32_t *target);
/** The same where the header is in the window and nothing may come in front of it. @return the
 * target, or NOT_AT_HAND: nothing has happened */
uint64_t afuc_take_header_(struct afuc_core *core);
#define NOT_AT_HAND UINT64_MAX
/** What follows from a packet that begins, for the few where anything does: its words for who wants
 * them, the policy about waits. */
void packet_noted_(struct afuc_core *core, uint32_t header, uint32_t count);

static inline bool packet_is_noted_(const struct afuc_core *core, uint32_t header)
{
    return wait_may_poll_(header) || cps_tap_wants_(&core->machine->engine.tap, CPS_EV_WORD);
}

/** A packet begins. The delay slot pops its header; $rem counts that word too until then.
 * @param level  of the event
 * @param iova   where the header stands
 * @param id     index of the packet table
 * @param count  dwords of payload
 * @return where its handler is, which may be outside of the image */
static inline uint32_t packet_begin_(struct afuc_core *core, uint32_t header, unsigned level,
                                     uint64_t iova, uint32_t id, uint32_t count)
{
    struct afuc_state *s = &core->s;
    struct cps_afuc *machine = core->machine;
    s->history[1] = s->history[0];
    s->history[0] = s->header;
    s->header = header;
    s->header_iova = iova;
    s->header_pos = s->level < LEVEL_COUNT ? s->queue[s->level].pos : 0;
    s->id = id;
    machine->submission_packets +=
        core == &machine->core[0] && !s->injected && !machine->rings.current;
    machine->engine.packets++;
    machine->packets_by_id[level][id]++;
    if (s->sqe[SQE_SP]) /* the packet before left a call open */
        core_event_(core, CPS_EV_SQE, 0, SQE_SP, s->sqe[SQE_SP]);
    core_event_(core, CPS_EV_PKT, level, iova, header);
    if (CPS_UNLIKELY(packet_is_noted_(core, header)))
        packet_noted_(core, header, count);
    s->r[R_REM] = count + 1;
    return s->table[id];
}

/** The same of a header in the window. */
static inline uint32_t packet_begin_in_window_(struct afuc_core *core, uint32_t header, uint32_t id,
                                               uint32_t count)
{
    unsigned level = header == END_OF_IB ? (unsigned)CPS_LEVEL_INT : core->window_level;
    uint64_t iova = core->window_end - 4 * (uint64_t)core->window_left;
    return packet_begin_(core, header, level, iova, id, count);
}

/** Enters the preemption routine where the core stands, if that is due and it may. */
void afuc_interrupt_(struct afuc_core *core);
bool afuc_iret_(struct afuc_core *core, uint32_t *target);
bool afuc_setsecure_(struct afuc_core *core);

#endif
