/* SPDX-License-Identifier: MIT
 * The assembler: what sources give, and what their mistakes are answered with. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "fw/fw.h"

#define A6 "[016ee001]\n"
#define W6 0x016ee001

static struct cps_err *assemble(const char *text, unsigned gen, struct cps_asm *ret)
{
    return cps_assemble("a.afuc", text, strlen(text), gen, ret);
}

/* Words behind the leading zero; the first zero behind `count` ends nothing. */
static const struct {
    const char *claim;
    const char *text;
    unsigned gen;
    uint32_t count;
    uint32_t words[12];
} sources[] = {
    {"empty with generation", "", CPS_A6XX, 0, {0}},
    {"first word selects a6xx", A6 "mov $01, 1", 0, 2, {W6, 0x88010001}},
    {"first word selects a7xx", "[01740001]\nmov $01, 1", 0, 2, {0x01740001, 0x70010001}},
    {"first word selects a5xx", "[005ff001]\nnop", 0, 2, {0x005ff001, 0}},
    {"unknown id, top byte 01", "[01000001]\nnop", 0, 2, {0x01000001, 0x01000000}},
    {"unknown id, top byte 00", "[00000001]\nnop", 0, 2, {1, 0}},
    {"head comment", "; a7xx microcode\nmov $01, 1", 0, 1, {0x70010001}},
    {"head comment wins over id", "; a7xx microcode\n" A6 "mov $01, 1", 0, 2, {W6, 0x70010001}},
    {"option wins over all", "; a7xx microcode\nmov $01, 1", CPS_A6XX, 1, {0x88010001}},
    {"comments and blanks", "  " A6 "\n ; x: y\n\tnop ; [0]\r\n\n", 0, 2, {W6, 0x01000000}},
    {"no newline at the end", A6 "nop", 0, 2, {W6, 0x01000000}},
    {"label before and behind", A6 "a: jump #b\nb: jump #a", 0, 3, {W6, 0xc8000001, 0xc800ffff}},
    {"several labels", A6 "a: b:\nc: call #b\ncall #c", 0, 3, {W6, 0xd4000001, 0xd4000001}},
    {"label as immediate",
     A6 "a:\nmov $02, #a\nmov $02, #a << 2",
     0,
     3,
     {W6, 0x88020001, 0x88420001}},
    {"label as payload", A6 "[#a]\n[ #a ]\na:", 0, 3, {W6, 0x01000003, 0x01000003}},
    {"label as payload on a5xx", "[005ff001]\n[#a]\na:", 0, 2, {0x005ff001, 2}},
    {"align",
     A6 ".align 16\nnop\n.align 4\n.align 0x8",
     0,
     6,
     {W6, 0x01000000, 0x01000000, 0x01000000, 0x01000000, 0x01000000}},
    {"align on a5xx", "[005ff001]\n.align 8", 0, 2, {0x005ff001, 0}},
    {"section aligns and has own labels",
     A6 "a: nop\n.section BV\nnop\na: jump #a",
     0,
     10,
     {W6, 0x01000000, 0x01000000, 0x01000000, 0x01000000, 0x01000000, 0x01000000, 0x01000000,
      0x01000000, 0xc8000000}},
    {"control register names", A6 "cwrite $02, [$00 + @REG_WRITE]", 0, 2, {W6, 0xa8020025}},
    {"upper half by +1", A6 "cread $02, [$00 + @IB1_BASE+0x1]", 0, 2, {W6, 0xb8020011}},
    {"gen3 has other numbers",
     "[01520001]\ncwrite $02, [$00 + @REG_WRITE]",
     0,
     2,
     {0x01520001, 0xa8020019}},
    {"SQE register names", A6 "swrite $00, [$00 + %SP]", 0, 2, {W6, 0xa8008005}},
    {"flags operand", A6 "cwrite $02, [$00 + 0x025], 0x0", 0, 2, {W6, 0xa8020025}},
};

