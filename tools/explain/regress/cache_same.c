/* SPDX-License-Identifier: MIT
 * Results by the code that they executed: beside the entries, lists of those that began in one
 * state with one capture. A line is the result's key, the hash of what it looked at, and what that
 * is. A list that lacks a line costs a run, and nothing else: processes may overwrite each other's.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "isa/base/buf.h"
#include "tools/run/files.h"
#include "tools/explain/regress/cache.h"
#include "trace/out/outfile.h"

#define MAX_LIST  ((size_t)1 << 20) /* bytes */
#define MAX_LINES 16u               /* the newest */
#define DIGITS    64u

/* The text of a list, or NULL: none, or one that cannot be believed. */
static char *read_list(const char *path)
{
    char *text = NULL;
    if (!cache_is_ours_(path))
        return NULL;
    cps_err_free(files_text(path, MAX_LIST, &text));
    return text;
}

/* "KEY HASH WHAT". */
static bool parse_line(char *line, struct cache_key *key, struct same_code *code)
{
    if (strlen(line) < 2 * (DIGITS + 1) || line[DIGITS] != ' ' || line[2 * DIGITS + 1] != ' ')
        return false;
    memcpy(key->text, line, DIGITS);
    memcpy(code->hash, line + DIGITS + 1, DIGITS);
    key->text[DIGITS] = code->hash[DIGITS] = '\0';
    code->what = line + 2 * (DIGITS + 1);
    return true;
}

/* Where the list lies of runs that begin in @p base. */
static bool list_path(const struct cache_run *run, const struct same_base *base, char ret[4096])
{
    struct cache_key index;
    struct cps_err *err = cache_key_(run, base->hash, &index);
    bool good = !err && base->hash[0] && cache_path_(run->dir, &index, ".code", ret);
    cps_err_free(err);
    return good;
}

static bool find(const char *path, const struct same_base *base, const struct cps_fw *fw,
                 struct cache_key *ret)
{
    bool found = false;
    CPS_FREE char *text = read_list(path);
    char *at = text;
    for (char *line; at && !found && (line = files_line(&at));) {
        struct same_code code = {0};
        memcpy(code.base, base->hash, sizeof(code.base));
        found = parse_line(line, ret, &code) && same_code_holds(&code, base, fw);
    }
    return found;
}

bool cache_take_same(const struct cache_run *run, const struct same_base *base,
                     const struct cps_fw *fw, struct record *ret)
{
    char path[4096];
    struct cache_key key;
    if (!list_path(run, base, path) || !find(path, base, fw, &key) ||
        !cache_get_(run->dir, &key, fw->count, ret))
        return false;
    if (same_code_holds(&ret->code, base, fw))
        return true;
    record_deinit(ret); /* the list says it, the entry does not */
    return false;
}

/* The lines that are kept behind a new one: others than that, and not too many. */
static void keep_lines(char *at, const char *new_key, struct cps_buf *out)
{
    unsigned kept = 1;
    for (char *line; at && kept < MAX_LINES && (line = files_line(&at));) {
        if (!*line || !strncmp(line, new_key, DIGITS) || out->size + strlen(line) > MAX_LIST / 2)
            continue;
        cps_buf_printf(out, "%s\n", line);
        kept++;
    }
}

struct cps_err *cache_note_same_(const struct cache_run *run, const struct same_base *base,
                                 const struct cache_key *key, const struct same_code *code)
{
    char path[4096];
    struct stat info;
    CPS_BUF list = {0};
    if (!code->what || !list_path(run, base, path))
        return NULL;
    cache_make_dirs(path, 0777);
    CPS_FREE char *old = read_list(path);
    if (!lstat(path, &info) && !S_ISREG(info.st_mode))
        unlink(path);
    cps_buf_printf(&list, "%s %s %s\n", key->text, code->hash, code->what);
    keep_lines(old, key->text, &list);
    return list.failed ? cps_err_nomem() : cps_outfile_whole(path, list.data, list.size);
}
