/* SPDX-License-Identifier: MIT
 * What every engine is: one microcontroller with a state of plain bytes, on a bus. Whoever runs,
 * steps, traces or compares engines knows these six members, the bus, and nothing else.
 *
 * To add an engine:
 *   1. its instruction set (isa/isa.h; without code, a set without rows), its generations, and
 *      layouts for names;
 *   2. NAME.c: a struct of plain bytes, handlers for the OP rows, a cps_loop, and one
 * cps_engine_ops;
 *   3. rows in nv_reg.def for the registers it is reached by: the host feeds it through the bus;
 *   4. a row in engine.c.
 *
 * Time and events are the bus's, because the host, the engine and the rest of the chip share them.
 */
#ifndef CPS_ENGINE_H
#define CPS_ENGINE_H

#include "emu/nv/bus.h"
#include "emu/emu.h"

/** One register of an engine's state, for debuggers and summaries. */
struct cps_reg {
    const char *name;
    uint16_t offset; /**< in the state */
    uint8_t size;    /**< bytes: 1, 2, 4 or 8 */
};
struct cps_regset {
    const struct cps_reg *reg;
    size_t count;
};

struct cps_engine;

struct cps_engine_ops {
    const char *name;
    const struct cps_isa *isa; /**< of PFIFO one without code */
    const struct cps_regset *regs;
    size_t state_size; /**< plain bytes: a copy is a checkpoint */
    /** The state as after power-on, and the engine's registers on the bus. */
    void (*reset)(struct cps_engine *engine);
    /**
     * Executes until there is nothing to do (IDLE), @p budget instructions are done or the bus's
     * `until` is reached (BUDGET), nothing but the host can help (DEADLOCK), or a FAULT.
     */
    enum cps_stop (*run)(struct cps_engine *engine, uint64_t budget);
};

struct cps_engine {
    const struct cps_engine_ops *ops;
    struct cps_bus *bus;
    void *state;           /**< of ops->state_size bytes; owned */
    uint64_t instructions; /**< so far; of PFIFO commands that the puller took */
    uint64_t starts;       /**< scripts that were started; of PFIFO commands that CACHE1 took */
};

/** Makes an engine and its bus. @p gen says which engine it is, see cps_gen_isa().
 * @return NULL, or CPS_ERR_NOMEM / CPS_ERR_UNSUPPORTED; the caller destroys @p ret */
CPS_PUBLIC CPS_MUST_USE struct cps_err *
cps_engine_create(enum cps_gen gen, const struct cps_policy *policy, struct cps_engine **ret);
CPS_PUBLIC void cps_engine_destroy(struct cps_engine *engine);
/** The value of register @p index of ops->regs. */
CPS_PUBLIC uint64_t cps_engine_reg(const struct cps_engine *engine, size_t index);
/** Bytes of the code RAM of an HWSQ. */
CPS_PUBLIC uint32_t cps_hwsq_ram(enum cps_gen gen);
/** Whether a read or write of the host would stall now: G80 and later, memory paused. */
CPS_PUBLIC bool cps_engine_host_stalled(const struct cps_engine *engine);

/** Most objects that a run file may name. */
#define CPS_PFIFO_OBJECTS 256u

/** hwsq.c, seq.c, pfifo.c, vp1.c */
extern const struct cps_engine_ops cps_hwsq_ops, cps_seq_ops, cps_pfifo_ops, cps_vp1_ops;

/** What the loop of an engine asks of it. @p who  whose turn it is: a slot, the script */
struct cps_loop {
    void *(*next)(struct cps_engine *engine); /**< whose turn it is; NULL: there is nothing to do */
    bool (*waits)(const struct cps_engine *engine, const void *who);
    /** Lets time pass until the wait is over. IDLE: it is; else how the run stops */
    enum cps_stop (*wait)(struct cps_engine *engine, void *who);
    /** One instruction. IDLE: go on */
    enum cps_stop (*execute)(struct cps_engine *engine, void *who);
};
/** The loop of every engine, as cps_engine_ops.run has to be. */
enum cps_stop cps_engine_loop_(struct cps_engine *engine, const struct cps_loop *loop,
                               uint64_t budget);
/** How waiting ended: as it should, at its deadline, or not at all. */
enum cps_await { CPS_AWAIT_MET, CPS_AWAIT_LATE, CPS_AWAIT_HELD };
/** Lets time pass until @p holds, or to the tick @p deadline; asks whenever something has changed.
 */
enum cps_await cps_engine_await_(struct cps_engine *engine,
                                 bool (*holds)(struct cps_engine *engine, const void *who),
                                 const void *who, uint64_t deadline);
/** How a run stops that only the host can help: DEADLOCK, or BUDGET if it acts later. */
enum cps_stop cps_engine_held_(struct cps_engine *engine);

/** Values that a STEP event of HWSQ and SEQ may show, as $00, $01 and so on. */
#define CPS_STEP_REGS 4u
/** Emits the STEP of an instruction at @p pc that changed registers, @p count of them and at most
 * 32, from @p before to @p after. */
void cps_engine_step_(struct cps_engine *engine, unsigned who, uint32_t pc, const uint32_t *before,
                      const uint32_t *after, unsigned count);

#endif
