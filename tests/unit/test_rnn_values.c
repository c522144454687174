/* SPDX-License-Identifier: MIT
 * rnndb XML: which fields values have, how they are written, and what differs between two. */
#include "tests/lib/rnntext.h"

#include "isa/names/words.h"

static void the_first_bitset_of_a_name_counts(void **state)
{
    (void)state;
    struct cps_names *names =
        open_good(CPS_LAYOUT_A6XX, "a6xx.xml",
                  A6XX("<bitset name=\"before\"><bitfield name=\"X\" pos=\"0\"/>"
                       "<bitfield name=\"Y\" pos=\"1\"/><bitfield name=\"Z\" pos=\"2\"/></bitset>\n"
                       "<bitset name=\"twice\"><bitfield name=\"FIRST\" pos=\"0\"/></bitset>\n"
                       "<bitset name=\"twice\"><bitfield name=\"A\" pos=\"0\"/>"
                       "<bitfield name=\"B\" pos=\"1\"/><bitfield name=\"C\" pos=\"2\"/></bitset>\n"
                       "<reg32 name=\"R\" offset=\"1\" type=\"twice\"/>\n"));
    expect_fields(names, 1, 7, "FIRST no-name=0x6");
    cps_names_destroy(names);
}

/* Bits @p known of @p number have a name; @p a and @p b differ as @p expected says. */
static void expect_changed(const struct cps_names *names, uint32_t number, uint32_t a, uint32_t b,
                           uint32_t known, const char *expected)
{
    CPS_BUF text = {0};
    assert_int_equal(cps_name_changed_(names, CPS_SPACE_GPU, number, &a, &b, &text), known);
    assert_string_equal(cps_buf_text(&text), expected);
}

static void what_differs_is_said_by_field(void **state)
{
    (void)state;
    struct cps_names *names = open_good(
        CPS_LAYOUT_A6XX, "a6xx.xml",
        A6XX("<reg32 name=\"R\" offset=\"1\"><bitfield name=\"LOW\" low=\"4\" high=\"7\"/>"
             "<bitfield name=\"TOP\" low=\"28\" high=\"31\"/></reg32>\n"
             "<reg32 name=\"S\" offset=\"2\"><bitfield name=\"ALL\" low=\"0\" high=\"31\"/>"
             "</reg32>\n"
             "<reg64 name=\"T\" offset=\"3\"><bitfield name=\"ACROSS\" low=\"30\" high=\"33\"/>"
             "<bitfield name=\"TOP\" low=\"62\" high=\"63\"/></reg64>\n"));
    expect_changed(names, 1, 0xa0000010, 0xb0000f20, 0xf00000f0, "LOW 0x1 -> 0x2, TOP 0xa -> 0xb");
    expect_changed(names, 1, 0xa0000010, 0xa0000f10, 0xf00000f0, "");
    expect_changed(names, 2, 0, 0xffffffff, 0xffffffff, "ALL 0x0 -> 0xffffffff");
    expect_changed(names, 3, 0x40000000, 0, 0xc0000000, "ACROSS 0x1 -> 0x0");
    expect_changed(names, 4, 0xc0000003, 0x80000003, 0xc0000003, "TOP 0x3 -> 0x2");
    cps_names_destroy(names);
}

static void types_say_how_values_are_written(void **state)
{
    (void)state;
    struct cps_names *names = open_good(
        CPS_LAYOUT_A6XX, "a6xx.xml",
        DATABASE("<enum name=\"color\"><value name=\"RED\" value=\"0\"/>"
                 "<value name=\"BLUE\" value=\"2\"/></enum>"
                 "<domain name=\"A6XX\" varset=\"chip\">"
                 "<reg32 name=\"E\" offset=\"1\"><bitfield name=\"C\" low=\"0\" high=\"1\" "
                 "type=\"color\"/><bitfield name=\"N\" low=\"4\" high=\"7\" type=\"int\"/></reg32>"
                 "<reg32 name=\"F\" offset=\"2\" type=\"float\"/>"
                 "<reg32 name=\"X\" offset=\"3\" low=\"0\" high=\"15\" type=\"fixed\" radix=\"4\"/>"
                 "<reg32 name=\"P\" offset=\"4\" high=\"13\" shr=\"6\" type=\"uint\"/>"
                 "<reg32 name=\"H\" offset=\"5\"><bitfield name=\"HALF\" low=\"0\" high=\"15\" "
                 "type=\"float\"/><bitfield name=\"R\" low=\"16\" high=\"23\" type=\"a3xx_regid\"/>"
                 "</reg32>"
                 "<reg32 name=\"V\" offset=\"6\" low=\"0\" high=\"15\" type=\"ufixed\" "
                 "radix=\"4\"/>"
                 "<reg64 name=\"D\" offset=\"8\"><bitfield name=\"UP\" low=\"32\" high=\"63\" "
                 "type=\"float\"/><bitfield name=\"NIBBLE\" low=\"14\" high=\"17\" "
                 "type=\"float\"/></reg64></domain>"));
    expect_fields(names, 1, 0x00, "C=RED N=0");
    expect_fields(names, 1, 0xf2, "C=BLUE N=-1");
    expect_fields(names, 1, 0x81, "C=0x1 N=-8");
    expect_fields(names, 2, 0x3dcccccd, "0.1");
    expect_fields(names, 2, 0xbf800000, "-1.0");
    expect_fields(names, 3, 0xfff8, "-0.5");
    expect_fields(names, 4, 3, "192");
    expect_fields(names, 5, 0x000d3555, "HALF=0.333251953 R=r3.y");
    expect_fields(names, 6, 0xfff8, "4095.5");
    /* A float has 16 or 32 bits, wherever they stand. */
    expect_fields(names, 9, 0x3f800000, "UP=1.0");
    expect_fields(names, 8, 0x3c000, "NIBBLE=0xf");
    cps_names_destroy(names);
}

