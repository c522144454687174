/* SPDX-License-Identifier: MIT
 * SEQ: what lies in PDAEMON's data memory, what a host sees of a script that ends by an error, and
 * what scripts must not report. Places and bits are those of envytools' page on SEQ (scratch area
 * from 0x3e0, stack frame from sp + 0x24) and of its page on falcon's data ports. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>

#include "tests/lib/engine_bench.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define END          0x00000000
#define INDEX        0x10a1c0u
#define DATA         0x10a1c4u
#define STATUS       0xfffff008u
#define ENDED        0xfffff00cu

#define SEQ(abi, out, out_words, ...)                                                            \
    bench_seq(abi, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / 4, \
              out, out_words)

/* A word of data memory through port 0, whose index stays where it is. */
static uint32_t data_at(struct bench *b, uint32_t byte)
{
    bench_write(b, INDEX, byte);
    return bench_read(b, DATA);
}

static struct bench *run_out(const uint32_t *words, size_t count)
{
    static const uint32_t out[] = {0x11, 0x22, 0x33};
    struct bench *b = bench_seq(CPS_SEQ_NEW, words, count, 3, out);
    bench_run(b);
    return b;
}

/* ---- data memory ---- */

/* out_words (8 bits), out_start, flag_eq and flag_lt (8 bits each), val_last, reg_last, val_ret. */
static void scratch_begins_at_3e0(void **state)
{
    static const uint32_t words[] = {0x00020001, 0x2000,     0x00020000, 0xcafe0001, 0x00020017,
                                     0xcafe0002, 0x00030015, 0,          0,          END};
    struct bench *b = run_out(words, COUNT(words));
    (void)state;
    assert_int_equal(data_at(b, 0x3e0), 3);
    assert_int_equal(data_at(b, 0x3e4), 0xfc00);
    assert_int_equal(data_at(b, 0x3e8), 0x100); /* less; R[2000] & 0 is not val_last: no success */
    assert_int_equal(data_at(b, 0x3ec), 0xcafe0001);
    assert_int_equal(data_at(b, 0x3f0), 0x2000);
    assert_int_equal(data_at(b, 0x3f4), 0);
    bench_free(b);
    b = RUN(0x00020017, 0, 0x00030015, 0, 0, 0x00030015, 0, 0, END);
    assert_int_equal(data_at(b, 0x3e0), 0); /* no OUT */
    assert_int_equal(data_at(b, 0x3e4), 0);
    assert_int_equal(data_at(b, 0x3e8), 1);
    assert_int_equal(data_at(b, 0x3f4), 3);
    bench_free(b);
}

/* What the host writes there is what the script goes on with. */
static void host_writes_scratch(void **state)
{
    static const uint32_t scratch[] = {0x1ff02, 0xfc04, 0x101, 5, 0x1000, 0x80000001};
    struct bench *b = SEQ(CPS_SEQ_NEW, NO_OUT, NULL, 0x00020013, 100, 0x00020006, 1, 0x00020007, 2,
                          0x00030015, UINT32_MAX, 0, 0x00020022, 0, END);
    (void)state;
    assert_int_equal(bench_run_to(b, 50), CPS_STOP_BUDGET);
    bench_write(b, INDEX, 0x010003e0);
    for (size_t i = 0; i < COUNT(scratch); i++)
        bench_write(b, DATA, scratch[i]);
    assert_int_equal(bench_read(b, INDEX), 0x010003f8);
    assert_int_equal(bench_reg32(b, "eq"), 1);
    assert_int_equal(bench_reg32(b, "lt"), 1);
    bench_run(b);
    assert_int_equal(bench_reg32(b, "ended"), CPS_EXIT_END); /* there is an OUT now, of 2 words */
    assert_int_equal(data_at(b, 0x3e0), 2);
    assert_int_equal(data_at(b, 0x3ec), 6);
    assert_int_equal(data_at(b, 0x3f0), 0x1002);
    assert_int_equal(data_at(b, 0x3f4), 2);
    assert_int_equal(data_at(b, 0xfc04), 6);
    assert_non_null(bench_unknown(b, CPS_UNKNOWN_REWRITTEN));
    bench_free(b);
}

/* in_words at 0x2a, in_end at 0x2c, insn_len at 0x30, in_start at 0x5c, from the stack pointer on;
 * behind a script that ends, val_ret at sp[80]. */
