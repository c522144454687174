/* SPDX-License-Identifier: MIT
 * When the preemption routine is entered. Numbers are of 6ee; the rows have those of the other
 * layouts. */
#include "emu/afuc/control/control.h"

/* What was put off is looked at again (F: CP_SET_MARKER and CP_CONTEXT_SWITCH_YIELD write it). */
void control_write_TRIGGER(const struct cps_access *at)
{
    struct preemption *preempt = &core_of_(at)->s.preempt;
    preempt->trigger = at->value;
    preempt->look |= at->value & 1;
    core_of_(at)->machine->watched |= core_of_(at)->machine->rings.prepared;
}

/* I: PREEMPT_TRIGGER falls: it is about the place after the packet that wrote it. What is saved
 * there of the streams is the ring and the IB1 (F: 0f56..0f5b), which would not do in the IB2 that
 * follows. */
void preempt_passed_(struct afuc_core *core)
{
    core->s.preempt.trigger = 0;
    preempt_watch_(core->machine);
}

void preempt_watch_(struct cps_afuc *machine)
{
    bool watched = machine->injection_count || machine->rings.requested;
    for (unsigned i = 0; i < machine->engine.cores; i++) {
        const struct afuc_state *s = &machine->core[i].s;
        watched |= s->interrupted || s->preempt.cause || s->preempt.trigger;
    }
    machine->watched = watched;
}

static uint32_t marker_of(const struct afuc_core *core)
{
    return bank_get_(core->machine, core->pipe, PC_MARKER);
}

void preempt_request_(struct afuc_core *core, uint32_t cause)
{
    core->s.preempt.cause |= cause;
    core->s.preempt.look = 1;
    core->machine->watched = 1;
}

bool preempt_due_(const struct afuc_core *core)
{
    const struct preemption *preempt = &core->s.preempt;
    if (core->s.interrupted || !core->s.sqe[SQE_PREEMPT])
        return false;
    return preempt->look == PREEMPT_ONCE ||
           (preempt->cause && (preempt->look || preempt->marker != marker_of(core)));
}

/* Hardware interrupts anywhere (F: firmware clears PREEMPT_ENABLE around what must not be torn
 * apart, 02e1..02e7; gen70900 1be9 keeps the carry; LPAC of 740 waits for its word in a loop,
 * 078a), but not in a delay slot here. What an injection asks is served before the packet that
 * it names, and so is what a driver asks unless the firmware waits within one. */
bool preempt_anywhere_(const struct afuc_core *core)
{
    const struct afuc_state *s = &core->s;
    bool between = s->npc == s->pc + 1 || s->npc == s->pc; /* a branch to itself */
    bool may = s->preempt.cause & s->preempt.enable && s->started && between;
    bool driver = s->preempt.cause & PREEMPT_BY_DRIVER && !(s->preempt.trigger & 1) &&
                  !core->machine->rings.anywhere;
    return may && !driver && preempt_due_(core);
}

void preempt_enter_(struct afuc_core *core)
{
    struct afuc_state *s = &core->s;
    s->sqe[SQE_RESUME] = s->pc;
    s->sqe[SQE_RESUME + 1] = s->pc + 1;
    s->interrupted = 1;
    s->preempt.look = 0;
    s->preempt.deferred = 0;
    s->preempt.cntl = core->machine->reg[machine_switch_cntl_(core->machine)];
}

/* The routine says what it puts off (F: 0e9b, 129e); part of that waits for the marker to change
 * (F: 1281, 129c..12a0). */
void preempt_leave_(struct afuc_core *core)
{
    struct afuc_state *s = &core->s;
    s->interrupted = 0;
    s->preempt.marker = marker_of(core);
    bool ignored = s->preempt.cause & PREEMPT_BY_DRIVER && s->preempt.cntl & 1;
    if (!s->preempt.deferred && !ignored)
        s->preempt.cause = 0;
}

/* Bit 0 acknowledges: else the routine would take its own 0x11 for the next request (F: 740 1bbc,
 * 1ed6..1edb). */
void control_write_CNTL(const struct cps_access *at)
{
    core_of_(at)->s.preempt.cntl = at->value & ~1u;
}

static uint32_t by_processor(const struct afuc_core *core)
{
    return core->layout == CPS_LAYOUT_A660 ? PREEMPT_BY_PROCESSOR_A660 : PREEMPT_BY_PROCESSOR;
}

/* Processors of a660 and a7xx wake each other with a word (F: 740 1f0b, BV 14fb). */
void control_write_WAKE(const struct cps_access *at)
{
    struct cps_afuc *machine = core_of_(at)->machine;
    struct afuc_core *core = machine_find_core_(machine, (enum cps_processor)(at->row->own));
    if (!machine->rings.wanted || !core || !core->s.started)
        return;
    core->s.preempt.word = at->value;
    preempt_request_(core, by_processor(core));
}

/* At once: nothing is under way here. */
uint32_t control_read_STOPPED(const struct cps_access *at)
{
    struct afuc_core *core = core_of_(at);
    bool early = core->layout == CPS_LAYOUT_A660 || machine_id_(core->machine) == 0x730;
    uint32_t value = (core->s.preempt.stop & 1) << (early ? 9 : 13);
    core_event_(core, CPS_EV_ASSUME, CPS_WHAT_ACK, at->number, value);
    return value;
}

/* Only the word says that another processor asked; what is put off is its own from then on. */
uint32_t control_read_WORD(const struct cps_access *at)
{
    struct preemption *preempt = &core_of_(at)->s.preempt;
    if (preempt->cause & by_processor(core_of_(at)))
        preempt->cause = PREEMPT_PUT_OFF;
    return preempt->word;
}

/* ---- processors start and lock each other, and what they share ---- */

/* Bit 0 starts it; its address is in the two registers before this one. */
void control_write_START(const struct cps_access *at)
{
    const uint32_t *words = core_of_(at)->s.control + at->number - 2;
    enum cps_processor who = (enum cps_processor)(at->row->own);
    if (at->value & 1)
        machine_start_core_(core_of_(at), who, (uint64_t)words[1] << 32 | words[0]);
}

/* A lock that another core owns stays its own; asking again is the firmware's loop. */
void control_write_LOCK(const struct cps_access *at)
{
    struct cps_afuc *machine = core_of_(at)->machine;
    uint32_t taken = 0;
    for (unsigned i = 0; i < machine->engine.cores; i++)
        taken |= &machine->core[i] == core_of_(at) ? 0 : machine->core[i].s.lock;
    core_of_(at)->s.lock = at->value & ~taken;
}

static uint32_t *shared_word(const struct cps_access *at)
{
    struct cps_afuc *machine = core_of_(at)->machine;
    return at->row->own == OWN_COMPLETED ? &machine->completed[at->index]
                                         : &machine->shared[at->index];
}

uint32_t control_read_SHARED(const struct cps_access *at)
{
    return *shared_word(at);
}

void control_write_SHARED(const struct cps_access *at)
{
    uint32_t *word = shared_word(at);
    core_of_(at)->machine->engine.changes += *word != at->value;
    *word = at->value;
}
