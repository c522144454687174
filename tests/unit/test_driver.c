/* SPDX-License-Identifier: MIT
 * What the driver does with the ring, word for word as the kernel's adreno driver has it:
 * a5xx_me_init(), a6xx_cp_init(), a7xx_cp_init(), a5xx_submit(), a6xx_submit(), a7xx_submit(),
 * a6xx_set_pagetable(). */
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

/* ---- the ring with `ring=msm` ---- */

/* Packets of the ring, whose headers have a bit that makes the number of ones odd. */
#define EVEN(v) (0x9669u >> (((v) ^ (v) >> 4 ^ (v) >> 8 ^ (v) >> 12 ^ (v) >> 16) & 15) & 1)
#define P7(opcode, count) \
    (7u << 28 | EVEN(opcode) << 23 | (opcode) << 16 | EVEN(count) << 15 | (count))
#define P4(reg, count) (4u << 28 | EVEN(reg) << 27 | (reg) << 8 | EVEN(count) << 7 | (count))
#define FENCE_AT       0xfc000004u, 0x1ffffu
#define BV_FENCE_AT    0xfc00000cu, 0x1ffffu
#define CALL           P7(0x3f, 3), CODE, 0, 3
/* Two registers as one number, into the statistics of submission 1. */
#define STAMP(reg, at) P7(0x3e, 3), 0x40080000u | (reg), 0xfc000010u + (at), 0x1ffffu

/* clang-format off */
/* a5xx_submit(): its preemption record is none, and the page table is not switched. */
static const uint32_t ring_a5xx[] = {
    P7(0x69, 1), 2, P7(0x5f, 1), 0, P4(0x83e, 2), 0, 0, P7(0x5f, 1), 1, P7(0x6a, 1), 1,
    P7(0x1c, 1), 2, CALL, P7(0x6c, 5), 0, 0, 0, 0, 0, P7(0x1c, 1), 1, P4(0xb7a, 1), 1,
    P7(0x46, 4), 0x80000004, FENCE_AT, 1, P7(0x6b, 4), 0, 0, 1, 1,
};
/* a6xx_submit() behind a6xx_set_pagetable() of context 3. */
static const uint32_t ring_a6xx[] = {
    P7(0x5f, 1), 0, P4(0x50e, 1), 1, P7(0x53, 4), 0x3000, 3 << 16, 0, 0,
    P7(0x3d, 5), 0xfc000810, 0x1ffff, 0x3000, 0, 3, P7(0x46, 1), 49,
    P7(0x3c, 6), 3, 0x50f, 0, 1, 1, 0, P7(0x5f, 1), 1,
    STAMP(0x400, 32), STAMP(0x982, 48), P7(0x46, 1), 24, P7(0x46, 1), 25, CALL,
    STAMP(0x400, 40), STAMP(0x982, 56), P4(0x885, 1), 1, P7(0x46, 4), 0x80000004, FENCE_AT, 1,
};
/* a7xx_submit(), of a7xx and a8xx. */
#define SWITCH_BEGIN                                                                            \
    P7(0x17, 1), 0x80000001, P7(0x14, 4), 0, FENCE_AT, 0, P7(0x17, 1), 0x80000003, P7(0x1f, 1), \
    0xf, P7(0x17, 1), 0x80000003, P7(0x46, 1), 38, P7(0x17, 1), 0x80000001
#define SWITCH_END(status)                                                                      \
    P7(0x53, 4), 0x3000, 3 << 16, 0, 0, P7(0x3d, 5), 0xfc000810, 0x1ffff, 0x3000, 0, 3,         \
    P7(0x17, 1), 0x80000001, P7(0x46, 1), 49, P7(0x3c, 6), 3, status, 0, 1, 1, 0
#define LATE_END(scratch)                                                                       \
    P4(scratch, 1), 1, P7(0x17, 1), 1, P7(0x46, 1), 24, P7(0x46, 1), 25, P7(0x17, 1), 2,        \
    P7(0x46, 4), 1 << 27 | 49, BV_FENCE_AT, 1, P7(0x17, 1), 1, P7(0x14, 4), 0, BV_FENCE_AT, 1,  \
    P7(0x46, 4), 1u << 31 | 1 << 27 | 49, FENCE_AT, 1, P7(0x17, 1), 3, P7(0x65, 1), 0x100
static const uint32_t ring_a7xx[] = {
    SWITCH_BEGIN, P4(0x50e, 1), 1, SWITCH_END(0x50f), STAMP(0x300, 32), STAMP(0x982, 48),
    P7(0x17, 1), 3, P7(0x65, 1), 0x101, CALL, STAMP(0x300, 40), STAMP(0x982, 56), LATE_END(0x885),
};
static const uint32_t ring_a8xx[] = {
    SWITCH_BEGIN, P4(0x449, 1), 1, P4(0x5e8, 1), 1, SWITCH_END(0x19f), STAMP(0x1b0, 32),
    STAMP(0x8e9, 48), P7(0x17, 1), 3, P7(0x65, 1), 0x101, CALL, STAMP(0x1b0, 40),
    STAMP(0x8e9, 56), LATE_END(0x82c),
};
/* clang-format on */
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
    enum cps_layout layout;
    const uint32_t *words;
    unsigned count;
} msm_rings[] = {
    {CPS_LAYOUT_A5XX_PFP, ring_a5xx, COUNT(ring_a5xx)},
    {CPS_LAYOUT_A6XX, ring_a6xx, COUNT(ring_a6xx)},
    {CPS_LAYOUT_A7XX, ring_a7xx, COUNT(ring_a7xx)},
    {CPS_LAYOUT_A8XX, ring_a8xx, COUNT(ring_a8xx)},
};

