/* SPDX-License-Identifier: MIT
 * Sockets of runs: where they are. */
#define _GNU_SOURCE /* struct ucred */
#include "tools/face/dap/attach.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER     "cpscope"
#define OPEN_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

static struct cps_err *check_alone(int folder, const char *path)
{
    struct stat info;
    if (fstat(folder, &info) != 0)
        return cps_err_os(path, "look at");
    if (info.st_uid == geteuid() && !(info.st_mode & (S_IRWXG | S_IRWXO)))
        return NULL;
    return cps_err_new(CPS_ERR_OS,
                       "%s: a folder that others may use, too; expected one of yours, mode 0700",
                       path);
}

static struct cps_err *open_folder(int at, const char *name, const char *path, int *ret)
{
    *ret = openat(at, name, OPEN_FLAGS);
    if (*ret < 0 && (errno == ELOOP || errno == ENOTDIR))
        return cps_err_new(CPS_ERR_OS, "%s: expected a folder, no link", path);
    if (*ret < 0)
        return cps_err_os(path, "open");
    return check_alone(*ret, path);
}

static struct cps_err *set_name(struct attach_place *place, const char *name)
{
    if (!*name || !strcmp(name, ".") || !strcmp(name, ".."))
        return cps_err_new(CPS_ERR_INPUT, "%s: expected the path of a socket",
                           cps_buf_text(&place->path));
    if (strlen(name) >= sizeof(place->name))
        return cps_err_new(CPS_ERR_INPUT, "%s: expected a name of at most %zu bytes",
                           cps_buf_text(&place->path), sizeof(place->name) - 1);
    memcpy(place->name, name, strlen(name) + 1);
    return place->path.failed ? cps_err_nomem() : NULL;
}

struct cps_err *attach_place_open(const char *path, struct attach_place *ret)
{
    const char *slash = strrchr(path, '/');
    CPS_BUF folder = {0};
    *ret = (struct attach_place){.folder = -1};
    cps_buf_str(&ret->path, path);
    if (slash)
        cps_buf_printf(&folder, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    else
        cps_buf_str(&folder, ".");
    if (folder.failed)
        return cps_err_nomem();
    CPS_TRY(set_name(ret, slash ? slash + 1 : path));
    return open_folder(AT_FDCWD, cps_buf_text(&folder), cps_buf_text(&folder), &ret->folder);
}

/* Opens the usual folder; its path is in @p path. */
static struct cps_err *open_usual(bool make, struct cps_buf *path, int *ret)
{
    const char *base = getenv("XDG_RUNTIME_DIR");
    int runtime = -1;
    if (!base || *base != '/')
        return cps_err_new(CPS_ERR_OS, "XDG_RUNTIME_DIR names no folder, expected one, or the path "
                                       "of a socket in a folder of yours");
    struct cps_err *err = open_folder(AT_FDCWD, base, base, &runtime);
    cps_buf_printf(path, "%s/" FOLDER, base);
    if (!err && path->failed)
        err = cps_err_nomem();
    if (!err && make && mkdirat(runtime, FOLDER, S_IRWXU) != 0 && errno != EEXIST)
        err = cps_err_os(cps_buf_text(path), "create");
    if (!err)
        err = open_folder(runtime, FOLDER, cps_buf_text(path), ret);
    if (runtime >= 0)
        close(runtime);
    return err;
}

struct cps_err *attach_place_pid(long pid, bool make, struct attach_place *ret)
{
    char name[ATTACH_NAME];
    *ret = (struct attach_place){.folder = -1};
    CPS_TRY(open_usual(make, &ret->path, &ret->folder));
    snprintf(name, sizeof(name), "%ld.sock", pid);
    cps_buf_printf(&ret->path, "/%s", name);
    return set_name(ret, name);
}

/* Whose socket a name is; 0: of nobody who lives. */
static long owner_of(const char *name)
{
    char *end = NULL;
    long pid = strtol(name, &end, 10);
    return pid > 0 && !strcmp(end, ".sock") && kill((pid_t)pid, 0) == 0 ? pid : 0;
}

/* The runs that listen: the first one, and all of them as a text. */
static struct cps_err *find_runs(int folder, struct cps_buf *all, unsigned *count, long *first)
{
    int copy = openat(folder, ".", OPEN_FLAGS);
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    if (!dir) {
        struct cps_err *err = cps_err_os(FOLDER, "read");
        if (copy >= 0)
            close(copy);
        return err;
    }
    for (struct dirent *entry; (entry = readdir(dir));) {
        long pid = owner_of(entry->d_name);
        if (!pid)
            continue;
        *first = pid;
        cps_buf_printf(all, "%s%ld", (*count)++ ? ", " : "", pid);
    }
    closedir(dir);
    return all->failed ? cps_err_nomem() : NULL;
}

struct cps_err *attach_place_only(struct attach_place *ret)
{
    CPS_BUF all = {0};
    unsigned count = 0;
    long pid = 0;
    *ret = (struct attach_place){.folder = -1};
    struct cps_err *err = open_usual(false, &ret->path, &ret->folder);
    bool none = err && errno == ENOENT;
    if (!none)
        CPS_TRY(err);
    cps_err_free(none ? err : NULL);
    if (!none)
        CPS_TRY(find_runs(ret->folder, &all, &count, &pid));
    attach_place_deinit(ret);
    if (!count)
        return cps_err_new(CPS_ERR_INPUT,
                           "no run of yours listens, expected a 'cpscope run --listen'");
    if (count > 1)
        return cps_err_new(CPS_ERR_INPUT, "%u runs listen, expected \"pid\", one of %s", count,
                           cps_buf_text(&all));
    return attach_place_pid(pid, false, ret);
}

void attach_place_deinit(struct attach_place *place)
{
    if (place->folder >= 0)
        close(place->folder);
    cps_buf_deinit(&place->path);
    *place = (struct attach_place){.folder = -1};
}

struct sockaddr_un attach_address(const struct attach_place *place)
{
    struct sockaddr_un ret = {.sun_family = AF_UNIX};
    snprintf(ret.sun_path, sizeof(ret.sun_path), "/proc/self/fd/%d/%.*s", place->folder,
             ATTACH_NAME - 1, place->name);
    return ret;
}

struct cps_err *attach_check(const struct attach_place *place, bool *exists)
{
    struct stat info;
    *exists = fstatat(place->folder, place->name, &info, AT_SYMLINK_NOFOLLOW) == 0;
    if (!*exists && errno == ENOENT)
        return NULL;
    if (!*exists)
        return cps_err_os(cps_buf_text(&place->path), "look at");
    if (!S_ISSOCK(info.st_mode))
        return cps_err_new(CPS_ERR_INPUT, "%s: expected a socket, found something else",
                           cps_buf_text(&place->path));
    if (info.st_uid == geteuid() && !(info.st_mode & (S_IRWXG | S_IRWXO)))
        return NULL;
    return cps_err_new(CPS_ERR_OS,
                       "%s: a socket that others may use, too; expected one of yours, mode 0600",
                       cps_buf_text(&place->path));
}

bool attach_is_ours(int socket)
{
#ifdef SO_PEERCRED
    struct ucred peer = {0};
    socklen_t size = sizeof(peer);
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && size == sizeof(peer) &&
           peer.uid == geteuid();
#else
    (void)socket;
    return false; /* nobody can say */
#endif
}
