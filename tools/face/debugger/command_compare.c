/* SPDX-License-Identifier: MIT
 * `compare`: the run without what was changed, beside the one with it. Both begin where the first
 * change was made, so that all that differs comes from changes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emu/debug/debug.h"
#include "tools/face/debugger/command.h"
#include "tools/run/record.h"
#include "tools/explain/diff/diffreport.h"

enum { SHOWN = 10 };            /* differences of each sort */
enum { MOST_PLACES = 0x40000 }; /* of a kind that are looked at */

/* One of both runs. */
struct side {
    struct cps_debug *debug;
    struct record record;
    struct cps_sink sink;
    struct cps_debug_stop stop;
};

struct comparison {
    const struct session *session;
    struct cps_buf *out;
    struct diff_report report;
    uint64_t count;
};

static void record_events(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    struct side *side = (struct side *)((char *)sink - offsetof(struct side, sink));
    record_keep(&side->record, events, count);
}

/* Runs past the feeding of submission @p last, or as far as it goes. */
static struct cps_err *run_side(struct session *s, bool changed, uint32_t last, struct side *side)
{
    CPS_TRY(cps_debug_twin(s->debug, changed, &side->debug));
    side->sink.put = record_events;
    cps_debug_listen(side->debug, &side->sink);
    do {
        side->stop = cps_debug_run(side->debug, CPS_GO_SUBMIT, s->core);
    } while (side->stop.reason == CPS_WHY_GONE &&
             cps_debug_location(side->debug).submission <= last && !side->record.lost);
    cps_debug_listen(side->debug, NULL);
    return side->record.lost || side->stop.reason == CPS_WHY_NOMEM ? cps_err_nomem() : NULL;
}

static void put_difference(void *context, const struct cps_difference *d)
{
    struct comparison *c = context;
    const struct cps_event *packet = d->pkt_a ? d->pkt_a : d->pkt_b;
    if (c->count++ >= SHOWN)
        return;
    cps_buf_str(c->out, "  ");
    if (d->submission != ~UINT32_C(0))
        cps_buf_printf(c->out, "submission %" PRIu32 ", ", d->submission);
    if (packet) {
        int id = cps_diff_packet_id(packet);
        cps_buf_printf(c->out, "%s 0x%" PRIx64 " ",
                       cps_event_sub_word(CPS_EV_PKT, cps_event_sub(packet)), packet->addr);
        diff_packet_name(&c->report, id < 0 ? 128 : (unsigned)id, c->out);
        cps_buf_str(c->out, ": ");
    } else if (session_afuc(c->session)) {
        cps_buf_str(c->out, "outside of packets: ");
    }
    diff_print_change(&c->report, d, c->out);
}

static void put_stop(const struct session *s, const char *who, const struct side *side,
                     struct cps_buf *out)
{
    static const char *const reasons[] = {
        [CPS_WHY_GONE] = "reaches the end of the submission",
        [CPS_WHY_END] = "reaches the end",
        [CPS_WHY_DEADLOCK] = "deadlocks",
        [CPS_WHY_FAULT] = "faults",
        [CPS_WHY_BAD_PACKET] = "rejects a packet",
        [CPS_WHY_INTERRUPTED] = "was interrupted",
        [CPS_WHY_REFUSED] = "rejects its input",
    };
    struct cps_engine *engine = cps_debug_engine(side->debug);
    const char *reason = side->stop.reason < sizeof(reasons) / sizeof(reasons[0])
                             ? reasons[side->stop.reason]
                             : NULL;
    cps_buf_printf(out, "%s: %zu events, %s", who, side->record.count, reason ? reason : "stops");
    if (side->stop.reason != CPS_WHY_GONE && side->stop.reason != CPS_WHY_END) {
        cps_buf_printf(out, " at %s ", session_core_name(s, s->core));
        look_pc(s, s->core, cps_engine_where(engine, s->core).pc, out);
    }
    cps_buf_str(out, "\n");
}

