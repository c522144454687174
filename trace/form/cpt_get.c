/* SPDX-License-Identifier: MIT
 * The bytes of a `.cpt` to events. Files and compression are cpt_read.c. */
#include "isa/base/le.h"
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

/* Kind, sub, processor and pc, of which `head` has what was expected. */
static bool get_head(struct cpt_frame *f, unsigned flags, unsigned who, uint64_t *head)
{
    unsigned kind = cpt_kind_(*head);
    unsigned sub = cpt_sub_(*head);
    uint32_t pc = (uint32_t)(*head >> 32);
    uint32_t before = f->model.core[who].pc;
    if (!get_tag(f, flags, &kind, &sub) ||
        (!(flags & CPT_SAME_PC) && !cpt_get_pc_(f, before, UINT32_MAX, &pc)))
        return false;
    *head = cps_event_make(kind, sub, who, pc, 0, 0).head;
    return true;
}

static bool get_addr(struct cpt_frame *f, unsigned flags, uint64_t next, uint64_t *addr)
{
    uint64_t distance = 0;
    if (flags & CPT_SAME_ADDR)
        return true;
    bool good = flags & CPT_NEXT_ADDR || cpt_get_distance_(f, &distance);
    *addr = next + distance;
    return good;
}

/* A header by what it means; the numbers must be what they are in that header. */
static bool get_header(struct cpt_frame *f, uint32_t *header)
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
    reg += f->model.next[CPS_EV_REG];
    *header =
        what & CPT_HEADER_TYPE7 ? cps_pm4_type7(what, count) : cps_pm4_type4((uint32_t)reg, what);
    return good && (what & CPT_HEADER_TYPE7 || reg <= 0x3ffff);
}

/* How many bytes a value has by its code. */
static unsigned size_of(unsigned code)
{
    return code + (code == 3);
}

static unsigned code_at(const struct cpt_frame *f, uint32_t number)
{
    return f->raw[f->registers.codes + number / 4] >> 2 * (number % 4) & 3;
}

/* The registers of the packet that was read: they must all be there. */
static bool begin_registers(struct cpt_frame *f, uint64_t head, uint32_t header)
{
    uint32_t count = cpt_registers_(cpt_kind_(head), header);
    struct cpt_run run = f->model.run[cpt_run_number_(head)];
    size_t codes = (count + 3) / 4;
    if (!count || codes > f->size - f->at || cpt_kind_(run.head) != CPS_EV_REG)
        return false;
    run.base += cpt_first_register_(header);
    f->registers.like = run;
    f->registers.left = count;
    f->registers.number = 0;
    f->registers.codes = f->at;
    f->at += codes;
    f->registers.at = f->at;
    if (count % 4 && f->raw[f->at - 1] >> 2 * (count % 4))
        return false;
    size_t size = 0;
    for (uint32_t i = 0; i < count; i++)
        size += size_of(code_at(f, i));
    bool good = size <= f->size - f->at;
    f->at += size;
    return good;
}

static struct cps_event next_register(struct cpt_frame *f)
{
    struct cpt_run *like = &f->registers.like;
    uint64_t addr = like->base + f->registers.number;
    uint32_t *slot = &f->model.value[cpt_register_slot_(addr)];
    unsigned size = size_of(code_at(f, f->registers.number));
    uint32_t value = 0;
    for (unsigned i = 0; i < size; i++)
        value |= (uint32_t)f->raw[f->registers.at + i] << 8 * i;
    *slot = size ? value : *slot;
    f->registers.at += size;
    f->registers.number++;
    if (!--f->registers.left)
        cpt_learn_registers_(&f->model, like->head, addr);
    return (struct cps_event){like->head, addr, *slot, 0};
}

static bool get_record(struct cpt_frame *f, unsigned flags, unsigned who, struct cps_event *ret)
{
    struct cpt_model *model = &f->model;
    struct cpt_place *place = &model->place[model->core[who].place];
    uint64_t head = place->head;
    uint64_t addr = place->addr;
    if (!get_head(f, flags, who, &head))
        return false;
    unsigned kind = cpt_kind_(head);
    uint64_t *next = cpt_next_(model, kind, head);
    if (!get_addr(f, flags, *next, &addr))
        return false;
    uint32_t *slot = cpt_slot_(model, kind, head, addr);
    uint32_t value = *slot;
    if (!(flags & CPT_SAME_VALUE) &&
        !(cpt_kind_(head) == CPS_EV_PKT ? get_header(f, &value)
                                        : cpt_get_small_(f, UINT32_MAX, &value)))
        return false;
    *ret = (struct cps_event){head, addr, value, 0};
    cpt_learn_(model, place, kind, ret, next, slot);
    return !(flags & CPT_REGISTERS) || begin_registers(f, head, value);
}

bool cpt_get_event_(struct cpt_frame *f, struct cps_event *ret)
{
    uint8_t flags = 0;
    if (f->version < 3)
        return cpt_get_old_event_(f, ret);
    if (f->registers.left) {
        *ret = next_register(f);
        return true;
    }
    uint32_t who = f->model.who;
    if (!cpt_get_byte_(f, &flags) || !flags_can_be(flags) ||
        (flags & CPT_NEW_WHO && !cpt_get_small_(f, UINT8_MAX, &who)))
        return false;
    return get_record(f, flags, who, ret);
}
