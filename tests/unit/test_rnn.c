/* SPDX-License-Identifier: MIT
 * rnndb XML over the built-in names: what is understood and what is refused. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/rnntext.h"

static const char registers[] = A6XX(
    "<reg32 name=\"MINE\" offset=\"0x0800\" type=\"named\"/>\n"
    "<reg64 name=\"WIDE\" offset=\"2050\"/>\n"
    "<reg32 name=\"OLD\" offset=\"0x900\" variants=\"A6XX\"/>\n"
    "<reg32 name=\"NEW\" offset=\"0x900\" variants=\"A7XX-\"/>\n"
    "<reg32 name=\"NEWEST\" offset=\"0x900\" variants=\"A8XX-\"/>\n"
    "<array name=\"ARR\" offset=\"0x31000\" stride=\"0x10\" length=\"3\">\n"
    "  <reg32 name=\"FIRST\" offset=\"0\"><bitfield name=\"LOW\" low=\"0\" high=\"3\"/></reg32>\n"
    "  <array name=\"INNER\" offset=\"4\" stride=\"2\" length=\"2\">\n"
    "    <reg64 name=\"ADDR\" offset=\"0\" type=\"address\"/>\n"
    "  </array>\n"
    "</array>\n"
    "<array name=\"PERF\" offset=\"0x32000\" stride=\"2\" length=\"4\" variants=\"A7XX-\"/>\n"
    "<stripe varset=\"chip\" variants=\"A6XX-A7XX\">\n"
    "  <reg32 name=\"STRIPED\" offset=\"0x33000\"/>\n"
    "  <reg32 name=\"NEVER\" offset=\"0x33001\" variants=\"A5XX\"/>\n"
    "</stripe>\n"
    "<stripe varset=\"other\" variants=\"SOMETHING\">\n"
    "  <reg32 name=\"ANY\" offset=\"0x33002\"/>\n"
    "</stripe>\n"
    "<reg32 name=\"REP\" offset=\"0x34000\" stride=\"4\" length=\"2\"/>\n"
    "<reg64 name=\"SPLIT\" offset=\"0x35000\">\n"
    "  <bitfield name=\"ACROSS\" low=\"28\" high=\"35\"/><bitfield name=\"TOP\" pos=\"63\"/>\n"
    "</reg64>\n"
    "<doc><b>text</b> <reg32 name=\"NOT\" offset=\"0x36000\"/></doc>\n"
    "<bitset name=\"named\">\n"
    "  <bitfield name=\"FLAG\" pos=\"31\"/>\n"
    "  <bitfield name=\"PART\" low=\"4\" high=\"7\" variants=\"A6XX\"/>\n"
    "</bitset>\n"
    "<reg32 name=\"BOTH\" offset=\"0x37000\" type=\"named\"><bitfield name=\"OWN\" "
    "pos=\"0\"/></reg32>\n"
    "<array name=\"SETS\" offset=\"0x37010\" stride=\"2\" length=\"2\">\n"
    "  <reg32 name=\"OF\" offset=\"1\" type=\"named\"><bitfield name=\"OWN\" pos=\"0\"/></reg32>\n"
    "</array>\n"
    "<bitset name=\"named\"/>\n"); /* a second definition does not replace the first */

static const struct {
    enum cps_layout layout;
    uint32_t number;
    const char *name;
    unsigned index;
} named[] = {
    {CPS_LAYOUT_A6XX, 0x800, "MINE", 0},
    {CPS_LAYOUT_A6XX, 0x802, "WIDE", 0},
    {CPS_LAYOUT_A6XX, 0x803, "WIDE", 1},
    {CPS_LAYOUT_A6XX, 0x900, "OLD", 0},
    {CPS_LAYOUT_A7XX, 0x900, "NEW", 0},
    {CPS_LAYOUT_A8XX, 0x900, "NEWEST", 0},
    {CPS_LAYOUT_A6XX, 0x31010, "ARR[1].FIRST", 0},
    {CPS_LAYOUT_A6XX, 0x31024, "ARR[2].INNER[0].ADDR", 0},
    {CPS_LAYOUT_A6XX, 0x31027, "ARR[2].INNER[1].ADDR", 1},
    {CPS_LAYOUT_A6XX, 0x31028, NULL, 0},
    {CPS_LAYOUT_A6XX, 0x31001, NULL, 0}, /* between registers of an array */
    {CPS_LAYOUT_A6XX, 0x31030, NULL, 0}, /* its fourth */
    {CPS_LAYOUT_A6XX, 0x32000, NULL, 0},
    {CPS_LAYOUT_A7XX, 0x32007, "PERF[3]", 1},
    {CPS_LAYOUT_A7XX, 0x33000, "STRIPED", 0},
    {CPS_LAYOUT_A8XX, 0x33000, NULL, 0}, /* a variant that excludes it */
    {CPS_LAYOUT_A6XX, 0x33001, NULL, 0},
    {CPS_LAYOUT_A6XX, 0x33002, "ANY", 0},
    {CPS_LAYOUT_A6XX, 0x34004, "REP[1]", 0},
    {CPS_LAYOUT_A6XX, 0x36000, NULL, 0},
    {CPS_LAYOUT_A6XX, 0x885, "CP_SCRATCH[2].REG", 0}, /* built-in */
};

