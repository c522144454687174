/* SPDX-License-Identifier: MIT
 * PFIFO: the DMA pusher, the policies, and what is said of the unknown. Rows are host accesses as
 * play() reads them. */
#include "tests/lib/pfifo_bench.h"

#define OBJECTS                                                                              \
    "2218=2000 2214=2200 ~800=80000000 ~804=c20341 ~810=80000001 ~814=c50342 ~820=80000002 " \
    "~824=460343 "

/* ---- the DMA pusher ---- */

static void test_dma(void **state)
{
    static const char setup[] =
        "3238=4000 ~4000=10000001 ~4004=20000001 @10000ff8=80000 @10000ffc=11 @20000000=22 "
        "@20000004=42300 @20000008=33 3230=fff000 3228=ff8 " OPEN "3220=1 ";
    static const struct {
        const char *name, *play;
        enum cps_unknown also;
    } rows[] = {
        {"two words of one header, the next page, a header of one",
         "~0?0 3224=14 3300?0 3304?11 3308?4 330c?22 3318?2300 331c?33 3210?8 3224?0 3228?100c "
         "3230?1000 3234?20000001",
         CPS_UNKNOWN_DMA_END},
        {"a page that is not there", "~4004=20000000 3224=14 2100?10000 3220?0 3228?1000 3210?4",
         CPS_UNKNOWN_DMA_MODEL},
        {"a full cache", "3210=40 3224=14 3228?ffc 3224?10 3270=4 3228?1000 3300?0",
         CPS_UNKNOWN_DMA_MODEL},
        {"no other channel gets CACHE1", "3210=40 3224=14 2500=1 3210=0 830100=1 ~1e00?10030100",
         CPS_UNKNOWN_DMA_MODEL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bench *b = bench_play(CPS_NV3, NULL, setup);
        print_message("# %s\n", rows[i].name);
        play(b, rows[i].play);
        assert_non_null(bench_unknown(b, CPS_UNKNOWN_DMA_MODEL));
        assert_non_null(bench_unknown(b, rows[i].also));
        bench_free(b);
    }
}

/* The header's format is that of DMA_STATE (rnndb): method 12:2, subchannel 15:13, count 28:18; all
 * other bits are 0 in NV4's (envytools' dma-pusher). A bit more in it raises DMA_PUSHER, bit 12,
 * puts ERROR into DMA_STATE (bit 30), and nothing of the batch goes on. */
static void malformed_headers_raise_dma_pusher(void **state)
{
    static const char setup[] =
        "3238=4000 ~4000=10000001 @10000004=11 @10000008=40200 @1000000c=22 "
        "3230=fff000 2140=11111 140=1 " OPEN "3220=1 ";
    (void)state;
    for (unsigned bit = 0; bit < 32; bit++) {
        bool known = (bit >= 2 && bit <= 15) || (bit >= 18 && bit <= 28);
        for (unsigned drops = 0; drops < 2; drops++) {
            struct bench *b = bench_play(CPS_NV3, drops ? "dma-header=drop" : NULL, setup);
            cps_bus_poke(b->bus, CPS_MEMORY_HOST, 0x10000000, 0x40100 | UINT32_C(1) << bit);
            play(b, "3224=10");
            bool good = known || drops;
            assert_int_equal(bench_read(b, 0x2100), good ? 0 : 0x1000);
            assert_int_equal(bench_read(b, 0x100), good ? 0 : 0x100);
            assert_int_equal(bench_read(b, 0x160), good);
            assert_int_equal(bench_read(b, 0x3220), good);
            assert_int_equal(bench_read(b, 0x3218) >> 30, !good);
            assert_int_equal(bench_read(b, 0x3228), good ? 0x10 : 4); /* behind the header */
            assert_int_equal(bench_read(b, 0x3224), good ? 0 : 0xc);
            assert_int_equal(bench_read(b, 0x3210) != 0,
                             good); /* something in CACHE1, or nothing */
            assert_int_equal(bench_unknown(b, CPS_UNKNOWN_DMA_HEADER) != NULL, !known);
            bench_free(b);
        }
    }
    /* The driver acknowledges, moves on to the next header, and the batch goes on. */
    struct bench *b = bench_play(CPS_NV3T, NULL, setup);
    play(b, "@10000000=80040100 3224=10 2100?1000 2100=1000 2100?0 100?0 160?1 3228=8 3224=8 "
            "3220=1 3228?10 3224?0 3400?200 3404?22 2100?0 3218?204");
    bench_free(b);
}

/* ---- policies ---- */

static void test_policies(void **state)
{
    struct bench *b = bench_play(CPS_NV3, "pull=run", OBJECTS OPEN "3240=1 800000=80000000 3214?0");
    (void)state;
    play(b, "800300=1 3270?0");
    assert_int_equal(nv_loop_(bench_nv(b), 1), CPS_STOP_BUDGET);
    play(b, "3270?4");
    assert_int_equal(bench_run(b), CPS_STOP_IDLE);
    play(b, "3214?10");
    expect_methods(b, "0=c20341 300=1");
    bench_free(b);
    /* A puller that waits for PGRAPH, and a host that switches it. */
    b = bench_play(CPS_NV3, "graph=wait",
                   "3204=1 " OPEN "~810=80000000 ~814=1c20341 3240=1 810000=80000000 3214?0");
    assert_int_equal(bench_run(b), CPS_STOP_DEADLOCK);
    play(b, "fffff80c=1 3214?10");
    expect_methods(b, "10000=c20341");
    bench_free(b);
    /* Or the timeline does. */
    b = bench_play(CPS_NV3, "graph=wait", OPEN "3280=c20341 fffff80c=5 3240=1");
    assert_null(cps_bus_schedule(b->bus, 100, false, 0xfffff80c, 0));
    play(b, "800100=7 3270?0");
    assert_int_equal(bench_run_to(b, 99), CPS_STOP_BUDGET);
    play(b, "3270?0");
    assert_int_equal(bench_run(b), CPS_STOP_IDLE);
    assert_int_equal(b->bus->bus.clock, 100);
    play(b, "3270?4");
    bench_free(b);
    b = bench_play(CPS_NV3, "graph=wait", OPEN "3280=c20341 fffff80c=5 3240=1 800100=7 3270?0");
    assert_int_equal(bench_run(b), CPS_STOP_DEADLOCK);
    play(b, "2800?5 fffff80c=0 3270?4 fffff80c?0");
    assert_int_equal(bench_run(b), CPS_STOP_IDLE);
    expect_methods(b, "100=7");
    bench_free(b);
    b = bench_play(CPS_NV3, "software-bind=update",
                   OBJECTS OPEN "3240=1 804000=80000002 32a0?460343");
    bench_free(b);
    /* NV3T's registers keep a seventh bit that a code of 6 does not have. */
    b = bench_play(CPS_NV3T, "nv3t-pointer=six",
                   OPEN "3280=c20341 3400=100 3240=1 3210=100 3214?10 3210=104 3270?4 3214?10");
    bench_free(b);
    struct cps_policy p = cps_policy_default();
    CPS_BUF text = {0};
    cps_policy_text(&p, CPS_NV1, &text);
    assert_string_equal(
        cps_buf_text(&text),
        "pull=push graph=follow software-bind=keep nv3t-pointer=seven dma-header=error");
}

/* ---- the unknown: each is said, with the place ---- */

#define BATCH "3238=4000 ~4000=10000001 @10000000=0 @10000004=0 3230=fff000 " OPEN "3220=1"
static void test_unknown(void **state)
{
    bool seen[CPS_UNKNOWN_COUNT] = {false};
    static const struct {
        enum cps_unknown what;
        enum cps_gen chip;
        const char *before, *last;
        bool stops;
    } rows[] = {
        {CPS_UNKNOWN_PFIFO_INITIAL, CPS_NV1, "", "2100?0", false},
        {CPS_UNKNOWN_PFIFO_OFF, CPS_NV1, "200=0", "3200=1", false},
        {CPS_UNKNOWN_WAIT_RETRY, CPS_NV1, "", "2040=1", false},
        {CPS_UNKNOWN_DEVICE_BITS, CPS_NV1, "", "2800?0", false},
        {CPS_UNKNOWN_CHID_BIT_8, CPS_NV3T, "", "3204=105", false},
        {CPS_UNKNOWN_PRAM_OVERLAP, CPS_NV1, "", "602200=2", false},
        {CPS_UNKNOWN_PASSWORD, CPS_NV1, OPEN, "800020=1", false},
        {CPS_UNKNOWN_USER_READ, CPS_NV1, OPEN, "800100?0", false},
        {CPS_UNKNOWN_FREE_NV3, CPS_NV3T, OPEN, "800010?7c", false},
        {CPS_UNKNOWN_RAMRO_LANES, CPS_NV3, OPEN, "b800100=1", false},
        {CPS_UNKNOWN_RUNOUT_LATCH, CPS_NV1, "800100=1", "2420=8", false},
        {CPS_UNKNOWN_RAMFC_NV3, CPS_NV3, OPEN "2500=1", "830100=1", false},
        {CPS_UNKNOWN_NV3T_POINTER, CPS_NV3T, OPEN, "800100=1", false},
        {CPS_UNKNOWN_NV1_RAMHT, CPS_NV1, OPEN "3240=1", "800000=1", true},
        {CPS_UNKNOWN_NV1_ENGINE, CPS_NV1, OPEN "3240=1", "800100=1", false},
        {CPS_UNKNOWN_PULL_STATE, CPS_NV3, OBJECTS OPEN "3240=1", "800000=80000000", false},
        {CPS_UNKNOWN_SOFTWARE_BIND, CPS_NV3, OBJECTS OPEN "3240=1", "800000=80000002", false},
        {CPS_UNKNOWN_ERROR_CLEAR, CPS_NV3, OPEN "3240=1 800100=1", "3240=1", false},
        {CPS_UNKNOWN_CACHE_PRIORITY, CPS_NV1, OPEN "3100=100 3030=4 800100=1 3040=1", "3240=1",
         false},
        {CPS_UNKNOWN_CACHE0_OBJECT, CPS_NV1, "3100=100 3030=4", "3040=1", false},
        {CPS_UNKNOWN_RESERVED_METHOD, CPS_NV1, "3100=40 3030=4", "3040=1", false},
        {CPS_UNKNOWN_GRAPH_SWITCH, CPS_NV1, "3210=2 " OPEN "3240=1", "820100=1", false},
        {CPS_UNKNOWN_DMA_TARGET, CPS_NV3, "", "322c=3", false},
        {CPS_UNKNOWN_DMA_TAG, CPS_NV3, "", "3230=1", false},
        {CPS_UNKNOWN_DMA_CTRL, CPS_NV3, "", "3220?0", false},
        {CPS_UNKNOWN_PFIFO_PART, CPS_NV3, "", "b2214=2", false},
        {CPS_UNKNOWN_DMA_MODEL, CPS_NV3, BATCH, "3224=8", false},
        {CPS_UNKNOWN_DMA_HEADER, CPS_NV3, BATCH " @10000000=20000000", "3224=8", false},
        {CPS_UNKNOWN_DMA_END, CPS_NV3, BATCH, "3224=8", false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bench *b =
            bench_play(rows[i].chip, rows[i].what == CPS_UNKNOWN_CACHE_PRIORITY ? "pull=run" : NULL,
                       rows[i].before);
        if (bench_unknown(b, rows[i].what))
            fail_msg("row %zu: said too early", i);
        play(b, rows[i].last);
        bench_run(b);
        const struct cps_event *event = bench_unknown(b, rows[i].what);
        if (!event)
            fail_msg("row %zu: not said", i);
        assert_int_equal(cps_event_kind(event), rows[i].stops ? CPS_EV_UNMODELLED : CPS_EV_ASSUME);
        assert_int_equal(cps_event_who(event), CPS_CPU_PFIFO);
        assert_int_equal(b->stop == CPS_STOP_FAULT, rows[i].stops);
        bench_free(b);
        seen[rows[i].what] = true;
    }
    for (unsigned what = CPS_UNKNOWN_PFIFO_INITIAL; what <= CPS_UNKNOWN_DMA_END; what++) {
        if (!seen[what])
            fail_msg("UNKNOWN %u has no row here", what);
    }
}

/* The place is that of the host's access, as the caller says it. */
static void test_place(void **state)
{
    static const struct cps_by line_77 = {CPS_CPU_HOST, CPS_PATH_HOST, 77};
    struct bench *b = bench_play(CPS_NV1, NULL, OPEN "3240=1");
    (void)state;
    cps_bus_write(b->bus, 0x800000, 1, &line_77);
    assert_int_equal(cps_event_pc(bench_unknown(b, CPS_UNKNOWN_NV1_RAMHT)), 77);
    bench_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dma),      cmocka_unit_test(malformed_headers_raise_dma_pusher),
        cmocka_unit_test(test_policies), cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
