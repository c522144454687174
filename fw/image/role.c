/* SPDX-License-Identifier: MIT
 * What parts of an image are for: the ROLE rows of target.def. */
#include "fw/image/private.h"

static const struct {
    const char *name, *section;
} roles[] = {
#define ROLE(id, name, section, first, second, meaning) {name, section},
#include "isa/target.def"
};

const char *cps_fw_role_name(enum cps_fw_role role)
{
    return roles[role].name;
}

const char *cps_fw_role_section(enum cps_fw_role role)
{
    return roles[role].section;
}

void cps_fw_sections_(bool elf, struct cps_buf *out)
{
    unsigned last = CPS_FW_ROLE_COUNT - 1;
    while (last && !roles[last].section)
        last--;
    bool first = true;
    for (unsigned i = 0; i <= last; i++) {
        if (!roles[i].section)
            continue;
        cps_buf_str(out, first ? "" : i == last ? " or " : ", ");
        if (elf)
            cps_buf_printf(out, ".text.%s", roles[i].name);
        else
            cps_buf_str(out, roles[i].section);
        first = false;
    }
}
