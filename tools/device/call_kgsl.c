/* SPDX-License-Identifier: MIT
 * KGSL's ioctls: what they check, in which order and with which error follows kgsl.c and adreno.c
 * of Android's msm kernels. */
#include "tools/device/kgsl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "isa/base/list.h"

/* Whose pointers they are. */
static const struct device_process *process_of(const struct call *call)
{
    return call->message->process;
}

bool kgsl_struct(const struct call *call, uint64_t address, void *to, size_t size, uint64_t given)
{
    return device_process_struct(process_of(call), address, to, size, given);
}

/* ---- properties ---- */

/* Layouts of compressed images, by the versions that the kernel has for them. */
static uint32_t ubwc_mode(const struct device_chip *chip)
{
    return chip->swizzle == 7 ? 1 : chip->macrotile ? 4 : 3;
}

static int reset_stat(struct call *call, const struct kgsl_property *property)
{
    uint32_t value = 0;
    if (property->size != sizeof(value))
        return -EINVAL;
    if (!device_process_read(process_of(call), property->value, &value, sizeof(value)))
        return -EFAULT;
    struct device_queue *context = kgsl_context(call, value);
    if (!context)
        return -EINVAL;
    uint64_t hangs = call->device->counts.hangs;
    value = context->faults != context->faults_told ? KGSL_GUILTY
            : hangs != context->hangs_told          ? KGSL_INNOCENT
                                                    : 0;
    context->faults_told = context->faults;
    context->hangs_told = hangs;
    return device_process_write(process_of(call), property->value, &value, sizeof(value)) ? 0
                                                                                          : -EFAULT;
}

/* A property of 4 or 8 bytes. False: it is none. */
static bool get_number(const struct device_chip *chip, uint32_t type, uint64_t *ret, size_t *size)
{
    *size = sizeof(uint32_t);
    switch (type) {
    case KGSL_GMEM_VADDR:
        *size = sizeof(uint64_t);
        *ret = chip->gmem_base;
        return true;
    case KGSL_VA64_SIZE:
        *size = sizeof(uint64_t);
        *ret = DEVICE_SPACE_END;
        return true;
    case KGSL_TRAP_BASE:
        *size = sizeof(uint64_t);
        *ret = DEVICE_TRAP_BASE;
        return true;
    case KGSL_BANK_BIT:
        *ret = chip->bank_bit;
        return true;
    case KGSL_BITNESS:
        *ret = 48;
        return true;
    case KGSL_MIN_ACCESS:
        *ret = 32;
        return true;
    case KGSL_UBWC_MODE:
        *ret = ubwc_mode(chip);
        return true;
    case KGSL_SECURE_ALIGNMENT:
        *ret = DEVICE_PAGE;
        return true;
    case KGSL_RAYTRACING:
        *ret = chip->raytracing;
        return true;
    case KGSL_SECURE_SUPPORT:
    case KGSL_SPEED_BIN:
    case KGSL_LPAC:
    case KGSL_AQE:
        *ret = 0;
        return true;
    default:
        return false;
    }
}

static int get_property(struct call *call, const struct kgsl_property *property)
{
    const struct device_chip *chip = call->device->config.chip;
    union {
        uint64_t number;
        struct kgsl_info info;
        struct kgsl_version version;
    } value = {0};
    size_t size = 0;
    switch (property->type) {
    case KGSL_RESET_STAT:
        return reset_stat(call, property);
    case KGSL_DEVICE_INFO:
        size = sizeof(value.info);
        value.info = (struct kgsl_info){.device_id = 1,
                                        .chip_id = chip->chip_id & UINT32_MAX,
                                        .mmu_enabled = 1,
                                        .gmem_base = chip->gmem_base,
                                        .gpu_id = chip->gpu_id,
                                        .gmem_size = (uint64_t)chip->gmem_kib << 10};
        break;
    case KGSL_VERSION:
        size = sizeof(value.version);
        value.version = (struct kgsl_version){3, 14, 3, 1};
        break;
    default:
        if (!get_number(chip, property->type, &value.number, &size))
            return -ENODEV;
    }
    if (property->size != size)
        return -EINVAL;
    return device_process_write(process_of(call), property->value, &value, size) ? 0 : -EFAULT;
}

