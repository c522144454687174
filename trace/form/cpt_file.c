/* SPDX-License-Identifier: MIT
 * `.cpt` files: frames, their compression, and the index. A file that was cut gives every whole
 * frame, then an error. */
#include <string.h>

#include "isa/base/le.h"
#include "trace/form/cpt.h"
#include "trace/form/forms.h"

#ifdef CPS_HAVE_ZSTD
#include <zstd.h>

/* ---- reading ---- */

struct reader {
    struct cpt_frame frame; /* the one at hand; its bytes are owned */
    uint32_t left;          /* events of it */
    uint64_t total;         /* events of all frames so far */
    uint64_t frame_at;      /* where the frame begins, for messages */
    uint64_t index;         /* what cpt_index_mix() made of the frames so far */
    uint32_t frames;
    bool done;
    ZSTD_DCtx *zstd;
};

static struct cps_err *damaged(const struct cps_trace *trace, const char *what)
{
    const struct reader *s = trace->state;
    return cps_err_input(cps_stream_name(trace->stream), s->frame_at,
                         "%s; the %llu events before it are whole", what,
                         (unsigned long long)s->total);
}

static struct cps_err *read_all(struct cps_trace *trace, void *to, size_t size)
{
    size_t got = 0;
    CPS_TRY(cps_stream_read(trace->stream, to, size, &got));
    return got == size ? NULL : damaged(trace, "the trace is cut short here");
}

static struct cps_err *unpack(struct cps_trace *trace, const uint32_t head[4])
{
    struct reader *s = trace->state;
    CPS_FREE uint8_t *packed = malloc(head[3] + (size_t)1);
    free(s->frame.raw);
    cpt_frame_begin_(&s->frame, malloc(head[2] + (size_t)1), 0);
    if (!packed || !s->frame.raw)
        return cps_err_nomem();
    CPS_TRY(read_all(trace, packed, head[3]));
    size_t got = ZSTD_decompressDCtx(s->zstd, s->frame.raw, head[2], packed, head[3]);
    if (ZSTD_isError(got) || got != head[2])
        return damaged(trace, "this frame is corrupt: its checksum or size is wrong");
    s->frame.size = got;
    s->left = head[1];
    s->frames++;
    s->index = cpt_index_mix(s->index, s->frame_at, s->total);
    return NULL;
}

/* The next frame, or the index, which ends the events. */
static struct cps_err *next_frame(struct cps_trace *trace)
{
    struct reader *s = trace->state;
    uint8_t bytes[CPT_FRAME_HEAD];
    uint32_t head[4];
    s->frame_at = cps_stream_offset(trace->stream);
    CPS_TRY(read_all(trace, bytes, 4));
    s->done = cps_le32(bytes) == CPT_INDEX;
    if (s->done)
        return NULL;
    CPS_TRY(read_all(trace, bytes + 4, sizeof(bytes) - 4));
    for (unsigned i = 0; i < 4; i++)
        head[i] = cps_le32(bytes + 4 * i);
    if (head[0] != CPT_FRAME || head[1] == 0 || head[1] > CPT_FRAME_EVENTS ||
        head[2] > CPT_FRAME_EVENTS * CPT_MAX_EVENT || head[3] > ZSTD_compressBound(head[2]))
        return damaged(trace, "expected a frame or the index");
    return unpack(trace, head);
}

/* Whether the index names the frames that were read. */
static struct cps_err *check_index(struct cps_trace *trace, bool *ret)
{
    struct reader *s = trace->state;
    uint8_t bytes[16];
    uint64_t index = 0;
    CPS_TRY(read_all(trace, bytes, 4));
    *ret = cps_le32(bytes) == s->frames;
    for (uint32_t i = 0; *ret && i < s->frames; i++) {
        CPS_TRY(read_all(trace, bytes, 16));
        index = cpt_index_mix(index, cps_le64(bytes), cps_le64(bytes + 8));
    }
    *ret = *ret && index == s->index;
    return NULL;
}

