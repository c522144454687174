/* SPDX-License-Identifier: MIT
 * Random streams on both revisions, aimed at one handler; whether one shows a difference, and
 * whether that is the handler's. */
#include "tools/explain/prove/task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpscope.h"
#include "fw/image/icache.h"
#include "isa/base/pm4.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/explain/fuzz/fuzz.h"
#include "trace/capture/pm4text.h"
#include "trace/capture/pm4walk.h"

#define MOST_CASES        16000u
#define MOST_INSTRUCTIONS 120000000u /* of both revisions, of a handler */
#define CASE_LIMIT        30000u     /* instructions of one case */
#define SWITCH_CASES      700u       /* for each packet before which an interrupt comes */
#define SWITCH_LIMIT      300000u

/* In so many of 100 cases: */
#define FRESH 20 /* the grammar makes one; else one that is kept is changed */
#define AIMED 70 /* the one that is changed reached a new edge of the handler */
#define HINT  50 /* a packet of the handler has a payload of the solver's */

/* Kinds of events that the rest of the GPU sees. */
#define HUNT_VISIBLE (RECORD_COMPARED & ~(1u << CPS_EV_END))
/* Differences of which another handler may be the cause: more are not looked into. */
#define HUNT_DOUBTS 60u

/* A search. */
struct hunt {
    const struct prove_part *part;
    const struct stage *stage;
    const struct prove_handler *handler;
    const struct hunt_hints *hints;
    enum cps_processor who;
    struct run run; /* without oracles: it runs cases, and says what they did */
    struct protection protection;
    struct learned learned;
    struct grammar grammar;
    struct grammar own; /* which makes packets of the handler only */
    struct rng rng;
    struct key_map edges;
    struct corpus all, aimed;
    bool wanted[CPS_FW_TABLE_SIZE]; /* packets of the handler */
    bool equal[CPS_FW_TABLE_SIZE];  /* packets whose handlers are equal */
    bool usable[CPS_FW_TABLE_SIZE]; /* the same, but for waits */
    char inject[24];                /* what cases run with */
    struct stage_context context;   /* of that */
    unsigned doubts;
    uint64_t instructions;
    struct fuzz_case input, other, smaller, best;
    bool found, found_hidden;
};

/* What a case shows. */
struct shown {
    bool different;
    bool hidden;   /* only in control registers */
    bool saved;    /* in the record of a context, while a switch stores it */
    bool inside;   /* in a packet of the handler, not after it */
    uint64_t iova; /* of the handler's first packet */
    uint32_t header;
    uint8_t level;
};

static bool same_event(const struct hunt *h, const struct cps_event *a, const struct cps_event *b)
{
    struct cps_event old = *b; /* as the old revision numbers it */
    stage_renumber(&h->part->code, &old);
    uint32_t free = cps_mask_bits(&h->stage->mask, a, -1);
    if (cps_event_kind(a) == CPS_EV_MEMW && stage_is_context(&h->context, a->addr))
        free = UINT32_MAX;
    return cps_event_kind(a) == cps_event_kind(b) && cps_event_sub(a) == cps_event_sub(b) &&
           a->addr == old.addr && !((a->value ^ b->value) & ~free);
}

enum { IN_GMU_INTERRUPT = 0x0b, IN_PREEMPT = 0x0f };

/* Packets up to an event: the first of the handler, and whether all others are of handlers that are
 * equal. */
static bool look_back(const struct hunt *h, const struct record *record, size_t end,
                      struct shown *ret)
{
    bool only = true;
    const struct cps_event *event = NULL;
    size_t at = 0;
    while ((event = stage_next(record, h->who, 1u << CPS_EV_PKT, &at)) && at <= end) {
        unsigned id = oracle_packet(event->value) % CPS_FW_TABLE_SIZE;
        ret->inside = h->wanted[id];
        ret->saved = id == IN_PREEMPT;
        if (h->wanted[id] && !ret->header) {
            ret->header = event->value;
            ret->iova = event->addr;
            ret->level = (uint8_t)cps_event_sub(event);
        }
        only = only && (h->wanted[id] || h->equal[id]);
    }
    return only;
}

