/* SPDX-License-Identifier: MIT
 * Reads the matrix of a regression run. */
#include "tools/explain/regress/regress.h"

#include <errno.h>
#include <glob.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "isa/base/buf.h"
#include "isa/base/shown.h"
#include "isa/base/within.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/cmd/options/opt_engine.h"
#include "tools/cmd/options/opt_near.h"
#include "tools/run/files.h"
#include "tools/run/record.h"
#include "trace/form/text.h"

#define MAX_BYTES (64u << 20)

struct reader {
    struct manifest *to;
    const char *path;
    const char *dir; /* of the manifest, with its slash; "" for the current one */
    unsigned line;
    unsigned policy_line;
    char **word; /* of the line at hand */
    unsigned count;
};

static struct cps_err *bad(const struct reader *r, const char *expected)
{
    return cps_err_new(CPS_ERR_SYNTAX, "%s:%u: expected %s", r->path, r->line, expected);
}

const char *manifest_text(struct manifest *m, const char *text)
{
    struct json_object *own = tool_json(json_object_new_string(text));
    if (!m->texts)
        m->texts = tool_json(json_object_new_array());
    tool_need(!json_object_array_add(m->texts, own));
    return json_object_get_string(own);
}

static const char *join(const struct reader *r, const char *dir, const char *name)
{
    CPS_BUF text = {0};
    cps_buf_printf(&text, "%s%s", name[0] == '/' ? "" : dir, name);
    return manifest_text(r->to, tool_text(&text));
}

/* The value of "key=value" among the line's words, which is taken out; NULL: there is none. */
static struct cps_err *take_key(struct reader *r, const char *key, const char **ret)
{
    size_t length = strlen(key);
    unsigned kept = 1;
    *ret = NULL;
    for (unsigned i = 1; i < r->count; i++) {
        char *word = r->word[i];
        if (strncmp(word, key, length) != 0 || word[length] != '=') {
            r->word[kept++] = word;
            continue;
        }
        if (*ret)
            return cps_err_new(CPS_ERR_SYNTAX, "%s:%u: found %s= twice, expected it once", r->path,
                               r->line, key);
        *ret = word + length + 1;
    }
    r->count = r->count ? kept : 0;
    return NULL;
}

/* ",A,B,": so that a tag can be looked for with its commas. */
static const char *tags_of(const struct reader *r, const char *value)
{
    CPS_BUF text = {0};
    cps_buf_printf(&text, ",%s,", value ? value : "");
    return value ? manifest_text(r->to, tool_text(&text)) : NULL;
}

/* As reports name it. What they cannot hold is written as \xHH, and so is the backslash: then no
 * two names become one. */
static const char *shown_name(const struct reader *r, const char *name)
{
    CPS_BUF text = {0};
    for (; *name; name++) {
        size_t length = strcspn(name, "\\");
        cps_shown_add_(&text, name, length, false);
        name += length;
        if (!*name)
            break;
        cps_buf_str(&text, "\\x5c");
    }
    return manifest_text(r->to, tool_text(&text));
}

static struct cps_err *add_firmware(struct reader *r)
{
    const char *tags = NULL;
    CPS_TRY(take_key(r, "tags", &tags));
    bool is_file = r->count > 2 && !cps_named_engine(r->word[2]); /* else an engine for scripts */
    if (r->count < 3 || r->count > 4 || (r->count == 4 && !is_file))
        return bad(r, "firmware NAME FILE [FILE] [tags=A,B]");
    struct manifest *to = r->to;
    const char *name = shown_name(r, r->word[1]);
    for (unsigned i = 0; i < to->firmware_count; i++) {
        if (!strcmp(to->firmware[i].name, name)) /* results go by names */
            return cps_err_new(CPS_ERR_SYNTAX,
                               "%s:%u: firmware %s is in line %u already, expected another name",
                               r->path, r->line, name, to->firmware[i].line);
    }
    const char *full = join(r, is_file ? r->dir : "", r->word[2]);
    /* A file may be called as an engine's chip is not. */
    struct cps_err *err =
        is_file && access(full, F_OK) ? tool_err(cps_named_engine_check(r->word[2])) : NULL;
    if (err) { /* of the manifest, not of the command line */
        err->code = CPS_ERR_SYNTAX;
        return cps_err_within_(err, "%s:%u", r->path, r->line);
    }
    TOOL_ROOM(to->firmware, to->firmware_count);
    to->firmware[to->firmware_count++] = (struct manifest_firmware){
        .name = name,
        .line = r->line,
        .path = {full, r->count == 4 ? join(r, r->dir, r->word[3]) : NULL},
        .tags = tags_of(r, tags)};
    return NULL;
}

