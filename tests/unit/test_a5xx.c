/* SPDX-License-Identifier: MIT
 * The two processors of a5xx by small programs: the worked examples of Mesa's documentation, and
 * what shipped code does differently. Each row is a claim and the state that proves it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/lib/engine_bench.h"
#include "fw/fw.h"

enum { PFP, ME };
enum where { GPR, REG, MEMORY, CONTROL };

static const struct program {
    const char *claim;
    const char *pfp;
    const char *me;
    enum where where;
    unsigned core;
    uint64_t at;
    uint32_t value;
} programs[] = {
    /* The documentation's examples, word for word where they are code. */
    {"documentation: NRT write stores a 64-bit value, low word", "",
     "mov $02, 0x1000\nmov $03, 0x1\nmov $04, 0x44\nmov $05, 0x55\n"
     "mov $addr, CP_ME_NRT_ADDR_LO\nmov $data, $02\nmov $data, $03\n"
     "mov $addr, CP_ME_NRT_DATA\nmov $data, $04\nmov $data, $05\n",
     MEMORY, ME, 0x100001000, 0x44},
    {"documentation: NRT write advances to the high word", "",
     "mov $02, 0x1000\nmov $03, 0x1\nmov $04, 0x44\nmov $05, 0x55\n"
     "mov $addr, CP_ME_NRT_ADDR_LO\nmov $data, $02\nmov $data, $03\n"
     "mov $addr, CP_ME_NRT_DATA\nmov $data, $04\nmov $data, $05\n",
     MEMORY, ME, 0x100001004, 0x55},
    {"documentation: NRT read loads a 64-bit value, low word", "",
     "mov $02, 0x2000\nmov $03, 0x0\nmov $addr, CP_ME_NRT_ADDR_LO\nmov $data, $02\n"
     "mov $data, $03\nmov $04, $addr\nmov $05, $addr\n",
     GPR, ME, 4, 0x2000abcd},
    {"documentation: NRT read advances to the high word", "",
     "mov $02, 0x2000\nmov $03, 0x0\nmov $addr, CP_ME_NRT_ADDR_LO\nmov $data, $02\n"
     "mov $data, $03\nmov $04, $addr\nmov $05, $addr\n",
     GPR, ME, 5, 0x2004abcd},
    {"documentation: scratch registers are written one after the other", "",
     "mov $03, 0x33\nmov $04, 0x44\nmov $addr, CP_SCRATCH_REG[0x2]\nmov $data, $03\n"
     "mov $data, $04\n",
     REG, ME, 0xb7b, 0x44},
    {"documentation: scratch registers are read through $addr", "",
     "mov $addr, CP_SCRATCH_REG[0x2]\nmov $data, 0x21\nmov $data, 0x22\n"
     "mov $addr, CP_SCRATCH_REG[0x2]\nmov $03, $addr\nmov $04, $addr\n",
     GPR, ME, 4, 0x22},
    {"documentation: banked registers are written with $17", "",
     "mov $17, 0x800\nmov $03, 0x77\nor $addr, $17, VFD_INDEX_OFFSET\nmov $data, $03\n", REG, ME,
     0xec08, 0x77},
    {"documentation: the PFP writes a register through 0x010 and 0x011",
     "mov $0c, CP_SCRATCH_REG[0x7]\nmov $02, 0x789a\ncwrite $0c, [$00 + 0x010], 0x8\n"
     "cwrite $02, [$00 + 0x011], 0x8\n",
     "", REG, PFP, 0xb7f, 0x789a},
    {"documentation: the register address of the PFP increments",
     "mov $0c, CP_SCRATCH_REG[0x6]\nmov $02, 0x789a\ncwrite $0c, [$00 + 0x010], 0x8\n"
     "cwrite $00, [$00 + 0x011], 0x8\ncwrite $02, [$00 + 0x011], 0x8\n",
     "", REG, PFP, 0xb7f, 0x789a},
    {"documentation: draw-indirect parameters come from memory",
     "mov $02, 0x2000\nmov $07, 0x0004\ncwrite $02, [$00 + 0x0b8], 0x8\n"
     "cwrite $00, [$00 + 0x0b9], 0x8\ncwrite $07, [$00 + 0x0ba], 0x8\n"
     "mov $09, $addr\nmov $07, $addr\ncread $12, [$00 + 0x040], 0x8\nmov $data, $addr\n",
     "", GPR, PFP, 7, 0x2004abcd},
    {"documentation: and the start parameter goes to the ME through the MEQ",
     "mov $02, 0x2000\nmov $07, 0x0004\ncwrite $02, [$00 + 0x0b8], 0x8\n"
     "cwrite $00, [$00 + 0x0b9], 0x8\ncwrite $07, [$00 + 0x0ba], 0x8\n"
     "mov $09, $addr\nmov $07, $addr\ncread $12, [$00 + 0x040], 0x8\nmov $data, $addr\n",
     "mov $02, $data\n", GPR, ME, 2, 0x2008abcd},
    {"documentation: IB set-up at level 0 reaches the IB1 registers",
     "mov $18, 0x0\nmov $02, 0x3000\nmov $03, 0x0\nmov $04, 0x2\nand $05, $18, 0x0003\n"
     "shl $05, $05, 0x0002\ncwrite $02, [$05 + 0x0b0], 0x8\ncwrite $03, [$05 + 0x0b1], 0x8\n"
     "cwrite $04, [$05 + 0x0b2], 0x8\nmov $18, 0x1\ncwrite $18, [$00 + 0x031], 0x8\n"
     "mov $06, $data\n",
     "", GPR, PFP, 6, 0x3000abcd},
    {"documentation: IB set-up at level 1 reaches the IB2 registers",
     "mov $18, 0x1\nmov $02, 0x3000\nmov $03, 0x0\nmov $04, 0x2\nand $05, $18, 0x0003\n"
     "shl $05, $05, 0x0002\ncwrite $02, [$05 + 0x0b0], 0x8\ncwrite $03, [$05 + 0x0b1], 0x8\n"
     "cwrite $04, [$05 + 0x0b2], 0x8\nmov $18, 0x2\ncwrite $18, [$00 + 0x031], 0x8\n"
     "mov $06, $data\nmov $06, $data\n",
     "", GPR, PFP, 6, 0x3004abcd},
    /* Shipped code. */
    {"read address, length, then $memdata", "",
     "mov $addr, 0x80d\nmov $data, 0x2000\nmov $data, 0x0\nmov $data, 0x2\nmov $04, $memdata\n"
     "mov $05, $memdata\n",
     GPR, ME, 5, 0x2004abcd},
    {"write address, then data through 0x812 with bit 18", "",
     "mov $addr, 0x810\nmov $data, 0x1000\nmov $data, 0x0\nmov $03, 0x1 << 18\n"
     "or $addr, $03, 0x812\nmov $data, 0x7\nmov $data, 0x8\n",
     MEMORY, ME, 0x1004, 8},
    {"a flag in the write address keeps it", "",
     "mov $addr, 0x810\nmov $data, 0x1001\nmov $data, 0x0\nmov $03, 0x1 << 18\n"
     "or $addr, $03, 0x812\nmov $data, 0x7\nmov $data, 0x8\n",
     MEMORY, ME, 0x1000, 8},
    {"$addr with bit 20 queues registers in $regdata", "",
     "mov $addr, 0xb78\nmov $data, 0x61\nmov $data, 0x62\nmov $addr, 0xe1 << 24\nmov $data, 0x2\n"
     "mov $02, 0x1 << 20\nor $addr, $02, 0xb78\nmov $03, $regdata\nmov $04, $regdata\n",
     GPR, ME, 4, 0x62},
    {"read-modify-write: (old & mask) rotated, then or", "",
     "mov $addr, 0xb78\nmov $data, 0xff0f\nmov $08, 0xb78\nmov $09, 0x9 << 20\n"
     "or $usraddr, $08, $09\nmov $data, 0xff00\nmov $04, 0x1 << 23\nmov $07, 0x4\n"
     "or $usraddr, $07, $04\nmov $data, 0x3\n",
     REG, ME, 0xb78, 0xff003},
    {"a time stamp stores its word", "",
     "mov $addr, 0x813\nmov $data, 0x0\nmov $data, 0x1000\nmov $data, 0x0\nmov $data, 0x99\n",
     MEMORY, ME, 0x1000, 0x99},
    {"the ME lowers the PFP's WFI counter",
     "cwrite $00, [$00 + 0x018]\nmov $data, 0x1\ncread $05, [$00 + 0x008]\nl:\n"
     "brne $05, 0x0, #l\ncread $05, [$00 + 0x008]\nmov $06, 0x1\n",
     "mov $02, $data\nmov $addr, 0xb15\nmov $data, 0x0\n", GPR, PFP, 6, 1},
    {"the side stream as plain words",
     "mov $02, 0x2000\nmov $03, 0x2\ncwrite $02, [$00 + 0x0bc]\ncwrite $00, [$00 + 0x0bd]\n"
     "cwrite $03, [$00 + 0x0be]\nmov $data, 0x1\n",
     "mov $02, $data\nmov $03, 0x5\ncwrite $03, [$00 + 0x012]\ncwrite $03, [$00 + 0x031]\n"
     "mov $04, $data\nmov $05, $data\ncwrite $00, [$00 + 0x031]\n",
     GPR, ME, 5, 0x2004abcd},
    {"the side stream as packets ends with id 9",
     "mov $02, 0x2000\nmov $03, 0x1\ncwrite $02, [$00 + 0x0bc]\ncwrite $00, [$00 + 0x0bd]\n"
     "cwrite $03, [$00 + 0x0be]\nmov $data, 0x1\n",
     "mov $02, $data\nmov $03, 0x1\ncwrite $03, [$00 + 0x012]\ncwrite $03, [$00 + 0x031]\n"
     "mov $04, $data\nushr $05, $data, 0x10\nand $05, $05, 0x7f\ncwrite $00, [$00 + 0x031]\n",
     GPR, ME, 5, 9},
    {"a group set by three words is active",
     "mov $02, 0x4\nmov $05, 0x3 << 24\nor $02, $02, $05\ncwrite $02, [$00 + 0x02c]\n"
     "cwrite $02, [$00 + 0x02b]\ncwrite $00, [$00 + 0x02b]\ncread $03, [$00 + 0x02a]\n",
     "", GPR, PFP, 3, 8},
};

