/* SPDX-License-Identifier: MIT
 * What runs have shown, in memory and in a file of lines "LOW HIGH 0|1". */
#include "tools/explain/reduce/verdict.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "isa/base/buf.h"
#include "isa/base/list.h"
#include "isa/base/within.h"
#include "tools/run/cachedir.h"
#include "tools/run/files.h"
#include "tools/run/trust.h"
#include "trace/out/outfile.h"

#define FILE_LIMIT (64u << 20)

static const char magic[] = "# cpscope-reduce 1 ";

static long now(void)
{
    struct timespec time = {0, 0};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (long)time.tv_sec;
}

static struct cps_err *append(struct verdicts *v, const struct drop_key *key, bool holds)
{
    if (!CPS_LIST_ROOM(v->list, v->count))
        return cps_err_nomem();
    v->list[v->count++] = (struct verdict){*key, holds};
    return NULL;
}

/* Lines up to the first that is none. */
static struct cps_err *read_lines(struct verdicts *v, char *text)
{
    char *at = text;
    char *line = files_line(&at);
    if (!line || strncmp(line, magic, sizeof(magic) - 1) != 0 ||
        strcmp(line + sizeof(magic) - 1, v->key) != 0)
        return NULL;
    while (at && (line = files_line(&at))) {
        struct drop_key key = {0, 0};
        char holds = 0;
        if (sscanf(line, "%16" SCNx64 " %16" SCNx64 " %c", &key.low, &key.high, &holds) != 3 ||
            (holds != '0' && holds != '1'))
            break;
        CPS_TRY(append(v, &key, holds == '1'));
    }
    return NULL;
}

void verdicts_open(struct verdicts *v, const char *dir, const char *key)
{
    struct stat info;
    CPS_FREE char *text = NULL;
    *v = (struct verdicts){.saved = now()};
    snprintf(v->key, sizeof(v->key), "%s", key);
    if (!dir || snprintf(v->path, sizeof(v->path), "%s/%.2s/%s.reduce", dir, key, key) >=
                    (int)sizeof(v->path))
        v->path[0] = '\0';
    if (!v->path[0] || lstat(v->path, &info) || !S_ISREG(info.st_mode) || !trust_stat(&info))
        return;
    struct cps_err *err = files_text(v->path, FILE_LIMIT, &text);
    if (!err)
        err = read_lines(v, text);
    cps_err_free(err); /* what is not known is found out again */
    v->read = v->count;
}

void verdicts_deinit(struct verdicts *v)
{
    free(v->list);
    *v = (struct verdicts){0};
}

bool verdicts_find(const struct verdicts *v, const struct drop_key *key, bool *ret)
{
    for (size_t i = 0; i < v->count; i++) {
        if (v->list[i].key.low != key->low || v->list[i].key.high != key->high)
            continue;
        *ret = v->list[i].holds;
        return true;
    }
    return false;
}

struct cps_err *verdicts_save(struct verdicts *v)
{
    CPS_BUF text = {0};
    if (!v->path[0])
        return NULL;
    cps_buf_printf(&text, "%s%s\n", magic, v->key);
    for (size_t i = 0; i < v->count; i++)
        cps_buf_printf(&text, "%016" PRIx64 " %016" PRIx64 " %d\n", v->list[i].key.low,
                       v->list[i].key.high, v->list[i].holds);
    if (text.failed)
        return cps_err_nomem();
    cache_make_dirs(v->path, 0777);
    return cps_outfile_whole(v->path, cps_buf_text(&text), text.size);
}

struct cps_err *verdicts_add(struct verdicts *v, const struct drop_key *key, bool holds)
{
    CPS_TRY(append(v, key, holds));
    if (now() == v->saved)
        return NULL;
    v->saved = now();
    cps_err_free(verdicts_save(v)); /* the last one is told */
    return NULL;
}

void verdicts_forget(struct verdicts *v)
{
    v->count = v->read = 0;
}
