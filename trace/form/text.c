/* SPDX-License-Identifier: MIT
 * The text form of a trace: event.def's columns, then commentary behind `;`. */
#include "trace/form/text.h"

#include <inttypes.h>
#include <string.h>

#include "trace/form/forms.h"
#include "isa/base/pm4.h"

static void put_decimal(struct cps_buf *out, uint64_t value)
{
    char text[20];
    unsigned at = sizeof(text);
    do {
        text[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    cps_buf_add(out, text + at, sizeof(text) - at);
}

static void put_registers(struct cps_buf *out, const struct cps_event *event)
{
    uint64_t values = event->addr;
    bool first = true;
    for (unsigned reg = 0; reg < 32; reg++) {
        if (!(event->value >> reg & 1))
            continue;
        const char digits[] = "0123456789abcdef";
        const char name[] = {' ', '$', digits[reg >> 4], digits[reg & 15], '='};
        cps_buf_add(out, name + first, sizeof(name) - first);
        cps_buf_hex(out, values & 0xffffffff, 8);
        values >>= 32;
        first = false;
    }
    if (first)
        cps_buf_str(out, "-");
}

static void put_column(struct cps_buf *out, const struct cps_event *event, char column)
{
    switch (column) {
    case 'n':
        put_decimal(out, event->value);
        break;
    case 'a':
        cps_buf_hex(out, event->addr, 16);
        break;
    case 'v':
        cps_buf_hex(out, event->value, 8);
        break;
    case 'o':
        cps_buf_hex(out, event->addr & 0xffffffff, 4);
        break;
    case 's':
        cps_buf_str(out, cps_event_sub_word(cps_event_kind(event), cps_event_sub(event)));
        break;
    case 'p':
        put_decimal(out, cps_event_pc(event));
        break;
    case 'q':
        put_decimal(out, event->addr);
        break;
    case 'c':
        cps_buf_hex(out, cps_event_pc(event), 4);
        break;
    default:
        put_registers(out, event);
    }
}

static void put_name(struct cps_buf *out, const struct cps_names *names, enum cps_space space,
                     uint32_t number)
{
    unsigned index = 0;
    const char *name = cps_name(names, space, number, &index);
    if (!name)
        return;
    cps_buf_add(out, " ", 1);
    cps_buf_str(out, name);
    if (index)
        cps_buf_printf(out, "+0x%x", index);
}

static void comment_packet(struct cps_buf *out, const struct cps_names *names,
                           const struct cps_event *event)
{
    struct cps_pm4 packet = cps_packet_header_(event);
    if (packet.kind == CPS_PM4_TYPE7) {
        put_name(out, names, CPS_SPACE_PACKET, packet.opcode);
    } else if (packet.kind == CPS_PM4_TYPE4) {
        cps_buf_str(out, " type4");
        put_name(out, names, CPS_SPACE_GPU, packet.reg);
        cps_buf_add(out, " x", 2);
        put_decimal(out, packet.count);
    } else {
        cps_buf_str(out, " malformed");
    }
}

static void comment_register(struct cps_buf *out, const struct cps_names *names,
                             enum cps_space space, const struct cps_event *event)
{
    put_name(out, names, space, (uint32_t)event->addr);
    size_t before = out->size;
    cps_buf_add(out, " ", 1);
    cps_name_fields(names, space, (uint32_t)event->addr, event->value, out);
    if (out->size == before + 1)
        out->data[--out->size] = '\0';
}

static void comment_place(struct cps_buf *out, const struct cps_names *names,
                          const struct cps_event *event)
{
    uint32_t number = (uint32_t)event->addr;
    if (cps_event_sub(event) == CPS_PLACE_GPU)
        put_name(out, names, CPS_SPACE_GPU, number);
    else if (cps_event_sub(event) == CPS_PLACE_CONTROL)
        put_name(out, names, CPS_SPACE_CONTROL, number);
    else if (cps_event_sub(event) == CPS_PLACE_PIPE)
        put_name(out, names, CPS_SPACE_PIPE, number);
}

static void put_comment(struct cps_buf *out, const struct cps_event *event,
                        const struct cps_names *names)
{
    unsigned kind = cps_event_kind(event);
    enum cps_space space = cps_event_space_(kind);
    if (kind == CPS_EV_PKT)
        comment_packet(out, names, event);
    else if (space != CPS_SPACE_COUNT)
        comment_register(out, names, space, event);
    else if (kind == CPS_EV_UNMODELLED)
        comment_place(out, names, event);
    if (cps_event_unknown(event))
        cps_buf_printf(out, " %s", cps_event_unknown(event));
}

/* a5xx: the context bank that the register was written in, bit 32 of the offset. a7xx on: the pipe
 * that an aperture showed. */
static void put_bank(struct cps_buf *out, const struct cps_event *event)
{
    if (!cps_event_has_bank_(cps_event_kind(event)))
        return;
    if (event->addr >> 32 & 1)
        cps_buf_str(out, " bank=1");
    if (event->addr >> CPS_PIPE_SHIFT_)
        cps_buf_printf(out, " pipe=%u", (unsigned)(event->addr >> CPS_PIPE_SHIFT_));
}

/* Whose event, which, and its columns: what a reader takes. */
static void put_columns(struct cps_buf *out, const struct cps_event *event, bool with_processor)
{
    unsigned kind = cps_event_kind(event);
    if (with_processor && cps_event_who(event) != CPS_CPU_NONE) {
        cps_buf_str(out, cps_processor_name(cps_event_who(event)));
        cps_buf_add(out, " ", 1);
    }
    cps_buf_str(out, cps_event_keyword(kind));
    for (const char *column = cps_event_columns_(kind); *column; column++) {
        cps_buf_add(out, " ", 1);
        put_column(out, event, *column);
    }
}

static void put_pc(struct cps_buf *out, const struct cps_event *event)
{
    cps_buf_add(out, " pc=", 4);
    cps_buf_hex(out, cps_event_pc(event), 4);
}

/* The program counter is commentary: shifted code is no difference in behaviour. It stands last,
 * in a form that a reader can take back; in front of it the time, where it is known. */
static void put_event(struct cps_buf *out, const struct cps_event *event,
                      const struct cps_names *names, bool with_processor, const uint64_t *tick)
{
    unsigned kind = cps_event_kind(event);
    bool from_core = cps_event_who(event) != CPS_CPU_NONE;
    if (kind >= CPS_EV_COUNT)
        return;
    put_columns(out, event, with_processor);
    if (from_core && kind != CPS_EV_STEP && kind != CPS_EV_STEPX) {
        cps_buf_add(out, " ;", 2);
        if (names)
            put_comment(out, event, names);
        if (tick)
            cps_buf_printf(out, " tick=%" PRIu64, *tick);
        put_bank(out, event);
        put_pc(out, event);
    }
    cps_buf_add(out, "\n", 1);
}

void cps_text_event(struct cps_buf *out, const struct cps_event *event,
                    const struct cps_names *names, bool with_processor)
{
    put_event(out, event, names, with_processor, NULL);
}

static void begin_word(void *context, const struct cps_event *word)
{
    struct cps_trace_writer *w = context;
    put_columns(&w->buf, word, w->head->with_processor);
    cps_buf_add(&w->buf, " ;", 2);
}

static void put_word_value(void *context, const struct cps_value *value)
{
    struct cps_trace_writer *w = context;
    size_t before = w->buf.size;
    cps_buf_add(&w->buf, " ", 1);
    if (!cps_value_line(value, &w->buf) && w->buf.size > before)
        w->buf.data[--w->buf.size] = '\0';
}

static void end_word(void *context, const struct cps_event *word)
{
    struct cps_trace_writer *w = context;
    put_pc(&w->buf, word);
    cps_buf_add(&w->buf, "\n", 1);
}

static void write_event(struct cps_trace_writer *w, const struct cps_event *event)
{
    if (!cps_words_wait_(w, event))
        put_event(&w->buf, event, cps_named_by_(w, event), w->head->with_processor,
                  w->ticking ? &w->tick : NULL);
}

static void put_head(struct cps_trace_writer *w)
{
    cps_buf_str(&w->buf, w->head->text);
}

struct cps_err *cps_text_write_(struct cps_trace_writer *writer)
{
    writer->on_words.begin = begin_word;
    writer->on_words.value = put_word_value;
    writer->on_words.end = end_word;
    writer->put_head = put_head;
    writer->event = write_event;
    writer->end = cps_words_flush_;
    return NULL;
}
