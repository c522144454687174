/* SPDX-License-Identifier: MIT
 * Jobs about draws, dispatches and queries. */
#include "vulkan.h"

#include <string.h>

#include "spirv.h"

/* ---- pipelines ---- */

struct shader {
    VkShaderStageFlagBits stage;
    const uint32_t *code;
    size_t size;
};
#define SHADER(stage, code) ((struct shader){VK_SHADER_STAGE_##stage##_BIT, code, sizeof(code)})
enum { MAX_STAGES = 5 };

static VkPipelineLayout find_layout(struct vulkan *vk)
{
    const VkPipelineLayoutCreateInfo info = {.sType =
                                                 VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    if (!vk->layout)
        need(vkCreatePipelineLayout(vk->device, &info, NULL, &vk->layout),
             "vkCreatePipelineLayout");
    return vk->layout;
}

static VkPipelineShaderStageCreateInfo create_stage(struct vulkan *vk, struct shader shader)
{
    const VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                           .codeSize = shader.size,
                                           .pCode = shader.code};
    VkPipelineShaderStageCreateInfo stage = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
        .stage = shader.stage,
        .pName = "main"};
    need(vkCreateShaderModule(vk->device, &info, NULL, &stage.module), "vkCreateShaderModule");
    return stage;
}

static VkPipeline create_graphics(struct vulkan *vk, const struct shader *shaders, uint32_t count,
                                  uint32_t views)
{
    const VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;
    const VkViewport viewport = {0, 0, WIDTH, HEIGHT, 0, 1};
    const VkRect2D scissor = {{0, 0}, {WIDTH, HEIGHT}};
    const VkPipelineColorBlendAttachmentState attachment = {.colorWriteMask = 15};
    VkPipelineShaderStageCreateInfo stages[MAX_STAGES];
    VkPipeline pipeline = VK_NULL_HANDLE;
    bool patches = false;
    for (uint32_t i = 0; i < count; i++) {
        stages[i] = create_stage(vk, shaders[i]);
        patches |= shaders[i].stage == VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT;
    }
    const VkPipelineRenderingCreateInfo rendering = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
        .viewMask = views,
        .colorAttachmentCount = 1,
        .pColorAttachmentFormats = &format};
    const VkPipelineVertexInputStateCreateInfo input = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
    const VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology =
            patches ? VK_PRIMITIVE_TOPOLOGY_PATCH_LIST : VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST};
    const VkPipelineTessellationStateCreateInfo tessellation = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_TESSELLATION_STATE_CREATE_INFO,
        .patchControlPoints = 3};
    const VkPipelineViewportStateCreateInfo view = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .pViewports = &viewport,
        .scissorCount = 1,
        .pScissors = &scissor};
    const VkPipelineRasterizationStateCreateInfo raster = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO, .lineWidth = 1};
    const VkPipelineMultisampleStateCreateInfo samples = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT};
    const VkPipelineColorBlendStateCreateInfo blend = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &attachment};
    const VkGraphicsPipelineCreateInfo info = {.sType =
                                                   VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
                                               .pNext = &rendering,
                                               .stageCount = count,
                                               .pStages = stages,
                                               .pVertexInputState = &input,
                                               .pInputAssemblyState = &assembly,
                                               .pTessellationState = &tessellation,
                                               .pViewportState = &view,
                                               .pRasterizationState = &raster,
                                               .pMultisampleState = &samples,
                                               .pColorBlendState = &blend,
                                               .layout = find_layout(vk)};
    need(vkCreateGraphicsPipelines(vk->device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline),
         "vkCreateGraphicsPipelines");
    for (uint32_t i = 0; i < count; i++)
        vkDestroyShaderModule(vk->device, stages[i].module, NULL);
    return pipeline;
}

