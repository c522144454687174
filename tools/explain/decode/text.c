/* SPDX-License-Identifier: MIT
 * Packets as people read them: a line for the header, one for each word that means something, and
 * below its effects. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "isa/base/pm4.h"
#include "tools/explain/decode/decode.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/cmd/terminal/paint.h"
#include "trace/form/text.h"
#include "trace/form/words.h"

#define WORDS_IN_ROW 8 /* of words without a name */

/* The words of a packet on their way. */
struct lines {
    struct decode_text *text;
    const struct decode_packet *packet;
    struct cps_buf line; /* of the word that is open */
    bool has_value;      /* it means something */
    bool is_taken;       /* it is to be shown */
    unsigned row;        /* words without a meaning in the line */
};

/* Words are below the header. */
static void indent_word(struct decode_text *t, const struct decode_packet *p)
{
    cps_buf_printf(&t->out, "%*s", (int)(2 * p->depth + (t->has_processors ? 23 : 18)), "");
}

/* ---- Words ---- */

static void end_row(struct lines *l)
{
    if (l->row)
        cps_buf_str(&l->text->out, "\n");
    l->row = 0;
}

static void begin_word(void *context, const struct cps_event *word)
{
    struct lines *l = context;
    struct decode_text *t = l->text;
    struct cps_pm4 pm4 = cps_pm4_decode_any(l->packet->head.value);
    uint32_t value = word->value;
    cps_buf_clear(&l->line);
    l->has_value = false;
    l->is_taken = pm4.kind != CPS_PM4_TYPE4 ||
                  decode_filter_register(t->filter, t->names[cps_event_who(word)],
                                         pm4.reg + (uint32_t)word->addr, &value);
}

static void put_value(void *context, const struct cps_value *value)
{
    struct lines *l = context;
    size_t before = l->line.size;
    cps_buf_str(&l->line, " ");
    if (cps_value_line(value, &l->line)) {
        l->has_value = true;
        cps_buffers_put_value(*l->text->buffers, CPS_BUFFERS_END, value, &l->line);
    } else {
        l->line.size = before;
    }
}

static void end_word(void *context, const struct cps_event *word)
{
    struct lines *l = context;
    struct decode_text *t = l->text;
    if (!l->is_taken)
        return;
    if (l->has_value || l->row == WORDS_IN_ROW)
        end_row(l);
    if (!l->row)
        indent_word(t, l->packet);
    cps_buf_str(&t->out, l->row ? " " : "");
    paint_begin(&t->out, t->colour, PAINT_VALUE);
    cps_buf_printf(&t->out, "%08" PRIx32, word->value);
    paint_end(&t->out, t->colour);
    if (l->has_value) {
        cps_buf_str(&t->out, " ");
        cps_buf_add(&t->out, cps_buf_text(&l->line), l->line.size);
    }
    l->row++;
    if (l->has_value)
        end_row(l);
}

static void put_words(struct decode_text *t, const struct decode_packet *p)
{
    struct lines lines = {.text = t, .packet = p};
    const struct cps_words_form form = {begin_word, put_value, end_word, &lines};
    decode_packet_words(p, t->names[cps_event_who(&p->head)], &form);
    end_row(&lines);
    tool_text(&lines.line);
    cps_buf_deinit(&lines.line);
}

/* ---- Effects ---- */

static void put_register(struct decode_text *t, const struct cps_names *names,
                         const struct cps_event *event)
{
    unsigned half = 0;
    uint32_t number = (uint32_t)cps_event_place(event);
    const char *name = cps_name(names, CPS_SPACE_GPU, number, &half);
    cps_buf_printf(&t->out, "0x%04" PRIx32 " %s%s%s= 0x%08" PRIx32 " ", number, name ? name : "",
                   name && half ? "+1" : "", name ? " " : "", event->value);
    cps_name_fields(names, CPS_SPACE_GPU, number, event->value, &t->out);
    if (cps_event_pc(event)) /* without firmware there is none */
        cps_buf_printf(&t->out, " pc=0x%04" PRIx32, cps_event_pc(event));
    cps_buf_str(&t->out, "\n");
}

static void put_effect(struct decode_text *t, const struct decode_packet *p,
                       const struct cps_event *event)
{
    const struct cps_names *names = t->names[cps_event_who(event)];
    unsigned kind = cps_event_kind(event);
    indent_word(t, p);
    paint_begin(&t->out, t->colour, PAINT_CHANGE);
    cps_buf_str(&t->out, "> ");
    paint_end(&t->out, t->colour);
    if (kind == CPS_EV_REG) {
        put_register(t, names, event);
    } else if (t->walk) {
        cps_buf_printf(&t->out, "%s 0x%" PRIx64 "\n",
                       event->value == STREAM_TOO_DEEP ? "indirect buffers are nested too deep at"
                                                       : "missing from the capture:",
                       event->addr);
    } else {
        cps_text_event(&t->out, event, names, false);
        if ((kind != CPS_EV_MEMR && kind != CPS_EV_MEMW) || !t->out.size)
            return;
        t->out.data[--t->out.size] = '\0'; /* the line break is after the buffer */
        cps_buffers_put(*t->buffers, CPS_BUFFERS_END, event->addr, &t->out);
        cps_buf_str(&t->out, "\n");
    }
}

