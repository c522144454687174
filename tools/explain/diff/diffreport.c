/* SPDX-License-Identifier: MIT
 * What differs between two traces, for people. */
#include "tools/explain/diff/diffreport.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "isa/names/words.h"
#include "tools/cmd/render/doc.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/run/play.h"
#include "trace/form/text.h"
#include "trace/out/json.h"

enum { AROUND = 4, OUTSIDE = 128 };

/* ---- Code ---- */

const struct cps_fw *diff_image(const struct diff_side *side, unsigned who,
                                const struct cps_fw_part **part)
{
    return play_part(side->fw, side->me, who, part);
}

void diff_handler_bounds(const struct cps_fw *fw, const struct cps_fw_part *part, uint32_t pc,
                         uint32_t *start, uint32_t *end)
{
    *start = 0;
    *end = part->table != CPS_FW_NONE && part->table > pc ? part->table : part->size;
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++) {
        uint32_t at = cps_fw_handler(fw, part, id);
        if (at == CPS_FW_NONE)
            continue;
        if (at <= pc && at > *start)
            *start = at;
        if (at > pc && at < *end)
            *end = at;
    }
}

void diff_put_code(const struct cps_fw *fw, const struct cps_fw_part *part,
                   const struct cps_names *names, uint32_t at, struct cps_buf *out)
{
    struct cps_insn insn;
    const struct cps_print_names print = {.names = names};
    uint32_t word = fw->words[part->start + at];
    cps_decode(&cps_isa_afuc, fw->gen, word, &insn);
    cps_buf_printf(out, "%04" PRIx32 " %08" PRIx32 "  ", at, word);
    cps_print(&cps_isa_afuc, &insn, at, &print, out);
}

/* The code of one side around an event. */
static void print_around(const struct diff_side *side, const struct cps_event *event,
                         struct cps_buf *out)
{
    const struct cps_fw_part *part = NULL;
    unsigned who = event ? cps_event_who(event) : 0;
    const struct cps_fw *fw = event ? diff_image(side, who, &part) : NULL;
    if (!fw)
        return;
    uint32_t pc = cps_event_pc(event);
    cps_buf_printf(out, "  %s, %s:\n", side->label, fw->name);
    for (uint32_t at = pc < AROUND ? 0 : pc - AROUND; at <= pc + AROUND && at < part->size; at++) {
        cps_buf_str(out, at == pc ? "  => " : "     ");
        diff_put_code(fw, part, side->names[who], at, out);
        cps_buf_str(out, "\n");
    }
}

/* ---- Names ---- */

const struct cps_names *diff_any_names(const struct diff_side *side)
{
    for (unsigned i = 0; side->names && i < CPS_CPU_COUNT; i++) {
        if (side->names[i])
            return side->names[i];
    }
    return NULL;
}

static const char *name_in(const struct diff_side *side, enum cps_space space, uint32_t number)
{
    const struct cps_names *names = diff_any_names(side);
    return names ? cps_name(names, space, number, NULL) : NULL;
}

void diff_packet_name(const struct diff_report *r, unsigned id, struct cps_buf *out)
{
    const char *name = id < OUTSIDE ? name_in(&r->a, CPS_SPACE_PACKET, id) : NULL;
    if (!name && id < OUTSIDE)
        name = name_in(&r->b, CPS_SPACE_PACKET, id);
    if (id == OUTSIDE)
        cps_buf_str(out, "(outside of packets)");
    else if (id == 4)
        cps_buf_str(out, "type 4");
    else if (name)
        cps_buf_str(out, name);
    else
        cps_buf_printf(out, "UNKN%u", id);
}

const struct cps_event *diff_packet(const struct cps_difference *d)
{
    return d->pkt_a ? d->pkt_a : d->pkt_b;
}

/* The names of the registers that an event of a kind is about. */
static enum cps_space space_of(unsigned kind)
{
    return kind == CPS_EV_PIPE   ? CPS_SPACE_PIPE
           : kind == CPS_EV_CTRL ? CPS_SPACE_CONTROL
           : kind == CPS_EV_SQE  ? CPS_SPACE_SQE
                                 : CPS_SPACE_GPU;
}

static bool is_memory(unsigned kind)
{
    return kind == CPS_EV_MEMW || kind == CPS_EV_MEMR;
}

/* ---- One difference ---- */

static bool has_register(unsigned kind)
{
    return kind == CPS_EV_REG || kind == CPS_EV_REGR || kind == CPS_EV_PIPE ||
           kind == CPS_EV_CTRL || kind == CPS_EV_PROT || kind == CPS_EV_SQE;
}

