/* SPDX-License-Identifier: MIT
 * Results of runs by what they were made from. An entry is a `.cpt` whose head has four lines more:
 * its key, how the run ended, its counts, and which instructions it executed. */
#include "tools/regress/cache.h"

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
#define ENTRY_VERSION 4

struct cps_err *cache_key_of(const char *program, const char *firmware_hash, const char *me_hash,
                             const char *capture_hash, const char *policy, uint64_t limit,
                             uint32_t kinds, struct cache_key *ret)
{
    CPS_BUF text = {0};
    cps_buf_printf(&text, "%d %s %s %s %s %s %" PRIu64 " %" PRIx32, ENTRY_VERSION, program,
                   firmware_hash, me_hash, capture_hash, policy, limit, kinds);
    if (text.failed)
        return cps_err_nomem();
    cache_hash(cps_buf_text(&text), text.size, ret->text);
    return NULL;
}

static bool entry_path(const char *dir, const struct cache_key *key, char ret[4096])
{
    return snprintf(ret, 4096, "%s/%.2s/%s.cpt", dir, key->text, key->text) < 4096;
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

static bool read_head(const struct cps_trace_head *head, uint32_t dwords, struct record *record)
{
    size_t size = 0;
    unsigned stop = 0;
    const char *ended = head_value(head->text, "ended", &size);
    if (!ended ||
        sscanf(ended, "%u %" SCNu64 " %" SCNu64, &stop, &record->instructions, &record->packets) !=
            3 ||
        stop > CPS_STOP_BAD_PACKET)
        return false;
    record->stop = (enum cps_stop)stop;
    const char *why = head_value(head->text, "why", &size);
    if (why)
        snprintf(record->why, sizeof(record->why), "%.*s", (int)size, why);
    const char *cover = head_value(head->text, "cover", &size);
    return cover && size <= (size_t)dwords + 1 && get_cover(cover, size, record);
}

/* A directory may be shared. What another user wrote is no result of ours, and what is no file
 * would be waited for. */
static bool is_ours(const char *path)
{
    struct stat info;
    return !lstat(path, &info) && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
           !(info.st_mode & S_IWOTH);
}

bool cache_get(const char *dir, const struct cache_key *key, uint32_t dwords, struct record *ret)
{
    char path[4096];
    struct cps_trace_head head = {0};
    *ret = (struct record){0};
    if (!entry_path(dir, key, path) || !is_ours(path))
        return false;
    struct cps_err *err = record_read(path, &head, ret);
    bool good = !err && is_key(head.text, key) && read_head(&head, dwords, ret);
    cps_err_free(err);
    cps_trace_head_deinit(&head);
    if (!good)
        record_deinit(ret);
    return good;
}

static void put_head(const struct cache_key *key, const struct record *record, enum cps_gen gen,
                     struct cps_buf *out)
{
    cps_buf_printf(out,
                   "# cpscope-trace 1\n# gen %s\n# processors yes\n# key %s\n# ended %u %" PRIu64
                   " %" PRIu64 "\n# why ",
                   cps_gen_name(gen), key->text, (unsigned)record->stop, record->instructions,
                   record->packets);
    cps_shown_put_(out, record->why);
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

struct cps_err *cache_put(const char *dir, const struct cache_key *key, const struct record *record,
                          enum cps_gen gen)
{
    char path[4096];
    CPS_BUF text = {0};
    struct stat info;
    struct cps_trace_head head = {0};
    if (!entry_path(dir, key, path))
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
