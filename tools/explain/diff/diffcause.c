/* SPDX-License-Identifier: MIT
 * Why two revisions behave differently: each difference belongs to a cause. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fw/image/icache.h"
#include "tools/cmd/render/doc.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/explain/diff/diffreport.h"

enum { MOST_CAUSES = 12, MOST_PLACES = 12, MOST_LINES = 16, OUTSIDE = 128 };

/* A place of code, a packet without a handler on one side, that a run had ended, or nothing. */
struct cause {
    const struct cps_fw_change *change; /* NULL: no code */
    const struct diff_report *sides;    /* with the changed image for firmware */
    uint64_t ran;                       /* executions of the change, over all comparisons */
    bool ran_now;                       /* in this one; always where executions are not counted */
    bool is_counted;                    /* executions are; those of the ME of a5xx are not */
    bool is_renamed;                    /* only private registers have other numbers */
    bool is_shown;
    uint64_t differences, packets, by_packet[OUTSIDE + 1];
    const struct cps_event *last; /* the packet that was counted last */
    struct cps_buf first;
    struct diff_first event; /* of the first */
};

/* Causes are in their order: those of code by image, those of packets, `other`, `ended`. */
struct diff_causes {
    struct diff_report image[2]; /* both sides with an image for firmware; [1]: the ME of a5xx */
    struct cps_fw_change *change[2];
    struct cause *cause[3]; /* of each image; [2]: the packets', and the end of the images' */
    struct cause *other, *ended;
    uint32_t handler[2][CPS_FW_TABLE_SIZE];
    bool own[2][CPS_FW_TABLE_SIZE];   /* packets that a side has a handler for */
    const struct diff_report *report; /* the comparison at hand */
};

/* Whether there are two images, PFP and ME, of each side. */
static bool is_a5xx(const struct diff_causes *c)
{
    return c->image[1].a.fw != NULL;
}

static struct cps_err *compare_images(struct diff_causes *c)
{
    size_t count[2] = {0, 0};
    for (unsigned k = 0; k < 2 && c->image[k].a.fw; k++)
        CPS_TRY(diff_changes(c->image[k].a.fw, c->image[k].b.fw, &c->change[k], &count[k]));
    c->cause[0] = tool_alloc(count[0] + count[1] + CPS_FW_TABLE_SIZE + 2, sizeof(*c->cause[0]));
    c->cause[1] = c->cause[0] + count[0];
    c->cause[2] = c->cause[1] + count[1];
    c->other = c->cause[2] + CPS_FW_TABLE_SIZE;
    c->ended = c->other + 1;
    for (unsigned k = 0; k < 2 && c->image[k].a.fw; k++) {
        CPS_FREE bool *renamed = tool_alloc(count[k], sizeof(*renamed));
        CPS_TRY(renumber_only(c->image[k].a.fw, c->image[k].b.fw, c->change[k], count[k], renamed));
        for (size_t i = 0; i < count[k]; i++)
            c->cause[k][i] = (struct cause){.change = &c->change[k][i],
                                            .sides = &c->image[k],
                                            .ran_now = k,
                                            .is_counted = !k,
                                            .is_renamed = renamed[i]};
    }
    return NULL;
}

struct cps_err *diff_causes_create(const struct diff_report *sides, struct diff_causes **ret)
{
    struct diff_causes *c = tool_alloc(1, sizeof(*c));
    const struct cps_fw *const fw[2] = {sides->a.fw, sides->b.fw};
    *ret = c;
    c->image[0] = *sides;
    if (sides->a.me && sides->b.me) {
        c->image[1] = *sides;
        c->image[1].a.fw = sides->a.me;
        c->image[1].b.fw = sides->b.me;
    }
    for (unsigned i = 0; i < 2; i++) {
        cps_fw_table_of_(fw[i], &fw[i]->part[0], c->handler[i]);
        cps_fw_own_handlers_(c->handler[i], c->own[i]);
    }
    return compare_images(c);
}

void diff_causes_clear(struct diff_causes *c)
{
    for (struct cause *cause = c->cause[0]; cause <= c->ended; cause++) {
        cps_buf_clear(&cause->first);
        cause->ran = cause->differences = cause->packets = 0;
        memset(cause->by_packet, 0, sizeof(cause->by_packet));
    }
}