static const struct cps_names *names_of(const struct diff_side *side, const struct cps_event *event)
{
    return side->names ? side->names[cps_event_who(event) % CPS_CPU_COUNT] : NULL;
}

/* "PC_EVENT_CMD", "CP_SCRATCH[2].REG", "0x8a00", or "memory 0x1000". */
static void put_place(const struct diff_side *side, const struct cps_event *event,
                      struct cps_buf *out)
{
    const struct cps_names *names = names_of(side, event);
    unsigned kind = cps_event_kind(event);
    uint64_t number = cps_event_place(event);
    unsigned half = 0;
    const char *name = names ? cps_name(names, space_of(kind), (uint32_t)number, &half) : NULL;
    if (is_memory(kind))
        cps_buf_printf(out, "memory 0x%" PRIx64, event->addr);
    else if (!has_register(kind))
        cps_buf_str(out, cps_event_keyword(kind));
    else if (name)
        cps_buf_printf(out, half ? "%s+0x%x" : "%s", name, half);
    else
        cps_buf_printf(out, "0x%04" PRIx64, number);
}

static void put_value(const struct cps_event *event, struct cps_buf *out)
{
    if (event)
        cps_buf_printf(out, "0x%08" PRIx32, event->value);
    else
        cps_buf_str(out, "missing");
}

/* Fields, unless some bit that differs has no name. */
static bool put_fields(const struct diff_side *side, const struct cps_event *any,
                       const struct cps_event *a, const struct cps_event *b, struct cps_buf *out)
{
    const struct cps_names *names = names_of(side, any);
    unsigned kind = cps_event_kind(any);
    CPS_BUF text = {0};
    if (!names || !has_register(kind))
        return false;
    uint32_t known = cps_name_changed_(names, space_of(kind), (uint32_t)any->addr,
                                       a ? &a->value : NULL, b ? &b->value : NULL, &text);
    uint32_t differ = (a ? a->value : 0) ^ (b ? b->value : 0);
    if (!text.size || differ & ~known)
        return false;
    cps_buf_printf(out, ".%s", tool_text(&text));
    return true;
}

void diff_print_change(const struct diff_report *r, const struct cps_difference *d,
                       struct cps_buf *out)
{
    const struct diff_side *side = d->a ? &r->a : &r->b;
    const struct cps_event *any = d->a ? d->a : d->b;
    put_place(side, any, out);
    if (d->how == CPS_DIFF_PLACE) {
        cps_buf_str(out, " -> ");
        put_place(&r->b, d->b, out);
        cps_buf_str(out, ": the same value, ");
        put_value(d->b, out);
        cps_buf_str(out, ", is written there instead");
    } else if (!put_fields(side, any, d->a, d->b, out)) {
        cps_buf_str(out, " ");
        put_value(d->a, out);
        cps_buf_str(out, " -> ");
        put_value(d->b, out);
    }
    cps_buf_str(out, "\n");
}

/* ---- Whether both runs were compared to their ends ---- */

uint64_t diff_count_compared(const struct record *record, uint32_t kinds,
                             const struct cps_mask *mask)
{
    uint64_t count = 0;
    for (size_t i = 0; i < record->count; i++) {
        const struct cps_event *event = &record->event[i];
        bool hidden = mask && cps_mask_bits(mask, event, -1) == UINT32_MAX;
        count += (kinds >> cps_event_kind(event) & 1) && !hidden;
    }
    return count;
}

static uint64_t count_both(const struct diff_report *r)
{
    return diff_count_compared(r->a.record, r->kinds, r->mask) +
           diff_count_compared(r->b.record, r->kinds, r->mask);
}

static bool is_stopped(const struct diff_side *side)
{
    return side->record->account.stop != CPS_STOP_IDLE;
}

static void put_early(const struct diff_report *r, struct cps_buf *out)
{
    const struct diff_side *const side[2] = {&r->a, &r->b};
    CPS_BUF a = {0};
    CPS_BUF b = {0};
    play_account_put(&r->a.record->account, &a);
    play_account_put(&r->b.record->account, &b);
    if (a.size && !strcmp(tool_text(&a), tool_text(&b))) {
        cps_buf_printf(out, is_stopped(&r->a) ? "both stop %s" : "%s", cps_buf_text(&a));
        return;
    }
    for (unsigned i = 0; i < 2; i++) {
        const struct cps_buf *text = i ? &b : &a;
        if (text->size)
            cps_buf_printf(out, "%s%s%s: %s", out->size ? "; " : "", side[i]->label,
                           is_stopped(side[i]) ? " stops" : "", tool_text(text));
    }
}

