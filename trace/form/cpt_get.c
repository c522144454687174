/* SPDX-License-Identifier: MIT
 * The bytes of a `.cpt` to events. Files and compression are cpt_read.c. */
#include "trace/form/cpt_bytes.h"
#include "trace/form/cpt_model.h"

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
        return cpt_get_small_(f, UINT8_MAX, kind) && cpt_get_small_(f, UINT8_MAX, sub) &&
               cpt_is_wide_(*kind, *sub);
    bool good = cpt_get_byte_(f, &byte);
    *kind = byte & 31;
    *sub = byte >> 5;
    return good;
}

/* Kind, sub, processor and pc, of which `head` has what is expected. */
static bool get_head(struct cpt_frame *f, unsigned flags, uint64_t *head)
{
    unsigned kind = cpt_kind_(*head);
    unsigned sub = cpt_sub_(*head);
    unsigned who = cpt_who_(*head);
    uint32_t pc = (uint32_t)(*head >> 32);
    uint32_t before = cps_event_pc(&f->model.event[f->model.at - 1]);
    if ((flags & CPT_NEW_WHO && !cpt_get_small_(f, UINT8_MAX, &who)) ||
        !get_tag(f, flags, &kind, &sub) ||
        (!(flags & CPT_SAME_PC) && !cpt_get_pc_(f, before, UINT32_MAX, &pc)))
        return false;
    *head = cps_event_make(kind, sub, who, pc, 0, 0).head;
    return true;
}

static bool get_addr(struct cpt_frame *f, unsigned flags, uint64_t head, uint64_t *addr)
{
    uint64_t like = cpt_like_(&f->model, &f->model.event[f->model.expected]);
    uint64_t next = cpt_next_(&f->model, head);
    uint64_t distance = 0;
    bool good = flags & (CPT_SAME_ADDR | CPT_NEXT_ADDR) || cpt_get_distance_(f, &distance);
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
    if (!cpt_get_byte_(f, &what))
        return false;
    if (what == CPT_HEADER_PLAIN)
        return cpt_get_small_(f, UINT32_MAX, header);
    bool good =
        what & CPT_HEADER_TYPE7 ? cpt_get_small_(f, 0x3fff, &count) : cpt_get_distance_(f, &reg);
    reg += cpt_next_register_(&f->model, head);
    *header =
        what & CPT_HEADER_TYPE7 ? cps_pm4_type7(what, count) : cps_pm4_type4((uint32_t)reg, what);
    return good && (what & CPT_HEADER_TYPE7 || reg <= 0x3ffff);
}

/* The value, which `event` lacks. */
static bool get_value(struct cpt_frame *f, unsigned flags, struct cps_event *event)
{
    uint64_t distance = 0;
    event->value = cpt_value_(&f->model, event);
    if (flags & CPT_SAME_VALUE)
        return true;
    if (cps_event_kind(event) == CPS_EV_PKT)
        return get_header(f, event->head, &event->value);
    bool good = cpt_get_distance_(f, &distance) && cpt_folded_(distance) <= UINT32_MAX;
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
    if (cpt_lacks_value_(model))
        cpt_pass_(model);
    else
        cpt_learn_(model);
    return true;
}

/* The next one of a run. */
static void take_expected(struct cpt_model *model)
{
    struct cps_event *event = &model->event[model->at];
    *event = model->event[model->expected];
    if (cps_event_kind(event) == CPS_EV_PKT) {
        uint32_t stream = cpt_stream_(event->head);
        event->addr += model->shift[stream];
        model->last[stream] = model->at;
    }
    cpt_pass_(model);
    model->run--;
}

static bool get_run(struct cpt_frame *f, unsigned flags)
{
    bool more = flags == CPT_RUN;
    if (more && !cpt_get_small_(f, CPT_FRAME_EVENTS, &f->model.run))
        return false;
    f->model.run += more ? CPT_RUN_MOST : flags & ~CPT_RUN;
    return !(flags & CPT_NEW_WHO);
}

bool cpt_get_event_(struct cpt_frame *f, struct cps_event *ret)
{
    struct cpt_model *model = &f->model;
    uint8_t flags = CPT_RUN;
    if (f->version < 3)
        return cpt_get_old_event_(f, ret);
    if (model->at > CPT_FRAME_EVENTS || (!model->run && !cpt_get_byte_(f, &flags)) ||
        (!model->run && flags & CPT_RUN && !get_run(f, flags)))
        return false;
    if (flags & CPT_RUN)
        take_expected(model);
    else if (!get_event(f, flags))
        return false;
    *ret = model->event[model->at - 1];
    return true;
}
