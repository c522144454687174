/* SPDX-License-Identifier: MIT
 * One file after the other: what it is, then, when all are known, what it is nearest to and which
 * flaws it shows. */
#include "tools/explain/audit/audit.h"

#include <dirent.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "isa/base/within.h"
#include "tools/run/code.h"
#include "tools/run/file_kind.h"
#include "tools/run/files.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/cmd/render/doc.h"
#include "tools/run/work_queue.h"
#include "tools/cmd/terminal/progress.h"
#include "tools/cmd/terminal/report.h"
#include "trace/capture/capture.h"

#define MAX_DEPTH 8 /* of folders */

/* ---- Which files ---- */

static void add_file(struct audit *audit, const char *path, bool named, bool known)
{
    TOOL_ROOM(audit->file, audit->files);
    audit->file[audit->files++] =
        (struct audit_file){.path = tool_strdup(path), .named = named, .known = known};
}

static struct cps_err *add_folder(struct audit *audit, const char *folder, bool known,
                                  unsigned depth);

static struct cps_err *add_entry(struct audit *audit, const char *folder, const char *name,
                                 bool known, unsigned depth)
{
    CPS_BUF path = {0};
    struct stat info;
    if (!strcmp(name, ".") || !strcmp(name, ".."))
        return NULL;
    cps_buf_printf(&path, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", name);
    if (lstat(tool_text(&path), &info))
        return cps_err_os(cps_buf_text(&path), "look at it");
    if (S_ISDIR(info.st_mode) && depth < MAX_DEPTH)
        return add_folder(audit, cps_buf_text(&path), known, depth + 1);
    if (S_ISREG(info.st_mode))
        add_file(audit, cps_buf_text(&path), false, known);
    return NULL;
}

/* By name, links not followed. Not with fts_read(), to which a list that breaks off is whole. */
static struct cps_err *add_folder(struct audit *audit, const char *folder, bool known,
                                  unsigned depth)
{
    struct dirent **entry = NULL;
    struct cps_err *err = NULL;
    int count = scandir(folder, &entry, NULL, alphasort);
    if (count < 0)
        return cps_err_os(folder, "read the folder");
    for (int i = 0; i < count; i++) {
        err = err ? err : add_entry(audit, folder, entry[i]->d_name, known, depth);
        free(entry[i]);
    }
    free(entry);
    return err;
}

/* Adds a file, or those of a folder and the folders in it. */
static struct cps_err *add_path(struct audit *audit, const char *path, bool known)
{
    struct stat info;
    char found[FILES_PATH];
    path = files_firmware(audit->config->fw_path, path, found);
    if (!stat(path, &info) && S_ISDIR(info.st_mode))
        return add_folder(audit, path, known, 0);
    add_file(audit, path, true, known);
    return NULL;
}

/* ---- What each is ---- */

/* In folders much looks like firmware of a5xx, whose first word's top byte is 0: there an image
 * needs an id that is known, or a packet table. */
static bool is_convincing(const struct cps_fw *fw)
{
    return !fw->assumed || fw->part[0].table != CPS_FW_NONE;
}

/* Whether a file of a folder is firmware by its first words: its id is known. A shorter file is so
 * by its name. ELF of our own making begins as some of other processors do. */
static bool is_firmware(const char *path, const uint8_t *data, size_t size)
{
    static const char *const names[] = {"*.fw", "*.fw.xz", "*.fw.zst", "*.fw.gz"};
    for (unsigned i = 0; size < 8 && i < sizeof(names) / sizeof(names[0]); i++) {
        if (!fnmatch(names[i], path, 0))
            return true;
    }
    return file_kind(data, size) == FILE_FIRMWARE;
}

/* Which firmware an image is. */
static struct cps_err *load_image(struct audit_file *file, unsigned gen, struct identity *ret)
{
    char sha256[65];
    unsigned handlers[CPS_FW_MAX_PARTS] = {0}, open[CPS_FW_MAX_PARTS] = {0};
    CPS_TRY(cps_fw_load(file->path, gen, &ret->fw));
    CPS_TRY(cps_sha256_file(file->path, sha256));
    const struct cps_fw *fw = ret->fw;
    const struct cps_target *target = cps_target_find(fw->id);
    for (unsigned i = 0; i < fw->part_count; i++) {
        probe_own_handlers(fw, i, ret->own[i]);
        CPS_TRY(cps_fw_handler_hashes(fw, &fw->part[i], ret->hash[i]));
        for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++) {
            handlers[i] += ret->own[i][id];
            open[i] += ret->own[i][id] && ret->hash[i][id].open;
        }
        ret->handlers += handlers[i];
    }
    if (!file->named && !is_convincing(fw))
        return cps_err_new(CPS_ERR_INPUT, "no firmware that is known, and no packet table");
    if (!file->row)
        return NULL;
    doc_put(file->row,
            "kind=firmware .title=firmware id=%u chip=%s generation=%s version=%u sha256=%s "
            "dwords=%u assumed=%s handlers=%u",
            fw->id, target ? target->name : NULL, cps_gen_name(fw->gen), fw->version, sha256,
            fw->count, fw->assumed, ret->handlers);
    struct json_object *parts = cps_json_new_array(file->row, "processors");
    for (unsigned i = 0; i < fw->part_count; i++)
        doc_row(parts, "name=%s handlers=%u open=%u", cps_fw_role_name(fw->part[i].role),
                handlers[i], open[i]);
    return NULL;
}

