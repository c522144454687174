/* SPDX-License-Identifier: MIT
 * Types of what only afuc has: afuc.h. */
#ifndef CPS_AFUC_TYPE_H
#define CPS_AFUC_TYPE_H

#include <stdint.h>

#include "../engine.h"

CPS_C_BEGIN

/** Packets that hardware makes itself, out of turn. */
enum cps_inject {
    /** IN_PREEMPT: the driver's request to switch contexts. */
    CPS_INJECT_PREEMPT,
    /** IN_PREEMPT too, but with a driver behind it: the firmware switches to another ring, which is
     * empty, and back. a6xx and a7xx. */
    CPS_INJECT_SWITCH,
    /** IN_GMU_INTERRUPT: the power controller wants something. */
    CPS_INJECT_GMU,
};
/** Why a processor does not go on. */
enum cps_trouble {
    /** It does, or has nothing to do. */
    CPS_TROUBLE_NONE,
    /** An illegal instruction. */
    CPS_TROUBLE_ILLEGAL,
    /** A jump outside of its image. */
    CPS_TROUBLE_JUMP,
    /** A limit of the emulator's own: memory, requests that wait. */
    CPS_TROUBLE_LIMIT,
    /** The firmware has reported an error, and spins. */
    CPS_TROUBLE_REPORTED,
    /** It waits for words of a stream that has none, inside a packet. */
    CPS_TROUBLE_STARVED,
    /** It waits for something else, or goes round in circles. */
    CPS_TROUBLE_WAITS,
};
/** A branch that was taken, and the straight way to it. */
struct cps_edge {
    /** Where the branch before led: a dword of the core's image. */
    uint32_t from;
    /** Where the branch stands. */
    uint32_t branch;
    /** Where it leads, behind its delay slot. */
    uint32_t to;
    /** Which core. */
    uint8_t core;
    /** The stream that it reads, as cps_where.level. */
    uint8_t level;
    /** The packet that it is at: id of the packet table. */
    uint8_t packet;
    /** How privileged it is: bit 0 the level is, 3:1 bits 31:29 of the protected mode, 6:4 the
     * level as the firmware keeps it. */
    uint8_t privilege;
};

/** Branches that all cores take. */
struct cps_edge_log {
    /** The caller's. */
    struct cps_edge *edge;
    /** How many fit; more are left out, and the last place has the newest. */
    uint32_t room;
    /** How many there are; the caller may make it 0. */
    uint32_t count;
    /** The first depth of a call stack that is none: below 0, or one that was more than there is
     * room for, when a return takes what was lost by that; 0: there was none. The caller makes it
     * 0. */
    int32_t depth;
    /** Of each core the depth now, and the deepest one that nothing has set back since. The caller
     * makes them 0. */
    int32_t stack[CPS_MAX_CORES][2];
    /** How privileged each core is where the log begins, as cps_edge.privilege: cps_afuc_log() says
     * it. */
    uint8_t privilege[CPS_MAX_CORES];
    /** The call or return that led to it. */
    uint32_t at;
    /** The header of the packet that it was at. */
    uint32_t header;
    /** Whose. */
    uint8_t core;
};

CPS_C_END

#endif
