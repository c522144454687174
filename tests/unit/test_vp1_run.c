/* SPDX-License-Identifier: MIT
 * VP1's programs: bundles, branches, loops, calls, the end, channel-switch code, what units of one
 * bundle do to each other, and what is said of the unknown. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>

#include "tests/lib/vp1_bench.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define EXIT(code)   (0xff000000u | (code))
#define BNOP         0xefffffffu
#define MOVI(dst, n) (0x65000000u | (uint32_t)(dst) << 19 | ((n)&0x7ffff))

static uint32_t reg(const struct bench *b, const char *name)
{
    return (uint32_t)bench_reg(b, name);
}

static struct bench *load(const uint32_t *words, size_t count)
{
    struct bench *b = bench_new(CPS_VP1_G80, NULL);
    vp1_program(b, words, count);
    return b;
}

/* @p words up to COUNT; the program runs to its end */
#define PROGRAM(name, ...)                          \
    static const uint32_t words[] = {__VA_ARGS__};  \
    struct bench *name = load(words, COUNT(words)); \
    bench_run(name)

/* ---- text ---- */

/* Samples of the seed's listing, and encodings of the reference. */
static void test_text(void **state)
{
    static const struct {
        uint32_t word;
        const char *text;
    } rows[] = {
        {0x6e0000c7, "sar $a0 $a0 0x18"},
        {0x6e003ff7, "sar $a0 $a0 -0x2"},
        {0x6e00bf47, "sar $a0 $a2 -0x18"},
        {0x6e027fdf, "sar $a0 $a9 -0x5"},
        {0x6e08407f, "sar $a1 $a1 0xf"},
        {0x6e087f17, "sar $a1 $a1 -0x1e"},
        {0x6e10bf87, "sar $a2 $a2 -0x10"},
        {0x6e13002f, "sar $a2 $a12 0x5"},
        {0x6e45ffc7, "sar $a8 $a23 -0x8"},
        {0x6a000067, "mov $r0 $a0"},
        {0x6afcc067, "mov $r31 $a19"},
        {0x6afd8007, "mov $v31 0x0 $a22"},
        {0x6afd801f, "mov $v31 0x3 $a22"},
        {0x6a00405f, "mov $l0 $a1"},
        {0x6c08bfff, "add $a1 $a2 -0x1"},
        {0x6218c7f8, "and $c0 $a3 $a3 0xff"},
        {0x4c0887c7, "add $a1 $a2 $a3"},
        {0x4d214c31, "sub $c1 $a4 $a5 (slct $c2 zf $a6d)"},
        {0x652fffff, "mov $a5 -0x1"},
        {0x75281234, "sethi $a5 0x1234"},
        {0xff01dead, "exit intr 0xdead"},
        {0xf0100505, "mov $l2 $c2 0x0505"},
        {0x4fffffff, "snop"},
    };
    struct cps_names *names = NULL;
    (void)state;
    assert_null(cps_names_create(CPS_LAYOUT_VP1_G80, NULL, &names));
    const struct cps_print_names print = {.names = names};
    const struct cps_parse_names parse = {.names = names};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct cps_insn insn;
        uint64_t word = 0;
        size_t column = 0;
        CPS_BUF text = {0};
        cps_decode(&cps_isa_vp1, CPS_VP1_G80, rows[i].word, &insn);
        cps_print(&cps_isa_vp1, &insn, 0, &print, &text);
        assert_string_equal(cps_buf_text(&text), rows[i].text);
        assert_null(cps_parse(&cps_isa_vp1, CPS_VP1_G80, rows[i].text, 0, &parse, &column, &word));
        assert_int_equal(word, rows[i].word);
    }
    cps_names_destroy(names);
}

