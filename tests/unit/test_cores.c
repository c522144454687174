/* SPDX-License-Identifier: MIT
 * Machines of several cores, and what a7xx and its third layout do differently, by small programs.
 * Images of a7xx begin with their identification; later ones are 32-byte aligned. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/lib/engine_bench.h"
#include "fw/fw.h"

/* One core; then register `reg` must be `value`. */
static const struct program {
    const char *claim;
    enum cps_layout layout;
    const char *code;
    unsigned reg;
    uint32_t value;
} programs[] = {
    {"bl keeps the return address in $lr, sret goes there", CPS_LAYOUT_A7XX,
     "bl #f\nnop\nadd $02, $02, 0x1\njump #end\nnop\nf:\nsret\nmov $02, 0x10\nend:\n", 2, 0x11},
    {"jumpa goes to an address of the image", CPS_LAYOUT_A7XX,
     "jumpa #a\nmov $02, 0x1\nmov $02, 0x2\na:\n", 2, 1},
    {"jump through a register", CPS_LAYOUT_A7XX,
     "mov $05, #a\njump $05\nmov $02, 0x1\nmov $02, 0x2\na:\n", 2, 1},
    {"jumpd through a register, with a delay slot", CPS_LAYOUT_A7XX,
     "mov $05, #a\njumpd $05\nmov $02, 0x1\nmov $02, 0x2\na:\n", 2, 1},
    {"jumpd to $lr is what sret is", CPS_LAYOUT_A7XX,
     "bl #f\nnop\nadd $02, $02, 0x1\njump #end\nnop\nf:\njumpd $lr\nmov $02, 0x10\nend:\n", 2,
     0x11},
    {"loadp loads what store stored", CPS_LAYOUT_A7XX_GEN3,
     "mov $02, 0x77\nstore $02, [$00 + 0x010]\nloadp $03, [$00 + 0x010]\n", 3, 0x77},
    {"storep stores where load loads", CPS_LAYOUT_A7XX_GEN3,
     "mov $02, 0x78\nstorep $02, [$00 + 0x010]\nload $03, [$00 + 0x010]\n", 3, 0x78},
    {"loadp uses the upper half, without its right (gen80000 070 1413)", CPS_LAYOUT_A7XX_GEN3,
     "mov $04, 0x1\ncwrite $04, [$00 + 0x07a]\nmov $02, 0x77\nstore $02, [$00 + 0x010]\n"
     "setbit $04, $04, b31\ncwrite $04, [$00 + 0x07a]\nloadp $03, [$00 + 0x010]\n",
     3, 0x77},
    {"loadp writes its address back", CPS_LAYOUT_A7XX_GEN3,
     "mov $02, 0x77\nstore $02, [$00 + 0x014]\nmov $04, 0x10\nloadp $03, [$04 + 0x004]!\n", 4,
     0x14},
    {"setbit of two registers sets", CPS_LAYOUT_A7XX,
     "mov $02, 0x8\nmov $03, 0x13\nsetbit $02, $02, $03\n", 2, 0x208},
    {"and clears", CPS_LAYOUT_A7XX, "mov $02, 0x208\nmov $03, 0x12\nsetbit $02, $02, $03\n", 2,
     0x8},
    {"ubfx takes a field", CPS_LAYOUT_A7XX, "mov $03, 0xabcd\nubfx $02, $03, b4, b11\n", 2, 0xbc},
    {"bfi replaces a field", CPS_LAYOUT_A7XX,
     "mov $02, 0xffff\nmov $03, 0x5\nbfi $02, $03, b4, b7\n", 2, 0xff5f},
    {"the chip variant is what firmware expects", CPS_LAYOUT_A7XX, "cread $02, [$00 + 0x0ef]\n", 2,
     0x100},
    {"and at its place in the third layout", CPS_LAYOUT_A7XX_GEN3, "cread $02, [$00 + 0x002]\n", 2,
     0x4000},
    {"the ring is privileged, IBs are not", CPS_LAYOUT_A7XX, "cread $02, [$00 + 0x0aa]\n", 2, 1},
    {"a lock that is free is granted", CPS_LAYOUT_A7XX,
     "mov $03, 0x5\ncwrite $03, [$00 + 0x0b1]\ncread $02, [$00 + 0x0b1]\n", 2, 5},
    {"the third layout has its lock at 0x014", CPS_LAYOUT_A7XX_GEN3,
     "mov $03, 0x5\ncwrite $03, [$00 + 0x014]\ncread $02, [$00 + 0x014]\n", 2, 5},
    {"the third layout reads registers through 0x01a and 0x01b", CPS_LAYOUT_A7XX_GEN3,
     "mov $03, 0x2\ncwrite $03, [$00 + 0x01a]\nmov $03, 0x830\ncwrite $03, [$00 + 0x01b]\n"
     "mov $02, $regdata\nmov $02, $regdata\n",
     2, 0x0001ffff},
    {"the third layout reads memory through 0x02c to 0x02e", CPS_LAYOUT_A7XX_GEN3,
     "mov $03, 0x2\ncwrite $03, [$00 + 0x01a]\nmov $03, 0x830\ncwrite $03, [$00 + 0x01b]\n"
     "cwrite $regdata, [$00 + 0x02c]\ncwrite $regdata, [$00 + 0x02d]\nmov $03, 0x1\n"
     "cwrite $03, [$00 + 0x02e]\nmov $02, $memdata\n",
     2, 0x01520001},
    {"the third layout writes registers through 0x018 and 0x019", CPS_LAYOUT_A7XX_GEN3,
     "mov $03, 0x8800\ncwrite $03, [$00 + 0x018]\ncwrite $03, [$00 + 0x019]\ncread $02, [$00 + "
     "0x018]\n",
     2, 0x8801},
    {"the pending counter of the third layout", CPS_LAYOUT_A7XX_GEN3,
     "cwrite $00, [$00 + 0x0b0]\ncwrite $00, [$00 + 0x0b0]\nmov $addr, 0x81 << 24\n"
     "cread $02, [$00 + 0x0b2]\n",
     2, 1},
};