static int set_property(const struct kgsl_property *property)
{
    return property->type == KGSL_PWR_CONSTRAINT || property->type == KGSL_L3_PWR_CONSTRAINT
               ? 0
               : -EINVAL;
}

static int read_counters(struct call *call, const struct kgsl_counters *args)
{
    enum { MOST = 64 };
    if (!args->list || !args->count || args->count > MOST)
        return -EINVAL;
    for (uint32_t i = 0; i < args->count; i++) {
        uint64_t at = args->list + i * sizeof(struct kgsl_counter);
        struct kgsl_counter counter = {0};
        if (!device_process_read(process_of(call), at, &counter, sizeof(counter)))
            return -EFAULT;
        if (counter.group != KGSL_ALWAYS_ON || counter.countable)
            return -EINVAL;
        counter.value = device_gpu_time(call->device);
        if (!device_process_write(process_of(call), at, &counter, sizeof(counter)))
            return -EFAULT;
    }
    return 0;
}

/* ---- contexts and time stamps ---- */

static int context_new(struct call *call, struct kgsl_context *args)
{
    enum { DEFAULT = 8, PREEMPT_MASK = 7, BY_RING = 1 };
    struct device_file *file = call->file;
    uint32_t flags = args->flags & KGSL_CONTEXT_FLAGS;
    uint32_t priority = flags >> KGSL_PRIORITY_SHIFT & 15;
    if (!(flags & KGSL_PREAMBLE) || !(flags & KGSL_NO_GMEM_ALLOC))
        return -EINVAL;
    priority = priority ? priority : DEFAULT;
    if (file->queue_count >= DEVICE_MAX_QUEUES || !CPS_LIST_ROOM(file->queue, file->queue_count))
        return -ENOSPC;
    args->flags = flags | KGSL_PER_CONTEXT_TS | priority << KGSL_PRIORITY_SHIFT;
    args->id = file->next_queue++;
    bool by_ring = (flags >> KGSL_PREEMPT_SHIFT & PREEMPT_MASK) == BY_RING;
    /* A ring for each four priorities; the device has three in a ring. */
    file->queue[file->queue_count++] = (struct device_queue){
        .id = args->id,
        .flags = by_ring ? 0 : MSM_QUEUE_ALLOW_PREEMPT,
        .user_timestamps = flags & KGSL_USER_TS,
        .hangs_told = call->device->counts.hangs,
        .priority = priority / 4 * DEVICE_PRIORITIES_OF_RING +
                    (priority % 4 < DEVICE_PRIORITIES_OF_RING ? priority % 4
                                                              : DEVICE_PRIORITIES_OF_RING - 1)};
    return 0;
}

/* Jobs that have not begun go; whose job runs is told when that has ended. */
static int context_close(struct call *call, const struct kgsl_context_id *args)
{
    const int64_t most = INT64_C(30000000000);
    struct device_message *message = call->message;
    struct device_queue *context = kgsl_context(call, args->id);
    if (!context && !message->begun)
        return -EINVAL;
    if (!message->begun) {
        message->deadline = device_now() + most;
        device_jobs_drop(call->device, call->file, args->id);
        device_queue_close(call->file, context);
    }
    return device_gpu_has(call->device, call->file, args->id)
               ? call_later(call, message->deadline, 0)
               : 0;
}

