/* SPDX-License-Identifier: MIT
 * SEQ: the test vectors of its reference, a test for each point that its sources contradict each
 * other in, and what is said of the unknown. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>

#include "bench.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_WORDS    24u
#define END          0x00000000
#define NO_OUT       -1

static uint32_t reg(const struct bench *b, const char *name)
{
    return (uint32_t)bench_reg(b, name);
}

/* A script in memory, up to its last word that is not 0 and the one behind it. @p out  how many
 * words OUT has, or NO_OUT */
static struct bench *load(enum cps_gen abi, const uint32_t *words, size_t count, int out,
                          const uint32_t *out_words)
{
    struct bench *b = bench_new(abi, NULL);
    cps_bus_load(b->bus, 0x10a1c0, 1u << 24);
    for (size_t i = 0; i < count; i++)
        cps_bus_load(b->bus, 0x10a1c4, words[i]);
    if (out != NO_OUT)
        cps_bus_load(b->bus, 0xfffff004, (uint32_t)out);
    for (int i = 0; i < out; i++)
        cps_bus_load(b->bus, 0xfffff400 + 4 * (uint32_t)i, out_words[i]);
    cps_bus_load(b->bus, 0xfffff000, (uint32_t)count);
    return b;
}

static struct bench *run_words(const uint32_t *words, size_t count)
{
    struct bench *b = load(CPS_SEQ_NEW, words, count, NO_OUT, NULL);
    bench_run(b);
    return b;
}
#define RUN(...) \
    run_words((const uint32_t[]){__VA_ARGS__}, COUNT(((const uint32_t[]){__VA_ARGS__})))

/* ---- vectors: words to result ---- */

static void test_vectors(void **state)
{
    static const struct {
        const char *name;
        unsigned how; /* CPS_EXIT_* */
        uint32_t status, val, reg;
        size_t count;
        uint32_t words[MAX_WORDS];
    } rows[] = {
        {"1 arithmetic",
         CPS_EXIT_END,
         0,
         0x110,
         0,
         9,
         {0x00020000, 0xf, 0x00020006, 1, 0x00020002, 0x100, 0x00020004, 0xff0, END}},
        {"3 shift left", CPS_EXIT_END, 0, 0x10, 0, 5, {0x00020000, 0x80000001, 0x00020008, 4, END}},
        {"3 shift right by 1",
         CPS_EXIT_END,
         0,
         0x40000000,
         0,
         5,
         {0x00020000, 0x80000001, 0x00020008, 0xff, END}},
        {"3 shift right by 4",
         CPS_EXIT_END,
         0,
         0x08000000,
         0,
         5,
         {0x00020000, 0x80000001, 0x00020008, 0xfffffffc, END}},
        {"3 low byte 0",
         CPS_EXIT_END,
         0,
         0x80000001,
         0,
         5,
         {0x00020000, 0x80000001, 0x00020008, 0x100, END}},
        {"the same of the register",
         CPS_EXIT_END,
         0,
         0,
         0x08000000,
         5,
         {0x00020001, 0x80000001, 0x00020009, 0xfc, END}},
        {"13 exit 10", CPS_EXIT_CODE, 0xffffffff, 0, 0, 1, {0x00010010}},
        {"13 exit 11", CPS_EXIT_CODE, 0xffffffff, 0, 0, 1, {0x00010011}},
        {"13 exit 12", CPS_EXIT_CODE, 0xffffffff, 0, 0, 1, {0x00010012}},
        {"13 exit -2", CPS_EXIT_CODE, 0xfffffffe, 0, 0, 2, {0x00020016, 0xfe}},
        {"13 exit 2", CPS_EXIT_CODE, 2, 0, 0, 2, {0x00020016, 0x102}},
        {"13 exit 2f", CPS_EXIT_CODE, 0xffffffff, 0, 0, 1, {0x0001002f}},
        {"13 no operation 36", CPS_EXIT_BAD_OP, 0xffffffff, 0, 0, 1, {0x00010036}},
        {"14 branch to the end",
         CPS_EXIT_BRANCH,
         4,
         0,
         0,
         4,
         {0x0002001c, 4, 0x00010038, 0x00010010}},
        {"14 branch to the last word",
         CPS_EXIT_CODE,
         0xffffffff,
         0,
         0,
         4,
         {0x0002001c, 3, 0x00010038, 0x00010010}},
        {"15 length 0", CPS_EXIT_BAD_LEN, 0, 0, 0, 1, {0x00000005}},
        {"15 no parameter", CPS_EXIT_BAD_LEN, 0, 0, 0, 2, {0x0001000b, END}},
        {"15 bits 8 to 15", CPS_EXIT_BAD_OP, 0xffffffff, 0, 0, 2, {0x00010100, END}},
        {"behind the last word", CPS_EXIT_BAD_LEN, 1, 0, 0, 2, {0x00010038, 0x00020000}},
        {"9 no OUT", CPS_EXIT_OUT_MISSING, 0, 0, 0, 3, {0x00020022, 0, END}},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bench *b = run_words(rows[i].words, rows[i].count);
        const struct cps_event *end = bench_find(b, CPS_EV_EXIT, rows[i].how, 0);
        if (!end || end->value != rows[i].status || reg(b, "val") != rows[i].val ||
            reg(b, "reg") != rows[i].reg)
            fail_msg("%s", rows[i].name);
        assert_int_equal(b->stop, rows[i].how <= CPS_EXIT_CODE ? CPS_STOP_IDLE : CPS_STOP_FAULT);
        bench_free(b);
    }
}

