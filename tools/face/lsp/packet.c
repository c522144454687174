/* SPDX-License-Identifier: MIT
 * Packets: what their words are, and what those of a line of PM4 text hold. */
#include <inttypes.h>
#include <string.h>

#include "isa/base/le.h"
#include "isa/base/pm4.h"
#include "tools/face/lsp/private.h"
#include "trace/capture/formats.h"

/* Lines of one hover. */
enum { MOST_LINES = 64 };

struct lines {
    const struct lsp *lsp;
    struct cps_buf *out;
    unsigned count;
    const struct cps_names *names; /* of the shape of a packet */
    uint32_t opcode;
};

static void put_line(struct lines *lines, const struct cps_buf *text)
{
    if (lines->count++ < MOST_LINES)
        lsp_put_code(lines->lsp, lines->out, cps_buf_text(text));
    lines->out->failed |= text->failed;
}

/* ---- the words of any packet of an opcode ---- */

enum { WORDS = 16 };

struct spelt {
    const struct cps_value *field;
    struct cps_buf *out;
};

static void put_spelt(void *context, const struct cps_value *value)
{
    const struct spelt *s = context;
    bool is_it = value->number == s->field->number && value->low == s->field->low &&
                 value->high == s->field->high;
    if (is_it && value->text && value->bits)
        cps_buf_printf(s->out, " %" PRIu64 "=%s", value->bits, value->text);
}

/* Names of a small field's values. */
static void put_values(const struct lines *lines, const struct cps_value *value,
                       struct cps_buf *out)
{
    enum { WIDEST = 5 };
    struct spelt spelt = {value, out};
    unsigned width = (unsigned)value->high - value->low + 1;
    if (value->number >= WORDS || value->high > 31 || width > WIDEST)
        return;
    if (value->text)
        cps_buf_printf(out, " 0=%s", value->text);
    for (uint32_t i = 1; i < UINT32_C(1) << width && width > 1; i++) {
        uint32_t words[WORDS] = {0};
        words[value->number] = i << value->low;
        cps_packet_values(lines->names, lines->opcode, words, WORDS, put_spelt, &spelt);
    }
}

static void put_shape(void *context, const struct cps_value *value)
{
    struct lines *lines = context;
    CPS_BUF text = {0};
    if (!value->name || (!*value->name && !value->word)) /* bits and words that nothing names */
        return;
    cps_buf_printf(&text, "word %" PRIu32, value->number);
    if (*value->name) {
        cps_buf_printf(&text, " bit %u", value->high);
        if (value->low != value->high)
            cps_buf_printf(&text, ":%u", value->low);
    }
    cps_buf_printf(&text, " %s", *value->name ? value->name : value->word);
    put_values(lines, value, &text);
    put_line(lines, &text);
}

void lsp_mean_packet(struct lsp *l, enum cps_layout layout, const char *word, size_t length,
                     struct cps_buf *out)
{
    static const uint32_t zeros[WORDS];
    const struct cps_names *names = lsp_names(l, layout);
    struct lines lines = {l, out, 0, names, 0};
    uint32_t number = 0;
    if (!names || !cps_name_number(names, CPS_SPACE_PACKET, word, length, &number))
        return;
    lines.opcode = number;
    lsp_put_head(l, out, "%.*s: packet 0x%02" PRIx32, (int)length, word, number);
    cps_packet_values(names, number, zeros, WORDS, put_shape, &lines);
}

/* ---- those of a line ---- */

struct line_sink {
    struct cps_item_sink sink;
    size_t line;
    uint32_t *words;
    size_t count;
};

static struct cps_err *take(struct cps_item_sink *sink, const struct cps_item *item)
{
    struct line_sink *s = (struct line_sink *)sink;
    if (item->kind != CPS_ITEM_DATA || item->line != s->line || s->words || !item->buffer.size)
        return NULL;
    s->count = (size_t)item->buffer.size / 4;
    s->words = malloc(s->count * 4);
    if (!s->words)
        return cps_err_nomem();
    for (size_t i = 0; i < s->count; i++)
        s->words[i] = cps_le32(item->buffer.data + 4 * i);
    return NULL;
}

static void no_error(void *context, unsigned line, size_t column, const char *message)
{
    (void)context;
    (void)line;
    (void)column;
    (void)message;
}

static void put_value(void *context, const struct cps_value *value)
{
    struct lines *lines = context;
    CPS_BUF text = {0};
    cps_buf_printf(&text, "[%" PRIu32 "] ", value->number);
    if (cps_value_line(value, &text))
        put_line(lines, &text);
}

static void put_registers(struct lines *lines, const struct cps_names *names, uint32_t first,
                          const uint32_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        CPS_BUF text = {0};
        unsigned index = 0;
        uint32_t number = first + (uint32_t)i;
        const char *name = cps_name(names, CPS_SPACE_GPU, number, &index);
        cps_buf_printf(&text, "0x%05" PRIx32 " %s%s = 0x%08" PRIx32 " ", number, name ? name : "",
                       name && index ? "+0x1" : "", words[i]);
        cps_name_fields(names, CPS_SPACE_GPU, number, words[i], &text);
        put_line(lines, &text);
    }
}

/* Words as they are (.word) have no meaning of their own. */
static void put_packet(struct lsp *l, const struct cps_names *names, const struct line_sink *s,
                       struct cps_buf *out)
{
    const struct cps_pm4 header = cps_pm4_decode_any(s->words[0]);
    struct lines lines = {.lsp = l, .out = out};
    if (header.count != s->count - 1 || header.kind == CPS_PM4_BAD)
        return;
    if (header.kind == CPS_PM4_TYPE4) {
        lsp_put_head(l, out, "type 4: %" PRIu32 " registers from 0x%" PRIx32, header.count,
                     header.reg);
        put_registers(&lines, names, header.reg, s->words + 1, s->count - 1);
    } else {
        const char *name = cps_name(names, CPS_SPACE_PACKET, header.opcode, NULL);
        lsp_put_head(l, out, "%s: packet 0x%02" PRIx32 ", %" PRIu32 " words", name ? name : "",
                     header.opcode, header.count);
        cps_packet_values(names, header.opcode, s->words + 1, s->count - 1, put_value, &lines);
    }
    if (lines.count > MOST_LINES)
        cps_buf_printf(out, "\nand %u more\n", lines.count - MOST_LINES);
}

struct cps_err *lsp_mean_line(struct lsp *l, const struct lsp_document *d, size_t line,
                              struct cps_buf *out)
{
    const struct cps_names *names = lsp_names(l, d->layout);
    struct line_sink sink = {.sink = {take}, .line = line};
    struct cps_err *err = cps_pm4text_check_(cps_buf_text(&d->text), d->text.size, l->opt.rnn,
                                             no_error, NULL, &sink.sink);
    if (!err && sink.words && names)
        put_packet(l, names, &sink, out);
    free(sink.words);
    return err;
}
