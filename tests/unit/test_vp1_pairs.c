/* SPDX-License-Identifier: MIT
 * VP1's units beside each other in one bundle: what the scalar unit leaves for the vector unit,
 * whether it has a name or not, ports that two of them read through, and which bundles are reported
 * and which are not. Values are computed by hand from envytools' tester. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>

#include "tests/lib/vp1_bench.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define DST(n)       ((uint32_t)(n) << 19)
#define SRC1(n)      ((uint32_t)(n) << 14)
#define SRC2(n)      ((uint32_t)(n) << 9)
#define NO_FLAGS     7u
#define NEVER        (14u << 5) /* a condition that does not hold */
#define ALWAYS       (15u << 5)

static void splat(struct bench *b, unsigned number, uint8_t byte)
{
    for (unsigned k = 0; k < 4; k++)
        bench_write(b, VIEW_V + 0x80 * k + 4 * number, byte * 0x01010101u);
}

/* ---- the path to the vector unit ---- */

/* The low byte of factor 0 (@p second: 2) behind a scalar word: $va is 0, and $v0 or $v1 is 1. */
static uint32_t factor(struct bench *b, uint32_t scalar, bool second)
{
    splat(b, 0, 0);
    vp1_inject(b, 0x80000000); /* vmul: $va := 0 */
    splat(b, second, 1);
    vp1_bundle(b, scalar, 0x97000010 | DST(3), 0, 0); /* $va + $v0 * f1 + $v1 * f2, low byte */
    return vp1_get(b, VIEW_V, 3) & 0xff;
}

static void test_opcodes_without_a_name_leave_products(void **state)
{
    static const struct {
        uint32_t word;
        uint8_t first, second; /* low bytes of factors 0 and 2 */
    } rows[] = {
        /* 85 * 03 = 18f and 20 * 10 = 200, both as bytes without sign */
        {0x00000000 | SRC1(1) | SRC2(2), 0x01, 0x02}, /* less eight bits */
        {0x03000000 | SRC1(1) | SRC2(2), 0x8f, 0x00},
        {0x06000006 | SRC1(1) | SRC2(2), 0x8f, 0x00}, /* bits 1 and 2 are no signs here */
        {0x15000006 | SRC1(1) | SRC2(2), 0x8f, 0x00},
        {0x1f000000 | SRC1(1) | SRC2(3) | ALWAYS | NO_FLAGS, 0x8f, 0x00}, /* $a2, not $a3 */
        {0x2f000000 | SRC1(1) | 3 << 3 | NO_FLAGS, 0x8f, 0x60},
        {0x34000003 | SRC1(1), 0x8f, 0x60},
        {0x23000001 | SRC1(1), 0x85, 0x20},
        /* a fraction with sign is twice its byte: (85 - 100) * 2 * 03 = -2e2, of ten bits 11e */
        {0x03000004 | SRC1(1) | SRC2(2), 0x1e, 0x00},
        /* rounding of 13: 80 more than 03 * 03 and 10 * 10 */
        {0x13000100 | SRC1(2) | SRC2(2), 0x89, 0x80},
        {0x00000100 | SRC1(1) | SRC2(2), 0x01, 0x02}, /* 00 has none */
        /* bytewise operations that do not multiply */
        {0x25000000 | SRC1(1) | 0xff << 3, 0, 0},
        {0x0c000000 | SRC1(1) | SRC2(2) | NO_FLAGS, 0, 0},
        /* a word operation spreads the low bits of its first source: 5 is bits 0 and 2 */
        {0x4f000000 | SRC1(1), 0x1e, 0},
        {0x75000000 | DST(4), 0xe0, 0}, /* sethi's is its destination, which is 2 */
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bench *b = bench_new(CPS_VP1_G80, NULL);
        for (unsigned second = 0; second < 2; second++) {
            vp1_set(b, VIEW_A, 1, 0x00200085);
            vp1_set(b, VIEW_A, 2, 0x00100003);
            vp1_set(b, VIEW_A, 4, 2);
            uint32_t expected = second ? rows[i].second : rows[i].first;
            uint32_t found = factor(b, rows[i].word, second);
            if (found != expected)
                fail_msg("%08x leaves %02x in factor %u, not %02x", rows[i].word, found, 2 * second,
                         expected);
        }
        bench_free(b);
    }
}

