/* SPDX-License-Identifier: MIT
 * What every engine is: one microcontroller, or several, with what surrounds it. Whoever runs,
 * steps, traces, compares or debugs knows this interface and nothing else.
 *
 * An engine does not know files: it is fed with items, and results leave as events through its tap.
 * It never prints, exits or blocks, and a run is the same on every machine.
 *
 * Threads: one at a time may use an engine, and it calls its sink and its host in that thread.
 * Engines share nothing that changes but pages of memory between clones, which one thread must own
 * together.
 *
 * To add an engine:
 *   1. a row of isa/target.def, and its instruction set (isa/isa.h; without code, a set without
 *      rows);
 *   2. a folder with its state, whose first member is a struct cps_engine, and its cps_engine_ops;
 *   3. rows (emu/reg.h) for the registers that behave;
 *   4. a row in engine.c.
 * The debugger, traces, coverage and every command then work on it. tests/house/engine/ is such an
 * engine.
 */
#ifndef CPS_ENGINE_H
#define CPS_ENGINE_H

#include "../isa/isa.h"
#include "host.h"
#include "policy.h"
#include "work.h"
#include "../trace/event/event.h"
#include "../trace/event/item.h"

CPS_C_BEGIN

/* Memory, which only the library looks into: cps_engine_get() reads it. */
struct cps_mem;
struct cps_engine;

/** Most processors that an engine has. */
#define CPS_MAX_CORES 8u

/** The part of a firmware image that one processor runs. */
struct cps_image {
    /** Which processor. */
    enum cps_processor who;
    /** Dword of the image where the processor's own address 0 lies. */
    uint32_t start;
};

/** Everything an engine is made from. Zero is the default of each member; what pointers lead to is
 * copied. cps_config_firmware() of cpscope.h fills in what loaded firmware says. */
struct cps_config {
    /** Which engine, and as which chip or ABI; 0: as `layout` says. */
    enum cps_gen gen;
    /** What shapes the run: cps_policy_default(), which is not zero, or another. */
    struct cps_policy policy;
    /** Most bytes that pages of memory may take; 0: the engine's default. */
    uint64_t memory_limit;
    /* Of engines that run firmware. */
    /** The numbering of control registers. CPS_LAYOUT_A5XX_PFP stands for PFP and ME together. */
    enum cps_layout layout;
    /** The firmware image, without the leading dword of the file. */
    const uint32_t *words;
    /** Dwords of it. */
    uint32_t count;
    /** The image of the ME of a5xx; else NULL. */
    const uint32_t *me_words;
    /** Dwords of it. */
    uint32_t me_count;
    /** Parts of `words`, in scheduling order. */
    struct cps_image image[CPS_MAX_CORES];
    /** How many; of a5xx they are not looked at. */
    unsigned image_count;
    /** What the chip identity control register reads. */
    uint32_t chip;
    /** The same of CHIP_VARIANT; 0: as the layout's first chip, unless `has_variant`. */
    uint32_t variant;
    /** `variant` is what it reads, also where it is 0. */
    bool has_variant;
    /** Where the image lies in GPU memory, in bytes; 0: the default. It is the engine's own memory,
     * also if a host has some there. */
    uint64_t instr_iova;
    /** Who owns memory and registers; all NULL: the engine. */
    struct cps_host host;
};

/** Why cps_engine_run() came back. */
enum cps_stop {
    /** All that was fed is done: feed it, or it is over. */
    CPS_STOP_IDLE,
    /** The ticks are used up. */
    CPS_STOP_BUDGET,
    /** Nothing can go on; cps_engine_explain() says what waits for what. */
    CPS_STOP_DEADLOCK,
    /** Illegal instruction, an error that the firmware itself reported, or something that no source
     * says. */
    CPS_STOP_FAULT,
    /** The firmware reported a packet that it refuses. */
    CPS_STOP_BAD_PACKET,
    /** The computer's memory is short: what the engine did since it last came back is no result,
     * and it cannot go on. A copy from before can. */
    CPS_STOP_NOMEM,
};

/** What an engine waits for after it stopped; the engine has it as fields, and what a person reads
 * (cps_engine_explain()) is made of them. Members that do not apply are 0. */
