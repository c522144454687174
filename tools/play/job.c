/* SPDX-License-Identifier: MIT
 * One firmware over one capture, in memory. */
#include "tools/play/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fw/demo/demo.h"
#include "tools/peer/peer.h"

/* 4 GiB of records: far beyond what two traces can be compared in. */
#define MAX_EVENTS (UINT64_C(1) << 28)

void job_keep(struct job *job, const struct cps_event *events, size_t count)
{
    size_t room = job->room ? job->room : 4096;
    while (room < job->count + count)
        room *= 2;
    if (room != job->room && room <= MAX_EVENTS) {
        struct cps_event *more = realloc(job->event, room * sizeof(*more));
        if (more) {
            job->event = more;
            job->room = room;
        }
    }
    if (job->count + count > job->room) {
        job->lost = true;
        return;
    }
    if (count)
        memcpy(job->event + job->count, events, count * sizeof(*events));
    job->count += count;
}

static struct cps_err *read_trace(struct cps_stream *stream, const char *path,
                                  struct cps_trace_head *head, struct job *ret)
{
    struct cps_trace *trace = NULL;
    struct cps_event events[1024];
    size_t count = 1;
    struct cps_err *err = cps_trace_open(stream, &trace);
    if (!err && head)
        err = cps_trace_head_parse(path, cps_trace_head(trace)->text, head);
    while (!err && count) {
        err = cps_trace_next(trace, events, 1024, &count);
        job_keep(ret, events, count);
    }
    cps_trace_close(trace);
    return err ? err : ret->lost ? cps_err_nomem() : NULL;
}

struct cps_err *job_read(const char *path, struct cps_trace_head *head, struct job *ret)
{
    struct cps_stream *stream = NULL;
    CPS_TRY(cps_stream_open(path, &stream));
    struct cps_err *err = read_trace(stream, path, head, ret);
    cps_stream_close(stream);
    return err;
}

static void put(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    job_keep((struct job *)((char *)sink - offsetof(struct job, sink)), events, count);
}

static struct cps_err *open_capture(const char *path, struct cps_stream **ret)
{
    if (path)
        return cps_stream_open(path, ret);
    return cps_stream_open_memory("demo.pm4", cps_demo_pm4, cps_demo_pm4_size, ret);
}

static void finish(struct job *job, const struct rig *rig)
{
    const struct cps_stats *stats = cps_machine_stats(rig->machine);
    CPS_BUF why = {0};
    job->stop = rig->stop;
    job->instructions = stats->instructions;
    job->packets = stats->packets;
    if (rig->stop == CPS_STOP_IDLE)
        return;
    cps_machine_explain(rig->machine, rig->stop, &why);
    snprintf(job->why, sizeof(job->why), "%s", cps_buf_text(&why));
}

/* Counters of the cores are parts of one array, so that a place of the image has one, whichever
 * core ran it. a5xx: only the PFP is counted, the ME's image is another file. */
static struct cps_err *start_cover(struct job *job, struct rig *rig)
{
    job->cover_count = rig->fw->count + 1;
    job->cover = calloc(job->cover_count, sizeof(*job->cover));
    if (!job->cover)
        return cps_err_nomem();
    for (unsigned i = 0; i < cps_machine_core_count(rig->machine); i++) {
        uint32_t start = i < rig->fw->part_count ? rig->fw->part[i].start : 0;
        if (cps_machine_core_who(rig->machine, i) != CPS_CPU_ME)
            cps_machine_cover(rig->machine, i, job->cover + start, job->cover_count - start);
    }
    return NULL;
}

static struct cps_err *play(const struct job_setup *setup, struct rig *rig, const char *capture,
                            struct job *job)
{
    struct cps_stream *stream = NULL;
    if (setup->cover)
        CPS_TRY(start_cover(job, rig));
    CPS_TRY(open_capture(capture, &stream));
    struct cps_err *err = rig_play(rig, stream);
    cps_stream_close(stream);
    finish(job, rig);
    if (!err && job->lost)
        err = cps_err_nomem();
    return err;
}

