/* SPDX-License-Identifier: MIT
 * What the files of the debugger's commands share. */
#ifndef CPS_COMMAND_PRIVATE_H
#define CPS_COMMAND_PRIVATE_H

#include "isa/base/lex.h"
#include "tools/face/debugger/command.h"
#include "tools/face/debugger/expr.h"
#include "tools/face/debugger/point.h"
#include "tools/cmd/terminal/oom.h"

/** What the first argument of a command is; COUNT is read before the handler runs. */
enum command_takes { NONE, PLACE, VALUE, TOPIC, CORE, COUNT };
/** What an empty line does behind it. */
enum command_again { SAME, BARE, ONCE };

/** A row of command.def. */
struct command_row {
    const char *group, *name, *others, *arguments;
    enum command_takes takes;
    command_handler *run;
    int how;
    enum command_again again;
    const char *help;
};
/** All of them; the last one has no name. */
extern const struct command_row command_rows[];
/** The row that a word names: by a name, else by a beginning that only one of them has. NULL: no or
 * several. */
const struct command_row *command_find(const char *word, size_t length);
/** A topic of `info` by its index, NULL behind the last. */
const char *command_topic(unsigned index);
/** Runs a line, without what points ask for. */
CPS_MUST_USE struct cps_err *command_one(struct debugger *debugger, const char *line);

/* command_lines.c */
/** Keeps a line that `commands` waits for. */
CPS_MUST_USE struct cps_err *command_keep_line(struct debugger *debugger, const char *line);
/** Runs what the point that stopped the last move asks for, and the points behind it. */
CPS_MUST_USE struct cps_err *command_run_hits(struct debugger *debugger);

/* command_print.c */
/** Appends what `print` says of @p text, with a newline. */
CPS_MUST_USE struct cps_err *command_put_print(struct debugger *debugger, const char *text,
                                               char letter, struct cps_buf *out);
/** Appends what `display` asks for, of all that it shows. */
void command_put_shown(struct debugger *debugger);

/* command_move.c */
/** Where the frame that was chosen stands. */
uint32_t command_pc(const struct debugger *debugger);
/** The unit behind @p count instructions from @p pc on. */
uint32_t command_behind(const struct session *session, uint32_t pc, unsigned count);

/* command_point.c */
/** The point whose id begins @p text, which moves behind it. "$bpnum" is the last one. */
CPS_MUST_USE struct cps_err *command_find_point(struct debugger *debugger, const char **text,
                                                struct cps_debug_point **ret);
/** A place of code: a label, a packet, a line, an expression; "" is where the frame stands. */
CPS_MUST_USE struct cps_err *command_place(const struct debugger *debugger, const char *text,
                                           size_t length, uint32_t *ret);

#endif
