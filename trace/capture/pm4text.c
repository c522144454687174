/* SPDX-License-Identifier: MIT
 * PM4 text as a capture: two passes over the lines, sizes first, so that a packet can name a
 * buffer that stands below it. */
#include "trace/capture/pm4text.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "isa/base/within.h"
#include "isa/base/le.h"
#include "isa/base/lex.h"
#include "isa/base/list.h"
#include "isa/base/pm4.h"
#include "trace/capture/formats.h"

#define TEXT_LIMIT (64u << 20)
#define MAX_WORDS  16384u
#define SHOWN      160 /* of a line below an error */

/* ---- one line ---- */

struct line {
    const struct cps_pm4text_names *names;
    const char *text;
    const char *at;
    uint32_t *words;
    uint32_t max;
    uint32_t count;
};

static struct cps_err *expected(const char *what)
{
    return cps_err_new(CPS_ERR_SYNTAX, "expected %s", what);
}

static struct cps_err *too_many(const struct line *l)
{
    return cps_err_new(CPS_ERR_SYNTAX, "expected at most %u dwords in a line, with the header",
                       (unsigned)l->max);
}

static bool put_word(struct line *l, uint64_t word)
{
    if (l->count == l->max)
        return false;
    l->words[l->count++] = (uint32_t)word;
    return true;
}

/* "@name": address low and high; "#name": size in dwords. */
static struct cps_err *put_reference(struct line *l, char sigil)
{
    uint64_t iova = 0;
    uint32_t dwords = 0;
    size_t length = cps_lex_identifier(l->at + 1);
    if (!length || !l->names->buffer ||
        !l->names->buffer(l->names->context, l->at + 1, length, &iova, &dwords))
        return expected("the name of a buffer");
    l->at += 1 + length;
    bool fits = sigil == '#' ? put_word(l, dwords) : put_word(l, iova) && put_word(l, iova >> 32);
    return fits ? NULL : too_many(l);
}

static struct cps_err *put_values(struct line *l)
{
    for (l->at = cps_lex_blank(l->at); *l->at; l->at = cps_lex_blank(l->at)) {
        int64_t value = 0;
        if (*l->at == '@' || *l->at == '#') {
            CPS_TRY(put_reference(l, *l->at));
        } else if (!cps_lex_number(&l->at, &value) || value > UINT32_MAX) {
            return expected("a 32-bit number, @buffer or #buffer");
        } else if (!put_word(l, (uint64_t)value)) {
            return too_many(l);
        }
    }
    return NULL;
}

static struct cps_err *put_reg(struct line *l)
{
    uint32_t reg = 0;
    int64_t number = 0;
    l->at = cps_lex_blank(l->at);
    size_t length = strcspn(l->at, " \t");
    bool known = true;
    if (cps_lex_number(&l->at, &number)) {
        known = number <= 0x3ffff;
        reg = (uint32_t)number;
    } else if ((known = cps_name_number(l->names->names, CPS_SPACE_GPU, l->at, length, &reg))) {
        l->at += length;
    }
    if (!known)
        return expected("a register offset up to 0x3ffff or a register's name");
    l->count = 1;
    CPS_TRY(put_values(l));
    if (l->count - 1 > 127)
        return expected("up to 127 values");
    l->words[0] = cps_pm4_type4(reg, l->count - 1);
    return NULL;
}

static struct cps_err *put_packet(struct line *l, size_t length)
{
    uint32_t opcode = 0;
    if (!length || !cps_name_number(l->names->names, CPS_SPACE_PACKET, l->at, length, &opcode))
        return expected("an opcode, reg or .word");
    l->at += length;
    l->count = 1;
    CPS_TRY(put_values(l));
    if (l->count - 1 > 0x3fff)
        return expected("up to 16383 values");
    l->words[0] = cps_pm4_type7(opcode, l->count - 1);
    return NULL;
}

static struct cps_err *parse_line(struct line *l)
{
    l->at = cps_lex_blank(l->text);
    size_t length = cps_lex_identifier(l->at);
    if (!strncmp(l->at, ".word", 5) && (l->at[5] == ' ' || l->at[5] == '\t')) {
        l->at += 5;
        return put_values(l);
    }
    if (length == 3 && !memcmp(l->at, "reg", 3)) {
        l->at += 3;
        return put_reg(l);
    }
    return put_packet(l, length);
}

