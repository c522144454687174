/* SPDX-License-Identifier: MIT
 * The property that fuzzers of scripts share: a listing assembles to the bytes it shows. */
#ifndef CPS_TESTS_SCRIPTCHECK_H
#define CPS_TESTS_SCRIPTCHECK_H

#include <string.h>

#include "fw/nv/script/script.h"

/** Whether the listing of @p size bytes for @p gen assembles to the same ones. */
static inline bool scriptcheck_listing(enum cps_gen gen, enum cps_scheme scheme,
                                       const uint8_t *bytes, size_t size)
{
    CPS_BUF text = {0};
    CPS_BUF again = {0};
    struct cps_err *err = cps_script_listing(gen, bytes, size, NULL, scheme, &text);
    if (!err)
        err = cps_script_assemble("fuzz", cps_buf_text(&text), text.size, gen, &again);
    bool good = err ? err->code == CPS_ERR_NOMEM
                    : again.size == size && (!size || memcmp(again.data, bytes, size) == 0);
    cps_err_free(err);
    return good;
}

#endif