static void put_name(const struct session *s, char sigil, uint32_t number, struct cps_buf *out)
{
    const struct cps_engine_ops *ops = session_engine(s)->ops;
    enum cps_space space = look_space(sigil);
    unsigned part = 0;
    const char *name = NULL;
    if (space != CPS_SPACE_COUNT)
        name = cps_name(session_names(s, s->core), space, number, &part);
    if (sigil == CPS_FILE_SCALAR && number < ops->regs)
        name = ops->reg[number].name;
    if (sigil == CPS_FILE_GENERAL)
        cps_buf_printf(out, "  $%02" PRIx32, number);
    else if (name)
        cps_buf_printf(out, part ? "  %s+0x%x" : "  %s", name, part);
    else
        cps_buf_printf(out, "  0x%04" PRIx32, number);
}

/* Registers of a file that are others at the end: of the core at hand, and the GPU's. Of a bus, the
 * writes show what differs. */
static void put_state(const struct session *s, char sigil, const char *title,
                      const struct side sides[2], struct cps_buf *out)
{
    const struct cps_file *file = cps_engine_file(session_engine(s), sigil);
    unsigned count = 0;
    for (uint32_t i = 0; file && file->count <= MOST_PLACES && i < file->count; i++) {
        const struct cps_location place = {(uint8_t)s->core, sigil, i};
        uint64_t value[2] = {0};
        for (unsigned k = 0; k < 2; k++)
            cps_engine_get(cps_debug_engine(sides[k].debug), place, &value[k]);
        if (value[0] == value[1] || count++ >= SHOWN)
            continue;
        if (count == 1)
            cps_buf_printf(out, "at the end, %s:\n", title);
        put_name(s, sigil, i, out);
        cps_buf_printf(out, " 0x%" PRIx64 " -> 0x%" PRIx64 "\n", value[0], value[1]);
    }
    if (count > SHOWN)
        cps_buf_printf(out, "  and %u more\n", count - SHOWN);
}

static struct cps_err *put_comparison(struct debugger *r, const struct side sides[2])
{
    const struct session *s = &r->session;
    const struct cps_diff_options options = {.kinds = RECORD_COMPARED};
    struct cps_diff diff = {0};
    CPS_BUF rows = {0};
    struct comparison c = {.session = s, .out = &rows};
    c.report.a = (struct diff_side){
        .label = "unchanged", .fw = s->play.fw, .me = s->play.me, .names = s->play.names};
    c.report.b = c.report.a;
    c.report.b.label = "changed";
    CPS_TRY(cps_diff_events(sides[0].record.event, sides[0].record.count, sides[1].record.event,
                            sides[1].record.count, &options, put_difference, &c, &diff));
    cps_diff_deinit(&diff);
    put_stop(s, "unchanged", &sides[0], &r->out);
    put_stop(s, "changed", &sides[1], &r->out);
    if (c.count)
        cps_buf_printf(&r->out, "%" PRIu64 " difference%s, unchanged -> changed:\n", c.count,
                       c.count == 1 ? "" : "s");
    else
        cps_buf_str(&r->out, "no write differs\n");
    cps_buf_join(&r->out, &rows);
    if (c.count > SHOWN)
        cps_buf_printf(&r->out, "  and %" PRIu64 " more\n", c.count - SHOWN);
    put_state(s, CPS_FILE_GENERAL, "general registers", sides, &r->out);
    put_state(s, CPS_FILE_SCALAR, "values", sides, &r->out);
    put_state(s, CPS_FILE_CONTROL, "control registers", sides, &r->out);
    put_state(s, CPS_FILE_REGISTER, "GPU registers", sides, &r->out);
    return NULL;
}

struct cps_err *command_compare_(struct debugger *r, struct command_args *args)
{
    struct session *s = &r->session;
    struct side sides[2] = {{0}};
    uint64_t last = cps_debug_location(s->debug).submission + args->count - 1;
    struct cps_err *err = NULL;
    for (unsigned i = 0; i < 2 && !err; i++)
        err = run_side(s, i == 1, last < UINT32_MAX ? (uint32_t)last : UINT32_MAX, &sides[i]);
    if (!err)
        err = put_comparison(r, sides);
    for (unsigned i = 0; i < 2; i++) {
        cps_debug_destroy(sides[i].debug);
        record_deinit(&sides[i].record);
    }
    return err;
}
