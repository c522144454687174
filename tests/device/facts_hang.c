/* SPDX-License-Identifier: MIT
 * Hangs: who is guilty, who is not. */
#include "tests/device/native.h"

static uint32_t queue_faults(int fd, uint32_t id)
{
    uint32_t faults = UINT32_MAX;
    struct msm_queue_query query = {.data = (uintptr_t)&faults, .id = id, .len = sizeof(faults)};
    return GPU_CALL(fd, N_QUEUE_QUERY, &query) ? UINT32_MAX : faults;
}

/* Runs what hangs while another context has a job behind it. */
static bool check_hang(void (*make)(struct gpu_buf *stream))
{
    uint32_t binds = 0, fence = 0, other = 0;
    int guilty = gpu_open_vm_bind(&binds), innocent = gpu_open();
    struct gpu_buf stream = gpu_bound(guilty, binds, 4096, UINT64_C(0x300000000));
    struct gpu_buf good = gpu_alloc(innocent, 4096);
    HOLDS(stream.handle && good.handle && queue_faults(guilty, 0) == 0);
    make(&stream);
    gpu_write(&good, good.iova + 4092, 4);
    struct gpu_more bound = {.vm_bind = true}, listed = {0};
    HOLDS(!gpu_submit(guilty, &stream, &bound, &fence));
    HOLDS(!gpu_submit(innocent, &good, &listed, &other));
    HOLDS(!gpu_wait(guilty, 0, fence, 10000));
    HOLDS(!gpu_wait(innocent, 0, other, 10000) && good.data[1023] == 4);
    HOLDS(gpu_param(guilty, MSM_FAULTS) == 1 && queue_faults(guilty, 0) == 1);
    HOLDS(gpu_param(innocent, MSM_FAULTS) <= 1 && queue_faults(innocent, 0) == 0);
    HOLDS(gpu_submit(guilty, &stream, &bound, &fence) == -EPIPE);
    HOLDS(gpu_bind(guilty, binds,
                   (struct msm_vm_bind_op){.op = MSM_UNMAP, .iova = stream.iova, .range = 4096}) ==
          -EPIPE);
    good.used = 0;
    gpu_write(&good, good.iova + 4092, 5);
    HOLDS(!gpu_run(innocent, &good, (struct gpu_more){0}) && good.data[1023] == 5);
    close(guilty);
    close(innocent);
    return true;
}

static void make_bad_packet(struct gpu_buf *stream)
{
    /* No firmware has handlers for all of them. */
    static const uint8_t opcodes[] = {0x7d, 0x7f, 0x7e, 0x7c, 0x0b, 0x0a, 0x05, 0x06, 0x07, 0x01};
    const uint32_t word = 0;
    for (size_t i = 0; i < sizeof(opcodes); i++)
        gpu_packet(stream, opcodes[i], 1, &word);
}

static bool bad_packet(void)
{
    return check_hang(make_bad_packet);
}

static void make_endless_wait(struct gpu_buf *stream)
{
    gpu_wait_for(stream, stream->iova + 2048, 1);
}

static bool endless_wait(void)
{
    return check_hang(make_endless_wait);
}

/* Never written: what is not mapped reads as nothing that a wait could end with. */
static void make_wait_for_nothing(struct gpu_buf *stream)
{
    gpu_wait_for(stream, UINT64_C(0x700000000), 1);
}

static bool wait_for_nothing(void)
{
    return check_hang(make_wait_for_nothing);
}

/* Jumps into 64 KiB of packets some thousand times: no wait, and no end in sight. */
static bool endless_run(void)
{
    enum { SIZE = 4 << 20, HALF = SIZE / 2, DWORDS = HALF / 4 };
    int fd = gpu_open();
    struct gpu_buf stream = gpu_alloc(fd, SIZE);
    HOLDS(stream.handle);
    struct gpu_buf inner = {.data = stream.data + DWORDS};
    while (inner.used < DWORDS - 1)
        gpu_packet(&inner, PACKET_NOP, 0, &inner.used);
    while (stream.used < DWORDS - 4)
        gpu_call(&stream, stream.iova + HALF, DWORDS - 1);
    HOLDS(!gpu_run(fd, &stream, (struct gpu_more){0}));
    HOLDS(gpu_param(fd, MSM_FAULTS) == 1);
    close(fd);
    return true;
}

/* Writes and chains to itself: memory changes all the time. */
static bool endless_writes(void)
{
    enum { PACKET_CHAIN = 0x57 };
    int fd = gpu_open();
    struct gpu_buf stream = gpu_alloc(fd, 4096);
    HOLDS(stream.handle);
    gpu_write(&stream, stream.iova + 2048, 1);
    gpu_write(&stream, stream.iova + 2048, 2);
    const uint32_t words[] = {(uint32_t)stream.iova, (uint32_t)(stream.iova >> 32),
                              stream.used + 4};
    gpu_packet(&stream, PACKET_CHAIN, 3, words);
    HOLDS(!gpu_run(fd, &stream, (struct gpu_more){0}));
    HOLDS(gpu_param(fd, MSM_FAULTS) == 1);
    close(fd);
    return true;
}

static bool old_context(void)
{
    int fd = gpu_open();
    struct gpu_buf stream = gpu_alloc(fd, 4096);
    make_bad_packet(&stream);
    gpu_run(fd, &stream, (struct gpu_more){0});
    HOLDS(gpu_param(fd, MSM_FAULTS) == 1);
    stream.used = 0;
    gpu_write(&stream, stream.iova + 4092, 6);
    HOLDS(!gpu_run(fd, &stream, (struct gpu_more){0}) && stream.data[1023] == 6);
    close(fd);
    return true;
}

const struct fact facts_hang[] = {
    {"a bad packet: the guilty context gets EPIPE, an innocent one's job runs", bad_packet},
    {"a wait that nothing ends: the same", endless_wait},
    {"a wait for memory that is not mapped: the same", wait_for_nothing},
    {"a context without VM_BIND that hung may submit again", old_context},
    {0}};

const struct fact facts_endless[] = {{"a submission that runs on and on is ended", endless_run},
                                     {"one that writes memory on and on is ended", endless_writes},
                                     {0}};
