/* SPDX-License-Identifier: MIT
 * NVIDIA's chips: the ranges that envytools' documents give, over all chips that it names, and ids
 * of boards and of register 0. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "isa/nv/nvchip.h"

/* In the order of envytools' list of GPUs (docs/hw/gpu), blanks between. */
static const char order[] =
    "01 03 03 04 05 10 15 16 1a 11 17 1f 18 20 2a 25 28 30 35 31 36 34 40 45 41 42 43 44 4a 47 49 "
    "4b 46 4e 4c 67 68 63 50 84 86 92 94 96 98 a0 aa ac a3 a5 a8 af c0";

static void chips_come_in_the_order_of_the_documents(void **state)
{
    char text[4];
    size_t i = 0;
    (void)state;
    for (; i * 3 < sizeof(order); i++) {
        assert_non_null(cps_nvchip_at_(i));
        snprintf(text, sizeof(text), "%02x", cps_nvchip_at_(i)->id);
        assert_memory_equal(text, order + i * 3, 2);
        assert_memory_equal(cps_nvchip_at_(i)->name, "NV", 2);
    }
    assert_non_null(cps_nvchip_at_(i)); /* Fermi and later have none of these engines */
    for (; cps_nvchip_at_(i); i++)
        assert_int_equal(cps_nvchip_at_(i)->hwsq, CPS_GEN_NONE);
}

/* The chips of an engine's generation: "from" up to before "to" in that order. */
static void expect_range(enum cps_gen gen, size_t member, const char *from, const char *to)
{
    size_t first = (size_t)(strstr(order, from) - order) / 3;
    size_t end = (size_t)(strstr(order, to) - order) / 3;
    for (size_t i = first; i < end; i++) {
        const struct cps_nvchip *chip = cps_nvchip_at_(i);
        assert_int_equal(member ? chip->vp1 : chip->hwsq, gen);
    }
}

static void engines_are_in_the_chips_that_the_documents_say(void **state)
{
    (void)state;
    expect_range(CPS_GEN_NONE, 0, "01", "17");
    expect_range(CPS_NV17, 0, "17", "20");
    expect_range(CPS_GEN_NONE, 0, "20", "25");
    expect_range(CPS_NV17, 0, "25", "41");
    expect_range(CPS_NV41, 0, "41", "50");
    expect_range(CPS_G80, 0, "50", "92");
    expect_range(CPS_G92, 0, "92", "c0");
    assert_int_equal(cps_nvchip_(0xc0)->hwsq, CPS_GEN_NONE);
    expect_range(CPS_GEN_NONE, 1, "01", "41");
    expect_range(CPS_VP1_NV41, 1, "41", "44");
    expect_range(CPS_VP1_NV44, 1, "44", "50");
    expect_range(CPS_VP1_G80, 1, "50", "84");
    expect_range(CPS_GEN_NONE, 1, "84", "c0");
    assert_int_equal(cps_nvchip_(1)->pfifo, CPS_NV1);
    assert_int_equal(cps_nvchip_(3)->pfifo, CPS_NV3);
    assert_int_equal(cps_nvchip_(4)->pfifo, CPS_GEN_NONE);
    assert_null(cps_nvchip_(0x99));
}

/* The GPUs of envytools' docs/hw/pciid ("nVidia PCI id database"), in its order; of "NV41/NV42" and
 * "GK110/GK110B" the first. NV3's own vendor is 12d2: revision says which of two it is. */
