/* SPDX-License-Identifier: MIT
 * The trace of a file. */
#include "tools/explain/fuzz/fuzz.h"

#include <string.h>

#include "isa/base/within.h"
#include "tools/cmd/terminal/oom.h"
#include "trace/form/text.h"

struct tracer {
    struct play play;
    struct cps_run_config config;
    struct cps_stream *stream;
    struct cps_trace_head head;
    struct cps_trace_writer *writer;
    struct cps_outfile *out;
};

static const char *base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static struct cps_err *make_head(struct tracer *t, const char *input)
{
    const struct play *play = &t->play;
    char hash[3][65] = {""};
    CPS_BUF policy = {0};
    CPS_TRY(cps_sha256_file(play->fw->name, hash[0]));
    if (play->me)
        CPS_TRY(cps_sha256_file(play->me->name, hash[1]));
    CPS_TRY(cps_sha256_file(input, hash[2]));
    cps_policy_text(&play->policy, play->gen, &policy);
    const struct cps_trace_header header = {
        .gen = play->gen,
        .firmware = {{base(play->fw->name), hash[0]},
                     {play->me ? base(play->me->name) : "", hash[1]}},
        .firmware_count = play->me ? 2 : 1,
        .capture = {base(input), hash[2]},
        .policy = tool_text(&policy),
        .events = "default"};
    return cps_trace_head_make(&header, play->fw->layout, play_has_processors(play), &t->head);
}

static struct cps_err *run_file(struct tracer *t, const char *input, const char *output)
{
    CPS_TRY(cps_stream_open(input, &t->stream));
    CPS_TRY(play_open(&t->play, &t->config, NULL));
    CPS_TRY(make_head(t, input));
    CPS_TRY(cps_outfile_open(output, &t->out));
    CPS_TRY(cps_trace_writer_create(CPS_FORM_TEXT, t->out, &t->head, t->play.names, &t->writer));
    t->play.trace = cps_trace_writer_sink(t->writer);
    return play_run(&t->play, t->stream);
}

struct cps_err *trace_case(const struct cps_run_config *config, uint64_t limit, const char *input,
                           const char *output)
{
    struct tracer *t = tool_alloc(1, sizeof(*t));
    t->config = *config;
    t->config.limit = limit;
    cps_text_classes("default", &t->play.kinds);
    struct cps_err *err = run_file(t, input, output);
    if (t->writer)
        err = cps_err_first_(err, cps_trace_writer_finish(t->writer));
    if (t->out && !err)
        err = cps_outfile_commit(t->out);
    else
        cps_outfile_abort(t->out);
    cps_trace_head_deinit(&t->head);
    play_close(&t->play);
    cps_stream_close(t->stream);
    free(t);
    return err;
}
