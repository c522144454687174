/* SPDX-License-Identifier: MIT
 * Jobs of higher priority interrupt others, and what is interrupted goes on where it was. */
#include <sys/wait.h>

#include "tests/device/native.h"

enum { LOW = 11, HIGH = 0, LEVELS = 4, IBS = 256, WRITES = 250, ROUNDS = 24 };

/* An open file with a queue. */
struct client {
    int fd;
    uint32_t queue;
};

static struct client open_client(uint32_t priority, uint32_t flags)
{
    struct client client = {.fd = gpu_open()};
    struct msm_queue new = {.flags = flags, .priority = priority};
    if (client.fd >= 0 && !GPU_CALL(client.fd, N_QUEUE_NEW, &new))
        client.queue = new.id;
    return client;
}

static int submit(const struct client *client, const struct gpu_buf *stream,
                  const struct gpu_buf *other, uint32_t *fence)
{
    struct gpu_more more = {
        .queue = client->queue, .flags = MSM_SUBMIT_NO_IMPLICIT, .other = other};
    return gpu_submit(client->fd, stream, &more, fence);
}

/* A buffer of one client for another one. */
static struct gpu_buf share(const struct client *from, const struct gpu_buf *buf,
                            const struct client *to)
{
    struct gpu_buf copy = {.size = buf->size};
    struct drm_prime args = {.handle = buf->handle, .flags = O_CLOEXEC | O_RDWR};
    if (GPU_CALL(from->fd, N_PRIME_TO_FD, &args))
        return copy;
    int fd = args.fd;
    bool imported = !GPU_CALL(to->fd, N_PRIME_TO_HANDLE, &args);
    close(fd);
    copy.handle =
        imported && gpu_map(to->fd, &(struct gpu_buf){.handle = args.handle, .size = 4096})
            ? args.handle
            : 0;
    copy.data = buf->data;
    if (copy.handle && gpu_info(to->fd, copy.handle, MSM_INFO_IOVA, &copy.iova))
        copy.handle = 0;
    return copy;
}

/* Each waits for a word that the next one writes; the addresses of one are other buffers of the
 * next. */
static bool check_levels(unsigned levels)
{
    struct client client[LEVELS];
    struct gpu_buf own, flag[LEVELS], stream[LEVELS];
    uint32_t fence[LEVELS];
    for (unsigned i = 0; i < levels; i++) {
        client[i] = open_client(LOW - i * 3 * 3 / (levels - 1), MSM_QUEUE_ALLOW_PREEMPT);
        HOLDS(client[i].queue);
        for (unsigned k = 0; k < i; k++)
            HOLDS(gpu_alloc(client[i].fd, 4096).handle);
        stream[i] = gpu_alloc(client[i].fd, 4096);
        if (i == 0)
            own = gpu_alloc(client[i].fd, 4096);
        flag[i] = i ? share(&client[0], &own, &client[i]) : own;
        HOLDS(stream[i].handle && flag[i].handle);
        gpu_write(&stream[i], flag[i].iova + 64 + 4 * i, 1);
        if (i + 1 < levels)
            gpu_wait_for(&stream[i], flag[i].iova + 4 * i, 1);
        if (i)
            gpu_write(&stream[i], flag[i].iova + 4 * (i - 1), 1);
        gpu_write(&stream[i], stream[i].iova + 4092, 7 + i);
        HOLDS(!submit(&client[i], &stream[i], &flag[i], &fence[i]));
        for (int n = 0; n < 1000 && !((volatile uint32_t *)own.data)[16 + i]; n++)
            gpu_sleep(1);
    }
    for (unsigned i = levels; i-- > 0;) {
        HOLDS(!gpu_wait(client[i].fd, client[i].queue, fence[i], 10000));
        HOLDS(stream[i].data[1023] == 7 + i && own.data[16 + i] == 1);
    }
    HOLDS(gpu_param(client[0].fd, MSM_FAULTS) == 0);
    for (unsigned i = 0; i < levels; i++)
        close(client[i].fd);
    return true;
}

static bool one_writes_for_other(void)
{
    return check_levels(2);
}

static bool four_levels(void)
{
    return check_levels(4);
}