struct cps_wait {
    /** CPS_WAIT_*, rows of event.def. */
    unsigned what;
    /** The core that waits. */
    unsigned core;
    /** Where it is, in units of its image. */
    uint32_t pc;
    /** Of CPS_WAIT_MEMORY a byte address, else the number of the register or the on-chip word. */
    uint64_t address;
    /** Of packets that look at two places the other one, which must differ from `reference` or the
     * first be 0. */
    uint64_t second;
    /** What is there; of CPS_WAIT_FAULT and CPS_WAIT_BAD_PACKET the firmware's error code. */
    uint64_t value;
    /** What `value` is compared with, if `function` is not 0. */
    uint64_t reference;
    /** Bits of `value` that count. */
    uint64_t mask;
    /** How the wait ends, as CP_WAIT_REG_MEM has it: 1 <, 2 <=, 3 ==, 4 !=, 5 >=, 6 >; 8 is added
     * if the sign of the difference decides. 0: only the firmware's code says it. */
    unsigned function;
    /** The packet that is executed, and where it is in memory; both 0 before the first one. */
    uint32_t header;
    uint64_t iova;
};

/** Where a core is. */
struct cps_where {
    /** Unit (cps_isa_unit()) of its image that runs next. */
    uint32_t pc;
    /** What runs after it: differs from the next one in a delay slot. */
    uint32_t npc;
    /** Of its call stack. */
    uint32_t depth;
    /** Nesting of its stream: 0 the ring. */
    uint32_t level;
    /** It runs; others wait until one that does starts them. */
    bool started;
    /** What is at the pc is a delay slot. */
    bool slot;
};

/** Kinds of places in an engine; each has a row in cps_engine_ops.file, by its sigil. */
enum cps_file_sigil {
    /** General registers of a core. */
    CPS_FILE_GENERAL = '$',
    /** Control registers of a core. */
    CPS_FILE_CONTROL = '@',
    /** SQE registers of a core. */
    CPS_FILE_SQE = '%',
    /** Named values: cps_engine_ops.reg. */
    CPS_FILE_SCALAR = '.',
    /** Return addresses of a core, 0: of the routine that runs. */
    CPS_FILE_STACK = '^',
    /** 0 the pc, 1 the npc of a core. */
    CPS_FILE_PC = '!',
    /** Words (or bytes) of a core's image, by its units. */
    CPS_FILE_CODE = '#',
    /** Registers of the chip. */
    CPS_FILE_REGISTER = 'r',
    /** Memory by byte address; of NVIDIA's engines the host's. */
    CPS_FILE_MEMORY = 'm',
    /** Memory of NVIDIA's engines on the card. */
    CPS_FILE_RAMIN = 'n',
    /** What VP1 fetches from. */
    CPS_FILE_PROGRAM = 'p',
};

/** One value in an engine. */
struct cps_location {
    uint8_t core;
    /** Enum cps_file_sigil. */
    char file;
    uint64_t number;
};

/** A kind of places. */
struct cps_file {
    /** Which: enum cps_file_sigil. */
    char sigil;
    /** Bits of each value. */
    uint8_t bits;
    /** From the number of one to that of the next. */
    uint8_t step;
    /** For people: "register", "memory". */
    const char *name;
    /** Numbers are below; UINT64_MAX: all 64 bits. */
    uint64_t count;
};

/** A named scalar of an engine's state: its number, in places of CPS_FILE_SCALAR, is its index in
 * cps_engine_ops.reg. */
struct cps_reg {
    /** As people type it: "a.ip". */
    const char *name;
    /** In the state that the engine's own code knows. */
    uint16_t offset;
    /** Bytes: 1, 2, 4 or 8. */
    uint8_t size;
};

/** How often an instruction ran. */
struct cps_cover {
    /** Executions, repetitions of a (rep) counted. */
    uint64_t run;
    /** Of them, those that branched. */
    uint64_t taken;
};

/** An engine's row. Others read what it is; the functions are called through those below. Members
 * that an engine does not have are NULL. */
