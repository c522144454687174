/* SPDX-License-Identifier: MIT
 * Reads the text form of a trace back, columns as event.def names them. Of the commentary only what
 * the columns leave out is looked at: `pc=`, `bank=1` and `pipe=`. */
#include <string.h>

#include "trace/form/forms.h"

/* A place in a line, and the record it is read into. */
struct cursor {
    const char *at;
    unsigned kind;
    unsigned sub, who;
    uint32_t pc, value;
    uint64_t addr;
};

static bool word(struct cursor *c, const char **ret, size_t *length)
{
    c->at += strspn(c->at, " ");
    *ret = c->at;
    *length = strcspn(c->at, " ;");
    c->at += *length;
    return *length != 0;
}

/* Addresses use all 64 bits, which cps_lex_number() does not give. */
static bool number(struct cursor *c, uint64_t most, uint64_t *ret)
{
    c->at += strspn(c->at, " ");
    bool hexadecimal = c->at[0] == '0' && c->at[1] == 'x';
    return strcspn(c->at, " ;") < 24 && cps_lines_number_(&c->at, hexadecimal ? 16 : 10, most, ret);
}

static bool number32(struct cursor *c, uint32_t *ret)
{
    uint64_t value = 0;
    bool good = number(c, UINT32_MAX, &value);
    *ret = (uint32_t)value;
    return good;
}

static bool sub_word(struct cursor *c)
{
    const char *text = NULL;
    size_t length = 0;
    int sub = word(c, &text, &length) ? cps_event_sub_by_word_(c->kind, text, length) : -1;
    c->sub = (unsigned)sub;
    return sub >= 0;
}

/* Hexadecimal digits, this many at most. */
static bool digits(const char **at, size_t most, uint32_t *ret)
{
    char copy[9] = "";
    size_t length = strspn(*at, "0123456789abcdef");
    if (!length || length > most)
        return false;
    memcpy(copy, *at, length);
    *ret = (uint32_t)strtoul(copy, NULL, 16);
    *at += length;
    return true;
}

/* "$02=0x00000001 $1f=0x...", at most two in order, or "-". */
static bool registers(struct cursor *c)
{
    unsigned found = 0;
    uint32_t value = 0;
    c->at += strspn(c->at, " ");
    if (*c->at == '-')
        return ++c->at, true;
    while (*c->at == '$') {
        uint32_t reg = 0;
        ++c->at;
        if (!digits(&c->at, 2, &reg) || reg > 31 || c->value >> reg || found == 2 ||
            memcmp(c->at, "=0x", 3) != 0)
            return false;
        c->at += 3;
        if (!digits(&c->at, 8, &value))
            return false;
        c->value |= 1u << reg;
        c->addr |= (uint64_t)value << (32 * found++);
        c->at += strspn(c->at, " ");
    }
    return found > 0;
}

static bool column(struct cursor *c, char which)
{
    switch (which) {
    case 'n':
    case 'v':
        return number32(c, &c->value);
    case 'a':
    case 'q':
        return number(c, UINT64_MAX, &c->addr);
    case 'o':
        return number(c, UINT32_MAX, &c->addr);
    case 's':
        return sub_word(c);
    case 'p':
    case 'c':
        return number32(c, &c->pc);
    default:
        return registers(c);
    }
}

/* The words at the end of the commentary; false if there is no program counter, which only events
 * of a core have. */
static bool commentary(struct cursor *c)
{
    const char *words = NULL;
    uint32_t pc = 0;
    for (const char *at = strstr(c->at, " pc=0x"); at; at = strstr(at + 1, " pc=0x"))
        words = at;
    const char *end = words ? words + 6 : NULL;
    if (!words || !digits(&end, 8, &pc) || *end)
        return false;
    if (!strpbrk(cps_event_columns_(c->kind), "pc"))
        c->pc = pc;
    if (!cps_event_has_bank_(c->kind) || words - c->at < 7)
        return true;
    if (!memcmp(words - 7, " bank=1", 7))
        c->addr |= UINT64_C(1) << 32;
    else if (!memcmp(words - 7, " pipe=", 6) && words[-1] >= '1' && words[-1] <= '7')
        c->addr |= (uint64_t)(words[-1] - '0') << CPS_PIPE_SHIFT_;
    else
        return memcmp(words - 7, " pipe=", 6) && memcmp(words - 7, "pipe=", 5);
    return true;
}

static const char *parse_columns(struct cursor *c)
{
    for (const char *which = cps_event_columns_(c->kind); *which; which++) {
        if (!column(c, *which))
            return *which == 's' ? "a word that this event can have"
                                 : "a number in its column's form";
    }
    c->at += strspn(c->at, " ");
    return *c->at && *c->at != ';' ? "the end of the line or ';'" : NULL;
}

