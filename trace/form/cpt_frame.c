/* SPDX-License-Identifier: MIT
 * The events of a frame of a `.cpt` as bytes, and back. Writer and reader expect the same of the
 * next event. Files and compression are cpt_file.c. */
#include <string.h>

#include "isa/base/pm4.h"
#include "trace/form/cpt.h"

/* ---- numbers to bytes: each returns where the next one goes ---- */

/* Seven bits a byte, the last one without bit 7. */
static uint8_t *put_number(uint8_t *to, uint64_t value)
{
    while (value >= 0x80) {
        *to++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *to++ = (uint8_t)value;
    return to;
}

/* 0, -1, 1, -2 as 0, 1, 2, 3. */
static uint64_t fold_sign(uint64_t distance)
{
    return distance << 1 ^ (0 - (distance >> 63));
}

static uint64_t unfold_sign(uint64_t number)
{
    return number >> 1 ^ (0 - (number & 1));
}

static uint8_t *put_distance(uint8_t *to, uint64_t distance)
{
    return put_number(to, fold_sign(distance));
}

/* ---- and back: each returns false if the bytes are none ---- */

static bool get_byte(struct cpt_frame *f, uint8_t *ret)
{
    if (f->at == f->size)
        return false;
    *ret = f->raw[f->at++];
    return true;
}

static bool get_number(struct cpt_frame *f, uint64_t *ret)
{
    uint8_t byte = 0x80;
    *ret = 0;
    for (unsigned shift = 0; byte & 0x80; shift += 7) {
        if (!get_byte(f, &byte) || (shift == 63 && byte > 1))
            return false;
        *ret |= (uint64_t)(byte & 0x7f) << shift;
    }
    return true;
}

static bool get_small(struct cpt_frame *f, uint32_t most, uint32_t *ret)
{
    uint64_t number = 0;
    bool good = get_number(f, &number);
    *ret = (uint32_t)number;
    return good && number <= most;
}

static bool get_distance(struct cpt_frame *f, uint64_t *ret)
{
    bool good = get_number(f, ret);
    *ret = unfold_sign(*ret);
    return good;
}

/* A pc, as its distance from another one. */
static bool get_pc(struct cpt_frame *f, uint32_t from, uint32_t most, uint32_t *ret)
{
    uint64_t distance = 0;
    bool good = get_distance(f, &distance);
    distance += from;
    *ret = (uint32_t)distance;
    return good && distance <= most;
}

/* ---- what is expected of the next event ---- */

#define CPT_MIX UINT64_C(0x9e3779b97f4a7c15)

/* A head is as in struct cps_event: kind 7:0, sub 15:8, processor 23:16, pc 63:32. Most tags fit
 * into a byte: kind 4:0, sub 7:5. */
static bool is_wide_tag(unsigned kind, unsigned sub)
{
    return kind > 31 || sub > 7;
}

/* What usually follows depends on where the firmware is, and behind a packet on which one. */
static uint32_t *place_after(struct cpt_model *model, const struct cps_event *event)
{
    uint64_t head = event->head;
    if ((uint8_t)head == CPS_EV_PKT && event->value >> 28 == 7)
        head |= (uint64_t)(0x80 | (event->value >> 16 & 0x7f)) << 24;
    uint32_t place = (uint32_t)(head >> 32) + ((uint32_t)head * 0x9e3779b1u >> 22);
    return &model->behind[place % CPT_PLACES];
}

/* What an event is about: a packet's header, else an addr. */
static uint64_t subject_of(const struct cps_event *event)
{
    return cps_event_kind(event) == CPS_EV_PKT ? event->value : event->addr;
}

static uint32_t seen_slot(const struct cps_event *event)
{
    uint64_t mix = (subject_of(event) ^ event->head * CPT_MIX) * CPT_MIX;
    return (uint32_t)(mix >> 40) % CPT_SEEN;
}

/* The stream that a PKT is in: its processor and level. */
static uint32_t stream_of(uint64_t head)
{
    return (head >> 13 & (CPT_STREAMS - CPT_LEVELS)) | (head >> 8 & (CPT_LEVELS - 1));
}

static uint64_t first_register(uint32_t header)
{
    return header >> 8 & 0x3ffff;
}

/* The register behind those of the last packet of a stream. */
static uint64_t next_register(const struct cpt_model *model, uint64_t head)
{
    uint32_t header = model->event[model->last[stream_of(head)]].value;
    return first_register(header) + (header & 0x7f);
}

/* How far the next address is usually behind this one: a register, a word of a packet, a dword in
 * memory; what a STEP has there is no address. */
static uint64_t address_step(unsigned kind)
{
    const uint32_t of_one = 1u << CPS_EV_REG | 1u << CPS_EV_REGR | 1u << CPS_EV_CTRL |
                            1u << CPS_EV_PIPE | 1u << CPS_EV_WORD;
    const uint32_t of_none = 1u << CPS_EV_STEP | 1u << CPS_EV_STEPX;
    return kind < 32 && of_one >> kind & 1 ? 1 : kind < 32 && of_none >> kind & 1 ? 0 : 4;
}

/* The addr behind the last event of this kind; of packets, in this stream. */
static uint64_t next_address(const struct cpt_model *model, uint64_t head)
{
    if ((uint8_t)head != CPS_EV_PKT)
        return model->next[(uint8_t)head];
    const struct cps_event *last = &model->event[model->last[stream_of(head)]];
    return last->addr + 4 + 4 * (uint64_t)cps_pm4_decode_any(last->value).count;
}

/* The addr that an event has if it is like another one. */
static uint64_t repeated_address(const struct cpt_model *model, const struct cps_event *other)
{
    uint64_t shift = cps_event_kind(other) == CPS_EV_PKT ? model->shift[stream_of(other->head)] : 0;
    return other->addr + shift;
}

static bool is_alike(const struct cps_event *event, const struct cps_event *other)
{
    return other->head == event->head && subject_of(other) == subject_of(event);
}

/* The event of the same head that is about the same: the expected one, else the last one that was
 * not expected. @return its number, or 0 */
static uint32_t find_alike(const struct cpt_model *model, const struct cps_event *event)
{
    uint32_t seen = model->seen[seen_slot(event)];
    if (is_alike(event, &model->event[model->expected]))
        return model->expected;
    return is_alike(event, &model->event[seen]) ? seen : 0;
}

/* The value that an event is expected to have, whose head and addr are known. */
static uint32_t expected_value(const struct cpt_model *model, const struct cps_event *event)
{
    const struct cps_event *expected = &model->event[model->expected];
    if (cps_event_kind(event) == CPS_EV_PKT)
        return cps_event_kind(expected) == CPS_EV_PKT ? expected->value : 0;
    return model->event[find_alike(model, event)].value;
}

/* What is known of the stream behind a packet. @param like  number of the event it is like, or 0 */
static void learn_packet(struct cpt_model *model, const struct cps_event *event, uint32_t like)
{
    uint32_t stream = stream_of(event->head);
    model->last[stream] = model->at;
    if (like)
        model->shift[stream] = event->addr - model->event[like].addr;
    if (event->value >> 28 == 4)
        model->next[CPS_EV_REG] =
            (model->next[CPS_EV_REG] & ~UINT64_C(0x3ffff)) | first_register(event->value);
}

/* Whether the event to come, of which the value may be missing, is like the expected one but for
 * that. */
static bool differs_in_value(const struct cpt_model *model)
{
    const struct cps_event *event = &model->event[model->at];
    const struct cps_event *expected = &model->event[model->expected];
    return event->head == expected->head && event->addr == expected->addr &&
           cps_event_kind(event) != CPS_EV_PKT;
}

/* Passes an event that is as expected, perhaps but for its value. */
static void pass_event(struct cpt_model *model)
{
    model->at++;
    model->expected++;
}

/* Notes the event to come, which is another one than was expected. */
static void learn_event(struct cpt_model *model)
{
    const struct cps_event *event = &model->event[model->at];
    unsigned kind = cps_event_kind(event);
    uint32_t *behind = place_after(model, event);
    uint32_t like = find_alike(model, event);
    if (kind == CPS_EV_PKT)
        learn_packet(model, event, like);
    else
        model->next[kind] = event->addr + address_step(kind);
    like = like ? like : *behind;
    model->expected = like ? like + 1 : model->at;
    model->seen[seen_slot(event)] = model->at;
    *behind = model->at++;
}

void cpt_frame_begin_(struct cpt_frame *frame, uint8_t *raw, size_t size)
{
    frame->raw = raw;
    frame->size = size;
    frame->at = 0;
    frame->events = 0;
    memset(&frame->model, 0, offsetof(struct cpt_model, event) + sizeof(struct cps_event));
    frame->model.at = 1;
}

/* ---- events to bytes ---- */

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
        return put_number(to, packet.count);
    }
    if (packet.kind == CPS_PM4_TYPE4 && packet.count < CPT_HEADER_PLAIN) {
        *to++ = (uint8_t)packet.count;
        return put_distance(to, packet.reg - next_register(model, head));
    }
    *to++ = CPT_HEADER_PLAIN;
    return put_number(to, header);
}

