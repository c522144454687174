/* SPDX-License-Identifier: MIT
 * Rings, and what the driver does to switch between them (D: the kernel's a6xx_preempt.c and
 * a7xx_submit()): a record for each, their addresses as pseudo registers, marks around the streams
 * that say where the firmware may stop, and the request.
 *
 * A device asks by cps_afuc_switch() for a ring that it has given a submission. An injection asks
 * for one that holds its pseudo registers and CP_CONTEXT_SWITCH_YIELD, which is how the driver ends
 * every submission: a ring without work. Then the driver switches back as soon as all processors
 * wait. */
#include "emu/afuc/control/control.h"

#include "isa/base/pm4.h"

/* From the default address of the ring of the run; LPAC_RING is between them. */
static const uint64_t other_rings[CPS_AFUC_RINGS - 1] = {
    UINT64_C(0x0001fffff8100000), UINT64_C(0x0001fffff8300000), UINT64_C(0x0001fffff8400000)};
/* A record reaches 4192 KiB (D); between those of rings 2 and 3 is CPS_AFUC_KERNEL. */
static const uint64_t records[CPS_AFUC_RINGS] = {
    UINT64_C(0x0001fffff9000000), UINT64_C(0x0001fffffa000000), UINT64_C(0x0001fffffb000000),
    UINT64_C(0x0001fffffd000000)};
/* In a record: what the driver calls secure, non-privileged and the shadow of the read pointer;
 * what units keep; and its page table. */
enum {
    SECURE = 0x500000,
    NON_PRIVILEGED = 0xa00000,
    UNITS = 0xd00000,
    SHADOW = 0xf00000,
    TABLE = 0xf80000
};

#define RECORD_MAGIC 0xae399d6eu
enum {
    RECORD_CNTL = 0x10,
    RECORD_RPTR = 0x14,
    RECORD_WPTR = 0x18,
    RECORD_RPTR_ADDR = 0x20,
    RECORD_RBASE = 0x28,
    RECORD_WORDS = 0x40000 / 4, /* so many are 0 at first */
};

enum {
    RB_BASE = 0x800,
    RB_CNTL = 0x802,
    RB_RPTR_WR = 0x803,
    RB_RPTR_ADDR = 0x804,
    RB_RPTR = 0x806
};
enum { SMMU_INFO = 1, RESTORE_ADDR = 3, SECURE_RESTORE_ADDR = 5, NON_PRIV_RESTORE_ADDR = 7 };
/* Level 1, the streams use GMEM, go. D: the kernel sets bit 9 too, by which the firmware waits for
 * the end of a pass, where there is less to save; here it is to save wherever it is. */
enum { SWITCH = 1 << 6 | 1 << 8 | 1 };

/* D: struct a7xx_cp_smmu_info; F: the routine loads it from there (6ee 1592..159d, 740 1f0c). */
#define TABLE_MAGIC 0x241350d5u
enum { TABLE_TTBR0 = 8, TABLE_WORDS = 8 };

enum { IB1LIST_START = 0xd, IB1LIST_END = 0xe };

static bool put_words(struct cps_afuc *machine, uint64_t ring, uint32_t dwords, uint32_t *wptr,
                      const uint32_t *words, unsigned count)
{
    bool stored = true;
    cps_mem_keep(machine->engine.mem, true);
    for (unsigned i = 0; i < count; i++) {
        stored = cps_mem_write(machine->engine.mem, ring + 4 * (uint64_t)*wptr, words[i]) && stored;
        *wptr = (*wptr + 1) % dwords;
    }
    cps_mem_keep(machine->engine.mem, false);
    return stored;
}

bool machine_ring_(struct cps_afuc *machine, const uint32_t *words, unsigned count)
{
    struct rings *rings = &machine->rings;
    if (rings->fed == rings->current)
        return put_words(machine, machine->ring_iova, machine->ring_dwords, &machine->ring_wptr,
                         words, count);
    return put_words(machine, other_rings[rings->fed - 1], machine->ring_dwords,
                     &rings->ring[rings->fed].wptr, words, count);
}

/* All words of a ring that is not current were read before the firmware left it, but for what the
 * driver has added since. */
