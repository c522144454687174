/* SPDX-License-Identifier: MIT
 * Runs of PM4 texts on a firmware. */
#include "tools/explain/audit/probe.h"

#include <stdlib.h>
#include <string.h>

#include "trace/form/text.h"

/* Boots of shipped firmware and the texts of audit take some ten thousand instructions. */
#define LIMIT 2000000u

static void put(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    record_keep((struct record *)((char *)sink - offsetof(struct record, sink)), events, count);
}

/* @p fw  NULL: what the options name */
static struct cps_err *open_play(struct probe *probe, struct cps_fw *fw)
{
    probe->record.sink.put = put;
    probe->play = calloc(1, sizeof(*probe->play));
    if (!probe->play) {
        cps_fw_destroy(fw);
        return cps_err_nomem();
    }
    probe->play->fw = fw;
    probe->play->trace = &probe->record.sink;
    return play_open(probe->play, &probe->opt, NULL);
}

struct cps_err *probe_open(struct probe *probe, const struct cps_options *opt,
                           const char *const firmware[2])
{
    *probe = (struct probe){.opt = {.gen = opt->gen, .limit = LIMIT, .submit = -1}};
    probe->opt.fw[0] = firmware[0];
    probe->opt.fw[1] = firmware[1];
    probe->opt.fw_count = firmware[1] ? 2 : 1;
    return open_play(probe, NULL);
}

struct cps_err *probe_open_image(struct probe *probe, const struct cps_options *opt,
                                 struct cps_fw *fw)
{
    *probe = (struct probe){.opt = {.gen = opt->gen, .limit = LIMIT, .submit = -1}};
    probe->covers = fw->count + 1;
    probe->cover = calloc(probe->covers, sizeof(*probe->cover));
    if (!probe->cover) {
        cps_fw_destroy(fw);
        return cps_err_nomem();
    }
    return open_play(probe, fw);
}

void probe_close(struct probe *probe)
{
    if (probe->play)
        play_close(probe->play);
    free(probe->play);
    record_deinit(&probe->record);
    cps_buf_deinit(&probe->why);
    free(probe->cover);
}

/* The processor of the image's first part; images of dumps have no other. */
static void count_words(struct probe *probe)
{
    if (!probe->cover)
        return;
    memset(probe->cover, 0, probe->covers * sizeof(*probe->cover));
    cps_engine_cover(probe->play->engine, 0, probe->cover, probe->covers);
}

static struct cps_err *run(struct probe *probe, struct cps_stream *stream, uint32_t kinds)
{
    struct play *play = probe->play;
    play->kinds = kinds;
    play->gpu = 0;
    play->stop = CPS_STOP_IDLE;
    probe->record.count = 0;
    probe->stopped = false;
    cps_buf_clear(&probe->why);
    CPS_TRY(play_restart(play));
    count_words(probe);
    CPS_TRY(play_run(play, stream));
    cps_engine_sink(play->engine, NULL, 0);
    probe->stopped = play->stop != CPS_STOP_IDLE;
    if (probe->stopped)
        play_explain(play, play->engine, play->stop, &probe->why);
    if (probe->stopped && !probe->why.size)
        cps_buf_str(&probe->why, "more instructions than a run may have");
    return probe->record.lost || probe->why.failed ? cps_err_nomem() : NULL;
}

struct cps_err *probe_run(struct probe *probe, const char *name, const char *text, size_t size,
                          uint32_t kinds)
{
    struct cps_stream *stream = NULL;
    CPS_TRY(cps_stream_open_memory(name, text, size, &stream));
    struct cps_err *err = run(probe, stream, kinds);
    cps_stream_close(stream);
    return err;
}

void probe_text(const struct probe *probe, const struct cps_event *event, struct cps_buf *out)
{
    CPS_BUF line = {0};
    cps_text_event(&line, event, probe->play->names[cps_event_who(event) % CPS_CPU_COUNT],
                   play_has_processors(probe->play));
    cps_buf_add(out, cps_buf_text(&line), strcspn(cps_buf_text(&line), "\n"));
    out->failed |= line.failed;
}
