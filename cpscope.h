/* SPDX-License-Identifier: MIT
 * libcpscope: runs the microcode of GPU command processors on an ordinary computer, and tells what
 * it does. This header brings all of the library; each of those below can be included alone.
 *
 * A program loads firmware (fw/fw.h), makes an engine from it (emu/engine.h), feeds it with the
 * items of a capture (trace/capture/capture.h) or with its own, and gets events
 * (trace/event/event.h) in a function of its own. A debugger (emu/debug/debug.h) stops such a run
 * at points and goes back in it. A model of a device owns the memory and the registers around an
 * engine (emu/host.h). docs/library.md has the whole of it on one page.
 *
 * What holds everywhere:
 *   - Errors are values (isa/base/err.h): a function that can fail returns NULL, or an error that
 *     the caller owns. Nothing in the library prints, exits, or installs a signal handler.
 *   - The library keeps no state outside of what its functions return. Different threads may use
 *     different objects at the same time; one object belongs to one thread at a time. Functions
 * that take only numbers, constant rows or constant texts may be called from everywhere.
 *   - NULL is no valid argument unless a function says so. What `_create`, `_open` and `_load`
 * make, the caller releases with the `_destroy` or `_close` beside them.
 *   - Addresses and sizes of memory are bytes; places in firmware and in streams are dwords
 *     (32 bits, least significant byte first); numbers of GPU registers count dwords.
 *   - What ends in `_` is not for use. */
#ifndef CPSCOPE_H
#define CPSCOPE_H

#include "isa/base/pm4.h"
#include "isa/isa.h"
#include "isa/version.h"
#include "fw/fw.h"
#include "fw/image/mbn.h"
#include "fw/nv/script/script.h"
#include "trace/capture/buffers.h"
#include "trace/capture/capture.h"
#include "trace/capture/pm4text.h"
#include "trace/capture/rd_write.h"
#include "trace/form/diff.h"
#include "trace/form/trace.h"
#include "emu/afuc/afuc.h"
#include "emu/debug/debug.h"
#include "emu/engine.h"
#include "emu/engine.h"
#include "tools/run/run.h"

CPS_C_BEGIN

/**
 * The processors that run a part of a firmware image.
 * @param role   of the part
 * @param index  0, or 1 for the second of two
 * @return CPS_CPU_NONE if there is none
 */
static inline enum cps_processor cps_role_processor(enum cps_fw_role role, unsigned index)
{
    static const unsigned char who[][2] = {
#define ROLE(id, name, section, first, second, meaning) {CPS_CPU_##first, CPS_CPU_##second},
#include "isa/target.def"
    };
    return (enum cps_processor)who[role][index & 1];
}

/**
 * Fills in what firmware says of the engine that runs it: all members of @p config behind
 * `memory_limit`, but not `instr_iova` and `host`.
 * @param fw  the image; the engine copies it, so it may go once the engine is there
 * @param me  of a5xx the image of the ME, where @p fw is that of the PFP; else NULL
 *
 * Thread-safe; cannot fail: cps_engine_create() says what does not go together.
 */
static inline void cps_config_firmware(struct cps_config *config, const struct cps_fw *fw,
                                       const struct cps_fw *me)
{
    config->layout = fw->layout;
    config->words = fw->words;
    config->count = fw->count;
    config->me_words = me ? me->words : NULL;
    config->me_count = me ? me->count : 0;
    config->chip = fw->identity;
    config->variant = fw->variant;
    config->image_count = 0;
    for (unsigned i = 0; i < 2 * fw->part_count && config->image_count < CPS_MAX_CORES; i++) {
        const struct cps_fw_part *part = &fw->part[i / 2];
        enum cps_processor who = cps_role_processor(part->role, i % 2);
        if (who == CPS_CPU_NONE)
            continue;
        config->image[config->image_count].who = who;
        config->image[config->image_count++].start = part->start;
    }
}

CPS_C_END

#endif
