/* SPDX-License-Identifier: MIT
 * Packets that poll a word which only the rest of the GPU would write, and the policy about them.
 *
 * With the policy `satisfy` the word is given a value that ends the wait when the packet is
 * dispatched, and the trace records it; the firmware then runs its own loop once. The conditions
 * are those of the packets' definitions, checked against the loops of 6ee (0643, 0874, 069e, 06b9).
 */
#include "emu/afuc/control/control.h"
#include "emu/afuc/queue/queue.h"

#include "isa/base/pm4.h"

uint32_t wait_read_(const struct afuc_core *core, bool in_memory, uint64_t at)
{
    struct cps_afuc *machine = core->machine;
    return in_memory ? cps_mem_read(machine->engine.mem, at, NULL)
                     : bank_get_(machine, core->pipe, at & 0x3ffff);
}

static void poll_assume(struct afuc_core *core, const struct condition *wait, uint64_t at,
                        uint32_t value)
{
    struct cps_afuc *machine = core->machine;
    core_event_(core, CPS_EV_ASSUME, CPS_WHAT_WAIT, at, value);
    if (!wait->in_memory)
        bank_set_(machine, core->pipe, at & 0x3ffff, value);
    else if (!cps_mem_write(machine->engine.mem, at, value))
        afuc_fault_(core, FAULT_MEMORY, (uint32_t)at);
    stream_recheck_(core);
}

static uint64_t pair(const uint32_t *words)
{
    return (uint64_t)words[1] << 32 | words[0];
}

/* Source 0 is a register, 1 memory; others are not known to wait. */
static bool wait_reg_mem(const struct afuc_core *core, const uint32_t *words, struct condition *ret)
{
    unsigned source = words[0] >> 4 & 3;
    (void)core;
    *ret = (struct condition){.kind = CONDITION_COMPARE,
                              .in_memory = source == 1,
                              .at = source == 1 ? pair(words + 1) : words[1],
                              .function = words[0] & 15,
                              .reference = words[3],
                              .mask = words[4]};
    return source <= 1;
}

/* Done when (memory - reference) is not negative. */
static void not_behind(uint64_t at, uint32_t reference, struct condition *ret)
{
    *ret = (struct condition){.kind = CONDITION_NOT_BEHIND,
                              .in_memory = true,
                              .at = at,
                              .function = FUNCTION_REACHED | FUNCTION_SIGNED,
                              .reference = reference,
                              .mask = UINT32_MAX};
}

static bool wait_mem_gte(const struct afuc_core *core, const uint32_t *words, struct condition *ret)
{
    (void)core;
    not_behind(pair(words + 1), words[3], ret);
    return true;
}

/* Both loop while the first is not zero and the second equals the reference. */
static struct condition wait_two(bool in_memory, uint64_t first, uint64_t second, uint32_t ref)
{
    return (struct condition){.kind = CONDITION_TWO,
                              .in_memory = in_memory,
                              .at = first,
                              .second = second,
                              .function = FUNCTION_EQUAL,
                              .reference = ref,
                              .mask = UINT32_MAX};
}

static bool wait_two_regs(const struct afuc_core *core, const uint32_t *words,
                          struct condition *ret)
{
    (void)core;
    *ret = wait_two(false, words[0] & 0x3ffff, words[1] & 0x3ffff, words[2]);
    return true;
}

static bool test_two_mems(const struct afuc_core *core, const uint32_t *words,
                          struct condition *ret)
{
    (void)core;
    *ret = wait_two(true, pair(words), pair(words + 2), words[4]);
    return true;
}

/* a7xx: CP_WAIT_TIMESTAMP; 1:0 kind (0 32 bits, 1 64 bits, 2 the sum of the core's time stamps), 4
 * on-chip, for which the pipe waits (F: 740 0c15). */
static bool wait_timestamp(const struct afuc_core *core, const uint32_t *words,
                           struct condition *ret)
{
    const uint32_t *stamps = &core->s.control[afuc_control_number_(core, CTL_TIMESTAMPS)];
    unsigned kind = words[0] & 0x13;
    if (kind == 0 || kind == 2)
        not_behind(pair(words + 1), kind ? stamps[0] + stamps[1] : words[3], ret);
    if (kind == 1)
        *ret = (struct condition){.kind = CONDITION_WIDE,
                                  .in_memory = true,
                                  .at = pair(words + 1),
                                  .function = FUNCTION_REACHED,
                                  .reference = pair(words + 3),
                                  .mask = UINT32_MAX};
    return kind <= 2;
}

#define G56  (CPS_GEN_BIT(A5XX) | CPS_GEN_BIT(A6XX))
#define G7   (CPS_GEN_BIT(A7XX) | CPS_GEN_BIT(A8XX))
#define GALL (G56 | G7)

