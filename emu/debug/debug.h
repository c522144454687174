/* SPDX-License-Identifier: MIT
 * Stepping, breakpoints, watchpoints and going back. It knows no user interface and no files.
 *
 * A run is deterministic, so a place in it is a number: the steps made so far, where a step is one
 * tick of one core (an instruction, or one repetition of a (rep)) or the feeding of an item that
 * acts (cps_item_acts()), with those before it that only prepare.
 * Going back is: restore the checkpoint before that place, and run forward. Checkpoints are clones
 * of the engine; there are at most CPS_DEBUG_CHECKPOINTS of them, dense near the present. An
 * engine that cannot be cloned, because it has a host, has no debugger.
 *
 * The list of items may grow: a run that ended with CPS_WHY_END goes on when its feeder has more.
 *
 * Threads: one at a time may use a debugger. Conditions, feeder and interrupt are called in it. */
#ifndef CPS_DEBUG_H
#define CPS_DEBUG_H

#include "../engine.h"

CPS_C_BEGIN

/** Most checkpoints. */
#define CPS_DEBUG_CHECKPOINTS 48u
/** Steps between two questions whether a move shall end (cps_debug_interrupt()). */
#define CPS_DEBUG_INTERRUPT 1024
/** Steps between two checkpoints that are made while running. */
#define CPS_DEBUG_INTERVAL 65536u

/** A debugger. */
struct cps_debug;

/** The source of items. */
struct cps_feeder {
    /** Item @p index, from 0; NULL after the last so far. Gives the same each time; the item stays
     * valid until the next call, and what it points to as long as the debugger, or until
     * cps_debug_forget(). */
    const struct cps_item *(*item)(void *context, uint64_t index);
    void *context;  /**< Argument of `item`. */
    uint64_t until; /**< Ticks of the engine's clock at which the run is over; 0: never. */
};

/** A place in a run: what happened so far. */
struct cps_debug_location {
    uint64_t step;       /**< Steps. */
    uint64_t event;      /**< Events: the number of the next one, from 0. */
    uint64_t fed;        /**< Items. */
    uint32_t submission; /**< Submissions among them; the one that runs is one less. */
    uint64_t tally;      /**< Packets that cps_debug_tally() counts. */
    /** Items whose answers are known: all before it, if they are reads of the host's. */
    uint64_t answered;
    uint64_t missed;      /**< Reads of the host's that were not as their item expects. */
    uint64_t missed_item; /**< The first of them: its item, and what it read. */
    uint32_t missed_answer;
};

/** When a point stops. */
enum cps_debug_what {
    CPS_AT_PC,    /**< Before the instruction at `pc`. */
    CPS_AT_EVENT, /**< After an instruction that makes an event as described. */
    CPS_AT_LINE,  /**< After the feeding of an item of lines `first` to `last` of its run file. */
    CPS_AT_PLACE, /**< After an instruction that changes the value at `place`. */
};

/** A breakpoint or watchpoint. */
struct cps_debug_point {
    int id; /**< From 1, given by cps_debug_add(); of the caller's `own` ones from -1 down. */
    enum cps_debug_what what; /**< When it stops. */
    int core;                 /**< Index of its core, or -1: all. */
    bool disabled;            /**< It stops nothing. */
    bool once;                /**< It disables itself when it stops a run. */
    bool own;                 /**< A goal of the caller's, without a number for the user. */
    uint32_t pc;              /**< CPS_AT_PC: where, in units of the core's image. */
    /** CPS_AT_PLACE: where. Its core counts where `core` names one; else every core's. */
    struct cps_location place;
    uint32_t kinds;       /**< CPS_AT_EVENT: bits of event kinds. */
    uint32_t subs;        /**< CPS_AT_EVENT: bits of their subs; 0: all. */
    uint64_t first, last; /**< Range of the event's address, or of lines; both ends count. */
    uint32_t mask, value; /**< CPS_AT_EVENT: the event's value & mask == value. */
    uint64_t ignore;      /**< Hits to pass before it stops a run; counts down. */
    uint64_t hits;        /**< Hits so far. */
    /** A condition, or NULL; @p event is NULL for CPS_AT_PC and CPS_AT_PLACE. */
    bool (*when)(void *context, struct cps_debug *debug, unsigned core,
                 const struct cps_event *event);
    void *context; /**< Argument of `when`. */
};

/** How far to go. All but CPS_GO_ON are about one core. */
enum cps_debug_go {
    CPS_GO_ON,     /**< To a point, or the end. */
    CPS_GO_TICK,   /**< One instruction or one repetition. */
    CPS_GO_NEXT,   /**< An instruction; calls and repetitions in one piece. */
    CPS_GO_PACKET, /**< After the dispatch of a packet. */
    CPS_GO_FINISH, /**< Out of the routine. */
    CPS_GO_IB,     /**< Out of the indirect buffer. */
    CPS_GO_SUBMIT, /**< To the feeding of the next submission. */
    CPS_GO_FEED,   /**< After the feeding of the next item that acts. */
};

