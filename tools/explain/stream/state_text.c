/* SPDX-License-Identifier: MIT
 * The state at a draw as text for people. */
#include "tools/explain/stream/state_text.h"

#include <inttypes.h>
#include <string.h>

#include "trace/event/event_words.h"

/* Rows on their way into a text. */
struct text {
    struct cps_buf *out;
    const struct state_result *result;
    const struct cps_names *names;
    char block[16];
    uint32_t *counts;
    bool only_changed;
};

static void put_packet(const struct state_register *writer, struct cps_buf *out)
{
    cps_buf_printf(out, "  %s 0x%" PRIx64 " pc=", cps_event_sub_word(CPS_EV_PKT, writer->level),
                   writer->packet);
    cps_buf_hex(out, writer->pc, 4);
}

/* The number itself stands in front, so that of an address only its buffer is left to say. */
static void put_value(void *context, const struct cps_value *value)
{
    struct text *t = context;
    struct cps_buf *out = t->out;
    size_t before = out->size;
    cps_buf_str(out, " ");
    if ((value->name && !value->name[0]) || !cps_value_line(value, out)) {
        out->size = before;
        if (value->name && !value->name[0] && value->kind && !value->is_address)
            cps_buf_str(out, " "), cps_value_put(value, out);
    }
    cps_buffers_put_value(t->result->buffers, t->result->state.launch.submission, value, out);
}

static void put_number(const struct state_row *row, uint64_t value, struct cps_buf *out)
{
    cps_buf_hex(out, value, row->is_wide ? 16 : 8);
}

static void put_fields(struct text *t, const struct state_row *row)
{
    if (row->is_wide)
        cps_name_values64(t->names, CPS_SPACE_GPU, row->number, row->value, put_value, t);
    else
        cps_name_values(t->names, CPS_SPACE_GPU, row->number, (uint32_t)row->value, put_value, t);
}

static void put_row(void *context, const struct state_row *row)
{
    struct text *t = context;
    char block[16];
    t->counts[row->mark]++;
    if (t->only_changed && (row->mark == STATE_KEPT || row->mark == STATE_AGAIN))
        return;
    state_block(row, block);
    if (strcmp(block, t->block) != 0)
        cps_buf_printf(t->out, "%s\n", block);
    memcpy(t->block, block, sizeof(block));
    cps_buf_printf(t->out, "%c 0x%04" PRIx32 " %s%s ", state_mark_text(row->mark), row->number,
                   row->name ? row->name : "-", row->half ? "+0x1" : "");
    put_number(row, row->mark == STATE_GONE ? row->old : row->value, t->out);
    if (row->mark != STATE_GONE)
        put_fields(t, row);
    if (row->mark == STATE_CHANGED) {
        cps_buf_str(t->out, "  was ");
        put_number(row, row->old, t->out);
    }
    if (row->writer)
        put_packet(row->writer, t->out);
    cps_buf_str(t->out, "\n");
}

void state_text_launch(const struct state_result *result, struct cps_buf *out)
{
    const struct cps_launch *launch = &result->state.launch;
    cps_buf_printf(out, "%s %" PRIu32 " of %s: ", cps_launch_kind_text_(launch->kind),
                   launch->number, cps_processor_name(result->who));
    cps_launch_put_(launch, result->names, out);
    cps_buf_printf(out, ", submission %" PRIu32 ", %s 0x%" PRIx64, launch->submission,
                   cps_event_sub_word(CPS_EV_PKT, cps_event_sub(&launch->packet)),
                   launch->packet.addr);
}

void state_text_counts(const uint32_t counts[STATE_GONE + 1], struct cps_buf *out)
{
    uint32_t values =
        counts[STATE_KEPT] + counts[STATE_AGAIN] + counts[STATE_CHANGED] + counts[STATE_NEW];
    cps_buf_printf(
        out,
        "%" PRIu32 " registers have a value: %" PRIu32 " changed (*), %" PRIu32 " new (+), %" PRIu32
        " written again with the same value (=), %" PRIu32 " as they were",
        values, counts[STATE_CHANGED], counts[STATE_NEW], counts[STATE_AGAIN], counts[STATE_KEPT]);
}

void state_text(const struct state_pair *pair, const struct state_result *result, bool only_changed,
                struct cps_buf *out, uint32_t counts[STATE_GONE + 1])
{
    struct text t = {.out = out, .result = result, .names = pair->names};
    t.counts = counts;
    t.only_changed = only_changed;
    state_rows_by_block(pair, put_row, &t);
}