/* sts $a6 beside `mov $r3 $a4` moves $a6; what is left for the vector unit is still of $a4. */
static void test_a_forced_move_sends_its_own_register(void **state)
{
    struct bench *b = bench_new(CPS_VP1_G80, NULL);
    (void)state;
    vp1_set(b, VIEW_A, 4, 1);
    vp1_set(b, VIEW_A, 6, 2);
    splat(b, 0, 0);
    vp1_inject(b, 0x80000000);
    splat(b, 0, 1);
    vp1_bundle(b, 0xde000007 | SRC1(6), 0x6a000067 | DST(3) | SRC1(4), 0x97000010 | DST(3), 0);
    assert_int_equal(vp1_get(b, VIEW_R, 3), 2);
    assert_int_equal(vp1_get(b, VIEW_V, 3) & 0xff, 0x1e);
    bench_free(b);
}

/* Sets the sign flags of a condition of the vector unit, a bit a component. */
static void set_signs(struct bench *b, unsigned number, uint32_t signs)
{
    for (unsigned k = 0; k < 4; k++) {
        uint32_t word = 0;
        for (unsigned i = 0; i < 4; i++)
            word |= (signs >> (4 * k + i) & 1 ? 0x80u : 1u) << 8 * i;
        bench_write(b, VIEW_V + 0x80 * k + 4 * 20, word);
    }
    splat(b, 21, 0);
    vp1_inject(b, 0x8c000000 | DST(22) | SRC1(20) | SRC2(21) | number); /* vadd $v22 $v20 $v21 */
}

/* The transforms of the mask that chooses between factors: bvec sends 2 and 4, and each component
 * of $v0, which is 1, is multiplied by one of them. */
static void test_masks_are_transformed(void **state)
{
    static const struct {
        uint32_t transform, signs, more,
            expected; /* of $vc2, $vc3, and the components that take 4 */
    } rows[] = {
        {0, 0x8421, 0xffff, 0x8421},
        {1, 0x0040, 0xffff, 0x00f0}, /* the third of each four */
        {2, 0x0010, 0xffff, 0x0055}, /* two of each eight, in turns */
        {2, 0x2000, 0xffff, 0xaa00},
        {3, 0x0001, 0xffff, 0x000b},
        {3, 0x0004, 0xffff, 0x0004},
        {4, 0x0002, 0xffff, 0x0007},
        {4, 0x8000, 0xffff, 0x8000},
        {5, 0x0100, 0xffff, 0x0300},
        {6, 0x0020, 0xffff, 0x00f0},
        {7, 0xaaaa | 0x0011, 0x0004, 0x0205}, /* even bits of two: 0, 4 and 16 + 2 */
        {7, 0, 0x4000, 0x8000},
        {7, 0x5555, 0xaaaa, 0x00ff},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bench *b = bench_new(CPS_VP1_G80, NULL);
        uint32_t transform = (rows[i].transform & 3) << 22 | rows[i].transform >> 2;
        uint32_t found = 0;
        set_signs(b, 2, rows[i].signs);
        set_signs(b, 3, rows[i].more);
        splat(b, 0, 0);
        splat(b, 1, 0);
        vp1_inject(b, 0x80000000);
        splat(b, 0, 1);
        vp1_set(b, VIEW_A, 1, 0x0201);
        vp1_bundle(b, 0x0f000000 | SRC1(1) | DST(2) | transform, 0x97000010 | DST(3), 0, 0);
        for (unsigned k = 0; k < 16; k++) {
            uint32_t byte = vp1_get(b, VIEW_V + 0x80 * (k / 4), 3) >> k % 4 * 8 & 0xff;
            assert_true(byte == 2 || byte == 4);
            found |= (uint32_t)(byte == 4) << k;
        }
        if (found != rows[i].expected)
            fail_msg("transform %u: %04x, expected %04x", rows[i].transform, found,
                     rows[i].expected);
        bench_free(b);
    }
}

/* ---- ports ---- */

