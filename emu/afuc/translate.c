/* SPDX-License-Identifier: MIT
 * Loops of firmware code as C source, for a compiler that the caller runs. Only loops that stay
 * among general registers are worth it, and only they are translated: what an instruction means is
 * the text of its row in isa/afuc.def, the same that the interpreter expands.
 *
 * A loop is the code from the target of a backward branch to that branch and its delay slot. It
 * becomes a function that runs it until it is left, or until the ticks that remain do not cover
 * its next block: then the interpreter goes on, so that a run may be cut at any tick. */
#include "emu/afuc/load.h"
#include "emu/afuc/machine.h"
#include "emu/afuc/afuc.h"

#include <string.h>

#define MOST_DWORDS 256u /* of a loop */
#define TURNS       4u   /* of a block that repeats itself, at a time */

/* The meaning of a micro-operation that needs no more than general registers; else NULL. */
static const char *const meaning[UOP_COUNT] = {
#define OP(id, text, kind, flow, ...) MEANING_##kind(id, #__VA_ARGS__)
#define MEANING_ALU(id, text)         [UOP_##id##_RR] = text, [UOP_##id##_RI] = text,
#define MEANING_IF(id, text)
#define MEANING_OWN(id, text)
#include "isa/afuc.def"
};

static const char *condition_of(unsigned code)
{
    static const char *const conditions[UOP_COUNT] = {
#define OP(id, text, kind, flow, ...) CONDITION_##kind(id, #__VA_ARGS__)
#define CONDITION_ALU(id, text)
#define CONDITION_IF(id, text) [UOP_##id] = text,
#define CONDITION_OWN(id, text)
#include "isa/afuc.def"
    };
    return conditions[code];
}

struct loop {
    const struct afuc_uop *uop; /* of the image */
    uint32_t first;
    uint32_t end;                 /* behind the delay slot of the last branch */
    bool leader[MOST_DWORDS + 2]; /* a block begins there; by distance from `first` */
};

static bool is_branch(const struct afuc_uop *uop)
{
    return condition_of(uop->code) && uop->s1 <= R_REM;
}

static bool is_plain(const struct afuc_uop *uop)
{
    return meaning[uop->code] || (uop->code == UOP_NOP && !(uop->flags & U_REP));
}

static bool is_inside(const struct loop *loop, uint32_t pc)
{
    return pc >= loop->first && pc < loop->end;
}

/* Whether nothing in it needs the interpreter. */
static bool is_translatable(const struct loop *loop)
{
    for (uint32_t pc = loop->first; pc < loop->end; pc++) {
        bool slot = pc > loop->first && is_branch(loop->uop + pc - 1);
        if (!is_plain(loop->uop + pc) && (slot || !is_branch(loop->uop + pc)))
            return false;
    }
    return !is_branch(loop->uop + loop->end - 1);
}

static void find_leaders(struct loop *loop)
{
    memset(loop->leader, 0, sizeof(loop->leader));
    loop->leader[0] = true;
    for (uint32_t pc = loop->first; pc < loop->end; pc++) {
        const struct afuc_uop *uop = loop->uop + pc;
        if (!is_branch(uop))
            continue;
        loop->leader[pc + 2 - loop->first] = true;
        if (is_inside(loop, uop->target))
            loop->leader[uop->target - loop->first] = true;
    }
}

/* The largest loop that begins at @p first. */
static bool find_loop(const struct afuc_core *core, uint32_t first, struct loop *ret)
{
    uint32_t most = core->uop_count - first < MOST_DWORDS ? core->uop_count - first : MOST_DWORDS;
    for (uint32_t size = most; size >= 2; size--) {
        const struct afuc_uop *last = core->uops + first + size - 2;
        *ret = (struct loop){.uop = core->uops, .first = first, .end = first + size};
        if (is_branch(last) && last->target == first && is_translatable(ret)) {
            find_leaders(ret);
            return true;
        }
    }
    return false;
}

/* Registers that the loop names, as bits. */
static uint64_t registers(const struct loop *loop)
{
    uint64_t used = 0;
    for (uint32_t pc = loop->first; pc < loop->end; pc++) {
        const struct afuc_uop *uop = loop->uop + pc;
        used |= UINT64_C(1) << uop->s1;
        used |= uop->s2 == S2_IMM ? 0 : UINT64_C(1) << uop->s2;
        used |= UINT64_C(1) << uop->dst;
    }
    return used;
}

static void put_instruction(const struct afuc_uop *uop, struct cps_buf *out)
{
    if (!meaning[uop->code])
        return;
    cps_buf_printf(out, "    a = r%u, d = r%u, ", uop->s1, uop->dst);
    cps_buf_printf(out, "b = %s%u, ", uop->s2 == S2_IMM ? "" : "r",
                   uop->s2 == S2_IMM ? uop->imm : uop->s2);
    cps_buf_printf(out, "r%u = (%s);\n", uop->dst, meaning[uop->code]);
}

static void put_goto(const struct loop *loop, uint32_t pc, struct cps_buf *out)
{
    if (is_inside(loop, pc))
        cps_buf_printf(out, "goto at_%u;\n", pc);
    else
        cps_buf_printf(out, "{ pc = %u; goto out; }\n", pc);
}

/* The instructions of a block; with a branch, `x` says whether it is taken. */
static void put_turn(const struct loop *loop, uint32_t pc, uint32_t end, bool branches,
                     struct cps_buf *out)
{
    for (; pc < end; pc++)
        put_instruction(loop->uop + pc, out);
    if (!branches)
        return;
    const struct afuc_uop *branch = loop->uop + end;
    cps_buf_printf(out, "    a = r%u, b = %u, x = (%s);\n", branch->s1, branch->imm,
                   condition_of(branch->code));
    put_instruction(branch + 1, out);
}

