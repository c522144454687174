/* SPDX-License-Identifier: MIT
 * The firmware that ran when a hardware dump was taken: recovered from the dump's instruction cache
 * and a near revision (fw/image/icache.h), and how much of a replay was the hardware's own. */
#ifndef CPS_PLAY_CODE_H
#define CPS_PLAY_CODE_H

#include <stdio.h>

#include "fw/image/icache.h"
#include "trace/event/event.h"
#include "tools/run/dump.h"

struct code {
    struct cps_sink steps; /**< first: takes the STEP events of the replay */
    struct cps_fw_icache cache;
    struct cps_buf why;   /**< why nothing was recovered; empty if it was, or needed no donor */
    bool recovered;       /**< else the firmware is as the user gave it */
    bool same;            /**< that has all of the dump's words: nothing is to be recovered */
    uint64_t executed[3]; /**< instructions, by the mark of their words */
};

/** Reads the dump's code and, if @p fw is given and another revision, replaces it by what was
 * recovered. That the dump does not hold what it takes is no error: then `why` says so. @p ret is
 * freed with code_free().
 * @return NULL, CPS_ERR_NOMEM, or CPS_ERR_INPUT: @p fw is no near revision */
CPS_MUST_USE struct cps_err *code_recover(const struct dump *dump, struct cps_fw **fw,
                                          struct code **ret);
struct play;
/** Appends a line: which firmware a dump runs; and before it, if the dump is cut, a warning. */
void code_put_choice(const struct play *play, struct cps_buf *out);
/** The firmware with which any command opens a dump: the dump's own, unless `as_given` or
 * --no-recover says otherwise. Prints which one it is, unless the play is quiet. */
CPS_MUST_USE struct cps_err *code_open(struct play *play);
void code_free(struct code *code);
/** Words of the image with a mark. */
uint32_t code_words(const struct code *code, enum cps_fw_mark mark);
/** Sentences for people, lines that begin with "# ". */
void code_print(const struct code *code, FILE *out);
struct json_object;
/** The same numbers: words and executed instructions by mark, or why there are none. */
struct json_object *code_json(const struct code *code);

#endif
