/* SPDX-License-Identifier: MIT
 * Oracles, and what tells their findings apart; CP_PROTECT as a driver sets it up. */
#include "tools/explain/fuzz/fuzz.h"

#include <string.h>

#include "isa/base/pm4.h"

/* ---- Oracles ---- */

enum key { KEY_ONCE, KEY_NOTHING, KEY_PLACE };
enum when { WHEN_ASKED, WHEN_ALWAYS };

static const struct {
    const char *name;
    enum key key;
    enum oracle raised;
    enum when when;
} rows[] = {
#define ORACLE(id, name, key, raised, when, meaning) \
    {name, KEY_##key, ORACLE_##raised, WHEN_##when},
#include "tools/explain/fuzz/oracle.def"
};

const char *oracle_name(enum oracle oracle)
{
    return rows[oracle].name;
}

enum oracle oracle_find(const char *name, unsigned length)
{
    unsigned i = 0;
    while (i < ORACLE_COUNT &&
           (strlen(rows[i].name) != length || strncmp(rows[i].name, name, length) != 0))
        i++;
    return (enum oracle)i;
}

uint32_t oracle_usual(void)
{
    uint32_t ret = 0;
    for (unsigned i = 0; i < ORACLE_COUNT; i++)
        ret |= (uint32_t)(rows[i].when == WHEN_ALWAYS) << i;
    return ret;
}

uint32_t oracle_family(enum oracle raised)
{
    uint32_t ret = 0;
    for (unsigned i = 0; i < ORACLE_COUNT; i++)
        ret |= (uint32_t)(rows[i].raised == raised) << i;
    return ret;
}

unsigned oracle_packet(uint32_t header)
{
    struct cps_pm4 packet = cps_pm4_decode(header);
    return packet.kind == CPS_PM4_TYPE7 ? packet.opcode : packet.kind == CPS_PM4_TYPE4 ? 4 : 0;
}

/* Processors that share handlers share findings. */
static uint64_t key_of(const struct suspect *s, enum oracle oracle)
{
    enum key key = rows[oracle].key;
    uint64_t id = key == KEY_ONCE ? 0 : oracle_packet(s->header) | (uint64_t)s->side << 8;
    uint64_t place = key == KEY_PLACE ? s->place | (uint64_t)s->who << 24 : 0;
    return (uint64_t)oracle << 56 | rng_mix(id << 32 | place) >> 8;
}

uint64_t oracle_key(const struct suspect *s)
{
    return key_of(s, s->oracle);
}

uint64_t oracle_raised(const struct suspect *s)
{
    return key_of(s, s->raised);
}

/* ---- CP_PROTECT ---- */

enum list { A530 = 1, A630 = 2, A650 = 4, A660 = 8, A730 = 16, X285 = 32, A840 = 64 };
enum { BOTH = 1, WRITE = 0 };

static const struct entry {
    unsigned lists;
    uint32_t first, behind;
    unsigned what;
} entries[] = {
#define PROTECT(...) {__VA_ARGS__},
#include "tools/explain/fuzz/protect.def"
};

static const struct entry_list {
    enum list list;
    enum cps_gen gen;
    uint32_t id;
    uint32_t gpu, control, switches, first, last;
} lists[] = {
#define PROTECT_LIST(list, gen, id, ...) {list, CPS_##gen, id, __VA_ARGS__},
#include "tools/explain/fuzz/protect.def"
};

enum { A5 = 1 << CPS_A5XX, A6 = 1 << CPS_A6XX, A7 = 1 << CPS_A7XX, A8 = 1 << CPS_A8XX };
static const struct privileged {
    enum oracle oracle;
    unsigned gens;
    uint32_t first, last;
} privileged[] = {
#define PRIVILEGED(oracle, gens, first, last, evidence) {ORACLE_##oracle, gens, first, last},
#include "tools/explain/fuzz/protect.def"
};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void start(struct protection *p, uint32_t offset, uint32_t value)
{
    p->item[p->items++] = (struct cps_item){
        .kind = CPS_ITEM_REGISTER,
        .reg = {.offset = offset, .value = value, .section = "registers", .context = -1}};
}

static void add_span(struct protection *p, uint32_t first, uint32_t last, unsigned what)
{
    p->first[p->spans] = first;
    p->last[p->spans++] = last;
    for (uint32_t r = first; r <= last; r++)
        p->class[r] = what == BOTH                   ? REG_PROTECTED
                      : p->class[r] == REG_PROTECTED ? REG_PROTECTED
                                                     : REG_PROTECTED | REG_READ_ONLY;
}

/* Register, count and what is forbidden, as an entry says it: a5xx has the count's logarithm and
 * byte addresses. */
static uint32_t entry_word(const struct entry *e, enum cps_gen gen)
{
    uint32_t bits = 0;
    if (gen != CPS_A5XX)
        return (uint32_t)e->what << 31 | e->behind << 18 | e->first;
    while (e->behind >> bits)
        bits++;
    return (uint32_t)e->what << 30 | 1u << 29 | bits << 24 | e->first << 2;
}

static void add_list(struct protection *p, const struct entry_list *list)
{
    const struct entry *last = NULL;
    unsigned at = 0;
    p->item[p->items++] = (struct cps_item){.kind = CPS_ITEM_CHIP, .chip = {.gpu_id = list->gpu}};
    for (size_t i = 0; i < COUNT(entries); i++) {
        if (entries[i].lists & list->list && list->last)
            last = &entries[i];
    }
    for (size_t i = 0; i < COUNT(entries) && p->items + 2 < PROTECTION_ITEMS; i++) {
        const struct entry *e = &entries[i];
        if (!(e->lists & list->list))
            continue;
        uint32_t word = entry_word(e, list->gen);
        uint32_t end = e == last ? PROTECTION_REGS - 1 : e->first + e->behind;
        start(p, e == last ? list->last : list->first + at++, word);
        add_span(p, e->first, end < PROTECTION_REGS ? end : PROTECTION_REGS - 1, e->what);
    }
    start(p, list->control, list->switches);
}

void protection_init(struct protection *p, const struct cps_fw *fw)
{
    const struct entry_list *list = NULL;
    *p = (struct protection){.items = 0};
    for (size_t i = 0; i < COUNT(lists) && !list; i++) {
        if (lists[i].gen == fw->gen && (!lists[i].id || lists[i].id == fw->id))
            list = &lists[i];
    }
    if (list)
        add_list(p, list);
    for (size_t i = 0; i < COUNT(privileged); i++) {
        for (uint32_t r = privileged[i].first;
             privileged[i].gens >> fw->gen & 1 && r <= privileged[i].last; r++)
            p->class[r] |= (uint8_t)(REG_CLASS_ORACLE * (1 + privileged[i].oracle));
    }
}

uint32_t protection_pick(const struct protection *p, uint32_t random)
{
    if (!p->spans)
        return random % PROTECTION_REGS;
    unsigned span = (random >> 18) % p->spans;
    uint32_t count = p->last[span] - p->first[span] + 1;
    return p->first[span] + (random & 0x3ffff) % count;
}