struct cps_engine_ops {
    /** As cps_isa_name() has it. */
    const char *name;
    /** What it executes; without rows where there is no code. */
    const struct cps_isa *isa;
    /** Kinds of places. */
    const struct cps_file *file;
    /** How many. */
    unsigned files;
    /** Named scalars, CPS_FILE_SCALAR. */
    const struct cps_reg *reg;
    /** How many. */
    unsigned regs;
    /** As cps_engine_create(); @p ops is this row. */
    struct cps_err *(*create)(const struct cps_engine_ops *ops, const struct cps_config *config,
                              struct cps_engine **ret);
    /** As cps_engine_destroy(); never NULL. */
    void (*destroy)(struct cps_engine *engine);
    /** As cps_engine_clone(). */
    struct cps_err *(*clone)(struct cps_engine *from, struct cps_engine **ret);
    /** As cps_engine_restore(), of a clone of @p original; NULL: another clone is made. */
    struct cps_err *(*restore)(struct cps_engine *engine, struct cps_engine *original);
    /** As cps_engine_feed(). */
    struct cps_err *(*feed)(struct cps_engine *engine, const struct cps_item *item);
    /** As cps_engine_run(). */
    enum cps_stop (*run)(struct cps_engine *engine, uint64_t ticks);
    /** As cps_engine_where(). */
    struct cps_where (*where)(const struct cps_engine *engine, unsigned core);
    /** As cps_engine_get(); the place exists, and @p ret is 0. */
    bool (*get)(struct cps_engine *engine, struct cps_location place, uint64_t *ret);
    /** As cps_engine_set(); the place exists. */
    bool (*set)(struct cps_engine *engine, struct cps_location place, uint64_t value);
    /** What it waits for now; cps_engine_run() asks it once it has stopped. NULL: it does not know.
     */
    bool (*waits_for)(const struct cps_engine *engine, enum cps_stop stop, struct cps_wait *ret);
    /** As cps_engine_explain(). */
    void (*explain)(const struct cps_engine *engine, enum cps_stop stop, struct cps_buf *out);
    /** As cps_engine_cover(); NULL: it cannot count. */
    void (*cover)(struct cps_engine *engine, unsigned core, struct cps_cover *counts,
                  uint32_t count);
    /** As cps_engine_watch(); NULL: it launches nothing. */
    void (*watch)(struct cps_engine *engine, uint32_t offset);
    /** The engine's own. */
    const void *kind;
    /** Whether cps_engine_run() of one tick makes one, unless the engine stops: n calls of it are
     * one of n. */
    bool ticks_alone;
};

/** Events that are handed over at a time. */
#define CPS_TAP_BATCH 4096u

/** A bit for every kind of event. */
#define CPS_ALL_KINDS ((UINT32_C(1) << CPS_EV_COUNT) - 1)

/** Kinds of launches: CPS_WORK_* of event.def. */
#define CPS_WORK_COUNT 7u

/** Where an engine's events go. Others read `count`, and nothing else. */
struct cps_tap {
    /** Who takes them; NULL: nobody. */
    struct cps_sink *sink;
    /** A bit per enum cps_event_kind that the sink wants; 0 without one. */
    uint32_t kinds;
    /** Somebody only looks: nothing happens. */
    bool quiet;
    /** Events of `event` that were not handed over yet. */
    size_t pending;
    /** How many of each kind happened, recorded or not. */
    uint64_t count[CPS_EV_COUNT];
    /** The batch. */
    struct cps_event event[CPS_TAP_BATCH + 1];
};

/** What every engine's state begins with. Others read it; only the engine writes it. */
struct cps_engine {
    /** Its row. */
    const struct cps_engine_ops *ops;
    /** Its memory; NULL: it is kept elsewhere. */
    struct cps_mem *mem;
    /** As in the configuration. */
    struct cps_host host;
    /** As in the configuration. */
    struct cps_policy policy;
    /** Its generation. */
    enum cps_gen gen;
    /** Ticks of all cores: the unit of budgets; repetitions count. */
    uint64_t clock;
    /** Instructions, of which a (rep) is one; of PFIFO commands that the puller took. */
    uint64_t instructions;
    /** Packets dispatched; of scripts how often one was started, of PFIFO commands that CACHE1
     * took. */
    uint64_t packets;
    /** Draws, dispatches and others that the firmware launched, by CPS_WORK_*. */
    uint64_t launches[CPS_WORK_COUNT];
    /** The time of TICK events, of engines whose time is not their ticks. */
    uint64_t time;
    /** Stores that changed a register: equal counts, equal registers. */
    uint64_t changes;
    /** What the last CPS_ITEM_READ read: cps_engine_answered(). */
    uint32_t answer;
    /** Index of the core that ran last. */
    unsigned ran_core;
    /** How many cores. */
    unsigned cores;
    /** Which processor each core is: enum cps_processor. */
    uint8_t who[CPS_MAX_CORES];
    /** What it waited for when it last stopped. */
    struct cps_wait wait;
    /** Packets then: the same wait is reported once. */
    uint64_t wait_packets;
    /** Where its events go. */
    struct cps_tap tap;
    /** As cps_engine_interrupt() was told. */
    bool (*asked)(void *context);
    /** What it gets. */
    void *asked_context;
    /** As cps_engine_work() was told. */
    cps_work_fn *work;
    /** What it gets. */
    void *work_context;
    /** What it returned last. */
    const char *work_failed;
};