uint32_t machine_ring_room_(const struct cps_afuc *machine)
{
    const struct rings *rings = &machine->rings;
    uint32_t size = machine->ring_dwords;
    uint32_t room = size - 1;
    if (rings->fed != rings->current)
        return room - (rings->ring[rings->fed].wptr + size - rings->ring[rings->fed].begin) % size;
    for (unsigned i = 0; i < machine->engine.cores; i++) {
        const struct afuc_core *core = &machine->core[i];
        bool reads =
            core->who == CPS_CPU_SQE || core->who == CPS_CPU_PFP || core->who == CPS_CPU_BV;
        uint32_t used = machine->ring_wptr + size - core->s.queue[LEVEL_RB].pos;
        uint32_t left = size - 1 - used % size;
        room = reads && core->s.started && left < room ? left : room;
    }
    return room;
}

bool machine_ring_lpac_(struct cps_afuc *machine, const uint32_t *words, unsigned count)
{
    return put_words(machine, LPAC_RING, RING_DWORDS, &machine->lpac_wptr, words, count);
}

/* Buffer size as log2 of quadwords, block size of 4 of them (D). */
static uint32_t ring_control(uint32_t dwords)
{
    uint32_t bits = 0;
    while (2u << bits < dwords)
        bits++;
    return bits | 2u << 8;
}

static void store(struct cps_afuc *machine, uint64_t iova, uint32_t value)
{
    if (!cps_mem_write(machine->engine.mem, iova, value))
        cps_mem_fail(machine->engine.mem);
}

static void store_record(struct cps_afuc *machine, uint32_t ring, uint64_t iova, uint32_t wptr)
{
    uint64_t record = records[ring];
    for (uint32_t i = 0; i < RECORD_WORDS; i++)
        store(machine, record + 4 * (uint64_t)i, 0);
    store(machine, record, RECORD_MAGIC);
    store(machine, record + RECORD_CNTL, ring_control(machine->ring_dwords));
    store(machine, record + RECORD_WPTR, wptr);
    store(machine, record + RECORD_RPTR_ADDR, (uint32_t)(record + SHADOW));
    store(machine, record + RECORD_RPTR_ADDR + 4, (uint32_t)(record >> 32));
    store(machine, record + RECORD_RBASE, (uint32_t)iova);
    store(machine, record + RECORD_RBASE + 4, (uint32_t)(iova >> 32));
}

/* SMMU, record, secure record, non-privileged record, counters; 0: there is none. */
void rings_save_words_(const struct cps_afuc *machine, uint32_t ret[RINGS_BEGIN_WORDS])
{
    uint64_t record = records[machine->rings.fed];
    const uint64_t address[5] = {0, record, record + SECURE, record + NON_PRIVILEGED, 0};
    *ret++ = cps_pm4_type7(0x56, RINGS_BEGIN_WORDS - 1);
    for (uint32_t i = 0; i < 5; i++) {
        *ret++ = i;
        *ret++ = (uint32_t)address[i];
        *ret++ = (uint32_t)(address[i] >> 32);
    }
}

/* Nothing is to be written, and no interrupt is to be raised. */
void rings_yield_words_(uint32_t ret[RINGS_YIELD_WORDS])
{
    const uint32_t words[RINGS_YIELD_WORDS] = {cps_pm4_type7(0x6b, 4), 0, 0, 1, 0};
    for (unsigned i = 0; i < RINGS_YIELD_WORDS; i++)
        ret[i] = words[i];
}

/* Images whose routine for preemption runs to its end on this model (V: tests/device/native.py and
 * tests/corpus/corpus_sweep.c, each by its id in the first word). Not gen70900 before 181: BV of a
 * ring that is taken up for the second time finds a word too many in $memdata (175 BV 1c43). Not
 * a702: it goes away only where PREEMPT_TRIGGER is set (049 0d16), so a job that waits stays. */
