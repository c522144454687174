/* SPDX-License-Identifier: MIT
 * JSON: what is lost on the way is noticed at the end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "trace/out/json.h"

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
    cps_json_append(cps_json_new_array(to, "more"), json_object_new_int(2));
    assert_string_equal(cps_json_print(to, JSON_C_TO_STRING_PLAIN),
                        "{\"text\":\"a\",\"buf\":\"b\",\"int\":-1,\"uint\":18446744073709551615,"
                        "\"bool\":true,\"null\":null,\"list\":[1],\"more\":[2]}");
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
    assert_null(cps_json_new_array(NULL, "key"));
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

/* json-c as the yardstick: what is read is printed as it does, in every form that we ask for. */
static void text_is_that_of_json_c(void **state)
{
    static const int flags[] = {JSON_C_TO_STRING_PLAIN, JSON_C_TO_STRING_PRETTY,
                                JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE};
    static const char nested[] = "[[],[[]],{\"k/\\\"\\n\":null},true,false,\"\\b\\f\\r\\t\\\\/"
                                 "\\u0001\\u001f\\u00e9\\u0000x\"]";
    const char *const texts[] = {
        "{\"a\":[1,-2,18446744073709551615,9223372036854775807,-9223372036854775808],\"b\":{}}",
        nested,
        "[1.5,1.0,-0.0,1e300,1E-7,0.10000000000000001,100000000000000000000.0,3.10]",
    };
    (void)state;
    for (unsigned t = 0; t < sizeof(texts) / sizeof(texts[0]); t++) {
        struct json_object *value = json_tokener_parse(texts[t]);
        assert_non_null(value);
        for (unsigned f = 0; f < sizeof(flags) / sizeof(flags[0]); f++) {
            CPS_BUF out = {0};
            cps_json_put(&out, value, flags[f]);
            assert_false(out.failed);
            assert_string_equal(cps_buf_text(&out),
                                json_object_to_json_string_ext(value, flags[f]));
        }
        json_object_put(value);
    }
}

/* What is no character is an escape, in two halves where it has more than 16 bits. */
static void what_is_hidden_is_an_escape(void **state)
{
    static const char *const rows[][2] = {
        {"\xef\xbf\xbf", "[\"\\uffff\"]"},
        {"\xef\xbf\xbe", "[\"\\ufffe\"]"},
        {"\xf0\x9f\xbf\xbe", "[\"\\ud83f\\udffe\"]"},
        {"\xf4\x8f\xbf\xbf", "[\"\\udbff\\udfff\"]"},
        {"\xef\xbf\xbd", "[\"\xef\xbf\xbd\"]"},
        {"\xf0\x90\x80\x80", "[\"\xf0\x90\x80\x80\"]"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct json_object *list = json_object_new_array();
        CPS_BUF out = {0};
        cps_json_append(list, json_object_new_string(rows[i][0]));
        cps_json_put(&out, list, JSON_C_TO_STRING_PLAIN);
        assert_string_equal(cps_buf_text(&out), rows[i][1]);
        json_object_put(list);
    }
}

/* json-c as the yardstick again: what it takes we take, as the same value, and what is no JSON
 * neither does. */
static void text_is_read_as_json_c_does(void **state)
{
    static const char escapes[] = "[\"\\b\\f\\n\\r\\t\\\"\\\\\\/"
                                  "\\u0041\\u00e9\\u20ac\\ud83d\\ude00\\ud83dx\\ude00\\u0000x\"]";
    const char *const good[] = {
        "{}",
        "[]",
        " { \"a\" : [ 1 , 2.5 , -3e2 , true , false , null ] , \"b\" : { \"c\" : \"d\" } } ",
        "{\"a\":1,\"a\":2}",
        "[9223372036854775807,9223372036854775808,18446744073709551615,-9223372036854775808,0,-0]",
        escapes,
        /* the last and the first of so many bytes in UTF-8 */
        "[\"\\u0001\\u007f\\u0080\\u07ff\\u0800\\uffff\\ud800\\udc00\\udbff\\udfff\\ud7ff\\ue000\""
        "]",
        "[\"\\uABCD\\uEF0A\\uabcd\\uef0a\\uDBFF\\uDFFF\\u0F0f\"]",
        "[\"\xc3\xa9\",1.50,1E5,0.1e-7]",
        "\"text\"",
        "12",
    };
    static const char *const bad[] = {
        "",        "{",    "[1,", "{\"a\"}",     "{\"a\":}", "{a:1}", "[1 2]",     "tru", "\"a",
        "\"\\x\"", "[1]]", "{}x", "\"\\u12g4\"", "-",        "1.e",   "{\"a\":1,", "[}",
    };
    (void)state;
    for (unsigned i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct json_object *ours = NULL;
        struct json_object *theirs = json_tokener_parse(good[i]);
        assert_null(cps_json_parse(good[i], strlen(good[i]), &ours));
        assert_non_null(ours);
        assert_string_equal(json_object_to_json_string_ext(ours, JSON_C_TO_STRING_PLAIN),
                            json_object_to_json_string_ext(theirs, JSON_C_TO_STRING_PLAIN));
        json_object_put(ours);
        json_object_put(theirs);
    }
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct json_object *ours = NULL;
        assert_null(cps_json_parse(bad[i], strlen(bad[i]), &ours));
        assert_null(ours);
    }
}

static void text_nests_to_a_limit(void **state)
{
    char text[200];
    (void)state;
    for (unsigned depth = 1; depth < 90; depth++) {
        struct json_object *ours = NULL;
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        assert_null(cps_json_parse(text, 2 * depth, &ours));
        assert_int_equal(ours != NULL, depth <= 32);
        json_object_put(ours);
    }
}

static void numbers_that_were_made_are_printed_as_json_c_does(void **state)
{
    static const double numbers[] = {0, -0.0, 1, 0.1, 1e21, 1e-300, 123456789.125, 1e15, 1.0 / 3};
    (void)state;
    for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        struct json_object *list = json_object_new_array();
        cps_json_append(list, json_object_new_double(numbers[i]));
        const char *text = json_object_to_json_string_ext(list, JSON_C_TO_STRING_PLAIN);
        CPS_BUF out = {0};
        cps_json_put(&out, list, JSON_C_TO_STRING_PLAIN);
        assert_string_equal(cps_buf_text(&out), text);
        json_object_put(list);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_written_in_their_order),
        cmocka_unit_test(a_document_that_lost_a_member_has_no_text),
        cmocka_unit_test(what_could_not_be_made_takes_members_and_has_no_text),
        cmocka_unit_test(members_are_read_with_their_types),
        cmocka_unit_test(text_is_that_of_json_c),
        cmocka_unit_test(what_is_hidden_is_an_escape),
        cmocka_unit_test(text_is_read_as_json_c_does),
        cmocka_unit_test(text_nests_to_a_limit),
        cmocka_unit_test(numbers_that_were_made_are_printed_as_json_c_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
