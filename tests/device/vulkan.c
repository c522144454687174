/* SPDX-License-Identifier: MIT
 * The program of vulkan.h: `vulkan [-j JOB]... [--count N] [--samples N] [--output FILE]`, TAP on
 * stdout. Status: 0 all checks are good, 1 some are not, 2 a call failed that no check is about. */
#include "vulkan.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct job {
    const char *name;
    void (*run)(struct vulkan *vk);
    bool by_name; /* only by name: it measures, or has a result of its own */
} jobs[] = {
    {"timestamps", job_timestamps, false},
    {"events", job_events, false},
    {"markers", job_markers, false},
    {"transfer", job_transfer, false},
    {"compute", job_compute, false},
    {"draws", job_draws, false},
    {"counts", job_counts, false},
    {"tessellation", job_tessellation, false},
    {"geometry", job_geometry, false},
    {"multiview", job_multiview, false},
    {"queries", job_queries, false},
    {"conditional", job_conditional, false},
    {"feedback", job_feedback, false},
    {"secondary", job_secondary, false},
    {"sparse", job_sparse, false},
    {"timeline", job_timeline, false},
    {"syncfd", job_syncfd, false},
    {"fences", job_fences, false},
    {"empty", job_empty, true},
    {"copies", job_copies, true},
};
enum { JOBS = sizeof(jobs) / sizeof(jobs[0]) };

/* ---- checks ---- */

void check(struct vulkan *vk, bool good, const char *name)
{
    vk->checks++;
    vk->failures += !good;
    printf("%sok %u - %s: %s\n", good ? "" : "not ", vk->checks, vk->job, name);
}

void skip_check(struct vulkan *vk, const char *name, const char *why)
{
    printf("ok %u - %s: %s # SKIP %s\n", ++vk->checks, vk->job, name, why);
}

void need(VkResult result, const char *call)
{
    if (result == VK_SUCCESS)
        return;
    printf("Bail out! %s: VkResult %d\n", call, (int)result);
    fflush(stdout);
    exit(2);
}

void sleep_milliseconds(unsigned milliseconds)
{
    const struct timespec time = {.tv_sec = milliseconds / 1000,
                                  .tv_nsec = (long)(milliseconds % 1000) * 1000000};
    nanosleep(&time, NULL);
}

bool wait_for_word(struct vulkan *vk, uint32_t slot, uint32_t value)
{
    for (unsigned i = 0; i < 2000 && vk->words[slot] != value; i++)
        sleep_milliseconds(1);
    return vk->words[slot] == value;
}

/* ---- the device ---- */

static void open_instance(struct vulkan *vk)
{
    const VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                   .pApplicationName = "cpscope-test",
                                   .apiVersion = VK_API_VERSION_1_3};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &app};
    uint32_t count = 1;
    need(vkCreateInstance(&info, NULL, &vk->instance), "vkCreateInstance");
    VkResult result = vkEnumeratePhysicalDevices(vk->instance, &count, &vk->physical);
    need(result == VK_INCOMPLETE ? VK_SUCCESS : result, "vkEnumeratePhysicalDevices");
    if (!count)
        need(VK_ERROR_INITIALIZATION_FAILED, "no Vulkan device");
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(vk->physical, &properties);
    printf("# %s, Vulkan %u.%u\n", properties.deviceName,
           VK_API_VERSION_MAJOR(properties.apiVersion),
           VK_API_VERSION_MINOR(properties.apiVersion));
}

static bool has_extension(const struct vulkan *vk, const char *name)
{
    uint32_t count = 0;
    bool found = false;
    need(vkEnumerateDeviceExtensionProperties(vk->physical, NULL, &count, NULL), "extensions");
    VkExtensionProperties *list = calloc(count + 1, sizeof(*list));
    if (!list)
        abort();
    vkEnumerateDeviceExtensionProperties(vk->physical, NULL, &count, list);
    for (uint32_t i = 0; i < count; i++)
        found |= !strcmp(list[i].extensionName, name);
    free(list);
    return found;
}

static uint32_t find_memory(const struct vulkan *vk)
{
    const VkMemoryPropertyFlags wanted =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkPhysicalDeviceMemoryProperties properties;
    vkGetPhysicalDeviceMemoryProperties(vk->physical, &properties);
    for (uint32_t i = 0; i < properties.memoryTypeCount; i++) {
        if ((properties.memoryTypes[i].propertyFlags & wanted) == wanted)
            return i;
    }
    need(VK_ERROR_FEATURE_NOT_PRESENT, "coherent memory");
    return 0;
}

