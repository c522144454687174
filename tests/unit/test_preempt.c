/* SPDX-License-Identifier: MIT
 * What the preemption routine sees of the hardware, by routines of a few instructions: the main
 * program waits for a packet, in front of which the routine is entered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/bench.h"
#include "emu/afuc/afuc.h"
#include "isa/base/pm4.h"

/* Register $02 at the end of the routine must be `value`. */
static const struct routine {
    const char *claim;
    enum cps_layout layout;
    const char *code;
    uint32_t value;
} routines[] = {
    {"SQE register 2 says where the core goes on", CPS_LAYOUT_A6XX,
     "sread $02, [$00 + 0x002]\nsread $03, [$00 + 0x003]\nsub $02, $03, $02\n", 1},
    {"a command to other units is done at once", CPS_LAYOUT_A6XX,
     "mov $03, 0x105\ncwrite $03, [$00 + 0x079]\ncread $02, [$00 + 0x079]\n", 5},
    {"the pipe is ready", CPS_LAYOUT_A6XX, "cread $02, [$00 + 0x086]\n", 1},
    {"no register is being read", CPS_LAYOUT_A6XX,
     "cread $02, [$00 + 0x06d]\nushr $02, $02, 0x1e\n", 1},
    {"words in $regdata are counted", CPS_LAYOUT_A6XX,
     "mov $03, 0x3\ncwrite $03, [$00 + 0x026]\ncwrite $03, [$00 + 0x027]\n"
     "cread $02, [$00 + 0x06d]\nushr $02, $02, 0x14\nand $02, $02, 0xf\n"
     "mov $rem, 0x3\n(rep)mov $00, $regdata\n",
     3},
    {"a word can be put back into $regdata", CPS_LAYOUT_A6XX,
     "mov $03, 0x77\ncwrite $03, [$00 + 0x085]\nmov $02, $regdata\n", 0x77},
    {"an IB shows its dwords", CPS_LAYOUT_A6XX,
     "mov $03, 0x10 << 16\ncwrite $03, [$00 + 0x010]\ncwrite $00, [$00 + 0x011]\nmov $03, 0x8\n"
     "cwrite $03, [$00 + 0x012]\ncread $02, [$00 + 0x004]\nmov $03, 0x2\ncwrite $03, [$00 + "
     "0x082]\n",
     8},
    {"the one behind it shows when the first is passed", CPS_LAYOUT_A6XX,
     "mov $03, 0x10 << 16\ncwrite $03, [$00 + 0x010]\ncwrite $00, [$00 + 0x011]\nmov $03, 0x8\n"
     "cwrite $03, [$00 + 0x012]\nmov $03, 0x4\ncwrite $03, [$00 + 0x012]\nmov $03, 0x2\n"
     "cwrite $03, [$00 + 0x081]\ncread $02, [$00 + 0x004]\ncwrite $03, [$00 + 0x082]\n",
     4},
    {"an IB is restored with what was consumed of it", CPS_LAYOUT_A6XX,
     "mov $03, 0x10 << 16\ncwrite $03, [$00 + 0x010]\ncwrite $00, [$00 + 0x011]\nmov $03, 0x1 << "
     "24\n"
     "or $03, $03, 0x8\ncwrite $03, [$00 + 0x012]\nmov $03, 0x1 << 25\nor $03, $03, 0x3\n"
     "cwrite $03, [$00 + 0x012]\ncread $02, [$00 + 0x005]\nmov $03, 0x2\ncwrite $03, [$00 + "
     "0x082]\n",
     5},
    {"an NRT write can be captured", CPS_LAYOUT_A6XX,
     "mov $addr, 0xa0 << 24\nmov $data, 0x1\nmov $data, $00\nmov $03, 0x8\ncwrite $03, [$00 + "
     "0x088]\n"
     "mov $addr, 0xa204 << 16\nmov $data, 0x55\nmov $03, 0x908\ncwrite $03, [$00 + 0x024]\n"
     "mov $03, 0x2f\ncwrite $03, [$00 + 0x025]\nmov $03, 0x909\ncwrite $03, [$00 + 0x027]\n"
     "mov $02, $regdata\ncwrite $00, [$00 + 0x088]\n",
     0x1001},
    {"$addr can be read back and set without effect", CPS_LAYOUT_A6XX,
     "mov $usraddr, 0x8800\nmov $03, 0x1\ncwrite $03, [$00 + 0x08b]\ncread $02, [$00 + 0x08b]\n"
     "cwrite $00, [$00 + 0x08b]\n",
     0x8800},
    {"bit 0 of CONTEXT_SWITCH_CNTL acknowledges", CPS_LAYOUT_A7XX,
     "mov $03, 0x11\ncwrite $03, [$00 + 0x070]\ncread $02, [$00 + 0x070]\n", 0x10},
    {"a7xx: fetches in the ROQ are counted elsewhere", CPS_LAYOUT_A7XX,
     "mov $03, 0x10 << 16\ncwrite $03, [$00 + 0x018]\ncwrite $00, [$00 + 0x019]\nmov $03, 0x8\n"
     "cwrite $03, [$00 + 0x01a]\ncread $02, [$00 + 0x0f3]\nmov $03, 0x8\ncwrite $03, [$00 + "
     "0x082]\n",
     0x100},
    {"a7xx: units halt at once", CPS_LAYOUT_A7XX,
     "mov $03, 0x1\ncwrite $03, [$00 + 0x0bf]\ncread $02, [$00 + 0x0bf]\ncwrite $00, [$00 + "
     "0x0bf]\n",
     3},
    {"a7xx: a unit behind the aperture has done its work", CPS_LAYOUT_A7XX,
     "mov $03, 0x1 << 16\ncwrite $03, [$00 + 0x0d5]\nmov $03, 0x1\ncwrite $03, [$00 + 0x039]\n"
     "mov $02, $regdata\ncwrite $00, [$00 + 0x0d5]\n",
     1},
    {"the third layout has the command at 0x13b", CPS_LAYOUT_A7XX_GEN3,
     "mov $03, 0x105\ncwrite $03, [$00 + 0x13b]\ncread $02, [$00 + 0x13b]\n", 5},
    {"a shift by 32 gives 0", CPS_LAYOUT_A6XX,
     "mov $03, 0x20\nmov $02, 0x1\nshl $02, $02, $03\nadd $02, $02, 0x7\n", 7},
};

