/* SPDX-License-Identifier: MIT
 * SEQ: the test vectors of its reference. */
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

/* ---- vectors: words to result ---- */

static const struct {
    const char *name;
    unsigned how; /* CPS_EXIT_* */
    uint32_t status, val, reg;
    size_t count;
    uint32_t words[MAX_WORDS];
} vectors[] = {
    {"1 arithmetic",
     CPS_EXIT_END,
     0,
     0x110,
     0,
     9,
     {0x00020000, 0xf, 0x00020006, 1, 0x00020002, 0x100, 0x00020004, 0xff0, END}},
    {"1 the same of the register",
     CPS_EXIT_END,
     0,
     0,
     0x110,
     9,
     {0x00020001, 0xf, 0x00020007, 1, 0x00020003, 0x100, 0x00020005, 0xff0, END}},
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
    {"3 shift left by 65",
     CPS_EXIT_END,
     0,
     2,
     0,
     5,
     {0x00020000, 0x80000001, 0x00020008, 0x41, END}},
    {"3 shift right by 127",
     CPS_EXIT_END,
     0,
     1,
     0,
     5,
     {0x00020000, 0x80000001, 0x00020008, 0x81, END}},
    {"both of the register",
     CPS_EXIT_END,
     0,
     0,
     1,
     7,
     {0x00020001, 0xc0000001, 0x00020009, 0x41, 0x00020009, 0x81, END}},
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
    {"14 branch to the end", CPS_EXIT_BRANCH, 4, 0, 0, 4, {0x0002001c, 4, 0x00010038, 0x00010010}},
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

static void test_vectors(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(vectors); i++) {
        struct bench *b = bench_seq_run(vectors[i].words, vectors[i].count);
        const struct cps_event *end = bench_find(b, CPS_EV_EXIT, vectors[i].how, 0);
        if (!end || end->value != vectors[i].status || bench_reg32(b, "val") != vectors[i].val ||
            bench_reg32(b, "reg") != vectors[i].reg)
            fail_msg("%s", vectors[i].name);
        assert_int_equal(b->stop, CPS_STOP_IDLE); /* the script ends, the host goes on */
        bench_free(b);
    }
}

/* Vector 2: one read, at the sum. */
static void test_read_at_offset(void **state)
{
    static const uint32_t words[] = {0x00020001, 0x100000, 0x0002000c, 0x210, END};
    struct bench *b = bench_seq(CPS_SEQ_OLD, words, COUNT(words), NO_OUT, NULL);
    (void)state;
    cps_bus_load(b->bus, 0x100210, 0xcafe0001);
    bench_run(b);
    const struct cps_event *read = bench_find(b, CPS_EV_REGR, 0, 0);
    assert_non_null(read);
    assert_int_equal(read->addr, 0x100210);
    assert_null(bench_find(b, CPS_EV_REGR, 0, (size_t)(read - b->event) + 1));
    assert_int_equal(bench_reg32(b, "reg"), 0x100000);
    assert_int_equal(bench_reg32(b, "val"), 0xcafe0001);
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
    assert_int_equal(bench_reg32(b, "reg"), 0x130c);
    assert_int_equal(bench_reg32(b, "val"), 3);
    assert_int_equal(bench_reg32(b, "irq-level"), 0);
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
            assert_int_equal(bench_reg32(b, "eq"), rows[i].eq);
            assert_int_equal(bench_reg32(b, "lt"), rows[i].lt);
            assert_int_equal(bench_reg32(b, "ended"),
                             taken[op - 0x18] ? CPS_EXIT_END : CPS_EXIT_CODE);
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
    assert_int_equal(bench_reg32(b, "val"), 0);
    assert_int_equal(bench_reg32(b, "eq"), 1);
    assert_int_equal(bench_reg32(b, "ended"), CPS_EXIT_END);
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
        struct bench *b = bench_seq(CPS_SEQ_NEW, rows[i].words, rows[i].count, 4, out);
        bench_run(b);
        assert_int_equal(bench_reg32(b, "ended"), rows[i].how);
        assert_int_equal(bench_reg32(b, "val"), rows[i].val);
        assert_int_equal(bench_reg32(b, "reg"), rows[i].reg);
        for (uint32_t k = 0; k < 4; k++)
            assert_int_equal(bench_read(b, 0xfffff400 + 4 * k), rows[i].out[k]);
        bench_free(b);
    }
}

