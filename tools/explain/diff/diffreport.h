/* SPDX-License-Identifier: MIT
 * What differs between two traces, for people: the first divergence with packet, fields and code,
 * then counts, then the causes and the changed code. Into a growable text, for terminal and HTML.
 *
 *   diffreport.c  the first difference, counts, and whether both runs could be compared
 *   diffplace.c   the place of the first difference, both sides beside each other
 *   diffclock.c   values that differ only by the assumed clock
 *   diffcause.c   differences by their cause
 *   diffcode.c    changed code
 *   renumber.c    how control registers of two layouts correspond */
#ifndef CPS_DIFFREPORT_H
#define CPS_DIFFREPORT_H

#include "fw/fw.h"
#include "tools/run/record.h"
#include "trace/form/diff.h"

struct json_object;
struct why_clocks;

/** One side of a comparison. */
struct diff_side {
    const char *label;              /**< "old", a file name */
    const struct cps_fw *fw;        /**< for code; or NULL */
    const struct cps_fw *me;        /**< a5xx: of the ME; or NULL */
    const struct record *record;    /**< for coverage; or NULL */
    struct cps_names *const *names; /**< by enum cps_processor: both sides number differently */
};

struct diff_report {
    struct diff_side a, b;
    const struct cps_diff *diff;
    uint32_t kinds;              /**< of events that were compared */
    const struct cps_mask *mask; /**< parts of them that were not compared, or NULL */
    bool golden;                 /**< side A is the expected result */
};

/* ---- diffreport.c ---- */

/** 1: something differs; 0: nothing does, and both sides were compared to their ends; else 4:
 * appends to @p why the parts that were not compared. Both sides have records. */
int diff_status(const struct diff_report *report, struct cps_buf *why);
/** Counts events of a run that are of these kinds, and are not masked whole. */
uint64_t diff_count_compared(const struct record *record, uint32_t kinds,
                             const struct cps_mask *mask);
/** Appends "; N of M submissions are not in the capture" if some are. */
void diff_print_missing(const struct diff_report *report, struct cps_buf *out);
/** "submission 0, ib1 0x...: CP_MEM_WRITE", both sides, and the code around. */
void diff_print_first(const struct diff_report *report, struct cps_buf *out);
/** One difference in a line: "PC_EVENT_CMD.EVENT 0x31 -> missing". */
void diff_print_change(const struct diff_report *report, const struct cps_difference *difference,
                       struct cps_buf *out);
/** Counts by packet and by register or address. @p most  so many of each, the largest; the rest is
 * a sum */
void diff_print_counts(const struct diff_report *report, size_t most, struct cps_buf *out);
struct json_object *diff_json(const struct diff_report *report);
/** "CP_NOP", "type 4", "(outside of packets)" for 128. */
void diff_packet_name(const struct diff_report *report, unsigned id, struct cps_buf *out);
/** The packet of a difference, of side a if it has one; or NULL. */
const struct cps_event *diff_packet(const struct cps_difference *difference);
/** Names of any processor of a side; NULL: it has none. */
const struct cps_names *diff_any_names(const struct diff_side *side);
/** The image that a processor runs, and its part of it; NULL where the side has none. */
const struct cps_fw *diff_image(const struct diff_side *side, unsigned who,
                                const struct cps_fw_part **part);
/** Bounds of the handler that contains @p pc: from the last start before it to the next one. */
void diff_handler_bounds(const struct cps_fw *fw, const struct cps_fw_part *part, uint32_t pc,
                         uint32_t *start, uint32_t *end);
/** Appends "0036 08e7a760  add $07, $07, 0xa760". */
void diff_put_code(const struct cps_fw *fw, const struct cps_fw_part *part,
                   const struct cps_names *names, uint32_t at, struct cps_buf *out);

/** Appends @p before and "N values differ only by the clock" if some do. */
void diff_put_clock(const struct diff_report *report, const char *before, struct cps_buf *out);

/* ---- diffclock.c: values that come only from the assumed clock, where that is not the clock of
 * packets: two that were made in the same way of times read in the same places are no difference
 * (origin_clock_()). The runs are repeated with the origins of values, once something differs. ----
 */

struct diff_clock {
    const struct record *record[2];
    /** Sets the marks of the events of a record (why_clock()). */
    struct cps_err *(*find)(void *context, unsigned side, struct why_clocks *clocks);
    void *context;
    bool golden; /**< record 0 is a golden of the firmware that runs: it has no marks of its own */
    /* Private. */
    uint64_t *mark[2];
    struct cps_err *err;
};

