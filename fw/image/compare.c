/* SPDX-License-Identifier: MIT
 * Where the code of two firmware images differs, as people read differences: what was taken out,
 * put in, changed and moved. Code that only moved is no difference: branches, and
 * constants that are addresses, lead to the same code. */
#include <stdlib.h>
#include <string.h>

#include "fw/image/pairs.h"
#include "fw/image/private.h"
#include "fw/image/walk.h"
#include "isa/base/list.h"
#include "isa/sets/decoder.h"

enum {
    MOVED = 4,  /* words that a block must have to be one that moved */
    HEADER = 2, /* version, and where the packet table is */
};

struct side {
    const struct cps_fw *fw;
    const struct cps_fw_part *part;
    uint64_t *key;
    uint32_t *partner; /* by dword: where the other image has it, or CPS_FW_ALONE */
    uint8_t *state;    /* enum state */
    bool loose;        /* numbers of control registers may be others */
    struct cps_decoder decoder;
};

/* What is known of a word with a partner. */
enum state { IN_ORDER, CHANGED, ELSEWHERE };

struct compare {
    struct side a, b;
    struct cps_fw_change *change;
    size_t changes;
};

bool cps_fw_same_insn(enum cps_gen gen, uint32_t a, uint32_t b)
{
    struct cps_insn insn;
    cps_decode(&cps_isa_afuc, gen, a, &insn);
    return !((a ^ b) & ~(uint32_t)cps_insn_target_bits(&cps_isa_afuc, &insn));
}

static uint32_t word_at(const struct side *side, uint32_t at)
{
    return side->fw->words[side->part->start + at];
}

static void decode(const struct side *side, uint32_t at, struct cps_insn *ret)
{
    cps_decoder_decode(&side->decoder, word_at(side, at), ret);
}

/* Words before the packet table. Of the two header words, the second says where that is. */
static uint32_t code_size(const struct side *side)
{
    return cps_fw_code_end_(side->part);
}

/* Where the words without a partner end that begin at @p at. */
static uint32_t end_alone(const struct side *side, uint32_t at)
{
    while (at < code_size(side) && side->partner[at] == CPS_FW_ALONE)
        at++;
    return at;
}

/* A constant that may be an address of the image: those are loaded with `mov`, in dwords or, for
 * what is read as memory, in bytes (F: 6ee 1899). */
static bool address_in(const struct side *side, const struct cps_insn *insn, uint32_t *ret)
{
    int64_t value = cps_fw_field_(insn, CPS_AFUC_F_IMM16);
    int64_t shift = cps_insn_field(&cps_isa_afuc, insn, CPS_AFUC_F_SHIFT, 0);
    *ret = (uint32_t)value;
    return insn->op == CPS_AFUC_MOVI && (!shift || shift == 2) && value >= 16 &&
           value < code_size(side);
}

/* The word without what changes when code moves; 0 for the header, which always has its partner. */
static uint64_t key_of(const struct side *side, uint32_t at)
{
    struct cps_insn insn;
    uint32_t address = 0;
    decode(side, at, &insn);
    uint32_t word = (uint32_t)insn.word & ~(uint32_t)cps_insn_target_bits(&cps_isa_afuc, &insn);
    if (at < HEADER)
        return UINT64_C(1) << 34 | at;
    if (side->loose && (insn.op == CPS_AFUC_CWRITE || insn.op == CPS_AFUC_CREAD))
        return (word & ~UINT32_C(0xfff)) | UINT64_C(1) << 33;
    return address_in(side, &insn, &address) ? (word & ~UINT32_C(0xffff)) | UINT64_C(1) << 32
                                             : word;
}

/* A branch to what was taken out leads to what comes after it now, and so does one to what was put
 * before its target. */
static bool leads_there(const struct compare *c, uint32_t a, uint32_t b)
{
    a = end_alone(&c->a, a);
    b = end_alone(&c->b, b);
    if (a >= code_size(&c->a) || b >= code_size(&c->b))
        return a - code_size(&c->a) == b - code_size(&c->b);
    return c->a.partner[a] == b;
}

