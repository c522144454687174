/* SPDX-License-Identifier: MIT
 * cpscope convert: a trace from one format into another, a capture into .rd, or an mmiotrace into a
 * run file. */
#include <stdlib.h>
#include <string.h>

#include "isa/base/within.h"
#include "tools/cmd/options/opt.h"
#include "tools/cmd/options/opt_engine.h"
#include "tools/cmd/terminal/progress.h"
#include "tools/cmd/terminal/report.h"
#include "tools/explain/mmio/mmio.h"
#include "tools/run/files.h"
#include "tools/run/names.h"
#include "trace/capture/capture.h"
#include "trace/capture/rd_write.h"

int cmd_convert(const struct cps_options *opt);

#define BATCH 4096u

struct conversion {
    const struct cps_options *opt;
    const char *input, *output; /* "-": stdin, stdout */
    struct cps_stream *in;
    struct cps_outfile *out;
    struct cps_trace *trace;
    struct cps_trace_writer *writer;
    struct cps_names *names[CPS_CPU_COUNT];
};

static struct cps_err *convert_trace(struct conversion *c, enum cps_trace_form form)
{
    struct cps_event events[BATCH];
    size_t count = 1;
    struct cps_err *err = NULL;
    CPS_TRY(cps_trace_open(c->in, &c->trace));
    const struct cps_trace_head *head = cps_trace_head(c->trace);
    CPS_TRY(trace_names(head, c->opt->run.rnn, c->names));
    CPS_TRY(cps_outfile_open(c->output, &c->out));
    CPS_TRY(cps_trace_writer_create(form, c->out, head, c->names, &c->writer));
    CPS_TRY(trace_signals(c->opt->signals, form, c->names, c->writer));
    struct cps_sink *sink = cps_trace_writer_sink(c->writer);
    while (count && !err) {
        progress_stream(c->in);
        err = cps_trace_next(c->trace, events, BATCH, &count);
        sink->put(sink, events, count);
    }
    struct cps_err *late = cps_trace_writer_finish(c->writer);
    c->writer = NULL;
    /* Of a damaged trace, the events before the damage stay, which is reported. If memory was
     * short, the file may be whole; and a trace that would replace itself stays as it is. */
    if (!err || late || err->code == CPS_ERR_NOMEM || files_are_same(c->output, c->input))
        return cps_err_first_(err, late);
    cps_err_free(cps_outfile_commit(CPS_TAKE(c->out)));
    return err;
}

static struct cps_err *convert_capture(struct conversion *c)
{
    CPS_TRY(cps_outfile_open(c->output, &c->out));
    return cps_rd_write(c->in, c->out, c->opt->output ? c->opt->output : "");
}

static bool has_suffix(const struct conversion *c, const char *suffix)
{
    const char *dot = strrchr(c->output, '.');
    return dot && !strcmp(dot, suffix);
}

static struct cps_err *convert_mmiotrace(struct conversion *c)
{
    struct cps_run_config with_engine = c->opt->run;
    const struct cps_isa *isa = NULL;
    struct mmio_log log = {0};
    CPS_BUF text = {0};
    unsigned gen = 0; /* the chip that --chip names */
    with_engine.engine = "hwsq";
    CPS_TRY(cps_run_script_engine(&with_engine, &isa, &gen));
    if (strcmp(c->output, "-") != 0 && !has_suffix(c, ".run"))
        return cps_err_new(CPS_ERR_INPUT, "%s is an mmiotrace, expected an output called NAME.run",
                           c->input);
    struct cps_err *err = mmio_read(c->in, gen, &log);
    if (!err)
        err = mmio_compose(&log, gen ? (enum cps_gen)gen : log.chip->hwsq, cps_stream_name(c->in),
                           &text);
    free(log.access);
    CPS_TRY(err);
    CPS_TRY(cps_outfile_open(c->output, &c->out));
    cps_outfile_write(c->out, cps_buf_text(&text), text.size);
    return NULL;
}

/* A capture becomes a capture and a trace a trace, whatever the suffix of the output promises. */
static struct cps_err *check_suffix(const struct conversion *c, bool is_capture,
                                    enum cps_trace_form form)
{
    bool is_text = has_suffix(c, ".pm4") || has_suffix(c, ".trace") || has_suffix(c, ".txt");
    if (has_suffix(c, ".snapshot"))
        return cps_err_new(CPS_ERR_UNSUPPORTED,
                           "%s: snapshots are only read, expected another name", c->output);
    if (is_capture && (form != CPS_FORM_TEXT || is_text))
        return cps_err_new(CPS_ERR_INPUT, "%s is a capture, expected an output called NAME.rd",
                           c->input);
    if (!is_capture && has_suffix(c, ".rd"))
        return cps_err_new(CPS_ERR_INPUT, "%s is no capture, which %s would have to be", c->input,
                           c->output);
    if (has_suffix(c, ".run"))
        return cps_err_new(CPS_ERR_INPUT, "%s is no mmiotrace, which %s would have to be", c->input,
                           c->output);
    return NULL;
}

static struct cps_err *convert(struct conversion *c)
{
    const struct cps_options *opt = c->opt;
    const uint8_t *data = NULL;
    size_t size = 0;
    enum cps_trace_form form = cps_trace_form_of(c->output);
    if (opt->to) /* whose word was checked when it was taken */
        cps_trace_form_parse(opt->to, &form);
    CPS_TRY(cps_stream_open(c->input, &c->in));
    cps_stream_set_rnn(c->in, opt->run.rnn);
    CPS_TRY(cps_stream_peek(c->in, 64, &data, &size));
    bool is_mmiotrace = cps_mmiotrace_recognise_(data, size);
    bool is_capture = !cps_trace_recognise(data, size) && cps_capture_format(data, size);
    if (opt_threads(opt) > 1)
        cps_stream_read_in_thread(c->in);
    if (!is_mmiotrace && opt->run.chip)
        return cps_err_new(CPS_ERR_USAGE, "--chip is of an mmiotrace, which %s is not", c->input);
    if (!is_mmiotrace)
        CPS_TRY(check_suffix(c, is_capture, form));
    CPS_TRY(is_mmiotrace ? convert_mmiotrace(c)
            : is_capture ? convert_capture(c)
                         : convert_trace(c, form));
    return cps_outfile_commit(CPS_TAKE(c->out));
}

int cmd_convert(const struct cps_options *opt)
{
    if (opt->arg_count != 1)
        return report_usage("convert takes one trace, capture or mmiotrace (\"-\" is stdin)");
    struct conversion c = {
        .opt = opt, .input = opt->arg[0], .output = opt->output ? opt->output : "-"};
    struct cps_err *err = convert(&c);
    cps_err_free(cps_trace_writer_finish(c.writer));
    cps_outfile_abort(c.out);
    cps_trace_close(c.trace);
    cps_stream_close(c.in);
    trace_names_free(c.names);
    return err ? report_error(err) : 0;
}
