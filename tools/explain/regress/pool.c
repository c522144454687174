/* SPDX-License-Identifier: MIT
 * Runs captures in processes: what one of them does to a worker, a crash even, does not reach the
 * others. Workers take the next capture from a counter that they share, and send their results
 * through pipes, so that nothing is kept where it could not fit. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
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
#include "tools/explain/regress/gather.h"
#include "tools/cmd/terminal/progress.h"
#include "trace/out/json.h"
#include "trace/out/outfile.h"

#define READ_BYTES 65536u
#define MAX_LINE   ((size_t)512 << 20) /* bytes that a capture's results may have */
#define LAST_WORDS 160u
#define PAUSE      100 /* ms between looks at the clock */
#define GRACE      700 /* ms that workers have to end by themselves */
#define NO_CAPTURE UINT32_MAX

/* What parent and workers see. */
struct shared {
    atomic_uint next;
    atomic_uint at[]; /* by worker: the capture that it runs */
};

/* A worker, seen from the parent. */
struct slot {
    pid_t pid; /* 0: none */
    int out;   /* lines of JSON; -1: at its end */
    int err;   /* what it says */
    bool ended;
    struct cps_buf line;    /* what came of one so far */
    char words[LAST_WORDS]; /* the last line that it said */
    unsigned length;
    bool over; /* another line begins */
};

struct pool {
    struct gather to;
    struct shared *shared;
    size_t shared_size;
    struct slot *slot;
    unsigned jobs;
    unsigned restarted_at; /* captures taken when a worker was last replaced */
    uint64_t deadline;     /* ms: when those that were told to end are killed; 0: nobody was told */
    struct cps_err *err;   /* the first one; ends the run */
};

/* Requests to stop, of which the second is not patient. */
static volatile sig_atomic_t requests;

static void on_interrupt(int signal)
{
    (void)signal;
    requests++;
}

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

/* ---- a worker ---- */

static void end_worker(int number)
{
    cps_outfile_unlink_all();
    _exit(128 + number);
}

/* A line of results: false if it did not get out as a whole. */
static bool put_line(FILE *file, struct json_object *line)
{
    const char *text = cps_json_print(line, JSON_C_TO_STRING_PLAIN);
    fputs(text ? text : "{\"error\": \"out of memory\"}", file);
    bool good = fputc('\n', file) != EOF && fflush(file) == 0 && !ferror(file);
    json_object_put(line);
    return good;
}

static bool work(struct pool *p, unsigned index, struct worker *worker, FILE *file)
{
    unsigned count = p->to.regress->manifest.capture_count;
    unsigned next = 0;
    while ((next = atomic_fetch_add(&p->shared->next, 1)) < count) {
        struct json_object *line = json_object_new_object();
        atomic_store(&p->shared->at[index], next);
        cps_json_uint(line, "capture", next);
        worker_capture(worker, next, line);
        if (!put_line(file, line))
            return false;
        atomic_store(&p->shared->at[index], NO_CAPTURE);
    }
    return true;
}

/* A worker's whole life: a line per capture as soon as it is done, then one about all of them. */
static int run_worker(struct pool *p, unsigned index, FILE *file)
{
    struct worker *worker = NULL;
    struct json_object *out = json_object_new_object();
    struct cps_err *err = worker_create(p->to.regress, &worker);
    bool good = err || work(p, index, worker, file);
    if (err) {
        cps_json_text(out, "error", err->message);
    } else {
        worker_counts(worker, out);
        cps_json_add(out, "coverage", worker_coverage(worker));
    }
    good = put_line(file, out) && good;
    worker_destroy(worker);
    cps_err_free(err);
    return good ? 0 : 1;
}

/* In the new process. The parent decides what a request to stop means, and takes it along when it
 * dies itself. */
