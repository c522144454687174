/* SPDX-License-Identifier: MIT
 * What `cpscope bench` measures: each figure next to a yardstick that runs in turns with it. */
#ifndef CPS_BENCH_H
#define CPS_BENCH_H

#include "tools/play/play.h"

/** Where whole commands are measured, and on what. */
struct bench {
    struct play play;
    char dir[64];        /**< a directory of its own, removed at the end */
    char capture[96];    /**< a large .rd.gz in it */
    char manifest[96];   /**< the demo firmware over many smaller ones */
    uint64_t live_bytes; /**< most that the large one has in memory at a time */
};

/** One measured thing. Both functions return a value in @p unit, or 0 where it cannot be had. */
struct figure {
    const char *name;
    const char *unit; /**< SI base units: "instructions/s", "s", "bytes" */
    double (*measure)(struct bench *bench);
    double (*yardstick)(struct bench *bench);
    const char *against; /**< what the yardstick is, for people */
};

/** Stores @p dwords words where bench_submit() reads them, from dword @p at on. */
CPS_MUST_USE struct cps_err *bench_load(struct cps_engine *engine, const void *words,
                                        uint32_t dwords);
void bench_submit(struct cps_engine *engine, uint32_t at, uint32_t dwords);
/** Seconds of the monotonic clock. */
double bench_now(void);

/* loop.c: the interpreter alone, against plain C. */
double bench_alu(struct bench *bench);
double bench_alu_native(struct bench *bench);
double bench_writes_60(struct bench *bench);
double bench_writes_2(struct bench *bench);
double bench_native_60(struct bench *bench);
double bench_native_2(struct bench *bench);

/* run.c: whole commands. */
CPS_MUST_USE struct cps_err *bench_prepare(struct bench *bench);
void bench_clean(struct bench *bench);
double bench_run_cpt(struct bench *bench);
double bench_run_silent(struct bench *bench);
double bench_inflate(struct bench *bench);
double bench_boot_clone(struct bench *bench);
double bench_boot_whole(struct bench *bench);
double bench_regress_2(struct bench *bench);
double bench_regress_1(struct bench *bench);
double bench_peak(struct bench *bench);
double bench_peak_allowed(struct bench *bench);

#endif
