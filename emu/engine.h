/* SPDX-License-Identifier: MIT
 * What every engine is: one microcontroller, or several, with what surrounds it. Whoever runs,
 * steps, traces, compares or debugs knows this interface and nothing else.
 *
 * An engine does not know files: it is fed with items, and results leave as events through its tap.
 * It never prints, exits or blocks, and a run is the same on every machine. One thread at a time
 * may use an engine; engines share nothing that changes but pages of memory between clones, which
 * one thread must own together.
 *
 * To add an engine:
 *   1. a row of isa/target.def, and its instruction set (isa/isa.h; without code, a set without
 *      rows);
 *   2. a folder with its state, whose first member is a struct cps_engine, and its cps_engine_ops;
 *   3. rows (emu/reg.h) for the registers that behave;
 *   4. a row in engine.c.
 * The debugger, traces, coverage and every command then work on it. tests/engine/ is one of 60
 * lines.
 */
#ifndef CPS_ENGINE_H
#define CPS_ENGINE_H

#include "../isa/isa.h"
#include "host.h"
#include "policy.h"
#include "../trace/event.h"
#include "../trace/item.h"

CPS_C_BEGIN

struct cps_engine;
struct cps_mem;

/** Most processors that an engine has. */
#define CPS_MAX_CORES 8u

/** The part of a firmware image that one processor runs. */
struct cps_image {
    enum cps_processor who;
    uint32_t start; /**< dword of the image where the processor's own address 0 lies */
};

/** Everything an engine is made from. Zero is the default of each member; what pointers lead to is
 * copied. */
struct cps_config {
    enum cps_gen gen;         /**< which engine, and as which chip or ABI; 0: as `layout` says */
    struct cps_policy policy; /**< cps_policy_default() is not zero */
    uint64_t memory_limit;    /**< bytes; 0: the engine's default */
    /* Of engines that run firmware. */
    enum cps_layout layout;   /**< CPS_LAYOUT_A5XX_PFP stands for PFP and ME together */
    const uint32_t *words;    /**< the firmware image, without the leading dword of the file */
    uint32_t count;           /**< dwords */
    const uint32_t *me_words; /**< a5xx: the image of the ME */
    uint32_t me_count;
    struct cps_image image[CPS_MAX_CORES]; /**< parts of `words`, in scheduling order */
    unsigned image_count;
    uint32_t chip;        /**< what the chip identity control register reads */
    uint32_t variant;     /**< the same of CHIP_VARIANT; 0: as the generation's first chip */
    uint64_t instr_iova;  /**< where the image lies in GPU memory; 0: the default */
    struct cps_host host; /**< who owns memory and registers; all NULL: the engine */
};

/** Why cps_engine_run() came back. */
enum cps_stop {
    CPS_STOP_IDLE,       /**< all that was fed is done: feed it, or it is over */
    CPS_STOP_BUDGET,     /**< the ticks are used up */
    CPS_STOP_DEADLOCK,   /**< nothing can go on; cps_engine_explain() says what waits for what */
    CPS_STOP_FAULT,      /**< illegal instruction, an error that the firmware itself reported, or
                              something that no source says */
    CPS_STOP_BAD_PACKET, /**< the firmware reported a packet that it refuses */
};

/** Where a core stands. */
struct cps_where {
    uint32_t pc;    /**< unit (cps_isa_unit()) of its image that runs next */
    uint32_t npc;   /**< what runs behind that: differs from the next one in a delay slot */
    uint32_t depth; /**< of its call stack */
    uint32_t level; /**< nesting of its stream: 0 the ring */
    bool started;
    bool slot; /**< what stands at the pc is a delay slot */
};

/** Kinds of places in an engine; each has a row in cps_engine_ops.file, by its sigil. */
enum cps_file_sigil {
    CPS_FILE_GENERAL = '$',  /**< general registers of a core */
    CPS_FILE_CONTROL = '@',  /**< control registers of a core */
    CPS_FILE_SQE = '%',      /**< SQE registers of a core */
    CPS_FILE_SCALAR = '.',   /**< named values: cps_engine_ops.reg */
    CPS_FILE_STACK = '^',    /**< return addresses of a core, 0: of the routine that runs */
    CPS_FILE_PC = '!',       /**< 0 the pc, 1 the npc of a core */
    CPS_FILE_CODE = '#',     /**< words (or bytes) of a core's image, by its units */
    CPS_FILE_REGISTER = 'r', /**< registers of the chip */
    CPS_FILE_MEMORY = 'm',   /**< memory by byte address; of NVIDIA's engines the host's */
    CPS_FILE_RAMIN = 'n',    /**< memory of NVIDIA's engines on the card */
    CPS_FILE_PROGRAM = 'p',  /**< what VP1 fetches from */
};

