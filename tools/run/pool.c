/* SPDX-License-Identifier: MIT
 * Processes take the next task from a counter that they share, and send results through pipes, so
 * that nothing is stored where it could not fit. */
#include "tools/run/pool.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "isa/base/shown.h"
#include "isa/base/within.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/cmd/terminal/progress.h"
#include "trace/out/json.h"
#include "trace/out/outfile.h"

#define READ_BYTES 65536u
#define MAX_LINE   ((size_t)512 << 20) /* bytes that a task's result may have */
#define LAST_WORDS 160u
#define PAUSE      100 /* ms between looks at the clock */
#define GRACE      700 /* ms that processes have to end by themselves */

/* What parent and processes see. */
struct shared {
    atomic_uint next;
    atomic_uint at[]; /* by process: the task that it runs */
};

/* A process, seen from the parent. */
struct slot {
    pid_t pid; /* 0: none */
    int out;   /* lines of JSON; -1: at its end */
    int err;   /* what it prints */
    bool ended;
    struct cps_buf line;    /* what came of one so far */
    char words[LAST_WORDS]; /* the last line that it printed */
    unsigned length;
    bool over; /* another line begins */
};

struct pool {
    const struct pool_job *job;
    struct shared *shared;
    struct slot *slot;
    unsigned done;         /* tasks */
    unsigned restarted_at; /* tasks taken when a process was last replaced */
    uint64_t deadline;     /* ms: when those that were told to end are killed; 0: none was told */
    struct cps_err *err;   /* the first one; ends the run */
};

/* Requests to stop, of which the second is not patient. */
static volatile sig_atomic_t requests;

static void on_interrupt(int signal)
{
    (void)signal;
    requests++;
}

static uint64_t now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

/* ---- In a process ---- */

static int out_of_this_process;

static void end_process(int number)
{
    cps_outfile_unlink_all();
    _exit(128 + number);
}

/* As tool_oom_handler: lines are sent whole, so that this is one, too. */
static void send_oom(void)
{
    static const char line[] = "{\"error\":\"\"}\n";
    cps_outfile_unlink_all();
    _exit(write(out_of_this_process, line, sizeof(line) - 1) == sizeof(line) - 1 ? 1 : 2);
}

/* @p what  of the line: "result" or "last", @p value of an object; false: it did not get out */
static bool send_line(FILE *file, unsigned task, const char *what, struct json_object *value,
                      struct cps_err *err)
{
    struct json_object *line = json_object_new_object();
    cps_json_uint(line, "task", task);
    if (err)
        cps_json_text(line, "error", tool_err(err)->message);
    if (err)
        json_object_put(value);
    else
        cps_json_add(line, what, value);
    const char *text = cps_json_print(line, JSON_C_TO_STRING_PLAIN);
    if (!text)
        tool_oom();
    fputs(text, file);
    bool good = fputc('\n', file) != EOF && !fflush(file) && !err;
    json_object_put(line);
    cps_err_free(err);
    return good;
}

/* A line for each task as soon as it is done, then one about all of them. */
static bool work_on_tasks(const struct pool *p, unsigned index, FILE *file)
{
    const struct pool_job *job = p->job;
    unsigned next = 0;
    struct cps_err *err = job->begin ? job->begin(job->context) : NULL;
    if (err)
        return send_line(file, POOL_NO_TASK, "last", NULL, err);
    while ((next = atomic_fetch_add(&p->shared->next, 1)) < job->tasks) {
        struct json_object *result = json_object_new_object();
        atomic_store(&p->shared->at[index], next);
        err = job->work(job->context, next, result);
        if (!send_line(file, next, "result", result, err))
            return false;
        atomic_store(&p->shared->at[index], POOL_NO_TASK);
    }
    struct json_object *last = json_object_new_object();
    if (job->finish)
        job->finish(job->context, last);
    return send_line(file, POOL_NO_TASK, "last", last, NULL);
}

/* The parent decides what a request to stop means, and takes the process along when it dies. */
static void become_process(struct pool *p, unsigned index, int out, int err, pid_t parent)
{
    const struct sigaction end = {.sa_handler = end_process};
    signal(SIGINT, SIG_IGN);
    sigaction(SIGTERM, &end, NULL);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
    FILE *file = getppid() == parent ? fdopen(out, "w") : NULL;
    if (!file || dup2(err, STDERR_FILENO) < 0)
        _exit(1);
    for (unsigned i = 0; i < p->job->processes; i++) {
        if (p->slot[i].out >= 0)
            close(p->slot[i].out);
        if (p->slot[i].err >= 0)
            close(p->slot[i].err);
    }
    out_of_this_process = out;
    tool_oom_handler = send_oom;
    _exit(work_on_tasks(p, index, file) ? 0 : 1);
}

