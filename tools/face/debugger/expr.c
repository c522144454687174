/* SPDX-License-Identifier: MIT
 * Expressions over a machine's state: a parser that computes while it reads. */
#include <ctype.h>
#include <string.h>

#include "isa/base/lex.h"
#include "isa/base/pm4.h"
#include "tools/face/debugger/look.h"

#define MAX_DEPTH 64

struct parser {
    const struct session *session;
    unsigned core;
    const struct cps_event *event;
    const char *text, *at;
    const char *expected; /* at the first error, else NULL */
    const char *wrong;
    unsigned depth;
};

static uint64_t binary(struct parser *p, unsigned level);

static uint64_t fail(struct parser *p, const char *expected)
{
    if (!p->expected) {
        p->expected = expected;
        p->wrong = p->at;
    }
    return 0;
}

/* A name may hold what registers' names hold: RB_MRT[0].CONTROL, and +0x2 after a label is a sum.
 */
static size_t name_length(const char *at)
{
    size_t length = cps_lex_identifier(at);
    while (length && (at[length] == '[' || at[length] == '.')) {
        size_t more = at[length] == '.' ? cps_lex_identifier(at + length + 1) + 1
                                        : strcspn(at + length, "]") + 1;
        if (more < 2 || strlen(at + length) < more)
            break;
        length += more;
    }
    return length;
}

static bool has_file(const struct session *session, char file)
{
    return cps_engine_file(session_engine(session), file) != NULL;
}

char expr_memory(const struct session *session)
{
    static const char files[] = {CPS_FILE_MEMORY, CPS_FILE_RAMIN, CPS_FILE_PROGRAM};
    for (size_t i = 0; i < sizeof(files); i++) {
        if (has_file(session, files[i]))
            return files[i];
    }
    return CPS_FILE_MEMORY;
}

/* "ramin:", "reg:" and so on before a number: the kind of place, 0 if there is none. */
static char prefixed_file(const struct session *session, const char *at, size_t *length)
{
    const struct cps_engine_ops *ops = session_engine(session)->ops;
    for (unsigned i = 0; i < ops->files; i++) {
        const char *name = ops->file[i].sigil == CPS_FILE_REGISTER ? "reg" : ops->file[i].name;
        *length = strlen(name) + 1;
        if (!strncmp(at, name, *length - 1) && at[*length - 1] == ':')
            return ops->file[i].sigil;
    }
    *length = 0;
    return 0;
}

static uint64_t bracketed(struct parser *p, char end, const char *expected)
{
    p->depth++; /* unary() has looked how deep it is */
    p->at++;
    uint64_t value = binary(p, 0);
    p->at = cps_lex_blank(p->at);
    if (*p->at == end)
        p->at++;
    else
        fail(p, expected);
    p->depth--;
    return value;
}

/* ---- places: registers, values with a name, dwords of memory ---- */

static bool take_place(struct parser *p, char file, uint64_t number, struct cps_location *ret)
{
    *ret = (struct cps_location){(uint8_t)p->core, file, number};
    return !p->expected;
}

/* After a sign: a name of the space, or a number. */
static bool numbered_place(struct parser *p, enum cps_space space, char file, const char *expected,
                           struct cps_location *ret)
{
    int64_t number = 0;
    uint32_t named = 0;
    size_t length = name_length(p->at);
    if (length && space < CPS_SPACE_COUNT &&
        cps_name_number(session_names(p->session, p->core), space, p->at, length, &named)) {
        p->at += length;
        return take_place(p, file, named, ret);
    }
    const char *at = p->at;
    if (cps_lex_number(&at, &number) && number >= 0 && number <= UINT32_MAX)
        p->at = at;
    else
        fail(p, expected);
    return take_place(p, file, (uint64_t)number, ret);
}

/* A named value of the engine's state: "a.addr". */
static bool scalar_place(struct parser *p, struct cps_location *ret)
{
    const struct cps_engine_ops *ops = session_engine(p->session)->ops;
    size_t length = 0; /* what names of scalars have between: "cache1.put", "irq-level" */
    while (isalnum((unsigned char)p->at[length]) ||
           (p->at[length] && strchr("._-", p->at[length]) &&
            isalpha((unsigned char)p->at[length + 1])))
        length++;
    for (unsigned i = 0; i < ops->regs; i++) {
        if (!cps_lex_is(p->at, length, ops->reg[i].name))
            continue;
        p->at += length;
        return take_place(p, CPS_FILE_SCALAR, i, ret);
    }
    return false;
}

