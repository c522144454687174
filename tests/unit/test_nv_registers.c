/* SPDX-License-Identifier: MIT
 * Registers of NVIDIA's chips, against one list that is written from the sources and not from the
 * tables: what a register reads at first, and after a write of all ones; which bit of which
 * register each flag of HWSQ forces. PFIFO's numbers are the masks of envytools' hardware tester
 * (NV1), of its scan of an NV3T and of its register database; HWSQ's those of its page. That the
 * list is whole is all that the tables are asked. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>

#include "tests/lib/engine_bench.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ONES         UINT32_MAX

/* A letter a chip: the columns of the list. */
static const struct {
    char letter;
    enum cps_gen gen;
} chips[] = {
    {'a', CPS_NV17},    {'b', CPS_NV41}, {'c', CPS_G80}, {'d', CPS_G92},  {'o', CPS_SEQ_OLD},
    {'n', CPS_SEQ_NEW}, {'1', CPS_NV1},  {'3', CPS_NV3}, {'t', CPS_NV3T},
};

/* Which chips, address, what it reads at first, and after a write of ones. */
static const struct {
    const char *chips;
    uint32_t addr, reset, ones;
} list[] = {
    /* PBUS: HWSQ */
    {"abcd", 0x1098, 0, ONES},
    {"abcd", 0x1304, 0, ONES},
    {"abcd", 0x1308, 0, 0}, /* read only */
    {"abcd", 0x130c, 0, 0}, /* write only */
    {"abcdon", 0x1310, 0, ONES},
    {"abcdon", 0x1314, 0, ONES},
    {"d", 0x1318, 0, 0x01010101},
    {"abcd", 0x1400, 0, ONES},
    {"abcd", 0x143c, 0, ONES},
    {"a", 0x1440, 0, 0}, /* behind 0x40 bytes of code */
    {"bcd", 0x1440, 0, ONES},
    {"bcd", 0x147c, 0, ONES},
    {"ab", 0x1480, 0, 0}, /* behind 0x80 */
    {"cd", 0x1480, 0, ONES},
    {"ab", 0x14fc, 0, 0},
    {"cd", 0x14fc, 0, ONES},
    {"d", 0x80000, 0, ONES},
    {"d", 0x801fc, 0, ONES},
    {"bcdon", 0x1578, 0, 0}, /* read only */
    {"abcdon", 0x9400, 0, 0},
    {"abcdon", 0x9410, 0, 0},
    /* memory: PEEPHOLE has 29 bits of address, one of its control is written */
    {"b", 0x155c, 0, 0x100},
    {"b", 0x1560, 0, 0x1ffffffc},
    {"b", 0x1564, 0, ONES},
    {"b", 0x1570, 0, 0x1ffffffc},
    {"b", 0x1574, 0, 0}, /* each access is to another word */
    {"abcd", 0x700000, 0, ONES},
    {"abcd", 0x7ffffc, 0, ONES},
    /* PDAEMON: an index has 14 bits of address and two of mode */
    {"on", 0x10a1c0, 0, 0x0300fffc},
    {"on", 0x10a1c4, 0, ONES},
    {"on", 0x10a1c8, 0, 0x0300fffc},
    {"on", 0x10a1cc, 0, ONES},
    {"on", 0x10a1d0, 0, 0x0300fffc},
    {"on", 0x10a1d4, 0, ONES},
    {"on", 0x10a1d8, 0, 0x0300fffc},
    {"on", 0x10a1dc, 0, ONES},
    /* what is no hardware: start, size of OUT, how a script ended, OUT (there is none) */
    {"on", 0xfffff000, 0, 0},
    {"on", 0xfffff004, 0, 0},
    {"on", 0xfffff008, 0, 0},
    {"on", 0xfffff00c, 0, 0},
    {"on", 0xfffff400, 0, 0},
    {"on", 0xfffff7fc, 0, 0},
    /* PMC: the software interrupt is written, PFIFO's line is not; the line of the card is 1 */
    {"13t", 0x100, 0, 0x80000000},
    {"13t", 0x140, 0, 3},
    {"13t", 0x160, 1, 1},
    {"13t", 0x200, 0x100, ONES},
    /* PFIFO */
    {"13t", 0x2040, 0, 0xff},
    {"13t", 0x2080, 0, 0},
    {"13t", 0x2100, 0, 0},
    {"1", 0x2140, 0, 0x111},
    {"3t", 0x2140, 0, 0x11111},
    {"1", 0x2200, 0, 3},
    {"3t", 0x2200, 0, 0xfc0300},
    {"3t", 0x2210, 0, 0x3f000},
    {"3t", 0x2214, 0x1c00, 0xfe00},
    {"3t", 0x2218, 0x1e00, 0x1fe00},
    {"13t", 0x2400, 0x10, 0x10}, /* empty */
    {"1", 0x2410, 0, 0x3ff8},
    {"3t", 0x2410, 0, 0x1ff8},
    {"13t", 0x2420, 0, 0x3ff8},
    {"13t", 0x2500, 0, 1},
    {"13t", 0x2800, 0, 0},
    /* CACHE0 */
    {"13t", 0x3000, 0, 1},
    {"1", 0x3010, 0, 0x7f},
    {"3t", 0x3004, 0, 0x7f},
    {"1", 0x3020, 0x10, 0x10},
    {"3t", 0x3014, 0x10, 0x10},
    {"1", 0x3030, 0, 4},
    {"3t", 0x3010, 0, 4},
    {"13t", 0x3040, 0, 1},
    {"1", 0x3050, 0, 0x100},
    {"13t", 0x3070, 0, 4},
    {"1", 0x3080, 0, 0x7fffff},
    {"3t", 0x3080, 0, 0xffffff},
    {"13t", 0x3100, 0, 0xfffc},
    {"13t", 0x3104, 0, ONES},
    /* CACHE1 */
    {"13t", 0x3200, 0, 1},
    {"1", 0x3210, 0, 0x7f},
    {"3", 0x3204, 0, 0x7f},
    {"t", 0x3204, 0, 0x17f},
    {"1", 0x3220, 0x10, 0x10},
    {"3t", 0x3214, 0x10, 0x10},
    {"1", 0x3230, 0, 0x7c},
    {"3", 0x3210, 0, 0x7c},
    {"t", 0x3210, 0, 0x1fc},
    {"3t", 0x3218, 0, 0x5ffcfffc},
    {"3t", 0x3220, 0, 1},
    {"3t", 0x3224, 0, 0xfffffc},
    {"3t", 0x3228, 0, 0xfffffc},
    {"3t", 0x322c, 0, 3},
    {"3t", 0x3230, 0, ONES},
    {"3t", 0x3234, 0, 0xfffff001},
    {"3t", 0x3238, 0, 0xffffc},
    {"13t", 0x3240, 0, 1},
    {"1", 0x3250, 0, 0x117},
    {"3t", 0x3250, 0, 0x10},
    {"13", 0x3270, 0, 0x7c},
    {"t", 0x3270, 0, 0x1fc},
    {"1", 0x3280, 0, 0x017fffff},
    {"1", 0x32f0, 0, 0x017fffff},
    {"3t", 0x3280, 0, 0xffffff},
    {"3t", 0x32f0, 0, 0xffffff},
    {"13", 0x3300, 0, 0xfffc},
    {"13", 0x3304, 0, ONES},
    {"13", 0x33f8, 0, 0xfffc},
    {"13", 0x33fc, 0, ONES},
    {"t", 0x3400, 0, 0xfffc},
    {"t", 0x3404, 0, ONES},
    {"t", 0x35f8, 0, 0xfffc},
    {"t", 0x35fc, 0, ONES},
    /* PRAM and the windows of NV1; USER: FREE is 0x7c, until its write has run out */
    {"1", 0x602200, 0, 3},
    {"1", 0x640000, 0, ONES},
    {"1", 0x647ffc, 0, ONES},
    {"1", 0x648000, 0, ONES},
    {"1", 0x64bffc, 0, ONES},
    {"1", 0x650000, 0, ONES},
    {"1", 0x653ffc, 0, ONES},
    {"1", 0x700000, 0, ONES},
    {"1", 0x7ffffc, 0, ONES},
    {"13t", 0x800000, 0, 0},
    {"13t", 0x800010, 0x7c, 0},
    {"13t", 0xfffffc, 0, 0},
    /* what is no hardware: objects, and PGRAPH's channel of 7 bits */
    {"13t", 0xfffff800, 0, 0},
    {"13t", 0xfffff804, 0, 0},
    {"13t", 0xfffff808, 0, 0},
    {"13t", 0xfffff80c, 0, 0x7f},
};

