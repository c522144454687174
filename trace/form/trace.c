/* SPDX-License-Identifier: MIT
 * The forms of traces, one row each. */
#include <string.h>

#include "isa/base/list.h"
#include "isa/base/within.h"
#include "trace/form/forms.h"

#define FLUSH_BYTES 65536u

static const struct form {
    const char *word;
    const char *suffix;
    struct cps_err *(*write)(struct cps_trace_writer *writer);
    const char *magic; /* NULL: only written */
    struct cps_err *(*open)(struct cps_trace *trace);
} forms[] = {
#define READABLE(id, word, suffix, magic) \
    {#word, suffix, cps_##word##_write_, magic, cps_##word##_open_},
#define WRITTEN(id, word, suffix) {#word, suffix, cps_##word##_write_, NULL, NULL},
#include "trace/form/form.def"
};

static const struct form *find_readable(const uint8_t *data, size_t size)
{
    for (unsigned i = 0; i < CPS_FORM_COUNT; i++) {
        const char *magic = forms[i].magic;
        if (magic && size >= strlen(magic) && !memcmp(data, magic, strlen(magic)))
            return &forms[i];
    }
    return NULL;
}

bool cps_trace_recognise(const uint8_t *data, size_t size)
{
    return find_readable(data, size) != NULL;
}

struct cps_err *cps_trace_open(struct cps_stream *stream, struct cps_trace **ret)
{
    const uint8_t *data = NULL;
    size_t size = 0;
    CPS_TRY(cps_stream_peek(stream, 32, &data, &size));
    const struct form *form = find_readable(data, size);
    if (!form)
        return cps_err_input(cps_stream_name(stream), 0,
                             "not a trace, expected \"# cpscope-trace 1\", .cpt or JSON Lines");
    struct cps_trace *trace = calloc(1, sizeof(*trace));
    if (!trace)
        return cps_err_nomem();
    trace->stream = stream;
    trace->form = (enum cps_trace_form)(form - forms);
    struct cps_err *err = form->open(trace);
    uint32_t kinds = 0;
    trace->lacks_end =
        !err && cps_text_classes(trace->head.events, &kinds) && (kinds >> CPS_EV_END & 1);
    if (err)
        cps_trace_close(trace);
    else
        *ret = trace;
    return err;
}

void cps_trace_close(struct cps_trace *trace)
{
    if (!trace)
        return;
    if (trace->close)
        trace->close(trace->state);
    cps_trace_head_deinit(&trace->head);
    free(trace);
}

const struct cps_trace_head *cps_trace_head(const struct cps_trace *trace)
{
    return &trace->head;
}

enum cps_trace_form cps_trace_form(const struct cps_trace *trace)
{
    return trace->form;
}

struct cps_err *cps_trace_next(struct cps_trace *trace, struct cps_event *events, size_t max,
                               size_t *count)
{
    CPS_TRY(trace->next(trace, events, max, count));
    for (size_t i = 0; i < *count; i++)
        trace->lacks_end &= cps_event_kind(&events[i]) != CPS_EV_END;
    trace->count += *count;
    if (*count || !trace->lacks_end)
        return NULL;
    /* Lines end alike wherever a disk was full. */
    return cps_err_input(cps_stream_name(trace->stream), cps_stream_offset(trace->stream),
                         "the trace is cut short here: event END, which its head promises, is "
                         "missing; the %llu events before it are whole",
                         (unsigned long long)trace->count);
}

enum cps_trace_form cps_trace_form_of(const char *path)
{
    size_t length = strlen(path);
    for (unsigned i = CPS_FORM_CPT; i < CPS_FORM_COUNT; i++) {
        size_t suffix = strlen(forms[i].suffix);
        if (length > suffix && !strcmp(path + length - suffix, forms[i].suffix))
            return (enum cps_trace_form)i;
    }
    return CPS_FORM_TEXT;
}

bool cps_trace_form_parse(const char *word, enum cps_trace_form *ret)
{
    for (unsigned i = 0; i < CPS_FORM_COUNT; i++) {
        if (strcmp(forms[i].word, word) != 0)
            continue;
        *ret = (enum cps_trace_form)i;
        return true;
    }
    return false;
}

const char *cps_trace_form_word(enum cps_trace_form form)
{
    return form < CPS_FORM_COUNT ? forms[form].word : "?";
}

static void flush(struct cps_trace_writer *w)
{
    w->lost = w->lost || w->buf.failed;
    cps_outfile_write(w->out, cps_buf_text(&w->buf), w->buf.size);
    cps_buf_clear(&w->buf);
}

/* A format that takes whole batches asks nobody for the tick. */
static void put_events(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    struct cps_trace_writer *w = (struct cps_trace_writer *)sink;
    if (w->events) {
        w->events(w, events, count);
        w->count += count;
    }
    for (size_t i = 0; !w->events && i < count; i++) {
        if (cps_event_kind(&events[i]) == CPS_EV_TICK) {
            w->tick = events[i].addr;
            w->ticking = true;
        }
        w->event(w, &events[i]);
        w->count++;
        if (w->buf.size >= FLUSH_BYTES)
            flush(w);
    }
    if (w->buf.size >= FLUSH_BYTES)
        flush(w);
}

struct cps_err *cps_trace_writer_create(enum cps_trace_form form, struct cps_outfile *out,
                                        const struct cps_trace_head *head,
                                        struct cps_names *const names[CPS_CPU_COUNT],
                                        struct cps_trace_writer **ret)
{
    struct cps_trace_writer *w = calloc(1, sizeof(*w));
    if (!w)
        return cps_err_nomem();
    w->sink.put = put_events;
    w->out = out;
    w->on_words.context = w;
    w->head = head;
    if (names)
        memcpy(w->names, names, sizeof(w->names));
    struct cps_err *err = forms[form].write(w);
    if (err) {
        cps_buf_deinit(&w->buf);
        free(w->state);
        free(w);
        return err;
    }
    if (w->put_head)
        w->put_head(w);
    *ret = w;
    return NULL;
}

struct cps_sink *cps_trace_writer_sink(struct cps_trace_writer *writer)
{
    return &writer->sink;
}

struct cps_err *cps_trace_writer_signal(struct cps_trace_writer *writer, const char *name,
                                        uint32_t number)
{
    char *copy = strdup(name);
    if (!copy || !CPS_LIST_ROOM(writer->signal, writer->signals)) {
        free(copy);
        return cps_err_nomem();
    }
    writer->signal[writer->signals++] = (struct cps_signal){copy, number};
    return NULL;
}

void cps_trace_writer_flow(struct cps_trace_writer *writer, cps_flow_fn *flow, void *context)
{
    writer->flow = flow;
    writer->flow_context = context;
}

void cps_trace_writer_places(struct cps_trace_writer *writer, cps_place_fn *place, void *context)
{
    writer->place = place;
    writer->place_context = context;
}

void cps_trace_writer_buffers(struct cps_trace_writer *writer, const struct cps_buffers *buffers)
{
    writer->buffers = buffers;
}

void cps_trace_writer_rehead(struct cps_trace_writer *writer, const struct cps_trace_head *head)
{
    flush(writer);
    writer->head = head;
    if (!writer->put_head)
        return;
    writer->put_head(writer);
    cps_outfile_patch(writer->out, cps_buf_text(&writer->buf), writer->buf.size);
    cps_buf_clear(&writer->buf);
}

struct cps_err *cps_trace_writer_finish(struct cps_trace_writer *writer)
{
    if (!writer)
        return NULL;
    if (writer->end)
        writer->end(writer);
    flush(writer);
    struct cps_err *err = cps_err_first_(writer->lost ? cps_err_nomem() : NULL, writer->failure);
    if (writer->deinit)
        writer->deinit(writer->state);
    for (size_t i = 0; i < writer->signals; i++)
        free(writer->signal[i].name);
    free(writer->signal);
    cps_words_free_(&writer->words);
    cps_buf_deinit(&writer->buf);
    free(writer->state);
    free(writer);
    return err;
}
