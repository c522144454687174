/* SPDX-License-Identifier: MIT
 * Perfetto: Chrome's trace events as JSON, written only. A track for each processor, with slices
 * for streams, packets and calls inside of each other, and for what they did instants; a track for
 * submissions; counters. One event is one unit of time: a trace has an order, no clock. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "isa/base/pm4.h"
#include "trace/form/forms.h"
#include "trace/form/frames.h"

#define SUBMISSIONS (CPS_CPU_COUNT + 1u) /* a track; those of processors are their numbers + 1 */

/* A processor's track. */
struct track {
    struct cps_frames frames; /* first */
    bool named;
    uint64_t writes, memory; /* so far */
    uint64_t told_writes, told_memory;
};

struct view {
    struct cps_trace_writer *w;
    struct track track[CPS_CPU_COUNT + 1];
    bool any;                   /* something was written: a comma comes first */
    bool submitted;             /* a submission is open */
    bool listed;                /* its track has a name */
    uint64_t packet;            /* time of the PKT whose slice has not begun yet */
    struct json_object *fields; /* of those words */
    struct json_object *word;   /* the one that is being made */
};

static void put_object(struct cps_trace_writer *w, struct json_object *object)
{
    struct view *v = w->state;
    cps_buf_str(&w->buf, v->any ? ",\n" : "\n");
    v->any = true;
    cps_json_put(&w->buf, object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
    json_object_put(object);
}

static struct json_object *new_event(const char *phase, unsigned track, uint64_t time,
                                     const char *name)
{
    struct json_object *to = json_object_new_object();
    cps_json_text(to, "ph", phase);
    cps_json_uint(to, "pid", 1);
    cps_json_uint(to, "tid", track);
    cps_json_uint(to, "ts", time);
    cps_json_text(to, "name", name);
    return to;
}

static void put_end(struct cps_trace_writer *w, unsigned track, uint64_t time)
{
    put_object(w, new_event("E", track, time, NULL));
}

static void put_meta(struct cps_trace_writer *w, unsigned track, const char *what, const char *name)
{
    struct json_object *to = json_object_new_object();
    struct json_object *args = json_object_new_object();
    cps_json_text(args, "name", name);
    cps_json_text(to, "ph", "M");
    cps_json_uint(to, "pid", 1);
    if (track)
        cps_json_uint(to, "tid", track);
    cps_json_text(to, "name", what);
    cps_json_add(to, "args", args);
    put_object(w, to);
}

static void add_hex(struct json_object *to, const char *key, uint64_t value, int digits)
{
    char text[24];
    snprintf(text, sizeof(text), "0x%0*" PRIx64, digits, value);
    cps_json_text(to, key, text);
}

/* ---- slices ---- */

static unsigned track_of(const struct view *v, const struct cps_frames *frames)
{
    return (unsigned)((const struct track *)frames - v->track) + 1;
}

static struct json_object *packet_args(struct view *v)
{
    const struct cps_event *event = &v->w->words.packet;
    struct json_object *args = json_object_new_object();
    cps_json_text(args, "level", cps_event_sub_word(CPS_EV_PKT, cps_event_sub(event)));
    add_hex(args, "iova", event->addr, 16);
    add_hex(args, "header", event->value, 8);
    add_hex(args, "pc", cps_event_pc(event), 4);
    if (cps_pm4_decode_any(event->value).kind != CPS_PM4_BAD)
        cps_json_uint(args, "count", cps_pm4_decode_any(event->value).count);
    if (v->fields)
        cps_json_add(args, "words", CPS_TAKE(v->fields));
    return args;
}

static void name_frame(const struct view *v, const struct cps_frames *frames,
                       const struct cps_frame *frame, struct cps_buf *out)
{
    static const char *const levels[] = {"ring", "IB1", "IB2", "IB3", "draw state", "internal"};
    unsigned who = track_of(v, frames) - 1;
    struct cps_pm4 packet = cps_pm4_decode_any(frame->key);
    const char *name = cps_named_packet_(v->w->names[who], frame->key);
    size_t before = 0;
    switch ((enum cps_frame_kind)frame->kind) {
    case CPS_FRAME_LEVEL:
        cps_buf_str(out, frame->key < 6 ? levels[frame->key] : "stream");
        break;
    case CPS_FRAME_BOOT:
        cps_buf_str(out, "boot");
        break;
    case CPS_FRAME_PACKET:
        if (packet.kind == CPS_PM4_TYPE4 && name)
            cps_buf_printf(out, "type4 %s", name);
        else if (packet.kind == CPS_PM4_TYPE4)
            cps_buf_printf(out, "type4 0x%04" PRIx32, packet.reg);
        else if (packet.kind == CPS_PM4_TYPE7 && !name)
            cps_buf_printf(out, "UNKN%" PRIu32, packet.opcode);
        else
            cps_buf_str(out, name ? name : "bad");
        break;
    case CPS_FRAME_CALL:
    case CPS_FRAME_INTERRUPT:
        cps_buf_str(out, frame->kind == CPS_FRAME_CALL ? "call " : "interrupt ");
        before = out->size;
        if (v->w->place)
            v->w->place(v->w->place_context, who, frame->key, out);
        if (out->size == before)
            cps_buf_printf(out, "0x%04" PRIx32, frame->key);
        break;
    }
}

static void opened(void *context, struct cps_frames *frames, struct cps_frame *frame)
{
    struct view *v = context;
    CPS_BUF name = {0};
    bool packet = frame->kind == CPS_FRAME_PACKET || frame->kind == CPS_FRAME_LEVEL;
    name_frame(v, frames, frame, &name);
    v->w->lost = v->w->lost || name.failed;
    struct json_object *to =
        new_event("B", track_of(v, frames), packet ? v->packet : v->w->count, cps_buf_text(&name));
    if (frame->kind == CPS_FRAME_PACKET)
        cps_json_add(to, "args", packet_args(v));
    put_object(v->w, to);
}

static void closed(void *context, struct cps_frames *frames, struct cps_frame *frame)
{
    struct view *v = context;
    (void)frame;
    put_end(v->w, track_of(v, frames), v->packet != UINT64_MAX ? v->packet : v->w->count);
}

/* ---- counters ---- */

static void put_counter(struct cps_trace_writer *w, const char *who, const char *what,
                        uint64_t time, uint64_t value)
{
    char name[64];
    snprintf(name, sizeof(name), "%s: %s", who, what);
    struct json_object *to = new_event("C", 0, time, name);
    struct json_object *args = json_object_new_object();
    json_object_object_del(to, "tid"); /* a counter is the process's */
    cps_json_uint(args, "total", value);
    cps_json_add(to, "args", args);
    put_object(w, to);
}

/* What has been written up to the end of a packet. */
static void count_packet(struct view *v, struct track *track, uint64_t time)
{
    const char *who = cps_processor_name((unsigned)(track - v->track));
    if (track->writes != track->told_writes)
        put_counter(v->w, who, "registers written", time, track->writes);
    if (track->memory != track->told_memory)
        put_counter(v->w, who, "memory written", time, track->memory);
    track->told_writes = track->writes;
    track->told_memory = track->memory;
}

/* ---- events ---- */

static void begin_word(void *context, const struct cps_event *word)
{
    struct view *v = ((struct cps_trace_writer *)context)->state;
    (void)word;
    v->word = json_object_new_object();
}

/* Words are called by their numbers: two may have the same name. */
static void end_word(void *context, const struct cps_event *word)
{
    struct view *v = ((struct cps_trace_writer *)context)->state;
    char key[24];
    snprintf(key, sizeof(key), "%" PRIu64, word->addr);
    if (!v->fields)
        v->fields = json_object_new_object();
    if (v->word && !json_object_object_length(v->word))
        add_hex(v->word, "value", word->value, 8);
    cps_json_add(v->fields, key, CPS_TAKE(v->word));
}

static void put_word_value(void *context, const struct cps_value *value)
{
    struct view *v = ((struct cps_trace_writer *)context)->state;
    cps_json_value(v->word, value);
}

/* The slice of a packet begins when its words are known, which its arguments have. */
static void begin_packet(struct cps_trace_writer *w)
{
    struct view *v = w->state;
    const struct cps_event *event = &v->w->words.packet;
    const struct cps_frames_user user = {opened, closed, v};
    if (v->packet == UINT64_MAX)
        return;
    cps_words_flush_(w);
    struct track *track = &v->track[cps_event_who(event) % (CPS_CPU_COUNT + 1)];
    count_packet(v, track, v->packet);
    cps_frames_packet_(&track->frames, &user, event);
    v->packet = UINT64_MAX;
}

static void put_instant(struct cps_trace_writer *w, unsigned track, const struct cps_event *event)
{
    const struct cps_names *names = cps_named_by_(w, event);
    unsigned kind = cps_event_kind(event);
    bool is_register = cps_event_space_(kind) != CPS_SPACE_COUNT;
    const char *name = cps_named_register_(names, event);
    struct json_object *args = json_object_new_object();
    struct json_object *to = new_event("i", track, w->count, name ? name : cps_event_keyword(kind));
    cps_json_text(to, "cat", cps_event_keyword(kind));
    cps_json_text(to, "s", "t");
    add_hex(args, is_register ? "register" : "addr", event->addr, 4);
    add_hex(args, "value", event->value, 8);
    if (strchr(cps_event_columns_(kind), 's'))
        cps_json_text(args, "how", cps_event_sub_word(kind, cps_event_sub(event)));
    cps_json_text(args, "unknown", cps_event_unknown(event));
    if (w->ticking)
        cps_json_uint(args, "tick", w->tick);
    add_hex(args, "pc", cps_event_pc(event), 4);
    cps_named_fields_(args, names, event);
    cps_json_add(to, "args", args);
    put_object(w, to);
}

static void name_submissions(struct cps_trace_writer *w)
{
    struct view *v = w->state;
    if (!v->listed)
        put_meta(w, SUBMISSIONS, "thread_name", "submissions");
    v->listed = true;
}

static void end_submission(struct cps_trace_writer *w)
{
    struct view *v = w->state;
    if (!v->submitted)
        return;
    put_end(w, SUBMISSIONS, w->count);
    v->submitted = false;
}

static void begin_submission(struct cps_trace_writer *w, const struct cps_event *event)
{
    struct view *v = w->state;
    char name[32];
    struct json_object *args = json_object_new_object();
    end_submission(w);
    name_submissions(w);
    snprintf(name, sizeof(name), "submission %" PRIu32, event->value);
    struct json_object *to = new_event("B", SUBMISSIONS, w->count, name);
    add_hex(args, "iova", event->addr, 16);
    cps_json_uint(args, "dwords", cps_event_pc(event));
    cps_json_add(to, "args", args);
    put_object(w, to);
    v->submitted = true;
}

/* Only processors that take part have a track. */
static struct track *begin_track(struct cps_trace_writer *w, unsigned who)
{
    struct view *v = w->state;
    const struct cps_frames_user user = {opened, closed, v};
    struct track *track = &v->track[who];
    if (track->named)
        return track;
    track->named = true;
    put_meta(w, who + 1, "thread_name", cps_processor_name(who));
    if (cps_gen_is_afuc(w->head->gen))
        cps_frames_begin_(&track->frames, &user);
    return track;
}

static void put_event(struct cps_trace_writer *w, const struct cps_event *event, unsigned kind)
{
    struct view *v = w->state;
    unsigned who = cps_event_who(event);
    struct track *track = begin_track(w, who);
    track->writes += kind == CPS_EV_REG || kind == CPS_EV_METHOD;
    track->memory += kind == CPS_EV_MEMW;
    if (kind == CPS_EV_PKT) {
        v->packet = w->count;
    } else if (kind == CPS_EV_STEP && w->flow) {
        const struct cps_frames_user user = {opened, closed, v};
        uint32_t pc = cps_event_pc(event);
        cps_frames_step_(&track->frames, &user, pc, w->flow(w->flow_context, who, pc));
    } else if (kind != CPS_EV_STEP && kind != CPS_EV_STEPX) {
        put_instant(w, who + 1, event);
    }
}

static void write_event(struct cps_trace_writer *w, const struct cps_event *event)
{
    unsigned kind = cps_event_kind(event);
    unsigned who = cps_event_who(event);
    if (kind != CPS_EV_WORD)
        begin_packet(w);
    if (cps_words_take_(&w->words, event))
        return;
    if (kind == CPS_EV_SUBMIT) {
        begin_submission(w, event);
    } else if (who == CPS_CPU_NONE || who >= CPS_CPU_COUNT) {
        if (kind == CPS_EV_END)
            end_submission(w);
        name_submissions(w);
        put_instant(w, SUBMISSIONS, event);
    } else if (kind != CPS_EV_TICK) {
        put_event(w, event, kind);
    }
}

static void end(struct cps_trace_writer *w)
{
    struct view *v = w->state;
    const struct cps_frames_user user = {opened, closed, v};
    begin_packet(w);
    for (unsigned who = 0; who < CPS_CPU_COUNT; who++) {
        count_packet(v, &v->track[who], w->count);
        cps_frames_close_(&v->track[who].frames, &user, 0);
    }
    end_submission(w);
    cps_buf_str(&w->buf, "\n]}\n");
}

static void free_view(void *state)
{
    json_object_put(((struct view *)state)->fields);
}

struct cps_err *cps_perfetto_write_(struct cps_trace_writer *writer)
{
    struct view *v = calloc(1, sizeof(*v));
    if (!v)
        return cps_err_nomem();
    v->w = writer;
    v->packet = UINT64_MAX;
    writer->state = v;
    writer->on_words.begin = begin_word;
    writer->on_words.value = put_word_value;
    writer->on_words.end = end_word;
    writer->event = write_event;
    writer->end = end;
    writer->deinit = free_view;
    cps_buf_str(&writer->buf, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    CPS_BUF name = {0};
    cps_buf_printf(&name, "cpscope %s %s", cps_gen_name(writer->head->gen),
                   writer->head->capture.name);
    writer->lost = name.failed;
    put_meta(writer, 0, "process_name", cps_buf_text(&name));
    return NULL;
}
