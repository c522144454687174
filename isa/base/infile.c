/* SPDX-License-Identifier: MIT
 * Files that are read. */
#include "isa/base/infile.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct cps_err *cps_infile_open_(const char *path, struct cps_infile *ret)
{
    struct stat info;
    bool is_stdin = !strcmp(path, "-");
    struct cps_infile file = {.name = is_stdin ? "(stdin)" : path, .patient = is_stdin};
    /* Without O_NONBLOCK the open itself waits for a FIFO's writer. A terminal is not taken over.
     */
    file.fd = is_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                       : open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file.fd < 0)
        return cps_err_os(file.name, is_stdin ? "read" : "open");
    bool known = fstat(file.fd, &info) == 0;
    if (!known || S_ISDIR(info.st_mode)) {
        int why = known ? EISDIR : errno;
        close(file.fd);
        errno = why;
        return cps_err_os(file.name, "read");
    }
    file.regular = S_ISREG(info.st_mode) && !is_stdin;
    *ret = file;
    return NULL;
}

/* Until there is something to read, or the end. */
static struct cps_err *wait_for(const struct cps_infile *file)
{
    struct pollfd ready = {.fd = file->fd, .events = POLLIN};
    int count = 0;
    if (file->regular)
        return NULL;
    do
        count = poll(&ready, 1, file->patient ? -1 : CPS_INFILE_PATIENCE * 1000);
    while (count < 0 && errno == EINTR);
    if (count < 0)
        return cps_err_os(file->name, "read");
    if (!count)
        return cps_err_new(CPS_ERR_OS,
                           "%s: cannot read: nothing came for %d seconds, expected data",
                           file->name, CPS_INFILE_PATIENCE);
    return NULL;
}

struct cps_err *cps_infile_read_(const struct cps_infile *file, void *data, size_t size,
                                 size_t *ret)
{
    ssize_t got = 0;
    do {
        CPS_TRY(wait_for(file));
        got = read(file->fd, data, size);
    } while (got < 0 && (errno == EINTR || errno == EAGAIN));
    if (got < 0)
        return cps_err_os(file->name, "read");
    *ret = (size_t)got;
    return NULL;
}

void cps_infile_close_(struct cps_infile *file)
{
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}
