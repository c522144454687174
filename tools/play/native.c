/* SPDX-License-Identifier: MIT
 * Compiles translated firmware loops. Code that others could have written is never loaded: the
 * compiler and every folder on the way to the objects must be such that only root and the user can
 * change them. An object ends with its own digest, so that a cut one is compiled again. */
#include "tools/play/native.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "isa/base/infile.h"
#include "tools/play/cachedir.h"
#include "tools/play/trust.h"
#include "trace/outfile.h"

extern char **environ;

#define PATH_SIZE   4096
#define MAX_OBJECT  ((size_t)64 << 20)
#define DIGEST_SIZE 64u /* behind an object; the loader looks at nothing there */

/* Names that the compiler works with, for when a signal ends the process: as with outputs, a signal
 * concerns the process. */
static char scrap[2][PATH_SIZE + 32];

void native_abandon(void)
{
    for (unsigned i = 0; i < 2; i++) {
        if (scrap[i][0])
            unlink(scrap[i]);
    }
}

static struct cps_err *wait_for(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR)
            return cps_err_os("(compiler)", "wait for");
    }
    return WIFEXITED(status) && !WEXITSTATUS(status)
               ? NULL
               : cps_err_new(CPS_ERR_UNSUPPORTED, "could not compile the firmware's loops");
}

static struct cps_err *run_compiler(const char *source, const char *object)
{
    const char *said = getenv("CC");
    CPS_FREE char *compiler = NULL;
    CPS_TRY(trust_program(said && *said ? said : "cc", "the C compiler", &compiler));
    char *const arguments[] = {compiler, "-O2",          "-w",           "-shared", "-fPIC",
                               "-o",     (char *)object, (char *)source, NULL};
    pid_t child = 0;
    errno = posix_spawn(&child, compiler, NULL, NULL, arguments, environ);
    return errno ? cps_err_os(compiler, "run") : wait_for(child);
}

/* The object at @p path, whose digest stands behind it; NULL: there is none, or not a whole one. */
static uint8_t *read_object(const char *path, size_t *size)
{
    char digest[DIGEST_SIZE + 1];
    uint8_t *data = NULL;
    struct stat info;
    if (lstat(path, &info) || !S_ISREG(info.st_mode) || !trust_stat(&info))
        return NULL;
    struct cps_err *err = cps_infile_all_(path, MAX_OBJECT, &data, size);
    bool good = !err && *size > DIGEST_SIZE;
    cps_err_free(err);
    if (good) {
        cache_hash((const char *)data, *size - DIGEST_SIZE, digest);
        good = !memcmp(data + *size - DIGEST_SIZE, digest, DIGEST_SIZE);
    }
    if (!good)
        free(CPS_TAKE(data));
    return data;
}

/* What the compiler wrote, with its digest, under its own name. */
static struct cps_err *keep_object(const char *from, const char *path)
{
    CPS_FREE uint8_t *data = NULL;
    CPS_BUF object = {0};
    char digest[DIGEST_SIZE + 1];
    size_t size = 0;
    CPS_TRY(cps_infile_all_(from, MAX_OBJECT, &data, &size));
    cache_hash((const char *)data, size, digest);
    cps_buf_add(&object, (const char *)data, size);
    cps_buf_add(&object, digest, DIGEST_SIZE);
    return object.failed ? cps_err_nomem() : cps_outfile_whole(path, object.data, object.size);
}

/* Other processes may be at the same: each has its own names until the object is whole. */
static struct cps_err *compile(const char *path, const struct cps_buf *source)
{
    mode_t before = umask(077); /* whatever others may do with files of this user */
    snprintf(scrap[0], sizeof(scrap[0]), "%s.%ld.c", path, (long)getpid());
    snprintf(scrap[1], sizeof(scrap[1]), "%s.%ld.tmp", path, (long)getpid());
    struct cps_err *err = cps_outfile_whole(scrap[0], source->data, source->size);
    if (!err)
        err = run_compiler(scrap[0], scrap[1]);
    if (!err)
        err = keep_object(scrap[1], path);
    native_abandon();
    scrap[0][0] = scrap[1][0] = '\0';
    umask(before);
    return err;
}

/* The folder of objects, which is made if need be, with a slash. */
static struct cps_err *find_folder(struct cps_buf *path)
{
    char base[PATH_SIZE];
    CPS_TRY(cache_default_dir(base, sizeof(base)));
    cps_buf_printf(path, "%s/native/", base);
    if (path->failed)
        return cps_err_nomem();
    cache_make_dirs(path->data, 0700);
    CPS_TRY(trust_path(path->data));
    cache_sweep(path->data, ".tmp");
    cache_sweep(path->data, ".c");
    return NULL;
}

/* The path of the object that @p source gives, which is there and whole then. */
static struct cps_err *find_object(const struct cps_buf *source, struct cps_buf *path)
{
    char digest[65];
    size_t size = 0;
    CPS_TRY(find_folder(path));
    cache_hash(source->data, source->size, digest);
    cps_buf_printf(path, "%s.so", digest);
    if (path->failed)
        return cps_err_nomem();
    CPS_FREE uint8_t *old = read_object(path->data, &size);
    if (old)
        return NULL;
    CPS_TRY(compile(path->data, source));
    CPS_FREE uint8_t *new = read_object(path->data, &size);
    return new ? NULL : cps_err_os(path->data, "read back");
}

struct cps_err *native_open(struct cps_afuc *machine, void **ret)
{
    CPS_BUF source = {0};
    CPS_BUF path = {0};
    if (!cps_afuc_translate(machine, &source))
        return NULL;
    if (source.failed)
        return cps_err_nomem();
    CPS_TRY(find_object(&source, &path));
    void *native = dlopen(path.data, RTLD_NOW | RTLD_LOCAL);
    void *loops = native ? dlsym(native, "cps_loops") : NULL;
    struct cps_err *err = loops ? cps_afuc_use_native(machine, loops)
                                : cps_err_new(CPS_ERR_OS, "%s: %s", path.data, dlerror());
    if (err)
        native_close(native);
    else
        *ret = native;
    return err;
}

void native_close(void *native)
{
    if (native)
        dlclose(native);
}