static void put_effects(struct decode_text *t, const struct decode_packet *p)
{
    size_t written = 0, words = p->words.count;
    const struct cps_names *names = t->names[cps_event_who(&p->head)];
    struct cps_pm4 pm4 = cps_pm4_decode_any(p->head.value);
    for (size_t i = 0; i < p->effects; i++) {
        const struct cps_event *e = &p->effect[i];
        uint32_t number = (uint32_t)cps_event_place(e);
        bool is_write = cps_event_kind(e) == CPS_EV_REG;
        /* the write that a packet of type 4 contains */
        bool is_own = is_write && pm4.kind == CPS_PM4_TYPE4 && number >= pm4.reg &&
                      number - pm4.reg < words && p->words.value[number - pm4.reg] == e->value;
        written += is_own;
        if ((!is_own || (t->all && !t->walk)) &&
            (!is_write || decode_filter_register(t->filter, names, number, &e->value)))
            put_effect(t, p, e);
    }
    bool passes_on = cps_event_who(&p->head) == CPS_CPU_PFP; /* the ME writes */
    if (pm4.kind == CPS_PM4_TYPE4 && !t->walk && !passes_on && written < words) {
        indent_word(t, p);
        cps_buf_printf(&t->out, "> %zu of %zu not written with the stream's values\n",
                       words - written, words);
    }
}

/* ---- Headers ---- */

static void put_head(struct decode_text *t, unsigned indent_by, const char *what, uint32_t number,
                     const char *end)
{
    cps_buf_printf(&t->out, "%*s", (int)indent_by, "");
    paint_begin(&t->out, t->colour, PAINT_HEAD);
    cps_buf_printf(&t->out, "%s %" PRIu32 "%s\n", what, number, end);
    paint_end(&t->out, t->colour);
}

/* What contains the packet: lines where that changes. Below "up to draw N:" everything leads to
 * that draw, up to the draw itself. */
static void put_heads(struct decode_text *t, const struct decode_packet *p)
{
    if (t->submission != p->submission + 1) {
        t->submission = p->submission + 1;
        t->draw = 0;
        put_head(t, 0, "submission", p->submission, "");
    }
    if (t->draw != (uint64_t)p->draw + 1) {
        t->draw = (uint64_t)p->draw + 1;
        put_head(t, 0, "up to draw", p->draw, ":");
    }
    if (p->is_first && p->group >= 0)
        put_head(t, 2 * p->depth, "draw-state group", (uint32_t)p->group, ":");
    if (p->starts != CPS_LAUNCH_NONE)
        put_head(t, 2 * p->depth, cps_launch_kind_text_(p->starts), p->draw, ":");
    if (t->walk && t->walk->next && p->head.addr == t->walk->next)
        cps_buf_str(&t->out, "next read position of the ring:\n");
}

static void put_name(struct decode_text *t, const struct decode_packet *p)
{
    struct cps_pm4 pm4 = cps_packet_header_(&p->head);
    const struct cps_names *names = t->names[cps_event_who(&p->head)];
    unsigned half = 0;
    paint_begin(&t->out, t->colour, PAINT_NAME);
    if (pm4.kind == CPS_PM4_TYPE4) {
        const char *name = cps_name(names, CPS_SPACE_GPU, pm4.reg, &half);
        cps_buf_printf(&t->out, "write %s%s", name ? name : "", half ? "+1" : "");
        if (!name)
            cps_buf_printf(&t->out, "0x%04" PRIx32, pm4.reg);
    } else if (pm4.kind == CPS_PM4_TYPE7 && p->name) {
        cps_buf_str(&t->out, p->name);
    } else if (pm4.kind == CPS_PM4_TYPE7) {
        cps_buf_printf(&t->out, "packet 0x%02" PRIx32, pm4.opcode);
    }
    paint_end(&t->out, t->colour);
    if (pm4.kind == CPS_PM4_BAD)
        cps_buf_str(&t->out, "not a valid packet header");
    else if (p->words.count < pm4.count && cps_event_sub(&p->head) != CPS_LEVEL_INT)
        cps_buf_printf(&t->out, "  (%zu of %" PRIu32 " words)", p->words.count, pm4.count);
}

void decode_text_packet(struct decode_text *t, const struct decode_packet *p)
{
    put_heads(t, p);
    cps_buf_printf(&t->out, "%*s", (int)(2 * p->depth), "");
    if (t->has_processors)
        cps_buf_printf(&t->out, "%-4s ", cps_processor_name(cps_event_who(&p->head)));
    cps_buf_printf(&t->out, "%-3s ", cps_event_sub_word(CPS_EV_PKT, cps_event_sub(&p->head)));
    paint_begin(&t->out, t->colour, PAINT_FAINT);
    cps_buf_printf(&t->out, "%012" PRIx64 ": ", p->head.addr);
    paint_end(&t->out, t->colour);
    cps_buf_printf(&t->out, "%08" PRIx32 " ", p->head.value);
    put_name(t, p);
    cps_buf_str(&t->out, "\n");
    put_words(t, p);
    put_effects(t, p);
}