/* bvecmad reads $a[SRC2], $a[SRC2 + 2]; a store beside it gets the latter. */
static void test_bvecmad_forces_the_register_of_a_store(void **state)
{
    static const uint32_t opcodes[] = {0x04000000, 0x05000000};
    (void)state;
    for (size_t i = 0; i < COUNT(opcodes); i++) {
        struct bench *b = bench_new(CPS_VP1_G80, NULL);
        vp1_set(b, VIEW_A, 6, 0x66);
        vp1_set(b, VIEW_A, 10, 0x1010);
        vp1_bundle(b, 0xde000007 | SRC1(6), opcodes[i] | SRC2(8) | NEVER, 0, 0);
        vp1_inject(b, 0xda000007 | DST(5)); /* lds $a5 $r0 0 */
        assert_int_equal(vp1_get(b, VIEW_A, 5), 0x1010);
        assert_int_equal(bench_unknown(b, CPS_UNKNOWN_VP1_CLASH)->value, 1);
        vp1_inject(b, 0xdf000000);
        vp1_bundle(b, 0xde000007 | SRC1(6), opcodes[i] | SRC2(8) | NEVER, 0, 0);
        vp1_inject(b, 0x6b000057 | SRC1(4)); /* $sr68: the word is as it was written */
        assert_int_equal(vp1_get(b, VIEW_A, 0), 0xde000007 | SRC1(6));
        bench_free(b);
    }
}

/* ---- what is reported ---- */

enum { NOTHING = -1, ONE_REGISTER, ONE_PORT };

