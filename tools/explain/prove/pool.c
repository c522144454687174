/* SPDX-License-Identifier: MIT
 * Runs tasks in processes: the solver keeps its memory to itself, and what dies takes one handler
 * with it. Each process writes results into a file of its own without a name; which process has
 * which task changes nothing in them. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "isa/base/within.h"
#include "tools/run/interrupt.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/explain/prove/task.h"
#include "tools/cmd/terminal/progress.h"
#include "tools/cmd/terminal/report.h"

#define PAUSE_US 100000u

struct shared {
    atomic_uint next, done;
    atomic_bool failed; /* a process has put its error into `error` */
    char error[512];
};

struct pool {
    struct prove *prove;
    struct shared *shared;
    uint32_t *proven; /* of all parts, in a row; shared */
    pid_t *pid;       /* 0: has ended */
    FILE **file;
    bool died; /* a process, by a signal */
};

/* What a process does: takes what is next until there is no more. */
typedef struct cps_err *pool_work(struct pool *p, FILE *file);

/* ---- A process ---- */

static bool put_result(FILE *file, size_t index, struct json_object *result)
{
    const char *text = cps_json_print(result, JSON_C_TO_STRING_PLAIN);
    return text && fprintf(file, "%zu %s\n", index, text) > 0 && !fflush(file);
}

static uint32_t *proven_of(const struct pool *p, unsigned part)
{
    uint32_t *at = p->proven;
    for (unsigned i = 0; i < part; i++)
        at += p->prove->part[i].code.side[0].count;
    return at;
}

static bool is_wanted(const struct prove *prove, unsigned part)
{
    for (size_t i = 0; i < prove->tasks; i++) {
        if (!prove->task[i].result && prove->task[i].part == part)
            return true;
    }
    return false;
}

static struct cps_err *work_on_places(struct pool *p, FILE *file)
{
    unsigned at = 0;
    (void)file;
    while ((at = atomic_fetch_add(&p->shared->next, 1)) < p->prove->parts) {
        struct prove_part *part = &p->prove->part[at];
        if (!is_wanted(p->prove, at))
            continue;
        prove_places(part);
        memcpy(proven_of(p, at), part->proven, part->code.side[0].count * sizeof(uint32_t));
    }
    return NULL;
}

static struct cps_err *work_on_tasks(struct pool *p, FILE *file)
{
    struct prove *prove = p->prove;
    unsigned at = 0;
    while ((at = atomic_fetch_add(&p->shared->next, 1)) < prove->tasks) {
        struct json_object *result = NULL;
        if (prove->task[at].result && !prove->task[at].unchecked)
            continue;
        CPS_TRY(prove_task(prove, &prove->task[at], &result));
        prove_keep(prove, &prove->task[at], result);
        bool good = put_result(file, at, result);
        json_object_put(result);
        if (!good)
            return cps_err_os("(results)", "write");
        atomic_fetch_add(&p->shared->done, 1);
    }
    return NULL;
}

/* The first error is the parent's to tell. */
static void tell(struct shared *shared, const char *text)
{
    if (!atomic_exchange(&shared->failed, true))
        snprintf(shared->error, sizeof(shared->error), "%s", text);
}

static struct shared *of_this_process;

static void end_without_memory(void)
{
    tell(of_this_process, "out of memory");
    _exit(1);
}

static void become_worker(struct pool *p, pool_work *work, FILE *file, pid_t parent)
{
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_DFL);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
    of_this_process = p->shared;
    smt_out_of_memory = tool_oom_handler = end_without_memory;
    struct cps_err *err = getppid() == parent ? work(p, file) : NULL;
    if (err)
        tell(p->shared, err->message);
    _exit(err ? 1 : 0);
}

/* ---- The parent ---- */

static struct cps_err *start(struct pool *p, pool_work *work, unsigned index)
{
    pid_t parent = getpid();
    p->file[index] = tmpfile();
    if (!p->file[index])
        return cps_err_os("(results)", "create");
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        become_worker(p, work, p->file[index], parent);
    if (pid < 0)
        return cps_err_os("(worker)", "start");
    p->pid[index] = pid;
    return NULL;
}

/* @return whether any still runs */
static bool look(struct pool *p)
{
    bool any = false;
    for (unsigned i = 0; i < p->prove->jobs; i++) {
        if (!p->pid[i])
            continue;
        if (interrupted)
            kill(p->pid[i], SIGTERM);
        int status = 0;
        pid_t got = waitpid(p->pid[i], &status, interrupted ? 0 : WNOHANG);
        p->died = p->died || (got > 0 && WIFSIGNALED(status));
        if (got > 0 || (got < 0 && errno != EINTR))
            p->pid[i] = 0;
        any = any || p->pid[i];
    }
    return any;
}