static bool can_switch(const struct cps_afuc *machine)
{
    enum { GEN70900 = 0x520, FIRST_OF_GEN70900 = 0x181 };
    static const uint16_t ids[] = {0x6ee, 0x6dd,    0x6dc, 0x710, 0x730,
                                   0x740, GEN70900, 0x512, 0x310, 0x200};
    uint32_t id = machine_id_(machine);
    bool known = false;
    for (unsigned i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
        known |= id == ids[i];
    return known && (id != GEN70900 || (machine->words[0] & 0xfff) >= FIRST_OF_GEN70900);
}

/* Whether the policies say that the driver prepares for switches. */
static bool prepares(const struct cps_afuc *machine)
{
    switch ((enum cps_policy_preempt)machine->engine.policy.preempt) {
    case CPS_PREEMPT_OFF:
        return false;
    case CPS_PREEMPT_ON:
        return machine_rings_as_msm_(machine) && can_switch(machine);
    }
    return false;
}

void rings_prepare_(struct cps_afuc *machine)
{
    bool known = machine->engine.gen == CPS_A6XX || machine->engine.gen == CPS_A7XX;
    machine->rings.wanted |= prepares(machine);
    if (!machine->rings.wanted || !known || machine->core[0].who != CPS_CPU_SQE)
        return;
    cps_mem_keep(machine->engine.mem, true);
    store_record(machine, 0, machine->ring_iova, 0);
    for (uint32_t i = 1; i < (prepares(machine) ? CPS_AFUC_RINGS : 2); i++)
        store_record(machine, i, other_rings[i - 1], 0);
    cps_mem_keep(machine->engine.mem, false);
    machine_set_reg_(machine, RB_CNTL, ring_control(machine->ring_dwords));
    machine_set_pair_(machine, RB_RPTR_ADDR, records[0] + SHADOW);
    machine->rings.prepared = 1;
}

static void marker(struct cps_afuc *machine, uint32_t mode)
{
    const uint32_t words[] = {cps_pm4_type7(0x65, 1), mode};
    machine_ring_(machine, words, 2);
}

uint32_t rings_begin_(struct cps_afuc *machine)
{
    uint32_t words[RINGS_BEGIN_WORDS];
    machine->rings.begun = 1;
    if (!machine->rings.prepared || prepares(machine))
        return 0;
    rings_save_words_(machine, words);
    machine_ring_(machine, words, RINGS_BEGIN_WORDS);
    marker(machine, IB1LIST_START);
    return 2;
}

/* D: a7xx_submit(), which fences BV there. BV waits for BR before the second, where it can be
 * interrupted (F: 740 BV 00bd..00c6): one that waits for the ring puts the switch off for ever. */
static const uint32_t threads[] = {0x70970001, 1, 0x70970001, 2, 0x70970001, 1, 0x70970001, 3};

void rings_end_(struct cps_afuc *machine)
{
    uint32_t words[RINGS_YIELD_WORDS];
    if (!machine->rings.prepared || prepares(machine))
        return;
    marker(machine, IB1LIST_END);
    if (cps_gen_since(machine->engine.gen, CPS_A7XX))
        machine_ring_(machine, threads, sizeof(threads) / sizeof(threads[0]));
    rings_yield_words_(words);
    machine_ring_(machine, words, RINGS_YIELD_WORDS);
}

/* A submission without streams for the ring that is switched to. */
static void submit_nothing(struct cps_afuc *machine)
{
    uint32_t words[RINGS_BEGIN_WORDS + RINGS_YIELD_WORDS];
    machine->rings.fed = 1;
    rings_save_words_(machine, words);
    rings_yield_words_(words + RINGS_BEGIN_WORDS);
    if (!machine_ring_(machine, words, RINGS_BEGIN_WORDS + RINGS_YIELD_WORDS))
        cps_mem_fail(machine->engine.mem);
    machine->rings.fed = machine->rings.current;
}

/* Where the firmware finds the page table of the context that was in a ring last. */
static uint64_t store_table(struct cps_afuc *machine, uint32_t ring)
{
    uint64_t iova = records[ring] + TABLE;
    uint64_t table = msm_table_(machine->msm.ring[ring].context);
    const uint32_t words[TABLE_WORDS] = {
        TABLE_MAGIC, 0, (uint32_t)table, (uint32_t)(table >> 32), 0, 0, 0, 0};
    if (!machine->msm.ring[ring].context)
        return 0;
    for (uint32_t i = 0; i < TABLE_WORDS; i++)
        store(machine, iova + 4 * (uint64_t)i, words[i]);
    return iova;
}

static bool request(struct cps_afuc *machine, uint32_t target)
{
    struct rings *rings = &machine->rings;
    uint32_t first = machine_switch_cntl_(machine);
    uint64_t record = records[target];
    if (!rings->prepared || rings->requested || !machine->core[0].s.sqe[SQE_PREEMPT])
        return false;
    cps_mem_keep(machine->engine.mem, true);
    store(machine, record + RECORD_WPTR, rings->ring[target].wptr);
    machine_set_pair_(machine, first + SMMU_INFO, store_table(machine, target));
    cps_mem_keep(machine->engine.mem, false);
    machine_set_pair_(machine, first + RESTORE_ADDR, record);
    machine_set_pair_(machine, first + SECURE_RESTORE_ADDR, record + SECURE);
    machine_set_pair_(machine, first + NON_PRIV_RESTORE_ADDR, record + NON_PRIVILEGED);
    machine_set_reg_(machine, first, SWITCH);
    rings->ring[rings->current].wptr = machine->ring_wptr;
    rings->ring[rings->current].begin = machine->ring_wptr;
    rings->target = target;
    rings->anywhere = 0;
    rings->requested = 1;
    preempt_request_(&machine->core[0], PREEMPT_BY_DRIVER);
    return true;
}

bool rings_request_(struct cps_afuc *machine)
{
    struct rings *rings = &machine->rings;
    if (!rings->prepared || rings->requested)
        return false;
    if (!rings->current)
        submit_nothing(machine);
    rings->injected = request(machine, !rings->current);
    return rings->injected;
}

bool rings_idle_(struct cps_afuc *machine)
{
    return rings_away_(machine) && rings_request_(machine);
}

bool cps_afuc_switch(struct cps_afuc *machine, unsigned ring, bool within)
{
    struct rings *rings = &machine->rings;
    bool asked = rings->requested && rings->target == ring;
    if (ring >= CPS_AFUC_RINGS || !prepares(machine) || rings->injected)
        return false;
    if (!asked && (ring == rings->current || !request(machine, ring)))
        return false;
    rings->anywhere |= within;
    machine->core[0].s.preempt.look |= within;
    return true;
}

unsigned cps_afuc_ring(const struct cps_afuc *machine)
{
    return machine->rings.current;
}

bool cps_afuc_switches(const struct cps_afuc *machine)
{
    return machine->rings.requested;
}

bool cps_afuc_has_rings(const struct cps_afuc *machine)
{
    return machine->rings.prepared && prepares(machine) && machine->core[0].s.sqe[SQE_PREEMPT];
}

/* ---- what units keep ----
 *
 * SP, TPL1 and HLSQ. No list of the firmware has the registers of their contexts (F: a650 112
 * 18f4..1a76), but the units get addresses in the record (F: a630 207 0744..074e: 0xbe20, 0xae50).
 * I: they store them there and load them; the form is UNKNOWN. Here it is the number of the pipe's
 * registers, whether it was written, value; a ring that was never left takes what is there. */

static const struct {
    uint16_t first, count;
} units[] = {{0xa800, 0x600}, {0xb000, 0x600}, {0xb800, 0x600}};

static void move_word(struct cps_afuc *machine, uint64_t iova, bool keep, uint32_t *value,
                      uint8_t *written)
{
    bool known = false;
    if (keep) {
        store(machine, iova, *written);
        store(machine, iova + 4, *value);
        return;
    }
    uint32_t was = cps_mem_read(machine->engine.mem, iova, &known);
    if (!known)
        return;
    *written = (uint8_t)was;
    *value = cps_mem_read(machine->engine.mem, iova + 4, NULL);
}

static void move_units(struct cps_afuc *machine, uint32_t ring, bool keep)
{
    uint64_t iova = records[ring] + UNITS;
    for (unsigned i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        for (uint32_t reg = units[i].first; reg < units[i].first + units[i].count; reg++) {
            machine_touch_(machine, reg);
            move_word(machine, iova, keep, &machine->reg[reg], &machine->reg_flags[reg]);
            iova += 8;
            for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++) {
                struct reg_bank *bank = machine->bank[pipe];
                if (!bank)
                    continue;
                bank->touched = true;
                move_word(machine, iova, keep, &bank->reg[reg - BANK_CLUSTERS],
                          &bank->written[reg - BANK_CLUSTERS]);
                iova += 8;
            }
        }
    }
}

