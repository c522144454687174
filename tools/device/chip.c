/* SPDX-License-Identifier: MIT
 * The rows of chip.def. */
#include "tools/device/device.h"

#include <string.h>

#include "tools/cmd/terminal/report.h"
#include "tools/run/fit.h"

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

struct cps_err *device_chip_check(const struct device_chip *chip, const struct play *play)
{
    uint64_t gpu = chip->gpu_id ? chip->gpu_id : chip->chip_id & UINT32_MAX;
    struct misfit misfit;
    if (cps_gpu_generation(gpu) != cps_gen_row(play->fw->gen)->number)
        return cps_err_new(CPS_ERR_MISMATCH,
                           "--chip %s: its generation is a%uxx, the firmware %s is %s; --chip list "
                           "prints chips with their firmware",
                           chip->name, cps_gpu_generation(gpu), play->fw->name,
                           cps_gen_name(play->fw->gen));
    if (!play->config->demo && misfit_find(play->fw, gpu, &misfit)) {
        CPS_BUF text = {0};
        misfit_put(&misfit, play->fw->name, "the device is", &text);
        report_aside("note: %s\n", cps_buf_text(&text));
    }
    return NULL;
}
