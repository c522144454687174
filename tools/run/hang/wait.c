/* SPDX-License-Identifier: MIT
 * The loop in which a processor waits, and what it reads there. */
#include "tools/run/hang/hang.h"

enum { R_MEMDATA = 0x1d, R_REGDATA = 0x1e, R_DATA = 0x1f };
/* The longest loop that is taken for a poll, and how often a value is followed to where it is from.
 */
enum { LONGEST = 24, HOPS = 4 };
/* The control register that asks for registers of the GPU: REG_READ_ADDR of a6xx. */
enum { REG_READ_ADDR = 0x27 };

struct code_at {
    const struct cps_fw_icache *cache;
    enum cps_gen gen;
    const struct dump_block *stat;
};

static bool read_at(const struct code_at *c, uint32_t at, struct cps_insn *ret)
{
    if (at >= c->cache->count || c->cache->mark[at] == CPS_FW_UNKNOWN)
        return false;
    cps_decode(&cps_isa_afuc, c->gen, c->cache->word[at], ret);
    return true;
}

static int64_t field(const struct cps_insn *insn, unsigned which)
{
    return cps_insn_field(&cps_isa_afuc, insn, which, -1);
}

struct loop {
    uint32_t from, branch, end; /* `end` with the delay slot */
    struct cps_insn insn;       /* the branch */
};

static bool goes_back(const struct code_at *c, uint32_t at, struct loop *ret)
{
    if (!read_at(c, at, &ret->insn))
        return false;
    enum cps_flow flow = cps_insn_flow(&cps_isa_afuc, &ret->insn);
    ret->branch = at;
    ret->end = at + cps_insn_has_slot(&cps_isa_afuc, &ret->insn);
    return (flow == CPS_FLOW_BRANCH || flow == CPS_FLOW_JUMP) &&
           cps_insn_target(&cps_isa_afuc, &ret->insn, at, &ret->from) && ret->from <= at &&
           at - ret->from <= LONGEST;
}

/* The shortest loop around @p pc that has more than @p least instructions. */
static bool find_loop(const struct code_at *c, uint32_t pc, uint32_t least, struct loop *ret)
{
    bool found = false;
    for (uint32_t at = pc ? pc - 1 : 0; at <= pc + LONGEST; at++) {
        struct loop loop;
        if (!goes_back(c, at, &loop) || loop.from > pc || loop.end < pc ||
            loop.branch - loop.from < least)
            continue;
        if (found && loop.branch - loop.from >= ret->branch - ret->from)
            continue;
        *ret = loop;
        found = true;
    }
    return found;
}

/* Which register of the GPU the loop asks for: what is in the register that it writes to the
 * control register. */
static uint32_t register_asked(const struct code_at *c, const struct loop *loop)
{
    struct cps_insn insn;
    for (uint32_t at = loop->from; at <= loop->end; at++) {
        if (!read_at(c, at, &insn) || insn.op != CPS_AFUC_CWRITE ||
            field(&insn, CPS_AFUC_F_CTL) != REG_READ_ADDR)
            continue;
        int64_t from = field(&insn, CPS_AFUC_F_SRC2);
        return from > 0 && from < 0x1c ? dump_word(c->stat, (size_t)from) & 0x3ffff : 0;
    }
    return 0;
}

static bool is_source(const struct cps_insn *insn, int64_t reg)
{
    return field(insn, CPS_AFUC_F_SRC1) == reg || field(insn, CPS_AFUC_F_SRC2) == reg ||
           field(insn, CPS_AFUC_F_REG) == reg;
}

/* What an instruction puts into its destination; UNKNOWN: something it has computed. */
static struct hang_wait source_of(const struct code_at *c, const struct loop *loop,
                                  const struct cps_insn *insn)
{
    struct hang_wait wait = {.branch = loop->branch};
    if (insn->op == CPS_AFUC_CREAD) {
        wait.what = HANG_WAIT_CONTROL;
        wait.number = (uint32_t)field(insn, CPS_AFUC_F_CTL);
    } else if (insn->op == CPS_AFUC_LOAD || insn->op == CPS_AFUC_LOADP ||
               is_source(insn, R_MEMDATA)) {
        wait.what = HANG_WAIT_MEMORY;
    } else if (is_source(insn, R_REGDATA)) {
        wait.what = HANG_WAIT_REGISTER;
        wait.number = register_asked(c, loop);
    }
    return wait;
}

