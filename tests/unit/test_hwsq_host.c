/* SPDX-License-Identifier: MIT
 * HWSQ: the host's ways to memory while it is paused, what a hanging slot hangs on, the time that
 * instructions take, and what scripts must not report. From envytools' pages on HWSQ, PEEPHOLE and
 * the BARs. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>

#include "tests/lib/engine_bench.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define W_CTRL       0x155cu
#define W_ADDR       0x1560u
#define W_DATA       0x1564u
#define RW_ADDR      0x1570u
#define RW_DATA      0x1574u

static const enum cps_gen chips[] = {CPS_NV17, CPS_NV41, CPS_G80, CPS_G92};

/* ---- accesses of the host ---- */

/* What the host does, as far as it may: IDLE, or BUDGET at @p tick if it has to wait. */
static enum cps_stop host_does(struct bench *b, const struct cps_item *item, uint64_t tick)
{
    assert_null(cps_engine_feed(b->engine, item));
    b->bus->bus.until = tick;
    enum cps_stop stop = cps_engine_run(b->engine, 1000);
    b->bus->bus.until = UINT64_MAX;
    return stop;
}

static struct cps_item access(enum cps_item_kind kind, enum cps_item_where where, uint32_t addr,
                              uint32_t value)
{
    return (struct cps_item){.kind = kind, .host = {where, 4, addr, value, 0, 0}};
}

static uint32_t vram(struct bench *b, uint32_t addr)
{
    return cps_bus_peek(b->bus, CPS_MEMORY_VRAM, addr, NULL);
}

/* `set1 16`, 16 us, `set0 16`, exit: memory is paused up to tick 512. From NV41 on what leads to
 * memory waits for that, from G80 on everything; NV17 has no pause. */
static void a_pause_blocks_what_leads_to_memory(void **state)
{
    static const struct {
        const char *name;
        enum cps_item_kind kind;
        enum cps_item_where where;
        uint32_t addr, ctrl;
        bool memory;
    } rows[] = {
        {"PRAMIN, its first word", CPS_ITEM_READ, CPS_HOST_REG, 0x700000, 0, true},
        {"PRAMIN, its last word", CPS_ITEM_WRITE, CPS_HOST_REG, 0x7ffffc, 0, true},
        {"in front of PRAMIN", CPS_ITEM_READ, CPS_HOST_REG, 0x6ffffc, 0, false},
        {"behind PRAMIN", CPS_ITEM_WRITE, CPS_HOST_REG, 0x800000, 0, false},
        {"BAR1, read", CPS_ITEM_READ, CPS_HOST_BAR1, 0x1308, 0, true},
        {"BAR1, written", CPS_ITEM_WRITE, CPS_HOST_BAR1, 0x1308, 0, true},
        {"BAR2, read", CPS_ITEM_READ, CPS_HOST_BAR2, 0x1308, 0, true},
        {"BAR2, written", CPS_ITEM_WRITE, CPS_HOST_BAR2, 0x1308, 0, true},
        {"PEEPHOLE's data, read", CPS_ITEM_READ, CPS_HOST_REG, RW_DATA, 0, true},
        {"PEEPHOLE's data, written", CPS_ITEM_WRITE, CPS_HOST_REG, RW_DATA, 0, true},
        {"PEEPHOLE's address", CPS_ITEM_WRITE, CPS_HOST_REG, RW_ADDR, 0, false},
        {"the write port's data alone", CPS_ITEM_WRITE, CPS_HOST_REG, W_DATA, 0, false},
        {"its data, freeform", CPS_ITEM_WRITE, CPS_HOST_REG, W_DATA, 0x100, true},
        {"its data read back", CPS_ITEM_READ, CPS_HOST_REG, W_DATA, 0x100, false},
        {"its address, freeform", CPS_ITEM_WRITE, CPS_HOST_REG, W_ADDR, 0x100, false},
        {"STATUS", CPS_ITEM_READ, CPS_HOST_REG, 0x1308, 0, false},
        {"ENTRY_POINT", CPS_ITEM_WRITE, CPS_HOST_REG, 0x1304, 0, false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows) * COUNT(chips); i++) {
        size_t row = i / COUNT(chips), chip = i % COUNT(chips);
        struct bench *b = bench_hwsq(chips[chip], "b0 09 d0 7f", NULL);
        const struct cps_item item = access(rows[row].kind, rows[row].where, rows[row].addr, 0x5a);
        bool pair = rows[row].addr == W_DATA || rows[row].addr == W_ADDR;
        if (chips[chip] != CPS_NV41 && pair) { /* PEEPHOLE is modelled on NV41 */
            bench_free(b);
            continue;
        }
        bench_write(b, W_CTRL, rows[row].ctrl);
        assert_int_equal(bench_run_to(b, 100), CPS_STOP_BUDGET);
        bool blocked = chip >= 2 || (chip == 1 && rows[row].memory);
        enum cps_stop stop = host_does(b, &item, 500);
        if (stop != (blocked ? CPS_STOP_BUDGET : CPS_STOP_IDLE) ||
            !bench_unknown(b, CPS_UNKNOWN_HOST_STALLED) != !blocked)
            fail_msg("%s of %s", rows[row].name, cps_gen_name(chips[chip]));
        if (blocked) {
            assert_int_equal(cps_engine_run(b->engine, 1000), CPS_STOP_IDLE);
            assert_true(b->bus->bus.clock >= 512);
        }
        bench_free(b);
    }
}