static int wait_timestamp(struct call *call, const struct kgsl_wait *wait)
{
    struct device_queue *context = kgsl_context(call, wait->context);
    const struct device_message *message = call->message;
    if (!context)
        return message->begun ? -ENOENT : -EINVAL;
    if (context->faults)
        return -EDEADLK;
    if (!context->user_timestamps && (int32_t)(wait->timestamp - context->seqno) > 0)
        return -EINVAL;
    if ((int32_t)(context->retired - wait->timestamp) >= 0)
        return 0;
    /* 0 waits for ever, and so does more than the kernel's timers count. */
    bool forever = !wait->timeout || wait->timeout > INT32_MAX;
    int64_t deadline = message->begun ? message->deadline
                       : forever      ? INT64_MAX - 1
                                      : device_now() + wait->timeout * INT64_C(1000000);
    return call_later(call, deadline, -ETIMEDOUT);
}

static int read_timestamp(struct call *call, struct kgsl_read_timestamp *args)
{
    const struct device_queue *context = kgsl_context(call, args->context);
    if (!context || args->type < KGSL_CONSUMED || args->type > KGSL_QUEUED)
        return -EINVAL;
    args->timestamp = args->type == KGSL_QUEUED ? context->seqno : context->retired;
    return 0;
}

/* The client library writes the descriptor's number where it belongs. */
static int timestamp_event(struct call *call, const struct kgsl_event *args)
{
    const int32_t none = -1;
    struct device_fence *fence = NULL;
    const struct device_queue *context = kgsl_context(call, args->context);
    if (args->type != KGSL_EVENT_FENCE || args->size != sizeof(none))
        return -EINVAL;
    if (context && context->faults)
        return -EDEADLK;
    int status = kgsl_fence(call, args->context, args->timestamp, &fence);
    if (!status && !device_process_write(process_of(call), args->fd, &none, sizeof(none)))
        status = -EFAULT;
    if (!status) {
        call->message->answer_fd = device_sync_file_new(call->device, fence);
        status = call->message->answer_fd < 0 ? -EMFILE : 0;
    }
    device_fence_unref(fence);
    return status;
}

/* ---- memory ---- */

static int alloc_id(struct call *call, struct kgsl_alloc_id *args)
{
    struct kgsl_memory *memory = NULL;
    int status = kgsl_alloc(call, args->size, args->flags, &memory);
    if (status)
        return status;
    args->id = memory->id;
    args->flags = (uint32_t)memory->flags;
    args->size = memory->size;
    args->mmapsize = memory->size;
    args->gpuaddr = memory->gpuaddr;
    return 0;
}

/* A name that cannot be read is none. */
static void set_metadata(struct call *call, const struct kgsl_memory *memory, uint64_t address,
                         uint32_t size)
{
    char name[KGSL_MAX_METADATA + 1] = "";
    size = size < KGSL_MAX_METADATA ? size : KGSL_MAX_METADATA;
    if (!size || !memory->bo)
        return;
    device_process_read(process_of(call), address, name, size);
    device_text_clean(name);
    free(memory->bo->name);
    memory->bo->name = strdup(name);
}

static int object_alloc(struct call *call, struct kgsl_object_alloc *args)
{
    struct kgsl_memory *memory = NULL;
    int status = kgsl_alloc(call, args->size, args->flags, &memory);
    if (status)
        return status;
    args->id = memory->id;
    args->flags = memory->flags;
    args->size = memory->size;
    args->mmapsize = memory->size;
    set_metadata(call, memory, args->metadata, args->metadata_size);
    return 0;
}

static int free_now(struct call *call, struct kgsl_memory *memory)
{
    if (!memory)
        return -EINVAL;
    kgsl_free(call, memory);
    return 0;
}

