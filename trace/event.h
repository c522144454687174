/* SPDX-License-Identifier: MIT
 * The event record and the sink: all of trace/ that an engine may include.
 *
 * An event is 24 plain bytes without padding. Engines make them, sinks take them in batches;
 * neither knows the other. Events carry numbers only: names are looked up by whoever prints. */
#ifndef CPS_EVENT_H
#define CPS_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "isa/base/cleanup.h"

/** Kinds of events; event.def has one row each. */
enum cps_event_kind {
#define EVENT(id, ...) CPS_EV_##id,
#include "trace/event.def"
    CPS_EV_COUNT,
};

/** Values of the `sub` field; which list applies depends on the kind (event.def). */
enum cps_event_sub {
#define SUB(list, id, text, number, doc) CPS_##list##_##id = number,
#include "trace/event.def"
};

/** Sets of kinds and sets of subs are bits of a uint32_t, in memory only; the record and the forms
 * of traces hold more. text.c has a table that does not compile when a row goes beyond these. */
#define CPS_EVENT_KINDS 32u
#define CPS_EVENT_SUBS  32u

/** What no source says (event.def). */
enum cps_unknown {
#define UNKNOWN(id, ...) CPS_UNKNOWN_##id,
#include "trace/event.def"
    CPS_UNKNOWN_COUNT,
};

/** Processors, the `who` field. */
enum cps_processor {
#define PROCESSOR(id, ...) CPS_CPU_##id,
#include "isa/target.def"
    CPS_CPU_COUNT,
};

/** One thing that happened. What `addr` and `value` mean is the kind's row in event.def. Made by
 * cps_event_make(), so that equal events are equal bytes. */
struct cps_event {
    uint64_t head; /**< kind 7:0, sub 15:8, who 23:16, pc 63:32 (dword in the core's image) */
    uint64_t addr;
    uint32_t value;
    uint32_t zero;
};

/** @param kind  at most 255, as are @p sub and @p who */
static inline struct cps_event cps_event_make(unsigned kind, unsigned sub, unsigned who,
                                              uint32_t pc, uint64_t addr, uint32_t value)
{
    uint32_t low = (uint8_t)kind | (uint32_t)(uint8_t)sub << 8 | (uint32_t)(uint8_t)who << 16;
    return (struct cps_event){low | (uint64_t)pc << 32, addr, value, 0};
}
static inline unsigned cps_event_kind(const struct cps_event *event)
{
    return (uint8_t)event->head;
}
static inline unsigned cps_event_sub(const struct cps_event *event)
{
    return (uint8_t)(event->head >> 8);
}
static inline unsigned cps_event_who(const struct cps_event *event)
{
    return (uint8_t)(event->head >> 16);
}
static inline uint32_t cps_event_pc(const struct cps_event *event)
{
    return (uint32_t)(event->head >> 32);
}

/** The first register from @p reg on that differs; @p count if none does. Most do not. */
static inline unsigned cps_event_change_(const uint32_t *before, const uint32_t *now,
                                         unsigned count, unsigned reg)
{
    while (reg + 4 <= count && !memcmp(now + reg, before + reg, 16))
        reg += 4;
    while (reg < count && now[reg] == before[reg])
        reg++;
    return reg;
}

/**
 * Takes the next registers that differ, at most two, as a STEP holds them: returns their bits, puts
 * the first one's new value into 31:0 of @p values and the second's into 63:32, and moves *reg
 * behind them.
 */
static inline uint32_t cps_event_changes(const uint32_t *before, const uint32_t *now,
                                         unsigned count, unsigned *reg, uint64_t *values)
{
    uint32_t mask = 0;
    *values = 0;
    for (unsigned found = 0; found < 2; found++) {
        *reg = cps_event_change_(before, now, count, *reg);
        if (*reg >= count)
            break;
        mask |= UINT32_C(1) << *reg;
        *values |= (uint64_t)now[(*reg)++] << 32 * found;
    }
    return mask;
}

/** Takes events in program order, in batches of any size. Sinks may chain. Errors are kept inside
 * and reported by the sink's own finish function: an engine never has to handle one. */
struct cps_sink {
    void (*put)(struct cps_sink *sink, const struct cps_event *events, size_t count);
};

/** The word of a sub value: "user"; "?" if there is none. */
CPS_PUBLIC const char *cps_event_sub_word(unsigned kind, unsigned sub);
/** The word of the UNKNOWN that an event is about, or NULL. */
CPS_PUBLIC const char *cps_event_unknown(const struct cps_event *event);
/** "sqe", "bv", ... */
CPS_PUBLIC const char *cps_processor_name(unsigned who);

/** Value of a sub word of a kind, or -1. */
int cps_event_sub_by_word_(unsigned kind, const char *word, size_t length);
/** enum cps_processor called so, or CPS_CPU_COUNT. */
unsigned cps_processor_by_name_(const char *word, size_t length);

#endif