static VkPipeline create_compute(struct vulkan *vk)
{
    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = create_stage(vk, SHADER(COMPUTE, spirv_compute)),
        .layout = find_layout(vk)};
    VkPipeline pipeline = VK_NULL_HANDLE;
    need(vkCreateComputePipelines(vk->device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline),
         "vkCreateComputePipelines");
    vkDestroyShaderModule(vk->device, info.stage.module, NULL);
    return pipeline;
}

static VkPipeline create_plain(struct vulkan *vk)
{
    const struct shader shaders[] = {SHADER(VERTEX, spirv_vertex),
                                     SHADER(FRAGMENT, spirv_fragment)};
    return create_graphics(vk, shaders, 2, 0);
}

/* ---- rendering ---- */

enum { LAYERS = 3 };

static void create_image(struct vulkan *vk)
{
    const VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                    .imageType = VK_IMAGE_TYPE_2D,
                                    .format = VK_FORMAT_R8G8B8A8_UNORM,
                                    .extent = {WIDTH, HEIGHT, 1},
                                    .mipLevels = 1,
                                    .arrayLayers = LAYERS,
                                    .samples = VK_SAMPLE_COUNT_1_BIT,
                                    .usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT};
    VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                   .memoryTypeIndex = vk->memory_type};
    VkMemoryRequirements needs;
    VkDeviceMemory bytes = VK_NULL_HANDLE;
    need(vkCreateImage(vk->device, &info, NULL, &vk->image), "vkCreateImage");
    vkGetImageMemoryRequirements(vk->device, vk->image, &needs);
    memory.allocationSize = needs.size;
    need(vkAllocateMemory(vk->device, &memory, NULL, &bytes), "vkAllocateMemory (image)");
    need(vkBindImageMemory(vk->device, vk->image, bytes, 0), "vkBindImageMemory");
    const VkImageViewCreateInfo view = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = vk->image,
        .viewType = VK_IMAGE_VIEW_TYPE_2D_ARRAY,
        .format = info.format,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, LAYERS}};
    need(vkCreateImageView(vk->device, &view, NULL, &vk->view), "vkCreateImageView");
}

static void begin_rendering(struct vulkan *vk, VkCommandBuffer cmd, uint32_t views,
                            VkRenderingFlags flags)
{
    if (!vk->image)
        create_image(vk);
    const VkRenderingAttachmentInfo color = {.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
                                             .imageView = vk->view,
                                             .imageLayout = VK_IMAGE_LAYOUT_GENERAL,
                                             .loadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
                                             .storeOp = VK_ATTACHMENT_STORE_OP_STORE};
    const VkRenderingInfo info = {.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
                                  .flags = flags,
                                  .renderArea = {{0, 0}, {WIDTH, HEIGHT}},
                                  .layerCount = 1,
                                  .viewMask = views,
                                  .colorAttachmentCount = 1,
                                  .pColorAttachments = &color};
    vkCmdBeginRendering(cmd, &info);
}

/* What the trace must show of a job's draws: in this order, for each pass over them again. */
static void expect_instances(const uint32_t *counts, uint32_t count)
{
    printf("# trace PC_DRAWCALL_INSTANCE_NUM");
    for (uint32_t i = 0; i < count; i++)
        printf(" %u", counts[i]);
    printf("\n");
}

/* One pass with three draws of a pipeline, and a time stamp in it if there is a pool; a marker
 * after it. */
static void draw_three(struct vulkan *vk, VkPipeline pipeline, uint32_t views, VkQueryPool pool)
{
    static const uint32_t instances[] = {3, 1, 2};
    VkCommandBuffer cmd = begin_commands(vk);
    if (pool)
        vkCmdResetQueryPool(cmd, pool, 0, LAYERS);
    begin_rendering(vk, cmd, views, 0);
    vkCmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    for (size_t i = 0; i < 3; i++)
        vkCmdDraw(cmd, 3, instances[i], 0, 0);
    if (pool)
        vkCmdWriteTimestamp(cmd, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool, 0);
    vkCmdEndRendering(cmd);
    write_marker(vk, cmd, 0, 31);
    VkResult result = submit_commands(vk, cmd);
    expect_instances(instances, 3);
    check(vk, result == VK_SUCCESS && vk->words[0] == 31, "the stream goes on after its draws");
    vkDestroyPipeline(vk->device, pipeline, NULL);
}

