/* SPDX-License-Identifier: MIT
 * The debugger's commands: a line of text in, text out. The prompt, scripts, the screen and
 * editors' consoles all run commands through this. */
#ifndef CPS_COMMAND_H
#define CPS_COMMAND_H

#include <stdatomic.h>

#include "tools/face/debugger/look.h"
#include "tools/face/debugger/session.h"

/** How `print`, `x` and `display` write a value. */
struct command_form {
    uint32_t count; /**< of values, or instructions */
    char letter;    /**< one of "xduotai" */
    char size;      /**< 'w': 4 bytes, 'g': 8 */
};

/** What `display` shows behind every stop. */
struct command_shown {
    int id;
    struct command_form form;
    char *text; /**< owned */
};

struct debugger {
    struct session session;
    struct cps_buf out;         /**< what commands print; whoever shows it clears it */
    struct cps_debug_stop stop; /**< of the last move */
    struct cps_buf why;         /**< look_stop() of it: a point for one time is gone since */
    struct look_values before;  /**< registers in front of the last move */
    bool moved;                 /**< there was one, on this core */
    uint64_t moves;             /**< how many were made: who shows the machine looks again */
    atomic_int interrupt;       /**< set to stop a move */
    bool quit;
    bool wants_screen;
    bool has_terminal; /**< somebody sits at one: else `screen` is refused */
    unsigned nested;   /**< `source` inside `source` */

    /** Shows `out` before a program of the user writes to the same terminal; NULL: there is none,
     * and `shell` is refused. */
    struct cps_err *(*flush)(struct debugger *debugger);

    unsigned frame;            /**< of calls, that `list` and `x` are about; 0: the innermost */
    struct cps_debug_place at; /**< of the last line that was shown: a move forgets the frame */
    uint32_t listed[2];        /**< units that `list` showed: the first, and behind the last */
    bool has_listed;
    struct command_form examined; /**< by `x`; count 0: nothing was */
    uint64_t examined_at;         /**< behind it */

    struct command_shown *shown; /**< owned */
    size_t shown_count;
    int shown_last; /**< id */

    int writing;           /**< the point that lines are read for, up to "end"; 0: none */
    struct cps_buf lines;  /**< those */
    int hit;               /**< the point that stopped the last move and has commands; 0: none */
    struct cps_buf repeat; /**< the line that an empty one stands for */
};

/** Runs one line; "" does nothing, "#" begins a comment. Behind `commands` it takes the line for
 * later. @return NULL, or CPS_ERR_SYNTAX and others that are only about this line */
CPS_MUST_USE struct cps_err *command_run(struct debugger *debugger, const char *line);
/** What an empty line stands for at a prompt, "" for nothing. */
const char *command_repeat(const struct debugger *debugger);
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
/** Releases what commands hold, and the points. */
void command_deinit(struct debugger *debugger);

/** What a handler gets. */
struct command_args {
    const char *text; /**< behind the command's name, and behind what its row says is read */
    int how;          /**< of its row */
    uint64_t count;   /**< if the row says COUNT */
};
typedef struct cps_err *command_handler(struct debugger *debugger, struct command_args *args);

/* The handlers of command.def. */
#define ROW(group, name, others, arguments, takes, handler, how, again, help) \
    command_handler command_##handler##_;
#include "tools/face/debugger/command.def"

#endif
