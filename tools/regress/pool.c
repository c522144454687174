/* SPDX-License-Identifier: MIT
 * Runs captures in processes: what one of them does to a worker, a crash even, does not reach the
 * others. Workers take the next capture from a counter that they share and leave their results in
 * files that vanish with them. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/regress/regress.h"
#include "trace/json.h"

enum { WAITING, RUNNING, DONE };

/* What parent and workers see. */
struct shared {
    atomic_uint next;
    atomic_uint done;
    atomic_bool stop;
    atomic_uchar state[]; /* by capture */
};

struct pool {
    struct regress *regress;
    struct shared *shared;
    size_t shared_size;
    FILE **file; /* by worker */
    pid_t *pid;
    unsigned restarted_at; /* captures taken when a worker was last replaced */
};

static struct shared *interrupted;

static void on_interrupt(int signal)
{
    (void)signal;
    atomic_store(&interrupted->stop, true);
}

/* One line of a worker's file; what does not fit into memory is a capture that was lost. */
static void put_line(FILE *file, struct json_object *line)
{
    const char *text = cps_json_print(line, JSON_C_TO_STRING_PLAIN);
    fputs(text ? text : "{\"error\": \"out of memory\"}", file);
    fputc('\n', file);
    fflush(file);
    json_object_put(line);
}

static void work(struct pool *p, struct worker *worker, FILE *file)
{
    unsigned count = p->regress->manifest.capture_count;
    for (;;) {
        unsigned next = atomic_fetch_add(&p->shared->next, 1);
        if (next >= count || atomic_load(&p->shared->stop))
            return;
        struct json_object *line = json_object_new_object();
        atomic_store(&p->shared->state[next], RUNNING);
        worker_capture(worker, next, line);
        put_line(file, line);
        atomic_store(&p->shared->state[next], DONE);
        atomic_fetch_add(&p->shared->done, 1);
    }
}

/* A worker's whole life: a line per capture as soon as it is done, then one about all of them. */
static int run_worker(struct pool *p, unsigned index)
{
    struct worker *worker = NULL;
    struct json_object *out = json_object_new_object();
    uint64_t emulated = 0;
    uint64_t cached = 0;
    struct cps_err *err = worker_create(p->regress, &worker);
    if (!err)
        work(p, worker, p->file[index]);
    if (err)
        cps_json_text(out, "error", err->message);
    if (!err) {
        worker_counts(worker, &emulated, &cached);
        cps_json_add(out, "coverage", worker_coverage(worker));
    }
    cps_json_uint(out, "emulated", emulated);
    cps_json_uint(out, "cached", cached);
    put_line(p->file[index], out);
    int status = ferror(p->file[index]) ? 1 : 0;
    worker_destroy(worker);
    cps_err_free(err);
    return status;
}

static bool start_worker(struct pool *p, unsigned index)
{
    fflush(NULL);
    p->pid[index] = fork();
    if (p->pid[index] == 0)
        _exit(run_worker(p, index));
    return p->pid[index] > 0;
}

static struct cps_err *start(struct pool *p)
{
    for (unsigned i = 0; i < p->regress->jobs; i++) {
        p->file[i] = tmpfile();
        if (!p->file[i])
            return cps_err_os("(temporary file)", "create");
        if (!start_worker(p, i))
            return cps_err_os("(worker)", "start");
    }
    return NULL;
}

/* Another worker goes on for one that a capture killed; not for one that took no capture, for that
 * would never end. Its results follow those of the dead one, whose last line may be half. */
static bool replace(struct pool *p, pid_t pid)
{
    unsigned taken = atomic_load(&p->shared->next);
    unsigned index = 0;
    while (index < p->regress->jobs && p->pid[index] != pid)
        index++;
    if (index == p->regress->jobs || taken >= p->regress->manifest.capture_count ||
        taken == p->restarted_at || atomic_load(&p->shared->stop))
        return false;
    p->restarted_at = taken;
    fputc('\n', p->file[index]);
    return start_worker(p, index);
}

/* For people only: nothing of it goes into a result. */
static void show_progress(const struct pool *p, time_t begin)
{
    unsigned done = atomic_load(&p->shared->done);
    unsigned count = p->regress->manifest.capture_count;
    double spent = difftime(time(NULL), begin);
    if (!isatty(STDERR_FILENO))
        return;
    fprintf(stderr, "\r%u of %u captures", done, count);
    if (done && spent > 2)
        fprintf(stderr, ", about %.0f s left ", spent * (count - done) / done);
    fflush(stderr);
}

static void wait_all(struct pool *p)
{
    time_t begin = time(NULL);
    unsigned running = p->regress->jobs;
    while (running) {
        int status = 0;
        pid_t pid = waitpid(-1, &status, WNOHANG);
        if (pid > 0) {
            running -= !WIFSIGNALED(status) || !replace(p, pid);
            continue;
        }
        if (pid < 0 && errno != EINTR)
            break;
        show_progress(p, begin);
        const struct timespec pause = {0, 20000000};
        nanosleep(&pause, NULL);
    }
    if (isatty(STDERR_FILENO))
        fputc('\n', stderr);
}

