/* SPDX-License-Identifier: MIT
 * What the policy `waits=satisfy` takes for granted, and when. F: 6ee 08c0..08ed, a530 ME
 * 078b..07ad compare; the PFP polls memory itself (0906), the ME writes it. Random streams of PM4
 * found both (tests/model/pm4random.py). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/lib/engine_bench.h"
#include "isa/base/pm4.h"

enum { WORD = 0x300000, WAIT_REG_MEM = 0x3c, WAIT_MEM_GTE = 0x14, MEM_WRITE = 0x3d };
enum { LT = 1, LE, EQ, NE, GE, GT, SIGNED = 8 };

/* CP_WAIT_REG_MEM is read and dropped: only the policy looks at its condition. */
static const char drops[] = "mov $02, 0x3c\ncwrite $02, [$00 + 0x060]\nmov $02, #drop\ncwrite $02, "
                            "[$00 + 0x061]\njump #end\nnop\n"
                            "drop: (rep)mov $00, $data\nwaitin\nmov $01, $data\nend:\n";

static const struct compare {
    uint32_t function, value, reference;
    bool holds;
} compares[] = {
    {LT, 0xffffffff, 1, false},
    {LT | SIGNED, 0xffffffff, 1, true},
    {LE, 0xffffffff, 1, false},
    {LE | SIGNED, 0xffffffff, 1, true},
    {LE | SIGNED, 5, 5, true},
    {LT | SIGNED, 5, 5, false},
    {GE, 1, 0xffffffff, false},
    {GE | SIGNED, 1, 0xffffffff, true},
    {GT, 1, 0xfffffffe, false},
    {GT | SIGNED, 1, 0xfffffffe, true},
    {GT | SIGNED, 0xffffffff, 1, false},
    {GE | SIGNED, 0xffffffff, 1, false},
    {EQ | SIGNED, 7, 7, true},
    {EQ | SIGNED, 7, 8, false},
    {NE | SIGNED, 7, 8, true},
    {NE | SIGNED, 7, 7, false},
    /* As far apart as can be: the difference has the sign of the reference's lead. */
    {LT | SIGNED, 0x80000000, 0, false},
    {GT | SIGNED, 0x80000000, 0, true},
};

static void a_signed_wait_that_holds_is_not_assumed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(compares) / sizeof(compares[0]); i++) {
        const struct compare *c = &compares[i];
        struct bench *b = bench_a6xx(drops);
        machine_set(b->engine, CPS_FILE_MEMORY, WORD, c->value);
        assert_int_equal(cps_engine_run(b->engine, 1000), CPS_STOP_IDLE);
        const uint32_t words[] = {cps_pm4_type7(WAIT_REG_MEM, 6),
                                  c->function | 0x10,
                                  WORD,
                                  0,
                                  c->reference,
                                  0xffffffff,
                                  1};
        assert_true(machine_ring(b->engine, words, 7));
        assert_int_equal(cps_engine_run(b->engine, 1000), CPS_STOP_IDLE);
        bool assumed = bench_find(b, CPS_EV_ASSUME, CPS_WHAT_WAIT, 0) != NULL;
        uint32_t left = machine_memory(b->engine, WORD, NULL);
        if (assumed == c->holds || (left == c->value) != c->holds)
            fail_msg("function %u of 0x%x and 0x%x: assumed %d, 0x%x", c->function, c->value,
                     c->reference, assumed, left);
        b->notes = assumed;
        bench_free(b);
    }
}

/* The PFP sends CP_MEM_WRITE on and drops CP_WAIT_MEM_GTE; the ME takes its time and writes. */
static const char pfp[] =
    "mov $02, 0x14\ncwrite $02, [$00 + 0x033], 0x8\nmov $02, #drop\ncwrite $02, [$00 + 0x034], "
    "0x8\n"
    "mov $02, 0x3d\ncwrite $02, [$00 + 0x033], 0x8\nmov $02, #send\ncwrite $02, [$00 + 0x034], "
    "0x8\njump #end\nnop\n"
    "drop: (rep)mov $00, $data\nwaitin\nmov $01, $data\n"
    "send: mov $data, $01\n(rep)mov $data, $data\nwaitin\nmov $01, $data\nend:\n";
