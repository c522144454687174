/* SPDX-License-Identifier: MIT
 * VP1's scalar unit and register files: every measurement of its reference is a row. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>

#include "tests/vp1_bench.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- one word ---- */

struct row {
    const char *name;
    uint32_t word;
    uint32_t source, old; /* of src1, and of dst before */
    uint8_t dst, src1;
    uint32_t a22;
    uint32_t result;
    uint16_t flags; /* of the $c that the word names; 0: the source does not say */
};

static void check_row(const struct row *row)
{
    struct bench *b = bench_new(CPS_VP1_G80, NULL);
    vp1_set(b, VIEW_A, row->dst, row->old);
    vp1_set(b, VIEW_A, 22, row->a22);
    vp1_set(b, VIEW_A, row->src1, row->source);
    assert_int_equal(vp1_inject(b, row->word), CPS_STOP_IDLE);
    uint32_t result = vp1_get(b, VIEW_A, row->dst);
    uint32_t cdst = row->word & 7;
    uint32_t flags = cdst < 4 ? vp1_get(b, VIEW_C, cdst) : row->flags;
    if (result != row->result || (row->flags && flags != row->flags))
        fail_msg("%s: %08x gives %08x %04x, expected %08x %04x", row->name, row->word, result,
                 flags, row->result, row->flags);
    for (uint32_t i = 0; i < 4; i++)
        assert_true(i == cdst || vp1_get(b, VIEW_C, i) == 0x8000);
    bench_free(b);
}