static void create_device(struct vulkan *vk)
{
    static const char *const wanted[] = {
        "VK_AMD_buffer_marker",     "VK_EXT_conditional_rendering", "VK_EXT_transform_feedback",
        "VK_KHR_external_fence_fd", "VK_KHR_external_semaphore_fd", "VK_EXT_calibrated_timestamps"};
    const char *extensions[sizeof(wanted) / sizeof(wanted[0])];
    const float priority = 1;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    VkPhysicalDeviceVulkan13Features v13 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
    VkPhysicalDeviceVulkan12Features v12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, .pNext = &v13};
    VkPhysicalDeviceVulkan11Features v11 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, .pNext = &v12};
    VkPhysicalDeviceConditionalRenderingFeaturesEXT conditional = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_CONDITIONAL_RENDERING_FEATURES_EXT,
        .pNext = &v11};
    VkPhysicalDeviceTransformFeedbackFeaturesEXT feedback = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TRANSFORM_FEEDBACK_FEATURES_EXT,
        .pNext = &conditional};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = &feedback};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = &features,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue,
                               .ppEnabledExtensionNames = extensions};
    vkGetPhysicalDeviceFeatures2(vk->physical, &features);
    vk->features = features.features;
    vk->conditional = conditional.conditionalRendering;
    vk->feedback = feedback.transformFeedback;
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        if (has_extension(vk, wanted[i]))
            extensions[info.enabledExtensionCount++] = wanted[i];
    }
    need(vkCreateDevice(vk->physical, &info, NULL, &vk->device), "vkCreateDevice");
#define FUNCTION(name) \
    vk->name = (PFN_vk##name)(void (*)(void))vkGetDeviceProcAddr(vk->device, "vk" #name);
    VULKAN_EXTENSIONS(FUNCTION)
#undef FUNCTION
}

static void create_buffer(struct vulkan *vk)
{
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = WORDS * 4,
        .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                 VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT | VK_BUFFER_USAGE_INDEX_BUFFER_BIT |
                 (vk->conditional ? VK_BUFFER_USAGE_CONDITIONAL_RENDERING_BIT_EXT : 0u) |
                 (vk->feedback ? VK_BUFFER_USAGE_TRANSFORM_FEEDBACK_BUFFER_BIT_EXT |
                                     VK_BUFFER_USAGE_TRANSFORM_FEEDBACK_COUNTER_BUFFER_BIT_EXT
                               : 0u)};
    const VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                         .allocationSize = WORDS * 4,
                                         .memoryTypeIndex = vk->memory_type};
    void *data = NULL;
    need(vkCreateBuffer(vk->device, &info, NULL, &vk->buffer), "vkCreateBuffer");
    need(vkAllocateMemory(vk->device, &memory, NULL, &vk->memory), "vkAllocateMemory");
    need(vkBindBufferMemory(vk->device, vk->buffer, vk->memory, 0), "vkBindBufferMemory");
    need(vkMapMemory(vk->device, vk->memory, 0, VK_WHOLE_SIZE, 0, &data), "vkMapMemory");
    vk->words = data;
}

void open_device(struct vulkan *vk)
{
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    create_device(vk);
    vk->memory_type = find_memory(vk);
    vkGetDeviceQueue(vk->device, 0, 0, &vk->queue);
    need(vkCreateCommandPool(vk->device, &pool, NULL, &vk->pool), "vkCreateCommandPool");
    create_buffer(vk);
    for (size_t i = 0; i < WORDS; i++)
        vk->words[i] = UNWRITTEN;
}

void close_device(struct vulkan *vk)
{
    vkDeviceWaitIdle(vk->device);
    vkDestroyImageView(vk->device, vk->view, NULL);
    vkDestroyImage(vk->device, vk->image, NULL);
    vkDestroyPipelineLayout(vk->device, vk->layout, NULL);
    vkDestroyBuffer(vk->device, vk->buffer, NULL);
    vkFreeMemory(vk->device, vk->memory, NULL);
    vkDestroyCommandPool(vk->device, vk->pool, NULL);
    vkDestroyDevice(vk->device, NULL);
}

