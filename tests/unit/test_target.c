/* SPDX-License-Identifier: MIT
 * The rows of target.def against lists that were written from the sources. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "emu/nv/nv.h"
#include "fw/fw.h"
#include "isa/isa.h"
#include "isa/sets/table.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- chips ---- */

/* Ids, generations and identities: Mesa's qrisc and emu.c, the kernel's catalogue of GPUs. */
static const struct {
    uint32_t id;
    enum cps_gen gen;
    enum cps_layout layout;
    const char *name;
    uint32_t identity, variant;
    const char *processors;
} chips[] = {
    {0x5ff, CPS_A5XX, CPS_LAYOUT_A5XX_PFP, "a5xx", 0, 0, "pfp me"},
    {0x5e1, CPS_A5XX, CPS_LAYOUT_A5XX_PFP, "a530v1", 0, 0, "pfp me"},
    {0x6ee, CPS_A6XX, CPS_LAYOUT_A6XX, "a630 family", 1, 0, "sqe"},
    {0x6dd, CPS_A6XX, CPS_LAYOUT_A6XX, "a650", 1u << 28, 0, "sqe"},
    {0x6dc, CPS_A6XX, CPS_LAYOUT_A660, "a660", 3u << 28, 0, "sqe lpac"},
    {0x7aa, CPS_A6XX, CPS_LAYOUT_A6XX, "a702", 2u << 28, 0, "sqe"},
    {0x730, CPS_A7XX, CPS_LAYOUT_A7XX, "a730", 7u << 28, 0x01 << 8, "sqe bv lpac"},
    {0x710, CPS_A7XX, CPS_LAYOUT_A7XX, "a710", 7u << 28, 0x20 << 8, "sqe"},
    {0x740, CPS_A7XX, CPS_LAYOUT_A7XX, "a740", 7u << 28, 0x40 << 8, "sqe bv lpac"},
    {0x520, CPS_A7XX, CPS_LAYOUT_A7XX_GEN3, "a750", 7u << 28, 0x40 << 8, "sqe bv lpac"},
    {0x512, CPS_A7XX, CPS_LAYOUT_A7XX, "gen70500", 7u << 28, 1u << 21, "sqe bv lpac"},
    {0x310, CPS_A7XX, CPS_LAYOUT_A7XX, "gen71500", 7u << 28, 0x41 << 8, "sqe bv lpac"},
    {0x200, CPS_A7XX, CPS_LAYOUT_A7XX, "gen71700", 7u << 28, 0x28 << 8, "sqe bv lpac"},
    {0x500, CPS_A8XX, CPS_LAYOUT_A8XX, "gen80000", 0, 0x40 << 8, "sqe bv lpac dde"},
    {0x700, CPS_A8XX, CPS_LAYOUT_A8XX, "gen80100", 0, 0x40 << 8, "sqe bv lpac dde"},
    {0x510, CPS_A8XX, CPS_LAYOUT_A8XX, "gen80200", 0, 0x40 << 8, "sqe bv lpac dde"},
};

static void chips_are_what_the_sources_say(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(chips); i++) {
        const struct cps_target *target = cps_target_find(chips[i].id);
        assert_non_null(target);
        assert_int_equal(target->id, chips[i].id);
        assert_int_equal(target->gen, chips[i].gen);
        assert_int_equal(target->layout, chips[i].layout);
        assert_string_equal(target->name, chips[i].name);
        assert_int_equal(target->identity, chips[i].identity);
        assert_int_equal(target->variant, chips[i].variant);
        assert_string_equal(target->processors, chips[i].processors);
        assert_int_equal(cps_layout_gen(target->layout), target->gen);
        assert_true(*target->evidence);
    }
    assert_non_null(cps_target_at(COUNT(chips) - 1));
    assert_null(cps_target_at(COUNT(chips)));
    assert_null(cps_target_find(0x123));
}

static void the_first_chip_speaks_for_its_generation(void **state)
{
    (void)state;
    assert_int_equal(cps_target_first(CPS_A5XX)->id, 0x5ff);
    assert_int_equal(cps_target_first(CPS_A6XX)->id, 0x6ee);
    assert_int_equal(cps_target_first(CPS_A7XX)->id, 0x730);
    assert_int_equal(cps_target_first(CPS_A8XX)->id, 0x500);
    assert_null(cps_target_first(CPS_G92));
    assert_null(cps_target_first(CPS_GEN_NONE));
}