/* Every dword of these pages holds its own address, and 0xabcd below. */
static void fill_memory(struct cps_engine *machine)
{
    for (uint32_t iova = 0x2000; iova < 0x3100; iova += 4) {
        const uint8_t bytes[4] = {0xcd, 0xab, (uint8_t)iova, (uint8_t)(iova >> 8)};
        assert_null(machine_load(machine, iova, bytes, 4));
    }
}

static uint32_t look(struct cps_engine *machine, const struct program *p)
{
    switch (p->where) {
    case GPR:
        return machine_value(machine, p->core, CPS_FILE_GENERAL, (unsigned)p->at);
    case REG:
        return machine_value(machine, 0, CPS_FILE_REGISTER, (uint32_t)p->at);
    case MEMORY:
        return machine_memory(machine, p->at, NULL);
    default:
        return machine_value(machine, p->core, CPS_FILE_CONTROL, (uint32_t)p->at);
    }
}

static void check_program(const struct program *p)
{
    struct bench *b = bench_a5xx(p->pfp, p->me);
    fill_memory(b->engine);
    cps_engine_run(b->engine, 10000);
    uint32_t found = look(b->engine, p);
    if (found != p->value)
        fail_msg("%s: 0x%x, expected 0x%x", p->claim, found, p->value);
    bench_free(b);
}

