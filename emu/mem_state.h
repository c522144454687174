/* SPDX-License-Identifier: MIT
 * What memory is made of. Private to emu/mem*.c. */
#ifndef CPS_MEM_STATE_H
#define CPS_MEM_STATE_H

#include "emu/mem.h"
#include "emu/pages.h"

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
    union {
        uint64_t asked;    /* the round in which the host was asked for it last */
        struct page *next; /* of a spare one */
    };
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
    struct page *spare; /* released pages, by their `next` */
    unsigned spares;
    uint8_t *seen; /* by dword from `first_seen`: somebody looked at it */
    uint64_t first_seen, seen_bytes;
};

/** What a table has of page @p number, as a page; NULL if nothing, or at the limit. */
struct page *mem_page_(struct cps_mem *mem, uint64_t number);

#endif
