/* SPDX-License-Identifier: MIT
 * What a dump of a hang says, in memory: a reader (trace/capture/devcore.c, snapshot.c) gives its
 * items one by one, here they are kept; `info` describes them (tools/explain/info/hang.c), `run`
 * replays them (tools/run/replay.h). */
#ifndef CPS_DUMP_H
#define CPS_DUMP_H

#include <stdbool.h>

#include "isa/base/buf.h"
#include "trace/capture/buffers.h"
#include "trace/capture/capture.h"

#define DUMP_MAX_RINGS  16
#define DUMP_MAX_BLOCKS 64
#define DUMP_REGS       0x40000u
/** Bytes: drivers make rings of 32 KiB. */
#define DUMP_RING_LIMIT (1u << 20)
/** General registers, call stack, headers and more: CP_SQE_STAT. */
#define DUMP_STAT_WORDS 51

struct dump_ring {
    uint32_t id;
    uint64_t iova;
    uint64_t size; /**< bytes */
    uint32_t rptr, wptr;
    uint32_t last_fence, retired_fence;
};

struct dump_block {
    char name[32];
    uint32_t *words; /**< `count` of them; owned */
    size_t count;    /**< present: the kernel trims zeros at the end */
    size_t size;     /**< dwords that the file states */
};

/** Words of CP_SQE_STAT (H: shared by all dumps of a6xx; registers $01 to $1b at their numbers). */
enum dump_stat {
    STAT_PC = 0x00,
    STAT_STATE = 0x13, /**< $13: counts of contexts */
    STAT_REM = 0x1c,
    STAT_STACK = 0x1d,
    STAT_HEADER = 0x24, /**< of the packet, and of the two before */
    STAT_LEVEL = 0x28,
    STAT_NRT = 0x30,
};
/** Words of CP_UCODE_DBG beside the cache: control registers SCRATCH_FIRST on. */
enum { UCODE_SCRATCH = 0x5000, SCRATCH_FIRST = 0x100, SCRATCH_COUNT = 0x80 };

/** The queues of register writes to the parts of the GPU, in the order of CP_MEMPOOL (D: Mesa's
 * crashdec; a6xx). */
enum dump_cluster {
    DUMP_FE,
    DUMP_SP_VS,
    DUMP_PC_VS,
    DUMP_GRAS,
    DUMP_SP_PS,
    DUMP_PS,
    DUMP_CLUSTERS,
};

/** A register of section `clusters`. */
struct dump_banked {
    uint32_t offset, value;
    uint8_t cluster; /**< enum dump_cluster */
    uint8_t context;
};

/** An access to memory that no buffer has. */
struct dump_fault {
    bool known;
    bool is_write;
    uint64_t iova;
    uint32_t header; /**< of the packet that the processor was in */
    uint64_t packet; /**< its address; 0: not known */
    uint32_t level;  /**< of its stream: 0 ring, 1 IB1, 2 IB2, 3 draw state */
};

/** Contents of (part of) a buffer. */
struct dump_data {
    uint64_t iova;
    size_t size; /**< bytes */
    uint8_t *bytes;
};

struct dump {
    struct cps_item_sink sink; /**< first: the reader calls back through it */
    const char *format;        /**< as cps_capture_format() has it */
    struct dump_ring ring[DUMP_MAX_RINGS];
    unsigned ring_count;
    struct dump_block block[DUMP_MAX_BLOCKS];
    unsigned block_count;
    struct dump_data *data;
    size_t data_count;
    uint64_t data_bytes;
    uint64_t gpu; /**< id or chip id, 0 if unknown */
    unsigned buffers;
    struct cps_buffers *table; /**< gets what the dump says of them; the caller's, or NULL */
    unsigned dropped;          /**< rings and blocks for which there was no room */
    struct cps_buf text;       /**< lines of the header: "comm: crashit" */
    uint64_t ticks;            /**< as coredump_config.ticks; 0: not known */
    uint32_t begin;            /**< dword of the ring since which they count */
    struct cps_buf policy;     /**< of the emulator that the dump is from; empty: of hardware */
    struct cps_buf stop;       /**< why that emulator stopped; empty: not known */
    struct dump_fault fault;   /**< section `fault-info` */
    struct cps_buf cut;        /**< where the file is cut and what is missing; empty: it is not */
    uint32_t *reg;             /**< DUMP_REGS values of section `registers` */
    bool *known;               /**< whether the dump has the register */
    struct dump_banked *banked;
    size_t banked_count;
    uint8_t *clusters; /**< per register a bit for each enum dump_cluster that has it banked */
};

/** Reads @p stream, which must be a dump of a hang. The caller calls dump_deinit() in any case. */
CPS_MUST_USE struct cps_err *dump_read(struct dump *dump, struct cps_stream *stream);
void dump_deinit(struct dump *dump);

const struct dump_block *dump_block(const struct dump *dump, const char *name);
/** Word @p index of a block, 0 behind its end (the kernel trims zeros); @p block may be NULL. */
uint32_t dump_word(const struct dump_block *block, size_t index);
/** "the ring", "IB1", "IB2", "a draw-state group" for the levels of CP_SQE_STAT. */
const char *dump_level_name(uint32_t level);
/** Whether the packet table of the firmware that ran is that of @p fw. */
struct cps_fw;
bool dump_has_table(const struct dump *dump, const struct cps_fw *fw);
/** A register's value; 0 and false if the dump lacks it. */
bool dump_reg(const struct dump *dump, uint32_t offset, uint32_t *ret);
/** "FE", "SP_VS", ... */
const char *dump_cluster_name(enum dump_cluster cluster);
/** The dword at @p iova in a buffer or ring of the dump. */
bool dump_memory(const struct dump *dump, uint64_t iova, uint32_t *ret);
/** The ring that hung: of those with work that has not retired the current one, or the first; else
 * the first. NULL: none. */
const struct dump_ring *dump_hung_ring(const struct dump *dump);

/** The generation of the GPU; a6xx where the dump does not say. */
enum cps_gen dump_gen(const struct dump *dump);
/** Whether the layouts of the blocks are known: those of hardware only for a6xx. */
bool dump_has_layouts(const struct dump *dump);
/** The control register at which the scratch in CP_UCODE_DBG begins, and how many there are; by the
 * layout of the firmware's control registers (D: Mesa's crashdec; ctrl.def). */
uint32_t dump_scratch_first(enum cps_layout layout);
uint32_t dump_scratch_count(enum cps_layout layout);

/** The packet table of the firmware that ran: 128 handlers out of CP_UCODE_DBG; NULL: none. */
const uint32_t *dump_table(const struct dump *dump);

#endif