static struct cps_err *take_stream(const struct audit *audit, struct audit_file *file,
                                   struct cps_stream *stream)
{
    const uint8_t *data = NULL;
    size_t size = 0;
    file->expected = true;
    CPS_TRY(cps_stream_peek(stream, 64, &data, &size));
    file->expected = file->named || is_firmware(file->path, data, size);
    const char *format = cps_capture_format(data, size);
    if (format && file->known)
        return cps_err_new(CPS_ERR_INPUT, "a capture, expected firmware");
    enum file_kind kind = file_kind(data, size);
    if (kind == FILE_HANG)
        return audit_dump(stream, &file->code, file->row);
    if (format)
        return audit_capture(stream, format, file->row);
    if (kind == FILE_SCRIPT)
        return cps_err_new(CPS_ERR_INPUT,
                           "a run file of HWSQ or SEQ; audit is about firmware of Adreno's command "
                           "processors (afuc)");
    if (kind == FILE_TRACE)
        return cps_err_new(CPS_ERR_INPUT, "a trace, expected firmware or a capture");
    if (kind == FILE_FOREIGN)
        return cps_err_new(CPS_ERR_INPUT,
                           "an image of another processor of the chip; audit is about "
                           "firmware of Adreno's command processors (afuc)");
    file->image = tool_alloc(1, sizeof(*file->image));
    return load_image(file, audit->config->gen, file->image);
}

static void free_image(struct audit_file *file)
{
    if (file->image)
        cps_fw_destroy(file->image->fw);
    free(CPS_TAKE(file->image));
}

/* The message without the file's name, which the row has. */
static const char *without_name(const struct audit_file *file, const struct cps_err *err)
{
    size_t length = strlen(file->path);
    bool named = !strncmp(err->message, file->path, length) && err->message[length] == ':';
    return named ? err->message + length + 1 + strspn(err->message + length + 1, " ")
                 : err->message;
}

/* A file that was named has to be what it is taken for, and so has one of a folder that is firmware
 * by its first words or cannot be read; others may be anything. Complaints are printed when all
 * files have been read, in their order. */
static struct cps_err *note_complaint(struct audit_file *file, struct cps_err *err)
{
    if (!err || err->code == CPS_ERR_NOMEM)
        return err;
    bool is_guess = file->image && !file->expected && err->code == CPS_ERR_INPUT;
    free_image(file);
    bool skipped = !file->named && !file->expected && err->code != CPS_ERR_OS;
    const char *why = without_name(file, err);
    if (skipped && is_guess)
        why = "neither firmware of Adreno's command processors (a5xx and later) nor a capture";
    if (file->row)
        doc_put(file->row, "kind=%s why=%s", skipped ? "skipped" : "error", why);
    if (!skipped && without_name(file, err) == err->message)
        err = cps_err_within_(err, "%s", file->path);
    if (skipped)
        cps_err_free(err);
    else
        file->complaint = err;
    return NULL;
}

static struct cps_err *take_file(const struct audit *audit, struct audit_file *file)
{
    struct cps_stream *stream = NULL;
    if (!file->known) {
        file->row = doc_new();
        cps_json_text(file->row, "name", file->path);
    }
    struct cps_err *err = cps_stream_open(file->path, &stream);
    if (!err)
        err = take_stream(audit, file, stream);
    cps_stream_close(stream);
    return note_complaint(file, err);
}