/* A name that both schemes use is the one's that is asked for; others are read in either. */
static void test_naming_schemes(void **state)
{
    static const struct {
        const char *text;
        uint32_t seed, envytools; /* 0: no such instruction */
    } rows[] = {
        {"mov $r0 $a0", 0x6a000067, 0x6b000067}, {"mov $a0 $r0", 0x6b000067, 0x6a000067},
        {"mov $x5 $a0", 0x6a2800a7, 0},          {"mov $m5 $a0", 0x6a2800a7, 0},
        {"mov $m5 $r0", 0, 0x6a2800a7},          {"mov $y5 $a0", 0x6a2800c7, 0},
        {"mov $x5 $r0", 0, 0x6a2800c7},          {"mov $sr96 $a1", 0x6a00405f, 0},
        {"mov $sr64 $a1", 0x6a004057, 0},        {"mov $uc0 $a1", 0x6a004057, 0},
        {"mov $uc0 $r1", 0, 0x6a004057},         {"mov $f1 $a1", 0x6a0840bf, 0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows) * 2; i++) {
        const struct cps_parse_names parse = {.scheme = i % 2};
        uint32_t expected = i % 2 ? rows[i / 2].envytools : rows[i / 2].seed;
        uint64_t word = 0;
        size_t column = 0;
        struct cps_err *err =
            cps_parse(&cps_isa_vp1, CPS_VP1_G80, rows[i / 2].text, 0, &parse, &column, &word);
        if ((err == NULL) != (expected != 0) || word != expected)
            fail_msg("%s: %08x", rows[i / 2].text, (unsigned)word);
        cps_err_free(err);
    }
}

/* ---- bundles ---- */

static void test_bundles(void **state)
{
    static const struct {
        const char *units; /* of words from 0 on */
        const char *begin; /* 1: a bundle begins there */
    } rows[] = {{"AAAA", "1111"},         {"ASVB", "1000"},         {"AVSBSAVB", "10101100"},
                {"AAASVBBB", "11101011"}, {"SSSSASVB", "11111000"}, {"BABA", "1101"}};
    static const uint32_t words[256] = {
        ['A'] = 0xdfffffff, ['S'] = 0x4fffffff, ['V'] = 0xbfffffff, ['B'] = 0xefffffff};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (uint32_t pc = 1; rows[i].units[pc]; pc++) {
            bool joins =
                cps_insn_joins(&cps_isa_vp1, pc, words[(unsigned char)rows[i].units[pc - 1]],
                               words[(unsigned char)rows[i].units[pc]]);
            if (joins == (rows[i].begin[pc] == '1'))
                fail_msg("%s at %u", rows[i].units, (unsigned)pc);
        }
    }
}

/* Every unit reads what was in front of the bundle. */
static void test_inputs_before_outputs(void **state)
{
    struct bench *b = bench_new(CPS_VP1_G80, NULL);
    (void)state;
    vp1_set(b, VIEW_R, 1, 0x11);
    vp1_set(b, VIEW_A, 2, 0x22);
    /* add $r3 $r1 $r1; mov $r1 $a2: the sum is of the old $r1 */
    vp1_bundle(b, 0xcb1843c7, 0x6a088067, 0, 0);
    assert_int_equal(vp1_get(b, VIEW_R, 1), 0x22);
    assert_int_equal(vp1_get(b, VIEW_R, 3), 0x22);
    /* $l1 := 5 beside `mov $a4 $l1` */
    vp1_bundle(b, 0x6b20405f, 0xf0080005, 0, 0);
    assert_int_equal(vp1_get(b, VIEW_A, 4), 0);
    assert_int_equal(vp1_get(b, VIEW_L, 1), 5);
    bench_free(b);
}

/* ---- branches ---- */

static void test_targets(void **state)
{
    static const struct {
        uint32_t word, at, target;
    } rows[] = {{0xe00021e4, 0, 0x40}, {0xe00021e4, 1, 0x40}, {0xe00021e4, 2, 0x40},
                {0xe00021e4, 3, 0x40}, {0xe00041e4, 1, 0x80}, {0xe0ffffe4, 0x40, 0x3c}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bench *b = bench_new(CPS_VP1_G80, NULL);
        for (uint32_t pc = 0; pc < 0x100; pc++)
            cps_bus_poke(b->bus, CPS_MEMORY_PROGRAM, 4 * pc, BNOP);
        cps_bus_poke(b->bus, CPS_MEMORY_PROGRAM, 4 * rows[i].at, rows[i].word);
        vp1_program(b, NULL, 0);
        nv_loop_(bench_nv(b), rows[i].at + 1);
        assert_int_equal(reg(b, "pc"), rows[i].at + 1); /* the delay slot */
        nv_loop_(bench_nv(b), 1);
        assert_int_equal(reg(b, "pc"), rows[i].target);
        bench_free(b);
    }
}

