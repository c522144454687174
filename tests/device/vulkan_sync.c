/* SPDX-License-Identifier: MIT
 * Jobs about memory and order. */
#include "vulkan.h"

#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- time stamps ---- */

static bool read_queries(struct vulkan *vk, VkQueryPool pool, uint32_t first, uint32_t count,
                         uint64_t *values)
{
    return vkGetQueryPoolResults(vk->device, pool, first, count, count * sizeof(*values), values,
                                 sizeof(*values), VK_QUERY_RESULT_64_BIT) == VK_SUCCESS;
}

static uint64_t device_clock(struct vulkan *vk)
{
    const VkCalibratedTimestampInfoEXT info = {.sType =
                                                   VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT,
                                               .timeDomain = VK_TIME_DOMAIN_DEVICE_EXT};
    uint64_t value = 0;
    uint64_t deviation = 0;
    if (!vk->GetCalibratedTimestampsEXT ||
        vk->GetCalibratedTimestampsEXT(vk->device, 1, &info, &value, &deviation) != VK_SUCCESS)
        return 0;
    return value;
}

void job_timestamps(struct vulkan *vk)
{
    enum { STAMPS = 8 };
    uint64_t value[STAMPS] = {0};
    uint64_t copy[STAMPS / 2];
    uint64_t between = 0;
    bool ascending = true;
    VkQueryPool pool = create_queries(vk, VK_QUERY_TYPE_TIMESTAMP, STAMPS, 0);
    for (uint32_t half = 0; half < 2; half++) {
        uint32_t first = half * STAMPS / 2;
        VkCommandBuffer cmd = begin_commands(vk);
        vkCmdResetQueryPool(cmd, pool, first, STAMPS / 2);
        for (uint32_t i = 0; i < STAMPS / 2; i++)
            vkCmdWriteTimestamp(cmd,
                                i % 2 ? VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT
                                      : VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT,
                                pool, first + i);
        add_barrier(cmd);
        vkCmdCopyQueryPoolResults(cmd, pool, first, STAMPS / 2, vk->buffer, 0, 8,
                                  VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
        submit_commands(vk, cmd);
        if (!half)
            between = device_clock(vk);
    }
    bool there = read_queries(vk, pool, 0, STAMPS, value);
    for (uint32_t i = 1; i < STAMPS; i++)
        ascending &= value[i] > value[i - 1];
    memcpy(copy, (const void *)vk->words, sizeof(copy));
    check(vk, there, "all results are available");
    check(vk, there && ascending, "later stamps are larger, across submissions, too");
    check(vk, there && !memcmp(copy, value + STAMPS / 2, sizeof(copy)),
          "copied results are those that the host reads");
    if (!vk->GetCalibratedTimestampsEXT) {
        skip_check(vk, "the kernel's clock is that of the stamps", "no calibrated time stamps");
    } else {
        bool same = there && between >= value[STAMPS / 2 - 1] && between <= value[STAMPS / 2];
        if (there && !same)
            printf("# kernel's clock %llu, stamps around it %llu %llu\n",
                   (unsigned long long)between, (unsigned long long)value[STAMPS / 2 - 1],
                   (unsigned long long)value[STAMPS / 2]);
        check(vk, same, "the kernel's clock is that of the stamps");
    }
    vkDestroyQueryPool(vk->device, pool, NULL);
}

/* ---- events ---- */

static VkEvent create_event(struct vulkan *vk)
{
    const VkEventCreateInfo info = {.sType = VK_STRUCTURE_TYPE_EVENT_CREATE_INFO};
    VkEvent event = VK_NULL_HANDLE;
    need(vkCreateEvent(vk->device, &info, NULL, &event), "vkCreateEvent");
    return event;
}

static void wait_event(VkCommandBuffer cmd, VkEvent event)
{
    const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER};
    vkCmdWaitEvents(cmd, 1, &event, VK_PIPELINE_STAGE_HOST_BIT | VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                    VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 1, &barrier, 0, NULL, 0, NULL);
}