static void the_frame_lies_on_the_stack(void **state)
{
    static const uint32_t words[] = {0x00030015, 0, 0, 0x00020013, 9, END};
    static const uint32_t stacks[] = {0, 0x2f80};
    (void)state;
    for (size_t i = 0; i < COUNT(stacks); i++) {
        struct bench *b = bench_new(CPS_SEQ_NEW, i ? "seq-stack=0x2f80 seq-script=0x800" : NULL);
        uint32_t sp = stacks[i], start = i ? 0x800 : 0x400;
        cps_bus_load(b->bus, INDEX, 0x01000000 | start);
        for (size_t k = 0; k < COUNT(words); k++)
            cps_bus_load(b->bus, DATA, words[k]);
        cps_bus_load(b->bus, 0xfffff000, COUNT(words));
        bench_run_to(b, 5);
        assert_int_equal(data_at(b, sp + 0x28) >> 16, COUNT(words));
        assert_int_equal(data_at(b, sp + 0x2c), start + 4 * COUNT(words));
        assert_int_equal(data_at(b, sp + 0x30), 2);
        assert_int_equal(data_at(b, sp + 0x50), 0);
        assert_int_equal(data_at(b, sp + 0x5c), start);
        assert_null(bench_unknown(b, CPS_UNKNOWN_SEQ_STACK));
        bench_run(b);
        assert_int_equal(data_at(b, sp + 0x50), 1);
        /* Registers of the caller, a pointer to the packet, that of the display head. */
        uint32_t inside = i ? 0x7c : 0x24;
        data_at(b, sp + 0x80);
        data_at(b, sp - 4);
        assert_null(bench_unknown(b, CPS_UNKNOWN_SEQ_STACK));
        assert_int_equal(data_at(b, sp + inside), 0);
        assert_int_equal(bench_unknown(b, CPS_UNKNOWN_SEQ_STACK)->value, inside);
        assert_int_equal(bench_unknowns(b), 2);
        bench_free(b);
    }
}

/* An exit is no success: nothing is stored to sp[80]. */
static void an_exit_stores_no_result(void **state)
{
    struct bench *b = RUN(0x00030015, 0, 0, 0x00020016, 0);
    (void)state;
    assert_int_equal(bench_reg32(b, "ret"), 1);
    assert_int_equal(data_at(b, 0x50), 0);
    bench_free(b);
}

/* Script and OUT lie there too, where the policies say; ports see the words. */
static void script_and_out_lie_in_data_memory(void **state)
{
    static const uint32_t words[] = {0x0003002a, 1, 0x100, 0x00020023, 0, END};
    struct bench *b = run_out(words, COUNT(words));
    (void)state;
    for (uint32_t i = 0; i < COUNT(words); i++)
        assert_int_equal(data_at(b, 0x400 + 4 * i), words[i]);
    assert_int_equal(data_at(b, 0xfc00), 0x11);
    assert_int_equal(data_at(b, 0xfc04), 0x122);
    assert_int_equal(data_at(b, 0xfc08), 0x33);
    assert_int_equal(bench_reg32(b, "ended"), CPS_EXIT_OUT_RANGE); /* out[0] is 0x11 */
    bench_free(b);
}

/* Four ports of their own. Bit 24 goes on with writes, bit 25 with reads; addresses have bits 2 to
 * 15. */
static void ports_go_on_as_their_index_says(void **state)
{
    struct bench *b = bench_new(CPS_SEQ_OLD, NULL);
    (void)state;
    for (uint32_t port = 0; port < 4; port++) {
        uint32_t index = 0x10a1c0 + 8 * port, base = 0x2000 + 0x100 * port;
        bench_write(b, index, 0x01000000 | base);
        bench_write(b, index + 4, 0x10 + port);
        bench_write(b, index + 4, 0x20 + port);
        assert_int_equal(bench_read(b, index), (0x01000000 | base) + 8);
        assert_int_equal(bench_read(b, index + 4), 0); /* a read does not move this one */
        assert_int_equal(bench_read(b, index), (0x01000000 | base) + 8);
        bench_write(b, index, 0x02000000 | base);
    }
    for (uint32_t port = 0; port < 4; port++) {
        uint32_t index = 0x10a1c0 + 8 * port, base = 0x2000 + 0x100 * port;
        assert_int_equal(bench_read(b, index + 4), 0x10 + port);
        assert_int_equal(bench_read(b, index + 4), 0x20 + port);
        bench_write(b, index + 4, 5); /* where it stands */
        bench_write(b, index + 4, 6);
        assert_int_equal(bench_read(b, index), 0x02000000 | (base + 8));
        assert_int_equal(data_at(b, base + 8), 6);
    }
    bench_write(b, INDEX, 0xffffffff);
    assert_int_equal(bench_read(b, INDEX), 0x0300fffc);
    bench_write(b, DATA, 7);
    assert_int_equal(bench_read(b, INDEX), 0x03000000); /* behind the last word comes the first */
    bench_write(b, INDEX, 0xfffc);
    assert_int_equal(bench_read(b, DATA), 7);
    assert_int_equal(cps_bus_effective(b->bus, DATA), 7);
    bench_write(b, INDEX, 0x0200fffc);
    assert_int_equal(cps_bus_effective(b->bus, DATA), 7); /* who only looks moves nothing */
    assert_int_equal(bench_read(b, INDEX), 0x0200fffc);
    assert_int_equal(bench_unknowns(b), 0);
    bench_free(b);
}

