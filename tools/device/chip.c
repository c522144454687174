/* SPDX-License-Identifier: MIT
 * The rows of chip.def. */
#include "tools/device/device.h"

#include <string.h>

static const struct device_chip chips[] = {
#define DEVICE_CHIP(name, gpu, chip, gmem, base, bank, swizzle, macrotile, raytracing, target, \
                    first, second)                                                             \
    {name, gpu, chip, gmem, base, bank, swizzle, macrotile, raytracing, {first, second}},
#include "tools/device/chip.def"
};

const struct device_chip *device_chip_at(size_t index)
{
    return index < sizeof(chips) / sizeof(chips[0]) ? &chips[index] : NULL;
}

const struct device_chip *device_chip_find(const char *name)
{
    size_t i = 0;
    while (device_chip_at(i) && strcmp(chips[i].name, name) != 0)
        i++;
    return device_chip_at(i);
}
