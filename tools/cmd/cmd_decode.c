/* SPDX-License-Identifier: MIT
 * cpscope decode: a capture as annotated text; with firmware, what executed and what came of it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/mem.h"
#include "isa/base/within.h"
#include "tools/cmd/render/doc.h"
#include "tools/explain/decode/decode.h"
#include "tools/cmd/options/opt_engine.h"
#include "tools/run/account.h"
#include "tools/run/play.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/cmd/terminal/paint.h"
#include "tools/cmd/terminal/progress.h"
#include "tools/cmd/terminal/report.h"
#include "tools/explain/summary/summary.h"
#include "trace/out/json.h"

int cmd_decode(const struct cps_options *opt);

#define MOST_PACKETS UINT64_C(100000000) /* of a submission, without firmware */

/* One capture on its way. */
struct job {
    const struct cps_stream *reads; /* for the line of progress */
    const struct cps_options *opt;
    const struct decode_filter *filter;
    struct cps_outfile *out;
    struct cps_names *names[CPS_CPU_COUNT]; /* those of the walk or of the run */
    struct decode decode;
    struct decode_text text;
    struct decode_summary *summary; /* or NULL */
    struct stream_walk *walk;       /* `walked`, or NULL */
    struct stream_walk walked;
    struct play *play;           /* or NULL */
    struct cps_buffers *buffers; /* without firmware; those of a run are the run's */
    struct play_account account; /* of the run */
    uint64_t packets;            /* shown or not */
    struct cps_err *err;         /* of writing, or of names that the filter has */
};

static void flush(struct job *job)
{
    tool_text(&job->text.out);
    if (!job->err)
        job->err = paint_write(job->out, &job->text.out);
    cps_buf_clear(&job->text.out);
}

/* Memory was short: what was seen since is no result. */
static bool is_lost(const struct job *job)
{
    const struct cps_mem *mem = job->walk                        ? job->walk->mem
                                : job->play && job->play->engine ? job->play->engine->mem
                                                                 : NULL;
    return job->err || (mem && cps_mem_failed(mem));
}

static void take_packet(void *context, const struct decode_packet *packet)
{
    enum { ENOUGH = 64 << 10 };
    struct job *job = context;
    const struct cps_names *names = job->names[cps_event_who(&packet->head)];
    if (!job->packets++ && !job->err)
        job->err = decode_filter_check(job->filter, job->names);
    if (is_lost(job) || !decode_filter_takes(job->filter, names, packet))
        return;
    if (job->summary)
        decode_summary_packet(job->summary, job->filter, packet);
    else if (job->opt->json)
        decode_json_packet(&job->text, packet, &job->text.out);
    else
        decode_text_packet(&job->text, packet);
    if (job->text.out.size >= ENOUGH)
        flush(job);
}

static void begin(struct job *job, unsigned draws)
{
    job->decode.names = job->names;
    job->decode.each = take_packet;
    job->decode.context = job;
    decode_init(&job->decode, draws);
    job->text.names = job->names;
    job->text.filter = job->filter;
    job->text.walk = job->walk;
    job->text.buffers = job->play ? &job->play->buffers : &job->buffers;
    job->text.all = job->opt->all;
    paint_wanted(job->opt->colour, &job->text.colour);
    job->text.colour = job->text.colour && !job->opt->output;
}

/* ---- Without firmware ---- */

/* Shows the items to the buffers and to the walk. */
struct reader {
    struct cps_item_sink items; /* first */
    struct job *job;
};

static struct cps_err *take_item(struct cps_item_sink *items, const struct cps_item *item)
{
    struct job *job = ((struct reader *)items)->job;
    progress_stream(job->reads);
    CPS_TRY(cps_buffers_now(&job->buffers, item));
    return job->walked.items.item(&job->walked.items, item);
}

static struct cps_err *walk_through(struct job *job, struct cps_stream *stream)
{
    struct stream_walk *walk = &job->walked;
    *walk = (struct stream_walk){.sink = &job->decode.sink,
                                 .publish = &job->names[CPS_CPU_SQE],
                                 .rnn = job->opt->run.rnn,
                                 .gen = (enum cps_gen)job->opt->run.gen,
                                 .limit = opt_given(job->opt, "limit") ? job->opt->run.limit
                                                                       : MOST_PACKETS};
    job->walk = walk;
    job->reads = stream;
    begin(job, CPS_CPU_SQE);
    CPS_TRY(cps_buffers_create(&job->buffers));
    CPS_TRY(stream_walk_init(walk));
    struct reader reader = {{take_item}, job};
    cps_stream_set_rnn(stream, job->opt->run.rnn);
    struct cps_err *err = cps_capture_read(stream, NULL, &reader.items);
    err = cps_err_first_(err, cps_buffers_seal(job->buffers));
    if (!err)
        err = stream_walk_end(walk);
    decode_end(&job->decode);
    return err;
}

