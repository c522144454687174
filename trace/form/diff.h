/* SPDX-License-Identifier: MIT
 * Comparison of two traces: packet with packet, event with event, per processor.
 *
 * Packets are aligned first (by header and level), then the events inside two packets that belong
 * together, so that one more write, or one more packet, is one difference and not a hundred. A
 * write to another register than before is one difference, too, if it has the same value. Program
 * counters are not compared: code that moved does the same.
 *
 * Threads: a comparison has no state beside its arguments; several may run at a time, also over the
 * same events. */
#ifndef CPS_DIFF_H
#define CPS_DIFF_H

#include <stddef.h>

#include "../event/mask.h"

CPS_C_BEGIN

/** What is compared. */
struct cps_diff_options {
    /** A bit per enum cps_event_kind. */
    uint32_t kinds;
    /** What may differ, or NULL. */
    const struct cps_mask *mask;
    /** Whether two values of one place, which differ, are no difference all the same; NULL: never.
     */
    bool (*is_excused)(void *context, const struct cps_event *a, const struct cps_event *b);
    /** What `is_excused` gets. */
    void *excuse_context;
};

/** How two traces differ at a place. */
enum cps_diff_how {
    /** The same event with another value. */
    CPS_DIFF_VALUE,
    /** An event that is only in B. */
    CPS_DIFF_ADDED,
    /** An event that is only in A. */
    CPS_DIFF_REMOVED,
    /** The same value, written to another register or address at the same point of the packet. */
    CPS_DIFF_PLACE,
};

/** One difference. Its pointers lead into the traces. */
struct cps_difference {
    /** Which sort. */
    enum cps_diff_how how;
    /** Index of the SUBMIT before it; ~0: none. */
    uint32_t submission;
    /** The packet of A that it happens in, or NULL. */
    const struct cps_event *pkt_a;
    /** The packet of B that it happens in, or NULL. */
    const struct cps_event *pkt_b;
    /** The event of A; NULL where there is none. */
    const struct cps_event *a;
    /** The event of B; NULL where there is none. */
    const struct cps_event *b;
};

/** How often a register, an address or a packet differs. */
struct cps_diff_count {
    /** Of the events: enum cps_event_kind. */
    unsigned kind;
    /** As the events have it. */
    uint64_t addr;
    /** How often. */
    uint64_t count;
};

/** What a comparison found. */
struct cps_diff {
    /** How many differences. */
    uint64_t differences;
    /** How many values differ that `is_excused` allowed to. */
    uint64_t excused;
    /** The first one, in order of trace A; only if there are any. */
    struct cps_difference first;
    /** How many by packet id; 128: outside of packets. */
    uint64_t by_packet[129];
    /** How many by place, sorted by kind and address; owned. */
    struct cps_diff_count *by_place;
    /** Members of `by_place`. */
    size_t places;
};

/**
 * Compares two traces that lie in memory.
 * @param a        events of A, in the order of the trace
 * @param a_count  how many
 * @param b        events of B
 * @param b_count  how many
 * @param options  what counts
 * @param each     called for every difference, in order; may be NULL
 * @param context  what `each` gets
 * @param ret      gets what was found, which points into @p a and @p b; the caller calls
 *                 cps_diff_deinit()
 * @return NULL or CPS_ERR_NOMEM
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *
cps_diff_events(const struct cps_event *a, size_t a_count, const struct cps_event *b,
                size_t b_count, const struct cps_diff_options *options,
                void (*each)(void *context, const struct cps_difference *difference), void *context,
                struct cps_diff *ret);
/**
 * Releases what a comparison holds.
 * @param diff  from cps_diff_events(), or zero-initialised
 */
CPS_PUBLIC void cps_diff_deinit(struct cps_diff *diff);

/**
 * The id of a packet.
 * @param pkt  an event PKT
 * @return the opcode of its header, 4 for type 4, -1 for anything else
 */
CPS_PUBLIC int cps_diff_packet_id(const struct cps_event *pkt);

CPS_C_END

#endif
