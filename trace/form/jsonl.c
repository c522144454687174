/* SPDX-License-Identifier: MIT
 * JSON Lines: the head as one object, then one object an event. Addresses are texts, because many
 * readers of JSON know only numbers of 53 bits. */
#include <stdio.h>
#include <string.h>

#include "trace/event/event_words.h"
#include "isa/base/pm4.h"
#include "trace/form/named.h"
#include "trace/form/words.h"
#include "trace/capture/lines.h"
#include "trace/out/json.h"

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
    const char *name = packet.kind != CPS_PM4_BAD ? cps_named_packet_(names, header) : NULL;
    if (packet.kind == CPS_PM4_TYPE4)
        cps_json_uint(to, "reg", packet.reg);
    if (name)
        cps_json_text(to, "name", name);
    if (packet.kind != CPS_PM4_BAD)
        cps_json_uint(to, "count", packet.count);
}

static void add_names(struct cps_trace_writer *w, struct json_object *to,
                      const struct cps_event *event)
{
    const struct cps_names *names = cps_named_by_(w, event);
    enum cps_space space = cps_named_space_(event);
    if (names && cps_event_kind(event) == CPS_EV_PKT)
        add_packet(to, names, event->value);
    if (!names || space == CPS_SPACE_COUNT)
        return;
    const char *name = cps_name(names, space, (uint32_t)event->addr, NULL);
    if (name)
        cps_json_text(to, "name", name);
    cps_named_fields_(to, names, space, event);
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

/* The words of a packet: the line of one that is being made. */
struct word_line {
    struct cps_trace_writer *w;
    struct json_object *fields;
};

static void begin_word(void *context, const struct cps_event *word)
{
    struct word_line *line = context;
    (void)word;
    line->fields = json_object_new_object();
}

static void put_word_value(void *context, const struct cps_value *value)
{
    struct word_line *line = context;
    cps_json_value(line->fields, value);
}

static void end_word(void *context, const struct cps_event *word)
{
    struct word_line *line = context;
    struct json_object *to = event_object(word);
    cps_json_add(to, "fields", line->fields);
    put_line(line->w, to);
}

static void write_words(struct cps_trace_writer *w)
{
    struct cps_words *words = w->state;
    struct word_line line = {w, NULL};
    const struct cps_words_form form = {begin_word, put_word_value, end_word, &line};
    cps_words_lines_(words, cps_named_by_(w, &words->packet), &form);
}

static void write_event(struct cps_trace_writer *w, const struct cps_event *event)
{
    struct cps_words *words = w->state;
    if (words->count && cps_event_kind(event) != CPS_EV_WORD)
        write_words(w);
    if (cps_words_take_(words, event))
        return;
    write_words(w);
    struct json_object *to = event_object(event);
    add_names(w, to, event);
    if (w->ticking)
        cps_json_uint(to, "tick", w->tick);
    if (cps_event_unknown(event))
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
    writer->state = calloc(1, sizeof(struct cps_words));
    if (!writer->state)
        return cps_err_nomem();
    writer->put_head = put_head;
    writer->event = write_event;
    writer->end = write_words;
    writer->deinit = cps_words_free_;
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
static const char *parse_event(struct json_object *from, bool with_processor, struct cps_event *ret)
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

static struct cps_err *bad_line(const struct cps_trace *trace, const char *expected)
{
    const struct cps_lines *lines = trace->state;
    return cps_err_input(cps_stream_name(trace->stream), lines->offset, "\"%.60s\": expected %s",
                         lines->text, expected);
}

/* The next line as an object; NULL at the end of the file. */
static struct cps_err *read_object(struct cps_trace *trace, struct json_object **ret)
{
    struct cps_lines *lines = trace->state;
    *ret = NULL;
    do {
        CPS_TRY(cps_lines_start_(lines));
        if (lines->done)
            return NULL;
        CPS_TRY(cps_lines_text_(lines));
    } while (!lines->size);
    if (!lines->cut)
        CPS_TRY(cps_json_parse(lines->text, lines->size, ret));
    return *ret ? NULL : bad_line(trace, "a JSON object on one line");
}

static struct cps_err *next(struct cps_trace *trace, struct cps_event *events, size_t max,
                            size_t *count)
{
    for (*count = 0; *count < max; ++*count) {
        struct json_object *object = NULL;
        CPS_TRY(read_object(trace, &object));
        if (!object)
            return NULL;
        const char *expected = parse_event(object, trace->head.with_processor, &events[*count]);
        json_object_put(object);
        if (expected)
            return bad_line(trace, expected);
    }
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
    struct cps_lines *lines = calloc(1, sizeof(*lines));
    struct json_object *object = NULL;
    if (!lines)
        return cps_err_nomem();
    lines->stream = trace->stream;
    trace->state = lines;
    trace->next = next;
    trace->close = free;
    CPS_TRY(cps_lines_start_(lines));
    CPS_TRY(cps_lines_long_(lines, HEAD_LINE_BYTES, &line));
    CPS_TRY(cps_json_parse(cps_buf_text(&line), line.size, &object));
    struct cps_err *err = parse_head(trace, object);
    json_object_put(object);
    return err;
}
