/* SPDX-License-Identifier: MIT
 * A program of somebody else's, against the installed library: traces a capture from memory, then
 * stops another run of it at a breakpoint and goes one instruction back.
 * Usage: outsider FIRMWARE.afuc CAPTURE.pm4 */
#include <cpscope/cpscope.h>

#include <stdio.h>
#include <string.h>

#define CP_MEM_WRITE 0x3d

static void check(struct cps_err *err)
{
    if (!err)
        return;
    fprintf(stderr, "outsider: %s\n", err->message);
    exit(1);
}

/* What the capture says, kept for as long as the runs last. */
struct feed {
    struct cps_item_sink sink; /* first: the reader gives it back */
    struct cps_item item[64];
    size_t count;
    uint32_t submissions;
};

static struct cps_err *keep(struct cps_item_sink *sink, const struct cps_item *item)
{
    struct feed *feed = (struct feed *)sink;
    struct cps_item *to = &feed->item[feed->count++];
    *to = *item;
    if (item->kind == CPS_ITEM_DATA)
        to->buffer.data = memcpy(malloc(item->buffer.size), item->buffer.data, item->buffer.size);
    if (item->kind == CPS_ITEM_SUBMIT)
        to->stream.index = feed->submissions++;
    return feed->count < 64 ? NULL : cps_err_new(CPS_ERR_INPUT, "more than 63 items");
}

static const struct cps_item *give(void *context, uint64_t index)
{
    const struct feed *feed = context;
    return index < feed->count ? &feed->item[index] : NULL;
}

static void print_events(struct cps_sink *sink, const struct cps_event *event, size_t count)
{
    (void)sink;
    for (size_t i = 0; i < count; i++)
        printf("%s 0x%llx 0x%x\n", cps_event_keyword(cps_event_kind(&event[i])),
               (unsigned long long)event[i].addr, event[i].value);
}

static struct cps_fw *load_firmware(const char *path)
{
    size_t size = 0;
    uint8_t *text = NULL;
    struct cps_asm program;
    struct cps_fw *fw = NULL;
    check(cps_stream_read_file(path, 1 << 20, &text, &size));
    check(cps_assemble(path, (const char *)text, size, CPS_A6XX, &program));
    check(cps_fw_parse(path, program.words, 4 * (size_t)program.count, 0, &fw));
    free(program.words);
    free(text);
    return fw;
}

static void read_capture(const void *bytes, size_t size, struct feed *feed)
{
    struct cps_stream *stream = NULL;
    feed->sink.item = keep;
    feed->item[feed->count++].kind = CPS_ITEM_INIT;
    check(cps_stream_open_memory("capture", bytes, size, &stream));
    check(cps_capture_read(stream, NULL, &feed->sink));
    cps_stream_close(stream);
}

int main(int argc, char **argv)
{
    static struct feed feed;
    struct cps_config config = {.policy = cps_policy_default()};
    struct cps_sink sink = {print_events};
    struct cps_engine *engine = NULL;
    struct cps_debug *debug = NULL;
    size_t size = 0;
    if (argc != 3)
        return 2;
    struct cps_fw *fw = load_firmware(argv[1]);
    uint8_t *capture = NULL;
    check(cps_stream_read_file(argv[2], 1 << 20, &capture, &size));
    read_capture(capture, size, &feed);
    cps_config_firmware(&config, fw, NULL);

    check(cps_engine_create(&config, &engine));
    enum cps_stop stop = cps_engine_run(engine, 1000000); /* the bootstrap */
    cps_engine_sink(engine, &sink, UINT32_C(1) << CPS_EV_PKT | UINT32_C(1) << CPS_EV_MEMW);
    for (size_t i = 0; i < feed.count && stop == CPS_STOP_IDLE; i++) {
        check(cps_engine_feed(engine, &feed.item[i]));
        stop = cps_engine_run(engine, 1000000);
    }
    printf("stop %d, %llu packets\n", (int)stop, (unsigned long long)engine->packets);
    cps_engine_destroy(engine);

    const struct cps_feeder feeder = {give, &feed, 0};
    struct cps_debug_point point = {.what = CPS_AT_PC, .core = -1};
    check(cps_fw_symbols_parse(fw, "mine", "0x44 write_memory\n", 18));
    point.pc = cps_fw_symbol_find(fw, "write_memory")->dword;
    if (point.pc != cps_fw_handler(fw, &fw->part[0], CP_MEM_WRITE))
        return 1;
    check(cps_engine_create(&config, &engine));
    check(cps_debug_create(engine, &feeder, &debug));
    if (!cps_debug_add(debug, &point))
        return 1;
    struct cps_debug_stop hit = cps_debug_run(debug, CPS_GO_ON, 0);
    struct cps_debug_stop back = cps_debug_back(debug, CPS_GO_TICK, 0);
    printf("breakpoint at 0x%x: %s\n", point.pc, hit.reason == CPS_WHY_POINT ? "hit" : "missed");
    printf("one back: 0x%x, reason %d\n", cps_engine_where(cps_debug_engine(debug), 0).pc,
           (int)back.reason);
    for (unsigned reg = 1; reg <= 5; reg++) {
        const struct cps_location place = {0, CPS_FILE_GENERAL, reg};
        uint64_t value = 0;
        cps_engine_get(cps_debug_engine(debug), place, &value);
        printf("$%02x = 0x%llx\n", reg, (unsigned long long)value);
    }
    cps_debug_destroy(debug);
    for (size_t i = 0; i < feed.count; i++) {
        if (feed.item[i].kind == CPS_ITEM_DATA)
            free((void *)(uintptr_t)feed.item[i].buffer.data);
    }
    free(capture);
    cps_fw_destroy(fw);
    return 0;
}
