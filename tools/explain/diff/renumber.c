/* SPDX-License-Identifier: MIT
 * How control registers of two images correspond: between two layouts, and the private ones of two
 * revisions. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fw/image/pairs.h"
#include "isa/base/shown.h"
#include "tools/cmd/render/doc.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/explain/diff/diffreport.h"

/* ---- Two layouts ---- */

static const char *name_of(const struct cps_names *names, uint32_t number)
{
    const char *name = cps_name(names, CPS_SPACE_CONTROL, number, NULL);
    return name ? name : "";
}

static void put_span(uint32_t first, uint32_t count, struct cps_buf *out)
{
    cps_buf_hex(out, first, 3);
    if (count > 1) {
        cps_buf_str(out, "-");
        cps_buf_hex(out, first + count - 1, 3);
    }
}

/* Numbers that follow each other on both sides, up to the next register that has a name. @return
 * how many */
static size_t put_range(struct cps_names *const names[2], const struct cps_fw_renumber *list,
                        size_t count, struct json_object *rows)
{
    uint32_t n = 0, pairs = 0, agree = 0;
    CPS_BUF a = {0};
    CPS_BUF b = {0};
    const char *name = name_of(names[0], list->a);
    name = *name ? name : name_of(names[1], list->b);
    do {
        pairs += list[n].pairs;
        agree += list[n].agree;
        n++;
    } while (n < count && list[n].a == list->a + n && list[n].b == list->b + n &&
             !*name_of(names[0], list[n].a) && !*name_of(names[1], list[n].b));
    put_span(list->a, n, &a);
    put_span(list->b, n, &b);
    doc_row(rows, "a=%u b=%u count=%u pairs=%u agree=%u name=%s .a=%p .b=%p", list->a, list->b, n,
            pairs, agree, name, &a, &b);
    return n;
}

struct cps_err *renumber_print(const struct cps_fw *a, const struct cps_fw *b, const char *rnn,
                               struct json_object *rows, struct cps_buf *out)
{
    static const char layout[] =
        "  {.a:-11} -> {.b:-11} {agree:5} of {pairs:5} pairs{name?  {name}}\n";
    CPS_FREE struct cps_fw_renumber *list = NULL;
    size_t count = 0;
    struct cps_names *names[2] = {NULL, NULL};
    struct cps_err *err = cps_names_create(a->layout, rnn, &names[0]);
    if (!err)
        err = cps_names_create(b->layout, rnn, &names[1]);
    if (!err)
        err = cps_fw_renumber(a, b, &list, &count);
    for (size_t i = 0; !err && i < count;)
        i += put_range(names, &list[i], count - i, rows);
    cps_names_destroy(names[0]);
    cps_names_destroy(names[1]);
    if (err || !out)
        return err;
    cps_shown_put_(out, a->name);
    cps_buf_str(out, " and ");
    cps_shown_put_(out, b->name);
    cps_buf_printf(out, ": control registers of two layouts, %zu correspond:\n", count);
    for (size_t i = 0; i < json_object_array_length(rows); i++)
        doc_text(json_object_array_get_idx(rows, i), layout, out);
    return NULL;
}

struct cps_err *renumber_check(const struct cps_fw *a, const struct cps_fw *b)
{
    CPS_BUF roles = {0};
    for (unsigned i = 0; i < a->part_count; i++) {
        if (diff_part(b, a->part[i].role))
            return NULL;
        cps_buf_printf(&roles, "%s ", cps_fw_role_name(a->part[i].role));
    }
    cps_buf_str(&roles, "and");
    for (unsigned i = 0; i < b->part_count; i++)
        cps_buf_printf(&roles, " %s", cps_fw_role_name(b->part[i].role));
    return cps_err_new(CPS_ERR_MISMATCH, "%s and %s have no processor in common: %s", a->name,
                       b->name, tool_text(&roles));
}

/* ---- Two revisions: where only private control registers have other numbers ----
 *
 * One more variable moves all after it. Both images are aligned, and an access at the same place of
 * both proposes a partner. It counts if the map is one to one over every access of both images. */

enum {
    CONTROLS = 0x1000,
    NONE = CONTROLS,
    CONFLICT,
    ARRAY = 32, /* draw-state groups: the most that an index of firmware counts */
};

/* What one revision's code of a processor accesses. */
struct side {
    const struct cps_fw *fw;
    const struct cps_fw_part *part;
    uint16_t partner[CONTROLS]; /* number in the other revision, NONE or CONFLICT */
    bool alone[CONTROLS];       /* an access without a partner names it */
    bool indexed[CONTROLS];     /* an array begins there */
};

struct access {
    bool is, indexed;
    uint32_t number, rest; /* of the word */
};

static struct access access_of(const struct side *s, uint32_t at)
{
    struct cps_insn insn;
    uint32_t word = s->fw->words[s->part->start + at];
    cps_decode(&cps_isa_afuc, s->fw->gen, word, &insn);
    bool is = insn.op == CPS_AFUC_CWRITE || insn.op == CPS_AFUC_CREAD;
    bool indexed = is && (cps_insn_field(&cps_isa_afuc, &insn, CPS_AFUC_F_SRC1, 0) ||
                          cps_insn_field(&cps_isa_afuc, &insn, CPS_AFUC_F_BANG, 0));
    return (struct access){is, indexed, word % CONTROLS, word - word % CONTROLS};
}

