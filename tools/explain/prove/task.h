/* SPDX-License-Identifier: MIT
 * The handlers to compare as tasks, each with a result in JSON, which is what caches keep, what
 * processes send and what reports show. Private to tools/explain/prove/. */
#ifndef CPS_PROVE_TASK_H
#define CPS_PROVE_TASK_H

#include "tools/cmd/options/opt.h"
#include "tools/explain/prove/witness.h"
#include "trace/out/json.h"

struct prove_task {
    unsigned part;
    size_t handler;
    char key[65];               /**< of its result: kept.c */
    struct json_object *result; /**< NULL: not known yet; owned */
    bool kept;                  /**< it comes from the cache */
    bool unchecked; /**< a result of other images, or of another count of runs: cross-check it */
};

struct prove {
    const struct cps_options *opt;
    struct stage stage;
    struct prove_part part[CPS_FW_MAX_PARTS];
    unsigned parts;
    struct prove_task *task; /**< by part, then by the lowest packet; owned */
    size_t tasks;
    const char *cache; /**< where results are kept, or NULL */
    char images[65];   /**< of all words of both revisions */
    unsigned jobs;
    unsigned runs; /**< of cross-checks, each handler */
    bool interrupted;
};

/** Loads both revisions and lists the tasks: of all handlers, or of those that the arguments name.
 * The caller calls prove_close() in any case. */
CPS_MUST_USE struct cps_err *prove_open(struct prove *prove, const struct cps_options *opt);
void prove_close(struct prove *prove);
/** "CP_NOP" or "UNKN119". */
void prove_packet_name(const struct prove *prove, unsigned part, unsigned id, char ret[48]);
/** The handler that a task is about. */
const struct prove_handler *prove_handler_of(const struct prove *prove,
                                             const struct prove_task *task);
/** Puts the names of its packets into a result, in place of any, first the one that it is called
 * by; and `name` where it is called by none of them. */
void prove_put_packets(const struct prove *prove, unsigned part,
                       const struct prove_handler *handler, struct json_object *result);
/** Finds the key of each task. */
CPS_MUST_USE struct cps_err *prove_keys(struct prove *prove);
/** Takes what is in the cache: also what was found out about other revisions that have the same
 * handlers, but for streams, which must show their difference here again. */
void prove_recall(struct prove *prove);
/** Puts a result there; what cannot be kept is found out again. */
void prove_keep(const struct prove *prove, const struct prove_task *task,
                struct json_object *result);
/** Finds the rest, in processes of their own. */
CPS_MUST_USE struct cps_err *prove_run(struct prove *prove);
/** The result of one task, in this process; behind prove_places(). */
CPS_MUST_USE struct cps_err *prove_task(const struct prove *prove, const struct prove_task *task,
                                        struct json_object **ret);

/** All results as one object, with counts by verdict. */
struct json_object *prove_results(const struct prove *prove);
/** The results for people. */
void prove_table(const struct prove *prove, bool all, struct cps_buf *out);
/** Writes results.json, index.html, a page per handler that differs, and the witnesses. */
CPS_MUST_USE struct cps_err *prove_write(const struct prove *prove, const char *dir);
/** What files about a result are called, without their ends. */
void prove_file_name(struct json_object *result, struct cps_buf *out);
/** How many verdicts a cross-check contradicts. */
size_t prove_contradictions(const struct prove *prove);
/** The verdict of a result; VERDICT_COUNT: none. */
enum verdict prove_verdict(struct json_object *result);
/** How many tasks have a verdict. */
size_t prove_count(const struct prove *prove, enum verdict verdict);

/* ---- crosscheck.c: a second opinion on verdicts: both revisions run in the emulator, from random
 * states, with random packets. Nothing of the proof is used but the renumbering of private control
 * registers and the addresses that moved with the code. It does not see handlers that no stream
 * reaches, and states that 64 payload words and the registers cannot express ---- */

/** Runs of a handler unless --cross-check gives another number. */
#define CROSSCHECK_RUNS 256u

/** Whether a verdict promises what runs can contradict: same code, equal, equal but for waits. */
static inline bool crosscheck_applies(struct json_object *result)
{
    return prove_verdict(result) <= VERDICT_WAITS;
}
/** Tries the verdict of @p result on random states, and adds `cross_check` to it: `runs`, `reached`
 * (runs in which both revisions began with the handler) and, if one shows a difference,
 * `contradiction`: its `run`, `event`, `place`, `packet_words`, `registers`, `control_registers`,
 * `gpu_registers` and the stream's `text`. All follow from the images, the handler and the count of
 * runs. */
CPS_MUST_USE struct cps_err *crosscheck_task(const struct prove *prove,
                                             const struct prove_task *task,
                                             struct json_object *result);

#endif
