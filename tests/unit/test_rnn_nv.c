/* SPDX-License-Identifier: MIT
 * NVIDIA's rnndb XML in the form of envytools': chips, ranges, imports, groups, stripes, values.
 * The files are our own; what their names must be is what envytools' rnndec makes of such files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "isa/isa.h"

#define DATABASE(text)          \
    "<?xml version=\"1.0\"?>\n" \
    "<database xmlns=\"http://example/\">\n" text "</database>\n"
#define MMIO(text)                                                                        \
    "<domain name=\"NV_MMIO\" bare=\"yes\" prefix=\"chipset\" size=\"0x1000000\">\n" text \
    "</domain>\n"
#define CHIP(value, name) "<value value=\"" value "\" name=\"" name "\"/>\n"

/* Not the numbers' order: ranges go by where names stand. */
static const char chips[] = DATABASE(
    "<enum name=\"chipset\" bare=\"yes\">\n"
    "<value name=\"NV01\"><brief>no number</brief></value>\n<value name=\"NV03T\"/>\n" CHIP(
        "0x1a", "NV1A") CHIP("0x11", "NV11") CHIP("0x17", "NV17") CHIP("0x20", "NV20")
        CHIP("0x25", "NV25") CHIP("0x35", "NV35") CHIP("0x31", "NV31") CHIP("0x41", "NV41")
            CHIP("0x4b", "NV4B") CHIP("0x44", "NV44") CHIP("0x50", "G80") CHIP("0x84", "G84")
                CHIP("0x92", "G92") CHIP("0xa0", "GT200") CHIP("0xaa", "MCP77")
                    CHIP("0xa3", "GT215") CHIP("0xc0", "GF100") "</enum>\n");

static const char root[] =
    DATABASE("<import file=\"copyright.xml\"/>\n<import file=\"chips.xml\"/>\n" MMIO(
        "<reg8 name=\"PROM\" offset=\"0x300000\" length=\"0x100000\"/>\n"
        "<reg32 name=\"ENDLESS\" offset=\"0x400000\" length=\"0\"/>\n") "<import "
                                                                        "file=\"bus/pbus.xml\"/>\n"
                                                                        "<import "
                                                                        "file=\"nv_mmio.xml\"/>\n"
                                                                        "<domain name=\"NV_CR\">"
                                                                        "<reg8 name=\"NOT\" "
                                                                        "offset=\"0x10\"/></domain>"
                                                                        "\n");

