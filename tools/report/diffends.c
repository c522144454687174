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

static void put_packet(const struct diff_side *side, unsigned who, unsigned id, struct cps_buf *out)
{
    const char *name = cps_name(side->names[who], CPS_SPACE_PACKET, id, NULL);
    if (name)
        cps_buf_str(out, name);
    else
        cps_buf_printf(out, "packet 0x%02x", id);
}

/* No handler stands where the image's header is. */
static bool has_handler(const uint32_t *table, unsigned id)
{
    return table[id] && table[id] != CPS_FW_NONE && table[id] != cps_fw_default_handler_(table);
}

/* Packets of one table that have no handler of their own in the other. */
static void put_lost(const struct diff_side *has, const uint32_t *table, const uint32_t *other,
                     const char *what, struct cps_buf *out)
{
    unsigned count = 0;
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++) {
        if (!has_handler(table, id) || has_handler(other, id))
            continue;
        cps_buf_str(out, count++ ? ", " : what);
        put_packet(has, CPS_CPU_SQE, id, out);
    }
    cps_buf_str(out, count ? "\n" : "");
}

/* Packets that one revision has a handler each for, and the other one for both. */
static void put_merged(const struct diff_side *apart, const uint32_t *table, const uint32_t *other,
                       const char *what, struct cps_buf *out)
{
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++) {
        for (unsigned k = id + 1; k < CPS_FW_TABLE_SIZE && has_handler(other, id); k++) {
            if (other[id] != other[k] || table[id] == table[k] || !has_handler(table, id) ||
                !has_handler(table, k))
                continue;
            cps_buf_str(out, what);
            put_packet(apart, CPS_CPU_SQE, id, out);
            cps_buf_str(out, " and ");
            put_packet(apart, CPS_CPU_SQE, k, out);
            cps_buf_str(out, "\n");
            break;
        }
    }
}

void diff_print_handlers(const struct diff_report *r, struct cps_buf *out)
{
    uint32_t a[CPS_FW_TABLE_SIZE], b[CPS_FW_TABLE_SIZE];
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++) {
        a[id] = cps_fw_handler(r->a.fw, &r->a.fw->part[0], id);
        b[id] = cps_fw_handler(r->b.fw, &r->b.fw->part[0], id);
    }
    put_lost(&r->a, a, b, "handlers taken out: ", out);
    put_lost(&r->b, b, a, "handlers put in: ", out);
    put_merged(&r->a, a, b, "one handler now for ", out);
    put_merged(&r->b, b, a, "handlers of their own now for ", out);
}
