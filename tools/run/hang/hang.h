/* SPDX-License-Identifier: MIT
 * The state of hung hardware out of a dump, and the place of the hang in a replay.
 *
 *   roq.c      words that were fetched for the processor
 *   mempool.c  register writes on their way to the parts of the GPU
 *   writes.c   the writes of a replay, as hardware queues them
 *   place.c    where in a replay the hardware stood; holes.c tries code that is not known
 *   wait.c     what a processor waits for
 *   rows.c     the emulator beside the hardware: processor.c, fetched.c, queued.c, registers.c */
#ifndef CPS_RUN_HANG_H
#define CPS_RUN_HANG_H

#include <stdio.h>

#include "emu/engine.h"
#include "fw/image/icache.h"
#include "tools/run/dump.h"
#include "trace/event/event.h"

struct code;
struct json_object;

/* ---- CP_ROQ of a hang dump: the words that were fetched for the processor, and how far it had
 * read them. Each region is a ring of its own, so that behind the words that wait stand those that
 * were read last (H: dumps of a618 and a630). ---- */

/** In the order of their places. */
enum roq_region { ROQ_RING, ROQ_MRB, ROQ_VSD, ROQ_IB1, ROQ_IB2, ROQ_SDS, ROQ_REGIONS };

/** Dwords of the ROQ, and levels with streams that are fetched: IB1, IB2, draw state. */
enum { ROQ_WORDS = 0x400, ROQ_LEVELS = 3 };

/** Numbers of the registers that say how the ROQ is read. */
struct roq_registers {
    uint16_t status[ROQ_REGIONS];    /**< read position in 10:0, write position in 26:16 */
    uint16_t available[ROQ_REGIONS]; /**< words that wait in 31:16, of IBs plus 1 (H: a630) */
    uint16_t base[ROQ_LEVELS];   /**< of the fetch that is being filled, and the next register */
    uint16_t rest[ROQ_LEVELS];   /**< dwords of it not fetched yet */
    uint16_t dwords[ROQ_LEVELS]; /**< its size */
};
/** Those of a generation. A reader of hardware dumps only knows the layout of a6xx's ROQ. */
const struct roq_registers *roq_registers_of(enum cps_gen gen);
/** Where regions begin, in dwords, and their end, from CP_ROQ_THRESHOLDS_1 and _2. */
void roq_borders(uint32_t low, uint32_t high, uint32_t ret[ROQ_REGIONS + 1]);
/** Those registers, and what most chips of a6xx have there; an emulator without such registers has
 * these borders, too. */
enum {
    ROQ_THRESHOLDS_1 = 0x8c1,
    ROQ_THRESHOLDS_2 = 0x8c2,
    ROQ_DEFAULT_LOW = (int)0x8040362c,
    ROQ_DEFAULT_HIGH = 0x010000c0,
};

/** One region; positions are dwords from its begin. */
struct roq_queue {
    bool known; /**< the dump has its positions and its borders */
    uint32_t begin, size;
    uint32_t read, write; /**< the next dword to read, and to write */
};

struct roq {
    const struct dump_block *block; /**< CP_ROQ */
    struct roq_queue queue[ROQ_REGIONS];
};

/** Reads positions and borders; what the dump lacks stays unknown. */
void roq_read(const struct dump *dump, struct roq *ret);
/** Words of a region that were fetched and not read. */
uint32_t roq_waiting(const struct roq_queue *queue);
/** The word @p distance dwords behind the read position; before it where it is negative. */
uint32_t roq_word(const struct roq *roq, enum roq_region region, int64_t distance);
/** The region of a level as hang_level() counts them. */
static inline enum roq_region roq_of_level(uint32_t level)
{
    static const enum roq_region regions[] = {ROQ_RING, ROQ_IB1, ROQ_IB2, ROQ_SDS};
    return regions[level & 3];
}

/** What the registers say of the stream of one level: of the fetch that was filled last, which with
 * look-ahead need not be the one that is read. */
struct roq_fetch {
    uint64_t iova;   /**< its base */
    uint32_t dwords; /**< its size */
    uint32_t rest;   /**< dwords not fetched yet */
};
/** @param level  1 IB1, 2 IB2, 3 draw state
 * @return false if the dump lacks the registers */
