/* SPDX-License-Identifier: MIT
 * cpscope decode: a capture as annotated text; with firmware, the packets that executed and their
 * effects. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/mem.h"
#include "isa/base/within.h"
#include "tools/cmd/options/opt_engine.h"
#include "tools/cmd/render/doc.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/cmd/terminal/paint.h"
#include "tools/cmd/terminal/progress.h"
#include "tools/cmd/terminal/report.h"
#include "tools/explain/decode/decode.h"
#include "tools/explain/summary/summary.h"
#include "tools/run/account.h"
#include "tools/run/play.h"
#include "trace/out/json.h"

int cmd_decode(const struct cps_options *opt);

#define MOST_PACKETS UINT64_C(100000000) /* of a submission, without firmware */

/* One capture on its way. */
struct job {
    struct cps_item_sink items; /* first: without firmware, gets the capture */
    const struct cps_options *opt;
    const struct decode_filter *filter;
    struct cps_outfile *out;
    struct cps_names *names[CPS_CPU_COUNT]; /* those of the walk or of the run */
    struct decode decode;
    struct decode_text text;
    struct decode_summary *summary; /* or NULL */
    struct stream_walk walk;        /* without firmware */
    struct play *play;              /* with firmware, else NULL */
    const struct cps_stream *reads; /* for the line of progress */
    struct cps_buffers *buffers;    /* without firmware; those of a run are the run's */
    struct play_account account;    /* of the run */
    uint64_t packets;               /* shown or not */
    struct cps_err *err;            /* of writing, or of names that the filter has */
};

static void flush(struct job *job)
{
    tool_text(&job->text.out);
    if (!job->err)
        job->err = paint_write(job->out, &job->text.out);
    cps_buf_clear(&job->text.out);
}

static void take_packet(void *context, const struct decode_packet *packet)
{
    enum { ENOUGH = 64 << 10 };
    struct job *job = context;
    const struct cps_names *names = job->names[cps_event_who(&packet->head)];
    const struct cps_mem *mem = !job->play          ? job->walk.mem
                                : job->play->engine ? job->play->engine->mem
                                                    : NULL;
    if (!job->packets++ && !job->err)
        job->err = decode_filter_check(job->filter, job->names);
    /* packets after an error, or after memory was short, are no result */
    if (job->err || (mem && cps_mem_failed(mem)) ||
        !decode_filter_takes(job->filter, names, packet))
        return;
    if (job->summary)
        decode_summary_packet(job->summary, names, job->filter, packet);
    else if (job->opt->json)
        decode_json_packet(&job->text, packet, &job->text.out);
    else
        decode_text_packet(&job->text, packet);
    if (job->text.out.size >= ENOUGH)
        flush(job);
}

static void begin_packets(struct job *job, unsigned draws, uint32_t kinds)
{
    job->decode.names = job->names;
    job->decode.each = take_packet;
    job->decode.context = job;
    decode_init(&job->decode, draws, kinds);
    job->text.names = job->names;
    job->text.filter = job->filter;
    job->text.walk = job->play ? NULL : &job->walk;
    job->text.buffers = job->play ? &job->play->buffers : &job->buffers;
    job->text.all = job->opt->all;
    paint_wanted(job->opt->colour, &job->text.colour);
    job->text.colour = job->text.colour && !job->opt->output;
}

/* ---- Without firmware ---- */

static struct cps_err *take_item(struct cps_item_sink *items, const struct cps_item *item)
{
    struct job *job = (struct job *)items;
    progress_stream(job->reads);
    CPS_TRY(cps_buffers_now(&job->buffers, item));
    return job->walk.items.item(&job->walk.items, item);
}

static struct cps_err *walk_capture(struct job *job, struct cps_stream *stream)
{
    const struct cps_options *opt = job->opt;
    job->walk =
        (struct stream_walk){.sink = &job->decode.sink,
                             .publish = &job->names[CPS_CPU_SQE],
                             .rnn = opt->run.rnn,
                             .gen = (enum cps_gen)opt->run.gen,
                             .limit = opt_given(opt, "limit") ? opt->run.limit : MOST_PACKETS};
    job->items.item = take_item;
    job->reads = stream;
    begin_packets(job, CPS_CPU_SQE, 1u << CPS_EV_WORD);
    CPS_TRY(cps_buffers_create(&job->buffers));
    CPS_TRY(stream_walk_init(&job->walk));
    cps_stream_set_rnn(stream, opt->run.rnn);
    struct cps_err *err = cps_capture_read(stream, NULL, &job->items);
    err = cps_err_first_(err, cps_buffers_seal(job->buffers));
    if (!err)
        err = stream_walk_end(&job->walk);
    decode_end(&job->decode);
    return err;
}

