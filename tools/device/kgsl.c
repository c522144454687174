/* SPDX-License-Identifier: MIT
 * Memory of KGSL (kgsl.c, kgsl_iommu.c of Android's msm kernels): objects with an address that the
 * kernel chooses, objects that the GPU sees where the process mapped them, and memory of the
 * process itself. */
#include "tools/device/kgsl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "isa/base/list.h"
#include "tools/device/poison.h"

/* Where the kernel puts objects: KGSL_IOMMU_VA_BASE64 and its end for 39 bits. No process has
 * anything there by itself. */
#define FIRST_ADDRESS UINT64_C(0x4000000000)
#define LAST_ADDRESS  UINT64_C(0x8000000000)

int device_kgsl_open(struct device_file *file, const struct device_process *process, int node)
{
    struct device_kgsl *kgsl = calloc(1, sizeof(*kgsl));
    int status = kgsl ? device_process_copy(&kgsl->process, process) : -ENOMEM;
    if (status) {
        free(kgsl);
        return status;
    }
    kgsl->node = fcntl(node, F_DUPFD_CLOEXEC, 0);
    kgsl->next = 1;
    file->kgsl = kgsl;
    file->space.process = &kgsl->process;
    file->next_iova = FIRST_ADDRESS;
    return kgsl->node < 0 ? -EMFILE : 0;
}

void device_kgsl_close(struct device *device, struct device_file *file)
{
    struct device_kgsl *kgsl = file->kgsl;
    if (!kgsl)
        return;
    for (size_t i = 0; i < kgsl->count; i++) {
        device_bo_unref(device, kgsl->list[i].bo);
        device_fence_unref(kgsl->list[i].free_on);
    }
    device->use.slots -= kgsl->count;
    device_process_close(&kgsl->process);
    if (kgsl->node >= 0)
        close(kgsl->node);
    free(kgsl->list);
    free(kgsl);
    file->kgsl = NULL;
    file->space.process = NULL;
}

/* ---- objects ---- */

