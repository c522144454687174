/* SPDX-License-Identifier: MIT
 * The configuration of a run: policies, the chip, and engines that run scripts. */
#ifndef CPS_RUN_CONFIG_H
#define CPS_RUN_CONFIG_H

#include "emu/policy.h"
#include "tools/run/run.h"

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
/** The same, or the first firmware is a name such as "hwsq:g92". */
bool cps_run_wants_script(const struct cps_run_config *config);
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
