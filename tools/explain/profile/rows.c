/* SPDX-License-Identifier: MIT
 * Sums of frames, each sort one table: sorted, with shares in percent for people, or as JSON. Both
 * come of the same cells. */
#include <inttypes.h>
#include <stdlib.h>

#include "isa/base/shown.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/explain/profile/profile.h"
#include "tools/run/account.h"
#include "trace/out/json.h"

#define MOST_LINES 40 /* of functions: the rest is summed up */

/* ---- Sums ---- */

/* Frames that are the same but for their parents and where they were called from. */
struct row {
    struct profile_node what; /* `parent` is 0; of packets `site` is the level */
    uint64_t total;           /* with all below */
};

static int by_what(const void *x, const void *y)
{
    const struct profile_node *a = &((const struct row *)x)->what;
    const struct profile_node *b = &((const struct row *)y)->what;
    const uint32_t left[] = {a->who, a->kind, a->site, a->key};
    const uint32_t right[] = {b->who, b->kind, b->site, b->key};
    for (unsigned i = 0; i < 4; i++) {
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    }
    return 0;
}

static uint64_t weight(const struct row *row)
{
    return row->what.kind == PROFILE_PACKET      ? row->what.own
           : row->what.kind == PROFILE_PROCESSOR ? row->total
                                                 : row->what.self;
}

static int by_weight(const void *x, const void *y)
{
    uint64_t a = weight(x);
    uint64_t b = weight(y);
    return a != b ? a > b ? -1 : 1 : by_what(x, y);
}

static bool is_wanted(const struct profile_node *node, enum profile_kind kind)
{
    return node->kind == kind || (kind == PROFILE_CALL && node->kind == PROFILE_INTERRUPT) ||
           (kind == PROFILE_PACKET && node->kind == PROFILE_BOOT);
}

/* The stream that a packet is of is the level above it, or internal. The code of a boot has calls,
 * but no packets: what it spent is all below. */
