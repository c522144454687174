/* SPDX-License-Identifier: MIT
 * Results of regression runs: shards merge into what one run makes, and what is no result of one is
 * refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/scratch.h"
#include "tools/regress/results.h"
#include "trace/json.h"

static struct cps_err *merge_text(struct json_object *to, const char *text)
{
    char path[64];
    struct cps_err *err = results_merge(to, scratch_file(path, text));
    remove(path);
    return err;
}

#define PAIR(fw, capture, status) \
    "{\"firmware\":\"" fw "\",\"capture\":\"" capture "\",\"status\":\"" status "\"}"
#define RESULTS(names, pairs, places, coverage, more)                                           \
    "{\"cpscope-results\":1,\"firmware\":[" names "],\"pairs\":[" pairs "],\"places\":{" places \
    "},\"code\":{},\"coverage\":{" coverage "}" more "}"

static void pairs_are_counted_by_status_and_another_one_is_none_of_them(void **state)
{
    struct json_object *r = results_create();
    (void)state;
    assert_null(merge_text(
        r,
        RESULTS("\"a\"",
                PAIR("a", "1", "pass") "," PAIR("a", "2", "differs") "," PAIR(
                    "a", "3", "stopped") "," PAIR("a", "4",
                                                  "skipped") "," PAIR("a", "5",
                                                                      "exploded") "," PAIR("a", "6",
                                                                                           "pass"),
                "", "", "")));
    assert_int_equal(results_count(r, RESULT_PASS), 2);
    assert_int_equal(results_count(r, RESULT_DIFFERS), 1);
    assert_int_equal(results_count(r, RESULT_STOPPED), 1);
    assert_int_equal(results_count(r, RESULT_SKIPPED), 1);
    json_object_put(r);
}

static void two_shards_merge_into_the_same_whatever_their_order(void **state)
{
    static const char *const shards[2] = {
        RESULTS("\"a\",\"b\"", PAIR("b", "2", "pass") "," PAIR("a", "1", "pass"),
                "\"p2\":{\"x\":1}", "\"a\":[{\"handler\":\"h\",\"digits\":\"1080\"}]",
                ",\"shard\":\"1/2\""),
        RESULTS("\"a\",\"b\"", PAIR("a", "2", "pass") "," PAIR("a", "1", "pass"),
                "\"p1\":{\"x\":2},\"p2\":{\"x\":1}",
                "\"a\":[{\"handler\":\"h\",\"digits\":\"0281\"}]", ",\"shard\":\"2/2\""),
    };
    struct cps_buf text[2] = {{0}, {0}};
    (void)state;
    for (unsigned order = 0; order < 2; order++) {
        struct json_object *r = results_create();
        assert_null(merge_text(r, shards[order]));
        assert_null(merge_text(r, shards[1 - order]));
        assert_null(results_complete(r));
        assert_null(results_sort(r));
        cps_buf_str(&text[order], cps_json_print(r, JSON_C_TO_STRING_PLAIN));
        struct json_object *pairs = cps_json_get(r, "pairs");
        assert_int_equal(json_object_array_length(pairs), 3); /* the one of both is there once */
        assert_string_equal(result_text(json_object_array_get_idx(pairs, 1), "firmware"), "a");
        assert_string_equal(result_text(json_object_array_get_idx(pairs, 2), "firmware"), "b");
        assert_int_equal(json_object_array_length(cps_json_get(r, "firmware")), 2);
        struct json_object *handlers = cps_json_get(cps_json_get(r, "coverage"), "a");
        assert_string_equal(result_text(json_object_array_get_idx(handlers, 0), "digits"), "1281");
        json_object_put(r);
    }
    assert_string_equal(cps_buf_text(&text[0]), cps_buf_text(&text[1]));
    cps_buf_deinit(&text[0]);
    cps_buf_deinit(&text[1]);
}

static void expect_refused(const char *text, const char *said)
{
    struct json_object *r = results_create();
    struct cps_err *err = merge_text(r, text);
    if (!err)
        err = results_complete(r);
    if (!err || err->code != CPS_ERR_INPUT || !strstr(err->message, said))
        fail_msg("%s: %s, expected %s", text, err ? err->message : "no error", said);
    cps_err_free(err);
    json_object_put(r);
}

static void what_is_not_all_of_a_run_is_refused(void **state)
{
    (void)state;
    expect_refused("", "not the results of a regression run");
    expect_refused("[]", "not the results of a regression run");
    expect_refused("{\"cpscope-results\":1}", "not the results of a regression run");
    expect_refused("{\"cpscope-results\":1,\"firmware\":{},\"pairs\":[],\"places\":{},"
                   "\"code\":{},\"coverage\":{}}",
                   "not the results of a regression run");
    expect_refused(RESULTS("", "", "", "", ",\"interrupted\":true"), "was interrupted");
    expect_refused(RESULTS("", "", "", "", ",\"shard\":\"1/2\""), "shard 2/2 are missing");
    expect_refused(RESULTS("", "", "", "", ",\"shard\":\"x\""), "of another run");
}

static void coverage_sums_instructions_and_directions(void **state)
{
    struct json_object *handler = json_object_new_object();
    (void)state;
    /* padding; code that ran; code that did not; branches that went one way, both, and none */
    const char digits[] = {'0', '0' + 9, '0' + 8, '0' + 27, '0' + 31, '0' + 24, 0};
    cps_json_text(handler, "digits", digits);
    struct results_cover c = results_cover_of(handler);
    assert_int_equal(c.all, 5);
    assert_int_equal(c.ran, 3);
    assert_int_equal(c.directions, 6);
    assert_int_equal(c.taken, 3);
    json_object_put(handler);
}

static void joined_digits_have_every_place_of_both(void **state)
{
    (void)state;
    CPS_FREE char *both = results_join_digits("0128", "1208");
    assert_string_equal(both, "1328");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_are_counted_by_status_and_another_one_is_none_of_them),
        cmocka_unit_test(two_shards_merge_into_the_same_whatever_their_order),
        cmocka_unit_test(what_is_not_all_of_a_run_is_refused),
        cmocka_unit_test(coverage_sums_instructions_and_directions),
        cmocka_unit_test(joined_digits_have_every_place_of_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
