/* SPDX-License-Identifier: MIT
 * The built-in names of a6xx, for all tests of a program: hand both functions to cmocka's run. */
#ifndef TESTS_A6XX_NAMES_H
#define TESTS_A6XX_NAMES_H

#include "isa/isa.h"

static struct cps_names *names;

static int open_names(void **state)
{
    (void)state;
    return cps_names_create(CPS_LAYOUT_A6XX, NULL, &names) ? -1 : 0;
}

static int close_names(void **state)
{
    (void)state;
    cps_names_destroy(names);
    return 0;
}

#endif
