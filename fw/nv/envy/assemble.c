/* SPDX-License-Identifier: MIT
 * Sources of envyas: lines, labels, directives, sections. Two passes: sizes, then bytes. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fw/nv/envy/table.h"
#include "fw/nv/script/script.h"
#include "isa/base/within.h"
#include "isa/base/list.h"

struct section {
    const char *name;
    size_t length;
    uint64_t base;
    struct cps_buf bytes;
};

struct assembler {
    const char *file;
    struct envy_scope scope;
    unsigned unit;
    char *text; /* without comments */
    unsigned line;
    struct section *section;
    size_t section_count;
    size_t current;
    struct cps_err *err;
};

static CPS_PRINTF(2, 3) bool fail(struct assembler *a, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!a->err)
        a->err =
            cps_err_within_(cps_err_vnew_(CPS_ERR_SYNTAX, format, args), "%s:%u", a->file, a->line);
    va_end(args);
    return false;
}

static bool nomem(struct assembler *a)
{
    a->err = a->err ? a->err : cps_err_nomem();
    return false;
}

/* ---- text ---- */

/* Blanks over the comments: from "//" to the end of the line, inside of slash and star, and of
 * slash and plus, which nest. Lines stay. */
static bool blank_comments(struct assembler *a, size_t size)
{
    unsigned nested = 0;
    bool star = false;
    bool rest = false;
    a->line = 1;
    for (size_t i = 0; i < size; i++) {
        char *at = a->text + i;
        bool inside = nested || star || rest;
        bool pair = false;
        a->line += *at == '\n';
        rest = rest && *at != '\n';
        if (!star && !rest && at[0] == '/' && at[1] == '+')
            pair = ++nested;
        else if (nested && at[0] == '+' && at[1] == '/')
            pair = true, nested--;
        else if (!inside && at[0] == '/' && at[1] == '*')
            pair = star = true;
        else if (star && at[0] == '*' && at[1] == '/')
            pair = true, star = false;
        else if (!inside && at[0] == '/' && at[1] == '/')
            pair = rest = true;
        if (*at != '\n' && (inside || pair))
            *at = ' ';
        if (pair)
            a->text[++i] = ' ';
    }
    return !nested && !star ? true : fail(a, "the file ends inside a comment");
}

/* ---- names ---- */

/* On the first pass a name is new; on the second it is there, with the same value. */
static bool add_label(struct assembler *a, const char *name, size_t length, uint64_t value)
{
    struct envy_label *label = cps_envy_label_(&a->scope, name, length);
    if (label && a->scope.first)
        return fail(a, "'%.*s' is there twice", (int)(length > 100 ? 100 : length), name);
    if (label) {
        label->value = value;
        return true;
    }
    if (!CPS_LIST_ROOM(a->scope.label, a->scope.label_count))
        return nomem(a);
    a->scope.label[a->scope.label_count++] = (struct envy_label){name, length, value};
    return true;
}

/* ---- sections ---- */

static struct section *here(const struct assembler *a)
{
    return &a->section[a->current];
}

static uint64_t position(const struct assembler *a)
{
    return here(a)->bytes.size / a->unit + here(a)->base;
}

static bool open_section(struct assembler *a, const char *name, size_t length, uint64_t base)
{
    for (size_t i = 0; i < a->section_count; i++) {
        if (a->section[i].length == length && !memcmp(a->section[i].name, name, length)) {
            a->current = i;
            return true;
        }
    }
    if (!CPS_LIST_ROOM(a->section, a->section_count))
        return nomem(a);
    a->current = a->section_count;
    a->section[a->section_count++] = (struct section){name, length, base, {0}};
    return true;
}

static bool emit(struct assembler *a, uint64_t value, unsigned bytes)
{
    struct cps_buf *to = &here(a)->bytes;
    if (to->size + bytes > CPS_SCRIPT_MAX_BYTES)
        return fail(a, "more than %zu bytes", CPS_SCRIPT_MAX_BYTES);
    for (unsigned i = 0; i < bytes; i++) {
        char byte = (char)(i < 8 ? value >> i * 8 : 0);
        cps_buf_add(to, &byte, 1);
    }
    return to->failed ? nomem(a) : true;
}

static bool fill_to(struct assembler *a, uint64_t size)
{
    if (size > CPS_SCRIPT_MAX_BYTES)
        return fail(a, "more than %zu bytes", CPS_SCRIPT_MAX_BYTES);
    while (here(a)->bytes.size < size) {
        if (!emit(a, 0, 1))
            return false;
    }
    return true;
}

/* ---- statements ---- */

static bool number(struct assembler *a, const char **at, const char *end, uint64_t *ret)
{
    if (!cps_envy_value_(&a->scope, at, end, ret))
        return fail(a, "found '%.*s', expected a number, or a name that is there",
                    (int)(end - *at > 60 ? 60 : end - *at), *at);
    return true;
}

static const char *skip(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
        at++;
    return at;
}