/** Why a run stopped. */
enum cps_debug_reason {
    CPS_WHY_GONE,        /**< It went as far as asked. */
    CPS_WHY_POINT,       /**< A point stopped it. */
    CPS_WHY_END,         /**< Forward: nothing is left to feed. */
    CPS_WHY_START,       /**< Backward: the start of the run. */
    CPS_WHY_DEADLOCK,    /**< As CPS_STOP_DEADLOCK. */
    CPS_WHY_FAULT,       /**< As CPS_STOP_FAULT. */
    CPS_WHY_BAD_PACKET,  /**< As CPS_STOP_BAD_PACKET. */
    CPS_WHY_INTERRUPTED, /**< The callback of cps_debug_interrupt() ended it. */
    CPS_WHY_NOMEM,       /**< Memory is short. */
    CPS_WHY_REFUSED,     /**< The engine refused an item: cps_debug_refused(). */
};

/** How a move ended. */
struct cps_debug_stop {
    enum cps_debug_reason reason; /**< Why. */
    int point;                    /**< Id of the point, with CPS_WHY_POINT. */
    unsigned core;                /**< The core that made the last step. */
    uint32_t pc;                  /**< Address of the instruction that it ran. */
    bool has_event;               /**< An event stopped the run. */
    struct cps_event event;       /**< That event. */
};

/**
 * Makes a debugger at the start of the run.
 * @param engine  as it was created; becomes the debugger's, also on error
 * @param feeder  copied
 * @param ret     gets the debugger, which the caller destroys
 * @return NULL, CPS_ERR_NOMEM, or CPS_ERR_UNSUPPORTED for an engine with a host
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_debug_create(struct cps_engine *engine,
                                                         const struct cps_feeder *feeder,
                                                         struct cps_debug **ret);
/** Releases a debugger, its engine and its checkpoints; NULL is fine. */
CPS_PUBLIC void cps_debug_destroy(struct cps_debug *debug);
/** The engine at this place, to look at: the debugger's, another one after every call that moves.
 * Changes go through cps_debug_edit(). */
CPS_PUBLIC struct cps_engine *cps_debug_engine(struct cps_debug *debug);
/** Why the engine refused an item: the debugger's; NULL if it has not. */
CPS_PUBLIC const struct cps_err *cps_debug_refused(const struct cps_debug *debug);
/** Whether memory was short since the last call of this: results since then are incomplete. */
CPS_PUBLIC bool cps_debug_nomem(struct cps_debug *debug);
/** The place of the debugger. */
CPS_PUBLIC struct cps_debug_location cps_debug_location(const struct cps_debug *debug);
/** Sets the callback that may end a move early, with CPS_WHY_INTERRUPTED.
 * @param asked    called every CPS_DEBUG_INTERRUPT steps; true ends the move. NULL: none
 * @param context  its argument. A flag that another thread or a signal handler sets must be atomic
 */
CPS_PUBLIC void cps_debug_interrupt(struct cps_debug *debug, bool (*asked)(void *context),
                                    void *context);
/** Selects the packets that cps_debug_location.tally counts. Call it at the start of the run.
 * @param counts   called with every event PKT; true: it counts. Answers the same each time */
CPS_PUBLIC void cps_debug_tally(struct cps_debug *debug,
                                bool (*counts)(void *context, struct cps_engine *engine,
                                               const struct cps_event *packet),
                                void *context);
/** Sets the sink of the events of moves; searches and ways back give theirs, too: it is for runs
 * that only go forward. The sink is the caller's and lives as long; NULL: none. */
CPS_PUBLIC void cps_debug_listen(struct cps_debug *debug, struct cps_sink *sink);

/** Runs forward. @param core  of CPS_GO_* that are about one: below engine->cores */
CPS_PUBLIC struct cps_debug_stop cps_debug_run(struct cps_debug *debug, enum cps_debug_go go,
                                               unsigned core);
/** Goes back to the last place where going there would have stopped (CPS_GO_ON: a point). */
CPS_PUBLIC struct cps_debug_stop cps_debug_back(struct cps_debug *debug, enum cps_debug_go go,
                                                unsigned core);
/** Goes to the place after step @p step, in either direction; no point stops it. CPS_WHY_START: it
 * is forgotten, and the oldest place is next best. */
CPS_PUBLIC struct cps_debug_stop cps_debug_goto_step(struct cps_debug *debug, uint64_t step);
/** Goes to the place after event @p event, in either direction; no point stops it. */
CPS_PUBLIC struct cps_debug_stop cps_debug_goto_event(struct cps_debug *debug, uint64_t event);
/** Goes to the place after step @p step of a run without any change: forgets all edits. */
CPS_PUBLIC struct cps_debug_stop cps_debug_restart(struct cps_debug *debug, uint64_t step);

