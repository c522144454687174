/* SPDX-License-Identifier: MIT
 * Words that expressions know: what stands at hand. They win over places of the same name. */
#ifndef CPS_EXPR_WORD_H
#define CPS_EXPR_WORD_H

#include "isa/base/pm4.h"
#include "tools/face/debugger/session.h"

/** Where an expression is computed. */
struct expr_at {
    const struct session *session;
    unsigned core;
    const struct cps_event *event; /**< NULL: at none */
};

/** The value of a word; false if it is none, or there is nothing here that it could be about. */
bool expr_word(const struct expr_at *at, const char *word, size_t length, uint64_t *ret);
/** The packet that a core of afuc is at. */
struct cps_pm4 expr_packet(const struct session *session, unsigned core);

#endif