/**
 * Makes an engine as after power-on. Firmware starts to run with the first cps_engine_run().
 * @param config  what it is made from; may go when this returns
 * @param ret     gets the engine, which the caller destroys
 * @return NULL, CPS_ERR_NOMEM, CPS_ERR_INPUT (the image does not fit the generation, the host has
 *         half of what it needs) or CPS_ERR_UNSUPPORTED (no engine runs it, or none of its sort has
 *         a host)
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_engine_create(const struct cps_config *config,
                                                          struct cps_engine **ret);
/**
 * Releases an engine. Pending events are not handed over.
 * @param engine  which; NULL is fine
 */
CPS_PUBLIC void cps_engine_destroy(struct cps_engine *engine);
/**
 * Makes an engine in the same state, which shares pages of memory until one of them writes; without
 * sink and counters.
 * @param engine  which
 * @param ret     gets the copy, which the caller destroys
 * @return NULL, CPS_ERR_NOMEM, or CPS_ERR_UNSUPPORTED for an engine with a host, whose memory is
 * not the engine's to copy: such an engine has no checkpoints, and no debugger
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_engine_clone(struct cps_engine *engine,
                                                         struct cps_engine **ret);

/**
 * Makes a clone once more what it was when it was made, and keeps its sink, its counts of
 * instructions and its log: sooner than another clone, because only what it has changed is copied.
 * @param engine    a clone of @p original; where its kind cannot do so it is destroyed, and another
 *                  one made that has only the sink
 * @param original  what it was made from, which has not run or been changed since
 * @return NULL or CPS_ERR_NOMEM: then *engine is NULL
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_engine_restore(struct cps_engine **engine,
                                                           struct cps_engine *original);

/**
 * Says who takes events. Pending ones go to the old sink first.
 * @param engine  which
 * @param sink    who; it must outlive the engine or its time as a sink. NULL: nobody, which costs
 *                nothing
 * @param kinds   which events: a bit per enum cps_event_kind, or CPS_ALL_KINDS
 */
CPS_PUBLIC void cps_engine_sink(struct cps_engine *engine, struct cps_sink *sink, uint32_t kinds);

/**
 * Hands an item to the engine: it acts on it now, or while it runs. Items that say nothing to it
 * (texts, sections) are taken without effect.
 * @param engine  which
 * @param item    what; it and what it points to may go when this returns
 * @return NULL, CPS_ERR_NOMEM, or CPS_ERR_INPUT: no such place, or an item that this engine cannot
 *         take
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_engine_feed(struct cps_engine *engine,
                                                        const struct cps_item *item);

/**
 * Whether an item that was fed read what it expects.
 * @param engine  idle, and fed with nothing since
 * @param item    the last one
 * @return true also of what is no CPS_ITEM_READ
 */
CPS_PUBLIC bool cps_engine_answered(const struct cps_engine *engine, const struct cps_item *item);
/**
 * Runs. Runs may be cut anywhere: cut or whole, the same happens.
 * @param engine  which
 * @param ticks   at most so many of all cores together; 1 is a step
 * @return why it came back. With a host CPS_STOP_DEADLOCK says that the firmware waits for what
 *         only the host can change; it may do so and run again
 */
CPS_PUBLIC enum cps_stop cps_engine_run(struct cps_engine *engine, uint64_t ticks);
/**
 * Says who is asked, at times during cps_engine_run(), whether it shall return early. A run that is
 * asked and goes on is the run that nobody asks. Clones begin without.
 * @param engine   which
 * @param asked    called at the latest every 65,536 ticks, in the thread of the run; true ends it
 *                 as one whose ticks are spent. It may look at the engine. NULL: nobody
 * @param context  what it gets
 */
CPS_PUBLIC void cps_engine_interrupt(struct cps_engine *engine, bool (*asked)(void *context),
                                     void *context);
/**
 * Says who does the work that firmware launches. Clones, and so debuggers, begin without.
 * @param engine   which; one that launches nothing does nothing
 * @param work     see emu/work.h; NULL: no callback, at no cost
 * @param context  what it gets
 */
CPS_PUBLIC void cps_engine_work(struct cps_engine *engine, cps_work_fn *work, void *context);
/**
 * Lets that function also see each write to a register, as CPS_WORK_REGISTER: for ports.
 * @param engine  which; one without such registers does nothing
 * @param offset  number of the register, in dwords
 */
