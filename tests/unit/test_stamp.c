/* SPDX-License-Identifier: MIT
 * Events of a7xx when they complete, and what the pipe waits for. Expectations are from a740 168's
 * code (CP_EVENT_WRITE7 at 02d1..0330, CP_WAIT_TIMESTAMP at 0c15..0c2a) and adreno_pm4.xml. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/lib/engine_bench.h"

#define AT 0x00200100u

static struct bench *run_with(const char *code, enum cps_policy_waits waits, enum cps_stop stop)
{
    struct cps_asm program = bench_code(HEAD_A7XX, code, CPS_A7XX);
    struct cps_config config = {.layout = CPS_LAYOUT_A7XX,
                                .policy = cps_policy_default(),
                                .words = program.words + 1,
                                .count = program.count - 1,
                                .image = {{CPS_CPU_SQE, 0}},
                                .image_count = 1};
    config.policy.waits = waits;
    struct bench *b = bench_create(&config);
    b->program[0] = program;
    b->stop = cps_engine_run(b->engine, 100000);
    assert_int_equal(b->stop, stop);
    return b;
}

static struct bench *run(const char *code)
{
    return run_with(code, CPS_WAITS_SATISFY, CPS_STOP_IDLE);
}

static void put(struct cps_buf *code, uint32_t value)
{
    cps_buf_printf(code, "mov $03, 0x%x << 16\nor $03, $03, 0x%x\nmov $data, $03\n", value >> 16,
                   value & 0xffff);
}

/* As 02d5..02dc has them: the address, EVENT_TS_CTRL, two words of data. */
static void put_stamp(struct cps_buf *code, uint32_t address, uint32_t ctrl, uint32_t low,
                      uint32_t high)
{
    cps_buf_str(code, "mov $addr, 0x00e8 << 24\n");
    put(code, address);
    put(code, 0);
    put(code, ctrl);
    put(code, low);
    put(code, high);
}

enum { RAM = 1, ON_CHIP = 2 }; /* 031d..031f: bit 24 of the packet's first word makes 2 of 1 */
/* 02f7, 02fb, 0308 or 0309, 030c: 32 bits, 64 bits, a clock (two of them), registers. */
enum { BITS_32 = 0x08, BITS_64 = 0x10, CLOCK = 0x18, CLOCK_2 = 0x20, REGISTERS = 0x28 };

static const struct stamp {
    const char *claim;
    uint32_t ctrl, low, high;
    uint32_t found[3]; /* words from AT */
    unsigned known;    /* how many of them are written */
} stamps[] = {
    {"32 bits: the lower word alone", RAM | BITS_32, 0x11, 0x22, {0x11}, 1},
    {"64 bits: both words", RAM | BITS_64, 0x11, 0x22, {0x11, 0x22}, 2},
    {"registers: from the first word, as many as the second",
     RAM | REGISTERS,
     0x8800,
     3,
     {7, 8, 9},
     3},
    {"no registers are none", RAM | REGISTERS, 0x8800, 0, {0}, 0},
    {"on-chip words are not memory", ON_CHIP | BITS_32, 0x11, 0x22, {0}, 0},
    {"clearing a resource writes nothing", 3 | BITS_32, 0x11, 0, {0}, 0}, /* 02d6: 0xb */
};

static void kinds_write_what_they_say(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(stamps) / sizeof(stamps[0]); i++) {
        const struct stamp *s = &stamps[i];
        CPS_BUF code = {0};
        cps_buf_str(&code, "mov $addr, 0x8800\nmov $data, 0x7\nmov $data, 0x8\nmov $data, 0x9\n");
        put_stamp(&code, AT, s->ctrl, s->low, s->high);
        struct bench *b = run(cps_buf_text(&code));
        for (unsigned w = 0; w < 3; w++) {
            bool known = false;
            uint32_t value = machine_memory(b->engine, AT + 4 * w, &known);
            if (known != (w < s->known) || (known && value != s->found[w]))
                fail_msg("%s: word %u is 0x%x", s->claim, w, value);
        }
        assert_int_equal(bench_count(b, CPS_EV_UNMODELLED), 0);
        bench_free(b);
    }
}

