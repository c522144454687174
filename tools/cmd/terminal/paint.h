/* SPDX-License-Identifier: MIT
 * Colours for people, and a pager for what is longer than their screen. */
#ifndef CPS_PAINT_H
#define CPS_PAINT_H

#include "isa/base/buf.h"
#include "isa/base/err.h"
#include "trace/out/outfile.h"

/** What a colour is for: rows of paint.def. */
enum paint {
#define PAINT(id, ...) PAINT_##id,
#include "tools/cmd/terminal/paint.def"
    PAINT_COUNT
};

/** Texts whose lines paint.def knows: of traces, of differences, of assembly. */
enum paint_text { PAINT_TRACE, PAINT_DIFF, PAINT_CODE };

/** Whether a text gets colours. @param when  "always", "never", "auto" or NULL: on a terminal that
 * is not "dumb", also through a pager, unless NO_COLOR is set to anything (no-color.org)
 * @param ret  gets it @return false: another word */
bool paint_wanted(const char *when, bool *ret);
/** Ends the colour that a terminal may be in, in a signal handler that ends the command. */
void paint_end_by_signal(void);
/** Begins and ends a colour, unless @p on is false. */
void paint_begin(struct cps_buf *out, bool on, enum paint what);
void paint_end(struct cps_buf *out, bool on);
/** Writes a text in which only our own colours are no text: names out of files may hold others. */
CPS_MUST_USE struct cps_err *paint_write(struct cps_outfile *file, const struct cps_buf *text);

/** Appends lines of a text, painted; what is no text in them is escaped. */
void paint_lines(enum paint_text text, const char *data, size_t size, struct cps_buf *out);
/** Paints what is written to an output from now on, in whole lines, if it is stdout and
 * paint_wanted().
 * @param path  that it was opened with; NULL: "-" */
void paint_output(const char *when, const char *path, enum paint_text text,
                  struct cps_outfile *out);
/** Prints a text on stdout, painted if that is wanted. @return as report_text() */
CPS_MUST_USE struct cps_err *paint_text(const char *when, enum paint_text text,
                                        const struct cps_buf *from);

/** Lets stdout go through $CPSCOPE_PAGER, $PAGER, or `less`, as git does, if it is a terminal and
 * @p wanted, and with it stderr, if that is one, too; LESS is FRX and LV is -c where they are not
 * set. "cat" and "" are none. */
void pager_begin(bool wanted);
/** Whether stdout goes through one. */
bool pager_runs(void);
/** Waits until whoever reads has seen enough; to be called when all is written. */
void pager_end(void);
/** The same in a signal handler that ends the command: closes all files. Without a pager, nothing.
 */
void pager_end_by_signal(void);

#endif