static size_t name_length(const char *at, const char *end)
{
    size_t length = 0;
    for (; at + length < end; length++) {
        char c = at[length];
        bool digit = c >= '0' && c <= '9';
        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && c != '_' && !(digit && length))
            break;
    }
    return length;
}

/* "#name", as .section and .equ have it; an older envyas has it without "#". */
static size_t take_name(struct assembler *a, const char **at, const char *end)
{
    *at = skip(*at, end);
    *at += *at < end && **at == '#';
    size_t length = name_length(*at, end);
    if (!length)
        fail(a, "expected a name");
    return length;
}

static bool do_section(struct assembler *a, const char *at, const char *end)
{
    uint64_t base = 0;
    size_t length = take_name(a, &at, end);
    const char *name = at;
    at = skip(at + length, end);
    return length && (at == end || number(a, &at, end, &base)) &&
           open_section(a, name, length, base);
}

static bool do_equ(struct assembler *a, const char *at, const char *end)
{
    uint64_t value = 0;
    size_t length = take_name(a, &at, end);
    const char *name = at;
    at = skip(at + length, end);
    return length && number(a, &at, end, &value) && add_label(a, name, length, value);
}

static bool do_align(struct assembler *a, const char *at, const char *end)
{
    uint64_t value = 0;
    uint64_t size = here(a)->bytes.size;
    if (!number(a, &at, end, &value))
        return false;
    if (!value || value > CPS_SCRIPT_MAX_BYTES)
        return fail(a, "alignment to %" PRIu64 " bytes, expected 1 to %zu", value,
                    CPS_SCRIPT_MAX_BYTES);
    return fill_to(a, (size + value - 1) / value * value);
}

static bool do_size(struct assembler *a, const char *at, const char *end)
{
    uint64_t value = 0;
    size_t size = here(a)->bytes.size;
    if (!number(a, &at, end, &value))
        return false;
    return value >= size ? fill_to(a, value)
                         : fail(a, "the section has %zu bytes, more than %" PRIu64, size, value);
}

static bool do_skip(struct assembler *a, const char *at, const char *end)
{
    uint64_t value = 0;
    return number(a, &at, end, &value) && value <= CPS_SCRIPT_MAX_BYTES
               ? fill_to(a, here(a)->bytes.size + value)
               : fail(a, "more than %zu bytes", CPS_SCRIPT_MAX_BYTES);
}

/* ".b32 1 2", ".u8 255", ".s16 -1": b takes what fits with or without a sign. */
static bool do_data(struct assembler *a, char sign, unsigned bits, const char *at, const char *end)
{
    for (at = skip(at, end); at < end; at = skip(at, end)) {
        uint64_t value = 0;
        if (!number(a, &at, end, &value))
            return false;
        uint64_t most = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
        bool fits_plain = value <= most;
        bool fits_signed = (value + (most / 2 + 1)) <= most || bits == 64;
        bool fits = sign == 'u'   ? fits_plain
                    : sign == 's' ? fits_signed
                                  : fits_plain || fits_signed;
        if (!fits && !a->scope.first)
            return fail(a, "0x%" PRIx64 " does not fit into .%c%u", value, sign, bits);
        if (!emit(a, value, bits / 8))
            return false;
    }
    return true;
}

static bool do_directive(struct assembler *a, const char *at, const char *end)
{
    static const struct {
        const char *name;
        bool (*run)(struct assembler *a, const char *at, const char *end);
    } directives[] = {{"section", do_section},
                      {"equ", do_equ},
                      {"align", do_align},
                      {"size", do_size},
                      {"skip", do_skip}};
    size_t length = name_length(++at, end);
    const char *behind = at + length;
    for (size_t i = 0; i < sizeof(directives) / sizeof(directives[0]); i++) {
        if (strlen(directives[i].name) == length && !memcmp(directives[i].name, at, length))
            return directives[i].run(a, behind, end);
    }
    char *stop = NULL;
    unsigned long bits = length > 1 && strchr("bus", *at) ? strtoul(at + 1, &stop, 10) : 0;
    if (stop == behind && bits && bits <= 64 && bits % 8 == 0)
        return do_data(a, *at, (unsigned)bits, behind, end);
    return fail(a,
                "found '.%.*s', expected .section, .equ, .align, .size, .skip, or .b, .u or .s "
                "with 8 to 64 bits",
                (int)(length > 40 ? 40 : length), at);
}

