/* SPDX-License-Identifier: MIT
 * Stepping, breakpoints, watchpoints and going back. It knows no user interface and no files.
 *
 * A run is deterministic, so a place in it is a number: the steps made so far, where a step is one
 * tick of one core (an instruction, or one repetition of a (rep)) or the feeding of an item that
 * acts (cps_item_acts()), with those before it that only prepare.
 * Going back is: restore the checkpoint before that place, and run forward. Checkpoints are clones
 * of the engine; there are at most CPS_DEBUG_CHECKPOINTS of them, dense near the present. */
#ifndef CPS_DEBUG_H
#define CPS_DEBUG_H

#include "../engine.h"

CPS_C_BEGIN

#define CPS_DEBUG_CHECKPOINTS 48u
/** Steps between two checkpoints that are made while running. */
#define CPS_DEBUG_INTERVAL 65536u

struct cps_debug;

/** Where items come from. */
struct cps_feeder {
    /** Item @p index of what is fed, from 0; NULL behind the last. Must give the same each time;
     * it stays valid as long as the debugger. */
    const struct cps_item *(*item)(void *context, uint64_t index);
    void *context;
    uint64_t until; /**< ticks of the engine's clock at which the run is over; 0: never */
};

/** A place in a run. */
struct cps_debug_place {
    uint64_t step;
    uint64_t event;      /**< events so far: the number that the next one gets, from 0 */
    uint64_t fed;        /**< items so far */
    uint32_t submission; /**< submissions among them; the one that runs is one less */
};

/** What a point looks at. */
enum cps_debug_what {
    CPS_AT_PC,    /**< in front of the instruction at `pc` */
    CPS_AT_EVENT, /**< behind an instruction that makes an event as described */
    CPS_AT_LINE,  /**< behind the feeding of an item of lines `first` to `last` of its run file */
    CPS_AT_PLACE, /**< behind an instruction that changes the value at `place` */
};

/** A breakpoint or watchpoint. */
struct cps_debug_point {
    int id; /**< from 1, given by cps_debug_add() */
    enum cps_debug_what what;
    int core; /**< index, or -1: all */
    bool disabled;
    bool once; /**< disabled by the core when it stops a run */
    uint32_t pc;
    struct cps_place place; /**< its core counts where `core` names one; else every core's */
    uint32_t kinds;         /**< bits of event kinds */
    uint32_t subs;          /**< bits of their subs; 0: all */
    uint64_t first, last;   /**< range of the event's address */
    uint32_t mask, value;   /**< event.value & mask == value */
    uint64_t ignore;        /**< hits to pass before it stops a run; counts down */
    uint64_t hits;
    /** A condition, or NULL; @p event is NULL for CPS_AT_PC and CPS_AT_PLACE. */
    bool (*when)(void *context, struct cps_debug *debug, unsigned core,
                 const struct cps_event *event);
    void *context;
};

/** How far to go. All but CPS_GO_ON are about one core. */
enum cps_debug_go {
    CPS_GO_ON,     /**< to a point, or the end */
    CPS_GO_TICK,   /**< one instruction or one repetition */
    CPS_GO_NEXT,   /**< an instruction; calls and repetitions in one piece */
    CPS_GO_PACKET, /**< behind the dispatch of a packet */
    CPS_GO_FINISH, /**< out of the routine */
    CPS_GO_IB,     /**< out of the indirect buffer */
    CPS_GO_SUBMIT, /**< to the feeding of the next submission */
    CPS_GO_FEED,   /**< behind the feeding of the next item that acts */
};

/** Why a run stopped. */
enum cps_debug_reason {
    CPS_WHY_GONE, /**< as far as asked */
    CPS_WHY_POINT,
    CPS_WHY_END,   /**< all is done: forward, nothing is left to feed */
    CPS_WHY_START, /**< backward: nothing lies before */
    CPS_WHY_DEADLOCK,
    CPS_WHY_FAULT,
    CPS_WHY_BAD_PACKET,
    CPS_WHY_INTERRUPTED,
    CPS_WHY_NOMEM,
    CPS_WHY_REFUSED, /**< the engine refused what it was fed: cps_debug_refused() */
};

struct cps_debug_stop {
    enum cps_debug_reason reason;
    int point;     /**< id, with CPS_WHY_POINT */
    unsigned core; /**< that made the last step */
    uint32_t pc;   /**< of the instruction that it ran */
    bool has_event;
    struct cps_event event; /**< that stopped the run */
};