void job_draws(struct vulkan *vk)
{
    draw_three(vk, create_plain(vk), 0, VK_NULL_HANDLE);
}

void job_tessellation(struct vulkan *vk)
{
    const struct shader shaders[] = {
        SHADER(VERTEX, spirv_vertex), SHADER(TESSELLATION_CONTROL, spirv_control),
        SHADER(TESSELLATION_EVALUATION, spirv_evaluation), SHADER(FRAGMENT, spirv_fragment)};
    if (vk->features.tessellationShader)
        draw_three(vk, create_graphics(vk, shaders, 4, 0), 0, VK_NULL_HANDLE);
    else
        skip_check(vk, "the stream goes on after its draws", "no tessellation");
}

void job_geometry(struct vulkan *vk)
{
    const struct shader shaders[] = {SHADER(VERTEX, spirv_vertex), SHADER(GEOMETRY, spirv_geometry),
                                     SHADER(FRAGMENT, spirv_fragment)};
    if (vk->features.geometryShader)
        draw_three(vk, create_graphics(vk, shaders, 3, 0), 0, VK_NULL_HANDLE);
    else
        skip_check(vk, "the stream goes on after its draws", "no geometry shaders");
}

/* In a pass of several views a query uses one result for each; the others are available, too. */
void job_multiview(struct vulkan *vk)
{
    const struct shader shaders[] = {SHADER(VERTEX, spirv_vertex),
                                     SHADER(FRAGMENT, spirv_fragment)};
    const uint32_t views = (1u << LAYERS) - 1;
    uint64_t stamps[LAYERS] = {0};
    VkQueryPool pool = create_queries(vk, VK_QUERY_TYPE_TIMESTAMP, LAYERS, 0);
    draw_three(vk, create_graphics(vk, shaders, 2, views), views, pool);
    check(vk,
          vkGetQueryPoolResults(vk->device, pool, 0, LAYERS, sizeof(stamps), stamps, 8,
                                VK_QUERY_RESULT_64_BIT) == VK_SUCCESS,
          "a time stamp of three views has three results");
    vkDestroyQueryPool(vk->device, pool, NULL);
}

/* ---- indirect draws ---- */

static void put_draw(struct vulkan *vk, uint32_t at, uint32_t instances, bool indexed)
{
    const uint32_t words[] = {3, instances, 0, 0, 0};
    for (uint32_t i = 0; i < (indexed ? 5u : 4u); i++)
        vk->words[at + i] = words[i];
}