/* Who waits for a pause that nobody ends has to wait for ever. */
static void a_pause_without_an_end_is_a_deadlock(void **state)
{
    struct bench *b = bench_hwsq(CPS_NV41, "b0 7f", NULL);
    const struct cps_item read = access(CPS_ITEM_READ, CPS_HOST_BAR1, 0x40, 0);
    const struct cps_item unpause = access(CPS_ITEM_WRITE, CPS_HOST_REG, 0x1314, 0);
    (void)state;
    bench_run(b);
    assert_int_equal(host_does(b, &read, UINT64_MAX), CPS_STOP_DEADLOCK);
    assert_int_equal(host_does(b, &unpause, UINT64_MAX), CPS_STOP_IDLE); /* on NV41 it can */
    assert_int_equal(host_does(b, &read, UINT64_MAX), CPS_STOP_IDLE);
    bench_free(b);
}

/* A write of the script that leads to memory waits too, and then happens. */
static void the_script_waits_for_memory_as_well(void **state)
{
    struct bench *b = bench_hwsq(CPS_NV41, "e2 78 56 34 12 b0 e0 10 00 70 00 7f", NULL);
    const struct cps_item unpause = access(CPS_ITEM_WRITE, CPS_HOST_REG, 0x1314, 0);
    (void)state;
    assert_int_equal(bench_run(b), CPS_STOP_DEADLOCK);
    assert_int_equal(bench_count(b, CPS_EV_EXIT), 0);
    assert_int_equal(host_does(b, &unpause, UINT64_MAX), CPS_STOP_IDLE);
    assert_int_equal(bench_run(b), CPS_STOP_IDLE);
    assert_int_equal(cps_bus_peek(b->bus, CPS_MEMORY_RAMIN, 0x10, NULL), 0x12345678);
    bench_free(b);
}

/* BAR2 and PRAMIN are two ways to RAMIN; BAR1 and PEEPHOLE to VRAM. */
static void ways_to_memory_meet(void **state)
{
    struct bench *b = bench_new(CPS_NV41, NULL);
    struct cps_item item = access(CPS_ITEM_WRITE, CPS_HOST_BAR2, 0x24, 0x11);
    (void)state;
    assert_int_equal(host_does(b, &item, UINT64_MAX), CPS_STOP_IDLE);
    assert_int_equal(bench_read(b, 0x700024), 0x11);
    bench_write(b, 0x7ffffc, 0x22);
    item = access(CPS_ITEM_READ, CPS_HOST_BAR2, 0xffffc, 0);
    assert_int_equal(host_does(b, &item, UINT64_MAX), CPS_STOP_IDLE);
    assert_int_equal(b->engine->answer, 0x22);
    item = access(CPS_ITEM_WRITE, CPS_HOST_BAR1, 0x1ffffff8, 0x33);
    assert_int_equal(host_does(b, &item, UINT64_MAX), CPS_STOP_IDLE);
    /* 29 bits of address, in words; every access of the data goes on. */
    bench_write(b, RW_ADDR, 0xfffffffb);
    assert_int_equal(bench_read(b, RW_ADDR), 0x1ffffff8);
    assert_int_equal(bench_read(b, RW_DATA), 0x33);
    bench_write(b, RW_DATA, 0x44);
    assert_int_equal(bench_read(b, RW_ADDR), 0);
    assert_int_equal(vram(b, 0x1ffffffc), 0x44);
    bench_free(b);
}

/* Paired mode: the second write of the two goes to memory, whichever it is. Freeform: any write of
 * data does. */