static enum cps_stop ending(enum cps_stop stop)
{
    return stop == CPS_STOP_BUDGET ? CPS_STOP_DEADLOCK : stop;
}

/* The first difference of the last run, in events of some kinds. @param only  gets whether no other
 * handler can be its cause */
static void first_difference(const struct hunt *h, uint32_t kinds, struct shown *ret, bool *only)
{
    const struct run_side *side = h->run.side;
    const struct cps_event *a = NULL;
    const struct cps_event *b = NULL;
    size_t at[2] = {0, 0};
    *ret = (struct shown){0};
    do {
        a = stage_next(&side[0].record, h->who, kinds, &at[0]);
        b = stage_next(&side[1].record, h->who, kinds, &at[1]);
    } while (a && b && same_event(h, a, b));
    bool cut = side[0].stop == CPS_STOP_BUDGET || side[1].stop == CPS_STOP_BUDGET;
    ret->different = (a && b) || ((a || b) && !cut) || ending(side[0].stop) != ending(side[1].stop);
    *only = ret->different && look_back(h, &side[0].record, at[0], ret) &&
            look_back(h, &side[1].record, at[1], ret);
    ret->saved = ret->saved && a && b && cps_event_kind(a) == CPS_EV_MEMW;
    ret->different = ret->different && ret->header && !side[0].internal && !side[1].internal;
}

static void hunt_run(struct hunt *h, const struct fuzz_case *input)
{
    for (unsigned i = 0; i < 2; i++) {
        uint64_t before = h->run.side[i].booted->clock;
        run_one(&h->run, i, input, h->run.limit);
        h->instructions += h->run.side[i].engine->clock - before;
    }
    judge_side(&h->run.side[0]); /* which teaches the grammar */
}

/* ---- Whether a difference is the handler's ---- */

static bool hunt_wants(const struct hunt *h, uint32_t header)
{
    struct cps_pm4 packet = cps_pm4_decode(header);
    bool known = packet.kind == CPS_PM4_TYPE7 || packet.kind == CPS_PM4_TYPE4;
    return known && h->wanted[oracle_packet(header) % CPS_FW_TABLE_SIZE];
}

/* @return how many packets of the handler have become CP_NOP */
static unsigned leave_out(const struct hunt *h, struct fuzz_case *changed)
{
    unsigned count = 0;
    for (unsigned i = 0; i < changed->streams; i++) {
        struct case_stream *s = &changed->stream[i];
        for (uint32_t at = 0; at < s->count; at += case_packet_at(changed, i, at).length) {
            if (!hunt_wants(h, s->word[at]))
                continue;
            s->word[at] = cps_pm4_type7(PM4_CP_NOP, cps_pm4_decode(s->word[at]).count);
            count++;
        }
    }
    return count;
}

static bool shows_without(struct hunt *h, const struct fuzz_case *input, bool inside)
{
    struct shown shown;
    bool only = false;
    if (h->doubts++ >= HUNT_DOUBTS)
        return true;
    case_copy(&h->smaller, input);
    if (!leave_out(h, &h->smaller)) /* hardware makes them */
        return !inside;
    hunt_run(h, &h->smaller);
    h->wanted[PM4_CP_NOP] = true; /* what follows it counts */
    first_difference(h, HUNT_VISIBLE | 1u << CPS_EV_PKT | 1u << CPS_EV_CTRL, &shown, &only);
    h->wanted[PM4_CP_NOP] = false;
    return shown.different;
}

static struct shown hunt_judge(struct hunt *h, const struct fuzz_case *input)
{
    const uint32_t control = 1u << CPS_EV_CTRL;
    const uint32_t packets = 1u << CPS_EV_PKT;
    struct shown ret;
    bool only = false;
    first_difference(h, HUNT_VISIBLE | packets, &ret, &only);
    if (!ret.different) {
        first_difference(h, HUNT_VISIBLE | packets | control, &ret, &only);
        ret.hidden = true;
    }
    /* After a switch the clock is another one. */
    if (*h->inject && !ret.saved && !ret.inside)
        ret.different = false;
    if (ret.different && !only && shows_without(h, input, ret.inside))
        ret.different = false;
    if (!ret.different || *h->inject || (ret.hidden && h->found_hidden))
        return ret;
    h->run.compared = HUNT_VISIBLE;
    ret.different = !run_is_clock(&h->run, input);
    h->run.compared = 0;
    return ret;
}

