/* SPDX-License-Identifier: MIT
 * Runs OpenCL C kernels that clang compiled for this machine as functions of host_compute.c: the
 * workgroup's memory and invocations, and the functions of OpenCL C that tinygrad calls. Each
 * kernel is a shared object of its own and includes this file once (sitecustomize.py). */
#include "../host_compute.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum {
    MOST_ARGUMENTS = 64,
    MOST_INVOCATIONS = 1024,
    STACK = 256 << 10,     /* bytes of an invocation, in a kernel with barriers */
    IMAGE_FLOAT = 0x82,    /* FMT6_32_32_32_32_FLOAT of Mesa's a6xx.xml */
    IMAGE_HALF = 0x62,     /* FMT6_16_16_16_16_FLOAT */
    IMAGE_DESCRIPTOR = 16, /* words */
};

typedef float float4 __attribute__((vector_size(16)));
typedef int int2 __attribute__((vector_size(8)));
typedef __fp16 half4 __attribute__((vector_size(8)));

/* An argument of a kernel. */
struct argument {
    enum { VALUE, BUFFER, IMAGE } kind;
    uint32_t constant; /* the first word of the value, address or descriptor */
    uint64_t size;     /* bytes of the buffer */
};

/* An image of four floats or halves a texel. */
struct image {
    uint8_t *data;
    uint32_t width, height, pitch;
    bool half;
};

/* Calls the kernel for an invocation. */
typedef void call_kernel(void *const *memory, const uint32_t *constants);

static struct {
    const struct host_group *group;
    call_kernel *call;
    uint32_t id[3]; /* of the invocation that runs */
    void *memory[MOST_ARGUMENTS];
    struct image image[MOST_ARGUMENTS];
    uint8_t *stacks;
    ucontext_t main, invocation[MOST_INVOCATIONS];
    uint32_t running;
    bool ended[MOST_INVOCATIONS];
} group;

/* ---- functions of OpenCL C, by the names that clang gives them ---- */

#define CL(type, name, symbol, ...)         \
    type name(__VA_ARGS__) __asm__(symbol); \
    type name(__VA_ARGS__)

CL(size_t, cl_local_id, "_Z12get_local_idj", unsigned i)
{
    return group.id[i % 3];
}
CL(size_t, cl_group_id, "_Z12get_group_idj", unsigned i)
{
    return group.group->id[i % 3];
}
CL(size_t, cl_global_id, "_Z13get_global_idj", unsigned i)
{
    return (size_t)group.group->id[i % 3] * group.group->size[i % 3] + group.id[i % 3];
}
CL(float, cl_sqrt, "_Z4sqrtf", float x)
{
    return sqrtf(x);
}
CL(float, cl_sin, "_Z3sinf", float x)
{
    return sinf(x);
}
CL(float, cl_exp2, "_Z4exp2f", float x)
{
    return exp2f(x);
}
CL(float, cl_log2, "_Z4log2f", float x)
{
    return log2f(x);
}
CL(float, cl_trunc, "_Z5truncf", float x)
{
    return truncf(x);
}
CL(void, cl_barrier, "_Z7barrierj", unsigned flags)
{
    (void)flags;
    swapcontext(&group.invocation[group.running], &group.main);
}

#if IMAGES
/* Coordinates are texels; beyond the border there is 0, and nothing is stored. */
static uint8_t *find_texel(const struct image *image, int2 at)
{
    const bool inside = at[0] >= 0 && at[1] >= 0 && (uint32_t)at[0] < image->width &&
                        (uint32_t)at[1] < image->height;
    return inside ? image->data + (size_t)at[1] * image->pitch +
                        (size_t)at[0] * (image->half ? sizeof(half4) : sizeof(float4))
                  : NULL;
}

CL(void *, cl_sampler, "__translate_sampler_initializer", int bits)
{
    (void)bits;
    return NULL;
}
CL(float4, cl_read_image, "_Z11read_imagef14ocl_image2d_ro11ocl_samplerDv2_i",
   const struct image *image, void *sampler, int2 at)
{
    const uint8_t *texel = find_texel(image, at);
    half4 half = {0};
    float4 value = {0};
    (void)sampler;
    if (texel && image->half) {
        memcpy(&half, texel, sizeof(half));
        value = __builtin_convertvector(half, float4);
    } else if (texel) {
        memcpy(&value, texel, sizeof(value));
    }
    return value;
}
CL(void, cl_write_image, "_Z12write_imagef14ocl_image2d_woDv2_iDv4_f", const struct image *image,
   int2 at, float4 value)
{
    const half4 half = __builtin_convertvector(value, half4);
    uint8_t *texel = find_texel(image, at);
    if (texel && image->half)
        memcpy(texel, &half, sizeof(half));
    else if (texel)
        memcpy(texel, &value, sizeof(value));
}
#endif

/* ---- memory ---- */

static uint64_t join_words(const uint32_t *word)
{
    return (uint64_t)word[1] << 32 | word[0];
}

