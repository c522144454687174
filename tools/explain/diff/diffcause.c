/* SPDX-License-Identifier: MIT
 * Why two revisions behave otherwise: each difference belongs to a cause. */
#include "tools/explain/diff/diffcause.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fw/image/icache.h"
#include "tools/cmd/render/doc.h"
#include "tools/cmd/terminal/oom.h"

enum { MOST_CAUSES = 12, MOST_PLACES = 12, MOST_LINES = 16, IMAGES = 2 };

struct cause {
    uint64_t differences, packets;
    const struct cps_event *last; /* the packet that was counted last */
    uint64_t by_packet[129];
    struct cps_buf first;
    struct diff_first event; /* of the first */
};

/* An image of both sides, and how its code differs; the second one is the ME of a5xx. */
struct image {
    struct diff_report sides; /* with that image for firmware */
    struct cps_fw_change *change;
    struct cause *cause; /* by change */
    uint64_t *ran;       /* executions of what changed, by change, over all comparisons */
    bool *now;           /* whether it was executed in this one */
    bool *renamed;       /* whether only private registers have other numbers */
    size_t count;
    bool counted; /* it is known what ran */
};

struct diff_causes {
    struct image image[IMAGES];
    bool own[2][CPS_FW_TABLE_SIZE]; /* packets that a side has a handler for */
    struct cause handler[CPS_FW_TABLE_SIZE];
    struct cause ended, other;
    const struct diff_report *report; /* the comparison at hand */
};

static struct cps_err *compare_image(struct image *image, const struct diff_report *sides,
                                     const struct cps_fw *a, const struct cps_fw *b)
{
    image->sides = *sides;
    image->sides.a.fw = a;
    image->sides.b.fw = b;
    CPS_TRY(diff_changes(a, b, &image->change, &image->count));
    image->cause = tool_alloc(image->count, sizeof(*image->cause));
    image->ran = tool_alloc(image->count, sizeof(*image->ran));
    image->now = tool_alloc(image->count, sizeof(*image->now));
    image->renamed = tool_alloc(image->count, sizeof(*image->renamed));
    return renumber_only(a, b, image->change, image->count, image->renamed);
}

struct cps_err *diff_causes_create(const struct diff_report *sides, struct diff_causes **ret)
{
    uint32_t table[CPS_FW_TABLE_SIZE];
    struct diff_causes *c = tool_alloc(1, sizeof(*c));
    *ret = c;
    c->image[0].counted = true;
    CPS_TRY(compare_image(&c->image[0], sides, sides->a.fw, sides->b.fw));
    if (sides->a.me && sides->b.me)
        CPS_TRY(compare_image(&c->image[1], sides, sides->a.me, sides->b.me));
    cps_fw_table_of_(sides->a.fw, &sides->a.fw->part[0], table);
    cps_fw_own_handlers_(table, c->own[0]);
    cps_fw_table_of_(sides->b.fw, &sides->b.fw->part[0], table);
    cps_fw_own_handlers_(table, c->own[1]);
    return NULL;
}

/* Whether there are two images, PFP and ME, of each side. */
static bool is_a5xx(const struct diff_causes *c)
{
    return c->image[1].sides.a.fw != NULL;
}

static void forget(struct cause *cause)
{
    struct cps_buf first = cause->first;
    cps_buf_clear(&first);
    *cause = (struct cause){.first = first};
}

static void each_cause(struct diff_causes *c, void (*act)(struct cause *cause))
{
    for (unsigned k = 0; k < IMAGES; k++) {
        for (size_t i = 0; c->image[k].cause && i < c->image[k].count; i++)
            act(&c->image[k].cause[i]);
    }
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++)
        act(&c->handler[id]);
    act(&c->ended);
    act(&c->other);
}

void diff_causes_clear(struct diff_causes *c)
{
    each_cause(c, forget);
    for (unsigned k = 0; k < IMAGES; k++) {
        if (c->image[k].ran)
            memset(c->image[k].ran, 0, c->image[k].count * sizeof(*c->image[k].ran));
    }
}

static void release(struct cause *cause)
{
    cps_buf_deinit(&cause->first);
}

void diff_causes_destroy(struct diff_causes *c)
{
    if (!c)
        return;
    each_cause(c, release);
    for (unsigned k = 0; k < IMAGES; k++) {
        free(c->image[k].change);
        free(c->image[k].cause);
        free(c->image[k].ran);
        free(c->image[k].now);
        free(c->image[k].renamed);
    }
    free(c);
}

