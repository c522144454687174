/* SPDX-License-Identifier: MIT
 * Random bundles on VP1's scalar unit, on the engine and on the model: all registers are the same
 * behind each. Usage: vp1_random [BUNDLES [SEED]] */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/vp1_bench.h"
#include "emu/nv/vp1/vp1.h"
#include "tests/model/vp1_model.h"

#define REFILL 256u /* bundles after which registers get new values */

static uint64_t seed;

/* splitmix64 */
static uint32_t next_random(void)
{
    uint64_t z = seed += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return (uint32_t)(z >> 32);
}

/* Small, large, or anything: edges come up often. */
static uint32_t random_value(void)
{
    static const uint32_t edges[] = {0,          1,          0xffffffff, 0x80000000, 0x7fffffff,
                                     0x000fffff, 0x00100000, 0x80ff7f01, 0xffffffe0, 0x20};
    uint32_t kind = next_random() % 4;
    if (kind == 0)
        return edges[next_random() % (sizeof(edges) / sizeof(edges[0]))];
    return kind == 1 ? next_random() >> next_random() % 32 : next_random();
}

static void refill(struct vp1 *s, struct vp1_model *m)
{
    for (unsigned i = 0; i < 31; i++)
        m->a[i] = s->now.a[i] = random_value();
    for (unsigned i = 0; i < 32; i++)
        m->r[i] = s->now.r[i] = random_value();
    for (unsigned i = 0; i < 64; i++)
        m->x[i] = s->now.x[i] = random_value();
    for (unsigned i = 0; i < 4; i++)
        m->l[i] = s->now.l[i] = (uint16_t)next_random();
}

/* Leaves out what ends, stops, or reads what the model has not: the clock, words of the bundle,
 * program counter and state. */
static bool is_out(uint32_t word)
{
    uint32_t file = word >> 3 & 31;
    uint32_t to = word >> 19 & 31;
    uint32_t from = word >> 14 & 31;
    if (word >> 24 == 0x6a)
        return (file == 8 && (to == 9 || to == 30)) || (file == 10 && (to == 8 || to == 9));
    return word >> 24 == 0x6b &&
           ((file == 8 && from == 30) || (file == 10 && from >= 4 && from <= 9));
}

static bool same_words(const uint32_t *a, const uint32_t *b, size_t count)
{
    return !memcmp(a, b, count * sizeof(*a));
}

static bool same(const struct vp1 *s, const struct vp1_model *m)
{
    static const uint8_t sr[] = {3, 4, 50, 75, 76, 77, 78, 79, 80};
    bool good = same_words(s->now.a, m->a, 32) && same_words(s->now.r, m->r, 32) &&
                same_words(s->now.x, m->x, 64) && same_words(s->now.d, m->d, 8) &&
                same_words(s->now.y, m->y, 16);
    for (unsigned i = 0; i < 4; i++)
        good = good && s->now.c[i] == m->c[i] && s->now.l[i] == m->l[i];
    for (unsigned i = 0; i < sizeof(sr); i++)
        good = good && s->sr[sr[i]] == m->sr[sr[i]];
    for (unsigned i = 0; i < 128; i++) {
        const uint8_t *v = s->now.v[i / 4] + i % 4 * 4;
        uint32_t word =
            (uint32_t)v[0] | (uint32_t)v[1] << 8 | (uint32_t)v[2] << 16 | (uint32_t)v[3] << 24;
        good = good && word == m->v[i / 4][i % 4];
    }
    return good;
}

/* One bundle; the other units have their nops, with any operands. */
static bool step(struct bench *b, struct vp1_model *m, uint32_t word)
{
    struct vp1 *s = bench_nv(b)->state;
    s->sr[18] = 0xdf000000 | (next_random() >> 8);
    s->sr[19] = word;
    s->sr[20] = 0xbf000000 | (next_random() >> 8);
    s->sr[21] = 0xef000000 | (next_random() >> 8);
    cps_bus_load(b->bus, 0xf458, 1);
    if (nv_loop_(bench_nv(b), 1) == CPS_STOP_FAULT)
        return false;
    vp1_model_scalar(m, word);
    return same(s, m);
}

int main(int argc, char **argv)
{
    uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 0) : 300000;
    struct bench *b = bench_new(CPS_VP1_G80, NULL);
    struct vp1_model *m = calloc(1, sizeof(*m));
    if (!m)
        abort();
    cps_engine_sink(b->engine, NULL, 0);
    seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    for (unsigned i = 0; i < 4; i++)
        m->c[i] = 0x8000;
    printf("1..1\n");
    for (uint64_t n = 0; n < count; n++) {
        uint32_t word = next_random() & 0x7fffffff;
        if (n % REFILL == 0)
            refill(bench_nv(b)->state, m);
        if (is_out(word) || step(b, m, word))
            continue;
        printf("# bundle %" PRIu64 ": %08" PRIx32 " differs\nnot ok 1 - model\n", n, word);
        return 1;
    }
    printf("ok 1 - %" PRIu64 " bundles on the engine as on the model\n", count);
    free(m);
    bench_free(b);
    return 0;
}
