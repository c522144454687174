/* SPDX-License-Identifier: MIT
 * Handlers in processes: the solver keeps its memory to itself, and what dies takes one handler
 * with it. */
#include <stdlib.h>
#include <string.h>

#include "tools/run/pool.h"
#include "tools/explain/prove/task.h"
#include "tools/cmd/render/doc.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/cmd/terminal/progress.h"

struct run {
    struct prove *prove;
    size_t *missing; /* tasks without a result, or with one to be checked */
    size_t count;
    bool died; /* a process that looked for places */
};

/* ---- First: places that are equal, of each part ---- */

static struct cps_err *find_places(void *context, unsigned task, struct json_object *ret)
{
    struct run *run = context;
    struct prove_part *part = &run->prove->part[task];
    bool wanted = false;
    smt_out_of_memory = tool_oom;
    for (size_t i = 0; i < run->count; i++)
        wanted = wanted || run->prove->task[run->missing[i]].part == task;
    if (!wanted)
        return NULL;
    prove_places(part);
    struct json_object *list = cps_json_new_array(ret, "proven");
    for (uint32_t i = 0; i < part->code.side[0].count; i++)
        cps_json_append(list, json_object_new_int64(part->proven[i]));
    return NULL;
}

static struct cps_err *take_places(void *context, unsigned task, struct json_object *result)
{
    struct prove_part *part = &((struct run *)context)->prove->part[task];
    struct json_object *list = cps_json_get(result, "proven");
    for (size_t i = 0; i < cps_json_count(list) && i < part->code.side[0].count; i++)
        part->proven[i] = (uint32_t)json_object_get_int64(json_object_array_get_idx(list, i));
    return NULL;
}

static void places_died(void *context, unsigned task, const char *how)
{
    (void)task;
    (void)how;
    ((struct run *)context)->died = true;
}

/* ---- Then the handlers ---- */

static struct cps_err *compare_handler(void *context, unsigned task, struct json_object *ret)
{
    const struct run *run = context;
    const struct prove_task *at = &run->prove->task[run->missing[task]];
    struct json_object *result = NULL;
    smt_out_of_memory = tool_oom;
    CPS_TRY(prove_task(run->prove, at, &result));
    prove_keep(run->prove, at, result);
    cps_json_add(ret, "handler", result);
    return NULL;
}

static struct cps_err *take_handler(void *context, unsigned task, struct json_object *result)
{
    const struct run *run = context;
    struct prove_task *at = &run->prove->task[run->missing[task]];
    json_object_put(at->result);
    at->unchecked = false;
    at->result = json_object_get(cps_json_get(result, "handler"));
    return NULL;
}

static void handler_died(void *context, unsigned task, const char *how)
{
    const struct run *run = context;
    const struct prove *prove = run->prove;
    (void)how;
    if (task >= run->count)
        return;
    struct prove_task *at = &prove->task[run->missing[task]];
    if (at->result && !at->unchecked)
        return;
    json_object_put(at->result);
    at->unchecked = false;
    at->result = doc_new();
    prove_put_packets(prove, at->part, prove_handler_of(prove, at), at->result);
    doc_put(at->result, "processor=%s verdict=%s why=%s",
            cps_fw_role_name(prove->part[at->part].code.side[0].part->role),
            verdict_name(VERDICT_UNDECIDED), "the process that compared it died");
    tool_json(at->result);
}

static void show_progress(void *context, unsigned done, double seconds)
{
    (void)seconds;
    progress_show("%u of %zu handlers", done, ((struct run *)context)->count);
}

static void show_none(void *context, unsigned done, double seconds)
{
    (void)done;
    show_progress(context, 0, seconds);
}

static struct cps_err *run_both(struct run *run)
{
    struct prove *prove = run->prove;
    const struct pool_job places = {.context = run,
                                    .processes = prove->jobs,
                                    .tasks = prove->parts,
                                    .work = find_places,
                                    .take = take_places,
                                    .died = places_died,
                                    .progress = show_none};
    const struct pool_job handlers = {.context = run,
                                      .processes = prove->jobs,
                                      .tasks = (unsigned)run->count,
                                      .work = compare_handler,
                                      .take = take_handler,
                                      .died = handler_died,
                                      .progress = show_progress};
    CPS_TRY(pool_run(&places, &prove->interrupted));
    if (prove->interrupted)
        return NULL;
    if (run->died) /* without its places, verdicts of a part would differ */
        return cps_err_new(CPS_ERR_OS, "the process that looks for places that are equal died");
    CPS_TRY(pool_run(&handlers, &prove->interrupted));
    for (unsigned i = 0; i < run->count && !prove->interrupted; i++)
        handler_died(run, i, ""); /* those that no process was left for */
    return NULL;
}

struct cps_err *prove_run(struct prove *prove)
{
    struct run run = {.prove = prove};
    run.missing = tool_alloc(prove->tasks, sizeof(*run.missing));
    for (size_t i = 0; i < prove->tasks; i++) {
        if (!prove->task[i].result || prove->task[i].unchecked)
            run.missing[run.count++] = i;
    }
    struct cps_err *err = run.count ? run_both(&run) : NULL;
    free(run.missing);
    return err;
}