/* Whether two words with one key are the same instruction: branches lead to places that are
 * partners, and so do addresses. The header's words are its own business. */
static bool is_same(const struct compare *c, uint32_t a, uint32_t b)
{
    struct cps_insn x, y;
    uint32_t to_a = 0;
    uint32_t to_b = 0;
    decode(&c->a, a, &x);
    decode(&c->b, b, &y);
    if (a < HEADER)
        return true;
    if (cps_insn_target(&cps_isa_afuc, &x, a, &to_a) &&
        cps_insn_target(&cps_isa_afuc, &y, b, &to_b))
        return leads_there(c, to_a, to_b);
    if (x.word == y.word)
        return true;
    return address_in(&c->a, &x, &to_a) && address_in(&c->b, &y, &to_b) &&
           leads_there(c, to_a, to_b);
}

static struct cps_err *prepare(struct side *side, const struct cps_fw *fw, unsigned part,
                               bool loose)
{
    *side = (struct side){.fw = fw, .part = &fw->part[part], .loose = loose};
    cps_decoder_init(&side->decoder, &cps_isa_afuc, fw->gen);
    uint32_t count = code_size(side);
    side->key = calloc(count + 1, sizeof(*side->key));
    side->partner = calloc(count + 1, sizeof(*side->partner));
    side->state = calloc(count + 1, sizeof(*side->state));
    if (!side->key || !side->partner || !side->state)
        return cps_err_nomem();
    for (uint32_t at = 0; at < count; at++)
        side->key[at] = key_of(side, at);
    memset(side->partner, 0xff, count * sizeof(*side->partner));
    return NULL;
}

static void release(struct side *side)
{
    free(side->key);
    free(side->partner);
    free(side->state);
    *side = (struct side){0};
}

/* Words without a partner, in order; to be freed. */
static uint32_t *list_alone(const struct side *side, uint32_t *count)
{
    uint32_t *ret = calloc((size_t)code_size(side) + 1, sizeof(*ret));
    *count = 0;
    for (uint32_t at = 0; ret && at < code_size(side); at++) {
        if (side->partner[at] == CPS_FW_ALONE)
            ret[(*count)++] = at;
    }
    return ret;
}

/* The longest stretch of the other image without partners that has what is here from @p at on.
 * @p alone  where words had none at first: @p count of them */
static uint32_t find_moved(const struct compare *c, uint32_t at, uint32_t end,
                           const uint32_t *alone, uint32_t count, uint32_t *where)
{
    uint32_t best = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t b = alone[i];
        uint32_t length = 0;
        while (at + length < end && b + length < code_size(&c->b) &&
               c->b.partner[b + length] == CPS_FW_ALONE &&
               c->a.key[at + length] == c->b.key[b + length])
            length++;
        if (length > best) {
            best = length;
            *where = b;
        }
    }
    return best;
}

/* Blocks that are in another order get their partners now. */
static struct cps_err *match_moved(struct compare *c)
{
    uint32_t count = 0;
    CPS_FREE uint32_t *alone = list_alone(&c->b, &count);
    if (!alone)
        return cps_err_nomem();
    for (uint32_t at = 0; at < code_size(&c->a);) {
        uint32_t end = end_alone(&c->a, at);
        uint32_t where = 0;
        uint32_t length = end > at ? find_moved(c, at, end, alone, count, &where) : 0;
        if (length < MOVED) {
            at++;
            continue;
        }
        for (uint32_t i = 0; i < length; i++) {
            c->a.partner[at + i] = where + i;
            c->b.partner[where + i] = at + i;
            c->a.state[at + i] = c->b.state[where + i] = ELSEWHERE;
        }
        at += length;
    }
    return NULL;
}

