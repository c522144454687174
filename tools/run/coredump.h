/* SPDX-License-Identifier: MIT
 * Writes the hang dump that the kernel's msm driver would leave of an engine that has stopped: the
 * text of devcoredump (D: the kernel's msm_gpu.c, adreno_gpu.c and a6xx_gpu_state.c), which `info`,
 * `run` and Mesa's crashdec read.
 *
 * The layouts of the blocks are those of hardware dumps of a6xx (H: docs/hang-dumps.md). No source
 * describes them for other generations, which get the same ones. The line "policy: ..." marks a
 * dump as an emulator's: readers then know the layouts, and a replay runs with the same policy.
 *
 * It does not know sockets, files of buffers or commands: the caller enumerates buffers and rings,
 * and memory is the engine's. */
#ifndef CPS_COREDUMP_H
#define CPS_COREDUMP_H

#include "tools/run/hang/hang.h"
#include "trace/out/outfile.h"

/** Appended to the kernel's release in the head. */
#define COREDUMP_RELEASE "6.18.0-cpscope"

/** A buffer of the GPU. */
struct coredump_buffer {
    uint64_t iova;
    uint64_t size;  /**< bytes */
    uint32_t flags; /**< MSM_BO_* */
    const char
        *name; /**< up to `name_size` bytes, of which control characters become '?'; NULL: none */
    size_t name_size;
    bool dumped; /**< with contents, as command streams and buffers of MSM_SUBMIT_BO_DUMP are */
};

/** A ring. */
struct coredump_ring {
    uint64_t iova;
    uint32_t dwords;
    uint32_t wptr; /**< in dwords */
    uint32_t last_fence, retired_fence;
    /** Words before `begin` are replaced by CP_NOP and the fence `retired_fence`, for runs whose
     * ring has no fences. */
    bool forgets;
    uint32_t
        begin; /**< dwords from the ring's begin to the first submission that has not retired */
};

/** An access to memory that nobody mapped. */
struct coredump_fault {
    uint64_t ttbr0; /**< of the page table; not 0 */
    uint64_t iova;
    bool is_write;
    const char *type, *source; /**< "TRANSLATION", "CP" */
    uint32_t header;           /**< of the packet in which the processor was */
    uint64_t packet;           /**< where it lies; 0: not known */
    uint32_t level;            /**< of its stream, as hang_level() counts */
};

/** What a dump says beside the engine's state. Texts may be NULL. */
struct coredump_config {
    const char *comm, *cmdline; /**< of the program that hung; control characters become '?' */
    int64_t seconds;            /**< of day */
    uint32_t nanoseconds;
    uint32_t gpu_id;  /**< decimal, 0 from a740 on, as the kernel's tables have it */
    uint32_t chip_id; /**< core, major, minor and patch, a byte each; 0: unknown */
    /** Of the engine since it was given the word at `begin` of its ring, when it had nothing else
     * to do; 0: unknown. With it, a reader finds the place among many that look alike. */
    uint64_t ticks;
    uint32_t begin; /**< dword of the ring that the engine reads, since which `ticks` count */
    const struct coredump_fault *fault; /**< NULL: none */
    const char *stop; /**< why the engine stopped; NULL: it goes on after the dump */
    const struct coredump_ring *ring; /**< in the order of their ids */
    unsigned ring_count;              /**< 0: the engine's ring, without fences */
    void *context;                    /**< of `buffer` */
    /** Buffer @p index in the order of the file; false: there are no more. NULL: none. */
    bool (*buffer)(void *context, size_t index, struct coredump_buffer *ret);
};

/**
 * Writes a dump.
 * @param engine  of Adreno, at a stop; it is only looked at
 * @param config  borrowed
 * @param out     which the caller commits
 * @return NULL, CPS_ERR_NOMEM, or CPS_ERR_UNSUPPORTED for an engine that is not Adreno's. Errors of
 * @p out are those of its end.
 */
CPS_MUST_USE struct cps_err *coredump_write(struct cps_engine *engine,
                                            const struct coredump_config *config,
                                            struct cps_outfile *out);

/* ---- Within: coredump_blocks.c ---- */

/** What CP_ROQ holds, and the registers that say where it is read. */
struct roq_content {
    uint32_t word[ROQ_WORDS];
    /* By region; positions from the begin of the ROQ. */
    uint32_t read[ROQ_REGIONS], write[ROQ_REGIONS], waiting[ROQ_REGIONS];
    struct roq_fetch fetch[ROQ_LEVELS]; /* the one that is being filled: IB1, IB2, draw state */
};

/** A dump that is being written. */
struct coredump {
    struct cps_engine *engine;
    struct cps_afuc *machine;
    const struct coredump_config *config;
    struct cps_outfile *out;
    struct cps_buf text; /* what was not written yet */
    struct roq_content roq;
};

/** Appends words as ascii85, without the zeros at their end, as the kernel does. A line "data:" and
 * one with the words; nothing if all are 0 and @p always is false. */
void coredump_put_words(struct coredump *dump, const char *indent, const uint32_t *words,
                        size_t count, bool always);
/** Finds out what CP_ROQ would hold: of each level the words that were read last, and as many of
 * those that wait as fill half of its region. */
void coredump_fill_roq(struct coredump *dump);
/** Section `indexed-registers`. */
void coredump_put_blocks(struct coredump *dump);
/** A value that a processor or register has. */
static inline uint32_t coredump_value(const struct coredump *dump, unsigned core,
                                      enum cps_file_sigil file, uint64_t number)
{
    uint64_t ret = 0;
    cps_engine_get(dump->engine, (struct cps_location){(uint8_t)core, (char)file, number}, &ret);
    return (uint32_t)ret;
}

#endif
