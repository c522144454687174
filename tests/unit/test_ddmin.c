/* SPDX-License-Identifier: MIT
 * Delta debugging on predicates without any emulation: what stays is 1-minimal, the same questions
 * come in the same order, and how many there are is bounded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tools/explain/reduce/reduce.h"

#define MOST 2048

/* A job holds if `holds` says so of what is in. */
struct predicate {
    struct ddmin_test test;
    size_t count;
    bool (*holds)(const struct predicate *p, const bool *out);
    size_t need[8], needs;
    size_t asked, fail_at;
    uint64_t order; /* digest of the questions */
};

static bool has_all(const struct predicate *p, const bool *out)
{
    for (size_t i = 0; i < p->needs; i++) {
        if (out[p->need[i]])
            return false;
    }
    return true;
}

/* Either of two, as where the same thing stands twice. */
static bool has_one(const struct predicate *p, const bool *out)
{
    return !out[p->need[0]] || !out[p->need[1]];
}

/* Each needs the one before it. */
static bool has_prefix(const struct predicate *p, const bool *out)
{
    for (size_t i = 1; i < p->count; i++) {
        if (!out[i] && out[i - 1])
            return false;
    }
    return !out[p->need[0]];
}

/* An odd number of them: halves never hold. */
static bool is_odd(const struct predicate *p, const bool *out)
{
    size_t in = 0;
    for (size_t i = 0; i < p->count; i++)
        in += !out[i];
    return in % 2;
}

static struct cps_err *ask(struct ddmin_test *test, const bool *out, bool *ret)
{
    struct predicate *p = (struct predicate *)test;
    if (++p->asked == p->fail_at)
        return cps_err_new(CPS_ERR_INPUT, "told to fail");
    *ret = p->holds(p, out);
    for (size_t i = 0; i < p->count; i++)
        p->order = (p->order ^ out[i]) * UINT64_C(0x100000001b3);
    return NULL;
}

static struct predicate make(size_t count, bool (*holds)(const struct predicate *, const bool *))
{
    return (struct predicate){.test = {ask}, .count = count, .holds = holds};
}

static size_t run(struct predicate *p, bool *out)
{
    size_t in = 0;
    assert_null(ddmin(&p->test, p->count, out));
    assert_true(p->holds(p, out));
    for (size_t i = 0; i < p->count; i++)
        in += !out[i];
    for (size_t i = 0; i < p->count; i++) { /* 1-minimal */
        if (out[i])
            continue;
        out[i] = true;
        assert_false(p->holds(p, out));
        out[i] = false;
    }
    return in;
}

static void what_is_needed_stays(void **state)
{
    static const size_t sets[][4] = {{0}, {999}, {3, 4, 5, 6}, {0, 250, 500, 999}};
    bool out[MOST];
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct predicate p = make(1000, has_all);
        p.needs = i < 2 ? 1 : 4;
        memcpy(p.need, sets[i], sizeof(sets[i]));
        assert_int_equal(run(&p, out), p.needs);
        assert_in_range(p.asked, 1, i < 2 ? 40 : 150);
    }
}

static void nothing_is_needed(void **state)
{
    bool out[MOST];
    struct predicate p = make(1000, has_all);
    (void)state;
    assert_int_equal(run(&p, out), 0);
    assert_int_equal(p.asked, 1);
}

static void one_of_two_stays(void **state)
{
    bool out[MOST];
    struct predicate p = make(64, has_one);
    (void)state;
    p.need[0] = 10;
    p.need[1] = 50;
    assert_int_equal(run(&p, out), 1);
}

static void chains_and_parities(void **state)
{
    bool out[MOST];
    struct predicate chain = make(100, has_prefix);
    struct predicate odd = make(33, is_odd);
    (void)state;
    chain.need[0] = 40;
    assert_int_equal(run(&chain, out), 41);
    assert_int_equal(run(&odd, out), 1);
}

static void all_sizes(void **state)
{
    bool out[MOST];
    (void)state;
    assert_null(ddmin(NULL, 0, out));
    for (size_t count = 1; count < 40; count++) {
        for (size_t need = 0; need < count; need++) {
            struct predicate p = make(count, has_all);
            p.needs = 2;
            p.need[0] = need;
            p.need[1] = count - 1 - need;
            assert_int_equal(run(&p, out), p.need[0] == p.need[1] ? 1 : 2);
        }
    }
}

static void questions_are_the_same_each_time(void **state)
{
    bool out[MOST];
    struct predicate a = make(500, has_all);
    (void)state;
    a.needs = 3;
    a.need[1] = 77;
    a.need[2] = 400;
    struct predicate b = a;
    run(&a, out);
    run(&b, out);
    assert_int_equal(a.asked, b.asked);
    assert_int_equal(a.order, b.order);
}

static void errors_come_back(void **state)
{
    bool out[MOST];
    (void)state;
    for (size_t at = 1; at < 10; at++) {
        struct predicate p = make(500, has_all);
        p.needs = 1;
        p.need[0] = 123;
        p.fail_at = at;
        struct cps_err *err = ddmin(&p.test, p.count, out);
        assert_non_null(err);
        assert_string_equal(err->message, "told to fail");
        assert_int_equal(p.asked, at);
        assert_false(out[123]);
        cps_err_free(err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_needed_stays),
        cmocka_unit_test(nothing_is_needed),
        cmocka_unit_test(one_of_two_stays),
        cmocka_unit_test(chains_and_parities),
        cmocka_unit_test(all_sizes),
        cmocka_unit_test(questions_are_the_same_each_time),
        cmocka_unit_test(errors_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
