/* SPDX-License-Identifier: MIT
 * The instruction cache of a hang dump (H: dumps of a618 and a630, in which lines of equal versions
 * agree word for word, and program counters and return addresses lie in lines that are there). */
#include "fw/image/icache.h"

#include <stdlib.h>
#include <string.h>

/* Sections of the block, and the cache's shape. */
enum {
    DATA = 0x0000,
    TAGS = 0x1000,
    TABLE = 0x4000,
    SCRATCH = 0x5000, /* control registers 0x100 on */
    WAYS = 4,
    SETS = 32,
    LINE = 8,
    WAY_WORDS = SETS * LINE,
};
/* A tag: 21:20 whose line it is, low bits the address in ways. */
enum { TAG_STATE_SHIFT = 20, STATE_EMPTY = 0, STATE_VALID = 2, STATE_OTHER = 3 };

static struct cps_err *damaged(unsigned set, unsigned way, uint32_t tag, const char *what)
{
    return cps_err_new(
        CPS_ERR_INPUT,
        "CP_UCODE_DBG: the tag of set %u, way %u is 0x%08x: %s, expected the tags of "
        "an instruction cache",
        set, way, tag, what);
}

static struct cps_err *take_line(struct cps_fw_icache *to, const uint32_t *line, uint32_t at,
                                 uint32_t *capacity)
{
    if (at + LINE > *capacity) {
        uint32_t more = at + LINE + 0x1000;
        uint32_t *word = realloc(to->word, more * sizeof(*word));
        to->word = word ? word : to->word;
        uint8_t *mark = word ? realloc(to->mark, more) : NULL;
        if (!mark)
            return cps_err_nomem();
        to->mark = mark;
        memset(word + *capacity, 0, (more - *capacity) * sizeof(*word));
        memset(mark + *capacity, 0, more - *capacity);
        *capacity = more;
    }
    memcpy(to->word + at, line, LINE * sizeof(*line));
    memset(to->mark + at, CPS_FW_HARDWARE, LINE);
    to->count = at + LINE > to->count ? at + LINE : to->count;
    to->lines++;
    return NULL;
}

static struct cps_err *read_tag(struct cps_fw_icache *to, const uint32_t *words, unsigned set,
                                unsigned way, uint32_t *capacity)
{
    uint32_t tag = words[TAGS + set * WAYS + way];
    uint32_t address = tag & ((1u << 18) - 1);
    uint32_t at = address * WAY_WORDS + set * LINE;
    unsigned state = tag >> TAG_STATE_SHIFT & 3;
    to->others += state == STATE_OTHER;
    if (state == STATE_EMPTY || state == STATE_OTHER)
        return NULL;
    if (state != STATE_VALID || tag >> 22)
        return damaged(set, way, tag, "a state that no dump has");
    if (at > CPS_FW_ICACHE_WORDS - LINE)
        return damaged(set, way, tag, "an address behind any image");
    if (at < to->count && to->mark[at])
        return damaged(set, way, tag, "the same line as another way");
    return take_line(to, words + DATA + way * WAY_WORDS + set * LINE, at, capacity);
}

struct cps_err *cps_fw_icache_read_(const uint32_t *words, size_t count, struct cps_fw_icache *ret)
{
    uint32_t capacity = 0;
    *ret = (struct cps_fw_icache){0};
    if (count < TABLE + CPS_FW_TABLE_SIZE)
        return cps_err_new(CPS_ERR_INPUT,
                           "CP_UCODE_DBG has %zu dwords, expected at least %u: the instruction "
                           "cache and the packet table",
                           count, TABLE + CPS_FW_TABLE_SIZE);
    for (unsigned i = 0; i < SETS * WAYS; i++)
        CPS_TRY(read_tag(ret, words, i / WAYS, i % WAYS, &capacity));
    memcpy(ret->table, words + TABLE, sizeof(ret->table));
    ret->version = count > SCRATCH ? words[SCRATCH] : 0;
    return NULL;
}

void cps_fw_icache_deinit_(struct cps_fw_icache *cache)
{
    free(cache->word);
    free(cache->mark);
}