static void registers_of_the_tree_win_over_built_in_ones(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
        struct cps_names *names = open_good(named[i].layout, "a6xx.xml", registers);
        unsigned index = 0;
        const char *name = cps_name(names, CPS_SPACE_GPU, named[i].number, &index);
        if (!named[i].name) {
            assert_null(name);
        } else {
            assert_non_null(name);
            assert_string_equal(name, named[i].name);
            assert_int_equal(index, named[i].index);
        }
        cps_names_destroy(names);
    }
}

static void a_name_of_the_tree_has_its_number(void **state)
{
    (void)state;
    struct cps_names *names = open_good(CPS_LAYOUT_A6XX, "a6xx.xml", registers);
    uint32_t number = 0;
    assert_true(cps_name_number(names, CPS_SPACE_GPU, "ARR[1].INNER[1].ADDR", 20, &number));
    assert_int_equal(number, 0x31016);
    assert_true(cps_name_number(names, CPS_SPACE_GPU, "NEW", 3, &number));
    assert_int_equal(number, 0x900);
    assert_false(
        cps_name_number(names, CPS_SPACE_GPU, "ARR[1]", 6, &number)); /* it has registers */
    assert_false(cps_name_number(names, CPS_SPACE_GPU, "ARR[3].FIRST", 12, &number));
    assert_false(cps_name_number(names, CPS_SPACE_GPU, "ARR[1].INNER[2].ADDR", 20, &number));
    assert_true(cps_name_number(names, CPS_SPACE_GPU, "CP_RB_BASE", 10, &number));
    assert_int_equal(number, 0x800);
    cps_names_destroy(names);
}

static void fields_come_from_the_register_or_its_bitset(void **state)
{
    (void)state;
    struct cps_names *names = open_good(CPS_LAYOUT_A6XX, "a6xx.xml", registers);
    expect_fields(names, 0x800, 0x80000050, "FLAG PART=0x5");
    expect_fields(names, 0x37000, 0x80000053, "OWN FLAG PART=0x5 no-name=0x2");
    expect_fields(names, 0x37013, 0x80000051, "OWN FLAG PART=0x5");
    expect_fields(names, 0x31020, 0xff, "LOW=0xf no-name=0xf0");
    expect_fields(names, 0x35000, 0xa0000000, "ACROSS=0xa");
    expect_fields(names, 0x35001, 0x80000003, "ACROSS=0x3 TOP");
    cps_names_destroy(names);
    names = open_good(CPS_LAYOUT_A7XX, "a6xx.xml", registers);
    expect_fields(names, 0x800, 0x80000050, "FLAG no-name=0x50");
    cps_names_destroy(names);
}

/* Of two that a chip has: the later one, then that of fewer generations, wherever it is written. */
static void the_more_specific_name_wins(void **state)
{
    static const struct {
        enum cps_layout layout;
        const char *name;
    } rows[] = {{CPS_LAYOUT_A6XX, "SIX"}, {CPS_LAYOUT_A7XX, "SEVEN"}, {CPS_LAYOUT_A8XX, "LATER"}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cps_names *names =
            open_good(rows[i].layout, "a6xx.xml",
                      A6XX("<reg32 name=\"ALL\" offset=\"1\" variants=\"A6XX-\"/>\n"
                           "<reg32 name=\"SIX\" offset=\"1\" variants=\"A6XX\"/>\n"
                           "<reg32 name=\"LATER\" offset=\"1\" variants=\"A7XX-\"/>\n"
                           "<reg32 name=\"SEVEN\" offset=\"1\" variants=\"A7XX\"/>\n"
                           "<reg32 name=\"SEVEN\" offset=\"2\" variants=\"A7XX\"/>\n"
                           "<reg32 name=\"LATER\" offset=\"2\" variants=\"A7XX-\"/>\n"
                           "<reg32 name=\"SIX\" offset=\"2\" variants=\"A6XX\"/>\n"
                           "<reg32 name=\"ALL\" offset=\"2\" variants=\"A6XX-\"/>\n"));
        for (uint32_t number = 1; number < 3; number++)
            assert_string_equal(cps_name(names, CPS_SPACE_GPU, number, NULL), rows[i].name);
        cps_names_destroy(names);
    }
}

