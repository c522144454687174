/* SPDX-License-Identifier: MIT
 * Which instructions and branch directions of a firmware were executed: a table per handler, and
 * lcov's format against the disassembly. */
#ifndef CPS_COVER_H
#define CPS_COVER_H

#include "emu/engine.h"
#include "fw/fw.h"

struct json_object;

/** Bits of a coverage digit ('0' + bits), one digit a dword. */
enum {
    COVER_RUN = 1,
    COVER_TAKEN = 2,
    COVER_NOT_TAKEN = 4,
    COVER_CODE = 8,    /**< an instruction, no data and no padding */
    COVER_BRANCH = 16, /**< that may branch or not */
};

/** Bits of the instruction at a dword of the image: COVER_CODE, COVER_BRANCH. */
unsigned cover_kind(const struct cps_fw *fw, uint32_t at);
/** The executed instructions of each packet handler, in the format of results (results.h). A
 * handler reaches to the next one. @p cover  one per dword of the image */
struct json_object *cover_handlers(const struct cps_fw *fw, const struct cps_names *names,
                                   const struct cps_cover *cover);
/** Writes to @p path the tracefile that lcov and genhtml read, and to PATH.asm the listing that it
 * counts, as cps_fw_listing() gives it. */
CPS_MUST_USE struct cps_err *cover_write(const struct cps_fw *fw, const struct cps_names *names,
                                         const struct cps_cover *cover,
                                         const struct cps_buf *listing, const char *path);
/** The same of a script: @p count units of code. */
CPS_MUST_USE struct cps_err *cover_write_script(const struct cps_cover *cover, uint32_t count,
                                                const struct cps_buf *listing, const char *path);
/** Appends one line: how much of a script's code ran, and how many of its branches went both ways.
 * @param cover  one per unit of the code */
void cover_script(const char *name, enum cps_gen gen, const struct cps_buf *code,
                  const struct cps_cover *cover, struct cps_buf *out);
/** For each line of the listing, counted from 1, the instruction it shows, as a dword of the
 * image, or UINT32_MAX. @p count  gets lines + 1. @return a list that the caller frees */
uint32_t *cover_lines(const struct cps_fw *fw, const struct cps_buf *listing, size_t *count);

/* ---- unreached.c: code that nothing has executed, and why ---- */

/**
 * Appends a line per stretch of code that did not run, by processor and handler, with the reason,
 * and the number of words for each sort of reason.
 * @param names   by processor, or NULL
 * @param cover   one per dword of the image
 * @param results results of prove about this firmware, with a verdict on each handler, or NULL
 * @return NULL, CPS_ERR_NOMEM, or CPS_ERR_INPUT: results about other firmware, or code that no
 * processor has, made so that it leads to more places than can be followed
 */
CPS_MUST_USE struct cps_err *unreached_print(const struct cps_fw *fw, const struct cps_names *names,
                                             const struct cps_cover *cover,
                                             struct json_object *results, struct cps_buf *out);

#endif
