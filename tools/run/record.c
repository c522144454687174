/* SPDX-License-Identifier: MIT
 * One firmware over one capture, in memory. */
#include "isa/base/within.h"
#include "tools/run/code.h"
#include "tools/run/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/base/list.h"
#include "tools/run/replay.h"

/* 4 GiB of records: far beyond what two traces can be compared in. */
#define MAX_EVENTS (UINT64_C(1) << 28)

void record_keep(struct record *record, const struct cps_event *events, size_t count)
{
    if (record->count + count > MAX_EVENTS ||
        !CPS_LIST_RESERVE(record->event, record->room, record->count + count)) {
        record->lost = true;
        return;
    }
    if (count)
        memcpy(record->event + record->count, events, count * sizeof(*events));
    record->count += count;
}

static struct cps_err *read_trace(struct cps_stream *stream, const char *path,
                                  struct cps_trace_head *head, struct record *ret)
{
    struct cps_trace *trace = NULL;
    struct cps_event events[1024];
    size_t count = 1;
    struct cps_err *err = cps_trace_open(stream, &trace);
    if (!err)
        ret->form = cps_trace_form(trace);
    if (!err && head)
        err = cps_trace_head_parse(path, cps_trace_head(trace)->text, head);
    while (!err && count) {
        err = cps_trace_next(trace, events, 1024, &count);
        record_keep(ret, events, count);
    }
    cps_trace_close(trace);
    /* A trace that lacks the event says nothing about how its run ended. */
    ret->account.from_trace = ret->account.endless = true;
    for (size_t i = ret->count; i && ret->account.endless; i--) {
        const struct cps_event *event = &ret->event[i - 1];
        ret->account.endless = cps_event_kind(event) != CPS_EV_END;
        while (!ret->account.endless &&
               cps_stop_reason(ret->account.stop) != cps_event_sub(event) &&
               ret->account.stop < CPS_STOP_BAD_PACKET)
            ret->account.stop++;
    }
    return err ? err : ret->lost ? cps_err_nomem() : NULL;
}

struct cps_err *record_read(const char *path, struct cps_trace_head *head, struct record *ret)
{
    struct cps_stream *stream = NULL;
    CPS_TRY(cps_stream_open(path, &stream));
    struct cps_err *err = read_trace(stream, path, head, ret);
    cps_stream_close(stream);
    return err;
}

/* The hardware's state beside the replay's, as `run` judges it. */
static struct cps_err *compare_replay(struct record *record, struct replay *replay)
{
    CPS_TRY(replay_compare(replay));
    if (!replay_agrees(replay))
        snprintf(record->disagrees, sizeof(record->disagrees),
                 "the replay does not match the dump: %u values equal, %u different%s",
                 rows_count(&replay->rows, REPLAY_EQUAL),
                 rows_count(&replay->rows, REPLAY_DIFFERENT),
                 replay->missing ? ", streams missing" : "");
    return NULL;
}

static bool is_step(const struct cps_event *event)
{
    return cps_event_kind(event) == CPS_EV_STEP || cps_event_kind(event) == CPS_EV_STEPX;
}

void record_drop_steps(struct record *record)
{
    size_t kept = 0;
    for (size_t i = 0; i < record->count; i++) {
        if (!is_step(&record->event[i]))
            record->event[kept++] = record->event[i];
    }
    record->count = kept;
    record->stepless = true;
}

static void record_events(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    struct record *record = (struct record *)((char *)sink - offsetof(struct record, sink));
    if (record->most_steps && !record->stepless && record->count + count > record->most_steps)
        record_drop_steps(record);
    if (!record->stepless)
        record_keep(record, events, count);
    for (size_t i = 0; record->stepless && i < count; i++) {
        if (!is_step(&events[i]))
            record_keep(record, &events[i], 1);
    }
}

static struct cps_err *finish(struct record *record, struct play *play)
{
    const char *missed = cps_buf_text(&play->missed);
    CPS_TRY(play_account_take(play, &record->account));
    record->buffers = CPS_TAKE(play->buffers);
    record->packets = play->engine->packets;
    record->instructions = play->engine->instructions;
    /* A submission that is not captured is a stream that is missing, too. */
    uint64_t missing = play_missing_streams(play);
    record->missing = missing > play->not_captured ? missing - play->not_captured : 0;
    record->notes = play->notes;
    record->misses = play->misses;
    snprintf(record->missed, sizeof(record->missed), "%.*s", (int)strcspn(missed, "\n"), missed);
    if (play->code && play->code->recovered)
        record->own = CPS_TAKE(play->fw);
    return record->lost || play->missed.failed ? cps_err_nomem() : NULL;
}

static unsigned core_of(const struct cps_engine *engine, unsigned who)
{
    unsigned core = 0;
    while (core + 1 < engine->cores && engine->who[core] != who)
        core++;
    return core;
}

