/* SPDX-License-Identifier: MIT
 * What runs: the rows of target.def as types, and the ways to find one. Generations are numbers of
 * rows, their bits in masks are counted per instruction set. This header does not know instructions
 * (isa.h), files or machines.
 *
 * To add a generation:
 *   1. write its GEN row, with the next bit of its instruction set, and a LAYOUT row;
 *   2. name it in the masks of the tables (GALL and its like at their heads) that hold for it;
 *   3. tests/unit/test_target.c lists what the row must say.
 * To add a chip: a TARGET row, and its line in that list. */
#ifndef CPS_TARGET_H
#define CPS_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

CPS_C_BEGIN

struct cps_buf;
struct cps_isa;

/** Generations of every instruction set: numbers of GEN rows. */
enum cps_gen {
    CPS_GEN_NONE, /**< none, or not known yet */
#define GEN(id, ...) CPS_##id,
#include "target.def"
    CPS_GEN_COUNT,
};

enum cps_gen_bits {
#define GEN(id, set, bit, ...) CPS_BIT_##id = bit,
#include "target.def"
};

/** For tables that serve one instruction set: the bit of a generation, CPS_GEN_BIT(A6XX). The same
 * bit is of another generation in another set. */
#define CPS_GEN_BIT(id) (UINT32_C(1) << CPS_BIT_##id)
/** For tables that serve several: a bit that no other generation has, CPS_GEN_MASK(G92). */
#define CPS_GEN_MASK(id) (UINT64_C(1) << (CPS_##id - 1))

/** Which set of names applies: generation, and for control registers the layout. */
enum cps_layout {
#define LAYOUT(id, ...) CPS_LAYOUT_##id,
#include "target.def"
    CPS_LAYOUT_COUNT,
};

/** A generation. All strings are constant. */
struct cps_gen_row {
    const struct cps_isa *isa;
    uint32_t bit;       /**< as cps_gen_bit() */
    const char *name;   /**< prefix and word */
    const char *prefix; /**< "vp1-", "seq-" or "" */
    const char *word;   /**< what people type: "a6xx", "g92", "old" */
    const char *option; /**< what takes the word: "gen", "chip", "seq-abi" */
    const char *key;    /**< what says it in a trace's head: "gen", "chip", "abi" */
    unsigned number;    /**< of GPUs: 6 for a6xx; 0: they have none */
    enum cps_layout layout;
    const char *meaning;
};

/** The row of @p gen; of numbers without a row that of CPS_GEN_NONE: "unknown", of afuc, no bit. */
CPS_PUBLIC const struct cps_gen_row *cps_gen_row(enum cps_gen gen);
/** The instruction set that a generation belongs to. */
CPS_PUBLIC const struct cps_isa *cps_gen_isa(enum cps_gen gen);
/** Its bit in masks of that set's generations: CPS_GEN_BIT(). 0 for CPS_GEN_NONE. */
CPS_PUBLIC uint32_t cps_gen_bit(enum cps_gen gen);
/** Its bit in masks of all sets' generations: CPS_GEN_MASK(). 0 for CPS_GEN_NONE. */
CPS_PUBLIC uint64_t cps_gen_mask(enum cps_gen gen);
/** Whether Adreno's processors execute it, whose firmware is loaded; else it is of scripts. True
 * for CPS_GEN_NONE. */
CPS_PUBLIC bool cps_gen_is_afuc(enum cps_gen gen);
/** Whether @p gen is @p first or a later generation of the same instruction set. */
CPS_PUBLIC bool cps_gen_since(enum cps_gen gen, enum cps_gen first);
/** The first layout of a generation: of a5xx its PFP's, of a7xx the one before a750. */
CPS_PUBLIC enum cps_layout cps_gen_layout(enum cps_gen gen);
/** "a5xx" to "a8xx", "nv17", "g92", "seq-old", "nv3t", "vp1-g80". */
CPS_PUBLIC const char *cps_gen_name(enum cps_gen gen);
/** The generation called @p name (as cps_gen_name() spells it, or the digit of its number); false
 * if none is. */
CPS_PUBLIC bool cps_gen_parse(const char *name, enum cps_gen *ret);
/** The first generation whose word a line @p key says ("gen", "chip", "abi"), of the instruction
 * set called @p isa if that has one, else of any; NULL if there is no such key. Its prefix is what
 * names have in front of the word. */
CPS_PUBLIC const struct cps_gen_row *cps_gen_keyed(const char *key, const char *isa);
/** Appends the words of a set's generations: "nv17, nv41, g80 or g92". */
CPS_PUBLIC void cps_gen_words(const struct cps_isa *isa, struct cps_buf *out);

/** The generation that a layout belongs to. */
CPS_PUBLIC enum cps_gen cps_layout_gen(enum cps_layout layout);
/** How a trace's head calls it ("a750"), "" where the generation says enough. */
CPS_PUBLIC const char *cps_layout_word(enum cps_layout layout);
/** The layout whose word, which is not empty, is @p word; false if none is. */
CPS_PUBLIC bool cps_layout_parse(const char *word, enum cps_layout *ret);

/** A chip or a family of them, by its firmware. All strings are constant. */
struct cps_target {
    uint32_t id;      /**< firmware id: bits 23:12 of an image's first dword */
    const char *name; /**< "a630 family" */
    enum cps_gen gen;
    enum cps_layout layout;
    uint32_t identity;      /**< control register CHIP_ID after a reset */
    uint32_t variant;       /**< control register CHIP_VARIANT after a reset */
    const char *processors; /**< names with blanks between: "sqe bv lpac" */
    const char *evidence;
};

/** The chip whose firmware has the id @p id, or NULL. */
CPS_PUBLIC const struct cps_target *cps_target_find(uint32_t id);
/** The chip called @p name, or NULL. */
CPS_PUBLIC const struct cps_target *cps_target_named(const char *name);
/** The first chip of a generation, which speaks for those without a row; NULL if it has none, as
 * those of scripts. */
CPS_PUBLIC const struct cps_target *cps_target_first(enum cps_gen gen);
/** Chip number @p index, from 0, in the order of the rows; NULL behind the last one. */
CPS_PUBLIC const struct cps_target *cps_target_at(size_t index);

/** The number of the generation that a GPU is of. @p gpu  a GPU id below 1000, else a chip id: 630
 * and 0x06030002 are 6, 0x43050a01 is 7 */
CPS_PUBLIC unsigned cps_gpu_generation(uint64_t gpu);
/** The kernel's word of work-arounds in CP_ME_INIT, of a5xx's GPU id @p gpu; else 0. */
CPS_PUBLIC uint32_t cps_gpu_workarounds(uint64_t gpu);

CPS_C_END

#endif
