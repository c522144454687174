/* SPDX-License-Identifier: MIT
 * SEQ: a test for each point that its sources contradict each other in, and what is said of the
 * unknown. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>

#include "tests/lib/engine_bench.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_WORDS    24u
#define END          0x00000000

/* ---- where the sources contradict each other ---- */

static void test_opcode_has_16_bits(void **state)
{
    struct bench *b = RUN(0x00020100, 5, END);
    (void)state;
    assert_int_equal(bench_reg32(b, "ended"), CPS_EXIT_BAD_OP);
    assert_int_equal(bench_reg32(b, "val"), 0);
    bench_free(b);
}

static void test_params_are_length_less_one(void **state)
{
    CPS_BUF log = {0};
    struct bench *b = RUN(0x00040021, 0x2000, 1, 0x2004, END);
    (void)state;
    bench_log(b, CPS_PATH_POKE, &log);
    assert_string_equal(cps_buf_text(&log), "2000=1");
    assert_non_null(bench_unknown(b, CPS_UNKNOWN_ODD_PAIRS));
    assert_int_equal(bench_reg32(b, "reg"), 0x2000);
    assert_int_equal(bench_reg32(b, "val"), 1);
    bench_free(b);
    b = RUN(0x00010021, END);
    assert_int_equal(bench_reg32(b, "ended"), CPS_EXIT_BAD_LEN);
    bench_free(b);
}

static void test_irq_disable_is_1d_not_1f(void **state)
{
    static const uint32_t words[] = {0x00020000, 0xff, 0x0001001d, 0x0002001f, 0x2000, END};
    struct bench *b = bench_seq(CPS_SEQ_NEW, words, COUNT(words), NO_OUT, NULL);
    (void)state;
    cps_bus_load(b->bus, 0x2000, 0x3c);
    bench_run(b);
    assert_int_equal(bench_reg32(b, "irq-level"), 1);
    assert_int_equal(bench_reg32(b, "val"), 0x3c);
    bench_free(b);
}

static void test_irq_enable_tests_after_decrement(void **state)
{
    struct bench *b = RUN(0x0001001d, 0x0001001e, END);
    (void)state;
    assert_int_equal(bench_reg32(b, "irq-off"), 0);
    bench_free(b);
}

static void test_compare_out_has_two_parameters(void **state)
{
    static const uint32_t words[] = {0x0003002b, 0, 8, END}, one[] = {0x0002002b, 0, END};
    static const uint32_t out[] = {7};
    struct bench *b = bench_seq(CPS_SEQ_NEW, words, COUNT(words), 1, out);
    (void)state;
    bench_run(b);
    assert_int_equal(bench_reg32(b, "lt"), 1);
    bench_free(b);
    b = bench_seq(CPS_SEQ_NEW, one, COUNT(one), 1, out);
    bench_run(b);
    assert_int_equal(bench_reg32(b, "ended"), CPS_EXIT_BAD_LEN);
    bench_free(b);
}

/* One or two parameters, without complaint. */
static void test_timestamp_has_one_parameter(void **state)
{
    static const uint32_t words[] = {0x00020013, 70, 0x00020034, 0, 0x00030034, 1, 0, END};
    static const uint32_t out[] = {9, 9};
    struct bench *b = bench_seq(CPS_SEQ_NEW, words, COUNT(words), 2, out);
    (void)state;
    bench_run(b);
    assert_int_equal(bench_reg32(b, "ended"), CPS_EXIT_END);
    assert_int_equal(bench_read(b, 0xfffff400), 70);
    assert_int_equal(bench_read(b, 0xfffff404), 70);
    assert_null(bench_unknown(b, CPS_UNKNOWN_EXTRA_WORDS));
    assert_non_null(bench_unknown(b, CPS_UNKNOWN_TIMER));
    bench_free(b);
}

static void test_add_out_direct_is_3b(void **state)
{
    static const uint32_t direct[] = {0x0002003b, 1, END}, indirect[] = {0x0002003c, 1, END};
    static const uint32_t out[] = {5, 0};
    struct bench *b = bench_seq(CPS_SEQ_NEW, direct, COUNT(direct), 2, out);
    (void)state;
    bench_run(b);
    assert_int_equal(bench_reg32(b, "val"), 0);
    bench_free(b);
    b = bench_seq(CPS_SEQ_NEW, indirect, COUNT(indirect), 2, out);
    bench_run(b);
    assert_int_equal(bench_reg32(b, "val"), 5);
    bench_free(b);
}

