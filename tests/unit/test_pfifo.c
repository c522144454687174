/* SPDX-License-Identifier: MIT
 * PFIFO: the test vectors of its reference and every line of the pusher's table. Rows are host
 * accesses as play() reads them. */
#include "tests/lib/pfifo_bench.h"

/* ---- pointers ---- */

/* Vector 1, beyond the reference's lists with the formula's inverse. */
static void test_gray_walks(void **state)
{
    static const uint8_t list[] = {0x00, 0x04, 0x0c, 0x08, 0x18, 0x1c, 0x14, 0x10, 0x30, 0x34, 0x3c,
                                   0x38, 0x28, 0x2c, 0x24, 0x20, 0x60, 0x64, 0x6c, 0x68, 0x78, 0x7c,
                                   0x74, 0x70, 0x50, 0x54, 0x5c, 0x58, 0x48, 0x4c, 0x44, 0x40, 0xc0,
                                   0xc4, 0xcc, 0xc8, 0xd8, 0xdc, 0xd4, 0xd0, 0xf0, 0xf4, 0xfc, 0xf8,
                                   0xe8, 0xec, 0xe4, 0xe0, 0xa0, 0xa4, 0xac, 0xa8, 0xb8, 0xbc, 0xb4,
                                   0xb0, 0x90, 0x94, 0x9c, 0x98, 0x88, 0x8c, 0x84, 0x80};
    static const struct {
        enum cps_gen chip;
        const char *policy;
        unsigned steps, listed;
    } rows[] = {{CPS_NV1, NULL, 32, 32},
                {CPS_NV3, NULL, 32, 32},
                {CPS_NV3T, "nv3t-pointer=six", 64, 64},
                {CPS_NV3T, NULL, 128, 64}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bench *b = bench_new(rows[i].chip, rows[i].policy);
        uint32_t pointer = 0;
        for (unsigned n = 0; n < rows[i].steps; n++) {
            assert_int_equal(pfifo_binary_(pointer >> 2), n);
            if (n < rows[i].listed)
                assert_int_equal(pointer, list[n]);
            assert_int_equal(pfifo_entry_(bench_nv(b), pointer),
                             list[n % (rows[i].steps == 128 ? 64 : rows[i].listed)] >> 2);
            pointer = pfifo_next_(bench_nv(b), pointer);
        }
        assert_int_equal(pointer, 0);
        bench_free(b);
    }
}