/* Vectors 10 and 11, on the deterministic clock: FB_PAUSED from tick 400 to 900. */
static struct bench *wait_bench(enum cps_gen abi, const uint32_t *words, size_t count)
{
    struct bench *b = bench_seq(abi, words, count, NO_OUT, NULL);
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
    assert_int_equal(bench_reg32(b, "ret"), 5);
    assert_int_equal(bench_reg32(b, "eq"), 1);
    assert_true(b->bus->bus.clock == 500);
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
        assert_int_equal(bench_reg32(b, "ret"), 1);
        assert_true(b->bus->bus.clock == 900);
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
        struct bench *b = bench_seq(rows[i / 2].abi, words, COUNT(words), NO_OUT, NULL);
        for (unsigned event = 0; event < 5; event++)
            assert_null(cps_bus_schedule(b->bus, 10, true, event, event == rows[i / 2].event));
        bench_run(b);
        assert_int_equal(bench_reg32(b, "ret"), 1);
        assert_true(b->bus->bus.clock == (inverse ? 0 : 10));
        bench_free(b);
    }
}

static void test_wait_bitmask(void **state)
{
    static const uint32_t words[] = {0x00020001, 0x2000,     0x00020000, 0x20, 0x00030015, 0xf0,
                                     1000,       0x00030015, 0x0f,       10,   0x0001002f};
    struct bench *b = bench_seq(CPS_SEQ_NEW, words, COUNT(words), NO_OUT, NULL);
    (void)state;
    assert_null(cps_bus_schedule(b->bus, 0, false, 0x2000, 0x11));
    assert_null(cps_bus_schedule(b->bus, 77, false, 0x2000, 0x2f));
    bench_run(b);
    assert_int_equal(bench_reg32(b, "ret"), 2); /* the first in time, the second not */
    assert_int_equal(bench_reg32(b, "eq"), 1);
    assert_true(b->bus->bus.clock == 87);
    bench_free(b);
}

/* Vector 12. */
static void test_pause_and_resume(void **state)
{
    static const uint32_t words[] = {0x00020020, 1, 0x00020020, 0, END};
    CPS_BUF log = {0};
    struct bench *b = bench_seq(CPS_SEQ_NEW, words, COUNT(words), NO_OUT, NULL);
    (void)state;
    cps_bus_load(b->bus, 0x1314, 0x00200020);
    cps_bus_load(b->bus, 0x1610, 0x31);
    bench_run_to(b, 3);
    bench_log(b, CPS_PATH_POKE, &log);
    assert_string_equal(cps_buf_text(&log), "1610=32 1314=210021");
    assert_int_equal(bench_reg32(b, "irq-level"), 1);
    assert_int_equal(bench_reg32(b, "unlocked"), 0);
    bench_run_to(b, 8); /* fb-delay */
    assert_int_equal(b->bus->bus.events, 1);
    assert_int_equal(bench_reg32(b, "unlocked"), 1); /* until it is resumed */
    assert_int_equal(bench_reg32(b, "unlocked"), 1);
    bench_run(b);
    assert_int_equal(bench_reg32(b, "unlocked"), 0);
    cps_buf_clear(&log);
    bench_log(b, CPS_PATH_POKE, &log);
    assert_string_equal(cps_buf_text(&log), "1610=32 1314=210021 1314=200020 1610=0");
    assert_int_equal(bench_reg32(b, "irq-level"), 0);
    assert_int_equal(bench_reg32(b, "ended"), CPS_EXIT_END);
    bench_free(b);
}

/* Vector 16. */
static void test_interrupt_nesting(void **state)
{
    static const uint32_t words[] = {0x0001001d, 0x0001001d, 0x0001001e, 0x0001001e, END};
    static const uint8_t level[] = {1, 2, 1, 0};
    (void)state;
    for (unsigned n = 1; n <= 4; n++) {
        struct bench *b = bench_seq(CPS_SEQ_NEW, words, COUNT(words), NO_OUT, NULL);
        nv_loop_(bench_nv(b), n);
        assert_int_equal(bench_reg32(b, "irq-level"), level[n - 1]);
        assert_int_equal(bench_reg32(b, "irq-off"), n < 4);
        bench_free(b);
    }
    struct bench *b = RUN(0x0001001e, END);
    assert_non_null(bench_unknown(b, CPS_UNKNOWN_IRQ_UNDERFLOW));
    bench_free(b);
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
