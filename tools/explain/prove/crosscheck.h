/* SPDX-License-Identifier: MIT
 * A second opinion on verdicts: both revisions run in the emulator, from random states, with random
 * packets. Nothing of the proof is used but the renumbering of private control registers and the
 * addresses that moved with the code. Private to tools/explain/prove/.
 *
 * What it does not see: handlers that no stream reaches, and states that 64 payload words and the
 * registers below cannot express. */
#ifndef CPS_PROVE_CROSSCHECK_H
#define CPS_PROVE_CROSSCHECK_H

#include "tools/explain/prove/task.h"

/** Runs of a handler unless --cross-check gives another number. */
#define CROSSCHECK_RUNS 256u

/** Whether a verdict promises what runs can contradict: same code, equal, equal but for waits. */
bool crosscheck_applies(struct json_object *result);
/** Tries the verdict of @p result on random states, and adds `cross_check` to it: `runs`, `reached`
 * (runs in which both revisions began with the handler) and, if one shows a difference,
 * `contradiction`: its `run`, `event`, `place`, `packet_words`, `registers`, `control_registers`,
 * `gpu_registers` and the stream's `text`. All follow from the images, the handler and the count of
 * runs. */
CPS_MUST_USE struct cps_err *crosscheck_task(const struct prove *prove,
                                             const struct prove_task *task,
                                             struct json_object *result);

#endif
