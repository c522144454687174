/* SPDX-License-Identifier: MIT
 * The rows of isa/afuc.def as terms, against the same rows as the compiler takes them: each ALU
 * operation and each condition, over random words and those at the edges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "emu/afuc/core/act.h"
#include "tools/explain/prove/smt.h"

struct words {
    uint32_t a, b, d, carry;
};

/* Every row as a function. */
#define OP(id, text, kind, flow, act, ...) FUNCTION_##kind(id, __VA_ARGS__)
#define FUNCTION_OWN(id, meaning)
#define FUNCTION_ALU(id, ...)                                           \
    static uint32_t run_##id(struct words *w)                           \
    {                                                                   \
        uint32_t a = w->a, b = w->b, d = w->d, carry = w->carry, value; \
        uint64_t t = 0;                                                 \
        (void)a, (void)b, (void)d, (void)t;                             \
        value = (__VA_ARGS__);                                          \
        w->carry = carry;                                               \
        return value;                                                   \
    }
#define FUNCTION_IF(id, ...)                  \
    static uint32_t run_##id(struct words *w) \
    {                                         \
        uint32_t a = w->a, b = w->b;          \
        (void)a, (void)b;                     \
        return (__VA_ARGS__) ? 1 : 0;         \
    }
#include "isa/afuc.def"

struct row {
    const char *name, *text;
    uint32_t (*run)(struct words *w);
    bool condition;
    unsigned code;
};

static const struct row rows[] = {
#define OP(id, text, kind, flow, act, ...) ROW_##kind(id, #__VA_ARGS__)
#define ROW_OWN(id, text)
#define ROW_ALU(id, text) {#id, text, run_##id, false, UOP_##id##_ANY},
#define ROW_IF(id, text)  {#id, text, run_##id, true, UOP_##id},
#include "isa/afuc.def"
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]), TRIES = 200 };

static uint32_t rng = 7;

static uint32_t next(void)
{
    static const uint32_t edges[] = {0, 1, 31, 32, 33, 0x7fffffff, 0x80000000, 0xffffffff};
    rng = rng * 1664525u + 1013904223u;
    uint32_t pick = rng >> 28;
    return pick < 8 ? edges[pick] : rng ^ rng >> 15;
}

static uint32_t known(const struct smt *smt, Z3_ast term)
{
    uint32_t value = 0;
    assert_true(smt_known(smt, term, &value));
    return value;
}

static void check(const struct smt *smt, const struct row *row, struct words w)
{
    struct meaning m = {smt_word(smt, w.a), smt_word(smt, w.b), smt_word(smt, w.d),
                        smt_word(smt, w.carry)};
    Z3_ast got = NULL;
    bool taken = false;
    if (row->condition) {
        assert_true(meaning_condition(smt, row->text, &m, &got));
        assert_true(smt_decided(smt, got, &taken));
        assert_int_equal(taken, row->run(&w));
        return;
    }
    assert_true(meaning_value(smt, row->text, &m, &got));
    uint32_t value = row->run(&w);
    if (known(smt, got) != value || known(smt, m.carry) != w.carry)
        fail_msg("%s of 0x%x and 0x%x", row->name, w.a, w.b);
}

static void test_every_row_means_what_the_interpreter_does(void **state)
{
    struct smt smt;
    (void)state;
    smt_init(&smt, 100000);
    for (unsigned i = 0; i < ROWS; i++) {
        for (unsigned k = 0; k < TRIES; k++) {
            struct words w = {next(), next(), next(), next()};
            if (rows[i].condition) /* as branches have them: 5 bits */
                w.b &= 31;
            check(&smt, &rows[i], w);
        }
    }
    smt_deinit(&smt);
}

/* Other values in what a row does not read change nothing, and it leaves what it does not write. */
static void test_a_row_reads_and_writes_what_its_act_says(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ROWS; i++) {
        const struct afuc_row *act = afuc_row_(rows[i].code);
        for (unsigned k = 0; k < TRIES; k++) {
            struct words w = {next(), next(), next(), next()};
            if (act->act == ACT_CONDITION)
                w.b &= 31; /* of those with a bit's number; the encoding has no other */
            struct words same = w;
            struct words other = {w.a, w.b, act->reads & AFUC_DST ? w.d : next(),
                                  act->reads & AFUC_CARRY ? w.carry : next()};
            uint32_t before = other.carry;
            uint32_t carry = w.carry;
            uint32_t value = rows[i].run(&same);
            assert_int_equal(value, rows[i].run(&other));
            assert_int_equal(other.carry, act->writes & AFUC_CARRY ? same.carry : before);
            assert_int_equal(value, afuc_evaluate_(rows[i].code, w.a, w.b, w.d, &carry));
            assert_int_equal(carry, same.carry);
        }
    }
}

static void test_a_row_that_is_not_understood_is_refused(void **state)
{
    static const char *const wrong[] = {"a +", "a ** b", "(a", "a)", "x", "memory[a]", ""};
    struct smt smt;
    (void)state;
    smt_init(&smt, 100000);
    for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct meaning m = {smt_word(&smt, 1), smt_word(&smt, 2), smt_word(&smt, 3),
                            smt_word(&smt, 0)};
        Z3_ast got = NULL;
        assert_false(meaning_value(&smt, wrong[i], &m, &got));
    }
    smt_deinit(&smt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_row_means_what_the_interpreter_does),
        cmocka_unit_test(test_a_row_reads_and_writes_what_its_act_says),
        cmocka_unit_test(test_a_row_that_is_not_understood_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
