/* SPDX-License-Identifier: MIT
 * PFIFO: the test vectors of its reference, every line of the pusher's table, and what is said of
 * the unknown. Rows are host accesses as play() reads them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>

#include "tests/bench.h"
#include "emu/nv/pfifo.h"
#include "emu/nv/pfifo_ram.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const enum cps_gen chips[] = {CPS_NV1, CPS_NV3, CPS_NV3T};

static void write_part(struct bench *b, uint32_t addr, char width, uint32_t value)
{
    unsigned lane = addr & 3;
    unsigned lanes = width == 'b' ? 1u << lane : 3u << lane;
    cps_bus_write_lanes(b->bus, addr, lanes, value << 8 * lane, &bench_host);
}

/* One access: "800304=1" a write, "b800101=1" and "h800102=1" of a byte and a half, "2100?10" a
 * read and what it gives; with "~" in front of RAMIN and with "@" of the host's memory. */
static void access_one(struct bench *b, const char *text)
{
    char kind = *text;
    bool memory = kind == '~' || kind == '@';
    enum cps_bus_memory where = kind == '@' ? CPS_MEMORY_HOST : CPS_MEMORY_RAMIN;
    bool part = kind == 'h' || kind == 'b'; /* no address begins so */
    char *end = NULL;
    uint32_t addr = (uint32_t)strtoul(text + (memory || part), &end, 16);
    uint32_t value = (uint32_t)strtoul(end + 1, NULL, 16);
    if (*end == '?') {
        uint32_t got = memory ? cps_bus_peek(b->bus, where, addr, NULL) : bench_read(b, addr);
        if (got != value)
            fail_msg("%.20s: got 0x%x", text, (unsigned)got);
    } else if (memory) {
        cps_bus_poke(b->bus, where, addr, value);
    } else if (part) {
        write_part(b, addr, kind, value);
    } else {
        bench_write(b, addr, value);
    }
}

static void play(struct bench *b, const char *text)
{
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        access_one(b, text);
        text += strcspn(text, " ");
    }
}

static struct bench *bench_play(enum cps_gen chip, const char *policy, const char *text)
{
    struct bench *b = bench_new(chip, policy);
    play(b, text);
    return b;
}

/* "00002000=c20341 00002304=aa": what PGRAPH got. */
static void expect_methods(struct bench *b, const char *expected)
{
    CPS_BUF log = {0};
    size_t at = 0;
    const struct cps_event *event;
    while ((event = bench_find(b, CPS_EV_METHOD, 0, at))) {
        cps_buf_printf(&log, "%s%x=%x", log.size ? " " : "", (unsigned)event->addr, event->value);
        at = (size_t)(event - b->event) + 1;
    }
    assert_string_equal(cps_buf_text(&log), expected);
}

/* ---- the register map ---- */

static const struct {
    uint32_t gens;
    uint32_t first, count, stride;
    const char *name;
    uint32_t mask, seen;
    const char *read, *effect;
} map[] = {
#define PFIFO_REG(gens, first, count, stride, name, member, mask, seen, read, effect, evidence) \
    {gens, first, count, stride, name, mask, seen, #read, #effect},
#include "emu/nv/pfifo.def"
};

/* Every register of the map has its name, and no name is of another register. */
static void test_names(void **state)
{
    (void)state;
    for (size_t g = 0; g < COUNT(chips); g++) {
        struct cps_names *names = NULL;
        char name[48];
        assert_null(cps_names_create(cps_gen_layout(chips[g]), NULL, &names));
        for (size_t i = 0; i < COUNT(map); i++) {
            for (uint32_t n = 0; n < map[i].count && map[i].gens & cps_gen_bit(chips[g]); n++) {
                uint32_t found = 0;
                snprintf(name, sizeof(name), map[i].count > 1 ? "%s[%u]" : "%s", map[i].name,
                         (unsigned)n);
                assert_true(cps_name_number(names, CPS_SPACE_GPU, name, strlen(name), &found));
                assert_int_equal(found, map[i].first + n * map[i].stride);
                assert_string_equal(cps_name(names, CPS_SPACE_GPU, found, NULL), name);
            }
        }
        cps_names_destroy(names);
    }
}

/* No two rows of a chip have one address. */
static void test_map_is_disjoint(void **state)
{
    (void)state;
    for (size_t g = 0; g < COUNT(chips); g++) {
        uint8_t *seen = calloc(1, 0x2000);
        for (size_t i = 0; i < COUNT(map); i++) {
            for (uint32_t n = 0; n < map[i].count && map[i].gens & cps_gen_bit(chips[g]); n++) {
                uint32_t addr = map[i].first + n * map[i].stride;
                if (addr < 0x2000 || addr >= 0x4000)
                    continue;
                assert_int_equal(seen[addr - 0x2000], 0);
                seen[addr - 0x2000] = 1;
            }
        }
        free(seen);
    }
}

/* What can be written reads back, and nothing else; with what only the hardware sets, 0. */
static void test_masks(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(map); i++) {
        for (size_t g = 0; g < COUNT(chips); g++) {
            if (!(map[i].gens & cps_gen_bit(chips[g])) || strcmp(map[i].read, "STORED") != 0)
                continue;
            struct bench *b = bench_new(chips[g], NULL);
            uint32_t last = map[i].first + (map[i].count - 1) * map[i].stride;
            bench_write(b, last, UINT32_MAX);
            assert_int_equal(bench_read(b, last), map[i].mask & map[i].seen);
            bench_write(b, last, 0);
            assert_int_equal(bench_read(b, last), 0);
            bench_free(b);
        }
    }
}