/* Digits of two workers for one firmware. */
static void join_cover(struct json_object *to, struct json_object *from)
{
    json_object_object_foreach(from, key, value)
    {
        const char *new = json_object_get_string(value);
        CPS_FREE char *both = results_join_digits(cps_json_get_text(to, key, new), new);
        cps_json_add(to, key, both ? json_object_new_string(both) : NULL);
    }
}

static struct cps_err *gather_one(struct pool *p, struct json_object *from)
{
    struct json_object *pairs = cps_json_get(from, "pairs");
    struct json_object *to = cps_json_get(p->regress->results, "pairs");
    const char *error = cps_json_get_text(from, "error", NULL);
    if (error)
        return cps_err_new(CPS_ERR_INPUT, "%s", error);
    for (size_t i = 0; pairs && i < json_object_array_length(pairs); i++)
        cps_json_append(to, json_object_get(json_object_array_get_idx(pairs, i)));
    if (pairs)
        results_join(cps_json_get(p->regress->results, "places"), cps_json_get(from, "places"));
    if (!cps_json_get(from, "coverage"))
        return NULL;
    join_cover(p->regress->digits, cps_json_get(from, "coverage"));
    p->regress->emulated += (uint64_t)cps_json_get_int(from, "emulated", 0);
    p->regress->cached += (uint64_t)cps_json_get_int(from, "cached", 0);
    return NULL;
}

static struct cps_err *gather_file(struct pool *p, FILE *file)
{
    char *line = NULL;
    size_t room = 0;
    struct cps_err *err = NULL;
    rewind(file);
    while (!err && getline(&line, &room, file) > 0) {
        struct json_object *from = json_tokener_parse(line);
        err = gather_one(p, from);
        json_object_put(from);
    }
    free(line);
    return err;
}

static void add_lost(struct pool *p, unsigned capture, const char *reason)
{
    const struct manifest *m = &p->regress->manifest;
    for (unsigned f = 0; f < m->firmware_count; f++) {
        if (!worker_has(p->regress, f, capture))
            continue;
        struct json_object *pair = json_object_new_object();
        cps_json_text(pair, "firmware", m->firmware[f].name);
        cps_json_text(pair, "capture", m->capture[capture].name);
        cps_json_text(pair, "status", result_word(RESULT_STOPPED));
        cps_json_text(pair, "reason", reason);
        cps_json_append(cps_json_get(p->regress->results, "pairs"), pair);
    }
}

/* Captures whose worker died with them, or that no worker was left for. */
static void report_lost(struct pool *p)
{
    bool stopped = atomic_load(&p->shared->stop);
    for (unsigned c = 0; c < p->regress->manifest.capture_count; c++) {
        unsigned state = atomic_load(&p->shared->state[c]);
        if (state == RUNNING)
            add_lost(p, c, "the process that ran it died");
        else if (state == WAITING && !stopped)
            add_lost(p, c, "no process was left to run it");
    }
}

static struct cps_err *gather(struct pool *p)
{
    struct cps_err *err = NULL;
    for (unsigned i = 0; i < p->regress->jobs && !err; i++)
        err = gather_file(p, p->file[i]);
    report_lost(p);
    p->regress->interrupted = atomic_load(&p->shared->stop);
    return err;
}

static struct cps_err *run(struct pool *p)
{
    struct sigaction action = {.sa_handler = on_interrupt};
    struct sigaction old_int, old_term;
    interrupted = p->shared;
    sigaction(SIGINT, &action, &old_int);
    sigaction(SIGTERM, &action, &old_term);
    struct cps_err *err = start(p);
    if (err)
        atomic_store(&p->shared->stop, true);
    wait_all(p);
    sigaction(SIGINT, &old_int, NULL);
    sigaction(SIGTERM, &old_term, NULL);
    return err ? err : gather(p);
}

struct cps_err *pool_run(struct regress *regress)
{
    struct pool p = {.regress = regress};
    unsigned jobs = regress->jobs;
    p.shared_size = sizeof(*p.shared) + regress->manifest.capture_count;
    p.shared = mmap(NULL, p.shared_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p.shared == MAP_FAILED)
        return cps_err_nomem();
    p.file = calloc(jobs, sizeof(*p.file));
    p.pid = calloc(jobs, sizeof(*p.pid));
    struct cps_err *err = p.file && p.pid ? run(&p) : cps_err_nomem();
    for (unsigned i = 0; i < jobs && p.file; i++) {
        if (p.file[i])
            fclose(p.file[i]);
    }
    free(p.file);
    free(p.pid);
    munmap(p.shared, p.shared_size);
    return err;
}
