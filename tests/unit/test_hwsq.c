/* SPDX-License-Identifier: MIT
 * HWSQ: the test vectors of its reference, what chips differ in, and what is said of the unknown.
 */
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

/* The start of a memory reclock as public drivers build it for the G80 family. */
static const char reclock[] = "5f 01 00 5f 01 01 e2 00 33 00 00 e0 00 12 61 00 42 01 00 e0 04 25 "
                              "00 00 06 b0 5f 00 01 02 e0 d4 "
                              "02 10 00 40 d0 02 40 d0 02 42 00 00 40 10 02 42 01 00 40 dc 02 d0 "
                              "5f 00 00 42 00 00 e0 04 25 00 "
                              "00 7f";

static void list(enum cps_gen chip, const char *hex, struct cps_buf *out)
{
    struct cps_print_names names = {0};
    struct cps_names *own = NULL;
    struct cps_insn insn;
    uint8_t bytes[512];
    size_t size = bench_hex(hex, bytes);
    assert_null(cps_names_create(cps_gen_layout(chip), NULL, &own));
    names.names = own;
    for (size_t at = 0; at < size; at += insn.length) {
        cps_decode_bytes(&cps_isa_hwsq, chip, bytes + at, size - at, &insn);
        cps_buf_str(out, at ? "; " : "");
        cps_print(&cps_isa_hwsq, &insn, (uint32_t)at, &names, out);
    }
    cps_names_destroy(own);
}

/* ---- waits ---- */

static void test_wait_vectors(void **state)
{
    static const struct {
        uint8_t byte;
        const char *text;
        uint64_t ticks;
    } rows[] = {
        {0x00, "nop", 0},
        {0x01, "wait 1 shl 0", 32},
        {0x02, "wait 2 shl 0", 64},
        {0x03, "wait 3 shl 0", 96},
        {0x04, "wait 0 shl 2", 0},
        {0x05, "wait 1 shl 2", 128},
        {0x06, "wait 2 shl 2", 256},
        {0x07, "wait 3 shl 2", 384},
        {0x09, "wait 1 shl 4", 512},
        {0x0b, "wait 3 shl 4", 1536},
        {0x0e, "wait 2 shl 6", 4096},
        {0x11, "wait 1 shl 8", 8192},
        {0x16, "wait 2 shl 10", 65536},
        {0x1f, "wait 3 shl 14", 1572864},
        {0x3d, "wait 1 shl 30", UINT64_C(34359738368)},
        {0x3f, "wait 3 shl 30", UINT64_C(103079215104)},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows) * COUNT(chips); i++) {
        enum cps_gen chip = chips[i % COUNT(chips)];
        char hex[8];
        CPS_BUF text = {0};
        snprintf(hex, sizeof(hex), "%02x 7f", rows[i / COUNT(chips)].byte);
        struct bench *b = bench_hwsq(chip, hex, NULL);
        assert_int_equal(bench_run(b), CPS_STOP_IDLE);
        assert_true(b->bus->bus.clock == rows[i / COUNT(chips)].ticks);
        list(chip, hex, &text);
        assert_int_equal(strncmp(cps_buf_text(&text), rows[i / COUNT(chips)].text,
                                 strlen(rows[i / COUNT(chips)].text)),
                         0);
        bench_free(b);
    }
}

/* TIME_LOW grows by 0x20 with every clock of the timer. */
static void test_ptimer(void **state)
{
    struct bench *b = bench_hwsq(CPS_G80, "3f 7f", NULL);
    (void)state;
    bench_run(b);
    assert_int_equal(bench_read(b, 0x9400), 0);
    assert_int_equal(bench_read(b, 0x9410), 3 << 8);
    bench_free(b);
}

/* ---- entry points, triggers, status ---- */