/* ---- With firmware ---- */

static void take_names(struct job *job)
{
    memcpy(job->names, job->play->names, sizeof(job->names));
    job->text.has_processors = play_has_processors(job->play);
}

static struct cps_err *run(struct job *job, const struct cps_options *opt, const char *path,
                           struct cps_stream *stream)
{
    struct play *play = job->play;
    play->trace = &job->decode.sink;
    play->buffers_of_now = true;
    CPS_TRY(cps_buffers_create(&play->buffers));
    cps_text_classes("default", &play->kinds);
    play->kinds |= 1u << CPS_EV_WORD;
    CPS_TRY(play_read_dump(play, stream));
    CPS_TRY(play_open(play, &opt->run, path));
    take_names(job);
    begin(job, cps_gen_row(play->gen)->draws);
    struct cps_err *err = play_run(play, stream);
    decode_end(&job->decode);
    return cps_err_first_(err, play_account_take(play, &job->account));
}

static bool has_firmware(const struct cps_options *opt)
{
    return opt->run.fw_count || opt->run.demo;
}

/* ---- Both ---- */

static int status_of(const struct job *job)
{
    if (job->play)
        return play_account_status(&job->account);
    return !job->packets || job->walk->full || job->walk->bad ? 4 : 0;
}

/* Submissions and draws that the options name, and the capture does not have. */
static struct cps_err *find_numbers(const struct job *job, const char *path)
{
    const struct decode_filter *filter = job->filter;
    uint32_t count = job->decode.launches.count;
    uint32_t submissions = job->walk ? job->walk->submissions : job->play->submissions;
    if (filter->submit >= 0 && (uint64_t)filter->submit >= submissions)
        return cps_err_new(CPS_ERR_INPUT,
                           "%s: there is no submission %ld, found %" PRIu32 " of them", path,
                           filter->submit, submissions);
    if (!filter->has_draw || filter->first_draw < count || (!filter->first_draw && !count))
        return NULL;
    return cps_err_new(CPS_ERR_INPUT, "%s: there is no draw %" PRIu64 ", found %" PRIu32 " of them",
                       path, filter->first_draw, count);
}

/* Of what was not decoded to its end, it stays undecided whether there would be more. */
static struct cps_err *check_numbers(const struct job *job, const char *path)
{
    struct cps_err *err = find_numbers(job, path);
    if (!err || !status_of(job))
        return err;
    report_note("decode", err);
    cps_err_free(err);
    return NULL;
}

/* What was decoded, and what was not. */
static void add_account(const struct job *job, struct json_object *to)
{
    struct json_object *run = cps_json_new_object(to, "run");
    if (job->play) {
        play_account_json(&job->account, run);
        return;
    }
    doc_put(run,
            "status=%d submissions=%u packets=%" PRIu64 " missing_streams=%" PRIu64
            " bad_headers=%" PRIu64 " limit?=%d",
            status_of(job), job->walk->submissions, job->packets, job->walk->missing,
            job->walk->bad, job->walk->full);
}

/* The summary, or the last line of JSON Lines; of an error, its message says what became of it. */
static void finish_output(struct job *job, bool complete)
{
    bool pretty = job->summary != NULL;
    if (!pretty && !job->opt->json)
        return;
    struct json_object *root =
        pretty ? decode_summary_tree(job->summary) : json_object_new_object();
    if (job->opt->json) {
        doc_strip(root);
        cps_json_text(root, "capture", job->text.capture);
        if (complete)
            add_account(job, root);
        cps_json_put(&job->text.out, root,
                     (pretty ? JSON_C_TO_STRING_PRETTY : JSON_C_TO_STRING_PLAIN) |
                         JSON_C_TO_STRING_NOSLASHESCAPE);
        cps_buf_str(&job->text.out, "\n");
    } else {
        doc_text(root, DECODE_SUMMARY, &job->text.out);
    }
    json_object_put(root);
}

