/* SPDX-License-Identifier: MIT
 * Results of a regression run: what every pair of firmware and capture came to. They hold nothing
 * that depends on time, order or machine, so that shards merge into the same bytes. */
#ifndef CPS_RESULTS_H
#define CPS_RESULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/play/cover.h"

struct json_object;

enum result_status { RESULT_PASS, RESULT_DIFFERS, RESULT_STOPPED, RESULT_SKIPPED, RESULT_COUNT };

/**
 * Results are a JSON document:
 *   {"cpscope-results": 1, "firmware": [name...], "baseline": name,
 *    "pairs": [{"firmware", "capture", "status", "reason", "differences", "packets",
 *               "instructions", "first", "counts", "place", "packet_a", "packet_b"}...],
 *    "places": {place: {"firmware", "handler", "label_a", "label_b", "code_a", "code_b"}},
 *    "code": {firmware: text}, "coverage": {firmware: [{"handler", "digits"}...]}}
 * and "shard": "I/N" where they are only a share, "interrupted": true where pairs are missing.
 * pairs are sorted by capture, then firmware. Places are where first divergences arise
 * (diffplace.h), sorted by name.
 */
struct json_object *results_create(void);
/** Every place that @p a or @p b has; of the same length. Returns a new text, NULL without memory.
 */
char *results_join_digits(const char *a, const char *b);
/** Sums of a handler's digits: of instructions and of branch directions. */
struct results_cover {
    unsigned ran, all, taken, directions;
};
struct results_cover results_cover_of(struct json_object *handler);
/** A table of handlers, out of a firmware's coverage. */
void results_coverage_table(struct json_object *handlers, struct cps_buf *out);

/** Adds the members of an object that @p to lacks; those that both have are the same. */
void results_join(struct json_object *to, struct json_object *from);
/** Adds the results in a file. */
CPS_MUST_USE struct cps_err *results_merge(struct json_object *to, const char *path);
/** After merging: @return an error that names a shard which is missing. */
CPS_MUST_USE struct cps_err *results_complete(struct json_object *results);
/** Sorts pairs and places, and leaves each pair once; the last thing before writing. */
CPS_MUST_USE struct cps_err *results_sort(struct json_object *results);
unsigned results_count(struct json_object *results, enum result_status status);
const char *result_word(enum result_status status);

/** Writes DIR/results.json, results.xml (JUnit), results.tap and index.html. */
CPS_MUST_USE struct cps_err *results_write(struct json_object *results, const char *dir);
/** results_html.c */
CPS_MUST_USE struct cps_err *results_html(struct json_object *results, const char *path);

/** A member of a pair as text, "" where it has none. */
const char *result_text(struct json_object *pair, const char *key);

#endif