/* A block that repeats itself: several turns at a time, so that ticks are counted once, and what
 * the next turn overwrites need not be computed. */
static void put_turns(const struct loop *loop, uint32_t pc, uint32_t end, uint32_t ticks,
                      struct cps_buf *out)
{
    cps_buf_printf(out, "    while (left >= %u) {\n", TURNS * ticks);
    for (unsigned turn = 1; turn <= TURNS; turn++) {
        put_turn(loop, pc, end, true, out);
        cps_buf_printf(out, "    if (!x) { left -= %u; ", turn * ticks);
        put_goto(loop, end + 2, out);
        cps_buf_str(out, "    }\n");
    }
    cps_buf_printf(out, "    left -= %u; }\n", TURNS * ticks);
}

/* The block ends with a branch and its delay slot, or in front of the next one. */
static void put_block(const struct loop *loop, uint32_t pc, struct cps_buf *out)
{
    uint32_t end = pc;
    while (end < loop->end && !is_branch(loop->uop + end) &&
           (end == pc || !loop->leader[end - loop->first]))
        end++;
    bool branches = end < loop->end && is_branch(loop->uop + end);
    uint32_t ticks = end - pc + (branches ? 2 : 0);
    cps_buf_printf(out, "at_%u:\n", pc);
    if (branches && loop->uop[end].target == pc)
        put_turns(loop, pc, end, ticks, out);
    cps_buf_printf(out, "    if (left < %u) { pc = %u; goto out; }\n    left -= %u;\n", ticks, pc,
                   ticks);
    put_turn(loop, pc, end, branches, out);
    if (branches) {
        cps_buf_str(out, "    if (x) ");
        put_goto(loop, loop->uop[end].target, out);
    }
    cps_buf_str(out, "    ");
    put_goto(loop, end + (branches ? 2 : 0), out);
}

static void put_function(const struct loop *loop, unsigned core, struct cps_buf *out)
{
    uint64_t used = registers(loop);
    cps_buf_printf(out, "static uint32_t loop_%u_%u(struct state *s)\n{\n", core, loop->first);
    cps_buf_str(out, "    uint32_t carry = s->carry, a, b, d, x, pc;\n"
                     "    uint64_t left = s->left, t;\n");
    for (unsigned i = 0; i < R_COUNT; i++) {
        if (used >> i & 1)
            cps_buf_printf(out, "    uint32_t r%u = s->r[%u];\n", i, i);
    }
    for (uint32_t pc = loop->first; pc < loop->end; pc++) {
        if (loop->leader[pc - loop->first])
            put_block(loop, pc, out);
    }
    cps_buf_str(out, "out:\n    s->carry = carry, s->left = left;\n");
    for (unsigned i = 0; i < R_COUNT; i++) {
        if (used >> i & 1)
            cps_buf_printf(out, "    s->r[%u] = r%u;\n", i, i);
    }
    cps_buf_str(out, "    return pc;\n}\n");
}

static const char prologue[] = "typedef unsigned int uint32_t;\n"
                               "typedef int int32_t;\n"
                               "typedef unsigned long long uint64_t;\n"
                               "#define UINT64_C(x) x##ull\n"
                               "struct state { uint32_t *r; uint64_t left; uint32_t carry; };\n";

unsigned cps_afuc_translate(const struct cps_afuc *machine, struct cps_buf *out)
{
    unsigned count = 0;
    CPS_BUF table = {0};
    struct loop loop;
    cps_buf_str(out, prologue);
    cps_buf_str(&table, "uint32_t (*const cps_loops[])(struct state *) = {");
    for (unsigned i = 0; i < machine->engine.cores; i++) {
        const struct afuc_core *core = &machine->core[i];
        for (uint32_t pc = 0; core->uops && pc < core->uop_count; pc++) {
            if (!find_loop(core, pc, &loop))
                continue;
            put_function(&loop, i, out);
            cps_buf_printf(&table, "loop_%u_%u, ", i, pc);
            count++;
        }
    }
    cps_buf_printf(out, "%s0};\n", cps_buf_text(&table));
    out->failed |= table.failed;
    return count;
}

/* A copy of the image in which loops begin with NATIVE: only the code differs, so that the
 * interpreter's own handlers may still take the instruction. */
static struct cps_err *link_core(struct afuc_core *core, struct afuc_image *image,
                                 cps_native_loop *const **next)
{
    struct loop loop;
    size_t count = (size_t)core->uop_count + 1;
    image->native = malloc(count * sizeof(*image->native));
    image->loop = calloc(count, sizeof(*image->loop));
    if (!image->native || !image->loop)
        return cps_err_nomem();
    memcpy(image->native, image->uop, count * sizeof(*image->native));
    for (uint32_t pc = 0; pc < core->uop_count; pc++) {
        if (!find_loop(core, pc, &loop))
            continue;
        image->native[pc].code = UOP_NATIVE;
        image->native[pc].go = image->go[TAKE_NATIVE];
        image->loop[pc] = *(*next)++;
    }
    core->hot = image->native;
    core->loops = image->loop;
    return NULL;
}

struct cps_err *cps_afuc_use_native(struct cps_afuc *machine, cps_native_loop *const *loops)
{
    for (unsigned i = 0; i < machine->engine.cores; i++) {
        if (machine->core[i].uops && !machine->image[i]->native)
            CPS_TRY(link_core(&machine->core[i], machine->image[i], &loops));
    }
    return NULL;
}
