/* SPDX-License-Identifier: MIT
 * One event of a `.cpt`, to bytes and back. Files and compression are cpt_write.c and cpt_read.c.
 */
#include "trace/form/cpt.h"
#include "isa/base/pm4.h"

/* ---- what both directions predict ---- */

/* Kinds leave out the numbers of the two forms of headers. */
static uint32_t form_of(unsigned kind)
{
    return kind < CPT_TYPE7 ? kind : kind + 2;
}

static unsigned kind_of(uint32_t form)
{
    if (form == CPT_TYPE7 || form == CPT_TYPE4)
        return CPS_EV_PKT;
    return form < CPT_TYPE7 ? form : form - 2;
}

/* Most tags fit into a byte: form 4:0, sub 7:5. */
static bool is_wide(uint32_t tag)
{
    return (tag & 0xffff) > 31 || tag >> 16 > 7;
}

/* How far the next address of a kind is usually from the one before: a register, a word of a
 * packet, or a dword in memory. */
static uint64_t step_of(unsigned kind)
{
    switch (kind) {
    case CPS_EV_REG:
    case CPS_EV_REGR:
    case CPS_EV_CTRL:
    case CPS_EV_PIPE:
    case CPS_EV_WORD:
        return 1;
    default:
        return 4;
    }
}

/* The place behind the event before. */
static struct cpt_place *place_of(struct cpt_model *model)
{
    uint32_t mix = model->mix ^ model->who * 7919u;
    return &model->place[(mix ^ mix >> 15) % CPT_PLACES];
}

/* The value that was seen at an address the last time. */
static uint32_t *value_of(struct cpt_model *model, unsigned kind, uint64_t addr)
{
    uint64_t mix = (addr ^ (uint64_t)kind << 40) * UINT64_C(0x9e3779b97f4a7c15);
    return &model->value[(mix >> 40) % CPT_VALUES];
}

/* Notes an event, after it was coded or decoded: in its place and its value's slot. */
static void learn(struct cpt_model *model, unsigned kind, const struct cpt_place *now,
                  struct cpt_place *place, uint32_t value, uint32_t *slot)
{
    uint32_t tag = (now->tag & 0xffff) + 32 * (now->tag >> 16);
    *place = *now;
    *slot = value;
    model->addr[kind] = now->addr;
    model->pc = now->pc;
    model->mix = now->pc * 2654435761u ^ tag * 40503u;
}

/* ---- to bytes: each returns where the next one goes ---- */

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

static uint8_t *put_distance(uint8_t *to, uint64_t distance)
{
    return put_number(to, distance << 1 ^ (0 - (distance >> 63)));
}

/* Headers of packets are said by what they mean where that gives the same word. */
static uint32_t packet_form(uint32_t header)
{
    struct cps_pm4 packet = cps_pm4_decode(header);
    if (packet.kind == CPS_PM4_TYPE7 && cps_pm4_type7(packet.opcode, packet.count) == header)
        return CPT_TYPE7;
    if (packet.kind == CPS_PM4_TYPE4 && cps_pm4_type4(packet.reg, packet.count) == header)
        return CPT_TYPE4;
    return CPS_EV_PKT;
}

static uint32_t tag_of(const struct cps_event *event)
{
    unsigned kind = cps_event_kind(event);
    uint32_t form = kind == CPS_EV_PKT ? packet_form(event->value) : form_of(kind);
    return form | cps_event_sub(event) << 16;
}

static uint8_t *put_header(uint8_t *to, const struct cpt_model *model, uint32_t value,
                           uint32_t form)
{
    struct cps_pm4 packet = cps_pm4_decode(value);
    if (form == CPT_TYPE7)
        *to++ = (uint8_t)packet.opcode;
    else
        to = put_distance(to, (uint64_t)packet.reg - model->addr[CPS_EV_REG]);
    return put_number(to, packet.count);
}

static uint8_t *put_value(uint8_t *to, const struct cpt_model *model, uint32_t value, uint32_t form)
{
    if (form == CPT_TYPE7 || form == CPT_TYPE4)
        return put_header(to, model, value, form);
    return put_number(to, value);
}

/* Which parts of the event are as predicted: all but processor and value. */
static unsigned flags_of(const struct cpt_place *now, const struct cpt_place *place,
                         uint64_t next_addr)
{
    return (place->tag == now->tag ? CPT_SAME_TAG
            : is_wide(now->tag)    ? CPT_WIDE_TAG
                                   : 0u) |
           (place->pc == now->pc ? CPT_SAME_PC : 0u) |
           (place->addr == now->addr ? CPT_SAME_ADDR
            : next_addr == now->addr ? CPT_NEXT_ADDR
                                     : 0u);
}

