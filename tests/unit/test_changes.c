/* SPDX-License-Identifier: MIT
 * Where the code of two images differs: sources that differ in one thing. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/lib/fwcheck.h"

/* Assembles both and gives their differences. */
static struct cps_fw_change *differences(const char *left, const char *right, size_t *count)
{
    struct cps_fw *a = fwcheck_assemble(left, CPS_A6XX, 0);
    struct cps_fw *b = fwcheck_assemble(right, CPS_A6XX, 0);
    struct cps_fw_change *change = NULL;
    assert_non_null(a);
    assert_non_null(b);
    assert_null(cps_fw_compare(a, b, &change, count));
    cps_fw_destroy(a);
    cps_fw_destroy(b);
    return change;
}

#define SOME(number)                                                                      \
    "mov $02, 0x" #number "01\nmov $03, 0x" #number "02\nand $02, $02, 0x" #number "03\n" \
    "mov $04, 0x" #number "04\nor $05, $02, 0x" #number "05\nmov $06, 0x" #number "06\n"
#define BEGIN "[016ee001]\n[01000000]\nmov $02, 0x7\n"
#define END   "waitin\nmov $01, $data\n"

/* A block that stands elsewhere is one difference, of as many words on both sides. */
static void a_block_that_moved_is_one_difference(void **state)
{
    size_t count = 0;
    struct cps_fw_change *change =
        differences(BEGIN SOME(10) SOME(20) SOME(30) SOME(40) END,
                    BEGIN SOME(20) SOME(30) SOME(40) SOME(10) END, &count);
    (void)state;
    assert_int_equal(count, 1);
    assert_true(change[0].moved);
    assert_int_equal(change[0].a, 3);
    assert_int_equal(change[0].b, 3 + 3 * 6);
    assert_int_equal(change[0].a_count, 6);
    assert_int_equal(change[0].b_count, 6);
    free(change);
}

/* A constant of `mov` may be an address, which moves with the code that stands there; those of
 * other instructions, those that are shifted otherwise than to bytes, and those of the header or
 * behind the code are numbers. */
static void addresses_move_and_numbers_do_not(void **state)
{
    static const struct {
        const char *a, *b;
        size_t count;
    } rows[] = {
        {"mov $06, 0x12", "mov $06, 0x14", 1},
        {"mov $06, 0x12 << 2", "mov $06, 0x14 << 2", 1},
        {"mov $06, 0x12", "mov $06, 0x13", 2},
        {"mov $06, 0x12 << 1", "mov $06, 0x14 << 1", 2},
        {"and $06, $06, 0x12", "and $06, $06, 0x14", 2},
        {"mov $06, 0xf", "mov $06, 0x11", 2},
        {"mov $06, 0x10", "mov $06, 0x12", 1},
        {"mov $06, 0x100", "mov $06, 0x102", 2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char a[2048], b[2048];
        size_t count = 0;
        snprintf(a, sizeof(a), BEGIN SOME(10) SOME(20) SOME(30) "%s\n" END, rows[i].a);
        snprintf(b, sizeof(b),
                 BEGIN "mov $07, 0x8\nmov $07, 0x9\n" SOME(10) SOME(20) SOME(30) "%s\n" END,
                 rows[i].b);
        free(differences(a, b, &count));
        if (count != rows[i].count)
            fail_msg("%s: %zu differences", rows[i].a, count);
    }
}

/* Whichever bit of whichever word differs, but for those of the version, which stands elsewhere. */
static void a_word_that_differs_differs(void **state)
{
    static const char source[] = "[016ee001]\n[#table]\nmov $02, 0x7\n" SOME(10) END
        "CP_NOP:\n" SOME(20) END "table:\n.jumptbl\n[30393033]\n[00000000]\n";
    struct cps_asm assembled = {NULL, 0};
    struct cps_fw *a = NULL;
    (void)state;
    assert_null(cps_assemble("a", source, sizeof(source) - 1, CPS_A6XX, &assembled));
    assert_null(cps_fw_parse("a", assembled.words, assembled.count * 4, CPS_A6XX, &a));
    assert_int_not_equal(a->part[0].table, CPS_FW_NONE);
    for (uint32_t bit = 12; bit < 32 * a->count; bit++) {
        struct cps_fw *b = NULL;
        size_t count = 0;
        assembled.words[1 + bit / 32] ^= 1u << bit % 32;
        assert_null(cps_fw_parse("b", assembled.words, assembled.count * 4, CPS_A6XX, &b));
        struct cps_fw_change *change = NULL;
        assert_null(cps_fw_compare(a, b, &change, &count));
        free(change);
        if (!count)
            fail_msg("bit %u of word 0x%x", bit % 32, bit / 32);
        assembled.words[1 + bit / 32] ^= 1u << bit % 32;
        cps_fw_destroy(b);
    }
    cps_fw_destroy(a);
    free(assembled.words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_that_moved_is_one_difference),
        cmocka_unit_test(addresses_move_and_numbers_do_not),
        cmocka_unit_test(a_word_that_differs_differs),
    };
    return cmocka_run_group_tests_name("changes", tests, NULL, NULL);
}
