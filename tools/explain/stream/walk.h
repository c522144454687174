/* SPDX-License-Identifier: MIT
 * A capture read without firmware: its streams are followed by their packets, which become events
 * like those of a run. Nothing is executed. So conditions count as true, memory has the contents of
 * the capture, draw-state groups run once before the next draw, and a register gets a value only
 * where the stream itself has it. */
#ifndef CPS_WALK_H
#define CPS_WALK_H

#include "isa/isa.h"
#include "trace/event/event.h"
#include "trace/event/item.h"

struct cps_mem;

/** Draw-state groups that there are: bits 28:24 of CP_SET_DRAW_STATE. */
#define WALK_GROUPS 32
/** How deep streams call each other: ring, IB1 to IB3, and a group. */
#define WALK_DEPTH 5

/** Why a named stream is not among the events: the value of its UNMODELLED. */
enum stream_gap {
    STREAM_NOT_HELD, /**< the capture has nothing there */
    STREAM_TOO_DEEP  /**< it is called from IB3 or a draw-state group */
};

/** What goes on from a walk: SUBMIT, PKT, WORD, and REG, in the order of the streams; UNMODELLED of
 * place STREAM for a stream that the capture names but does not hold. All are of who = SQE, pc 0.
 */
struct stream_walk {
    struct cps_item_sink
        items;               /**< give it a capture's items; NULL-safe after stream_walk_init() */
    struct cps_sink *sink;   /**< gets the events */
    struct cps_names *names; /**< of the GPU that made the capture, once that is known */
    struct cps_names **publish; /**< gets the same before the first event; stays the walk's */
    const char *rnn;            /**< as for cps_names_create() */
    enum cps_gen gen;           /**< CPS_GEN_NONE: of the capture */
    uint64_t limit;             /**< packets of one submission */
    struct cps_mem *mem;
    uint32_t (*word)[0x4000]; /**< of the packet at each depth; owned */
    struct {
        uint64_t addr;
        uint32_t dwords, mask;
    } group[WALK_GROUPS];
    uint32_t mode; /**< bits of groups that run */
    unsigned depth;
    uint64_t packets; /**< of this submission */
    uint32_t submissions;
    uint64_t missing; /**< streams that the capture does not hold, or not whole */
    uint64_t bad;     /**< dwords that are no packet's header, where one had to be */
    bool full;        /**< the limit was reached */
    struct {
        uint64_t iova;
        uint32_t dwords, rptr, wptr; /**< dwords; 0: there is none */
    } ring;                          /**< of a hang dump: which holds this instead of submissions */
    uint64_t next;                   /**< where the ring was to be read next, or 0 */
};

/**
 * Begins a walk.
 * @param walk  zero but for `sink`, `rnn`, `gen` and `limit`; the caller calls stream_walk_deinit()
 * @return NULL, CPS_ERR_NOMEM, or as cps_names_create()
 */
CPS_MUST_USE struct cps_err *stream_walk_init(struct stream_walk *walk);
/** The capture is over: of a hang dump, its ring is read now, from the oldest packet in it that
 * leads to the write pointer. */
CPS_MUST_USE struct cps_err *stream_walk_end(struct stream_walk *walk);
/** Releases everything but the sink. */
void stream_walk_deinit(struct stream_walk *walk);

/** Calls @p each for each register that the words of a packet name as one that it writes; @p value
 * is NULL where the stream does not contain the value. */
void stream_walk_registers(const struct cps_names *names, uint32_t header, const uint32_t *words,
                           size_t count,
                           void (*each)(void *context, uint32_t number, const uint32_t *value),
                           void *context);

#endif
