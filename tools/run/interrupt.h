/* SPDX-License-Identifier: MIT
 * Signals that end a long command: the first one lets it finish what it has, the next one ends the
 * process. */
#ifndef CPS_INTERRUPT_H
#define CPS_INTERRUPT_H

#include <signal.h>

/** The number of the signal that came, 0 while none has. */
extern volatile int interrupted;

/** What the signals did before. */
struct interrupt {
    struct sigaction old[3];
};

/** Takes SIGINT, SIGTERM and SIGHUP; one that the caller ignores stays so. */
void interrupt_take(struct interrupt *ret);
void interrupt_give_back(const struct interrupt *taken);

#endif