static const char me[] =
    "mov $02, 0x3d\ncwrite $02, [$00 + 0x033], 0x8\nmov $02, #write\ncwrite "
    "$02, [$00 + 0x034], 0x8\njump #end\nnop\n"
    "write: %smov $03, 0x%03x\nlater: brne $03, 0x0, #later\nsub $03, $03, 0x1\n"
    "mov $addr, CP_ME_NRT_ADDR_LO\nmov $data, $data\nmov $data, $data\nmov "
    "$addr, CP_ME_NRT_DATA\nmov $data, $data\n"
    "waitin\nmov $01, $data\nend:\n";

/* @p delay  of the ME, in instructions */
static void run_pair(unsigned delay, uint32_t written, uint32_t reference, bool assumed,
                     uint32_t left)
{
    char slow[sizeof(me) + 8];
    snprintf(slow, sizeof(slow), me, delay & 1 ? "nop\n" : "", delay >> 1);
    struct bench *b = bench_a5xx(pfp, slow);
    machine_set(b->engine, CPS_FILE_MEMORY, WORD, 0);
    assert_int_equal(cps_engine_run(b->engine, 1000), CPS_STOP_IDLE);
    const uint32_t words[] = {cps_pm4_type7(MEM_WRITE, 3),
                              WORD,
                              0,
                              written,
                              cps_pm4_type7(WAIT_MEM_GTE, 4),
                              0,
                              WORD,
                              0,
                              reference};
    assert_true(machine_ring(b->engine, words, 9));
    assert_int_equal(cps_engine_run(b->engine, 10000), CPS_STOP_IDLE);
    assert_int_equal(bench_count(b, CPS_EV_PKT), 3); /* two of the PFP, one of the ME */
    assert_int_equal(bench_find(b, CPS_EV_ASSUME, CPS_WHAT_WAIT, 0) != NULL, assumed);
    assert_int_equal(machine_memory(b->engine, WORD, NULL), left);
    b->notes = assumed;
    bench_free(b);
}

static void what_the_me_has_yet_to_write_is_not_assumed(void **state)
{
    (void)state;
    run_pair(0x200, 7, 5, false, 7);
    run_pair(0x200, 5, 5, false, 5);
}

static void an_assumed_word_is_not_overwritten_by_what_the_me_was_sent_before(void **state)
{
    (void)state;
    run_pair(0x200, 3, 5, true, 5);
}

/* Processors take turns of 128 instructions: the ME's last one may be the last of a turn. */
static void it_does_not_matter_where_in_its_turn_the_me_is_done(void **state)
{
    (void)state;
    for (unsigned delay = 2; delay <= 300; delay++)
        run_pair(delay, 7, 5, false, 7);
}

/* Packet 0x10 makes the ME execute five dwords of the side stream: 0x12, which takes its time, and
 * CP_MEM_WRITE; hardware's 0x09 ends that. */
static const char side_pfp[] =
    "mov $02, 0x10\ncwrite $02, [$00 + 0x033], 0x8\nmov $02, #side\ncwrite $02, [$00 + 0x034], "
    "0x8\n"
    "mov $02, 0x14\ncwrite $02, [$00 + 0x033], 0x8\nmov $02, #drop\ncwrite $02, [$00 + 0x034], "
    "0x8\njump #end\nnop\n"
    "drop: (rep)mov $00, $data\nwaitin\nmov $01, $data\n"
    "side: mov $02, 0x3000\ncwrite $02, [$00 + 0x0bc]\ncwrite $00, [$00 + 0x0bd]\nmov $02, 0x5\n"
    "cwrite $02, [$00 + 0x0be]\nmov $data, $01\nwaitin\nmov $01, $data\nend:\n";