static void test_entry_point_vectors(void **state)
{
    static const uint16_t low[] = {0x00, 0x10, 0x34, 0x7f}, high[] = {0x000, 0x110, 0x034, 0x1ff};
    (void)state;
    for (unsigned entry = 0; entry < 4; entry++) {
        struct bench *b = bench_new(CPS_NV41, NULL);
        for (uint32_t at = 0; at < 0x80; at += 4)
            cps_bus_load(b->bus, 0x1400 + at, 0x7f7f7f7f);
        bench_write(b, 0x1304, 0x7f341000);
        assert_int_equal(bench_read(b, 0x1304), 0x7f341000);
        bench_write(b, 0x130c, 3 | entry << 2);
        bench_run(b);
        assert_int_equal(bench_reg(b, "a.ip"), low[entry]);
        bench_free(b);

        b = bench_new(CPS_G92, NULL);
        for (uint32_t at = 0; at < 0x200; at += 4)
            cps_bus_load(b->bus, 0x80000 + at, 0x7f7f7f7f);
        bench_write(b, 0x1304, 0xff341000);
        bench_write(b, 0x1318, 0x01000100);
        assert_int_equal(bench_read(b, 0x1318), 0x01000100);
        bench_write(b, 0x130c, 1 | entry << 2);
        bench_run(b);
        assert_int_equal(bench_reg(b, "a.ip"), high[entry]);
        bench_free(b);
    }
}

/* Entry 2: start A is 0xb, start B 9, abort A 2, abort B 0. */
static void test_trigger_vectors(void **state)
{
    struct bench *b = bench_new(CPS_NV41, NULL);
    (void)state;
    bench_load(b, 0x34, (const uint8_t *)"\x3f\x7f", 2);
    bench_write(b, 0x1304, 0x00340000);
    bench_write(b, 0x130c, 0xb);
    assert_int_equal(bench_read(b, STATUS), 0x134);
    bench_write(b, 0x130c, 0x9);
    assert_int_equal(bench_read(b, STATUS), 0x01340134);
    bench_write(b, 0x130c, 2);
    assert_int_equal(bench_read(b, STATUS), 0x01340034);
    bench_write(b, 0x130c, 0);
    assert_int_equal(bench_read(b, STATUS), 0x00340034);
    bench_free(b);
}

static void test_status_vectors(void **state)
{
    static const struct {
        enum cps_gen chip;
        uint32_t trigger, during, after;
    } rows[] = {
        {CPS_G92, 1, 0x101, 0x001},           {CPS_G92, 3, 0x101, 0x001},
        {CPS_NV17, 3, 0x101, 0x001},          {CPS_NV41, 3, 0x00000101, 0x00000001},
        {CPS_G80, 1, 0x01010000, 0x00010000},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bench *b = bench_new(rows[i].chip, NULL);
        bench_load(b, 0, (const uint8_t *)"\x02\x7f", 2);
        bench_write(b, 0x130c, rows[i].trigger);
        assert_int_equal(bench_run_to(b, 10), CPS_STOP_BUDGET);
        assert_int_equal(bench_read(b, STATUS), rows[i].during);
        assert_int_equal(bench_run(b), CPS_STOP_IDLE);
        assert_int_equal(bench_read(b, STATUS), rows[i].after);
        bench_free(b);
    }
    struct bench *b = bench_new(CPS_G92, NULL);
    bench_load(b, 0x110, (const uint8_t *)"\x7f", 1);
    bench_write(b, 0x1304, 0x10);
    bench_write(b, 0x1318, 1);
    bench_write(b, 0x130c, 1);
    bench_run(b);
    assert_int_equal(bench_read(b, STATUS), 0x410);
    bench_free(b);
}

/* ---- flags ---- */

static void test_flag_vectors(void **state)
{
    static const struct {
        const char *hex, *policy;
        uint32_t addr, value;
        bool pauses;
    } rows[] = {
        {"a0 a4 c3 84 7f", NULL, 0x1310, 0x00090011, false},
        {"a0 a4 c3 84 7f", "unset=clear", 0x1310, 0x00090001, false},
        {"b0 7f", NULL, 0x1314, 0x00010001, true},
        {"d0 7f", NULL, 0x1314, 0x00010000, false},
        {"b0 90 7f", "unset=clear", 0x1314, 0, false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows) * COUNT(chips); i++) {
        enum cps_gen chip = chips[i % COUNT(chips)];
        struct bench *b =
            bench_hwsq(chip, rows[i / COUNT(chips)].hex, rows[i / COUNT(chips)].policy);
        bench_run(b);
        assert_int_equal(bench_read(b, rows[i / COUNT(chips)].addr), rows[i / COUNT(chips)].value);
        cps_bus_advance(b->bus, 1000);
        assert_int_equal(b->bus->bus.events & 1, rows[i / COUNT(chips)].pauses && chip != CPS_NV17);
        bench_free(b);
    }
}