/* One packet must not store the register file, nor what is behind it. */
static void more_registers_than_are_known_to_be_asked_for_are_a_fault(void **state)
{
    static const uint32_t most[][2] = {{0x8800, 1025}, {0x3fffe, 3}};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        CPS_BUF code = {0};
        put_stamp(&code, AT, RAM | REGISTERS, most[i][0], most[i][1]);
        struct bench *b = run_with(cps_buf_text(&code), CPS_WAITS_SATISFY, CPS_STOP_FAULT);
        assert_int_equal(bench_count(b, CPS_EV_MEMW), 0);
        bench_free(b);
    }
}

/* 64 bits either way, and not the words that the packet carries. */
static void clocks_are_stored_and_said_to_be_assumed(void **state)
{
    static const uint32_t kinds[] = {CLOCK, CLOCK_2};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        CPS_BUF code = {0};
        put_stamp(&code, AT, RAM | kinds[i], 0xdead, 0xdead);
        struct bench *b = run(cps_buf_text(&code));
        bool known = false;
        uint32_t low = machine_memory(b->engine, AT, &known);
        assert_true(known && low && low < 1000);
        assert_int_equal(machine_memory(b->engine, AT + 4, &known), 0);
        assert_true(known);
        assert_non_null(bench_find(b, CPS_EV_ASSUME, CPS_WHAT_CLOCK, 0));
        b->notes = 1;
        bench_free(b);
    }
}

/* D: EV_DST_ONCHIP; the words are the control registers that all processors share (0x200 on), four
 * bytes each, as CP_WAIT_TIMESTAMP's 0c23 numbers them. */
static void on_chip_words_are_shared_control_registers(void **state)
{
    CPS_BUF code = {0};
    (void)state;
    put_stamp(&code, 4 * 0x23, ON_CHIP | BITS_32, 0x55, 0);
    cps_buf_str(&code, "cread $05, [$00 + 0x223]\ncread $06, [$00 + 0x224]\n");
    struct bench *b = run(cps_buf_text(&code));
    assert_int_equal(machine_value(b->engine, 0, CPS_FILE_GENERAL, 5), 0x55);
    assert_int_equal(machine_value(b->engine, 0, CPS_FILE_GENERAL, 6), 0);
    const struct cps_event *write = bench_find(b, CPS_EV_CTRL, 0, 0);
    assert_true(write && write->addr == 0x223 && write->value == 0x55);
    assert_int_equal(bench_count(b, CPS_EV_CTRL), 1);
    bench_free(b);
}

/* 02c4..02c6: bit 6 asks for an interrupt, whose number stands in 11:7. */
static void bit_6_raises_the_interrupt_that_is_named(void **state)
{
    (void)state;
    for (unsigned asked = 0; asked < 2; asked++) {
        CPS_BUF code = {0};
        put_stamp(&code, AT, RAM | BITS_32 | asked << 6 | 21u << 7, 0x11, 0);
        struct bench *b = run(cps_buf_text(&code));
        assert_int_equal(bench_count(b, CPS_EV_IRQ), asked);
        const struct cps_event *irq = bench_find(b, CPS_EV_IRQ, 0, 0);
        assert_true(!irq == !asked);
        assert_true(!irq || irq->addr == 21 || irq->value == 21);
        bench_free(b);
    }
}