/* A long submission: IBs that write words one after the other, all of them several times. */
static struct gpu_buf make_chain(const struct client *client, struct gpu_buf *code,
                                 const struct gpu_buf *data)
{
    struct gpu_buf stream = gpu_alloc(client->fd, ROUNDS * IBS * 16);
    *code = gpu_alloc(client->fd, IBS * WRITES * 16);
    for (uint32_t i = 0; stream.handle && code->handle && i < IBS; i++) {
        for (uint32_t k = 0; k < WRITES; k++)
            gpu_write(code, data->iova + 4 * ((i * WRITES + k) % 16384), i * WRITES + k + 1);
    }
    for (uint32_t i = 0; stream.handle && code->handle && i < ROUNDS * IBS; i++)
        gpu_call(&stream, code->iova + i % IBS * WRITES * 16, WRITES * 4);
    return stream;
}

static bool chain_is_right(const struct gpu_buf *data)
{
    for (uint32_t i = 0; i < 16384; i++) {
        uint32_t last = i + (IBS * WRITES - 1 - i) / 16384 * 16384;
        HOLDS(data->data[i] == last + 1);
    }
    return true;
}

/* In a process of its own: short jobs, whose results it checks. */
static int run_short(int count)
{
    struct client client = open_client(HIGH, MSM_QUEUE_ALLOW_PREEMPT);
    struct gpu_buf stream = gpu_alloc(client.fd, 4096);
    if (!client.queue || !stream.handle)
        return 1;
    for (int i = 1; i <= count; i++) {
        uint32_t fence = 0;
        stream.used = 0;
        gpu_write(&stream, stream.iova + 2048, (uint32_t)i);
        if (submit(&client, &stream, NULL, &fence) ||
            gpu_wait(client.fd, client.queue, fence, 10000) || stream.data[512] != (uint32_t)i)
            return 2;
    }
    return 0;
}

static bool two_processes(void)
{
    struct client low = open_client(LOW, MSM_QUEUE_ALLOW_PREEMPT);
    struct gpu_buf data = gpu_alloc(low.fd, 65536);
    struct gpu_buf code;
    struct gpu_buf stream = make_chain(&low, &code, &data);
    struct gpu_more more = {.queue = low.queue, .other = &code};
    uint32_t fence = 0;
    HOLDS(low.queue && data.handle && stream.handle);
    for (int i = 0; i < 2; i++) {
        memset(data.data, 0, data.size);
        HOLDS(!gpu_submit(low.fd, &stream, &more, &fence));
        HOLDS(in_child(run_short, 5) && gpu_wait(low.fd, low.queue, fence, 0) == -ETIMEDOUT);
        HOLDS(!gpu_wait(low.fd, low.queue, fence, 60000) && chain_is_right(&data));
    }
    close(low.fd);
    return true;
}

/* A writer that may not, or does not, interrupt who waits for it comes after the hang. */
static bool check_order(uint32_t flags, uint32_t priority)
{
    struct client low = open_client(LOW, flags);
    struct client high = open_client(priority, MSM_QUEUE_ALLOW_PREEMPT);
    struct gpu_buf own = gpu_alloc(low.fd, 4096);
    struct gpu_buf flag = share(&low, &own, &high);
    struct gpu_buf waiter = gpu_alloc(low.fd, 4096), writer = gpu_alloc(high.fd, 4096);
    uint32_t first = 0, second = 0;
    HOLDS(low.queue && high.queue && flag.handle && waiter.handle && writer.handle);
    gpu_write(&waiter, own.iova + 8, 1);
    gpu_wait_for(&waiter, own.iova, 1);
    gpu_write(&waiter, own.iova + 4, 2);
    gpu_write(&writer, flag.iova, 1);
    HOLDS(!submit(&low, &waiter, &own, &first));
    for (int n = 0; n < 1000 && !((volatile uint32_t *)own.data)[2]; n++)
        gpu_sleep(1);
    HOLDS(!submit(&high, &writer, &flag, &second));
    HOLDS(!gpu_wait(high.fd, high.queue, second, 10000) && own.data[0] == 1 && own.data[1] == 0);
    HOLDS(!gpu_wait(low.fd, low.queue, first, 10000) && gpu_param(low.fd, MSM_FAULTS) >= 1);
    close(low.fd);
    close(high.fd);
    return true;
}

static bool not_allowed(void)
{
    return check_order(0, HIGH);
}