static void add_capture(struct reader *r, const char *path, const char *tags, int expect)
{
    struct manifest *to = r->to;
    size_t dir = strlen(r->dir);
    TOOL_ROOM(to->capture, to->capture_count);
    bool below = !strncmp(path, r->dir, dir);
    to->capture[to->capture_count++] =
        (struct manifest_capture){.path = manifest_text(to, path),
                                  .name = shown_name(r, below ? path + dir : path),
                                  .line = r->line,
                                  .tags = tags_of(r, tags),
                                  .expect = expect};
}

/* A folder that cannot be listed may have what is asked for; one that is not there has nothing. */
static int unreadable(const char *path, int why)
{
    (void)path;
    errno = why;
    return why != ENOENT && why != ENOTDIR;
}

/* A name without wildcards is kept although no file is there: it must not be lost silently. */
static struct cps_err *add_glob(struct reader *r, const char *pattern, const char *tags, int expect)
{
    glob_t found = {0};
    const char *full = join(r, r->dir, pattern);
    struct cps_err *err = NULL;
    int status = glob(full, 0, unreadable, &found);
    if (status == GLOB_NOMATCH && !strpbrk(pattern, "*?["))
        add_capture(r, full, tags, expect);
    else if (status == GLOB_NOSPACE)
        tool_oom();
    else if (status == GLOB_ABORTED)
        err = cps_err_within_(cps_err_os(full, "list"), "%s:%u", r->path, r->line);
    else if (status)
        err = bad(r, "a pattern that some file matches");
    for (size_t i = 0; i < found.gl_pathc && !err; i++)
        add_capture(r, found.gl_pathv[i], tags, expect);
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
    const char *tags = NULL;
    const char *expect = NULL;
    CPS_TRY(take_key(r, "tags", &tags));
    CPS_TRY(take_key(r, "expect", &expect));
    int reason = expect ? reason_of(expect) : CPS_REASON_DONE;
    if (r->count < 2 || reason < 0)
        return bad(r, "capture GLOB... [tags=A,B] [expect=done|limit|deadlock|fault|bad-packet]");
    for (unsigned i = 1; i < r->count; i++)
        CPS_TRY(add_glob(r, r->word[i], tags, reason));
    return NULL;
}

/* The words after the key as one text. */
static struct cps_err *set_text(struct reader *r, const char **to, const char *dir)
{
    CPS_BUF text = {0};
    if (r->count < 2)
        return bad(r, "a value");
    for (unsigned i = 1; i < r->count; i++)
        cps_buf_printf(&text, "%s%s", i > 1 ? " " : "", r->word[i]);
    if (*to)
        return cps_err_new(CPS_ERR_SYNTAX, "%s:%u: a second \"%s\", expected one", r->path, r->line,
                           r->word[0]);
    *to = join(r, dir, tool_text(&text));
    return NULL;
}

/* Each policy has to have a meaning for one of @p engines. */
static struct cps_err *check_policy(const struct reader *r, unsigned engines)
{
    struct cps_policy policy = cps_policy_default();
    return cps_err_within_(cps_policy_parse_for(r->to->policy, engines, &policy), "%s:%u", r->path,
                           r->policy_line);
}