/* After a "$": two digits, "sp", "lr", the name of a port, or a named value. */
static bool general_place(struct parser *p, struct cps_location *ret)
{
    static const char *const ports[] = {"rem", "addr", "usraddr", "data"};
    int64_t number = 0;
    unsigned port = 0;
    const char *word = p->at;
    size_t length = 0;
    while (isalnum((unsigned char)word[length]))
        length++;
    while (port < 4 && !cps_lex_is(word, length, ports[port]))
        port++;
    p->at += length;
    if (cps_lex_is(word, length, "pc") || cps_lex_is(word, length, "npc"))
        return take_place(p, CPS_FILE_PC, *word == 'n', ret);
    if (has_file(p->session, CPS_FILE_GENERAL) && port < 4)
        return take_place(p, CPS_FILE_GENERAL, 0x1c + port, ret);
    if (has_file(p->session, CPS_FILE_GENERAL) && cps_lex_register_(word - 1, length, &number))
        return take_place(p, CPS_FILE_GENERAL, (uint64_t)number, ret);
    p->at = word;
    if (!scalar_place(p, ret))
        fail(p, "a register of this engine, such as $pc: info registers names them");
    return !p->expected;
}

/* "ramin:0x100", "a.addr", "RB_CCU_CNTL"; false, and nothing is wrong, if it is none of these. */
static bool named_place(struct parser *p, struct cps_location *ret)
{
    size_t length = name_length(p->at);
    size_t prefix = 0;
    uint32_t number = 0;
    char file = prefixed_file(p->session, p->at, &prefix);
    p->at += prefix;
    if (file)
        return numbered_place(p, file == CPS_FILE_REGISTER ? CPS_SPACE_GPU : CPS_SPACE_COUNT, file,
                              "a number after the \":\", for a register also its name", ret);
    if (scalar_place(p, ret))
        return true;
    if (!cps_name_number(session_names(p->session, p->core), CPS_SPACE_GPU, p->at, length, &number))
        return false;
    p->at += length;
    return take_place(p, CPS_FILE_REGISTER, number, ret);
}

static bool place_at(struct parser *p, struct cps_location *ret)
{
    switch (*p->at) {
    case '$':
        p->at++;
        return general_place(p, ret);
    case '@':
        p->at++;
        return numbered_place(p, CPS_SPACE_CONTROL, CPS_FILE_CONTROL,
                              "a control register: name or number", ret);
    case '%':
        p->at++;
        return numbered_place(p, CPS_SPACE_SQE, CPS_FILE_SQE, "an SQE register: name or number",
                              ret);
    case '[':
        return take_place(p, expr_memory(p->session), bracketed(p, ']', "\"]\""), ret);
    default:
        return cps_lex_identifier(p->at) && named_place(p, ret);
    }
}

/* ---- values ---- */

/* The packet that a core of afuc is at. */
static struct cps_pm4 packet_at(const struct parser *p)
{
    return cps_pm4_decode_any(cps_afuc_header(session_afuc(p->session), p->core, 0));
}

