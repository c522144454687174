/* SPDX-License-Identifier: MIT
 * Which events can be. Readers refuse the rest, so that every form holds every event without loss:
 * what a kind's columns do not show is zero. */
#include <string.h>

#include "trace/form/forms.h"

/* The fields that the columns of a kind show. */
struct fields {
    bool value, addr, pc, offset, registers;
};

static struct fields fields_of(unsigned kind)
{
    struct fields f = {false, false, false, false, false};
    for (const char *column = cps_event_columns_(kind); *column; column++) {
        f.registers = f.registers || *column == 'r';
        f.offset = f.offset || *column == 'o';
        f.value = f.value || *column == 'n' || *column == 'v' || f.registers;
        f.addr = f.addr || *column == 'a' || *column == 'q' || f.offset || f.registers;
        f.pc = f.pc || *column == 'p' || *column == 'c';
    }
    return f;
}

/* At most two registers, and no value without one. */
static bool registers_fit(const struct cps_event *event)
{
    uint32_t rest = event->value & (event->value - 1); /* without the lowest */
    if (!event->value)
        return !event->addr;
    return rest ? !(rest & (rest - 1)) : !(event->addr >> 32);
}

static bool fields_fit(const struct cps_event *event, const struct fields *f, bool from_core)
{
    uint64_t most = !f->addr ? 0 : !f->offset ? UINT64_MAX : UINT32_MAX;
    if (f->offset && from_core)
        most |= UINT64_C(1) << 32 | UINT64_C(7) << CPS_PIPE_SHIFT_; /* bank and pipe */
    return !(event->addr & ~most) && (f->value || !event->value) &&
           (!f->registers || registers_fit(event));
}

const char *cps_event_check_(const struct cps_event *event, bool with_processor)
{
    unsigned kind = cps_event_kind(event);
    unsigned who = cps_event_who(event);
    bool from_core = who != CPS_CPU_NONE;
    if (kind >= CPS_EV_COUNT)
        return "an event of a known kind";
    struct fields f = fields_of(kind);
    if (*cps_event_sub_word(kind, cps_event_sub(event)) == '?')
        return "a word that this event can have";
    if (who >= CPS_CPU_COUNT || (f.registers && !from_core))
        return "the processor that the event is of";
    if (from_core && !with_processor && who != CPS_CPU_SQE)
        return "sqe, because the head names no processors";
    if (!from_core && !f.pc && cps_event_pc(event))
        return "a processor's name, because there is a program counter";
    return fields_fit(event, &f, from_core) ? NULL : "numbers that this event can have";
}

bool cps_event_has_bank_(unsigned kind)
{
    return strchr(cps_event_columns_(kind), 'o') != NULL;
}

uint64_t cps_event_place(const struct cps_event *event)
{
    return cps_event_has_bank_(cps_event_kind(event)) ? event->addr & UINT32_MAX : event->addr;
}
