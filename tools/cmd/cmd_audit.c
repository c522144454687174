/* SPDX-License-Identifier: MIT
 * cpscope audit: which firmware an image is, and which known flaws it shows. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/explain/audit/audit.h"
#include "tools/run/work_queue.h"
#include "tools/cmd/terminal/report.h"
#include "trace/out/json.h"
#include "trace/out/outfile.h"

int cmd_audit(const struct cps_options *opt);

static struct cps_err *write_text(const char *folder, const char *name, const struct cps_buf *text)
{
    CPS_BUF path = {0};
    cps_buf_printf(&path, "%s/%s", folder, name);
    if (path.failed || text->failed)
        return cps_err_nomem();
    return cps_outfile_whole(cps_buf_text(&path), cps_buf_text(text), text->size);
}

static struct cps_err *write_folder(const char *folder, struct json_object *root)
{
    CPS_BUF html = {0};
    CPS_BUF json = {0};
    struct stat info;
    if (mkdir(folder, 0777) && (stat(folder, &info) || !S_ISDIR(info.st_mode)))
        return cps_err_os(folder, "cannot make the folder");
    audit_html(root, &html);
    cps_json_put(&json, root, JSON_C_TO_STRING_PRETTY);
    cps_buf_str(&json, "\n");
    CPS_TRY(write_text(folder, "audit.json", &json));
    return write_text(folder, "index.html", &html);
}

static struct cps_err *finish(const struct cps_options *opt, const struct audit *audit)
{
    CPS_BUF text = {0};
    if (!cps_json_complete(audit->root))
        return cps_err_nomem();
    if (opt->output)
        CPS_TRY(write_folder(opt->output, audit->root));
    if (opt->json)
        return report_json(json_object_get(audit->root));
    audit_text(audit->root, &text);
    if (text.failed)
        return cps_err_nomem();
    fwrite(text.data, 1, text.size, stdout);
    return NULL;
}

int cmd_audit(const struct cps_options *opt)
{
    struct audit audit;
    if (!opt->arg_count)
        return report_usage("audit takes files and folders");
    if (opt->jobs < 0 || opt->jobs > (long)SHARE_MOST)
        return report_usage("--jobs %ld: expected 1 to %u", opt->jobs, SHARE_MOST);
    for (unsigned i = 0; i < opt->arg_count; i++) {
        if (!strcmp(opt->arg[i], "-"))
            return report_usage("audit reads its files more than once, expected no \"-\"");
    }
    struct cps_err *err = audit_run(opt, &audit);
    if (!err)
        err = finish(opt, &audit);
    int status = audit.errors ? 3 : audit.flaws ? 1 : audit.undecided ? 4 : 0;
    audit_deinit(&audit);
    return err ? report_error(err) : status;
}
