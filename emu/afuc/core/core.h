/* SPDX-License-Identifier: MIT
 * One afuc core: its state as plain bytes, and its micro-operations. Private to emu/. */
#ifndef CPS_AFUC_CORE_H
#define CPS_AFUC_CORE_H

#include "emu/mem.h"
#include "emu/reg.h"
#include "emu/tap.h"
#include "emu/afuc/afuc.h"

/** Register numbers with a meaning of their own (afuc-isa: the same number reads one thing and
 * writes another). */
enum { R_SP = 0x1a, R_LR = 0x1b, R_REM = 0x1c, R_ADDR = 0x1d, R_USRADDR = 0x1e, R_DATA = 0x1f };
enum { R_MEMDATA = R_ADDR, R_REGDATA = R_USRADDR };
/** Writes to $00 land here, so that r[0] stays 0 without a test. */
enum { R_TRASH = 32, R_COUNT = 33 };

/** Whether an operand needs no more than the register array. */
static inline bool afuc_is_general_(unsigned number)
{
    return number <= R_REM;
}

#define CONTROL_COUNT 0x1000u
#define SQE_COUNT     64u
#define SQE_RESUME    2u /* and 3: pc and npc that iret returns to */
#define SQE_PREEMPT   4u
#define SQE_SP        5u
#define SQE_STACK     8u
#define STACK_DEPTH   8u
#define MISUSED       8u
#define GPU_REGS      0x40000u
#define GROUP_COUNT   32u
/** Control registers that all processors share, which are the on-chip memory of events, too. */
#define SHARED_CONTROL 0x200u
#define SHARED_COUNT   0x100u

/** The word that hardware puts after the last dword of every IB: type 7, opcode 0x0a, count 0. */
#define END_OF_IB 0x708a8000u
/** And after the packets that the ME of a5xx takes from its side stream, and after the streams of
 * preemption: opcode 0x09. */
#define END_OF_SIDE 0x70898000u

/** Streams that a core can read, by role; IB_LEVEL values map to them per generation. The ME of
 * a5xx has no levels: it reads the MEQ, or its side stream. The ring of a DDE is its MEQ. */
enum level {
    LEVEL_RB,
    LEVEL_IB1,
    LEVEL_IB2,
    LEVEL_IB3,
    LEVEL_SDS,
    LEVEL_SIDE,
    LEVEL_COUNT, /* those above are fetched from memory */
    LEVEL_MEQ = LEVEL_COUNT,
};

/** One fetch that waits in, or is read from, a queue of the ROQ. */
struct fetch {
    uint64_t iova;
    uint32_t dwords;
    uint32_t group; /* draw-state group, LEVEL_SDS only */
};

/** Fetches of one level, consumed in order, each followed by END_OF_IB (the ring has no marks). */
#define QUEUE_DEPTH 64u
struct queue {
    struct fetch fetch[QUEUE_DEPTH];
    uint32_t head;
    uint32_t count;
    uint32_t pos; /* dwords consumed of fetch[head] */
};

/** Words on their way from memory or registers to $memdata / $regdata. */
#define FIFO_WORDS    256u
#define FIFO_REQUESTS 16u
struct fifo {
    uint32_t word[FIFO_WORDS];
    uint32_t head;
    uint32_t count;
    struct {
        uint64_t iova;
        uint32_t dwords;
    } request[FIFO_REQUESTS]; /* fetches that did not fit yet */
    uint32_t request_count;
};

/** Words on their way from the PFP to the ME, or from BR and BV to their DDEs, each with the packet
 * that the sender was at. The depth of the hardware's queue is not visible to firmware. */
#define MEQ_WORDS 1024u
struct meq {
    uint32_t word[MEQ_WORDS];
    uint32_t level[MEQ_WORDS]; /* enum CPS_LEVEL_*: INT unless the PFP passed the word on */
    uint64_t iova[MEQ_WORDS];
    uint32_t head;
    uint32_t count;
};

/** Draw-state group registers, selected by DRAW_STATE_SEL: words in the order of their numbers. */
struct group {
    uint32_t sds_base[2];
    uint32_t sds_dwords;
    uint32_t base[2];
    uint32_t hdr; /* 15:0 dwords, 18:16 modes */
};

