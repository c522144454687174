/* SPDX-License-Identifier: MIT
 * What the files of the debugger's commands share. */
#ifndef CPS_COMMAND_PRIVATE_H
#define CPS_COMMAND_PRIVATE_H

#include "tools/face/debugger/command.h"
#include "tools/face/debugger/expr.h"
#include "tools/face/debugger/point.h"

/** What completes the first argument of a command. */
enum command_completes { NONE, PLACE, VALUE, TOPIC, CORE };
/** What an empty line does behind it. */
enum command_again { SAME, BARE, ONCE };

/** A row of command.def. */
struct command_row {
    const char *group, *name, *others, *arguments;
    enum command_completes completes;
    struct cps_err *(*run)(struct debugger *debugger, const char *arguments, int go);
    int go;
    enum command_again again;
    const char *help;
};
/** All of them; the last one has no name. */
extern const struct command_row command_rows[];
/** The row that a word names: by a name, else by a beginning that only one of them has. NULL: no or
 * several. */
const struct command_row *command_find(const char *word, size_t length);
/** Appends which commands begin with a word: "next, nexti". @return how many */
unsigned command_candidates(const char *word, size_t length, struct cps_buf *out);

/** Bytes of the command at the beginning of a line: a word, or "!". */
size_t command_word(const char *line);
/** A topic of `info` by its index, NULL behind the last. */
const char *command_topic(unsigned index);

/* command_move.c */
/** Why it stopped, where it stands, and what `display` asks for. */
void command_stopped(struct debugger *debugger);
/** Before a move: counts it, and keeps what the registers are. */
void command_begin_move(struct debugger *debugger);
/** Reads "N", from 1; 1 if there is nothing. */
CPS_MUST_USE struct cps_err *command_count(const char *arguments, uint64_t *ret);

/* command_lines.c */
/** Keeps a line that `commands` waits for. */
CPS_MUST_USE struct cps_err *command_keep_line(struct debugger *debugger, const char *line);
/** Runs what the point that stopped the last move asks for, and the points behind it. */
CPS_MUST_USE struct cps_err *command_run_hits(struct debugger *debugger);
/** Runs a line, without what points ask for. */
CPS_MUST_USE struct cps_err *command_one(struct debugger *debugger, const char *line);

/* command_print.c */
/** Reads "/8xw" in front of arguments, which move behind it and blanks. @param letters  that are
 * known. @param form  has the defaults; gets what is said */
CPS_MUST_USE struct cps_err *command_form(const char **arguments, const char *letters,
                                          struct command_form *form);
/** Appends a value as `print` writes it. */
void command_put_value(const struct debugger *debugger, uint64_t value, char letter,
                       struct cps_buf *out);
/** Appends what `print` says of @p text, with a newline. */
CPS_MUST_USE struct cps_err *command_put_print(struct debugger *debugger, const char *text,
                                               char letter, struct cps_buf *out);
/** Shows memory or instructions; keeps where that ended. */
void command_put_examined(struct debugger *debugger, const struct command_form *form, uint64_t at,
                          struct cps_buf *out);
/** Appends what `display` asks for, of all that it shows. */
void command_put_shown(struct debugger *debugger);

/* command_frame.c */
/** Where the frame that was chosen stands. */
uint32_t command_pc(const struct debugger *debugger);
/** Whether the core at hand has code there. */
bool command_has_code(const struct session *session, uint32_t pc);
/** The unit behind @p count instructions from @p pc on. */
uint32_t command_behind(const struct session *session, uint32_t pc, unsigned count);

/* command_point.c */
/** Adds a point and says so; it becomes the debugger's in any case. */
CPS_MUST_USE struct cps_err *command_add_point(struct debugger *debugger,
                                               struct cps_debug_point *point);
/** The point whose id begins @p arguments, which moves behind it. "$bpnum" is the last one. */
CPS_MUST_USE struct cps_err *command_find_point(struct debugger *debugger, const char **arguments,
                                                struct cps_debug_point **ret);
/** A place of code: a label, a packet, a line, an expression; "" is where the frame stands. */
CPS_MUST_USE struct cps_err *command_place(const struct debugger *debugger, const char *text,
                                           size_t length, uint32_t *ret);

#endif
