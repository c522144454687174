/* SPDX-License-Identifier: MIT
 * The table of pages under the addresses that drivers give to buffers: nothing is lost, no place of
 * the index fills up, and what was once large does not stay so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/mem.h"
#include "emu/mem_state.h"

#define PAGE UINT64_C(0x1000)
#define MIB  (UINT64_C(1) << 20)
#define GIB  (UINT64_C(1) << 30)

/* Buffers of one size in a row: where the first one is, from there to the next, how many, pages of
 * each that a capture holds. Kernels hand out addresses from the bottom (drm_mm), Mesa's heap
 * (util_vma_heap) from the top; captures of freedreno begin at 16 MiB, of kgsl at 20 GiB. */
static const struct set {
    const char *name;
    uint64_t first;
    int64_t step;
    uint32_t buffers, pages;
} sets[] = {
    {"pages in a row", 0x1011000, PAGE, 50000, 1},
    {"small buffers, each with a guard page", 0x1011000, 2 * PAGE, 200000, 1},
    {"64 KiB apart, four pages each", 20 * GIB, 0x10000, 30000, 4},
    {"2 MiB apart, from the bottom", 4 * GIB, 2 * MIB, 200000, 1},
    {"2 MiB apart, from the top of 48 bits", (UINT64_C(1) << 48) - 2 * MIB, -(int64_t)(2 * MIB),
     200000, 1},
    {"2 MiB apart, from the top of 49 bits", (UINT64_C(1) << 49) - 2 * MIB, -(int64_t)(2 * MIB),
     40000, 3},
    {"16 MiB apart, all of 256 pages", UINT64_C(1) << 36, 16 * MIB, 500, 256},
    {"1 GiB apart", GIB, GIB, 100000, 1},
    {"4 GiB apart, upper words alone differ", 0x1000000, 4 * GIB, 100000, 1},
    {"256 GiB apart", 0, 256 * GIB, 2000, 1},
    {"the kernel's half", UINT64_C(0xfffffffc00000000), 2 * MIB, 8000, 2},
};

static void *held_of(uint64_t number)
{
    return (void *)(uintptr_t)(number * 2 + 2);
}

static uint64_t number_of(const struct set *set, uint32_t i)
{
    uint64_t iova = set->first + (uint64_t)set->step * (i / set->pages);
    return iova / PAGE + i % set->pages;
}

static void fill(struct pages *pages, const struct set *set)
{
    for (uint32_t i = 0; i < set->buffers * set->pages; i++) {
        assert_true(pages_room_(pages));
        pages_put_(pages, number_of(set, i), held_of(number_of(set, i)));
    }
}

/* At most half full, a table with a hash of any luck needs one and a half looks. */
static void addresses_of_drivers_spread(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
        const struct set *set = &sets[i];
        uint32_t count = set->buffers * set->pages;
        struct pages pages;
        assert_true(pages_init_(&pages));
        fill(&pages, set);
        assert_int_equal(pages.used, count);
        for (uint32_t j = 0; j < count; j++)
            assert_ptr_equal(pages_find_(&pages, number_of(set, j)), held_of(number_of(set, j)));
        if (pages_probes_(&pages) > 2 * (uint64_t)count)
            fail_msg("%s: %llu looks for %u pages", set->name,
                     (unsigned long long)pages_probes_(&pages), count);
        pages_deinit_(&pages);
    }
}

/* Any power of two between buffers, and for any number of them. */
static void any_stride_spreads(void **state)
{
    (void)state;
    for (unsigned shift = 0; shift < 44; shift++) {
        for (uint32_t buffers = 20; buffers < 100000 && (uint64_t)buffers << shift >> 51 == 0;
             buffers = buffers * 5 / 2) {
            const struct set set = {"", 0x1000, (int64_t)(PAGE << shift), buffers, 1};
            struct pages pages;
            assert_true(pages_init_(&pages));
            fill(&pages, &set);
            if (pages_probes_(&pages) > 2 * (uint64_t)buffers + 20)
                fail_msg("2^%u pages apart: %llu looks for %u", shift,
                         (unsigned long long)pages_probes_(&pages), buffers);
            pages_deinit_(&pages);
        }
    }
}

/* Every third stays. */
static bool third(void *context, struct held *held)
{
    (void)context;
    return (uintptr_t)held % 3 == 0;
}

static bool none(void *context, struct held *held)
{
    (void)context;
    (void)held;
    return false;
}

