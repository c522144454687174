/* SPDX-License-Identifier: MIT
 * Runs: a program opens firmware and an input (a capture, PM4 text, a hang dump, a script of
 * another engine), gets the events, and of a hang dump the comparison with the hardware. */
#ifndef CPS_RUN_H
#define CPS_RUN_H

#include "../../emu/engine.h"
#include "../../emu/policy.h"
#include "../../isa/isa.h"
#include "../../trace/capture/capture.h"

CPS_C_BEGIN

#define CPS_RUN_MAX_FW     8
#define CPS_RUN_MAX_POLICY 16

/** Words of a policy, such as {"waits", "stop"}, or {NULL, "waits=stop prefetch=on"}. */
struct cps_run_policy {
    const char *name; /**< NULL: `text` has the names */
    const char *text;
};

/** What the registers CHIP_ID and CHIP_VARIANT read. */
struct cps_chip_id {
    bool given, has_variant;
    uint32_t id, variant;
};

/** From cps_run_config_default(). Texts are borrowed. */
struct cps_run_config {
    const char *fw[CPS_RUN_MAX_FW]; /**< paths; a5xx: two of each revision; or "hwsq:g92" */
    unsigned fw_count;
    bool demo;          /**< the demo's firmware if there is no other */
    unsigned gen;       /**< enum cps_gen of the firmware; 0: detected */
    unsigned as;        /**< enum cps_gen: also runs captures of other generations; 0: rejected */
    const char *engine; /**< "hwsq", "seq", "vp1", "pfifo": runs a script; NULL or "afuc": firmware
                         */
    const char *chip;   /**< of `engine`: a chip, or of SEQ an ABI; NULL: the script names it */
    struct cps_chip_id chip_id;
    const char *inject; /**< "preempt@SUBMIT:PACKET,...", interrupts to raise; NULL: none */
    const char *rnn;    /**< folder of rnndb files; NULL: built-in names */
    struct cps_run_policy policy[CPS_RUN_MAX_POLICY]; /**< later ones win */
    unsigned policy_count;
    bool policy_mixed; /**< words of other engines are ignored, not rejected */
    uint64_t limit;    /**< instructions per submission */
    long submit;       /**< the one submission to run; -1: all */
    void (*progress)(const struct cps_stream *); /**< called while the input is read, or NULL */
    bool no_recover; /**< a hang dump runs `fw`, not the firmware recovered from it */
};

/** Firmware and its input. One thread at a time may use it. */
struct cps_run;

/** How a run ended. Texts belong to the run. */
struct cps_run_result {
    enum cps_stop stop;
    const char *end; /**< `stop` as a word: "done", "bad-packet", ... */
    const char *why; /**< where and why it stopped, in a sentence; "" if there is no more to say */
    bool waits;      /**< `wait` has the same as fields */
    struct cps_wait wait;
    bool complete;        /**< the input was executed to its end; a dump: it was compared */
    uint32_t submissions; /**< of the input */
    uint64_t executed;    /**< submissions that were executed; of a script its steps */
    uint64_t instructions, packets;
    /* Of a hang dump: */
    bool replayed;
    bool agrees;             /**< the hardware's position was found, and no value differs */
    const char *place;       /**< where the hardware was, in a sentence */
    size_t rows;             /**< values that were compared */
    size_t equal, different; /**< of these; the others have another verdict */
};

/** A value of the hardware in a hang dump, and the replay's. */
struct cps_run_row {
    const char *group;   /**< "processor", "fetched words", "registers", ... */
    const char *name;    /**< of the register or word; until cps_run_close() */
    const char *verdict; /**< "equal", "different", "in flight", ... */
    const char *why;     /**< or NULL */
    uint32_t hardware, emulated;
};

/** A configuration of defaults: 100 million instructions per submission, all submissions. */
CPS_PUBLIC struct cps_run_config cps_run_config_default(void);
/**
 * Loads what @p config names, and opens an input.
 * @param config  must live until cps_run_close()
 * @param path    a capture, PM4 text, hang dump or run file, also compressed; NULL: items come by
 *                cps_run_feed()
 * @param ret     the caller closes it
 * @return NULL; CPS_ERR_INPUT, CPS_ERR_USAGE (what @p config asks for does not fit), CPS_ERR_OS,
 * CPS_ERR_SYNTAX (a policy), CPS_ERR_NOMEM
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_run_open(const struct cps_run_config *config,
                                                     const char *path, struct cps_run **ret);
/** The engine, to inspect and change between calls; it belongs to the run. */
CPS_PUBLIC struct cps_engine *cps_run_engine(struct cps_run *run);
/** Sends the events of kinds @p kinds to @p sink, which must live as long as the run. */
CPS_PUBLIC void cps_run_sink(struct cps_run *run, struct cps_sink *sink, uint32_t kinds);
/** Feeds one item of a run that was opened without a path, and runs until the engine needs the next
 * one. The first one boots the firmware.
 * @return NULL; CPS_ERR_MISMATCH (a capture of another generation), CPS_ERR_INPUT, CPS_ERR_USAGE,
 * CPS_ERR_NOMEM */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_run_feed(struct cps_run *run,
                                                     const struct cps_item *item);
/** Runs the whole input, or ends a run that was fed; of a hang dump compares the replay with the
 * hardware. A second call is CPS_ERR_USAGE.
 * @param ret  also after an error: what ran until then
 * @return NULL, also if the firmware stopped early; CPS_ERR_INPUT, CPS_ERR_MISMATCH, CPS_ERR_OS,
 * CPS_ERR_NOMEM */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_run_finish(struct cps_run *run,
                                                       struct cps_run_result *ret);
/** One of the values that were compared; false at the end. */
CPS_PUBLIC bool cps_run_row(const struct cps_run *run, size_t index, struct cps_run_row *ret);
/** Releases all. NULL is allowed. */
CPS_PUBLIC void cps_run_close(struct cps_run *run);

CPS_C_END

#endif