/* The value of a word; false if it is none, or nothing here has such a value. */
static bool word_value(const struct parser *p, const char *word, size_t length, uint64_t *ret)
{
    const struct cps_afuc *afuc = session_afuc(p->session);
    const struct cps_debug_location place = cps_debug_location(p->session->debug);
    const struct cps_item *item = session_item(p->session);
    struct cps_event event = {0};
    struct cps_pm4 packet = {0};
    if (afuc)
        packet = packet_at(p);
    if (afuc && cps_lex_is(word, length, "iova"))
        session_last_packet(p->session, p->core, &event);
    const struct {
        const char *name;
        bool known;
        uint64_t value;
    } words[] = {
        {"header", afuc, afuc ? cps_afuc_header(afuc, p->core, 0) : 0},
        {"opcode", afuc, packet.kind == CPS_PM4_TYPE7 ? packet.opcode : UINT32_MAX},
        {"count", afuc, packet.count},
        {"level", afuc, afuc ? cps_afuc_level(afuc, p->core) : 0},
        {"iova", afuc, event.addr},
        {"draw", afuc, place.tally - 1}, /* before the first one a number that no draw has */
        {"line", item, item ? item->line : 0},
        {"submission", true, session_submission(p->session)},
        {"submit", true, session_submission(p->session)},
        {"step", true, place.step},
        {"event", true, place.event},
        {"value", p->event, p->event ? p->event->value : 0},
        {"offset", p->event, p->event ? p->event->addr : 0},
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (!cps_lex_is(word, length, words[i].name))
            continue;
        *ret = words[i].value;
        return words[i].known;
    }
    return false;
}

/* A dword after the header of the packet at hand; 0 after its last. */
static uint64_t payload(struct parser *p)
{
    struct cps_event event;
    p->at += strlen("payload");
    uint64_t index = bracketed(p, ']', "\"]\"");
    if (index >= packet_at(p).count || !session_last_packet(p->session, p->core, &event))
        return 0;
    return session_value(p->session, p->core, CPS_FILE_MEMORY, event.addr + 4 + 4 * index);
}

/* A word wins over a place in the code, that one over a register. */
static uint64_t named(struct parser *p)
{
    size_t length = name_length(p->at);
    uint64_t value = 0;
    uint32_t pc = 0;
    size_t prefix = 0;
    struct cps_location place;
    bool is_prefixed = prefixed_file(p->session, p->at, &prefix);
    if (!is_prefixed && session_afuc(p->session) && !strncmp(p->at, "payload[", 8))
        return payload(p);
    bool is_word = !is_prefixed && word_value(p, p->at, length, &value);
    if (is_word || (!is_prefixed && session_find_place(p->session, p->core, p->at, length, &pc))) {
        p->at += length;
        return is_word ? value : pc;
    }
    if (place_at(p, &place))
        return session_value(p->session, p->core, place.file, place.number);
    return fail(p, "a register, label, packet or one of header, opcode, count, payload[N], "
                   "iova, level, draw, submission, step, event");
}

static uint64_t primary(struct parser *p)
{
    int64_t value = 0;
    struct cps_location place;
    if (*p->at == '(')
        return bracketed(p, ')', "\")\"");
    if (*p->at && strchr("$@%[", *p->at))
        return place_at(p, &place) ? session_value(p->session, p->core, place.file, place.number)
                                   : 0;
    if (cps_lex_number(&p->at, &value))
        return (uint64_t)value;
    return cps_lex_identifier(p->at) ? named(p) : fail(p, "a number, register or place");
}

static uint64_t unary(struct parser *p)
{
    p->at = cps_lex_blank(p->at);
    char operation = *p->at;
    if (p->depth == MAX_DEPTH)
        return fail(p, "fewer nested operators or brackets");
    if (operation != '-' && operation != '~' && operation != '!' && operation != '*')
        return primary(p);
    p->at++;
    p->depth++;
    uint64_t value = unary(p);
    p->depth--;
    return operation == '-'   ? 0 - value
           : operation == '~' ? ~value
           : operation == '!' ? !value
                              : value; /* gdb's "*" before an address */
}

/* By rising precedence; the longer of two that begin alike comes first. */
static const struct {
    const char *text;
    unsigned level;
} operators[] = {
    {"||", 0}, {"&&", 1}, {"==", 5}, {"!=", 5}, {"<<", 7}, {">>", 7},
    {"<=", 6}, {">=", 6}, {"|", 2},  {"^", 3},  {"&", 4},  {"<", 6},
    {">", 6},  {"+", 8},  {"-", 8},  {"*", 9},  {"/", 9},  {"%", 9},
};
#define OPERATORS (sizeof(operators) / sizeof(operators[0]))
#define LEVELS    10

static size_t find_operator(const char *at, unsigned level)
{
    size_t i = 0;
    while (i < OPERATORS && strncmp(at, operators[i].text, strlen(operators[i].text)) != 0)
        i++;
    return i < OPERATORS && operators[i].level == level ? i : OPERATORS;
}

