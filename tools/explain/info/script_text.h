/* SPDX-License-Identifier: MIT
 * cpscope asm and cpscope disasm for scripts, with the exit status of a command; and how those
 * that look at a script load it. */
#ifndef CPS_SCRIPT_TEXT_H
#define CPS_SCRIPT_TEXT_H

#include "fw/nv/script/script.h"
#include "tools/cmd/options/opt.h"

/** Loads a script, or takes the part of a file that --offset and --length name for code. */
CPS_MUST_USE struct cps_err *script_load(const struct cps_options *opt, const char *path,
                                         const struct cps_isa *isa, unsigned gen,
                                         struct cps_script *ret);
int script_asm(const struct cps_options *opt);
int script_disasm(const struct cps_options *opt);

#endif
