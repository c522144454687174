/* SPDX-License-Identifier: MIT
 * Buffers are memfds, which clients map and the GPU reads and writes through the device's own
 * mapping of them. Sealed: no client can make one smaller while it is mapped here. */
#include "tools/device/poison.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "isa/base/le.h"
#include "isa/base/list.h"

/* ---- buffers ---- */

static int make_memfd(uint64_t size)
{
    int fd = memfd_create("cpscope-buffer", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -1;
    if (ftruncate(fd, (off_t)size) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        return fd;
    close(fd);
    return -1;
}

struct device_bo *device_bo_new(struct device *device, uint64_t size, uint32_t flags, int memfd)
{
    return device_bo_part(device, size, flags, memfd, 0);
}

struct device_bo *device_bo_part(struct device *device, uint64_t size, uint32_t flags, int memfd,
                                 uint64_t base)
{
    struct stat info;
    struct device_bo *bo = calloc(1, sizeof(*bo));
    size = (size + DEVICE_PAGE - 1) / DEVICE_PAGE * DEVICE_PAGE;
    if (!bo || !CPS_LIST_ROOM(device->bo, device->bo_count) ||
        size > DEVICE_MAX_MEMORY - device->bytes)
        goto fail;
    if (memfd < 0 && !base)
        memfd = make_memfd(size);
    if (memfd < 0 || fstat(memfd, &info) != 0)
        goto fail;
    *bo = (struct device_bo){.refs = 1,
                             .index = device->bo_count,
                             .memfd = memfd,
                             .inode = info.st_ino,
                             .base = base,
                             .size = size,
                             .flags = flags};
    device->bo[device->bo_count++] = bo;
    device->bytes += size;
    device->counts.buffers++;
    return bo;
fail:
    free(bo);
    if (memfd >= 0)
        close(memfd);
    return NULL;
}

void device_bo_unref(struct device *device, struct device_bo *bo)
{
    if (!bo || --bo->refs)
        return;
    struct device_bo *last = device->bo[--device->bo_count];
    device->bo[bo->index] = last;
    last->index = bo->index;
    device->bytes -= bo->size;
    if (bo->data)
        munmap(bo->data, bo->size);
    if (bo->base) /* the rest of the file lives on */
        fallocate(bo->memfd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)bo->base,
                  (off_t)bo->size);
    close(bo->memfd);
    device_fence_unref(bo->written);
    free(bo->name);
    free(bo->metadata);
    free(bo);
}

uint8_t *device_bo_data(struct device_bo *bo)
{
    if (!bo->data) {
        void *data =
            mmap(NULL, bo->size, PROT_READ | PROT_WRITE, MAP_SHARED, bo->memfd, (off_t)bo->base);
        bo->data = data == MAP_FAILED ? NULL : data;
    }
    return bo->data;
}

int device_bo_export(const struct device_bo *bo)
{
    return fcntl(bo->memfd, F_DUPFD_CLOEXEC, 0);
}

/* A memfd that was exported and whose handles have all gone comes back as a new buffer. It must
 * have the seals of a buffer: its size stays. */
static struct device_bo *adopt(struct device *device, int fd, const struct stat *info)
{
    int seals = fcntl(fd, F_GET_SEALS);
    struct statfs system;
    bool sealed = seals >= 0 && (seals & F_SEAL_SHRINK) && (seals & F_SEAL_SEAL) &&
                  !(seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE));
    /* Huge pages can be missing when they are touched. */
    if (!sealed || fstatfs(fd, &system) != 0 || system.f_type != TMPFS_MAGIC ||
        info->st_size <= 0 || (uint64_t)info->st_size % DEVICE_PAGE)
        return NULL;
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    return own < 0 ? NULL : device_bo_new(device, (uint64_t)info->st_size, 0, own);
}

struct device_bo *device_bo_of_fd(struct device *device, int fd)
{
    struct stat info, own;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
        return NULL;
    for (size_t i = 0; i < device->bo_count; i++) {
        struct device_bo *bo = device->bo[i];
        if (bo->inode != info.st_ino || bo->base)
            continue;
        if (fstat(bo->memfd, &own) == 0 && own.st_dev == info.st_dev) {
            bo->refs++;
            return bo;
        }
    }
    return adopt(device, fd, &info);
}

/* ---- handles ---- */

struct device_bo *device_handle_bo(const struct device_file *file, uint32_t handle)
{
    return handle - 1 < file->handle_count ? file->handle[handle - 1].bo : NULL;
}

uint32_t device_handle_new(struct device_file *file, struct device_bo *bo)
{
    size_t i = file->free_handle;
    while (i < file->handle_count && file->handle[i].bo)
        i++;
    if (i == file->handle_count) {
        if (i >= DEVICE_MAX_HANDLES || file->device->use.slots >= DEVICE_MAX_SLOTS ||
            !CPS_LIST_ROOM(file->handle, file->handle_count))
            return 0;
        file->device->use.slots++;
        file->handle_count++;
    }
    file->handle[i] = (struct device_handle){.bo = bo};
    file->free_handle = i + 1;
    return (uint32_t)i + 1;
}

