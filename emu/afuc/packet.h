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
/** Where a header stands. */
struct packet_place {
    uint64_t iova;
    uint32_t pos;   /* in its stream */
    unsigned level; /* of its event */
    bool injected;
};

/** What follows from a packet that begins: events, its words for who wants them, the policy about
 * waits. */
void packet_noted_(struct afuc_core *core, uint32_t header, const struct packet_place *at,
                   uint32_t count);

/** Whether anything does, beside counts. */
static inline bool packet_is_noted_(const struct afuc_core *core, uint32_t header)
{
    const uint32_t kinds = 1u << CPS_EV_PKT | 1u << CPS_EV_SQE | 1u << CPS_EV_WORD;
    return core->machine->engine.tap.kinds & kinds || wait_may_poll_(header);
}

/** A packet begins. The delay slot pops its header; $rem counts that word too until then.
 * @param id     index of the packet table
 * @param count  dwords of payload
 * @return where its handler is, which may be outside of the image */
static inline uint32_t packet_begin_(struct afuc_core *core, uint32_t header,
                                     struct packet_place at, uint32_t id, uint32_t count)
{
    struct afuc_state *s = &core->s;
    struct cps_afuc *machine = core->machine;
    s->history[1] = s->history[0];
    s->history[0] = s->header;
    s->header = header;
    s->header_iova = at.iova;
    s->header_pos = at.pos;
    s->id = id;
    machine->submission_packets +=
        core == &machine->core[0] && !at.injected && !machine->rings.current;
    machine->engine.packets++;
    machine->packets_by_id[at.level][id]++;
    s->r[R_REM] = count + 1;
    if (CPS_UNLIKELY(packet_is_noted_(core, header))) {
        packet_noted_(core, header, &at, count);
    } else {
        machine->engine.tap.count[CPS_EV_PKT]++;
        machine->engine.tap.count[CPS_EV_SQE] += s->sqe[SQE_SP] != 0;
    }
    return s->table[id];
}

/** Enters the preemption routine where the core stands, if that is due and it may. */
void afuc_interrupt_(struct afuc_core *core);
bool afuc_iret_(struct afuc_core *core, uint32_t *target);
bool afuc_setsecure_(struct afuc_core *core);

#endif
