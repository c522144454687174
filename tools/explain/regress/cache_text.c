/* SPDX-License-Identifier: MIT
 * Texts about runs, beside the runs: an entry is a line with its key and the hash of the text, then
 * the text. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "isa/base/cleanup.h"
#include "tools/run/files.h"
#include "tools/explain/regress/cache.h"
#include "trace/out/outfile.h"

#define MAX_BYTES ((size_t)4 << 20)

static bool entry(const struct cache_run *run, const char *about, struct cache_key *key,
                  char path[4096])
{
    CPS_BUF text = {0};
    struct cps_err *err = cache_key_(run, run->firmware_hash, key);
    cps_buf_printf(&text, "%s %s", key->text, about);
    bool good = !err && !text.failed;
    if (good)
        cache_hash(cps_buf_text(&text), text.size, key->text);
    cps_err_free(err);
    return good && cache_path_(run->dir, key, ".text", path);
}

static void put_line(const struct cache_key *key, const char *text, struct cps_buf *out)
{
    char hash[65];
    cache_hash(text, strlen(text), hash);
    cps_buf_printf(out, "%s %s\n", key->text, hash);
}

bool cache_take_text(const struct cache_run *run, const char *about, struct cps_buf *ret)
{
    struct cache_key key;
    char path[4096];
    CPS_FREE char *whole = NULL;
    CPS_BUF line = {0};
    if (!entry(run, about, &key, path) || !cache_is_ours_(path))
        return false;
    cps_err_free(files_text(path, MAX_BYTES, &whole));
    const char *text = whole ? strchr(whole, '\n') : NULL;
    if (!text++)
        return false;
    put_line(&key, text, &line);
    if (line.failed || strncmp(whole, cps_buf_text(&line), line.size) != 0)
        return false;
    cps_buf_str(ret, text);
    return !ret->failed;
}

struct cps_err *cache_keep_text(const struct cache_run *run, const char *about, const char *text)
{
    struct cache_key key;
    char path[4096];
    struct stat info;
    CPS_BUF out = {0};
    if (!entry(run, about, &key, path))
        return cps_err_new(CPS_ERR_INPUT, "%s: the path is too long", run->dir);
    cache_make_dirs(path, 0777);
    if (!lstat(path, &info) && !S_ISREG(info.st_mode))
        unlink(path);
    put_line(&key, text, &out);
    cps_buf_str(&out, text);
    return out.failed ? cps_err_nomem() : cps_outfile_whole(path, out.data, out.size);
}