/* What was not decoded, on stderr. @return the status */
static int say_rest(const struct job *job, const char *path)
{
    if (job->play)
        return summary_print_stop(&job->account, path);
    if (!job->packets)
        fprintf(stderr,
                "%s: nothing decoded: of %" PRIu32 " submissions the capture has no packet\n", path,
                job->walk->submissions);
    if (job->walk->missing)
        report_aside("%s: streams that are not in the capture: %" PRIu64 "\n", path,
                     job->walk->missing);
    if (job->walk->bad)
        fprintf(stderr, "%s: invalid packet headers: %" PRIu64 "\n", path, job->walk->bad);
    if (job->walk->full)
        fprintf(stderr, "%s: the limit of %" PRIu64 " packets was reached\n", path,
                job->walk->limit);
    return status_of(job);
}

static struct cps_err *decode(struct job *job, const char *path, int *status)
{
    struct cps_options opt = *job->opt;
    struct cps_stream *stream = NULL;
    opt.run.submit = -1; /* what is shown depends on what ran before */
    CPS_TRY(play_stream(path, &stream));
    struct cps_err *err = job->play ? run(job, &opt, path, stream) : walk_through(job, stream);
    cps_stream_close(stream);
    if (!err || (err->code != CPS_ERR_NOMEM && job->summary))
        finish_output(job, !err);
    flush(job);
    err = cps_err_first_(err, CPS_TAKE(job->err));
    err = err ? err : check_numbers(job, path ? path : "demo.pm4");
    if (!err)
        *status = say_rest(job, path ? path : "demo.pm4");
    return err;
}

/* One capture. */
static struct cps_err *one(const struct cps_options *opt, const struct decode_filter *filter,
                           struct cps_outfile *out, const char *path, int *status)
{
    struct job job = {.opt = opt, .filter = filter, .out = out};
    if (opt->arg_count > 1 && opt->json)
        job.text.capture = path;
    else if (opt->arg_count > 1)
        cps_buf_printf(&job.text.out, "%s:\n", path);
    if (has_firmware(opt))
        job.play = tool_alloc(1, sizeof(*job.play));
    if (opt->summary)
        job.summary = decode_summary_create(job.names);
    struct cps_err *err = decode(&job, path, status);
    cps_buf_deinit(&job.text.out);
    decode_summary_destroy(job.summary);
    decode_deinit(&job.decode);
    stream_walk_deinit(&job.walked);
    cps_buffers_destroy(job.buffers);
    if (job.play)
        play_close(job.play);
    free(job.play);
    return err;
}

static struct cps_err *all(const struct cps_options *opt, const struct decode_filter *filter,
                           int *status)
{
    struct cps_outfile *out = NULL;
    struct cps_err *err = NULL;
    unsigned skipped = 0;
    CPS_TRY(cps_outfile_open(opt->output ? opt->output : "-", &out));
    for (unsigned i = 0; i < (opt->arg_count ? opt->arg_count : 1) && !err; i++) {
        int one_status = 0;
        progress_part("capture", i + 1, opt->arg_count);
        err = one(opt, filter, out, opt->arg_count ? opt->arg[i] : NULL, &one_status);
        err = report_skip(err, opt->arg, opt->arg_count, i, &skipped);
        *status = one_status > *status ? one_status : *status;
    }
    bool keeps = !err || !opt->output; /* of stdout nothing can be taken back */
    if (keeps)
        return cps_err_first_(err, cps_outfile_commit(out));
    cps_outfile_abort(out);
    return err;
}

/* Options that shape a run; without firmware nothing runs. */
static const char *of_a_run(const struct cps_options *opt)
{
    static const char *const names[] = {"as",     "chip-id", "inject",     "all",
                                        "policy", "waits",   "visibility", "prefetch"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (opt_given(opt, names[i]))
            return names[i];
    }
    return NULL;
}

static int check(const struct cps_options *opt)
{
    const char *unused = has_firmware(opt) ? NULL : of_a_run(opt);
    if (!opt->arg_count && !opt->run.demo)
        return report_usage("decode takes captures (\"-\" is stdin), or --demo");
    if (unused)
        return report_usage("--%s is about a run: decode it with --fw, or --demo", unused);
    return 0;
}

int cmd_decode(const struct cps_options *opt)
{
    struct decode_filter filter;
    int status = check(opt);
    if (status)
        return status;
    struct cps_err *err = decode_filter_read(opt, &filter);
    if (err)
        return report_error(err);
    pager_begin(!opt->output && !opt->no_pager);
    err = all(opt, &filter, &status);
    status = err ? report_error(err) : status;
    pager_end();
    return status;
}
