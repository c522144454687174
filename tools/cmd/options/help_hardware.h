/* SPDX-License-Identifier: MIT
 * What is modelled of the hardware, printed from the rows that the emulator is made of. */
#ifndef CPS_HELP_HARDWARE_H
#define CPS_HELP_HARDWARE_H

#include "isa/base/buf.h"

/** Prints the tables that @p arg names ("all": every one), or what tables there are; `--json` among
 * them: as JSON, without a name every table. @return 0, or 2 after one line on stderr */
int help_hardware(int count, char **arg);
/** Appends the names of all tables with @p between between them. */
void help_hardware_names(const char *between, struct cps_buf *out);

#endif