/* What was expected, or NULL. */
static const char *parse_words(const char *line, bool with_processor, struct cps_event *ret)
{
    struct cursor c = {.at = line};
    const char *text = NULL;
    size_t length = 0;
    if (!word(&c, &text, &length))
        return "an event";
    unsigned who = cps_processor_by_name_(text, length);
    if (who != CPS_CPU_COUNT && (!with_processor || !word(&c, &text, &length)))
        return "an event's keyword";
    c.kind = cps_event_by_keyword_(text, length);
    if (c.kind == CPS_EV_COUNT)
        return "an event's keyword (SUBMIT, PKT, REG, ...)";
    const char *expected = parse_columns(&c);
    if (expected)
        return expected;
    bool step = c.kind == CPS_EV_STEP || c.kind == CPS_EV_STEPX;
    bool from_core = commentary(&c) || step;
    c.who = who != CPS_CPU_COUNT ? who : from_core && !with_processor ? CPS_CPU_SQE : CPS_CPU_NONE;
    *ret = cps_event_make(c.kind, c.sub, c.who, c.pc, c.addr, c.value);
    return cps_event_check_(ret, with_processor);
}

static struct cps_err *parse_event(const struct cps_lines *line, bool with_processor,
                                   struct cps_event *ret, const char **expected)
{
    *expected = line->cut || strlen(line->text) != line->size
                    ? "a line of text"
                    : parse_words(line->text, with_processor, ret);
    return NULL;
}

/* ---- lines of events, of JSON Lines, too ---- */

/* The next line; s->lines.done at the end of the file. */
static struct cps_err *read_line(struct cps_event_lines *s)
{
    if (s->pending)
        return NULL;
    CPS_TRY(cps_lines_start_(&s->lines));
    if (!s->lines.done)
        CPS_TRY(cps_lines_text_(&s->lines));
    s->pending = !s->lines.done;
    return NULL;
}

static struct cps_err *bad_line(const struct cps_trace *trace, const char *expected)
{
    const struct cps_event_lines *s = trace->state;
    return cps_err_input(cps_stream_name(trace->stream), s->lines.offset, "\"%.60s\": expected %s",
                         s->lines.text, expected);
}

static struct cps_err *next(struct cps_trace *trace, struct cps_event *events, size_t max,
                            size_t *count)
{
    struct cps_event_lines *s = trace->state;
    const char *expected = NULL;
    *count = 0;
    while (*count < max) {
        CPS_TRY(read_line(s));
        if (!s->pending)
            return NULL;
        s->pending = false;
        if (!s->lines.size)
            continue;
        CPS_TRY(s->parse(&s->lines, trace->head.with_processor, &events[*count], &expected));
        if (expected)
            return bad_line(trace, expected);
        ++*count;
    }
    return NULL;
}

struct cps_err *cps_event_lines_open_(struct cps_trace *trace, struct cps_event_lines **ret)
{
    struct cps_event_lines *s = calloc(1, sizeof(*s));
    if (!s)
        return cps_err_nomem();
    s->lines.stream = trace->stream;
    trace->state = *ret = s;
    trace->next = next;
    trace->close = free;
    return NULL;
}

/* ---- the head ---- */

/* Whether a line begins with "#". */
static struct cps_err *is_head(struct cps_event_lines *s, bool *ret)
{
    const char *text = NULL;
    size_t size = 0;
    CPS_TRY(cps_lines_start_(&s->lines));
    *ret = false;
    if (s->lines.done)
        return NULL;
    CPS_TRY(cps_lines_piece_(&s->lines, &text, &size));
    *ret = size && *text == '#';
    return NULL;
}

static struct cps_err *read_head(struct cps_trace *trace, struct cps_buf *head)
{
    struct cps_event_lines *s = trace->state;
    bool more = false;
    for (;;) {
        CPS_TRY(is_head(s, &more));
        if (!more)
            return NULL;
        CPS_TRY(cps_lines_long_(&s->lines, TRACE_HEAD_BYTES - head->size, head));
        if (memchr(cps_buf_text(head), '\0', head->size))
            return bad_line(trace, "a line of text");
        if (head->data[head->size - 1] == '\r')
            head->data[--head->size] = '\0';
        cps_buf_str(head, "\n");
        if (head->failed)
            return cps_err_nomem();
        if (head->size > TRACE_HEAD_BYTES)
            return bad_line(trace, "a head of at most 4 MiB");
    }
}

/* Traces of before the line "# processors": the first line of a core says whether it is named. The
 * head gets the line, for the forms that it is converted to. */
static void guess_processors(const char *line, struct cps_buf *head)
{
    if (cps_processor_by_name_(line, strcspn(line, " ")) != CPS_CPU_COUNT &&
        !strstr(cps_buf_text(head), "\n# processors"))
        cps_buf_str(head, "# processors yes\n");
}

struct cps_err *cps_text_open_(struct cps_trace *trace)
{
    CPS_BUF head = {0};
    struct cps_event_lines *s = NULL;
    CPS_TRY(cps_event_lines_open_(trace, &s));
    s->parse = parse_event;
    CPS_TRY(read_head(trace, &head));
    CPS_TRY(read_line(s));
    if (s->pending)
        guess_processors(s->lines.text, &head);
    if (head.failed)
        return cps_err_nomem();
    return cps_trace_head_parse(cps_stream_name(trace->stream), cps_buf_text(&head), &trace->head);
}