static void registers_read_as_the_list_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(list) * COUNT(chips); i++) {
        size_t row = i / COUNT(chips), chip = i % COUNT(chips);
        if (!strchr(list[row].chips, chips[chip].letter))
            continue;
        struct bench *b = bench_new(chips[chip].gen, NULL);
        uint32_t reset = bench_read(b, list[row].addr);
        bench_write(b, list[row].addr, ONES);
        uint32_t ones = bench_read(b, list[row].addr);
        if (reset != list[row].reset || ones != list[row].ones)
            fail_msg("%s 0x%x: 0x%x, then 0x%x", cps_gen_name(chips[chip].gen),
                     (unsigned)list[row].addr, (unsigned)reset, (unsigned)ones);
        bench_free(b);
    }
}

/* ---- the list is whole ---- */

static bool is_listed(char letter, uint32_t addr)
{
    for (size_t i = 0; i < COUNT(list); i++) {
        if (list[i].addr == addr && strchr(list[i].chips, letter))
            return true;
    }
    return false;
}

static void the_list_has_both_ends_of_every_row(void **state)
{
    static const struct {
        uint64_t gens;
        uint32_t first, last;
    } rows[] = {
#define NV_REG_BUS(gens, first, last, ...)   {gens, first, last},
#define NV_REG_HWSQ(gens, first, last, ...)  {gens, first, last},
#define NV_REG_SEQ(gens, first, last, ...)   {gens, first, last},
#define NV_REG_PFIFO(gens, first, last, ...) {gens, first, last},
#include "emu/nv/reg.def"
    };
    static const struct {
        uint32_t gens, first, last;
    } inner[] = {
#define PFIFO_REG(gens, first, count, stride, ...) {gens, first, first + (count - 1) * (stride)},
#include "emu/nv/pfifo.def"
    };
    (void)state;
    for (size_t c = 0; c < COUNT(chips); c++) {
        bool pfifo = cps_gen_isa(chips[c].gen) == &cps_isa_pfifo;
        for (size_t i = 0; i < COUNT(rows); i++) {
            if (!(rows[i].gens & cps_gen_mask(chips[c].gen)) || rows[i].first == 0x2000)
                continue; /* of that range there are rows of its own */
            if (!is_listed(chips[c].letter, rows[i].first) ||
                !is_listed(chips[c].letter, rows[i].last))
                fail_msg("%s: 0x%x to 0x%x", cps_gen_name(chips[c].gen), (unsigned)rows[i].first,
                         (unsigned)rows[i].last);
        }
        for (size_t i = 0; pfifo && i < COUNT(inner); i++) {
            if (!(inner[i].gens & cps_gen_bit(chips[c].gen)))
                continue;
            if (!is_listed(chips[c].letter, inner[i].first) ||
                !is_listed(chips[c].letter, inner[i].last))
                fail_msg("%s: 0x%x", cps_gen_name(chips[c].gen), (unsigned)inner[i].first);
        }
    }
}

