/* SPDX-License-Identifier: MIT
 * A bounded queue of blocks between two threads. */
#include "trace/capture/blocks.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#define MAX_BLOCKS 16u

struct cps_ring {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* two threads, of which one waits at most: one condition will do */
    bool closed;
    unsigned count;
    unsigned head; /* the oldest filled block */
    unsigned used; /* filled blocks, with the one that is being emptied */
    size_t bytes;
    size_t size[MAX_BLOCKS];
    void (*work)(struct cps_ring *ring, void *argument);
    void *argument;
    unsigned char *blocks;
};

static void *run(void *argument)
{
    struct cps_ring *ring = argument;
    ring->work(ring, ring->argument);
    return NULL;
}

/* Handlers belong to the threads that are there already; what a write itself causes (SIGPIPE)
 * ends the process, as it does without threads. */
static bool start(struct cps_ring *ring)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    sigdelset(&all, SIGPIPE);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&ring->thread, NULL, run, ring) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static void release(struct cps_ring *ring)
{
    pthread_cond_destroy(&ring->changed);
    pthread_mutex_destroy(&ring->mutex);
    free(ring->blocks);
    free(ring);
}

struct cps_ring *cps_ring_start_(unsigned count, size_t bytes,
                                 void (*work)(struct cps_ring *ring, void *argument),
                                 void *argument)
{
    struct cps_ring *ring = calloc(1, sizeof(*ring));
    if (!ring)
        return NULL;
    pthread_mutex_init(&ring->mutex, NULL);
    pthread_cond_init(&ring->changed, NULL);
    ring->count = count < MAX_BLOCKS ? count : MAX_BLOCKS;
    ring->bytes = bytes;
    ring->work = work;
    ring->argument = argument;
    ring->blocks = malloc(ring->count * bytes);
    if (ring->blocks && start(ring))
        return ring;
    release(ring);
    return NULL;
}

void cps_ring_end_(struct cps_ring *ring)
{
    if (!ring)
        return;
    cps_ring_close_(ring);
    pthread_join(ring->thread, NULL);
    release(ring);
}

void *cps_ring_room_(struct cps_ring *ring)
{
    pthread_mutex_lock(&ring->mutex);
    while (ring->used == ring->count && !ring->closed)
        pthread_cond_wait(&ring->changed, &ring->mutex);
    unsigned at = (ring->head + ring->used) % ring->count;
    bool closed = ring->closed;
    pthread_mutex_unlock(&ring->mutex);
    return closed ? NULL : ring->blocks + at * ring->bytes;
}

void cps_ring_put_(struct cps_ring *ring, size_t size)
{
    pthread_mutex_lock(&ring->mutex);
    ring->size[(ring->head + ring->used++) % ring->count] = size;
    pthread_cond_signal(&ring->changed);
    pthread_mutex_unlock(&ring->mutex);
}

void cps_ring_close_(struct cps_ring *ring)
{
    pthread_mutex_lock(&ring->mutex);
    ring->closed = true;
    pthread_cond_signal(&ring->changed);
    pthread_mutex_unlock(&ring->mutex);
}

void *cps_ring_next_(struct cps_ring *ring, size_t *size)
{
    pthread_mutex_lock(&ring->mutex);
    while (!ring->used && !ring->closed)
        pthread_cond_wait(&ring->changed, &ring->mutex);
    bool filled = ring->used > 0;
    unsigned at = ring->head;
    *size = filled ? ring->size[at] : 0;
    pthread_mutex_unlock(&ring->mutex);
    return filled ? ring->blocks + at * ring->bytes : NULL;
}

void cps_ring_done_(struct cps_ring *ring)
{
    pthread_mutex_lock(&ring->mutex);
    ring->head = (ring->head + 1) % ring->count;
    ring->used--;
    pthread_cond_signal(&ring->changed);
    pthread_mutex_unlock(&ring->mutex);
}