/* A branch in a delay slot: one bundle at the first target, then the second. */
static void test_double_delay(void **state)
{
    static const uint32_t expected[] = {0, 1, 0x40, 0x80, 0x81};
    struct bench *b = bench_new(CPS_VP1_G80, NULL);
    (void)state;
    for (uint32_t pc = 0; pc < 0x100; pc++)
        cps_bus_poke(b->bus, CPS_MEMORY_PROGRAM, 4 * pc,
                     pc == 0   ? 0xe00021e4
                     : pc == 1 ? 0xe00041e4
                               : BNOP);
    vp1_program(b, NULL, 0);
    for (size_t i = 0; i < COUNT(expected); i++) {
        assert_int_equal(reg(b, "pc"), expected[i]);
        nv_loop_(bench_nv(b), 1);
    }
    bench_free(b);
}

static void test_loops(void **state)
{
    static const struct {
        uint32_t before, after;
        bool flag;
    } rows[] = {{0x0303, 0x0302, false}, {0x0302, 0x0301, false}, {0x0301, 0x0300, true},
                {0x0300, 0x0303, false}, {0x0000, 0x0000, true},  {0x0001, 0x0000, true},
                {0xff00, 0xffff, false}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        /* bra loop $l2 $l1, never: $c2's flag, $l2's value; then the same without a flag */
        const uint32_t words[] = {0xf0080000 | rows[i].before, 0xe10001c0 | 1 << 3 | 2,
                                  0xe10001c0 | 1 << 3 | 7, EXIT(0)};
        struct bench *b = load(words, COUNT(words));
        bench_run(b);
        assert_int_equal(vp1_get(b, VIEW_L, 1), rows[i].before);
        assert_int_equal(vp1_get(b, VIEW_L, 2), rows[i].after);
        assert_int_equal(vp1_get(b, VIEW_L, 3), rows[i].after);
        assert_int_equal(vp1_get(b, VIEW_C, 2), rows[i].flag ? 0xa000 : 0x8000);
        assert_int_equal(vp1_get(b, VIEW_C, 3), 0x8000);
        bench_free(b);
    }
}

/* bra, call and ret leave the loop flag at 1. */
static void test_loop_flag_of_others(void **state)
{
    PROGRAM(b, 0xe00001c1, EXIT(0)); /* bra never, $c1 */
    (void)state;
    assert_int_equal(vp1_get(b, VIEW_C, 1), 0xa000);
    bench_free(b);
}

static void test_conditions(void **state)
{
    static const struct {
        uint32_t op, slct;
        bool taken;
    } rows[] = {{0xe0, 15, true},  {0xe0, 14, false}, {0xe2, 15, false}, {0xe2, 14, true},
                {0xe0, 1, true},   {0xe2, 1, false},  {0xe0, 0, false},  {0xe1, 15, true},
                {0xe3, 15, false}, {0xe1, 14, false}, {0xe3, 14, true}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const uint32_t branch = rows[i].op << 24 | 2 << 9 | rows[i].slct << 5 | 7;
        /* `sar $c0 $a0 $a0 0` makes zf; word 3 is the delay slot. */
        const uint32_t words[] = {0x6e000000, 0x4fffffff, branch, MOVI(1, 1), EXIT(1),
                                  BNOP,       BNOP,       BNOP,   EXIT(2)};
        struct bench *b = load(words, COUNT(words));
        bench_run(b);
        assert_int_equal(vp1_get(b, VIEW_A, 1), 1);
        assert_int_equal(reg(b, "exit"), rows[i].taken ? 2 : 1);
        bench_free(b);
    }
}

/* A condition is that of the bundle before. */
static void test_condition_of_one_bundle(void **state)
{
    PROGRAM(b, 0x6e000000, 0xe0000427, MOVI(1, 1), BNOP, EXIT(1), BNOP, BNOP, BNOP, EXIT(2));
    (void)state;
    assert_int_equal(reg(b, "exit"), 1);
    assert_int_equal(vp1_get(b, VIEW_C, 0), 0x8002);
    bench_free(b);
}

static void test_absolute_branch(void **state)
{
    PROGRAM(b, 0xea000002, BNOP, BNOP, BNOP, EXIT(1), BNOP, BNOP, BNOP, EXIT(2));
    (void)state;
    assert_int_equal(reg(b, "exit"), 2);
    bench_free(b);
}