static void expect_packet(const struct cps_names *names, uint32_t opcode, const uint32_t *words,
                          size_t count, const char *expected)
{
    CPS_BUF text = {0};
    cps_packet_fields(names, opcode, words, count, &text);
    assert_string_equal(cps_buf_text(&text), expected);
}

static void a_field_selects_the_words_of_a_packet(void **state)
{
    (void)state;
    struct cps_names *names = open_good(
        CPS_LAYOUT_A6XX, "adreno_pm4.xml",
        DATABASE("<enum name=\"adreno_pm4_type3_packets\"><value name=\"CP_MINE\" value=\"0x55\"/>"
                 "</enum><enum name=\"how\"><value name=\"BY_REG\" value=\"1\"/>"
                 "<value name=\"BY_MEM\" value=\"2\"/></enum>"
                 "<domain name=\"CP_MINE\" varset=\"chip\">"
                 "<reg32 name=\"0\" offset=\"0\"><bitfield name=\"HOW\" low=\"0\" high=\"3\" "
                 "type=\"how\" addvariant=\"yes\"/><bitfield name=\"ONLY_REG\" low=\"4\" "
                 "high=\"7\" varset=\"how\" variants=\"BY_REG\"/></reg32>"
                 "<stripe varset=\"how\" variants=\"BY_REG\"><reg32 name=\"1\" offset=\"1\">"
                 "<bitfield name=\"REG\" low=\"0\" high=\"17\" type=\"hex\"/></reg32></stripe>"
                 "<stripe varset=\"how\" variants=\"BY_MEM\">"
                 "<reg32 name=\"1\" offset=\"1\"><bitfield name=\"LO\" low=\"0\" high=\"31\"/>"
                 "</reg32><reg64 name=\"AT\" offset=\"1\" type=\"waddress\"/></stripe>"
                 "<array offset=\"3\" stride=\"2\" length=\"100\"><reg32 name=\"K\" offset=\"0\" "
                 "type=\"uint\"/></array></domain>"));
    const uint32_t by_reg[] = {0x31, 0x800};
    const uint32_t by_mem[] = {0x32, 0x1000, 0x5, 7, 8, 9};
    const uint32_t neither[] = {0x34, 6};
    expect_packet(names, 0x55, by_reg, 2, "HOW=BY_REG ONLY_REG=0x3 REG=CP_RB_BASE");
    expect_packet(names, 0x55, by_mem, 6, "HOW=BY_MEM no-name=0x30 AT=0x500001000 K=7 [4]=0x8 K=9");
    expect_packet(names, 0x55, by_mem, 2, "HOW=BY_MEM no-name=0x30 LO=0x1000");
    expect_packet(names, 0x55, neither, 2, "HOW=0x4 no-name=0x30 [1]=0x6");
    cps_names_destroy(names);
}

/* Numbers of registers have bits 17:0 of a packet's word, and may be called anything else. */
static void fields_of_18_bits_are_registers_but_scratch_ones(void **state)
{
    (void)state;
    struct cps_names *names = open_good(
        CPS_LAYOUT_A6XX, "adreno_pm4.xml",
        DATABASE(
            "<enum name=\"adreno_pm4_type3_packets\"><value name=\"CP_MINE\" value=\"0x55\"/>"
            "</enum><domain name=\"CP_MINE\">"
            "<reg32 name=\"0\" offset=\"0\"><bitfield name=\"S\" low=\"0\" high=\"17\"/></reg32>"
            "<reg32 name=\"1\" offset=\"1\"><bitfield name=\"SCRATCH_REG\" low=\"0\" "
            "high=\"17\"/></reg32>"
            "<reg32 name=\"2\" offset=\"2\"><bitfield name=\"SHORT\" low=\"0\" "
            "high=\"16\"/></reg32>"
            "<reg32 name=\"3\" offset=\"3\"><bitfield name=\"LATE\" low=\"1\" high=\"17\"/></reg32>"
            "</domain>"));
    const uint32_t words[] = {0x800, 0x800, 0x800, 0x1000};
    expect_packet(names, 0x55, words, 4, "S=CP_RB_BASE SCRATCH_REG=0x800 SHORT=0x800 LATE=0x800");
    cps_names_destroy(names);
}

/* Three words from the third on, two apart: the words between them, and a fourth, have no name. */
static void an_array_of_a_packet_ends_with_its_last_element(void **state)
{
    (void)state;
    struct cps_names *names = open_good(
        CPS_LAYOUT_A6XX, "adreno_pm4.xml",
        DATABASE("<enum name=\"adreno_pm4_type3_packets\"><value name=\"CP_MINE\" value=\"0x55\"/>"
                 "</enum><domain name=\"CP_MINE\"><array offset=\"2\" stride=\"2\" length=\"3\">"
                 "<reg32 name=\"K\" offset=\"0\" type=\"uint\"/></array></domain>"));
    const uint32_t words[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    expect_packet(names, 0x55, words, 9,
                  "[0]=0x0 [1]=0x1 K=2 [3]=0x3 K=4 [5]=0x5 K=6 [7]=0x7 [8]=0x8");
    cps_names_destroy(names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_bitset_of_a_name_counts),
        cmocka_unit_test(what_differs_is_said_by_field),
        cmocka_unit_test(types_say_how_values_are_written),
        cmocka_unit_test(a_field_selects_the_words_of_a_packet),
        cmocka_unit_test(fields_of_18_bits_are_registers_but_scratch_ones),
        cmocka_unit_test(an_array_of_a_packet_ends_with_its_last_element),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
