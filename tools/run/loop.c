/* SPDX-License-Identifier: MIT
 * The one loop: items go in, the engine runs as far as each of them goes. */
#include "tools/run/play.h"
#include "isa/base/within.h"

#include <inttypes.h>
#include <string.h>

#include "emu/afuc/afuc.h"
#include "fw/demo/demo.h"

const char play_nothing[] = "nothing.pm4";

struct cps_err *play_stream(const char *path, struct cps_stream **ret)
{
    static const char nothing[] = "# cpscope-pm4 1\n";
    if (path == play_nothing)
        return cps_stream_open_memory(path, nothing, sizeof(nothing) - 1, ret);
    if (path)
        return cps_stream_open(path, ret);
    return cps_stream_open_memory("demo.pm4", cps_demo_pm4, cps_demo_pm4_size, ret);
}

static void show_progress(const struct play *play)
{
    if (play->config->progress)
        play->config->progress(play->reads);
}

/* In slices, so that a sink can end it. */
static enum cps_stop run_until_enough(struct play *play, uint64_t ticks)
{
    enum { SLICE = 1 << 16 };
    enum cps_stop stop = CPS_STOP_BUDGET;
    while (stop == CPS_STOP_BUDGET && ticks && !play->enough) {
        uint64_t slice = ticks < SLICE ? ticks : SLICE;
        stop = cps_engine_run(play->engine, slice);
        show_progress(play);
        ticks -= slice;
    }
    return stop;
}

static void run(struct play *play, uint64_t ticks)
{
    if (play->stopped)
        return;
    play->stop =
        play->may_end ? run_until_enough(play, ticks) : cps_engine_run(play->engine, ticks);
    play->stopped = play->stop != CPS_STOP_IDLE || play->enough;
}

/* The bootstrap runs before anything acts. */
static void begin(struct play *play)
{
    if (play->begun)
        return;
    play->begun = true;
    play_watch(play);
    run(play, play->config->limit);
}

void play_boot(struct play *play)
{
    const struct cps_item init = {.kind = CPS_ITEM_INIT};
    begin(play);
    if (play->booted)
        return;
    play->booted = true;
    if (!play->stopped) {
        cps_err_free(cps_engine_feed(play->engine, &init)); /* what it lacks, the run says */
        run(play, play->config->limit);
    }
}

/* Whether anything of a stream is there. */
static bool is_captured(struct play *play, const struct cps_item *item)
{
    const struct cps_location at = {0, CPS_FILE_MEMORY, item->stream.iova};
    uint64_t word = 0;
    return !item->stream.dwords || cps_engine_get(play->engine, at, &word);
}

struct cps_err *play_feed_submission(struct play *play, const struct cps_item *item, bool *runs)
{
    struct cps_item numbered = *item;
    uint32_t index = play->submissions++;
    *runs = false;
    play_boot(play);
    if (play->stopped || (play->config->submit >= 0 && (uint32_t)play->config->submit != index))
        return NULL;
    bool captured = is_captured(play, item);
    numbered.stream.index = index;
    if (cps_afuc_of(play->engine))
        play->ring_begin = cps_afuc_ring_end_(cps_afuc_of(play->engine), 0);
    play->ring_clock = play->engine->clock;
    play->ring_ends = item->stream.ticks ? play->ring_clock + item->stream.ticks : 0;
    CPS_TRY(cps_engine_feed(play->engine, &numbered));
    play->not_captured += !captured;
    play->executed += captured && item->stream.dwords != 0;
    play->fed |= captured;
    *runs = captured;
    return NULL;
}

/* Runs what the submission at hand has fed. */
static void run_submission(struct play *play)
{
    uint64_t limit = play->config->limit;
    uint64_t clock = play->engine->clock;
    uint64_t left = play->ring_ends > clock ? play->ring_ends - clock : 0;
    run(play, play->ring_ends && left < limit ? left : limit);
}

