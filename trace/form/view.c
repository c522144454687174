/* SPDX-License-Identifier: MIT
 * Forms for viewers, written only: Perfetto (Chrome's trace events) and VCD. One event is one unit
 * of time: a trace has an order, no clock. */
#include <inttypes.h>
#include <string.h>

#include "trace/form/forms.h"
#include "isa/base/pm4.h"

/* What a viewer needs to know of each processor. */
struct view {
    bool open[CPS_CPU_COUNT]; /* a packet's slice has begun */
    bool any;                 /* something was written: a comma comes first */
    bool stamped;             /* VCD: this unit of time has its line */
};

static const char *packet_name(const struct cps_trace_writer *w, const struct cps_event *event)
{
    struct cps_pm4 packet = cps_pm4_decode(event->value);
    const struct cps_names *names = w->names[cps_event_who(event)];
    const char *name = packet.kind == CPS_PM4_TYPE7 && names
                           ? cps_name(names, CPS_SPACE_PACKET, packet.opcode, NULL)
                           : NULL;
    if (name)
        return name;
    return packet.kind == CPS_PM4_TYPE4 ? "type4" : packet.kind == CPS_PM4_TYPE7 ? "type7" : "bad";
}

static void separate(struct cps_trace_writer *w)
{
    struct view *v = w->state;
    cps_buf_str(&w->buf, v->any ? ",\n" : "\n");
    v->any = true;
}

static void end_slice(struct cps_trace_writer *w, unsigned who)
{
    struct view *v = w->state;
    if (!v->open[who])
        return;
    v->open[who] = false;
    separate(w);
    cps_buf_printf(&w->buf, "{\"ph\":\"E\",\"pid\":1,\"tid\":%u,\"ts\":%" PRIu64 "}", who + 1,
                   w->count);
}

/* A packet is a slice that lasts to the next one of its processor; the rest are instants in it. */
static void perfetto_event(struct cps_trace_writer *w, const struct cps_event *event)
{
    struct view *v = w->state;
    unsigned kind = cps_event_kind(event);
    unsigned who = cps_event_who(event);
    if (kind == CPS_EV_PKT) {
        end_slice(w, who);
        separate(w);
        cps_buf_printf(&w->buf,
                       "{\"ph\":\"B\",\"pid\":1,\"tid\":%u,\"ts\":%" PRIu64 ",\"name\":\"%s\","
                       "\"args\":{\"level\":\"%s\",\"iova\":\"0x%" PRIx64
                       "\",\"header\":\"0x%08" PRIx32 "\",\"pc\":\"0x%04" PRIx32 "\"}}",
                       who + 1, w->count, packet_name(w, event),
                       cps_event_sub_word(kind, cps_event_sub(event)), event->addr, event->value,
                       cps_event_pc(event));
        v->open[who] = true;
        return;
    }
    separate(w);
    cps_buf_printf(&w->buf,
                   "{\"ph\":\"i\",\"s\":\"t\",\"pid\":1,\"tid\":%u,\"ts\":%" PRIu64
                   ",\"name\":\"%s\",\"args\":{\"addr\":\"0x%" PRIx64 "\",\"value\":\"0x%08" PRIx32
                   "\",\"pc\":\"0x%04" PRIx32 "\"}}",
                   who + 1, w->count, cps_event_keyword(kind), event->addr, event->value,
                   cps_event_pc(event));
}

/* The processors of the machine that the trace is of. */
static bool is_script(const struct cps_trace_writer *w)
{
    return !cps_gen_is_afuc(w->head->gen);
}
static bool takes_part(const struct cps_trace_writer *w, unsigned who)
{
    if (!is_script(w))
        return who < CPS_CPU_NONE;
    if (!cps_isa_has_code(cps_gen_isa(w->head->gen)))
        return who == CPS_CPU_HOST || who == CPS_CPU_PFIFO;
    if (cps_gen_isa(w->head->gen) == &cps_isa_vp1)
        return who == CPS_CPU_HOST || who == CPS_CPU_VP1;
    return who >= CPS_CPU_HOST && who <= CPS_CPU_SEQ;
}

