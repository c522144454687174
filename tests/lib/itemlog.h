/* SPDX-License-Identifier: MIT
 * What a reader of dumps says, as text, a line for each item; and what two dumps say, so that it
 * can be compared. */
#ifndef TESTS_ITEMLOG_H
#define TESTS_ITEMLOG_H

#include <stdlib.h>
#include <string.h>

#include "isa/base/buf.h"
#include "isa/base/le.h"
#include "trace/capture/capture.h"

struct log {
    struct cps_item_sink sink;
    struct cps_buf text;
    uint64_t data_bytes, data_sum;
    bool brief;    /* contents are counted, not written out */
    bool fences;   /* streams and ends of submissions, too */
    bool compared; /* without sections, the chip apart, contents in one piece */
    uint64_t next; /* compared: where contents would go on; 0: the last item was no contents */
    struct cps_buf chip;
};

static void log_words(struct log *log, const uint32_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        cps_buf_printf(&log->text, " %x", words[i]);
}

/* Bytes behind the last whole word count, too. */
static void log_data(struct log *log, const struct cps_item *item)
{
    bool more = log->compared && log->next == item->buffer.iova;
    uint64_t size = item->buffer.size;
    if (!log->brief && log->next && !more)
        cps_buf_str(&log->text, "\n");
    if (!log->brief && !more)
        cps_buf_printf(&log->text, "data %llx:", (unsigned long long)item->buffer.iova);
    for (uint64_t i = 0; i < size; i += 4) {
        uint8_t bytes[4] = {0};
        memcpy(bytes, item->buffer.data + i, size - i < 4 ? size - i : 4);
        uint32_t word = cps_le32(bytes);
        log->data_sum += word;
        if (!log->brief)
            log_words(log, &word, 1);
    }
    log->data_bytes += size;
    log->next = log->compared ? item->buffer.iova + size : 0;
    if (!log->brief && !log->compared)
        cps_buf_str(&log->text, "\n");
}

static void log_submission(struct log *log, const struct cps_item *item)
{
    if (item->kind == CPS_ITEM_SUBMIT)
        cps_buf_printf(&log->text, "submit %llx+%u context %u",
                       (unsigned long long)item->stream.iova, item->stream.dwords,
                       item->stream.context);
    if (item->kind == CPS_ITEM_SUBMIT && item->stream.ticks)
        cps_buf_printf(&log->text, " ticks %llu", (unsigned long long)item->stream.ticks);
    if (item->kind == CPS_ITEM_SUBMIT)
        cps_buf_str(&log->text, "\n");
    if (item->kind == CPS_ITEM_RECOVER)
        cps_buf_printf(&log->text, "recover %u\n", item->recover.reason);
    if (item->kind == CPS_ITEM_FENCE)
        cps_buf_printf(&log->text, "fence %u context %u\n", item->fence.seqno, item->fence.context);
    if (item->kind == CPS_ITEM_RESET || item->kind == CPS_ITEM_RUN)
        cps_buf_str(&log->text, item->kind == CPS_ITEM_RUN ? "run\n" : "reset\n");
}

static void log_state(struct log *log, const struct cps_item *item)
{
    if (log->fences)
        log_submission(log, item);
    if (item->kind == CPS_ITEM_RING)
        cps_buf_printf(&log->text, "ring %u %llx+%llx at %u %u fences %u %u\n", item->ring.id,
                       (unsigned long long)item->ring.iova, (unsigned long long)item->ring.size,
                       item->ring.rptr, item->ring.wptr, item->ring.last_fence,
                       item->ring.retired_fence);
    if (item->kind == CPS_ITEM_REGISTER)
        cps_buf_printf(&log->text, "reg %s %d %x %x\n", item->reg.section, item->reg.context,
                       item->reg.offset, item->reg.value);
    if (item->kind == CPS_ITEM_BLOCK) {
        cps_buf_printf(&log->text, "block %s %zu:", item->block.name, item->block.size);
        log_words(log, item->block.words, item->block.count);
        cps_buf_str(&log->text, "\n");
    }
}

static struct cps_err *log_item(struct cps_item_sink *sink, const struct cps_item *item)
{
    struct log *log = (struct log *)sink;
    if (item->kind == CPS_ITEM_SECTION && log->compared)
        return NULL;
    if (item->kind != CPS_ITEM_DATA && log->next) {
        cps_buf_str(&log->text, "\n");
        log->next = 0;
    }
    switch (item->kind) {
    case CPS_ITEM_SECTION:
        cps_buf_printf(&log->text, "section %s\n", item->section.name ? item->section.name : "?");
        break;
    case CPS_ITEM_CHIP:
        cps_buf_printf(log->compared ? &log->chip : &log->text, "chip %u %llx\n", item->chip.gpu_id,
                       (unsigned long long)item->chip.chip_id);
        break;
    case CPS_ITEM_TEXT:
    case CPS_ITEM_NOTE:
        cps_buf_str(&log->text, item->kind == CPS_ITEM_NOTE ? "note " : "text ");
        cps_buf_add(&log->text, item->text.bytes, item->text.size);
        cps_buf_str(&log->text, "\n");
        break;
    case CPS_ITEM_BUFFER:
        cps_buf_printf(&log->text, "buffer %llx+%llx%s%.*s\n",
                       (unsigned long long)item->buffer.iova, (unsigned long long)item->buffer.size,
                       item->buffer.name ? " " : "", (int)item->buffer.name_size,
                       item->buffer.name ? item->buffer.name : "");
        break;
    case CPS_ITEM_DATA:
        log_data(log, item);
        break;
    default:
        log_state(log, item);
    }
    return NULL;
}

static inline struct cps_err *read_bytes(const char *dump, size_t size, struct log *log)
{
    const struct cps_capture_limits limits = {1 << 20, 3 << 20};
    struct cps_stream *stream = NULL;
    log->sink.item = log_item;
    CPS_TRY(cps_stream_open_memory("a.dump", dump, size, &stream));
    struct cps_err *err = cps_capture_read(stream, &limits, &log->sink);
    cps_stream_close(stream);
    return err;
}

static inline void log_deinit(struct log *log)
{
    cps_buf_deinit(&log->text);
    cps_buf_deinit(&log->chip);
}

#endif
