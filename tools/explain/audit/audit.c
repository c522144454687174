/* SPDX-License-Identifier: MIT
 * One file after the other: what it is, then, when all are known, what it is nearest to and which
 * flaws it shows. */
#include "tools/explain/audit/audit.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fw/image/mbn.h"
#include "fw/nv/script/script.h"
#include "isa/base/le.h"
#include "isa/base/within.h"
#include "tools/run/code.h"
#include "tools/run/files.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/cmd/render/doc.h"
#include "tools/run/work_queue.h"
#include "tools/cmd/terminal/progress.h"
#include "tools/cmd/terminal/report.h"
#include "trace/capture/capture.h"
#include "trace/form/trace.h"

#define MAX_DEPTH 8u /* of folders */

/* ---- Which files ---- */

static void add_file(struct audit *audit, const char *path, bool named, bool known)
{
    TOOL_ROOM(audit->file, audit->files);
    audit->file[audit->files++] =
        (struct audit_file){.path = tool_strdup(path), .named = named, .known = known};
}

static struct cps_err *add_folder(struct audit *audit, const char *dir, bool known, unsigned depth);

static struct cps_err *add_entry(struct audit *audit, const char *dir, const char *name, bool known,
                                 unsigned depth)
{
    char path[FILES_PATH];
    struct stat info;
    size_t end = strlen(dir);
    const char *slash = end && dir[end - 1] == '/' ? "" : "/";
    if (!strcmp(name, ".") || !strcmp(name, ".."))
        return NULL;
    if (snprintf(path, sizeof(path), "%s%s%s", dir, slash, name) >= (int)sizeof(path))
        return cps_err_new(CPS_ERR_OS, "%s: the paths in it are too long", dir);
    if (lstat(path, &info))
        return cps_err_os(path, "cannot look at it");
    if (S_ISDIR(info.st_mode) && depth < MAX_DEPTH)
        return add_folder(audit, path, known, depth + 1);
    if (S_ISREG(info.st_mode))
        add_file(audit, path, false, known);
    return NULL;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static struct cps_err *add_folder(struct audit *audit, const char *dir, bool known, unsigned depth)
{
    struct dirent **entry = NULL;
    struct cps_err *err = NULL;
    int count = scandir(dir, &entry, NULL, by_bytes);
    if (count < 0)
        return cps_err_os(dir, "cannot read the folder");
    for (int i = 0; i < count; i++) {
        err = err ? err : add_entry(audit, dir, entry[i]->d_name, known, depth);
        free(entry[i]);
    }
    free(entry);
    return err;
}

/* Adds a file, or those of a folder and the folders in it, by name, links not followed. */
static struct cps_err *add_path(struct audit *audit, const char *path, bool known)
{
    struct stat info;
    char found[FILES_PATH];
    path = files_firmware(&audit->opt->fw_path, path, found);
    if (!stat(path, &info) && S_ISDIR(info.st_mode))
        return add_folder(audit, path, known, 0);
    add_file(audit, path, true, known);
    return NULL;
}

/* ---- What each is ---- */

static void set_kind(struct json_object *row, const char *kind, const char *why)
{
    cps_json_text(row, "kind", kind);
    cps_json_text(row, "why", why);
}

/* In folders much looks like firmware of a5xx, whose first word's top byte is 0: there an image
 * needs an id that is known, or a packet table. */
static bool is_convincing(const struct cps_fw *fw)
{
    return !fw->assumed || fw->part[0].table != CPS_FW_NONE;
}

/* Whether a name is one of firmware, whatever it is compressed with. */
static bool is_firmware_name(const char *path)
{
    static const char *const ends[] = {".fw", ".fw.xz", ".fw.zst", ".fw.gz"};
    size_t length = strlen(path);
    for (unsigned i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        size_t end = strlen(ends[i]);
        if (length >= end && !strcmp(path + length - end, ends[i]))
            return true;
    }
    return false;
}

/* Whether a file of a folder is firmware by its beginning: its id is known. What is too short to
 * begin is so by its name. ELF of our own making begins as some of other processors do. */
static bool is_firmware(const char *path, const uint8_t *data, size_t size)
{
    if (size < 8)
        return is_firmware_name(path);
    uint32_t word = cps_le32(data + 4);
    const struct cps_target *target = cps_target_find(word >> 12 & 0xfff);
    return !cps_le32(data) && target && word >> 24 == (target->gen == CPS_A5XX ? 0 : 1);
}

static struct cps_err *take_firmware(const struct audit *audit, struct audit_file *file)
{
    file->image = tool_alloc(1, sizeof(*file->image));
    CPS_TRY(identity_load(file->path, audit->opt->run.gen, file->image));
    if (!file->named && !is_convincing(file->image->fw))
        return cps_err_new(CPS_ERR_INPUT, "no firmware that is known, and no packet table");
    if (file->row)
        doc_put(file->row, "kind=firmware .title=firmware");
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
    if (format && cps_capture_is_hang(data, size))
        return audit_dump(stream, &file->code, file->row);
    if (format)
        return audit_capture(stream, format, file->row);
    if (cps_is_script(data, size))
        return cps_err_new(CPS_ERR_INPUT,
                           "a run file of HWSQ or SEQ; audit is about firmware of Adreno's command "
                           "processors (afuc)");
    if (cps_trace_recognise(data, size))
        return cps_err_new(CPS_ERR_INPUT, "a trace, expected firmware or a capture");
    if (cps_mbn_probe(data, size))
        return cps_err_new(CPS_ERR_INPUT,
                           "an image of another processor of the chip; audit is about "
                           "firmware of Adreno's command processors (afuc)");
    file->guessed = !file->expected;
    return take_firmware(audit, file);
}

static void free_image(struct audit_file *file)
{
    if (file->image)
        cps_fw_destroy(file->image->fw);
    free(CPS_TAKE(file->image));
}

/* What was found, without the file's name, which stands beside it. */
static const char *without_name(const struct audit_file *file, const struct cps_err *err)
{
    size_t length = strlen(file->path);
    bool named = !strncmp(err->message, file->path, length) && err->message[length] == ':';
    return named ? err->message + length + 1 + strspn(err->message + length + 1, " ")
                 : err->message;
}

/* A file that was named has to be what it is taken for, and so has one of a folder that is firmware
 * by its beginning or cannot be read; others may be anything. What is wrong is told when all have
 * been looked at, in their order. */
static struct cps_err *note_complaint(struct audit_file *file, struct cps_err *err)
{
    if (!err || err->code == CPS_ERR_NOMEM)
        return err;
    free_image(file);
    bool skipped = !file->named && !file->expected && err->code != CPS_ERR_OS;
    const char *why = without_name(file, err);
    if (skipped && file->guessed && err->code == CPS_ERR_INPUT)
        why = "neither firmware of Adreno's command processors (a5xx and later) nor a capture";
    if (file->row)
        set_kind(file->row, skipped ? "skipped" : "error", why);
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
        file->row = tool_json(json_object_new_object());
        cps_json_text(file->row, "name", file->path);
    }
    struct cps_err *err = cps_stream_open(file->path, &stream);
    if (!err)
        err = take_stream(audit, file, stream);
    cps_stream_close(stream);
    return note_complaint(file, err);
}

