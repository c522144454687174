/* SPDX-License-Identifier: MIT
 * Streams for one packet, run on both revisions. */
#include "tools/prove/stage.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpscope.h"
#include "isa/base/pm4.h"
#include "isa/base/within.h"
#include "tools/report/names.h"
#include "trace/form/text.h"

#define MOST_TICKS 300000u /* of a stream: those are short */

/* Where streams lie. */
enum { FRAME = 0x00100000, CALL = 0x00010000, GROUP = 0x00140000 };
#define ADDRESS_MOST ((UINT64_C(1) << 48) - 8) /* of the words that a stream sets */

const char *stage_place(enum place_at place)
{
    static const char *const names[PLACES] = {"IB1", "IB2", "IB3", "a draw-state group",
                                              "the ring"};
    return names[place];
}

struct cps_err *stage_init(const struct cps_options *opt, struct stage *ret)
{
    *ret = (struct stage){.opt = opt};
    ret->kinds = RECORD_COMPARED | 1u << CPS_EV_PKT | 1u << CPS_EV_CTRL;
    const struct record_setup setup = {.opt = opt, .kinds = ret->kinds};
    struct cps_err *err = NULL;
    for (unsigned i = 0; i < 2 && !err; i++) {
        ret->path[i] = opt->fw[i];
        err = cps_fw_load(opt->fw[i], opt->gen, &ret->fw[i]);
        const char *const firmware[2] = {opt->fw[i], NULL};
        if (!err && ret->fw[i]->gen != CPS_A5XX)
            err = record_boot(&setup, firmware, &ret->boot[i]);
    }
    if (err)
        return err;
    const struct cps_trace_head head = {.gen = ret->fw[0]->gen, .layout = ret->fw[0]->layout};
    CPS_TRY(trace_names(&head, opt->rnn, ret->names));
    return record_mask_addresses(ret->names[CPS_CPU_SQE], &ret->mask);
}

void stage_deinit(struct stage *stage)
{
    for (unsigned i = 0; i < 2; i++) {
        record_boot_deinit(&stage->boot[i]);
        cps_fw_destroy(stage->fw[i]);
    }
    cps_mask_deinit(&stage->mask);
    trace_names_free(stage->names);
}

/* ---- Streams ---- */

static uint32_t header_of(const struct stage_packet *packet)
{
    if (packet->id != 4)
        return cps_pm4_type7(packet->id, packet->count);
    return cps_pm4_type4(0x8810, packet->count);
}

/* ---- What stands in front ---- */

static bool lies_in_stream(uint64_t address)
{
    return address + 4 > FRAME && address < GROUP + CALL;
}

static void set_memory(uint64_t address, uint32_t value, struct stage_setup *to)
{
    for (unsigned i = 0; i < to->mems; i++) {
        if (address + 4 > to->mem[i] && address < to->mem[i] + 4)
            return;
    }
    if (to->mems == SETUP_MOST || lies_in_stream(address) || address & 3 || address > ADDRESS_MOST)
        return;
    to->mem[to->mems] = address;
    to->mem_value[to->mems++] = value;
}

static void set_register(uint32_t number, uint32_t value, struct stage_setup *to)
{
    for (unsigned i = 0; i < to->regs; i++) {
        if (to->reg[i] == number)
            return;
    }
    if (to->regs == SETUP_MOST || !number)
        return;
    to->reg[to->regs] = number;
    to->reg_value[to->regs++] = value;
}

void stage_setup_words(const struct difference *d, struct stage_setup *ret)
{
    ret->regs = ret->mems = 0;
    for (uint32_t i = 0; i < d->regdata_count; i++)
        set_register(d->regdata_at[i], d->regdata[i], ret);
    for (uint32_t i = 0; i < d->memdata_count; i++)
        set_memory(d->memdata_at[i], d->memdata[i], ret);
    for (uint32_t i = 0; i < d->loaded_count; i++)
        set_memory(d->loaded_at[i], d->loaded[i], ret);
}

