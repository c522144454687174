/* SPDX-License-Identifier: MIT
 * Sockets of runs: where they are, and the adapter's end of one. */
#define _GNU_SOURCE /* struct ucred */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/face/dap/dap_private.h"

#define FOLDER     "cpscope"
#define OPEN_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

static bool is_private(const struct stat *info)
{
    return info->st_uid == geteuid() && !(info->st_mode & (S_IRWXG | S_IRWXO));
}

static struct cps_err *open_folder(int in, const char *name, const char *path, int *ret)
{
    struct stat info;
    *ret = openat(in, name, OPEN_FLAGS);
    if (*ret < 0 && (errno == ELOOP || errno == ENOTDIR))
        return cps_err_new(CPS_ERR_OS, "%s: expected a folder, no link", path);
    if (*ret < 0)
        return cps_err_os(path, "open");
    if (fstat(*ret, &info) != 0)
        return cps_err_os(path, "look at");
    if (is_private(&info))
        return NULL;
    return cps_err_new(CPS_ERR_OS,
                       "%s: a folder that others may use, too; expected one of yours, mode 0700",
                       path);
}

static struct cps_err *set_name(struct attach_socket *at, const char *name)
{
    if (!*name || !strcmp(name, ".") || !strcmp(name, ".."))
        return cps_err_new(CPS_ERR_INPUT, "%s: expected the path of a socket",
                           cps_buf_text(&at->path));
    if (strlen(name) >= sizeof(at->name))
        return cps_err_new(CPS_ERR_INPUT, "%s: expected a name of at most %zu bytes",
                           cps_buf_text(&at->path), sizeof(at->name) - 1);
    memcpy(at->name, name, strlen(name) + 1);
    return NULL;
}

struct cps_err *attach_open(const char *path, struct attach_socket *ret)
{
    const char *slash = strrchr(path, '/');
    CPS_BUF folder = {0};
    *ret = (struct attach_socket){.folder = -1};
    cps_buf_str(&ret->path, path);
    if (slash)
        cps_buf_printf(&folder, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    else
        cps_buf_str(&folder, ".");
    CPS_TRY(set_name(ret, slash ? slash + 1 : path));
    return open_folder(AT_FDCWD, tool_text(&folder), tool_text(&folder), &ret->folder);
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
    if (!err && make && mkdirat(runtime, FOLDER, S_IRWXU) != 0 && errno != EEXIST)
        err = cps_err_os(cps_buf_text(path), "create");
    if (!err)
        err = open_folder(runtime, FOLDER, cps_buf_text(path), ret);
    if (runtime >= 0)
        close(runtime);
    return err;
}

struct cps_err *attach_open_pid(long pid, bool make, struct attach_socket *ret)
{
    char name[ATTACH_NAME];
    *ret = (struct attach_socket){.folder = -1};
    CPS_TRY(open_usual(make, &ret->path, &ret->folder));
    snprintf(name, sizeof(name), "%ld.sock", pid);
    cps_buf_printf(&ret->path, "/%s", name);
    return set_name(ret, name);
}

/* The runs that live and listen: the last one, and all of them as a text. */
static struct cps_err *find_runs(int folder, struct cps_buf *all, unsigned *count, long *last)
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
        char *end = NULL;
        long pid = strtol(entry->d_name, &end, 10);
        if (pid <= 0 || strcmp(end, ".sock") != 0 || kill((pid_t)pid, 0) != 0)
            continue;
        *last = pid;
        cps_buf_printf(all, "%s%ld", (*count)++ ? ", " : "", pid);
    }
    closedir(dir);
    return NULL;
}

struct cps_err *attach_open_only(struct attach_socket *ret)
{
    CPS_BUF all = {0};
    unsigned count = 0;
    long pid = 0;
    *ret = (struct attach_socket){.folder = -1};
    struct cps_err *err = open_usual(false, &ret->path, &ret->folder);
    bool none = err && errno == ENOENT;
    if (!none)
        CPS_TRY(err);
    cps_err_free(none ? err : NULL);
    if (!none)
        CPS_TRY(find_runs(ret->folder, &all, &count, &pid));
    attach_deinit(ret);
    if (!count)
        return cps_err_new(CPS_ERR_INPUT,
                           "no run of yours listens, expected a 'cpscope run --listen'");
    if (count > 1)
        return cps_err_new(CPS_ERR_INPUT, "%u runs listen, expected \"pid\", one of %s", count,
                           tool_text(&all));
    return attach_open_pid(pid, false, ret);
}

