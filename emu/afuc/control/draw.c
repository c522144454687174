/* SPDX-License-Identifier: MIT
 * Draw-state groups: set by CP_SET_DRAW_STATE. On a6xx the firmware queues them one by one and
 * reads them at the draw-state level (F: 6ee 0c28..0c86); on a7xx the hardware makes that choice
 * itself (F: 740 0269..028c); on a5xx the PFP sends them to the ME's side stream (F: a530 PFP
 * 09f1). */
#include "emu/afuc/control/control.h"
#include "emu/afuc/queue/queue.h"

enum { HDR_DIRTY = 1u << 16, HDR_DISABLE = 1u << 17, HDR_DISABLE_ALL = 1u << 18 };

static void disable(struct afuc_state *s, uint32_t groups)
{
    s->group_active &= ~groups;
    s->groups_loaded &= ~groups;
}

/* 15:0 dwords, 16 dirty, 17 disable, 18 disable all, 22:20 modes, 28:24 group. The header register
 * of the group shows dwords and, at 18:16, the modes, which a disabled group keeps (H: dumps of
 * CP_DRAW_STATE have 0x00070000). D: a dirty group is executed even if the same words were before.
 * D: a header that disables all groups sets none, whatever its count says (Mesa's cffdec.c reads on
 * after it). */
void draw_set_group_(struct afuc_core *core, uint32_t header, const uint32_t *base)
{
    struct afuc_state *s = &core->s;
    uint32_t number = header >> 24 & 31;
    struct group *group = &s->group[number];
    if (header & HDR_DISABLE_ALL)
        disable(s, ~0u);
    group->hdr = (header >> 20 & 7) << 16;
    if ((header & (HDR_DISABLE | HDR_DISABLE_ALL)) || !(header & 0xffff)) {
        disable(s, 1u << number);
        return;
    }
    if (header & HDR_DIRTY)
        s->groups_loaded &= ~(1u << number);
    group->base[0] = base[0];
    group->base[1] = base[1];
    group->hdr |= header & 0xffff;
    s->group_active |= 1u << number;
}

uint32_t draw_queued_mask_(const struct afuc_core *core)
{
    const struct queue *queue = &core->s.queue[LEVEL_SDS];
    uint32_t mask = 0;
    for (uint32_t i = 0; i < queue->count; i++)
        mask |= 1u << queue->fetch[(queue->head + i) % QUEUE_DEPTH].group;
    return mask;
}

/* What 6ee does in code (0d11..0d51): nothing if the same words were executed already, only the
 * appended part if the group grew, all of it otherwise. I: that the hardware of a7xx does the same.
 * Returns how many words are to be skipped. */
static uint32_t words_done(struct afuc_state *s, uint32_t number)
{
    struct group *group = &s->group[number];
    uint32_t dwords = group->hdr & 0xffff;
    bool same = (s->groups_loaded >> number & 1) && group->base[0] == group->sds_base[0] &&
                group->base[1] == group->sds_base[1];
    uint32_t skip = same && dwords >= group->sds_dwords ? group->sds_dwords : 0;
    group->sds_base[0] = group->base[0];
    group->sds_base[1] = group->base[1];
    group->sds_dwords = dwords;
    s->groups_loaded |= 1u << number;
    return skip;
}

/* Whether hardware itself leaves out what ran before. F: 6ee does not compare where CHIP_ID & 0xe4;
 * the code of a650 (0106) and of a702 only writes 0x050, and yet keeps each group's SDS base over a
 * switch (a650 156d) and clears it with the groups (096b). I: that it is so on all chips of bits
 * 31:28. */
static bool compares(const struct afuc_core *core)
{
    return afuc_control_get_(core, CTL_CHIP_ID) & 0xf00000e4;
}

