/* SPDX-License-Identifier: MIT
 * The profile for people: sorted tables with shares in percent. */
#include <inttypes.h>
#include <stdlib.h>

#include "isa/base/shown.h"
#include "tools/explain/profile/profile.h"

#define MOST_LINES 40 /* of functions: the rest is summed up */

static double percent(const struct profile *p, uint64_t part)
{
    return p->instructions ? 100.0 * (double)part / (double)p->instructions : 0;
}

/* A name out of a file, in a column. */
static void put_name(const struct profile *p, const struct profile_node *node, unsigned width,
                     struct cps_buf *out)
{
    CPS_BUF name = {0};
    size_t start = out->size;
    profile_name(p, node, &name);
    out->failed = out->failed || name.failed;
    cps_shown_put_(out, cps_buf_text(&name));
    cps_buf_pad(out, start, width);
}

static void put_processors(const struct profile *p, const struct profile_row *rows, long count,
                           struct cps_buf *out)
{
    cps_buf_str(out, "\nprocessor                      instructions        %\n");
    for (long i = 0; i < count; i++) {
        cps_buf_str(out, "  ");
        put_name(p, &rows[i].what, 28, out);
        cps_buf_printf(out, " %12" PRIu64 " %8.2f\n", rows[i].total, percent(p, rows[i].total));
    }
}

static void put_packets(const struct profile *p, const struct profile_row *rows, long count,
                        struct cps_buf *out)
{
    cps_buf_str(out, "\npacket                              count instructions        %      mean"
                     "     least      most\n");
    for (long i = 0; i < count; i++) {
        const struct profile_node *what = &rows[i].what;
        bool boot = what->kind == PROFILE_BOOT;
        cps_buf_printf(out, "  %-6s %-4s ", cps_processor_name(what->who),
                       boot ? "-" : cps_event_sub_word(CPS_EV_PKT, what->site));
        put_name(p, what, 20, out);
        cps_buf_printf(out, " %6" PRIu64 " %12" PRIu64 " %8.2f %9.1f %9" PRIu64 " %9" PRIu64 "\n",
                       what->visits, what->own, percent(p, what->own),
                       what->visits ? (double)what->own / (double)what->visits : 0, what->least,
                       what->most);
    }
}

static void put_functions(const struct profile *p, const struct profile_row *rows, long count,
                          struct cps_buf *out)
{
    if (!count)
        return;
    cps_buf_str(out,
                "\nfunction                            calls         self        %     total\n");
    for (long i = 0; i < count && i < MOST_LINES; i++) {
        const struct profile_node *what = &rows[i].what;
        cps_buf_printf(out, "  %-6s ", cps_processor_name(what->who));
        put_name(p, what, 24, out);
        cps_buf_printf(out, " %7" PRIu64 " %12" PRIu64 " %8.2f %9" PRIu64 "\n", what->visits,
                       what->self, percent(p, what->self), rows[i].total);
    }
    if (count > MOST_LINES)
        cps_buf_printf(out, "  and %ld more\n", count - MOST_LINES);
}

static void put_launch(const struct profile *p, enum cps_launch_kind kind, struct cps_buf *out)
{
    const struct profile_range *range = &p->launch[kind];
    if (range->count)
        cps_buf_printf(
            out, "  %-6s %-25s %6" PRIu64 " %12" PRIu64 " %8.2f %9.1f %9" PRIu64 " %9" PRIu64 "\n",
            cps_processor_name(p->launches.who), cps_launch_kind_text_(kind), range->count,
            range->sum, percent(p, range->sum), (double)range->sum / (double)range->count,
            range->least, range->most);
}

static void put_launches(const struct profile *p, struct cps_buf *out)
{
    if (!p->launches.count)
        return;
    cps_buf_str(out, "\nwork, since the one before          count instructions        %      mean"
                     "     least      most\n");
    for (unsigned kind = CPS_LAUNCH_DRAW; kind < CPS_LAUNCH_KINDS; kind++)
        put_launch(p, kind, out);
}

static void put_wait(const struct profile *p, const struct profile_wait *wait, struct cps_buf *out)
{
    CPS_BUF name = {0};
    profile_packet_name(p, wait->who, wait->packet, &name);
    out->failed = out->failed || name.failed;
    cps_buf_printf(out, "  %-6s 0x%04" PRIx32 " ", cps_processor_name(wait->who), wait->pc);
    size_t start = out->size;
    cps_shown_put_(out, cps_buf_text(&name));
    cps_buf_pad(out, start, 24);
    cps_buf_printf(out, " %6" PRIu64 " %12" PRIu64, wait->count, wait->spent);
    if (wait->assumed)
        cps_buf_printf(out, "  assumed: the value at 0x%" PRIx64, wait->at);
    cps_buf_str(out, "\n");
}

static void put_waits(const struct profile *p, struct cps_buf *out)
{
    if (!p->waits)
        return;
    cps_buf_str(out, "\nwaits in                             times instructions\n");
    for (size_t i = 0; i < p->waits; i++)
        put_wait(p, &p->wait[i], out);
}

struct cps_err *profile_table(const struct profile *p, struct cps_buf *out)
{
    static const struct {
        enum profile_kind kind;
        void (*put)(const struct profile *p, const struct profile_row *rows, long count,
                    struct cps_buf *out);
    } parts[] = {{PROFILE_PROCESSOR, put_processors},
                 {PROFILE_PACKET, put_packets},
                 {PROFILE_CALL, put_functions}};
    cps_buf_printf(out, "%" PRIu64 " instructions, %" PRIu64 " packets, ended: %s\n",
                   p->instructions, p->packets, cps_event_sub_word(CPS_EV_END, p->reason));
    for (unsigned i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        struct profile_row *rows = NULL;
        long count = profile_rows(p, parts[i].kind, &rows);
        if (count >= 0)
            parts[i].put(p, rows, count, out);
        free(rows);
        if (count < 0)
            return cps_err_nomem();
    }
    put_launches(p, out);
    put_waits(p, out);
    return out->failed ? cps_err_nomem() : NULL;
}