/* Where a chip has no register, none behaves: reads of what nobody wrote are reported. */
static void test_holes(void **state)
{
    static const struct {
        enum cps_gen chip;
        uint32_t addr;
    } rows[] = {{CPS_NV1, 0x2210},  {CPS_NV1, 0x3204},  {CPS_NV1, 0x3220 - 0xc}, {CPS_NV1, 0x3400},
                {CPS_NV3, 0x3050},  {CPS_NV3, 0x3400},  {CPS_NV3, 0x602200},     {CPS_NV3T, 0x3300},
                {CPS_NV3T, 0x3050}, {CPS_NV3, 0x700000}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bench *b = bench_new(rows[i].chip, NULL);
        assert_int_equal(bench_read(b, rows[i].addr), 0);
        const struct cps_event *event = bench_find(b, CPS_EV_UNMODELLED, CPS_PLACE_GPU, 0);
        assert_non_null(event);
        assert_int_equal(event->addr, rows[i].addr);
        bench_free(b);
    }
}

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

#define OPEN "3200=1 "
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
    return (size_t)cps_bus_count(b->bus, CPS_EV_IRQ);
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

/* ---- NV1's windows ---- */

static void test_windows(void **state)
{
    (void)state;
    bench_free(bench_play(CPS_NV1, NULL,
                          "640000=1 641000?1 648000=2 648800?2 650000=3 650800?3 "
                          "~0?1 ~1800?2 ~1000?3 700004=4 640004?4"));
    bench_free(bench_play(CPS_NV1, NULL,
                          "602200=3 647ffc=1 64bffc=2 653ffc=3 ~7ffc?1 ~fffc?2 "
                          "~bffc?3 h70fffe=5555 64bffc?55550002 b70fffc=9 "
                          "64bffc?55550009"));
    /* Sub-word writes of registers keep the other bytes, and say so. */
    struct bench *b = bench_play(CPS_NV1, NULL, "3300=1234 b3300=8 3300?1208");
    write_part(b, 0x3301, 'b', 0xff);
    play(b, "3300?ff08 1500=11223344 b1501=55 h1502=6677 1500?66775544"); /* the last is nobody's */
    assert_non_null(bench_unknown(b, CPS_UNKNOWN_PFIFO_PART));
    bench_free(b);
}

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
        {"unknown bits of a header", "@10000ff8=e0080003 3224=8 3218?40004 3304?11",
         CPS_UNKNOWN_DMA_HEADER},
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
    assert_int_equal(cps_bus_clock(b->bus), 100);
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
    assert_string_equal(cps_buf_text(&text),
                        "pull=push graph=follow software-bind=keep nv3t-pointer=seven");
}

/* ---- the unknown: each is said, with the place ---- */

#define BATCH "3238=4000 ~4000=10000001 @10000000=20000000 @10000004=0 3230=fff000 " OPEN "3220=1"
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
        {CPS_UNKNOWN_DMA_HEADER, CPS_NV3, BATCH, "3224=8", false},
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

/* ---- whatever the host does ---- */

static uint64_t seed;
static uint32_t random32(void)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(seed >> 33) ^ (uint32_t)(seed << 5);
}