/* Submits without waiting for the end. */
static void start_commands(struct vulkan *vk, VkCommandBuffer cmd, VkFence fence)
{
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &cmd};
    need(vkEndCommandBuffer(cmd), "vkEndCommandBuffer");
    need(vkQueueSubmit(vk->queue, 1, &submit, fence), "vkQueueSubmit");
}

void job_events(struct vulkan *vk)
{
    VkEvent by_gpu = create_event(vk);
    VkEvent by_host = create_event(vk);
    VkCommandBuffer cmd = begin_commands(vk);
    vkCmdSetEvent(cmd, by_gpu, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
    submit_commands(vk, cmd);
    bool was_set = vkGetEventStatus(vk->device, by_gpu) == VK_EVENT_SET;
    check(vk, was_set, "an event that the GPU sets is set");
    cmd = begin_commands(vk);
    vkCmdResetEvent(cmd, by_gpu, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
    submit_commands(vk, cmd);
    check(vk, was_set && vkGetEventStatus(vk->device, by_gpu) == VK_EVENT_RESET,
          "an event that the GPU resets is reset");
    cmd = begin_commands(vk);
    vkCmdSetEvent(cmd, by_gpu, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
    wait_event(cmd, by_gpu);
    write_marker(vk, cmd, 1, 11);
    submit_commands(vk, cmd);
    check(vk, vk->words[1] == 11, "what the GPU sets itself it does not wait for");
    cmd = begin_commands(vk);
    write_marker(vk, cmd, 2, 21);
    wait_event(cmd, by_host);
    write_marker(vk, cmd, 3, 22);
    start_commands(vk, cmd, VK_NULL_HANDLE);
    bool before = wait_for_word(vk, 2, 21);
    sleep_milliseconds(30);
    bool waits = vk->words[3] == UNWRITTEN;
    vkSetEvent(vk->device, by_host);
    bool after = wait_for_word(vk, 3, 22);
    check(vk, before && waits,
          "a wait for the host holds what comes after it, not what came before");
    check(vk, before && waits && after, "it goes on when the host sets the event");
    vkDeviceWaitIdle(vk->device);
    vkDestroyEvent(vk->device, by_gpu, NULL);
    vkDestroyEvent(vk->device, by_host, NULL);
}

/* ---- markers and transfers ---- */

void job_markers(struct vulkan *vk)
{
    enum { MARKERS = 1000 };
    unsigned good = 0;
    VkCommandBuffer cmd = begin_commands(vk);
    for (uint32_t i = 0; i < MARKERS; i++)
        write_marker(vk, cmd, i, i * 3 + 1);
    for (uint32_t i = 0; i < 3; i++)
        write_marker(vk, cmd, MARKERS, 100 + i);
    submit_commands(vk, cmd);
    for (uint32_t i = 0; i < MARKERS; i++)
        good += vk->words[i] == i * 3 + 1;
    check(vk, good == MARKERS, "1000 markers arrive");
    check(vk, vk->words[MARKERS] == 102, "the last of three markers of one word stays");
    check(vk, good == MARKERS && vk->words[MARKERS + 1] == UNWRITTEN, "no other word is written");
    for (uint32_t i = 0; i < 5; i++) {
        cmd = begin_commands(vk);
        write_marker(vk, cmd, 2000 + i, 7 + i);
        submit_commands(vk, cmd);
    }
    bool all = true;
    for (uint32_t i = 0; i < 5; i++)
        all &= vk->words[2000 + i] == 7 + i;
    check(vk, all, "five submissions write one marker each");
}

/* Blits are not executed: what a copy leaves cannot be checked, only that the stream goes on. */
void job_transfer(struct vulkan *vk)
{
    const VkBufferCopy copy = {.srcOffset = 0, .dstOffset = 8192, .size = 4096};
    const uint32_t update[4] = {1, 2, 3, 4};
    VkCommandBuffer cmd = begin_commands(vk);
    write_marker(vk, cmd, 0, 1);
    vkCmdFillBuffer(cmd, vk->buffer, 16384, 4096, 0xabcd);
    add_barrier(cmd);
    write_marker(vk, cmd, 1, 2);
    vkCmdCopyBuffer(cmd, vk->buffer, vk->buffer, 1, &copy);
    add_barrier(cmd);
    write_marker(vk, cmd, 2, 3);
    vkCmdUpdateBuffer(cmd, vk->buffer, 32768, sizeof(update), update);
    add_barrier(cmd);
    write_marker(vk, cmd, 3, 4);
    VkResult result = submit_commands(vk, cmd);
    check(vk, vk->words[0] == 1 && vk->words[1] == 2, "the stream goes on after a fill");
    check(vk, vk->words[2] == 3, "and after a copy");
    check(vk, vk->words[3] == 4 && result == VK_SUCCESS, "and after an update");
}

/* ---- sparse memory ---- */

static VkBuffer create_sparse(struct vulkan *vk, VkDeviceSize size)
{
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .flags = VK_BUFFER_CREATE_SPARSE_BINDING_BIT |
                                              VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT |
                                              VK_BUFFER_CREATE_SPARSE_ALIASED_BIT,
                                     .size = size,
                                     .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    VkBuffer buffer = VK_NULL_HANDLE;
    need(vkCreateBuffer(vk->device, &info, NULL, &buffer), "vkCreateBuffer (sparse)");
    return buffer;
}

static void bind_sparse(struct vulkan *vk, VkBuffer buffer, const VkSparseMemoryBind *binds,
                        uint32_t count)
{
    const VkSparseBufferMemoryBindInfo buffers = {buffer, count, binds};
    const VkBindSparseInfo info = {.sType = VK_STRUCTURE_TYPE_BIND_SPARSE_INFO,
                                   .bufferBindCount = 1,
                                   .pBufferBinds = &buffers};
    need(vkQueueBindSparse(vk->queue, 1, &info, VK_NULL_HANDLE), "vkQueueBindSparse");
    need(vkQueueWaitIdle(vk->queue), "vkQueueWaitIdle");
}

void job_sparse(struct vulkan *vk)
{
    enum { PAGE = 65536 };
    static const char *const names[] = {"two ranges reach one piece of memory",
                                        "a range that is bound anew reaches its new memory",
                                        "writes to an unbound range go nowhere"};
    const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                       .allocationSize = 2 * PAGE,
                                       .memoryTypeIndex = vk->memory_type};
    VkDeviceMemory memory = VK_NULL_HANDLE;
    void *data = NULL;
    if (!vk->features.sparseBinding || !vk->features.sparseResidencyBuffer) {
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
            skip_check(vk, names[i], "no sparse binding");
        return;
    }
    VkBuffer buffer = create_sparse(vk, 4 * PAGE);
    need(vkAllocateMemory(vk->device, &info, NULL, &memory), "vkAllocateMemory");
    need(vkMapMemory(vk->device, memory, 0, VK_WHOLE_SIZE, 0, &data), "vkMapMemory");
    volatile uint32_t *words = data;
    const VkSparseMemoryBind binds[] = {{0, PAGE, memory, PAGE, 0},
                                        {2 * PAGE, PAGE, memory, PAGE, 0}};
    const VkSparseMemoryBind anew = {2 * PAGE, PAGE, memory, 0, 0};
    bind_sparse(vk, buffer, binds, 2);
    VkCommandBuffer cmd = begin_commands(vk);
    vk->CmdWriteBufferMarkerAMD(cmd, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, buffer, 4, 51);
    vk->CmdWriteBufferMarkerAMD(cmd, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, buffer, 2 * PAGE + 8,
                                52);
    vk->CmdWriteBufferMarkerAMD(cmd, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, buffer, PAGE, 53);
    VkResult result = submit_commands(vk, cmd);
    bool aliased = words[PAGE / 4 + 1] == 51 && words[PAGE / 4 + 2] == 52;
    check(vk, aliased, names[0]);
    bind_sparse(vk, buffer, &anew, 1);
    cmd = begin_commands(vk);
    vk->CmdWriteBufferMarkerAMD(cmd, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, buffer, 2 * PAGE + 12,
                                54);
    submit_commands(vk, cmd);
    check(vk, words[3] == 54 && words[PAGE / 4 + 3] == 0, names[1]);
    check(vk, aliased && result == VK_SUCCESS && words[0] == 0 && words[PAGE / 4] == 0, names[2]);
    vkDestroyBuffer(vk->device, buffer, NULL);
    vkUnmapMemory(vk->device, memory);
    vkFreeMemory(vk->device, memory, NULL);
}

/* ---- semaphores and fences ---- */

static VkSemaphore create_semaphore(struct vulkan *vk, bool timeline, bool exported)
{
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = timeline ? VK_SEMAPHORE_TYPE_TIMELINE
                                                                      : VK_SEMAPHORE_TYPE_BINARY};
    const VkExportSemaphoreCreateInfo fd = {
        .sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO,
        .pNext = &type,
        .handleTypes = timeline ? VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT
                                : VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = exported ? (const void *)&fd : &type};
    VkSemaphore semaphore = VK_NULL_HANDLE;
    need(vkCreateSemaphore(vk->device, &info, NULL, &semaphore), "vkCreateSemaphore");
    return semaphore;
}

/* Submits with a semaphore to wait for and one to signal; either can be none, value 0 is binary. */
static void submit_between(struct vulkan *vk, VkCommandBuffer cmd, VkSemaphore wait,
                           uint64_t wait_value, VkSemaphore signal, uint64_t signal_value)
{
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const VkTimelineSemaphoreSubmitInfo timeline = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = wait != VK_NULL_HANDLE,
        .pWaitSemaphoreValues = &wait_value,
        .signalSemaphoreValueCount = signal != VK_NULL_HANDLE,
        .pSignalSemaphoreValues = &signal_value};
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .pNext = wait_value || signal_value ? &timeline : NULL,
                                 .waitSemaphoreCount = wait != VK_NULL_HANDLE,
                                 .pWaitSemaphores = &wait,
                                 .pWaitDstStageMask = &stage,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &cmd,
                                 .signalSemaphoreCount = signal != VK_NULL_HANDLE,
                                 .pSignalSemaphores = &signal};
    need(vkEndCommandBuffer(cmd), "vkEndCommandBuffer");
    need(vkQueueSubmit(vk->queue, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
}

static VkResult wait_value(struct vulkan *vk, VkSemaphore semaphore, uint64_t value)
{
    const VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &semaphore,
                                      .pValues = &value};
    return vkWaitSemaphores(vk->device, &info, 2 * (uint64_t)SECOND);
}

