/* SPDX-License-Identifier: MIT
 * The assembler: two passes over the lines. The first only counts words and collects labels, the
 * second encodes and reports; both run the same code. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../isa/lex.h"
#include "asm_labels.h"
#include "asm_text.h"
#include "private.h"

/* Largest `.align`, in bytes: a page. */
#define MAX_ALIGN 4096

struct assembler {
    struct cps_asm_text text;
    struct cps_asm_labels labels;
    struct cps_names *names;
    enum cps_gen gen;
    enum cps_layout layout;
    bool encoding;   /* the second pass */
    bool failed;     /* out of memory */
    uint32_t *words; /* of the image; grows during the second pass */
    size_t capacity;
    uint32_t position; /* dword of the image */
    uint32_t lead;
    unsigned section;
    bool section_used[3];
    uint32_t section_start;
};

static const char *const section_names[] = {"", "BV", "LPAC"};

static uint32_t pc(const struct assembler *a)
{
    return a->position - a->section_start;
}

static bool error(struct assembler *a, const char *at, const char *expected)
{
    return cps_asm_error_(&a->text, (size_t)(at - a->text.statement), "expected %s", expected);
}

static bool grow(struct assembler *a)
{
    size_t capacity = a->capacity ? a->capacity * 2 : 1024;
    uint32_t *words = realloc(a->words, capacity * sizeof(*words));
    if (!words) {
        a->failed = true;
        return false;
    }
    a->words = words;
    a->capacity = capacity;
    return true;
}

static bool emit(struct assembler *a, uint32_t word)
{
    if (a->position == CPS_FW_MAX_WORDS)
        return cps_asm_error_(&a->text, 0, "image is full, expected at most %u words",
                              CPS_FW_MAX_WORDS);
    if (a->encoding) {
        if (a->position >= a->capacity && !grow(a))
            return false;
        a->words[a->position] = word;
    }
    a->position++;
    return true;
}

/* Fills with nops up to a multiple of @p dwords, counted from the start of the image: where the
 * image lies in memory is a multiple of more than any alignment. */
static bool align(struct assembler *a, uint32_t dwords)
{
    while (a->position % dwords) {
        if (!emit(a, cps_fw_nop_(a->gen)))
            return false;
    }
    return true;
}

static bool find_label(void *context, const char *name, size_t length, uint32_t *ret)
{
    const struct assembler *a = context;
    const struct cps_asm_label *label = cps_asm_labels_find_(&a->labels, a->section, name, length);
    if (label)
        *ret = label->offset;
    return label != NULL;
}

static bool end_of_line(struct assembler *a, const char *at)
{
    at = cps_lex_blank(at);
    return *at == '\0' || error(a, at, "the end of the line");
}

static bool do_align(struct assembler *a, const char *at)
{
    int64_t bytes = 0;
    const char *end = cps_lex_blank(at);
    if (!cps_lex_number(&end, &bytes) || bytes < 4 || bytes > MAX_ALIGN || bytes % 4)
        return error(a, cps_lex_blank(at), "a multiple of 4 bytes, at most 4096");
    return end_of_line(a, end) && align(a, (uint32_t)bytes / 4);
}

static bool do_lead(struct assembler *a, const char *at)
{
    int64_t value = 0;
    const char *end = cps_lex_blank(at);
    if (!cps_lex_number(&end, &value) || value > UINT32_MAX)
        return error(a, cps_lex_blank(at), "a number of 32 bits");
    a->lead = (uint32_t)value;
    return end_of_line(a, end);
}

static bool do_section(struct assembler *a, const char *at)
{
    at = cps_lex_blank(at);
    size_t length = cps_lex_identifier(at);
    for (unsigned i = 1; i < 3; i++) {
        if (length != strlen(section_names[i]) || memcmp(at, section_names[i], length) != 0)
            continue;
        if (a->section_used[i])
            return error(a, at, "a section that was not there before");
        if (!end_of_line(a, at + length) || !align(a, CPS_FW_ALIGN))
            return false;
        a->section_used[i] = true;
        a->section = i;
        a->section_start = a->position;
        return true;
    }
    return error(a, at, "a section (BV or LPAC)");
}

/* A label that looks like a packet but is none would silently leave the packet without handler. */
static bool looks_like_packet(const struct cps_asm_label *label)
{
    return label->length > 3 && (!memcmp(label->name, "CP_", 3) || !memcmp(label->name, "PKT", 3) ||
                                 (label->length > 4 && !memcmp(label->name, "UNKN", 4)));
}

