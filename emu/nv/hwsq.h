/* SPDX-License-Identifier: MIT
 * What is known of HWSQ before it runs. */
#ifndef CPS_HWSQ_H
#define CPS_HWSQ_H

#include "isa/isa.h"

/** Bytes of the code RAM of an HWSQ of generation @p gen (envytools, hwdocs/hwsq). */
uint32_t cps_hwsq_ram(enum cps_gen gen);

#endif
