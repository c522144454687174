/* SPDX-License-Identifier: MIT
 * The engines that run scripts (HWSQ, SEQ): which one is meant, and what commands do with it. */
#ifndef CPS_PEER_H
#define CPS_PEER_H

#include "fw/script.h"
#include "opt.h"

/** Whether the options name another engine than afuc. */
bool peer_wanted(const struct cps_options *opt);
/** Which one: its instruction set, and its chip or ABI, 0 if a file has to say it.
 * @return 0, or 2 after one line on stderr */
int peer_usage(const struct cps_options *opt, const struct cps_isa **isa, unsigned *gen);

/** The commands, with the exit status of a command. */
int peer_asm(const struct cps_options *opt);
int peer_disasm(const struct cps_options *opt);

#endif
