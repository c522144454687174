/* SPDX-License-Identifier: MIT
 * Random bundles of all four units of VP1, on the engine and on the naive model: behind each, all
 * registers and the data store are the same, and so are the exit that a branch leads to and the
 * clash that is reported. Usage: vp1_random [BUNDLES [SEED]] */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/lib/vp1_bench.h"
#include "emu/nv/vp1/vp1.h"
#include "tests/model/vp1_model.h"

#define REFILL  64u /* bundles after which registers get new values */
#define BNOP    0xefffffffu
#define EXIT    0xff000000u
#define NOWHERE UINT32_MAX

enum { A, S, V, B };

/* An engine beside its model. */
struct pair {
    struct bench *b;
    struct vp1 *s;
    struct vp1_model *m;
    uint32_t noted; /* where the last clash was reported; once more there says nothing */
};

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

/* ---- state ---- */

static void refill_vectors(struct vp1_regs *to, struct vp1_model_regs *m)
{
    for (unsigned i = 0; i < 32 * 16; i++)
        m->v[i / 16][i % 16] = to->v[i / 16][i % 16] = (uint8_t)random_value();
    for (unsigned i = 0; i < 16; i++) {
        m->vx[i] = to->vx[i] = (uint8_t)random_value();
        m->va[i] = to->va[i] = (int32_t)(random_value() << 4) >> 4;
    }
    for (unsigned i = 0; i < 4; i++)
        m->vc[i] = to->vc[i] = random_value();
}

static void refill(struct pair *p)
{
    struct vp1_regs *to = &p->s->now;
    struct vp1_model_regs *m = &p->m->is;
    for (unsigned i = 0; i < 31; i++)
        m->a[i] = to->a[i] = random_value();
    for (unsigned i = 0; i < 32; i++)
        m->r[i] = to->r[i] = random_value();
    for (unsigned i = 0; i < 64; i++)
        m->x[i] = to->x[i] = random_value();
    for (unsigned i = 0; i < 4; i++) {
        m->l[i] = to->l[i] = (uint16_t)random_value();
        m->c[i] = to->c[i] =
            (uint16_t)(0x8000 | (next_random() & (p->m->is_g80 ? 0x27ff : 0x273f)));
    }
    m->sr[80] = p->s->sr[80] = next_random() & 0x111; /* bit 0: ties are rounded down */
    refill_vectors(to, m);
    for (unsigned i = 0; i < 16 * 512; i++)
        p->m->ds[i / 512][i % 512] = p->s->ds[i / 512][i % 512] = (uint8_t)next_random();
}

static bool same_words(const uint32_t *a, const uint32_t *b, size_t count)
{
    return !memcmp(a, b, count * sizeof(*a));
}

/* The first file that differs, or NULL. */
static const char *difference(const struct vp1 *s, const struct vp1_model *model)
{
    static const uint8_t sr[] = {3, 4, 38, 50, 64, 75, 76, 77, 78, 79, 80};
    const struct vp1_regs *r = &s->now;
    const struct vp1_model_regs *m = &model->is;
    for (unsigned i = 0; i < sizeof(sr); i++)
        if (s->sr[sr[i]] != m->sr[sr[i]])
            return "$sr";
    for (unsigned i = 0; i < 4; i++)
        if (r->c[i] != m->c[i] || r->l[i] != m->l[i])
            return r->c[i] != m->c[i] ? "$c" : "$l";
    for (unsigned i = 0; i < 16; i++)
        if (((uint32_t)r->va[i] ^ (uint32_t)m->va[i]) & 0xfffffff)
            return "$va";
    if (memcmp(r->v, m->v, sizeof(m->v)) || memcmp(r->vx, m->vx, sizeof(m->vx)))
        return memcmp(r->v, m->v, sizeof(m->v)) ? "$v" : "$vx";
    if (!same_words(r->a, m->a, 32))
        return "$a";
    if (!same_words(r->r, m->r, 32))
        return "$r";
    if (!same_words(r->x, m->x, 64) || !same_words(r->d, m->d, 8) || !same_words(r->y, m->y, 16))
        return "$x, $d or $y";
    if (!same_words(r->vc, m->vc, 4))
        return "$vc";
    return memcmp(s->ds, model->ds, sizeof(model->ds)) ? "data store" : NULL;
}

