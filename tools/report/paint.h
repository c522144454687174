/* SPDX-License-Identifier: MIT
 * Colours for people, and a pager for what is longer than their screen. */
#ifndef CPS_PAINT_H
#define CPS_PAINT_H

#include "isa/base/buf.h"
#include "isa/base/err.h"
#include "trace/outfile.h"

/** What a colour is for. */
enum paint { PAINT_HEAD, PAINT_NAME, PAINT_VALUE, PAINT_CHANGE, PAINT_FAINT, PAINT_COUNT };

/** Whether a text gets colours. @param when  "always", "never", "auto" or NULL: on a terminal that
 * is not "dumb", also through a pager, unless NO_COLOR is set to anything (no-color.org)
 * @param ret  gets it @return false: another word */
bool paint_wanted(const char *when, bool *ret);
/** Begins and ends a colour, unless @p on is false. */
void paint_begin(struct cps_buf *out, bool on, enum paint what);
void paint_end(struct cps_buf *out, bool on);
/** Writes a text in which only our own colours are no text: names out of files may hold others. */
CPS_MUST_USE struct cps_err *paint_write(struct cps_outfile *file, const struct cps_buf *text);

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
