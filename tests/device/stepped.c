/* SPDX-License-Identifier: MIT
 * A client whose GPU is a debugger: three submissions, of which the last one waits for memory that
 * the client writes. tests/device/stepped.py drives the debugger.
 *
 * Usage: stepped run       prints what it reads after each submission
 *        stepped hang      its submission is rejected
 *        stepped vain      its submission waits for what never comes
 *        stepped recover   two submissions that are rejected, and one after each that is not
 *        stepped sleep     submits nothing
 *        stepped late      sleeps after a submission
 *        stepped twice     two processes, each with a context of its own, at the same addresses */
#include <sys/wait.h>

#include "tests/device/gpu.h"

enum { OWN = 7, MARKER = 8, FLAG = 9, SHARED = 10 };

static bool wait_for_word(const volatile uint32_t *word, uint32_t value)
{
    int64_t end = gpu_in(60000);
    while (*word != value && gpu_now() < end)
        gpu_sleep(1);
    return *word == value;
}

static int submit_all(int fd, uint32_t first)
{
    struct gpu_buf data = gpu_alloc(fd, 4096);
    struct gpu_buf large = gpu_alloc(fd, 1 << 20);
    struct gpu_more more = {.other = &data};
    uint32_t fence = 0;
    for (uint32_t i = 0; i < 3; i++) {
        struct gpu_buf stream = gpu_alloc(fd, 4096);
        if (!stream.handle || !data.handle || !large.handle)
            return 1;
        more.other = i == 1 ? &large : &data;
        if (i == 2) {
            gpu_write(&stream, data.iova + 4 * MARKER, 1);
            gpu_wait_for(&stream, data.iova + 4 * FLAG, 1);
        }
        if (i == 1)
            gpu_write(&stream, large.iova + 0x80004, first + i);
        else
            gpu_write(&stream, data.iova + 4 * i, first + i);
        if (gpu_submit(fd, &stream, &more, &fence))
            return 1;
        if (i == 2) { /* the GPU waits for us */
            if (!wait_for_word(&data.data[MARKER], 1))
                return 1;
            data.data[MARKER] = OWN;
            data.data[FLAG] = 1;
        }
        if (gpu_wait(fd, 0, fence, 5000))
            return 1;
        printf("submission %u: %u %u %u\n", i, data.data[0], large.data[0x20001], data.data[2]);
        fflush(stdout);
        data.data[0] = OWN; /* from now on nobody writes it */
    }
    printf("at the end: %u %u\n", data.data[0], data.data[MARKER]);
    return 0;
}

/* A submission that cannot end: a packet of no chip, or a wait. */
static int hang(int fd, bool waits)
{
    struct gpu_buf stream = gpu_alloc(fd, 4096);
    const uint32_t nothing = 0;
    if (waits)
        gpu_wait_for(&stream, stream.iova + 0x100, 1);
    else
        gpu_packet(&stream, 0x7e, 1, &nothing);
    gpu_run(fd, &stream, (struct gpu_more){0});
    printf("status, faults %llu\n", (unsigned long long)gpu_param(fd, MSM_FAULTS));
    return 0;
}

static int recover(int fd)
{
    struct gpu_buf data = gpu_alloc(fd, 4096);
    struct gpu_more more = {.other = &data};
    const uint32_t nothing = 0;
    for (uint32_t i = 0; i < 4; i++) {
        struct gpu_buf stream = gpu_alloc(fd, 4096);
        gpu_write(&stream, data.iova + 4 * i, 50 + i);
        if (i % 2 == 0)
            gpu_packet(&stream, 0x7e, 1, &nothing);
        gpu_run(fd, &stream, more);
        printf("submission %u: %u, faults %llu\n", i, data.data[i],
               (unsigned long long)gpu_param(fd, MSM_FAULTS));
        fflush(stdout);
    }
    return 0;
}

static int sleep_after(int fd, bool submits)
{
    struct gpu_buf stream = gpu_alloc(fd, 4096);
    struct gpu_more more = {0};
    uint32_t fence = 0;
    gpu_write(&stream, stream.iova + 0x100, 1);
    if (submits && gpu_submit(fd, &stream, &more, &fence))
        return 1;
    printf("sleeps as %d\n", (int)getpid());
    fflush(stdout);
    gpu_sleep(60000);
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int fd = gpu_open();
    if (fd < 0)
        return 1;
    if (!strcmp(what, "run"))
        return submit_all(fd, 100);
    if (!strcmp(what, "hang") || !strcmp(what, "vain"))
        return hang(fd, !strcmp(what, "vain"));
    if (!strcmp(what, "recover"))
        return recover(fd);
    if (!strcmp(what, "sleep") || !strcmp(what, "late"))
        return sleep_after(fd, !strcmp(what, "late"));
    pid_t other = fork();
    if (other == 0)
        _exit(submit_all(gpu_open(), 200));
    int status = submit_all(fd, 100);
    int ended = 1;
    waitpid(other, &ended, 0);
    return status || ended;
}