bool roq_fetch(const struct dump *dump, uint32_t level, struct roq_fetch *ret);
/**
 * How far the ring is read: the place whose words are those that were read last.
 * @param ret  gets dwords from the ring's begin
 * @return false if CP_ROQ does not say
 */
bool roq_ring_position(const struct dump *dump, const struct dump_ring *ring, uint32_t *ret);

/* ---- Where the packet of a hang lies, from the dump alone: the place in its memory that has the
 * words which CP_ROQ shows in front of and behind the read position. ---- */

struct hang_estimate {
    uint64_t next;   /**< the word that is read next */
    uint64_t header; /**< of the packet; 0 where no header was given */
    uint32_t words;  /**< that agree */
    unsigned places; /**< that agree as well, this one included */
};

/**
 * Looks through the dump's memory.
 * @param roq     of @p dump
 * @param level   0 ring, 1 IB1, 2 IB2, 3 draw state
 * @param header  of the packet, which must be among the words in front of the place; 0: any
 * @return false if CP_ROQ does not say, or no place has enough of its words
 */
bool hang_estimate(const struct dump *dump, const struct roq *roq, uint32_t level, uint32_t header,
                   struct hang_estimate *ret);

/* ---- CP_MEMPOOL of a hang dump: register writes on their way to the parts of the GPU, a queue for
 * each (D: Mesa's crashdec; H: 118 of 118 entries of two dumps are the writes that a replay makes).
 * ---- */

/** A write that waits. */
struct mempool_entry {
    uint32_t offset; /**< register */
    uint32_t value;
    uint8_t context;
    bool pipe; /**< a pipe register */
};

struct mempool_queue {
    struct mempool_entry *entry; /**< oldest first; owned */
    size_t count;
};

struct mempool {
    bool known;
    struct cps_buf why; /**< why it is not; empty where the dump simply lacks the block */
    struct mempool_queue queue[DUMP_CLUSTERS];
};

/**
 * Reads the queues. That they make no sense is no error: then `why` says so.
 * @param ret  the caller calls mempool_deinit() in any case
 */
CPS_MUST_USE struct cps_err *mempool_read(const struct dump *dump, struct mempool *ret);
void mempool_deinit(struct mempool *pool);

/* ---- The register writes of a replay, as hardware queues them for the parts of the GPU: with the
 * state id that chose their bank, and the packet that asked for them. ---- */

/** One write through the cluster queues, or of a pipe register, which goes the same way. */
struct replay_write {
    uint64_t packet; /**< where the header of its packet lies */
    uint32_t header; /**< of its packet */
    uint32_t offset; /**< the register's number */
    uint32_t value;  /**< what it got */
    uint64_t index;  /**< of its packet, counted from the begin of the replay */
    uint32_t state;  /**< the processor's count of contexts then: see writes_context() */
    uint8_t pipe;    /**< it is a pipe register */
    uint8_t direct;  /**< it went by the queues (control register REG_WRITE) */
};

/** Takes the events REG, PIPE, PKT, STEP and STEPX of the SQE; of a5xx those of PFP and ME. */
struct writes {
    struct cps_sink sink; /**< first */
    uint32_t who;         /**< a bit for each processor */
    struct replay_write *write;
    size_t count;
    uint64_t packet, packets;
    uint32_t header;
    uint32_t state; /**< $13 as it stands */
    bool failed;    /**< memory was short */
};

/** The kinds that it wants. */
#define WRITES_KINDS                                                               \
    (1u << CPS_EV_REG | 1u << CPS_EV_PIPE | 1u << CPS_EV_PKT | 1u << CPS_EV_STEP | \
     1u << CPS_EV_STEPX)

/** Begins with @p state in $13. The caller calls writes_deinit() in any case. */
void writes_init(struct writes *writes, enum cps_gen gen, uint32_t state);
void writes_deinit(struct writes *writes);

/** Which of the two banks a write goes to. The firmware of a6xx counts contexts in $13, 7:0, those
 * of the 2D engine in 19:12 (F: 6ee 0123; H: 116 of 118 queued writes of two dumps). */
static inline unsigned writes_context(uint32_t state, bool is_2d)
{
    return state >> (is_2d ? 12 : 0) & 1;
}
/** Registers that the 2D engine's count chooses the bank of (H: a630, a618), and its events (D: the
 * register database has PC_2D_EVENT_CMD, HLSQ_2D_EVENT_CMD, CP_2D_EVENT_START and _END). */