CPS_PUBLIC void cps_engine_watch(struct cps_engine *engine, uint32_t offset);
/**
 * Runs the bootstrap, feeds CPS_ITEM_INIT, and runs again: what comes before a capture.
 * @param engine  which
 * @param ticks   at most so many for each of the two runs
 * @return CPS_STOP_IDLE if it went well, else why it did not
 */
CPS_PUBLIC enum cps_stop cps_engine_boot(struct cps_engine *engine, uint64_t ticks);
/**
 * Says that the program has changed memory of its own (struct cps_host) while the engine runs, from
 * within one of the host's functions: pages that were read before are read again. Between runs the
 * engine expects changes anyway.
 * @param engine  which; without a host nothing happens
 */
CPS_PUBLIC void cps_engine_changed(struct cps_engine *engine);
/**
 * The reason that the END event has for a stop.
 * @param stop  as cps_engine_run() returned it
 * @return CPS_REASON_*
 */
CPS_PUBLIC unsigned cps_stop_reason(enum cps_stop stop);
/**
 * Emits the END event, and hands pending events over.
 * @param engine  which
 * @param stop    why it is over
 */
CPS_PUBLIC void cps_engine_end(struct cps_engine *engine, enum cps_stop stop);

/**
 * Where a core is.
 * @param engine  which
 * @param core    below engine->cores
 */
CPS_PUBLIC struct cps_where cps_engine_where(const struct cps_engine *engine, unsigned core);
/**
 * The value at a place, without effect and without event.
 * @param engine  which
 * @param place   where
 * @param ret     gets the value; 0 if there is none
 * @return false if there is none: no such number, memory that nobody stored
 */
CPS_PUBLIC bool cps_engine_get(struct cps_engine *engine, struct cps_location place, uint64_t *ret);
/**
 * Stores a value as it is, without what a write by the program would do.
 * @param engine  which
 * @param place   where
 * @param value   what
 * @return false if there is no such place, or it cannot hold the value
 */
CPS_PUBLIC bool cps_engine_set(struct cps_engine *engine, struct cps_location place,
                               uint64_t value);
/**
 * The row of a kind of places.
 * @param engine  which
 * @param sigil   enum cps_file_sigil
 * @return constant; NULL if the engine has none of it
 */
CPS_PUBLIC const struct cps_file *cps_engine_file(const struct cps_engine *engine, char sigil);
/** Bytes of an instruction that are looked at. SEQ's `setregs` may have more, of which no more is
 * decoded here: its header counts words in 16 bits (envytools, hwdocs of SEQ). */
#define CPS_INSN_BYTES 1024u
/**
 * Decodes an instruction of a core's image.
 * @param engine  which
 * @param core    below engine->cores
 * @param pc      where, in units
 * @param bytes   at least CPS_INSN_BYTES, which @p ret may point into
 * @param ret     gets the instruction
 * @return false, and nothing decoded, outside of the image
 */
CPS_PUBLIC bool cps_engine_decode(struct cps_engine *engine, unsigned core, uint32_t pc,
                                  uint8_t *bytes, struct cps_insn *ret);
/**
 * What kept an engine from going on when it last stopped.
 * @param engine  which
 * @param stop    as cps_engine_run() returned it
 * @param ret     gets it
 * @return false, and all 0, if there is nothing: the engine can go on, or its kind does not know
 */
CPS_PUBLIC bool cps_engine_waits_for(const struct cps_engine *engine, enum cps_stop stop,
                                     struct cps_wait *ret);
/**
 * Appends where and on what the engine is after a stop: "sqe at 0x00c6: ..."; nothing where
 * there is nothing to say.
 * @param engine  which
 * @param stop    as cps_engine_run() returned it
 * @param out     where to
 */
CPS_PUBLIC void cps_engine_explain(const struct cps_engine *engine, enum cps_stop stop,
                                   struct cps_buf *out);
/**
 * Counts what a core executes from now on.
 * @param engine  which; one that cannot count does nothing
 * @param core    below engine->cores
 * @param counts  one counter per unit of the core's image from its start, and one after the last;
 *                the caller's, and to outlive the counting. NULL stops it
 * @param count   how many there are; if they are too few for the image, nothing is counted
 */
CPS_PUBLIC void cps_engine_cover(struct cps_engine *engine, unsigned core, struct cps_cover *counts,
                                 uint32_t count);

CPS_C_END

#endif