static bool place_handler(struct assembler *a, const char *at, const struct cps_asm_label *label,
                          const struct cps_asm_label *owner[CPS_FW_TABLE_SIZE])
{
    size_t column = (size_t)(at - a->text.statement);
    int length = label->length > 60 ? 60 : (int)label->length;
    unsigned id = 0;
    if (!cps_fw_packet_(a->names, label->name, label->length, &id))
        return !looks_like_packet(label) ||
               cps_asm_error_(&a->text, column,
                              "label %.*s in line %" PRIu32 " is no packet, expected a packet's "
                              "name or UNKN0 to UNKN127",
                              length, label->name, label->line);
    if (owner[id] && owner[id]->offset != label->offset)
        return cps_asm_error_(&a->text, column,
                              "label %.*s in line %" PRIu32 " is a second handler for packet "
                              "0x%02x, expected only the one in line %" PRIu32,
                              length, label->name, label->line, id, owner[id]->line);
    owner[id] = label;
    return true;
}

static bool do_jumptbl(struct assembler *a, const char *at)
{
    const struct cps_asm_label *owner[CPS_FW_TABLE_SIZE] = {0};
    bool ok = end_of_line(a, at);
    for (size_t i = 0; a->encoding && i < a->labels.count; i++) {
        if (a->labels.list[i].section == a->section)
            ok &= place_handler(a, a->text.statement, &a->labels.list[i], owner);
    }
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++) {
        if (!emit(a, owner[id] ? owner[id]->offset : 0))
            return false;
    }
    return ok;
}

static bool do_directive(struct assembler *a, const char *at)
{
    static const struct {
        const char *name;
        bool (*run)(struct assembler *a, const char *at);
    } directives[] = {
        {"align", do_align},
        {"jumptbl", do_jumptbl},
        {"lead", do_lead},
        {"section", do_section},
    };
    size_t length = cps_lex_identifier(at + 1);
    for (size_t i = 0; i < sizeof(directives) / sizeof(directives[0]); i++) {
        if (strlen(directives[i].name) == length && !memcmp(directives[i].name, at + 1, length))
            return directives[i].run(a, at + 1 + length);
    }
    return error(a, at, ".align, .jumptbl, .lead or .section");
}

/* "[#label]": where a label stands, as the payload of a nop. */
static bool do_offset_word(struct assembler *a, const char *at)
{
    uint32_t offset = 0;
    const char *name = cps_lex_blank(at + 1) + 1;
    size_t length = cps_lex_identifier(name);
    const char *end = cps_lex_blank(name + length);
    if (!length || *end != ']')
        return error(a, length ? end : name, length ? "']'" : "the name of a label");
    if (a->encoding && !find_label(a, name, length, &offset))
        error(a, name - 1, "a label that is defined");
    return emit(a, cps_fw_offset_word_(a->gen, offset)) && end_of_line(a, end + 1);
}

static bool do_instruction(struct assembler *a, const char *at)
{
    uint64_t word = 0;
    if (a->encoding) {
        const struct cps_parse_names names = {a->names, find_label, a};
        size_t column = 0;
        struct cps_err *err = cps_parse(cps_isa_afuc(), a->gen, at, pc(a), &names, &column, &word);
        if (err)
            cps_asm_error_(&a->text, (size_t)(at - a->text.statement) + column, "%s", err->message);
        cps_err_free(err);
    }
    return emit(a, (uint32_t)word);
}

/* The name in the source rather than in the copy of its line: the copy is soon overwritten. */
static bool define_label(struct assembler *a, const char *at, size_t length)
{
    const char *name = a->text.line + (at - a->text.statement);
    if (!a->encoding) {
        const struct cps_asm_label label = {name, length, a->section, pc(a), a->text.number};
        a->failed |= !cps_asm_labels_add_(&a->labels, label);
        return !a->failed;
    }
    const struct cps_asm_label *first = cps_asm_labels_find_(&a->labels, a->section, name, length);
    if (first && first->name != name)
        cps_asm_error_(&a->text, (size_t)(at - a->text.statement),
                       "label is defined twice, expected only the one in line %" PRIu32,
                       first->line);
    return true;
}

/* The length of the label that begins the text, without its colon; else 0. */
static size_t label_length(const char *at)
{
    size_t length = cps_lex_identifier(at);
    return length && at[length] == ':' ? length : 0;
}

static bool do_statement(struct assembler *a)
{
    const char *at = cps_lex_blank(a->text.statement);
    for (size_t length; (length = label_length(at)); at = cps_lex_blank(at + length + 1)) {
        if (!define_label(a, at, length))
            return false;
    }
    if (*at == '\0')
        return true;
    if (*at == '.')
        return do_directive(a, at);
    if (*at == '[' && *cps_lex_blank(at + 1) == '#')
        return do_offset_word(a, at);
    return do_instruction(a, at);
}

