/* SPDX-License-Identifier: MIT
 * Results of regression runs: shards merge into what one run makes, and what is no result of one is
 * refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/scratch.h"
#include "tools/explain/regress/regress.h"
#include "trace/out/json.h"

static struct cps_err *merge_text(struct json_object *to, const char *text)
{
    char path[64];
    struct cps_err *err = results_merge(to, scratch_file(path, text));
    remove(path);
    return err;
}

#define PAIR(fw, capture, status) \
    "{\"firmware\":\"" fw "\",\"capture\":\"" capture "\",\"status\":\"" status "\"}"
/* @p manifest  digest and number of its pairs, as `sha256sum` gives it of "CAPTURE\nFIRMWARE\n..."
 */
#define RESULTS(names, manifest, pairs, places, coverage, more)                      \
    "{\"cpscope-results\":4,\"firmware\":[" names "]," manifest ",\"pairs\":[" pairs \
    "],\"places\":{" places "},\"code\":{},\"coverage\":{" coverage "}," INPUTS more "}"
#define INPUTS INPUTS_WITH("\"mask\":\"none\"")
#define INPUTS_WITH(mask)                                                                     \
    "\"inputs\":{\"baseline\":\"none\",\"events\":\"default\",\"golden\":\"none\",\"limit\":" \
    "\"1\"," mask                                                                             \
    ",\"names\":\"built-in\",\"policy\":\"default\",\"firmware a\":\"1\",\"firmware b\":\"2\"}"
#define MANIFEST(digest, total) "\"manifest\":\"" digest "\",\"pairs_total\":" total
/* printf '1\na\n' | sha256sum, and so on */
#define ONE_A MANIFEST("2ca6ff62f75b34051d34914c29499688dd1a80a1e6f2fc3d316ca2ed7f9952c3", "1")
#define THREE MANIFEST("a97b31ed8bc6069fd15a373f079bcb026da65e92725dc2ebea7806ce2a05f468", "3")
#define NONE  MANIFEST("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "0")

static void pairs_are_counted_by_status(void **state)
{
    static const char *const status[] = {"pass",    "differs", "stopped",
                                         "skipped", "pass",    "not-run"};
    struct json_object *r = results_create();
    (void)state;
    for (unsigned i = 0; i < 6; i++) {
        struct json_object *pair = json_object_new_object();
        cps_json_text(pair, "status", status[i]);
        cps_json_append(cps_json_get(r, "pairs"), pair);
    }
    assert_int_equal(results_count(r, RESULT_PASS), 2);
    assert_int_equal(results_count(r, RESULT_DIFFERS), 1);
    assert_int_equal(results_count(r, RESULT_STOPPED), 1);
    assert_int_equal(results_count(r, RESULT_SKIPPED), 1);
    assert_int_equal(results_count(r, RESULT_NOT_RUN), 1);
    json_object_put(r);
}

