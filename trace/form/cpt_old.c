/* SPDX-License-Identifier: MIT
 * One event of a `.cpt` of versions 1 and 2, which are only read. */
#include "isa/base/pm4.h"
#include "trace/form/cpt_bytes.h"

/* How the value of a packet's header is written: forms among those of the kinds. */
enum { CPT_TYPE7 = 28, CPT_TYPE4 = 29 };

/* ---- what is predicted ---- */

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
static struct cpt_old_place *place_of(struct cpt_old_model *model)
{
    uint32_t mix = model->mix ^ model->who * 7919u;
    return &model->place[(mix ^ mix >> 15) % CPT_PLACES];
}

/* The value that was seen at an address the last time. */
static uint32_t *value_of(struct cpt_old_model *model, unsigned kind, uint64_t addr)
{
    uint64_t mix = (addr ^ (uint64_t)kind << 40) * UINT64_C(0x9e3779b97f4a7c15);
    return &model->value[(mix >> 40) % CPT_VALUES];
}

/* Notes an event, after it was read: in its place and its value's slot. */
static void learn(struct cpt_old_model *model, unsigned kind, const struct cpt_old_place *now,
                  struct cpt_old_place *place, uint32_t value, uint32_t *slot)
{
    uint32_t tag = (now->tag & 0xffff) + 32 * (now->tag >> 16);
    *place = *now;
    *slot = value;
    model->addr[kind] = now->addr;
    model->pc = now->pc;
    model->mix = now->pc * 2654435761u ^ tag * 40503u;
}

/* ---- from bytes ---- */

/* A header by what it means; the fields must be what they are in that header. */
static bool get_header(struct cpt_frame *f, uint32_t form, uint32_t *value)
{
    uint64_t reg = 0;
    uint32_t count = 0;
    uint8_t opcode = 0;
    bool seven = form == CPT_TYPE7;
    if (!(seven ? cpt_get_byte_(f, &opcode) : cpt_get_distance_(f, &reg)) ||
        !cpt_get_small_(f, UINT32_MAX, &count))
        return false;
    reg = seven ? 0 : reg + f->old.addr[CPS_EV_REG];
    *value = seven ? cps_pm4_type7(opcode, count) : cps_pm4_type4((uint32_t)reg, count);
    struct cps_pm4 packet = cps_pm4_decode(*value);
    return packet.opcode == opcode && packet.reg == reg && packet.count == count;
}

static bool get_value(struct cpt_frame *f, uint32_t form, uint32_t *value)
{
    if (form == CPT_TYPE7 || form == CPT_TYPE4)
        return get_header(f, form, value);
    return cpt_get_small_(f, UINT32_MAX, value);
}

/* In version 1, one byte. */
static bool get_who(struct cpt_frame *f, uint32_t *ret)
{
    uint8_t who = 0;
    if (f->version > 1)
        return cpt_get_small_(f, UINT8_MAX, ret);
    bool good = cpt_get_byte_(f, &who);
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
        bool good =
            cpt_get_small_(f, form_of(CPT_KINDS - 1), &form) && cpt_get_small_(f, UINT8_MAX, &sub);
        *ret = form | sub << 16;
        return good && is_wide(*ret);
    }
    bool good = cpt_get_byte_(f, &byte);
    *ret = (byte & 31u) | (uint32_t)(byte >> 5) << 16;
    return good;
}

static bool flags_can_be(const struct cpt_frame *f, unsigned flags)
{
    return !(flags & CPT_RUN) && !(flags & CPT_SAME_ADDR && flags & CPT_NEXT_ADDR) &&
           !(flags & CPT_WIDE_TAG && (flags & CPT_SAME_TAG || f->version == 1));
}

static bool get_addr(struct cpt_frame *f, unsigned flags, unsigned kind, uint64_t *ret)
{
    uint64_t distance = step_of(kind);
    if (flags & CPT_SAME_ADDR)
        return true;
    bool good = flags & CPT_NEXT_ADDR || cpt_get_distance_(f, &distance);
    *ret = f->old.addr[kind] + distance;
    return good;
}

bool cpt_get_old_event_(struct cpt_frame *f, struct cps_event *ret)
{
    uint8_t flags = 0;
    if (!cpt_get_byte_(f, &flags) || !flags_can_be(f, flags) ||
        (flags & CPT_NEW_WHO && !get_who(f, &f->old.who)))
        return false;
    struct cpt_old_place *place = place_of(&f->old);
    struct cpt_old_place now = *place;
    if (!get_tag(f, flags, &now.tag))
        return false;
    unsigned kind = kind_of(now.tag & 0xffff);
    if ((!(flags & CPT_SAME_PC) &&
         !cpt_get_pc_(f, f->old.pc, f->version == 1 ? 0xfffff : UINT32_MAX, &now.pc)) ||
        !get_addr(f, flags, kind, &now.addr))
        return false;
    uint32_t *slot = value_of(&f->old, kind, now.addr);
    uint32_t value = *slot;
    if (!(flags & CPT_SAME_VALUE) && !get_value(f, now.tag & 0xffff, &value))
        return false;
    learn(&f->old, kind, &now, place, value, slot);
    *ret = cps_event_make(kind, now.tag >> 16, f->old.who, now.pc, now.addr, value);
    return true;
}
