/* SPDX-License-Identifier: MIT
 * What parts of an image are for: the ROLE rows of target.def. */
#include "fw/fw.h"

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