void draw_execute_group_(struct afuc_core *core, uint32_t value)
{
    struct afuc_state *s = &core->s;
    uint32_t number = value % GROUP_COUNT;
    const struct group *group = &s->group[number];
    uint64_t iova = (uint64_t)group->base[1] << 32 | group->base[0];
    uint32_t dwords = group->hdr & 0xffff;
    uint32_t skip = compares(core) ? words_done(s, number) : 0;
    s->groups_loaded |= 1u << number;
    struct fetch fetch = {iova + 4 * (uint64_t)skip, dwords - skip, number};
    if (fetch.dwords && !stream_queue_(core, LEVEL_SDS, fetch))
        afuc_fault_(core, FAULT_QUEUE, number);
}

/* A DDE counts the ends of all active groups, so those without words have one too (F: gen80000
 * 05b7 counts them, its DDE 00d0 waits for as many). */
static bool select_words(struct afuc_core *core, uint32_t number, uint32_t mode,
                         struct afuc_core *reader)
{
    struct group *group = &core->s.group[number];
    uint64_t iova = (uint64_t)group->base[1] << 32 | group->base[0];
    uint32_t dwords = group->hdr & 0xffff;
    bool wanted = group->hdr >> 16 & mode;
    uint32_t skip = wanted ? words_done(&core->s, number) : dwords;
    struct fetch fetch = {iova + 4 * (uint64_t)skip, dwords - skip, number};
    if (!fetch.dwords && reader == core)
        return true;
    return stream_queue_(reader, LEVEL_SDS, fetch);
}

void draw_start_(struct afuc_core *core, uint32_t mode, bool to_dde)
{
    struct afuc_state *s = &core->s;
    struct afuc_core *reader = to_dde && core->dde ? core->dde : core;
    for (uint32_t number = 0; number < GROUP_COUNT; number++) {
        if ((s->group_active >> number & 1) && !select_words(core, number, mode, reader))
            afuc_fault_(core, FAULT_QUEUE, number);
    }
    s->group_active = 0;
}

void draw_group_word_(struct afuc_core *core, uint32_t value, bool first)
{
    struct afuc_state *s = &core->s;
    if (first)
        s->group_word_count = 0;
    s->group_words[s->group_word_count++] = value;
    if (s->group_word_count < 3)
        return;
    draw_set_group_(core, s->group_words[0], s->group_words + 1);
    s->group_word_count = 0;
}

/* Packets of which a size of 0 means that the binning pass has not written it yet: the firmware
 * then jumps to itself for ever (F: gen70900 181 072e..0731, 740 158 0610..0613, gen80000 077
 * 0881..0884). */
static const struct size_packet {
    uint32_t gens;
    uint8_t opcode;
} size_packets[] = {
#define SINCE_A7XX (CPS_GEN_BIT(A7XX) | CPS_GEN_BIT(A8XX))
    {SINCE_A7XX, 0x2e}, /* CP_SET_BIN_DATA5_OFFSET */
    {SINCE_A7XX, 0x2f}, /* CP_SET_BIN_DATA5 */
};

void draw_assume_size_(struct afuc_core *core, uint64_t iova)
{
    enum { SMALLEST = 4 }; /* bytes: a stream of one word */
    struct cps_mem *mem = core->machine->engine.mem;
    uint32_t bit = cps_gen_bit(core->machine->engine.gen);
    const struct size_packet *packet = size_packets;
    const struct size_packet *end = packet + sizeof(size_packets) / sizeof(*packet);
    while (packet < end && (packet->opcode != core->s.id || !(packet->gens & bit)))
        packet++;
    if (CPS_LIKELY(packet == end) || core->s.interrupted || cps_mem_read(mem, iova, NULL))
        return;
    core_event_(core, CPS_EV_ASSUME, CPS_WHAT_VISIBILITY, iova, SMALLEST);
    if (!cps_mem_write(mem, iova, SMALLEST))
        afuc_fault_(core, FAULT_MEMORY, (uint32_t)iova);
    stream_recheck_(core);
}
