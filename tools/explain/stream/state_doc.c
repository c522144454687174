/* SPDX-License-Identifier: MIT
 * Draws and the state at one of them as a tree: for `cpscope state`, the debugger and editors. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/cmd/render/doc.h"
#include "tools/explain/stream/state.h"
#include "trace/event/event_words.h"
#include "trace/form/buffer_json.h"
#include "trace/out/json.h"

/* Two states of STATE_REGISTERS each, register by register. */
struct pair {
    const struct state_result *result;
    const struct state_register *now, *before;
    uint64_t since; /* events of `now` with a greater number came after `before`; of two runs
                       UINT64_MAX: nothing is written again */
    bool only_changed;
    struct json_object *rows, *blocks;
    uint32_t counts[STATE_GONE + 1];
};

/* The fields of a row, for programs and for people. */
struct fields {
    struct json_object *row, *fields;
    const struct state_result *result;
    struct cps_buf text;
};

static void ignore_value(void *context, const struct cps_value *value)
{
    (void)context;
    (void)value;
}

/* The number itself is before them, so that of an address only its buffer is left to show. */
static void put_value(void *context, const struct cps_value *value)
{
    struct fields *f = context;
    const struct cps_buffers *buffers = f->result->buffers;
    uint32_t submission = f->result->state.launch.submission;
    uint64_t address = 0;
    CPS_BUF line = {0};
    bool is_whole = value->name && !value->name[0];
    cps_json_value(f->fields, value);
    if (cps_value_address(value, &address))
        cps_buffers_json_(f->row, "buffer", buffers, submission, address);
    bool is_shown = is_whole ? value->kind && !value->is_address : cps_value_line(value, &line);
    if (is_whole && is_shown)
        cps_value_put(value, &line);
    if (is_shown) {
        cps_buf_str(&f->text, " ");
        cps_buf_join(&f->text, &line);
    }
    cps_buffers_put_value(buffers, submission, value, &f->text);
}

/* The list of the rows that begin with the same word, up to the first '_', or "?". */
static struct json_object *find_block(const struct pair *pair, const char *name)
{
    char block[16] = "?";
    size_t size = name ? strcspn(name, "_") : 0;
    if (size && size < sizeof(block))
        snprintf(block, sizeof(block), "%.*s", (int)size, name);
    struct json_object *ret = cps_json_get(pair->blocks, block);
    return ret ? ret : cps_json_new_array(pair->blocks, block);
}

/* A value, and the number of the last event that wrote it; 0: none did. */
static uint64_t read_value(const struct state_register *reg, bool is_wide, uint64_t *event)
{
    *event = is_wide && reg[1].event > reg->event ? reg[1].event : reg->event;
    return reg->value | (is_wide ? (uint64_t)reg[1].value << 32 : 0);
}

/* @param is_wide  64 bits: also the register after it */
static void put_row(struct pair *pair, uint32_t number, bool is_wide)
{
    static const char *const words[] = {"kept", "again", "changed", "new", "gone"};
    static const char *const marks[] = {" ", "=", "*", "+", "-"};
    const struct state_register *writer = &pair->now[number];
    const struct cps_names *names = pair->result->names;
    uint64_t now = 0, before = 0;
    uint64_t value = read_value(writer, is_wide, &now);
    uint64_t old = read_value(&pair->before[number], is_wide, &before);
    enum state_mark mark = !now                ? STATE_GONE
                           : !before           ? STATE_NEW
                           : value != old      ? STATE_CHANGED
                           : now > pair->since ? STATE_AGAIN
                                               : STATE_KEPT;
    unsigned half = 0; /* 1: upper half of a pair whose lower half has no value */
    const char *name = cps_name(names, CPS_SPACE_GPU, number, &half);
    struct json_object *to = doc_row(pair->rows, "offset=%u name=%s", number, name);
    struct json_object *block = find_block(pair, name);
    pair->counts[mark]++;
    if (half)
        cps_json_uint(to, "half", half);
    doc_put(to, "bits=%u .mark=%s mark=%s", is_wide ? 64 : 32, marks[mark], words[mark]);
    doc_put(to, is_wide ? ".value=%016" PRIx64 : ".value=%08" PRIx64,
            mark == STATE_GONE ? old : value);
    if (mark == STATE_CHANGED)
        doc_put(to, is_wide ? ".was=%016" PRIx64 : ".was=%08" PRIx64, old);
    if (mark != STATE_NEW)
        doc_put(to, "before=%" PRIx64, old);
    if (mark != STATE_GONE) {
        doc_put(to, "value=%" PRIx64, value);
        struct fields f = {to, cps_json_new_object(to, "fields"), pair->result, {0}};
        if (is_wide)
            cps_name_values64(names, CPS_SPACE_GPU, number, value, put_value, &f);
        else
            cps_name_values(names, CPS_SPACE_GPU, number, (uint32_t)value, put_value, &f);
        doc_put(to, ".fields=%p", &f.text);
        cps_buf_deinit(&f.text);
        doc_put(cps_json_new_object(to, "writer"), "packet=%" PRIx64 " header=%08x level=%s pc=%u",
                writer->packet, writer->header, cps_event_sub_word(CPS_EV_PKT, writer->level),
                writer->pc);
    }
    if (!pair->only_changed || (mark != STATE_KEPT && mark != STATE_AGAIN))
        cps_json_append(block, json_object_get(to));
}

