/* SPDX-License-Identifier: MIT
 * The files of folders. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "isa/base/list.h"
#include "tools/explain/audit/audit.h"
#include "tools/run/files.h"

#define MAX_DEPTH 8u

static struct cps_err *add_file(struct audit *audit, const char *path, bool named, bool known)
{
    if (!CPS_LIST_ROOM(audit->file, audit->files))
        return cps_err_nomem();
    struct audit_file *file = &audit->file[audit->files++];
    *file = (struct audit_file){.path = strdup(path), .named = named, .known = known};
    return file->path ? NULL : cps_err_nomem();
}

static struct cps_err *add_folder(struct audit *audit, const char *dir, bool known, unsigned depth);

static struct cps_err *add_entry(struct audit *audit, const char *dir, const char *name, bool known,
                                 unsigned depth)
{
    char path[FILES_PATH];
    struct stat info;
    size_t end = strlen(dir);
    const char *slash = end && dir[end - 1] == '/' ? "" : "/";
    if (!strcmp(name, ".") || !strcmp(name, ".."))
        return NULL;
    if (snprintf(path, sizeof(path), "%s%s%s", dir, slash, name) >= (int)sizeof(path))
        return cps_err_new(CPS_ERR_OS, "%s: the paths in it are too long", dir);
    if (lstat(path, &info))
        return cps_err_os(path, "cannot look at it");
    if (S_ISDIR(info.st_mode))
        return depth < MAX_DEPTH ? add_folder(audit, path, known, depth + 1) : NULL;
    return S_ISREG(info.st_mode) ? add_file(audit, path, false, known) : NULL;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static struct cps_err *add_folder(struct audit *audit, const char *dir, bool known, unsigned depth)
{
    struct dirent **entry = NULL;
    struct cps_err *err = NULL;
    int count = scandir(dir, &entry, NULL, by_bytes);
    if (count < 0)
        return cps_err_os(dir, "cannot read the folder");
    for (int i = 0; i < count; i++) {
        err = err ? err : add_entry(audit, dir, entry[i]->d_name, known, depth);
        free(entry[i]);
    }
    free(entry);
    return err;
}

struct cps_err *audit_add_path(struct audit *audit, const char *path, bool known)
{
    struct stat info;
    char found[FILES_PATH];
    path = files_firmware(audit->opt, path, found);
    if (!stat(path, &info) && S_ISDIR(info.st_mode))
        return add_folder(audit, path, known, 0);
    return add_file(audit, path, true, known);
}
