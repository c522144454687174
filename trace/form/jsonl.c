/* SPDX-License-Identifier: MIT
 * JSON Lines: the head as one object, then one object an event. Addresses are texts, because many
 * readers of JSON know only numbers of 53 bits. */
#include <stdio.h>
#include <string.h>

#include "isa/base/pm4.h"
#include "trace/form/forms.h"

/* A byte of the head becomes at most six, as \u0009. */
#define HEAD_LINE_BYTES (6 * TRACE_HEAD_BYTES + 64)

static void put_line(struct cps_trace_writer *w, struct json_object *object)
{
    cps_json_put(&w->buf, object, JSON_C_TO_STRING_PLAIN);
    cps_buf_str(&w->buf, "\n");
    json_object_put(object);
}

static void add_packet(struct json_object *to, const struct cps_names *names, uint32_t header)
{
    struct cps_pm4 packet = cps_pm4_decode(header);
    if (packet.kind == CPS_PM4_TYPE4)
        cps_json_uint(to, "reg", packet.reg);
    if (packet.kind != CPS_PM4_BAD) {
        cps_json_text(to, "name", cps_named_packet_(names, header));
        cps_json_uint(to, "count", packet.count);
    }
}

static struct json_object *event_object(const struct cps_event *event)
{
    struct json_object *to = json_object_new_object();
    unsigned kind = cps_event_kind(event);
    char addr[24];
    snprintf(addr, sizeof(addr), "0x%llx", (unsigned long long)event->addr);
    cps_json_text(to, "event", cps_event_keyword(kind));
    if (cps_event_who(event) != CPS_CPU_NONE)
        cps_json_text(to, "processor", cps_processor_name(cps_event_who(event)));
    if (strchr(cps_event_columns_(kind), 's'))
        cps_json_text(to, "sub", cps_event_sub_word(kind, cps_event_sub(event)));
    cps_json_text(to, "addr", addr);
    cps_json_uint(to, "value", event->value);
    cps_json_uint(to, "pc", cps_event_pc(event));
    return to;
}

/* The fields of a word, while its line is made. */
static void begin_word(void *context, const struct cps_event *word)
{
    struct cps_trace_writer *w = context;
    (void)word;
    w->state = json_object_new_object();
}

static void put_word_value(void *context, const struct cps_value *value)
{
    struct cps_trace_writer *w = context;
    cps_json_value(w->state, value);
}

static void end_word(void *context, const struct cps_event *word)
{
    struct cps_trace_writer *w = context;
    struct json_object *to = event_object(word);
    cps_json_add(to, "fields", CPS_TAKE(w->state));
    put_line(w, to);
}

static void write_event(struct cps_trace_writer *w, const struct cps_event *event)
{
    const struct cps_names *names = cps_named_by_(w, event);
    if (cps_words_wait_(w, event))
        return;
    struct json_object *to = event_object(event);
    if (names && cps_event_kind(event) == CPS_EV_PKT)
        add_packet(to, names, event->value);
    cps_json_text(to, "name", cps_named_register_(names, event));
    cps_named_fields_(to, names, event);
    if (w->ticking)
        cps_json_uint(to, "tick", w->tick);
    cps_json_text(to, "unknown", cps_event_unknown(event));
    put_line(w, to);
}

static void put_head(struct cps_trace_writer *w)
{
    struct json_object *head = json_object_new_object();
    cps_json_uint(head, "cpscope-trace", 1);
    cps_json_text(head, "head", w->head->text);
    put_line(w, head);
}

struct cps_err *cps_jsonl_write_(struct cps_trace_writer *writer)
{
    writer->on_words.begin = begin_word;
    writer->on_words.value = put_word_value;
    writer->on_words.end = end_word;
    writer->put_head = put_head;
    writer->event = write_event;
    writer->end = cps_words_flush_;
    return NULL;
}

static bool get_int(struct json_object *from, const char *key, int64_t most, uint32_t *ret)
{
    int64_t number = cps_json_get_int(from, key, -1);
    *ret = (uint32_t)number;
    return number >= 0 && number <= most;
}

/* "0x" and up to 16 digits. */
static bool get_address(struct json_object *from, uint64_t *ret)
{
    const char *text = cps_json_get_text(from, "addr", NULL);
    if (!text || strncmp(text, "0x", 2) != 0)
        return false;
    size_t size = strspn(text + 2, "0123456789abcdef");
    *ret = strtoull(text, NULL, 16);
    return size && size <= 16 && !text[2 + size];
}

/* What was expected, or NULL. */
static const char *parse_members(struct json_object *from, bool with_processor,
                                 struct cps_event *ret)
{
    const char *keyword = cps_json_get_text(from, "event", NULL);
    const char *who = cps_json_get_text(from, "processor", NULL);
    const char *word = cps_json_get_text(from, "sub", NULL);
    uint64_t addr = 0;
    uint32_t value = 0;
    uint32_t pc = 0;
    unsigned kind = keyword ? cps_event_by_keyword_(keyword, strlen(keyword)) : CPS_EV_COUNT;
    if (kind == CPS_EV_COUNT)
        return "\"event\" with an event's keyword";
    unsigned cpu = who ? cps_processor_by_name_(who, strlen(who)) : (unsigned)CPS_CPU_NONE;
    if (cpu == CPS_CPU_COUNT)
        return "\"processor\" with a processor's name";
    int sub = word ? cps_event_sub_by_word_(kind, word, strlen(word)) : 0;
    if (sub < 0 || (!word && strchr(cps_event_columns_(kind), 's')))
        return "\"sub\" with a word that this event can have";
    if (!get_address(from, &addr) || !get_int(from, "value", UINT32_MAX, &value) ||
        !get_int(from, "pc", UINT32_MAX, &pc))
        return "\"addr\" as text, \"value\" and \"pc\" as numbers";
    *ret = cps_event_make(kind, (unsigned)sub, cpu, pc, addr, value);
    return cps_event_check_(ret, with_processor);
}

static struct cps_err *parse_event(const struct cps_lines *line, bool with_processor,
                                   struct cps_event *ret, const char **expected)
{
    struct json_object *object = NULL;
    if (!line->cut)
        CPS_TRY(cps_json_parse(line->text, line->size, &object));
    *expected = object ? parse_members(object, with_processor, ret) : "a JSON object on one line";
    json_object_put(object);
    return NULL;
}

static struct cps_err *parse_head(struct cps_trace *trace, struct json_object *object)
{
    const char *name = cps_stream_name(trace->stream);
    const char *head = cps_json_get_text(object, "head", NULL);
    uint32_t version = 0;
    if (!get_int(object, "cpscope-trace", 1, &version) || version != 1)
        return cps_err_input(name, 0, "expected an object with \"cpscope-trace\":1");
    return head ? cps_trace_head_parse(name, head, &trace->head)
                : cps_err_input(name, 0, "expected \"head\" with the lines of a trace's head");
}

struct cps_err *cps_jsonl_open_(struct cps_trace *trace)
{
    CPS_BUF line = {0};
    struct cps_event_lines *s = NULL;
    struct json_object *object = NULL;
    CPS_TRY(cps_event_lines_open_(trace, &s));
    s->parse = parse_event;
    CPS_TRY(cps_lines_start_(&s->lines));
    CPS_TRY(cps_lines_long_(&s->lines, HEAD_LINE_BYTES, &line));
    CPS_TRY(cps_json_parse(cps_buf_text(&line), line.size, &object));
    struct cps_err *err = parse_head(trace, object);
    json_object_put(object);
    return err;
}
