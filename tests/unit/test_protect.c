/* SPDX-License-Identifier: MIT
 * The driver's side of protection against facts/protect.h: which firmware gets which list of
 * entries, the words of those in the driver's order, and of each register what streams may do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tools/explain/fuzz/fuzz.h"

enum list { A530, A630, A650, A660, A730, X285, A840 };
enum { A5 = 1 << CPS_A5XX, A6 = 1 << CPS_A6XX, A7 = 1 << CPS_A7XX, A8 = 1 << CPS_A8XX };

/* An entry, with its word: a6xx counts what follows the first register, a5xx says a logarithm and
 * the register's place in bytes. */
static const struct entry {
    enum list list;
    uint32_t first, count, word;
    bool reads;
} entries[] = {
#define N(list, first, more) \
    {list, first, (more) + 1, 0x80000000 + (more)*0x40000u + (first), false},
#define R(list, first, more) {list, first, (more) + 1, (more)*0x40000u + (first), true},
#define C(list, first, count)                                                                   \
    {list, first, count, 0x60000000 + (uint32_t)__builtin_ctz(count) * 0x1000000u + (first)*4u, \
     false},
#include "tests/facts/protect.h"
};

static const struct who {
    enum list list;
    enum cps_gen gen;
    uint32_t id, gpu, first, last, control, switches;
} whos[] = {
#define WHO(list, gen, ...) {list, CPS_##gen, __VA_ARGS__},
#include "tests/facts/protect.h"
};

static const struct never {
    enum oracle oracle;
    unsigned gens;
    uint32_t first, last;
} nevers[] = {
#define NEVER(oracle, ...) {ORACLE_##oracle, __VA_ARGS__},
#include "tests/facts/protect.h"
};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct protection *made(enum cps_gen gen, uint32_t id)
{
    const struct cps_fw fw = {.gen = gen, .id = id};
    struct protection *p = malloc(sizeof(*p));
    assert_non_null(p);
    memset(p, 0xa5, sizeof(*p));
    protection_init(p, &fw);
    return p;
}

static void is_start(const struct cps_item *item, uint32_t offset, uint32_t value)
{
    assert_int_equal(item->kind, CPS_ITEM_REGISTER);
    assert_int_equal(item->reg.offset, offset);
    assert_int_equal(item->reg.value, value);
    assert_int_equal(item->reg.context, -1);
    assert_string_equal(item->reg.section, "registers");
}

static const struct entry *last_of(enum list list)
{
    const struct entry *last = NULL;
    for (size_t i = 0; i < COUNT(entries); i++)
        last = entries[i].list == list ? &entries[i] : last;
    return last;
}

/* The last entry of all lists but a530's goes to a register of its own. */
static void entries_are_written_in_the_drivers_order(void **state)
{
    (void)state;
    for (size_t w = 0; w < COUNT(whos); w++) {
        const struct who *who = &whos[w];
        const struct entry *last = last_of(who->list);
        struct protection *p = made(who->gen, who->id);
        unsigned at = 1;
        assert_int_equal(p->item[0].kind, CPS_ITEM_CHIP);
        assert_int_equal(p->item[0].chip.gpu_id, who->gpu);
        for (size_t i = 0; i < COUNT(entries); i++) {
            if (entries[i].list != who->list)
                continue;
            assert_true(at < p->items);
            is_start(&p->item[at], &entries[i] == last ? who->last : who->first + at - 1,
                     entries[i].word);
            at++;
        }
        assert_int_equal(p->items, at + 1);
        is_start(&p->item[at], who->control, who->switches);
        free(p);
    }
}

/* Behind the first register of the last entry there is no end, but on a5xx. */
static uint32_t end_of(const struct who *who, const struct entry *e)
{
    return who->gen != CPS_A5XX && e == last_of(who->list) ? PROTECTION_REGS : e->first + e->count;
}

static void spans_are_those_of_the_entries(void **state)
{
    (void)state;
    for (size_t w = 0; w < COUNT(whos); w++) {
        const struct who *who = &whos[w];
        struct protection *p = made(who->gen, who->id);
        unsigned at = 0;
        for (size_t i = 0; i < COUNT(entries); i++) {
            if (entries[i].list != who->list)
                continue;
            assert_int_equal(p->first[at], entries[i].first);
            assert_int_equal(p->last[at++], end_of(who, &entries[i]) - 1);
        }
        assert_int_equal(p->spans, at);
        free(p);
    }
}