/* ---- waits ---- */

/* New firmware: val_ret is shifted, the flag stays, and no time passes. */
static void a_condition_in_no_table_does_not_wait(void **state)
{
    static const uint32_t numbers[] = {0x2, 0x102, 0x200, 0x301, 0x401, 0xffff, 0x10200, 0x1ffff};
    (void)state;
    for (size_t i = 0; i < COUNT(numbers); i++) {
        for (uint32_t with = 0; with < 2; with++) { /* flag_eq set, or not */
            struct bench *b =
                RUN(0x00030015, 0, 0, 0x00020017, with, 0x00030014, numbers[i], 1000000, END);
            assert_int_equal(bench_reg32(b, "ret"), 2);
            assert_int_equal(bench_reg32(b, "eq"), !with);
            assert_true(b->bus->bus.clock == 0);
            assert_int_equal(bench_unknown(b, CPS_UNKNOWN_CONDITION)->value, numbers[i] & 0xffff);
            bench_free(b);
        }
    }
}

/* PGRAPH idles from 30 to 60. */
static void pgraph_idle_holds_and_does_not(void **state)
{
    static const struct {
        uint32_t before, p0, timeout, ret;
        uint64_t end;
    } rows[] = {
        {0, 0x400, 1000, 1, 30},  /* begins to hold */
        {0, 0x400, 29, 0, 29},    /* too late */
        {0, 0x10400, 1000, 1, 0}, /* does not hold: at once */
        {40, 0x400, 1000, 1, 40}, /* holds: at once */
        {40, 0x10400, 1000, 1, 60}, {40, 0x10400, 5, 0, 45},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bench *b = SEQ(CPS_SEQ_NEW, NO_OUT, NULL, 0x00020013, rows[i].before, 0x00030014,
                              rows[i].p0, rows[i].timeout, END);
        assert_null(cps_bus_schedule(b->bus, 30, true, CPS_EVENT_PGRAPH_IDLE, 1));
        assert_null(cps_bus_schedule(b->bus, 60, true, CPS_EVENT_PGRAPH_IDLE, 0));
        bench_run(b);
        assert_int_equal(bench_reg32(b, "ret"), rows[i].ret);
        assert_int_equal(bench_reg32(b, "eq"), rows[i].ret);
        assert_true(b->bus->bus.clock == rows[i].end);
        assert_int_equal(bench_read(b, 0x1578), 0); /* EVENTS does not have it */
        assert_null(bench_unknown(b, CPS_UNKNOWN_CONDITION));
        bench_free(b);
    }
}

/* ---- how a script ends ---- */

static enum cps_stop host_done(struct bench *b)
{
    const struct cps_item end = {.kind = CPS_ITEM_END};
    assert_null(cps_engine_feed(b->engine, &end));
    return cps_engine_run(b->engine, 1000);
}

/* Every error exit ends the script, and only that: the host goes on, and finds why. Who does not
 * look gets a run that failed. */