static void attend(struct pool *p, size_t missing)
{
    struct interrupt taken;
    interrupt_take(&taken);
    while (look(p)) {
        progress_show("%u of %zu handlers", atomic_load(&p->shared->done), missing);
        usleep(PAUSE_US);
    }
    progress_hide();
    interrupt_give_back(&taken);
    p->prove->interrupted = interrupted != 0;
}

static struct cps_err *take_line(struct prove *prove, const char *line)
{
    char *text = NULL;
    unsigned long at = strtoul(line, &text, 10);
    struct json_object *result = NULL;
    if (at >= prove->tasks || *text != ' ')
        return NULL;
    CPS_TRY(cps_json_parse(text + 1, strlen(text + 1), &result));
    json_object_put(prove->task[at].result);
    prove->task[at].unchecked = false;
    prove->task[at].result = result;
    return NULL;
}

static struct cps_err *take_results(struct prove *prove, FILE *file)
{
    char *line = NULL;
    size_t size = 0;
    struct cps_err *err = NULL;
    rewind(file);
    while (!err && getline(&line, &size, file) > 0)
        err = strchr(line, '\n') ? take_line(prove, line) : NULL;
    free(line);
    return err;
}

/* A process that died leaves a task without a result. */
static struct cps_err *fill_in(struct prove *prove)
{
    for (size_t i = 0; i < prove->tasks && !prove->interrupted; i++) {
        struct prove_task *task = &prove->task[i];
        const struct prove_handler *h = &prove->part[task->part].handler[task->handler];
        if (task->result)
            continue;
        task->result = json_object_new_object();
        prove_put_packets(prove, task->part, h, task->result);
        cps_json_text(task->result, "processor",
                      cps_fw_role_name(prove->part[task->part].code.side[0].part->role));
        cps_json_text(task->result, "verdict", verdict_name(VERDICT_UNDECIDED));
        cps_json_text(task->result, "why", "the process that compared it died");
        if (!cps_json_complete(task->result))
            return cps_err_nomem();
    }
    return NULL;
}

static size_t count_missing(const struct prove *prove)
{
    size_t missing = 0;
    for (size_t i = 0; i < prove->tasks; i++)
        missing += !prove->task[i].result || prove->task[i].unchecked;
    return missing;
}

/* Runs processes until all have ended. @return their first error */
static struct cps_err *run_phase(struct pool *p, pool_work *work, size_t missing)
{
    struct cps_err *err = NULL;
    atomic_store(&p->shared->next, 0);
    for (unsigned i = 0; i < p->prove->jobs && !err; i++)
        err = start(p, work, i);
    if (err) /* what has started finds nothing to do */
        atomic_store(&p->shared->next, UINT32_MAX / 2);
    attend(p, missing);
    for (unsigned i = 0; i < p->prove->jobs; i++) {
        if (!p->file[i])
            continue;
        if (work == work_on_tasks)
            err = cps_err_first_(err, take_results(p->prove, p->file[i]));
        fclose(p->file[i]);
        p->file[i] = NULL;
    }
    if (!err && atomic_load(&p->shared->failed))
        err = cps_err_new(CPS_ERR_OS, "%s", p->shared->error);
    return err;
}

/* Without its places a part would look otherwise than it is. */
static struct cps_err *find_places(struct pool *p, size_t missing)
{
    CPS_TRY(run_phase(p, work_on_places, missing));
    if (p->died && !p->prove->interrupted)
        return cps_err_new(CPS_ERR_OS, "the process that looks for places that are equal died");
    for (unsigned i = 0; i < p->prove->parts; i++) {
        struct prove_part *part = &p->prove->part[i];
        memcpy(part->proven, proven_of(p, i), part->code.side[0].count * sizeof(uint32_t));
    }
    return NULL;
}

static struct cps_err *run(struct pool *p, size_t missing)
{
    CPS_TRY(find_places(p, missing));
    if (p->prove->interrupted)
        return NULL;
    CPS_TRY(run_phase(p, work_on_tasks, missing));
    return fill_in(p->prove);
}

/* Memory that all processes see, zero, or NULL. */
static void *share(size_t size)
{
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

struct cps_err *prove_run(struct prove *prove)
{
    struct pool p = {.prove = prove};
    size_t missing = count_missing(prove);
    size_t words = 1; /* then their bytes */
    if (!missing)
        return NULL;
    for (unsigned i = 0; i < prove->parts; i++)
        words += prove->part[i].code.side[0].count;
    p.shared = share(sizeof(*p.shared));
    words *= sizeof(uint32_t);
    p.proven = share(words);
    p.pid = calloc(prove->jobs, sizeof(*p.pid));
    p.file = calloc(prove->jobs, sizeof(*p.file));
    bool good = p.shared && p.proven && p.pid && p.file;
    struct cps_err *err = good ? run(&p, missing) : cps_err_nomem();
    free(p.pid);
    free(p.file);
    if (p.proven)
        munmap(p.proven, words);
    if (p.shared)
        munmap(p.shared, sizeof(*p.shared));
    return err;
}