static bool is_role(const char *name, size_t length)
{
    for (unsigned role = CPS_FW_PFP; role < CPS_FW_ROLE_COUNT; role++) {
        const char *have = cps_fw_role_name((enum cps_fw_role)role);
        if (strlen(have) == length && !memcmp(have, name, length))
            return true;
    }
    return false;
}

static void processors_have_the_names_of_roles(void **state)
{
    (void)state;
    for (size_t i = 0; cps_target_at(i); i++) {
        for (const char *at = cps_target_at(i)->processors; *at;) {
            size_t length = strcspn(at, " ");
            assert_true(is_role(at, length));
            at += length;
            at += strspn(at, " ");
        }
    }
}

static void gpu_ids_tell_generation_and_workarounds(void **state)
{
    static const struct {
        uint64_t gpu;
        unsigned generation;
        uint32_t workarounds;
    } rows[] = {
        {0, 0, 0},          {330, 3, 0},        {505, 5, 0xb},      {506, 5, 0xb},
        {508, 5, 0},        {510, 5, 1},        {530, 5, 0xb},      {540, 5, 0},
        {630, 6, 0},        {690, 6, 0},        {740, 7, 0},        {0x03000512, 3, 0},
        {0x05030002, 5, 0}, {0x06030002, 6, 0}, {0x43050a01, 7, 0}, {0x44050001, 8, 0},
        {702, 6, 0},        {0x07000200, 6, 0}, {710, 7, 0},        {0x07010000, 7, 0},
        {0x07030001, 7, 0}, {730, 7, 0},        {0x44050a31, 8, 0}, {0x0700ffff, 6, 0},
        {0x42ffffff, 7, 0}, {0x43000000, 7, 0}, {0x43ffffff, 7, 0}, {0x44000000, 8, 0},
        {0x44070001, 8, 0}, {504, 5, 0},        {507, 5, 0},        {509, 5, 0},
        {511, 5, 0},        {529, 5, 0},        {531, 5, 0},        {1000, 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(cps_gpu_generation(rows[i].gpu), rows[i].generation);
        assert_int_equal(cps_gpu_workarounds(rows[i].gpu), rows[i].workarounds);
        unsigned named = cps_gen_row(cps_layout_gen(cps_gpu_layout(rows[i].gpu)))->number;
        assert_int_equal(named, rows[i].generation < 5 ? 6 : rows[i].generation);
    }
    /* Three digits are a GPU id, the largest as well; four are a chip id. */
    assert_int_equal(cps_gpu_generation(999), cps_gpu_generation(0x09090900));
}

/* CP_ROQ_THRESHOLDS_1 and _2 as the kernel's a6xx hw_init() writes them: those of a640 and a650's
 * family, of a610's, and of the others; a7xx gets none. By number and by chip id (a6xx_catalog.c).
 */
static void queues_are_split_as_the_kernel_does(void **state)
{
    static const struct {
        uint32_t low, high;
        uint64_t gpus[18]; /* up to a 0 */
    } families[] = {
        {0x8040362c,
         0x02000140,
         {640, 680, 621, 635, 650, 660, 690, 0x06040001, 0x06080001, 0x06020100, 0x06030500,
          0x06050002, 0x06060001, 0x06090000}},
        {0x40201b16, 0x00800060, {610, 612, 702, 0x06010000, 0x06010200, 0x07000200}},
        {0x8040362c,
         0x010000c0,
         {615, 616, 618, 619, 630, 0x06010500, 0x06010800, 0x06010900, 0x06010901, 0x06030001,
          0x06030002}},
    };
    static const uint64_t others[] = {0, 530, 600, 629, 631, 740, 0x07030001, 0x43050a01};
    uint32_t found[2];
    (void)state;
    for (size_t i = 0; i < COUNT(families); i++) {
        for (const uint64_t *gpu = families[i].gpus; *gpu; gpu++) {
            assert_true(cps_gpu_roq_thresholds(*gpu, found));
            assert_int_equal(found[0], families[i].low);
            assert_int_equal(found[1], families[i].high);
        }
    }
    for (size_t i = 0; i < COUNT(others); i++)
        assert_false(cps_gpu_roq_thresholds(others[i], found));
}

/* ---- generations ---- */

static const struct {
    enum cps_gen gen;
    const struct cps_isa *isa;
    uint32_t bit, same_bit;
    const char *name, *option, *key, *word;
    unsigned number;
    enum cps_layout layout;
} gens[] = {
    {CPS_A5XX, &cps_isa_afuc, 1, CPS_GEN_BIT(A5XX), "a5xx", "gen", "gen", "a5xx", 5,
     CPS_LAYOUT_A5XX_PFP},
    {CPS_A6XX, &cps_isa_afuc, 2, CPS_GEN_BIT(A6XX), "a6xx", "gen", "gen", "a6xx", 6,
     CPS_LAYOUT_A6XX},
    {CPS_A7XX, &cps_isa_afuc, 4, CPS_GEN_BIT(A7XX), "a7xx", "gen", "gen", "a7xx", 7,
     CPS_LAYOUT_A7XX},
    {CPS_A8XX, &cps_isa_afuc, 8, CPS_GEN_BIT(A8XX), "a8xx", "gen", "gen", "a8xx", 8,
     CPS_LAYOUT_A8XX},
    {CPS_NV17, &cps_isa_hwsq, 1, CPS_GEN_BIT(NV17), "nv17", "chip", "chip", "nv17", 0,
     CPS_LAYOUT_NV17},
    {CPS_NV41, &cps_isa_hwsq, 2, CPS_GEN_BIT(NV41), "nv41", "chip", "chip", "nv41", 0,
     CPS_LAYOUT_NV41},
    {CPS_G80, &cps_isa_hwsq, 4, CPS_GEN_BIT(G80), "g80", "chip", "chip", "g80", 0, CPS_LAYOUT_G80},
    {CPS_G92, &cps_isa_hwsq, 8, CPS_GEN_BIT(G92), "g92", "chip", "chip", "g92", 0, CPS_LAYOUT_G92},
    {CPS_SEQ_OLD, &cps_isa_seq, 1, CPS_GEN_BIT(SEQ_OLD), "seq-old", "seq-abi", "abi", "old", 0,
     CPS_LAYOUT_SEQ_OLD},
    {CPS_SEQ_NEW, &cps_isa_seq, 2, CPS_GEN_BIT(SEQ_NEW), "seq-new", "seq-abi", "abi", "new", 0,
     CPS_LAYOUT_SEQ_NEW},
    {CPS_NV1, &cps_isa_pfifo, 1, CPS_GEN_BIT(NV1), "nv1", "chip", "chip", "nv1", 0, CPS_LAYOUT_NV1},
    {CPS_NV3, &cps_isa_pfifo, 2, CPS_GEN_BIT(NV3), "nv3", "chip", "chip", "nv3", 0, CPS_LAYOUT_NV3},
    {CPS_NV3T, &cps_isa_pfifo, 4, CPS_GEN_BIT(NV3T), "nv3t", "chip", "chip", "nv3t", 0,
     CPS_LAYOUT_NV3T},
    {CPS_VP1_NV41, &cps_isa_vp1, 1, CPS_GEN_BIT(VP1_NV41), "vp1-nv41", "chip", "chip", "nv41", 0,
     CPS_LAYOUT_VP1_NV41},
    {CPS_VP1_NV44, &cps_isa_vp1, 2, CPS_GEN_BIT(VP1_NV44), "vp1-nv44", "chip", "chip", "nv44", 0,
     CPS_LAYOUT_VP1_NV44},
    {CPS_VP1_G80, &cps_isa_vp1, 4, CPS_GEN_BIT(VP1_G80), "vp1-g80", "chip", "chip", "g80", 0,
     CPS_LAYOUT_VP1_G80},
};

static void generations_are_what_the_sources_say(void **state)
{
    (void)state;
    assert_int_equal(CPS_GEN_COUNT, 1 + COUNT(gens));
    for (size_t i = 0; i < COUNT(gens); i++) {
        const struct cps_gen_row *row = cps_gen_row(gens[i].gen);
        assert_int_equal(gens[i].gen, i + 1);
        assert_ptr_equal(row->isa, gens[i].isa);
        assert_ptr_equal(cps_gen_isa(gens[i].gen), gens[i].isa);
        assert_int_equal(cps_gen_is_afuc(gens[i].gen), gens[i].isa == &cps_isa_afuc);
        assert_int_equal(row->bit, gens[i].bit);
        assert_int_equal(cps_gen_bit(gens[i].gen), gens[i].bit);
        assert_int_equal(gens[i].same_bit, gens[i].bit);
        assert_string_equal(cps_gen_name(gens[i].gen), gens[i].name);
        assert_string_equal(row->option, gens[i].option);
        assert_string_equal(row->key, gens[i].key);
        assert_string_equal(row->word, gens[i].word);
        assert_int_equal(row->number, gens[i].number);
        assert_int_equal(cps_gen_layout(gens[i].gen), gens[i].layout);
    }
}

static void a_bit_of_a_set_is_of_one_generation(void **state)
{
    (void)state;
    for (unsigned a = 1; a < CPS_GEN_COUNT; a++) {
        uint32_t bit = cps_gen_bit((enum cps_gen)a);
        assert_true(bit && !(bit & (bit - 1)));
        for (unsigned b = a + 1; b < CPS_GEN_COUNT; b++) {
            if (cps_gen_isa((enum cps_gen)a) == cps_gen_isa((enum cps_gen)b))
                assert_int_not_equal(bit, cps_gen_bit((enum cps_gen)b));
        }
    }
}

/* A row with a bit of another set would be silently of some other generation. */
static void instructions_have_bits_of_their_own_set(void **state)
{
    static const struct cps_isa *const sets[] = {&cps_isa_afuc, &cps_isa_hwsq, &cps_isa_seq,
                                                 &cps_isa_pfifo, &cps_isa_vp1};
    (void)state;
    for (size_t s = 0; s < COUNT(sets); s++) {
        const struct cps_isa *isa = sets[s];
        uint32_t all = 0;
        uint32_t used = 0;
        for (unsigned gen = 1; gen < CPS_GEN_COUNT; gen++)
            all |= cps_gen_isa((enum cps_gen)gen) == isa ? cps_gen_bit((enum cps_gen)gen) : 0;
        for (size_t i = 0; i < isa->enc_count; i++)
            used |= isa->encs[i].gens;
        assert_int_equal(used, isa->enc_count ? all : 0);
    }
}

static void words_lead_to_their_generation(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(gens); i++) {
        const struct cps_gen_row *row = cps_gen_row(gens[i].gen);
        const char *isa = cps_isa_name(row->isa);
        enum cps_gen found = CPS_GEN_NONE;
        char name[24];
        assert_true(cps_gen_parse(row->name, &found));
        assert_int_equal(found, gens[i].gen);
        assert_ptr_equal(cps_gen_keyed(row->key, isa)->isa, row->isa);
        assert_string_equal(cps_gen_keyed(row->key, isa)->prefix, row->prefix);
        snprintf(name, sizeof(name), "%s%s", row->prefix, row->word);
        assert_string_equal(name, row->name);
        snprintf(name, sizeof(name), "%u", row->number);
        assert_int_equal(cps_gen_parse(name, &found), row->number != 0);
        assert_int_equal(found, gens[i].gen);
    }
    assert_int_equal(cps_gen_keyed("abi", "hwsq")->bit, CPS_GEN_BIT(SEQ_OLD));
    assert_string_equal(cps_gen_keyed("chip", "seq")->name, "nv17");
    assert_null(cps_gen_keyed("model", "hwsq"));
}