static struct cps_err *read_line(struct reader *r)
{
    const char *key = r->word[0];
    struct manifest *to = r->to;
    if (!strcmp(key, "firmware"))
        return add_firmware(r);
    if (!strcmp(key, "capture"))
        return add_captures(r);
    if (!strcmp(key, "baseline")) {
        if (r->to->baseline >= 0)
            return bad(r, "one baseline");
        for (unsigned i = 0; r->count == 2 && i < r->to->firmware_count; i++) {
            if (strcmp(r->to->firmware[i].name, r->word[1]) != 0)
                continue;
            r->to->baseline = (int)i;
            return NULL;
        }
        return bad(r, "baseline NAME, of a firmware in a line before");
    }
    if (!strcmp(key, "golden"))
        return set_text(r, &to->golden, r->dir);
    if (!strcmp(key, "mask")) {
        to->mask_line = r->line;
        return set_text(r, &to->mask, "");
    }
    if (!strcmp(key, "events")) {
        CPS_TRY(set_text(r, &to->events, ""));
        return cps_text_classes(to->events, &to->kinds)
                   ? NULL
                   : bad(r, "classes of events as --events takes them: all, default, or reg,memw");
    }
    if (!strcmp(key, "policy")) {
        CPS_TRY(set_text(r, &to->policy, ""));
        r->policy_line = r->line;
        return check_policy(r, CPS_ON_ALL);
    }
    if (!strcmp(key, "limit"))
        return r->count == 2 && opt_count(r->word[1], &to->limit)
                   ? NULL
                   : bad(r, "limit N, with k, M or G");
    return bad(r, "firmware, capture, baseline, golden, mask, events, policy or limit");
}

static struct cps_err *read_lines(struct reader *r, char *text)
{
    char *line = NULL;
    if (strncmp(text, "# cpscope-manifest 1\n", 21) != 0)
        return cps_err_new(CPS_ERR_SYNTAX, "%s:1: expected \"# cpscope-manifest 1\"", r->path);
    while ((line = files_line(&text))) {
        r->line++;
        if (*line == '#')
            continue;
        char *state = NULL;
        r->count = 0;
        line[strcspn(line, ";")] = '\0';
        for (char *word = strtok_r(line, " \t\r", &state); word;
             word = strtok_r(NULL, " \t\r", &state)) {
            TOOL_ROOM(r->word, r->count);
            r->word[r->count++] = word;
        }
        if (r->count)
            CPS_TRY(read_line(r));
    }
    if (!r->to->firmware_count || !r->to->capture_count)
        return bad(r, "at least one firmware and one capture");
    /* Its lines may stand before those of the firmware that they are for. */
    unsigned engines = 0;
    for (unsigned i = 0; i < r->to->firmware_count; i++) {
        unsigned gen = cps_named_engine(r->to->firmware[i].path[0]);
        engines |= gen ? cps_engines_of((enum cps_gen)gen) : (unsigned)CPS_ON_AFUC;
    }
    return r->to->policy ? check_policy(r, engines) : NULL;
}

