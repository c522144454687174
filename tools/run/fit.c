/* SPDX-License-Identifier: MIT
 * Which chips firmware is for. */
#include "tools/run/fit.h"

#include <stdio.h>
#include <string.h>

#include "trace/out/json.h"

struct chip {
    const char *name;
    uint32_t id, target;
    const char *firmware;
};

static const struct chip chips[] = {
#define DEVICE_CHIP(name, gpu, chip, gmem, base, bank, swizzle, macrotile, raytracing, target, \
                    first, second)                                                             \
    {name, (uint32_t)((chip)&UINT32_MAX), target, first},
#include "tools/device/chip.def"
};
enum { CHIPS = sizeof(chips) / sizeof(chips[0]) };

/* Captures name a740 by 740 or by its chip id, whose last byte is a revision. */
static const struct chip *find_chip(uint64_t gpu)
{
    char name[16];
    snprintf(name, sizeof(name), "a%u", (unsigned)(gpu < 1000 ? gpu : 0));
    for (const struct chip *chip = chips; chip < chips + CHIPS; chip++) {
        if (!strcmp(chip->name, name) || (gpu >= 1000 && (chip->id ^ (uint32_t)gpu) < 0x100))
            return chip;
    }
    return NULL;
}

bool misfit_find(const struct cps_fw *fw, uint64_t gpu, struct misfit *ret)
{
    const struct chip *chip = find_chip(gpu);
    const struct cps_target *target = cps_target_find(fw->id);
    if (!chip || !target || fw->id == chip->target || fw->gen == CPS_A5XX ||
        cps_target_find(chip->target)->gen != fw->gen)
        return false;
    *ret = (struct misfit){chip->name, chip->firmware, fw->id};
    return true;
}

void misfit_put(const struct misfit *misfit, const char *name, const char *what,
                struct cps_buf *out)
{
    unsigned count = 0;
    cps_buf_printf(out, "%s is firmware of ", name);
    for (const struct chip *chip = chips; chip < chips + CHIPS; chip++) {
        if (chip->target == misfit->id)
            cps_buf_printf(out, "%s%s", count++ ? ", " : "", chip->name);
    }
    if (!count)
        cps_buf_str(out, cps_target_find(misfit->id)->name);
    cps_buf_printf(out, "; %s %s, which needs %s", what, misfit->chip, misfit->firmware);
}

void misfit_json(const struct misfit *misfit, struct json_object *to)
{
    struct json_object *at = cps_json_new_object(to, "misfit");
    cps_json_text(at, "chip", misfit->chip);
    cps_json_text(at, "firmware", misfit->firmware);
    struct json_object *list = cps_json_new_array(at, "chips");
    for (const struct chip *chip = chips; chip < chips + CHIPS; chip++) {
        if (chip->target == misfit->id)
            cps_json_append(list, json_object_new_string(chip->name));
    }
}
