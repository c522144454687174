/* SPDX-License-Identifier: MIT
 * The machine that cores share: GPU registers, memory, ring, event buffer, policies. Private to
 * emu/. */
#ifndef CPS_MACHINE_H
#define CPS_MACHINE_H

#include "emu/afuc/core.h"

extern const struct cps_engine_ops cps_afuc_ops_;

#define RING_DWORDS 8192u /* unless an item says otherwise */
#define LPAC_RING   UINT64_C(0x0001fffff8200000)
#define MAX_CORES   5u
#define MAX_PLACES  65536u

/* Registers that a machine is restored by. */
#define TOUCHED_REGS 1024u
/* Registers that are asked together whether they behave: most blocks have none that does. */
#define REG_BLOCK 64u

/* A packet of the hardware's own, put in front of a packet of the stream. */
struct injection {
    enum cps_inject kind;
    uint32_t submission;
    uint32_t packet;
};
#define MAX_INJECTIONS 64u

/* Whose turn it is. Part of the state, so that a run may be cut anywhere and goes on as if it had
 * not been. */
struct turn {
    uint32_t core;
    uint32_t left; /* ticks of this core's turn */
    uint32_t most; /* ticks of every turn of this round; 0: the round has not begun */
    bool ran;      /* some core did something in this round */
    bool finished;
};

/* How long no register and no memory has changed, and when that is to be looked into next. */
struct stillness {
    uint64_t mark; /* changes so far */
    uint64_t still;
    uint64_t look_at; /* 0: nothing is known */
};

/* What the driver knows of the two rings that --inject switch goes between: rings.h. */
struct rings {
    uint32_t wanted;   /* an injection asks for them */
    uint32_t prepared; /* their records are there */
    uint32_t begun;    /* so has the first submission */
    uint32_t current;  /* 0: the ring of the run */
    uint32_t other_wptr;
    uint32_t requested; /* the driver asked for the other, and the firmware has not finished */
};

struct reg_bank;
struct origin;
/** Numbers of enum adreno_pipe (D). */
enum { PIPE_COUNT = 8 };

struct cps_afuc {
    struct cps_engine engine; /* first */
    struct afuc_core core[MAX_CORES];
    struct afuc_image *image[MAX_CORES];
    const void *const *go;            /* afuc_handlers_() */
    struct cps_reg_index *pipe, *gpu; /* rows of pipe.def and gpu.def */
    enum cps_layout layout;           /* A5XX_PFP for the two processors of a5xx together */
    const uint64_t *epoch;            /* of the engine's memory */
    uint32_t *words;                  /* the image, from which processors are started */
    uint32_t word_count;
    struct origin *origin; /* keeps where values come from (origin/), NULL: nobody does */
    uint8_t *seen; /* by word of the image: somebody looked at it (seen.h), NULL: not kept */
    uint64_t packets_before[128]; /* dispatched when that began, by id */
    uint64_t instr_iova;
    uint64_t ring_iova;
    uint32_t ring_dwords; /* size */
    uint32_t ring_wptr;   /* dwords */
    uint32_t lpac_wptr;   /* the same of LPAC's ring; 0: nothing was submitted there */
    uint32_t workarounds; /* a5xx: that word of CP_ME_INIT */
    uint64_t repeats;     /* repetitions behind the first */
    uint64_t packets_by_id[6][128];
    struct turn turn;
    struct stillness stillness;
    struct injection injection[MAX_INJECTIONS + 1]; /* in order of submission and packet */
    unsigned injection_count, injection_next;
    struct rings rings;
    uint32_t submission;               /* index of the one that runs */
    uint32_t submission_packets;       /* that core 0 has dispatched of it */
    uint32_t shared[SHARED_COUNT];     /* scratch that all processors see, control 0x200.. */
    uint32_t completed[2];             /* a7xx: COMPLETED_BR_COUNT, COMPLETED_BV_COUNT */
    struct reg_bank *bank[PIPE_COUNT]; /* a7xx on: bank.h */
    uint8_t behaves[GPU_REGS / REG_BLOCK + 2]; /* some register of the block does; two more do */
    uint8_t touched[GPU_REGS / TOUCHED_REGS];  /* by TOUCHED_REGS registers: one of them, or its
                                                  flags, may have changed since clone or restore */
    uint8_t reg_flags[GPU_REGS];               /* enum reg_flag */
    uint32_t reg[GPU_REGS];
};