/* Rows of ctrl.def that are the firmware's own, by layout. */
static bool is_private(enum cps_layout layout, uint32_t number)
{
    static const struct {
        const char *id;
        uint16_t first[7], count;
    } rows[] = {
#define CTRL(id, pfp, me, g6, a660, g7, gen3, a8, count, ...) \
    {#id, {pfp, me, g6, a660, g7, gen3, a8}, count},
#include "emu/afuc/control/ctrl.def"
    };
    static const uint8_t columns[] = {
        [CPS_LAYOUT_A5XX_PFP] = 0, [CPS_LAYOUT_A5XX_ME] = 1, [CPS_LAYOUT_A6XX] = 2,
        [CPS_LAYOUT_A660] = 3,     [CPS_LAYOUT_A7XX] = 4,    [CPS_LAYOUT_A7XX_GEN3] = 5,
        [CPS_LAYOUT_A8XX] = 6};
    bool found = false;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        unsigned column = columns[layout];
        while (rows[i].first[column] == 0xfffe)
            column--;
        found |= !strncmp(rows[i].id, "SCRATCH", 7) && rows[i].first[column] != 0xffff &&
                 number - rows[i].first[column] < rows[i].count;
    }
    return found;
}

static void note_access(struct side *s, struct side *other, uint32_t at, uint32_t to)
{
    struct access here = access_of(s, at);
    if (!here.is)
        return;
    uint16_t *partner = &s->partner[here.number];
    s->indexed[here.number] |= here.indexed;
    struct access there = to == CPS_FW_ALONE ? (struct access){.is = false} : access_of(other, to);
    if (there.is && there.rest == here.rest)
        *partner = *partner == NONE || *partner == there.number ? (uint16_t)there.number : CONFLICT;
    else
        s->alone[here.number] = true;
}

/* An array reaches a register from a number less than ARRAY below: it has moved as the register
 * has. */
static bool is_moved_with_arrays(const struct side *s, uint32_t number, uint32_t other)
{
    bool good = true;
    for (uint32_t i = 0; i < ARRAY && i <= number; i++) {
        uint32_t first = number - i;
        if (s->indexed[first] && is_private(s->fw->layout, first))
            good = good && s->partner[first] < NONE && other - number == s->partner[first] - first;
    }
    return good;
}

/* Whether @p a of the old revision is nothing but @p b of the new one: both are private, each is
 * the other's only partner, and no access is left that means the old number. */
static bool is_renamed(const struct side *s, uint32_t a, uint32_t b)
{
    bool left =
        (s[1].alone[a] && s[1].partner[a] >= NONE) || (s[0].alone[b] && s[0].partner[b] >= NONE);
    return is_private(s[0].fw->layout, a) && is_private(s[1].fw->layout, b) && !left &&
           s[0].partner[a] == b && s[1].partner[b] == a && is_moved_with_arrays(&s[0], a, b) &&
           is_moved_with_arrays(&s[1], b, a);
}

static bool only_renames(const struct side *s, const struct cps_fw_pairs *pairs,
                         const struct cps_fw_change *change)
{
    bool good = !change->moved && change->a_count == change->b_count;
    for (uint32_t i = 0; good && i < change->a_count; i++) {
        uint32_t at = change->a + i;
        uint32_t to = change->b + i;
        struct access a = access_of(&s[0], at);
        struct access b = access_of(&s[1], to);
        good = at < pairs->count[0] && pairs->partner[0][at] == to && a.is && b.is &&
               a.rest == b.rest && is_renamed(s, a.number, b.number);
    }
    return good;
}

static struct cps_err *compare_part(struct side *s, unsigned part,
                                    const struct cps_fw_change *change, size_t count, bool *ret)
{
    struct cps_fw_pairs pairs = {0};
    struct cps_err *err = cps_fw_pairs_(s[0].fw, s[1].fw, part, &pairs);
    for (unsigned side = 0; side < 2; side++) {
        s[side].part = &s[side].fw->part[part];
        for (uint32_t i = 0; i < CONTROLS; i++)
            s[side].partner[i] = NONE;
    }
    for (unsigned side = 0; !err && side < 2; side++) {
        for (uint32_t at = 0; at < pairs.count[side]; at++)
            note_access(&s[side], &s[!side], at, pairs.partner[side][at]);
    }
    for (size_t i = 0; !err && i < count; i++) {
        if (change[i].role == s[0].part->role)
            ret[i] = only_renames(s, &pairs, &change[i]);
    }
    cps_fw_pairs_deinit_(&pairs);
    return err;
}

struct cps_err *renumber_only(const struct cps_fw *a, const struct cps_fw *b,
                              const struct cps_fw_change *change, size_t count, bool *ret)
{
    struct cps_err *err = NULL;
    memset(ret, 0, count * sizeof(*ret));
    for (unsigned i = 0; !err && i < a->part_count && i < b->part_count; i++) {
        struct side *s = tool_alloc(2, sizeof(*s));
        s[0].fw = a;
        s[1].fw = b;
        if (a->part[i].role == b->part[i].role)
            err = compare_part(s, i, change, count, ret);
        free(s);
    }
    return err;
}
