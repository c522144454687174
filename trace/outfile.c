/* SPDX-License-Identifier: MIT
 * Output that is whole or absent. */
#include "trace/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_BYTES 65536u

struct cps_outfile {
    char *path;
    char *temporary; /* NULL: written in place */
    int fd;
    int failed; /* errno of the first failure */
    size_t used;
    char buffer[BUFFER_BYTES];
};

static bool in_place(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode);
}

/* A temporary name beside the target, so that the rename stays within one file system. */
static struct cps_err *open_temporary(struct cps_outfile *out)
{
    size_t size = strlen(out->path) + 32;
    out->temporary = malloc(size);
    if (!out->temporary)
        return cps_err_nomem();
    for (unsigned attempt = 0; attempt < 100; attempt++) {
        snprintf(out->temporary, size, "%s.%ld.%u.tmp", out->path, (long)getpid(), attempt);
        out->fd = open(out->temporary, O_WRONLY | O_CREAT | O_EXCL, 0666);
        if (out->fd >= 0)
            return NULL;
        if (errno != EEXIST)
            break;
    }
    free(out->temporary);
    out->temporary = NULL;
    return cps_err_os(out->path, "create");
}

static struct cps_err *open_target(struct cps_outfile *out)
{
    if (!strcmp(out->path, "-"))
        out->fd = dup(STDOUT_FILENO);
    else if (in_place(out->path))
        out->fd = open(out->path, O_WRONLY);
    else
        return open_temporary(out);
    return out->fd < 0 ? cps_err_os(out->path, "open for writing") : NULL;
}

struct cps_err *cps_outfile_open(const char *path, struct cps_outfile **ret)
{
    struct cps_outfile *out = calloc(1, sizeof(*out));
    if (!out)
        return cps_err_nomem();
    out->fd = -1;
    out->path = strdup(path);
    struct cps_err *err = out->path ? open_target(out) : cps_err_nomem();
    if (err)
        cps_outfile_abort(out);
    else
        *ret = out;
    return err;
}

static void flush(struct cps_outfile *out)
{
    size_t done = 0;
    while (!out->failed && done < out->used) {
        ssize_t wrote = write(out->fd, out->buffer + done, out->used - done);
        if (wrote >= 0)
            done += (size_t)wrote;
        else if (errno != EINTR)
            out->failed = errno;
    }
    out->used = 0;
}

void cps_outfile_write(struct cps_outfile *out, const void *data, size_t size)
{
    const char *from = data;
    while (size) {
        size_t some = BUFFER_BYTES - out->used;
        some = some < size ? some : size;
        memcpy(out->buffer + out->used, from, some);
        out->used += some;
        from += some;
        size -= some;
        if (out->used == BUFFER_BYTES)
            flush(out);
    }
}

bool cps_outfile_patchable(const struct cps_outfile *out)
{
    return out->temporary != NULL;
}

void cps_outfile_patch(struct cps_outfile *out, const void *data, size_t size)
{
    const char *from = data;
    flush(out);
    for (size_t done = 0; !out->failed && done < size;) {
        ssize_t wrote = pwrite(out->fd, from + done, size - done, (off_t)done);
        if (wrote >= 0)
            done += (size_t)wrote;
        else if (errno != EINTR)
            out->failed = errno;
    }
}

static void release(struct cps_outfile *out)
{
    free(out->temporary);
    free(out->path);
    free(out);
}

struct cps_err *cps_outfile_commit(struct cps_outfile *out)
{
    struct cps_err *err = NULL;
    flush(out);
    if (!out->failed && out->temporary && fsync(out->fd) < 0)
        out->failed = errno;
    if (close(out->fd) < 0 && !out->failed)
        out->failed = errno;
    out->fd = -1;
    if (!out->failed && out->temporary && rename(out->temporary, out->path) < 0)
        out->failed = errno;
    if (out->failed) {
        errno = out->failed;
        err = cps_err_os(out->path, "write");
        cps_outfile_abort(out);
    } else {
        release(out);
    }
    return err;
}

void cps_outfile_abort(struct cps_outfile *out)
{
    if (!out)
        return;
    if (out->fd >= 0)
        close(out->fd);
    if (out->temporary)
        unlink(out->temporary);
    release(out);
}

struct cps_err *cps_outfile_whole(const char *path, const void *data, size_t size)
{
    struct cps_outfile *out = NULL;
    CPS_TRY(cps_outfile_open(path, &out));
    cps_outfile_write(out, data, size);
    return cps_outfile_commit(out);
}
