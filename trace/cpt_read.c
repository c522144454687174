/* SPDX-License-Identifier: MIT
 * Reads `.cpt`, frame by frame. A file that was cut gives every whole frame, then an error. */
#include <string.h>

#include "../isa/le.h"
#include "cpt.h"
#include "forms.h"
#include "pm4.h"

#ifdef CPS_HAVE_ZSTD
#include <zstd.h>

struct state {
    struct cpt_model model;
    uint8_t *raw; /* of the frame at hand */
    size_t size, at;
    uint32_t left;     /* events of it */
    uint64_t total;    /* events of all frames so far */
    uint64_t frame_at; /* where the frame begins, for messages */
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

static bool get_byte(struct state *s, uint8_t *ret)
{
    if (s->at == s->size)
        return false;
    *ret = s->raw[s->at++];
    return true;
}

static bool get_number(struct state *s, uint64_t *ret)
{
    uint8_t byte = 0x80;
    *ret = 0;
    for (unsigned shift = 0; byte & 0x80; shift += 7) {
        if (shift > 63 || !get_byte(s, &byte))
            return false;
        *ret |= (uint64_t)(byte & 0x7f) << shift;
    }
    return true;
}

static bool get_distance(struct state *s, uint64_t *ret)
{
    bool good = get_number(s, ret);
    *ret = *ret >> 1 ^ (0 - (*ret & 1));
    return good;
}

static bool get_value(struct state *s, unsigned form, uint32_t *value)
{
    uint64_t first = 0;
    uint64_t count = 0;
    uint8_t opcode = 0;
    bool good = form == CPT_TYPE7   ? get_byte(s, &opcode)
                : form == CPT_TYPE4 ? get_distance(s, &first)
                                    : true;
    if (!good || !get_number(s, &count))
        return false;
    *value = (uint32_t)count;
    if (form == CPT_TYPE7)
        *value = cps_pm4_type7(opcode, (uint32_t)count);
    else if (form == CPT_TYPE4)
        *value = cps_pm4_type4((uint32_t)(first + s->model.addr[CPS_EV_REG]), (uint32_t)count);
    return true;
}

/* Flags, and the processor if it is another one. */
static bool get_flags(struct state *s, uint8_t *flags)
{
    uint8_t who = 0;
    if (!get_byte(s, flags))
        return false;
    if (!(*flags & CPT_NEW_WHO))
        return true;
    if (!get_byte(s, &who) || who > CPS_CPU_NONE)
        return false;
    s->model.who = who;
    return true;
}

static bool get_pc(struct state *s, uint32_t *ret)
{
    uint64_t distance = 0;
    bool good = get_distance(s, &distance);
    *ret = (uint32_t)(s->model.pc + distance) & 0xfffff;
    return good;
}

static bool get_event(struct state *s, struct cps_event *ret)
{
    uint8_t flags = 0;
    uint8_t byte = 0;
    if (!get_flags(s, &flags))
        return false;
    struct cpt_place place = *cpt_place(&s->model);
    if (!(flags & CPT_SAME_TAG)) {
        if (!get_byte(s, &byte))
            return false;
        place.tag = byte;
    }
    unsigned kind = cpt_kind(place.tag);
    if (kind >= CPS_EV_COUNT || (!(flags & CPT_SAME_PC) && !get_pc(s, &place.pc)))
        return false;
    uint64_t distance = cpt_step(kind);
    if (!(flags & CPT_SAME_ADDR)) {
        if (!(flags & CPT_NEXT_ADDR) && !get_distance(s, &distance))
            return false;
        place.addr = s->model.addr[kind] + distance;
    }
    uint32_t value = *cpt_value(&s->model, kind, place.addr);
    if (!(flags & CPT_SAME_VALUE) && !get_value(s, place.tag & 31, &value))
        return false;
    cpt_learn(&s->model, place.tag, place.pc, place.addr, value);
    *ret = (struct cps_event){cps_event_head(kind, place.tag >> 5 & 7, s->model.who, place.pc),
                              value, place.addr};
    return true;
}

static struct cps_err *unpack(struct cps_trace *trace, const uint32_t head[4])
{
    struct state *s = trace->state;
    CPS_FREE uint8_t *packed = malloc(head[3] + (size_t)1);
    free(s->raw);
    s->raw = malloc(head[2] + (size_t)1);
    if (!packed || !s->raw)
        return cps_err_nomem();
    CPS_TRY(read_all(trace, packed, head[3]));
    size_t got = ZSTD_decompressDCtx(s->zstd, s->raw, head[2], packed, head[3]);
    if (ZSTD_isError(got) || got != head[2])
        return damaged(trace, "this frame is corrupt: its checksum or size is wrong");
    s->size = got;
    s->at = 0;
    s->left = head[1];
    memset(&s->model, 0, sizeof(s->model));
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
        head[2] > CPT_FRAME_EVENTS * CPT_MAX_EVENT || head[3] > ZSTD_compressBound(head[2]))
        return damaged(trace, "expected a frame or the index");
    return unpack(trace, head);
}

/* What stands behind the last frame: the number of events there must be that of the frames. */
static struct cps_err *check_end(struct cps_trace *trace)
{
    struct state *s = trace->state;
    uint8_t bytes[24];
    uint64_t skipped = 0;
    CPS_TRY(read_all(trace, bytes, 4));
    uint64_t size = 16 * (uint64_t)cps_le32(bytes);
    CPS_TRY(cps_stream_skip(trace->stream, size, &skipped));
    if (skipped != size)
        return damaged(trace, "the index is cut short");
    CPS_TRY(read_all(trace, bytes, sizeof(bytes)));
    uint64_t total = cps_le32(bytes) | (uint64_t)cps_le32(bytes + 4) << 32;
    if (total != s->total || memcmp(bytes + 16, CPT_END, CPT_MAGIC_SIZE) != 0)
        return damaged(trace, "the index does not fit the frames");
    return NULL;
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
        if (!get_event(s, &events[*count]))
            return damaged(trace, "this frame holds an event that cannot be");
        s->left--;
        s->total++;
        ++*count;
    }
    if (!s->left && !s->done && s->at != s->size)
        return damaged(trace, "this frame holds more than its events");
    return NULL;
}

static void close_cpt(void *state)
{
    struct state *s = state;
    ZSTD_freeDCtx(s->zstd);
    free(s->raw);
    free(s);
}

static struct cps_err *read_head(struct cps_trace *trace)
{
    uint8_t bytes[CPT_MAGIC_SIZE + 4];
    CPS_TRY(read_all(trace, bytes, sizeof(bytes)));
    uint32_t size = cps_le32(bytes + CPT_MAGIC_SIZE);
    if (memcmp(bytes, CPT_MAGIC, CPT_MAGIC_SIZE) != 0)
        return cps_err_input(cps_stream_name(trace->stream), 7,
                             ".cpt of version '%c', expected version 1", bytes[7]);
    if (size > CPT_MAX_HEAD)
        return damaged(trace, "the head is longer than 16 MiB");
    CPS_FREE char *text = calloc(1, size + (size_t)1);
    if (!text)
        return cps_err_nomem();
    CPS_TRY(read_all(trace, text, size));
    CPS_TRY(read_all(trace, bytes, 4));
    if (cps_le32(bytes) != cpt_head_check(text, size))
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