static void write_port_of_peephole(void **state)
{
    struct bench *b = bench_new(CPS_NV41, NULL);
    (void)state;
    bench_write(b, W_ADDR, 0x100);
    assert_int_equal(bench_read(b, W_CTRL), 1);
    assert_int_equal(vram(b, 0x100), 0);
    bench_write(b, W_DATA, 0x11);
    assert_int_equal(bench_read(b, W_CTRL), 0);
    assert_int_equal(vram(b, 0x100), 0x11);
    bench_write(b, W_DATA, 0x22);
    assert_int_equal(bench_read(b, W_CTRL), 2);
    assert_int_equal(vram(b, 0x100), 0x11);
    bench_write(b, W_ADDR, 0x200);
    assert_int_equal(vram(b, 0x200), 0x22);
    assert_int_equal(bench_read(b, W_DATA), 0x22);
    bench_write(b, W_CTRL, 0xffffffff);
    assert_int_equal(bench_read(b, W_CTRL), 0x100);
    bench_write(b, W_ADDR, 0x300);
    bench_write(b, W_DATA, 0x33);
    bench_write(b, W_DATA, 0x34);
    assert_int_equal(vram(b, 0x300), 0x34);
    assert_int_equal(bench_read(b, W_CTRL), 0x100);
    bench_free(b);
}

/* ---- what a slot hangs on ---- */

static void expect_reason(struct bench *b, const char *text)
{
    CPS_BUF out = {0};
    b->engine->ops->explain(b->engine, b->stop, &out);
    assert_string_equal(cps_buf_text(&out), text);
}

/* Of both slots, on the chips that hang: the byte and where it is. */
static void an_illegal_opcode_is_named(void **state)
{
    (void)state;
    for (unsigned i = 1; i < 3; i++) {
        for (uint32_t slot = 0; slot < 2; slot++) { /* A, B */
            struct bench *b = bench_new(chips[i], slot ? "bad-ip=at" : NULL);
            bench_load(b, 0, (const uint8_t *)"\x00\x01\xe1\x7f", 4);
            bench_write(b, 0x130c, slot ? 1 : 3);
            assert_int_equal(bench_run(b), CPS_STOP_DEADLOCK);
            expect_reason(b, slot ? "hwsqb before 0x0002: nothing lets it go on, 0xe1 at "
                                    "0x0002 is an illegal opcode"
                                  : "hwsq before 0x0003: nothing lets it go on, 0xe1 at "
                                    "0x0002 is an illegal opcode");
            bench_free(b);
        }
    }
    struct bench *b = bench_hwsq(CPS_NV41, "3f 7f", "abort-in-wait=illegal");
    bench_run_to(b, 10);
    bench_write(b, 0x130c, 2);
    bench_run(b);
    expect_reason(b, "hwsq before 0x0001: nothing lets it go on, the abort of its wait at "
                     "0x0000 shows as an illegal opcode");
    bench_free(b);
    b = bench_hwsq(CPS_NV41, "5f 00 01 7f", NULL); /* a wait that hangs is none */
    bench_run(b);
    expect_reason(b, "hwsq before 0x0003: nothing lets it go on, it waits for event 0 to be 1");
    bench_free(b);
}

/* A write of a script waits while HWSQ_ENABLE is 0, and on NV41 one to memory while that rests. */
static void a_write_that_waits_says_for_what(void **state)
{
    static const struct {
        uint32_t debug_6;
        const char *code, *what;
    } rows[] = {
        {0, "\xe0\x04\x25\x00\x00\x7f", "0x002504 waits for HWSQ_ENABLE"},
        {8, "\xb0\xe0\x00\x00\x70\x00", "0x700000 waits for the end of the memory's pause"},
    };
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        CPS_BUF text = {0};
        struct bench *b = bench_new(CPS_NV41, NULL);
        bench_load(b, 0, (const uint8_t *)rows[i].code, 6);
        bench_write(b, 0x1098, rows[i].debug_6);
        bench_write(b, 0x130c, 3);
        assert_int_equal(bench_run(b), CPS_STOP_DEADLOCK);
        cps_buf_printf(&text, "hwsq before 0x%04x: nothing lets it go on, its write of %s",
                       i ? 6u : 5u, rows[i].what);
        expect_reason(b, cps_buf_text(&text));
        bench_free(b);
    }
}

/* Two slots on NV17:G92, one from G92 on. */
static void slots_by_chip(void **state)
{
    (void)state;
    for (unsigned i = 0; i < COUNT(chips); i++) {
        struct bench *b = bench_new(chips[i], NULL);
        assert_int_equal(b->engine->cores, i < 3 ? 2 : 1);
        bench_free(b);
    }
}

