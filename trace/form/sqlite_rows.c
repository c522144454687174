/* SPDX-License-Identifier: MIT
 * Events become rows of a database. */
#include <string.h>

#include "isa/base/pm4.h"
#include "trace/form/named.h"
#include "trace/form/sqlite.h"

static const char *processor_of(const struct cps_event *event)
{
    unsigned who = cps_event_who(event);
    return who == CPS_CPU_NONE || who >= CPS_CPU_COUNT ? NULL : cps_processor_name(who);
}

static struct db_packet *packet_of(struct database *d, const struct cps_event *event)
{
    unsigned who = cps_event_who(event);
    return who < CPS_CPU_COUNT ? &d->packet[who] : &d->packet[CPS_CPU_NONE];
}

static int64_t id_of(const struct db_packet *packet)
{
    return packet->id ? packet->id : DB_NULL;
}

static void end_packet(struct cps_trace_writer *w, struct db_packet *open)
{
    struct database *d = w->state;
    const struct cps_event *event = &open->event;
    struct cps_pm4 p = cps_pm4_decode_any(event->value);
    if (!open->id)
        return;
    bool type4 = p.kind == CPS_PM4_TYPE4;
    bool type7 = p.kind == CPS_PM4_TYPE7;
    DB_INSERT(d, DB_PACKET, DB_NUMBER(open->id), DB_NUMBER(open->number),
              DB_NUMBER(open->submission), DB_TEXT(processor_of(event)),
              DB_TEXT(cps_event_sub_word(CPS_EV_PKT, cps_event_sub(event))), DB_NUMBER(event->addr),
              DB_NUMBER(event->value),
              DB_NUMBER(type4   ? 4
                        : type7 ? 7
                                : DB_NULL),
              DB_NUMBER(type7 ? p.opcode : DB_NULL), DB_NUMBER(type4 ? p.reg : DB_NULL),
              DB_NUMBER(type4 || type7 ? p.count : DB_NULL),
              DB_TEXT(cps_named_packet_(cps_named_by_(w, event), event->value)),
              DB_NUMBER(cps_event_pc(event)), DB_NUMBER(open->writes), DB_NUMBER(open->reads),
              DB_NUMBER(open->memory), DB_NUMBER(d->stepping ? open->steps : DB_NULL));
    open->id = 0;
}

static void begin_packet(struct cps_trace_writer *w, const struct cps_event *event)
{
    struct database *d = w->state;
    struct db_packet *open = packet_of(d, event);
    end_packet(w, open);
    *open = (struct db_packet){.event = *event,
                               .id = ++d->packets,
                               .number = (int64_t)w->count,
                               .submission = d->submission};
}

static void begin_word(void *context, const struct cps_event *word)
{
    struct database *d = context;
    (void)word;
    cps_buf_clear(&d->value);
}

static void put_value(void *context, const struct cps_value *value)
{
    struct database *d = context;
    size_t size = d->value.size;
    cps_db_put_address_(d, value);
    cps_buf_str(&d->value, size ? " " : "");
    if (!cps_value_line(value, &d->value) && d->value.size > size)
        d->value.data[d->value.size = size] = '\0';
}

static void end_word(void *context, const struct cps_event *word)
{
    struct database *d = context;
    if (d->value.failed)
        cps_db_check_(d, SQLITE_NOMEM);
    DB_INSERT(d, DB_WORD, DB_NUMBER(d->words_of), DB_NUMBER(word->addr), DB_NUMBER(word->value),
              DB_TEXT(d->value.size ? cps_buf_text(&d->value) : NULL));
}

static void put_words(struct cps_trace_writer *w)
{
    struct database *d = w->state;
    const struct cps_words_form form = {begin_word, put_value, end_word, d};
    unsigned who = cps_event_who(&d->words.packet);
    cps_words_lines_(&d->words, who < CPS_CPU_COUNT ? w->names[who] : NULL, &form);
}

/* A word that belongs to no packet before it stands alone, without meaning. */
static void put_lone_word(struct cps_trace_writer *w, const struct cps_event *event)
{
    struct database *d = w->state;
    DB_INSERT(d, DB_WORD, DB_NUMBER(packet_of(d, event)->id), DB_NUMBER(event->addr),
              DB_NUMBER(event->value), DB_TEXT(NULL));
}

/* The word of a space in tables, of kinds that are about registers. */
static const char *space_of(unsigned kind)
{
    switch (kind) {
    case CPS_EV_REG:
    case CPS_EV_REGR:
        return "gpu";
    case CPS_EV_PIPE:
        return "pipe";
    case CPS_EV_CTRL:
        return "ctrl";
    case CPS_EV_SQE:
        return "sqe";
    case CPS_EV_PROT:
        return "prot";
    case CPS_EV_METHOD:
        return "method";
    default:
        return NULL;
    }
}

/* Which copy of a register: the bits above its number, if there are any. */
static int64_t copy_of(const struct cps_event *event)
{
    return event->addr >> 32 ? (int64_t)(event->addr >> 32) : DB_NULL;
}

