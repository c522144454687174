/* SPDX-License-Identifier: MIT
 * Reads `.cpt`, frame by frame. A file that was cut gives every whole frame, then an error. */
#include <string.h>

#include "isa/base/le.h"
#include "trace/form/cpt.h"
#include "trace/form/forms.h"

#ifdef CPS_HAVE_ZSTD
#include <zstd.h>

struct state {
    struct cpt_frame frame; /* the one at hand; its bytes are owned */
    unsigned version;
    uint32_t left;     /* events of it */
    uint64_t total;    /* events of all frames so far */
    uint64_t frame_at; /* where the frame begins, for messages */
    uint64_t index;    /* what cpt_index_mix() made of the frames so far */
    uint32_t frames;
    bool done;
    ZSTD_DCtx *zstd;
};

static struct cps_err *damaged(const struct cps_trace *trace, const char *what)
{
    const struct state *s = trace->state;
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
    struct state *s = trace->state;
    CPS_FREE uint8_t *packed = malloc(head[3] + (size_t)1);
    free(s->frame.raw);
    cpt_frame_begin_(&s->frame, s->version, malloc(head[2] + (size_t)1), 0);
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
    struct state *s = trace->state;
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
        head[2] > CPT_FRAME_EVENTS * cpt_max_event(s->version) ||
        head[3] > ZSTD_compressBound(head[2]))
        return damaged(trace, "expected a frame or the index");
    return unpack(trace, head);
}

static uint64_t le64(const uint8_t *bytes)
{
    return cps_le32(bytes) | (uint64_t)cps_le32(bytes + 4) << 32;
}

/* Whether the index names the frames that were read. */
static struct cps_err *check_index(struct cps_trace *trace, bool *ret)
{
    struct state *s = trace->state;
    uint8_t bytes[16];
    uint64_t index = 0;
    CPS_TRY(read_all(trace, bytes, 4));
    *ret = cps_le32(bytes) == s->frames;
    for (uint32_t i = 0; *ret && i < s->frames; i++) {
        CPS_TRY(read_all(trace, bytes, 16));
        index = cpt_index_mix(index, le64(bytes), le64(bytes + 8));
    }
    *ret = *ret && index == s->index;
    return NULL;
}

/* What stands behind the last frame must fit all the frames, and nothing may stand behind it. */
static struct cps_err *check_end(struct cps_trace *trace)
{
    struct state *s = trace->state;
    uint8_t bytes[24];
    size_t more = 0;
    bool good = false;
    CPS_TRY(check_index(trace, &good));
    if (good)
        CPS_TRY(read_all(trace, bytes, sizeof(bytes)));
    if (!good || le64(bytes) != s->total || le64(bytes + 8) != s->frame_at ||
        memcmp(bytes + 16, CPT_END, CPT_MAGIC_SIZE) != 0)
        return damaged(trace, "the index does not fit the frames");
    CPS_TRY(cps_stream_read(trace->stream, bytes, 1, &more));
    return more ? damaged(trace, "something stands behind the end of the trace") : NULL;
}

static struct cps_err *next(struct cps_trace *trace, struct cps_event *events, size_t max,
                            size_t *count)
{
    struct state *s = trace->state;
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
    struct state *s = state;
    ZSTD_freeDCtx(s->zstd);
    free(s->frame.raw);
    free(s);
}

static struct cps_err *read_head(struct cps_trace *trace)
{
    struct state *s = trace->state;
    uint8_t bytes[CPT_MAGIC_SIZE];
    CPS_TRY(read_all(trace, bytes, sizeof(bytes)));
    if (memcmp(bytes, CPT_MAGIC, CPT_MAGIC_SIZE - 1) != 0 || bytes[7] < '1' ||
        bytes[7] > '0' + CPT_VERSION)
        return cps_err_input(cps_stream_name(trace->stream), 7,
                             ".cpt of a version with byte 0x%02x, expected 0x31 to 0x%02x "
                             "(versions 1 to %u)",
                             bytes[7], '0' + CPT_VERSION, CPT_VERSION);
    s->version = bytes[7] - (unsigned)'0';
    CPS_TRY(read_all(trace, bytes, sizeof(bytes)));
    uint32_t size = cps_le32(bytes);
    if (size > TRACE_HEAD_BYTES)
        return damaged(trace, "the head is longer than 4 MiB");
    CPS_FREE char *text = calloc(1, size + (size_t)1);
    if (!text)
        return cps_err_nomem();
    CPS_TRY(read_all(trace, text, size));
    if (cpt_sum(s->version, text, size) != cps_le32(bytes + 4) || strlen(text) != size)
        return damaged(trace, "the head is corrupt: its checksum is wrong");
    return cps_trace_head_parse(cps_stream_name(trace->stream), text, &trace->head);
}

struct cps_err *cps_cpt_open_(struct cps_trace *trace)
{
    struct state *s = calloc(1, sizeof(*s));
    if (!s)
        return cps_err_nomem();
    trace->state = s;
    trace->next = next;
    trace->close = close_cpt;
    s->zstd = ZSTD_createDCtx();
    return s->zstd ? read_head(trace) : cps_err_nomem();
}

#else

struct cps_err *cps_cpt_open_(struct cps_trace *trace)
{
    return cps_err_new(CPS_ERR_UNSUPPORTED, "%s: cpscope was built without zstd, which .cpt needs",
                       cps_stream_name(trace->stream));
}

#endif
