/* SPDX-License-Identifier: MIT
 * How one numbering of control registers maps to another: the same handlers of two images are laid
 * side by side; where their instructions agree but for the number of a control register, that pair
 * of lines is evidence that both numbers are of one register. */
#include <string.h>

#include "isa/base/list.h"
#include "fw/image/pairs.h"
#include "fw/image/private.h"
#include "fw/image/walk.h"

enum {
    CONTROLS = 0x1000,
    MOST = 2048, /* words of a handler that are looked at: what is after it is shared code */
    RUN = 4,     /* words in a row that agree; single ones agree by chance */
    SHARE = 2,   /* of SHARE_OF pairs of a register name its partner, on both sides */
    SHARE_OF = 3,
};

/* Words of a part with what may differ taken out, and the control register that each names. */
struct side {
    const struct cps_fw *fw;
    const struct cps_fw_part *part;
    uint64_t *token;
    uint16_t *control; /* CONTROLS: none */
    uint32_t count;
};

struct tally {
    uint32_t *votes; /* by number in a, then by number in b */
    uint8_t *done;   /* dwords of a that a handler began at */
};

static void deinit_side(struct side *s)
{
    free(s->token);
    free(s->control);
}

/* Instructions of a control register whose number is in the word. */
static bool names_control(const struct cps_insn *insn)
{
    return (insn->op == CPS_AFUC_CWRITE || insn->op == CPS_AFUC_CREAD) &&
           !cps_insn_field(&cps_isa_afuc, insn, CPS_AFUC_F_BANG, 0);
}

static struct cps_err *init_side(struct side *s, const struct cps_fw *fw,
                                 const struct cps_fw_part *part)
{
    s->fw = fw;
    s->part = part;
    s->count = cps_fw_code_end_(part);
    s->token = calloc(s->count + 1, sizeof(*s->token));
    s->control = calloc(s->count + 1, sizeof(*s->control));
    if (!s->token || !s->control)
        return cps_err_nomem();
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t word = fw->words[part->start + i];
        const struct cps_insn insn = cps_fw_decode_(fw, word);
        bool control = names_control(&insn);
        s->control[i] = control ? word & (CONTROLS - 1) : CONTROLS;
        s->token[i] = word & ~(control ? CONTROLS - 1u
                                       : (uint32_t)cps_insn_target_bits(&cps_isa_afuc, &insn));
    }
    return NULL;
}

/* Up to where the code of a handler goes: the next handler's begin, or the table. */
static uint32_t end_of(const struct side *s, uint32_t start)
{
    uint32_t end = s->count;
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++) {
        uint32_t other = cps_fw_handler(s->fw, s->part, id);
        if (other > start && other < end)
            end = other;
    }
    return end - start < MOST ? end : start + MOST;
}

static struct cps_err *compare_handlers(struct tally *t, const struct side *a, const struct side *b)
{
    memset(t->done, 0, a->count + 1);
    for (unsigned id = 0; id <= CPS_FW_TABLE_SIZE; id++) {
        bool boot = id == CPS_FW_TABLE_SIZE;
        uint32_t x = boot ? 0 : cps_fw_handler(a->fw, a->part, id);
        uint32_t y = boot ? 0 : cps_fw_handler(b->fw, b->part, id);
        if (x >= a->count || y >= b->count || t->done[x])
            continue;
        t->done[x] = 1;
        /* Counts pairs in runs that agree: words in a row of both. */
        uint32_t partner[MOST];
        uint32_t count = end_of(a, x) - x;
        CPS_TRY(cps_align_exact_(a->token + x, count, b->token + y, end_of(b, y) - y, partner));
        for (uint32_t i = 0, run = 0; i < count; i += run) {
            for (run = 1; i + run < count && partner[i] != CPS_FW_ALONE &&
                          partner[i + run] == partner[i] + run;)
                run++;
            for (uint32_t n = i; run >= RUN && n < i + run; n++) {
                uint32_t from = a->control[x + n];
                uint32_t to = b->control[y + partner[n]];
                if (from < CONTROLS && to < CONTROLS)
                    t->votes[from * CONTROLS + to]++;
            }
        }
    }
    return NULL;
}

/* The parts of both that are for the same processor. */
static struct cps_err *compare_parts(struct tally *t, const struct cps_fw *a,
                                     const struct cps_fw *b)
{
    for (unsigned i = 0; i < a->part_count * b->part_count; i++) {
        CPS_CLEANUP(deinit_side) struct side x = {0};
        CPS_CLEANUP(deinit_side) struct side y = {0};
        const struct cps_fw_part *of_a = &a->part[i / b->part_count];
        const struct cps_fw_part *of_b = &b->part[i % b->part_count];
        if (of_a->role != of_b->role)
            continue;
        CPS_TRY(init_side(&x, a, of_a));
        CPS_TRY(init_side(&y, b, of_b));
        CPS_TRY(compare_handlers(t, &x, &y));
    }
    return NULL;
}

/* The partner that most pairs of @p number name. Votes of the other side, for a number of b, are
 * @p step apart. */
static struct cps_fw_renumber best_of(const uint32_t *votes, size_t step, uint32_t number)
{
    struct cps_fw_renumber best = {.a = number, .b = CPS_FW_NONE};
    for (uint32_t other = 0; other < CONTROLS; other++) {
        uint32_t count = votes[other * step];
        best.pairs += count;
        if (count > best.agree) {
            best.agree = count;
            best.b = other;
        }
    }
    return best;
}

/* Enough pairs agree, and of the pairs of the partner most name this number. */
static bool is_certain(const struct tally *t, const struct cps_fw_renumber *best)
{
    if (best->agree < 2 || best->agree * SHARE_OF < best->pairs * SHARE)
        return false;
    struct cps_fw_renumber back = best_of(t->votes + best->b, CONTROLS, best->b);
    return back.b == best->a && back.agree * SHARE_OF >= back.pairs * SHARE;
}

struct cps_err *cps_fw_renumber(const struct cps_fw *a, const struct cps_fw *b,
                                struct cps_fw_renumber **ret, size_t *count)
{
    CPS_FREE uint32_t *votes = calloc((size_t)CONTROLS * CONTROLS, sizeof(*votes));
    CPS_FREE uint8_t *done = malloc((size_t)a->count + 1);
    CPS_FREE struct cps_fw_renumber *list = NULL;
    struct tally t = {votes, done};
    *ret = NULL;
    *count = 0;
    if (!votes || !done)
        return cps_err_nomem();
    CPS_TRY(compare_parts(&t, a, b));
    size_t certain = 0;
    for (uint32_t number = 0; number < CONTROLS; number++) {
        struct cps_fw_renumber best = best_of(t.votes + (size_t)number * CONTROLS, 1, number);
        if (!is_certain(&t, &best))
            continue;
        if (!CPS_LIST_ROOM(list, certain))
            return cps_err_nomem();
        list[certain++] = best;
    }
    *ret = CPS_TAKE(list);
    *count = certain;
    return NULL;
}
