/* SPDX-License-Identifier: MIT
 * Events to the bytes of a `.cpt`. Files and compression are cpt_write.c. */
#include <string.h>

#include "trace/form/cpt_bytes.h"
#include "trace/form/cpt_model.h"

void cpt_frame_begin_(struct cpt_frame *frame, unsigned version, uint8_t *raw, size_t size)
{
    frame->version = version;
    frame->raw = raw;
    frame->size = size;
    frame->at = 0;
    frame->events = 0;
    if (version < 3) {
        memset(&frame->old, 0, sizeof(frame->old));
        return;
    }
    memset(&frame->model, 0, offsetof(struct cpt_model, event) + sizeof(struct cps_event));
    frame->model.at = 1;
}

/* Between values, which wrap. */
static uint64_t distance_of(uint32_t difference)
{
    return difference | (0 - (uint64_t)(difference >> 31)) << 32;
}

/* Headers that are as they should be are said by what they mean, in a byte and a number; others,
 * and the one with most registers, as they are. */
static uint8_t *put_header(uint8_t *to, const struct cpt_model *model, uint64_t head,
                           uint32_t header)
{
    struct cps_pm4 packet = cps_pm4_decode(header);
    if (packet.kind == CPS_PM4_TYPE7) {
        *to++ = (uint8_t)(CPT_HEADER_TYPE7 | packet.opcode);
        return cpt_put_number_(to, packet.count);
    }
    if (packet.kind == CPS_PM4_TYPE4 && packet.count < CPT_HEADER_PLAIN) {
        *to++ = (uint8_t)packet.count;
        return cpt_put_distance_(to, packet.reg - cpt_next_register_(model, head));
    }
    *to++ = CPT_HEADER_PLAIN;
    return cpt_put_number_(to, header);
}

static uint8_t *put_tag(uint8_t *to, unsigned flags, uint64_t head)
{
    if (flags & CPT_WIDE_TAG)
        return cpt_put_number_(cpt_put_number_(to, cpt_kind_(head)), cpt_sub_(head));
    *to++ = (uint8_t)(cpt_kind_(head) | cpt_sub_(head) << 5);
    return to;
}

static unsigned flags_of_head(uint64_t head, uint64_t differs)
{
    unsigned flags = differs >> 32 ? 0 : CPT_SAME_PC;
    flags |= (uint8_t)(differs >> 16) ? CPT_NEW_WHO : 0u;
    if (!(uint16_t)differs)
        return flags | CPT_SAME_TAG;
    return flags | (cpt_is_wide_(cpt_kind_(head), cpt_sub_(head)) ? CPT_WIDE_TAG : 0u);
}

static uint8_t *put_head(uint8_t *to, const struct cpt_model *model, unsigned flags, uint64_t head)
{
    if (flags & CPT_NEW_WHO)
        to = cpt_put_number_(to, cpt_who_(head));
    if (!(flags & CPT_SAME_TAG))
        to = put_tag(to, flags, head);
    if (!(flags & CPT_SAME_PC))
        to = cpt_put_distance_(to, (head >> 32) - (model->event[model->at - 1].head >> 32));
    return to;
}

/* The event to come, which is another one than was expected. */
__attribute__((noinline)) static uint8_t *put_event(uint8_t *to, struct cpt_model *model)
{
    const struct cps_event *event = &model->event[model->at];
    const struct cps_event *expected = &model->event[model->expected];
    uint64_t next = cpt_next_(model, event->head);
    uint64_t like = cpt_like_(model, expected);
    unsigned flags = flags_of_head(event->head, event->head ^ expected->head);
    uint32_t value = cpt_value_(model, event);
    flags |= event->addr == like ? CPT_SAME_ADDR : event->addr == next ? CPT_NEXT_ADDR : 0u;
    flags |= event->value == value ? CPT_SAME_VALUE : 0u;
    *to++ = (uint8_t)flags;
    to = put_head(to, model, flags, event->head);
    if (!(flags & (CPT_SAME_ADDR | CPT_NEXT_ADDR)))
        to = cpt_put_distance_(to, event->addr - (flags & CPT_SAME_TAG ? like : next));
    if (!(flags & CPT_SAME_VALUE) && cpt_kind_(event->head) == CPS_EV_PKT)
        to = put_header(to, model, event->head, event->value);
    else if (!(flags & CPT_SAME_VALUE))
        to = cpt_put_distance_(to, distance_of(event->value - value));
    cpt_learn_(model);
    return to;
}

/* The event to come, of which only the value is not as expected: most that are not. */
static inline uint8_t *put_value(uint8_t *to, struct cpt_model *model)
{
    uint32_t value = model->event[model->at].value - model->event[model->expected].value;
    *to++ = CPT_SAME_TAG | CPT_SAME_PC | CPT_SAME_ADDR;
    cpt_pass_(model);
    return cpt_put_distance_(to, distance_of(value));
}

/* Takes events while they are as expected, and one that is not. @return that one, or the end */
static const struct cps_event *take_expected(struct cpt_model *model, const struct cps_event *from,
                                             const struct cps_event *end)
{
    const struct cps_event *expected = &model->event[model->expected];
    struct cps_event *event = &model->event[model->at];
    uint32_t at = model->at;
    for (; from < end; from++, event++, expected++, at++) {
        uint64_t head = from->head;
        uint64_t addr = expected->addr;
        *event = *from;
        if (head != expected->head || from->value != expected->value)
            break;
        if (cpt_kind_(head) == CPS_EV_PKT) {
            uint32_t stream = cpt_stream_(head);
            if (from->addr != addr + model->shift[stream])
                break;
            model->last[stream] = at;
        } else if (from->addr != addr) {
            break;
        }
    }
    model->run += at - model->at;
    model->expected += at - model->at;
    model->at = at;
    return from;
}

static uint8_t *put_run(uint8_t *to, struct cpt_model *model)
{
    uint32_t run = model->run;
    model->run = 0;
    if (!run)
        return to;
    if (run < CPT_RUN_MOST) {
        *to++ = (uint8_t)(CPT_RUN | run);
        return to;
    }
    *to++ = CPT_RUN;
    return cpt_put_number_(to, run - CPT_RUN_MOST);
}

size_t cpt_put_events_(struct cpt_frame *f, const struct cps_event *events, size_t count)
{
    struct cpt_model *model = &f->model;
    uint8_t *to = f->raw + f->size;
    uint32_t room = CPT_FRAME_EVENTS - f->events;
    uint32_t taken = count < room ? (uint32_t)count : room;
    const struct cps_event *end = events + taken;
    for (; (events = take_expected(model, events, end)) < end; events++) {
        to = put_run(to, model);
        to = cpt_lacks_value_(model) ? put_value(to, model) : put_event(to, model);
    }
    f->size = (size_t)(to - f->raw);
    f->events += taken;
    return taken;
}

void cpt_put_end_(struct cpt_frame *f)
{
    f->size = (size_t)(put_run(f->raw + f->size, &f->model) - f->raw);
}