/* What stands behind the last frame must fit all the frames, and nothing may stand behind it. */
static struct cps_err *check_end(struct cps_trace *trace)
{
    struct reader *s = trace->state;
    uint8_t bytes[24];
    size_t more = 0;
    bool good = false;
    CPS_TRY(check_index(trace, &good));
    if (good)
        CPS_TRY(read_all(trace, bytes, sizeof(bytes)));
    if (!good || cps_le64(bytes) != s->total || cps_le64(bytes + 8) != s->frame_at ||
        memcmp(bytes + 16, CPT_END, CPT_MAGIC_SIZE) != 0)
        return damaged(trace, "the index does not fit the frames");
    CPS_TRY(cps_stream_read(trace->stream, bytes, 1, &more));
    return more ? damaged(trace, "data after the end of the trace") : NULL;
}

static struct cps_err *next(struct cps_trace *trace, struct cps_event *events, size_t max,
                            size_t *count)
{
    struct reader *s = trace->state;
    *count = 0;
    while (!s->done && !s->left) {
        CPS_TRY(next_frame(trace));
        if (s->done)
            return check_end(trace);
    }
    while (*count < max && s->left) {
        if (!cpt_get_event_(&s->frame, &events[*count]) ||
            cps_event_check_(&events[*count], trace->head.with_processor))
            return damaged(trace, "this frame holds an event that cannot be");
        s->left--;
        s->total++;
        ++*count;
    }
    if (!s->left && !s->done && !cpt_is_read_(&s->frame))
        return damaged(trace, "this frame holds more than its events");
    return NULL;
}

static void close_cpt(void *state)
{
    struct reader *s = state;
    ZSTD_freeDCtx(s->zstd);
    free(s->frame.raw);
    free(s);
}

static struct cps_err *read_head(struct cps_trace *trace)
{
    uint8_t bytes[CPT_MAGIC_SIZE];
    CPS_TRY(read_all(trace, bytes, sizeof(bytes)));
    if (memcmp(bytes, CPT_MAGIC, CPT_MAGIC_SIZE) != 0)
        return cps_err_input(cps_stream_name(trace->stream), 7,
                             "found .cpt version %d, expected version %u", bytes[7] - '0',
                             CPT_VERSION);
    CPS_TRY(read_all(trace, bytes, sizeof(bytes)));
    uint32_t size = cps_le32(bytes);
    if (size > TRACE_HEAD_BYTES)
        return damaged(trace, "the head is longer than 4 MiB");
    CPS_FREE char *text = calloc(1, size + (size_t)1);
    if (!text)
        return cps_err_nomem();
    CPS_TRY(read_all(trace, text, size));
    if (cpt_sum(text, size) != cps_le32(bytes + 4) || strlen(text) != size)
        return damaged(trace, "the head is corrupt: its checksum is wrong");
    return cps_trace_head_parse(cps_stream_name(trace->stream), text, &trace->head);
}

struct cps_err *cps_cpt_open_(struct cps_trace *trace)
{
    struct reader *s = calloc(1, sizeof(*s));
    if (!s)
        return cps_err_nomem();
    trace->state = s;
    trace->next = next;
    trace->close = close_cpt;
    s->zstd = ZSTD_createDCtx();
    return s->zstd ? read_head(trace) : cps_err_nomem();
}

/* ---- writing ---- */

#define LEVEL 2

struct writer {
    struct cpt_frame frame;
    uint64_t offset; /* of what is written next */
    uint64_t first;  /* events in the frames before */
    struct cps_buf index;
    ZSTD_CCtx *zstd;
    uint8_t raw[CPT_FRAME_EVENTS * CPT_MAX_EVENT];
};

static void put_bytes(struct cps_trace_writer *w, const void *data, size_t size)
{
    struct writer *s = w->state;
    cps_buf_add(&w->buf, data, size);
    s->offset += size;
}

static void put_words(struct cps_trace_writer *w, const uint32_t *words, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        uint8_t bytes[4];
        cps_put_le32(bytes, words[i]);
        put_bytes(w, bytes, 4);
    }
}

