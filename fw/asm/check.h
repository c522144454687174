/* SPDX-License-Identifier: MIT
 * The assembler for who edits a source: what is wrong with it, error by error, and its labels. */
#ifndef CPS_ASM_CHECK_H
#define CPS_ASM_CHECK_H

#include "fw/asm/asm.h"

/** Gets an error: line from 1, column in bytes from 0, which may be that of the line's end. */
typedef void cps_asm_error_fn(void *context, uint32_t line, size_t column, const char *message);

/** What a source is, also if it has errors. Zero-initialised is one of nothing. */
struct cps_asm_check {
    /** CPS_GEN_NONE: neither the source nor the caller says it; there are no labels then. */
    enum cps_gen gen;
    enum cps_layout layout;
    /** Sorted by section and name; they point into the source. */
    struct cps_asm_labels labels;
};

/**
 * Assembles a source of any instruction set, and forgets what comes of it.
 * @param text  stays the caller's, who keeps it as long as the labels
 * @param gen   enum cps_gen that the source is taken for if it does not say it itself; 0: none
 * @param each  gets the errors, those of CPS_ASM_MAX_ERRORS lines at most
 * @param ret   to be released by cps_asm_check_deinit_()
 * @return NULL or CPS_ERR_NOMEM
 */
CPS_MUST_USE struct cps_err *cps_asm_check_(const char *text, size_t size, unsigned gen,
                                            cps_asm_error_fn *each, void *context,
                                            struct cps_asm_check *ret);
void cps_asm_check_deinit_(struct cps_asm_check *check);

#endif
