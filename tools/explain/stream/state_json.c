/* SPDX-License-Identifier: MIT
 * Draws and the state at one of them, as JSON: for `cpscope state --json` and for editors. */
#include "tools/explain/stream/state_json.h"

#include "trace/event/event_words.h"
#include "trace/form/buffer_json.h"
#include "trace/out/json.h"

/* The fields of a row, on their way into it. */
struct fields {
    struct json_object *row, *fields;
    const struct state_result *result;
};

static void add_value(void *context, const struct cps_value *value)
{
    struct fields *f = context;
    uint64_t address = 0;
    cps_json_value(f->fields, value);
    if (cps_value_address(value, &address))
        cps_buffers_json_(f->row, "buffer", f->result->buffers, f->result->state.launch.submission,
                          address);
}

static void add_hex(struct json_object *to, const char *key, uint64_t value, unsigned digits)
{
    CPS_BUF text = {0};
    cps_buf_hex(&text, value, digits);
    cps_json_buf(to, key, &text);
}

struct rows {
    struct json_object *array;
    const struct cps_names *names;
    const struct state_result *result;
    uint32_t counts[STATE_GONE + 1];
};

static void add_writer(struct json_object *to, const struct state_register *writer)
{
    struct json_object *by = cps_json_new_object(to, "writer");
    add_hex(by, "packet", writer->packet, 1);
    add_hex(by, "header", writer->header, 8);
    cps_json_text(by, "level", cps_event_sub_word(CPS_EV_PKT, writer->level));
    cps_json_uint(by, "pc", writer->pc);
}

static void add_fields(const struct rows *rows, const struct state_row *row, struct json_object *to)
{
    struct fields f = {to, cps_json_new_object(to, "fields"), rows->result};
    if (row->is_wide)
        cps_name_values64(rows->names, CPS_SPACE_GPU, row->number, row->value, add_value, &f);
    else
        cps_name_values(rows->names, CPS_SPACE_GPU, row->number, (uint32_t)row->value, add_value,
                        &f);
}

static void add_row(void *context, const struct state_row *row)
{
    struct rows *rows = context;
    struct json_object *to = json_object_new_object();
    rows->counts[row->mark]++;
    cps_json_uint(to, "offset", row->number);
    cps_json_text(to, "name", row->name);
    if (row->half)
        cps_json_uint(to, "half", row->half);
    cps_json_uint(to, "bits", row->is_wide ? 64 : 32);
    cps_json_text(to, "mark", state_mark_word(row->mark));
    if (row->mark != STATE_NEW)
        add_hex(to, "before", row->old, 1);
    if (row->mark != STATE_GONE) {
        add_hex(to, "value", row->value, 1);
        add_fields(rows, row, to);
        add_writer(to, row->writer);
    }
    cps_json_append(rows->array, to);
}

static struct json_object *launch_object(const struct cps_launch *launch, unsigned who,
                                         const struct cps_names *names)
{
    CPS_BUF text = {0};
    struct json_object *to = json_object_new_object();
    cps_json_uint(to, "draw", launch->number);
    cps_json_text(to, "kind", cps_launch_kind_text_(launch->kind));
    cps_json_text(to, "processor", cps_processor_name(who));
    cps_json_text(to, "packet", launch->name);
    cps_launch_put_(launch, names, &text);
    cps_json_buf(to, "text", &text);
    cps_json_uint(to, "submission", launch->submission);
    cps_json_text(to, "level", cps_event_sub_word(CPS_EV_PKT, cps_event_sub(&launch->packet)));
    add_hex(to, "iova", launch->packet.addr, 1);
    return to;
}

/* In the order of `draws`. */
static void add_runs(const struct state_result *result, unsigned sides, struct json_object *to)
{
    struct json_object *runs = cps_json_new_array(to, "runs");
    for (unsigned i = 0; i < sides; i++)
        play_account_json_row(&result[i].account, NULL, runs);
}

void state_json(const struct state_pair *pair, const struct state_result *result, unsigned sides,
                struct json_object *to, uint32_t counts[STATE_GONE + 1])
{
    struct json_object *draws = cps_json_new_array(to, "draws");
    for (unsigned i = 0; i < sides; i++)
        cps_json_append(draws,
                        launch_object(&result[i].state.launch, result[i].who, result[i].names));
    add_runs(result, sides, to);
    struct rows rows = {.array = cps_json_new_array(to, "registers"),
                        .names = pair->names,
                        .result = &result[sides - 1]};
    state_rows(pair, add_row, &rows);
    for (unsigned i = 0; i <= STATE_GONE; i++)
        counts[i] = rows.counts[i];
}

void state_list_json(const struct state_result *result, struct json_object *to)
{
    struct json_object *draws = cps_json_new_array(to, "draws");
    for (uint32_t i = 0; i < result->count; i++)
        cps_json_append(draws, launch_object(&result->list[i], result->who, result->names));
    add_runs(result, 1, to);
}
