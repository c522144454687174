/* SPDX-License-Identifier: MIT
 * What the word under the cursor means: instructions, registers, numbers and packets by the rows of
 * the tables that the assembler and the emulator are made of. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "isa/base/le.h"
#include "isa/base/lex.h"
#include "isa/base/pm4.h"
#include "isa/sets/syntax.h"
#include "tools/face/lsp/private.h"
#include "trace/capture/formats.h"

/* A line that is a heading. */
static void put_head(const struct lsp *l, struct cps_buf *out, const char *format, ...)
    CPS_PRINTF(3, 4);
static void put_head(const struct lsp *l, struct cps_buf *out, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    cps_buf_printf(out, l->markdown ? "%s**%s**\n\n" : "%s%s\n", out->size ? "\n" : "", text);
}

/* One of code. */
static void put_code(const struct lsp *l, struct cps_buf *out, const struct cps_buf *text)
{
    cps_buf_printf(out, l->markdown ? "- `%s`\n" : "    %s\n", tool_text(text));
}

/* ---- instructions ---- */

static bool is_called(const struct cps_syntax *syntax, const char *word, size_t length)
{
    return strlen(syntax->mnemonic) == length && !memcmp(syntax->mnemonic, word, length);
}

static bool has_slot(const struct cps_isa *isa, unsigned op)
{
    enum cps_flow flow = cps_op_flow(isa, op);
    return (isa == &cps_isa_afuc || isa == &cps_isa_vp1) && flow != CPS_FLOW_NEXT &&
           flow != CPS_FLOW_SKIP && flow != CPS_FLOW_END;
}

static void put_meaning(const struct lsp *l, const struct cps_isa *isa, unsigned op,
                        struct cps_buf *out)
{
    CPS_BUF text = {0};
    enum cps_flow flow = cps_op_flow(isa, op);
    bool is_expression = cps_syntax_meaning_(isa, op, &text);
    bool is_jump = is_expression && flow == CPS_FLOW_JUMP; /* which is always taken */
    const char *lead = !is_expression            ? ""
                       : flow == CPS_FLOW_BRANCH ? "branches if "
                       : flow == CPS_FLOW_CALLIF ? "calls if "
                                                 : "result: ";
    if (!is_jump)
        cps_buf_printf(out, l->markdown ? "\n%s`%s`\n" : "  %s%s\n", lead, tool_text(&text));
    if (!is_jump && *lead && isa == &cps_isa_afuc)
        cps_buf_str(out, "\na and b are the sources in their order.\n");
    if (has_slot(isa, op) && !strstr(cps_buf_text(&text), "delay slot"))
        cps_buf_str(out, "\nThe next instruction is in its delay slot and runs first.\n");
}

static void mean_instruction(const struct lsp *l, enum cps_gen gen, const char *word, size_t length,
                             struct cps_buf *out)
{
    const struct cps_isa *isa = cps_gen_isa(gen);
    struct cps_syntax row;
    unsigned last = 0;
    CPS_BUF others = {0}; /* generations of the set that have the word, too */
    for (size_t i = 0; i < cps_syntax_count_(isa); i++) {
        CPS_BUF text = {0};
        if (!cps_syntax_(isa, gen, i, &row) || !is_called(&row, word, length))
            continue;
        if (last && last != row.op)
            put_meaning(l, isa, last, out);
        if (last != row.op)
            put_head(l, out, "%s, %s", row.mnemonic, cps_gen_name(gen));
        cps_syntax_put_(isa, i, &text);
        put_code(l, out, &text);
        last = row.op;
    }
    if (last) {
        put_meaning(l, isa, last, out);
        return;
    }
    for (enum cps_gen other = CPS_GEN_NONE + 1; other < CPS_GEN_COUNT; other++) {
        bool has = false;
        for (size_t i = 0; cps_gen_isa(other) == isa && i < cps_syntax_count_(isa); i++)
            has |= cps_syntax_(isa, other, i, &row) && is_called(&row, word, length);
        if (has)
            cps_buf_printf(&others, " %s", cps_gen_name(other));
    }
    if (others.size)
        put_head(l, out, "%.*s: not of %s, but of%s", (int)length, word, cps_gen_name(gen),
                 tool_text(&others));
}

/* ---- fields of registers and packets ---- */

enum { WORDS = 16, MOST_LINES = 64 }; /* of a packet; of one hover */

/* What a register is, or the words of any packet of an opcode. */
struct shape {
    struct lsp *lsp;
    const struct cps_names *names;
    enum cps_space space;
    uint32_t number; /* of the register; the opcode */
    struct cps_buf *out;
    unsigned lines;
    const struct cps_value *field; /* whose value's name is asked for */
    const char *text;              /* the answer */
};

