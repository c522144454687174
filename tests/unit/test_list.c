/* SPDX-License-Identifier: MIT
 * The growing array, and the text that is one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "isa/base/buf.h"
#include "isa/base/list.h"

static void items_stay_while_it_grows(void **state)
{
    uint64_t *list = NULL;
    (void)state;
    for (size_t i = 0; i < 5000; i++) {
        assert_true(CPS_LIST_ROOM(list, i));
        list[i] = ~(uint64_t)i;
    }
    for (size_t i = 0; i < 5000; i++)
        assert_int_equal(list[i], ~(uint64_t)i);
    free(list);
}

/* A checker of memory sees it if the room that a shorter list has were thought larger. */
static void removing_and_adding_stays_within_the_room(void **state)
{
    unsigned char *list = NULL;
    size_t count = 0;
    unsigned random = 1;
    (void)state;
    for (unsigned turn = 0; turn < 20000; turn++) {
        random = random * 1103515245u + 12345u;
        if (random >> 16 & 1 && count) {
            count -= (random >> 17) % (count + 1);
        } else {
            for (unsigned n = random >> 17 & 63; n; n--) {
                assert_true(CPS_LIST_ROOM(list, count));
                list[count++] = (unsigned char)n;
            }
        }
    }
    free(list);
}

static void many_at_once_get_a_power_of_two(void **state)
{
    uint16_t *list = NULL;
    size_t room = 0;
    (void)state;
    assert_true(CPS_LIST_RESERVE(list, room, 0));
    assert_null(list);
    assert_true(CPS_LIST_RESERVE(list, room, 1000));
    assert_int_equal(room, 1024);
    memset(list, 0xff, room * sizeof(*list));
    assert_true(CPS_LIST_ROOM(list, 1024));
    list[1024] = 1;
    free(list);
}

static void what_no_memory_can_hold_is_refused_and_the_list_stays(void **state)
{
    uint64_t *list = NULL;
    size_t room = 0;
    (void)state;
    assert_true(CPS_LIST_RESERVE(list, room, 4));
    uint64_t *before = list;
    list[0] = 7;
    assert_false(CPS_LIST_RESERVE(list, room, SIZE_MAX));
    assert_false(CPS_LIST_RESERVE(list, room, SIZE_MAX / sizeof(*list) + 1));
    assert_ptr_equal(list, before);
    assert_int_equal(list[0], 7);
    assert_int_equal(room, 8);
    free(list);
}

static void a_text_that_cannot_grow_says_so(void **state)
{
    CPS_BUF text = {0};
    (void)state;
    cps_buf_str(&text, "abc");
    assert_false(text.failed);
    cps_buf_add(&text, "x", SIZE_MAX - 1);
    assert_true(text.failed);
    assert_string_equal(cps_buf_text(&text), "abc");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_stay_while_it_grows),
        cmocka_unit_test(removing_and_adding_stays_within_the_room),
        cmocka_unit_test(many_at_once_get_a_power_of_two),
        cmocka_unit_test(what_no_memory_can_hold_is_refused_and_the_list_stays),
        cmocka_unit_test(a_text_that_cannot_grow_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
