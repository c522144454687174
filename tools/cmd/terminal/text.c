/* SPDX-License-Identifier: MIT
 * The one place where text that was put together goes out. */
#include "tools/cmd/terminal/text.h"

#include <stdio.h>

struct cps_err *report_text(const struct cps_buf *text)
{
    if (text->failed)
        return cps_err_nomem();
    /* What is in stdio's buffer yet, main() looks after. */
    return fwrite(cps_buf_text(text), 1, text->size, stdout) == text->size
               ? NULL
               : cps_err_os("(stdout)", "write");
}
