/* SPDX-License-Identifier: MIT
 * What the writer and the reader of our ELF form agree on; docs/formats.md describes it. Private
 * to fw/. */
#ifndef CPS_ELF_FORM_H
#define CPS_ELF_FORM_H

#include "fw/fw.h"
#include "isa/base/le.h"

/** The section that marks our files, and its version. */
#define CPS_ELF_MARK    ".cpscope"
#define CPS_ELF_VERSION 1u
/** Nobody has assigned a number to these processors, and tools that check refuse EM_NONE. This one
 * is in their lists (AT&T WE 32100, of 1980), and none of them takes its code apart. */
#define CPS_ELF_MACHINE 1u
/** Bytes between the addresses of two parts: each has an address range of its own, so that tools
 * which know only addresses find the right lines. */
#define CPS_ELF_PART_SHIFT 24

/** Where byte 0 of a part is. */
static inline uint32_t cps_elf_base_(uint32_t part)
{
    return part << CPS_ELF_PART_SHIFT;
}

/** The word after the point that the names of a part's sections end with; "" for none. */
static inline const char *cps_elf_suffix_(enum cps_fw_role role)
{
    return cps_fw_role_section(role) ? cps_fw_role_name(role) : "";
}

/** The sections of debugging information. */
struct cps_dwarf {
    struct cps_buf line, info, abbrev;
};

/** Appends the DWARF 4 unit and line table of every part. Out of memory is in the buffers. */
void cps_dwarf_write_(const struct cps_program *program, struct cps_dwarf *ret);

/**
 * Reads a line table as cps_dwarf_write_() makes them into ret->debug, whose parts are known.
 * @param name    of the file and @p offset of the section in it, for messages
 */
CPS_MUST_USE struct cps_err *cps_dwarf_read_(const char *name, uint64_t offset, const uint8_t *data,
                                             size_t size, struct cps_program *ret);

/** Appends a word of such a file. */
static inline void cps_elf_put32_(struct cps_buf *out, uint32_t value)
{
    uint8_t bytes[4];
    cps_put_le32(bytes, value);
    cps_buf_add(out, (const char *)bytes, sizeof(bytes));
}

#endif
