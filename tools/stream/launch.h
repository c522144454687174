/* SPDX-License-Identifier: MIT
 * Draws, dispatches, blits and resolves in a run's events: where each begins, and where what it
 * made the firmware do ends. */
#ifndef CPS_LAUNCH_H
#define CPS_LAUNCH_H

#include "isa/isa.h"
#include "trace/event.h"

/** What starts work. */
enum launch_kind { LAUNCH_NONE, LAUNCH_DRAW, LAUNCH_DISPATCH, LAUNCH_BLIT, LAUNCH_RESOLVE };

/** Words of the packet that are kept. */
#define LAUNCH_WORDS 8

/** One of them. */
struct launch {
    enum launch_kind kind;
    uint32_t number;     /**< counted from 0 over the run, all kinds together */
    uint32_t submission; /**< that it was in, from 0 */
    struct cps_event packet;
    uint32_t word[LAUNCH_WORDS];
    uint32_t words;
    const char *name; /**< of the packet; the names' */
};

/** Finds them among the events of one processor. */
struct launches {
    const struct cps_names *names;
    unsigned who;
    uint32_t submission; /**< the one that runs */
    uint32_t count;      /**< so far */
    struct launch last;  /**< the one that began last, while `is_open` or `is_fresh` */
    bool is_fresh;       /**< its packet has come, but perhaps not all of its words */
    bool is_open;        /**< it has begun, and not ended */
    bool in_group;       /**< draw-state groups run for it */
};

/** What an event says. */
enum launch_step {
    LAUNCH_INSIDE, /**< nothing new */
    LAUNCH_BEGINS, /**< `last` began with the packet before this event */
    LAUNCH_ENDS    /**< what the firmware did for `last` was done before this event */
};

/** @param names  of processor @p who; they outlive @p ret */
void launches_init(struct launches *ret, const struct cps_names *names, unsigned who);
/**
 * Takes the next event: PKT, WORD and SUBMIT of a run, and whatever else was recorded. A launch
 * ends in front of the next packet that is neither of a draw-state group nor the end of one.
 * @return ENDS rather than BEGINS where both are due: the same event is then to be given again,
 *         until it is INSIDE
 */
enum launch_step launches_take(struct launches *launches, const struct cps_event *event);
/** The run is over. @return LAUNCH_ENDS if one was open, which is `last` */
enum launch_step launches_end(struct launches *launches);

/** What a packet starts, by its header and the words behind it, as far as they are there. */
enum launch_kind launch_kind_of(const struct cps_names *names, uint32_t header,
                                const uint32_t *words, size_t count);
/** "draw", "dispatch", "blit", "resolve". */
const char *launch_kind_text(enum launch_kind kind);
/** Appends what it starts: "CP_DRAW_INDX_OFFSET DI_PT_TRILIST 1 x 6", as far as the words say. */
void launch_put(const struct launch *launch, const struct cps_names *names, struct cps_buf *out);

#endif
