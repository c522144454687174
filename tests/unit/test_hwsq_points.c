/* SPDX-License-Identifier: MIT
 * HWSQ: aborts and slots, what is said of the unknown, and properties of any script. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>

#include "tests/lib/engine_bench.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define STATUS       0x1308u

static const enum cps_gen chips[] = {CPS_NV17, CPS_NV41, CPS_G80, CPS_G92};
#define NV17  CPS_GEN_BIT(NV17)
#define HANGS (CPS_GEN_BIT(NV41) | CPS_GEN_BIT(G80))
#define LATER (HANGS | CPS_GEN_BIT(G92))

/* ---- aborts and slots ---- */

/* The abort that shows as a bad opcode needs a second one; only two chips have that. */
static void test_double_abort(void **state)
{
    (void)state;
    for (unsigned i = 0; i < COUNT(chips); i++) {
        bool quirk = chips[i] == CPS_NV41 || chips[i] == CPS_G80;
        struct bench *b = bench_hwsq(chips[i], "3f 7f", "abort-in-wait=illegal");
        bench_run_to(b, 10);
        bench_write(b, 0x130c, 2);
        assert_int_equal(bench_read(b, STATUS), quirk ? 0x301 : 0x001);
        assert_int_equal(bench_unknown(b, CPS_UNKNOWN_ABORT_IN_WAIT) != NULL, quirk);
        bench_write(b, 0x130c, 2);
        assert_int_equal(bench_read(b, STATUS), 0x001);
        bench_free(b);
    }
}

static void test_abort_policies(void **state)
{
    static const struct {
        const char *policy;
        uint32_t status;
        enum cps_stop stop;
    } rows[] = {{NULL, 0x001, CPS_STOP_IDLE},
                {"abort-in-wait=illegal", 0x301, CPS_STOP_DEADLOCK},
                {"abort-in-wait=stop", 0x001, CPS_STOP_FAULT}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bench *b = bench_hwsq(CPS_NV41, "3f 7f", rows[i].policy);
        bench_run_to(b, 10);
        bench_write(b, 0x130c, 2);
        assert_int_equal(bench_read(b, STATUS), rows[i].status);
        assert_int_equal(bench_run(b), rows[i].stop);
        bench_free(b);
    }
}

/* Slot A, started first, runs to its end; a wait in it stalls slot B. */
static void test_two_slots(void **state)
{
    CPS_BUF log = {0};
    struct bench *b = bench_new(CPS_NV41, NULL);
    (void)state;
    bench_load(b, 0, (const uint8_t *)"\x03\xe2\x01\0\0\0\xe0\x04\x25\0\0\x7f", 12);
    bench_load(b, 0x20, (const uint8_t *)"\xe2\x02\0\0\0\xe0\x04\x25\0\0\x7f", 11);
    bench_write(b, 0x1098, 8);
    bench_write(b, 0x1304, 0x2000);
    bench_write(b, 0x130c, 3);
    bench_write(b, 0x130c, 5);
    assert_int_equal(bench_run(b), CPS_STOP_IDLE);
    bench_log(b, CPS_PATH_POKE, &log);
    assert_string_equal(cps_buf_text(&log), "2504=1 2504=2");
    assert_non_null(bench_unknown(b, CPS_UNKNOWN_ARBITRATION));
    bench_free(b);
}

/* Which of two goes first is UNKNOWN where two run: not of one slot alone, nor of the second when
 * the first is done. */
static void test_one_slot_needs_no_arbitration(void **state)
{
    static const struct {
        uint32_t start[2];
        bool both;
    } rows[] = {{{3, 0}, false}, {{5, 0}, false}, {{3, 5}, true}, {{5, 3}, true}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (unsigned between = 0; between < 2; between++) {
            struct bench *b = bench_new(CPS_NV41, NULL);
            bench_load(b, 0, (const uint8_t *)"\x7f", 1);
            bench_load(b, 0x20, (const uint8_t *)"\x7f", 1);
            bench_write(b, 0x1098, 8);
            bench_write(b, 0x1304, 0x2000);
            bench_write(b, 0x130c, rows[i].start[0]);
            if (between)
                assert_int_equal(bench_run(b), CPS_STOP_IDLE);
            if (rows[i].start[1])
                bench_write(b, 0x130c, rows[i].start[1]);
            assert_int_equal(bench_run(b), CPS_STOP_IDLE);
            assert_int_equal(bench_unknown(b, CPS_UNKNOWN_ARBITRATION) != NULL,
                             rows[i].both && !between);
            bench_free(b);
        }
    }
}

