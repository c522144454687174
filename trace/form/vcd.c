/* SPDX-License-Identifier: MIT
 * Value change dumps for viewers of waves (IEEE 1364-2005, 18.2), written only. What is declared in
 * front depends on who took part, so the changes wait in a file of their own. Names of packets are
 * variables of type string, which GTKWave has beside the standard: "s", the text, its identifier.
 */
#include <inttypes.h>
#include <string.h>

#include "isa/base/pm4.h"
#include "trace/form/forms.h"

#define FLUSH_BYTES 65536u

/* Signals of one processor; the letter of the identifier, then the processor's number. */
enum signal { PC, HEADER, LEVEL, REGISTER, VALUE, ADDRESS, DATA, SIGNALS };
static const struct kind {
    char letter;
    unsigned bits;
    const char *name;
} signals[SIGNALS] = {
    [PC] = {'p', 32, "pc"},         [HEADER] = {'h', 32, "header"},
    [LEVEL] = {'l', 3, "level"},    [REGISTER] = {'r', 32, "reg"},
    [VALUE] = {'v', 32, "value"},   [ADDRESS] = {'a', 64, "mem_addr"},
    [DATA] = {'d', 32, "mem_data"},
};

struct processor {
    bool there;
    bool known[SIGNALS];
    uint64_t last[SIGNALS];
    uint32_t packet; /* whose name is shown */
    bool named;
};

struct view {
    struct cps_spool spool;
    struct cps_buf body;
    struct processor processor[CPS_CPU_COUNT];
    uint64_t time;
    bool timed;   /* something has a time */
    bool stamped; /* this unit of time has its line */
};

/* Time never goes back: events in front of the first TICK are at its time. */
static void stamp(struct cps_trace_writer *w)
{
    struct view *v = w->state;
    uint64_t now = w->ticking ? w->tick : w->count;
    if (v->stamped)
        return;
    v->stamped = true;
    if (v->timed && now <= v->time)
        return;
    v->timed = true;
    v->time = now;
    cps_buf_printf(&v->body, "#%" PRIu64 "\n", now);
}

static void put_bits(struct cps_buf *out, uint64_t value)
{
    char bits[65];
    unsigned at = 64;
    bits[at] = '\0';
    do {
        bits[--at] = (char)('0' + (value & 1));
        value >>= 1;
    } while (value);
    cps_buf_printf(out, "b%s ", bits + at);
}

static void change(struct cps_trace_writer *w, unsigned who, enum signal signal, uint64_t value)
{
    struct view *v = w->state;
    struct processor *p = &v->processor[who];
    if (p->known[signal] && p->last[signal] == value)
        return;
    p->known[signal] = true;
    p->last[signal] = value;
    stamp(w);
    put_bits(&v->body, value);
    cps_buf_printf(&v->body, "%c%u\n", signals[signal].letter, who);
}

/* Blanks end a value. */
static void put_text(struct cps_buf *out, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c <= ' ' || c >= 0x7f || c == '\\')
            cps_buf_printf(out, "\\x%02x", c);
        else
            cps_buf_add(out, text, 1);
    }
}

static void change_packet(struct cps_trace_writer *w, const struct cps_event *event)
{
    struct view *v = w->state;
    unsigned who = cps_event_who(event);
    struct processor *p = &v->processor[who];
    const char *name = cps_named_packet_(cps_named_by_(w, event), event->value);
    struct cps_pm4 packet = cps_pm4_decode_any(event->value);
    change(w, who, HEADER, event->value);
    change(w, who, LEVEL, cps_event_sub(event));
    if (p->named && p->packet == event->value)
        return;
    p->named = true;
    p->packet = event->value;
    stamp(w);
    cps_buf_str(&v->body, packet.kind == CPS_PM4_TYPE4 ? "stype4:" : "s");
    if (name)
        put_text(&v->body, name);
    else if (packet.kind == CPS_PM4_TYPE4)
        cps_buf_printf(&v->body, "0x%04" PRIx32, packet.reg);
    else
        cps_buf_printf(&v->body, "0x%08" PRIx32, event->value);
    cps_buf_printf(&v->body, " n%u\n", who);
}

