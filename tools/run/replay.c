/* SPDX-License-Identifier: MIT
 * A hardware dump as items: memory, inputs, the ring from where its history begins, and the tick at
 * which the hardware stood. */
#include "tools/run/replay.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emu/afuc/afuc.h"
#include "isa/base/pm4.h"
#include "isa/packet.h"
#include "tools/run/code.h"
#include "trace/capture/rd_write.h"
#include "trace/out/json.h"

enum { CACHE_FLUSH_TS = 4 };

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

/* Behind the time stamp with which the last retired submission ended; false if the ring does not
 * hold it any more. */
static bool behind_retired(const struct replay *r, uint32_t *ret)
{
    uint32_t size = ring_dwords(r->ring);
    bool found = false;
    for (uint32_t i = 1; i < size; i++) {
        uint32_t at = (r->ring->wptr + i) % size;
        struct cps_pm4 packet = cps_pm4_decode(ring_word(r, at));
        bool stamp = packet.kind == CPS_PM4_TYPE7 && packet.opcode == PM4_CP_EVENT_WRITE &&
                     packet.count >= 4 && (ring_word(r, at + 1) & 0x3f) == CACHE_FLUSH_TS &&
                     ring_word(r, at + 4) == r->ring->retired_fence;
        if (!stamp)
            continue;
        *ret = (at + packet.count + 1) % size;
        found = true;
    }
    return found;
}

/* The oldest place from which packets follow each other to exactly the write pointer. Places are
 * counted backwards from there. */
static struct cps_err *find_oldest(struct replay *r)
{
    uint32_t size = ring_dwords(r->ring);
    uint32_t wptr = r->ring->wptr % size;
    bool *leads = calloc(size, sizeof(*leads));
    if (!leads)
        return cps_err_nomem();
    leads[0] = true;
    r->start = wptr;
    for (uint32_t back = 1; back < size; back++) {
        uint32_t at = (wptr + size - back) % size;
        struct cps_pm4 packet = cps_pm4_decode(ring_word(r, at));
        leads[back] =
            packet.kind != CPS_PM4_BAD && packet.count < back && leads[back - packet.count - 1];
        if (leads[back])
            r->start = at;
    }
    free(leads);
    return NULL;
}

/* Whether the ring calls a stream before dword @p end. */
static bool calls_streams(const struct replay *r, uint32_t end)
{
    for (uint32_t at = r->start; at < end;) {
        struct cps_pm4 packet = cps_pm4_decode(ring_word(r, at));
        if (packet.kind == CPS_PM4_TYPE7 && packet.opcode == PM4_CP_INDIRECT_BUFFER)
            return true;
        at += packet.count + 1;
    }
    return false;
}

