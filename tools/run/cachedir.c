/* SPDX-License-Identifier: MIT
 * Where this user's cache lies, and what its entries are called by. */
#include "tools/run/cachedir.h"

#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <nettle/sha2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tools/run/files.h"
#include "tools/cmd/terminal/report.h"
#include "trace/capture/stream.h"
#include "trace/out/outfile.h"

#define STALE (24 * 60 * 60) /* seconds */

void cache_digits(const uint8_t digest[32], char ret[65])
{
    for (unsigned i = 0; i < 32; i++)
        snprintf(ret + 2 * i, 3, "%02x", digest[i]);
}

void cache_hash(const char *text, size_t size, char ret[65])
{
    uint8_t digest[32];
    struct sha256_ctx context;
    sha256_init(&context);
    sha256_update(&context, size, (const uint8_t *)text);
    sha256_digest(&context, SHA256_DIGEST_SIZE, digest);
    cache_digits(digest, ret);
}

/* Of the user that runs this, whatever the environment says, where it says nothing. */
static const char *home(void)
{
    const char *said = getenv("HOME");
    const struct passwd *entry = said && *said == '/' ? NULL : getpwuid(geteuid());
    return said && *said == '/' ? said : entry ? entry->pw_dir : NULL;
}

struct cps_err *cache_default_dir(char *ret, size_t size)
{
    const char *base = getenv("XDG_CACHE_HOME");
    bool given = base && *base == '/'; /* its specification: others are to be ignored */
    const char *dir = given ? base : home();
    if (!dir || *dir != '/')
        return cps_err_new(CPS_ERR_OS, "no home directory, expected HOME, XDG_CACHE_HOME or "
                                       "--cache DIR");
    if (snprintf(ret, size, "%s/%scpscope", dir, given ? "" : ".cache/") >= (int)size)
        return cps_err_new(CPS_ERR_OS, "%s: the path is too long", dir);
    return NULL;
}

static struct cps_err *choose(const char *dir, struct cache_choice *ret)
{
    CPS_TRY(cps_sha256_file("/proc/self/exe", ret->program));
    if (!dir)
        return cache_default_dir(ret->dir, sizeof(ret->dir));
    if (snprintf(ret->dir, sizeof(ret->dir), "%s", dir) >= (int)sizeof(ret->dir))
        return cps_err_new(CPS_ERR_OS, "--cache: the path is too long");
    return NULL;
}

struct cps_err *cache_choose(const char *dir, bool wanted, struct cache_choice *ret,
                             struct cps_err **lost)
{
    *ret = (struct cache_choice){.dir = ""};
    if (!wanted)
        return NULL;
    struct cps_err *err = choose(dir, ret);
    if (!err)
        return NULL;
    *ret = (struct cache_choice){.dir = ""};
    if (err->code == CPS_ERR_NOMEM)
        return err;
    if (lost) {
        *lost = err;
        return NULL;
    }
    report_note("results are not stored", err);
    cps_err_free(err);
    return NULL;
}

bool cache_path(const char *dir, const char *key, const char *suffix, char ret[4096])
{
    return *dir && snprintf(ret, 4096, "%s/%.2s/%s%s", dir, key, key, suffix) < 4096;
}

/* A directory may be shared. What another user wrote is no result of ours, and what is no file
 * would be waited for. */
bool cache_is_ours(const char *path)
{
    struct stat info;
    return !lstat(path, &info) && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
           !(info.st_mode & (S_IWGRP | S_IWOTH));
}

void cache_prepare(char *path)
{
    struct stat info;
    cache_make_dirs(path, 0777);
    if (!lstat(path, &info) && !S_ISREG(info.st_mode))
        unlink(path);
}

void cache_seal(const char *path)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return;
    if (!fstat(fd, &info) && S_ISREG(info.st_mode) && info.st_mode & (S_IWGRP | S_IWOTH))
        fchmod(fd, info.st_mode & 07755);
    close(fd);
}

char *cache_read(const char *path, size_t limit)
{
    char *text = NULL;
    if (cache_is_ours(path))
        cps_err_free(files_text(path, limit, &text)); /* what is not known is found out again */
    return text;
}

struct cps_err *cache_write(char *path, const struct cps_buf *text)
{
    cache_prepare(path);
    if (text->failed)
        return cps_err_nomem();
    CPS_TRY(cps_outfile_whole(path, cps_buf_text(text), text->size));
    cache_seal(path);
    return NULL;
}

void cache_make_dirs(char *path, unsigned mode)
{
    for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        mkdir(path, mode);
        *at = '/';
    }
}

static bool ends_with(const char *name, const char *ending)
{
    size_t size = strlen(name);
    return size > strlen(ending) && !strcmp(name + size - strlen(ending), ending);
}

void cache_sweep(const char *dir, const char *ending)
{
    time_t now = time(NULL);
    DIR *folder = opendir(dir);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        struct stat info;
        if (ends_with(entry->d_name, ending) &&
            !fstatat(dirfd(folder), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) &&
            S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
            difftime(now, info.st_mtime) > STALE)
            unlinkat(dirfd(folder), entry->d_name, 0);
    }
    if (folder)
        closedir(folder);
}