static void one_core_programs_have_their_effect(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        const struct program *p = &programs[i];
        const char *head = p->layout == CPS_LAYOUT_A7XX ? HEAD_A7XX : "[01520001]\n[01000000]\n";
        struct bench *b = bench_afuc(p->layout, head, p->code, 0, 0);
        assert_int_equal(cps_engine_run(b->engine, 10000), CPS_STOP_IDLE);
        uint32_t found = machine_value(b->engine, 0, CPS_FILE_GENERAL, p->reg);
        if (found != p->value)
            fail_msg("%s: 0x%x, expected 0x%x", p->claim, found, p->value);
        bench_free(b);
    }
}

/* Two images, where the first needs to know the dword at which the second lies. */
static struct bench *two_images(enum cps_layout layout, const char *head, const char *format,
                                unsigned who, uint32_t marker, uint32_t *start)
{
    CPS_BUF code = {0};
    cps_buf_printf(&code, format, 0u);
    struct cps_asm probe = bench_code(head, cps_buf_text(&code), cps_layout_gen(layout));
    *start = bench_section(&probe, marker);
    free(probe.words);
    cps_buf_clear(&code);
    cps_buf_printf(&code, format, 4 * *start);
    return bench_afuc(layout, head, cps_buf_text(&code), who, *start);
}

/* BR starts BV at the address of its section, both count under the lock, BV 1000 times. */
static const char two_cores[] =
    "mov $04, 0x2\ncwrite $04, [$00 + 0x038]\nmov $05, 0x830\ncwrite $05, [$00 + 0x039]\n"
    "mov $03, $regdata\nmov $04, $regdata\nadd $03, $03, %u\n"
    "cwrite $03, [$00 + 0x0d6]\ncwrite $04, [$00 + 0x0d7]\nmov $05, 0x1\n"
    "cwrite $05, [$00 + 0x0d8]\nmov $06, 0x3e8\n"
    "loop:\nmov $02, 0x1\ntry:\ncwrite $02, [$00 + 0x0b1]\ncread $03, [$00 + 0x0b1]\n"
    "brne $03, 0x1, #try\nnop\ncread $04, [$00 + 0x210]\nadd $04, $04, 0x1\nnop\nnop\nnop\n"
    "cwrite $04, [$00 + 0x210]\ncwrite $00, [$00 + 0x0b1]\nsub $06, $06, 0x1\n"
    "brne $06, 0x0, #loop\nnop\nwaitin\nmov $01, $data\n"
    ".section BV\n[01740002]\n[01000000]\ncread $07, [$00 + 0x0d6]\nmov $06, 0x3e8\n"
    "loop:\nmov $02, 0x1\ntry:\ncwrite $02, [$00 + 0x0b1]\ncread $03, [$00 + 0x0b1]\n"
    "brne $03, 0x1, #try\nnop\ncread $04, [$00 + 0x210]\nadd $04, $04, 0x1\n"
    "cwrite $04, [$00 + 0x210]\ncwrite $00, [$00 + 0x0b1]\nsub $06, $06, 0x1\n"
    "brne $06, 0x0, #loop\nnop\n";