static struct cps_err *find_start(struct replay *r)
{
    /* The ring still begins with what the driver sent first, and has not come round. */
    uint32_t at = 0;
    struct cps_pm4 packet = cps_pm4_decode(ring_word(r, at));
    if (packet.kind == CPS_PM4_TYPE7 && packet.opcode == PM4_CP_THREAD_CONTROL)
        packet = cps_pm4_decode(ring_word(r, at += packet.count + 1));
    bool fresh = r->ring->wptr + 1 >= ring_dwords(r->ring) || !ring_word(r, r->ring->wptr);
    r->from_boot = fresh && packet.kind == CPS_PM4_TYPE7 && packet.opcode == PM4_CP_ME_INIT;
    const char *where = "the boot";
    if (r->from_boot) {
        r->start = 0;
    } else if (behind_retired(r, &r->start)) {
        where = "the end of the last retired submission";
    } else {
        CPS_TRY(find_oldest(r));
        where = "the oldest packet that the ring holds";
    }
    /* An emulator's dump contains the dword at which its engine had done all before. */
    uint32_t begin = r->dump->begin;
    r->splits = r->dump->ticks && begin > r->start && begin < r->ring->wptr;
    r->skips = r->splits && calls_streams(r, begin);
    snprintf(r->scope, sizeof(r->scope),
             "ring %" PRIu32 " from dword %" PRIu32 " (%s) to %" PRIu32 ", fence %" PRIu32
             " retired, %" PRIu32 " submitted%s",
             r->ring->id, r->start, where, r->ring->wptr, r->ring->retired_fence,
             r->ring->last_fence, r->skips ? "; without retired streams" : "");
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

/* The ring's words. Before dword @p end, calls of streams become CP_NOP: the dump has the memory of
 * the hang, and retired submissions had other words there. */
static struct cps_err *add_ring_words(struct replay *h, uint32_t end)
{
    uint32_t size = ring_dwords(h->ring);
    CPS_FREE uint32_t *words = h->skips ? malloc((size_t)size * sizeof(*words)) : NULL;
    const struct cps_item item = {
        .kind = CPS_ITEM_DATA,
        .buffer = {.iova = h->ring->iova, .size = h->ring->size, .data = (const uint8_t *)words}};
    if (!h->skips)
        return NULL;
    if (!words)
        return cps_err_nomem();
    for (uint32_t i = 0; i < size; i++)
        words[i] = ring_word(h, i);
    for (uint32_t at = h->start; at < end;) {
        struct cps_pm4 packet = cps_pm4_decode(words[at]);
        if (packet.kind == CPS_PM4_TYPE7 && packet.opcode == PM4_CP_INDIRECT_BUFFER)
            words[at] = cps_pm4_type7(PM4_CP_NOP, packet.count);
        at += packet.count + 1;
    }
    return feed_add(&h->play->feed, &item);
}

/* Without the boot in the ring, our own stands in for the part of the history that is missing. */
static struct cps_err *add_ring(struct replay *h)
{
    const struct cps_item init = {.kind = CPS_ITEM_INIT};
    struct cps_item item = {
        .kind = CPS_ITEM_RING,
        .ring = {
            .iova = h->ring->iova, .size = h->ring->size, .rptr = h->start, .wptr = h->ring->wptr}};
    uint32_t begin = h->dump->begin;
    if (!h->from_boot)
        CPS_TRY(feed_add_shared(&h->play->feed, &init));
    if (h->splits) {
        CPS_TRY(add_ring_words(h, begin));
        item.ring.wptr = begin;
        CPS_TRY(feed_add_shared(&h->play->feed, &item));
        CPS_TRY(add_ring_words(h, h->start));
        item.ring.rptr = begin;
        item.ring.wptr = h->ring->wptr;
    }
    return feed_add_shared(&h->play->feed, &item);
}

/* Everything but what runs the ring, on an engine that nobody watches. */
static struct cps_err *approach(const struct replay *h, struct cps_engine *engine)
{
    const struct feed *feed = &h->play->feed;
    bool begun = false;
    for (size_t i = 0; i < feed->count; i++) {
        bool acts = cps_item_acts(&feed->item[i]);
        if (acts && !begun)
            cps_engine_run(engine, h->play->config->limit);
        begun |= acts;
        CPS_TRY(cps_engine_feed(engine, &feed->item[i]));
        if (acts && i + 1 < feed->count)
            cps_engine_run(engine, h->play->config->limit);
    }
    return NULL;
}

struct cps_err *replay_fresh(struct replay *h, struct cps_cover *cover, uint32_t count,
                             struct cps_engine **ret)
{
    CPS_TRY(cps_engine_clone(h->play->engine, ret));
    cps_engine_cover(*ret, 0, cover, count);
    struct cps_err *err = approach(h, *ret);
    if (err)
        cps_engine_destroy(CPS_TAKE(*ret));
    return err;
}

/* Runs @p engine for @p ticks, 0: to its end, and keeps the register writes. */
static struct cps_err *gather_writes(struct replay *h, struct cps_engine *engine, uint64_t ticks)
{
    uint64_t state = 0;
    writes_deinit(&h->writes);
    cps_engine_get(engine, (struct cps_location){0, CPS_FILE_GENERAL, 0x13}, &state);
    writes_init(&h->writes, h->play->gen, (uint32_t)state);
    cps_engine_sink(engine, &h->writes.sink, WRITES_KINDS);
    enum cps_stop stop = cps_engine_run(engine, ticks ? ticks : h->play->config->limit);
    cps_engine_sink(engine, NULL, 0);
    return h->writes.failed || stop == CPS_STOP_NOMEM ? cps_err_nomem() : NULL;
}

/* Registers of the rest of the GPU, which keep what drivers put there. Those of RBBM and CP below
 * say how busy a GPU is, and change by themselves. */
static bool keeps_value(const struct replay *h, uint32_t offset)
{
    return offset >= 0xe00 || (h->skips && offset >= CP_SCRATCH_FIRST && offset <= CP_SCRATCH_LAST);
}

static struct cps_err *add_start(struct replay *h, const bool *written, uint32_t offset,
                                 uint32_t value)
{
    const struct cps_item item = {.kind = CPS_ITEM_REGISTER,
                                  .reg = {.offset = offset, .value = value}};
    if (offset >= DUMP_REGS || written[offset] || !keeps_value(h, offset) ||
        value == UINT32_C(0xdeadbeef))
        return NULL;
    h->starts++;
    return feed_add_shared(&h->play->feed, &item);
}

/* What no packet of the replay writes had the dump's value all the time. */
static struct cps_err *add_starts(struct replay *h, const bool *written)
{
    for (uint32_t offset = 0; offset < DUMP_REGS; offset++) {
        uint32_t value = 0;
        if (dump_reg(h->dump, offset, &value))
            CPS_TRY(add_start(h, written, offset, value));
    }
    for (size_t i = 0; i < h->dump->banked_count; i++) {
        if (!h->dump->banked[i].context)
            CPS_TRY(add_start(h, written, h->dump->banked[i].offset, h->dump->banked[i].value));
    }
    return NULL;
}

/* What the whole ring writes, a bool for each register. */
static struct cps_err *find_written(struct replay *h, bool *written)
{
    struct cps_engine *engine = NULL;
    CPS_TRY(replay_fresh(h, NULL, 0, &engine));
    struct cps_err *err = gather_writes(h, engine, 0);
    cps_engine_destroy(engine);
    for (size_t i = 0; !err && i < h->writes.count; i++) {
        if (!h->writes.write[i].pipe && h->writes.write[i].offset < DUMP_REGS)
            written[h->writes.write[i].offset] = true;
    }
    return err;
}

/* The items in front of the ring, once it is known what the ring writes. */
static struct cps_err *find_starts(struct replay *h)
{
    struct feed *feed = &h->play->feed;
    size_t before = feed->count;
    bool *written = calloc(DUMP_REGS, sizeof(*written));
    if (!written)
        return cps_err_nomem();
    struct cps_err *err = add_ring(h);
    if (!err)
        err = find_written(h, written);
    feed->count = before;
    if (!err)
        err = add_starts(h, written);
    free(written);
    return err ? err : add_ring(h);
}

/* Without CP_SQE_STAT nobody can say where the hardware stood; of other generations nobody knows
 * what is in it, unless an emulator wrote the dump. */
bool replay_has_place(const struct replay *r)
{
    return (r->play->gen == CPS_A6XX || r->dump->policy.size) && dump_block(r->dump, "CP_SQE_STAT");
}

/* The general registers that the submission itself writes; others have values of retired streams.
 * The count of contexts continues from that of retired streams. */
static struct cps_err *find_general(struct replay *h, struct cps_engine *from, uint32_t *ret)
{
    struct cps_engine *engine = NULL;
    if (h->dump->ticks > h->play->config->limit)
        return NULL;
    CPS_TRY(cps_engine_clone(from, &engine));
    struct cps_err *err = gather_writes(h, engine, h->dump->ticks);
    *ret = cps_afuc_written(cps_afuc_of(engine), 0) & ~(1u << STAT_STATE);
    cps_engine_destroy(engine);
    return err;
}

/* Which place of the replay the hardware stood at, and all that was written up to there. */
static struct cps_err *find_place(struct replay *h)
{
    struct cps_engine *engine = NULL;
    struct cps_engine *again = NULL;
    struct hang_sought sought;
    CPS_TRY(replay_fresh(h, NULL, 0, &engine));
    struct cps_err *err = cps_engine_clone(engine, &again);
    h->same_firmware = dump_has_table(h->dump, h->play->fw);
    hang_seek(h->dump, h->play->fw, h->play->code, h->same_firmware, &sought);
    h->roq = sought.roq;
    uint64_t before = engine->clock;
    if (!err && h->dump->ticks && replay_lacks_history(h))
        err = find_general(h, engine, &sought.general);
    if (!err && replay_has_place(h))
        err = hang_find(&sought, engine, h->play->config->limit, &h->place);
    h->play->feed.until = h->place.tick;
    if (!err)
        err = gather_writes(h, again, h->place.tick ? h->place.tick - before : 0);
    if (!err)
        h->written = cps_afuc_written(cps_afuc_of(again), 0);
    cps_engine_destroy(engine);
    cps_engine_destroy(again);
    return err;
}

/* A firmware that was recovered with too far a revision ends early, or goes astray, in words that
 * are a guess. With near ones (recover.c) at most 2.4 % of what runs is unknown; with far ones that
 * do not find the place, 5 % or more, mostly more than 30 %. */
static struct cps_err *check_place(struct replay *h)
{
    const struct hang_position *place = &h->place;
    const struct code *code = h->play->code;
    bool there = place->by != HANG_NOWHERE && (place->no_words || place->rank & HANG_RANK_WORDS);
    uint64_t ran[3] = {0};
    if (there || !replay_has_place(h) || !code || !code->recovered)
        return NULL;
    /* Instructions of the whole replay by the mark of their words. */
    const struct cps_fw_icache *cache = &h->play->code->cache;
    uint32_t count = cps_afuc_image_size(cps_afuc_of(h->play->engine), 0) + 1;
    struct cps_engine *engine = NULL;
    CPS_FREE struct cps_cover *cover = calloc(count, sizeof(*cover));
    if (!cover)
        return cps_err_nomem();
    CPS_TRY(replay_fresh(h, cover, count, &engine));
    enum cps_stop stop = cps_engine_run(engine, h->play->config->limit);
    cps_engine_destroy(engine);
    for (uint32_t at = 0; at < count && at < cache->count; at++)
        ran[cache->mark[at]] += cover[at].run;
    CPS_TRY(stop == CPS_STOP_NOMEM ? cps_err_nomem() : NULL);
    uint64_t all = ran[CPS_FW_HARDWARE] + ran[CPS_FW_DONOR] + ran[CPS_FW_UNKNOWN];
    if (ran[CPS_FW_UNKNOWN] * 20 < all)
        return NULL;
    return cps_err_new(CPS_ERR_INPUT,
                       "%s: the firmware recovered with it does not reach the position of the "
                       "hardware: %" PRIu64 " of %" PRIu64
                       " executed instructions are unknown, expected a nearer revision (use "
                       "--no-recover to run it unchanged)",
                       h->play->fw->name, ran[CPS_FW_UNKNOWN], all);
}

/* The ring comes last: what runs it ends where the hardware stood. */
static struct cps_err *find_items(struct replay *h)
{
    h->ring = dump_hung_ring(h->dump);
    if (!h->ring || h->ring->size < 64)
        return cps_err_new(CPS_ERR_INPUT, "the dump holds no ring, expected one to replay");
    if (h->ring->size > DUMP_RING_LIMIT || h->ring->size % 4 || h->ring->wptr >= h->ring->size / 4)
        return cps_err_new(CPS_ERR_INPUT,
                           "the dump's ring has %" PRIu64
                           " bytes, and is written up to dword %" PRIu32
                           ": expected dwords, %u bytes at most, and a place in them",
                           h->ring->size, h->ring->wptr, DUMP_RING_LIMIT);
    CPS_TRY(find_start(h));
    CPS_TRY(mempool_read(h->dump, &h->pool));
    for (size_t i = 0; i < h->dump->data_count; i++) {
        const struct dump_data *data = &h->dump->data[i];
        const struct cps_item item = {
            .kind = CPS_ITEM_DATA,
            .buffer = {.iova = data->iova, .size = data->size, .data = data->bytes}};
        CPS_TRY(feed_add_shared(&h->play->feed, &item));
    }
    CPS_TRY(add_inputs(h));
    /* Fills the holes of a recovered firmware, for which the whole replay must be there. */
    struct feed *feed = &h->play->feed;
    size_t before = feed->count;
    struct cps_err *err = add_ring(h);
    if (!err)
        err = holes_fill(h);
    feed->count = before;
    CPS_TRY(err);
    CPS_TRY(find_starts(h));
    CPS_TRY(find_place(h));
    return check_place(h);
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

struct cps_err *play_replay(struct play *play, const struct cps_run_config *config,
                            struct cps_buf *why)
{
    play->quiet = true;
    struct cps_err *err = play_open(play, config, NULL);
    if (!err)
        err = play_dump_items(play);
    if (!err || err->code == CPS_ERR_NOMEM || !play->code)
        return err;
    cps_buf_str(why, err->message);
    cps_err_free(err);
    return why->failed ? cps_err_nomem() : NULL;
}

struct cps_err *play_read_dump(struct play *play, struct cps_stream *capture)
{
    const uint8_t *data = NULL;
    size_t size = 0;
    size_t length = 0;
    CPS_TRY(cps_stream_peek(capture, 1024, &data, &size));
    const char *policy = cps_rd_policy(data, size, &length);
    if (policy)
        cps_buf_add(&play->recorded, policy, length);
    if (!cps_capture_is_hang(data, size))
        return NULL;
    play->dump = calloc(1, sizeof(*play->dump));
    if (!play->dump)
        return cps_err_nomem();
    play->dump->table = play->buffers;
    CPS_TRY(dump_read(play->dump, capture));
    return play->buffers ? cps_buffers_seal(play->buffers) : NULL;
}

uint64_t play_missing_streams(const struct play *play)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < play->place_count; i++)
        count += play->place[i].place == CPS_PLACE_STREAM ? play->place[i].count : 0;
    return count;
}