/* The low byte of the parameter, or all of it; the word that an indirect form finds has all bits.
 */
static void test_out_index_width(void **state)
{
    static const uint8_t low_byte[] = {0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, 0x29, 0x34, 0x35};
    static const uint8_t whole[] = {0x2a, 0x2b, 0x30, 0x31, 0x32, 0x33, 0x3b, 0x3c};
    static const uint32_t out[] = {1, 1};
    (void)state;
    for (unsigned i = 0; i < COUNT(low_byte) + COUNT(whole); i++) {
        bool low = i < COUNT(low_byte);
        uint32_t op = low ? low_byte[i] : whole[i - COUNT(low_byte)];
        const uint32_t words[] = {0x00030000 | op, 0x100, 0, END};
        struct bench *b = bench_seq(CPS_SEQ_NEW, words, COUNT(words), 2, out);
        bench_run(b);
        assert_int_equal(bench_reg32(b, "ended"), low ? CPS_EXIT_END : CPS_EXIT_OUT_RANGE);
        bench_free(b);
    }
    static const uint32_t far[] = {0x100, 0}, words[] = {0x00020027, 0, END};
    struct bench *b = bench_seq(CPS_SEQ_NEW, words, COUNT(words), 2, far);
    bench_run(b);
    assert_int_equal(bench_reg32(b, "ended"), CPS_EXIT_OUT_RANGE);
    bench_free(b);
}

static void test_out_len_is_out_words(void **state)
{
    static const uint32_t words[] = {0x00020026, 2, END}, out[] = {1, 2};
    struct bench *b = bench_seq(CPS_SEQ_NEW, words, COUNT(words), 2, out);
    (void)state;
    bench_run(b);
    assert_int_equal(bench_reg32(b, "ended"), CPS_EXIT_OUT_RANGE);
    assert_int_equal(bench_reg32(b, "status"), 0); /* where the script stood */
    bench_free(b);
}

static void test_compare_is_unsigned(void **state)
{
    struct bench *b = RUN(0x00020000, 0xffffffff, 0x00020017, 1, END);
    (void)state;
    assert_int_equal(bench_reg32(b, "lt"), 0);
    bench_free(b);
}

static void test_shift_count_is_modulo_32(void **state)
{
    struct bench *b = RUN(0x00020000, 0x80000001, 0x00020008, 0x80, END);
    (void)state;
    assert_int_equal(bench_reg32(b, "val"), 0x80000001);
    assert_non_null(bench_unknown(b, CPS_UNKNOWN_SHIFT_COUNT));
    bench_free(b);
    b = RUN(0x00020000, 0x80000001, 0x00020008, 0x21, END);
    assert_int_equal(bench_reg32(b, "val"), 2);
    assert_non_null(bench_unknown(b, CPS_UNKNOWN_SHIFT_COUNT));
    bench_free(b);
    b = RUN(0x00020000, 0x80000001, 0x00020008, 0x1f, END);
    assert_int_equal(bench_reg32(b, "val"), 0x80000000);
    assert_null(bench_unknown(b, CPS_UNKNOWN_SHIFT_COUNT));
    bench_free(b);
}

static void test_shift_right_is_logical(void **state)
{
    struct bench *b = RUN(0x00020000, 0x80000000, 0x00020008, 0xe1, END);
    (void)state;
    assert_int_equal(bench_reg32(b, "val"), 1);
    bench_free(b);
}

/* Levels of interrupts, not of writers; A and V change behind all writes. */
static void test_set_registers_locks_interrupts(void **state)
{
    struct bench *b = RUN(0x0001001d, 0x00030021, 0x2000, 1, END);
    (void)state;
    assert_int_equal(bench_reg32(b, "irq-level"), 1);
    assert_int_equal(bench_reg32(b, "irq-off"), 1);
    assert_int_equal(bench_reg32(b, "unlocked"), 0);
    bench_free(b);
}