static void put_rows(struct pair *pair)
{
    for (uint32_t i = 0; i < STATE_REGISTERS; i++) {
        const struct state_register *now = &pair->now[i], *before = &pair->before[i];
        if (!now->event && !before->event)
            continue;
        bool is_wide =
            i + 1 < STATE_REGISTERS &&
            ((now->event && now[1].event) || (before->event && before[1].event)) &&
            cps_name_values64(pair->result->names, CPS_SPACE_GPU, i, 0, ignore_value, NULL);
        put_row(pair, i, is_wide);
        i += is_wide;
    }
}

static struct json_object *put_launch(const struct state_result *result,
                                      const struct cps_launch *launch, struct json_object *list)
{
    CPS_BUF text = {0};
    cps_launch_put_(launch, result->names, &text);
    return doc_row(list,
                   "draw=%u kind=%s processor=%s packet=%s text=%p submission=%u level=%s "
                   "iova=%" PRIx64,
                   launch->number, cps_launch_kind_text_(launch->kind),
                   cps_processor_name(result->who), launch->name, &text, launch->submission,
                   cps_event_sub_word(CPS_EV_PKT, cps_event_sub(&launch->packet)),
                   launch->packet.addr);
}

bool state_put(const struct state_result *result, unsigned sides, bool only_changed,
               struct json_object *to)
{
    const struct state_result *last = &result[sides - 1];
    struct json_object *draws = cps_json_new_array(to, "draws");
    for (unsigned i = 0; i < sides && result[i].state.launch.kind; i++)
        doc_put(put_launch(&result[i], &result[i].state.launch, draws), ".label?=%s",
                sides == 1 ? ""
                : i        ? "new: "
                           : "old: ");
    struct json_object *runs = cps_json_new_array(to, "runs");
    for (unsigned i = 0; i < sides; i++)
        play_account_json_row(&result[i].account, NULL, runs);
    struct pair pair = {
        .result = last,
        .now = last->state.now,
        .before = sides == 2 ? result->state.now : last->state.before,
        .since = sides == 2 ? UINT64_MAX : last->state.since,
        .only_changed = only_changed,
        .rows = cps_json_new_array(to, "registers"),
        .blocks = cps_json_new_object(to, ".blocks"),
    };
    put_rows(&pair);
    const uint32_t *counts = pair.counts;
    doc_put(to, ".values=%u .changed=%u .new=%u .again=%u .kept=%u",
            counts[STATE_KEPT] + counts[STATE_AGAIN] + counts[STATE_CHANGED] + counts[STATE_NEW],
            counts[STATE_CHANGED], counts[STATE_NEW], counts[STATE_AGAIN], counts[STATE_KEPT]);
    if (sides == 2)
        doc_put(to, ".gone=%u", counts[STATE_GONE]);
    return counts[STATE_CHANGED] || counts[STATE_NEW] || counts[STATE_GONE];
}

void state_list_put(const struct state_result *result, struct json_object *to)
{
    struct json_object *draws = cps_json_new_array(to, "draws");
    for (uint32_t i = 0; i < result->count; i++) {
        const struct cps_launch *launch = &result->list[i];
        CPS_BUF again = {0};
        bool is_first = true;
        for (uint32_t k = 0; k < result->count; k++) {
            const struct cps_launch *other = &result->list[k];
            if (k == i || other->submission != launch->submission || other->kind != launch->kind ||
                other->packet.addr != launch->packet.addr)
                continue;
            is_first = is_first && k > i;
            if (is_first)
                cps_buf_printf(&again, " %" PRIu32, other->number);
        }
        doc_put(put_launch(result, launch, draws), ".first?=%d .again=%p", is_first, &again);
    }
    play_account_json_row(&result->account, NULL, cps_json_new_array(to, "runs"));
}
