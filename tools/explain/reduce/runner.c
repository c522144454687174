/* SPDX-License-Identifier: MIT
 * Runs jobs and says how they end. */
#include "tools/explain/reduce/reduce.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emu/afuc/afuc.h"
#include "fw/image/place.h"
#include "isa/base/pm4.h"
#include "isa/base/within.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/run/dump.h"
#include "tools/run/hang/hang.h"
#include "tools/run/names.h"
#include "trace/form/text.h"

#define SPARE 1000000 /* instructions that a run may always take */

/* Most ticks of a circle in which a stopped machine is followed. */
#define CIRCLE         512u
#define CIRCLE_OF_MANY 4096u

void ending_deinit(struct ending *ending)
{
    cps_buf_deinit(&ending->text);
    cps_buf_deinit(&ending->loose);
}

/* Whether the program counter of the place is reached inside its packet. */
static void watch(struct runner *r, const struct cps_event *event)
{
    const struct runner_target *place = &r->place;
    if (cps_event_kind(event) == CPS_EV_PKT)
        r->in_packet = event->value == place->header &&
                       cps_event_sub(event) == hang_event_level(place->level) &&
                       (!place->iova || event->addr == place->iova);
    else if (cps_event_kind(event) == CPS_EV_STEP)
        r->there |= r->in_packet && cps_event_pc(event) == place->pc;
}

static void record_events(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    struct runner_side *side = (struct runner_side *)sink;
    for (size_t i = 0; i < count; i++) {
        unsigned kind = cps_event_kind(&events[i]);
        if (side->runner->place.wanted)
            watch(side->runner, &events[i]);
        if (kind != CPS_EV_STEP && kind != CPS_EV_STEPX)
            record_keep(&side->record, &events[i], 1);
    }
}

/* The second one is fed with what the first one has read. */
static struct cps_err *open_side(struct runner *r, unsigned number, struct cps_stream *stream)
{
    struct runner_side *side = &r->side[number];
    struct play *play = side->play = tool_alloc(1, sizeof(*play));
    side->runner = r;
    side->sink.put = record_events;
    play->trace = &side->sink;
    play->as_given = r->sides > 1;
    if (number) {
        play->dump = r->side[0].play->dump;
        play->gpu = r->side[0].play->gpu;
    } else {
        CPS_TRY(play_read_dump(play, stream));
        CPS_TRY(play_check_recover(play, &side->config, cps_stream_name(stream)));
    }
    CPS_TRY(play_open(play, &side->config, NULL));
    return number ? play_check_gpu(play) : play_gather(play, stream);
}

/* An engine that has booted, to be cloned for each run: the job begins with GPU and boot. */
struct cps_err *runner_boot(struct runner *r, const struct job *job)
{
    for (unsigned i = 0; i < r->sides && job->count > 1 && job->item[1].kind == CPS_ITEM_INIT;
         i++) {
        struct play *play = r->side[i].play;
        play->kinds = 0;
        CPS_TRY(play_restart(play));
        CPS_TRY(cps_engine_feed(play->engine, &job->item[0]));
        play_boot(play);
        cps_engine_sink(play->engine, NULL, 0);
        tool_need(play->stop != CPS_STOP_NOMEM);
        cps_engine_destroy(CPS_TAKE(r->side[i].booted));
        if (!play->stopped)
            CPS_TRY(cps_engine_clone(play->engine, &r->side[i].booted));
    }
    return NULL;
}

/* The place of a hang that does not end the run: at the tick that the replay found. */
static struct cps_err *find_place(struct runner *r, struct job *job, uint64_t until)
{
    struct play *play = r->side[0].play;
    const struct dump_block *stat = dump_block(play->dump, "CP_SQE_STAT");
    struct ending none;
    play->feed.until = until;
    struct cps_err *err = runner_run(r, job, 1u << CPS_EV_PKT, &none);
    play->feed.until = 0;
    ending_deinit(&none);
    CPS_TRY(err);
    const struct cps_afuc *machine = cps_afuc_of(play->engine);
    uint32_t header = cps_afuc_header(machine, 0, 0);
    uint32_t level = cps_afuc_level(machine, 0) & 7;
    if (stat &&
        (header != dump_word(stat, STAT_HEADER) || level != (dump_word(stat, STAT_LEVEL) & 7)))
        return cps_err_new(
            CPS_ERR_INPUT,
            "the replay does not come to the hang of the dump: it is in packet "
            "0x%08" PRIx32 " at level %" PRIu32 ", expected 0x%08" PRIx32 " at level %" PRIu32,
            header, level, dump_word(stat, STAT_HEADER), dump_word(stat, STAT_LEVEL) & 7);
    if (!until)
        return NULL;
    const struct record *record = &r->side[0].record;
    level = hang_level(play->gen, level);
    r->place = (struct runner_target){true, header, level, cps_engine_where(play->engine, 0).pc, 0};
    for (size_t i = 0; i < record->count; i++) {
        if (record->event[i].value == header &&
            cps_event_sub(&record->event[i]) == hang_event_level(level))
            r->place.iova = record->event[i].addr;
    }
    return NULL;
}

