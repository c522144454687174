/* SPDX-License-Identifier: MIT
 * Results of runs. An entry is a `.cpt` whose head has one more line: "# run" and a JSON object
 * with its key, how the run ended, its counts, and which instructions it executed. */
#include "tools/explain/regress/regress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cmd/render/doc.h"
#include "tools/cmd/terminal/oom.h"
#include "trace/out/json.h"

/* Change it whenever an entry is written differently. */
#define ENTRY_VERSION 10
#define MOST_TEXT     ((size_t)4 << 20)

/* @p about  "": of the run itself */
static void make_key(const struct cache_run *run, const char *about, char ret[65])
{
    CPS_BUF text = {0};
    cps_buf_printf(&text, "%d %s %s %s %s %s %s %" PRIu64 " %" PRIx32 " %s", ENTRY_VERSION,
                   run->program, run->firmware_hash, run->me_hash, run->capture_hash, run->names,
                   run->policy, run->limit, run->kinds, about);
    cache_hash(tool_text(&text), text.size, ret);
}

/* ---- Runs ---- */

static struct json_object *run_to_json(const char *key, const struct record *record)
{
    const struct play_account *account = &record->account;
    struct json_object *to = doc_new();
    cps_json_text(to, "key", key);
    cps_json_uint(to, "stop", account->stop);
    cps_json_uint(to, "replayed", account->replayed);
    cps_json_uint(to, "cut", account->cut);
    cps_json_uint(to, "clock_varies", account->clock_varies);
    cps_json_uint(to, "submissions", account->submissions);
    cps_json_uint(to, "executed", account->executed);
    cps_json_uint(to, "not_captured", account->not_captured);
    cps_json_uint(to, "instructions", record->instructions);
    cps_json_uint(to, "packets", record->packets);
    cps_json_uint(to, "missing", record->missing);
    cps_json_uint(to, "notes", record->notes);
    cps_json_text(to, "why", account->why);
    cps_json_text(to, "disagrees", record->disagrees);
    /* One digit per dword: 1 executed, 2 branched, 4 did not branch. */
    CPS_BUF digits = {0};
    for (uint32_t i = 0; i < record->cover_count; i++) {
        const struct cps_cover *c = &record->cover[i];
        const char digit =
            (char)('0' + (c->run ? 1 : 0) + (c->taken ? 2 : 0) + (c->run > c->taken ? 4 : 0));
        cps_buf_add(&digits, &digit, 1);
    }
    cps_json_buf(to, "cover", &digits);
    return to;
}

/* The writer's own members: of another program's entry the key differs. */
static bool run_from_json(struct json_object *from, const char *key, uint32_t dwords,
                          struct record *ret)
{
    struct play_account *account = &ret->account;
    int64_t stop = cps_json_get_int(from, "stop", -1);
    if (strcmp(cps_json_get_text(from, "key", ""), key) != 0 || stop < 0 ||
        stop > CPS_STOP_BAD_PACKET)
        return false;
    /* Of the run, not of the trace that its events were read from. */
    *account =
        (struct play_account){.stop = (enum cps_stop)stop,
                              .replayed = cps_json_get_int(from, "replayed", 0),
                              .cut = cps_json_get_int(from, "cut", 0),
                              .clock_varies = cps_json_get_int(from, "clock_varies", 0),
                              .submissions = (uint32_t)cps_json_get_int(from, "submissions", 0),
                              .executed = (uint64_t)cps_json_get_int(from, "executed", 0),
                              .not_captured = (uint32_t)cps_json_get_int(from, "not_captured", 0)};
    ret->instructions = (uint64_t)cps_json_get_int(from, "instructions", 0);
    ret->packets = (uint64_t)cps_json_get_int(from, "packets", 0);
    ret->missing = (uint64_t)cps_json_get_int(from, "missing", 0);
    ret->notes = (uint64_t)cps_json_get_int(from, "notes", 0);
    snprintf(account->why, sizeof(account->why), "%s", cps_json_get_text(from, "why", ""));
    snprintf(ret->disagrees, sizeof(ret->disagrees), "%s",
             cps_json_get_text(from, "disagrees", ""));
    const char *digits = cps_json_get_text(from, "cover", NULL);
    size_t count = digits ? strlen(digits) : 0;
    if (!digits || count > (size_t)dwords + 1)
        return false;
    ret->cover = tool_alloc(count + 1, sizeof(*ret->cover));
    ret->cover_count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        if (digits[i] < '0' || digits[i] > '7')
            return false;
        unsigned bits = (unsigned)(digits[i] - '0');
        ret->cover[i].taken = bits >> 1 & 1;
        ret->cover[i].run = (bits >> 1 & 1) + (bits >> 2 & 1);
    }
    return true;
}