static void note_text(void *context, const struct cps_value *value)
{
    struct shape *s = context;
    if (value->low == s->field->low && value->high == s->field->high && value->bits &&
        (s->space != CPS_SPACE_PACKET || value->number == s->field->number))
        s->text = value->text;
}

/* Names of a small field's values. */
static void put_value_names(struct shape *s, const struct cps_value *field, struct cps_buf *out)
{
    bool is_packet = s->space == CPS_SPACE_PACKET;
    unsigned width = (unsigned)field->high - field->low + 1;
    bool is_named = width > 1 || (field->text && !is_packet);
    if (width > (is_packet ? 5 : 4) || field->high > 31 || (is_packet && field->number >= WORDS))
        return;
    if (field->text)
        cps_buf_printf(out, " 0=%s", field->text);
    s->field = field;
    for (uint32_t i = 1; i < UINT32_C(1) << width && is_named; i++) {
        uint32_t words[WORDS] = {0};
        s->text = NULL;
        words[is_packet ? field->number : 0] = i << field->low;
        if (is_packet)
            cps_packet_values(s->names, s->number, words, WORDS, note_text, s);
        else
            cps_name_values(s->names, s->space, s->number, words[0], note_text, s);
        if (s->text && *s->text)
            cps_buf_printf(out, " %" PRIu32 "=%s", i, s->text);
    }
}

/* Bits and words that nothing names are left out. */
static void put_field(void *context, const struct cps_value *value)
{
    struct shape *s = context;
    bool is_packet = s->space == CPS_SPACE_PACKET;
    CPS_BUF text = {0};
    if (!value->name || (!*value->name && !(is_packet && value->word)) ||
        (is_packet && s->lines++ >= MOST_LINES))
        return;
    if (is_packet)
        cps_buf_printf(&text, "word %" PRIu32 "%s", value->number, *value->name ? " bit " : " ");
    if (*value->name)
        cps_buf_printf(&text, "%u", value->high);
    if (*value->name && value->low != value->high)
        cps_buf_printf(&text, ":%u", value->low);
    cps_buf_printf(&text, "%s%s", *value->name ? " " : "",
                   *value->name ? value->name : value->word);
    put_value_names(s, value, &text);
    put_code(s->lsp, s->out, &text);
}

static void mean_packet(struct lsp *l, enum cps_layout layout, const char *word, size_t length,
                        struct cps_buf *out)
{
    static const uint32_t zeros[WORDS];
    struct shape s = {
        .lsp = l, .names = lsp_names(l, layout), .space = CPS_SPACE_PACKET, .out = out};
    if (!s.names || !cps_name_number(s.names, CPS_SPACE_PACKET, word, length, &s.number))
        return;
    put_head(l, out, "%.*s: packet 0x%02" PRIx32, (int)length, word, s.number);
    cps_packet_values(s.names, s.number, zeros, WORDS, put_field, &s);
}

/* ---- registers, numbers ---- */

/* What is known of a control register: a row of ctrl.def or storage.def. */
struct known {
    uint16_t number[CPS_LAYOUT_COUNT];
    unsigned count;
    const char *read, *write, *evidence;
};

enum { NO_NUMBER = 0xffff, SAME_NUMBER = 0xfffe };
#define AS_OR(base, own) ((own) == SAME_NUMBER ? (base) : (own))
/* The .def files' own words for them go out of scope with the files. */
#define NUMBERS(pfp, me, g6, a660, g7, gen3, a8)                                        \
    {                                                                                   \
        [CPS_LAYOUT_A5XX_PFP] = pfp, [CPS_LAYOUT_A5XX_ME] = me, [CPS_LAYOUT_A6XX] = g6, \
        [CPS_LAYOUT_A660] = AS_OR(g6, a660), [CPS_LAYOUT_A7XX] = g7,                    \
        [CPS_LAYOUT_A7XX_GEN3] = gen3, [CPS_LAYOUT_A8XX] = AS_OR(gen3, a8)              \
    }

