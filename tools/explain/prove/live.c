/* SPDX-License-Identifier: MIT
 * Registers that the code after a place may still read. A return may go to the code after any call,
 * and after waitin any handler may run: more may count as live than is, never less. */
#include <string.h>

#include "tools/cmd/terminal/oom.h"
#include "tools/explain/prove/prove.h"

#define LIVE_ALL (LIVE_CARRY | LIVE_ADDR | UINT32_MAX)

/* The packet whose handler the preemption routine is. It keeps all registers and gives them back,
 * which is no use of theirs (F: IN_PREEMPT of all images stores and loads them). */
enum { IN_PREEMPT = 0x0f };

static uint64_t bit_of(unsigned number)
{
    return number <= R_REM && number ? UINT64_C(1) << number : 0;
}

/* Whether it reads the control register that shows $addr or $usraddr. Not by an index: that
 * register reads 0 outside of the preemption routine, which names it (F: ctrl.def). */
static bool shows_address(const struct code_side *side, const struct afuc_uop *uop)
{
    return afuc_row_(uop->code)->reads & AFUC_CONTROL && !uop->s1 && uop->imm == side->selected;
}

void code_uses(const struct code_side *side, uint32_t at, uint64_t *reads, uint64_t *writes)
{
    const struct afuc_uop *uop = &side->image->uop[at];
    const struct afuc_row *row = afuc_row_(uop->code);
    const uint64_t dst = bit_of(uop->dst);
    const uint64_t rem = UINT64_C(1) << R_REM;
    *reads = bit_of(uop->s1) | bit_of(uop->s2) | (row->reads & ~AFUC_OTHERS) |
             (row->reads & AFUC_DST ? dst : 0) | (row->reads & AFUC_CARRY ? LIVE_CARRY : 0) |
             (shows_address(side, uop) ? LIVE_ADDR : 0);
    *writes = (row->writes & ~AFUC_OTHERS) | (row->writes & AFUC_CARRY ? LIVE_CARRY : 0);
    if (uop->s1 == R_DATA || uop->s2 == R_DATA)
        *reads |= rem; /* it counts what is taken */
    if (row->writes & AFUC_DST) {
        *reads |= uop->dst == R_DATA ? LIVE_ADDR : 0;
        *writes |= dst | (uop->dst == R_ADDR || uop->dst == R_USRADDR ? LIVE_ADDR : 0);
    }
    if (uop->xmov || (uop->flags & U_REP)) {
        /* What begins by writing an address goes there, or does nothing at all. The destination may
         * stay as it was. */
        *reads |= rem | dst | (uop->dst == R_DATA ? LIVE_ADDR : 0);
        *writes &= rem;
    }
    if (uop->flags & U_PRE)
        *writes |= uop->flags & U_REP ? 0 : bit_of(uop->s1);
}

/* Registers are live before a place because the code from there reads them before it returns, or
 * because they are live where it returns to and nothing on the way writes them. Both
 * are kept apart, so that one caller's registers are not live for all others. */
struct flow {
    struct code_side *side;
    uint64_t *live;    /* where nothing is live after returns */
    uint64_t *through; /* where all is */
    uint64_t at_end;   /* before all handlers */
    bool *dispatches;  /* by dword: it may come to a waitin without returning */
    bool alone;        /* nothing is live after a handler */
    bool again;
};

/* One of the two solutions. */
struct solution {
    uint64_t *at;
    uint64_t after_return;
};

static uint64_t live_at(const struct flow *flow, const struct solution *s, uint32_t at)
{
    return at < flow->side->count ? s->at[at] : 0;
}

static bool slot_goes(const struct code_side *side, uint32_t at)
{
    return code_has_slot(afuc_row_(side->image->uop[at].code)) && at + 1 < side->count &&
           afuc_row_(side->image->uop[at + 1].code)->flow != CPS_FLOW_NEXT;
}

#define LOOK_BACK 8u /* words in which code comes to the address that it jumps to */

