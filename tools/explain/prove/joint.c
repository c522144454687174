/* SPDX-License-Identifier: MIT
 * The comparison: a walk over pairs of paths, depth first, with what a path knows asserted in the
 * solver. */
#include "tools/explain/prove/prove.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cmd/terminal/oom.h"

#define MOST_FORKS   400u /* undecided branches of one path */
#define MOST_WAITS   8u   /* turns of a loop that only one side goes */
#define MOST_TARGETS 64u  /* of a computed jump */

struct visit {
    uint32_t pc;
    uint32_t call[CALLS]; /* a routine that is called from several places is no loop */
    unsigned calls;
    const struct visit *before;
};

struct known {
    Z3_ast condition;
    uint32_t pc;
    uint8_t side;
    bool holds;
    const struct known *before;
};

/* A pair of paths as far as they have been gone. */
struct pair {
    struct state s[2];
    enum halt at[2];
    unsigned compared[2]; /* effects that are equal, or left out */
    unsigned extra[2];    /* those that are left out: polls that only one side has */
    unsigned forks;
    bool arrived; /* the side whose turn it is has come to a place already */
    const struct visit *visited;
    const struct known *known;
};

static void explore(struct joint *j, const struct pair *from, unsigned side);

/* A difference outranks all. */
static void raise_verdict(struct joint *j, enum verdict verdict)
{
    bool more = verdict > j->verdict && j->verdict != VERDICT_DIFFERENT;
    if (more || verdict == VERDICT_DIFFERENT)
        j->verdict = verdict;
}

static void undecided(struct joint *j, const char *why)
{
    if (j->verdict != VERDICT_UNDECIDED && j->verdict != VERDICT_DIFFERENT)
        j->why = why;
    raise_verdict(j, VERDICT_UNDECIDED);
    if (!j->follow)
        j->stop = true;
}

/* A difference if @p unequal is possible (NULL: it holds). @return whether there is one, or may
 * be */
static bool differs(struct joint *j, const struct pair *p, Z3_ast unequal, struct difference *d)
{
    struct smt_model model = {0};
    enum smt_answer answer = smt_model(&j->smt, unequal, &model);
    if (answer == SMT_YES) {
        unsigned side = p->s[1].heard[FROM_DATA] > p->s[0].heard[FROM_DATA];
        joint_take_model(j, &p->s[side], side, &model, d);
        if (j->verdict != VERDICT_DIFFERENT)
            j->difference = *d;
        raise_verdict(j, VERDICT_DIFFERENT);
        j->stop = !j->found || j->found(j->context, d);
    } else if (answer == SMT_UNKNOWN) {
        undecided(j, "the solver gave up");
    }
    smt_model_release(&model);
    return answer != SMT_NO;
}

static bool compare_effect(struct joint *j, const struct pair *p, const struct effect *a,
                           const struct effect *b)
{
    struct difference d = {0};
    if (!effect_fits(a, b, d.text, sizeof(d.text)))
        return !differs(j, p, NULL, &d);
    for (unsigned i = 0; i < a->count; i++) {
        char words[48] = "";
        uint32_t x = 0, y = 0;
        if (a->word[i] == b->word[i])
            continue;
        Z3_ast equal = smt_equal(&j->smt, a->word[i], b->word[i]);
        if (smt_known(&j->smt, a->word[i], &x) && smt_known(&j->smt, b->word[i], &y))
            snprintf(words, sizeof(words), ": 0x%x, then 0x%x", x, y);
        snprintf(d.text, sizeof(d.text), "the %s of a %s%s",
                 effect_word_name((enum effect_kind)a->kind, i),
                 effect_name((enum effect_kind)a->kind), words);
        if (differs(j, p, smt_not(&j->smt, equal), &d))
            return false;
    }
    return true;
}

/* The next effect of a side that is not compared; NULL: there is none yet. */
static const struct effect *next_effect(const struct joint *j, const struct pair *p, unsigned side)
{
    return p->compared[side] < p->s[side].effects ? &j->run[side].effect[p->compared[side]] : NULL;
}

static bool is_poll(const struct effect *effect)
{
    return effect && effect->kind == EFFECT_POLL;
}

