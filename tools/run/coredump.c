/* SPDX-License-Identifier: MIT
 * The hang dump of an engine: head, rings, buffers and registers. */
#include "tools/run/coredump.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emu/afuc/afuc.h"
#include "isa/base/pm4.h"
#include "isa/packet.h"

enum { FLUSH_BYTES = 1 << 16, REGISTERS = 0x40000 };

/* ---- Text ---- */

static void flush(struct coredump *d, size_t most)
{
    if (d->text.failed || d->text.size <= most)
        return;
    cps_outfile_write(d->out, d->text.data, d->text.size);
    cps_buf_clear(&d->text);
}

static void put_group(uint32_t word, struct cps_buf *out)
{
    char group[5];
    for (unsigned i = 5; i-- > 0; word /= 85)
        group[i] = (char)('!' + word % 85);
    cps_buf_add(out, group, sizeof(group));
}

void coredump_put_words(struct coredump *d, const char *indent, const uint32_t *words, size_t count,
                        bool always)
{
    while (count && !words[count - 1])
        count--;
    if (!count && !always)
        return;
    cps_buf_printf(&d->text, "    data: !!ascii85 |\n%s", indent);
    for (size_t i = 0; i < count; i++) {
        if (words[i])
            put_group(words[i], &d->text);
        else
            cps_buf_str(&d->text, "z");
        flush(d, FLUSH_BYTES);
    }
    cps_buf_str(&d->text, count ? "\n" : "z\n");
}

/* What is not ours stays on its line. */
static void put_foreign(struct coredump *d, const char *text, size_t size)
{
    for (size_t i = 0; i < size && text[i]; i++)
        cps_buf_add(&d->text, text[i] >= ' ' && text[i] != 0x7f ? &text[i] : "?", 1);
}

static void put_line(struct coredump *d, const char *key, const char *text)
{
    if (!text)
        return;
    cps_buf_printf(&d->text, "%s: ", key);
    put_foreign(d, text, SIZE_MAX);
    cps_buf_str(&d->text, "\n");
}

static void put_head(struct coredump *d)
{
    const struct coredump_config *c = d->config;
    CPS_BUF policy = {0};
    cps_policy_text(&d->engine->policy, d->engine->gen, &policy);
    d->text.failed |= policy.failed;
    cps_buf_printf(&d->text,
                   "---\nkernel: " COREDUMP_RELEASE "\nmodule: msm\ntime: %" PRId64 ".%09" PRIu32
                   "\n",
                   c->seconds, c->nanoseconds % 1000000000);
    put_line(d, "comm", c->comm);
    put_line(d, "cmdline", c->cmdline);
    put_line(d, "policy", cps_buf_text(&policy));
    if (c->ticks)
        cps_buf_printf(&d->text, "ticks: %" PRIu64 " since dword %" PRIu32 "\n", c->ticks,
                       c->begin);
    put_line(d, "stop", c->stop);
    uint32_t id = c->chip_id;
    cps_buf_printf(&d->text, "revision: %" PRIu32 " (%u.%u.%u.%u)\n", c->gpu_id, id >> 24,
                   id >> 16 & 0xff, id >> 8 & 0xff, id & 0xff);
}

static void put_fault(struct coredump *d)
{
    const struct coredump_fault *fault = d->config->fault;
    if (!fault)
        return;
    cps_buf_printf(&d->text,
                   "fault-info:\n  - ttbr0=%016" PRIx64 "\n  - iova=%016" PRIx64
                   "\n  - dir=%s\n  - type=%s\n  - source=%s\n",
                   fault->ttbr0, fault->iova, fault->is_write ? "WRITE" : "READ",
                   fault->type ? fault->type : "UNKNOWN", fault->source ? fault->source : "CP");
    if (fault->packet)
        cps_buf_printf(&d->text, "  - packet=%08" PRIx32 " iova=%016" PRIx64 " level=%" PRIu32 "\n",
                       fault->header, fault->packet, fault->level);
}

/* ---- Memory ---- */

static bool read_word(struct coredump *d, uint64_t iova, uint32_t *ret)
{
    uint64_t word = 0;
    bool known = cps_engine_get(d->engine, (struct cps_location){0, CPS_FILE_MEMORY, iova}, &word);
    *ret = (uint32_t)word;
    return known;
}

/* Words that retired submissions have read: CP_NOP, and behind them the fence of the last one as a
 * driver asks for it, so that a reader finds where the others begin. */