static const struct {
    unsigned first, last;
    const char *code;
} devices[] = {
    {0x0008, 0x0009, "NV1"},   {0x0020, 0x0020, "NV4"},   {0x0028, 0x002f, "NV5"},
    {0x0040, 0x004f, "NV40"},  {0x0090, 0x009f, "G70"},   {0x00c0, 0x00cf, "NV41"},
    {0x00a0, 0x00a0, "NV5"},   {0x0100, 0x0103, "NV10"},  {0x0110, 0x0113, "NV11"},
    {0x0140, 0x014f, "NV43"},  {0x0150, 0x0153, "NV15"},  {0x0160, 0x016f, "NV44"},
    {0x0170, 0x017f, "NV17"},  {0x0180, 0x018f, "NV18"},  {0x0190, 0x019f, "G80"},
    {0x01a0, 0x01af, "NV1A"},  {0x01d0, 0x01df, "G72"},   {0x01f0, 0x01ff, "NV1F"},
    {0x0200, 0x0203, "NV20"},  {0x0210, 0x021f, "NV40"},  {0x0220, 0x022f, "NV44A"},
    {0x0240, 0x024f, "C51"},   {0x0250, 0x025f, "NV25"},  {0x0280, 0x028f, "NV28"},
    {0x0290, 0x029f, "G71"},   {0x02a0, 0x02af, "NV2A"},  {0x0300, 0x030f, "NV30"},
    {0x0310, 0x031f, "NV31"},  {0x0320, 0x032f, "NV34"},  {0x0330, 0x033f, "NV35"},
    {0x0340, 0x034f, "NV36"},  {0x0390, 0x039f, "G73"},   {0x03d0, 0x03df, "C61"},
    {0x0400, 0x040f, "G84"},   {0x0410, 0x041f, "G92"},   {0x0420, 0x042f, "G86"},
    {0x0530, 0x053f, "C67"},   {0x05e0, 0x05ff, "GT200"}, {0x0600, 0x061f, "G92"},
    {0x0620, 0x063f, "G94"},   {0x0640, 0x065f, "G96"},   {0x06c0, 0x06df, "GF100"},
    {0x06e0, 0x06ff, "G98"},   {0x07e0, 0x07ef, "C73"},   {0x0840, 0x085f, "MCP77"},
    {0x0860, 0x087f, "MCP79"}, {0x08a0, 0x08bf, "MCP89"}, {0x0a20, 0x0a3f, "GT216"},
    {0x0a60, 0x0a7f, "GT218"}, {0x0ca0, 0x0cbf, "GT215"}, {0x0dc0, 0x0ddf, "GF106"},
    {0x0de0, 0x0dff, "GF108"}, {0x0e20, 0x0e3f, "GF104"}, {0x0f00, 0x0f1f, "GF108"},
    {0x0fc0, 0x0fff, "GK107"}, {0x1000, 0x103f, "GK110"}, {0x1040, 0x107f, "GF119"},
    {0x1080, 0x109f, "GF110"}, {0x10c0, 0x10df, "GT218"}, {0x1140, 0x117f, "GF117"},
    {0x1180, 0x11bf, "GK104"}, {0x11c0, 0x11ff, "GK106"}, {0x1200, 0x121f, "GF114"},
    {0x1240, 0x125f, "GF116"}, {0x1280, 0x12bf, "GK208"}, {0x1380, 0x13bf, "GM107"},
};

static const char *device_is(unsigned device)
{
    for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++)
        if (device >= devices[i].first && device <= devices[i].last)
            return devices[i].code;
    return "none";
}

static const char *code_of(unsigned vendor, unsigned device)
{
    const struct cps_nvchip *chip = cps_nvchip_pci_(vendor, device);
    return chip ? chip->code : "none";
}

static void each_pci_device_is_what_the_document_says(void **state)
{
    (void)state;
    for (unsigned device = 0; device < 0x10000; device++) {
        assert_string_equal(code_of(0x10de, device), device_is(device));
        assert_string_equal(code_of(0x104a, device), device == 8 || device == 9 ? "NV1" : "none");
        assert_string_equal(code_of(0x12d2, device), device == 0x18   ? "NV3"
                                                     : device == 0x19 ? "NV3T"
                                                                      : "none");
    }
}

/* From envytools' docs/hw/gpu: number, code name, what else it is called; nvbios/info.c: versions.
 */
static const struct {
    unsigned id;
    const char *code, *also;
    unsigned bios;
} chips[] = {
    {0x01, "NV1", "", 0},
    {0x03, "NV3", "", 0},
    {0x03, "NV3T", "", 0},
    {0x04, "NV4", "", 0},
    {0x05, "NV5", "", 0},
    {0x10, "NV10", "", 0},
    {0x15, "NV15", "", 0},
    {0x16, "NV16", "", 0},
    {0x1a, "NV1A", "", 0},
    {0x11, "NV11", "", 0},
    {0x17, "NV17", "", 0},
    {0x1f, "NV1F", "", 0},
    {0x18, "NV18", "", 0},
    {0x20, "NV20", "", 0},
    {0x2a, "NV2A", "", 0},
    {0x25, "NV25", "", 0},
    {0x28, "NV28", "", 0},
    {0x30, "NV30", "", 0},
    {0x35, "NV35", "", 0},
    {0x31, "NV31", "", 0},
    {0x36, "NV36", "", 0},
    {0x34, "NV34", "", 0},
    {0x40, "NV40", "", 0x0540},
    {0x45, "NV45", "nv48", 0},
    {0x41, "NV41", "", 0x0541},
    {0x42, "NV42", "", 0x0541},
    {0x43, "NV43", "", 0x0543},
    {0x44, "NV44", "", 0x0544},
    {0x4a, "NV44A", "", 0x0544},
    {0x47, "G70", "", 0x0570},
    {0x49, "G71", "", 0x0571},
    {0x4b, "G73", "", 0x0573},
    {0x46, "G72", "", 0x0572},
    {0x4e, "C51", "", 0x0551},
    {0x4c, "C61", "mcp61", 0x0561},
    {0x67, "C67", "mcp67", 0x0567},
    {0x68, "C68", "mcp68", 0x0567},
    {0x63, "C73", "mcp73", 0x0573},
    {0x50, "G80", "", 0x6080},
    {0x84, "G84", "", 0x6084},
    {0x86, "G86", "", 0x6086},
    {0x92, "G92", "", 0x6292},
    {0x94, "G94", "", 0x6294},
    {0x96, "G96", "", 0x6294},
    {0x98, "G98", "", 0x6298},
    {0xa0, "GT200", "g200", 0x6200},
    {0xaa, "MCP77", "mcp78", 0x6277},
    {0xac, "MCP79", "mcp7a", 0x6279},
    {0xa3, "GT215", "", 0x7015},
    {0xa5, "GT216", "", 0x7016},
    {0xa8, "GT218", "", 0x7018},
    {0xaf, "MCP89", "", 0x7089},
    {0xc0, "GF100", "", 0x7000},
    {0xc4, "GF104", "", 0},
    {0xce, "GF114", "", 0},
    {0xc3, "GF106", "", 0},
    {0xcf, "GF116", "", 0},
    {0xc1, "GF108", "", 0},
    {0xc8, "GF110", "", 0},
    {0xd9, "GF119", "", 0},
    {0xd7, "GF117", "", 0},
    {0xe4, "GK104", "", 0},
    {0xe7, "GK107", "", 0},
    {0xe6, "GK106", "", 0},
    {0xea, "GK20A", "", 0},
    {0xf0, "GK110", "", 0},
    {0xf1, "GK110B", "", 0},
    {0x108, "GK208", "", 0},
    {0x117, "GM107", "", 0},
};

