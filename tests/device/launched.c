/* SPDX-License-Identifier: MIT
 * A client of the virtual device that starts compute shaders, whose work a plugin does.
 * Usage: launched [SHADER-WORD]: the shader is that word, and zeros. TAP on stdout. */
#include "tests/device/gpu.h"

#include <stdlib.h>

enum { PACKET_LOAD_STATE = 0x34, PACKET_EXEC_CS = 0x33, PACKET_MEM_TO_MEM = 0x73 };
enum { PACKET_THREAD_CONTROL = 0x17, PACKET_PREDICATES = 0x19, PACKET_PREDICATE = 0x4e };
/* Bytes of the buffer: what is where. */
enum { SHADER = 0, SOURCE = 0x1000, RESULT = 0x2000, COPY = 0x3000, TABLE = 0x4000, ALL = 0x5000 };
enum { LOCAL_X = 4, LOCAL_Y = 2, GROUPS_X = 3, GROUPS_Y = 5, COUNT = 4 * 2 * 3 * 5, FACTOR = 7 };

static unsigned checks;

static bool check(bool good, const char *name)
{
    printf("%sok %u - %s\n", good ? "" : "not ", ++checks, name);
    return good;
}

static void write_register(struct gpu_buf *stream, uint32_t offset, uint32_t value)
{
    stream->data[stream->used++] =
        4u << 28 | (uint32_t)(1 ^ __builtin_parity(offset)) << 27 | offset << 8 | 0u << 7 | 1u;
    stream->data[stream->used++] = value;
}

static void load_constants(struct gpu_buf *stream, uint32_t first, uint64_t from,
                           const uint32_t *words)
{
    const uint32_t command = first | 1u << 14 | (from ? 2u : 0) << 16 | 13u << 18 | 1u << 22;
    uint32_t packet[7] = {command, (uint32_t)from, (uint32_t)(from >> 32)};
    if (words)
        memcpy(packet + 3, words, 4 * sizeof(*words));
    gpu_packet(stream, PACKET_LOAD_STATE, words ? 7 : 3, packet);
}

static void dispatch(struct gpu_buf *stream, uint32_t x, uint32_t y)
{
    const uint32_t packet[4] = {0, x, y, 1};
    gpu_packet(stream, PACKET_EXEC_CS, 4, packet);
}

/* A dispatch that a predicate switches off: word @p iova is 0. */
static void dispatch_nothing(struct gpu_buf *stream, uint64_t iova)
{
    const uint32_t on = 1;
    const uint32_t off = 0;
    const uint32_t test[3] = {5u << 4, (uint32_t)iova, (uint32_t)(iova >> 32)};
    gpu_packet(stream, PACKET_PREDICATES, 1, &on);
    gpu_packet(stream, PACKET_PREDICATE, 3, test);
    dispatch(stream, GROUPS_X, GROUPS_Y);
    gpu_packet(stream, PACKET_PREDICATES, 1, &off);
}

/* Constants come in the stream, and from memory. */
static void make_stream(struct gpu_buf *stream, struct gpu_buf *buf, bool early)
{
    const uint64_t source = buf->iova + SOURCE;
    const uint64_t result = buf->iova + RESULT;
    const uint64_t copy = buf->iova + COPY;
    const uint32_t addresses[4] = {(uint32_t)source, (uint32_t)(source >> 32), (uint32_t)result,
                                   (uint32_t)(result >> 32)};
    const uint32_t mem_to_mem[5] = {0, (uint32_t)copy, (uint32_t)(copy >> 32), (uint32_t)result + 4,
                                    (uint32_t)(result >> 32)};
    const uint32_t first = 1; /* the processor of the driver's own work, alone */
    if (!early)
        gpu_packet(stream, PACKET_THREAD_CONTROL, 1, &first);
    write_register(stream, 0xa9b4, (uint32_t)buf->iova + SHADER);
    write_register(stream, 0xa9b5, (uint32_t)(buf->iova >> 32));
    write_register(stream, 0xa9bc, 1);
    write_register(stream, early ? 0xb990 : 0xa9d4, 3 | (LOCAL_X - 1) << 2 | (LOCAL_Y - 1) << 12);
    load_constants(stream, 0, 0, addresses);
    load_constants(stream, 1, buf->iova + TABLE, NULL);
    dispatch(stream, GROUPS_X, GROUPS_Y);
    gpu_packet(stream, PACKET_MEM_TO_MEM, 5, mem_to_mem);
    load_constants(stream, 1, buf->iova + TABLE + 16, NULL);
    dispatch_nothing(stream, buf->iova + TABLE + 32);
}

int main(int argc, char **argv)
{
    int fd = gpu_open();
    const bool early = gpu_param(fd, MSM_CHIP_ID) >> 24 == 6;
    struct gpu_buf stream = gpu_alloc(fd, 0x1000);
    struct gpu_buf buf = gpu_alloc(fd, ALL);
    bool right = true;
    if (!stream.handle || !buf.handle)
        return 2;
    buf.data[SHADER / 4] = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 0;
    buf.data[TABLE / 4] = FACTOR;
    for (uint32_t i = 0; i < COUNT; i++)
        buf.data[SOURCE / 4 + i] = 1000 + i;
    make_stream(&stream, &buf, early);
    check(!gpu_run(fd, &stream, (struct gpu_more){.other = &buf}), "the submission ends");
    for (uint32_t i = 0; i < COUNT; i++)
        right &= buf.data[RESULT / 4 + i] == FACTOR * (1000 + i) + i;
    right &= !buf.data[RESULT / 4 + COUNT];
    check(right, "each invocation has stored its result");
    check(right && buf.data[COPY / 4] == FACTOR * 1001 + 1,
          "the firmware copies what the kernel has stored");
    printf("1..%u\n", checks);
    return !right;
}
