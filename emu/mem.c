/* SPDX-License-Identifier: MIT
 * Sparse copy-on-write memory: a hash table of reference-counted pages. */
#include "emu/mem.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "emu/mem_state.h"
#include "isa/base/le.h"

static uint32_t word_index(uint64_t iova)
{
    return (uint32_t)(iova % CPS_PAGE_BYTES / 4);
}

static bool is_last(struct held *held)
{
    return held->host || --held->refs == 0;
}

static void release(struct held *held)
{
    if (is_last(held))
        free(held);
}

struct cps_err *cps_mem_create(uint64_t limit, struct cps_mem **ret)
{
    struct cps_mem *mem = calloc(1, sizeof(*mem));
    if (!mem)
        return cps_err_nomem();
    mem->limit = limit;
    if (!pages_init_(&mem->pages)) {
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
    for (size_t i = 0; i < mem->pages.used; i++)
        release(mem->pages.entry[i].held);
    pages_deinit_(&mem->pages);
    free(mem);
}

/* Its pages are shared now, and must be found again before a write. */
static void share(struct cps_mem *mem)
{
    for (size_t i = 0; i < mem->pages.used; i++)
        mem->pages.entry[i].held->refs++;
    mem->last_page = NULL;
}

struct cps_err *cps_mem_clone(struct cps_mem *mem, struct cps_mem **ret)
{
    struct cps_mem *copy = malloc(sizeof(*copy));
    struct pages pages;
    if (!copy || !pages_copy_(&pages, &mem->pages)) {
        free(copy);
        return cps_err_nomem();
    }
    share(mem);
    *copy = *mem;
    copy->pages = pages;
    copy->last_page = NULL;
    *ret = copy;
    return NULL;
}

struct cps_err *cps_mem_restore(struct cps_mem *mem, struct cps_mem *from)
{
    struct cps_mem kept = *mem;
    if (!pages_replace_(&kept.pages, &from->pages, release))
        return cps_err_nomem();
    share(from);
    *mem = *from;
    mem->pages = kept.pages;
    mem->epoch = kept.epoch + 1;
    return NULL;
}

static bool keeps(void *context, struct held *held)
{
    struct cps_mem *mem = context;
    bool keep = held->keep;
    if (keep)
        mem->bytes += held->is_piece ? sizeof(struct piece) : sizeof(struct page);
    else
        release(held);
    return keep;
}

void cps_mem_forget(struct cps_mem *mem)
{
    mem->last_page = NULL;
    mem->epoch++;
    mem->changes++;
    mem->bytes = 0;
    pages_sift_(&mem->pages, keeps, mem);
}

void cps_mem_keep(struct cps_mem *mem, bool keep)
{
    mem->keep = keep;
}

/* Counts @p held among the pages; NULL and false: there was no memory for it. */
static bool count_in(struct cps_mem *mem, struct held *held, uint64_t size)
{
    if (!held) {
        mem->failed = true;
        return false;
    }
    held->refs = 1;
    mem->bytes += size;
    mem->epoch++;
    return true;
}

/* Room for @p size bytes more; @p fresh: of a page that nothing is held of. */
static bool has_room(struct cps_mem *mem, uint64_t size, bool fresh)
{
    if (mem->bytes + size > mem->limit)
        return false;
    if (!fresh || pages_room_(&mem->pages))
        return true;
    mem->failed = true;
    return false;
}

/* A page of which no dword is known, in no table yet; NULL at the limit. What its dwords are does
 * not matter. */
static struct page *allocate_page(struct cps_mem *mem, bool fresh)
{
    if (!has_room(mem, sizeof(struct page), fresh))
        return NULL;
    struct page *page = malloc(sizeof(*page));
    if (page)
        memset(page, 0, offsetof(struct page, word));
    if (!count_in(mem, &page->held, sizeof(*page)))
        return NULL;
    page->asked = mem->round;
    return page;
}

static struct page *add_page(struct cps_mem *mem, uint64_t number)
{
    struct page *page = allocate_page(mem, true);
    if (page)
        pages_put_(&mem->pages, number, &page->held);
    return page;
}

/* A page with the dwords of a piece, in its place; NULL at the limit. */
static struct page *open_piece(struct cps_mem *mem, uint64_t number, struct piece *piece)
{
    struct page *page = allocate_page(mem, false);
    if (!page)
        return NULL;
    page->held.keep = piece->held.keep;
    memcpy(&page->word[piece->first], piece->word, piece->count * sizeof(*piece->word));
    set_bits(page->known, piece->first, piece->count);
    pages_put_(&mem->pages, number, &page->held);
    mem->bytes -= sizeof(*piece);
    release(&piece->held);
    return page;
}

/* What a table has of a page, as a page; NULL if nothing, or at the limit, which is remembered:
 * what was loaded must not be read as if it was not there. */
static struct page *page_at(struct cps_mem *mem, uint64_t number)
{
    struct held *held = pages_find_(&mem->pages, number);
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

static void note_last(struct cps_mem *mem, uint64_t number, struct page *page)
{
    mem->last_number = number;
    mem->last_page = page;
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
        pages_put_(&mem->pages, number, &copy->held);
        mem->epoch++;
        page = copy;
    }
    page->held.keep |= mem->keep;
    note_last(mem, number, page);
    return page;
}

uint32_t cps_mem_read(struct cps_mem *mem, uint64_t iova, bool *known)
{
    const struct page *page = mem->last_page;
    uint32_t index = word_index(iova);
    if (!page || mem->last_number != iova / CPS_PAGE_BYTES)
        page = look_up(mem, iova / CPS_PAGE_BYTES);
    bool stored = page && test_bit(page->known, index);
    if (known)
        *known = stored;
    return stored ? page->word[index] : 0;
}

/* The page of a store that is not as simple as most; NULL if it cannot be made. */
static struct page *page_of_store(struct cps_mem *mem, uint64_t iova, uint32_t value)
{
    struct page *page = find_writable(mem, iova / CPS_PAGE_BYTES);
    uint8_t bytes[4];
    cps_put_le32(bytes, value);
    return page && to_host(mem, page, iova & ~UINT64_C(3), bytes, sizeof(bytes)) ? page : NULL;
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
    if (!test_bit(page->known, index) || page->word[index] != value) {
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

static void copy_words(uint32_t *to, const uint8_t *from, uint32_t count)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(to, from, count * sizeof(*to));
#else
    for (uint32_t i = 0; i < count; i++)
        to[i] = cps_le32(from + 4 * (size_t)i);
#endif
}

/* A small load into a page of which nothing is there yet. False: it is none. */
static bool write_piece(struct cps_mem *mem, uint64_t iova, const uint8_t *data, uint64_t size)
{
    uint64_t number = iova / CPS_PAGE_BYTES;
    uint32_t first = word_index(iova);
    if (size % 4 || size > 4 * PIECE_WORDS || first + size / 4 > CPS_PAGE_WORDS || mem->host ||
        pages_find_(&mem->pages, number) || !has_room(mem, sizeof(struct piece), true))
        return false;
    struct piece *piece = malloc(sizeof(*piece));
    if (!count_in(mem, piece ? &piece->held : NULL, sizeof(*piece)))
        return false;
    piece->held = (struct held){.refs = 1, .is_piece = true, .keep = mem->keep};
    piece->first = (uint16_t)first;
    piece->count = (uint16_t)(size / 4);
    copy_words(piece->word, data, piece->count);
    pages_put_(&mem->pages, number, &piece->held);
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
    copy_words(&page->word[index], data, count);
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

bool cps_mem_save(struct cps_mem *mem, uint64_t iova, uint8_t *to, uint64_t size)
{
    bool all = true;
    while (size) {
        uint8_t bytes[4];
        bool known = false;
        unsigned from = (unsigned)(iova % 4);
        uint32_t step = size < 4 - from ? (uint32_t)size : 4 - from;
        uint32_t count = 0;
        const uint32_t *window = from ? NULL : cps_mem_window(mem, iova, &count);
        if (window && size >= 4) {
            count = count < size / 4 ? count : (uint32_t)(size / 4);
            for (uint32_t i = 0; i < count; i++)
                cps_put_le32(to + 4 * (size_t)i, window[i]);
            step = 4 * count;
        } else {
            cps_put_le32(bytes, cps_mem_read(mem, iova, &known));
            memcpy(to, bytes + from, step);
            all = all && known;
        }
        iova += step;
        to += step;
        size -= step;
    }
    return all;
}

bool cps_mem_is_hosted(struct cps_mem *mem, uint64_t iova)
{
    const struct page *page = mem->host ? find(mem, iova / CPS_PAGE_BYTES) : NULL;
    return !mem->host || (page && page->held.host);
}

/* How many dwords from @p index are known, one after the other. */
static uint32_t known_from(const struct page *page, uint32_t index)
{
    uint32_t at = index / 32;
    uint32_t unknown = ~page->known[at] & ~0u << index % 32;
    while (!unknown && ++at < MASK_WORDS)
        unknown = ~page->known[at];
    uint32_t end = unknown ? 32 * at + (uint32_t)__builtin_ctz(unknown) : CPS_PAGE_WORDS;
    return end - index;
}

const uint32_t *cps_mem_window(struct cps_mem *mem, uint64_t iova, uint32_t *count)
{
    const struct page *page = find(mem, iova / CPS_PAGE_BYTES);
    uint32_t index = word_index(iova);
    *count = page ? known_from(page, index) : 0;
    return *count ? &page->word[index] : NULL;
}

bool cps_mem_shares(const struct cps_mem *a, const struct cps_mem *b, uint64_t iova)
{
    uint64_t number = iova / CPS_PAGE_BYTES;
    return pages_find_(&a->pages, number) == pages_find_(&b->pages, number);
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

bool cps_mem_report(struct cps_mem *mem, uint64_t iova)
{
    struct page *page = find_writable(mem, iova / CPS_PAGE_BYTES);
    uint32_t index = word_index(iova);
    if (!page || test_bit(page->reported, index))
        return false;
    set_bit(page->reported, index);
    return true;
}
