/* SPDX-License-Identifier: MIT
 * A job whose parts can be left out: items as a feed has them, with contents that are our own to
 * change. What is left out keeps its room, so that nothing moves: a packet becomes a CP_NOP of its
 * length, a draw-state group a disabled one, an item is passed over. It does not run anything. */
#ifndef CPS_JOB_H
#define CPS_JOB_H

#include "tools/run/feed.h"
#include "trace/event/event.h"

/** What can be left out, from large to small. */
enum drop_kind { DROP_ITEM, DROP_PACKET, DROP_GROUP };

struct drop {
    enum drop_kind kind;
    uint32_t item; /**< whose contents it is about */
    uint32_t at;   /**< word of them: the packet's header, or the group's first word */
};

/** Which set of drops, whatever their order. */
struct drop_key {
    uint64_t low, high;
};

/** A word that a drop has changed. */
struct job_undo {
    uint32_t item, at, word;
};

struct job {
    struct cps_item *item;
    size_t count;
    bool *gone;           /**< of each item: it is left out for good, or for the moment */
    struct drop_key done; /**< what is left out for good */
    struct job_undo *undo;
    size_t undos;
    struct cps_item *view; /**< what is left: job_view() makes it */
    uint32_t *origin;      /**< of each of these, the item */
    size_t views;
};

/** Takes the items of @p feed, which is released; contents that follow each other become one item.
 * The caller calls job_deinit() in any case. */
CPS_MUST_USE struct cps_err *job_init(struct job *job, struct feed *feed);
/** A copy of what @p from has left. */
CPS_MUST_USE struct cps_err *job_copy(struct job *job, const struct job *from);
void job_deinit(struct job *job);

/** Adds @p drop to @p key. */
void job_key_add(struct drop_key *key, const struct drop *drop);
/** Leaves one more thing out, until job_back(). */
CPS_MUST_USE struct cps_err *job_drop(struct job *job, const struct drop *drop);
/** Takes what was left out since the last job_keep() back in. */
void job_back(struct job *job, const struct drop *drop, size_t count);
/** Leaves @p drop out for good. */
CPS_MUST_USE struct cps_err *job_keep(struct job *job, const struct drop *drop);
/** Makes job->view. Its contents are the job's. */
CPS_MUST_USE struct cps_err *job_view(struct job *job);
/** Word of an item's contents, to be changed. */
uint8_t *job_bytes(const struct job *job, size_t item, uint32_t at);

#endif