static void switch_units(struct cps_afuc *machine, uint32_t target)
{
    cps_mem_keep(machine->engine.mem, true);
    move_units(machine, machine->rings.current, true);
    cps_mem_keep(machine->engine.mem, false);
    move_units(machine, target, false);
}

/* The firmware clears the request when it is done (F: 11af). */
void rings_returned_(struct afuc_core *core)
{
    struct rings *rings = &core->machine->rings;
    if (!rings->requested || core != &core->machine->core[0] || core->s.preempt.cause)
        return;
    rings->requested = 0;
    rings->anywhere = 0;
    if (!core->s.preempt.cntl) {
        switch_units(core->machine, rings->target);
        rings->current = rings->target;
    }
    rings->fed = rings->current;
    rings->injected &= rings->current != 0;
    machine_set_reg_(core->machine, machine_switch_cntl_(core->machine), 0);
}

void rings_write_base_(const struct cps_access *at)
{
    struct cps_afuc *machine = core_of_(at)->machine;
    uint64_t iova =
        machine->ring_iova; /* what is not written stays: nobody may have written it yet */
    machine->ring_iova = at->index ? (uint64_t)at->value << 32 | (uint32_t)iova
                                   : (iova & ~UINT64_C(0xffffffff)) | at->value;
}

/* Every processor sets its own (F: 740 BV 171b). Bit 31 of RB_CNTL lets RPTR_WR do it (D); without
 * it a7xx writes RPTR itself (F: 740 1c12). */
