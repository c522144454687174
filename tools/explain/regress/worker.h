/* SPDX-License-Identifier: MIT
 * Between the files of a worker: worker.c (its life), runs.c (a run, or the cache's), judge.c (what
 * a pair comes to), explain.c (where its differences come from). */
#ifndef CPS_WORKER_H
#define CPS_WORKER_H

#include "tools/run/files.h"
#include "tools/explain/regress/cache.h"
#include "tools/explain/regress/regress.h"
#include "tools/explain/diff/diffcause.h"
#include "trace/event/mask.h"

struct json_object;

/* A firmware of the manifest, opened once. */
struct engine {
    struct cps_fw *fw, *me; /* NULL: an engine for scripts */
    enum cps_gen gen;
    struct cps_err *err; /* why it cannot run */
    char hash[65], me_hash[65];
    struct record_boot boot;
    bool booted;
    uint8_t *cover; /* per dword, bits as in the cache */
    struct cps_names *names[CPS_CPU_COUNT];
    struct diff_causes *causes; /* of what differs from the baseline; NULL: not looked for yet */
};

struct worker {
    struct regress *regress;
    struct engine *engine; /* by firmware of the manifest */
    struct cps_mask mask;
    struct json_object *seen;   /* places that some pair of this worker was in */
    struct json_object *places; /* new ones of the capture at hand */
    uint64_t emulated, cached, same;
    char capture_hash[65]; /* of the capture at hand */
    struct files_stamp capture_stamp;
    bool cache_failed;
};

/** The baseline's run of the capture at hand, made once for all that are compared with it. */
struct base {
    struct record record;
    struct cps_err *err; /* why there is none */
};

/** The same error, for another pair that it holds for. */
CPS_MUST_USE struct cps_err *worker_again_(const struct cps_err *err);
/** What the run of a pair gives, or gave. */
CPS_MUST_USE struct cps_err *worker_record_(struct worker *w, unsigned firmware, unsigned capture,
                                            struct record *ret);
/** Whether a run of another firmware is one of this firmware, too. @return an error of the boot, as
 * worker_record_() has it: what is said of a pair does not depend on it */
CPS_MUST_USE struct cps_err *worker_same_code_(struct worker *w, unsigned firmware,
                                               const struct record *other, bool *ret);
/** The events that runs keep. */
uint32_t worker_kinds_(const struct worker *w);
/** Boots a firmware, once for all captures. */
CPS_MUST_USE struct cps_err *worker_boot_(struct worker *w, unsigned firmware);
/** What makes a run of the capture at hand, for the cache; `dir` is "" where there is none. */
struct cache_run worker_cache_run_(const struct worker *w, unsigned firmware);
/** A run reads its files once more: what is known of them must be of what it read. */
CPS_MUST_USE struct cps_err *worker_check_inputs_(const struct worker *w, unsigned firmware,
                                                  const char *capture);
/** Adds to what is known of the code that ran. */
void worker_keep_cover_(struct engine *e, const struct record *record);

/** Judges a pair. @p base  NULL: there is no baseline */
CPS_MUST_USE struct cps_err *worker_judge_(struct worker *w, unsigned firmware, unsigned capture,
                                           const struct base *base, struct json_object *pair);
/** Appends the path of a golden: DIR/FIRMWARE/CAPTURE.cpt. */
void worker_golden_(const struct manifest *m, unsigned firmware, unsigned capture,
                    struct cps_buf *ret);
/** What is said of a pair. */
void worker_say_(struct json_object *pair, enum result_status status, const char *reason);

/** A pair that differs, and why. */
struct explain {
    unsigned firmware[2]; /**< of the manifest: the baseline, and what is compared with it */
    unsigned capture;
    const struct record *record[2];
    const struct diff_causes *causes;
};
/** Adds to the causes of the results, in their order, where the values of the first difference come
 * from: "why_old" and "why_new", of the first few (explain.c). */
CPS_MUST_USE struct cps_err *worker_explain_(struct worker *w, const struct explain *what,
                                             struct json_object *causes);

#endif