/* The return address is behind the delay bundle, however long that is. */
static void test_calls(void **state)
{
    PROGRAM(b, 0xe40005e7,                /* call word 8 */
            MOVI(1, 1), 0xbfffffff, BNOP, /* the delay slot: a bundle of three words */
            EXIT(1), BNOP, BNOP, BNOP,    /* where it comes back to */
            MOVI(2, 2), 0xe8000007, MOVI(3, 3), BNOP);
    (void)state;
    assert_int_equal(reg(b, "exit"), 1);
    assert_int_equal(vp1_get(b, VIEW_A, 1), 1);
    assert_int_equal(vp1_get(b, VIEW_A, 2), 2);
    assert_int_equal(vp1_get(b, VIEW_A, 3), 3);
    assert_int_equal(vp1_get(b, VIEW_SR, 64), 4);
    assert_int_equal(reg(b, "depth"), 0);
    bench_free(b);
}

/* A call that is not taken is none, even where one would be in doubt. */
static void test_call_not_taken(void **state)
{
    PROGRAM(b, 0xe00005e7, 0xe40005c7, BNOP, BNOP, EXIT(1), BNOP, BNOP, BNOP, EXIT(2));
    (void)state;
    assert_int_equal(reg(b, "exit"), 2);
    bench_free(b);
}

/* ---- the end ---- */

static void test_exit(void **state)
{
    PROGRAM(b, MOVI(1, 7), EXIT(0xdead), MOVI(1, 8), EXIT(1));
    (void)state;
    assert_int_equal(b->stop, CPS_STOP_IDLE);
    assert_int_equal(bench_read(b, 0xf424), 0xdead);
    assert_int_equal(bench_read(b, 0xf43c), 0);
    assert_int_equal(vp1_get(b, VIEW_A, 1), 7); /* the bundle is whole, none follows */
    assert_int_equal(bench_find(b, CPS_EV_EXIT, CPS_EXIT_CODE, 0)->value, 0xdead);
    assert_null(bench_find(b, CPS_EV_IRQ, 0, 0));
    assert_non_null(bench_unknown(b, CPS_UNKNOWN_VP1_EXIT));
    bench_free(b);
}

static void test_exit_with_interrupt(void **state)
{
    PROGRAM(b, EXIT(0x1beef));
    (void)state;
    assert_int_equal(bench_find(b, CPS_EV_IRQ, 0, 0)->value, 0xbeef);
    assert_non_null(bench_unknown(b, CPS_UNKNOWN_VP1_INTR));
    bench_free(b);
}

/* `mov $sr9`: 16 bits, at once. */
static void test_exit_by_register(void **state)
{
    PROGRAM(b, MOVI(1, -2), 0x6a484047, MOVI(1, 8), EXIT(1));
    (void)state;
    assert_int_equal(bench_read(b, 0xf424), 0xfffe);
    assert_int_equal(vp1_get(b, VIEW_A, 1), 0xfffffffe);
    bench_free(b);
}

static void test_code_base(void **state)
{
    struct bench *b = bench_new(CPS_VP1_G80, NULL);
    (void)state;
    cps_bus_poke(b->bus, CPS_MEMORY_PROGRAM, 0x1000, MOVI(1, 0x1234));
    cps_bus_poke(b->bus, CPS_MEMORY_PROGRAM, 0x1004, EXIT(3));
    bench_write(b, 0xf464, 0x1000);
    vp1_program(b, NULL, 0);
    bench_run(b);
    assert_int_equal(vp1_get(b, VIEW_A, 1), 0x1234);
    assert_int_equal(reg(b, "exit"), 3);
    assert_int_equal(bench_read(b, 0xf470), 0x1000);
    assert_non_null(bench_unknown(b, CPS_UNKNOWN_VP1_BASE));
    bench_free(b);
}

