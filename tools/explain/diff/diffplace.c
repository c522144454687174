/* SPDX-License-Identifier: MIT
 * The place of a first divergence, with both sides beside each other. */
#include <inttypes.h>
#include <string.h>

#include "fw/image/icache.h"
#include "fw/image/pairs.h"
#include "tools/cmd/render/doc.h"
#include "tools/cmd/render/html.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/explain/diff/diffreport.h"
#include "trace/form/text.h"

#define CODE_AROUND   40u /* instructions of a handler shown on each side of the place */
#define CODE_MOST     (2 * CODE_AROUND + 1)
#define EVENTS_AROUND 5u

/* One side of the first difference, and the instructions that are shown of it. */
struct window {
    const struct diff_side *side;
    const struct cps_event *event, *pkt; /* NULL: the side has none */
    int id;                              /* of the packet; -1: none ran */
    const struct cps_fw *fw;             /* NULL: nothing to show */
    const struct cps_fw_part *part;
    const struct cps_names *names; /* of the processor */
    uint32_t pc;
    uint32_t first, count;
};

/* Both sides, without code. */
static void view_sides(const struct diff_report *r, struct window w[2])
{
    const struct cps_difference *d = &r->diff->first;
    w[0] = (struct window){.side = &r->a, .event = d->a, .pkt = d->pkt_a};
    w[1] = (struct window){.side = &r->b, .event = d->b, .pkt = d->pkt_b};
    for (unsigned i = 0; i < 2; i++) {
        w[i].id = w[i].pkt ? cps_diff_packet_id(w[i].pkt) : -1;
        w[i].pc = w[i].event ? cps_event_pc(w[i].event) : 0;
    }
}

static unsigned who_of(const struct window w[2])
{
    return cps_event_who(w[0].event ? w[0].event : w[1].event);
}

void diff_place_key(const struct diff_report *r, struct cps_buf *out)
{
    struct window w[2];
    view_sides(r, w);
    cps_buf_printf(out, "%s %s %s %d", r->b.label, r->a.label, cps_processor_name(who_of(w)),
                   w[0].pkt ? w[0].id : w[1].id);
    for (unsigned i = 0; i < 2; i++) {
        if (w[i].event)
            cps_buf_printf(out, " %04" PRIx32, w[i].pc);
        else
            cps_buf_str(out, " -");
    }
}

/* ---- Code ---- */

/* A side without the event: the code that the same packet runs there, as far into it. */
static uint32_t find_partner(const struct window *w, const struct window *other)
{
    uint32_t start =
        w->id >= 0 && w->fw ? cps_fw_handler(w->fw, w->part, (unsigned)w->id) : CPS_FW_NONE;
    uint32_t from = w->id >= 0 && other->fw
                        ? cps_fw_handler(other->fw, other->part, (unsigned)w->id)
                        : CPS_FW_NONE;
    bool is_known = start != CPS_FW_NONE && from != CPS_FW_NONE && other->pc >= from;
    return is_known ? start + (other->pc - from) : other->pc;
}

static void find_code(struct window w[2])
{
    unsigned who = who_of(w);
    for (unsigned i = 0; i < 2; i++) {
        w[i].fw = diff_image(w[i].side, who, &w[i].part);
        w[i].names = w[i].side->names[who];
    }
    for (unsigned i = 0; i < 2; i++) {
        if (!w[i].event)
            w[i].pc = find_partner(&w[i], &w[!i]);
    }
    for (unsigned i = 0; i < 2; i++) {
        uint32_t start, end;
        if (!w[i].fw || w[i].pc >= w[i].part->size) {
            w[i].fw = NULL;
            continue;
        }
        diff_handler_bounds(w[i].fw, w[i].part, w[i].pc, &start, &end);
        if (w[i].pc - start > CODE_AROUND)
            start = w[i].pc - CODE_AROUND;
        if (end - w[i].pc > CODE_AROUND)
            end = w[i].pc + CODE_AROUND + 1;
        w[i].first = start;
        w[i].count = end - start;
    }
}

static uint32_t word_of(const struct window *w, uint32_t i)
{
    return w->fw->words[w->part->start + w->first + i];
}

static void put_insn(const struct window *w, uint32_t i, char mark, struct cps_buf *out)
{
    cps_buf_printf(out, "%c%c ", w->event && w->first + i == w->pc ? PLACE_HERE : ' ', mark);
    diff_put_code(w->fw, w->part, w->names, w->first + i, out);
    cps_buf_str(out, "\n");
}

/* Changed instructions of both sides: the place beside the place, the rest as it falls. Empty lines
 * fill the shorter side. */
static void put_changed(const struct window w[2], const uint32_t first[2], const uint32_t end[2],
                        struct cps_buf out[2])
{
    uint32_t offset[2], lines = 0; /* of the place in the instructions; 0: it is elsewhere */
    uint32_t pad[2];
    for (unsigned i = 0; i < 2; i++) {
        uint32_t at = w[i].pc - w[i].first;
        offset[i] = w[i].event && at >= first[i] && at < end[i] ? at - first[i] : 0;
    }
    for (unsigned i = 0; i < 2; i++) {
        pad[i] = end[i] > first[i] && offset[!i] > offset[i] ? offset[!i] - offset[i] : 0;
        uint32_t length = pad[i] + end[i] - first[i];
        lines = length > lines ? length : lines;
    }
    for (unsigned i = 0; i < 2; i++) {
        for (uint32_t line = 0; line < lines; line++) {
            if (line >= pad[i] && first[i] + line - pad[i] < end[i])
                put_insn(&w[i], first[i] + line - pad[i], PLACE_CHANGED, &out[i]);
            else
                cps_buf_str(&out[i], "\n");
        }
    }
}

