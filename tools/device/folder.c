/* SPDX-License-Identifier: MIT
 * The private folder: the socket, and a tree that clients see in place of /dev/dri and of what
 * sysfs says of it (tree.def). */
#include "tools/device/device.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum tree_kind { TREE_DIR, TREE_LINK, TREE_FILE, TREE_NODE };

static const struct {
    const char *path;
    enum tree_kind kind;
    const char *text;
} rows[] = {
#define TREE(path, kind, text) {path, TREE_##kind, text},
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

struct cps_err *device_folder_make(char *path, size_t size)
{
    const char *base = getenv("XDG_RUNTIME_DIR");
    struct stat info;
    bool usable = base && base[0] == '/' && stat(base, &info) == 0 && S_ISDIR(info.st_mode) &&
                  access(base, W_OK) == 0;
    snprintf(path, size, "%s/cpscope-XXXXXX", usable && strlen(base) < 60 ? base : "/tmp");
    if (!mkdtemp(path)) {
        struct cps_err *err = cps_err_os(path, "mkdtemp");
        path[0] = 0;
        return err;
    }
    CPS_TRY(make_root(path));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        CPS_TRY(make_row(path, i));
    return NULL;
}

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
