/* SPDX-License-Identifier: MIT
 * Runs cases on clones of booted machines. */
#include "tools/explain/fuzz/fuzz.h"

#include <string.h>

#include "isa/base/pm4.h"
#include "isa/base/within.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/explain/reduce/reduce.h"

/* A packet that hardware makes for a routine that runs with the driver's rights. */
#define IN_PREEMPT 0x708f8000u

#define PIECE 1024u /* instructions */

bool run_wants(const struct run *run, enum oracle raised)
{
    return run->oracles & oracle_family(raised);
}

void run_add_suspect(struct run *run, const struct suspect *suspect)
{
    uint64_t key = oracle_raised(suspect);
    if (!run_wants(run, suspect->raised) || run->suspects == RUN_SUSPECTS)
        return;
    for (unsigned i = 0; i < run->suspects; i++) {
        const struct suspect *s = &run->suspect[i];
        if (oracle_raised(s) == key && s->place == suspect->place && s->pc == suspect->pc)
            return;
    }
    run->suspect[run->suspects] = *suspect;
    run->suspect[run->suspects++].oracle = suspect->raised;
}

void run_suspect_at(struct run_side *side, unsigned who, enum oracle oracle, uint32_t place,
                    uint32_t pc, uint32_t value)
{
    const struct run_location *at = &side->place[who];
    run_add_suspect(side->run, &(struct suspect){.raised = oracle,
                                                 .side = (uint8_t)(side - side->run->side),
                                                 .who = (uint8_t)who,
                                                 .level = at->level,
                                                 .header = at->header,
                                                 .iova = at->iova,
                                                 .place = place,
                                                 .pc = pc,
                                                 .value = value});
}

static void suspect_event(struct run_side *side, const struct cps_event *event, enum oracle oracle)
{
    if (!side->internal)
        run_suspect_at(side, cps_event_who(event) % CPS_CPU_COUNT, oracle,
                       (uint32_t)cps_event_place(event), cps_event_pc(event), event->value);
}

static void take_packet(struct run_side *side, const struct cps_event *event)
{
    struct run_location *place = &side->place[cps_event_who(event) % CPS_CPU_COUNT];
    unsigned level = cps_event_sub(event);
    bool internal = level == CPS_LEVEL_INT;
    struct cps_pm4 packet = cps_pm4_decode(event->value);
    place->header = event->value;
    place->iova = event->addr;
    /* The first processor of the first firmware teaches. Hardware's own packet at the end of a
     * stream says where the last one has ended. */
    if (side == side->run->side && side->run->learned &&
        cps_event_who(event) == (side->run->lpac ? CPS_CPU_LPAC : side->engine->who[0])) {
        unsigned at = internal ? place->level : level;
        struct learn_last *last = &side->last[at % LEARN_LEVELS];
        if (last->there)
            learn_next(side->run->learned, side->run->input, last, at, event->addr);
        *last = (struct learn_last){event->addr, event->value, !internal};
    }
    if (!internal) {
        place->level = (uint8_t)level;
        place->user = level != CPS_LEVEL_RB;
    } else if (event->value == IN_PREEMPT) {
        place->user = false;
    }
    if (CPS_UNLIKELY(!internal && level != CPS_LEVEL_RB && packet.kind == CPS_PM4_TYPE7 &&
                     grammar_is_hardwares(packet.opcode))) {
        suspect_event(side, event, ORACLE_INTERNAL);
        side->internal = true;
    }
}

/* A write that CP_PROTECT did not look at, by a packet of a stream. */
static void take_write(struct run_side *side, const struct cps_event *event)
{
    const struct run *run = side->run;
    uint8_t class = run->protection->class[cps_event_place(event) % PROTECTION_REGS];
    if (CPS_LIKELY(!class) || cps_event_sub(event) == CPS_PATH_USER ||
        !side->place[cps_event_who(event) % CPS_CPU_COUNT].user)
        return;
    unsigned row = class / REG_CLASS_ORACLE;
    suspect_event(side, event,
                  row                     ? (enum oracle)(row - 1)
                  : class & REG_READ_ONLY ? ORACLE_READ_ONLY
                                          : ORACLE_PROTECTED);
}

static void check_event(struct run_side *side, const struct cps_event *event)
{
    unsigned who = cps_event_who(event) % CPS_CPU_COUNT;
    unsigned kind = cps_event_kind(event);
    if (kind == CPS_EV_PKT)
        take_packet(side, event);
    else if (kind == CPS_EV_REG)
        take_write(side, event);
    else if (kind == CPS_EV_ASSUME && cps_event_sub(event) == CPS_WHAT_SECURE && event->value &&
             side->place[who].user)
        suspect_event(side, event, ORACLE_SECURE_MODE);
    if (side->run->sides > 1 && side->run->compared >> kind & 1)
        side->digest[who] = rng_mix(side->digest[who] ^ (uint32_t)event->head) +
                            rng_mix(event->addr ^ (uint64_t)event->value << 32);
}

