/* SPDX-License-Identifier: MIT
 * Cases put in step. */
#include "tools/explain/fuzz/grammar.h"

#include <string.h>

#include "isa/base/pm4.h"
#include "trace/capture/pm4walk.h"
#include "trace/event/event.h"

/* So many of 100 cases, and so many of 100 things in others, stay as they are. */
#define WILD_CASES  5
#define WILD_THINGS 5

struct repair {
    const struct grammar *grammar;
    struct rng *rng;
    struct fuzz_case *edited;
    uint8_t level[CASE_STREAMS];
};

/* The first that is known of a stream stays. @return whether that is news */
static bool set_level(const struct fuzz_case *from, const uint32_t *address, unsigned level,
                      uint8_t *ret)
{
    unsigned named = case_stream_at(from, (uint64_t)address[1] << 32 | address[0]);
    if (named == CASE_STREAMS || ret[named])
        return false;
    ret[named] = (uint8_t)level;
    return true;
}

static bool levels_of(const struct fuzz_case *from, unsigned stream, uint8_t *ret)
{
    const struct case_stream *s = &from->stream[stream];
    unsigned called = ret[stream] == CPS_LEVEL_IB1 ? CPS_LEVEL_IB2 : CPS_LEVEL_IB3;
    struct case_packet packet;
    bool news = false;
    for (uint32_t at = 0; at < s->count; at += packet.length) {
        struct cps_pm4 head = cps_pm4_decode(s->word[at]);
        const uint32_t *word = &s->word[at + 1];
        packet = case_packet_at(from, stream, at);
        if (head.kind != CPS_PM4_TYPE7)
            continue;
        if (pm4_is_call_(head.opcode) && packet.length > 3)
            news |= set_level(from, word, called, ret);
        for (uint32_t k = 0; head.opcode == PM4_CP_SET_DRAW_STATE && k + 3 < packet.length; k += 3)
            news |= set_level(from, &word[k + 1], CPS_LEVEL_SDS, ret);
    }
    return news;
}

void case_levels(const struct fuzz_case *from, uint8_t *ret)
{
    bool news = true;
    memset(ret, CPS_LEVEL_RB, CASE_STREAMS);
    ret[0] = CPS_LEVEL_IB1;
    while (news) {
        news = false;
        for (unsigned i = 0; i < from->streams; i++)
            news |= ret[i] && levels_of(from, i, ret);
    }
}

/* Words are put at the end of a packet, or taken from there. */
static void resize(const struct repair *r, struct case_stream *s, uint32_t at, uint32_t from,
                   uint32_t to)
{
    struct cps_pm4 head = cps_pm4_decode(s->word[at]);
    if (to > from && to - from > CASE_WORDS - s->count)
        return;
    if (to < from)
        case_remove(s, at + 1 + to, from - to);
    for (; from < to; from++) {
        uint32_t value = grammar_value(r->grammar, r->edited, r->rng);
        case_insert(s, at + 1 + from, &value, 1);
    }
    s->word[at] = cps_pm4_type7(head.opcode, to);
}

/* A word that is no header: its parity is wrong, or it is none at all. @return whether it stays */
static bool repair_header(struct case_stream *s, uint32_t at)
{
    struct cps_pm4 packet = cps_pm4_decode_any(s->word[at]);
    if (packet.kind == CPS_PM4_BAD)
        case_remove(s, at, 1);
    else if (packet.kind == CPS_PM4_TYPE4)
        s->word[at] = cps_pm4_type4(packet.reg, packet.count);
    else
        s->word[at] = cps_pm4_type7(packet.opcode, packet.count);
    return packet.kind != CPS_PM4_BAD;
}

/* A packet that is refused where it stands does nothing instead. */
static void repair_type7(const struct repair *r, struct case_stream *s, uint32_t at, unsigned level)
{
    struct cps_pm4 head = cps_pm4_decode(s->word[at]);
    const struct learned *learned = r->grammar->learned;
    if ((grammar_is_hardwares(head.opcode) || learn_is_refused(learned, head.opcode, level)) &&
        !rng_chance(r->rng, WILD_THINGS))
        s->word[at] = cps_pm4_type7(PM4_CP_NOP, head.count);
    else if (!rng_chance(r->rng, WILD_THINGS))
        resize(r, s, at, head.count, learn_count(learned, head.opcode, head.count, r->rng));
}

/* A packet that is longer than its stream ends there. */
static void repair_end(struct case_stream *s, uint32_t at)
{
    struct cps_pm4 head = cps_pm4_decode(s->word[at]);
    uint32_t rest = s->count - at - 1;
    if (head.count <= rest)
        return;
    s->word[at] = head.kind == CPS_PM4_TYPE4 ? cps_pm4_type4(head.reg, rest)
                                             : cps_pm4_type7(head.opcode, rest);
}

static void repair_stream(const struct repair *r, unsigned stream)
{
    struct case_stream *s = &r->edited->stream[stream];
    for (uint32_t at = 0; at < s->count;) {
        bool bad = cps_pm4_decode(s->word[at]).kind == CPS_PM4_BAD;
        if (bad && !rng_chance(r->rng, WILD_THINGS) && !repair_header(s, at))
            continue;
        struct cps_pm4 head = cps_pm4_decode(s->word[at]);
        if (head.kind != CPS_PM4_BAD)
            repair_end(s, at);
        if (head.kind == CPS_PM4_TYPE7)
            repair_type7(r, s, at, r->level[stream]);
        at += case_packet_at(r->edited, stream, at).length;
    }
}

void repair(const struct grammar *grammar, struct rng *rng, struct fuzz_case *edited)
{
    struct repair r = {.grammar = grammar, .rng = rng, .edited = edited};
    if (rng_chance(rng, WILD_CASES))
        return;
    case_levels(edited, r.level);
    for (unsigned i = 0; i < edited->streams; i++) {
        if (r.level[i])
            repair_stream(&r, i);
    }
}
