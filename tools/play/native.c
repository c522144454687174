/* SPDX-License-Identifier: MIT
 * Compiles translated firmware loops. Code that others could have written is never loaded: the
 * files must be the user's own and writable by nobody else. */
#include "tools/play/native.h"

#include <dlfcn.h>
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/play/cachedir.h"
#include "trace/outfile.h"

extern char **environ;

#define PATH_SIZE 4096

static const char *compiler(void)
{
    const char *cc = getenv("CC");
    return cc && *cc ? cc : "cc";
}

static struct cps_err *run_compiler(const char *source, const char *object)
{
    char *const arguments[] = {(char *)compiler(), "-O2",          "-w", "-shared", "-fPIC", "-o",
                               (char *)object,     (char *)source, NULL};
    pid_t child = 0;
    int status = 0;
    errno = posix_spawnp(&child, compiler(), NULL, NULL, arguments, environ);
    if (errno)
        return cps_err_new(CPS_ERR_UNSUPPORTED, "%s: cannot run the C compiler: %s", compiler(),
                           strerror(errno));
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        return cps_err_new(CPS_ERR_UNSUPPORTED, "%s: could not compile the firmware's loops",
                           compiler());
    return NULL;
}

/* Other processes may be at the same: each has its own names until the object is whole. */
static struct cps_err *compile(const char *path, const struct cps_buf *source)
{
    CPS_BUF text = {0};
    CPS_BUF object = {0};
    cps_buf_printf(&text, "%s.%ld.c", path, (long)getpid());
    cps_buf_printf(&object, "%s.%ld", path, (long)getpid());
    struct cps_err *err = cps_outfile_whole(cps_buf_text(&text), source->data, source->size);
    if (!err)
        err = run_compiler(cps_buf_text(&text), cps_buf_text(&object));
    if (!err && rename(cps_buf_text(&object), path))
        err = cps_err_os(path, "rename");
    unlink(cps_buf_text(&text));
    if (err)
        unlink(cps_buf_text(&object));
    return err;
}

static bool is_ours(const char *path)
{
    struct stat st;
    return !stat(path, &st) && st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

/* Appends the path of the object that @p source gives, which is there then. */
static struct cps_err *object_of(const struct cps_buf *source, struct cps_buf *path)
{
    char base[PATH_SIZE];
    char digest[65];
    cache_default_dir(base, sizeof(base));
    cps_buf_printf(path, "%s/native/", base);
    if (path->failed)
        return cps_err_nomem();
    cache_make_dirs(path->data, 0700);
    if (!is_ours(path->data))
        return cps_err_new(CPS_ERR_OS, "%s: expected a directory that only its owner may write",
                           path->data);
    cache_hash(source->data, source->size, digest);
    cps_buf_printf(path, "%s.so", digest);
    if (path->failed)
        return cps_err_nomem();
    return is_ours(path->data) ? NULL : compile(path->data, source);
}

struct cps_err *native_open(struct cps_afuc *machine, void **ret)
{
    CPS_BUF source = {0};
    CPS_BUF path = {0};
    if (!cps_afuc_translate(machine, &source))
        return NULL;
    if (source.failed)
        return cps_err_nomem();
    CPS_TRY(object_of(&source, &path));
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
