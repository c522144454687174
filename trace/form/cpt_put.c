/* SPDX-License-Identifier: MIT
 * Events to the bytes of a `.cpt`. Files and compression are cpt_write.c. */
#include <string.h>

#include "isa/base/le.h"
#include "trace/form/cpt_bytes.h"
#include "trace/form/cpt_model.h"

void cpt_frame_begin_(struct cpt_frame *frame, unsigned version, uint8_t *raw, size_t size)
{
    memset(frame, 0, sizeof(*frame));
    frame->version = version;
    frame->raw = raw;
    frame->size = size;
}

/* ---- one event ---- */

/* Headers that are as they should be are said by what they mean, in a byte and a number; others,
 * and the one with most registers, as they are. */
static uint8_t *put_header(uint8_t *to, const struct cpt_model *model, uint32_t header)
{
    struct cps_pm4 packet = cps_pm4_decode(header);
    if (packet.kind == CPS_PM4_TYPE7) {
        *to++ = (uint8_t)(CPT_HEADER_TYPE7 | packet.opcode);
        return cpt_put_number_(to, packet.count);
    }
    if (packet.kind == CPS_PM4_TYPE4 && packet.count < CPT_HEADER_PLAIN) {
        *to++ = (uint8_t)packet.count;
        return cpt_put_distance_(to, packet.reg - model->next[CPS_EV_REG]);
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

/* An event that is not as expected. @param flags  what is known of them: all but tag, pc and
 * processor @param next  the addr that was expected last */
__attribute__((noinline)) static uint8_t *put_rest(uint8_t *to, const struct cpt_model *model,
                                                   const struct cps_event *event, uint64_t differs,
                                                   unsigned flags, uint64_t next)
{
    unsigned who = cps_event_who(event);
    if (!(uint16_t)differs)
        flags |= CPT_SAME_TAG;
    else if (cpt_is_wide_(cps_event_kind(event), cps_event_sub(event)))
        flags |= CPT_WIDE_TAG;
    flags |= (differs >> 32 ? 0u : CPT_SAME_PC) | (who == model->who ? 0u : CPT_NEW_WHO);
    *to++ = (uint8_t)flags;
    if (flags & CPT_NEW_WHO)
        to = cpt_put_number_(to, who);
    if (!(flags & CPT_SAME_TAG))
        to = put_tag(to, flags, event->head);
    if (!(flags & CPT_SAME_PC))
        to = cpt_put_distance_(to, (uint64_t)cps_event_pc(event) - model->core[who].pc);
    if (!(flags & (CPT_SAME_ADDR | CPT_NEXT_ADDR)))
        to = cpt_put_distance_(to, event->addr - next);
    if (flags & CPT_SAME_VALUE)
        return to;
    return cps_event_kind(event) == CPS_EV_PKT ? put_header(to, model, event->value)
                                               : cpt_put_number_(to, event->value);
}

/* @param flags  of a packet whose registers follow, or 0 */
__attribute__((always_inline)) static inline uint8_t *put_kind(uint8_t *to, struct cpt_model *model,
                                                               unsigned kind,
                                                               const struct cps_event *event,
                                                               unsigned flags)
{
    unsigned who = cps_event_who(event);
    struct cpt_place *place = &model->place[model->core[who].place];
    uint64_t *next = cpt_next_(model, kind, event->head);
    uint32_t *slot = cpt_slot_(model, kind, event->head, event->addr);
    uint64_t differs = place->head ^ event->head;
    unsigned where = place->addr == event->addr ? CPT_SAME_ADDR : 0u;
    where = *next == event->addr ? CPT_NEXT_ADDR : where;
    flags |= where | (*slot == event->value ? CPT_SAME_VALUE : 0u);
    if (!differs && where && flags & CPT_SAME_VALUE && who == model->who)
        *to++ = (uint8_t)(flags | CPT_SAME_TAG | CPT_SAME_PC);
    else
        to = put_rest(to, model, event, differs, flags, *next);
    cpt_learn_(model, place, kind, event, next, slot);
    return to;
}

/* ---- a packet with its registers ---- */

/* How many events, at most `count`, are what the run says. */
static inline uint32_t run_of(const struct cps_event *events, uint32_t count, struct cpt_run run)
{
    uint32_t i = 0;
    while (i < count && events[i].head == run.head && events[i].addr == run.base + i)
        i++;
    return i;
}

/* Values in one piece: two bits for each, four to a byte, which say how many bytes it has: none if
 * it is the last of its register, 1, 2 or 4; then those. */
static inline uint8_t *put_registers(uint8_t *to, struct cpt_model *model,
                                     const struct cps_event *events, uint32_t count)
{
    uint8_t *codes = to;
    unsigned four = 0;
    uint32_t slot = cpt_register_slot_(events[0].addr);
    to += (count + 3) / 4;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t value = events[i].value;
        uint32_t *last = &model->value[(slot + i) % CPT_REGISTER_VALUES];
        unsigned code = *last == value ? 0u : 1u + (value > 0xff) + (value > 0xffff);
        *last = value;
        cps_put_le32(to, value);
        to += code + (code == 3);
        four = four >> 2 | code << 6;
        if (i % 4 == 3)
            *codes++ = (uint8_t)four;
    }
    if (count % 4)
        *codes = (uint8_t)(four >> 2 * (4 - count % 4));
    cpt_learn_registers_(model, events[0].head, events[count - 1].addr);
    return to;
}

/* How many registers go into the record of a type-4 packet: all, if they are as they were the last
 * time, or none; -1: they have not all come. */
static inline int registers_behind(const struct cpt_model *model, const struct cps_event *packet,
                                   size_t behind, uint32_t room, bool last)
{
    uint32_t count = packet->value & 0x7f;
    uint32_t known = behind < count ? (uint32_t)behind : count;
    struct cpt_run run = model->run[cpt_run_number_(packet->head)];
    run.base += cpt_first_register_(packet->value);
    if (count >= room || cpt_kind_(run.head) != CPS_EV_REG ||
        run_of(packet + 1, known, run) < known)
        return 0;
    if (known == count)
        return (int)count;
    return last ? 0 : -1;
}

static inline uint8_t *put_packet(uint8_t *to, struct cpt_model *model,
                                  const struct cps_event *packet, int behind)
{
    to = put_kind(to, model, CPS_EV_PKT, packet, behind ? CPT_REGISTERS : 0);
    return behind ? put_registers(to, model, packet + 1, (uint32_t)behind) : to;
}

size_t cpt_put_events_(struct cpt_frame *f, const struct cps_event *events, size_t count, bool last)
{
    struct cpt_model *model = &f->model;
    uint8_t *to = f->raw + f->size;
    uint32_t room = CPT_FRAME_EVENTS - f->events;
    int behind = 0;
    size_t at = 0;
    for (; at < count && room; at += 1 + (size_t)behind, room -= 1 + (uint32_t)behind) {
        const struct cps_event *event = &events[at];
        unsigned kind = cps_event_kind(event);
        behind = cpt_registers_(kind, event->value)
                     ? registers_behind(model, event, count - at - 1, room, last)
                     : 0;
        if (behind < 0)
            break;
        if (kind == CPS_EV_PKT) /* of the kinds that there are most of, code of their own */
            to = put_packet(to, model, event, behind);
        else if (kind == CPS_EV_REG)
            to = put_kind(to, model, CPS_EV_REG, event, 0);
        else
            to = put_kind(to, model, kind, event, 0);
    }
    f->size = (size_t)(to - f->raw);
    f->events = CPT_FRAME_EVENTS - room;
    return at;
}
