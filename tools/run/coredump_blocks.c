/* SPDX-License-Identifier: MIT
 * The hang dump of an engine: the command processor's own memories. */
#include "tools/run/coredump.h"

#include <string.h>

#include "emu/afuc/afuc.h"
#include "fw/fw.h"
#include "isa/base/pm4.h"

/* ---- CP_ROQ ---- */

enum { GRANULE = 16 };

/* One region while it is filled. */
struct region {
    struct coredump *dump;
    enum roq_region which;
    uint32_t begin, size;
    uint32_t read; /* from its begin */
    uint32_t waiting;
};

static uint32_t memory_at(const struct coredump *d, uint64_t iova)
{
    return coredump_value(d, 0, CPS_FILE_MEMORY, iova);
}

static void put_word(const struct region *r, uint32_t at, uint32_t word)
{
    r->dump->roq.word[r->begin + (r->read + r->size + at) % r->size] = word;
}

/* The words read last lie before the read position, where those that wait leave room. In front of a
 * fetch that its packet has chained to, they are that packet's. */
static void fill_read(const struct region *r, struct cps_position at, bool is_current)
{
    uint64_t header = cps_afuc_header_iova(r->dump->machine, 0);
    struct cps_pm4 packet = cps_pm4_decode(cps_afuc_header(r->dump->machine, 0, 0));
    uint32_t most = r->size - r->waiting;
    uint32_t i = 1;
    for (; i <= at.consumed && i <= most; i++)
        put_word(r, r->size - i, memory_at(r->dump, at.iova + 4 * (uint64_t)(at.consumed - i)));
    if (!is_current || at.consumed || packet.kind == CPS_PM4_BAD)
        return;
    for (uint64_t end = header + 4 * (uint64_t)packet.count; i <= most && end >= header; end -= 4)
        put_word(r, r->size - i++, memory_at(r->dump, end));
}

/* One fetch, in granules, up to half of the region. @return dwords that did not come */
static uint32_t fill_fetch(struct region *r, struct cps_position fetch, bool is_first)
{
    uint64_t at =
        is_first ? fetch.iova + 4 * (uint64_t)fetch.consumed : fetch.iova / GRANULE * GRANULE;
    uint64_t end = fetch.iova + 4 * (uint64_t)fetch.dwords;
    while (at < (end + GRANULE - 1) / GRANULE * GRANULE) {
        if (r->waiting >= r->size / 2 && !(at % GRANULE))
            return at < end ? (uint32_t)((end - at) / 4) : 0;
        put_word(r, r->waiting++, memory_at(r->dump, at));
        at += 4;
    }
    return 0;
}

static void finish_region(const struct region *r)
{
    struct roq_content *roq = &r->dump->roq;
    roq->read[r->which] = r->begin + r->read;
    roq->write[r->which] = r->begin + (r->read + r->waiting) % r->size;
    roq->waiting[r->which] = r->waiting;
}

static void fill_level(struct region *r, uint32_t level)
{
    struct roq_fetch *newest = &r->dump->roq.fetch[level - 1];
    const struct cps_afuc *machine = r->dump->machine;
    struct cps_position now = cps_afuc_position(machine, 0, hang_event_level(level));
    r->read = now.active ? r->size / 2 : 0;
    struct cps_position fetch = now;
    for (unsigned i = 0; fetch.active && !newest->rest && r->waiting < r->size / 2; i++) {
        newest->rest = fill_fetch(r, fetch, !i);
        newest->iova = fetch.iova;
        newest->dwords = fetch.dwords;
        fetch = cps_afuc_queued(machine, 0, hang_event_level(level), i + 1);
    }
    if (now.active)
        fill_read(r, now, level == hang_level(r->dump->engine->gen, cps_afuc_level(machine, 0)));
    finish_region(r);
}

static void fill_ring(struct region *r)
{
    const struct cps_afuc *machine = r->dump->machine;
    struct cps_position now = cps_afuc_position(machine, 0, CPS_LEVEL_RB);
    uint32_t end = cps_afuc_ring_end_(machine, 0);
    uint32_t left = now.dwords ? (end + now.dwords - now.consumed) % now.dwords : 0;
    r->read = r->size / 2;
    for (uint32_t i = 0; i < left && i < r->size / 2; i++)
        put_word(r, r->waiting++,
                 memory_at(r->dump, now.iova + 4 * (uint64_t)((now.consumed + i) % now.dwords)));
    uint32_t most = r->size - r->waiting;
    for (uint32_t i = 1; i <= most && i < now.dwords; i++)
        put_word(r, r->size - i,
                 memory_at(r->dump, now.iova + 4 * (uint64_t)((now.consumed + now.dwords - i) %
                                                              now.dwords)));
    finish_region(r);
}

