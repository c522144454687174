/* SPDX-License-Identifier: MIT
 * The register writes of a replay, as hardware queues them for the parts of the GPU: with the state
 * id that chose their bank, and the packet that asked for them. */
#ifndef CPS_PLAY_WRITES_H
#define CPS_PLAY_WRITES_H

#include "trace/event/event.h"

/** One write through the cluster queues, or of a pipe register, which goes the same way. */
struct replay_write {
    uint64_t packet; /**< where the header of its packet lies */
    uint32_t header; /**< of its packet */
    uint32_t offset; /**< the register's number */
    uint32_t value;  /**< what it got */
    uint64_t index;  /**< of its packet, counted from the begin of the replay */
    uint32_t state;  /**< the processor's count of contexts then: see writes_context() */
    uint8_t pipe;    /**< it is a pipe register */
    uint8_t direct;  /**< it went by the queues (control register REG_WRITE) */
};

/** Takes the events REG, PIPE, PKT, STEP and STEPX of the SQE. */
struct writes {
    struct cps_sink sink; /**< first */
    struct replay_write *write;
    size_t count;
    uint64_t packet, packets;
    uint32_t header;
    uint32_t state; /**< $13 as it stands */
    bool failed;    /**< memory was short */
};

/** The kinds that it wants. */
#define WRITES_KINDS                                                               \
    (1u << CPS_EV_REG | 1u << CPS_EV_PIPE | 1u << CPS_EV_PKT | 1u << CPS_EV_STEP | \
     1u << CPS_EV_STEPX)

/** Begins with @p state in $13. The caller calls writes_deinit() in any case. */
void writes_init(struct writes *writes, uint32_t state);
void writes_deinit(struct writes *writes);

/** Which of the two banks a write goes to. The firmware of a6xx counts contexts in $13, 7:0, those
 * of the 2D engine in 19:12 (F: 6ee 0123; H: 116 of 118 queued writes of two dumps). */
static inline unsigned writes_context(uint32_t state, bool is_2d)
{
    return state >> (is_2d ? 12 : 0) & 1;
}
/** Registers that the 2D engine's count chooses the bank of (H: a630, a618), and its events (D: the
 * register database has PC_2D_EVENT_CMD, HLSQ_2D_EVENT_CMD, CP_2D_EVENT_START and _END). */
static inline bool writes_is_2d(uint32_t offset)
{
    return (offset >= 0x8c00 && offset < 0x8c30) || offset == 0x9c00 || offset == 0xbd80 ||
           offset == 0xd700 || offset == 0xd701;
}

#endif
