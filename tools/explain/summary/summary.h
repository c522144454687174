/* SPDX-License-Identifier: MIT
 * The summary of a run: text for people on stderr, or one JSON object on stdout. */
#ifndef CPS_SUMMARY_H
#define CPS_SUMMARY_H

#include "tools/run/account.h"
#include "tools/run/play.h"

struct json_object;

/** What a device, which submissions came from, says of itself. */
struct summary_source {
    void *context;
    /** Adds to the summary: an object `device`, and its text as `.device`. */
    void (*put)(void *context, struct json_object *root);
};

/** @param account  of @p play
 * @param status  of the command
 * @param compared  the JSON form has the rows of play->replay, too
 * @param source  of a device; else NULL
 * @return CPS_ERR_NOMEM if it is not all there */
CPS_MUST_USE struct cps_err *summary_print(const struct play *play,
                                           const struct play_account *account, int status,
                                           bool json, bool compared,
                                           const struct summary_source *source);
/** Prints on stderr the reason of the status, and how many submissions are missing.
 * @param name  of the input
 * @return play_account_status() */
int summary_print_stop(const struct play_account *account, const char *name);

#endif