void coredump_fill_roq(struct coredump *d)
{
    uint32_t border[ROQ_REGIONS + 1];
    uint32_t low = (uint32_t)ROQ_DEFAULT_LOW;
    uint32_t high = ROQ_DEFAULT_HIGH;
    if (d->engine->gen == CPS_A6XX && cps_afuc_reg_written(d->machine, ROQ_THRESHOLDS_1)) {
        low = coredump_value(d, 0, CPS_FILE_REGISTER, ROQ_THRESHOLDS_1);
        high = coredump_value(d, 0, CPS_FILE_REGISTER, ROQ_THRESHOLDS_2);
    }
    roq_borders(low, high, border);
    for (unsigned i = 0; i < ROQ_REGIONS; i++) {
        struct region region = {
            .dump = d, .which = i, .begin = border[i], .size = border[i + 1] - border[i]};
        if (border[i + 1] <= border[i] || border[i + 1] > ROQ_WORDS)
            continue; /* the driver has written nonsense */
        if (i == ROQ_RING)
            fill_ring(&region);
        for (uint32_t level = 1; level <= ROQ_LEVELS; level++) {
            if (i == roq_of_level(level))
                fill_level(&region, level);
        }
        if (i == ROQ_MRB || i == ROQ_VSD)
            finish_region(&region);
    }
}

/* ---- Blocks ---- */

static void put_block(struct coredump *d, const char *name, const uint32_t *words, size_t count)
{
    cps_buf_printf(&d->text, "  - regs-name: %s\n    dwords: %zu\n", name, count);
    coredump_put_words(d, "      ", words, count, false);
}

/* Control of a processor at the words of enum dump_stat. */
static void put_stat(struct coredump *d, const char *name, unsigned core)
{
    enum { SQE_SP = 5, SQE_STACK = 8, DEPTH = 8, SHOWN = 7, REM = 0x1c };
    uint32_t words[DUMP_STAT_WORDS] = {0};
    uint32_t depth = coredump_value(d, core, CPS_FILE_SQE, SQE_SP);
    uint64_t nrt = cps_afuc_nrt(d->machine, core);
    words[STAT_PC] = cps_engine_where(d->engine, core).pc;
    for (unsigned i = 1; i <= REM; i++)
        words[i] = coredump_value(d, core, CPS_FILE_GENERAL, i);
    for (uint32_t i = 0; i < SHOWN; i++) {
        uint32_t at = (depth - 1 - i) % DEPTH;
        words[STAT_STACK + i] = coredump_value(d, core, CPS_FILE_SQE, SQE_STACK + at) & 0xfffffff;
    }
    words[STAT_STACK] |= (depth - 1) % DEPTH << 28;
    for (unsigned i = 0; i < 3; i++)
        words[STAT_HEADER + i] = cps_afuc_header(d->machine, core, i);
    words[STAT_LEVEL] = cps_afuc_level(d->machine, core);
    words[STAT_NRT] = (uint32_t)nrt;
    words[STAT_NRT + 1] = (uint32_t)(nrt >> 32);
    put_block(d, name, words, DUMP_STAT_WORDS);
}

static void put_draw_state(struct coredump *d)
{
    enum { GROUPS = 32, GROUP_WORDS = 8 };
    uint32_t words[GROUPS * GROUP_WORDS] = {0};
    for (unsigned i = 0; i < GROUPS; i++) {
        struct cps_draw_group group = cps_afuc_draw_group(d->machine, 0, i);
        words[GROUP_WORDS * i] = (uint32_t)group.iova;
        words[GROUP_WORDS * i + 1] = (uint32_t)(group.iova >> 32);
        words[GROUP_WORDS * i + 2] = group.header;
    }
    put_block(d, "CP_DRAW_STATE", words, GROUPS * GROUP_WORDS);
}

/* ---- CP_UCODE_DBG (H: fw/image/icache.h) ---- */