static uint32_t hinted_packet(struct hunt *h, unsigned id, uint32_t *ret)
{
    const struct difference *d = &h->hints->list[rng_below(&h->rng, h->hints->count)];
    uint32_t count = d->data_count < WITNESS_MOST ? d->data_count : WITNESS_MOST;
    for (uint32_t i = 0; i < count; i++)
        ret[1 + i] = d->data[i];
    for (uint32_t i = rng_below(&h->rng, 4); i && count; i--)
        ret[1 + rng_below(&h->rng, count)] = grammar_value(&h->grammar, &h->input, &h->rng);
    ret[0] = id == 4 ? cps_pm4_type4(0x8810, count) : cps_pm4_type7(id, count);
    return 1 + count;
}

/* A packet of the handler; 0 dwords: no stream has any. */
static uint32_t own_packet(struct hunt *h, struct fuzz_case *at, unsigned stream, uint32_t *ret)
{
    unsigned id = h->handler->id[rng_below(&h->rng, h->handler->ids)];
    if (grammar_is_hardwares(id) && id != 4)
        return 0;
    if (h->hints->count && rng_chance(&h->rng, HINT))
        return hinted_packet(h, id, ret);
    for (unsigned i = 0; i < 16; i++) {
        uint32_t count = grammar_packet(&h->own, at, stream, &h->rng, ret);
        if (hunt_wants(h, *ret))
            return count;
    }
    ret[0] = cps_pm4_type7(id, 0);
    return 1;
}

static void add_own(struct hunt *h, struct fuzz_case *at)
{
    uint32_t word[CASE_WORDS];
    unsigned stream = rng_below(&h->rng, at->streams);
    uint32_t count = own_packet(h, at, stream, word);
    struct case_stream *s = &at->stream[stream];
    uint32_t place = 0;
    for (uint32_t i = rng_below(&h->rng, 8); i && place < s->count; i--)
        place += case_packet_at(at, stream, place).length;
    case_insert(s, place, word, count);
    grammar_fill(&h->grammar, &h->rng, at);
    case_fit(at, NULL);
}

/* Registers that the solver's path reads are written first. */
static void add_registers(struct hunt *h, struct fuzz_case *at)
{
    const struct difference *d = &h->hints->list[rng_below(&h->rng, h->hints->count)];
    for (uint32_t i = 0; i < d->regdata_count && i < 8; i++) {
        const uint32_t word[2] = {cps_pm4_type4(d->regdata_at[i], 1), d->regdata[i]};
        if (d->regdata_at[i])
            case_insert(&at->stream[0], 0, word, 2);
    }
}

static const struct corpus_case *choose(struct hunt *h)
{
    bool aimed = h->aimed.count && rng_chance(&h->rng, AIMED);
    const struct corpus *from = aimed || !h->all.count ? &h->aimed : &h->all;
    return &from->list[rng_below(&h->rng, from->count)];
}

static bool has_own(const struct hunt *h, const struct fuzz_case *at)
{
    for (unsigned i = 0; i < at->streams; i++) {
        for (uint32_t k = 0; k < at->stream[i].count; k += case_packet_at(at, i, k).length) {
            if (hunt_wants(h, at->stream[i].word[k]))
                return true;
        }
    }
    return false;
}

/* ---- The search ---- */

