/* SPDX-License-Identifier: MIT
 * waitin: a header becomes a handler; and the two instructions that enter and leave modes. */
#include "emu/afuc/control/control.h"
#include "emu/afuc/queue/queue.h"
#include "emu/afuc/origin/origin.h"

#include "isa/base/pm4.h"

/* ---- headers ---- */

struct dispatch {
    uint32_t id;    /* packet table index */
    uint32_t count; /* dwords of payload */
};

/* Type 4 is entry 4, but on the ME of a5xx each kind of register bank has its own (F: the handlers
 * add the bank bits of $16, of $17, and none). */
static uint32_t type4_entry(const struct afuc_core *core, uint32_t offset)
{
    if (core->layout != CPS_LAYOUT_A5XX_ME)
        return 4;
    if (offset >= 0x2000 && offset <= 0x27ff)
        return 2;
    return offset >= 0xe000 && offset <= 0xefff ? 3 : 4;
}

/* A malformed header runs an error handler with $rem = 0 (H: crash.devcore). Which table entry
 * hardware takes is not known for every kind of defect; entry 0 is an error handler in all images
 * seen. */
static inline struct dispatch classify(const struct afuc_core *core, uint32_t header)
{
    bool checked = core->layout != CPS_LAYOUT_A5XX_ME; /* PFP edits counts without parity (F) */
    struct cps_pm4 packet = checked ? cps_pm4_decode(header) : cps_pm4_decode_any(header);
    if (packet.kind == CPS_PM4_TYPE7)
        return (struct dispatch){packet.opcode, packet.count};
    if (packet.kind == CPS_PM4_TYPE4)
        return (struct dispatch){type4_entry(core, packet.reg), packet.count};
    return (struct dispatch){0, 0};
}

/* Headers of the packets that hardware itself makes: no payload, valid parity. */
enum { IN_PREEMPT = 0x708f8000, IN_GMU_INTERRUPT = 0x700b8000, IN_PREEMPT_A5XX = 0x708c8000 };

static void note_packet(struct afuc_core *core, unsigned level, uint32_t id)
{
    core->packets++;
    core->machine->engine.packets++;
    core->machine->packets_by_id[level][id]++;
}

/* The preemption routine is entered where a packet would have been dispatched; iret goes back to
 * the same waitin (F: IN_PREEMPT keeps even the temporaries it uses). */
static void preempt(struct afuc_core *core)
{
    preempt_enter_(core);
    core_event_(core, CPS_EV_PKT, CPS_LEVEL_INT, stream_iova_(core), IN_PREEMPT);
    note_packet(core, CPS_LEVEL_INT, 0x0f);
}

static void put_in_front(struct afuc_core *core, uint32_t header)
{
    core->s.injected = header;
    core->window_left = 0;
}

/* Serves the request that is due at this packet, if there is one. */
static void serve(struct afuc_core *core)
{
    struct cps_afuc *machine = core->machine;
    struct injection *next = &machine->injection[machine->injection_next++];
    if (next->kind == CPS_INJECT_SWITCH && !rings_request_(machine))
        core_event_(core, CPS_EV_UNMODELLED, CPS_PLACE_GPU, machine_switch_cntl_(machine), 0);
    else if (next->kind == CPS_INJECT_GMU)
        put_in_front(core, IN_GMU_INTERRUPT);
    else if (core->layout == CPS_LAYOUT_A5XX_PFP) /* an ordinary packet there (D) */
        put_in_front(core, IN_PREEMPT_A5XX);
    else if (!core->s.sqe[SQE_PREEMPT])
        core_event_(core, CPS_EV_UNMODELLED, CPS_PLACE_SQE, SQE_PREEMPT, 0);
    else if (next->kind == CPS_INJECT_PREEMPT)
        core->s.preempt.look = PREEMPT_ONCE;
}

/* Whether a request is due at this packet: its submission, its number. */
static bool due(const struct afuc_core *core)
{
    const struct cps_afuc *machine = core->machine;
    const struct injection *next = &machine->injection[machine->injection_next];
    return machine->injection_next < machine->injection_count && !machine->rings.current &&
           machine->submission != ORIGIN_NO_SUBMISSION &&
           (next->kind != CPS_INJECT_SWITCH || machine->rings.begun) &&
           next->submission == machine->submission && next->packet == machine->submission_packets;
}

