/* SPDX-License-Identifier: MIT
 * The instruction cache of a hang dump (H: dumps of a618 and a630, in which lines of equal versions
 * agree word for word, and program counters and return addresses lie in lines that are there). */
#include "fw/image/icache.h"

#include <stdlib.h>
#include <string.h>

#include "fw/image/private.h"

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

static void take_line(struct cps_fw_icache *to, const uint32_t *line, uint32_t at)
{
    memcpy(to->word + at, line, LINE * sizeof(*line));
    memset(to->mark + at, CPS_FW_HARDWARE, LINE);
    to->count = at + LINE > to->count ? at + LINE : to->count;
    to->lines++;
}

static struct cps_err *read_tag(struct cps_fw_icache *to, const uint32_t *words, unsigned set,
                                unsigned way)
{
    uint32_t tag = words[TAGS + set * WAYS + way];
    uint32_t address = tag & ((1u << 18) - 1);
    uint32_t at = address * WAY_WORDS + set * LINE;
    unsigned state = tag >> TAG_STATE_SHIFT & 3;
    if (state == STATE_EMPTY || state == STATE_OTHER)
        return NULL;
    if (state != STATE_VALID || tag >> 22)
        return damaged(set, way, tag, "a state that no dump has");
    if (at > CPS_FW_ICACHE_WORDS - LINE)
        return damaged(set, way, tag, "an address beyond any image");
    if (at < to->count && to->mark[at])
        return damaged(set, way, tag, "the same line as another way");
    take_line(to, words + DATA + way * WAY_WORDS + set * LINE, at);
    return NULL;
}

struct cps_err *cps_fw_icache_read_(const uint32_t *words, size_t count, struct cps_fw_icache *ret)
{
    *ret = (struct cps_fw_icache){0};
    if (count < TABLE + CPS_FW_TABLE_SIZE)
        return cps_err_new(CPS_ERR_INPUT,
                           "CP_UCODE_DBG has %zu dwords, expected at least %u: the instruction "
                           "cache and the packet table",
                           count, TABLE + CPS_FW_TABLE_SIZE);
    ret->word = calloc(CPS_FW_ICACHE_WORDS, sizeof(*ret->word));
    ret->mark = calloc(CPS_FW_ICACHE_WORDS, sizeof(*ret->mark));
    if (!ret->word || !ret->mark)
        return cps_err_nomem();
    for (unsigned i = 0; i < SETS * WAYS; i++) {
        struct cps_err *err = read_tag(ret, words, i / WAYS, i % WAYS);
        if (err) {
            /* Of tags that contradict each other nobody knows which to believe. */
            memset(ret->mark, CPS_FW_UNKNOWN, CPS_FW_ICACHE_WORDS);
            ret->count = 0;
            ret->lines = 0;
            return err;
        }
    }
    memcpy(ret->table, words + TABLE, sizeof(ret->table));
    ret->version = count > SCRATCH ? words[SCRATCH] : 0;
    return NULL;
}

void cps_fw_icache_deinit_(struct cps_fw_icache *cache)
{
    for (size_t i = 0; i < cache->holes; i++) {
        free(cache->hole[i].before);
        free(cache->hole[i].after);
    }
    free(cache->hole);
    free(cache->word);
    free(cache->mark);
}

uint32_t cps_fw_default_handler_(const uint32_t *table)
{
    uint32_t best = table[0];
    unsigned most = 0;
    for (unsigned i = 0; i < CPS_FW_TABLE_SIZE; i++) {
        unsigned same = 0;
        for (unsigned k = 0; k < CPS_FW_TABLE_SIZE; k++)
            same += table[k] == table[i];
        if (same > most) {
            most = same;
            best = table[i];
        }
    }
    return best;
}

void cps_fw_own_handlers_(const uint32_t *table, bool *ret)
{
    uint32_t none = cps_fw_default_handler_(table);
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++)
        ret[id] = table[id] && table[id] != CPS_FW_NONE && table[id] != none;
}

int cps_fw_handler_before_(const uint32_t *table, uint32_t pc)
{
    int best = -1;
    for (unsigned i = 0; i < CPS_FW_TABLE_SIZE; i++) {
        if (table[i] <= pc && (best < 0 || table[i] > table[best]))
            best = (int)i;
    }
    return best;
}

uint32_t cps_fw_untargeted_(const struct cps_fw *fw, uint32_t word)
{
    const struct cps_insn insn = cps_fw_decode_(fw, word);
    return word & ~(uint32_t)cps_insn_target_bits(&cps_isa_afuc, &insn);
}

/* The cached words around @p pc against those around @p at. */
static bool same_around(const struct cps_fw_icache *cache, const struct cps_fw *fw, uint32_t pc,
                        uint32_t at)
{
    const struct cps_fw_part *part = &fw->part[0];
    for (uint32_t i = 0; i < 3 * LINE; i++) {
        uint32_t here = pc / LINE * LINE + i - LINE;
        uint32_t there = at - pc + here;
        if (here >= cache->count || cache->mark[here] != CPS_FW_HARDWARE)
            continue;
        if (there >= part->size || cps_fw_untargeted_(fw, cache->word[here]) !=
                                       cps_fw_untargeted_(fw, fw->words[part->start + there]))
            return false;
    }
    return true;
}

bool cps_fw_icache_locate_(const struct cps_fw_icache *cache, const struct cps_fw *fw, uint32_t pc,
                           uint32_t *ret)
{
    unsigned found = 0;
    if (pc >= cache->count || cache->mark[pc] != CPS_FW_HARDWARE)
        return false;
    for (uint32_t at = 0; at < fw->part[0].size; at++) {
        if (!same_around(cache, fw, pc, at))
            continue;
        *ret = at;
        found++;
    }
    return found == 1;
}
