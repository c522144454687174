/* SPDX-License-Identifier: MIT
 * Packets as JSON Lines: keys as in the JSON form of a trace. */
#include <inttypes.h>

#include "isa/base/pm4.h"
#include "tools/cmd/render/doc.h"
#include "tools/explain/decode/decode.h"
#include "trace/form/buffer_json.h"
#include "trace/form/text.h"
#include "trace/out/json.h"

struct words {
    const struct decode_text *text;
    struct json_object *array, *word, *fields;
};

static void begin_word(void *context, const struct cps_event *word)
{
    struct words *w = context;
    w->word = doc_row(w->array, "value=%u", word->value);
    w->fields = cps_json_new_object(w->word, "fields");
}

static void put_value(void *context, const struct cps_value *value)
{
    struct words *w = context;
    uint64_t address = 0;
    cps_json_value(w->fields, value);
    if (w->word && cps_value_address(value, &address))
        cps_buffers_json_(w->word, "buffer", *w->text->buffers, CPS_BUFFERS_END, address);
}

static void end_word(void *context, const struct cps_event *word)
{
    (void)context;
    (void)word;
}

static void add_effect(const struct cps_names *names, const struct cps_event *e,
                       struct json_object *array)
{
    uint32_t number = (uint32_t)cps_event_place(e);
    struct json_object *row =
        doc_row(array, "event=%s addr=%" PRIx64 " value=%u pc=%u",
                cps_event_keyword(cps_event_kind(e)), e->addr, e->value, cps_event_pc(e));
    if (cps_event_kind(e) != CPS_EV_REG)
        return;
    cps_json_text(row, "name", cps_name(names, CPS_SPACE_GPU, number, NULL));
    struct words w = {.fields = cps_json_new_object(row, "fields")};
    cps_name_values(names, CPS_SPACE_GPU, number, e->value, put_value, &w);
}

void decode_json_packet(const struct decode_text *text, const struct decode_packet *p,
                        struct cps_buf *out)
{
    const struct cps_names *names = text->names[cps_event_who(&p->head)];
    struct cps_pm4 pm4 = cps_packet_header_(&p->head);
    struct json_object *to = doc_new();
    const char *name = p->name;
    doc_put(to, "capture=%s submission=%u draw=%u starts=%s", text->capture, p->submission, p->draw,
            p->starts == CPS_LAUNCH_NONE ? NULL : cps_launch_kind_text_(p->starts));
    doc_put(to, "processor=%s level=%s depth=%u", cps_processor_name(cps_event_who(&p->head)),
            cps_event_sub_word(CPS_EV_PKT, cps_event_sub(&p->head)), p->depth);
    if (p->group >= 0)
        cps_json_int(to, "group", p->group);
    doc_put(to, "addr=%" PRIx64 " header=%u", p->head.addr, p->head.value);
    if (pm4.kind == CPS_PM4_TYPE4) {
        cps_json_uint(to, "reg", pm4.reg);
        name = name ? name : cps_name(names, CPS_SPACE_GPU, pm4.reg, NULL);
    }
    cps_json_text(to, "name", name);
    struct words w = {text, cps_json_new_array(to, "words"), NULL, NULL};
    const struct cps_words_form form = {begin_word, put_value, end_word, &w};
    decode_packet_words(p, names, &form);
    struct json_object *events = cps_json_new_array(to, "events");
    for (size_t i = 0; i < p->effects; i++)
        add_effect(names, &p->effect[i], events);
    cps_json_put(out, to, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
    cps_buf_str(out, "\n");
    json_object_put(to);
}
