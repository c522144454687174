/* SPDX-License-Identifier: MIT
 * What is read out of an image's first instructions: ids without a row, tables without a header,
 * parts and their roles. Programs follow the boots of shipped files; where each is from is said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/lib/fwcheck.h"
#include "isa/base/le.h"

/* The image of a program, as a raw file says it. @p gen  what the words are assembled for */
static struct cps_fw *load_as(const char *text, enum cps_gen gen, unsigned asked)
{
    struct cps_fw *fw = fwcheck_assemble(text, gen, asked);
    assert_non_null(fw);
    return fw;
}

static struct cps_fw *load(const char *text, enum cps_gen gen)
{
    return load_as(text, gen, 0);
}

#define TABLE "jumptbl: .jumptbl\n"
/* a740 168 0006..0009, a730 142 0008..000b: the check of the variant. */
#define WANTS(control, value)                                                \
    "cread $03, [$00 + " control "]\nbreq $03, b21, #on\nubfx $03, $03, b8," \
    " b19\ncmp $04, $03, " value "\nbreq $04, b0, #on\nnop\n[fbadc0de]\non: nop\n"
/* a740 168 0003..0006 of its BV: that of CHIP_ID. */
#define IS(value)                                                          \
    "cread $02, [$00 + 0x000]\nmov $03, " value "\nushr $02, $02, 0x01c\n" \
    "cmp $02, $02, $03\n"

/* gen80000 077 006b..006d: asks for a GPU register, with an aperture between. */
#define READS(gpu) "mov $05, " gpu "\ncwrite $04, [$00 + 0x01c]\ncwrite $05, [$00 + 0x01b]\n"
/* gen70900_aqe 023 0008..000a, 0018: which of both it is, and a word of its own. */
#define AQE                                                                                    \
    "cread $14, [$00 + 0x000]\nubfx $14, $14, b24, b27\nsub $14, $14, 0x4\ncread $03, [$14 + " \
    "0x271]\n"