/* A domain without a name is nobody's; a value belongs to the list that it stands in, or to none.
 */
static void what_stands_in_no_named_space_has_no_name(void **state)
{
    (void)state;
    struct cps_names *names = open_good(
        CPS_LAYOUT_A6XX, "a6xx.xml",
        DATABASE("<domain width=\"32\"><reg32 name=\"LOST\" offset=\"0x37777\"/></domain>\n"
                 "<domain name=\"OTHER\"><reg32 name=\"FOREIGN\" offset=\"0x37778\"/></domain>\n"
                 "<domain name=\"NV_MMIO\"><reg32 name=\"NVIDIAS\" offset=\"0x37778\"/></domain>\n"
                 "<domain name=\"A6XX\" varset=\"chip\"><reg32 name=\"FOUND\" offset=\"0x37779\">"
                 "<value name=\"STRAY\" value=\"0x6e\"/></reg32></domain>\n"
                 "<enum name=\"someone_elses\"><value name=\"THEIRS\" value=\"0x6e\"/></enum>\n"
                 "<enum><value name=\"NOBODYS\" value=\"0x6e\"/></enum>\n"
                 "<value name=\"ALONE\" value=\"0x6e\"/>\n"));
    static const char *const lost[] = {"LOST",   "FOREIGN", "NVIDIAS", "STRAY",
                                       "THEIRS", "NOBODYS", "ALONE"};
    uint32_t number = 0;
    for (unsigned space = 0; space < CPS_SPACE_COUNT; space++) {
        for (size_t i = 0; i < sizeof(lost) / sizeof(lost[0]); i++)
            assert_false(
                cps_name_number(names, (enum cps_space)space, lost[i], strlen(lost[i]), &number));
    }
    assert_null(cps_name(names, CPS_SPACE_GPU, 0x37777, NULL));
    assert_null(cps_name(names, CPS_SPACE_GPU, 0x37778, NULL));
    assert_string_equal(cps_name(names, CPS_SPACE_GPU, 0x37779, NULL), "FOUND");
    cps_names_destroy(names);
}

static void enums_and_other_domains_are_read_from_their_files(void **state)
{
    (void)state;
    struct cps_names *names = open_good(
        CPS_LAYOUT_A6XX, "adreno_pm4.xml",
        DATABASE("<enum name=\"adreno_pm4_type3_packets\" varset=\"chip\">"
                 "<value name=\"CP_MINE\" value=\"0x10\"/><value name=\"NONE\"/>"
                 "<value name=\"CP_LATER\" value=\"0x10\" variants=\"A7XX-\"/></enum>"
                 "<enum name=\"vgt_event_type\"><value name=\"EV\" value=\"4\"/></enum>"));
    assert_string_equal(cps_name(names, CPS_SPACE_PACKET, 0x10, NULL), "CP_MINE");
    assert_string_equal(cps_name(names, CPS_SPACE_PACKET, 0x3f, NULL), "CP_INDIRECT_BUFFER");
    assert_string_equal(cps_name(names, CPS_SPACE_EVENT, 4, NULL), "EV");
    cps_names_destroy(names);
    names = open_good(CPS_LAYOUT_A7XX, "adreno_pipe_regs.xml",
                      DATABASE("<domain name=\"A7XX_PIPE_REG\">"
                               "<reg32 name=\"P\" offset=\"0x99\" type=\"void\"/></domain>"));
    assert_string_equal(cps_name(names, CPS_SPACE_PIPE, 0x99, NULL), "P");
    cps_names_destroy(names);
    names = open_good(CPS_LAYOUT_A5XX_ME, "adreno_control_regs.xml",
                      DATABASE("<domain name=\"A5XX_CONTROL_REG\">"
                               "<reg32 name=\"C\" offset=\"0x99\"/></domain>"));
    assert_null(cps_name(names, CPS_SPACE_CONTROL, 0x99, NULL));
    cps_names_destroy(names);
}