/* ---- In the parent ---- */

static struct cps_err *start_process(struct pool *p, unsigned index)
{
    struct slot *slot = &p->slot[index];
    int out[2] = {-1, -1};
    int err[2] = {-1, -1};
    pid_t parent = getpid();
    atomic_store(&p->shared->at[index], POOL_NO_TASK);
    fflush(NULL);
    pid_t pid = pipe(out) || pipe(err) ? -1 : fork();
    if (pid == 0)
        become_process(p, index, out[1], err[1], parent);
    struct cps_err *failed = pid < 0 ? cps_err_os("(worker)", "start") : NULL;
    for (unsigned i = failed ? 0 : 1; i < 2; i++) {
        if (out[i] >= 0)
            close(out[i]);
        if (err[i] >= 0)
            close(err[i]);
    }
    if (failed)
        return failed;
    cps_buf_clear(&slot->line);
    *slot = (struct slot){.pid = pid, .out = out[0], .err = err[0], .line = slot->line};
    return NULL;
}

static void signal_all(const struct pool *p, int number)
{
    for (unsigned i = 0; i < p->job->processes; i++) {
        if (p->slot[i].pid)
            kill(p->slot[i].pid, number);
    }
}

static void fail(struct pool *p, struct cps_err *err)
{
    p->err = cps_err_first_(p->err, err);
}

static struct cps_err *take_line(struct pool *p, struct slot *slot)
{
    const struct pool_job *job = p->job;
    struct json_object *line = NULL;
    const char *text = tool_text(&slot->line);
    CPS_TRY(cps_json_parse(text, slot->line.size, &line));
    struct json_object *result = cps_json_get(line, "result");
    struct json_object *last = cps_json_get(line, "last");
    const char *error = cps_json_get_text(line, "error", NULL);
    struct cps_err *err = NULL;
    if (error) {
        err = *error ? cps_err_new(CPS_ERR_INPUT, "%s", error) : cps_err_nomem();
    } else if (result) {
        p->done++;
        err = job->take(job->context, (unsigned)cps_json_get_int(line, "task", -1), result);
    } else if (last) {
        slot->ended = true;
        if (job->take_last)
            job->take_last(job->context, last);
    } else {
        err = cps_err_new(CPS_ERR_INPUT, "(worker): found no result, expected that of a task");
    }
    json_object_put(line);
    return err;
}

static void take_lines(struct pool *p, struct slot *slot, const char *data, size_t size)
{
    const char *end = NULL;
    while (size && !p->err && (end = memchr(data, '\n', size))) {
        size_t length = (size_t)(end - data);
        cps_buf_add(&slot->line, data, length);
        fail(p, take_line(p, slot));
        cps_buf_clear(&slot->line);
        data += length + 1;
        size -= length + 1;
    }
    cps_buf_add(&slot->line, data, size);
    if (slot->line.failed || slot->line.size > MAX_LINE)
        fail(p, cps_err_nomem());
}

/* What a process prints is passed on; its last line is kept for when it dies. */
static void take_words(struct slot *slot, const char *data, size_t size)
{
    fwrite(data, 1, size, stderr);
    for (size_t i = 0; i < size; i++) {
        slot->length = slot->over && data[i] != '\n' ? 0 : slot->length;
        slot->over = data[i] == '\n';
        if (!slot->over && slot->length < LAST_WORDS)
            slot->words[slot->length++] = data[i];
    }
}

static void read_pipe(struct pool *p, struct slot *slot, int *fd)
{
    static char data[READ_BYTES];
    ssize_t got = read(*fd, data, sizeof(data));
    if (got < 0 && errno == EINTR)
        return;
    if (got <= 0) {
        close(*fd);
        *fd = -1;
    } else if (fd == &slot->out) {
        take_lines(p, slot, data, (size_t)got);
    } else {
        take_words(slot, data, (size_t)got);
    }
}

/* Another process goes on for one that a task killed; not for one that took no task, for that would
 * never end. */
static void replace_process(struct pool *p, unsigned index)
{
    unsigned taken = atomic_load(&p->shared->next);
    if (requests || p->err || taken >= p->job->tasks || taken == p->restarted_at)
        return;
    p->restarted_at = taken;
    fail(p, start_process(p, index));
}

