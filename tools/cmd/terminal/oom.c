/* SPDX-License-Identifier: MIT
 * Memory for commands. */
#include "tools/cmd/terminal/oom.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/cmd/terminal/paint.h"
#include "tools/cmd/terminal/progress.h"
#include "tools/cmd/terminal/report.h"
#include "trace/out/json.h"
#include "trace/out/outfile.h"

void (*tool_oom_handler)(void);

void tool_oom(void)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    if (tool_oom_handler)
        tool_oom_handler();
    while (atomic_flag_test_and_set(&told))
        pause(); /* the thread that prints ends the program */
    progress_hide();
    fputs("cpscope: out of memory\n", stderr);
    cps_outfile_unlink_all();
    pager_end_by_signal(); /* it reads the same terminal as the shell that would go on */
    _exit(3);
}

struct cps_err *tool_err(struct cps_err *err)
{
    if (err && err->code == CPS_ERR_NOMEM)
        tool_oom();
    return err;
}

void tool_must(struct cps_err *err)
{
    if (!tool_err(err))
        return;
    report_error(err);
    cps_outfile_unlink_all();
    _exit(3);
}

void *tool_alloc(size_t count, size_t size)
{
    void *ret = calloc(count ? count : 1, size);
    tool_need(ret != NULL);
    return ret;
}

char *tool_strdup(const char *text)
{
    return memcpy(tool_alloc(strlen(text) + 1, 1), text, strlen(text) + 1);
}

const char *tool_text(const struct cps_buf *buf)
{
    tool_need(!buf->failed);
    return cps_buf_text(buf);
}

struct json_object *tool_json(struct json_object *value)
{
    tool_need(cps_json_complete(value));
    return value;
}
