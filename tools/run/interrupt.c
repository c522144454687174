/* SPDX-License-Identifier: MIT
 * Signals that end a long command. */
#include "tools/run/interrupt.h"

#include <stddef.h>

#include "trace/out/outfile.h"

volatile int interrupted;

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { SIGNALS = sizeof(signals) / sizeof(signals[0]) };
_Static_assert(SIGNALS == sizeof(((struct interrupt *)0)->old) / sizeof(struct sigaction),
               "each signal has its old action");

static void on_interrupt(int number)
{
    if (interrupted) {
        cps_outfile_unlink_all();
        signal(number, SIG_DFL);
        raise(number);
    }
    interrupted = number;
}

void interrupt_take(struct interrupt *ret)
{
    const struct sigaction action = {.sa_handler = on_interrupt};
    interrupted = 0;
    for (unsigned i = 0; i < SIGNALS; i++) {
        if (!sigaction(signals[i], NULL, &ret->old[i]) && ret->old[i].sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    }
}

void interrupt_give_back(const struct interrupt *taken)
{
    for (unsigned i = 0; i < SIGNALS; i++)
        sigaction(signals[i], &taken->old[i], NULL);
}