/**
 * Looks back for the last time that a point would have stopped a run; nothing moves.
 * @param point  need not be one that was added
 * @param stop   gets the event, if the point is about events
 * @param place  gets where; go there with cps_debug_goto_step()
 * @return false if it never happened
 */
CPS_PUBLIC bool cps_debug_last(struct cps_debug *debug, const struct cps_debug_point *point,
                               struct cps_debug_stop *stop, struct cps_debug_location *place);

/** Adds a point, which is copied. @return its id, which is never 0, or 0 if memory is short */
CPS_PUBLIC int cps_debug_add(struct cps_debug *debug, const struct cps_debug_point *point);
/** Removes a point. @return false if there is none of that id */
CPS_PUBLIC bool cps_debug_remove(struct cps_debug *debug, int id);
/** A point by its id, which the caller may change: the debugger's, until one is added or removed;
 * NULL if there is none. */
CPS_PUBLIC struct cps_debug_point *cps_debug_find(struct cps_debug *debug, int id);
/** The same by its position, from 0, in the order of ids; NULL after the last. */
CPS_PUBLIC struct cps_debug_point *cps_debug_point(struct cps_debug *debug, unsigned index);

/** An event by its number, as cps_debug_location.event counts; the last 65,536 are kept.
 * @return false if it is not kept, or has not happened */
CPS_PUBLIC bool cps_debug_event(const struct cps_debug *debug, uint64_t number,
                                struct cps_event *ret);

/** What can be changed while stopped. */
enum cps_edit_what {
    CPS_EDIT_PLACE, /**< `place`, `value`: stored, without what a write by the program would do. */
    /** The branch at the pc of place.core is done: `value` 1 taken, 0 not; its delay slot, if it
     * has one, is next. */
    CPS_EDIT_BRANCH,
    CPS_EDIT_PACKETS, /**< `words`: packets after those in the ring. */
};
/** A change. */
struct cps_edit {
    enum cps_edit_what what;   /**< Kind. */
    struct cps_location place; /**< Where. */
    uint64_t value;            /**< New value. */
    const uint32_t *words;     /**< CPS_EDIT_PACKETS: dwords; copied. */
    uint32_t count;            /**< How many. */
};
/** Changes the engine here. Changes belong to the run: going back and forward again makes them
 * again, and one that is made earlier than others drops those.
 * @return NULL, CPS_ERR_NOMEM, or CPS_ERR_INPUT: no such place, no branch at the pc */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_debug_edit(struct cps_debug *debug,
                                                       const struct cps_edit *edit);

/** Feeds the items up to the next that acts, although the engine is not idle: the host changes
 * memory that the engine waits for. Belongs to the run as a change does, but cps_debug_restart()
 * and cps_debug_twin() do not count it as one. @return NULL, or CPS_ERR_NOMEM */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_debug_feed(struct cps_debug *debug);

/** Forgets the run before item @p fed was fed, or a little more: nothing goes back there any more.
 * If that is after the place of the debugger, nothing is forgotten.
 * @return items before this one are not asked for again */
CPS_PUBLIC uint64_t cps_debug_forget(struct cps_debug *debug, uint64_t fed);
/** The oldest step that can be gone to: 0 unless cps_debug_forget() has moved it. */
CPS_PUBLIC uint64_t cps_debug_oldest(const struct cps_debug *debug);

/** An observer of a way that is gone once more. */
struct cps_debug_retrace {
    /** Called at the start, after the first @p fed items; takes the engine's sink. An error ends
     * it. */
    struct cps_err *(*ready)(void *context, struct cps_engine *engine, uint64_t fed);
    /** Called when the engine is where the debugger is. */
    struct cps_err *(*done)(void *context, struct cps_engine *engine);
    void *context; /**< Argument of both. */
};
/** Goes all the way from the oldest step to here once more, with an engine of its own; nothing
 * moves.
 * @return NULL, an error of `ready` or `done`, CPS_ERR_NOMEM, or CPS_ERR_INPUT: interrupted */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_debug_retrace(struct cps_debug *debug,
                                                          const struct cps_debug_retrace *retrace);

/**
 * Makes a debugger of the same run at its first change, without points; nothing moves.
 * @param changed  with the changes that were made until here; else with none
 * @param ret      gets the other one, which the caller destroys before this one's feeder
 * @return NULL, CPS_ERR_NOMEM, or CPS_ERR_INPUT: nothing was changed, that is forgotten, or it was
 * interrupted
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_debug_twin(struct cps_debug *debug, bool changed,
                                                       struct cps_debug **ret);

CPS_C_END

#endif
