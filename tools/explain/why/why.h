/* SPDX-License-Identifier: MIT
 * Where a value comes from: questions, one replay that answers all of them, and the chains.
 *
 *   ask.c     a question's text
 *   run.c     the replay
 *   answer.c  the nodes that a value comes from, for people and for programs */
#ifndef CPS_WHY_H
#define CPS_WHY_H

#include "emu/afuc/origin/origin.h"
#include "tools/run/play.h"
#include "trace/event/launch.h"

enum why_what { WHY_EVENT, WHY_REGISTER, WHY_MEMORY, WHY_GENERAL, WHY_CONTROL };
enum why_when { WHY_END, WHY_AT_EVENT, WHY_AT_DRAW };

/** A question: which value, when. */
struct why_ask {
    char *text; /**< owned */
    enum why_what what;
    enum why_when when;
    uint64_t place;  /**< offset or number of a register, address of a word */
    unsigned core;   /**< of general and control registers */
    bool is_known;   /**< `place` is: why_resolve() leaves it */
    uint64_t number; /**< of the event or draw */
    uint32_t kept;   /**< origin_kept_(); UINT32_MAX: there is no such value */
    uint32_t value;  /**< where there is one */
    uint64_t whole;  /**< of half a register of 64 bits, where both halves have a value */
    bool has_whole;
    bool reached; /**< the event or draw */
};

/** Which of the events of a run come only from the assumed clock. */
struct why_clocks {
    const struct cps_event *event; /**< of the run, as it was recorded */
    size_t count;
    uint64_t *mark; /**< gets what origin_clock_() returns, one for each */
};

/** What all answers need. */
struct why {
    struct play *play;         /**< the caller's */
    struct cps_engine *engine; /**< that is watched */
    struct origin *origin;
    uint32_t kinds;                     /**< of events that are numbered; 0: the default ones */
    uint32_t nodes;                     /**< at most about so many; 0: as the origin has it */
    const char *capture;                /**< as messages name it */
    const struct play_account *account; /**< of the run, which JSON has, too; or NULL */
    struct why_ask *ask;                /**< owned; sorted in order of time while the replay runs */
    size_t count;
    struct why_ask **later; /**< those that are asked of an event or a draw, in that order */
    size_t events, draws;   /**< how many of each */
    size_t next_event, next_draw;
    struct cps_launches launches;
    bool boots_first;          /**< as why_question has it */
    struct why_clocks *clocks; /**< to fill, or NULL */
    bool is_timed;             /**< nothing is asked of the end of the run: it may come early */
};

/** Appends a question. @return NULL, or CPS_ERR_USAGE: what was expected */
CPS_MUST_USE struct cps_err *why_add(struct why *why, const char *text);
/** The same for a place that the caller knows, at the end of the run. */
void why_add_place(struct why *why, const char *text, const struct cps_location *place);
/** Resolves the names in questions and sorts them by time, once the names are known. */
CPS_MUST_USE struct cps_err *why_resolve(struct why *why);
/** Replays the capture, which `play` was opened for; then all questions have their answers. */
CPS_MUST_USE struct cps_err *why_run(struct why *why, struct cps_stream *capture);
/** Watches an engine that the caller runs. */
CPS_MUST_USE struct cps_err *why_watch(struct why *why, struct cps_engine *engine);
/** The run is over: answers what was asked of its end. */
void why_finish(struct why *why);
void why_deinit(struct why *why);

/** Appends the answer as lines, and as one line of JSON. */
void why_text(struct why *why, const struct why_ask *ask, struct cps_buf *out);
void why_json(struct why *why, const struct why_ask *ask, struct cps_buf *out);
/** Questions about events of a run that is made for them. */
struct why_question {
    const struct cps_run_config *config; /**< without its firmware */
    const char *firmware[2];
    const char *capture;
    uint32_t kinds;        /**< of events that are counted */
    const uint64_t *event; /**< their numbers */
    size_t events;
    uint32_t nodes;   /**< as why.nodes */
    unsigned most;    /**< lines of a chain */
    bool json;        /**< the answers as JSON instead */
    bool as_given;    /**< as play.as_given */
    bool boots_first; /**< the boot does not know the capture's GPU yet: as that of record_boot() */
};
/** Appends the chain of each event to its @p out, without a line for the value; nothing if the
 * event has none. The run ends with the last of them. */
CPS_MUST_USE struct cps_err *why_first_difference(const struct why_question *question,
                                                  struct cps_buf *out);
/** Marks the events of the run that `question` describes; its own events are not asked for. An
 * event that is not as it was recorded has no mark. */
CPS_MUST_USE struct cps_err *why_clock(const struct why_question *question,
                                       struct why_clocks *clocks);
/** The word of a kind: "insn". */
const char *why_kind_word(unsigned kind);

#endif
