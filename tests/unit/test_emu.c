/* SPDX-License-Identifier: MIT
 * The interpreter and what stands around it, by small programs: each row is a claim of
 * docs/hardware.md, the code that shows it, and the state that proves it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/engine_bench.h"
#include "fw/fw.h"
#include "isa/base/pm4.h"

/* A program runs to its `waitin`, or to a self-jump; then register `reg` must be `value`. */
static const struct program {
    const char *claim;
    const char *code;
    unsigned reg;
    uint32_t value;
} programs[] = {
    {"the delay slot of a taken branch runs", "jump #a\nmov $02, 0x5\nmov $02, 0x6\na:\n", 2, 5},
    {"the delay slot of an untaken branch runs", "brne $00, 0x0, #a\nmov $02, 0x5\na:\n", 2, 5},
    {"a branch in the slot of an untaken branch is ordinary",
     "brne $00, 0x0, #a\njump #b\nmov $02, 0x7\na:\nmov $03, 0x1\nb:\n", 2, 7},
    {"both taken: the first target runs once, then the second target",
     "jump #a\njump #b\nb:\nmov $03, 0x1\njump #end\nnop\na:\nmov $02, 0x9\nmov $02, 0x8\nend:\n",
     2, 9},
    {"call returns behind its delay slot",
     "call #f\nmov $02, 0x1\nadd $02, $02, 0x10\njump #end\nnop\nf:\nret\nadd $02, $02, "
     "0x100\nend:\n",
     2, 0x111},
    {"add carries into addhi",
     "mov $02, 0xffff << 16\nor $02, $02, 0xffff\nadd $03, $02, 0x1\naddhi $04, $00, $00\n", 4, 1},
    {"sub borrows into subhi", "sub $03, $00, 0x1\nmov $04, 0x5\nsubhi $04, $04, $00\n", 4, 4},
    {"mov and cwrite between keep the carry",
     "sub $03, $00, 0x1\nmov $05, 0x5\ncwrite $05, [$00 + 0x100]\nsubhi $04, $05, $00\n", 4, 4},
    {"cmp says 0x2b for equal", "mov $02, 0x3\ncmp $03, $02, 0x3\n", 3, 0x2b},
    {"cmp says 0x1e for less, unsigned", "mov $02, 0x3\ncmp $03, $02, 0x8000\n", 3, 0x1e},
    {"cmp says 0 for greater", "mov $02, 0x3\ncmp $03, $02, 0x2\n", 3, 0},
    {"or with an immediate keeps the upper half", "mov $02, 0x1234 << 16\nor $02, $02, 0xff\n", 2,
     0x123400ff},
    {"rot turns left", "mov $02, 0x8001 << 16\nrot $03, $02, 0x4\n", 3, 0x00100008},
    {"ishr keeps the sign", "mov $02, 0x8000 << 16\nishr $03, $02, 0x1f\n", 3, 0xffffffff},
    {"mul8 multiplies bytes", "mov $02, 0x12ff\nmul8 $03, $02, 0x2\n", 3, 0x1fe},
    {"msb of 0 is 0", "mov $03, 0x7\nmsb $03, $00\n", 3, 0},
    {"msb is the index of the highest bit", "mov $02, 0x500\nmsb $03, $02\n", 3, 10},
    {"writes to $00 are lost", "mov $00, 0x7\nmov $02, $00\n", 2, 0},
    {"(rep) with $rem = 0 does nothing", "mov $rem, 0x0\n(rep)add $02, $02, 0x1\n", 2, 0},
    {"(rep) counts $rem down", "mov $rem, 0x5\n(rep)add $02, $02, 0x1\n", 2, 5},
    {"(rep) runs all its repetitions in a delay slot",
     "mov $rem, 0x3\njump #a\n(rep)add $02, $02, 0x1\na:\n", 2, 3},
    {"pre-increment writes the sum back before the access",
     "mov $02, 0xff\nmov $03, 0x42\ncwrite $03, [$02 + 0x001]!\ncread $04, [$00 + 0x100]\n", 4,
     0x42},
    {"store and load meet in memory",
     "mov $02, 0x77\nstore $02, [$00 + 0x010]\nload $03, [$00 + 0x010]\n", 3, 0x77},
    {"$regdata gives consecutive registers",
     "mov $02, 0x2\ncwrite $02, [$00 + @REG_READ_DWORDS]\nmov $02, 0x830\ncwrite $02, [$00 + "
     "@REG_READ_ADDR]\nmov $03, $regdata\nmov $04, $regdata\n",
     4, 0x0001ffff},
    {"REG_WRITE increments its address",
     "mov $02, 0x8800\ncwrite $02, [$00 + @REG_WRITE_ADDR]\ncwrite $02, [$00 + "
     "@REG_WRITE]\ncwrite $02, [$00 + @REG_WRITE]\ncread $03, [$00 + @REG_WRITE_ADDR]\n",
     3, 0x8802},
    {"the pending counter rises and falls",
     "cwrite $00, [$00 + @WFI_PEND_INCR]\ncwrite $00, [$00 + @WFI_PEND_INCR]\nmov $addr, 0x81 << "
     "24\ncread $02, [$00 + @WFI_PEND_CTR]\n",
     2, 1},
    {"(rep)(xmov3) drops as many words of $memdata as $rem says (6ee 190 10ef)",
     "mov $02, 0x77\nstore $02, [$00 + 0x014]\ncwrite $00, [$00 + @MEM_READ_ADDR]\ncwrite $00, "
     "[$00 + @MEM_READ_ADDR+0x1]\nmov $02, 0x6\ncwrite $02, [$00 + @MEM_READ_DWORDS]\nmov $rem, "
     "0x5\n(rep)(xmov3)mov $00, $memdata\nmov $03, $memdata\n",
     3, 0x77},
    {"(rep)(xmov1) leaves nothing of $rem",
     "cwrite $00, [$00 + @MEM_READ_ADDR]\ncwrite $00, [$00 + @MEM_READ_ADDR+0x1]\nmov $02, "
     "0x3\ncwrite $02, [$00 + @MEM_READ_DWORDS]\nmov $rem, 0x3\n(rep)(xmov1)mov $00, "
     "$memdata\nadd $03, $rem, 0x5\n",
     3, 5},
    {"jumpd goes through a register (a660 0e64)",
     "mov $05, #a\njumpd $05\nmov $02, 0x1\nmov $02, 0x2\na:\n", 2, 1},
    {"setbit of two registers sets (a660 037e; a650 032d)",
     "mov $02, 0x8\nmov $03, 0x13\nsetbit $02, $02, $03\n", 2, 0x208},
    {"and clears (a650 032e)", "mov $02, 0x208\nmov $03, 0x12\nsetbit $02, $02, $03\n", 2, 0x8},
    {"setsecure with mode 2 fails", "mov $02, 0x2\nsetsecure $02, #a\nmov $03, 0x1\nnop\na:\n", 3,
     1},
    {"setsecure with mode 1 succeeds and skips two words",
     "mov $02, 0x1\nsetsecure $02, #a\nmov $03, 0x1\nmov $03, 0x2\na:\n", 3, 0},
};

