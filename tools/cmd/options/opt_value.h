/* SPDX-License-Identifier: MIT
 * What the values of options can be (value.def): their check, and the words for help and
 * completion. */
#ifndef CPS_OPT_VALUE_H
#define CPS_OPT_VALUE_H

#include <stdbool.h>

#include "isa/base/buf.h"
#include "isa/base/err.h"

struct option;

/** Checks the value of an option of command number @p command against the table that it has.
 * @return NULL, or CPS_ERR_USAGE that lists what is known */
CPS_MUST_USE struct cps_err *opt_check_value(unsigned command, const struct option *option,
                                             const char *value);
/** Appends ": WORD, WORD" where nothing but these can be said; else nothing. */
void opt_value_words(unsigned command, const struct option *option, struct cps_buf *out);

/** How a shell completes the value of an option, or what stands behind the options. */
enum opt_completion {
    OPT_COMPLETE_NONE,
    OPT_COMPLETE_FILES,
    OPT_COMPLETE_DIRS,
    OPT_COMPLETE_WORDS
};
/** @param name  of the option, or a word of the command's arguments in capitals
 * @param argument  what opt.def says that it takes: "FILE" */
enum opt_completion opt_completion(unsigned command, const char *name, const char *argument);
/** Whether several values can be said, with something between them. */
bool opt_is_list(unsigned command, const char *name);
/** The name by which `help values` knows what stands behind the options of a command; NULL: they
 * are files. */
const char *opt_behind(unsigned command);
/** `cpscope help values COMMAND OPTION [BEGIN [WORD...]]`: the values that begin so, one a line;
 * the words are the rest of the command line. Without arguments: which options have any. @return 0,
 * or 2 after one line on stderr */
int help_values(int count, char **arg);

#endif
