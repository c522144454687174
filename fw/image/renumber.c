/* SPDX-License-Identifier: MIT
 * How one numbering of control registers maps to another: the same handlers of two images are laid
 * side by side; where their instructions agree but for the number of a control register, that pair
 * of lines is evidence that both numbers are of one register. */
#include <string.h>

#include "isa/base/list.h"
#include "fw/image/private.h"

enum {
    CONTROLS = 0x1000,
    MOST = 2048, /* words of a handler that are looked at: what is behind it is shared code */
    RUN = 4,     /* words in a row that agree; single ones agree by chance */
    SHARE = 2,   /* of SHARE_OF pairs of a register name its partner, on both sides */
    SHARE_OF = 3,
};

/* Words of a part with what may differ taken out, and the control register that each names. */
struct side {
    const struct cps_fw *fw;
    const struct cps_fw_part *part;
    uint32_t *token;
    uint16_t *control; /* CONTROLS: none */
    uint32_t count;
};

struct tally {
    uint32_t *votes; /* by number in a, then by number in b */
    uint16_t *table; /* of the longest common subsequence */
    uint8_t *done;   /* dwords of a that a handler began at */
};

static void deinit_side(struct side *s)
{
    free(s->token);
    free(s->control);
}

/* Instructions of a control register whose number stands in the word. */
static bool names_control(const struct cps_insn *insn)
{
    return (insn->op == CPS_AFUC_CWRITE || insn->op == CPS_AFUC_CREAD) &&
           !cps_insn_field(&cps_isa_afuc, insn, CPS_AFUC_F_BANG, 0);
}

static bool init_side(struct side *s, const struct cps_fw *fw, const struct cps_fw_part *part)
{
    s->fw = fw;
    s->part = part;
    s->count = part->table < part->size ? part->table : part->size;
    s->token = calloc(s->count + 1, sizeof(*s->token));
    s->control = calloc(s->count + 1, sizeof(*s->control));
    if (!s->token || !s->control)
        return false;
    for (uint32_t i = 0; i < s->count; i++) {
        struct cps_insn insn;
        uint32_t word = fw->words[part->start + i];
        cps_decode(&cps_isa_afuc, fw->gen, word, &insn);
        bool control = names_control(&insn);
        s->control[i] = control ? word & (CONTROLS - 1) : CONTROLS;
        s->token[i] = word & ~(control ? CONTROLS - 1u
                                       : (uint32_t)cps_insn_target_bits(&cps_isa_afuc, &insn));
    }
    return true;
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

/* Counts pairs in runs that agree, from the end to the begin of the common subsequence. */
static void count_pairs(struct tally *t, const struct side *a, const struct side *b,
                        const uint32_t from[2], const uint32_t size[2])
{
    uint32_t width = size[1] + 1;
    uint32_t i = 0;
    uint32_t k = 0;
    while (i < size[0] && k < size[1]) {
        uint32_t run = 0;
        while (i + run < size[0] && k + run < size[1] &&
               a->token[from[0] + i + run] == b->token[from[1] + k + run])
            run++;
        for (uint32_t n = 0; run >= RUN && n < run; n++) {
            uint32_t x = a->control[from[0] + i + n];
            uint32_t y = b->control[from[1] + k + n];
            if (x < CONTROLS && y < CONTROLS)
                t->votes[x * CONTROLS + y]++;
        }
        i += run;
        k += run;
        if (i >= size[0] || k >= size[1])
            return;
        if (t->table[(i + 1) * width + k] >= t->table[i * width + k + 1])
            i++;
        else
            k++;
    }
}

/* The lengths of the longest common subsequences of what is left from each pair of places. */
static void align(struct tally *t, const struct side *a, const struct side *b,
                  const uint32_t from[2], const uint32_t size[2])
{
    uint32_t width = size[1] + 1;
    memset(t->table, 0, (size_t)(size[0] + 1) * width * sizeof(*t->table));
    for (uint32_t i = size[0]; i-- > 0;) {
        for (uint32_t k = size[1]; k-- > 0;) {
            uint16_t *at = &t->table[i * width + k];
            uint16_t down = t->table[(i + 1) * width + k];
            uint16_t right = at[1];
            if (a->token[from[0] + i] == b->token[from[1] + k])
                *at = (uint16_t)(t->table[(i + 1) * width + k + 1] + 1);
            else
                *at = down > right ? down : right;
        }
    }
    count_pairs(t, a, b, from, size);
}

static void compare_handlers(struct tally *t, const struct side *a, const struct side *b)
{
    memset(t->done, 0, a->count + 1);
    for (unsigned id = 0; id <= CPS_FW_TABLE_SIZE; id++) {
        bool boot = id == CPS_FW_TABLE_SIZE;
        uint32_t x = boot ? 0 : cps_fw_handler(a->fw, a->part, id);
        uint32_t y = boot ? 0 : cps_fw_handler(b->fw, b->part, id);
        if (x >= a->count || y >= b->count || t->done[x])
            continue;
        t->done[x] = 1;
        const uint32_t from[2] = {x, y};
        const uint32_t size[2] = {end_of(a, x) - x, end_of(b, y) - y};
        align(t, a, b, from, size);
    }
}

/* The parts of both that are for the same processor. */
static bool compare_parts(struct tally *t, const struct cps_fw *a, const struct cps_fw *b)
{
    bool good = true;
    for (unsigned i = 0; i < a->part_count * b->part_count && good; i++) {
        struct side x = {0};
        struct side y = {0};
        const struct cps_fw_part *of_a = &a->part[i / b->part_count];
        const struct cps_fw_part *of_b = &b->part[i % b->part_count];
        if (of_a->role != of_b->role)
            continue;
        good = init_side(&x, a, of_a) && init_side(&y, b, of_b);
        if (good)
            compare_handlers(t, &x, &y);
        deinit_side(&x);
        deinit_side(&y);
    }
    return good;
}

/* The partner that most pairs of @p number name. Votes of the other side, for a number of b, stand
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

static bool gather(const struct tally *t, struct cps_fw_renumber **ret, size_t *count)
{
    struct cps_fw_renumber *list = NULL;
    size_t size = 0;
    for (uint32_t number = 0; number < CONTROLS; number++) {
        struct cps_fw_renumber best = best_of(t->votes + (size_t)number * CONTROLS, 1, number);
        if (!is_certain(t, &best))
            continue;
        if (!CPS_LIST_ROOM(list, size)) {
            free(list);
            return false;
        }
        list[size++] = best;
    }
    *ret = list;
    *count = size;
    return true;
}

struct cps_err *cps_fw_renumber(const struct cps_fw *a, const struct cps_fw *b,
                                struct cps_fw_renumber **ret, size_t *count)
{
    struct tally t = {
        .votes = calloc((size_t)CONTROLS * CONTROLS, sizeof(*t.votes)),
        .table = malloc((size_t)(MOST + 1) * (MOST + 1) * sizeof(*t.table)),
        .done = malloc((size_t)a->count + 1),
    };
    *ret = NULL;
    *count = 0;
    bool good = t.votes && t.table && t.done && compare_parts(&t, a, b) && gather(&t, ret, count);
    free(t.votes);
    free(t.table);
    free(t.done);
    return good ? NULL : cps_err_nomem();
}