static void become_worker(struct pool *p, unsigned index, int out, int err, pid_t parent)
{
    const struct sigaction end = {.sa_handler = end_worker};
    signal(SIGINT, SIG_IGN);
    sigaction(SIGTERM, &end, NULL);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
    if (p->to.regress->folder.lock >= 0) /* it is the parent's, which may die before */
        close(p->to.regress->folder.lock);
    FILE *file = getppid() == parent ? fdopen(out, "w") : NULL;
    if (!file || dup2(err, STDERR_FILENO) < 0)
        _exit(1);
    for (unsigned i = 0; i < p->jobs; i++) {
        if (p->slot[i].out >= 0)
            close(p->slot[i].out);
        if (p->slot[i].err >= 0)
            close(p->slot[i].err);
    }
    _exit(run_worker(p, index, file));
}

/* ---- the parent ---- */

static struct cps_err *start_worker(struct pool *p, unsigned index)
{
    struct slot *slot = &p->slot[index];
    int out[2] = {-1, -1};
    int err[2] = {-1, -1};
    pid_t parent = getpid();
    atomic_store(&p->shared->at[index], NO_CAPTURE);
    fflush(NULL);
    pid_t pid = pipe(out) || pipe(err) ? -1 : fork();
    if (pid == 0)
        become_worker(p, index, out[1], err[1], parent);
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

static void tell_all(const struct pool *p, int number)
{
    for (unsigned i = 0; i < p->jobs; i++) {
        if (p->slot[i].pid)
            kill(p->slot[i].pid, number);
    }
}

static void fail(struct pool *p, struct cps_err *err)
{
    if (p->err)
        cps_err_free(err);
    else
        p->err = err;
}

/* Lines that are whole go to the results. */
static void take_lines(struct pool *p, struct slot *slot, const char *data, size_t size)
{
    const char *end = NULL;
    while (size && !p->err && (end = memchr(data, '\n', size))) {
        size_t length = (size_t)(end - data);
        cps_buf_add(&slot->line, data, length);
        fail(p, slot->line.failed ? cps_err_nomem()
                                  : gather_line(&p->to, cps_buf_text(&slot->line), &slot->ended));
        cps_buf_clear(&slot->line);
        data += length + 1;
        size -= length + 1;
    }
    cps_buf_add(&slot->line, data, size);
    if (slot->line.failed || slot->line.size > MAX_LINE)
        fail(p, cps_err_nomem());
}

/* What a worker says is passed on; its last line is kept for when it dies. */
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

/* How a process ended, and what it said last. */
static void describe_death(const struct slot *slot, int status, struct cps_buf *out)
{
    if (WIFSIGNALED(status))
        cps_buf_printf(out, "the process that ran it died: signal %d (%s)", WTERMSIG(status),
                       strsignal(WTERMSIG(status)));
    else
        cps_buf_printf(out, "the process that ran it died: exit status %d", WEXITSTATUS(status));
    if (slot->length) {
        cps_buf_str(out, "; its last words: ");
        cps_shown_add_(out, slot->words, slot->length, false);
    }
}

/* Another worker goes on for one that a capture killed; not for one that took no capture, for that
 * would never end. */
static void replace(struct pool *p, unsigned index)
{
    unsigned taken = atomic_load(&p->shared->next);
    if (requests || p->err || taken >= p->to.regress->manifest.capture_count ||
        taken == p->restarted_at)
        return;
    p->restarted_at = taken;
    fail(p, start_worker(p, index));
}

/* Both of its pipes are at their end. */
static void bury(struct pool *p, unsigned index)
{
    struct slot *slot = &p->slot[index];
    int status = 0;
    while (waitpid(slot->pid, &status, 0) < 0 && errno == EINTR)
        ;
    slot->pid = 0;
    if (WIFEXITED(status) && !WEXITSTATUS(status) && slot->ended)
        return;
    CPS_BUF how = {0};
    unsigned capture = atomic_load(&p->shared->at[index]);
    describe_death(slot, status, &how);
    if (!requests && !p->err)
        fail(p, gather_death(&p->to, capture, &how));
    replace(p, index);
}

/* For people only: nothing of it goes into a result. */
static void show_progress(const struct pool *p, uint64_t begin)
{
    unsigned count = p->to.regress->manifest.capture_count;
    unsigned done = p->to.captures;
    double spent = (double)(now() - begin) / 1000;
    if (done)
        progress_show("%u of %u captures, about %.0f s left", done, count,
                      spent * (count - done) / done);
    else
        progress_show("%u of %u captures", done, count);
}

/* Once they are told to end they do, or are made to. */
static void end_workers(struct pool *p)
{
    if (!requests && !p->err)
        return;
    if (!p->deadline)
        tell_all(p, SIGTERM);
    if (requests > 1 || (p->deadline && now() >= p->deadline))
        tell_all(p, SIGKILL);
    if (!p->deadline)
        p->deadline = now() + GRACE;
}

/* Waits for something to read, and reads it; false when all have ended. */
static bool attend(struct pool *p, struct pollfd *ready)
{
    nfds_t count = 0;
    for (unsigned i = 0; i < p->jobs; i++) {
        struct slot *slot = &p->slot[i];
        if (slot->pid && slot->out < 0 && slot->err < 0)
            bury(p, i);
        ready[2 * i] = (struct pollfd){.fd = slot->pid ? slot->out : -1, .events = POLLIN};
        ready[2 * i + 1] = (struct pollfd){.fd = slot->pid ? slot->err : -1, .events = POLLIN};
        count += slot->pid != 0;
    }
    if (!count)
        return false;
    if (poll(ready, 2 * (nfds_t)p->jobs, PAUSE) <= 0)
        return true;
    for (unsigned i = 0; i < p->jobs; i++) {
        if (ready[2 * i].fd >= 0 && ready[2 * i].revents)
            read_pipe(p, &p->slot[i], &p->slot[i].out);
        if (ready[2 * i + 1].fd >= 0 && ready[2 * i + 1].revents)
            read_pipe(p, &p->slot[i], &p->slot[i].err);
    }
    return true;
}

static void attend_all(struct pool *p)
{
    uint64_t begin = now();
    struct pollfd *ready = calloc(2 * (size_t)p->jobs, sizeof(*ready));
    if (!ready)
        fail(p, cps_err_nomem());
    for (unsigned i = 0; i < p->jobs && !p->err; i++)
        fail(p, start_worker(p, i));
    do {
        end_workers(p);
        show_progress(p, begin);
    } while (ready && attend(p, ready));
    progress_hide();
    free(ready);
}

static struct cps_err *run(struct pool *p)
{
    const struct sigaction action = {.sa_handler = on_interrupt};
    struct sigaction old_int, old_term;
    requests = 0;
    sigaction(SIGINT, &action, &old_int);
    sigaction(SIGTERM, &action, &old_term);
    attend_all(p);
    sigaction(SIGINT, &old_int, NULL);
    sigaction(SIGTERM, &old_term, NULL);
    p->to.regress->interrupted = requests != 0;
    return p->err ? p->err : gather_rest(&p->to, requests != 0);
}

struct cps_err *pool_run(struct regress *regress)
{
    struct pool p = {.to = {.regress = regress}, .jobs = regress->jobs};
    p.shared_size = sizeof(*p.shared) + regress->jobs * sizeof(p.shared->at[0]);
    p.shared = mmap(NULL, p.shared_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p.shared == MAP_FAILED)
        return cps_err_nomem();
    p.slot = calloc(p.jobs, sizeof(*p.slot));
    for (unsigned i = 0; i < p.jobs && p.slot; i++)
        p.slot[i].out = p.slot[i].err = -1;
    struct cps_err *err = p.slot ? gather_begin(&p.to) : cps_err_nomem();
    if (!err)
        err = run(&p);
    for (unsigned i = 0; i < p.jobs && p.slot; i++)
        cps_buf_deinit(&p.slot[i].line);
    free(p.slot);
    gather_end(&p.to);
    munmap(p.shared, p.shared_size);
    return err;
}
