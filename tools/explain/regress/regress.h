/* SPDX-License-Identifier: MIT
 * Runs the matrix of a manifest in processes of its own. */
#ifndef CPS_REGRESS_H
#define CPS_REGRESS_H

#include "tools/run/cachedir.h"
#include "tools/run/files.h"
#include "tools/run/record.h"
#include "tools/explain/regress/manifest.h"
#include "tools/explain/regress/results.h"

struct regress {
    const struct cps_options *opt;
    struct manifest manifest;
    struct cps_options run; /**< the options of each run */
    uint32_t shard, shards; /**< this process's share of the pairs */
    unsigned jobs;
    struct json_object *results;
    struct json_object *digits; /**< coverage as workers have it: text per firmware */
    uint64_t emulated, cached;  /**< runs */
    uint64_t same;              /**< not made: a run of another firmware's is one of this one's */
    unsigned lost_workers;      /**< that died, with what they knew of the code that ran */
    struct files_stamp (
        *stamp)[2]; /**< of each firmware's files, before anybody reads them; owned */
    struct cache_choice cache;
    char names[65];               /**< digest of --rnn; "": without */
    struct results_folder folder; /**< that results go to */
    bool interrupted;
    int status; /**< of the command */
};

/** Runs pairs (worker.c). */
struct worker;
CPS_MUST_USE struct cps_err *worker_create(struct regress *regress, struct worker **ret);
void worker_destroy(struct worker *worker);
/** Whether the manifest pairs these, and the pair is of this shard. */
bool worker_has(const struct regress *regress, unsigned firmware, unsigned capture);
/** One capture on its firmware. @p ret  gets "pairs", and "places" that are new to this worker. */
void worker_capture(struct worker *worker, unsigned capture, struct json_object *ret);
/** Coverage that the worker has seen, per firmware, as the results hold it. */
struct json_object *worker_coverage(const struct worker *worker);
/** What the code of each firmware differs in from the baseline's. */
CPS_MUST_USE struct cps_err *worker_code(struct worker *worker, struct json_object *ret);
/** Adds how many runs it made, took from the cache, or did not make for the same code. */
void worker_counts(const struct worker *worker, struct json_object *ret);

/** pool.c: runs every capture in `jobs` processes and gathers what they found. */
CPS_MUST_USE struct cps_err *pool_run(struct regress *regress);

#endif