/* ---- what no source says ---- */

static void test_unknowns(void **state)
{
    static const struct {
        enum cps_unknown what;
        unsigned gens;
        const char *hex, *policy;
        uint32_t pc;
        enum cps_stop stop;
    } rows[] = {
        {CPS_UNKNOWN_UNALIGNED, LATER, "e2 01 00 00 00 e0 05 25 00 00 7f", NULL, 5, CPS_STOP_IDLE},
        {CPS_UNKNOWN_BAD_IP, HANGS, "00 41 7f", NULL, 1, CPS_STOP_DEADLOCK},
        {CPS_UNKNOWN_BAD_IP, HANGS, "00 41 7f", "bad-ip=at", 1, CPS_STOP_DEADLOCK},
        {CPS_UNKNOWN_UNDEFINED, LATER, "42 01 00 7f", NULL, 0, CPS_STOP_IDLE},
        {CPS_UNKNOWN_UNDEFINED, LATER, "e2 01 00 00 00 40 01 00 7f", NULL, 5, CPS_STOP_IDLE},
        {CPS_UNKNOWN_UNDEFINED, LATER, "00 e0 04 25 00 00 7f", NULL, 1, CPS_STOP_IDLE},
        {CPS_UNKNOWN_UNSET_VALUE, NV17 | LATER, "a0 80 7f", NULL, 1, CPS_STOP_IDLE},
        {CPS_UNKNOWN_EWAIT_BITS, LATER, "5f 20 00 7f", NULL, 0, CPS_STOP_IDLE},
        {CPS_UNKNOWN_EWAIT_BITS, LATER, "5f 00 02 7f", NULL, 0, CPS_STOP_IDLE},
        {CPS_UNKNOWN_EVENT_SOURCE, LATER, "00 5f 05 00 7f", NULL, 1, CPS_STOP_IDLE},
        {CPS_UNKNOWN_EVENT_SOURCE, LATER, "00 5f 05 01 7f", NULL, 1, CPS_STOP_IDLE},
        {CPS_UNKNOWN_EVENT_SOURCE, LATER, "00 5f 05 01 7f", "waits=stop", 1, CPS_STOP_DEADLOCK},
        {CPS_UNKNOWN_FELL_OFF, NV17 | LATER, "00", NULL, 0x1000, CPS_STOP_FAULT},
        {CPS_UNKNOWN_FLAG_TARGET, NV17 | LATER, "a8 7f", NULL, 0, CPS_STOP_IDLE},
        {CPS_UNKNOWN_FLAG_TARGET, NV17, "b0 7f", NULL, 0, CPS_STOP_IDLE},
        {CPS_UNKNOWN_FLAG_TARGET, LATER, "a4 7f", NULL, 0, CPS_STOP_IDLE},
        {CPS_UNKNOWN_FB_DELAY, LATER, "00 b0 7f", NULL, 1, CPS_STOP_IDLE},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows) * COUNT(chips); i++) {
        enum cps_gen chip = chips[i % COUNT(chips)];
        size_t row = i / COUNT(chips);
        if (!(rows[row].gens & cps_gen_bit(chip)))
            continue;
        struct bench *b = bench_hwsq(chip, rows[row].hex, rows[row].policy);
        if (rows[row].what == CPS_UNKNOWN_FELL_OFF) { /* waits to the last byte */
            for (uint32_t at = 0; at < cps_hwsq_ram(chip); at += 4)
                cps_bus_load(b->bus, (chip == CPS_G92 ? 0x80000 : 0x1400) + at, 0);
        }
        assert_int_equal(bench_run(b), rows[row].stop);
        const struct cps_event *said = bench_unknown(b, rows[row].what);
        assert_non_null(said);
        assert_int_equal(cps_event_pc(said),
                         rows[row].pc == 0x1000 ? cps_hwsq_ram(chip) : rows[row].pc);
        bench_free(b);
    }
}

/* An operand or an entry point beyond the RAM. */
static void test_fetch_beyond_ram(void **state)
{
    struct bench *b = bench_new(CPS_NV41, NULL);
    (void)state;
    bench_load(b, 0x7c, (const uint8_t *)"\0\0\xe2\0", 4);
    bench_write(b, 0x1304, 0xff7c);
    bench_write(b, 0x130c, 3);
    assert_int_equal(bench_run(b), CPS_STOP_FAULT);
    assert_int_equal(cps_event_pc(bench_unknown(b, CPS_UNKNOWN_FELL_OFF)), 0x7e);
    bench_free(b);
    b = bench_new(CPS_NV41, NULL);
    bench_write(b, 0x1304, 0xff00);
    bench_write(b, 0x130c, 3 | 1 << 2);
    assert_int_equal(bench_run(b), CPS_STOP_FAULT);
    assert_int_equal(cps_event_pc(bench_unknown(b, CPS_UNKNOWN_FELL_OFF)), 0xff);
    bench_free(b);
}

