/* SPDX-License-Identifier: MIT
 * PM4 packet headers of a5xx and later (facts: Mesa's adreno_pm4.xml and pm4 helpers). */
#ifndef CPS_PM4_H
#define CPS_PM4_H

#include <stdint.h>

#include "../../isa/base/cleanup.h"

CPS_C_BEGIN

enum cps_pm4_kind {
    CPS_PM4_BAD,   /**< another type, a parity bit that is wrong, or a reserved bit */
    CPS_PM4_TYPE4, /**< writes `count` consecutive registers from `reg` */
    CPS_PM4_TYPE7, /**< operation `opcode` with `count` dwords of payload */
};

/** A decoded header. Counts are dwords behind the header: up to 127 (type 4), 16383 (type 7). */
struct cps_pm4 {
    enum cps_pm4_kind kind;
    uint32_t reg;
    uint32_t opcode;
    uint32_t count;
};

CPS_PUBLIC struct cps_pm4 cps_pm4_decode(uint32_t header);
/** Headers with their parity bits; arguments are taken modulo their field. */
CPS_PUBLIC uint32_t cps_pm4_type4(uint32_t reg, uint32_t count);
CPS_PUBLIC uint32_t cps_pm4_type7(uint32_t opcode, uint32_t count);

CPS_C_END

#endif
