/* SPDX-License-Identifier: MIT
 * What only afuc has, beyond the interface of all engines: streams and their positions, packet
 * tables, packets that hardware injects. Whoever includes this is about Adreno's command
 * processors; the rest knows emu/engine.h.
 *
 * Threads: as for engines, one at a time. What is only read (all but cps_afuc_inject()) has no
 * effect on the run. */
#ifndef CPS_AFUC_H
#define CPS_AFUC_H

#include "../engine.h"

CPS_C_BEGIN

/** Packets that hardware makes itself, out of turn. */
enum cps_inject {
    /** IN_PREEMPT: the driver's request to switch contexts. */
    CPS_INJECT_PREEMPT,
    /** IN_PREEMPT with a driver that answers: the firmware switches to another ring, which is
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
    /** The function that does launched work failed. */
    CPS_TROUBLE_WORK,
    /** The firmware has reported an error and is in its error loop. */
    CPS_TROUBLE_REPORTED,
    /** It waits for words of a stream that has none, inside a packet. */
    CPS_TROUBLE_STARVED,
    /** It waits for something else, or loops. */
    CPS_TROUBLE_WAITS,
};
/** A branch that was taken, and the straight way to it. */
struct cps_edge {
    /** Where the branch before led: a dword of the core's image. */
    uint32_t from;
    /** Address of the branch. */
    uint32_t branch;
    /** Its target, reached after its delay slot. */
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

/** The engine as what it is: the same object. */
struct cps_afuc;

/**
 * The engine as what it is.
 * @param engine  any
 * @return NULL if it is another one
 */
CPS_PUBLIC struct cps_afuc *cps_afuc_of(struct cps_engine *engine);

/**
 * Lets hardware interrupt the SQE (BR, PFP) before a packet. Requests are made in order.
 * @param machine     which
 * @param kind        how
 * @param submission  counted from 0, as the trace shows it
 * @param packet      of it, counted from 0 as the trace shows it; packet 0 is the ring's call
 * @return false if there are too many: 64
 */
CPS_PUBLIC bool cps_afuc_inject(struct cps_afuc *machine, enum cps_inject kind, uint32_t submission,
                                uint32_t packet);
/** Rings that firmware switches between. */
#define CPS_AFUC_RINGS 4u

/**
 * Whether the driver can ask for other rings: with policies `ring=msm` and `preempt=on`, a6xx and
 * a7xx, after the boot.
 * @param machine  which
 */
CPS_PUBLIC bool cps_afuc_has_rings(const struct cps_afuc *machine);
/**
 * Asks the firmware for another ring, as the kernel's driver does: it saves the one that it reads,
 * where that is possible, and goes on with the other one, with the page table of its context. That
 * happens during the next runs. A ring that the firmware has left in the middle of a submission
 * goes on there; another one has had the first stream of a submission (stream.ring).
 * @param machine  which
 * @param ring     which, below CPS_AFUC_RINGS
 * @param within   also within a packet: if the firmware waits there. May be added by a second call
 * @return false if there is no such ring, the firmware is there, or another request is not served
 */
CPS_PUBLIC bool cps_afuc_switch(struct cps_afuc *machine, unsigned ring, bool within);
/** Whether such a request is not served yet. @param machine  which */
CPS_PUBLIC bool cps_afuc_switches(const struct cps_afuc *machine);
/** The ring that the firmware reads. @param machine  which */
CPS_PUBLIC unsigned cps_afuc_ring(const struct cps_afuc *machine);

/** How many of those requests there were. @param left  gets how many of them did not come */
unsigned cps_afuc_injections_(const struct cps_afuc *machine, unsigned *left);
/** Where the words of the ring that a core reads end: dwords from its begin. */
uint32_t cps_afuc_ring_end_(const struct cps_afuc *machine, unsigned core);
/** The numbering of control registers. CPS_LAYOUT_A5XX_PFP stands for PFP and ME together. */
enum cps_layout cps_afuc_layout_(const struct cps_afuc *machine);

/**
 * Logs the branches that cores take from now on (not while STEP events are wanted). A clone begins
 * without.
 * @param machine  which
 * @param log      the caller's, and to outlive the logging; NULL stops it
 */
CPS_PUBLIC void cps_afuc_log(struct cps_afuc *machine, struct cps_edge_log *log);

/**
 * Instructions of a core's image.
 * @param machine  which
 * @param core     below engine->cores
 * @return dwords; 0 while it is not started
 */
CPS_PUBLIC uint32_t cps_afuc_image_size(const struct cps_afuc *machine, unsigned core);
/**
 * Where the image of a core lies in GPU memory.
 * @param machine  which
 * @param core     below engine->cores
 * @return bytes
 */
CPS_PUBLIC uint64_t cps_afuc_image_iova(const struct cps_afuc *machine, unsigned core);
/**
 * General registers that instructions have written since STEP events are wanted.
 * @param machine  which
 * @param core     below engine->cores
 * @return a bit for each
 */
CPS_PUBLIC uint32_t cps_afuc_written(const struct cps_afuc *machine, unsigned core);
/**
 * Whether anybody gave a GPU register a value.
 * @param machine  which
 * @param offset   number of the register, in dwords
 */
CPS_PUBLIC bool cps_afuc_reg_written(const struct cps_afuc *machine, uint32_t offset);
/**
 * How many packets were dispatched.
 * @param machine  which
 * @param level    CPS_LEVEL_*, below 6
 * @param id       of the packet table
 */
CPS_PUBLIC uint64_t cps_afuc_packets(const struct cps_afuc *machine, unsigned level, unsigned id);
/**
 * What is wrong after a stop, as cps_engine_explain() tells it.
 * @param machine  which
 * @param core     gets the core that is to blame
 */
CPS_PUBLIC enum cps_trouble cps_afuc_trouble(const struct cps_afuc *machine, unsigned *core);
/** What a processor waits for after CPS_STOP_DEADLOCK: cps_engine_waits_for() tells it of one.
 * @return false, and all 0: it is idle, has failed or does not exist */
bool cps_afuc_waits_(const struct cps_afuc *machine, unsigned core, struct cps_wait *ret);

/** Where a core is in the stream of one level. */
struct cps_position {
    /** Where the stream begins, in bytes. */
    uint64_t iova;
    /** Its length; the ring's size for the ring. */
    uint32_t dwords;
    /** Dwords read of it. */
    uint32_t consumed;
    /** There is a stream at this level. */
    bool active;
};
/**
 * Where a core is in the stream of one level.
 * @param machine  which
 * @param core     below engine->cores
 * @param level    CPS_LEVEL_RB to CPS_LEVEL_SDS
 */
CPS_PUBLIC struct cps_position cps_afuc_position(const struct cps_afuc *machine, unsigned core,
                                                 unsigned level);
/**
 * A stream that waits after the current one of its level, as firmware looks ahead.
 * @param machine  which
 * @param core     below engine->cores
 * @param level    CPS_LEVEL_IB1 to CPS_LEVEL_SDS
 * @param index    0: the current one
 * @return `active` is false if there are not that many
 */
CPS_PUBLIC struct cps_position cps_afuc_queued(const struct cps_afuc *machine, unsigned core,
                                               unsigned level, unsigned index);
/** A draw-state group, as CP_SET_DRAW_STATE left it. */
struct cps_draw_group {
    /** Where its stream lies, in bytes. */
    uint64_t iova;
    /** Bits 15:0 its dwords, above them the modes. */
    uint32_t header;
};
/**
 * A draw-state group.
 * @param machine  which
 * @param core     below engine->cores
 * @param group    below 32
 */
CPS_PUBLIC struct cps_draw_group cps_afuc_draw_group(const struct cps_afuc *machine, unsigned core,
                                                     unsigned group);
/**
 * Where the header of the current packet lies.
 * @param machine  which
 * @param core     below engine->cores
 * @return bytes
 */
CPS_PUBLIC uint64_t cps_afuc_header_iova(const struct cps_afuc *machine, unsigned core);
/**
 * The header of a packet.
 * @param machine  which
 * @param core     below engine->cores
 * @param back     0: the current packet; 1 and 2: those before it
 */
CPS_PUBLIC uint32_t cps_afuc_header(const struct cps_afuc *machine, unsigned core, unsigned back);
/**
 * The value that the firmware gave IB_LEVEL last.
 * @param machine  which
 * @param core     below engine->cores
 */
CPS_PUBLIC uint32_t cps_afuc_level(const struct cps_afuc *machine, unsigned core);
/**
 * The address that the firmware set for NRT writes, before it advances.
 * @param machine  which
 * @param core     below engine->cores
 * @return bytes
 */
CPS_PUBLIC uint64_t cps_afuc_nrt(const struct cps_afuc *machine, unsigned core);
/**
 * The handler of a packet, as the firmware stored it.
 * @param machine  which
 * @param core     below engine->cores
 * @param id       of the packet table
 * @return dwords from the start of the core's image
 */
CPS_PUBLIC uint32_t cps_afuc_packet_table(const struct cps_afuc *machine, unsigned core,
                                          unsigned id);

/** Memory of the kernel's driver with policy `ring=msm`, beside the buffers of the streams: the
 * engine's own, also if there is a host, and in every address space. Its layout is that of struct
 * msm_rbmemptrs (D: the kernel's msm_ringbuffer.h): the offsets below, in bytes. */
#define CPS_AFUC_KERNEL UINT64_C(0x0001fffffc000000)
enum cps_afuc_kernel {
    /** From one ring's to the next one's. */
    CPS_AFUC_KERNEL_STEP = 0x1000,
    /** The last fence. */
    CPS_AFUC_KERNEL_FENCE = 0x4,
    /** From a7xx on: the same of BV. */
    CPS_AFUC_KERNEL_BV_FENCE = 0xc,
    /** Of submission `seqno`, at `seqno` % CPS_AFUC_KERNEL_STATS_COUNT: four numbers of 64 bits,
     * cycles at its start and end, always-on counter at its start and end. Not of a5xx. */
    CPS_AFUC_KERNEL_STATS = 0x10,
    CPS_AFUC_KERNEL_STATS_SIZE = 0x20,
    CPS_AFUC_KERNEL_STATS_COUNT = 64,
    /** Page table of the context. */
    CPS_AFUC_KERNEL_TTBR0 = 0x810,
    /** Its number. */
    CPS_AFUC_KERNEL_CONTEXT = 0x818,
};
/**
 * The last fence that the firmware wrote for a ring, with policy `ring=msm`.
 * @param machine  which
 * @param ring     below CPS_AFUC_RINGS
 * @return fence.seqno of CPS_ITEM_FENCE; 0: none was written
 */
CPS_PUBLIC uint32_t cps_afuc_fence(const struct cps_afuc *machine, unsigned ring);
/**
 * The counter behind time stamps (policy `clock`), as the first processor would read it, without an
 * effect on it: a driver's own reading of CP_ALWAYS_ON_COUNTER.
 * @param machine  which
 */
CPS_PUBLIC uint64_t cps_afuc_clock(const struct cps_afuc *machine);

CPS_C_END

#endif