/* The words of a descriptor: 0 format at bit 22; 1 width, height at bit 15; 2 pitch at bit 7;
 * 4, 5 address. */
static const char *read_image(const struct argument *argument, struct image *image, uint64_t *iova,
                              uint64_t *size)
{
    const uint32_t *word = group.group->constants + argument->constant;
    const uint32_t format = word[0] >> 22 & 0xff;
    if (argument->constant + IMAGE_DESCRIPTOR > group.group->constant_count)
        return "a descriptor beyond the constants";
    if (format != IMAGE_FLOAT && format != IMAGE_HALF)
        return "an image of another format than four floats or halves";
    *image = (struct image){NULL, word[1] & 0x7fff, word[1] >> 15 & 0x7fff, word[2] >> 7 & 0x3fffff,
                            format == IMAGE_HALF};
    *iova = join_words(word + 4) & ((UINT64_C(1) << 49) - 1);
    *size = (uint64_t)image->pitch * image->height;
    return (uint64_t)image->width * (image->half ? 8 : 16) > image->pitch
               ? "an image with a pitch below its width"
               : NULL;
}

/* Arguments may overlap, and a range of host_group.memory() is whole: so each asks for the union of
 * those that it overlaps. */
static const char *find_arguments(const struct argument *argument, unsigned count)
{
    uint64_t begin[MOST_ARGUMENTS], end[MOST_ARGUMENTS], iova[MOST_ARGUMENTS], size;
    for (unsigned i = 0; i < count; i++) {
        const char *why = NULL;
        iova[i] = size = 0;
        if (argument[i].kind == IMAGE)
            why = read_image(&argument[i], &group.image[i], &iova[i], &size);
        else if (argument[i].kind == BUFFER) {
            iova[i] = join_words(group.group->constants + argument[i].constant);
            size = argument[i].size;
        }
        if (why)
            return why;
        begin[i] = iova[i];
        end[i] = iova[i] + size;
    }
    for (bool more = true; more;) {
        more = false;
        for (unsigned i = 0; i < count; i++) {
            for (unsigned j = 0; j < count; j++) {
                if (begin[i] < end[j] && begin[j] < end[i] &&
                    (begin[i] != begin[j] || end[i] != end[j])) {
                    begin[i] = begin[j] = begin[i] < begin[j] ? begin[i] : begin[j];
                    end[i] = end[j] = end[i] > end[j] ? end[i] : end[j];
                    more = true;
                }
            }
        }
    }
    for (unsigned i = 0; i < count; i++) {
        if (begin[i] == end[i])
            continue;
        uint8_t *data = group.group->memory(group.group, begin[i], end[i] - begin[i]);
        if (!data)
            return "an argument that is no memory, or more than the plugin copies";
        data += iova[i] - begin[i];
        group.image[i].data = data;
        group.memory[i] = argument[i].kind == IMAGE ? (void *)&group.image[i] : data;
    }
    return NULL;
}

/* ---- invocations ---- */

static void set_invocation(uint32_t index)
{
    const uint32_t *size = group.group->size;
    group.running = index;
    group.id[0] = index % size[0];
    group.id[1] = index / size[0] % size[1];
    group.id[2] = index / size[0] / size[1];
}

static void run_invocation(void)
{
    group.call(group.memory, group.group->constants);
    group.ended[group.running] = true;
}

/* One invocation after the other, each as far as the next barrier. */
static const char *run_fibers(uint32_t count)
{
    if (!group.stacks) {
        void *stacks = mmap(NULL, (size_t)STACK * MOST_INVOCATIONS, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (stacks == MAP_FAILED)
            return "no memory for stacks";
        group.stacks = stacks;
    }
    for (uint32_t i = 0; i < count; i++) {
        ucontext_t *context = &group.invocation[i];
        getcontext(context);
        context->uc_stack.ss_sp = group.stacks + (size_t)STACK * i;
        context->uc_stack.ss_size = STACK;
        context->uc_link = &group.main;
        makecontext(context, run_invocation, 0);
        group.ended[i] = false;
    }
    for (uint32_t ended = 0; ended < count;) {
        ended = 0;
        for (uint32_t i = 0; i < count; i++) {
            set_invocation(i);
            if (!group.ended[i])
                swapcontext(&group.main, &group.invocation[i]);
            ended += group.ended[i];
        }
    }
    return NULL;
}

/** Runs the invocations of a workgroup. @param barriers  whether the kernel has some
 * @return NULL, or why it failed */
static const char *run_group(const struct host_group *of, const struct argument *argument,
                             unsigned count, call_kernel *call, bool barriers)
{
    const uint64_t invocations = (uint64_t)of->size[0] * of->size[1] * of->size[2];
    group.group = of;
    group.call = call;
    if (invocations > MOST_INVOCATIONS)
        return "more than 1024 invocations in a workgroup";
    const char *why = find_arguments(argument, count);
    if (why)
        return why;
    if (barriers)
        return run_fibers((uint32_t)invocations);
    for (uint32_t i = 0; i < invocations; i++) {
        set_invocation(i);
        run_invocation();
    }
    return NULL;
}
