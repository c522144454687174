/* SPDX-License-Identifier: MIT
 * waitin: a header becomes a handler; the policy about waits; and the two instructions that enter
 * and leave modes. */
#include "emu/afuc/control/control.h"
#include "emu/afuc/queue/queue.h"
#include "emu/afuc/origin/origin.h"

#include "isa/base/pm4.h"

/* ---- the policy about waits ----
 *
 * Packets that poll a word which only the rest of the GPU would write. With `satisfy` the word is
 * given a value that ends the wait when the packet is dispatched, and the trace records it; the
 * firmware then runs its own loop once. The conditions are those of the packets' definitions,
 * checked against the loops of 6ee (0643, 0874, 069e, 06b9). */

/* Where a packet polls, by its source field. */
enum source { SOURCE_REGISTER, SOURCE_MEMORY };

struct poll {
    enum source source;
    uint64_t at;
};

static uint32_t poll_read(struct afuc_core *core, const struct poll *poll)
{
    struct cps_afuc *machine = core->machine;
    if (poll->source == SOURCE_REGISTER)
        return bank_get_(machine, core->pipe, poll->at & 0x3ffff);
    return cps_mem_read(machine->engine.mem, poll->at, NULL);
}

static void poll_assume(struct afuc_core *core, const struct poll *poll, uint32_t value)
{
    struct cps_afuc *machine = core->machine;
    core_event_(core, CPS_EV_ASSUME, CPS_WHAT_WAIT, poll->at, value);
    if (poll->source == SOURCE_REGISTER) {
        bank_set_(machine, core->pipe, poll->at & 0x3ffff, value);
    } else if (!cps_mem_write(machine->engine.mem, poll->at, value)) {
        afuc_fault_(core, FAULT_MEMORY, (uint32_t)poll->at);
    }
    stream_recheck_(core);
}

/* Comparison of CP_WAIT_REG_MEM: 2:0 always, then < <= = != >= >; 3 by the sign of the difference
 * (F: 6ee 08dc..08e0, a530 ME 079c..07a0: both are moved until the reference is at 1 << 31). */
static bool holds(unsigned function, uint32_t value, uint32_t ref)
{
    if (function & 8) {
        ref = (1u << 31) + (ref - value);
        value = 1u << 31;
    }
    bool const truth[8] = {
        true, value<ref, value <= ref, value == ref, value != ref, value >= ref, value> ref, true};
    return truth[function & 7];
}

static void satisfy_compare(struct afuc_core *core, const struct poll *poll, unsigned function,
                            uint32_t ref, uint32_t mask)
{
    uint32_t old = poll_read(core, poll);
    const uint32_t candidates[] = {ref, ref - 1, ref + 1, 0, mask, ~ref};
    if (holds(function, old & mask, ref))
        return;
    for (unsigned i = 0; i < sizeof(candidates) / sizeof(candidates[0]); i++) {
        uint32_t value = (old & ~mask) | (candidates[i] & mask);
        if (holds(function, value & mask, ref)) {
            poll_assume(core, poll, value);
            return;
        }
    }
}

static uint64_t pair(const uint32_t *words)
{
    return (uint64_t)words[1] << 32 | words[0];
}

static void wait_reg_mem(struct afuc_core *core, const uint32_t *words)
{
    unsigned source = words[0] >> 4 & 3;
    struct poll poll = {source == 1 ? SOURCE_MEMORY : SOURCE_REGISTER,
                        source == 1 ? pair(words + 1) : words[1]};
    if (source <= 1)
        satisfy_compare(core, &poll, words[0] & 15, words[3], words[4]);
}

/* Done when (memory - ref) is not negative. */
static void wait_mem_gte(struct afuc_core *core, const uint32_t *words)
{
    struct poll poll = {SOURCE_MEMORY, pair(words + 1)};
    if ((poll_read(core, &poll) - words[3]) >> 31)
        poll_assume(core, &poll, words[3]);
}

/* Both loop while the first is not zero and the second equals the reference. */
static void wait_two(struct afuc_core *core, const struct poll poll[2], uint32_t ref)
{
    if (poll_read(core, &poll[0]) && poll_read(core, &poll[1]) == ref)
        poll_assume(core, &poll[0], 0);
}

static void wait_two_regs(struct afuc_core *core, const uint32_t *words)
{
    const struct poll poll[2] = {{SOURCE_REGISTER, words[0] & 0x3ffff},
                                 {SOURCE_REGISTER, words[1] & 0x3ffff}};
    wait_two(core, poll, words[2]);
}

static void test_two_mems(struct afuc_core *core, const uint32_t *words)
{
    const struct poll poll[2] = {{SOURCE_MEMORY, pair(words)}, {SOURCE_MEMORY, pair(words + 2)}};
    wait_two(core, poll, words[4]);
}

/* a7xx: CP_WAIT_TIMESTAMP; 1:0 kind (0 32 bits, 1 64 bits, 2 the sum of the core's time stamps), 4
 * on-chip, for which the pipe waits (F: 740 0c15). */