/* What was put in or taken out between two instructions was passed if the one behind it ran. */
static uint64_t runs_of(const struct diff_side *side, const struct cps_fw *fw,
                        enum cps_fw_role role, uint32_t at, uint32_t count)
{
    const struct cps_fw_part *part = diff_part(fw, role);
    const struct record *record = side->record;
    uint64_t sum = 0;
    for (uint32_t i = 0; record && part && i < count && at + i < part->size; i++) {
        if (part->start + at + i < record->cover_count)
            sum += record->cover[part->start + at + i].run;
    }
    return sum;
}

static uint64_t executions(const struct diff_report *r, const struct image *image, size_t i)
{
    const struct cps_fw_change *change = &image->change[i];
    return runs_of(&r->a, image->sides.a.fw, change->role, change->a, change->a_count) +
           runs_of(&r->b, image->sides.b.fw, change->role, change->b, change->b_count);
}

/* Packets of another comparison are others, though they may lie where those before lay. */
static void forget_packet(struct cause *cause)
{
    cause->last = NULL;
}

void diff_causes_begin(struct diff_causes *c, const struct diff_report *report)
{
    struct image *image = &c->image[0];
    c->report = report;
    each_cause(c, forget_packet);
    for (size_t i = 0; i < image->count; i++) {
        uint64_t runs = executions(report, image, i);
        image->ran[i] += runs;
        image->now[i] = runs != 0;
    }
}

static bool is_in(const struct cps_event *event, uint32_t at, uint32_t count)
{
    return event && cps_event_pc(event) >= at && cps_event_pc(event) - at < count;
}

/* Where the event of a difference was made: of side a, if it is there. */
struct spot {
    const struct cps_difference *d;
    bool right;
    uint32_t pc;
    enum cps_fw_role role;
    uint32_t start, end;         /* of the handler that it stands in */
    uint32_t from_start, to_end; /* of the packet's; empty if that is the same, or not known */
};

static bool find_spot(const struct image *image, const struct cps_difference *d, struct spot *ret)
{
    const struct cps_event *event = d->a ? d->a : d->b;
    const struct cps_event *pkt = d->a ? d->pkt_a : d->pkt_b;
    const struct diff_side *side = d->a ? &image->sides.a : &image->sides.b;
    const struct cps_fw_part *part = NULL;
    const struct cps_fw *fw = diff_image(side, cps_event_who(event), &part);
    int id = pkt ? cps_diff_packet_id(pkt) : -1;
    *ret = (struct spot){.d = d, .right = !d->a, .pc = cps_event_pc(event)};
    if (!fw || cps_event_kind(event) == CPS_EV_END || cps_event_kind(event) == CPS_EV_PKT)
        return false;
    ret->role = part->role;
    diff_handler_bounds(fw, part, ret->pc, &ret->start, &ret->end);
    uint32_t handler = id >= 0 ? cps_fw_handler(fw, part, (unsigned)id) : CPS_FW_NONE;
    if (handler != CPS_FW_NONE && handler != ret->start)
        diff_handler_bounds(fw, part, handler, &ret->from_start, &ret->to_end);
    return true;
}

/* How likely a place of changed code is the cause; 0: it is not. The second of two that are alike
 * is taken, but for those behind the event. */
static unsigned likely(const struct spot *spot, const struct cps_fw_change *change)
{
    uint32_t at = spot->right ? change->b : change->a;
    if (change->role != spot->role || change->moved)
        return 0;
    if (is_in(spot->d->a, change->a, change->a_count) ||
        is_in(spot->d->b, change->b, change->b_count))
        return 4;
    if (at >= spot->start && at < spot->end)
        return at <= spot->pc ? 3 : 1;
    return at >= spot->from_start && at < spot->to_end ? 2 : 0;
}

static struct cause *find_code(struct image *image, const struct cps_difference *d)
{
    struct spot spot;
    unsigned most = 0;
    struct cause *ret = NULL;
    if (!image->change || !find_spot(image, d, &spot))
        return NULL;
    for (size_t i = 0; i < image->count; i++) {
        unsigned now = image->renamed[i] ? 0 : likely(&spot, &image->change[i]);
        if (!now || now < most || (now == 1 && most == 1) || (image->counted && !image->now[i]))
            continue;
        most = now;
        ret = &image->cause[i];
    }
    return ret;
}