static const char side_me[] =
    "mov $02, 0x10\ncwrite $02, [$00 + 0x033], 0x8\nmov $02, #side\ncwrite $02, [$00 + 0x034], "
    "0x8\nmov $02, 0x12\ncwrite $02, [$00 + 0x033], 0x8\nmov $02, #slow\ncwrite $02, [$00 + "
    "0x034], 0x8\n"
    "mov $02, 0x3d\ncwrite $02, [$00 + 0x033], 0x8\nmov $02, #write\ncwrite $02, [$00 + 0x034], "
    "0x8\nmov $02, 0x9\ncwrite $02, [$00 + 0x033], 0x8\nmov $02, #back\ncwrite $02, [$00 + "
    "0x034], 0x8\njump #end\nnop\n"
    "side: mov $02, 0x5\ncwrite $02, [$00 + 0x012]\nmov $02, 0x1\ncwrite $02, [$00 + 0x031]\n"
    "waitin\nmov $01, $data\n"
    "slow: %smov $03, 0x%03x\nlater: brne $03, 0x0, #later\nsub $03, $03, 0x1\n"
    "waitin\nmov $01, $data\n"
    "write: mov $addr, CP_ME_NRT_ADDR_LO\nmov $data, $data\nmov $data, $data\nmov "
    "$addr, CP_ME_NRT_DATA\nmov $data, $data\nwaitin\nmov $01, $data\n"
    "back: cwrite $00, [$00 + 0x031]\nwaitin\nmov $01, $data\nend:\n";

static void run_side(unsigned delay)
{
    enum { SIDE = 0x3000 };
    char slow[sizeof(side_me) + 8];
    snprintf(slow, sizeof(slow), side_me, delay & 1 ? "nop\n" : "", delay >> 1);
    struct bench *b = bench_a5xx(side_pfp, slow);
    const uint32_t side[] = {cps_pm4_type7(0x12, 0), cps_pm4_type7(MEM_WRITE, 3), WORD, 0, 7};
    const uint32_t words[] = {
        cps_pm4_type7(0x10, 0), cps_pm4_type7(WAIT_MEM_GTE, 4), 0, WORD, 0, 5};
    for (unsigned i = 0; i < 5; i++)
        machine_set(b->engine, CPS_FILE_MEMORY, SIDE + 4 * i, side[i]);
    machine_set(b->engine, CPS_FILE_MEMORY, WORD, 0);
    assert_int_equal(cps_engine_run(b->engine, 1000), CPS_STOP_IDLE);
    assert_true(machine_ring(b->engine, words, 6));
    assert_int_equal(cps_engine_run(b->engine, 10000), CPS_STOP_IDLE);
    assert_int_equal(bench_count(b, CPS_EV_PKT), 6); /* two of the PFP, four of the ME */
    assert_null(bench_find(b, CPS_EV_ASSUME, CPS_WHAT_WAIT, 0));
    assert_int_equal(machine_memory(b->engine, WORD, NULL), 7);
    bench_free(b);
}

/* Between two packets of the side stream the MEQ is empty, and the ME stands where it takes the
 * next one. */
static void what_stands_in_the_side_stream_is_not_assumed(void **state)
{
    (void)state;
    for (unsigned delay = 2; delay <= 300; delay++)
        run_side(delay);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_signed_wait_that_holds_is_not_assumed),
        cmocka_unit_test(what_the_me_has_yet_to_write_is_not_assumed),
        cmocka_unit_test(an_assumed_word_is_not_overwritten_by_what_the_me_was_sent_before),
        cmocka_unit_test(it_does_not_matter_where_in_its_turn_the_me_is_done),
        cmocka_unit_test(what_stands_in_the_side_stream_is_not_assumed),
    };
    return cmocka_run_group_tests_name("waits", tests, NULL, NULL);
}
