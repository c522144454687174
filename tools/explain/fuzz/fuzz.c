/* SPDX-License-Identifier: MIT
 * Rounds: batches at the same time, then their results in order. Coverage out of logs of branches:
 * what lies between where one led and where the next is ran, and the delay slot after it; counts
 * tell how many different edges led there. */
#include "tools/explain/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "isa/base/within.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/explain/reduce/reduce.h"
#include "tools/run/work_queue.h"

#define BATCHES     16u /* of a round */
#define BATCH_CASES 128u

/* In so many of 100 cases the grammar makes one; else one that is kept is changed. */
#define FRESH 15

#define CHOICES 3u /* until one that is rejected is taken */

/* ---- Sets of keys ---- */

static size_t slot_of(const struct key_map *map, uint64_t key)
{
    size_t at = (size_t)rng_mix(key) & (map->slots - 1);
    while (map->slot[at] && map->key[map->slot[at] - 1] != key)
        at = (at + 1) & (map->slots - 1);
    return at;
}

bool key_map_has(const struct key_map *map, uint64_t key)
{
    return map->count && map->slot[slot_of(map, key)];
}

bool key_map_add(struct key_map *map, uint64_t key)
{
    if (2 * map->count >= map->slots) {
        free(map->slot);
        map->slots = map->slots ? 2 * map->slots : 1024;
        map->slot = tool_alloc(map->slots, sizeof(*map->slot));
        for (size_t i = 0; i < map->count; i++)
            map->slot[slot_of(map, map->key[i])] = (uint32_t)i + 1;
    }
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

static bool should_stop(const struct fuzz *fuzz)
{
    return *fuzz->interrupted || (fuzz->until > 0 && reduce_clock() > fuzz->until);
}

/* ---- Batches ---- */

struct candidate {
    struct corpus_case input;
    size_t keys; /* new ones, after those of the candidate before */
    struct suspect suspect[RUN_SUSPECTS];
    unsigned suspects;
};

struct batch {
    uint64_t number;
    uint64_t cases; /* to run */
    struct candidate *list;
    size_t count;
    struct key_map keys; /* new ones */
    struct learned learned;
    uint64_t executed;
    uint64_t ends[8];
};

struct round {
    struct fuzz *fuzz;
    struct batch batch[BATCHES];
};

uint64_t batch_edge(const struct cps_edge *e, unsigned side)
{
    uint64_t way = (uint64_t)e->from << 44 ^ (uint64_t)e->branch << 22 ^ e->to;
    uint64_t where = (uint64_t)e->packet << 24 | (uint64_t)e->privilege << 16 |
                     (uint64_t)e->level << 8 | (uint64_t)e->core << 4 | side;
    return rng_mix(way) + where * UINT64_C(0x9e3779b97f4a7c15);
}

static void add_candidate(const struct fuzz *fuzz, struct batch *batch, const struct run *run,
                          const struct fuzz_case *input)
{
    size_t before = batch->keys.count;
    struct candidate candidate = {.suspects = 0};
    for (unsigned s = 0; s < run->sides; s++) {
        const struct cps_edge_log *log = &run->side[s].log;
        for (uint32_t i = 0; i < log->count; i++) {
            uint64_t key = batch_edge(&log->edge[i], s);
            if (!key_map_has(&fuzz->edges, key))
                key_map_add(&batch->keys, key);
        }
    }
    candidate.keys = batch->keys.count - before;
    for (unsigned i = 0; i < run->suspects; i++) {
        if (findings_wants(&fuzz->findings, &run->suspect[i]))
            candidate.suspect[candidate.suspects++] = run->suspect[i];
    }
    if (!candidate.keys && !candidate.suspects)
        return;
    TOOL_ROOM(batch->list, batch->count);
    corpus_pack(input, &candidate.input);
    batch->list[batch->count++] = candidate;
}

/* Newer cases are more likely: they are further in. A case that ends with a rejected
 * packet leads nowhere if more is added. */
static const struct corpus_case *choose_case(const struct corpus *corpus, struct rng *rng)
{
    size_t count = corpus->count;
    size_t some = rng_chance(rng, 50) && count > 8 ? count / 4 : count;
    const struct corpus_case *chosen = NULL;
    for (unsigned i = 0; !chosen || (i < CHOICES && chosen->refused); i++)
        chosen = &corpus->list[count - 1 - rng_below(rng, some)];
    return chosen;
}

static void make_input(const struct fuzz *fuzz, struct rng *rng, struct fuzz_case *other,
                       struct fuzz_case *ret)
{
    if (!fuzz->corpus.count || rng_chance(rng, FRESH)) {
        grammar_case(&fuzz->grammar, rng, ret);
        return;
    }
    corpus_unpack(choose_case(&fuzz->corpus, rng), ret);
    corpus_unpack(choose_case(&fuzz->corpus, rng), other);
    mutate(&fuzz->grammar, rng, other, ret);
}

static void run_batch(void *context, unsigned thread, size_t item)
{
    struct round *round = context;
    const struct fuzz *fuzz = round->fuzz;
    struct batch *batch = &round->batch[item];
    struct run *run = &fuzz->run[thread];
    struct rng rng = {rng_mix(fuzz->seed) + rng_mix(~batch->number)};
    struct fuzz_case input;
    struct fuzz_case other;
    run->learned = &batch->learned;
    for (uint64_t i = 0; i < batch->cases; i++) {
        if (*fuzz->interrupted || (i % 64 == 0 && should_stop(fuzz)))
            break;
        make_input(fuzz, &rng, &other, &input);
        run_case(run, &input);
        add_candidate(fuzz, batch, run, &input);
        batch->ends[cps_stop_reason(run->side[0].stop)]++;
        batch->executed++;
    }
    run->learned = NULL;
}

/* ---- Results ---- */

/* Cases begin after the boot, which ran once, too. a5xx: it depends on the case. */
static struct cps_err *count_boot(struct fuzz *fuzz, const struct cps_fw *fw)
{
    struct record_boot boot = {0};
    struct cps_run_config side;
    play_side(&fuzz->config, fuzz->sides, 0, &side);
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
        fuzz->run[i].interrupted = fuzz->interrupted;
        CPS_TRY(run_open(&fuzz->run[i], &fuzz->config, fuzz->sides, &fuzz->protection));
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

/* Notes the code between the branches of the first side's log. */
static void add_coverage(struct fuzz *fuzz, const struct run_side *side)
{
    const struct cps_fw *fw = side->play->fw;
    for (uint32_t i = 0; i < side->log.count; i++) {
        const struct cps_edge *edge = &side->log.edge[i];
        bool me = side->engine->who[edge->core] == CPS_CPU_ME; /* of another file */
        uint32_t start = run_image_start(side, edge->core);
        uint32_t from = start + (edge->from <= edge->branch ? edge->from : edge->branch);
        uint32_t branch = start + edge->branch;
        if (me || branch + 1 >= fw->count || key_map_has(&fuzz->edges, batch_edge(edge, 0)))
            continue;
        for (uint32_t at = from; at <= branch + 1; at++)
            fuzz->cover[at].run++;
        fuzz->cover[branch].taken++;
    }
}

/* A case that has run before: it runs once more, alone. It is kept for edges that are new now. */
static struct cps_err *take_case(struct fuzz *fuzz, const struct fuzz_case *input)
{
    struct run *run = &fuzz->run[0];
    struct suspect suspect[RUN_SUSPECTS];
    size_t before = fuzz->edges.count;
    run_case(run, input);
    unsigned suspects = run->suspects;
    bool refused = run->side[0].stop == CPS_STOP_BAD_PACKET;
    memcpy(suspect, run->suspect, sizeof(suspect));
    add_coverage(fuzz, &run->side[0]);
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

/* Edges of another case of the round are no longer new. */
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
    for (size_t i = 0; i < batch->count && !*fuzz->interrupted; i++) {
        const struct candidate *c = &batch->list[i];
        if (is_news(fuzz, batch, first, c)) {
            corpus_unpack(&c->input, &input);
            CPS_TRY(take_case(fuzz, &input));
        }
        first += c->keys;
    }
    return NULL;
}

static struct cps_err *one_round(struct fuzz *fuzz)
{
    struct round *round = tool_alloc(1, sizeof(*round));
    struct cps_err *err = NULL;
    uint64_t left = fuzz->most ? fuzz->most - fuzz->stats.executed : UINT64_MAX;
    for (unsigned i = 0; i < BATCHES; i++) {
        struct batch *batch = &round->batch[i];
        batch->number = fuzz->stats.rounds * BATCHES + i;
        batch->cases = left < BATCH_CASES ? left : BATCH_CASES;
        left -= batch->cases;
    }
    round->fuzz = fuzz;
    share_work(fuzz->jobs, BATCHES, run_batch, round);
    for (unsigned i = 0; i < BATCHES; i++) {
        struct batch *batch = &round->batch[i];
        err = err ? err : join_batch(fuzz, batch);
        for (size_t k = 0; k < batch->count; k++)
            free(batch->list[k].input.word);
        free(batch->list);
        key_map_deinit(&batch->keys);
    }
    free(round);
    fuzz->stats.rounds++;
    return err;
}

static struct cps_err *take_read(void *context, const struct fuzz_case *input)
{
    struct fuzz *fuzz = context;
    fuzz->stats.executed++;
    fuzz->run[0].learned = &fuzz->learned;
    struct cps_err *err = take_case(fuzz, input);
    fuzz->run[0].learned = NULL;
    return err;
}

struct cps_err *fuzz_run(struct fuzz *fuzz)
{
    for (unsigned i = 0; i < fuzz->seed_paths; i++) {
        uint64_t before = fuzz->stats.executed;
        CPS_TRY(corpus_read(fuzz->seed_path[i], fuzz->config.rnn, fuzz->interrupted,
                            &fuzz->stats.seeds, take_read, fuzz));
        if (fuzz->merge && fuzz->stats.executed == before && !*fuzz->interrupted)
            return cps_err_new(
                CPS_ERR_INPUT,
                "%s: holds no case, expected PM4 text (*.pm4), perhaps in corpus/ or "
                "findings/",
                fuzz->seed_path[i]);
    }
    while (!fuzz->merge && !should_stop(fuzz) &&
           (!fuzz->most || fuzz->stats.executed < fuzz->most)) {
        CPS_TRY(one_round(fuzz));
        if (fuzz->progress)
            fuzz->progress(fuzz);
    }
    return NULL;
}
