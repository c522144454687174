/* SPDX-License-Identifier: MIT
 * Sparse copy-on-write memory: a hash table of reference-counted pages. */
#include "emu/mem.h"

#include <stdlib.h>
#include <string.h>

#include "emu/bits.h"
#include "isa/base/le.h"

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
    uint32_t word[CPS_PAGE_WORDS];
};

struct slot {
    uint64_t number;   /* iova / CPS_PAGE_BYTES */
    struct held *held; /* NULL: free */
};

struct cps_mem {
    struct slot *slots; /* open addressing, a power of two */
    size_t capacity;
    size_t used;
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
    uint8_t *seen; /* by dword from `first_seen`: somebody looked at it */
    uint64_t first_seen, seen_bytes;
};

static uint32_t word_index(uint64_t iova)
{
    return (uint32_t)(iova % CPS_PAGE_BYTES / 4);
}

static size_t slot_of(const struct cps_mem *mem, uint64_t number)
{
    size_t at = (size_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (mem->capacity - 1);
    while (mem->slots[at].held && mem->slots[at].number != number)
        at = (at + 1) & (mem->capacity - 1);
    return at;
}

static void unref(struct held *held)
{
    if (held && (held->host || --held->refs == 0))
        free(held);
}

static uint64_t size_of(const struct held *held)
{
    return held->is_piece ? sizeof(struct piece) : sizeof(struct page);
}

struct cps_err *cps_mem_create(uint64_t limit, struct cps_mem **ret)
{
    struct cps_mem *mem = calloc(1, sizeof(*mem));
    if (!mem)
        return cps_err_nomem();
    mem->capacity = 64;
    mem->limit = limit;
    mem->slots = calloc(mem->capacity, sizeof(*mem->slots));
    if (!mem->slots) {
        free(mem);
        return cps_err_nomem();
    }
    *ret = mem;
    return NULL;
}

void cps_mem_destroy(struct cps_mem *mem)
{
    if (!mem)
        return;
    for (size_t i = 0; i < mem->capacity; i++)
        unref(mem->slots[i].held);
    free(mem->slots);
    free(mem);
}

struct cps_err *cps_mem_clone(struct cps_mem *mem, struct cps_mem **ret)
{
    struct cps_mem *copy = malloc(sizeof(*copy));
    struct slot *slots = malloc(mem->capacity * sizeof(*slots));
    if (!copy || !slots) {
        free(copy);
        free(slots);
        return cps_err_nomem();
    }
    memcpy(slots, mem->slots, mem->capacity * sizeof(*slots));
    for (size_t i = 0; i < mem->capacity; i++) {
        if (slots[i].held)
            slots[i].held->refs++;
    }
    mem->last_page = NULL; /* its page is shared now and must be found again before a write */
    *copy = *mem;
    copy->slots = slots;
    cps_mem_watch(copy, 0, NULL, 0);
    *ret = copy;
    return NULL;
}

/* A table of another size is made anew; most are of the same. */
struct cps_err *cps_mem_restore(struct cps_mem *mem, struct cps_mem *from)
{
    struct slot *slots = mem->slots;
    if (mem->capacity != from->capacity)
        slots = malloc(from->capacity * sizeof(*slots));
    if (!slots)
        return cps_err_nomem();
    for (size_t i = 0; i < from->capacity; i++) {
        if (from->slots[i].held)
            from->slots[i].held->refs++;
    }
    for (size_t i = 0; i < mem->capacity; i++)
        unref(mem->slots[i].held);
    memcpy(slots, from->slots, from->capacity * sizeof(*slots));
    if (slots != mem->slots)
        free(mem->slots);
    from->last_page = NULL; /* as in cps_mem_clone() */
    uint64_t epoch = mem->epoch;
    *mem = *from;
    mem->slots = slots;
    mem->epoch = epoch + 1;
    return NULL;
}

/* Puts the pages that @p stay into a new table of the same size; others are released. */
void cps_mem_forget(struct cps_mem *mem)
{
    mem->last_page = NULL;
    mem->epoch++;
    mem->changes++;
    struct slot *old = mem->slots;
    struct slot *slots = calloc(mem->capacity, sizeof(*slots));
    if (!slots) {
        mem->failed = true;
        return;
    }
    mem->slots = slots;
    mem->used = 0;
    mem->bytes = 0;
    for (size_t i = 0; i < mem->capacity; i++) {
        if (old[i].held && old[i].held->keep) {
            mem->slots[slot_of(mem, old[i].number)] = old[i];
            mem->used++;
            mem->bytes += size_of(old[i].held);
        } else {
            unref(old[i].held);
        }
    }
    free(old);
}

void cps_mem_keep(struct cps_mem *mem, bool keep)
{
    mem->keep = keep;
}

static bool grow(struct cps_mem *mem)
{
    struct cps_mem wider = *mem;
    wider.capacity = mem->capacity * 2;
    wider.slots = calloc(wider.capacity, sizeof(*wider.slots));
    if (!wider.slots) {
        mem->failed = true;
        return false;
    }
    for (size_t i = 0; i < mem->capacity; i++) {
        if (mem->slots[i].held)
            wider.slots[slot_of(&wider, mem->slots[i].number)] = mem->slots[i];
    }
    free(mem->slots);
    *mem = wider;
    return true;
}

/* Room for @p size bytes more; @p fresh: in a slot that is free. */
static struct held *allocate(struct cps_mem *mem, uint64_t size, bool fresh)
{
    if (mem->bytes + size > mem->limit || (fresh && mem->used * 2 >= mem->capacity && !grow(mem)))
        return NULL;
    struct held *held = calloc(1, size);
    if (!held) {
        mem->failed = true;
        return NULL;
    }
    held->refs = 1;
    mem->bytes += size;
    mem->epoch++;
    return held;
}

static void put_held(struct cps_mem *mem, uint64_t number, struct held *held)
{
    struct slot *slot = &mem->slots[slot_of(mem, number)];
    mem->used += !slot->held;
    *slot = (struct slot){number, held};
}

static struct page *add_page(struct cps_mem *mem, uint64_t number)
{
    struct page *page = (struct page *)allocate(mem, sizeof(*page), true);
    if (!page)
        return NULL;
    page->asked = mem->round;
    put_held(mem, number, &page->held);
    return page;
}

/* A page with the dwords of a piece, in its place; NULL at the limit. */
static struct page *open_piece(struct cps_mem *mem, uint64_t number, struct piece *piece)
{
    struct page *page = (struct page *)allocate(mem, sizeof(*page), false);
    if (!page)
        return NULL;
    page->held.keep = piece->held.keep;
    page->asked = mem->round;
    memcpy(&page->word[piece->first], piece->word, piece->count * sizeof(*piece->word));
    set_bits(page->known, piece->first, piece->count);
    put_held(mem, number, &page->held);
    mem->bytes -= sizeof(*piece);
    unref(&piece->held);
    return page;
}

/* What a table has of a page, as a page; NULL if nothing, or at the limit, which is remembered:
 * what was loaded must not be read as if it was not there. */
static struct page *page_at(struct cps_mem *mem, uint64_t number)
{
    struct held *held = mem->slots[slot_of(mem, number)].held;
    if (!held || !held->is_piece)
        return (struct page *)held;
    struct page *page = open_piece(mem, number, (struct piece *)held);
    mem->failed = mem->failed || !page;
    return page;
}

/* Asks the host for a page, once a round; @p page is what is known of it, or NULL. */
static struct page *ask_host(struct cps_mem *mem, uint64_t number, struct page *page)
{
    uint8_t bytes[CPS_PAGE_BYTES];
    if (page && (page->asked == mem->round || (page->held.keep && !page->held.host)))
        return page;
    bool has = mem->host->read(mem->host->context, number * CPS_PAGE_BYTES, bytes);
    if (!page && has)
        page = add_page(mem, number);
    if (!page)
        return NULL;
    if (has || page->held.host)
        memset(page->known, has ? 0xff : 0, sizeof(page->known));
    for (uint32_t i = 0; has && i < CPS_PAGE_WORDS; i++)
        page->word[i] = cps_le32(bytes + 4 * (size_t)i);
    page->held.host = has;
    page->held.refs = has ? 2 : 1; /* no store into the host's is a simple one */
    page->asked = mem->round;
    return page;
}

void cps_mem_host(struct cps_mem *mem, const struct cps_host *host)
{
    mem->host = host;
    cps_mem_host_changed(mem);
}

void cps_mem_host_changed(struct cps_mem *mem)
{
    mem->last_page = NULL;
    mem->round++;
    mem->epoch++;
    mem->changes++;
}

/* Stores whole dwords in the host's memory too, if they are its; false if it refuses. */
static bool to_host(const struct cps_mem *mem, const struct page *page, uint64_t iova,
                    const uint8_t *bytes, uint32_t size)
{
    return !page->held.host || mem->host->write(mem->host->context, iova, bytes, size);
}

/* Pages that are watched are looked up each time: what finds one at once need not ask. */
static void note_last(struct cps_mem *mem, uint64_t number, struct page *page)
{
    uint64_t first = mem->first_seen / CPS_PAGE_BYTES;
    uint64_t last = (mem->first_seen + mem->seen_bytes) / CPS_PAGE_BYTES;
    bool watched = mem->seen && number >= first && number <= last;
    mem->last_number = number;
    mem->last_page = watched ? NULL : page;
}

static struct page *look_up(struct cps_mem *mem, uint64_t number)
{
    struct page *page = page_at(mem, number);
    if (CPS_UNLIKELY(mem->host != NULL))
        page = ask_host(mem, number, page);
    if (page)
        note_last(mem, number, page);
    return page;
}

static inline struct page *find(struct cps_mem *mem, uint64_t number)
{
    if (mem->last_page && mem->last_number == number)
        return mem->last_page;
    return look_up(mem, number);
}

/* The page for writing: made if absent, copied if shared; NULL at the limit. */
static struct page *find_writable(struct cps_mem *mem, uint64_t number)
{
    struct page *page = find(mem, number);
    if (!page) {
        page = add_page(mem, number);
        if (!page)
            return NULL;
    } else if (page->held.refs > 1 && !page->held.host) {
        struct page *copy = malloc(sizeof(*copy));
        if (!copy) {
            mem->failed = true;
            return NULL;
        }
        *copy = *page;
        copy->held.refs = 1;
        page->held.refs--;
        mem->slots[slot_of(mem, number)].held = &copy->held;
        mem->epoch++;
        page = copy;
    }
    page->held.keep |= mem->keep;
    note_last(mem, number, page);
    return page;
}

void cps_mem_watch(struct cps_mem *mem, uint64_t first, uint8_t *seen, uint32_t count)
{
    mem->seen = seen;
    mem->first_seen = first;
    mem->seen_bytes = seen ? 4 * (uint64_t)count : 0;
    mem->last_page = NULL;
}

static void see(struct cps_mem *mem, uint64_t iova)
{
    if (mem->seen && iova - mem->first_seen < mem->seen_bytes)
        mem->seen[(iova - mem->first_seen) / 4] = 1;
}

uint32_t cps_mem_read(struct cps_mem *mem, uint64_t iova, bool *known)
{
    const struct page *page = mem->last_page;
    uint32_t index = word_index(iova);
    if (!page || mem->last_number != iova / CPS_PAGE_BYTES) {
        page = look_up(mem, iova / CPS_PAGE_BYTES);
        see(mem, iova);
    }
    if (known)
        *known = page && test_bit(page->known, index);
    return page ? page->word[index] : 0;
}

static bool word_to_host(const struct cps_mem *mem, const struct page *page, uint64_t iova,
                         uint32_t value)
{
    uint8_t bytes[4];
    cps_put_le32(bytes, value);
    return to_host(mem, page, iova & ~UINT64_C(3), bytes, sizeof(bytes));
}

/* The page of a store that is not as simple as most; NULL if it cannot be made. */
static struct page *page_of_store(struct cps_mem *mem, uint64_t iova, uint32_t value)
{
    struct page *page = find_writable(mem, iova / CPS_PAGE_BYTES);
    see(mem, iova);
    return page && word_to_host(mem, page, iova, value) ? page : NULL;
}

bool cps_mem_write(struct cps_mem *mem, uint64_t iova, uint32_t value)
{
    struct page *page = mem->last_page;
    uint32_t index = word_index(iova);
    if (!page || mem->last_number != iova / CPS_PAGE_BYTES || page->held.refs != 1)
        page = page_of_store(mem, iova, value);
    if (!page)
        return false;
    page->held.keep |= mem->keep;
    if (page->word[index] != value || !test_bit(page->known, index)) {
        page->word[index] = value;
        set_bit(page->known, index);
        mem->changes++;
    }
    return true;
}

/* Replaces one byte of a dword; only the ragged ends of a buffer need it. */
static bool write_byte(struct cps_mem *mem, uint64_t iova, uint8_t value)
{
    unsigned shift = (unsigned)(iova % 4) * 8;
    uint32_t old = cps_mem_read(mem, iova, NULL);
    return cps_mem_write(mem, iova, (old & ~(0xffu << shift)) | (uint32_t)value << shift);
}

/* A small load into a page of which nothing is there yet. False: it is none. */
static bool write_piece(struct cps_mem *mem, uint64_t iova, const uint8_t *data, uint64_t size)
{
    uint64_t number = iova / CPS_PAGE_BYTES;
    uint32_t first = word_index(iova);
    if (size % 4 || size > 4 * PIECE_WORDS || first + size / 4 > CPS_PAGE_WORDS || mem->host ||
        mem->slots[slot_of(mem, number)].held)
        return false;
    struct piece *piece = (struct piece *)allocate(mem, sizeof(*piece), true);
    if (!piece)
        return false;
    piece->held.is_piece = true;
    piece->held.keep = mem->keep;
    piece->first = (uint16_t)first;
    piece->count = (uint16_t)(size / 4);
    for (uint32_t i = 0; i < piece->count; i++)
        piece->word[i] = cps_le32(data + 4 * (size_t)i);
    put_held(mem, number, &piece->held);
    mem->changes++;
    return true;
}

/* Whole dwords, at most to the end of the page, which is looked up once; 0 at the limit. */
static uint64_t write_words(struct cps_mem *mem, uint64_t iova, const uint8_t *data, uint64_t size)
{
    struct page *page = find_writable(mem, iova / CPS_PAGE_BYTES);
    uint32_t index = word_index(iova);
    uint32_t room = CPS_PAGE_WORDS - index;
    uint32_t count = size / 4 < room ? (uint32_t)(size / 4) : room;
    if (!page || !to_host(mem, page, iova, data, 4 * count))
        return 0;
    for (uint32_t i = 0; i < count; i++)
        page->word[index + i] = cps_le32(data + 4 * (size_t)i);
    set_bits(page->known, index, count);
    mem->changes++;
    return 4 * (uint64_t)count;
}

struct cps_err *cps_mem_load(struct cps_mem *mem, uint64_t iova, const uint8_t *data, uint64_t size)
{
    if (iova % 4 == 0 && write_piece(mem, iova, data, size))
        return NULL;
    while (size) {
        bool whole = iova % 4 == 0 && size >= 4;
        uint64_t step = whole ? write_words(mem, iova, data, size) : write_byte(mem, iova, *data);
        if (!step && mem->failed)
            return cps_err_nomem();
        if (!step)
            return cps_err_new(CPS_ERR_NOMEM,
                               "the buffers of the capture need more than %llu MiB of memory",
                               (unsigned long long)(mem->limit >> 20));
        iova += step;
        data += step;
        size -= step;
    }
    return NULL;
}

const uint32_t *cps_mem_window(struct cps_mem *mem, uint64_t iova, uint32_t *count)
{
    const struct page *page = find(mem, iova / CPS_PAGE_BYTES);
    uint32_t index = word_index(iova);
    uint32_t end = index;
    while (page && end < CPS_PAGE_WORDS && test_bit(page->known, end))
        end++;
    *count = end - index;
    for (uint32_t i = 0; mem->seen && i < *count; i++)
        see(mem, iova + 4 * (uint64_t)i);
    return end > index ? &page->word[index] : NULL;
}

const uint64_t *cps_mem_epoch(const struct cps_mem *mem)
{
    return &mem->epoch;
}

uint64_t cps_mem_changes(const struct cps_mem *mem)
{
    return mem->changes;
}

uint64_t cps_mem_bytes(const struct cps_mem *mem)
{
    return mem->bytes;
}

bool cps_mem_failed(const struct cps_mem *mem)
{
    return mem->failed;
}

void cps_mem_fail(struct cps_mem *mem)
{
    mem->failed = true;
}

/* What stands in front of a page's dwords in cps_mem_contents(). */
struct contents {
    uint64_t number;
    uint32_t keep;
    uint32_t known[MASK_WORDS], reported[MASK_WORDS];
};

static int by_number(const void *x, const void *y)
{
    const uint64_t a = *(const uint64_t *)x;
    const uint64_t b = *(const uint64_t *)y;
    return a < b ? -1 : a > b;
}

static void put_page(const struct page *page, uint64_t number, uint64_t first, uint64_t bytes,
                     cps_put_bytes *put, void *to)
{
    struct contents head;
    memset(&head, 0, sizeof(head));
    head.number = number;
    head.keep = page->held.keep;
    memcpy(head.known, page->known, sizeof(head.known));
    memcpy(head.reported, page->reported, sizeof(head.reported));
    put(to, &head, sizeof(head));
    for (uint32_t i = 0; i < CPS_PAGE_WORDS; i++) {
        uint64_t iova = number * CPS_PAGE_BYTES + 4 * (uint64_t)i;
        if (iova - first >= bytes && test_bit(page->known, i))
            put(to, &page->word[i], sizeof(page->word[i]));
    }
}

struct cps_err *cps_mem_contents(struct cps_mem *mem, uint64_t first, uint32_t count,
                                 cps_put_bytes *put, void *to)
{
    size_t pages = 0;
    uint64_t *number = malloc((mem->used + 1) * sizeof(*number));
    if (!number)
        return cps_err_nomem();
    for (size_t i = 0; i < mem->capacity; i++) {
        if (mem->slots[i].held)
            number[pages++] = mem->slots[i].number;
    }
    qsort(number, pages, sizeof(*number), by_number);
    put(to, &mem->bytes, sizeof(mem->bytes));
    for (size_t i = 0; i < pages; i++) {
        const struct page *page = find(mem, number[i]);
        if (page)
            put_page(page, number[i], first, 4 * (uint64_t)count, put, to);
    }
    free(number);
    return mem->failed ? cps_err_nomem() : NULL;
}

bool cps_mem_report(struct cps_mem *mem, uint64_t iova)
{
    struct page *page = find_writable(mem, iova / CPS_PAGE_BYTES);
    uint32_t index = word_index(iova);
    if (!page || test_bit(page->reported, index))
        return false;
    set_bit(page->reported, index);
    return true;
}