static void two_processors_count_together_under_the_lock(void **state)
{
    (void)state;
    uint32_t start = 0;
    struct bench *b =
        two_images(CPS_LAYOUT_A7XX, HEAD_A7XX, two_cores, CPS_CPU_BV, 0x01740002, &start);
    assert_int_equal(cps_engine_run(b->engine, 1000000), CPS_STOP_IDLE);
    /* Control 0x210 is shared scratch: a store of its own behind each read back. */
    uint32_t last = 0;
    for (unsigned i = 0; i < 2; i++)
        last = machine_value(b->engine, i, CPS_FILE_GENERAL, 4) > last
                   ? machine_value(b->engine, i, CPS_FILE_GENERAL, 4)
                   : last;
    assert_int_equal(last, 2000);
    assert_int_equal(machine_value(b->engine, 1, CPS_FILE_GENERAL, 7) & 0xfffffff, 4 * start);
    bench_free(b);
}

/* a660: the SQE starts LPAC through GPU registers, and meets it in THREAD_SYNC. */
static const char lpac[] =
    "mov $05, 0x2\ncwrite $05, [$00 + 0x026]\nmov $05, 0x830\ncwrite $05, [$00 + 0x027]\n"
    "mov $03, $regdata\nmov $04, $regdata\nadd $03, $03, %u\nmov $05, 0x3\n"
    "cwrite $05, [$00 + 0x200]\nmov $addr, 0xb82\nmov $data, $03\nmov $data, $04\n"
    "mov $addr, 0xb81\nmov $data, 0x1\nmov $05, 0x2\ncwrite $05, [$00 + 0x200]\n"
    "l:\ncread $06, [$00 + 0x200]\nbrne $06, 0x0, #l\nnop\nmov $07, 0x77\nwaitin\n"
    "mov $01, $data\n"
    ".section LPAC\n[016dc002]\n[01000000]\nl:\ncread $06, [$00 + 0x200]\nbreq $06, 0x3, #l\nnop\n"
    "cwrite $00, [$00 + 0x200]\nmov $07, 0x55\n";

static void the_sqe_of_a660_starts_lpac(void **state)
{
    (void)state;
    uint32_t start = 0;
    struct bench *b = two_images(CPS_LAYOUT_A6XX, "[016dc001]\n[01000000]\n", lpac, CPS_CPU_LPAC,
                                 0x016dc002, &start);
    assert_int_equal(cps_engine_run(b->engine, 100000), CPS_STOP_IDLE);
    assert_int_equal(machine_value(b->engine, 0, CPS_FILE_GENERAL, 7), 0x77);
    assert_int_equal(machine_value(b->engine, 1, CPS_FILE_GENERAL, 7), 0x55);
    bench_free(b);
}

/* A table of CP_PROTECT, a `$usraddr` write, and what must come of it. */
static const struct protect {
    const char *claim;
    uint32_t control, index, entry, target;
    bool forbidden;
} protects[] = {
    {"an entry forbids its first register", 3, 0, 3u << 18 | 0x600, 0x600, true},
    {"and its last", 3, 0, 3u << 18 | 0x600, 0x603, true},
    {"but not the next", 3, 0, 3u << 18 | 0x600, 0x604, false},
    {"nor the one before", 3, 0, 3u << 18 | 0x600, 0x5ff, false},
    {"the read bit does not matter for writes", 3, 0, 1u << 31 | 0x600, 0x600, true},
    {"nothing is forbidden while protection is off", 2, 0, 3u << 18 | 0x600, 0x600, false},
    {"the last of 32 entries is open-ended with bit 3", 0xb, 31, 0x11c00, 0x12008, true},
    {"and is not without it", 3, 31, 0x11c00, 0x12008, false},
    {"so is the last of 48", 0xb, 47, 0x11c00, 0x12008, true},
};