struct cps_err *cps_pm4text_packet(const struct cps_pm4text_names *names, const char *line,
                                   uint32_t *words, uint32_t max, uint32_t *count, size_t *column)
{
    struct line l = {.names = names, .text = line, .words = words, .max = max};
    if (!max)
        return too_many(&l);
    struct cps_err *err = parse_line(&l);
    if (err)
        *column = (size_t)(l.at - l.text);
    else
        *count = l.count;
    return err;
}

/* ---- the text ---- */

static const char magic[] = "# cpscope-pm4 1";

struct named_buffer {
    const char *name;
    size_t length;
    uint64_t iova;
    uint32_t dwords;
    const char *line; /* that declares it */
    unsigned number;  /* of that line */
};

struct text {
    const char *name;    /* for messages */
    const char *rnn_dir; /* of names; NULL: those that are built in */
    struct cps_item_sink *sink;
    cps_pm4text_error_fn *each; /* gets errors, behind which reading goes on; NULL: nobody */
    void *context;
    char *data; /* NUL-terminated */
    size_t size;
    struct cps_names *names;
    struct named_buffer *buffers;
    size_t buffer_count;
    struct named_buffer *by_name; /* the same, sorted, once all sizes are known */
    size_t current;               /* buffer that packets go to, 1-based; 0: none yet */
    uint64_t iova;                /* where the next ones go */
    unsigned line;
    bool sizes_only;
    bool submitted; /* a stream came since the last end of a submission */
    uint32_t seqno; /* submissions that have begun */
    uint32_t words[MAX_WORDS];
    uint8_t bytes[4 * MAX_WORDS];
};

bool cps_pm4text_recognise_(const uint8_t *data, size_t size)
{
    size_t name = sizeof(magic) - 2; /* without the version, which is read_twice()'s to refuse */
    return size >= name && !memcmp(data, magic, name);
}

static struct cps_err *error_at(const struct text *t, const char *line, size_t column,
                                const char *message)
{
    CPS_BUF out = {0};
    size_t size = strlen(line);
    if (t->each) {
        if (!t->sizes_only) /* the second pass finds it again */
            t->each(t->context, t->line, column, message);
        return NULL;
    }
    while (size && isspace((unsigned char)line[size - 1]))
        size--;
    cps_buf_printf(&out, "%s:%u:%zu: %s\n  ", t->name, t->line, column + 1, message);
    for (size_t i = 0; i < size && i < SHOWN; i++)
        cps_buf_add(&out, line[i] == '\t' || isprint((unsigned char)line[i]) ? &line[i] : "?", 1);
    if (column <= SHOWN) {
        cps_buf_str(&out, "\n  ");
        for (size_t i = 0; i < column; i++)
            cps_buf_str(&out, line[i] == '\t' ? "\t" : " ");
        cps_buf_str(&out, "^");
    }
    return out.failed ? cps_err_nomem() : cps_err_lines_(CPS_ERR_SYNTAX, cps_buf_text(&out));
}

static int compare_names(const void *left, const void *right)
{
    const struct named_buffer *a = left;
    const struct named_buffer *b = right;
    int order = memcmp(a->name, b->name, a->length < b->length ? a->length : b->length);
    return order ? order : (a->length > b->length) - (a->length < b->length);
}

/* By name, equal names in the order of their lines. */
static int compare_buffers(const void *left, const void *right)
{
    const struct named_buffer *a = left;
    const struct named_buffer *b = right;
    int order = compare_names(a, b);
    return order ? order : (a->number > b->number) - (a->number < b->number);
}

