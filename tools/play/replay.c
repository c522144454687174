/* SPDX-License-Identifier: MIT
 * A hardware dump run again. */
#include "tools/play/replay.h"

#include <inttypes.h>
#include <string.h>

#include "trace/capture/pm4.h"

enum { CP_EVENT_WRITE = 0x46, CP_ME_INIT = 0x48, CP_THREAD_CONTROL = 0x17, CACHE_FLUSH_TS = 4 };

/* Registers that the driver sets before the processor starts, and that firmware reads: inputs of
 * the replay, not results (ring, start addresses, CP_PROTECT, access control, thresholds). */
static const struct {
    uint32_t first, last;
} inputs[] = {
    {0x800, 0x805},
    {0x830, 0x831},
    {0x840, 0x87f},
    {0x8c0, 0x8c4},
};

static uint32_t ring_dwords(const struct dump_ring *ring)
{
    return (uint32_t)(ring->size / 4);
}

static uint32_t ring_word(const struct replay *r, uint32_t at)
{
    uint32_t word = 0;
    dump_memory(r->dump, r->ring->iova + 4 * (uint64_t)(at % ring_dwords(r->ring)), &word);
    return word;
}

/* The ring still begins with what the driver sent first, and has not come round. */
static bool begins_with_boot(const struct replay *r)
{
    uint32_t at = 0;
    struct cps_pm4 packet = cps_pm4_decode(ring_word(r, at));
    if (packet.kind == CPS_PM4_TYPE7 && packet.opcode == CP_THREAD_CONTROL)
        packet = cps_pm4_decode(ring_word(r, at += packet.count + 1));
    bool fresh = r->ring->wptr + 1 >= ring_dwords(r->ring) || !ring_word(r, r->ring->wptr);
    return fresh && packet.kind == CPS_PM4_TYPE7 && packet.opcode == CP_ME_INIT;
}

/* Behind the time stamp with which the last retired submission ended; false if the ring does not
 * hold it any more. */
static bool behind_retired(const struct replay *r, uint32_t *ret)
{
    uint32_t size = ring_dwords(r->ring);
    bool found = false;
    for (uint32_t i = 1; i < size; i++) {
        uint32_t at = (r->ring->wptr + i) % size;
        struct cps_pm4 packet = cps_pm4_decode(ring_word(r, at));
        bool stamp = packet.kind == CPS_PM4_TYPE7 && packet.opcode == CP_EVENT_WRITE &&
                     packet.count >= 4 && (ring_word(r, at + 1) & 0x3f) == CACHE_FLUSH_TS &&
                     ring_word(r, at + 4) == r->ring->retired_fence;
        if (!stamp)
            continue;
        *ret = (at + packet.count + 1) % size;
        found = true;
    }
    return found;
}

/* Whether packets from @p at follow each other to exactly the write pointer. */
static bool leads_to_end(const struct replay *r, uint32_t at)
{
    uint32_t size = ring_dwords(r->ring);
    uint32_t left = (r->ring->wptr + size - at) % size;
    while (left) {
        struct cps_pm4 packet = cps_pm4_decode(ring_word(r, at));
        if (packet.kind == CPS_PM4_BAD || packet.count + 1 > left)
            return false;
        left -= packet.count + 1;
        at = (at + packet.count + 1) % size;
    }
    return true;
}

/* The oldest place from which the ring can be read. */
static uint32_t oldest(const struct replay *r)
{
    uint32_t size = ring_dwords(r->ring);
    for (uint32_t i = 1; i < size; i++) {
        if (leads_to_end(r, (r->ring->wptr + i) % size))
            return (r->ring->wptr + i) % size;
    }
    return r->ring->wptr;
}

static void find_start(struct replay *r)
{
    r->from_boot = begins_with_boot(r);
    const char *where = "the boot";
    if (r->from_boot) {
        r->start = 0;
    } else if (behind_retired(r, &r->start)) {
        where = "the end of the last retired submission";
    } else {
        r->start = oldest(r);
        where = "the oldest packet that the ring holds";
    }
    snprintf(r->scope, sizeof(r->scope),
             "ring %" PRIu32 " from dword %" PRIu32 " (%s) to %" PRIu32 ", fence %" PRIu32
             " retired, %" PRIu32 " submitted",
             r->ring->id, r->start, where, r->ring->wptr, r->ring->retired_fence,
             r->ring->last_fence);
}

static struct cps_err *load(struct replay *r)
{
    struct cps_machine *machine = r->rig->machine;
    for (size_t i = 0; i < r->dump->data_count; i++) {
        const struct dump_data *data = &r->dump->data[i];
        CPS_TRY(cps_machine_load(machine, data->iova, data->bytes, data->size));
    }
    for (size_t i = 0; i < sizeof(inputs) / sizeof(inputs[0]); i++) {
        for (uint32_t reg = inputs[i].first; reg <= inputs[i].last; reg++) {
            uint32_t value = 0;
            if (dump_reg(r->dump, reg, &value))
                cps_machine_set_reg(machine, reg, value);
        }
    }
    return NULL;
}

