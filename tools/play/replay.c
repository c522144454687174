/* SPDX-License-Identifier: MIT
 * A hardware dump as items: memory, inputs, the ring from where its history begins, and the tick at
 * which the hardware stood. */
#include "tools/play/replay.h"

#include <inttypes.h>
#include <string.h>

#include "emu/afuc/afuc.h"
#include "isa/base/pm4.h"

enum { CP_EVENT_WRITE = 0x46, CP_ME_INIT = 0x48, CP_THREAD_CONTROL = 0x17, CACHE_FLUSH_TS = 4 };

/* Registers that the driver sets before the processor starts, and that firmware reads: inputs of
 * the replay, not results (ring, start addresses, CP_PROTECT, access control, thresholds). */
static const struct {
    uint32_t first, last;
} inputs[] = {
    {0x800, 0x805},
    {0x830, 0x831},
    {0x840, 0x87f},
    {0x8c0, 0x8c4},
};

static uint32_t ring_dwords(const struct dump_ring *ring)
{
    return (uint32_t)(ring->size / 4);
}

static uint32_t ring_word(const struct replay *r, uint32_t at)
{
    uint32_t word = 0;
    dump_memory(r->dump, r->ring->iova + 4 * (uint64_t)(at % ring_dwords(r->ring)), &word);
    return word;
}

/* The ring still begins with what the driver sent first, and has not come round. */
static bool begins_with_boot(const struct replay *r)
{
    uint32_t at = 0;
    struct cps_pm4 packet = cps_pm4_decode(ring_word(r, at));
    if (packet.kind == CPS_PM4_TYPE7 && packet.opcode == CP_THREAD_CONTROL)
        packet = cps_pm4_decode(ring_word(r, at += packet.count + 1));
    bool fresh = r->ring->wptr + 1 >= ring_dwords(r->ring) || !ring_word(r, r->ring->wptr);
    return fresh && packet.kind == CPS_PM4_TYPE7 && packet.opcode == CP_ME_INIT;
}

/* Behind the time stamp with which the last retired submission ended; false if the ring does not
 * hold it any more. */
static bool behind_retired(const struct replay *r, uint32_t *ret)
{
    uint32_t size = ring_dwords(r->ring);
    bool found = false;
    for (uint32_t i = 1; i < size; i++) {
        uint32_t at = (r->ring->wptr + i) % size;
        struct cps_pm4 packet = cps_pm4_decode(ring_word(r, at));
        bool stamp = packet.kind == CPS_PM4_TYPE7 && packet.opcode == CP_EVENT_WRITE &&
                     packet.count >= 4 && (ring_word(r, at + 1) & 0x3f) == CACHE_FLUSH_TS &&
                     ring_word(r, at + 4) == r->ring->retired_fence;
        if (!stamp)
            continue;
        *ret = (at + packet.count + 1) % size;
        found = true;
    }
    return found;
}

/* Whether packets from @p at follow each other to exactly the write pointer. */
static bool leads_to_end(const struct replay *r, uint32_t at)
{
    uint32_t size = ring_dwords(r->ring);
    uint32_t left = (r->ring->wptr + size - at) % size;
    while (left) {
        struct cps_pm4 packet = cps_pm4_decode(ring_word(r, at));
        if (packet.kind == CPS_PM4_BAD || packet.count + 1 > left)
            return false;
        left -= packet.count + 1;
        at = (at + packet.count + 1) % size;
    }
    return true;
}

/* The oldest place from which the ring can be read. */
static uint32_t oldest(const struct replay *r)
{
    uint32_t size = ring_dwords(r->ring);
    for (uint32_t i = 1; i < size; i++) {
        if (leads_to_end(r, (r->ring->wptr + i) % size))
            return (r->ring->wptr + i) % size;
    }
    return r->ring->wptr;
}