/* ---- commands ---- */

VkCommandBuffer begin_commands(struct vulkan *vk)
{
    const VkCommandBufferAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = vk->pool,
                                              .commandBufferCount = 1};
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT};
    VkCommandBuffer cmd = VK_NULL_HANDLE;
    need(vkAllocateCommandBuffers(vk->device, &info, &cmd), "vkAllocateCommandBuffers");
    need(vkBeginCommandBuffer(cmd, &begin), "vkBeginCommandBuffer");
    return cmd;
}

VkResult submit_commands(struct vulkan *vk, VkCommandBuffer cmd)
{
    const VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &cmd};
    VkFence fence = VK_NULL_HANDLE;
    need(vkEndCommandBuffer(cmd), "vkEndCommandBuffer");
    need(vkCreateFence(vk->device, &info, NULL, &fence), "vkCreateFence");
    VkResult result = vkQueueSubmit(vk->queue, 1, &submit, fence);
    if (result == VK_SUCCESS)
        result = vkWaitForFences(vk->device, 1, &fence, VK_TRUE, 2 * (uint64_t)SECOND);
    if (result != VK_TIMEOUT)
        vkDestroyFence(vk->device, fence, NULL);
    if (result != VK_SUCCESS)
        printf("# submission: VkResult %d\n", (int)result);
    return result;
}

void write_marker(struct vulkan *vk, VkCommandBuffer cmd, uint32_t slot, uint32_t value)
{
    vk->CmdWriteBufferMarkerAMD(cmd, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, vk->buffer, slot * 4,
                                value);
}

void add_barrier(VkCommandBuffer cmd)
{
    const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                                     .dstAccessMask =
                                         VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT};
    vkCmdPipelineBarrier(cmd, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                         VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 1, &barrier, 0, NULL, 0, NULL);
}

VkQueryPool create_queries(struct vulkan *vk, VkQueryType type, uint32_t count,
                           VkQueryPipelineStatisticFlags statistics)
{
    const VkQueryPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                        .queryType = type,
                                        .queryCount = count,
                                        .pipelineStatistics = statistics};
    VkQueryPool pool = VK_NULL_HANDLE;
    need(vkCreateQueryPool(vk->device, &info, NULL, &pool), "vkCreateQueryPool");
    return pool;
}

/* ---- the list ---- */

static void run_job(struct vulkan *vk, const struct job *job)
{
    vk->job = job->name;
    open_device(vk);
    job->run(vk);
    close_device(vk);
    vk->image = VK_NULL_HANDLE;
    vk->view = VK_NULL_HANDLE;
    vk->layout = VK_NULL_HANDLE;
    fflush(stdout);
}

static int usage(void)
{
    fputs("usage: vulkan [-j JOB]... [--count N] [--samples N] [--output FILE]\njobs:", stderr);
    for (size_t i = 0; i < JOBS; i++)
        fprintf(stderr, " %s", jobs[i].name);
    fputs("\n", stderr);
    return 2;
}

int main(int argc, char **argv)
{
    struct vulkan vk = {.count = 10000};
    bool chosen[JOBS] = {false};
    bool any = false;
    for (int i = 1; i < argc; i += 2) {
        size_t job = 0;
        if (i + 1 == argc)
            return usage();
        if (!strcmp(argv[i], "--count")) {
            vk.count = (unsigned)strtoul(argv[i + 1], NULL, 0);
        } else if (!strcmp(argv[i], "--output")) {
            vk.output = fopen(argv[i + 1], "wb");
        } else if (!strcmp(argv[i], "--samples")) {
            vk.samples = strtoull(argv[i + 1], NULL, 0);
        } else {
            while (job < JOBS && strcmp(argv[i + 1], jobs[job].name) != 0)
                job++;
            if (job == JOBS || strcmp(argv[i], "-j") != 0)
                return usage();
            chosen[job] = any = true;
        }
    }
    open_instance(&vk);
    for (size_t i = 0; i < JOBS; i++) {
        if (chosen[i] || (!any && !jobs[i].by_name))
            run_job(&vk, &jobs[i]);
    }
    printf("1..%u\n", vk.checks);
    if (vk.output && fclose(vk.output))
        need(VK_ERROR_UNKNOWN, "--output");
    vkDestroyInstance(vk.instance, NULL);
    return vk.failures != 0;
}