void diff_causes_destroy(struct diff_causes *c)
{
    if (!c)
        return;
    for (struct cause *cause = c->cause[0]; cause && cause <= c->ended; cause++)
        cps_buf_deinit(&cause->first);
    free(c->cause[0]);
    free(c->change[0]);
    free(c->change[1]);
    free(c);
}

/* ---- The cause of a difference ---- */

static uint64_t count_runs(const struct diff_side *side, const struct cps_fw *fw,
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

void diff_causes_begin(struct diff_causes *c, const struct diff_report *r)
{
    c->report = r;
    for (struct cause *cause = c->cause[0]; cause <= c->ended; cause++) {
        const struct cps_fw_change *change = cause->change;
        cause->last = NULL; /* a packet of another comparison may have had the same address */
        if (!change || !cause->is_counted)
            continue;
        uint64_t runs =
            count_runs(&r->a, cause->sides->a.fw, change->role, change->a, change->a_count) +
            count_runs(&r->b, cause->sides->b.fw, change->role, change->b, change->b_count);
        cause->ran += runs;
        cause->ran_now = runs != 0;
    }
}

static bool is_in(const struct cps_event *event, uint32_t at, uint32_t count)
{
    return event && cps_event_pc(event) >= at && cps_event_pc(event) - at < count;
}

/* Where the event of a difference was made: of side a, if it is there. */
struct spot {
    const struct cps_difference *d;
    uint32_t pc;
    enum cps_fw_role role;
    uint32_t start, end;         /* of the handler that contains it */
    uint32_t from_start, to_end; /* of the packet's; empty if that is the same, or not known */
};

static bool find_spot(const struct diff_report *image, const struct cps_difference *d,
                      struct spot *ret)
{
    const struct cps_event *event = d->a ? d->a : d->b;
    const struct cps_event *pkt = d->a ? d->pkt_a : d->pkt_b;
    const struct cps_fw_part *part = NULL;
    const struct cps_fw *fw = diff_image(d->a ? &image->a : &image->b, cps_event_who(event), &part);
    int id = pkt ? cps_diff_packet_id(pkt) : -1;
    *ret = (struct spot){.d = d, .pc = cps_event_pc(event)};
    if (!fw || cps_event_kind(event) == CPS_EV_END || cps_event_kind(event) == CPS_EV_PKT)
        return false;
    ret->role = part->role;
    diff_handler_bounds(fw, part, ret->pc, &ret->start, &ret->end);
    uint32_t handler = id >= 0 ? cps_fw_handler(fw, part, (unsigned)id) : CPS_FW_NONE;
    if (handler != CPS_FW_NONE && handler != ret->start)
        diff_handler_bounds(fw, part, handler, &ret->from_start, &ret->to_end);
    return true;
}

/* How likely a place of changed code is the cause; 0: it is not. */
static unsigned rate_change(const struct spot *spot, const struct cps_fw_change *change)
{
    uint32_t at = spot->d->a ? change->a : change->b;
    if (change->role != spot->role || change->moved)
        return 0;
    if (is_in(spot->d->a, change->a, change->a_count) ||
        is_in(spot->d->b, change->b, change->b_count))
        return 4;
    if (at >= spot->start && at < spot->end)
        return at <= spot->pc ? 3 : 1;
    return at >= spot->from_start && at < spot->to_end ? 2 : 0;
}

/* The most likely change that ran; of equal ones the last, but after the event the first. */
static struct cause *find_code(struct diff_causes *c, unsigned image,
                               const struct cps_difference *d)
{
    struct spot spot;
    unsigned most = 0;
    struct cause *ret = NULL;
    if (!c->change[image] || !find_spot(&c->image[image], d, &spot))
        return NULL;
    for (struct cause *cause = c->cause[image]; cause < c->cause[image + 1]; cause++) {
        unsigned rate = cause->is_renamed ? 0 : rate_change(&spot, cause->change);
        if (!rate || rate < most || (rate == 1 && most == 1) || !cause->ran_now)
            continue;
        most = rate;
        ret = cause;
    }
    return ret;
}

static bool has_stopped(const struct record *record)
{
    return record && record->account.stop != CPS_STOP_IDLE;
}

static struct cause *find_cause(struct diff_causes *c, const struct cps_difference *d, int id)
{
    const struct cps_event *event = d->a ? d->a : d->b;
    unsigned image = cps_event_who(event) == CPS_CPU_ME && c->change[1];
    /* whether the run that lacks the event ended before its time */
    bool had_ended = cps_event_kind(event) == CPS_EV_END ||
                     (!d->b && has_stopped(c->report->b.record)) ||
                     (!d->a && has_stopped(c->report->a.record));
    if ((!d->pkt_a || !d->pkt_b) && had_ended)
        return c->ended;
    if (id >= 0 && !image && c->own[0][id] != c->own[1][id])
        return &c->cause[2][id];
    struct cause *code = find_code(c, image, d);
    return code ? code : had_ended ? c->ended : c->other;
}

void diff_causes_take(void *causes, const struct cps_difference *d)
{
    struct diff_causes *c = causes;
    const struct cps_event *pkt = diff_packet(d);
    int id = pkt ? cps_diff_packet_id(pkt) : -1;
    unsigned number = id < 0 ? OUTSIDE : (unsigned)id;
    struct cause *cause = find_cause(c, d, id);
    if (!cause->differences) {
        if (d->submission != UINT32_MAX)
            cps_buf_printf(&cause->first, "submission %" PRIu32 ", ", d->submission);
        diff_packet_name(c->report, number, &cause->first);
        cps_buf_str(&cause->first, ": ");
        diff_print_change(c->report, d, &cause->first);
        cause->event = (struct diff_first){d->a, d->b};
    }
    cause->packets += !cause->differences || cause->last != pkt;
    cause->differences++;
    cause->last = pkt;
    cause->by_packet[number]++;
}

/* ---- Causes as text and JSON ---- */

static int by_differences(const void *x, const void *y)
{
    const struct cause *a = *(struct cause *const *)x;
    const struct cause *b = *(struct cause *const *)y;
    if (a->differences != b->differences)
        return a->differences > b->differences ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* Causes with differences, most first; `other` and `ended` are last. */
static struct cause **list_causes(const struct diff_causes *c, size_t *count)
{
    struct cause **row = tool_alloc((size_t)(c->ended + 1 - c->cause[0]), sizeof(struct cause *));
    *count = 0;
    for (struct cause *cause = c->cause[0]; cause <= c->ended; cause++) {
        if (cause == c->other)
            qsort(row, *count, sizeof(struct cause *), by_differences);
        if (cause->differences)
            row[(*count)++] = cause;
    }
    return row;
}

static void put_where(const struct cause *cause, struct cps_buf *out)
{
    diff_print_where(cause->sides, cause->change, out);
}

/* Suspects for differences that no code of their packets explains: code that ran, and makes nothing
 * different where it ran. */
static void put_suspects(const struct diff_causes *c, struct cps_buf *out)
{
    enum { MOST = 6 };
    unsigned count = 0;
    for (const struct cause *cause = c->cause[0]; cause < c->cause[2]; cause++) {
        if (!cause->ran || cause->differences || cause->change->moved || cause->is_renamed)
            continue;
        cps_buf_str(out, !count          ? "; changed code that ran elsewhere: "
                         : count < MOST  ? ", "
                         : count == MOST ? ", ..."
                                         : "");
        if (count++ < MOST)
            put_where(cause, out);
    }
}

static void put_name(const struct diff_causes *c, const struct cause *cause, struct cps_buf *out)
{
    const struct diff_report *r = &c->image[0];
    if (cause->change) {
        put_where(cause, out);
        cps_buf_str(out, ": changed, behaves differently");
    } else if (cause < c->other) {
        unsigned id = (unsigned)(cause - c->cause[2]);
        diff_packet_name(r, id, out);
        cps_buf_printf(out, ": %s has no handler of its own for it",
                       c->own[0][id] ? r->b.label : r->a.label);
    } else if (cause == c->ended) {
        cps_buf_str(out, "one of the two runs had ended");
    } else {
        cps_buf_str(out, "no changed code in their handlers, follows from earlier packets");
        put_suspects(c, out);
    }
}

static void put_cause(const struct diff_causes *c, const struct cause *cause, uint32_t most_lines,
                      struct cps_buf *out)
{
    enum { MOST = 4 };
    unsigned count = 0;
    cps_buf_str(out, "  ");
    put_name(c, cause, out);
    cps_buf_printf(out, ": %" PRIu64 " difference%s in %" PRIu64 " packet%s", cause->differences,
                   cause->differences == 1 ? "" : "s", cause->packets,
                   cause->packets == 1 ? "" : "s");
    for (unsigned id = 0; id <= OUTSIDE; id++) {
        if (!cause->by_packet[id])
            continue;
        cps_buf_str(out, !count ? " (" : count < MOST ? ", " : count == MOST ? ", ..." : "");
        if (count++ < MOST)
            diff_packet_name(&c->image[0], id, out);
    }
    cps_buf_printf(out, ")\n    first: %s", tool_text(&cause->first));
    if (cause->change)
        diff_print_hunk(cause->sides, cause->change, most_lines, out);
}

struct json_object *diff_causes_json(const struct diff_causes *c)
{
    struct json_object *ret = tool_json(json_object_new_array());
    size_t count = 0;
    CPS_FREE struct cause **row = list_causes(c, &count);
    for (size_t i = 0; i < count; i++) {
        CPS_BUF name = {0};
        CPS_BUF first = {0};
        put_name(c, row[i], &name);
        cps_buf_add(&first, tool_text(&row[i]->first), strcspn(tool_text(&row[i]->first), "\n"));
        doc_row(ret, "cause=%p differences=%" PRIu64 " packets=%" PRIu64 " first=%p", &name,
                row[i]->differences, row[i]->packets, &first);
    }
    return ret;
}

size_t diff_causes_firsts(const struct diff_causes *c, struct diff_first *ret, size_t most)
{
    size_t count = 0;
    CPS_FREE struct cause **row = list_causes(c, &count);
    count = count < most ? count : most;
    for (size_t i = 0; i < count; i++)
        ret[i] = row[i]->event;
    return count;
}

/* ---- Handlers, and code that is the cause of nothing ---- */

static void put_packet(const struct diff_causes *c, unsigned side, unsigned id, struct cps_buf *out)
{
    const struct cps_names *names = diff_any_names(side ? &c->image[0].b : &c->image[0].a);
    const char *name = names ? cps_name(names, CPS_SPACE_PACKET, id, NULL) : NULL;
    if (name)
        cps_buf_str(out, name);
    else
        cps_buf_printf(out, "packet 0x%02x", id);
}

/* Packets that one side has a handler of its own for, and the other one not. */
static void put_lost(const struct diff_causes *c, unsigned side, const char *title,
                     struct cps_buf *out)
{
    unsigned count = 0;
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++) {
        if (!c->own[side][id] || c->own[!side][id])
            continue;
        cps_buf_str(out, count++ ? ", " : title);
        put_packet(c, side, id, out);
    }
    cps_buf_str(out, count ? "\n" : "");
}

/* Packets that one side has a handler each for, and the other one for both. */
static void put_merged(const struct diff_causes *c, unsigned side, const char *title,
                       struct cps_buf *out)
{
    const uint32_t *apart = c->handler[side];
    const uint32_t *shared = c->handler[!side];
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++) {
        for (unsigned k = id + 1; k < CPS_FW_TABLE_SIZE && c->own[!side][id]; k++) {
            if (shared[id] != shared[k] || apart[id] == apart[k] || !c->own[side][id] ||
                !c->own[side][k])
                continue;
            cps_buf_str(out, title);
            put_packet(c, side, id, out);
            cps_buf_str(out, " and ");
            put_packet(c, side, k, out);
            cps_buf_str(out, "\n");
            break;
        }
    }
}

