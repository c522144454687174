/* SPDX-License-Identifier: MIT
 * Oracles, and what tells their findings apart. */
#include "tools/explain/fuzz/oracle.h"

#include <string.h>

#include "isa/base/pm4.h"
#include "tools/explain/fuzz/random.h"

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