static void an_error_exit_ends_the_script_alone(void **state)
{
    static const struct {
        uint32_t how, status;
        uint32_t words[3];
    } rows[] = {
        {CPS_EXIT_OUT_MISSING, 1, {0x00010038, 0x00020022, 0}},
        {CPS_EXIT_BRANCH, 4, {0x0002001c, 4, END}},
        {CPS_EXIT_BAD_OP, 0xffffffff, {0x00010036, END, END}},
        {CPS_EXIT_BAD_LEN, 0, {0x00010000, END, END}},
        {CPS_EXIT_CODE, 0xffffff80, {0x00020016, 0x80, END}},
        {CPS_EXIT_END, 0, {0x00010038, END, END}},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows) * 2; i++) {
        bool looks = i % 2, fails = rows[i / 2].how > CPS_EXIT_CODE;
        struct bench *b = bench_seq(CPS_SEQ_NEW, rows[i / 2].words, 3, NO_OUT, NULL);
        assert_int_equal(bench_run(b), CPS_STOP_IDLE);
        assert_int_equal(cps_bus_effective(b->bus, STATUS), rows[i / 2].status);
        if (looks) {
            assert_int_equal(bench_read(b, STATUS), rows[i / 2].status);
            assert_int_equal(bench_read(b, ENDED), rows[i / 2].how);
        }
        assert_int_equal(host_done(b), fails && !looks ? CPS_STOP_FAULT : CPS_STOP_IDLE);
        bench_free(b);
    }
}

/* A second script runs behind one that failed, whose error is not forgotten for that. */
static void the_next_script_runs(void **state)
{
    struct bench *b = RUN(0x00010036, END);
    (void)state;
    bench_load(b, 0, (const uint8_t *)"\0\0\x02\0\x07\0\0\0\0\0\0\0", 12);
    bench_write(b, 0xfffff000, 3);
    bench_run(b);
    assert_int_equal(bench_reg32(b, "val"), 7);
    assert_int_equal(bench_reg32(b, "ended"), CPS_EXIT_END);
    assert_int_equal(host_done(b), CPS_STOP_FAULT);
    CPS_BUF why = {0};
    b->engine->ops->explain(b->engine, CPS_STOP_FAULT, &why);
    assert_string_equal(cps_buf_text(&why), "seq at 0x0000: bad-op");
    bench_free(b);
}

/* ---- operations that nothing else runs ---- */

static void writes_go_where_they_say(void **state)
{
    CPS_BUF log = {0};
    struct bench *b = RUN(0x00020000, 0x1234, 0x00020001, 0x2000, 0x0002000e, 0x3004, 0x0002000f,
                          0x10, 0x0001000d, END);
    (void)state;
    bench_log(b, CPS_PATH_POKE, &log);
    assert_string_equal(cps_buf_text(&log), "3004=1234 2010=1234 2000=1234");
    assert_int_equal(bench_reg32(b, "reg"), 0x2000);
    assert_int_equal(bench_unknowns(b), 1);
    bench_free(b);
}

static void or_and_of_a_register(void **state)
{
    struct bench *b = SEQ(CPS_SEQ_NEW, NO_OUT, NULL, 0x00020000, 0xf00f, 0x0002002c, 0x2000,
                          0x0002001f, 0x2004, END);
    (void)state;
    cps_bus_load(b->bus, 0x2000, 0x0ff1);
    cps_bus_load(b->bus, 0x2004, 0x80ff);
    bench_run_to(b, 0);
    bench_run(b);
    assert_int_equal(bench_reg32(b, "val"), 0x80ff);
    assert_int_equal(bench_count(b, CPS_EV_REGR), 2);
    assert_int_equal(bench_find(b, CPS_EV_REGR, 0, 0)->addr, 0x2000);
    assert_int_equal(bench_unknowns(b), 1);
    bench_free(b);
}

/* `waits` reads R[0] in front of its time, `wait` does not. */
static void synchronous_wait_reads_register_0(void **state)
{
    (void)state;
    for (uint32_t op = 0; op < 2; op++) {
        struct bench *b = SEQ(CPS_SEQ_NEW, NO_OUT, NULL, op ? 0x0002002e : 0x00020013, 250, END);
        cps_bus_load(b->bus, 0, 0x5000a2);
        bench_run(b);
        const struct cps_event *read = bench_find(b, CPS_EV_REGR, 0, 0);
        assert_int_equal(read != NULL, op);
        assert_true(!op || (read->addr == 0 && read->value == 0x5000a2));
        assert_int_equal(bench_count(b, CPS_EV_REGR), op);
        assert_int_equal(bench_reg32(b, "val"), 0);
        assert_true(b->bus->bus.clock == 250);
        bench_free(b);
    }
}

