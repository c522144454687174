/* SPDX-License-Identifier: MIT
 * Completion for shells: commands and options as opt.def has them, written into the script; the
 * values of options come from `cpscope help values` when they are asked for. */
#ifndef CPS_OPT_COMPLETE_H
#define CPS_OPT_COMPLETE_H

#include "isa/base/buf.h"

/** Appends @p text with a backslash in front of every character of @p which. */
void opt_put_escaped(const char *text, const char *which, struct cps_buf *out);

/** Append the script. */
void help_bash(struct cps_buf *out);
void help_zsh(struct cps_buf *out);
void help_fish(struct cps_buf *out);

#endif