/* GPU register by which the driver asks for preemption, addresses behind it (D). */
static inline uint32_t machine_switch_cntl_(const struct cps_afuc *machine)
{
    return machine->layout == CPS_LAYOUT_A8XX ? 0x8c0 : 0x8a0;
}

/** The core that is @p who; NULL: the machine has none. */
static inline struct afuc_core *machine_find_core_(struct cps_afuc *machine, enum cps_processor who)
{
    for (unsigned i = 0; i < machine->engine.cores; i++) {
        if (machine->core[i].who == who)
            return &machine->core[i];
    }
    return NULL;
}

enum reg_flag {
    REG_WRITTEN = 1,  /* somebody gave it a value */
    REG_REPORTED = 2, /* UNMODELLED was emitted */
    REG_BEHAVES = 4,  /* gpu.def has a row, it switches CP_PROTECT, or the host may have it */
};

static inline void machine_event_(struct cps_afuc *m, enum cps_event_kind kind, unsigned sub,
                                  unsigned who, uint32_t pc, uint64_t addr, uint32_t value)
{
    cps_tap_put_(&m->engine.tap, cps_event_make(kind, sub, who, pc, addr, value), kind);
}

static inline void core_event_(struct afuc_core *core, enum cps_event_kind kind, unsigned sub,
                               uint64_t addr, uint32_t value)
{
    machine_event_(core->machine, kind, sub, core->who, core->s.pc, addr, value);
}

/** Makes the window empty if memory has changed since it was filled. */
static inline void stream_recheck_(struct afuc_core *core)
{
    if (CPS_UNLIKELY(core->window_epoch != *core->machine->epoch))
        core->window_left = 0;
}

/** Whether a wait that only the rest of the GPU would end gets its value. */
static inline bool machine_waits_end_(const struct cps_afuc *machine)
{
    switch ((enum cps_policy_waits)machine->engine.policy.waits) {
    case CPS_WAITS_SATISFY:
        return true;
    case CPS_WAITS_STOP:
        return false;
    }
    return false;
}

/** Whether firmware may look ahead. */
static inline bool machine_looks_ahead_(const struct cps_afuc *machine)
{
    switch ((enum cps_policy_prefetch)machine->engine.policy.prefetch) {
    case CPS_PREFETCH_OFF:
        return false;
    case CPS_PREFETCH_ON:
        return true;
    }
    return false;
}

/** Whether the visibility streams show every draw. */
static inline bool machine_all_visible_(const struct cps_afuc *machine)
{
    switch ((enum cps_policy_visibility)machine->engine.policy.visibility) {
    case CPS_VISIBILITY_ALL:
        return true;
    case CPS_VISIBILITY_NONE:
    case CPS_VISIBILITY_CAPTURED:
        return false;
    }
    return false;
}

/** Stores of all sorts that changed something: equal counts, equal registers and memory. */
static inline uint64_t machine_changes_(const struct cps_afuc *machine)
{
    return machine->engine.changes + cps_mem_changes(machine->engine.mem);
}

/** A register, or its flags, will be another one than in the machine that this one is a clone of.
 */
static inline void machine_touch_(struct cps_afuc *machine, uint32_t offset)
{
    machine->touched[offset / TOUCHED_REGS % (GPU_REGS / TOUCHED_REGS)] = 1;
}

/** Gives a GPU register a value, without effect. */
static inline void machine_set_reg_(struct cps_afuc *machine, uint32_t offset, uint32_t value)
{
    machine_touch_(machine, offset);
    machine->reg[offset % GPU_REGS] = value;
    machine->reg_flags[offset % GPU_REGS] |= REG_WRITTEN;
}

#endif
