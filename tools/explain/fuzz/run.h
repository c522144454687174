/* SPDX-License-Identifier: MIT
 * Runs cases on clones of booted machines, and looks at what happens: which ways the firmware took,
 * and what oracles have to say. */
#ifndef CPS_FUZZ_RUN_H
#define CPS_FUZZ_RUN_H

#include "emu/afuc/afuc.h"
#include "tools/explain/fuzz/case.h"
#include "tools/explain/fuzz/oracle.h"
#include "tools/explain/fuzz/protect.h"
#include "tools/run/record.h"
#include "trace/form/diff.h"

#define RUN_SUSPECTS 64u
#define RUN_EDGES    65536u

/** Where a processor stands, as events tell. */
struct run_place {
    uint8_t level;
    bool user; /**< in a stream that is not the driver's */
    uint32_t header;
    uint64_t iova;
};

/** A firmware, booted. */
struct run_side {
    struct cps_run_config config;
    struct play *play;
    struct cps_engine *booted; /**< as every case finds it */
    struct cps_engine *engine;
    struct cps_sink sink;
    struct cps_edge_log log;
    enum cps_stop stop;
    struct run_place place[CPS_CPU_COUNT];
    bool internal; /**< the stream had a packet that only hardware makes: the rest says nothing */
    bool goes_on;  /**< packets came until the limit, or nearly */
    struct learn_last last[LEARN_LEVELS]; /**< of the first processor */
    uint64_t digest[CPS_CPU_COUNT];       /**< of the events that count */
    struct record record;                 /**< of them, if there are two sides */
    struct run *run;
};

struct run {
    struct run_side side[2];
    unsigned sides;
    bool lpac; /**< streams are submitted to LPAC */
    uint64_t limit;
    uint32_t oracles;  /**< a bit for each that is asked for */
    uint32_t compared; /**< kinds of events */
    const struct protection *protection;
    uint8_t *bytes;
    const struct fuzz_case *input; /**< what runs */
    struct learned *learned;       /**< what cases teach goes there; NULL: nowhere */
    struct suspect suspect[RUN_SUSPECTS];
    unsigned suspects;
    uint64_t executed;
};

/** Loads the firmware of @p config, sets protection up, and boots. @p protection  of the first
 * firmware; it is filled, and outlives the run. The caller calls run_close() in any case. */
CPS_MUST_USE struct cps_err *run_open(struct run *run, const struct cps_run_config *config,
                                      unsigned sides, struct protection *protection);
void run_close(struct run *run);
/** Lets the cases of a side begin with @p booted, which it takes over. @p kinds  of events
 * @return NULL, or CPS_ERR_INPUT: the machine takes no streams */
CPS_MUST_USE struct cps_err *run_begin_side(struct run *run, unsigned number,
                                            struct cps_engine *booted, uint32_t kinds);
/** Runs a case on every side. What came of it: run->suspect, side[].log. */
void run_case(struct run *run, const struct fuzz_case *input);
/** Runs a case on one side only, up to a limit of its own, for what it writes. */
void run_one(struct run *run, unsigned side, const struct fuzz_case *input, uint64_t limit);
/** Whether the first difference of two sides is in what a clock decides on. */
bool run_is_clock(struct run *run, const struct fuzz_case *input);
/** Whether an oracle is asked for that may come of it. */
bool run_wants(const struct run *run, enum oracle raised);
/** Where the image of a core begins in the first file of a side. */
uint32_t run_image_start(const struct run_side *side, unsigned core);
/** The suspect that was raised with that key; NULL: there is none. */
const struct suspect *run_suspect(const struct run *run, uint64_t key);

/* ---- prove.c ---- */

/** Whether a suspect stands a closer look: of what is written past protection, whether the stream
 * decides on it; of what is endless, whether it is; of a difference, whether it is more than time.
 * Runs the case again, changed.
 * @param suspect  gets the oracle that it is a finding of */
bool run_prove(struct run *run, const struct fuzz_case *input, struct suspect *suspect);

/** Measures: clones, each with an empty packet, a second. */
double run_yardstick(struct run *run);

/* ---- judge.c: what oracles have to say after a run ---- */

/** What a side's sink does with events. */
void run_take_events(struct cps_sink *sink, const struct cps_event *events, size_t count);
/** Notes a suspect, if an oracle is asked for that it may become. */
void run_add_suspect(struct run *run, const struct suspect *suspect);
/** How a side's run ended, and how privileged it was. */
void judge_side(struct run_side *side);
/** Whether two sides did the same, and ended in the same way. */
void judge_difference(struct run *run);
/** Whether two runs ended differently: came to their end, were refused, reported an error, or do
 * not end. */
bool judge_endings_differ(const struct run *run);
/** What a side's core does that goes round, once it was followed for a while: HALT a jump to
 * itself, HANG a loop that reads nothing from outside, WAITS one that does. */
enum oracle circle_kind(struct run_side *side, unsigned core);

#endif