/* ---- words ---- */

/* What ends or stops a program, what reads what the model has not (the clock, words of the bundle,
 * program counter and state), and files whose order against a load nobody has shown. */
static bool is_scalar_out(const struct pair *p, uint32_t word)
{
    uint32_t file = word >> 3 & 31;
    uint32_t to = word >> 19 & 31;
    uint32_t from = word >> 14 & 31;
    if (word >> 24 != 0x6a && word >> 24 != 0x6b)
        return false;
    if (file >= 4 && file < 8 && !p->m->is_g80)
        return true;
    if (word >> 24 == 0x6a)
        return (file == 8 && (to == 9 || to == 30)) || (file == 10 && (to == 8 || to == 9));
    return (file == 8 && from == 30) || (file == 10 && from >= 4 && from <= 9);
}

static bool is_order_open(const uint32_t words[4])
{
    uint32_t file = words[S] >> 3 & 31;
    bool loads = (words[A] >> 24 & 7) == 2 && (words[A] & 0xff000000) != 0xca000000;
    return words[S] >> 24 == 0x6b && loads && ((words[S] ^ words[A]) >> 19 & 31) == 0 &&
           ((file >= 8 && file <= 10) || file == 0x16 || file == 0x17);
}

static bool is_address_out(uint32_t word)
{
    uint32_t op = word >> 24;
    return op == 0xc3 || op == 0xc7 || op == 0xce || op == 0xcf || op == 0xdb;
}

/* Few registers, so that units meet in them. */
static uint32_t crowded(uint32_t word)
{
    return next_random() % 2 ? word & ~UINT32_C(0x00e73800) : word;
}

/* What the path between the units serves comes up more often than its share of opcodes. */
static void random_words(const struct pair *p, bool runs, uint32_t words[4])
{
    static const uint8_t sends[] = {0x04, 0x05, 0x0f, 0x24, 0x45, 0x01, 0x12, 0x4c};
    do {
        do
            words[A] = crowded(0xc0000000 | (next_random() & 0x1fffffff));
        while (is_address_out(words[A]));
        do
            words[S] = crowded(next_random() & 0x7fffffff);
        while (is_scalar_out(p, words[S]));
        words[V] = crowded(0x80000000 | (next_random() & 0x3fffffff));
        if (next_random() % 4 == 0) {
            words[S] = (words[S] & 0xffffff) | (uint32_t)sends[next_random() % 8] << 24;
            words[V] &= 0xb7ffffff;
        }
    } while (is_order_open(words));
    uint32_t kind = next_random() % 8;
    words[B] = crowded(next_random() & 0xffffff);
    if (runs && kind < 5)
        words[B] |= 0xe0000000 | (next_random() % 8) << 24;
    else if (runs && kind == 5)
        words[B] |= 0xea000000;
    else
        words[B] |= kind == 6 ? 0xf0000000 : 0xef000000;
}

/* ---- one bundle ---- */

static const char *clash(struct pair *p, uint32_t pc, int expected)
{
    const struct cps_event *event = bench_unknown(p->b, CPS_UNKNOWN_VP1_CLASH);
    bool must = expected && pc != p->noted;
    p->b->count = 0;
    if (!event)
        return must ? "a clash that is not reported" : NULL;
    p->noted = pc;
    return expected >> event->value & 1 ? NULL : "a clash that is none";
}

/* The host injects it. */
static const char *inject(struct pair *p, const uint32_t words[4])
{
    for (unsigned i = 0; i < 4; i++)
        p->s->sr[18 + i] = words[i];
    cps_bus_load(p->b->bus, 0xf458, 1);
    if (nv_loop_(bench_nv(p->b), 1) == CPS_STOP_FAULT)
        return "a stop";
    return clash(p, 0, vp1_model_bundle(p->m, words, 0).clashes);
}

