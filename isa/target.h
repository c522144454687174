/* SPDX-License-Identifier: MIT
 * What runs: the rows of target.def as types, and the ways to find one. Generations are numbers of
 * rows, their bits in masks are counted per instruction set. This header does not know instructions
 * (isa.h), files or machines.
 *
 * Threads: everything here is constant. All functions may be called from everywhere, and what they
 * return is valid for ever and owned by nobody.
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

/** Generations of every instruction set: numbers of GEN rows. The rows are CPS_A5XX and so on. */
enum cps_gen {
    /** None, or not known yet. */
    CPS_GEN_NONE,
#define GEN(id, ...) CPS_##id,
#include "target.def"
    /** How many there are, CPS_GEN_NONE counted. */
    CPS_GEN_COUNT,
};

/** The bits of generations, counted from 0 in each instruction set: for CPS_GEN_BIT(). */
enum cps_gen_bits {
#define GEN(id, set, bit, ...) CPS_BIT_##id = bit,
#include "target.def"
};

/** For tables that serve one instruction set: the bit of a generation, CPS_GEN_BIT(A6XX). The same
 * bit is of another generation in another set. */
#define CPS_GEN_BIT(id) (UINT32_C(1) << CPS_BIT_##id)
/** For tables that serve several: a bit that no other generation has, CPS_GEN_MASK(G92). */
#define CPS_GEN_MASK(id) (UINT64_C(1) << (CPS_##id - 1))

/** Which set of names applies: generation, and for control registers the layout. Numbers of LAYOUT
 * rows: CPS_LAYOUT_A6XX and so on. */
enum cps_layout {
#define LAYOUT(id, ...) CPS_LAYOUT_##id,
#include "target.def"
    /** How many there are. */
    CPS_LAYOUT_COUNT,
};

/** Processors, the `who` field: CPS_CPU_SQE and so on; target.def says what each is. CPS_CPU_NONE
 * is not a core: submissions, the end. CPS_CPU_HOST is the driver, or what a run file says. */
enum cps_processor {
#define PROCESSOR(id, ...) CPS_CPU_##id,
#include "target.def"
    /** How many there are. */
    CPS_CPU_COUNT,
};

/** A generation. All strings are constant. */
struct cps_gen_row {
    /** The instruction set. */
    const struct cps_isa *isa;
    /** As cps_gen_bit(). */
    uint32_t bit;
    /** What cps_gen_name() gives: prefix and word. */
    const char *name;
    /** What stands in front of the word: "vp1-", "seq-" or "". */
    const char *prefix;
    /** What people type: "a6xx", "g92", "old". */
    const char *word;
    /** The option of the command that takes the word: "gen", "chip", "seq-abi". */
    const char *option;
    /** The line of a trace's head that says it: "gen", "chip", "abi". */
    const char *key;
    /** What GPUs are counted as: 6 for a6xx; 0: they are not. */
    unsigned number;
    /** The first layout of the generation. */
    enum cps_layout layout;
    /** Files of a revision of firmware; 0: scripts run there, not firmware. */
    unsigned files;
    /** CPS_CPU_*: the processor that reads the ring. */
    unsigned first;
    /** CPS_CPU_*: the processor whose packets start draws. */
    unsigned draws;
    /** For people: "SQE". */
    const char *meaning;
};

/**
 * The row of a generation.
 * @param gen  any number
 * @return never NULL: of numbers without a row that of CPS_GEN_NONE, "unknown", of afuc, without a
 * bit
 */
CPS_PUBLIC const struct cps_gen_row *cps_gen_row(enum cps_gen gen);
/**
 * The instruction set that a generation belongs to.
 * @param gen  any number
 * @return never NULL: afuc's for CPS_GEN_NONE
 */
CPS_PUBLIC const struct cps_isa *cps_gen_isa(enum cps_gen gen);
/**
 * The bit of a generation in masks of its set's generations: CPS_GEN_BIT() of a variable.
 * @param gen  any number
 * @return one bit; 0 for CPS_GEN_NONE
 */
CPS_PUBLIC uint32_t cps_gen_bit(enum cps_gen gen);
/**
 * The bit of a generation in masks of all sets' generations: CPS_GEN_MASK() of a variable.
 * @param gen  any number
 * @return one bit; 0 for CPS_GEN_NONE
 */
CPS_PUBLIC uint64_t cps_gen_mask(enum cps_gen gen);
/**
 * Whether Adreno's processors execute a generation, whose firmware is loaded; else it is one of
 * scripts.
 * @param gen  any number
 * @return true for CPS_GEN_NONE too
 */
CPS_PUBLIC bool cps_gen_is_afuc(enum cps_gen gen);
/**
 * Whether a generation is another one or a later one of the same instruction set.
 * @param gen    the one in question
 * @param first  the one that it is compared with
 */
CPS_PUBLIC bool cps_gen_since(enum cps_gen gen, enum cps_gen first);
/**
 * The first layout of a generation: of a5xx its PFP's, of a7xx the one before a750.
 * @param gen  any number
 */
CPS_PUBLIC enum cps_layout cps_gen_layout(enum cps_gen gen);
/**
 * The name of a generation: "a5xx" to "a8xx", "nv17", "g92", "seq-old", "nv3t", "vp1-g80".
 * @param gen  any number
 * @return never NULL: "unknown" for CPS_GEN_NONE
 */
