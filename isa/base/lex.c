/* SPDX-License-Identifier: MIT
 * The words that every text of ours is made of. */
#include "isa/base/lex.h"

#include <ctype.h>
#include <string.h>

const char *cps_lex_blank(const char *at)
{
    while (*at == ' ' || *at == '\t')
        at++;
    return at;
}

size_t cps_lex_identifier(const char *at)
{
    size_t length = 0;
    while (isalpha((unsigned char)at[length]) || at[length] == '_' ||
           (length && isdigit((unsigned char)at[length])))
        length++;
    return length;
}

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    int lower = tolower((unsigned char)c);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 16;
}

/* Reads digits of a base from *at; false if there is none or the value passes 63 bits. */
static bool read_digits(const char **at, int base, int64_t *ret)
{
    const char *start = *at;
    const char *end = start;
    int64_t value = 0;
    for (int digit; (digit = digit_value(*end)) < base; end++) {
        if (value > (INT64_MAX - digit) / base)
            return false;
        value = value * base + digit;
    }
    if (end == start)
        return false;
    *at = end;
    *ret = value;
    return true;
}

bool cps_lex_number(const char **at, int64_t *ret)
{
    const char *digits = cps_lex_blank(*at);
    int base = 10;
    if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')) {
        base = 16;
        digits += 2;
    }
    if (!read_digits(&digits, base, ret) || isalnum((unsigned char)*digits) || *digits == '_')
        return false;
    *at = digits;
    return true;
}

bool cps_lex_take(const char **at, const char *word)
{
    const char *start = cps_lex_blank(*at);
    size_t length = strlen(word);
    if (strncmp(start, word, length) != 0)
        return false;
    *at = start + length;
    return true;
}

/* "[hex]" that fits 32 bits, at *at. */
static bool read_bracket(const char **at, int64_t *ret)
{
    const char *digits = *at + 1;
    if (**at != '[' || !read_digits(&digits, 16, ret) || *digits != ']' || *ret > UINT32_MAX)
        return false;
    *at = digits + 1;
    return true;
}

bool cps_lex_raw(const char *at, uint64_t *ret)
{
    int64_t value = 0;
    if (!read_bracket(&at, &value) || *cps_lex_blank(at))
        return false;
    *ret = (uint64_t)value;
    return true;
}

bool cps_lex_unit(const char **at, unsigned digits, uint32_t *ret)
{
    const char *end = *at;
    int64_t value = 0;
    if (!read_bracket(&end, &value) || value >> digits * 4)
        return false;
    *at = end;
    *ret = (uint32_t)value;
    return true;
}

bool cps_lex_register_(const char *word, size_t length, int64_t *ret)
{
    if (length != 2)
        return false;
    if (!memcmp(word, "$sp", 3) || !memcmp(word, "$lr", 3)) {
        *ret = word[1] == 's' ? 0x1a : 0x1b;
        return true;
    }
    int high = digit_value(word[1]);
    int low = digit_value(word[2]);
    *ret = high * 16 + low;
    return high < 2 && low < 16;
}

/* "a" or "BV::a". */
static size_t label_length(const char *at)
{
    size_t length = cps_lex_identifier(at);
    size_t more =
        length && !strncmp(at + length, "::", 2) ? cps_lex_identifier(at + length + 2) : 0;
    return length + (more ? 2 + more : 0);
}

/* "#a" or "#a * 4"; after the first one also a number alone. */
static const char *read_term(const char **at, cps_lex_label_fn *find, void *context, bool first,
                             int64_t *ret)
{
    enum { MOST = 0xffff };
    const char *word = *at = cps_lex_blank(*at);
    size_t length = *word == '#' ? label_length(word + 1) : 0;
    uint32_t place = 0;
    int64_t factor = 1;
    if (!first && *word != '#')
        return cps_lex_number(at, ret) && *ret <= UINT32_MAX ? NULL : "a label (#name) or a number";
    if (!length)
        return "a label (#name)";
    if (!find || !find(context, word + 1, length, &place))
        return "a label that is defined";
    *at = word + 1 + length;
    const char *number = *at;
    if (cps_lex_take(&number, "*")) {
        *at = number;
        if (!cps_lex_number(at, &factor) || factor > MOST) {
            *at = cps_lex_blank(number);
            return "a number of 16 bits";
        }
    }
    *ret = place * factor;
    return NULL;
}

const char *cps_lex_labels(const char **at, cps_lex_label_fn *find, void *context, int64_t *ret)
{
    const char *start = cps_lex_blank(*at);
    const char *expected = read_term(at, find, context, true, ret);
    while (!expected) {
        int64_t term = 0;
        bool minus = cps_lex_take(at, "-");
        if (!minus && !cps_lex_take(at, "+"))
            break;
        expected = read_term(at, find, context, false, &term);
        *ret += minus ? -term : term;
    }
    if (expected || (*ret >= 0 && *ret <= UINT32_MAX))
        return expected;
    *at = start;
    return "labels that make a number of 32 bits";
}