static bool tables_equal(const struct replay *r)
{
    const uint32_t *table = dump_table(r->dump);
    for (unsigned id = 0; table && id < 128; id++) {
        if (table[id] != cps_machine_packet_table(r->rig->machine, 0, id))
            return false;
    }
    return table != NULL;
}

/* Without the boot in the ring, our own stands in for the part of the history that is missing. */
static void boot(struct replay *r)
{
    struct rig *rig = r->rig;
    if (!r->from_boot) {
        rig_boot(rig);
    } else {
        rig_watch(rig);
        rig->stop = cps_machine_run(rig->machine, rig->opt->limit);
    }
    rig->stopped = rig->stop != CPS_STOP_IDLE;
}

static uint64_t missing_streams(const struct rig *rig)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < rig->place_count; i++)
        count += rig->place[i].place == CPS_PLACE_STREAM ? rig->place[i].count : 0;
    return count;
}

static struct cps_err *begin(struct replay *r, bool muted)
{
    r->rig->muted = muted;
    CPS_TRY(rig_restart(r->rig));
    CPS_TRY(load(r));
    boot(r);
    cps_machine_set_ring(r->rig->machine, r->ring->iova, ring_dwords(r->ring), r->start,
                         r->ring->wptr);
    return NULL;
}

static void run(struct replay *r, uint64_t budget)
{
    if (!r->rig->stopped)
        r->rig->stop = cps_machine_run(r->rig->machine, budget);
}

/* The emulated processor is in the packet that the hardware was in: the same header, at the same
 * level, at a place of its stream from which the hardware can have read what it has read. */
static bool at_hang(const struct replay *r)
{
    const struct dump_block *stat = dump_block(r->dump, "CP_SQE_STAT");
    const struct cps_machine *machine = r->rig->machine;
    uint32_t header = cps_machine_header(machine, 0, 0);
    uint32_t level = cps_machine_level(machine, 0) & 7;
    struct dump_position hardware;
    if (header != dump_word(stat, 0x24) || level != (dump_word(stat, 0x28) & 7) ||
        !dump_position(r->dump, r->ring, level, &hardware))
        return false;
    struct cps_position here = cps_machine_position(machine, 0, level);
    uint32_t end = here.consumed + cps_machine_gpr(machine, 0, 0x1c);
    return (level == 0 || here.iova == hardware.iova) && here.consumed <= hardware.consumed &&
           hardware.consumed <= end + 1;
}

/* Step by step to that packet, and on to the hardware's program counter where the firmware is the
 * same; gives up where the packet ends. */
static void step_to_hang(struct replay *r)
{
    const struct cps_machine *machine = r->rig->machine;
    uint32_t pc = dump_word(dump_block(r->dump, "CP_SQE_STAT"), 0);
    uint64_t left = r->rig->opt->limit;
    for (run(r, 1); left && r->rig->stop == CPS_STOP_BUDGET && !at_hang(r); left--)
        run(r, 1);
    uint64_t packets = cps_machine_stats(machine)->packets;
    while (left-- && r->same_firmware && r->rig->stop == CPS_STOP_BUDGET &&
           cps_machine_pc(machine, 0) != pc && cps_machine_stats(machine)->packets == packets)
        run(r, 1);
}

/* A hang that the firmware caused itself (a packet it refuses) is where a whole run ends. One that
 * waits for the rest of the GPU is not: that one is looked for packet by packet. */
struct cps_err *replay_run(struct replay *r)
{
    r->ring = dump_hung_ring(r->dump);
    if (!r->ring || r->ring->size < 64)
        return cps_err_new(CPS_ERR_INPUT, "the dump holds no ring, expected one to replay");
    find_start(r);
    r->rig->extra = 1u << CPS_EV_STEP | 1u << CPS_EV_STEPX; /* which registers are written */
    CPS_TRY(begin(r, true));
    r->same_firmware = tables_equal(r);
    run(r, r->rig->opt->limit);
    bool whole = r->rig->stop != CPS_STOP_IDLE || !dump_block(r->dump, "CP_SQE_STAT");
    CPS_TRY(begin(r, false));
    if (whole)
        run(r, r->rig->opt->limit);
    else
        step_to_hang(r);
    r->written = cps_machine_written(r->rig->machine, 0);
    r->missing = missing_streams(r->rig);
    r->rig->stopped = r->rig->stop != CPS_STOP_IDLE;
    cps_machine_end(r->rig->machine, r->rig->stop);
    replay_compare(r);
    return NULL;
}