static void wait_timestamp(struct afuc_core *core, const uint32_t *words)
{
    struct poll low = {SOURCE_MEMORY, pair(words + 1)};
    struct poll high = {SOURCE_MEMORY, pair(words + 1) + 4};
    const uint32_t *stamps = &core->s.control[afuc_control_number_(core, CTL_TIMESTAMPS)];
    const uint32_t sum[4] = {0, words[1], words[2], stamps[0] + stamps[1]};
    if ((words[0] & 0x13) == 0)
        wait_mem_gte(core, words);
    if ((words[0] & 0x13) == 2)
        wait_mem_gte(core, sum);
    if ((words[0] & 0x13) != 1)
        return;
    uint64_t now = (uint64_t)poll_read(core, &high) << 32 | poll_read(core, &low);
    if (now >= pair(words + 3))
        return;
    poll_assume(core, &low, words[3]);
    poll_assume(core, &high, words[4]);
}

#define G56  (CPS_GEN_BIT(A5XX) | CPS_GEN_BIT(A6XX))
#define G7   (CPS_GEN_BIT(A7XX) | CPS_GEN_BIT(A8XX))
#define GALL (G56 | G7)

/* Packets that wait, and how many words of payload say for what. */
static const struct wait_packet {
    uint32_t gens;
    uint8_t opcode;
    uint8_t words;
    void (*satisfy)(struct afuc_core *core, const uint32_t *words);
} waits[] = {
    {GALL, 0x3c, 5, wait_reg_mem},  /* CP_WAIT_REG_MEM */
    {G56, 0x14, 4, wait_mem_gte},   /* CP_WAIT_MEM_GTE */
    {G7, 0x14, 4, wait_timestamp},  /* CP_WAIT_TIMESTAMP */
    {GALL, 0x70, 3, wait_two_regs}, /* CP_WAIT_TWO_REGS */
    {G56, 0x71, 5, test_two_mems},  /* CP_TEST_TWO_MEMS */
};

/* The PFP of a5xx passes all of them on to the ME but CP_WAIT_MEM_GTE, which it handles itself. */
static bool handled_here(const struct afuc_core *core, unsigned opcode)
{
    return core->layout != CPS_LAYOUT_A5XX_PFP || opcode == 0x14;
}

static const struct wait_packet *find_wait(const struct afuc_core *core, uint32_t header)
{
    struct cps_pm4 packet = cps_pm4_decode_any(header);
    if (packet.kind != CPS_PM4_TYPE7 || !machine_waits_end_(core->machine))
        return NULL;
    for (unsigned i = 0; i < sizeof(waits) / sizeof(waits[0]) && handled_here(core, packet.opcode);
         i++) {
        if (waits[i].opcode == packet.opcode &&
            (waits[i].gens & cps_gen_bit(core->machine->engine.gen)))
            return &waits[i];
    }
    return NULL;
}

/* Whether the ME has done all that it was sent, in the MEQ or in the side stream, and is where
 * the next packet is taken, whether it has tried to or not. The PFP is between two packets then. */
static bool me_is_done(struct afuc_core *me)
{
    return !me->s.started ||
           (!me->s.meq.count && !stream_has_(me, 1) && me->uops[me->s.pc].code == UOP_WAITIN);
}

/* Whether the policy may look: the ME gets the packet's words one by one, and the PFP may poll what
 * the ME has yet to write. */
static bool wait_ready(struct afuc_core *core, uint32_t header)
{
    bool pair = core->me || core->s.level == LEVEL_MEQ;
    const struct wait_packet *packet = pair ? find_wait(core, header) : NULL;
    if (!packet)
        return true;
    return core->me ? me_is_done(core->me) : stream_has_(core, 1 + (uint32_t)packet->words);
}

static void apply_wait_policy(struct afuc_core *core, uint32_t header)
{
    const struct wait_packet *packet = find_wait(core, header);
    uint32_t words[5] = {0};
    for (uint32_t k = 0; packet && k < 5; k++) {
        if (!stream_look_(core, k + 1, &words[k]) && k < packet->words)
            return;
    }
    if (packet)
        packet->satisfy(core, words);
}

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
    s->header_pos = s->level < LEVEL_COUNT ? s->queue[s->level].pos : 0;
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
    apply_wait_policy(core, header);
}

enum afuc_dispatch afuc_dispatch_(struct afuc_core *core, uint32_t *target)
{
    struct afuc_state *s = &core->s;
    struct cps_afuc *machine = core->machine;
    bool ready = has_words_(core, 1) && wait_ready(core, peek_word_(core));
    if (CPS_UNLIKELY(machine->injection_count) && interrupt(core, ready)) {
        preempt(core);
        *target = s->sqe[SQE_PREEMPT];
        return DISPATCH_INTERRUPT;
    }
    if (!ready) {
        s->wait = WAIT_STREAM;
        return DISPATCH_NOTHING;
    }
    if (CPS_UNLIKELY(machine->injection_count))
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