static void two_shards_merge_into_the_same_whatever_their_order(void **state)
{
    static const char *const shards[2] = {
        RESULTS("\"a\",\"b\"", THREE, PAIR("b", "2", "pass") "," PAIR("a", "1", "pass"),
                "\"p2\":{\"firmware\":\"a\"}", "\"a\":[{\"handler\":\"h\",\"digits\":\"1080\"}]",
                ",\"shard\":\"1/2\""),
        RESULTS("\"a\",\"b\"", THREE, PAIR("a", "2", "pass") "," PAIR("a", "1", "pass"),
                "\"p1\":{\"firmware\":\"b\"},\"p2\":{\"firmware\":\"a\"}",
                "\"a\":[{\"handler\":\"h\",\"digits\":\"0281\"}]", ",\"shard\":\"2/2\""),
    };
    struct cps_buf text[2] = {{0}, {0}};
    (void)state;
    for (unsigned order = 0; order < 2; order++) {
        struct json_object *r = results_create();
        assert_null(merge_text(r, shards[order]));
        assert_null(merge_text(r, shards[1 - order]));
        assert_null(results_complete(r));
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
    expect_refused("{\"cpscope-results\":1}", "of version 1, expected version 4");
    expect_refused("{\"cpscope-results\":4}", "damaged results");
    expect_refused("{\"cpscope-results\":4} x", "not the results");
    expect_refused(RESULTS("", NONE, "", "", "", ",\"interrupted\":true"), "was interrupted");
    expect_refused(RESULTS("", NONE, "", "", "", ",\"shard\":\"1/2\""), "shard 2/2 are missing");
    expect_refused(RESULTS("", NONE, "", "", "", ",\"shard\":\"x\""), "damaged results");
    expect_refused(RESULTS("", NONE, "", "", "", ",\"shard\":\"1/2x\""), "damaged results");
}

/* Somebody took one out, put one in, or called one otherwise. */
static void pairs_that_are_not_those_of_the_manifest_are_refused(void **state)
{
    (void)state;
    expect_refused(RESULTS("\"a\"", ONE_A, "", "", "", ""), "0 pairs, expected the 1 of");
    expect_refused(RESULTS("\"a\"", ONE_A, PAIR("a", "2", "pass"), "", "", ""),
                   "expected the 1 of");
    expect_refused(
        RESULTS("\"a\"", ONE_A, PAIR("a", "1", "pass") "," PAIR("a", "2", "pass"), "", "", ""),
        "2 pairs, expected the 1 of");
    expect_refused(
        RESULTS("\"a\"", ONE_A, PAIR("a", "1", "pass") "," PAIR("a", "1", "differs"), "", "", ""),
        "two different ones");
}

#define BROKEN(pairs, places, coverage, more) \
    expect_refused(RESULTS("\"a\"", ONE_A, pairs, places, coverage, more), "damaged results")

static void members_of_other_kinds_are_refused(void **state)
{
    static const char good[] = RESULTS("\"a\"", ONE_A, PAIR("a", "1", "pass"), "", "", "");
    struct json_object *r = results_create();
    (void)state;
    assert_null(merge_text(r, good));
    assert_null(results_complete(r));
    json_object_put(r);
    BROKEN(PAIR("a", "1", "exploded"), "", "", "");
    BROKEN(PAIR("a", "1", "<meta http-equiv=refresh>"), "", "", "");
    BROKEN("null", "", "", "");
    BROKEN("3", "", "", "");
    BROKEN("{\"firmware\":\"a\",\"capture\":[],\"status\":\"pass\"}", "", "", "");
    BROKEN("{\"firmware\":{},\"capture\":\"1\",\"status\":\"pass\"}", "", "", "");
    BROKEN("{\"firmware\":\"b\",\"capture\":\"1\",\"status\":\"pass\"}", "", "", "");
    BROKEN("{\"firmware\":\"a\",\"capture\":\"1\",\"status\":\"pass\",\"place\":\"none\"}", "", "",
           "");
    BROKEN("{\"firmware\":\"a\",\"capture\":\"1\",\"status\":\"differs\",\"differences\":\"<b>\"}",
           "", "", "");
    BROKEN("{\"firmware\":\"a\",\"capture\":\"1\\u0000\",\"status\":\"pass\"}", "", "", "");
    BROKEN(PAIR("a", "1", "pass"), "\"p\":3", "", "");
    BROKEN(PAIR("a", "1", "pass"), "", "\"a\":3", "");
    BROKEN(PAIR("a", "1", "pass"), "", "\"a\":[{\"handler\":\"h\",\"digits\":\"~\"}]", "");
    BROKEN(PAIR("a", "1", "pass"), "", "", ",\"baseline\":{}");
    expect_refused("{\"cpscope-results\":4,\"firmware\":[\"\xff\"]}", "not the results");
}

static void a_shard_is_two_numbers_and_nothing_else(void **state)
{
    static const char *const bad[] = {"",     "1",    "0/3",  "4/3",           "1/3x",
                                      " 1/3", "1/ 3", "01/3", "1/99999999999", "-1/3"};
    unsigned i = 0, n = 0;
    (void)state;
    assert_true(results_shard("2/3", &i, &n));
    assert_int_equal(i, 2);
    assert_int_equal(n, 3);
    for (unsigned k = 0; k < sizeof(bad) / sizeof(bad[0]); k++)
        assert_false(results_shard(bad[k], &i, &n));
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
    struct json_object *both = results_join_digits("0128", "1208");
    assert_string_equal(json_object_get_string(both), "1328");
    json_object_put(both);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_are_counted_by_status),
        cmocka_unit_test(two_shards_merge_into_the_same_whatever_their_order),
        cmocka_unit_test(what_is_not_all_of_a_run_is_refused),
        cmocka_unit_test(pairs_that_are_not_those_of_the_manifest_are_refused),
        cmocka_unit_test(members_of_other_kinds_are_refused),
        cmocka_unit_test(a_shard_is_two_numbers_and_nothing_else),
        cmocka_unit_test(coverage_sums_instructions_and_directions),
        cmocka_unit_test(joined_digits_have_every_place_of_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
