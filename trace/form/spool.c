/* SPDX-License-Identifier: MIT
 * A file without a name. */
#include "trace/form/forms.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#define COPY_BYTES 65536u

struct cps_err *cps_spool_open_(struct cps_spool *spool)
{
    const char *folder = getenv("TMPDIR");
    folder = folder && *folder ? folder : "/tmp";
    *spool = (struct cps_spool){.fd = -1};
    int size = snprintf(spool->path, sizeof(spool->path), "%s/cpscope-XXXXXX", folder);
    if (size < 0 || (size_t)size >= sizeof(spool->path))
        errno = ENAMETOOLONG;
    else
        spool->fd = mkstemp(spool->path);
    if (spool->fd >= 0)
        return NULL;
    spool->path[0] = '\0';
    return cps_err_os(folder, "create a file in");
}

void cps_spool_forget_(struct cps_spool *spool)
{
    if (spool->path[0] && unlink(spool->path) == 0)
        spool->path[0] = '\0';
}

void cps_spool_write_(struct cps_spool *spool, const void *data, size_t size)
{
    const char *from = data;
    while (size && !spool->failed) {
        ssize_t wrote = write(spool->fd, from, size);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0) {
            spool->failed = wrote < 0 ? errno : ENOSPC;
            return;
        }
        from += wrote;
        size -= (size_t)wrote;
    }
}

struct cps_err *cps_spool_copy_(struct cps_spool *spool, struct cps_outfile *out)
{
    char bytes[COPY_BYTES];
    off_t at = 0;
    ssize_t size = 1;
    while (!spool->failed && size) {
        size = pread(spool->fd, bytes, sizeof(bytes), at);
        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0) {
            spool->failed = errno;
            break;
        }
        cps_outfile_write(out, bytes, (size_t)size);
        at += size;
    }
    errno = spool->failed;
    return spool->failed ? cps_err_os("a temporary file", "write or read") : NULL;
}

void cps_spool_close_(struct cps_spool *spool)
{
    cps_spool_forget_(spool);
    if (spool->fd >= 0)
        close(spool->fd);
    spool->fd = -1;
}