/* 02ca (bit 11) counts for BR, 026b (bit 12) for BV: CP_BV_BR_COUNT_OPS polls 0x0dc and 0x0dd. */
static void completed_events_are_counted_by_bits_11_and_12(void **state)
{
    static const char code[] =
        "mov $addr, 0x00e7 << 24\nmov $data, 0x0801\nmov $addr, 0x00e7 << 24\n"
        "mov $data, 0x1801\nmov $addr, 0x00e7 << 24\nmov $data, 0x1801\n"
        "mov $addr, 0x00e7 << 24\nmov $data, 0x0001\n"
        "cread $05, [$00 + 0x0dc]\ncread $06, [$00 + 0x0dd]\n"
        "cwrite $00, [$00 + 0x0dc]\ncread $07, [$00 + 0x0dc]\n"
        "cread $08, [$00 + 0x0dd]\n";
    (void)state;
    struct bench *b = run(code);
    assert_int_equal(machine_value(b->engine, 0, CPS_FILE_GENERAL, 5), 3);
    assert_int_equal(machine_value(b->engine, 0, CPS_FILE_GENERAL, 6), 2);
    assert_int_equal(machine_value(b->engine, 0, CPS_FILE_GENERAL, 7), 0);
    assert_int_equal(machine_value(b->engine, 0, CPS_FILE_GENERAL, 8), 2);
    bench_free(b);
}

/* 02c4: EVENT_CMD 0x2001 lowers the counter that 02c3 raised; bit 3, which does it on a6xx, does
 * not. */
static void bit_13_lowers_the_cache_counter(void **state)
{
    static const char code[] =
        "cwrite $00, [$00 + 0x032]\ncwrite $00, [$00 + 0x032]\n"
        "mov $addr, 0x00e7 << 24\nmov $data, 0x0009\ncread $05, [$00 + 0x03a]\n"
        "mov $addr, 0x00e7 << 24\nmov $data, 0x2001\ncread $06, [$00 + 0x03a]\n";
    (void)state;
    struct bench *b = run(code);
    assert_int_equal(machine_value(b->engine, 0, CPS_FILE_GENERAL, 5), 2);
    assert_int_equal(machine_value(b->engine, 0, CPS_FILE_GENERAL, 6), 1);
    bench_free(b);
}

/* ---- the pipe's wait: 0c23..0c2a ---- */

#define WAIT_FOR(index, value) \
    "mov $addr, 0x00a4 << 24\nmov $data, " index "\nmov $addr, 0x00a5 << 24\nmov $data, " value "\n"

static void a_word_that_is_there_is_not_waited_for(void **state)
{
    (void)state;
    /* Signed, as 0c42..0c44 has it for memory: 5 is reached by 5 and 6, and -1 by 0. */
    struct bench *b =
        run("mov $02, 0x6\ncwrite $02, [$00 + 0x223]\n" WAIT_FOR("0x23", "0x5")
                WAIT_FOR("0x23", "0x6") "mov $02, 0xffff << 16\nor $02, $02, 0xffff\n"
                                        "mov $addr, 0x00a4 << 24\nmov $data, 0x24\n"
                                        "mov $addr, 0x00a5 << 24\nmov $data, $02\nmov $05, 0x77\n");
    assert_int_equal(machine_value(b->engine, 0, CPS_FILE_GENERAL, 5), 0x77);
    assert_int_equal(bench_count(b, CPS_EV_ASSUME), 0);
    bench_free(b);
}

static void a_word_that_nobody_writes_is_assumed_and_said_so(void **state)
{
    (void)state;
    struct bench *b = run(WAIT_FOR("0x23", "0x5") "cread $05, [$00 + 0x223]\n");
    const struct cps_event *assumed = bench_find(b, CPS_EV_ASSUME, CPS_WHAT_WAIT, 0);
    assert_non_null(assumed);
    assert_int_equal(assumed->addr, 0x223);
    assert_int_equal(assumed->value, 5);
    assert_int_equal(machine_value(b->engine, 0, CPS_FILE_GENERAL, 5), 5);
    assert_int_equal(bench_count(b, CPS_EV_ASSUME), 1);
    b->notes = 1;
    bench_free(b);
}

