/* SPDX-License-Identifier: MIT
 * What is literally known of afuc's registers, and machines that try it: the control registers of
 * facts/control.h by name, in every layout, and rows of accesses with all that must come of them.
 */
#ifndef TESTS_AFUC_FACTS_H
#define TESTS_AFUC_FACTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/lib/regprog.h"

enum {
    A5XX = 1 << CPS_LAYOUT_A5XX_PFP,
    ME = 1 << CPS_LAYOUT_A5XX_ME,
    A6XX = 1 << CPS_LAYOUT_A6XX,
    A660 = 1 << CPS_LAYOUT_A660,
    A7XX = 1 << CPS_LAYOUT_A7XX,
    GEN3 = 1 << CPS_LAYOUT_A7XX_GEN3,
    A8XX = 1 << CPS_LAYOUT_A8XX,
    BOTH = A6XX | A660,
    LATE = A660 | A7XX | GEN3 | A8XX,
    A67G = BOTH | A7XX | GEN3,
    SEVEN = A7XX | GEN3 | A8XX,
    SQES = BOTH | SEVEN,
    ALL = A5XX | ME | SQES,
};

enum { NUMBERS = 0x1000, NONE = 0xffff };

static const struct fact {
    const char *name;
    uint16_t number[5]; /* PFP, ME, a6xx, a7xx, a750 */
    uint16_t count;
    unsigned only;
    uint32_t reset;
    bool keeps;
} facts[] = {
#define CONTROL(name, pfp, me, a6xx, a7xx, gen3, count, only, reset, keeps) \
    {#name, {pfp, me, a6xx, a7xx, gen3}, count, only, reset, keeps},
#include "tests/facts/control.h"
};
enum { FACTS = sizeof(facts) / sizeof(facts[0]) };

static const char *const heads[] = {
    [CPS_LAYOUT_A6XX] = "[016ee001]\n[01000000]\n",
    [CPS_LAYOUT_A660] = "[016dc001]\n[01000000]\n",
    [CPS_LAYOUT_A7XX] = HEAD_A7XX,
    [CPS_LAYOUT_A7XX_GEN3] = "[01520001]\n[01000000]\n",
    [CPS_LAYOUT_A8XX] = "[01500001]\n[01000000]\n",
};

static inline uint32_t number_of(const struct fact *fact, enum cps_layout layout)
{
    static const uint8_t columns[] = {
        [CPS_LAYOUT_A5XX_PFP] = 0, [CPS_LAYOUT_A5XX_ME] = 1, [CPS_LAYOUT_A6XX] = 2,
        [CPS_LAYOUT_A660] = 2,     [CPS_LAYOUT_A7XX] = 3,    [CPS_LAYOUT_A7XX_GEN3] = 4,
        [CPS_LAYOUT_A8XX] = 4};
    return fact->only >> layout & 1 ? fact->number[columns[layout]] : NONE;
}

static inline uint32_t number_named(enum cps_layout layout, const char *name, size_t length)
{
    for (size_t i = 0; i < FACTS; i++) {
        if (strlen(facts[i].name) == length && !memcmp(facts[i].name, name, length) &&
            number_of(&facts[i], layout) != NONE)
            return number_of(&facts[i], layout);
    }
    fail_msg("layout %d has no %.*s", layout, (int)length, name);
    return 0;
}

/* The row that has a number. */
static inline const struct fact *fact_at(enum cps_layout layout, uint32_t number)
{
    for (size_t i = 0; i < FACTS; i++) {
        uint32_t first = number_of(&facts[i], layout);
        if (first != NONE && number >= first && number < first + facts[i].count)
            return &facts[i];
    }
    return NULL;
}

static const uint32_t ring[] = {0x70108000, 0x51, 0x52};

/* A machine with memory 0xa0, 0xa1, ... from 0x1000 on; at 0x1100 a draw-state group of two dwords
 * in all modes, group 3. @p me  code of the ME, or of the PFP where @p layout is the ME's */
static inline struct bench *create(enum cps_layout layout, const char *code, const char *other)
{
    struct bench *b;
    if (layout == CPS_LAYOUT_A5XX_PFP)
        b = bench_a5xx(code, other);
    else if (layout == CPS_LAYOUT_A5XX_ME)
        b = bench_a5xx(other, code);
    else
        b = bench_afuc(layout, heads[layout], code, 0, 0);
    b->notes = ANY_NOTES;
    for (uint32_t i = 0; i < 64; i++)
        machine_set(b->engine, CPS_FILE_MEMORY, 0x1000 + 4 * i, 0xa0 + i);
    static const uint32_t group[] = {0x03700002, 0x1000, 0};
    for (uint32_t i = 0; i < 3; i++)
        machine_set(b->engine, CPS_FILE_MEMORY, 0x1100 + 4 * i, group[i]);
    return b;
}

static inline unsigned core_of(enum cps_layout layout)
{
    return layout == CPS_LAYOUT_A5XX_ME;
}

static const char *const names[] = {
    [CPS_LAYOUT_A5XX_PFP] = "a5xx PFP", [CPS_LAYOUT_A5XX_ME] = "a5xx ME",
    [CPS_LAYOUT_A6XX] = "a6xx",         [CPS_LAYOUT_A660] = "a660",
    [CPS_LAYOUT_A7XX] = "a7xx",         [CPS_LAYOUT_A7XX_GEN3] = "a750",
    [CPS_LAYOUT_A8XX] = "a8xx"};

struct effect {
    unsigned layouts;
    const char *does; /* "^": in the preemption routine; "$N": with N words in the ring; behind "/"
                         what the ME does */
    const char *result; /* without numbers of layouts: "@NAME" */
};

static inline struct bench *create_routine(enum cps_layout layout, const char *routine)
{
    CPS_BUF code = {0};
    cps_buf_printf(&code,
                   "mov $02, #routine\nswrite $02, [$00 + 0x004]\njump "
                   "#end\nnop\nroutine:\n%siret\nnop\nend:\n",
                   routine);
    struct bench *b = create(layout, cps_buf_text(&code), "");
    assert_true(cps_afuc_inject(cps_afuc_of(b->engine), CPS_INJECT_PREEMPT, 0, 0));
    return b;
}

static inline struct bench *create_effect(const struct effect *effect, enum cps_layout layout)
{
    const char *does = effect->does;
    does += *does == '$' ? 2 : strchr("^%#", *does) ? 1 : 0;
    const char *me = strchr(does, '/');
    CPS_BUF own = {0};
    cps_buf_add(&own, does, me ? (size_t)(me - does) : strlen(does));
    if (layout != CPS_LAYOUT_A5XX_ME)
        cps_buf_str(&own, " IB_LEVEL=0"); /* what is left of a stream is no packet */
    CPS_BUF code = regprog_code(layout, number_named, cps_buf_text(&own));
    if (*effect->does == '^')
        return create_routine(layout, cps_buf_text(&code));
    CPS_BUF other = regprog_code(CPS_LAYOUT_A5XX_ME, number_named, me ? me + 1 : "");
    return create(layout, cps_buf_text(&code), cps_buf_text(&other));
}

/* Ways of execution: each instruction is watched; nobody watches; and each is counted. */
enum { WATCHED, QUICK, COUNTED, WAYS };

static inline enum cps_stop run_effect(const struct effect *effect, struct bench *b, unsigned way)
{
    static struct cps_cover counts[0x1000];
    char mode = *effect->does;
    uint32_t unwatched = ~(1u << CPS_EV_STEP | 1u << CPS_EV_STEPX | 1u << CPS_EV_CTRL);
    b->engine->policy.prefetch = mode == '%';
    b->engine->policy.visibility = mode == '#' ? CPS_VISIBILITY_NONE : CPS_VISIBILITY_ALL;
    cps_engine_sink(b->engine, &b->sink, way == WATCHED ? ALL_EVENTS : unwatched);
    for (unsigned i = 0; i < b->engine->cores && way == COUNTED; i++)
        cps_engine_cover(b->engine, i, counts, sizeof(counts) / sizeof(counts[0]));
    machine_ring(b->engine, ring, mode == '$' ? (unsigned)(effect->does[1] - '0') : mode == '^');
    return cps_engine_run(b->engine, 100000);
}

static inline bool has_effect(const struct effect *effect, enum cps_layout layout, unsigned way)
{
    static const char *const stops[] = {[CPS_STOP_IDLE] = "",
                                        [CPS_STOP_BUDGET] = ", stop: never",
                                        [CPS_STOP_DEADLOCK] = ", stop: deadlock",
                                        [CPS_STOP_FAULT] = ", stop: fault",
                                        [CPS_STOP_BAD_PACKET] = ", stop: packet refused",
                                        [CPS_STOP_NOMEM] = ", stop: memory"};
    const char *me = strchr(effect->does, '/');
    struct bench *b = create_effect(effect, layout);
    enum cps_stop stop = run_effect(effect, b, way);
    CPS_BUF found = {0};
    unsigned reads = regprog_reads(effect->does);
    if (me) {
        regprog_result(b, 0, reads - regprog_reads(me), SIZE_MAX, &found);
        cps_buf_str(&found, " / ");
    }
    regprog_result(b, me ? 1 : core_of(layout), me ? regprog_reads(me) : reads, 0, &found);
    cps_buf_str(&found, *effect->does == '^' ? "" : stops[stop]);
    CPS_BUF expected = regprog_expected(layout, number_named, effect->result);
    bool same = !strcmp(cps_buf_text(&found), cps_buf_text(&expected));
    if (!same)
        print_error("%s, way %u: %s\n  gives    %s\n  expected %s\n", names[layout], way,
                    effect->does, cps_buf_text(&found), cps_buf_text(&expected));
    bench_free(b);
    return same;
}

/* Runs every row in every layout that it is of, in every way; says which differ. @return how many
 */
static inline unsigned effects_wrong(const struct effect *effects, size_t count)
{
    unsigned wrong = 0;
    for (size_t i = 0; i < count; i++) {
        for (enum cps_layout layout = CPS_LAYOUT_A5XX_PFP; layout <= CPS_LAYOUT_A8XX; layout++) {
            for (unsigned way = 0; way < WAYS && effects[i].layouts >> layout & 1; way++)
                wrong += !has_effect(&effects[i], layout, way);
        }
    }
    return wrong;
}

#endif
