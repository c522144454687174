/* SPDX-License-Identifier: MIT
 * Reads the matrix of a regression run. */
#include "tools/regress/manifest.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/base/buf.h"
#include "isa/base/list.h"
#include "tools/opt_engine.h"
#include "trace/capture/stream.h"
#include "trace/form/text.h"
#include "tools/report/utf8.h"

#define MAX_BYTES (64u << 20)
#define MAX_WORDS 32

struct reader {
    struct manifest *to;
    const char *path;
    char *dir; /* of the manifest, with its slash; "" for the current one */
    unsigned line;
    unsigned policy_line;
    char *word[MAX_WORDS];
    unsigned count;
};

static struct cps_err *bad(const struct reader *r, const char *expected)
{
    return cps_err_new(CPS_ERR_SYNTAX, "%s:%u: expected %s", r->path, r->line, expected);
}

static char *join(const char *dir, const char *name)
{
    size_t size = strlen(dir) + strlen(name) + 1;
    char *ret = malloc(size);
    if (ret)
        snprintf(ret, size, "%s%s", name[0] == '/' ? "" : dir, name);
    return ret;
}

/* The value of "key=value" among the line's words, which is taken out; or NULL. */
static char *take_key(struct reader *r, const char *key)
{
    size_t length = strlen(key);
    for (unsigned i = 1; i < r->count; i++) {
        if (strncmp(r->word[i], key, length) != 0 || r->word[i][length] != '=')
            continue;
        char *value = r->word[i] + length + 1;
        memmove(&r->word[i], &r->word[i + 1], (r->count - i - 1) * sizeof(*r->word));
        r->count--;
        return value;
    }
    return NULL;
}

/* ",A,B,": so that a tag can be looked for with its commas. */
static char *tags_of(const char *value)
{
    size_t size = value ? strlen(value) + 3 : 0;
    char *ret = value ? malloc(size) : NULL;
    if (ret)
        snprintf(ret, size, ",%s,", value);
    return ret;
}

static struct cps_err *add_firmware(struct reader *r)
{
    char *tags = take_key(r, "tags");
    bool is_file = r->count > 2 && !opt_named_engine(r->word[2]); /* else an engine for scripts */
    if (r->count < 3 || r->count > 4 || (r->count == 4 && !is_file))
        return bad(r, "firmware NAME FILE [FILE] [tags=A,B]");
    struct manifest *to = r->to;
    if (!CPS_LIST_ROOM(to->firmware, to->firmware_count))
        return cps_err_nomem();
    struct manifest_firmware *fw = &to->firmware[to->firmware_count++];
    *fw = (struct manifest_firmware){.name = strdup(r->word[1]),
                                     .path = {join(is_file ? r->dir : "", r->word[2]), NULL},
                                     .tags = tags_of(tags)};
    if (r->count == 4)
        fw->path[1] = join(r->dir, r->word[3]);
    return fw->name && fw->path[0] ? NULL : cps_err_nomem();
}

/* As reports name it: what a document cannot hold is written as \xHH. */
static char *shown_name(const char *name)
{
    CPS_BUF text = {0};
    while (*name) {
        size_t length = *name == '\n' || *name == '\t' ? 0 : utf8_length(name);
        if (length)
            cps_buf_add(&text, name, length);
        else
            cps_buf_printf(&text, "\\x%02x", (unsigned char)*name);
        name += length ? length : 1;
    }
    return text.failed ? NULL : strdup(cps_buf_text(&text));
}

static struct cps_err *add_capture(struct reader *r, const char *path, const char *tags, int expect)
{
    struct manifest *to = r->to;
    size_t dir = strlen(r->dir);
    if (!CPS_LIST_ROOM(to->capture, to->capture_count))
        return cps_err_nomem();
    struct manifest_capture *capture = &to->capture[to->capture_count++];
    bool below = !strncmp(path, r->dir, dir);
    *capture = (struct manifest_capture){.path = strdup(path),
                                         .name = shown_name(below ? path + dir : path),
                                         .tags = tags_of(tags),
                                         .expect = expect};
    return capture->path && capture->name ? NULL : cps_err_nomem();
}