static const char pbus[] = DATABASE(
    "<import file=\"chips.xml\"/>\n"
    "<group name=\"pair\">\n<reg32 name=\"LOW\" offset=\"0\"/>\n"
    "<array name=\"MORE\" offset=\"8\" stride=\"4\" length=\"2\">"
    "<reg32 name=\"IN\" offset=\"0\"><bitfield name=\"ON\" pos=\"0\"/></reg32></array>\n"
    "</group>\n"
    "<group name=\"pair\"><reg32 name=\"LATE\" offset=\"4\"/></group>\n"
    "<bitset name=\"status\" inline=\"yes\"><bitfield name=\"IP\" low=\"0\" high=\"7\"/>\n"
    "<bitfield name=\"BAD\" pos=\"9\" variants=\"NV41:G92\"/></bitset>\n" MMIO(
        "<array name=\"PBUS\" offset=\"0x1000\" stride=\"0x1000\" length=\"1\">\n"
        "<reg32 name=\"MODE\" offset=\"0x98\" variants=\"NV17:NV20 NV25-\">\n"
        "<bitfield name=\"READ\" pos=\"4\"><value value=\"0\" name=\"NORMAL\"/>"
        "<value value=\"1\" name=\"FORCED\"/></bitfield>\n"
        "<bitfield name=\"OLD\" pos=\"5\" variants=\"-NV25\"/><bitfield name=\"WHAT\" low=\"8\" "
        "high=\"9\"><value value=\"2\" name=\"TWO\" variants=\"G92-\"/></bitfield>\n</reg32>\n"
        "<reg32 name=\"KIND\" offset=\"0x9c\"><value value=\"7\" name=\"SEVEN\"/></reg32>\n"
        "<reg32 name=\"STATUS\" offset=\"0xa0\" type=\"status\"/>\n"
        "<reg8 name=\"BYTE\" offset=\"0xa4\"><value value=\"7\" name=\"SEVEN\"/></reg8>\n"
        "<reg16 name=\"HALF\" offset=\"0xa8\"><value value=\"7\" name=\"SEVEN\"/></reg16>\n"
        "<reg32 name=\"A\" offset=\"0x200\" variants=\"NV11:NV17\"/>\n"
        "<reg32 name=\"B\" offset=\"0x200\" variants=\"NV17:NV41\"/>\n"
        "<reg32 name=\"C\" offset=\"0x200\" variants=\"NV41-NV44\"/>\n"
        "<reg32 name=\"D\" offset=\"0x200\" variants=\"G80 GT200\"/>\n"
        "<reg32 name=\"E\" offset=\"0x204\" variants=\":NV20\"/>\n"
        "<reg32 name=\"F\" offset=\"0x204\" variants=\"GT215-\"/>\n"
        "<reg32 name=\"G\" offset=\"0x208\" variants=\"GF100-\"/>\n"
        "<stripe name=\"IN\" offset=\"0x210\" variants=\"NV41:G80\"><reg32 name=\"X\" "
        "offset=\"0\" variants=\"NV17-\"/></stripe>\n"
        "<stripe name=\"HWSQ\" offset=\"0x300\" variants=\"NV17:NV20 NV25:GF100\">\n"
        "<reg32 name=\"HIGH\" offset=\"0x18\" variants=\"G92-\"/>\n"
        "<reg8 name=\"CODE\" offset=\"0x100\" length=\"0x40\" variants=\"NV17:NV41\"/>\n"
        "<reg8 name=\"CODE\" offset=\"0x100\" length=\"0x100\" variants=\"NV41:GF100\"/>\n"
        "</stripe>\n"
        "<stripe name=\"ON\" offset=\"0x220\" variants=\"GT200\"><reg32 name=\"Y\" "
        "offset=\"0\" variants=\"MCP77-\"/><reg32 name=\"Z\" offset=\"4\"/></stripe>\n"
        "<doc>text <reg32 name=\"NOT\" offset=\"0x500\"/></doc>\n"
        "</array>\n"
        "<array name=\"PFB\" offset=\"0x100000\" stride=\"0x1000\" length=\"2\">\n"
        "<stripe offset=\"0x200\" stride=\"0x20\" length=\"2\"><use-group "
        "name=\"pair\"/></stripe>\n"
        "<stripe name=\"BANK\" offset=\"0x400\" stride=\"0x10\" length=\"2\">"
        "<reg32 name=\"R\" offset=\"4\" length=\"2\"/><reg16 name=\"H\" offset=\"0xc\"/></stripe>\n"
        "<use-group name=\"absent\"/>\n"
        "<reg64 name=\"WIDE\" offset=\"0x800\"/>\n"
        "</array>\n"
        "<array name=\"GRID\" offset=\"0x800000\" stride=\"0x1000\" length=\"64\">"
        "<array name=\"ROW\" offset=\"0\" stride=\"0x10\" length=\"64\"><reg32 name=\"ALL\" "
        "offset=\"0\"/><reg32 name=\"TOO\" offset=\"4\" length=\"2\"/></array></array>\n"
        "<reg32 name=\"OTHER\" offset=\"0x900000\" varset=\"obj\" variants=\"X\"/>\n"
        "<array name=\"CLASS\" offset=\"0x910000\" stride=\"0x100\" length=\"1\" prefix=\"obj\">"
        "<reg32 name=\"IN\" offset=\"0\" variants=\"NV41-NV44\"/>"
        "<stripe name=\"CHIP\" offset=\"0x10\" prefix=\"chipset\"><reg32 name=\"IN\" offset=\"0\" "
        "variants=\"NV41-NV44\"/></stripe></array>\n"));

static const struct {
    const char *name, *text;
} tree[] = {{"nv_mmio.xml", root}, {"chips.xml", chips}, {"bus/pbus.xml", pbus}};

/* A folder with the files; NULL for one: without it. */
static struct cps_err *open_tree(enum cps_layout layout, const char *under, const char *replaced,
                                 const char *text, struct cps_names **ret)
{
    char dir[] = "/tmp/cpscope-rnn-XXXXXX";
    char path[256];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof(path), "mkdir -p %s/%s/bus", dir, under);
    assert_int_equal(system(path), 0);
    for (size_t i = 0; i < sizeof(tree) / sizeof(tree[0]); i++) {
        const char *content = strcmp(tree[i].name, replaced) ? tree[i].text : text;
        if (!content)
            continue;
        snprintf(path, sizeof(path), "%s/%s/%s", dir, under, tree[i].name);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(content, file);
        fclose(file);
    }
    struct cps_err *err = cps_names_create(layout, dir, ret);
    snprintf(path, sizeof(path), "rm -r %s", dir);
    assert_int_equal(system(path), 0);
    return err;
}