/* ---- registers that are not there ---- */

/* They hold what is written, as any, and a read in front of that is reported. */
static void absent_registers_are_reported(void **state)
{
    static const struct {
        const char *chips;
        uint32_t addr;
    } rows[] = {
        {"a", 0x1578},    {"abc", 0x1318},  {"abc", 0x80000}, {"acd", 0x155c}, {"acd", 0x1574},
        {"on", 0x1304},   {"on", 0x1308},   {"on", 0x130c},   {"on", 0x1400},  {"abcd", 0x10a1c0},
        {"on", 0x10a1e0}, {"on", 0x700000}, {"1", 0x2210},    {"1", 0x2218},   {"1", 0x3004},
        {"3t", 0x3050},   {"1", 0x3218},    {"1", 0x3238},    {"t", 0x3300},   {"13", 0x3400},
        {"3t", 0x602200}, {"3t", 0x640000}, {"13t", 0x104},   {"13t", 0x1304}, {"abcd", 0x2100},
        {"13t", 0x9400},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows) * COUNT(chips); i++) {
        size_t row = i / COUNT(chips), chip = i % COUNT(chips);
        if (!strchr(rows[row].chips, chips[chip].letter))
            continue;
        struct bench *b = bench_new(chips[chip].gen, NULL);
        uint32_t reset = bench_read(b, rows[row].addr);
        const struct cps_event *event = bench_find(b, CPS_EV_UNMODELLED, CPS_PLACE_GPU, 0);
        bench_write(b, rows[row].addr, ONES);
        if (reset || !event || event->addr != rows[row].addr ||
            bench_read(b, rows[row].addr) != ONES)
            fail_msg("%s 0x%x", cps_gen_name(chips[chip].gen), (unsigned)rows[row].addr);
        bench_free(b);
    }
}

