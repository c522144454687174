/* SPDX-License-Identifier: MIT
 * Where the code of two firmware images differs: both are walked in step from each packet's
 * handler, so that code which only moved is no difference. */
#include <string.h>

#include "isa/base/list.h"
#include "fw/image/private.h"

/* Both walks stand here; `last` is a delay slot behind which nothing follows. */
struct place {
    uint32_t a, b;
    bool last;
};

struct walk {
    const struct cps_fw *fw_a, *fw_b;
    const struct cps_fw_part *part_a, *part_b;
    uint32_t *partner; /* per dword of part_a: where part_b has the same; CPS_FW_NONE: not seen */
    struct place *todo;
    size_t todo_count;
    struct cps_fw_change *change;
    size_t change_count;
    bool failed;
};

#define RESYNC  16u /* instructions skipped on one side to find the other's way again */
#define CERTAIN 3u

static bool decode(const struct cps_fw *fw, const struct cps_fw_part *part, uint32_t at,
                   struct cps_insn *ret)
{
    if (at >= part->size)
        return false;
    cps_decode(&cps_isa_afuc, fw->gen, fw->words[part->start + at], ret);
    return true;
}

static int64_t operand(const struct cps_insn *insn, enum cps_afuc_field field)
{
    return cps_insn_field(&cps_isa_afuc, insn, field, -1);
}

/* The bits that say where a branch goes. */
static uint32_t target_bits(const struct cps_insn *insn)
{
    return (uint32_t)cps_insn_target_bits(&cps_isa_afuc, insn);
}

bool cps_fw_same_insn(enum cps_gen gen, uint32_t a, uint32_t b)
{
    struct cps_insn insn;
    cps_decode(&cps_isa_afuc, gen, a, &insn);
    return !((a ^ b) & ~target_bits(&insn));
}

/* Whether only its target follows, behind its delay slot. */
static bool ends_path(const struct cps_insn *insn)
{
    switch (cps_insn_flow(&cps_isa_afuc, insn)) {
    case CPS_FLOW_JUMP:
    case CPS_FLOW_RETURN:
    case CPS_FLOW_DISPATCH:
    case CPS_FLOW_END:
        return true;
    default:
        return false;
    }
}

static uint32_t word_at(const struct cps_fw *fw, const struct cps_fw_part *part, uint32_t at)
{
    return fw->words[part->start + at];
}

/* Constants that are addresses move with what they point to: the same eight words stand there. */
static bool same_address(const struct walk *w, const struct cps_insn *a, const struct cps_insn *b)
{
    int64_t va = operand(a, CPS_AFUC_F_IMM16);
    int64_t vb = operand(b, CPS_AFUC_F_IMM16);
    if (a->op != CPS_AFUC_MOVI || b->op != CPS_AFUC_MOVI || va < 16 || vb < 16 ||
        va >= w->part_a->size || vb >= w->part_b->size ||
        operand(a, CPS_AFUC_F_DST) != operand(b, CPS_AFUC_F_DST) ||
        operand(a, CPS_AFUC_F_SHIFT) != operand(b, CPS_AFUC_F_SHIFT))
        return false;
    for (uint32_t i = 0; i < 8; i++) {
        if ((uint32_t)va + i >= w->part_a->size || (uint32_t)vb + i >= w->part_b->size)
            return false;
        struct cps_insn x, y;
        decode(w->fw_a, w->part_a, (uint32_t)va + i, &x);
        decode(w->fw_b, w->part_b, (uint32_t)vb + i, &y);
        uint32_t free_bits = target_bits(&x);
        if ((word_at(w->fw_a, w->part_a, (uint32_t)va + i) ^
             word_at(w->fw_b, w->part_b, (uint32_t)vb + i)) &
            ~free_bits)
            return false;
    }
    return true;
}

/* The same but for where it goes. */
static bool same_at(const struct walk *w, uint32_t a, uint32_t b)
{
    struct cps_insn x, y;
    if (!decode(w->fw_a, w->part_a, a, &x) || !decode(w->fw_b, w->part_b, b, &y))
        return false;
    uint32_t difference = word_at(w->fw_a, w->part_a, a) ^ word_at(w->fw_b, w->part_b, b);
    return x.op == y.op && (!(difference & ~target_bits(&x)) || same_address(w, &x, &y));
}

static bool is_nop(const struct cps_fw *fw, const struct cps_fw_part *part, uint32_t at)
{
    struct cps_insn insn;
    return decode(fw, part, at, &insn) && insn.op == CPS_AFUC_NOP;
}

