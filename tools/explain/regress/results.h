/* SPDX-License-Identifier: MIT
 * Results of a regression run: what every pair of firmware and capture came to. They hold nothing
 * that depends on time, order or machine, so that shards merge into the same bytes. */
#ifndef CPS_RESULTS_H
#define CPS_RESULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/explain/cover/cover.h"

struct json_object;

#define RESULTS_VERSION 4

/** RESULT_COUNT: a word that is none of them. */
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
 * "coverage_lost": true if a process died with what it knew of the code that ran.
 *
 * "causes" are [{"cause", "differences", "packets", "first", and of the first few "why_old" and
 * "why_new": where the values of that first difference come from}...]. "inputs" has the settings
 * of the manifest, and digests: "names" (of --rnn), "firmware NAME", "capture NAME", "golden
 * FIRMWARE/CAPTURE"; of all captures, also those of other shards. Pairs are sorted by capture, then
 * firmware; inputs by name. Places are where first divergences arise (diffplace.h), sorted by name.
 */
struct json_object *results_create(void);
/** Every bit that a digit of @p a or @p b has; both are of the same length. */
struct json_object *results_join_digits(const char *a, const char *b);
/** Sums of a handler's digits: of instructions and of branch directions. */
struct results_cover {
    unsigned ran, all, taken, directions;
};
struct results_cover results_cover_of(struct json_object *handler);
/** A table of handlers, out of a firmware's coverage. */
void results_coverage_table(struct json_object *handlers, struct cps_buf *out);

/** Adds the members of an object that @p to lacks. Those that both have are the same; if not, it
 * does not depend on the order which one stays. */
void results_join(struct json_object *to, struct json_object *from);
/** Whether @p from, out of file @p path, has the members of results, of the right kinds
 * (check.c). @return NULL, or CPS_ERR_INPUT */
CPS_MUST_USE struct cps_err *results_check(struct json_object *from, const char *path);
/** Adds the results in a file. */
CPS_MUST_USE struct cps_err *results_merge(struct json_object *to, const char *path);
/** After merging: sorts, and holds the pairs against the manifests. @return an error that says
 * which shard is missing, or that pairs are */
CPS_MUST_USE struct cps_err *results_complete(struct json_object *results);
/** Sorts pairs and places, and leaves each pair once; the last thing before writing.
 * @return NULL, CPS_ERR_NOMEM, or CPS_ERR_INPUT: there are two results of a pair that differ */
CPS_MUST_USE struct cps_err *results_sort(struct json_object *results);
/** The order of pairs by their names; and as qsort() has it, by all that they say. */
int result_compare(struct json_object *a, struct json_object *b);
int result_order(const void *a, const void *b);
/** The digest of the names of sorted pairs. */
void results_digest(struct json_object *pairs, char ret[65]);
/** Reads "I/N", I from 1 to N. */
bool results_shard(const char *text, unsigned *i, unsigned *n);
/** What a pair came to. */
enum result_status result_status(struct json_object *pair);
unsigned results_count(struct json_object *results, enum result_status status);
/** Whether there is nothing to say about a pair but its status. */
bool result_is_plain(struct json_object *pair);
const char *result_word(enum result_status status);

/** The exit status that results come to, which all reports follow: 130 interrupted, 3 nothing was
 * checked, 1 some differ, 4 some stopped, 0. @param why  gets why they are no whole result (130
 * and 3); else nothing */
int results_exit(struct json_object *results, struct cps_buf *why);

/** Writes into DIR, which is there: results.xml (JUnit), results.tap, index.html and, when they are
 * whole, results.json (report.c). */
CPS_MUST_USE struct cps_err *results_write(struct json_object *results, const char *dir);
/** The folder that results go to. */
struct results_folder {
    int lock;     /**< -1: not open */
    bool is_made; /**< it was not there before */
};
/** Makes the folder if it is not there, removes what an earlier run wrote there, which is no result
 * of this one, and keeps other processes from writing results into it until results_close(); where
 * the file system has no locks, nothing does.
 * @return CPS_ERR_OS, or CPS_ERR_INPUT: another one writes there */
CPS_MUST_USE struct cps_err *results_open(const char *dir, struct results_folder *ret);
/** Removes a folder that was made and is empty, too. */
void results_close(const char *dir, struct results_folder *folder);
/** Appends the page (page.c). @param why  they are no whole result, as results_exit() has it */
void results_page(struct json_object *results, const char *why, struct cps_buf *out);

/** A member of a pair as text, "" where it has none. */
const char *result_text(struct json_object *pair, const char *key);

#endif