/* ---- With firmware ---- */

static struct cps_err *run_capture(struct job *job, const char *path, struct cps_stream *stream)
{
    struct play *play = job->play;
    struct cps_run_config config = job->opt->run;
    config.submit = -1; /* packets that are shown depend on what ran before */
    play->trace = &job->decode.sink;
    play->buffers_of_now = true;
    CPS_TRY(cps_buffers_create(&play->buffers));
    cps_text_classes("default", &play->kinds);
    play->kinds |= 1u << CPS_EV_WORD | 1u << CPS_EV_LAUNCH;
    CPS_TRY(play_read_dump(play, stream));
    CPS_TRY(play_open(play, &config, path));
    memcpy(job->names, play->names, sizeof(job->names));
    job->text.has_processors = play_has_processors(play);
    begin_packets(job, cps_gen_row(play->gen)->draws, play->kinds);
    struct cps_err *err = play_run(play, stream);
    decode_end(&job->decode);
    return cps_err_first_(err, play_account_take(play, &job->account));
}

/* ---- Both ---- */

static int status_of(const struct job *job)
{
    if (job->play)
        return play_account_status(&job->account);
    return !job->packets || job->walk.full || job->walk.bad ? 4 : 0;
}

/* Rejects submissions and draws that the options name, and the capture does not have. Where it was
 * not decoded to its end, it is undecided whether there would be more. */
static struct cps_err *check_numbers(const struct job *job, const char *path)
{
    const struct decode_filter *filter = job->filter;
    const struct decode_range *draws = &filter->draws;
    uint32_t count = job->decode.launches.count;
    uint32_t submissions = job->play ? job->play->submissions : job->walk.submissions;
    struct cps_err *err = NULL;
    if (filter->submit >= 0 && (uint64_t)filter->submit >= submissions)
        err = cps_err_new(CPS_ERR_INPUT,
                          "no submission %ld: %s has %" PRIu32 " submission%s (numbered from 0)",
                          filter->submit, path, submissions, submissions == 1 ? "" : "s");
    else if (draws->given && draws->first >= count && (draws->first || count))
        err = cps_err_new(CPS_ERR_INPUT,
                          "no draw %" PRIu64 ": %s has %" PRIu32 " draw%s (numbered from 0)",
                          draws->first, path, count, count == 1 ? "" : "s");
    if (!err || !status_of(job))
        return err;
    report_note("decode", err);
    cps_err_free(err);
    return NULL;
}

/* The summary, or the last line of JSON Lines. After an error there is no account of the run. */
static void put_end(struct job *job, bool complete)
{
    bool is_summary = job->summary != NULL;
    if (!is_summary && !job->opt->json)
        return;
    struct json_object *root = is_summary ? decode_summary_tree(job->summary) : doc_new();
    if (job->opt->json) {
        doc_strip(root);
        cps_json_text(root, "capture", job->text.capture);
        struct json_object *run = complete ? cps_json_new_object(root, "run") : NULL;
        if (complete && job->play)
            play_account_json(&job->account, run);
        else if (complete)
            doc_put(run,
                    "status=%d submissions=%u packets=%" PRIu64 " missing_streams=%" PRIu64
                    " bad_headers=%" PRIu64 " limit?=%d",
                    status_of(job), job->walk.submissions, job->packets, job->walk.missing,
                    job->walk.bad, job->walk.full);
        cps_json_put(&job->text.out, root,
                     (is_summary ? JSON_C_TO_STRING_PRETTY : JSON_C_TO_STRING_PLAIN) |
                         JSON_C_TO_STRING_NOSLASHESCAPE);
        cps_buf_str(&job->text.out, "\n");
    } else {
        doc_text(root, DECODE_SUMMARY, &job->text.out);
    }
    json_object_put(root);
}

