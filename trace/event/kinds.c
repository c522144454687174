/* SPDX-License-Identifier: MIT
 * The kinds of events, from event.def, and which events can be. Readers refuse the rest, so that
 * every format holds every event without loss: what a kind's columns do not show is zero. */
#include <string.h>

#include "isa/base/lex.h"
#include "trace/event/event_words.h"

static const struct kind {
    const char *keyword;
    const char *class;
    const char *columns;
    bool by_default;
} kinds[CPS_EV_COUNT] = {
#define EVENT(id, keyword, class, dflt, columns, list, doc) \
    [CPS_EV_##id] = {keyword, class, columns, dflt},
#include "trace/event/event.def"
};

const char *cps_event_keyword(unsigned kind)
{
    return kind < CPS_EV_COUNT ? kinds[kind].keyword : "?";
}

/* Adds the kinds of one class; false if none has it. */
static bool add_class(const char *name, size_t length, uint32_t *mask)
{
    bool found = false;
    for (unsigned i = 0; i < CPS_EV_COUNT; i++) {
        bool by_default = cps_lex_is(name, length, "default") && kinds[i].by_default;
        if (!by_default && !cps_lex_is(name, length, kinds[i].class) &&
            !cps_lex_is(name, length, "all"))
            continue;
        *mask |= 1u << i;
        found = true;
    }
    return found;
}

bool cps_text_classes(const char *list, uint32_t *ret)
{
    uint32_t mask = 0;
    for (;;) {
        size_t length = strcspn(list, ",");
        if (!add_class(list, length, &mask))
            return false;
        if (!list[length])
            break;
        list += length + 1;
    }
    *ret = mask;
    return true;
}

unsigned cps_event_by_keyword_(const char *word, size_t length)
{
    for (unsigned i = 0; i < CPS_EV_COUNT; i++) {
        if (cps_lex_is(word, length, kinds[i].keyword))
            return i;
    }
    return CPS_EV_COUNT;
}

const char *cps_event_class_(unsigned kind)
{
    return kinds[kind].class;
}

const char *cps_event_columns_(unsigned kind)
{
    return kinds[kind].columns;
}

/* At most two registers, and no value without one. */
static bool registers_fit(const struct cps_event *event)
{
    uint32_t rest = event->value & (event->value - 1); /* without the lowest */
    if (!event->value)
        return !event->addr;
    return rest ? !(rest & (rest - 1)) : !(event->addr >> 32);
}

const char *cps_event_check_(const struct cps_event *event, bool with_processor)
{
    unsigned kind = cps_event_kind(event);
    unsigned who = cps_event_who(event);
    bool from_core = who != CPS_CPU_NONE;
    if (kind >= CPS_EV_COUNT)
        return "an event of a known kind";
    const char *columns = cps_event_columns_(kind);
    bool registers = strchr(columns, 'r');
    bool has_bank = strchr(columns, 'o');
    uint64_t most = has_bank ? UINT32_MAX : strpbrk(columns, "aqr") ? UINT64_MAX : 0;
    if (has_bank && from_core)
        most |= UINT64_C(1) << 32 | UINT64_C(7) << CPS_PIPE_SHIFT_; /* bank and pipe */
    if (*cps_event_sub_word(kind, cps_event_sub(event)) == '?')
        return "a word that this event can have";
    if (who >= CPS_CPU_COUNT || (registers && !from_core))
        return "the processor that the event is of";
    if (from_core && !with_processor && who != CPS_CPU_SQE)
        return "sqe, because the head names no processors";
    if (!from_core && !strpbrk(columns, "pc") && cps_event_pc(event))
        return "a processor's name, because there is a program counter";
    bool fits = !(event->addr & ~most) && (strpbrk(columns, "nvr") || !event->value) &&
                (!registers || registers_fit(event));
    return fits ? NULL : "numbers that this event can have";
}

bool cps_event_has_bank_(unsigned kind)
{
    return strchr(cps_event_columns_(kind), 'o') != NULL;
}

uint64_t cps_event_place(const struct cps_event *event)
{
    return cps_event_has_bank_(cps_event_kind(event)) ? event->addr & UINT32_MAX : event->addr;
}