static int by_name(const void *x, const void *y)
{
    return strcmp(((const struct manifest_capture *)x)->name,
                  ((const struct manifest_capture *)y)->name);
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

/* Globs may overlap, with the same expect= and tags=. */
static struct cps_err *join_captures(const struct reader *r)
{
    struct manifest *m = r->to;
    unsigned kept = 0;
    struct cps_err *err = NULL;
    qsort(m->capture, m->capture_count, sizeof(*m->capture), by_name);
    for (unsigned i = 0; i < m->capture_count; i++) {
        struct manifest_capture *at = &m->capture[i];
        const struct manifest_capture *old = kept ? &m->capture[kept - 1] : NULL;
        if (!old || by_name(old, at)) {
            m->capture[kept++] = *at;
            continue;
        }
        if (!err && (old->expect != at->expect || !same_text(old->tags, at->tags)))
            err = cps_err_new(CPS_ERR_SYNTAX,
                              "%s:%u: capture %s is in line %u with another expect= or tags=, "
                              "expected the same",
                              r->path, at->line > old->line ? at->line : old->line, at->name,
                              at->line > old->line ? old->line : at->line);
    }
    m->capture_count = kept;
    return err;
}

/* The word of @p list, ",A,B,", that is nearest to one of @p said. */
static void find_near(const char *said, const char *list, struct near *ret)
{
    for (const char *a = said; a && a[1]; a += 1 + strcspn(a + 1, ",")) {
        for (const char *b = list; b && b[1]; b += 1 + strcspn(b + 1, ","))
            near_try(a + 1, strcspn(a + 1, ","), b + 1, strcspn(b + 1, ","), ret);
    }
}

/* @p what  of the line is in no pair, because the others have none of its @p tags */
static struct cps_err *unpaired(const struct reader *r, unsigned line, const char *what,
                                const char *name, const char *tags, const struct near *near)
{
    char meant[64];
    return cps_err_new(
        CPS_ERR_SYNTAX, "%s:%u: %s %s is in no pair, expected one of its tags, %.*s, on a %s%s",
        r->path, line, what, name, (int)strlen(tags) - 2, tags + 1,
        *what == 'c' ? "firmware" : "capture", near_text(near, "", meant, sizeof(meant)));
}

/* Firmware or captures in no pair would be lost silently. */
static struct cps_err *check_pairs(const struct reader *r)
{
    const struct manifest *m = r->to;
    for (unsigned i = 0; i < m->capture_count + m->firmware_count; i++) {
        bool is_capture = i < m->capture_count;
        const struct manifest_capture *c = &m->capture[is_capture ? i : 0];
        const struct manifest_firmware *f = &m->firmware[is_capture ? 0 : i - m->capture_count];
        unsigned others = is_capture ? m->firmware_count : m->capture_count;
        struct near near = {0};
        unsigned k = 0;
        for (; k < others; k++) {
            const struct manifest_firmware *other = is_capture ? &m->firmware[k] : f;
            if (manifest_pairs(other, is_capture ? c : &m->capture[k]))
                break;
            find_near(is_capture ? c->tags : f->tags, is_capture ? other->tags : m->capture[k].tags,
                      &near);
        }
        if (k == others)
            return is_capture ? unpaired(r, c->line, "capture", c->name, c->tags, &near)
                              : unpaired(r, f->line, "firmware", f->name, f->tags, &near);
    }
    return NULL;
}

struct cps_err *manifest_read(const char *path, struct manifest *ret)
{
    CPS_FREE char *text = NULL;
    CPS_BUF dir = {0};
    const char *slash = strrchr(path, '/');
    *ret = (struct manifest){.baseline = -1, .kinds = RECORD_COMPARED, .limit = 100000000};
    CPS_TRY(files_text(path, MAX_BYTES, &text));
    cps_buf_add(&dir, path, slash ? (size_t)(slash - path) + 1 : 0);
    struct reader r = {.to = ret, .path = path, .dir = tool_text(&dir)};
    struct cps_err *err = read_lines(&r, text);
    if (!err)
        err = join_captures(&r);
    if (!err)
        err = check_pairs(&r);
    free(r.word);
    return err;
}

void manifest_deinit(struct manifest *m)
{
    free(m->firmware);
    free(m->capture);
    json_object_put(m->texts);
}

bool manifest_pairs(const struct manifest_firmware *firmware,
                    const struct manifest_capture *capture)
{
    if (!firmware->tags || !capture->tags)
        return true;
    for (const char *at = capture->tags; at[1];) {
        size_t length = strcspn(at + 1, ",") + 2; /* with its commas */
        for (const char *in = firmware->tags; (in = strchr(in, ',')) && in[1]; in++) {
            if (!strncmp(in, at, length))
                return true;
        }
        at += length - 1;
    }
    return false;
}