void run_take_events(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    struct run_side *side =
        (struct run_side *)(void *)((char *)sink - offsetof(struct run_side, sink));
    for (size_t i = 0; i < count; i++)
        check_event(side, &events[i]);
    if (side->run->sides > 1)
        record_keep(&side->record, events, count);
}

static struct cps_err *submit(struct run_side *side, const struct fuzz_case *input)
{
    struct cps_item item[CASE_STREAMS + 1];
    size_t count = case_items(input, side->run->bytes, item);
    item[count - 1].stream.lpac = side->run->lpac;
    for (size_t i = 0; i < count; i++)
        CPS_TRY(cps_engine_feed(side->engine, &item[i]));
    return NULL;
}

static void make_case(struct fuzz_case *ret, const uint32_t *word, uint32_t count)
{
    case_clear(ret);
    case_insert(&ret->stream[0], 0, word, count);
}

struct cps_err *run_begin_side(struct run *run, unsigned number, struct cps_engine *booted,
                               uint32_t kinds)
{
    struct run_side *side = &run->side[number];
    const uint32_t nop = cps_pm4_type7(PM4_CP_NOP, 0);
    struct fuzz_case one;
    make_case(&one, &nop, 1);
    side->run = run;
    side->booted = booted;
    side->sink.put = run_take_events;
    side->log.edge = tool_alloc(RUN_EDGES, sizeof(*side->log.edge));
    side->log.room = RUN_EDGES;
    if (!run->bytes)
        run->bytes = tool_alloc(4 * (size_t)CASE_STREAMS, CASE_WORDS);
    tool_must(cps_engine_clone(booted, &side->engine));
    CPS_TRY(submit(side, &one));
    cps_engine_sink(side->engine, &side->sink, kinds);
    cps_afuc_log(cps_afuc_of(side->engine), &side->log);
    return NULL;
}

static struct cps_err *open_side(struct run *run, unsigned number, struct protection *protection)
{
    struct run_side *side = &run->side[number];
    struct play *play = side->play = tool_alloc(1, sizeof(*play));
    CPS_TRY(play_open(play, &side->config, NULL));
    if (!number)
        protection_init(protection, play->fw);
    for (unsigned i = 0; i < protection->items; i++)
        CPS_TRY(cps_engine_feed(play->engine, &protection->item[i]));
    play_boot(play);
    cps_engine_sink(play->engine, NULL, 0);
    tool_need(play->stop != CPS_STOP_NOMEM);
    if (play->stopped)
        return cps_err_new(CPS_ERR_INPUT,
                           "%s does not boot, so it cannot run cases; 'cpscope run' "
                           "shows why",
                           play->fw->name);
    uint32_t kinds = 1u << CPS_EV_PKT | 1u << CPS_EV_REG | 1u << CPS_EV_ASSUME;
    return run_begin_side(run, number, CPS_TAKE(play->engine),
                          run->sides > 1 ? kinds | run->compared : kinds);
}

struct cps_err *run_open(struct run *run, const struct cps_run_config *config, unsigned sides,
                         struct protection *protection)
{
    run->sides = sides;
    run->protection = protection;
    run->compared = RECORD_COMPARED;
    for (unsigned i = 0; i < sides; i++) {
        play_side(config, sides, i, &run->side[i].config);
        CPS_TRY(open_side(run, i, protection));
    }
    if (sides > 1 && run->side[0].play->fw->gen != run->side[1].play->fw->gen)
        return cps_err_new(CPS_ERR_MISMATCH, "%s and %s are of different generations",
                           run->side[0].play->fw->name, run->side[1].play->fw->name);
    return NULL;
}

uint32_t run_image_start(const struct run_side *side, unsigned core)
{
    const struct cps_fw *fw = side->play->fw;
    return core < fw->part_count ? fw->part[core].start : fw->part[fw->part_count - 1].start;
}

void run_close(struct run *run)
{
    for (unsigned i = 0; i < 2; i++) {
        struct run_side *side = &run->side[i];
        cps_engine_destroy(side->engine);
        cps_engine_destroy(side->booted);
        if (side->play)
            play_close(side->play);
        free(side->play);
        free(side->log.edge);
        record_deinit(&side->record);
    }
    free(run->bytes);
    *run = (struct run){.sides = 0};
}

/* In pieces that become longer: firmware that has reported an error mostly does no more, which is
 * seen between them. */
