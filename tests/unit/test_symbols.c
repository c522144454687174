/* SPDX-License-Identifier: MIT
 * Symbols from text beside a raw file: what is read, what is refused, what the listing makes of
 * names that it cannot use. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "fw/image/private.h"
#include "tests/lib/fwcheck.h"

/* Two processors; dword 4 of the first is a jump target and dword 6 is called. */
static const char source[] = "[01740168]\n[#jumptbl]\nnop\nnop\n"
                             "a: nop\njump #a\nb: call #b\nnop\n"
                             "CP_NOP: nop\nnop\n"
                             "jumptbl: .jumptbl\n"
                             ".section BV\n[01740139]\n[#jumptbl]\n"
                             "CP_NOP: nop\na: jump #a\njumptbl: .jumptbl\n";

static struct cps_fw *load(void)
{
    struct cps_asm program;
    struct cps_fw *fw = NULL;
    assert_null(cps_assemble("s.afuc", source, sizeof(source) - 1, 0, &program));
    assert_null(cps_fw_parse("s.fw", program.words, 4 * (size_t)program.count, 0, &fw));
    assert_int_equal(fw->part_count, 2);
    free(program.words);
    return fw;
}

static struct cps_err *add(struct cps_fw *fw, const char *text)
{
    return cps_fw_symbols_parse(fw, "s.txt", text, strlen(text));
}

static void test_text(void **state)
{
    struct cps_fw *fw = load();
    uint32_t offset = 0;
    (void)state;
    assert_null(
        add(fw, "# names\n\n  0x4 first # here\r\nbv:0x2 CP_NOP\nbv: 3\tfirst\nsqe:8 CP_NOP"));
    assert_int_equal(fw->debug.symbol_count, 4);
    assert_string_equal(cps_fw_symbol_at(fw, 0, 5, &offset)->name, "first");
    assert_int_equal(offset, 1);
    assert_int_equal(cps_fw_symbol_find(fw, "first")->dword, 4);
    assert_int_equal(cps_fw_symbol_find(fw, "bv:first")->dword, 3);
    assert_int_equal(cps_fw_symbol_find(fw, "bv:CP_NOP")->packet, 0x10);
    assert_int_equal(cps_fw_symbol_find(fw, "bv:first")->packet, -1);
    assert_null(add(fw, "0x4 again\n"));
    assert_string_equal(cps_fw_symbol_at(fw, 0, 4, NULL)->name, "again");
    cps_fw_destroy(fw);
}

/* Lines of one dword from two files come in the order of the files, then of the lines. */
static void test_order_of_lines(void **state)
{
    static const struct cps_fw_line lines[] = {
        {0, 7, 1, 2}, {0, 7, 0, 9}, {0, 7, 1, 1}, {0, 7, 0, 3}, {1, 0, 0, 1}, {0, 8, 0, 1},
    };
    static const unsigned order[] = {3, 1, 2, 0, 5, 4};
    struct cps_fw_debug debug = {0};
    (void)state;
    for (unsigned i = 0; i < 6; i++)
        assert_true(cps_fw_debug_line_(&debug, lines[i]));
    cps_fw_debug_sort_(&debug);
    for (unsigned i = 0; i < 6; i++)
        assert_memory_equal(&debug.lines[i], &lines[order[i]], sizeof(lines[0]));
    cps_fw_debug_deinit(&debug);
}

static const struct {
    const char *text;
    const char *message;
} errors[] = {
    {"0x4 a\nfoo\n", "s.txt:2:1: expected a dword address and a name"},
    {"0x4", "s.txt:1:1: expected a dword address and a name"},
    {"0x4a", "s.txt:1:1: expected a dword address and a name"},
    {"0x4 1a", "s.txt:1:5: expected a name of letters, digits and _"},
    {"0x4 a b", "s.txt:1:7: expected the end of the line"},
    {"bv:0x1000 a", "s.txt:1:4: expected an address inside the image"},
    {"me:1 a", "s.txt:1:1: expected a processor that the firmware is for"},
};