static void test_sources(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        struct cps_asm program = {0};
        struct cps_err *err = assemble(sources[i].text, sources[i].gen, &program);
        if (err)
            fail_msg("%s: %s", sources[i].claim, err->message);
        assert_int_equal(program.count, sources[i].count + 1);
        assert_int_equal(program.words[0], 0);
        for (uint32_t k = 0; k < sources[i].count; k++) {
            if (program.words[k + 1] != sources[i].words[k])
                fail_msg("%s: word %u is %08x, expected %08x", sources[i].claim, k,
                         program.words[k + 1], sources[i].words[k]);
        }
        free(program.words);
    }
}

static void test_lead(void **state)
{
    struct cps_asm program = {0};
    (void)state;
    assert_null(assemble(".lead 0x12345678\n" A6, 0, &program));
    assert_int_equal(program.count, 2);
    assert_int_equal(program.words[0], 0x12345678);
    free(program.words);
    assert_null(assemble(".lead 0xffffffff\n" A6, 0, &program));
    assert_int_equal(program.words[0], UINT32_MAX);
    free(program.words);
}

/* Names of this and of other variants, unknown ids in decimal, a default, and ids without label. */
static void test_jumptbl(void **state)
{
    static const char text[] = A6 "CP_NOP: UNKN127:\nnop\n"
                                  "CP_SCRATCH_WRITE:\nIN_IB_END:\nnop\nother: nop\n"
                                  ".align 32\njumptbl:\n.jumptbl";
    struct cps_asm program = {0};
    (void)state;
    assert_null(assemble(text, 0, &program));
    assert_int_equal(program.count, 1 + 8 + 128);
    const uint32_t *table = program.words + 1 + 8;
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++)
        assert_int_equal(table[id], id == 0x10 || id == 127 ? 1 : id == 0x4c || id == 0x0a ? 2 : 0);
    free(program.words);
    assert_null(assemble(A6 "CP_NOP: nop\nother: nop\n.jumptbl #other", 0, &program));
    assert_int_equal(program.words[4 + 0x10], 1);
    assert_int_equal(program.words[4 + 0x11], 2);
    free(program.words);
}

/* What Mesa's assembler takes, too: sums and products of labels, and blanks in front of colons. */
static void test_labels(void **state)
{
    static const char text[] = A6 "nop\nfirst : nop\nlast:\n"
                                  "mov $02, #last\nmov $02, #last + #first\n"
                                  "mov $02, #last*4 - #first * 2 << 16\n"
                                  "add $02, $03, #last - #first\nmov $02, #last + 0x10 - 1\n"
                                  "jump #first + 1\ncall #last - #first\n"
                                  "breq $02, b1, #last + 1\n[#last - #first]\n[ #last * 2 ]\n"
                                  "cread $02, [$00 + @REG_READ_ADDR+@REG_READ_ADDR]\n"
                                  "cread $02, [$00 + @REG_READ_ADDR + 0x027]\n";
    static const char plain[] = A6 "nop\nnop\n"
                                   "mov $02, 3\nmov $02, 5\nmov $02, 8 << 16\nadd $02, $03, 1\n"
                                   "mov $02, 18\njump 3\ncall 1\nbreq $02, b1, 4\n"
                                   "[01000001]\n[01000006]\n"
                                   "cread $02, [$00 + 0x04e]\ncread $02, [$00 + 0x04e]\n";
    struct cps_asm program = {0};
    struct cps_asm same = {0};
    (void)state;
    assert_null(assemble(text, 0, &program));
    assert_null(assemble(plain, 0, &same));
    assert_int_equal(program.count, same.count);
    assert_memory_equal(program.words, same.words, 4 * same.count);
    free(program.words);
    free(same.words);
}

/* "BV::start" is a dword of the image, "start" one of the section. */
static void test_sections(void **state)
{
    static const char text[] = "[01730001]\n[#jumptbl]\nadd $03, $01, #BV::start * 4\n"
                               "add $03, $03, #LPAC::end * 4 - #BV::start * 4\n"
                               "jumptbl: .jumptbl\n"
                               ".section BV\nstart: mov $02, #start\nmov $02, #BV::start\n"
                               ".section LPAC\nnop\nend: nop\nmov $02, #end\n";
    struct cps_asm program = {0};
    (void)state;
    assert_null(assemble(text, 0, &program));
    const uint32_t *word = program.words + 1;
    enum { BV = 0x88, LPAC = 0x90 };
    assert_int_equal(word[2] & 0xffff, BV * 4);
    assert_int_equal(word[3] & 0xffff, (LPAC + 1 - BV) * 4);
    assert_int_equal(word[BV] & 0xffff, 0);
    assert_int_equal(word[BV + 1] & 0xffff, BV);
    assert_int_equal(word[LPAC + 2] & 0xffff, 1);
    free(program.words);
}

