/* SPDX-License-Identifier: MIT
 * The afuc table: facts about single words. Properties of its rows are in test_sets.c. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "isa/sets/table.h"

static const enum cps_gen gens[] = {CPS_A5XX, CPS_A6XX, CPS_A7XX, CPS_A8XX};
enum { GEN_COUNT = 4 };

static void print_word(enum cps_gen gen, uint32_t word, uint32_t pc, struct cps_buf *out)
{
    struct cps_insn insn;
    cps_decode(&cps_isa_afuc, gen, word, &insn);
    cps_buf_clear(out);
    cps_print(&cps_isa_afuc, &insn, pc, NULL, out);
}

static struct cps_err *parse(enum cps_gen gen, const char *text, uint32_t pc, uint64_t *ret)
{
    const struct cps_parse_names names = {0};
    size_t column = 0;
    return cps_parse(&cps_isa_afuc, gen, text, pc, &names, &column, ret);
}

/* ---- facts ---- */

#define G5   CPS_GEN_BIT(A5XX)
#define G6   CPS_GEN_BIT(A6XX)
#define G7   CPS_GEN_BIT(A7XX)
#define G8   CPS_GEN_BIT(A8XX)
#define G56  (CPS_GEN_BIT(A5XX) | CPS_GEN_BIT(A6XX))
#define G78  (CPS_GEN_BIT(A7XX) | CPS_GEN_BIT(A8XX))
#define GALL (CPS_GEN_BIT(A5XX) | CPS_GEN_BIT(A6XX) | CPS_GEN_BIT(A7XX) | CPS_GEN_BIT(A8XX))

