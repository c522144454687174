/* SPDX-License-Identifier: MIT
 * Processes that are measured, and clocks. */
#include "tests/bench/bench.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static double clock_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double bench_now(void)
{
    return clock_of(CLOCK_MONOTONIC);
}

double bench_cpu(void)
{
    /* Under RLIMIT_CPU Linux counts that of a process in ticks of 4 ms, which some samples do not
     * last. */
    return clock_of(CLOCK_THREAD_CPUTIME_ID);
}

double bench_rate(double count, double seconds)
{
    return seconds > 0 ? count / seconds : 0;
}

struct bench_child bench_run(const char *path, const char *const arguments[])
{
    enum { FOUND_SOMETHING = 1 };
    struct bench_child child = {0};
    struct rusage usage;
    posix_spawn_file_actions_t quiet;
    pid_t pid = 0;
    int status = 0;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    double start = bench_now();
    if (!posix_spawnp(&pid, path, &quiet, NULL, (char *const *)arguments, environ) &&
        wait4(pid, &status, 0, &usage) == pid && WIFEXITED(status))
        child = (struct bench_child){
            .good = WEXITSTATUS(status) <= FOUND_SOMETHING,
            .cpu = seconds(usage.ru_utime) + seconds(usage.ru_stime),
            .wall = bench_now() - start,
            .bytes = (double)usage.ru_maxrss * 1024,
        };
    posix_spawn_file_actions_destroy(&quiet);
    return child;
}