void rings_write_rptr_(const struct cps_access *at)
{
    struct afuc_core *core = core_of_(at);
    bool by_wr = core->machine->reg[RB_CNTL] >> 31;
    if (at->number == RB_RPTR_WR ? !by_wr : at->number == RB_RPTR && by_wr)
        return;
    core->s.queue[LEVEL_RB].pos = at->value % core->machine->ring_dwords;
    core->window_left = 0;
}

/* The last one that the routine writes; RB_CNTL before it has the size, which the firmware too
 * takes within these limits (F: 1efe..1f05). */
void rings_write_wptr_(const struct cps_access *at)
{
    struct cps_afuc *machine = core_of_(at)->machine;
    uint32_t bits = machine->reg[RB_CNTL] & 0x3f;
    if (at->number == RB_RPTR) {
        rings_write_rptr_(at);
        return;
    }
    bits = bits < 2 ? 2 : bits > 0x13 ? 0x13 : bits;
    if (machine->reg[RB_CNTL])
        machine->ring_dwords = 2u << bits;
    machine->ring_wptr = at->value % machine->ring_dwords;
    for (unsigned i = 0; i < machine->engine.cores; i++) {
        machine->core[i].s.queue[LEVEL_RB].pos %= machine->ring_dwords;
        machine->core[i].window_left = 0;
    }
}

/* The upper half is written last; firmware waits until it can be read back (F: 6ee 09bd..09c5). */
void rings_write_table_(const struct cps_access *at)
{
    struct cps_afuc *machine = core_of_(at)->machine;
    const struct cps_host *host = &machine->engine.host;
    if (!(at->number & 1) || !host->page_table)
        return;
    host->page_table(host->context, (uint64_t)at->value << 32 | machine->reg[at->number - 1]);
    cps_mem_host_changed(machine->engine.mem);
}

uint32_t rings_read_base_(const struct cps_access *at)
{
    uint64_t iova = core_of_(at)->machine->ring_iova;
    return (uint32_t)(at->index ? iova >> 32 : iova);
}

uint32_t rings_read_pointer_(const struct cps_access *at)
{
    const struct afuc_core *core = core_of_(at);
    return at->number == RB_RPTR ? core->s.queue[LEVEL_RB].pos : core->machine->ring_wptr;
}
