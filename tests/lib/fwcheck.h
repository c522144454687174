/* SPDX-License-Identifier: MIT
 * The property that tests and fuzzers of fw/ share: a listing assembles to the file it shows. */
#ifndef CPS_TESTS_FWCHECK_H
#define CPS_TESTS_FWCHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fw/fw.h"
#include "isa/base/le.h"

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

/** The firmware that @p text assembles to; NULL, with the reason on stderr, if it does not.
 * @param asked  0 to find the generation out of the image, else which to take it for */
static inline struct cps_fw *fwcheck_assemble(const char *text, enum cps_gen gen, unsigned asked)
{
    struct cps_asm program = {0};
    struct cps_fw *fw = NULL;
    uint8_t *bytes = NULL;
    struct cps_err *err = cps_assemble("t.afuc", text, strlen(text), gen, &program);
    if (!err)
        bytes = malloc(4 * (size_t)program.count + 1);
    for (uint32_t i = 0; bytes && i < program.count; i++)
        cps_put_le32(bytes + 4 * (size_t)i, program.words[i]);
    if (bytes)
        err = cps_fw_parse("t.fw", bytes, 4 * (size_t)program.count, asked, &fw);
    if (err)
        fprintf(stderr, "%s\n", err->message);
    cps_err_free(err);
    free(bytes);
    free(program.words);
    return fw;
}

#endif
