/* SPDX-License-Identifier: MIT
 * The place of a first divergence, with both sides beside each other. */
#include "tools/explain/diff/diffplace.h"

#include <inttypes.h>
#include <string.h>

#include "fw/image/place.h"
#include "trace/form/text.h"
#include "tools/cmd/render/doc.h"

#define CODE_AROUND   40u /* instructions of a handler shown on each side of the place */
#define CODE_MOST     (2 * CODE_AROUND + 1)
#define EVENTS_AROUND 5u

/* Instructions of one side. */
struct window {
    const struct cps_fw *fw; /* NULL: nothing to show */
    const struct cps_fw_part *part;
    const struct cps_names *names; /* of the processor */
    uint32_t pc;
    bool here; /* the event is of this side */
    uint32_t first, count;
};

static const struct cps_event *any_event(const struct diff_report *r)
{
    return r->diff->first.a ? r->diff->first.a : r->diff->first.b;
}

void diff_place_key(const struct diff_report *r, struct cps_buf *out)
{
    const struct cps_difference *first = &r->diff->first;
    const struct cps_event *const event[2] = {first->a, first->b};
    const struct cps_event *pkt = first->pkt_a ? first->pkt_a : first->pkt_b;
    cps_buf_printf(out, "%s %s %s %d", r->b.label, r->a.label,
                   cps_processor_name(cps_event_who(any_event(r))),
                   pkt ? cps_diff_packet_id(pkt) : -1);
    for (unsigned i = 0; i < 2; i++) {
        if (event[i])
            cps_buf_printf(out, " %04" PRIx32, cps_event_pc(event[i]));
        else
            cps_buf_str(out, " -");
    }
}

/* A side without the event: what the same packet runs there, as far into it. */
static uint32_t partner_pc(const struct window *w, const struct window *other,
                           const struct cps_event *pkt)
{
    int id = pkt ? cps_diff_packet_id(pkt) : -1;
    uint32_t start = id >= 0 && w->fw ? cps_fw_handler(w->fw, w->part, (unsigned)id) : CPS_FW_NONE;
    uint32_t other_start =
        id >= 0 && other->fw ? cps_fw_handler(other->fw, other->part, (unsigned)id) : CPS_FW_NONE;
    if (start == CPS_FW_NONE || other_start == CPS_FW_NONE || other->pc < other_start)
        return other->pc;
    return start + (other->pc - other_start);
}

static void frame(struct window *w)
{
    uint32_t start, end;
    if (!w->fw || w->pc >= w->part->size) {
        w->fw = NULL;
        return;
    }
    diff_handler_bounds(w->fw, w->part, w->pc, &start, &end);
    if (w->pc - start > CODE_AROUND)
        start = w->pc - CODE_AROUND;
    if (end - w->pc > CODE_AROUND)
        end = w->pc + CODE_AROUND + 1;
    w->first = start;
    w->count = end - start;
}

static void windows(const struct diff_report *r, struct window *a, struct window *b)
{
    const struct cps_difference *first = &r->diff->first;
    unsigned who = cps_event_who(any_event(r));
    *a = (struct window){.here = first->a != NULL, .pc = first->a ? cps_event_pc(first->a) : 0};
    *b = (struct window){.here = first->b != NULL, .pc = first->b ? cps_event_pc(first->b) : 0};
    a->fw = diff_image(&r->a, who, &a->part);
    b->fw = diff_image(&r->b, who, &b->part);
    a->names = r->a.names[who];
    b->names = r->b.names[who];
    if (!a->here)
        a->pc = partner_pc(a, b, first->pkt_a);
    if (!b->here)
        b->pc = partner_pc(b, a, first->pkt_b);
    frame(a);
    frame(b);
}

static uint32_t word_of(const struct window *w, uint32_t i)
{
    return w->fw->words[w->part->start + w->first + i];
}

static void put_insn(const struct window *w, uint32_t i, char mark, struct cps_buf *out)
{
    struct cps_insn insn;
    const struct cps_print_names print = {.names = w->names};
    uint32_t at = w->first + i;
    cps_decode(&cps_isa_afuc, w->fw->gen, word_of(w, i), &insn);
    cps_buf_printf(out, "%c%c %04" PRIx32 " %08" PRIx32 "  ",
                   w->here && at == w->pc ? PLACE_HERE : ' ', mark, at, word_of(w, i));
    cps_print(&cps_isa_afuc, &insn, at, &print, out);
    cps_buf_str(out, "\n");
}

