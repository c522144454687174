/* SPDX-License-Identifier: MIT
 * What runs have shown, in memory and in a file of lines "LOW HIGH 0|1". */
#include "tools/explain/reduce/reduce.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/cmd/terminal/oom.h"
#include "tools/run/cachedir.h"
#include "tools/run/files.h"

#define FILE_LIMIT (64u << 20)

static const char magic[] = "# cpscope-reduce 1 ";

static long now(void)
{
    struct timespec time = {0, 0};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (long)time.tv_sec;
}

static void append(struct verdicts *v, const struct drop_key *key, bool holds)
{
    TOOL_ROOM(v->list, v->count);
    v->list[v->count++] = (struct verdict){*key, holds};
}

/* Lines up to the first that is none. */
static void read_lines(struct verdicts *v, char *text)
{
    char *line = files_line(&text);
    if (!line || strncmp(line, magic, sizeof(magic) - 1) != 0 ||
        strcmp(line + sizeof(magic) - 1, v->key) != 0)
        return;
    while ((line = files_line(&text))) {
        struct drop_key key = {0, 0};
        char holds = 0;
        if (sscanf(line, "%16" SCNx64 " %16" SCNx64 " %c", &key.low, &key.high, &holds) != 3 ||
            (holds != '0' && holds != '1'))
            break;
        append(v, &key, holds == '1');
    }
}

void verdicts_open(struct verdicts *v, const char *dir, const char *key)
{
    *v = (struct verdicts){.saved = now()};
    snprintf(v->key, sizeof(v->key), "%s", key);
    if (!cache_path(dir, key, ".reduce", v->path))
        v->path[0] = '\0';
    CPS_FREE char *text = v->path[0] ? cache_read(v->path, FILE_LIMIT) : NULL;
    if (text)
        read_lines(v, text);
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
    return cache_write(v->path, &text);
}

void verdicts_add(struct verdicts *v, const struct drop_key *key, bool holds)
{
    append(v, key, holds);
    if (now() == v->saved)
        return;
    v->saved = now();
    cps_err_free(verdicts_save(v)); /* the last one is told */
}

void verdicts_forget(struct verdicts *v)
{
    v->count = v->read = 0;
}
