/* SPDX-License-Identifier: MIT
 * Jobs whose parts are left out: what changes in their contents, and that all of it comes back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "isa/base/le.h"
#include "isa/base/pm4.h"
#include "tools/explain/reduce/reduce.h"

enum { CP_NOP = 0x10 };

static const uint32_t words[] = {0x70460001, 0x31,   0x40881001, 0x7,       0x70438003,
                                 0x01700005, 0x1000, 0x2,        0xdeadd00d};

static void add_words(struct feed *feed, uint64_t iova, const uint32_t *from, size_t count)
{
    uint8_t bytes[64];
    const struct cps_item item = {.kind = CPS_ITEM_DATA,
                                  .buffer = {.iova = iova, .size = 4 * count, .data = bytes}};
    for (size_t i = 0; i < count; i++)
        cps_put_le32(bytes + 4 * i, from[i]);
    assert_null(feed_add(feed, &item));
}

/* A GPU, contents in two pieces, others at another place, and a submission. */
static void make(struct job *ret)
{
    const struct cps_item chip = {.kind = CPS_ITEM_CHIP};
    const struct cps_item submit = {.kind = CPS_ITEM_SUBMIT,
                                    .stream = {.iova = 0x1000, .dwords = 9}};
    struct feed feed = {0};
    assert_null(feed_add(&feed, &chip));
    add_words(&feed, 0x1000, words, 4);
    add_words(&feed, 0x1010, words + 4, 5);
    add_words(&feed, 0x3000, words, 2);
    assert_null(feed_add(&feed, &submit));
    job_init(ret, &feed);
    assert_int_equal(feed.count, 0);
}

static uint32_t word(const struct job *job, uint32_t at)
{
    return cps_le32(job_bytes(job, 1, at));
}

static void is_whole(const struct job *job)
{
    for (uint32_t i = 0; i < 9; i++)
        assert_int_equal(word(job, i), words[i]);
}

static void pieces_are_joined(void **state)
{
    struct job job;
    (void)state;
    make(&job);
    assert_int_equal(job.count, 4);
    assert_int_equal(job.item[1].buffer.size, 36);
    assert_int_equal(job.item[2].buffer.iova, 0x3000);
    is_whole(&job);
    job_deinit(&job);
}

static void packets_become_nops_of_their_length(void **state)
{
    const struct drop drops[] = {{DROP_PACKET, 1, 0}, {DROP_PACKET, 1, 2}, {DROP_GROUP, 1, 5}};
    struct job job;
    struct job copy;
    (void)state;
    make(&job);
    job_copy(&copy, &job);
    for (size_t i = 0; i < 3; i++)
        job_drop(&copy, &drops[i]);
    assert_int_equal(word(&copy, 0), cps_pm4_type7(CP_NOP, 1));
    assert_int_equal(word(&copy, 1), 0x31);
    assert_int_equal(word(&copy, 2), cps_pm4_type7(CP_NOP, 1));
    assert_int_equal(word(&copy, 4), words[4]);
    assert_int_equal(word(&copy, 5), 0x01020000);
    assert_int_equal(word(&copy, 6), 0);
    assert_int_equal(word(&copy, 7), 0);
    assert_int_equal(word(&copy, 8), words[8]);
    is_whole(&job);
    for (size_t i = 0; i < 3; i++)
        job_restore(&copy, &job, &drops[i]);
    is_whole(&copy);
    job_deinit(&copy);
    job_deinit(&job);
}

static void items_are_passed_over(void **state)
{
    const struct drop drop = {DROP_ITEM, 2, 0};
    struct job job;
    struct job copy;
    (void)state;
    make(&job);
    job_copy(&copy, &job);
    job_drop(&copy, &drop);
    job_view(&copy);
    assert_int_equal(copy.views, 3);
    assert_int_equal(copy.origin[2], 3);
    assert_int_equal(copy.view[2].kind, CPS_ITEM_SUBMIT);
    job_restore(&copy, &job, &drop);
    job_view(&copy);
    assert_int_equal(copy.views, 4);
    job_drop(&copy, &drop);
    job_compact(&copy);
    assert_int_equal(copy.count, 3);
    assert_int_equal(copy.item[2].kind, CPS_ITEM_SUBMIT);
    job_deinit(&copy);
    job_deinit(&job);
}

/* A set has one key, in whatever order it is made; other sets have others. */
static void keys_are_of_sets(void **state)
{
    enum { COUNT = 3000 };
    static struct drop_key keys[COUNT];
    struct drop_key forth = {0, 0};
    struct drop_key back = {0, 0};
    (void)state;
    for (uint32_t i = 0; i < COUNT; i++) {
        const struct drop drop = {(enum drop_kind)(i % 3), i / 3 % 10, i / 30};
        const struct drop other = {(enum drop_kind)((COUNT - 1 - i) % 3), (COUNT - 1 - i) / 3 % 10,
                                   (COUNT - 1 - i) / 30};
        job_key_add(&forth, &drop);
        job_key_add(&back, &other);
        keys[i] = forth;
    }
    assert_int_equal(forth.low, back.low);
    assert_int_equal(forth.high, back.high);
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t k = 0; k < i; k++)
            assert_true(keys[i].low != keys[k].low && keys[i].high != keys[k].high);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_joined),
        cmocka_unit_test(packets_become_nops_of_their_length),
        cmocka_unit_test(items_are_passed_over),
        cmocka_unit_test(keys_are_of_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