static bool same(const struct window *a, const struct window *b, uint32_t i, uint32_t k)
{
    return cps_fw_same_insn(a->fw->gen, word_of(a, i), word_of(b, k));
}

/* at[i][k]: length of the longest common part of what begins at a's i and b's k. */
struct lengths {
    uint8_t at[CODE_MOST + 1][CODE_MOST + 1];
};

static void common_lengths(const struct window *a, const struct window *b, struct lengths *ret)
{
    memset(ret, 0, sizeof(*ret));
    for (uint32_t i = a->count; i-- > 0;) {
        for (uint32_t k = b->count; k-- > 0;) {
            uint8_t skip_a = ret->at[i + 1][k];
            uint8_t skip_b = ret->at[i][k + 1];
            uint8_t longer = skip_a > skip_b ? skip_a : skip_b;
            ret->at[i][k] = same(a, b, i, k) ? (uint8_t)(ret->at[i + 1][k + 1] + 1) : longer;
        }
    }
}

/* Instructions from i and k on that have no partner: up to where the common part goes on. */
static void skip_changed(const struct window *a, const struct window *b,
                         const struct lengths *lengths, uint32_t *i, uint32_t *k)
{
    while (*i < a->count && *k < b->count && !same(a, b, *i, *k)) {
        if (lengths->at[*i + 1][*k] >= lengths->at[*i][*k + 1])
            ++*i;
        else
            ++*k;
    }
    if (*i == a->count)
        *k = b->count;
    else if (*k == b->count)
        *i = a->count;
}

/* Changed instructions of one side, in so many lines with @p pad empty ones first. */
static void put_changed(const struct window *w, uint32_t first, uint32_t end, uint32_t pad,
                        uint32_t lines, struct cps_buf *out)
{
    for (uint32_t i = 0; i < lines; i++) {
        if (i >= pad && first + i - pad < end)
            put_insn(w, first + i - pad, PLACE_CHANGED, out);
        else
            cps_buf_str(out, "\n");
    }
}

/* How far behind its begin a run of changed instructions has the place; 0 if it is elsewhere. */
static uint32_t place_behind(const struct window *w, uint32_t first, uint32_t end)
{
    uint32_t at = w->pc - w->first;
    return w->here && at >= first && at < end ? at - first : 0;
}

/* What changed on both sides: the place beside the place, the rest as it falls. */
static void put_both_changed(const struct window *a, const struct window *b,
                             const uint32_t first[2], const uint32_t end[2], struct cps_buf *to_a,
                             struct cps_buf *to_b)
{
    uint32_t at_a = place_behind(a, first[0], end[0]);
    uint32_t at_b = place_behind(b, first[1], end[1]);
    uint32_t pad_a = at_b > at_a ? at_b - at_a : 0;
    uint32_t pad_b = at_a > at_b ? at_a - at_b : 0;
    pad_a = end[0] > first[0] ? pad_a : 0;
    pad_b = end[1] > first[1] ? pad_b : 0;
    uint32_t lines_a = pad_a + end[0] - first[0];
    uint32_t lines_b = pad_b + end[1] - first[1];
    uint32_t lines = lines_a > lines_b ? lines_a : lines_b;
    put_changed(a, first[0], end[0], pad_a, lines, to_a);
    put_changed(b, first[1], end[1], pad_b, lines, to_b);
}

static void put_aligned(const struct window *a, const struct window *b, struct cps_buf *to_a,
                        struct cps_buf *to_b)
{
    struct lengths lengths;
    uint32_t at[2] = {0, 0};
    common_lengths(a, b, &lengths);
    while (at[0] < a->count || at[1] < b->count) {
        uint32_t end[2] = {at[0], at[1]};
        skip_changed(a, b, &lengths, &end[0], &end[1]);
        put_both_changed(a, b, at, end, to_a, to_b);
        memcpy(at, end, sizeof(at));
        for (; at[0] < a->count && at[1] < b->count && same(a, b, at[0], at[1]); at[0]++, at[1]++) {
            char mark = word_of(a, at[0]) == word_of(b, at[1]) ? ' ' : PLACE_TARGET;
            put_insn(a, at[0], mark, to_a);
            put_insn(b, at[1], mark, to_b);
        }
    }
}

