/* SPDX-License-Identifier: MIT
 * PM4 into real firmware: cases are made and changed at random, those that lead to new ways through
 * the firmware are kept and changed further, and oracles look at all of them.
 *
 * What comes out depends on the seed, the firmware and the number of cases alone. Cases run in
 * rounds of batches: a batch knows what was known when its round began, and has numbers of its own,
 * so that it does not matter which thread runs it; results are joined in the order of batches.
 *
 *   grammar.c  packets out of nothing        run.c       a case on a clone
 *   case.c     streams, edited               judge.c     what oracles say of it
 *   captured.c cases out of captures         prove.c     a closer look at what they say
 *   mutate.c   cases out of others           findings.c  what they have found, minimal, as files
 *   learn.c    what firmware takes           corpus.c    cases that are kept
 *   protect.c  the driver's CP_PROTECT       batch.c     cases one after the other, coverage
 *   fuzz.c     rounds, sets of keys */
#ifndef CPS_FUZZ_H
#define CPS_FUZZ_H

#include "tools/cmd/options/opt.h"
#include "tools/explain/fuzz/grammar.h"
#include "tools/explain/fuzz/run.h"

/** A set of 64-bit keys: what cases have reached. */
struct key_map {
    uint64_t *key; /**< in order of arrival */
    size_t count;
    uint32_t *slot; /**< index of a key + 1; open addressing */
    size_t slots;   /**< a power of two, or 0 */
};

/** Adds @p key. @return whether it was not there */
bool key_map_add(struct key_map *map, uint64_t key);
bool key_map_has(const struct key_map *map, uint64_t key);
void key_map_deinit(struct key_map *map);

/** A case that is kept: its streams as words, address and count in front of each. */
struct corpus_case {
    uint32_t *word;
    uint32_t count;
    bool refused; /**< it ends with a packet that the firmware refuses */
};

struct corpus {
    struct corpus_case *list;
    size_t count;
};

/** Something found, proved and written. */
struct finding {
    struct suspect suspect;
    char name[96]; /**< of its files, without their ends */
    uint32_t packets, words;
    char said[224]; /**< in a line */
};

struct findings {
    struct finding *list;
    size_t count;
    struct key_map known;   /**< keys of what needs no closer look any more */
    struct key_map doubted; /**< keys of looks that came to nothing, with how many */
};

/** What a batch has found. */
struct candidate {
    struct corpus_case input;
    size_t keys; /**< behind those of the candidate before: what was new */
    struct suspect suspect[RUN_SUSPECTS];
    unsigned suspects;
};

struct fuzz;

struct batch {
    struct fuzz *fuzz;
    uint64_t number;
    uint64_t cases; /**< to run */
    struct candidate *list;
    size_t count;
    struct key_map keys; /**< new ones */
    struct learned learned;
    uint64_t executed;
    uint64_t ends[8];
};

struct fuzz_stats {
    uint64_t executed; /**< cases; what proofs and minimisation run is not counted */
    uint64_t rounds;
    uint64_t ends[8];        /**< by CPS_REASON_*, of the first firmware */
    size_t edges;            /**< (handler, edge, level, privilege) */
    size_t corpus;           /**< cases kept */
    size_t findings;         /**< kept */
    uint64_t looks;          /**< runs of proofs and minimisation */
    struct case_taken seeds; /**< of the arguments */
};

struct fuzz {
    const struct cps_options *opt;
    unsigned sides, jobs;
    uint64_t seed, limit;
    uint64_t most; /**< cases; 0: no limit */
    double until;  /**< when to end, as fuzz_now() counts; 0: never */
    uint32_t oracles;
    const char *dir; /**< where files go; NULL: nowhere */
    const char *rnn; /**< names of what is read; NULL: those that are built in */
    struct protection protection;
    struct learned learned;
    struct grammar grammar;
    struct run *run; /**< one for each job */
    struct corpus corpus;
    struct findings findings;
    struct key_map edges;
    struct cps_cover *cover; /**< by dword of the first firmware's image */
    struct fuzz_stats stats;
    volatile int *interrupted;
    void (*progress)(const struct fuzz *fuzz); /**< after each round; NULL: nobody */
};

/** Loads and boots firmware. Members up to `dir` are set. The caller calls fuzz_close(). */
CPS_MUST_USE struct cps_err *fuzz_open(struct fuzz *fuzz);
void fuzz_close(struct fuzz *fuzz);
/** Runs until there were enough cases, time is over, or it is interrupted. */
CPS_MUST_USE struct cps_err *fuzz_run(struct fuzz *fuzz);
/** Seconds of a clock that only goes on. */
double fuzz_now(void);
/** Whether to stop: it was interrupted, or time is over. */
bool fuzz_over(const struct fuzz *fuzz);

/* ---- batch.c ---- */

/** Runs a batch. */
void batch_run(struct batch *batch, struct run *run);
void batch_deinit(struct batch *batch);
/** The key of an edge. */
uint64_t batch_edge(const struct cps_edge *edge, unsigned side);

/* ---- corpus.c ---- */

void corpus_pack(const struct fuzz_case *input, struct corpus_case *ret);
void corpus_unpack(const struct corpus_case *from, struct fuzz_case *ret);
/** Keeps a case, and writes its file. @param refused  as corpus_case has it */
CPS_MUST_USE struct cps_err *corpus_keep(struct fuzz *fuzz, const struct fuzz_case *input,
                                         bool refused);
/** The text of a case: what 'cpscope run' takes. @p comment  lines for its head, or NULL */
CPS_MUST_USE struct cps_err *corpus_text(const struct fuzz *fuzz, const struct fuzz_case *input,
                                         const char *comment, struct cps_buf *ret);
typedef struct cps_err *corpus_each_fn(struct fuzz *fuzz, const struct fuzz_case *input);
/** Calls @p each for the cases of @p path: a file, or a folder with files, or with folders corpus
 * and findings; in the order of their names. */
CPS_MUST_USE struct cps_err *corpus_read(struct fuzz *fuzz, const char *path, corpus_each_fn *each);
void corpus_deinit(struct corpus *corpus);

/* ---- findings.c ---- */

/** Whether a suspect needs a closer look. */
bool findings_wants(const struct findings *findings, const struct suspect *suspect);
/** Looks, and if it is a finding makes it minimal, writes it, and reads and runs what was written.
 */
CPS_MUST_USE struct cps_err *findings_look(struct fuzz *fuzz, const struct fuzz_case *input,
                                           const struct suspect *suspect);
void findings_deinit(struct findings *findings);

/* ---- minimise.c ---- */

/** Leaves out of a case what is not needed for a finding. */
void minimise(struct run *run, const struct suspect *suspect, struct fuzz_case *edited);

/** Notes what lies between the branches of a log. */
void coverage_add(struct fuzz *fuzz, const struct run_side *side);

/* ---- trace.c ---- */

/** Runs @p input on the firmware of @p config and writes the text of its trace to @p output. */
CPS_MUST_USE struct cps_err *trace_case(const struct cps_run_config *config, uint64_t limit,
                                        const char *input, const char *output);

#endif
