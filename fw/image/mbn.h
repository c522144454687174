/* SPDX-License-Identifier: MIT
 * Qualcomm's firmware images: ELF with program headers, in one file (`.mbn`) or split (`.mdt` with
 * headers and hashes, one `.bNN` per segment). Described only: nothing is loaded, and signatures
 * are not looked at.
 *
 * Sources: the kernel's drivers/soc/qcom/mdt_loader.c (header, hash and relocatable segments, the
 * names of split files). */
#ifndef CPS_MBN_H
#define CPS_MBN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../isa/base/err.h"

CPS_C_BEGIN

/** Most segments of an image; the names of split files have two digits. */
#define CPS_MBN_MAX_SEGMENTS 100
/** Size of a file that is not there. */
#define CPS_MBN_ABSENT UINT64_MAX

/** What a segment is for: bits 26:24 of its flags. */
enum cps_mbn_kind {
    CPS_MBN_DATA = 0,   /**< to be loaded */
    CPS_MBN_HASH = 2,   /**< hashes and signature of the others */
    CPS_MBN_HEADER = 7, /**< the ELF header and the program headers themselves */
};

/** A program header. */
struct cps_mbn_segment {
    uint32_t type;        /**< p_type: 1 is loaded */
    uint32_t flags;       /**< p_flags */
    uint64_t offset;      /**< in the one file, bytes */
    uint64_t address;     /**< physical */
    uint64_t file_size;   /**< bytes in the file */
    uint64_t memory_size; /**< bytes in memory; zeros behind those of the file */
    unsigned kind;        /**< enum cps_mbn_kind, or another number of 3 bits */
    bool relocatable;     /**< bit 27 of the flags */
    bool inside;          /**< its bytes are in the described file */
    uint64_t split_size;  /**< of the `.bNN` beside it, bytes; or CPS_MBN_ABSENT */
};

/** What the headers of an image say. */
struct cps_mbn {
    unsigned bits; /**< 32 or 64 */
    uint32_t type; /**< e_type: 2 is executable */
    uint32_t machine;
    uint32_t flags;
    uint64_t entry;
    bool split; /**< some segment's bytes are not in the file */
    unsigned segment_count;
    struct cps_mbn_segment segment[CPS_MBN_MAX_SEGMENTS];
};

/** Whether a file that begins with these bytes is such an image: ELF with program headers, which
 * the ELF form of our own assembler has not. */
CPS_PUBLIC bool cps_mbn_probe(const void *bytes, size_t size);

/**
 * Reads the headers of an image.
 * @param path  of the file: for messages, and to find `.bNN` files beside a `.mdt`
 * @return NULL, or CPS_ERR_INPUT (file, offset, what was expected)
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_mbn_parse(const char *path, const void *bytes,
                                                      size_t size, struct cps_mbn *ret);

/** Whether the bytes of segment @p i are all there: inside the file, or as a `.bNN` of the right
 * size. */
CPS_PUBLIC bool cps_mbn_complete(const struct cps_mbn *mbn, unsigned i);

/** "data", "hash", "header" or NULL. */
CPS_PUBLIC const char *cps_mbn_kind_name(unsigned kind);

CPS_C_END

#endif
