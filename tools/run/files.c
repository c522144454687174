/* SPDX-License-Identifier: MIT
 * Where files are. */
#include "tools/run/files.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/run/cachedir.h"
#include "trace/capture/stream.h"
#include "isa/base/buf.h"

#define MAX_DEPTH    8u
#define DIGEST_DEPTH 4u

struct search {
    const char *name; /* NULL: any */
    const char *sha256;
    char *ret;
};

static bool matches(const struct search *s, const char *path, const char *name)
{
    char hash[65];
    if (s->name && strcmp(s->name, name) != 0)
        return false;
    struct cps_err *err = cps_sha256_file(path, hash);
    bool same = !err && !strcmp(hash, s->sha256);
    cps_err_free(err);
    if (same)
        snprintf(s->ret, FILES_PATH, "%s", path);
    return same;
}

static bool search_dir(const struct search *s, const char *dir, unsigned depth);

static bool search_entry(const struct search *s, const char *dir, const char *name, unsigned depth)
{
    char path[FILES_PATH];
    struct stat info;
    if (!strcmp(name, ".") || !strcmp(name, "..") ||
        snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path) ||
        lstat(path, &info) != 0)
        return false;
    if (S_ISDIR(info.st_mode))
        return depth < MAX_DEPTH && search_dir(s, path, depth + 1);
    return S_ISREG(info.st_mode) && matches(s, path, name);
}

/* In the order of names, so that of two copies the same one is found everywhere. */
static bool search_dir(const struct search *s, const char *dir, unsigned depth)
{
    struct dirent **entries = NULL;
    int count = scandir(dir, &entries, NULL, alphasort);
    bool found = false;
    for (int i = 0; i < count; i++) {
        found = found || search_entry(s, dir, entries[i]->d_name, depth);
        free(entries[i]);
    }
    free(entries);
    return found;
}

bool files_find(const char *name, const char *sha256, const char *const *dirs, size_t count,
                char ret[FILES_PATH])
{
    for (unsigned pass = 0; pass < 2; pass++) {
        const struct search s = {pass ? NULL : name, sha256, ret};
        for (size_t i = 0; i < count; i++) {
            if (search_dir(&s, dirs[i], 0))
                return true;
        }
    }
    return false;
}

struct digest {
    const char *ending;
    size_t begin; /* of paths, behind the folder's */
    struct cps_buf text;
};

static struct cps_err *digest_dir(struct digest *d, const char *dir, unsigned depth);

/* Links are followed, as readers do; what cannot be looked at is not there for them, either. */
static struct cps_err *digest_entry(struct digest *d, const char *dir, const char *name,
                                    unsigned depth)
{
    char path[FILES_PATH];
    char hash[65];
    struct stat info;
    size_t length = strlen(name);
    size_t ending = strlen(d->ending);
    if (!strcmp(name, ".") || !strcmp(name, "..") ||
        snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path) ||
        stat(path, &info) != 0)
        return NULL;
    if (S_ISDIR(info.st_mode))
        return depth < DIGEST_DEPTH ? digest_dir(d, path, depth + 1) : NULL;
    if (!S_ISREG(info.st_mode) || length < ending || strcmp(name + length - ending, d->ending) != 0)
        return NULL;
    CPS_TRY(cps_sha256_file(path, hash));
    cps_buf_printf(&d->text, "%s\n%s\n", path + d->begin, hash);
    return d->text.failed ? cps_err_nomem() : NULL;
}

static struct cps_err *digest_dir(struct digest *d, const char *dir, unsigned depth)
{
    struct dirent **entries = NULL;
    struct cps_err *err = NULL;
    int count = scandir(dir, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        if (!err)
            err = digest_entry(d, dir, entries[i]->d_name, depth);
        free(entries[i]);
    }
    free(entries);
    return err;
}

