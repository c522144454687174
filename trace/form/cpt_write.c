/* SPDX-License-Identifier: MIT
 * Writes `.cpt`. */
#include <string.h>

#include "isa/base/le.h"
#include "trace/form/cpt.h"
#include "trace/form/forms.h"

#ifdef CPS_HAVE_ZSTD
#include <zstd.h>

#define LEVEL 2

struct state {
    struct cpt_frame frame;
    uint64_t offset; /* of what is written next */
    uint64_t first;  /* events in the frames before */
    struct cps_buf index;
    ZSTD_CCtx *zstd;
    uint8_t raw[CPT_FRAME_EVENTS * CPT_MAX_EVENT];
};

static void put_bytes(struct cps_trace_writer *w, const void *data, size_t size)
{
    struct state *s = w->state;
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

static void add_index(struct cps_trace_writer *w)
{
    struct state *s = w->state;
    const uint64_t entry[2] = {s->offset, s->first};
    for (unsigned i = 0; i < 4; i++) {
        uint8_t bytes[4];
        cps_put_le32(bytes, (uint32_t)(entry[i / 2] >> 32 * (i % 2)));
        cps_buf_add(&s->index, (const char *)bytes, 4);
    }
}

static void end_frame(struct cps_trace_writer *w)
{
    struct state *s = w->state;
    cpt_put_end_(&s->frame);
    size_t room = ZSTD_compressBound(s->frame.size);
    uint8_t *packed = s->frame.events ? malloc(room) : NULL;
    size_t size = packed ? ZSTD_compress2(s->zstd, packed, room, s->raw, s->frame.size) : 0;
    w->lost = w->lost || (s->frame.events && (!packed || ZSTD_isError(size)));
    if (packed && !w->lost) {
        add_index(w);
        put_words(
            w,
            (const uint32_t[]){CPT_FRAME, s->frame.events, (uint32_t)s->frame.size, (uint32_t)size},
            4);
        put_bytes(w, packed, size);
    }
    free(packed);
    s->first += s->frame.events;
    cpt_frame_begin_(&s->frame, CPT_VERSION, s->raw, 0);
}

static void write_events(struct cps_trace_writer *w, const struct cps_event *events, size_t count)
{
    struct state *s = w->state;
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
    struct state *s = w->state;
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
    cps_put_le32(words + 4, cpt_sum(CPT_VERSION, w->head->text, size));
    cps_buf_add(&w->buf, CPT_MAGIC, CPT_MAGIC_SIZE);
    cps_buf_add(&w->buf, (const char *)words, sizeof(words));
    cps_buf_add(&w->buf, w->head->text, size);
}

struct cps_err *cps_cpt_write_(struct cps_trace_writer *writer)
{
    struct state *s = calloc(1, sizeof(*s));
    if (!s)
        return cps_err_nomem();
    writer->state = s;
    writer->put_head = put_head;
    writer->events = write_events;
    writer->end = end;
    cpt_frame_begin_(&s->frame, CPT_VERSION, s->raw, 0);
    s->offset = CPT_MAGIC_SIZE + 8 + strlen(writer->head->text);
    s->zstd = ZSTD_createCCtx();
    if (!s->zstd)
        return cps_err_nomem();
    ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_compressionLevel, LEVEL);
    ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_checksumFlag, 1);
    return NULL;
}

#else

struct cps_err *cps_cpt_write_(struct cps_trace_writer *writer)
{
    (void)writer;
    return cps_err_new(CPS_ERR_UNSUPPORTED, "cpscope was built without zstd, which .cpt needs");
}

#endif