static inline bool writes_is_2d(uint32_t offset)
{
    return (offset >= 0x8c00 && offset < 0x8c30) || offset == 0x9c00 || offset == 0xbd80 ||
           offset == 0xd700 || offset == 0xd701;
}

/* ---- Where in a replay the hardware stood: the packet with its headers, at its level, with the
 * words in front of the read position of CP_ROQ consumed and those behind it to come; in it, the
 * instruction of its program counter. ---- */

/** What says which instruction of the packet it is. */
enum hang_by {
    HANG_NOWHERE,   /**< no packet of the replay has what the dump shows */
    HANG_BY_PC,     /**< the firmware is the dump's: its program counter */
    HANG_BY_LINE,   /**< another firmware: where it has the code of the dump's cache line */
    HANG_BY_PACKET, /**< neither is reached: the last instruction of the packet */
    HANG_BY_ITSELF, /**< the firmware ends there by itself */
};

/** What to look for. */
struct hang_sought {
    const struct dump_block *stat; /**< CP_SQE_STAT */
    uint32_t level;                /**< as it counts them */
    struct roq roq;
    bool pc_known; /**< `pc` is a place of the firmware that runs */
    enum hang_by by;
    uint32_t pc;
    uint64_t ticks;   /**< of an emulator's dump: since the ring was fed; 0: not known */
    bool exact;       /**< general registers count, too */
    uint32_t general; /**< those that count, a bit each */
    bool quick; /**< the first place with the best rank is enough: candidates are not counted */
};

/** How well a packet agrees, a bit each; the more a higher bit says. */
enum hang_rank {
    HANG_RANK_REGISTERS = 1, /**< the general registers; only where a dump says the tick */
    HANG_RANK_PC = 2,        /**< the program counter is reached in it */
    HANG_RANK_IB1 = 4,       /**< the words of the IB1 that called its stream, if one did */
    HANG_RANK_IB2 = 8,       /**< those of the IB2 */
    HANG_RANK_WORDS = 16,    /**< the words of its stream */
    HANG_RANK_HEADERS = 32,  /**< the three headers, and the level */
    HANG_RANK_BEST = 62,     /**< all but the registers */
};

struct hang_position {
    enum hang_by by;
    unsigned rank;       /**< enum hang_rank; 0: nowhere */
    uint64_t tick;       /**< of the engine, when it stands there; 0: where a whole run ends */
    bool no_words;       /**< the dump has no queue to compare its words with */
    unsigned candidates; /**< packets that agree as well, but for the program counter */
    uint64_t packet;     /**< dispatched before it, as the engine counts them */
};

/** Prepares the search. @p fw  that runs; @p same  it is the dump's own, or recovered from it;
 * @p code  what the dump holds of its firmware, or NULL */
struct cps_fw;
void hang_seek(const struct dump *dump, const struct cps_fw *fw, const struct code *code, bool same,
               struct hang_sought *ret);
/** Looks through all that @p engine would run, to its end or @p limit instructions; @p engine
 * itself stays where it is. @return NULL or CPS_ERR_NOMEM */
CPS_MUST_USE struct cps_err *hang_find(const struct hang_sought *sought, struct cps_engine *engine,
                                       uint64_t limit, struct hang_position *ret);
/** Appends what there is to say of a place, for people. */
void hang_place_text(const struct hang_position *place, struct cps_buf *out);

/** The levels of this page: 0 ring, 1 IB1, 2 IB2, 3 draw state, HANG_IB3. */
enum { HANG_IB3 = 4 };
/** The same of what CP_SQE_STAT has: IB3 of a7xx on comes before draw state (emu/afuc, IB_LEVEL).
 */
static inline uint32_t hang_level(enum cps_gen gen, uint32_t level)
{
    level &= 7;
    if (!cps_gen_since(gen, CPS_A7XX) || level < 3)
        return level;
    return level == 3 ? (uint32_t)HANG_IB3 : 3;
}
/** Levels as hang_level() counts them, as those of events. */
static inline unsigned hang_event_level(uint32_t level)
{
    static const uint8_t levels[] = {CPS_LEVEL_RB, CPS_LEVEL_IB1, CPS_LEVEL_IB2, CPS_LEVEL_SDS,
                                     CPS_LEVEL_IB3};
    return levels[level % 5];
}

