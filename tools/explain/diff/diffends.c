/* SPDX-License-Identifier: MIT
 * What differs between two revisions as wholes: how their runs end, and which packets they have
 * handlers for. */
#include <inttypes.h>
#include <string.h>

#include "fw/image/icache.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/explain/diff/diffreport.h"

static void put_end(const struct diff_side *side, struct cps_buf *out)
{
    const struct record *record = side->record;
    const struct play_account *account = &record->account;
    const char *word = cps_event_sub_word(CPS_EV_END, cps_stop_reason(account->stop));
    cps_buf_printf(out, "  %-8s ", side->label);
    if (account->endless)
        cps_buf_str(out, "has no event END\n");
    else if (account->stop == CPS_STOP_IDLE)
        cps_buf_str(out, "runs to the end\n");
    else
        cps_buf_printf(out, "stops %s\n", account->why[0] ? account->why : word);
}

void diff_print_ends(const struct diff_report *r, struct cps_buf *out)
{
    if (!r->a.record || !r->b.record || r->a.record->account.stop == r->b.record->account.stop)
        return;
    cps_buf_str(out, "they end differently:\n");
    put_end(&r->a, out);
    put_end(&r->b, out);
}

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

uint64_t diff_compared(const struct diff_report *r)
{
    return diff_count_compared(r->a.record, r->kinds, r->mask) +
           diff_count_compared(r->b.record, r->kinds, r->mask);
}

static bool stops(const struct diff_side *side)
{
    return side->record->account.stop != CPS_STOP_IDLE;
}

/* A golden that says how its run ends expects that end: it was compared. */
static bool is_expected(const struct diff_report *r)
{
    return r->golden && !r->a.record->account.endless && r->kinds >> CPS_EV_END & 1 && stops(&r->b);
}

static void put_early_side(const struct diff_side *side, const struct cps_buf *text,
                           struct cps_buf *out)
{
    if (text->size)
        cps_buf_printf(out, "%s%s%s: %s", out->size ? "; " : "", side->label,
                       stops(side) ? " stops" : "", cps_buf_text(text));
}

static void put_early(const struct diff_report *r, struct cps_buf *out)
{
    CPS_BUF a = {0};
    CPS_BUF b = {0};
    play_account_put(&r->a.record->account, &a);
    play_account_put(&r->b.record->account, &b);
    if (a.size && !strcmp(tool_text(&a), tool_text(&b))) {
        cps_buf_printf(out, stops(&r->a) ? "both stop %s" : "%s", cps_buf_text(&a));
    } else {
        put_early_side(&r->a, &a, out);
        put_early_side(&r->b, &b, out);
    }
}

int diff_status(const struct diff_report *r, struct cps_buf *why)
{
    bool early =
        play_account_status(&r->a.record->account) || play_account_status(&r->b.record->account);
    if (r->diff->differences)
        return 1;
    if (early && !is_expected(r))
        put_early(r, why);
    else if (!diff_compared(r))
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

/* One revision's packet table. */
struct table {
    const struct diff_side *side;
    uint32_t handler[CPS_FW_TABLE_SIZE];
    bool own[CPS_FW_TABLE_SIZE];
};

static void read_table(const struct diff_side *side, struct table *ret)
{
    ret->side = side;
    cps_fw_table_of_(side->fw, &side->fw->part[0], ret->handler);
    cps_fw_own_handlers_(ret->handler, ret->own);
}

static void put_packet(const struct table *table, unsigned id, struct cps_buf *out)
{
    const struct cps_names *names = diff_any_names(table->side);
    const char *name = names ? cps_name(names, CPS_SPACE_PACKET, id, NULL) : NULL;
    if (name)
        cps_buf_str(out, name);
    else
        cps_buf_printf(out, "packet 0x%02x", id);
}

/* Packets of one table that have no handler of their own in the other. */
static void put_lost(const struct table *has, const struct table *other, const char *what,
                     struct cps_buf *out)
{
    unsigned count = 0;
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++) {
        if (!has->own[id] || other->own[id])
            continue;
        cps_buf_str(out, count++ ? ", " : what);
        put_packet(has, id, out);
    }
    cps_buf_str(out, count ? "\n" : "");
}

/* Packets that one revision has a handler each for, and the other one for both. */
static void put_merged(const struct table *apart, const struct table *other, const char *what,
                       struct cps_buf *out)
{
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++) {
        for (unsigned k = id + 1; k < CPS_FW_TABLE_SIZE && other->own[id]; k++) {
            if (other->handler[id] != other->handler[k] ||
                apart->handler[id] == apart->handler[k] || !apart->own[id] || !apart->own[k])
                continue;
            cps_buf_str(out, what);
            put_packet(apart, id, out);
            cps_buf_str(out, " and ");
            put_packet(apart, k, out);
            cps_buf_str(out, "\n");
            break;
        }
    }
}

void diff_print_handlers(const struct diff_report *r, struct cps_buf *out)
{
    struct table a, b;
    read_table(&r->a, &a);
    read_table(&r->b, &b);
    put_lost(&a, &b, "handlers taken out: ", out);
    put_lost(&b, &a, "handlers put in: ", out);
    put_merged(&a, &b, "one handler now for ", out);
    put_merged(&b, &a, "handlers of their own now for ", out);
}