static struct bench *create(const struct routine *routine)
{
    CPS_BUF code = {0};
    bool a6xx = routine->layout == CPS_LAYOUT_A6XX;
    cps_buf_printf(&code,
                   "mov $02, #routine\nswrite $02, [$00 + 0x004]\njump #end\nnop\nroutine:\n%s"
                   "mov $04, $02\niret\nnop\nend:\n",
                   routine->code);
    return bench_afuc(routine->layout, a6xx ? HEAD_A6XX : HEAD_A7XX, cps_buf_text(&code), 0, 0);
}

/* What routines are told without anybody who would know: that other units have done what they were
 * told, and registers that nobody wrote. */
static size_t notes_of(const char *claim)
{
    static const struct {
        const char *claim;
        size_t notes;
    } rows[] = {
        {"a command to other units is done at once", 1},
        {"the third layout has the command at 0x13b", 1},
        {"words in $regdata are counted", 3},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (!strcmp(rows[i].claim, claim))
            return rows[i].notes;
    }
    return 0;
}

static void the_routine_sees_the_hardware(void **state)
{
    static const uint8_t stream[64] = {0};
    const uint32_t nop = cps_pm4_type7(0x10, 0);
    (void)state;
    for (size_t i = 0; i < sizeof(routines) / sizeof(routines[0]); i++) {
        struct bench *b = create(&routines[i]);
        assert_null(machine_load(b->engine, 0x100000, stream, sizeof(stream)));
        assert_true(cps_afuc_inject(cps_afuc_of(b->engine), CPS_INJECT_PREEMPT, 0, 0));
        machine_ring(b->engine, &nop, 1);
        cps_engine_run(b->engine, 200);
        uint32_t value = machine_value(b->engine, 0, CPS_FILE_GENERAL, 4);
        if (value != routines[i].value)
            fail_msg("%s: 0x%x, not 0x%x", routines[i].claim, value, routines[i].value);
        b->notes = notes_of(routines[i].claim);
        bench_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_routine_sees_the_hardware),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
