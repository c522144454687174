/* SPDX-License-Identifier: MIT
 * What differs between two traces, for people. */
#include "tools/explain/diff/diffreport.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cpscope.h"
#include "tools/run/play.h"
#include "trace/form/text.h"
#include "tools/cmd/render/doc.h"
#include "tools/cmd/terminal/oom.h"
#include "trace/out/json.h"

#define AROUND 4u

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

/* The code of one side around @p pc of processor @p who. */
static void print_around(const struct diff_side *side, unsigned who, uint32_t pc,
                         struct cps_buf *out)
{
    const struct cps_fw_part *part = NULL;
    const struct cps_fw *fw = diff_image(side, who, &part);
    struct cps_print_names print = {.names = side->names[who]};
    if (!fw)
        return;
    cps_buf_printf(out, "  %s, %s:\n", side->label, fw->name);
    for (uint32_t at = pc < AROUND ? 0 : pc - AROUND; at <= pc + AROUND && at < part->size; at++) {
        struct cps_insn insn;
        uint32_t word = fw->words[part->start + at];
        cps_decode(&cps_isa_afuc, fw->gen, word, &insn);
        cps_buf_printf(out, "  %s %04" PRIx32 " %08" PRIx32 "  ", at == pc ? "=>" : "  ", at, word);
        cps_print(&cps_isa_afuc, &insn, at, &print, out);
        cps_buf_str(out, "\n");
    }
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
    diff_print_ends(r, out);
    const struct cps_difference *first = &r->diff->first;
    CPS_BUF why = {0};
    int status = diff_status(r, &why);
    if (status != 1) {
        bool endless = r->a.record->account.endless && r->b.record->account.endless;
        cps_buf_printf(out, "%s%s%s", status ? "undecided: " : "no differences", cps_buf_text(&why),
                       !status && endless ? "; neither trace records how its run ended" : "");
        diff_print_missing(r, out);
        cps_buf_str(out, "\n");
        return;
    }
    cps_buf_str(out, "first difference");
    if (first->submission != UINT32_MAX)
        cps_buf_printf(out, ", in submission %" PRIu32, first->submission);
    cps_buf_str(out, ":\n");
    const struct cps_event *pkt = first->pkt_a ? first->pkt_a : first->pkt_b;
    if (pkt)
        print_event(pkt == first->pkt_a ? &r->a : &r->b, "packet", pkt, out);
    print_event(&r->a, r->a.label, first->a, out);
    print_event(&r->b, r->b.label, first->b, out);
    cps_buf_str(out, "  changes  ");
    diff_print_change(r, first, out);
    if (first->a)
        print_around(&r->a, cps_event_who(first->a), cps_event_pc(first->a), out);
    if (first->b)
        print_around(&r->b, cps_event_who(first->b), cps_event_pc(first->b), out);
}

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
    const char *name = id < 128 ? name_in(&r->a, CPS_SPACE_PACKET, id) : NULL;
    if (!name && id < 128)
        name = name_in(&r->b, CPS_SPACE_PACKET, id);
    if (id == 128)
        cps_buf_str(out, "(outside of packets)");
    else if (id == 4)
        cps_buf_str(out, "type 4");
    else if (name)
        cps_buf_str(out, name);
    else
        cps_buf_printf(out, "UNKN%u", id);
}

/* What both sides call it, or each of them: numbers of control registers are a layout's own. */
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

static void print_place(const struct diff_report *r, const struct cps_diff_count *place,
                        struct cps_buf *out)
{
    bool memory = place->kind == CPS_EV_MEMW || place->kind == CPS_EV_MEMR;
    cps_buf_printf(out, "  %10" PRIu64 "  %s", place->count, cps_event_keyword(place->kind));
    if (place->kind != CPS_EV_PKT && place->kind != CPS_EV_END)
        cps_buf_printf(out, memory ? " 0x%016" PRIx64 : " 0x%04" PRIx64, place->addr);
    cps_buf_str(out, " ");
    if (!memory && place->kind != CPS_EV_PKT)
        put_names(r, diff_space(place->kind), (uint32_t)place->addr, out);
    cps_buf_str(out, "\n");
}