/* Encoded by hand from the bit rulers. All stand at dword 0x100. */
static const struct {
    uint32_t gens;
    uint32_t word;
    const char *text;
} facts[] = {
    {GALL, 0x98432801, "add $05, $02, $03"},
    {GALL, 0x981f0806, "mov $01, $data"},
    {GALL, 0x9c1ffe06, "(rep)(xmov3)mov $data, $data"},
    {G78, 0x981f0106, "(peek)mov $00, $data"},
    {GALL, 0x98021008, "not $02, $02"},
    {GALL, 0x985e1005, "and $02, $02, $regdata"},
    {GALL, 0x9c5d1002, "(rep)addhi $02, $02, $memdata"},
    {G56, 0x98431009, "shl $02, $02, $03"},
    {G78, 0x98431012, "shl $02, $02, $03"},
    {G78, 0x98431009, "bic $02, $02, $03"},
    {G56, 0x98431010, "cmp $02, $02, $03"},
    {G78, 0x9843100d, "cmp $02, $02, $03"},
    {G56, 0x98021014, "msb $02, $02"},
    {G78, 0x98021019, "msb $02, $02"},
    {G8, 0x9802101c, "popcount $02, $02"},
    {G7, 0x9843100c, "mul8 $02, $02, $03"},
    {G8, 0x9843100c, "mul16 $02, $02, $03"},
    {GALL, 0x08430010, "add $03, $02, 0x0010"},
    {GALL, 0x3042fe0f, "or $02, $02, 0xfe0f"},
    {GALL, 0x4002fe0f, "not $02, 0xfe0f"},
    {G56, 0x48420002, "shl $02, $02, 0x0002"},
    {G78, 0x90422002, "shl $02, $02, 0x002"},
    {G78, 0x9042301c, "ushr $02, $02, 0x01c"},
    {G56, 0x90420007, "setbit $02, $02, b3"},
    {G56, 0x90420008, "clrbit $02, $02, b4"},
    {G78, 0x90426007, "setbit $02, $02, b3"},
    {G6, 0x98431012, "setbit $02, $02, $03"},
    {G78, 0x98431016, "setbit $02, $02, $03"},
    {G78, 0x904370c5, "ubfx $03, $02, b5, b6"},
    {G78, 0x90628041, "bfi $02, $03, b1, b2"},
    {G56, 0x88020883, "mov $02, 0x0883"},
    {G78, 0x70020883, "mov $02, 0x0883"},
    {G56, 0x8a04dead, "mov $04, 0xdead << 16"},
    {G78, 0x7204dead, "mov $04, 0xdead << 16"},
    {G56, 0x8b1d00a0, "mov $addr, 0x00a0 << 24"},
    {G5, 0xa8028013, "cwrite $02, [$00 + 0x013]"},
    {G6, 0xa8020024, "cwrite $02, [$00 + 0x024]"},
    {G6, 0xac1f204a, "(rep)(sds2)cwrite $data, [$00 + 0x04a]"},
    {G6, 0xac5f4001, "(rep)cwrite $data, [$02 + 0x001]!"},
    {G5, 0xb0078012, "cread $07, [$00 + 0x012]"},
    {G6, 0xb8070012, "cread $07, [$00 + 0x012]"},
    {G6, 0xb8078005, "sread $07, [$00 + 0x005]"},
    {G6, 0xa8078005, "swrite $07, [$00 + 0x005]"},
    {G5, 0xb0430000, "load $03, [$02 + 0x000]"},
    {G5, 0xa8430000, "store $03, [$02 + 0x000]"},
    {G6, 0xa0874004, "store $07, [$04 + 0x004]!"},
    {G6, 0xb0474004, "load $07, [$02 + 0x004]!"},
    {GALL, 0xc0410008, "brne $02, 0x01, 0x0108"},
    {GALL, 0xc4c0fffb, "breq $06, 0x00, 0x00fb"},
    {GALL, 0xcbc20005, "brne $regdata, b2, 0x0105"},
    {GALL, 0xcc800002, "breq $04, b0, 0x0102"},
    {GALL, 0xc800ffff, "jump 0x00ff"},
    {GALL, 0xd4000123, "call 0x0123"},
    {GALL, 0xd0000000, "ret"},
    {G6 | G78, 0xd2000000, "iret"},
    {GALL, 0xd8000000, "waitin"},
    {G5, 0xdc400000, "sret"},
    {G78, 0xdf600000, "sret"},
    {G6 | G78, 0xdca00000, "jumpd $05"},
    {G78, 0xb0078005, "loadp $07, [$00 + 0x005]"},
    {G78, 0xa14c8000, "storep $0c, [$0a + 0x000]"}, /* a740 190b */
    {G78, 0xdf700002, "jump $02"},
    {GALL, 0xe0000123, "bl 0x0123"},
    {G5 | G78, 0xe40009a3, "jumpa 0x09a3"},
    {GALL, 0xec000000, "setsecure $02, 0x0103"},
    {G5, 0x00000000, "nop"},
    {G6 | G78, 0x01000000, "nop"},
    {G6 | G78, 0x05000000, "(rep)nop"},
    /* What is no instruction, or no customary one, is a literal. */
    {G6 | G78, 0x00000000, "[00000000]"},
    {G6 | G78, 0x016ee201, "[016ee201]"},
    {G5, 0x005ff087, "[005ff087]"},
    {GALL, 0xfbadc0de, "[fbadc0de]"},
    {G56, 0x981f0106, "[981f0106]"}, /* no peek before a7xx */
    {G5, 0xb0431000, "[b0431000]"},  /* bit 12 of a load has no name */
    {G56, 0xd8000001, "[d8000001]"},
    {G6, 0xdc400001, "[dc400001]"},
    {G6, 0xe40009a3, "[e40009a3]"},
};

static void test_facts(void **state)
{
    (void)state;
    CPS_BUF out = {0};
    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
        for (unsigned g = 0; g < GEN_COUNT; g++) {
            uint64_t word = 0;
            if (!(facts[i].gens & cps_gen_bit(gens[g])))
                continue;
            print_word(gens[g], facts[i].word, 0x100, &out);
            assert_string_equal(cps_buf_text(&out), facts[i].text);
            assert_null(parse(gens[g], facts[i].text, 0x100, &word));
            assert_int_equal(word, facts[i].word);
        }
    }
}

