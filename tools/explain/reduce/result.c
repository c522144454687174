/* SPDX-License-Identifier: MIT
 * The result as a file, and the proof that this file ends as the whole job did. */
#include "tools/explain/reduce/reduce.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/cmd/terminal/oom.h"
#include "tools/run/files.h"
#include "trace/capture/pm4text.h"
#include "trace/capture/rd_write.h"

void reduce_comment(const char *from, const char *text, struct cps_buf *ret)
{
    size_t first = strcspn(from, "\n") + 1;
    cps_buf_add(ret, from, first);
    while (*text) {
        int length = (int)strcspn(text, "\n");
        cps_buf_printf(ret, "; %.*s\n", length, text);
        text += length + (text[length] == '\n');
    }
    cps_buf_str(ret, from + first);
}

static struct cps_err *write_text(const struct reduce *r, struct cps_buf *ret)
{
    struct feed feed = {0};
    CPS_BUF plain = {0};
    /* Items as a file has them: readers boot in front of submissions by themselves, and what
     * forgets nothing is left out. */
    const struct job *job = &r->job;
    const struct cps_item reset = {.kind = CPS_ITEM_RESET};
    bool ring = job_has(job, CPS_ITEM_RING);
    bool filled = false;
    bool pending = false;
    for (size_t i = 0; i < job->count; i++) {
        enum cps_item_kind kind = job->item[i].kind;
        pending |= kind == CPS_ITEM_RESET && filled;
        if (kind == CPS_ITEM_RESET || (kind == CPS_ITEM_INIT && !ring))
            continue;
        if (pending)
            job_list(&feed, &reset);
        filled = (filled && !pending) || kind == CPS_ITEM_DATA;
        pending = false;
        job_list(&feed, &job->item[i]);
    }
    struct cps_err *err = cps_pm4text_write(feed.item, feed.count, &plain);
    feed_deinit(&feed);
    CPS_TRY(err);
    reduce_comment(tool_text(&plain), tool_text(&r->whole.loose), ret);
    return NULL;
}

static struct cps_err *prove_job(struct reduce *r, struct cps_stream *stream, struct job *job)
{
    struct play *play = r->runner.side[0].play;
    bool same = false;
    play->gpu = 0;
    CPS_TRY(play_gather(play, stream));
    job_init(job, &play->feed);
    CPS_TRY(runner_boot(&r->runner, job));
    CPS_TRY(reduce_same(r, job, &same));
    return same ? NULL
                : cps_err_new(CPS_ERR_UNSUPPORTED,
                              "%s: the result does not end as the whole job does: its format "
                              "cannot hold all of it",
                              cps_stream_name(stream));
}

/* Reads and runs a capture as any other command does: without the dump that it has come from. */
static struct cps_err *prove(struct reduce *r, struct cps_stream *stream)
{
    struct dump *dump = r->runner.side[0].play->dump;
    struct job job = {0};
    for (unsigned i = 0; i < r->runner.sides; i++)
        r->runner.side[i].play->dump = NULL;
    struct cps_err *err = prove_job(r, stream, &job);
    for (unsigned i = 0; i < r->runner.sides; i++)
        r->runner.side[i].play->dump = dump;
    job_deinit(&job);
    return err;
}

struct cps_err *reduce_text(struct reduce *r, struct cps_buf *ret)
{
    struct cps_stream *stream = NULL;
    CPS_TRY(write_text(r, ret));
    CPS_TRY(cps_stream_open_memory("the result", cps_buf_text(ret), ret->size, &stream));
    struct cps_err *err = prove(r, stream);
    cps_stream_close(stream);
    return err;
}

/* NAME.rd, NAME.rd.gz, NAME.rd.zst */
static bool is_rd(const char *path)
{
    const char *end = strstr(path, ".rd");
    while (end && strcmp(end, ".rd") != 0 && strcmp(end, ".rd.gz") != 0 &&
           strcmp(end, ".rd.zst") != 0)
        end = strstr(end + 1, ".rd");
    return end != NULL;
}

static struct cps_err *fill(const struct cps_buf *text, struct cps_outfile *out, const char *path)
{
    struct cps_stream *stream = NULL;
    if (!is_rd(path)) {
        cps_outfile_write(out, cps_buf_text(text), text->size);
        return NULL;
    }
    CPS_TRY(cps_stream_open_memory(path, cps_buf_text(text), text->size, &stream));
    struct cps_err *err = cps_rd_write(stream, out, path);
    cps_stream_close(stream);
    return err;
}

static struct cps_err *prove_file(struct reduce *r, const char *path)
{
    struct cps_stream *stream = NULL;
    CPS_TRY(cps_stream_open(path, &stream));
    struct cps_err *err = prove(r, stream);
    cps_stream_close(stream);
    if (err)
        unlink(path);
    return err;
}

struct cps_err *reduce_write(struct reduce *r, const struct cps_buf *text, const char *path)
{
    struct cps_outfile *out = NULL;
    CPS_TRY(cps_outfile_open(path, &out));
    struct cps_err *err = fill(text, out, path);
    if (err) {
        cps_outfile_abort(out);
        return err;
    }
    CPS_TRY(cps_outfile_commit(out));
    return strcmp(path, "-") != 0 && files_is_regular(path) ? prove_file(r, path) : NULL;
}
