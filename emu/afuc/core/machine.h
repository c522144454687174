/* SPDX-License-Identifier: MIT
 * The machine that cores share: GPU registers, memory, ring, event buffer, policies; how it is
 * made, copied, fed, run and looked at. Private to emu/. */
#ifndef CPS_MACHINE_H
#define CPS_MACHINE_H

#include "emu/afuc/core/core.h"

extern const struct cps_engine_ops cps_afuc_ops_;

#define RING_DWORDS 8192u /* unless an item says otherwise */
#define LPAC_RING   UINT64_C(0x0001fffff8200000)
#define MAX_CORES   5u
#define MAX_PLACES  65536u

/* Registers that a machine is restored by. */
#define TOUCHED_REGS 1024u
/* Registers that are asked together whether they behave: most blocks have none that does. */
#define REG_BLOCK 64u

/* A packet of the hardware's own, put before a packet of the stream. */
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

/* What the driver knows of the rings that firmware switches between: rings.c. */
struct rings {
    uint32_t wanted;    /* an injection or the policy asks for them */
    uint32_t prepared;  /* their records are there */
    uint32_t begun;     /* so has the first submission */
    uint32_t current;   /* 0: the ring of the run */
    uint32_t fed;       /* the one that the driver writes */
    uint32_t requested; /* the driver asked for `target`, and the firmware has not finished */
    uint32_t target;
    uint32_t anywhere; /* the request is served within packets, too */
    uint32_t injected; /* it is an injection's, after which the driver switches back */
    struct {
        uint32_t wptr;  /* of a ring that is not current */
        uint32_t begin; /* where that was when the firmware left it */
    } ring[CPS_AFUC_RINGS];
};

/* What the driver knows of its ring for the policy `ring=msm`: driver_msm.c. */
struct msm {
    uint32_t prepared; /* its memory is there */
    struct {
        uint32_t open;    /* a submission has begun, and not ended */
        uint32_t context; /* the last one; 0: none */
        uint32_t seqno;   /* the last fence */
    } ring[CPS_AFUC_RINGS];
};

enum { PIPE_COUNT = 8 }; /* numbers of enum adreno_pipe (D) */

struct cps_afuc {
    struct cps_engine engine; /* first */
    struct afuc_core core[MAX_CORES];
    struct afuc_image *image[MAX_CORES];
    struct cps_reg_index *pipe, *gpu; /* rows of pipe.def and gpu.def */
    enum cps_layout layout;           /* A5XX_PFP for the two processors of a5xx together */
    const uint64_t *epoch;            /* of the engine's memory */
    uint32_t *words;                  /* the image, from which processors are started; a5xx: both */
    uint32_t word_count;
    struct cps_config made; /* from which it was made; its images are `words` */
    struct cps_item chip;   /* the last one that came */
    struct origin *origin;  /* stores the origins of values (origin/); NULL: none */
    uint64_t instr_iova;
    uint64_t ring_iova;
    uint32_t ring_dwords; /* size */
    uint32_t ring_wptr;   /* dwords */
    uint32_t lpac_wptr;   /* the same of LPAC's ring; 0: nothing was submitted there */
    uint32_t workarounds; /* a5xx: that word of CP_ME_INIT */
    uint64_t repeats;     /* repetitions after the first */
    uint64_t packets_by_id[6][128];
    struct turn turn;
    struct stillness stillness;
    struct injection injection[MAX_INJECTIONS + 1]; /* in order of submission and packet */
    unsigned injection_count, injection_next;
    uint32_t watched; /* packets are places to interrupt: preempt_watch_() */
    struct rings rings;
    struct msm msm;
    uint32_t submission;                      /* index of the one that runs */
    uint32_t submission_packets;              /* that core 0 has dispatched of it */
    uint32_t shared[SHARED_COUNT];            /* scratch that all processors see, control 0x200.. */
    uint32_t completed[2];                    /* a7xx: COMPLETED_BR_COUNT, COMPLETED_BV_COUNT */
    uint64_t samples;                         /* that the sample counter has counted */
    struct reg_bank *bank[PIPE_COUNT];        /* a7xx on */
    uint8_t behaves[GPU_REGS / REG_BLOCK];    /* some register of the block does */
    uint8_t touched[GPU_REGS / TOUCHED_REGS]; /* by TOUCHED_REGS registers: one of them, or its
                                                 flags, may have changed since clone or restore */
    uint8_t reg_flags[GPU_REGS];              /* enum reg_flag */
    uint32_t reg[GPU_REGS];
};