/* Draws that the firmware reads from memory, whose number is in memory as well. */
void job_counts(struct vulkan *vk)
{
    enum { DRAWS = 64, INDEXED = 128, COUNT = 256, INDICES = 512, WRITTEN = 600 };
    static const uint32_t expected[] = {3, 1, 1, 2, 4, 5, 1, 2, 3, 4, 5, 6, 9};
    VkPipeline pipeline = create_plain(vk);
    VkCommandBuffer cmd = begin_commands(vk);
    for (uint32_t i = 0; i < 4; i++) {
        put_draw(vk, DRAWS + 4 * i, i + 1, false);
        put_draw(vk, INDEXED + 5 * i, i + 4, true);
    }
    vk->words[COUNT] = 3;
    vk->words[COUNT + 1] = 0;
    put_draw(vk, WRITTEN, 8, false);
    /* The GPU writes a draw's number of instances, and a count, itself. */
    write_marker(vk, cmd, WRITTEN + 1, 9);
    write_marker(vk, cmd, COUNT + 2, 3);
    add_barrier(cmd);
    vkCmdBindIndexBuffer(cmd, vk->buffer, INDICES * 4, VK_INDEX_TYPE_UINT16);
    begin_rendering(vk, cmd, 0, 0);
    vkCmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    vkCmdDraw(cmd, 3, 3, 0, 0);
    vkCmdDrawIndexed(cmd, 3, 1, 0, 0, 0);
    vkCmdDrawIndirect(cmd, vk->buffer, DRAWS * 4, 2, 16);
    vkCmdDrawIndexedIndirect(cmd, vk->buffer, INDEXED * 4, 2, 20);
    vkCmdDrawIndirectCount(cmd, vk->buffer, DRAWS * 4, vk->buffer, COUNT * 4, 4, 16);
    vkCmdDrawIndexedIndirectCount(cmd, vk->buffer, INDEXED * 4, vk->buffer, (COUNT + 2) * 4, 3, 20);
    vkCmdDrawIndirectCount(cmd, vk->buffer, DRAWS * 4, vk->buffer, (COUNT + 1) * 4, 4, 16);
    vkCmdDrawIndirect(cmd, vk->buffer, WRITTEN * 4, 1, 16);
    vkCmdEndRendering(cmd);
    write_marker(vk, cmd, 0, 41);
    VkResult result = submit_commands(vk, cmd);
    expect_instances(expected, sizeof(expected) / sizeof(expected[0]));
    check(vk, result == VK_SUCCESS && vk->words[0] == 41,
          "the stream goes on after indirect draws");
    check(vk, vk->words[WRITTEN + 1] == 9, "a draw's record is written by the GPU");
    vkDestroyPipeline(vk->device, pipeline, NULL);
}

/* ---- conditional rendering ---- */

/* 36 draws, of which 18 happen: those between predicates that hold. */
void job_conditional(struct vulkan *vk)
{
    enum { PREDICATE = 32, DRAWS = 36 };
    uint32_t expected[DRAWS];
    uint32_t survivors = 0;
    if (!vk->conditional) {
        skip_check(vk, "the stream goes on after predicates", "no conditional rendering");
        return;
    }
    VkPipeline pipeline = create_plain(vk);
    VkCommandBuffer cmd = begin_commands(vk);
    /* 0 and 1 by the host, 2 and 3 by the GPU. */
    for (uint32_t i = 0; i < 4; i++)
        vk->words[PREDICATE + i] = i == 0 || i == 3 ? 0 : 7;
    write_marker(vk, cmd, PREDICATE + 2, 0);
    write_marker(vk, cmd, PREDICATE + 3, 1);
    add_barrier(cmd);
    begin_rendering(vk, cmd, 0, 0);
    vkCmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    for (uint32_t i = 0; i < DRAWS; i++) {
        const VkConditionalRenderingBeginInfoEXT begin = {
            .sType = VK_STRUCTURE_TYPE_CONDITIONAL_RENDERING_BEGIN_INFO_EXT,
            .buffer = vk->buffer,
            .offset = (PREDICATE + i % 4) * 4,
            .flags = i / 4 % 2 ? VK_CONDITIONAL_RENDERING_INVERTED_BIT_EXT : 0};
        bool holds = (i % 4 == 1 || i % 4 == 3) != (i / 4 % 2);
        vk->CmdBeginConditionalRenderingEXT(cmd, &begin);
        vkCmdDraw(cmd, 3, i + 1, 0, 0);
        vk->CmdEndConditionalRenderingEXT(cmd);
        if (holds)
            expected[survivors++] = i + 1;
    }
    vkCmdEndRendering(cmd);
    write_marker(vk, cmd, 0, 42);
    VkResult result = submit_commands(vk, cmd);
    expect_instances(expected, survivors);
    check(vk, result == VK_SUCCESS && vk->words[0] == 42 && survivors == 18,
          "the stream goes on after predicates");
    vkDestroyPipeline(vk->device, pipeline, NULL);
}

/* ---- transform feedback ---- */

