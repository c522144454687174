/* SPDX-License-Identifier: MIT
 * What the special registers do: $data, $addr, $usraddr, $memdata, $regdata, and the extra moves
 * that read them. */
#include "emu/afuc/control/control.h"
#include "emu/afuc/queue/queue.h"

/* How often the sources of an instruction name register @p number. */
static uint32_t uses(const struct afuc_uop *uop, unsigned number)
{
    return (uint32_t)(uop->s1 == number) + (uint32_t)(uop->s2 == number);
}

/* Extra reads of (xmovN): as many as N, but no more than $rem says after the first read. That has
 * counted it down if it was of $data, and if (rep) will: 6ee 10ef drops exactly $rem words of
 * $memdata with (xmov3). */
static uint32_t extra_count(const struct afuc_core *core, const struct afuc_uop *uop,
                            uint32_t popped)
{
    uint32_t rest = core->s.r[R_REM] - popped - afuc_counts_itself_(uop);
    return uop->xmov < rest ? uop->xmov : rest;
}

static bool wait_for(struct afuc_core *core, enum afuc_wait wait)
{
    core->s.wait = wait;
    return false;
}

/* (sdsN) is not limited by $rem; both prefixes share the field of the micro-operation. */
static uint32_t extra_reads(const struct afuc_core *core, const struct afuc_uop *uop,
                            uint32_t popped)
{
    if (!uop->xmov)
        return 0;
    return uop->code == UOP_CWRITE ? uop->xmov : extra_count(core, uop, popped);
}

static bool memdata_has(struct afuc_core *core, uint32_t words)
{
    while (!fifo_has_(core, &core->s.memdata, words)) {
        if (core->layout != CPS_LAYOUT_A5XX_ME || !me_read_through_(core))
            return false;
    }
    return true;
}

/* Whether every queue that an instruction reads holds enough for one execution. */
bool afuc_ready_(struct afuc_core *core, const struct afuc_uop *uop)
{
    uint32_t data = uses(uop, R_DATA);
    uint32_t mem = uses(uop, R_MEMDATA);
    uint32_t reg = uses(uop, R_REGDATA);
    uint32_t extra = extra_reads(core, uop, data);
    if (core->me && uop->dst == R_DATA && !meq_room_(core->me, 1 + uop->xmov))
        return wait_for(core, WAIT_MEQ);
    if (core->dde && uop->code == UOP_CWRITE && uop->s1 <= R_REM &&
        !afuc_dde_takes_(core, (core->s.r[uop->s1] + uop->imm) % CONTROL_COUNT))
        return wait_for(core, WAIT_MEQ);
    if (data && !has_words_(core, data + extra))
        return wait_for(core, WAIT_STREAM);
    if (mem && !memdata_has(core, mem + (data ? 0 : extra)))
        return wait_for(core, WAIT_MEMDATA);
    if (reg && !fifo_has_(core, &core->s.regdata, reg + (data || mem ? 0 : extra)))
        return wait_for(core, WAIT_REGDATA);
    return true;
}

uint32_t afuc_read_(struct afuc_core *core, const struct afuc_uop *uop, unsigned number)
{
    if (CPS_LIKELY(number <= R_REM))
        return core->s.r[number];
    if (number == R_MEMDATA)
        return fifo_pop_(core, &core->s.memdata);
    if (number == R_REGDATA)
        return fifo_pop_(core, &core->s.regdata);
    bool peek = (uop->flags & U_PEEK) || core->s.peeking;
    return peek ? peek_word_(core) : pop_word_(core);
}

/* What $data of an SQE or ME does: a write to the place that was selected last. Bits 22 and 19 of
 * $usraddr are left of a type-4 header. Bit 20 asks whether CP_PROTECT lets the next `value`
 * registers be read (6ee 08fb); the answer is bit 2 of REG_READ_TEST_RESULT, bit 0 says ready. */