/* rnndb's name of a chip: its number with two digits, or three from 0x100 on; NV3T has a letter. */
static void rnndb_calls_it(unsigned id, bool letter, char ret[16])
{
    snprintf(ret, 16, "NV%02X%s", id, letter ? "T" : "");
}

static void each_chip_has_its_number_and_names(void **state)
{
    size_t count = sizeof(chips) / sizeof(chips[0]);
    char name[16];
    (void)state;
    for (size_t i = 0; i < count; i++) {
        const struct cps_nvchip *chip = cps_nvchip_at_(i);
        assert_int_equal(chip->id, chips[i].id);
        assert_string_equal(chip->code, chips[i].code);
        assert_string_equal(chip->also, chips[i].also);
        assert_int_equal(chip->bios, chips[i].bios);
        rnndb_calls_it(chip->id, !strcmp(chips[i].code, "NV3T"), name);
        assert_string_equal(chip->name, name);
        assert_ptr_equal(cps_nvchip_word_(chip->code), chip);
    }
    assert_null(cps_nvchip_at_(count));
}

static void register_0_says_the_chip(void **state)
{
    (void)state;
    assert_int_equal(cps_nvchip_number_(0x00010100), 0x01);
    assert_int_equal(cps_nvchip_number_(0x00030200), 0x03);
    assert_int_equal(cps_nvchip_number_(0x20004000), 0x04);
    assert_int_equal(cps_nvchip_number_(0x20154001), 0x05);
    assert_int_equal(cps_nvchip_number_(0x017200a5), 0x17);
    assert_int_equal(cps_nvchip_number_(0x043200a4), 0x43);
    assert_int_equal(cps_nvchip_number_(0x050200a2), 0x50);
    assert_int_equal(cps_nvchip_number_(0x092a00a2), 0x92);
    assert_int_equal(cps_nvchip_number_(0x0a5480a2), 0xa5);
}

static const struct {
    unsigned vendor, device;
    const char *name;
} boards[] = {
    {0x10de, 0x0174, "NV17"},  {0x10de, 0x0179, "NV17"}, {0x10de, 0x0181, "NV18"},
    {0x10de, 0x01f0, "NV1F"},  {0x10de, 0x0203, "NV20"}, {0x10de, 0x0250, "NV25"},
    {0x10de, 0x0311, "NV31"},  {0x10de, 0x0322, "NV34"}, {0x10de, 0x0045, "NV40"},
    {0x10de, 0x0140, "NV43"},  {0x10de, 0x0191, "NV50"}, {0x10de, 0x0400, "NV84"},
    {0x10de, 0x0611, "NV92"},  {0x10de, 0x05e1, "NVA0"}, {0x10de, 0x0a20, "NVA5"},
    {0x10de, 0x0ca3, "NVA3"},  {0x10de, 0x10c3, "NVA8"}, {0x12d2, 0x0018, "NV03"},
    {0x12d2, 0x0019, "NV03T"}, {0x104a, 0x0009, "NV01"}, {0x10de, 0x07e1, "NV63"},
};

static void boards_are_known_by_their_ids(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(boards) / sizeof(boards[0]); i++) {
        const struct cps_nvchip *chip = cps_nvchip_pci_(boards[i].vendor, boards[i].device);
        assert_non_null(chip);
        assert_string_equal(chip->name, boards[i].name);
    }
    assert_null(cps_nvchip_pci_(0x10de, 0x00f9)); /* a bridge */
    assert_null(cps_nvchip_pci_(0x1002, 0x0174));
    assert_null(cps_nvchip_pci_(0x10de, 0x016f + 0x2000));
    assert_null(cps_nvchip_bios_(0));
    assert_null(cps_nvchip_bios_(0x0599));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chips_come_in_the_order_of_the_documents),
        cmocka_unit_test(engines_are_in_the_chips_that_the_documents_say),
        cmocka_unit_test(each_pci_device_is_what_the_document_says),
        cmocka_unit_test(each_chip_has_its_number_and_names),
        cmocka_unit_test(register_0_says_the_chip),
        cmocka_unit_test(boards_are_known_by_their_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
