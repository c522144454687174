/* SPDX-License-Identifier: MIT
 * Runs the matrix of a manifest, firmware x captures, in processes.
 *
 *   manifest.c  reads the matrix
 *   run.c       which pairs there are; the processes, each a capture on all of its firmware
 *   judge.c     the verdict on a pair, and where its differences come from
 *   cache.c     results of runs, by digests of their inputs
 *   results.c   the results: their order, sums, checks of files, and merging
 *   report.c    results as files; page.c for people */
#ifndef CPS_REGRESS_H
#define CPS_REGRESS_H

#include "tools/explain/cover/cover.h"
#include "tools/explain/diff/diffreport.h"
#include "tools/run/cachedir.h"
#include "tools/run/files.h"
#include "tools/run/record.h"
#include "trace/event/mask.h"

struct json_object;

/* ---- manifest.c (docs/regress.md) ---- */

struct manifest_firmware {
    const char *name;    /**< as shown; no two have the same */
    unsigned line;       /**< of the manifest, for messages */
    const char *path[2]; /**< the second only for a5xx */
    const char *tags;    /**< ",A,B," or NULL */
};

struct manifest_capture {
    const char *path;
    const char *name; /**< as shown: relative to the manifest */
    unsigned line;
    const char *tags;
    int expect; /**< enum CPS_REASON_* */
};

struct manifest {
    struct manifest_firmware *firmware;
    unsigned firmware_count;
    struct manifest_capture *capture; /**< sorted by name, each once */
    unsigned capture_count;
    int baseline;       /**< index of a firmware, or -1 */
    const char *golden; /**< directory, or NULL */
    unsigned mask_line; /**< its line; its meaning is known with the firmware's names */
    const char *mask;
    const char *events;
    uint32_t kinds; /**< events that are compared */
    const char *policy;
    uint64_t limit;
    struct json_object *texts; /**< owns all texts */
};

/** @return NULL, or CPS_ERR_SYNTAX naming file and line */
CPS_MUST_USE struct cps_err *manifest_read(const char *path, struct manifest *ret);
void manifest_deinit(struct manifest *manifest);
/** A copy of a text that lives as long as the manifest. */
const char *manifest_text(struct manifest *manifest, const char *text);
/** Whether this capture runs on this firmware. */
bool manifest_pairs(const struct manifest_firmware *firmware,
                    const struct manifest_capture *capture);

/* ---- cache.c: an entry contains its key, so that one under another's name is no result. Files
 * appear whole or not at all, so that several processes and machines may share a directory. ---- */

/** The inputs of a run. Texts are the caller's. */
struct cache_run {
    const char *dir;
    const char *program; /**< hash of this program, since another one may run differently */
    const char *firmware_hash, *me_hash, *capture_hash;
    const char *names;  /**< digest of --rnn, "" without: texts of a run have names */
    const char *policy; /**< and whatever else shapes the run */
    uint64_t limit;
    uint32_t kinds;
};

/** Reads the result of a run. @param dwords  of the firmware's image
 * @return false if it is not there, damaged, of another key, or of another user */
bool cache_take_run(const struct cache_run *run, uint32_t dwords, struct record *ret);
/** @return an error that the caller may show and go on after */
CPS_MUST_USE struct cps_err *cache_keep_run(const struct cache_run *run,
                                            const struct record *record, enum cps_gen gen);
/** Reads a list of texts about a run. @param about  which one: a part of its key
 * @return an array, which the caller releases, or NULL */
struct json_object *cache_take_texts(const struct cache_run *run, const char *about);
/** Stores @p texts. That it cannot is no error: it costs another look. */
void cache_keep_texts(const struct cache_run *run, const char *about, struct json_object *texts);

/** Writes the events of a record as a trace. */
CPS_MUST_USE struct cps_err *cache_write_trace(const char *path, enum cps_trace_form form,
                                               const struct cps_trace_head *head,
                                               struct cps_names *const names[CPS_CPU_COUNT],
                                               const struct record *record);

/* ---- results.c: the result of every pair. They hold nothing that depends on time, order or
 * machine, so that shards merge into the same bytes. ---- */

#define RESULTS_VERSION 4

/** RESULT_COUNT: another word. */
enum result_status {
    RESULT_PASS,
    RESULT_DIFFERS,
    RESULT_STOPPED,
    RESULT_SKIPPED,
    RESULT_NOT_RUN, /**< the whole run was interrupted before */
    RESULT_COUNT
};