#define HERE(column) "a.afuc:2:" #column ": "

static const struct {
    const char *text;
    const char *message;
} errors[] = {
    {"nop", "a.afuc: generation is unknown, expected a comment '; a6xx microcode' or a first word "
            "such as [016ee001]"},
    {A6 "  mov $01 0x1 ; x", HERE(11) "expected ','\n  mov $01 0x1 ; x\n          ^"},
    {A6 "\tfrob", HERE(2) "expected an instruction of this generation\n\tfrob\n\t^"},
    {A6 "jump #nowhere", HERE(6) "expected a label that is defined\njump #nowhere\n     ^"},
    {A6 "[#nowhere]", HERE(2) "expected a label that is defined\n[#nowhere]\n ^"},
    {A6 "a: [#a", HERE(7) "expected ']'\na: [#a\n      ^"},
    {A6 "[#]", HERE(2) "expected a label (#name)\n[#]\n ^"},
    {A6 "a: [#a * 0x10000]",
     HERE(10) "expected a number of 16 bits\na: [#a * 0x10000]\n         ^"},
    {A6 "a: [#a - 2]", HERE(5) "expected labels that make a number of 32 bits\na: [#a - 2]\n    ^"},
    {A6 "a: [#a + 0x1000000]", HERE(19) "expected labels that make a number of 24 bits\na: [#a + "
                                        "0x1000000]\n                  ^"},
    {A6 "a: mov $02, #a + b",
     HERE(18) "expected a label (#name) or a number\na: mov $02, #a + b\n                 ^"},
    {A6 "jump #BV::a\n.section BV\nb:",
     HERE(6) "expected a label that is defined\njump #BV::a\n     ^"},
    {A6 "a: jump #XY::a", HERE(9) "expected a label that is defined\na: jump #XY::a\n        ^"},
    {A6 "a: jump #a + #b",
     HERE(14) "expected a label that is defined\na: jump #a + #b\n             ^"},
    {A6 "a: call #a + 0x3ffffff", HERE(9) "target is 67108864, expected a value from 0 to "
                                          "67108863\na: call #a + 0x3ffffff\n        ^"},
    {A6 "a: a: nop", HERE(4) "label is defined twice, expected only the one in line 2\na: a: nop\n"
                             "   ^"},
    {A6 ".frob", HERE(1) "expected .align, .jumptbl, .lead or .section\n.frob\n^"},
    {A6 ".align 6", HERE(8) "expected a multiple of 4 bytes, at most 4096\n.align 6\n       ^"},
    {A6 ".align 8192",
     HERE(8) "expected a multiple of 4 bytes, at most 4096\n.align 8192\n       ^"},
    {A6 ".align", HERE(7) "expected a multiple of 4 bytes, at most 4096\n.align\n      ^"},
    {A6 ".align 8 8", HERE(10) "expected the end of the line\n.align 8 8\n         ^"},
    {A6 ".section BR", HERE(10) "expected a section (BV, LPAC or DDE)\n.section BR\n         ^"},
    {A6 ".section BV\n.section BV",
     "a.afuc:3:10: expected a section that was not there before\n.section BV\n         ^"},
    {A6 ".lead 0x100000000", HERE(7) "expected a number of 32 bits\n.lead 0x100000000\n      ^"},
    {A6 ".lead x", HERE(7) "expected a number of 32 bits\n.lead x\n      ^"},
    {A6 "CP_NOPE: nop\n.jumptbl",
     "a.afuc:3:1: label CP_NOPE in line 2 is no packet, expected a packet's name or UNKN0 to "
     "UNKN127\n.jumptbl\n^"},
    {A6 "UNKN128: nop\n.jumptbl",
     "a.afuc:3:1: label UNKN128 in line 2 is no packet, expected a packet's name or UNKN0 to "
     "UNKN127\n.jumptbl\n^"},
    {A6 "CP_NOP: nop\nUNKN16: nop\n.jumptbl",
     "a.afuc:4:1: packet 0x10 has handlers in lines 2 and 3, expected one\n.jumptbl\n^"},
    {A6 ".jumptbl #nowhere",
     HERE(10) "expected a label that is defined\n.jumptbl #nowhere\n         ^"},
    {A6 "nop x\nnop\nnop y",
     HERE(5) "expected the end of the instruction\nnop x\n    ^\n"
             "a.afuc:4:5: expected the end of the instruction\nnop y\n    ^"},
};

