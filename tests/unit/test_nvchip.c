/* SPDX-License-Identifier: MIT
 * NVIDIA's chips: the ranges that envytools' documents give, over all chips that it names, and ids
 * of boards and of register 0. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "isa/nvchip.h"

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
    assert_null(cps_nvchip_pci_(0x10de, 0x016f + 0x1000));
    assert_null(cps_nvchip_bios_(0));
    assert_null(cps_nvchip_bios_(0x0599));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chips_come_in_the_order_of_the_documents),
        cmocka_unit_test(engines_are_in_the_chips_that_the_documents_say),
        cmocka_unit_test(register_0_says_the_chip),
        cmocka_unit_test(boards_are_known_by_their_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