/* A value belongs to the enum around it, and a domain and an enum that have no name are of nobody.
 */
static void what_has_no_name_names_nothing(void **state)
{
    static const char text[] =
        DATABASE("<domain name=\"A6XX\" width=\"32\"><value name=\"STRAY\" value=\"0x10\"/>"
                 "<reg32 name=\"MINE\" offset=\"0x801\"><value name=\"INSIDE\" value=\"0x802\"/>"
                 "</reg32></domain>"
                 "<domain width=\"32\"><reg32 name=\"NOBODY\" offset=\"0x10\"/></domain>"
                 "<enum><value name=\"NAMELESS\" value=\"0x10\"/></enum>"
                 "<enum name=\"adreno_pm4_type3_packets\"><value name=\"CP_MINE\" value=\"0x7e\"/>"
                 "</enum>");
    static const char *const strays[] = {"STRAY", "INSIDE", "NOBODY", "NAMELESS"};
    (void)state;
    struct cps_names *names = open_good(CPS_LAYOUT_A6XX, "a6xx.xml", text);
    assert_string_equal(cps_name(names, CPS_SPACE_GPU, 0x801, NULL), "MINE");
    assert_string_equal(cps_name(names, CPS_SPACE_PACKET, 0x7e, NULL), "CP_MINE");
    for (unsigned space = 0; space < CPS_SPACE_COUNT; space++) {
        for (size_t i = 0; i < sizeof(strays) / sizeof(strays[0]); i++) {
            uint32_t number = 0;
            assert_false(cps_name_number(names, (enum cps_space)space, strays[i], strlen(strays[i]),
                                         &number));
        }
    }
    cps_names_destroy(names);
}

/* As the kernel has it: an enum file per generation beside a6xx.xml, and the GMU's registers. */
static void a_tree_may_be_split_by_generation_and_unit(void **state)
{
    static const char *const files[] = {"a6xx.xml", "a6xx_gmu.xml", "a8xx_enums.xml"};
    (void)state;
    char dir[] = "/tmp/cpscope-rnn-XXXXXX";
    assert_non_null(mkdtemp(dir));
    write_file(dir, files[0],
               A6XX("<reg32 name=\"OF_GPU\" offset=\"1\" variants=\"A6XX-\" type=\"shared\"/>"));
    write_file(dir, files[1],
               A6XX("<reg32 name=\"OF_GMU\" offset=\"1\" variants=\"A8XX\"/>"
                    "<reg32 name=\"OF_GMU_ALONE\" offset=\"2\"/>"));
    write_file(dir, files[2],
               DATABASE("<bitset name=\"shared\"><bitfield name=\"BIT\" pos=\"0\"/></bitset>"
                        "<enum name=\"vgt_event_type\"><value name=\"EV\" value=\"4\"/></enum>"));
    struct cps_names *names = NULL;
    struct cps_err *err = cps_names_create(CPS_LAYOUT_A8XX, dir, &names);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        remove_file(dir, files[i]);
    rmdir(dir);
    assert_null(err);
    assert_string_equal(cps_name(names, CPS_SPACE_GPU, 1, NULL), "OF_GPU");
    assert_string_equal(cps_name(names, CPS_SPACE_GPU, 2, NULL), "OF_GMU_ALONE");
    assert_string_equal(cps_name(names, CPS_SPACE_EVENT, 4, NULL), "EV");
    expect_fields(names, 1, 1, "BIT");
    cps_names_destroy(names);
}

/* The folder's own files count whatever "adreno" is; what is there and cannot be read is said. */
static void only_what_is_absent_is_passed_over(void **state)
{
    char dir[] = "/tmp/cpscope-rnn-XXXXXX";
    char path[64];
    struct cps_names *names = NULL;
    (void)state;
    assert_non_null(mkdtemp(dir));
    write_file(dir, "adreno", "no folder");
    write_file(dir, "a6xx.xml", A6XX("<reg32 name=\"R\" offset=\"1\"/>"));
    struct cps_err *good = cps_names_create(CPS_LAYOUT_A6XX, dir, &names);
    assert_null(good);
    assert_string_equal(cps_name(names, CPS_SPACE_GPU, 1, NULL), "R");
    cps_names_destroy(names);
    snprintf(path, sizeof(path), "%s/a6xx.xml", dir);
    struct cps_err *file = cps_names_create(CPS_LAYOUT_A6XX, path, &names);
    snprintf(path, sizeof(path), "%s/a7xx.xml", dir);
    assert_int_equal(symlink("a7xx.xml", path), 0);
    struct cps_err *loop = cps_names_create(CPS_LAYOUT_A6XX, dir, &names);
    remove_file(dir, "a7xx.xml");
    remove_file(dir, "a6xx.xml");
    remove_file(dir, "adreno");
    rmdir(dir);
    assert_non_null(file);
    assert_non_null(strstr(file->message, "no rnndb XML here"));
    cps_err_free(file);
    assert_non_null(loop);
    assert_non_null(strstr(loop->message, "a7xx.xml: cannot open"));
    cps_err_free(loop);
}

