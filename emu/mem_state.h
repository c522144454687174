/* SPDX-License-Identifier: MIT
 * What memory is made of. Private to emu/ and its tests. */
#ifndef CPS_MEM_STATE_H
#define CPS_MEM_STATE_H

#include "emu/mem.h"

/* ---- bits of arrays of words ---- */

static inline bool test_bit(const uint32_t *mask, uint32_t index)
{
    return mask[index / 32] >> (index % 32) & 1;
}

static inline void set_bit(uint32_t *mask, uint32_t index)
{
    mask[index / 32] |= 1u << (index % 32);
}

static inline void set_bits(uint32_t *mask, uint32_t from, uint32_t count)
{
    for (uint32_t at = from, end = from + count; at < end;) {
        uint32_t first = at % 32;
        uint32_t some = 32 - first < end - at ? 32 - first : end - at;
        mask[at / 32] |= (some == 32 ? ~0u : (1u << some) - 1) << first;
        at += some;
    }
}

/* ---- pages.c: a table from the numbers of pages to what is held of them ----
 *
 * What it costs to forget, to copy and to look at everything follows from what is held, not from
 * what once was. It does not know what it holds, and owns none of it. */

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
bool pages_replace_(struct pages *to, const struct pages *from, void (*drop)(struct held *held));

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

/* ---- mem.c ---- */

#define MASK_WORDS (CPS_PAGE_WORDS / 32)

#define PIECE_WORDS 12u

/* What a table holds of a page's dwords: all of them, or a piece. */
struct held {
    uint32_t refs; /* tables that it is in; 2 for a copy of the host's, which is in one */
    bool keep;
    bool host;     /* a copy of the host's */
    bool is_piece; /* a struct piece, else a struct page */
};

/* A few dwords that were loaded and that nobody has looked at: a capture may have millions of small
 * buffers, of which its streams use some. Looking makes a page of it. */
struct piece {
    struct held held;
    uint16_t first, count;
    uint32_t word[PIECE_WORDS];
};

struct page {
    struct held held;
    uint64_t asked;                /* the round in which the host was asked for it last */
    uint32_t known[MASK_WORDS];    /* dwords that were stored */
    uint32_t reported[MASK_WORDS]; /* unknown dwords whose read was reported */
    uint32_t word[CPS_PAGE_WORDS]; /* anything where they are not known */
};

struct cps_mem {
    struct pages pages;
    uint64_t bytes; /* of pages and pieces, shared or not */
    uint64_t limit;
    uint64_t epoch;
    uint64_t changes;
    bool keep;
    bool failed;
    const struct cps_host *host; /* NULL: none */
    uint64_t round;              /* grows when the host changes its memory */
    uint64_t last_number;        /* the page found last: streams and copies stay on one */
    struct page *last_page;
};

#endif