/** One value in an engine. */
struct cps_place {
    uint8_t core;
    char file; /**< enum cps_file_sigil */
    uint64_t number;
};

/** A kind of places. */
struct cps_file {
    char sigil;       /**< enum cps_file_sigil */
    uint8_t bits;     /**< of each value */
    uint8_t step;     /**< from the number of one to that of the next */
    const char *name; /**< for people: "register", "memory" */
    uint64_t count;   /**< numbers are below; UINT64_MAX: all 64 bits */
};

/** A named scalar of an engine's state. */
struct cps_reg {
    const char *name;
    uint16_t offset; /**< in the state that the engine's own code knows */
    uint8_t size;    /**< bytes: 1, 2, 4 or 8 */
};

/** How often an instruction ran. */
struct cps_cover {
    uint64_t run;   /**< executions, repetitions of a (rep) counted */
    uint64_t taken; /**< of them, those that branched */
};

/** An engine's row. Members that an engine does not have are NULL. */
struct cps_engine_ops {
    const char *name;
    const struct cps_isa *isa;   /**< without rows where there is no code */
    const struct cps_file *file; /**< kinds of places, by sigil */
    unsigned files;
    const struct cps_reg *reg; /**< named scalars, CPS_FILE_SCALAR */
    unsigned regs;
    /** As cps_engine_create(); @p ops is this row. */
    struct cps_err *(*create)(const struct cps_engine_ops *ops, const struct cps_config *config,
                              struct cps_engine **ret);
    void (*destroy)(struct cps_engine *engine);
    struct cps_err *(*clone)(struct cps_engine *from, struct cps_engine **ret);
    struct cps_err *(*feed)(struct cps_engine *engine, const struct cps_item *item);
    enum cps_stop (*run)(struct cps_engine *engine, uint64_t ticks);
    struct cps_where (*where)(const struct cps_engine *engine, unsigned core);
    bool (*get)(struct cps_engine *engine, struct cps_place place, uint64_t *ret);
    bool (*set)(struct cps_engine *engine, struct cps_place place, uint64_t value);
    void (*explain)(const struct cps_engine *engine, enum cps_stop stop, struct cps_buf *out);
    /** As cps_engine_cover(); NULL: it cannot count. */
    void (*cover)(struct cps_engine *engine, unsigned core, struct cps_cover *counts,
                  uint32_t count);
    const void *kind; /**< the engine's own */
};

/** Events that are handed over at a time. */
#define CPS_TAP_BATCH 4096u

/** A bit for every kind of event. */
#define CPS_ALL_KINDS ((UINT32_C(1) << CPS_EV_COUNT) - 1)

struct cps_tap {
    struct cps_sink *sink; /**< NULL: nobody */
    uint32_t kinds;        /**< a bit per enum cps_event_kind that the sink wants; 0 without one */
    bool quiet;            /**< somebody only looks: nothing happens */
    size_t pending;
    uint64_t count[CPS_EV_COUNT]; /**< all that happened, recorded or not */
    struct cps_event event[CPS_TAP_BATCH + 1];
};

/** What every engine's state begins with. Others read it; only the engine writes it. */
struct cps_engine {
    const struct cps_engine_ops *ops;
    struct cps_mem *mem;
    struct cps_host host;
    struct cps_policy policy;
    enum cps_gen gen;
    uint64_t clock;        /**< ticks of all cores: the unit of budgets; repetitions count */
    uint64_t instructions; /**< a (rep) counts once; of PFIFO commands that the puller took */
    uint64_t packets;      /**< dispatched; of scripts how often one was started, of PFIFO commands
                                that CACHE1 took */
    uint64_t time;         /**< of engines whose time is not their ticks: that of TICK events */
    uint64_t changes;      /**< stores that changed a register: equal counts, equal registers */
    uint32_t answer;       /**< what the last CPS_ITEM_READ read */
    unsigned ran_core;     /**< index of the core that ran last */
    unsigned cores;
    uint8_t who[CPS_MAX_CORES]; /**< enum cps_processor of each core */
    struct cps_tap tap;
};

