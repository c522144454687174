/* SPDX-License-Identifier: MIT
 * Cases out of others, which are put in step again. */
#include "tools/explain/fuzz/fuzz.h"

#include <string.h>

#include "isa/base/pm4.h"
#include "trace/capture/pm4walk.h"
#include "trace/event/event.h"

/* ---- In step ---- */

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

/* Words are added or removed at the end of a packet. */
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

/* A packet that would be rejected at this level becomes a CP_NOP. */
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

/* ---- Mutations ---- */

struct mutation {
    const struct grammar *grammar;
    struct rng *rng;
    const struct fuzz_case *other;
    struct fuzz_case *edited;
};

static struct case_stream *pick_stream(const struct mutation *m)
{
    return &m->edited->stream[rng_below(m->rng, m->edited->streams)];
}

/* A packet of a case, each stream as likely as the next. @return false if the stream is empty */
static bool pick(struct rng *rng, const struct fuzz_case *from, struct case_packet *ret)
{
    unsigned stream = rng_below(rng, from->streams);
    uint32_t count = from->stream[stream].count;
    if (!count)
        return false;
    uint32_t wanted = rng_below(rng, count);
    uint32_t at = 0;
    *ret = case_packet_at(from, stream, at);
    while (at + ret->length <= wanted) {
        at += ret->length;
        *ret = case_packet_at(from, stream, at);
    }
    return true;
}

static uint32_t pick_place(const struct mutation *m, unsigned stream)
{
    struct case_packet packet = {stream, 0, 0};
    uint32_t count = m->edited->stream[stream].count;
    uint32_t wanted = rng_below(m->rng, (uint64_t)count + 1);
    uint32_t at = 0;
    while (at < wanted) {
        packet = case_packet_at(m->edited, stream, at);
        at += packet.length;
    }
    return at;
}

static void insert_packet(const struct mutation *m)
{
    uint32_t word[CASE_WORDS];
    unsigned stream = rng_below(m->rng, m->edited->streams);
    uint32_t count = grammar_packet(m->grammar, m->edited, stream, m->rng, word);
    case_insert(&m->edited->stream[stream], pick_place(m, stream), word, count);
}

static void remove_packet(const struct mutation *m)
{
    struct case_packet packet;
    if (pick(m->rng, m->edited, &packet))
        case_remove(&m->edited->stream[packet.stream], packet.at, packet.length);
}

static void copy_packet(const struct mutation *m)
{
    const struct fuzz_case *from = rng_chance(m->rng, 50) ? m->other : m->edited;
    struct case_packet packet;
    uint32_t word[CASE_WORDS];
    if (!pick(m->rng, from, &packet))
        return;
    for (uint32_t i = 0; i < packet.length; i++)
        word[i] = from->stream[packet.stream].word[packet.at + i];
    unsigned stream = rng_below(m->rng, m->edited->streams);
    case_insert(&m->edited->stream[stream], pick_place(m, stream), word, packet.length);
}

static void replace_packet(const struct mutation *m)
{
    struct case_packet packet;
    uint32_t word[CASE_WORDS];
    if (!pick(m->rng, m->edited, &packet))
        return;
    uint32_t count = grammar_packet(m->grammar, m->edited, packet.stream, m->rng, word);
    struct case_stream *s = &m->edited->stream[packet.stream];
    case_remove(s, packet.at, packet.length);
    case_insert(s, packet.at, word, count);
}

static void change_word(const struct mutation *m)
{
    struct case_stream *s = pick_stream(m);
    if (!s->count)
        return;
    uint32_t *word = &s->word[rng_below(m->rng, s->count)];
    switch (rng_below(m->rng, 5)) {
    case 0:
        *word ^= UINT32_C(1) << rng_below(m->rng, 32);
        break;
    case 1:
        *word += rng_below(m->rng, 33) - 16;
        break;
    case 2:
        *word = (*word & ~UINT32_C(0x3ffff)) | (rng_word(m->rng) & 0x3ffff);
        break;
    default:
        *word = grammar_value(m->grammar, m->edited, m->rng);
        break;
    }
}

/* The header says another length, with the parity that it then has. */
static void change_length(const struct mutation *m)
{
    struct case_packet packet;
    if (!pick(m->rng, m->edited, &packet))
        return;
    uint32_t *head = &m->edited->stream[packet.stream].word[packet.at];
    struct cps_pm4 old = cps_pm4_decode(*head);
    uint32_t count =
        rng_chance(m->rng, 80) ? old.count + rng_below(m->rng, 5) - 2 : rng_below(m->rng, 64);
    if (old.kind == CPS_PM4_TYPE7)
        *head = cps_pm4_type7(old.opcode, count);
    else if (old.kind == CPS_PM4_TYPE4)
        *head = cps_pm4_type4(old.reg, count);
}

static void change_opcode(const struct mutation *m)
{
    struct case_packet packet;
    const struct grammar *g = m->grammar;
    if (!pick(m->rng, m->edited, &packet) || !g->owns)
        return;
    uint32_t *head = &m->edited->stream[packet.stream].word[packet.at];
    struct cps_pm4 old = cps_pm4_decode(*head);
    if (old.kind == CPS_PM4_TYPE7)
        *head = cps_pm4_type7(g->own[rng_below(m->rng, g->owns)], old.count);
}

/* A whole stream replaces one, or is added before or after it. */
static void join_streams(const struct mutation *m)
{
    const struct case_stream *from = &m->other->stream[rng_below(m->rng, m->other->streams)];
    struct case_stream *to = pick_stream(m);
    bool front = rng_chance(m->rng, 50);
    if (rng_chance(m->rng, 30))
        to->count = 0;
    case_insert(to, front ? 0 : to->count, from->word, from->count);
}

static void swap_streams(const struct mutation *m)
{
    struct case_stream *a = pick_stream(m);
    struct case_stream *b = pick_stream(m);
    struct case_stream other = *a;
    uint64_t iova = b->iova;
    *a = *b;
    *b = other;
    b->iova = iova;
    a->iova = other.iova;
}

static void change_sizes(const struct mutation *m)
{
    struct case_stream *s = pick_stream(m);
    if (s->count)
        s->count = rng_below(m->rng, s->count) + 1;
}

void mutate(const struct grammar *grammar, struct rng *rng, const struct fuzz_case *other,
            struct fuzz_case *edited)
{
    /* What is likely to lead somewhere comes more often. */
    static void (*const kinds[])(const struct mutation *) = {
        insert_packet, insert_packet, insert_packet, insert_packet,  replace_packet, remove_packet,
        copy_packet,   copy_packet,   change_word,   change_word,    change_word,    change_length,
        change_opcode, join_streams,  swap_streams,  replace_packet, change_sizes,
    };
    const struct mutation m = {grammar, rng, other, edited};
    uint32_t was[CASE_STREAMS] = {0};
    for (unsigned i = 0; i < edited->streams; i++)
        was[i] = edited->stream[i].count;
    for (uint32_t i = 1 + rng_below(rng, 4); i; i--)
        kinds[rng_below(rng, sizeof(kinds) / sizeof(kinds[0]))](&m);
    grammar_fill(grammar, rng, edited);
    repair(grammar, rng, edited);
    /* Mostly sizes are true; else only those that were stay so, or none does. */
    uint32_t truth = rng_below(rng, 8);
    if (truth || !edited->stream[0].count)
        case_fit(edited, truth < 6 ? NULL : was);
}
