/* SPDX-License-Identifier: MIT
 * PFIFO's register map and windows, and whatever a host does to them. Rows are host accesses as
 * play() reads them. */
#include "tests/lib/pfifo_bench.h"

static const enum cps_gen chips[] = {CPS_NV1, CPS_NV3, CPS_NV3T};

/* ---- the register map ---- */

enum { NV1 = 1, NV3 = 2, NV3T = 4, NV3S = NV3 | NV3T, ALL = NV1 | NV3S }; /* as chips */

static const struct scan {
    unsigned chips;
    uint32_t first, count, stride;
    const char *name;
    uint32_t ones, zeros;
} scans[] = {
#define SCAN(...) {__VA_ARGS__},
#include "tests/facts/pfifo.h"
};

/* The next register of a chip in the list. @return its address, or UINT32_MAX behind the last */
static uint32_t next_register(size_t chip, size_t *row, uint32_t *number)
{
    while (*row < COUNT(scans)) {
        const struct scan *scan = &scans[*row];
        if (scan->chips >> chip & 1 && *number < scan->count)
            return scan->first + (*number)++ * scan->stride;
        *number = 0;
        ++*row;
    }
    return UINT32_MAX;
}

/* Every register of the list has its name, and no name is of another register. */
static void test_names(void **state)
{
    (void)state;
    for (size_t g = 0; g < COUNT(chips); g++) {
        struct cps_names *names = NULL;
        char name[48];
        uint32_t addr;
        uint32_t n = 0;
        assert_null(cps_names_create(cps_gen_layout(chips[g]), NULL, &names));
        for (size_t i = 0; (addr = next_register(g, &i, &n)) != UINT32_MAX;) {
            uint32_t found = 0;
            snprintf(name, sizeof(name), scans[i].count > 1 ? "%s[%u]" : "%s", scans[i].name,
                     n - 1);
            assert_true(cps_name_number(names, CPS_SPACE_GPU, name, strlen(name), &found));
            assert_int_equal(found, addr);
            assert_string_equal(cps_name(names, CPS_SPACE_GPU, found, NULL), name);
        }
        cps_names_destroy(names);
    }
}

/* As the hardware tester does it: all ones, and all zeros; what is written is not what is read. */
static void registers_keep_the_bits_that_they_have(void **state)
{
    (void)state;
    for (size_t g = 0; g < COUNT(chips); g++) {
        uint32_t addr;
        uint32_t n = 0;
        for (size_t i = 0; (addr = next_register(g, &i, &n)) != UINT32_MAX;) {
            struct bench *b = bench_new(chips[g], NULL);
            bench_write(b, addr, UINT32_MAX);
            uint32_t ones = bench_read(b, addr);
            bench_write(b, addr, 0);
            uint32_t zeros = bench_read(b, addr);
            if (ones != scans[i].ones || zeros != scans[i].zeros)
                fail_msg("%s, %06x: %08x and %08x", scans[i].name, addr, ones, zeros);
            bench_free(b);
        }
    }
}

/* Registers that make nothing run are all written, each with a value of its own, and then read. */
static void no_register_stores_what_another_has(void **state)
{
    (void)state;
    for (size_t g = 0; g < COUNT(chips); g++) {
        struct bench *b = bench_new(chips[g], NULL);
        for (unsigned reads = 0; reads < 2; reads++) {
            uint32_t addr;
            uint32_t n = 0;
            for (size_t i = 0; (addr = next_register(g, &i, &n)) != UINT32_MAX;) {
                uint32_t value = (addr * 0x9e3779b1u ^ addr << 13) & scans[i].ones;
                bool runs = strstr(scans[i].name, "_CTRL") || strstr(scans[i].name, "PMC_");
                if (scans[i].zeros || !scans[i].ones || runs)
                    continue;
                if (!reads)
                    bench_write(b, addr, value);
                else if (bench_read(b, addr) != value)
                    fail_msg("%s, %06x: not %08x", scans[i].name, addr, value);
            }
        }
        bench_free(b);
    }
}

/* Where a chip has no register, none behaves: reads of what nobody wrote are reported. */
static void all_other_addresses_are_nobodys(void **state)
{
    (void)state;
    for (size_t g = 0; g < COUNT(chips); g++) {
        struct bench *b = bench_new(chips[g], NULL);
        uint8_t *known = calloc(1, 0x2000);
        uint32_t addr;
        uint32_t n = 0;
        for (size_t i = 0; (addr = next_register(g, &i, &n)) != UINT32_MAX;) {
            if (addr >= 0x2000 && addr < 0x4000)
                known[addr - 0x2000] = 1;
        }
        for (addr = 0x2000; addr < 0x4000; addr += 4) {
            b->count = 0;
            bench_read(b, addr);
            const struct cps_event *event = bench_find(b, CPS_EV_UNMODELLED, CPS_PLACE_GPU, 0);
            if ((event == NULL) != known[addr - 0x2000] || (event && event->addr != addr))
                fail_msg("chip %zu, %06x", g, addr);
        }
        free(known);
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
        const size_t row = random32() % COUNT(scans);
        return scans[row].first + random32() % scans[row].count * scans[row].stride;
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
        cmocka_unit_test(registers_keep_the_bits_that_they_have),
        cmocka_unit_test(no_register_stores_what_another_has),
        cmocka_unit_test(all_other_addresses_are_nobodys),
        cmocka_unit_test(pfifo_is_interrupt_8_of_pmc),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
