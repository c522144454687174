/* SPDX-License-Identifier: MIT
 * Results of runs by what they were made from. An entry is a `.cpt` whose head has more lines: its
 * key, how the run ended, its counts, which instructions it executed, and what it looked at. */
#include "tools/explain/regress/cache.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "isa/base/buf.h"
#include "isa/base/shown.h"

/* Change it whenever an entry is written otherwise. */
#define ENTRY_VERSION 7

struct cps_err *cache_key_(const struct cache_run *run, const char *firmware, struct cache_key *ret)
{
    CPS_BUF text = {0};
    cps_buf_printf(&text, "%d %s %s %s %s %s %s %" PRIu64 " %" PRIx32, ENTRY_VERSION, run->program,
                   firmware, run->me_hash, run->capture_hash, run->names, run->policy, run->limit,
                   run->kinds);
    if (text.failed)
        return cps_err_nomem();
    cache_hash(cps_buf_text(&text), text.size, ret->text);
    return NULL;
}

bool cache_path_(const char *dir, const struct cache_key *key, const char *ending, char ret[4096])
{
    return snprintf(ret, 4096, "%s/%.2s/%s%s", dir, key->text, key->text, ending) < 4096;
}

/* One digit per dword: 1 executed, 2 branched, 4 did not branch. */
static void put_cover(const struct record *record, struct cps_buf *out)
{
    for (uint32_t i = 0; i < record->cover_count; i++) {
        const struct cps_cover *c = &record->cover[i];
        const char digit =
            (char)('0' + (c->run ? 1 : 0) + (c->taken ? 2 : 0) + (c->run > c->taken ? 4 : 0));
        cps_buf_add(out, &digit, 1);
    }
}

static bool get_cover(const char *digits, size_t count, struct record *record)
{
    record->cover = calloc(count + 1, sizeof(*record->cover));
    record->cover_count = (uint32_t)count;
    for (size_t i = 0; record->cover && i < count; i++) {
        if (digits[i] < '0' || digits[i] > '7')
            return false;
        unsigned bits = (unsigned)(digits[i] - '0');
        record->cover[i].taken = bits >> 1 & 1;
        record->cover[i].run = (bits >> 1 & 1) + (bits >> 2 & 1);
    }
    return record->cover != NULL;
}

/* The value of "# key value" in a head; its length goes to @p size. */
static const char *head_value(const char *text, const char *key, size_t *size)
{
    char line[32];
    snprintf(line, sizeof(line), "\n# %s ", key);
    const char *at = strstr(text, line);
    if (!at)
        return NULL;
    at += strlen(line);
    *size = strcspn(at, "\n");
    return at;
}

static bool is_key(const char *text, const struct cache_key *key)
{
    size_t size = 0;
    const char *found = head_value(text, "key", &size);
    return found && size == strlen(key->text) && !memcmp(found, key->text, size);
}

/* "BASE HASH WHAT"; a run of which nothing is known has no such line. */
static bool get_code(const char *text, struct same_code *ret)
{
    size_t size = 0;
    const char *line = head_value(text, "looked-at", &size);
    if (!line)
        return true;
    if (size < 131 || line[64] != ' ' || line[129] != ' ')
        return false;
    memcpy(ret->base, line, 64);
    memcpy(ret->hash, line + 65, 64);
    ret->what = strndup(line + 130, size - 130);
    return ret->what != NULL;
}

/* What was in the capture, as put_capture() writes it. */
static bool get_capture(const char *text, struct record *record)
{
    size_t size = 0;
    unsigned cut = 0;
    const char *line = head_value(text, "in-capture", &size);
    if (!line ||
        sscanf(line, "%u %" SCNu64 " %" SCNu64, &cut, &record->missing, &record->notes) != 3)
        return false;
    record->account.cut = cut;
    const char *disagrees = head_value(text, "disagrees", &size);
    if (disagrees)
        snprintf(record->disagrees, sizeof(record->disagrees), "%.*s", (int)size, disagrees);
    return true;
}

static bool read_head(const struct cps_trace_head *head, uint32_t dwords, struct record *record)
{
    size_t size = 0;
    unsigned stop = 0;
    unsigned replayed = 0;
    struct play_account *account = &record->account;
    *account = (struct play_account){.stop = CPS_STOP_IDLE};
    const char *ended = head_value(head->text, "ended", &size);
    if (!ended ||
        sscanf(ended, "%u %" SCNu64 " %" SCNu64 " %u %" SCNu32 " %" SCNu64 " %" SCNu32, &stop,
               &record->instructions, &record->packets, &replayed, &account->submissions,
               &account->executed, &account->not_captured) != 7 ||
        stop > CPS_STOP_BAD_PACKET)
        return false;
    account->stop = (enum cps_stop)stop;
    account->replayed = replayed;
    const char *why = head_value(head->text, "why", &size);
    if (why)
        snprintf(account->why, sizeof(account->why), "%.*s", (int)size, why);
    if (!get_code(head->text, &record->code) || !get_capture(head->text, record))
        return false;
    const char *cover = head_value(head->text, "cover", &size);
    return cover && size <= (size_t)dwords + 1 && get_cover(cover, size, record);
}

