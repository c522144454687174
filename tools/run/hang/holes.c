/* SPDX-License-Identifier: MIT
 * Trials of a recovered firmware. What the hardware held at the hang is the judge: its place, and
 * the registers there. */
#include "tools/run/replay.h"

#include <stdlib.h>
#include <string.h>

#include "emu/afuc/afuc.h"
#include "tools/run/code.h"

/* What a search may cost, in instructions: a trial is a whole replay, twice. */
enum { ROUNDS = 4, STEPS = 100000000, SPLITS = 48 };
enum { STATE_REGISTERS = STAT_REM + 1 };

struct trials {
    struct replay *r;
    struct hang_sought sought;
    struct cps_cover *cover; /* of the last run, by dword */
    uint32_t count;
    uint64_t best;  /* score */
    uint64_t steps; /* instructions so far */
};

/* The place first, then how many registers are equal there (else at the end, where it still says
 * how well the boot went), then how far the ring was read. */
static uint64_t score_of(unsigned rank, unsigned equal, uint64_t packets)
{
    return (uint64_t)rank << 56 | (uint64_t)equal << 40 | (packets & ((UINT64_C(1) << 40) - 1));
}

static unsigned equal_registers(const struct trials *t, struct cps_engine *engine)
{
    const struct dump_block *stat = dump_block(t->r->dump, "CP_SQE_STAT");
    const struct dump_block *ucode = dump_block(t->r->dump, "CP_UCODE_DBG");
    unsigned equal = 0;
    for (unsigned i = 1; i < STATE_REGISTERS; i++) {
        uint64_t value = 0;
        cps_engine_get(engine, (struct cps_location){0, CPS_FILE_GENERAL, i}, &value);
        equal += value == dump_word(stat, i);
    }
    for (unsigned i = 0; i < SCRATCH_COUNT; i++) {
        uint64_t value = 0;
        cps_engine_get(engine, (struct cps_location){0, CPS_FILE_CONTROL, SCRATCH_FIRST + i},
                       &value);
        equal += value == dump_word(ucode, UCODE_SCRATCH + i);
    }
    return equal;
}

/* Runs what is in the replay's engine now: to find the place, and to it. */
static struct cps_err *try_it(struct trials *t, uint64_t *ret)
{
    struct cps_engine *engine = NULL;
    struct hang_position place;
    uint64_t limit = t->r->play->config->limit;
    if (limit > STEPS)
        limit = STEPS;
    memset(t->cover, 0, t->count * sizeof(*t->cover));
    CPS_TRY(replay_fresh(t->r, t->cover, t->count, &engine));
    uint64_t before = engine->clock;
    struct cps_err *err = hang_find(&t->sought, engine, limit, &place);
    if (!err) {
        cps_engine_run(engine, place.tick ? place.tick - before : limit);
        t->steps += 2 * (engine->clock - before);
        *ret = score_of(place.rank, equal_registers(t, engine), engine->packets);
    }
    cps_engine_destroy(engine);
    return err;
}

/* Nothing is left to do, or no time to do it. */
static bool is_done(const struct trials *t)
{
    return t->steps > STEPS ||
           t->best >> 40 == score_of(HANG_RANK_BEST, STATE_REGISTERS - 1 + SCRATCH_COUNT, 0) >> 40;
}

static void fill(const struct trials *t, struct cps_fw_hole *hole, uint32_t split)
{
    struct cps_fw *fw = t->r->play->fw;
    struct cps_fw_icache *cache = &t->r->play->code->cache;
    hole->split = split;
    for (uint32_t at = hole->first; at < hole->end && at < cache->count; at++) {
        if (cache->mark[at] != CPS_FW_UNKNOWN)
            continue;
        uint32_t word = cps_fw_hole_word_(hole, fw->gen, at, split);
        cache->word[at] = fw->words[fw->part[0].start + at] = word;
        cps_engine_set(t->r->play->engine, (struct cps_location){0, CPS_FILE_CODE, at}, word);
    }
}

static bool is_executed(const struct trials *t, const struct cps_fw_hole *hole)
{
    for (uint32_t at = hole->first; at < hole->end && at < t->count; at++) {
        if (t->cover[at].run && t->r->play->code->cache.mark[at] == CPS_FW_UNKNOWN)
            return true;
    }
    return false;
}

static struct cps_err *try_split(struct trials *t, struct cps_fw_hole *hole, uint32_t split,
                                 uint32_t *best)
{
    uint64_t score = 0;
    fill(t, hole, split);
    CPS_TRY(try_it(t, &score));
    if (score <= t->best)
        return NULL;
    t->best = score;
    *best = split;
    return NULL;
}

/* Each place of the split, or some of a long hole; the best stays. */
static struct cps_err *try_hole(struct trials *t, struct cps_fw_hole *hole)
{
    uint32_t last = hole->end - hole->gap;
    uint32_t step = (last - hole->first) / SPLITS + 1;
    uint32_t best = hole->split;
    struct cps_err *err = NULL;
    for (uint32_t split = hole->first; split <= last && !err && !is_done(t); split += step) {
        if (split != hole->split)
            err = try_split(t, hole, split, &best);
    }
    fill(t, hole, best);
    return err;
}

static struct cps_err *search(struct trials *t)
{
    uint64_t before = 0;
    CPS_TRY(try_it(t, &t->best));
    for (unsigned round = 0; round < ROUNDS && (!round || t->best > before) && !is_done(t);
         round++) {
        before = t->best;
        /* Holes are tried one after the other, in the order of their addresses; a better one may
         * open the way to others. */
        struct cps_fw_icache *cache = &t->r->play->code->cache;
        uint64_t score = 0;
        for (size_t i = 0; i < cache->holes && !is_done(t); i++) {
            if (!is_executed(t, &cache->hole[i]))
                continue;
            CPS_TRY(try_hole(t, &cache->hole[i]));
            if (!is_done(t))
                CPS_TRY(try_it(t, &score)); /* for what is executed now */
        }
    }
    return NULL;
}

struct cps_err *holes_fill(struct replay *r)
{
    const struct code *code = r->play->code;
    struct trials t = {.r = r};
    if (!code || !code->recovered || !code->cache.holes || r->play->gen != CPS_A6XX ||
        !dump_block(r->dump, "CP_SQE_STAT"))
        return NULL;
    t.count = cps_afuc_image_size(cps_afuc_of(r->play->engine), 0) + 1;
    t.cover = calloc(t.count, sizeof(*t.cover));
    if (!t.cover)
        return cps_err_nomem();
    hang_seek(r->dump, r->play->fw, code, true, &t.sought);
    t.sought.quick = true;
    struct cps_err *err = search(&t);
    free(t.cover);
    return err;
}