static void test_unknowns_of_the_host(void **state)
{
    struct bench *b = bench_hwsq(CPS_NV17, "3f 7f", NULL);
    (void)state;
    assert_null(bench_unknown(b, CPS_UNKNOWN_REWRITTEN));
    bench_write(b, 0x1404, 0x7f7f7f7f);
    assert_non_null(bench_unknown(b, CPS_UNKNOWN_REWRITTEN));
    assert_null(bench_unknown(b, CPS_UNKNOWN_START_RUNNING));
    bench_write(b, 0x130c, 3);
    assert_non_null(bench_unknown(b, CPS_UNKNOWN_START_RUNNING));
    assert_null(bench_unknown(b, CPS_UNKNOWN_CODE_BEYOND));
    bench_write(b, 0x1440, 0x12345678);
    assert_non_null(bench_unknown(b, CPS_UNKNOWN_CODE_BEYOND));
    assert_int_equal(bench_read(b, 0x1440), 0);
    bench_free(b);
}

/* ---- properties ---- */

/* A copy of the state is a checkpoint: going on from it gives the same again. */
static void test_state_is_plain(void **state)
{
    struct bench *b = bench_hwsq(CPS_G80, "02 e2 01 00 00 00 02 e0 04 25 00 00 7f", NULL);
    void *copy = malloc(nv_kind_(bench_nv(b))->state_size);
    (void)state;
    assert_non_null(copy);
    bench_run_to(b, 70);
    memcpy(copy, bench_nv(b)->state, nv_kind_(bench_nv(b))->state_size);
    bench_run(b);
    assert_int_equal(bench_reg(b, "a.ip"), 0x0c);
    memcpy(bench_nv(b)->state, copy, nv_kind_(bench_nv(b))->state_size);
    assert_int_equal(bench_reg(b, "a.ip"), 7);
    bench_run(b);
    assert_int_equal(bench_reg(b, "a.ip"), 0x0c);
    free(copy);
    bench_free(b);
}

static void test_tick_events(void **state)
{
    struct bench *b = bench_hwsq(CPS_G80, "02 e2 01 00 00 00 02 e0 04 25 00 00 7f", NULL);
    (void)state;
    bench_run(b);
    const struct cps_event *poke = bench_find(b, CPS_EV_REG, CPS_PATH_POKE, 0);
    assert_non_null(poke);
    assert_int_equal(cps_event_pc(poke), 7);
    const struct cps_event *tick = poke - 1;
    while (cps_event_kind(tick) != CPS_EV_TICK)
        tick--;
    assert_int_equal(tick->addr, 128);
    bench_free(b);
}

static void test_random_bytes(void **state)
{
    uint32_t random = 0x1234567;
    (void)state;
    for (unsigned n = 0; n < 4000; n++) {
        struct bench *b = bench_new(chips[n % COUNT(chips)], NULL);
        for (uint32_t at = 0; at < 0x100; at += 4) {
            random ^= random << 13;
            random ^= random >> 17;
            random ^= random << 5;
            cps_bus_load(b->bus, 0x1400 + at, random);
        }
        bench_write(b, 0x1304, random);
        bench_write(b, 0x1098, random & 0x18);
        bench_write(b, 0x130c, 3 | (random >> 28 & 0xc));
        bench_run(b);
        assert_in_range(b->engine->instructions, 0, 0x200);
        /* The pointer leaves the RAM only by falling off it. */
        assert_true(bench_reg(b, "a.ip") <= cps_hwsq_ram(chips[n % COUNT(chips)]) ||
                    bench_unknown(b, CPS_UNKNOWN_FELL_OFF));
        bench_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_double_abort),
        cmocka_unit_test(test_abort_policies),
        cmocka_unit_test(test_two_slots),
        cmocka_unit_test(test_one_slot_needs_no_arbitration),
        cmocka_unit_test(test_unknowns),
        cmocka_unit_test(test_fetch_beyond_ram),
        cmocka_unit_test(test_unknowns_of_the_host),
        cmocka_unit_test(test_state_is_plain),
        cmocka_unit_test(test_tick_events),
        cmocka_unit_test(test_random_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
