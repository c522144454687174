/* SPDX-License-Identifier: MIT
 * A batch of cases, one after the other: what is new in them goes into a list. Coverage out of logs
 * of branches: what lies between where one led and where the next is ran, and the delay slot after
 * it. Counts say how many different ways led there. */
#include "tools/explain/fuzz/fuzz.h"

#include "tools/cmd/terminal/oom.h"

/* In so many of 100 cases the grammar makes one; else one that is kept is changed. */
#define FRESH 15

#define CHOICES 3u /* until one that is refused is taken */

uint64_t batch_edge(const struct cps_edge *e, unsigned side)
{
    uint64_t way = (uint64_t)e->from << 44 ^ (uint64_t)e->branch << 22 ^ e->to;
    uint64_t where = (uint64_t)e->packet << 24 | (uint64_t)e->privilege << 16 |
                     (uint64_t)e->level << 8 | (uint64_t)e->core << 4 | side;
    return rng_mix(way) + where * UINT64_C(0x9e3779b97f4a7c15);
}

static void take_case(struct batch *batch, const struct run *run, const struct fuzz_case *input)
{
    const struct fuzz *fuzz = batch->fuzz;
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

/* Newer cases are more likely: they are further in. What ends with a packet that is refused leads
 * nowhere if more is added. */
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

void batch_run(struct batch *batch, struct run *run)
{
    const struct fuzz *fuzz = batch->fuzz;
    struct rng rng = {rng_mix(fuzz->seed) + rng_mix(~batch->number)};
    struct fuzz_case input;
    struct fuzz_case other;
    run->learned = &batch->learned;
    for (uint64_t i = 0; i < batch->cases; i++) {
        if (i % 64 == 0 && fuzz_over(fuzz))
            break;
        make_input(fuzz, &rng, &other, &input);
        run_case(run, &input);
        take_case(batch, run, &input);
        batch->ends[cps_stop_reason(run->side[0].stop)]++;
        batch->executed++;
    }
    run->learned = NULL;
}

void batch_deinit(struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        free(batch->list[i].input.word);
    free(batch->list);
    key_map_deinit(&batch->keys);
}

void coverage_add(struct fuzz *fuzz, const struct run_side *side)
{
    const struct cps_fw *fw = fuzz->run[0].side[0].play->fw;
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