static const struct known controls[] = {
#define CTRL(id, pfp, me, g6, a660, g7, gen3, a8, n, rd, wr, evidence) \
    {NUMBERS(pfp, me, g6, a660, g7, gen3, a8), n, #rd, #wr, evidence},
#include "emu/afuc/control/ctrl.def"
#define STORAGE(g6, a660, g7, gen3, a8, n, use, evidence) \
    {NUMBERS(NO_NUMBER, NO_NUMBER, g6, a660, g7, gen3, a8), n, #use, NULL, evidence},
#include "emu/afuc/control/storage.def"
};

static const struct {
    uint32_t gens, first, last;
    const char *read, *write, *evidence;
} gpu_registers[] = {
#define GPU_REG(id, gens, first, last, rd, wr, evidence) {gens, first, last, #rd, #wr, evidence},
#include "emu/afuc/control/gpu.def"
};

static void put_known(const char *read, const char *write, const char *evidence,
                      struct cps_buf *out)
{
    cps_buf_printf(out, "\nHere: read %s", read);
    if (write)
        cps_buf_printf(out, ", write %s", write);
    cps_buf_printf(out, ". Evidence %s\n", evidence);
}

static void put_control(enum cps_layout layout, uint32_t number, struct cps_buf *out)
{
    for (size_t i = 0; i < sizeof(controls) / sizeof(controls[0]); i++) {
        const struct known *k = &controls[i];
        if (k->number[layout] != NO_NUMBER && number - k->number[layout] < k->count)
            put_known(k->read, k->write, k->evidence, out);
    }
}

static void put_gpu(enum cps_gen gen, uint32_t number, struct cps_buf *out)
{
    for (size_t i = 0; i < sizeof(gpu_registers) / sizeof(gpu_registers[0]); i++) {
        if (gpu_registers[i].gens & cps_gen_bit(gen) && number >= gpu_registers[i].first &&
            number <= gpu_registers[i].last)
            put_known(gpu_registers[i].read, gpu_registers[i].write, gpu_registers[i].evidence,
                      out);
    }
}

static const char *const space_names[CPS_SPACE_COUNT] = {
    [CPS_SPACE_GPU] = "GPU register", [CPS_SPACE_CONTROL] = "control register",
    [CPS_SPACE_SQE] = "SQE register", [CPS_SPACE_PIPE] = "pipe register",
    [CPS_SPACE_PACKET] = "packet",    [CPS_SPACE_EVENT] = "event",
    [CPS_SPACE_FLAG] = "flag"};

static void mean_register(struct lsp *l, enum cps_layout layout, enum cps_space space,
                          const char *word, size_t length, struct cps_buf *out)
{
    struct shape s = {.lsp = l, .names = lsp_names(l, layout), .space = space, .out = out};
    enum cps_gen gen = cps_layout_gen(layout);
    if (!s.names || !cps_name_number(s.names, space, word, length, &s.number))
        return;
    put_head(l, out, "%.*s: %s 0x%03" PRIx32, (int)length, word, space_names[space], s.number);
    if (!cps_name_values64(s.names, space, s.number, 0, put_field, &s))
        cps_name_values(s.names, space, s.number, 0, put_field, &s);
    if (space == CPS_SPACE_CONTROL && cps_gen_is_afuc(gen))
        put_control(layout, s.number, out);
    if (space == CPS_SPACE_GPU && cps_gen_is_afuc(gen))
        put_gpu(gen, s.number, out);
}

static void mean_number(struct lsp *l, enum cps_layout layout, const char *word, size_t length,
                        struct cps_buf *out)
{
    enum { MOST = 20, REGISTERS = 0x40000, PACKETS = 128 };
    const struct cps_names *names = lsp_names(l, layout);
    char text[MOST + 1] = "";
    const char *at = text;
    unsigned index = 0;
    int64_t value = 0;
    memcpy(text, word, length < MOST ? length : 0);
    if (!names || !cps_lex_number(&at, &value) || *at)
        return;
    put_head(l, out, "0x%" PRIx64 " = %" PRId64, (uint64_t)value, value);
    const char *name =
        value < REGISTERS ? cps_name(names, CPS_SPACE_GPU, (uint32_t)value, &index) : NULL;
    if (name)
        cps_buf_printf(out, "GPU register %s%s\n", name, index ? "+0x1" : "");
    name = value < PACKETS ? cps_name(names, CPS_SPACE_PACKET, (uint32_t)value, &index) : NULL;
    if (name)
        cps_buf_printf(out, "\npacket %s\n", name);
}

/* ---- the packet of a line of PM4 text ---- */

struct line_sink {
    struct cps_item_sink sink;
    size_t line;
    uint32_t *words;
    size_t count;
};

static struct cps_err *take_words(struct cps_item_sink *sink, const struct cps_item *item)
{
    struct line_sink *s = (struct line_sink *)sink;
    if (item->kind != CPS_ITEM_DATA || item->line != s->line || s->words || !item->buffer.size)
        return NULL;
    s->count = (size_t)item->buffer.size / 4;
    s->words = tool_alloc(s->count, 4);
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

/* Lines of one hover. */
struct lines {
    const struct lsp *lsp;
    struct cps_buf *out;
    unsigned count;
};

static void put_line(struct lines *lines, const struct cps_buf *text)
{
    if (lines->count++ < MOST_LINES)
        put_code(lines->lsp, lines->out, text);
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
        put_head(l, out, "type 4: %" PRIu32 " registers from 0x%" PRIx32, header.count, header.reg);
        put_registers(&lines, names, header.reg, s->words + 1, s->count - 1);
    } else {
        const char *name = cps_name(names, CPS_SPACE_PACKET, header.opcode, NULL);
        put_head(l, out, "%s: packet 0x%02" PRIx32 ", %" PRIu32 " words", name ? name : "",
                 header.opcode, header.count);
        cps_packet_values(names, header.opcode, s->words + 1, s->count - 1, put_value, &lines);
    }
    if (lines.count > MOST_LINES)
        cps_buf_printf(out, "\nand %u more\n", lines.count - MOST_LINES);
}

/* @param line  from 1 */
static struct cps_err *mean_line(struct lsp *l, const struct lsp_document *d, size_t line,
                                 struct cps_buf *out)
{
    const struct cps_names *names = lsp_names(l, d->layout);
    struct line_sink sink = {.sink = {take_words}, .line = line};
    struct cps_err *err = cps_pm4text_check_(cps_buf_text(&d->text), d->text.size, l->opt.run.rnn,
                                             no_error, NULL, &sink.sink);
    if (!err && sink.words && names)
        put_packet(l, names, &sink, out);
    free(sink.words);
    return err;
}

/* ---- the word under the cursor ---- */

/* The line of the label or buffer that the word names. */
static void mean_name(struct lsp *l, struct lsp_request *r, struct cps_buf *out)
{
    const struct lsp_document *d = r->document;
    size_t at = 0;
    if (!lsp_given_at(r, &at))
        return;
    size_t line = lsp_line_of(d, at);
    CPS_BUF text = {0};
    cps_buf_add(&text, cps_buf_text(&d->text) + d->line[line], lsp_line_end(d, at) - d->line[line]);
    put_head(l, out, "line %zu", line + 1);
    put_code(l, out, &text);
}

static void mean_plain(struct lsp *l, const struct lsp_document *d, const char *word, size_t length,
                       struct cps_buf *out)
{
    static const enum cps_space spaces[] = {CPS_SPACE_GPU, CPS_SPACE_PIPE, CPS_SPACE_FLAG,
                                            CPS_SPACE_EVENT};
    mean_packet(l, d->layout, word, length, out);
    for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]) && !out->size; i++)
        mean_register(l, d->layout, spaces[i], word, length, out);
}