struct cps_err *files_digest(const char *dir, const char *ending, char ret[65])
{
    struct digest d = {.ending = ending, .begin = strlen(dir)};
    struct cps_err *err = digest_dir(&d, dir, 1);
    if (!err)
        cache_hash(cps_buf_text(&d.text), d.text.size, ret);
    cps_buf_deinit(&d.text);
    return err;
}

/* As distributions and the kernel name firmware that they compress. */
static bool is_there(const char *dir, const char *name, char path[FILES_PATH])
{
    static const char *const suffixes[] = {"", ".xz", ".zst", ".gz"};
    for (unsigned i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        if (snprintf(path, FILES_PATH, "%s/%s%s", dir, name, suffixes[i]) < FILES_PATH &&
            !access(path, R_OK))
            return true;
    }
    return false;
}

/* Where tools/firmware.sh puts it. */
static bool is_cached(const char *name, char path[FILES_PATH])
{
    char dir[FILES_PATH];
    size_t size = sizeof(dir) - sizeof("/" FILES_FW_CACHE);
    struct cps_err *err = cache_default_dir(dir, size);
    cps_err_free(err);
    return !err && is_there(strcat(dir, "/" FILES_FW_CACHE), name, path);
}

const char *files_firmware_beside(const struct file_paths *dirs, const char *here, const char *name,
                                  char path[FILES_PATH])
{
    if (strchr(name, '/') || !strcmp(name, "-") || !access(here, F_OK))
        return here;
    for (unsigned i = 0; i < dirs->count; i++) {
        if (is_there(dirs->path[i], name, path))
            return path;
    }
    return is_there(FILES_FW_DIR, name, path) || is_cached(name, path) ? path : here;
}

const char *files_firmware(const struct file_paths *dirs, const char *name, char path[FILES_PATH])
{
    return files_firmware_beside(dirs, name, name, path);
}

bool files_is_regular(const char *path)
{
    struct stat info;
    return !stat(path, &info) && S_ISREG(info.st_mode);
}

bool files_are_same(const char *a, const char *b)
{
    struct stat x, y;
    return !stat(a, &x) && !stat(b, &y) && S_ISREG(x.st_mode) && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

void files_stamp(const char *path, struct files_stamp *ret)
{
    struct stat info;
    *ret = (struct files_stamp){0};
    if (!stat(path, &info) && S_ISREG(info.st_mode))
        *ret = (struct files_stamp){info.st_dev, info.st_ino, (unsigned long long)info.st_size,
                                    (unsigned long long)info.st_ctim.tv_sec,
                                    (unsigned long long)info.st_ctim.tv_nsec};
}

struct cps_err *files_check_stamp(const char *path, const struct files_stamp *stamp)
{
    struct files_stamp now;
    files_stamp(path, &now);
    if (!memcmp(&now, stamp, sizeof(now)))
        return NULL;
    return cps_err_new(CPS_ERR_INPUT, "%s: changed while it was read", path);
}

static unsigned lines_before(const char *text, const char *end)
{
    unsigned lines = 1;
    for (; text < end; text++)
        lines += *text == '\n';
    return lines;
}

struct cps_err *files_text(const char *path, size_t limit, char **ret)
{
    CPS_FREE uint8_t *data = NULL;
    size_t size = 0;
    CPS_TRY(cps_stream_read_file(path, limit, &data, &size));
    const char *text = (const char *)data;
    const char *nul = memchr(text, '\0', size);
    if (nul)
        return cps_err_new(CPS_ERR_INPUT, "%s:%u: found a byte 0x00, expected text", path,
                           lines_before(text, nul));
    *ret = (char *)CPS_TAKE(data);
    return NULL;
}

char *files_line(char **at)
{
    char *line = *at;
    if (!line || !*line)
        return NULL;
    size_t size = strcspn(line, "\n");
    *at = line + size + (line[size] == '\n');
    line[size] = '\0';
    if (size && line[size - 1] == '\r')
        line[size - 1] = '\0';
    return line;
}

/* ---- Whose a file is ---- */

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
