/* SPDX-License-Identifier: MIT
 * Whose a file is. */
#include "tools/run/trust.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "isa/base/buf.h"

bool trust_stat(const struct stat *info)
{
    bool ours = info->st_uid == geteuid() || info->st_uid == 0;
    bool open = info->st_mode & (S_IWGRP | S_IWOTH);
    return ours && (!open || (S_ISDIR(info->st_mode) && (info->st_mode & S_ISVTX)));
}

static struct cps_err *check_one(const char *path)
{
    struct stat info;
    if (lstat(path, &info) != 0)
        return cps_err_os(path, "look at");
    if (trust_stat(&info))
        return NULL;
    return cps_err_new(
        CPS_ERR_OS, "%s: another user could change it, expected a %s that only its owner may write",
        path, S_ISDIR(info.st_mode) ? "directory" : "file");
}

struct cps_err *trust_path(const char *path)
{
    CPS_FREE char *real = realpath(path, NULL);
    if (!real)
        return cps_err_os(path, "look at");
    CPS_TRY(check_one("/"));
    for (char *at = strchr(real + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        CPS_TRY(check_one(real));
        *at = '/';
    }
    return check_one(real);
}

static struct cps_err *check_program(const char *path, const char *what)
{
    if (access(path, X_OK) == 0)
        return trust_path(path);
    return cps_err_new(CPS_ERR_UNSUPPORTED, "%s: cannot run %s: %s", path, what, strerror(errno));
}

/* In the folders of PATH. One that is not absolute is wherever the user happens to be. */
static bool search(const char *name, struct cps_buf *path)
{
    const char *at = getenv("PATH");
    for (size_t length; at && *at; at += length + (at[length] == ':')) {
        length = strcspn(at, ":");
        cps_buf_clear(path);
        cps_buf_printf(path, "%.*s/%s", (int)length, at, name);
        if (*at != '/' || path->failed)
            continue;
        struct cps_err *err = check_program(cps_buf_text(path), "");
        cps_err_free(err);
        if (!err)
            return true;
    }
    return false;
}

struct cps_err *trust_program(const char *name, const char *what, char **ret)
{
    CPS_BUF path = {0};
    if (!strchr(name, '/') && !search(name, &path) && !path.failed)
        return cps_err_new(CPS_ERR_UNSUPPORTED,
                           "%s: cannot run %s: not found where only its owner "
                           "may write",
                           name, what);
    if (strchr(name, '/'))
        cps_buf_str(&path, name);
    if (path.failed)
        return cps_err_nomem();
    CPS_TRY(check_program(cps_buf_text(&path), what));
    *ret = CPS_TAKE(path.data);
    return NULL;
}