/* Both codes, with a line for each other's line. */
static void put_aligned(const struct window w[2], struct cps_buf out[2])
{
    uint64_t key[2][CODE_MOST];
    uint32_t partner[CODE_MOST];
    uint32_t at[2] = {0, 0};
    for (unsigned i = 0; i < 2; i++) {
        for (uint32_t k = 0; k < w[i].count; k++)
            key[i][k] = cps_fw_untargeted_(w[0].fw, word_of(&w[i], k));
    }
    tool_must(cps_align_exact_(key[0], w[0].count, key[1], w[1].count, partner));
    while (at[0] < w[0].count || at[1] < w[1].count) {
        uint32_t end[2] = {at[0], w[1].count};
        while (end[0] < w[0].count && partner[end[0]] == CPS_FW_ALONE)
            end[0]++;
        if (end[0] < w[0].count)
            end[1] = partner[end[0]];
        put_changed(w, at, end, out);
        memcpy(at, end, sizeof(at));
        for (; at[0] < w[0].count && partner[at[0]] == at[1]; at[0]++, at[1]++) {
            bool is_same = word_of(&w[0], at[0]) == word_of(&w[1], at[1]);
            for (unsigned i = 0; i < 2; i++)
                put_insn(&w[i], at[i], is_same ? ' ' : PLACE_TARGET, &out[i]);
        }
    }
}

struct json_object *diff_place(const struct diff_report *r)
{
    struct json_object *ret = doc_new();
    struct window w[2];
    struct cps_buf code[2] = {{0}, {0}};
    CPS_BUF handler = {0};
    view_sides(r, w);
    find_code(w);
    const struct window *shown = &w[w[1].fw && (w[1].event || !w[0].fw)];
    if (shown->fw)
        cps_fw_place_put_(shown->fw, shown->part, shown->names, shown->pc, shown->id, &handler);
    if (w[0].fw && w[1].fw)
        put_aligned(w, code);
    for (unsigned i = 0; i < 2 && !(w[0].fw && w[1].fw); i++) {
        for (uint32_t k = 0; w[i].fw && k < w[i].count; k++)
            put_insn(&w[i], k, ' ', &code[i]);
    }
    doc_put(ret, "firmware=%s handler=%p label_a=%s label_b=%s code_a=%p code_b=%p", r->b.label,
            &handler, r->a.label, r->b.label, &code[0], &code[1]);
    cps_buf_deinit(&code[0]);
    cps_buf_deinit(&code[1]);
    return ret;
}

/* ---- Events ---- */

/* The events of a packet are between its PKT and the next one of the same processor. */
static bool is_inside(const struct cps_event *event, unsigned who)
{
    return cps_event_who(event) == who && cps_event_kind(event) != CPS_EV_PKT;
}

static void put_event(const struct window *w, const struct cps_event *event, struct cps_buf *out)
{
    cps_buf_printf(out, "%c  ", event == w->event ? PLACE_HERE : ' ');
    cps_text_event(out, event, w->side->names[cps_event_who(event) % CPS_CPU_COUNT], true);
}

/* The events around number @p place of the packet. */
static void put_packet(const struct window *w, size_t place, struct cps_buf *out)
{
    unsigned who = cps_event_who(w->pkt);
    size_t from = place > EVENTS_AROUND ? place - EVENTS_AROUND : 0;
    size_t number = 0;
    const struct cps_event *end = w->side->record->event + w->side->record->count;
    put_event(w, w->pkt, out);
    if (from)
        cps_buf_printf(out, "   (%zu more)\n", from);
    for (const struct cps_event *at = w->pkt + 1; at < end; at++) {
        if (cps_event_who(at) == who && cps_event_kind(at) == CPS_EV_PKT)
            return;
        if (!is_inside(at, who) || number++ < from)
            continue;
        if (number > place + EVENTS_AROUND + 1) {
            cps_buf_str(out, "   ...\n");
            return;
        }
        put_event(w, at, out);
    }
}

void diff_place_packet(const struct diff_report *r, bool right, struct cps_buf *out)
{
    struct window w[2];
    size_t place = 0;
    view_sides(r, w);
    const struct window *has = w[right].event ? &w[right] : &w[!right]; /* the event, if any has */
    for (const struct cps_event *at = has->pkt; has->pkt && has->event && ++at < has->event;)
        place += is_inside(at, cps_event_who(has->pkt));
    if (w[right].pkt)
        put_packet(&w[right], place, out);
    else if (w[right].event)
        put_event(&w[right], w[right].event, out);
    if (!w[right].event)
        cps_buf_printf(out, "%c  (nothing)\n", PLACE_HERE);
}
