/* SPDX-License-Identifier: MIT
 * Look-ups in the rows of target.def. */
#include "isa/target.h"

#include "isa/nv/nvchip.h"

#include <string.h>

#include "isa/sets/table.h"

#define GEN(id, set, ...) extern const struct cps_isa cps_isa_##set;
#include "isa/target.def"

static const struct cps_gen_row gens[] = {
    {.isa = &cps_isa_afuc,
     .name = "unknown",
     .prefix = "",
     .word = "",
     .option = "",
     .key = "",
     .layout = CPS_LAYOUT_A8XX,
     .first = CPS_CPU_NONE,
     .draws = CPS_CPU_NONE,
     .meaning = ""},
#define GEN(id, set, number_of_bit, by, line, before, typed, count, at_first, count_of_files, \
            ring, drawing, text)                                                              \
    {.isa = &cps_isa_##set,                                                                   \
     .bit = CPS_GEN_BIT(id),                                                                  \
     .name = before typed,                                                                    \
     .prefix = before,                                                                        \
     .word = typed,                                                                           \
     .option = by,                                                                            \
     .key = line,                                                                             \
     .number = count,                                                                         \
     .layout = CPS_LAYOUT_##at_first,                                                         \
     .files = count_of_files,                                                                 \
     .first = CPS_CPU_##ring,                                                                 \
     .draws = CPS_CPU_##drawing,                                                              \
     .meaning = text},
#include "isa/target.def"
};

_Static_assert(CPS_GEN_COUNT <= 65, "CPS_GEN_MASK() has 64 bits: give tables of several sets more");

static const struct layout {
    enum cps_gen gen;
    const char *word;
} layouts[] = {
#define LAYOUT(id, gen, word, ...) {CPS_##gen, word},
#include "isa/target.def"
};