void attach_deinit(struct attach_socket *at)
{
    if (at->folder >= 0)
        close(at->folder);
    cps_buf_deinit(&at->path);
    *at = (struct attach_socket){.folder = -1};
}

struct sockaddr_un attach_address(const struct attach_socket *at)
{
    struct sockaddr_un ret = {.sun_family = AF_UNIX};
    snprintf(ret.sun_path, sizeof(ret.sun_path), "/proc/self/fd/%d/%.*s", at->folder,
             ATTACH_NAME - 1, at->name);
    return ret;
}

struct cps_err *attach_check(const struct attach_socket *at, bool *exists)
{
    struct stat info;
    *exists = fstatat(at->folder, at->name, &info, AT_SYMLINK_NOFOLLOW) == 0;
    if (!*exists && errno == ENOENT)
        return NULL;
    if (!*exists)
        return cps_err_os(cps_buf_text(&at->path), "look at");
    if (!S_ISSOCK(info.st_mode))
        return cps_err_new(CPS_ERR_INPUT, "%s: expected a socket, found something else",
                           cps_buf_text(&at->path));
    if (is_private(&info))
        return NULL;
    return cps_err_new(CPS_ERR_OS,
                       "%s: a socket that others may use, too; expected one of yours, mode 0600",
                       cps_buf_text(&at->path));
}

/* Whether the process at the other end of a connected socket is the user's. */
static bool attach_is_ours(int socket)
{
#ifdef SO_PEERCRED
    struct ucred peer = {0};
    socklen_t size = sizeof(peer);
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && size == sizeof(peer) &&
           peer.uid == geteuid();
#else
    (void)socket;
    return false; /* the system does not tell */
#endif
}

int attach_accept(int listener, const char *line)
{
    int client = accept(listener, NULL, NULL);
    if (client < 0)
        return -1;
    if (attach_is_ours(client)) {
        ssize_t sent = send(client, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT);
        (void)sent; /* who does not listen has lost */
        return client;
    }
    close(client);
    return -1;
}

/* ---- the adapter's end ---- */

#define LINE_BYTES 256
#define PATIENCE   60000 /* milliseconds: the run answers after it has read its input */

/* Connects, and reads the first line. */
static struct cps_err *connect_to(int s, const struct attach_socket *at)
{
    const char *path = cps_buf_text(&at->path);
    struct sockaddr_un address = attach_address(at);
    struct pollfd one = {s, POLLIN, 0};
    char line[LINE_BYTES] = "";
    size_t size = 0;
    char c = 0;
    if (connect(s, (struct sockaddr *)&address, sizeof(address)) != 0)
        return errno == ECONNREFUSED
                   ? cps_err_new(CPS_ERR_INPUT, "%s: the run that listened there is over", path)
                   : cps_err_os(path, "connect to");
    if (!attach_is_ours(s))
        return cps_err_new(CPS_ERR_OS, "%s: another user's process listens there", path);
    while (size < LINE_BYTES - 1 && poll(&one, 1, PATIENCE) == 1 && read(s, &c, 1) == 1 &&
           c != '\n')
        line[size++] = c;
    if (c != '\n')
        return cps_err_new(CPS_ERR_OS, "%s: what listens there does not answer", path);
    return strcmp(line, ATTACH_HELLO) ? cps_err_new(CPS_ERR_INPUT, "%s: %s", path, line) : NULL;
}

struct cps_err *attach_connect(const struct attach_socket *at, int *ret)
{
    bool exists = false;
    CPS_TRY(attach_check(at, &exists));
    if (!exists)
        return cps_err_new(CPS_ERR_INPUT, "%s: no run listens there", cps_buf_text(&at->path));
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct cps_err *err =
        s < 0 ? cps_err_os(cps_buf_text(&at->path), "connect to") : connect_to(s, at);
    if (err && s >= 0)
        close(s);
    else
        *ret = s;
    return err;
}
