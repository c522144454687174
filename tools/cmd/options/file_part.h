/* SPDX-License-Identifier: MIT
 * A file, or the part of it that --offset and --length name. */
#ifndef CPS_FILE_PART_H
#define CPS_FILE_PART_H

#include "isa/base/buf.h"
#include "tools/cmd/options/opt.h"

/** What was read; the empty one is zero-initialised. */
struct file_part {
    struct cps_buf name;  /**< for messages: "FILE", or "FILE+0x100" */
    uint8_t *data;        /**< the whole file, owned */
    const uint8_t *bytes; /**< the part, inside of it */
    size_t size;          /**< of the part */
};

/** Whether the options name a part: then its bytes are taken for what they are asked for, whatever
 * they look like. */
bool file_part_wanted(const struct cps_options *opt);
/**
 * Reads it.
 * @param path   of the file, "-" for stdin
 * @param limit  most bytes that the file may have
 * @param ret    gets it; the caller calls file_part_deinit() in any case
 * @return NULL, CPS_ERR_USAGE, what cps_stream_read_file() returns, or CPS_ERR_INPUT: the file ends
 *         before the part does
 */
CPS_MUST_USE struct cps_err *file_part_read(const struct cps_options *opt, const char *path,
                                            size_t limit, struct file_part *ret);
void file_part_deinit(struct file_part *part);

#endif
