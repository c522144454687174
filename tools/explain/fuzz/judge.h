/* SPDX-License-Identifier: MIT
 * What oracles have to say behind a run. Private to tools/explain/fuzz/. */
#ifndef CPS_FUZZ_JUDGE_H
#define CPS_FUZZ_JUDGE_H

#include "tools/explain/fuzz/run.h"

/** What a side's sink does with events. */
void run_take_events(struct cps_sink *sink, const struct cps_event *events, size_t count);
/** Notes a suspect, if an oracle is asked for that it may become. */
void run_add_suspect(struct run *run, const struct suspect *suspect);
/** How a side's run ended, and how privileged it was. */
void judge_side(struct run_side *side);
/** Whether two sides did the same, and ended in the same way. */
CPS_MUST_USE struct cps_err *judge_difference(struct run *run);
/** The first difference of the first side's events from @p b. @param ret  the caller calls
 * cps_diff_deinit() */
CPS_MUST_USE struct cps_err *judge_first_difference(const struct run *run, const struct record *b,
                                                    struct cps_diff *ret);
/** Whether two runs ended differently: came to their end, were refused, reported an error, or do
 * not end. */
bool judge_endings_differ(const struct run *run);

/* ---- circle.c ---- */

/** What a side's core does that goes round, once it was followed for a while: HALT a jump to
 * itself, HANG a loop that reads nothing from outside, WAITS one that does. */
enum oracle circle_kind(struct run_side *side, unsigned core);

#endif