static void put_words(const struct stage_packet *packet, struct cps_buf *out)
{
    cps_buf_printf(out, "    .word 0x%08" PRIx32, header_of(packet));
    for (uint32_t i = 0; i < packet->count; i++)
        cps_buf_printf(out, " 0x%08" PRIx32, i < WITNESS_MOST ? packet->word[i] : 0);
    cps_buf_str(out, "\n");
}

static void put_setup(const struct stage_setup *setup, struct cps_buf *out)
{
    for (unsigned i = 0; setup && i < setup->packets; i++)
        put_words(&setup->packet[i], out);
    for (unsigned i = 0; setup && i < setup->regs; i++)
        cps_buf_printf(out, "    reg 0x%" PRIx32 " 0x%08" PRIx32 "\n", setup->reg[i],
                       setup->reg_value[i]);
}

void stage_set_up(struct stage_packet *packet, const struct stage_setup *setup)
{
    packet->setup = setup;
    packet->front = 2 * setup->regs;
    for (unsigned i = 0; i < setup->packets; i++)
        packet->front += 1 + setup->packet[i].count;
}

static void put_memory(const struct stage_setup *setup, struct cps_buf *out)
{
    for (unsigned i = 0; setup && i < setup->mems; i++)
        cps_buf_printf(out, "buffer 0x%08" PRIx64 " word%u\n    .word 0x%08" PRIx32 "\n",
                       setup->mem[i], i, setup->mem_value[i]);
}

/* The packet, and one behind it, which shows whether the stream is still in step. */
static void put_packet(const struct stage_packet *packet, struct cps_buf *out)
{
    put_words(packet, out);
    if (packet->next)
        cps_buf_printf(out, "    .word 0x%08" PRIx32,
                       cps_pm4_type7(packet->next, packet->next_count));
    for (unsigned i = 0; packet->next && i < packet->next_count; i++)
        cps_buf_str(out, " 0x1");
    cps_buf_str(out, packet->next ? "\n    CP_NOP 0x1\n" : "    CP_NOP 0x1\n");
}

static const char *gpu_line(enum cps_gen gen)
{
    switch (gen) {
    case CPS_A5XX:
        return "gpu 530";
    case CPS_A6XX:
        return "gpu 630";
    case CPS_A7XX:
        return "chip 0x43050a01";
    default:
        return "chip 0x44050001";
    }
}

/* Levels in front of the packet's: each calls the next. */
static void put_calls(enum place_at place, struct cps_buf *out)
{
    static const char *const name[] = {"frame", "ib2", "ib3"};
    for (unsigned i = 0; i < (unsigned)place; i++)
        cps_buf_printf(out, "    CP_INDIRECT_BUFFER @%s #%s\n    CP_NOP 0x3\nbuffer 0x%08x %s\n",
                       name[i + 1], name[i + 1], (unsigned)(FRAME + CALL * (i + 1)), name[i + 1]);
}

/* A group for all modes, and a draw that executes it. */
static void put_group(const struct stage_packet *packet, struct cps_buf *out)
{
    cps_buf_printf(out,
                   "    CP_SET_MARKER 0x1\n"
                   "    CP_SET_DRAW_STATE 0x%08" PRIx32 " @group\n"
                   "    CP_DRAW_INDX_OFFSET 0x84 1 3\n    CP_NOP 0x2\n"
                   "buffer 0x%08x group\n",
                   0x00700000 | (packet->count + 3 + (packet->next ? 1u + packet->next_count : 0)),
                   (unsigned)GROUP);
}

