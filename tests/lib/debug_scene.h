/* SPDX-License-Identifier: MIT
 * A debugger on a machine, and what feeds it. */
#ifndef TESTS_DEBUG_SCENE_H
#define TESTS_DEBUG_SCENE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "emu/afuc/core/machine.h"
#include "emu/debug/state.h"
#include "fw/demo/demo.h"
#include "fw/fw.h"
#include "tests/lib/engine_bench.h"
#include "trace/capture/capture.h"

/* A machine, and what feeds it. */
struct scene {
    struct cps_asm program[2];
    struct cps_fw *fw;
    struct cps_debug *debug;
    /* One submission, from PM4 text. */
    struct cps_item_sink items;
    uint8_t bytes[32][4096];
    uint64_t iova[32], size[32];
    unsigned buffers;
    uint64_t stream;
    uint32_t dwords;
    struct cps_item item; /* that was asked for last */
};

static inline struct cps_err *take_item(struct cps_item_sink *sink, const struct cps_item *item)
{
    struct scene *b = (struct scene *)((char *)sink - offsetof(struct scene, items));
    if (item->kind == CPS_ITEM_DATA) {
        assert_true(b->buffers < 32 && item->buffer.size <= 4096);
        memcpy(b->bytes[b->buffers], item->buffer.data, item->buffer.size);
        b->iova[b->buffers] = item->buffer.iova;
        b->size[b->buffers++] = item->buffer.size;
    } else if (item->kind == CPS_ITEM_SUBMIT) {
        b->stream = item->stream.iova;
        b->dwords = item->stream.dwords;
    }
    return NULL;
}

/* CP_ME_INIT in front of a whole firmware, the buffers, and the stream if there is one. */
static inline const struct cps_item *feed(void *context, uint64_t index)
{
    struct scene *b = context;
    unsigned buffer = (unsigned)index - (b->fw != NULL);
    b->item = (struct cps_item){.kind = CPS_ITEM_INIT};
    if (b->fw && !index)
        return &b->item;
    if (!b->dwords || buffer > b->buffers)
        return NULL;
    if (buffer == b->buffers) {
        b->item.kind = CPS_ITEM_SUBMIT;
        b->item.stream.iova = b->stream;
        b->item.stream.dwords = b->dwords;
    } else {
        b->item.kind = CPS_ITEM_DATA;
        b->item.buffer.iova = b->iova[buffer];
        b->item.buffer.size = b->size[buffer];
        b->item.buffer.data = b->bytes[buffer];
    }
    return &b->item;
}

static inline struct cps_afuc *afuc_of(struct cps_debug *debug)
{
    return cps_afuc_of(cps_debug_engine(debug));
}

static inline void start(struct scene *b, const struct cps_config *config)
{
    struct cps_engine *machine = NULL;
    const struct cps_feeder feeder = {feed, b, 0};
    assert_null(cps_engine_create(config, &machine));
    assert_null(cps_debug_create(machine, &feeder, &b->debug));
}

static inline void stop(struct scene *b)
{
    cps_debug_destroy(b->debug);
    cps_fw_destroy(b->fw);
    free(b->program[0].words);
    free(b->program[1].words);
}

/* a6xx: the demo firmware with its stream. */
static inline void start_demo(struct scene *b)
{
    struct cps_stream *stream = NULL;
    b->items.item = take_item;
    assert_null(cps_fw_parse("demo", cps_demo_fw, cps_demo_fw_size, 0, &b->fw));
    assert_null(cps_stream_open_memory("demo", cps_demo_pm4, cps_demo_pm4_size, &stream));
    assert_null(cps_capture_read(stream, NULL, &b->items));
    cps_stream_close(stream);
    start(b, &(struct cps_config){.layout = b->fw->layout,
                                  .words = b->fw->words,
                                  .count = b->fw->count,
                                  .image = {{CPS_CPU_SQE, 0}},
                                  .image_count = 1});
}

#endif
