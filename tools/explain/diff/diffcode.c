/* SPDX-License-Identifier: MIT
 * Where the code of two revisions differs: as a unified difference, with the names of registers
 * that constants are the numbers of. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fw/image/place.h"
#include "fw/listing/listing.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/explain/diff/diffcause.h"

/* So many instructions in front of a difference say what its constants are. */
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
    struct cps_buf *out;
    uint32_t *left; /* lines that may still be printed of what was put in or taken out */
};

static void take(struct lines *l, uint32_t at, struct cps_insn *insn, struct cps_buf *note)
{
    cps_decode(&cps_isa_afuc, l->fw->gen, l->fw->words[l->part->start + at], insn);
    cps_notes_add_(&l->notes, insn, note);
}

static struct lines lines_of(const struct diff_side *side, enum cps_fw_role role, uint32_t at,
                             uint32_t *left, struct cps_buf *out)
{
    struct lines ret = {side->fw, diff_part(side->fw, role), diff_any_names(side), {0}, out, left};
    cps_notes_init_(&ret.notes, ret.names);
    for (uint32_t i = at < BEFORE ? 0 : at - BEFORE; i < at; i++) {
        struct cps_insn insn;
        CPS_BUF ignored = {0};
        take(&ret, i, &insn, &ignored);
    }
    return ret;
}

/* The entry of the packet table at a dword of the part; -1: there is other data, or code. */
static int table_entry(const struct cps_fw_part *part, uint32_t at)
{
    bool in_table =
        part->table != CPS_FW_NONE && at >= part->table && at - part->table < CPS_FW_TABLE_SIZE;
    return in_table ? (int)(at - part->table) : -1;
}

/* What a word is that is no instruction. */
static bool print_data(const struct lines *l, uint32_t at)
{
    if (at >= 2 && (l->part->table == CPS_FW_NONE || at < l->part->table))
        return false;
    cps_buf_printf(l->out, "[%08" PRIx32 "]", l->fw->words[l->part->start + at]);
    return true;
}

/* A line of a unified difference: "-0036 08e7a760  add $07, $07, 0xa760". */
static void print_instruction(struct lines *l, char mark, uint32_t at)
{
    struct cps_insn insn;
    CPS_BUF note = {0};
    struct cps_print_names print = {.names = l->names};
    if (at >= l->part->size)
        return;
    take(l, at, &insn, &note);
    if (mark != ' ' && !*l->left)
        return;
    *l->left -= mark != ' ';
    cps_buf_printf(l->out, "   %c%04" PRIx32 " %08" PRIx32 "  ", mark, at,
                   l->fw->words[l->part->start + at]);
    if (!print_data(l, at))
        cps_print(&cps_isa_afuc, &insn, at, &print, l->out);
    if (note.size)
        cps_buf_printf(l->out, "  ; %s", tool_text(&note));
    cps_buf_str(l->out, "\n");
}

/* Whether one of both has no image of the processor: there is nothing to show beside it. */
static bool is_processor(const struct diff_report *r, const struct cps_fw_change *change)
{
    return !diff_part(r->a.fw, change->role) || !diff_part(r->b.fw, change->role);
}

void diff_print_hunk(const struct diff_report *r, const struct cps_fw_change *change, uint32_t most,
                     struct cps_buf *out)
{
    uint32_t left = most;
    uint32_t from = change->b < CONTEXT ? 0 : change->b - CONTEXT;
    if (is_processor(r, change))
        return;
    struct lines a = lines_of(&r->a, change->role, change->a, &left, out);
    struct lines b = lines_of(&r->b, change->role, from, &left, out);
    for (uint32_t at = from; at < change->b; at++)
        print_instruction(&b, ' ', at);
    if (change->moved) {
        cps_buf_printf(out,
                       "   >%" PRIu32 " instructions from %04" PRIx32 " on are at %04" PRIx32 "\n",
                       change->a_count, change->a, change->b);
        return;
    }
    for (uint32_t i = 0; i < change->a_count; i++)
        print_instruction(&a, '-', change->a + i);
    for (uint32_t i = 0; i < change->b_count; i++)
        print_instruction(&b, '+', change->b + i);
    uint32_t all = change->a_count + change->b_count;
    if (all > most)
        cps_buf_printf(out, "    (%" PRIu32 " more changed instructions: --all shows them)\n",
                       all - most);
    for (uint32_t i = 0; i < CONTEXT; i++)
        print_instruction(&b, ' ', change->b + change->b_count + i);
}

/* What is no code has other names than places of it. */
static bool print_data_name(const struct diff_report *r, const struct cps_fw_change *change,
                            struct cps_buf *out)
{
    const struct diff_side *side = change->a_count ? &r->a : &r->b;
    const struct cps_fw_part *part = diff_part(side->fw, change->role);
    uint32_t at = change->a_count ? change->a : change->b;
    int entry = table_entry(part, at);
    if (entry >= 0) {
        cps_buf_str(out, "packet table, ");
        cps_fw_packet_put_(diff_any_names(side), (unsigned)entry, out);
    } else if (part->table != CPS_FW_NONE && at >= part->table) {
        cps_buf_str(out, "data after the packet table");
    } else if (at < 2) {
        cps_buf_str(out, "header");
    } else {
        return false;
    }
    return true;
}

/* Code that was put in behind a handler's end stands where the next one begins in the old image; in
 * the new one it is seen whose it is. */
static void print_handler(const struct diff_report *r, const struct cps_fw_change *change,
                          struct cps_buf *out)
{
    CPS_BUF old = {0};
    const struct diff_side *side = &r->a;
    cps_fw_place_put_(side->fw, diff_part(side->fw, change->role), diff_any_names(side), change->a,
                      CPS_FW_NO_PACKET, &old);
    if (change->a_count || strchr(cps_buf_text(&old), '+')) {
        cps_buf_str(out, cps_buf_text(&old));
        return;
    }
    side = &r->b;
    cps_fw_place_put_(side->fw, diff_part(side->fw, change->role), diff_any_names(side), change->b,
                      CPS_FW_NO_PACKET, out);
}

void diff_print_where(const struct diff_report *r, const struct cps_fw_change *change,
                      struct cps_buf *out)
{
    if (is_processor(r, change)) {
        cps_buf_printf(out, "all %" PRIu32 " dwords of %s, which the %s image does not have",
                       change->a_count + change->b_count, cps_fw_role_name(change->role),
                       change->a_count ? r->b.label : r->a.label);
        return;
    }
    if (!print_data_name(r, change, out))
        print_handler(r, change, out);
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
    struct cps_fw_change *change = NULL;
    size_t count = 0;
    CPS_TRY(diff_changes(r->a.fw, r->b.fw, &change, &count));
    diff_print_versions(r, out);
    for (size_t i = 0; i < count; i++) {
        diff_print_where(r, &change[i], out);
        cps_buf_str(out, "\n");
        diff_print_hunk(r, &change[i], UINT32_MAX, out);
    }
    free(change);
    if (!r->a.me || !r->b.me)
        return NULL;
    struct diff_report me = *r;
    me.a.fw = CPS_TAKE(me.a.me);
    me.b.fw = CPS_TAKE(me.b.me);
    return diff_print_places(&me, out);
}
