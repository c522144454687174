/* SPDX-License-Identifier: MIT
 * Work that the firmware starts in other blocks of the GPU: draws, dispatches, blits, resolves. An
 * engine only counts it and reports it as LAUNCH events; a function of the program around the
 * engine, or a plugin (tools/run/plugin.h), can do it: it reads the registers that the firmware
 * wrote, reads and writes memory, and then the processor goes on. Only engines of Adreno start
 * work.
 *
 * The state of shaders is in registers, too: SP_CS_BASE and its like have the address of the code,
 * and ports such as HLSQ_LOAD_STATE_FRAG_CMD load constants. A port holds only what was written to
 * it last; cps_engine_watch() reports each write to it.
 *
 * Threads: the function is called from within cps_engine_run(), in the thread of its caller. It
 * must not call functions of the same engine; the functions of struct cps_work are for it, and only
 * until it returns. */
#ifndef CPS_WORK_H
#define CPS_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "../isa/base/cleanup.h"

CPS_C_BEGIN

struct cps_engine;

/** In cps_work.kind beside CPS_WORK_* (trace/event/event.h): a write to a register that is watched.
 */
#define CPS_WORK_REGISTER 15u

/** A launch, or a write to a register that is watched. */
struct cps_work {
    /** CPS_WORK_DRAW, _INDEXED, _FEEDBACK, _DISPATCH, _BLIT, _RESOLVE, _SKIPPED (a predicate
     * switched it off), or CPS_WORK_REGISTER. */
    uint32_t kind;
    /** The GPU's generation: 5 to 8. */
    uint32_t generation;
    /** The register whose write starts it, its number in dwords, and the value. */
    uint32_t offset, value;
    /** Which processor started it: enum cps_processor; and the dword of its image that it is at. */
    uint32_t processor, pc;
    /** The packet that it is at: header and address in bytes. */
    uint32_t header;
    uint64_t iova;
    /** The engine's own. */
    void *core;
    /**
     * What a GPU register holds, in the pipe that starts the work (and on a5xx in its bank). Events
     * and state are not changed.
     * @param offset  its number, in dwords
     * @param value   gets what it holds; 0 if nobody has written it
     * @return whether somebody has written it
     */
    bool (*get)(const struct cps_work *work, uint32_t offset, uint32_t *value);
    /**
     * Copies @p size bytes of GPU memory at @p iova to @p to. They need no alignment.
     * @return false if some of it is nowhere: those bytes are 0
     */
    bool (*read)(const struct cps_work *work, uint64_t iova, void *to, uint64_t size);
    /**
     * Stores @p size bytes at @p iova, in order. The trace has no MEMW events of it.
     * @return false if some of it cannot be stored: the host has no memory there, or refuses, or
     * the engine's limit is reached; what is before that is stored
     */
    bool (*write)(const struct cps_work *work, uint64_t iova, const void *from, uint64_t size);
    /**
     * The host's memory at @p iova itself, to read and write (cps_host.map).
     * @param size  the bytes that are wanted; gets how many follow in a row, perhaps more
     * @return NULL if it cannot be had so: use `read` and `write`
     */
    void *(*map)(const struct cps_work *work, uint64_t iova, uint64_t *size);
};

/**
 * Called at each launch, after the LAUNCH event and before the firmware goes on. For runs that can
 * be repeated it depends only on what @p work gives.
 * @param context  as it was given with the function
 * @return NULL, or why it failed, which lives until the engine is destroyed: the run ends with
 *         CPS_STOP_FAULT, and cps_engine_explain() has that text
 */
typedef const char *cps_work_fn(void *context, const struct cps_work *work);

CPS_C_END

#endif
