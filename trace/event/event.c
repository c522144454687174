/* SPDX-License-Identifier: MIT
 * The words of events, from event.def. */
#include "trace/event/event_words.h"

#include "isa/base/lex.h"

enum list {
    LIST_NONE,
    LIST_LEVEL,
    LIST_PATH,
    LIST_VIA,
    LIST_WHAT,
    LIST_PLACE,
    LIST_REASON,
    LIST_EXIT,
    LIST_WAIT,
    LIST_WORK,
    LIST_COUNT,
};

static const char *const sub_words[LIST_COUNT][CPS_EVENT_SUBS] = {
#define SUB(list, id, text, number, doc) [LIST_##list][number] = text,
#include "trace/event/event.def"
};

_Static_assert(CPS_EV_COUNT <= CPS_EVENT_KINDS, "kinds of event.def");

/* Which list the sub of a kind speaks. */
static const uint8_t list_of[CPS_EV_COUNT] = {
#define EVENT(id, keyword, class, dflt, columns, list, doc) [CPS_EV_##id] = LIST_##list,
#include "trace/event/event.def"
};

static const char *const processor_names[CPS_CPU_COUNT] = {
#define PROCESSOR(id, name, pipe, meaning) name,
#include "isa/target.def"
};

static const char *const unknown_words[CPS_UNKNOWN_COUNT] = {
#define UNKNOWN(id, word, meaning) word,
#include "trace/event/event.def"
};

const char *cps_event_sub_word(unsigned kind, unsigned sub)
{
    const char *word =
        kind < CPS_EV_COUNT && sub < CPS_EVENT_SUBS ? sub_words[list_of[kind]][sub] : NULL;
    return word ? word : "?";
}

const char *cps_event_unknown(const struct cps_event *event)
{
    unsigned kind = cps_event_kind(event);
    unsigned sub = cps_event_sub(event);
    bool is_one = (kind == CPS_EV_ASSUME && sub == CPS_WHAT_UNKNOWN) ||
                  (kind == CPS_EV_UNMODELLED && sub == CPS_PLACE_UNKNOWN);
    return is_one && event->addr < CPS_UNKNOWN_COUNT ? unknown_words[event->addr] : NULL;
}

const char *cps_processor_name(unsigned who)
{
    return who < CPS_CPU_COUNT ? processor_names[who] : "?";
}

int cps_event_sub_by_word_(unsigned kind, const char *word, size_t length)
{
    for (int i = 0; i < (int)CPS_EVENT_SUBS; i++) {
        const char *text = sub_words[list_of[kind]][i];
        if (text && cps_lex_is(word, length, text))
            return i;
    }
    return -1;
}

unsigned cps_processor_by_name_(const char *word, size_t length)
{
    for (unsigned i = 0; i < CPS_CPU_COUNT; i++) {
        if (i != CPS_CPU_NONE && cps_lex_is(word, length, processor_names[i]))
            return i;
    }
    return CPS_CPU_COUNT;
}

enum cps_space cps_event_space_(unsigned kind)
{
    switch (kind) {
    case CPS_EV_REG:
    case CPS_EV_REGR:
    case CPS_EV_PROT:
        return CPS_SPACE_GPU;
    case CPS_EV_CTRL:
        return CPS_SPACE_CONTROL;
    case CPS_EV_PIPE:
        return CPS_SPACE_PIPE;
    case CPS_EV_SQE:
        return CPS_SPACE_SQE;
    default:
        return CPS_SPACE_COUNT;
    }
}