/* What an entry forbids to read streams may not read, whatever else allows it. */
static uint8_t class_of(const struct who *who, uint32_t reg)
{
    bool entry = false;
    bool reads = true;
    unsigned class = 0;
    for (size_t i = 0; i < COUNT(entries); i++) {
        const struct entry *e = &entries[i];
        if (e->list == who->list && reg >= e->first && reg < end_of(who, e)) {
            entry = true;
            reads &= e->reads;
        }
    }
    for (size_t i = 0; i < COUNT(nevers); i++) {
        if ((nevers[i].gens >> who->gen & 1) && reg >= nevers[i].first && reg <= nevers[i].last)
            class = REG_CLASS_ORACLE * (1 + nevers[i].oracle);
    }
    return (uint8_t)(class | (entry ? REG_PROTECTED : 0) | (entry && reads ? REG_READ_ONLY : 0));
}

static void look_at(const struct who *who, const struct protection *p, uint32_t reg)
{
    if (reg < PROTECTION_REGS && p->class[reg] != class_of(who, reg))
        fail_msg("%03x, register %05x: class %x, not %x", who->id, reg, p->class[reg],
                 class_of(who, reg));
}

/* At both ends of each entry and of each range that is nobody's, of every list. */
static void registers_are_what_entries_and_ranges_make_them(void **state)
{
    (void)state;
    for (size_t w = 0; w < COUNT(whos); w++) {
        const struct who *who = &whos[w];
        struct protection *p = made(who->gen, who->id);
        for (size_t i = 0; i < COUNT(entries); i++) {
            for (uint32_t edge = 0; edge < 2; edge++) {
                look_at(who, p, entries[i].first - edge);
                look_at(who, p, entries[i].first + entries[i].count - edge);
            }
        }
        for (size_t i = 0; i < COUNT(nevers); i++) {
            for (uint32_t edge = 0; edge < 2; edge++) {
                look_at(who, p, nevers[i].first - edge);
                look_at(who, p, nevers[i].last + edge);
            }
        }
        for (uint32_t reg = 0; reg < PROTECTION_REGS; reg += 0x3f)
            look_at(who, p, reg);
        look_at(who, p, PROTECTION_REGS - 1);
        free(p);
    }
}

/* A firmware that nobody knows gets the list of its family's first chips, another engine none. */
static void others_get_the_familys_list_or_none(void **state)
{
    static const struct {
        enum cps_gen gen;
        uint32_t gpu;
    } others[] = {{CPS_A5XX, 530}, {CPS_A6XX, 630}, {CPS_A7XX, 0x43050a01}, {CPS_A8XX, 0x44070001}};
    (void)state;
    for (size_t i = 0; i < COUNT(others); i++) {
        struct protection *p = made(others[i].gen, 0xabc);
        assert_int_equal(p->item[0].chip.gpu_id, others[i].gpu);
        free(p);
    }
    struct protection *p = made(CPS_G80, 0x6ee);
    assert_int_equal(p->items, 0);
    assert_int_equal(p->spans, 0);
    for (uint32_t reg = 0; reg < PROTECTION_REGS; reg++)
        assert_int_equal(p->class[reg], 0);
    free(p);
}

/* 17:0 of the random number choose within an entry, what is above that the entry. */
static void an_entry_is_picked_and_a_register_of_it(void **state)
{
    (void)state;
    struct protection *p = made(CPS_A6XX, 0x6ee);
    assert_int_equal(protection_pick(p, 0), 0);
    assert_int_equal(protection_pick(p, 0x4ff), 0x4ff);
    assert_int_equal(protection_pick(p, 0x500), 0);
    assert_int_equal(protection_pick(p, 1 << 18 | 5), 0x506);
    assert_int_equal(protection_pick(p, 1 << 18 | 6), 0x501);
    assert_int_equal(protection_pick(p, 31 << 18), 0x11c00);
    assert_int_equal(protection_pick(p, 31 << 18 | 0x2e3ff), 0x3ffff);
    assert_int_equal(protection_pick(p, 32 << 18 | 1), 1);
    p->spans = 0;
    assert_int_equal(protection_pick(p, 1 << 18 | 5), 5);
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_written_in_the_drivers_order),
        cmocka_unit_test(spans_are_those_of_the_entries),
        cmocka_unit_test(registers_are_what_entries_and_ranges_make_them),
        cmocka_unit_test(others_get_the_familys_list_or_none),
        cmocka_unit_test(an_entry_is_picked_and_a_register_of_it),
    };
    return cmocka_run_group_tests_name("protect", tests, NULL, NULL);
}
