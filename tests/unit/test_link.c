/* SPDX-License-Identifier: MIT
 * How instructions are taken: by their operands, and, for handlers of type 4, by the instructions
 * behind them; also once one of them is patched.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "emu/afuc/core/machine.h"
#include "tests/lib/engine_bench.h"

#define CODE 2u /* dword at which a program begins */

static const struct way {
    const char *claim;
    const char *code; /* the first instruction is looked at */
    unsigned take;
} ways[] = {
    {"registers", "add $03, $02, $04\n", UOP_ADD_RR},
    {"a register and an immediate", "add $03, $02, 0x1\n", UOP_ADD_RI},
    {"a register and a word of the stream", "or $03, $02, $data\n", UOP_OR_ANY},
    {"a word of the stream alone", "mov $03, $data\n", UOP_OR_ANY},
    {"a word of the stream and an immediate", "and $03, $data, 0xff\n", UOP_AND_ANY},
    {"the word may be dropped", "mov $00, $data\n", UOP_OR_ANY},
    {"to an address", "or $addr, $02, $03\n", UOP_OR_ANY},
    {"an immediate to the register selected", "mov $data, 0x1\n", UOP_MOVI_ANY},
    {"two words need the queue twice", "add $03, $data, $data\n", UOP_ADD_ANY},
    {"words of memory have a queue of their own", "mov $03, $memdata\n", UOP_OR_ANY},
    {"from a queue to a port", "mov $data, $data\n", UOP_OR_ANY},
    {"a prefix", "(rep)add $03, $02, 0x1\n", UOP_ADD_ANY},
    {"extra moves", "(xmov1)mov $03, $data\n", UOP_OR_ANY},
    {"many words to registers", "(rep)(xmov1)mov $data, $data\n", UOP_BULK},
    {"many words to nowhere", "(rep)(xmov3)mov $00, $data\n", UOP_BULK},
    {"pairs of registers and values", "(rep)(xmov3)or $usraddr, $data, $02\n", UOP_BULK},
    {"what is ORed must not be the counter", "(rep)(xmov3)or $usraddr, $data, $rem\n", UOP_OR_ANY},
    {"a pair needs two words", "(rep)(xmov2)or $usraddr, $data, $02\n", UOP_OR_ANY},
};

static const struct afuc_uop *uop_at(const struct bench *b, uint32_t pc)
{
    return &((const struct cps_afuc *)b->engine)->core[0].uops[pc];
}

static void instructions_are_taken_by_their_shape(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        struct bench *b = bench_a6xx(ways[i].code);
        unsigned take = uop_at(b, CODE)->take;
        if (take != ways[i].take)
            fail_msg("%s: taken as %u, expected %u", ways[i].claim, take, ways[i].take);
        bench_free(b);
    }
}

#define HANDLER                      \
    "ushr $usraddr, $01, 0x8\n"      \
    "(rep)(xmov1)mov $data, $data\n" \
    "waitin\nmov $01, $data\nnop\n"

/* A bench for each generation whose engine has one image for all of its code; on a5xx the PFP's. */
static struct bench *handler_of(enum cps_gen gen)
{
    if (gen == CPS_A5XX)
        return bench_a5xx(HANDLER, "");
    if (gen == CPS_A6XX)
        return bench_a6xx(HANDLER);
    return bench_afuc(gen == CPS_A7XX ? CPS_LAYOUT_A7XX : CPS_LAYOUT_A8XX, HEAD_A7XX, HANDLER, 0,
                      0);
}

static void type_4_is_known_on_every_generation(void **state)
{
    static const enum cps_gen gens[] = {CPS_A5XX, CPS_A6XX, CPS_A7XX, CPS_A8XX};
    (void)state;
    for (size_t i = 0; i < sizeof(gens) / sizeof(gens[0]); i++) {
        struct bench *b = handler_of(gens[i]);
        assert_int_equal(uop_at(b, CODE)->take, UOP_TYPE4);
        bench_free(b);
    }
}

/* Any other instruction in its place makes the handler an ordinary one; the old one brings it
 * back. */
static void a_patch_unlinks_the_handler(void **state)
{
    (void)state;
    struct bench *b = bench_a6xx(HANDLER);
    for (uint32_t pc = CODE; pc < CODE + 4; pc++) {
        uint32_t word = machine_value(b->engine, 0, CPS_FILE_CODE, pc);
        machine_set(b->engine, CPS_FILE_CODE, pc, 0x98001006); /* mov $02, $00 */
        assert_int_not_equal(uop_at(b, CODE)->take, UOP_TYPE4);
        machine_set(b->engine, CPS_FILE_CODE, pc, word);
        assert_int_equal(uop_at(b, CODE)->take, UOP_TYPE4);
    }
    bench_free(b);
}

static void other_handlers_are_not_type_4(void **state)
{
    static const char *const codes[] = {
        "ushr $addr, $01, 0x8\n(rep)mov $data, $data\nwaitin\nmov $01, $data\nnop\n",
        "ushr $usraddr, $01, 0x8\n(rep)mov $usraddr, $data\nwaitin\nmov $01, $data\nnop\n",
        "ushr $usraddr, $01, 0x8\nmov $data, $data\nwaitin\nmov $01, $data\nnop\n",
        "ushr $usraddr, $02, 0x8\n(rep)mov $data, $data\nwaitin\nmov $01, $data\nnop\n",
        "shl $usraddr, $01, 0x8\n(rep)mov $data, $data\nwaitin\nmov $01, $data\nnop\n",
        "ushr $usraddr, $rem, 0x8\n(rep)mov $data, $data\nwaitin\nmov $rem, $data\nnop\n",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        struct bench *b = bench_a6xx(codes[i]);
        assert_int_not_equal(uop_at(b, CODE)->take, UOP_TYPE4);
        bench_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions_are_taken_by_their_shape),
        cmocka_unit_test(type_4_is_known_on_every_generation),
        cmocka_unit_test(a_patch_unlinks_the_handler),
        cmocka_unit_test(other_handlers_are_not_type_4),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