static const struct unknown {
    const char *claim, *text;
    enum cps_gen words, gen;
    enum cps_layout layout;
    uint32_t identity, variant;
    const char *says; /* in `assumed` */
} unknowns[] = {
    {"a7xx without a row wants its variant",
     "[017bb001]\n[#jumptbl]\n" WANTS("0x0ef", "0x29") TABLE, CPS_A7XX, CPS_A7XX, CPS_LAYOUT_A7XX,
     0, 0x2900,
     "firmware id 0x7bb is not known, taken for a7xx from its contents; its boot wants "
     "CHIP_VARIANT 0x00002900"},
    {"and its identity", "[017bb001]\n[#jumptbl]\n" IS("0x7") WANTS("0x0ef", "0x41") TABLE,
     CPS_A7XX, CPS_A7XX, CPS_LAYOUT_A7XX, 0x70000000, 0x4100,
     "; its boot wants CHIP_ID 0x70000000 and CHIP_VARIANT 0x00004100"},
    {"a table written by 0x071 has a750's numbers, variant at 0x002",
     "[017bb001]\n[#jumptbl]\n" WANTS("0x002",
                                      "0x30") "cwrite $03, [$00 + 0x071]\nmov $02, 0x830\n" TABLE,
     CPS_A7XX, CPS_A7XX, CPS_LAYOUT_A7XX_GEN3, 0, 0x3000,
     "taken for a7xx with control registers as a750 from its contents; its boot wants "
     "CHIP_VARIANT 0x00003000"},
    {"where the boot looks for its code at 0x816, it is a8xx",
     "[017bb001]\n[#jumptbl]\n" WANTS("0x002", "0x50") "cwrite $03, [$00 + 0x071]\n" READS("0x816")
         READS("0x830") TABLE,
     CPS_A7XX, CPS_A8XX, CPS_LAYOUT_A8XX, 0, 0x5000,
     "firmware id 0x7bb is not known, taken for a8xx from its contents; its boot wants"},
    {"0x816 that is no register's number is a constant like others",
     "[017bb001]\n[#jumptbl]\n" WANTS(
         "0x002", "0x50") "cwrite $03, [$00 + 0x071]\nmov $02, 0x816\n" READS("0x830") TABLE,
     CPS_A7XX, CPS_A7XX, CPS_LAYOUT_A7XX_GEN3, 0, 0x5000,
     "taken for a7xx with control registers as a750"},
    {"who starts a DDE is a8xx",
     "[017bb001]\n[#jumptbl]\nubfx $03, $03, b8, b19\ncwrite $03, [$00 + 0x071]\ncwrite $05, [$00 "
     "+ 0x08a]\n" TABLE,
     CPS_A7XX, CPS_A8XX, CPS_LAYOUT_A8XX, 0, 0, "taken for a8xx from its contents"},
    {"0x08a is something else before a750",
     "[017bb001]\n[#jumptbl]\nubfx $03, $03, b8, b19\ncwrite $03, [$00 + 0x061]\ncwrite $05, [$00 "
     "+ 0x08a]\n" TABLE,
     CPS_A7XX, CPS_A7XX, CPS_LAYOUT_A7XX, 0, 0, "taken for a7xx from its contents"},
    {"an AQE is of a750 or later", "[017bb001]\n" AQE READS("0x813"), CPS_A7XX, CPS_A7XX,
     CPS_LAYOUT_A7XX_GEN3, 0, 0,
     "taken for a7xx with control registers as a750, an AQE, from its contents"},
    {"of a8xx if it reads 0x818",
     "[017bb001]\n" AQE "add $06, $02, 0x818\ncwrite $06, [$00 + 0x01b]\n", CPS_A7XX, CPS_A8XX,
     CPS_LAYOUT_A8XX, 0, 0, "taken for a8xx, an AQE, from its contents"},
    {"both tables written: the first layout",
     "[017bb001]\n[#jumptbl]\nubfx $03, $03, b8, b19\ncwrite $03, [$00 + 0x071]\ncwrite $03, [$00 "
     "+ 0x061]\n" TABLE,
     CPS_A7XX, CPS_A7XX, CPS_LAYOUT_A7XX, 0, 0, "taken for a7xx from its contents"},
    {"a6xx has an identity and no variant",
     "[016bb001]\n[#jumptbl]\nmov $07, 0x1\ncread $02, [$00 + 0x000]\nmov $03, 0x3\nushr $02, $02, "
     "0x1c\n"
     "cmp $02, $02, $03\nmov $04, 0x8\nmov $05, 0x9\nmov $06, 0xa\n" TABLE,
     CPS_A6XX, CPS_A6XX, CPS_LAYOUT_A6XX, 0x30000000, 0, "; its boot wants CHIP_ID 0x30000000"},
    {"a comparison far behind the read is about something else",
     "[017bb001]\n[#jumptbl]\ncread $03, [$00 + 0x0ef]\nubfx $03, $03, b8, "
     "b19\nnop\nnop\nnop\nnop\n"
     "nop\nnop\ncmp $04, $03, 0x29\n" TABLE,
     CPS_A7XX, CPS_A7XX, CPS_LAYOUT_A7XX, 0, 0, "taken for a7xx from its contents"},
    {"so is another register", "[017bb001]\n[#jumptbl]\n" WANTS("0x0ee", "0x29") TABLE, CPS_A7XX,
     CPS_A7XX, CPS_LAYOUT_A7XX, 0, 0, "taken for a7xx from its contents"},
};