static void test_nop_must_advance(void **state)
{
    struct bench *b = RUN(0x00000038, END);
    (void)state;
    assert_int_equal(bench_reg32(b, "ended"), CPS_EXIT_BAD_LEN);
    bench_free(b);
}

/* Old 0 and 1: bit 0 of INPUT0, which nothing here sets. */
static void test_old_condition_0_is_bit_0(void **state)
{
    static const uint32_t set[] = {0x00030014, 0, 40, END}, clear[] = {0x00030014, 1, 40, END};
    struct bench *b = bench_seq(CPS_SEQ_OLD, set, COUNT(set), NO_OUT, NULL);
    (void)state;
    bench_run(b);
    assert_int_equal(bench_reg32(b, "ret"), 0);
    assert_true(b->bus->bus.clock == 40);
    assert_non_null(bench_unknown(b, CPS_UNKNOWN_CONDITION));
    bench_free(b);
    b = bench_seq(CPS_SEQ_OLD, clear, COUNT(clear), NO_OUT, NULL);
    bench_run(b);
    assert_int_equal(bench_reg32(b, "ret"), 1);
    bench_free(b);
}

/* The text of both waits says "on success"; a failure leaves the flags. */
static void test_wait_result_is_of_success(void **state)
{
    struct bench *b =
        RUN(0x00020017, 0, 0x00030015, 0xffffffff, 5, 0x00030015, 0, 5, 0x00030014, 0x300, 5, END);
    (void)state;
    /* R[0] reads 0: the first two hold, the third does not. */
    assert_int_equal(bench_reg32(b, "ret"), 6);
    assert_int_equal(bench_reg32(b, "eq"), 1);
    assert_int_equal(bench_reg32(b, "lt"), 0);
    bench_free(b);
}

/* val_last is the value, whatever the table of the scratch area says. */
static void test_scratch_names_are_not_swapped(void **state)
{
    struct bench *b = RUN(0x00020000, 1, 0x00020001, 2, END);
    (void)state;
    assert_int_equal(bench_reg32(b, "val"), 1);
    assert_int_equal(bench_reg32(b, "reg"), 2);
    bench_free(b);
}

/* ---- what no source says ---- */

static void test_unknowns(void **state)
{
    static const struct {
        enum cps_unknown what;
        enum cps_gen abi;
        uint32_t pc;
        enum cps_stop stop;
        size_t count;
        uint32_t words[MAX_WORDS];
    } rows[] = {
        {CPS_UNKNOWN_SEQ_INITIAL, CPS_SEQ_NEW, 0, CPS_STOP_IDLE, 1, {END}},
        {CPS_UNKNOWN_BRANCH_NEGATIVE,
         CPS_SEQ_NEW,
         1,
         CPS_STOP_IDLE,
         4,
         {0x00010038, 0x0002001c, 0xfffe, END}},
        {CPS_UNKNOWN_BRANCH_MIDDLE,
         CPS_SEQ_NEW,
         0,
         CPS_STOP_IDLE,
         5,
         {0x0002001c, 3, 0x00020000, 0x00010038, END}},
        {CPS_UNKNOWN_OP_2D, CPS_SEQ_NEW, 0, CPS_STOP_IDLE, 4, {0x0003002d, 0, 1, END}},
        {CPS_UNKNOWN_EXTRA_WORDS,
         CPS_SEQ_NEW,
         1,
         CPS_STOP_IDLE,
         5,
         {0x00010038, 0x00030000, 5, 6, END}},
        {CPS_UNKNOWN_PGRAPH_IDLE, CPS_SEQ_NEW, 0, CPS_STOP_IDLE, 4, {0x00030014, 0x400, 9, END}},
        {CPS_UNKNOWN_CONDITION, CPS_SEQ_NEW, 0, CPS_STOP_IDLE, 4, {0x00030014, 0x200, 9, END}},
        {CPS_UNKNOWN_CONDITION, CPS_SEQ_NEW, 0, CPS_STOP_IDLE, 4, {0x00030014, 0x20300, 9, END}},
        {CPS_UNKNOWN_CONDITION, CPS_SEQ_OLD, 0, CPS_STOP_IDLE, 4, {0x00030014, 12, 9, END}},
        {CPS_UNKNOWN_REG_1610, CPS_SEQ_NEW, 0, CPS_STOP_IDLE, 3, {0x00020020, 1, END}},
        {CPS_UNKNOWN_RAN_OFF, CPS_SEQ_NEW, 1, CPS_STOP_FAULT, 1, {0x00010038}},
        {CPS_UNKNOWN_FB_DELAY, CPS_SEQ_NEW, 0, CPS_STOP_IDLE, 3, {0x00020020, 7, END}},
        {CPS_UNKNOWN_UNALIGNED, CPS_SEQ_NEW, 0, CPS_STOP_IDLE, 3, {0x0002000b, 0x2001, END}},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bench *b = bench_seq(rows[i].abi, rows[i].words, rows[i].count, NO_OUT, NULL);
        bench_run(b);
        const struct cps_event *said = bench_unknown(b, rows[i].what);
        assert_non_null(said);
        assert_int_equal(cps_event_pc(said), rows[i].pc);
        assert_int_equal(b->stop, rows[i].stop);
        bench_free(b);
    }
}

