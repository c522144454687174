/* SPDX-License-Identifier: MIT
 * A live run is recorded, and a run of the recording gives the same events and the same fences. The
 * program around the engine is a model of the device: memory of two contexts, of which all pages
 * that hold nothing but zeros are holes.
 * Arguments: [CAPTURE FIRMWARE...] below $CPSCOPE_CORPUS; default: the demo's. Before
 * them --keep FILE only makes a recording. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "emu/afuc/afuc.h"
#include "tools/device/record.h"
#include "tools/run/config.h"
#include "tools/run/play.h"
#include "tests/lib/scratch.h"

static char capture_path[512];
static const char *capture; /* NULL: the demo's */
static char firmware[2][512];
static unsigned firmware_count;
static const char *waits = "satisfy"; /* of the policy */

/* ---- memory ---- */

enum { BUCKETS = 4096, CONTEXTS = 2 };
#define CLIENT_END (UINT64_C(1) << 48)

struct host_page {
    struct host_page *next;
    uint64_t iova;
    uint8_t data[CPS_HOST_PAGE];
};

struct live {
    struct cps_item_sink items; /* first */
    struct host_page *bucket[CONTEXTS][BUCKETS];
    unsigned context; /* that runs: 0 or 1 */
    bool open;
    uint32_t seqno;
    unsigned ended_waits;
    struct device_record *record;
    struct play play;
};

static struct host_page *find_page(struct live *live, uint64_t iova, bool make)
{
    struct host_page **at = &live->bucket[live->context][iova / CPS_HOST_PAGE % BUCKETS];
    iova -= iova % CPS_HOST_PAGE;
    while (*at && (*at)->iova != iova)
        at = &(*at)->next;
    if (!*at && make) {
        *at = calloc(1, sizeof(**at));
        (*at)->iova = iova;
    }
    return *at;
}

static void store_bytes(struct live *live, uint64_t iova, const uint8_t *from, uint64_t size)
{
    for (uint64_t i = 0; i < size; i++)
        find_page(live, iova + i, true)->data[(iova + i) % CPS_HOST_PAGE] = from[i];
}

static bool read_page(void *context, uint64_t iova, uint8_t *to)
{
    struct live *live = context;
    struct host_page *page = iova < CLIENT_END ? find_page(live, iova, false) : NULL;
    if (!page)
        return false;
    device_record_read(live->record, iova, page->data);
    memcpy(to, page->data, CPS_HOST_PAGE);
    return true;
}

static bool write_memory(void *context, uint64_t iova, const uint8_t *from, uint32_t size)
{
    struct live *live = context;
    store_bytes(live, iova, from, size);
    device_record_wrote(live->record, iova, from, size);
    return true;
}

static bool is_hole(const struct host_page *page)
{
    static const uint8_t zeros[CPS_HOST_PAGE];
    return !memcmp(page->data, zeros, CPS_HOST_PAGE);
}

static void record_memory(struct live *live)
{
    for (unsigned i = 0; i < BUCKETS; i++) {
        for (struct host_page *page = live->bucket[live->context][i]; page; page = page->next) {
            if (!is_hole(page))
                device_record_memory(live->record, page->iova, page->data, CPS_HOST_PAGE);
        }
    }
}

static void free_memory(struct live *live)
{
    for (unsigned i = 0; i < CONTEXTS * BUCKETS; i++) {
        for (struct host_page *page = live->bucket[i / BUCKETS][i % BUCKETS]; page;) {
            struct host_page *next = page->next;
            free(page);
            page = next;
        }
    }
}

/* ---- events ---- */

struct events {
    struct cps_sink sink; /* first */
    struct cps_event *event;
    size_t count, room;
};

static void keep_events(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    struct events *all = (struct events *)sink;
    if (all->count + count > all->room) {
        all->room = 2 * (all->count + count);
        all->event = realloc(all->event, all->room * sizeof(*all->event));
        assert_non_null(all->event);
    }
    memcpy(all->event + all->count, events, count * sizeof(*events));
    all->count += count;
}

static void watch(struct play *play, struct events *events)
{
    events->sink.put = keep_events;
    play->trace = &events->sink;
    play->kinds = UINT32_MAX & ~(1u << CPS_EV_STEP | 1u << CPS_EV_STEPX);
}

