/* SPDX-License-Identifier: MIT
 * What differs between two traces, for people: the first divergence with packet, fields and code,
 * then counts, then handlers whose code changed. Into a growable text, for terminal and HTML. */
#ifndef CPS_DIFFREPORT_H
#define CPS_DIFFREPORT_H

#include "fw/fw.h"
#include "tools/run/record.h"
#include "trace/form/diff.h"

struct json_object;

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
    const struct cps_mask *mask; /**< what of them was not, or NULL */
    bool golden;                 /**< side A is what side B has to be */
};

/** 1: something differs; 0: nothing does, and both sides were compared to their ends; else 4:
 * appends to @p why what was not compared. Both sides have records. */
int diff_status(const struct diff_report *report, struct cps_buf *why);
/** How many events of a run are of these kinds, and are not masked whole. */
uint64_t diff_count_compared(const struct record *record, uint32_t kinds,
                             const struct cps_mask *mask);
/** How many events of both sides were compared. */
uint64_t diff_compared(const struct diff_report *report);
/** Appends "; N of M submissions are not in the capture" if some are. */
void diff_print_missing(const struct diff_report *report, struct cps_buf *out);
/** How both runs end, if not in the same way. */
void diff_print_ends(const struct diff_report *report, struct cps_buf *out);
/** Packets that one of both firmwares has no handler for, and handlers that became one or two. */
void diff_print_handlers(const struct diff_report *report, struct cps_buf *out);
/** "submission 0, ib1 0x...: CP_MEM_WRITE", both sides, and the code around. */
void diff_print_first(const struct diff_report *report, struct cps_buf *out);
/** One difference in a line: "PC_EVENT_CMD.EVENT 0x31 -> missing". */
void diff_print_change(const struct diff_report *report, const struct cps_difference *difference,
                       struct cps_buf *out);
/** The names of the registers that an event of a kind is about. */
enum cps_space diff_space(unsigned kind);
/** Counts by packet and by register or address. @p most  so many of each, the largest; the rest is
 * a sum */
void diff_print_counts(const struct diff_report *report, size_t most, struct cps_buf *out);
/** Only the places where the code changed, without what a corpus did there. */
CPS_MUST_USE struct cps_err *diff_print_places(const struct diff_report *report,
                                               struct cps_buf *out);
/** Names of any processor of a side; NULL: it has none. */
const struct cps_names *diff_any_names(const struct diff_side *side);
/** "CP_NOP", "type 4", "(outside of packets)" for 128. */
void diff_packet_name(const struct diff_report *report, unsigned id, struct cps_buf *out);
/** The image that a processor runs, and its part of it; NULL where the side has none. */
const struct cps_fw *diff_image(const struct diff_side *side, unsigned who,
                                const struct cps_fw_part **part);
/** Bounds of the handler that a place stands in: from the last start before it to the next one. */
void diff_handler_bounds(const struct cps_fw *fw, const struct cps_fw_part *part, uint32_t pc,
                         uint32_t *start, uint32_t *end);
struct json_object *diff_json(const struct diff_report *report);

#endif
