/* SPDX-License-Identifier: MIT
 * From differences to streams that show them. */
#include "tools/explain/prove/task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpscope.h"
#include "fw/image/icache.h"
#include "isa/packet.h"
#include "tools/cmd/terminal/oom.h"

#define EFFORT       1000000u
#define MOST_TRIES   3u     /* streams of one place and length */
#define MOST_QUERIES 500u   /* of one place and length */
#define MOST_STEPS   20000u /* instructions of one place and length */
#define ALL_QUERIES  4000u  /* of a handler */
#define ALL_TRIES    40u    /* streams of a handler */
#define MOST_NEXTS   24u    /* more, in which a packet reads what it leaves */
#define MOST_LENGTHS 9u

/* A search from one place with one length. */
struct search {
    const struct prove_part *part;
    const struct stage *stage;
    struct witness *best;
    enum cps_processor who;
    enum place_at place;
    struct stage_packet packet;
    unsigned tries, all_tries;
    unsigned nexts; /* streams with a packet after it */
    uint64_t queries;
    struct hunt_hints hints;
    struct cps_err *err;
};

static enum cps_gen gen_of(const struct prove_part *part)
{
    return part->code.side[0].fw->gen;
}

void witness_take(struct witness *witness, const struct stage_answer *answer, enum place_at place,
                  const struct stage_mark *mark, const char *how, struct cps_buf *text)
{
    witness->confirmed = true;
    witness->hidden = answer->hidden;
    witness->place = place;
    witness->mark = *mark;
    snprintf(witness->how, sizeof(witness->how), "%s", how);
    snprintf(witness->seen, sizeof(witness->seen), "%s", answer->text);
    cps_buf_deinit(&witness->text);
    witness->text = *text;
    *text = (struct cps_buf){0};
}

/* Runs a candidate; @return whether the search is over. */
static bool try_stream(struct search *s, const char *how)
{
    const struct stage_mark mark = stage_mark(s->who, s->place, &s->packet);
    struct stage_answer answer;
    CPS_BUF text = {0};
    stage_text(gen_of(s->part), s->who, s->place, &s->packet, &text);
    tool_text(&text);
    s->err = stage_compare(s->stage, s->who, &s->part->code, &text, &mark, &answer);
    if (s->err)
        return true;
    s->tries++;
    s->all_tries += !s->packet.next;
    if (answer.different && (!s->best->confirmed || !answer.hidden)) {
        s->best->words = s->packet.count < WITNESS_MOST ? s->packet.count : WITNESS_MOST;
        memcpy(s->best->word, s->packet.word, sizeof(s->best->word));
        witness_take(s->best, &answer, s->place, &mark, how, &text);
    }
    return (s->best->confirmed && !s->best->hidden) || s->tries >= MOST_TRIES;
}

/* A packet that reads the state which another one leaves shows it. */
static bool try_next(struct search *s, const struct difference *d)
{
    static const uint8_t lengths[] = {1, 3, 6};
    const struct code_side *side = s->part->code.side;
    for (unsigned id = 1; id < CPS_FW_TABLE_SIZE && s->nexts < MOST_NEXTS; id++) {
        if (!((side[0].reads[id] | side[1].reads[id]) & d->left))
            continue;
        for (unsigned i = 0; i < sizeof(lengths); i++) {
            s->packet.next = (uint8_t)id;
            s->packet.next_count = lengths[i];
            s->nexts++;
            s->tries = 0;
            bool over = try_stream(s, d->text);
            if (s->err || (s->best->confirmed && !s->best->hidden))
                return over;
        }
    }
    s->packet.next = 0;
    return false;
}

static void keep_hint(struct search *s, const struct difference *d)
{
    if (s->hints.count < HUNT_HINTS)
        s->hints.list[s->hints.count++] = *d;
}

static bool found(void *context, const struct difference *d)
{
    struct search *s = context;
    keep_hint(s, d);
    for (uint32_t i = 0; i < s->packet.count && i < WITNESS_MOST; i++)
        s->packet.word[i] = i < d->data_count ? d->data[i] : 0;
    stage_set_up(&s->packet, d);
    s->packet.next = 0;
    if (try_stream(s, d->text) && (s->err || (s->best->confirmed && !s->best->hidden)))
        return true;
    if (d->left && try_next(s, d))
        return true;
    return s->tries >= MOST_TRIES;
}

static struct cps_err *follow(struct search *s, const struct prove_handler *h,
                              const struct world world[2])
{
    struct joint j = {0};
    struct state start[2];
    joint_init(&s->part->code, EFFORT, &j);
    for (unsigned i = 0; i < 2; i++) {
        state_unknown(&j.smt, h->pc[i], &start[i]);
        for (unsigned k = 1; k < 32; k++)
            start[i].r[k] = smt_word(&j.smt, world[i].r[k]);
        for (unsigned k = 0; k < SQE_COUNT; k++) /* addresses are the old ones */
            start[i].sqe[k] = smt_word(&j.smt, world[0].sqe[k]);
        start[i].user = smt_word(&j.smt, 0);
        j.run[i].world = &world[i];
    }
    j.follow = true;
    j.bound = 8;
    j.most_queries = MOST_QUERIES;
    j.most_steps = MOST_STEPS;
    j.proven = s->part->proven;
    j.found = found;
    j.context = s;
    joint_compare(&j, h->pc[0], h->pc[1], start);
    s->queries += j.smt.queries;
    joint_deinit(&j);
    return s->err;
}

/* Private registers of the new revision under the numbers that runs keep. */
static void renumber(const struct code *code, struct world *world)
{
    uint32_t control[CONTROL_COUNT];
    memcpy(control, world->control, sizeof(control));
    for (uint32_t new = 0; new < CONTROL_COUNT; new ++) {
        if (code->scratch[new] < CONTROL_COUNT)
            world->control[code->scratch[new]] = control[new];
    }
}

