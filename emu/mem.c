/* SPDX-License-Identifier: MIT
 * Sparse copy-on-write memory: a hash table of reference-counted pages. */
#include "emu/mem.h"

#include <string.h>

#include "isa/base/le.h"

#define MASK_WORDS (CPS_PAGE_WORDS / 32)

struct page {
    uint32_t refs; /* tables that it is in; 2 for a copy of the host's, which is in one */
    bool keep;
    bool host;                     /* a copy of the host's */
    uint64_t asked;                /* the round in which the host was asked for it last */
    uint32_t known[MASK_WORDS];    /* dwords that were stored */
    uint32_t reported[MASK_WORDS]; /* unknown dwords whose read was reported */
    uint32_t word[CPS_PAGE_WORDS];
};

struct slot {
    uint64_t number;   /* iova / CPS_PAGE_BYTES */
    struct page *page; /* NULL: free */
};

struct cps_mem {
    struct slot *slots; /* open addressing, a power of two */
    size_t capacity;
    size_t used;
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

static bool test_bit(const uint32_t *mask, uint32_t index)
{
    return mask[index / 32] >> (index % 32) & 1;
}

static void set_bit(uint32_t *mask, uint32_t index)
{
    mask[index / 32] |= 1u << (index % 32);
}

static void set_bits(uint32_t *mask, uint32_t from, uint32_t count)
{
    for (uint32_t at = from, end = from + count; at < end;) {
        uint32_t first = at % 32;
        uint32_t some = 32 - first < end - at ? 32 - first : end - at;
        mask[at / 32] |= (some == 32 ? ~0u : (1u << some) - 1) << first;
        at += some;
    }
}

static uint32_t word_index(uint64_t iova)
{
    return (uint32_t)(iova % CPS_PAGE_BYTES / 4);
}

static size_t slot_of(const struct cps_mem *mem, uint64_t number)
{
    size_t at = (size_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (mem->capacity - 1);
    while (mem->slots[at].page && mem->slots[at].number != number)
        at = (at + 1) & (mem->capacity - 1);
    return at;
}

static void unref(struct page *page)
{
    if (page && (page->host || --page->refs == 0))
        free(page);
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
        unref(mem->slots[i].page);
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
        if (slots[i].page)
            slots[i].page->refs++;
    }
    mem->last_page = NULL; /* its page is shared now and must be found again before a write */
    *copy = *mem;
    copy->slots = slots;
    *ret = copy;
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
    for (size_t i = 0; i < mem->capacity; i++) {
        if (old[i].page && old[i].page->keep) {
            mem->slots[slot_of(mem, old[i].number)] = old[i];
            mem->used++;
        } else {
            unref(old[i].page);
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
        if (mem->slots[i].page)
            wider.slots[slot_of(&wider, mem->slots[i].number)] = mem->slots[i];
    }
    free(mem->slots);
    *mem = wider;
    return true;
}

static struct page *add_page(struct cps_mem *mem, uint64_t number)
{
    if ((mem->used + 1) * sizeof(struct page) > mem->limit ||
        (mem->used * 2 >= mem->capacity && !grow(mem)))
        return NULL;
    struct page *page = calloc(1, sizeof(*page));
    if (!page) {
        mem->failed = true;
        return NULL;
    }
    page->refs = 1;
    page->asked = mem->round;
    mem->slots[slot_of(mem, number)] = (struct slot){number, page};
    mem->used++;
    mem->epoch++;
    return page;
}

/* Asks the host for a page, once a round; @p page is what is known of it, or NULL. */
static struct page *ask_host(struct cps_mem *mem, uint64_t number, struct page *page)
{
    uint8_t bytes[CPS_PAGE_BYTES];
    if (page && (page->asked == mem->round || (page->keep && !page->host)))
        return page;
    bool has = mem->host->read(mem->host->context, number * CPS_PAGE_BYTES, bytes);
    if (!page && has)
        page = add_page(mem, number);
    if (!page)
        return NULL;
    if (has || page->host)
        memset(page->known, has ? 0xff : 0, sizeof(page->known));
    for (uint32_t i = 0; has && i < CPS_PAGE_WORDS; i++)
        page->word[i] = cps_le32(bytes + 4 * (size_t)i);
    page->host = has;
    page->refs = has ? 2 : 1; /* no store into the host's is a simple one */
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
    return !page->host || mem->host->write(mem->host->context, iova, bytes, size);
}

static struct page *find(struct cps_mem *mem, uint64_t number)
{
    if (mem->last_page && mem->last_number == number)
        return mem->last_page;
    struct page *page = mem->slots[slot_of(mem, number)].page;
    if (CPS_UNLIKELY(mem->host != NULL))
        page = ask_host(mem, number, page);
    if (page) {
        mem->last_number = number;
        mem->last_page = page;
    }
    return page;
}

/* The page for writing: made if absent, copied if shared; NULL at the limit. */
static struct page *find_writable(struct cps_mem *mem, uint64_t number)
{
    struct page *page = find(mem, number);
    if (!page) {
        page = add_page(mem, number);
        if (!page)
            return NULL;
    } else if (page->refs > 1 && !page->host) {
        struct page *copy = malloc(sizeof(*copy));
        if (!copy) {
            mem->failed = true;
            return NULL;
        }
        *copy = *page;
        copy->refs = 1;
        page->refs--;
        mem->slots[slot_of(mem, number)].page = copy;
        mem->epoch++;
        page = copy;
    }
    page->keep |= mem->keep;
    mem->last_number = number;
    mem->last_page = page;
    return page;
}

uint32_t cps_mem_read(struct cps_mem *mem, uint64_t iova, bool *known)
{
    const struct page *page = find(mem, iova / CPS_PAGE_BYTES);
    uint32_t index = word_index(iova);
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
    return page && word_to_host(mem, page, iova, value) ? page : NULL;
}

bool cps_mem_write(struct cps_mem *mem, uint64_t iova, uint32_t value)
{
    struct page *page = mem->last_page;
    uint32_t index = word_index(iova);
    if (!page || mem->last_number != iova / CPS_PAGE_BYTES || page->refs != 1)
        page = page_of_store(mem, iova, value);
    if (!page)
        return false;
    page->keep |= mem->keep;
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
    return mem->used * sizeof(struct page);
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
