/* SPDX-License-Identifier: MIT
 * A device for fuzz targets: clients are socket pairs, and jobs run on the demo's firmware. At the
 * end nothing may be left. */
#ifndef CPS_DEVICE_BENCH_H
#define CPS_DEVICE_BENCH_H

#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/device/device.h"

enum { BENCH_CLIENTS = 4, BENCH_FDS = 16 };

struct bench {
    struct device device;
    int client[BENCH_CLIENTS]; /* our ends, -1: closed */
    int fd[BENCH_FDS];         /* that answers brought */
    unsigned fds;              /* so far: the oldest goes */
    int first;                 /* the lowest free descriptor in the beginning */
};

static inline void bench_hang(struct device *device, const char *what, const char *why)
{
    assert(device->gpu.job && what[0] && why[0]);
}

/* One engine for all inputs: it is as new for each. */
static inline struct play *bench_play(struct device *device)
{
    static struct cps_run_config config;
    static struct play play;
    struct cps_err *err = NULL;
    device_gpu_host(device, &play.host);
    if (!play.engine) {
        signal(SIGPIPE, SIG_IGN);
        config = cps_run_config_default();
        config.demo = true;
        cps_run_set_policy(&config, "waits=stop");
        err = play_open(&play, &config, NULL);
    } else {
        err = play_restart(&play);
    }
    device->gpu.play = &play;
    if (!err)
        err = device_gpu_boot(device);
    if (err) {
        fprintf(stderr, "%s\n", err->message);
        abort();
    }
    return &play;
}

static inline int bench_lowest_fd(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(fd);
    return fd;
}

/* With KGSL the device reads and writes the memory of a process: one that does nothing else. An
 * area of it is ours, too, at an address that one word of any input makes. */
#define BENCH_AREA       ((uint8_t *)0x10000000) /* not where a sanitizer has its own */
#define BENCH_AREA_BYTES (64u << 10)

static inline pid_t bench_victim(void)
{
    static pid_t victim;
    if (victim)
        return victim;
    void *area = mmap(BENCH_AREA, BENCH_AREA_BYTES, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (area == MAP_FAILED)
        abort();
    victim = fork();
    if (victim == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    if (victim < 0)
        abort();
    return victim;
}

static inline void bench_begin(struct bench *b, bool kgsl)
{
    if (kgsl) {
        bench_victim();
        memset(BENCH_AREA, 0, BENCH_AREA_BYTES);
    }
    *b = (struct bench){
        .device = {.config = {.chip = device_chip_find("a630"), .hang_after = 100000, .kgsl = kgsl},
                   .hang = bench_hang,
                   .listener = -1}};
    bench_play(&b->device);
    b->first = bench_lowest_fd();
    for (unsigned i = 0; i < BENCH_FDS; i++)
        b->fd[i] = -1;
    for (unsigned i = 0; i < BENCH_CLIENTS; i++)
        b->client[i] = -1;
}

static inline void bench_connect(struct bench *b, unsigned i)
{
    int pair[2];
    if (b->client[i] >= 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) != 0)
        return;
    b->client[i] = pair[0];
    device_connect(&b->device, pair[1], b->device.config.kgsl ? bench_victim() : getpid());
}

/* The device turns: tokens are made to be known, the number of the context. */
static inline void bench_step(struct bench *b)
{
    bool ended = false;
    bool good = device_step(&b->device, -1, &ended, 0);
    assert(good && !b->device.failed);
    for (struct device_file *file = b->device.files; file; file = file->next) {
        memset(file->token, 0, DEVICE_TOKEN);
        memcpy(file->token, &file->context, sizeof(file->context));
    }
}

static inline void bench_keep_fd(struct bench *b, int fd)
{
    int *slot = &b->fd[b->fds++ % BENCH_FDS];
    if (*slot >= 0)
        close(*slot);
    *slot = fd;
}

/* What has come; descriptors are kept. @return bytes */
static inline size_t bench_read(struct bench *b, unsigned i, void *to, size_t size)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = {to, size};
    struct msghdr in = {.msg_iov = &part,
                        .msg_iovlen = 1,
                        .msg_control = control.bytes,
                        .msg_controllen = sizeof(control.bytes)};
    ssize_t got =
        b->client[i] < 0 ? -1 : recvmsg(b->client[i], &in, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got <= 0)
        return 0;
    struct cmsghdr *head = CMSG_FIRSTHDR(&in);
    if (head && head->cmsg_type == SCM_RIGHTS) {
        int fd = -1;
        memcpy(&fd, CMSG_DATA(head), sizeof(fd));
        bench_keep_fd(b, fd);
    }
    return (size_t)got;
}

/* Sends bytes with at most 3 descriptors, of which clients may send 2. */
static inline void bench_send(struct bench *b, unsigned i, const void *data, size_t size,
                              const int *fds, unsigned count)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(3 * sizeof(int))];
    } control = {.bytes = {0}};
    struct iovec part = {(void *)(uintptr_t)data, size};
    struct msghdr out = {.msg_iov = &part, .msg_iovlen = 1};
    if (b->client[i] < 0 || !size)
        return;
    if (count) {
        out.msg_control = control.bytes;
        out.msg_controllen = CMSG_SPACE(count * sizeof(int));
        struct cmsghdr *head = CMSG_FIRSTHDR(&out);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(count * sizeof(int));
        memcpy(CMSG_DATA(head), fds, count * sizeof(int));
    }
    ssize_t sent = sendmsg(b->client[i], &out, MSG_DONTWAIT | MSG_NOSIGNAL);
    (void)sent; /* a full socket is the fuzzer's loss */
}

static inline void bench_disconnect(struct bench *b, unsigned i)
{
    if (b->client[i] >= 0)
        close(b->client[i]);
    b->client[i] = -1;
}

static inline void bench_end(struct bench *b)
{
    for (unsigned i = 0; i < BENCH_CLIENTS; i++)
        bench_disconnect(b, i);
    for (unsigned i = 0; i < BENCH_FDS; i++) {
        if (b->fd[i] >= 0)
            close(b->fd[i]);
    }
    /* Closed connections are seen, and what runs ends: as a hang, if need be. */
    for (unsigned i = 0; i < 8192 && (b->device.client_count || b->device.files); i++)
        bench_step(b);
    assert(!b->device.client_count && !b->device.files && !b->device.jobs);
    assert(!b->device.job_count && !b->device.bo_count && !b->device.bytes);
    device_deinit(&b->device);
    static const struct device_use nothing;
    assert(!memcmp(&b->device.use, &nothing, sizeof(nothing)));
    assert(bench_lowest_fd() == b->first);
}

#endif