/** Why a core does not go on; part of the state because the scheduler resumes it. */
enum afuc_wait {
    WAIT_NONE,
    WAIT_STREAM,  /* the stream of the current level is empty */
    WAIT_MEMDATA, /* nothing was requested, or more was read than requested */
    WAIT_REGDATA,
    WAIT_MEQ,   /* the queue to the ME is full */
    WAIT_PIPE,  /* a7xx: the pipe, which is in order here, waits for an on-chip word */
    WAIT_FAULT, /* for ever; `fault` says why */
};

/** What the preemption routine is entered for, and control registers that only it looks at. */
struct preemption {
    uint32_t cause;    /* bits of PREEMPT_CAUSE; 0: there is none */
    uint32_t look;     /* the routine is to be entered for it */
    uint32_t marker;   /* PC_MARKER when the routine put it off */
    uint32_t cntl;     /* CONTEXT_SWITCH_CNTL */
    uint32_t deferred; /* what the routine says when it puts it off */
    uint32_t enable;   /* causes that may be served */
    uint32_t trigger;  /* bit 0: at a place where the routine need not save everything */
    uint32_t slot;     /* which of the draw-state operations is shown */
    uint32_t stop;     /* bit 0: what is under way is to end */
    uint32_t word;     /* that another processor sent */
    uint32_t selected; /* which of $addr and $usraddr is read back */
    uint32_t queues;   /* QUEUE_CONTROL */
    uint32_t aperture; /* APERTURE_PREEMPT */
    uint32_t end;      /* STREAM_END */
    uint32_t consumed; /* of a draw-state group */
    uint32_t groups;   /* draw-state groups that wait to be fetched again */
    uint32_t ib_base[3][2];
    uint32_t read_base[2];
};

/** All of a core's state: state.def, which says of each member why proofs may rely on it. */
struct afuc_state {
#define STATE(type, name, dimensions, proof, meaning) type name dimensions;
#include "emu/afuc/core/state.def"
};

enum afuc_fault {
    FAULT_NONE,
    FAULT_ILLEGAL,
    FAULT_JUMP,
    FAULT_MEMORY,
    FAULT_QUEUE,
    FAULT_EVENT,
    FAULT_WORK
};

/** One instruction, decoded once. */
struct afuc_uop {
    uint16_t code; /* enum uop_code: what it is */
    uint16_t take; /* the same, or how several are run in one piece: UOP_BULK, UOP_TYPE4 */
    uint8_t dst;
    uint8_t s1;
    uint8_t s2; /* IMM: the second source is `imm` */
    uint8_t flags;
    uint8_t xmov;    /* N of (xmovN) or (sdsN) */
    uint32_t imm;    /* immediate, base, bit number; low 5 bits for branches */
    uint32_t target; /* of a branch */
};
#define S2_IMM 0xff

/** A decoded image, then one ILLEGAL; shared by clones of a machine until one of them changes it.
 */
struct afuc_image {
    uint32_t refs;
    uint32_t count; /* without the last one */
    struct afuc_uop uop[];
};

/** Flags of a micro-operation: its prefixes, and what follows from its operands. */
enum {
    U_REP = 1,
    U_PEEK = 2,
    U_PRE = 4,
    U_POPS = 8,
    U_FREE = 16, /**< it waits for no queue */
};

/** Whether (rep) itself counts $rem down after each execution: a word of $data has done it. */
static inline bool afuc_counts_itself_(const struct afuc_uop *uop)
{
    return (uop->flags & (U_REP | U_POPS)) == U_REP;
}

/** Codes of micro-operations. Every ALU operation has three shapes: two registers, register and
 * immediate, and the general one that handles queues and prefixes. */
enum uop_code {
#define OP(id, text, kind, ...) CODE_##kind(id)
#define CODE_ALU(id)            UOP_##id##_RR, UOP_##id##_RI, UOP_##id##_ANY,
#define CODE_IF(id)             UOP_##id,
#define CODE_OWN(id)            UOP_##id,
#include "isa/afuc.def"
#undef CODE_ALU
#undef CODE_IF
#undef CODE_OWN
    UOP_ILLEGAL,
    UOP_BULK,  /**< a (rep) that bulk.c may run in one piece; else as UOP_OR_ANY */
    UOP_TYPE4, /**< the handler of type 4 begins: bulk.c; no instruction's own code */
    UOP_COUNT,
};

/** The places a core looked at last, by CPS_PLACE_*: what it polls when it spins. The search for
 * loops begins with none, so that afterwards only those are set that the loop itself reads. */
struct polled {
    uint32_t places; /* a bit each */
    uint32_t gpu, control;
    uint64_t memory;
};

