/* SPDX-License-Identifier: MIT
 * A command that memory is short for ends at once, with one line and status 3, as git does.
 * Libraries keep errors as values. */
#ifndef CPS_OOM_H
#define CPS_OOM_H

#include "isa/base/buf.h"
#include "isa/base/list.h"

/** Ends the process: removes the temporary names of its outputs, prints the line, exits with 3. */
_Noreturn void tool_oom(void);
/** Called by tool_oom() in place of the line: what a process of a pool tells its parent. NULL: no
 * such process. */
extern void (*tool_oom_handler)(void);
/** As calloc(). */
void *tool_alloc(size_t count, size_t size);
/** As realloc(). */
void *tool_realloc(void *old, size_t size);
/** As strdup(). */
char *tool_strdup(const char *text);
/** cps_buf_text() of a text that is all there. */
const char *tool_text(const struct cps_buf *text);
/** Makes room for one more item of an array, as CPS_LIST_ROOM does. */
#define TOOL_ROOM(list, count) (CPS_LIST_ROOM((list), (count)) ? (void)0 : tool_oom())
/** Passes on any error but that of memory, at which the process ends. */
struct cps_err *tool_err(struct cps_err *err);

#endif
