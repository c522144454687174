/* SPDX-License-Identifier: MIT
 * cpscope disasm: firmware to assembly. */
#include <string.h>

#include "fw/listing/listing.h"
#include "fw/nv/envy/envy.h"
#include "fw/nv/rom/rom.h"
#include "tools/cmd/options/file_part.h"
#include "tools/explain/info/info.h"
#include "tools/cmd/options/opt.h"
#include "tools/cmd/options/opt_engine.h"
#include "tools/run/files.h"
#include "tools/run/play.h"
#include "tools/cmd/terminal/paint.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/cmd/terminal/report.h"
#include "trace/out/outfile.h"

#define SCRIPT_LIMIT (64u << 20)

int cmd_disasm(const struct cps_options *opt);

static struct cps_err *read_firmware(struct cps_stream *stream, unsigned gen, struct cps_fw **ret)
{
    CPS_FREE uint8_t *bytes = NULL;
    size_t size = 0;
    CPS_TRY(cps_stream_read_all(stream, CPS_FW_MAX_BYTES, &bytes, &size));
    return cps_fw_parse(cps_stream_name(stream), bytes, size, gen, ret);
}

/* The listing of a VBIOS is all in @p text, and there is no firmware. */
static struct cps_err *load(const struct cps_options *opt, struct cps_fw **fw, struct cps_buf *text)
{
    struct cps_stream *stream = NULL;
    const struct cps_isa *isa = NULL;
    const uint8_t *data = NULL;
    unsigned gen = 0;
    size_t size = 0;
    if (cps_run_is_script(&opt->run))
        CPS_TRY(cps_run_script_engine(&opt->run, &isa, &gen));
    if (file_part_wanted(opt)) {
        CPS_CLEANUP(file_part_deinit) struct file_part part = {0};
        CPS_TRY(file_part_read(opt, opt->arg[0], CPS_FW_MAX_BYTES, &part));
        return cps_fw_parse(cps_buf_text(&part.name), part.bytes, part.size, opt->run.gen, fw);
    }
    char found[FILES_PATH];
    CPS_TRY(cps_stream_open(files_firmware(&opt->fw_path, opt->arg[0], found), &stream));
    struct cps_err *err = cps_stream_peek(stream, 64, &data, &size);
    bool is_rom = !err && cps_rom_probe_(data, size);
    if (is_rom && (opt->style || opt->symbols || opt->run.gen))
        err = cps_err_new(CPS_ERR_USAGE, "a VBIOS has no --style, no --symbols and no --gen");
    else if (is_rom)
        err = info_rom_listing(stream, gen, opt->run.rnn, text);
    else if (!err)
        err = read_firmware(stream, opt->run.gen, fw);
    cps_stream_close(stream);
    return err;
}

static int check(const struct cps_options *opt)
{
    enum cps_style style = opt_style(opt);
    if (opt->arg_count > 1 || (!opt->arg_count && !opt->from))
        return report_usage("disasm takes one firmware file, or --from DUMP and at most one");
    if (opt->from && file_part_wanted(opt))
        return report_usage("--offset and --length are of a file of code: they have no meaning "
                            "with --from");
    if (opt->from && opt->symbols)
        return report_usage("--symbols are of a firmware file: they have no meaning with --from");
    if (style == CPS_STYLE_ENVY && !cps_run_is_script(&opt->run))
        return report_usage("--style envytools lists code of HWSQ and VP1: expected --engine");
    if (style == CPS_STYLE_ENVY && opt->run.rnn)
        return report_usage("--style envytools has no names of registers: --rnn has no meaning");
    if (style == CPS_STYLE_MESA && cps_run_is_script(&opt->run))
        return report_usage("--style mesa lists firmware of Adreno's, without --engine");
    if (style == CPS_STYLE_MESA && (opt->from || opt->symbols))
        return report_usage("--style mesa lists a firmware file as Mesa does, without --from and "
                            "--symbols");
    return 0;
}

static struct cps_err *compose(const struct cps_options *opt, struct cps_fw **fw,
                               struct cps_buf *text)
{
    const struct cps_run_config config = {.fw = {opt->arg_count ? opt->arg[0] : NULL},
                                          .fw_count = opt->arg_count,
                                          .gen = opt->run.gen,
                                          .limit = opt->run.limit,
                                          .submit = -1};
    if (opt->from)
        return info_dump_listing(opt->from, &config, opt->run.rnn, text);
    CPS_TRY(load(opt, fw, text));
    if (!*fw)
        return NULL;
    if (opt_style(opt) == CPS_STYLE_MESA)
        return cps_fw_listing_mesa_(*fw, opt->run.rnn, text);
    if (opt->symbols)
        CPS_TRY(cps_fw_symbols_load(*fw, opt->symbols));
    return cps_fw_listing(*fw, opt->run.rnn, text);
}

static struct cps_err *list(const struct cps_options *opt, struct cps_fw **fw, struct cps_buf *text)
{
    struct cps_outfile *out = NULL;
    CPS_TRY(compose(opt, fw, text));
    CPS_TRY(cps_outfile_open(opt->output ? opt->output : "-", &out));
    paint_output(opt->colour, opt->output, PAINT_CODE, out);
    cps_outfile_write(out, tool_text(text), text->size);
    return cps_outfile_commit(out);
}

static struct cps_err *list_script(const struct cps_options *opt, const struct cps_isa *isa,
                                   unsigned gen)
{
    CPS_CLEANUP(cps_script_deinit) struct cps_script script = {0};
    CPS_CLEANUP(file_part_deinit) struct file_part part = {0};
    CPS_BUF text = {0};
    if (file_part_wanted(opt)) {
        CPS_TRY(file_part_read(opt, opt->arg[0], SCRIPT_LIMIT, &part));
        CPS_TRY(cps_script_raw(cps_buf_text(&part.name), part.bytes, part.size, gen, &script));
    } else {
        CPS_TRY(play_load_script(opt->arg[0], isa, gen, &script));
    }
    const char *code = cps_buf_text(&script.code);
    if (opt_style(opt) == CPS_STYLE_ENVY)
        CPS_TRY(cps_envy_listing_(script.gen, code, script.code.size, &text));
    else
        CPS_TRY(cps_script_listing(script.gen, code, script.code.size, opt->run.rnn,
                                   opt_scheme(opt), &text));
    if (!opt->output || !strcmp(opt->output, "-"))
        return paint_text(opt->colour, PAINT_CODE, &text);
    return text.failed ? cps_err_nomem()
                       : cps_outfile_whole(opt->output, cps_buf_text(&text), text.size);
}

static int disassemble_script(const struct cps_options *opt)
{
    const struct cps_isa *isa = NULL;
    unsigned gen = 0;
    int status = report_result(cps_run_script_engine(&opt->run, &isa, &gen));
    if (!status && !cps_isa_has_code(isa))
        status = report_usage("%s has no code to disassemble", opt->run.engine);
    return status ? status : report_result(list_script(opt, isa, gen));
}

int cmd_disasm(const struct cps_options *opt)
{
    CPS_BUF text = {0};
    struct cps_fw *fw = NULL;
    int status = check(opt);
    if (status)
        return status;
    bool may_be_rom = opt->run.engine && !strcmp(opt->run.engine, "hwsq") && !file_part_wanted(opt);
    if (cps_run_is_script(&opt->run) && !(may_be_rom && info_is_rom(opt->arg[0])))
        return disassemble_script(opt);
    struct cps_err *err = list(opt, &fw, &text);
    cps_fw_destroy(fw);
    return err ? report_error(err) : 0;
}
