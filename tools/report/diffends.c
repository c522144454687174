/* SPDX-License-Identifier: MIT
 * What differs between two revisions as wholes: how their runs end, and which packets they have
 * handlers for. */
#include <inttypes.h>

#include "fw/image/icache.h"
#include "tools/report/diffreport.h"

static void put_end(const struct diff_side *side, struct cps_buf *out)
{
    const struct record *record = side->record;
    cps_buf_printf(out, "  %-8s ", side->label);
    if (record->stop == CPS_STOP_IDLE)
        cps_buf_str(out, "runs to the end\n");
    else
        cps_buf_printf(out, "stops %s\n", record->why);
}

void diff_print_ends(const struct diff_report *r, struct cps_buf *out)
{
    if (!r->a.record || !r->b.record || r->a.record->stop == r->b.record->stop)
        return;
    cps_buf_str(out, "they end otherwise:\n");
    put_end(&r->a, out);
    put_end(&r->b, out);
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
    cps_fw_table_(side->fw, ret->handler);
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
