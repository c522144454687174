/* SPDX-License-Identifier: MIT
 * cpscope audit: which firmware an image is, and which known flaws it shows. */
#include <string.h>
#include <sys/stat.h>

#include "tools/cmd/options/opt.h"
#include "tools/explain/audit/audit.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/cmd/render/doc.h"
#include "tools/run/work_queue.h"
#include "tools/cmd/terminal/report.h"
#include "tools/cmd/terminal/text.h"
#include "trace/out/outfile.h"

int cmd_audit(const struct cps_options *opt);

static struct cps_err *write_text(const char *folder, const char *name, const struct cps_buf *text)
{
    CPS_BUF path = {0};
    cps_buf_printf(&path, "%s/%s", folder, name);
    return cps_outfile_whole(tool_text(&path), tool_text(text), text->size);
}

static struct cps_err *write_report(const struct cps_options *opt, struct json_object *root)
{
    CPS_BUF page = {0};
    CPS_BUF json = {0};
    CPS_BUF text = {0};
    struct stat info;
    audit_put(root, true, &page);
    audit_put(root, false, &text);
    doc_strip(root);
    if (opt->output) {
        if (mkdir(opt->output, 0777) && (stat(opt->output, &info) || !S_ISDIR(info.st_mode)))
            return cps_err_os(opt->output, "make the folder");
        cps_json_put(&json, root, JSON_C_TO_STRING_PRETTY);
        cps_buf_str(&json, "\n");
        CPS_TRY(write_text(opt->output, "audit.json", &json));
        CPS_TRY(write_text(opt->output, "index.html", &page));
    }
    return opt->json ? report_json(json_object_get(root)) : report_text(&text);
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
    const struct audit_config config = {.gen = opt->run.gen,
                                        .cases = opt->cases,
                                        .path = opt->arg,
                                        .paths = opt->arg_count,
                                        .known = &opt->search,
                                        .fw_path = &opt->fw_path,
                                        .jobs = opt->jobs ? (unsigned)opt->jobs : 1};
    struct cps_err *err = audit_run(&config, &audit);
    if (!err)
        err = write_report(opt, audit.root);
    int status = audit.errors ? 3 : audit.flaws ? 1 : audit.undecided ? 4 : 0;
    audit_deinit(&audit);
    return err ? report_error(err) : status;
}