bool cache_take_run(const struct cache_run *run, uint32_t dwords, struct record *ret)
{
    char path[4096];
    char key[65];
    struct cps_trace_head head = {0};
    struct json_object *json = NULL;
    *ret = (struct record){0};
    make_key(run, "", key);
    if (!cache_path(run->dir, key, ".cpt", path) || !cache_is_ours(path))
        return false;
    struct cps_err *err = record_read(path, &head, ret);
    const char *line = err ? NULL : strstr(head.text, "\n# run ");
    if (line)
        err = cps_json_parse(line + 7, strcspn(line + 7, "\n"), &json);
    bool good = !err && run_from_json(json, key, dwords, ret);
    cps_err_free(err);
    json_object_put(json);
    cps_trace_head_deinit(&head);
    if (!good)
        record_deinit(ret);
    return good;
}

struct cps_err *cache_write_trace(const char *path, enum cps_trace_form form,
                                  const struct cps_trace_head *head,
                                  struct cps_names *const names[CPS_CPU_COUNT],
                                  const struct record *record)
{
    struct cps_outfile *out = NULL;
    struct cps_trace_writer *writer = NULL;
    CPS_TRY(cps_outfile_open(path, &out));
    struct cps_err *err = cps_trace_writer_create(form, out, head, names, &writer);
    if (!err) {
        struct cps_sink *sink = cps_trace_writer_sink(writer);
        sink->put(sink, record->event, record->count);
        err = cps_trace_writer_finish(writer);
    }
    if (err) {
        cps_outfile_abort(out);
        return err;
    }
    return cps_outfile_commit(out);
}

struct cps_err *cache_keep_run(const struct cache_run *run, const struct record *record,
                               enum cps_gen gen)
{
    char path[4096];
    char key[65];
    CPS_BUF text = {0};
    struct cps_trace_head head = {0};
    make_key(run, "", key);
    if (!cache_path(run->dir, key, ".cpt", path))
        return cps_err_new(CPS_ERR_INPUT, "%s: the path is too long", run->dir);
    cache_prepare(path);
    struct json_object *json = run_to_json(key, record);
    cps_buf_printf(&text, "# cpscope-trace 1\n# gen %s\n# processors yes\n# run ",
                   cps_gen_name(gen));
    cps_json_put(&text, json, JSON_C_TO_STRING_PLAIN);
    cps_buf_str(&text, "\n");
    json_object_put(json);
    CPS_TRY(cps_trace_head_parse(path, tool_text(&text), &head));
    struct cps_err *err = cache_write_trace(path, CPS_FORM_CPT, &head, NULL, record);
    cps_trace_head_deinit(&head);
    if (!err)
        cache_seal(path);
    return err;
}

/* ---- Texts: a line with the key and the hash of what follows, then a JSON array ---- */

static void put_first_line(const char *key, const char *text, struct cps_buf *out)
{
    char hash[65];
    cache_hash(text, strlen(text), hash);
    cps_buf_printf(out, "%s %s\n", key, hash);
}

struct json_object *cache_take_texts(const struct cache_run *run, const char *about)
{
    char key[65];
    char path[4096];
    CPS_BUF line = {0};
    struct json_object *ret = NULL;
    make_key(run, about, key);
    CPS_FREE char *whole =
        cache_path(run->dir, key, ".text", path) ? cache_read(path, MOST_TEXT) : NULL;
    const char *text = whole ? strchr(whole, '\n') : NULL;
    if (!text)
        return NULL;
    text++;
    put_first_line(key, text, &line);
    if (!strncmp(whole, tool_text(&line), line.size))
        cps_err_free(cps_json_parse(text, strlen(text), &ret));
    return ret;
}

void cache_keep_texts(const struct cache_run *run, const char *about, struct json_object *texts)
{
    char key[65];
    char path[4096];
    CPS_BUF out = {0};
    const char *text = json_object_to_json_string_ext(tool_json(texts), JSON_C_TO_STRING_PLAIN);
    make_key(run, about, key);
    if (!cache_path(run->dir, key, ".text", path))
        return;
    put_first_line(key, text, &out);
    cps_buf_str(&out, text);
    cps_err_free(cache_write(path, &out));
}
