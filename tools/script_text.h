/* SPDX-License-Identifier: MIT
 * cpscope asm and cpscope disasm for scripts: with the exit status of a command. */
#ifndef CPS_SCRIPT_TEXT_H
#define CPS_SCRIPT_TEXT_H

#include "tools/opt.h"

int script_asm(const struct cps_options *opt);
int script_disasm(const struct cps_options *opt);

#endif