static void a_tree_may_be_one_directory_deeper(void **state)
{
    (void)state;
    char dir[] = "/tmp/cpscope-rnn-XXXXXX";
    char deeper[64];
    assert_non_null(mkdtemp(dir));
    snprintf(deeper, sizeof(deeper), "%s/adreno", dir);
    assert_int_equal(mkdir(deeper, 0700), 0);
    write_file(deeper, "a7xx.xml",
               DATABASE("<domain name=\"A7XX\"><reg32 name=\"D\" offset=\"1\"/></domain>"));
    struct cps_names *names = NULL;
    struct cps_err *err = cps_names_create(CPS_LAYOUT_A7XX, dir, &names);
    remove_file(deeper, "a7xx.xml");
    rmdir(deeper);
    rmdir(dir);
    assert_null(err);
    assert_string_equal(cps_name(names, CPS_SPACE_GPU, 1, NULL), "D");
    cps_names_destroy(names);
}

#define REPEAT4(text)  text text text text
#define REPEAT16(text) REPEAT4(REPEAT4(text))
#define REPEAT64(text) REPEAT4(REPEAT16(text))
#define BIG_ARRAY      "<array name=\"A\" offset=\"0\" stride=\"1\" length=\"4096\">"

/* Text that must be refused, and a part of the message. */
static const struct {
    const char *text;
    const char *message;
} refused[] = {
    {"", "line 1: no element found"},
    {"<database>\n<domain>\n</database>", "a6xx.xml: line 3: mismatched tag"},
    {A6XX("<reg32 name=\"R\" offset=\"zz\"/>"), "line 4: offset=\"zz\" is not a 32-bit number"},
    {A6XX("<reg32 name=\"R\" offset=\"-1\"/>"), "offset=\"-1\" is not a 32-bit number"},
    {A6XX("<reg32 name=\"R\" offset=\"0x100000000\"/>"), "is not a 32-bit number"},
    {A6XX("<reg32 name=\"R\" offset=\"\"/>"), "is not a 32-bit number"},
    {A6XX("<reg32 offset=\"1\"/>"), "needs a name"},
    {A6XX("<bitset/>"), "needs a name"},
    {A6XX("<array name=\"A\" offset=\"0\" stride=\"1\" length=\"4097\"/>"), "length 4097"},
    {A6XX("<array name=\"A\" offset=\"0\" stride=\"1\" length=\"0\"/>"), "length 0"},
    {A6XX("<reg32 name=\"R\" offset=\"0\"><bitfield name=\"F\" low=\"3\" high=\"64\"/></reg32>"),
     "bits 3 to 64 are not a bit field"},
    {A6XX("<reg32 name=\"R\" offset=\"0\"><bitfield name=\"F\" low=\"3\" high=\"2\"/></reg32>"),
     "bits 3 to 2"},
    {A6XX("<reg32 name=\"R\" offset=\"0\" type=\"fixed\" radix=\"64\"/>"), "radix 64, shr 0"},
    {A6XX("<reg32 name=\"R\" offset=\"0\" type=\"uint\" shr=\"64\"/>"), "radix 0, shr 64"},
    {A6XX(BIG_ARRAY BIG_ARRAY "<reg32 name=\"R\" offset=\"0\"/></array></array>"),
     "more than 200000 names"},
    /* Few names as written: each of the registers has the fields of its bit set behind its own. */
    {A6XX("<bitset name=\"b\">" REPEAT64(
         "<bitfield name=\"F\" pos=\"1\"/>") "</bitset>" BIG_ARRAY
                                             "<reg32 name=\"R\" offset=\"0\" type=\"b\"><bitfield "
                                             "name=\"OWN\" pos=\"0\"/></reg32></array>"),
     "more than 200000 names"},
    {DATABASE(
         "<domain name=\"CP_MINE\"><array offset=\"0\" stride=\"4097\" length=\"1\"/></domain>"),
     "stride 4097, expected 1 to 4096"},
    {DATABASE("<domain name=\"CP_MINE\"><array offset=\"0\" stride=\"0\" length=\"1\"/></domain>"),
     "stride 0, expected 1 to 4096"},
    {A6XX(REPEAT64("<a>") REPEAT64("</a>")), "nested more than 32 deep"},
    {A6XX("<reg32 name=\"" REPEAT64("12345") "\" offset=\"0\"/>"), "longer than 256 bytes"},
    {A6XX("<array name=\"" REPEAT64("123") "\" offset=\"0\" stride=\"1\" length=\"2\"><reg32 "
                                           "name=\"" REPEAT64("123") "\" offset=\"0\"/></array>"),
     "longer than 256 bytes"},
    {"<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;\">]>\n<x>&b;</x>",
     "line 1: a document type declaration"},
};

