/* SPDX-License-Identifier: MIT
 * Colours of a terminal. */
#include "tools/cmd/terminal/paint.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "isa/base/shown.h"

static const char *const codes[] = {
#define PAINT(id, code, ...) code,
#include "tools/cmd/terminal/paint.def"
};
static const char end_code[] = "\033[0m";

/* A terminal may be left in the middle of a colour. */
static volatile bool painted;

bool paint_wanted(const char *when, bool *ret)
{
    const char *none = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    bool is_auto = !when || !strcmp(when, "auto");
    *ret = when && !strcmp(when, "always");
    if (is_auto)
        *ret = (isatty(STDOUT_FILENO) || pager_runs()) && !(none && *none) && terminal &&
               strcmp(terminal, "dumb") != 0;
    painted = painted || (*ret && isatty(STDOUT_FILENO));
    return is_auto || *ret || !strcmp(when, "never");
}

void paint_end_by_signal(void)
{
    ssize_t ignored = painted ? write(STDOUT_FILENO, end_code, sizeof(end_code) - 1) : 0;
    (void)ignored;
}

void paint_begin(struct cps_buf *out, bool on, enum paint what)
{
    if (on)
        cps_buf_str(out, codes[what]);
}

void paint_end(struct cps_buf *out, bool on)
{
    if (on)
        cps_buf_str(out, end_code);
}

/* Bytes of one of our codes at the start of a text; 0: there is none. */
static size_t code_at(const char *text)
{
    for (unsigned i = 0; i < PAINT_COUNT; i++) {
        if (!strncmp(text, codes[i], strlen(codes[i])))
            return strlen(codes[i]);
    }
    return strncmp(text, end_code, sizeof(end_code) - 1) ? 0 : sizeof(end_code) - 1;
}

struct cps_err *paint_write(struct cps_outfile *file, const struct cps_buf *text)
{
    const char *at = cps_buf_text(text);
    const char *end = at + text->size;
    CPS_BUF shown = {0};
    while (at < end) {
        const char *next = memchr(at + 1, '\033', (size_t)(end - at - 1));
        size_t code = code_at(at);
        cps_buf_add(&shown, at, code);
        cps_shown_add_(&shown, at + code, (size_t)((next ? next : end) - at) - code, true);
        at = next ? next : end;
    }
    if (text->failed || shown.failed)
        return cps_err_nomem();
    cps_outfile_write(file, cps_buf_text(&shown), shown.size);
    return NULL;
}
