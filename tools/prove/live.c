/* SPDX-License-Identifier: MIT
 * Which registers the code behind a place may still read. Returns may go behind every call, and
 * behind waitin every handler may run: more may count as live than is, never less. */
#include <stdlib.h>
#include <string.h>

#include "tools/prove/code.h"

#define LIVE_ALL (LIVE_CARRY | LIVE_ADDR | UINT32_MAX)

/* The packet whose handler the preemption routine is. It keeps all registers and gives them back,
 * which is no use of theirs (F: IN_PREEMPT of all images stores and loads them). */
enum { IN_PREEMPT = 0x0f };

static uint64_t bit_of(unsigned number)
{
    return number <= R_REM && number ? UINT64_C(1) << number : 0;
}

static void port_uses(unsigned number, uint64_t *reads)
{
    if (number == R_DATA)
        *reads |= UINT64_C(1) << R_REM; /* it counts what is taken */
}

static void written(unsigned number, uint64_t *reads, uint64_t *writes)
{
    *writes |= bit_of(number);
    if (number == R_ADDR || number == R_USRADDR)
        *writes |= LIVE_ADDR;
    if (number == R_DATA)
        *reads |= LIVE_ADDR;
}

static bool uses_carry(unsigned op)
{
    return op == CPS_AFUC_ADDHI || op == CPS_AFUC_SUBHI;
}

void code_uses(const struct afuc_uop *uop, uint64_t *reads, uint64_t *writes)
{
    const struct row *row = code_row(uop->code);
    bool alu = row->kind == KIND_ALU;
    *reads = bit_of(uop->s1);
    *writes = 0;
    port_uses(uop->s1, reads);
    if (row->kind != KIND_IF && uop->s2 != S2_IMM) {
        *reads |= bit_of(uop->s2);
        port_uses(uop->s2, reads);
    }
    bool data = alu || row->op == CPS_AFUC_LOAD || row->op == CPS_AFUC_LOADP ||
                row->op == CPS_AFUC_CREAD || row->op == CPS_AFUC_SREAD;
    if (data)
        written(uop->dst, reads, writes);
    if (alu && (row->op == CPS_AFUC_BFI || row->op == CPS_AFUC_SETBITI))
        *reads |= bit_of(uop->dst);
    if (alu && uses_carry(row->op))
        *reads |= LIVE_CARRY;
    if (row->op == CPS_AFUC_ADD || row->op == CPS_AFUC_SUB)
        *writes |= LIVE_CARRY;
    if (row->op == CPS_AFUC_BL)
        *writes |= UINT64_C(1) << R_LR;
    if (row->op == CPS_AFUC_SRET)
        *reads |= UINT64_C(1) << R_LR;
    if (row->op == CPS_AFUC_SETSECURE)
        *reads |= UINT64_C(1) << 2;
    if (uop->xmov || (uop->flags & U_REP)) {
        *reads |= UINT64_C(1) << R_REM;
        /* What begins by writing an address goes there, or does nothing at all. */
        *reads |= uop->dst == R_DATA ? LIVE_ADDR : 0;
        *reads |= bit_of(uop->dst); /* may stay as it was */
        *writes &= UINT64_C(1) << R_REM;
    }
    if (uop->flags & U_PRE)
        *writes |= uop->flags & U_REP ? 0 : bit_of(uop->s1);
}

/* Registers are live in front of a place because of what the code behind it reads before it
 * returns, or because they are live where it returns to and nothing on the way writes them. Both
 * are kept apart, so that one caller's registers are not live for all others. */
struct flow {
    struct code_side *side;
    uint64_t *live;    /* where nothing is live behind returns */
    uint64_t *through; /* where all is */
    uint64_t at_end;   /* in front of all handlers */
    bool alone;        /* nothing is live behind a handler */
    bool again;
};

/* One of the two solutions. */
struct solution {
    uint64_t *at;
    uint64_t behind_return;
};

static uint64_t live_at(const struct flow *flow, const struct solution *s, uint32_t at)
{
    return at < flow->side->count ? s->at[at] : 0;
}

/* In front of a call: what the callee reads, and what it does not write of what is live behind. */
static uint64_t in_front_of(const struct flow *flow, uint32_t callee, uint64_t behind)
{
    if (callee >= flow->side->count)
        return behind;
    return flow->live[callee] | (behind & flow->through[callee]);
}

#define TABLE_WORDS 64u /* that a computed jump may lead to, from where its table begins */
#define LOOK_BACK   8u  /* words in which the code comes to the address */