static struct cps_names *open_good(enum cps_layout layout)
{
    struct cps_names *names = NULL;
    struct cps_err *err = open_tree(layout, "", "", NULL, &names);
    if (err)
        fail_msg("%s", err->message);
    return names;
}

static const struct {
    enum cps_layout layout;
    uint32_t number;
    const char *name;
} named[] = {
    {CPS_LAYOUT_G80, 0x1098, "PBUS.MODE"},
    {CPS_LAYOUT_G80, 0x109c, "PBUS.KIND"},
    {CPS_LAYOUT_NV17, 0x1200, "PBUS.B"},
    {CPS_LAYOUT_NV41, 0x1200, "PBUS.C"},
    {CPS_LAYOUT_VP1_NV44, 0x1200, "PBUS.C"}, /* "-" takes the last one, too */
    {CPS_LAYOUT_G80, 0x1200, "PBUS.D"},
    {CPS_LAYOUT_G92, 0x1200, "PBUS.D"}, /* one of its chips has it */
    {CPS_LAYOUT_NV17, 0x1204, "PBUS.E"},
    {CPS_LAYOUT_NV41, 0x1204, NULL},
    {CPS_LAYOUT_G92, 0x1204, "PBUS.F"}, /* GT215 is one of them */
    {CPS_LAYOUT_SEQ_NEW, 0x1204, "PBUS.F"},
    {CPS_LAYOUT_SEQ_NEW, 0x1208, "PBUS.G"}, /* SEQ is on later chips, too */
    {CPS_LAYOUT_G92, 0x1208, NULL},
    {CPS_LAYOUT_NV41, 0x1210, "PBUS.IN.X"},
    {CPS_LAYOUT_G80, 0x1210, NULL}, /* what is around it is on less chips than it says */
    {CPS_LAYOUT_G92, 0x1224, "PBUS.ON.Z"},
    {CPS_LAYOUT_G92, 0x1220, NULL}, /* not one of its chips has both */
    {CPS_LAYOUT_SEQ_OLD, 0x1200, NULL},
    {CPS_LAYOUT_G80, 0x1318, "PBUS_HWSQ_ENTRY_POINT_HIGH"}, /* built in: the tree has it not */
    {CPS_LAYOUT_G92, 0x1318, "PBUS.HWSQ.HIGH"},
    {CPS_LAYOUT_SEQ_NEW, 0x1318, "PBUS.HWSQ.HIGH"}, /* as on GT215 */
    {CPS_LAYOUT_NV17, 0x143c, "PBUS.HWSQ.CODE[60]"},
    {CPS_LAYOUT_NV41, 0x14fc, "PBUS.HWSQ.CODE[252]"},
    {CPS_LAYOUT_G92, 0x1500, NULL},
    {CPS_LAYOUT_G92, 0x100200, "PFB[0].LOW[0]"}, /* of a stripe without a name */
    {CPS_LAYOUT_G92, 0x101224, "PFB[1].LATE[1]"},
    {CPS_LAYOUT_G92, 0x10122c, "PFB[1].MORE[1][1].IN"},
    {CPS_LAYOUT_G92, 0x101414, "PFB[1].BANK[1].R[0]"},
    {CPS_LAYOUT_G92, 0x100408, "PFB[0].BANK[0].R[1]"},
    {CPS_LAYOUT_G92, 0x10040c, "PFB[0].BANK[0].H"},
    {CPS_LAYOUT_G92, 0x100800, "PFB[0].WIDE"},
    {CPS_LAYOUT_G92, 0x100801, NULL},
    {CPS_LAYOUT_G92, 0x83f3f0, "GRID[63].ROW[63].ALL"}, /* 4,096 of them */
    {CPS_LAYOUT_G92, 0x800004, NULL},                   /* 8,192 */
    {CPS_LAYOUT_G92, 0x300000, NULL},
    {CPS_LAYOUT_G92, 0x400000, NULL},
    {CPS_LAYOUT_G92, 0x10, NULL},
    {CPS_LAYOUT_G92, 0x900000, "OTHER"},
    {CPS_LAYOUT_G92, 0x910000, "CLASS.IN"}, /* of what a prefix says, not a chip's */
    {CPS_LAYOUT_G92, 0x910010, NULL},
    {CPS_LAYOUT_NV41, 0x910010, "CLASS.CHIP.IN"},
    {CPS_LAYOUT_NV1, 0x1204, "PBUS.E"},
    {CPS_LAYOUT_NV1, 0x1098, NULL},
    {CPS_LAYOUT_NV3T, 0x1204, "PBUS.E"},
    {CPS_LAYOUT_NV3, 0x1204, NULL}, /* the enumeration has it not */
};