/* Vector 2: one read, at the sum. */
static void test_read_at_offset(void **state)
{
    static const uint32_t words[] = {0x00020001, 0x100000, 0x0002000c, 0x210, END};
    struct bench *b = load(CPS_SEQ_OLD, words, COUNT(words), NO_OUT, NULL);
    (void)state;
    cps_bus_load(b->bus, 0x100210, 0xcafe0001);
    bench_run(b);
    const struct cps_event *read = bench_find(b, CPS_EV_REGR, 0, 0);
    assert_non_null(read);
    assert_int_equal(read->addr, 0x100210);
    assert_null(bench_find(b, CPS_EV_REGR, 0, (size_t)(read - b->event) + 1));
    assert_int_equal(reg(b, "reg"), 0x100000);
    assert_int_equal(reg(b, "val"), 0xcafe0001);
    bench_free(b);
}

/* Vector 4. */
static void test_set_registers(void **state)
{
    CPS_BUF log = {0};
    struct bench *b = RUN(0x00050021, 0x1304, 0, 0x130c, 3, END);
    (void)state;
    bench_log(b, CPS_PATH_POKE, &log);
    assert_string_equal(cps_buf_text(&log), "1304=0 130c=3");
    assert_int_equal(reg(b, "reg"), 0x130c);
    assert_int_equal(reg(b, "val"), 3);
    assert_int_equal(reg(b, "irq-level"), 0);
    bench_free(b);
}

/* Vector 5, and which branches they take. */
static void test_compare_vectors(void **state)
{
    static const struct {
        uint32_t val, with;
        uint8_t eq, lt;
    } rows[] = {{5, 5, 1, 0}, {5, 6, 0, 1}, {5, 4, 0, 0}, {0xffffffff, 1, 0, 0}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const bool taken[] = {rows[i].eq, !rows[i].eq, rows[i].lt, !rows[i].eq && !rows[i].lt,
                              true};
        for (uint32_t op = 0x18; op <= 0x1c; op++) {
            struct bench *b = RUN(0x00020000, rows[i].val, 0x00020017, rows[i].with,
                                  0x00020000 | op, 8, 0x00020016, 1, END);
            assert_int_equal(reg(b, "eq"), rows[i].eq);
            assert_int_equal(reg(b, "lt"), rows[i].lt);
            assert_int_equal(reg(b, "ended"), taken[op - 0x18] ? CPS_EXIT_END : CPS_EXIT_CODE);
            bench_free(b);
        }
    }
}