static void run_pass(struct assembler *a, bool encoding)
{
    a->encoding = encoding;
    a->text.muted = !encoding;
    a->position = a->section_start = 0;
    a->section = 0;
    memset(a->section_used, 0, sizeof(a->section_used));
    cps_asm_rewind_(&a->text);
    while (!a->failed && cps_asm_next_(&a->text)) {
        if (!do_statement(a) && a->position == CPS_FW_MAX_WORDS)
            break;
    }
}

/* "aNxx microcode", with "pfp" or "me" in between for a5xx: how listings begin. */
static bool read_head_comment(struct assembler *a)
{
    size_t size = 0;
    const char *comment = cps_asm_comment_(&a->text, &size);
    char word[3][16] = {""};
    char copy[64];
    if (!comment || size >= sizeof(copy))
        return false;
    memcpy(copy, comment, size);
    copy[size] = '\0';
    int count = sscanf(copy, "%15s %15s %15s", word[0], word[1], word[2]);
    if (count < 2 || strcmp(word[count - 1], "microcode") != 0 || strlen(word[0]) != 4 ||
        !cps_gen_parse(word[0], &a->gen))
        return false;
    if (count == 3 && a->gen == CPS_A5XX && !strcmp(word[1], "me"))
        a->layout = CPS_LAYOUT_A5XX_ME;
    return true;
}

/* The first word of the image, if the current line is a literal. */
static bool read_first_word(const struct assembler *a, uint32_t *ret)
{
    const char *at = cps_lex_blank(a->text.statement);
    uint64_t word = 0;
    for (size_t length; (length = label_length(at));)
        at = cps_lex_blank(at + length + 1);
    if (!cps_lex_raw(at, &word))
        return false;
    *ret = (uint32_t)word;
    return true;
}

/* What the generation is: as asked, else as the head comment says, else by the first word. */
static struct cps_err *find_generation(struct assembler *a, unsigned gen)
{
    bool has_comment = false;
    bool has_word = false;
    uint32_t word = 0;
    a->text.muted = true;
    a->layout = CPS_LAYOUT_COUNT;
    while (!has_word && cps_asm_next_(&a->text)) {
        has_comment = has_comment || read_head_comment(a);
        has_word = read_first_word(a, &word);
    }
    const struct cps_fw_ident *ident = has_word ? cps_fw_ident_word_(word) : NULL;
    if (gen)
        a->gen = (enum cps_gen)gen;
    else if (!has_comment && ident)
        a->gen = ident->gen;
    else if (!has_comment && has_word && word >> 24 <= 1)
        a->gen = word >> 24 ? CPS_A6XX : CPS_A5XX;
    else if (!has_comment)
        return cps_err_new(CPS_ERR_SYNTAX,
                           "%s: generation is unknown, expected a comment '; a6xx microcode' or a "
                           "first word such as [016ee001]",
                           a->text.name);
    bool keeps_layout = a->layout != CPS_LAYOUT_COUNT && a->gen == CPS_A5XX;
    if (!keeps_layout)
        a->layout = cps_fw_layout_(has_word ? cps_fw_id_(word) : 0, a->gen);
    return NULL;
}

static void put_result(struct assembler *a, uint32_t *words, struct cps_asm *ret)
{
    words[0] = a->lead;
    if (a->position)
        memcpy(words + 1, a->words, (size_t)a->position * 4);
    *ret = (struct cps_asm){words, a->position + 1};
}

static struct cps_err *assemble(struct assembler *a, unsigned gen, struct cps_asm *ret)
{
    CPS_TRY(find_generation(a, gen));
    CPS_TRY(cps_names_create(a->layout, NULL, &a->names));
    run_pass(a, false);
    cps_asm_labels_sort_(&a->labels);
    run_pass(a, true);
    if (a->failed)
        return cps_err_nomem();
    CPS_TRY(cps_asm_errors_(&a->text));
    uint32_t *words = malloc(((size_t)a->position + 1) * 4);
    if (!words)
        return cps_err_nomem();
    put_result(a, words, ret);
    return NULL;
}

struct cps_err *cps_assemble(const char *name, const char *text, size_t size, unsigned gen,
                             struct cps_asm *ret)
{
    struct assembler a = {0};
    cps_asm_text_init_(&a.text, name, text, size);
    struct cps_err *err = assemble(&a, gen, ret);
    cps_names_destroy(a.names);
    cps_asm_labels_deinit_(&a.labels);
    cps_asm_text_deinit_(&a.text);
    free(a.words);
    return err;
}