static void end_frame(struct cps_trace_writer *w)
{
    struct writer *s = w->state;
    cpt_put_end_(&s->frame);
    size_t room = ZSTD_compressBound(s->frame.size);
    uint8_t *packed = s->frame.events ? malloc(room) : NULL;
    size_t size = packed ? ZSTD_compress2(s->zstd, packed, room, s->raw, s->frame.size) : 0;
    w->lost = w->lost || (s->frame.events && (!packed || ZSTD_isError(size)));
    if (packed && !w->lost) {
        const uint64_t entry[2] = {s->offset, s->first};
        for (unsigned i = 0; i < 4; i++) {
            uint8_t bytes[4];
            cps_put_le32(bytes, (uint32_t)(entry[i / 2] >> 32 * (i % 2)));
            cps_buf_add(&s->index, (const char *)bytes, 4);
        }
        put_words(
            w,
            (const uint32_t[]){CPT_FRAME, s->frame.events, (uint32_t)s->frame.size, (uint32_t)size},
            4);
        put_bytes(w, packed, size);
    }
    free(packed);
    s->first += s->frame.events;
    cpt_frame_begin_(&s->frame, s->raw, 0);
}

static void write_events(struct cps_trace_writer *w, const struct cps_event *events, size_t count)
{
    struct writer *s = w->state;
    while (count) {
        size_t taken = cpt_put_events_(&s->frame, events, count);
        events += taken;
        count -= taken;
        if (s->frame.events == CPT_FRAME_EVENTS)
            end_frame(w);
    }
}

/* The index: where each frame begins and how many events stand before it; then where the index
 * itself is. */
static void end(struct cps_trace_writer *w)
{
    struct writer *s = w->state;
    end_frame(w);
    uint64_t at = s->offset;
    put_words(w, (const uint32_t[]){CPT_INDEX, (uint32_t)(s->index.size / 16)}, 2);
    put_bytes(w, cps_buf_text(&s->index), s->index.size);
    put_words(w,
              (const uint32_t[]){(uint32_t)s->first, (uint32_t)(s->first >> 32), (uint32_t)at,
                                 (uint32_t)(at >> 32)},
              4);
    put_bytes(w, CPT_END, CPT_MAGIC_SIZE);
    w->lost = w->lost || s->index.failed;
    cps_buf_deinit(&s->index);
    ZSTD_freeCCtx(s->zstd);
}

/* Not by put_bytes(): it may come again, when the file is further on. */
static void put_head(struct cps_trace_writer *w)
{
    uint8_t words[8];
    size_t size = strlen(w->head->text);
    cps_put_le32(words, (uint32_t)size);
    cps_put_le32(words + 4, cpt_sum(w->head->text, size));
    cps_buf_add(&w->buf, CPT_MAGIC, CPT_MAGIC_SIZE);
    cps_buf_add(&w->buf, (const char *)words, sizeof(words));
    cps_buf_add(&w->buf, w->head->text, size);
}

struct cps_err *cps_cpt_write_(struct cps_trace_writer *writer)
{
    struct writer *s = calloc(1, sizeof(*s));
    if (!s)
        return cps_err_nomem();
    writer->state = s;
    writer->put_head = put_head;
    writer->events = write_events;
    writer->end = end;
    cpt_frame_begin_(&s->frame, s->raw, 0);
    s->offset = CPT_MAGIC_SIZE + 8 + strlen(writer->head->text);
    s->zstd = ZSTD_createCCtx();
    if (!s->zstd)
        return cps_err_nomem();
    ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_compressionLevel, LEVEL);
    ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_checksumFlag, 1);
    return NULL;
}

#else

struct cps_err *cps_cpt_open_(struct cps_trace *trace)
{
    return cps_err_new(CPS_ERR_UNSUPPORTED, "%s: cpscope was built without zstd, which .cpt needs",
                       cps_stream_name(trace->stream));
}

struct cps_err *cps_cpt_write_(struct cps_trace_writer *writer)
{
    (void)writer;
    return cps_err_new(CPS_ERR_UNSUPPORTED, "cpscope was built without zstd, which .cpt needs");
}

#endif
