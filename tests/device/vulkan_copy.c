/* SPDX-License-Identifier: MIT
 * Jobs that only transfer, whose results are bytes: another Vulkan driver must give the same ones.
 * Images are linear. Each result goes to the file of --output, as a line "NAME BYTES" and the
 * bytes, without what is between rows. */
#include "vulkan.h"

#include <stdlib.h>
#include <string.h>

enum { COPY_WIDTH = 67, COPY_HEIGHT = 35, ROOM = 1 << 19 };

/** Where what is copied lies. */
struct memory {
    VkDeviceMemory memory;
    uint8_t *data;
};
struct bytes {
    VkBuffer buffer;
    struct memory memory;
};
struct picture {
    VkImage image;
    struct memory memory;
    VkSubresourceLayout layout;
    uint32_t texel; /* bytes */
};

static const struct kind {
    VkFormat format;
    uint32_t bytes;
    enum { NUMBER, FLOAT, INTEGER } type;
    const char *name;
} kinds[] = {
    {VK_FORMAT_R8_UNORM, 1, NUMBER, "r8"},
    {VK_FORMAT_R8_UINT, 1, INTEGER, "r8ui"},
    {VK_FORMAT_R8G8_UNORM, 2, NUMBER, "rg8"},
    {VK_FORMAT_R5G6B5_UNORM_PACK16, 2, NUMBER, "565"},
    {VK_FORMAT_R16_UNORM, 2, NUMBER, "r16"},
    {VK_FORMAT_R16_SFLOAT, 2, FLOAT, "r16f"},
    {VK_FORMAT_R8G8B8A8_UNORM, 4, NUMBER, "rgba8"},
    {VK_FORMAT_B8G8R8A8_UNORM, 4, NUMBER, "bgra8"},
    {VK_FORMAT_R8G8B8A8_SRGB, 4, NUMBER, "srgb8"},
    {VK_FORMAT_R8G8B8A8_SNORM, 4, NUMBER, "rgba8s"},
    {VK_FORMAT_R8G8B8A8_UINT, 4, INTEGER, "rgba8ui"},
    {VK_FORMAT_A2B10G10R10_UNORM_PACK32, 4, NUMBER, "1010102"},
    {VK_FORMAT_R16G16_SFLOAT, 4, FLOAT, "rg16f"},
    {VK_FORMAT_R32_UINT, 4, INTEGER, "r32ui"},
    {VK_FORMAT_R32_SFLOAT, 4, FLOAT, "r32f"},
    {VK_FORMAT_R16G16B16A16_UNORM, 8, NUMBER, "rgba16"},
    {VK_FORMAT_R16G16B16A16_SFLOAT, 8, FLOAT, "rgba16f"},
    {VK_FORMAT_R32G32_SINT, 8, INTEGER, "rg32i"},
    {VK_FORMAT_R32G32B32A32_SFLOAT, 16, FLOAT, "rgba32f"},
    {VK_FORMAT_R32G32B32A32_UINT, 16, INTEGER, "rgba32ui"},
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* ---- what is copied ---- */

static struct memory allocate(struct vulkan *vk, const VkMemoryRequirements *needs)
{
    const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                       .allocationSize = needs->size,
                                       .memoryTypeIndex = vk->memory_type};
    struct memory memory = {0};
    void *data = NULL;
    need(vkAllocateMemory(vk->device, &info, NULL, &memory.memory), "vkAllocateMemory");
    need(vkMapMemory(vk->device, memory.memory, 0, VK_WHOLE_SIZE, 0, &data), "vkMapMemory");
    memory.data = data;
    return memory;
}

/* Bytes that look random, the same on every run. */
static void scatter(uint8_t *data, size_t size, uint32_t seed)
{
    for (size_t i = 0; i < size; i++) {
        seed = seed * 1664525 + 1013904223;
        data[i] = (uint8_t)(seed >> 24);
    }
}