/* Where as much was put in as was taken out, words were replaced one by one. */
static void pair_replaced(struct compare *c)
{
    uint32_t b = 0;
    for (uint32_t a = 0; a < code_size(&c->a); a++) {
        uint32_t from_a = a;
        uint32_t from_b = b;
        a = end_alone(&c->a, a);
        b = end_alone(&c->b, b);
        for (uint32_t i = 0; a - from_a == b - from_b && i < a - from_a; i++) {
            c->a.partner[from_a + i] = from_b + i;
            c->b.partner[from_b + i] = from_a + i;
            /* A constant may look like an address in one image alone. */
            bool same = word_at(&c->a, from_a + i) == word_at(&c->b, from_b + i);
            c->a.state[from_a + i] = c->b.state[from_b + i] = same ? IN_ORDER : CHANGED;
        }
        while (b < code_size(&c->b) && c->b.state[b] == ELSEWHERE)
            b++;
        if (a < code_size(&c->a) && c->a.partner[a] == b)
            b++;
    }
}

static void find_changed(struct compare *c)
{
    for (uint32_t at = 0; at < code_size(&c->a); at++) {
        uint32_t b = c->a.partner[at];
        if (b == CPS_FW_ALONE || c->a.state[at] != IN_ORDER || is_same(c, at, b))
            continue;
        c->a.state[at] = c->b.state[b] = CHANGED;
    }
}

static bool is_elsewhere(const struct side *side, uint32_t at)
{
    return at < code_size(side) && side->state[at] == ELSEWHERE;
}

/* The filling before the packet table. */
static bool is_filling(const struct side *side, uint32_t from)
{
    for (uint32_t at = from; at < code_size(side); at++) {
        if (word_at(side, at) != cps_fw_nop_(side->fw->gen))
            return false;
    }
    return true;
}

static struct cps_err *append(struct compare *c, struct cps_fw_change change)
{
    if (!CPS_LIST_ROOM(c->change, c->changes))
        return cps_err_nomem();
    c->change[c->changes++] = change;
    return NULL;
}

/* What is nothing, or only filling, is no change of code. */
static struct cps_err *add(struct compare *c, struct cps_fw_change change)
{
    if ((!change.a_count && !change.b_count) ||
        (is_filling(&c->a, change.a) && is_filling(&c->b, change.b)))
        return NULL;
    change.role = c->a.part->role;
    return append(c, change);
}

/* A block that is elsewhere in the other image: it is told where it was. */
static struct cps_err *add_moved(struct compare *c, uint32_t *a)
{
    struct cps_fw_change change = {.a = *a, .b = c->a.partner[*a], .moved = true};
    uint32_t to = change.b;
    while (is_elsewhere(&c->a, *a) && c->a.partner[*a] == to) {
        *a += 1;
        to++;
    }
    change.a_count = change.b_count = *a - change.a;
    return add(c, change);
}

/* What has no partner on either side, and pairs that changed, up to the next pair that is the same.
 */
static struct cps_err *add_stretch(struct compare *c, uint32_t *a, uint32_t *b)
{
    struct cps_fw_change change = {.a = *a, .b = *b};
    for (;;) {
        *a = end_alone(&c->a, *a);
        *b = end_alone(&c->b, *b);
        if (*a >= code_size(&c->a) || c->a.partner[*a] != *b || c->a.state[*a] != CHANGED)
            break;
        *a += 1;
        *b += 1;
    }
    change.a_count = *a - change.a;
    change.b_count = *b - change.b;
    return add(c, change);
}

