/* SPDX-License-Identifier: MIT
 * What the driver does with the ring, word for word as the kernel's adreno driver has it:
 * a5xx_me_init(), a6xx_cp_init(), a7xx_cp_init(), a7xx_submit(). */
#include "emu/afuc/core/machine.h"
#include "isa/base/pm4.h"
#include "tests/lib/afuc_facts.h"

enum { CODE = 0x300000, INDIRECT_BUFFER = 0x3f };

static void assert_ring(struct bench *b, const uint32_t *words, unsigned count)
{
    const struct cps_afuc *machine = cps_afuc_of(b->engine);
    assert_int_equal(machine->ring_wptr, count);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(machine_memory(b->engine, machine->ring_iova + 4 * i, NULL), words[i]);
}

static void feed_kind(struct bench *b, enum cps_item_kind kind)
{
    const struct cps_item item = {.kind = kind, .stream = {.iova = CODE, .dwords = 3, .index = 7}};
    assert_null(cps_engine_feed(b->engine, &item));
}

/* CP_ME_INIT: which words follow (0x2f, or 0x4b), 3 several hardware contexts, 0x20000000 error
 * detection, no default reset; a7xx is first told to do without concurrent binning (BIT(27)), and
 * has an operation mask of 2. */
static const struct initial {
    enum cps_layout layout;
    unsigned count;
    uint32_t words[9];
} initial[] = {
    {CPS_LAYOUT_A5XX_PFP, 9, {0x70c80008, 0x2f, 3, 0x20000000, 0, 0, 0, 0, 0}},
    {CPS_LAYOUT_A6XX, 9, {0x70c80008, 0x2f, 3, 0x20000000, 0, 0, 0, 0, 0}},
    {CPS_LAYOUT_A7XX, 7, {0x70970001, 1u << 27, 0x70c80004, 0x4b, 3, 0x20000000, 2}},
    {CPS_LAYOUT_A7XX_GEN3, 7, {0x70970001, 1u << 27, 0x70c80004, 0x4b, 3, 0x20000000, 2}},
    {CPS_LAYOUT_A8XX, 7, {0x70970001, 1u << 27, 0x70c80004, 0x4b, 3, 0x20000000, 2}},
};

static void the_first_packets_are_the_kernels(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(initial) / sizeof(initial[0]); i++) {
        struct bench *b = create(initial[i].layout, "", "");
        feed_kind(b, CPS_ITEM_INIT);
        assert_ring(b, initial[i].words, initial[i].count);
        bench_free(b);
    }
}

/* A stream is called as an IB; from a7xx on BR alone (0) is told so in front of it, behind a
 * synchronisation (BIT(31), 1), and then both (3). */
static void a_submission_is_a_call(void **state)
{
    static const uint32_t late[] = {0x70970001, 0x80000001, 0x70970001, 3, 0x70bf8003, CODE, 0, 3};
    (void)state;
    for (unsigned layout = CPS_LAYOUT_A5XX_PFP; layout <= CPS_LAYOUT_A8XX; layout++) {
        if (layout == CPS_LAYOUT_A5XX_ME)
            continue;
        struct bench *b = create((enum cps_layout)layout, "", "");
        bool early = layout < CPS_LAYOUT_A7XX;
        machine_set(b->engine, CPS_FILE_MEMORY, CODE, 0);
        feed_kind(b, CPS_ITEM_SUBMIT);
        assert_ring(b, early ? late + 4 : late, early ? 4 : 8);
        assert_int_equal(cps_afuc_of(b->engine)->submission, 7);
        assert_int_equal(cps_afuc_of(b->engine)->submission_packets, 0);
        bench_free(b);
    }
}

/* Packet 0 of a submission is the one behind those by which the driver says which rings there are:
 * two, where a switch of rings was asked for. */
static void packets_of_a_submission_count_from_its_own_first(void **state)
{
    (void)state;
    for (unsigned wanted = 0; wanted < 2; wanted++) {
        struct bench *b = create(CPS_LAYOUT_A6XX, "", "");
        struct cps_afuc *machine = cps_afuc_of(b->engine);
        if (wanted)
            assert_true(cps_afuc_inject(machine, CPS_INJECT_SWITCH, 7, 0));
        feed_kind(b, CPS_ITEM_INIT);
        uint32_t before = machine->ring_wptr;
        machine_set(b->engine, CPS_FILE_MEMORY, CODE, 0);
        feed_kind(b, CPS_ITEM_SUBMIT);
        unsigned packets = 0;
        for (uint32_t at = before; at < machine->ring_wptr; packets++) {
            uint32_t header = machine_memory(b->engine, machine->ring_iova + 4 * at, NULL);
            if (header == cps_pm4_type7(INDIRECT_BUFFER, 3))
                break;
            at += 1 + cps_pm4_decode(header).count;
        }
        assert_int_equal(packets, wanted ? 2 : 0);
        assert_int_equal(machine->submission_packets, 0u - packets);
        bench_free(b);
    }
}

/* BR's CP_SET_PSEUDO_REG and its message, in front of the start (gen70900 0bb3..0bc8): memory of
 * 0x30000 bytes in front of the ring at 0x275, 2 at 0x263, the request at 0x271; nothing beside. */
static void an_aqe_finds_what_its_sqe_would_have_left(void **state)
{
    static const uint32_t expected[] = {0, 2, 0, 0, 1, 0, 0, 0xf7fd0000, 0x1ffff, 0};
    static const char code[] =
        "cread $04, [$00 + 0x262]\ncread $05, [$00 + 0x263]\ncread $06, [$00 + 0x264]\n"
        "cread $07, [$00 + 0x270]\ncread $08, [$00 + 0x271]\ncread $09, [$00 + 0x272]\n"
        "cread $0a, [$00 + 0x274]\ncread $0b, [$00 + 0x275]\ncread $0c, [$00 + 0x276]\n"
        "cread $0d, [$00 + 0x277]\n";
    (void)state;
    struct cps_asm program = bench_code("[01520001]\n[01000000]\n", code, CPS_A7XX);
    struct bench *b = bench_create(&(struct cps_config){.layout = CPS_LAYOUT_A7XX_GEN3,
                                                        .words = program.words + 1,
                                                        .count = program.count - 1,
                                                        .image = {{CPS_CPU_AQE, 0}},
                                                        .image_count = 1});
    bool known = false;
    b->program[0] = program;
    assert_int_equal(cps_engine_run(b->engine, 1000), CPS_STOP_IDLE);
    for (unsigned i = 0; i < 10; i++)
        assert_int_equal(machine_value(b->engine, 0, CPS_FILE_GENERAL, 4 + i), expected[i]);
    for (uint32_t at = 0; at < 0x30000; at += 0x1000 - 4) {
        assert_int_equal(machine_memory(b->engine, 0x1fffff7fd0000 + at, &known), 0);
        assert_true(known);
    }
    machine_memory(b->engine, 0x1fffff7fd0000 - 4, &known);
    assert_false(known);
    bench_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_packets_are_the_kernels),
        cmocka_unit_test(a_submission_is_a_call),
        cmocka_unit_test(packets_of_a_submission_count_from_its_own_first),
        cmocka_unit_test(an_aqe_finds_what_its_sqe_would_have_left),
    };
    return cmocka_run_group_tests_name("driver", tests, NULL, NULL);
}
