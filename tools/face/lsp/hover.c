/* SPDX-License-Identifier: MIT
 * What the word under the cursor means: instructions, registers, numbers and packets by the rows of
 * the tables that the assembler and the emulator are made of. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "isa/base/le.h"
#include "isa/base/lex.h"
#include "isa/base/pm4.h"
#include "isa/sets/syntax.h"
#include "tools/face/lsp/private.h"
#include "trace/capture/formats.h"

enum { WORDS = 16, MOST_LINES = 64 }; /* of a packet; of one hover */

/* What is asked for, and the answer. */
struct hover {
    struct lsp *lsp;
    struct lsp_request *request;
    const struct lsp_document *document;
    const char *word; /* under the cursor, without its sigil */
    size_t length;
    const struct cps_names *names; /* of the document's layout; NULL ends the session */
    struct cps_buf out;
    unsigned lines; /* of fields */
    /* What the fields that come are of: a register, or the words of any packet of an opcode. */
    enum cps_space space;
    uint32_t number;               /* of the register; the opcode */
    const struct cps_value *field; /* whose value's name is asked for */
    const char *text;              /* the answer */
};

/* A line that is a heading. */
static void put_head(struct hover *h, const char *format, ...) CPS_PRINTF(2, 3);
static void put_head(struct hover *h, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    cps_buf_printf(&h->out, h->lsp->markdown ? "%s**%s**\n\n" : "%s%s\n", h->out.size ? "\n" : "",
                   text);
}

/* One of code. */
static void put_code(struct hover *h, const struct cps_buf *text)
{
    cps_buf_printf(&h->out, h->lsp->markdown ? "- `%s`\n" : "    %s\n", tool_text(text));
}

/* One of code, unless there are too many. */
static void put_line(struct hover *h, const struct cps_buf *text)
{
    if (h->lines++ < MOST_LINES)
        put_code(h, text);
}

/* ---- instructions ---- */

static bool is_called(const struct hover *h, const struct cps_syntax *syntax)
{
    return strlen(syntax->mnemonic) == h->length && !memcmp(syntax->mnemonic, h->word, h->length);
}

static void put_meaning(struct hover *h, const struct cps_isa *isa, unsigned op)
{
    CPS_BUF text = {0};
    enum cps_flow flow = cps_op_flow(isa, op);
    bool has_slot = (isa == &cps_isa_afuc || isa == &cps_isa_vp1) && flow != CPS_FLOW_NEXT &&
                    flow != CPS_FLOW_SKIP && flow != CPS_FLOW_END;
    bool is_expression = cps_syntax_meaning_(isa, op, &text);
    bool is_jump = is_expression && flow == CPS_FLOW_JUMP; /* which is always taken */
    const char *lead = !is_expression            ? ""
                       : flow == CPS_FLOW_BRANCH ? "branches if "
                       : flow == CPS_FLOW_CALLIF ? "calls if "
                                                 : "result: ";
    if (!is_jump)
        cps_buf_printf(&h->out, h->lsp->markdown ? "\n%s`%s`\n" : "  %s%s\n", lead,
                       tool_text(&text));
    if (!is_jump && *lead && isa == &cps_isa_afuc)
        cps_buf_str(&h->out, "\na and b are the sources in their order.\n");
    if (has_slot && !strstr(cps_buf_text(&text), "delay slot"))
        cps_buf_str(&h->out, "\nThe next instruction is in its delay slot and runs first.\n");
}