/* What channel-switch code sees that method code does not. */
static void test_channel_switch(void **state)
{
    static const uint32_t words[] = {
        MOVI(1, -1), 0x6a0040bf, 0x6a0840bf, /* $z0, $z1 := $a1 */
        0x6b1000bf,  0x6b1840bf,             /* $a2, $a3 := $z0, $z1 */
        0x6b208047,  0x6b2fc047, 0x6a184047, /* $a4 := $sr2, $a5 := $sr31, $sr3 := $a1 */
        EXIT(0),
    };
    (void)state;
    for (unsigned live = 0; live < 2; live++) {
        struct bench *b = bench_new(CPS_VP1_G80, NULL);
        for (size_t i = 0; i < COUNT(words); i++)
            cps_bus_poke(b->bus, CPS_MEMORY_PROGRAM, 4 * (uint32_t)i, words[i]);
        if (live)
            bench_write(b, 0xfffff000, 0);
        else
            vp1_program(b, NULL, 0);
        bench_run(b);
        assert_int_equal(vp1_get(b, VIEW_A, 2), live ? 0x7fffffff : 0);
        assert_int_equal(vp1_get(b, VIEW_A, 3), live ? 0xffffffff : 0);
        assert_int_equal(vp1_get(b, VIEW_A, 4), live ? 0 : 0x80001000);
        assert_int_equal(vp1_get(b, VIEW_A, 5), live ? 4 : 0);
        assert_int_equal(vp1_get(b, VIEW_SR, 3), live ? 0x3fffffff : 0xffffffff);
        assert_int_equal(bench_unknown(b, CPS_UNKNOWN_VP1_SWITCH) != NULL, live);
        bench_free(b);
    }
}

/* ---- the unknown ---- */

static void test_unknown_stops(void **state)
{
    static const struct {
        enum cps_unknown what;
        uint32_t place;
        size_t count;
        uint32_t words[8];
    } rows[] = {
        {CPS_UNKNOWN_VP1_FETCH, 1, 1, {BNOP}},
        {CPS_UNKNOWN_VP1_OPCODE, 0, 1, {0xdb000000}},
        {CPS_UNKNOWN_VP1_OPCODE, 0, 1, {0xe9000000}},
        {CPS_UNKNOWN_VP1_OPCODE, 0, 1, {0xeb000000}},
        {CPS_UNKNOWN_VP1_OPCODE, 0, 1, {0xee000000}},
        {CPS_UNKNOWN_VP1_OPCODE, 0, 1, {0xf1000000}},
        {CPS_UNKNOWN_VP1_OPCODE, 2, 3, {BNOP, BNOP, 0xfe000000}},
        {CPS_UNKNOWN_VP1_DMA, 0, 1, {0xc3000000}},
        {CPS_UNKNOWN_VP1_DMA, 0, 1, {0xc7000000}},
        {CPS_UNKNOWN_VP1_DMA, 0, 1, {0xce000000}},
        {CPS_UNKNOWN_VP1_DMA, 0, 1, {0xcf000000}},
        {CPS_UNKNOWN_VP1_CONTROL, 0, 1, {0x6a400057}},
        {CPS_UNKNOWN_VP1_CONTROL, 0, 1, {0x6a480057}},
        {CPS_UNKNOWN_VP1_STACK, 0, 1, {0xe8000007}},
        {CPS_UNKNOWN_VP1_CALL_DELAY, 1, 2, {0xe00021e7, 0xe40021e7}},
        {CPS_UNKNOWN_VP1_CALL_DELAY, 1, 2, {0xe40021e7, 0xe8000007}},
        {CPS_UNKNOWN_VP1_STACK, 0, 2, {0xe40001e7, BNOP}}, /* calls itself */
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bench *b = load(rows[i].words, rows[i].count);
        const struct cps_event *event = NULL;
        if (bench_run(b) != CPS_STOP_FAULT || !(event = bench_unknown(b, rows[i].what)) ||
            cps_event_kind(event) != CPS_EV_UNMODELLED || cps_event_pc(event) != rows[i].place)
            fail_msg("row %u", (unsigned)i);
        bench_free(b);
    }
}

static void test_injected_branches_stop(void **state)
{
    struct bench *b = bench_new(CPS_VP1_G80, NULL);
    (void)state;
    assert_int_equal(vp1_inject(b, 0xe00021e7), CPS_STOP_FAULT);
    assert_non_null(bench_unknown(b, CPS_UNKNOWN_VP1_INJECT));
    bench_free(b);
}

