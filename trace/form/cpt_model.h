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

/** What usually follows depends on where the firmware is, and behind a packet on which one. */
static inline uint32_t *cpt_behind_(struct cpt_model *model, const struct cps_event *event)
{
    uint64_t head = event->head;
    if (cpt_kind_(head) == CPS_EV_PKT && event->value >> 28 == 7)
        head |= (uint64_t)(0x80 | (event->value >> 16 & 0x7f)) << 24;
    uint32_t place = (uint32_t)(head >> 32) + ((uint32_t)head * 0x9e3779b1u >> 22);
    return &model->behind[place % CPT_PLACES];
}

/** What an event is about: a packet's header, else an addr. */
static inline uint64_t cpt_about_(const struct cps_event *event)
{
    return cpt_kind_(event->head) == CPS_EV_PKT ? event->value : event->addr;
}

static inline uint32_t cpt_seen_number_(const struct cps_event *event)
{
    uint64_t mix = (cpt_about_(event) ^ event->head * CPT_MIX) * CPT_MIX;
    return (uint32_t)(mix >> 40) % CPT_SEEN;
}

/** The stream that a PKT is in: its processor and level. */
static inline uint32_t cpt_stream_(uint64_t head)
{
    return (head >> 13 & (CPT_STREAMS - CPT_LEVELS)) | (head >> 8 & (CPT_LEVELS - 1));
}

static inline uint64_t cpt_first_register_(uint32_t header)
{
    return header >> 8 & 0x3ffff;
}

/** The register behind those of the last packet of a stream. */
static inline uint64_t cpt_next_register_(const struct cpt_model *model, uint64_t head)
{
    uint32_t header = model->event[model->last[cpt_stream_(head)]].value;
    return cpt_first_register_(header) + (header & 0x7f);
}

/** How far the next address is usually behind this one: a register, a word of a packet, a dword in
 * memory; what a STEP has there is no address. */
static inline uint64_t cpt_step_(unsigned kind)
{
    const uint32_t of_one = 1u << CPS_EV_REG | 1u << CPS_EV_REGR | 1u << CPS_EV_CTRL |
                            1u << CPS_EV_PIPE | 1u << CPS_EV_WORD;
    const uint32_t of_none = 1u << CPS_EV_STEP | 1u << CPS_EV_STEPX;
    return kind < 32 && of_one >> kind & 1 ? 1 : kind < 32 && of_none >> kind & 1 ? 0 : 4;
}

/** The addr behind the last event of this kind; of packets, in this stream. */
static inline uint64_t cpt_next_(const struct cpt_model *model, uint64_t head)
{
    if (cpt_kind_(head) != CPS_EV_PKT)
        return model->next[cpt_kind_(head)];
    const struct cps_event *last = &model->event[model->last[cpt_stream_(head)]];
    return last->addr + 4 + 4 * (uint64_t)cps_pm4_decode_any(last->value).count;
}

/** The addr that an event has if it is like another one. */
static inline uint64_t cpt_like_(const struct cpt_model *model, const struct cps_event *other)
{
    uint64_t shift =
        cpt_kind_(other->head) == CPS_EV_PKT ? model->shift[cpt_stream_(other->head)] : 0;
    return other->addr + shift;
}

static inline bool cpt_is_alike_(const struct cps_event *event, const struct cps_event *other)
{
    return other->head == event->head && cpt_about_(other) == cpt_about_(event);
}

/** The event of the same head that is about the same: the expected one, else the last one that was
 * not expected. @return its number, or 0 */
static inline uint32_t cpt_alike_(const struct cpt_model *model, const struct cps_event *event)
{
    uint32_t seen = model->seen[cpt_seen_number_(event)];
    if (cpt_is_alike_(event, &model->event[model->expected]))
        return model->expected;
    return cpt_is_alike_(event, &model->event[seen]) ? seen : 0;
}

/** The value that an event is expected to have, whose head and addr are known. */
static inline uint32_t cpt_value_(const struct cpt_model *model, const struct cps_event *event)
{
    const struct cps_event *expected = &model->event[model->expected];
    if (cpt_kind_(event->head) == CPS_EV_PKT)
        return cpt_kind_(expected->head) == CPS_EV_PKT ? expected->value : 0;
    return model->event[cpt_alike_(model, event)].value;
}

/* What is known of the stream behind a packet. @param like  number of the event it is like, or 0 */
static inline void cpt_learn_packet_(struct cpt_model *model, const struct cps_event *event,
                                     uint32_t like)
{
    uint32_t stream = cpt_stream_(event->head);
    model->last[stream] = model->at;
    if (like)
        model->shift[stream] = event->addr - model->event[like].addr;
    if (event->value >> 28 == 4)
        model->next[CPS_EV_REG] =
            (model->next[CPS_EV_REG] & ~UINT64_C(0x3ffff)) | cpt_first_register_(event->value);
}

/** Whether the event to come, of which the value may be missing, is like the expected one but for
 * that. */
static inline bool cpt_lacks_value_(const struct cpt_model *model)
{
    const struct cps_event *event = &model->event[model->at];
    const struct cps_event *expected = &model->event[model->expected];
    return event->head == expected->head && event->addr == expected->addr &&
           cpt_kind_(event->head) != CPS_EV_PKT;
}

/** Passes an event that is as expected, perhaps but for its value. */
static inline void cpt_pass_(struct cpt_model *model)
{
    model->at++;
    model->expected++;
}

/** Notes the event to come, which is another one than was expected. */
static inline void cpt_learn_(struct cpt_model *model)
{
    const struct cps_event *event = &model->event[model->at];
    unsigned kind = cpt_kind_(event->head);
    uint32_t *behind = cpt_behind_(model, event);
    uint32_t like = cpt_alike_(model, event);
    if (kind == CPS_EV_PKT)
        cpt_learn_packet_(model, event, like);
    else
        model->next[kind] = event->addr + cpt_step_(kind);
    like = like ? like : *behind;
    model->expected = like ? like + 1 : model->at;
    model->seen[cpt_seen_number_(event)] = model->at;
    *behind = model->at++;
}

#endif