static void the_boot_says_which_chip_it_wants(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(unknowns) / sizeof(unknowns[0]); i++) {
        const struct unknown *u = &unknowns[i];
        struct cps_fw *fw = load(u->text, u->words);
        if (fw->gen != u->gen || fw->layout != u->layout || fw->identity != u->identity ||
            fw->variant != u->variant || !fw->assumed || !strstr(fw->assumed, u->says) ||
            (!u->variant && strstr(fw->assumed, "VARIANT")) ||
            (!u->identity && strstr(fw->assumed, "CHIP_ID")))
            fail_msg("%s: %s, CHIP_ID 0x%x, CHIP_VARIANT 0x%x: %s", u->claim, cps_gen_name(fw->gen),
                     fw->identity, fw->variant, fw->assumed ? fw->assumed : "nothing assumed");
        if (!fwcheck_listing(fw))
            fail_msg("%s: its listing is another program", u->claim);
        cps_fw_destroy(fw);
    }
}

/* The rows of target.def are what was measured and published; code may do other things. */
static void a_row_wins_over_the_code(void **state)
{
    (void)state;
    struct cps_fw *fw = load("[01740001]\n[#jumptbl]\n" WANTS("0x0ef", "0x29") TABLE, CPS_A7XX);
    assert_int_equal(fw->variant, 0x4000);
    assert_int_equal(fw->identity, 0x70000000);
    assert_null(fw->assumed);
    cps_fw_destroy(fw);
}

/* Asked for, a generation is not guessed again; the code is looked at all the same, also for the
 * layout, and where the row is of another generation. */
