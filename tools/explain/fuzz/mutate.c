/* SPDX-License-Identifier: MIT
 * Cases out of others. */
#include "tools/explain/fuzz/grammar.h"

#include "isa/base/pm4.h"

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

/* Where a packet may stand. */
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

/* Of this case, or of another one. */
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

/* The same words for another operation. */
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

/* A whole stream takes the place of one, in front of or behind it. */
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