/* Vectors 2 and 7, and section 3's order. */
static void test_free_value(void **state)
{
    static const struct {
        enum cps_gen chip;
        const char *play;
    } rows[] = {
        {CPS_NV1, "3200=1 800010?7c 3220?10"},
        {CPS_NV1, "3200=1 3230=04 800010?78"},
        {CPS_NV1, "3200=1 3230=0c 800010?74"},
        {CPS_NV1, "3200=1 3230=20 800010?40"},
        {CPS_NV1, "3200=1 3230=60 800010?3c"},
        {CPS_NV1, "3200=1 3230=44 800010?4"},
        {CPS_NV1, "3200=1 3230=40 800010?0 3220?100"},
        {CPS_NV1, "3200=1 3230=60 3270=60 800010?7c"},
        {CPS_NV1, "2200=2 3280=1000000 3200=1 800010?1fc 830010?7c 2410=8 830010?0"},
        {CPS_NV1, "2200=1 3280=1000000 3200=1 800010?fc 2200=3 800010?3fc 2200=0 800010?7c"},
        {CPS_NV1, "2200=2 32b0=1000000 3200=1 800010?7c 3250=3 800010?1fc"},
        {CPS_NV1, "3200=0 800010?7c 2420=8 800010?0"},
        {CPS_NV3, "3200=1 800010?7c 3210=40 800010?0"},
        {CPS_NV3T, "3200=1 800010?7c 3210=80 800010?4 3210=180 800010?0"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        bench_free(bench_play(rows[i].chip, NULL, rows[i].play));
}

/* Vector 3: where an address of USER lies. */
static void test_user_addresses(void **state)
{
    (void)state;
    bench_free(bench_play(CPS_NV1, NULL, "3200=1 3210=5 856304=1 3300?6304 3304?1"));
    bench_free(bench_play(CPS_NV1, NULL, "3200=1 3210=7f fffffc=2 3300?fffc 3304?2"));
}

/* Vector 4. */
static void test_fill_and_run_out(void **state)
{
    struct bench *b = bench_play(CPS_NV1, NULL, "3200=1");
    (void)state;
    for (uint32_t i = 0; i < 31; i++)
        bench_write(b, 0x802100 + 4 * i, i);
    play(b, "3230?40 3300?2100 3304?0 3308?2104 330c?1 3318?2108 331c?2 3310?210c 3314?3 "
            "3330?2110 3334?4 2100?0 3220?100");
    play(b, "802300=aa ~1000?30002300 ~1004?aa 2100?10 3220?101 800010?0");
    play(b, "802304=bb ~1008?20002304 ~100c?bb 2410?10");
    /* Order is kept: even with room, nothing gets past what ran out. */
    play(b, "3270=40 802308=cc ~1010?20002308 2420=18 3220?10 802308=dd 3230?0");
    assert_non_null(bench_unknown(b, CPS_UNKNOWN_RUNOUT_LATCH));
    bench_free(b);
}

/* All 64 entries of NV3T, or one less with pointers of 6 bits. */
static void test_fill_nv3t(void **state)
{
    static const struct {
        const char *policy;
        uint32_t room;
        const char *end;
    } rows[] = {{NULL, 64, "3214?100 3210?180"}, {"nv3t-pointer=six", 63, "3214?100 3210?80"}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bench *b = bench_play(CPS_NV3T, rows[i].policy, "3200=1");
        for (uint32_t n = 0; n < rows[i].room; n++)
            bench_write(b, 0x800100 + 4 * n, n);
        play(b, rows[i].end);
        play(b, "2100?0 800100=5 2100?10 ~1e00?30000100 ~1e04?5");
        for (uint32_t n = 0; n < rows[i].room; n++)
            assert_int_equal(bench_read(b, 0x3404 + 8 * (n ^ n >> 1)), n);
        bench_free(b);
    }
}

/* ---- the pusher's table: vectors 5 and 6, each line with what is next to it ---- */

static const struct {
    unsigned line; /* of pfifo.def */
    const char *play;
} pushes[] = {
    {1, OPEN "800024=5 3230?0 2410?0 2100?0 3220?10"},
    {1, OPEN "80002c=5 3230?0 2410?0 2100?0"},
    {1, OPEN "2500=1 830024=5 3210?0 2410?0 2100?0"},
    {1, "800024=5 2410?0 2100?0"}, /* PUSH_ACCESS is not asked */
    {2, OPEN "h800024=5 2410?8 2100?0 ~1000?0 3220?11"},
    {2, OPEN "b800027=5 2410?8 2100?0 ~1000?0 3220?11"},
    {2, OPEN "830024=5 2410?8 2100?0 ~1000?0 3220?10"},
    {2, OPEN "2500=1 3230=4 830024=5 2410?8 2100?0 3220?0"},
    {2, OPEN "2500=1 2410=10 830024=5 2410?18 2100?0"},
    {3, OPEN "800010=1 ~1000?50000010 ~1004?1 2100?10 3220?11"},
    {3, OPEN "80001c=1 ~1000?5000001c 2100?10"},
    {3, OPEN "h800010=1 ~1000?50000010"},
    {3, OPEN "h800012=1 ~1000?50000012 ~1004?10000"},
    {4, OPEN "h800011=1 ~1000?00000011 ~1004?100"},
    {4, OPEN "b800010=1 ~1000?00000010"},
    {4, OPEN "b800100=1 ~1000?00000100 ~1004?1"},
    {4, OPEN "b800103=1 ~1000?00000103 ~1004?1000000"},
    {4, OPEN "h800042=1 ~1000?00000042"},
    {5, OPEN "800040=1 ~1000?50000040 2100?10"},
    {5, OPEN "800004=1 ~1000?50000004"},
    {5, OPEN "8000fc=1 ~1000?500000fc"},
    {5, "800040=1 ~1000?50000040"},
    {6, "800100=1 ~1000?10000100 2100?10 3220?11"},
    {6, "830100=1 ~1000?10030100 2100?10 3220?10"},
    {7, OPEN "3000=1 800100=1 ~1000?10000100 3230?0"},
    {7, OPEN "2500=1 3000=1 3010=3 830100=1 ~1000?10030100 3210?0"},
    {8, OPEN "830100=1 ~1000?10030100 ~1004?1 2100?10 3220?10"},
    {8, OPEN "2500=1 3230=4 830100=1 ~1000?10030100 3220?0"},
    {8, OPEN "2500=1 2410=8 2420=0 830100=1 ~1008?10030100 3220?10"},
    {9, OPEN "2500=1 830100=1 3210?3 3230?4 3300?100 3304?1 2100?0"},
    {10, OPEN "800040=1 800100=1 ~1008?20000100 3230?0"},
    {11, OPEN "3230=40 800100=1 ~1000?30000100 3220?101"},
    {11, OPEN "3280=1000000 3230=40 800100=1 ~1000?40000100"},
    {11, OPEN "32a0=1000000 3230=40 800100=1 ~1000?30000100"},
    {11, OPEN "32a0=1000000 3250=2 3230=40 800100=1 ~1000?40000100"},
    {12, OPEN "800000=1 3300?0 3304?1 3230?4 2100?0"},
    {12, OPEN "801ffc=1 3300?1ffc 3230?4"},
    {12, OPEN "3000=1 3010=3 800100=1 3300?100"},
};

static void test_push_lines(void **state)
{
    static const unsigned lines[] = {
#define PFIFO_PUSH(line, ...) line,
#include "emu/nv/pfifo.def"
    };
    unsigned seen = 0;
    (void)state;
    for (size_t i = 0; i < COUNT(pushes); i++) {
        bench_free(bench_play(CPS_NV1, NULL, pushes[i].play));
        seen |= 1u << pushes[i].line;
    }
    for (size_t i = 0; i < COUNT(lines); i++) {
        assert_int_equal(lines[i], i + 1);
        assert_true(seen >> lines[i] & 1);
    }
}

/* Reading anything but FREE is a runout of another type. */
static void test_user_read(void **state)
{
    struct bench *b = bench_play(CPS_NV1, NULL, OPEN "800104?0 ~1000?00800104 2100?10 3220?11");
    (void)state;
    assert_non_null(bench_unknown(b, CPS_UNKNOWN_USER_READ));
    /* Whoever only looks changes nothing. */
    assert_int_equal(cps_bus_effective(b->bus, 0x800104), 0);
    play(b, "2410?8");
    bench_free(b);
}

/* Vector 9, and a ring of NV3. */
static void test_runout_ring(void **state)
{
    static const struct {
        enum cps_gen chip;
        const char *play;
    } rows[] = {
        {CPS_NV1, "2410=7f8 2420=8 800100=1 2410?0 ~17f8?10000100 2100?10 2400?101"},
        {CPS_NV1, "602200=3 2410=3ff8 2420=8 800100=1 2410?0 ~bff8?10000100 2400?101"},
        {CPS_NV1, "602200=1 2410=ff8 2420=8 800100=1 2410?0 ~2ff8?10000100"},
        {CPS_NV1, "2410=7f8 2420=0 800100=1 2410?7f8 2100?110 ~17f8?0 ~17fc?0 2400?101"},
        {CPS_NV1, "2410=7f8 2420=0 h800024=1 2410?7f8 2100?0"},
        {CPS_NV1, "2400?10 2410=8 2400?1 2420=8 2400?10"},
        {CPS_NV3, "2218=1e00 2410=1f8 2420=8 800100=1 2410?0 ~1ff8?10000100"},
        {CPS_NV3, "2218=12000 2410=1ff8 2420=8 800100=1 2410?0 ~3ff8?10000100"},
        {CPS_NV3, "2410=1f8 2420=0 800100=1 2410?1f8 2100?110"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        bench_free(bench_play(rows[i].chip, NULL, rows[i].play));
}

/* ---- channel switch: vector 8 ---- */

#define CHANNEL_5                                                                     \
    OPEN "2500=1 3210=5 3280=420011 3290=420012 32a0=420013 32b0=420014 32c0=420015 " \
         "32d0=420016 32e0=420017 32f0=420018 "                                       \
         "~1920=a0c50342 ~1924=11 ~1928=22 ~192c=33 ~1930=44 ~1934=55 ~1938=66 ~193c=77 "
#define CHANNEL_9                                                                          \
    "3210?9 3280?450342 3290?11 32a0?22 32b0?33 32c0?44 32d0?55 32e0?66 32f0?77 3250?102 " \
    "3300?100 3230?4 "

static void test_switch(void **state)
{
    (void)state;
    bench_free(bench_play(CPS_NV1, NULL,
                          CHANNEL_5 "3250=103 890100=1 ~18a0?b0420011 ~18a4?0 ~18bc?0 " CHANNEL_9));
    bench_free(bench_play(CPS_NV1, NULL,
                          CHANNEL_5 "3250=113 890100=1 ~18a0?b0420011 ~18a4?b0420012 "
                                    "~18b0?b0420015 ~18bc?b0420018 " CHANNEL_9));
    /* 64 channels fit into the smallest RAMFC. */
    bench_free(bench_play(CPS_NV1, NULL,
                          OPEN "2500=1 3280=1 c10100=1 3210?41 3280=77 3270=4 800100=2 "
                               "3210?0 3280?1 ~1820?77"));
    struct bench *b = bench_play(CPS_NV3, NULL,
                                 OPEN "2500=1 2214=2200 3280=c20341 3250=10 ~2260=d00345 "
                                      "830100=1 ~2200?c20341 3204?3 3280?d00345 3250?0");
    assert_non_null(bench_unknown(b, CPS_UNKNOWN_RAMFC_NV3));
    bench_free(b);
}

/* ---- objects: vector 10 ---- */

static const struct {
    uint32_t handle, context, offset;
} objects[] = {
    {0x80000000, 0x00c20341, 0x0800}, {0x80000001, 0x00c50342, 0x0810},
    {0x80000002, 0x00c60343, 0x0820}, {0x80000003, 0x00dc0348, 0x0830},
    {0x80000004, 0x00dc0349, 0x0840}, {0x80000005, 0x00dc034a, 0x0850},
    {0x80000006, 0x00dc034b, 0x0860}, {0x80000010, 0x00d10344, 0x0900},
    {0x80000011, 0x00d00345, 0x0910}, {0x80000012, 0x00cc0346, 0x0920},
    {0x80000013, 0x00d70347, 0x0930}, {0x80000016, 0x00ca034c, 0x0960},
};

static void test_hash(void **state)
{
    static const struct {
        uint32_t handle, channel, size, offset;
    } more[] = {{0x12345678, 0, 0x1000, 0x0080},
                {0x12345678, 5, 0x1000, 0x00d0},
                {0x12345678, 5, 0x2000, 0x01a0},
                {0xdeadbeef, 1, 0x8000, 0x1180},
                {0xbeef0201, 0x7f, 0x4000, 0x0b40}};
    (void)state;
    for (size_t i = 0; i < COUNT(objects); i++)
        assert_int_equal(pfifo_hash_(objects[i].handle, 0, 0x1000), objects[i].offset);
    for (size_t i = 0; i < COUNT(more); i++)
        assert_int_equal(pfifo_hash_(more[i].handle, more[i].channel, more[i].size),
                         more[i].offset);
}

/* A driver's set-up: all 12 objects bound, from either place of a bucket. */
static void test_driver_objects(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(objects); i++) {
        for (unsigned place = 0; place < 3; place++) {
            struct bench *b =
                bench_play(CPS_NV3, NULL, "2210=0 2214=2200 2218=2000 " OPEN "3240=1");
            char expected[32];
            cps_bus_poke(b->bus, CPS_MEMORY_RAMIN, objects[i].offset + 8 * place,
                         objects[i].handle);
            cps_bus_poke(b->bus, CPS_MEMORY_RAMIN, objects[i].offset + 8 * place + 4,
                         objects[i].context);
            bench_write(b, 0x802000, objects[i].handle);
            snprintf(expected, sizeof(expected), "2000=%x", (unsigned)objects[i].context);
            expect_methods(b, place < 2 ? expected : "");
            play(b, place < 2 ? "3240?1 2100?0" : "3240?10 2100?1");
            bench_free(b);
        }
    }
}

/* ---- the puller ---- */

#define OBJECTS                                                                              \
    "2218=2000 2214=2200 ~800=80000000 ~804=c20341 ~810=80000001 ~814=c50342 ~820=80000002 " \
    "~824=460343 "
static void test_puller(void **state)
{
    static const struct {
        const char *name, *play, *methods;
    } rows[] = {
        {"bind and methods", "800000=80000000 800300=11 801ffc=12 3210?8 3270?8 3214?10",
         "0=c20341 300=11 1ffc=12"},
        {"the object is sent again for another subchannel",
         "800000=80000000 802000=80000001 800300=1 800304=2 802300=3",
         "0=c20341 2000=c50342 0=c20341 300=1 304=2 2000=c50342 2300=3"},
        {"no entry", "800000=99 3240?10 2080?10 2100?1 3270?0 800300=1 3270?0", ""},
        {"an object of software", "800000=80000002 3240?100 2080?10 2100?1 3280?0 3270?0", ""},
        {"a method for software", "800300=1 3240?100 2080?10 2100?1 3270?0", ""},
        {"the driver repairs and goes on",
         "800300=1 800304=2 3280=c20341 3240=1 2080?0 3240?1 3214?10", "300=1 304=2"},
        {"the driver skips", "800000=99 800000=80000000 3270=4 3240=1 3214?10", "0=c20341"},
        {"the bind shows in CTX", "802000=80000001 3290?c50342 3250?10", "2000=c50342"},
        {"the puller is off", "3240=0 800000=80000000 3214?0 3240=1 3214?10", "0=c20341"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bench *b = bench_play(CPS_NV3, NULL, OBJECTS OPEN "3240=1");
        /* The walk of the pointer is in the first row: 3 commands are 08, not 0c. */
        print_message("# %s\n", rows[i].name);
        play(b, rows[i].play);
        expect_methods(b, rows[i].methods);
        bench_free(b);
    }
}

/* The driver's side cache: one command of its own. */
static void test_cache0(void **state)
{
    struct bench *b = bench_play(CPS_NV3, NULL,
                                 OBJECTS "3004=7 3080=d00345 3014?10 3100=2304 "
                                         "3104=aa 3010=4 3014?100 3040=1 3014?10 "
                                         "3070?4");
    (void)state;
    expect_methods(b, "72304=aa");
    assert_non_null(bench_unknown(b, CPS_UNKNOWN_CACHE0_OBJECT));
    /* A software object: the error is CACHE0's. */
    play(b, "3080=500345 3010=0 3040?100 2080?1 2100?1 3070?4");
    bench_free(b);
    /* A bind of what is not in RAMHT: the hash failed, and the command stays. */
    bench_free(bench_play(CPS_NV3, NULL,
                          OBJECTS "3004=7 3100=2000 3104=deadbeef 3010=4 3040=1 3040?10 2080?1 "
                                  "2100?1 3070?0"));
}

/* What RAMHT of NV1 finds is not known: the run file says it, or the engine stops. */
static void test_nv1_objects(void **state)
{
    struct bench *b = bench_play(CPS_NV1, NULL, OPEN "3240=1 800000=7");
    const struct cps_event *stop = bench_unknown(b, CPS_UNKNOWN_NV1_RAMHT);
    (void)state;
    assert_non_null(stop);
    assert_int_equal(cps_event_kind(stop), CPS_EV_UNMODELLED);
    assert_int_equal(bench_run(b), CPS_STOP_FAULT);
    play(b, "3270?0");
    bench_free(b);
    b = bench_play(CPS_NV1, NULL,
                   "fffff800=7 fffff804=0 fffff808=8d1234 " OPEN
                   "3240=1 802000=7 802400=5 3290?d1234 3250?111 "
                   "32b0=1000042 806100=6 802500=7"); /* FREE_LIE is the pusher's own */
    expect_methods(b, "2000=8d1234 2400=5 6000=42 6100=6 2000=d1234 2500=7");
    assert_non_null(bench_unknown(b, CPS_UNKNOWN_NV1_ENGINE));
    play(b, "802000=8 3240?10 2080?10 2100?1");
    bench_free(b);
}

/* ---- interrupts ---- */

static size_t count_irqs(struct bench *b)
{
    return (size_t)b->bus->engine.tap.count[CPS_EV_IRQ];
}

/* Pending whether enabled or not; the line is what is both. */
static void test_interrupts(void **state)
{
    struct bench *b = bench_play(CPS_NV1, NULL, "800100=1 2100?10");
    (void)state;
    assert_int_equal(bench_reg(b, "line"), 0);
    assert_int_equal(count_irqs(b), 0);
    play(b, "2140=110");
    assert_int_equal(bench_reg(b, "line"), 1);
    assert_int_equal(count_irqs(b), 1);
    play(b, "2100=1 2100?10 2140=101");
    assert_int_equal(bench_reg(b, "line"), 0);
    play(b, "2140=111 2100=10 2100?0");
    assert_int_equal(bench_reg(b, "line"), 0);
    assert_int_equal(count_irqs(b), 2);
    /* Raised again while it is pending: nothing new to tell. */
    play(b, "800100=1 800100=1 2100?10");
    assert_int_equal(count_irqs(b), 3);
    play(b, "2100=ffffffff 2100?0 2410=7f8 2420=0 800100=1 2100?110");
    assert_int_equal(count_irqs(b), 5);
    bench_free(b);
    /* The database's name and the seed's are one number. */
    b = bench_play(CPS_NV3, NULL,
                   "2140=ffffffff 2140?11111 3228=0 3224=4 3200=1 3220=1 2100?10000 "
                   "2100=10000 2100?0");
    bench_free(b);
}

/* Clearing bit 8 of PMC.ENABLE clears its list and nothing else. */
static void test_pmc_enable(void **state)
{
    static const struct {
        enum cps_gen chip;
        const char *play;
    } rows[] = {
        {CPS_NV1, "2040=ff 2140=111 2200=3 2500=1 3000=1 3010=5 3030=4 3040=1 3200=1 3210=6 3230=4 "
                  "3240=1 3250=117 3280=7 3300=100 2410=8 800040=1 200=0 2040?0 2140?0 2500?0 "
                  "3000?0 3040?0 3200?0 3240?0 2200?3 3010?5 3030?4 3210?6 3280?7 3300?100 "
                  "2410?10 2100?10"},
        {CPS_NV3, "2210=10000 2214=2200 2218=2000 3250=10 3224=8 3220=1 2200=300 200=ffffffff "
                  "2210?10000 200=fffffeff 2210?0 2214?1c00 2218?1e00 3250?0 3220?0 3224?8 "
                  "2200?300"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bench *b = bench_play(rows[i].chip, NULL, rows[i].play);
        assert_int_equal(bench_reg(b, "line"), 0);
        bench_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gray_walks),     cmocka_unit_test(test_free_value),
        cmocka_unit_test(test_user_addresses), cmocka_unit_test(test_fill_and_run_out),
        cmocka_unit_test(test_fill_nv3t),      cmocka_unit_test(test_push_lines),
        cmocka_unit_test(test_user_read),      cmocka_unit_test(test_runout_ring),
        cmocka_unit_test(test_switch),         cmocka_unit_test(test_hash),
        cmocka_unit_test(test_driver_objects), cmocka_unit_test(test_puller),
        cmocka_unit_test(test_cache0),         cmocka_unit_test(test_nv1_objects),
        cmocka_unit_test(test_interrupts),     cmocka_unit_test(test_pmc_enable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