/* ---- the live run ---- */

/* The demo's firmware has no CP_SMMU_TABLE_UPDATE: its memory changes without one. */
static uint32_t context_number(const struct live *live)
{
    return firmware_count ? live->context + 1 : 0;
}

static void begin_submission(struct live *live)
{
    const struct cps_item reset = {.kind = CPS_ITEM_RESET};
    live->open = true;
    assert_null(cps_engine_feed(live->play.engine, &reset));
    device_record_begin(live->record, context_number(live), "client");
    record_memory(live);
}

static void end_submission(struct live *live)
{
    const struct cps_item item = {
        .kind = CPS_ITEM_FENCE, .fence = {.seqno = ++live->seqno, .context = context_number(live)}};
    if (!live->open)
        begin_submission(live);
    assert_null(play_item(&live->play, &item));
    assert_int_equal(live->play.stop, CPS_STOP_IDLE);
    assert_int_equal(cps_afuc_fence(cps_afuc_of(live->play.engine), 0), live->seqno);
    assert_null(device_record_end(live->record, live->seqno));
    live->open = false;
    live->context ^= 1;
}

/* The demo waits for 5 at 0x200200, which its client writes only now, with another word that the
 * firmware has not looked at. */
static struct cps_err *end_wait(struct live *live)
{
    static const uint8_t five[4] = {5};
    const struct cps_item item = {.kind = CPS_ITEM_RUN};
    if (live->play.stop != CPS_STOP_DEADLOCK)
        return NULL;
    store_bytes(live, 0x200200, five, 4);
    store_bytes(live, 0x200400, five, 4);
    device_record_resume(live->record);
    CPS_TRY(play_item(&live->play, &item));
    assert_int_equal(live->play.stop, CPS_STOP_IDLE);
    live->ended_waits++;
    return NULL;
}

static struct cps_err *take_item(struct cps_item_sink *sink, const struct cps_item *item)
{
    struct live *live = (struct live *)sink;
    struct cps_item copy = *item;
    switch (item->kind) {
    case CPS_ITEM_DATA:
        store_bytes(live, item->buffer.iova, item->buffer.data, item->buffer.size);
        return NULL;
    case CPS_ITEM_BUFFER:
        for (uint64_t at = 0; at < item->buffer.size; at += CPS_HOST_PAGE)
            find_page(live, item->buffer.iova + at, true);
        return NULL;
    case CPS_ITEM_CHIP:
        if (live->record)
            return NULL;
        assert_null(play_item(&live->play, item));
        play_boot(&live->play);
        return NULL;
    case CPS_ITEM_SUBMIT:
        if (!live->open)
            begin_submission(live);
        copy.stream.context = context_number(live);
        device_record_stream(live->record, item->stream.iova, item->stream.dwords);
        CPS_TRY(play_item(&live->play, &copy));
        return end_wait(live);
    case CPS_ITEM_FENCE:
        end_submission(live);
        return NULL;
    default:
        return NULL;
    }
}

/* The first chip of the capture. */
struct chip {
    struct cps_item_sink items; /* first */
    struct cps_item first;
};

static struct cps_err *take_chip(struct cps_item_sink *sink, const struct cps_item *item)
{
    struct chip *chip = (struct chip *)sink;
    if (item->kind == CPS_ITEM_CHIP && chip->first.kind != CPS_ITEM_CHIP)
        chip->first = *item;
    return NULL;
}

static void read_capture(struct cps_item_sink *sink)
{
    struct cps_stream *stream = NULL;
    assert_null(play_stream(capture, &stream));
    struct cps_err *err = cps_capture_read(stream, NULL, sink);
    if (err)
        fail_msg("%s", err->message);
    cps_stream_close(stream);
}

static struct cps_run_config configuration(void)
{
    struct cps_run_config config = cps_run_config_default();
    config.demo = !firmware_count;
    config.fw_count = firmware_count;
    for (unsigned i = 0; i < firmware_count; i++)
        config.fw[i] = firmware[i];
    return config;
}

static void open_play(struct play *play, const struct cps_run_config *config)
{
    struct cps_err *err = play_open(play, config, capture ? capture : "demo");
    if (err)
        fail_msg("%s", err->message);
}