static struct bytes make_bytes(struct vulkan *vk, uint32_t seed)
{
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = ROOM,
                                     .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                              VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    struct bytes bytes = {0};
    VkMemoryRequirements needs;
    need(vkCreateBuffer(vk->device, &info, NULL, &bytes.buffer), "vkCreateBuffer");
    vkGetBufferMemoryRequirements(vk->device, bytes.buffer, &needs);
    bytes.memory = allocate(vk, &needs);
    need(vkBindBufferMemory(vk->device, bytes.buffer, bytes.memory.memory, 0), "bind");
    scatter(bytes.memory.data, ROOM, seed);
    return bytes;
}

static VkImageCreateInfo image_info(const struct kind *kind)
{
    return (VkImageCreateInfo){.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                               .imageType = VK_IMAGE_TYPE_2D,
                               .format = kind->format,
                               .extent = {COPY_WIDTH, COPY_HEIGHT, 1},
                               .mipLevels = 1,
                               .arrayLayers = 1,
                               .samples = VK_SAMPLE_COUNT_1_BIT,
                               .tiling = VK_IMAGE_TILING_LINEAR,
                               .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                                        VK_IMAGE_USAGE_TRANSFER_DST_BIT};
}

/* Whether linear images of it can be copied, and blitted if @p features says so. */
static bool has_kind(struct vulkan *vk, const struct kind *kind, VkFormatFeatureFlags features)
{
    const VkImageCreateInfo info = image_info(kind);
    VkImageFormatProperties image;
    VkFormatProperties format;
    vkGetPhysicalDeviceFormatProperties(vk->physical, kind->format, &format);
    return (format.linearTilingFeatures & features) == features &&
           vkGetPhysicalDeviceImageFormatProperties(vk->physical, info.format, info.imageType,
                                                    info.tiling, info.usage, 0,
                                                    &image) == VK_SUCCESS;
}

static void move_to_general(struct vulkan *vk, VkImage image)
{
    const VkImageMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .newLayout = VK_IMAGE_LAYOUT_GENERAL,
        .image = image,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    VkCommandBuffer cmd = begin_commands(vk);
    vkCmdPipelineBarrier(cmd, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                         VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 1, &barrier);
    submit_commands(vk, cmd);
}

/* An image whose texels look random: @p seed. */
static struct picture make_picture(struct vulkan *vk, const struct kind *kind, uint32_t seed)
{
    const VkImageCreateInfo info = image_info(kind);
    const VkImageSubresource whole = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0};
    struct picture picture = {.texel = kind->bytes};
    VkMemoryRequirements needs;
    need(vkCreateImage(vk->device, &info, NULL, &picture.image), "vkCreateImage");
    vkGetImageMemoryRequirements(vk->device, picture.image, &needs);
    picture.memory = allocate(vk, &needs);
    need(vkBindImageMemory(vk->device, picture.image, picture.memory.memory, 0), "bind");
    vkGetImageSubresourceLayout(vk->device, picture.image, &whole, &picture.layout);
    move_to_general(vk, picture.image);
    for (uint32_t y = 0; y < COPY_HEIGHT; y++) {
        uint8_t *row = picture.memory.data + picture.layout.offset + y * picture.layout.rowPitch;
        scatter(row, COPY_WIDTH * (size_t)kind->bytes, seed + y);
        /* Floats below 2: a driver may change the bits of a NaN. */
        for (uint32_t i = 0; kind->type == FLOAT && i < COPY_WIDTH * kind->bytes; i++)
            row[i] &= 0xbf;
    }
    return picture;
}

static void drop_bytes(struct vulkan *vk, struct bytes *bytes)
{
    vkDestroyBuffer(vk->device, bytes->buffer, NULL);
    vkFreeMemory(vk->device, bytes->memory.memory, NULL);
}

static void drop_picture(struct vulkan *vk, struct picture *picture)
{
    vkDestroyImage(vk->device, picture->image, NULL);
    vkFreeMemory(vk->device, picture->memory.memory, NULL);
}

/* ---- results ---- */

static void put_head(struct vulkan *vk, const char *what, const char *of, size_t size)
{
    if (vk->output)
        fprintf(vk->output, "%s%s%s %zu\n", what, *of ? "-" : "", of, size);
}

static void put_data(struct vulkan *vk, const uint8_t *data, size_t size)
{
    if (vk->output && fwrite(data, 1, size, vk->output) != size)
        need(VK_ERROR_UNKNOWN, "--output");
}