static void note_wait(struct joint *j, unsigned side, uint32_t pc)
{
    unsigned i = 0;
    raise_verdict(j, VERDICT_WAITS);
    while (i < j->waits.count && (j->waits.pc[i] != pc || j->waits.side[i] != side))
        i++;
    if (i < j->waits.count || i == WAITS_MOST)
        return;
    j->waits.pc[i] = pc;
    j->waits.side[i] = side;
    j->waits.count++;
}

/* A poll that the other side lacks, or has for another value: it only takes time. */
static void leave_out(struct joint *j, struct pair *p, unsigned side)
{
    note_wait(j, side, next_effect(j, p, side)->pc);
    p->compared[side]++;
    p->extra[side]++;
}

static bool same_poll(struct joint *j, const struct effect *a, const struct effect *b)
{
    uint32_t x = 0;
    uint32_t y = 0;
    return is_poll(a) && is_poll(b) && smt_known(&j->smt, a->word[1], &x) &&
           smt_known(&j->smt, b->word[1], &y) && x == y;
}

static bool compare_effects(struct joint *j, struct pair *p)
{
    const struct effect *a, *b;
    while ((a = next_effect(j, p, 0)) && (b = next_effect(j, p, 1))) {
        if (!same_poll(j, a, b) && (is_poll(a) || is_poll(b))) {
            leave_out(j, p, !is_poll(a));
            continue;
        }
        if (!compare_effect(j, p, a, b))
            return false;
        p->compared[0]++;
        p->compared[1]++;
    }
    return true;
}

static bool same_heard(const struct pair *p)
{
    return p->s[0].effects - p->extra[0] == p->s[1].effects - p->extra[1] &&
           p->s[0].epoch == p->s[1].epoch && p->s[0].heard[FROM_DATA] == p->s[1].heard[FROM_DATA] &&
           p->s[0].heard[FROM_MEMDATA] == p->s[1].heard[FROM_MEMDATA] &&
           p->s[0].heard[FROM_REGDATA] == p->s[1].heard[FROM_REGDATA];
}

static bool same_calls(const struct pair *p)
{
    return p->s[0].calls == p->s[1].calls &&
           !memcmp(p->s[0].call, p->s[1].call, p->s[0].calls * sizeof(p->s[0].call[0]));
}

static bool same_state(struct joint *j, const struct pair *p, uint64_t live)
{
    struct left left[MOST_LEFT];
    if (!same_heard(p) || !same_calls(p))
        return false;
    unsigned count = left_words(p->s, live, left);
    for (unsigned i = 0; i < count; i++) {
        if (left[i].word[0] == left[i].word[1])
            continue;
        Z3_ast equal = smt_equal(&j->smt, left[i].word[0], left[i].word[1]);
        if (smt_possible(&j->smt, smt_not(&j->smt, equal)) != SMT_NO)
            return false;
    }
    return true;
}

static void add_child(struct joint *j, uint32_t pc)
{
    uint32_t proven = j->proven ? j->proven[pc] : PROVEN_EQUAL;
    if (proven > PROVEN_EQUAL)
        note_wait(j, proven_side(proven), proven_pc(proven));
    for (size_t i = 0; i < j->children; i++) {
        if (j->child[i] == pc)
            return;
    }
    TOOL_ROOM(j->child, j->children);
    j->child[j->children++] = pc;
}

/* Whether a place of the old revision may stand for itself: the new one has it, and it is not known
 * to differ. */
static bool may_stand(const struct joint *j, uint32_t pc)
{
    return pc < j->code->side[0].count && j->code->pairs.partner[0][pc] != CPS_FW_ALONE &&
           !(j->refused && j->refused[pc]);
}

/* Whether the code that a pair may return to is equal from there, as far as it is known; then both
 * depend on it. A call that stays open at an end is returned from by a later packet. */