static void what_is_asked_for_is_looked_at_too(void **state)
{
    static const struct {
        const char *text;
        enum cps_gen words, asked;
        enum cps_layout layout;
        uint32_t identity, variant;
        const char *says;
    } rows[] = {
        {"[017bb001]\n[#jumptbl]\n" WANTS("0x0ef", "0x29") TABLE, CPS_A7XX, CPS_A7XX,
         CPS_LAYOUT_A7XX, 0, 0x2900, "as was asked for; its boot wants CHIP_VARIANT 0x00002900"},
        {"[017bb001]\n[#jumptbl]\n" WANTS("0x002", "0x29") "cwrite $03, [$00 + 0x071]\n" TABLE,
         CPS_A7XX, CPS_A7XX, CPS_LAYOUT_A7XX_GEN3, 0, 0x2900,
         "control registers as a750 as was asked for"},
        {"[017bb001]\n[#jumptbl]\ncwrite $03, [$00 + 0x071]\n" READS("0x816") TABLE, CPS_A7XX,
         CPS_A7XX, CPS_LAYOUT_A7XX_GEN3, 0, 0, "control registers as a750 as was asked for"},
        {"[016ee001]\n[#jumptbl]\n" IS("0x7") WANTS("0x0ef", "0x41") TABLE, CPS_A7XX, CPS_A7XX,
         CPS_LAYOUT_A7XX, 0x70000000, 0x4100,
         "firmware id 0x6ee is of a6xx, taken for a7xx as was asked for; its boot wants CHIP_ID "
         "0x70000000"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cps_fw *fw = load_as(rows[i].text, rows[i].words, rows[i].asked);
        assert_int_equal(fw->gen, rows[i].asked);
        assert_int_equal(fw->layout, rows[i].layout);
        assert_int_equal(fw->identity, rows[i].identity);
        assert_int_equal(fw->variant, rows[i].variant);
        assert_non_null(strstr(fw->assumed, rows[i].says));
        assert_true(fwcheck_listing(fw));
        cps_fw_destroy(fw);
    }
}

/* The head says the layout, so that names of a750 stand in the listing of an unknown id. */
static void a_listing_says_its_layout(void **state)
{
    CPS_BUF text = {0};
    (void)state;
    struct cps_fw *fw = load("[017bb001]\n[#jumptbl]\n" WANTS("0x002", "0x29")
                                 READS("0x830") "cwrite $03, [$00 + 0x071]\n" TABLE,
                             CPS_A7XX);
    assert_null(cps_fw_listing(fw, NULL, &text));
    assert_int_equal(strncmp(cps_buf_text(&text), "; a7xx a750 microcode\n", 22), 0);
    assert_non_null(strstr(cps_buf_text(&text), "@REG_READ_ADDR]"));
    cps_fw_destroy(fw);
}

/* a660 094: dword 1 is the file's size, dword 2 the version word of LPAC; 0003 loads the offset of
 * the table, and 0002 of LPAC's part that of its own. */
static void tables_of_a660_stand_in_its_code(void **state)
{
    static const char text[] =
        "[016dc094]\n[0100278b]\n[016dc071]\nmov $12, #jumptbl\nmov $13, 0x1f98\n"
        "CP_NOP: waitin\nmov $01, $data\n" TABLE
        ".section LPAC\n[016ac057]\n[01000000]\nmov $12, #jumptbl\n"
        "CP_NOP: waitin\nmov $01, $data\nnop\n" TABLE;
    (void)state;
    struct cps_fw *fw = load(text, CPS_A6XX);
    assert_null(fw->assumed);
    assert_int_equal(fw->part_count, 2);
    assert_int_equal(fw->part[0].role, CPS_FW_SQE);
    assert_int_equal(fw->part[0].table, 7);
    assert_int_equal(cps_fw_handler(fw, &fw->part[0], 0x10), 5);
    assert_int_equal(fw->part[1].role, CPS_FW_LPAC);
    assert_int_equal(fw->part[1].start, 136); /* 7 + 128, to 32 bytes */
    assert_int_equal(fw->part[1].table, 6);
    assert_int_equal(cps_fw_handler(fw, &fw->part[1], 0x10), 3);
    assert_int_equal(fw->identity, 0x30000000);
    assert_true(fwcheck_listing(fw));
    cps_fw_destroy(fw);
}

/* 16 instructions: what comes later is a constant like others. */
static void a_table_is_not_looked_for_in_the_whole_code(void **state)
{
    static const char text[] =
        "[016dc094]\n[0100278b]\nnop\nnop\nnop\nnop\nnop\nnop\nnop\nnop\nnop\nnop\n"
        "nop\nnop\nnop\nnop\nmov $12, #jumptbl\nwaitin\nmov $01, $data\n" TABLE;
    (void)state;
    struct cps_fw *fw = load(text, CPS_A6XX);
    assert_int_equal(fw->part_count, 1);
    assert_int_equal(fw->part[0].table, CPS_FW_NONE);
    assert_true(fwcheck_listing(fw));
    cps_fw_destroy(fw);
}

/* The parts of gen80000 (kernel and Mesa call them BR, BV, LPAC, DDE), in their order. */
static void sections_of_a8xx_are_its_parts(void **state)
{
    static const char text[] =
        "[01500070]\n[01000000]\n[01500001]\n[#jumptbl]\nCP_NOP: waitin\nmov $01, $data\n" TABLE
        ".section BV\n[01500002]\n[#jumptbl]\nnop\nCP_NOP: waitin\nmov $01, $data\n" TABLE
        ".section LPAC\n[01500003]\n[#jumptbl]\nnop\nnop\nCP_NOP: waitin\nmov $01, $data\n" TABLE
        ".section DDE\n[01500004]\n[#jumptbl]\nnop\nnop\nnop\nCP_NOP: waitin\nmov $01, "
        "$data\n" TABLE;
    static const enum cps_fw_role roles[] = {CPS_FW_SQE, CPS_FW_BV, CPS_FW_LPAC, CPS_FW_DDE};
    static const char *const names[] = {"sqe", "bv", "lpac", "dde"};
    (void)state;
    struct cps_fw *fw = load(text, CPS_A8XX);
    assert_int_equal(fw->gen, CPS_A8XX);
    assert_int_equal(fw->part_count, 4);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(fw->part[i].role, roles[i]);
        assert_string_equal(cps_fw_role_name(fw->part[i].role), names[i]);
        assert_int_equal(fw->part[i].start % 8, 0);
        assert_int_equal(cps_fw_handler(fw, &fw->part[i], 0x10), i ? 2 + i : 4);
    }
    assert_string_equal(cps_fw_role_section(CPS_FW_DDE), "DDE");
    assert_null(cps_fw_role_section(CPS_FW_SQE));
    assert_true(fwcheck_listing(fw));
    cps_fw_destroy(fw);
}