/* HWSQ_ENABLE gates what a flag does to its register, HWSQ_OVERRIDE_MODE what a read shows. */
static void test_override_modes(void **state)
{
    static const struct {
        uint32_t debug_6, read, effective;
    } rows[] = {{0, 0x10, 0x10}, {0x08, 0x10, 0x11}, {0x10, 0x10, 0x10}, {0x18, 0x11, 0x11}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bench *b = bench_hwsq(CPS_NV41, "a0 c2 7f", NULL);
        bench_run(b);
        bench_write(b, 0x60081c, 0x10);
        bench_write(b, 0x1310, 0x00010001);
        bench_write(b, 0x1098, rows[i].debug_6);
        assert_int_equal(bench_read(b, 0x60081c), rows[i].read);
        assert_int_equal(cps_bus_effective(b->bus, 0x60081c), rows[i].effective);
        bench_free(b);
    }
}

/* Every flag that has a register forces its bit there, in both copies. */
static void test_flag_targets(void **state)
{
    static const struct {
        uint64_t gens;
        uint8_t flag, bit;
        uint32_t addr[2];
    } rows[] = {
#define HWSQ_FLAG(flag, gens, doubtful, first, second, bit, evidence) \
    {gens, flag, bit, {first, second ? second : first}},
#include "emu/nv/hwsq_flag.def"
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows) * COUNT(chips); i++) {
        enum cps_gen chip = chips[i % COUNT(chips)];
        const uint32_t *addr = rows[i / COUNT(chips)].addr;
        uint32_t bit = UINT32_C(1) << rows[i / COUNT(chips)].bit;
        char hex[8];
        snprintf(hex, sizeof(hex), "%02x 7f", 0xa0 | rows[i / COUNT(chips)].flag);
        struct bench *b = bench_hwsq(chip, hex, NULL);
        bench_run(b);
        for (unsigned k = 0; k < 2; k++) {
            bench_write(b, addr[k], 0);
            bool has = rows[i / COUNT(chips)].gens & cps_gen_mask(chip);
            assert_int_equal(bench_read(b, addr[k]), has ? bit : 0);
        }
        bench_free(b);
    }
}

/* ---- writes ---- */

static void test_poke_merge(void **state)
{
    (void)state;
    for (unsigned i = 1; i < COUNT(chips); i++) {
        CPS_BUF log = {0};
        struct bench *b =
            bench_hwsq(chips[i], "e2 78 56 34 12 e0 10 02 10 00 42 cd ab 40 14 02 7f", NULL);
        assert_int_equal(bench_run(b), CPS_STOP_IDLE);
        bench_log(b, CPS_PATH_POKE, &log);
        assert_string_equal(cps_buf_text(&log), "100210=12345678 100214=1234abcd");
        assert_int_equal(bench_reg(b, "a.addr"), 0x00100214);
        assert_int_equal(bench_reg(b, "a.data"), 0x1234abcd);
        assert_int_equal(bench_reg(b, "a.ip"), 0x10);
        bench_free(b);
    }
}

/* A write waits for HWSQ_ENABLE; FB_PAUSE does not. */
static void test_disabled_poke_blocks(void **state)
{
    CPS_BUF log = {0};
    struct bench *b = bench_hwsq(CPS_G80, "b0 e2 05 00 00 00 e0 04 25 00 00 7f", "fb-delay=1");
    (void)state;
    bench_write(b, 0x1098, 0x10);
    assert_int_equal(bench_run(b), CPS_STOP_DEADLOCK);
    cps_bus_advance(b->bus, 1);
    assert_int_equal(b->bus->bus.events, 1);
    assert_non_null(bench_unknown(b, CPS_UNKNOWN_POKE_IP));
    bench_log(b, CPS_PATH_POKE, &log);
    assert_string_equal(cps_buf_text(&log), "");
    bench_write(b, 0x1098, 0x18);
    assert_int_equal(bench_run(b), CPS_STOP_IDLE);
    bench_log(b, CPS_PATH_POKE, &log);
    assert_string_equal(cps_buf_text(&log), "2504=5");
    bench_free(b);
}