/* A name without wildcards is kept although no file is there: it must not be lost silently. */
static struct cps_err *add_glob(struct reader *r, const char *pattern, const char *tags, int expect)
{
    glob_t found = {0};
    CPS_FREE char *full = join(r->dir, pattern);
    struct cps_err *err = full ? NULL : cps_err_nomem();
    int status = full ? glob(full, 0, NULL, &found) : 0;
    if (!err && status == GLOB_NOMATCH && !strpbrk(pattern, "*?["))
        err = add_capture(r, full, tags, expect);
    else if (!err && status)
        err = bad(r, "a pattern that some file matches");
    for (size_t i = 0; i < found.gl_pathc && !err; i++)
        err = add_capture(r, found.gl_pathv[i], tags, expect);
    globfree(&found);
    return err;
}

static int reason_of(const char *word)
{
    for (unsigned i = 0; i < 8; i++) {
        if (!strcmp(cps_event_sub_word(CPS_EV_END, i), word))
            return (int)i;
    }
    return -1;
}

static struct cps_err *add_captures(struct reader *r)
{
    const char *tags = take_key(r, "tags");
    const char *expect = take_key(r, "expect");
    int reason = expect ? reason_of(expect) : CPS_REASON_DONE;
    if (r->count < 2 || reason < 0)
        return bad(r, "capture GLOB... [tags=A,B] [expect=done|limit|deadlock|fault|bad-packet]");
    for (unsigned i = 1; i < r->count; i++)
        CPS_TRY(add_glob(r, r->word[i], tags, reason));
    return NULL;
}

static struct cps_err *set_baseline(struct reader *r)
{
    for (unsigned i = 0; r->count == 2 && i < r->to->firmware_count; i++) {
        if (strcmp(r->to->firmware[i].name, r->word[1]) != 0)
            continue;
        r->to->baseline = (int)i;
        return NULL;
    }
    return bad(r, "baseline NAME, of a firmware in a line before");
}

/* The words behind the key as one text. */
static struct cps_err *set_text(struct reader *r, char **to, const char *dir)
{
    CPS_BUF text = {0};
    if (r->count < 2)
        return bad(r, "a value");
    for (unsigned i = 1; i < r->count; i++)
        cps_buf_printf(&text, "%s%s", i > 1 ? " " : "", r->word[i]);
    free(*to);
    *to = join(dir, cps_buf_text(&text));
    return *to ? NULL : cps_err_nomem();
}

/* Each policy has to have a meaning for one of @p engines. */
static struct cps_err *check_policy(const struct reader *r, unsigned engines)
{
    struct cps_policy policy = cps_policy_default();
    struct cps_err *err = cps_policy_parse_for(r->to->policy, engines, &policy);
    if (!err)
        return NULL;
    struct cps_err *ret =
        cps_err_new(err->code, "%s:%u: %s", r->path, r->policy_line, err->message);
    cps_err_free(err);
    return ret;
}

static struct cps_err *set_policy(struct reader *r)
{
    CPS_TRY(set_text(r, &r->to->policy, ""));
    r->policy_line = r->line;
    return check_policy(r, CPS_ON_ALL);
}

/* Its lines may stand before those of the firmware that they are for. */
static struct cps_err *check_engines(const struct reader *r)
{
    unsigned engines = 0;
    for (unsigned i = 0; i < r->to->firmware_count; i++) {
        unsigned gen = opt_named_engine(r->to->firmware[i].path[0]);
        engines |= gen ? cps_engines_of((enum cps_gen)gen) : (unsigned)CPS_ON_AFUC;
    }
    return r->to->policy ? check_policy(r, engines) : NULL;
}

static struct cps_err *set_limit(struct reader *r)
{
    return r->count == 2 && opt_count(r->word[1], &r->to->limit)
               ? NULL
               : bad(r, "limit N, with k, M or G");
}