static void test_errors(void **state)
{
    struct cps_fw *fw = load();
    (void)state;
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        struct cps_err *err = add(fw, errors[i].text);
        assert_non_null(err);
        assert_int_equal(err->code, CPS_ERR_SYNTAX);
        assert_string_equal(err->message, errors[i].message);
        cps_err_free(err);
        assert_int_equal(fw->debug.symbol_count, 0);
    }
    struct cps_err *err = cps_fw_symbols_load(fw, "/nonexistent.txt");
    assert_int_equal(err->code, CPS_ERR_OS);
    cps_err_free(err);
    cps_fw_destroy(fw);
}

static void test_listing(void **state)
{
    CPS_BUF text = {0};
    struct cps_fw *fw = load();
    (void)state;
    assert_null(add(fw, "4 loop\n6 helper\n9 behind\n10 table\n8 nop_handler\nbv:3 loop\n"));
    assert_null(cps_fw_listing(fw, NULL, &text));
    assert_non_null(strstr(text.data, "\nloop:\n        nop "));
    assert_non_null(strstr(text.data, " jump #loop "));
    assert_non_null(strstr(text.data, "\n\nhelper:\n        call #helper "));
    assert_non_null(strstr(text.data, "\nCP_NOP:\nnop_handler:\n"));
    assert_non_null(strstr(text.data, "\nbehind:\n"));
    assert_non_null(strstr(text.data, "\n        [#table] "));
    assert_non_null(strstr(text.data, "\ntable:\n.jumptbl\n"));
    assert_non_null(strstr(text.data, "\nloop:\n        jump #loop "));
    assert_null(strstr(text.data, "l0004"));
    assert_null(strstr(text.data, "fxn0006"));
    assert_true(fwcheck_listing(fw));
    cps_fw_destroy(fw);
}

/* Names that begin nearly as those of packets do are labels as any others; those that begin so are
 * not. */
static void test_names_like_packets(void **state)
{
    static const struct {
        const char *name;
        bool is_shown;
    } rows[] = {{"CPU_loop", true}, {"CP", true},      {"CP_LOOP", false}, {"PKloop", true},
                {"PKT_x", false},   {"UNKempt", true}, {"UNKN_x", false}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CPS_BUF text = {0};
        char line[32], label[32];
        struct cps_fw *fw = load();
        snprintf(line, sizeof(line), "4 %s\n", rows[i].name);
        snprintf(label, sizeof(label), "\n%s:\n", rows[i].name);
        assert_null(add(fw, line));
        assert_null(cps_fw_listing(fw, NULL, &text));
        if (!strstr(text.data, label) == rows[i].is_shown)
            fail_msg("%s", rows[i].name);
        cps_fw_destroy(fw);
    }
}

/* Names that would not assemble, or to other words. */
static void test_unusable_names(void **state)
{
    static const char *const texts[] = {
        "7 l0004",         "7 fxn0006",   "7 l4",        "4 fxn0004",      "7 jumptbl",
        "10 jumptbl",      "7 CP_NOP",    "8 CP_NOP",    "7 CP_NOPE",      "7 UNKN3",
        "7 UNKN200",       "7 IN_IB_END", "7 PKT4",      "2 same\n7 same", "11 in_table",
        "7 nop\n4 jump",   "12 t\n7 t",   "138 end",     "0 zero\n1 one",  "10 x\n10 y",
        "8 x\n8 CP_NOP\n", "6 l0006",     "6 fxn0006\n", "4 l0004",        "bv:2 a\n2 a",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct cps_fw *fw = load();
        struct cps_err *err = add(fw, texts[i]);
        if (err)
            fail_msg("%s: %s", texts[i], err->message);
        if (!fwcheck_listing(fw))
            fail_msg("%s", texts[i]);
        cps_fw_destroy(fw);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),           cmocka_unit_test(test_order_of_lines),
        cmocka_unit_test(test_errors),         cmocka_unit_test(test_listing),
        cmocka_unit_test(test_unusable_names), cmocka_unit_test(test_names_like_packets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
