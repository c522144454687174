/* SPDX-License-Identifier: MIT
 * All that memory holds, as bytes that are equal where it is. */
#include <stdlib.h>
#include <string.h>

#include "emu/mem_state.h"

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
    size_t pages = mem->pages.used;
    uint64_t *number = malloc((pages + 1) * sizeof(*number));
    if (!number)
        return cps_err_nomem();
    for (size_t i = 0; i < pages; i++)
        number[i] = mem->pages.entry[i].number;
    qsort(number, pages, sizeof(*number), by_number);
    put(to, &mem->bytes, sizeof(mem->bytes));
    for (size_t i = 0; i < pages; i++) {
        const struct page *page = mem_page_(mem, number[i]);
        if (page)
            put_page(page, number[i], first, 4 * (uint64_t)count, put, to);
    }
    free(number);
    return mem->failed ? cps_err_nomem() : NULL;
}