void stage_text(enum cps_gen gen, enum place_at place, const struct stage_packet *packet,
                const char *notes, struct cps_buf *out)
{
    cps_buf_printf(out, "# cpscope-pm4 1\n%s%s\n", notes ? notes : "", gpu_line(gen));
    cps_buf_printf(out, "buffer 0x%08x frame\n", (unsigned)FRAME);
    put_setup(packet->setup, out);
    if (place == AT_GROUP)
        put_group(packet, out);
    else if (place != AT_RING)
        put_calls(place, out);
    put_packet(packet, out);
    put_memory(packet->setup, out);
    cps_buf_str(out, place == AT_RING ? "init\nring frame\n" : "submit frame\n");
}

/* ---- Where a handler begins ---- */

/* The packet by its header and, but for the ring, which has no address of ours, by where it lies.
 */
struct wanted {
    uint32_t header;
    uint64_t iova; /* 0: wherever */
};

static struct wanted wanted_of(enum place_at place, const struct stage_packet *packet)
{
    static const uint64_t iova[PLACES] = {FRAME, FRAME + CALL, FRAME + 2 * CALL, GROUP, 0};
    uint32_t front = place == AT_IB1 ? 4 * packet->front : 0;
    return (struct wanted){header_of(packet), iova[place] + front};
}

static bool is_wanted(const struct wanted *wanted, const struct cps_event *event)
{
    return cps_event_kind(event) == CPS_EV_PKT && event->value == wanted->header &&
           (!wanted->iova || event->addr == wanted->iova);
}

struct watcher {
    struct cps_sink sink;
    struct wanted wanted;
    enum cps_processor who;
    bool seen;
};

static void watch(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    struct watcher *w = (struct watcher *)sink;
    for (size_t i = 0; i < count; i++)
        w->seen = w->seen || (is_wanted(&w->wanted, &events[i]) &&
                              cps_event_who(&events[i]) == (unsigned)w->who);
}

static void take_world(struct cps_engine *engine, unsigned core, struct world *ret)
{
    struct cps_place at = {.core = (uint8_t)core};
    uint64_t value = 0;
    for (unsigned i = 0; i < 32; i++) {
        at.file = CPS_FILE_GENERAL, at.number = i;
        ret->r[i] = cps_engine_get(engine, at, &value) ? (uint32_t)value : 0;
    }
    for (unsigned i = 0; i < SQE_COUNT; i++) {
        at.file = CPS_FILE_SQE, at.number = i;
        ret->sqe[i] = cps_engine_get(engine, at, &value) ? (uint32_t)value : 0;
    }
    for (unsigned i = 0; i < CONTROL_COUNT; i++) {
        at.file = CPS_FILE_CONTROL, at.number = i;
        ret->control[i] = cps_engine_get(engine, at, &value) ? (uint32_t)value : 0;
    }
    ret->known = true;
}

static bool find_core(const struct cps_engine *engine, enum cps_processor who, unsigned *ret)
{
    for (*ret = 0; *ret < engine->cores; ++*ret) {
        if (engine->who[*ret] == (uint8_t)who)
            return true;
    }
    return false;
}

/* Runs until the packet's handler begins on that core. */
static void run_until(struct cps_engine *engine, struct watcher *w, uint32_t pc, struct world *ret)
{
    for (uint32_t ticks = 0; ticks < MOST_TICKS; ticks++) {
        unsigned core = 0;
        if (cps_engine_run(engine, 1) != CPS_STOP_BUDGET)
            return;
        cps_engine_sink(engine, &w->sink, 1u << CPS_EV_PKT); /* hands over what is pending */
        if (w->seen && find_core(engine, w->who, &core) &&
            cps_engine_where(engine, core).pc == pc) {
            take_world(engine, core, ret);
            return;
        }
    }
}

static struct cps_err *play_until(struct play *play, struct watcher *w, uint32_t pc,
                                  struct world *ret)
{
    for (size_t i = 0; i < play->feed.count && !ret->known; i++) {
        const struct cps_item *item = &play->feed.item[i];
        if (item->kind == CPS_ITEM_INIT)
            continue; /* it has booted */
        CPS_TRY(cps_engine_feed(play->engine, item));
        if (item->kind == CPS_ITEM_SUBMIT || item->kind == CPS_ITEM_RING)
            run_until(play->engine, w, pc, ret);
    }
    return NULL;
}