/* A branch to where an operation begins says nothing, taken or not, forwards or backwards. */
static void a_plain_branch_reports_nothing(void **state)
{
    static const struct {
        uint32_t unknowns, instructions;
        uint32_t words[8];
    } rows[] = {
        {1, 2, {0x0002001c, 4, 0x00020000, 5, 0x00010038, END}},
        {1, 3, {0x0002001c, 4, 0x0002001c, 6, 0x0002001c, 2}}, /* 4, then 2, then the end */
        {1, 2, {0x00020018, 3, 0x00020000, 0x00010038, END}},  /* not taken */
        {2, 2, {0x0002001c, 3, 0x00020000, 0x00010038, END}},  /* into an operation */
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bench *b = bench_seq(CPS_SEQ_NEW, rows[i].words, 8, NO_OUT, NULL);
        bench_run(b);
        if (bench_unknowns(b) != rows[i].unknowns ||
            b->engine->instructions != rows[i].instructions ||
            !bench_unknown(b, CPS_UNKNOWN_BRANCH_MIDDLE) != (rows[i].unknowns == 1))
            fail_msg("row %zu: %zu unknown, %u executed", i, bench_unknowns(b),
                     (unsigned)b->engine->instructions);
        bench_free(b);
    }
}

/* cost: each operation but the last adds it to the waits. */
static void operations_take_the_time_of_the_policy(void **state)
{
    struct bench *b = bench_new(CPS_SEQ_NEW, "cost=7");
    static const uint32_t words[] = {0x00020034, 0,   0x00010038, 0x00020034, 1,
                                     0x00020013, 100, 0x00020034, 2,          END};
    (void)state;
    cps_bus_load(b->bus, INDEX, 0x01000400);
    for (size_t i = 0; i < COUNT(words); i++)
        cps_bus_load(b->bus, DATA, words[i]);
    cps_bus_load(b->bus, 0xfffff004, 3);
    cps_bus_load(b->bus, 0xfffff000, COUNT(words));
    bench_run(b);
    assert_int_equal(bench_read(b, 0xfffff400), 0);
    assert_int_equal(bench_read(b, 0xfffff404), 14);
    assert_int_equal(bench_read(b, 0xfffff408), 28 + 100); /* its own time, then the wait */
    bench_free(b);
}

/* A script ends where data memory does, whatever the packet says; what it consists of stays. */
static void a_script_ends_where_data_memory_does(void **state)
{
    static const struct {
        const char *policy;
        uint32_t start, most;
    } rows[] = {{"seq-script=0", 0, 0x4000},
                {NULL, 0x400, 0x3f00},
                {"seq-script=0xfff8", 0xfff8, 2},
                {"seq-script=0xfffc", 0xfffc, 1}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const uint32_t asked[] = {rows[i].most - 1, rows[i].most, rows[i].most + 1, 0x8000};
        for (size_t k = 0; k < COUNT(asked); k++) {
            uint32_t words = asked[k] < rows[i].most ? asked[k] : rows[i].most;
            struct bench *b = bench_new(CPS_SEQ_NEW, rows[i].policy);
            cps_bus_load(b->bus, 0xfffff000, asked[k]);
            assert_int_equal(data_at(b, 0x28), words << 16);
            assert_int_equal(data_at(b, 0x2c), rows[i].start + 4 * words);
            assert_int_equal(data_at(b, 0x5c), rows[i].start);
            assert_int_equal(data_at(b, 0), 0);
            assert_int_equal(data_at(b, 0xfffc), 0);
            bench_free(b);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scratch_begins_at_3e0),
        cmocka_unit_test(host_writes_scratch),
        cmocka_unit_test(the_frame_lies_on_the_stack),
        cmocka_unit_test(an_exit_stores_no_result),
        cmocka_unit_test(script_and_out_lie_in_data_memory),
        cmocka_unit_test(ports_go_on_as_their_index_says),
        cmocka_unit_test(a_condition_in_no_table_does_not_wait),
        cmocka_unit_test(pgraph_idle_holds_and_does_not),
        cmocka_unit_test(an_error_exit_ends_the_script_alone),
        cmocka_unit_test(the_next_script_runs),
        cmocka_unit_test(writes_go_where_they_say),
        cmocka_unit_test(or_and_of_a_register),
        cmocka_unit_test(synchronous_wait_reads_register_0),
        cmocka_unit_test(a_plain_branch_reports_nothing),
        cmocka_unit_test(operations_take_the_time_of_the_policy),
        cmocka_unit_test(a_script_ends_where_data_memory_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
