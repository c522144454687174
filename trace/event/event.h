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

#include "../../isa/base/cleanup.h"
#include "../../isa/target.h"

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

/** One thing that happened. What `addr` and `value` mean is the kind's row in event.def. Made by
 * cps_event_make(), so that equal events are equal bytes. */
struct cps_event {
    /** Kind 7:0, sub 15:8, who 23:16, pc 63:32; all other bits 0. Read by the functions below. */
    uint64_t head;
    /** Where: a register, a byte address, or whatever the kind's row says. */
    uint64_t addr;
    /** What was written or read, or whatever the kind's row says. */
    uint32_t value;
    /** Always 0. */
    uint32_t zero;
};

/**
 * Makes an event.
 * @param kind   enum cps_event_kind, at most 255
 * @param sub    enum cps_event_sub, at most 255
 * @param who    enum cps_processor, at most 255
 * @param pc     of the instruction that makes it: a dword in the core's image
 * @param addr   as the member
 * @param value  as the member
 */
static inline struct cps_event cps_event_make(unsigned kind, unsigned sub, unsigned who,
                                              uint32_t pc, uint64_t addr, uint32_t value)
{
    uint32_t low = (uint8_t)kind | (uint32_t)(uint8_t)sub << 8 | (uint32_t)(uint8_t)who << 16;
    struct cps_event event;
    event.head = low | (uint64_t)pc << 32;
    event.addr = addr;
    event.value = value;
    event.zero = 0;
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
    return (uint8_t)(event->head >> 8);
}
/** The processor that made an event: enum cps_processor. */
static inline unsigned cps_event_who(const struct cps_event *event)
{
    return (uint8_t)(event->head >> 16);
}
/** Where the instruction stands that made an event: a dword in the core's image. */
static inline uint32_t cps_event_pc(const struct cps_event *event)
{
    return (uint32_t)(event->head >> 32);
}

/** Takes events. A program puts this as the first member into a struct of its own, and casts back.
 * Sinks may chain. Errors are kept inside and reported by the sink's own finish function: an engine
 * never has to handle one. */
struct cps_sink {
    /** Gets @p count events in program order, in batches of any size; they are valid during the
     * call. It must not run, change or destroy the engine. */
    void (*put)(struct cps_sink *sink, const struct cps_event *events, size_t count);
};

/** Where an event was, whatever copy of it: the number of a register without the bank (a5xx) and
 * the pipe (a7xx on) that stand above it in `addr`; else `addr`. */
CPS_PUBLIC uint64_t cps_event_place(const struct cps_event *event);
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
/**
 * The kinds of events that a list of classes names.
 * @param list  with commas between: "reg,pipe,memw", "all", "default"
 * @param ret   gets a bit per enum cps_event_kind
 * @return false if a class is unknown
 */
CPS_PUBLIC bool cps_text_classes(const char *list, uint32_t *ret);
/**
 * The keyword of a kind: "REG".
 * @param kind  enum cps_event_kind
 * @return constant text
 */
CPS_PUBLIC const char *cps_event_keyword(unsigned kind);

CPS_C_END

#endif