void job_feedback(struct vulkan *vk)
{
    enum { COUNTER = 16, BYTES = 17, TARGET = 4096 };
    static const uint32_t instances[] = {1, 1, 1};
    const struct shader shaders[] = {SHADER(VERTEX, spirv_feedback),
                                     SHADER(FRAGMENT, spirv_fragment)};
    const VkDeviceSize offset = TARGET;
    const VkDeviceSize size = 4096;
    const VkDeviceSize counter = COUNTER * 4;
    if (!vk->feedback) {
        skip_check(vk, "the firmware stores the counter", "no transform feedback");
        return;
    }
    VkPipeline pipeline = create_graphics(vk, shaders, 2, 0);
    VkQueryPool pool = create_queries(vk, VK_QUERY_TYPE_TRANSFORM_FEEDBACK_STREAM_EXT, 1, 0);
    uint64_t result[2] = {~UINT64_C(0), ~UINT64_C(0)};
    VkCommandBuffer cmd = begin_commands(vk);
    vkCmdResetQueryPool(cmd, pool, 0, 1);
    write_marker(vk, cmd, BYTES, 48); /* three vertices */
    add_barrier(cmd);
    begin_rendering(vk, cmd, 0, 0);
    vkCmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    vk->CmdBindTransformFeedbackBuffersEXT(cmd, 0, 1, &vk->buffer, &offset, &size);
    vkCmdBeginQuery(cmd, pool, 0, 0);
    for (int resumed = 0; resumed < 2; resumed++) {
        vk->CmdBeginTransformFeedbackEXT(cmd, 0, resumed ? 1 : 0, &vk->buffer, &counter);
        vkCmdDraw(cmd, 3, 1, 0, 0);
        vk->CmdEndTransformFeedbackEXT(cmd, 0, 1, &vk->buffer, &counter);
    }
    vkCmdEndQuery(cmd, pool, 0);
    vk->CmdDrawIndirectByteCountEXT(cmd, 1, 0, vk->buffer, BYTES * 4, 0, 16);
    vkCmdEndRendering(cmd);
    write_marker(vk, cmd, 0, 43);
    VkResult ended = submit_commands(vk, cmd);
    expect_instances(instances, 3);
    check(vk, vk->words[COUNTER] == 0, "the firmware stores the counter: no vertex was written");
    check(vk,
          vkGetQueryPoolResults(vk->device, pool, 0, 1, sizeof(result), result, 16,
                                VK_QUERY_RESULT_64_BIT) == VK_SUCCESS &&
              !result[0] && !result[1],
          "its query counts nothing");
    check(vk, ended == VK_SUCCESS && vk->words[0] == 43, "the stream goes on");
    vkDestroyQueryPool(vk->device, pool, NULL);
    vkDestroyPipeline(vk->device, pipeline, NULL);
}

/* ---- queries ---- */

static bool is_available(struct vulkan *vk, VkQueryPool pool, uint32_t query)
{
    uint64_t result[12] = {0};
    return vkGetQueryPoolResults(vk->device, pool, query, 1, sizeof(result), result, sizeof(result),
                                 VK_QUERY_RESULT_64_BIT) == VK_SUCCESS;
}