static struct cps_err *submit(struct play *play, const struct cps_item *item)
{
    bool runs = false;
    CPS_TRY(play_feed_submission(play, item, &runs));
    if (runs)
        run_submission(play);
    return NULL;
}

bool play_wants_fences(const struct play *play)
{
    switch ((enum cps_policy_ring)play->policy.ring) {
    case CPS_RING_CALLS:
        return false;
    case CPS_RING_MSM:
        return true;
    }
    return false;
}

static struct cps_err *end_submission(struct play *play, const struct cps_item *item)
{
    bool fed = play->fed || play->config->submit < 0;
    play->fed = false;
    if (!play_wants_fences(play) || !fed)
        return NULL;
    play_boot(play);
    if (play->stopped)
        return NULL;
    CPS_TRY(cps_engine_feed(play->engine, item));
    run_submission(play);
    return NULL;
}

const char *play_where(const struct cps_item *item)
{
    static const char *const where[] = {"", "ramin ", "memory ", "bar1 ", "bar2 "};
    return where[item->host.where];
}

void play_put_misses(uint64_t count, struct cps_buf *out)
{
    cps_buf_printf(out, "%" PRIu64 " read%s not what the run file expects", count,
                   count == 1 ? " is" : "s are");
}

void play_put_miss(const struct play *play, const struct cps_item *item, uint32_t answer,
                   struct cps_buf *out)
{
    cps_buf_printf(out,
                   "%s:%" PRIu32 ": %s0x%06" PRIx32 " reads 0x%08" PRIx32 ", expected 0x%08" PRIx32
                   " in the bits 0x%08" PRIx32 "\n",
                   play->script.name, item->line, play_where(item), item->host.addr, answer,
                   item->host.value, item->host.mask);
}

/* A read of the host's that is not what the run file expects is told, and the run goes on. */
static void check_answer(struct play *play, const struct cps_item *item)
{
    if (play->stopped || cps_engine_answered(play->engine, item))
        return;
    play->misses++;
    play_put_miss(play, item, play->engine->answer, &play->missed);
}

/* How far an item may run: to where the hardware stood, if the input says that. */
static uint64_t ticks_for(const struct play *play)
{
    uint64_t limit = play->config->limit;
    uint64_t until = play->feed.until;
    if (!until)
        return limit;
    uint64_t left = until > play->engine->clock ? until - play->engine->clock : 0;
    return left < limit ? left : limit;
}

/* What the lines of a run file do, other than upload code and wait: for these, code has to run. */
static bool counts(const struct play *play, const struct cps_item *item)
{
    uint32_t host = 1u << CPS_ITEM_WRITE | 1u << CPS_ITEM_READ | 1u << CPS_ITEM_OBJECT;
    if (play_is_script(play))
        return item->line && host >> item->kind & 1;
    return item->kind == CPS_ITEM_RING;
}

static struct cps_err *act(struct play *play, const struct cps_item *item)
{
    begin(play);
    if (play->stopped)
        return NULL;
    play->booted |= item->kind == CPS_ITEM_INIT || item->kind == CPS_ITEM_RING;
    play->executed += counts(play, item);
    CPS_TRY(cps_engine_feed(play->engine, item));
    run(play, ticks_for(play));
    check_answer(play, item);
    return play->missed.failed ? cps_err_nomem() : NULL;
}

static struct cps_err *tell_stop(struct play *play)
{
    if (!play->at_stop || !play->stopped || play->stop == CPS_STOP_IDLE ||
        play->stop == CPS_STOP_NOMEM)
        return NULL;
    return CPS_TAKE(play->at_stop)(play);
}

/* Memory that a stream waits for has changed. */
static struct cps_err *resume(struct play *play)
{
    if (play->stop != CPS_STOP_DEADLOCK)
        return NULL;
    play->stopped = false;
    run_submission(play);
    return NULL;
}