static void messages_list_the_words_of_a_set(void **state)
{
    static const struct {
        const struct cps_isa *isa;
        const char *text;
    } rows[] = {
        {&cps_isa_afuc, "a5xx, a6xx, a7xx or a8xx"},
        {&cps_isa_hwsq, "nv17, nv41, g80 or g92"},
        {&cps_isa_seq, "old or new"},
        {&cps_isa_pfifo, "nv1, nv3 or nv3t"},
        {&cps_isa_vp1, "nv41, nv44 or g80"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        CPS_BUF text = {0};
        cps_gen_words(rows[i].isa, &text);
        assert_string_equal(cps_buf_text(&text), rows[i].text);
    }
}

static void later_generations_are_of_the_same_set(void **state)
{
    (void)state;
    assert_true(cps_gen_since(CPS_A7XX, CPS_A7XX));
    assert_true(cps_gen_since(CPS_A8XX, CPS_A7XX));
    assert_false(cps_gen_since(CPS_A6XX, CPS_A7XX));
    assert_false(cps_gen_since(CPS_NV17, CPS_A7XX));
    assert_false(cps_gen_since(CPS_A8XX, CPS_NV17));
    assert_true(cps_gen_since(CPS_G92, CPS_NV41));
}

static void what_is_no_generation_has_no_bit(void **state)
{
    static const enum cps_gen none[] = {CPS_GEN_NONE, CPS_GEN_COUNT, (enum cps_gen)1000};
    (void)state;
    for (size_t i = 0; i < COUNT(none); i++) {
        assert_string_equal(cps_gen_name(none[i]), "unknown");
        assert_int_equal(cps_gen_bit(none[i]), 0);
        assert_true(cps_gen_is_afuc(none[i]));
    }
    assert_true(cps_gen_mask(CPS_GEN_NONE) == 0);
    assert_int_equal(cps_layout_gen(CPS_LAYOUT_COUNT), CPS_GEN_NONE);
}

/* ---- layouts ---- */

static void layouts_belong_to_generations(void **state)
{
    enum cps_layout found = CPS_LAYOUT_COUNT;
    (void)state;
    for (size_t i = 0; i < COUNT(gens); i++)
        assert_int_equal(cps_layout_gen(gens[i].layout), gens[i].gen);
    assert_int_equal(cps_layout_gen(CPS_LAYOUT_A5XX_ME), CPS_A5XX);
    assert_int_equal(cps_layout_gen(CPS_LAYOUT_A7XX_GEN3), CPS_A7XX);
    assert_int_equal(CPS_LAYOUT_COUNT, COUNT(gens) + 3);
    for (unsigned i = 0; i < CPS_LAYOUT_COUNT; i++)
        assert_string_equal(cps_layout_word((enum cps_layout)i), i == CPS_LAYOUT_A7XX_GEN3 ? "a750"
                                                                 : i == CPS_LAYOUT_A660    ? "a660"
                                                                                           : "");
    assert_false(cps_layout_parse("", &found));
    assert_false(cps_layout_parse("a6xx", &found));
    assert_int_equal(found, CPS_LAYOUT_COUNT);
    assert_true(cps_layout_parse("a750", &found));
    assert_int_equal(found, CPS_LAYOUT_A7XX_GEN3);
}

/* ---- width ---- */

/* 64 generations of several sets, 32 of one: no table is narrower than that. */
static void masks_have_room(void **state)
{
    uint64_t seen = 0;
    (void)state;
    for (unsigned gen = 1; gen <= 64; gen++) {
        uint64_t mask = cps_gen_mask((enum cps_gen)gen);
        assert_true(mask && !(mask & seen));
        seen |= mask;
    }
    assert_true(seen == UINT64_MAX);
    assert_true(cps_gen_mask((enum cps_gen)65) == 0);
    assert_true(cps_gen_mask(CPS_VP1_G80) == CPS_GEN_MASK(VP1_G80));
    assert_int_equal(sizeof(CPS_GEN_BIT(A5XX)), 4);
    assert_int_equal(sizeof(CPS_GEN_MASK(A5XX)), 8);
    assert_int_equal(sizeof(((struct cps_enc *)NULL)->gens), 4);
    assert_int_equal(sizeof(((struct cps_field *)NULL)->gens), 4);
    assert_int_equal(sizeof(((struct cps_gen_row *)NULL)->bit), 4);
    assert_int_equal(sizeof(((struct cps_reg_row *)NULL)->gens), 8);
}

#define NONE CPS_GEN_NONE
/* What people call a GPU, and which generation of an engine it is; NONE: it has no such engine.
 * From envytools' list of GPUs (docs/hw/gpu), in whose order the ranges of its pages are: HWSQ on
 * NV17:NV20 and NV25:GF100, with borders at NV41, G80 and G92; PFIFO of NV1:NV4; VP1 on NV41:G84,
 * with borders at NV44 and G80. */
static void test_names_of_nvidia_chips(void **state)
{
    static const struct {
        const char *words;
        enum cps_gen hwsq, pfifo, vp1;
    } rows[] = {
        {"nv1 NV1 nv01 0x01 0x1", NONE, CPS_NV1, NONE},
        {"nv3 NV3 0x03", NONE, CPS_NV3, NONE},
        {"nv3t NV3T", NONE, CPS_NV3T, NONE},
        {"nv4 NV5 NV10 NV15 NV1A NV11 0x11", NONE, NONE, NONE},
        {"nv17 NV17 0x17 NV1F 0x1f NV18 0x18", CPS_NV17, NONE, NONE},
        {"nv20 NV20 0x20 NV2A 0x2a", NONE, NONE, NONE},
        {"NV25 0x25 NV28 nv30 NV35 NV31 0x31 nv36 nv34 NV40 0x40 NV45 NV48", CPS_NV17, NONE, NONE},
        {"nv41 NV41 0x41 NV42 nv43", CPS_NV41, NONE, CPS_VP1_NV41},
        {"nv44 NV44 0x44 NV4A NV44A NV47 G70 NV49 g71 NV4B G73 NV46 G72 NV4E C51 NV4C MCP61 NV67 "
         "MCP67 NV68 MCP68 NV63 MCP73",
         CPS_NV41, NONE, CPS_VP1_NV44},
        {"g80 G80 NV50 nv50 0x50", CPS_G80, NONE, CPS_VP1_G80},
        {"G84 NV84 0x84 G86 nv86 0x86", CPS_G80, NONE, NONE},
        {"g92 G92 nv92 0x92 G94 0x94 G96 G98 NV98 G200 GT200 gt200 NVA0 0xa0 MCP77 MCP78 0xaa "
         "MCP79 "
         "MCP7A NVAC GT215 NVA3 0xa3 GT216 nva5 0xa5 0xA5 GT218 0xa8 MCP89 nvaf",
         CPS_G92, NONE, NONE},
        {"GF100 NVC0 0xc0 GF108 GF119 GK104 NVE4 0xe4 GK20A GK110B GK208 nv108 GM107 0x117", NONE,
         NONE, NONE},
        {"nv2 nv nv170 g81 0x2 0x 50 a5 none nv3T0", NONE, NONE, NONE},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct cps_isa *isa[] = {&cps_isa_hwsq, &cps_isa_pfifo, &cps_isa_vp1, &cps_isa_seq};
        const enum cps_gen want[] = {rows[i].hwsq, rows[i].pfifo, rows[i].vp1, CPS_GEN_NONE};
        for (const char *at = rows[i].words; *at; at += strcspn(at, " "), at += *at == ' ') {
            char word[16] = "";
            memcpy(word, at, strcspn(at, " "));
            for (size_t k = 0; k < COUNT(isa); k++) {
                enum cps_gen found = CPS_GEN_NONE;
                if (cps_chip_parse(isa[k], word, &found) != (want[k] != CPS_GEN_NONE) ||
                    found != want[k])
                    fail_msg("%s of %s: %s", cps_isa_name(isa[k]), word, cps_gen_name(found));
            }
        }
    }
}
#undef NONE

/* Whoever names a GPU without the engine hears which have it. */
static void test_chips_that_are_expected(void **state)
{
    static const struct {
        const struct cps_isa *isa;
        const char *word, *text;
    } rows[] = {
        {&cps_isa_hwsq, "nv20",
         "nv17, nv41, g80 or g92; NV17 up to NV20 and NV25 up to GF100 have HWSQ"},
        {&cps_isa_hwsq, "gf100",
         "nv17, nv41, g80 or g92; NV17 up to NV20 and NV25 up to GF100 have HWSQ"},
        {&cps_isa_hwsq, "g93", "nv17, nv41, g80 or g92"},
        {&cps_isa_pfifo, "NV4", "nv1, nv3 or nv3t; NV1 up to NV4 have this PFIFO"},
        {&cps_isa_vp1, "g84", "nv41, nv44 or g80; NV41 up to G84 have VP1"},
        {&cps_isa_seq, "gt215", "old or new"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        CPS_BUF text = {0};
        cps_chip_expected(rows[i].isa, rows[i].word, &text);
        assert_string_equal(cps_buf_text(&text), rows[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chips_are_what_the_sources_say),
        cmocka_unit_test(the_first_chip_speaks_for_its_generation),
        cmocka_unit_test(processors_have_the_names_of_roles),
        cmocka_unit_test(gpu_ids_tell_generation_and_workarounds),
        cmocka_unit_test(queues_are_split_as_the_kernel_does),
        cmocka_unit_test(generations_are_what_the_sources_say),
        cmocka_unit_test(a_bit_of_a_set_is_of_one_generation),
        cmocka_unit_test(instructions_have_bits_of_their_own_set),
        cmocka_unit_test(words_lead_to_their_generation),
        cmocka_unit_test(messages_list_the_words_of_a_set),
        cmocka_unit_test(later_generations_are_of_the_same_set),
        cmocka_unit_test(what_is_no_generation_has_no_bit),
        cmocka_unit_test(layouts_belong_to_generations),
        cmocka_unit_test(masks_have_room),
        cmocka_unit_test(test_names_of_nvidia_chips),
        cmocka_unit_test(test_chips_that_are_expected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
