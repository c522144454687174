/* SPDX-License-Identifier: MIT
 * A table of pages: entries without holes, and an index into them by hash. */
#include "emu/mem_state.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_BITS 6u

static size_t slots(unsigned bits)
{
    return (size_t)1 << bits;
}

static size_t room(unsigned bits)
{
    return slots(bits) / 2;
}

/* Drivers place buffers at multiples of powers of two, so that most bits of a number are the same
 * for all, and one product by the golden ratio brings whole stretches of them side by side
 * (tests/unit/test_pages.c): two products, each after a fold (the constants are those of
 * splitmix64, by Sebastiano Vigna, public domain). */
static size_t home(const struct pages *pages, uint64_t number)
{
    number = (number ^ number >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    number = (number ^ number >> 27) * UINT64_C(0x94d049bb133111eb);
    return (size_t)(number >> (64 - pages->bits));
}

/* Where page @p number is, or would go. */
static size_t slot_of(const struct pages *pages, uint64_t number)
{
    size_t at = home(pages, number);
    while (pages->slot[at] && pages->entry[pages->slot[at] - 1].number != number)
        at = (at + 1) & (slots(pages->bits) - 1);
    return at;
}

static void index_entry(struct pages *pages, size_t i)
{
    size_t at = slot_of(pages, pages->entry[i].number);
    pages->slot[at] = (uint32_t)i + 1;
    pages->entry[i].slot = (uint32_t)at;
}

/* Arrays for 2^bits slots, with nothing in them. */
static bool allocate(struct pages *pages, unsigned bits)
{
    *pages = (struct pages){.bits = bits};
    pages->slot = calloc(slots(bits), sizeof(*pages->slot));
    pages->entry = malloc(room(bits) * sizeof(*pages->entry));
    if (pages->slot && pages->entry)
        return true;
    pages_deinit_(pages);
    return false;
}

bool pages_init_(struct pages *pages)
{
    return allocate(pages, FIRST_BITS);
}

void pages_deinit_(struct pages *pages)
{
    free(pages->entry);
    free(pages->slot);
    pages->entry = NULL;
    pages->slot = NULL;
}

static void copy_arrays(struct pages *to, const struct pages *from)
{
    to->used = from->used;
    memcpy(to->entry, from->entry, from->used * sizeof(*from->entry));
    memcpy(to->slot, from->slot, slots(from->bits) * sizeof(*from->slot));
}

bool pages_copy_(struct pages *to, const struct pages *from)
{
    if (!allocate(to, from->bits))
        return false;
    copy_arrays(to, from);
    return true;
}

bool pages_replace_(struct pages *to, const struct pages *from, void (*drop)(struct held *held))
{
    struct pages fresh = *to;
    if (to->bits != from->bits && !allocate(&fresh, from->bits))
        return false;
    for (size_t i = 0; i < to->used; i++)
        drop(to->entry[i].held);
    if (to->bits != from->bits)
        pages_deinit_(to);
    *to = fresh;
    copy_arrays(to, from);
    return true;
}

/* The same entries with another number of slots. */
static bool resize(struct pages *pages, unsigned bits)
{
    struct pages other;
    if (!allocate(&other, bits))
        return false;
    memcpy(other.entry, pages->entry, pages->used * sizeof(*pages->entry));
    other.used = pages->used;
    for (size_t i = 0; i < other.used; i++)
        index_entry(&other, i);
    pages_deinit_(pages);
    *pages = other;
    return true;
}

struct held *pages_find_(const struct pages *pages, uint64_t number)
{
    uint32_t index = pages->slot[slot_of(pages, number)];
    return index ? pages->entry[index - 1].held : NULL;
}

bool pages_room_(struct pages *pages)
{
    return pages->used < room(pages->bits) || (pages->bits < 32 && resize(pages, pages->bits + 1));
}

void pages_put_(struct pages *pages, uint64_t number, struct held *held)
{
    size_t at = slot_of(pages, number);
    if (!pages->slot[at]) {
        pages->entry[pages->used++] = (struct pages_entry){.number = number, .slot = (uint32_t)at};
        pages->slot[at] = (uint32_t)pages->used;
    }
    pages->entry[pages->slot[at] - 1].held = held;
}

void pages_sift_(struct pages *pages, bool (*keep)(void *context, struct held *held), void *context)
{
    size_t before = pages->used;
    for (size_t i = 0; i < before; i++)
        pages->slot[pages->entry[i].slot] = 0;
    pages->used = 0;
    for (size_t i = 0; i < before; i++) {
        if (keep(context, pages->entry[i].held))
            pages->entry[pages->used++] = pages->entry[i];
    }
    for (size_t i = 0; i < pages->used; i++)
        index_entry(pages, i);
    /* By one step at a time, so that small ones between large ones do not cost much. Without memory
     * it stays as it is. */
    if (pages->bits > FIRST_BITS && before < room(pages->bits) / 8)
        (void)resize(pages, pages->bits - 1);
}

uint64_t pages_probes_(const struct pages *pages)
{
    uint64_t probes = 0;
    for (size_t i = 0; i < pages->used; i++)
        probes += 1 + ((pages->entry[i].slot - home(pages, pages->entry[i].number)) &
                       (slots(pages->bits) - 1));
    return probes;
}