struct cps_err *play_recover(struct play *play, const struct cps_item *item)
{
    play->booted = play->stopped = false;
    CPS_TRY(cps_engine_feed(play->engine, item));
    run(play, play->config->limit);
    play_boot(play);
    return NULL;
}

/* A submission hung when it was recorded. One that does not hang here needs no recovery. */
static struct cps_err *take_hang(struct play *play, const struct cps_item *item)
{
    if (!play->stopped || play->enough || play->stop == CPS_STOP_NOMEM)
        return NULL;
    if (!play->hangs++)
        play_explain(play, play->engine, play->stop, &play->hung);
    return play->hung.failed ? cps_err_nomem() : play_recover(play, item);
}

static struct cps_err *take_item(struct play *play, const struct cps_item *item)
{
    struct cps_item first = {.kind = CPS_ITEM_CHIP};
    switch (item->kind) {
    case CPS_ITEM_CHIP:
        if (play->gpu)
            return play_check_gpu(play);
        play->gpu = item->chip.gpu_id ? item->chip.gpu_id : item->chip.chip_id & 0xffffffff;
        first.chip.gpu_id = (uint32_t)play->gpu;
        CPS_TRY(play_check_gpu(play));
        return cps_engine_feed(play->engine, &first);
    case CPS_ITEM_SUBMIT:
        return submit(play, item);
    case CPS_ITEM_FENCE:
        return end_submission(play, item);
    case CPS_ITEM_RECOVER:
        return take_hang(play, item);
    case CPS_ITEM_INIT:
        return play->hangs && play->booted ? NULL : act(play, item);
    case CPS_ITEM_RUN:
        return play->fw ? resume(play) : act(play, item);
    case CPS_ITEM_NOTE:
        play->notes++;
        return NULL;
    default:
        return cps_item_acts(item) ? act(play, item) : cps_engine_feed(play->engine, item);
    }
}

/* A deadlock is an end unless changes of memory follow that the wait resumes with. */
static struct cps_err *tell_deadlock(struct play *play, const struct cps_item *next)
{
    bool ends = next->kind == CPS_ITEM_RESET || (cps_item_acts(next) && next->kind != CPS_ITEM_RUN);
    return ends ? tell_stop(play) : NULL;
}

struct cps_err *play_item(struct play *play, const struct cps_item *item)
{
    CPS_TRY(tell_deadlock(play, item));
    CPS_TRY(take_item(play, item));
    return play->stop == CPS_STOP_DEADLOCK ? NULL : tell_stop(play);
}

/* Where addresses are looked up while the streams run, only the buffers of now count: so the table
 * does not grow with the capture. */
static struct cps_err *take_buffers(struct play *play, const struct cps_item *item)
{
    if (play->buffers && play->buffers_of_now)
        return cps_buffers_now(&play->buffers, item);
    return play->buffers ? cps_buffers_item(play->buffers, item) : NULL;
}

struct cps_err *play_take_item_(struct cps_item_sink *items, const struct cps_item *item)
{
    struct play *play = (struct play *)items;
    show_progress(play);
    CPS_TRY(tell_deadlock(play, item));
    CPS_TRY(take_buffers(play, item));
    return play_item(play, item);
}

/* The file of a run that an engine refused something of. */
static struct cps_err *name_line(const struct play *play, const struct cps_item *item,
                                 struct cps_err *err)
{
    if (!play->script.name)
        return err;
    if (!item->line)
        return cps_err_within_(err, "%s", play->script.name);
    return cps_err_within_(err, "%s:%" PRIu32, play->script.name, item->line);
}

static struct cps_err *play_list(struct play *play)
{
    for (size_t i = 0; i < play->feed.count; i++)
        CPS_TRY(name_line(play, &play->feed.item[i], play_item(play, &play->feed.item[i])));
    return NULL;
}