/* Whether the run that lacks the event ended before its time. */
static bool had_ended(const struct diff_causes *c, const struct cps_difference *d)
{
    const struct cps_event *event = d->a ? d->a : d->b;
    const struct record *a = c->report->a.record;
    const struct record *b = c->report->b.record;
    if (cps_event_kind(event) == CPS_EV_END)
        return true;
    return (!d->b && b && b->account.stop != CPS_STOP_IDLE) ||
           (!d->a && a && a->account.stop != CPS_STOP_IDLE);
}

static struct cause *find(struct diff_causes *c, const struct cps_difference *d)
{
    const struct cps_event *pkt = d->pkt_a ? d->pkt_a : d->pkt_b;
    int id = pkt ? cps_diff_packet_id(pkt) : -1;
    unsigned image = cps_event_who(d->a ? d->a : d->b) == CPS_CPU_ME && c->image[1].change;
    bool alone = !d->pkt_a || !d->pkt_b;
    if (alone && had_ended(c, d))
        return &c->ended;
    if (id >= 0 && !image && c->own[0][id] != c->own[1][id])
        return &c->handler[id];
    struct cause *code = find_code(&c->image[image], d);
    return code ? code : had_ended(c, d) ? &c->ended : &c->other;
}

static void describe(const struct diff_causes *c, const struct cps_difference *d, int id,
                     struct cps_buf *out)
{
    if (d->submission != UINT32_MAX)
        cps_buf_printf(out, "submission %" PRIu32 ", ", d->submission);
    diff_packet_name(c->report, id < 0 ? 128 : (unsigned)id, out);
    cps_buf_str(out, ": ");
    diff_print_change(c->report, d, out);
}

void diff_causes_take(void *causes, const struct cps_difference *d)
{
    struct diff_causes *c = causes;
    const struct cps_event *pkt = d->pkt_a ? d->pkt_a : d->pkt_b;
    struct cause *cause = find(c, d);
    int id = pkt ? cps_diff_packet_id(pkt) : -1;
    if (!cause->differences) {
        describe(c, d, id, &cause->first);
        cause->event = (struct diff_first){d->a, d->b};
    }
    cause->packets += !cause->differences || cause->last != pkt;
    cause->differences++;
    cause->last = pkt;
    cause->by_packet[id < 0 ? 128 : id]++;
}

/* ---- what is printed ---- */

/* A cause with differences, as it is sorted and named. */
struct row {
    const struct cause *cause;
    const struct image *image; /* NULL: no code */
    size_t change;
    size_t order;
    int packet; /* without a handler; -1 */
};

static int by_differences(const void *x, const void *y)
{
    const struct row *a = x;
    const struct row *b = y;
    if (a->cause->differences != b->cause->differences)
        return a->cause->differences > b->cause->differences ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static size_t add_row(struct row *row, size_t count, struct row one)
{
    one.order = count;
    if (one.cause->differences)
        row[count++] = one;
    return count;
}

/* Code first; what had ended, and what has no cause, are last. */
static struct row *rows_of(const struct diff_causes *c, size_t *ret)
{
    size_t most = c->image[0].count + c->image[1].count + CPS_FW_TABLE_SIZE + 2;
    struct row *row = tool_alloc(most, sizeof(*row));
    size_t count = 0;
    for (unsigned k = 0; k < IMAGES; k++) {
        const struct image *image = &c->image[k];
        for (size_t i = 0; i < image->count; i++)
            count = add_row(row, count, (struct row){&image->cause[i], image, i, 0, -1});
    }
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++)
        count = add_row(row, count, (struct row){&c->handler[id], NULL, 0, 0, (int)id});
    qsort(row, count, sizeof(*row), by_differences);
    count = add_row(row, count, (struct row){&c->other, NULL, 0, 0, -1});
    *ret = add_row(row, count, (struct row){&c->ended, NULL, 0, 0, -1});
    return row;
}

/* What may be behind differences that no code of their packets explains: code that ran, and makes
 * nothing different where it ran. */
