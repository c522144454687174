/* SPDX-License-Identifier: MIT
 * Text out of files where people and programs see it: every byte, every character, and the nastiest
 * sequences, for each destination. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "isa/base/shown.h"
#include "tools/cmd/terminal/guard.h"
#include "tools/cmd/render/html.h"
#include "trace/out/json.h"

static void expect_shown(const char *text, const char *shown)
{
    CPS_BUF out = {0};
    cps_shown_put_(&out, text);
    assert_string_equal(cps_buf_text(&out), shown);
}

/* RFC 3629, section 3, by its ranges; a second writing of what cps_utf8_() reads. */
static size_t encode(uint32_t code, char *to)
{
    if (code < 0x80)
        return (size_t)(to[0] = (char)code, 1);
    unsigned bytes = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (unsigned i = bytes; i-- > 1; code /= 64)
        to[i] = (char)(0x80 + code % 64);
    to[0] = (char)((0xf00 >> bytes & 0xff) + code);
    return bytes;
}

static void every_byte_alone_is_ascii_text_or_escaped(void **state)
{
    (void)state;
    for (unsigned byte = 1; byte < 256; byte++) {
        const char text[2] = {(char)byte, 0};
        char escaped[8];
        snprintf(escaped, sizeof(escaped), "\\x%02x", byte);
        expect_shown(text, byte >= ' ' && byte <= '~' ? text : escaped);
    }
}

static void every_character_is_read_as_the_number_it_was_written_from(void **state)
{
    (void)state;
    for (uint32_t code = 1; code < 0x120000; code++) {
        char text[8] = "";
        uint32_t read = 0;
        size_t size = encode(code, text);
        bool none = (code >= 0xd800 && code < 0xe000) || code > 0x10ffff;
        assert_int_equal(cps_utf8_(text, &read), none ? 0 : size);
        if (!none)
            assert_int_equal(read, code);
    }
}

static void what_moves_the_cursor_or_turns_text_round_is_escaped(void **state)
{
    (void)state;
    expect_shown("\x1b]0;title\x07", "\\x1b]0;title\\x07");
    expect_shown("\xc2\x9b"
                 "2J",
                 "\\xc2\\x9b2J");                                  /* U+009B, the 8-bit CSI */
    expect_shown("a\nb\rc\td", "a\\x0ab\\x0dc\\x09d");             /* lines and columns */
    expect_shown("\xe2\x80\xaetxt.exe", "\\xe2\\x80\\xaetxt.exe"); /* U+202E */
    expect_shown("\xe2\x81\xa6x\xe2\x81\xa9", "\\xe2\\x81\\xa6x\\xe2\\x81\\xa9");
    expect_shown("\xef\xbb\xbf", "\\xef\\xbb\\xbf"); /* a mark of the byte order */
    expect_shown("\xef\xbf\xbf", "\\xef\\xbf\\xbf"); /* U+FFFF is no character */
    expect_shown("\xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80 \xe2\x82",
                 "\\xc0\\xaf \\xed\\xa0\\x80 \\xf4\\x90\\x80\\x80 \\xe2\\x82");
    expect_shown("gr\xc3\xb6\xc3\x9f"
                 "e \xe6\xbc\xa2 \xf0\x9f\x98\x80",
                 "gr\xc3\xb6\xc3\x9f"
                 "e \xe6\xbc\xa2 \xf0\x9f\x98\x80");
}

static void an_error_is_one_line_whatever_it_names(void **state)
{
    struct cps_err *err = cps_err_new(CPS_ERR_INPUT, "%s: bad", "x\n\x1b[2Jy");
    (void)state;
    assert_string_equal(err->message, "x\\x0a\\x1b[2Jy: bad");
    cps_err_free(err);
    err = cps_err_input("a\nb", 16, "found \"%s\"", "\x7f");
    assert_string_equal(err->message, "a\\x0ab: offset 0x10: found \"\\x7f\"");
    cps_err_free(err);
}

static void no_byte_leaves_a_text_of_html_or_xml(void **state)
{
    (void)state;
    for (unsigned byte = 1; byte < 256; byte++) {
        const char text[2] = {(char)byte, 0};
        CPS_BUF out = {0};
        html_text(&out, text);
        const char *at = cps_buf_text(&out);
        bool plain = strchr("<>&\"'", (char)byte) == NULL;
        assert_true(plain || *at == '&');
        uint32_t code = 0;
        for (size_t length; *at; at += length) {
            length = cps_utf8_(at, &code);
            assert_true(length && (code >= ' ' || code == '\n' || code == '\t'));
        }
    }
    CPS_BUF out = {0};
    html_text(&out, "]]><script>\xc2\x9b&amp;\xff");
    assert_string_equal(cps_buf_text(&out),
                        "]]&gt;&lt;script&gt;\xef\xbf\xbd\xef\xbf\xbd&amp;amp;\xef\xbf\xbd");
}

