/* SPDX-License-Identifier: MIT
 * What the parser says it expected: each literal of the forms, and each kind of field. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "isa/isa.h"

struct bad {
    enum cps_gen gen;
    const char *text;
    size_t column;
    const char *said; /* behind "expected " */
};

static void check(const struct bad *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct cps_isa *isa = cps_gen_isa(list[i].gen);
        CPS_BUF bytes = {0};
        size_t column = 0;
        struct cps_err *err =
            cps_parse_bytes(isa, list[i].gen, list[i].text, 0, NULL, &column, &bytes);
        if (!err)
            fail_msg("%s: no error", list[i].text);
        if (strncmp(err->message, "expected ", 9) != 0 ||
            strcmp(err->message + 9, list[i].said) != 0 || column != list[i].column)
            fail_msg("%s: %s in column %zu", list[i].text, err->message, column);
        cps_err_free(err);
    }
}

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static void literals_of_forms(void **state)
{
    static const struct bad list[] = {
        {CPS_A6XX, "add $01 $02, $03", 8, "','"},
        {CPS_A6XX, "store $01, $02", 11, "'['"},
        {CPS_A6XX, "store $01, [$02, 0x3]", 15, "'+'"},
        {CPS_A6XX, "store $01, [$02 + 0x3", 21, "']'"},
        {CPS_A7XX, "mov $01, 0x1 < 0x2", 15, "'<<'"},
        {CPS_A6XX, "setsecure $03, 0x3", 12, "'$02'"},
        {CPS_G92, "wait 1 shr 2", 7, "'shl'"},
        {CPS_SEQ_NEW, "set 0x1", 4, "'val'"},
        {CPS_SEQ_NEW, "set reg", 7, "a number, @NAME, %NAME, a GPU register's name or #label"},
        {CPS_SEQ_NEW, "stv in[0x1]", 4, "'out'"},
        {CPS_SEQ_NEW, "stv out(0x1)", 7, "'['"},
        {CPS_SEQ_NEW, "stv out[0x1", 11, "']'"},
        {CPS_SEQ_NEW, "stv out[out[0x1]", 16, "']'"},
        {CPS_SEQ_NEW, "setregs 0x1, 0x2", 11, "'='"},
        {CPS_VP1_G80, "mov $v1 $vx", 9, "'$vc'"},
    };
    (void)state;
    check(list, COUNT(list));
}

