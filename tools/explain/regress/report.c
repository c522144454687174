/* SPDX-License-Identifier: MIT
 * Results of a regression run as files: JSON, JUnit XML, TAP; the page is page.c's. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "isa/base/shown.h"
#include "tools/explain/regress/regress.h"
#include "tools/cmd/render/doc.h"
#include "tools/cmd/terminal/oom.h"
#include "trace/out/json.h"
#include "trace/out/outfile.h"

/* Why it is no whole result is a case of its own: a suite cannot fail by itself. */
static const char junit[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"cpscope\" tests=\"{tests}\" "
    "failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\">\n"
    "{cases*  <testcase classname=\"{firmware}\" name=\"{capture}\"{plain?/>\n}"
    "{passed?><system-out>{reason}{first}</system-out></testcase>\n}"
    "{tag?><{tag} message=\"{reason}\">{first}</{tag}></testcase>\n}}"
    "{why?  <testcase classname=\"cpscope\" name=\"regress\"><error message=\"{why}\"/></testcase>"
    "\n}</testsuite>\n";

static void put_junit(struct json_object *results, const char *why, struct cps_buf *out)
{
    static const char *const tags[RESULT_COUNT] = {"", "failure", "error", "skipped", "error"};
    struct json_object *pairs = cps_json_get(results, "pairs");
    struct json_object *root = doc_new();
    doc_put(root, "tests=%zu failures=%u errors=%u skipped=%u why=%s",
            cps_json_count(pairs) + (*why != 0), results_count(results, RESULT_DIFFERS),
            results_count(results, RESULT_STOPPED) + results_count(results, RESULT_NOT_RUN) +
                (*why != 0),
            results_count(results, RESULT_SKIPPED), why);
    struct json_object *cases = cps_json_new_array(root, "cases");
    for (size_t i = 0; i < cps_json_count(pairs); i++) {
        struct json_object *pair = json_object_array_get_idx(pairs, i);
        const char *reason = result_text(pair, "reason");
        const char *tag = tags[result_status(pair)];
        doc_row(cases, "firmware=%s capture=%s reason=%s first=%s tag?=%s plain?=%d passed?=%d",
                result_text(pair, "firmware"), result_text(pair, "capture"), reason,
                result_text(pair, "first"), tag, !*tag && !*reason, !*tag && *reason);
    }
    doc_html(root, junit, out);
    json_object_put(root);
}

/* A "#" in a name would begin a directive, a line break another line. */
static void tap_text(struct cps_buf *out, const char *text)
{
    CPS_BUF shown = {0};
    cps_shown_put_(&shown, text);
    for (const char *at = tool_text(&shown); *at; at++) {
        if (*at == '#' || *at == '\\')
            cps_buf_str(out, "\\");
        cps_buf_add(out, at, 1);
    }
}

static void put_tap(struct json_object *results, const char *why, struct cps_buf *out)
{
    struct json_object *pairs = cps_json_get(results, "pairs");
    cps_buf_printf(out, "TAP version 13\n1..%zu\n", cps_json_count(pairs));
    for (size_t i = 0; i < cps_json_count(pairs); i++) {
        struct json_object *pair = json_object_array_get_idx(pairs, i);
        size_t number = i + 1;
        bool skipped = result_status(pair) == RESULT_SKIPPED;
        bool pass = result_status(pair) == RESULT_PASS;
        const char *reason = result_text(pair, "reason");
        cps_buf_printf(out, "%s %zu - ", pass || skipped ? "ok" : "not ok", number);
        tap_text(out, result_text(pair, "firmware"));
        cps_buf_str(out, " ");
        tap_text(out, result_text(pair, "capture"));
        cps_buf_str(out, skipped ? " # SKIP " : *reason ? ": " : "");
        tap_text(out, reason);
        cps_buf_str(out, "\n");
    }
    if (*why)
        cps_buf_printf(out, "Bail out! %s\n", why);
}

static void put_json(struct json_object *results, const char *why, struct cps_buf *out)
{
    (void)why;
    cps_json_put(out, results, JSON_C_TO_STRING_PRETTY);
    cps_buf_str(out, "\n");
}

/* The JSON comes last: with it the report is whole. */
static const struct file {
    const char *name;
    void (*put)(struct json_object *results, const char *why, struct cps_buf *out);
} files[] = {{"results.xml", put_junit},
             {"results.tap", put_tap},
             {"index.html", results_page},
             {"results.json", put_json}};
enum { FILES = sizeof(files) / sizeof(files[0]) };

static struct cps_err *path_in(const char *dir, const char *name, char ret[4096])
{
    if (snprintf(ret, 4096, "%s/%s", dir, name) >= 4096)
        return cps_err_new(CPS_ERR_INPUT, "%s: the path is too long", dir);
    return NULL;
}

struct cps_err *results_write(struct json_object *results, const char *dir)
{
    CPS_BUF why = {0};
    results_exit(results, &why);
    for (unsigned i = 0; i < FILES; i++) {
        char path[4096];
        CPS_BUF text = {0};
        files[i].put(results, tool_text(&why), &text);
        CPS_TRY(path_in(dir, files[i].name, path));
        CPS_TRY(cps_outfile_whole(path, tool_text(&text), text.size));
    }
    return NULL;
}

struct cps_err *results_open(const char *dir, struct results_folder *ret)
{
    ret->is_made = !mkdir(dir, 0777);
    if (!ret->is_made && errno != EEXIST)
        return cps_err_os(dir, "create");
    ret->lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (ret->lock < 0)
        return cps_err_os(dir, "open");
    if (flock(ret->lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return cps_err_new(CPS_ERR_INPUT,
                           "%s: another regress is writing results here, expected a folder of its "
                           "own for each",
                           dir);
    char path[4096];
    CPS_TRY(path_in(dir, files[FILES - 1].name, path));
    if (access(path, F_OK) != 0)
        return NULL; /* no run has written here: other files of these names are not ours */
    for (unsigned i = FILES; i-- > 0;) {
        CPS_TRY(path_in(dir, files[i].name, path));
        if (unlink(path) != 0 && errno != ENOENT && errno != ENOTDIR)
            return cps_err_os(path, "remove");
    }
    return NULL;
}

void results_close(const char *dir, struct results_folder *folder)
{
    if (folder->is_made)
        rmdir(dir);
    if (folder->lock >= 0)
        close(folder->lock);
}
