/* SPDX-License-Identifier: MIT
 * What two paths leave behind, pair by pair; and how a comparison begins and ends. */
#include "tools/prove/left.h"

#include <stdio.h>
#include <stdlib.h>

#include "tools/prove/joint.h"

#define MOST_STEPS 200000u /* instructions of one comparison */

unsigned left_words(const struct state *s, uint64_t live, struct left *ret)
{
    unsigned count = 0;
    for (unsigned i = 1; i <= R_REM; i++) {
        if (!(live >> i & 1))
            continue;
        snprintf(ret[count].name, sizeof(ret->name), "register $%02x", i);
        ret[count].bit = UINT64_C(1) << i;
        ret[count].word[0] = s[0].r[i];
        ret[count++].word[1] = s[1].r[i];
    }
    if (live & LIVE_CARRY)
        ret[count++] = (struct left){"the carry", LIVE_CARRY, {s[0].carry, s[1].carry}};
    if (live & LIVE_ADDR) {
        ret[count++] = (struct left){"the selection", LIVE_ADDR, {s[0].user, s[1].user}};
        ret[count++] = (struct left){"$addr", LIVE_ADDR, {s[0].addr, s[1].addr}};
        ret[count++] = (struct left){"$usraddr", LIVE_ADDR, {s[0].usraddr, s[1].usraddr}};
    }
    for (unsigned i = 0; i < SQE_COUNT; i++) {
        snprintf(ret[count].name, sizeof(ret->name), "SQE register 0x%02x", i);
        ret[count].bit = 0;
        ret[count].word[0] = s[0].sqe[i];
        ret[count++].word[1] = s[1].sqe[i];
    }
    return count;
}

uint64_t left_live(const struct code_side *side, uint32_t pc)
{
    if (pc == PC_END)
        return side->live_at_end;
    if (pc == PC_SPIN)
        return 0;
    return pc == PC_IRET ? UINT64_MAX >> 30 : side->live_at_return;
}

struct cps_err *joint_init(const struct code *code, unsigned effort, struct joint *ret)
{
    *ret = (struct joint){.code = code,
                          .bound = 2,
                          .most_paths = 20000,
                          .most_queries = UINT64_MAX,
                          .most_steps = MOST_STEPS};
    ret->visits = calloc((size_t)code->side[0].count + 1, sizeof(*ret->visits));
    if (!ret->visits)
        return cps_err_nomem();
    CPS_TRY(smt_init(&ret->smt, effort));
    for (unsigned i = 0; i < 2; i++)
        ret->run[i] = (struct runner){.smt = &ret->smt, .code = code, .side = i};
    return NULL;
}

void joint_deinit(struct joint *joint)
{
    runner_deinit(&joint->run[0]);
    runner_deinit(&joint->run[1]);
    free(joint->child);
    free(joint->visits);
    smt_deinit(&joint->smt);
    *joint = (struct joint){0};
}

void joint_assert_invariants(const struct joint *j, const struct state *s)
{
    Z3_context z = j->smt.z;
    uint32_t gen = cps_gen_bit(j->code->side[0].fw->gen);
#define INVARIANT(gens, reg, mask, most, text, evidence)                                       \
    if ((gens)&gen)                                                                            \
        smt_assert(&j->smt, Z3_mk_bvule(z, Z3_mk_bvand(z, s->r[reg], smt_word(&j->smt, mask)), \
                                        smt_word(&j->smt, most)));
#include "tools/prove/invariant.def"
}