/* The outcome of setsecure is assumed; the words of $memdata that $rem drops were written by
 * nobody. */
static size_t notes_of(const char *code)
{
    static const char rem[] = "mov $rem, ";
    const char *dropped = strstr(code, "MEM_READ_DWORDS") ? strstr(code, rem) : NULL;
    if (dropped)
        return strtoul(dropped + strlen(rem), NULL, 16);
    return strstr(code, "setsecure") != NULL;
}

static void programs_have_their_effect(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        struct bench *b = bench_a6xx(programs[i].code);
        assert_int_equal(cps_engine_run(b->engine, 10000), CPS_STOP_IDLE);
        uint32_t found = machine_value(b->engine, 0, CPS_FILE_GENERAL, programs[i].reg);
        if (found != programs[i].value)
            fail_msg("%s: $%02x is 0x%x, expected 0x%x", programs[i].claim, programs[i].reg, found,
                     programs[i].value);
        b->notes = notes_of(programs[i].code);
        bench_free(b);
    }
}

/* Handler 4 copies a type-4 packet; everything else is handler 0, which drops the packet. */
static const char copier[] = "cwrite $00, [$00 + @PACKET_TABLE_WRITE_ADDR]\n"
                             "mov $02, #drop\n"
                             "mov $rem, 0x80\n"
                             "(rep)cwrite $02, [$00 + @PACKET_TABLE_WRITE]\n"
                             "mov $03, 0x4\n"
                             "cwrite $03, [$00 + @PACKET_TABLE_WRITE_ADDR]\n"
                             "mov $03, #copy\n"
                             "cwrite $03, [$00 + @PACKET_TABLE_WRITE]\n"
                             "waitin\nmov $01, $data\n"
                             "drop:\n(rep)(xmov3)mov $00, $data\n"
                             "waitin\nmov $01, $data\n"
                             "copy:\nushr $usraddr, $01, 0x8\n"
                             "mov $03, #enter\n"
                             "(rep)(xmov1)mov $data, $data\n"
                             "enter:\n";