static uint8_t *put_tag(uint8_t *to, unsigned flags, uint64_t head)
{
    if (flags & CPT_WIDE_TAG)
        return put_number(put_number(to, (uint8_t)head), (uint8_t)(head >> 8));
    *to++ = (uint8_t)((uint8_t)head | (uint8_t)(head >> 8) << 5);
    return to;
}

static unsigned flags_of_head(uint64_t head, uint64_t differs)
{
    unsigned flags = differs >> 32 ? 0 : CPT_SAME_PC;
    flags |= (uint8_t)(differs >> 16) ? CPT_NEW_WHO : 0u;
    if (!(uint16_t)differs)
        return flags | CPT_SAME_TAG;
    return flags | (is_wide_tag((uint8_t)head, (uint8_t)(head >> 8)) ? CPT_WIDE_TAG : 0u);
}

static uint8_t *put_head(uint8_t *to, const struct cpt_model *model, unsigned flags, uint64_t head)
{
    if (flags & CPT_NEW_WHO)
        to = put_number(to, (uint8_t)(head >> 16));
    if (!(flags & CPT_SAME_TAG))
        to = put_tag(to, flags, head);
    if (!(flags & CPT_SAME_PC))
        to = put_distance(to, (head >> 32) - (model->event[model->at - 1].head >> 32));
    return to;
}