static void find_start(struct replay *r)
{
    r->from_boot = begins_with_boot(r);
    const char *where = "the boot";
    if (r->from_boot) {
        r->start = 0;
    } else if (behind_retired(r, &r->start)) {
        where = "the end of the last retired submission";
    } else {
        r->start = oldest(r);
        where = "the oldest packet that the ring holds";
    }
    snprintf(r->scope, sizeof(r->scope),
             "ring %" PRIu32 " from dword %" PRIu32 " (%s) to %" PRIu32 ", fence %" PRIu32
             " retired, %" PRIu32 " submitted",
             r->ring->id, r->start, where, r->ring->wptr, r->ring->retired_fence,
             r->ring->last_fence);
}

static struct cps_err *add_memory(struct replay *h)
{
    for (size_t i = 0; i < h->dump->data_count; i++) {
        const struct dump_data *data = &h->dump->data[i];
        const struct cps_item item = {
            .kind = CPS_ITEM_DATA,
            .buffer = {.iova = data->iova, .size = data->size, .data = data->bytes}};
        CPS_TRY(feed_add_shared(&h->play->feed, &item));
    }
    return NULL;
}

static struct cps_err *add_inputs(struct replay *h)
{
    for (size_t i = 0; i < sizeof(inputs) / sizeof(inputs[0]); i++) {
        for (uint32_t reg = inputs[i].first; reg <= inputs[i].last; reg++) {
            struct cps_item item = {.kind = CPS_ITEM_REGISTER, .reg = {.offset = reg}};
            if (!dump_reg(h->dump, reg, &item.reg.value))
                continue;
            CPS_TRY(feed_add_shared(&h->play->feed, &item));
        }
    }
    return NULL;
}

/* Without the boot in the ring, our own stands in for the part of the history that is missing. */
static struct cps_err *add_ring(struct replay *h)
{
    const struct cps_item init = {.kind = CPS_ITEM_INIT};
    const struct cps_item ring = {
        .kind = CPS_ITEM_RING,
        .ring = {
            .iova = h->ring->iova, .size = h->ring->size, .rptr = h->start, .wptr = h->ring->wptr}};
    if (!h->from_boot)
        CPS_TRY(feed_add_shared(&h->play->feed, &init));
    return feed_add_shared(&h->play->feed, &ring);
}

static bool tables_equal(const struct replay *h, struct cps_engine *engine)
{
    const uint32_t *table = dump_table(h->dump);
    for (unsigned id = 0; table && id < 128; id++) {
        if (table[id] != cps_afuc_packet_table(cps_afuc_of(engine), 0, id))
            return false;
    }
    return table != NULL;
}

/* The emulated processor is in the packet that the hardware was in: the same header, at the same
 * level, at a place of its stream from which the hardware can have read what it has read. */
static bool at_hang(const struct replay *h, struct cps_engine *engine)
{
    const struct dump_block *stat = dump_block(h->dump, "CP_SQE_STAT");
    const struct cps_afuc *machine = cps_afuc_of(engine);
    uint32_t header = cps_afuc_header(machine, 0, 0);
    uint32_t level = cps_afuc_level(machine, 0) & 7;
    struct dump_position hardware;
    uint64_t rem = 0;
    if (header != dump_word(stat, 0x24) || level != (dump_word(stat, 0x28) & 7) ||
        !dump_position(h->dump, h->ring, level, &hardware))
        return false;
    struct cps_position here = cps_afuc_position(machine, 0, level);
    cps_engine_get(engine, (struct cps_place){0, CPS_FILE_GENERAL, 0x1c}, &rem);
    return (level == 0 || here.iova == hardware.iova) && here.consumed <= hardware.consumed &&
           hardware.consumed <= here.consumed + rem + 1;
}

/* Step by step to that packet, and on to the hardware's program counter where the firmware is the
 * same; gives up where the packet ends. */
