/* SPDX-License-Identifier: MIT
 * Which buffer of a capture an address lies in, against a search through all definitions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace/capture/buffers.h"

static struct cps_buffers *table;

static int setup(void **state)
{
    (void)state;
    table = NULL;
    return cps_buffers_create(&table) != NULL;
}

static int teardown(void **state)
{
    (void)state;
    cps_buffers_destroy(table);
    return 0;
}

static void take(struct cps_item item)
{
    assert_null(cps_buffers_item(table, &item));
}

static void buffer(uint64_t iova, uint64_t size)
{
    take((struct cps_item){.kind = CPS_ITEM_BUFFER, .buffer = {.iova = iova, .size = size}});
}

static void named(uint64_t iova, uint64_t size, const char *name)
{
    take((struct cps_item){
        .kind = CPS_ITEM_BUFFER,
        .buffer = {.iova = iova, .size = size, .name = name, .name_size = strlen(name)}});
}

static void data(uint64_t iova, uint64_t size)
{
    static const uint8_t bytes[4];
    take((struct cps_item){.kind = CPS_ITEM_DATA,
                           .buffer = {.iova = iova, .size = size, .data = bytes}});
}

static void submit(uint64_t iova)
{
    take((struct cps_item){.kind = CPS_ITEM_SUBMIT, .stream = {.iova = iova, .dwords = 1}});
}

static void reset(void)
{
    take((struct cps_item){.kind = CPS_ITEM_RESET});
}

static void seal(void)
{
    assert_null(cps_buffers_seal(table));
}

/* The number of the buffer, or -1. */
static int at(uint32_t submission, uint64_t address)
{
    const struct cps_buffer *found = cps_buffers_at(table, submission, address);
    return found ? (int)found->number : -1;
}

static void expect_text(uint32_t submission, uint64_t address, const char *text)
{
    CPS_BUF out = {0};
    bool said = cps_buffers_put(table, submission, address, &out);
    assert_int_equal(said, *text != '\0');
    assert_string_equal(out.data ? out.data : "", text);
}

static void an_empty_table_says_nothing(void **state)
{
    (void)state;
    seal();
    assert_int_equal(at(0, 0), -1);
    assert_int_equal(at(CPS_BUFFERS_END, UINT64_MAX), -1);
    assert_false(cps_buffers_known(table, 0));
    expect_text(0, 0x1000, "");
    assert_int_equal(cps_buffers_count(NULL), 0);
    assert_null(cps_buffers_at(NULL, 0, 0));
    assert_false(cps_buffers_put(NULL, 0, 0x1000, NULL));
}

static void the_first_and_last_byte_are_in_and_their_neighbours_are_out(void **state)
{
    (void)state;
    buffer(0x3000, 0x10);
    buffer(0x1000, 0x100);
    seal();
    assert_int_equal(at(0, 0xfff), -1);
    assert_int_equal(at(0, 0x1000), 1);
    assert_int_equal(at(0, 0x10ff), 1);
    assert_int_equal(at(0, 0x1100), -1);
    assert_int_equal(at(0, 0x2fff), -1);
    assert_int_equal(at(0, 0x300f), 0);
    assert_int_equal(at(0, 0x3010), -1);
    expect_text(0, 0x1040, " [buf 1 +0x40]");
    expect_text(0, 0x1100, " [no buf]");
    expect_text(0, 0, "");
}

static void addresses_have_64_bits(void **state)
{
    (void)state;
    buffer(0x500000000, 0x200000000);
    buffer(UINT64_MAX - 0xf, 0x10);
    buffer(UINT64_C(1) << 63, 1);
    buffer(UINT64_MAX - 1, 0x1000); /* would wrap */
    seal();
    assert_int_equal(at(0, 0x4ffffffff), -1);
    assert_int_equal(at(0, 0x6ffffffff), 0);
    assert_int_equal(at(0, 0x700000000), -1);
    assert_int_equal(at(0, UINT64_C(1) << 63), 2);
    assert_int_equal(at(0, (UINT64_C(1) << 63) + 1), -1);
    assert_int_equal(at(0, UINT64_MAX - 2), 1);
    assert_int_equal(at(0, UINT64_MAX), 3);
    assert_int_equal(at(0, 0), -1);
}

static void of_overlapping_buffers_the_newest_has_the_address(void **state)
{
    (void)state;
    buffer(0x1000, 0x1000);
    buffer(0x1800, 0x100);
    buffer(0x17f0, 0x20);
    seal();
    assert_int_equal(at(0, 0x17ef), 0);
    assert_int_equal(at(0, 0x1808), 2);
    assert_int_equal(at(0, 0x1810), 1);
    assert_int_equal(at(0, 0x1900), 0);
}

static void a_definition_counts_from_its_submission_to_the_reset(void **state)
{
    (void)state;
    buffer(0x1000, 0x1000);
    submit(0x1000);
    buffer(0x1000, 0x800); /* behind submission 0 */
    submit(0x1000);
    reset();
    buffer(0x4000, 0x10);
    submit(0x4000);
    reset();
    seal();
    assert_int_equal(at(0, 0x1004), 0);
    assert_int_equal(at(1, 0x1004), 1);
    assert_int_equal(at(1, 0x1804), 0);
    assert_int_equal(at(2, 0x1004), -1);
    assert_int_equal(at(2, 0x4004), 0);
    assert_int_equal(at(1, 0x4004), -1);
    assert_false(cps_buffers_known(table, 3));
    assert_false(cps_buffers_known(table, CPS_BUFFERS_END));
    assert_int_equal(cps_buffers_get(table, 1)->from, 1);
    assert_int_equal(cps_buffers_get(table, 1)->until, 2);
    expect_text(2, 0x4004, " [ib1 0 +0x4]");
}