/** @param engine  becomes the debugger's, also on error; as it was created
 * @param feeder   copied */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_debug_create(struct cps_engine *engine,
                                                         const struct cps_feeder *feeder,
                                                         struct cps_debug **ret);
CPS_PUBLIC void cps_debug_destroy(struct cps_debug *debug);
/** The engine as it stands. Another one after every call that moves. */
CPS_PUBLIC struct cps_engine *cps_debug_engine(struct cps_debug *debug);
/** Why the engine refused an item; NULL if it has not. */
CPS_PUBLIC const struct cps_err *cps_debug_refused(const struct cps_debug *debug);
CPS_PUBLIC struct cps_debug_place cps_debug_place(const struct cps_debug *debug);
/** @p asked is called every 1,024 steps of a move, which ends with CPS_WHY_INTERRUPTED when it says
 * so; NULL: nothing ends a move early. */
CPS_PUBLIC void cps_debug_interrupt(struct cps_debug *debug, bool (*asked)(void *context),
                                    void *context);

/** Goes on. @p core  of CPS_GO_* that are about one. */
CPS_PUBLIC struct cps_debug_stop cps_debug_run(struct cps_debug *debug, enum cps_debug_go go,
                                               unsigned core);
/** Goes back to the last place where going there would have stopped (CPS_GO_ON: a point). */
CPS_PUBLIC struct cps_debug_stop cps_debug_back(struct cps_debug *debug, enum cps_debug_go go,
                                                unsigned core);
/** To the place behind step @p step, or event @p event, in either direction; no point stops it. */
CPS_PUBLIC struct cps_debug_stop cps_debug_goto_step(struct cps_debug *debug, uint64_t step);
CPS_PUBLIC struct cps_debug_stop cps_debug_goto_event(struct cps_debug *debug, uint64_t event);

/** To the place behind step @p step of a run in which nothing was ever changed. */
CPS_PUBLIC struct cps_debug_stop cps_debug_restart(struct cps_debug *debug, uint64_t step);

/**
 * Looks back for the last time that @p point would have stopped a run; nothing moves.
 * @param[out] stop   the event, if the point is about events
 * @param[out] place  where; go there with cps_debug_goto_step()
 * @return false if it never happened
 */
CPS_PUBLIC bool cps_debug_last(struct cps_debug *debug, const struct cps_debug_point *point,
                               struct cps_debug_stop *stop, struct cps_debug_place *place);

/** Adds a point. @return its id, or 0 if memory is short */
CPS_PUBLIC int cps_debug_add(struct cps_debug *debug, const struct cps_debug_point *point);
CPS_PUBLIC bool cps_debug_remove(struct cps_debug *debug, int id);
/** The point of that id, or NULL. */
CPS_PUBLIC struct cps_debug_point *cps_debug_find(struct cps_debug *debug, int id);
/** Point number @p index of those there are, in the order of their ids; NULL behind the last. */
CPS_PUBLIC struct cps_debug_point *cps_debug_point(struct cps_debug *debug, unsigned index);

/**
 * An event that has happened; the last 65,536 are kept.
 * @param number  as cps_debug_place.event counts
 * @return false if it is not kept, or lies ahead
 */
CPS_PUBLIC bool cps_debug_event(const struct cps_debug *debug, uint64_t number,
                                struct cps_event *ret);

/** What can be changed while stopped. */
enum cps_edit_what {
    CPS_EDIT_PLACE,   /**< place, value: stored, without what a write by the program would do */
    CPS_EDIT_BRANCH,  /**< the branch at the pc of place.core is done: value 1 taken, 0 not; its
                           delay slot, if it has one, is next */
    CPS_EDIT_PACKETS, /**< words: packets behind what the ring holds */
};
struct cps_edit {
    enum cps_edit_what what;
    struct cps_place place;
    uint64_t value;
    const uint32_t *words; /**< CPS_EDIT_PACKETS; copied */
    uint32_t count;
};
/**
 * Changes the engine here. Changes belong to the run: going back and forward again makes them
 * again, and one that is made earlier than others drops those.
 * @return NULL, CPS_ERR_NOMEM, or CPS_ERR_INPUT: no such place, no branch at the pc
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_debug_edit(struct cps_debug *debug,
                                                       const struct cps_edit *edit);

CPS_C_END

#endif
