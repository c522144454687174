/* SPDX-License-Identifier: MIT
 * Sets of keys; rounds: batches at the same time, then their results in order. */
#include "tools/explain/fuzz/fuzz.h"

#include <string.h>
#include <time.h>

#include "tools/cmd/terminal/oom.h"
#include "isa/base/within.h"
#include "tools/run/record.h"
#include "tools/run/work_queue.h"

#define BATCHES     16u /* of a round */
#define BATCH_CASES 128u

static size_t slot_of(const struct key_map *map, uint64_t key)
{
    size_t at = (size_t)rng_mix(key) & (map->slots - 1);
    while (map->slot[at] && map->key[map->slot[at] - 1] != key)
        at = (at + 1) & (map->slots - 1);
    return at;
}

static void grow_slots(struct key_map *map)
{
    free(map->slot);
    map->slots = map->slots ? 2 * map->slots : 1024;
    map->slot = tool_alloc(map->slots, sizeof(*map->slot));
    for (size_t i = 0; i < map->count; i++)
        map->slot[slot_of(map, map->key[i])] = (uint32_t)i + 1;
}

bool key_map_has(const struct key_map *map, uint64_t key)
{
    return map->count && map->slot[slot_of(map, key)];
}

bool key_map_add(struct key_map *map, uint64_t key)
{
    if (2 * map->count >= map->slots)
        grow_slots(map);
    size_t at = slot_of(map, key);
    if (map->slot[at])
        return false;
    TOOL_ROOM(map->key, map->count);
    map->key[map->count++] = key;
    map->slot[at] = (uint32_t)map->count;
    return true;
}

void key_map_deinit(struct key_map *map)
{
    free(map->key);
    free(map->slot);
    *map = (struct key_map){0};
}