static bool do_insn(struct assembler *a, const char *at, const char *end)
{
    uint64_t word = 0;
    unsigned bytes = 0;
    while (end > at && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
        end--;
    a->scope.at = position(a);
    if (cps_envy_parse_(&a->scope, at, (size_t)(end - at), &word, &bytes))
        return emit(a, word, bytes);
    size_t length = a->scope.unknown_length;
    if (a->scope.unknown)
        return fail(a, "'%.*s' is not defined", (int)(length > 100 ? 100 : length),
                    a->scope.unknown);
    return fail(a, "found '%.*s', expected an instruction of envytools' %s that fits",
                (int)(end - at > 60 ? 60 : end - at), at, cps_isa_name(cps_gen_isa(a->scope.gen)));
}

/* ---- lines of a listing ---- */

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* @p count digits at @p at with a blank or the end after them. */
static bool digits(const char *at, const char *end, unsigned count, uint64_t *ret)
{
    *ret = 0;
    if ((size_t)(end - at) < count)
        return false;
    for (unsigned i = 0; i < count; i++) {
        if (digit(at[i]) < 0)
            return false;
        *ret = *ret << 4 | (unsigned)digit(at[i]);
    }
    return at + count == end || at[count] == ' ' || at[count] == ':';
}

/* Takes "00000010: 7f              " off; false if the line does not begin so. */
static bool take_columns(const struct assembler *a, const char **at, const char *end,
                         uint8_t bytes[ENVY_BYTES], unsigned *count)
{
    uint64_t value = 0;
    const char *to = *at;
    *count = 0;
    if (!digits(to, end, 8, &value) || to + 8 == end || to[8] != ':')
        return false;
    to = skip(to + 9, end);
    while (*count < ENVY_BYTES && digits(to, end, a->unit * 2, &value)) {
        for (unsigned i = 0; i < a->unit; i++)
            bytes[(*count)++] = (uint8_t)(value >> i * 8);
        to = skip(to + (size_t)a->unit * 2, end);
        if (a->unit > 1)
            break;
    }
    for (; end - to >= 2 && to[0] == '?' && to[1] == '?' && (end - to == 2 || to[2] == ' ');)
        to = skip(to + 2, end);
    to += to < end && *to == 'C';
    to += to < end && *to == 'B';
    *at = skip(to, end);
    return *count > 0;
}

/* The listing of the bytes is what is there: nothing was changed. */
static bool is_unchanged(struct assembler *a, const uint8_t *bytes, unsigned count, const char *at,
                         const char *end)
{
    CPS_BUF text = {0};
    struct envy_insn insn;
    while (end > at && (end[-1] == ' ' || end[-1] == '\r'))
        end--;
    cps_envy_print_(a->scope.gen, bytes, count, position(a), &insn, &text);
    if (text.failed)
        nomem(a);
    return text.size == (size_t)(end - at) && !memcmp(cps_buf_text(&text), at, text.size);
}

static bool do_statement(struct assembler *a, const char *at, const char *end)
{
    uint8_t bytes[ENVY_BYTES] = {0};
    unsigned count = 0;
    at = skip(at, end);
    if (at < end && take_columns(a, &at, end, bytes, &count) &&
        is_unchanged(a, bytes, count, at, end)) {
        uint64_t word = 0;
        for (unsigned i = 0; i < count; i++)
            word |= (uint64_t)bytes[i] << i * 8;
        return emit(a, word, count);
    }
    for (size_t length; (length = name_length(at, end)) && at + length < end && at[length] == ':';
         at = skip(at + length + 1, end)) {
        if (!add_label(a, at, length, position(a)))
            return false;
    }
    if (at == end || a->err)
        return !a->err;
    return *at == '.' ? do_directive(a, at, end) : do_insn(a, at, end);
}

/* ---- passes ---- */

static bool run(struct assembler *a, bool first)
{
    for (size_t i = 0; i < a->section_count; i++)
        cps_buf_clear(&a->section[i].bytes);
    a->scope.first = first;
    a->line = 1;
    if (!open_section(a, "default", 7, 0))
        return false;
    for (const char *at = a->text; *at;) {
        size_t length = strcspn(at, "\n;");
        if (!do_statement(a, at, at + length))
            return false;
        a->line += at[length] == '\n';
        at += length + (at[length] != '\0');
    }
    return true;
}

static void deinit(struct assembler *a)
{
    for (size_t i = 0; i < a->section_count; i++)
        cps_buf_deinit(&a->section[i].bytes);
    free(a->section);
    free(a->scope.label);
    free(a->text);
}

struct cps_err *cps_envy_assemble_(const char *name, const char *text, size_t size,
                                   enum cps_gen gen, struct cps_buf *ret)
{
    CPS_CLEANUP(deinit)
    struct assembler a = {.file = name,
                          .scope.gen = gen,
                          .unit = cps_isa_unit(cps_gen_isa(gen)),
                          .text = malloc(size + 2)};
    if (!a.text)
        return cps_err_nomem();
    for (size_t i = 0; i < size; i++)
        a.text[i] = text[i] ? text[i] : '?';
    memset(a.text + size, 0, 2);
    if (!blank_comments(&a, size) || !run(&a, true) || !run(&a, false))
        return a.err;
    for (size_t i = 0; i < a.section_count; i++)
        cps_buf_join(ret, &a.section[i].bytes);
    return ret->failed ? cps_err_nomem() : NULL;
}
