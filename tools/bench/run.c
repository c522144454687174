/* SPDX-License-Identifier: MIT
 * Whole commands on a capture that is made for it: time, memory, and what the reading of the file
 * alone would take. Commands run as children, as a user runs them. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* nftw(); ncurses asks for it, too */
#endif
#include "tools/bench/bench.h"

#include <fcntl.h>
#include <ftw.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "fw/demo/demo.h"
#include "isa/base/pm4.h"

extern char **environ;

#define LARGE_SUBMISSIONS 1200u
#define SMALL_SUBMISSIONS 150u
#define REGRESS_CAPTURES  64u
#define DATA_DWORDS       8192u
#define STREAM_DWORDS     1024u
#define DATA_IOVA         0x200000u
#define STREAM_IOVA       0x100000u
#define LIMIT_BYTES       (64.0 * 1024 * 1024)
#define READ_BYTES        65536u

enum { GPUADDR = 3, CMDSTREAM = 6, CONTENTS = 12, GPU_ID = 13 };
enum { OP_NOP = 0x10, OP_WAIT_FOR_IDLE = 0x26 };

static void put_section(gzFile out, uint32_t type, const uint32_t *words, uint32_t count)
{
    const uint32_t head[2] = {type, 4 * count};
    gzwrite(out, head, sizeof(head));
    gzwrite(out, words, 4 * count);
}

static void put_buffer(gzFile out, uint32_t iova, const uint32_t *words, uint32_t count)
{
    put_section(out, GPUADDR, (const uint32_t[]){iova, 4 * count, 0}, 3);
    put_section(out, CONTENTS, words, count);
}

/* Runs of registers as drivers write them, with a wait and some padding between. */
static void make_stream(uint32_t *words, uint32_t *random)
{
    static const uint32_t lengths[] = {1, 2, 1, 3, 5, 1, 13, 2, 1, 60};
    uint32_t at = 0;
    for (uint32_t i = 0; at + 64 < STREAM_DWORDS; i++) {
        uint32_t count = lengths[i % 10];
        words[at++] = cps_pm4_type4(0x8800 + i % 64, count);
        for (uint32_t n = 0; n < count; n++) {
            *random = *random * 1664525u + 1013904223u;
            words[at++] = *random >> 20;
        }
        if (i % 10 == 9)
            words[at++] = cps_pm4_type7(OP_WAIT_FOR_IDLE, 0);
    }
    words[at] = cps_pm4_type7(OP_NOP, STREAM_DWORDS - at - 1);
    memset(words + at + 1, 0, 4 * (STREAM_DWORDS - at - 1));
}

/* Vertices, and as much that nobody has written: compresses eight times, as real captures do. */
static void make_data(uint32_t *words, uint32_t *random)
{
    uint32_t value = 0x3f800000u;
    memset(words, 0, 4 * DATA_DWORDS);
    for (uint32_t i = 0; i < DATA_DWORDS / 2; i++) {
        *random = *random * 1664525u + 1013904223u;
        value += i % 4 ? 0 : *random >> 28;
        words[i] = value + (i % 4 << 16);
    }
}

static struct cps_err *write_capture(const char *path, uint32_t submissions)
{
    static uint32_t data[DATA_DWORDS];
    static uint32_t stream[STREAM_DWORDS];
    uint32_t random = 1;
    gzFile out = gzopen(path, "wb6");
    if (!out)
        return cps_err_os(path, "create");
    put_section(out, GPU_ID, (const uint32_t[]){630}, 1);
    for (uint32_t i = 0; i < submissions; i++) {
        make_data(data, &random);
        make_stream(stream, &random);
        put_buffer(out, DATA_IOVA, data, DATA_DWORDS);
        put_buffer(out, STREAM_IOVA, stream, STREAM_DWORDS);
        put_section(out, CMDSTREAM, (const uint32_t[]){STREAM_IOVA, STREAM_DWORDS, 0}, 3);
    }
    return gzclose(out) == Z_OK ? NULL : cps_err_os(path, "write");
}

static struct cps_err *write_matrix(struct bench *b)
{
    char first[128];
    char path[128];
    snprintf(path, sizeof(path), "%s/demo.fw", b->dir);
    CPS_TRY(cps_outfile_whole(path, cps_demo_fw, cps_demo_fw_size));
    snprintf(first, sizeof(first), "%s/m00.rd.gz", b->dir);
    CPS_TRY(write_capture(first, SMALL_SUBMISSIONS));
    for (unsigned i = 1; i < REGRESS_CAPTURES; i++) {
        snprintf(path, sizeof(path), "%s/m%02u.rd.gz", b->dir, i);
        if (link(first, path))
            return cps_err_os(path, "link");
    }
    static const char text[] = "# cpscope-manifest 1\nfirmware demo demo.fw\ncapture m*.rd.gz\n";
    return cps_outfile_whole(b->manifest, text, sizeof(text) - 1);
}

