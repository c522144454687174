/* SPDX-License-Identifier: MIT
 * PM4 headers against the examples of the packet documentation, and PM4 text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "isa/base/pm4.h"
#include "trace/capture/pm4text.h"

static void known_headers_are_built(void **state)
{
    (void)state;
    assert_int_equal(cps_pm4_type7(0x10, 0), 0x70108000);
    assert_int_equal(cps_pm4_type7(0x48, 8), 0x70c80008);
    assert_int_equal(cps_pm4_type7(0x3f, 3), 0x70bf8003);
    assert_int_equal(cps_pm4_type7(0x0a, 0), 0x708a8000);
    assert_int_equal(cps_pm4_type4(0x885, 1), 0x48088501);
}

static void a_wrong_parity_bit_counts_only_where_it_is_looked_at(void **state)
{
    (void)state;
    assert_int_equal(cps_pm4_decode(0x70c80008).kind, CPS_PM4_TYPE7);
    for (unsigned bit = 0; bit < 32; bit++) {
        uint32_t header = 0x70c80008 ^ UINT32_C(1) << bit;
        struct cps_pm4 any = cps_pm4_decode_any(header);
        assert_int_equal(cps_pm4_decode(header).kind, CPS_PM4_BAD);
        assert_int_equal(any.kind, bit < 28 ? CPS_PM4_TYPE7 : CPS_PM4_BAD);
        if (any.kind == CPS_PM4_TYPE7)
            assert_int_equal(any.opcode, header >> 16 & 0x7f);
    }
    /* What can be decoded is what can be built, and nothing else. */
    for (uint64_t at = 0; at < UINT64_C(1) << 32; at += 4099) {
        uint32_t header = (uint32_t)at;
        struct cps_pm4 packet = cps_pm4_decode(header);
        struct cps_pm4 any = cps_pm4_decode_any(header);
        bool four = any.kind == CPS_PM4_TYPE4 && header == cps_pm4_type4(any.reg, any.count);
        bool seven = any.kind == CPS_PM4_TYPE7 && header == cps_pm4_type7(any.opcode, any.count);
        assert_int_equal(packet.kind, four || seven ? any.kind : CPS_PM4_BAD);
    }
    assert_int_equal(cps_pm4_decode_any(0x4fffffff).kind, CPS_PM4_TYPE4);
    assert_int_equal(cps_pm4_decode_any(0x4fffffff).reg, 0x3ffff);
    assert_int_equal(cps_pm4_decode_any(0x4fffffff).count, 0x7f);
}

static void expect_members(struct cps_pm4 packet, struct cps_pm4 expected)
{
    assert_int_equal(packet.kind, expected.kind);
    assert_int_equal(packet.reg, expected.reg);
    assert_int_equal(packet.opcode, expected.opcode);
    assert_int_equal(packet.count, expected.count);
}

static void members_that_a_kind_does_not_have_are_0(void **state)
{
    (void)state;
    expect_members(cps_pm4_decode(0x48088501), (struct cps_pm4){CPS_PM4_TYPE4, 0x885, 0, 1});
    expect_members(cps_pm4_decode(0x70c80008), (struct cps_pm4){CPS_PM4_TYPE7, 0, 0x48, 8});
    expect_members(cps_pm4_decode(0x71c80008), (struct cps_pm4){CPS_PM4_BAD, 0, 0, 0});
    expect_members(cps_pm4_decode_any(0x48088501), (struct cps_pm4){CPS_PM4_TYPE4, 0x885, 0, 1});
    expect_members(cps_pm4_decode_any(0x70c80008), (struct cps_pm4){CPS_PM4_TYPE7, 0, 0x48, 8});
    for (uint32_t type = 0; type < 16; type++) {
        if (type != 4 && type != 7)
            expect_members(cps_pm4_decode_any(type << 28 | 0x0fffffff),
                           (struct cps_pm4){CPS_PM4_BAD, 0, 0, 0});
    }
}

static void every_single_bit_error_of_the_counts_is_seen(void **state)
{
    (void)state;
    uint32_t header = cps_pm4_type7(0x3d, 5);
    for (unsigned bit = 0; bit < 32; bit++)
        assert_int_equal(cps_pm4_decode(header ^ 1u << bit).kind, CPS_PM4_BAD);
}

static void decode_is_the_inverse(void **state)
{
    (void)state;
    for (uint32_t reg = 0; reg < 0x40000; reg += 37) {
        struct cps_pm4 packet = cps_pm4_decode(cps_pm4_type4(reg, reg % 128));
        assert_int_equal(packet.kind, CPS_PM4_TYPE4);
        assert_int_equal(packet.reg, reg);
        assert_int_equal(packet.count, reg % 128);
    }
}

static const struct {
    const char *line;
    const char *error; /* NULL: the words below */
    size_t column;
    uint32_t count;
    uint32_t words[4];
} lines[] = {
    {"CP_NOP", NULL, 0, 1, {0x70108000}},
    {"  CP_NOP 1 0x2", NULL, 0, 3, {0x70100002, 1, 2}},
    {"reg 0x885 7", NULL, 0, 2, {0x48088501, 7}},
    {"reg CP_SCRATCH[2].REG 7", NULL, 0, 2, {0x48088501, 7}},
    {".word 0xdeadd00d", NULL, 0, 1, {0xdeadd00d}},
    {"CP_BOGUS", "expected an opcode, reg or .word", 0, 0, {0}},
    {"reg 0x40000 1", "expected a register offset up to 0x3ffff or a register's name", 11, 0, {0}},
    {"CP_NOP banana", "expected a 32-bit number, @buffer or #buffer", 7, 0, {0}},
    {"CP_NOP @nowhere", "expected the name of a buffer", 7, 0, {0}},
};

static void lines_parse_or_say_what_was_expected(void **state)
{
    struct cps_names *names = NULL;
    (void)state;
    assert_null(cps_names_create(CPS_LAYOUT_A6XX, NULL, &names));
    const struct cps_pm4text_names context = {names, NULL, NULL};
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        uint32_t words[16];
        uint32_t count = 0;
        size_t column = 0;
        struct cps_err *err =
            cps_pm4text_packet(&context, lines[i].line, words, 16, &count, &column);
        if (lines[i].error) {
            assert_non_null(err);
            assert_string_equal(err->message, lines[i].error);
            assert_int_equal(column, lines[i].column);
        } else {
            assert_null(err);
            assert_int_equal(count, lines[i].count);
            assert_memory_equal(words, lines[i].words, 4 * count);
        }
        cps_err_free(err);
    }
    cps_names_destroy(names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_headers_are_built),
        cmocka_unit_test(members_that_a_kind_does_not_have_are_0),
        cmocka_unit_test(a_wrong_parity_bit_counts_only_where_it_is_looked_at),
        cmocka_unit_test(every_single_bit_error_of_the_counts_is_seen),
        cmocka_unit_test(decode_is_the_inverse),
        cmocka_unit_test(lines_parse_or_say_what_was_expected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
