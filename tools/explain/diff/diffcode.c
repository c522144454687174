/* SPDX-License-Identifier: MIT
 * Where the code of two revisions differs: as a unified difference, with the names of registers
 * that constants are the numbers of. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fw/image/place.h"
#include "fw/listing/listing.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/explain/diff/diffreport.h"

/* So many instructions before a difference tell the meaning of its constants. */
enum { CONTEXT = 2, BEFORE = 12 };

const struct cps_fw_part *diff_part(const struct cps_fw *fw, enum cps_fw_role role)
{
    for (unsigned i = 0; i < fw->part_count; i++) {
        if (fw->part[i].role == role)
            return &fw->part[i];
    }
    return NULL;
}

/* The lines of one side, in their order. */
struct lines {
    const struct cps_fw *fw;
    const struct cps_fw_part *part;
    const struct cps_names *names;
    struct cps_notes notes;
};

static void note_instruction(struct lines *l, uint32_t at, struct cps_buf *note)
{
    struct cps_insn insn;
    cps_decode(&cps_isa_afuc, l->fw->gen, l->fw->words[l->part->start + at], &insn);
    cps_notes_add_(&l->notes, &insn, note);
}

static struct lines begin_lines(const struct diff_side *side, enum cps_fw_role role, uint32_t at)
{
    struct lines ret = {side->fw, diff_part(side->fw, role), diff_any_names(side), {0}};
    cps_notes_init_(&ret.notes, ret.names);
    for (uint32_t i = at < BEFORE ? 0 : at - BEFORE; i < at; i++) {
        CPS_BUF ignored = {0};
        note_instruction(&ret, i, &ignored);
    }
    return ret;
}

/* Lines of a unified difference: "-0036 08e7a760  add $07, $07, 0xa760". @p left  lines of
 * changes that may still be printed */
static void print_lines(struct lines *l, char mark, uint32_t at, uint32_t count, uint32_t *left,
                        struct cps_buf *out)
{
    for (uint32_t end = at + count; at < end && at < l->part->size; at++) {
        CPS_BUF note = {0};
        uint32_t word = l->fw->words[l->part->start + at];
        note_instruction(l, at, &note);
        if (mark != ' ' && !*left)
            continue;
        *left -= mark != ' ';
        cps_buf_printf(out, "   %c", mark);
        if (at < 2 || (l->part->table != CPS_FW_NONE && at >= l->part->table)) /* data */
            cps_buf_printf(out, "%04" PRIx32 " %08" PRIx32 "  [%08" PRIx32 "]", at, word, word);
        else
            diff_put_code(l->fw, l->part, l->names, at, out);
        if (note.size)
            cps_buf_printf(out, "  ; %s", tool_text(&note));
        cps_buf_str(out, "\n");
    }
}

/* Whether one of both has no image of the processor, so that there is nothing to compare. */
static bool is_alone(const struct diff_report *r, const struct cps_fw_change *change)
{
    return !diff_part(r->a.fw, change->role) || !diff_part(r->b.fw, change->role);
}

void diff_print_hunk(const struct diff_report *r, const struct cps_fw_change *change, uint32_t most,
                     struct cps_buf *out)
{
    uint32_t left = most;
    uint32_t from = change->b < CONTEXT ? 0 : change->b - CONTEXT;
    if (is_alone(r, change))
        return;
    struct lines a = begin_lines(&r->a, change->role, change->a);
    struct lines b = begin_lines(&r->b, change->role, from);
    print_lines(&b, ' ', from, change->b - from, &left, out);
    if (change->moved) {
        cps_buf_printf(out,
                       "   >%" PRIu32 " instructions from %04" PRIx32 " on are at %04" PRIx32 "\n",
                       change->a_count, change->a, change->b);
        return;
    }
    print_lines(&a, '-', change->a, change->a_count, &left, out);
    print_lines(&b, '+', change->b, change->b_count, &left, out);
    uint32_t all = change->a_count + change->b_count;
    if (all > most)
        cps_buf_printf(out, "    (%" PRIu32 " more changed instructions: --all shows them)\n",
                       all - most);
    print_lines(&b, ' ', change->b + change->b_count, CONTEXT, &left, out);
}