/* a7xx has three: a fourth chain belongs to the last. */
static void a7xx_has_no_dde(void **state)
{
    static const char text[] =
        "[01740070]\n[#jumptbl]\nnop\n" TABLE ".section BV\n[01740002]\n[#jumptbl]\nnop\n" TABLE
        ".section LPAC\n[01740003]\n[#jumptbl]\nnop\n" TABLE
        ".section DDE\n[01740004]\n[#jumptbl]\nnop\n" TABLE;
    (void)state;
    struct cps_fw *fw = load(text, CPS_A7XX);
    assert_int_equal(fw->part_count, 3);
    assert_int_equal(fw->part[2].role, CPS_FW_LPAC);
    assert_int_equal(fw->part[2].start + fw->part[2].size, fw->count);
    cps_fw_destroy(fw);
}

/* gen70900_aqe 023: the id of its SQE and code of its own; that a program has no packet table says
 * nothing, and that is said. */
static void an_aqe_has_its_sqes_id_and_its_own_code(void **state)
{
    static const char plain[] = "[01520023]\n[01000000]\nmov $02, 0x23\nwaitin\nmov $01, $data\n";
    static const char *const words[] = {"520", "500"};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        char text[] = "[01520023]\n[01000000]\n" AQE "waitin\nmov $01, $data\n";
        memcpy(text + 3, words[i], 3);
        struct cps_fw *fw = load(text, CPS_A7XX);
        assert_int_equal(fw->layout, i ? CPS_LAYOUT_A8XX : CPS_LAYOUT_A7XX_GEN3);
        assert_int_equal(fw->part_count, 1);
        assert_int_equal(fw->part[0].role, CPS_FW_AQE);
        assert_int_equal(fw->part[0].size, fw->count);
        assert_null(fw->assumed);
        cps_fw_destroy(fw);
    }
    struct cps_fw *fw = load(plain, CPS_A7XX);
    assert_int_equal(fw->part[0].role, CPS_FW_SQE);
    assert_non_null(strstr(fw->assumed, "taken for an SQE"));
    cps_fw_destroy(fw);
}

/* Parts are those of the row: what stands behind them belongs to the last one. */
static void parts_are_what_the_row_says(void **state)
{
    static const char text[] = "[01%s001]\n[#jumptbl]\nmov $02, 0x1\n" TABLE
                               ".section BV\n[01710002]\n[#jumptbl]\nnop\n" TABLE;
    static const struct {
        const char *id;
        unsigned parts;
    } rows[] = {{"710", 1}, {"740", 2}, {"7bb", 2}};
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        char program[sizeof(text) + 8];
        snprintf(program, sizeof(program), text, rows[i].id);
        struct cps_fw *fw = load(program, CPS_A7XX);
        assert_int_equal(fw->part_count, rows[i].parts);
        cps_fw_destroy(fw);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_boot_says_which_chip_it_wants),
        cmocka_unit_test(a_row_wins_over_the_code),
        cmocka_unit_test(what_is_asked_for_is_looked_at_too),
        cmocka_unit_test(tables_of_a660_stand_in_its_code),
        cmocka_unit_test(a_table_is_not_looked_for_in_the_whole_code),
        cmocka_unit_test(sections_of_a8xx_are_its_parts),
        cmocka_unit_test(a7xx_has_no_dde),
        cmocka_unit_test(a_listing_says_its_layout),
        cmocka_unit_test(an_aqe_has_its_sqes_id_and_its_own_code),
        cmocka_unit_test(parts_are_what_the_row_says),
    };
    return cmocka_run_group_tests_name("boot", tests, NULL, NULL);
}