static void mean_instruction(struct hover *h)
{
    enum cps_gen gen = h->document->check.gen;
    const struct cps_isa *isa = cps_gen_isa(gen);
    struct cps_syntax row;
    unsigned last = 0;
    CPS_BUF others = {0}; /* generations of the set that have the word, too */
    for (size_t i = 0; i < cps_syntax_count_(isa); i++) {
        CPS_BUF text = {0};
        if (!cps_syntax_(isa, gen, i, &row) || !is_called(h, &row))
            continue;
        if (last && last != row.op)
            put_meaning(h, isa, last);
        if (last != row.op)
            put_head(h, "%s, %s", row.mnemonic, cps_gen_name(gen));
        cps_syntax_put_(isa, i, &text);
        put_code(h, &text);
        last = row.op;
    }
    if (last) {
        put_meaning(h, isa, last);
        return;
    }
    for (enum cps_gen other = CPS_GEN_NONE + 1; other < CPS_GEN_COUNT; other++) {
        bool has = false;
        for (size_t i = 0; cps_gen_isa(other) == isa && i < cps_syntax_count_(isa); i++)
            has |= cps_syntax_(isa, other, i, &row) && is_called(h, &row);
        if (has)
            cps_buf_printf(&others, " %s", cps_gen_name(other));
    }
    if (others.size)
        put_head(h, "%.*s: not of %s, but of%s", (int)h->length, h->word, cps_gen_name(gen),
                 tool_text(&others));
}

/* ---- fields of registers and packets ---- */

static void note_text(void *context, const struct cps_value *value)
{
    struct hover *h = context;
    if (value->low == h->field->low && value->high == h->field->high && value->bits &&
        (h->space != CPS_SPACE_PACKET || value->number == h->field->number))
        h->text = value->text;
}

/* Names of a small field's values. */
static void put_value_names(struct hover *h, const struct cps_value *field, struct cps_buf *out)
{
    bool is_packet = h->space == CPS_SPACE_PACKET;
    unsigned width = (unsigned)field->high - field->low + 1;
    bool is_named = width > 1 || (field->text && !is_packet);
    if (width > (is_packet ? 5 : 4) || field->high > 31 || (is_packet && field->number >= WORDS))
        return;
    if (field->text)
        cps_buf_printf(out, " 0=%s", field->text);
    h->field = field;
    for (uint32_t i = 1; i < UINT32_C(1) << width && is_named; i++) {
        uint32_t words[WORDS] = {0};
        h->text = NULL;
        words[is_packet ? field->number : 0] = i << field->low;
        if (is_packet)
            cps_packet_values(h->names, h->number, words, WORDS, note_text, h);
        else
            cps_name_values(h->names, h->space, h->number, words[0], note_text, h);
        if (h->text && *h->text)
            cps_buf_printf(out, " %" PRIu32 "=%s", i, h->text);
    }
}

/* Bits and words that nothing names are left out. */
static void put_field(void *context, const struct cps_value *value)
{
    struct hover *h = context;
    bool is_packet = h->space == CPS_SPACE_PACKET;
    bool has_name = value->name && *value->name;
    CPS_BUF text = {0};
    if (!has_name && !(value->name && is_packet && value->word))
        return;
    if (is_packet)
        cps_buf_printf(&text, "word %" PRIu32 "%s", value->number, has_name ? " bit " : " ");
    if (has_name)
        cps_buf_printf(&text, "%u", value->high);
    if (has_name && value->low != value->high)
        cps_buf_printf(&text, ":%u", value->low);
    cps_buf_printf(&text, "%s%s", has_name ? " " : "", has_name ? value->name : value->word);
    put_value_names(h, value, &text);
    if (is_packet)
        put_line(h, &text);
    else
        put_code(h, &text);
}