static void put_write(struct cps_trace_writer *w, const struct cps_event *event)
{
    struct database *d = w->state;
    struct db_packet *packet = packet_of(d, event);
    unsigned kind = cps_event_kind(event);
    packet->writes++;
    DB_INSERT(d, DB_WRITE, DB_NUMBER(w->count), DB_NUMBER(id_of(packet)),
              DB_TEXT(processor_of(event)), DB_TEXT(space_of(kind)),
              DB_NUMBER(cps_event_place(event)), DB_NUMBER(copy_of(event)), DB_NUMBER(event->value),
              DB_TEXT(kind == CPS_EV_REG ? cps_event_sub_word(kind, cps_event_sub(event)) : NULL),
              DB_NUMBER(cps_event_pc(event)));
}

static void put_read(struct cps_trace_writer *w, const struct cps_event *event)
{
    struct database *d = w->state;
    struct db_packet *packet = packet_of(d, event);
    packet->reads++;
    DB_INSERT(d, DB_READ, DB_NUMBER(w->count), DB_NUMBER(id_of(packet)),
              DB_TEXT(processor_of(event)), DB_TEXT(space_of(cps_event_kind(event))),
              DB_NUMBER(cps_event_place(event)), DB_NUMBER(copy_of(event)), DB_NUMBER(event->value),
              DB_NUMBER(cps_event_pc(event)));
}

static void put_memory(struct cps_trace_writer *w, const struct cps_event *event)
{
    struct database *d = w->state;
    struct db_packet *packet = packet_of(d, event);
    unsigned kind = cps_event_kind(event);
    packet->memory++;
    DB_INSERT(d, DB_MEMORY, DB_NUMBER(w->count), DB_NUMBER(id_of(packet)),
              DB_TEXT(processor_of(event)), DB_TEXT(kind == CPS_EV_MEMW ? "write" : "read"),
              DB_NUMBER(event->addr), DB_NUMBER(event->value),
              DB_TEXT(cps_event_sub_word(kind, cps_event_sub(event))),
              DB_NUMBER(cps_event_pc(event)));
}

static void put_rest(struct cps_trace_writer *w, const struct cps_event *event)
{
    struct database *d = w->state;
    unsigned kind = cps_event_kind(event);
    const char *word = cps_event_unknown(event);
    bool assumed = kind == CPS_EV_ASSUME || kind == CPS_EV_UNMODELLED;
    if (!word && strchr(cps_event_columns_(kind), 's'))
        word = cps_event_sub_word(kind, cps_event_sub(event));
    DB_INSERT(d, assumed ? DB_ASSUMPTION : DB_OTHER, DB_NUMBER(w->count),
              DB_NUMBER(id_of(packet_of(d, event))), DB_TEXT(processor_of(event)),
              DB_TEXT(kind == CPS_EV_ASSUME       ? "assume"
                      : kind == CPS_EV_UNMODELLED ? "unmodelled"
                                                  : cps_event_keyword(kind)),
              DB_TEXT(word), DB_NUMBER(event->addr), DB_NUMBER(event->value),
              DB_NUMBER(cps_event_pc(event)));
}

static void put_submission(struct cps_trace_writer *w, const struct cps_event *event)
{
    struct database *d = w->state;
    d->submission = event->value;
    DB_INSERT(d, DB_SUBMISSION, DB_NUMBER(event->value), DB_NUMBER(w->count),
              DB_NUMBER(event->addr), DB_NUMBER(cps_event_pc(event)));
}

static void put_event(struct cps_trace_writer *w, const struct cps_event *event)
{
    struct database *d = w->state;
    switch (cps_event_kind(event)) {
    case CPS_EV_SUBMIT:
        put_submission(w, event);
        break;
    case CPS_EV_PKT:
        begin_packet(w, event);
        d->words_of = d->packets;
        d->words_event = (int64_t)w->count;
        break;
    case CPS_EV_WORD:
        put_lone_word(w, event);
        break;
    case CPS_EV_REG:
    case CPS_EV_PIPE:
    case CPS_EV_CTRL:
    case CPS_EV_SQE:
    case CPS_EV_PROT:
    case CPS_EV_METHOD:
        put_write(w, event);
        break;
    case CPS_EV_REGR:
        put_read(w, event);
        break;
    case CPS_EV_MEMW:
    case CPS_EV_MEMR:
        put_memory(w, event);
        break;
    case CPS_EV_STEP:
        d->stepping = true;
        packet_of(d, event)->steps++;
        break;
    case CPS_EV_STEPX:
    case CPS_EV_TICK:
        break;
    default:
        put_rest(w, event);
        break;
    }
}

void cps_db_event_(struct cps_trace_writer *w, const struct cps_event *event)
{
    struct database *d = w->state;
    cps_db_draws_(w, event);
    if (d->words.count && cps_event_kind(event) != CPS_EV_WORD)
        put_words(w);
    if (cps_words_take_(&d->words, event))
        return;
    put_words(w);
    put_event(w, event);
}

void cps_db_end_rows_(struct cps_trace_writer *w)
{
    struct database *d = w->state;
    put_words(w);
    cps_db_draws_(w, NULL);
    for (unsigned i = 0; i < CPS_CPU_COUNT; i++)
        end_packet(w, &d->packet[i]);
}
