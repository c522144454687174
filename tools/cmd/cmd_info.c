/* SPDX-License-Identifier: MIT
 * cpscope info: what a file is and what it holds. */
#include <stdio.h>
#include <string.h>

#include "isa/base/within.h"
#include "fw/image/mbn.h"
#include "fw/nv/rom/rom.h"
#include "tools/cmd/options/file_part.h"
#include "tools/explain/info/info.h"
#include "tools/cmd/options/opt.h"
#include "tools/run/files.h"
#include "fw/nv/script/script.h"
#include "tools/cmd/options/opt_engine.h"
#include "tools/cmd/render/doc.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/cmd/terminal/report.h"
#include "tools/cmd/terminal/text.h"
#include "trace/capture/mmiotrace.h"
#include "trace/form/trace.h"
#include "trace/out/json.h"

int cmd_info(const struct cps_options *opt);

static struct cps_err *refuse_run_file(const char *path)
{
    CPS_BUF text = {0};
    opt_run_file_text(&text);
    return cps_err_input(path, 0, "%s", cps_buf_text(&text));
}

/* A capture or a foreign image if its first bytes say so, else firmware. */
static struct cps_err *describe(const struct cps_options *opt, const struct cps_isa *isa,
                                unsigned gen, const char *path, struct json_object *to)
{
    bool is_rom_wanted = isa == &cps_isa_hwsq && !file_part_wanted(opt) && info_is_rom(path);
    if (isa && !is_rom_wanted)
        return info_script(opt, path, isa, gen, to);
    if (file_part_wanted(opt))
        return info_part(opt, path, to);
    struct cps_stream *stream = NULL;
    const uint8_t *data = NULL;
    size_t size = 0;
    char found[FILES_PATH];
    path = files_firmware(&opt->fw_path, path, found);
    CPS_TRY(cps_stream_open(path, &stream));
    struct cps_err *err = cps_stream_peek(stream, 64, &data, &size);
    const char *format = err ? NULL : cps_capture_format(data, size);
    if (!err && cps_is_script(data, size))
        err = refuse_run_file(path);
    else if (!err && cps_mmiotrace_recognise_(data, size))
        err = cps_err_input(path, 0, "this is an mmiotrace, expected `convert` to a run file");
    else if (format && cps_capture_is_hang(data, size))
        err = info_dump(stream, opt->run.fw_count ? opt->run.fw[0] : NULL, to);
    else if (format)
        err = info_capture(stream, format, opt->json, to);
    else if (!err && cps_trace_recognise(data, size))
        err = info_trace(stream, to);
    else if (!err && cps_rom_probe_(data, size))
        err = info_rom(stream, to);
    else if (!err && cps_mbn_probe(data, size))
        err = info_mbn(stream, to);
    else if (!err)
        err = info_firmware(stream, opt->run.gen, to);
    cps_stream_close(stream);
    return err;
}

/* A file that is cut is described as far as it goes. */
static struct cps_err *print_text(struct json_object *file)
{
    CPS_BUF text = {0};
    doc_text(file, cps_json_get_text(file, ".layout", ""), &text);
    return report_text(&text);
}

int cmd_info(const struct cps_options *opt)
{
    const struct cps_isa *isa = NULL; /* of scripts */
    unsigned gen = 0;
    int status = cps_run_is_script(&opt->run)
                     ? report_result(cps_run_script_engine(&opt->run, &isa, &gen))
                     : 0;
    if (status)
        return status;
    struct json_object *root = tool_json(json_object_new_object());
    struct json_object *files = cps_json_new_array(root, "files");
    if (!opt->arg_count)
        status = report_usage("info needs at least one file");
    for (unsigned i = 0; i < opt->arg_count; i++) {
        struct json_object *file = tool_json(json_object_new_object());
        struct cps_err *err = describe(opt, isa, gen, opt->arg[i], file);
        cps_json_text(file, "name", opt->arg[i]);
        if (!opt->json)
            err = cps_err_first_(print_text(file), err);
        cps_json_append(files, file);
        if (err)
            status = report_error(err);
    }
    if (opt->json && !status)
        return report_result(doc_print(root, NULL, true));
    json_object_put(root);
    return status;
}