/* Vector 6. */
static void test_loop(void **state)
{
    struct bench *b =
        RUN(0x00020000, 3, 0x00020006, 0xffffffff, 0x00020017, 0, 0x00020019, 2, 0x00010038, END);
    (void)state;
    assert_int_equal(b->engine->instructions, 11);
    assert_int_equal(reg(b, "val"), 0);
    assert_int_equal(reg(b, "eq"), 1);
    assert_int_equal(reg(b, "ended"), CPS_EXIT_END);
    bench_free(b);
}

/* Vectors 7 and 8: OUT holds 2, 7, 3, 0. */
static void test_out_vectors(void **state)
{
    static const struct {
        unsigned how;
        uint32_t val, reg;
        uint32_t out[4];
        size_t count;
        uint32_t words[MAX_WORDS];
    } rows[] = {
        {CPS_EXIT_END, 7, 0, {2, 7, 3, 0}, 3, {0x00020026, 1, END}},
        {CPS_EXIT_END, 3, 0, {2, 7, 3, 0}, 3, {0x00020027, 0, END}},
        {CPS_EXIT_OUT_RANGE, 0, 0, {2, 7, 3, 0}, 3, {0x00020027, 1, END}},
        {CPS_EXIT_OUT_RANGE, 0, 0, {2, 7, 3, 0}, 3, {0x00020026, 0x104, END}},
        {CPS_EXIT_END, 7, 0, {2, 7, 3, 0}, 3, {0x00020026, 0x101, END}},
        {CPS_EXIT_OUT_RANGE, 0, 0, {2, 7, 3, 0}, 4, {0x0003002a, 0x101, 1, END}},
        {CPS_EXIT_END, 0, 0, {2, 7, 3, 5}, 7, {0x0003002a, 3, 5, 0x0003002b, 3, 5, END}},
        {CPS_EXIT_END, 9, 0, {9, 7, 9, 0}, 7, {0x00020000, 9, 0x00020023, 0, 0x00020022, 0, END}},
        {CPS_EXIT_END, 0, 0, {2, 1, 4, 0}, 7, {0x00030025, 0, 4, 0x00030024, 1, 1, END}},
        {CPS_EXIT_END, 0, 3, {2, 7, 3, 0}, 5, {0x00020028, 1, 0x00020029, 0, END}},
        {CPS_EXIT_END, 8, 0, {10, 7, 11, 0}, 7, {0x00020000, 8, 0x00020031, 0, 0x00020030, 0, END}},
        {CPS_EXIT_END, 1, 0, {0, 7, 1, 0}, 7, {0x00020000, 1, 0x00020033, 0, 0x00020032, 0, END}},
        {CPS_EXIT_END, 10, 0, {2, 7, 3, 0}, 5, {0x0002003b, 1, 0x0002003c, 0, END}},
    };
    static const uint32_t out[] = {2, 7, 3, 0};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bench *b = load(CPS_SEQ_NEW, rows[i].words, rows[i].count, 4, out);
        bench_run(b);
        assert_int_equal(reg(b, "ended"), rows[i].how);
        assert_int_equal(reg(b, "val"), rows[i].val);
        assert_int_equal(reg(b, "reg"), rows[i].reg);
        for (uint32_t k = 0; k < 4; k++)
            assert_int_equal(bench_read(b, 0xfffff400 + 4 * k), rows[i].out[k]);
        bench_free(b);
    }
}

