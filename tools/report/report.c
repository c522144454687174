/* SPDX-License-Identifier: MIT
 * One line on stderr, and the exit status that goes with it. */
#include "tools/report/report.h"

#include <stdarg.h>
#include <stdio.h>

#include "trace/json.h"

int report_error(struct cps_err *err)
{
    fprintf(stderr, "cpscope: %s\n", err->message);
    cps_err_free(err);
    return 3;
}

void report_note(const char *what, const struct cps_err *err)
{
    if (err)
        fprintf(stderr, "cpscope: %s: %s\n", what, err->message);
}

struct cps_err *report_json(struct json_object *root)
{
    const char *text = cps_json_print(root, JSON_C_TO_STRING_PRETTY);
    bool good = text != NULL;
    if (good)
        puts(text);
    json_object_put(root);
    return good ? NULL : cps_err_nomem();
}

int report_usage(const char *format, ...)
{
    va_list args;
    fputs("cpscope: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return 2;
}