/* Between the passes: sorts the buffers by name; a name that comes twice is an error. */
static struct cps_err *sort_buffers(struct text *t)
{
    if (!t->buffer_count)
        return NULL;
    t->by_name = malloc(t->buffer_count * sizeof(*t->by_name));
    if (!t->by_name)
        return cps_err_nomem();
    memcpy(t->by_name, t->buffers, t->buffer_count * sizeof(*t->by_name));
    qsort(t->by_name, t->buffer_count, sizeof(*t->by_name), compare_buffers);
    const struct named_buffer *twice = NULL;
    for (size_t i = 1; i < t->buffer_count; i++) {
        const struct named_buffer *buffer = &t->by_name[i];
        if (!compare_names(buffer - 1, buffer) && (!twice || buffer->number < twice->number))
            twice = buffer;
    }
    if (!twice)
        return NULL;
    t->line = twice->number;
    t->sizes_only = false;
    return error_at(t, twice->line, (size_t)(twice->name - twice->line),
                    "expected a name that no other buffer has");
}

static bool find_buffer(void *context, const char *name, size_t length, uint64_t *iova,
                        uint32_t *dwords)
{
    const struct text *t = context;
    const struct named_buffer key = {.name = name, .length = length};
    /* While sizes are counted a reference takes its room whatever it will be. */
    *iova = *dwords = 0;
    if (t->sizes_only || !t->by_name)
        return t->sizes_only;
    const struct named_buffer *found =
        bsearch(&key, t->by_name, t->buffer_count, sizeof(key), compare_names);
    if (!found)
        return false;
    *iova = found->iova;
    *dwords = found->dwords;
    return true;
}

static struct cps_err *emit_item(struct text *t, const struct cps_item *item)
{
    return t->sizes_only ? NULL : t->sink->item(t->sink, item);
}

/* A submission lasts up to the next `reset`. */
static struct cps_err *end_submission(struct text *t)
{
    const struct cps_item item = {.kind = CPS_ITEM_FENCE, .fence = {.seqno = t->seqno}};
    if (!t->submitted)
        return NULL;
    t->submitted = false;
    return emit_item(t, &item);
}

static struct cps_err *open_names(struct text *t, uint32_t gpu, uint64_t chip)
{
    cps_names_destroy(t->names);
    t->names = NULL;
    return cps_names_create(cps_gpu_layout(gpu ? gpu : chip & 0xffffffff), t->rnn_dir, &t->names);
}

static struct cps_err *read_chip(struct text *t, const char *line, const char *at)
{
    bool gpu = *cps_lex_blank(line) == 'g'; /* else "chip" */
    int64_t value = 0;
    if (!cps_lex_number(&at, &value) || *cps_lex_blank(at) || (gpu && value > 999))
        return error_at(t, line, (size_t)(cps_lex_blank(at) - line),
                        gpu ? "expected a GPU number such as 630" : "expected a chip id");
    struct cps_item item = {.kind = CPS_ITEM_CHIP};
    item.chip.gpu_id = gpu ? (uint32_t)value : 0;
    item.chip.chip_id = gpu ? 0 : (uint64_t)value;
    CPS_TRY(open_names(t, item.chip.gpu_id, item.chip.chip_id));
    return emit_item(t, &item);
}

static struct cps_err *read_buffer(struct text *t, const char *line, const char *at)
{
    int64_t iova = 0;
    if (!cps_lex_number(&at, &iova))
        return error_at(t, line, (size_t)(cps_lex_blank(at) - line), "expected an address");
    at = cps_lex_blank(at);
    struct named_buffer buffer = {at, cps_lex_identifier(at), (uint64_t)iova, 0, line, t->line};
    if (!buffer.length || *cps_lex_blank(at + buffer.length))
        return error_at(t, line, (size_t)(at - line), "expected a name for the buffer");
    t->current++;
    if (t->sizes_only) {
        if (!CPS_LIST_ROOM(t->buffers, t->buffer_count))
            return cps_err_nomem();
        t->buffers[t->buffer_count++] = buffer;
        return NULL;
    }
    const struct named_buffer *known = &t->buffers[t->current - 1];
    t->iova = known->iova;
    struct cps_item item = {.kind = CPS_ITEM_BUFFER,
                            .buffer = {.iova = known->iova,
                                       .size = 4 * (uint64_t)known->dwords,
                                       .name = known->name,
                                       .name_size = known->length}};
    return emit_item(t, &item);
}

