/* SPDX-License-Identifier: MIT
 * Runs jobs and says how they end: where the machine stops, whether it comes to the place where a
 * dump's hardware stood, or what two firmware revisions do differently first. */
#ifndef CPS_RUNNER_H
#define CPS_RUNNER_H

#include "tools/run/record.h"
#include "tools/explain/reduce/job.h"
#include "trace/form/diff.h"

/** How a job ends. Equal texts, equal ends. */
struct ending {
    struct cps_buf text;  /**< for people; empty: it runs to its end, and nothing is different */
    struct cps_buf loose; /**< the same without where the packet lies: jobs may move it */
};

void ending_deinit(struct ending *ending);

/** Where the hardware of a dump stood that waited for the rest of the GPU. */
struct runner_place {
    bool wanted;
    uint32_t header, level, pc;
    uint64_t iova; /**< of the packet; 0: wherever it lies */
};

struct runner {
    struct cps_options opt[2]; /**< of each firmware */
    struct play *play[2];
    unsigned sides; /**< firmware revisions: 1 or 2 */
    struct cps_engine *booted[2];
    struct record record[2];
    struct cps_sink sink[2];
    uint32_t compared; /**< kinds of events, of two revisions */
    struct cps_mask mask;
    struct runner_place place;
    bool there; /**< the last run has been at that place */
    bool in_packet;
    uint64_t instructions; /**< of the last run, the most of both sides */
};

/** Loads the firmware that @p opt names and reads the input into @p job. The caller calls
 * runner_close() and job_deinit() in any case. */
CPS_MUST_USE struct cps_err *runner_open(struct runner *runner, const struct cps_options *opt,
                                         const char *input, struct job *job);
void runner_close(struct runner *runner);
/** Boots once, for all runs of jobs that begin with a GPU and the driver's first packets. */
CPS_MUST_USE struct cps_err *runner_boot(struct runner *runner, const struct job *job);

/** Runs what @p job has left and says how it ends.
 * @param events  kinds of events to keep in runner->record, beyond those that are compared
 * @param ret     gets how; the caller calls ending_deinit() in any case
 * @return NULL, or what an engine refused */
CPS_MUST_USE struct cps_err *runner_run(struct runner *runner, struct job *job, uint32_t events,
                                        struct ending *ret);
/** Lets every run from now on take at most @p factor times the instructions of the last one. */
void runner_bound(struct runner *runner, unsigned factor);

#endif
