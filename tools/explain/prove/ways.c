/* SPDX-License-Identifier: MIT
 * What the rows of afuc.def say of an instruction: where it leads, and whether it may name an
 * address. */
#include "tools/explain/prove/prove.h"

bool code_has_slot(const struct afuc_row *row)
{
    return row->flow != CPS_FLOW_NEXT && row->flow != CPS_FLOW_SKIP && row->flow != CPS_FLOW_END;
}

struct code_ways code_ways(const struct afuc_row *row)
{
    switch (row->act) {
    case ACT_CONDITION:
        return (struct code_ways){.target = true, .next = row->flow != CPS_FLOW_JUMP};
    case ACT_JUMP:
        return (struct code_ways){.target = true};
    case ACT_STACK_CALL:
    case ACT_LINK_CALL:
        return (struct code_ways){.target = true, .next = true, .call = true};
    case ACT_STACK_RETURN:
    case ACT_LINK_RETURN:
        return (struct code_ways){.back = true};
    case ACT_DISPATCH:
    case ACT_LEAVE:
        return (struct code_ways){.end = true};
    case ACT_SECURE:
        return (struct code_ways){.target = true, .next = true, .skip = true};
    case ACT_JUMP_REGISTER:
        return (struct code_ways){.somewhere = true};
    case ACT_ILLEGAL:
        return (struct code_ways){.target = false};
    case ACT_EXPRESSION:
    case ACT_MEMORY_WRITE:
    case ACT_MEMORY_READ:
    case ACT_CONTROL_WRITE:
    case ACT_CONTROL_READ:
    case ACT_SQE_WRITE:
    case ACT_SQE_READ:
    case ACT_NOTHING:
        break;
    }
    return (struct code_ways){.next = true};
}

bool code_names_target(const struct afuc_row *row)
{
    struct code_ways ways = code_ways(row);
    return ways.target && !ways.skip;
}

bool code_may_address(const struct afuc_uop *uop)
{
    static const bool may[CPS_AFUC_OP_COUNT] = {
#define ADR(id) [CPS_AFUC_##id] = true,
#include "isa/afuc.def"
    };
    return uop->s2 == S2_IMM && may[afuc_row_(uop->code)->op];
}

bool code_same(const struct afuc_uop *a, const struct afuc_uop *b)
{
    return a->code == b->code && a->dst == b->dst && a->s1 == b->s1 && a->s2 == b->s2 &&
           a->flags == b->flags && a->xmov == b->xmov;
}