static enum cps_stop step_to_hang(const struct replay *h, struct cps_engine *engine)
{
    uint32_t pc = dump_word(dump_block(h->dump, "CP_SQE_STAT"), 0);
    uint64_t left = h->play->opt->limit;
    enum cps_stop stop = cps_engine_run(engine, 1);
    for (; left && stop == CPS_STOP_BUDGET && !at_hang(h, engine); left--)
        stop = cps_engine_run(engine, 1);
    uint64_t packets = engine->packets;
    while (left-- && h->same_firmware && stop == CPS_STOP_BUDGET &&
           cps_engine_where(engine, 0).pc != pc && engine->packets == packets)
        stop = cps_engine_run(engine, 1);
    return stop;
}

/* Everything but what runs the ring, on an engine that nobody watches. */
static struct cps_err *approach(const struct replay *h, struct cps_engine *engine)
{
    const struct feed *feed = &h->play->feed;
    bool begun = false;
    for (size_t i = 0; i < feed->count; i++) {
        bool acts = cps_item_acts(&feed->item[i]);
        if (acts && !begun)
            cps_engine_run(engine, h->play->opt->limit);
        begun |= acts;
        CPS_TRY(cps_engine_feed(engine, &feed->item[i]));
        if (acts && i + 1 < feed->count)
            cps_engine_run(engine, h->play->opt->limit);
    }
    return NULL;
}

/* A hang that the firmware caused itself (a packet it refuses) is where a whole run ends. One that
 * waits for the rest of the GPU is not: that one is looked for packet by packet. */
static struct cps_err *find_position(struct replay *h, struct cps_engine *engine)
{
    struct cps_engine *stepped = NULL;
    CPS_TRY(approach(h, engine));
    h->same_firmware = tables_equal(h, engine);
    CPS_TRY(cps_engine_clone(engine, &stepped));
    enum cps_stop stop = cps_engine_run(engine, h->play->opt->limit);
    if (stop == CPS_STOP_IDLE && dump_block(h->dump, "CP_SQE_STAT")) {
        stop = step_to_hang(h, stepped);
        h->play->feed.until = stepped->clock;
    }
    cps_engine_destroy(stepped);
    return stop == CPS_STOP_NOMEM ? cps_err_nomem() : NULL;
}

static struct cps_err *find_items(struct replay *h)
{
    struct cps_engine *probe = NULL;
    h->ring = dump_hung_ring(h->dump);
    if (!h->ring || h->ring->size < 64)
        return cps_err_new(CPS_ERR_INPUT, "the dump holds no ring, expected one to replay");
    find_start(h);
    CPS_TRY(add_memory(h));
    CPS_TRY(add_inputs(h));
    CPS_TRY(add_ring(h));
    CPS_TRY(cps_engine_clone(h->play->engine, &probe));
    struct cps_err *err = find_position(h, probe);
    cps_engine_destroy(probe);
    return err;
}

struct cps_err *play_dump_items(struct play *play)
{
    const struct cps_item chip = {.kind = CPS_ITEM_CHIP,
                                  .chip = {.gpu_id = (uint32_t)play->dump->gpu}};
    play->gpu = play->dump->gpu;
    CPS_TRY(play_check_gpu(play));
    if (!cps_afuc_of(play->engine))
        return cps_err_new(CPS_ERR_INPUT, "a hardware dump is of Adreno, the engine is %s",
                           play->engine->ops->name);
    play->replay = calloc(1, sizeof(*play->replay));
    if (!play->replay)
        return cps_err_nomem();
    *play->replay = (struct replay){.dump = play->dump, .play = play};
    CPS_TRY(feed_add_shared(&play->feed, &chip));
    return find_items(play->replay);
}

struct cps_err *play_read_dump(struct play *play, struct cps_stream *capture)
{
    const uint8_t *data = NULL;
    size_t size = 0;
    CPS_TRY(cps_stream_peek(capture, 64, &data, &size));
    if (!cps_capture_is_hang(data, size))
        return NULL;
    play->dump = calloc(1, sizeof(*play->dump));
    if (!play->dump)
        return cps_err_nomem();
    return dump_read(play->dump, capture);
}

void replay_free(struct replay *replay)
{
    free(replay);
}
