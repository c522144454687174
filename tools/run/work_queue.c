/* SPDX-License-Identifier: MIT
 * Work that threads share. */
#include "tools/run/work_queue.h"

#include <pthread.h>
#include <stdatomic.h>

struct share {
    void (*work)(void *context, unsigned thread, size_t item);
    void *context;
    size_t count;
    atomic_size_t next;
};

struct job {
    struct share *share;
    unsigned thread;
};

static void *run(void *context)
{
    const struct job *job = context;
    struct share *share = job->share;
    size_t next = 0;
    while ((next = atomic_fetch_add(&share->next, 1)) < share->count)
        share->work(share->context, job->thread, next);
    return NULL;
}

void share_work(unsigned jobs, size_t count,
                void (*work)(void *context, unsigned thread, size_t item), void *context)
{
    struct share share = {.work = work, .context = context, .count = count};
    pthread_t thread[SHARE_MOST];
    struct job job[SHARE_MOST] = {{&share, 0}};
    unsigned started = 0;
    for (unsigned i = 1; i < jobs && i < SHARE_MOST && i < count; i++) {
        job[i] = (struct job){&share, i};
        started += !pthread_create(&thread[started], NULL, run, &job[i]);
    }
    run(&job[0]);
    for (unsigned i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
}