/* Vectors 10 and 11, on the deterministic clock: FB_PAUSED from tick 400 to 900. */
static struct bench *wait_bench(enum cps_gen abi, const uint32_t *words, size_t count)
{
    struct bench *b = load(abi, words, count, NO_OUT, NULL);
    assert_null(cps_bus_schedule(b->bus, 400, true, 0, 1));
    assert_null(cps_bus_schedule(b->bus, 900, true, 0, 0));
    bench_run(b);
    return b;
}

static void test_wait_results(void **state)
{
    static const uint32_t words[] = {
        0x00030014, 0x300, 1000, /* ok at 400 */
        0x00030014, 0x000, 100,  /* time-out at 500 */
        0x00030014, 0x300, 0,    /* ok at once */
        END,
    };
    struct bench *b = wait_bench(CPS_SEQ_NEW, words, COUNT(words));
    (void)state;
    assert_int_equal(reg(b, "ret"), 5);
    assert_int_equal(reg(b, "eq"), 1);
    assert_true(cps_bus_clock(b->bus) == 500);
    bench_free(b);
}

static void test_wait_until_not_paused(void **state)
{
    static const struct {
        enum cps_gen abi;
        uint32_t p0;
    } rows[] = {{CPS_SEQ_NEW, 0x10300}, {CPS_SEQ_OLD, 3}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const uint32_t words[] = {0x00020013, 500, 0x00030014, rows[i].p0, 1000000, END};
        struct bench *b = wait_bench(rows[i].abi, words, COUNT(words));
        assert_int_equal(reg(b, "ret"), 1);
        assert_true(cps_bus_clock(b->bus) == 900);
        bench_free(b);
    }
}

/* Every condition of both encodings sees its event, and its inverse the contrary. */
static void test_conditions(void **state)
{
    static const struct {
        enum cps_gen abi;
        uint32_t p0, inverse;
        unsigned event;
    } rows[] = {
        {CPS_SEQ_OLD, 2, 1, 0},           {CPS_SEQ_OLD, 4, 1, 1},
        {CPS_SEQ_OLD, 6, 1, 3},           {CPS_SEQ_OLD, 8, 1, 2},
        {CPS_SEQ_OLD, 10, 1, 4},          {CPS_SEQ_NEW, 0x000, 1 << 16, 1},
        {CPS_SEQ_NEW, 0x001, 1 << 16, 3}, {CPS_SEQ_NEW, 0x100, 1 << 16, 2},
        {CPS_SEQ_NEW, 0x101, 1 << 16, 4}, {CPS_SEQ_NEW, 0x300, 1 << 16, 0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows) * 2; i++) {
        bool inverse = i % 2;
        const uint32_t words[] = {0x00030014, rows[i / 2].p0 | (inverse ? rows[i / 2].inverse : 0),
                                  50, END};
        struct bench *b = load(rows[i / 2].abi, words, COUNT(words), NO_OUT, NULL);
        for (unsigned event = 0; event < 5; event++)
            assert_null(cps_bus_schedule(b->bus, 10, true, event, event == rows[i / 2].event));
        bench_run(b);
        assert_int_equal(reg(b, "ret"), 1);
        assert_true(cps_bus_clock(b->bus) == (inverse ? 0 : 10));
        bench_free(b);
    }
}

static void test_wait_bitmask(void **state)
{
    static const uint32_t words[] = {0x00020001, 0x2000,     0x00020000, 0x20, 0x00030015, 0xf0,
                                     1000,       0x00030015, 0x0f,       10,   0x0001002f};
    struct bench *b = load(CPS_SEQ_NEW, words, COUNT(words), NO_OUT, NULL);
    (void)state;
    assert_null(cps_bus_schedule(b->bus, 0, false, 0x2000, 0x11));
    assert_null(cps_bus_schedule(b->bus, 77, false, 0x2000, 0x2f));
    bench_run(b);
    assert_int_equal(reg(b, "ret"), 2); /* the first in time, the second not */
    assert_int_equal(reg(b, "eq"), 1);
    assert_true(cps_bus_clock(b->bus) == 87);
    bench_free(b);
}