static void resets_without_submissions_leave_the_last_buffers(void **state)
{
    (void)state;
    buffer(0x1000, 0x1000);
    reset();
    reset();
    buffer(0x2000, 0x1000);
    seal();
    assert_int_equal(at(0, 0x1000), -1);
    assert_int_equal(at(0, 0x2000), 0);
    assert_int_equal(at(CPS_BUFFERS_END, 0x2fff), 0);
}

static void contents_make_their_buffer_as_long_as_they_are(void **state)
{
    (void)state;
    buffer(0x1000, 0x10);
    data(0x1000, 0x10);
    data(0x1010, 0x20); /* more than it has */
    data(0x8000, 4);    /* nobody's */
    buffer(0x9000, 0);
    seal();
    assert_int_equal(at(0, 0x102f), 0);
    assert_int_equal(at(0, 0x1030), -1);
    assert_int_equal(at(0, 0x8003), 1);
    assert_int_equal(at(0, 0x9000), -1);
    assert_int_equal(cps_buffers_get(table, 0)->held, 0x30);
    assert_int_equal(cps_buffers_count(table), 2);
}

static void rings_and_names_are_said_and_names_are_escaped(void **state)
{
    (void)state;
    take((struct cps_item){.kind = CPS_ITEM_RING, .ring = {.iova = 0x100000, .size = 0x8000}});
    named(0x200000, 0x40, "a\n\"b");
    named(0x300000, 0x40, "frame");
    submit(0x300010);
    seal();
    expect_text(0, 0x100008, " [ring 0 +0x8]");
    expect_text(0, 0x200000, " [buf 1 \"a\\x0a\"b\" +0x0]");
    expect_text(0, 0x30000c, " [ib1 2 \"frame\" +0xc]");
}

static void a_buffer_that_comes_again_keeps_its_number(void **state)
{
    (void)state;
    buffer(0x1000, 0x1000);
    buffer(0x3000, 0x1000);
    buffer(0x3000, 0x1000);
    buffer(0x1000, 0x800); /* another one: it is shorter */
    buffer(0x1000, 0x1000);
    buffer(0x5000, 0x1000);
    seal();
    assert_int_equal(at(0, 0x3000), 1);
    assert_int_equal(at(0, 0x1000), 0);
    assert_int_equal(at(0, 0x5000), 3);
    assert_int_equal(cps_buffers_get(table, 3)->number, 2);
}

static void more_may_follow_a_seal(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 100; i++) {
        buffer(0x1000 + 0x10 * (uint64_t)i, 0x10);
        seal();
        assert_int_equal(at(0, 0x1000 + 0x10 * (uint64_t)i), i);
        assert_int_equal(at(0, 0x1000), 0);
    }
}

/* ---- the plain way ---- */

static const struct cps_buffer *plain(uint32_t submission, uint64_t address)
{
    const struct cps_buffer *best = NULL;
    for (size_t i = 0; i < cps_buffers_count(table); i++) {
        const struct cps_buffer *b = cps_buffers_get(table, i);
        if (b->from <= submission && submission < b->until && b->iova <= address &&
            address <= b->last)
            best = b;
    }
    return best;
}

static uint32_t random_below(uint32_t *seed, uint32_t limit)
{
    *seed = *seed * 1664525 + 1013904223;
    return (*seed >> 8) % limit;
}

static void it_finds_what_a_search_through_all_finds(void **state)
{
    uint32_t seed = 1;
    uint32_t submissions = 0;
    (void)state;
    for (unsigned i = 0; i < 2000; i++) {
        uint32_t what = random_below(&seed, 16);
        if (!what)
            reset();
        else if (what < 4)
            submit(random_below(&seed, 600)), submissions++;
        else
            buffer(random_below(&seed, 600), random_below(&seed, 40));
    }
    seal();
    for (unsigned i = 0; i < 100000; i++) {
        uint32_t submission = random_below(&seed, submissions);
        uint64_t address = random_below(&seed, 650);
        assert_ptr_equal(cps_buffers_at(table, submission, address), plain(submission, address));
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_empty_table_says_nothing),
        TEST(the_first_and_last_byte_are_in_and_their_neighbours_are_out),
        TEST(addresses_have_64_bits),
        TEST(of_overlapping_buffers_the_newest_has_the_address),
        TEST(a_definition_counts_from_its_submission_to_the_reset),
        TEST(resets_without_submissions_leave_the_last_buffers),
        TEST(contents_make_their_buffer_as_long_as_they_are),
        TEST(rings_and_names_are_said_and_names_are_escaped),
        TEST(a_buffer_that_comes_again_keeps_its_number),
        TEST(more_may_follow_a_seal),
        TEST(it_finds_what_a_search_through_all_finds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
