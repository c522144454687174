/* SPDX-License-Identifier: MIT
 * Memory for commands. A command without memory ends at once, with one line and status 3, so that
 * its code need not ask. Libraries (isa, fw, trace, emu) keep errors as values. */
#ifndef CPS_OOM_H
#define CPS_OOM_H

#include "isa/base/buf.h"
#include "isa/base/list.h"

struct json_object;

/** Ends the program: "cpscope: out of memory", status 3, no temporary files. Of several threads one
 * prints. */
_Noreturn void tool_oom(void);
/** Called by tool_oom() first: puts the terminal back, or reports to another process and does not
 * return. NULL: nothing. */
extern void (*tool_oom_handler)(void);

/** @p count items of @p size bytes, zero; never NULL. The caller frees it. */
void *tool_alloc(size_t count, size_t size);
/** As strdup(), never NULL. */
char *tool_strdup(const char *text);
/** Makes room for one more item of a list, as CPS_LIST_ROOM does. */
#define TOOL_ROOM(list, count) tool_need(CPS_LIST_ROOM(list, count))
/** Ends the program unless an allocation, as @p good tells, was successful. */
static inline void tool_need(bool good)
{
    if (!good)
        tool_oom();
}
/** Passes on any error but that of memory, at which the program ends. */
struct cps_err *tool_err(struct cps_err *err);
/** Ends the program with an error of a call that fails for lack of memory alone; NULL is fine. */
void tool_must(struct cps_err *err);
/** The text of a buffer, of which nothing is lost. */
const char *tool_text(const struct cps_buf *buf);
/** @p value, of which nothing is lost. */
struct json_object *tool_json(struct json_object *value);

#endif
