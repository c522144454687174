/* SPDX-License-Identifier: MIT
 * Runs the matrix of a manifest in processes of its own.
 *
 *   manifest.c  reads the matrix
 *   matrix.c    runs it, and holds the results against the manifest
 *   worker.c    what a process does: a capture on all of its firmware
 *   judge.c     what a pair comes to, and where its differences come from
 *   cache.c     results of runs by what they were made from
 *   results.c   the results: their order, sums, and merging; check.c whether a file has them
 *   report.c    results as files; page.c for people */
#ifndef CPS_REGRESS_H
#define CPS_REGRESS_H

#include "tools/cmd/options/opt.h"
#include "tools/run/files.h"
#include "tools/explain/regress/cache.h"
#include "tools/explain/regress/manifest.h"
#include "tools/explain/regress/results.h"
#include "tools/explain/diff/diffcause.h"
#include "trace/event/mask.h"

struct regress {
    const struct cps_options *opt;
    struct manifest manifest;
    struct cps_run_config run;
    uint32_t shard, shards; /**< this process's share of the pairs */
    unsigned jobs;
    struct json_object *results;
    struct json_object *digits; /**< coverage as workers have it: text per firmware */
    uint64_t emulated, cached;  /**< runs */
    unsigned lost_workers;      /**< that died, with what they knew of the code that ran */
    struct files_stamp (
        *stamp)[2]; /**< of each firmware's files, before anybody reads them; owned */
    struct cache_choice cache;
    char names[65];               /**< digest of --rnn; "": without */
    struct results_folder folder; /**< that results go to */
    bool interrupted;
    int status;            /**< of the command */
    struct worker *worker; /**< in a process; owned */
};

/** matrix.c: sets "manifest" (the digest of the names of all pairs) and "pairs_total" of results,
 * whatever the share. */
void regress_count_pairs(struct regress *regress);
/** Runs every capture in `jobs` processes and gathers what they found. */
CPS_MUST_USE struct cps_err *regress_run(struct regress *regress);
/** Holds sorted results against the manifest and the share. @return CPS_ERR_INPUT that names the
 * first one missing, invented or without a status */
CPS_MUST_USE struct cps_err *regress_check_pairs(const struct regress *regress);
/** The result of a pair, with no more than its names. */
struct json_object *regress_new_pair(const struct manifest *manifest, unsigned firmware,
                                     unsigned capture);
/** Whether the manifest pairs these, and the pair is of this shard. */
bool regress_has_pair(const struct regress *regress, unsigned firmware, unsigned capture);

/* ---- A process of a run ---- */

/** A firmware of the manifest, opened once. */
struct engine {
    struct cps_fw *fw, *me; /**< NULL: an engine for scripts */
    enum cps_gen gen;
    struct cps_err *err; /**< why it cannot run */
    char hash[65], me_hash[65];
    struct record_boot boot;
    bool booted;
    uint8_t *cover; /**< per dword, bits as in the cache */
    struct cps_names *names[CPS_CPU_COUNT];
    struct diff_causes *causes; /**< of what differs from the baseline; NULL: not looked for yet */
};

struct worker {
    struct regress *regress;
    struct engine *engine; /**< by firmware of the manifest */
    struct cps_mask mask;
    struct json_object *seen;   /**< places that some pair of this worker was in */
    struct json_object *places; /**< new ones of the capture at hand */
    uint64_t emulated, cached;
    char capture_hash[65]; /**< of the capture at hand */
    struct files_stamp capture_stamp;
    bool cache_failed;
};

/** The baseline's run of the capture at hand, made once for all that are compared with it. */
struct base {
    struct record record;
    struct cps_err *err; /**< why there is none */
};

CPS_MUST_USE struct cps_err *worker_create(struct regress *regress, struct worker **ret);
void worker_destroy(struct worker *worker);
/** One capture on its firmware. @p ret  gets "pairs", and "places" that are new to this worker. */
void worker_capture(struct worker *worker, unsigned capture, struct json_object *ret);
/** Adds how many runs it made or took from the cache, and the coverage that it has seen. */
void worker_sums(const struct worker *worker, struct json_object *ret);
/** What the code of each firmware differs in from the baseline's. */
CPS_MUST_USE struct cps_err *worker_code(struct worker *worker, struct json_object *ret);

/* Between worker.c and judge.c. */

/** The same error, for another pair that it holds for. */
CPS_MUST_USE struct cps_err *worker_again_(const struct cps_err *err);
/** What the run of a pair gives, or gave. */
CPS_MUST_USE struct cps_err *worker_record_(struct worker *w, unsigned firmware, unsigned capture,
                                            struct record *ret);
/** The events that runs keep. */
uint32_t worker_kinds_(const struct worker *w);
/** Boots a firmware, once for all captures. */
CPS_MUST_USE struct cps_err *worker_boot_(struct worker *w, unsigned firmware);
/** What makes a run of the capture at hand, for the cache; `dir` is "" where there is none. */
struct cache_run worker_cache_run_(const struct worker *w, unsigned firmware);
/** A run reads its files once more: what is known of them must be of what it read. */
CPS_MUST_USE struct cps_err *worker_check_inputs_(const struct worker *w, unsigned firmware,
                                                  const char *capture);
/** Judges a pair. @p base  NULL: there is no baseline */
CPS_MUST_USE struct cps_err *worker_judge_(struct worker *w, unsigned firmware, unsigned capture,
                                           const struct base *base, struct json_object *pair);
/** Appends the path of a golden: DIR/FIRMWARE/CAPTURE.cpt. */
void worker_golden_(const struct manifest *m, unsigned firmware, unsigned capture,
                    struct cps_buf *ret);
/** Sets status and reason of a pair. */
void worker_set_status_(struct json_object *pair, enum result_status status, const char *reason);

#endif
