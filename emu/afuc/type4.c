/* SPDX-License-Identifier: MIT
 * Packets of type 4, two thirds of all packets: from one header to the next. The handler is the
 * same four instructions in all images (link.c finds them):
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

enum { TYPE4 = 4 };   /* index of the packet table */
enum { MOST = 0x7f }; /* words of such a packet */

/* Entries of the packet table lead here, nothing comes in front of a packet, and nobody wants to
 * see payloads. */
static bool may_run(const struct afuc_core *core, uint32_t pc)
{
    const struct cps_afuc *m = core->machine;
    return core->plain && core->window_left && core->s.table[TYPE4] == pc && !m->injection_count &&
           !gpu_plain_protects_(core) && !cps_tap_wants_(&m->engine.tap, CPS_EV_WORD);
}

/* Somebody wants events; else they are counted together. */
static bool is_noisy(const struct cps_tap *tap)
{
    return cps_tap_wants_(tap, CPS_EV_PKT) || cps_tap_wants_(tap, CPS_EV_REG) ||
           cps_tap_wants_(tap, CPS_EV_SQE);
}

/* Address of a word of the window. */
static uint64_t iova_of(const struct afuc_core *core, const uint32_t *word)
{
    return core->window_end - 4 * (uint64_t)(core->window + core->window_left - word);
}

static void note_registers(struct afuc_core *core, uint32_t pc, uint32_t offset,
                           const uint32_t *word, uint32_t count)
{
    core->s.pc = pc;
    bulk_noted_(core, offset, word, count, CPS_PATH_USER);
}

static void note_packet(struct afuc_core *core, uint32_t pc, const uint32_t *header)
{
    core->s.pc = pc;
    if (core->s.sqe[SQE_SP]) /* the packet before left a call open */
        core_event_(core, CPS_EV_SQE, 0, SQE_SP, core->s.sqe[SQE_SP]);
    core_event_(core, CPS_EV_PKT, core->window_level, iova_of(core, header), *header);
}

/* How far packets have come. */
struct run {
    const uint32_t *word; /* of the window, that comes next */
    const uint32_t *last; /* header of the packet that began last, NULL: none has */
    uint32_t value;       /* of the register that the handler finds the header in */
    uint32_t count;       /* words of the payload that are left: $rem */
    uint32_t usraddr;     /* behind the words that were written last */
    uint32_t header[3];   /* of the packets that began last, the newest first; kept if one did */
    uint32_t packets;     /* that began */
    uint32_t words;       /* that were written */
    uint64_t repeats;     /* turns of (rep) behind the first of each packet */
    uint64_t left;        /* ticks */
    bool waits;           /* the handler is at its waitin */
};

/* Many short packets: what changes with each is in registers, and nothing is stored but what they
 * write. */
static struct run run_packets(struct afuc_core *core, const struct afuc_uop *uop, uint64_t left)
{
    struct cps_afuc *const m = core->machine;
    const bool noisy = is_noisy(&m->engine.tap);
    const uint32_t pc = (uint32_t)(uop - core->uops);
    const uint32_t group = 1u + uop[1].xmov;
    const uint32_t shift = uop->imm & 31;
    const uint32_t *const end = core->window + core->window_left;
    struct run r = {.word = core->window,
                    .value = core->s.r[uop->s1],
                    .count = core->s.r[R_REM],
                    .header = {core->s.header, core->s.history[0]}};
    while (!r.waits) {
        uint32_t address = r.value >> shift;
        uint32_t offset = address & (GPU_REGS - 1);
        if (r.count > MOST || end - r.word < (ptrdiff_t)r.count || r.count + 4u > left ||
            (address & USRADDR_MODES) || !gpu_few_plain_(m, offset, r.count))
            break;
        uint32_t turns = bulk_turns_(r.count, group);
        left -= 1u + turns + !turns; /* with nothing to do (rep) takes its tick, too */
        r.repeats += turns - !!turns;
        gpu_set_plain_(core, offset, r.word, r.count);
        if (CPS_UNLIKELY(noisy))
            note_registers(core, pc + 1, offset, r.word, r.count);
        r.usraddr = address + r.count;
        r.words += r.count;
        r.word += r.count;
        r.count = 0;
        r.waits = r.word == end || cps_pm4_decode(*r.word).kind != CPS_PM4_TYPE4;
        if (r.waits)
            break;
        if (CPS_UNLIKELY(noisy))
            note_packet(core, pc + 2, r.word);
        left -= 2;
        r.value = *r.word;
        r.count = r.value & MOST;
        r.header[2] = r.header[1];
        r.header[1] = r.header[0];
        r.header[0] = r.value;
        r.packets++;
        r.last = r.word++;
    }
    r.left = left;
    return r;
}

/* What the packets that began leave in the state, and their counts. */
static void keep_packets(struct afuc_core *core, const struct run *run)
{
    struct afuc_state *s = &core->s;
    struct cps_afuc *m = core->machine;
    s->header = run->header[0];
    s->history[0] = run->header[1];
    s->history[1] = run->header[2];
    s->header_iova = iova_of(core, run->last);
    s->header_pos = *core->window_pos + (uint32_t)(run->last - core->window);
    s->id = TYPE4;
    m->engine.packets += run->packets;
    m->packets_by_id[core->window_level][TYPE4] += run->packets;
    if (core == &m->core[0] && !m->rings.current)
        m->submission_packets += run->packets;
}

static void count_events(const struct afuc_core *core, const struct run *run)
{
    uint64_t *count = core->machine->engine.tap.count;
    count[CPS_EV_REG] += run->words;
    count[CPS_EV_PKT] += run->packets;
    count[CPS_EV_SQE] += core->s.sqe[SQE_SP] ? run->packets : 0;
}

static void finish(struct afuc_core *core, const struct afuc_uop *uop, const struct run *run)
{
    struct afuc_state *s = &core->s;
    if (run->last)
        keep_packets(core, run);
    if (!is_noisy(&core->machine->engine.tap))
        count_events(core, run);
    s->pc = (uint32_t)(uop - core->uops) + (run->waits ? 2 : 0);
    s->usraddr = run->usraddr;
    s->user_selected = 1;
    s->r[uop->s1] = run->value;
    s->r[R_REM] = run->count;
    core->machine->repeats += run->repeats;
    uint32_t taken = (uint32_t)(run->word - core->window);
    *core->window_pos += taken;
    core->window += taken;
    core->window_left -= taken;
}

uint64_t afuc_type4_(struct afuc_core *core, const struct afuc_uop *uop, uint64_t budget)
{
    if (!may_run(core, (uint32_t)(uop - core->uops)))
        return 0;
    struct run run = run_packets(core, uop, budget);
    if (run.left != budget)
        finish(core, uop, &run);
    return budget - run.left;
}