static void put_bytes(struct vulkan *vk, const char *what, const char *of,
                      const struct bytes *bytes)
{
    put_head(vk, what, of, ROOM);
    put_data(vk, bytes->memory.data, ROOM);
}

static void put_picture(struct vulkan *vk, const char *what, const char *of,
                        const struct picture *picture)
{
    const size_t row = COPY_WIDTH * (size_t)picture->texel;
    put_head(vk, what, of, row * COPY_HEIGHT);
    for (uint32_t y = 0; y < COPY_HEIGHT; y++)
        put_data(vk, picture->memory.data + picture->layout.offset + y * picture->layout.rowPitch,
                 row);
}

/* ---- copies and clears ---- */

static void copy_buffers(struct vulkan *vk)
{
    static const VkBufferCopy copies[] = {{1, 7, 1001},         {4096, 2048, 4},
                                          {8, 300000, 65540},   {100001, 4099, 200003},
                                          {262144, 210000, 16}, {300012, 400000, 100000}};
    uint8_t update[100];
    struct bytes from = make_bytes(vk, 1);
    struct bytes to = make_bytes(vk, 2);
    VkCommandBuffer cmd = begin_commands(vk);
    scatter(update, sizeof(update), 3);
    vkCmdCopyBuffer(cmd, from.buffer, to.buffer, sizeof(copies) / sizeof(copies[0]), copies);
    add_barrier(cmd);
    vkCmdUpdateBuffer(cmd, to.buffer, 20, sizeof(update), update);
    vkCmdFillBuffer(cmd, to.buffer, 1024, 12, 0x01020304);
    vkCmdFillBuffer(cmd, to.buffer, 220000, 70004, 0xdeadbeef);
    add_barrier(cmd);
    submit_commands(vk, cmd);
    put_bytes(vk, "buffer", "", &to);
    cmd = begin_commands(vk);
    vkCmdFillBuffer(cmd, to.buffer, 0, VK_WHOLE_SIZE, 0xcafef00d);
    submit_commands(vk, cmd);
    put_bytes(vk, "filled", "", &to);
    drop_bytes(vk, &from);
    drop_bytes(vk, &to);
}

static void clear_picture(VkCommandBuffer cmd, const struct picture *picture, bool whole)
{
    const VkImageSubresourceRange range = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    const VkClearColorValue colour = whole ? (VkClearColorValue){.uint32 = {7, 77, 111, 3}}
                                           : (VkClearColorValue){.float32 = {0.2f, 0.4f, 0.69f, 1}};
    vkCmdClearColorImage(cmd, picture->image, VK_IMAGE_LAYOUT_GENERAL, &colour, 1, &range);
}

static void copy_pictures(struct vulkan *vk, const struct kind *kind)
{
    const VkImageSubresourceLayers layers = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    const VkBufferImageCopy upload = {.bufferOffset = 16 * kind->bytes,
                                      .bufferRowLength = 80,
                                      .imageSubresource = layers,
                                      .imageOffset = {3, 5, 0},
                                      .imageExtent = {41, 20, 1}};
    const VkBufferImageCopy download = {.bufferOffset = 1024 + kind->bytes,
                                        .bufferRowLength = 69,
                                        .imageSubresource = layers,
                                        .imageExtent = {COPY_WIDTH, COPY_HEIGHT, 1}};
    const VkImageCopy copy = {.srcSubresource = layers,
                              .srcOffset = {1, 2, 0},
                              .dstSubresource = layers,
                              .dstOffset = {17, 9, 0},
                              .extent = {45, 24, 1}};
    struct bytes bytes = make_bytes(vk, 4);
    struct picture one = make_picture(vk, kind, 5);
    struct picture other = make_picture(vk, kind, 6);
    VkCommandBuffer cmd = begin_commands(vk);
    clear_picture(cmd, &one, kind->type == INTEGER);
    submit_commands(vk, cmd);
    put_picture(vk, "clear", kind->name, &one);
    cmd = begin_commands(vk);
    vkCmdCopyBufferToImage(cmd, bytes.buffer, one.image, VK_IMAGE_LAYOUT_GENERAL, 1, &upload);
    add_barrier(cmd);
    vkCmdCopyImage(cmd, one.image, VK_IMAGE_LAYOUT_GENERAL, other.image, VK_IMAGE_LAYOUT_GENERAL, 1,
                   &copy);
    add_barrier(cmd);
    vkCmdCopyImageToBuffer(cmd, other.image, VK_IMAGE_LAYOUT_GENERAL, bytes.buffer, 1, &download);
    submit_commands(vk, cmd);
    put_picture(vk, "upload", kind->name, &one);
    put_picture(vk, "copy", kind->name, &other);
    put_bytes(vk, "download", kind->name, &bytes);
    drop_bytes(vk, &bytes);
    drop_picture(vk, &one);
    drop_picture(vk, &other);
}