/* The words of a bundle, or the one instruction: @return where the next one stands. */
static uint32_t count_bundle(struct record *record, unsigned core, uint32_t pc)
{
    const struct cps_isa *isa = record->engine->ops->isa;
    struct record_step *last = &record->last[core];
    struct cps_insn insn;
    uint8_t bytes[CPS_INSN_BYTES];
    uint32_t before = 0;
    uint32_t at = pc;
    while (at < record->cover_count && cps_engine_decode(record->engine, core, at, bytes, &insn) &&
           (at == pc || cps_insn_joins(isa, at, before, (uint32_t)insn.word))) {
        record->cover[at].run++;
        if (cps_insn_flow(isa, &insn) == CPS_FLOW_BRANCH) {
            last->branch = at;
            last->wait = 1 + cps_insn_has_slot(isa, &insn);
        }
        before = (uint32_t)insn.word;
        at += insn.length / cps_isa_unit(isa);
    }
    return at;
}

/* One instruction of a script: it ran, and says where a branch before it went. */
static void count_step(struct record *record, const struct cps_event *step)
{
    unsigned core = core_of(record->engine, cps_event_who(step));
    struct record_step *last = &record->last[core];
    if (cps_event_kind(step) != CPS_EV_STEP)
        return;
    if (last->wait && !--last->wait)
        record->cover[last->branch].taken += cps_event_pc(step) != last->behind;
    last->behind = count_bundle(record, core, cps_event_pc(step));
}

static void take_steps(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    struct record *record = (struct record *)((char *)sink - offsetof(struct record, steps));
    for (size_t i = 0; i < count; i++)
        count_step(record, &events[i]);
}

/* Scripts are short: their STEP events are counted. */
static void count_script(struct record *record, struct play *play)
{
    record->steps.put = take_steps;
    record->engine = play->engine;
    play->watcher = &record->steps;
    play->extra |= 1u << CPS_EV_STEP | 1u << CPS_EV_STEPX;
}

/* The image whose code is counted: the first one that was named. Of a5xx each processor has a file
 * of its own. */
static const struct cps_fw *counted(const struct play *play)
{
    return play->me_first ? play->me : play->fw;
}

/* Counters of the cores are parts of one array, so that a place of the image has one, whichever
 * core ran it. */
static void count_firmware(struct record *record, struct play *play)
{
    const struct cps_fw *fw = counted(play);
    for (unsigned i = 0; i < play->engine->cores; i++) {
        uint32_t start = !play->me && i < fw->part_count ? fw->part[i].start : 0;
        if ((play->engine->who[i] == CPS_CPU_ME) == play->me_first)
            cps_engine_cover(play->engine, i, record->cover + start, record->cover_count - start);
    }
}

static struct cps_err *start_cover(struct record *record, struct play *play,
                                   const struct record_setup *setup)
{
    if (!play->fw && !setup->scripts)
        return NULL;
    unsigned unit = cps_isa_unit(play->engine->ops->isa);
    uint32_t count =
        1 + (play->fw ? counted(play)->count : (uint32_t)(play->script.code.size / unit));
    record->cover = calloc(count, sizeof(*record->cover));
    if (!record->cover)
        return cps_err_nomem();
    record->cover_count = count;
    (play->fw ? count_firmware : count_script)(record, play);
    return NULL;
}

static struct cps_run_config config_for(const struct record_setup *setup,
                                        const char *const firmware[2])
{
    struct cps_run_config config = *setup->config;
    config.fw[0] = firmware[0];
    config.fw[1] = firmware[1];
    config.fw_count = firmware[0] ? firmware[1] ? 2 : 1 : 0;
    config.demo = !firmware[0];
    if (!setup->narrow)
        config.submit = -1;
    return config;
}

/* One run: what it is made of, and what is open for it. */
struct run {
    const struct record_setup *setup;
    struct cps_run_config config;
    struct play *play;
    struct cps_stream *stream;
    struct record *record;
    struct record_boot *boot; /* that it begins with; NULL: it opens all by itself */
};

static struct cps_err *open_run(struct run *run, const struct record_setup *setup,
                                const char *const firmware[2], struct record *record)
{
    *record = (struct record){.sink = {record_events}, .most_steps = setup->most_steps};
    *run = (struct run){.setup = setup, .config = config_for(setup, firmware), .record = record};
    run->play = calloc(1, sizeof(*run->play));
    if (!run->play)
        return cps_err_nomem();
    run->play->kinds = setup->kinds;
    run->play->trace = &record->sink;
    return NULL;
}

static void close_run(struct run *run)
{
    if (run->boot)
        play_return(run->play, run->boot->play);
    if (run->play)
        play_close(run->play);
    free(run->play);
    cps_stream_close(run->stream);
}

static bool is_script(const char *const firmware[2])
{
    return firmware[0] && cps_named_engine(firmware[0]);
}

/* A dump begins with its own boot, of its own firmware. */
static struct cps_err *begin(struct run *run, const char *capture, struct record_boot *boot)
{
    if (boot && boot->play && !run->play->dump) {
        /* Events of the boot come first. */
        CPS_TRY(play_borrow(run->play, &run->config, boot->play, boot->engine));
        run->boot = boot;
        if (!boot->booted)
            return NULL;
        run->play->begun = run->play->booted = true;
        play_watch(run->play);
        record_keep(run->record, boot->record.event, boot->record.count);
        return NULL;
    }
    CPS_TRY(play_open(run->play, &run->config, capture));
    play_watch_replay(run->play);
    return NULL;
}

