/* SPDX-License-Identifier: MIT
 * cpscope run: firmware over a capture, the trace out, a summary for people. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fw/demo/demo.h"
#include "tools/peer/peer.h"
#include "tools/play/replay.h"
#include "tools/report/report.h"
#include "tools/play/rig.h"
#include "tools/report/summary.h"

int cmd_run(const struct cps_options *opt);

struct run {
    struct rig rig;
    const struct cps_options *opt;
    struct cps_outfile *out;
    struct cps_trace_head head;
    struct cps_trace_head final_head; /* with the capture's hash, where `late_hash` */
    struct cps_trace_writer *writer;
    struct cps_stream *capture;
    struct dump *dump; /* a devcoredump is read whole, then replayed; else NULL */
    struct replay *replay;
    bool hashing;   /* the capture, while it is read */
    bool late_hash; /* `head` has zeros in its place until then */
    char capture_hash[65];
    char firmware_hash[65];
    char me_hash[65];
    struct cps_buf policy;
};

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static struct cps_err *describe_policy(struct run *run)
{
    struct cps_policy policy = cps_policy_default();
    CPS_TRY(opt_apply_policy(run->opt, run->rig.fw->gen, &policy));
    cps_policy_text(&policy, run->rig.fw->gen, &run->policy);
    return run->policy.failed ? cps_err_nomem() : NULL;
}

static struct cps_err *hash(const char *path, bool built_in, char ret[65])
{
    if (!built_in)
        return cps_sha256_file(path, ret);
    snprintf(ret, 65, "built-in");
    return NULL;
}

static const char *capture_name(const struct run *run)
{
    return run->opt->arg_count ? run->opt->arg[0] : "demo.pm4";
}

static struct cps_err *hash_capture(struct run *run)
{
    run->late_hash = run->hashing && cps_outfile_patchable(run->out);
    if (!run->late_hash)
        return hash(capture_name(run), !run->opt->arg_count, run->capture_hash);
    memset(run->capture_hash, '0', sizeof(run->capture_hash) - 1);
    return NULL;
}

static struct cps_err *make_head(const struct run *run, struct cps_trace_head *ret)
{
    const struct rig *rig = &run->rig;
    struct cps_trace_header header = {
        .gen = rig->fw->gen,
        .firmware = {{file_name(rig->fw->name), run->firmware_hash},
                     {rig->me ? file_name(rig->me->name) : "", run->me_hash}},
        .firmware_count = rig->me ? 2 : 1,
        .capture = {file_name(capture_name(run)), run->capture_hash},
        .policy = cps_buf_text(&run->policy),
        .events = run->opt->events ? run->opt->events : "default",
    };
    return cps_trace_head_make(&header, rig->fw->layout, rig_has_processors(rig), ret);
}

static bool wants_trace(const struct run *run)
{
    return run->opt->output || !(run->opt->json || run->dump);
}

static struct cps_err *open_trace(struct run *run)
{
    const struct cps_options *opt = run->opt;
    const char *path = opt->output ? opt->output : "-";
    enum cps_trace_form form = cps_trace_form_of(path);
    if (opt->to && !cps_trace_form_parse(opt->to, &form))
        return cps_err_new(CPS_ERR_INPUT, "--to %s: expected text, cpt, jsonl, perfetto or vcd",
                           opt->to);
    CPS_TRY(describe_policy(run));
    CPS_TRY(hash(run->rig.fw->name, !opt->fw_count, run->firmware_hash));
    if (run->rig.me)
        CPS_TRY(hash(run->rig.me->name, false, run->me_hash));
    CPS_TRY(cps_outfile_open(path, &run->out));
    CPS_TRY(hash_capture(run));
    CPS_TRY(make_head(run, &run->head));
    CPS_TRY(cps_trace_writer_create(form, run->out, &run->head, run->rig.names, &run->writer));
    run->rig.trace = cps_trace_writer_sink(run->writer);
    return NULL;
}

static struct cps_err *open_capture(struct run *run)
{
    if (!run->opt->arg_count)
        return cps_stream_open_memory(capture_name(run), cps_demo_pm4, cps_demo_pm4_size,
                                      &run->capture);
    CPS_TRY(cps_stream_open(capture_name(run), &run->capture));
    run->hashing = run->opt->output && cps_stream_hash(run->capture);
    return NULL;
}

/* A hardware dump says where the firmware's image lay. */
static struct cps_err *read_dump(struct run *run)
{
    const uint8_t *data = NULL;
    size_t size = 0;
    uint32_t low = 0;
    uint32_t high = 0;
    CPS_TRY(cps_stream_peek(run->capture, 64, &data, &size));
    const char *format = cps_capture_format(data, size);
    if (!format || strcmp(format, "devcoredump") != 0)
        return NULL;
    run->dump = calloc(1, sizeof(*run->dump));
    run->replay = calloc(1, sizeof(*run->replay));
    if (!run->dump || !run->replay)
        return cps_err_nomem();
    CPS_TRY(dump_read(run->dump, run->capture));
    if (dump_reg(run->dump, 0x830, &low) && dump_reg(run->dump, 0x831, &high))
        run->rig.instr_iova = (uint64_t)high << 32 | low;
    run->rig.gpu = run->dump->gpu;
    return NULL;
}