/* The count of extra moves is limited by $rem behind the instruction's own read. */
static void type4_of_every_count_reads_exactly_its_payload(void **state)
{
    (void)state;
    for (uint32_t count = 0; count <= 127; count++) {
        struct bench *b = bench_a6xx(copier);
        uint32_t words[2 + 127 + 2];
        uint32_t size = 0;
        words[size++] = cps_pm4_type4(0x8800, count);
        for (uint32_t i = 0; i < count; i++)
            words[size++] = 0x1000 + i;
        words[size++] = cps_pm4_type4(0x9000, 1);
        words[size++] = 0xabcd;
        assert_int_equal(cps_engine_run(b->engine, 10000), CPS_STOP_IDLE);
        assert_true(machine_ring(b->engine, words, size));
        assert_int_equal(cps_engine_run(b->engine, 100000), CPS_STOP_IDLE);
        for (uint32_t i = 0; i < count; i++)
            assert_int_equal(machine_value(b->engine, 0, CPS_FILE_REGISTER, 0x8800 + i),
                             0x1000 + i);
        assert_int_equal(machine_value(b->engine, 0, CPS_FILE_REGISTER, 0x8800 + count), 0);
        assert_int_equal(machine_value(b->engine, 0, CPS_FILE_REGISTER, 0x9000), 0xabcd);
        bench_free(b);
    }
}

/* A peek takes no word, so that (rep) counts $rem down itself, and the word is still there. */
static void rep_counts_rem_where_the_switch_makes_data_a_peek(void **state)
{
    static const uint32_t words[] = {0x12345, 0x67890};
    (void)state;
    struct bench *b = bench_a6xx("mov $02, 0x7\ncwrite $02, [$00 + 0x055]\nmov $rem, 0x3\n"
                                 "(rep)add $03, $03, $data\ncwrite $00, [$00 + 0x055]\n"
                                 "add $04, $rem, 0x5\nmov $05, $data\na:\njump #a\nnop\n");
    assert_true(machine_ring(b->engine, words, 2));
    assert_int_equal(cps_engine_run(b->engine, 1000), CPS_STOP_BUDGET);
    assert_int_equal(machine_value(b->engine, 0, CPS_FILE_GENERAL, 3), 3 * 0x12345);
    assert_int_equal(machine_value(b->engine, 0, CPS_FILE_GENERAL, 4), 5);
    assert_int_equal(machine_value(b->engine, 0, CPS_FILE_GENERAL, 5), 0x12345);
    bench_free(b);
}

static void a_spinning_core_is_a_deadlock(void **state)
{
    static const char *const spins[] = {
        "a:\njump #a\nnop\n",
        "a:\ncread $02, [$00 + 0x038]\nbreq $02, 0x0, #a\nnop\n",
        "a:\njump #a\njump #a\n",
        /* a period of many instructions */
        ("a:\nmov $03, 0x7fff\nb:\nbrne $03, 0x0, #b\nsub $03, $03, 0x1\njump #a\nnop\n"),
    };
    (void)state;
    for (size_t i = 0; i < sizeof(spins) / sizeof(spins[0]); i++) {
        struct bench *b = bench_a6xx(spins[i]);
        assert_int_equal(cps_engine_run(b->engine, 100000000), CPS_STOP_DEADLOCK);
        bench_free(b);
    }
}

/* A poll that stores what stands there already changes nothing; one that stores 0 and 1 by turns
 * does, although it comes back to where it was: somebody may wait for that. */
