/* SPDX-License-Identifier: MIT
 * cpscope run: firmware over a capture, the trace out, a summary for people. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "isa/base/within.h"
#include "tools/cmd/cmd_run.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/cmd/options/opt_engine.h"
#include "tools/run/account.h"
#include "tools/run/files.h"
#include "tools/run/launch.h"
#include "tools/run/code.h"
#include "tools/run/replay.h"
#include "tools/run/names.h"
#include "tools/cmd/terminal/paint.h"
#include "tools/cmd/terminal/report.h"
#include "tools/run/play.h"
#include "tools/explain/summary/summary.h"
#include "tools/face/dap/dap.h"

int cmd_run(const struct cps_options *opt);

struct run {
    struct run_source *source; /* what is run, where it is no file; or NULL */
    struct play play;
    const struct cps_options *opt;
    const char *path; /* of the capture; NULL: the demo's */
    struct cps_outfile *out;
    struct cps_trace_head head;
    struct cps_trace_head final_head; /* with the capture's hash, where `late_hash` */
    struct cps_trace_writer *writer;
    struct cps_stream *capture;
    enum cps_trace_form form;
    bool hashing;   /* the capture, while it is read */
    bool late_hash; /* `head` has zeros in its place until then */
    char capture_hash[65];
    char firmware_hash[65];
    char me_hash[65];
    char chip_id[32]; /* as the head has it */
    struct cps_buf policy;
    struct files_stamp stamp[3];  /* of the firmware and the capture, before they are read */
    struct play_account account;  /* once it is over */
    struct launch *launch;        /* the plugin of --launch, or NULL; owned */
    struct attach_server *server; /* which lets editors in, NULL: it does not; owned */
};

static int check_usage(const struct cps_options *opt)
{
    if (cps_run_is_script(&opt->run))
        return opt->arg_count == 1 ? 0 : report_usage("run --engine takes one script");
    if ((opt->listen || opt->listen_wait) && opt->run.submit >= 0)
        return report_usage("--listen: an editor sees a whole run, expected no --submit");
    if (opt->arg_count > 1)
        return report_usage("run takes one capture, found a second one");
    int status = report_result(opt_check_run_file(opt));
    if (!status && !opt->run.fw_count && !opt->run.demo)
        return report_usage("run needs --fw FILE and a capture (\"-\" is stdin), or --demo");
    return status;
}

/* ---- What is read ---- */

/* Stamps of firmware and capture: taken before they are read, and compared behind that. The head of
 * the trace names what was read: it must have been one thing all the time. */
static struct cps_err *stamp_inputs(struct run *run, bool check)
{
    const struct cps_options *opt = run->opt;
    for (unsigned i = 0; i < 3; i++) {
        bool captured = i == 2 && opt->arg_count && !run->source;
        const char *path = i < opt->run.fw_count ? opt->run.fw[i] : captured ? opt->arg[0] : NULL;
        if (path && check)
            CPS_TRY(files_check_stamp(path, &run->stamp[i]));
        else if (path)
            files_stamp(path, &run->stamp[i]);
    }
    return NULL;
}

/* Whether the head of what will be at @p path may be written again in the end. Only a guess: if it
 * is wrong, the capture is hashed twice, or before it is read. */
static bool may_patch(const char *path)
{
    struct stat info;
    return strcmp(path, "-") != 0 &&
           (stat(path, &info) != 0 || S_ISREG(info.st_mode) || !strcmp(path, "/dev/null"));
}

static struct cps_err *open_capture(struct run *run)
{
    CPS_TRY(play_stream(run->path, &run->capture));
    run->play.boot_only = run->path == play_nothing;
    if (run->form == CPS_FORM_SQLITE || run->opt->dump) /* no other form has room for them */
        CPS_TRY(cps_buffers_create(&run->play.buffers));
    CPS_TRY(play_read_dump(&run->play, run->capture));
    run->hashing = run->opt->arg_count && run->opt->output && !run->play.dump &&
                   may_patch(run->opt->output) && cps_stream_hash(run->capture);
    return NULL;
}

/* ---- The trace ---- */