static void change_all(struct cps_trace_writer *w, const struct cps_event *event)
{
    struct view *v = w->state;
    unsigned who = cps_event_who(event);
    unsigned kind = cps_event_kind(event);
    change(w, who, PC, cps_event_pc(event));
    if (kind == CPS_EV_PKT)
        change_packet(w, event);
    for (size_t i = 0; kind == CPS_EV_REG && i < w->signals; i++) { /* those asked for */
        if (w->signal[i].number != cps_event_place(event))
            continue;
        stamp(w);
        put_bits(&v->body, event->value);
        cps_buf_printf(&v->body, "R%zu\n", i);
    }
    if (kind == CPS_EV_REG || kind == CPS_EV_METHOD) {
        change(w, who, REGISTER, cps_event_place(event) & UINT32_MAX);
        change(w, who, VALUE, event->value);
    } else if (kind == CPS_EV_MEMW) {
        change(w, who, ADDRESS, event->addr);
        change(w, who, DATA, event->value);
    }
}

static void write_event(struct cps_trace_writer *w, const struct cps_event *event)
{
    struct view *v = w->state;
    unsigned who = cps_event_who(event);
    v->stamped = false;
    if (who == CPS_CPU_NONE || who >= CPS_CPU_COUNT)
        return;
    v->processor[who].there = true;
    change_all(w, event);
    if (v->body.size < FLUSH_BYTES && !v->body.failed)
        return;
    cps_spool_write_(&v->spool, cps_buf_text(&v->body), v->body.size);
    w->lost = w->lost || v->body.failed;
    cps_buf_clear(&v->body);
}

/* A dot would be a scope and brackets bits: RB_MRT[0].CONTROL is RB_MRT_0_CONTROL. */
static void declare_chosen(struct cps_trace_writer *w)
{
    struct cps_buf *out = &w->buf;
    if (w->signals)
        cps_buf_str(out, "$scope module registers $end\n");
    for (size_t i = 0; i < w->signals; i++) {
        cps_buf_printf(out, "$var wire 32 R%zu ", i);
        for (const char *c = w->signal[i].name; *c; c++) {
            bool plain =
                strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_", *c);
            if (plain)
                cps_buf_add(out, c, 1);
            else if (*c != ']')
                cps_buf_str(out, "_");
        }
        cps_buf_str(out, " $end\n");
    }
    if (w->signals)
        cps_buf_str(out, "$upscope $end\n");
}

static void end(struct cps_trace_writer *w)
{
    struct view *v = w->state;
    cps_buf_printf(&w->buf, "$comment cpscope: one unit of time is one %s $end\n",
                   w->ticking ? "tick" : "event");
    cps_buf_str(&w->buf, "$timescale 1 ns $end\n");
    for (unsigned who = 0; who < CPS_CPU_COUNT; who++) {
        if (!v->processor[who].there)
            continue;
        cps_buf_printf(&w->buf, "$scope module %s $end\n", cps_processor_name(who));
        for (unsigned i = 0; i < SIGNALS; i++)
            cps_buf_printf(&w->buf, "$var wire %u %c%u %s $end\n", signals[i].bits,
                           signals[i].letter, who, signals[i].name);
        cps_buf_printf(&w->buf, "$var string 1 n%u packet $end\n$upscope $end\n", who);
    }
    declare_chosen(w);
    cps_buf_str(&w->buf, "$enddefinitions $end\n");
    cps_buf_str(&w->buf, "$dumpvars\n");
    for (unsigned who = 0; who < CPS_CPU_COUNT; who++) {
        for (unsigned i = 0; v->processor[who].there && i < SIGNALS; i++)
            cps_buf_printf(&w->buf, "bx %c%u\n", signals[i].letter, who);
    }
    for (size_t i = 0; i < w->signals; i++)
        cps_buf_printf(&w->buf, "bx R%zu\n", i);
    cps_buf_str(&w->buf, "$end\n");
    w->lost = w->lost || w->buf.failed || v->body.failed;
    cps_outfile_write(w->out, cps_buf_text(&w->buf), w->buf.size);
    cps_buf_clear(&w->buf);
    w->failure = cps_spool_copy_(&v->spool, w->out);
    cps_outfile_write(w->out, cps_buf_text(&v->body), v->body.size);
}

static void free_view(void *state)
{
    struct view *v = state;
    cps_spool_close_(&v->spool);
    cps_buf_deinit(&v->body);
}

struct cps_err *cps_vcd_write_(struct cps_trace_writer *writer)
{
    struct view *v = calloc(1, sizeof(*v));
    if (!v)
        return cps_err_nomem();
    struct cps_err *err = cps_spool_open_(&v->spool);
    if (err) {
        free(v);
        return err;
    }
    cps_spool_forget_(&v->spool);
    writer->state = v;
    writer->event = write_event;
    writer->end = end;
    writer->deinit = free_view;
    return NULL;
}
