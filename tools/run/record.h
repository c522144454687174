/* SPDX-License-Identifier: MIT
 * One firmware over one capture, its events and coverage in memory: what diff, check and regress
 * are made of. */
#ifndef CPS_RECORD_H
#define CPS_RECORD_H

#include "tools/run/account.h"
#include "tools/run/play.h"
#include "trace/event/mask.h"

/** The result of a run. */
struct record {
    struct cps_event *event; /**< owned */
    size_t count, room;
    bool lost;                   /**< more events than fit */
    size_t most_steps;           /**< as record_setup has it */
    bool stepless;               /**< STEP events were left out: there were more events than that */
    enum cps_trace_form form;    /**< of the file that it was read from */
    struct play_account account; /**< of a trace that was read, only how it ended */
    uint64_t instructions, packets;
    uint64_t misses;         /**< reads of a run file that were not as it expects */
    char missed[160];        /**< the first of them */
    char disagrees[128];     /**< how the replay differs from the dump; "": it does not */
    uint64_t missing;        /**< indirect buffers missing from the capture */
    uint64_t notes;          /**< defects of the capture that did not stop the reading */
    struct cps_cover *cover; /**< per dword of the firmware's image, or unit of a script; owned, may
                                be NULL */
    uint32_t cover_count;
    struct cps_buffers *buffers; /**< of the capture, if they were asked for; owned */
    struct cps_fw *own; /**< the firmware that ran, recovered from a dump; NULL: the one given */
    struct cps_sink sink;
    /* Of scripts, whose STEP events are counted. */
    struct cps_sink steps;
    struct cps_engine *engine; /**< while it runs */
    struct record_step {
        uint32_t behind; /**< the last instruction */
        uint32_t branch; /**< the last branch, of which is not known yet where it went */
        unsigned wait;   /**< instructions until that is known; 0: there is none */
    } last[CPS_MAX_CORES];
};

/** Whether a run executed its input to the end and everything was as that says. */
static inline bool record_is_good(const struct record *record)
{
    return !play_account_status(&record->account) && !record->misses;
}

/** The kinds of events that two runs are compared by, unless --events says otherwise: what the GPU
 * sees, and how the runs end. */
#define RECORD_COMPARED                                                             \
    (1u << CPS_EV_REG | 1u << CPS_EV_PIPE | 1u << CPS_EV_MEMW | 1u << CPS_EV_EXIT | \
     1u << CPS_EV_END | 1u << CPS_EV_METHOD)

/** What a run is made of beside firmware and capture. */
struct record_setup {
    const struct cps_run_config *config; /**< policies, limit, gen, rnn */
    uint32_t kinds;                      /**< events to keep */
    bool cover;                          /**< count what firmware executes */
    const struct cps_buf *text; /**< PM4 text to run, which `capture` is the name of; or NULL */
    bool recover;      /**< a dump runs the firmware that ran there: for who does not compare two */
    bool quiet;        /**< as play.quiet */
    bool scripts;      /**< with it: also what scripts execute, from STEP events */
    size_t most_steps; /**< of more events than that, those of steps are left out; 0: no limit */
    bool buffers;      /**< keep those of the capture */
    bool narrow;       /**< only the submission that `config` names, if any */
};

/** What the runs of a firmware begin with, made once: the firmware, an engine as it stands behind
 * its boot, and one that is that again for each run. */
struct record_boot {
    struct cps_engine *engine; /**< nobody runs it; owned */
    bool booted;          /**< it stands behind the boot, else in front of it: where boots depend
                             on the capture (a5xx) or end early, each run boots by itself */
    struct record record; /**< events and coverage of the boot */
    struct play *play;    /**< the firmware, and the engine that runs; NULL: none; owned */
};

/** Boots @p firmware. Of scripts there is nothing to boot. The caller calls record_boot_deinit().
 */
CPS_MUST_USE struct cps_err *record_boot(const struct record_setup *setup,
                                         const char *const firmware[2], struct record_boot *ret);
/** Opens @p firmware for runs that boot by themselves, as they do without: a boot may follow from
 * the capture. @param runs  one alone needs nothing to share. @param boot  zero, or of a call
 * before: then nothing happens; the caller calls record_boot_deinit() */
CPS_MUST_USE struct cps_err *record_open(const struct record_setup *setup,
                                         const char *const firmware[2], unsigned runs,
                                         struct record_boot *boot);
void record_boot_deinit(struct record_boot *boot);

/**
 * Runs. @p firmware  one path, or two of a5xx; NULL: the demo; or the name of an engine for scripts
 * ("hwsq:g92"), which runs a script for a capture. @p capture  path; NULL: the demo's.
 * @param boot  of this firmware and these options, for runs one after the other; or NULL
 * @return NULL (also when the machine stopped early), or an error; the caller calls record_deinit()
 */
CPS_MUST_USE struct cps_err *record_run(const struct record_setup *setup,
                                        const char *const firmware[2], const char *capture,
                                        struct record_boot *boot, struct record *ret);
void record_deinit(struct record *record);
/** Reads all events of a trace file into @p ret. @param head  gets its head, to be released with
 * cps_trace_head_deinit() also on error; or NULL */
CPS_MUST_USE struct cps_err *record_read(const char *path, struct cps_trace_head *head,
                                         struct record *ret);
/** Masks what control registers are written with that is an address of code: where code lies is no
 * behaviour. @return NULL or CPS_ERR_NOMEM */
CPS_MUST_USE struct cps_err *record_mask_addresses(const struct cps_names *names,
                                                   struct cps_mask *mask);
/** Leaves out the events of steps, and says so in `stepless`. */
void record_drop_steps(struct record *record);
/** Appends an event; used as a sink, too. */
void record_keep(struct record *record, const struct cps_event *events, size_t count);

#endif