/* How many handlers of @p a do the same in @p b, in the part of the same role. */
static unsigned count_equal(const struct identity *a, const struct identity *b)
{
    unsigned count = 0;
    for (unsigned i = 0; i < a->fw->part_count; i++) {
        for (unsigned k = 0; k < b->fw->part_count; k++) {
            bool same_role = a->fw->part[i].role == b->fw->part[k].role;
            for (unsigned id = 0; same_role && id < CPS_FW_TABLE_SIZE; id++)
                count += a->own[i][id] && cps_fw_hash_same(&a->hash[i][id], &b->hash[k][id]);
        }
    }
    return count;
}

void audit_put_nearest(struct audit_file *file, const char *name, uint32_t equal, uint32_t of,
                       bool is_same)
{
    doc_put(cps_json_new_object(file->row, "nearest"), "name=%s equal=%u of=%u same_contents?=%d",
            name, equal, of, is_same);
}

/* Of those that have most handlers in common the first one. */
static void add_nearest(const struct audit *audit, struct audit_file *file)
{
    const struct audit_file *best = NULL;
    unsigned most = 0;
    for (size_t i = 0; i < audit->files; i++) {
        const struct audit_file *other = &audit->file[i];
        unsigned equal = other != file && other->image && strcmp(other->path, file->path)
                             ? count_equal(file->image, other->image)
                             : 0;
        best = equal > most ? other : best;
        most = equal > most ? equal : most;
    }
    if (!best)
        return;
    const struct cps_fw *a = best->image->fw;
    const struct cps_fw *b = file->image->fw;
    bool is_same = a->lead == b->lead && a->count == b->count && /* however both are compressed */
                   !memcmp(a->words, b->words, 4 * (size_t)a->count);
    audit_put_nearest(file, best->path, most, file->image->handlers, is_same);
}

void audit_add_flaw(struct audit_file *file, const struct audit_case *c, enum verdict verdict,
                    const char *why)
{
    static const char *const styles[VERDICT_COUNT] = {"pass", "stopped", "skipped", "differs"};
    doc_row(cps_json_get(file->row, "flaws"), "case=%s verdict=%s why?=%s .style=%s", c->name,
            verdict_word(verdict), why, styles[verdict]);
    file->flaws += verdict == VERDICT_FLAW;
    file->undecided += verdict == VERDICT_UNDECIDED;
}

static struct cps_err *add_flaws(const struct audit *audit, struct audit_file *file,
                                 struct probe *probe, const char *stopped)
{
    cps_json_new_array(file->row, "flaws");
    for (size_t i = 0; i < audit->cases.count; i++) {
        const struct audit_case *c = &audit->cases.item[i];
        CPS_BUF why = {0};
        enum verdict verdict = VERDICT_UNDECIDED;
        CPS_TRY(verdict_of(c, file->image->fw, probe, &verdict, &why));
        bool silent = !why.size && verdict == VERDICT_UNDECIDED;
        audit_add_flaw(file, c, verdict, silent ? stopped : tool_text(&why));
    }
    return NULL;
}

/* a5xx: the file of the other processor, which both need; NULL: there is none among the files. */
static const char *partner(const struct audit *audit, const struct audit_file *file)
{
    enum cps_fw_role own = file->image->fw->part[0].role;
    for (size_t i = 0; i < audit->files; i++) {
        const struct identity *other = audit->file[i].image;
        if (other && cps_gen_row(other->fw->gen)->files > 1 && other->fw->part[0].role != own &&
            other->fw->id == file->image->fw->id)
            return audit->file[i].path;
    }
    return NULL;
}

/* An image that cannot be run is no error of the audit: its questions stay open. */
static struct cps_err *try_image(const struct audit *audit, struct audit_file *file)
{
    const char *firmware[2] = {file->path, NULL};
    struct probe probe = {.play = NULL};
    if (cps_gen_row(file->image->fw->gen)->files > 1)
        firmware[1] = partner(audit, file);
    struct cps_err *closed = probe_open(&probe, audit->config->gen, firmware, NULL);
    struct cps_err *err = NULL;
    if (closed && (closed->code == CPS_ERR_NOMEM || closed->code == CPS_ERR_OS))
        err = CPS_TAKE(closed);
    struct probe *open = closed ? NULL : &probe;
    if (!err)
        err = add_flaws(audit, file, open, closed ? closed->message : NULL);
    if (!err)
        err = protect_try(open, file);
    cps_err_free(closed);
    probe_close(&probe);
    return err;
}