/* Vector 12. */
static void test_pause_and_resume(void **state)
{
    static const uint32_t words[] = {0x00020020, 1, 0x00020020, 0, END};
    CPS_BUF log = {0};
    struct bench *b = load(CPS_SEQ_NEW, words, COUNT(words), NO_OUT, NULL);
    (void)state;
    cps_bus_load(b->bus, 0x1314, 0x00200020);
    cps_bus_load(b->bus, 0x1610, 0x31);
    bench_run_to(b, 3);
    bench_log(b, CPS_PATH_POKE, &log);
    assert_string_equal(cps_buf_text(&log), "1610=32 1314=210021");
    assert_int_equal(reg(b, "irq-level"), 1);
    assert_int_equal(reg(b, "unlocked"), 0);
    bench_run_to(b, 8); /* fb-delay */
    assert_int_equal(cps_bus_events(b->bus), 1);
    bench_run(b);
    cps_buf_clear(&log);
    bench_log(b, CPS_PATH_POKE, &log);
    assert_string_equal(cps_buf_text(&log), "1610=32 1314=210021 1314=200020 1610=0");
    assert_int_equal(reg(b, "irq-level"), 0);
    assert_int_equal(reg(b, "ended"), CPS_EXIT_END);
    bench_free(b);
}

/* Vector 16. */
static void test_interrupt_nesting(void **state)
{
    static const uint32_t words[] = {0x0001001d, 0x0001001d, 0x0001001e, 0x0001001e, END};
    static const uint8_t level[] = {1, 2, 1, 0};
    (void)state;
    for (unsigned n = 1; n <= 4; n++) {
        struct bench *b = load(CPS_SEQ_NEW, words, COUNT(words), NO_OUT, NULL);
        b->engine->ops->run(b->engine, n);
        assert_int_equal(reg(b, "irq-level"), level[n - 1]);
        assert_int_equal(reg(b, "irq-off"), n < 4);
        bench_free(b);
    }
    struct bench *b = RUN(0x0001001e, END);
    assert_non_null(bench_unknown(b, CPS_UNKNOWN_IRQ_UNDERFLOW));
    bench_free(b);
}

/* ---- where the sources contradict each other ---- */

static void test_opcode_has_16_bits(void **state)
{
    struct bench *b = RUN(0x00020100, 5, END);
    (void)state;
    assert_int_equal(reg(b, "ended"), CPS_EXIT_BAD_OP);
    assert_int_equal(reg(b, "val"), 0);
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
    assert_int_equal(reg(b, "reg"), 0x2000);
    assert_int_equal(reg(b, "val"), 1);
    bench_free(b);
    b = RUN(0x00010021, END);
    assert_int_equal(reg(b, "ended"), CPS_EXIT_BAD_LEN);
    bench_free(b);
}

static void test_irq_disable_is_1d_not_1f(void **state)
{
    static const uint32_t words[] = {0x00020000, 0xff, 0x0001001d, 0x0002001f, 0x2000, END};
    struct bench *b = load(CPS_SEQ_NEW, words, COUNT(words), NO_OUT, NULL);
    (void)state;
    cps_bus_load(b->bus, 0x2000, 0x3c);
    bench_run(b);
    assert_int_equal(reg(b, "irq-level"), 1);
    assert_int_equal(reg(b, "val"), 0x3c);
    bench_free(b);
}

static void test_irq_enable_tests_after_decrement(void **state)
{
    struct bench *b = RUN(0x0001001d, 0x0001001e, END);
    (void)state;
    assert_int_equal(reg(b, "irq-off"), 0);
    bench_free(b);
}