/** Sets options and context of a comparison; without effect if a run's clock counts packets. */
void diff_clock_begin(struct diff_clock *clock, struct cps_diff_options *options);
/** @return what finding origins failed with, of that comparison */
CPS_MUST_USE struct cps_err *diff_clock_end(struct diff_clock *clock);

/* ---- diffplace.c: the first two characters of a line are its marks (html.h) ---- */

/** The name of the place: firmware, processor, packet and both program counters. Many captures
 * diverge in few places. */
void diff_place_key(const struct diff_report *report, struct cps_buf *out);
/** {"handler", "label_a", "label_b", "code_a", "code_b"}: both handlers, or as much of them as is
 * around the place. The codes have a line for each other's line; a side without firmware is "". */
struct json_object *diff_place(const struct diff_report *report);
/** Packet and events of one side around the first difference. @p right  side b instead of a */
void diff_place_packet(const struct diff_report *report, bool right, struct cps_buf *out);

/* ---- diffcause.c: a cause is a place of changed code that was executed: the one that made the
 * event, else the last one before it in the packet's handler, else one elsewhere in that handler;
 * or a packet that one revision has no handler of its own for; or that one of both runs had ended.
 * Other differences follow from what other packets left.
 *
 * That a place of code is the cause of a difference after it is an assumption: it is the nearest
 * changed code; other causes are not excluded. ---- */

struct diff_causes;

/** @param sides  firmware, ME and names of both; they stay the caller's, as long as the causes. The
 * caller calls diff_causes_destroy(), also on error. */
CPS_MUST_USE struct cps_err *diff_causes_create(const struct diff_report *sides,
                                                struct diff_causes **ret);
void diff_causes_destroy(struct diff_causes *causes);
/** Forgets all differences. */
void diff_causes_clear(struct diff_causes *causes);
/** A comparison of two records of @p report begins. */
void diff_causes_begin(struct diff_causes *causes, const struct diff_report *report);
/** As cps_diff_events() calls it. */
void diff_causes_take(void *causes, const struct cps_difference *difference);
/** A paragraph for each cause, in the order of their numbers of differences, with its code; then
 * handlers that were removed or added, and the other places where code differs: executed ones with
 * their code, the rest by name; @p all: everything with its code. */
void diff_causes_print(struct diff_causes *causes, bool all, struct cps_buf *out);
/** [{"cause", "differences", "packets", "first"}...], most differences first */
struct json_object *diff_causes_json(const struct diff_causes *causes);
/** The first difference of a cause. */
struct diff_first {
    const struct cps_event *a, *b; /**< NULL: the side has no such event */
};
/** Of the first @p most causes in the order of diff_causes_json().
 * @param ret  the events belong to the compared traces. @return their number */
size_t diff_causes_firsts(const struct diff_causes *causes, struct diff_first *ret, size_t most);

/* ---- diffcode.c ---- */

/** Changes by processor and address; to be freed. */
CPS_MUST_USE struct cps_err *diff_changes(const struct cps_fw *a, const struct cps_fw *b,
                                          struct cps_fw_change **ret, size_t *count);
const struct cps_fw_part *diff_part(const struct cps_fw *fw, enum cps_fw_role role);
/** Where versions of the images differ, and the dword that the kernel drops before them. */
void diff_print_versions(const struct diff_report *report, struct cps_buf *out);
/** "CP_NOP+0x2 (sqe)" */
void diff_print_where(const struct diff_report *report, const struct cps_fw_change *change,
                      struct cps_buf *out);
/** The removed and added instructions, with two of the new image around them. */
void diff_print_hunk(const struct diff_report *report, const struct cps_fw_change *change,
                     uint32_t most, struct cps_buf *out);
/** All changed places, without executions. */
CPS_MUST_USE struct cps_err *diff_print_places(const struct diff_report *report,
                                               struct cps_buf *out);

/* ---- renumber.c ---- */

/** Appends a row to @p list for each range of numbers, and a line to @p out, which may be NULL.
 * @p rnn  as for cps_names_create() */
CPS_MUST_USE struct cps_err *renumber_print(const struct cps_fw *a, const struct cps_fw *b,
                                            const char *rnn, struct json_object *list,
                                            struct cps_buf *out);
/** Which places differ in numbers of private control registers alone, where the map of these is one
 * to one over all accesses of both. @param ret  gets @p count of them */
CPS_MUST_USE struct cps_err *renumber_only(const struct cps_fw *a, const struct cps_fw *b,
                                           const struct cps_fw_change *change, size_t count,
                                           bool *ret);
/** @return NULL, or CPS_ERR_MISMATCH: no processor runs a part of both, nothing can be compared */
CPS_MUST_USE struct cps_err *renumber_check(const struct cps_fw *a, const struct cps_fw *b);

#endif
