/* SPDX-License-Identifier: MIT
 * Draws, dispatches, blits and resolves in a run's events: where each begins, and where what it
 * made the firmware do ends. Whatever counts them counts them here. Private to trace/ and tools/.
 */
#ifndef CPS_LAUNCH_H
#define CPS_LAUNCH_H

#include "isa/isa.h"
#include "isa/packet.h"
#include "trace/event/event.h"

/** Words of the packet that are kept. */
#define CPS_LAUNCH_WORDS 8
/** The number of a launch behind a packet that may have been one: its words were not recorded. */
#define CPS_LAUNCH_UNNUMBERED UINT32_MAX

/** One of them. */
struct cps_launch {
    enum cps_launch_kind kind;
    uint32_t number;     /**< of the processor's, from 0, all kinds together, skipped ones too */
    uint32_t submission; /**< that it was in, from 0 */
    struct cps_event packet;
    uint32_t word[CPS_LAUNCH_WORDS];
    uint32_t words;
    uint32_t works;   /**< LAUNCH events of it that are not "skipped" */
    uint32_t skips;   /**< those that are */
    const char *name; /**< of the packet; the names' */
};

/** Finds them among the events of one processor. */
struct cps_launches {
    const struct cps_names *names;
    unsigned who;
    uint32_t kinds;         /**< of events that are recorded */
    bool is_unsure;         /**< a packet has come that may have been one */
    uint32_t submission;    /**< the one that runs */
    uint32_t count;         /**< so far */
    struct cps_launch last; /**< the one that began last, while `is_open` or `is_fresh` */
    bool is_fresh;          /**< its packet has come, but perhaps not all of its words */
    bool is_open;           /**< it has begun, and not ended */
    bool in_group;          /**< draw-state groups run for it */
};

/** What an event says. */
enum cps_launch_step {
    CPS_LAUNCH_INSIDE, /**< nothing new */
    CPS_LAUNCH_BEGINS, /**< `last` began with the packet before this event */
    CPS_LAUNCH_ENDS    /**< what the firmware did for `last` was done before this event; its kind
                          is now "skipped" if no work was started */
};

/** @param names  of processor @p who; they outlive @p ret. NULL: nothing is found
 * @param kinds  a bit per kind of event that is recorded: WORD tells what an event packet is,
 * LAUNCH whether a draw was skipped */
void cps_launches_init_(struct cps_launches *ret, const struct cps_names *names, unsigned who,
                        uint32_t kinds);
/**
 * Takes the next event: PKT, WORD, SUBMIT and END of a run, and whatever else was recorded. A
 * launch ends in front of the next packet that is neither of a draw-state group nor the end of one.
 * @return ENDS rather than BEGINS where both are due: the same event is then to be given again,
 *         until it is INSIDE
 */
enum cps_launch_step cps_launches_take_(struct cps_launches *launches,
                                        const struct cps_event *event);
/** The run is over. @return as cps_launches_take_(): to be called until it is INSIDE */
enum cps_launch_step cps_launches_end_(struct cps_launches *launches);

/** The name of a packet of type 7, by its header; NULL: it has none, or is of another type. @p
 * names may be NULL */
const char *cps_packet_name_(const struct cps_names *names, uint32_t header);
/** What a packet starts, by its header and the words behind it, as far as they are there. */
enum cps_launch_kind cps_launch_kind_of_(const struct cps_names *names, uint32_t header,
                                         const uint32_t *words, size_t count);
/** "none", "draw", "dispatch", "blit", "resolve", "skipped". */
const char *cps_launch_kind_text_(enum cps_launch_kind kind);
/** Appends what it starts: "CP_DRAW_INDX_OFFSET DI_PT_TRILIST 1 x 6", as far as the words say. */
void cps_launch_put_(const struct cps_launch *launch, const struct cps_names *names,
                     struct cps_buf *out);

#endif