static void keep_case(struct hunt *h)
{
    bool aimed = false;
    bool new = false;
    for (unsigned s = 0; s < 2; s++) {
        const struct cps_edge_log *log = &h->run.side[s].log;
        const struct cps_engine *engine = h->run.side[s].engine;
        for (uint32_t i = 0; i < log->count; i++) {
            const struct cps_edge *edge = &log->edge[i];
            if (!key_map_add(&h->edges, batch_edge(edge, s)))
                continue;
            new = true;
            aimed |= engine->who[edge->core] == (unsigned)h->who &&
                     h->wanted[edge->packet % CPS_FW_TABLE_SIZE];
        }
    }
    struct corpus *corpus = aimed ? &h->aimed : &h->all;
    if (!new)
        return;
    TOOL_ROOM(corpus->list, corpus->count);
    corpus_pack(&h->input, &corpus->list[corpus->count++]);
}

static void try_case(struct hunt *h)
{
    if (!(h->all.count || h->aimed.count) || rng_chance(&h->rng, FRESH)) {
        grammar_case(&h->grammar, &h->rng, &h->input);
    } else {
        corpus_unpack(choose(h), &h->input);
        corpus_unpack(choose(h), &h->other);
        mutate(&h->grammar, &h->rng, &h->other, &h->input);
    }
    if (!has_own(h, &h->input) || rng_chance(&h->rng, 20))
        add_own(h, &h->input);
    if (h->hints->count && rng_chance(&h->rng, 15))
        add_registers(h, &h->input);
    hunt_run(h, &h->input);
    keep_case(h);
    struct shown shown = hunt_judge(h, &h->input);
    if (!shown.different || (shown.hidden && h->found_hidden))
        return;
    case_copy(&h->best, &h->input);
    h->found = !shown.hidden;
    h->found_hidden = shown.hidden;
}

/* ---- A smaller one ---- */

/* Takes the input if it shows the same. */
static void take_smaller(struct hunt *h)
{
    case_fit(&h->input, NULL);
    h->doubts = 0;
    hunt_run(h, &h->input);
    bool hidden = h->found_hidden;
    h->found_hidden = false;
    struct shown shown = hunt_judge(h, &h->input);
    h->found_hidden = hidden;
    if (shown.different && (!shown.hidden || !h->found))
        case_copy(&h->best, &h->input);
}

/* Leaves out each packet that is not needed, the last ones first, then each stream. */
static void shrink(struct hunt *h)
{
    struct case_packet *list = tool_alloc(CASE_PACKETS, sizeof(*list));
    for (unsigned i = case_list(&h->best, list); i--;) {
        case_copy(&h->input, &h->best);
        case_remove(&h->input.stream[list[i].stream], list[i].at, list[i].length);
        take_smaller(h);
    }
    for (unsigned i = h->best.streams; i-- > 1;) {
        case_copy(&h->input, &h->best);
        if (h->input.stream[i].count)
            continue;
        h->input.stream[i] = h->input.stream[--h->input.streams];
        take_smaller(h);
    }
    free(list);
}

static enum place_at place_of(unsigned level)
{
    static const enum place_at places[] = {
        [CPS_LEVEL_RB] = AT_RING, [CPS_LEVEL_IB1] = AT_IB1,   [CPS_LEVEL_IB2] = AT_IB2,
        [CPS_LEVEL_IB3] = AT_IB3, [CPS_LEVEL_SDS] = AT_GROUP,
    };
    return level < sizeof(places) / sizeof(places[0]) ? places[level] : AT_IB1;
}

/* @param guarded  with what the driver writes to CP_PROTECT */
static struct cps_err *put_text(const struct hunt *h, bool guarded, struct cps_buf *out)
{
    struct cps_item item[PROTECTION_ITEMS + CASE_STREAMS + 1];
    size_t count = guarded ? h->protection.items : 1;
    memcpy(item, h->protection.item, count * sizeof(*item));
    item[0] = stage_chip(h->stage->fw[0]->gen);
    count += case_items(&h->best, h->run.bytes, item + count);
    item[count - 1].stream.lpac = h->run.lpac;
    return cps_pm4text_write(item, count, out);
}