/* Whether code other than what is before it leads to the jump, or to those words. */
static bool is_entered(const struct code_side *side, uint32_t at)
{
    uint32_t first = at > LOOK_BACK ? at - LOOK_BACK + 1 : 0;
    bool entered = false;
    for (uint32_t i = 2; i < side->count && !entered; i++) {
        const struct afuc_uop *uop = &side->image->uop[i];
        const struct afuc_row *row = afuc_row_(uop->code);
        bool leads = code_names_target(row) || row->act == ACT_SECURE;
        entered = leads && uop->target > first && uop->target <= at;
    }
    return entered;
}

/* A branch on bit 2 of what `cmp` gives: it is 0 unless the first operand is the lower one. */
static bool is_not_below(const struct afuc_uop *uop)
{
    return uop->imm == 2 && afuc_row_(uop->code)->op == CPS_AFUC_BRNEB;
}

/* The table that a computed jump leads into: firmware adds an index to the address of a table, and
 * goes to the table's end instead if the sum is not below it (F: gen70900 291c, gen80000 3055).
 * @return whether the code before the jump looks like that */
static bool find_table(const struct code_side *side, uint32_t at, uint32_t *first, uint32_t *end)
{
    unsigned number = side->image->uop[at].s1;
    *end = 0;
    if (is_entered(side, at))
        return false;
    for (uint32_t i = at - 1; i + LOOK_BACK >= at && i >= 2; i--) {
        const struct afuc_uop *uop = &side->image->uop[i];
        bool is_constant = code_may_address(uop) && uop->imm < side->count;
        if (is_constant && uop->s1 == number && uop->dst != number &&
            afuc_row_(uop[1].code)->act == ACT_CONDITION && uop[1].s1 == uop->dst &&
            uop[1].target == uop->imm && is_not_below(uop + 1))
            *end = uop->imm;
        if ((afuc_row_(uop->code)->writes & AFUC_DST) && uop->dst == number) {
            *first = uop->imm;
            return is_constant && *first <= *end;
        }
    }
    return false;
}

static uint64_t at_table(const struct flow *flow, const struct solution *s, uint32_t at)
{
    uint32_t first = 0;
    uint32_t end = 0;
    uint64_t live = 0;
    if (!find_table(flow->side, at, &first, &end))
        return LIVE_ALL;
    for (uint32_t i = first; i <= end; i++)
        live |= live_at(flow, s, i);
    return live;
}

/* Live after an instruction, or after a branch's delay slot. */
static uint64_t live_out(const struct flow *flow, const struct solution *s, uint32_t at)
{
    const struct afuc_uop *uop = &flow->side->image->uop[at];
    const struct afuc_row *row = afuc_row_(uop->code);
    struct code_ways ways = code_ways(row);
    uint64_t next = ways.next ? live_at(flow, s, code_has_slot(row) ? at + 2 : at + 1) : 0;
    if (ways.call) {
        /* Of a call: the callee's reads, and what is live after it and not written by it. */
        uint32_t callee = uop->target;
        if (callee >= flow->side->count)
            return next;
        return flow->live[callee] | (next & flow->through[callee]);
    }
    return next | (ways.target ? live_at(flow, s, ways.skip ? at + 3 : uop->target) : 0) |
           (ways.back ? s->after_return : 0) | (ways.end ? flow->at_end : 0) |
           (ways.somewhere ? at_table(flow, s, at) : 0);
}

static uint64_t live_in(const struct flow *flow, uint32_t at, uint64_t live)
{
    uint64_t reads = 0;
    uint64_t writes = 0;
    if (at >= flow->side->count)
        return live;
    code_uses(flow->side, at, &reads, &writes);
    return (live & ~writes) | reads;
}

static void update(struct flow *flow, const struct solution *s, uint32_t at)
{
    const struct afuc_row *row = afuc_row_(flow->side->image->uop[at].code);
    uint64_t live = live_out(flow, s, at);
    if (slot_goes(flow->side,
                  at)) /* then one more instruction runs, and the slot's branch leads on */
        live |= live_out(flow, s, at + 1);
    if (code_has_slot(row))
        live = live_in(flow, at + 1, live);
    live = live_in(flow, at, live) | s->at[at];
    flow->again = flow->again || live != s->at[at];
    s->at[at] = live;
}