/* The pause that never comes ends by the policy's limit. */
static void test_spin_ends(void **state)
{
    struct bench *b = bench_new(CPS_SEQ_NEW, "fb-delay=0 spin=5000");
    (void)state;
    bench_load(b, 0, (const uint8_t *)"\x20\0\x02\0\x01\0\0\0\0\0\0\0", 12);
    cps_bus_load(b->bus, 0xfffff000, 3);
    assert_int_equal(bench_run(b), CPS_STOP_FAULT);
    assert_true(b->bus->bus.clock == 5000);
    assert_non_null(bench_unknown(b, CPS_UNKNOWN_SPIN));
    bench_free(b);
}

static void test_step_limit(void **state)
{
    static const uint32_t words[] = {0x0002001c, 0};
    struct bench *b = bench_seq(CPS_SEQ_NEW, words, COUNT(words), NO_OUT, NULL);
    (void)state;
    assert_int_equal(bench_run(b), CPS_STOP_BUDGET);
    assert_int_equal(b->engine->instructions, 1000000);
    bench_free(b);
}

static void test_random_words(void **state)
{
    uint32_t random = 0x7654321;
    (void)state;
    for (unsigned n = 0; n < 300; n++) {
        uint32_t words[MAX_WORDS];
        for (unsigned i = 0; i < MAX_WORDS; i++) {
            random ^= random << 13;
            random ^= random >> 17;
            random ^= random << 5;
            words[i] = random & (i % 3 ? 0x0003003f : 0x0000001f);
        }
        struct bench *b = bench_seq(n & 1 ? CPS_SEQ_OLD : CPS_SEQ_NEW, words, MAX_WORDS, 2, words);
        nv_loop_(bench_nv(b), 2000);
        assert_in_range(b->engine->instructions, 0, 2000);
        assert_in_range(bench_reg32(b, "pc"), 0, MAX_WORDS);
        bench_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opcode_has_16_bits),
        cmocka_unit_test(test_params_are_length_less_one),
        cmocka_unit_test(test_irq_disable_is_1d_not_1f),
        cmocka_unit_test(test_irq_enable_tests_after_decrement),
        cmocka_unit_test(test_compare_out_has_two_parameters),
        cmocka_unit_test(test_timestamp_has_one_parameter),
        cmocka_unit_test(test_add_out_direct_is_3b),
        cmocka_unit_test(test_out_index_width),
        cmocka_unit_test(test_out_len_is_out_words),
        cmocka_unit_test(test_compare_is_unsigned),
        cmocka_unit_test(test_shift_count_is_modulo_32),
        cmocka_unit_test(test_shift_right_is_logical),
        cmocka_unit_test(test_set_registers_locks_interrupts),
        cmocka_unit_test(test_nop_must_advance),
        cmocka_unit_test(test_old_condition_0_is_bit_0),
        cmocka_unit_test(test_wait_result_is_of_success),
        cmocka_unit_test(test_scratch_names_are_not_swapped),
        cmocka_unit_test(test_unknowns),
        cmocka_unit_test(test_spin_ends),
        cmocka_unit_test(test_step_limit),
        cmocka_unit_test(test_random_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
