/* SPDX-License-Identifier: MIT
 * What firmware takes. */
#include "tools/explain/fuzz/case.h"

#include "isa/base/pm4.h"

static void count(uint16_t *counter, unsigned more)
{
    *counter = *counter + more < UINT16_MAX ? (uint16_t)(*counter + more) : UINT16_MAX;
}

/* The stream in which both places are, the second one perhaps at its end. */
static unsigned common_stream(const struct fuzz_case *input, uint64_t from, uint64_t to)
{
    unsigned i = 0;
    while (i < input->streams) {
        const struct case_stream *s = &input->stream[i];
        if (from >= s->iova && from < to && to <= s->iova + 4 * (uint64_t)s->count)
            break;
        i++;
    }
    return i;
}

/* Whether packets follow each other from one word to the other: some were left out, as conditions
 * do. */
static bool leads_to(const struct fuzz_case *input, unsigned stream, uint32_t from, uint32_t to)
{
    while (from < to)
        from += case_packet_at(input, stream, from).length;
    return from == to;
}

void learn_next(struct learned *learned, const struct fuzz_case *input,
                const struct learn_last *last, unsigned level, uint64_t iova)
{
    struct cps_pm4 packet = cps_pm4_decode(last->header);
    unsigned stream = common_stream(input, last->iova, iova);
    if (packet.kind != CPS_PM4_TYPE7)
        return;
    count(&learned->passed[packet.opcode][level % LEARN_LEVELS], 1);
    if (stream == input->streams)
        return;
    uint32_t words = (uint32_t)((iova - last->iova) / 4) - 1;
    uint32_t at = (uint32_t)((last->iova - input->stream[stream].iova) / 4);
    if (words == packet.count && words < LEARN_COUNTS) {
        count(&learned->took[packet.opcode][words], 1);
    } else if (!leads_to(input, stream, at, at + 1 + words)) {
        if (packet.count < LEARN_COUNTS)
            count(&learned->lost[packet.opcode][packet.count], 1);
        if (words < LEARN_COUNTS)
            count(&learned->took[packet.opcode][words], 1);
    }
}

void learn_starved(struct learned *learned, uint32_t header)
{
    struct cps_pm4 packet = cps_pm4_decode(header);
    if (packet.kind == CPS_PM4_TYPE7 && packet.count < LEARN_COUNTS)
        count(&learned->lost[packet.opcode][packet.count], 1);
}

void learn_refused(struct learned *learned, uint32_t header, unsigned level)
{
    struct cps_pm4 packet = cps_pm4_decode(header);
    if (packet.kind == CPS_PM4_TYPE7)
        count(&learned->refused[packet.opcode][level % LEARN_LEVELS], 1);
}

void learn_join(struct learned *learned, const struct learned *more)
{
    for (unsigned op = 0; op < LEARN_OPCODES; op++) {
        for (unsigned i = 0; i < LEARN_COUNTS; i++) {
            count(&learned->took[op][i], more->took[op][i]);
            count(&learned->lost[op][i], more->lost[op][i]);
        }
        for (unsigned i = 0; i < LEARN_LEVELS; i++) {
            count(&learned->passed[op][i], more->passed[op][i]);
            count(&learned->refused[op][i], more->refused[op][i]);
        }
    }
}

bool learn_is_bad(const struct learned *learned, unsigned opcode, uint32_t words)
{
    const uint16_t *took = learned->took[opcode % LEARN_OPCODES];
    const uint16_t *lost = learned->lost[opcode % LEARN_OPCODES];
    return words < LEARN_COUNTS && lost[words] > 1 + took[words];
}

bool learn_is_refused(const struct learned *learned, unsigned opcode, unsigned level)
{
    const uint16_t *passed = learned->passed[opcode % LEARN_OPCODES];
    const uint16_t *refused = learned->refused[opcode % LEARN_OPCODES];
    level %= LEARN_LEVELS;
    return refused[level] > 1 + passed[level];
}

uint32_t learn_count(const struct learned *learned, unsigned opcode, uint32_t wanted,
                     struct rng *rng)
{
    const uint16_t *took = learned->took[opcode % LEARN_OPCODES];
    const uint16_t *lost = learned->lost[opcode % LEARN_OPCODES];
    uint32_t found = wanted;
    uint32_t seen = 0;
    if (!learn_is_bad(learned, opcode, wanted))
        return wanted;
    for (uint32_t i = 0; i < LEARN_COUNTS; i++) {
        if (took[i] > lost[i] && !rng_below(rng, ++seen))
            found = i;
    }
    return found;
}
