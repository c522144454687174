/* SPDX-License-Identifier: MIT
 * Qualcomm's firmware images: ELF with program headers, in one file (`.mbn`) or split (`.mdt` with
 * headers and hashes, one `.bNN` per segment). Described only: nothing is loaded, and signatures
 * are not looked at.
 *
 * Sources: the kernel's drivers/soc/qcom/mdt_loader.c (header, hash and relocatable segments, the
 * names of split files).
 *
 * Threads: there is no state; every function may be called from everywhere. */
#ifndef CPS_MBN_H
#define CPS_MBN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../isa/base/err.h"

CPS_C_BEGIN

/** Most segments of an image; the names of split files have two digits. */
#define CPS_MBN_MAX_SEGMENTS 100
/** Size of a file that is not there: of struct cps_mbn_segment's split_size. */
#define CPS_MBN_ABSENT UINT64_MAX

/** What a segment is for: bits 26:24 of its flags. */
enum cps_mbn_kind {
    CPS_MBN_DATA = 0,   /**< To be loaded. */
    CPS_MBN_HASH = 2,   /**< Hashes and signature of the others. */
    CPS_MBN_HEADER = 7, /**< The ELF header and the program headers themselves. */
};

/** A program header. Its numbers are as the file says; whether they make sense together is for the
 * caller to see. */
struct cps_mbn_segment {
    uint32_t type;        /**< p_type: 1 is loaded. */
    uint32_t flags;       /**< p_flags. */
    uint64_t offset;      /**< In the one file, bytes. */
    uint64_t address;     /**< Physical. */
    uint64_t file_size;   /**< Bytes in the file. */
    uint64_t memory_size; /**< Bytes in memory; zeros after those of the file. */
    unsigned kind;        /**< Enum cps_mbn_kind, or another number of 3 bits. */
    bool relocatable;     /**< Bit 27 of the flags. */
    bool inside;          /**< Its bytes are in the described file. */
    uint64_t split_size;  /**< Of the `.bNN` beside it, bytes; or CPS_MBN_ABSENT. */
};

/** What the headers of an image say. Plain data: a copy is as good. */
struct cps_mbn {
    unsigned bits;          /**< 32 or 64. */
    uint32_t type;          /**< e_type: 2 is executable. */
    uint32_t machine;       /**< The field e_machine. */
    uint32_t flags;         /**< The field e_flags. */
    uint64_t entry;         /**< Where it starts: e_entry. */
    bool split;             /**< Some segment's bytes are not in the file. */
    unsigned segment_count; /**< How many program headers. */
    struct cps_mbn_segment segment[CPS_MBN_MAX_SEGMENTS]; /**< They, in the order of the file. */
};

/**
 * Whether a file that begins with some bytes is such an image: ELF with program headers, which
 * the ELF form of our own assembler has not.
 * @param bytes  the first ones
 * @param size   how many
 */
CPS_PUBLIC bool cps_mbn_probe(const void *bytes, size_t size);

/**
 * Reads the headers of an image.
 * @param path   of the file: for messages, and to find `.bNN` files beside a `.mdt`
 * @param bytes  @p size bytes of the file, which are not kept
 * @param size   bytes
 * @param ret    gets what they say; nothing in it is to be released
 * @return NULL, CPS_ERR_NOMEM, or CPS_ERR_INPUT (file, offset, what was expected)
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_mbn_parse(const char *path, const void *bytes,
                                                      size_t size, struct cps_mbn *ret);

/**
 * Whether the bytes of a segment are all there: inside the file, or as a `.bNN` of the right size.
 * @param mbn  the image
 * @param i    number of the segment, below mbn->segment_count
 */
CPS_PUBLIC bool cps_mbn_complete(const struct cps_mbn *mbn, unsigned i);

/**
 * The name of what a segment is for: "data", "hash", "header".
 * @param kind  as in struct cps_mbn_segment
 * @return constant text, or NULL for another number
 */
CPS_PUBLIC const char *cps_mbn_kind_name(unsigned kind);

CPS_C_END

#endif
