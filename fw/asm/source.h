/* SPDX-License-Identifier: MIT
 * Assembly source as lines, and the errors found in it. Private to fw/. */
#ifndef CPS_ASM_TEXT_H
#define CPS_ASM_TEXT_H

#include "fw/fw.h"

/** Longest statement of assembly, without its comment, in bytes. */
#define CPS_ASM_MAX_LINE 500
/** After so many errors the rest is not reported. */
#define CPS_ASM_MAX_ERRORS 20

/** A source, the line that is being read, and its errors so far. */
struct cps_asm_text {
    const char *name; /**< of the source, for messages */
    const char *start, *end;
    const char *next; /**< the line after the current one */
    const char *line; /**< the current line in the source */
    size_t length;    /**< of the current line, without its end */
    uint32_t number;  /**< of the current line, from 1 */
    /** The current line without comment and trailing blanks, until the next one. */
    const char *statement;
    struct cps_buf held; /**< what has the statement */
    size_t longest; /**< bytes that one may have; CPS_ASM_MAX_LINE unless somebody changes it */
    bool muted;     /**< errors are not noted: another pass will find them again */
    unsigned error_count;
    struct cps_buf errors;
    /** Gets each error as it is noted, if somebody wants them one by one; may be NULL. */
    void (*each)(void *context, uint32_t line, size_t column, const char *message);
    void *context; /**< the first argument of `each` */
};

void cps_asm_text_init_(struct cps_asm_text *text, const char *name, const char *source,
                        size_t size);
void cps_asm_text_deinit_(struct cps_asm_text *text);
/** Begins again with the first line. */
void cps_asm_rewind_(struct cps_asm_text *text);
/** Goes to the next line; false behind the last one or after too many errors. */
bool cps_asm_next_(struct cps_asm_text *text);
/** Notes an error at byte @p column of the current line, from 0. Always false. */
bool cps_asm_error_(struct cps_asm_text *text, size_t column, const char *format, ...)
    CPS_PRINTF(3, 4);
/** The comment of the current line, behind its ';', or NULL; @p ret is its length. */
const char *cps_asm_comment_(const struct cps_asm_text *text, size_t *ret);
/** All noted errors as one, or NULL; also that memory was short. */
CPS_MUST_USE struct cps_err *cps_asm_errors_(const struct cps_asm_text *text);

#endif
