/* SPDX-License-Identifier: MIT
 * Two machines, one of each revision, that begin with the same packet in the same state, and what
 * they do differently from there on. Private to tools/explain/prove/. */
#ifndef CPS_PROVE_TWINS_H
#define CPS_PROVE_TWINS_H

#include "tools/explain/prove/stage.h"

/** A value that both get where the handler begins. */
struct twins_poke {
    char file;       /**< enum cps_file_sigil */
    uint32_t number; /**< as the old revision numbers it */
    uint32_t keep;   /**< bits that stay as they are */
    uint32_t value;
};

struct twins {
    const struct stage *stage;
    const struct code *code;
    uint32_t pc[2]; /**< where the handler begins */
    enum cps_processor who;
    bool waits; /**< one may wait for ever where the other does not */
    /** By packet: its handler does the same in both for sure; or it is the one that is tested. From
     * the first packet on that is neither, events are not compared. */
    bool steady[CPS_FW_TABLE_SIZE], tested[CPS_FW_TABLE_SIZE];
    /** By dword: code that these handlers can reach; NULL: not known. An event of other code ends
     * the comparison, too: a handler that may differ goes on where a call of its own was open. */
    bool *ours[2];
    uint32_t first[2];         /**< where handlers begin: in front of them is the boot */
    bool plain[CONTROL_COUNT]; /**< of the old revision: storage that is private to the firmware */
    uint16_t number[CONTROL_COUNT]; /**< what the new revision calls it */
    /** Packets of the second submission in front of which the hardware asks for preemption, and for
     * another ring, in a run from the boot on, with the boot's state; 0: it does not. */
    uint32_t preempt, other_ring;
    struct world world[2];   /**< where the handler began */
    struct record record[2]; /**< events from there on; released by twins_deinit() */
    bool cut[2];             /**< the run went on behind its last event */
};

struct twins_answer {
    bool reached; /**< both began with the handler */
    bool different;
    char text[256]; /**< the first event that differs */
};

/** @param pc  where the handler begins, in both. The caller calls twins_deinit() in any case */
void twins_init(const struct stage *stage, const struct code *code, const uint32_t pc[2],
                bool waits, struct twins *ret);
void twins_deinit(struct twins *twins);
/** Finds `ours`, of the packets in `steady` and `tested`. */
void twins_find_code(struct twins *twins);
/** Runs both over a stream. @param packet  the one whose handler gets the state of @p poke */
CPS_MUST_USE struct cps_err *twins_run(struct twins *twins, const struct cps_buf *text,
                                       const struct stage_packet *packet,
                                       const struct twins_poke *poke, unsigned pokes,
                                       struct twins_answer *ret);

#endif