/* The first object whose pages end behind @p id. */
static size_t lower_bound(const struct device_kgsl *kgsl, uint64_t id)
{
    size_t low = 0;
    size_t high = kgsl->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (kgsl->list[middle].id + kgsl->list[middle].size / DEVICE_PAGE <= id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct kgsl_memory *kgsl_find(struct device_kgsl *kgsl, uint32_t id)
{
    size_t i = lower_bound(kgsl, id);
    struct kgsl_memory *memory = i < kgsl->count && kgsl->list[i].id == id ? &kgsl->list[i] : NULL;
    return memory && !memory->free_on ? memory : NULL;
}

/* Numbers of so many free pages in a row, from @p from on; 0: there are none. */
static uint64_t find_room(const struct device_kgsl *kgsl, uint64_t from, uint64_t pages, size_t *at)
{
    uint64_t id = from;
    *at = lower_bound(kgsl, id);
    while (*at < kgsl->count && kgsl->list[*at].id < id + pages) {
        id = kgsl->list[*at].id + kgsl->list[*at].size / DEVICE_PAGE;
        ++*at;
    }
    return id + pages <= DEVICE_KGSL_NODE / DEVICE_PAGE ? id : 0;
}

static int add_object(struct call *call, struct kgsl_memory memory, struct kgsl_memory **ret)
{
    struct device_kgsl *kgsl = call->file->kgsl;
    uint64_t pages = memory.size / DEVICE_PAGE;
    size_t at = 0;
    uint64_t id = find_room(kgsl, kgsl->next, pages, &at);
    id = id ? id : find_room(kgsl, 1, pages, &at);
    if (!id || kgsl->count >= DEVICE_MAX_HANDLES || call->device->use.slots >= DEVICE_MAX_SLOTS ||
        !CPS_LIST_ROOM(kgsl->list, kgsl->count))
        return -ENOMEM;
    if (kgsl->count > at)
        memmove(&kgsl->list[at + 1], &kgsl->list[at], (kgsl->count - at) * sizeof(*kgsl->list));
    memory.id = (uint32_t)id;
    kgsl->list[at] = memory;
    kgsl->count++;
    kgsl->next = (uint32_t)(id + pages < UINT32_MAX ? id + pages : 1);
    call->device->use.slots++;
    *ret = &kgsl->list[at];
    return 0;
}

void kgsl_free(struct call *call, struct kgsl_memory *memory)
{
    struct device_kgsl *kgsl = call->file->kgsl;
    size_t at = (size_t)(memory - kgsl->list);
    uint64_t iova = call->device->poison ? kgsl_address(kgsl, memory) : memory->gpuaddr;
    if (iova)
        device_freed_note(call->file, iova, memory->size, "GPUOBJ_FREE");
    if (memory->gpuaddr)
        device_space_unmap(call->device, &call->file->space, memory->gpuaddr, memory->size);
    device_bo_unref(call->device, memory->bo);
    kgsl->waiting -= memory->free_on != NULL;
    device_fence_unref(memory->free_on);
    kgsl->count--;
    memmove(memory, memory + 1, (kgsl->count - at) * sizeof(*memory));
    call->device->use.slots--;
}

void kgsl_sweep(struct call *call)
{
    struct device_kgsl *kgsl = call->file->kgsl;
    for (size_t i = kgsl->count; kgsl->waiting && i-- > 0;) {
        if (kgsl->list[i].free_on && device_fence_done(kgsl->list[i].free_on))
            kgsl_free(call, &kgsl->list[i]);
    }
}

uint64_t kgsl_address(struct device_kgsl *kgsl, const struct kgsl_memory *memory)
{
    struct device_process_map map;
    uint64_t offset = (uint64_t)memory->id * DEVICE_PAGE;
    if (memory->gpuaddr)
        return memory->gpuaddr;
    if (!device_process_map(&kgsl->process, kgsl->node, offset, &map))
        return 0;
    return map.start + offset - map.offset;
}

/* Numbers and mappings of the process are of the same file. */
static struct kgsl_memory *find_mapped(struct device_kgsl *kgsl, uint64_t address)
{
    struct device_process_map map;
    if (!device_process_map_at(&kgsl->process, kgsl->node, address, &map))
        return NULL;
    uint64_t id = (address - map.start + map.offset) / DEVICE_PAGE;
    size_t i = lower_bound(kgsl, id);
    return i < kgsl->count && kgsl->list[i].id <= id && !kgsl->list[i].gpuaddr ? &kgsl->list[i]
                                                                               : NULL;
}

struct kgsl_memory *kgsl_find_address(struct device_kgsl *kgsl, uint64_t address)
{
    struct kgsl_memory *memory = NULL;
    for (size_t i = 0; i < kgsl->count && !memory; i++) {
        struct kgsl_memory *other = &kgsl->list[i];
        memory = other->gpuaddr && address - other->gpuaddr < other->size ? other : NULL;
    }
    memory = memory ? memory : find_mapped(kgsl, address);
    return memory && !memory->free_on ? memory : NULL;
}

/* Maps it where the kernel puts it; frees it if that fails. */
static int place(struct call *call, struct kgsl_memory *memory, uint64_t process)
{
    struct device *device = call->device;
    struct device_space *space = &call->file->space;
    uint64_t size = memory->size;
    int status = device_space_room(space, FIRST_ADDRESS, LAST_ADDRESS, size, &call->file->next_iova,
                                   &memory->gpuaddr);
    if (!status && process)
        status = device_space_map_process(device, space, memory->gpuaddr, size, process,
                                          memory->flags & KGSL_GPU_READONLY);
    else if (!status && !(memory->flags & KGSL_NO_MAP_ZERO))
        status = device_space_map(device, space, memory->gpuaddr, size, memory->bo, 0);
    if (status) {
        memory->gpuaddr = 0;
        kgsl_free(call, memory);
    }
    return status;
}

int kgsl_alloc(struct call *call, uint64_t size, uint64_t flags, struct kgsl_memory **ret)
{
    struct kgsl_memory memory = {.flags = flags & KGSL_MEMORY_FLAGS};
    bool virtual = flags & KGSL_VBO;
    if (virtual && flags & KGSL_NOT_VBO)
        return -EINVAL;
    if (flags & KGSL_SECURE)
        return -EOPNOTSUPP;
    if (!size || size > (virtual ? DEVICE_KGSL_NODE : UINT32_MAX))
        return -EINVAL;
    memory.size = (size + DEVICE_PAGE - 1) / DEVICE_PAGE * DEVICE_PAGE;
    int status = add_object(call, memory, ret);
    if (status)
        return status;
    struct kgsl_memory *added = *ret;
    if (!virtual) {
        uint32_t bo_flags = flags & KGSL_GPU_READONLY ? MSM_BO_GPU_READONLY : 0;
        added->bo = device_bo_part(call->device, size, bo_flags,
                                   fcntl(call->file->kgsl->node, F_DUPFD_CLOEXEC, 0),
                                   (uint64_t)added->id * DEVICE_PAGE);
        if (!added->bo) {
            kgsl_free(call, added);
            return -ENOMEM;
        }
    }
    return added->flags & KGSL_USE_CPU_MAP ? 0 : place(call, added, 0);
}

/* Memory of the process that opened the file. What is an object already is refused. */
static int import_address(struct call *call, uint64_t flags, uint64_t address, uint64_t size,
                          struct kgsl_memory **ret)
{
    struct device_kgsl *kgsl = call->file->kgsl;
    struct kgsl_memory memory = {.size = size, .flags = flags};
    if (!address || address % DEVICE_PAGE || !size || size % DEVICE_PAGE ||
        size > DEVICE_KGSL_NODE || address > INT64_MAX)
        return -EINVAL;
    if (call->message->process->pid != kgsl->process.pid)
        return -EFAULT;
    int status = device_process_check(&kgsl->process, kgsl->node, address, size,
                                      !(flags & KGSL_GPU_READONLY));
    if (!status && flags & KGSL_USE_CPU_MAP && device_space_used(&call->file->space, address, size))
        status = -ENOMEM;
    if (!status)
        status = add_object(call, memory, ret);
    if (status)
        return status;
    if (!(flags & KGSL_USE_CPU_MAP))
        return place(call, *ret, address);
    (*ret)->gpuaddr = address;
    return 0;
}

static int import_fd(struct call *call, uint64_t flags, int fd, struct kgsl_memory **ret)
{
    int own = device_process_fd(call->message->process, fd);
    struct device_bo *bo = own < 0 ? NULL : device_bo_of_fd(call->device, own);
    if (own >= 0)
        close(own);
    if (!bo)
        return own < 0 ? -EBADF : -EINVAL;
    const struct kgsl_memory memory = {
        .size = bo->size, .flags = flags & ~(uint64_t)KGSL_USE_CPU_MAP, .bo = bo};
    int status = add_object(call, memory, ret);
    if (!status)
        return place(call, *ret, 0);
    device_bo_unref(call->device, bo);
    return status;
}

int kgsl_import(struct call *call, uint32_t type, uint64_t flags, uint64_t address, uint64_t size,
                int fd, struct kgsl_memory **ret)
{
    flags &= KGSL_MEMORY_FLAGS & ~(KGSL_VBO | KGSL_NO_MAP_ZERO);
    switch (type) {
    case KGSL_USER_ADDR:
        return import_address(call, flags, address, size, ret);
    case KGSL_USER_DMABUF:
        return import_fd(call, flags, fd, ret);
    default:
        return -EOPNOTSUPP;
    }
}
