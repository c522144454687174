/* SPDX-License-Identifier: MIT
 * What a run does, with submissions that are in no file. */
#ifndef CPS_CMD_RUN_H
#define CPS_CMD_RUN_H

#include "tools/cmd/options/opt.h"
#include "tools/explain/summary/summary.h"
#include "tools/run/play.h"

/** Where submissions come from. */
struct run_source {
    const char *name;         /**< in the trace's head, in place of a capture */
    struct cps_host host;     /**< of the engine */
    struct cps_sink *watcher; /**< gets events of these `kinds`; or NULL */
    uint32_t kinds;
    struct summary_source summary;
    /** The status of the command; @p status is that of the run. */
    int (*status)(struct run_source *source, int status);
    /** Runs all that there is to run, and ends the run (cps_engine_end()). */
    struct cps_err *(*run)(struct run_source *source, struct play *play);
};

/** As `run`, without a file; the trace only with -o. @return the exit status */
int run_source(const struct cps_options *opt, struct run_source *source);

#endif