static struct cps_err *execute(struct run *run, const char *capture, bool script,
                               struct record_boot *boot)
{
    const struct cps_buf *text = run->setup->text;
    if (text)
        CPS_TRY(cps_stream_open_memory(capture, cps_buf_text(text), text->size, &run->stream));
    else if (!script)
        CPS_TRY(play_stream(capture, &run->stream));
    if (run->setup->buffers)
        CPS_TRY(cps_buffers_create(&run->play->buffers));
    if (!script)
        CPS_TRY(play_read_dump(run->play, run->stream));
    run->play->as_given = !run->setup->recover;
    run->play->quiet = run->setup->quiet;
    run->play->boot_only = capture == play_nothing;
    CPS_TRY(begin(run, capture, boot));
    if (run->setup->cover)
        CPS_TRY(start_cover(run->record, run->play, run->setup));
    struct cps_err *err = play_run(run->play, run->stream);
    if (run->setup->cover && run->boot && boot->booted) {
        /* The boot that a run began with has executed, too. */
        struct record *record = run->record;
        const uint32_t booted = boot->record.cover_count;
        const uint32_t count = record->cover_count < booted ? record->cover_count : booted;
        const struct cps_cover *const from = boot->record.cover;
        struct cps_cover *const to = record->cover;
        for (uint32_t i = 0; i < count; i++) {
            if (!from[i].run)
                continue;
            to[i].run += from[i].run;
            to[i].taken += from[i].taken;
        }
    }
    if (!err && run->play->replay)
        err = compare_replay(run->record, run->play->replay);
    return cps_err_first_(err, finish(run->record, run->play));
}

struct cps_err *record_run(const struct record_setup *setup, const char *const firmware[2],
                           const char *capture, struct record_boot *boot, struct record *ret)
{
    struct run run;
    struct cps_err *err = open_run(&run, setup, firmware, ret);
    if (!err)
        err = execute(&run, capture, is_script(firmware), boot);
    close_run(&run);
    return err;
}

/* The boots of a5xx depend on the capture's GPU. */
static struct cps_err *boot(struct run *run, struct record_boot *ret)
{
    if (run->play->gen == CPS_A5XX)
        return NULL;
    if (run->setup->cover)
        CPS_TRY(start_cover(run->record, run->play, run->setup));
    play_boot(run->play);
    cps_engine_sink(run->play->engine, NULL, 0);
    if (run->play->stop == CPS_STOP_NOMEM || run->record->lost)
        return cps_err_nomem();
    if (run->play->stopped)
        return play_restart(run->play);
    ret->booted = true;
    return NULL;
}

/* @p boots  or stands in front of the boot */
static struct cps_err *open_boot(const struct record_setup *setup, const char *const firmware[2],
                                 bool boots, struct record_boot *ret)
{
    struct run run;
    *ret = (struct record_boot){0};
    if (is_script(firmware))
        return NULL;
    struct cps_err *err = open_run(&run, setup, firmware, &ret->record);
    if (!err)
        err = play_open(run.play, &run.config, NULL);
    if (!err && boots)
        err = boot(&run, ret);
    if (!err) {
        /* What is needed for more runs stays. */
        ret->engine = CPS_TAKE(run.play->engine);
        run.play->trace = NULL; /* the record may move */
        run.play->config = NULL;
        ret->play = CPS_TAKE(run.play);
    }
    close_run(&run);
    if (err)
        record_boot_deinit(ret);
    return err;
}

struct cps_err *record_boot(const struct record_setup *setup, const char *const firmware[2],
                            struct record_boot *ret)
{
    return open_boot(setup, firmware, true, ret);
}

struct cps_err *record_open(const struct record_setup *setup, const char *const firmware[2],
                            unsigned runs, struct record_boot *boot)
{
    return runs < 2 || boot->play ? NULL : open_boot(setup, firmware, false, boot);
}

void record_boot_deinit(struct record_boot *boot)
{
    cps_engine_destroy(boot->engine);
    if (boot->play)
        play_close(boot->play);
    free(boot->play);
    record_deinit(&boot->record);
    *boot = (struct record_boot){0};
}

void record_deinit(struct record *record)
{
    free(record->event);
    free(record->cover);
    cps_buffers_destroy(record->buffers);
    cps_fw_destroy(record->own);
    *record = (struct record){0};
}

struct cps_err *record_mask_addresses(const struct cps_names *names, struct cps_mask *mask)
{
    static const char *const places[] = {"ctrl:PACKET_TABLE_WRITE", "ctrl:BV_INSTR_BASE",
                                         "ctrl:LPAC_INSTR_BASE", "ctrl:MEM_READ_ADDR"};
    for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        struct cps_err *err = cps_mask_add(mask, places[i], names);
        if (err && err->code != CPS_ERR_SYNTAX) /* a layout may lack one of them */
            return err;
        cps_err_free(err);
    }
    return NULL;
}