/* The one that was asked for must be there, unless the run ended before. */
static struct cps_err *check_submission(const struct play *play)
{
    long asked = play->config->submit;
    if (asked < 0 || play->stopped || (uint64_t)asked < play->submissions)
        return NULL;
    return cps_err_new(CPS_ERR_INPUT, "--submit %ld: the capture has %" PRIu32 " submissions",
                       asked, play->submissions);
}

static struct cps_err *read_capture(struct play *play, struct cps_stream *capture)
{
    cps_stream_set_rnn(capture, play->config->rnn);
    /* Also where a capture is cut short: what it says up to there counts. */
    struct cps_err *err = cps_capture_read(capture, NULL, &play->items);
    return cps_err_first_(err, play->buffers ? cps_buffers_seal(play->buffers) : NULL);
}

struct cps_err *play_run(struct play *play, struct cps_stream *capture)
{
    struct cps_err *err = NULL;
    if (play->dump && !play->feed.count)
        CPS_TRY(play_dump_items(play));
    bool listed = play->feed.count || !play->fw;
    play->reads = capture;
    err = listed ? play_list(play) : read_capture(play, capture);
    play->input_failed = !listed && err && err->code == CPS_ERR_INPUT;
    play->reads = NULL;
    if (!listed)
        play_boot(play);
    if (!err)
        err = tell_stop(play);
    if (play->stop == CPS_STOP_NOMEM) {
        cps_err_free(err);
        return cps_err_nomem();
    }
    cps_engine_end(play->engine, play->stop);
    return err ? err : check_submission(play);
}

struct cps_err *play_gather_recovery(struct play *play, unsigned reason)
{
    const struct cps_item items[] = {{.kind = CPS_ITEM_RECOVER, .recover = {.reason = reason}},
                                     {.kind = CPS_ITEM_RUN},
                                     {.kind = CPS_ITEM_INIT}};
    for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++)
        CPS_TRY(feed_add(&play->feed, &items[i]));
    return NULL;
}

static struct cps_err *gather_item(struct cps_item_sink *items, const struct cps_item *item)
{
    struct play *play = (struct play *)items;
    if (play->buffers)
        CPS_TRY(cps_buffers_item(play->buffers, item));
    if (item->kind == CPS_ITEM_CHIP) {
        if (!play->gpu)
            play->gpu = item->chip.gpu_id ? item->chip.gpu_id : item->chip.chip_id & 0xffffffff;
        return play_check_gpu(play);
    }
    if (item->kind == CPS_ITEM_FENCE && !play_wants_fences(play))
        return NULL;
    if (item->kind != CPS_ITEM_RECOVER)
        return feed_add(&play->feed, item);
    return play_gather_recovery(play, item->recover.reason);
}

/* In front of what the capture says: which GPU, and the driver's first packets. */
static struct cps_err *gather_capture(struct play *play, struct cps_stream *capture)
{
    const struct cps_item chip = {.kind = CPS_ITEM_CHIP};
    const struct cps_item init = {.kind = CPS_ITEM_INIT};
    CPS_TRY(feed_add(&play->feed, &chip));
    CPS_TRY(feed_add(&play->feed, &init));
    play->items.item = gather_item;
    struct cps_err *err = capture ? read_capture(play, capture) : NULL;
    play->items.item = play_take_item_;
    play->feed.item[0].chip.gpu_id = (uint32_t)play->gpu;
    /* A ring comes with the driver's first packets, or is said to be without. */
    struct feed *feed = &play->feed;
    bool ring = false;
    for (size_t i = 2; i < feed->count; i++)
        ring |= feed->item[i].kind == CPS_ITEM_RING;
    if (ring)
        memmove(&feed->item[1], &feed->item[2], (--feed->count - 1) * sizeof(*feed->item));
    return err;
}

struct cps_err *play_gather(struct play *play, struct cps_stream *capture)
{
    if (play->dump)
        return play_dump_items(play);
    return play->fw ? gather_capture(play, capture) : NULL;
}
