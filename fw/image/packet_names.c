/* SPDX-License-Identifier: MIT
 * Packet names as labels: what `.jumptbl` and the listing agree on. */
#include "fw/image/private.h"

#include <string.h>

static bool is_unknown_label(const char *name, size_t length, unsigned *ret)
{
    unsigned id = 0;
    if (length < 5 || length > 7 || memcmp(name, "UNKN", 4) != 0)
        return false;
    for (size_t i = 4; i < length; i++) {
        if (name[i] < '0' || name[i] > '9')
            return false;
        id = id * 10 + (unsigned)(name[i] - '0');
    }
    *ret = id;
    return id < CPS_FW_TABLE_SIZE;
}

bool cps_fw_packet_(const struct cps_names *names, const char *name, size_t length, unsigned *ret)
{
    uint32_t number = 0;
    if (is_unknown_label(name, length, ret))
        return true;
    if (!cps_name_number(names, CPS_SPACE_PACKET, name, length, &number) ||
        number >= CPS_FW_TABLE_SIZE)
        return false;
    *ret = number;
    return true;
}