/**
 * Makes an engine as after power-on.
 * @return NULL, CPS_ERR_NOMEM, CPS_ERR_INPUT (the image does not fit the generation) or
 * CPS_ERR_UNSUPPORTED; the caller calls cps_engine_destroy()
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_engine_create(const struct cps_config *config,
                                                          struct cps_engine **ret);
/** Frees it; NULL is fine. Pending events are not handed over. */
CPS_PUBLIC void cps_engine_destroy(struct cps_engine *engine);
/** An engine in the same state, which shares pages of memory until one of them writes; without
 * sink and counters. @return NULL or CPS_ERR_NOMEM */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_engine_clone(struct cps_engine *engine,
                                                         struct cps_engine **ret);

/** Sends events of the kinds in @p kinds (a bit per enum cps_event_kind) to @p sink; NULL: to
 * nobody, which costs nothing. Pending events go to the old sink first. */
CPS_PUBLIC void cps_engine_sink(struct cps_engine *engine, struct cps_sink *sink, uint32_t kinds);

/**
 * Hands an item to the engine: it acts on it now, or while it runs. Items that say nothing to it
 * (texts, sections) are taken without effect.
 * @return NULL, CPS_ERR_NOMEM, or CPS_ERR_INPUT: no such place, or an item that this engine cannot
 * take
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_engine_feed(struct cps_engine *engine,
                                                        const struct cps_item *item);
/** Whether an item makes an engine run, rather than only prepare for one that does. */
CPS_PUBLIC bool cps_item_acts(const struct cps_item *item);
/** Runs until a stop, at most @p ticks ticks of all cores together; 1 is a step. Runs may be cut
 * anywhere: cut or whole, the same happens. */
CPS_PUBLIC enum cps_stop cps_engine_run(struct cps_engine *engine, uint64_t ticks);
/** Runs the bootstrap, feeds CPS_ITEM_INIT, and runs again: what comes before a capture. */
CPS_PUBLIC enum cps_stop cps_engine_boot(struct cps_engine *engine, uint64_t ticks);
/** To be called when the program changes memory that is its own (struct cps_host) while the engine
 * runs, from one of the host's functions: what was read before is read again. Between runs the
 * engine expects changes anyway. */
CPS_PUBLIC void cps_engine_changed(struct cps_engine *engine);
/** The CPS_REASON_* that the END event has for a stop. */
CPS_PUBLIC unsigned cps_stop_reason(enum cps_stop stop);
/** Emits the END event. */
CPS_PUBLIC void cps_engine_end(struct cps_engine *engine, enum cps_stop stop);

/** Where core @p core (below engine->cores) stands. */
CPS_PUBLIC struct cps_where cps_engine_where(const struct cps_engine *engine, unsigned core);
/** The value at a place, without effect and without event; false, and 0, if there is none: no such
 * number, memory that nobody stored. */
CPS_PUBLIC bool cps_engine_get(struct cps_engine *engine, struct cps_place place, uint64_t *ret);
/** Stores a value as it is, without what a write by the program would do; false if there is no
 * such place, or it cannot hold the value. */
CPS_PUBLIC bool cps_engine_set(struct cps_engine *engine, struct cps_place place, uint64_t value);
/** The row of a kind of places; NULL if the engine has none of it. */
CPS_PUBLIC const struct cps_file *cps_engine_file(const struct cps_engine *engine, char sigil);
/** Decodes what stands at unit @p pc of a core's image; false, and nothing decoded, outside of it.
 * @param bytes  at least 16, which @p ret may point into */
CPS_PUBLIC bool cps_engine_decode(struct cps_engine *engine, unsigned core, uint32_t pc,
                                  uint8_t *bytes, struct cps_insn *ret);
/** Appends where and on what the engine stands after a stop: "sqe at 0x00c6: ..."; nothing where
 * there is nothing to say. */
CPS_PUBLIC void cps_engine_explain(const struct cps_engine *engine, enum cps_stop stop,
                                   struct cps_buf *out);
/**
 * Counts what a core executes from now on (not while STEP events are wanted). The counters lie in
 * @p counts, one per unit of the core's image from its start and one behind the last, @p count of
 * them; NULL stops it. They are the caller's and must outlive the counting.
 */
CPS_PUBLIC void cps_engine_cover(struct cps_engine *engine, unsigned core, struct cps_cover *counts,
                                 uint32_t count);

CPS_C_END

#endif
