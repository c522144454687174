/* SPDX-License-Identifier: MIT
 * What a run is made of, beside its input: the firmware or engine, the chip, and limits. */
#ifndef CPS_RUN_CONFIG_H
#define CPS_RUN_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/policy.h"
#include "isa/isa.h"

struct cps_stream;

#define RUN_MAX_FW     8
#define RUN_MAX_POLICY 16

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

/** Where it is zero, a run takes the default. Texts are borrowed. */
struct cps_run_config {
    const char *fw[RUN_MAX_FW]; /**< paths; a5xx: two of each revision; or "hwsq:g92" */
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
    struct cps_run_policy policy[RUN_MAX_POLICY]; /**< later ones win */
    unsigned policy_count;
    bool policy_mixed; /**< words of other engines are ignored, not rejected */
    uint64_t limit;    /**< instructions per submission */
    long submit;       /**< the one submission to run; -1: all */
    void (*progress)(const struct cps_stream *); /**< called while the input is read, or NULL */
    bool no_recover;   /**< a hang dump runs `fw`, not the firmware recovered from it */
};

/** A configuration of defaults: 100 million instructions, all submissions. */
struct cps_run_config cps_run_config_default(void);
/** Replaces the policies by the words of @p text, such as "waits=stop prefetch=on", which must
 * outlive @p config; NULL: none. */
void cps_run_set_policy(struct cps_run_config *config, const char *text);
/** Applies the policies to @p ret, for the engine of @p gen.
 * @return NULL, or CPS_ERR_SYNTAX as cps_policy_parse() */
CPS_MUST_USE struct cps_err *cps_run_apply_policy(const struct cps_run_config *config,
                                                  enum cps_gen gen, struct cps_policy *ret);
/** The same for a set of enum cps_engines. */
CPS_MUST_USE struct cps_err *cps_run_policy_for(const struct cps_run_config *config,
                                                unsigned engines, struct cps_policy *ret);
struct cps_fw;
/** Checks that @p fw has the registers of @p chip. @return NULL, or CPS_ERR_USAGE */
CPS_MUST_USE struct cps_err *cps_chip_id_check(const struct cps_chip_id *chip,
                                               const struct cps_fw *fw);

/* ---- Engines that run scripts ---- */

/** Whether `engine` is one of those. */
bool cps_run_is_script(const struct cps_run_config *config);
/** The instruction set of `engine`, and its chip or ABI, 0 if the script names it.
 * @return NULL, or CPS_ERR_USAGE: `engine` has no such chip */
CPS_MUST_USE struct cps_err *cps_run_script_engine(const struct cps_run_config *config,
                                                   const struct cps_isa **isa, unsigned *gen);
/** The chip or ABI that a name such as "hwsq:g92" or "seq:old" means where firmware is named, also
 * after folders; 0 if it is none. */
unsigned cps_named_engine(const char *path);
/** Rejects a name such as "hwsq:nv20", whose engine has no such chip, unless it is a file.
 * @return NULL, or CPS_ERR_USAGE */
CPS_MUST_USE struct cps_err *cps_named_engine_check(const char *path);

#endif