/* Which rows of a list are shown, in its order: the largest. Of the rest the sum is told. */
struct tail {
    uint64_t least; /* larger ones are shown */
    size_t equal;   /* and so many that are as large */
    size_t left;
    uint64_t sum;
};

static int by_size(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x;
    uint64_t b = *(const uint64_t *)y;
    return a > b ? -1 : a < b;
}

/* Of the @p most largest counts; those that are 0 are no rows. @p scratch  sorted here */
static struct tail tail_of(uint64_t *scratch, size_t count, size_t most)
{
    struct tail ret = {0};
    qsort(scratch, count, sizeof(*scratch), by_size);
    if (count > most)
        ret.least = scratch[most - 1];
    for (size_t i = 0; i < most && i < count; i++)
        ret.equal += scratch[i] == ret.least;
    return ret;
}

static bool is_shown(struct tail *tail, uint64_t count)
{
    bool shown = count > tail->least || (count && count == tail->least && tail->equal);
    tail->equal -= shown && count == tail->least;
    tail->left += !shown && count;
    tail->sum += shown ? 0 : count;
    return shown;
}

static void print_tail(const struct tail *tail, const char *what, struct cps_buf *out)
{
    if (tail->left)
        cps_buf_printf(out, "  %10" PRIu64 "  in %zu %s more: --all shows them\n", tail->sum,
                       tail->left, what);
}

static void print_places(const struct diff_report *r, size_t most, struct cps_buf *out)
{
    size_t count = r->diff->places;
    uint64_t *counts = tool_alloc(count, sizeof(*counts));
    for (size_t i = 0; i < count; i++)
        counts[i] = r->diff->by_place[i].count;
    struct tail tail = tail_of(counts, count, most);
    for (size_t i = 0; i < count; i++) {
        if (is_shown(&tail, r->diff->by_place[i].count))
            print_place(r, &r->diff->by_place[i], out);
    }
    print_tail(&tail, "places", out);
    free(counts);
}

void diff_print_counts(const struct diff_report *r, size_t most, struct cps_buf *out)
{
    uint64_t counts[129];
    if (!r->diff->differences)
        return;
    memcpy(counts, r->diff->by_packet, sizeof(counts));
    struct tail tail = tail_of(counts, 129, most);
    cps_buf_printf(out, "%" PRIu64 " difference%s, by packet:\n", r->diff->differences,
                   r->diff->differences == 1 ? "" : "s");
    for (unsigned id = 0; id <= 128; id++) {
        if (!is_shown(&tail, r->diff->by_packet[id]))
            continue;
        cps_buf_printf(out, "  %10" PRIu64 "  ", r->diff->by_packet[id]);
        diff_packet_name(r, id, out);
        cps_buf_str(out, "\n");
    }
    print_tail(&tail, "packets", out);
    cps_buf_str(out, "by register and address:\n");
    print_places(r, most, out);
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
    struct json_object *to = json_object_new_object();
    CPS_BUF why = {0};
    cps_json_uint(to, "status", (uint64_t)diff_status(r, &why));
    if (why.size)
        cps_json_buf(to, "why", &why);
    cps_json_uint(to, "compared", diff_compared(r));
    struct json_object *runs = cps_json_new_array(to, "runs");
    play_account_json_row(&r->a.record->account, r->a.label, runs);
    play_account_json_row(&r->b.record->account, r->b.label, runs);
    cps_json_uint(to, "differences", r->diff->differences);
    if (r->diff->differences) {
        struct json_object *at = cps_json_new_object(to, "first");
        cps_json_uint(at, "submission", first->submission);
        add_event(at, "packet", first->pkt_a ? first->pkt_a : first->pkt_b);
        add_event(at, "a", first->a);
        add_event(at, "b", first->b);
    }
    struct json_object *packets = cps_json_new_object(to, "by_packet");
    for (unsigned id = 0; id <= 128; id++) {
        CPS_BUF name = {0};
        if (!r->diff->by_packet[id])
            continue;
        diff_packet_name(r, id, &name);
        cps_json_uint(packets, tool_text(&name), r->diff->by_packet[id]);
    }
    return to;
}