static int object_free(struct call *call, const struct kgsl_object_free *args)
{
    struct device_kgsl *kgsl = call->file->kgsl;
    struct kgsl_memory *memory = kgsl_find(kgsl, args->id);
    struct kgsl_point_timestamp event;
    struct device_fence *fence = NULL;
    int32_t fd = -1;
    if (!memory || !(args->flags & KGSL_FREE_ON_EVENT))
        return free_now(call, memory);
    int status = -EINVAL;
    if (args->type == KGSL_ON_TIMESTAMP)
        status = !kgsl_struct(call, args->priv, &event, sizeof(event), args->size)
                     ? -EFAULT
                     : kgsl_fence(call, event.context, event.timestamp, &fence);
    else if (args->type == KGSL_ON_FENCE)
        status = !kgsl_struct(call, args->priv, &fd, sizeof(fd), args->size)
                     ? -EFAULT
                     : kgsl_fence_of_fd(call, fd, &fence);
    if (status)
        return status;
    memory->free_on = fence;
    kgsl->waiting++;
    kgsl_sweep(call);
    return 0;
}

static int get_info(struct call *call, struct kgsl_get_info *args)
{
    struct device_kgsl *kgsl = call->file->kgsl;
    const struct kgsl_memory *memory =
        args->id ? kgsl_find(kgsl, args->id) : kgsl_find_address(call->file->kgsl, args->gpuaddr);
    if (!memory)
        return -EINVAL;
    args->id = memory->id;
    args->gpuaddr = kgsl_address(kgsl, memory);
    args->flags = (uint32_t)memory->flags;
    args->size = memory->size;
    args->mmapsize = memory->size;
    args->useraddr = 0;
    return 0;
}

static int object_info(struct call *call, struct kgsl_object_info *args)
{
    struct device_kgsl *kgsl = call->file->kgsl;
    const struct kgsl_memory *memory = args->id ? kgsl_find(kgsl, args->id) : NULL;
    if (!memory)
        return -EINVAL;
    args->gpuaddr = kgsl_address(kgsl, memory);
    args->flags = memory->flags;
    args->size = memory->size;
    args->va_len = memory->flags & KGSL_VBO ? 0 : memory->size;
    args->va_addr = 0; /* the process knows it */
    return 0;
}

static int set_info(struct call *call, const struct kgsl_object_set_info *args)
{
    enum { MOST = 0xff };
    struct kgsl_memory *memory = args->id ? kgsl_find(call->file->kgsl, args->id) : NULL;
    if (!memory)
        return -EINVAL;
    if (args->flags & KGSL_SET_METADATA)
        set_metadata(call, memory, args->metadata, args->metadata_size);
    if (!(args->flags & KGSL_SET_TYPE))
        return 0;
    if (args->type > MOST)
        return -EINVAL;
    memory->flags &= ~((uint64_t)MOST << KGSL_TYPE_SHIFT);
    memory->flags |= args->type << KGSL_TYPE_SHIFT;
    return 0;
}

static int object_import(struct call *call, struct kgsl_object_import *args)
{
    struct kgsl_memory *memory = NULL;
    uint64_t address = 0;
    int32_t fd = -1;
    if (args->flags & KGSL_VBO)
        return -EINVAL;
    if (args->type == KGSL_USER_ADDR &&
        !device_process_read(process_of(call), args->priv, &address, sizeof(address)))
        return -EINVAL;
    if (args->type == KGSL_USER_DMABUF) {
        if (!kgsl_struct(call, args->priv, &fd, sizeof(fd), args->priv_size))
            return -EFAULT;
        if (fd < 0)
            return -EINVAL;
    }
    int status = kgsl_import(call, args->type, args->flags, address, args->priv_size, fd, &memory);
    if (status)
        return status;
    args->id = memory->id;
    args->flags = memory->flags;
    return 0;
}

static int map_user(struct call *call, struct kgsl_map_user *args)
{
    struct kgsl_memory *memory = NULL;
    args->gpuaddr = 0;
    if (args->flags & KGSL_SECURE)
        return -EOPNOTSUPP;
    if (args->offset)
        return -EINVAL;
    int status =
        kgsl_import(call, args->type, args->flags, args->hostptr, args->size, args->fd, &memory);
    if (status)
        return status;
    args->gpuaddr = memory->gpuaddr;
    args->flags = (uint32_t)memory->flags;
    return 0;
}