static void test_errors(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        struct cps_asm program = {0};
        struct cps_err *err = assemble(errors[i].text, 0, &program);
        assert_non_null(err);
        assert_int_equal(err->code, CPS_ERR_SYNTAX);
        assert_string_equal(err->message, errors[i].message);
        assert_null(program.words);
        cps_err_free(err);
    }
}

/* A name that another register database knows may stand on a shared handler. */
static void test_foreign_packet_name(void **state)
{
    struct cps_asm program = {0};
    (void)state;
    assert_null(assemble(A6 "CP_NOP:\nCP_NEVER_HEARD_OF: nop\n.jumptbl", 0, &program));
    free(program.words);
}

static unsigned count(const char *text, const char *part)
{
    unsigned n = 0;
    for (; (text = strstr(text, part)); text++)
        n++;
    return n;
}

static void test_at_most_20_errors(void **state)
{
    CPS_BUF text = {0};
    struct cps_asm program = {0};
    (void)state;
    cps_buf_str(&text, A6);
    for (unsigned i = 0; i < 50; i++)
        cps_buf_str(&text, "frob\n");
    struct cps_err *err = cps_assemble("a.afuc", text.data, text.size, 0, &program);
    assert_non_null(err);
    assert_int_equal(count(err->message, "expected"), 20);
    assert_non_null(strstr(err->message, "a.afuc: more errors follow"));
    cps_err_free(err);
}

static void test_long_line(void **state)
{
    CPS_BUF text = {0};
    struct cps_asm program = {0};
    (void)state;
    cps_buf_str(&text, A6 "nop");
    cps_buf_pad(&text, 0, 2000);
    cps_buf_str(&text, "x");
    struct cps_err *err = cps_assemble("a.afuc", text.data, text.size, 0, &program);
    assert_non_null(err);
    assert_non_null(
        strstr(err->message, "a.afuc:2:501: statement is 1990 bytes long, expected at most 500"));
    cps_err_free(err);
    /* Behind a semicolon, any length is fine. */
    cps_buf_clear(&text);
    cps_buf_str(&text, A6 "nop ;");
    cps_buf_pad(&text, 0, 2000);
    assert_null(cps_assemble("a.afuc", text.data, text.size, 0, &program));
    assert_int_equal(program.count, 3);
    free(program.words);
}

static void test_nul_byte(void **state)
{
    static const char text[] = A6 "nop\0x\n";
    struct cps_asm program = {0};
    (void)state;
    struct cps_err *err = cps_assemble("a.afuc", text, sizeof(text) - 1, 0, &program);
    assert_non_null(err);
    assert_string_equal(err->message, "a.afuc:2:4: expected text, found a NUL byte\nnop?x\n   ^");
    cps_err_free(err);
}

static void test_full_image(void **state)
{
    CPS_BUF text = {0};
    struct cps_asm program = {0};
    (void)state;
    cps_buf_str(&text, A6);
    for (unsigned i = 0; i < CPS_FW_MAX_WORDS / 1023 + 1; i++)
        cps_buf_str(&text, ".align 4096\nnop\n");
    struct cps_err *err = cps_assemble("a.afuc", text.data, text.size, 0, &program);
    assert_non_null(err);
    assert_non_null(strstr(err->message, "image is full, expected at most 4194304 words"));
    cps_err_free(err);
}