/* What needs all files to be known. */
static struct cps_err *describe(const struct audit *audit, struct audit_file *file)
{
    if (file->code)
        return audit_recovered(audit, file);
    if (!file->image || !file->row)
        return NULL;
    add_nearest(audit, file);
    return try_image(audit, file);
}

/* Threads change their own file's things alone. */
static void take_item(void *context, unsigned thread, size_t item)
{
    struct audit *audit = context;
    (void)thread;
    progress_show("%zu of %zu files are read", item, audit->files);
    audit->file[item].err = take_file(audit, &audit->file[item]);
}

static void describe_item(void *context, unsigned thread, size_t item)
{
    struct audit *audit = context;
    (void)thread;
    progress_show("%zu of %zu files are audited", item, audit->files);
    audit->file[item].err = describe(audit, &audit->file[item]);
}

/* The first error by the order of files, whichever thread came first. */
static struct cps_err *for_all(struct audit *audit,
                               void (*work)(void *context, unsigned thread, size_t item))
{
    share_work(audit->config->jobs, audit->files, work, audit);
    for (size_t i = 0; i < audit->files; i++) {
        if (audit->file[i].complaint) {
            audit->errors++;
            report_error(CPS_TAKE(audit->file[i].complaint));
        }
        if (audit->file[i].err)
            return CPS_TAKE(audit->file[i].err);
    }
    return NULL;
}

static struct cps_err *put_files(struct audit *audit)
{
    struct json_object *rows = cps_json_new_array(audit->root, "files");
    size_t skipped = 0, width = 4;
    for (size_t i = 0; i < audit->files; i++) {
        struct audit_file *file = &audit->file[i];
        size_t length = strlen(file->path);
        audit->flaws += file->flaws;
        audit->undecided += file->undecided;
        if (!file->row)
            continue;
        width = length > width && length < 80 ? length : width;
        skipped += !strcmp(cps_json_get_text(file->row, "kind", ""), "skipped");
        if (cps_json_get(file->row, "flaws"))
            doc_put(file->row, ".flaws=%u .undecided=%u", file->flaws, file->undecided);
        cps_json_append(rows, CPS_TAKE(file->row));
    }
    tool_json(audit->root);
    if (!audit->errors && skipped == cps_json_count(rows)) /* silence must not look like a pass */
        return cps_err_new(CPS_ERR_INPUT,
                           "found no firmware and no capture among %zu files, expected some",
                           audit->files);
    doc_put(audit->root,
            "flaws=%u undecided=%u errors=%u skipped=%zu .count=%zu .file=file .width=%zu",
            audit->flaws, audit->undecided, audit->errors, skipped, cps_json_count(rows), width);
    protect_levels(cps_json_new_array(audit->root, ".levels"));
    return NULL;
}

struct cps_err *audit_run(const struct audit_config *config, struct audit *ret)
{
    *ret = (struct audit){.config = config, .root = doc_new()};
    CPS_TRY(audit_cases_load(config->cases, &ret->cases));
    struct json_object *cases = cps_json_new_array(ret->root, "cases");
    for (size_t i = 0; i < ret->cases.count; i++) {
        const struct audit_case *c = &ret->cases.item[i];
        doc_row(cases, "name=%s flaw=%s known_as=%s evidence=%s", c->name, c->flaw, c->known,
                c->evidence);
    }
    for (unsigned i = 0; i < config->paths; i++)
        CPS_TRY(add_path(ret, config->path[i], false));
    for (unsigned i = 0; i < config->known->count; i++)
        CPS_TRY(add_path(ret, config->known->path[i], true));
    CPS_TRY(for_all(ret, take_item));
    CPS_TRY(for_all(ret, describe_item));
    return put_files(ret);
}

void audit_deinit(struct audit *audit)
{
    for (size_t i = 0; i < audit->files; i++) {
        free_image(&audit->file[i]);
        if (audit->file[i].code)
            code_free(audit->file[i].code);
        json_object_put(audit->file[i].row);
        cps_err_free(audit->file[i].complaint);
        cps_err_free(audit->file[i].err);
        free(audit->file[i].path);
    }
    free(audit->file);
    audit_cases_deinit(&audit->cases);
    json_object_put(audit->root);
}