/* ---- chips ---- */

static void test_variant_contrast(void **state)
{
    static const char hex[] = "5f 00 01 e0 04 25 00 00 b0 7f";
    static const char later[] = "ewait FB_PAUSED 1; addr 0x00002504; set1 FB_PAUSE; exit";
    (void)state;
    for (unsigned i = 0; i < COUNT(chips); i++) {
        CPS_BUF text = {0};
        list(chips[i], hex, &text);
        assert_string_equal(cps_buf_text(&text),
                            i ? later
                              : "[5f]; nop; wait 1 shl 0; [e0]; wait 0 shl 2; wait 1 shl 18; nop; "
                                "nop; set1 16; exit");
    }
    struct bench *b = bench_hwsq(CPS_NV17, hex, NULL);
    assert_int_equal(bench_run(b), CPS_STOP_IDLE);
    assert_true(b->bus->bus.clock == 32 + (UINT64_C(1) << 18) * 32);
    assert_int_equal(bench_read(b, 0x1314), 0x00010001);
    bench_free(b);
}

static void test_bad_byte(void **state)
{
    (void)state;
    for (unsigned i = 0; i < COUNT(chips); i++) {
        bool hangs = chips[i] == CPS_NV41 || chips[i] == CPS_G80;
        struct bench *b = bench_hwsq(chips[i], "41 7f", NULL);
        assert_int_equal(bench_run(b), hangs ? CPS_STOP_DEADLOCK : CPS_STOP_IDLE);
        assert_int_equal(bench_read(b, STATUS), hangs ? 0x301 : 0x001);
        bench_write(b, 0x130c, 2);
        assert_int_equal(bench_run(b), CPS_STOP_IDLE);
        assert_int_equal(bench_read(b, STATUS), 0x001);
        bench_free(b);
    }
}

/* Every byte that is no opcode: one byte long, and as the chip has it. */
static void test_all_bad_bytes(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 256 * COUNT(chips); n++) {
        enum cps_gen chip = chips[n % COUNT(chips)];
        unsigned byte = n / COUNT(chips);
        struct cps_insn insn;
        const uint8_t bytes[8] = {(uint8_t)byte};
        cps_decode_bytes(&cps_isa_hwsq, chip, bytes, 8, &insn);
        if (insn.enc)
            continue;
        char hex[8];
        snprintf(hex, sizeof(hex), "%02x 7f", byte);
        struct bench *b = bench_hwsq(chip, hex, NULL);
        bool hangs = chip == CPS_NV41 || chip == CPS_G80;
        assert_int_equal(bench_run(b), hangs ? CPS_STOP_DEADLOCK : CPS_STOP_IDLE);
        assert_int_equal(bench_reg(b, "a.ip"), 1);
        bench_free(b);
    }
}

/* NV17 has no EVENTS, no NV41+ opcode and no pause; G92 the window of all its code. */
static void test_registers_by_chip(void **state)
{
    (void)state;
    for (unsigned i = 0; i < COUNT(chips); i++) {
        struct bench *b = bench_new(chips[i], NULL);
        assert_null(cps_bus_schedule(b->bus, 5, true, 1, 1));
        cps_bus_advance(b->bus, 5);
        assert_int_equal(bench_read(b, 0x1578), i ? 2 : 0);
        cps_bus_load(b->bus, 0x1400, 0x12345678);
        assert_int_equal(bench_read(b, 0x80000), chips[i] == CPS_G92 ? 0x12345678 : 0);
        cps_bus_load(b->bus, 0x1400 + cps_hwsq_ram(chips[i]) / 2, 0x9abcdef0);
        if (chips[i] != CPS_G92) /* half of its RAM is behind this window */
            assert_int_equal(bench_read(b, 0x1400 + cps_hwsq_ram(chips[i]) / 2), 0x9abcdef0);
        bench_free(b);
    }
}