/* Of those that have most handlers in common the first one. */
static void add_nearest(const struct audit *audit, const struct audit_file *file)
{
    const struct audit_file *best = NULL;
    unsigned most = 0;
    for (size_t i = 0; i < audit->files; i++) {
        const struct audit_file *other = &audit->file[i];
        unsigned equal = other != file && other->image && strcmp(other->path, file->path)
                             ? identity_equal(file->image, other->image)
                             : 0;
        if (equal > most) {
            most = equal;
            best = other;
        }
    }
    if (!best)
        return;
    struct json_object *to = cps_json_new_object(file->row, "nearest");
    cps_json_text(to, "name", best->path);
    cps_json_uint(to, "equal", most);
    cps_json_uint(to, "of", identity_handlers(file->image));
    const struct cps_fw *a = best->image->fw;
    const struct cps_fw *b = file->image->fw;
    bool same = a->lead == b->lead && a->count == b->count &&
                !memcmp(a->words, b->words, 4 * (size_t)a->count);
    cps_json_bool(to, "same_contents", same); /* however both are compressed */
}

void audit_add_flaw(struct audit_file *file, struct json_object *rows, const struct audit_case *c,
                    enum verdict verdict, const char *why)
{
    static const char *const styles[VERDICT_COUNT] = {"pass", "stopped", "skipped", "differs"};
    doc_row(rows, "case=%s verdict=%s why?=%s .style=%s", c->name, verdict_word(verdict), why,
            styles[verdict]);
    file->flaws += verdict == VERDICT_FLAW;
    file->undecided += verdict == VERDICT_UNDECIDED;
}

static struct cps_err *add_flaws(const struct audit *audit, struct audit_file *file,
                                 struct probe *probe, const char *stopped)
{
    struct json_object *rows = cps_json_new_array(file->row, "flaws");
    for (size_t i = 0; i < audit->cases.count; i++) {
        CPS_BUF why = {0};
        enum verdict verdict = VERDICT_UNDECIDED;
        CPS_TRY(verdict_of(&audit->cases.item[i], file->image->fw, probe, &verdict, &why));
        bool silent = !why.size && verdict == VERDICT_UNDECIDED;
        audit_add_flaw(file, rows, &audit->cases.item[i], verdict,
                       silent ? stopped : tool_text(&why));
    }
    return NULL;
}