static void stores_are_progress_if_they_change_something(void **state)
{
    static const struct {
        const char *code;
        enum cps_stop stop;
    } rows[] = {
        {"mov $02, 0x5\na:\nmov $addr, 0x8800\njump #a\nmov $data, $02\n", CPS_STOP_DEADLOCK},
        {"a:\nmov $addr, 0x8800\nxor $02, $02, 0x1\njump #a\nmov $data, $02\n", CPS_STOP_BUDGET},
        {"mov $02, 0x5\na:\njump #a\nstore $02, [$00 + 0x010]\n", CPS_STOP_DEADLOCK},
        {"a:\nxor $02, $02, 0x1\njump #a\nstore $02, [$00 + 0x010]\n", CPS_STOP_BUDGET},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct bench *b = bench_a6xx(rows[i].code);
        cps_engine_sink(b->engine, NULL, 0);
        if (cps_engine_run(b->engine, 1000000) != rows[i].stop)
            fail_msg("%s", rows[i].code);
        bench_free(b);
    }
}

/* A million ticks with a change in every few, then nothing any more. */
static void a_hang_is_noticed_soon_behind_a_long_time_of_progress(void **state)
{
    (void)state;
    struct bench *b = bench_a6xx("mov $02, 0x3 << 16\nmov $addr, 0x8800\na:\nmov $addr, 0x8800\n"
                                 "mov $data, $02\nsub $02, $02, 0x1\nbrne $02, 0x0, #a\nnop\n"
                                 "b:\njump #b\nnop\n");
    cps_engine_sink(b->engine, NULL, 0);
    assert_int_equal(cps_engine_run(b->engine, 2000000), CPS_STOP_DEADLOCK);
    assert_in_range(b->engine->clock, 5 * 0x30000, 5 * 0x30000 + 0x40000);
    bench_free(b);
}

static void progress_without_end_meets_the_budget(void **state)
{
    (void)state;
    struct bench *b = bench_a6xx("a:\njump #a\nadd $02, $02, 0x1\n");
    assert_int_equal(cps_engine_run(b->engine, 1000000), CPS_STOP_BUDGET);
    assert_int_equal(b->engine->clock, 1000000);
    bench_free(b);
}

static void an_illegal_word_is_a_fault(void **state)
{
    (void)state;
    struct bench *b = bench_a6xx("[00000000]\n");
    assert_int_equal(cps_engine_run(b->engine, 1000), CPS_STOP_FAULT);
    assert_int_equal(cps_engine_where(b->engine, 0).pc, 2);
    bench_free(b);
}

/* Each kind of event comes also where nobody wants another one: packets with a payload of each
 * length, each of which leaves a call open. */
static void kinds_of_events_do_not_need_each_other(void **state)
{
    static const char code[] =
        "mov $02, 0x10\ncwrite $02, [$00 + 0x060]\nmov $02, #open\ncwrite $02, [$00 + 0x061]\n"
        "jump #end\nnop\nopen: call #in\nnop\nin: mov $addr, 0x8800\n"
        "(rep)mov $data, $data\nwaitin\nmov $01, $data\nend:\n";
    static const unsigned kinds[] = {CPS_EV_PKT, CPS_EV_SQE, CPS_EV_WORD, CPS_EV_REG, CPS_EV_CTRL};
    (void)state;
    size_t expected[] = {3, 2, 3, 3, 2};
    const uint32_t words[] = {cps_pm4_type7(0x10, 1), 5, cps_pm4_type7(0x10, 0),
                              cps_pm4_type7(0x10, 2), 6, 7};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct bench *b = bench_a6xx(code);
        cps_engine_sink(b->engine, &b->sink, 1u << kinds[i]);
        assert_int_equal(cps_engine_run(b->engine, 1000), CPS_STOP_IDLE);
        assert_true(machine_ring(b->engine, words, 6));
        assert_int_equal(cps_engine_run(b->engine, 1000), CPS_STOP_IDLE);
        assert_int_equal(bench_count(b, kinds[i]), expected[i]);
        assert_int_equal(b->count, expected[i]);
        bench_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_have_their_effect),
        cmocka_unit_test(type4_of_every_count_reads_exactly_its_payload),
        cmocka_unit_test(rep_counts_rem_where_the_switch_makes_data_a_peek),
        cmocka_unit_test(a_spinning_core_is_a_deadlock),
        cmocka_unit_test(stores_are_progress_if_they_change_something),
        cmocka_unit_test(a_hang_is_noticed_soon_behind_a_long_time_of_progress),
        cmocka_unit_test(progress_without_end_meets_the_budget),
        cmocka_unit_test(an_illegal_word_is_a_fault),
        cmocka_unit_test(kinds_of_events_do_not_need_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