static struct cps_options options_for(const struct job_setup *setup, const char *const firmware[2])
{
    struct cps_options opt = *setup->opt;
    opt.fw[0] = firmware[0];
    opt.fw[1] = firmware[1];
    opt.fw_count = firmware[0] ? firmware[1] ? 2 : 1 : 0;
    opt.demo = !firmware[0];
    opt.submit = -1;
    return opt;
}

static struct cps_err *open_rig(const struct job_setup *setup, const struct cps_options *opt,
                                struct job *job, struct rig **ret)
{
    *job = (struct job){.sink = {put}};
    *ret = calloc(1, sizeof(**ret));
    if (!*ret)
        return cps_err_nomem();
    (*ret)->kinds = setup->kinds;
    (*ret)->trace = &job->sink;
    return rig_open(*ret, opt);
}

static void close_rig(struct rig *rig)
{
    if (rig)
        rig_close(rig);
    free(rig);
}

/* Events and counters of the boot come first. */
static struct cps_err *begin_from(struct rig *rig, const struct job_boot *boot, struct job *job)
{
    CPS_TRY(rig_adopt(rig, boot->machine));
    job_keep(job, boot->job.event, boot->job.count);
    return NULL;
}

static void add_cover(struct job *job, const struct job *boot)
{
    for (uint32_t i = 0; job->cover && i < boot->cover_count && i < job->cover_count; i++) {
        job->cover[i].run += boot->cover[i].run;
        job->cover[i].taken += boot->cover[i].taken;
    }
}

/* A script instead of firmware and capture. */
static struct cps_err *run_script(const struct job_setup *setup, unsigned gen, const char *path,
                                  struct job *ret)
{
    struct peer peer = {.trace = &ret->sink, .kinds = setup->kinds, .limit = setup->opt->limit};
    *ret = (struct job){.sink = {put}};
    struct cps_err *err =
        path ? peer_open(&peer, cps_gen_isa((enum cps_gen)gen), gen, path, setup->opt)
             : cps_err_new(CPS_ERR_INPUT, "expected a script");
    if (!err)
        err = peer_play(&peer);
    if (!err) {
        ret->stop = peer.stop;
        ret->instructions = peer.engine->instructions;
        ret->packets = peer.engine->starts;
        snprintf(ret->why, sizeof(ret->why), "%s", peer.why);
    }
    peer_close(&peer);
    return !err && ret->lost ? cps_err_nomem() : err;
}

struct cps_err *job_run(const struct job_setup *setup, const char *const firmware[2],
                        const char *capture, const struct job_boot *boot, struct job *ret)
{
    if (firmware[0] && peer_firmware(firmware[0]))
        return run_script(setup, peer_firmware(firmware[0]), capture, ret);
    struct cps_options opt = options_for(setup, firmware);
    struct rig *rig = NULL;
    struct cps_err *err = open_rig(setup, &opt, ret, &rig);
    if (!err && boot && boot->machine)
        err = begin_from(rig, boot, ret);
    if (!err)
        err = play(setup, rig, capture, ret);
    if (!err && boot && boot->machine && setup->cover)
        add_cover(ret, &boot->job);
    close_rig(rig);
    return err;
}

struct cps_err *job_boot(const struct job_setup *setup, const char *const firmware[2],
                         struct job_boot *ret)
{
    struct cps_options opt = options_for(setup, firmware);
    struct rig *rig = NULL;
    *ret = (struct job_boot){0};
    struct cps_err *err = open_rig(setup, &opt, &ret->job, &rig);
    if (!err && rig->fw->gen != CPS_A5XX && setup->cover)
        err = start_cover(&ret->job, rig);
    if (!err && rig->fw->gen != CPS_A5XX) {
        rig_boot(rig);
        cps_machine_sink(rig->machine, NULL, 0);
        ret->machine = rig->stopped ? NULL : rig->machine;
        rig->machine = rig->stopped ? rig->machine : NULL;
    }
    close_rig(rig);
    return err;
}

void job_boot_deinit(struct job_boot *boot)
{
    cps_machine_destroy(boot->machine);
    job_deinit(&boot->job);
}

void job_deinit(struct job *job)
{
    free(job->event);
    free(job->cover);
    *job = (struct job){0};
}
