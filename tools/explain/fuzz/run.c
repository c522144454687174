/* SPDX-License-Identifier: MIT
 * Runs cases on clones of booted machines. */
#include "tools/explain/fuzz/run.h"

#include <string.h>
#include <time.h>

#include "isa/base/pm4.h"
#include "isa/base/within.h"
#include "tools/explain/fuzz/grammar.h"
#include "tools/explain/fuzz/judge.h"
#include "tools/explain/fuzz/random.h"

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

static void suspect_event(struct run_side *side, const struct cps_event *event, enum oracle oracle)
{
    unsigned who = cps_event_who(event) % CPS_CPU_COUNT;
    const struct run_place *place = &side->place[who];
    const struct suspect suspect = {.raised = oracle,
                                    .side = (uint8_t)(side - side->run->side),
                                    .who = (uint8_t)who,
                                    .level = place->level,
                                    .header = place->header,
                                    .iova = place->iova,
                                    .place = (uint32_t)cps_event_place(event),
                                    .pc = cps_event_pc(event),
                                    .value = event->value};
    if (!side->internal)
        run_add_suspect(side->run, &suspect);
}

/* A packet that only hardware makes. */
static bool is_hardwares(uint32_t header)
{
    struct cps_pm4 packet = cps_pm4_decode(header);
    return packet.kind == CPS_PM4_TYPE7 && grammar_is_hardwares(packet.opcode);
}

/* The first processor of the first firmware teaches. Hardware's own packet at the end of a stream
 * says where the last one has ended. */
static void learn_packet(struct run_side *side, const struct cps_event *event, unsigned level)
{
    struct run *run = side->run;
    bool end = cps_event_sub(event) == CPS_LEVEL_INT;
    struct learn_last *last = &side->last[level % LEARN_LEVELS];
    if (last->there)
        learn_next(run->learned, run->input, last, level, event->addr);
    *last = (struct learn_last){event->addr, event->value, !end};
}

