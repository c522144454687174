/* SPDX-License-Identifier: MIT
 * The code at a hang: of the dump's own instruction cache, or of a firmware file, or of both. */
#ifndef CPS_INFO_HANG_CODE_H
#define CPS_INFO_HANG_CODE_H

#include "tools/run/code.h"

struct json_object;

/** What to show: @p fw is NULL without a firmware file, else the user's or what was recovered. */
struct hang_code {
    const struct cps_fw_icache *cache;
    bool whole; /**< the cache's holes are filled from @p fw */
    const struct cps_fw *fw;
    const struct cps_names *names;
    uint32_t pc; /**< dword address of the instruction that the processor is at */
};

/** Lines of what stands around the program counter; words that nobody knows are marked. */
CPS_MUST_USE struct cps_err *hang_code_print(const struct hang_code *h);
/** The same as an array. */
CPS_MUST_USE struct cps_err *hang_code_json(const struct hang_code *h, struct json_object *to);

#endif