static void what_stays_is_found(void **state)
{
    const struct set *set = &sets[3];
    struct pages pages, copy;
    (void)state;
    assert_true(pages_init_(&pages));
    fill(&pages, set);
    assert_true(pages_copy_(&copy, &pages));
    pages_sift_(&pages, third, NULL);
    for (uint32_t i = 0; i < set->buffers; i++) {
        uint64_t number = number_of(set, i);
        void *held = held_of(number);
        assert_ptr_equal(pages_find_(&pages, number), third(NULL, held) ? held : NULL);
        assert_ptr_equal(pages_find_(&copy, number), held);
    }
    pages_deinit_(&copy);
    pages_deinit_(&pages);
}

/* A large submission among small ones: the table comes down step by step, and forgetting looks at
 * entries only. */
static void large_once_is_not_large_for_ever(void **state)
{
    const struct set small = {"", 0x1000000, 2 * MIB, 20, 1};
    struct pages pages;
    (void)state;
    assert_true(pages_init_(&pages));
    unsigned first = pages.bits;
    fill(&pages, &sets[3]);
    unsigned largest = pages.bits;
    assert_true(largest > first + 8);
    pages_sift_(&pages, none, NULL);
    for (unsigned i = 0; i < largest; i++) {
        fill(&pages, &small);
        assert_int_equal(pages.used, small.buffers);
        pages_sift_(&pages, none, NULL);
        assert_int_equal(pages.used, 0);
    }
    assert_true(pages.bits <= first + 3);
    pages_deinit_(&pages);
}

/* Dwords of a released page are unknown in the next one, and 0. */
static void released_pages_come_back_empty(void **state)
{
    struct cps_mem *mem = NULL;
    uint8_t bytes[PAGE];
    uint32_t count = 0;
    (void)state;
    memset(bytes, 0xa5, sizeof(bytes));
    assert_null(cps_mem_create(CPS_MEM_LIMIT, &mem));
    for (unsigned round = 0; round < 600; round++) {
        bool known = true;
        uint64_t iova = 4 * GIB + round * 2 * MIB;
        assert_null(cps_mem_load(mem, iova, bytes, sizeof(bytes)));
        assert_int_equal(cps_mem_read(mem, iova + 8, NULL), 0xa5a5a5a5);
        assert_non_null(cps_mem_window(mem, iova + 16, &count));
        assert_int_equal(count, PAGE / 4 - 4);
        uint64_t held = cps_mem_bytes(mem);
        cps_mem_forget(mem);
        assert_int_equal(cps_mem_bytes(mem), 0);
        assert_true(cps_mem_write(mem, iova + 400, 7));
        assert_int_equal(cps_mem_bytes(mem), held);
        assert_int_equal(cps_mem_read(mem, iova + 8, &known), 0);
        assert_false(known);
        assert_non_null(cps_mem_window(mem, iova + 400, &count));
        assert_int_equal(count, 1);
        assert_null(cps_mem_window(mem, iova + 404, &count));
        assert_int_equal(count, 0);
        cps_mem_forget(mem);
    }
    cps_mem_destroy(mem);
}

/* Pieces that begin and end within a dword, over each other, beside an array of bytes. */
static void pieces_of_any_length_lie_where_they_belong(void **state)
{
    enum { BYTES = 3 * 4096 };
    static uint8_t naive[BYTES], piece[BYTES];
    struct cps_mem *mem = NULL;
    uint32_t rng = 1;
    (void)state;
    assert_null(cps_mem_create(GIB, &mem));
    memset(naive, 0xff, sizeof(naive));
    assert_null(cps_mem_load(mem, 16 * MIB, naive, BYTES));
    for (unsigned round = 0; round < 2000; round++) {
        uint32_t at = (rng = rng * 1664525u + 1013904223u) >> 8;
        uint32_t size = (rng = rng * 1664525u + 1013904223u) >> 8;
        at %= BYTES;
        size = size % (round % 8 ? 12 : BYTES) % (BYTES - at);
        for (uint32_t i = 0; i < size; i++)
            piece[i] = round % 3 ? (uint8_t)((rng = rng * 1664525u + 1) >> 24) : 0;
        assert_null(cps_mem_load(mem, 16 * MIB + at, piece, size));
        memcpy(naive + at, piece, size);
    }
    for (uint32_t i = 0; i < BYTES; i += 4) {
        uint32_t word =
            naive[i] | naive[i + 1] << 8 | naive[i + 2] << 16 | (uint32_t)naive[i + 3] << 24;
        assert_int_equal(cps_mem_read(mem, 16 * MIB + i, NULL), word);
    }
    cps_mem_destroy(mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_of_drivers_spread),
        cmocka_unit_test(any_stride_spreads),
        cmocka_unit_test(what_stays_is_found),
        cmocka_unit_test(large_once_is_not_large_for_ever),
        cmocka_unit_test(released_pages_come_back_empty),
        cmocka_unit_test(pieces_of_any_length_lie_where_they_belong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
