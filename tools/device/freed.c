/* SPDX-License-Identifier: MIT
 * Addresses that clients freed lately, for messages about faults. */
#include <inttypes.h>
#include <stdio.h>

#include "tools/device/poison.h"

void device_freed_note(struct device_file *file, uint64_t iova, uint64_t size, const char *how)
{
    struct device *device = file->device;
    device->freed[device->freed_count++ % DEVICE_FREED] = (struct device_freed){
        .context = file->context, .iova = iova, .size = size, .job = device->next_job, .how = how};
}

bool device_freed_find(const struct device *device, const struct device_job *job, uint64_t iova,
                       char *text, size_t size)
{
    uint64_t count = device->freed_count < DEVICE_FREED ? device->freed_count : DEVICE_FREED;
    for (uint64_t i = 1; i <= count; i++) {
        const struct device_freed *freed = &device->freed[(device->freed_count - i) % DEVICE_FREED];
        if (freed->context != job->file->context || iova - freed->iova >= freed->size)
            continue;
        if (freed->job <= job->number)
            return false; /* before the submission came */
        snprintf(text, size, "%s freed 0x%" PRIx64 " (%" PRIu64 " bytes) after the submission came",
                 freed->how, freed->iova, freed->size);
        return true;
    }
    return false;
}
