/* SPDX-License-Identifier: MIT
 * JSON: what is lost on the way is noticed at the end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "trace/json.h"

static void members_are_written_in_their_order(void **state)
{
    struct json_object *to = json_object_new_object();
    struct json_object *list = json_object_new_array();
    CPS_BUF text = {0};
    (void)state;
    cps_buf_str(&text, "b");
    cps_json_append(list, json_object_new_int(1));
    cps_json_text(to, "text", "a");
    cps_json_text(to, "none", NULL);
    cps_json_buf(to, "buf", &text);
    cps_json_int(to, "int", -1);
    cps_json_uint(to, "uint", UINT64_MAX);
    cps_json_bool(to, "bool", true);
    cps_json_null(to, "null");
    cps_json_add(to, "list", list);
    assert_string_equal(cps_json_print(to, JSON_C_TO_STRING_PLAIN),
                        "{\"text\":\"a\",\"buf\":\"b\",\"int\":-1,\"uint\":18446744073709551615,"
                        "\"bool\":true,\"null\":null,\"list\":[1]}");
    json_object_put(to);
}

static void a_document_that_lost_a_member_has_no_text(void **state)
{
    (void)state;
    for (unsigned how = 0; how < 4; how++) {
        struct json_object *root = json_object_new_object();
        struct json_object *rows = json_object_new_array();
        struct json_object *row = json_object_new_object();
        cps_json_append(rows, row);
        cps_json_add(root, "rows", rows);
        assert_non_null(cps_json_print(root, JSON_C_TO_STRING_PLAIN));
        struct cps_buf cut = {.failed = true};
        if (how == 0)
            cps_json_add(row, "key", NULL);
        else if (how == 1)
            cps_json_append(rows, NULL);
        else if (how == 2)
            cps_json_buf(row, "key", &cut);
        else
            cps_json_add(root, "more", NULL);
        assert_null(cps_json_print(root, JSON_C_TO_STRING_PLAIN));
        json_object_put(root);
    }
}

static void what_could_not_be_made_takes_members_and_has_no_text(void **state)
{
    (void)state;
    cps_json_text(NULL, "key", "text");
    cps_json_append(NULL, json_object_new_object());
    cps_json_null(NULL, "key");
    assert_null(cps_json_print(NULL, JSON_C_TO_STRING_PLAIN));
}

static void members_are_read_with_their_types(void **state)
{
    struct json_object *from =
        json_tokener_parse("{\"t\":\"x\",\"nul\":\"a\\u0000b\",\"n\":-5,\"b\":true,\"l\":[]}");
    (void)state;
    assert_string_equal(cps_json_get_text(from, "t", ""), "x");
    assert_string_equal(cps_json_get_text(from, "nul", "other"), "other");
    assert_string_equal(cps_json_get_text(from, "n", "other"), "other");
    assert_string_equal(cps_json_get_text(NULL, "t", "other"), "other");
    assert_int_equal(cps_json_get_int(from, "n", 0), -5);
    assert_int_equal(cps_json_get_int(from, "t", 7), 7);
    assert_true(cps_json_get_bool(from, "b", false));
    assert_true(cps_json_get_bool(from, "n", true));
    assert_non_null(cps_json_member(from, "l", json_type_array));
    assert_null(cps_json_member(from, "l", json_type_object));
    assert_null(cps_json_get(cps_json_get(from, "l"), "t"));
    json_object_put(from);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_written_in_their_order),
        cmocka_unit_test(a_document_that_lost_a_member_has_no_text),
        cmocka_unit_test(what_could_not_be_made_takes_members_and_has_no_text),
        cmocka_unit_test(members_are_read_with_their_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