/* Whether code at @p at may come to the next packet before it returns, as far as is known. */
static bool may_dispatch(const struct flow *flow, uint32_t at)
{
    const struct afuc_uop *uop = &flow->side->image->uop[at];
    const struct afuc_row *row = afuc_row_(uop->code);
    struct code_ways ways = code_ways(row);
    const bool *dispatches = flow->dispatches;
    bool there = uop->target < flow->side->count && dispatches[uop->target];
    bool next = at + 2 < flow->side->count && dispatches[code_has_slot(row) ? at + 2 : at + 1];
    return ways.end || ways.somewhere || (ways.target && there) || (ways.next && next) ||
           (slot_goes(flow->side, at) && dispatches[at + 1]);
}

static bool is_call(const struct flow *flow, uint32_t at)
{
    return code_ways(afuc_row_(flow->side->image->uop[at].code)).call;
}

/* Registers live where calls return to that are open while other packets run: one of those packets'
 * handlers returns there (F: draw-state groups run inside of a call of the draw's handler). */
static uint64_t live_after_open_calls(const struct flow *flow)
{
    uint64_t live = 0;
    for (uint32_t at = 0; at + 2 < flow->side->count; at++) {
        uint32_t callee = flow->side->image->uop[at].target;
        if (is_call(flow, at) && callee < flow->side->count && flow->dispatches[callee])
            live |= flow->live[at + 2];
    }
    return live;
}

static void solve(struct flow *flow)
{
    const struct solution solutions[2] = {{flow->live, 0}, {flow->through, LIVE_ALL}};
    flow->again = true;
    while (flow->again) {
        flow->again = false;
        for (unsigned i = 0; i < 2; i++) {
            for (uint32_t at = flow->side->count; at-- > 0;)
                update(flow, &solutions[i], at);
        }
        const struct code_side *side = flow->side;
        uint64_t before = flow->at_end;
        uint64_t open = flow->alone ? 0 : live_after_open_calls(flow);
        for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++) {
            uint32_t at = side->table[id];
            if (!flow->alone && id != IN_PREEMPT && at < side->count)
                flow->at_end |= flow->live[at] | (flow->through[at] & open);
        }
        flow->again = flow->again || before != flow->at_end;
    }
}

/* Registers that a handler itself may read, not those that it leaves for later ones. */
static void find_reads(struct flow *flow)
{
    struct code_side *side = flow->side;
    flow->alone = true;
    solve(flow);
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++) {
        if (id != IN_PREEMPT && side->table[id] < side->count)
            side->reads[id] = flow->live[side->table[id]];
    }
    memset(flow->live, 0, side->count * sizeof(*flow->live));
    memset(flow->through, 0, side->count * sizeof(*flow->through));
    flow->alone = false;
}

/* Registers live at a place whose caller is not known. */
void code_live(struct code_side *side)
{
    struct flow flow = {.side = side};
    size_t words = (size_t)side->count + 1;
    side->live = flow.live = tool_alloc(words, sizeof(*flow.live));
    flow.through = tool_alloc(words, sizeof(*flow.through));
    flow.dispatches = tool_alloc(words, sizeof(*flow.dispatches));
    bool again = true;
    while (again) {
        again = false;
        for (uint32_t at = flow.side->count; at-- > 0;) {
            bool may = may_dispatch(&flow, at);
            again = again || may != flow.dispatches[at];
            flow.dispatches[at] = may;
        }
    }
    find_reads(&flow);
    solve(&flow);
    for (uint32_t at = 0; at + 2 < side->count; at++)
        side->live_at_return |= is_call(&flow, at) ? flow.live[at + 2] : 0;
    side->live_at_end = flow.at_end & ~(UINT64_C(1) << R_REM);
    for (uint32_t at = 0; at < side->count; at++)
        flow.live[at] |= flow.through[at] & side->live_at_return;
    free(flow.through);
    free(flow.dispatches);
}