static bool returns_stand(struct joint *j, const struct pair *p, uint64_t live)
{
    uint32_t to[CALLS + 1];
    uint32_t link = 0;
    unsigned count = p->s[0].calls;
    memcpy(to, p->s[0].call, sizeof(p->s[0].call));
    if ((live >> R_LR & 1) && smt_known(&j->smt, p->s[0].r[R_LR], &link) && link >= 16)
        to[count++] = link;
    for (unsigned i = 0; i < count; i++) {
        if (!may_stand(j, to[i]) || (j->proven && !j->proven[to[i]]))
            return false;
    }
    for (unsigned i = 0; i < count; i++)
        add_child(j, to[i]);
    return true;
}

/* Whether both stand at the same place in the same state, so that what comes is compared from
 * there, once for all who come there. */
static bool meets(struct joint *j, const struct pair *p)
{
    uint32_t old = p->s[0].pc;
    uint64_t live = j->code->side[0].live[old] | j->code->side[1].live[p->s[1].pc];
    if (j->code->pairs.partner[0][old] != p->s[1].pc || (j->proven && !j->proven[old]) ||
        !may_stand(j, old) || !same_state(j, p, live) || !returns_stand(j, p, live))
        return false;
    add_child(j, old);
    return true;
}

/* Whether paths have been at this place as often as is looked at. */
static bool is_worn(struct joint *j, const struct pair *p)
{
    uint32_t old = p->s[0].pc;
    if (!j->most_visits || old >= j->code->side[0].count ||
        j->code->pairs.partner[0][old] != p->s[1].pc)
        return false;
    if (j->visits[old] < j->most_visits) {
        j->visits[old]++;
        return false;
    }
    j->pruned = true;
    return true;
}

static bool too_often(struct joint *j, const struct pair *p)
{
    unsigned times = 0;
    const struct state *s = &p->s[0];
    for (const struct visit *v = p->visited; v; v = v->before)
        times += v->pc == s->pc && v->calls == s->calls &&
                 !memcmp(v->call, s->call, s->calls * sizeof(s->call[0]));
    if (times <= j->bound)
        return false;
    if (j->follow)
        raise_verdict(j, VERDICT_BOUNDED);
    else
        undecided(j, "a loop that is not in the same state again");
    return true;
}

static void compare_ends(struct joint *j, struct pair *p)
{
    struct difference d = {0};
    struct left left[MOST_LEFT];
    j->paths++;
    bool spins = p->s[0].pc == PC_SPIN;
    if (p->s[0].pc != p->s[1].pc || !same_heard(p) || !(spins || same_calls(p))) {
        snprintf(d.text, sizeof(d.text), "%s",
                 p->s[0].pc != p->s[1].pc ? "the code ends differently"
                 : !same_heard(p)         ? "a different number of words is taken"
                                          : "the call stack that it leaves");
        differs(j, p, NULL, &d);
        return;
    }
    uint64_t live =
        left_live(&j->code->side[0], p->s[0].pc) | left_live(&j->code->side[1], p->s[1].pc);
    unsigned count = left_words(p->s, live, left);
    for (unsigned i = 0; i < count && !j->stop; i++) {
        if (left[i].word[0] == left[i].word[1])
            continue;
        Z3_ast equal = smt_equal(&j->smt, left[i].word[0], left[i].word[1]);
        snprintf(d.text, sizeof(d.text), "what it leaves in %.24s", left[i].name);
        d.left = left[i].bit;
        if (differs(j, p, smt_not(&j->smt, equal), &d))
            return;
    }
    if (!spins && !returns_stand(j, p, 0))
        undecided(j, "code after a call that stays open is not known to be equal");
}