static uint64_t compute(struct parser *p, const char *operation, uint64_t a, uint64_t b)
{
    bool doubled = operation[1] == operation[0];
    bool equal = operation[1] == '=';
    switch (operation[0]) {
    case '|':
        return doubled ? a || b : a | b;
    case '&':
        return doubled ? a && b : a & b;
    case '^':
        return a ^ b;
    case '=':
        return a == b;
    case '!':
        return a != b;
    case '<':
        return doubled ? (b > 63 ? 0 : a << b) : equal ? a <= b : a < b;
    case '>':
        return doubled ? (b > 63 ? 0 : a >> b) : equal ? a >= b : a > b;
    case '+':
        return a + b;
    case '-':
        return a - b;
    case '*':
        return a * b;
    default:
        if (!b)
            return fail(p, "a divisor other than 0");
        return operation[0] == '/' ? a / b : a % b;
    }
}

static uint64_t binary(struct parser *p, unsigned level)
{
    if (level == LEVELS)
        return unary(p);
    uint64_t value = binary(p, level + 1);
    for (;;) {
        p->at = cps_lex_blank(p->at);
        size_t i = find_operator(p->at, level);
        if (i == OPERATORS || p->expected)
            break;
        p->at += strlen(operators[i].text);
        value = compute(p, operators[i].text, value, binary(p, level + 1));
    }
    return value;
}

size_t expr_column(const struct session *session, const char *at)
{
    uintptr_t line = (uintptr_t)session->line;
    uintptr_t here = (uintptr_t)at;
    return session->line && here >= line && here - line <= strlen(session->line) ? here - line + 1
                                                                                 : 1;
}

/* @p column  that @p text begins in */
static struct cps_err *evaluate(const struct session *session, unsigned core,
                                const struct cps_event *event, const char *text, size_t column,
                                uint64_t *ret)
{
    struct parser p = {.session = session, .core = core, .event = event, .text = text, .at = text};
    uint64_t value = binary(&p, 0);
    p.at = cps_lex_blank(p.at);
    if (!p.expected && *p.at)
        fail(&p, "an operator or the end");
    if (p.expected)
        return cps_err_new(CPS_ERR_SYNTAX, "column %zu: expected %s",
                           (size_t)(p.wrong - text) + column, p.expected);
    *ret = value;
    return NULL;
}

struct cps_err *expr_eval(const struct session *session, unsigned core,
                          const struct cps_event *event, const char *text, uint64_t *ret)
{
    return evaluate(session, core, event, text, expr_column(session, text), ret);
}

struct cps_err *expr_eval_part(const struct session *session, unsigned core, const char *text,
                               size_t length, uint64_t *ret)
{
    CPS_FREE char *copy = strndup(text, length);
    return copy ? evaluate(session, core, NULL, copy, expr_column(session, text), ret)
                : cps_err_nomem();
}

bool expr_place(const struct session *session, unsigned core, const char *text,
                struct cps_location *ret)
{
    struct parser p = {.session = session, .core = core, .text = text};
    p.at = cps_lex_blank(text);
    return place_at(&p, ret) && !*cps_lex_blank(p.at) && has_file(session, ret->file) &&
           !(ret->file == CPS_FILE_PC && ret->number); /* $npc follows from $pc */
}

struct cps_err *expr_assign(struct session *session, unsigned core, const char *place,
                            const char *text, uint64_t *ret)
{
    struct cps_edit edit = {.what = CPS_EDIT_PLACE};
    if (!expr_place(session, core, place, &edit.place))
        return cps_err_new(CPS_ERR_SYNTAX,
                           "%s cannot be written, expected $REGISTER, $pc, @CONTROL, %%SQE, a "
                           "register or [ADDRESS]",
                           place);
    CPS_TRY(expr_eval(session, core, NULL, text, &edit.value));
    const struct cps_file *file = cps_engine_file(session_engine(session), edit.place.file);
    edit.value &= file->bits < 64 ? (UINT64_C(1) << file->bits) - 1 : UINT64_MAX;
    if (ret)
        *ret = edit.value;
    return cps_debug_edit(session->debug, &edit);
}