/* ---- time, and silence ---- */

/* cost=5: ticks between the flags that instructions change; a wait comes behind its own time. */
static void instructions_take_the_time_of_the_policy(void **state)
{
    struct bench *b = bench_hwsq(CPS_NV41, "a0 a1 01 a2 00 a3 7f", "cost=5");
    static const uint64_t ticks[] = {0, 5, 10 + 5 + 32, 47 + 5 + 5};
    uint64_t tick = 0;
    size_t found = 0;
    (void)state;
    assert_int_equal(bench_run(b), CPS_STOP_IDLE);
    for (size_t i = 0; i < b->count; i++) {
        const struct cps_event *event = &b->event[i];
        if (cps_event_kind(event) == CPS_EV_TICK)
            tick = event->addr;
        if (cps_event_kind(event) != CPS_EV_REG || cps_event_sub(event) != CPS_PATH_FLAG)
            continue;
        assert_true(found < COUNT(ticks) && tick == ticks[found]);
        found++;
    }
    assert_int_equal(found, COUNT(ticks));
    bench_free(b);
}

/* A script that does only what the documents describe reports nothing, on any chip that has its
 * opcodes: flags with targets, waits, whole data and addresses, an event that is there. */
static void a_plain_script_reports_nothing(void **state)
{
    static const struct {
        const char *hex;
        unsigned first, last; /* chips */
    } rows[] = {
        {"a0 c1 a6 bb df 02 7f", 0, 1},
        {"e2 01 00 00 00 e0 00 20 00 00 42 02 00 40 04 20 5f 01 00 7f", 1, 3},
        {"d0 90 5f 00 00 00 7f", 1, 3},
        {"41 43 ff 7f", 0, 0},
        {"41 43 ff 7f", 3, 3},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (unsigned k = rows[i].first; k <= rows[i].last; k++) {
            struct bench *b = bench_hwsq(chips[k], rows[i].hex, NULL);
            assert_int_equal(bench_run(b), CPS_STOP_IDLE);
            if (bench_unknowns(b) || bench_count(b, CPS_EV_ASSUME) ||
                bench_count(b, CPS_EV_UNMODELLED))
                fail_msg("%s on %s", rows[i].hex, cps_gen_name(chips[k]));
            assert_int_equal(bench_count(b, CPS_EV_EXIT), 1);
            bench_free(b);
        }
    }
}

/* Behind a wait the clock of the engine, which counts instructions, is that of what has run so far,
 * and that something has run counts as a change: the pointer has moved. Without another item
 * nothing more runs. */
static void behind_a_wait_the_clock_says_what_has_run(void **state)
{
    struct bench *b = bench_hwsq(CPS_G80, "b0 09 d0 7f", NULL);
    const struct cps_item wait = {.kind = CPS_ITEM_WAIT, .host = {.ticks = 100}};
    (void)state;
    assert_null(cps_engine_feed(b->engine, &wait));
    uint64_t changes = b->engine->changes;
    assert_int_equal(cps_engine_run(b->engine, 1000), CPS_STOP_IDLE);
    assert_int_equal(b->bus->bus.clock, 100);
    assert_true(b->engine->changes > changes);
    assert_int_equal(bench_count(b, CPS_EV_EXIT), 0);
    assert_int_not_equal(b->engine->instructions, 0);
    assert_int_equal(b->engine->clock, b->engine->instructions);
    assert_int_equal(cps_engine_run(b->engine, 1000), CPS_STOP_IDLE);
    assert_int_equal(bench_count(b, CPS_EV_EXIT), 0);
    assert_int_equal(b->bus->bus.clock, 100);
    bench_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pause_blocks_what_leads_to_memory),
        cmocka_unit_test(a_pause_without_an_end_is_a_deadlock),
        cmocka_unit_test(the_script_waits_for_memory_as_well),
        cmocka_unit_test(ways_to_memory_meet),
        cmocka_unit_test(write_port_of_peephole),
        cmocka_unit_test(an_illegal_opcode_is_named),
        cmocka_unit_test(a_write_that_waits_says_for_what),
        cmocka_unit_test(slots_by_chip),
        cmocka_unit_test(instructions_take_the_time_of_the_policy),
        cmocka_unit_test(a_plain_script_reports_nothing),
        cmocka_unit_test(behind_a_wait_the_clock_says_what_has_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
