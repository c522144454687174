/* SPDX-License-Identifier: MIT
 * One line on stderr, and the exit status that goes with it. */
#include "tools/cmd/terminal/report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "isa/base/within.h"
#include "trace/out/json.h"

int report_error(struct cps_err *err)
{
    int status = err->code == CPS_ERR_USAGE ? 2 : 3;
    fprintf(stderr, "cpscope: %s\n", err->message);
    cps_err_free(err);
    return status;
}

int report_result(struct cps_err *err)
{
    return err ? report_error(err) : 0;
}

void report_note(const char *what, const struct cps_err *err)
{
    if (err)
        fprintf(stderr, "cpscope: %s: %s\n", what, err->message);
}

static bool is_quiet;

void report_be_quiet(bool quiet)
{
    is_quiet = quiet;
}

void report_aside(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!is_quiet)
        vfprintf(stderr, format, args);
    va_end(args);
}

struct cps_err *report_skip(struct cps_err *err, char *const *captures, unsigned count, unsigned i,
                            unsigned *skipped)
{
    if (err && err->code == CPS_ERR_MISMATCH && count > 1) {
        fprintf(stderr, "cpscope: %s: skipped: %s\n", captures[i], err->message);
        cps_err_free(err);
        err = NULL;
        ++*skipped;
    }
    if (err || i + 1 < count || !*skipped)
        return err;
    if (*skipped == count)
        return cps_err_new(CPS_ERR_INPUT,
                           "all %u captures are skipped: expected one of the firmware's GPU",
                           *skipped);
    fprintf(stderr, "cpscope: %u of %u captures are skipped\n", *skipped, count);
    return NULL;
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
    va_start(args, format);
    struct cps_err *err = cps_err_vnew_(CPS_ERR_USAGE, format, args);
    va_end(args);
    return report_error(err);
}

int report_stdout(int status)
{
    bool lost = fflush(stdout) != 0;
    int why = lost ? errno : 0;
    if ((!lost && !ferror(stdout)) || status == 2 || status == 3)
        return status;
    if (why)
        fprintf(stderr, "cpscope: (stdout): cannot write: %s\n", strerror(why));
    else
        fputs("cpscope: (stdout): cannot write, what was printed is not complete\n", stderr);
    return 3;
}