static struct row row_of(const struct profile_tree *tree, const struct profile_node *node,
                         uint64_t total)
{
    const struct profile_node *parent = &tree->node[node->parent];
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

/* Sums by processor, or of packets by processor and level, or of functions, most instructions
 * first.
 * @return them, to be freed */
static struct row *sum_up(const struct profile_tree *tree, enum profile_kind kind, size_t *count)
{
    struct row *rows = tool_alloc(tree->nodes, sizeof(*rows));
    CPS_FREE uint64_t *total = profile_tree_totals(tree);
    size_t found = 0;
    *count = 0;
    for (size_t i = 0; i < tree->nodes; i++) {
        if (is_wanted(&tree->node[i], kind))
            rows[found++] = row_of(tree, &tree->node[i], total[i]);
    }
    qsort(rows, found, sizeof(*rows), by_what);
    for (size_t i = 0; i < found; i++) {
        if (*count && !by_what(&rows[*count - 1], &rows[i]))
            add_row(&rows[*count - 1], &rows[i]);
        else
            rows[(*count)++] = rows[i];
    }
    qsort(rows, *count, sizeof(*rows), by_weight);
    return rows;
}

/* ---- Cells: in a line of text, or as members of a row ---- */

struct out {
    const struct profile *profile;
    struct cps_buf *text;     /* NULL: JSON */
    struct json_object *list; /* of the table at hand */
    struct json_object *row;
};

static void begin_row(struct out *out)
{
    if (out->text)
        cps_buf_str(out->text, "  ");
    else
        out->row = json_object_new_object();
}

/* @p width  of the column; 0: JSON alone */
static void put_word(struct out *out, const char *key, unsigned width, const char *word)
{
    if (!out->text) {
        cps_json_text(out->row, key, word);
    } else if (width) {
        size_t start = out->text->size;
        cps_shown_put_(out->text, word);
        cps_buf_pad(out->text, start, width);
        cps_buf_str(out->text, " ");
    }
}

static void put_processor(struct out *out, unsigned who)
{
    put_word(out, "processor", 6, cps_processor_name(who));
}

static void put_name(struct out *out, const char *key, unsigned width,
                     const struct profile_node *node)
{
    CPS_BUF name = {0};
    profile_name(out->profile, node, &name);
    put_word(out, key, width, tool_text(&name));
}

static void put_number(struct out *out, const char *key, int width, uint64_t value)
{
    if (!out->text)
        cps_json_uint(out->row, key, value);
    else if (width)
        cps_buf_printf(out->text, "%*" PRIu64 "%s", width < 0 ? -width : width, value,
                       width < 0 ? "" : " ");
}

/* What the text alone has: the share of all instructions, and a mean. */
static void put_percent(struct out *out, uint64_t part, const char *behind)
{
    uint64_t all = out->profile->instructions;
    if (out->text)
        cps_buf_printf(out->text, "%8.2f%s", all ? 100.0 * (double)part / (double)all : 0, behind);
}

static void put_mean(struct out *out, uint64_t sum, uint64_t count)
{
    if (out->text)
        cps_buf_printf(out->text, "%9.1f ", count ? (double)sum / (double)count : 0);
}

static void end_row(struct out *out)
{
    if (out->text)
        cps_buf_str(out->text, "\n");
    else
        cps_json_append(out->list, out->row);
}

static void begin_table(struct out *out, struct json_object *to, const char *key, const char *head)
{
    if (out->text)
        cps_buf_str(out->text, head);
    else
        out->list = cps_json_new_array(to, key);
}

/* ---- Tables ---- */

static void put_processor_row(struct out *out, const struct row *row)
{
    put_word(out, "processor", 28, cps_processor_name(row->what.who));
    put_number(out, "instructions", 12, row->total);
    put_percent(out, row->total, "");
}

static void put_spent(struct out *out, uint64_t count, uint64_t sum, uint64_t least, uint64_t most)
{
    put_number(out, "count", 6, count);
    put_number(out, "instructions", 12, sum);
    put_percent(out, sum, " ");
    put_mean(out, sum, count);
    put_number(out, "least", 9, least);
    put_number(out, "most", -9, most);
}

static void put_packet_row(struct out *out, const struct row *row)
{
    const struct profile_node *what = &row->what;
    bool boot = what->kind == PROFILE_BOOT;
    const char *level = boot ? "-" : cps_event_sub_word(CPS_EV_PKT, what->site);
    put_processor(out, what->who);
    if (out->text)
        put_word(out, "level", 4, level);
    put_name(out, "packet", 20, what);
    if (!out->text && !boot)
        put_word(out, "level", 4, level);
    put_spent(out, what->visits, what->own, what->least, what->most);
}

static void put_function_row(struct out *out, const struct row *row)
{
    const struct profile_node *what = &row->what;
    put_processor(out, what->who);
    put_name(out, "function", 24, what);
    put_number(out, "pc", 0, what->key);
    put_number(out, "calls", 7, what->visits);
    put_number(out, "self", 12, what->self);
    put_percent(out, what->self, " ");
    put_number(out, "total", -9, row->total);
}

static void put_sums(struct out *out, struct json_object *to)
{
    static const struct {
        enum profile_kind kind;
        const char *key, *head;
        void (*put)(struct out *out, const struct row *row);
        size_t most; /* lines of text; 0: all, also none */
    } tables[] = {
        {PROFILE_PROCESSOR, "processors",
         "\nprocessor                      instructions        %\n", put_processor_row, 0},
        {PROFILE_PACKET, "packets",
         "\npacket                              count instructions        %      mean     least"
         "      most\n",
         put_packet_row, 0},
        {PROFILE_CALL, "functions",
         "\nfunction                            calls         self        %     total\n",
         put_function_row, MOST_LINES},
    };
    for (unsigned i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        size_t count = 0;
        CPS_FREE struct row *rows = sum_up(&out->profile->tree, tables[i].kind, &count);
        size_t most = out->text && tables[i].most ? tables[i].most : count;
        if (count || !out->text || !tables[i].most)
            begin_table(out, to, tables[i].key, tables[i].head);
        for (size_t k = 0; k < count && k < most; k++) {
            begin_row(out);
            tables[i].put(out, &rows[k]);
            end_row(out);
        }
        if (count > most)
            cps_buf_printf(out->text, "  and %zu more\n", count - most);
    }
}

static void put_launches(struct out *out, struct json_object *to)
{
    const struct profile *p = out->profile;
    if (out->text && !p->launches.count)
        return;
    begin_table(out, to, "draws",
                "\nwork, since the one before          count instructions        %      mean"
                "     least      most\n");
    for (unsigned kind = CPS_LAUNCH_DRAW; kind < CPS_LAUNCH_KINDS; kind++) {
        const struct profile_range *range = &p->launch[kind];
        if (out->text && !range->count)
            continue;
        begin_row(out);
        put_word(out, "kind", 0, cps_launch_kind_text_(kind));
        put_processor(out, p->launches.who);
        if (out->text)
            put_word(out, "", 25, cps_launch_kind_text_(kind));
        put_spent(out, range->count, range->sum, range->least, range->most);
        end_row(out);
    }
}

static void put_waits(struct out *out, struct json_object *to)
{
    const struct profile *p = out->profile;
    if (p->waits || !out->text)
        begin_table(out, to, "waits",
                    "\nwaits in                             times instructions\n");
    for (size_t i = 0; i < p->waits; i++) {
        const struct profile_wait *wait = &p->wait[i];
        const struct profile_node packet = {
            .kind = PROFILE_PACKET, .who = wait->who, .key = wait->packet};
        begin_row(out);
        put_processor(out, wait->who);
        if (out->text)
            cps_buf_printf(out->text, "0x%04" PRIx32 " ", wait->pc);
        put_name(out, "packet", 24, &packet);
        put_number(out, "pc", 0, wait->pc);
        if (!out->text)
            cps_json_bool(out->row, "assumed", wait->assumed);
        if (!out->text && wait->assumed)
            cps_json_uint(out->row, "at", wait->at);
        put_number(out, "times", 6, wait->count);
        put_number(out, "instructions", -12, wait->spent);
        if (out->text && wait->assumed)
            cps_buf_printf(out->text, "  assumed: the value at 0x%" PRIx64, wait->at);
        end_row(out);
    }
}

void profile_table(const struct profile *p, struct cps_buf *text)
{
    struct out out = {.profile = p, .text = text};
    cps_buf_printf(text, "%" PRIu64 " instructions, %" PRIu64 " packets, ended: %s\n",
                   p->instructions, p->packets, cps_event_sub_word(CPS_EV_END, p->reason));
    put_sums(&out, NULL);
    put_launches(&out, NULL);
    put_waits(&out, NULL);
}

void profile_json(const struct profile *p, struct cps_buf *text)
{
    struct out out = {.profile = p};
    struct play_account account;
    struct json_object *to = json_object_new_object();
    cps_json_text(to, "format", "cpscope-profile 1");
    cps_json_text(to, "gen", cps_gen_name(p->play->gen));
    cps_json_text(to, "ended", cps_event_sub_word(CPS_EV_END, p->reason));
    cps_json_uint(to, "instructions", p->instructions);
    put_sums(&out, to);
    put_launches(&out, to);
    put_waits(&out, to);
    cps_err_free(tool_err(play_account_take(p->play, &account)));
    play_account_json(&account, cps_json_new_object(to, "run"));
    cps_json_put(text, to, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE);
    cps_buf_str(text, "\n");
    json_object_put(to);
}