static void signal_value(struct vulkan *vk, VkSemaphore semaphore, uint64_t value)
{
    const VkSemaphoreSignalInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = semaphore, .value = value};
    need(vkSignalSemaphore(vk->device, &info), "vkSignalSemaphore");
}

/* The same timeline in a second device, whose queue is another context of the GPU. */
static VkSemaphore share_timeline(struct vulkan *vk, VkSemaphore semaphore, struct vulkan *other)
{
    const VkSemaphoreGetFdInfoKHR get = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
                                         .semaphore = semaphore,
                                         .handleType =
                                             VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkImportSemaphoreFdInfoKHR import = {.sType = VK_STRUCTURE_TYPE_IMPORT_SEMAPHORE_FD_INFO_KHR,
                                         .semaphore = create_semaphore(other, true, false),
                                         .handleType =
                                             VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    need(vk->GetSemaphoreFdKHR(vk->device, &get, &import.fd), "vkGetSemaphoreFdKHR");
    need(other->ImportSemaphoreFdKHR(other->device, &import), "vkImportSemaphoreFdKHR");
    return import.semaphore;
}

void job_timeline(struct vulkan *vk)
{
    struct vulkan other = *vk;
    open_device(&other);
    VkSemaphore semaphore = create_semaphore(vk, true, true);
    VkSemaphore shared = share_timeline(vk, semaphore, &other);
    /* In the order: host 1, other's job 2, own job 3; submitted the other way round. */
    VkCommandBuffer cmd = begin_commands(vk);
    write_marker(vk, cmd, 0, 61);
    submit_between(vk, cmd, semaphore, 2, semaphore, 3);
    cmd = begin_commands(&other);
    write_marker(&other, cmd, 0, 62);
    submit_between(&other, cmd, shared, 1, shared, 2);
    sleep_milliseconds(20);
    bool waits = vk->words[0] == UNWRITTEN && other.words[0] == UNWRITTEN;
    signal_value(vk, semaphore, 1);
    bool reached = wait_value(vk, semaphore, 3) == VK_SUCCESS;
    uint64_t value = 0;
    vkGetSemaphoreCounterValue(other.device, shared, &value);
    check(vk, waits && reached && vk->words[0] == 61 && other.words[0] == 62,
          "jobs of two contexts wait for a value that the host signals");
    check(vk, value == 3 && vk->words[0] == 61, "the other context sees the value");
    bool all = true;
    for (uint32_t i = 0; i < 20; i++) {
        struct vulkan *to = i % 2 ? &other : vk;
        cmd = begin_commands(to);
        write_marker(to, cmd, 4 + i, 70 + i);
        submit_between(to, cmd, i % 2 ? shared : semaphore, 3 + i, i % 2 ? shared : semaphore,
                       4 + i);
    }
    all &= wait_value(vk, semaphore, 23) == VK_SUCCESS;
    for (uint32_t i = 0; i < 20; i++)
        all &= (i % 2 ? &other : vk)->words[4 + i] == 70 + i;
    check(vk, all, "20 jobs go back and forth between two contexts");
    vkDeviceWaitIdle(other.device);
    vkDestroySemaphore(vk->device, semaphore, NULL);
    vkDestroySemaphore(other.device, shared, NULL);
    close_device(&other);
}

static int export_semaphore(struct vulkan *vk, VkSemaphore semaphore)
{
    const VkSemaphoreGetFdInfoKHR info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
                                          .semaphore = semaphore,
                                          .handleType =
                                              VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT};
    int fd = -1;
    need(vk->GetSemaphoreFdKHR(vk->device, &info, &fd), "vkGetSemaphoreFdKHR");
    return fd;
}