static void registers_have_the_names_of_the_layouts_chips(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
        struct cps_names *names = open_good(named[i].layout);
        unsigned index = 0;
        const char *name = cps_name(names, CPS_SPACE_GPU, named[i].number, &index);
        if ((!name != !named[i].name) || (name && strcmp(name, named[i].name) != 0))
            fail_msg("row %zu: 0x%x is %s", i, (unsigned)named[i].number, name ? name : "nothing");
        assert_int_equal(index, 0);
        cps_names_destroy(names);
    }
}

static void names_are_numbers_again(void **state)
{
    static const char name[] = "PFB[1].MORE[1][1].IN";
    uint32_t number = 0;
    struct cps_names *names = open_good(CPS_LAYOUT_G92);
    (void)state;
    assert_true(cps_name_number(names, CPS_SPACE_GPU, name, strlen(name), &number));
    assert_int_equal(number, 0x10122c);
    assert_false(cps_name_number(names, CPS_SPACE_GPU, "NOT", 3, &number));
    cps_names_destroy(names);
}

static const struct {
    enum cps_layout layout;
    uint32_t number, value;
    const char *text;
} valued[] = {
    {CPS_LAYOUT_G80, 0x1098, 0x10, "READ=FORCED WHAT=0x0"},
    {CPS_LAYOUT_G92, 0x1098, 0x200, "READ=NORMAL WHAT=TWO"},
    {CPS_LAYOUT_NV17, 0x1098, 0x220, "READ=NORMAL OLD WHAT=0x2"},
    {CPS_LAYOUT_G80, 0x1098, 0x230, "READ=FORCED WHAT=0x2 no-name=0x20"},
    {CPS_LAYOUT_G80, 0x109c, 7, "SEVEN"},
    {CPS_LAYOUT_NV41, 0x10a0, 0x241, "IP=0x41 BAD"},
    {CPS_LAYOUT_G80, 0x10a4, 0x107, "SEVEN"}, /* what a byte holds */
    {CPS_LAYOUT_G80, 0x10a4, 0x87, ""},
    {CPS_LAYOUT_G80, 0x10a8, 0x10007, "SEVEN"},
    {CPS_LAYOUT_G80, 0x10a8, 0x8007, ""},
    {CPS_LAYOUT_NV17, 0x10a0, 0x41, "IP=0x41"},
};

static void fields_and_values_have_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(valued) / sizeof(valued[0]); i++) {
        CPS_BUF text = {0};
        struct cps_names *names = open_good(valued[i].layout);
        cps_name_fields(names, CPS_SPACE_GPU, valued[i].number, valued[i].value, &text);
        const char *have = cps_buf_text(&text);
        assert_string_equal(have + (*have == ' '), valued[i].text);
        cps_names_destroy(names);
    }
}

static void the_tree_may_be_one_folder_deeper(void **state)
{
    struct cps_names *names = NULL;
    (void)state;
    assert_null(open_tree(CPS_LAYOUT_G80, "rnndb", "", NULL, &names));
    assert_string_equal(cps_name(names, CPS_SPACE_GPU, 0x1098, NULL), "PBUS.MODE");
    cps_names_destroy(names);
}

/* Without the chips' names no range says anything: what is there, is there. */
static void without_chips_everything_has_its_name(void **state)
{
    struct cps_names *names = NULL;
    (void)state;
    assert_null(open_tree(CPS_LAYOUT_G80, "", "chips.xml", DATABASE(""), &names));
    assert_string_equal(cps_name(names, CPS_SPACE_GPU, 0x1318, NULL), "PBUS.HWSQ.HIGH");
    cps_names_destroy(names);
}