static void forget_words(const struct coredump_ring *ring, uint32_t *words)
{
    enum { CACHE_FLUSH_TS = 4 };
    const uint32_t fence[] = {cps_pm4_type7(PM4_CP_EVENT_WRITE, 4), CACHE_FLUSH_TS, 0, 0,
                              ring->retired_fence};
    const uint32_t size = sizeof(fence) / sizeof(fence[0]);
    if (!ring->forgets || ring->begin < size || ring->begin > ring->dwords)
        return;
    for (uint32_t i = 0; i < ring->begin - size; i++)
        words[i] = cps_pm4_type7(PM4_CP_NOP, 0);
    memcpy(words + ring->begin - size, fence, sizeof(fence));
}

static void put_ring(struct coredump *d, unsigned id, const struct coredump_ring *ring)
{
    struct cps_position at = cps_afuc_position(d->machine, 0, CPS_LEVEL_RB);
    uint32_t *words = calloc((size_t)ring->dwords + 1, sizeof(*words));
    if (!words) {
        d->text.failed = true;
        return;
    }
    for (uint32_t i = 0; i < ring->dwords; i++)
        read_word(d, ring->iova + 4 * (uint64_t)i, &words[i]);
    forget_words(ring, words);
    /* The read pointer is that of the fetch: words that wait in the ROQ are behind it. */
    bool is_current = ring->iova == at.iova && ring->dwords;
    uint32_t rptr =
        is_current ? (at.consumed + d->roq.waiting[ROQ_RING]) % ring->dwords : ring->wptr;
    cps_buf_printf(&d->text,
                   "  - id: %u\n    iova: 0x%016" PRIx64 "\n    last-fence: %" PRIu32
                   "\n    retired-fence: %" PRIu32 "\n    rptr: %" PRIu32 "\n    wptr: %" PRIu32
                   "\n    size: %" PRIu64 "\n",
                   id, ring->iova, ring->last_fence, ring->retired_fence, rptr, ring->wptr,
                   4 * (uint64_t)ring->dwords);
    coredump_put_words(d, "     ", words, ring->dwords, false);
    free(words);
}

static void put_rings(struct coredump *d)
{
    const struct coredump_config *c = d->config;
    struct cps_position at = cps_afuc_position(d->machine, 0, CPS_LEVEL_RB);
    const struct coredump_ring own = {.iova = at.iova,
                                      .dwords = at.dwords,
                                      .wptr = cps_afuc_ring_end_(d->machine, 0),
                                      .last_fence = 1};
    cps_buf_str(&d->text, "ringbuffer:\n");
    for (unsigned i = 0; i < c->ring_count; i++)
        put_ring(d, i, &c->ring[i]);
    if (!c->ring_count)
        put_ring(d, 0, &own);
}

static void put_buffer_head(struct coredump *d, const struct coredump_buffer *buffer, uint64_t iova,
                            uint64_t size)
{
    enum { NAME_WIDTH = 32 };
    cps_buf_printf(&d->text,
                   "  - iova: 0x%016" PRIx64 "\n    size: %" PRIu64 "\n    flags: 0x%" PRIx32
                   "\n    name: ",
                   iova, size, buffer->flags);
    size_t from = d->text.size;
    if (buffer->name)
        put_foreign(d, buffer->name, buffer->name_size);
    while (!d->text.failed && d->text.size < from + NAME_WIDTH)
        cps_buf_str(&d->text, " ");
    cps_buf_str(&d->text, "\n");
}

/* Appends the words from @p iova on that memory has, up to @p end. */
static bool read_run(struct coredump *d, uint64_t iova, uint64_t end, uint32_t **words,
                     size_t *room, size_t *ret)
{
    uint32_t word = 0;
    *ret = 0;
    while (iova + 4 * (uint64_t)*ret < end && read_word(d, iova + 4 * (uint64_t)*ret, &word)) {
        if (*ret == *room) {
            size_t more = *room ? 2 * *room : 1024;
            uint32_t *grown = realloc(*words, more * sizeof(**words));
            if (!grown)
                return false;
            *words = grown;
            *room = more;
        }
        (*words)[(*ret)++] = word;
    }
    return true;
}

/* Contents that memory only has in part become a buffer for each part: what is missing stays
 * missing. */
