/* SPDX-License-Identifier: MIT
 * What diff takes for the same event: the alignment of two sequences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "trace/event/align.h"

enum { REACH = 192, MOST = 4096 };

struct pairing {
    uint64_t a[MOST], b[MOST];
    size_t a_next, b_next, pairs;
};

static uint64_t key_a(const void *context, size_t i)
{
    const struct pairing *p = context;
    assert_true(i < MOST);
    return p->a[i];
}

static uint64_t key_b(const void *context, size_t k)
{
    const struct pairing *p = context;
    assert_true(k < MOST);
    return p->b[k];
}

static void take(void *context, size_t i, size_t k)
{
    struct pairing *p = context;
    assert_true(i != ALIGN_NONE || k != ALIGN_NONE);
    if (i != ALIGN_NONE)
        assert_true(i == p->a_next++);
    if (k != ALIGN_NONE)
        assert_true(k == p->b_next++);
    if (i == ALIGN_NONE || k == ALIGN_NONE)
        return;
    assert_true(p->a[i] == p->b[k]);
    p->pairs++;
}

/* Every element is given once and in order, and partners are equal; @return how many pairs. */
static size_t paired(struct pairing *p, size_t a_count, size_t b_count)
{
    struct align align = {.key_a = key_a,
                          .key_b = key_b,
                          .a_count = a_count,
                          .b_count = b_count,
                          .match = take,
                          .context = p};
    p->a_next = p->b_next = p->pairs = 0;
    align_run_(&align);
    assert_true(p->a_next == a_count && p->b_next == b_count);
    return p->pairs;
}

/* The second has so many elements more in front of what both have. */
static size_t behind(struct pairing *p, size_t more, size_t common)
{
    for (size_t i = 0; i < common; i++)
        p->a[i] = p->b[more + i] = 1 + i;
    for (size_t i = 0; i < more; i++)
        p->b[i] = 1000000 + i;
    return paired(p, common, more + common);
}

/* The same with the sides changed. */
static size_t ahead(struct pairing *p, size_t more, size_t common)
{
    for (size_t i = 0; i < common; i++)
        p->b[i] = p->a[more + i] = 1 + i;
    for (size_t i = 0; i < more; i++)
        p->a[i] = 1000000 + i;
    return paired(p, more + common, common);
}

static void what_one_side_has_more_is_left_out_within_the_reach(void **state)
{
    (void)state;
    static struct pairing p;
    static const size_t more[] = {0, 1, 2, 95, 96, 97, REACH - 1, REACH};
    for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++) {
        assert_int_equal(behind(&p, more[i], 1000), 1000);
        assert_int_equal(ahead(&p, more[i], 1000), 1000);
    }
}

/* Both sides give up as many, so that the distance stays beyond reach to the end. */
static void beyond_the_reach_nothing_is_found(void **state)
{
    (void)state;
    static struct pairing p;
    assert_int_equal(behind(&p, REACH + 1, 1000), 0);
    assert_int_equal(ahead(&p, REACH + 1, 1000), 0);
}

/* Half of the reach is given up on each side, and no more: behind that both are found again. */
static void after_a_stretch_with_nothing_in_common_both_go_on(void **state)
{
    (void)state;
    static struct pairing p;
    for (size_t stretch = REACH / 2; stretch <= 4 * REACH; stretch += 7) {
        for (size_t i = 0; i < stretch + 100; i++) {
            p.a[i] = i < stretch ? 1000000 + i : 1 + i;
            p.b[i] = i < stretch ? 2000000 + i : 1 + i;
        }
        assert_int_equal(paired(&p, stretch + 100, stretch + 100), 100);
    }
}

/* Fewer than four equal elements are an accident, but at both ends. */
static void fewer_than_four_in_a_row_are_no_place_to_go_on(void **state)
{
    (void)state;
    static struct pairing p;
    for (size_t run = 1; run <= 6; run++) {
        /* a: x RUN y; b: z z RUN w; nothing else is equal */
        size_t a = 0, b = 0;
        p.a[a++] = 100;
        p.b[b++] = 200;
        p.b[b++] = 201;
        for (size_t i = 0; i < run; i++)
            p.a[a++] = p.b[b++] = 1 + i;
        size_t a_at_end = a, b_at_end = b;
        assert_int_equal(paired(&p, a_at_end, b_at_end), run);
        p.a[a++] = 300;
        p.b[b++] = 400;
        assert_int_equal(paired(&p, a, b), run >= 4 ? run : 0);
    }
}

static void random_lists_are_given_whole(void **state)
{
    (void)state;
    static struct pairing p;
    uint32_t rng = 1;
    for (unsigned round = 0; round < 500; round++) {
        size_t a = (rng = rng * 1664525u + 1013904223u) >> 22, b = (rng = rng * 1664525u + 1) >> 22;
        for (size_t i = 0; i < 1024; i++) {
            p.a[i] = (rng = rng * 1664525u + 1013904223u) >> 28;
            p.b[i] = (rng = rng * 1664525u + 1013904223u) >> 28;
        }
        paired(&p, a, b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_one_side_has_more_is_left_out_within_the_reach),
        cmocka_unit_test(beyond_the_reach_nothing_is_found),
        cmocka_unit_test(after_a_stretch_with_nothing_in_common_both_go_on),
        cmocka_unit_test(fewer_than_four_in_a_row_are_no_place_to_go_on),
        cmocka_unit_test(random_lists_are_given_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
