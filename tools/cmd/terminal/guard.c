/* SPDX-License-Identifier: MIT
 * Streams that escape what is no text. */
#define _GNU_SOURCE /* fopencookie() */
#include "tools/cmd/terminal/guard.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "isa/base/shown.h"
#include "tools/cmd/terminal/progress.h"

#define MAX_CHARACTER 4u /* bytes, in UTF-8 */

struct guard {
    int fd;
    char kept[MAX_CHARACTER]; /* the begin of a character whose end has not come */
    size_t count;
};

static bool write_all(int fd, const char *data, size_t size)
{
    while (size) {
        ssize_t wrote = write(fd, data, size);
        if (wrote == 0 || (wrote < 0 && errno != EINTR))
            return false;
        data += wrote > 0 ? wrote : 0;
        size -= wrote > 0 ? (size_t)wrote : 0;
    }
    return true;
}

/* Bytes at the end of a text that may be the begin of a character: 0 to 3. */
static size_t unfinished(const char *text, size_t size)
{
    for (size_t i = 1; i < MAX_CHARACTER && i <= size; i++) {
        unsigned char byte = (unsigned char)text[size - i];
        size_t wants = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
        if ((byte & 0xc0) != 0x80)
            return wants > i ? i : 0;
    }
    return 0;
}

static bool write_data(struct guard *g, const char *data, size_t size)
{
    progress_hide(); /* the line that it left may be on the same terminal */
    CPS_BUF text = {0};
    CPS_BUF shown = {0};
    if (!g->count && cps_shown_plain_(data, size, true) == size)
        return write_all(g->fd, data, size);
    cps_buf_add(&text, g->kept, g->count);
    cps_buf_add(&text, data, size);
    size_t rest = unfinished(cps_buf_text(&text), text.size);
    cps_shown_add_(&shown, cps_buf_text(&text), text.size - rest, true);
    if (text.failed || shown.failed) {
        errno = ENOMEM;
        return false;
    }
    memcpy(g->kept, text.data + text.size - rest, rest);
    g->count = rest;
    return write_all(g->fd, cps_buf_text(&shown), shown.size);
}

static ssize_t guard_write(void *cookie, const char *data, size_t size)
{
    return size && !write_data(cookie, data, size) ? 0 : (ssize_t)size; /* 0 is what an error is */
}

static void guard_stream(FILE **stream, struct guard *guard, int mode)
{
    FILE *file = fopencookie(guard, "w", (cookie_io_functions_t){.write = guard_write});
    if (!file)
        return;
    setvbuf(file, NULL, mode, BUFSIZ);
    *stream = file;
}

void guard_output(void)
{
    static struct guard guards[] = {{.fd = STDOUT_FILENO}, {.fd = STDERR_FILENO}};
    guard_stream(&stdout, &guards[0], isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF);
    guard_stream(&stderr, &guards[1], _IONBF);
}
