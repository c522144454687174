/* SPDX-License-Identifier: MIT
 * What the files of the debugging core share. Private to emu/. */
#ifndef CPS_DEBUG_STATE_H
#define CPS_DEBUG_STATE_H

#include "emu/debug/debug.h"
#include "emu/mem.h"

#define LOG_EVENTS 65536u

struct checkpoint {
    struct cps_engine *engine;
    struct cps_debug_location place;
    size_t edit_next;
};

/* A point as the run sees it. */
struct point {
    struct cps_debug_point is;    /* first: callers get a pointer to it */
    uint64_t seen[CPS_MAX_CORES]; /* values at the last step, CPS_AT_PLACE */
};

/* A change and the step at which it is made. */
struct made {
    struct cps_edit edit; /* its words are owned */
    uint64_t step;
    uint64_t fed; /* no change, but the host's: items up to here are fed; else 0 */
};

struct cps_debug {
    struct cps_sink sink;
    struct cps_engine *engine;
    struct cps_feeder feeder;
    struct cps_debug_location place;
    struct cps_err *refused;
    bool nomem;
    struct checkpoint checkpoint[CPS_DEBUG_CHECKPOINTS];
    unsigned checkpoint_count;
    struct point *point;
    unsigned point_count;
    int last_id, last_own;
    struct made *made; /* in the order of their steps */
    size_t made_count;
    size_t made_next;                 /* the first that is not made yet in this state */
    bool (*interrupt)(void *context); /* whether to stop; NULL: no */
    void *interrupt_context;
    bool (*tally)(void *context, struct cps_engine *engine, const struct cps_event *packet);
    void *tally_context;
    struct cps_sink *listener;                    /* gets the events, too; NULL: none */
    uint64_t still_since, still_changes, look_at; /* steps without a change, for deadlocks */
    uint64_t stuck_at; /* clock at which a run that is proved to be stuck ends; 0: it is not */
    enum cps_debug_reason stuck_reason;
    /* The last step. */
    bool ticked; /* an instruction ran, rather than a feeding */
    unsigned core;
    uint32_t before_pc, before_npc;
    uint64_t first_event; /* that it made */
    struct {
        struct cps_event event;
        uint64_t number;
    } log[LOG_EVENTS];
};

/* ---- debug.c ---- */

enum cps_debug_reason debug_step_(struct cps_debug *d);
/** Feeds the items before item @p until that do not act. */
enum cps_debug_reason debug_prepare_(struct cps_debug *d, uint64_t until);
/** Whether @p point (NULL: any that is enabled) stops after the last step. @param counts  such a
 * hit counts: one that is to be ignored makes room for the next point */
bool debug_hits_(struct cps_debug *d, struct point *point, bool counts,
                 struct cps_debug_stop *stop);
/** To be called when the engine is another one: points start from its registers. */
void debug_refresh_(struct cps_debug *d);
void debug_refresh_point_(const struct cps_debug *d, struct point *point);
bool debug_interrupted_(const struct cps_debug *d);

/** The destination of a run. */
struct goal {
    enum cps_debug_go go;
    unsigned core;
    uint32_t depth, level;
    uint32_t resume; /* after a call and its delay slot; 0: none */
};
struct goal debug_goal_(struct cps_debug *d, enum cps_debug_go go, unsigned core);
bool debug_reached_(struct cps_debug *d, const struct goal *goal);

/* ---- back.c ---- */

/** A copy of an engine; NULL if memory is short, which the debugger remembers. */
struct cps_engine *debug_clone_(struct cps_debug *d, struct cps_engine *engine);
/** Makes a checkpoint here, if none is near; false if memory is short. */
bool debug_keep_(struct cps_debug *d);
/** Makes the changes that belong to this place and were not made yet. */
void debug_make_edits_(struct cps_debug *d);
/** Forgets the changes from number @p first on. */
void debug_drop_edits_(struct cps_debug *d, size_t first);

#endif
