/* SPDX-License-Identifier: MIT
 * The end of a command that memory is short for. */
#include "tools/cmd/terminal/oom.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cmd/terminal/progress.h"
#include "trace/out/outfile.h"

void (*tool_oom_handler)(void);

void tool_oom(void)
{
    cps_outfile_unlink_all();
    if (tool_oom_handler)
        tool_oom_handler();
    progress_hide();
    fputs("cpscope: out of memory\n", stderr);
    exit(3);
}

static void *need(void *memory)
{
    if (!memory)
        tool_oom();
    return memory;
}

void *tool_alloc(size_t count, size_t size)
{
    return need(calloc(count ? count : 1, size));
}

void *tool_realloc(void *old, size_t size)
{
    return need(realloc(old, size ? size : 1));
}

char *tool_strdup(const char *text)
{
    return need(strdup(text));
}

const char *tool_text(const struct cps_buf *text)
{
    if (text->failed)
        tool_oom();
    return cps_buf_text(text);
}

struct cps_err *tool_err(struct cps_err *err)
{
    if (err && err->code == CPS_ERR_NOMEM)
        tool_oom();
    return err;
}
