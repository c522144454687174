/* SPDX-License-Identifier: MIT
 * What a file is, by its first bytes. */
#ifndef CPS_FILE_KIND_H
#define CPS_FILE_KIND_H

#include <stddef.h>
#include <stdint.h>

/** Bits, so that a command can name those that it takes. */
enum file_kind {
    FILE_UNKNOWN = 0,
    FILE_SCRIPT = 1,     /**< a run file of an engine that is not afuc */
    FILE_MMIOTRACE = 2,  /**< of the kernel */
    FILE_HANG = 4,       /**< a capture of a GPU that hung: devcoredump, snapshot */
    FILE_CAPTURE = 8,    /**< any other capture */
    FILE_TRACE = 16,     /**< a recorded run */
    FILE_VBIOS = 32,     /**< of NVIDIA */
    FILE_FOREIGN = 64,   /**< an ELF image of another processor of the chip */
    FILE_FIRMWARE = 128, /**< .fw with an id that is known; without one it is FILE_UNKNOWN */
};

/** @param data  the first bytes, decompressed  @param size  of them; 64 are enough */
enum file_kind file_kind(const uint8_t *data, size_t size);
/** The same of a file; FILE_UNKNOWN for what is not regular, as it can be read only once, or cannot
 * be read. */
enum file_kind file_kind_at(const char *path);

#endif
