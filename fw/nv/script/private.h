/* SPDX-License-Identifier: MIT
 * What the files of fw/nv/script/ share. Not installed. */
#ifndef CPS_SCRIPT_PRIVATE_H
#define CPS_SCRIPT_PRIVATE_H

#include "fw/nv/script/script.h"

/* The first line of a run file: these two with a blank between. */
#define CPS_SCRIPT_HEAD    "# cpscope-script"
#define CPS_SCRIPT_VERSION "1"

/* run_file.c: reads the lines of a run file. Private to fw/. */
CPS_MUST_USE struct cps_err *cps_script_run_file_(const char *text, size_t size,
                                                  const struct cps_isa *isa, unsigned gen,
                                                  struct cps_script *script);
/* script.c: takes raw bytes or assembly as the code. */
CPS_MUST_USE struct cps_err *cps_script_take_code_(const char *name, const void *bytes, size_t size,
                                                   struct cps_script *script);

#endif
