/* SPDX-License-Identifier: MIT
 * Registers of the GPU that the replay wrote. Those of clusters have two banks: writes go to the
 * one of the current context, and when the context rolls, the bank that becomes the current one
 * starts as a copy (H: 576 of 590 and 647 of 652 values of two dumps; without the copy 359 and
 * 329). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/run/replay.h"
#include "emu/afuc/afuc.h"

enum { FIRST = 0x8000, COUNT = 0x8000, CONTEXTS = 2 };

struct bank {
    uint32_t value[COUNT];
    bool known[COUNT];
};

/* What stands in the registers of one cluster when it has taken the writes up to one. Contexts of
 * the 2D engine roll by themselves. */
struct banks {
    struct bank bank[CONTEXTS];
    uint32_t state;
    size_t rolled[2]; /* writes from there on are in one bank only: of the rest, of 2D */
};

static bool is_kept(const struct replay_write *write)
{
    return !write->pipe && write->offset >= FIRST && write->offset < FIRST + COUNT;
}

/* The bank that becomes the current one starts as a copy. Two rolls are as good as one back and
 * forth, because the copy makes both equal. */
static void roll(const struct replay *r, struct banks *banks, uint32_t state, bool is_2d,
                 size_t end)
{
    unsigned shift = is_2d ? 12 : 0;
    unsigned from = writes_context(banks->state, is_2d);
    if ((state >> shift & 0xff) == (banks->state >> shift & 0xff))
        return;
    for (size_t i = banks->rolled[is_2d]; i < end; i++) {
        const struct replay_write *write = &r->writes.write[i];
        if (!is_kept(write) || writes_is_2d(write->offset) != is_2d)
            continue;
        uint32_t at = write->offset - FIRST;
        banks->bank[!from].value[at] = banks->bank[from].value[at];
        banks->bank[!from].known[at] = banks->bank[from].known[at];
    }
    banks->rolled[is_2d] = end;
}

static void move_to(const struct replay *r, struct banks *banks, uint32_t state, size_t end)
{
    roll(r, banks, state, false, end);
    roll(r, banks, state, true, end);
    banks->state = state;
}

/* The writes before @p end, and the roll behind them. */
static void fill(const struct replay *r, size_t end, struct banks *banks)
{
    const struct writes *w = &r->writes;
    memset(banks, 0, sizeof(*banks));
    banks->state = (w->count ? w->write[0].state : w->state) ^ r->state_parity;
    for (size_t i = 0; i < end; i++) {
        const struct replay_write *write = &w->write[i];
        move_to(r, banks, write->state ^ r->state_parity, i);
        if (!is_kept(write))
            continue;
        struct bank *bank = &banks->bank[writes_context(banks->state, writes_is_2d(write->offset))];
        bank->value[write->offset - FIRST] = write->value;
        bank->known[write->offset - FIRST] = true;
    }
    move_to(r, banks, (end < w->count ? w->write[end].state : w->state) ^ r->state_parity, end);
}

static const char not_before[] = "a write waits, and what was there before is not known";
static const char no_queues[] = "unknown without the contents of the queues";

/* Differences that are known of the hardware (H: a618, a630). */
static const char *known_reason(uint32_t offset)
{
    static const struct {
        uint32_t offset;
        const char *why;
    } reasons[] = {
        {0x8c22, "the chip lacks bits of it"},
        {0xb986, "the chip lacks bits of it"},
        {0xb821, "the hardware has it of the context before"},
    };
    for (unsigned i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        if (reasons[i].offset == offset)
            return reasons[i].why;
    }
    return NULL;
}

/* Why another value than that of the last write may stand in a bank. */
static enum replay_verdict verdict_of_bank(const struct replay *r, const struct dump_banked *row,
                                           const struct banks *head, const struct banks *end,
                                           const char **why)
{
    uint32_t at = row->offset - FIRST;
    const struct bank *before = &head->bank[row->context];
    const struct bank *other = &end->bank[!row->context];
    bool waits = !before->known[at] || before->value[at] != end->bank[row->context].value[at];
    if (waits && before->known[at] && row->value == before->value[at])
        return REPLAY_IN_FLIGHT;
    if (waits && !before->known[at]) {
        *why = not_before;
        return REPLAY_NO_VALUE;
    }
    if (other->known[at] && row->value == other->value[at])
        return REPLAY_BANK;
    *why = r->pool.known ? known_reason(row->offset) : no_queues;
    return r->pool.known ? REPLAY_DIFFERENT : REPLAY_NO_VALUE;
}

static void compare_banked(struct replay *r, const struct dump_banked *row,
                           const struct banks *head, const struct banks *end)
{
    uint32_t at = row->offset - FIRST;
    const struct bank *bank = &end->bank[row->context];
    const char *why = NULL;
    enum replay_verdict verdict = REPLAY_EQUAL;
    if (row->offset < FIRST || at >= COUNT || !bank->known[at])
        return;
    if (row->value != bank->value[at])
        verdict = verdict_of_bank(r, row, head, end, &why);
    rows_add(&r->rows, REPLAY_BANKS, verdict, row->value, bank->value[at], why,
             "%s.0x%04" PRIx32 ".context%u", dump_cluster_name(row->cluster), row->offset,
             row->context);
}

