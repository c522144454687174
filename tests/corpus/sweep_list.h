/* SPDX-License-Identifier: MIT
 * What differs after a switch, and the list of what may. */
#ifndef CPS_TESTS_SWEEP_LIST_H
#define CPS_TESTS_SWEEP_LIST_H

#include <stdbool.h>
#include <stdint.h>

/* What differs, a letter of sweep.tsv: the order of what a stream does (of the first one, its
 * address), the value of a register that it writes, a word of memory, a register at the end, the
 * same of a pipe's own; or nothing comes to its end. */
enum { IN_ORDER = 's', IN_VALUE = 'v', IN_MEMORY = 'm', AT_END = 'r', AT_PIPE = 'b', HANG = 'h' };

/** The number of the packet that the ring is left at. */
extern uint32_t sweep_position;
/** Notes a difference; the same one is counted. */
void sweep_differ(char what, uint32_t core, uint64_t number, uint64_t want, uint64_t got);
/** Reads sweep.tsv. False: it has no row. */
bool sweep_read_list(const char *path);
/** Prints differences and forgets them. @return how many no row of the list has */
unsigned sweep_tell_differences(const char *image);
void sweep_free_list(void);

#endif
