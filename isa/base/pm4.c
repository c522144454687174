/* SPDX-License-Identifier: MIT
 * PM4 packet headers. */
#include "isa/base/pm4.h"

#include <stdbool.h>

/* The bit that makes the number of ones odd. */
static uint32_t parity_bit(uint32_t value)
{
    return !CPS_ODD_ONES(value);
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

/* Parity bits make the field and the bit together odd; the other bits are reserved. */
struct cps_pm4 cps_pm4_decode(uint32_t header)
{
    bool seven = header >> 28 == 7;
    uint32_t field = seven ? header >> 16 & 0xff : header >> 8 & 0xfffff;
    uint32_t count = seven ? header & 0xffff : header & 0xff;
    uint32_t reserved = seven ? 0x0f004000 : 0x04000000;
    if (header & reserved || parity_bit(field) || parity_bit(count))
        return (struct cps_pm4){CPS_PM4_BAD, 0, 0, 0};
    return cps_pm4_decode_any(header);
}