static void check_occlusion(struct vulkan *vk, VkPipeline pipeline)
{
    enum { COPY = 1024, QUERIES = 4 };
    uint64_t result[QUERIES];
    memset(result, 0xff, sizeof(result));
    VkQueryPool pool = create_queries(vk, VK_QUERY_TYPE_OCCLUSION, QUERIES, 0);
    VkCommandBuffer cmd = begin_commands(vk);
    vkCmdResetQueryPool(cmd, pool, 0, QUERIES);
    begin_rendering(vk, cmd, 0, 0);
    vkCmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    for (uint32_t i = 0; i + 1 < QUERIES; i++) { /* the last one stays unavailable */
        vkCmdBeginQuery(cmd, pool, i, VK_QUERY_CONTROL_PRECISE_BIT);
        vkCmdDraw(cmd, 3, 1, 0, 0);
        vkCmdEndQuery(cmd, pool, i);
    }
    vkCmdEndRendering(cmd);
    add_barrier(cmd);
    vkCmdCopyQueryPoolResults(cmd, pool, 0, QUERIES, vk->buffer, COPY * 4, 16,
                              VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT);
    submit_commands(vk, cmd);
    bool there = true;
    bool right = true;
    bool copied = true;
    for (uint32_t i = 0; i + 1 < QUERIES; i++) {
        const volatile uint32_t *copy = vk->words + COPY + 4 * i;
        there &= vkGetQueryPoolResults(vk->device, pool, i, 1, 8, &result[i], 8,
                                       VK_QUERY_RESULT_64_BIT) == VK_SUCCESS;
        right &= result[i] == vk->samples;
        copied &= (copy[0] | (uint64_t)copy[1] << 32) == result[i] && copy[2] == 1;
    }
    const volatile uint32_t *last = vk->words + COPY + 4 * (QUERIES - 1);
    check(vk, there, "occlusion queries are available");
    if (there && !right)
        printf("# sample counts %llu %llu %llu, expected %llu\n", (unsigned long long)result[0],
               (unsigned long long)result[1], (unsigned long long)result[2],
               (unsigned long long)vk->samples);
    check(vk, there && right, "they count the samples that the device gives");
    check(vk, there && copied, "the GPU copies values and availability");
    check(vk, there && last[0] == UNWRITTEN && last[2] == 0,
          "of a query that is not available it copies only that");
    cmd = begin_commands(vk);
    vkCmdResetQueryPool(cmd, pool, 1, 1);
    submit_commands(vk, cmd);
    check(vk, there && is_available(vk, pool, 0) && !is_available(vk, pool, 1),
          "after a reset by the GPU a query is not available");
    vkDestroyQueryPool(vk->device, pool, NULL);
}

void job_queries(struct vulkan *vk)
{
    enum { STATISTICS = 8 };
    const VkQueryPipelineStatisticFlags wanted = 0xff;
    uint64_t result[STATISTICS];
    bool zero = true;
    VkPipeline pipeline = create_plain(vk);
    check_occlusion(vk, pipeline);
    if (!vk->features.pipelineStatisticsQuery) {
        skip_check(vk, "statistics are available", "no pipeline statistics");
        return;
    }
    VkQueryPool pool = create_queries(vk, VK_QUERY_TYPE_PIPELINE_STATISTICS, 1, wanted);
    VkCommandBuffer cmd = begin_commands(vk);
    vkCmdResetQueryPool(cmd, pool, 0, 1);
    vkCmdBeginQuery(cmd, pool, 0, 0);
    begin_rendering(vk, cmd, 0, 0);
    vkCmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    vkCmdDraw(cmd, 3, 1, 0, 0);
    vkCmdEndRendering(cmd);
    vkCmdEndQuery(cmd, pool, 0);
    submit_commands(vk, cmd);
    memset(result, 0xff, sizeof(result));
    bool there = vkGetQueryPoolResults(vk->device, pool, 0, 1, sizeof(result), result,
                                       sizeof(result), VK_QUERY_RESULT_64_BIT) == VK_SUCCESS;
    for (size_t i = 0; i < STATISTICS; i++)
        zero &= result[i] == 0;
    check(vk, there, "statistics are available");
    check(vk, there && zero, "they count nothing: no shader ran");
    vkDestroyQueryPool(vk->device, pool, NULL);
    vkDestroyPipeline(vk->device, pipeline, NULL);
}

/* ---- compute ---- */

