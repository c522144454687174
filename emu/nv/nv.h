/* SPDX-License-Identifier: MIT
 * What the NVIDIA engines have in common. Private to emu/nv/ and its tests.
 *
 * An engine here is a struct of plain bytes, rows for the registers it is reached by (reg.def), and
 * a struct nv_kind. The host feeds it through the bus: while the host acts, no script runs; scripts
 * run in a wait, a run, at the end, or while the host is stalled. */
#ifndef CPS_NV_H
#define CPS_NV_H

#include <stddef.h>

#include "emu/mem.h"
#include "emu/reg.h"
#include "emu/tap.h"

/** HWSQ's flags: values, and which override. */
struct cps_flags {
    uint32_t value, enable;
};

/** At a tick, an event or a register gets a value. */
struct cps_bus_change {
    uint64_t tick;
    bool is_event;
    uint32_t number, value;
};

/* Registers by byte address, the timer, events, HWSQ's flags, and the timeline of what the rest of
 * the chip does. It does not know which engine is on it. Registers that hold what was written are
 * in the engine's memory.
 *
 * Time is a count of ticks, 32 ns for HWSQ (a clock of PTIMER) and 1 ns for SEQ. It passes only
 * when the engine says so, so two runs are the same. */
struct cps_bus {
    struct cps_reg_index *rows;
    uint64_t clock;                /* ticks since the start */
    uint64_t until;                /* no engine lets time pass this tick: the host acts there */
    struct cps_bus_change *change; /* by tick */
    size_t changes, changes_done;
    uint32_t events; /* bit n is event n */
    bool graph_idle; /* CPS_EVENT_PGRAPH_IDLE, which EVENTS does not show */
    bool stopped;
    struct cps_flags flags;
    uint64_t pause_due;                /* UINT64_MAX: no pause is under way */
    uint64_t noted[CPS_UNKNOWN_COUNT]; /* the place of the last one, and 1 */
    uint64_t told;                     /* the last TICK */
    struct cps_event why;              /* what the engine stopped for, if it did */
};

struct nv {
    struct cps_engine engine; /* first */
    struct cps_bus bus;
    struct cps_reg_index *inner; /* rows that the engine looks up itself; NULL: none */
    void *state;                 /* of kind->state_size plain bytes: a copy is a checkpoint */
    struct cps_item host; /* the access, wait or run under way; its kind is TEXT when none is */
    uint64_t wait_end;    /* of a wait, in ticks of the bus */
};

/* What the loop of an engine asks of it. @p who  whose turn it is: a slot, the script */
struct nv_loop {
    void *(*next)(struct nv *e); /* whose turn it is; NULL: there is nothing to do */
    /* Whether it waits; NULL: never. */
    bool (*waits)(const struct nv *e, const void *who);
    /* Lets time pass until the wait is over. IDLE: it is; else how the run stops */
    enum cps_stop (*wait)(struct nv *e, void *who);
    /* One instruction, which it counts in engine.instructions. IDLE: go on */
    enum cps_stop (*execute)(struct nv *e, void *who);
};

/* What one NVIDIA engine is, beside its row in engine.c. Members that it does not need are NULL. */
struct nv_kind {
    size_t state_size;
    struct cps_reg_table rows;         /* of reg.def: what the bus finds */
    const struct cps_reg_table *inner; /* registers that those lead to; NULL: none */
    struct nv_loop loop;
    uint8_t who[2]; /* enum cps_processor of its cores */
    /* How many cores; NULL: one. */
    unsigned (*cores)(enum cps_gen gen);
    /* The state, which is zero, as after power-on. */
    void (*reset)(struct nv *e);
    /* Before a run: the host may have done something about what holds it. */
    void (*begin)(struct nv *e);
    /* A script goes where the engine fetches it. */
    struct cps_err *(*load)(struct nv *e, const struct cps_item *item);
    /* Whether an access to a register is one to memory; NULL: none is. */
    bool (*memory)(const struct nv *e, uint32_t addr, bool write);
    /* Appends what a core that hangs hangs on, if there is more to say than that. */
    void (*hangs)(const struct nv *e, unsigned core, struct cps_buf *out);
    /* Whether a script ended by a check of its own, and the host did not look: when the host is
     * done, that is how the run ends. */
    bool (*failed)(const struct nv *e);
    struct cps_where (*where)(const struct nv *e, unsigned core);
    bool (*set_pc)(struct nv *e, unsigned core, bool next, uint32_t pc);
    /* A unit of code, and a return address. */
    bool (*code)(struct nv *e, uint64_t at, uint64_t *ret);
    bool (*set_code)(struct nv *e, uint64_t at, uint64_t value);
    uint32_t (*back)(const struct nv *e, unsigned level);
};

