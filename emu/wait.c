/* SPDX-License-Identifier: MIT
 * The policy about waits: packets that poll a word which only the rest of the GPU would write.
 * With `satisfy` the word is given a value that ends the wait when the packet is dispatched, and
 * the trace says so; the firmware then runs its own loop once. The conditions are those of the
 * packets' definitions, checked against the loops of 6ee (0643, 0874, 069e, 06b9). */
#include "machine.h"

/* Where a packet polls, by its source field. */
enum source { SOURCE_REGISTER, SOURCE_MEMORY };

struct poll {
    enum source source;
    uint64_t at;
};

static uint32_t poll_read(struct afuc_core *core, const struct poll *poll)
{
    struct cps_machine *machine = core->machine;
    if (poll->source == SOURCE_REGISTER)
        return machine->reg[poll->at & 0x3ffff];
    return cps_mem_read(machine->mem, poll->at, NULL);
}

static void poll_assume(struct afuc_core *core, const struct poll *poll, uint32_t value)
{
    struct cps_machine *machine = core->machine;
    core_event_(core, CPS_EV_ASSUME, CPS_WHAT_WAIT, poll->at, value);
    if (poll->source == SOURCE_REGISTER) {
        machine->reg[poll->at & 0x3ffff] = value;
        machine->reg_flags[poll->at & 0x3ffff] |= REG_WRITTEN;
    } else if (!cps_mem_write(machine->mem, poll->at, value)) {
        afuc_fault_(core, FAULT_MEMORY, (uint32_t)poll->at);
    }
}

/* Comparison of CP_WAIT_REG_MEM: 0 always, then < <= = != >= >. */
static bool holds(unsigned function, uint32_t value, uint32_t ref)
{
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
        satisfy_compare(core, &poll, words[0] & 7, words[3], words[4]);
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

/* Packets that wait, and how many words of payload say for what. */
static const struct {
    uint8_t opcode;
    uint8_t words;
    void (*satisfy)(struct afuc_core *core, const uint32_t *words);
} waits[] = {
    {0x3c, 5, wait_reg_mem},  /* CP_WAIT_REG_MEM */
    {0x14, 4, wait_mem_gte},  /* CP_WAIT_MEM_GTE */
    {0x70, 3, wait_two_regs}, /* CP_WAIT_TWO_REGS */
    {0x71, 5, test_two_mems}, /* CP_TEST_TWO_MEMS */
};

void wait_policy_(struct afuc_core *core, uint32_t header)
{
    if (header >> 28 != 7 || core->machine->policy.waits != CPS_WAITS_SATISFY)
        return;
    for (unsigned i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
        uint32_t words[5] = {0};
        if (waits[i].opcode != (header >> 16 & 0x7f))
            continue;
        for (uint32_t k = 0; k < waits[i].words; k++) {
            if (!stream_look_(core, k + 1, &words[k]))
                return;
        }
        waits[i].satisfy(core, words);
    }
}