void job_compute(struct vulkan *vk)
{
    enum { GROUPS = 64 };
    uint64_t result = ~UINT64_C(0);
    VkPipeline pipeline = create_compute(vk);
    VkQueryPool pool = create_queries(vk, VK_QUERY_TYPE_PIPELINE_STATISTICS, 1,
                                      VK_QUERY_PIPELINE_STATISTIC_COMPUTE_SHADER_INVOCATIONS_BIT);
    for (uint32_t i = 0; i < 3; i++)
        vk->words[GROUPS + i] = i + 2;
    VkCommandBuffer cmd = begin_commands(vk);
    vkCmdResetQueryPool(cmd, pool, 0, 1);
    vkCmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdBeginQuery(cmd, pool, 0, 0);
    vkCmdDispatch(cmd, 4, 5, 6);
    vkCmdDispatchIndirect(cmd, vk->buffer, GROUPS * 4);
    vkCmdEndQuery(cmd, pool, 0);
    add_barrier(cmd);
    write_marker(vk, cmd, 0, 35);
    submit_commands(vk, cmd);
    bool there = vkGetQueryPoolResults(vk->device, pool, 0, 1, sizeof(result), &result,
                                       sizeof(result), VK_QUERY_RESULT_64_BIT) == VK_SUCCESS;
    check(vk, there && result == 0, "its statistics are available and count nothing");
    check(vk, vk->words[0] == 35, "the stream goes on after dispatches");
    vkDestroyQueryPool(vk->device, pool, NULL);
    vkDestroyPipeline(vk->device, pipeline, NULL);
}

/* ---- secondary command buffers ---- */

static VkCommandBuffer begin_secondary(struct vulkan *vk, bool inside)
{
    const VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;
    const VkCommandBufferInheritanceRenderingInfo rendering = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_RENDERING_INFO,
        .colorAttachmentCount = 1,
        .pColorAttachmentFormats = &format,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT};
    const VkCommandBufferInheritanceInfo inherited = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO,
        .pNext = inside ? &rendering : NULL};
    const VkCommandBufferAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = vk->pool,
                                              .level = VK_COMMAND_BUFFER_LEVEL_SECONDARY,
                                              .commandBufferCount = 1};
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT |
                 (inside ? VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT : 0u),
        .pInheritanceInfo = &inherited};
    VkCommandBuffer cmd = VK_NULL_HANDLE;
    need(vkAllocateCommandBuffers(vk->device, &info, &cmd), "vkAllocateCommandBuffers");
    need(vkBeginCommandBuffer(cmd, &begin), "vkBeginCommandBuffer");
    return cmd;
}

void job_secondary(struct vulkan *vk)
{
    static const uint32_t instances[] = {5, 6, 5, 6};
    VkPipeline pipeline = create_plain(vk);
    VkCommandBuffer markers = begin_secondary(vk, false);
    write_marker(vk, markers, 1, 72);
    write_marker(vk, markers, 2, 73);
    need(vkEndCommandBuffer(markers), "vkEndCommandBuffer");
    VkCommandBuffer draws = begin_secondary(vk, true);
    vkCmdBindPipeline(draws, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    vkCmdDraw(draws, 3, 5, 0, 0);
    vkCmdDraw(draws, 3, 6, 0, 0);
    need(vkEndCommandBuffer(draws), "vkEndCommandBuffer");
    VkCommandBuffer cmd = begin_commands(vk);
    write_marker(vk, cmd, 2, 71);
    vkCmdExecuteCommands(cmd, 1, &markers);
    write_marker(vk, cmd, 1, 74);
    begin_rendering(vk, cmd, 0, VK_RENDERING_CONTENTS_SECONDARY_COMMAND_BUFFERS_BIT);
    vkCmdExecuteCommands(cmd, 1, &draws);
    vkCmdExecuteCommands(cmd, 1, &draws);
    vkCmdEndRendering(cmd);
    write_marker(vk, cmd, 3, 75);
    submit_commands(vk, cmd);
    expect_instances(instances, 4);
    check(vk, vk->words[2] == 73, "a secondary buffer runs after what came before it");
    check(vk, vk->words[1] == 74, "and before what comes after it");
    check(vk, vk->words[3] == 75, "the stream goes on after secondary draws");
    vkDestroyPipeline(vk->device, pipeline, NULL);
}
