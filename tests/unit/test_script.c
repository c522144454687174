/* SPDX-License-Identifier: MIT
 * Scripts as bytes: what is taken for code and what for text, how long one may be, how long it
 * waits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "isa/base/le.h"
#include "tests/lib/scriptcheck.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Whether bytes are taken as they are; else they are refused with @p says. */
static void check_raw(size_t size, unsigned gen, const char *says)
{
    struct cps_script script = {0};
    uint8_t *bytes = calloc(size + 1, 1);
    assert_non_null(bytes);
    struct cps_err *err = cps_script_raw("x", bytes, size, gen, &script);
    if (says) {
        assert_non_null(err);
        assert_non_null(strstr(err->message, says));
    } else {
        assert_null(err);
        assert_int_equal(script.code.size, size);
        assert_string_equal(script.name, "x");
    }
    cps_err_free(err);
    cps_script_deinit(&script);
    free(bytes);
}

static void scripts_have_a_largest_size(void **state)
{
    (void)state;
    check_raw(0, CPS_G80, "x: offset 0x0: file is empty, expected a script");
    check_raw(1, CPS_G80, NULL);
    check_raw((256 << 10) - 1, CPS_G80, NULL);
    check_raw(256 << 10, CPS_G80, NULL);
    check_raw((256 << 10) + 1, CPS_G80,
              "x: offset 0x40000: file goes on, expected at most 262144 bytes");
    check_raw((256 << 10) - 4, CPS_SEQ_NEW, NULL);
    check_raw(256 << 10, CPS_SEQ_NEW, NULL);
    check_raw((256 << 10) + 4, CPS_SEQ_NEW, "expected at most 262144 bytes");
    check_raw(7, CPS_SEQ_NEW, "x: offset 0x4: 3 bytes at the end, expected whole words");
    check_raw(8, CPS_VP1_G80, NULL);
    check_raw(8, 0, "x: the chip is unknown, expected --chip, --seq-abi or a run file");
}

/* One byte beside "exit": text that assembles, code, or text with a mistake. */
enum { TEXT, CODE, MISTAKE };
static const struct {
    const char *bytes;
    size_t size;
    int what;
} inputs[] = {
    {"exit", 4, TEXT},
    {"exit\n", 5, TEXT},
    {"exit\t \r\n", 8, TEXT},
    {"\vexit", 5, MISTAKE},
    {"exit\f", 5, TEXT},
    {"exit\x08", 5, CODE}, /* below the blanks */
    {"exit\x0e", 5, CODE}, /* above them */
    {"exit\x1f", 5, CODE},
    {"exit ~", 6, MISTAKE},
    {"exit\x7f", 5, CODE},
    {"exit ;\xff", 7, CODE},
    {"exit ;\xfe", 7, TEXT}, /* a comment of another encoding */
    {"exit\xfe", 5, CODE},
    {"exit ;\xe4\nexit", 12, TEXT},
    {"exit ;\nexit\xe4", 12, CODE}, /* behind the comment's line */
    {"exit\xc3\xa4", 6, MISTAKE},   /* a character of UTF-8 */
    {"exit\xc3", 5, CODE},          /* cut */
    {"exit\xed\xa0\x80", 7, CODE},  /* a surrogate */
    {"\x6e\xde\xad\xbe", 4, CODE},
};

static void bytes_that_are_no_text_are_code(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(inputs); i++) {
        struct cps_script script = {0};
        char *exact = malloc(inputs[i].size);
        assert_non_null(exact);
        memcpy(exact, inputs[i].bytes, inputs[i].size);
        struct cps_err *err =
            cps_script_parse("x", exact, inputs[i].size, &cps_isa_hwsq, CPS_G80, &script);
        assert_int_equal(err != NULL, inputs[i].what == MISTAKE);
        if (inputs[i].what == CODE) {
            assert_int_equal(script.code.size, inputs[i].size);
            assert_memory_equal(script.code.data, inputs[i].bytes, inputs[i].size);
        }
        if (inputs[i].what == TEXT)
            assert_int_equal((uint8_t)script.code.data[0], 0x7f);
        cps_err_free(err);
        cps_script_deinit(&script);
        free(exact);
    }
}