void job_syncfd(struct vulkan *vk)
{
    struct vulkan other = *vk;
    open_device(&other);
    VkEvent event = create_event(vk);
    VkSemaphore semaphore = create_semaphore(vk, false, true);
    VkImportSemaphoreFdInfoKHR import = {.sType = VK_STRUCTURE_TYPE_IMPORT_SEMAPHORE_FD_INFO_KHR,
                                         .semaphore = create_semaphore(&other, false, false),
                                         .flags = VK_SEMAPHORE_IMPORT_TEMPORARY_BIT,
                                         .handleType =
                                             VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT};
    /* A job that lasts until the host says so. */
    VkCommandBuffer cmd = begin_commands(vk);
    wait_event(cmd, event);
    write_marker(vk, cmd, 0, 81);
    submit_between(vk, cmd, VK_NULL_HANDLE, 0, semaphore, 0);
    struct pollfd end = {.fd = export_semaphore(vk, semaphore), .events = POLLIN};
    import.fd = dup(end.fd);
    bool pending = poll(&end, 1, 10) == 0;
    need(other.ImportSemaphoreFdKHR(other.device, &import), "vkImportSemaphoreFdKHR");
    cmd = begin_commands(&other);
    write_marker(&other, cmd, 0, 82);
    submit_between(&other, cmd, import.semaphore, 0, VK_NULL_HANDLE, 0);
    sleep_milliseconds(10);
    bool waits = other.words[0] == UNWRITTEN;
    vkSetEvent(vk->device, event);
    bool ended = poll(&end, 1, 2000) == 1 && end.revents & POLLIN;
    check(vk, pending && ended && vk->words[0] == 81,
          "a sync file becomes readable when its job ends");
    check(vk, waits && wait_for_word(&other, 0, 82), "another context waits for an imported one");
    vkDeviceWaitIdle(other.device);
    vkDeviceWaitIdle(vk->device);
    close(end.fd);
    vkDestroySemaphore(other.device, import.semaphore, NULL);
    vkDestroySemaphore(vk->device, semaphore, NULL);
    vkDestroyEvent(vk->device, event, NULL);
    close_device(&other);
}

