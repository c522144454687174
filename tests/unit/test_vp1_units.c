/* SPDX-License-Identifier: MIT
 * VP1's address and vector units: results worked out by hand from the reference's formulas. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>

#include "emu/nv/vp1/vp1.h"
#include "tests/lib/vp1_bench.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Byte i of a vector register. */
static uint8_t get_byte(struct bench *b, unsigned number, unsigned i)
{
    return (uint8_t)(bench_read(b, VIEW_V + 0x80 * (i / 4) + 4 * number) >> 8 * (i % 4));
}

static void fill(struct bench *b, unsigned number, const uint8_t bytes[16])
{
    for (unsigned k = 0; k < 4; k++)
        bench_write(b, VIEW_V + 0x80 * k + 4 * number,
                    (uint32_t)bytes[4 * k] | (uint32_t)bytes[4 * k + 1] << 8 |
                        (uint32_t)bytes[4 * k + 2] << 16 | (uint32_t)bytes[4 * k + 3] << 24);
}

/* All bytes the same. */
static void splat(struct bench *b, unsigned number, uint8_t byte)
{
    uint8_t bytes[16];
    memset(bytes, byte, sizeof(bytes));
    fill(b, number, bytes);
}

/* ---- the data store ---- */

static void test_lines_and_words(void **state)
{
    static const uint8_t line[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    (void)state;
    for (uint32_t stride = 0; stride < 4; stride++) {
        struct bench *b = bench_new(CPS_VP1_G80, NULL);
        fill(b, 1, line);
        bench_write(b, VIEW_R, stride << 30 | 0x0100 << 16 | 0x120);
        vp1_inject(b, 0xd4004007 | 0x10 << 3); /* stavh $v1 $r0 0x10 */
        assert_int_equal(bench_read(b, VIEW_R), stride << 30 | 0x0100 << 16 | 0x130);
        vp1_inject(b, 0xd0100007 | 0x7f0 << 3); /* ldavh $v2 $r0 -0x10: from 0x130, all 0 */
        assert_int_equal(get_byte(b, 2, 5), 0);
        vp1_inject(b, 0xd8100007); /* ldvh $v2 $r0 0 */
        for (unsigned i = 0; i < 16; i++)
            assert_int_equal(get_byte(b, 2, i), i);
        vp1_inject(b, 0xda280007 | 8 << 3); /* lds $a5 $r0 8: the third word */
        assert_int_equal(vp1_get(b, VIEW_A, 5), 0x0b0a0908);
        vp1_set(b, VIEW_A, 6, 0x11223344);
        vp1_inject(b, 0xde018007 | 4 << 3); /* sts $a6 $r0 4 */
        vp1_inject(b, 0xd8100007);
        assert_int_equal(get_byte(b, 2, 4), 0x44);
        assert_int_equal(get_byte(b, 2, 3), 3);
        bench_free(b);
    }
}

/* A matrix that is written in lines comes back in columns: that is what the banks are for. */
static void test_columns(void **state)
{
    (void)state;
    for (uint32_t stride = 1; stride < 4; stride++) {
        struct bench *b = bench_new(CPS_VP1_G80, NULL);
        for (uint32_t y = 0; y < 16; y++) {
            uint8_t line[16];
            for (uint32_t x = 0; x < 16; x++)
                line[x] = (uint8_t)(16 * y + x);
            fill(b, 1, line);
            bench_write(b, VIEW_R, stride << 30 | (y * 0x10 << stride));
            vp1_inject(b, 0xdc004007); /* stvh $v1 $r0 0 */
        }
        for (uint32_t x = 0; x < 16; x++) {
            bench_write(b, VIEW_R, stride << 30 | x);
            vp1_inject(b, 0xd9100007); /* ldvv $v2 $r0 0 */
            for (unsigned y = 0; y < 16; y++)
                assert_int_equal(get_byte(b, 2, y), 16 * y + x);
        }
        bench_free(b);
    }
}

/* The flag is of the address behind the addition; the limit stays. */
static void test_short_flag(void **state)
{
    static const struct {
        uint32_t add;
        bool over;
    } rows[] = {{0, false}, {0xf, false}, {0x10, true}, {0x20, true}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bench *b = bench_new(CPS_VP1_G80, NULL);
        bench_write(b, VIEW_R, 0x0030 << 16 | 0x20);
        bench_write(b, VIEW_R + 4, rows[i].add);
        vp1_inject(b, 0xca0003c1 | 1 << 9); /* aadd $c1 $r0 $r1 */
        assert_int_equal(bench_read(b, VIEW_R), 0x0030 << 16 | (0x20 + rows[i].add));
        assert_int_equal(vp1_get(b, VIEW_C, 1), rows[i].over ? 0x8400 : 0x8000);
        bench_free(b);
    }
}

static void test_address_arithmetic(void **state)
{
    struct bench *b = bench_new(CPS_VP1_G80, NULL);
    (void)state;
    vp1_inject(b, 0xcc081234); /* setlo $r1 */
    vp1_inject(b, 0xcd08abcd); /* sethi $r1 */
    assert_int_equal(vp1_get(b, VIEW_R, 1), 0xabcd1234);
    vp1_set(b, VIEW_R, 2, 0x0f0f0f0f);
    vp1_inject(b, 0xd3184400 | 6 << 3); /* bitop $c0 $r3 $r1 $r2 xor */
    assert_int_equal(vp1_get(b, VIEW_R, 3), 0xa4c21d3b);
    assert_int_equal(vp1_get(b, VIEW_C, 0), 0x8100);
    bench_free(b);
}

/* star writes a cell of each bank; ldr reads one of each bank's own. */
static void test_scattered(void **state)
{
    uint8_t offsets[16] = {0};
    struct bench *b = bench_new(CPS_VP1_G80, NULL);
    (void)state;
    for (unsigned cell = 0; cell < 4; cell++) {
        splat(b, 1, (uint8_t)(0x10 * cell + 1));
        bench_write(b, VIEW_R, cell << 4);
        vp1_inject(b, 0xd70041c1 | 9 << 9); /* star $v1 $r0 $r9 */
    }
    for (unsigned i = 0; i < 16; i++)
        offsets[i] = (uint8_t)(i % 4);
    fill(b, 3, offsets);
    bench_write(b, VIEW_R, 0);
    vp1_inject(b, 0xd7100000 | 3 << 9); /* ldr $v2 $r0 $v3 */
    for (unsigned i = 0; i < 16; i++)
        assert_int_equal(get_byte(b, 2, i), 0x10 * (i % 4) + 1);
    bench_free(b);
}

/* ---- vectors ---- */

/* One operation on registers whose bytes are all the same: $v3 of $v1 and $v2. */
static void test_bytes(void **state)
{
    static const struct {
        const char *name;
        uint32_t opcode;
        uint8_t x, y, result;
        bool sign, zero;
    } rows[] = {
        {"vmin", 0x88, 0x80, 0x01, 0x80, true, false},
        {"vminu", 0x98, 0x80, 0x01, 0x01, false, false},
        {"vmax", 0x89, 0x80, 0x01, 0x01, false, false},
        {"vmaxu", 0x99, 0x80, 0x01, 0x80, false, false},
        {"vabs", 0x8a, 0x80, 0, 0x7f, false, false},
        {"vneg", 0x8b, 0x01, 0, 0xff, true, false},
        {"vneg of the lowest", 0x8b, 0x80, 0, 0x7f, false, false},
        {"vadd", 0x8c, 0x7f, 0x01, 0x7f, false, false},
        {"vadd below", 0x8c, 0x80, 0xff, 0x80, true, false},
        {"vaddu", 0x9c, 0xff, 0x02, 0xff, true, false},
        {"vsub", 0x8d, 0x05, 0x05, 0, false, true},
        {"vsubu below", 0x9d, 0x01, 0x02, 0, true, true},
        {"vsar", 0x8e, 0x80, 0x01, 0xc0, true, false},
        {"vshr", 0x9e, 0x80, 0x01, 0x40, false, false},
        {"vshr to the left", 0x9e, 0x41, 0x0f, 0x82, true, false},
        {"vbitop and", 0x94, 0x0f, 0x3c, 0x0c, false, false},
        {"mov", 0xba, 0x9c, 0, 0x9c, false, false},
        {"vminabs", 0xa5, 0x80, 0x80, 0x7f, false, false},
        {"vminabs", 0xa5, 0xfe, 0x05, 0x02, false, false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bench *b = bench_new(CPS_VP1_G80, NULL);
        uint32_t bitop = rows[i].opcode == 0x94 ? 8 << 3 : 0;
        splat(b, 1, rows[i].x);
        splat(b, 2, rows[i].y);
        vp1_inject(b, rows[i].opcode << 24 | 3 << 19 | 1 << 14 | 2 << 9 | bitop);
        vp1_inject(b, 0xbb200000); /* mov $v4 $vc */
        uint32_t flags = bench_read(b, VIEW_V + 4 * 4);
        uint32_t expected = (rows[i].sign ? 0xffffu : 0) | (rows[i].zero ? 0xffff0000 : 0);
        if (get_byte(b, 3, 7) != rows[i].result || flags != expected)
            fail_msg("%s: %02x %08x", rows[i].name, get_byte(b, 3, 7), flags);
        bench_free(b);
    }
}

static void test_immediates(void **state)
{
    struct bench *b = bench_new(CPS_VP1_G80, NULL);
    (void)state;
    splat(b, 1, 0x21);
    vp1_inject(b, 0xaa184007 | 0x0f << 3); /* vand */
    assert_int_equal(get_byte(b, 3, 0), 0x01);
    vp1_inject(b, 0xad180007 | 0xa5 << 3); /* vmov */
    assert_int_equal(get_byte(b, 3, 15), 0xa5);
    vp1_inject(b, 0xbc184007 | 0xf0 << 3); /* vaddu, clipped */
    assert_int_equal(get_byte(b, 3, 0), 0xff);
    bench_free(b);
}

static void test_swizzle_and_median(void **state)
{
    static const uint8_t line[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    static const uint8_t how[16] = {0x1f, 0x0f, 0x10, 0x00};
    struct bench *b = bench_new(CPS_VP1_G80, NULL);
    (void)state;
    fill(b, 1, line);
    splat(b, 2, 0x77);
    fill(b, 3, how);
    vp1_inject(b, 0x9b200000 | 1 << 14 | 2 << 9 | 3 << 4);
    assert_int_equal(bench_read(b, VIEW_V + 4 * 4), 0x00770f77);
    splat(b, 1, 0x05);
    splat(b, 2, 0xf0);
    splat(b, 3, 0x03);
    vp1_inject(b, 0xa4200007 | 1 << 14 | 2 << 9 | 3 << 4); /* median of 5, -16 and 3 */
    assert_int_equal(get_byte(b, 4, 0), 3);
    bench_free(b);
}

/* ---- the multiplier ---- */

static void test_products(void **state)
{
    static const struct {
        const char *name;
        uint32_t opcode, mode; /* bits 0 to 8 */
        uint8_t x, y, result;
    } rows[] = {
        {"integers, low half", 0x91, 0x18, 7, 5, 35},
        {"integers, high half", 0x91, 0x08, 0x40, 0x08, 0x02},
        {"integers, signed, low half", 0x81, 0x1e, 0xfd, 5, 0xf1},
        {"fractions: 0.5 * 0.5", 0x91, 0x00, 0x80, 0x80, 0x40},
        {"signed fractions: -0.5 * 0.5", 0x81, 0x06, 0xc0, 0x40, 0xe0},
        {"without rounding", 0x91, 0x00, 0x03, 0x80, 0x01},
        {"with rounding", 0x91, 0x100, 0x03, 0x80, 0x02},
        {"a shift doubles", 0x91, 0x20, 0x20, 0x80, 0x20},
        {"clipped", 0x91, 0x60, 0xff, 0xff, 0xff},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bench *b = bench_new(CPS_VP1_G80, NULL);
        splat(b, 1, rows[i].x);
        splat(b, 2, rows[i].y);
        vp1_inject(b, rows[i].opcode << 24 | 3 << 19 | 1 << 14 | 2 << 9 | rows[i].mode);
        if (get_byte(b, 3, 9) != rows[i].result)
            fail_msg("%s: %02x", rows[i].name, get_byte(b, 3, 9));
        bench_free(b);
    }
}

/* Two products add up in $va. */
static void test_accumulator(void **state)
{
    struct bench *b = bench_new(CPS_VP1_G80, NULL);
    (void)state;
    splat(b, 1, 7);
    splat(b, 2, 5);
    vp1_inject(b, 0x80184418); /* vmula: $v3 stays */
    assert_int_equal(get_byte(b, 3, 0), 0);
    vp1_inject(b, 0x92184418);
    assert_int_equal(get_byte(b, 3, 0), 70);
    bench_free(b);
}

/* The factors of the same bundle: s2 + s1 * f1 + $v[s1 | 1] * f2, fractions of 256. */
static void test_factors(void **state)
{
    struct bench *b = bench_new(CPS_VP1_G80, NULL);
    (void)state;
    splat(b, 4, 0x80);
    splat(b, 5, 0x40);
    splat(b, 2, 0x10);
    /* vec 128 -128: a half of $v4 less a half of $v5, and the register itself */
    vp1_bundle(b, 0x24000000 | 128 << 1 | 0x180 << 10, 0x95190400, 0, 0);
    assert_int_equal(get_byte(b, 3, 6), 0x30);
    bench_free(b);
}

/* Half of the way between two registers, by each of the operations for it. */
static void test_between(void **state)
{
    struct bench *b = bench_new(CPS_VP1_G80, NULL);
    const uint32_t half = 0x24000000 | 128 << 1; /* vec 128 0 */
    (void)state;
    splat(b, 2, 0x80);
    splat(b, 4, 0x80);
    splat(b, 5, 0x40);
    vp1_inject(b, 0x90180000 | 4 << 14 | 2 << 9); /* vlrp $v3 $v4 $v2: of $v4 and $v5 */
    assert_int_equal(get_byte(b, 3, 0), 0x60);
    splat(b, 4, 0x40);
    splat(b, 6, 0x80);
    splat(b, 7, 0x40);
    vp1_bundle(b, half, 0xb3180000 | 4 << 14, 0, 0); /* vlrp2: of $v4 and $v6 */
    assert_int_equal(get_byte(b, 3, 9), 0x60);
    splat(b, 3, 0);
    vp1_bundle(b, half, 0xb4000000 | 4 << 14, 0, 0); /* vlrp4a: the same to $va */
    vp1_inject(b, 0xb6180000 | 4 << 14 | 4 << 5);    /* vlrp4bu: $va and nothing */
    assert_int_equal(get_byte(b, 3, 5), 0x60);
    splat(b, 2, 0x10);
    vp1_bundle(b, half | 64 << 10, 0xb5000000 | 4 << 14 | 2 << 9, 0, 0); /* vlrpf */
    vp1_inject(b, 0xb6180000 | 4 << 14 | 4 << 5);
    assert_int_equal(get_byte(b, 3, 5), 0x10 + 0x20 + 0x10);
    bench_free(b);
}

static void test_words_of_nine_bits(void **state)
{
    static const uint8_t minus_one[16] = {0xff, 1, 0xff, 1, 0xff, 1, 0xff, 1,
                                          0xff, 1, 0xff, 1, 0xff, 1, 0xff, 1};
    struct bench *b = bench_new(CPS_VP1_G80, NULL);
    (void)state;
    splat(b, 1, 0x10);
    fill(b, 2, minus_one);
    vp1_inject(b, 0x9f200007 | 1 << 14 | 2 << 9 | 3 << 4); /* vadd9 $v4 $v1 $v2 $v3 */
    for (unsigned i = 0; i < 16; i++)
        assert_int_equal(get_byte(b, 4, i), i < 8 ? 0x0f : 0x10);
    bench_free(b);
}

/* vcmpad: |s1 - s2| against $v[s1 | 1]. */
static void test_distances(void **state)
{
    static const struct {
        uint8_t s1, s2, t;
        uint32_t flags;
    } rows[] = {{0x20, 0x28, 0x10, 0x0000ffff}, {0x20, 0x28, 0x08, 0xffff0000}, {0x20, 0x28, 4, 0}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bench *b = bench_new(CPS_VP1_G80, NULL);
        splat(b, 4, rows[i].s1);
        splat(b, 2, rows[i].s2);
        splat(b, 5, rows[i].t);
        vp1_inject(b, 0x8f000000 | 4 << 19 | 4 << 14 | 2 << 9 | 14 << 5); /* sign: d < t */
        vp1_inject(b, 0xbb300000);
        assert_int_equal(bench_read(b, VIEW_V + 4 * 6), rows[i].flags);
        bench_free(b);
    }
}

/* ldaxh: the register is written only if the condition holds. */
static void test_conditional_load(void **state)
{
    (void)state;
    for (uint32_t slct = 14; slct < 16; slct++) {
        struct bench *b = bench_new(CPS_VP1_G80, NULL);
        splat(b, 1, 0x5a);
        vp1_inject(b, 0xdc004007); /* stvh $v1 $r0 0 */
        vp1_inject(b, 0xc8180007 | 8 << 9 | slct << 5);
        assert_int_equal(get_byte(b, 3, 4), slct == 15 ? 0x5a : 0);
        bench_free(b);
    }
}

/* ---- the table ---- */

/* The unit that executes operations of a kind. */
static unsigned unit_of_kind(enum vp1_kind kind, unsigned opcode)
{
    switch (kind) {
    case VP1_KIND_S:
    case VP1_KIND_FULL:
    case VP1_KIND_FULLZ:
    case VP1_KIND_PART:
    case VP1_KIND_SBYTE:
    case VP1_KIND_UBYTE:
        return VP1_S;
    case VP1_KIND_V:
    case VP1_KIND_VS:
    case VP1_KIND_VU:
    case VP1_KIND_VSH:
    case VP1_KIND_VLOG:
    case VP1_KIND_MAD:
    case VP1_KIND_LRP:
        return VP1_V;
    case VP1_KIND_A:
    case VP1_KIND_ACCESS:
        return VP1_A;
    case VP1_KIND_B:
    case VP1_KIND_IF:
        return VP1_B;
    case VP1_KIND_STOP:
        return opcode >= 0xe0 ? VP1_B : VP1_A;
    default:
        return VP1_UNITS;
    }
}

static void test_every_opcode_is_of_a_kind_of_its_unit(void **state)
{
    struct bench *b = bench_new(CPS_VP1_G80, NULL);
    const struct vp1 *s = vp1_of_(bench_nv(b));
    (void)state;
    for (unsigned opcode = 0; opcode < 256; opcode++)
        assert_int_equal(unit_of_kind((enum vp1_kind)s->code[opcode].kind, opcode),
                         cps_insn_unit(&cps_isa_vp1, opcode << 24));
    bench_free(b);
}

/* The host may inject any word in any unit's place: where it is not the unit's, nothing happens. */
static void test_words_of_another_unit_do_nothing(void **state)
{
    static const uint32_t nops[VP1_UNITS] = {0xdfffffff, 0x4fffffff, 0xbfffffff, 0xefffffff};
    (void)state;
    for (unsigned i = 0; i < 256 * VP1_UNITS; i++) {
        struct bench *b = bench_new(CPS_VP1_G80, NULL);
        struct vp1 *s = vp1_of_(bench_nv(b));
        struct vp1_regs before;
        uint32_t word = (i >> 2) << 24 | 0x0bc005;
        for (unsigned unit = 0; unit < VP1_UNITS; unit++)
            bench_write(b, 0xf448 + 4 * unit, unit == i % VP1_UNITS ? word : nops[unit]);
        memset(&s->now, 0x35, sizeof(s->now));
        before = s->now;
        bench_write(b, 0xf448 + 4 * VP1_UNITS, 1);
        bench_run(b);
        if (cps_insn_unit(&cps_isa_vp1, word) != i % VP1_UNITS)
            assert_memory_equal(&s->now, &before, sizeof(before));
        bench_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_and_words),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_short_flag),
        cmocka_unit_test(test_address_arithmetic),
        cmocka_unit_test(test_scattered),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_immediates),
        cmocka_unit_test(test_swizzle_and_median),
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_accumulator),
        cmocka_unit_test(test_factors),
        cmocka_unit_test(test_between),
        cmocka_unit_test(test_words_of_nine_bits),
        cmocka_unit_test(test_distances),
        cmocka_unit_test(test_conditional_load),
        cmocka_unit_test(test_every_opcode_is_of_a_kind_of_its_unit),
        cmocka_unit_test(test_words_of_another_unit_do_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
