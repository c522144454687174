/* SPDX-License-Identifier: MIT
 * The smallest job that still ends the same way. A search leaves out submissions, called buffers,
 * draw-state groups, packets and contents of buffers, runs the rest, and keeps what ends as the
 * whole job did; then the rest moves together.
 *
 *   ddmin.c    which of many things can be left out, by number
 *   job.c      items whose parts can be left out, and which of them a run executed
 *   runner.c   runs a job and describes how it ends
 *   search.c   kind after kind, until nothing more can be left out; answers of earlier calls
 *   shrink.c   streams without the room of packets that are gone, contents without unread words
 *   result.c   the result as PM4 text or .rd, read again and run */
#ifndef CPS_REDUCE_H
#define CPS_REDUCE_H

#include "tools/run/record.h"
#include "trace/form/diff.h"

struct json_object;

/* ---- ddmin.c: delta debugging (Zeller and Hildebrandt, "Simplifying and isolating
 * failure-inducing input", 2002). It knows numbers only. ---- */

struct ddmin_test {
    /** Whether a job is still the same without the things that @p out has a flag for. The same
     * flags give the same answer. */
    struct cps_err *(*holds)(struct ddmin_test *test, const bool *out, bool *ret);
};

/**
 * Leaves out as much as it finds can be. With everything in, the job is the same by definition.
 * The rest is 1-minimal: without any one thing more the answer is no.
 * @param out  gets a flag for each of @p count things
 * @return NULL or the error of @p test
 */
CPS_MUST_USE struct cps_err *ddmin(struct ddmin_test *test, size_t count, bool *out);

/* ---- job.c: items as a feed has them, with contents of our own. What is left out keeps its room,
 * so that nothing moves: a packet becomes a CP_NOP of its length, a draw-state group a disabled
 * one, an item is passed over. ---- */

/** From large to small. */
enum drop_kind { DROP_ITEM, DROP_PACKET, DROP_GROUP };

/** Something to leave out. */
struct drop {
    enum drop_kind kind;
    uint32_t item;
    uint32_t at; /**< word of its contents: the packet's header, or the group's first word */
};

struct drops {
    struct drop *list;
    size_t count;
};

/** Digest of a set of drops, whatever their order. */
struct drop_key {
    uint64_t low, high;
};

struct job {
    struct cps_item *item;
    size_t count;
    bool *gone;            /**< by item */
    struct cps_item *view; /**< items that are left: job_view() makes it */
    uint32_t *origin;      /**< of each of these, the item */
    size_t views;
};

/** Takes the items of @p feed, which is released; contents that follow each other become one item.
 */
void job_init(struct job *job, struct feed *feed);
void job_copy(struct job *job, const struct job *from);
/** Removes items that are left out: numbers of items change. */
void job_compact(struct job *job);
void job_swap(struct job *a, struct job *b);
bool job_has(const struct job *job, enum cps_item_kind kind);
void job_deinit(struct job *job);
/** Appends an item to a list without copying its contents. */
void job_list(struct feed *feed, const struct cps_item *item);
void job_key_add(struct drop_key *key, const struct drop *drop);
void job_drop(struct job *job, const struct drop *drop);
/** Takes back in what @p from, of which @p job is a copy, has. */
void job_restore(struct job *job, const struct job *from, const struct drop *drop);
void job_view(struct job *job);
/** Word of an item's contents, to be changed. */
uint8_t *job_bytes(const struct job *job, size_t item, uint32_t at);

/* ---- runner.c ---- */

/** How a job ends: where the machine stops, that it comes to the place where a dump's hardware was,
 * or the first difference of two revisions. Equal texts, equal ends. */
struct ending {
    struct cps_buf text;  /**< for people; empty: it runs to its end, and nothing is different */
    struct cps_buf loose; /**< without the packet's address: jobs may move it */
};

void ending_deinit(struct ending *ending);

/** Where the hardware of a dump was that waited for the rest of the GPU. */
struct runner_target {
    bool wanted;
    uint32_t header, level, pc;
    uint64_t iova; /**< of the packet; 0: anywhere */
};

/** A firmware revision. */
struct runner_side {
    struct cps_sink sink; /* first */
    struct runner *runner;
    struct cps_run_config config;
    struct play *play;
    struct cps_engine *booted;
    struct record record;
};

struct runner {
    struct runner_side side[2];
    unsigned sides;
    uint32_t compared; /**< kinds of events, of two revisions */
    struct cps_mask mask;
    struct runner_target place;
    bool there; /**< the last run has been at that place */
    bool in_packet;
    uint64_t instructions; /**< of the last run, the most of both sides */
};

/** Loads the firmware that @p config names and reads the input into @p job. @p events and @p mask
 * tell what is compared, NULL: as always. The caller calls runner_close() and job_deinit() in any
 * case. */