/* Both of its pipes are at their end. */
static void bury_process(struct pool *p, unsigned index)
{
    struct slot *slot = &p->slot[index];
    int status = 0;
    while (waitpid(slot->pid, &status, 0) < 0 && errno == EINTR)
        ;
    slot->pid = 0;
    if (WIFEXITED(status) && !WEXITSTATUS(status) && slot->ended)
        return;
    CPS_BUF how = {0};
    if (WIFSIGNALED(status))
        cps_buf_printf(&how, "its process died: signal %d (%s)", WTERMSIG(status),
                       strsignal(WTERMSIG(status)));
    else
        cps_buf_printf(&how, "its process died: exit status %d", WEXITSTATUS(status));
    if (slot->length) {
        cps_buf_str(&how, "; its last output: ");
        cps_shown_add_(&how, slot->words, slot->length, false);
    }
    if (!requests && !p->err)
        p->job->died(p->job->context, atomic_load(&p->shared->at[index]), tool_text(&how));
    replace_process(p, index);
}

/* Once they are told to end they do, or are made to. */
static void end_processes(struct pool *p)
{
    if (!requests && !p->err)
        return;
    if (!p->deadline)
        signal_all(p, SIGTERM);
    if (requests > 1 || (p->deadline && now_ms() >= p->deadline))
        signal_all(p, SIGKILL);
    if (!p->deadline)
        p->deadline = now_ms() + GRACE;
}

/* Waits for something to read, and reads it; false when all have ended. */
static bool attend_pipes(struct pool *p, struct pollfd *ready)
{
    nfds_t count = 0;
    for (unsigned i = 0; i < p->job->processes; i++) {
        struct slot *slot = &p->slot[i];
        if (slot->pid && slot->out < 0 && slot->err < 0)
            bury_process(p, i);
        ready[2 * i] = (struct pollfd){.fd = slot->pid ? slot->out : -1, .events = POLLIN};
        ready[2 * i + 1] = (struct pollfd){.fd = slot->pid ? slot->err : -1, .events = POLLIN};
        count += slot->pid != 0;
    }
    if (!count)
        return false;
    if (poll(ready, 2 * (nfds_t)p->job->processes, PAUSE) <= 0)
        return true;
    for (unsigned i = 0; i < p->job->processes; i++) {
        if (ready[2 * i].fd >= 0 && ready[2 * i].revents)
            read_pipe(p, &p->slot[i], &p->slot[i].out);
        if (ready[2 * i + 1].fd >= 0 && ready[2 * i + 1].revents)
            read_pipe(p, &p->slot[i], &p->slot[i].err);
    }
    return true;
}

static void run_processes(struct pool *p)
{
    uint64_t begin = now_ms();
    CPS_FREE struct pollfd *ready = tool_alloc(2 * (size_t)p->job->processes, sizeof(*ready));
    for (unsigned i = 0; i < p->job->processes && !p->err; i++)
        fail(p, start_process(p, i));
    do {
        end_processes(p);
        p->job->progress(p->job->context, p->done, (double)(now_ms() - begin) / 1000);
    } while (attend_pipes(p, ready));
    progress_hide();
}

struct cps_err *pool_run(const struct pool_job *job, bool *interrupted)
{
    const struct sigaction action = {.sa_handler = on_interrupt};
    struct sigaction old_int, old_term;
    struct pool p = {.job = job};
    size_t size = sizeof(*p.shared) + job->processes * sizeof(p.shared->at[0]);
    p.shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p.shared == MAP_FAILED)
        tool_oom();
    p.slot = tool_alloc(job->processes, sizeof(*p.slot));
    for (unsigned i = 0; i < job->processes; i++)
        p.slot[i].out = p.slot[i].err = -1;
    requests = 0;
    sigaction(SIGINT, &action, &old_int);
    sigaction(SIGTERM, &action, &old_term);
    if (old_int.sa_handler == SIG_IGN) /* of a background job */
        sigaction(SIGINT, &old_int, NULL);
    run_processes(&p);
    sigaction(SIGINT, &old_int, NULL);
    sigaction(SIGTERM, &old_term, NULL);
    *interrupted = requests != 0;
    for (unsigned i = 0; i < job->processes; i++)
        cps_buf_deinit(&p.slot[i].line);
    free(p.slot);
    munmap(p.shared, size);
    return p.err;
}
