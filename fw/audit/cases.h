/* SPDX-License-Identifier: MIT
 * The cases of `cpscope audit`, as the build puts them into the command: the files of this folder
 * (docs/audit.md says what is in them). */
#ifndef CPS_AUDIT_CASES_H
#define CPS_AUDIT_CASES_H

#include <stddef.h>

/** One of them. */
struct cps_audit_text {
    /** The file's name, with its end. */
    const char *name;
    /** PM4 text; not NUL-terminated. */
    const unsigned char *text;
    /** Bytes of it. */
    size_t size;
};

/** In the order of their names. */
extern const struct cps_audit_text cps_audit_texts[];
/** How many. */
extern const size_t cps_audit_text_count;

#endif
