/* SPDX-License-Identifier: MIT
 * Which chips firmware is for: the rows of tools/device/chip.def. */
#ifndef CPS_FIT_H
#define CPS_FIT_H

#include "fw/fw.h"

struct json_object;

/** A chip and firmware of its generation that is for others. */
struct misfit {
    const char *chip;     /**< "a630" */
    const char *firmware; /**< that it needs: "a630_sqe.fw" */
    uint32_t id;          /**< of the firmware that was given */
};

/** Whether @p fw is known to be for other chips than the GPU of this id or chip id (32 bits). An
 * unknown chip, unknown firmware and another generation are no misfit, nor is a5xx, of which a GPU
 * id does not tell the revision that firmware is for. */
bool misfit_find(const struct cps_fw *fw, uint64_t gpu, struct misfit *ret);
/** Appends "NAME is firmware of a660, a690; the capture is from a630, which needs a630_sqe.fw".
 * @p what  "the capture is from" */
void misfit_put(const struct misfit *misfit, const char *name, const char *what,
                struct cps_buf *out);
/** Adds `misfit`: `chip`, `firmware` (that it needs) and `chips` (that the given one is for). */
void misfit_json(const struct misfit *misfit, struct json_object *to);

#endif
