/* SPDX-License-Identifier: MIT
 * The private folder: the socket, and a tree that clients see in place of /dev/dri, /dev/kgsl-3d0
 * and of what sysfs says of them (tree.def). A device that is killed leaves it; the next one
 * removes it. */
#include "tools/device/device.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define NAME   "cpscope-"
#define RANDOM "XXXXXX"

enum tree_kind { TREE_DIR, TREE_LINK, TREE_FILE, TREE_NODE };

enum tree_node { NODE_ANY, NODE_MSM, NODE_KGSL };

static const struct {
    enum tree_node node;
    const char *path;
    enum tree_kind kind;
    const char *text;
} rows[] = {
#define TREE(node, path, kind, text) {NODE_##node, path, TREE_##kind, text},
#define PLACE(path)
#include "tools/device/tree.def"
};

static struct cps_err *make_row(const char *folder, size_t i)
{
    char path[512];
    int length = snprintf(path, sizeof(path), "%s/%s/%s", folder, DEVICE_ROOT, rows[i].path);
    if (length < 0 || (size_t)length >= sizeof(path))
        return cps_err_new(CPS_ERR_OS, "%s: the name of the folder is too long", folder);
    if (rows[i].kind == TREE_DIR)
        return mkdir(path, 0700) == 0 ? NULL : cps_err_os(path, "mkdir");
    if (rows[i].kind == TREE_LINK)
        return symlink(rows[i].text, path) == 0 ? NULL : cps_err_os(path, "symlink");
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    size_t size = strlen(rows[i].text);
    bool good = fd >= 0 && write(fd, rows[i].text, size) == (ssize_t)size;
    if (fd >= 0)
        close(fd);
    return good ? NULL : cps_err_os(path, "write");
}

static struct cps_err *make_root(const char *folder)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", folder, DEVICE_ROOT);
    return mkdir(path, 0700) == 0 ? NULL : cps_err_os(path, "mkdir");
}

/* ---- what killed devices left ---- */

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)info, (void)kind, (void)where;
    return remove(path);
}

void device_folder_remove(const char *path)
{
    if (path[0])
        nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Whether nobody listens any more. Which is about to, or is being made, is young. */
static bool is_left(const char *folder)
{
    enum { YOUNG = 60 };
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat info;
    int length =
        snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", folder, DEVICE_SOCKET);
    if (length < 0 || (size_t)length >= sizeof(address.sun_path) || lstat(folder, &info) != 0 ||
        !S_ISDIR(info.st_mode) || info.st_uid != getuid())
        return false;
    if (lstat(address.sun_path, &info) != 0)
        return time(NULL) - info.st_mtime > YOUNG;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool refused = fd >= 0 && time(NULL) - info.st_mtime > 1 &&
                   connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0 &&
                   errno == ECONNREFUSED;
    if (fd >= 0)
        close(fd);
    return refused;
}

static void remove_left(const char *base)
{
    char path[PATH_MAX];
    DIR *folder = opendir(base);
    const struct dirent *entry = NULL;
    while (folder && (entry = readdir(folder))) {
        if (strncmp(entry->d_name, NAME, strlen(NAME)) != 0 ||
            strlen(entry->d_name) != strlen(NAME) + strlen(RANDOM))
            continue;
        snprintf(path, sizeof(path), "%s/%s", base, entry->d_name);
        if (is_left(path))
            device_folder_remove(path);
    }
    if (folder)
        closedir(folder);
}

struct cps_err *device_folder_make(char *path, size_t size, bool kgsl)
{
    const char *base = getenv("XDG_RUNTIME_DIR");
    struct stat info;
    bool usable = base && base[0] == '/' && strlen(base) < 60 && stat(base, &info) == 0 &&
                  S_ISDIR(info.st_mode) && access(base, W_OK) == 0;
    base = usable ? base : "/tmp";
    remove_left(base);
    snprintf(path, size, "%s/" NAME RANDOM, base);
    if (!mkdtemp(path)) {
        struct cps_err *err = cps_err_os(path, "mkdtemp");
        path[0] = 0;
        return err;
    }
    CPS_TRY(make_root(path));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].node != (kgsl ? NODE_MSM : NODE_KGSL))
            CPS_TRY(make_row(path, i));
    }
    return NULL;
}