static void mean_packet(struct hover *h)
{
    static const uint32_t zeros[WORDS];
    h->space = CPS_SPACE_PACKET;
    h->lines = 0;
    if (!cps_name_number(h->names, CPS_SPACE_PACKET, h->word, h->length, &h->number))
        return;
    put_head(h, "%.*s: packet 0x%02" PRIx32, (int)h->length, h->word, h->number);
    cps_packet_values(h->names, h->number, zeros, WORDS, put_field, h);
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

static void mean_register(struct hover *h, enum cps_space space)
{
    static const char *const space_names[CPS_SPACE_COUNT] = {
        [CPS_SPACE_GPU] = "GPU register", [CPS_SPACE_CONTROL] = "control register",
        [CPS_SPACE_SQE] = "SQE register", [CPS_SPACE_PIPE] = "pipe register",
        [CPS_SPACE_PACKET] = "packet",    [CPS_SPACE_EVENT] = "event",
        [CPS_SPACE_FLAG] = "flag"};
    enum cps_gen gen = cps_layout_gen(h->document->layout);
    h->space = space;
    if (!cps_name_number(h->names, space, h->word, h->length, &h->number))
        return;
    put_head(h, "%.*s: %s 0x%03" PRIx32, (int)h->length, h->word, space_names[space], h->number);
    if (!cps_name_values64(h->names, space, h->number, 0, put_field, h))
        cps_name_values(h->names, space, h->number, 0, put_field, h);
    if (space == CPS_SPACE_CONTROL && cps_gen_is_afuc(gen))
        put_control(h->document->layout, h->number, &h->out);
    if (space == CPS_SPACE_GPU && cps_gen_is_afuc(gen))
        put_gpu(gen, h->number, &h->out);
}

static void mean_number(struct hover *h)
{
    enum { MOST = 20, REGISTERS = 0x40000, PACKETS = 128 };
    char text[MOST + 1] = "";
    const char *at = text;
    unsigned index = 0;
    int64_t value = 0;
    memcpy(text, h->word, h->length < MOST ? h->length : 0);
    if (!cps_lex_number(&at, &value) || *at)
        return;
    put_head(h, "0x%" PRIx64 " = %" PRId64, (uint64_t)value, value);
    const char *name =
        value < REGISTERS ? cps_name(h->names, CPS_SPACE_GPU, (uint32_t)value, &index) : NULL;
    if (name)
        cps_buf_printf(&h->out, "GPU register %s%s\n", name, index ? "+0x1" : "");
    name = value < PACKETS ? cps_name(h->names, CPS_SPACE_PACKET, (uint32_t)value, &index) : NULL;
    if (name)
        cps_buf_printf(&h->out, "\npacket %s\n", name);
}

/* ---- the packet of a line of PM4 text ---- */

struct line_sink {
    struct cps_item_sink sink;
    size_t line; /* from 1 */
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

static void put_value(void *context, const struct cps_value *value)
{
    CPS_BUF text = {0};
    cps_buf_printf(&text, "[%" PRIu32 "] ", value->number);
    if (cps_value_line(value, &text))
        put_line(context, &text);
}

/* Words as they are (.word) have no meaning of their own. */
static void put_packet(struct hover *h, const uint32_t *words, size_t count)
{
    const struct cps_pm4 header = cps_pm4_decode_any(words[0]);
    if (header.count != count - 1 || header.kind == CPS_PM4_BAD)
        return;
    h->lines = 0;
    if (header.kind != CPS_PM4_TYPE4) {
        const char *name = cps_name(h->names, CPS_SPACE_PACKET, header.opcode, NULL);
        put_head(h, "%s: packet 0x%02" PRIx32 ", %" PRIu32 " words", name ? name : "",
                 header.opcode, header.count);
        cps_packet_values(h->names, header.opcode, words + 1, count - 1, put_value, h);
    } else {
        put_head(h, "type4: %" PRIu32 " registers from 0x%" PRIx32, header.count, header.reg);
    }
    for (uint32_t i = 0; header.kind == CPS_PM4_TYPE4 && i < header.count; i++) {
        CPS_BUF text = {0};
        unsigned index = 0;
        const char *name = cps_name(h->names, CPS_SPACE_GPU, header.reg + i, &index);
        cps_buf_printf(&text, "0x%05" PRIx32 " %s%s = 0x%08" PRIx32 " ", header.reg + i,
                       name ? name : "", name && index ? "+0x1" : "", words[i + 1]);
        cps_name_fields(h->names, CPS_SPACE_GPU, header.reg + i, words[i + 1], &text);
        put_line(h, &text);
    }
    if (h->lines > MOST_LINES)
        cps_buf_printf(&h->out, "\nand %u more\n", h->lines - MOST_LINES);
}

/* ---- the word under the cursor ---- */

/* The line of the label or buffer that the word names. */
static void mean_name(struct hover *h)
{
    const struct lsp_document *d = h->document;
    size_t at = 0;
    if (!lsp_given_at(h->request, &at))
        return;
    size_t line = lsp_line_of(d, at);
    CPS_BUF text = {0};
    cps_buf_add(&text, cps_buf_text(&d->text) + d->line[line], lsp_line_end(d, at) - d->line[line]);
    put_head(h, "line %zu", line + 1);
    put_code(h, &text);
}

static void mean_plain(struct hover *h)
{
    static const enum cps_space spaces[] = {CPS_SPACE_GPU, CPS_SPACE_PIPE, CPS_SPACE_FLAG,
                                            CPS_SPACE_EVENT};
    mean_packet(h);
    for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]) && !h->out.size; i++)
        mean_register(h, spaces[i]);
}