void cpt_put_event_(struct cpt_frame *f, const struct cps_event *event)
{
    struct cpt_model *model = &f->model;
    const struct cpt_place now = {tag_of(event), cps_event_pc(event), event->addr};
    unsigned kind = cps_event_kind(event);
    bool moved = cps_event_who(event) != model->who;
    model->who = cps_event_who(event);
    struct cpt_place *place = place_of(model);
    uint32_t *slot = value_of(model, kind, now.addr);
    unsigned flags = flags_of(&now, place, model->addr[kind] + step_of(kind)) |
                     (*slot == event->value ? CPT_SAME_VALUE : 0u) | (moved ? CPT_NEW_WHO : 0u);
    uint8_t *to = f->raw + f->size;
    *to++ = (uint8_t)flags;
    if (moved)
        to = put_number(to, model->who);
    if (flags & CPT_WIDE_TAG)
        to = put_number(put_number(to, now.tag & 0xffff), now.tag >> 16);
    else if (!(flags & CPT_SAME_TAG))
        *to++ = (uint8_t)(now.tag | now.tag >> 16 << 5);
    if (!(flags & CPT_SAME_PC))
        to = put_distance(to, (uint64_t)now.pc - model->pc);
    if (!(flags & (CPT_SAME_ADDR | CPT_NEXT_ADDR)))
        to = put_distance(to, now.addr - model->addr[kind]);
    if (!(flags & CPT_SAME_VALUE))
        to = put_value(to, model, event->value, now.tag & 0xffff);
    f->size = (size_t)(to - f->raw);
    learn(model, kind, &now, place, event->value, slot);
}

/* ---- and back ---- */

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
    *ret = *ret >> 1 ^ (0 - (*ret & 1));
    return good;
}

/* A header by what it means; the fields must be what they are in that header. */
static bool get_header(struct cpt_frame *f, uint32_t form, uint32_t *value)
{
    uint64_t reg = 0;
    uint32_t count = 0;
    uint8_t opcode = 0;
    bool seven = form == CPT_TYPE7;
    if (!(seven ? get_byte(f, &opcode) : get_distance(f, &reg)) ||
        !get_small(f, UINT32_MAX, &count))
        return false;
    reg = seven ? 0 : reg + f->model.addr[CPS_EV_REG];
    *value = seven ? cps_pm4_type7(opcode, count) : cps_pm4_type4((uint32_t)reg, count);
    struct cps_pm4 packet = cps_pm4_decode(*value);
    return packet.opcode == opcode && packet.reg == reg && packet.count == count;
}

static bool get_value(struct cpt_frame *f, uint32_t form, uint32_t *value)
{
    if (form == CPT_TYPE7 || form == CPT_TYPE4)
        return get_header(f, form, value);
    return get_small(f, UINT32_MAX, value);
}

/* In version 1, one byte. */
static bool get_who(struct cpt_frame *f, uint32_t *ret)
{
    uint8_t who = 0;
    if (f->version > 1)
        return get_small(f, UINT8_MAX, ret);
    bool good = get_byte(f, &who);
    *ret = who;
    return good;
}

static bool get_tag(struct cpt_frame *f, unsigned flags, uint32_t *ret)
{
    uint8_t byte = 0;
    uint32_t form = 0;
    uint32_t sub = 0;
    if (flags & CPT_SAME_TAG)
        return true;
    if (flags & CPT_WIDE_TAG) {
        bool good = get_small(f, form_of(CPT_KINDS - 1), &form) && get_small(f, UINT8_MAX, &sub);
        *ret = form | sub << 16;
        return good && is_wide(*ret);
    }
    bool good = get_byte(f, &byte);
    *ret = (byte & 31u) | (uint32_t)(byte >> 5) << 16;
    return good;
}

static bool flags_can_be(const struct cpt_frame *f, unsigned flags)
{
    return !(flags & CPT_UNKNOWN) && !(flags & CPT_SAME_ADDR && flags & CPT_NEXT_ADDR) &&
           !(flags & CPT_WIDE_TAG && (flags & CPT_SAME_TAG || f->version == 1));
}

static bool get_pc(struct cpt_frame *f, uint32_t *ret)
{
    uint64_t distance = 0;
    bool good = get_distance(f, &distance);
    distance += f->model.pc;
    *ret = (uint32_t)distance;
    return good && distance <= (f->version == 1 ? 0xfffff : UINT32_MAX);
}

static bool get_addr(struct cpt_frame *f, unsigned flags, unsigned kind, uint64_t *ret)
{
    uint64_t distance = step_of(kind);
    if (flags & CPT_SAME_ADDR)
        return true;
    bool good = flags & CPT_NEXT_ADDR || get_distance(f, &distance);
    *ret = f->model.addr[kind] + distance;
    return good;
}

bool cpt_get_event_(struct cpt_frame *f, struct cps_event *ret)
{
    uint8_t flags = 0;
    if (!get_byte(f, &flags) || !flags_can_be(f, flags) ||
        (flags & CPT_NEW_WHO && !get_who(f, &f->model.who)))
        return false;
    struct cpt_place *place = place_of(&f->model);
    struct cpt_place now = *place;
    if (!get_tag(f, flags, &now.tag))
        return false;
    unsigned kind = kind_of(now.tag & 0xffff);
    if ((!(flags & CPT_SAME_PC) && !get_pc(f, &now.pc)) || !get_addr(f, flags, kind, &now.addr))
        return false;
    uint32_t *slot = value_of(&f->model, kind, now.addr);
    uint32_t value = *slot;
    if (!(flags & CPT_SAME_VALUE) && !get_value(f, now.tag & 0xffff, &value))
        return false;
    learn(&f->model, kind, &now, place, value, slot);
    *ret = cps_event_make(kind, now.tag >> 16, f->model.who, now.pc, now.addr, value);
    return true;
}
