/* SPDX-License-Identifier: MIT
 * The one place that joins firmware, capture, machine and sinks. */
#include "tools/play/rig.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fw/demo/demo.h"
#include "tools/play/native.h"

/* a5xx: the PFP and the ME come as two files in any order. */
static struct cps_err *load_pair(struct rig *rig)
{
    const struct cps_options *opt = rig->opt;
    if (opt->fw_count < 2)
        return cps_err_new(CPS_ERR_INPUT,
                           "%s: this is the %s of a5xx, expected the file of the other processor "
                           "too: --fw PFP --fw PM4",
                           rig->fw->name, cps_fw_role_name(rig->fw->part[0].role));
    CPS_TRY(cps_fw_load(opt->fw[1], opt->gen, &rig->me));
    if (rig->fw->part[0].role == CPS_FW_ME) {
        struct cps_fw *me = rig->fw;
        rig->fw = rig->me;
        rig->me = me;
    }
    if (rig->fw->gen == CPS_A5XX && rig->me->gen == CPS_A5XX &&
        rig->fw->part[0].role == CPS_FW_PFP && rig->me->part[0].role == CPS_FW_ME)
        return NULL;
    return cps_err_new(CPS_ERR_INPUT, "%s and %s: expected one PFP and one ME (pm4) of a5xx",
                       rig->fw->name, rig->me->name);
}

static struct cps_err *load_firmware(struct rig *rig)
{
    const struct cps_options *opt = rig->opt;
    if (opt->demo && !opt->fw_count)
        return cps_fw_parse("demo_sqe.fw", cps_demo_fw, cps_demo_fw_size, opt->gen, &rig->fw);
    CPS_TRY(cps_fw_load(opt->fw[0], opt->gen, &rig->fw));
    if (rig->fw->gen == CPS_A5XX)
        return load_pair(rig);
    if (opt->fw_count > 1)
        return cps_err_new(CPS_ERR_INPUT, "%s: %s firmware is one file, found a second one: %s",
                           rig->fw->name, cps_gen_name(rig->fw->gen), opt->fw[1]);
    return NULL;
}

static enum cps_processor processor_of(enum cps_fw_role role)
{
    static const uint8_t who[] = {
        [CPS_FW_PFP] = CPS_CPU_PFP, [CPS_FW_ME] = CPS_CPU_ME,     [CPS_FW_SQE] = CPS_CPU_SQE,
        [CPS_FW_BV] = CPS_CPU_BV,   [CPS_FW_LPAC] = CPS_CPU_LPAC,
    };
    return who[role];
}

static struct cps_err *build_machine(struct rig *rig)
{
    const struct cps_options *opt = rig->opt;
    const struct cps_target *target = cps_target_find(rig->fw->id);
    struct cps_machine_config config = {
        .layout = rig->fw->layout,
        .words = rig->fw->words,
        .count = rig->fw->count,
        .me_words = rig->me ? rig->me->words : NULL,
        .me_count = rig->me ? rig->me->count : 0,
        .policy = {.waits = opt->waits > 0 ? CPS_WAITS_STOP : CPS_WAITS_SATISFY,
                   .visibility = opt->visibility > 0 ? (enum cps_visibility)opt->visibility
                                                     : CPS_VISIBILITY_ALL,
                   .prefetch = opt->prefetch > 0},
        .chip = target ? target->identity : 0,
        .variant = target && target->gen == rig->fw->gen ? target->variant : 0,
        .instr_iova = rig->instr_iova,
    };
    for (unsigned i = 0; i < rig->fw->part_count; i++)
        config.image[config.image_count++] =
            (struct cps_image){processor_of(rig->fw->part[i].role), rig->fw->part[i].start};
    return cps_machine_create(&config, &rig->machine);
}

/* A place that a later submission touches again counts up. */
static void note_place(struct rig *rig, const struct cps_event *event)
{
    unsigned place = cps_event_sub(event);
    unsigned i = 0;
    while (i < rig->place_count &&
           (rig->place[i].place != place || rig->place[i].number != event->addr))
        i++;
    if (i == RIG_MAX_PLACES)
        return;
    if (i == rig->place_count)
        rig->place[rig->place_count++] = (struct rig_place){place, event->addr, 0};
    rig->place[i].count++;
}

/* Keeps the unmodelled places for the summary, and hands on what the trace records. */
static void take_events(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    struct rig *rig = (struct rig *)((char *)sink - offsetof(struct rig, sink));
    size_t from = 0;
    uint32_t drop = (rig->extra | 1u << CPS_EV_UNMODELLED) & ~rig->kinds;
    struct cps_sink *trace = rig->muted ? NULL : rig->trace;
    for (size_t i = 0; i < count; i++) {
        if (cps_event_kind(&events[i]) == CPS_EV_UNMODELLED)
            note_place(rig, &events[i]);
        if (!(drop >> cps_event_kind(&events[i]) & 1))
            continue;
        if (trace && i > from)
            trace->put(trace, events + from, i - from);
        from = i + 1;
    }
    if (trace && count > from)
        trace->put(trace, events + from, count - from);
}

struct cps_err *rig_check_gpu(const struct rig *rig)
{
    unsigned generation = cps_gpu_generation(rig->gpu);
    if (!rig->gpu || generation == cps_gen_row(rig->fw->gen)->number)
        return NULL;
    return cps_err_new(CPS_ERR_MISMATCH,
                       "the capture is from a GPU of generation a%uxx (id %" PRIu64
                       "), the firmware %s is %s",
                       generation, rig->gpu, rig->fw->name, cps_gen_name(rig->fw->gen));
}

