/* SPDX-License-Identifier: MIT
 * cpscope convert: a trace from one form into another, a capture into .rd, or an mmiotrace into a
 * run file. */
#include <stdio.h>
#include <string.h>

#include "isa/base/buf.h"
#include "isa/base/within.h"
#include "tools/explain/mmio/mmio.h"
#include "tools/run/files.h"
#include "tools/run/names.h"
#include "tools/cmd/options/opt.h"
#include "tools/cmd/options/opt_engine.h"
#include "tools/cmd/terminal/progress.h"
#include "tools/cmd/terminal/report.h"
#include "trace/capture/capture.h"
#include "trace/capture/rd_write.h"

int cmd_convert(const struct cps_options *opt);

#define BATCH 4096u

struct conversion {
    const struct cps_options *opt;
    struct cps_stream *in;
    struct cps_outfile *out;
    struct cps_trace *trace;
    struct cps_trace_writer *writer;
    struct cps_names *names[CPS_CPU_COUNT];
};

/* Events up to the end; behind damage, what was whole has gone out already. */
static struct cps_err *copy_events(struct conversion *c)
{
    struct cps_event events[BATCH];
    struct cps_sink *sink = cps_trace_writer_sink(c->writer);
    size_t count = 1;
    struct cps_err *err = NULL;
    while (count && !err) {
        progress_stream(c->in);
        err = cps_trace_next(c->trace, events, BATCH, &count);
        sink->put(sink, events, count);
    }
    return err;
}

/* A trace that is damaged somewhere is whole before: that much is kept, and the damage reported.
 * Where memory was short nothing is said about the file; of a trace that would become itself, it
 * would be all that is left. */
static struct cps_err *recover(struct conversion *c, struct cps_err *err)
{
    const char *output = c->opt->output ? c->opt->output : "-";
    if (err->code == CPS_ERR_NOMEM || files_are_same(output, c->opt->arg[0]))
        return err; /* the output goes */
    struct cps_err *late = cps_outfile_commit(c->out);
    c->out = NULL;
    cps_err_free(late);
    return err;
}

static struct cps_err *convert_trace(struct conversion *c, enum cps_trace_form form)
{
    CPS_TRY(cps_trace_open(c->in, &c->trace));
    const struct cps_trace_head *head = cps_trace_head(c->trace);
    CPS_TRY(trace_names(head, c->opt->run.rnn, c->names));
    CPS_TRY(cps_outfile_open(c->opt->output ? c->opt->output : "-", &c->out));
    CPS_TRY(cps_trace_writer_create(form, c->out, head, c->names, &c->writer));
    CPS_TRY(trace_signals(c->opt->signals, form, c->names, c->writer));
    struct cps_err *err = copy_events(c);
    struct cps_err *late = cps_trace_writer_finish(c->writer);
    c->writer = NULL;
    if (!err || late || err->code == CPS_ERR_NOMEM)
        return cps_err_first_(err, late);
    return recover(c, err);
}

static bool is_called(const struct cps_options *opt, const char *suffix)
{
    const char *dot = opt->output ? strrchr(opt->output, '.') : NULL;
    return dot && !strcmp(dot, suffix);
}

static struct cps_err *convert_capture(struct conversion *c)
{
    CPS_TRY(cps_outfile_open(c->opt->output ? c->opt->output : "-", &c->out));
    return cps_rd_write(c->in, c->out, c->opt->output ? c->opt->output : "");
}

/* The chip of HWSQ that --chip names, 0 without it. */
static struct cps_err *mmio_chip(const struct cps_options *opt, unsigned *ret)
{
    struct cps_run_config with_engine = opt->run;
    const struct cps_isa *isa = NULL;
    with_engine.engine = "hwsq";
    return cps_run_script_engine(&with_engine, &isa, ret);
}