static void put_suspects(const struct diff_causes *c, struct cps_buf *out)
{
    enum { MOST = 6 };
    unsigned count = 0;
    for (unsigned k = 0; k < IMAGES; k++) {
        const struct image *image = &c->image[k];
        for (size_t i = 0; i < image->count; i++) {
            if (!image->ran[i] || image->cause[i].differences || image->change[i].moved ||
                image->renamed[i])
                continue;
            cps_buf_str(out, !count          ? "; changed code that ran elsewhere: "
                             : count < MOST  ? ", "
                             : count == MOST ? ", ..."
                                             : "");
            if (count++ < MOST)
                diff_print_where(&image->sides, &image->change[i], out);
        }
    }
}

static void put_name(const struct diff_causes *c, const struct row *row, struct cps_buf *out)
{
    const struct diff_report *r = &c->image[0].sides;
    if (row->image) {
        diff_print_where(&row->image->sides, &row->image->change[row->change], out);
        cps_buf_str(out, ": changed, behaves differently");
    } else if (row->packet >= 0) {
        diff_packet_name(r, (unsigned)row->packet, out);
        cps_buf_printf(out, ": %s has no handler of its own for it",
                       c->own[0][row->packet] ? r->b.label : r->a.label);
    } else if (row->cause == &c->ended) {
        cps_buf_str(out, "one of both runs had ended");
    } else {
        cps_buf_str(out, "no code of theirs differs, follows from what came before");
        put_suspects(c, out);
    }
}

static void put_packets(const struct diff_causes *c, const struct cause *cause, struct cps_buf *out)
{
    enum { MOST = 4 };
    unsigned count = 0;
    for (unsigned id = 0; id <= 128; id++) {
        if (!cause->by_packet[id])
            continue;
        cps_buf_str(out, !count ? " (" : count < MOST ? ", " : count == MOST ? ", ..." : "");
        if (count++ < MOST)
            diff_packet_name(&c->image[0].sides, id, out);
    }
    cps_buf_str(out, ")");
}

static void put_row(const struct diff_causes *c, const struct row *row, uint32_t most,
                    struct cps_buf *out)
{
    const struct cause *cause = row->cause;
    cps_buf_str(out, "  ");
    put_name(c, row, out);
    cps_buf_printf(out, ": %" PRIu64 " difference%s in %" PRIu64 " packet%s", cause->differences,
                   cause->differences == 1 ? "" : "s", cause->packets,
                   cause->packets == 1 ? "" : "s");
    put_packets(c, cause, out);
    cps_buf_str(out, "\n    first: ");
    cps_buf_str(out, tool_text(&cause->first));
    if (row->image && most)
        diff_print_hunk(&row->image->sides, &row->image->change[row->change], most, out);
}

void diff_causes_print(const struct diff_causes *c, uint32_t most, struct cps_buf *out)
{
    size_t count = 0;
    struct row *row = rows_of(c, &count);
    size_t shown = most == UINT32_MAX || count < MOST_CAUSES ? count : MOST_CAUSES;
    if (count)
        cps_buf_str(out, "differences by cause:\n");
    for (size_t i = 0; i < shown; i++)
        put_row(c, &row[i], most, out);
    if (shown < count)
        cps_buf_printf(out, "  and %zu causes more: --all shows them\n", count - shown);
    free(row);
}

/* What is known of a place that is the cause of nothing. */
static const char *fate(const struct diff_causes *c, const struct image *image, size_t i)
{
    if (image->renamed[i])
        return "a private register has another number";
    if (!image->counted)
        return "changed; what the ME executes is not counted";
    if (!image->ran[i])
        return "changed but not exercised";
    return c->other.differences ? "changed, executed; what differs shows in other packets"
                                : "changed, executed, the same behaviour";
}

/* "CP_NOP (bv)": the handler that a place is in. */
static void put_handler(const struct image *image, size_t i, struct cps_buf *out)
{
    CPS_BUF where = {0};
    diff_print_where(&image->sides, &image->change[i], &where);
    const char *text = tool_text(&where);
    const char *role = strchr(text, ' ');
    cps_buf_add(out, text, strcspn(text, "+ "));
    cps_buf_str(out, role ? role : "");
}