static void test_words(void **state)
{
    static const struct row rows[] = {
        {"sar imm", 0x6edeac00, 0xdeadbe1a, 0x0, 27, 26, 0x0, 0xdeadbe1a, 0x0},
        {"sar imm", 0x6edeac01, 0xdeadbe1a, 0x0, 27, 26, 0x0, 0xdeadbe1a, 0x0},
        {"sar imm", 0x6edeac02, 0xdeadbe1a, 0x0, 27, 26, 0x0, 0xdeadbe1a, 0x0},
        {"sar imm", 0x6edeac04, 0xdeadbe1a, 0x0, 27, 26, 0x0, 0xdeadbe1a, 0x0},
        {"sar imm", 0x6edeac08, 0xdeadbe1a, 0x0, 27, 26, 0x0, 0xef56df0d, 0x0},
        {"sar imm", 0x6edeac10, 0xdeadbe1a, 0x0, 27, 26, 0x0, 0xf7ab6f86, 0x0},
        {"sar imm", 0x6edeac20, 0xdeadbe1a, 0x0, 27, 26, 0x0, 0xfdeadbe1, 0x0},
        {"sar imm", 0x6edeac80, 0xdeadbe1a, 0x0, 27, 26, 0x0, 0xffffdead, 0x0},
        {"sar imm", 0x6edead00, 0xdeadbe1a, 0x0, 27, 26, 0x0, 0xdeadbe1a, 0x0},
        {"sar imm", 0x6edead08, 0xdeadbe1a, 0x0, 27, 26, 0x0, 0x0, 0x0},
        {"sar imm", 0x6edead10, 0xdeadbe1a, 0x0, 27, 26, 0x0, 0x80000000, 0x0},
        {"sar imm", 0x6edead20, 0xdeadbe1a, 0x0, 27, 26, 0x0, 0xa0000000, 0x0},
        {"sar imm", 0x6edead40, 0xdeadbe1a, 0x0, 27, 26, 0x0, 0x1a000000, 0x0},
        {"sar imm", 0x6edead80, 0xdeadbe1a, 0x0, 27, 26, 0x0, 0xbe1a0000, 0x0},
        {"sar imm", 0x6edeadbe, 0xdeadbe1a, 0x0, 27, 26, 0x0, 0x5b7c3400, 0x0},
        {"sar imm", 0x6ede81be, 0xdeadbe1a, 0x0, 27, 26, 0x0, 0x5b7c3400, 0x0},
        {"sar imm", 0x6ede81b8, 0xdeadbe1a, 0x0, 27, 26, 0x0, 0x5b7c3400, 0x0},
        {"sar imm", 0x6edebfbc, 0xdeadbe1a, 0x0, 27, 26, 0x0, 0x5b7c3400, 0x0},
        {"sar imm", 0x6edebfbf, 0xdeadbe1a, 0x0, 27, 26, 0x0, 0x5b7c3400, 0x0},
        {"sar 0 flags", 0x6e000000, 0x0, 0x0, 0, 0, 0x0, 0x0, 0x8002},
        {"sar 0 flags", 0x6e000000, 0x1, 0x0, 0, 0, 0x0, 0x1, 0x8000},
        {"sar 0 flags", 0x6e000000, 0xffffffff, 0x0, 0, 0, 0x0, 0xffffffff, 0x80f5},
        {"sar 0 flags", 0x6e000000, 0x80000000, 0x0, 0, 0, 0x0, 0x80000000, 0x8001},
        {"sar 0 flags", 0x6e000000, 0xaaaaaaaa, 0x0, 0, 0, 0x0, 0xaaaaaaaa, 0x8065},
        {"sar 0 flags", 0x6e000000, 0x2, 0x0, 0, 0, 0x0, 0x2, 0x8000},
        {"sar 0 flags", 0x6e000000, 0x3, 0x0, 0, 0, 0x0, 0x3, 0x8000},
        {"sar 0 flags", 0x6e000000, 0x4, 0x0, 0, 0, 0x0, 0x4, 0x8000},
        {"sar 0 flags", 0x6e000000, 0x8, 0x0, 0, 0, 0x0, 0x8, 0x8000},
        {"sar 0 flags", 0x6e000000, 0x10, 0x0, 0, 0, 0x0, 0x10, 0x8000},
        {"sar 0 flags", 0x6e000000, 0x20, 0x0, 0, 0, 0x0, 0x20, 0x8000},
        {"sar 0 flags", 0x6e000000, 0x40, 0x0, 0, 0, 0x0, 0x40, 0x8000},
        {"sar 0 flags", 0x6e000000, 0x80, 0x0, 0, 0, 0x0, 0x80, 0x8000},
        {"sar 0 flags", 0x6e000000, 0x100, 0x0, 0, 0, 0x0, 0x100, 0x8000},
        {"sar 0 flags", 0x6e000000, 0x200, 0x0, 0, 0, 0x0, 0x200, 0x8000},
        {"sar 0 flags", 0x6e000000, 0xdead, 0x0, 0, 0, 0x0, 0xdead, 0x8000},
        {"sar 0 flags", 0x6e000000, 0xffff, 0x0, 0, 0, 0x0, 0xffff, 0x8000},
        {"sar 0 flags", 0x6e000000, 0xfffff, 0x0, 0, 0, 0x0, 0xfffff, 0x80c4},
        {"sar 0 flags", 0x6e000000, 0xffffff, 0x0, 0, 0, 0x0, 0xffffff, 0x80f4},
        {"sar 0 flags", 0x6e000000, 0xfffffff, 0x0, 0, 0, 0x0, 0xfffffff, 0x80f4},
        {"sar 0 flags", 0x6e000000, 0x7fffffff, 0x0, 0, 0, 0x0, 0x7fffffff, 0x80f4},
        {"sar 0 flags", 0x6e000000, 0xdeadbeef, 0x0, 0, 0, 0x0, 0xdeadbeef, 0x80e5},
        {"sar 0 flags", 0x6e000000, 0xff00ffff, 0x0, 0, 0, 0x0, 0xff00ffff, 0x8001},
        {"sar 0 flags", 0x6e000000, 0x10000, 0x0, 0, 0, 0x0, 0x10000, 0x8000},
        {"sar 0 flags", 0x6e000000, 0x20000, 0x0, 0, 0, 0x0, 0x20000, 0x8000},
        {"sar 0 flags", 0x6e000000, 0x40000, 0x0, 0, 0, 0x0, 0x40000, 0x8080},
        {"sar 0 flags", 0x6e000000, 0x80000, 0x0, 0, 0, 0x0, 0x80000, 0x8044},
        {"sar 0 flags", 0x6e000000, 0x100000, 0x0, 0, 0, 0x0, 0x100000, 0x8010},
        {"sar 0 flags", 0x6e000000, 0x200000, 0x0, 0, 0, 0x0, 0x200000, 0x8020},
        {"sar 0 flags", 0x6e000000, 0x400000, 0x0, 0, 0, 0x0, 0x400000, 0x8000},
        {"sar 0 flags", 0x6e000000, 0x800000, 0x0, 0, 0, 0x0, 0x800000, 0x8000},
        {"sar 0 flags", 0x6e000000, 0x5555aaaa, 0x0, 0, 0, 0x0, 0x5555aaaa, 0x8090},
        {"sar 1 flags", 0x6e000008, 0xdeadbeee, 0x0, 0, 0, 0x0, 0xef56df77, 0x8099},
        {"sar 1 flags", 0x6e000008, 0xdeadbeef, 0x0, 0, 0, 0x0, 0xef56df77, 0x8099},
        {"sar 1 flags", 0x6e000008, 0xdeadbee0, 0x0, 0, 0, 0x0, 0xef56df70, 0x8099},
        {"sar 1 flags", 0x6e000008, 0xdead0000, 0x0, 0, 0, 0x0, 0xef568000, 0x8099},
        {"sar 1 flags", 0x6e000008, 0xad0000, 0x0, 0, 0, 0x0, 0x568000, 0x8098},
        {"sar 1 flags", 0x6e000008, 0xa00000, 0x0, 0, 0, 0x0, 0x500000, 0x8018},
        {"sar 1 flags", 0x6e000008, 0x200000, 0x0, 0, 0, 0x0, 0x100000, 0x8018},
        {"sar 1 flags", 0x6e000008, 0x400000, 0x0, 0, 0, 0x0, 0x200000, 0x8020},
        {"sar 1 flags", 0x6e000008, 0x800000, 0x0, 0, 0, 0x0, 0x400000, 0x8000},
        {"shr", 0x7edeadbe, 0xdeadbe1a, 0x0, 27, 26, 0x0, 0x5b7c3400, 0x0},
        {"shr", 0x7edeadbe, 0x0, 0x0, 27, 26, 0x0, 0x0, 0x0},
        {"shr 4", 0x7e000022, 0xdeadbe00, 0x0, 0, 0, 0x0, 0xdeadbe0, 0x0},
        {"and", 0x62deadbe, 0xdeadbe1a, 0x0, 27, 26, 0x0, 0xdeadbc12, 0x0},
        {"and", 0x62deadbe, 0x0, 0x0, 27, 26, 0x0, 0x0, 0x0},
        {"and, $a22 has no effect", 0x62deadbe, 0xdeadbe1a, 0x0, 27, 26, 0x12345678, 0xdeadbc12,
         0x0},
        {"and flags of $c2", 0x62deadba, 0xdeadbeef, 0x0, 27, 26, 0x0, 0xdeadbca7, 0x80e4},
        {"and flags of $c2", 0x62deadba, 0x0, 0x0, 27, 26, 0x0, 0x0, 0x8002},
        {"and flags of $c2", 0x62deadba, 0xffffffff, 0x0, 27, 26, 0x0, 0xfffffdb7, 0x80f4},
        {"and flags of $c2", 0x62deadba, 0xdeadbe1a, 0x0, 27, 26, 0x0, 0xdeadbc12, 0x80e4},
        {"and imm", 0x62000db8, 0xffffffff, 0x0, 0, 0, 0x0, 0x1b7, 0x8000},
        {"add imm", 0x6cdeadbe, 0xdeadbe1a, 0x0, 27, 26, 0x0, 0xdeadbbd1, 0x0},
        {"add", 0x4cdeadc0, 0x0, 0x0, 27, 26, 0x0, 0x0, 0x8002},
        {"add imm", 0x6cde8000, 0x0, 0x0, 27, 26, 0x0, 0x0, 0x8002},
        {"add", 0x4cdeadc0, 0x1, 0x0, 27, 26, 0x0, 0x1, 0x8000},
        {"add imm", 0x6cde8000, 0x1, 0x0, 27, 26, 0x0, 0x1, 0x8000},
        {"add", 0x4cdeadc0, 0xffffffff, 0x0, 27, 26, 0x0, 0xffffffff, 0x80f5},
        {"add imm", 0x6cde8000, 0xffffffff, 0x0, 27, 26, 0x0, 0xffffffff, 0x80f5},
        {"add", 0x4cdeadc0, 0x80000000, 0x0, 27, 26, 0x0, 0x80000000, 0x8001},
        {"add imm", 0x6cde8000, 0x80000000, 0x0, 27, 26, 0x0, 0x80000000, 0x8001},
        {"add", 0x4cdeadc0, 0x7fffffff, 0x0, 27, 26, 0x1, 0x80000000, 0x8009},
        {"add imm", 0x6cde8008, 0x7fffffff, 0x0, 27, 26, 0x0, 0x80000000, 0x8009},
        {"add", 0x4cdeadc0, 0xffffffff, 0x0, 27, 26, 0x1, 0x0, 0x800a},
        {"add imm", 0x6cde8008, 0xffffffff, 0x0, 27, 26, 0x0, 0x0, 0x800a},
        {"add", 0x4cdeadc0, 0xffffffff, 0x0, 27, 26, 0xffffffff, 0xfffffffe, 0x80f5},
        {"add imm", 0x6cdebff8, 0xffffffff, 0x0, 27, 26, 0x0, 0xfffffffe, 0x80f5},
        {"add", 0x4cdeadc0, 0x80000000, 0x0, 27, 26, 0xffffffff, 0x7fffffff, 0x80fc},
        {"add imm", 0x6cdebff8, 0x80000000, 0x0, 27, 26, 0x0, 0x7fffffff, 0x80fc},
        {"add", 0x4cdeadc0, 0x0, 0x0, 27, 26, 0xffffffff, 0xffffffff, 0x80fd},
        {"add imm", 0x6cdebff8, 0x0, 0x0, 27, 26, 0x0, 0xffffffff, 0x80fd},
        {"add", 0x4cdeadc0, 0x10000, 0x0, 27, 26, 0xffffffff, 0xffff, 0x8000},
        {"add imm", 0x6cdebff8, 0x10000, 0x0, 27, 26, 0x0, 0xffff, 0x8000},
        {"add", 0x4cdeadc0, 0x1000000, 0x0, 27, 26, 0xffffffff, 0xffffff, 0x80fc},
        {"add imm", 0x6cdebff8, 0x1000000, 0x0, 27, 26, 0x0, 0xffffff, 0x80fc},
        {"add", 0x4cdeadc0, 0x100000, 0x0, 27, 26, 0xffffffff, 0xfffff, 0x80cc},
        {"add imm", 0x6cdebff8, 0x100000, 0x0, 27, 26, 0x0, 0xfffff, 0x80cc},
        {"add", 0x4cdeadc0, 0x40000, 0x0, 27, 26, 0xffffffff, 0x3ffff, 0x8000},
        {"add imm", 0x6cdebff8, 0x40000, 0x0, 27, 26, 0x0, 0x3ffff, 0x8000},
        {"add", 0x4cdeadc0, 0x80000, 0x0, 27, 26, 0xffffffff, 0x7ffff, 0x8080},
        {"add imm", 0x6cdebff8, 0x80000, 0x0, 27, 26, 0x0, 0x7ffff, 0x8080},
        {"add", 0x4cdeadc0, 0xfffff, 0x0, 27, 26, 0xffffffff, 0xffffe, 0x80c4},
        {"add imm", 0x6cdebff8, 0xfffff, 0x0, 27, 26, 0x0, 0xffffe, 0x80c4},
        {"add", 0x4cdeadc0, 0xfffff, 0x0, 27, 26, 0x0, 0xfffff, 0x80c4},
        {"add imm", 0x6cde8000, 0xfffff, 0x0, 27, 26, 0x0, 0xfffff, 0x80c4},
        {"sethi", 0x75deadbe, 0x0, 0xdeadbe1b, 27, 26, 0x0, 0xadbebe1b, 0x0},
        {"sethi", 0x75deadbe, 0x5555, 0x0, 27, 26, 0x7777, 0xadbe0000, 0x0},
        {"min", 0x68deadbe, 0xdeadbe1a, 0x0, 27, 26, 0x0, 0xdeadbe1a, 0x0},
        {"min", 0x68deadbe, 0x0, 0x0, 27, 26, 0x0, 0xfffffdb7, 0x0},
        {"min", 0x68de8000, 0x0, 0x0, 27, 26, 0x0, 0x0, 0x8002},
        {"min reg", 0x48deadc0, 0x0, 0x0, 27, 26, 0x0, 0x0, 0x8002},
        {"min", 0x68de8008, 0x0, 0x0, 27, 26, 0x0, 0x0, 0x8002},
        {"min reg", 0x48deadc0, 0x0, 0x0, 27, 26, 0x1, 0x0, 0x8002},
        {"min", 0x68de8000, 0x1, 0x0, 27, 26, 0x0, 0x0, 0x8002},
        {"min reg", 0x48deadc0, 0x1, 0x0, 27, 26, 0x0, 0x0, 0x8002},
        {"min", 0x68de8008, 0x1, 0x0, 27, 26, 0x0, 0x1, 0x8000},
        {"min reg", 0x48deadc0, 0x1, 0x0, 27, 26, 0x1, 0x1, 0x8000},
        {"min", 0x68de82a8, 0xaa, 0x0, 27, 26, 0x0, 0x55, 0x8000},
        {"min reg", 0x48deadc0, 0xaa, 0x0, 27, 26, 0x55, 0x55, 0x8000},
        {"min", 0x68de8550, 0x55, 0x0, 27, 26, 0x0, 0x55, 0x8000},
        {"min reg", 0x48deadc0, 0x55, 0x0, 27, 26, 0xaa, 0x55, 0x8000},
        {"min", 0x68de8918, 0x234, 0x0, 27, 26, 0x0, 0x123, 0x8000},
        {"min reg", 0x48deadc0, 0x234, 0x0, 27, 26, 0x123, 0x123, 0x8000},
        {"min", 0x68de8918, 0x122, 0x0, 27, 26, 0x0, 0x122, 0x8000},
        {"min reg", 0x48deadc0, 0x122, 0x0, 27, 26, 0x123, 0x122, 0x8000},
        {"min", 0x68de8918, 0x123, 0x0, 27, 26, 0x0, 0x123, 0x8000},
        {"min reg", 0x48deadc0, 0x123, 0x0, 27, 26, 0x123, 0x123, 0x8000},
        {"min", 0x68de8918, 0x124, 0x0, 27, 26, 0x0, 0x123, 0x8000},
        {"min reg", 0x48deadc0, 0x124, 0x0, 27, 26, 0x123, 0x123, 0x8000},
        {"min", 0x68de8918, 0xffff0000, 0x0, 27, 26, 0x0, 0xffff0000, 0x80f5},
        {"min reg", 0x48deadc0, 0xffff0000, 0x0, 27, 26, 0x123, 0xffff0000, 0x80f5},
        {"max", 0x69de8000, 0x0, 0x0, 27, 26, 0x0, 0x0, 0x8002},
        {"max reg", 0x49deadc0, 0x0, 0x0, 27, 26, 0x0, 0x0, 0x8002},
        {"max", 0x69de8008, 0x0, 0x0, 27, 26, 0x0, 0x1, 0x8000},
        {"max reg", 0x49deadc0, 0x0, 0x0, 27, 26, 0x1, 0x1, 0x8000},
        {"max", 0x69de8000, 0x1, 0x0, 27, 26, 0x0, 0x1, 0x8000},
        {"max reg", 0x49deadc0, 0x1, 0x0, 27, 26, 0x0, 0x1, 0x8000},
        {"max", 0x69de8008, 0x1, 0x0, 27, 26, 0x0, 0x1, 0x8000},
        {"max reg", 0x49deadc0, 0x1, 0x0, 27, 26, 0x1, 0x1, 0x8000},
        {"max", 0x69de8010, 0x1, 0x0, 27, 26, 0x0, 0x2, 0x8000},
        {"max reg", 0x49deadc0, 0x1, 0x0, 27, 26, 0x2, 0x2, 0x8000},
        {"max", 0x69de82a8, 0xaa, 0x0, 27, 26, 0x0, 0xaa, 0x8000},
        {"max reg", 0x49deadc0, 0xaa, 0x0, 27, 26, 0x55, 0xaa, 0x8000},
        {"max", 0x69de8550, 0x55, 0x0, 27, 26, 0x0, 0xaa, 0x8000},
        {"max reg", 0x49deadc0, 0x55, 0x0, 27, 26, 0xaa, 0xaa, 0x8000},
        {"max", 0x69de8918, 0x234, 0x0, 27, 26, 0x0, 0x234, 0x8000},
        {"max reg", 0x49deadc0, 0x234, 0x0, 27, 26, 0x123, 0x234, 0x8000},
        {"max", 0x69de8918, 0x122, 0x0, 27, 26, 0x0, 0x123, 0x8000},
        {"max reg", 0x49deadc0, 0x122, 0x0, 27, 26, 0x123, 0x123, 0x8000},
        {"max", 0x69de8918, 0x123, 0x0, 27, 26, 0x0, 0x123, 0x8000},
        {"max reg", 0x49deadc0, 0x123, 0x0, 27, 26, 0x123, 0x123, 0x8000},
        {"max", 0x69de8918, 0x124, 0x0, 27, 26, 0x0, 0x124, 0x8000},
        {"max reg", 0x49deadc0, 0x124, 0x0, 27, 26, 0x123, 0x124, 0x8000},
        {"max", 0x69de8918, 0xffff0000, 0x0, 27, 26, 0x0, 0x123, 0x8008},
        {"max reg", 0x49deadc0, 0xffff0000, 0x0, 27, 26, 0x123, 0x123, 0x8008},
        {"or", 0x64de8000, 0x0, 0x0, 27, 26, 0x0, 0x0, 0x8002},
        {"or", 0x64de8000, 0x1, 0x0, 27, 26, 0x0, 0x1, 0x8000},
        {"or", 0x64de8008, 0x0, 0x0, 27, 26, 0x0, 0x1, 0x8000},
        {"or", 0x64de8008, 0x1, 0x0, 27, 26, 0x0, 0x1, 0x8000},
        {"or", 0x64de8918, 0x456, 0x0, 27, 26, 0x0, 0x577, 0x8000},
        {"xor", 0x63de8000, 0x0, 0x0, 27, 26, 0x0, 0x0, 0x8002},
        {"xor", 0x63de8000, 0x1, 0x0, 27, 26, 0x0, 0x1, 0x8000},
        {"xor", 0x63de8008, 0x0, 0x0, 27, 26, 0x0, 0x1, 0x8000},
        {"xor", 0x63de8918, 0x456, 0x0, 27, 26, 0x0, 0x575, 0x8000},
        {"xor", 0x63de8008, 0x1, 0x0, 27, 26, 0x0, 0x0, 0x8002},
        {"mul", 0x41deadc0, 0x12345, 0x0, 27, 26, 0x2, 0x468a, 0x0},
        {"mul", 0x41deadc0, 0xffff, 0x0, 27, 26, 0xffff, 0x1, 0x0},
        {"mul", 0x41deadc0, 0x8000, 0x0, 27, 26, 0x8000, 0x40000000, 0x0},
        {"mul", 0x41deadc0, 0x7fff, 0x0, 27, 26, 0x7fff, 0x3fff0001, 0x0},
        {"mul", 0x41deadc0, 0x10003, 0x0, 27, 26, 0x5, 0xf, 0x0},
        {"badd s", 0x0cdeadc0, 0x7f80ff01, 0x0, 27, 26, 0x180ff02, 0x7f80fe03, 0x8000},
        {"badd u", 0x1cdeadc0, 0x7f80ff01, 0x0, 27, 26, 0x180ff02, 0x80ffff03, 0x8000},
        {"bsub s", 0x0ddeadc0, 0x80007f01, 0x0, 27, 26, 0x1ff80ff, 0x80017f02, 0x8000},
        {"bsub u", 0x1ddeadc0, 0x80007f01, 0x0, 27, 26, 0x1ff80ff, 0x7f000000, 0x8000},
        {"babs s", 0x0adeadc0, 0x80ff7f01, 0x0, 27, 26, 0x0, 0x7f017f01, 0x8000},
        {"bneg s", 0x0bdeadc0, 0x80ff7f01, 0x0, 27, 26, 0x0, 0x7f0181ff, 0x8000},
        {"bneg u", 0x1bdeadc0, 0x80ff7f01, 0x0, 27, 26, 0x0, 0x0, 0x8000},
        {"bmin s", 0x08deadc0, 0x80ff7f01, 0x0, 27, 26, 0x1010101, 0x80ff0101, 0x8000},
        {"bmin u", 0x18deadc0, 0x80ff7f01, 0x0, 27, 26, 0x1010101, 0x1010101, 0x8000},
        {"bsar 1", 0x0edeadc0, 0x80ff7f01, 0x0, 27, 26, 0x1010101, 0xc0ff3f00, 0x8000},
        {"bshr 1", 0x1edeadc0, 0x80ff7f01, 0x0, 27, 26, 0x1010101, 0x407f3f00, 0x8000},
        {"bshr 0f", 0x1edeadc0, 0x80ff7f01, 0x0, 27, 26, 0xf0f0f0f, 0xfefe02, 0x8000},
        {"bshr 08", 0x1edeadc0, 0x80ff7f01, 0x0, 27, 26, 0x8080808, 0x0, 0x8000},
        {"bmul", 0x11deac00, 0x80ff7f40, 0x0, 27, 26, 0x8080c003, 0x407f5f00, 0x8000},
        {"bmul", 0x11dead00, 0x80ff7f40, 0x0, 27, 26, 0x8080c003, 0x40805f01, 0x8000},
        {"bmul", 0x01deac06, 0x80ff7f40, 0x0, 27, 26, 0x8080c003, 0x7f01c001, 0x8000},
        {"bmul", 0x01dead06, 0x80ff7f40, 0x0, 27, 26, 0x8080c003, 0x7f01c102, 0x8000},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        check_row(&rows[i]);
}

/* Two lines of the seed contradict its others; these rows are what the rules give, and say so. */
static void test_wrong_lines(void **state)
{
    static const struct {
        struct row right;
        uint32_t seed_result;
        uint16_t seed_flags;
    } rows[] = {
        /* its result is that of source deadbe1a */
        {{"deadbeef + fffffdb7", 0x6cdeadb8, 0xdeadbeef, 0, 27, 26, 0, 0xdeadbca6, 0x80e5},
         0xdeadbbd1,
         0},
        /* the first of two lines; the second has the flags that fit */
        {{"000fffff + ffffffff", 0x6cdebff8, 0x000fffff, 0, 27, 26, 0, 0x000ffffe, 0x80c4},
         0x000ffffe,
         0x80cc},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        check_row(&rows[i].right);
        assert_true(rows[i].seed_result != rows[i].right.result ||
                    rows[i].seed_flags != rows[i].right.flags);
    }
}

/* 6ede81b8 to 6ede81bf: which condition register is written. */
static void test_condition_destination(void **state)
{
    (void)state;
    for (uint32_t cdst = 0; cdst < 8; cdst++) {
        struct bench *b = bench_new(CPS_VP1_G80, NULL);
        vp1_set(b, VIEW_A, 26, 0xdeadbe1a);
        vp1_inject(b, 0x6ede81b8 | cdst);
        for (uint32_t i = 0; i < 4; i++)
            assert_int_equal(vp1_get(b, VIEW_C, i), i == cdst ? 0x80fc : 0x8000);
        bench_free(b);
    }
}

/* Before G80, bits 6 and 7 are 0. */
static void test_flags_of_older_chips(void **state)
{
    static const enum cps_gen chips[] = {CPS_VP1_NV41, CPS_VP1_NV44, CPS_VP1_G80};
    (void)state;
    for (size_t i = 0; i < COUNT(chips); i++) {
        struct bench *b = bench_new(chips[i], NULL);
        vp1_set(b, VIEW_A, 0, 0x000fffff);
        vp1_inject(b, 0x6e000000);
        assert_int_equal(vp1_get(b, VIEW_C, 0), chips[i] == CPS_VP1_G80 ? 0x80c4 : 0x8004);
        bench_free(b);
    }
}

/* A second source, its condition register, and which register it then is. */
static void test_mangled_sources(void **state)
{
    static const struct {
        uint32_t src2, c, slct, is;
    } rows[] = {
        {5, 0x8001, 0, 4}, {5, 0x8000, 0, 5}, {5, 0x8000, 15, 4}, {5, 0x8000, 14, 5},
        {6, 0x8030, 4, 5}, {6, 0x8010, 4, 7}, {7, 0x8020, 4, 5},  {5, 0x8002, 1, 4},
    };
    /* A `sar` by 0 that makes those flags. */
    static const struct {
        uint32_t c, source;
    } makers[] = {{0x8001, 0x80000000},
                  {0x8030, 0x00300000},
                  {0x8010, 0x00100000},
                  {0x8020, 0x00200000},
                  {0x8002, 0}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bench *b = bench_new(CPS_VP1_G80, NULL);
        for (size_t k = 0; k < COUNT(makers); k++) {
            vp1_set(b, VIEW_A, 0, makers[k].source);
            if (makers[k].c == rows[i].c)
                vp1_inject(b, 0x6e000001); /* to $c1 */
        }
        assert_int_equal(vp1_get(b, VIEW_C, 1), rows[i].c);
        for (unsigned a = 0; a < 31; a++)
            vp1_set(b, VIEW_A, a, a);
        vp1_set(b, VIEW_A, 0, 0);
        vp1_inject(b, 0x4cd80007 | rows[i].src2 << 9 | rows[i].slct << 5 | 1 << 3);
        assert_int_equal(vp1_get(b, VIEW_A, 27), rows[i].is);
        bench_free(b);
    }
}

static void test_byte_immediates(void **state)
{
    struct bench *b = bench_new(CPS_VP1_G80, NULL);
    (void)state;
    vp1_set(b, VIEW_A, 26, 0x80ff7f01);
    vp1_inject(b, 0x2ede8007 | 0x01 << 3); /* bsar by 1 in each byte */
    assert_int_equal(vp1_get(b, VIEW_A, 27), 0xc0ff3f00);
    vp1_inject(b, 0x25de8007 | 0x0f << 3);
    assert_int_equal(vp1_get(b, VIEW_A, 27), 0x000f0f01);
    vp1_inject(b, 0x27de8007 | 0xff << 3);
    assert_int_equal(vp1_get(b, VIEW_A, 27), 0x7f0080fe);
    /* The immediate of bmul is six bits, four times: 0x21 << 2 with its upper bit at 0. */
    vp1_inject(b, 0x31de8000 | 0x01 << 9 | 1);
    assert_int_equal(vp1_get(b, VIEW_A, 27), 0x42834100);
    bench_free(b);
}

/* ---- register files ---- */

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

/* The scan of the special registers: what the host reads after it wrote all bits, and what `mov`
 * reads. */
static void test_special_registers(void **state)
{
    static const struct {
        uint8_t number;
        uint32_t host, isa;
    } rows[] = {
        {0, 0x01111111, 0},
        {1, 0x01111111, 0},
        {2, 0x80001000, 0x80001000},
        {3, 0xffffffff, 0xffffffff},
        {4, 3, 3},
        {5, 0, 0},
        {6, 0, 0},
        {7, 0xffffffff, 0},
        {8, 1, 0},
        {9, 0, 0},
        {10, 0, 0},
        {11, 4, 4},
        {12, 0, 0},
        {13, 0x1000, 0x1000},
        {14, 0x111, 0},
        {15, 0, 0},
        {25, 0xffffffe3, 0},
        {26, 0xffffffe3, 0},
        {27, 0xffffffe3, 0},
        {31, 0, 0},
        {32, 0, 0},
        {38, 0, 0},
        {49, 0, 0},
        {50, 0xffffffe3, 0xffffffe3},
        {64, 0, 0},
        {75, 0xf, 0xf},
        {76, 0xfffff, 0xfffff},
        {79, 0xfffff, 0xfffff},
        {80, 0x111, 0x111},
        {95, 0, 0},
        {96, 0xffff, 0xffff},
        {99, 0xffff, 0xffff},
        {100, 0, 0xffff}, /* by `mov`, as number 96 */
    };
    struct bench *b = bench_new(CPS_VP1_G80, NULL);
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        vp1_set(b, VIEW_SR, rows[i].number, 0xffffffff);
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint32_t number = rows[i].number;
        if (vp1_get(b, VIEW_SR, number) != rows[i].host)
            fail_msg("host: $sr%u is %08x", number, vp1_get(b, VIEW_SR, number));
        vp1_inject(b, 0x6b000007 | (number % 32) << 14 | (8 + number / 32) << 3);
        if (vp1_get(b, VIEW_A, 0) != rows[i].isa)
            fail_msg("mov: $sr%u is %08x", number, vp1_get(b, VIEW_A, 0));
    }
    bench_free(b);
}

/* `mov` to the special registers: what stays of all bits, by `mov` and for the host. */
static void test_special_writes(void **state)
{
    static const struct {
        uint8_t number;
        uint32_t after;
    } rows[] = {{0, 0},        {2, 0x80001000}, {3, 0xffffffff},  {4, 3},      {7, 0},
                {25, 0},       {28, 0},         {50, 0xffffffe3}, {64, 0},     {75, 0xf},
                {76, 0xfffff}, {80, 0x111},     {96, 0xffff},     {97, 0xffff}};
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
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_wrong_lines),
        cmocka_unit_test(test_condition_destination),
        cmocka_unit_test(test_flags_of_older_chips),
        cmocka_unit_test(test_mangled_sources),
        cmocka_unit_test(test_byte_immediates),
        cmocka_unit_test(test_reads),
        cmocka_unit_test(test_other_reads),
        cmocka_unit_test(test_writes),
        cmocka_unit_test(test_mov_flags),
        cmocka_unit_test(test_special_registers),
        cmocka_unit_test(test_special_writes),
        cmocka_unit_test(test_files_of_older_chips),
        cmocka_unit_test(test_view),
        cmocka_unit_test(test_other_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
