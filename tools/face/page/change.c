/* SPDX-License-Identifier: MIT
 * Differences between two revisions, packet by packet: those of trace/form/diff.c with the equal
 * events between them, and the code of handlers side by side. */
#include "tools/face/page/view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fw/image/pairs.h"
#include "isa/base/list.h"
#include "isa/base/pm4.h"
#include "tools/cmd/render/doc.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/explain/diff/diffreport.h"
#include "trace/out/json.h"

enum { MOST_ROWS = 2000, MOST_CODE = 700 }; /* of a packet; instructions of a handler */

/* How rows are marked. */
enum { SAME, CHANGED, OLD_ONLY, NEW_ONLY };

struct change {
    const struct view_run *run;
    const struct view_side *old;
    struct cps_difference *found; /* owned; in the order of packets */
    size_t count, room;
    struct json_object *packets, *handlers;
    struct view_listing listing[2]; /* old, new */
    bool text;
};

static void add_difference(void *context, const struct cps_difference *difference)
{
    struct change *c = context;
    tool_need(CPS_LIST_RESERVE(c->found, c->room, c->count + 1));
    c->found[c->count++] = *difference;
}

/* ---- rows of a packet ---- */

/* The events of one side's packet that are compared. */
struct inside {
    const struct cps_event *at, *end;
    unsigned who;
};

static const struct cps_event *next_event(struct inside *in)
{
    for (; in->at < in->end; in->at++) {
        unsigned kind = cps_event_kind(in->at);
        if (cps_event_who(in->at) != in->who)
            continue;
        if (kind == CPS_EV_PKT)
            in->end = in->at;
        else if (RECORD_COMPARED >> kind & 1)
            return in->at;
    }
    return NULL;
}

static struct inside inside_of(const struct record *record, const struct cps_event *pkt)
{
    if (!pkt)
        return (struct inside){record->event, record->event, 0};
    return (struct inside){pkt + 1, record->event + record->count, cps_event_who(pkt)};
}

/* [mark, kind, old address, value, pc, new address, value, pc]; a side without an event has none.
 */
static void add_row(struct json_object *rows, int mark, const struct cps_event *a,
                    const struct cps_event *b)
{
    const struct cps_event none = {0}, *old = a ? a : &none, *new = b ? b : &none;
    doc_array(rows, "%d %u %" PRId64 " %u %u %" PRId64 " %u %u", mark,
              cps_event_kind(a ? a : b) | cps_event_sub(a ? a : b) << 4, a ? (int64_t)a->addr : -1,
              old->value, cps_event_pc(old), b ? (int64_t)b->addr : -1, new->value,
              cps_event_pc(new));
}

/* The difference that an event of a side is in. Those of a gap come first of one side, then of the
 * other. */
static const struct cps_difference *difference_of(const struct cps_difference *found,
                                                  const struct cps_difference *end,
                                                  const struct cps_event *a,
                                                  const struct cps_event *b)
{
    while (found < end && !((a && found->a == a) || (b && found->b == b)))
        found++;
    return found < end ? found : NULL;
}

/* Both sides as they were compared: an event of one side is where it happened. */
static void put_rows(struct json_object *rows, struct inside a, struct inside b,
                     const struct cps_difference *found, const struct cps_difference *end)
{
    for (unsigned i = 0; i < MOST_ROWS; i++) {
        const struct cps_event *x = next_event(&a);
        const struct cps_event *y = next_event(&b);
        const struct cps_difference *of_x = difference_of(found, end, x, NULL);
        const struct cps_difference *of_y = difference_of(found, end, NULL, y);
        if (!x && !y)
            return;
        bool only_x = x && (!y || (of_x && !of_x->b));
        bool only_y = !only_x && y && (!x || (of_y && !of_y->a));
        int mark = only_x ? OLD_ONLY : only_y ? NEW_ONLY : of_x ? CHANGED : SAME;
        add_row(rows, mark, only_y ? NULL : x, only_x ? NULL : y);
        a.at += !only_y;
        b.at += !only_x;
    }
}

/* ---- code of handlers ---- */

struct code {
    const struct cps_fw *fw;
    const struct cps_fw_part *part;
    const struct view_listing *listing;
    uint32_t first, count;
};

static struct code code_of(const struct view_side *side, const struct view_listing *listing,
                           unsigned who, unsigned id)
{
    struct code ret = {.listing = listing};
    ret.fw = play_part(side->fw, side->me, who, &ret.part);
    uint32_t end = 0;
    if (!ret.fw || (ret.fw != side->fw))
        return (struct code){0};
    uint32_t start = cps_fw_handler(ret.fw, ret.part, id);
    if (start == CPS_FW_NONE)
        return (struct code){0};
    diff_handler_bounds(ret.fw, ret.part, start, &ret.first, &end);
    ret.count = end - ret.first > MOST_CODE ? MOST_CODE : end - ret.first;
    return ret;
}

/* Words that are equal where cps_fw_same_insn() says so. */
static uint64_t *keys_of(const struct code *code)
{
    uint64_t *keys = tool_alloc(code->count + 1, sizeof(*keys));
    for (uint32_t i = 0; i < code->count; i++) {
        struct cps_insn insn;
        uint32_t word = code->fw->words[code->part->start + code->first + i];
        cps_decode(&cps_isa_afuc, code->fw->gen, word, &insn);
        keys[i] = word & ~(uint32_t)cps_insn_target_bits(&cps_isa_afuc, &insn);
    }
    return keys;
}