static void put_buffer(struct coredump *d, const struct coredump_buffer *buffer)
{
    uint64_t end = buffer->iova + buffer->size / 4 * 4;
    CPS_FREE uint32_t *words = NULL;
    size_t room = 0;
    bool any = false;
    for (uint64_t at = buffer->iova; buffer->dumped && at < end && !d->text.failed;) {
        size_t count = 0;
        if (!read_run(d, at, end, &words, &room, &count)) {
            d->text.failed = true;
            return;
        }
        if (count) {
            bool whole = at == buffer->iova && at + 4 * (uint64_t)count == end;
            put_buffer_head(d, buffer, at, whole ? buffer->size : 4 * (uint64_t)count);
            coredump_put_words(d, "     ", words, count, true);
            any = true;
        }
        at += 4 * (uint64_t)(count + 1);
    }
    if (!any)
        put_buffer_head(d, buffer, buffer->iova, buffer->size);
}

static void put_buffers(struct coredump *d)
{
    struct coredump_buffer buffer = {0};
    const struct coredump_config *c = d->config;
    cps_buf_str(&d->text, "bos:\n");
    for (size_t i = 0; c->buffer && c->buffer(c->context, i, &buffer); i++) {
        put_buffer(d, &buffer);
        flush(d, FLUSH_BYTES);
        buffer = (struct coredump_buffer){0};
    }
}

/* ---- Registers ---- */

/* Registers with a value for each of two contexts (D: the ranges of the kernel's a6xx_gpu_state.h,
 * without their holes). */
static const struct {
    const char *name;
    uint16_t first, last;
} clusters[] = {
    {"CLUSTER_GRAS", 0x8000, 0x85ff},  {"CLUSTER_PS", 0x8800, 0x8dff},
    {"CLUSTER_PC_VS", 0x9100, 0x91ff}, {"CLUSTER_PS", 0x9200, 0x9306},
    {"CLUSTER_FE", 0x9800, 0x9807},    {"CLUSTER_PC_VS", 0x9980, 0x9981},
    {"CLUSTER_FE", 0x9b00, 0x9b07},    {"CLUSTER_FE", 0xa000, 0xa0f8},
    {"CLUSTER_SP_VS", 0xa800, 0xa8ff}, {"CLUSTER_SP_PS", 0xa980, 0xadff},
    {"CLUSTER_SP_PS", 0xb180, 0xb4ff}, {"CLUSTER_SP_VS", 0xb800, 0xb8ff},
    {"CLUSTER_SP_PS", 0xb980, 0xbbff}, {"CLUSTER_SP_PS", 0xbd80, 0xbd80},
};
enum { CLUSTER_COUNT = sizeof(clusters) / sizeof(clusters[0]) };

static unsigned cluster_of(const struct coredump *d, uint32_t offset)
{
    unsigned i = 0;
    while (i < CLUSTER_COUNT && (offset < clusters[i].first || offset > clusters[i].last))
        i++;
    return d->engine->gen == CPS_A6XX ? i : (unsigned)CLUSTER_COUNT;
}

static void put_register(struct coredump *d, const char *indent, uint32_t offset, uint32_t value)
{
    cps_buf_printf(&d->text, "%s- { offset: 0x%06" PRIx32 ", value: 0x%08" PRIx32 " }\n", indent,
                   4 * offset, value);
    flush(d, FLUSH_BYTES);
}

/* What the hardware itself keeps in its registers: the ring, the image, where streams are read. */
struct own_registers {
    uint32_t count;
    struct {
        uint32_t offset, value;
    } row[64];
};

static void add_own(struct own_registers *own, uint32_t offset, uint32_t value)
{
    if (own->count == sizeof(own->row) / sizeof(own->row[0]))
        return;
    own->row[own->count].offset = offset;
    own->row[own->count++].value = value;
}

static void add_own_pair(struct own_registers *own, uint32_t offset, uint64_t value)
{
    add_own(own, offset, (uint32_t)value);
    add_own(own, offset + 1, (uint32_t)(value >> 32));
}