static struct cps_err *open_all(struct runner *r, const char *events, const char *mask,
                                struct cps_stream *stream, struct job *job)
{
    for (unsigned i = 0; i < r->sides; i++)
        CPS_TRY(open_side(r, i, stream));
    struct play *play = r->side[0].play;
    uint64_t until = play->feed.until;
    job_init(job, &play->feed);
    CPS_TRY(runner_boot(r, job));
    if (r->sides < 2)
        return play->dump ? find_place(r, job, until) : NULL;
    r->compared = RECORD_COMPARED;
    if (events) /* checked when they were taken */
        cps_text_classes(events, &r->compared);
    return cps_mask_add(&r->mask, mask ? mask : "", play->names[play->engine->who[0]]);
}

struct cps_err *runner_open(struct runner *r, const struct cps_run_config *config,
                            const char *events, const char *mask, const char *input,
                            struct job *job)
{
    struct cps_stream *stream = NULL;
    for (unsigned i = 0; i < r->sides; i++)
        play_side(config, r->sides, i, &r->side[i].config);
    CPS_TRY(play_stream(input, &stream));
    struct cps_err *err = open_all(r, events, mask, stream, job);
    cps_stream_close(stream);
    return err;
}

void runner_close(struct runner *r)
{
    if (r->side[1].play)
        r->side[1].play->dump = NULL; /* it is that of the first one */
    for (unsigned i = 0; i < 2; i++) {
        struct runner_side *side = &r->side[i];
        cps_engine_destroy(side->booted);
        if (side->play)
            play_close(side->play);
        free(side->play);
        record_deinit(&side->record);
    }
    cps_mask_deinit(&r->mask);
}

static struct cps_err *run_side(struct runner *r, unsigned number, const struct job *job,
                                uint32_t events)
{
    struct runner_side *side = &r->side[number];
    struct play *play = side->play;
    struct cps_item none = {.kind = CPS_ITEM_RESET};
    uint64_t until = play->feed.until;
    bool booted = side->booted && job->views > 1 && job->view[1].kind == CPS_ITEM_INIT;
    size_t first = booted ? 2 : 0;
    play->kinds = events |
                  (r->sides > 1 ? r->compared | 1u << CPS_EV_PKT | 1u << CPS_EV_SUBMIT : 0) |
                  (r->place.wanted ? 1u << CPS_EV_PKT | 1u << CPS_EV_STEP : 0);
    play->submissions = play->executed = play->not_captured = 0;
    play->stop = CPS_STOP_IDLE;
    play->stopped = false;
    side->record.count = 0;
    if (!booted)
        play->gpu = 0; /* the engine is told of it again */
    CPS_TRY(booted ? play_adopt(play, side->booted) : play_restart(play));
    bool any = first < job->views;
    play->feed = (struct feed){.item = any ? job->view + first : &none,
                               .count = any ? job->views - first : 1,
                               .until = until};
    struct cps_err *err = play_run(play, NULL);
    play->feed = (struct feed){.until = until};
    cps_engine_sink(play->engine, NULL, 0);
    if (r->instructions < play->engine->instructions)
        r->instructions = play->engine->instructions;
    tool_need(!side->record.lost);
    return err;
}

static const char *const stop_words[] = {"done", "limit", "deadlock", "fault", "bad-packet", ""};

/* A machine in an endless loop is found anywhere in it. The core that the explanation of the stop
 * begins with goes on to the lowest instruction there, so that equal loops give equal texts. */
static void settle_in_loop(struct cps_engine *engine, enum cps_stop stop)
{
    unsigned steps = engine->cores > 1 ? CIRCLE_OF_MANY : CIRCLE;
    CPS_BUF why = {0};
    unsigned core = 0;
    cps_engine_explain(engine, stop, &why);
    for (unsigned i = 1; i < engine->cores; i++) {
        const char *name = cps_processor_name(engine->who[i]);
        size_t length = strlen(name);
        if (!strncmp(tool_text(&why), name, length) && tool_text(&why)[length] == ' ')
            core = i;
    }
    uint32_t lowest = cps_engine_where(engine, core).pc;
    if (stop == CPS_STOP_BUDGET)
        return;
    for (unsigned i = 0; i < steps; i++) {
        tool_need(cps_engine_run(engine, 1) != CPS_STOP_NOMEM);
        uint32_t pc = cps_engine_where(engine, core).pc;
        lowest = pc < lowest ? pc : lowest;
    }
    for (unsigned i = 0; i < steps && cps_engine_where(engine, core).pc != lowest; i++)
        tool_need(cps_engine_run(engine, 1) != CPS_STOP_NOMEM);
}