/* A directory may be shared. What another user wrote is no result of ours, and what is no file
 * would be waited for. */
bool cache_is_ours_(const char *path)
{
    struct stat info;
    return !lstat(path, &info) && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
           !(info.st_mode & S_IWOTH);
}

bool cache_get_(const char *dir, const struct cache_key *key, uint32_t dwords, struct record *ret)
{
    char path[4096];
    struct cps_trace_head head = {0};
    *ret = (struct record){0};
    if (!cache_path_(dir, key, ".cpt", path) || !cache_is_ours_(path))
        return false;
    struct cps_err *err = record_read(path, &head, ret);
    bool good = !err && is_key(head.text, key) && read_head(&head, dwords, ret);
    cps_err_free(err);
    cps_trace_head_deinit(&head);
    if (!good)
        record_deinit(ret);
    return good;
}

static void put_capture(const struct record *record, struct cps_buf *out)
{
    cps_buf_printf(out, "\n# in-capture %u %" PRIu64 " %" PRIu64, (unsigned)record->account.cut,
                   record->missing, record->notes);
    if (*record->disagrees)
        cps_buf_printf(out, "\n# disagrees %s", record->disagrees);
}

static void put_head(const struct cache_key *key, const struct record *record, enum cps_gen gen,
                     struct cps_buf *out)
{
    const struct play_account *account = &record->account;
    cps_buf_printf(out,
                   "# cpscope-trace 1\n# gen %s\n# processors yes\n# key %s\n# ended %u %" PRIu64
                   " %" PRIu64 " %u %" PRIu32 " %" PRIu64 " %" PRIu32 "\n# why ",
                   cps_gen_name(gen), key->text, (unsigned)account->stop, record->instructions,
                   record->packets, account->replayed, account->submissions, account->executed,
                   account->not_captured);
    cps_shown_put_(out, account->why);
    put_capture(record, out);
    if (record->code.what)
        cps_buf_printf(out, "\n# looked-at %s %s %s", record->code.base, record->code.hash,
                       record->code.what);
    cps_buf_str(out, "\n# cover ");
    put_cover(record, out);
    cps_buf_str(out, "\n");
}

static struct cps_err *write_entry(const char *path, const struct record *record,
                                   const struct cps_trace_head *head)
{
    struct cps_outfile *out = NULL;
    struct cps_trace_writer *writer = NULL;
    CPS_TRY(cps_outfile_open(path, &out));
    struct cps_err *err = cps_trace_writer_create(CPS_FORM_CPT, out, head, NULL, &writer);
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

static struct cps_err *put(const char *dir, const struct cache_key *key,
                           const struct record *record, enum cps_gen gen)
{
    char path[4096];
    CPS_BUF text = {0};
    struct stat info;
    struct cps_trace_head head = {0};
    if (!cache_path_(dir, key, ".cpt", path))
        return cps_err_new(CPS_ERR_INPUT, "%s: the path is too long", dir);
    cache_make_dirs(path, 0777);
    if (!lstat(path, &info) && !S_ISREG(info.st_mode))
        unlink(path); /* a FIFO or a link is no entry, and would be written through */
    put_head(key, record, gen, &text);
    if (text.failed)
        return cps_err_nomem();
    CPS_TRY(cps_trace_head_parse(path, text.data, &head));
    struct cps_err *err = write_entry(path, record, &head);
    cps_trace_head_deinit(&head);
    return err;
}

bool cache_take(const struct cache_run *run, uint32_t dwords, struct record *ret)
{
    struct cache_key key;
    struct cps_err *err = cache_key_(run, run->firmware_hash, &key);
    bool found = !err && cache_get_(run->dir, &key, dwords, ret);
    cps_err_free(err);
    return found;
}

struct cps_err *cache_keep(const struct cache_run *run, const struct same_base *base,
                           const struct record *record, enum cps_gen gen)
{
    struct cache_key key;
    CPS_TRY(cache_key_(run, run->firmware_hash, &key));
    CPS_TRY(put(run->dir, &key, record, gen));
    return cache_note_same_(run, base, &key, &record->code);
}