static struct cps_err *open_at(struct play *play, const struct cps_options *opt,
                               const struct record_boot *boot, const struct cps_buf *text,
                               struct cps_stream **stream)
{
    CPS_TRY(cps_stream_open_memory("a stream", cps_buf_text(text), text->size, stream));
    CPS_TRY(play_borrow(play, opt, boot->play, boot->engine));
    return play_gather(play, *stream);
}

struct cps_err *stage_world(const struct stage *stage, unsigned side, enum cps_processor who,
                            uint32_t pc, enum place_at place, const struct stage_packet *packet,
                            struct world *ret)
{
    struct watcher w = {.sink.put = watch, .wanted = wanted_of(place, packet), .who = who};
    struct cps_options opt = *stage->opt;
    struct cps_stream *stream = NULL;
    CPS_BUF text = {0};
    memset(ret, 0, sizeof(*ret));
    const struct record_boot *boot = &stage->boot[side];
    if (!boot->booted)
        return NULL;
    opt.fw[0] = stage->path[side];
    opt.fw_count = 1;
    stage_text(stage->fw[side]->gen, place, packet, NULL, &text);
    if (text.failed)
        return cps_err_nomem();
    struct play *play = calloc(1, sizeof(*play));
    struct cps_err *err = play ? NULL : cps_err_nomem();
    if (!err)
        err = open_at(play, &opt, boot, &text, &stream);
    if (!err) {
        cps_engine_sink(play->engine, &w.sink, 1u << CPS_EV_PKT);
        err = play_until(play, &w, pc, ret);
        cps_engine_sink(play->engine, NULL, 0);
    }
    if (play && play->engine)
        play_return(play, boot->play);
    if (play)
        play_close(play);
    free(play);
    cps_stream_close(stream);
    return err;
}

/* ---- Both revisions ---- */

static void describe(const struct stage *stage, const struct cps_difference *d, char *ret,
                     size_t size)
{
    CPS_BUF text = {0};
    const struct cps_event *event = d->a ? d->a : d->b;
    const char *how = !d->b ? "only the old revision: " : !d->a ? "only the new revision: " : "";
    cps_text_event(&text, event, stage->names[cps_event_who(event)], false);
    char *end = strchr(cps_buf_text(&text), '\n');
    if (end)
        *end = 0;
    if (d->a && d->b)
        snprintf(ret, size, "%s; the new revision has 0x%08" PRIx32, cps_buf_text(&text),
                 d->b->value);
    else
        snprintf(ret, size, "%s%s", how, cps_buf_text(&text));
}

/* Leaves the events of one processor from the packet on: what stands in front of it brings it to
 * its place, and what others do differently is the business of their handlers. */
static void keep_packet(struct record *record, enum cps_processor who, const struct wanted *wanted)
{
    size_t count = 0;
    bool seen = false;
    for (size_t i = 0; i < record->count; i++) {
        const struct cps_event *event = &record->event[i];
        if (cps_event_who(event) != (unsigned)who)
            continue;
        seen = seen || is_wanted(wanted, event);
        if (seen)
            record->event[count++] = *event;
    }
    record->count = count;
}

/* A copy of a processor's events. */
static struct cps_err *copy_events(const struct record *from, enum cps_processor who,
                                   struct record *ret)
{
    *ret = (struct record){.account = from->account};
    ret->event = calloc(from->count + 1, sizeof(*ret->event));
    if (!ret->event)
        return cps_err_nomem();
    for (size_t i = 0; i < from->count; i++) {
        if (cps_event_who(&from->event[i]) == (unsigned)who)
            ret->event[ret->count++] = from->event[i];
    }
    return NULL;
}