void job_fences(struct vulkan *vk)
{
    const VkExportFenceCreateInfo fd = {.sType = VK_STRUCTURE_TYPE_EXPORT_FENCE_CREATE_INFO,
                                        .handleTypes = VK_EXTERNAL_FENCE_HANDLE_TYPE_SYNC_FD_BIT};
    const VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO, .pNext = &fd};
    VkFenceGetFdInfoKHR get = {.sType = VK_STRUCTURE_TYPE_FENCE_GET_FD_INFO_KHR,
                               .handleType = VK_EXTERNAL_FENCE_HANDLE_TYPE_SYNC_FD_BIT};
    VkFence fence[2];
    VkEvent event = create_event(vk);
    for (size_t i = 0; i < 2; i++) {
        need(vkCreateFence(vk->device, &info, NULL, &fence[i]), "vkCreateFence");
        VkCommandBuffer cmd = begin_commands(vk);
        wait_event(cmd, event);
        write_marker(vk, cmd, (uint32_t)i, 91);
        start_commands(vk, cmd, fence[i]);
    }
    bool pending = vkWaitForFences(vk->device, 1, &fence[0], VK_TRUE, SECOND / 100) == VK_TIMEOUT &&
                   vkGetFenceStatus(vk->device, fence[1]) == VK_NOT_READY;
    get.fence = fence[1];
    struct pollfd end = {.events = POLLIN};
    need(vk->GetFenceFdKHR(vk->device, &get, &end.fd), "vkGetFenceFdKHR");
    pending &= poll(&end, 1, 0) == 0;
    check(vk, pending, "a fence is not signalled before its job ends");
    vkSetEvent(vk->device, event);
    bool ended =
        vkWaitForFences(vk->device, 1, &fence[0], VK_TRUE, 2 * (uint64_t)SECOND) == VK_SUCCESS;
    check(vk, ended && vk->words[0] == 91, "after the host's wait the job's writes are there");
    check(vk, poll(&end, 1, 2000) == 1 && vk->words[1] == 91, "the same for an exported fence");
    vkDeviceWaitIdle(vk->device);
    close(end.fd);
    for (size_t i = 0; i < 2; i++)
        vkDestroyFence(vk->device, fence[i], NULL);
    vkDestroyEvent(vk->device, event, NULL);
}

