/* SPDX-License-Identifier: MIT
 * The demo firmware and the command stream that exercises it, as the build makes them from
 * demo_sqe.afuc and demo.pm4. Part of the command, so that a first run needs no files. */
#ifndef CPS_DEMO_H
#define CPS_DEMO_H

#include <stddef.h>

/** The bytes of a `.fw` file: for cps_fw_parse(). */
extern const unsigned char cps_demo_fw[];
extern const size_t cps_demo_fw_size;

/** PM4 text; not NUL-terminated. */
extern const unsigned char cps_demo_pm4[];
extern const size_t cps_demo_pm4_size;

#endif