int diff_status(const struct diff_report *r, struct cps_buf *why)
{
    const struct play_account *a = &r->a.record->account;
    bool is_early = play_account_status(a) || play_account_status(&r->b.record->account);
    /* a golden that records how its run ends expects that end: it was compared */
    bool is_expected = r->golden && !a->endless && r->kinds >> CPS_EV_END & 1 && is_stopped(&r->b);
    if (r->diff->differences)
        return 1;
    if (is_early && !is_expected)
        put_early(r, why);
    else if (!count_both(r))
        cps_buf_str(why, "0 events compared");
    return *tool_text(why) ? 4 : 0;
}

void diff_print_missing(const struct diff_report *r, struct cps_buf *out)
{
    CPS_BUF text = {0};
    play_account_put_missing(&r->b.record->account, &text);
    if (*tool_text(&text))
        cps_buf_printf(out, "; %s", cps_buf_text(&text));
}

void diff_put_clock(const struct diff_report *r, const char *before, struct cps_buf *out)
{
    uint64_t count = r->diff->excused;
    if (count)
        cps_buf_printf(out, "%s%" PRIu64 " value%s only by the clock", before, count,
                       count == 1 ? " differs" : "s differ");
}

/* ---- The first difference ---- */

static void put_end(const struct diff_side *side, struct cps_buf *out)
{
    const struct play_account *account = &side->record->account;
    cps_buf_printf(out, "  %-8s ", side->label);
    if (account->endless)
        cps_buf_str(out, "has no event END\n");
    else if (account->stop == CPS_STOP_IDLE)
        cps_buf_str(out, "runs to the end\n");
    else
        cps_buf_printf(out, "stops %s\n",
                       account->why[0]
                           ? account->why
                           : cps_event_sub_word(CPS_EV_END, cps_stop_reason(account->stop)));
}

static void print_event(const struct diff_side *side, const char *label,
                        const struct cps_event *event, struct cps_buf *out)
{
    cps_buf_printf(out, "  %-8s ", label);
    if (event)
        cps_text_event(out, event, side->names[cps_event_who(event) % CPS_CPU_COUNT], true);
    else
        cps_buf_str(out, "(nothing)\n");
}

void diff_print_first(const struct diff_report *r, struct cps_buf *out)
{
    const struct cps_difference *first = &r->diff->first;
    CPS_BUF why = {0};
    int status = diff_status(r, &why);
    if (r->a.record && r->b.record && r->a.record->account.stop != r->b.record->account.stop) {
        cps_buf_str(out, "they end differently:\n");
        put_end(&r->a, out);
        put_end(&r->b, out);
    }
    if (status != 1) {
        bool endless = r->a.record->account.endless && r->b.record->account.endless;
        cps_buf_printf(out, "%s%s%s", status ? "undecided: " : "no differences", cps_buf_text(&why),
                       !status && endless ? "; neither trace records how its run ended" : "");
        diff_put_clock(r, "; ", out);
        diff_print_missing(r, out);
        cps_buf_str(out, "\n");
        return;
    }
    cps_buf_str(out, "first difference");
    if (first->submission != UINT32_MAX)
        cps_buf_printf(out, ", in submission %" PRIu32, first->submission);
    cps_buf_str(out, ":\n");
    if (diff_packet(first))
        print_event(first->pkt_a ? &r->a : &r->b, "packet", diff_packet(first), out);
    print_event(&r->a, r->a.label, first->a, out);
    print_event(&r->b, r->b.label, first->b, out);
    cps_buf_str(out, "  changes  ");
    diff_print_change(r, first, out);
    print_around(&r->a, first->a, out);
    print_around(&r->b, first->b, out);
}

/* ---- Counts ---- */

/* Both sides' name of a register, or each of them: a layout has its own control registers. */
static void put_names(const struct diff_report *r, enum cps_space space, uint32_t number,
                      struct cps_buf *out)
{
    const char *a = name_in(&r->a, space, number);
    const char *b = name_in(&r->b, space, number);
    if (a && b && !strcmp(a, b))
        cps_buf_str(out, a);
    else if (a || b)
        cps_buf_printf(out, "%s / %s", a ? a : "-", b ? b : "-");
}