/* Follows a value backwards through the loop to where it is read. */
static struct hang_wait trace_back(const struct code_at *c, const struct loop *loop, int64_t reg)
{
    uint32_t at = loop->end + 1;
    for (unsigned hop = 0; hop < HOPS && reg > 0; hop++) {
        struct cps_insn insn;
        int64_t written = -1;
        while (at > loop->from && written != reg)
            written = read_at(c, --at, &insn) ? field(&insn, CPS_AFUC_F_DST) : -1;
        if (written != reg)
            break;
        struct hang_wait wait = source_of(c, loop, &insn);
        if (wait.what)
            return wait;
        reg = field(&insn, CPS_AFUC_F_SRC1);
    }
    return (struct hang_wait){.what = HANG_WAIT_LOOP, .branch = loop->branch};
}

static struct hang_wait poll(const struct code_at *c, const struct loop *loop)
{
    bool always = cps_insn_flow(&cps_isa_afuc, &loop->insn) == CPS_FLOW_JUMP;
    if (always && loop->branch == loop->from)
        return (struct hang_wait){.what = HANG_WAIT_SELF, .branch = loop->branch};
    if (!always)
        return trace_back(c, loop, field(&loop->insn, CPS_AFUC_F_SRC1));
    for (uint32_t at = loop->from; at < loop->branch; at++) {
        struct cps_insn insn;
        if (!read_at(c, at, &insn) || cps_insn_flow(&cps_isa_afuc, &insn) != CPS_FLOW_BRANCH)
            continue;
        struct hang_wait wait = trace_back(c, loop, field(&insn, CPS_AFUC_F_SRC1));
        if (wait.what != HANG_WAIT_LOOP)
            return wait;
    }
    return (struct hang_wait){.what = HANG_WAIT_LOOP, .branch = loop->branch};
}

/* The function that a loop calls, whose result may end it. */
static bool calls(const struct code_at *c, const struct loop *loop, uint32_t *ret)
{
    struct cps_insn insn;
    for (uint32_t at = loop->from; at < loop->branch; at++) {
        if (read_at(c, at, &insn) && cps_insn_flow(&cps_isa_afuc, &insn) == CPS_FLOW_CALL &&
            cps_insn_target(&cps_isa_afuc, &insn, at, ret))
            return true;
    }
    return false;
}

/* An instruction that reads a queue waits until there is something in it. */
static enum hang_wait_for queue_of(const struct cps_insn *insn)
{
    if (cps_insn_flow(&cps_isa_afuc, insn) == CPS_FLOW_DISPATCH)
        return HANG_WAIT_PACKET;
    return is_source(insn, R_DATA)      ? HANG_WAIT_STREAM
           : is_source(insn, R_MEMDATA) ? HANG_WAIT_MEMDATA
           : is_source(insn, R_REGDATA) ? HANG_WAIT_REGDATA
                                        : HANG_WAIT_UNKNOWN;
}

void hang_wait_of(const struct cps_fw_icache *cache, enum cps_gen gen,
                  const struct dump_block *stat, uint32_t pc, struct hang_wait *ret)
{
    const struct code_at code = {cache, gen, stat};
    struct cps_insn insn;
    struct loop loop;
    *ret = (struct hang_wait){0};
    if (!read_at(&code, pc, &insn))
        return;
    /* One that only counts down, between two polls, is in the loop of these. */
    uint32_t least = 0;
    while (find_loop(&code, pc, least, &loop) &&
           (ret->what == HANG_WAIT_UNKNOWN || ret->what == HANG_WAIT_LOOP)) {
        *ret = poll(&code, &loop);
        least = loop.branch - loop.from + 1;
        if (ret->what == HANG_WAIT_LOOP && calls(&code, &loop, &ret->number))
            ret->what = HANG_WAIT_CALLED;
    }
    if (!least)
        ret->what = queue_of(&insn);
}
