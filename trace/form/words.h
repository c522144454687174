/* SPDX-License-Identifier: MIT
 * The words of a packet on their way into a form: what one means may depend on those behind it, so
 * they wait until the packet has no more. Private to trace/. */
#ifndef CPS_WORDS_H
#define CPS_WORDS_H

#include "isa/base/pm4.h"
#include "isa/isa.h"
#include "trace/event/event.h"

/** Events of the last packet. Zero-initialised is none. */
struct cps_words {
    struct cps_event packet; /**< the PKT */
    struct cps_event *event; /**< its WORDs that wait; owned */
    uint32_t *value;         /**< of each; owned */
    size_t count;
    size_t event_room, value_room;
};

/**
 * Takes a PKT or a WORD of the packet before.
 * @return true if the event waits; false if it is no such WORD, or memory ran out: the caller shows
 *         it alone
 */
bool cps_words_take_(struct cps_words *words, const struct cps_event *event);
/** Of cps_words_lines_(): a line begins, says a value, ends. */
struct cps_words_form {
    void (*begin)(void *context, const struct cps_event *word);
    cps_value_fn *value;
    void (*end)(void *context, const struct cps_event *word);
    void *context;
};

/** Gives each word that waits a line, with the values that begin in it, and forgets them.
 * @param names  NULL: no values */
void cps_words_lines_(struct cps_words *words, const struct cps_names *names,
                      const struct cps_words_form *form);
/** What the header of a PKT says. What one processor of firmware hands to another (level INT) has
 * no parity bits that anybody looks at. */
struct cps_pm4 cps_packet_header_(const struct cps_event *packet);
/** Releases what @p words holds. */
void cps_words_free_(struct cps_words *words);

#endif
