/* SPDX-License-Identifier: MIT
 * VP1's register files and special registers: every measurement of its reference is a row. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>

#include "tests/lib/vp1_bench.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* As the measurements filled them. */
static struct bench *filled(void)
{
    struct bench *b = bench_new(CPS_VP1_G80, NULL);
    for (unsigned i = 0; i < 32; i++) {
        vp1_set(b, VIEW_A, i, 0xdeadbe00 + i);
        vp1_set(b, VIEW_R, i, 0xdeadbe20 + i);
        vp1_set(b, VIEW_X, i, 0xdeadbe40 + i);
        vp1_set(b, VIEW_X, 32 + i, 0xdeadbe60 + i);
    }
    for (unsigned n = 0; n < 128; n++)
        vp1_set(b, VIEW_V, n, 0xdeadbe80 + 0x20 * (n & 3) + (n >> 2));
    return b;
}

static void test_reads(void **state)
{
    static const struct {
        uint32_t word, value;
    } rows[] = {
        {0x6b000000, 0xdeadbe80}, {0x6b004000, 0xdeadbea0}, {0x6b008000, 0xdeadbec0},
        {0x6b00c000, 0xdeadbee0}, {0x6b010000, 0xdeadbe81}, {0x6b020000, 0xdeadbe82},
        {0x6b040000, 0xdeadbe84}, {0x6b000008, 0xdeadbe88}, {0x6b000010, 0xdeadbe90},
        {0x6b000018, 0xdeadbe98}, {0x6b000001, 0xdeadbe80}, {0x6b000002, 0xdeadbe80},
        {0x6b000004, 0xdeadbe80}, {0x6b000100, 0xdeadbe80}, {0x6b000200, 0xdeadbe80},
        {0x6b000400, 0xdeadbe80}, {0x6b000800, 0xdeadbe80}, {0x6b001000, 0xdeadbe80},
        {0x6b002000, 0xdeadbe80}, {0x6b000060, 0xdeadbe20}, {0x6b004060, 0xdeadbe21},
        {0x6b008060, 0xdeadbe22}, {0x6b000068, 0x00008000}, {0x6b004068, 0x00008000},
        {0x6b008068, 0x00008000}, {0x6b010068, 0},          {0x6b020068, 0},
        {0x6b040068, 0},          {0x6b0000a0, 0xdeadbe40}, {0x6b0000a8, 0xdeadbe60},
        {0x6b000020, 0xdeadbe00}, {0x6b000028, 0xdeadbe00}, {0x6b000030, 0xdeadbe00},
        {0x6b000038, 0xdeadbe00}, {0x6b000070, 0xdeadbe00}, {0x6b000078, 0xdeadbe00},
        {0x6b000080, 0xdeadbe00}, {0x6b000088, 0xdeadbe00}, {0x6b000090, 0xdeadbe00},
        {0x6b000098, 0xdeadbe00}, {0x6b0000c8, 0xdeadbe00}, {0x6b0000d0, 0xdeadbe00},
        {0x6b0000d8, 0xdeadbe00}, {0x6b0000e0, 0xdeadbe00}, {0x6b0000e8, 0xdeadbe00},
        {0x6b0000f0, 0xdeadbe00}, {0x6b0000f8, 0xdeadbe00}, {0x6b000040, 0},
        {0x6b000048, 0},          {0x6b000050, 0},          {0x6b000058, 0},
        {0x6b0000b8, 0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bench *b = filled();
        assert_int_equal(vp1_inject(b, rows[i].word), CPS_STOP_IDLE);
        if (vp1_get(b, VIEW_A, 0) != rows[i].value)
            fail_msg("%08x reads %08x", rows[i].word, vp1_get(b, VIEW_A, 0));
        bench_free(b);
    }
}

static void test_other_reads(void **state)
{
    struct bench *b = filled();
    (void)state;
    bench_write(b, 0xf004, 0x12345678);
    vp1_inject(b, 0x6b004000);
    assert_int_equal(vp1_get(b, VIEW_A, 0), 0x12345678);
    vp1_inject(b, 0x6bdeadba); /* selector 0x17, and the flags stay */
    assert_int_equal(vp1_get(b, VIEW_A, 27), 0);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(vp1_get(b, VIEW_C, i), 0x8000);
    bench_free(b);
}

static void test_writes(void **state)
{
    static const struct {
        uint32_t word, addr, value; /* addr 0: nothing changes */
    } rows[] = {
        {0x6a000000, 0xf000, 0xdeadbe00},
        {0x6a080000, 0xf004, 0xdeadbe00},
        {0x6a004060, 0xf600, 0xdeadbe01},
        {0x6a004068, 0, 0},
        {0x6a0040a0, 0xfa00, 0xdeadbe01},
        {0x6a0040a8, 0xfa80, 0xdeadbe01},
        {0x6a0040b0, 0xfb00, 0x0001be01},
        {0x6adeadbe, 0, 0},
        {0x6adeadba, 0, 0},
        {0x6a000090, 0xf100, 0xdeadbe00}, /* writes component 2 */
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bench *b = filled();
        struct bench *before = filled();
        assert_int_equal(vp1_inject(b, rows[i].word), CPS_STOP_IDLE);
        for (uint32_t addr = 0xf000; addr < 0xfc80; addr += 4) {
            if (addr >= 0xf440 && addr < 0xf600) /* the words of the bundle, and the clock */
                continue;
            uint32_t value = addr == rows[i].addr ? rows[i].value : bench_read(before, addr);
            if (bench_read(b, addr) != value)
                fail_msg("%08x: %04x is %08x", rows[i].word, addr, bench_read(b, addr));
        }
        bench_free(before);
        bench_free(b);
    }
}

/* What envytools' tester saw of the flags, as a policy; either is reported. */
static void test_mov_flags(void **state)
{
    (void)state;
    for (unsigned clear = 0; clear < 2; clear++) {
        struct bench *b = bench_new(CPS_VP1_G80, clear ? "mov-flags=clear" : NULL);
        vp1_set(b, VIEW_A, 0, 0x000fffff);
        vp1_inject(b, 0x6e000000);
        vp1_inject(b, 0x6a000060);
        assert_int_equal(vp1_get(b, VIEW_C, 0), clear ? 0x8000 : 0x80c4);
        assert_non_null(bench_unknown(b, CPS_UNKNOWN_VP1_MOV_FLAGS));
        bench_free(b);
    }
}

/* The scan of the special registers: what the host reads after it wrote ffffffff, after it wrote 0,
 * and what `mov` reads in between. */
static void test_special_registers(void **state)
{
    static const struct {
        uint8_t number;
        uint32_t ones, isa, zeros;
    } rows[] = {
        {0, 0x01111111, 0, 0},
        {1, 0xffffffff, 0, 0},
        {2, 0xffffffff, 0x80001000, 0},
        {3, 0xffffffff, 0xffffffff, 0},
        {4, 3, 3, 0},
        {5, 0, 0, 0},
        {6, 0, 0, 0},
        {7, 0xffffffff, 0, 0},
        {8, 1, 0, 0},
        {9, 0xffff, 0, 0},
        {10, 0, 0, 0},
        {11, 4, 4, 4},
        {12, 0x44, 0, 0x44},
        {13, 0x1000, 0x1000, 0x1000},
        {14, 0x111, 0, 0},
        {15, 0, 0, 0},
        {18, 0xdf000000, 0, 0}, /* `mov` in between was injected, which makes them nops */
        {25, 0xffffffe3, 0, 0},
        {26, 0xffffffe3, 0, 0},
        {27, 0xffffffe3, 0, 0},
        {29, 0x11, 0, 0},
        {31, 0, 0, 0},
        {32, 0, 0, 0},
        {38, 0, 0, 0},
        {49, 0, 0, 0},
        {50, 0xffffffe3, 0xffffffe3, 0},
        {64, 0, 0, 0},
        {68, 0xdf000000, 0xdfffffff, 0xdf000000},
        {69, 0x4f000000, 0x4fffffff, 0x4f000000},
        {70, 0xbf000000, 0xbf000007, 0xbf000000},
        {71, 0xef000000, 0xef0001ff, 0xef000000},
        {72, 0xfffff, 0, 0},
        {73, 0xf, 8, 0},
        {75, 0xf, 0xf, 0},
        {76, 0xfffff, 0xfffff, 0},
        {79, 0xfffff, 0xfffff, 0},
        {80, 0x111, 0x111, 0},
        {95, 0, 0, 0},
        {96, 0xffff, 0xffff, 0},
        {99, 0xffff, 0xffff, 0},
        {100, 0, 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bench *b = bench_new(CPS_VP1_G80, NULL);
        uint32_t number = rows[i].number;
        vp1_bundle(b, 0xdfffffff, 0x4fffffff, 0xbf000007, 0xef0001ff);
        vp1_set(b, VIEW_SR, number, 0xffffffff);
        if (number != 18 && vp1_get(b, VIEW_SR, number) != rows[i].ones)
            fail_msg("host: $sr%u is %08x", number, vp1_get(b, VIEW_SR, number));
        vp1_inject(b, 0x6b000007 | (number % 32) << 14 | (8 + number / 32) << 3);
        if (vp1_get(b, VIEW_A, 0) != rows[i].isa)
            fail_msg("mov: $sr%u is %08x", number, vp1_get(b, VIEW_A, 0));
        if (number == 18)
            assert_int_equal(vp1_get(b, VIEW_SR, number), rows[i].ones);
        vp1_set(b, VIEW_SR, number, 0);
        if (vp1_get(b, VIEW_SR, number) != rows[i].zeros)
            fail_msg("host: $sr%u is %08x after 0", number, vp1_get(b, VIEW_SR, number));
        bench_free(b);
    }
}

/* The words of a bundle to inject are nops at first, stay as they are written, and are nops again
 * behind the bundle: who injects one word after the other need not write the others. */
static void test_injected_words_become_nops(void **state)
{
    static const uint32_t nops[] = {0xdf000000, 0x4f000000, 0xbf000000, 0xef000000};
    struct bench *b = bench_new(CPS_VP1_G80, NULL);
    (void)state;
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(vp1_get(b, VIEW_SR, 18 + i), nops[i]);
    bench_write(b, 0xf44c, 0x6500dead); /* mov $a0 0xdead */
    assert_int_equal(bench_read(b, 0xf44c), 0x6500dead);
    bench_write(b, 0xf458, 2); /* bit 0 alone starts it */
    bench_run(b);
    assert_int_equal(vp1_get(b, VIEW_A, 0), 0);
    assert_int_equal(bench_read(b, 0xf44c), 0x6500dead);
    bench_write(b, 0xf458, 1);
    bench_run(b);
    assert_int_equal(vp1_get(b, VIEW_A, 0), 0xdead);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(vp1_get(b, VIEW_SR, 18 + i), nops[i]);
    vp1_set(b, VIEW_A, 0, 5);
    bench_write(b, 0xf448, 0xcc000007); /* setlo $r0 7, and no `mov` once more */
    bench_write(b, 0xf458, 1);
    bench_run(b);
    assert_int_equal(vp1_get(b, VIEW_R, 0), 7);
    assert_int_equal(vp1_get(b, VIEW_A, 0), 5);
    bench_free(b);
}

/* The host's 0x44 does not move on, and what it reads is reported as something that nobody knows;
 * a register of which it is known is not. */
static void test_reports_of_special_registers(void **state)
{
    static const uint8_t reported[] = {0,  2,  11, 12, 14, 16, 17, 23, 24, 30,
                                       68, 69, 70, 71, 75, 76, 77, 78, 79};
    (void)state;
    for (unsigned number = 0; number < 128; number++) {
        struct bench *b = bench_new(CPS_VP1_G80, NULL);
        vp1_get(b, VIEW_SR, number);
        bool is_reported = memchr(reported, (int)number, sizeof(reported)) != NULL;
        if ((bench_unknown(b, CPS_UNKNOWN_VP1_REGISTER) != NULL) != is_reported)
            fail_msg("$sr%u: reported the wrong way", number);
        bench_free(b);
    }
}

#define FROM_SR(dst, n) \
    (0x6b000007u | (uint32_t)(dst) << 19 | (n) % 32u << 14 | (8 + (n) / 32u) << 3)
#define TO_SR(n, src) (0x6a000007u | (n) % 32u << 19 | (uint32_t)(src) << 14 | (8 + (n) / 32u) << 3)

/* A program reads the clock, its place and its state, sets the clock, and reads it again; behind it
 * the host reads the clock and the state. A bundle takes a tick, and what the policy adds. */
static void test_clock_place_and_state(void **state)
{
    static const uint32_t words[] = {
        FROM_SR(1, 30), FROM_SR(2, 30), FROM_SR(3, 72), FROM_SR(4, 73), /* words 0 to 3 */
        TO_SR(30, 10),  FROM_SR(5, 30), 0xff000000,
    };
    (void)state;
    for (uint32_t cost = 0; cost < 6; cost += 5) {
        struct bench *b = bench_new(CPS_VP1_G80, cost ? "cost=5" : NULL);
        uint32_t bundle = 1 + cost;
        bench_write(b, 0xf478, 100); /* the host sets the clock */
        assert_int_equal(bench_read(b, 0xf478), 100);
        vp1_set(b, VIEW_A, 10, 0xfffffff0);
        vp1_program(b, words, COUNT(words));
        assert_int_equal(bench_run(b), CPS_STOP_IDLE);
        assert_int_equal(vp1_get(b, VIEW_A, 1), 100);
        assert_int_equal(vp1_get(b, VIEW_A, 2), 100 + bundle);
        assert_int_equal(vp1_get(b, VIEW_A, 3), 2);
        assert_int_equal(vp1_get(b, VIEW_A, 4), 8);
        assert_int_equal(vp1_get(b, VIEW_A, 5), 0xfffffff0 + bundle);
        assert_int_equal(bench_read(b, 0xf478),
                         0xfffffff0 + 2 * bundle); /* exit is beside the mov */
        assert_int_equal(bench_read(b, 0xf524), 2);
        bench_free(b);
    }
}

/* What the host writes to $sr72 and $sr73 is kept between programs and reported; it reaches no
 * program that runs. */
static void test_host_writes_of_control(void **state)
{
    static const struct {
        uint32_t addr, kept;
    } rows[] = {{0xf520, 0xfffff}, {0xf524, 0xf}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bench *b = bench_new(CPS_VP1_G80, NULL);
        bench_write(b, rows[i].addr, 0xffffffff);
        assert_int_equal(bench_read(b, rows[i].addr), rows[i].kept);
        assert_int_equal(bench_unknown(b, CPS_UNKNOWN_VP1_CONTROL)->value, i ? 73 : 72);
        vp1_program(b, (const uint32_t[]){0xefffffff, 0xff000001}, 2);
        bench_write(b, rows[i].addr, 5);
        assert_int_equal(bench_read(b, rows[i].addr), i ? 8 : 0);
        assert_int_equal(bench_run(b), CPS_STOP_IDLE);
        assert_int_equal(bench_read(b, 0xf424), 1);
        assert_int_equal(bench_read(b, 0xf524), 2);
        bench_free(b);
    }
}

/* `mov` to the special registers: what stays of all bits, by `mov` and for the host. */
static void test_special_writes(void **state)
{
    static const struct {
        uint8_t number;
        uint32_t after;
    } rows[] = {{0, 0},        {2, 0},      {3, 0xffffffff},  {4, 3},      {7, 0},
                {25, 0},       {28, 0},     {50, 0xffffffe3}, {64, 0},     {75, 0xf},
                {76, 0xfffff}, {80, 0x111}, {96, 0xffff},     {97, 0xffff}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bench *b = bench_new(CPS_VP1_G80, NULL);
        uint32_t number = rows[i].number;
        vp1_set(b, VIEW_A, 1, 0xffffffff);
        vp1_inject(b, 0x6a004007 | (number % 32) << 19 | (8 + number / 32) << 3);
        if (vp1_get(b, VIEW_SR, number) != rows[i].after)
            fail_msg("$sr%u is %08x", number, vp1_get(b, VIEW_SR, number));
        bench_free(b);
    }
}

/* $d and $y came with G80; what files 4 to 7 are before it is not known. */
static void test_files_of_older_chips(void **state)
{
    (void)state;
    for (unsigned selector = 4; selector < 32; selector++) {
        struct bench *b = bench_new(CPS_VP1_NV44, NULL);
        vp1_set(b, VIEW_A, 0, 0x5555);
        enum cps_stop stop = vp1_inject(b, 0x6b000007 | selector << 3);
        bool unknown = bench_unknown(b, CPS_UNKNOWN_VP1_SELECTOR) != NULL;
        assert_int_equal(unknown, selector < 8);
        assert_int_equal(stop, selector < 8 ? CPS_STOP_FAULT : CPS_STOP_IDLE);
        if (selector == 0x16 || selector == 0x18)
            assert_int_equal(vp1_get(b, VIEW_A, 0), 0x5555);
        bench_free(b);
    }
}

static void test_view(void **state)
{
    struct bench *b = bench_new(CPS_VP1_G80, NULL);
    (void)state;
    vp1_set(b, VIEW_A, 31, 1);
    assert_int_equal(vp1_get(b, VIEW_A, 31), 0);
    vp1_set(b, VIEW_C, 0, 0);
    assert_int_equal(vp1_get(b, VIEW_C, 0), 0x8000);
    assert_int_equal(vp1_get(b, VIEW_C, 4), 0);
    vp1_set(b, VIEW_D, 3, 0xffffffff);
    assert_int_equal(vp1_get(b, VIEW_D, 3), 0x1ffff);
    assert_int_equal(vp1_get(b, VIEW_D, 11), 0); /* an alias only by `mov` */
    vp1_inject(b, 0x6b0000b7 | 11 << 14);
    assert_int_equal(vp1_get(b, VIEW_A, 0), 0x1ffff);
    bench_write(b, 0xfb80, 5);
    bench_write(b, 0xfc00, 5);
    assert_int_equal(bench_read(b, 0xfb80), 0);
    assert_int_equal(bench_read(b, 0xfc00), 0);
    /* $y keeps what `mov` puts there. */
    vp1_set(b, VIEW_A, 1, 0x1234);
    vp1_inject(b, 0x6a1840c7); /* $y3 */
    vp1_inject(b, 0x6b00c0c7);
    assert_int_equal(vp1_get(b, VIEW_A, 0), 0x1234);
    bench_free(b);
}

/* ---- the other units, from the same measurements ---- */

static void test_other_units(void **state)
{
    struct bench *b = filled();
    (void)state;
    vp1_set(b, VIEW_R, 0, 0xdeadbe20);
    vp1_inject(b, 0xcb0801c0); /* $r1 := $r0 + $r0 */
    assert_int_equal(vp1_get(b, VIEW_R, 1), 0xbd5b7c40);
    assert_int_equal(vp1_get(b, VIEW_C, 0), 0x8100);
    for (unsigned i = 1; i < 4; i++)
        assert_int_equal(vp1_get(b, VIEW_C, i), 0x8000);
    vp1_inject(b, 0xad07c000); /* $v0 := 0 */
    for (unsigned n = 0; n < 128; n++)
        assert_int_equal(vp1_get(b, VIEW_V, n),
                         n % 32 ? 0xdeadbe80 + 0x20 * (n & 3) + (n >> 2) : 0);
    bench_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads),
        cmocka_unit_test(test_other_reads),
        cmocka_unit_test(test_writes),
        cmocka_unit_test(test_mov_flags),
        cmocka_unit_test(test_special_registers),
        cmocka_unit_test(test_injected_words_become_nops),
        cmocka_unit_test(test_reports_of_special_registers),
        cmocka_unit_test(test_clock_place_and_state),
        cmocka_unit_test(test_host_writes_of_control),
        cmocka_unit_test(test_special_writes),
        cmocka_unit_test(test_files_of_older_chips),
        cmocka_unit_test(test_view),
        cmocka_unit_test(test_other_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
