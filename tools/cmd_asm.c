/* SPDX-License-Identifier: MIT
 * cpscope asm: assembly to firmware. */
#include "fw/fw.h"
#include "isa/le.h"
#include "opt.h"
#include "report.h"
#include "trace/outfile.h"
#include "trace/stream.h"

#define SOURCE_LIMIT (64u << 20)

int cmd_asm(const struct cps_options *opt);

static struct cps_err *write_words(const struct cps_asm *program, const char *path)
{
    struct cps_outfile *out = NULL;
    CPS_TRY(cps_outfile_open(path, &out));
    for (uint32_t i = 0; i < program->count; i++) {
        uint8_t bytes[4];
        cps_put_le32(bytes, program->words[i]);
        cps_outfile_write(out, bytes, sizeof(bytes));
    }
    return cps_outfile_commit(out);
}

static struct cps_err *assemble(const struct cps_options *opt, struct cps_stream *stream)
{
    struct cps_asm program = {0};
    CPS_FREE uint8_t *text = NULL;
    size_t size = 0;
    CPS_TRY(cps_stream_read_all(stream, SOURCE_LIMIT, &text, &size));
    CPS_TRY(cps_assemble(cps_stream_name(stream), (const char *)text, size, opt->gen, &program));
    struct cps_err *err = write_words(&program, opt->output);
    free(program.words);
    return err;
}

int cmd_asm(const struct cps_options *opt)
{
    struct cps_stream *stream = NULL;
    if (opt->arg_count != 1 || !opt->output)
        return report_usage("asm takes one source file and -o FILE");
    struct cps_err *err = cps_stream_open(opt->arg[0], &stream);
    if (!err)
        err = assemble(opt, stream);
    cps_stream_close(stream);
    return err ? report_error(err) : 0;
}