static void put_thread(struct cps_trace_writer *w, unsigned who, const char *name)
{
    separate(w);
    cps_buf_printf(&w->buf,
                   "{\"ph\":\"M\",\"pid\":1,\"tid\":%u,\"name\":\"thread_name\",\"args\":{"
                   "\"name\":\"%s\"}}",
                   who + 1, name);
}

static void perfetto_end(struct cps_trace_writer *w)
{
    for (unsigned who = 0; who < CPS_CPU_COUNT; who++)
        end_slice(w, who);
    cps_buf_str(&w->buf, "\n]}\n");
}

struct cps_err *cps_perfetto_write_(struct cps_trace_writer *writer)
{
    writer->state = calloc(1, sizeof(struct view));
    if (!writer->state)
        return cps_err_nomem();
    writer->event = perfetto_event;
    writer->end = perfetto_end;
    cps_buf_str(&writer->buf, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    for (unsigned who = 0; who < CPS_CPU_COUNT; who++) {
        if (takes_part(writer, who))
            put_thread(writer, who, cps_processor_name(who));
    }
    put_thread(writer, CPS_CPU_NONE, "submissions");
    return NULL;
}

/* Signals of one processor; the letter of the identifier, then the processor's digit. */
static const struct signal {
    char letter;
    unsigned bits;
    const char *name;
} signals[] = {
    {'p', 20, "pc"},    {'h', 32, "header"},   {'l', 3, "level"},     {'r', 18, "reg"},
    {'v', 32, "value"}, {'a', 64, "mem_addr"}, {'d', 32, "mem_data"},
};

static void change(struct cps_trace_writer *w, char letter, unsigned who, uint64_t value)
{
    struct view *v = w->state;
    char bits[65];
    unsigned at = 64;
    if (!v->stamped)
        cps_buf_printf(&w->buf, "#%" PRIu64 "\n", w->ticking ? w->tick : w->count);
    v->stamped = true;
    bits[at] = '\0';
    do {
        bits[--at] = (char)('0' + (value & 1));
        value >>= 1;
    } while (value);
    cps_buf_printf(&w->buf, "b%s %c%u\n", bits + at, letter, who);
}

static void vcd_event(struct cps_trace_writer *w, const struct cps_event *event)
{
    struct view *v = w->state;
    unsigned who = cps_event_who(event);
    v->stamped = false;
    if (!takes_part(w, who))
        return;
    change(w, 'p', who, cps_event_pc(event));
    switch (cps_event_kind(event)) {
    case CPS_EV_PKT:
        change(w, 'h', who, event->value);
        change(w, 'l', who, cps_event_sub(event));
        break;
    case CPS_EV_REG:
    case CPS_EV_METHOD:
        change(w, 'r', who, event->addr & (is_script(w) ? UINT32_MAX : 0x3ffff));
        change(w, 'v', who, event->value);
        break;
    case CPS_EV_MEMW:
        change(w, 'a', who, event->addr);
        change(w, 'd', who, event->value);
        break;
    default:
        break;
    }
}

struct cps_err *cps_vcd_write_(struct cps_trace_writer *writer)
{
    writer->state = calloc(1, sizeof(struct view));
    if (!writer->state)
        return cps_err_nomem();
    writer->event = vcd_event;
    cps_buf_str(&writer->buf, "$comment cpscope: one unit of time is one event $end\n"
                              "$timescale 1 ns $end\n");
    for (unsigned who = 0; who < CPS_CPU_COUNT; who++) {
        if (!takes_part(writer, who))
            continue;
        cps_buf_printf(&writer->buf, "$scope module %s $end\n", cps_processor_name(who));
        for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
            cps_buf_printf(&writer->buf, "$var wire %u %c%u %s $end\n",
                           signals[i].letter == 'r' && is_script(writer) ? 32 : signals[i].bits,
                           signals[i].letter, who, signals[i].name);
        cps_buf_str(&writer->buf, "$upscope $end\n");
    }
    cps_buf_str(&writer->buf, "$enddefinitions $end\n");
    return NULL;
}