static struct cps_err *check_chip(struct rig *rig, const struct cps_item *item)
{
    if (!rig->gpu)
        rig->gpu = item->chip.gpu_id ? item->chip.gpu_id : item->chip.chip_id & 0xffffffff;
    return rig_check_gpu(rig);
}

static void run_submission(struct rig *rig, const struct cps_item *item)
{
    uint32_t index = rig->submissions++;
    rig_boot(rig);
    if (rig->stopped || (rig->opt->submit >= 0 && (uint32_t)rig->opt->submit != index))
        return;
    if (!cps_machine_submit(rig->machine, index, item->stream.iova, item->stream.dwords)) {
        rig->not_captured++;
        return;
    }
    rig->executed++;
    rig->stop = cps_machine_run(rig->machine, rig->opt->limit);
    rig->stopped = rig->stop != CPS_STOP_IDLE;
}

static struct cps_err *take_item(struct cps_item_sink *items, const struct cps_item *item)
{
    struct rig *rig = (struct rig *)items;
    switch (item->kind) {
    case CPS_ITEM_CHIP:
        return check_chip(rig, item);
    case CPS_ITEM_RESET:
        cps_machine_forget(rig->machine);
        return NULL;
    case CPS_ITEM_DATA:
        return cps_machine_load(rig->machine, item->buffer.iova, item->buffer.data,
                                item->buffer.size);
    case CPS_ITEM_SUBMIT:
        run_submission(rig, item);
        return NULL;
    case CPS_ITEM_NOTE:
        rig->notes++;
        return NULL;
    default:
        return NULL;
    }
}

/* "preempt@0:5,gmu@1:0", in order. */
static struct cps_err *inject(struct rig *rig)
{
    static const char *const kinds[] = {
        [CPS_INJECT_PREEMPT] = "preempt@", [CPS_INJECT_GMU] = "gmu@"};
    const char *at = rig->opt->inject;
    while (at && *at) {
        unsigned kind =
            strncmp(at, kinds[0], strlen(kinds[0])) ? CPS_INJECT_GMU : CPS_INJECT_PREEMPT;
        unsigned submission = 0;
        unsigned packet = 0;
        int length = 0;
        bool good = !strncmp(at, kinds[kind], strlen(kinds[kind]));
        at += good ? strlen(kinds[kind]) : 0;
        good = good && sscanf(at, "%u:%u%n", &submission, &packet, &length) == 2;
        at += length;
        if (!good || (*at && *at != ',') ||
            !cps_machine_inject(rig->machine, kind, submission, packet))
            return cps_err_new(CPS_ERR_INPUT,
                               "--inject %s: expected up to 64 of preempt@SUBMIT:PACKET or "
                               "gmu@SUBMIT:PACKET, with commas between",
                               rig->opt->inject);
        at += *at == ',';
    }
    return NULL;
}

/* Every processor numbers its own control registers; only a5xx has two layouts in one machine. */
static struct cps_err *create_names(struct rig *rig)
{
    for (unsigned i = 0; i < cps_machine_core_count(rig->machine); i++) {
        enum cps_processor who = cps_machine_core_who(rig->machine, i);
        enum cps_layout layout = who == CPS_CPU_ME ? CPS_LAYOUT_A5XX_ME : rig->fw->layout;
        CPS_TRY(cps_names_create(layout, rig->opt->rnn, &rig->names[who]));
    }
    return NULL;
}

bool rig_has_processors(const struct rig *rig)
{
    return cps_machine_core_count(rig->machine) > 1;
}

struct cps_err *rig_open(struct rig *rig, const struct cps_options *opt)
{
    rig->items.item = take_item;
    rig->sink.put = take_events;
    rig->opt = opt;
    CPS_TRY(load_firmware(rig));
    CPS_TRY(build_machine(rig));
    CPS_TRY(inject(rig));
    return create_names(rig);
}

void rig_close(struct rig *rig)
{
    cps_machine_destroy(rig->machine);
    native_close(rig->native);
    cps_err_free(rig->native_err);
    for (unsigned i = 0; i < CPS_CPU_COUNT; i++)
        cps_names_destroy(rig->names[i]);
    cps_fw_destroy(rig->me);
    cps_fw_destroy(rig->fw);
}

struct cps_err *rig_restart(struct rig *rig)
{
    cps_machine_destroy(rig->machine);
    rig->machine = NULL;
    rig->booted = rig->stopped = false;
    rig->place_count = 0;
    return build_machine(rig);
}

struct cps_err *rig_adopt(struct rig *rig, struct cps_machine *booted)
{
    cps_machine_destroy(rig->machine);
    rig->machine = NULL;
    CPS_TRY(cps_machine_clone(booted, &rig->machine));
    rig->booted = true;
    rig->stop = CPS_STOP_IDLE;
    rig_watch(rig);
    return NULL;
}

void rig_watch(struct rig *rig)
{
    cps_machine_sink(rig->machine, &rig->sink, rig->kinds | rig->extra | 1u << CPS_EV_UNMODELLED);
}

void rig_prepare(struct rig *rig)
{
    cps_machine_workarounds(rig->machine, cps_gpu_workarounds(rig->gpu));
}

void rig_boot(struct rig *rig)
{
    if (rig->booted)
        return;
    rig->booted = true;
    rig_prepare(rig);
    rig_watch(rig);
    rig->stop = cps_machine_boot(rig->machine, rig->opt->limit);
    rig->stopped = rig->stop != CPS_STOP_IDLE;
    if (rig->opt->native && !rig->native)
        rig->native_err = native_open(rig->machine, &rig->native);
}

struct cps_err *rig_play(struct rig *rig, struct cps_stream *capture)
{
    struct cps_err *err = cps_capture_read(capture, NULL, &rig->items);
    rig_boot(rig);
    cps_machine_end(rig->machine, rig->stop);
    return err;
}