static void put_counted(const struct diff_report *r, const struct cps_diff_count *place,
                        struct cps_buf *out)
{
    unsigned kind = place->kind;
    cps_buf_str(out, cps_event_keyword(kind));
    if (kind != CPS_EV_PKT && kind != CPS_EV_END)
        cps_buf_printf(out, is_memory(kind) ? " 0x%016" PRIx64 : " 0x%04" PRIx64, place->addr);
    cps_buf_str(out, " ");
    if (!is_memory(kind) && kind != CPS_EV_PKT)
        put_names(r, space_of(kind), (uint32_t)place->addr, out);
}

static int by_size(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x;
    uint64_t b = *(const uint64_t *)y;
    return a > b ? -1 : a < b;
}

/* The @p most largest of @p count rows, in their order, and the sum of the rest.
 * @param place  rows by place; NULL: by packet */
static void put_largest(const struct diff_report *r, const struct cps_diff_count *place,
                        size_t count, size_t most, struct cps_buf *out)
{
    uint64_t *sorted = tool_alloc(count, sizeof(*sorted));
    uint64_t least = 0, sum = 0;
    size_t equal = 0, left = 0; /* equal: so many rows as large as the least are shown */
    for (size_t i = 0; i < count; i++)
        sorted[i] = place ? place[i].count : r->diff->by_packet[i];
    qsort(sorted, count, sizeof(*sorted), by_size);
    if (count > most)
        least = sorted[most - 1];
    for (size_t i = 0; i < most && i < count; i++)
        equal += sorted[i] == least;
    free(sorted);
    for (size_t i = 0; i < count; i++) {
        uint64_t size = place ? place[i].count : r->diff->by_packet[i];
        if (!size)
            continue;
        if (size < least || (size == least && !equal)) {
            left++;
            sum += size;
            continue;
        }
        equal -= size == least;
        cps_buf_printf(out, "  %10" PRIu64 "  ", size);
        if (place)
            put_counted(r, &place[i], out);
        else
            diff_packet_name(r, (unsigned)i, out);
        cps_buf_str(out, "\n");
    }
    if (left)
        cps_buf_printf(out, "  %10" PRIu64 "  in %zu %s more: --all shows them\n", sum, left,
                       place ? "places" : "packets");
}

void diff_print_counts(const struct diff_report *r, size_t most, struct cps_buf *out)
{
    if (!r->diff->differences)
        return;
    cps_buf_printf(out, "%" PRIu64 " difference%s, by packet:\n", r->diff->differences,
                   r->diff->differences == 1 ? "" : "s");
    put_largest(r, NULL, OUTSIDE + 1, most, out);
    cps_buf_str(out, "by register and address:\n");
    put_largest(r, r->diff->by_place, r->diff->places, most, out);
    diff_put_clock(r, "", out);
    cps_buf_str(out, r->diff->excused ? "\n" : "");
}

static void add_event(struct json_object *at, const char *key, const struct cps_event *event)
{
    if (event)
        doc_put(cps_json_new_object(at, key), "event=%s addr=%" PRIu64 " value=%u pc=%u",
                cps_event_keyword(cps_event_kind(event)), event->addr, event->value,
                cps_event_pc(event));
    else
        cps_json_null(at, key);
}

struct json_object *diff_json(const struct diff_report *r)
{
    const struct cps_difference *first = &r->diff->first;
    struct json_object *to = doc_new();
    CPS_BUF why = {0};
    int status = diff_status(r, &why);
    doc_put(to, "status=%d why?=%p compared=%" PRIu64, status, &why, count_both(r));
    struct json_object *runs = cps_json_new_array(to, "runs");
    play_account_json_row(&r->a.record->account, r->a.label, runs);
    play_account_json_row(&r->b.record->account, r->b.label, runs);
    doc_put(to, "differences=%" PRIu64, r->diff->differences);
    if (r->diff->excused)
        cps_json_uint(to, "clock", r->diff->excused);
    if (r->diff->differences) {
        struct json_object *at = cps_json_new_object(to, "first");
        doc_put(at, "submission=%u", first->submission);
        add_event(at, "packet", diff_packet(first));
        add_event(at, "a", first->a);
        add_event(at, "b", first->b);
    }
    struct json_object *packets = cps_json_new_object(to, "by_packet");
    for (unsigned id = 0; id <= OUTSIDE; id++) {
        CPS_BUF name = {0};
        if (!r->diff->by_packet[id])
            continue;
        diff_packet_name(r, id, &name);
        cps_json_uint(packets, tool_text(&name), r->diff->by_packet[id]);
    }
    return to;
}