/* ---- blits ---- */

static const struct kind *kind_of(const char *name)
{
    size_t i = 0;
    while (strcmp(kinds[i].name, name) != 0)
        i++;
    return &kinds[i];
}

static void blit_pictures(struct vulkan *vk, const char *from, const char *to, const char *what,
                          unsigned flips)
{
    enum { X0 = 2, X1 = 52, Y0 = 3, Y1 = 31 };
    const VkImageSubresourceLayers layers = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    const VkOffset3D low = {flips & 1 ? X1 : X0, flips & 2 ? Y1 : Y0, 0};
    const VkOffset3D high = {flips & 1 ? X0 : X1, flips & 2 ? Y0 : Y1, 1};
    const VkImageBlit blit = {.srcSubresource = layers,
                              .srcOffsets = {{X0, Y0, 0}, {X1, Y1, 1}},
                              .dstSubresource = layers,
                              .dstOffsets = {low, high}};
    if (!has_kind(vk, kind_of(from), VK_FORMAT_FEATURE_BLIT_SRC_BIT) ||
        !has_kind(vk, kind_of(to), VK_FORMAT_FEATURE_BLIT_DST_BIT))
        return;
    struct picture source = make_picture(vk, kind_of(from), 8);
    struct picture target = make_picture(vk, kind_of(to), 9);
    VkCommandBuffer cmd = begin_commands(vk);
    vkCmdBlitImage(cmd, source.image, VK_IMAGE_LAYOUT_GENERAL, target.image,
                   VK_IMAGE_LAYOUT_GENERAL, 1, &blit, VK_FILTER_NEAREST);
    submit_commands(vk, cmd);
    put_picture(vk, "blit", what, &target);
    drop_picture(vk, &source);
    drop_picture(vk, &target);
}

static void blit_all(struct vulkan *vk)
{
    static const char *const pairs[][2] = {
        {"rgba8", "rgba8"},      {"rgba8", "bgra8"},    {"bgra8", "rgba8"},
        {"r8", "rgba8"},         {"rgba8", "r8"},       {"rg8", "rgba8"},
        {"rgba8", "565"},        {"565", "rgba8"},      {"rgba8", "1010102"},
        {"1010102", "rgba8"},    {"rgba8", "srgb8"},    {"srgb8", "rgba8"},
        {"rgba8", "rgba16"},     {"rgba16", "rgba8"},   {"rgba8", "rgba32f"},
        {"rgba8", "rgba16f"},    {"rgba8s", "rgba32f"}, {"rgba8ui", "rgba32ui"},
        {"rgba32ui", "rgba8ui"}, {"r8ui", "r32ui"}};
    char what[64];
    for (unsigned flips = 1; flips < 4; flips++) {
        snprintf(what, sizeof(what), "flip-%u", flips);
        blit_pictures(vk, "rgba8", "rgba8", what, flips);
    }
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        snprintf(what, sizeof(what), "%s-%s", pairs[i][0], pairs[i][1]);
        blit_pictures(vk, pairs[i][0], pairs[i][1], what, 0);
    }
}

void job_copies(struct vulkan *vk)
{
    copy_buffers(vk);
    for (size_t i = 0; i < KINDS; i++) {
        if (has_kind(vk, &kinds[i], 0))
            copy_pictures(vk, &kinds[i]);
    }
    blit_all(vk);
    check(vk, true, "all was submitted");
}