CPS_MUST_USE struct cps_err *runner_open(struct runner *runner, const struct cps_run_config *config,
                                         const char *events, const char *mask, const char *input,
                                         struct job *job);
void runner_close(struct runner *runner);
/** Boots once, for all runs of jobs that begin with a GPU and the driver's first packets. */
CPS_MUST_USE struct cps_err *runner_boot(struct runner *runner, const struct job *job);
/** Runs the rest of @p job and describes how it ends.
 * @param events  kinds of events to keep in the first side's record, beside those compared
 * @param ret     the caller calls ending_deinit() in any case
 * @return NULL, or the error of an engine */
CPS_MUST_USE struct cps_err *runner_run(struct runner *runner, struct job *job, uint32_t events,
                                        struct ending *ret);
/** Lets every run from now on take at most @p factor times the instructions of the last one. */
void runner_bound(struct runner *runner, unsigned factor);

/* ---- job.c: what a run executed ---- */

/** Packets but CP_NOP, each place once. */
struct reduce_counts {
    uint64_t submissions, packets, calls, groups;
};

enum { WALK_GROUPS = 6, WALK_PACKETS, WALK_KINDS };
enum { WALK_SEEN = 1, WALK_READ = 2 };

struct walk {
    struct drops drops[WALK_KINDS]; /**< calls by the level they are at, groups, other packets */
    uint8_t **mark; /**< by word of each item of contents in job->view: WALK_SEEN a packet began
                       there, WALK_READ the firmware read it otherwise */
    size_t items;
    struct reduce_counts count;
};

/** Runs the job and notes what it executed. The caller calls walk_deinit() in any case. */
CPS_MUST_USE struct cps_err *walk_run(struct runner *runner, struct job *job, struct walk *ret,
                                      struct ending *ending);
void walk_deinit(struct walk *walk);

/* ---- A reduction ---- */

/** Answers that runs have given. They are kept in a file between calls: an interrupted search asks
 * the same questions again, and goes on where it was. */
struct verdicts {
    struct json_object *holds; /**< by the digits of a drop_key */
    bool read;                 /**< some are of the file */
    char path[4096];           /**< of the file; "": none */
    char key[65];              /**< digest of what the search is about */
    double saved;              /**< as reduce_clock() counts */
};

struct reduce {
    struct ddmin_test test; /**< first */
    struct runner runner;
    struct job job;
    struct job tried;     /**< a copy, for questions */
    struct drop_key done; /**< drops that the job has lost */
    struct verdicts verdicts;
    struct ending whole; /**< how the whole job ends */
    struct reduce_counts before, after;
    uint64_t ran, known;                     /**< questions answered by a run, by a verdict */
    bool ring_gone;                          /**< submissions replace a dump's ring */
    volatile int *interrupted;               /**< not 0: the user wants it to end */
    void (*progress)(struct reduce *reduce); /**< called after each run; or NULL */
    const struct drops *now;                 /**< the things that a question is about */
};

/** Seconds of a clock that only goes on. */
double reduce_clock(void);
/** Reads the verdicts of @p key in the cache @p dir; a damaged file, or one that another user could
 * change, has none. @p dir  "": nothing is kept */
void verdicts_open(struct verdicts *verdicts, const char *dir, const char *key);
/** Writes the file. @return an error that the caller may show and go on after */
CPS_MUST_USE struct cps_err *verdicts_save(struct verdicts *verdicts);
/** Leaves out of reduce->job what can be left out. Ends early, with what it has found, when it is
 * interrupted. @return NULL, or the error of an engine */
CPS_MUST_USE struct cps_err *reduce_search(struct reduce *reduce);
/** Whether @p job ends as the whole one did, wherever its packets lie. */
CPS_MUST_USE struct cps_err *reduce_same(struct reduce *reduce, struct job *job, bool *ret);
/** The same; then @p job becomes the reduced one, which it gets. */
CPS_MUST_USE struct cps_err *reduce_accept(struct reduce *reduce, struct job *job, bool *ret);
/** Moves the rest together, as far as it still ends the same way. */
CPS_MUST_USE struct cps_err *reduce_shrink(struct reduce *reduce);
/** Inserts the lines of @p text as comments after the first line of PM4 text @p from. */
void reduce_comment(const char *from, const char *text, struct cps_buf *ret);
/** Makes the text of the job, reads it again and runs it.
 * @return NULL, or CPS_ERR_UNSUPPORTED: it does not end the same way */
CPS_MUST_USE struct cps_err *reduce_text(struct reduce *reduce, struct cps_buf *ret);
/** Writes @p text to @p path, as .rd if its name ends so; a regular file is then read and run once
 * more. */
CPS_MUST_USE struct cps_err *reduce_write(struct reduce *reduce, const struct cps_buf *text,
                                          const char *path);

#endif
