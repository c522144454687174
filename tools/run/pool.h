/* SPDX-License-Identifier: MIT
 * Runs tasks in processes: what one of them does to its process, a crash even, does not reach the
 * others. Which process has which task changes nothing in the results. */
#ifndef CPS_PLAY_POOL_H
#define CPS_PLAY_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/base/err.h"

struct json_object;

/** No task: a process died between two. */
#define POOL_NO_TASK UINT32_MAX

/** What is run, and by whom. A process has a copy of all memory as it was when it was made. */
struct pool_job {
    void *context;
    unsigned processes;
    unsigned tasks;
    /** In a process, before it takes a task; or NULL. An error ends the run. */
    struct cps_err *(*begin)(void *context);
    /** In a process: does a task, and puts its result into an object. An error ends the run. */
    struct cps_err *(*work)(void *context, unsigned task, struct json_object *ret);
    /** In a process, behind its last task: puts what it knows of all of them into an object; or
     * NULL. */
    void (*finish)(void *context, struct json_object *ret);
    /** In the parent: takes what a task gave. An error ends the run. */
    struct cps_err *(*take)(void *context, unsigned task, struct json_object *result);
    /** The same for what finish() gave; or NULL. */
    void (*take_last)(void *context, struct json_object *result);
    /** In the parent: a process died. @param task  that it ran, or POOL_NO_TASK; what it was, it is
     * not run again. @param how  for people */
    void (*died)(void *context, unsigned task, const char *how);
    /** In the parent: shows how many tasks are done, for people. */
    void (*progress)(void *context, unsigned done, double seconds);
};

/**
 * Runs all tasks. SIGINT and SIGTERM end it: at first the processes may finish within the second.
 * @param interrupted  gets whether that came
 * @return NULL, or the first error of a task, or CPS_ERR_OS or CPS_ERR_NOMEM of the pool itself
 */
CPS_MUST_USE struct cps_err *pool_run(const struct pool_job *job, bool *interrupted);

#endif