/* From G80 on a paused memory stalls the host. */
static void test_pause_stalls_host(void **state)
{
    (void)state;
    for (unsigned i = 0; i < COUNT(chips); i++) {
        struct bench *b = bench_hwsq(chips[i], "b0 02 d0 7f", NULL);
        assert_int_equal(bench_run_to(b, 10), CPS_STOP_BUDGET);
        assert_int_equal(nv_host_stalled_(bench_nv(b)), i >= 2);
        assert_int_equal(b->bus->bus.events, i >= 1);
        assert_int_equal(bench_run(b), CPS_STOP_IDLE);
        assert_false(nv_host_stalled_(bench_nv(b)));
        assert_int_equal(b->bus->bus.events, 0);
        bench_free(b);
    }
}

/* ---- the script of 66 bytes ---- */

static void test_reclock_script(void **state)
{
    (void)state;
    for (unsigned i = 1; i < COUNT(chips); i++) {
        struct bench *b = bench_hwsq(chips[i], reclock, "fb-delay=0");
        CPS_BUF log = {0};
        assert_null(cps_bus_schedule(b->bus, 400, true, 1, 1)); /* vertical blank */
        assert_null(cps_bus_schedule(b->bus, 1000, true, 0, 1));
        assert_int_equal(bench_run(b), CPS_STOP_IDLE);
        bench_log(b, CPS_PATH_POKE, &log);
        assert_string_equal(cps_buf_text(&log), "611200=3300 2504=1 1002d4=1 1002d0=1 1002d0=1 "
                                                "100210=0 1002dc=1 2504=0");
        /* 256 of the waits pass before the pause, 64 behind it. */
        assert_true(b->bus->bus.clock == 1000 + 64);
        assert_int_equal(bench_reg(b, "a.ip"), 0x41);
        bench_free(b);
    }
}

static void test_reclock_words(void **state)
{
    static const uint32_t words[] = {
        0x5f00015f, 0x00e20101, 0xe0000033, 0x00611200, 0xe0000142, 0x00002504,
        0x005fb006, 0xd4e00201, 0x40001002, 0xd04002d0, 0x00004202, 0x42021040,
        0xdc400001, 0x005fd002, 0x00004200, 0x002504e0, 0x7f7f7f00,
    };
    (void)state;
    for (unsigned i = 1; i < COUNT(chips); i++) {
        struct bench *b = bench_hwsq(chips[i], reclock, NULL);
        for (unsigned k = 0; k < COUNT(words); k++)
            assert_int_equal(bench_read(b, 0x1400 + 4 * k), words[k]);
        bench_free(b);
    }
    assert_true(cps_hwsq_ram(CPS_NV17) < 66 && cps_hwsq_ram(CPS_NV41) >= 66);
}

static void test_reclock_text(void **state)
{
    CPS_BUF text = {0};
    (void)state;
    list(CPS_G80, reclock, &text);
    assert_string_equal(
        cps_buf_text(&text),
        "ewait HEAD0_VBLANK 0; ewait HEAD0_VBLANK 1; data 0x00003300; addr 0x00611200; "
        "datalo 0x0001; addr 0x00002504; wait 2 shl 2; set1 FB_PAUSE; ewait FB_PAUSED 1; "
        "wait 2 shl 0; addr 0x001002d4; addrlo 0x02d0; addrlo 0x02d0; datalo 0x0000; "
        "addrlo 0x0210; datalo 0x0001; addrlo 0x02dc; set0 FB_PAUSE; ewait FB_PAUSED 0; "
        "datalo 0x0000; addr 0x00002504; exit");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wait_vectors),        cmocka_unit_test(test_ptimer),
        cmocka_unit_test(test_entry_point_vectors), cmocka_unit_test(test_trigger_vectors),
        cmocka_unit_test(test_status_vectors),      cmocka_unit_test(test_flag_vectors),
        cmocka_unit_test(test_override_modes),      cmocka_unit_test(test_flag_targets),
        cmocka_unit_test(test_poke_merge),          cmocka_unit_test(test_disabled_poke_blocks),
        cmocka_unit_test(test_variant_contrast),    cmocka_unit_test(test_bad_byte),
        cmocka_unit_test(test_all_bad_bytes),       cmocka_unit_test(test_registers_by_chip),
        cmocka_unit_test(test_pause_stalls_host),   cmocka_unit_test(test_reclock_script),
        cmocka_unit_test(test_reclock_words),       cmocka_unit_test(test_reclock_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