static void test_compare_out_has_two_parameters(void **state)
{
    static const uint32_t words[] = {0x0003002b, 0, 8, END}, one[] = {0x0002002b, 0, END};
    static const uint32_t out[] = {7};
    struct bench *b = load(CPS_SEQ_NEW, words, COUNT(words), 1, out);
    (void)state;
    bench_run(b);
    assert_int_equal(reg(b, "lt"), 1);
    bench_free(b);
    b = load(CPS_SEQ_NEW, one, COUNT(one), 1, out);
    bench_run(b);
    assert_int_equal(reg(b, "ended"), CPS_EXIT_BAD_LEN);
    bench_free(b);
}

/* One or two parameters, without complaint. */
static void test_timestamp_has_one_parameter(void **state)
{
    static const uint32_t words[] = {0x00020013, 70, 0x00020034, 0, 0x00030034, 1, 0, END};
    static const uint32_t out[] = {9, 9};
    struct bench *b = load(CPS_SEQ_NEW, words, COUNT(words), 2, out);
    (void)state;
    bench_run(b);
    assert_int_equal(reg(b, "ended"), CPS_EXIT_END);
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
    struct bench *b = load(CPS_SEQ_NEW, direct, COUNT(direct), 2, out);
    (void)state;
    bench_run(b);
    assert_int_equal(reg(b, "val"), 0);
    bench_free(b);
    b = load(CPS_SEQ_NEW, indirect, COUNT(indirect), 2, out);
    bench_run(b);
    assert_int_equal(reg(b, "val"), 5);
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
        struct bench *b = load(CPS_SEQ_NEW, words, COUNT(words), 2, out);
        bench_run(b);
        assert_int_equal(reg(b, "ended"), low ? CPS_EXIT_END : CPS_EXIT_OUT_RANGE);
        bench_free(b);
    }
    static const uint32_t far[] = {0x100, 0}, words[] = {0x00020027, 0, END};
    struct bench *b = load(CPS_SEQ_NEW, words, COUNT(words), 2, far);
    bench_run(b);
    assert_int_equal(reg(b, "ended"), CPS_EXIT_OUT_RANGE);
    bench_free(b);
}

static void test_out_len_is_out_words(void **state)
{
    static const uint32_t words[] = {0x00020026, 2, END}, out[] = {1, 2};
    struct bench *b = load(CPS_SEQ_NEW, words, COUNT(words), 2, out);
    (void)state;
    bench_run(b);
    assert_int_equal(reg(b, "ended"), CPS_EXIT_OUT_RANGE);
    assert_int_equal(reg(b, "status"), 0); /* where the script stood */
    bench_free(b);
}

static void test_compare_is_unsigned(void **state)
{
    struct bench *b = RUN(0x00020000, 0xffffffff, 0x00020017, 1, END);
    (void)state;
    assert_int_equal(reg(b, "lt"), 0);
    bench_free(b);
}

static void test_shift_count_is_modulo_32(void **state)
{
    struct bench *b = RUN(0x00020000, 0x80000001, 0x00020008, 0x80, END);
    (void)state;
    assert_int_equal(reg(b, "val"), 0x80000001);
    assert_non_null(bench_unknown(b, CPS_UNKNOWN_SHIFT_COUNT));
    bench_free(b);
    b = RUN(0x00020000, 0x80000001, 0x00020008, 0x21, END);
    assert_int_equal(reg(b, "val"), 2);
    assert_non_null(bench_unknown(b, CPS_UNKNOWN_SHIFT_COUNT));
    bench_free(b);
    b = RUN(0x00020000, 0x80000001, 0x00020008, 0x1f, END);
    assert_int_equal(reg(b, "val"), 0x80000000);
    assert_null(bench_unknown(b, CPS_UNKNOWN_SHIFT_COUNT));
    bench_free(b);
}

static void test_shift_right_is_logical(void **state)
{
    struct bench *b = RUN(0x00020000, 0x80000000, 0x00020008, 0xe1, END);
    (void)state;
    assert_int_equal(reg(b, "val"), 1);
    bench_free(b);
}