/* A message lists what a number may be called, the tree's names with those that are built in. */
static void names_of_the_tree_are_among_those_that_are_listed(void **state)
{
    struct cps_names *names = NULL;
    CPS_BUF bytes = {0};
    size_t column = 0;
    (void)state;
    assert_null(
        open_tree(CPS_LAYOUT_G80, "", "bus/pbus.xml",
                  DATABASE("<enum name=\"G80_HWSQ_FLAG\"><value name=\"FIRST\" value=\"3\"/>"
                           "<value name=\"LAST\" value=\"31\"/></enum>"),
                  &names));
    const struct cps_parse_names with = {.names = names};
    struct cps_err *err =
        cps_parse_bytes(&cps_isa_hwsq, CPS_G80, "set1 nobody", 0, &with, &column, &bytes);
    assert_non_null(err);
    assert_string_equal(err->message, "expected a flag's number or name (FIRST, FB_PAUSE or LAST)");
    cps_err_free(err);
    assert_null(cps_parse_bytes(&cps_isa_hwsq, CPS_G80, "set1 LAST", 0, &with, &column, &bytes));
    assert_int_equal(bytes.size, 1);
    cps_names_destroy(names);
}

#define TEN(text) text text text text text text text text text text

/* A quarter of a million. */
static const char commands[] = DATABASE("<domain name=\"NV_COMMANDS\">" TEN(
    "<reg8 name=\"X\" offset=\"0\" length=\"4096\"/><reg8 name=\"X\" offset=\"0\" "
    "length=\"4096\"/><reg8 name=\"X\" offset=\"0\" length=\"4096\"/><reg8 name=\"X\" "
    "offset=\"0\" length=\"4096\"/><reg8 name=\"X\" offset=\"0\" length=\"4096\"/><reg8 "
    "name=\"X\" offset=\"0\" length=\"4096\"/>") "</domain>");

static void other_domains_take_no_room(void **state)
{
    struct cps_names *names = NULL;
    (void)state;
    assert_null(open_tree(CPS_LAYOUT_G80, "", "bus/pbus.xml", commands, &names));
    cps_names_destroy(names);
}

#define GROUP(name, text) "<group name=\"" name "\">" text "</group>\n"
#define USE(name)         "<use-group name=\"" name "\"/>"

static const struct {
    const char *text; /* of bus/pbus.xml */
    const char *error;
} refused[] = {
    {NULL, "import of \"bus/pbus.xml\", which is not in the tree"},
    {DATABASE("<import file=\"../x.xml\"/>"),
     "import of \"../x.xml\", expected a file of the tree"},
    {DATABASE("<import file=\"/etc/passwd\"/>"), "import of \"/etc/passwd\", expected"},
    {DATABASE("<import/>"), "import of \"\", expected"},
    {DATABASE("<group/>"), "line 3: a group has no name"},
    {DATABASE(GROUP("a", USE("a")) MMIO(USE("a"))), "nested more than 32 deep"},
    {DATABASE(GROUP("a", GROUP("b", "")) MMIO(USE("a"))), "a group inside a group"},
    {DATABASE(GROUP("a", TEN("<doc/>")) GROUP("b", TEN(USE("a"))) GROUP("c", TEN(USE("b")))
                  GROUP("d", TEN(USE("c"))) GROUP("e", TEN(USE("d"))) MMIO(TEN(USE("e")))),
     "groups repeat more than 500000 elements"},
    {DATABASE(MMIO("<reg32 name=\"X\" offset=\"x\"/>")), "is not a 32-bit number"},
    {DATABASE(MMIO("<reg32 offset=\"0\"/>")), "an element that needs a name has none"},
    {DATABASE("<domain>"), "mismatched tag"},
};

static void what_is_wrong_is_said(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct cps_names *names = NULL;
        struct cps_err *err =
            open_tree(CPS_LAYOUT_G80, "", "bus/pbus.xml", refused[i].text, &names);
        assert_non_null(err);
        assert_int_equal(err->code, CPS_ERR_INPUT);
        if (!strstr(err->message, refused[i].error) || strchr(err->message, '\n'))
            fail_msg("row %zu: %s", i, err->message);
        cps_err_free(err);
    }
}

static void another_tree_is_none(void **state)
{
    struct cps_names *names = NULL;
    struct cps_err *err = cps_names_create(CPS_LAYOUT_G80, "/tmp/no/such/folder", &names);
    (void)state;
    assert_non_null(err);
    assert_non_null(strstr(err->message, "expected nv_mmio.xml or root.xml"));
    cps_err_free(err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers_have_the_names_of_the_layouts_chips),
        cmocka_unit_test(names_are_numbers_again),
        cmocka_unit_test(fields_and_values_have_names),
        cmocka_unit_test(the_tree_may_be_one_folder_deeper),
        cmocka_unit_test(without_chips_everything_has_its_name),
        cmocka_unit_test(names_of_the_tree_are_among_those_that_are_listed),
        cmocka_unit_test(other_domains_take_no_room),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(another_tree_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