/* Other spellings that are read, but not printed. */
static void test_spellings(void **state)
{
    static const struct {
        enum cps_gen gen;
        const char *text;
        uint32_t word;
    } rows[] = {
        {CPS_A6XX, "  (xmov1)  mov $data ,$data", 0x981ffa06},
        {CPS_A6XX, "or $01, $00, $data", 0x981f0806},
        {CPS_A6XX, "brne $00, b0, 0xff", 0xc800ffff},
        {CPS_A6XX, "(rep)cwrite $data, [$02 + 0x001], 0x4", 0xac5f4001},
        {CPS_A6XX, "cwrite $02, [$00 + 36], 0x0", 0xa8020024},
        {CPS_A6XX, "mov $1a, 16", 0x881a0010},
        {CPS_A7XX, "mov $sp, 16", 0x701a0010},
        {CPS_A7XX, "preemptleave 0x0123", 0xe0000123},
        {CPS_A6XX, "preemptleave 0x0123", 0xe0000123},
        {CPS_A6XX, "[0]", 0},
        {CPS_A6XX, "(rep)store $addr, [$02 + 0x004], 0x4", 0xa45d4004},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint64_t word = 0;
        assert_null(parse(rows[i].gen, rows[i].text, 0x100, &word));
        assert_int_equal(word, rows[i].word);
    }
}

static void test_syntax_errors(void **state)
{
    static const struct {
        enum cps_gen gen;
        const char *text;
        size_t column;
        const char *message;
    } rows[] = {
        {CPS_A6XX, "frob $01", 0, "expected an instruction of this generation"},
        {CPS_A6XX, "bic $01, $02, $03", 0, "expected an instruction of this generation"},
        {CPS_A6XX, "add $01, $02", 12, "expected ','"},
        {CPS_A6XX, "waitin $01", 7, "expected the end of the instruction"},
        {CPS_A6XX, "(peek)mov $00, $data", 0, "expected a prefix that this instruction can have"},
        {CPS_A6XX, "(rep)waitin", 0, "expected a prefix that this instruction can have"},
        {CPS_A6XX, "mov $20, 0x1", 4,
         "expected a register ($00 to $1f, $rem, $addr, $usraddr, $memdata, $regdata, $data)"},
        {CPS_A6XX, "call #nowhere", 5, "expected a label that is defined"},
        {CPS_A6XX, "call 0x4000000", 5, "target is 67108864, expected a value from 0 to 67108863"},
        {CPS_A6XX, "mov $01, 0x10000", 4, "imm16 is 65536, expected a value from 0 to 65535"},
        {CPS_A6XX, "jump 0x8100", 5, "target is 32768 away, expected a value from -32768 to 32767"},
        {CPS_A6XX, "jump 0x100000000", 5, "expected a dword address of 32 bits"},
        {CPS_A6XX, "setsecure $02, 0x0104", 10, "target is 4, expected a value from 3 to 3"},
        {CPS_A6XX, "[123456789]", 0, "expected a word of up to 8 hexadecimal digits in [ ]"},
        {CPS_A6XX, "cread $02, [$00 + @NOPE]", 18,
         "expected a control register that has this name"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct cps_parse_names names = {0};
        size_t column = 0;
        uint64_t word = 0;
        struct cps_err *err =
            cps_parse(&cps_isa_afuc, rows[i].gen, rows[i].text, 0x100, &names, &column, &word);
        assert_non_null(err);
        assert_int_equal(err->code, CPS_ERR_SYNTAX);
        assert_string_equal(err->message, rows[i].message);
        assert_int_equal(column, rows[i].column);
        cps_err_free(err);
    }
}

/* Every slot of the decoder, in every generation. */
static void test_decoder(void **state)
{
    (void)state;
    uint32_t word = 1;
    for (unsigned g = 0; g < GEN_COUNT; g++) {
        struct cps_decoder decoder;
        cps_decoder_init(&decoder, &cps_isa_afuc, gens[g]);
        assert_true(decoder.from[32] < CPS_DECODER_ROWS);
        for (unsigned i = 0; i < 200000; i++) {
            struct cps_insn one;
            struct cps_insn many;
            word = word * 1664525u + 1013904223u;
            cps_decode(&cps_isa_afuc, gens[g], word, &one);
            cps_decoder_decode(&decoder, word, &many);
            assert_ptr_equal(one.enc, many.enc);
            assert_int_equal(one.unclaimed, many.unclaimed);
            assert_memory_equal(one.operand, many.operand, sizeof(one.operand));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_spellings),
        cmocka_unit_test(test_syntax_errors),
        cmocka_unit_test(test_decoder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