static struct cps_err *read_line(struct reader *r)
{
    const char *key = r->word[0];
    if (!strcmp(key, "firmware"))
        return add_firmware(r);
    if (!strcmp(key, "capture"))
        return add_captures(r);
    if (!strcmp(key, "baseline"))
        return set_baseline(r);
    if (!strcmp(key, "golden"))
        return set_text(r, &r->to->golden, r->dir);
    if (!strcmp(key, "mask"))
        return set_text(r, &r->to->mask, "");
    if (!strcmp(key, "events"))
        return set_text(r, &r->to->events, "");
    if (!strcmp(key, "policy"))
        return set_policy(r);
    if (!strcmp(key, "limit"))
        return set_limit(r);
    return bad(r, "firmware, capture, baseline, golden, mask, events, policy or limit");
}

static void split(struct reader *r, char *line)
{
    char *state = NULL;
    r->count = 0;
    line[strcspn(line, ";")] = '\0';
    for (char *word = strtok_r(line, " \t\r", &state); word && r->count < MAX_WORDS;
         word = strtok_r(NULL, " \t\r", &state))
        r->word[r->count++] = word;
}

static struct cps_err *read_lines(struct reader *r, char *text)
{
    char *state = NULL;
    if (strncmp(text, "# cpscope-manifest 1\n", 21) != 0)
        return cps_err_new(CPS_ERR_SYNTAX, "%s:1: expected \"# cpscope-manifest 1\"", r->path);
    for (char *at = text; at; at = state) {
        state = strchr(at, '\n');
        if (state)
            *state++ = '\0';
        r->line++;
        if (*at == '#')
            continue;
        split(r, at);
        if (r->count)
            CPS_TRY(read_line(r));
    }
    if (!r->to->firmware_count || !r->to->capture_count)
        return bad(r, "at least one firmware and one capture");
    return check_engines(r);
}

static int by_name(const void *x, const void *y)
{
    return strcmp(((const struct manifest_capture *)x)->name,
                  ((const struct manifest_capture *)y)->name);
}

static void free_capture(struct manifest_capture *capture)
{
    free(capture->path);
    free(capture->name);
    free(capture->tags);
}

/* Globs may overlap. */
static void sort_captures(struct manifest *m)
{
    unsigned kept = 0;
    qsort(m->capture, m->capture_count, sizeof(*m->capture), by_name);
    for (unsigned i = 0; i < m->capture_count; i++) {
        if (kept && !by_name(&m->capture[kept - 1], &m->capture[i]))
            free_capture(&m->capture[i]);
        else
            m->capture[kept++] = m->capture[i];
    }
    m->capture_count = kept;
}

struct cps_err *manifest_read(const char *path, struct manifest *ret)
{
    uint8_t *text = NULL;
    size_t size = 0;
    const char *slash = strrchr(path, '/');
    *ret = (struct manifest){.baseline = -1, .limit = 100000000};
    CPS_TRY(cps_stream_read_file(path, MAX_BYTES, &text, &size));
    struct reader r = {
        .to = ret, .path = path, .dir = strndup(path, slash ? (size_t)(slash - path) + 1 : 0)};
    struct cps_err *err = r.dir ? read_lines(&r, (char *)text) : cps_err_nomem();
    if (!err)
        sort_captures(ret);
    free(r.dir);
    free(text);
    return err;
}

void manifest_deinit(struct manifest *m)
{
    for (unsigned i = 0; i < m->firmware_count; i++) {
        free(m->firmware[i].name);
        free(m->firmware[i].path[0]);
        free(m->firmware[i].path[1]);
        free(m->firmware[i].tags);
    }
    for (unsigned i = 0; i < m->capture_count; i++)
        free_capture(&m->capture[i]);
    free(m->firmware);
    free(m->capture);
    free(m->golden);
    free(m->mask);
    free(m->events);
    free(m->policy);
}

bool manifest_pairs(const struct manifest_firmware *firmware,
                    const struct manifest_capture *capture)
{
    if (!firmware->tags || !capture->tags)
        return true;
    for (const char *at = capture->tags; at[1];) {
        size_t length = strcspn(at + 1, ",") + 2;
        char tag[128];
        snprintf(tag, sizeof(tag), "%.*s", (int)length, at);
        if (strstr(firmware->tags, tag))
            return true;
        at += length - 1;
    }
    return false;
}
