/* SPDX-License-Identifier: MIT
 * The words of events read back, and what their addresses count. Private to trace/. */
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

#endif