/* Private control registers under their old numbers. */
static void renumber(struct record *record, const uint16_t *scratch)
{
    for (size_t i = 0; i < record->count; i++) {
        struct cps_event *event = &record->event[i];
        if (cps_event_kind(event) == CPS_EV_CTRL && event->addr < CONTROL_COUNT &&
            scratch[event->addr] < CONTROL_COUNT)
            event->addr = scratch[event->addr];
    }
}

static struct cps_err *compare_kinds(const struct stage *stage, const struct record record[2],
                                     uint32_t kinds, struct stage_answer *ret)
{
    const struct cps_diff_options options = {.kinds = kinds, .mask = &stage->mask};
    struct cps_diff diff = {0};
    CPS_TRY(cps_diff_events(record[0].event, record[0].count, record[1].event, record[1].count,
                            &options, NULL, NULL, &diff));
    ret->different = diff.differences != 0;
    if (ret->different)
        describe(stage, &diff.first, ret->text, sizeof(ret->text));
    cps_diff_deinit(&diff);
    return NULL;
}

static const char *stop_name(const struct record *record)
{
    return cps_event_sub_word(CPS_EV_END, cps_stop_reason(record->account.stop));
}

/* First what others see, then control registers. */
static struct cps_err *compare_records(const struct stage *stage, const uint16_t *scratch,
                                       struct record record[2], struct stage_answer *ret)
{
    uint32_t kinds = stage->kinds & ~(1u << CPS_EV_END);
    renumber(&record[1], scratch);
    CPS_TRY(compare_kinds(stage, record, kinds & ~(1u << CPS_EV_CTRL), ret));
    if (!ret->different && record[0].account.stop != record[1].account.stop) {
        ret->different = true;
        snprintf(ret->text, sizeof(ret->text),
                 "the old revision ends with \"%s\", the new one with \"%s\"",
                 stop_name(&record[0]), stop_name(&record[1]));
    }
    if (ret->different)
        return NULL;
    CPS_TRY(compare_kinds(stage, record, kinds, ret));
    ret->hidden = ret->different;
    return NULL;
}

struct cps_err *stage_compare_boots(const struct stage *stage, enum cps_processor who,
                                    const uint16_t *scratch, bool *ret_known,
                                    struct stage_answer *ret)
{
    struct record record[2] = {{0}, {0}};
    struct cps_err *err = NULL;
    *ret = (struct stage_answer){0};
    for (unsigned i = 0; i < 2 && !err; i++)
        err = copy_events(&stage->boot[i].record, who, &record[i]);
    *ret_known = record[0].count && record[1].count;
    if (!err && *ret_known)
        err = compare_records(stage, scratch, record, ret);
    record_deinit(&record[0]);
    record_deinit(&record[1]);
    return err;
}

struct cps_err *stage_compare(const struct stage *stage, enum cps_processor who,
                              const uint16_t *scratch, const struct cps_buf *text,
                              enum place_at place, const struct stage_packet *packet,
                              struct stage_answer *ret)
{
    const struct wanted wanted = wanted_of(place, packet);
    struct record record[2] = {{0}, {0}};
    struct cps_options opt = *stage->opt;
    struct cps_err *err = NULL;
    *ret = (struct stage_answer){0};
    opt.limit = MOST_TICKS;
    const struct record_setup setup = {.opt = &opt, .kinds = stage->kinds, .text = text};
    for (unsigned i = 0; i < 2 && !err; i++) {
        const char *const firmware[2] = {stage->path[i], NULL};
        /* What the boot did differently is no answer. */
        struct record_boot boot = stage->boot[i];
        boot.record = (struct record){0};
        err = record_run(&setup, firmware, "a stream", &boot, &record[i]);
    }
    for (unsigned i = 0; i < 2 && !err; i++)
        keep_packet(&record[i], who, &wanted);
    if (!err)
        err = compare_records(stage, scratch, record, ret);
    record_deinit(&record[0]);
    record_deinit(&record[1]);
    return err;
}