/* HWSQ: (L << 2 * S) * 0x20 clocks (hwsq.rst); SEQ: its operand is nanoseconds (seq.rst). */
static const struct {
    enum cps_gen gen;
    uint8_t bytes[8];
    size_t size;
    uint64_t ticks;
} waits[] = {
    {CPS_G80, {0x00}, 1, 0},
    {CPS_G80, {0x01}, 1, 0x20},
    {CPS_G80, {0x03}, 1, 0x60},
    {CPS_G80, {0x05}, 1, 0x80},
    {CPS_G80, {0x1f}, 1, UINT64_C(3) * 0x4000 * 0x20}, /* wait 3 shl 14 */
    {CPS_G80, {0x3f}, 1, UINT64_C(3) * 0x40000000 * 0x20},
    {CPS_G80, {0x7f}, 1, 0},
    {CPS_G80, {0xa5}, 1, 0},
    {CPS_SEQ_NEW, {0x13, 0, 2, 0, 0x39, 0x30, 0, 0}, 8, 12345},
};

static void waits_take_their_time(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(waits); i++) {
        struct cps_insn insn;
        cps_decode_bytes(cps_gen_isa(waits[i].gen), waits[i].gen, waits[i].bytes, waits[i].size,
                         &insn);
        assert_true(cps_script_ticks(waits[i].gen, &insn) == waits[i].ticks);
    }
}

/* Words of SEQ whose listing assembles to them again: what an operation lacks at the end of the
 * file are literals, and only a last word 0 that is no part of one is the end. */
static void listings_of_cut_scripts_come_back(void **state)
{
    static const uint32_t words[][6] = {
        {0x20022, 0, 0},
        {0x20022, 0, 0x30013},
        {0x20022, 0, 0x30013, 0},
        {0x20022, 0, 0x30014, 0},
        {0x20022, 0, 0x640021, 0},
        {0x20022, 0, 0x640021, 5},
        {0x20022, 0, 0x30021, 0, 0, 0},
        {0x640021, 0, 0},
        {0x20013},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(words); i++) {
        for (size_t size = 4; size <= sizeof(words[i]); size += 4) {
            uint8_t bytes[sizeof(words[i])];
            for (size_t k = 0; k < COUNT(words[i]); k++)
                cps_put_le32(bytes + 4 * k, words[i][k]);
            uint8_t *exact = malloc(size);
            assert_non_null(exact);
            memcpy(exact, bytes, size);
            if (!scriptcheck_listing(CPS_SEQ_NEW, CPS_NAMES_MEASURED, exact, size))
                fail_msg("row %zu, %zu bytes", i, size);
            free(exact);
        }
    }
}

/* An operation that is too long for a statement is a line for each four of its words. */
static void long_operations_are_lines_of_four_words(void **state)
{
    enum { PAIRS = 19, WORDS = 1 + 2 * PAIRS };
    uint8_t bytes[4 * (WORDS + 1)] = {0};
    CPS_BUF text = {0};
    (void)state;
    cps_put_le32(bytes, WORDS << 16 | 0x21);
    for (unsigned i = 1; i < WORDS; i++)
        cps_put_le32(bytes + 4 * (size_t)i, 0x1000 + i);
    assert_null(
        cps_script_listing(CPS_SEQ_NEW, bytes, sizeof(bytes), NULL, CPS_NAMES_MEASURED, &text));
    const char *line =
        strstr(cps_buf_text(&text), "        [00270021] [00001001] [00001002] [00001003]\n"
                                    "        [00001004] [00001005] [00001006] [00001007]\n");
    assert_non_null(line);
    assert_non_null(strstr(line, "\n        [00001024] [00001025] [00001026] ; 0000\n"));
    assert_true(scriptcheck_listing(CPS_SEQ_NEW, CPS_NAMES_MEASURED, bytes, sizeof(bytes)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scripts_have_a_largest_size),
        cmocka_unit_test(bytes_that_are_no_text_are_code),
        cmocka_unit_test(waits_take_their_time),
        cmocka_unit_test(listings_of_cut_scripts_come_back),
        cmocka_unit_test(long_operations_are_lines_of_four_words),
    };
    return cmocka_run_group_tests_name("script", tests, NULL, NULL);
}
