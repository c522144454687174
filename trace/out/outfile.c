/* SPDX-License-Identifier: MIT
 * Output that is whole or absent.
 *
 * Where the file system can, the new contents have no name until they are whole (O_TMPFILE): then
 * nothing can be left behind, however the process ends. Elsewhere they have a temporary name beside
 * the target, which cps_outfile_unlink_all() removes when a signal ends the process. */
#define _GNU_SOURCE /* O_TMPFILE */
#include "trace/out/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "trace/out/through.h"

#define BUFFER_BYTES 65536u
#define MAX_LINKS    40u
#define PATH_BYTES   4096u
#define MAX_NAMED    8u   /* outputs with a temporary name that a signal's handler knows of */
#define FIFO_TRIES   200u /* of 50 ms: as long as an input is waited for */

struct cps_outfile {
    char *path;      /* as given, for messages */
    char *target;    /* what is replaced: the end of all links; NULL: written in place */
    char *temporary; /* its name beside the target; NULL: it has none */
    int fd;
    bool nowhere;            /* "/dev/null": nobody will read it */
    int failed;              /* errno of the first failure */
    mode_t mode;             /* of the target when it is whole */
    cps_through_fn *through; /* NULL: bytes go out as they come */
    const void *context;     /* its first argument */
    struct cps_buf shown;    /* what it made of them */
    size_t used;
    char buffer[BUFFER_BYTES];
};

/* Temporary names of this process. It is the one thing here that is not an output's own, because a
 * signal concerns the process. */
static _Atomic(char *) named[MAX_NAMED];

static void forget(char *name)
{
    for (unsigned i = 0; name && i < MAX_NAMED; i++) {
        char *same = name;
        atomic_compare_exchange_strong(&named[i], &same, NULL);
    }
}

void cps_outfile_unlink_all(void)
{
    for (unsigned i = 0; i < MAX_NAMED; i++) {
        char *name = atomic_load(&named[i]);
        if (name)
            unlink(name);
    }
}

/* "/dev/stdout" and the like: an open file of this process, which no name can replace. */
static bool is_descriptor(const char *path)
{
    static const char *const places[] = {"/dev/fd/", "/dev/stdout", "/dev/stderr", "/proc/"};
    for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        if (!strncmp(path, places[i], strlen(places[i])))
            return true;
    }
    return false;
}

/* Follows one link: @p path becomes what it points to. */
static bool follow(char path[PATH_BYTES])
{
    char link[PATH_BYTES];
    ssize_t size = readlink(path, link, sizeof(link) - 1);
    if (size < 0)
        return false;
    link[size] = '\0';
    char *slash = strrchr(path, '/');
    size_t dir = link[0] == '/' || !slash ? 0 : (size_t)(slash - path) + 1;
    if (dir + (size_t)size >= PATH_BYTES)
        return false;
    memcpy(path + dir, link, (size_t)size + 1);
    return true;
}

/* Where the links that @p path may be end. */
static struct cps_err *find_target(const char *path, char ret[PATH_BYTES])
{
    struct stat info;
    if (snprintf(ret, PATH_BYTES, "%s", path) >= (int)PATH_BYTES) {
        errno = ENAMETOOLONG;
        return cps_err_os(path, "create");
    }
    for (unsigned i = 0; !is_descriptor(ret) && !lstat(ret, &info) && S_ISLNK(info.st_mode); i++) {
        if (i < MAX_LINKS && follow(ret))
            continue;
        errno = ELOOP;
        return cps_err_os(path, "create");
    }
    return NULL;
}

/* Contents without a name. False where the system has no such thing: then they need one. */
static bool open_nameless(struct cps_outfile *out, mode_t mode)
{
#ifdef O_TMPFILE
    char folder[PATH_BYTES + 1] = "";
    const char *slash = strrchr(out->target, '/');
    memcpy(folder, out->target, slash ? (size_t)(slash - out->target) + 1 : 0);
    strcat(folder, ".");
    if (access("/proc/self/fd", X_OK) == 0) /* how it is given its name in the end */
        out->fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
#endif
    return out->fd >= 0;
}

