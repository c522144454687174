/* SPDX-License-Identifier: MIT
 * The one place that joins firmware, capture, machine and sinks. */
#ifndef CPS_RIG_H
#define CPS_RIG_H

#include "emu/emu.h"
#include "fw/fw.h"
#include "tools/opt.h"
#include "trace/capture/capture.h"
#include "trace/outfile.h"
#include "trace/form/trace.h"

#define RIG_MAX_PLACES 256

/** A place that the firmware touched and nobody models. */
struct rig_place {
    unsigned place; /**< enum CPS_PLACE_* */
    uint64_t number;
    uint64_t count; /**< submissions that touched it */
};

/** Firmware, machine and names, ready to be fed. */
struct rig {
    struct cps_item_sink items; /* first: the capture reader calls back through it */
    struct cps_sink sink;
    const struct cps_options *opt;
    struct cps_fw *fw;
    struct cps_fw *me; /**< a5xx: the ME's firmware, else NULL */
    struct cps_names *names[CPS_CPU_COUNT];
    struct cps_machine *machine;
    struct cps_sink *trace;     /**< where recorded events go on to, or NULL */
    uint32_t kinds;             /**< what `trace` wants */
    uint32_t extra;             /**< what the machine emits beyond that, for the rig's own use */
    uint64_t instr_iova;        /**< where the image lies, 0: the default */
    void *native;               /**< machine code of the firmware's loops, or NULL */
    struct cps_err *native_err; /**< why there is none although it was asked for */
    bool muted;                 /**< nothing goes to `trace` */
    enum cps_stop stop;         /**< of the last run */
    bool booted;
    bool stopped;         /**< the machine cannot go on; later submissions are ignored */
    uint32_t submissions; /**< seen */
    uint32_t executed;
    uint32_t not_captured;
    uint64_t gpu; /**< first GPU or chip id of the capture, 0 if none */
    struct rig_place place[RIG_MAX_PLACES];
    unsigned place_count;
    uint64_t notes; /**< defects of the capture that did not stop the reading */
};

/** Loads the firmware that the options name (or the demo) and builds the machine. @p rig is zero
 * but for `kinds` and `trace`; the caller calls rig_close() in any case. */
CPS_MUST_USE struct cps_err *rig_open(struct rig *rig, const struct cps_options *opt);
void rig_close(struct rig *rig);
/** Tells the machine what the capture's GPU needs of its boot. */
void rig_prepare(struct rig *rig);
/** Boots if that has not happened; on return rig->stop says how it ended. */
void rig_boot(struct rig *rig);
/** A machine as new, for another run of the same capture. */
CPS_MUST_USE struct cps_err *rig_restart(struct rig *rig);
/** Takes a copy of a machine that has booted this firmware, with the events of its boot left out.
 */
CPS_MUST_USE struct cps_err *rig_adopt(struct rig *rig, struct cps_machine *booted);
/** Lets events flow; rig_boot() does it too. */
void rig_watch(struct rig *rig);
/** Whether traces name the processor in each line. */
bool rig_has_processors(const struct rig *rig);
/** An error if the GPU that rig->gpu names cannot run this firmware's generation. */
CPS_MUST_USE struct cps_err *rig_check_gpu(const struct rig *rig);
/** Feeds a capture, submission by submission, and ends the run. */
CPS_MUST_USE struct cps_err *rig_play(struct rig *rig, struct cps_stream *capture);

#endif
