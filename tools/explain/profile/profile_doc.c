/* SPDX-License-Identifier: MIT
 * Sums of frames, a table for each sort: sorted, with shares in percent for people, or as JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/cmd/render/doc.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/explain/profile/profile.h"
#include "tools/run/account.h"
#include "trace/out/json.h"

enum { MOST_FUNCTIONS = 40 }; /* shown in the text */

#define SPENT "{count:6} {instructions:12} {.percent:8} {.mean:9} {least:9} {most:9}\n"

static const char layout[] =
    "{instructions} instructions, {.packet_count} packets, ended: {ended}\n"
    "every repetition of a (rep) is counted; `run` counts a (rep) as one instruction\n"
    "\nprocessor                      instructions        %\n"
    "{processors*  {processor:-28} {instructions:12} {.percent:8}\n}"
    "\npacket                              count instructions        %      mean     least"
    "      most\n"
    "{packets*  {processor:-6} {.level:-4} {packet:-20e} " SPENT "}"
    "{functions?\nfunction                            calls         self        %     total\n}"
    "{functions*{.shown?  {processor:-6} {function:-24e} {calls:7} {self:12} {.percent:8} "
    "{total:9}\n}}{.more?  and {.more} more\n}"
    "{.launches?\nwork, since the one before          count instructions        %      mean"
    "     least      most\n}"
    "{.launches?{draws*{.shown?  {processor:-6} {kind:-25} " SPENT "}}}"
    "{waits?\nwaits in                             times instructions\n}"
    "{waits*  {processor:-6} 0x{pc:04x} {packet:-24e} {times:6} {instructions:12}"
    "{at?  assumed: the value at 0x{at:x}}\n}";

/* Frames that are the same but for their parents and call sites. */
struct row {
    struct profile_node what; /* `parent` is 0; of packets `site` is the level */
    uint64_t total;           /* with all below */
};

static int by_frame(const void *x, const void *y)
{
    return profile_compare(&((const struct row *)x)->what, &((const struct row *)y)->what);
}

static uint64_t weight_of(const struct row *row)
{
    return row->what.kind == PROFILE_PACKET      ? row->what.own
           : row->what.kind == PROFILE_PROCESSOR ? row->total
                                                 : row->what.self;
}

static int by_weight(const void *x, const void *y)
{
    uint64_t a = weight_of(x);
    uint64_t b = weight_of(y);
    return a != b ? a > b ? -1 : 1 : by_frame(x, y);
}

/* A packet belongs to the stream above it, or is internal. The code of a boot has calls, but no
 * packets: it spent all that is below. */
static struct row row_of(const struct profile *p, const struct profile_node *node, uint64_t total)
{
    const struct profile_node *parent = &p->node[node->parent];
    struct row row = {*node, total};
    row.what.parent = row.what.site = 0;
    if (node->kind == PROFILE_PACKET)
        row.what.site = parent->kind == PROFILE_LEVEL ? parent->key : CPS_LEVEL_INT;
    if (node->kind == PROFILE_BOOT)
        row.what.own = row.what.least = row.what.most = total;
    return row;
}

static void add_row(struct row *to, const struct row *row)
{
    if (row->what.visits && (!to->what.visits || row->what.least < to->what.least))
        to->what.least = row->what.least;
    if (row->what.most > to->what.most)
        to->what.most = row->what.most;
    to->what.visits += row->what.visits;
    to->what.self += row->what.self;
    to->what.own += row->what.own;
    to->total += row->total;
}

/* Sums by processor, of packets by processor and level, or of functions, most instructions first.
 * @return them, to be freed */
static struct row *sum_up(const struct profile *p, enum profile_kind kind, enum profile_kind other,
                          size_t *count)
{
    struct row *rows = tool_alloc(p->nodes, sizeof(*rows));
    CPS_FREE uint64_t *total = profile_totals(p);
    size_t found = 0;
    *count = 0;
    for (size_t i = 0; i < p->nodes; i++) {
        if (p->node[i].kind == kind || p->node[i].kind == other)
            rows[found++] = row_of(p, &p->node[i], total[i]);
    }
    qsort(rows, found, sizeof(*rows), by_frame);
    for (size_t i = 0; i < found; i++) {
        if (*count && !by_frame(&rows[*count - 1], &rows[i]))
            add_row(&rows[*count - 1], &rows[i]);
        else
            rows[(*count)++] = rows[i];
    }
    qsort(rows, *count, sizeof(*rows), by_weight);
    return rows;
}

/* The share of all instructions, in the text. */
static void put_percent(const struct profile *p, struct json_object *row, uint64_t part)
{
    char text[24];
    double all = p->instructions ? (double)p->instructions : 1;
    snprintf(text, sizeof(text), "%.2f", 100.0 * (double)part / all);
    doc_put(row, ".percent=%s", text);
}

