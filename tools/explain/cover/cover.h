/* SPDX-License-Identifier: MIT
 * Which instructions and branch directions of a firmware were executed: a table per handler, and
 * lcov's form against the disassembly. */
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

/** What was executed of each packet handler, in the form that results have (results.h). A handler
 * reaches to the next one. @p cover  one per dword of the image */
struct json_object *cover_handlers(const struct cps_fw *fw, const struct cps_names *names,
                                   const struct cps_cover *cover);
/** Appends the tracefile that lcov and genhtml read. @p listing  path of the disassembly, as
 * cps_fw_listing() gives it in @p text */
void cover_lcov(const struct cps_fw *fw, const struct cps_names *names,
                const struct cps_cover *cover, const char *listing, const char *text,
                struct cps_buf *out);

/** Writes @p text as a file. */
CPS_MUST_USE struct cps_err *cover_write_text(const char *path, const struct cps_buf *text);
/** Writes the listing to OUTPUT.asm, which genhtml shows the counts against. @p ret  its path, for
 * lcov's form */
CPS_MUST_USE struct cps_err *cover_write_listing(const char *output, const struct cps_buf *listing,
                                                 char **ret);
/** Writes lcov's form to @p path, and beside it the listing, as cps_fw_listing() gives it. */
CPS_MUST_USE struct cps_err *cover_write(const struct cps_fw *fw, const struct cps_names *names,
                                         const struct cps_cover *cover,
                                         const struct cps_buf *listing, const char *path);

/** Appends one line: how much of a script's code ran, and how many of its branches went both ways.
 * @param cover  one per unit of the code */
void cover_script(const char *name, enum cps_gen gen, const struct cps_buf *code,
                  const struct cps_cover *cover, struct cps_buf *out);
/** The same as lcov's form, against its listing at @p listing, whose text is @p text. */
void cover_script_lcov(const struct cps_cover *cover, uint32_t count, const char *listing,
                       const char *text, struct cps_buf *out);
/** For each line of the listing, counted from 1, the instruction it shows, as a dword of the
 * image, or UINT32_MAX; @p ret has room
 * for two entries more than there are lines. @return lines + 1 */
size_t cover_lines(const struct cps_fw *fw, const char *text, uint32_t *ret);

/* ---- unreached.c: code that nothing has executed, and why: what would have to be different for it
 * to run. ---- */

struct json_object;

/**
 * Appends a line per stretch of code that did not run, by processor and handler, with the reason,
 * and how many words each sort of reason is about.
 * @param names   by processor, or NULL
 * @param cover   one per dword of the image
 * @param results results of prove about this firmware, whose verdicts are told of each handler, or
 *                NULL
 * @return NULL, CPS_ERR_NOMEM, or CPS_ERR_INPUT: results about other firmware, or code that no
 * processor has, made so that it leads to more places than can be followed
 */
CPS_MUST_USE struct cps_err *unreached_print(const struct cps_fw *fw, const struct cps_names *names,
                                             const struct cps_cover *cover,
                                             struct json_object *results, struct cps_buf *out);

#endif
