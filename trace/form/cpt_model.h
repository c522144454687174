/* SPDX-License-Identifier: MIT
 * What is expected of the next event of a `.cpt`: the same for who writes and who reads. Private to
 * trace/. */
#ifndef CPS_CPT_MODEL_H
#define CPS_CPT_MODEL_H

#include "isa/base/pm4.h"
#include "trace/form/cpt.h"

#define CPT_MIX UINT64_C(0x9e3779b97f4a7c15)

static inline unsigned cpt_kind_(uint64_t head)
{
    return (uint8_t)head;
}

static inline unsigned cpt_sub_(uint64_t head)
{
    return (uint8_t)(head >> 8);
}

static inline unsigned cpt_who_(uint64_t head)
{
    return (uint8_t)(head >> 16);
}

/** Most tags fit into a byte: kind 4:0, sub 7:5. */
static inline bool cpt_is_wide_(unsigned kind, unsigned sub)
{
    return kind > 31 || sub > 7;
}

/** The place behind an event: what runs next depends on where the firmware is, and behind a packet
 * on which one. */
static inline uint32_t cpt_place_behind_(unsigned kind, uint64_t head, uint32_t value)
{
    if (kind == CPS_EV_PKT && value >> 28 == 7)
        head |= (uint64_t)(0x80 | (value >> 16 & 0x7f)) << 24;
    return ((uint32_t)(head >> 32) + ((uint32_t)head * 0x9e3779b1u >> 22)) % CPT_PLACES;
}

/** Where the addr stands that an event of this head is expected to have. */
static inline uint64_t *cpt_next_(struct cpt_model *model, unsigned kind, uint64_t head)
{
    return &model->next[kind == CPS_EV_PKT ? CPT_KINDS + cpt_sub_(head) % CPT_LEVELS : kind];
}

/** How far the next address is usually behind this one: a register, a word of a packet, the dwords
 * of a packet, a dword in memory; what a STEP has there is no address. */
static inline uint64_t cpt_step_(unsigned kind, uint32_t value)
{
    const uint32_t of_one = 1u << CPS_EV_REG | 1u << CPS_EV_REGR | 1u << CPS_EV_CTRL |
                            1u << CPS_EV_PIPE | 1u << CPS_EV_WORD;
    const uint32_t of_none = 1u << CPS_EV_STEP | 1u << CPS_EV_STEPX;
    if (kind == CPS_EV_PKT)
        return 4 + 4 * (uint64_t)cps_pm4_decode_any(value).count;
    return kind < 32 && of_one >> kind & 1 ? 1 : kind < 32 && of_none >> kind & 1 ? 0 : 4;
}

/** The number of a register's value: neighbours are neighbours. */
static inline uint32_t cpt_register_slot_(uint64_t addr)
{
    return (uint32_t)(addr + (addr >> 32) * 0x9e37) % CPT_REGISTER_VALUES;
}

/** The value that was seen at an address the last time, or the header behind this one. */
static inline uint32_t *cpt_slot_(struct cpt_model *model, unsigned kind, uint64_t head,
                                  uint64_t addr)
{
    if (kind == CPS_EV_REG)
        return &model->value[cpt_register_slot_(addr)];
    if (kind == CPS_EV_PKT)
        addr = model->core[cpt_who_(head)].header;
    addr = (addr ^ (uint64_t)kind << 40) * CPT_MIX;
    return &model->value[CPT_REGISTER_VALUES + (addr >> 40) % CPT_VALUES];
}

/** The number of the registers that such a PKT has behind it. */
static inline uint32_t cpt_run_number_(uint64_t head)
{
    return (cpt_who_(head) * CPT_LEVELS + cpt_sub_(head) % CPT_LEVELS) % CPT_RUNS;
}

/** A packet with registers: how many; 0: it is none. */
static inline uint32_t cpt_registers_(unsigned kind, uint32_t header)
{
    return kind == CPS_EV_PKT && header >> 28 == 4 ? header & 0x7f : 0;
}

static inline uint64_t cpt_first_register_(uint32_t header)
{
    return header >> 8 & 0x3ffff;
}

/* What runs of registers look like is learnt where the first one stands alone. */
static inline void cpt_learn_run_(struct cpt_model *model, unsigned kind, uint64_t head,
                                  uint64_t addr)
{
    if (kind == CPS_EV_REG && cpt_who_(head) == model->who)
        model->run[model->opened - 1] = (struct cpt_run){head, addr - model->reg};
    model->opened = 0;
}

/* What is known of the stream behind a packet. */
static inline void cpt_learn_packet_(struct cpt_model *model, uint64_t head, uint32_t header)
{
    model->core[cpt_who_(head)].header = header;
    model->opened = cpt_registers_(CPS_EV_PKT, header) ? 1 + cpt_run_number_(head) : 0;
    model->reg = cpt_first_register_(header);
}

/** Notes an event, after it was written or read. @param kind  its own: a constant where that is
 * known */
static inline void cpt_learn_(struct cpt_model *model, struct cpt_place *place, unsigned kind,
                              const struct cps_event *event, uint64_t *next, uint32_t *slot)
{
    uint64_t head = event->head;
    unsigned who = cpt_who_(head);
    *place = (struct cpt_place){head, event->addr};
    *slot = event->value;
    *next = event->addr + cpt_step_(kind, event->value);
    if (kind == CPS_EV_PKT)
        cpt_learn_packet_(model, head, event->value);
    else if (model->opened)
        cpt_learn_run_(model, kind, head, event->addr);
    model->core[who].place = cpt_place_behind_(kind, head, event->value);
    model->core[who].pc = (uint32_t)(head >> 32);
    model->who = who;
}

/** Notes the registers of a packet. @param addr  of the last one */
static inline void cpt_learn_registers_(struct cpt_model *model, uint64_t head, uint64_t addr)
{
    model->who = cpt_who_(head);
    model->core[model->who].place = cpt_place_behind_(CPS_EV_REG, head, 0);
    model->core[model->who].pc = (uint32_t)(head >> 32);
    model->next[CPS_EV_REG] = addr + 1;
    model->opened = 0;
}

#endif
