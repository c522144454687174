/* SPDX-License-Identifier: MIT
 * The debugger's commands: a line of text in, text out. The prompt, scripts, the screen and
 * editors' consoles all run commands through this. */
#ifndef CPS_COMMAND_H
#define CPS_COMMAND_H

#include <stdatomic.h>

#include "isa/base/lex.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/face/debugger/look.h"

/** How `print`, `x` and `display` write a value. */
struct command_form {
    uint32_t count; /**< of values, or instructions */
    char letter;    /**< one of "xduotai" */
    char size;      /**< 'w': 4 bytes, 'g': 8 */
};

/** An expression that `display` shows after every stop. */
struct command_shown {
    int id;
    struct command_form form;
    char *text; /**< owned */
};

struct debugger {
    struct session session;
    struct cps_buf out;         /**< of commands; its reader clears it */
    struct cps_debug_stop stop; /**< of the last move */
    struct cps_buf why;         /**< look_stop() of it: a temporary point is gone since */
    struct look_values before;  /**< registers before the last move */
    bool moved;                 /**< there was one, on this core */
    uint64_t moves;             /**< how many were made */
    atomic_int interrupt;       /**< set to stop a move */
    bool quit;
    bool wants_screen;
    bool has_terminal; /**< of a user: else `screen` is refused */
    unsigned nested;   /**< `source` inside `source` */

    /** Shows `out` before a program of the user writes to the same terminal; NULL: there is none,
     * and `shell` is refused. */
    struct cps_err *(*flush)(struct debugger *debugger);

    unsigned frame;     /**< of calls, that `list` and `x` are about; 0: the innermost */
    uint32_t listed[2]; /**< units that `list` showed: the first, and after the last */
    bool has_listed;
    struct command_form examined; /**< by `x`; count 0: nothing was */
    uint64_t examined_at;         /**< after it */

    struct command_shown *shown; /**< owned */
    size_t shown_count;
    int shown_last; /**< id */

    int writing;           /**< the point that lines are read for, up to "end"; 0: none */
    struct cps_buf lines;  /**< those */
    int hit;               /**< the point that stopped the last move and has commands; 0: none */
    struct cps_buf repeat; /**< the line that an empty one repeats */
};

/** Runs one line; "" does nothing, "#" begins a comment. After `commands` it stores the line.
 * @return NULL, or CPS_ERR_SYNTAX and others that are only about this line */
CPS_MUST_USE struct cps_err *command_run(struct debugger *debugger, const char *line);
/** The line that an empty one repeats at a prompt, "" for none. */
const char *command_repeat(const struct debugger *debugger);
/** Runs the lines of a file, each shown before its output; stops at the first error. */
CPS_MUST_USE struct cps_err *command_source(struct debugger *debugger, const char *path);
/** Appends the completions of the word at the end of @p line, one in a line.
 * @return where that word begins */
size_t command_complete(const struct debugger *debugger, const char *line, struct cps_buf *out);
/** Appends the position of the core and the instruction there: what every move prints. */
void command_show(struct debugger *debugger);
/** Releases what commands hold, and the points. */
void command_deinit(struct debugger *debugger);

/* ---- between the files of commands ---- */

/** Arguments of a handler. */
struct command_args {
    const char *text; /**< after the command's name, and after the count */
    int how;          /**< of its row */
    uint64_t count;   /**< if the row says COUNT */
};
/** What delete, disable and enable do; POINT_COUNT: nothing. */
enum point_change { POINT_COUNT, POINT_REMOVE, POINT_DISABLE, POINT_ENABLE, POINT_ENABLE_ONCE };
typedef struct cps_err *command_handler(struct debugger *debugger, struct command_args *args);

/* The handlers of command.def. */
#define ROW(group, name, others, arguments, takes, handler, how, again, help) \
    command_handler command_##handler##_;
#include "tools/face/debugger/command.def"

/** A topic of `info` by its index, NULL after the last. */
const char *command_topic(unsigned index);
/** Runs a line, without the commands of points. */
CPS_MUST_USE struct cps_err *command_one(struct debugger *debugger, const char *line);
/** Reads the number that @p text is. @param expected  for the error */
CPS_MUST_USE struct cps_err *command_number(const char *text, int64_t least, int64_t most,
                                            const char *expected, int64_t *ret);
/** Stores a line that `commands` waits for. */
CPS_MUST_USE struct cps_err *command_keep_line(struct debugger *debugger, const char *line);
/** Runs the commands of the point that stopped the last move, and of points at which these stop. */
CPS_MUST_USE struct cps_err *command_run_hits(struct debugger *debugger);
/** Appends what `print` shows of @p text, with a newline. */
CPS_MUST_USE struct cps_err *command_put_print(struct debugger *debugger, const char *text,
                                               char letter, struct cps_buf *out);
/** Appends all that `display` shows. */
void command_put_shown(struct debugger *debugger);
/** Where the chosen frame is. */
uint32_t command_pc(const struct debugger *debugger);
/** The unit after @p count instructions from @p pc on. */
uint32_t command_after(const struct session *session, uint32_t pc, unsigned count);
/** The point whose id begins @p text, which moves after it. "$bpnum" is the last one. */
CPS_MUST_USE struct cps_err *command_find_point(struct debugger *debugger, const char **text,
                                                struct cps_debug_point **ret);
/** A place of code: a label, a packet, a line, an expression; "" is where the frame is. */
CPS_MUST_USE struct cps_err *command_place(const struct debugger *debugger, const char *text,
                                           size_t length, uint32_t *ret);

#endif