static void put_spent(const struct profile *p, struct json_object *row,
                      const struct profile_range *spent)
{
    char mean[32];
    double count = spent->count ? (double)spent->count : 1;
    snprintf(mean, sizeof(mean), "%.1f", (double)spent->sum / count);
    doc_put(row,
            "count=%" PRIu64 " instructions=%" PRIu64 " .mean=%s least=%" PRIu64 " most=%" PRIu64,
            spent->count, spent->sum, mean, spent->least, spent->most);
    put_percent(p, row, spent->sum);
}

static void put_row(const struct profile *p, const struct row *row, struct json_object *to)
{
    const struct profile_node *what = &row->what;
    const char *level = cps_event_sub_word(CPS_EV_PKT, what->site);
    CPS_BUF name = {0};
    profile_name(p, what, &name);
    doc_put(to, "processor=%s", cps_processor_name(what->who));
    if (what->kind == PROFILE_PROCESSOR) {
        doc_put(to, "instructions=%" PRIu64, row->total);
        put_percent(p, to, row->total);
    } else if (what->kind == PROFILE_PACKET || what->kind == PROFILE_BOOT) {
        bool is_boot = what->kind == PROFILE_BOOT;
        doc_put(to, "packet=%p .level=%s level=%s", &name, is_boot ? "-" : level,
                is_boot ? NULL : level);
        put_spent(p, to, &(struct profile_range){what->visits, what->own, what->least, what->most});
    } else {
        doc_put(to, "function=%p pc=%u calls=%" PRIu64 " self=%" PRIu64 " total=%" PRIu64, &name,
                what->key, what->visits, what->self, row->total);
        put_percent(p, to, what->self);
    }
}

static void put_sums(const struct profile *p, const char *key, enum profile_kind kind,
                     enum profile_kind other, struct json_object *to)
{
    size_t count = 0;
    CPS_FREE struct row *rows = sum_up(p, kind, other, &count);
    struct json_object *list = cps_json_new_array(to, key);
    for (size_t i = 0; i < count; i++)
        put_row(p, &rows[i], doc_row(list, ".shown?=%d", i < MOST_FUNCTIONS));
    if (kind == PROFILE_CALL && count > MOST_FUNCTIONS)
        doc_put(to, ".more=%zu", count - MOST_FUNCTIONS);
}

static void put_waits(const struct profile *p, struct json_object *list)
{
    for (size_t i = 0; i < p->waits; i++) {
        const struct profile_wait *wait = &p->wait[i];
        CPS_BUF name = {0};
        profile_name(
            p,
            &(struct profile_node){.kind = PROFILE_PACKET, .who = wait->who, .key = wait->packet},
            &name);
        struct json_object *row =
            doc_row(list, "processor=%s packet=%p pc=%u assumed?=%d", cps_processor_name(wait->who),
                    &name, wait->pc, wait->assumed);
        if (wait->assumed)
            doc_put(row, "at=%" PRIu64, wait->at);
        doc_put(row, "times=%" PRIu64 " instructions=%" PRIu64, wait->count, wait->spent);
    }
}

static struct json_object *compose(const struct profile *p)
{
    struct json_object *to = doc_new();
    doc_put(to, "format=%s gen=%s ended=%s instructions=%" PRIu64 " .packet_count=%" PRIu64,
            "cpscope-profile 1", cps_gen_name(p->play->gen),
            cps_event_sub_word(CPS_EV_END, p->reason), p->instructions, p->packets);
    put_sums(p, "processors", PROFILE_PROCESSOR, PROFILE_PROCESSOR, to);
    put_sums(p, "packets", PROFILE_PACKET, PROFILE_BOOT, to);
    put_sums(p, "functions", PROFILE_CALL, PROFILE_INTERRUPT, to);
    struct json_object *draws = cps_json_new_array(to, "draws");
    for (unsigned kind = CPS_LAUNCH_DRAW; kind < CPS_LAUNCH_KINDS; kind++)
        put_spent(p,
                  doc_row(draws, "kind=%s processor=%s .shown?=%d", cps_launch_kind_text_(kind),
                          cps_processor_name(p->launches.who), p->launch[kind].count != 0),
                  &p->launch[kind]);
    doc_put(to, ".launches?=%d", p->launches.count != 0);
    put_waits(p, cps_json_new_array(to, "waits"));
    return tool_json(to);
}

void profile_table(const struct profile *p, struct cps_buf *text)
{
    struct json_object *root = compose(p);
    doc_text(root, layout, text);
    json_object_put(root);
}

void profile_json(const struct profile *p, struct cps_buf *text)
{
    struct play_account account;
    struct json_object *root = compose(p);
    cps_err_free(tool_err(play_account_take(p->play, &account)));
    play_account_json(&account, cps_json_new_object(root, "run"));
    doc_strip(root);
    cps_json_put(text, root, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE);
    cps_buf_str(text, "\n");
    json_object_put(root);
}
