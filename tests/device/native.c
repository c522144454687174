/* SPDX-License-Identifier: MIT
 * A client of the virtual device that needs no driver: raw ioctls. tests/device/native.py runs it.
 *
 * Usage: native GROUP...       checks the facts of these groups and prints one line for each
 *        native exit STATUS
 *        native block [FILE]   waits for what never comes; FILE gets how that ended
 *        native victim KIND    is killed with SIGKILL while its GPU waits, or while it does
 *        native reuse [ADDRESS]  some submissions in one buffer, then one that hangs, or reads
 * ADDRESS native hoard          two processes of which each needs more than half of the memory */
#include "tests/device/native.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

bool in_child(int (*run)(int argument), int argument)
{
    int status = 0;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        _exit(run(argument));
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

struct gpu_buf make_waiter(int fd, const struct gpu_buf *flag)
{
    struct gpu_buf stream = gpu_alloc(fd, 4096);
    if (stream.handle) {
        gpu_wait_for(&stream, flag->iova, 1);
        gpu_write(&stream, flag->iova + 4, 2);
    }
    return stream;
}

static int run_facts(const struct fact *facts)
{
    int failed = 0;
    for (; facts->name; facts++) {
        bool good = facts->holds();
        printf("%sok - %s\n", good ? "" : "not ", facts->name);
        fflush(stdout);
        failed |= !good;
    }
    return failed;
}

/* Waits for a submission that waits for memory that nobody writes. */
static int wait_in_vain(void)
{
    int fd = gpu_open();
    struct gpu_buf flag = gpu_alloc(fd, 4096);
    struct gpu_buf stream = make_waiter(fd, &flag);
    uint32_t fence = 0;
    struct gpu_more more = {.other = &flag};
    int status = stream.handle ? gpu_submit(fd, &stream, &more, &fence) : -ENOMEM;
    return status ? status : gpu_wait(fd, 0, fence, 60000);
}

static int block(const char *path)
{
    int status = wait_in_vain();
    FILE *out = path ? fopen(path, "w") : NULL;
    if (out) {
        fprintf(out, "%s\n", strerror(-status));
        fclose(out);
    }
    return status ? 5 : 0;
}

static int submit_and_spin(void)
{
    int fd = gpu_open();
    struct gpu_buf stream = gpu_alloc(fd, 65536);
    uint32_t fence = 0;
    int status = 0;
    while (stream.used < 16000)
        gpu_write(&stream, stream.iova + 65532, 1);
    while (!status) {
        struct gpu_more more = {0};
        status = gpu_submit(fd, &stream, &more, &fence);
    }
    return status;
}

/* The device goes on with others. */
static int kill_victim(bool waits)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(waits ? wait_in_vain() : submit_and_spin());
    gpu_sleep(100);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    int fd = gpu_open();
    struct gpu_buf stream = gpu_alloc(fd, 4096);
    gpu_write(&stream, stream.iova + 2048, 7);
    int status = gpu_run(fd, &stream, (struct gpu_more){0});
    return status || stream.data[512] != 7;
}

/* The buffer of retired submissions has other words when the last one runs. */
static int reuse_stream(uint64_t missing)
{
    int fd = gpu_open();
    struct gpu_buf stream = gpu_alloc(fd, 4096);
    uint32_t fence = 0;
    int status = stream.handle ? 0 : -ENOMEM;
    for (uint32_t i = 0; i < 4 && !status; i++) {
        stream.used = 0;
        for (uint32_t k = 0; k <= i; k++)
            gpu_write(&stream, stream.iova + 4092, k);
        status = gpu_run(fd, &stream, (struct gpu_more){0});
    }
    stream.used = 0;
    gpu_write(&stream, stream.iova + 4088, 1);
    if (missing)
        gpu_call(&stream, missing, 4);
    else
        gpu_wait_for(&stream, stream.iova + 4084, 1);
    struct gpu_more more = {0};
    if (!status)
        status = gpu_submit(fd, &stream, &more, &fence);
    return status || gpu_wait(fd, 0, fence, 10000);
}

static int take_most(int fd)
{
    struct msm_gem_new args = {.size = UINT64_C(10) << 30, .flags = 0x20000};
    return GPU_CALL(fd, N_GEM_NEW, &args) ? -errno : 0;
}

static int hoard(void)
{
    int ready[2];
    char byte;
    int fd = gpu_open();
    if (pipe(ready))
        return 1;
    pid_t pid = fork();
    if (pid == 0) {
        ssize_t told = take_most(gpu_open()) ? 0 : write(ready[1], "", 1);
        while (told == 1)
            pause();
        _exit(1);
    }
    close(ready[1]);
    if (read(ready[0], &byte, 1) != 1 || take_most(fd) != -ENOMEM)
        return 2;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    for (int i = 0; i < 100; i++) {
        if (!take_most(fd))
            return 0;
        gpu_sleep(20);
    }
    return 3;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        const struct fact *facts;
    } groups[] = {{"memory", facts_memory},   {"sync", facts_sync},       {"hang", facts_hang},
                  {"endless", facts_endless}, {"preempt", facts_preempt}, {"levels", facts_levels},
                  {"order", facts_order},     {"threads", facts_threads}, {"stuck", facts_stuck},
                  {"full", facts_full}};
    int status = 0;
    if (argc > 2 && !strcmp(argv[1], "exit"))
        return atoi(argv[2]);
    if (argc > 2 && !strcmp(argv[1], "signal"))
        return raise(atoi(argv[2]));
    if (argc > 1 && !strcmp(argv[1], "block"))
        return block(argv[2]);
    if (argc > 2 && !strcmp(argv[1], "victim"))
        return kill_victim(!strcmp(argv[2], "waits"));
    if (argc > 1 && !strcmp(argv[1], "reuse"))
        return reuse_stream(argc > 2 ? strtoull(argv[2], NULL, 0) : 0);
    if (argc > 1 && !strcmp(argv[1], "hoard"))
        return hoard();
    for (int i = 1; i < argc; i++) {
        for (size_t k = 0; k < sizeof(groups) / sizeof(groups[0]); k++) {
            if (!strcmp(argv[i], groups[k].name))
                status |= run_facts(groups[k].facts);
        }
    }
    return status;
}