static const char *describe_rest(const struct diff_causes *c, const struct cause *cause)
{
    return cause->is_renamed       ? "a private register has another number"
           : !cause->is_counted    ? "changed; what the ME executes is not counted"
           : !cause->ran           ? "changed but not exercised"
           : c->other->differences ? "changed, executed; what differs shows in other packets"
                                   : "changed, executed, no behavioural difference";
}

/* Places that ran, or not, with their code. @return how many of @p most are left */
static size_t put_places(const struct diff_causes *c, unsigned k, bool ran, size_t most, bool all,
                         struct cps_buf *out)
{
    for (struct cause *cause = c->cause[k]; cause < c->cause[k + 1] && (all || most); cause++) {
        if (cause->differences || (cause->ran != 0) != ran || (cause->is_renamed && !all))
            continue;
        cps_buf_str(out, "  ");
        put_where(cause, out);
        cps_buf_printf(out, ": %s\n", describe_rest(c, cause));
        diff_print_hunk(cause->sides, cause->change, all ? UINT32_MAX : MOST_LINES, out);
        cause->is_shown = true;
        most -= !all;
    }
    return most;
}

/* Handlers of the places that are not shown, each once: "CP_NOP (bv)". */
static void put_rest(const struct diff_causes *c, unsigned k, bool ran, struct cps_buf *out)
{
    enum { WIDTH = 100 };
    CPS_BUF last = {0};
    size_t column = 0;
    for (const struct cause *cause = c->cause[k]; cause < c->cause[k + 1]; cause++) {
        CPS_BUF where = {0};
        CPS_BUF name = {0};
        if (cause->is_shown || cause->is_renamed || cause->differences || (cause->ran != 0) != ran)
            continue;
        if (!column)
            cps_buf_printf(out, "  also %s (--all shows the code):", describe_rest(c, cause));
        put_where(cause, &where);
        const char *role = strchr(tool_text(&where), ' ');
        cps_buf_add(&name, where.data, strcspn(where.data, "+ "));
        cps_buf_str(&name, role ? role : "");
        if (column && !strcmp(tool_text(&name), tool_text(&last)))
            continue;
        bool wrap = !column || column + name.size > WIDTH;
        cps_buf_printf(out, "%s%s%s", column ? "," : "", wrap ? "\n    " : " ", name.data);
        column = (wrap ? 4 : column + 2) + name.size;
        cps_buf_clear(&last);
        cps_buf_join(&last, &name);
    }
    cps_buf_str(out, column ? "\n" : "");
}

