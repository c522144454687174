/* SPDX-License-Identifier: MIT
 * Packets of type 4, two thirds of all packets: from one header to the next. The handler is the same
 * four instructions in all images (link.c finds them):
 *
 *     ushr $usraddr, $01, 8            the offset
 *     (rep)(xmovN)mov $data, $data     the words, to consecutive registers
 *     waitin                           the next header,
 *     mov $01, $data                   which the delay slot takes
 *
 * Events, ticks and state are those of the single instructions. What is not plain is left to
 * them: registers that behave or are protected, words that are not in the window. */
#include "emu/afuc/bulk.h"
#include "emu/afuc/machine.h"
#include "emu/afuc/port.h"
#include "emu/afuc/queue.h"
#include "emu/afuc/type4.h"

#include "isa/base/pm4.h"

enum { TYPE4 = 4 }; /* index of the packet table */

/* Packets under way. */
struct run {
    struct afuc_core *core;
    uint32_t pc;                /* of the handler */
    bool noisy;                 /* somebody wants events, else they are counted together */
    const uint32_t *word, *end; /* of the window */
    const uint32_t *last;       /* header of the packet that began last, NULL: none has */
    uint32_t value;             /* of the register that the handler finds the header in */
    uint32_t count;             /* words of the payload that are left: $rem */
    uint32_t header[3];         /* of the packets that began last, the newest first */
    uint32_t packets, words;    /* that began, and that were written */
    uint32_t usraddr;           /* behind the words that were written last */
    uint64_t repeats;
};

static bool is_noisy(const struct cps_tap *tap)
{
    return cps_tap_wants_(tap, CPS_EV_PKT) || cps_tap_wants_(tap, CPS_EV_REG) ||
           cps_tap_wants_(tap, CPS_EV_SQE);
}

static struct run run_of(struct afuc_core *core, const struct afuc_uop *uop)
{
    const struct afuc_state *s = &core->s;
    return (struct run){
        .core = core,
        .pc = (uint32_t)(uop - core->uops),
        .noisy = is_noisy(&core->machine->engine.tap),
        .word = core->window,
        .end = core->window + core->window_left,
        .value = s->r[uop->s1],
        .count = s->r[R_REM],
        .header = {s->header, s->history[0], s->history[1]},
    };
}

/* Whether the words of the packet under way are stored, and no more. */
static inline bool is_plain(const struct run *run, uint32_t address)
{
    return (size_t)(run->end - run->word) >= run->count && !(address & USRADDR_MODES) &&
           gpu_all_plain_(run->core->machine, address & (GPU_REGS - 1), run->count);
}

static inline void write_registers(struct run *run, uint32_t address)
{
    uint32_t offset = address & (GPU_REGS - 1);
    gpu_set_plain_(run->core->machine, offset, run->word, run->count);
    run->core->s.pc = run->pc + 1;
    if (run->noisy)
        bulk_noted_(run->core, offset, run->word, run->count, CPS_PATH_USER);
    run->words += run->count;
    run->word += run->count;
    run->count = 0;
}

static uint64_t iova_of(const struct run *run, const uint32_t *word)
{
    return run->core->window_end - 4 * (uint64_t)(run->end - word);
}

static void note_packet(const struct run *run, uint32_t header)
{
    struct afuc_core *core = run->core;
    core->s.pc = run->pc + 2;
    if (core->s.sqe[SQE_SP]) /* the packet before left a call open */
        core_event_(core, CPS_EV_SQE, 0, SQE_SP, core->s.sqe[SQE_SP]);
    core_event_(core, CPS_EV_PKT, core->window_level, iova_of(run, run->word), header);
}

/* The waitin and its slot, if the next packet is of type 4, too. */
static inline bool next_packet(struct run *run)
{
    if (run->word == run->end)
        return false;
    uint32_t header = *run->word;
    struct cps_pm4 packet = cps_pm4_decode(header);
    if (packet.kind != CPS_PM4_TYPE4)
        return false;
    if (run->noisy)
        note_packet(run, header);
    run->header[2] = run->header[1];
    run->header[1] = run->header[0];
    run->header[0] = run->value = header;
    run->count = packet.count;
    run->packets++;
    run->last = run->word++;
    return true;
}

/* What the packets that began leave in the state, and their counts. */
static void keep_packets(const struct run *run)
{
    struct afuc_core *core = run->core;
    struct afuc_state *s = &core->s;
    struct cps_afuc *m = core->machine;
    s->header = run->header[0];
    s->history[0] = run->header[1];
    s->history[1] = run->header[2];
    s->header_iova = iova_of(run, run->last);
    s->header_pos = *core->window_pos + (uint32_t)(run->last - core->window);
    s->id = TYPE4;
    m->engine.packets += run->packets;
    m->packets_by_id[core->window_level][TYPE4] += run->packets;
    if (core == &m->core[0] && !m->rings.current)
        m->submission_packets += run->packets;
}

static void count_events(const struct run *run)
{
    uint64_t *count = run->core->machine->engine.tap.count;
    count[CPS_EV_REG] += run->words;
    count[CPS_EV_PKT] += run->packets;
    count[CPS_EV_SQE] += run->core->s.sqe[SQE_SP] ? run->packets : 0;
}

static void finish(const struct run *run, const struct afuc_uop *uop, bool waits)
{
    struct afuc_core *core = run->core;
    if (run->last)
        keep_packets(run);
    if (!run->noisy)
        count_events(run);
    core->s.pc = run->pc + (waits ? 2 : 0);
    core->s.usraddr = run->usraddr;
    core->s.user_selected = 1;
    core->machine->repeats += run->repeats;
    core->s.r[uop->s1] = run->value;
    core->s.r[R_REM] = run->count;
    *core->window_pos += (uint32_t)(run->word - core->window);
    core->window = run->word;
    core->window_left = (uint32_t)(run->end - run->word);
}

/* Entries of the packet table lead here, nothing comes in front of a packet, and nobody wants to
 * see payloads. */
static bool may_run(const struct afuc_core *core, uint32_t pc)
{
    const struct cps_afuc *m = core->machine;
    return core->plain && core->window_left && core->s.table[TYPE4] == pc && !m->injection_count &&
           !gpu_plain_protects_(core) && !cps_tap_wants_(&m->engine.tap, CPS_EV_WORD);
}

uint64_t afuc_type4_(struct afuc_core *core, const struct afuc_uop *uop, uint64_t budget)
{
    struct run run = run_of(core, uop);
    uint64_t left = budget;
    bool waits = false; /* the handler is at its waitin */
    bool going = may_run(core, run.pc);
    while (going) {
        uint32_t address = run.value >> (uop->imm & 31);
        uint32_t turns = bulk_turns_(run.count, 1u + uop[1].xmov);
        if (turns + 4u > left || !is_plain(&run, address))
            break;
        left -= 1u + (turns ? turns : 1); /* with nothing to do (rep) takes its tick, too */
        run.repeats += turns - !!turns;
        run.usraddr = address + run.count;
        write_registers(&run, address);
        going = next_packet(&run);
        left -= going ? 2 : 0;
        waits = !going;
    }
    if (left != budget)
        finish(&run, uop, waits);
    return budget - left;
}
