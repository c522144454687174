/* SPDX-License-Identifier: MIT
 * The smallest job that still ends the same way. A search leaves out submissions, called buffers,
 * draw-state groups, packets and contents of buffers, runs what is left, and keeps what ends as the
 * whole job did; then the rest moves together.
 *
 *   ddmin.c    which of many things, by number
 *   job.c      items whose parts can be left out
 *   runner.c   runs a job and says how it ends
 *   walk.c     what a run executed, as things that can be left out
 *   verdict.c  what runs have shown, also between calls
 *   search.c   kind after kind, until nothing more goes
 *   shrink.c   streams without the room of what is gone, contents without what nobody reads
 *   result.c   the result as PM4 text or .rd, read again and run */
#ifndef CPS_REDUCE_H
#define CPS_REDUCE_H

#include "tools/explain/reduce/ddmin.h"
#include "tools/explain/reduce/runner.h"
#include "tools/explain/reduce/verdict.h"

/** Things that can be left out. */
struct drops {
    struct drop *list;
    size_t count;
};

/** What a job executes: packets but CP_NOP, each place once. */
struct reduce_counts {
    uint64_t submissions, packets, calls, groups;
};

struct reduce {
    struct ddmin_test test; /**< first */
    struct runner runner;
    struct job job;
    struct verdicts verdicts;
    struct ending whole; /**< how the whole job ends */
    struct reduce_counts before, after;
    uint64_t ran, known;       /**< questions answered by a run, or by what was known */
    bool ring_gone;            /**< submissions stand for a dump's ring */
    volatile int *interrupted; /**< not 0: the user wants it to end */
    void (*progress)(struct reduce *reduce); /**< called after each run; NULL: nobody */
    const struct drops *now;                 /**< the things that a question is about */
};

/* ---- walk.c ---- */

/** What can be left out of a job at a place that a run came to. */
struct walk {
    struct drops calls[6]; /**< packets that call a buffer, by the level they stand at */
    struct drops groups;   /**< draw-state groups */
    struct drops packets;  /**< all others but CP_NOP */
    uint8_t **seen;        /**< per item of job->view, of contents: a bit for each word that a
                              packet began at; or NULL */
    uint8_t **read;        /**< the same for each word that the firmware read otherwise */
    size_t items;
    struct reduce_counts count;
};

/** Whether the bit of word @p at of item @p item is set. */
bool walk_bit(uint8_t *const *bits, size_t item, uint32_t at);
/** Runs the job and notes what it executed. The caller calls walk_deinit() in any case. */
CPS_MUST_USE struct cps_err *walk_run(struct runner *runner, struct job *job, struct walk *ret,
                                      struct ending *ending);
void walk_deinit(struct walk *walk);

/* ---- search.c ---- */

/** Leaves out of reduce->job what can be left out. Ends early, with what it has found, when it is
 * interrupted. @return NULL, or what an engine refused */
CPS_MUST_USE struct cps_err *reduce_search(struct reduce *reduce);
/** Whether @p job ends as the whole one did, wherever its packets lie. */
CPS_MUST_USE struct cps_err *reduce_same(struct reduce *reduce, struct job *job, bool *ret);

/* ---- shrink.c ---- */

/** Moves what is left together, as far as it still ends the same way. */
CPS_MUST_USE struct cps_err *reduce_shrink(struct reduce *reduce);

/* ---- result.c ---- */

/** Makes the text of the job, reads it again and runs it.
 * @return NULL, or CPS_ERR_UNSUPPORTED: it does not end the same way */
CPS_MUST_USE struct cps_err *reduce_text(struct reduce *reduce, struct cps_buf *ret);
/** Writes @p text to @p path, as .rd if its name ends so; what a regular file then holds is read
 * and run once more. */
CPS_MUST_USE struct cps_err *reduce_write(struct reduce *reduce, const struct cps_buf *text,
                                          const char *path);

#endif