/* An address that does something, mostly. */
static uint32_t random_address(enum cps_gen chip)
{
    uint32_t r = random32();
    switch (r & 7) {
    case 0:
    case 1:
        return 0x800000 | (r >> 4 & 0x30000) | (random32() & 0xe3fc);
    case 2:
        return 0x800000 | (random32() & 0x7fffff);
    case 3:
        return chip == CPS_NV1 ? 0x640000 | (random32() & 0x1ffff) : 0x3000 | (r >> 8 & 0x7fc);
    case 4:
        return 0x2000 | (random32() & 0x1ffc);
    case 5:
        return r & 0x700 ? 0x3200 | (random32() & 0x7c) : r & 0x800 ? 0x602200 : 0x200;
    default: {
        const size_t row = random32() % COUNT(map);
        return map[row].first + random32() % map[row].count * map[row].stride;
    }
    }
}

static uint32_t random_value(void)
{
    uint32_t r = random32();
    return r & 1 ? r >> 8 & 0x1ff : r & 2 ? UINT32_MAX >> (r >> 8 & 31) : random32();
}

/* Pointers stay in their rings and what can only be in one state is. */
static void check_state(struct bench *b, enum cps_gen chip)
{
    uint64_t most = chip == CPS_NV3T ? 0x1fc : 0x7c;
    assert_true(!(bench_reg(b, "cache1.put") & ~most) && !(bench_reg(b, "cache1.get") & ~most));
    assert_true(!(bench_reg(b, "runout.put") & ~UINT64_C(0x3ff8)));
    assert_int_equal(bench_reg(b, "line"),
                     (bench_reg(b, "intr") & bench_reg(b, "intr_enable")) != 0);
    assert_true(bench_reg(b, "lost") <= bench_reg(b, "runouts"));
    assert_false(bench_reg(b, "latched") &&
                 bench_reg(b, "runout.put") == bench_reg(b, "runout.get"));
}

static void do_random(struct bench *b, enum cps_gen chip)
{
    uint32_t addr = random_address(chip);
    uint32_t what = random32() & 31;
    if (what < 6)
        bench_read(b, addr);
    else if (what < 8)
        cps_bus_write_lanes(b->bus, addr, 1 + random32() % 15, random32(), &bench_host);
    else if (what == 8)
        cps_bus_poke(b->bus, CPS_MEMORY_RAMIN, random32() & 0xffff, random_value());
    else if (what == 9 && !(random32() & 63))
        b->stop = nv_loop_(bench_nv(b), 1000);
    else
        bench_write(b, addr, random_value());
}

/* CPSCOPE_RANDOM says how many accesses; 10 million were made under sanitizers. */
static void test_random(void **state)
{
    static const char *const policies[] = {"", "pull=run", "graph=wait software-bind=update",
                                           "nv3t-pointer=six"};
    const char *text = getenv("CPSCOPE_RANDOM");
    uint64_t count = text ? strtoull(text, NULL, 10) : 300000;
    (void)state;
    for (uint64_t done = 0; done < count;) {
        seed = done + 1;
        enum cps_gen chip = chips[random32() % COUNT(chips)];
        struct bench *b = bench_new(chip, policies[random32() & 3]);
        cps_engine_sink(b->engine, NULL, 0);
        if (random32() & 3)
            play(b, "fffff800=7 fffff808=8d1234 fffff800=0 fffff808=0d1234 ");
        for (unsigned n = 0; n < 2000 && done < count; n++, done++) {
            do_random(b, chip);
            if (!(n & 63))
                check_state(b, chip);
        }
        bench_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),          cmocka_unit_test(test_map_is_disjoint),
        cmocka_unit_test(test_masks),          cmocka_unit_test(test_holes),
        cmocka_unit_test(test_gray_walks),     cmocka_unit_test(test_free_value),
        cmocka_unit_test(test_user_addresses), cmocka_unit_test(test_fill_and_run_out),
        cmocka_unit_test(test_fill_nv3t),      cmocka_unit_test(test_push_lines),
        cmocka_unit_test(test_user_read),      cmocka_unit_test(test_runout_ring),
        cmocka_unit_test(test_switch),         cmocka_unit_test(test_hash),
        cmocka_unit_test(test_driver_objects), cmocka_unit_test(test_puller),
        cmocka_unit_test(test_cache0),         cmocka_unit_test(test_nv1_objects),
        cmocka_unit_test(test_interrupts),     cmocka_unit_test(test_pmc_enable),
        cmocka_unit_test(test_windows),        cmocka_unit_test(test_dma),
        cmocka_unit_test(test_policies),       cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_place),          cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