static struct cps_err *add_protect(struct audit_file *file, struct probe *probe)
{
    struct protect_found found = {0};
    struct json_object *rows = cps_json_new_array(file->row, "protect");
    if (!probe || file->image->fw->part[0].table == CPS_FW_NONE)
        return NULL;
    CPS_TRY(protect_try(probe, rows, &found));
    cps_json_uint(file->row, "unchecked", found.unchecked);
    cps_json_uint(file->row, "undecided", found.undecided);
    file->flaws += found.unchecked;
    file->undecided += found.undecided;
    return NULL;
}

/* a5xx: the file of the other processor, which both need; NULL: there is none among the files. */
static const char *partner(const struct audit *audit, const struct audit_file *file)
{
    enum cps_fw_role own = file->image->fw->part[0].role;
    for (size_t i = 0; i < audit->files; i++) {
        const struct identity *other = audit->file[i].image;
        if (other && other->fw->gen == CPS_A5XX && other->fw->part[0].role != own &&
            other->fw->id == file->image->fw->id)
            return audit->file[i].path;
    }
    return NULL;
}

/* What cannot be run is no error of the audit: its questions stay open. */
static struct cps_err *try_image(const struct audit *audit, struct audit_file *file)
{
    const char *firmware[2] = {file->path, NULL};
    struct probe probe = {.play = NULL};
    if (file->image->fw->gen == CPS_A5XX)
        firmware[1] = partner(audit, file);
    struct cps_err *err = probe_open(&probe, audit->opt->run.gen, firmware, NULL);
    struct cps_err *closed =
        err && err->code != CPS_ERR_NOMEM && err->code != CPS_ERR_OS ? err : NULL;
    err = closed ? NULL : err;
    struct probe *open = closed ? NULL : &probe;
    if (!err)
        err = add_flaws(audit, file, open, closed ? closed->message : NULL);
    if (!err)
        err = add_protect(file, open);
    cps_err_free(closed);
    probe_close(&probe);
    return err;
}

static void describe_cases(struct audit *audit)
{
    struct json_object *rows = cps_json_new_array(audit->root, "cases");
    for (size_t i = 0; i < audit->cases.count; i++) {
        const struct audit_case *c = &audit->cases.item[i];
        struct json_object *row = json_object_new_object();
        cps_json_text(row, "name", c->name);
        cps_json_text(row, "flaw", c->flaw);
        cps_json_text(row, "known_as", c->known);
        cps_json_text(row, "evidence", c->evidence);
        cps_json_append(rows, row);
    }
}

/* What needs all files to be known. */
static struct cps_err *describe(const struct audit *audit, struct audit_file *file)
{
    if (file->code)
        return audit_recovered(audit, file);
    if (!file->image || !file->row)
        return NULL;
    identity_json(file->image, file->row);
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
    unsigned jobs = audit->opt->jobs > 0 ? (unsigned)audit->opt->jobs : 1;
    share_work(jobs, audit->files, work, audit);
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

struct cps_err *audit_run(const struct cps_options *opt, struct audit *ret)
{
    *ret = (struct audit){.opt = opt, .root = tool_json(json_object_new_object())};
    CPS_TRY(audit_cases_load(opt->cases, &ret->cases));
    describe_cases(ret);
    for (unsigned i = 0; i < opt->arg_count; i++)
        CPS_TRY(add_path(ret, opt->arg[i], false));
    for (unsigned i = 0; i < opt->search.count; i++)
        CPS_TRY(add_path(ret, opt->search.path[i], true));
    CPS_TRY(for_all(ret, take_item));
    CPS_TRY(for_all(ret, describe_item));
    struct json_object *rows = cps_json_new_array(ret->root, "files");
    size_t skipped = 0, width = 4;
    for (size_t i = 0; i < ret->files; i++) {
        struct json_object *row = ret->file[i].row;
        size_t length = row ? strlen(cps_json_get_text(row, "name", "")) : 0;
        width = length > width && length < 80 ? length : width;
        if (cps_json_get(row, "flaws"))
            doc_put(row, ".flaws=%u .undecided=%u", ret->file[i].flaws, ret->file[i].undecided);
        ret->flaws += ret->file[i].flaws;
        ret->undecided += ret->file[i].undecided;
        skipped += !strcmp(cps_json_get_text(ret->file[i].row, "kind", ""), "skipped");
        if (ret->file[i].row)
            cps_json_append(rows, CPS_TAKE(ret->file[i].row));
    }
    tool_json(ret->root);
    if (!ret->errors && skipped == cps_json_count(rows)) /* silence must not look like a pass */
        return cps_err_new(CPS_ERR_INPUT,
                           "found no firmware and no capture among %zu files, expected some",
                           ret->files);
    doc_put(ret->root,
            "flaws=%u undecided=%u errors=%u skipped=%zu .count=%zu .file=file .width=%zu",
            ret->flaws, ret->undecided, ret->errors, skipped, cps_json_count(rows), width);
    protect_levels(cps_json_new_array(ret->root, ".levels"));
    return NULL;
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
    *audit = (struct audit){0};
}