/* Packets that wait, and how many words of payload say for what. */
static const struct wait_packet {
    uint32_t gens;
    uint8_t opcode;
    uint8_t words;
    /* Whether the words say something that can be waited for. */
    bool (*condition)(const struct afuc_core *core, const uint32_t *words, struct condition *ret);
} waits[] = {
    {GALL, 0x3c, 5, wait_reg_mem},  /* CP_WAIT_REG_MEM */
    {G56, 0x14, 4, wait_mem_gte},   /* CP_WAIT_MEM_GTE */
    {G7, 0x14, 4, wait_timestamp},  /* CP_WAIT_TIMESTAMP */
    {GALL, 0x70, 3, wait_two_regs}, /* CP_WAIT_TWO_REGS */
    {G56, 0x71, 5, test_two_mems},  /* CP_TEST_TWO_MEMS */
};

/* Comparison of CP_WAIT_REG_MEM: 2:0 always, then < <= = != >= >; 3 by the sign of the difference
 * (F: 6ee 08dc..08e0, a530 ME 079c..07a0: both are moved until the reference is at 1 << 31). */
static bool holds(unsigned function, uint32_t value, uint32_t ref)
{
    if (function & FUNCTION_SIGNED) {
        ref = (1u << 31) + (ref - value);
        value = 1u << 31;
    }
    bool const truth[8] = {
        true, value<ref, value <= ref, value == ref, value != ref, value >= ref, value> ref, true};
    return truth[function & 7];
}

uint64_t wait_read_wide_(const struct afuc_core *core, const struct condition *wait)
{
    return (uint64_t)wait_read_(core, true, wait->at + 4) << 32 | wait_read_(core, true, wait->at);
}

static bool is_met(const struct afuc_core *core, const struct condition *wait)
{
    uint32_t value = wait_read_(core, wait->in_memory, wait->at);
    switch (wait->kind) {
    case CONDITION_COMPARE:
        return holds(wait->function, value & wait->mask, (uint32_t)wait->reference);
    case CONDITION_NOT_BEHIND:
        return !((value - (uint32_t)wait->reference) >> 31);
    case CONDITION_WIDE:
        return wait_read_wide_(core, wait) >= wait->reference;
    case CONDITION_TWO:
        return !value || wait_read_(core, wait->in_memory, wait->second) != wait->reference;
    }
    return true;
}

static void satisfy_compare(struct afuc_core *core, const struct condition *wait)
{
    uint32_t old = wait_read_(core, wait->in_memory, wait->at);
    uint32_t ref = (uint32_t)wait->reference;
    const uint32_t candidates[] = {ref, ref - 1, ref + 1, 0, wait->mask, ~ref};
    for (unsigned i = 0; i < sizeof(candidates) / sizeof(candidates[0]); i++) {
        uint32_t value = (old & ~wait->mask) | (candidates[i] & wait->mask);
        if (holds(wait->function, value & wait->mask, ref)) {
            poll_assume(core, wait, wait->at, value);
            return;
        }
    }
}

static void satisfy(struct afuc_core *core, const struct condition *wait)
{
    if (wait->kind == CONDITION_COMPARE) {
        satisfy_compare(core, wait);
        return;
    }
    poll_assume(core, wait, wait->at, wait->kind == CONDITION_TWO ? 0 : (uint32_t)wait->reference);
    if (wait->kind == CONDITION_WIDE)
        poll_assume(core, wait, wait->at + 4, (uint32_t)(wait->reference >> 32));
}

/* The PFP of a5xx passes all of them on to the ME but CP_WAIT_MEM_GTE, which it handles itself. */
static bool handled_here(const struct afuc_core *core, unsigned opcode)
{
    return core->layout != CPS_LAYOUT_A5XX_PFP || opcode == 0x14;
}

static const struct wait_packet *find_wait(const struct afuc_core *core, uint32_t header)
{
    struct cps_pm4 packet = cps_pm4_decode_any(header);
    if (packet.kind != CPS_PM4_TYPE7)
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

bool wait_ready_(struct afuc_core *core, uint32_t header)
{
    bool two = core->me || core->s.level == LEVEL_MEQ;
    const struct wait_packet *packet =
        two && machine_waits_end_(core->machine, false) ? find_wait(core, header) : NULL;
    if (!packet)
        return true;
    return core->me ? me_is_done(core->me) : stream_has_(core, 1 + (uint32_t)packet->words);
}

void wait_begin_(struct afuc_core *core, uint32_t header)
{
    const struct wait_packet *packet = find_wait(core, header);
    uint32_t words[5] = {0};
    for (uint32_t k = 0; packet && k < 5; k++) {
        if (!stream_look_(core, k + 1, &words[k]) && k < packet->words)
            return;
    }
    if (!packet || !packet->condition(core, words, &core->condition))
        return;
    core->condition.header = header;
    core->condition.iova = core->s.header_iova;
    if (machine_waits_end_(core->machine, core->condition.in_memory) &&
        !is_met(core, &core->condition))
        satisfy(core, &core->condition);
}
