/* SPDX-License-Identifier: MIT
 * What registers hold when a draw has been made: gathered from a run's events. */
#ifndef CPS_STREAM_STATE_H
#define CPS_STREAM_STATE_H

#include "tools/run/account.h"
#include "tools/run/play.h"
#include "trace/event/launch.h"

#define STATE_REGISTERS 0x40000u /* offsets of GPU registers have 18 bits */

/** What a register holds, and where that came from. */
struct state_register {
    uint32_t value;
    uint32_t pc;     /**< of the instruction that wrote it last */
    uint64_t event;  /**< 1 + number of that event, counted over the run; 0: nothing wrote it */
    uint64_t packet; /**< address of the header that was being executed */
    uint32_t header;
    uint8_t level; /**< of the packet */
};

/** The state behind one launch, and in front of it. */
struct state {
    struct cps_launch launch;
    struct state_register *now;    /**< STATE_REGISTERS; owned */
    struct state_register *before; /**< behind the launch before; nothing written: there is none */
    uint64_t since;                /**< events of the run until `before` */
};

/** What a run is asked for. */
struct state_setup {
    const struct cps_options *opt;
    const char *const
        *firmware;       /**< two paths, the second NULL but for a5xx, the first for the demo */
    const char *capture; /**< NULL: the demo's */
    unsigned who;        /**< processor; CPS_CPU_NONE: the one that draws */
    long draw;           /**< which launch; -1: none, the list is wanted */
    bool quiet;          /**< as play.quiet */
};

/** The result. */
struct state_result {
    struct state state;      /**< of `draw` */
    struct cps_launch *list; /**< all launches, where no `draw` was asked for; owned */
    uint32_t count;          /**< launches that there were until the run ended */
    struct play_account
        account; /**< to the launch that was asked for, which is an end, or to the end */
    unsigned who;
    struct cps_names *names;     /**< of `who`; owned */
    struct cps_buffers *buffers; /**< of the capture; owned */
};

/**
 * Runs a capture until the launch has been made, or to its end.
 * @return NULL also where there are fewer launches: then state.now is NULL. The caller calls
 *         state_deinit() in any case
 */
CPS_MUST_USE struct cps_err *state_gather(const struct state_setup *setup,
                                          struct state_result *ret);
void state_deinit(struct state_result *result);
/** Takes an event into @p held, which has STATE_REGISTERS, if it is a write that counts for @p who.
 * @param number  of the event, counted over the run
 * @param packet  that @p who was executing
 * @return whether it was one */
bool state_keep_(struct state_register *held, unsigned who, const struct cps_event *event,
                 uint64_t number, const struct cps_event *packet);

#endif