static void print_image(const struct diff_causes *c, unsigned k, bool all, struct cps_buf *out)
{
    size_t count = (size_t)(c->cause[k + 1] - c->cause[k]);
    size_t above = 0;
    size_t renamed = 0;
    for (size_t i = 0; i < count; i++) {
        above += c->cause[k][i].differences != 0;
        renamed += c->cause[k][i].is_renamed;
    }
    if (is_a5xx(c))
        cps_buf_str(out, k ? "ME: " : "PFP: ");
    diff_print_versions(&c->image[k], out);
    cps_buf_printf(out, count ? "code that differs, %zu place%s" : "no code differs", count,
                   count == 1 ? "" : "s");
    if (above)
        cps_buf_printf(out, ", %zu of them above", above);
    if (renamed)
        cps_buf_printf(out, ", %zu of them private registers with other numbers%s", renamed,
                       all ? "" : " (--all shows them)");
    cps_buf_str(out, count > above + (all ? 0 : renamed) ? ":\n" : "\n");
    size_t left = put_places(c, k, true, MOST_PLACES, all, out); /* first what ran */
    put_rest(c, k, true, out);
    put_places(c, k, false, left, all, out);
    put_rest(c, k, false, out);
}

void diff_causes_print(struct diff_causes *c, bool all, struct cps_buf *out)
{
    size_t count = 0;
    CPS_FREE struct cause **row = list_causes(c, &count);
    size_t shown = all || count < MOST_CAUSES ? count : MOST_CAUSES;
    if (count)
        cps_buf_str(out, "differences by cause:\n");
    for (size_t i = 0; i < shown; i++)
        put_cause(c, row[i], all ? UINT32_MAX : MOST_LINES, out);
    if (shown < count)
        cps_buf_printf(out, "  and %zu causes more: --all shows them\n", count - shown);
    put_lost(c, 0, "handlers removed: ", out);
    put_lost(c, 1, "handlers added: ", out);
    put_merged(c, 0, "one handler now for ", out);
    put_merged(c, 1, "handlers of their own now for ", out);
    print_image(c, 0, all, out);
    if (is_a5xx(c))
        print_image(c, 1, all, out);
}