/* ---- What a processor waits for, read off the code around its program counter. ---- */

enum hang_wait_for {
    HANG_WAIT_UNKNOWN,  /**< the code does not say, or the dump does not hold it */
    HANG_WAIT_SELF,     /**< it goes round for ever: the error loop */
    HANG_WAIT_PACKET,   /**< the next packet */
    HANG_WAIT_STREAM,   /**< words of its stream */
    HANG_WAIT_MEMDATA,  /**< words that it reads from memory, once */
    HANG_WAIT_REGDATA,  /**< registers that it reads, once */
    HANG_WAIT_CONTROL,  /**< it polls control register `number` */
    HANG_WAIT_REGISTER, /**< it polls a register of the GPU; `number` is 0 if it is not known */
    HANG_WAIT_MEMORY,   /**< it polls memory */
    HANG_WAIT_LOOP,     /**< it goes round, on something that the loop does not read */
    HANG_WAIT_CALLED,   /**< it polls what function `number` reads, which its loop calls */
};

struct hang_wait {
    enum hang_wait_for what;
    uint32_t number;
    uint32_t branch; /**< the instruction that decides to go on waiting; of polls */
};

/**
 * Looks at the code at @p pc.
 * @param cache  the words that are known
 * @param gen    their generation
 * @param stat   CP_SQE_STAT, for what is in the registers; may be NULL
 */
void hang_wait_of(const struct cps_fw_icache *cache, enum cps_gen gen,
                  const struct dump_block *stat, uint32_t pc, struct hang_wait *ret);

/* ---- The emulator beside the hardware: rows of values with a verdict, in groups. ---- */

/** In the order in which they are printed. */
enum replay_group {
    REPLAY_PROCESSOR,  /**< program counter, registers, stack, headers, positions, scratch */
    REPLAY_ROQ,        /**< words that were fetched */
    REPLAY_QUEUES,     /**< register writes on their way */
    REPLAY_BANKS,      /**< registers of the clusters, by context */
    REPLAY_REGISTERS,  /**< the other registers that the replay wrote */
    REPLAY_DRAW_STATE, /**< CP_DRAW_STATE */
    REPLAY_GROUPS,
};

enum replay_verdict {
    REPLAY_EQUAL,
    REPLAY_DIFFERENT,
    REPLAY_IN_FLIGHT, /**< hardware has the value before: the write waits in CP_MEMPOOL */
    REPLAY_BANK,      /**< hardware has the value of the other context */
    REPLAY_NO_VALUE,  /**< one of the two has none to compare */
    REPLAY_OLDER,     /**< it is from before the replay began */
    REPLAY_VERDICTS,
};

/** One line: `$01 0xdeadd00d 0xdeadd00d equal`. */
struct replay_row {
    char name[64];
    uint32_t hardware, emulated;
    uint8_t group, verdict;
    const char *why; /**< static text behind the verdict, or NULL */
};

/** All of them. */
struct replay_rows {
    struct replay_row *row; /**< owned */
    size_t count;
    bool failed; /**< memory was short */
    unsigned counts[REPLAY_GROUPS][REPLAY_VERDICTS];
};

/** Adds a row; the format makes its name. */
void rows_add(struct replay_rows *rows, enum replay_group group, enum replay_verdict verdict,
              uint32_t hardware, uint32_t emulated, const char *why, const char *format, ...)
    __attribute__((format(printf, 7, 8)));
void rows_deinit(struct replay_rows *rows);
/** Rows of all groups with a verdict. */
unsigned rows_count(const struct replay_rows *rows, enum replay_verdict verdict);
/** The words for a row's group and verdict. */
const char *rows_group_name(const struct replay_row *row);
const char *rows_verdict_word(const struct replay_row *row);
/** A line for each row that differs, or for each (@p all), then one for each group and the sum. */
void rows_print(const struct replay_rows *rows, bool all, FILE *out);
/** The rows as an array. */
struct json_object *rows_json(const struct replay_rows *rows);
/** Verdicts by group. */
struct json_object *rows_json_counts(const struct replay_rows *rows);

#endif
