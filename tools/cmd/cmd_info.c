/* SPDX-License-Identifier: MIT
 * cpscope info: what a file is and what it holds. */
#include <stdio.h>
#include <string.h>

#include "isa/base/within.h"
#include "tools/cmd/options/file_part.h"
#include "tools/explain/info/info.h"
#include "tools/cmd/options/opt.h"
#include "tools/run/file_kind.h"
#include "tools/run/fit.h"
#include "tools/run/files.h"
#include "tools/run/play.h"
#include "fw/nv/script/script.h"
#include "tools/cmd/options/opt_engine.h"
#include "tools/cmd/render/doc.h"
#include "tools/cmd/terminal/report.h"
#include "tools/cmd/terminal/text.h"
#include "trace/out/json.h"

int cmd_info(const struct cps_options *opt);

enum { SCRIPT_LIMIT = 64 << 20 };

static struct cps_err *describe_script(const struct cps_options *opt, const char *path,
                                       const struct cps_isa *isa, unsigned gen,
                                       struct json_object *to)
{
    CPS_CLEANUP(cps_script_deinit) struct cps_script script = {0};
    CPS_CLEANUP(file_part_deinit) struct file_part part = {0};
    if (file_part_wanted(opt)) {
        CPS_TRY(file_part_read(opt, path, SCRIPT_LIMIT, &part));
        CPS_TRY(cps_script_raw(cps_buf_text(&part.name), part.bytes, part.size, gen, &script));
    } else {
        CPS_TRY(play_load_script(path, isa, gen, &script));
    }
    info_script(&script, to);
    return NULL;
}

static struct cps_err *describe_firmware(const char *name, const uint8_t *bytes, size_t size,
                                         unsigned gen, struct json_object *to)
{
    struct cps_fw *fw = NULL;
    CPS_TRY(cps_fw_parse(name, bytes, size, gen, &fw));
    return info_firmware(fw, to);
}

/* What its first bytes do not tell is firmware. */
static struct cps_err *describe_stream(const struct cps_options *opt, struct cps_stream *stream,
                                       struct json_object *to)
{
    CPS_BUF text = {0};
    CPS_FREE uint8_t *bytes = NULL;
    const uint8_t *data = NULL;
    size_t size = 0;
    const char *name = cps_stream_name(stream);
    CPS_TRY(cps_stream_peek(stream, 64, &data, &size));
    switch (file_kind(data, size)) {
    case FILE_SCRIPT:
        opt_run_file_text(&text);
        return cps_err_input(name, 0, "%s", cps_buf_text(&text));
    case FILE_MMIOTRACE:
        return cps_err_input(name, 0, "this is an mmiotrace, expected `convert` to a run file");
    case FILE_HANG:
        return info_dump(stream, &opt->run, to);
    case FILE_CAPTURE:
        return info_capture(stream, cps_capture_format(data, size), opt->json, to);
    case FILE_TRACE:
        return info_trace(stream, to);
    case FILE_VBIOS:
        return info_rom(stream, to);
    case FILE_FOREIGN:
        return info_mbn(stream, to);
    case FILE_FIRMWARE:
    case FILE_UNKNOWN:
        break;
    }
    CPS_TRY(cps_stream_read_all(stream, CPS_FW_MAX_BYTES, &bytes, &size));
    return describe_firmware(name, bytes, size, opt->run.gen, to);
}

static struct cps_err *describe(const struct cps_options *opt, const struct cps_isa *isa,
                                unsigned gen, const char *path, struct json_object *to)
{
    CPS_CLEANUP(file_part_deinit) struct file_part part = {0};
    struct cps_stream *stream = NULL;
    char found[FILES_PATH];
    if (isa && !(isa == &cps_isa_hwsq && !file_part_wanted(opt) && info_is_rom(path)))
        return describe_script(opt, path, isa, gen, to);
    if (file_part_wanted(opt)) {
        CPS_TRY(file_part_read(opt, path, CPS_FW_MAX_BYTES, &part));
        return describe_firmware(cps_buf_text(&part.name), part.bytes, part.size, opt->run.gen, to);
    }
    CPS_TRY(cps_stream_open(files_firmware(&opt->fw_path, path, found), &stream));
    struct cps_err *err = describe_stream(opt, stream, to);
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

/* Firmware that a description in @p file is of. */
static bool firmware_of(struct json_object *file, struct cps_fw *ret)
{
    uint32_t id = (uint32_t)cps_json_get_int(file, "id", 0);
    const struct cps_target *target = cps_target_find(id);
    *ret = (struct cps_fw){.id = id, .gen = target ? target->gen : CPS_GEN_NONE};
    return target && !strcmp(cps_json_get_text(file, "kind", ""), "firmware");
}

/* The firmware among @p files that is of the generation of this GPU, unless one of them fits it. */
static struct json_object *find_misfit(struct json_object *files, uint64_t gpu, struct misfit *ret)
{
    struct json_object *found = NULL;
    for (size_t i = 0; i < cps_json_count(files); i++) {
        struct json_object *file = json_object_array_get_idx(files, i);
        struct cps_fw fw;
        struct misfit misfit;
        if (!firmware_of(file, &fw) || cps_gpu_generation(gpu) != cps_gen_row(fw.gen)->number)
            continue;
        if (!misfit_find(&fw, gpu, &misfit))
            return NULL;
        if (!found)
            *ret = misfit;
        found = found ? found : file;
    }
    return found;
}

/* Notes captures that come with firmware of their generation, but for other chips. */
static void note_misfits(const struct cps_options *opt, struct json_object *files)
{
    for (size_t i = 0; i < cps_json_count(files); i++) {
        struct json_object *file = json_object_array_get_idx(files, i);
        uint64_t gpu = (uint64_t)cps_json_get_int(file, "gpu_id", 0);
        struct misfit misfit;
        CPS_BUF text = {0};
        gpu = gpu ? gpu : (uint64_t)cps_json_get_int(file, "chip_id", 0) & UINT32_MAX;
        struct json_object *firmware = gpu ? find_misfit(files, gpu, &misfit) : NULL;
        if (!firmware)
            continue;
        misfit_json(&misfit, file);
        misfit_put(&misfit, cps_json_get_text(firmware, "name", ""), "the capture is from", &text);
        if (!opt->json)
            report_aside("%s: note: %s\n", cps_json_get_text(file, "name", ""),
                         cps_buf_text(&text));
    }
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
    struct json_object *root = doc_new();
    struct json_object *files = cps_json_new_array(root, "files");
    if (!opt->arg_count)
        status = report_usage("info needs at least one file");
    for (unsigned i = 0; i < opt->arg_count; i++) {
        struct json_object *file = doc_new();
        struct cps_err *err = describe(opt, isa, gen, opt->arg[i], file);
        cps_json_text(file, "name", opt->arg[i]);
        if (!opt->json && !(err && err->code == CPS_ERR_NOMEM)) /* which says nothing of the file */
            err = cps_err_first_(print_text(file), err);
        cps_json_append(files, file);
        if (err) {
            status = report_error(err);
        } else if (cps_json_get(file, ".cut")) {
            fprintf(stderr, "cpscope: %s: the dump is truncated: its description is incomplete\n",
                    opt->arg[i]);
            status = status ? status : 4;
        }
    }
    note_misfits(opt, files);
    if (opt->json && (!status || status == 4)) {
        struct cps_err *err = doc_print(root, NULL, true);
        return err ? report_error(err) : status;
    }
    json_object_put(root);
    return status;
}