CPS_PUBLIC const char *cps_gen_name(enum cps_gen gen);
/**
 * The generation of a name.
 * @param name  as cps_gen_name() spells it, or the digit of its number
 * @param ret   gets the generation; untouched if there is none
 * @return false if none is called so
 */
CPS_PUBLIC bool cps_gen_parse(const char *name, enum cps_gen *ret);
/**
 * The first generation whose word a line of a trace's head says.
 * @param key  of the line: "gen", "chip", "abi"
 * @param isa  the name of the instruction set to look in first, as cps_isa_name() has it; then any
 *             is looked in
 * @return a row whose prefix is what names have in front of the word; NULL if there is no such key
 */
CPS_PUBLIC const struct cps_gen_row *cps_gen_keyed(const char *key, const char *isa);
/**
 * Appends the words of a set's generations: "nv17, nv41, g80 or g92".
 * @param isa  the set
 * @param out  where to
 */
CPS_PUBLIC void cps_gen_words(const struct cps_isa *isa, struct cps_buf *out);

/**
 * The generation of a set that a word stands for: its own word, or what people call a GPU of
 * NVIDIA's: "g92", "NV50", "GT200", "0xa5".
 * @param isa   the set
 * @param word  in any case, but for a generation's own
 * @param ret   gets the generation; untouched if there is none
 * @return false if nothing is called so, or that GPU has no such engine
 */
CPS_PUBLIC bool cps_chip_parse(const struct cps_isa *isa, const char *word, enum cps_gen *ret);
/**
 * Appends what cps_chip_parse() takes for a set: the words of its generations, and where @p word is
 * a GPU without that engine, which have it.
 * @param isa   the set
 * @param word  what was found
 * @param out   where to
 */
CPS_PUBLIC void cps_chip_expected(const struct cps_isa *isa, const char *word, struct cps_buf *out);

/**
 * The generation that a layout belongs to.
 * @param layout  below CPS_LAYOUT_COUNT
 */
CPS_PUBLIC enum cps_gen cps_layout_gen(enum cps_layout layout);
/**
 * How a trace's head calls a layout.
 * @param layout  below CPS_LAYOUT_COUNT
 * @return "a750" and the like; "" where the generation says enough. Never NULL
 */
CPS_PUBLIC const char *cps_layout_word(enum cps_layout layout);
/**
 * The layout of a word.
 * @param word  as cps_layout_word() has it, not empty
 * @param ret   gets the layout; untouched if there is none
 * @return false if none is called so
 */
CPS_PUBLIC bool cps_layout_parse(const char *word, enum cps_layout *ret);

/** A chip or a family of them, by its firmware. All strings are constant. */
struct cps_target {
    /** Firmware id: bits 23:12 of an image's first dword. */
    uint32_t id;
    /** For people: "a630 family". */
    const char *name;
    /** Its generation. */
    enum cps_gen gen;
    /** The numbering of its control registers. */
    enum cps_layout layout;
    /** What control register CHIP_ID reads after a reset. */
    uint32_t identity;
    /** What control register CHIP_VARIANT reads after a reset. */
    uint32_t variant;
    /** Names of its processors with blanks between, in the order of their images: "sqe bv lpac". */
    const char *processors;
    /** Where the row's facts come from, as target.def explains. */
    const char *evidence;
};

/**
 * The chip of a firmware.
 * @param id  bits 23:12 of the image's first dword
 * @return NULL if no row has it
 */
CPS_PUBLIC const struct cps_target *cps_target_find(uint32_t id);
/**
 * The first chip of a generation, which speaks for those without a row.
 * @param gen  any number
 * @return NULL if it has none, as those of scripts
 */
CPS_PUBLIC const struct cps_target *cps_target_first(enum cps_gen gen);
/**
 * A chip by its number, for loops over all.
 * @param index  from 0, in the order of the rows
 * @return NULL behind the last one
 */
CPS_PUBLIC const struct cps_target *cps_target_at(size_t index);

/**
 * The number of the generation that a GPU is of.
 * @param gpu  a GPU id below 1000, else a chip id: 630 and 0x06030002 are 6, 0x43050a01 is
 *             7; 702 is 6, as its firmware
 * @return the number, which need not be one of a row
 */
CPS_PUBLIC unsigned cps_gpu_generation(uint64_t gpu);
/**
 * The layout that names of a GPU's registers are looked up in while its firmware is not known.
 * @param gpu  as above
 * @return the first one of its generation; CPS_LAYOUT_A6XX if no row is of that
 */
CPS_PUBLIC enum cps_layout cps_gpu_layout(uint64_t gpu);
/**
 * The kernel's word of work-arounds in CP_ME_INIT.
 * @param gpu  a GPU id of a5xx, decimal as people say it: 530
 * @return 0 for any other
 */
CPS_PUBLIC uint32_t cps_gpu_workarounds(uint64_t gpu);
/**
 * What the kernel's driver writes to CP_ROQ_THRESHOLDS_1 and _2 before it starts the processor.
 * @param gpu  GPU id or chip id of an a6xx
 * @param ret  gets both
 * @return false, and nothing stored, for any other
 */
CPS_PUBLIC bool cps_gpu_roq_thresholds(uint64_t gpu, uint32_t ret[2]);

CPS_C_END

#endif