/* The event to come, which is another one than was expected. */
__attribute__((noinline)) static uint8_t *put_event(uint8_t *to, struct cpt_model *model)
{
    const struct cps_event *event = &model->event[model->at];
    const struct cps_event *expected = &model->event[model->expected];
    uint64_t next = next_address(model, event->head);
    uint64_t like = repeated_address(model, expected);
    unsigned flags = flags_of_head(event->head, event->head ^ expected->head);
    uint32_t value = expected_value(model, event);
    flags |= event->addr == like ? CPT_SAME_ADDR : event->addr == next ? CPT_NEXT_ADDR : 0u;
    flags |= event->value == value ? CPT_SAME_VALUE : 0u;
    *to++ = (uint8_t)flags;
    to = put_head(to, model, flags, event->head);
    if (!(flags & (CPT_SAME_ADDR | CPT_NEXT_ADDR)))
        to = put_distance(to, event->addr - (flags & CPT_SAME_TAG ? like : next));
    if (!(flags & CPT_SAME_VALUE) && cps_event_kind(event) == CPS_EV_PKT)
        to = put_header(to, model, event->head, event->value);
    else if (!(flags & CPT_SAME_VALUE))
        to = put_distance(to, distance_of(event->value - value));
    learn_event(model);
    return to;
}

/* The event to come, of which only the value is not as expected: most that are not. */
static uint8_t *put_value(uint8_t *to, struct cpt_model *model)
{
    uint32_t value = model->event[model->at].value - model->event[model->expected].value;
    *to++ = CPT_SAME_TAG | CPT_SAME_PC | CPT_SAME_ADDR;
    pass_event(model);
    return put_distance(to, distance_of(value));
}