static void push(struct walk *w, uint32_t a, uint32_t b, bool last)
{
    if (CPS_LIST_ROOM(w->todo, w->todo_count))
        w->todo[w->todo_count++] = (struct place){a, b, last};
    else
        w->failed = true;
}

static void add_change(struct walk *w, uint32_t a, uint32_t b)
{
    for (size_t i = 0; i < w->change_count; i++) {
        if (w->change[i].role == w->part_a->role && (w->change[i].a == a || w->change[i].b == b))
            return;
    }
    if (CPS_LIST_ROOM(w->change, w->change_count))
        w->change[w->change_count++] = (struct cps_fw_change){w->part_a->role, a, b};
    else
        w->failed = true;
}

static bool certain(const struct walk *w, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < CERTAIN; i++) {
        if (!same_at(w, a + i, b + i))
            return false;
    }
    return true;
}

/* Goes on behind instructions that one side has more, or behind one that changed. Padding alone is
 * no change. */
static void resync(struct walk *w, uint32_t a, uint32_t b)
{
    for (uint32_t skip = 1; skip <= RESYNC; skip++) {
        bool more_b = certain(w, a, b + skip);
        bool more_a = !more_b && certain(w, a + skip, b);
        bool replaced = !more_b && !more_a && certain(w, a + skip, b + skip);
        if (!more_a && !more_b && !replaced)
            continue;
        bool padding = more_a || more_b;
        for (uint32_t i = 0; i < skip && padding; i++)
            padding =
                more_b ? is_nop(w->fw_b, w->part_b, b + i) : is_nop(w->fw_a, w->part_a, a + i);
        if (!padding)
            add_change(w, a, b);
        push(w, a + (more_b ? 0 : skip), b + (more_a ? 0 : skip), false);
        return;
    }
    add_change(w, a, b);
}

static void visit(struct walk *w, struct place at)
{
    struct cps_insn a, b;
    uint32_t to_a = 0;
    uint32_t to_b = 0;
    if (at.a >= w->part_a->size || at.b >= w->part_b->size || w->partner[at.a] != CPS_FW_NONE)
        return;
    w->partner[at.a] = at.b;
    if (!same_at(w, at.a, at.b)) {
        resync(w, at.a, at.b);
        return;
    }
    decode(w->fw_a, w->part_a, at.a, &a);
    decode(w->fw_b, w->part_b, at.b, &b);
    if (cps_insn_target(&cps_isa_afuc, &a, at.a, &to_a) &&
        cps_insn_target(&cps_isa_afuc, &b, at.b, &to_b))
        push(w, to_a, to_b, false);
    if (!at.last)
        push(w, at.a + 1, at.b + 1, ends_path(&a));
}

static void walk_from(struct walk *w, uint32_t a, uint32_t b)
{
    push(w, a, b, false);
    while (w->todo_count && !w->failed)
        visit(w, w->todo[--w->todo_count]);
}

static bool walk_part(struct walk *w)
{
    w->partner = malloc(w->part_a->size * sizeof(*w->partner));
    if (!w->partner)
        return false;
    memset(w->partner, 0xff, w->part_a->size * sizeof(*w->partner));
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++) {
        uint32_t a = cps_fw_handler(w->fw_a, w->part_a, id);
        uint32_t b = cps_fw_handler(w->fw_b, w->part_b, id);
        if (a != CPS_FW_NONE && b != CPS_FW_NONE)
            walk_from(w, a, b);
    }
    walk_from(w, 2, 2); /* the bootstrap, behind the two header words */
    free(w->partner);
    return !w->failed;
}

struct cps_err *cps_fw_compare(const struct cps_fw *a, const struct cps_fw *b,
                               struct cps_fw_change **ret, size_t *count)
{
    struct walk w = {.fw_a = a, .fw_b = b};
    *ret = NULL;
    *count = 0;
    if (a->gen != b->gen)
        return cps_err_new(CPS_ERR_INPUT, "%s is %s, %s is %s: there is nothing to compare",
                           a->name, cps_gen_name(a->gen), b->name, cps_gen_name(b->gen));
    bool good = true;
    for (unsigned i = 0; i < a->part_count && i < b->part_count && good; i++) {
        w.part_a = &a->part[i];
        w.part_b = &b->part[i];
        good = walk_part(&w);
    }
    free(w.todo);
    if (!good) {
        free(w.change);
        return cps_err_nomem();
    }
    *ret = w.change;
    *count = w.change_count;
    return NULL;
}
