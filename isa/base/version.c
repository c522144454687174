/* SPDX-License-Identifier: MIT
 * The release that a program runs with. */
#include "isa/isa.h"
#include "isa/version.h"

const char *cps_version(void)
{
    return CPS_VERSION;
}