static void every_byte_comes_back_out_of_json(void **state)
{
    (void)state;
    for (unsigned byte = 1; byte < 128; byte++) {
        const char text[4] = {'a', (char)byte, 'b', 0};
        struct json_object *object = json_object_new_object();
        struct json_object *again = NULL;
        CPS_BUF out = {0};
        cps_json_text(object, "k", text);
        cps_json_put(&out, object, JSON_C_TO_STRING_PLAIN);
        for (size_t i = 0; i < out.size; i++)
            assert_true((unsigned char)out.data[i] >= ' ');
        assert_null(cps_json_parse(out.data, out.size, &again));
        assert_string_equal(cps_json_get_text(again, "k", ""), text);
        json_object_put(object);
        json_object_put(again);
    }
}

static void json_is_utf_8_and_safe_to_show(void **state)
{
    struct json_object *object = json_object_new_object();
    CPS_BUF out = {0};
    (void)state;
    cps_json_text(object, "k", "\x7f\xc2\x9b\xe2\x80\xae\xff\xf0\x9f\xbf\xbf\xc3\xa9");
    cps_json_put(&out, object, JSON_C_TO_STRING_PLAIN);
    assert_string_equal(cps_buf_text(&out),
                        "{\"k\":\"\\u007f\\u009b\\u202e\\\\xff\\ud83f\\udfff\xc3\xa9\"}");
    assert_true(json_object_put(object));
}

/* What a child prints in these pieces when its output is guarded. */
static size_t guarded(const char *const *piece, size_t count, char *ret, size_t room)
{
    int out[2];
    size_t size = 0;
    assert_int_equal(pipe(out), 0);
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        dup2(out[1], STDERR_FILENO);
        guard_output();
        for (size_t i = 0; i < count; i++)
            fputs(piece[i], stderr);
        _exit(0);
    }
    close(out[1]);
    for (ssize_t got = 1; got > 0; size += (size_t)got)
        got = read(out[0], ret + size, room - 1 - size);
    ret[size] = '\0';
    close(out[0]);
    waitpid(child, NULL, 0);
    return size;
}

/* The last defence of terminals: what was escaped nowhere else. Characters that come in pieces are
 * whole again, and what begins as one and is none is shown as bytes. */
static void guarded_output_has_no_control_characters_and_whole_text(void **state)
{
    static const struct {
        const char *piece[4];
        const char *shown;
    } rows[] = {
        {{"plain\ttext\n"}, "plain\ttext\n"},
        {{"\x1b[31m", "red\n"}, "\\x1b[31mred\n"},
        {{"a", "\x07\x7f", "b"},
         "a\\x07\\x7f"
         "b"},
        {{"\xc3", "\xa4", "x"}, "\xc3\xa4x"},
        {{"\xe2\x82", "\xac"}, "\xe2\x82\xac"},
        {{"\xe2", "\x82", "\xac."}, "\xe2\x82\xac."},
        {{"\xf0\x9f\x98", "\x80"}, "\xf0\x9f\x98\x80"},
        {{"\xf0", "\x9f\x98\x80", "\x1b"}, "\xf0\x9f\x98\x80\\x1b"},
        {{"\xc3", "x\n"}, "\\xc3x\n"},
        {{"\xf0\x9f", "x"}, "\\xf0\\x9fx"},
        {{"\x9b"
          "31m"},
         "\\x9b"
         "31m"},
        {{"\xc2", "\x9b"
                  "31m"},
         "\\xc2\\x9b"
         "31m"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[64];
        size_t count = 0;
        while (count < 4 && rows[i].piece[count])
            count++;
        assert_int_equal(guarded(rows[i].piece, count, text, sizeof(text)), strlen(rows[i].shown));
        assert_string_equal(text, rows[i].shown);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_alone_is_ascii_text_or_escaped),
        cmocka_unit_test(every_character_is_read_as_the_number_it_was_written_from),
        cmocka_unit_test(what_moves_the_cursor_or_turns_text_round_is_escaped),
        cmocka_unit_test(an_error_is_one_line_whatever_it_names),
        cmocka_unit_test(no_byte_leaves_a_text_of_html_or_xml),
        cmocka_unit_test(every_byte_comes_back_out_of_json),
        cmocka_unit_test(json_is_utf_8_and_safe_to_show),
        cmocka_unit_test(guarded_output_has_no_control_characters_and_whole_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
