/* SPDX-License-Identifier: MIT
 * The matrix of a regression run: firmware x captures, in a small readable file (docs/regress.md).
 */
#ifndef CPS_MANIFEST_H
#define CPS_MANIFEST_H

#include "isa/base/err.h"
#include "tools/cmd/options/opt.h"

struct manifest_firmware {
    char *name;    /**< as shown; no two have the same */
    unsigned line; /**< of the manifest, for messages */
    char *path[2]; /**< the second only for a5xx */
    char *tags;    /**< ",A,B," or NULL */
};

struct manifest_capture {
    char *path; /**< to open */
    char *name; /**< as shown: relative to the manifest */
    unsigned line;
    char *tags;
    int expect; /**< enum CPS_REASON_* */
};

struct manifest {
    struct manifest_firmware *firmware;
    unsigned firmware_count;
    struct manifest_capture *capture; /**< sorted by name, each once */
    unsigned capture_count;
    int baseline;       /**< index of a firmware, or -1 */
    char *golden;       /**< directory, or NULL */
    unsigned mask_line; /**< its line; what it says is known with the firmware's names */
    char *mask;
    char *events;
    uint32_t kinds; /**< what is compared: those events */
    char *policy;
    uint64_t limit;
};

/** Reads a manifest. @return NULL, or CPS_ERR_SYNTAX naming file and line */
CPS_MUST_USE struct cps_err *manifest_read(const char *path, struct manifest *ret);
void manifest_deinit(struct manifest *manifest);
/** Whether this capture runs on this firmware. */
bool manifest_pairs(const struct manifest_firmware *firmware,
                    const struct manifest_capture *capture);

#endif
