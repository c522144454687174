/* SPDX-License-Identifier: MIT
 * Expressions over a machine's state: a parser that computes while it reads. */
#include "tools/debug/expr.h"

#include <ctype.h>
#include <string.h>

#include "isa/base/lex.h"

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

/* A name may hold what registers' names hold: RB_MRT[0].CONTROL, and +0x2 behind a label is a sum.
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

static struct cps_machine *machine(const struct parser *p)
{
    return session_machine(p->session);
}

/* The number behind "@" or "%": a name of the space, or a number. */
static bool space_number(struct parser *p, enum cps_space space, uint32_t *ret)
{
    int64_t number = 0;
    size_t length = name_length(p->at);
    if (length && cps_name_number(session_names(p->session, p->core), space, p->at, length, ret)) {
        p->at += length;
        return true;
    }
    if (!cps_lex_number(&p->at, &number))
        return false;
    *ret = (uint32_t)number;
    return true;
}

static bool special(const char *word, size_t length, const char *name)
{
    return strlen(name) == length && !memcmp(word, name, length);
}

/* What stands behind a "$": two digits, "sp", "lr", or the name of a port. */
static bool gpr_number(const char *word, size_t length, int64_t *ret)
{
    static const struct {
        const char *name;
        int number;
    } ports[] = {{"rem", 0x1c}, {"addr", 0x1d}, {"usraddr", 0x1e}, {"data", 0x1f}};
    for (size_t i = 0; i < sizeof(ports) / sizeof(ports[0]); i++) {
        if (special(word, length, ports[i].name)) {
            *ret = ports[i].number;
            return true;
        }
    }
    return cps_lex_register_(word - 1, length, ret);
}

static uint64_t general_register(struct parser *p)
{
    int64_t number = 0;
    const char *word = p->at;
    size_t length = 0;
    while (isalnum((unsigned char)word[length]))
        length++;
    p->at += length;
    if (special(word, length, "pc"))
        return cps_machine_pc(machine(p), p->core);
    if (special(word, length, "npc"))
        return cps_machine_npc(machine(p), p->core);
    if (gpr_number(word, length, &number))
        return cps_machine_gpr(machine(p), p->core, (unsigned)number);
    p->at = word;
    return fail(p, "$00 to $1f, or a name such as $rem or $pc");
}

/* Words of their own; they win over places of the same name. */
static bool word_value(struct parser *p, const char *word, size_t length, uint64_t *ret)
{
    const struct cps_debug_place place = cps_debug_place(p->session->debug);
    const uint32_t header = cps_machine_header(machine(p), p->core, 0);
    const struct {
        const char *name;
        uint64_t value;
        bool known;
    } words[] = {
        {"header", header, true},
        {"opcode", header >> 28 == 7 ? header >> 16 & 0x7f : UINT32_MAX, true},
        {"level", cps_machine_level(machine(p), p->core), true},
        {"submission", place.submission ? place.submission - 1 : 0, true},
        {"step", place.step, true},
        {"event", place.event, true},
        {"value", p->event ? p->event->value : 0, p->event != NULL},
        {"offset", p->event ? p->event->addr : 0, p->event != NULL},
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (!special(word, length, words[i].name))
            continue;
        *ret = words[i].value;
        return words[i].known;
    }
    return false;
}

static uint64_t named(struct parser *p)
{
    const struct cps_names *names = session_names(p->session, p->core);
    size_t length = name_length(p->at);
    uint64_t value = 0;
    uint32_t number = 0;
    if (!strncmp(p->at, "reg:", 4)) {
        p->at += 4;
        if (!space_number(p, CPS_SPACE_GPU, &number))
            return fail(p, "a GPU register: name or number");
        return cps_machine_reg(machine(p), number);
    }
    if (word_value(p, p->at, length, &value)) {
        p->at += length;
        return value;
    }
    if (session_find_place(p->session, p->core, p->at, length, &number)) {
        p->at += length;
        return number;
    }
    if (!cps_name_number(names, CPS_SPACE_GPU, p->at, length, &number))
        return fail(p, "a register, label, packet or one of header, opcode, level, submission, "
                       "step, event");
    p->at += length;
    return cps_machine_reg(machine(p), number);
}

static void expect(struct parser *p, char wanted, const char *what)
{
    p->at = cps_lex_blank(p->at);
    if (*p->at == wanted)
        p->at++;
    else
        fail(p, what);
}

static uint64_t bracketed(struct parser *p, char end, const char *what)
{
    if (p->depth == MAX_DEPTH)
        return fail(p, "fewer nested brackets");
    p->depth++;
    p->at++;
    uint64_t value = binary(p, 0);
    expect(p, end, what);
    p->depth--;
    return value;
}

