/* SPDX-License-Identifier: MIT
 * CP_MEMPOOL against the writes of a replay. Each queue holds the newest writes to its part of the
 * GPU, in order, so that it is matched from its end backwards. */
#include <inttypes.h>
#include <stdlib.h>

#include "tools/run/replay.h"

struct match {
    struct replay *r;
    unsigned cluster;
    const struct mempool_queue *queue;
    size_t *found; /* by entry: the write, or SIZE_MAX */
};

/* Pipe registers that act without a payload are queued with data 1 (H: 0x81). */
static bool is_same(const struct mempool_entry *entry, const struct replay_write *write)
{
    enum { VOID_FIRST = 0x80, VOID_LAST = 0x84 };
    bool is_void = entry->pipe && entry->offset >= VOID_FIRST && entry->offset <= VOID_LAST;
    return !write->direct && entry->pipe == write->pipe && entry->offset == write->offset &&
           (entry->value == write->value || (is_void && entry->value == 1));
}

/* False where that takes too long: entries of damaged queues match nothing. */
static bool find(struct match *m)
{
    enum { MOST = 100000000 };
    const struct writes *w = &m->r->writes;
    size_t end = w->count;
    uint64_t looked = 0;
    for (size_t i = m->queue->count; i-- > 0 && looked < MOST;) {
        size_t at = end;
        while (at && !is_same(&m->queue->entry[i], &w->write[at - 1]))
            at--;
        looked += end - at;
        m->found[i] = at ? at - 1 : SIZE_MAX;
        end = at ? at - 1 : end;
    }
    return looked < MOST;
}

/* In front of all entries that were found. */
static bool is_before_all(const struct match *m, size_t i)
{
    while (i-- > 0) {
        if (m->found[i] != SIZE_MAX)
            return false;
    }
    return true;
}

static void compare_entry(const struct match *m, size_t i)
{
    const struct mempool_entry *entry = &m->queue->entry[i];
    const struct replay_write *write = NULL;
    const char *queue = dump_cluster_name(m->cluster);
    const char *pipe = entry->pipe ? "pipe " : "";
    if (m->found[i] == SIZE_MAX) {
        bool older = !m->r->from_boot && is_before_all(m, i);
        rows_add(&m->r->rows, REPLAY_QUEUES, older ? REPLAY_OLDER : REPLAY_DIFFERENT, entry->value,
                 0, older ? NULL : "the replay does not write it there", "%s[%zu].%s0x%04" PRIx32,
                 queue, i, pipe, entry->offset);
        return;
    }
    write = &m->r->writes.write[m->found[i]];
    rows_add(&m->r->rows, REPLAY_QUEUES, REPLAY_EQUAL, entry->value, entry->value, NULL,
             "%s[%zu].%s0x%04" PRIx32, queue, i, pipe, entry->offset);
    unsigned context = writes_context(write->state ^ m->r->state_parity,
                                      !entry->pipe && writes_is_2d(entry->offset));
    if (!entry->pipe && context != entry->context)
        rows_add(&m->r->rows, REPLAY_QUEUES, REPLAY_BANK, entry->context, context,
                 "it was queued for the other context", "%s[%zu].context", queue, i);
}

/* Behind the queue's head, all that the replay writes to the cluster must be in it. Writes that
 * were found stand in the order of their entries. */
static void compare_rest(const struct match *m, size_t head)
{
    const struct writes *w = &m->r->writes;
    size_t next = 0;
    for (size_t at = head; at < w->count; at++) {
        const struct replay_write *write = &w->write[at];
        while (next < m->queue->count && (m->found[next] == SIZE_MAX || m->found[next] < at))
            next++;
        bool found = next < m->queue->count && m->found[next] == at;
        if (found || write->pipe || write->direct || write->offset >= DUMP_REGS ||
            !(m->r->dump->clusters[write->offset] >> m->cluster & 1))
            continue;
        rows_add(&m->r->rows, REPLAY_QUEUES, REPLAY_DIFFERENT, 0, write->value,
                 "the queue does not hold it", "%s.0x%04" PRIx32, dump_cluster_name(m->cluster),
                 write->offset);
    }
}

/* How far the cluster has read: to the first of the entries that were found. */
static size_t head_of(const struct match *m)
{
    for (size_t i = 0; i < m->queue->count; i++) {
        if (m->found[i] != SIZE_MAX)
            return m->found[i];
    }
    return m->r->writes.count;
}

static void compare_queue(struct replay *r, unsigned cluster)
{
    struct match m = {.r = r, .cluster = cluster, .queue = &r->pool.queue[cluster]};
    r->head[cluster] = r->writes.count;
    if (!m.queue->count)
        return;
    m.found = calloc(m.queue->count, sizeof(*m.found));
    if (!m.found) {
        r->rows.failed = true;
        return;
    }
    if (!find(&m)) {
        cps_buf_printf(&r->pool.why,
                       "CP_MEMPOOL: the queue of %s has too little in common with the replay",
                       dump_cluster_name(cluster));
        free(m.found);
        return;
    }
    r->head[cluster] = head_of(&m);
    r->first_found[cluster] = m.found[0] != SIZE_MAX;
    for (size_t i = 0; i < m.queue->count; i++)
        compare_entry(&m, i);
    compare_rest(&m, r->head[cluster]);
    free(m.found);
}

void compare_queued(struct replay *r)
{
    for (unsigned cluster = 0; cluster < DUMP_CLUSTERS; cluster++)
        compare_queue(r, cluster);
}