/* Memory is coherent here. */
static int sync_cache(struct call *call, const struct kgsl_sync_cache *args)
{
    enum { CLEAN = 1, INVALIDATE = 2 };
    const struct kgsl_memory *memory = args->id ? kgsl_find(call->file->kgsl, args->id)
                                       : args->gpuaddr
                                           ? kgsl_find_address(call->file->kgsl, args->gpuaddr)
                                           : NULL;
    return memory && args->op & (CLEAN | INVALIDATE) ? 0 : -EINVAL;
}

/* Objects that are none are no error. */
static int sync_objects(struct call *call, const struct kgsl_sync_objects *args)
{
    enum { MOST = 128 };
    struct kgsl_sync_object object;
    int status = 0;
    if (!args->count || args->count > MOST)
        return -EINVAL;
    for (uint32_t i = 0; i < args->count; i++) {
        if (!kgsl_struct(call, args->objects + i * sizeof(object), &object, sizeof(object),
                         args->object_size))
            return -EFAULT;
        const struct kgsl_sync_cache sync = {.id = object.id, .op = object.op};
        if (!status && kgsl_find(call->file->kgsl, object.id))
            status = sync_cache(call, &sync);
    }
    return status;
}

int device_kgsl_call(struct device *device, struct device_file *file,
                     struct device_message *message)
{
    struct call holds = {device, file, message};
    struct call *call = &holds;
    void *args = message->structure;
    struct device_kgsl *kgsl = file->kgsl;
    kgsl_sweep(call);
    switch ((enum device_row)message->head.row) {
    case DEVICE_KGSL_GET_PROPERTY:
        return get_property(call, args);
    case DEVICE_KGSL_SET_PROPERTY:
        return set_property(args);
    case DEVICE_KGSL_READ_COUNTERS:
        return read_counters(call, args);
    case DEVICE_KGSL_CONTEXT_NEW:
        return context_new(call, args);
    case DEVICE_KGSL_CONTEXT_CLOSE:
        return context_close(call, args);
    case DEVICE_KGSL_WAIT:
        return wait_timestamp(call, args);
    case DEVICE_KGSL_READ_TIMESTAMP:
        return read_timestamp(call, args);
    case DEVICE_KGSL_EVENT:
        return timestamp_event(call, args);
    case DEVICE_KGSL_ALLOC_ID:
        return alloc_id(call, args);
    case DEVICE_KGSL_FREE_ID:
        return free_now(call, kgsl_find(kgsl, ((struct kgsl_free_id *)args)->id));
    case DEVICE_KGSL_FREE_ADDRESS:
        return free_now(
            call, kgsl_find_address(call->file->kgsl, ((struct kgsl_gpuaddr *)args)->gpuaddr));
    case DEVICE_KGSL_GET_INFO:
        return get_info(call, args);
    case DEVICE_KGSL_OBJECT_ALLOC:
        return object_alloc(call, args);
    case DEVICE_KGSL_OBJECT_FREE:
        return object_free(call, args);
    case DEVICE_KGSL_OBJECT_INFO:
        return object_info(call, args);
    case DEVICE_KGSL_OBJECT_SET_INFO:
        return set_info(call, args);
    case DEVICE_KGSL_OBJECT_IMPORT:
        return object_import(call, args);
    case DEVICE_KGSL_MAP_USER:
        return map_user(call, args);
    case DEVICE_KGSL_SYNC_CACHE:
        return sync_cache(call, args);
    case DEVICE_KGSL_SYNC_OBJECTS:
        return sync_objects(call, args);
    case DEVICE_KGSL_COMMAND:
        return kgsl_command(call, args);
    case DEVICE_KGSL_AUX_COMMAND:
        return kgsl_aux_command(call, args);
    case DEVICE_KGSL_BIND_RANGES:
        return kgsl_bind_ranges(call, args);
    default:
        return -ENOTTY;
    }
}
