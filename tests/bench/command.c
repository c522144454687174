/* SPDX-License-Identifier: MIT
 * Whole commands, as children, as a user runs them; and clones of a booted machine beside making
 * one anew. */
#include "tests/bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/base/le.h"
#include "isa/base/pm4.h"
#include "isa/packet.h"

#define MOST_WORDS 32
#define LIMIT      (64.0 * 1024 * 1024)

/* cpscope with a command, the firmware so many times, and more words, up to a NULL. */
static struct bench_child command(struct bench *b, const char *name, unsigned revisions,
                                  const char *const more[])
{
    const char *word[MOST_WORDS + 1] = {"cpscope", name};
    unsigned count = 2;
    for (unsigned i = 0; i < revisions * b->firmwares && count + 2 < MOST_WORDS; i++) {
        word[count++] = "--fw";
        word[count++] = b->firmware[i % b->firmwares];
    }
    while (*more && count < MOST_WORDS)
        word[count++] = *more++;
    struct bench_child child = bench_run(b->cpscope, word);
    return child.good ? child : (struct bench_child){0};
}

/* `run` without events, by one thread. */
static struct bench_child run_silent(struct bench *b, const char *file)
{
    return command(
        b, "run", 1,
        (const char *const[]){"--events", "end", "--threads", "0", "-o", "/dev/null", file, NULL});
}

double bench_run_rd(struct bench *b)
{
    return run_silent(b, b->large[BENCH_RD]).cpu;
}

double bench_run_gz(struct bench *b)
{
    return run_silent(b, b->large[BENCH_GZ]).cpu;
}

double bench_run_zst(struct bench *b)
{
    return b->has_zst ? run_silent(b, b->large[BENCH_ZST]).cpu : 0;
}

double bench_small(struct bench *b)
{
    return run_silent(b, b->small).wall;
}

double bench_wall_gz(struct bench *b)
{
    return command(b, "run", 1,
                   (const char *const[]){"--events", "end", "-o", "/dev/null", b->large[BENCH_GZ],
                                         NULL})
        .wall;
}

double bench_run_cpt(struct bench *b)
{
    char out[BENCH_PATH];
    snprintf(out, sizeof(out), "%s/large.cpt", b->dir);
    struct bench_child child = command(
        b, "run", 1, (const char *const[]){"--threads", "0", "-o", out, b->large[BENCH_RD], NULL});
    b->peak = child.bytes;
    return child.cpu;
}

double bench_step(struct bench *b)
{
    return command(b, "step", 1,
                   (const char *const[]){b->large[BENCH_RD], "--script", b->script, NULL})
        .cpu;
}

double bench_diff(struct bench *b)
{
    return command(b, "diff", 2, (const char *const[]){b->large[BENCH_RD], NULL}).cpu;
}

double bench_fuzz(struct bench *b)
{
    char execs[16];
    snprintf(execs, sizeof(execs), "%u", (unsigned)b->count[BENCH_EXECS]);
    return command(b, "fuzz", 1,
                   (const char *const[]){"--execs", execs, "--seed", "1", "--jobs", "1", NULL})
        .cpu;
}

static double regress(struct bench *b, const char *jobs)
{
    return command(b, "regress", 0,
                   (const char *const[]){b->manifest, "--no-cache", "--jobs", jobs, "-o", b->report,
                                         NULL})
        .wall;
}

double bench_regress_1(struct bench *b)
{
    return regress(b, "1");
}

double bench_regress_2(struct bench *b)
{
    return regress(b, "2");
}

double bench_peak(struct bench *b)
{
    if (b->peak == 0)
        bench_run_cpt(b);
    return b->peak;
}

double bench_allowed(struct bench *b)
{
    return LIMIT + (double)b->live;
}

/* Stores one packet and runs it. */
static struct cps_err *first_packet(struct cps_engine *machine)
{
    const uint64_t at = 0x100000;
    uint8_t bytes[4];
    cps_put_le32(bytes, cps_pm4_type7(PM4_CP_NOP, 0));
    const struct cps_item data = {.kind = CPS_ITEM_DATA,
                                  .buffer = {.iova = at, .size = 4, .data = bytes}};
    const struct cps_item submit = {.kind = CPS_ITEM_SUBMIT, .stream = {.iova = at, .dwords = 1}};
    CPS_TRY(cps_engine_feed(machine, &data));
    CPS_TRY(cps_engine_feed(machine, &submit));
    cps_engine_run(machine, UINT64_MAX);
    return NULL;
}

static struct cps_err *clone_once(struct bench *b)
{
    struct cps_engine *copy = NULL;
    CPS_TRY(cps_engine_clone(b->booted, &copy));
    struct cps_err *err = first_packet(copy);
    cps_engine_destroy(copy);
    return err;
}

static struct cps_err *boot_once(struct bench *b)
{
    struct play play = {0};
    struct cps_err *err = play_open(&play, &b->with.run, NULL);
    if (!err) {
        play_boot(&play);
        err = first_packet(play.engine);
    }
    play_close(&play);
    return err;
}

/* CPU seconds of one, the mean of a few: the first finds cold caches. */
static double mean(struct bench *b, struct cps_err *(*once)(struct bench *b))
{
    enum { TIMES = 16 };
    struct cps_err *err = NULL;
    double start = bench_cpu();
    for (unsigned i = 0; !err && i < TIMES; i++)
        err = once(b);
    bool failed = err;
    cps_err_free(err);
    return failed ? 0 : (bench_cpu() - start) / TIMES;
}

double bench_clone(struct bench *b)
{
    return mean(b, clone_once);
}

double bench_whole(struct bench *b)
{
    return mean(b, boot_once);
}