static uint64_t run_live(const char *path, struct events *events)
{
    struct live *live = calloc(1, sizeof(*live));
    struct chip chip = {.items = {take_chip}};
    struct cps_run_config config = configuration();
    config.policy[config.policy_count++] = (struct cps_run_policy){"ring", "msm"};
    config.policy[config.policy_count++] = (struct cps_run_policy){"waits", waits};
    live->items.item = take_item;
    live->play.host = (struct cps_host){.context = live, .read = read_page, .write = write_memory};
    watch(&live->play, events);
    open_play(&live->play, &config);
    read_capture(&chip.items);
    assert_null(take_item(&live->items, &chip.first));
    assert_null(device_record_open(path, chip.first.chip.chip_id, chip.first.chip.gpu_id,
                                   &live->play.policy, live->play.gen, &live->record));
    for (live->context = CONTEXTS; live->context--;) /* where the demo writes: a hole */
        find_page(live, 0x200000, true);
    live->context = 0;
    for (unsigned i = 0; i < 3; i++)
        read_capture(&live->items);
    end_submission(live); /* one without streams */
    uint64_t clock = live->play.engine->clock;
    assert_int_equal(live->ended_waits, strcmp(waits, "stop") ? 0 : CONTEXTS);
    cps_engine_end(live->play.engine, live->play.stop);
    assert_null(device_record_close(live->record));
    play_close(&live->play);
    free_memory(live);
    free(live);
    return clock;
}

/* ---- the recording ---- */

static uint64_t run_recording(const char *path, struct events *events)
{
    struct play *play = calloc(1, sizeof(*play));
    struct cps_run_config config = configuration();
    struct cps_stream *stream = NULL;
    watch(play, events);
    assert_null(play_stream(path, &stream));
    assert_null(play_read_dump(play, stream));
    open_play(play, &config);
    assert_int_equal(play->policy.ring, CPS_RING_MSM);
    assert_null(play_run(play, stream));
    uint64_t clock = play->engine->clock;
    play_close(play);
    cps_stream_close(stream);
    free(play);
    return clock;
}

static void a_recording_runs_as_the_live_run_did(void **state)
{
    char path[80];
    char file[64];
    struct events live = {.count = 0};
    struct events recorded = {.count = 0};
    (void)state;
    scratch_file(file, "");
    snprintf(path, sizeof(path), "%s.rd.gz", file);
    uint64_t clock = run_live(path, &live);
    uint64_t again = run_recording(path, &recorded);
    size_t equal = 0;
    while (equal < live.count && equal < recorded.count &&
           !memcmp(&live.event[equal], &recorded.event[equal], sizeof(*live.event)))
        equal++;
    if (equal < live.count || equal < recorded.count)
        fail_msg("event %zu of %zu and %zu differs", equal, live.count, recorded.count);
    assert_true(live.count > 100);
    assert_true(clock == again);
    free(live.event);
    free(recorded.event);
    unlink(path);
    unlink(file);
}

static void a_wait_that_the_client_ends_is_recorded(void **state)
{
    if (firmware_count)
        return;
    waits = "stop";
    a_recording_runs_as_the_live_run_did(state);
    waits = "satisfy";
}

static int keep_recording(const char *path)
{
    struct events live = {.count = 0};
    run_live(path, &live);
    free(live.event);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recording_runs_as_the_live_run_did),
        cmocka_unit_test(a_wait_that_the_client_ends_is_recorded),
    };
    const char *corpus = getenv("CPSCOPE_CORPUS");
    const char *keep = argc > 2 && !strcmp(argv[1], "--keep") ? argv[2] : NULL;
    argv += keep ? 2 : 0;
    argc -= keep ? 2 : 0;
    if (argc > 1 && !corpus) {
        puts("1..0 # SKIP CPSCOPE_CORPUS is not set");
        return 0;
    }
    if (argc > 1) {
        snprintf(capture_path, sizeof(capture_path), "%s/captures/%s", corpus, argv[1]);
        capture = capture_path;
    }
    for (int i = 2; i < argc && i < 4; i++)
        snprintf(firmware[firmware_count++], sizeof(firmware[0]), "%s/firmware/%s", corpus,
                 argv[i]);
    return keep ? keep_recording(keep) : cmocka_run_group_tests(tests, NULL, NULL);
}