/* @p ready  there is a packet. A driver does not wait for one. */
static bool interrupt(struct afuc_core *core, bool ready)
{
    if (core->s.interrupted)
        return false;
    if (ready && core == &core->machine->core[0] && due(core))
        serve(core);
    return preempt_due_(core);
}

void afuc_interrupt_(struct afuc_core *core)
{
    struct afuc_state *s = &core->s;
    if (!preempt_anywhere_(core))
        return;
    preempt(core);
    s->wait = WAIT_NONE;
    s->pc = s->sqe[SQE_PREEMPT];
    s->npc = s->pc + 1;
}

/* Emits the payload words that the stream holds when the packet begins; a truncated packet has
 * fewer than its header counts. */
static void show_words(struct afuc_core *core, uint32_t count)
{
    uint32_t word;
    for (uint32_t i = 0; i < count && stream_look_(core, i + 1, &word); i++)
        core_event_(core, CPS_EV_WORD, 0, i, word);
}

/* A packet begins. The delay slot pops its header; $rem counts that word too until then. */
static void begin_packet(struct afuc_core *core, uint32_t header, struct dispatch to)
{
    struct afuc_state *s = &core->s;
    struct cps_afuc *machine = core->machine;
    unsigned level = s->injected ? (unsigned)CPS_LEVEL_INT : event_level_(core, header);
    s->history[1] = s->history[0];
    s->history[0] = s->header;
    s->header = header;
    s->header_iova = stream_iova_(core);
    s->id = to.id;
    s->r[R_REM] = to.count + 1;
    machine->submission_packets +=
        core == &machine->core[0] && !s->injected && !machine->rings.current;
    note_packet(core, level, to.id);
    if (s->sqe[SQE_SP]) /* the packet before left a call open */
        core_event_(core, CPS_EV_SQE, 0, SQE_SP, s->sqe[SQE_SP]);
    core_event_(core, CPS_EV_PKT, level, s->header_iova, header);
    if (cps_tap_wants_(&machine->engine.tap, CPS_EV_WORD) && !s->injected)
        show_words(core, to.count);
    wait_begin_(core, header);
}

/* a8xx: whether the DDE still has something of earlier packets to do, such as to launch it: whoever
 * does the work gets registers as they were then. A DDE in a wait does not hold its sender. */
static bool dde_is_late(const struct afuc_core *core)
{
    const struct afuc_core *dde = core->dde;
    return CPS_UNLIKELY(core->machine->engine.work != NULL) && dde && dde->s.started &&
           (dde->s.wait == WAIT_NONE || (dde->s.wait == WAIT_STREAM && dde->s.meq.count));
}

enum afuc_dispatch afuc_dispatch_(struct afuc_core *core, uint32_t *target)
{
    struct afuc_state *s = &core->s;
    struct cps_afuc *machine = core->machine;
    bool ready = has_words_(core, 1) && wait_ready_(core, peek_word_(core));
    if (CPS_UNLIKELY(machine->watched) && interrupt(core, ready)) {
        preempt(core);
        *target = s->sqe[SQE_PREEMPT];
        return DISPATCH_INTERRUPT;
    }
    if (!ready) {
        s->wait = WAIT_STREAM;
        return DISPATCH_NOTHING;
    }
    if (dde_is_late(core)) {
        s->wait = WAIT_MEQ;
        return DISPATCH_NOTHING;
    }
    if (CPS_UNLIKELY(machine->watched))
        preempt_passed_(core);
    uint32_t header = peek_word_(core);
    struct dispatch to = classify(core, header);
    begin_packet(core, header, to);
    *target = s->table[to.id];
    return DISPATCH_PACKET;
}

bool afuc_iret_(struct afuc_core *core, uint32_t *target)
{
    struct afuc_state *s = &core->s;
    if (!s->interrupted) {
        afuc_fault_(core, FAULT_ILLEGAL, s->pc);
        return false;
    }
    preempt_leave_(core);
    rings_returned_(core);
    *target = s->sqe[SQE_RESUME];
    return true;
}

/* H: in dumps of an a630 the bootstrap's setsecure with $02 = 2 has failed. Nothing is known about
 * the other modes, so they succeed, and every outcome is an assumption in the trace. */
bool afuc_setsecure_(struct afuc_core *core)
{
    uint32_t mode = core->s.r[2];
    bool success = mode != 2;
    core_event_(core, CPS_EV_ASSUME, CPS_WHAT_SECURE, mode, success);
    if (success && mode < 2)
        afuc_control_set_(core, CTL_SECURE_MODE, mode);
    return success;
}
