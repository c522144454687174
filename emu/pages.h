/* SPDX-License-Identifier: MIT
 * A table from the numbers of pages to what is held of them. What it costs to forget, to copy and
 * to look at everything follows from what is held, not from what once was.
 *
 * It does not know what it holds, and owns none of it. Private to emu/. */
#ifndef CPS_PAGES_H
#define CPS_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct held;

struct pages_entry {
    uint64_t number; /**< iova / CPS_PAGE_BYTES */
    struct held *held;
    uint32_t slot; /**< where the index below has it */
};

struct pages {
    struct pages_entry *entry; /**< in no order; room for half as many as there are slots */
    uint32_t *slot;            /**< 1 + index of an entry, 0: free; open addressing */
    size_t used;
    unsigned bits; /**< 2^bits slots */
};

/** An empty table; false when out of memory. */
bool pages_init_(struct pages *pages);
void pages_deinit_(struct pages *pages);
/** Makes @p to, which is not initialised, hold the same; false when out of memory. */
bool pages_copy_(struct pages *to, const struct pages *from);
/** The same where @p to is a table already, whose contents go to @p drop; where it fails, @p to is
 * as before. */
bool pages_replace_(struct pages *to, const struct pages *from,
                    void (*drop)(void *context, struct held *held), void *context);

/** What is held of page @p number; NULL: nothing. */
struct held *pages_find_(const struct pages *pages, uint64_t number);
/** Makes room for one more page; false when out of memory. */
bool pages_room_(struct pages *pages);
/** Holds @p held of page @p number, in the place of what was; a new page needs room. */
void pages_put_(struct pages *pages, uint64_t number, struct held *held);
/** Keeps those that @p keep says yes to. A table much larger than what was in it becomes smaller.
 */
void pages_sift_(struct pages *pages, bool (*keep)(void *context, struct held *held),
                 void *context);

/** How many slots are looked at when every page is looked up once. */
uint64_t pages_probes_(const struct pages *pages);

#endif