int device_handle_close(struct device *device, struct device_file *file, uint32_t handle)
{
    struct device_bo *bo = device_handle_bo(file, handle);
    if (!bo)
        return -EINVAL;
    struct device_handle *slot = &file->handle[handle - 1];
    if (slot->iova && bo->jobs)
        bo->closing = true;
    else if (slot->iova) {
        device_freed_note(file, slot->iova, bo->size, "GEM_CLOSE");
        device_space_unmap(device, &file->space, slot->iova, bo->size);
    }
    *slot = (struct device_handle){0};
    if (handle - 1 < file->free_handle)
        file->free_handle = handle - 1;
    device_bo_unref(device, bo);
    return 0;
}

/* ---- address spaces ---- */

/* The first mapping that ends behind @p iova. */
static size_t lower_bound(const struct device_space *space, uint64_t iova)
{
    size_t low = 0;
    size_t high = space->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (space->list[middle].iova + space->list[middle].size <= iova)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct device_mapping *device_space_find(struct device_space *space, uint64_t iova)
{
    if (space->last < space->count &&
        iova - space->list[space->last].iova < space->list[space->last].size)
        return &space->list[space->last];
    size_t i = lower_bound(space, iova);
    if (i >= space->count || iova < space->list[i].iova)
        return NULL;
    space->last = i;
    return &space->list[i];
}

uint64_t device_space_used(const struct device_space *space, uint64_t iova, uint64_t size)
{
    for (size_t i = lower_bound(space, iova); i < space->count && space->list[i].iova < iova + size;
         i++) {
        /* An address whose handle was closed is free for the client. */
        if (!space->list[i].bo || !space->list[i].bo->closing)
            return space->list[i].iova + space->list[i].size;
    }
    return 0;
}

int device_space_room(const struct device_space *space, uint64_t first, uint64_t end, uint64_t size,
                      uint64_t *next, uint64_t *ret)
{
    for (unsigned i = 0; i < 2; i++) {
        uint64_t iova = i ? first : *next;
        uint64_t behind = 0;
        while (iova < end && (behind = device_space_used(space, iova, size)))
            iova = behind;
        if (iova < end && size <= end - iova) {
            *next = iova + size;
            *ret = iova;
            return 0;
        }
    }
    return -ENOSPC;
}

bool device_space_read(struct device_space *space, uint64_t iova, void *to, size_t size)
{
    const struct device_mapping *mapping = device_space_find(space, iova);
    uint64_t at = mapping ? mapping->offset + (iova - mapping->iova) : iova;
    if (mapping ? mapping->process : space->process != NULL)
        return device_process_read(space->process, at, to, size);
    const uint8_t *data = mapping && mapping->bo ? device_bo_data(mapping->bo) : NULL;
    if (data)
        memcpy(to, data + at, size);
    else
        memset(to, 0, size);
    return mapping && (!mapping->bo || data);
}

uint8_t *device_space_data(struct device_space *space, uint64_t iova, uint64_t *size)
{
    const struct device_mapping *mapping = device_space_find(space, iova);
    if (!mapping || !mapping->bo || mapping->process || mapping->bo->flags & MSM_BO_GPU_READONLY)
        return NULL;
    uint8_t *data = device_bo_data(mapping->bo);
    *size = mapping->size - (iova - mapping->iova);
    return data ? data + mapping->offset + (iova - mapping->iova) : NULL;
}

bool device_space_write(struct device_space *space, uint64_t iova, const void *from, size_t size)
{
    const struct device_mapping *mapping = device_space_find(space, iova);
    uint64_t at = mapping ? mapping->offset + (iova - mapping->iova) : iova;
    if (mapping && size > mapping->size - (iova - mapping->iova))
        return false;
    if (mapping ? mapping->process : space->process != NULL)
        return (!mapping || !mapping->readonly) &&
               device_process_write(space->process, at, from, size);
    if (!mapping || !mapping->bo)
        return mapping;
    uint8_t *data = device_bo_data(mapping->bo);
    if (!data || mapping->bo->flags & MSM_BO_GPU_READONLY)
        return false;
    memcpy(data + at, from, size);
    return true;
}

bool device_space_word(struct device_space *space, uint64_t iova, uint32_t *ret)
{
    uint8_t bytes[4];
    bool good = device_space_read(space, iova, bytes, sizeof(bytes));
    *ret = cps_le32(bytes);
    return good;
}

const uint8_t *device_mapping_next(const struct device_mapping *mapping, uint64_t *at,
                                   uint64_t *iova, uint64_t *size)
{
    enum { SMALL = 64 << 10 };
    const uint8_t *data = mapping->bo ? device_bo_data(mapping->bo) : NULL;
    uint64_t base = mapping->bo ? mapping->bo->base : 0;
    off_t from = (off_t)(base + mapping->offset + *at);
    off_t end = (off_t)(base + mapping->offset + mapping->size);
    off_t to = end;
    if (!data || *at >= mapping->size)
        return NULL;
    if (mapping->size > SMALL) {
        from = lseek(mapping->bo->memfd, from, SEEK_DATA);
        if (from < 0 || from >= end)
            return NULL;
        to = lseek(mapping->bo->memfd, from, SEEK_HOLE);
        to = to < from || to > end ? end : to;
    }
    *at = (uint64_t)to - base - mapping->offset;
    *iova = mapping->iova + ((uint64_t)from - base - mapping->offset);
    *size = (uint64_t)(to - from);
    return data + ((uint64_t)from - base);
}

static bool insert(struct device *device, struct device_space *space, size_t at,
                   struct device_mapping mapping)
{
    if (space->count >= DEVICE_MAX_MAPPINGS || device->use.mappings >= DEVICE_MAX_ALL_MAPPINGS ||
        !CPS_LIST_ROOM(space->list, space->count))
        return false;
    if (space->count > at)
        memmove(&space->list[at + 1], &space->list[at], (space->count - at) * sizeof(*space->list));
    space->list[at] = mapping;
    space->count++;
    device->use.mappings++;
    if (mapping.bo)
        mapping.bo->refs++;
    return true;
}

static void cut_front(struct device_mapping *mapping, uint64_t end)
{
    uint64_t cut = end - mapping->iova;
    mapping->iova += cut;
    mapping->size -= cut;
    mapping->offset += mapping->bo || mapping->process ? cut : 0;
}

static bool is_range(uint64_t iova, uint64_t size)
{
    return size && iova % DEVICE_PAGE == 0 && size % DEVICE_PAGE == 0 && iova < DEVICE_SPACE_END &&
           size <= DEVICE_SPACE_END - iova;
}

int device_space_unmap(struct device *device, struct device_space *space, uint64_t iova,
                       uint64_t size)
{
    if (!is_range(iova, size))
        return -EINVAL;
    uint64_t end = iova + size;
    size_t i = lower_bound(space, iova);
    if (i < space->count && space->list[i].iova < iova) {
        struct device_mapping *mapping = &space->list[i];
        struct device_mapping rest = *mapping;
        bool splits = rest.iova + rest.size > end;
        if (splits) {
            cut_front(&rest, end);
            if (!insert(device, space, i + 1, rest))
                return -ENOMEM;
            mapping = &space->list[i];
        }
        mapping->size = iova - mapping->iova;
        i++;
    }
    size_t last = i;
    while (last < space->count && space->list[last].iova + space->list[last].size <= end)
        device_bo_unref(device, space->list[last++].bo);
    if (last < space->count && space->list[last].iova < end)
        cut_front(&space->list[last], end);
    if (space->count > last)
        memmove(&space->list[i], &space->list[last], (space->count - last) * sizeof(*space->list));
    space->count -= last - i;
    device->use.mappings -= last - i;
    return 0;
}

void device_space_unmap_closed(struct device *device, struct device_space *space)
{
    size_t kept = 0;
    for (size_t i = 0; i < space->count; i++) {
        struct device_bo *bo = space->list[i].bo;
        if (bo && bo->closing && !bo->jobs)
            device_bo_unref(device, bo);
        else
            space->list[kept++] = space->list[i];
    }
    device->use.mappings -= space->count - kept;
    space->count = kept;
}

static int map(struct device *device, struct device_space *space,
               const struct device_mapping *mapping)
{
    int status = device_space_unmap(device, space, mapping->iova, mapping->size);
    if (status)
        return status;
    return insert(device, space, lower_bound(space, mapping->iova), *mapping) ? 0 : -ENOMEM;
}

int device_space_map_process(struct device *device, struct device_space *space, uint64_t iova,
                             uint64_t size, uint64_t address, bool readonly)
{
    const struct device_mapping mapping = {
        .iova = iova, .size = size, .offset = address, .process = true, .readonly = readonly};
    return map(device, space, &mapping);
}

int device_space_map(struct device *device, struct device_space *space, uint64_t iova,
                     uint64_t size, struct device_bo *bo, uint64_t offset)
{
    if (bo && (offset % DEVICE_PAGE || offset > bo->size || size > bo->size - offset))
        return -EINVAL;
    const struct device_mapping mapping = {.iova = iova, .size = size, .bo = bo, .offset = offset};
    return map(device, space, &mapping);
}

void device_space_deinit(struct device *device, struct device_space *space)
{
    for (size_t i = 0; i < space->count; i++)
        device_bo_unref(device, space->list[i].bo);
    device->use.mappings -= space->count;
    free(space->list);
    *space = (struct device_space){0};
}