/* The stream counts if it shows the same once more, as text. */
static struct cps_err *confirm_text(struct hunt *h, const struct shown *shown, bool guarded,
                                    struct witness *ret)
{
    struct stage_mark mark = {.header = shown->header, .iova = shown->iova};
    struct stage_answer answer;
    CPS_BUF text = {0};
    memcpy(mark.inject, h->inject, sizeof(mark.inject));
    CPS_TRY(put_text(h, guarded, &text));
    CPS_TRY(stage_compare(h->stage, h->who, &h->part->code, &text, &mark, &answer));
    if (!answer.different || (answer.hidden && !shown->hidden))
        return NULL;
    /* The payload of the packet that shows it. */
    ret->words = 0;
    for (unsigned i = 0; i < h->best.streams; i++) {
        const struct case_stream *s = &h->best.stream[i];
        if (mark.iova < s->iova || mark.iova >= s->iova + 4 * (uint64_t)s->count)
            continue;
        uint32_t at = (uint32_t)(mark.iova - s->iova) / 4;
        uint32_t length = case_packet_at(&h->best, i, at).length;
        for (uint32_t k = 1; k < length && k <= WITNESS_MOST; k++)
            ret->word[ret->words++] = s->word[at + k];
    }
    ret->tried = true;
    witness_take(ret, &answer, place_of(shown->level), &mark, "a random stream", &text);
    return NULL;
}

static void know_handlers(struct hunt *h)
{
    for (size_t i = 0; i < h->part->handlers; i++) {
        const struct prove_handler *other = &h->part->handler[i];
        uint32_t proven = PROVEN_NOT;
        if (other->alone || prove_is_bootstrap(other))
            continue;
        bool same = prove_same_code(h->part, other);
        if (prove_is_aligned(h->part, other))
            proven = same ? PROVEN_EQUAL : h->part->proven[other->pc[0]];
        for (unsigned k = 0; k < other->ids; k++) {
            h->equal[other->id[k]] = proven == PROVEN_EQUAL;
            h->usable[other->id[k]] = proven != PROVEN_NOT;
        }
    }
    for (unsigned k = 0; k < h->handler->ids; k++)
        h->wanted[h->handler->id[k]] = true;
}

/* Packets of other handlers that differ would hide what this one does, and those that the processor
 * refuses lead nowhere. A DDE gets only some of the packets that the others take. */
static unsigned keep_equal(const struct hunt *h, const uint8_t *id, unsigned count, uint8_t *ret)
{
    const struct code_side *side = &h->part->code.side[0];
    bool own[CPS_FW_TABLE_SIZE];
    unsigned kept = 0;
    cps_fw_own_handlers_(side->table, own);
    for (unsigned i = 0; i < count; i++) {
        bool taken = own[id[i]] || h->who == CPS_CPU_DDE_BR;
        if ((h->usable[id[i]] && taken) || h->wanted[id[i]])
            ret[kept++] = id[i];
    }
    return kept;
}

static struct cps_err *begin_side(struct hunt *h, unsigned number, struct cps_engine *booted)
{
    const uint32_t kinds =
        HUNT_VISIBLE | 1u << CPS_EV_PKT | 1u << CPS_EV_CTRL | 1u << CPS_EV_ASSUME;
    struct cps_engine *own = NULL;
    tool_must(cps_engine_clone(booted, &own));
    for (unsigned i = 0; i < h->protection.items; i++)
        tool_must(cps_engine_feed(own, &h->protection.item[i]));
    return run_begin_side(&h->run, number, own, kinds);
}

static struct cps_err *open_side(struct hunt *h, unsigned number)
{
    struct record_boot boot = {0};
    if (!*h->inject)
        return begin_side(h, number, h->stage->boot[number].engine);
    struct cps_err *err = stage_boot(h->stage, number, h->inject, &boot);
    if (!err && boot.booted)
        err = begin_side(h, number, boot.engine);
    record_boot_deinit(&boot);
    return err;
}