/* Which bank a context is depends on a count since power-up: where the replay does not begin there,
 * both counts differ by the same number all the time. */
static uint32_t state_parity(const struct replay *r)
{
    const struct dump_block *stat = dump_block(r->dump, "CP_SQE_STAT");
    return !replay_lacks_history(r) ? 0 : dump_word(stat, STAT_STATE) ^ r->writes.state;
}

struct cps_err *replay_compare(struct replay *r)
{
    hang_place_text(&r->place, &r->place_text);
    if (r->place_text.failed)
        return cps_err_nomem();
    if (!replay_has_place(r))
        return NULL;
    r->missing = play_missing_streams(r->play);
    r->state_parity = state_parity(r);
    compare_processor(r);
    compare_fetched(r);
    compare_queued(r);
    compare_banks(r);
    compare_registers(r);
    compare_draw_state(r);
    return r->rows.failed ? cps_err_nomem() : NULL;
}

void replay_free(struct replay *replay)
{
    if (!replay)
        return;
    writes_deinit(&replay->writes);
    mempool_deinit(&replay->pool);
    rows_deinit(&replay->rows);
    cps_buf_deinit(&replay->place_text);
    free(replay);
}

bool replay_agrees(const struct replay *r)
{
    bool sure = r->place.rank & HANG_RANK_WORDS || (r->place.no_words && r->place.candidates == 1);
    return !rows_count(&r->rows, REPLAY_DIFFERENT) && !r->pool.why.size && !r->missing &&
           r->place.by != HANG_NOWHERE && sure;
}