/* "submit NAME", "submit NAME lpac". */
static struct cps_err *read_submit(struct text *t, const char *line, const char *at)
{
    struct cps_item item = {.kind = CPS_ITEM_SUBMIT};
    at = cps_lex_blank(at);
    size_t length = cps_lex_identifier(at);
    if (!length || !find_buffer(t, at, length, &item.stream.iova, &item.stream.dwords))
        return error_at(t, line, (size_t)(at - line), "expected the name of a buffer");
    const char *ring = cps_lex_blank(at + length);
    item.stream.lpac = !strncmp(ring, "lpac", 4) && !*cps_lex_blank(ring + 4);
    if (*ring && !item.stream.lpac)
        return error_at(t, line, (size_t)(ring - line), "expected 'lpac' or the end of the line");
    t->seqno += !t->submitted;
    t->submitted = true;
    return emit_item(t, &item);
}

/* "ring NAME": the processor's ring holds what that buffer does; as small as it may be. */
static struct cps_err *read_ring(struct text *t, const char *line, const char *at)
{
    struct cps_item item = {.kind = CPS_ITEM_RING, .ring = {.size = 64}};
    at = cps_lex_blank(at);
    size_t length = cps_lex_identifier(at);
    if (!length || *cps_lex_blank(at + length) ||
        !find_buffer(t, at, length, &item.ring.iova, &item.ring.wptr))
        return error_at(t, line, (size_t)(at - line), "expected the name of a buffer");
    while (item.ring.size / 4 <= item.ring.wptr)
        item.ring.size *= 2;
    return emit_item(t, &item);
}

/* "start REG VALUE": what a register held before anything ran. */
static struct cps_err *read_start(struct text *t, const char *line, const char *at)
{
    const struct cps_pm4text_names names = {t->names, NULL, NULL};
    CPS_BUF packet = {0};
    uint32_t words[2] = {0};
    uint32_t count = 0;
    size_t column = 0;
    cps_buf_printf(&packet, "reg%s", at);
    if (packet.failed)
        return cps_err_nomem();
    struct cps_err *err =
        cps_pm4text_packet(&names, cps_buf_text(&packet), words, 2, &count, &column);
    bool one = !err && count == 2;
    if (err && err->code == CPS_ERR_NOMEM)
        return err;
    cps_err_free(err);
    if (!one)
        return error_at(t, line, (size_t)(cps_lex_blank(at) - line),
                        "expected a register and its value");
    const struct cps_item item = {
        .kind = CPS_ITEM_REGISTER,
        .reg = {.offset = words[0] >> 8 & 0x3ffff, .value = words[1], .section = "start"}};
    return emit_item(t, &item);
}

static struct cps_err *give_words(struct text *t, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        cps_put_le32(t->bytes + 4 * (size_t)i, t->words[i]);
    struct cps_item item = {
        .kind = CPS_ITEM_DATA,
        .line = t->line,
        .buffer = {.iova = t->iova, .size = 4 * (uint64_t)count, .data = t->bytes}};
    t->iova += 4 * (uint64_t)count;
    return emit_item(t, &item);
}

static struct cps_err *read_packet(struct text *t, const char *line)
{
    const struct cps_pm4text_names names = {t->names, find_buffer, t};
    uint32_t count = 0;
    size_t column = 0;
    if (!t->current)
        return error_at(t, line, 0, "expected a buffer before the first packet");
    struct cps_err *err = cps_pm4text_packet(&names, line, t->words, MAX_WORDS, &count, &column);
    if (err) {
        struct cps_err *placed = error_at(t, line, column, err->message);
        cps_err_free(err);
        return placed;
    }
    if (t->sizes_only) {
        t->buffers[t->current - 1].dwords += count;
        return NULL;
    }
    return give_words(t, count);
}

static struct cps_err *read_init(struct text *t, const char *line, const char *at)
{
    const struct cps_item item = {.kind = CPS_ITEM_INIT};
    (void)line;
    (void)at;
    return emit_item(t, &item);
}