static void mean_asm(struct lsp *l, struct lsp_request *r, const struct lsp_token *token,
                     struct cps_buf *out)
{
    const struct lsp_document *d = r->document;
    size_t length = 0;
    const char *word = lsp_token_text(d, token, &length);
    if (d->check.gen == CPS_GEN_NONE)
        return;
    if (token->is_number)
        mean_number(l, d->layout, word, length, out);
    else if (token->sigil == '@')
        mean_register(l, d->layout, CPS_SPACE_CONTROL, word, length, out);
    else if (token->sigil == '%')
        mean_register(l, d->layout, CPS_SPACE_SQE, word, length, out);
    else if (!token->sigil && token->index == 1 && !token->in_comment && !token->is_label)
        mean_instruction(l, d->check.gen, word, length, out);
    else if (!token->sigil || token->sigil == '#')
        mean_plain(l, d, word, length, out);
    if (token->sigil == '#')
        mean_name(l, r, out);
}

static struct cps_err *mean_pm4(struct lsp *l, struct lsp_request *r, const struct lsp_token *token,
                                struct cps_buf *out)
{
    const struct lsp_document *d = r->document;
    size_t length = 0;
    const char *word = lsp_token_text(d, token, &length);
    CPS_BUF packet = {0};
    CPS_TRY(mean_line(l, d, lsp_line_of(d, token->from) + 1, &packet));
    if (token->in_comment)
        mean_plain(l, d, word, length, out);
    else if (token->index > 1 && token->is_number)
        mean_number(l, d->layout, word, length, out);
    else if (token->index > 1 && !token->sigil)
        mean_register(l, d->layout, CPS_SPACE_GPU, word, length, out);
    else if (token->index == 1 && !packet.size)
        mean_packet(l, d->layout, word, length, out);
    if (token->index > 1)
        mean_name(l, r, out);
    if (packet.size && out->size)
        cps_buf_str(out, "\n");
    cps_buf_join(out, &packet);
    return NULL;
}

struct cps_err *lsp_hover(struct lsp *l, struct lsp_request *r)
{
    struct lsp_token token;
    CPS_BUF text = {0};
    if (!lsp_token_at(r->document, r->offset, &token))
        return NULL;
    if (r->document->kind == LSP_PM4)
        CPS_TRY(mean_pm4(l, r, &token, &text));
    else
        mean_asm(l, r, &token, &text);
    if (!*tool_text(&text))
        return NULL;
    r->result = json_object_new_object();
    doc_put(cps_json_new_object(r->result, "contents"), "kind=%s value=%p",
            l->markdown ? "markdown" : "plaintext", &text);
    lsp_put_range(l, r->document, r->result, "range", token.from, token.end);
    return NULL;
}