static struct bench *create_msm(enum cps_layout layout)
{
    struct bench *b = create(layout, "", "");
    b->engine->policy.ring = CPS_RING_MSM;
    machine_set(b->engine, CPS_FILE_MEMORY, CODE, 0);
    return b;
}

static void feed_stream(struct bench *b, uint32_t context)
{
    const struct cps_item item = {.kind = CPS_ITEM_SUBMIT,
                                  .stream = {.iova = CODE, .dwords = 3, .context = context}};
    assert_null(cps_engine_feed(b->engine, &item));
}

static void feed_fence(struct bench *b, uint32_t seqno)
{
    const struct cps_item item = {.kind = CPS_ITEM_FENCE, .fence = {.seqno = seqno}};
    assert_null(cps_engine_feed(b->engine, &item));
}

static void msm_writes_the_ring_of_the_kernel(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(msm_rings); i++) {
        struct bench *b = create_msm(msm_rings[i].layout);
        feed_stream(b, 3);
        feed_fence(b, 1);
        assert_ring(b, msm_rings[i].words, msm_rings[i].count);
        bench_free(b);
    }
}

/* Packets in the ring from dword @p at on whose header is this one. */
static unsigned count_packets(struct bench *b, uint32_t at, uint32_t header)
{
    const struct cps_afuc *machine = cps_afuc_of(b->engine);
    unsigned count = 0;
    while (at < machine->ring_wptr) {
        uint32_t word = machine_memory(b->engine, machine->ring_iova + 4 * at, NULL);
        count += word == header;
        at += 1 + cps_pm4_decode(word).count;
    }
    return count;
}

/* Context 0 is whatever it was; a stream after the first one, and a submission without streams,
 * belong to a submission as well. */
static void the_page_table_is_switched_when_the_context_changes(void **state)
{
    static const struct {
        uint32_t context;
        unsigned switches;
    } rows[] = {{0, 0}, {1, 1}, {1, 0}, {0, 0}, {1, 0}, {2, 1}, {1, 1}};
    (void)state;
    struct bench *b = create_msm(CPS_LAYOUT_A6XX);
    const struct cps_afuc *machine = cps_afuc_of(b->engine);
    for (uint32_t i = 0; i < COUNT(rows); i++) {
        uint32_t before = machine->ring_wptr;
        feed_stream(b, rows[i].context);
        feed_stream(b, rows[i].context);
        feed_fence(b, i + 1);
        assert_int_equal(count_packets(b, before, P7(0x53, 4)), rows[i].switches);
        assert_int_equal(count_packets(b, before, P7(0x3f, 3)), 2);
        assert_int_equal(count_packets(b, before, P7(0x46, 4)), 1);
    }
    uint32_t before = machine->ring_wptr;
    feed_fence(b, 99);
    assert_int_equal(count_packets(b, before, P7(0x3f, 3)), 0);
    assert_int_equal(count_packets(b, before, P7(0x3e, 3)), 4);
    bench_free(b);
}

static void a_fence_is_nothing_where_the_ring_has_calls_only(void **state)
{
    (void)state;
    struct bench *b = create(CPS_LAYOUT_A6XX, "", "");
    feed_fence(b, 1);
    assert_int_equal(cps_afuc_of(b->engine)->ring_wptr, 0);
    assert_int_equal(cps_afuc_fence(cps_afuc_of(b->engine), 0), 0);
    bench_free(b);
}

/* Nobody runs the engine: what it has not read is not overwritten. */
static void a_full_ring_is_an_error(void **state)
{
    (void)state;
    struct bench *b = create_msm(CPS_LAYOUT_A6XX);
    const struct cps_item item = {.kind = CPS_ITEM_SUBMIT, .stream = {.iova = CODE, .dwords = 3}};
    struct cps_err *err = NULL;
    cps_engine_run(b->engine, 1000);
    unsigned streams = 0;
    while (!(err = cps_engine_feed(b->engine, &item)) && streams < 4096)
        streams++;
    assert_non_null(err);
    assert_string_equal(err->message,
                        "the ring has no room for 4 dwords, expected a run after each stream");
    assert_true(4 * streams < 8192 && 4 * streams > 8192 - 64);
    cps_err_free(err);
    bench_free(b);
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
        cmocka_unit_test(msm_writes_the_ring_of_the_kernel),
        cmocka_unit_test(the_page_table_is_switched_when_the_context_changes),
        cmocka_unit_test(a_fence_is_nothing_where_the_ring_has_calls_only),
        cmocka_unit_test(a_full_ring_is_an_error),
        cmocka_unit_test(an_aqe_finds_what_its_sqe_would_have_left),
    };
    return cmocka_run_group_tests_name("driver", tests, NULL, NULL);
}