static void find_own(const struct coredump *d, struct own_registers *own)
{
    enum { RB_BASE = 0x800, RB_RPTR = 0x806, RB_WPTR = 0x807, INSTR_BASE = 0x830 };
    const struct roq_registers *at = roq_registers_of(d->engine->gen);
    struct cps_position ring = cps_afuc_position(d->machine, 0, CPS_LEVEL_RB);
    *own = (struct own_registers){0};
    add_own_pair(own, RB_BASE, ring.iova);
    add_own(own, RB_RPTR,
            ring.dwords ? (ring.consumed + d->roq.waiting[ROQ_RING]) % ring.dwords : 0);
    add_own(own, RB_WPTR, cps_afuc_ring_end_(d->machine, 0));
    if (d->engine->gen == CPS_A6XX || d->engine->gen == CPS_A7XX)
        add_own_pair(own, INSTR_BASE, cps_afuc_image_iova(d->machine, 0));
    for (unsigned i = 0; i < ROQ_REGIONS; i++) {
        bool is_ib = i == ROQ_IB1 || i == ROQ_IB2 || i == ROQ_SDS;
        uint32_t waiting = d->roq.waiting[i];
        add_own(own, at->status[i], d->roq.read[i] | d->roq.write[i] << 16);
        add_own(own, at->available[i], (waiting + (is_ib && waiting)) << 16);
    }
    for (unsigned i = 0; i < ROQ_LEVELS; i++) {
        add_own_pair(own, at->base[i], d->roq.fetch[i].iova);
        add_own(own, at->rest[i], d->roq.fetch[i].rest);
        add_own(own, at->dwords[i], d->roq.fetch[i].dwords);
    }
}

static bool is_own(const struct own_registers *own, uint32_t offset, uint32_t *ret)
{
    for (uint32_t i = 0; i < own->count; i++) {
        if (own->row[i].offset != offset)
            continue;
        *ret = own->row[i].value;
        return true;
    }
    return false;
}

static void put_registers(struct coredump *d)
{
    enum { OWN_END = 0xa00 };
    struct own_registers own;
    find_own(d, &own);
    cps_buf_str(&d->text, "registers:\n");
    for (uint32_t offset = 0; offset < REGISTERS; offset++) {
        uint32_t value = 0;
        bool known = offset < OWN_END && is_own(&own, offset, &value);
        if (!known) {
            value = coredump_value(d, 0, CPS_FILE_REGISTER, offset);
            known = value || cps_afuc_reg_written(d->machine, offset);
        }
        if (known && cluster_of(d, offset) == CLUSTER_COUNT)
            put_register(d, "  ", offset, value);
    }
}

/* The engine keeps the values of the current context, which with every roll begins as a copy of the
 * other one. The firmware counts contexts in $13, those of the 2D engine by themselves. */
static void put_clusters(struct coredump *d)
{
    uint32_t state = coredump_value(d, 0, CPS_FILE_GENERAL, 0x13);
    cps_buf_str(&d->text, "clusters:\n");
    for (unsigned i = 0; i < CLUSTER_COUNT; i++) {
        cps_buf_printf(&d->text, "  - cluster-name: %s\n", clusters[i].name);
        for (unsigned context = 0; context < 2; context++) {
            cps_buf_printf(&d->text, "    - context: %u\n", context);
            for (uint32_t at = clusters[i].first; at <= clusters[i].last; at++) {
                if (cps_afuc_reg_written(d->machine, at) && cluster_of(d, at) == i &&
                    writes_context(state, writes_is_2d(at)) == context)
                    put_register(d, "      ", at, coredump_value(d, 0, CPS_FILE_REGISTER, at));
            }
        }
    }
}

/* ---- All of it ---- */

struct cps_err *coredump_write(struct cps_engine *engine, const struct coredump_config *config,
                               struct cps_outfile *out)
{
    struct coredump d = {
        .engine = engine, .machine = cps_afuc_of(engine), .config = config, .out = out};
    if (!d.machine)
        return cps_err_new(CPS_ERR_UNSUPPORTED, "%s leaves no hang dump: only Adreno's do",
                           engine->ops->name);
    coredump_fill_roq(&d);
    put_head(&d);
    put_fault(&d);
    cps_buf_printf(
        &d.text, "rbbm-status: 0x%08" PRIx32 "\n",
        coredump_value(&d, 0, CPS_FILE_REGISTER, engine->gen == CPS_A5XX ? 0x4f5 : 0x210));
    put_rings(&d);
    put_buffers(&d);
    put_registers(&d);
    cps_buf_str(&d.text, "registers-gmu:\n");
    coredump_put_blocks(&d);
    cps_buf_str(&d.text, "shader-blocks:\n");
    put_clusters(&d);
    cps_buf_str(&d.text, "debugbus:\n");
    flush(&d, 0);
    bool failed = d.text.failed;
    cps_buf_deinit(&d.text);
    return failed ? cps_err_nomem() : NULL;
}