static void test_unknown_starts(void **state)
{
    struct bench *b = bench_new(CPS_VP1_G80, NULL);
    (void)state;
    bench_write(b, 0xfc94, 0xc0000000); /* without f474 and fc90 */
    assert_non_null(bench_unknown(b, CPS_UNKNOWN_VP1_SUBMIT));
    assert_int_equal(bench_read(b, 0xf43c), 0);
    cps_bus_poke(b->bus, CPS_MEMORY_PROGRAM, 0, BNOP);
    vp1_program(b, NULL, 0);
    assert_int_equal(bench_read(b, 0xf43c), 1);
    bench_write(b, 0xf458, 1);
    assert_non_null(bench_unknown(b, CPS_UNKNOWN_VP1_BUSY));
    bench_read(b, 0xfc00 - 0x40);
    bench_read(b, 0xf440); /* only contents are known */
    assert_non_null(bench_unknown(b, CPS_UNKNOWN_VP1_REGISTER));
    bench_free(b);
}

/* ---- two units, one thing ---- */

static void test_clashes(void **state)
{
    struct bench *b = bench_new(CPS_VP1_G80, NULL);
    (void)state;
    /* lds $a1 $r0 0 (0) beside mov $a1 5: the result wins; beside mov $a1 $r2: the load does. */
    vp1_set(b, VIEW_R, 2, 0x77);
    vp1_bundle(b, 0xda080007, MOVI(1, 5), 0, 0);
    assert_int_equal(vp1_get(b, VIEW_A, 1), 5);
    assert_non_null(bench_unknown(b, CPS_UNKNOWN_VP1_CLASH));
    vp1_bundle(b, 0xda080007, 0x6b088067, 0, 0);
    assert_int_equal(vp1_get(b, VIEW_A, 1), 0);
    /* setlo $r3 1 beside mov $r3 $a4: the move wins. */
    vp1_set(b, VIEW_A, 4, 0x44);
    vp1_bundle(b, 0xcc180001, 0x6a190067, 0, 0);
    assert_int_equal(vp1_get(b, VIEW_R, 3), 0x44);
    /* mov $v5 0 $a4 beside vmov $v5 9: the vector unit wins. */
    vp1_bundle(b, 0x6a290007, 0xad280000 | 9 << 3 | 7, 0, 0);
    assert_int_equal(vp1_get(b, VIEW_V, 5), 0x09090909);
    /* mov $l1 $a4 beside mov $l1 $c1 3: the branch unit wins. */
    vp1_bundle(b, 0x6a09005f, 0xf0080003, 0, 0);
    assert_int_equal(vp1_get(b, VIEW_L, 1), 3);
    bench_free(b);
}

/* sts $a6 forces the source of a `mov` beside it to $a6. */
static void test_shared_port(void **state)
{
    struct bench *b = bench_new(CPS_VP1_G80, NULL);
    (void)state;
    vp1_set(b, VIEW_A, 6, 0x66);
    vp1_set(b, VIEW_A, 4, 0x44);
    vp1_bundle(b, 0xde018007, 0x6a190067, 0, 0); /* mov $r3 $a4 */
    assert_int_equal(vp1_get(b, VIEW_R, 3), 0x66);
    assert_non_null(bench_unknown(b, CPS_UNKNOWN_VP1_CLASH));
    bench_free(b);
}

static void test_mov_from_loop_beside_exit(void **state)
{
    PROGRAM(b, 0xf0000005, 0x6b08005f, EXIT(0)); /* mov $a1 $l0 */
    (void)state;
    assert_int_equal(vp1_get(b, VIEW_A, 1), 0);
    assert_non_null(bench_unknown(b, CPS_UNKNOWN_VP1_CLASH));
    bench_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_naming_schemes),
        cmocka_unit_test(test_bundles),
        cmocka_unit_test(test_inputs_before_outputs),
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_double_delay),
        cmocka_unit_test(test_loops),
        cmocka_unit_test(test_loop_flag_of_others),
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_condition_of_one_bundle),
        cmocka_unit_test(test_absolute_branch),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_call_not_taken),
        cmocka_unit_test(test_exit),
        cmocka_unit_test(test_exit_with_interrupt),
        cmocka_unit_test(test_exit_by_register),
        cmocka_unit_test(test_code_base),
        cmocka_unit_test(test_channel_switch),
        cmocka_unit_test(test_unknown_stops),
        cmocka_unit_test(test_injected_branches_stop),
        cmocka_unit_test(test_unknown_starts),
        cmocka_unit_test(test_clashes),
        cmocka_unit_test(test_shared_port),
        cmocka_unit_test(test_mov_from_loop_beside_exit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
