/* SPDX-License-Identifier: MIT
 * What hardware holds of a context, as the preemption routine reads it and writes it back. Numbers
 * are of 6ee; the rows have those of the other layouts. */
#include "emu/afuc/control/control.h"
#include "emu/afuc/queue/queue.h"

/* ---- streams ---- */

/* A level at which nothing is queued shows the address that was written last (F: 1ac7 pops all that
 * is queued, and 1c96 puts the address after that back). */
uint32_t control_read_POSITION(const struct cps_access *at)
{
    const struct afuc_state *s = &core_of_(at)->s;
    unsigned which = at->index / 4;
    const struct queue *queue = &s->queue[LEVEL_IB1 + which];
    const uint32_t *written = s->preempt.ib_base[which % 3];
    const struct fetch *fetch = &queue->fetch[queue->head];
    const uint32_t idle[4] = {written[0], written[1], 0, 0};
    const uint32_t words[4] = {(uint32_t)fetch->iova, (uint32_t)(fetch->iova >> 32), fetch->dwords,
                               queue->pos};
    return (queue->count ? words : idle)[at->index % 4];
}

uint32_t control_read_GROUP_AT(const struct cps_access *at)
{
    const struct queue *queue = &core_of_(at)->s.queue[LEVEL_SDS];
    return queue->count ? queue->pos : 0;
}

/* Up to 15 stand in the ROQ, and those after them wait. */
static uint32_t in_roq(const struct afuc_core *core, unsigned ib)
{
    uint32_t count = core->s.queue[LEVEL_IB1 + ib].count;
    return count < 15 ? count : 15;
}

static uint32_t behind_roq(const struct afuc_core *core, unsigned ib)
{
    uint32_t count = core->s.queue[LEVEL_IB1 + ib].count - in_roq(core, ib);
    return count < 15 ? count : 15;
}

/* 1:0 words at this level, 2 words in $memdata (F: 1c14, 1e47). */
static uint32_t words_wait(struct afuc_core *core)
{
    return (stream_has_(core, 1) ? 3u : 0) | (uint32_t)(core->s.memdata.count != 0) << 2;
}

static uint32_t reads_behind(const struct afuc_core *core)
{
    uint32_t count = core->s.memdata.request_count;
    return count ? count - 1 : 0;
}

/* Of IB1 and IB2 the fetches in the ROQ in 31:24 and those after in 11:4; 19:16 the memory reads
 * after the first (F: 1ad0..1ad8, 1b0c). */
uint32_t saved_fetches_(struct afuc_core *core)
{
    uint32_t status = words_wait(core) | reads_behind(core) << 16;
    for (unsigned i = 0; i < 2; i++)
        status |= in_roq(core, i) << (24 + 4 * i) | behind_roq(core, i) << (4 + 4 * i);
    return status;
}

uint32_t saved_fetches_a7xx_(struct afuc_core *core)
{
    uint32_t status = words_wait(core) | reads_behind(core) << 20;
    for (unsigned i = 0; i < 3; i++)
        status |= behind_roq(core, i) << (4 + 4 * i);
    return status;
}

uint32_t control_read_FIRST(const struct cps_access *at)
{
    uint32_t first = 0;
    for (unsigned i = 0; i < 3; i++)
        first |= in_roq(core_of_(at), i) << 4 * i;
    return first;
}

/* 1 the whole fetch, 2 what is left of it, 3 nothing is (F: 1c75..1c83). */
void saved_restore_fetch_(struct afuc_core *core, enum level level, uint64_t iova, uint32_t value)
{
    struct queue *queue = &core->s.queue[level];
    uint32_t dwords = value & 0xfffff;
    uint32_t part = value >> 24 & 3;
    if (part == 2 && queue->count) {
        queue->pos = queue->fetch[queue->head].dwords - dwords;
        core->window_left = 0;
        return;
    }
    queue_clear_(core, level);
    if (part == 1)
        queue_push_(queue, iova, dwords, 0);
}

/* 1 the whole request, which was saved for the second time the context is saved; 2 what is left of
 * it (F: 1e5b..1e68). */
uint32_t saved_restore_read_(uint32_t value)
{
    return (value >> 24 & 3) == 1 ? 0 : value & 0xfffff;
}

static void next_fetch(struct afuc_core *core, enum level level)
{
    struct queue *queue = &core->s.queue[level];
    core->window_left = 0;
    if (!queue->count)
        return;
    queue->head = (queue->head + 1) % QUEUE_DEPTH;
    queue->count--;
    queue->pos = 0;
}

