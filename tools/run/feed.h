/* SPDX-License-Identifier: MIT
 * A list of items that owns what they point to, so that any of them can be fed again. */
#ifndef CPS_FEED_H
#define CPS_FEED_H

#include "trace/event/item.h"

struct feed {
    struct cps_item *item;
    size_t count;
    void **owned; /**< what items point to */
    size_t owned_count;
    size_t forgotten; /**< items before this one have no contents any more */
    size_t freed;     /**< of `owned` */
    uint64_t until;   /**< ticks of the engine at which the input's hardware stood; 0: to the end */
    uint32_t submissions;
};

/** Appends @p item and copies what it points to, but for static texts. Items that say nothing to an
 * engine are left out. @return NULL or CPS_ERR_NOMEM */
CPS_MUST_USE struct cps_err *feed_add(struct feed *feed, const struct cps_item *item);
/** The same without a copy: what it points to outlives the list. */
CPS_MUST_USE struct cps_err *feed_add_shared(struct feed *feed, const struct cps_item *item);
/** The account of what a list holds: submissions whose contents it has, too, and rings count as
 * executed. */
struct play_account;
void feed_account(const struct feed *feed, struct play_account *ret);
void feed_deinit(struct feed *feed);
/** Frees the contents of the items before item @p end: those of feed_add(), all of them, which are
 * fed no more. */
void feed_forget(struct feed *feed, uint64_t end);
/** Item @p index, or NULL behind the last; @p context is a struct feed: as cps_feeder.item. */
const struct cps_item *feed_item(void *context, uint64_t index);

#endif
