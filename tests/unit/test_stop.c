/* SPDX-License-Identifier: MIT
 * What a machine that stopped waits for, as fields; and that it goes on from the same instruction
 * once somebody wrote what it waits for. The firmware here polls as the real one does. */
#include "isa/base/pm4.h"
#include "tests/lib/afuc_facts.h"

enum { WAIT_REG_MEM = 0x3c, WORD = 0x2000, OTHER = 0x2008, IB = 0x3000, RING = 0x100000 };

/* A handler that polls what CP_WAIT_REG_MEM names: memory with `load`, registers with REG_READ_*;
 * entry 0x10 is CP_NOP, which adds 1 to $09; 0x11 jumps to itself behind a read of memory. */
static const char firmware[] =
    "mov $02, 0x3c\ncwrite $02, [$00 + 0x%03x]\nmov $02, #wait\n"
    "cwrite $02, [$00 + 0x%03x]\n"
    "mov $02, 0x10\ncwrite $02, [$00 + 0x%03x]\nmov $02, #count\n"
    "cwrite $02, [$00 + 0x%03x]\nmov $02, #jump\n"
    "cwrite $02, [$00 + 0x%03x]\njump #end\nnop\n"
    "wait: mov $03, $data\nmov $04, $data\nmov $05, $data\nmov $06, $data\nmov $07, $data\n"
    "(rep)mov $00, $data\nand $03, $03, 0x10\nmov $08, 0x1\nbreq $03, 0x0, #register\nnop\n"
    "memory: load $05, [$04 + 0x000]\nand $05, $05, $07\nsub $05, $05, $06\nbrne $05, 0x0, "
    "#memory\nnop\n"
    "waitin\nmov $01, $data\n"
    "register: cwrite $08, [$00 + @REG_READ_DWORDS]\ncwrite $04, [$00 + @REG_READ_ADDR]\n"
    "mov $05, $regdata\nand $05, $05, $07\nsub $05, $05, $06\nbrne $05, 0x0, #register\nnop\n"
    "waitin\nmov $01, $data\n"
    "count: (rep)mov $00, $data\nadd $09, $09, 0x1\nwaitin\nmov $01, $data\n"
    "jump: mov $04, $data\nload $05, [$04 + 0x000]\nself: jump #self\nnop\nend:\n";

static const enum cps_layout layouts[] = {CPS_LAYOUT_A6XX, CPS_LAYOUT_A660, CPS_LAYOUT_A7XX,
                                          CPS_LAYOUT_A7XX_GEN3, CPS_LAYOUT_A8XX};
#define EACH_LAYOUT(i)                        \
    size_t i = 0;                             \
    i < sizeof(layouts) / sizeof(layouts[0]); \
    i++

static struct bench *start(enum cps_layout layout, unsigned policy)
{
    unsigned table = layout == CPS_LAYOUT_A7XX_GEN3 || layout == CPS_LAYOUT_A8XX ? 0x70 : 0x60;
    char code[sizeof(firmware)];
    snprintf(code, sizeof(code), firmware, table, table + 1, table, table + 1, table + 1);
    struct bench *b = create(layout, code, "");
    b->engine->policy.waits = policy;
    cps_engine_sink(b->engine, &b->sink,
                    1u << CPS_EV_PKT | 1u << CPS_EV_WAIT | 1u << CPS_EV_ASSUME);
    machine_set(b->engine, CPS_FILE_MEMORY, WORD, 4);
    assert_int_equal(cps_engine_run(b->engine, 1000), CPS_STOP_IDLE);
    return b;
}

/* Counts, waits for register 0x8800 or for the word to be @p ref, counts. */
static void submit(struct bench *b, unsigned source, uint64_t at, uint32_t ref, uint32_t mask)
{
    const uint32_t words[] = {cps_pm4_type7(0x10, 1),
                              0,
                              cps_pm4_type7(WAIT_REG_MEM, 6),
                              3 | source << 4,
                              (uint32_t)at,
                              (uint32_t)(at >> 32),
                              ref,
                              mask,
                              0,
                              cps_pm4_type7(0x10, 1),
                              0};
    assert_true(machine_ring(b->engine, words, sizeof(words) / 4));
}

static uint32_t counted(struct bench *b)
{
    return machine_value(b->engine, 0, CPS_FILE_GENERAL, 9);
}

