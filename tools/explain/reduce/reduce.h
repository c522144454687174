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

#include "tools/cmd/options/opt.h"
#include "tools/run/record.h"
#include "trace/form/diff.h"

/* ---- ddmin.c: delta debugging: which of many things can be left out of a job that still ends the
 * same way (Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", 2002). It
 * knows numbers only: what they stand for, its caller knows. ---- */

/** Whether a job is still the same without some of its things. */
struct ddmin_test {
    /** @p out  one flag for each thing: it is left out. The same flags give the same answer.
     * @p ret  gets the answer */
    struct cps_err *(*holds)(struct ddmin_test *test, const bool *out, bool *ret);
};

/**
 * Leaves out as much as it finds can be. With everything in, the job is the same by definition.
 * What stays is 1-minimal: without any one thing more the answer is no.
 * @param count  of things
 * @param out    gets one flag for each
 * @return NULL, CPS_ERR_NOMEM, or the error of @p test
 */
CPS_MUST_USE struct cps_err *ddmin(struct ddmin_test *test, size_t count, bool *out);

/* ---- job.c: a job whose parts can be left out: items as a feed has them, with contents that are
 * our own to change. What is left out keeps its room, so that nothing moves: a packet becomes a
 * CP_NOP of its length, a draw-state group a disabled one, an item is passed over. ---- */

/** What can be left out, from large to small. */
enum drop_kind { DROP_ITEM, DROP_PACKET, DROP_GROUP };

struct drop {
    enum drop_kind kind;
    uint32_t item; /**< whose contents it is about */
    uint32_t at;   /**< word of them: the packet's header, or the group's first word */
};

/** Which set of drops, whatever their order. */
struct drop_key {
    uint64_t low, high;
};

/** A word that a drop has changed. */
struct job_undo {
    uint32_t item, at, word;
};

struct job {
    struct cps_item *item;
    size_t count;
    bool *gone;           /**< of each item: it is left out for good, or for the moment */
    struct drop_key done; /**< what is left out for good */
    struct job_undo *undo;
    size_t undos;
    struct cps_item *view; /**< what is left: job_view() makes it */
    uint32_t *origin;      /**< of each of these, the item */
    size_t views;
};

/** Takes the items of @p feed, which is released; contents that follow each other become one item.
 * The caller calls job_deinit() in any case. */
void job_init(struct job *job, struct feed *feed);
/** A copy of what @p from has left. */
void job_copy(struct job *job, const struct job *from);
/** Whether it has an item of a kind. */
bool job_has(const struct job *job, enum cps_item_kind kind);
void job_deinit(struct job *job);

/** Adds @p drop to @p key. */
void job_key_add(struct drop_key *key, const struct drop *drop);
/** Leaves one more thing out, until job_back(). */
void job_drop(struct job *job, const struct drop *drop);
/** Takes what was left out since the last job_keep() back in. */
void job_back(struct job *job, const struct drop *drop, size_t count);
/** Leaves @p drop out for good. */
void job_keep(struct job *job, const struct drop *drop);
/** Makes job->view. Its contents are the job's. */
void job_view(struct job *job);
/** Word of an item's contents, to be changed. */
uint8_t *job_bytes(const struct job *job, size_t item, uint32_t at);

/* ---- runner.c: runs jobs, and how they end: where the machine stops, whether it comes to the
 * place where a dump's hardware stood, or what two firmware revisions do differently first. ---- */

/** How a job ends. Equal texts, equal ends. */
struct ending {
    struct cps_buf text;  /**< for people; empty: it runs to its end, and nothing is different */
    struct cps_buf loose; /**< the same without where the packet lies: jobs may move it */
};

void ending_deinit(struct ending *ending);

/** Where the hardware of a dump stood that waited for the rest of the GPU. */
struct runner_target {
    bool wanted;
    uint32_t header, level, pc;
    uint64_t iova; /**< of the packet; 0: wherever it lies */
};

struct runner {
    struct cps_run_config config[2]; /**< of each firmware */
    struct play *play[2];
    unsigned sides; /**< firmware revisions: 1 or 2 */
    struct cps_engine *booted[2];
    struct record record[2];
    struct cps_sink sink[2];
    uint32_t compared; /**< kinds of events, of two revisions */
    struct cps_mask mask;
    struct runner_target place;
    bool there; /**< the last run has been at that place */
    bool in_packet;
    uint64_t instructions; /**< of the last run, the most of both sides */
};

/** Loads the firmware that @p opt names and reads the input into @p job. The caller calls
 * runner_close() and job_deinit() in any case. */
CPS_MUST_USE struct cps_err *runner_open(struct runner *runner, const struct cps_options *opt,
                                         const char *input, struct job *job);
void runner_close(struct runner *runner);
/** Boots once, for all runs of jobs that begin with a GPU and the driver's first packets. */
CPS_MUST_USE struct cps_err *runner_boot(struct runner *runner, const struct job *job);

/** Runs what @p job has left and says how it ends.
 * @param events  kinds of events to keep in runner->record, beyond those that are compared
 * @param ret     gets how; the caller calls ending_deinit() in any case
 * @return NULL, or what an engine refused */
CPS_MUST_USE struct cps_err *runner_run(struct runner *runner, struct job *job, uint32_t events,
                                        struct ending *ret);
/** Lets every run from now on take at most @p factor times the instructions of the last one. */
void runner_bound(struct runner *runner, unsigned factor);

/* ---- verdict.c: whether a job without a set of things ends the same way, as runs have shown. Kept
 * in a file between calls, so that a search that was interrupted goes on where it was: it asks the
 * same questions again, and these are answered without a run. ---- */

struct verdict {
    struct drop_key key;
    bool holds;
};

struct verdicts {
    struct verdict *list;
    size_t count;
    size_t read;     /**< of them, those that the file had */
    char path[4096]; /**< of the file; "": none */
    char key[65];    /**< what the search is about */
    long saved;      /**< when, in seconds of a clock that only goes on */
};

/** Takes what the file of @p key in the cache @p dir has; a damaged one, or one that another user
 * could change, is none. @p dir  "": nothing is kept */
void verdicts_open(struct verdicts *verdicts, const char *dir, const char *key);
void verdicts_deinit(struct verdicts *verdicts);
/** @return false if nobody knows */
bool verdicts_find(const struct verdicts *verdicts, const struct drop_key *key, bool *ret);
/** Adds one, and saves all once a second. */
void verdicts_add(struct verdicts *verdicts, const struct drop_key *key, bool holds);
/** Writes the file. @return an error that the caller may show and go on after */
CPS_MUST_USE struct cps_err *verdicts_save(struct verdicts *verdicts);
/** Forgets everything: what the file said has proved wrong. */
void verdicts_forget(struct verdicts *verdicts);

/* ---- A reduction ---- */

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

/** The same; then @p job becomes the reduced one, which it gets. */
CPS_MUST_USE struct cps_err *reduce_accept(struct reduce *reduce, struct job *job, bool *ret);

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