static struct cps_err *write_run_file(struct conversion *c, unsigned gen,
                                      const struct mmio_log *log)
{
    CPS_BUF text = {0};
    gen = gen ? gen : (unsigned)log->chip->hwsq;
    CPS_TRY(mmio_compose(log, (enum cps_gen)gen, cps_stream_name(c->in), &text));
    CPS_TRY(cps_outfile_open(c->opt->output ? c->opt->output : "-", &c->out));
    cps_outfile_write(c->out, cps_buf_text(&text), text.size);
    return NULL;
}

static struct cps_err *convert_mmiotrace(struct conversion *c)
{
    struct mmio_log log = {0};
    unsigned gen = 0;
    CPS_TRY(mmio_chip(c->opt, &gen));
    if (c->opt->output && strcmp(c->opt->output, "-") != 0 && !is_called(c->opt, ".run"))
        return cps_err_new(CPS_ERR_INPUT, "%s is an mmiotrace, expected an output called NAME.run",
                           c->opt->arg[0]);
    struct cps_err *err = mmio_read(c->in, gen, &log);
    if (!err)
        err = write_run_file(c, gen, &log);
    free(log.access);
    return err;
}

/* A capture becomes a capture and a trace a trace, whatever the name of the output promises. */
static struct cps_err *check_names(const struct cps_options *opt, bool capture,
                                   enum cps_trace_form form)
{
    if (is_called(opt, ".snapshot"))
        return cps_err_new(CPS_ERR_UNSUPPORTED,
                           "%s: snapshots are only read, expected another name", opt->output);
    bool other = is_called(opt, ".pm4") || is_called(opt, ".trace") || is_called(opt, ".txt");
    if (capture && (form != CPS_FORM_TEXT || other))
        return cps_err_new(CPS_ERR_INPUT, "%s is a capture, expected an output called NAME.rd",
                           opt->arg[0]);
    if (!capture && is_called(opt, ".rd"))
        return cps_err_new(CPS_ERR_INPUT, "%s is no capture, which %s would have to be",
                           opt->arg[0], opt->output);
    if (is_called(opt, ".run"))
        return cps_err_new(CPS_ERR_INPUT, "%s is no mmiotrace, which %s would have to be",
                           opt->arg[0], opt->output);
    return NULL;
}

static struct cps_err *convert(struct conversion *c)
{
    const struct cps_options *opt = c->opt;
    const uint8_t *data = NULL;
    size_t size = 0;
    enum cps_trace_form form = cps_trace_form_of(opt->output ? opt->output : "-");
    if (opt->to) /* whose word was checked when it was taken */
        cps_trace_form_parse(opt->to, &form);
    CPS_TRY(cps_stream_open(opt->arg[0], &c->in));
    cps_stream_set_rnn(c->in, opt->run.rnn);
    CPS_TRY(cps_stream_peek(c->in, 64, &data, &size));
    bool mmiotrace = cps_mmiotrace_recognise_(data, size);
    bool capture = !cps_trace_recognise(data, size) && cps_capture_format(data, size);
    if (opt_threads(opt) > 1)
        cps_stream_read_in_thread(c->in);
    if (!mmiotrace && opt->run.chip)
        return cps_err_new(CPS_ERR_USAGE, "--chip is of an mmiotrace, which %s is not",
                           opt->arg[0]);
    if (!mmiotrace)
        CPS_TRY(check_names(opt, capture, form));
    CPS_TRY(mmiotrace ? convert_mmiotrace(c)
            : capture ? convert_capture(c)
                      : convert_trace(c, form));
    return cps_outfile_commit(CPS_TAKE(c->out));
}

int cmd_convert(const struct cps_options *opt)
{
    struct conversion c = {.opt = opt};
    if (opt->arg_count != 1)
        return report_usage("convert takes one trace, capture or mmiotrace (\"-\" is stdin)");
    struct cps_err *err = convert(&c);
    cps_err_free(cps_trace_writer_finish(c.writer));
    cps_outfile_abort(c.out);
    cps_trace_close(c.trace);
    cps_stream_close(c.in);
    trace_names_free(c.names);
    return err ? report_error(err) : 0;
}