struct cps_err *bench_prepare(struct bench *b)
{
    const char *base = getenv("TMPDIR");
    snprintf(b->dir, sizeof(b->dir) - 1, "%.32s/cpscope-bench-XXXXXX",
             base && *base ? base : "/tmp");
    if (!mkdtemp(b->dir)) {
        struct cps_err *err = cps_err_os(b->dir, "create");
        b->dir[0] = '\0';
        return err;
    }
    snprintf(b->capture, sizeof(b->capture), "%s/large.rd.gz", b->dir);
    snprintf(b->manifest, sizeof(b->manifest), "%s/manifest.txt", b->dir);
    b->live_bytes = 4 * (DATA_DWORDS + STREAM_DWORDS);
    CPS_TRY(write_capture(b->capture, LARGE_SUBMISSIONS));
    return write_matrix(b);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    return remove(path);
}

void bench_clean(struct bench *b)
{
    if (b->dir[0])
        nftw(b->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* How a child ended. */
struct child {
    double seconds; /* 0: it failed */
    double bytes;   /* most it had in memory */
};

static struct child run(char *const arguments[])
{
    struct child child = {0};
    struct rusage usage;
    posix_spawn_file_actions_t quiet;
    pid_t pid = 0;
    int status = 0;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    double start = bench_now();
    if (!posix_spawn(&pid, "/proc/self/exe", &quiet, NULL, arguments, environ) &&
        wait4(pid, &status, 0, &usage) == pid && status == 0)
        child = (struct child){bench_now() - start, (double)usage.ru_maxrss * 1024};
    posix_spawn_file_actions_destroy(&quiet);
    return child;
}

/* `run` of the large capture with the firmware of the command line, or the demo's; the trace goes
 * to @p out, NULL: no events. */
static struct child run_large(struct bench *b, char *out)
{
    char *arguments[6 + 2 * OPT_MAX_FW + 1] = {"cpscope", "run", "--json", b->capture};
    unsigned count = 4;
    const struct cps_options *opt = b->play.opt;
    if (out) {
        arguments[count++] = "-o";
        arguments[count++] = out;
    }
    for (unsigned i = 0; i < opt->fw_count; i++) {
        arguments[count++] = "--fw";
        arguments[count++] = (char *)opt->fw[i];
    }
    if (!opt->fw_count)
        arguments[count++] = "--demo";
    return run(arguments);
}

double bench_run_cpt(struct bench *b)
{
    char out[128];
    snprintf(out, sizeof(out), "%s/large.cpt", b->dir);
    return run_large(b, out).seconds;
}

double bench_run_silent(struct bench *b)
{
    return run_large(b, NULL).seconds;
}

double bench_inflate(struct bench *b)
{
    static uint8_t piece[READ_BYTES];
    double start = bench_now();
    gzFile in = gzopen(b->capture, "rb");
    if (!in)
        return 0;
    gzbuffer(in, READ_BYTES);
    while (gzread(in, piece, sizeof(piece)) > 0)
        ;
    gzclose(in);
    return bench_now() - start;
}

static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Stores one packet and runs it. */
static void first_packet(struct cps_engine *machine)
{
    uint32_t word = cps_pm4_type7(OP_NOP, 0);
    struct cps_err *err = bench_load(machine, &word, 1);
    if (!err)
        bench_submit(machine, 0, 1);
    cps_err_free(err);
}

double bench_boot_clone(struct bench *b)
{
    struct cps_engine *copy = NULL;
    double start = cpu();
    struct cps_err *err = cps_engine_clone(b->play.engine, &copy);
    if (!err)
        first_packet(copy);
    cps_engine_destroy(copy);
    cps_err_free(err);
    return err ? 0 : cpu() - start;
}

double bench_boot_whole(struct bench *b)
{
    struct play play = {0};
    double start = cpu();
    struct cps_err *err = play_open(&play, b->play.opt, NULL);
    if (!err) {
        play_boot(&play);
        first_packet(play.engine);
    }
    play_close(&play);
    cps_err_free(err);
    return err ? 0 : cpu() - start;
}

static double regress(struct bench *b, char *jobs)
{
    char out[128];
    snprintf(out, sizeof(out), "%s/report", b->dir);
    char *const arguments[] = {"cpscope", "regress", b->manifest, "--no-cache", "--jobs",
                               jobs,      "-o",      out,         NULL};
    double seconds = run(arguments).seconds;
    return seconds > 0 ? REGRESS_CAPTURES / seconds : 0;
}

double bench_regress_2(struct bench *b)
{
    return regress(b, "2");
}

double bench_regress_1(struct bench *b)
{
    return regress(b, "1");
}

double bench_peak(struct bench *b)
{
    char out[128];
    snprintf(out, sizeof(out), "%s/large.cpt", b->dir);
    return run_large(b, out).bytes;
}

double bench_peak_allowed(struct bench *b)
{
    return LIMIT_BYTES + (double)b->live_bytes;
}
