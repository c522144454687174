/* SPDX-License-Identifier: MIT
 * The account of a run: how much of its input was executed, and how it ended. Exit status, text and
 * JSON of every command that runs something follow from it. */
#ifndef CPS_PLAY_ACCOUNT_H
#define CPS_PLAY_ACCOUNT_H

#include <stdbool.h>

#include "emu/engine.h"

struct json_object;
struct play;

struct play_account {
    enum cps_stop stop;
    bool replayed;        /**< a dump, which runs to where its hardware hung */
    bool scripted;        /**< a run file or a script: `executed` counts steps, not submissions */
    bool boot_only;       /**< nothing has to be executed: the boot is all that was asked for */
    bool cut;             /**< the input is a dump that ends early: something was not compared */
    bool input_failed;    /**< the input is truncated or damaged: only its beginning ran */
    bool from_trace;      /**< of a trace that was read, which says only how it ended */
    bool endless;         /**< and not even that: it lacks the event END */
    uint32_t submissions; /**< of the input, as far as the run came */
    uint64_t executed;
    uint32_t hangs;                    /**< submissions that hung, after which it went on */
    uint32_t not_captured;             /**< submissions whose contents the input lacks */
    unsigned injections, not_injected; /**< interrupts of --inject; those that did not come */
    char why[256];                     /**< where and why it stopped, "" if it ran to the end */
    bool clock_varies;                 /**< the clock of `clock=` is not that of packets */
    bool waits;                        /**< `wait` says what keeps the engine from going on */
    struct cps_wait wait;
    enum cps_processor waiting; /**< which one */
};

/** The account of a run that is over. */
CPS_MUST_USE struct cps_err *play_account_take(const struct play *play, struct play_account *ret);
/** 0, or 4: the run stopped early, or executed nothing, or an interrupt did not come. */
int play_account_status(const struct play_account *account);
/** Appends the reason of that status; nothing if it is 0. */
void play_account_put(const struct play_account *account, struct cps_buf *out);
/** The same; where it is 0, what the engine explains: where a replay stands. */
void play_account_reason(const struct play_account *account, struct cps_buf *out);
/** Appends how many submissions are missing beside those that were executed; nothing if none is. */
void play_account_put_missing(const struct play_account *account, struct cps_buf *out);
/** The word for how it stopped. */
const char *play_account_word(const struct play_account *account);
/** Adds `status`, `end`, `why` where there is something to explain, `wait` where the engine waits,
 * `not_injected` with --inject, and for a capture `submissions`, `executed` and `not_captured`. */
void play_account_json(const struct play_account *account, struct json_object *to);
/** Appends an object with the same to a list. @param side  its label, or NULL */
void play_account_json_row(const struct play_account *account, const char *side,
                           struct json_object *list);

#endif