/* Without a comment, the first word's top byte says the generation where no id is known. */
static void test_first_words(void **state)
{
    static const struct {
        const char *text;
        enum cps_gen gen;
    } rows[] = {{"[00000001]\nnop\n", CPS_A5XX}, {"[00800001]\nnop\n", CPS_A5XX},
                {"[00ffffff]\nnop\n", CPS_A5XX}, {"[01000000]\nnop\n", CPS_A6XX},
                {"[01ffffff]\nnop\n", CPS_A6XX}, {"[01740001]\nnop\n", CPS_A7XX},
                {"[01800001]\nnop\n", CPS_A6XX}, {"[005ff001]\nnop\n", CPS_A5XX}};
    struct cps_program program;
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *text = rows[i].text;
        assert_null(cps_program_assemble("a.afuc", text, strlen(text), 0, &program));
        if (program.gen != rows[i].gen)
            fail_msg("%s: generation %d", text, (int)program.gen);
        cps_program_deinit(&program);
    }
    struct cps_err *err = cps_program_assemble("a.afuc", "[02000000]\nnop\n", 15, 0, &program);
    assert_non_null(err);
    assert_non_null(strstr(err->message, "a.afuc: generation is unknown"));
    cps_err_free(err);
}

/* Which line a word comes from and what its places are called, part by part. */
static void test_program(void **state)
{
    static const char text[] = A6 "[#end]\nfirst:\n\nCP_NOP: nop\n.align 16\nnop\nend:\n"
                                  ".section LPAC\nnop\nfirst: nop\n"
                                  "jumptbl: .jumptbl #first\nend:";
    static const struct cps_fw_symbol symbols[] = {{"CP_NOP", 0, 2, 0x10}, {"first", 0, 2, -1},
                                                   {"end", 0, 5, -1},      {"first", 1, 1, -1},
                                                   {"jumptbl", 1, 2, -1},  {"end", 1, 130, -1}};
    static const struct cps_fw_line lines[] = {{0, 0, 0, 1},  {0, 1, 0, 2},  {0, 2, 0, 5},
                                               {0, 3, 0, 6},  {0, 4, 0, 7},  {0, 5, 0, 9},
                                               {1, 0, 0, 10}, {1, 1, 0, 11}, {1, 2, 0, 12}};
    struct cps_program program;
    (void)state;
    assert_null(cps_program_assemble("a.afuc", text, strlen(text), 0, &program));
    assert_int_equal(program.gen, CPS_A6XX);
    assert_int_equal(program.part_count, 2);
    assert_int_equal(program.part[0].size, 8);
    assert_int_equal(program.part[0].table, CPS_FW_NONE);
    assert_int_equal(program.part[1].role, CPS_FW_LPAC);
    assert_int_equal(program.part[1].start, 8);
    assert_int_equal(program.part[1].size, 130);
    assert_int_equal(program.part[1].table, 2);
    assert_int_equal(program.debug.file_count, 1);
    assert_string_equal(program.debug.files[0], "a.afuc");
    assert_int_equal(program.debug.symbol_count, 6);
    for (size_t i = 0; i < 6; i++) {
        const struct cps_fw_symbol *symbol = &program.debug.symbols[i];
        assert_string_equal(symbol->name, symbols[i].name);
        assert_int_equal(symbol->part, symbols[i].part);
        assert_int_equal(symbol->dword, symbols[i].dword);
        assert_int_equal(symbol->packet, symbols[i].packet);
    }
    assert_int_equal(program.debug.line_count, 9);
    assert_memory_equal(program.debug.lines, lines, sizeof(lines));
    cps_program_deinit(&program);
    assert_int_equal(program.debug.symbol_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sources),
        cmocka_unit_test(test_lead),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_sections),
        cmocka_unit_test(test_jumptbl),
        cmocka_unit_test(test_first_words),
        cmocka_unit_test(test_program),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_foreign_packet_name),
        cmocka_unit_test(test_at_most_20_errors),
        cmocka_unit_test(test_long_line),
        cmocka_unit_test(test_nul_byte),
        cmocka_unit_test(test_full_image),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
