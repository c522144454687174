/* SPDX-License-Identifier: MIT
 * How far a long command is. */
#include "tools/cmd/terminal/progress.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "isa/base/shown.h"
#include "trace/capture/formats.h"

enum { PATIENCE_MS = 1000, PAUSE_MS = 100, USUAL_WIDTH = 80 };

/* Back to the first column, and what is to the right of it erased. */
static const char erase[] = "\r\033[K";

static struct {
    bool allowed;
    pid_t owner;
    uint64_t next; /* ms: when a line is due */
    atomic_bool shown;
    const char *what; /* of a part; NULL: there is none */
    unsigned index, count;
} progress;

/* Whether this thread shows it. */
static _Thread_local bool mine;

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

void progress_allow(void)
{
    const char *terminal = getenv("TERM");
    progress.allowed = isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
    progress.owner = getpid();
    mine = true;
    progress.next = now() + PATIENCE_MS;
}

bool progress_due(void)
{
    return mine && progress.allowed && now() >= progress.next && getpid() == progress.owner;
}

void progress_part(const char *what, unsigned index, unsigned count)
{
    progress.what = count > 1 ? what : NULL;
    progress.index = index;
    progress.count = count;
}

static size_t width(void)
{
    struct winsize size = {0};
    bool known = !ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col > 1;
    return known ? size.ws_col - 1u : USUAL_WIDTH - 1u;
}

/* As many bytes of a text as are whole characters, and no more of these than fit. */
static size_t fitting(const char *text, size_t size)
{
    size_t room = width();
    for (size_t i = 0; i < size; i++) {
        if (((unsigned char)text[i] & 0xc0) != 0x80 && !room--)
            return i;
    }
    return size;
}

static void draw(const char *text)
{
    CPS_BUF out = {0};
    CPS_BUF line = {0};
    if (progress.what)
        cps_buf_printf(&line, "%s %u of %u, ", progress.what, progress.index, progress.count);
    cps_shown_add_(&line, text, strlen(text), false);
    cps_buf_str(&out, erase);
    cps_buf_add(&out, cps_buf_text(&line), fitting(cps_buf_text(&line), line.size));
    if (line.failed || out.failed)
        return;
    progress.next = now() + PAUSE_MS;
    atomic_store(&progress.shown, true);
    ssize_t ignored = write(STDERR_FILENO, cps_buf_text(&out), out.size);
    (void)ignored; /* nobody looks any more */
}

void progress_show(const char *format, ...)
{
    char text[256];
    va_list args;
    if (!progress_due())
        return;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    draw(text);
}

void progress_stream(const struct cps_stream *stream)
{
    uint64_t at = 0;
    uint64_t size = 0;
    if (!stream || !progress_due())
        return;
    if (!cps_stream_share_(stream, &at, &size))
        progress_show("%s: %" PRIu64 " MB", cps_stream_name(stream),
                      cps_stream_offset(stream) / 1000000);
    else if (size)
        progress_show("%s: %" PRIu64 " %% read", cps_stream_name(stream), at * 100 / size);
}

void progress_hide(void)
{
    if (!atomic_load(&progress.shown) || getpid() != progress.owner)
        return;
    atomic_store(&progress.shown, false);
    ssize_t ignored = write(STDERR_FILENO, erase, sizeof(erase) - 1);
    (void)ignored;
}