/* Reports missing and invalid parts on stderr. @return the status */
static int report_rest(const struct job *job, const char *path)
{
    const struct stream_walk *walk = &job->walk;
    if (job->play)
        return summary_print_stop(&job->account, path);
    if (!job->packets)
        fprintf(stderr,
                "%s: nothing decoded: the capture has no packets of its %" PRIu32 " submission%s\n",
                path, walk->submissions, walk->submissions == 1 ? "" : "s");
    if (walk->missing)
        report_aside("%s: indirect buffers missing from the capture: %" PRIu64 "\n", path,
                     walk->missing);
    if (walk->bad)
        fprintf(stderr, "%s: invalid packet headers: %" PRIu64 "\n", path, walk->bad);
    if (walk->full)
        fprintf(stderr, "%s: the limit of %" PRIu64 " packets was reached\n", path, walk->limit);
    return status_of(job);
}

static struct cps_err *decode(struct job *job, const char *path, int *status)
{
    const char *name = path ? path : "demo.pm4";
    struct cps_stream *stream = NULL;
    CPS_TRY(play_stream(path, &stream));
    struct cps_err *err = job->play ? run_capture(job, path, stream) : walk_capture(job, stream);
    cps_stream_close(stream);
    if (!err || (err->code != CPS_ERR_NOMEM && job->summary))
        put_end(job, !err);
    flush(job);
    err = cps_err_first_(err, CPS_TAKE(job->err));
    err = err ? err : check_numbers(job, name);
    if (!err)
        *status = report_rest(job, name);
    return err;
}

/* Options that shape a run; without firmware nothing runs. */
static const char *find_run_option(const struct cps_options *opt)
{
    static const char *const names[] = {"as",    "chip-id",    "inject",   "all",       "policy",
                                        "waits", "visibility", "prefetch", "no-recover"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (opt_given(opt, names[i]))
            return names[i];
    }
    return NULL;
}

static struct cps_err *decode_all(const struct cps_options *opt, int *status)
{
    const struct decode_selection selection = {opt->packet, opt->registers, opt->address,
                                               opt->draws,  opt->level,     opt->run.submit};
    bool has_firmware = opt->run.fw_count || opt->run.demo;
    const char *unused = has_firmware ? NULL : find_run_option(opt);
    struct decode_filter filter;
    struct cps_outfile *out = NULL;
    struct cps_err *err = NULL;
    unsigned skipped = 0;
    if (!opt->arg_count && !opt->run.demo)
        return cps_err_new(CPS_ERR_USAGE, "decode takes captures (\"-\" is stdin), or --demo");
    if (unused)
        return cps_err_new(CPS_ERR_USAGE, "--%s is about a run: decode it with --fw, or --demo",
                           unused);
    CPS_TRY(decode_filter_read(&selection, &filter));
    pager_begin(!opt->output && !opt->no_pager);
    CPS_TRY(cps_outfile_open(opt->output ? opt->output : "-", &out));
    for (unsigned i = 0; i < (opt->arg_count ? opt->arg_count : 1) && !err; i++) {
        const char *path = opt->arg_count ? opt->arg[i] : NULL;
        struct job job = {.opt = opt, .filter = &filter, .out = out};
        int one = 0;
        progress_part("capture", i + 1, opt->arg_count);
        if (opt->arg_count > 1 && opt->json)
            job.text.capture = path;
        else if (opt->arg_count > 1)
            cps_buf_printf(&job.text.out, "%s:\n", path);
        if (has_firmware)
            job.play = tool_alloc(1, sizeof(*job.play));
        if (opt->summary)
            job.summary = tool_alloc(1, sizeof(*job.summary));
        err = report_skip(decode(&job, path, &one), opt->arg, opt->arg_count, i, &skipped);
        one = skipped ? 4 : one;
        *status = one > *status ? one : *status;
        cps_buf_deinit(&job.text.out);
        decode_deinit(&job.decode);
        stream_walk_deinit(&job.walk);
        cps_buffers_destroy(job.buffers);
        if (job.play)
            play_close(job.play);
        free(job.play);
        free(job.summary);
    }
    if (!err || !opt->output) /* of stdout nothing can be taken back */
        return cps_err_first_(err, cps_outfile_commit(out));
    cps_outfile_abort(out);
    return err;
}

int cmd_decode(const struct cps_options *opt)
{
    int status = 0;
    struct cps_err *err = decode_all(opt, &status);
    status = err ? report_error(err) : status;
    pager_end();
    return status;
}