static const char *text_of(const struct change *c, const struct code *code, uint32_t i)
{
    const char *text = code->listing->line[code->part->start + code->first + i].text;
    return c->text && text ? text : "";
}

/* [mark, old pc, text, new pc, text] for each line; lines that are not equal are beside each other.
 */
static void put_code(const struct change *c, const struct code *a, const struct code *b,
                     struct json_object *rows)
{
    CPS_FREE uint64_t *old = keys_of(a);
    CPS_FREE uint64_t *new = keys_of(b);
    CPS_FREE uint32_t *partner = tool_alloc(a->count + 1, sizeof(*partner));
    tool_must(cps_align_exact_(old, a->count, new, b->count, partner));
    for (uint32_t i = 0, k = 0, end = 0; i < a->count || k<b->count; end = i> end ? i : end) {
        while (end < a->count && partner[end] == CPS_FW_ALONE)
            end++;
        bool left = i < end;
        bool right = k < (end < a->count ? partner[end] : b->count);
        int mark = left ? right ? CHANGED : OLD_ONLY : right ? NEW_ONLY : SAME;
        doc_array(rows, "%d %" PRId64 " %s %" PRId64 " %s", mark,
                  mark != NEW_ONLY ? (int64_t)a->first + i : -1,
                  mark != NEW_ONLY ? text_of(c, a, i) : "",
                  mark != OLD_ONLY ? (int64_t)b->first + k : -1,
                  mark != OLD_ONLY ? text_of(c, b, k) : "");
        i += mark != NEW_ONLY;
        k += mark != OLD_ONLY;
    }
}

static void add_handler(struct change *c, const struct cps_event *pkt)
{
    int id = cps_diff_packet_id(pkt);
    unsigned who = cps_event_who(pkt);
    CPS_BUF key = {0};
    cps_buf_printf(&key, "%u.%d", who, id);
    if (id < 0 || cps_json_get(c->handlers, tool_text(&key)))
        return;
    struct code a = code_of(c->old, &c->listing[0], who, (unsigned)id);
    struct code b = code_of(c->run->side, &c->listing[1], who, (unsigned)id);
    struct json_object *rows = cps_json_new_array(c->handlers, cps_buf_text(&key));
    if (a.fw && b.fw)
        put_code(c, &a, &b, rows);
}

/* ---- packets ---- */

static int compare_places(const void *a, const void *b)
{
    const struct cps_event *x = *(const struct cps_event *const *)a;
    const struct cps_event *y = *(const struct cps_event *const *)b;
    return (x > y) - (x < y);
}

static int64_t packet_number(const struct view_run *run, const struct cps_event *pkt)
{
    for (unsigned i = 0; pkt && i < run->processors; i++) {
        const struct view_processor *p = &run->processor[i];
        const struct cps_event **found = bsearch(
            &pkt, run->packet + p->packet, p->packet_end - p->packet, sizeof(pkt), compare_places);
        if (found)
            return found - run->packet;
    }
    return -1;
}

/* [number here or -1, differences, rows, processor and packet of the handler]. */
static void put_packet(struct change *c, const struct cps_difference *found, size_t count)
{
    const struct cps_event *pkt = found->pkt_b ? found->pkt_b : found->pkt_a;
    struct json_object *packet =
        doc_array(c->packets, "%" PRId64 " %zu", packet_number(c->run, found->pkt_b), count);
    struct json_object *rows = json_object_new_array();
    put_rows(rows, inside_of(&c->old->record, found->pkt_a),
             inside_of(&c->run->side->record, found->pkt_b), found, found + count);
    cps_json_append(packet, rows);
    cps_json_append(packet, json_object_new_int(pkt ? (int)cps_event_who(pkt) : -1));
    cps_json_append(packet, json_object_new_int(pkt ? cps_diff_packet_id(pkt) : -1));
    if (pkt)
        add_handler(c, pkt);
}

static void put_packets(struct change *c)
{
    for (size_t from = 0, end; from < c->count; from = end) {
        for (end = from + 1; end < c->count && c->found[end].pkt_a == c->found[from].pkt_a &&
                             c->found[end].pkt_b == c->found[from].pkt_b;)
            end++;
        put_packet(c, &c->found[from], end - from);
    }
}

static struct cps_err *compare(struct change *c, struct json_object *to)
{
    const struct cps_diff_options options = {.kinds = RECORD_COMPARED};
    struct cps_diff diff = {0};
    const struct record *a = &c->old->record;
    const struct record *b = &c->run->side->record;
    CPS_TRY(cps_diff_events(a->event, a->count, b->event, b->count, &options, add_difference, c,
                            &diff));
    cps_json_uint(to, "total", diff.differences);
    cps_diff_deinit(&diff);
    CPS_TRY(view_listing(c->old->fw, c->old->config.rnn, &c->listing[0]));
    CPS_TRY(view_listing(c->run->side->fw, c->old->config.rnn, &c->listing[1]));
    put_packets(c);
    return NULL;
}

struct cps_err *view_change(const struct view_run *run, const struct view_side *old, bool text,
                            struct json_object *to)
{
    struct change c = {.run = run, .old = old, .text = text};
    c.packets = cps_json_new_array(to, "packets");
    c.handlers = cps_json_new_object(to, "handlers");
    struct cps_err *err = compare(&c, to);
    view_listing_deinit(&c.listing[0]);
    view_listing_deinit(&c.listing[1]);
    free(c.found);
    return err;
}
