/* SPDX-License-Identifier: MIT
 * Messages of the Debug Adapter Protocol on a pair of streams. */
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/face/dap/dap_private.h"

/* Bytes of memory, about, of messages that are read ahead; a client that sends more waits until the
 * first ones are answered, which waits in turn until it reads the answers. */
#define MAX_WAITING ((size_t)32 << 20)

struct message {
    struct message *next;
    size_t weight;
    struct json_object *json;
};

struct dap_wire {
    struct frame frame;
    int wake[2]; /* a pipe: what comes out of it ends the reader */
    FILE *out;
    atomic_int *interrupt;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct message *first, *last;
    size_t waiting;      /* weight of all */
    struct cps_err *err; /* what ended the input; NULL: it just ended */
    bool ended;
    bool closing;
    bool listening;
    int64_t seq;
};

static bool interrupts_run(struct json_object *message)
{
    static const char *const names[] = {"pause", "disconnect", "terminate", "restart"};
    const char *text = cps_json_get_text(message, "command", "");
    for (size_t i = 0; text && i < sizeof(names) / sizeof(names[0]); i++) {
        if (!strcmp(text, names[i]))
            return true;
    }
    return false;
}

/* Queues messages, and the end of the input, until the wire is closed. */
static void *read_all(void *context)
{
    struct dap_wire *w = context;
    while (!w->ended) { /* which is set below alone */
        struct json_object *json = NULL;
        struct cps_err *err = frame_read(&w->frame, &json);
        struct message *message = json ? tool_alloc(1, sizeof(*message)) : NULL;
        pthread_mutex_lock(&w->lock);
        while (w->first && w->waiting + w->frame.weight > MAX_WAITING && !w->closing)
            pthread_cond_wait(&w->changed, &w->lock);
        if (message) {
            *message = (struct message){.json = json, .weight = w->frame.weight};
            *(w->last ? &w->last->next : &w->first) = message;
            w->last = message;
            w->waiting += message->weight;
        }
        w->err = err;
        w->ended = !message;
        if (w->ended || w->listening || interrupts_run(json))
            *w->interrupt = 1;
        pthread_cond_broadcast(&w->changed);
        pthread_mutex_unlock(&w->lock);
    }
    return NULL;
}

/* A second client. */
static void refuse(int listener)
{
    int client = attach_accept(listener, "another editor is attached to this run\n");
    if (client >= 0)
        close(client);
    else
        poll(NULL, 0, 100); /* no descriptor is left: whoever knocks waits */
}

struct cps_err *dap_wire_open(const char *name, int in, FILE *out, atomic_int *interrupt,
                              int listener, struct dap_wire **ret)
{
    pthread_condattr_t monotonic;
    struct dap_wire *w = tool_alloc(1, sizeof(*w));
    w->out = out;
    w->interrupt = interrupt;
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&w->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (pipe(w->wake)) {
        free(w);
        return cps_err_os("(pipe)", "create");
    }
    w->frame = (struct frame){.name = name,
                              .protocol = "Debug Adapter Protocol",
                              .in = in,
                              .wake = w->wake[0],
                              .door = listener,
                              .answer = listener < 0 ? NULL : refuse};
    if (pthread_create(&w->thread, NULL, read_all, w)) {
        close(w->wake[0]);
        close(w->wake[1]);
        free(w);
        return cps_err_new(CPS_ERR_OS, "cannot start a thread");
    }
    *ret = w;
    return NULL;
}

void dap_wire_close(struct dap_wire *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->closing = true;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    close(w->wake[1]); /* the other end becomes readable */
    pthread_join(w->thread, NULL);
    close(w->wake[0]);
    while (w->first) {
        struct message *next = w->first->next;
        json_object_put(w->first->json);
        free(w->first);
        w->first = next;
    }
    cps_err_free(w->err);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

/* Takes the first message, or what ended the input; the lock is held. */
static struct cps_err *take_first(struct dap_wire *w, struct json_object **ret)
{
    struct message *message = w->first;
    struct cps_err *err = NULL;
    *ret = NULL;
    if (message) {
        *ret = message->json;
        w->first = message->next;
        w->last = w->first ? w->last : NULL;
        w->waiting -= message->weight;
    } else {
        err = w->err;
        w->err = NULL;
    }
    pthread_cond_broadcast(&w->changed);
    free(message);
    return err;
}

static bool has_passed(const struct timespec *until)
{
    struct timespec now;
    if (!until)
        return false;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec > until->tv_sec ||
           (now.tv_sec == until->tv_sec && now.tv_nsec >= until->tv_nsec);
}

struct cps_err *dap_wire_next(struct dap_wire *w, const struct timespec *until,
                              struct json_object **ret)
{
    pthread_mutex_lock(&w->lock);
    while (!w->first && !w->ended && !has_passed(until)) {
        if (until)
            pthread_cond_timedwait(&w->changed, &w->lock, until);
        else
            pthread_cond_wait(&w->changed, &w->lock);
    }
    struct cps_err *err = has_passed(until)
                              ? cps_err_new(CPS_ERR_OS, "the client does not attach in time")
                              : take_first(w, ret);
    pthread_mutex_unlock(&w->lock);
    return err;
}

struct cps_err *dap_wire_try(struct dap_wire *w, struct json_object **ret)
{
    pthread_mutex_lock(&w->lock);
    struct cps_err *err = take_first(w, ret);
    pthread_mutex_unlock(&w->lock);
    return err;
}

void dap_wire_listen(struct dap_wire *w, bool listen)
{
    pthread_mutex_lock(&w->lock);
    bool ends = w->ended; /* one that waits ends a run */
    for (const struct message *at = w->first; at; at = at->next)
        ends = ends || interrupts_run(at->json);
    w->listening = listen;
    *w->interrupt = listen ? w->first || w->ended : ends;
    pthread_mutex_unlock(&w->lock);
}

bool dap_wire_ended(struct dap_wire *w)
{
    pthread_mutex_lock(&w->lock);
    bool ended = w->ended && !w->first;
    pthread_mutex_unlock(&w->lock);
    return ended;
}

void dap_wire_send(struct dap_wire *w, struct json_object *message)
{
    cps_json_int(message, "seq", ++w->seq);
    dap_wire_pass(w, tool_json(message));
}

void dap_wire_pass(struct dap_wire *w, struct json_object *message)
{
    frame_write(w->out, message);
}