/* Queues are read at different speeds, so that each cluster stands at another write. */
void compare_banks(struct replay *r)
{
    struct banks *head = malloc(sizeof(*head));
    struct banks *end = malloc(sizeof(*end));
    if (!head || !end) {
        r->rows.failed = true;
    } else {
        fill(r, r->writes.count, end);
        for (unsigned cluster = 0; cluster < DUMP_CLUSTERS; cluster++) {
            fill(r, r->head[cluster], head);
            for (size_t i = 0; i < r->dump->banked_count; i++) {
                if (r->dump->banked[i].cluster == cluster)
                    compare_banked(r, &r->dump->banked[i], head, end);
            }
        }
    }
    free(head);
    free(end);
}

/* The part of the GPU whose queue has a write to the register; DUMP_CLUSTERS: none. */
static unsigned queue_with(const struct replay *r, uint32_t offset)
{
    for (unsigned cluster = 0; cluster < DUMP_CLUSTERS; cluster++) {
        const struct mempool_queue *queue = &r->pool.queue[cluster];
        for (size_t i = 0; i < queue->count; i++) {
            if (!queue->entry[i].pipe && queue->entry[i].offset == offset)
                return cluster;
        }
    }
    return DUMP_CLUSTERS;
}

/* What the register held before the writes that wait in a queue. */
static bool value_before(const struct replay *r, uint32_t offset, size_t head, uint32_t *ret)
{
    for (size_t i = head; i-- > 0;) {
        if (r->writes.write[i].pipe || r->writes.write[i].offset != offset)
            continue;
        *ret = r->writes.write[i].value;
        return true;
    }
    return false;
}

/* Another value than the replay wrote last, through a queue. */
static enum replay_verdict verdict_of_queued(const struct replay *r, uint32_t offset,
                                             uint32_t hardware, const char **why)
{
    uint32_t before = 0;
    unsigned cluster = queue_with(r, offset);
    if (!r->pool.known) {
        *why = no_queues;
        return REPLAY_NO_VALUE;
    }
    if (cluster == DUMP_CLUSTERS)
        return REPLAY_DIFFERENT;
    if (value_before(r, offset, r->head[cluster], &before))
        return hardware == before ? REPLAY_IN_FLIGHT : REPLAY_DIFFERENT;
    *why = not_before;
    return REPLAY_NO_VALUE;
}

static void compare_register(struct replay *r, uint32_t offset, size_t last)
{
    enum { NO_ANSWER = 0xdeadbeef };
    const struct replay_write *write = &r->writes.write[last];
    uint32_t hardware = 0;
    const char *why = NULL;
    enum replay_verdict verdict = REPLAY_EQUAL;
    if (!dump_reg(r->dump, offset, &hardware) || r->dump->clusters[offset])
        return;
    if (hardware == (uint32_t)NO_ANSWER && write->value != hardware) {
        verdict = REPLAY_NO_VALUE;
        why = "it was read through another aperture";
    } else if (hardware != write->value) {
        verdict = write->direct ? REPLAY_DIFFERENT : verdict_of_queued(r, offset, hardware, &why);
    }
    rows_add(&r->rows, REPLAY_REGISTERS, verdict, hardware, write->value, why, "0x%04" PRIx32,
             offset);
}

void compare_registers(struct replay *r)
{
    size_t *last = calloc(DUMP_REGS, sizeof(*last)); /* write + 1 */
    if (!last) {
        r->rows.failed = true;
        return;
    }
    for (size_t i = 0; i < r->writes.count; i++) {
        const struct replay_write *write = &r->writes.write[i];
        if (!write->pipe && write->offset < DUMP_REGS)
            last[write->offset] = i + 1;
    }
    for (uint32_t offset = 0; offset < DUMP_REGS; offset++) {
        if (last[offset])
            compare_register(r, offset, last[offset] - 1);
    }
    free(last);
}

/* ---- CP_DRAW_STATE: 32 groups of 8 dwords (H: base lo and hi, header with the modes; the dwords
 * behind them are of the fetch in progress, and repeat) ---- */

enum { GROUPS = 32, GROUP_WORDS = 8 };

static void compare_group(struct replay *r, const struct dump_block *block, unsigned group)
{
    static const char *const words[] = {"base.lo", "base.hi", "header"};
    struct cps_draw_group here = cps_afuc_draw_group(cps_afuc_of(r->play->engine), 0, group);
    const uint32_t emulated[] = {(uint32_t)here.iova, (uint32_t)(here.iova >> 32), here.header};
    for (unsigned i = 0; i < 3; i++) {
        uint32_t hardware = dump_word(block, (size_t)group * GROUP_WORDS + i);
        bool older = !r->from_boot && !emulated[i];
        enum replay_verdict verdict = !block->count             ? REPLAY_NO_VALUE
                                      : hardware == emulated[i] ? REPLAY_EQUAL
                                      : older                   ? REPLAY_OLDER
                                                                : REPLAY_DIFFERENT;
        const char *why =
            block->count ? NULL : "the dump has no word of the block: zeros, or not read";
        rows_add(&r->rows, REPLAY_DRAW_STATE, verdict, hardware, emulated[i], why, "group%u.%s",
                 group, words[i]);
    }
}

void compare_draw_state(struct replay *r)
{
    const struct dump_block *block = dump_block(r->dump, "CP_DRAW_STATE");
    for (unsigned group = 0; block && group < GROUPS; group++)
        compare_group(r, block, group);
}
