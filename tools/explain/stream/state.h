/* SPDX-License-Identifier: MIT
 * What registers hold when a draw has been made: gathered from a run's events, and as a tree.
 *
 *   state.c      the run, and the registers
 *   state_doc.c  registers of one state or of two as rows */
#ifndef CPS_STREAM_STATE_H
#define CPS_STREAM_STATE_H

#include "tools/run/account.h"
#include "tools/run/play.h"
#include "trace/event/launch.h"

#define STATE_REGISTERS 0x40000u /* offsets of GPU registers have 18 bits */

struct json_object;

/** What a register holds, and where that came from. */
struct state_register {
    uint32_t value;
    uint32_t pc;     /**< of the instruction that wrote it last */
    uint64_t event;  /**< 1 + number of that event, counted over the run; 0: nothing wrote it */
    uint64_t packet; /**< address of the header that was being executed */
    uint32_t header;
    uint8_t level; /**< of the packet */
};

/** The state after one launch, and before it. */
struct state {
    struct cps_launch launch;
    struct state_register *now;    /**< STATE_REGISTERS; owned */
    struct state_register *before; /**< after the launch before; nothing written: there is none */
    uint64_t since;                /**< events of the run until `before` */
};

/** What a run is asked for. */
struct state_setup {
    const struct cps_run_config *config;
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

/* ---- in the middle of the caller's run, as in the debugger ---- */

struct state_run;

/** Events that it needs. */
#define STATE_KINDS                                                                  \
    (1u << CPS_EV_REG | 1u << CPS_EV_PKT | 1u << CPS_EV_WORD | 1u << CPS_EV_SUBMIT | \
     1u << CPS_EV_LAUNCH)

/**
 * Begins.
 * @param names, buffers  of the run; they outlive @p ret. Buffers may be NULL
 * @param who             processor
 */
struct state_run *state_run_create(struct cps_names *names, struct cps_buffers *buffers,
                                   unsigned who);
/** What gets the run's events, from its start on. */
struct cps_sink *state_run_sink(struct state_run *run);
/** What was gathered: the last draw that began, the registers now, and as they were when the draw
 * before was done. It belongs to @p run. */
const struct state_result *state_run_result(const struct state_run *run);
/** Whether that draw is still being made; else the registers are those of the next one so far. */
bool state_run_in_draw(const struct state_run *run);
void state_run_destroy(struct state_run *run);

/* ---- as a tree ---- */

/** How a register compares with the state before. */
enum state_mark {
    STATE_KEPT,    /**< nothing wrote it since */
    STATE_AGAIN,   /**< written, with the same value */
    STATE_CHANGED, /**< another value */
    STATE_NEW,     /**< had none */
    STATE_GONE     /**< has none now: only where two runs are compared */
};

/** Layouts (tools/cmd/render/doc.h) of an item of "draws", and of the rest of state_put(). */
#define STATE_LAUNCH "{kind} {draw} of {processor}: {text}, submission {submission}, {level} {iova}"
#define STATE_COUNTS                                                             \
    "{.values} registers have a value: {.changed} changed (*), {.new} new (+), " \
    "{.again} written again with the same value (=), {.kept} as they were"
#define STATE_ROWS                                                                           \
    "{.blocks*{.?{@}\n{.*{.mark} 0x{offset:04x} {name}{name!-}{half?+0x1} {.value}{.fields}" \
    "{.was?  was {.was}}{writer>  {level} {packet} pc=0x{pc:04x}}\n}}}"
/**
 * Adds "draws" and "runs", of one side or two, and the "registers" of the last one, beside the side
 * before, or what they were before the draw. Pairs that are one register of 64 bits are joined.
 * @param only_changed  the text omits registers that did not change
 * @return whether any register differs
 */
bool state_put(const struct state_result *result, unsigned sides, bool only_changed,
               struct json_object *to);
/** Layout of state_list_put(): a draw that is made for one bin after the other is one line. */
#define STATE_LIST                                                                        \
    "{draws*{.first?{draw:5}  {kind:-8}  submission {submission}  {level} {iova}  {text}" \
    "{.again?  again as{.again}}\n}}"
/** Adds "draws" and "runs": all of a run. */
void state_list_put(const struct state_result *result, struct json_object *to);

#endif