/* Handlers of the places that are not shown, each once. */
static void put_rest(const struct diff_causes *c, const struct image *image, bool ran,
                     const bool *done, struct cps_buf *out)
{
    enum { WIDTH = 100 };
    CPS_BUF last = {0};
    size_t column = 0;
    for (size_t i = 0; i < image->count; i++) {
        CPS_BUF name = {0};
        if (done[i] || image->renamed[i] || image->cause[i].differences ||
            (image->ran[i] != 0) != ran)
            continue;
        if (!column)
            cps_buf_printf(out, "  also %s (--all shows the code):", fate(c, image, i));
        put_handler(image, i, &name);
        if (column && !strcmp(tool_text(&name), tool_text(&last)))
            continue;
        bool wrap = !column || column + name.size > WIDTH;
        cps_buf_printf(out, "%s%s%s", column ? "," : "", wrap ? "\n    " : " ",
                       cps_buf_text(&name));
        column = (wrap ? 4 : column + 2) + name.size;
        cps_buf_clear(&last);
        cps_buf_add(&last, name.data, name.size);
    }
    cps_buf_str(out, column ? "\n" : "");
}

/* @return how many were shown */
static size_t put_places(const struct diff_causes *c, const struct image *image, bool ran,
                         size_t most, bool all, bool *done, struct cps_buf *out)
{
    size_t shown = 0;
    for (size_t i = 0; i < image->count && (all || shown < most); i++) {
        if (image->cause[i].differences || (image->ran[i] != 0) != ran ||
            (image->renamed[i] && !all))
            continue;
        cps_buf_str(out, "  ");
        diff_print_where(&image->sides, &image->change[i], out);
        cps_buf_printf(out, ": %s\n", fate(c, image, i));
        diff_print_hunk(&image->sides, &image->change[i], all ? UINT32_MAX : MOST_LINES, out);
        done[i] = true;
        shown++;
    }
    return shown;
}

static void print_image(const struct diff_causes *c, const struct image *image, bool all,
                        struct cps_buf *out)
{
    size_t above = 0;
    size_t renamed = 0;
    bool *done = tool_alloc(image->count, sizeof(*done));
    for (size_t i = 0; i < image->count; i++) {
        above += image->cause[i].differences != 0;
        renamed += image->renamed[i];
    }
    if (is_a5xx(c))
        cps_buf_printf(out, "%s: ", image == c->image ? "PFP" : "ME");
    diff_print_versions(&image->sides, out);
    cps_buf_printf(out, image->count ? "code that differs, %zu place%s" : "no code differs",
                   image->count, image->count == 1 ? "" : "s");
    if (above)
        cps_buf_printf(out, ", %zu of them above", above);
    if (renamed)
        cps_buf_printf(out, ", %zu of them private registers with other numbers%s", renamed,
                       all ? "" : " (--all shows them)");
    cps_buf_str(out, image->count > above + (all ? 0 : renamed) ? ":\n" : "\n");
    /* first what ran */
    size_t shown = put_places(c, image, true, MOST_PLACES, all, done, out);
    put_rest(c, image, true, done, out);
    put_places(c, image, false, MOST_PLACES - shown, all, done, out);
    put_rest(c, image, false, done, out);
    free(done);
}

void diff_causes_print_code(const struct diff_causes *c, bool all, struct cps_buf *out)
{
    diff_print_handlers(&c->image[0].sides, out);
    print_image(c, &c->image[0], all, out);
    if (is_a5xx(c))
        print_image(c, &c->image[1], all, out);
}

struct json_object *diff_causes_json(const struct diff_causes *c)
{
    struct json_object *ret = json_object_new_array();
    size_t count = 0;
    struct row *row = rows_of(c, &count);
    for (size_t i = 0; i < count; i++) {
        CPS_BUF name = {0};
        CPS_BUF first = {0};
        put_name(c, &row[i], &name);
        cps_buf_add(&first, row[i].cause->first.data,
                    strcspn(cps_buf_text(&row[i].cause->first), "\n"));
        doc_row(ret, "cause=%p differences=%" PRIu64 " packets=%" PRIu64 " first=%p", &name,
                row[i].cause->differences, row[i].cause->packets, &first);
    }
    free(row);
    return ret;
}

size_t diff_causes_firsts(const struct diff_causes *c, struct diff_first *ret, size_t most)
{
    size_t count = 0;
    struct row *row = rows_of(c, &count);
    count = count < most ? count : most;
    for (size_t i = 0; i < count; i++)
        ret[i] = row[i].cause->event;
    free(row);
    return count;
}