static enum cps_stop run_pieces(struct run_side *side, uint64_t limit)
{
    struct cps_engine *engine = side->engine;
    enum cps_stop stop = CPS_STOP_BUDGET;
    uint64_t packets = 0;
    unsigned core = 0;
    for (uint64_t piece = PIECE; limit && stop == CPS_STOP_BUDGET; piece *= 2) {
        bool over = cps_afuc_trouble(cps_afuc_of(engine), &core) == CPS_TROUBLE_REPORTED;
        packets = engine->packets;
        uint64_t asked = over || piece > limit ? limit : piece;
        stop = cps_engine_run(engine, asked);
        limit -= asked;
    }
    side->goes_on = engine->packets != packets;
    return stop;
}

static void run_side(struct run_side *side, const struct fuzz_case *input, uint64_t limit)
{
    side->log.count = 0;
    side->log.depth = 0;
    memset(side->log.stack, 0, sizeof(side->log.stack));
    side->record.count = 0;
    side->run->input = input;
    side->internal = false;
    memset(side->last, 0, sizeof(side->last));
    memset(side->place, 0, sizeof(side->place));
    memset(side->digest, 0, sizeof(side->digest));
    tool_must(cps_engine_restore(&side->engine, side->booted));
    tool_must(submit(side, input));
    side->stop = run_pieces(side, limit);
    side->run->executed++;
    tool_need(side->stop != CPS_STOP_NOMEM && !side->record.lost);
}

void run_case(struct run *run, const struct fuzz_case *input)
{
    run->suspects = 0;
    for (unsigned i = 0; i < run->sides; i++)
        run_side(&run->side[i], input, run->limit);
    judge_difference(run);
    for (unsigned i = 0; i < run->sides; i++)
        judge_side(&run->side[i]);
}

void run_one(struct run *run, unsigned side, const struct fuzz_case *input, uint64_t limit)
{
    run->suspects = 0;
    run_side(&run->side[side], input, limit);
}

/* The clock is no input: another packet before the case makes it another one. */
static void run_later(struct run_side *side, const struct fuzz_case *input)
{
    const uint32_t nops[] = {cps_pm4_type7(PM4_CP_NOP, 1), 0, cps_pm4_type7(PM4_CP_NOP, 0)};
    struct fuzz_case other;
    make_case(&other, nops, 3);
    other.stream[0].iova = CASE_BASE + 2 * CASE_STREAMS * CASE_STRIDE;
    tool_must(cps_engine_restore(&side->engine, side->booted));
    tool_must(submit(side, &other));
    cps_engine_run(side->engine, side->run->limit);
    side->record.count = 0;
    tool_must(submit(side, input));
    tool_need(cps_engine_run(side->engine, side->run->limit) != CPS_STOP_NOMEM);
}

/* @param ret  gets the first event of @p a that is different in @p b, or missing there
 * @return whether there is one */
static bool differ_first(const struct run *run, const struct record *a, const struct record *b,
                         struct cps_event *ret)
{
    const struct cps_diff_options options = {.kinds = run->compared};
    struct cps_diff diff = {0};
    tool_must(cps_diff_events(a->event, a->count, b->event, b->count, &options, NULL, NULL, &diff));
    bool found = diff.differences && diff.first.a;
    if (found)
        *ret = *diff.first.a;
    cps_diff_deinit(&diff);
    return found;
}

bool run_is_clock(struct run *run, const struct fuzz_case *input)
{
    const struct record *now = &run->side[0].record;
    struct cps_event sides, times;
    run_case(run, input);
    struct record before = {.count = now->count};
    before.event = tool_alloc(before.count, sizeof(*before.event));
    if (before.count)
        memcpy(before.event, now->event, before.count * sizeof(*before.event));
    bool same = differ_first(run, &before, &run->side[1].record, &sides);
    run_later(&run->side[0], input);
    same = same && differ_first(run, &before, now, &times) &&
           cps_event_kind(&sides) == cps_event_kind(&times) && sides.addr == times.addr;
    free(before.event);
    return same;
}

const struct suspect *run_suspect(const struct run *run, uint64_t key)
{
    for (unsigned i = 0; i < run->suspects; i++) {
        if (oracle_raised(&run->suspect[i]) == key)
            return &run->suspect[i];
    }
    return NULL;
}

double run_yardstick(struct run *run)
{
    struct run_side *side = &run->side[0];
    const uint32_t nop = cps_pm4_type7(PM4_CP_NOP, 0);
    struct fuzz_case one;
    struct cps_item item[CASE_STREAMS + 1];
    double begun = reduce_clock();
    unsigned count = 0;
    make_case(&one, &nop, 1);
    size_t items = case_items(&one, run->bytes, item);
    while (reduce_clock() - begun < 0.2) {
        struct cps_engine *clone = NULL;
        tool_must(cps_engine_clone(side->booted, &clone));
        for (size_t i = 0; i < items; i++)
            tool_must(cps_engine_feed(clone, &item[i]));
        bool good = cps_engine_run(clone, run->limit) == CPS_STOP_IDLE;
        cps_engine_destroy(clone);
        if (!good)
            return 0;
        count++;
    }
    return count / (reduce_clock() - begun);
}