/**
 * Results are a JSON document:
 *   {"cpscope-results": 4, "firmware": [name...], "baseline": name,
 *    "manifest": digest of all its pairs' names, "pairs_total": how many,
 *    "pairs": [{"firmware", "capture", "status", "reason", "differences", "packets",
 *               "instructions", "first", "counts", "place", "packet_a", "packet_b", "causes"}...],
 *    "places": {place: {"firmware", "handler", "label_a", "label_b", "code_a", "code_b"}},
 *    "code": {firmware: text}, "coverage": {firmware: [{"handler", "digits"}...]},
 *    "inputs": {what: text}, "exit": results_exit()}
 * and "shard": "I/N" if they are only a share, "interrupted": true if pairs may be "not-run",
 * "coverage_lost": true if a process died with its coverage.
 *
 * "causes" are [{"cause", "differences", "packets", "first", and of the first few "why_old" and
 * "why_new": where the values of that first difference come from}...]. "inputs" has the settings
 * of the manifest, and digests: "names" (of --rnn), "firmware NAME", "capture NAME", "golden
 * FIRMWARE/CAPTURE"; of all captures, also those of other shards. Pairs are sorted by capture, then
 * firmware; inputs by name. Places are where first divergences arise (diffplace.h), sorted by name.
 */
struct json_object *results_create(void);
/** A member of a pair as text, "" where it has none. */
const char *result_text(struct json_object *pair, const char *key);
enum result_status result_status(struct json_object *pair);
const char *result_word(enum result_status status);
unsigned results_count(struct json_object *results, enum result_status status);
/** Whether a pair has nothing to report but its status. */
bool result_is_plain(struct json_object *pair);
/** Every bit that a digit of @p a or @p b has; both are of the same length. */
struct json_object *results_join_digits(const char *a, const char *b);
/** Sums of a handler's digits: of instructions and of branch directions. */
struct results_cover {
    unsigned ran, all, taken, directions;
};
struct results_cover results_cover_of(struct json_object *handler);
/** A table of handlers, out of a firmware's coverage. */
void results_coverage_table(struct json_object *handlers, struct cps_buf *out);
/** Reads "I/N", I from 1 to N. */
bool results_shard(const char *text, unsigned *i, unsigned *n);
/** Adds the members of an object that @p to lacks. Those that both have are the same; if not, it
 * does not depend on the order which one stays. */
void results_join(struct json_object *to, struct json_object *from);
/** Adds the results in a file. */
CPS_MUST_USE struct cps_err *results_merge(struct json_object *to, const char *path);
/** After merging: sorts, and holds the pairs against the manifests. @return an error that names the
 * shard that is missing, or tells that pairs are */
CPS_MUST_USE struct cps_err *results_complete(struct json_object *results);
/** Sorts pairs and places, and leaves each pair once; the last thing before writing.
 * @return NULL, or CPS_ERR_INPUT: there are two results of a pair that differ */
CPS_MUST_USE struct cps_err *results_sort(struct json_object *results);
/** Compares pairs for qsort(). */
int result_order(const void *a, const void *b);
/** The digest of the names of sorted pairs. */
void results_digest(struct json_object *pairs, char ret[65]);
/** The exit status of results, which all reports follow: 130 interrupted, 3 all pairs are skipped,
 * 1 some differ, 4 some stopped or are skipped, or a shard has none, 0 all pass. @param why  gets
 * the reason if they are no whole result: interrupted, or nothing was checked */
int results_exit(struct json_object *results, struct cps_buf *why);

/* ---- report.c ---- */

/** Writes into DIR, which is there: results.xml (JUnit), results.tap, index.html and, when they are
 * whole, results.json. */
CPS_MUST_USE struct cps_err *results_write(struct json_object *results, const char *dir);
/** The folder that results go to. */
struct results_folder {
    int lock;     /**< -1: not open */
    bool is_made; /**< it was not there before */
};
/** Makes the folder if it is not there, removes the files of an earlier run, and keeps other
 * processes from writing results into it until results_close(); where the file system has no locks,
 * nothing does. @return CPS_ERR_OS, or CPS_ERR_INPUT: another one writes there */
CPS_MUST_USE struct cps_err *results_open(const char *dir, struct results_folder *ret);
/** Removes a folder that was made and is empty, too. */
void results_close(const char *dir, struct results_folder *folder);
/** Appends the page. @param why  they are no whole result, as results_exit() has it */
void results_page(struct json_object *results, const char *why, struct cps_buf *out);