/* Goes on from a computed jump, for every address that is possible. */
static void explore_jump(struct joint *j, struct pair *p)
{
    struct difference d = {.text = "where a computed jump leads"};
    Z3_ast target = p->s[0].target;
    if (target == smt_unknown(&j->smt, "r", R_LR) && p->s[1].target == target) {
        compare_ends(j, p);
        return;
    }
    Z3_ast equal = smt_equal(&j->smt, target, p->s[1].target);
    if (target != p->s[1].target && differs(j, p, smt_not(&j->smt, equal), &d))
        return;
    smt_push(&j->smt);
    for (unsigned i = 0; i <= MOST_TARGETS && !j->stop; i++) {
        struct smt_model model = {0};
        enum smt_answer answer = smt_model(&j->smt, NULL, &model);
        uint32_t old = smt_model_word(&model, target);
        smt_model_release(&model);
        if (answer == SMT_NO)
            break;
        if (answer == SMT_UNKNOWN || i == MOST_TARGETS) {
            undecided(j, "a jump to an address that is computed");
            break;
        }
        Z3_ast here = smt_equal(&j->smt, target, smt_word(&j->smt, old));
        struct pair q = *p;
        if (!runner_jump(&j->run[0], &q.s[0], old) || !runner_jump(&j->run[1], &q.s[1], old)) {
            undecided(j, "a jump to an address that is computed");
            break;
        }
        smt_push(&j->smt);
        smt_assert(&j->smt, here);
        explore(j, &q, 0);
        smt_pop(&j->smt);
        smt_assert(&j->smt, smt_not(&j->smt, here));
    }
    smt_pop(&j->smt);
}

static bool meet(struct joint *j, struct pair *p)
{
    if (!compare_effects(j, p))
        return false;
    bool ended[2] = {p->at[0] == HALT_END, p->at[1] == HALT_END};
    bool same_place = !ended[0] && !ended[1] && p->s[0].pc < j->code->side[0].count &&
                      j->code->pairs.partner[0][p->s[0].pc] == p->s[1].pc;
    if (same_place || ended[0] || ended[1]) {
        /* Polls that stand last, where the other side has come to its end, or to the same place. */
        for (unsigned side = 0; side < 2; side++) {
            while (is_poll(next_effect(j, p, side)))
                leave_out(j, p, side);
        }
    }
    for (unsigned i = 0; i < 2; i++) {
        if (ended[!i] && p->s[!i].pc != PC_JUMP && next_effect(j, p, i)) {
            struct difference d = {0};
            snprintf(d.text, sizeof(d.text), "a %s that only the %s revision has",
                     effect_name((enum effect_kind)next_effect(j, p, i)->kind), i ? "new" : "old");
            differs(j, p, NULL, &d);
            return false;
        }
    }
    if (ended[0] && ended[1]) {
        if (p->s[0].pc == PC_JUMP && p->s[1].pc == PC_JUMP)
            explore_jump(j, p);
        else
            compare_ends(j, p);
        return false;
    }
    if (!ended[0] && !ended[1] && meets(j, p)) {
        j->paths++;
        return false;
    }
    return ended[0] || (!is_worn(j, p) && !too_often(j, p));
}

static bool is_known(const struct joint *j, const struct pair *p, Z3_ast condition, bool *ret)
{
    Z3_ast other = smt_not(&j->smt, condition);
    for (const struct known *k = p->known; k; k = k->before) {
        if (k->condition != condition && k->condition != other)
            continue;
        *ret = k->condition == condition ? k->holds : !k->holds;
        return true;
    }
    return false;
}

/* After a poll that the other side may lack, both can be compared again. */
static bool is_at_cut(const struct joint *j, const struct state *s, unsigned side)
{
    const struct code_side *code = &j->code->side[side];
    return s->pc < code->count && s->npc == s->pc + 1 && code->cut[s->pc];
}

static void explore_branch(struct joint *j, const struct pair *p, unsigned side, bool taken)
{
    Z3_ast condition = p->s[side].condition;
    const struct known known = {condition, p->s[side].pc, (uint8_t)side, taken, p->known};
    struct pair *q = tool_alloc(1, sizeof(*q));
    *q = *p;
    q->known = &known;
    q->forks++;
    bool poll = runner_polls(&j->run[side], &q->s[side]);
    runner_branch(&j->run[side], &q->s[side], taken);
    q->arrived = poll && is_at_cut(j, &q->s[side], side);
    if (q->arrived)
        q->at[side] = HALT_CUT;
    smt_push(&j->smt);
    smt_assert(&j->smt, taken ? condition : smt_not(&j->smt, condition));
    explore(j, q, side);
    smt_pop(&j->smt);
    free(q);
}

/* A branch that one side comes to again and again, without the other one: it waits for a word that
 * nothing is known of. */