/* ---- flags of HWSQ ---- */

/* Flag, register or registers, bit, chips; where sources differ about a chip, its letter stands in
 * the last column. Flag 16 is the pause, which no register shows. */
static const struct {
    uint8_t flag;
    uint32_t addr[2];
    uint8_t bit;
    const char *chips, *doubt;
} flags[] = {
    {0, {0x60081c, 0x60281c}, 0, "ab", ""},
    {1, {0x60081c, 0x60281c}, 1, "ab", ""},
    {2, {0x60081c, 0x60281c}, 4, "ab", ""},
    {3, {0x60081c, 0x60281c}, 5, "ab", ""},
    {4, {0x680880, 0}, 28, "ab", "b"},
    {5, {0x682880, 0}, 28, "ab", "b"},
    {6, {0x680880, 0}, 29, "ab", ""},
    {7, {0x682880, 0}, 29, "ab", ""},
    {14, {0x60081c, 0x60281c}, 28, "ab", "a"},
    {15, {0x60081c, 0x60281c}, 29, "ab", "a"},
    {25, {0x15fc, 0}, 31, "b", ""},
    {26, {0x15f4, 0}, 31, "b", ""},
    {27, {0x10f0, 0}, 31, "ab", ""},
    {28, {0x1084, 0}, 22, "ab", ""},
    {29, {0x1084, 0}, 24, "ab", ""},
    {30, {0x1084, 0}, 26, "ab", ""},
    {31, {0x1084, 0}, 27, "ab", ""},
};
static const uint32_t targets[] = {0x60081c, 0x60281c, 0x680880, 0x682880,
                                   0x15fc,   0x15f4,   0x10f0,   0x1084};

/* The bits of a register that flag @p number forces on a chip. */
static uint32_t bits_of(char letter, unsigned number, uint32_t addr, bool *doubt)
{
    for (size_t i = 0; i < COUNT(flags); i++) {
        if (flags[i].flag != number || !strchr(flags[i].chips, letter))
            continue;
        *doubt = strchr(flags[i].doubt, letter) != NULL;
        if (flags[i].addr[0] == addr || flags[i].addr[1] == addr)
            return UINT32_C(1) << flags[i].bit;
    }
    return 0;
}

static void flags_force_the_bits_of_the_list(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4 * 32; i++) {
        char letter = chips[i / 32].letter;
        unsigned number = i % 32;
        bool known = number == 16 && letter != 'a';
        struct bench *b = bench_new(chips[i / 32].gen, NULL);
        bench_write(b, 0x1098, 0x18);
        for (unsigned value = 0; value < 2; value++) {
            for (size_t k = 0; k < COUNT(targets); k++)
                cps_bus_load(b->bus, targets[k], value ? 0 : ONES);
            bench_write(b, 0x1310 + 4 * (number / 16), (0x10000 | value) << number % 16);
            for (size_t k = 0; k < COUNT(targets) && number != 16; k++) {
                bool doubt = false;
                uint32_t bits = bits_of(letter, number, targets[k], &doubt);
                known |= bits && !doubt;
                if (bench_read(b, targets[k]) != (value ? bits : ~bits))
                    fail_msg("flag %u of %s, 0x%x", number, cps_gen_name(chips[i / 32].gen),
                             (unsigned)targets[k]);
            }
        }
        assert_int_equal(cps_bus_flag_known_(b->bus, number), known);
        bench_free(b);
    }
}

/* PTIMER: 32 ns a tick of HWSQ, 1 ns one of SEQ; the low bits are low. */
static void time_is_in_nanoseconds(void **state)
{
    (void)state;
    for (size_t c = 0; c < 6; c++) {
        struct bench *b = bench_new(chips[c].gen, NULL);
        bool hwsq = c < 4;
        cps_bus_advance(b->bus, UINT64_C(0x300000010));
        assert_int_equal(bench_read(b, 0x9400), hwsq ? 0x200 : 0x10);
        assert_int_equal(bench_read(b, 0x9410), hwsq ? 0x60 : 3);
        bench_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers_read_as_the_list_says),
        cmocka_unit_test(the_list_has_both_ends_of_every_row),
        cmocka_unit_test(absent_registers_are_reported),
        cmocka_unit_test(flags_force_the_bits_of_the_list),
        cmocka_unit_test(time_is_in_nanoseconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
