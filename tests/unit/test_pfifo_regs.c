/* SPDX-License-Identifier: MIT
 * PFIFO's register map and windows, and whatever a host does to them. Rows are host accesses as
 * play() reads them. */
#include "tests/pfifo_bench.h"

static const enum cps_gen chips[] = {CPS_NV1, CPS_NV3, CPS_NV3T};

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

/* ---- PMC ---- */

/* PFIFO's line is PMC's interrupt 8: pending and enabled. PMC's own enable has a bit for hardware,
 * one for software, whose interrupt is bit 31; the card's line reads 0 while it is active. */
static void pfifo_is_interrupt_8_of_pmc(void **state)
{
    (void)state;
    for (size_t g = 0; g < COUNT(chips); g++) {
        struct bench *b = bench_play(chips[g], NULL, "100?0 140?0 160?1");
        assert_int_equal(bench_unknowns(b), 0);       /* PMC is no part of PFIFO */
        play(b, OPEN "800040=1 2100?10 100?0 160?1"); /* ran out, and is not enabled */
        play(b, "2140=10 100?100 160?1 140=2 160?1 140=1 160?0 100=0 100?100"); /* read only */
        play(b, "2140=100 100?0 160?1 2140=110 100?100 160?0 2100=10 100?0 160?1");
        play(b, "100=ffffffff 100?80000000 160?1 140=2 160?0 100=0 100?0 160?1 140=ffffffff 140?3");
        play(b, "160=0 160?1 800040=1 160?0 200=0 100?0 160?1"); /* PFIFO off: not enabled */
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
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_map_is_disjoint),
        cmocka_unit_test(test_masks),
        cmocka_unit_test(test_holes),
        cmocka_unit_test(pfifo_is_interrupt_8_of_pmc),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