double fuzz_now(void)
{
    struct timespec time = {0, 0};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

bool fuzz_over(const struct fuzz *fuzz)
{
    return (fuzz->interrupted && *fuzz->interrupted) ||
           (fuzz->until > 0 && fuzz_now() > fuzz->until);
}

/* Cases begin behind the boot, which ran once, too. a5xx: it depends on the case. */
static struct cps_err *count_boot(struct fuzz *fuzz, const struct cps_fw *fw)
{
    struct record_boot boot = {0};
    struct cps_run_config side;
    play_side(&fuzz->opt->run, fuzz->sides, 0, &side);
    const struct record_setup setup = {.config = &side, .cover = true};
    const char *const paths[2] = {side.fw[0], side.fw_count > 1 ? side.fw[1] : NULL};
    struct cps_err *err = record_boot(&setup, paths, &boot);
    for (uint32_t i = 0; !err && i < boot.record.cover_count && i <= fw->count; i++) {
        fuzz->cover[i].run += boot.record.cover[i].run;
        fuzz->cover[i].taken += boot.record.cover[i].taken;
    }
    record_boot_deinit(&boot);
    return err;
}

struct cps_err *fuzz_open(struct fuzz *fuzz)
{
    fuzz->run = tool_alloc(fuzz->jobs, sizeof(*fuzz->run));
    for (unsigned i = 0; i < fuzz->jobs; i++) {
        fuzz->run[i].limit = fuzz->limit;
        fuzz->run[i].oracles = fuzz->oracles;
        CPS_TRY(run_open(&fuzz->run[i], &fuzz->opt->run, fuzz->sides, &fuzz->protection));
    }
    const struct cps_fw *fw = fuzz->run[0].side[0].play->fw;
    grammar_init(&fuzz->grammar, fw, &fuzz->protection, &fuzz->learned);
    fuzz->cover = tool_alloc((size_t)fw->count + 1, sizeof(*fuzz->cover));
    return count_boot(fuzz, fw);
}

void fuzz_close(struct fuzz *fuzz)
{
    for (unsigned i = 0; fuzz->run && i < fuzz->jobs; i++)
        run_close(&fuzz->run[i]);
    free(fuzz->run);
    free(fuzz->cover);
    corpus_deinit(&fuzz->corpus);
    findings_deinit(&fuzz->findings);
    key_map_deinit(&fuzz->edges);
}

/* A case that somebody has run: it runs once more, alone. It is kept for edges that are new now. */
static struct cps_err *take_case(struct fuzz *fuzz, const struct fuzz_case *input)
{
    struct run *run = &fuzz->run[0];
    struct suspect suspect[RUN_SUSPECTS];
    size_t before = fuzz->edges.count;
    run_case(run, input);
    unsigned suspects = run->suspects;
    bool refused = run->side[0].stop == CPS_STOP_BAD_PACKET;
    memcpy(suspect, run->suspect, sizeof(suspect));
    coverage_add(fuzz, &run->side[0]);
    for (unsigned s = 0; s < run->sides; s++) {
        for (uint32_t i = 0; i < run->side[s].log.count; i++)
            key_map_add(&fuzz->edges, batch_edge(&run->side[s].log.edge[i], s));
    }
    fuzz->stats.edges = fuzz->edges.count;
    if (fuzz->edges.count > before)
        CPS_TRY(corpus_keep(fuzz, input, refused));
    for (unsigned i = 0; i < suspects; i++)
        CPS_TRY(findings_look(fuzz, input, &suspect[i]));
    return NULL;
}

/* What another case of the round has brought is no news any more. */
static bool is_news(const struct fuzz *fuzz, const struct batch *batch, size_t first,
                    const struct candidate *c)
{
    bool news = false;
    for (size_t i = first; i < first + c->keys && !news; i++)
        news = !key_map_has(&fuzz->edges, batch->keys.key[i]);
    for (unsigned i = 0; i < c->suspects && !news; i++)
        news = findings_wants(&fuzz->findings, &c->suspect[i]);
    return news;
}

static struct cps_err *join_batch(struct fuzz *fuzz, struct batch *batch)
{
    struct fuzz_case input;
    size_t first = 0;
    learn_join(&fuzz->learned, &batch->learned);
    fuzz->stats.executed += batch->executed;
    for (unsigned i = 0; i < 8; i++)
        fuzz->stats.ends[i] += batch->ends[i];
    for (size_t i = 0; i < batch->count; i++) {
        const struct candidate *c = &batch->list[i];
        if (is_news(fuzz, batch, first, c)) {
            corpus_unpack(&c->input, &input);
            CPS_TRY(take_case(fuzz, &input));
        }
        first += c->keys;
    }
    return NULL;
}

struct round {
    struct fuzz *fuzz;
    struct batch batch[BATCHES];
};

static void run_item(void *context, unsigned thread, size_t item)
{
    struct round *round = context;
    batch_run(&round->batch[item], &round->fuzz->run[thread]);
}

static struct cps_err *one_round(struct fuzz *fuzz)
{
    struct round *round = tool_alloc(1, sizeof(*round));
    struct cps_err *err = NULL;
    uint64_t left = fuzz->most ? fuzz->most - fuzz->stats.executed : UINT64_MAX;
    for (unsigned i = 0; i < BATCHES; i++) {
        struct batch *batch = &round->batch[i];
        batch->fuzz = fuzz;
        batch->number = fuzz->stats.rounds * BATCHES + i;
        batch->cases = left < BATCH_CASES ? left : BATCH_CASES;
        left -= batch->cases;
    }
    round->fuzz = fuzz;
    share_work(fuzz->jobs, BATCHES, run_item, round);
    for (unsigned i = 0; i < BATCHES; i++) {
        if (!err)
            err = join_batch(fuzz, &round->batch[i]);
        batch_deinit(&round->batch[i]);
    }
    free(round);
    fuzz->stats.rounds++;
    return err;
}

static struct cps_err *take_read(struct fuzz *fuzz, const struct fuzz_case *input)
{
    fuzz->stats.executed++;
    fuzz->run[0].learned = &fuzz->learned;
    struct cps_err *err = take_case(fuzz, input);
    fuzz->run[0].learned = NULL;
    return err;
}

struct cps_err *fuzz_run(struct fuzz *fuzz)
{
    bool merge = fuzz->opt->merge;
    for (unsigned i = 0; i < fuzz->opt->arg_count; i++) {
        uint64_t before = fuzz->stats.executed;
        CPS_TRY(corpus_read(fuzz, fuzz->opt->arg[i], take_read));
        if (merge && fuzz->stats.executed == before && !*fuzz->interrupted)
            return cps_err_new(
                CPS_ERR_INPUT,
                "%s: holds no case, expected PM4 text (*.pm4), perhaps in corpus/ or "
                "findings/",
                fuzz->opt->arg[i]);
    }
    while (!merge && !fuzz_over(fuzz) && (!fuzz->most || fuzz->stats.executed < fuzz->most)) {
        CPS_TRY(one_round(fuzz));
        if (fuzz->progress)
            fuzz->progress(fuzz);
    }
    return NULL;
}