static void check_wait(struct bench *b, enum cps_stop stop, const struct cps_wait *expected)
{
    struct cps_wait wait;
    assert_true(cps_engine_waits_for(b->engine, stop, &wait));
    assert_int_equal(wait.what, expected->what);
    assert_int_equal(wait.address, expected->address);
    assert_int_equal(wait.value, expected->value);
    assert_int_equal(wait.reference, expected->reference);
    assert_int_equal(wait.mask, expected->mask);
    assert_int_equal(wait.function, expected->function);
    assert_int_equal(wait.header, expected->header);
    assert_int_equal(wait.core, 0);
    assert_int_equal(wait.pc, cps_engine_where(b->engine, 0).pc);
}

static void write_word(struct bench *b, uint32_t value)
{
    const struct cps_item item = {
        .kind = CPS_ITEM_DATA,
        .buffer = {.iova = WORD, .size = 4, .data = (const uint8_t *)&value}};
    assert_null(cps_engine_feed(b->engine, &item));
}

static void a_wait_on_memory_is_fields_and_ends_when_memory_changes(void **state)
{
    (void)state;
    for (EACH_LAYOUT(i)) {
        for (unsigned policy = CPS_WAITS_STOP; policy <= CPS_WAITS_REGISTERS; policy++) {
            struct bench *b = start(layouts[i], policy);
            submit(b, 1, WORD, 5, 0xff);
            struct cps_wait expected = {.what = CPS_WAIT_MEMORY,
                                        .address = WORD,
                                        .value = 4,
                                        .reference = 5,
                                        .mask = 0xff,
                                        .function = 3,
                                        .header = cps_pm4_type7(WAIT_REG_MEM, 6)};
            assert_int_equal(cps_engine_run(b->engine, 1000000), CPS_STOP_DEADLOCK);
            check_wait(b, CPS_STOP_DEADLOCK, &expected);
            assert_int_equal(counted(b), 1);
            /* Another value that does not end it; the wait is reported once. */
            write_word(b, 0x106);
            expected.value = 0x106;
            assert_int_equal(cps_engine_run(b->engine, 1000000), CPS_STOP_DEADLOCK);
            check_wait(b, CPS_STOP_DEADLOCK, &expected);
            assert_int_equal(bench_count(b, CPS_EV_WAIT), 1);
            assert_int_equal(bench_find(b, CPS_EV_WAIT, CPS_WAIT_MEMORY, 0)->value, 4);
            write_word(b, 0x705);
            assert_int_equal(cps_engine_run(b->engine, 1000000), CPS_STOP_IDLE);
            assert_int_equal(counted(b), 2);
            assert_int_equal(bench_count(b, CPS_EV_PKT), 3);
            assert_false(cps_engine_waits_for(b->engine, CPS_STOP_IDLE, &expected));
            bench_free(b);
        }
    }
}

static void a_wait_on_a_register_ends_by_policy(void **state)
{
    (void)state;
    for (EACH_LAYOUT(i)) {
        struct bench *b = start(layouts[i], CPS_WAITS_REGISTERS);
        submit(b, 0, 0x8800, 5, UINT32_MAX);
        assert_int_equal(cps_engine_run(b->engine, 1000000), CPS_STOP_IDLE);
        assert_int_equal(counted(b), 2);
        assert_int_equal(bench_find(b, CPS_EV_ASSUME, CPS_WHAT_WAIT, 0)->value, 5);
        bench_free(b);
        b = start(layouts[i], CPS_WAITS_STOP);
        submit(b, 0, 0x8800, 5, UINT32_MAX);
        assert_int_equal(cps_engine_run(b->engine, 1000000), CPS_STOP_DEADLOCK);
        check_wait(b, CPS_STOP_DEADLOCK,
                   &(struct cps_wait){.what = CPS_WAIT_REGISTER,
                                      .address = 0x8800,
                                      .reference = 5,
                                      .mask = UINT32_MAX,
                                      .function = 3,
                                      .header = cps_pm4_type7(WAIT_REG_MEM, 6)});
        bench_free(b);
    }
}

static void a_jump_to_itself_polls_nothing(void **state)
{
    (void)state;
    for (EACH_LAYOUT(i)) {
        struct bench *b = start(layouts[i], CPS_WAITS_REGISTERS);
        const uint32_t words[] = {cps_pm4_type7(0x11, 1), WORD};
        assert_true(machine_ring(b->engine, words, 2));
        assert_int_equal(cps_engine_run(b->engine, 1000000), CPS_STOP_DEADLOCK);
        check_wait(b, CPS_STOP_DEADLOCK,
                   &(struct cps_wait){.what = CPS_WAIT_LOOP, .header = words[0]});
        bench_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_on_memory_is_fields_and_ends_when_memory_changes),
        cmocka_unit_test(a_wait_on_a_register_ends_by_policy),
        cmocka_unit_test(a_jump_to_itself_polls_nothing),
    };
    return cmocka_run_group_tests_name("stop", tests, NULL, NULL);
}