static void next_read(struct fifo *fifo)
{
    if (!fifo->request_count)
        return;
    fifo->request_count--;
    for (uint32_t i = 0; i < fifo->request_count; i++)
        fifo->request[i] = fifo->request[i + 1];
}

/* F: 1ae1, 1b11: bit by queue as in QUEUE_STOP; a7xx has an IB3. */
void control_write_NEXT(const struct cps_access *at)
{
    struct afuc_core *core = core_of_(at);
    unsigned levels = cps_gen_since(core->machine->engine.gen, CPS_A7XX) ? 3 : 2;
    for (unsigned i = 0; i < levels; i++) {
        if (at->value >> (1 + i) & 1)
            next_fetch(core, LEVEL_IB1 + i);
    }
    if (at->value >> (2 + levels) & 1)
        next_read(&core->s.memdata);
}

/* What has not arrived: address, dwords; here nothing remembers how long the request was. */
uint32_t saved_read_mrb_(const struct cps_access *at)
{
    const struct afuc_core *core = core_of_(at);
    const struct fifo *fifo = &core->s.memdata;
    const uint32_t *written = core->s.preempt.read_base;
    bool any = fifo->request_count != 0;
    switch (at->number) {
    case 0x931:
        return any ? (uint32_t)fifo->request[0].iova : written[0];
    case 0x932:
        return any ? (uint32_t)(fifo->request[0].iova >> 32) : written[1];
    case 0x94c:
        return fifo->count << 16;
    default:
        return any ? fifo->request[0].dwords : 0;
    }
}

/* ---- draw-state groups ---- */

static void queue_group(struct afuc_core *core, uint32_t number, uint32_t consumed)
{
    const struct group *group = &core->s.group[number];
    uint64_t iova = (uint64_t)group->base[1] << 32 | group->base[0];
    uint32_t dwords = group->hdr & 0xffff;
    queue_push_(&core->s.queue[LEVEL_SDS], iova - 4 * (uint64_t)consumed, dwords + consumed,
                number);
}

/* The routine writes the mask of groups that were queued, and makes the first of them begin after
 * the words that were consumed; the write of 0 starts the fetches (F: 1bf0, 1bfb..1c11). */
void control_write_GROUPS(const struct cps_access *at)
{
    struct afuc_core *core = core_of_(at);
    uint32_t *mask = &core->s.preempt.groups;
    uint32_t consumed = core->s.preempt.consumed;
    if (!core->s.interrupted || at->value)
        return;
    for (uint32_t number = 0; *mask && number < GROUP_COUNT; number++) {
        if (!(*mask >> number & 1))
            continue;
        struct queue *queue = &core->s.queue[LEVEL_SDS];
        bool first = !queue->count;
        queue_group(core, number, first ? consumed : 0);
        queue->pos = first ? consumed : queue->pos;
    }
    *mask = 0;
    core->window_left = 0;
}

/* On a7xx hardware chooses groups, and the routine asks it what it has not done: here all that is
 * left is one operation. */
enum { OP_GROUPS = 1, OPS_ONE = 1 << 20 };

uint32_t control_read_OPS(const struct cps_access *at)
{
    struct afuc_core *core = core_of_(at);
    if (!core->s.interrupted)
        return core->s.control[at->number];
    return core->s.queue[LEVEL_SDS].count ? OP_GROUPS | OPS_ONE : 0;
}

uint32_t control_read_SLOT(const struct cps_access *at)
{
    struct afuc_core *core = core_of_(at);
    core_event_(core, CPS_EV_ASSUME, CPS_WHAT_ACK, at->number, core->s.preempt.slot);
    return core->s.preempt.slot;
}

void control_write_RESET_D(const struct cps_access *at)
{
    if (at->value >> 2 & 1)
        core_of_(at)->s.preempt.slot = 0;
}

/* A group that grew has only its new part queued, which the mask does not say. */
uint32_t control_read_OP_MASK(const struct cps_access *at)
{
    struct afuc_core *core = core_of_(at);
    const struct queue *queue = &core->s.queue[LEVEL_SDS];
    uint32_t mask = 0;
    if (!core->s.interrupted || core->s.preempt.slot & 3)
        return core->s.interrupted ? 0 : core->s.control[at->number];
    for (uint32_t i = 0; i < queue->count; i++) {
        const struct fetch *fetch = &queue->fetch[(queue->head + i) % QUEUE_DEPTH];
        if (fetch->dwords != (core->s.group[fetch->group].hdr & 0xffff))
            core_event_(core, CPS_EV_UNMODELLED, CPS_PLACE_CONTROL, at->number, fetch->group);
        mask |= 1u << fetch->group;
    }
    return mask;
}

