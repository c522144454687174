/* SPDX-License-Identifier: MIT
 * PM4 packet headers. */
#include "isa/base/pm4.h"

#include <stdbool.h>

/* 1 if the number of ones is even: the bit that makes it odd. */
static uint32_t parity_bit(uint32_t value)
{
    value ^= value >> 16;
    value ^= value >> 8;
    value ^= value >> 4;
    return 0x9669u >> (value & 15) & 1;
}

uint32_t cps_pm4_type4(uint32_t reg, uint32_t count)
{
    reg &= 0x3ffff;
    count &= 0x7f;
    return 4u << 28 | parity_bit(reg) << 27 | reg << 8 | parity_bit(count) << 7 | count;
}

uint32_t cps_pm4_type7(uint32_t opcode, uint32_t count)
{
    opcode &= 0x7f;
    count &= 0x3fff;
    return 7u << 28 | parity_bit(opcode) << 23 | opcode << 16 | parity_bit(count) << 15 | count;
}

struct cps_pm4 cps_pm4_decode_any(uint32_t header)
{
    if (header >> 28 == 4)
        return (struct cps_pm4){CPS_PM4_TYPE4, header >> 8 & 0x3ffff, 0, header & 0x7f};
    if (header >> 28 == 7)
        return (struct cps_pm4){CPS_PM4_TYPE7, 0, header >> 16 & 0x7f, header & 0x3fff};
    return (struct cps_pm4){CPS_PM4_BAD, 0, 0, 0};
}

struct cps_pm4 cps_pm4_decode(uint32_t header)
{
    struct cps_pm4 packet = cps_pm4_decode_any(header);
    bool good = packet.kind == CPS_PM4_TYPE4 ? header == cps_pm4_type4(packet.reg, packet.count)
                : packet.kind == CPS_PM4_TYPE7
                    ? header == cps_pm4_type7(packet.opcode, packet.count)
                    : false;
    return good ? packet : (struct cps_pm4){CPS_PM4_BAD, 0, 0, 0};
}
