/* SPDX-License-Identifier: MIT
 * Writes `.cpt`. */
#include <string.h>

#include "isa/base/le.h"
#include "trace/form/cpt.h"
#include "trace/form/forms.h"
#include "trace/capture/pm4.h"

#ifdef CPS_HAVE_ZSTD
#include <zstd.h>

#define LEVEL 3

struct state {
    struct cpt_model model;
    uint32_t events; /* in the frame */
    size_t size;     /* bytes of the frame */
    uint64_t offset; /* of what is written next */
    uint64_t first;  /* events in the frames before */
    struct cps_buf index;
    ZSTD_CCtx *zstd;
    uint8_t raw[CPT_FRAME_EVENTS * CPT_MAX_EVENT];
};

/* Seven bits a byte, the last one without bit 7. */
static void put_number(struct state *s, uint64_t value)
{
    while (value >= 0x80) {
        s->raw[s->size++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    s->raw[s->size++] = (uint8_t)value;
}

static uint64_t zigzag(uint64_t distance)
{
    return distance << 1 ^ (0 - (distance >> 63));
}

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
    size_t room = ZSTD_compressBound(s->size);
    uint8_t *packed = s->events ? malloc(room) : NULL;
    size_t size = packed ? ZSTD_compress2(s->zstd, packed, room, s->raw, s->size) : 0;
    w->lost = w->lost || (s->events && (!packed || ZSTD_isError(size)));
    if (packed && !w->lost) {
        add_index(w);
        put_words(w, (const uint32_t[]){CPT_FRAME, s->events, (uint32_t)s->size, (uint32_t)size},
                  4);
        put_bytes(w, packed, size);
    }
    free(packed);
    s->first += s->events;
    s->events = 0;
    s->size = 0;
    memset(&s->model, 0, sizeof(s->model));
}

/* Headers of packets are said by what they mean where that gives the same word. */
static unsigned tag_of(const struct cps_event *event, struct cps_pm4 *packet)
{
    unsigned kind = cps_event_kind(event);
    *packet = (struct cps_pm4){0};
    if (kind != CPS_EV_PKT)
        return kind;
    *packet = cps_pm4_decode(event->value);
    if (packet->kind == CPS_PM4_TYPE7 &&
        cps_pm4_type7(packet->opcode, packet->count) == event->value)
        return CPT_TYPE7;
    if (packet->kind == CPS_PM4_TYPE4 && cps_pm4_type4(packet->reg, packet->count) == event->value)
        return CPT_TYPE4;
    return kind;
}

static void put_value(struct state *s, uint32_t value, unsigned form, const struct cps_pm4 *packet)
{
    if (form == CPT_TYPE7) {
        s->raw[s->size++] = (uint8_t)packet->opcode;
        put_number(s, packet->count);
    } else if (form == CPT_TYPE4) {
        put_number(s, zigzag((uint64_t)packet->reg - s->model.addr[CPS_EV_REG]));
        put_number(s, packet->count);
    } else {
        put_number(s, value);
    }
}

/* Which parts of the event are as predicted. */
static uint8_t flags_of(struct state *s, const struct cps_event *event, uint32_t tag)
{
    const struct cpt_place *place = cpt_place(&s->model);
    unsigned kind = cps_event_kind(event);
    bool same_addr = place->addr == event->addr;
    bool next_addr = s->model.addr[kind] + cpt_step(kind) == event->addr;
    bool same_value = *cpt_value(&s->model, kind, event->addr) == event->value;
    return (uint8_t)((place->tag == tag ? CPT_SAME_TAG : 0) |
                     (place->pc == cps_event_pc(event) ? CPT_SAME_PC : 0) |
                     (same_addr   ? CPT_SAME_ADDR
                      : next_addr ? CPT_NEXT_ADDR
                                  : 0) |
                     (same_value ? CPT_SAME_VALUE : 0));
}

static void put_event(struct state *s, const struct cps_event *event)
{
    struct cps_pm4 packet;
    unsigned kind = cps_event_kind(event);
    uint32_t tag = tag_of(event, &packet) | cps_event_sub(event) << 5;
    uint8_t *flags = &s->raw[s->size++];
    bool moved = cps_event_who(event) != s->model.who;
    s->model.who = cps_event_who(event);
    *flags = (uint8_t)(flags_of(s, event, tag) | (moved ? CPT_NEW_WHO : 0));
    if (moved)
        s->raw[s->size++] = (uint8_t)s->model.who;
    if (!(*flags & CPT_SAME_TAG))
        s->raw[s->size++] = (uint8_t)tag;
    if (!(*flags & CPT_SAME_PC))
        put_number(s, zigzag((uint64_t)cps_event_pc(event) - s->model.pc));
    if (!(*flags & (CPT_SAME_ADDR | CPT_NEXT_ADDR)))
        put_number(s, zigzag(event->addr - s->model.addr[kind]));
    if (!(*flags & CPT_SAME_VALUE))
        put_value(s, event->value, tag & 31, &packet);
    cpt_learn(&s->model, tag, cps_event_pc(event), event->addr, event->value);
}

static void write_event(struct cps_trace_writer *w, const struct cps_event *event)
{
    struct state *s = w->state;
    put_event(s, event);
    if (++s->events == CPT_FRAME_EVENTS)
        end_frame(w);
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
    cps_put_le32(words + 4, cpt_sum(w->head->text, size));
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
    writer->event = write_event;
    writer->end = end;
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