static uint64_t primary(struct parser *p)
{
    uint32_t number = 0;
    int64_t value = 0;
    switch (*p->at) {
    case '$':
        p->at++;
        return general_register(p);
    case '@':
        p->at++;
        if (!space_number(p, CPS_SPACE_CONTROL, &number))
            return fail(p, "a control register: name or number");
        return cps_machine_control(machine(p), p->core, number);
    case '%':
        p->at++;
        if (!space_number(p, CPS_SPACE_SQE, &number))
            return fail(p, "an SQE register: name or number");
        return cps_machine_sqe(machine(p), p->core, number);
    case '(':
        return bracketed(p, ')', "\")\"");
    case '[':
        return cps_machine_memory(machine(p), bracketed(p, ']', "\"]\""), NULL);
    default:
        if (cps_lex_number(&p->at, &value))
            return (uint64_t)value;
        return cps_lex_identifier(p->at) ? named(p) : fail(p, "a number, register or place");
    }
}

static uint64_t unary(struct parser *p)
{
    p->at = cps_lex_blank(p->at);
    char operation = *p->at;
    if (p->depth == MAX_DEPTH)
        return fail(p, "fewer nested operators");
    if (operation != '-' && operation != '~' && operation != '!' && operation != '*')
        return primary(p);
    p->at++;
    p->depth++;
    uint64_t value = unary(p);
    p->depth--;
    return operation == '-'   ? 0 - value
           : operation == '~' ? ~value
           : operation == '!' ? !value
                              : value; /* gdb's "*" in front of an address */
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

static uint64_t shift(uint64_t a, uint64_t b, bool left)
{
    return b > 63 ? 0 : left ? a << b : a >> b;
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
        return doubled ? shift(a, b, true) : equal ? a <= b : a < b;
    case '>':
        return doubled ? shift(a, b, false) : equal ? a >= b : a > b;
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

struct cps_err *expr_eval(const struct session *session, unsigned core,
                          const struct cps_event *event, const char *text, uint64_t *ret)
{
    struct parser p = {.session = session, .core = core, .event = event, .text = text, .at = text};
    uint64_t value = binary(&p, 0);
    p.at = cps_lex_blank(p.at);
    if (!p.expected && *p.at)
        fail(&p, "an operator or the end");
    if (p.expected)
        return cps_err_new(CPS_ERR_SYNTAX, "column %zu: expected %s", (size_t)(p.wrong - text) + 1,
                           p.expected);
    *ret = value;
    return NULL;
}

static enum expr_place finish(const struct parser *p, enum expr_place place)
{
    return p->expected || *cps_lex_blank(p->at) ? EXPR_NONE : place;
}

static enum expr_place memory_place(struct parser *p, uint64_t *number)
{
    *number = binary(p, 0);
    expect(p, ']', "\"]\"");
    return finish(p, EXPR_MEMORY);
}

static enum expr_place register_place(struct parser *p, enum cps_space space, enum expr_place place,
                                      uint64_t *number)
{
    uint32_t found = 0;
    if (!space_number(p, space, &found))
        return EXPR_NONE;
    *number = found;
    return finish(p, place);
}

enum expr_place expr_place(const struct session *session, unsigned core, const char *text,
                           uint64_t *number)
{
    struct parser p = {.session = session, .core = core, .text = text};
    int64_t found = 0;
    text = cps_lex_blank(text);
    size_t length = strcspn(text, " \t");
    p.at = text + 1;
    *number = 0;
    switch (*text) {
    case '$':
        if (special(text + 1, length - 1, "pc"))
            return EXPR_PC;
        if (!gpr_number(text + 1, length - 1, &found) || *cps_lex_blank(text + length))
            return EXPR_NONE;
        *number = (uint64_t)found;
        return EXPR_GPR;
    case '@':
        return register_place(&p, CPS_SPACE_CONTROL, EXPR_CONTROL, number);
    case '%':
        return register_place(&p, CPS_SPACE_SQE, EXPR_SQE, number);
    case '[':
        return memory_place(&p, number);
    default:
        p.at = text + (strncmp(text, "reg:", 4) ? 0 : 4);
        if (p.at == text && !cps_lex_identifier(text))
            return EXPR_NONE;
        return register_place(&p, CPS_SPACE_GPU, EXPR_REG, number);
    }
}

struct cps_err *expr_assign(struct session *session, unsigned core, const char *place,
                            const char *text, uint32_t *ret)
{
    static const uint8_t what[] = {
        [EXPR_GPR] = CPS_EDIT_GPR, [EXPR_PC] = CPS_EDIT_PC,   [EXPR_CONTROL] = CPS_EDIT_CONTROL,
        [EXPR_SQE] = CPS_EDIT_SQE, [EXPR_REG] = CPS_EDIT_REG, [EXPR_MEMORY] = CPS_EDIT_MEMORY};
    struct cps_edit edit = {.core = core};
    uint64_t value = 0;
    enum expr_place kind = expr_place(session, core, place, &edit.number);
    if (kind == EXPR_NONE)
        return cps_err_new(CPS_ERR_SYNTAX,
                           "%s cannot be written, expected $REGISTER, $pc, @CONTROL, %%SQE, a GPU "
                           "register or [ADDRESS]",
                           place);
    CPS_TRY(expr_eval(session, core, NULL, text, &value));
    edit.what = (enum cps_edit_what)what[kind];
    edit.value = (uint32_t)value;
    if (ret)
        *ret = edit.value;
    return cps_debug_edit(session->debug, &edit);
}
