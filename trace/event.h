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

#include "../isa/base/cleanup.h"

CPS_C_BEGIN

/** Kinds of events; event.def has one row each. */
enum cps_event_kind {
#define EVENT(id, ...) CPS_EV_##id,
#include "event.def"
    CPS_EV_COUNT,
};

/** Values of the `sub` field; which list applies depends on the kind (event.def). */
enum cps_event_sub {
#define SUB(list, id, text, number, doc) CPS_##list##_##id = number,
#include "event.def"
};

/** Sets of kinds and sets of subs are bits of a uint32_t, in memory only; the record and the forms
 * of traces hold more. text.c has a table that does not compile when a row goes beyond these. */
#define CPS_EVENT_KINDS 32u
#define CPS_EVENT_SUBS  32u

/** What no source says (event.def). */
enum cps_unknown {
#define UNKNOWN(id, ...) CPS_UNKNOWN_##id,
#include "event.def"
    CPS_UNKNOWN_COUNT,
};

/** Processors, the `who` field. */
enum cps_processor {
    CPS_CPU_PFP,
    CPS_CPU_ME,
    CPS_CPU_SQE, /**< also a7xx BR */
    CPS_CPU_BV,
    CPS_CPU_LPAC,
    CPS_CPU_NONE, /**< not from a core: submissions, the end */
    CPS_CPU_HOST, /**< what a run file says */
    CPS_CPU_HWSQ, /**< slot A, or the only one */
    CPS_CPU_HWSQ_B,
    CPS_CPU_SEQ,
    CPS_CPU_PFIFO,
    CPS_CPU_VP1,
    CPS_CPU_COUNT,
};

/** One thing that happened. What `addr` and `value` mean is the kind's row in event.def. Made by
 * cps_event_make(), so that equal events are equal bytes. */
struct cps_event {
    uint64_t head; /**< kind 7:0, sub 31:16, who 47:32, all other bits 0 */
    uint32_t pc;   /**< dword in the core's image */
    uint32_t value;
    uint64_t addr;
};

/** @param kind  at most 255
 * @param sub   at most 65,535
 * @param who   at most 65,535 */
static inline struct cps_event cps_event_make(unsigned kind, unsigned sub, unsigned who,
                                              uint32_t pc, uint64_t addr, uint32_t value)
{
    uint64_t head = (uint8_t)kind | (uint32_t)(uint16_t)sub << 16 | (uint64_t)(uint16_t)who << 32;
    struct cps_event event;
    event.head = head;
    event.pc = pc;
    event.value = value;
    event.addr = addr;
    return event;
}
static inline unsigned cps_event_kind(const struct cps_event *event)
{
    return (uint8_t)event->head;
}
static inline unsigned cps_event_sub(const struct cps_event *event)
{
    return (uint16_t)(event->head >> 16);
}
static inline unsigned cps_event_who(const struct cps_event *event)
{
    return (uint16_t)(event->head >> 32);
}
static inline uint32_t cps_event_pc(const struct cps_event *event)
{
    return event->pc;
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

CPS_C_END

#endif