static void selected_write(struct afuc_core *core, uint32_t value)
{
    struct afuc_state *s = &core->s;
    bool user = s->user_selected;
    uint32_t *address = user ? &s->usraddr : &s->addr;
    uint32_t offset = *address & 0x3ffff;
    bool fixed = *address >> 18 & 1;
    if (!user && *address >> 24) {
        afuc_pipe_write_(core, *address >> 24, value);
        *address += fixed ? 0 : 1u << 24;
        return;
    }
    if (user && *address >> 20 & 1 && core->layout != CPS_LAYOUT_A5XX_ME)
        afuc_control_set_(core, CTL_REG_READ_TEST_RESULT,
                          1u | (uint32_t)gpu_protected_(core, offset, value, false) << 2);
    else
        gpu_write_(core, offset, value, user ? CPS_PATH_USER : CPS_PATH_DATA);
    *address += !fixed;
}

static void select_privileged(struct afuc_core *core, uint32_t value)
{
    bool quiet = saved_quiet_(core);
    core->s.addr = quiet ? value & ~(1u << 22) : value;
    core->s.user_selected = 0;
    if (quiet)
        return;
    if (value >> 24)
        afuc_pipe_select_(core, value);
    else if (core->layout == CPS_LAYOUT_A5XX_ME)
        me_select_(core, value, CPS_PATH_DATA);
}

void afuc_write_(struct afuc_core *core, unsigned number, uint32_t value)
{
    struct afuc_state *s = &core->s;
    switch (number) {
    case R_DATA:
        if (core->me)
            meq_push_(core, core->me, value);
        else if (!me_rmw_data_(core, value))
            selected_write(core, value);
        break;
    case R_USRADDR:
        core->s.usraddr = value;
        core->s.user_selected = 1;
        if (core->layout == CPS_LAYOUT_A5XX_ME)
            me_select_(core, value, CPS_PATH_USER);
        break;
    case R_ADDR:
        select_privileged(core, value);
        break;
    default:
        s->r[number ? number : R_TRASH] = value;
    }
}

/* The moves after the main operation, all from its queue operand. One and two go to $data; of
 * three, the second goes to the instruction's own destination. Where that is no output port, all
 * extra words are dropped: the way firmware skips payload fast. */
void afuc_extra_moves_(struct afuc_core *core, const struct afuc_uop *uop)
{
    bool ported = uop->dst >= R_ADDR && uop->dst <= R_DATA;
    unsigned source = uop->s2 >= R_ADDR && uop->s2 != S2_IMM ? uop->s2 : uop->s1;
    uint32_t count = extra_count(core, uop, 0);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t value = afuc_read_(core, uop, source);
        unsigned target = count == 3 && i == 1 ? uop->dst : (unsigned)R_DATA;
        core->s.r[R_REM] -= source != R_DATA; /* D: emu.c; a word of $data counts itself */
        afuc_write_(core, ported ? target : (unsigned)R_TRASH, value);
    }
}

/* Bit 31 of the upper half is a right (F: of a6xx, a650 112 13d2, 14d0 sets it). */
static uint64_t load_store_iova(const struct afuc_core *core, uint32_t offset)
{
    uint64_t high = afuc_control_get_(core, CTL_LOAD_STORE_HI);
    if (cps_gen_since(core->machine->engine.gen, CPS_A6XX))
        high &= 0x7fffffff;
    return high << 32 | offset;
}

void afuc_store_(struct afuc_core *core, uint32_t offset, uint32_t value)
{
    core_mem_write_(core, load_store_iova(core, offset), value, CPS_VIA_STORE);
}

uint32_t afuc_load_word_(struct afuc_core *core, uint32_t offset)
{
    return core_mem_read_(core, load_store_iova(core, offset), CPS_VIA_LOAD);
}

void afuc_report_stack_(struct afuc_core *core)
{
    struct afuc_state *s = &core->s;
    uint32_t i = 0;
    while (i < s->misused_count && s->misused[i] != s->pc)
        i++;
    if (i < s->misused_count || i == MISUSED)
        return;
    s->misused[s->misused_count++] = s->pc;
    core_event_(core, CPS_EV_UNMODELLED, CPS_PLACE_INSN, s->pc, 0);
}