/* ---- speed ---- */

void job_empty(struct vulkan *vk)
{
    struct timespec from, to;
    VkCommandBuffer cmd = begin_commands(vk);
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &cmd};
    const VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkFence fence = VK_NULL_HANDLE;
    write_marker(vk, cmd, 0, 1);
    need(vkEndCommandBuffer(cmd), "vkEndCommandBuffer");
    need(vkCreateFence(vk->device, &info, NULL, &fence), "vkCreateFence");
    for (int waits = 0; waits < 2; waits++) {
        clock_gettime(CLOCK_MONOTONIC, &from);
        for (unsigned i = 0; i < vk->count; i++) {
            bool last = waits || i + 1 == vk->count;
            need(vkQueueSubmit(vk->queue, 1, &submit, last ? fence : VK_NULL_HANDLE),
                 "vkQueueSubmit");
            if (last) {
                need(vkWaitForFences(vk->device, 1, &fence, VK_TRUE, 60 * (uint64_t)SECOND),
                     "vkWaitForFences");
                vkResetFences(vk->device, 1, &fence);
            }
        }
        clock_gettime(CLOCK_MONOTONIC, &to);
        double seconds =
            (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
        printf("# %u submissions%s: %.0f per second\n", vk->count, waits ? ", each waited for" : "",
               vk->count / seconds);
    }
    check(vk, vk->words[0] == 1, "the marker of the submissions is written");
    vkDestroyFence(vk->device, fence, NULL);
}
