/* SPDX-License-Identifier: MIT
 * Which packets are draws: by their names, so that every generation has its own. */
#include <string.h>

#include "isa/base/pm4.h"
#include "tools/profile/profile.h"

bool profile_is_draw(const struct cps_names *names, uint32_t header)
{
    static const char *const begins[] = {"CP_DRAW_INDX", "CP_DRAW_INDIRECT", "CP_DRAW_AUTO",
                                         "CP_EXEC_CS", "CP_RUN_OPENCL"};
    struct cps_pm4 packet = cps_pm4_decode(header);
    const char *name = packet.kind == CPS_PM4_TYPE7 && names
                           ? cps_name(names, CPS_SPACE_PACKET, packet.opcode, NULL)
                           : NULL;
    for (size_t i = 0; name && i < sizeof(begins) / sizeof(begins[0]); i++) {
        if (!strncmp(name, begins[i], strlen(begins[i])))
            return true;
    }
    return false;
}
