/* SPDX-License-Identifier: MIT
 * A Vulkan program whose checks only a command processor can answer: nothing is drawn on a virtual
 * GPU, but time stamps, markers, events, query results, predicates and indirect counts are the
 * firmware's work. On a device that executes nothing (`cpscope device --idle`) each check fails,
 * which shows that it depends on execution.
 *
 *   vulkan.c       the device, command buffers, the list of jobs, TAP
 *   vulkan_sync.c  jobs about memory and order: time stamps, events, semaphores, sparse memory
 *   vulkan_draw.c  jobs about draws, dispatches and queries
 *   vulkan_copy.c  jobs whose results are bytes
 *   spirv.h        shaders, which a virtual GPU compiles but does not run
 *
 * What only the trace shows is printed as "# trace REGISTER VALUE..." lines: the values that the
 * job's draws write to a register, in order; tests/device/vulkan.py compares. */
#ifndef TESTS_DEVICE_VULKAN_H
#define TESTS_DEVICE_VULKAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <vulkan/vulkan.h>

/* Functions of extensions. */
#define VULKAN_EXTENSIONS(FUNCTION)              \
    FUNCTION(CmdWriteBufferMarkerAMD)            \
    FUNCTION(CmdBeginConditionalRenderingEXT)    \
    FUNCTION(CmdEndConditionalRenderingEXT)      \
    FUNCTION(CmdBindTransformFeedbackBuffersEXT) \
    FUNCTION(CmdBeginTransformFeedbackEXT)       \
    FUNCTION(CmdEndTransformFeedbackEXT)         \
    FUNCTION(CmdDrawIndirectByteCountEXT)        \
    FUNCTION(GetCalibratedTimestampsEXT)         \
    FUNCTION(GetSemaphoreFdKHR)                  \
    FUNCTION(ImportSemaphoreFdKHR)               \
    FUNCTION(GetFenceFdKHR)                      \
    FUNCTION(ImportFenceFdKHR)

enum {
    WORDS = 1 << 14, /**< of the buffer that all jobs share */
    WIDTH = 2048,    /**< of the image that is rendered to: several tiles on each chip */
    HEIGHT = 1024,
    UNWRITTEN = 0x5a5a5a5a, /**< what words are before a job */
    SECOND = 1000000000,    /**< nanoseconds */
};

struct vulkan {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    VkCommandPool pool;
    VkBuffer buffer;
    VkDeviceMemory memory;
    volatile uint32_t *words; /**< of `buffer`, mapped and coherent */
    uint32_t memory_type;     /**< of host-visible, coherent memory */
    VkPhysicalDeviceFeatures features;
    bool conditional, feedback;
    VkImage image;
    VkImageView view;
    VkPipelineLayout layout;
    unsigned count;   /**< --count */
    uint64_t samples; /**< --samples: of each occlusion query */
    FILE *output;     /**< --output, or NULL */
    const char *job;
    unsigned checks, failures;
#define FUNCTION(name) PFN_vk##name name;
    VULKAN_EXTENSIONS(FUNCTION)
#undef FUNCTION
};

/** Prints one check of TAP. */
void check(struct vulkan *vk, bool good, const char *name);
/** Ends the program if a call fails whose failure is no finding: exit status 2. */
void need(VkResult result, const char *call);
/** A check that the chip has nothing for. */
void skip_check(struct vulkan *vk, const char *name, const char *why);

/** A logical device on the same GPU, with its own context, queue, pool and buffer; `instance` and
 * `physical` are those of @p like. */
void open_device(struct vulkan *vk);
void close_device(struct vulkan *vk);

/** A command buffer that records. */
VkCommandBuffer begin_commands(struct vulkan *vk);
/** Ends, submits and waits at most two seconds. @return VK_SUCCESS, VK_TIMEOUT or an error */
VkResult submit_commands(struct vulkan *vk, VkCommandBuffer cmd);
/** A marker: the firmware writes @p value to word @p slot after all work before it. */
void write_marker(struct vulkan *vk, VkCommandBuffer cmd, uint32_t slot, uint32_t value);
/** What is written before is visible to everything after it. */
void add_barrier(VkCommandBuffer cmd);
/** Whether a word becomes @p value within two seconds. */
bool wait_for_word(struct vulkan *vk, uint32_t slot, uint32_t value);
void sleep_milliseconds(unsigned milliseconds);
VkQueryPool create_queries(struct vulkan *vk, VkQueryType type, uint32_t count,
                           VkQueryPipelineStatisticFlags statistics);

/* vulkan_draw.c */
void job_draws(struct vulkan *vk);
void job_counts(struct vulkan *vk);
void job_tessellation(struct vulkan *vk);
void job_geometry(struct vulkan *vk);
void job_multiview(struct vulkan *vk);
void job_queries(struct vulkan *vk);
void job_conditional(struct vulkan *vk);
void job_feedback(struct vulkan *vk);
void job_compute(struct vulkan *vk);
void job_secondary(struct vulkan *vk);

/* vulkan_sync.c */
void job_timestamps(struct vulkan *vk);
void job_events(struct vulkan *vk);
void job_markers(struct vulkan *vk);
void job_transfer(struct vulkan *vk);
void job_sparse(struct vulkan *vk);
void job_timeline(struct vulkan *vk);
void job_syncfd(struct vulkan *vk);
void job_fences(struct vulkan *vk);
void job_empty(struct vulkan *vk);

/* vulkan_copy.c */
void job_copies(struct vulkan *vk);

#endif