static bool waits(struct joint *j, const struct pair *p, unsigned side)
{
    unsigned times = 0;
    for (const struct known *k = p->known; k; k = k->before)
        times += k->pc == p->s[side].pc && k->side == side;
    if (times < MOST_WAITS)
        return false;
    if (j->follow)
        raise_verdict(j, VERDICT_BOUNDED);
    else
        undecided(j, "a loop that waits");
    return true;
}

/* A branch that nothing decides: both ways that are possible. @return whether only one was, which
 * @p p has gone */
static bool decide(struct joint *j, struct pair *p, unsigned side)
{
    Z3_ast condition = p->s[side].condition;
    bool taken = false;
    bool ask = j->follow || side == 1;
    if (is_known(j, p, condition, &taken)) {
        runner_branch(&j->run[side], &p->s[side], taken);
        return true;
    }
    if (runner_polls(&j->run[side], &p->s[side])) { /* the last turn is as good as all of them */
        explore_branch(j, p, side, false);
        return false;
    }
    if (waits(j, p, side))
        return false;
    if (p->forks >= MOST_FORKS || j->paths >= j->most_paths || j->smt.queries >= j->most_queries) {
        undecided(j, p->forks >= MOST_FORKS ? "too many branches" : "too many paths");
        j->stop = true;
        return false;
    }
    bool yes = !ask || smt_possible(&j->smt, condition) != SMT_NO;
    bool no = !ask || !yes || smt_possible(&j->smt, smt_not(&j->smt, condition)) != SMT_NO;
    if (yes != no) {
        runner_branch(&j->run[side], &p->s[side], yes);
        return true;
    }
    explore_branch(j, p, side, true);
    if (!j->stop)
        explore_branch(j, p, side, false);
    return false;
}

/* Runs one side to its next place. @return whether it got there: else both ways of a branch were
 * explored, or it is undecided */
static bool advance(struct joint *j, struct pair *p, unsigned side)
{
    struct runner *run = &j->run[side];
    for (;;) {
        p->at[side] = runner_go(run, &p->s[side]);
        switch (p->at[side]) {
        case HALT_BRANCH:
            if (!decide(j, p, side))
                return false;
            break;
        case HALT_LOST:
            undecided(j, run->why);
            return false;
        case HALT_BUDGET:
            undecided(j, "too long");
            j->stop = true;
            return false;
        default:
            return !j->stop;
        }
    }
}

static void explore(struct joint *j, const struct pair *from, unsigned side)
{
    struct pair *p = tool_alloc(1, sizeof(*p));
    struct visit *visits = NULL;
    *p = *from;
    while (!j->stop) {
        if (p->at[side] != HALT_END && !p->arrived && !advance(j, p, side))
            break;
        p->arrived = false;
        side = !side;
        if (side)
            continue;
        if (!meet(j, p))
            break;
        struct visit *visit = tool_alloc(1, sizeof(*visit));
        *visit = (struct visit){.pc = p->s[0].pc, .calls = p->s[0].calls, .before = p->visited};
        memcpy(visit->call, p->s[0].call, sizeof(visit->call));
        p->visited = visit;
        visits = visit;
    }
    while (visits && visits != from->visited) {
        struct visit *before = (struct visit *)visits->before;
        free(visits);
        visits = before;
    }
    free(p);
}

void joint_compare(struct joint *j, uint32_t old, uint32_t new, const struct state start[2])
{
    struct pair p = {.at = {HALT_CUT, HALT_CUT}};
    j->verdict = VERDICT_EQUAL;
    j->children = 0;
    j->paths = 0;
    j->stop = j->pruned = false;
    j->waits.count = 0;
    memset(j->visits, 0, j->code->side[0].count * sizeof(*j->visits));
    for (unsigned i = 0; i < 2; i++) {
        state_unknown(&j->smt, i ? new : old, &p.s[i]);
        if (start)
            p.s[i] = start[i];
        j->run[i].steps = j->most_steps;
    }
    smt_push(&j->smt);
    joint_assert_invariants(j, &p.s[0]);
    explore(j, &p, 0);
    smt_pop(&j->smt);
}
