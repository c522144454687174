/* SPDX-License-Identifier: MIT
 * Policies as text, along the rows of policy.def. */
#include "emu/policy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "isa/base/lex.h"

enum {
    AFUC = CPS_ON_AFUC,
    HWSQ = CPS_ON_HWSQ,
    SEQ = CPS_ON_SEQ,
    VP1 = CPS_ON_VP1,
    PFIFO = CPS_ON_PFIFO,
    LATE = CPS_ON_ALL + 1,
};

static const struct cps_policy_row rows[] = {
#define POLICY_FIRST(id, word) word
#define POLICY_WORD(id, word)  " " word
#define POLICY(engines, field, name, words, initial, meaning) \
    {(engines)&CPS_ON_ALL,                                    \
     offsetof(struct cps_policy, field),                      \
     name,                                                    \
     words,                                                   \
     initial,                                                 \
     ((engines)&LATE) != 0,                                   \
     meaning},
#define POLICY_NUMBER POLICY
#include "emu/policy.def"
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

/* The instruction set of engine number @p index, in the order of its first GEN row; NULL after the
 * last one. */
static const struct cps_isa *engine_at(unsigned index)
{
    const struct cps_isa *last = NULL;
    for (unsigned gen = CPS_GEN_NONE + 1; gen < CPS_GEN_COUNT; gen++) {
        const struct cps_isa *isa = cps_gen_isa((enum cps_gen)gen);
        if (isa != last && !index--)
            return isa;
        last = isa;
    }
    return NULL;
}

unsigned cps_engines_named(const char *name)
{
    const struct cps_isa *isa;
    for (unsigned i = 0; (isa = engine_at(i)); i++) {
        if (!strcmp(cps_isa_name(isa), name))
            return 1u << i;
    }
    return 0;
}

unsigned cps_engines_of(enum cps_gen gen)
{
    return cps_engines_named(cps_isa_name(cps_gen_isa(gen)));
}

/* What is before the next word of a list, of which @p rest are left. */
static const char *between(bool first, bool rest, const char *last)
{
    return first ? "" : rest ? ", " : last;
}

void cps_engines_text(unsigned engines, const char *last, struct cps_buf *out)
{
    bool first = true;
    const struct cps_isa *isa;
    for (unsigned i = 0; (isa = engine_at(i)); i++) {
        if (!(engines >> i & 1))
            continue;
        bool rest = engine_at(i + 1) && engines >> (i + 1);
        cps_buf_printf(out, "%s%s", between(first, rest, last), cps_isa_name(isa));
        first = false;
    }
}

const struct cps_policy_row *cps_policy_rows(size_t *count)
{
    *count = ROWS;
    return rows;
}

const struct cps_policy_row *cps_policy_row(const char *name, size_t length)
{
    for (unsigned i = 0; i < ROWS; i++) {
        if (strlen(rows[i].name) == length && !memcmp(rows[i].name, name, length))
            return &rows[i];
    }
    return NULL;
}

static uint64_t *value_of(struct cps_policy *policy, const struct cps_policy_row *row)
{
    return (uint64_t *)((char *)policy + row->offset);
}

struct cps_policy cps_policy_default(void)
{
    struct cps_policy policy;
    for (unsigned i = 0; i < ROWS; i++)
        *value_of(&policy, &rows[i]) = rows[i].initial;
    return policy;
}

/* The choice called @p word among words with blanks between. */
static bool choose(const char *words, const char *word, size_t length, uint64_t *ret)
{
    uint64_t index = 0;
    for (;; index++) {
        size_t size = strcspn(words, " ");
        if (size == length && !memcmp(words, word, length)) {
            *ret = index;
            return true;
        }
        if (!words[size])
            return false;
        words += size + 1;
    }
}

static bool read_number(const char *word, size_t length, uint64_t *ret)
{
    const char *at = word;
    int64_t value = 0;
    /* Far below what a clock of 64 bits can add up to. */
    if (!cps_lex_number(&at, &value) || at != word + length || value > UINT32_MAX)
        return false;
    *ret = (uint64_t)value;
    return true;
}

/* Which numbers a row takes: "#", or "#FIRST-LAST/STEP". */
struct numbers {
    uint64_t first, last, step;
};
static struct numbers numbers_of(const char *words)
{
    struct numbers of = {0, UINT32_MAX, 1};
    if (words[1])
        sscanf(words, "#%" SCNu64 "-%" SCNu64 "/%" SCNu64, &of.first, &of.last, &of.step);
    return of;
}

static struct cps_err *set_number(const struct cps_policy_row *row, const char *word, size_t length,
                                  struct cps_policy *ret)
{
    const struct numbers of = numbers_of(row->words);
    uint64_t value = 0;
    CPS_BUF what = {0};
    if (read_number(word, length, &value) && value >= of.first && value <= of.last &&
        value % of.step == 0) {
        *value_of(ret, row) = value;
        return NULL;
    }
    if (of.step == 1)
        cps_buf_str(&what, "a number of 32 bits");
    else
        cps_buf_printf(&what, "a multiple of %" PRIu64 " from %" PRIu64 " to %" PRIu64, of.step,
                       of.first, of.last);
    return cps_err_new(CPS_ERR_SYNTAX, "policy %s=%.*s: expected %s", row->name,
                       length > 40 ? 40 : (int)length, word, cps_buf_text(&what));
}

static struct cps_err *set(const struct cps_policy_row *row, const char *word, size_t length,
                           struct cps_policy *ret)
{
    if (*row->words == '#')
        return set_number(row, word, length, ret);
    if (choose(row->words, word, length, value_of(ret, row)))
        return NULL;
    return cps_err_new(CPS_ERR_SYNTAX, "policy %s=%.*s: expected %s", row->name,
                       length > 40 ? 40 : (int)length, word, row->words);
}

/* Lists those that have a meaning for one of @p engines. */
static struct cps_err *unknown_name(const char *word, size_t length, unsigned engines)
{
    CPS_BUF names = {0};
    unsigned left = 0;
    for (unsigned i = 0; i < ROWS; i++)
        left += (rows[i].engines & engines) != 0;
    for (unsigned i = 0; i < ROWS; i++) {
        if (rows[i].engines & engines)
            cps_buf_printf(&names, "%s%s", between(!names.size, --left, " or "), rows[i].name);
    }
    if (names.failed)
        return cps_err_nomem();
    return cps_err_new(CPS_ERR_SYNTAX, "policy %.*s: expected %s, with =WORD",
                       length > 40 ? 40 : (int)length, word, cps_buf_text(&names));
}

struct cps_err *cps_policy_parse_for(const char *text, unsigned engines, struct cps_policy *ret)
{
    struct cps_policy policy = *ret;
    for (const char *at = text + strspn(text, " "); *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        size_t name = strcspn(at, "= ");
        const struct cps_policy_row *row = cps_policy_row(at, name);
        if (!row || name == length || !(row->engines & engines))
            return unknown_name(at, length, engines);
        CPS_TRY(set(row, at + name + 1, length - name - 1, &policy));
        at += length;
    }
    *ret = policy;
    return NULL;
}

struct cps_err *cps_policy_parse(const char *text, enum cps_gen gen, struct cps_policy *ret)
{
    return cps_policy_parse_for(text, cps_engines_of(gen), ret);
}

void cps_policy_text(const struct cps_policy *policy, enum cps_gen gen, struct cps_buf *out)
{
    struct cps_policy copy = *policy;
    const char *space = "";
    for (unsigned i = 0; i < ROWS; i++) {
        uint64_t value = *value_of(&copy, &rows[i]);
        bool absent = rows[i].late && value == rows[i].initial;
        if (absent || !(rows[i].engines & cps_engines_of(gen)))
            continue;
        cps_buf_printf(out, "%s%s=", space, rows[i].name);
        space = " ";
        const char *word = rows[i].words;
        for (uint64_t index = *word == '#' ? 0 : value; index--;)
            word += strcspn(word, " ") + 1;
        if (*word == '#')
            cps_buf_printf(out, "%" PRIu64, value);
        else
            cps_buf_add(out, word, strcspn(word, " "));
    }
}