/* A place with one length of payload. @param reached  gets whether the handler begins at all */
static struct cps_err *search_length(struct search *s, const struct prove_handler *h,
                                     uint32_t count, bool *reached)
{
    struct world *world = tool_alloc(2, sizeof(*world));
    s->packet = (struct stage_packet){.id = h->id[0], .count = count};
    s->tries = 0;
    struct cps_err *err = NULL;
    for (unsigned i = 0; i < 2 && !err; i++)
        err = stage_world(s->stage, i, s->who, h->pc[i], s->place, &s->packet, &world[i]);
    *reached = world[0].known || world[1].known;
    renumber(&s->part->code, &world[1]);
    if (!err && world[0].known && world[1].known && !h->alone)
        err = follow(s, h, world);
    else if (!err && *reached && try_stream(s, "only one revision comes to the handler"))
        err = s->err;
    s->best->tried = s->best->tried || *reached;
    free(world);
    return err;
}

/* Lengths, first the one with which the difference was found. */
static unsigned lengths(const struct prove_handler *h, uint32_t ret[MOST_LENGTHS])
{
    static const uint32_t usual[] = {1, 2, 3, 4, 6, 8, 16, 0};
    unsigned count = 0;
    if (h->has_difference)
        ret[count++] = h->difference.data_count;
    for (unsigned i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
        ret[count++] = usual[i];
    return count;
}

/* Where the level says that the difference is, if it is kept in a register (invariant.def); then
 * the rest. */
static void order_places(const struct prove_part *part, const struct prove_handler *h,
                         enum place_at ret[PLACES])
{
    static const enum place_at by_level[] = {AT_RING, AT_IB1, AT_IB2, AT_IB3, AT_GROUP};
    unsigned level = h->difference.r[0x12] & 7;
    bool known = h->has_difference && level < PLACES && cps_gen_since(gen_of(part), CPS_A7XX);
    unsigned count = 0;
    if (known)
        ret[count++] = by_level[level];
    for (unsigned i = 0; i < PLACES; i++) {
        if (!known || (enum place_at)i != by_level[level])
            ret[count++] = (enum place_at)i;
    }
}

static struct cps_err *search_places(struct search *s, const struct prove_handler *h)
{
    enum place_at place[PLACES];
    uint32_t length[MOST_LENGTHS];
    unsigned count = lengths(h, length);
    order_places(s->part, h, place);
    for (unsigned i = 0; i < PLACES; i++) {
        bool reached = true;
        s->place = place[i];
        bool there = s->place == AT_RING  ? s->who != CPS_CPU_LPAC
                     : s->place == AT_IB3 ? cps_gen_since(gen_of(s->part), CPS_A7XX)
                                          : true;
        if (!there)
            continue;
        for (unsigned k = 0;
             k < count && reached && s->queries < ALL_QUERIES && s->all_tries < ALL_TRIES; k++) {
            CPS_TRY(search_length(s, h, length[k], &reached));
            if (s->best->confirmed && !s->best->hidden)
                return NULL;
        }
    }
    return NULL;
}

struct cps_err *witness_find(const struct prove_part *part, const struct stage *stage,
                             const struct prove_handler *h, struct witness *ret)
{
    struct search s = {.part = part, .stage = stage, .best = ret};
    s.who = cps_role_processor(part->code.side[0].part->role, 0);
    *ret = (struct witness){0};
    s.hints.list = tool_alloc(HUNT_HINTS, sizeof(*s.hints.list));
    if (h->has_difference)
        keep_hint(&s, &h->difference);
    struct cps_err *err = search_places(&s, h);
    if (!err && !ret->confirmed)
        err = hunt_find(part, stage, h, &s.hints, ret);
    free(s.hints.list);
    return err;
}

/* Its stream is a packet that does nothing: the boot comes first. */
void witness_boot(const struct prove_part *part, const struct stage *stage, struct witness *ret)
{
    const struct stage_packet packet = {.id = PM4_CP_NOP, .count = 1};
    const struct stage_mark mark = stage_mark(CPS_CPU_SQE, AT_IB1, &packet);
    struct stage_answer answer;
    CPS_BUF text = {0};
    *ret = (struct witness){.words = 1};
    stage_compare_boots(stage, cps_role_processor(part->code.side[0].part->role, 0), &part->code,
                        &ret->tried, &answer);
    stage_text(gen_of(part), CPS_CPU_SQE, AT_IB1, &packet, &text);
    if (answer.different)
        witness_take(ret, &answer, AT_IB1, &mark, "what the boot does", &text);
}

/* ---- Again ---- */

bool witness_replay(const struct prove_part *part, const struct stage *stage,
                    struct json_object *witness, struct stage_answer *ret)
{
    enum cps_processor who = cps_role_processor(part->code.side[0].part->role, 0);
    struct stage_mark mark = {.header = (uint32_t)cps_json_get_int(witness, "packet_header", 0),
                              .iova = (uint64_t)cps_json_get_int(witness, "packet_address", 0)};
    *ret = (struct stage_answer){0};
    CPS_BUF text = {0};
    cps_buf_str(&text, cps_json_get_text(witness, "text", ""));
    snprintf(mark.inject, sizeof(mark.inject), "%s", cps_json_get_text(witness, "inject", ""));
    tool_text(&text);
    struct cps_err *err = stage_compare(stage, who, &part->code, &text, &mark, ret);
    bool good = !err && ret->different;
    cps_err_free(err); /* what cannot be run is searched for again */
    return good;
}