static void examples_and_shipped_idioms_have_their_effect(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
        check_program(&programs[i]);
}

/* A PFP that passes every word on, and an ME that copies type-4 packets by bank. */
static const char forwarder[] = "l:\nmov $data, $data\njump #l\nnop\n";
static const char me_table[] = "cwrite $00, [$00 + 0x033]\n"
                               "mov $02, #bad\nmov $rem, 0x2\n(rep)cwrite $02, [$00 + 0x034]\n"
                               "mov $02, #two\ncwrite $02, [$00 + 0x034]\n"
                               "mov $02, #three\ncwrite $02, [$00 + 0x034]\n"
                               "mov $02, #four\ncwrite $02, [$00 + 0x034]\n"
                               "waitin\nmov $01, $data\n"
                               "bad:\nmov $0a, 0xbad\nwaitin\nmov $01, $data\n"
                               "two:\nmov $02, $data\nwaitin\nmov $01, $data\n"
                               "three:\nmov $03, $data\nwaitin\nmov $01, $data\n"
                               "four:\nmov $04, $data\n";

static void type4_entry_of_the_me_depends_on_the_bank(void **state)
{
    (void)state;
    struct bench *b = bench_a5xx(forwarder, me_table);
    /* Without parity: the PFP edits headers in place, so the ME must not check it. */
    const uint32_t words[] = {0x40200001, 0x20, 0x40e00001, 0xe0, 0x40080001, 0x08};
    assert_true(machine_ring(b->engine, words, 6));
    cps_engine_run(b->engine, 10000);
    assert_int_equal(machine_value(b->engine, ME, CPS_FILE_GENERAL, 2), 0x20);
    assert_int_equal(machine_value(b->engine, ME, CPS_FILE_GENERAL, 3), 0xe0);
    assert_int_equal(machine_value(b->engine, ME, CPS_FILE_GENERAL, 4), 0x08);
    assert_int_equal(machine_value(b->engine, ME, CPS_FILE_GENERAL, 10), 0);
    bench_free(b);
}

/* Far more words than the MEQ holds: the PFP has to wait for the ME. */
static void a_full_meq_stops_the_pfp_until_the_me_has_read(void **state)
{
    (void)state;
    struct bench *b = bench_a5xx("mov $rem, 0x1388\n(rep)mov $data, $rem\n",
                                 "mov $rem, 0x1388\n(rep)add $02, $data, $02\n");
    assert_int_equal(cps_engine_run(b->engine, 100000), CPS_STOP_IDLE);
    assert_int_equal(machine_value(b->engine, ME, CPS_FILE_GENERAL, 2), 5000 * 5001 / 2);
    bench_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples_and_shipped_idioms_have_their_effect),
        cmocka_unit_test(type4_entry_of_the_me_depends_on_the_bank),
        cmocka_unit_test(a_full_meq_stops_the_pfp_until_the_me_has_read),
    };
    return cmocka_run_group_tests_name("a5xx", tests, NULL, NULL);
}