static const char *capture_name(const struct run *run)
{
    if (run->source)
        return run->source->name;
    return run->path ? run->path : "demo.pm4";
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static struct cps_err *hash_file(const char *path, bool built_in, char ret[65])
{
    if (!built_in)
        return cps_sha256_file(path, ret);
    snprintf(ret, 65, "built-in");
    return NULL;
}

static struct cps_err *make_head(const struct run *run, struct cps_trace_head *ret)
{
    const struct play *play = &run->play;
    struct cps_trace_header header = {
        .gen = play->gen,
        .firmware = {{play->fw ? file_name(play->fw->name) : "", run->firmware_hash},
                     {play->me ? file_name(play->me->name) : "", run->me_hash}},
        .firmware_count = play->fw ? play->me ? 2 : 1 : 0,
        .capture = {file_name(capture_name(run)), run->capture_hash},
        .policy = tool_text(&run->policy),
        .as = (enum cps_gen)run->opt->run.as,
        .chip_id = run->opt->run.chip_id.given ? run->chip_id : NULL,
        .events = run->opt->events ? run->opt->events : "default",
    };
    enum cps_layout layout = play->fw ? play->fw->layout : cps_gen_layout(play->gen);
    return cps_trace_head_make(&header, layout, play_has_processors(play), ret);
}

static struct cps_err *open_trace(struct run *run, const char *path)
{
    const struct cps_options *opt = run->opt;
    struct play *play = &run->play;
    cps_policy_text(&play->policy, play->gen, &run->policy);
    if (play->fw)
        CPS_TRY(hash_file(play->fw->name, !opt->run.fw_count, run->firmware_hash));
    if (play->me)
        CPS_TRY(hash_file(play->me->name, false, run->me_hash));
    CPS_TRY(cps_outfile_open(path, &run->out));
    if (run->form == CPS_FORM_TEXT)
        paint_output(opt->colour, path, PAINT_TRACE, run->out);
    run->late_hash = run->hashing && cps_outfile_patchable(run->out);
    if (run->late_hash)
        memset(run->capture_hash, '0', sizeof(run->capture_hash) - 1);
    else
        CPS_TRY(hash_file(capture_name(run), run->source || !opt->arg_count, run->capture_hash));
    opt_chip_id_text(&opt->run.chip_id, run->chip_id);
    CPS_TRY(make_head(run, &run->head));
    CPS_TRY(cps_trace_writer_create(run->form, run->out, &run->head, play->names, &run->writer));
    CPS_TRY(trace_signals(opt->signals, run->form, play->names, run->writer));
    cps_trace_writer_flow(run->writer, play_flow, play);
    cps_trace_writer_places(run->writer, play_function, play);
    cps_trace_writer_buffers(run->writer, play->buffers);
    play->trace = cps_trace_writer_sink(run->writer);
    return NULL;
}

/* The hash of the capture is known now. */
static struct cps_err *finish_trace(struct run *run)
{
    struct cps_err *err = NULL;
    if (run->late_hash)
        err = cps_stream_sha256(run->capture, run->capture_hash);
    if (run->late_hash && !err)
        err = make_head(run, &run->final_head);
    if (run->late_hash && !err)
        cps_trace_writer_rehead(run->writer, &run->final_head);
    err = cps_err_first_(err, cps_trace_writer_finish(run->writer));
    run->writer = NULL;
    return err;
}

/* ---- The run ---- */

static struct cps_err *write_dump(struct play *play)
{
    const struct run *run = (const struct run *)((char *)play - offsetof(struct run, play));
    return play_write_dump(play, file_name(capture_name(run)), run->opt->dump);
}

static void start_threads(struct run *run)
{
    unsigned threads = opt_threads(run->opt);
    if (run->capture && threads > 1)
        cps_stream_read_in_thread(run->capture);
}

static struct cps_err *prepare(struct run *run)
{
    const struct cps_options *opt = run->opt;
    const char *output = opt->output ? opt->output : "-";
    const struct dap_setup setup = {.config = opt->run,
                                    .capture = opt->arg_count ? opt->arg[0] : NULL,
                                    .symbols = opt->symbols,
                                    .scheme = opt_scheme(opt)};
    if (!run->source && (opt->listen || opt->listen_wait))
        CPS_TRY(attach_server_open(&setup, opt->listen, opt->listen_wait, &run->server));
    CPS_TRY(stamp_inputs(run, false));
    run->form = cps_trace_form_of(output);
    if (opt->to) /* its word was checked when it was taken */
        cps_trace_form_parse(opt->to, &run->form);
    if (run->source) {
        run->play.host = run->source->host;
        run->play.watcher = run->source->watcher;
        run->play.extra = run->source->kinds;
    } else if (!cps_run_is_script(&opt->run)) {
        CPS_TRY(open_capture(run));
    }
    run->play.quiet = true; /* the summary says it */
    if (opt->dump && run->play.dump)
        return cps_err_new(CPS_ERR_USAGE, "--dump: %s is a hang dump already", capture_name(run));
    run->play.at_stop = opt->dump ? write_dump : NULL;
    if (opt->all && !run->play.dump)
        return cps_err_new(CPS_ERR_USAGE, "--all: %s is no hang dump", capture_name(run));
    CPS_TRY(play_open(&run->play, &opt->run, opt->arg_count && !run->source ? opt->arg[0] : NULL));
    play_watch_replay(&run->play);
    if (opt->launch)
        CPS_TRY(launch_open(opt->launch, &run->play, &run->launch));
    if (opt->output || !(opt->json || run->play.dump || run->source))
        CPS_TRY(open_trace(run, output));
    else
        run->play.kinds = 0;
    start_threads(run);
    attach_server_begin(run->server, &run->play);
    return NULL;
}

/* What ran is a complete trace with its END, also when the file behind it was cut; only a run
 * that executed nothing, or that memory was short for, leaves no output. */
static struct cps_err *execute(struct run *run)
{
    CPS_TRY(prepare(run));
    struct cps_err *err = run->source ? run->source->run(run->source, &run->play)
                                      : play_run(&run->play, run->capture);
    bool ended = run->play.executed && (!err || err->code != CPS_ERR_NOMEM);
    struct cps_err *late = finish_trace(run);
    err = cps_err_first_(err, launch_failed(run->launch));
    if (!late)
        late = stamp_inputs(run, true);
    if (!late && run->out && (!err || ended))
        late = cps_outfile_commit(run->out);
    else
        cps_outfile_abort(run->out);
    run->out = NULL;
    return cps_err_first_(err, late);
}

/* ---- What is printed ---- */

/* The comparison decides the status of a replay, whose firmware is expected to stop: 4 if no value
 * differs and yet not all could be compared. */
static int status_of(const struct run *run)
{
    const struct replay *replay = run->play.replay;
    bool differs = replay && rows_count(&replay->rows, REPLAY_DIFFERENT);
    if (run->source)
        return run->source->status(run->source, play_account_status(&run->account));
    if (differs || run->play.misses)
        return 1;
    return replay && !replay_agrees(replay) ? 4 : play_account_status(&run->account);
}

static struct cps_err *summarize(struct run *run, const struct cps_err *ended)
{
    const struct play *play = &run->play;
    const struct cps_options *opt = run->opt;
    bool compared = play->replay && !ended;
    bool nomem = ended && ended->code == CPS_ERR_NOMEM;
    bool trace_on_stdout = opt->output && !strcmp(opt->output, "-");
    if (compared)
        CPS_TRY(replay_compare(play->replay));
    if (play->engine)
        CPS_TRY(play_account_take(play, &run->account));
    if ((play->executed && !nomem) || (play->engine && !ended))
        CPS_TRY(summary_print(play, &run->account, ended && run->source ? 3 : status_of(run),
                              opt->json, compared, run->source ? &run->source->summary : NULL));
    if (compared && !opt->json && !(trace_on_stdout && opt->quiet))
        replay_print(play->replay, opt->all, trace_on_stdout ? stderr : stdout);
    return NULL;
}

static int do_run(struct run *run)
{
    const struct cps_options *opt = run->opt;
    cps_text_classes(opt->events ? opt->events : "default", &run->play.kinds);
    struct cps_err *err = execute(run);
    err = cps_err_first_(err, summarize(run, err));
    int status = err ? report_error(err) : status_of(run);
    cps_buf_deinit(&run->policy);
    cps_err_free(cps_trace_writer_finish(run->writer));
    cps_trace_head_deinit(&run->head);
    cps_trace_head_deinit(&run->final_head);
    cps_outfile_abort(run->out);
    cps_stream_close(run->capture);
    play_close(&run->play);
    launch_close(run->launch);
    attach_server_close(run->server);
    return status;
}

int run_source(const struct cps_options *opt, struct run_source *source)
{
    struct run run = {.opt = opt, .source = source, .path = play_nothing};
    return do_run(&run);
}

int cmd_run(const struct cps_options *opt)
{
    struct run run = {.opt = opt,
                      .path = opt->arg_count  ? opt->arg[0]
                              : opt->run.demo ? NULL
                                              : play_nothing};
    int status = check_usage(opt);
    return status ? status : do_run(&run);
}