static struct cps_err *collect(struct compare *c)
{
    uint32_t a = 0;
    uint32_t b = 0;
    while (a < code_size(&c->a) || b < code_size(&c->b)) {
        uint32_t from_a = a;
        uint32_t from_b = b;
        CPS_TRY(add_stretch(c, &a, &b));
        if (is_elsewhere(&c->a, a))
            CPS_TRY(add_moved(c, &a));
        while (is_elsewhere(&c->b, b))
            b++;
        while (a < code_size(&c->a) && c->a.partner[a] == b && c->a.state[a] == IN_ORDER) {
            a++;
            b++;
        }
        if (a == from_a && b == from_b)
            return cps_err_new(CPS_ERR_INPUT, "%s: the alignment with %s is not in order",
                               c->a.fw->name, c->b.fw->name);
    }
    return NULL;
}

static struct cps_err *add_word(struct compare *c, uint32_t a, uint32_t a_count, uint32_t b,
                                uint32_t b_count)
{
    return append(
        c, (struct cps_fw_change){
               .role = c->a.part->role, .a = a, .b = b, .a_count = a_count, .b_count = b_count});
}

/* The first word of each processor's image has the version, which cps_fw has, too. */
static bool is_same_version(const struct compare *c)
{
    uint32_t a = word_at(&c->a, 0);
    uint32_t b = word_at(&c->b, 0);
    bool follows = (a & 0xfff) == c->a.fw->version && (b & 0xfff) == c->b.fw->version;
    return a == b || (a >> 12 == b >> 12 && follows);
}

/* The second word says where the table is, or how long the image is. */
static bool is_same_extent(const struct compare *c)
{
    uint32_t a = word_at(&c->a, 1);
    uint32_t b = word_at(&c->b, 1);
    uint32_t to_a = a & 0xffffff;
    uint32_t to_b = b & 0xffffff;
    bool tables = to_a == c->a.part->table && to_b == c->b.part->table;
    bool sizes = to_a == c->a.fw->count && to_b == c->b.fw->count;
    return a == b || (a >> 24 == b >> 24 && (tables || sizes));
}

/* Entries are the same that lead to the same code. What is no address is a number. */
static struct cps_err *compare_table(struct compare *c)
{
    uint32_t a = c->a.part->table;
    uint32_t b = c->b.part->table;
    for (uint32_t i = 0; i < CPS_FW_TABLE_SIZE; i++) {
        uint32_t to_a = word_at(&c->a, a + i);
        uint32_t to_b = word_at(&c->b, b + i);
        bool code = to_a < code_size(&c->a) && to_b < code_size(&c->b);
        if (code ? !leads_there(c, to_a, to_b) : to_a != to_b)
            CPS_TRY(add_word(c, a + i, 1, b + i, 1));
    }
    return NULL;
}

/* How many words there are after the table, without the filling. */
static uint32_t tail_size(const struct side *side)
{
    uint32_t first = side->part->table + CPS_FW_TABLE_SIZE;
    uint32_t end = side->part->size;
    while (end > first && word_at(side, end - 1) == cps_fw_nop_(side->fw->gen))
        end--;
    return end - first;
}

/* F: gen70900 has the day of its making there. It is one difference from its first word to its last
 * one. */
static struct cps_err *compare_tail(struct compare *c)
{
    uint32_t a = c->a.part->table + CPS_FW_TABLE_SIZE;
    uint32_t b = c->b.part->table + CPS_FW_TABLE_SIZE;
    uint32_t a_count = tail_size(&c->a);
    uint32_t b_count = tail_size(&c->b);
    while (a_count && b_count && word_at(&c->a, a) == word_at(&c->b, b)) {
        a++;
        b++;
        a_count--;
        b_count--;
    }
    while (a_count && b_count &&
           word_at(&c->a, a + a_count - 1) == word_at(&c->b, b + b_count - 1)) {
        a_count--;
        b_count--;
    }
    return a_count || b_count ? add_word(c, a, a_count, b, b_count) : NULL;
}

/* What is no code: an image has it as much. */
static struct cps_err *compare_data(struct compare *c)
{
    if (!is_same_version(c))
        CPS_TRY(add_word(c, 0, 1, 0, 1));
    if (c->a.part->size > 1 && c->b.part->size > 1 && !is_same_extent(c))
        CPS_TRY(add_word(c, 1, 1, 1, 1));
    if (c->a.part->table == CPS_FW_NONE || c->b.part->table == CPS_FW_NONE)
        return NULL;
    CPS_TRY(compare_table(c));
    return compare_tail(c);
}