static void test_reports(void **state)
{
    static const struct {
        uint32_t address, other;
        int detail;
        const char *why;
    } rows[] = {
        {0xda000007 | DST(5), 0x65000000 | DST(5), ONE_REGISTER, "lds beside movi"},
        {0xda000007 | DST(5), 0x65000000 | DST(6), NOTHING, "of another register"},
        {0xda000007 | DST(31), 0x65000000 | DST(31), NOTHING, "$a31 keeps nothing"},
        {0xda000007 | DST(5), 0x6b000067 | DST(5), ONE_REGISTER, "lds beside mov from $r"},
        {0xda000007 | DST(5), 0x6b000027 | DST(5), NOTHING, "lds beside mov from file 4"},
        {0xda000007 | DST(5), 0x6b000077 | DST(5), NOTHING, "lds beside mov from file 14"},
        {0xda000007 | DST(5), 0x6b0000a7 | DST(5), ONE_REGISTER, "lds beside mov from $x"},
        {0xda000007 | DST(5), 0x6b0000cf | DST(5), NOTHING, "lds beside mov from file 25"},
        {0xda000007 | DST(5), 0x6a000067 | DST(5), NOTHING, "lds beside mov to $r5"},
        {0xda000007 | DST(5), 0x4f000007 | DST(5), NOTHING, "lds beside snop"},
        {0xda000007 | DST(5), 0x40000007 | DST(5), NOTHING, "lds beside opcode 40"},
        {0xda000007 | DST(5), 0x03000000 | DST(5), NOTHING, "lds beside opcode 03"},
        {0xda000007 | DST(5), 0x24000000 | DST(5), NOTHING, "lds beside vec"},
        {0xda000007 | DST(5), 0x0f000000 | DST(5), NOTHING, "lds beside bvec"},
        {0xda000007 | DST(5), 0x01000000 | DST(5), ONE_REGISTER, "lds beside bmul"},
        {0xda000007 | DST(5), 0x32000000 | DST(5), ONE_REGISTER, "lds beside bmulau"},
        {0xda000007 | DST(5), 0x25000000 | DST(5), ONE_REGISTER, "lds beside band"},
        {0xda000007 | DST(5), 0x75000000 | DST(5), ONE_REGISTER, "lds beside sethi"},
        {0xda000007 | DST(5), 0x45000000 | DST(6) | SRC1(5), ONE_REGISTER, "lds beside vecms"},
        {0xda000007 | DST(5), 0x45000000 | DST(5) | SRC1(6), NOTHING, "vecms has no DST"},
        {0xd8000007 | DST(5), 0xad000007 | DST(5), ONE_REGISTER, "ldvh beside vmov"},
        {0xd8000007 | DST(5), 0x80000000 | DST(5), NOTHING, "ldvh beside vmul to $va"},
        {0xd8000007 | DST(5), 0x81000000 | DST(5), ONE_REGISTER, "ldvh beside vmul to $v"},
        {0xd8000007 | DST(5), 0x8f000007 | DST(5), NOTHING, "ldvh beside vcmpad"},
        {0xd8000007 | DST(5), 0xb4000000 | DST(5), NOTHING, "ldvh beside vlrp4a"},
        {0xd8000007 | DST(5), 0xbf000000 | DST(5), NOTHING, "ldvh beside vnop"},
        {0xd8000007 | DST(5), 0x6a000097 | DST(5), ONE_REGISTER, "ldvh beside mov to file 12"},
        {0xd7000000 | DST(5), 0xad000007 | DST(5), ONE_REGISTER, "ldr beside vmov"},
        {0xd7000001 | DST(5), 0xad000007 | DST(5), NOTHING, "star beside vmov"},
        {0xc8000007 | DST(5) | ALWAYS, 0xad000007 | DST(5), ONE_REGISTER, "ldaxh to its $v"},
        {0xc8000007 | DST(5) | NEVER, 0xad000007 | DST(5), NOTHING, "ldaxh to $vx alone"},
        {0xca000007 | DST(5), 0x6a000067 | DST(5), ONE_REGISTER, "aadd beside mov to $r"},
        {0xd0000007 | DST(6) | SRC1(5), 0x6a000067 | DST(5), ONE_REGISTER, "ldavh moves $r5 on"},
        {0xd8000007 | DST(6) | SRC1(5), 0x6a000067 | DST(5), NOTHING, "ldvh does not"},
        {0xd7000001 | DST(5), 0x6a000067 | DST(5), ONE_REGISTER, "star moves $r5 on"},
        {0xdf000000 | DST(5), 0x6a000067 | DST(5), NOTHING, "anop beside mov to $r"},
        {0xdc000007 | SRC1(5), 0x6b000007 | DST(1) | SRC1(6), ONE_PORT, "stvh, mov from $v"},
        {0xdc000007 | SRC1(5), 0x6b000007 | DST(1) | SRC1(5), NOTHING, "of one $v"},
        {0xd7000000 | SRC2(5), 0x6b000007 | DST(1) | SRC1(6), ONE_PORT, "ldr, mov from $v"},
        {0xde000007 | SRC1(5), 0x6a0000a7 | SRC1(6), ONE_PORT, "sts beside mov to $x"},
        {0xde000007 | SRC1(5), 0x6a0000a7 | SRC1(5), NOTHING, "of one $a"},
        {0xde000007 | SRC1(5), 0x4c000007 | SRC1(6), NOTHING, "sts beside add"},
        {0xde000007 | SRC1(10), 0x04000000 | SRC2(8) | NEVER, NOTHING, "sts of bvecmad's own"},
        {0xdc000007 | SRC1(5), 0x04000000 | SRC2(8) | NEVER, NOTHING, "stvh beside bvecmad"},
        {0xf0080003, 0x6a00005f | DST(1), ONE_REGISTER, "lset beside mov to $l1"},
        {0xf0080003, 0x6a00005f | DST(2), NOTHING, "lset beside mov to $l2"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bench *b = bench_new(CPS_VP1_G80, NULL);
        assert_int_equal(vp1_bundle(b, rows[i].address, rows[i].other, 0, 0), CPS_STOP_IDLE);
        const struct cps_event *event = bench_unknown(b, CPS_UNKNOWN_VP1_CLASH);
        int found = event ? (int)event->value : NOTHING;
        if (found != rows[i].detail)
            fail_msg("%s: clash %d, expected %d", rows[i].why, found, rows[i].detail);
        bench_free(b);
    }
}

/* Of ldaxh's register the lowest two bits are moved on by bits 5:4 of $c[COND]. */
static void test_conditional_load_meets_the_register_that_it_loads(void **state)
{
    (void)state;
    for (unsigned number = 4; number < 8; number++) {
        struct bench *b = bench_new(CPS_VP1_G80, NULL);
        vp1_set(b, VIEW_A, 1, 0x00300000);
        vp1_inject(b, 0x64000000 | SRC1(1)); /* or $c0 $a0 $a1 0: bits 5:4 are 3 */
        vp1_bundle(b, 0xc8000007 | DST(6) | ALWAYS, 0xad000007 | DST(number), 0, 0);
        assert_int_equal(bench_unknown(b, CPS_UNKNOWN_VP1_CLASH) != NULL, number == 5);
        bench_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opcodes_without_a_name_leave_products),
        cmocka_unit_test(test_masks_are_transformed),
        cmocka_unit_test(test_a_forced_move_sends_its_own_register),
        cmocka_unit_test(test_bvecmad_forces_the_register_of_a_store),
        cmocka_unit_test(test_reports),
        cmocka_unit_test(test_conditional_load_meets_the_register_that_it_loads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