static void take_packet(struct run_side *side, const struct cps_event *event)
{
    struct run_place *place = &side->place[cps_event_who(event) % CPS_CPU_COUNT];
    unsigned level = cps_event_sub(event);
    bool streams = level != CPS_LEVEL_INT && level != CPS_LEVEL_RB;
    place->header = event->value;
    place->iova = event->addr;
    if (side == side->run->side && side->run->learned &&
        cps_event_who(event) == (side->run->lpac ? CPS_CPU_LPAC : side->engine->who[0]))
        learn_packet(side, event, level == CPS_LEVEL_INT ? place->level : level);
    if (level != CPS_LEVEL_INT) {
        place->level = (uint8_t)level;
        place->user = level != CPS_LEVEL_RB;
    } else if (event->value == IN_PREEMPT) {
        place->user = false;
    }
    if (CPS_UNLIKELY(streams && is_hardwares(event->value))) {
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

static void take(struct run_side *side, const struct cps_event *event)
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
        take(side, &events[i]);
    if (side->run->sides > 1)
        record_keep(&side->record, events, count);
}

static struct cps_err *boot(struct run *run, struct run_side *side)
{
    struct play *play = side->play;
    for (unsigned i = 0; i < run->protection->items; i++)
        CPS_TRY(cps_engine_feed(play->engine, &run->protection->item[i]));
    play_boot(play);
    cps_engine_sink(play->engine, NULL, 0);
    if (play->stop == CPS_STOP_NOMEM)
        return cps_err_nomem();
    if (play->stopped)
        return cps_err_new(CPS_ERR_INPUT,
                           "%s does not boot, and so runs no cases; 'cpscope run' "
                           "says why",
                           play->fw->name);
    side->booted = CPS_TAKE(play->engine);
    return cps_engine_clone(side->booted, &side->engine);
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

static struct cps_err *open_side(struct run *run, unsigned number, struct protection *protection)
{
    struct run_side *side = &run->side[number];
    side->run = run;
    side->sink.put = run_take_events;
    side->play = calloc(1, sizeof(*side->play));
    side->log.edge = calloc(RUN_EDGES, sizeof(*side->log.edge));
    side->log.room = RUN_EDGES;
    if (!side->play || !side->log.edge)
        return cps_err_nomem();
    CPS_TRY(play_open(side->play, &side->opt, NULL));
    if (!number)
        protection_init(protection, side->play->fw);
    CPS_TRY(boot(run, side));
    uint32_t kinds = 1u << CPS_EV_PKT | 1u << CPS_EV_REG | 1u << CPS_EV_ASSUME;
    if (run->sides > 1)
        kinds |= run->compared;
    cps_engine_sink(side->engine, &side->sink, kinds);
    cps_afuc_log(cps_afuc_of(side->engine), &side->log);
    return NULL;
}

struct cps_err *run_open(struct run *run, const struct cps_options *opt, unsigned sides,
                         struct protection *protection)
{
    run->sides = sides;
    run->protection = protection;
    run->compared = RECORD_COMPARED;
    run->bytes = malloc(4 * (size_t)CASE_STREAMS * CASE_WORDS);
    if (!run->bytes)
        return cps_err_nomem();
    for (unsigned i = 0; i < sides; i++) {
        play_side(opt, sides, i, &run->side[i].opt);
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

static struct cps_err *run_side(struct run_side *side, const struct fuzz_case *input,
                                uint64_t limit)
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
    CPS_TRY(cps_engine_restore(&side->engine, side->booted));
    CPS_TRY(submit(side, input));
    side->stop = run_pieces(side, limit);
    side->run->executed++;
    return side->stop == CPS_STOP_NOMEM || side->record.lost ? cps_err_nomem() : NULL;
}

struct cps_err *run_case(struct run *run, const struct fuzz_case *input)
{
    run->suspects = 0;
    for (unsigned i = 0; i < run->sides; i++)
        CPS_TRY(run_side(&run->side[i], input, run->limit));
    CPS_TRY(judge_difference(run));
    for (unsigned i = 0; i < run->sides; i++)
        judge_side(&run->side[i]);
    return NULL;
}

struct cps_err *run_one(struct run *run, unsigned side, const struct fuzz_case *input,
                        uint64_t limit)
{
    run->suspects = 0;
    return run_side(&run->side[side], input, limit);
}

/* The clock is no input: another packet in front makes it another one. */
static struct cps_err *run_later(struct run_side *side, const struct fuzz_case *input)
{
    struct fuzz_case empty;
    const uint32_t nops[] = {cps_pm4_type7(PM4_CP_NOP, 1), 0, cps_pm4_type7(PM4_CP_NOP, 0)};
    case_clear(&empty);
    empty.stream[0].iova = CASE_BASE + 2 * CASE_STREAMS * CASE_STRIDE;
    case_insert(&empty.stream[0], 0, nops, 3);
    side->record.count = 0;
    CPS_TRY(cps_engine_restore(&side->engine, side->booted));
    CPS_TRY(submit(side, &empty));
    cps_engine_run(side->engine, side->run->limit);
    side->record.count = 0;
    CPS_TRY(submit(side, input));
    return cps_engine_run(side->engine, side->run->limit) == CPS_STOP_NOMEM ? cps_err_nomem()
                                                                            : NULL;
}

static bool same_event(const struct cps_event *a, const struct cps_event *b)
{
    return a && b && cps_event_kind(a) == cps_event_kind(b) && a->addr == b->addr;
}

struct cps_err *run_is_clock(struct run *run, const struct fuzz_case *input, bool *ret)
{
    struct cps_diff sides = {0};
    struct cps_diff times = {0};
    CPS_FREE struct cps_event *first = NULL;
    struct record *record = &run->side[0].record;
    CPS_TRY(run_case(run, input));
    first = malloc((record->count + 1) * sizeof(*first));
    if (!first)
        return cps_err_nomem();
    memcpy(first, record->event, record->count * sizeof(*first));
    const struct record before = {.event = first, .count = record->count};
    const struct cps_diff_options options = {run->compared, NULL};
    CPS_TRY(judge_first_difference(run, &run->side[1].record, &sides));
    const struct cps_event a = sides.first.a ? *sides.first.a : (struct cps_event){0};
    struct cps_err *err = run_later(&run->side[0], input);
    if (!err)
        err = cps_diff_events(before.event, before.count, record->event, record->count, &options,
                              NULL, NULL, &times);
    *ret = !err && times.differences && sides.differences && same_event(&a, times.first.a);
    cps_diff_deinit(&sides);
    cps_diff_deinit(&times);
    return err;
}

const struct suspect *run_suspect(const struct run *run, uint64_t key)
{
    for (unsigned i = 0; i < run->suspects; i++) {
        if (oracle_raised(&run->suspect[i]) == key)
            return &run->suspect[i];
    }
    return NULL;
}

static double now(void)
{
    struct timespec time = {0, 0};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

double run_yardstick(struct run *run)
{
    struct run_side *side = &run->side[0];
    struct fuzz_case empty;
    struct cps_item item[CASE_STREAMS + 1];
    const uint32_t nop = cps_pm4_type7(PM4_CP_NOP, 0);
    double begun = now();
    unsigned count = 0;
    case_clear(&empty);
    case_insert(&empty.stream[0], 0, &nop, 1);
    size_t items = case_items(&empty, run->bytes, item);
    while (now() - begun < 0.2) {
        struct cps_engine *clone = NULL;
        struct cps_err *err = cps_engine_clone(side->booted, &clone);
        for (size_t i = 0; !err && i < items; i++)
            err = cps_engine_feed(clone, &item[i]);
        bool good = !err && cps_engine_run(clone, run->limit) == CPS_STOP_IDLE;
        cps_engine_destroy(clone);
        cps_err_free(err);
        if (!good)
            return 0;
        count++;
    }
    return count / (now() - begun);
}
