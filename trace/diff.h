/* SPDX-License-Identifier: MIT
 * Comparison of two traces: packet with packet, event with event, per processor.
 *
 * Packets are aligned first (by header and level), then the events inside two packets that belong
 * together, so that one more write, or one more packet, is one difference and not a hundred.
 * Program counters are not compared: code that moved does the same. */
#ifndef CPS_DIFF_H
#define CPS_DIFF_H

#include <stddef.h>

#include "mask.h"

CPS_C_BEGIN

/** What is compared. */
struct cps_diff_options {
    uint32_t kinds;              /**< bit per enum cps_event_kind */
    const struct cps_mask *mask; /**< or NULL */
};

enum cps_diff_how {
    CPS_DIFF_VALUE,   /**< the same event with another value */
    CPS_DIFF_ADDED,   /**< only in B */
    CPS_DIFF_REMOVED, /**< only in A */
};

/** One difference. */
struct cps_difference {
    enum cps_diff_how how;
    uint32_t submission;           /**< index of the SUBMIT before it; ~0: none */
    const struct cps_event *pkt_a; /**< the packet it happens in, or NULL */
    const struct cps_event *pkt_b;
    const struct cps_event *a; /**< the event; NULL where there is none */
    const struct cps_event *b;
};

/** How often each register, address or packet differs. */
struct cps_diff_count {
    unsigned kind;
    uint64_t addr;
    uint64_t count;
};

struct cps_diff {
    uint64_t differences;
    struct cps_difference first;     /**< in order of trace A; only if there are any */
    uint64_t by_packet[129];         /**< by packet id; 128: outside of packets */
    struct cps_diff_count *by_place; /**< sorted by kind and address; owned */
    size_t places;
};

/**
 * Compares two traces that lie in memory; @p ret points into them.
 * @param each  called for every difference, in order; may be NULL
 * @return NULL or CPS_ERR_NOMEM; the caller calls cps_diff_deinit()
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *
cps_diff_events(const struct cps_event *a, size_t a_count, const struct cps_event *b,
                size_t b_count, const struct cps_diff_options *options,
                void (*each)(void *context, const struct cps_difference *difference), void *context,
                struct cps_diff *ret);
CPS_PUBLIC void cps_diff_deinit(struct cps_diff *diff);

/** Packet id of a PKT event's header: opcode, 4 for type 4, -1 for anything else. */
CPS_PUBLIC int cps_diff_packet_id(const struct cps_event *pkt);

CPS_C_END

#endif
