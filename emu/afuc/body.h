/* SPDX-License-Identifier: MIT
 * The interpreter: one loop body, compiled twice (run.c). The
 * ALU operations and the branches with a condition expand from isa/afuc.def; every OWN operation
 * needs a handler called own_ID here, and a forgotten one does not compile.
 *
 * `ip` is the instruction that runs, `np` the one after it. A branch changes only where `np`
 * points once the delay slot has become `ip`: that is all a delay slot is, also when the slot holds
 * a branch itself.
 *
 * The including file defines WATCHED: whether events, counters or a log are on. It also defines
 * note_step(), which runs after each instruction and gets the branch target, if there is one.
 *
 * An instruction that cannot go on (its queue is empty) leaves `ip` and `np` as they are and runs
 * again later; nothing of it has happened by then. */

/* Makes the state that handlers outside of the loop look at true. */
#define SYNC()             \
    do {                   \
        s->pc = PC();      \
        core->left = left; \
    } while (0)
#define PC() ((uint32_t)(ip - core->uops))
#define NOTE(to)                               \
    do {                                       \
        if (WATCHED && each)                   \
            note_step(core, ip, (to), before); \
        else if (WATCHED && (to))              \
            note_edge(core, ip, (to));         \
    } while (0)
#define DISPATCH()                    \
    do {                              \
        if (CPS_UNLIKELY(--left < 0)) \
            goto used_up;             \
        goto *handler[ip->take];      \
    } while (0)
#define NEXT()         \
    do {               \
        NOTE(NULL);    \
        NEXT_SILENT(); \
    } while (0)
/* The same without looking: what happened was counted already. */
#define NEXT_SILENT() \
    do {              \
        ip = np;      \
        np = ip + 1;  \
        DISPATCH();   \
    } while (0)
/* The delay slot runs next, then dword @p dword of the image. */
#define BRANCH(dword)                                        \
    do {                                                     \
        const struct afuc_uop *there = core->uops + (dword); \
        NOTE(there);                                         \
        ip = np;                                             \
        np = there;                                          \
        DISPATCH();                                          \
    } while (0)
/* One more repetition: the clock ticks, but it is the same instruction. */
#define AGAIN()                   \
    do {                          \
        core->machine->repeats++; \
        NOTE(NULL);               \
        DISPATCH();               \
    } while (0)
/* Leaves the loop before anything of the instruction has happened. */
#define BLOCK()   \
    do {          \
        left++;   \
        goto out; \
    } while (0)
/* A (rep) instruction with nothing left to do does nothing at all. */
#define BEGIN_ANY()                                          \
    do {                                                     \
        SYNC();                                              \
        if ((ip->flags & U_REP) && r[R_REM] == 0)            \
            NEXT();                                          \
        if (!(ip->flags & U_FREE) && !afuc_ready_(core, ip)) \
            BLOCK();                                         \
    } while (0)
/* A source, and the destination, which are general registers mostly. */
#define READ(number) (CPS_LIKELY((number) <= R_REM) ? r[number] : afuc_read_(core, ip, (number)))
#define WRITE(value)                             \
    do {                                         \
        if (CPS_LIKELY(ip->dst - 1u < R_REM))    \
            r[ip->dst] = (value);                \
        else                                     \
            afuc_write_(core, ip->dst, (value)); \
    } while (0)
/* Ends one execution: (rep) counts $rem down itself unless the instruction popped $data, which it
 * does not while a control register makes that a peek. */
#define END_ANY()                                \
    do {                                         \
        if (CPS_UNLIKELY(s->wait))               \
            goto stopped;                        \
        if (!(ip->flags & U_REP))                \
            NEXT();                              \
        if (!(ip->flags & U_POPS) || s->peeking) \
            r[R_REM]--;                          \
        if (r[R_REM] == 0)                       \
            NEXT();                              \
        AGAIN();                                 \
    } while (0)
/* Sum of offset register and base; the pre-increment form keeps it. */
#define ADDRESS()                                            \
    do {                                                     \
        t = r[ip->s1 & 31] + ip->imm;                        \
        if (ip->flags & U_PRE)                               \
            r[ip->s1 ? ip->s1 & 31 : R_TRASH] = (uint32_t)t; \
    } while (0)
/* The value a branch tests, which may come from a queue. */
#define BRANCH_SOURCE()                       \
    do {                                      \
        if (CPS_LIKELY(ip->s1 <= R_REM)) {    \
            a = r[ip->s1];                    \
        } else {                              \
            SYNC();                           \
            if (!afuc_ready_(core, ip))       \
                BLOCK();                      \
            a = afuc_read_(core, ip, ip->s1); \
        }                                     \
    } while (0)