/* Takes events while they are as expected, and one that is not. @return that one, or the end */
static const struct cps_event *put_expected(struct cpt_model *model, const struct cps_event *from,
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
        if ((uint8_t)head == CPS_EV_PKT) {
            uint32_t stream = stream_of(head);
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
    return put_number(to, run - CPT_RUN_MOST);
}

size_t cpt_put_events_(struct cpt_frame *f, const struct cps_event *events, size_t count)
{
    struct cpt_model *model = &f->model;
    uint8_t *to = f->raw + f->size;
    uint32_t room = CPT_FRAME_EVENTS - f->events;
    uint32_t taken = count < room ? (uint32_t)count : room;
    const struct cps_event *end = events + taken;
    for (; (events = put_expected(model, events, end)) < end; events++) {
        to = put_run(to, model);
        to = differs_in_value(model) ? put_value(to, model) : put_event(to, model);
    }
    f->size = (size_t)(to - f->raw);
    f->events += taken;
    return taken;
}

void cpt_put_end_(struct cpt_frame *f)
{
    f->size = (size_t)(put_run(f->raw + f->size, &f->model) - f->raw);
}

/* ---- bytes to events ---- */

static bool flags_can_be(unsigned flags)
{
    return !(flags & CPT_SAME_ADDR && flags & CPT_NEXT_ADDR) &&
           !(flags & CPT_WIDE_TAG && flags & CPT_SAME_TAG);
}

static bool get_tag(struct cpt_frame *f, unsigned flags, unsigned *kind, unsigned *sub)
{
    uint8_t byte = 0;
    if (flags & CPT_SAME_TAG)
        return true;
    if (flags & CPT_WIDE_TAG)
        return get_small(f, UINT8_MAX, kind) && get_small(f, UINT8_MAX, sub) &&
               is_wide_tag(*kind, *sub);
    bool good = get_byte(f, &byte);
    *kind = byte & 31;
    *sub = byte >> 5;
    return good;
}

/* Kind, sub, processor and pc, of which `head` has what is expected. */
static bool get_head(struct cpt_frame *f, unsigned flags, uint64_t *head)
{
    unsigned kind = (uint8_t)*head;
    unsigned sub = (uint8_t)(*head >> 8);
    unsigned who = (uint8_t)(*head >> 16);
    uint32_t pc = (uint32_t)(*head >> 32);
    uint32_t before = cps_event_pc(&f->model.event[f->model.at - 1]);
    if ((flags & CPT_NEW_WHO && !get_small(f, UINT8_MAX, &who)) ||
        !get_tag(f, flags, &kind, &sub) ||
        (!(flags & CPT_SAME_PC) && !get_pc(f, before, UINT32_MAX, &pc)))
        return false;
    *head = cps_event_make(kind, sub, who, pc, 0, 0).head;
    return true;
}

static bool get_addr(struct cpt_frame *f, unsigned flags, uint64_t head, uint64_t *addr)
{
    uint64_t like = repeated_address(&f->model, &f->model.event[f->model.expected]);
    uint64_t next = next_address(&f->model, head);
    uint64_t distance = 0;
    bool good = flags & (CPT_SAME_ADDR | CPT_NEXT_ADDR) || get_distance(f, &distance);
    bool from_like = flags & CPT_SAME_ADDR || (flags & CPT_SAME_TAG && !(flags & CPT_NEXT_ADDR));
    *addr = (from_like ? like : next) + distance;
    return good;
}

/* A header by what it means; the numbers must be what they are in that header. */
static bool get_header(struct cpt_frame *f, uint64_t head, uint32_t *header)
{
    uint8_t what = 0;
    uint64_t reg = 0;
    uint32_t count = 0;
    if (!get_byte(f, &what))
        return false;
    if (what == CPT_HEADER_PLAIN)
        return get_small(f, UINT32_MAX, header);
    bool good = what & CPT_HEADER_TYPE7 ? get_small(f, 0x3fff, &count) : get_distance(f, &reg);
    reg += next_register(&f->model, head);
    *header =
        what & CPT_HEADER_TYPE7 ? cps_pm4_type7(what, count) : cps_pm4_type4((uint32_t)reg, what);
    return good && (what & CPT_HEADER_TYPE7 || reg <= 0x3ffff);
}

/* The value, which `event` lacks. */
static bool get_value(struct cpt_frame *f, unsigned flags, struct cps_event *event)
{
    uint64_t distance = 0;
    event->value = expected_value(&f->model, event);
    if (flags & CPT_SAME_VALUE)
        return true;
    if (cps_event_kind(event) == CPS_EV_PKT)
        return get_header(f, event->head, &event->value);
    bool good = get_distance(f, &distance) && fold_sign(distance) <= UINT32_MAX;
    event->value += (uint32_t)distance;
    return good;
}

static bool get_event(struct cpt_frame *f, unsigned flags)
{
    struct cpt_model *model = &f->model;
    struct cps_event *event = &model->event[model->at];
    event->head = model->event[model->expected].head;
    event->zero = 0;
    if (!flags_can_be(flags) || !get_head(f, flags, &event->head) ||
        !get_addr(f, flags, event->head, &event->addr) || !get_value(f, flags, event))
        return false;
    if (differs_in_value(model))
        pass_event(model);
    else
        learn_event(model);
    return true;
}

/* The next one of a run. */
static void take_expected(struct cpt_model *model)
{
    struct cps_event *event = &model->event[model->at];
    *event = model->event[model->expected];
    if (cps_event_kind(event) == CPS_EV_PKT) {
        uint32_t stream = stream_of(event->head);
        event->addr += model->shift[stream];
        model->last[stream] = model->at;
    }
    pass_event(model);
    model->run--;
}

static bool get_run(struct cpt_frame *f, unsigned flags)
{
    bool more = flags == CPT_RUN;
    if (more && !get_small(f, CPT_FRAME_EVENTS, &f->model.run))
        return false;
    f->model.run += more ? CPT_RUN_MOST : flags & ~CPT_RUN;
    return !(flags & CPT_NEW_WHO);
}

bool cpt_get_event_(struct cpt_frame *f, struct cps_event *ret)
{
    struct cpt_model *model = &f->model;
    uint8_t flags = CPT_RUN;
    if (model->at > CPT_FRAME_EVENTS || (!model->run && !get_byte(f, &flags)) ||
        (!model->run && flags & CPT_RUN && !get_run(f, flags)))
        return false;
    if (flags & CPT_RUN)
        take_expected(model);
    else if (!get_event(f, flags))
        return false;
    *ret = model->event[model->at - 1];
    return true;
}
