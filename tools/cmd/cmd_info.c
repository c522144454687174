/* SPDX-License-Identifier: MIT
 * cpscope info: what a file is and what it holds. */
#include <stdio.h>
#include <string.h>

#include "isa/base/shown.h"
#include "fw/image/mbn.h"
#include "fw/nv/rom/rom.h"
#include "tools/cmd/options/file_part.h"
#include "tools/explain/info/info.h"
#include "tools/cmd/options/opt.h"
#include "tools/run/files.h"
#include "fw/nv/script/script.h"
#include "tools/cmd/options/opt_engine.h"
#include "tools/cmd/terminal/report.h"
#include "trace/capture/mmiotrace.h"
#include "trace/form/trace.h"
#include "trace/out/json.h"

int cmd_info(const struct cps_options *opt);

void info_name(const char *name)
{
    for (size_t length; *name; name += length ? length : 1) {
        length = cps_shown_(name);
        if (length)
            fwrite(name, 1, length, stdout);
        else
            printf("\\x%02x", (unsigned char)*name);
    }
}

const char *info_packet_name(const struct cps_names *names, unsigned id,
                             char scratch[INFO_NAME_SIZE])
{
    const char *name = cps_name(names, CPS_SPACE_PACKET, id, NULL);
    if (name)
        return name;
    snprintf(scratch, INFO_NAME_SIZE, "UNKN%u", id);
    return scratch;
}

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
    path = files_firmware(opt, path, found);
    CPS_TRY(cps_stream_open(path, &stream));
    struct cps_err *err = cps_stream_peek(stream, 64, &data, &size);
    const char *format = err ? NULL : cps_capture_format(data, size);
    if (!err && cps_is_script(data, size))
        err = refuse_run_file(path);
    else if (!err && cps_mmiotrace_recognise_(data, size))
        err = cps_err_input(path, 0, "this is an mmiotrace, expected `convert` to a run file");
    else if (format && cps_capture_is_hang(data, size))
        err = info_dump(stream, opt->fw_count ? opt->fw[0] : NULL, to);
    else if (format)
        err = info_capture(stream, format, to);
    else if (!err && cps_trace_recognise(data, size))
        err = info_trace(stream, to);
    else if (!err && cps_rom_probe_(data, size))
        err = info_rom(stream, to);
    else if (!err && cps_mbn_probe(data, size))
        err = info_mbn(stream, to);
    else if (!err)
        err = info_firmware(stream, opt->gen, to);
    cps_stream_close(stream);
    return err;
}

int cmd_info(const struct cps_options *opt)
{
    const struct cps_isa *isa = NULL; /* of scripts */
    unsigned gen = 0;
    int status = opt_is_script(opt) ? report_result(opt_script_engine(opt, &isa, &gen)) : 0;
    if (status)
        return status;
    struct json_object *files = json_object_new_array();
    if (!opt->arg_count)
        status = report_usage("info needs at least one file");
    for (unsigned i = 0; i < opt->arg_count; i++) {
        struct json_object *file = opt->json ? json_object_new_object() : NULL;
        struct cps_err *err =
            opt->json && !file ? cps_err_nomem() : describe(opt, isa, gen, opt->arg[i], file);
        if (opt->json) {
            cps_json_text(file, "name", opt->arg[i]);
            cps_json_append(files, file);
        }
        if (err)
            status = report_error(err);
    }
    struct json_object *root = json_object_new_object();
    cps_json_add(root, "files", files);
    if (opt->json && !status) {
        struct cps_err *err = report_json(root);
        return err ? report_error(err) : 0;
    }
    json_object_put(root);
    return status;
}
