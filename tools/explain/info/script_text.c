/* SPDX-License-Identifier: MIT
 * cpscope asm and cpscope disasm for scripts. */
#include "tools/explain/info/info.h"

#include <string.h>

#include "fw/nv/envy/envy.h"
#include "tools/cmd/options/file_part.h"
#include "tools/cmd/options/opt_engine.h"
#include "tools/run/play.h"
#include "tools/cmd/terminal/paint.h"
#include "tools/cmd/terminal/report.h"

static struct cps_err *write_all(const char *path, const struct cps_buf *bytes)
{
    return bytes->failed ? cps_err_nomem()
                         : cps_outfile_whole(path, cps_buf_text(bytes), bytes->size);
}

static struct cps_err *assemble(const struct cps_options *opt, unsigned gen)
{
    CPS_FREE uint8_t *text = NULL;
    CPS_BUF bytes = {0};
    size_t size = 0;
    CPS_TRY(cps_stream_read_file(opt->arg[0], 64u << 20, &text, &size));
    if (opt_style(opt) == CPS_STYLE_ENVY)
        CPS_TRY(
            cps_envy_assemble_(opt->arg[0], (const char *)text, size, (enum cps_gen)gen, &bytes));
    else
        CPS_TRY(cps_script_assemble(opt->arg[0], (const char *)text, size, gen, &bytes));
    return write_all(opt->output, &bytes);
}

int script_asm(const struct cps_options *opt)
{
    const struct cps_isa *isa = NULL;
    unsigned gen = 0;
    int status = report_result(cps_run_script_engine(&opt->run, &isa, &gen));
    if (!status && !cps_isa_has_code(isa))
        status = report_usage("%s has no code to assemble", opt->run.engine);
    if (!status && opt_style(opt) == CPS_STYLE_MESA)
        status = report_usage("--style mesa is of firmware of Adreno's, without --engine");
    if (!status && opt_style(opt) == CPS_STYLE_ENVY && !gen)
        status = report_usage("--style envytools: the source does not say the chip, expected "
                              "--chip");
    if (status)
        return status;
    struct cps_err *err = assemble(opt, gen);
    return err ? report_error(err) : 0;
}

struct cps_err *script_load(const struct cps_options *opt, const char *path,
                            const struct cps_isa *isa, unsigned gen, struct cps_script *ret)
{
    CPS_CLEANUP(file_part_deinit) struct file_part part = {0};
    if (!file_part_wanted(opt))
        return play_load_script(path, isa, gen, ret);
    CPS_TRY(file_part_read(opt, path, 64u << 20, &part));
    return cps_script_raw(cps_buf_text(&part.name), part.bytes, part.size, gen, ret);
}

static struct cps_err *list(const struct cps_options *opt, const struct cps_isa *isa, unsigned gen,
                            enum cps_scheme scheme, struct cps_script *script)
{
    CPS_BUF text = {0};
    CPS_TRY(script_load(opt, opt->arg[0], isa, gen, script));
    if (opt_style(opt) == CPS_STYLE_ENVY)
        CPS_TRY(
            cps_envy_listing_(script->gen, cps_buf_text(&script->code), script->code.size, &text));
    else
        CPS_TRY(cps_script_listing(script->gen, cps_buf_text(&script->code), script->code.size,
                                   opt->run.rnn, scheme, &text));
    if (!opt->output || !strcmp(opt->output, "-"))
        return paint_text(opt->colour, PAINT_CODE, &text);
    return write_all(opt->output, &text);
}

int script_disasm(const struct cps_options *opt)
{
    CPS_CLEANUP(cps_script_deinit) struct cps_script script = {0};
    const struct cps_isa *isa = NULL;
    unsigned gen = 0;
    int status = report_result(cps_run_script_engine(&opt->run, &isa, &gen));
    if (!status && !cps_isa_has_code(isa))
        status = report_usage("%s has no code to disassemble", opt->run.engine);
    if (status)
        return status;
    struct cps_err *err = list(opt, isa, gen, opt_scheme(opt), &script);
    return err ? report_error(err) : 0;
}