static bool same_group(void)
{
    return check_order(MSM_QUEUE_ALLOW_PREEMPT, 9);
}

/* A job that stores 1 to word 2, waits for word 0 to be 1 and stores 2 to word 1: until it waits.
 */
static bool begin_waiter(struct client *client, struct gpu_buf *stream, struct gpu_buf *own,
                         uint32_t *fence)
{
    gpu_write(stream, own->iova + 8, 1);
    gpu_wait_for(stream, own->iova, 1);
    gpu_write(stream, own->iova + 4, 2);
    HOLDS(!submit(client, stream, own, fence));
    for (int n = 0; n < 1000 && !((volatile uint32_t *)own->data)[2]; n++)
        gpu_sleep(1);
    return true;
}

/* Who interrupts hangs; who was interrupted begins again, and is innocent. */
static bool innocent(void)
{
    struct client low = open_client(LOW, MSM_QUEUE_ALLOW_PREEMPT);
    struct client high = open_client(HIGH, MSM_QUEUE_ALLOW_PREEMPT);
    struct gpu_buf own = gpu_alloc(low.fd, 4096), other = gpu_alloc(high.fd, 4096);
    struct gpu_buf waiter = gpu_alloc(low.fd, 4096), endless = gpu_alloc(high.fd, 4096);
    uint32_t first = 0, second = 0;
    HOLDS(low.queue && high.queue && own.handle && other.handle && waiter.handle);
    gpu_wait_for(&endless, other.iova, 1);
    gpu_write(&endless, other.iova + 4, 2);
    HOLDS(begin_waiter(&low, &waiter, &own, &first));
    HOLDS(own.data[2] == 1);
    own.data[2] = 0;
    HOLDS(!submit(&high, &endless, &other, &second));
    HOLDS(!gpu_wait(high.fd, high.queue, second, 20000) && other.data[1] == 0);
    own.data[0] = 1;
    HOLDS(!gpu_wait(low.fd, low.queue, first, 10000));
    HOLDS(own.data[2] == 1 && own.data[1] == 2);
    HOLDS(gpu_param(high.fd, MSM_FAULTS) == 1 && gpu_param(low.fd, MSM_FAULTS) == 0);
    close(low.fd);
    close(high.fd);
    return true;
}

/* With firmware whose routine never ends: the job that it has is guilty, the other one runs. */
static bool never_saved(void)
{
    struct client low = open_client(LOW, MSM_QUEUE_ALLOW_PREEMPT);
    struct client high = open_client(HIGH, MSM_QUEUE_ALLOW_PREEMPT);
    struct gpu_buf own = gpu_alloc(low.fd, 4096), other = gpu_alloc(high.fd, 4096);
    struct gpu_buf waiter = gpu_alloc(low.fd, 4096), writer = gpu_alloc(high.fd, 4096);
    uint32_t first = 0, second = 0;
    HOLDS(low.queue && high.queue && own.handle && other.handle && writer.handle);
    gpu_write(&writer, other.iova, 7);
    HOLDS(begin_waiter(&low, &waiter, &own, &first));
    HOLDS(!submit(&high, &writer, &other, &second));
    HOLDS(!gpu_wait(high.fd, high.queue, second, 60000) && other.data[0] == 7);
    HOLDS(!gpu_wait(low.fd, low.queue, first, 10000) && own.data[1] == 0);
    HOLDS(gpu_param(low.fd, MSM_FAULTS) == 1 && gpu_param(high.fd, MSM_FAULTS) == 0);
    close(low.fd);
    close(high.fd);
    return true;
}

const struct fact facts_stuck[] = {
    {"a switch that never ends is a hang of the job that was to be left", never_saved}, {0}};
const struct fact facts_levels[] = {
    {"a job that waits for memory is interrupted by the one that writes it", one_writes_for_other},
    {"jobs of four groups of priorities interrupt each other", four_levels},
    {0}};
const struct fact facts_preempt[] = {
    {"short jobs of another process run within a long one", two_processes},
    {"a job begins again after the one that interrupts it hangs", innocent},
    {0}};
const struct fact facts_order[] = {
    {"a queue without ALLOW_PREEMPT is not interrupted", not_allowed},
    {"a job of the same group of priorities does not interrupt", same_group},
    {0}};