void replay_print(const struct replay *r, bool all, FILE *out)
{
    fprintf(out, "# replayed %s\n# packet table of the firmware %s the dump's\n", r->scope,
            r->same_firmware      ? "equals"
            : dump_table(r->dump) ? "differs from"
                                  : "cannot be compared with");
    if (r->dump->cut.size)
        fprintf(out, "# %s\n", cps_buf_text(&r->dump->cut));
    if (r->play->code)
        code_print(r->play->code, out);
    if (replay_has_place(r))
        fprintf(out, "# %s\n", cps_buf_text(&r->place_text));
    else
        fprintf(out, "# position of the hardware unknown, nothing compared: %s\n",
                r->play->gen == CPS_A6XX || r->dump->policy.size
                    ? "no CP_SQE_STAT block"
                    : "the layout of this generation's dumps is unknown");
    if (r->missing)
        fprintf(out, "# %" PRIu64 " indirect buffers are missing from the dump\n", r->missing);
    if (r->pool.why.size)
        fprintf(out, "# %s\n", cps_buf_text(&r->pool.why));
    if (r->starts)
        fprintf(out, "# %zu registers that no packet writes start with the dump's values\n",
                r->starts);
    rows_print(&r->rows, all, out);
}

struct json_object *replay_json(const struct replay *r)
{
    struct json_object *to = json_object_new_object();
    cps_json_text(to, "scope", r->scope);
    cps_json_bool(to, "same_firmware", r->same_firmware);
    cps_json_text(to, "place", replay_has_place(r) ? cps_buf_text(&r->place_text) : "not known");
    cps_json_uint(to, "candidates", r->place.candidates);
    cps_json_uint(to, "missing_streams", r->missing);
    if (r->dump->cut.size)
        cps_json_buf(to, "cut", &r->dump->cut);
    cps_json_uint(to, "start_values", r->starts);
    if (r->pool.why.size)
        cps_json_buf(to, "queues", &r->pool.why);
    cps_json_add(to, "groups", rows_json_counts(&r->rows));
    cps_json_add(to, "rows", rows_json(&r->rows));
    return to;
}
