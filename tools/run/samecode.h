/* SPDX-License-Identifier: MIT
 * Whether a run would be the same with another firmware, since it looks at nothing that differs.
 *
 * Compared are: the state behind the boot, with the events and the coverage of that boot, which has
 * been run with both; the words that the run then executed, stood at or read, at the same places of
 * an image of the same size; and the entries of packet tables that it looked up. What runs the same
 * way gives the same events, program counters included, the same counts and the same coverage
 * (emu/afuc/seen.h).
 *
 * Runs of scripts and of hardware dumps are not looked into: what they do follows from more than
 * the image. */
#ifndef CPS_SAMECODE_H
#define CPS_SAMECODE_H

#include "tools/run/play.h"

struct record;

/** Where the runs of a firmware begin: behind its boot, for a5xx in front of it. */
struct same_base {
    char hash[65]; /**< of all but the image and the tables; "": not known */
    uint32_t table[CPS_MAX_CORES][128];
};

/** What a run looked at. */
struct same_code {
    char base[65]; /**< where it began; "": not known */
    char hash[65]; /**< of what it looked at */
    char *what;    /**< "FIRST:COUNT,...;CORE.ENTRY,...", in hexadecimal: words, entries; owned */
};

/** Where @p play stands now. @param boot  the events and the coverage up to here */
CPS_MUST_USE struct cps_err *same_base_of(const struct play *play, const struct record *boot,
                                          struct same_base *ret);

/** Looks at a run that begins now, in @p base. Coverage is counted, from now on.
 * @param ret  gets what same_end() takes; NULL: nothing can be said of this run */
CPS_MUST_USE struct cps_err *same_begin(const struct play *play, const struct same_base *base,
                                        uint8_t **ret);
/** What it looked at; @p seen is freed. */
CPS_MUST_USE struct cps_err *same_end(const struct play *play, const struct same_base *base,
                                      uint8_t *seen, struct same_code *ret);
void same_code_deinit(struct same_code *code);

/** Whether the run would be the same with @p fw, whose runs begin in @p base. */
bool same_code_holds(const struct same_code *code, const struct same_base *base,
                     const struct cps_fw *fw);

#endif