static struct cps_err *read_reset(struct text *t, const char *line, const char *at)
{
    const struct cps_item item = {.kind = CPS_ITEM_RESET};
    (void)line;
    (void)at;
    CPS_TRY(end_submission(t));
    return emit_item(t, &item);
}

static const struct {
    const char *word;
    struct cps_err *(*read)(struct text *t, const char *line, const char *at);
} keywords[] = {{"gpu", read_chip},    {"chip", read_chip},    {"submit", read_submit},
                {"ring", read_ring},   {"start", read_start},  {"init", read_init},
                {"reset", read_reset}, {"buffer", read_buffer}};

static struct cps_err *read_line(struct text *t, const char *line)
{
    const char *word = cps_lex_blank(line);
    size_t length = strcspn(word, " \t");
    /* No keyword begins as opcodes do. */
    for (size_t i = 0;
         length && (*word < 'A' || *word > 'Z') && i < sizeof(keywords) / sizeof(keywords[0]);
         i++) {
        if (cps_lex_is(word, length, keywords[i].word))
            return keywords[i].read(t, line, word + length);
    }
    return length ? read_packet(t, line) : NULL;
}

/* The first line is the format's name. */
static struct cps_err *pass(struct text *t, bool sizes_only)
{
    char *line = t->data;
    t->sizes_only = sizes_only;
    t->current = 0;
    t->iova = 0;
    t->seqno = 0;
    t->submitted = false;
    CPS_TRY(open_names(t, 630, 0));
    for (t->line = 1; line < t->data + t->size; t->line++) {
        size_t length = strlen(line);
        if (t->line > 1)
            CPS_TRY(read_line(t, line));
        line += length + 1;
    }
    return end_submission(t);
}

/* One NUL per line end; comments and carriage returns become blanks. */
static void split_lines(struct text *t)
{
    bool comment = false;
    for (size_t i = 0; i < t->size; i++) {
        char c = t->data[i];
        comment = c == '\n' ? false : comment || c == ';';
        if (c == '\n')
            t->data[i] = '\0';
        else if (comment || c == '\r' || c == '\0')
            t->data[i] = ' ';
    }
}

/* Takes @p t over, with its text, which is NULL where memory was short. */
static struct cps_err *read_twice(struct text *t)
{
    size_t length = sizeof(magic) - 1;
    struct cps_err *err = t->data ? NULL : cps_err_nomem();
    if (!err) {
        split_lines(t);
        t->line = 1;
        if (strncmp(t->data, magic, length) != 0 || *cps_lex_blank(t->data + length))
            err = error_at(t, t->data, 0, "expected \"# cpscope-pm4 1\"");
    }
    if (!err)
        err = pass(t, true);
    if (!err)
        err = sort_buffers(t);
    if (!err)
        err = pass(t, false);
    cps_names_destroy(t->names);
    free(t->by_name);
    free(t->buffers);
    free(t->data);
    free(t);
    return err;
}

struct cps_err *cps_pm4text_read_(struct cps_stream *stream,
                                  const struct cps_capture_limits *limits,
                                  struct cps_item_sink *sink)
{
    (void)limits;
    uint8_t *data = NULL;
    size_t size = 0;
    CPS_TRY(cps_stream_read_all(stream, TEXT_LIMIT, &data, &size));
    struct text *t = calloc(1, sizeof(*t));
    if (!t) {
        free(data);
        return cps_err_nomem();
    }
    t->name = cps_stream_name(stream);
    t->rnn_dir = cps_stream_rnn(stream);
    t->sink = sink;
    t->data = (char *)data;
    t->size = size;
    return read_twice(t);
}

struct cps_err *cps_pm4text_check_(const char *text, size_t size, const char *rnn_dir,
                                   cps_pm4text_error_fn *each, void *context,
                                   struct cps_item_sink *sink)
{
    struct text *t = calloc(1, sizeof(*t));
    if (!t)
        return cps_err_nomem();
    t->name = "text";
    t->rnn_dir = rnn_dir;
    t->sink = sink;
    t->each = each;
    t->context = context;
    t->size = size;
    t->data = calloc(1, size + 1);
    if (t->data)
        memcpy(t->data, text, size);
    return read_twice(t);
}
