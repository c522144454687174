/* SPDX-License-Identifier: MIT
 * PM4 packet headers of a5xx and later (facts: Mesa's adreno_pm4.xml and pm4 helpers).
 *
 * Threads: these are functions of numbers; they may be called from everywhere and cannot fail.
 * Everything is inline: the emulator and the trace's writers ask for each packet. */
#ifndef CPS_PM4_H
#define CPS_PM4_H

#include <stdint.h>

#include "cleanup.h"

CPS_C_BEGIN

/** What a header says. */
enum cps_pm4_kind {
    /** Nothing: it is of another type, a parity bit is wrong, or a reserved bit is set. */
    CPS_PM4_BAD,
    CPS_PM4_TYPE4, /**< The packet writes `count` consecutive registers from `reg`. */
    CPS_PM4_TYPE7, /**< The packet is operation `opcode` with `count` dwords of payload. */
};

/** A decoded header. Members that its kind does not have are 0. */
struct cps_pm4 {
    enum cps_pm4_kind kind; /**< Which kind. */
    uint32_t reg;           /**< Type 4: number of the first register, in dwords, 18 bits. */
    uint32_t opcode;        /**< Type 7: 7 bits. */
    uint32_t count;         /**< Dwords behind the header: up to 127 (type 4), 16,383 (type 7). */
};

/* 1 if the number of ones is even: the bit that makes it odd. */
static inline uint32_t cps_pm4_parity_(uint32_t value)
{
    return CPS_ODD_ONES(value) ^ 1;
}

/**
 * The header of a packet that writes registers, with its parity bits.
 * @param reg    the first register, modulo 2^18
 * @param count  how many, modulo 128
 */
static inline uint32_t cps_pm4_type4(uint32_t reg, uint32_t count)
{
    reg &= 0x3ffff;
    count &= 0x7f;
    return 4u << 28 | cps_pm4_parity_(reg) << 27 | reg << 8 | cps_pm4_parity_(count) << 7 | count;
}

/**
 * The header of a packet that is an operation, with its parity bits.
 * @param opcode  which, modulo 128
 * @param count   dwords behind the header, modulo 16,384
 */
static inline uint32_t cps_pm4_type7(uint32_t opcode, uint32_t count)
{
    opcode &= 0x7f;
    count &= 0x3fff;
    return 7u << 28 | cps_pm4_parity_(opcode) << 23 | opcode << 16 | cps_pm4_parity_(count) << 15 |
           count;
}

/**
 * Decodes a header whose parity and reserved bits nobody looks at.
 * @param header  a dword of a stream
 */
static inline struct cps_pm4 cps_pm4_decode_any(uint32_t header)
{
    struct cps_pm4 ret = {CPS_PM4_BAD, 0, 0, 0};
    if (header >> 28 == 4) {
        ret.kind = CPS_PM4_TYPE4;
        ret.reg = header >> 8 & 0x3ffff;
        ret.count = header & 0x7f;
    } else if (header >> 28 == 7) {
        ret.kind = CPS_PM4_TYPE7;
        ret.opcode = header >> 16 & 0x7f;
        ret.count = header & 0x3fff;
    }
    return ret;
}
/**
 * Decodes a header as hardware wants it.
 * @param header  a dword of a stream
 */
static inline struct cps_pm4 cps_pm4_decode(uint32_t header)
{
    const struct cps_pm4 bad = {CPS_PM4_BAD, 0, 0, 0};
    struct cps_pm4 packet = cps_pm4_decode_any(header);
    /* Two fields, each odd with its parity bit, and reserved bits. */
    int good = packet.kind == CPS_PM4_TYPE4
                   ? CPS_ODD_ONES(header & 0xff) & CPS_ODD_ONES(header >> 8 & 0xbffff) &
                         !(header >> 26 & 1)
                   : CPS_ODD_ONES(header & 0xbfff) & CPS_ODD_ONES(header >> 16 & 0xff) &
                         !(header & 0x0f004000);
    return good ? packet : bad;
}

CPS_C_END

#endif