static void put_alone(const struct window *w, struct cps_buf *out)
{
    for (uint32_t i = 0; w->fw && i < w->count; i++)
        put_insn(w, i, ' ', out);
}

/* The id of the packet in which a side differs first; -1: none ran. */
static int packet_in(const struct diff_report *r, bool right)
{
    const struct cps_event *pkt = right ? r->diff->first.pkt_b : r->diff->first.pkt_a;
    return pkt ? cps_diff_packet_id(pkt) : -1;
}

struct json_object *diff_place(const struct diff_report *r)
{
    struct json_object *ret = json_object_new_object();
    struct window a, b;
    CPS_BUF handler = {0};
    CPS_BUF code_a = {0};
    CPS_BUF code_b = {0};
    windows(r, &a, &b);
    const struct window *shown = b.fw && (b.here || !a.fw) ? &b : &a;
    if (shown->fw)
        cps_fw_place_put_(shown->fw, shown->part, shown->names, shown->pc,
                          packet_in(r, shown == &b), &handler);
    if (a.fw && b.fw) {
        put_aligned(&a, &b, &code_a, &code_b);
    } else {
        put_alone(&a, &code_a);
        put_alone(&b, &code_b);
    }
    doc_put(ret, "firmware=%s handler=%p label_a=%s label_b=%s code_a=%p code_b=%p", r->b.label,
            &handler, r->a.label, r->b.label, &code_a, &code_b);
    return ret;
}

/* What a packet does lies between its PKT and the next one of the same processor. */
static bool is_inside(const struct cps_event *event, unsigned who)
{
    return cps_event_who(event) == who && cps_event_kind(event) != CPS_EV_PKT;
}

/* How many events of the packet stand in front of @p event. */
static size_t place_in(const struct cps_event *pkt, const struct cps_event *event, unsigned who)
{
    size_t ret = 0;
    for (const struct cps_event *at = pkt + 1; at < event; at++)
        ret += is_inside(at, who);
    return ret;
}

static void put_event(const struct diff_side *side, const struct cps_event *event, bool here,
                      struct cps_buf *out)
{
    cps_buf_printf(out, "%c  ", here ? PLACE_HERE : ' ');
    cps_text_event(out, event, side->names[cps_event_who(event) % CPS_CPU_COUNT], true);
}

static void put_packet(const struct diff_side *side, const struct cps_event *pkt,
                       const struct cps_event *event, size_t place, struct cps_buf *out)
{
    unsigned who = cps_event_who(pkt);
    size_t from = place > EVENTS_AROUND ? place - EVENTS_AROUND : 0;
    size_t number = 0;
    put_event(side, pkt, pkt == event, out);
    if (from)
        cps_buf_printf(out, "   (%zu more)\n", from);
    for (const struct cps_event *at = pkt + 1; at < side->record->event + side->record->count;
         at++) {
        if (cps_event_who(at) == who && cps_event_kind(at) == CPS_EV_PKT)
            return;
        if (!is_inside(at, who) || number++ < from)
            continue;
        if (number > place + EVENTS_AROUND + 1) {
            cps_buf_str(out, "   ...\n");
            return;
        }
        put_event(side, at, at == event, out);
    }
}

void diff_place_packet(const struct diff_report *r, bool right, struct cps_buf *out)
{
    const struct cps_difference *first = &r->diff->first;
    const struct cps_event *pkt = right ? first->pkt_b : first->pkt_a;
    const struct cps_event *event = right ? first->b : first->a;
    const struct cps_event *other_pkt = right ? first->pkt_a : first->pkt_b;
    const struct cps_event *other = right ? first->a : first->b;
    const struct diff_side *side = right ? &r->b : &r->a;
    if (pkt && event)
        put_packet(side, pkt, event, place_in(pkt, event, cps_event_who(pkt)), out);
    else if (pkt)
        put_packet(side, pkt, NULL,
                   other && other_pkt ? place_in(other_pkt, other, cps_event_who(other_pkt)) : 0,
                   out);
    else if (event)
        put_event(side, event, true, out);
    if (!event)
        cps_buf_printf(out, "%c  (nothing)\n", PLACE_HERE);
}