/* ---- run.c ---- */

/** A firmware of the manifest, opened once in a process. */
struct engine {
    struct cps_fw *fw, *me; /**< NULL: an engine for scripts */
    enum cps_gen gen;
    struct cps_err *err; /**< why it cannot run */
    char hash[65], me_hash[65];
    struct record_boot boot;
    bool booted;
    uint8_t *cover; /**< per dword, bits as in the cache */
    struct cps_names *names[CPS_CPU_COUNT];
    struct diff_causes *causes; /**< of the differences from the baseline; NULL: not needed yet */
};

struct regress {
    const char *path; /**< of the manifest */
    struct manifest manifest;
    struct cps_run_config run; /**< of each run */
    uint32_t shard, shards;    /**< this process's share of the pairs */
    unsigned jobs;
    struct json_object *results;
    struct json_object *due;    /**< pairs of this share by "CAPTURE\nFIRMWARE": their results, or
                                   no more than their names */
    struct json_object *digits; /**< coverage as processes have it: text per firmware */
    uint64_t emulated, cached;  /**< runs */
    unsigned lost_workers;      /**< processes that died, with their coverage */
    char death[4096];           /**< how the last of them did */
    struct files_stamp (*stamp)[2]; /**< of each firmware's files, before they are read; owned */
    struct cache_choice cache;
    char names[65];               /**< digest of --rnn; "": without */
    struct results_folder folder; /**< that results go to */
    bool interrupted;
    int status; /**< of the command */
    /* In a process that runs, or describes code. */
    struct engine *engine; /**< by firmware of the manifest */
    struct cps_mask mask;
    struct json_object *seen;   /**< places that some pair of this process was in */
    struct json_object *places; /**< new ones of the capture at hand */
    char capture_hash[65];      /**< of the capture at hand */
    struct files_stamp capture_stamp;
    bool cache_failed;
};

/** Lists the pairs that are due, and sets "manifest" (the digest of the names of all pairs) and
 * "pairs_total" of results, whatever the share. */
void regress_list_pairs(struct regress *regress);
/** Runs every capture in `jobs` processes and gathers their results. Every pair that is due has one
 * then. */
CPS_MUST_USE struct cps_err *regress_run(struct regress *regress);
/** Opens the firmware, in this process. The caller calls regress_close_firmware(). */
CPS_MUST_USE struct cps_err *regress_open_firmware(struct regress *regress);
void regress_close_firmware(struct regress *regress);
/** Adds how the code of each firmware differs from the baseline's. */
CPS_MUST_USE struct cps_err *regress_code(struct regress *regress, struct json_object *ret);

/* Between run.c and judge.c. */

/** A pair at work. */
struct trial {
    struct regress *regress;
    unsigned firmware, capture;
    struct engine *engine; /**< of the firmware */
    struct json_object *pair;
};

/** The baseline's run of the capture at hand, made once for all that are compared with it. */
struct base {
    struct record record;
    struct cps_err *err; /**< why there is none */
};

/** Runs a pair, or takes its result from the cache. */
CPS_MUST_USE struct cps_err *regress_record_(struct regress *r, unsigned firmware, unsigned capture,
                                             struct record *ret);
/** The events that runs keep. */
uint32_t regress_kinds_(const struct regress *r);
/** Boots a firmware, once for all captures. */
CPS_MUST_USE struct cps_err *regress_boot_(struct regress *r, unsigned firmware);
/** The inputs of a run of the capture at hand, for the cache; `dir` is "" where there is none. */
struct cache_run regress_cache_run_(const struct regress *r, unsigned firmware);
/** A run reads its files once more: that they are what they were. */
CPS_MUST_USE struct cps_err *regress_check_inputs_(const struct regress *r, unsigned firmware,
                                                   const char *capture);
/** Judges a pair. @p base  NULL: there is no baseline */
CPS_MUST_USE struct cps_err *regress_judge_(struct trial *t, const struct base *base);
/** Appends the path of a golden: DIR/FIRMWARE/CAPTURE.cpt. */
void regress_golden_(const struct manifest *m, unsigned firmware, unsigned capture,
                     struct cps_buf *ret);
/** Sets status and reason of a pair. */
void regress_set_status_(struct json_object *pair, enum result_status status, const char *reason);

#endif
