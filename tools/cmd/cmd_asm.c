/* SPDX-License-Identifier: MIT
 * cpscope asm: assembly to firmware. */
#include "fw/fw.h"
#include "fw/nv/envy/envy.h"
#include "fw/nv/script/script.h"
#include "isa/base/le.h"
#include "tools/cmd/options/opt.h"
#include "tools/cmd/options/opt_engine.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/cmd/terminal/report.h"
#include "trace/out/outfile.h"
#include "trace/capture/stream.h"

#define SOURCE_LIMIT (64u << 20)

int cmd_asm(const struct cps_options *opt);

/* Source, or its ELF form on the way back to a raw file. */
static struct cps_err *assemble(const struct cps_options *opt, struct cps_stream *stream)
{
    CPS_CLEANUP(cps_program_deinit) struct cps_program program = {0};
    CPS_FREE uint8_t *text = NULL;
    CPS_BUF bytes = {0};
    size_t size = 0;
    const char *name = cps_stream_name(stream);
    CPS_TRY(cps_stream_read_all(stream, SOURCE_LIMIT, &text, &size));
    if (cps_is_elf(text, size))
        CPS_TRY(cps_elf_read(name, text, size, &program));
    else if (opt->debug)
        CPS_TRY(cps_program_assemble(name, (const char *)text, size, opt->run.gen, &program));
    else
        CPS_TRY(cps_assemble(name, (const char *)text, size, opt->run.gen, &program.image));
    if (opt->debug)
        CPS_TRY(cps_elf_write(&program, &bytes));
    for (uint32_t i = 0; !opt->debug && i < program.image.count; i++) {
        uint8_t word[4];
        cps_put_le32(word, program.image.words[i]);
        cps_buf_add(&bytes, (const char *)word, sizeof(word));
    }
    return cps_outfile_whole(opt->output, tool_text(&bytes), bytes.size);
}

static struct cps_err *assemble_script(const struct cps_options *opt, unsigned gen)
{
    CPS_FREE uint8_t *text = NULL;
    CPS_BUF bytes = {0};
    size_t size = 0;
    CPS_TRY(cps_stream_read_file(opt->arg[0], SOURCE_LIMIT, &text, &size));
    if (opt_style(opt) == CPS_STYLE_ENVY)
        CPS_TRY(
            cps_envy_assemble_(opt->arg[0], (const char *)text, size, (enum cps_gen)gen, &bytes));
    else
        CPS_TRY(cps_script_assemble(opt->arg[0], (const char *)text, size, gen, &bytes));
    return bytes.failed ? cps_err_nomem()
                        : cps_outfile_whole(opt->output, cps_buf_text(&bytes), bytes.size);
}

static int script_asm(const struct cps_options *opt)
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
    return status ? status : report_result(assemble_script(opt, gen));
}

int cmd_asm(const struct cps_options *opt)
{
    struct cps_stream *stream = NULL;
    if (opt->arg_count != 1 || !opt->output)
        return report_usage("asm takes one source file and -o FILE");
    if (cps_run_is_script(&opt->run))
        return script_asm(opt);
    struct cps_err *err = cps_stream_open(opt->arg[0], &stream);
    if (!err)
        err = assemble(opt, stream);
    cps_stream_close(stream);
    return report_result(err);
}