static void with_waits_stop_it_is_a_deadlock_that_names_the_word(void **state)
{
    CPS_BUF text = {0};
    (void)state;
    struct bench *b = run_with(
        "mov $02, 0x3\ncwrite $02, [$00 + 0x223]\n" WAIT_FOR("0x23", "0x5") "mov $05, 0x77\n",
        CPS_WAITS_STOP, CPS_STOP_DEADLOCK);
    cps_engine_explain(b->engine, b->stop, &text);
    assert_non_null(strstr(cps_buf_text(&text), "on-chip word 0x23 (control 0x223)"));
    assert_non_null(strstr(cps_buf_text(&text), "to reach 0x00000005, it is 0x00000003"));
    assert_int_equal(machine_value(b->engine, 0, CPS_FILE_GENERAL, 5), 0);
    assert_int_equal(bench_count(b, CPS_EV_ASSUME), 0);
    bench_free(b);
}

/* BR waits, BV writes the word by an event, much later: nothing is assumed, with either policy. */
static const char pair[] =
    "mov $04, 0x2\ncwrite $04, [$00 + 0x038]\nmov $05, 0x830\ncwrite $05, [$00 + 0x039]\n"
    "mov $03, $regdata\nmov $04, $regdata\nadd $03, $03, %u\ncwrite $03, [$00 + 0x0d6]\n"
    "cwrite $04, [$00 + 0x0d7]\nmov $05, 0x1\ncwrite $05, [$00 + 0x0d8]\n" WAIT_FOR(
        "0x23", "0x5") "mov $05, 0x77\nwaitin\nmov $01, $data\n.section "
                       "BV\n[01740002]\n[01000000]\nmov $06, 0x400\n"
                       "l: brne $06, 0x0, #l\nsub $06, $06, 0x1\nmov $addr, 0x00e8 << 24\nmov "
                       "$data, 0x8c\nmov $data, 0x0\n"
                       "mov $data, 0xa\nmov $data, 0x5\n";

static void another_processor_ends_the_wait(void **state)
{
    CPS_BUF code = {0};
    (void)state;
    cps_buf_printf(&code, pair, 0u);
    struct cps_asm probe = bench_code(HEAD_A7XX, cps_buf_text(&code), CPS_A7XX);
    uint32_t start = bench_section(&probe, 0x01740002);
    free(probe.words);
    cps_buf_clear(&code);
    cps_buf_printf(&code, pair, 4 * start);
    struct bench *b =
        bench_afuc(CPS_LAYOUT_A7XX, HEAD_A7XX, cps_buf_text(&code), CPS_CPU_BV, start);
    assert_int_equal(cps_engine_run(b->engine, 100000), CPS_STOP_IDLE);
    assert_int_equal(machine_value(b->engine, 0, CPS_FILE_GENERAL, 5), 0x77);
    assert_int_equal(bench_count(b, CPS_EV_ASSUME), 0);
    bench_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_write_what_they_say),
        cmocka_unit_test(more_registers_than_are_known_to_be_asked_for_are_a_fault),
        cmocka_unit_test(clocks_are_stored_and_said_to_be_assumed),
        cmocka_unit_test(on_chip_words_are_shared_control_registers),
        cmocka_unit_test(bit_6_raises_the_interrupt_that_is_named),
        cmocka_unit_test(completed_events_are_counted_by_bits_11_and_12),
        cmocka_unit_test(bit_13_lowers_the_cache_counter),
        cmocka_unit_test(a_word_that_is_there_is_not_waited_for),
        cmocka_unit_test(a_word_that_nobody_writes_is_assumed_and_said_so),
        cmocka_unit_test(with_waits_stop_it_is_a_deadlock_that_names_the_word),
        cmocka_unit_test(another_processor_ends_the_wait),
    };
    return cmocka_run_group_tests_name("stamp", tests, NULL, NULL);
}