/* Levels of interrupts, not of writers; A and V change behind all writes. */
static void test_set_registers_locks_interrupts(void **state)
{
    struct bench *b = RUN(0x0001001d, 0x00030021, 0x2000, 1, END);
    (void)state;
    assert_int_equal(reg(b, "irq-level"), 1);
    assert_int_equal(reg(b, "irq-off"), 1);
    assert_int_equal(reg(b, "unlocked"), 0);
    bench_free(b);
}

static void test_nop_must_advance(void **state)
{
    struct bench *b = RUN(0x00000038, END);
    (void)state;
    assert_int_equal(reg(b, "ended"), CPS_EXIT_BAD_LEN);
    bench_free(b);
}

/* Old 0 and 1: bit 0 of INPUT0, which nothing here sets. */
static void test_old_condition_0_is_bit_0(void **state)
{
    static const uint32_t set[] = {0x00030014, 0, 40, END}, clear[] = {0x00030014, 1, 40, END};
    struct bench *b = load(CPS_SEQ_OLD, set, COUNT(set), NO_OUT, NULL);
    (void)state;
    bench_run(b);
    assert_int_equal(reg(b, "ret"), 0);
    assert_true(cps_bus_clock(b->bus) == 40);
    assert_non_null(bench_unknown(b, CPS_UNKNOWN_CONDITION));
    bench_free(b);
    b = load(CPS_SEQ_OLD, clear, COUNT(clear), NO_OUT, NULL);
    bench_run(b);
    assert_int_equal(reg(b, "ret"), 1);
    bench_free(b);
}

/* The text of both waits says "on success"; a failure leaves the flags. */
static void test_wait_result_is_of_success(void **state)
{
    struct bench *b =
        RUN(0x00020017, 0, 0x00030015, 0xffffffff, 5, 0x00030015, 0, 5, 0x00030014, 0x300, 5, END);
    (void)state;
    /* R[0] reads 0: the first two hold, the third does not. */
    assert_int_equal(reg(b, "ret"), 6);
    assert_int_equal(reg(b, "eq"), 1);
    assert_int_equal(reg(b, "lt"), 0);
    bench_free(b);
}

/* val_last is the value, whatever the table of the scratch area says. */
static void test_scratch_names_are_not_swapped(void **state)
{
    struct bench *b = RUN(0x00020000, 1, 0x00020001, 2, END);
    (void)state;
    assert_int_equal(reg(b, "val"), 1);
    assert_int_equal(reg(b, "reg"), 2);
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
         CPS_STOP_FAULT,
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
        struct bench *b = load(rows[i].abi, rows[i].words, rows[i].count, NO_OUT, NULL);
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
    assert_true(cps_bus_clock(b->bus) == 5000);
    assert_non_null(bench_unknown(b, CPS_UNKNOWN_SPIN));
    bench_free(b);
}

static void test_step_limit(void **state)
{
    static const uint32_t words[] = {0x0002001c, 0};
    struct bench *b = load(CPS_SEQ_NEW, words, COUNT(words), NO_OUT, NULL);
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
        struct bench *b = load(n & 1 ? CPS_SEQ_OLD : CPS_SEQ_NEW, words, MAX_WORDS, 2, words);
        b->engine->ops->run(b->engine, 2000);
        assert_in_range(b->engine->instructions, 0, 2000);
        assert_in_range(reg(b, "pc"), 0, MAX_WORDS);
        bench_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_read_at_offset),
        cmocka_unit_test(test_set_registers),
        cmocka_unit_test(test_compare_vectors),
        cmocka_unit_test(test_loop),
        cmocka_unit_test(test_out_vectors),
        cmocka_unit_test(test_wait_results),
        cmocka_unit_test(test_wait_until_not_paused),
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_wait_bitmask),
        cmocka_unit_test(test_pause_and_resume),
        cmocka_unit_test(test_interrupt_nesting),
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