static void damaged_xml_is_refused_with_its_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct cps_names *names = NULL;
        struct cps_err *err = open_text(CPS_LAYOUT_A6XX, "a6xx.xml", refused[i].text, &names);
        assert_non_null(err);
        assert_int_equal(err->code, CPS_ERR_INPUT);
        if (!strstr(err->message, refused[i].message))
            fail_msg("\"%s\" lacks \"%s\"", err->message, refused[i].message);
        assert_null(names);
        cps_err_free(err);
    }
}

static void the_largest_that_is_taken_is_taken(void **state)
{
    (void)state;
    struct cps_names *names = open_good(
        CPS_LAYOUT_A6XX, "a6xx.xml",
        A6XX("<reg32 name=\"R\" offset=\"0\" type=\"fixed\" radix=\"63\"/>"
             "<reg32 name=\"S\" offset=\"1\" type=\"uint\" shr=\"63\"/>"
             "<reg64 name=\"T\" offset=\"2\"><bitfield name=\"F\" low=\"63\" high=\"63\"/></reg64>"
             "<array name=\"A\" offset=\"8\" stride=\"1\" length=\"4096\"><reg32 name=\"B\" "
             "offset=\"0\"/></array>"
             "<array name=\"C\" offset=\"0x2000\" stride=\"4097\" length=\"2\"><reg32 name=\"D\" "
             "offset=\"0\"/></array></domain><domain name=\"CP_MINE\">"
             "<array offset=\"0\" stride=\"4096\" length=\"4096\"><reg32 name=\"K\" "
             "offset=\"0\"/></array>"));
    uint32_t index = 0;
    assert_string_equal(cps_name(names, CPS_SPACE_GPU, 0, NULL), "R");
    assert_string_equal(cps_name(names, CPS_SPACE_GPU, 1, NULL), "S");
    assert_non_null(cps_name(names, CPS_SPACE_GPU, 8 + 4095, &index));
    assert_string_equal(cps_name(names, CPS_SPACE_GPU, 0x2000 + 4097, NULL), "C[1].D");
    cps_names_destroy(names);
}

static void a_directory_without_xml_is_an_error(void **state)
{
    (void)state;
    struct cps_names *names = NULL;
    struct cps_err *err = open_text(CPS_LAYOUT_A6XX, "a5xx.xml", DATABASE(""), &names);
    assert_non_null(err);
    assert_non_null(strstr(err->message, "expected a6xx.xml, adreno_control_regs.xml"));
    cps_err_free(err);
    err = cps_names_create(CPS_LAYOUT_A6XX, "/nonexistent", &names);
    assert_non_null(err);
    cps_err_free(err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers_of_the_tree_win_over_built_in_ones),
        cmocka_unit_test(a_name_of_the_tree_has_its_number),
        cmocka_unit_test(fields_come_from_the_register_or_its_bitset),
        cmocka_unit_test(the_more_specific_name_wins),
        cmocka_unit_test(only_what_is_absent_is_passed_over),
        cmocka_unit_test(what_stands_in_no_named_space_has_no_name),
        cmocka_unit_test(enums_and_other_domains_are_read_from_their_files),
        cmocka_unit_test(what_has_no_name_names_nothing),
        cmocka_unit_test(a_tree_may_be_split_by_generation_and_unit),
        cmocka_unit_test(a_tree_may_be_one_directory_deeper),
        cmocka_unit_test(damaged_xml_is_refused_with_its_line),
        cmocka_unit_test(the_largest_that_is_taken_is_taken),
        cmocka_unit_test(a_directory_without_xml_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
