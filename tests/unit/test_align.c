/* SPDX-License-Identifier: MIT
 * Alignment of two lists, against a naive longest common subsequence on random lists. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fw/image/pairs.h"

enum { MOST = 120 };

static uint32_t rng = 1;

static uint32_t next(uint32_t below)
{
    rng = rng * 1664525u + 1013904223u;
    return (rng >> 8) % below;
}

static unsigned naive(const uint64_t *a, uint32_t a_count, const uint64_t *b, uint32_t b_count)
{
    static unsigned length[MOST + 1][MOST + 1];
    memset(length, 0, sizeof(length));
    for (uint32_t i = 1; i <= a_count; i++) {
        for (uint32_t k = 1; k <= b_count; k++) {
            unsigned best =
                length[i - 1][k] > length[i][k - 1] ? length[i - 1][k] : length[i][k - 1];
            length[i][k] = a[i - 1] == b[k - 1] ? length[i - 1][k - 1] + 1 : best;
        }
    }
    return length[a_count][b_count];
}

/* Partners are equal words, in order; @return how many there are. */
static unsigned check(const uint64_t *a, uint32_t a_count, const uint64_t *b, uint32_t b_count)
{
    uint32_t partner[MOST];
    uint32_t last = CPS_FW_ALONE;
    unsigned count = 0;
    assert_null(cps_align_(a, a_count, b, b_count, partner));
    for (uint32_t i = 0; i < a_count; i++) {
        if (partner[i] == CPS_FW_ALONE)
            continue;
        assert_true(partner[i] < b_count && a[i] == b[partner[i]]);
        assert_true(last == CPS_FW_ALONE || partner[i] > last);
        last = partner[i];
        count++;
    }
    return count;
}

static void equal_words_are_partners_in_order(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 2000; round++) {
        uint64_t a[MOST], b[MOST];
        uint32_t a_count = next(MOST), b_count = next(MOST);
        uint32_t words = 1 + next(200);
        for (uint32_t i = 0; i < a_count; i++)
            a[i] = next(words);
        for (uint32_t i = 0; i < b_count; i++)
            b[i] = next(words);
        assert_true(check(a, a_count, b, b_count) <= naive(a, a_count, b, b_count));
    }
}

/* What people read: a list and the same with a few changes. Nearly no partner is lost to the
 * anchors. */
static void few_changes_lose_no_partner(void **state)
{
    unsigned found = 0;
    unsigned best = 0;
    (void)state;
    for (unsigned round = 0; round < 2000; round++) {
        uint64_t a[MOST], b[MOST];
        uint32_t a_count = 40 + next(60), b_count = 0;
        for (uint32_t i = 0; i < a_count; i++)
            a[i] = next(30);
        for (uint32_t i = 0; i < a_count; i++) {
            uint32_t what = next(40);
            if (what == 0 && b_count + 2 < MOST)
                b[b_count++] = 100 + next(30);
            if (what != 1 && b_count + 1 < MOST)
                b[b_count++] = what == 2 ? 200 + next(30) : a[i];
        }
        found += check(a, a_count, b, b_count);
        best += naive(a, a_count, b, b_count);
    }
    assert_true(found <= best && found * 1000ull >= best * 995ull);
}

/* Where no run of words is there just once, the longest common subsequence is found: lists of three
 * words that begin and end with different ones, so that no end is taken off. */
static void repeated_words_are_aligned_best(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 20000; round++) {
        uint64_t a[MOST], b[MOST];
        uint32_t a_count = 4 + next(6), b_count = 4 + next(6);
        unsigned seen[2][4] = {{0}, {0}};
        for (uint32_t i = 0; i < a_count; i++)
            seen[0][a[i] = next(4)]++;
        for (uint32_t i = 0; i < b_count; i++)
            seen[1][b[i] = next(4)]++;
        bool repeated = a[0] != b[0] && a[a_count - 1] != b[b_count - 1];
        for (unsigned word = 0; word < 4; word++)
            repeated = repeated && seen[0][word] != 1 && seen[1][word] != 1;
        for (uint32_t i = 0; repeated && i + 3 <= a_count; i++) {
            for (uint32_t k = 0; k + 3 <= b_count; k++)
                repeated = repeated && memcmp(a + i, b + k, 3 * sizeof(*a)) != 0;
        }
        if (repeated)
            assert_int_equal(check(a, a_count, b, b_count), naive(a, a_count, b, b_count));
    }
}

/* A word that is there once joins lists that are too long to be aligned otherwise, wherever it
 * stands in them and whatever it is. */
static void a_word_that_is_there_once_is_found(void **state)
{
    enum { LONG = 5000 };
    static uint64_t a[LONG], b[LONG];
    static uint32_t partner[LONG];
    static const uint32_t places[][2] = {{2500, LONG - 1}, {LONG - 1, 2500}, {2500, 0},
                                         {0, 2500},        {1, LONG - 2},    {LONG - 2, 1}};
    (void)state;
    for (uint64_t row = 0; row < 5 * sizeof(places) / sizeof(places[0]); row++) {
        const uint32_t *at = places[row / 5];
        for (uint32_t i = 0; i < LONG; i++) {
            a[i] = 100 + row % 5;
            b[i] = 200 + row % 5;
        }
        a[at[0]] = b[at[1]] = 7 + 61 * row;
        assert_null(cps_align_(a, LONG, b, LONG, partner));
        for (uint32_t i = 0; i < LONG; i++)
            assert_int_equal(partner[i], i == at[0] ? at[1] : CPS_FW_ALONE);
    }
}

static void nothing_and_everything(void **state)
{
    uint64_t a[MOST], b[MOST];
    (void)state;
    for (uint32_t i = 0; i < MOST; i++) {
        a[i] = i;
        b[i] = i + 1000;
    }
    assert_int_equal(check(a, MOST, a, MOST), MOST);
    assert_int_equal(check(a, MOST, b, MOST), 0);
    assert_int_equal(check(a, 0, b, MOST), 0);
    assert_int_equal(check(a, MOST, b, 0), 0);
    for (uint32_t i = 0; i < MOST; i++)
        a[i] = b[i] = 7;
    assert_int_equal(check(a, MOST, b, MOST / 2), MOST / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_words_are_partners_in_order),
        cmocka_unit_test(few_changes_lose_no_partner),
        cmocka_unit_test(repeated_words_are_aligned_best),
        cmocka_unit_test(a_word_that_is_there_once_is_found),
        cmocka_unit_test(nothing_and_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