static void protected_registers_keep_their_value(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(protects) / sizeof(protects[0]); i++) {
        const struct protect *p = &protects[i];
        CPS_BUF code = {0};
        cps_buf_printf(&code,
                       "mov $03, 0x%x << 16\nor $03, $03, 0x%x\nmov $usraddr, $03\n"
                       "mov $data, 0x55\n",
                       p->target >> 16, p->target & 0xffff);
        struct bench *b = bench_a6xx(cps_buf_text(&code));
        machine_set(b->engine, CPS_FILE_REGISTER, 0x84f, p->control);
        machine_set(b->engine, CPS_FILE_REGISTER, 0x850 + p->index, p->entry);
        assert_int_equal(cps_engine_run(b->engine, 1000), CPS_STOP_IDLE);
        if (bench_count(b, CPS_EV_PROT) != p->forbidden ||
            bench_count(b, CPS_EV_REG) == p->forbidden ||
            (machine_value(b->engine, 0, CPS_FILE_REGISTER, p->target) == 0x55) == p->forbidden ||
            bench_count(b, CPS_EV_IRQ) != p->forbidden)
            fail_msg("%s", p->claim);
        bench_free(b);
    }
}

static void a_firmware_that_starts_nobody_is_reported(void **state)
{
    (void)state;
    struct bench *b =
        bench_afuc(CPS_LAYOUT_A7XX, HEAD_A7XX, "mov $02, 0x1\ncwrite $02, [$00 + 0x0d8]\n", 0, 0);
    assert_int_equal(cps_engine_run(b->engine, 1000), CPS_STOP_IDLE);
    assert_int_equal(bench_count(b, CPS_EV_UNMODELLED), 1);
    b->notes = 1;
    bench_free(b);
}

/* What all processors share is progress where it changes, of which a poll that comes back to where
 * it was would otherwise say nothing: 0x0dc and 0x0dd count completed events, 0x210 is scratch. */
static void changes_of_what_processors_share_are_progress(void **state)
{
    static const struct {
        const char *code;
        enum cps_stop stop;
    } rows[] = {
        {"mov $02, 0x5\na:\njump #a\ncwrite $02, [$00 + 0x0dc]\n", CPS_STOP_DEADLOCK},
        {"a:\nxor $02, $02, 0x1\njump #a\ncwrite $02, [$00 + 0x0dc]\n", CPS_STOP_BUDGET},
        {"a:\nxor $02, $02, 0x1\njump #a\ncwrite $02, [$00 + 0x0dd]\n", CPS_STOP_BUDGET},
        /* two changes in a turn, of two kinds */
        {"a:\nxor $02, $02, 0x1\ncwrite $02, [$00 + 0x0dc]\nmov $addr, 0x8800\njump #a\n"
         "mov $data, $02\n",
         CPS_STOP_BUDGET},
        {"a:\nxor $02, $02, 0x1\ncwrite $02, [$00 + 0x210]\nmov $addr, 0x8800\njump #a\n"
         "mov $data, $02\n",
         CPS_STOP_BUDGET},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct bench *b = bench_afuc(CPS_LAYOUT_A7XX, HEAD_A7XX, rows[i].code, 0, 0);
        cps_engine_sink(b->engine, NULL, 0);
        if (cps_engine_run(b->engine, 1000000) != rows[i].stop)
            fail_msg("%s", rows[i].code);
        bench_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_core_programs_have_their_effect),
        cmocka_unit_test(two_processors_count_together_under_the_lock),
        cmocka_unit_test(the_sqe_of_a660_starts_lpac),
        cmocka_unit_test(protected_registers_keep_their_value),
        cmocka_unit_test(a_firmware_that_starts_nobody_is_reported),
        cmocka_unit_test(changes_of_what_processors_share_are_progress),
    };
    return cmocka_run_group_tests_name("cores", tests, NULL, NULL);
}
