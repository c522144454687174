/* SPDX-License-Identifier: MIT
 * Why two revisions behave otherwise: each difference belongs to a cause, and each cause is a
 * paragraph. A cause is a place of changed code that was executed: the one that made the event,
 * else the last one in front of it in the packet's handler, else one elsewhere in that handler; or
 * a packet that one revision has no handler of its own for; or that one of both runs had ended.
 * What has none of them follows from what other packets left.
 *
 * That a place of code is the cause of a difference behind it is an assumption: it is the nearest
 * one, and nobody has tried the other ones. */
#ifndef CPS_DIFFCAUSE_H
#define CPS_DIFFCAUSE_H

#include "tools/explain/diff/diffreport.h"

struct diff_causes;

/** What can be a cause: how the code of both sides differs. @param sides  firmware, ME and names of
 * both; they stay the caller's, as long as the causes. The caller calls diff_causes_destroy(), also
 * on error. */
CPS_MUST_USE struct cps_err *diff_causes_create(const struct diff_report *sides,
                                                struct diff_causes **ret);
void diff_causes_destroy(struct diff_causes *causes);
/** Forgets all differences. */
void diff_causes_clear(struct diff_causes *causes);
/** A comparison of two records of @p report begins. */
void diff_causes_begin(struct diff_causes *causes, const struct diff_report *report);
/** As cps_diff_events() calls it. */
void diff_causes_take(void *causes, const struct cps_difference *difference);

/** A paragraph for each cause, in the order of what it makes different. @param most  changed
 * instructions shown of each; 0: none, only what is said of it */
void diff_causes_print(const struct diff_causes *causes, uint32_t most, struct cps_buf *out);
/** Then handlers that were taken out or put in, and the other places where code differs: what ran
 * with its code, the rest by name; @p all: everything with its code. */
void diff_causes_print_code(const struct diff_causes *causes, bool all, struct cps_buf *out);
/** [{"cause", "differences", "packets", "first"}...], most differences first */
struct json_object *diff_causes_json(const struct diff_causes *causes);
/** The first difference of a cause. */
struct diff_first {
    const struct cps_event *a, *b; /**< NULL: the side has no such event */
};
/** Of the first @p most causes in the order of diff_causes_json().
 * @param ret  the events lie in what was compared. @return how many there are */
size_t diff_causes_firsts(const struct diff_causes *causes, struct diff_first *ret, size_t most);

/* Of code and data, in diffcode.c. */

/** Changes by processor and address; to be freed. */
CPS_MUST_USE struct cps_err *diff_changes(const struct cps_fw *a, const struct cps_fw *b,
                                          struct cps_fw_change **ret, size_t *count);
const struct cps_fw_part *diff_part(const struct cps_fw *fw, enum cps_fw_role role);
/** Where versions of the images differ, and what the kernel drops in front of them. */
void diff_print_versions(const struct diff_report *report, struct cps_buf *out);
/** "CP_NOP+0x2 (sqe)" */
void diff_print_where(const struct diff_report *report, const struct cps_fw_change *change,
                      struct cps_buf *out);
/** What was taken out and put in, with two instructions of the new image around it. */
void diff_print_hunk(const struct diff_report *report, const struct cps_fw_change *change,
                     uint32_t most, struct cps_buf *out);

/* How the control registers of two chips' firmware correspond, in renumber.c and renamed.c. */

/** Finds it and appends a line for each range of numbers to @p out, or a row to @p json, which is
 * an array or NULL. @p rnn  as for cps_names_create() */
CPS_MUST_USE struct cps_err *renumber_print(const struct cps_fw *a, const struct cps_fw *b,
                                            const char *rnn, struct json_object *json,
                                            struct cps_buf *out);

/** Which places differ in numbers of private control registers alone, where the map of these is one
 * to one over all accesses of both (renamed.c). @param ret  gets @p count of them */
CPS_MUST_USE struct cps_err *renumber_only(const struct cps_fw *a, const struct cps_fw *b,
                                           const struct cps_fw_change *change, size_t count,
                                           bool *ret);
/** @return NULL, or CPS_ERR_MISMATCH: no processor runs a part of both, nothing can be compared */
CPS_MUST_USE struct cps_err *renumber_check(const struct cps_fw *a, const struct cps_fw *b);

#endif
