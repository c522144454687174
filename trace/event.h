/* SPDX-License-Identifier: MIT
 * The event record and the sink: all of trace/ that an engine may include.
 *
 * An event is 24 plain bytes without padding. Engines make them, sinks take them in batches;
 * neither knows the other. Events carry numbers only: names are looked up by whoever prints.
 *
 * Threads: events are plain values, and the words are constant: all functions may be called from
 * everywhere. An engine calls its sink in the thread that runs the engine. */
#ifndef CPS_EVENT_H
#define CPS_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../isa/base/cleanup.h"

CPS_C_BEGIN

/** Kinds of events: CPS_EV_REG and so on. event.def has one row each, which says what its members
 * mean. */
enum cps_event_kind {
#define EVENT(id, ...) CPS_EV_##id,
#include "event.def"
    /** How many there are. */
    CPS_EV_COUNT,
};

/** Values of the `sub` field: CPS_PATH_USER and so on. Which list applies depends on the kind
 * (event.def). */
enum cps_event_sub {
#define SUB(list, id, text, number, doc) CPS_##list##_##id = number,
#include "event.def"
};

/** Sets of kinds and sets of subs are bits of a uint32_t, in memory only; the record and the forms
 * of traces hold more. text.c has a table that does not compile when a row goes beyond these. */
#define CPS_EVENT_KINDS 32u
#define CPS_EVENT_SUBS  32u

/** What no source says: CPS_UNKNOWN_TIMER and so on (event.def). */
enum cps_unknown {
#define UNKNOWN(id, ...) CPS_UNKNOWN_##id,
#include "event.def"
    /** How many there are. */
    CPS_UNKNOWN_COUNT,
};

/** Processors, the `who` field. */
enum cps_processor {
    /** The prefetch parser of a5xx. */
    CPS_CPU_PFP,
    /** The micro engine of a5xx. */
    CPS_CPU_ME,
    /** The one of a6xx; of a7xx BR. */
    CPS_CPU_SQE,
    /** The one of a7xx that sorts. */
    CPS_CPU_BV,
    /** The one for compute of a660 and later. */
    CPS_CPU_LPAC,
    /** Not from a core: submissions, the end. */
    CPS_CPU_NONE,
    /** What the driver does, or a run file says. */
    CPS_CPU_HOST,
    /** HWSQ: slot A, or the only one. */
    CPS_CPU_HWSQ,
    /** HWSQ: slot B. */
    CPS_CPU_HWSQ_B,
    /** SEQ. */
    CPS_CPU_SEQ,
    /** PFIFO. */
    CPS_CPU_PFIFO,
    /** VP1. */
    CPS_CPU_VP1,
    /** How many there are. */
    CPS_CPU_COUNT,
};

/** One thing that happened. What `addr` and `value` mean is the kind's row in event.def. Made by
 * cps_event_make(), so that equal events are equal bytes. */
struct cps_event {
    /** Kind 7:0, sub 31:16, who 47:32, all other bits 0. */
    uint64_t head;
    /** The instruction that made it: a dword in the core's image. */
    uint32_t pc;
    /** What was written or read, or whatever the kind's row says. */
    uint32_t value;
    /** Where: a register, a byte address, or whatever the kind's row says. */
    uint64_t addr;
};

/**
 * Makes an event.
 * @param kind   enum cps_event_kind, at most 255
 * @param sub    enum cps_event_sub, at most 65,535
 * @param who    enum cps_processor, at most 65,535
 * @param pc     as the member
 * @param addr   as the member
 * @param value  as the member
 */
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
/** The kind of an event: enum cps_event_kind, or a larger number that a newer writer made. */
static inline unsigned cps_event_kind(const struct cps_event *event)
{
    return (uint8_t)event->head;
}
/** The sub of an event: enum cps_event_sub, of the list that its kind names. */
static inline unsigned cps_event_sub(const struct cps_event *event)
{
    return (uint16_t)(event->head >> 16);
}
/** The processor that made an event: enum cps_processor. */
static inline unsigned cps_event_who(const struct cps_event *event)
{
    return (uint16_t)(event->head >> 32);
}
/** Where the instruction stands that made an event. */
static inline uint32_t cps_event_pc(const struct cps_event *event)
{
    return event->pc;
}

/** Takes events. A program puts this as the first member into a struct of its own, and casts back.
 * Sinks may chain. Errors are kept inside and reported by the sink's own finish function: an engine
 * never has to handle one. */
struct cps_sink {
    /** Gets @p count events in program order, in batches of any size; they are valid during the
     * call. It must not run, change or destroy the engine. */
    void (*put)(struct cps_sink *sink, const struct cps_event *events, size_t count);
};

/**
 * The word of a sub value: "user".
 * @param kind  whose list counts
 * @param sub   the value
 * @return constant text; "?" if there is none
 */
CPS_PUBLIC const char *cps_event_sub_word(unsigned kind, unsigned sub);
/**
 * The word of the UNKNOWN that an event is about: "unaligned".
 * @param event  any
 * @return constant text; NULL if it is about none
 */
CPS_PUBLIC const char *cps_event_unknown(const struct cps_event *event);
/**
 * The name of a processor: "sqe", "bv".
 * @param who  enum cps_processor
 * @return constant text
 */
CPS_PUBLIC const char *cps_processor_name(unsigned who);

CPS_C_END

#endif
