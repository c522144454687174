/* SPDX-License-Identifier: MIT
 * What the GPU's engine asks of the device: memory of the context at hand, time, page tables. */
#include <string.h>

#include "emu/afuc/afuc.h"
#include "isa/base/list.h"
#include "isa/base/pm4.h"
#include "tools/device/poison.h"
#include "tools/device/record.h"

static struct device_access access_of(const struct cps_afuc *machine, unsigned core)
{
    return (struct device_access){.header = cps_afuc_header(machine, core, 0),
                                  .level = cps_afuc_level(machine, core),
                                  .packet = cps_afuc_header_iova(machine, core)};
}

/* Whether a packet of the client contains an address of the page. */
static bool names_page(struct device_gpu *gpu, const struct device_access *by, uint64_t page)
{
    uint32_t word = 0;
    uint32_t count = cps_pm4_decode(by->header).count;
    for (uint32_t i = 1;
         i <= count && device_space_word(gpu->space, by->packet + 4 * (uint64_t)i, &word); i++) {
        if (word / CPS_HOST_PAGE == (uint32_t)page / CPS_HOST_PAGE)
            return true;
    }
    return false;
}

/* Of several processors it is the one whose packet contains the address; else the first. */
static void note_fault(struct device_gpu *gpu, uint64_t iova)
{
    const struct cps_engine *engine = gpu->play->engine;
    const struct cps_afuc *machine = cps_afuc_of(gpu->play->engine);
    if (gpu->fault)
        return;
    gpu->fault = iova | DEVICE_FAULTED;
    gpu->fault_by = access_of(machine, 0);
    for (unsigned i = 0; i < engine->cores; i++) {
        const struct device_access by = access_of(machine, i);
        if (names_page(gpu, &by, iova)) {
            gpu->fault_by = by;
            return;
        }
    }
}

void device_gpu_note_page(struct device_gpu *gpu, uint64_t iova)
{
    enum { MOST_PAGES = 8192 };
    size_t low = 0;
    size_t high = gpu->page_count;
    iova -= iova % DEVICE_PAGE;
    if (!gpu->space->process || device_space_find(gpu->space, iova))
        return;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (gpu->page[middle] < iova)
            low = middle + 1;
        else
            high = middle;
    }
    bool known = low < gpu->page_count && gpu->page[low] == iova;
    if (known || gpu->page_count == MOST_PAGES || !CPS_LIST_ROOM(gpu->page, gpu->page_count))
        return;
    memmove(&gpu->page[low + 1], &gpu->page[low], (gpu->page_count - low) * sizeof(*gpu->page));
    gpu->page[low] = iova;
    gpu->page_count++;
}

static bool read_page(void *context, uint64_t iova, uint8_t *to)
{
    struct device *device = context;
    struct device_gpu *gpu = &device->gpu;
    if (!gpu->space || iova >= DEVICE_SPACE_END)
        return false;
    if (!device_space_read(gpu->space, iova, to, CPS_HOST_PAGE)) {
        const struct device_mapping *mapping = device_space_find(gpu->space, iova);
        if (!mapping || !mapping->bo)
            note_fault(gpu, iova);
        return false;
    }
    device_gpu_note_page(gpu, iova);
    if (gpu->record)
        device_record_read(gpu->record, iova, to);
    return true;
}

static bool write_memory(void *context, uint64_t iova, const uint8_t *from, uint32_t size)
{
    struct device *device = context;
    struct device_gpu *gpu = &device->gpu;
    if (!gpu->space)
        return false;
    if (!device_space_write(gpu->space, iova, from, size)) { /* lost */
        note_fault(gpu, iova - iova % DEVICE_PAGE);
        return true;
    }
    device_poison_wrote(device->poison, iova, size);
    if (gpu->record)
        device_record_wrote(gpu->record, iova, from, size);
    return true;
}

/* The always-on counter of hardware: 19.2 MHz. */
static uint64_t read_clock(void *context)
{
    (void)context;
    int64_t now = device_now();
    return (uint64_t)(now / 10000 * 192 + now % 10000 * 192 / 10000);
}

/* The firmware switches to a context, in a ring that it goes on with. */
static void choose_space(void *context, uint64_t ttbr0)
{
    enum { TABLE_SHIFT = 12, TABLE_BITS = 48 - TABLE_SHIFT };
    struct device *device = context;
    uint64_t number = ttbr0 >> TABLE_SHIFT & ((UINT64_C(1) << TABLE_BITS) - 1);
    struct device_file *file = device->files;
    while (file && file->context != number)
        file = file->next;
    device->gpu.space = file ? &file->space : NULL;
}

/* What a plugin changes is not seen: what is there now is what the recording has. */
static void *map_memory(void *context, uint64_t iova, uint64_t *size)
{
    const struct device_gpu *gpu = &((struct device *)context)->gpu;
    const uint64_t wanted = *size;
    uint8_t *data = gpu->space ? device_space_data(gpu->space, iova, size) : NULL;
    const uint64_t skew = iova % CPS_HOST_PAGE;
    const uint64_t end = skew + (wanted < *size ? wanted : *size);
    if (data)
        device_poison_wrote(((struct device *)context)->poison, iova, (uint32_t)(end - skew));
    for (uint64_t at = 0; data && gpu->record && at < end; at += CPS_HOST_PAGE)
        device_record_read(gpu->record, iova - skew + at, data - skew + at);
    return data;
}

static bool is_of(const struct device_job *job, const struct device_file *file, uint32_t queue)
{
    return job && job->file == file && job->queue == queue;
}

bool device_gpu_has(const struct device *device, const struct device_file *file, uint32_t queue)
{
    const struct device_gpu *gpu = &device->gpu;
    bool has = is_of(gpu->job, file, queue);
    for (unsigned i = 0; i < CPS_AFUC_RINGS; i++)
        has |= is_of(gpu->other[i].job, file, queue);
    return has;
}

void device_gpu_forget(struct device *device, const struct device_file *file)
{
    if (device->gpu.space == &file->space)
        device->gpu.space = NULL;
}

void device_gpu_host(struct device *device, struct cps_host *ret)
{
    *ret = (struct cps_host){.context = device,
                             .read = read_page,
                             .write = write_memory,
                             .clock = read_clock,
                             .page_table = choose_space,
                             .map = map_memory};
}
