/* SPDX-License-Identifier: MIT
 * Policies of scripts as text, along the rows of policy.def. */
#include <inttypes.h>
#include <string.h>

#include "isa/base/lex.h"
#include "emu/nv/bus.h"

static const struct row {
    size_t offset;
    const char *name;
    const char *words;
    uint64_t initial;
    uint64_t gens;
} rows[] = {
#define POLICY(gens, field, name, words, initial, meaning) \
    {offsetof(struct cps_nv_policy, field), name, words, initial, gens},
#include "emu/nv/policy.def"
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static uint64_t *value_of(struct cps_nv_policy *policy, const struct row *row)
{
    return (uint64_t *)((char *)policy + row->offset);
}

struct cps_nv_policy cps_nv_policy_default(void)
{
    struct cps_nv_policy policy;
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

static struct cps_err *set(const struct row *row, const char *word, size_t length,
                           struct cps_nv_policy *ret)
{
    bool is_number = *row->words == '#';
    if (is_number ? read_number(word, length, value_of(ret, row))
                  : choose(row->words, word, length, value_of(ret, row)))
        return NULL;
    return cps_err_new(CPS_ERR_SYNTAX, "policy %s=%.*s: expected %s", row->name,
                       length > 40 ? 40 : (int)length, word,
                       is_number ? "a number of 32 bits" : row->words);
}

static const struct row *find(const char *name, size_t length)
{
    for (unsigned i = 0; i < ROWS; i++) {
        if (strlen(rows[i].name) == length && !memcmp(rows[i].name, name, length))
            return &rows[i];
    }
    return NULL;
}

static struct cps_err *unknown_name(const char *word, size_t length)
{
    CPS_BUF names = {0};
    for (unsigned i = 0; i < ROWS; i++)
        cps_buf_printf(&names, "%s%s", i ? i + 1 < ROWS ? ", " : " or " : "", rows[i].name);
    return cps_err_new(CPS_ERR_SYNTAX, "policy %.*s: expected %s, with =WORD",
                       length > 40 ? 40 : (int)length, word, cps_buf_text(&names));
}

struct cps_err *cps_nv_policy_parse(const char *text, struct cps_nv_policy *ret)
{
    for (const char *at = text + strspn(text, " "); *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        size_t name = strcspn(at, "= ");
        const struct row *row = find(at, name);
        if (!row || name == length)
            return unknown_name(at, length);
        CPS_TRY(set(row, at + name + 1, length - name - 1, ret));
        at += length;
    }
    return NULL;
}

static void put_word(const char *words, uint64_t index, struct cps_buf *out)
{
    while (index--)
        words += strcspn(words, " ") + 1;
    cps_buf_add(out, words, strcspn(words, " "));
}

void cps_nv_policy_text(const struct cps_nv_policy *policy, enum cps_gen gen, struct cps_buf *out)
{
    struct cps_nv_policy copy = *policy;
    const char *between = "";
    for (unsigned i = 0; i < ROWS; i++) {
        if (!(rows[i].gens & cps_gen_mask(gen)))
            continue;
        cps_buf_printf(out, "%s%s=", between, rows[i].name);
        between = " ";
        if (*rows[i].words == '#')
            cps_buf_printf(out, "%" PRIu64, *value_of(&copy, &rows[i]));
        else
            put_word(rows[i].words, *value_of(&copy, &rows[i]), out);
    }
}
