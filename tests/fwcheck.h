/* SPDX-License-Identifier: MIT
 * The property that tests and fuzzers of fw/ share: a listing assembles to the file it shows. */
#ifndef CPS_TESTS_FWCHECK_H
#define CPS_TESTS_FWCHECK_H

#include <stdio.h>
#include <string.h>

#include "fw/fw.h"

/** Whether the listing of @p fw assembles to the same words; says why not on stderr. */
static inline bool fwcheck_listing(const struct cps_fw *fw)
{
    CPS_BUF text = {0};
    struct cps_asm again = {0};
    struct cps_err *err = cps_fw_listing(fw, NULL, &text);
    if (!err)
        err = cps_assemble("listing", cps_buf_text(&text), text.size, fw->gen, &again);
    if (err) {
        fprintf(stderr, "%s\n", err->message);
        cps_err_free(err);
        return false;
    }
    bool same = again.count == fw->count + 1 && again.words[0] == fw->lead &&
                !memcmp(again.words + 1, fw->words, (size_t)fw->count * 4);
    if (!same)
        fprintf(stderr, "%s: the listing assembles to other words\n", fw->name);
    free(again.words);
    return same;
}

#endif
