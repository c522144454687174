/* SPDX-License-Identifier: MIT
 * What the files of fw/ share among themselves. Not installed. */
#ifndef CPS_FW_PRIVATE_H
#define CPS_FW_PRIVATE_H

#include "fw/fw.h"

/** Parts start at multiples of this many dwords of the image (32 bytes). */
#define CPS_FW_ALIGN 8u

/** The word that fills gaps in a generation: a nop without payload. */
static inline uint32_t cps_fw_nop_(enum cps_gen gen)
{
    return gen == CPS_A5XX ? 0 : UINT32_C(0x01000000);
}

/** A nop whose payload is a dword offset: how headers refer to their packet table. */
static inline uint32_t cps_fw_offset_word_(enum cps_gen gen, uint32_t offset)
{
    return cps_fw_nop_(gen) | (offset & 0xffffff);
}

/** A word as an instruction of the firmware's generation. */
static inline struct cps_insn cps_fw_decode_(const struct cps_fw *fw, uint32_t word)
{
    struct cps_insn insn;
    cps_decode(&cps_isa_afuc, fw->gen, word, &insn);
    return insn;
}

/** A field of an instruction of afuc; -1: it has none. */
static inline int64_t cps_fw_field_(const struct cps_insn *insn, enum cps_afuc_field which)
{
    return cps_insn_field(&cps_isa_afuc, insn, which, -1);
}

/** The firmware id in an image's first word. */
static inline uint32_t cps_fw_id_(uint32_t word)
{
    return word >> 12 & 0xfff;
}

/** The chip of a whole first word: as cps_target_find(), but NULL too when the top byte is not the
 * one that the generation gives its payload words. */
const struct cps_target *cps_fw_target_(uint32_t word);

/** The row that speaks for an image: that of its id, unless it was taken for another generation. */
const struct cps_target *cps_fw_row_(const struct cps_fw *fw);

/** The layout to use for @p gen: that of @p id's row if it is of this generation, else the
 * generation's first one. */
enum cps_layout cps_fw_layout_(uint32_t id, enum cps_gen gen);

/** Fills id, version, gen, layout and assumed from the image. @p gen as for cps_fw_load(). */
CPS_MUST_USE struct cps_err *cps_fw_identify_(struct cps_fw *fw, unsigned gen);

/** Fills the parts from the image; for a5xx also the layout, which depends on the processor. */
void cps_fw_split_(struct cps_fw *fw);

/** Appends how the parts that do not begin an image are called: "BV, LPAC or DDE", or in ELF files
 * ".text.bv, .text.lpac or .text.dde". */
void cps_fw_sections_(bool elf, struct cps_buf *out);

/** Fills fw->incomplete: the parts are known. */
CPS_MUST_USE struct cps_err *cps_fw_measure_(struct cps_fw *fw);

/** What the first part of the image is for, by its contents; of a5xx sets the layout, too. */
enum cps_fw_role cps_fw_first_role_(struct cps_fw *fw);

/** Finds out which symbols are packets'. */
CPS_MUST_USE struct cps_err *cps_fw_debug_packets_(const struct cps_fw *fw,
                                                   struct cps_fw_debug *debug);

/** Reads a whole file: one of firmware, in whatever form, or of symbols. The caller frees @p ret.
 */
CPS_MUST_USE struct cps_err *cps_fw_read_file_(const char *path, uint8_t **ret, size_t *ret_size);

/** The packet table of the image that begins at dword @p start, as generation @p gen notes it, from
 * the image's start; CPS_FW_NONE if what is noted cannot be one. */
uint32_t cps_fw_find_table_(const struct cps_fw *fw, enum cps_gen gen, uint32_t start);

/** Frees the lists and leaves them empty. */
void cps_fw_debug_deinit(struct cps_fw_debug *debug);
/** Adds a symbol with a copy of @p length bytes of @p name. */
CPS_MUST_USE struct cps_err *cps_fw_debug_symbol_(struct cps_fw_debug *debug, const char *name,
                                                  size_t length, struct cps_fw_symbol symbol);
/** Adds a file unless it is there already; @p ret is its index. */
CPS_MUST_USE struct cps_err *cps_fw_debug_file_(struct cps_fw_debug *debug, const char *path,
                                                uint32_t *ret);
/** Adds a line entry; false when out of memory. */
bool cps_fw_debug_line_(struct cps_fw_debug *debug, struct cps_fw_line line);
/** Brings the lists into the order that the look-ups need. */
void cps_fw_debug_sort_(struct cps_fw_debug *debug);

/** The packet whose handler a label called @p name marks: a packet name or UNKNn; false if none. */
bool cps_fw_packet_(const struct cps_names *names, const char *name, size_t length, unsigned *ret);

#endif
