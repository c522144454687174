/* SPDX-License-Identifier: MIT
 * The debugger's commands: a line of text in, text out. The prompt, scripts, the screen and
 * editors' consoles all run commands through this. */
#ifndef CPS_COMMAND_H
#define CPS_COMMAND_H

#include <stdatomic.h>

#include "tools/debug/look.h"
#include "tools/debug/session.h"

struct debugger {
    struct session session;
    struct cps_buf out;         /**< what commands print; whoever shows it clears it */
    struct cps_debug_stop stop; /**< of the last move */
    struct look_values before;  /**< registers in front of the last move */
    bool moved;                 /**< there was one, on this core */
    uint64_t moves;             /**< how many were made: who shows the machine looks again */
    atomic_int interrupt;       /**< set to stop a move */
    bool quit;
    bool wants_screen;
    unsigned nested; /**< `source` inside `source` */
};

/** Runs one line; "" does nothing, "#" begins a comment. @return NULL, or CPS_ERR_SYNTAX and others
 * that are only about this line */
CPS_MUST_USE struct cps_err *command_run(struct debugger *debugger, const char *line);
/** Runs the lines of a file, each shown before its output; stops at the first error. */
CPS_MUST_USE struct cps_err *command_source(struct debugger *debugger, const char *path);
/**
 * The @p index'th completion of the word at the end of @p line, from 0.
 * @param start  gets where that word begins
 * @return a new text, or NULL behind the last one
 */
char *command_complete(const struct debugger *debugger, const char *line, unsigned index,
                       size_t *start);
/** Appends where the core stands and the instruction there: what every move prints. */
void command_show(struct debugger *debugger);

/* command.c, command_show.c, command_change.c: the handlers of command.def. */
#define ROW(group, name, alias, arguments, completes, handler, go, help)                    \
    struct cps_err *command_##handler##_(struct debugger *debugger, const char *arguments_, \
                                         int go_);
#include "tools/debug/command.def"

/** Where WHAT of `info` leads; ends with NULL. */
extern const char *const command_topics[];

#endif
