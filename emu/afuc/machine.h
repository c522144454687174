/* SPDX-License-Identifier: MIT
 * The machine that cores share: GPU registers, memory, ring, event buffer, policies. Private to
 * emu/. */
#ifndef CPS_MACHINE_H
#define CPS_MACHINE_H

#include "emu/afuc/core.h"

#define RING_DWORDS 8192u /* unless an item says otherwise */
#define MAX_CORES   4u
#define MAX_PLACES  65536u

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

struct cps_afuc {
    struct cps_engine engine; /* first */
    struct afuc_core core[MAX_CORES];
    struct afuc_image *image[MAX_CORES];
    enum cps_layout layout; /* A5XX_PFP for the two processors of a5xx together */
    const uint64_t *epoch;  /* of the engine's memory */
    uint32_t *words;        /* the image, from which processors are started */
    uint32_t word_count;
    uint64_t instr_iova;
    uint64_t ring_iova;
    uint32_t ring_dwords; /* size */
    uint32_t ring_wptr;   /* dwords */
    uint32_t workarounds; /* a5xx: that word of CP_ME_INIT */
    uint64_t repeats;     /* repetitions behind the first */
    uint64_t packets_by_id[6][128];
    struct turn turn;
    struct stillness stillness;
    struct injection injection[MAX_INJECTIONS + 1]; /* in order of submission and packet */
    unsigned injection_count, injection_next;
    uint32_t submission;         /* index of the one that runs */
    uint32_t submission_packets; /* that core 0 has dispatched of it */
    uint32_t shared[0x100];      /* scratch that all processors see, control 0x200.. */
    uint8_t reg_flags[GPU_REGS]; /* enum reg_flag */
    uint32_t reg[GPU_REGS];
};

/* Whether the next @p words words of the stream lie in the window: of an indirect buffer, stored,
 * before its end. The rest of queue.c is for all that this is not. */
static inline bool words_at_hand_(const struct afuc_core *core, uint32_t words)
{
    return core->window_left >= words && core->window_left && !core->s.injected &&
           core->s.level >= LEVEL_IB1 && core->s.level <= LEVEL_SDS &&
           core->window_epoch == *core->machine->epoch;
}

static inline bool has_words_(struct afuc_core *core, uint32_t words)
{
    return CPS_LIKELY(words_at_hand_(core, words)) || stream_has_(core, words);
}

static inline uint32_t peek_word_(struct afuc_core *core)
{
    return CPS_LIKELY(words_at_hand_(core, 1)) ? *core->window : stream_peek_(core);
}

static inline uint32_t pop_word_(struct afuc_core *core)
{
    if (CPS_UNLIKELY(!words_at_hand_(core, 1)))
        return stream_pop_(core);
    core->s.r[R_REM]--;
    core->s.queue[core->s.level].pos++;
    core->window_left--;
    return *core->window++;
}

/* GPU register by which the driver asks for preemption (D). */
#define CP_CONTEXT_SWITCH_CNTL 0x8a0u

enum reg_flag {
    REG_WRITTEN = 1,  /* somebody gave it a value */
    REG_REPORTED = 2, /* UNMODELLED was emitted */
    REG_BEHAVES = 4,  /* gpu.def has a row, or the host may have it */
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

/* gpu.c: GPU registers. */
void gpu_init_(struct cps_afuc *machine);
uint32_t gpu_read_(struct afuc_core *core, uint32_t offset);
void gpu_write_(struct afuc_core *core, uint32_t offset, uint32_t value, unsigned path);

/** Whether CP_PROTECT forbids anything. */
bool gpu_protects_(const struct cps_afuc *machine);
/** Whether CP_PROTECT forbids the access to any of @p count registers. */
bool gpu_protected_(const struct cps_afuc *machine, uint32_t offset, uint32_t count, bool write);

/* memory with events; nrt.c */
uint32_t core_mem_read_(struct afuc_core *core, uint64_t iova, unsigned via);
void core_mem_write_(struct afuc_core *core, uint64_t iova, uint32_t value, unsigned via);
void nrt_write_(struct afuc_core *core, uint32_t value);
void event_stamp_(struct afuc_core *core, uint32_t value);
void event_stamp_high_(struct afuc_core *core, uint32_t value);

/* driver.c: what the kernel's driver does. */
struct cps_err *machine_feed_(struct cps_engine *engine, const struct cps_item *item);
/* host.c: the program around the engine, in the place of the driver and of other hardware. */
/** CPS_ITEM_WRITE and CPS_ITEM_READ. */
struct cps_err *machine_host_(struct cps_afuc *machine, const struct cps_item *item);
/** Whether the register is the host's, and its value. */
bool host_read_register_(struct cps_afuc *machine, uint32_t offset, uint32_t *ret);
/** Raises an interrupt. */
void machine_irq_(struct afuc_core *core, uint32_t number);
/* inspect.c */
/** Gives a GPU register a value, without effect. */
void machine_set_reg_(struct cps_afuc *machine, uint32_t offset, uint32_t value);
struct cps_where machine_where_(const struct cps_engine *engine, unsigned core);
bool machine_get_(struct cps_engine *engine, struct cps_place place, uint64_t *ret);
bool machine_set_(struct cps_engine *engine, struct cps_place place, uint64_t value);
void machine_explain_(const struct cps_engine *engine, enum cps_stop stop, struct cps_buf *out);
/* clone.c, sched.c */
struct cps_err *machine_clone_(struct cps_engine *from, struct cps_engine **ret);
enum cps_stop machine_run_(struct cps_engine *engine, uint64_t ticks);
void machine_destroy_(struct cps_engine *engine);

/** Another processor starts at @p iova, which must lie in the firmware's image. */
void machine_start_core_(struct afuc_core *by, enum cps_processor who, uint64_t iova);

/* wait.c: the policy about values that the rest of the GPU would write. */
void wait_policy_(struct afuc_core *core, uint32_t header);
/** Whether the words that the policy looks at are there: the ME gets them one by one. */
bool wait_ready_(struct afuc_core *core, uint32_t header);

/* packet.c */
unsigned event_level_(const struct afuc_core *core, uint32_t header);

/* sched.c */
/** Whether the core waits for the next packet, and there is none. */
bool core_idle_(const struct afuc_core *core);
uint64_t machine_run_core_(struct afuc_core *core, uint64_t budget);
/** Where the image of a core lies in GPU memory. */
uint64_t machine_image_iova_(const struct cps_afuc *machine, unsigned core);
/** Whether some core can never go on. */
bool machine_faulted_(const struct cps_afuc *machine);
/** Whether every core waits for the ring. */
bool machine_idle_(const struct cps_afuc *machine);
/** Why a machine that can do nothing and is not idle stopped. */
enum cps_stop machine_error_(const struct cps_afuc *machine);
/** Goes on with the round of turns, at most @p budget ticks; returns how many passed. A round in
 * which nobody ran has machine->turn.finished and not .ran. */
uint64_t machine_round_(struct cps_afuc *machine, uint64_t budget);

/* spin.c: whether the cores go round in circles of at most @p largest steps for ever. Steps them
 * until *ran, to which it adds, reaches @p budget. */
bool machine_spins_(struct cps_afuc *machine, uint64_t largest, uint64_t budget, uint64_t *ran);

#endif
