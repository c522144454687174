/* SPDX-License-Identifier: MIT
 * The words and columns of events, and what their addresses count. Private to trace/. */
#ifndef CPS_EVENT_WORDS_H
#define CPS_EVENT_WORDS_H

#include "isa/isa.h"
#include "trace/event/event.h"

/** Value of a sub word of a kind, or -1. */
int cps_event_sub_by_word_(unsigned kind, const char *word, size_t length);
/** enum cps_processor called so, or CPS_CPU_COUNT. */
unsigned cps_processor_by_name_(const char *word, size_t length);
/** Which numbers the address of an event of a kind is one of; CPS_SPACE_COUNT: it is another one.
 */
enum cps_space cps_event_space_(unsigned kind);

/** Row of event.def by keyword: kind, or CPS_EV_COUNT. */
unsigned cps_event_by_keyword_(const char *word, size_t length);
/** The class of a kind, as --events takes it: "reg". */
const char *cps_event_class_(unsigned kind);
/** Columns of a kind's text form. */
const char *cps_event_columns_(unsigned kind);
/** Whether an event can be, in a trace whose head names processors or does not: what was expected,
 * or NULL. */
const char *cps_event_check_(const struct cps_event *event, bool with_processor);
/** Where the address of a register has the pipe whose register it is, if that is not the one that
 * the processor feeds (a7xx on). */
#define CPS_PIPE_SHIFT_ 36
/** Whether bit 32 of an event's address is the context bank (a5xx) and no part of the place. */
bool cps_event_has_bank_(unsigned kind);

#endif
