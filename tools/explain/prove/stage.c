/* SPDX-License-Identifier: MIT
 * Streams for one packet, run on both revisions. */
#include "tools/explain/prove/task.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cpscope.h"
#include "isa/base/pm4.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/run/names.h"

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

/* ---- Both revisions, booted ---- */

/* The other processor's file of a5xx, which lies beside one of these: a530_pfp.fw, a530_pm4.fw.
 * Without it nothing runs. */
static void find_partner(const char *path, enum cps_fw_role role, char ret[STAGE_PATH])
{
    const char *from = role == CPS_FW_ME ? "pm4" : "pfp";
    const char *to = role == CPS_FW_ME ? "pfp" : "pm4";
    const char *base = strrchr(path, '/');
    const char *at = strstr(base ? base : path, from);
    int length =
        at ? snprintf(ret, STAGE_PATH, "%.*s%s%s", (int)(at - path), path, to, at + strlen(from))
           : STAGE_PATH;
    if (length >= STAGE_PATH || access(ret, R_OK))
        ret[0] = '\0';
}

static struct cps_err *choose_partner(const struct cps_run_config *config, struct stage *stage)
{
    bool pair = cps_gen_row(stage->fw[0]->gen)->files > 1;
    if (!pair && config->fw_count > 2)
        return cps_err_new(CPS_ERR_USAGE,
                           "%s: a third --fw is for a5xx, whose other processor has a file of its "
                           "own",
                           config->fw[2]);
    if (config->fw_count > 2)
        snprintf(stage->partner, STAGE_PATH, "%s", config->fw[2]);
    for (unsigned i = 2; pair && i-- && !*stage->partner;)
        find_partner(config->fw[i], stage->fw[0]->part[0].role, stage->partner);
    return NULL;
}

void stage_firmware(const struct stage *stage, unsigned side, const char *ret[2])
{
    ret[0] = stage->path[side];
    ret[1] = *stage->partner ? stage->partner : NULL;
}

static struct cps_err *borrow(const struct cps_run_config *config, const struct record_boot *boot,
                              struct play **ret)
{
    *ret = tool_alloc(1, sizeof(**ret));
    return play_borrow(*ret, config, boot->play, boot->engine);
}

static void give_back(struct play *play, const struct record_boot *boot)
{
    if (play->engine)
        play_return(play, boot->play);
    play_close(play);
    free(play);
}

/* Where the events of a boot go that is run here. */
struct keeper {
    struct cps_sink sink;
    struct record *record;
};

static void keep_events(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    record_keep(((struct keeper *)sink)->record, events, count);
}

/* A boot of a5xx depends on the chip, which is that of the streams. */
static struct cps_err *boot_pair(const struct cps_run_config *config, uint32_t kinds,
                                 struct record_boot *boot)
{
    const struct cps_item chip = stage_chip(CPS_A5XX);
    struct keeper keeper = {{keep_events}, &boot->record};
    struct cps_engine *booted = NULL;
    struct play *play = NULL;
    CPS_TRY(borrow(config, boot, &play));
    struct cps_err *err = cps_engine_feed(play->engine, &chip);
    if (!err) {
        play->kinds = kinds;
        play->trace = &keeper.sink;
        play_boot(play);
        boot->booted = !play->stopped;
        tool_must(cps_engine_clone(play->engine, &booted));
    }
    give_back(play, boot);
    if (booted) {
        cps_engine_destroy(boot->engine);
        boot->engine = booted;
    }
    return err;
}

struct cps_err *stage_boot(const struct stage *stage, unsigned side, const char *inject,
                           struct record_boot *ret)
{
    struct cps_run_config config = *stage->config;
    const struct record_setup setup = {.config = &config, .kinds = stage->kinds};
    bool pair = cps_gen_row(stage->fw[0]->gen)->files > 1;
    const char *firmware[2];
    *ret = (struct record_boot){0};
    if (pair && !*stage->partner)
        return NULL;
    config.inject = inject;
    stage_firmware(stage, side, firmware);
    CPS_TRY(record_boot(&setup, firmware, ret));
    return pair ? boot_pair(&config, stage->kinds, ret) : NULL;
}