static void kinds_of_fields(void **state)
{
    static const struct bad list[] = {
        {CPS_A6XX, "(rep)waitin", 0, "a prefix that this instruction can have"},
        {CPS_A6XX, "(xmov4)mov $01, $data", 0, "a prefix such as (rep)"},
        {CPS_A6XX, "mov 1, $02", 4,
         "a register ($00 to $1f, $rem, $addr, $usraddr, $memdata, $regdata, $data)"},
        {CPS_A6XX, "mov $nobody, $02", 4,
         "a register ($00 to $1f, $rem, $addr, $usraddr, $memdata, $regdata, $data)"},
        {CPS_A6XX, "add $01, $02, ?", 14,
         "a register ($00 to $1f, $rem, $addr, $usraddr, $memdata, $regdata, $data)"},
        {CPS_A6XX, "setbit $01, $02, 5", 17, "a bit number (b0 to b31)"},
        {CPS_A6XX, "call here", 5, "a label (#name) or a dword address"},
        {CPS_A6XX, "jump 0x100000000", 5, "a dword address of 32 bits"},
        {CPS_A6XX, "call #", 5, "a label (#name)"},
        {CPS_A6XX, "call #here", 5, "a label that is defined"},
        {CPS_A6XX, "cread $01, [$00 + @NOPE]", 18, "a control register that has this name"},
        {CPS_A6XX, "sread $01, [$00 + %NOPE]", 18, "an SQE register that has this name"},
        {CPS_G92, "wait 1 shl 3", 11, "an even number"},
        {CPS_G92, "set1 nobody", 5, "a flag's number or name"},
        {CPS_G92, "ewait nobody 1", 6, "an event's number or name"},
        {CPS_SEQ_NEW, "setregs 0x100000000=1", 8, "a number of 32 bits"},
        {CPS_VP1_G80, "add $v1 $a2 $a3", 4, "a register of this operand's file"},
        {CPS_VP1_G80, "lds $a1 $r2 x", 12,
         "a number, @NAME, %NAME, a GPU register's name or #label"},
        {CPS_VP1_G80, "add $a1 $a2 (slct $a0 0 $a3d)", 18, "a condition ($c0 to $c3)"},
        {CPS_VP1_G80, "add $a1 $a2 (slct $c0 16 $a3d)", 25,
         "a flag's number below 16, or its name"},
        {CPS_VP1_G80, "add $a1 $a2 (slct $c0 nobody $a3d)", 22,
         "a flag's number below 16, or its name"},
        {CPS_VP1_G80, "add $a1 $a2 (slct $c0 4 $a3d)", 27, "'q)'"},
        {CPS_VP1_G80, "add $a1 $a2 (slct $c0 3 $a3q)", 27, "'d)'"},
        {CPS_VP1_G80, "bra loop $l1 $l2 $c3 0 0x0", 21,
         "the condition register of the same number"},
        {CPS_VP1_G80, "bra loop $a1", 9, "a register of this operand's file"},
        {CPS_VP1_G80, "bra $c0 0 2", 10, "a word address that is a multiple of 4"},
        {CPS_VP1_G80, "bra $c0 0 0x100000000", 10, "a word address that is a multiple of 4"},
        {CPS_VP1_G80, "exit intr 0x1 u17=", 18, "'=' and a number"},
    };
    (void)state;
    check(list, COUNT(list));
}

/* What begins with a literal has only literals, each of one unit of the set. */
static void literals_have_the_size_of_a_unit(void **state)
{
    static const struct bad list[] = {
        {CPS_G92, "[5f] 01", 5, "a byte of two hexadecimal digits in [ ]"},
        {CPS_G92, "[100]", 0, "a byte of two hexadecimal digits in [ ]"},
        {CPS_SEQ_NEW, "[00000001] 2", 11, "a word of up to 8 hexadecimal digits in [ ]"},
        {CPS_SEQ_NEW, "[100000000]", 0, "a word of up to 8 hexadecimal digits in [ ]"},
    };
    (void)state;
    check(list, COUNT(list));
}

static uint64_t first_bits(enum cps_gen gen, const char *text)
{
    uint64_t bits = 0;
    size_t column = 0;
    struct cps_err *err = cps_parse(cps_gen_isa(gen), gen, text, 0, NULL, &column, &bits);
    if (err)
        fail_msg("%s: %s", text, err->message);
    return bits;
}

/* The last address of 32 bits is the word in front of the first; the next one is refused above. */
static void the_largest_address_is_an_address(void **state)
{
    CPS_BUF bytes = {0};
    size_t column = 0;
    (void)state;
    assert_int_equal(first_bits(CPS_A6XX, "breq $01, b0, 0xffffffff") & 0xffff, 0xffff);
    assert_int_equal(first_bits(CPS_VP1_G80, "bra $c0 0 0xfffffffc") >> 9 & 0x7fff, 0x7fff);
    assert_null(cps_parse_bytes(&cps_isa_seq, CPS_SEQ_NEW, "setregs 0xffffffff=0xffffffff", 0, NULL,
                                &column, &bytes));
    assert_int_equal(bytes.size, 12);
    assert_memory_equal(cps_buf_text(&bytes) + 4, "\xff\xff\xff\xff\xff\xff\xff\xff", 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literals_of_forms),
        cmocka_unit_test(kinds_of_fields),
        cmocka_unit_test(literals_have_the_size_of_a_unit),
        cmocka_unit_test(the_largest_address_is_an_address),
    };
    return cmocka_run_group_tests_name("parse", tests, NULL, NULL);
}