/* Which firmware it is: the id in the first word of the image. */
static inline uint32_t machine_id_(const struct cps_afuc *machine)
{
    return machine->words ? machine->words[0] >> 12 & 0xfff : 0;
}

/* GPU register by which the driver asks for preemption, addresses after it (D). */
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

/** The registers through which the ME of a5xx reads memory: address and length (me.c). */
enum { ME_READ_PORT = 0x80d, ME_READ_PORT_REGS = 3 };

enum reg_flag {
    REG_WRITTEN = 1,  /* somebody gave it a value */
    REG_REPORTED = 2, /* UNMODELLED was emitted */
    REG_BEHAVES = 4,  /* gpu.def has a row, it switches CP_PROTECT, it is watched, or the host may
                         have it */
    REG_WATCHED = 8,  /* cps_engine_watch() */
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

/** Whether a wait that only the rest of the GPU would end gets its value. Memory may be written by
 * the program that runs the engine; registers of other blocks, and words on the chip, may not. */
static inline bool machine_waits_end_(const struct cps_afuc *machine, bool in_memory)
{
    switch ((enum cps_policy_waits)machine->engine.policy.waits) {
    case CPS_WAITS_SATISFY:
        return true;
    case CPS_WAITS_STOP:
        return false;
    case CPS_WAITS_REGISTERS:
        return !in_memory;
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

/** Whether the ring has what the kernel's msm driver writes around streams. */
static inline bool machine_rings_as_msm_(const struct cps_afuc *machine)
{
    switch ((enum cps_policy_ring)machine->engine.policy.ring) {
    case CPS_RING_CALLS:
        return false;
    case CPS_RING_MSM:
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

/** The register, or its flags, will differ from the machine that this one is a clone of. */
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

/** The same of an address in two of them, the low half first. */
static inline void machine_set_pair_(struct cps_afuc *machine, uint32_t offset, uint64_t value)
{
    machine_set_reg_(machine, offset, (uint32_t)value);
    machine_set_reg_(machine, offset + 1, (uint32_t)(value >> 32));
}

/* ---- GPU registers that each pipe has for itself, from a7xx on ----
 *
 * BR's are the machine's own array; what another pipe has not written reads as BR's do, because the
 * driver writes most of them for all pipes at once.
 *
 * D: apertures of the host (kernel: a6xx_gpu_state.c, a8xx_gpu.c), whose format control register
 * APERTURE has. Data that goes through the pipe is the core's own; REG_WRITE and REG_READ go where
 * the aperture points. Slices of a8xx are not told apart. */

enum { PIPE_BR = 1 };
/** The registers of clusters, and on a8xx those of the command processor. */
enum { BANK_CLUSTERS = 0x8000, BANK_CLUSTER_REGS = 0x4000, BANK_CP = 0x800, BANK_CP_REGS = 0x400 };
#define BANK_REGS (BANK_CLUSTER_REGS + BANK_CP_REGS)

struct reg_bank {
    bool touched; /* as cps_afuc.touched */
    uint32_t reg[BANK_REGS];
    uint8_t written[BANK_REGS];
};

/** Makes the banks that the machine's processors need. */
CPS_MUST_USE struct cps_err *bank_init_(struct cps_afuc *machine);
/** Replaces the banks of a copied machine by copies. */
CPS_MUST_USE struct cps_err *bank_clone_(struct cps_afuc *copy);
/** Makes banks as those of the machine that this one is a clone of. */
void bank_restore_(struct cps_afuc *machine, const struct cps_afuc *from);
void bank_deinit_(struct cps_afuc *machine);
/** The pipe of enum adreno_pipe that a processor is, and the one whose clusters it feeds. */
unsigned bank_pipe_(enum cps_processor who);
unsigned bank_fed_(enum cps_processor who);
/** The pipe that REG_WRITE and REG_READ of @p core reach; 0: all. At most 15. */
unsigned bank_aperture_(const struct afuc_core *core);

/** After a write for all pipes: none has a value of its own any more. */
void bank_forget_(struct cps_afuc *machine, uint32_t offset);

/** The bank that holds a register of @p pipe, with its place in it; NULL: the machine's array. */
static inline struct reg_bank *bank_of_(const struct cps_afuc *machine, unsigned pipe,
                                        uint32_t offset, uint32_t *ret)
{
    struct reg_bank *bank = machine->bank[pipe % PIPE_COUNT];
    if (CPS_LIKELY(!bank))
        return NULL;
    *ret = offset - BANK_CLUSTERS;
    if (*ret < BANK_CLUSTER_REGS)
        return bank;
    *ret = offset - BANK_CP + BANK_CLUSTER_REGS;
    bool cp = machine->layout == CPS_LAYOUT_A8XX && offset - BANK_CP < BANK_CP_REGS;
    return cp ? bank : NULL;
}

/** What a register of @p pipe holds. */
static inline uint32_t bank_get_(const struct cps_afuc *machine, unsigned pipe, uint32_t offset)
{
    uint32_t at = 0;
    const struct reg_bank *bank = bank_of_(machine, pipe, offset, &at);
    return bank && bank->written[at] ? bank->reg[at] : machine->reg[offset % GPU_REGS];
}

/** Whether somebody gave it a value. */
static inline bool bank_written_(const struct cps_afuc *machine, unsigned pipe, uint32_t offset)
{
    uint32_t at = 0;
    const struct reg_bank *bank = bank_of_(machine, pipe, offset, &at);
    return (bank && bank->written[at]) || machine->reg_flags[offset] & REG_WRITTEN;
}

/** Gives it a value, without effect. @return whether it is another one than before */
static inline bool bank_set_(struct cps_afuc *machine, unsigned pipe, uint32_t offset,
                             uint32_t value)
{
    uint32_t at = 0;
    struct reg_bank *bank = bank_of_(machine, pipe, offset, &at);
    bool changed = bank_get_(machine, pipe, offset) != value;
    if (!bank) {
        machine_set_reg_(machine, offset, value);
        if (!pipe && cps_gen_since(machine->engine.gen, CPS_A7XX))
            bank_forget_(machine, offset);
        return changed;
    }
    bank->touched = true;
    bank->reg[at] = value;
    bank->written[at] = 1;
    return changed;
}

/* ---- GPU registers: gpu.c ---- */

/** Raises an interrupt. */
void machine_irq_(struct afuc_core *core, uint32_t number);

CPS_MUST_USE struct cps_err *gpu_init_(struct cps_afuc *machine);
/** As cps_engine_watch(). */
void gpu_watch_(struct cps_engine *engine, uint32_t offset);
/** Calls the function that does launched work: work.c. */
void work_call_(struct afuc_core *core, unsigned kind, uint32_t offset, uint32_t value);
uint32_t gpu_read_(struct afuc_core *core, uint32_t offset);
void gpu_write_(struct afuc_core *core, uint32_t offset, uint32_t value, unsigned path);

/** Whether CP_PROTECT forbids the access to any of @p count registers. */
bool gpu_protected_(const struct afuc_core *core, uint32_t offset, uint32_t count, bool write);

/** Whether the protected mode puts writes through `$usraddr` under CP_PROTECT on the level at hand
 * (ctrl.def, PROTECTED_MODE). */
static inline bool gpu_mode_protects_(const struct afuc_core *core)
{
    uint32_t bit = core->protected_bit[core->s.level != CPS_LEVEL_RB];
    return !bit || (core->s.control[core->privilege[1]] & bit);
}

/* ---- cores and their images: load.c ---- */

/** Another processor starts at @p iova, which must lie in the firmware's image. */
void machine_start_core_(struct afuc_core *by, enum cps_processor who, uint64_t iova);
/** Decodes the image that begins at dword @p start of @p words and lets the core run. */
CPS_MUST_USE struct cps_err *machine_load_core_(struct afuc_core *core, const uint32_t *words,
                                                uint32_t count, uint32_t start);

CPS_MUST_USE struct cps_err *afuc_load_(const uint32_t *words, uint32_t count, enum cps_gen gen,
                                        struct afuc_image **ret);
/** Decodes @p word as dword @p pc of @p image, which nobody else may share. */
void afuc_patch_(struct afuc_image *image, uint32_t pc, uint32_t word, enum cps_gen gen);
void afuc_image_unref_(struct afuc_image *image);

/* ---- the row of the engine: machine.c, driver.c, inspect.c ---- */

struct cps_err *machine_clone_(struct cps_engine *from, struct cps_engine **ret);
struct cps_err *machine_restore_(struct cps_engine *engine, struct cps_engine *original);
void machine_destroy_(struct cps_engine *engine);
struct cps_err *machine_feed_(struct cps_engine *engine, const struct cps_item *item);
/** CPS_ITEM_RECOVER, but for its event. @return NULL or CPS_ERR_NOMEM: then nothing has changed */
CPS_MUST_USE struct cps_err *machine_recover_(struct cps_afuc *machine);
struct cps_where machine_where_(const struct cps_engine *engine, unsigned core);
bool machine_get_(struct cps_engine *engine, struct cps_location place, uint64_t *ret);
bool machine_set_(struct cps_engine *engine, struct cps_location place, uint64_t value);
bool machine_waits_for_(const struct cps_engine *engine, enum cps_stop stop, struct cps_wait *ret);
void machine_explain_(const struct cps_engine *engine, enum cps_stop stop, struct cps_buf *out);

/* ---- the interpreter: run.c ---- */

/** Runs at most @p budget instructions; returns how many ran. */
uint64_t afuc_run_(struct afuc_core *core, uint64_t budget);
/** The same for whoever watches: STEP events, counters or a log of branches. */
uint64_t afuc_run_watched_(struct afuc_core *core, uint64_t budget);
/** cps_edge.privilege of a core that has a log, as it is now. */
uint8_t afuc_privilege_(const struct afuc_core *core);

/* ---- turns of the cores, and loops that they are in: sched.c ---- */

enum cps_stop machine_run_(struct cps_engine *engine, uint64_t ticks);
/** Whether the core waits for the next packet, and there is none. */
bool core_idle_(const struct afuc_core *core);

/* ---- what the driver does with rings, and to switch between them: rings.c ---- */

/** Puts words after what the ring at hand holds (rings.fed), as the driver does before it moves the
 * write pointer. */
bool machine_ring_(struct cps_afuc *machine, const uint32_t *words, unsigned count);
/** Words that still fit into the current ring: the writer must not pass a reader. */
uint32_t machine_ring_room_(const struct cps_afuc *machine);
/** The same with LPAC's ring. */
bool machine_ring_lpac_(struct cps_afuc *machine, const uint32_t *words, unsigned count);
/** With `ring=msm`: whether the ring has room for @p words. @return NULL or CPS_ERR_INPUT */
struct cps_err *msm_room_(struct cps_afuc *machine, uint32_t words);
/** With `ring=msm`: what comes before the first stream of a submission; of others nothing.
 * @param packets  gets how many packets that is */
struct cps_err *msm_begin_(struct cps_afuc *machine, uint32_t context, uint32_t *packets);
/** The page table of a context, as CP_SMMU_TABLE_UPDATE has it: nothing is there. */
uint64_t msm_table_(uint32_t context);
/** With `ring=msm`: what comes after the last stream. */
struct cps_err *msm_end_(struct cps_afuc *machine, uint32_t seqno);
enum { RINGS_BEGIN_WORDS = 16, RINGS_YIELD_WORDS = 5 };
/** After CP_ME_INIT: the records of all rings, and where the firmware finds the first's. */
void rings_prepare_(struct cps_afuc *machine);
/** With `ring=calls`: packets before and after the stream of a submission.
 * @return how many packets */
uint32_t rings_begin_(struct cps_afuc *machine);
void rings_end_(struct cps_afuc *machine);
/** Packets of the driver: where the firmware saves the ring at hand, and that it may leave it. */
void rings_save_words_(const struct cps_afuc *machine, uint32_t ret[RINGS_BEGIN_WORDS]);
void rings_yield_words_(uint32_t ret[RINGS_YIELD_WORDS]);
/** An injection asks for the other ring, which has a submission without streams. False if there is
 * none. */
bool rings_request_(struct cps_afuc *machine);
/** Whether an injected switch has led to the other ring. */
static inline bool rings_away_(const struct cps_afuc *machine)
{
    return machine->rings.injected && machine->rings.current;
}
/** All processors wait; true if the driver switches back from an injected switch. */
bool rings_idle_(struct cps_afuc *machine);
/** The firmware has left its routine. */
void rings_returned_(struct afuc_core *core);
/** Handlers of the CP_RB_* registers, and of the SMMU's. */
cps_reg_write rings_write_base_, rings_write_rptr_, rings_write_wptr_, rings_write_table_;
cps_reg_read rings_read_base_, rings_read_pointer_;

#endif