/** The condition of the packet that waits, from its words. */
struct condition {
    uint64_t iova;   /* of the packet */
    uint64_t at;     /* a byte address or a GPU register */
    uint64_t second; /* CONDITION_TWO */
    uint64_t reference;
    uint32_t header; /* of the packet; 0: there is none */
    uint32_t mask;
    uint32_t function; /* of CP_WAIT_REG_MEM */
    enum condition_kind {
        CONDITION_COMPARE,    /* function */
        CONDITION_NOT_BEHIND, /* the difference is not negative */
        CONDITION_WIDE,       /* 64 bits reach the reference */
        CONDITION_TWO,        /* the first is 0, or the second differs from the reference */
    } kind;
    uint32_t in_memory;
};

struct afuc_core {
    struct afuc_state s;         /* first: the hot part of a core */
    const struct afuc_uop *uops; /* of an image that the machine owns */
    uint32_t uop_count;          /* without the last one */
    enum cps_processor who;
    unsigned pipe; /* whose registers it writes through the pipe */
    enum cps_layout layout;
    struct cps_afuc *machine;
    struct afuc_core *me;  /* a5xx: the core after the PFP, NULL for all others */
    struct afuc_core *dde; /* a8xx: the core that draws for BR or BV, NULL for all others */
    uint32_t start;        /* dword of the machine's image where this core's own begins */
    uint32_t base;         /* control register, of two, that holds its address; 0xffff: none */
    /* The words that come next, as memory has them; not state. While there are any, they are what
     * $data pops and waitin takes, whatever the core does: who changes that makes the window empty,
     * and queue.c fills it again. */
    const uint32_t *window;
    uint32_t window_left;
    uint64_t window_epoch;
    uint32_t *window_pos;  /* where the state counts the words taken */
    uint64_t window_end;   /* address after the last one */
    unsigned window_level; /* of their events */
    bool plain; /* what it writes to GPU registers has no banks of contexts, and is for one pipe */
    uint32_t protect; /* GPU register that switches CP_PROTECT on */
    /* Of the run under way: its clock is `clock_end` less what was left at the last SYNC(). */
    uint64_t clock_end;
    int64_t left;
    struct polled polled;
    struct condition condition; /* of the last packet that waits */
    uint64_t packets;           /* begun */
    uint64_t clock_reads;       /* of the policy's clock */
    struct cps_cover *cover;    /* per instruction, NULL: not counted; the caller's */
    uint32_t cover_count;       /* of them */
    struct cps_edge_log *log;   /* of branches, NULL: none; the caller's */
    uint32_t log_from;          /* where the last one led */
    uint32_t privilege[2];      /* control registers that the log of branches looks at */
    uint32_t level_bits;        /* of $12 */
    uint32_t protected_bit[2];  /* of the protected mode: puts the ring, and other levels, under
                                   CP_PROTECT; 0: always */
    uint32_t written; /* general registers that instructions have named as destination; only kept
                         while STEP events are wanted */
    struct cps_reg_index *control; /* rows of ctrl.def */
};

/** A core that draws for another one: its level 0 is the MEQ and no ring. */
static inline bool is_dde_(const struct afuc_core *core)
{
    return core->who == CPS_CPU_DDE_BR || core->who == CPS_CPU_DDE_BV;
}

/** Of a register's handler. */
static inline struct afuc_core *core_of_(const struct cps_access *at)
{
    return at->device;
}

/** Ticks of the machine, at the instruction that the core is at. */
static inline uint64_t afuc_clock_(const struct afuc_core *core)
{
    return core->clock_end - (uint64_t)core->left;
}

/** Notes a place that is read. */
static inline void poll_memory_(struct afuc_core *core, uint64_t iova)
{
    core->polled.places |= 1u << CPS_PLACE_MEMORY;
    core->polled.memory = iova;
}
static inline void poll_gpu_(struct afuc_core *core, uint32_t offset)
{
    core->polled.places |= 1u << CPS_PLACE_GPU;
    core->polled.gpu = offset;
}
static inline void poll_control_(struct afuc_core *core, uint32_t number)
{
    core->polled.places |= 1u << CPS_PLACE_CONTROL;
    core->polled.control = number;
}

/** The core can never go on; @p value belongs to the reason. */
static inline void afuc_fault_(struct afuc_core *core, enum afuc_fault fault, uint32_t value)
{
    core->s.wait = WAIT_FAULT;
    core->s.fault = fault;
    core->s.fault_value = value;
}

#endif