static const struct cps_target targets[] = {
#define TARGET(id, gen, layout, name, identity, variant, processors, evidence) \
    {id, name, CPS_##gen, CPS_LAYOUT_##layout, identity, variant, processors, evidence},
#include "isa/target.def"
};

enum { TARGETS = sizeof(targets) / sizeof(targets[0]) };

/* ---- generations ---- */

const struct cps_gen_row *cps_gen_row(enum cps_gen gen)
{
    return &gens[(unsigned)gen < CPS_GEN_COUNT ? gen : CPS_GEN_NONE];
}

const struct cps_isa *cps_gen_isa(enum cps_gen gen)
{
    return cps_gen_row(gen)->isa;
}

uint32_t cps_gen_bit(enum cps_gen gen)
{
    return cps_gen_row(gen)->bit;
}

uint64_t cps_gen_mask(enum cps_gen gen)
{
    return gen && gen <= 64 ? UINT64_C(1) << (gen - 1) : 0;
}

bool cps_gen_is_afuc(enum cps_gen gen)
{
    return cps_gen_isa(gen) == &cps_isa_afuc;
}

bool cps_gen_since(enum cps_gen gen, enum cps_gen first)
{
    return gen >= first && cps_gen_isa(gen) == cps_gen_isa(first);
}

enum cps_layout cps_gen_layout(enum cps_gen gen)
{
    return cps_gen_row(gen)->layout;
}

const char *cps_gen_name(enum cps_gen gen)
{
    return cps_gen_row(gen)->name;
}

static bool has_digit(const struct cps_gen_row *row, const char *text)
{
    return row->number && row->number < 10 && text[0] == (char)('0' + row->number) && !text[1];
}

bool cps_gen_parse(const char *name, enum cps_gen *ret)
{
    for (unsigned i = CPS_GEN_NONE + 1; i < CPS_GEN_COUNT; i++) {
        if (has_digit(&gens[i], name) || !strcmp(name, gens[i].name)) {
            *ret = (enum cps_gen)i;
            return true;
        }
    }
    return false;
}

const struct cps_gen_row *cps_gen_keyed(const char *key, const char *isa)
{
    const struct cps_gen_row *any = NULL;
    for (unsigned i = CPS_GEN_NONE + 1; i < CPS_GEN_COUNT; i++) {
        if (strcmp(gens[i].key, key) != 0)
            continue;
        if (!strcmp(gens[i].isa->name, isa))
            return &gens[i];
        any = any ? any : &gens[i];
    }
    return any;
}

void cps_gen_words(const struct cps_isa *isa, struct cps_buf *out)
{
    const char *word[CPS_GEN_COUNT];
    unsigned count = 0;
    for (unsigned i = CPS_GEN_NONE + 1; i < CPS_GEN_COUNT; i++) {
        if (gens[i].isa == isa)
            word[count++] = gens[i].word;
    }
    for (unsigned i = 0; i < count; i++)
        cps_buf_printf(out, "%s%s", !i ? "" : i + 1 < count ? ", " : " or ", word[i]);
}

/* ---- names of NVIDIA's GPUs ---- */

bool cps_chip_parse(const struct cps_isa *isa, const char *word, enum cps_gen *ret)
{
    const struct cps_nvchip *chip = cps_nvchip_word_(word);
    const enum cps_gen of[] = {chip ? chip->hwsq : CPS_GEN_NONE, chip ? chip->pfifo : CPS_GEN_NONE,
                               chip ? chip->vp1 : CPS_GEN_NONE};
    for (unsigned i = CPS_GEN_NONE + 1; i < CPS_GEN_COUNT; i++) {
        if (gens[i].isa == isa && !strcmp(gens[i].word, word)) {
            *ret = (enum cps_gen)i;
            return true;
        }
    }
    for (unsigned i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
        if (of[i] && gens[of[i]].isa == isa) {
            *ret = of[i];
            return true;
        }
    }
    return false;
}

void cps_chip_expected(const struct cps_isa *isa, const char *word, struct cps_buf *out)
{
    static const struct {
        const struct cps_isa *isa;
        const char *text;
    } have[] = {
#define NV_HAVE(set, text) {&cps_isa_##set, text},
#include "isa/nv/nvchip.def"
    };
    cps_gen_words(isa, out);
    for (size_t i = 0; cps_nvchip_word_(word) && i < sizeof(have) / sizeof(have[0]); i++) {
        if (have[i].isa == isa)
            cps_buf_printf(out, "; %s", have[i].text);
    }
}

/* ---- layouts ---- */

enum cps_gen cps_layout_gen(enum cps_layout layout)
{
    return (unsigned)layout < CPS_LAYOUT_COUNT ? layouts[layout].gen : CPS_GEN_NONE;
}

const char *cps_layout_word(enum cps_layout layout)
{
    return (unsigned)layout < CPS_LAYOUT_COUNT ? layouts[layout].word : "";
}

bool cps_layout_parse(const char *word, enum cps_layout *ret)
{
    for (unsigned i = 0; *word && i < CPS_LAYOUT_COUNT; i++) {
        if (!strcmp(layouts[i].word, word)) {
            *ret = (enum cps_layout)i;
            return true;
        }
    }
    return false;
}

/* ---- chips ---- */

const struct cps_target *cps_target_at(size_t index)
{
    return index < TARGETS ? &targets[index] : NULL;
}

const struct cps_target *cps_target_find(uint32_t id)
{
    size_t i = 0;
    while (i < TARGETS && targets[i].id != id)
        i++;
    return cps_target_at(i);
}

const struct cps_target *cps_target_first(enum cps_gen gen)
{
    size_t i = 0;
    while (i < TARGETS && targets[i].gen != gen)
        i++;
    return cps_target_at(i);
}

unsigned cps_gpu_generation(uint64_t gpu)
{
    static const struct {
        uint32_t first;
        enum cps_gen gen;
    } rows[] = {
#define GPU_CHIP(first, gen, evidence) {first, CPS_##gen},
#include "isa/target.def"
    };
    /* A GPU id has the digits of a chip id: 702 is 0x07000200. */
    uint32_t id = (uint32_t)gpu;
    uint32_t chip = gpu < 1000 ? id / 100 << 24 | id / 10 % 10 << 16 | id % 10 << 8 : id;
    unsigned number = chip >> 24;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && chip >= rows[i].first; i++)
        number = gens[rows[i].gen].number;
    return number;
}

enum cps_layout cps_gpu_layout(uint64_t gpu)
{
    unsigned number = cps_gpu_generation(gpu);
    for (unsigned gen = 1; gen < CPS_GEN_COUNT; gen++) {
        if (number && gens[gen].number == number)
            return cps_gen_layout((enum cps_gen)gen);
    }
    return CPS_LAYOUT_A6XX;
}

uint32_t cps_gpu_workarounds(uint64_t gpu)
{
    static const struct {
        uint64_t gpu;
        uint32_t word;
    } rows[] = {
#define WORKAROUND(gpu, word, evidence) {gpu, word},
#include "isa/target.def"
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].gpu == gpu)
            return rows[i].word;
    }
    return 0;
}

/* A chip id has a digit of the marketing number in each of its upper bytes: 0x06030002 is a 630. */
static uint64_t number_of(uint64_t gpu)
{
    if (gpu < UINT64_C(1) << 24)
        return gpu;
    return (gpu >> 24 & 0xff) * 100 + (gpu >> 16 & 0xff) * 10 + (gpu >> 8 & 0xff);
}

bool cps_gpu_roq_thresholds(uint64_t gpu, uint32_t ret[2])
{
    static const struct {
        uint64_t gpu;
        uint32_t low, high;
    } rows[] = {
#define ROQ_THRESHOLDS(gpu, low, high, evidence) {gpu, low, high},
#include "isa/target.def"
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].gpu != number_of(gpu))
            continue;
        ret[0] = rows[i].low;
        ret[1] = rows[i].high;
        return true;
    }
    return false;
}
