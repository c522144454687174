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
#include "tools/play/interrupt.h"
#include "tools/prove/task.h"
#include "tools/report/report.h"

#define PAUSE_US 100000u

struct shared {
    atomic_uint next, done;
};

struct pool {
    struct prove *prove;
    struct shared *shared;
    pid_t *pid; /* 0: has ended */
    FILE **file;
};

/* ---- A process ---- */

static bool put_result(FILE *file, size_t index, struct json_object *result)
{
    const char *text = cps_json_print(result, JSON_C_TO_STRING_PLAIN);
    return text && fprintf(file, "%zu %s\n", index, text) > 0 && !fflush(file);
}

static struct cps_err *work(struct pool *p, FILE *file)
{
    struct prove *prove = p->prove;
    unsigned at = 0;
    while ((at = atomic_fetch_add(&p->shared->next, 1)) < prove->tasks) {
        struct json_object *result = NULL;
        if (prove->task[at].result)
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

static void become_worker(struct pool *p, FILE *file, pid_t parent)
{
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_DFL);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
    struct cps_err *err = getppid() == parent ? work(p, file) : NULL;
    if (err)
        report_error(err);
    _exit(err ? 1 : 0);
}

/* ---- The parent ---- */

static struct cps_err *start(struct pool *p, unsigned index)
{
    pid_t parent = getpid();
    p->file[index] = tmpfile();
    if (!p->file[index])
        return cps_err_os("(results)", "create");
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        become_worker(p, p->file[index], parent);
    if (pid < 0)
        return cps_err_os("(worker)", "start");
    p->pid[index] = pid;
    return NULL;
}

static void show_progress(const struct pool *p, size_t missing)
{
    if (isatty(STDERR_FILENO))
        dprintf(STDERR_FILENO, "\r%u of %zu handlers ", atomic_load(&p->shared->done), missing);
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
        pid_t got = waitpid(p->pid[i], NULL, interrupted ? 0 : WNOHANG);
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
        show_progress(p, missing);
        usleep(PAUSE_US);
    }
    if (isatty(STDERR_FILENO))
        dprintf(STDERR_FILENO, "\n");
    interrupt_give_back(&taken);
    p->prove->interrupted = interrupted != 0;
}

static struct cps_err *take_line(struct prove *prove, const char *line)
{
    char *text = NULL;
    unsigned long at = strtoul(line, &text, 10);
    struct json_object *result = NULL;
    if (at >= prove->tasks || *text != ' ' || prove->task[at].result)
        return NULL;
    CPS_TRY(cps_json_parse(text + 1, strlen(text + 1), &result));
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
        char name[48];
        prove_packet_name(prove, task->part, h->id[0], name);
        task->result = json_object_new_object();
        struct json_object *packets = cps_json_new_array(task->result, "packets");
        cps_json_append(packets, json_object_new_string(name));
        cps_json_text(task->result, "processor",
                      cps_fw_role_name(prove->part[task->part].code.side[0].part->role));
        cps_json_text(task->result, "verdict", verdict_name(VERDICT_UNDECIDED));
        cps_json_text(task->result, "why", "the process that compared it died");
        if (!cps_json_complete(task->result))
            return cps_err_nomem();
    }
    return NULL;
}

static struct cps_err *find_places(struct prove *prove, size_t *missing)
{
    bool wanted[CPS_FW_MAX_PARTS] = {false};
    *missing = 0;
    for (size_t i = 0; i < prove->tasks; i++) {
        *missing += !prove->task[i].result;
        wanted[prove->task[i].part] |= !prove->task[i].result;
    }
    for (unsigned i = 0; i < prove->parts; i++) {
        if (wanted[i])
            CPS_TRY(prove_places(&prove->part[i]));
    }
    return NULL;
}

static struct cps_err *run(struct pool *p, size_t missing)
{
    struct cps_err *err = NULL;
    for (unsigned i = 0; i < p->prove->jobs && !err; i++)
        err = start(p, i);
    attend(p, missing);
    for (unsigned i = 0; i < p->prove->jobs; i++) {
        if (p->file[i]) {
            err = cps_err_first_(err, take_results(p->prove, p->file[i]));
            fclose(p->file[i]);
        }
    }
    return err ? err : fill_in(p->prove);
}

struct cps_err *prove_run(struct prove *prove)
{
    struct pool p = {.prove = prove};
    size_t missing = 0;
    CPS_TRY(find_places(prove, &missing));
    if (!missing)
        return NULL;
    p.shared =
        mmap(NULL, sizeof(*p.shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    p.pid = calloc(prove->jobs, sizeof(*p.pid));
    p.file = calloc(prove->jobs, sizeof(*p.file));
    struct cps_err *err =
        p.shared == MAP_FAILED || !p.pid || !p.file ? cps_err_nomem() : run(&p, missing);
    free(p.pid);
    free(p.file);
    if (p.shared != MAP_FAILED)
        munmap(p.shared, sizeof(*p.shared));
    return err;
}
