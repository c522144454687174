/* SPDX-License-Identifier: MIT
 * A batch of cases, one after the other: what is new in them goes into a list. */
#include "tools/explain/fuzz/fuzz.h"

#include "isa/base/list.h"
#include "isa/base/within.h"

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

/* Keys that neither the round nor the batch has seen. */
static size_t add_keys(struct batch *batch, const struct run *run)
{
    size_t before = batch->keys.count;
    for (unsigned s = 0; s < run->sides; s++) {
        const struct cps_edge_log *log = &run->side[s].log;
        for (uint32_t i = 0; i < log->count; i++) {
            uint64_t key = batch_edge(&log->edge[i], s);
            if (!key_map_has(&batch->fuzz->edges, key))
                key_map_add(&batch->keys, key);
        }
    }
    return batch->keys.count - before;
}

static struct cps_err *take(struct batch *batch, const struct run *run,
                            const struct fuzz_case *input)
{
    struct candidate candidate = {.keys = add_keys(batch, run)};
    for (unsigned i = 0; i < run->suspects; i++) {
        if (findings_wants(&batch->fuzz->findings, &run->suspect[i]))
            candidate.suspect[candidate.suspects++] = run->suspect[i];
    }
    if (batch->keys.failed)
        return cps_err_nomem();
    if (!candidate.keys && !candidate.suspects)
        return NULL;
    if (!CPS_LIST_ROOM(batch->list, batch->count))
        return cps_err_nomem();
    CPS_TRY(corpus_pack(input, &candidate.input));
    batch->list[batch->count++] = candidate;
    return NULL;
}

/* Newer cases are more likely: they are further in. What ends with a packet that is refused leads
 * nowhere if more is added. */
static const struct corpus_case *choose(const struct corpus *corpus, struct rng *rng)
{
    size_t count = corpus->count;
    size_t some = rng_chance(rng, 50) && count > 8 ? count / 4 : count;
    const struct corpus_case *chosen = NULL;
    for (unsigned i = 0; !chosen || (i < CHOICES && chosen->refused); i++)
        chosen = &corpus->list[count - 1 - rng_below(rng, some)];
    return chosen;
}

static void make(const struct fuzz *fuzz, struct rng *rng, struct fuzz_case *other,
                 struct fuzz_case *ret)
{
    if (!fuzz->corpus.count || rng_chance(rng, FRESH)) {
        grammar_case(&fuzz->grammar, rng, ret);
        return;
    }
    corpus_unpack(choose(&fuzz->corpus, rng), ret);
    corpus_unpack(choose(&fuzz->corpus, rng), other);
    mutate(&fuzz->grammar, rng, other, ret);
}

void batch_run(struct batch *batch, struct run *run)
{
    const struct fuzz *fuzz = batch->fuzz;
    struct rng rng = {rng_mix(fuzz->seed) + rng_mix(~batch->number)};
    struct fuzz_case input;
    struct fuzz_case other;
    run->learned = &batch->learned;
    for (uint64_t i = 0; i < batch->cases && !batch->err; i++) {
        if (i % 64 == 0 && fuzz_over(fuzz))
            break;
        make(fuzz, &rng, &other, &input);
        batch->err = run_case(run, &input);
        if (!batch->err)
            batch->err = take(batch, run, &input);
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
    cps_err_free(batch->err);
}