/* "...; packet 0x70100000 at 0x0000000000100000": the loose text has no address. */
static void describe_stop(const struct play *play, struct ending *ret)
{
    if (play->stop == CPS_STOP_IDLE)
        return;
    settle_in_loop(play->engine, play->stop);
    cps_buf_printf(&ret->text, "%s ", stop_words[play->stop]);
    play_explain(play, play->engine, play->stop, &ret->text);
    cps_buf_printf(&ret->text, ", level %" PRIu32 "\n", cps_engine_where(play->engine, 0).level);
    const char *text = tool_text(&ret->text);
    const char *packet = strstr(text, "; packet ");
    const char *place = packet ? strstr(packet, " at ") : NULL;
    const char *level = place ? strchr(place, ',') : NULL;
    cps_buf_add(&ret->loose, text, level ? (size_t)(place - text) : strlen(text));
    cps_buf_str(&ret->loose, level ? level : "");
}

static void describe_place(const struct runner *r, struct ending *ret)
{
    const struct runner_target *place = &r->place;
    if (!r->there)
        return;
    cps_buf_printf(&ret->loose, "reaches 0x%04" PRIx32 " (", place->pc);
    play_place(r->side[0].play, r->side[0].play->engine->who[0], place->pc,
               cps_fw_header_packet_(place->header), &ret->loose);
    cps_buf_printf(&ret->loose,
                   ") in packet 0x%08" PRIx32 " at level %" PRIu32 ", where the hardware hung\n",
                   place->header, place->level);
    cps_buf_join(&ret->text, &ret->loose);
}

static const struct cps_names *names_of(const struct runner *r, unsigned side,
                                        const struct cps_event *event)
{
    return r->side[side].play->names[cps_event_who(event) % CPS_CPU_COUNT];
}

/* The packet without the instruction that took it, which belongs to the packet before; and of an
 * end its reason alone: its counts are no behaviour. */
static void put_difference(const struct runner *r, const struct cps_difference *first, bool placed,
                           struct cps_buf *out)
{
    const struct cps_event *pkt = first->pkt_a ? first->pkt_a : first->pkt_b;
    cps_buf_str(out, "first difference:\n");
    if (pkt) {
        struct cps_pm4 packet = cps_pm4_decode(pkt->value);
        const char *name = packet.kind == CPS_PM4_TYPE7
                               ? cps_name(names_of(r, pkt != first->pkt_a, pkt), CPS_SPACE_PACKET,
                                          packet.opcode, NULL)
                               : NULL;
        cps_buf_printf(out, "  %-8s %s 0x%08" PRIx32 "%s%s", "packet",
                       cps_event_sub_word(CPS_EV_PKT, cps_event_sub(pkt)), pkt->value,
                       name ? " " : "", name ? name : "");
        if (placed)
            cps_buf_printf(out, " at 0x%016" PRIx64, pkt->addr);
        cps_buf_str(out, "\n");
    }
    for (unsigned i = 0; i < 2; i++) {
        const struct cps_event *event = i ? first->b : first->a;
        bool is_end = event && cps_event_kind(event) == CPS_EV_END;
        struct cps_event end =
            cps_event_make(CPS_EV_END, event ? cps_event_sub(event) : 0, CPS_CPU_NONE, 0, 0, 0);
        cps_buf_printf(out, "  %-8s ", i ? "new" : "old");
        if (event)
            cps_text_event(out, is_end ? &end : event, names_of(r, i, is_end ? &end : event), true);
        else
            cps_buf_str(out, "(nothing)\n");
    }
}

static struct cps_err *describe_difference(const struct runner *r, struct ending *ret)
{
    const struct record *a = &r->side[0].record;
    const struct record *b = &r->side[1].record;
    const struct cps_diff_options options = {.kinds = r->compared, .mask = &r->mask};
    struct cps_diff diff = {0};
    CPS_TRY(cps_diff_events(a->event, a->count, b->event, b->count, &options, NULL, NULL, &diff));
    if (diff.differences) {
        put_difference(r, &diff.first, true, &ret->text);
        put_difference(r, &diff.first, false, &ret->loose);
    }
    cps_diff_deinit(&diff);
    return NULL;
}

struct cps_err *runner_run(struct runner *r, struct job *job, uint32_t events, struct ending *ret)
{
    *ret = (struct ending){{0}, {0}};
    r->there = r->in_packet = false;
    r->instructions = 0;
    job_view(job);
    for (unsigned i = 0; i < r->sides; i++)
        CPS_TRY(run_side(r, i, job, events));
    if (r->sides > 1)
        CPS_TRY(describe_difference(r, ret));
    else if (r->place.wanted)
        describe_place(r, ret);
    else
        describe_stop(r->side[0].play, ret);
    return NULL;
}

void runner_bound(struct runner *r, unsigned factor)
{
    uint64_t most = factor * r->instructions + SPARE;
    for (unsigned i = 0; i < r->sides; i++) {
        if (r->side[i].config.limit > most)
            r->side[i].config.limit = most;
    }
}