/* Their code; the caller releases both sides. */
static struct cps_err *compare_part(struct compare *c, const struct cps_fw *a, unsigned i,
                                    const struct cps_fw *b, unsigned k, bool loose)
{
    CPS_TRY(prepare(&c->a, a, i, loose));
    CPS_TRY(prepare(&c->b, b, k, loose));
    CPS_TRY(cps_align_(c->a.key, code_size(&c->a), c->b.key, code_size(&c->b), c->a.partner));
    for (uint32_t at = 0; at < code_size(&c->a); at++) {
        if (c->a.partner[at] != CPS_FW_ALONE)
            c->b.partner[c->a.partner[at]] = at;
    }
    CPS_TRY(match_moved(c));
    pair_replaced(c);
    find_changed(c);
    return collect(c);
}

struct cps_err *cps_fw_pairs_(const struct cps_fw *a, const struct cps_fw *b, unsigned part,
                              struct cps_fw_pairs *ret)
{
    struct compare c = {0};
    *ret = (struct cps_fw_pairs){0};
    struct cps_err *err = compare_part(&c, a, part, b, part, true);
    if (!err) {
        *ret = (struct cps_fw_pairs){.count = {code_size(&c.a), code_size(&c.b)},
                                     .partner = {c.a.partner, c.b.partner}};
        c.a.partner = c.b.partner = NULL;
    }
    release(&c.a);
    release(&c.b);
    free(c.change);
    return err;
}

void cps_fw_pairs_deinit_(struct cps_fw_pairs *pairs)
{
    free(pairs->partner[0]);
    free(pairs->partner[1]);
    *pairs = (struct cps_fw_pairs){0};
}

static int find_role(const struct cps_fw *fw, enum cps_fw_role role)
{
    for (unsigned i = 0; i < fw->part_count; i++) {
        if (fw->part[i].role == role)
            return (int)i;
    }
    return -1;
}

static struct cps_err *compare_pair(struct compare *c, const struct cps_fw *a, unsigned i,
                                    const struct cps_fw *b, unsigned k)
{
    struct cps_err *err = compare_part(c, a, i, b, k, false);
    if (!err)
        err = compare_data(c);
    release(&c->a);
    release(&c->b);
    return err;
}

static struct cps_err *compare_all(struct compare *c, const struct cps_fw *a,
                                   const struct cps_fw *b)
{
    for (unsigned i = 0; i < a->part_count; i++) {
        int k = find_role(b, a->part[i].role);
        const struct cps_fw_change alone = {.role = a->part[i].role, .a_count = a->part[i].size};
        CPS_TRY(k < 0 ? append(c, alone) : compare_pair(c, a, i, b, (unsigned)k));
    }
    for (unsigned k = 0; k < b->part_count; k++) {
        const struct cps_fw_change alone = {.role = b->part[k].role, .b_count = b->part[k].size};
        if (find_role(a, b->part[k].role) < 0)
            CPS_TRY(append(c, alone));
    }
    return NULL;
}

struct cps_err *cps_fw_compare(const struct cps_fw *a, const struct cps_fw *b,
                               struct cps_fw_change **ret, size_t *count)
{
    struct compare c = {0};
    *ret = NULL;
    *count = 0;
    if (a->gen != b->gen)
        return cps_err_new(CPS_ERR_INPUT, "%s is %s, %s is %s: there is nothing to compare",
                           a->name, cps_gen_name(a->gen), b->name, cps_gen_name(b->gen));
    struct cps_err *err = compare_all(&c, a, b);
    if (err) {
        free(c.change);
        return err;
    }
    *ret = c.change;
    *count = c.changes;
    return NULL;
}