#define BRANCH_IF(condition)    \
    do {                        \
        if (condition)          \
            BRANCH(ip->target); \
        NEXT();                 \
    } while (0)
#define BRANCH_CHECKED(dword)                   \
    do {                                        \
        uint32_t to_ = (dword);                 \
        if (to_ >= core->uop_count) {           \
            SYNC();                             \
            afuc_fault_(core, FAULT_JUMP, to_); \
            goto out;                           \
        }                                       \
        BRANCH(to_);                            \
    } while (0)

uint64_t AFUC_RUN(struct afuc_core *core, uint64_t budget)
{
    static const void *const handler[UOP_COUNT] = {
#define OP(id, text, kind, ...) LABELS_##kind(id)
#define LABELS_ALU(id) \
    [UOP_##id##_RR] = &&rr_##id, [UOP_##id##_RI] = &&ri_##id, [UOP_##id##_ANY] = &&any_##id,
#define LABELS_IF(id)  [UOP_##id] = &&if_##id,
#define LABELS_OWN(id) [UOP_##id] = &&own_##id,
#include "isa/afuc.def"
        [UOP_ILLEGAL] = &&illegal,
        [UOP_BULK] = &&bulk,
        [UOP_TYPE4] = &&type4,
    };
    budget = budget < INT64_MAX ? budget : INT64_MAX;
    struct afuc_state *const s = &core->s;
    uint32_t *const r = s->r;
    const struct afuc_uop *ip = core->uops + s->pc;
    const struct afuc_uop *np = core->uops + s->npc;
    int64_t left = (int64_t)budget;
    uint32_t carry = s->carry;
    uint32_t a, b, d;
    uint32_t target; /* its address is taken: it lies in memory, where a, b and d must not */
    uint64_t t;

    core->clock_end = core->machine->engine.clock + budget;
    s->wait = WAIT_NONE;
    stream_recheck_(core);
    uint32_t before[R_COUNT];
    /* Else the watcher has a log of branches alone. */
    const bool each = WATCHED && (core->cover || wants_steps(core));
    if (WATCHED)
        memcpy(before, r, sizeof(before));
    DISPATCH();

    /* Register ALU, immediate ALU, and both with queues or prefixes; branches. */
#define OP(id, text, kind, flow, act, ...) ROWS_##kind(id, __VA_ARGS__)
#define ROWS_OWN(id, meaning)
#define ROWS_IF(id, ...)       \
    if_##id : BRANCH_SOURCE(); \
    b = ip->imm;               \
    (void)a, (void)b;          \
    BRANCH_IF(__VA_ARGS__);
#define ROWS_ALU(id, ...)                                   \
    rr_##id : a = r[ip->s1], b = r[ip->s2], d = r[ip->dst]; \
    (void)a, (void)b, (void)d;                              \
    r[ip->dst] = (__VA_ARGS__);                             \
    NEXT();                                                 \
    ri_##id : a = r[ip->s1], b = ip->imm, d = r[ip->dst];   \
    (void)a, (void)b, (void)d;                              \
    r[ip->dst] = (__VA_ARGS__);                             \
    NEXT();                                                 \
    any_##id : BEGIN_ANY();                                 \
    a = READ(ip->s1);                                       \
    b = ip->s2 == S2_IMM ? ip->imm : READ(ip->s2);          \
    d = r[ip->dst];                                         \
    (void)a, (void)b, (void)d;                              \
    a = (__VA_ARGS__);                                      \
    goto any_done;
#include "isa/afuc.def"

bulk:
    SYNC();
    t = s->r[R_REM] && !(WATCHED && wants_steps(core)) ? afuc_bulk_(core, ip, (uint64_t)left + 1)
                                                       : 0;
    if (!t)
        goto any_OR;
    if (WATCHED && core->cover)
        core->cover[PC()].run += t;
    left -= (int64_t)t - 1;
    core->machine->repeats += t - (r[R_REM] == 0 || s->wait);
    if (CPS_UNLIKELY(s->wait))
        goto out;
    if (r[R_REM])
        DISPATCH();
    NEXT_SILENT();

any_done:
    WRITE(a);
    if (ip->xmov)
        afuc_extra_moves_(core, ip);
    END_ANY();

own_STORE:
own_STOREP:
    BEGIN_ANY();
    b = READ(ip->s2);
    ADDRESS();
    afuc_store_(core, (uint32_t)t, b);
    END_ANY();
own_LOAD:
own_LOADP:
    BEGIN_ANY();
    ADDRESS();
    afuc_write_(core, ip->dst, afuc_load_word_(core, (uint32_t)t));
    END_ANY();
own_CWRITE : {
    uint32_t extra[3] = {0};
    BEGIN_ANY();
    if (core->dde && !afuc_ready_(core, ip))
        BLOCK();
    b = READ(ip->s2);
    for (unsigned i = 0; i < ip->xmov; i++)
        extra[i] = afuc_read_(core, ip, ip->s2);
    ADDRESS();
    afuc_control_write_(core, (uint32_t)t, b, extra);
    END_ANY();
}
own_CREAD:
    BEGIN_ANY();
    ADDRESS();
    afuc_write_(core, ip->dst, afuc_control_read_(core, (uint32_t)t));
    END_ANY();
own_SWRITE:
    BEGIN_ANY();
    b = READ(ip->s2);
    ADDRESS();
    afuc_sqe_write_(core, (uint32_t)t, b);
    END_ANY();
own_SREAD:
    BEGIN_ANY();
    ADDRESS();
    afuc_write_(core, ip->dst, s->sqe[(uint32_t)t % SQE_COUNT]);
    END_ANY();

own_JUMPA:
    BRANCH(ip->target);
own_CALL:
    a = s->sqe[SQE_SP]++;
    if (CPS_UNLIKELY(a - STACK_DEPTH <= INT32_MAX)) {
        SYNC();
        afuc_report_stack_(core);
    }
    s->sqe[SQE_STACK + a % STACK_DEPTH] = PC() + 2;
    BRANCH(ip->target);
own_RET:
    a = --s->sqe[SQE_SP];
    if (CPS_UNLIKELY(a > INT32_MAX)) {
        SYNC();
        afuc_report_stack_(core);
    }
    BRANCH_CHECKED(s->sqe[SQE_STACK + a % STACK_DEPTH]);
own_BL:
    r[R_LR] = PC() + 2;
    BRANCH(ip->target);
own_SRET:
    BRANCH_CHECKED(r[R_LR]);
own_JUMPR:
own_JUMPD:
    BRANCH_SOURCE();
    BRANCH_CHECKED(a);
own_IRET:
    SYNC();
    if (!afuc_iret_(core, &target))
        goto out;
    BRANCH_CHECKED(target);
type4:
    t = !WATCHED && np == ip + 1 ? afuc_type4_(core, ip, (uint64_t)left + 1) : 0;
    if (CPS_UNLIKELY(!t))
        goto any_USHR;
    left -= (int64_t)t - 1;
    ip = core->uops + s->pc;
    np = ip + 1;
    DISPATCH();

own_WAITIN:
    SYNC();
    b = afuc_dispatch_(core, &target);
    if (b == DISPATCH_NOTHING)
        BLOCK();
    if (CPS_UNLIKELY(s->wait))
        goto out;
    if (b == DISPATCH_INTERRUPT && target < core->uop_count) {
        NOTE(NULL);
        ip = core->uops + target;
        np = ip + 1;
        DISPATCH();
    }
    BRANCH_CHECKED(target);
own_SETSECURE:
    SYNC();
    a = afuc_setsecure_(core) ? 3 : 1;
    NOTE(NULL);
    ip += a;
    np = ip + 1;
    DISPATCH();
own_NOP:
    if (ip->flags & U_REP && r[R_REM] && --r[R_REM])
        AGAIN();
    NEXT();
illegal:
    SYNC();
    afuc_fault_(core, FAULT_ILLEGAL, PC());
    BLOCK();

/* A fault leaves the instruction as it is; the wait of the pipe is after it. */
stopped:
    if (s->wait != WAIT_PIPE)
        goto out;
    if ((ip->flags & U_REP) && (!(ip->flags & U_POPS) || s->peeking))
        r[R_REM]--;
    NOTE(NULL);
    if (!(ip->flags & U_REP) || !r[R_REM]) {
        ip = np;
        np = ip + 1;
    }
    goto out;

used_up:
    left = 0;
out:
    s->pc = PC();
    s->npc = (uint32_t)(np - core->uops);
    s->carry = carry;
    core->machine->engine.clock = core->clock_end - (uint64_t)left;
    return budget - (uint64_t)left;
}

#undef AFUC_RUN
#undef WATCHED