/* Behind a computed jump: a constant in front of it says where its table begins. */
static uint64_t at_table(const struct flow *flow, const struct solution *s, uint32_t at)
{
    const struct code_side *side = flow->side;
    uint64_t live = 0;
    for (uint32_t back = 1; back <= LOOK_BACK && back < at; back++) {
        const struct afuc_uop *uop = &side->image->uop[at - back];
        unsigned op = code_row(uop->code)->op;
        if (uop->s2 != S2_IMM || (op != CPS_AFUC_MOVI && op != CPS_AFUC_ADD) ||
            uop->dst != side->image->uop[at].s1)
            continue;
        for (uint32_t i = 0; i < TABLE_WORDS; i++)
            live |= live_at(flow, s, uop->imm + i);
        return live;
    }
    return LIVE_ALL;
}

/* What is live behind an instruction that is no branch, or behind a branch's delay slot. */
static uint64_t behind(const struct flow *flow, const struct solution *s, uint32_t at)
{
    const struct afuc_uop *uop = &flow->side->image->uop[at];
    const struct row *row = code_row(uop->code);
    if (row->kind == KIND_IF)
        return live_at(flow, s, uop->target) |
               (row->op == CPS_AFUC_JUMP ? 0 : live_at(flow, s, at + 2));
    switch (row->op) {
    case CPS_AFUC_JUMPA:
        return live_at(flow, s, uop->target);
    case CPS_AFUC_CALL:
    case CPS_AFUC_BL:
        return in_front_of(flow, uop->target, live_at(flow, s, at + 2));
    case CPS_AFUC_RET:
    case CPS_AFUC_SRET:
        return s->behind_return;
    case CPS_AFUC_WAITIN:
        return flow->at_end & ~(UINT64_C(1) << R_REM);
    case CPS_AFUC_SETSECURE:
        return live_at(flow, s, at + 1) | live_at(flow, s, at + 3);
    case CPS_AFUC_JUMPR:
    case CPS_AFUC_JUMPD:
        return at_table(flow, s, at) | s->behind_return;
    case CPS_AFUC_IRET: /* to the waitin that the routine was entered from: it gave all back */
        return flow->at_end;
    case CPS_AFUC_NONE:
        return 0;
    default:
        return live_at(flow, s, at + 1);
    }
}

static bool has_slot(const struct row *row)
{
    return row->kind == KIND_IF ||
           (row->kind == KIND_OWN &&
            (row->op == CPS_AFUC_JUMPA || row->op == CPS_AFUC_CALL || row->op == CPS_AFUC_BL ||
             row->op == CPS_AFUC_RET || row->op == CPS_AFUC_SRET || row->op == CPS_AFUC_WAITIN ||
             row->op == CPS_AFUC_JUMPR || row->op == CPS_AFUC_JUMPD || row->op == CPS_AFUC_IRET));
}

static uint64_t in_front(const struct flow *flow, uint32_t at, uint64_t live)
{
    uint64_t reads = 0;
    uint64_t writes = 0;
    if (at >= flow->side->count)
        return live;
    code_uses(&flow->side->image->uop[at], &reads, &writes);
    return (live & ~writes) | reads;
}

static void update(struct flow *flow, const struct solution *s, uint32_t at)
{
    const struct row *row = code_row(flow->side->image->uop[at].code);
    uint64_t live = behind(flow, s, at);
    if (has_slot(row))
        live = in_front(flow, at + 1, live);
    live = in_front(flow, at, live) | s->at[at];
    flow->again = flow->again || live != s->at[at];
    s->at[at] = live;
}

static void meet_handlers(struct flow *flow)
{
    const struct code_side *side = flow->side;
    uint64_t before = flow->at_end;
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++) {
        if (!flow->alone && id != IN_PREEMPT && side->table[id] < side->count)
            flow->at_end |= flow->live[side->table[id]];
    }
    flow->again = flow->again || before != flow->at_end;
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
        meet_handlers(flow);
    }
}

/* What a handler itself may read, not what it leaves for those behind it. */
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

/* What is live at a place of which the caller is not known. */
struct cps_err *code_live(struct code_side *side)
{
    struct flow flow = {.side = side};
    flow.live = calloc((size_t)side->count + 1, sizeof(*flow.live));
    flow.through = calloc((size_t)side->count + 1, sizeof(*flow.through));
    if (!flow.live || !flow.through) {
        free(flow.live);
        free(flow.through);
        return cps_err_nomem();
    }
    find_reads(&flow);
    solve(&flow);
    for (uint32_t at = 0; at + 2 < side->count; at++) {
        unsigned op = code_row(side->image->uop[at].code)->op;
        if (op == CPS_AFUC_CALL || op == CPS_AFUC_BL)
            side->live_at_return |= flow.live[at + 2];
    }
    side->live_at_end = flow.at_end & ~(UINT64_C(1) << R_REM);
    for (uint32_t at = 0; at < side->count; at++)
        flow.live[at] |= flow.through[at] & side->live_at_return;
    side->live = flow.live;
    free(flow.through);
    return NULL;
}