/* Of a register's handler. */
static inline struct nv *nv_of_(const struct cps_access *at)
{
    return at->device;
}
static inline const struct nv_kind *nv_kind_(const struct nv *e)
{
    return e->engine.ops->kind;
}
/* Whether there are instructions; else what the host does are the steps. */
static inline bool nv_has_code_(const struct nv *e)
{
    return cps_isa_has_code(e->engine.ops->isa);
}

/* ---- the bus: bus.c ---- */

/* Names in the columns of reg.def that are no handlers. */
#define read_NONE    cps_reg_read_none_
#define write_NONE   cps_reg_write_none_
#define read_STORED  NULL
#define write_STORED NULL
/** A row of reg.def. */
#define NV_ROW(bits, low, high, rd, wr) \
    CPS_REG_ROW(bits, low, ((high) - (low)) / 4 + 1, 4, .read = read_##rd, .write = write_##wr)

/** Makes the bus of @p e with its own registers and those of its kind, whose handlers replace the
 * store; also on error the caller calls cps_bus_deinit_(). @param limit  bytes of memory; 0: the
 * default */
CPS_MUST_USE struct cps_err *cps_bus_init_(struct nv *e, uint64_t limit);
/** Replaces what the bus of a copied engine owns by copies. */
CPS_MUST_USE struct cps_err *cps_bus_clone_(struct nv *copy);
void cps_bus_deinit_(struct nv *e);

/** Emits a TICK if time has passed since the last one. */
void cps_bus_tell_time_(struct nv *e);
/** Appends what the engine stopped for and where, if it did. */
void cps_bus_why_(const struct nv *e, struct cps_buf *out);
/** Emits an event, after a TICK if time has passed since the last one. */
void cps_bus_put(struct nv *e, unsigned kind, unsigned sub, const struct cps_by *by, uint64_t addr,
                 uint32_t value);
/** Reports that what no source says was decided, once for each place in a row. */
void cps_bus_unknown(struct nv *e, enum cps_unknown what, const struct cps_by *by, uint32_t detail);
/** The same where it stops the script. */
void cps_bus_unknown_stop_(struct nv *e, enum cps_unknown what, const struct cps_by *by);

/** A register access with all its effects and events. The low two bits of @p addr are reported and
 * ignored. A read of what was never written gives 0 after an UNMODELLED event. */
uint32_t cps_bus_read(struct nv *e, uint32_t addr, const struct cps_by *by);
void cps_bus_write(struct nv *e, uint32_t addr, uint32_t value, const struct cps_by *by);
/** A write of some bytes of a word: a bit of @p lanes each, bit 0 the lowest; @p value has them in
 * their places. The event has the address of the first one and by->path. */
void cps_bus_write_lanes(struct nv *e, uint32_t addr, unsigned lanes, uint32_t value,
                         const struct cps_by *by);
/** For handlers of a range with holes: as if the device was not there. */
uint32_t cps_bus_read_plain_(const struct cps_access *at);
void cps_bus_write_plain_(const struct cps_access *at);
/** Memories beside the registers, by byte address; no effects, no events. */
enum cps_bus_memory {
    CPS_MEMORY_RAMIN = 1, /**< the memory of NVIDIA's engines on the card */
    CPS_MEMORY_HOST = 2,  /**< the host's, by physical address */
    CPS_MEMORY_PROGRAM,   /**< what VP1 fetches its program from */
    CPS_MEMORY_VRAM,      /**< the card's, by its own addresses; RAMIN at its end is kept apart */
};
uint32_t cps_bus_peek(const struct nv *e, enum cps_bus_memory memory, uint32_t addr, bool *known);
void cps_bus_poke(struct nv *e, enum cps_bus_memory memory, uint32_t addr, uint32_t value);
/** A write of the host's that is no event of the run: code, and values from the timeline. */
void cps_bus_load(struct nv *e, uint32_t addr, uint32_t value);
/** What the hardware at a register sees, with the flags that are forced. No effects, no events. */
uint32_t cps_bus_effective(struct nv *e, uint32_t addr);
/** A register as it is stored; no effects. */
uint32_t cps_bus_stored_(const struct nv *e, uint32_t addr);

/** Nanoseconds since the start. */
uint64_t cps_bus_ns_(const struct nv *e);
/** Lets time pass up to @p tick and does what the timeline has until then. */
void cps_bus_advance(struct nv *e, uint64_t tick);
/** When the timeline or the memory controller change something next; UINT64_MAX: never. */
uint64_t cps_bus_next_(const struct nv *e);
/** Adds to the timeline; calls are in order of ticks. @return NULL or CPS_ERR_NOMEM */
CPS_MUST_USE struct cps_err *cps_bus_schedule(struct nv *e, uint64_t tick, bool is_event,
                                              uint32_t number, uint32_t value);
/** The rest of the chip, which is not there, would have given event @p number this value. */
void cps_bus_assume_event_(struct nv *e, unsigned number, bool value, const struct cps_by *by);
void cps_bus_set_flags_(struct nv *e, struct cps_flags flags, const struct cps_by *by);
/** Whether flag 16 requests the pause. */
bool cps_bus_pausing_(const struct nv *e);
/** Whether it is known what flag @p number forces on this chip. */
bool cps_bus_flag_known_(const struct nv *e, unsigned number);

/* ---- the loop of an engine, and waiting: host.c ---- */

/* Lets the engine run up to @p budget instructions or the bus's `until`. */
enum cps_stop nv_loop_(struct nv *e, uint64_t budget);
/* How waiting ended: as it should, at its deadline, or not at all. */
enum cps_await { CPS_AWAIT_MET, CPS_AWAIT_LATE, CPS_AWAIT_HELD };
/* Lets time pass until @p holds, or to the tick @p deadline; asks whenever something has changed.
 */
enum cps_await nv_await_(struct nv *e, bool (*holds)(struct nv *e, const void *who),
                         const void *who, uint64_t deadline);
/* How a run stops that only the host can help: DEADLOCK, or BUDGET if it acts later. */
enum cps_stop nv_held_(struct nv *e);
/* Values that a STEP event of HWSQ and SEQ may show, as $00, $01 and so on. */
#define CPS_STEP_REGS 4u
/* Emits the STEP of an instruction at @p pc that changed registers, @p count of them and at most
 * 32, from @p before to @p after. */
void nv_step_(struct nv *e, unsigned who, uint32_t pc, const uint32_t *before,
              const uint32_t *after, unsigned count);

/* ---- the host that drives an engine: host.c ---- */

/* Begins what the host does; it may have to wait until the engine lets it. */
struct cps_err *nv_host_begin_(struct nv *e, const struct cps_item *item);
/* Goes on with what the host does. */
enum cps_stop nv_host_run_(struct nv *e, uint64_t ticks);
/** The clock is that of what has run by now, of which each instruction is a change: it moves the
 * pointer. */
void nv_host_count_(struct nv *e);
/* The word at byte @p at of a script, filled up. */
uint32_t nv_word_(const struct cps_item *item, size_t at);
/* Whether the access of the host under way stalls while memory is paused: from G80 on any, on NV41
 * one that leads to memory. */
bool nv_host_stalled_(const struct nv *e);
/* Whether an access of the host is under way that stalls. */
bool nv_host_waits_(const struct nv *e);

/* ---- the rows of all NVIDIA engines: nv.c ---- */

/** Bytes of the code RAM of an HWSQ of generation @p gen (envytools, hwdocs/hwsq). */
uint32_t cps_hwsq_ram(enum cps_gen gen);

/** A row of struct cps_reg: a member of an engine's state, as people type it. */
#define NV_VALUE(type, name, member)                                          \
    {                                                                         \
        name, offsetof(type, member), (uint8_t)sizeof(((type *)NULL)->member) \
    }
/** Rows of struct cps_file: the values of `regs`, and the registers of the chip. */
#define NV_FILE_VALUES                                                    \
    {                                                                     \
        CPS_FILE_SCALAR, 64, 1, "value", sizeof(regs) / sizeof((regs)[0]) \
    }
#define NV_FILE_REGISTERS                                       \
    {                                                           \
        CPS_FILE_REGISTER, 32, 4, "register", UINT64_C(1) << 32 \
    }

/** The row of engine @p id for engine.c, of the file's own `regs`, `files` and `kind`. */
#define NV_ENGINE(id)                                   \
    extern const struct cps_engine_ops cps_##id##_ops_; \
    const struct cps_engine_ops cps_##id##_ops_ = {     \
        .name = #id,                                    \
        .isa = &cps_isa_##id,                           \
        .file = files,                                  \
        .files = sizeof(files) / sizeof(files[0]),      \
        .reg = regs,                                    \
        .regs = sizeof(regs) / sizeof(regs[0]),         \
        .create = nv_create_,                           \
        .destroy = nv_destroy_,                         \
        .clone = nv_clone_,                             \
        .feed = nv_feed_,                               \
        .run = nv_run_,                                 \
        .where = nv_where_,                             \
        .get = nv_get_,                                 \
        .set = nv_set_,                                 \
        .explain = nv_explain_,                         \
        .kind = &kind,                                  \
    }

struct cps_err *nv_create_(const struct cps_engine_ops *ops, const struct cps_config *config,
                           struct cps_engine **ret);
void nv_destroy_(struct cps_engine *engine);
struct cps_err *nv_clone_(struct cps_engine *from, struct cps_engine **ret);
struct cps_err *nv_feed_(struct cps_engine *engine, const struct cps_item *item);
enum cps_stop nv_run_(struct cps_engine *engine, uint64_t ticks);
void nv_explain_(const struct cps_engine *engine, enum cps_stop stop, struct cps_buf *out);
struct cps_where nv_where_(const struct cps_engine *engine, unsigned core);
bool nv_get_(struct cps_engine *engine, struct cps_location place, uint64_t *ret);
bool nv_set_(struct cps_engine *engine, struct cps_location place, uint64_t value);

#endif