static struct cps_err *try_cases(struct hunt *h, unsigned count, struct witness *ret)
{
    h->run = (struct run){.sides = 2, .protection = &h->protection, .learned = &h->learned};
    h->run.lpac = h->who == CPS_CPU_LPAC;
    h->run.limit = *h->inject ? SWITCH_LIMIT : CASE_LIMIT;
    for (unsigned i = 0; i < 2; i++)
        CPS_TRY(open_side(h, i));
    if (!h->run.side[0].booted || !h->run.side[1].booted)
        return NULL;
    h->instructions = 0;
    for (unsigned i = 0; i < count && !h->found && h->instructions < MOST_INSTRUCTIONS; i++)
        try_case(h);
    if (!h->found && !h->found_hidden)
        return NULL;
    shrink(h);
    h->doubts = 0;
    hunt_run(h, &h->best);
    h->found_hidden = false;
    struct shown shown = hunt_judge(h, &h->best);
    if (shown.different)
        CPS_TRY(confirm_text(h, &shown, false, ret));
    return shown.different && !ret->confirmed ? confirm_text(h, &shown, true, ret) : NULL;
}

/* The same with an interrupt before one packet or another: a routine that saves the context
 * shows what handlers leave in registers. */
static struct cps_err *interrupt_cases(struct hunt *h, const char *kind, struct witness *ret)
{
    static const unsigned packets[] = {1, 2, 3, 5};
    for (unsigned i = 0; i < sizeof(packets) / sizeof(packets[0]) && !ret->confirmed; i++) {
        snprintf(h->inject, sizeof(h->inject), "%s@0:%u", kind, packets[i]);
        run_close(&h->run);
        h->found = h->found_hidden = false;
        h->doubts = 0;
        struct cps_err *err = stage_context(h->stage, h->inject, &h->context);
        if (!err)
            err = try_cases(h, SWITCH_CASES, ret);
        if (err && err->code == CPS_ERR_NOMEM)
            return err;
        cps_err_free(err); /* one of them lacks the interrupt's handler */
    }
    return NULL;
}

static struct cps_err *search(struct hunt *h, struct witness *ret)
{
    enum cps_gen gen = h->stage->fw[0]->gen;
    bool sqe = h->stage->fw[0]->part[0].role == h->part->code.side[0].part->role;
    unsigned only = h->handler->ids == 1 ? h->handler->id[0] : CPS_FW_TABLE_SIZE;
    know_handlers(h);
    struct grammar *g = &h->grammar;
    protection_init(&h->protection, h->stage->fw[0]);
    grammar_init(g, h->stage->fw[0], &h->protection, &h->learned);
    g->knowns = keep_equal(h, g->known, g->knowns, g->known);
    g->owns = keep_equal(h, g->own, g->owns, g->own);
    h->own = *g;
    h->own.knowns = h->own.owns = 0;
    for (unsigned i = 0; i < h->handler->ids; i++) {
        uint8_t id = h->handler->id[i];
        h->own.own[h->own.owns++] = id;
        if (g->fields[id])
            h->own.known[h->own.knowns++] = id;
    }
    if (only == IN_GMU_INTERRUPT)
        return interrupt_cases(h, "gmu", ret);
    if (only != IN_PREEMPT)
        CPS_TRY(try_cases(h, MOST_CASES, ret));
    else if (sqe)
        CPS_TRY(interrupt_cases(h, "preempt", ret));
    if (!ret->confirmed && (gen == CPS_A6XX || gen == CPS_A7XX))
        CPS_TRY(interrupt_cases(h, "switch", ret));
    return NULL;
}

struct cps_err *hunt_find(const struct prove_part *part, const struct stage *stage,
                          const struct prove_handler *handler, const struct hunt_hints *hints,
                          struct witness *ret)
{
    if (!stage->boot[0].booted || !stage->boot[1].booted)
        return NULL;
    struct hunt *h = tool_alloc(1, sizeof(*h));
    h->part = part;
    h->stage = stage;
    h->handler = handler;
    h->hints = hints;
    h->who = cps_role_processor(part->code.side[0].part->role, 0);
    h->rng = (struct rng){rng_mix(handler->pc[0]) + rng_mix(~(uint64_t)handler->pc[1])};
    struct cps_err *err = search(h, ret);
    run_close(&h->run);
    key_map_deinit(&h->edges);
    corpus_deinit(&h->all);
    corpus_deinit(&h->aimed);
    free(h);
    return err;
}