static void mean_asm(struct hover *h, const struct lsp_token *token)
{
    if (h->document->check.gen == CPS_GEN_NONE)
        return;
    if (token->is_number)
        mean_number(h);
    else if (token->sigil == '@')
        mean_register(h, CPS_SPACE_CONTROL);
    else if (token->sigil == '%')
        mean_register(h, CPS_SPACE_SQE);
    else if (!token->sigil && token->index == 1 && !token->in_comment && !token->is_label)
        mean_instruction(h);
    else if (!token->sigil || token->sigil == '#')
        mean_plain(h);
    if (token->sigil == '#')
        mean_name(h);
}

/* The word, then the packet of its line. */
static struct cps_err *mean_pm4(struct hover *h, const struct lsp_token *token)
{
    const struct cps_buf *text = &h->document->text;
    struct line_sink line = {{take_words}, lsp_line_of(h->document, token->from) + 1, NULL, 0};
    struct cps_err *err = cps_pm4text_check_(cps_buf_text(text), text->size, h->lsp->config.rnn,
                                             no_error, NULL, &line.sink);
    CPS_FREE uint32_t *words = line.words;
    CPS_TRY(err);
    CPS_BUF packet = {0};
    if (words) {
        put_packet(h, words, line.count);
        packet = h->out;
        h->out = (struct cps_buf){0};
    }
    if (token->in_comment)
        mean_plain(h);
    else if (token->index > 1 && token->is_number)
        mean_number(h);
    else if (token->index > 1 && !token->sigil)
        mean_register(h, CPS_SPACE_GPU);
    else if (token->index == 1 && !packet.size)
        mean_packet(h);
    if (token->index > 1)
        mean_name(h);
    if (packet.size && h->out.size)
        cps_buf_str(&h->out, "\n");
    cps_buf_join(&h->out, &packet);
    return NULL;
}

struct cps_err *lsp_hover(struct lsp *l, struct lsp_request *r)
{
    struct hover h = {.lsp = l, .request = r, .document = r->document};
    struct lsp_token token;
    struct cps_err *err = NULL;
    h.names = lsp_names(l, r->document->layout);
    if (!h.names || !lsp_token_at(r->document, r->offset, &token))
        return NULL;
    h.word = lsp_token_text(r->document, &token, &h.length);
    if (r->document->kind == LSP_PM4)
        err = mean_pm4(&h, &token);
    else
        mean_asm(&h, &token);
    tool_need(!h.out.failed);
    if (!err && h.out.size) {
        r->result = doc_new();
        doc_put(cps_json_new_object(r->result, "contents"), "kind=%s value=%p",
                l->markdown ? "markdown" : "plaintext", &h.out);
        lsp_put_range(l, r->document, r->result, "range", token.from, token.end);
    }
    cps_buf_deinit(&h.out);
    return err;
}