enum {
    UCODE_WORDS = 0x6000,
    UCODE_TAGS = 0x1000,
    UCODE_TABLE = 0x4000,
    WAYS = 4,
    SETS = 32,
    LINE = 8,
    TAG_VALID = 2 << 20,
};

/* A line into the next free way of its set; later ones are those that ran longer ago. */
static void cache_line(struct coredump *d, uint32_t *words, uint8_t *used, uint32_t line)
{
    uint32_t set = line % SETS;
    uint32_t way = used[set];
    uint32_t tag = TAG_VALID | line / SETS;
    if (way == WAYS || LINE * line >= cps_afuc_image_size(d->machine, 0))
        return;
    for (uint32_t i = 0; i < way; i++) {
        if ((words[UCODE_TAGS + set * WAYS + i] & ~(3u << 18)) == tag)
            return;
    }
    used[set]++;
    words[UCODE_TAGS + set * WAYS + way] = tag | (3 - way) << 18;
    for (uint32_t i = 0; i < LINE; i++)
        words[way * SETS * LINE + set * LINE + i] =
            coredump_value(d, 0, CPS_FILE_CODE, LINE * line + i);
}

/* Which lines hardware would have is not modelled: these are around the program counter, then of
 * the packet's handler and of its callers, then all that lies nearest to it. */
static void fill_cache(struct coredump *d, uint32_t *words)
{
    uint8_t used[SETS] = {0};
    struct cps_where where = cps_engine_where(d->engine, 0);
    uint32_t here = where.pc / LINE;
    struct cps_pm4 packet = cps_pm4_decode(cps_afuc_header(d->machine, 0, 0));
    cache_line(d, words, used, here);
    cache_line(d, words, used, here + 1);
    if (here)
        cache_line(d, words, used, here - 1);
    if (packet.kind == CPS_PM4_TYPE7)
        cache_line(d, words, used, cps_afuc_packet_table(d->machine, 0, packet.opcode) / LINE);
    for (uint32_t i = 0; i < where.depth; i++)
        cache_line(d, words, used, coredump_value(d, 0, CPS_FILE_STACK, i) / LINE);
    for (uint32_t i = 0; i < WAYS * SETS; i++) {
        cache_line(d, words, used, here + i);
        if (here >= i)
            cache_line(d, words, used, here - i);
    }
}

static void put_ucode(struct coredump *d)
{
    enum cps_layout layout = cps_afuc_layout_(d->machine);
    uint32_t *words = calloc(UCODE_WORDS, sizeof(*words));
    if (!words) {
        d->text.failed = true;
        return;
    }
    fill_cache(d, words);
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++)
        words[UCODE_TABLE + id] = cps_afuc_packet_table(d->machine, 0, id);
    for (uint32_t i = 0; i < dump_scratch_count(layout); i++)
        words[UCODE_SCRATCH + i] =
            coredump_value(d, 0, CPS_FILE_CONTROL, dump_scratch_first(layout) + i);
    put_block(d, "CP_UCODE_DBG_DATA", words, UCODE_WORDS);
    free(words);
}

/* Every write reaches its registers at once: the queues are empty. */
static void put_mempool(struct coredump *d)
{
    enum { WORDS = 0x2060, SIZE_AT = 0x2000, BLOCKS = 0x80 };
    static const uint32_t words[WORDS] = {[SIZE_AT] = BLOCKS};
    put_block(d, "CP_MEMPOOL", words, WORDS);
}

void coredump_put_blocks(struct coredump *d)
{
    static const char *const stats[CPS_CPU_COUNT] = {[CPS_CPU_BV] = "CP_BV_SQE_STAT_ADDR",
                                                     [CPS_CPU_LPAC] = "CP_SQE_AC_STAT_ADDR",
                                                     [CPS_CPU_ME] = "CP_ME_STAT"};
    cps_buf_str(&d->text, "indexed-registers:\n");
    put_stat(d, "CP_SQE_STAT", 0);
    put_draw_state(d);
    put_ucode(d);
    put_block(d, "CP_ROQ", d->roq.word, ROQ_WORDS);
    if (d->engine->gen == CPS_A6XX)
        put_mempool(d);
    for (unsigned i = 1; i < d->engine->cores; i++) {
        const char *name = stats[d->engine->who[i]];
        if (name && cps_engine_where(d->engine, i).started)
            put_stat(d, name, i);
    }
}
