/* SPDX-License-Identifier: MIT
 * A bounded queue of blocks between two threads. */
#include "isa/base/handoff.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#define MAX_BLOCKS 16u

struct cps_handoff {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t room, more; /* for who fills, for who empties */
    bool closed;
    unsigned count;
    unsigned head; /* the oldest filled block */
    unsigned used; /* filled blocks, with the one that is being emptied */
    size_t bytes;
    size_t size[MAX_BLOCKS];
    void (*work)(struct cps_handoff *handoff, void *argument);
    void *argument;
    unsigned char *blocks;
};

static void *run(void *argument)
{
    struct cps_handoff *handoff = argument;
    handoff->work(handoff, handoff->argument);
    return NULL;
}

/* Handlers belong to the threads that are there already; what a write itself causes (SIGPIPE)
 * ends the process, as it does without threads. */
static bool start(struct cps_handoff *handoff)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    sigdelset(&all, SIGPIPE);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&handoff->thread, NULL, run, handoff) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static void release(struct cps_handoff *handoff)
{
    pthread_cond_destroy(&handoff->room);
    pthread_cond_destroy(&handoff->more);
    pthread_mutex_destroy(&handoff->mutex);
    free(handoff->blocks);
    free(handoff);
}

struct cps_handoff *cps_handoff_start_(unsigned count, size_t bytes,
                                       void (*work)(struct cps_handoff *handoff, void *argument),
                                       void *argument)
{
    struct cps_handoff *handoff = calloc(1, sizeof(*handoff));
    if (!handoff)
        return NULL;
    pthread_mutex_init(&handoff->mutex, NULL);
    pthread_cond_init(&handoff->room, NULL);
    pthread_cond_init(&handoff->more, NULL);
    handoff->count = count < MAX_BLOCKS ? count : MAX_BLOCKS;
    handoff->bytes = bytes;
    handoff->work = work;
    handoff->argument = argument;
    handoff->blocks = malloc(handoff->count * bytes);
    if (handoff->blocks && start(handoff))
        return handoff;
    release(handoff);
    return NULL;
}

void cps_handoff_end_(struct cps_handoff *handoff)
{
    if (!handoff)
        return;
    cps_handoff_close_(handoff);
    pthread_join(handoff->thread, NULL);
    release(handoff);
}

/* Waking a thread costs more than a block does: whoever finds the queue full or empty sleeps until
 * about half of the blocks are filled. */
static unsigned low(const struct cps_handoff *handoff)
{
    return handoff->count / 2;
}

static unsigned high(const struct cps_handoff *handoff)
{
    return (handoff->count + 1) / 2;
}

void *cps_handoff_room_(struct cps_handoff *handoff)
{
    pthread_mutex_lock(&handoff->mutex);
    bool full = handoff->used == handoff->count;
    while (full && handoff->used > low(handoff) && !handoff->closed)
        pthread_cond_wait(&handoff->room, &handoff->mutex);
    unsigned at = (handoff->head + handoff->used) % handoff->count;
    bool closed = handoff->closed;
    pthread_mutex_unlock(&handoff->mutex);
    return closed ? NULL : handoff->blocks + at * handoff->bytes;
}

void cps_handoff_put_(struct cps_handoff *handoff, size_t size)
{
    pthread_mutex_lock(&handoff->mutex);
    handoff->size[(handoff->head + handoff->used++) % handoff->count] = size;
    bool enough = handoff->used == high(handoff);
    pthread_mutex_unlock(&handoff->mutex);
    if (enough)
        pthread_cond_signal(&handoff->more);
}

void cps_handoff_close_(struct cps_handoff *handoff)
{
    pthread_mutex_lock(&handoff->mutex);
    handoff->closed = true;
    pthread_mutex_unlock(&handoff->mutex);
    pthread_cond_signal(&handoff->room);
    pthread_cond_signal(&handoff->more);
}

void *cps_handoff_next_(struct cps_handoff *handoff, size_t *size)
{
    pthread_mutex_lock(&handoff->mutex);
    bool empty = !handoff->used;
    while (empty && handoff->used < high(handoff) && !handoff->closed)
        pthread_cond_wait(&handoff->more, &handoff->mutex);
    bool filled = handoff->used > 0;
    unsigned at = handoff->head;
    *size = filled ? handoff->size[at] : 0;
    pthread_mutex_unlock(&handoff->mutex);
    return filled ? handoff->blocks + at * handoff->bytes : NULL;
}

void cps_handoff_done_(struct cps_handoff *handoff)
{
    pthread_mutex_lock(&handoff->mutex);
    handoff->head = (handoff->head + 1) % handoff->count;
    handoff->used--;
    bool enough = handoff->used == low(handoff);
    pthread_mutex_unlock(&handoff->mutex);
    if (enough)
        pthread_cond_signal(&handoff->room);
}