/* Code that was added after a handler's end is where the next one begins in the old image; the new
 * one shows which handler it belongs to. */
static void print_handler(const struct diff_report *r, const struct cps_fw_change *change,
                          struct cps_buf *out)
{
    size_t start = out->size;
    cps_fw_place_put_(r->a.fw, diff_part(r->a.fw, change->role), diff_any_names(&r->a), change->a,
                      CPS_FW_NO_PACKET, out);
    if (change->a_count || strchr(tool_text(out) + start, '+'))
        return;
    out->size = start;
    cps_fw_place_put_(r->b.fw, diff_part(r->b.fw, change->role), diff_any_names(&r->b), change->b,
                      CPS_FW_NO_PACKET, out);
}

void diff_print_where(const struct diff_report *r, const struct cps_fw_change *change,
                      struct cps_buf *out)
{
    const struct diff_side *side = change->a_count ? &r->a : &r->b;
    const struct cps_fw_part *part = diff_part(side->fw, change->role);
    uint32_t at = change->a_count ? change->a : change->b;
    if (is_alone(r, change)) {
        cps_buf_printf(out, "all %" PRIu32 " dwords of %s, which the %s image does not have",
                       change->a_count + change->b_count, cps_fw_role_name(change->role),
                       change->a_count ? r->b.label : r->a.label);
        return;
    }
    bool is_data = part->table != CPS_FW_NONE && at >= part->table;
    if (is_data && at - part->table < CPS_FW_TABLE_SIZE) {
        cps_buf_str(out, "packet table, ");
        cps_fw_packet_put_(diff_any_names(side), at - part->table, out);
    } else if (is_data) {
        cps_buf_str(out, "data after the packet table");
    } else if (at < 2) {
        cps_buf_str(out, "header");
    } else {
        print_handler(r, change, out);
    }
    if (r->a.fw->part_count > 1)
        cps_buf_printf(out, " (%s)", cps_fw_role_name(change->role));
}

static int by_address(const void *x, const void *y)
{
    const struct cps_fw_change *a = x;
    const struct cps_fw_change *b = y;
    if (a->role != b->role)
        return a->role < b->role ? -1 : 1;
    return a->a < b->a ? -1 : a->a > b->a;
}

struct cps_err *diff_changes(const struct cps_fw *a, const struct cps_fw *b,
                             struct cps_fw_change **ret, size_t *count)
{
    CPS_TRY(cps_fw_compare(a, b, ret, count));
    if (*count)
        qsort(*ret, *count, sizeof(**ret), by_address);
    return NULL;
}

void diff_print_versions(const struct diff_report *r, struct cps_buf *out)
{
    if (r->a.fw->version != r->b.fw->version)
        cps_buf_printf(out, "version 0x%03" PRIx32 " -> 0x%03" PRIx32 "\n", r->a.fw->version,
                       r->b.fw->version);
    if (r->a.fw->lead != r->b.fw->lead)
        cps_buf_printf(out, "the dword before the image 0x%08" PRIx32 " -> 0x%08" PRIx32 "\n",
                       r->a.fw->lead, r->b.fw->lead);
}

struct cps_err *diff_print_places(const struct diff_report *r, struct cps_buf *out)
{
    CPS_FREE struct cps_fw_change *change = NULL;
    size_t count = 0;
    CPS_TRY(diff_changes(r->a.fw, r->b.fw, &change, &count));
    diff_print_versions(r, out);
    for (size_t i = 0; i < count; i++) {
        diff_print_where(r, &change[i], out);
        cps_buf_str(out, "\n");
        diff_print_hunk(r, &change[i], UINT32_MAX, out);
    }
    if (!r->a.me || !r->b.me)
        return NULL;
    struct diff_report me = *r;
    me.a.fw = CPS_TAKE(me.a.me);
    me.b.fw = CPS_TAKE(me.b.me);
    return diff_print_places(&me, out);
}