void saved_resume_groups_(struct afuc_core *core)
{
    for (uint32_t number = 0; number < GROUP_COUNT; number++) {
        if (core->s.group_active >> number & 1)
            queue_group(core, number, 0);
    }
    core->window_left = 0;
}

/* ---- words that the processor itself holds ---- */

/* 31 a read is under way: never here; 30 none is; 29 bit 16 of REG_READ_DWORDS, whose others are
 * 15:0; 23:20 words in $regdata, 19:16 the same with those consumed (F: 1a82..1aa1, 1c35..1c5b). */
uint32_t control_read_STATUS(const struct cps_access *at)
{
    struct afuc_core *core = core_of_(at);
    uint32_t dwords = core->s.read_dwords;
    uint32_t words = core->s.regdata.count;
    if (words > 15)
        core_event_(core, CPS_EV_UNMODELLED, CPS_PLACE_CONTROL, at->number, words);
    words &= 15;
    return 1u << 30 | (dwords >> 16 & 1) << 29 | words << 20 | words << 16 | (dwords & 0xffff);
}

void control_write_REGDATA(const struct cps_access *at)
{
    fifo_put_register_(core_of_(at), at->value, at->number);
}

/* 2 $addr, 1 what was written last; bit 22 of the first says that both are $addr (F: 1d69..1d70).
 */
enum { SELECTED_LAST = 1, SELECTED_ADDR = 2, IS_ADDR = 1u << 22 };

uint32_t control_read_SELECTED(const struct cps_access *at)
{
    const struct afuc_state *s = &core_of_(at)->s;
    uint32_t which = s->preempt.selected;
    if (which == SELECTED_ADDR)
        return s->user_selected ? s->addr & ~(uint32_t)IS_ADDR : s->addr | IS_ADDR;
    return which == SELECTED_LAST && s->user_selected ? s->usraddr : which ? s->addr : 0;
}

bool saved_quiet_(const struct afuc_core *core)
{
    return core->s.interrupted && core->s.preempt.selected;
}

bool saved_unit_(const struct afuc_core *core)
{
    return core->s.preempt.aperture >> 16 & 1;
}

/* Register 1 has bit 0 set when the command in register 0 is done (F: 740 20df). */
uint32_t saved_unit_read_(uint32_t offset)
{
    return offset == 1;
}

/* Commands to one of the units that feed the clusters: none of them holds anything back here. */
void saved_unit_write_(struct afuc_core *core, uint32_t offset, uint32_t value)
{
    uint32_t unit = core->s.preempt.aperture >> 20 & 31;
    core_event_(core, CPS_EV_ASSUME, CPS_WHAT_ACK, (uint64_t)unit << 32 | offset, value);
}

bool saved_captures_nrt_(const struct afuc_core *core)
{
    return core->s.interrupted && core->s.preempt.queues >> 3 & 1;
}

/* 7:0 not 0; 12, 9, 8 the low two bits of the address, which are flags: 1, 3, 2 (F: 17be..17c8,
 * 1cd9..1ce1). */
uint32_t saved_captured_(const struct afuc_core *core, uint32_t word)
{
    static const uint32_t kinds[4] = {0, 1u << 12, 1u << 8, 1u << 9};
    const uint32_t *nrt = core->s.nrt;
    switch (word) {
    case 0:
        return saved_captures_nrt_(core) ? kinds[nrt[0] & 3] | 1 : 0;
    case 1:
        return nrt[0] & ~3u;
    case 2:
        return nrt[1];
    default:
        return 0;
    }
}

/* ---- other units ---- */

uint32_t control_read_READY(const struct cps_access *at)
{
    return core_of_(at)->s.control[at->number] | 1;
}

uint32_t control_read_RESOURCES(const struct cps_access *at)
{
    core_event_(core_of_(at), CPS_EV_ASSUME, CPS_WHAT_ACK, at->number, 2u << 1);
    return 2u << 1;
}

uint32_t control_read_HALT(const struct cps_access *at)
{
    uint32_t value = core_of_(at)->s.control[at->number] & 1;
    return value | value << 1;
}

/* Bit 8 falls when the other units have done what 7:0 says, bit 9 says that they could not (F:
 * 12c8, 12d1): done at once here. */
uint32_t control_read_COMMAND(const struct cps_access *at)
{
    return core_of_(at)->s.control[at->number] & ~0x300u;
}

/* Commands that move the state of other units from or to memory. Here it stays where it is. */
void control_write_COMMAND(const struct cps_access *at)
{
    if (at->value >> 8 & 1)
        core_event_(core_of_(at), CPS_EV_ASSUME, CPS_WHAT_ACK, at->number, at->value);
}
