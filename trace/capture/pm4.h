/* SPDX-License-Identifier: MIT
 * PM4 packet headers of a5xx and later (facts: Mesa's adreno_pm4.xml and pm4 helpers).
 *
 * Threads: these are functions of numbers; they may be called from everywhere and cannot fail. */
#ifndef CPS_PM4_H
#define CPS_PM4_H

#include <stdint.h>

#include "../../isa/base/cleanup.h"

CPS_C_BEGIN

/** What a header says. */
enum cps_pm4_kind {
    /** Nothing: it is of another type, a parity bit is wrong, or a reserved bit is set. */
    CPS_PM4_BAD,
    /** The packet writes `count` consecutive registers from `reg`. */
    CPS_PM4_TYPE4,
    /** The packet is operation `opcode` with `count` dwords of payload. */
    CPS_PM4_TYPE7,
};

/** A decoded header. Members that its kind does not have are 0. */
struct cps_pm4 {
    /** Which kind. */
    enum cps_pm4_kind kind;
    /** Type 4: number of the first register, in dwords, 18 bits. */
    uint32_t reg;
    /** Type 7: 7 bits. */
    uint32_t opcode;
    /** Dwords behind the header: up to 127 (type 4), 16,383 (type 7). */
    uint32_t count;
};

/**
 * Decodes a header.
 * @param header  a dword of a stream
 */
CPS_PUBLIC struct cps_pm4 cps_pm4_decode(uint32_t header);
/**
 * The header of a packet that writes registers, with its parity bits.
 * @param reg    the first register, modulo 2^18
 * @param count  how many, modulo 128
 */
CPS_PUBLIC uint32_t cps_pm4_type4(uint32_t reg, uint32_t count);
/**
 * The header of a packet that is an operation, with its parity bits.
 * @param opcode  which, modulo 128
 * @param count   dwords behind the header, modulo 16,384
 */
CPS_PUBLIC uint32_t cps_pm4_type7(uint32_t opcode, uint32_t count);

CPS_C_END

#endif