static void poke(struct pair *p, uint32_t pc, uint32_t word)
{
    cps_bus_poke(p->b->bus, CPS_MEMORY_PROGRAM, 4 * pc, word);
}

/* As a program at @p pc: a delay slot, and an exit behind it and at the target. */
static const char *run(struct pair *p, const uint32_t words[4], uint32_t pc)
{
    struct vp1_model_end end = vp1_model_bundle(p->m, words, pc);
    for (uint32_t i = 0; i < 4; i++)
        poke(p, pc + i, words[i]);
    if (end.branches)
        poke(p, end.target, EXIT | 2);
    poke(p, pc + 4, BNOP);
    poke(p, pc + 5, EXIT | 1);
    if (end.calls)
        p->m->is.sr[64] = pc + 5;
    cps_bus_load(p->b->bus, 0xfc94, 0xc0000000);
    p->s->pc = pc;
    if (nv_loop_(bench_nv(p->b), 8) == CPS_STOP_FAULT)
        return "a stop";
    if (p->s->sr[9] != (end.branches && end.target != pc + 4 ? 2u : 1u))
        return "where the branch leads";
    return clash(p, pc, end.clashes);
}

static const char *step(struct pair *p, uint64_t n, uint32_t words[4])
{
    bool runs = n % 2;
    uint32_t pc = 16 + 8 * (uint32_t)(n / 2 % 4096);
    random_words(p, runs, words);
    /* A branch onto itself ends nowhere. */
    if (words[B] >> 24 < 0xe8 && (words[B] >> 9 & 0x7fff) == 0)
        words[B] = BNOP;
    if (words[B] >> 24 == 0xea && (words[B] & 0xffff) == pc / 4)
        words[B] = BNOP;
    const char *wrong = runs ? run(p, words, pc) : inject(p, words);
    return wrong ? wrong : difference(p->s, p->m);
}

/* ---- one chip ---- */

static bool compare(unsigned number, const char *name, enum cps_gen gen, const char *policy,
                    uint64_t count)
{
    struct pair p = {bench_new(gen, policy), NULL, calloc(1, sizeof(*p.m)), NOWHERE};
    const char *wrong = NULL;
    if (!p.m)
        abort();
    p.s = bench_nv(p.b)->state;
    p.m->is_g80 = gen == CPS_VP1_G80;
    p.m->mov_clears = policy != NULL;
    cps_bus_load(p.b->bus, 0xf474, 0x111);
    cps_bus_load(p.b->bus, 0xfc90, 1);
    cps_engine_sink(p.b->engine, &p.b->sink, UINT32_C(1) << CPS_EV_ASSUME);
    for (uint64_t n = 0; n < count && !wrong; n++) {
        uint32_t words[4];
        if (n % REFILL == 0)
            refill(&p);
        wrong = step(&p, n, words);
        if (wrong)
            printf("# bundle %" PRIu64 ": %08" PRIx32 " %08" PRIx32 " %08" PRIx32 " %08" PRIx32
                   ": %s\n",
                   n, words[A], words[S], words[V], words[B], wrong);
    }
    printf("%s %u - %s: %" PRIu64 " bundles on the engine as on the model\n",
           wrong ? "not ok" : "ok", number, name, count);
    free(p.m);
    bench_free(p.b);
    return !wrong;
}

int main(int argc, char **argv)
{
    uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 0) : 1000000;
    seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    printf("1..3\n");
    bool good = compare(1, "G80", CPS_VP1_G80, NULL, count / 2);
    good &= compare(2, "G80, mov clears flags", CPS_VP1_G80, "mov-flags=clear", count / 4);
    good &= compare(3, "NV44", CPS_VP1_NV44, NULL, count / 4);
    return good ? 0 : 1;
}