struct cps_err *stage_init(const struct cps_run_config *config, struct stage *ret)
{
    *ret = (struct stage){.config = config};
    ret->kinds = RECORD_COMPARED | 1u << CPS_EV_PKT | 1u << CPS_EV_CTRL;
    for (unsigned i = 0; i < 2; i++) {
        ret->path[i] = config->fw[i];
        CPS_TRY(cps_fw_load(config->fw[i], config->gen, &ret->fw[i]));
    }
    CPS_TRY(choose_partner(config, ret));
    for (unsigned i = 0; i < 2; i++)
        CPS_TRY(stage_boot(ret, i, NULL, &ret->boot[i]));
    const struct cps_trace_head head = {.gen = ret->fw[0]->gen, .layout = ret->fw[0]->layout};
    CPS_TRY(trace_names(&head, config->rnn, ret->names));
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

uint32_t stage_header(const struct stage_packet *packet)
{
    if (packet->id != 4)
        return cps_pm4_type7(packet->id, packet->count);
    return cps_pm4_type4(0x8810, packet->count);
}

/* ---- What is set before the packet ---- */

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

void stage_set_up(struct stage_packet *packet, const struct difference *d)
{
    struct stage_setup *to = &packet->setup;
    to->regs = to->mems = 0;
    for (uint32_t i = 0; i < d->regdata_count; i++)
        set_register(d->regdata_at[i], d->regdata[i], to);
    for (uint32_t i = 0; i < d->memdata_count; i++)
        set_memory(d->memdata_at[i], d->memdata[i], to);
    for (uint32_t i = 0; i < d->loaded_count; i++)
        set_memory(d->loaded_at[i], d->loaded[i], to);
}

static void put_words(const struct stage_packet *packet, struct cps_buf *out)
{
    cps_buf_printf(out, "    .word 0x%08" PRIx32, stage_header(packet));
    for (uint32_t i = 0; i < packet->count; i++)
        cps_buf_printf(out, " 0x%08" PRIx32, i < WITNESS_MOST ? packet->word[i] : 0);
    cps_buf_str(out, "\n");
}

/* The packet, and one after it, which shows whether the stream is still in step. */
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

struct cps_item stage_chip(enum cps_gen gen)
{
    static const uint32_t chips[] = {
        [CPS_A5XX] = 530, [CPS_A6XX] = 630, [CPS_A7XX] = 0x43050a01, [CPS_A8XX] = 0x44050001};
    return (struct cps_item){.kind = CPS_ITEM_CHIP, .chip = {.gpu_id = chips[gen]}};
}

/* Levels above the packet's: each calls the next. */
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

void stage_head(enum cps_gen gen, struct cps_buf *out)
{
    uint32_t chip = stage_chip(gen).chip.gpu_id;
    cps_buf_str(out, "# cpscope-pm4 1\n");
    cps_buf_printf(out, chip < 1000 ? "gpu %" PRIu32 "\n" : "chip 0x%08" PRIx32 "\n", chip);
}

void stage_text(enum cps_gen gen, enum cps_processor who, enum place_at place,
                const struct stage_packet *packet, struct cps_buf *out)
{
    const struct stage_setup *setup = &packet->setup;
    stage_head(gen, out);
    cps_buf_printf(out, "buffer 0x%08x frame\n", (unsigned)FRAME);
    for (unsigned i = 0; i < setup->regs; i++)
        cps_buf_printf(out, "    reg 0x%" PRIx32 " 0x%08" PRIx32 "\n", setup->reg[i],
                       setup->reg_value[i]);
    if (place == AT_GROUP)
        put_group(packet, out);
    else if (place != AT_RING)
        put_calls(place, out);
    put_packet(packet, out);
    for (unsigned i = 0; i < setup->mems; i++)
        cps_buf_printf(out, "buffer 0x%08" PRIx64 " word%u\n    .word 0x%08" PRIx32 "\n",
                       setup->mem[i], i, setup->mem_value[i]);
    cps_buf_str(out, place == AT_RING      ? "init\nring frame\n"
                     : who == CPS_CPU_LPAC ? "submit frame lpac\n"
                                           : "submit frame\n");
}

/* ---- Where a handler begins ---- */

/* What the PFP sends the ME has no address. */
struct stage_mark stage_mark(enum cps_processor who, enum place_at place,
                             const struct stage_packet *packet)
{
    static const uint64_t iova[PLACES] = {FRAME, FRAME + CALL, FRAME + 2 * CALL, GROUP, 0};
    uint32_t front = place == AT_IB1 ? 4 * 2 * packet->setup.regs : 0;
    return (struct stage_mark){stage_header(packet), who == CPS_CPU_ME ? 0 : iova[place] + front,
                               ""};
}

bool stage_is_marked(const struct stage_mark *mark, const struct cps_event *event)
{
    return cps_event_kind(event) == CPS_EV_PKT && event->value == mark->header &&
           (!mark->iova || event->addr == mark->iova);
}

uint32_t stage_value(const struct play *play, unsigned core, char file, uint32_t number)
{
    const struct cps_location at = {.core = (uint8_t)core, .file = file, .number = number};
    uint64_t value = 0;
    return cps_engine_get(play->engine, at, &value) ? (uint32_t)value : 0;
}

static bool find_core(const struct cps_engine *engine, enum cps_processor who, unsigned *ret)
{
    for (*ret = 0; *ret < engine->cores; ++*ret) {
        if (engine->who[*ret] == (uint8_t)who)
            return true;
    }
    return false;
}

static void watch_packets(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    struct stage_watch *w = (struct stage_watch *)sink;
    for (size_t i = 0; i < count; i++)
        w->seen = w->seen || (stage_is_marked(&w->mark, &events[i]) &&
                              cps_event_who(&events[i]) == (unsigned)w->who);
}

/* Runs until the handler begins. @return CPS_STOP_BUDGET if it does, or after that many ticks */
static enum cps_stop run_until(struct stage_watch *w)
{
    w->sink.put = watch_packets;
    cps_engine_sink(w->play->engine, &w->sink, 1u << CPS_EV_PKT);
    for (uint32_t ticks = 0; ticks < w->most_ticks; ticks++) {
        enum cps_stop stop = cps_engine_run(w->play->engine, 1);
        if (stop != CPS_STOP_BUDGET)
            return stop;
        /* Hands over events that are pending. */
        cps_engine_sink(w->play->engine, &w->sink, 1u << CPS_EV_PKT);
        if (w->seen && cps_engine_where(w->play->engine, w->core).pc == w->pc) {
            for (unsigned i = 0; i < 32; i++)
                w->world->r[i] = stage_value(w->play, w->core, CPS_FILE_GENERAL, i);
            for (unsigned i = 0; i < SQE_COUNT; i++)
                w->world->sqe[i] = stage_value(w->play, w->core, CPS_FILE_SQE, i);
            for (unsigned i = 0; i < CONTROL_COUNT; i++)
                w->world->control[i] = stage_value(w->play, w->core, CPS_FILE_CONTROL, i);
            w->world->known = true;
            break;
        }
    }
    return CPS_STOP_BUDGET;
}

static struct cps_err *play_items(struct stage_watch *w)
{
    const struct feed *feed = &w->play->feed;
    for (size_t i = 0; i < feed->count && w->stop == CPS_STOP_IDLE; i++) {
        const struct cps_item *item = &feed->item[i];
        if (item->kind == CPS_ITEM_INIT)
            continue; /* it has booted */
        CPS_TRY(cps_engine_feed(w->play->engine, item));
        if (item->kind != CPS_ITEM_SUBMIT && item->kind != CPS_ITEM_RING)
            continue;
        if (!w->world->known) {
            w->stop = run_until(w);
            if (w->world->known && w->begun)
                w->begun(w);
        }
        if (w->world->known && w->begun)
            w->stop = cps_engine_run(w->play->engine, w->ticks_after);
    }
    tool_need(w->stop != CPS_STOP_NOMEM);
    return NULL;
}

struct cps_err *stage_play(const struct stage *stage, unsigned side, const struct cps_buf *text,
                           struct stage_watch *w)
{
    const struct record_boot *boot = &stage->boot[side];
    struct cps_run_config config = *stage->config;
    struct cps_stream *stream = NULL;
    config.fw[0] = stage->path[side];
    config.fw_count = 1;
    w->world->known = false;
    w->stop = CPS_STOP_IDLE;
    if (!boot->booted)
        return NULL;
    CPS_TRY(cps_stream_open_memory("a stream", tool_text(text), text->size, &stream));
    struct cps_err *err = borrow(&config, boot, &w->play);
    if (!err)
        err = play_gather(w->play, stream);
    if (!err && find_core(w->play->engine, w->who, &w->core)) {
        err = play_items(w);
        cps_engine_sink(w->play->engine, NULL, 0);
    }
    give_back(w->play, boot);
    cps_stream_close(stream);
    return err;
}

struct cps_err *stage_world(const struct stage *stage, unsigned side, enum cps_processor who,
                            uint32_t pc, enum place_at place, const struct stage_packet *packet,
                            struct world *ret)
{
    struct stage_watch w = {.mark = stage_mark(who, place, packet),
                            .who = who,
                            .pc = pc,
                            .most_ticks = MOST_TICKS,
                            .world = ret};
    CPS_BUF text = {0};
    memset(ret, 0, sizeof(*ret));
    stage_text(stage->fw[side]->gen, who, place, packet, &text);
    return stage_play(stage, side, &text, &w);
}