static bool make_name(struct cps_outfile *out, unsigned attempt)
{
    size_t size = strlen(out->target) + 32;
    out->temporary = out->temporary ? out->temporary : malloc(size);
    if (out->temporary)
        snprintf(out->temporary, size, "%s.%ld.%u.tmp", out->target, (long)getpid(), attempt);
    return out->temporary != NULL;
}

/* Contents under a temporary name beside the target, so that the rename stays within one file
 * system. */
static struct cps_err *open_named(struct cps_outfile *out, mode_t mode)
{
    for (unsigned attempt = 0; attempt < 100 && out->fd < 0; attempt++) {
        if (!make_name(out, attempt))
            return cps_err_nomem();
        out->fd = open(out->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (out->fd < 0 && errno != EEXIST)
            break;
    }
    for (unsigned i = 0; out->fd >= 0 && i < MAX_NAMED; i++) {
        char *none = NULL;
        if (atomic_compare_exchange_strong(&named[i], &none, out->temporary))
            break;
    }
    if (out->fd >= 0)
        return NULL;
    struct cps_err *err = cps_err_os(out->path, "create");
    free(CPS_TAKE(out->temporary));
    return err;
}

/* Nobody else reads what is not whole; then it has the mode of the file before it, or that which
 * the system gives to new ones. */
static struct cps_err *open_replacement(struct cps_outfile *out, const struct stat *old)
{
    struct stat info;
    if (old && faccessat(AT_FDCWD, out->target, W_OK, AT_EACCESS) != 0)
        return cps_err_os(out->path, "open for writing");
    if (!open_nameless(out, old ? 0600 : 0666))
        CPS_TRY(open_named(out, old ? 0600 : 0666));
    if (fstat(out->fd, &info) != 0)
        return cps_err_os(out->path, "create");
    out->mode = (old ? old->st_mode : info.st_mode) & 0777;
    if (fchmod(out->fd, out->mode & 0700) != 0)
        return cps_err_os(out->path, "create");
    /* Only root can give a file away; anyone else who may write it becomes its owner. */
    bool keeps = !old || old->st_uid == info.st_uid;
    keeps = keeps || fchown(out->fd, old->st_uid, old->st_gid) == 0;
    (void)keeps;
    return NULL;
}

/* A FIFO without a reader is waited for, but not for ever. */
static struct cps_err *open_in_place(struct cps_outfile *out, const char *target)
{
    const struct timespec pause = {0, 50000000};
    struct stat info, null;
    for (unsigned i = 0; out->fd < 0 && i < FIFO_TRIES; i++) {
        if (i)
            nanosleep(&pause, NULL);
        out->fd = open(target, O_WRONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
        if (out->fd < 0 && errno != ENXIO)
            break;
    }
    if (out->fd >= 0)
        fcntl(out->fd, F_SETFL, fcntl(out->fd, F_GETFL) & ~O_NONBLOCK);
    out->nowhere = out->fd >= 0 && fstat(out->fd, &info) == 0 && S_ISCHR(info.st_mode) &&
                   stat("/dev/null", &null) == 0 && info.st_rdev == null.st_rdev;
    return out->fd < 0 ? cps_err_os(out->path, "open for writing") : NULL;
}

/* 1 of "/dev/stdout", "/dev/fd/1" and "/proc/self/fd/1"; -1 for other files. */
static int descriptor_of(const char *path)
{
    int number = -1;
    char end = 0;
    if (!strcmp(path, "/dev/stdout"))
        return STDOUT_FILENO;
    if (!strcmp(path, "/dev/stderr"))
        return STDERR_FILENO;
    if (sscanf(path, "/dev/fd/%9d%c", &number, &end) == 1 ||
        sscanf(path, "/proc/self/fd/%9d%c", &number, &end) == 1)
        return number;
    return -1;
}

static struct cps_err *open_descriptor(struct cps_outfile *out, int number)
{
    out->fd = fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    return out->fd < 0 ? cps_err_os(out->path, "open for writing") : NULL;
}

static struct cps_err *open_target(struct cps_outfile *out)
{
    char target[PATH_BYTES];
    struct stat old;
    if (!strcmp(out->path, "-"))
        return open_descriptor(out, STDOUT_FILENO);
    CPS_TRY(find_target(out->path, target));
    if (descriptor_of(target) >= 0)
        return open_descriptor(out, descriptor_of(target));
    bool exists = stat(target, &old) == 0;
    if (is_descriptor(target) || (exists && !S_ISREG(old.st_mode)))
        return open_in_place(out, target);
    out->target = strdup(target);
    return out->target ? open_replacement(out, exists ? &old : NULL) : cps_err_nomem();
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

static void write_at(struct cps_outfile *out, const char *data, size_t size, off_t at)
{
    size_t done = 0;
    while (!out->failed && done < size) {
        ssize_t wrote = at < 0 ? write(out->fd, data + done, size - done)
                               : pwrite(out->fd, data + done, size - done, at + (off_t)done);
        if (wrote > 0)
            done += (size_t)wrote;
        else if (wrote == 0)
            out->failed = ENOSPC; /* what a device does that takes no more */
        else if (errno != EINTR)
            out->failed = errno;
    }
}

static void flush(struct cps_outfile *out)
{
    write_at(out, out->buffer, out->used, -1);
    out->used = 0;
}

static void append(struct cps_outfile *out, const char *from, size_t size)
{
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

void cps_outfile_write(struct cps_outfile *out, const void *data, size_t size)
{
    if (!out->through) {
        append(out, data, size);
        return;
    }
    cps_buf_clear(&out->shown);
    out->through(out->context, data, size, &out->shown);
    if (out->shown.failed && !out->failed)
        out->failed = ENOMEM;
    append(out, cps_buf_text(&out->shown), out->shown.size);
}

void cps_outfile_through_(struct cps_outfile *out, cps_through_fn *through, const void *context)
{
    out->through = through;
    out->context = context;
}

bool cps_outfile_patchable(const struct cps_outfile *out)
{
    return out->target || out->nowhere;
}

void cps_outfile_patch(struct cps_outfile *out, const void *data, size_t size)
{
    flush(out);
    write_at(out, data, size, 0);
}

static void release(struct cps_outfile *out)
{
    forget(out->temporary);
    cps_buf_deinit(&out->shown);
    free(out->temporary);
    free(out->target);
    free(out->path);
    free(out);
}

/* Gives contents without a name their own; where another file has it, by way of a temporary one. */
static bool link_nameless(struct cps_outfile *out)
{
    char contents[64];
    snprintf(contents, sizeof(contents), "/proc/self/fd/%d", out->fd);
    if (!linkat(AT_FDCWD, contents, AT_FDCWD, out->target, AT_SYMLINK_FOLLOW))
        return true;
    for (unsigned attempt = 0; errno == EEXIST && attempt < 100; attempt++) {
        if (!make_name(out, attempt)) {
            errno = ENOMEM;
            return false;
        }
        if (!linkat(AT_FDCWD, contents, AT_FDCWD, out->temporary, AT_SYMLINK_FOLLOW))
            return rename(out->temporary, out->target) == 0;
    }
    free(CPS_TAKE(out->temporary)); /* nothing is there to be removed */
    return false;
}

/* Signals wait meanwhile: between the names the process must not end. */
static bool publish(struct cps_outfile *out)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    bool good = out->temporary ? rename(out->temporary, out->target) == 0 : link_nameless(out);
    int why = errno;
    if (good)
        forget(out->temporary);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = why;
    return good;
}

static void fail_unless(struct cps_outfile *out, bool good)
{
    if (!good && !out->failed)
        out->failed = errno;
}

struct cps_err *cps_outfile_commit(struct cps_outfile *out)
{
    struct cps_err *err = NULL;
    flush(out);
    if (out->target && !out->failed)
        fail_unless(out, !fchmod(out->fd, out->mode) && !fsync(out->fd) && publish(out));
    fail_unless(out, close(out->fd) == 0);
    out->fd = -1;
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