static struct cps_err *replay(struct run *run)
{
    CPS_TRY(rig_check_gpu(&run->rig));
    *run->replay = (struct replay){.dump = run->dump, .rig = &run->rig};
    CPS_TRY(replay_run(run->replay));
    run->rig.executed = 1;
    return NULL;
}

/* Where there are two threads only, the writer has more to do than the reader. */
static void start_threads(struct run *run)
{
    unsigned threads = opt_threads(run->opt);
    if (run->writer && threads > 1)
        cps_trace_writer_behind(run->writer);
    if (threads > (run->writer ? 2 : 1))
        cps_stream_ahead(run->capture);
}

static struct cps_err *prepare(struct run *run)
{
    CPS_TRY(open_capture(run));
    CPS_TRY(read_dump(run));
    CPS_TRY(rig_open(&run->rig, run->opt));
    if (wants_trace(run))
        CPS_TRY(open_trace(run));
    else
        run->rig.kinds = 0;
    start_threads(run);
    return NULL;
}

/* The hash is known now. */
static struct cps_err *write_head_again(struct run *run)
{
    CPS_TRY(cps_stream_sha256(run->capture, run->capture_hash));
    CPS_TRY(make_head(run, &run->final_head));
    cps_trace_writer_rehead(run->writer, &run->final_head);
    return NULL;
}

static struct cps_err *finish_trace(struct run *run)
{
    struct cps_err *err = run->late_hash ? write_head_again(run) : NULL;
    struct cps_err *late = cps_trace_writer_finish(run->writer);
    run->writer = NULL;
    if (err)
        cps_err_free(late);
    return err ? err : late;
}

/* What ran is a complete trace with its END, also when the file behind it was cut; only a run
 * that executed nothing leaves no output. */
static struct cps_err *finish(struct run *run, struct cps_err *err)
{
    struct cps_err *late = finish_trace(run);
    if ((err && !run->rig.executed) || late) {
        cps_outfile_abort(run->out);
        run->out = NULL;
        if (err)
            cps_err_free(late);
        return err ? err : late;
    }
    late = run->out ? cps_outfile_commit(run->out) : NULL;
    run->out = NULL;
    if (err)
        cps_err_free(late);
    return err ? err : late;
}

static struct cps_err *execute(struct run *run)
{
    CPS_TRY(prepare(run));
    return finish(run, run->dump ? replay(run) : rig_play(&run->rig, run->capture));
}

static int usage(const struct cps_options *opt)
{
    if (opt->arg_count > 1)
        return report_usage("run takes one capture, found a second one");
    if (!opt->fw_count && !opt->demo)
        return report_usage("run needs --fw FILE and a capture, or --demo");
    if (!opt->arg_count && !opt->demo)
        return report_usage("run needs a capture (\"-\" is stdin), or --demo");
    return 0;
}

/* The comparison decides the status of a replay: that the machine stops is what it is for. */
static int report_replay(const struct run *run)
{
    bool trace_on_stdout = run->opt->output && !strcmp(run->opt->output, "-");
    if (!run->opt->json)
        replay_print(run->replay, trace_on_stdout ? stderr : stdout);
    return replay_count(run->replay, REPLAY_DIFFERENT) ? 1 : 0;
}

static void release(struct run *run)
{
    if (run->dump)
        dump_deinit(run->dump);
    free(run->dump);
    free(run->replay);
    cps_buf_deinit(&run->policy);
    cps_err_free(cps_trace_writer_finish(run->writer));
    cps_trace_head_deinit(&run->head);
    cps_trace_head_deinit(&run->final_head);
    cps_outfile_abort(run->out);
    cps_stream_close(run->capture);
    rig_close(&run->rig);
}

int cmd_run(const struct cps_options *opt)
{
    struct run run = {.opt = opt};
    if (peer_wanted(opt))
        return peer_run(opt);
    int status = usage(opt);
    if (!status && !cps_text_classes(opt->events ? opt->events : "default", &run.rig.kinds))
        status = report_usage("--events takes classes of docs/formats.md, \"all\" or \"default\"");
    if (status)
        return status;
    struct cps_err *err = execute(&run);
    bool replayed = run.replay && !err;
    if (run.rig.executed || (run.rig.machine && !err))
        summary_print(&run.rig, opt->json, replayed && opt->json ? replay_json(run.replay) : NULL);
    report_note("interpreting without --native", run.rig.native_err);
    if (err)
        status = report_error(err);
    else if (replayed)
        status = report_replay(&run);
    else if (run.rig.stopped)
        status = 4;
    release(&run);
    return status;
}
