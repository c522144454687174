/* SPDX-License-Identifier: MIT
 * The assembler: two passes over the lines. The first only counts words and collects labels, the
 * second encodes and reports; both run the same code. */
#include "fw/asm/asm.h"

#include <inttypes.h>
#include <string.h>

#include "isa/base/lex.h"
#include "isa/base/list.h"
#include "fw/image/private.h"

/* What a nop carries. */
#define PAYLOAD 0xffffff

bool cps_asm_expected_(struct cps_assembler *a, const char *at, const char *expected)
{
    return cps_asm_error_(&a->text, (size_t)(at - a->text.statement), "expected %s", expected);
}

bool cps_asm_end_(struct cps_assembler *a, const char *at)
{
    at = cps_lex_blank(at);
    return *at == '\0' || cps_asm_expected_(a, at, "the end of the line");
}

bool cps_asm_emit_(struct cps_assembler *a, uint32_t word)
{
    if (a->position == CPS_FW_MAX_WORDS)
        return cps_asm_error_(&a->text, 0, "image is full, expected at most %u words",
                              CPS_FW_MAX_WORDS);
    if (a->encoding) {
        if (!CPS_LIST_ROOM(a->words, a->position)) {
            a->failed = true;
            return false;
        }
        a->words[a->position] = word;
        if (a->debug && !cps_asm_note_line_(a))
            return false;
    }
    a->position++;
    return true;
}

/* "BV::start": a label of another section is where it is in the image. */
static bool find_elsewhere(const struct cps_assembler *a, const char *name, size_t section,
                           size_t length, uint32_t *ret)
{
    const struct cps_asm_label *label = NULL;
    for (unsigned i = 0; i < CPS_ASM_SECTIONS && !label; i++) {
        const char *is = cps_fw_role_section((enum cps_fw_role)i);
        if (is && strlen(is) == section && !memcmp(is, name, section))
            label = cps_asm_labels_find_(&a->labels, i, name + section + 2, length - section - 2);
    }
    if (label)
        *ret = label->place;
    return label != NULL;
}

bool cps_asm_find_label_(void *context, const char *name, size_t length, uint32_t *ret)
{
    const struct cps_assembler *a = context;
    const size_t section = cps_lex_identifier(name);
    if (section < length)
        return find_elsewhere(a, name, section, length, ret);
    const struct cps_asm_label *label = cps_asm_labels_find_(&a->labels, a->section, name, length);
    if (label)
        *ret = label->offset;
    return label != NULL;
}

/* Begins a section at the current position. */
static void begin_section(struct cps_assembler *a, unsigned section)
{
    a->section = section;
    a->section_used[section] = true;
    a->section_start = a->position;
    a->part_of[section] = a->part_count;
    a->part[a->part_count++] =
        (struct cps_fw_part){(enum cps_fw_role)section, a->position, 0, CPS_FW_NONE};
}

/* ---- directives ---- */

/* Largest `.align`, in bytes: a page. */
#define MAX_ALIGN 4096

/* Fills with nops up to a multiple of @p dwords, counted from the start of the image: where the
 * image lies in memory is a multiple of more than any alignment. */
static bool fill_with_nops(struct cps_assembler *a, uint32_t dwords)
{
    while (a->position % dwords) {
        if (!cps_asm_emit_(a, cps_fw_nop_(a->gen)))
            return false;
    }
    return true;
}

static bool do_align(struct cps_assembler *a, const char *at)
{
    int64_t bytes = 0;
    const char *end = cps_lex_blank(at);
    if (!cps_lex_number(&end, &bytes) || bytes < 4 || bytes > MAX_ALIGN || bytes % 4)
        return cps_asm_expected_(a, cps_lex_blank(at), "a multiple of 4 bytes, at most 4096");
    return cps_asm_end_(a, end) && fill_with_nops(a, (uint32_t)bytes / 4);
}

static bool do_lead(struct cps_assembler *a, const char *at)
{
    int64_t value = 0;
    const char *end = cps_lex_blank(at);
    if (!cps_lex_number(&end, &value) || value > UINT32_MAX)
        return cps_asm_expected_(a, cps_lex_blank(at), "a number of 32 bits");
    a->lead = (uint32_t)value;
    return cps_asm_end_(a, end);
}

static bool do_section(struct cps_assembler *a, const char *at)
{
    at = cps_lex_blank(at);
    size_t length = cps_lex_identifier(at);
    for (unsigned i = 0; i < CPS_ASM_SECTIONS; i++) {
        const char *name = cps_fw_role_section((enum cps_fw_role)i);
        if (!name || length != strlen(name) || memcmp(at, name, length) != 0)
            continue;
        if (a->section_used[i])
            return cps_asm_expected_(a, at, "a section that was not there before");
        if (!cps_asm_end_(a, at + length) || !fill_with_nops(a, CPS_FW_ALIGN))
            return false;
        begin_section(a, i);
        return true;
    }
    CPS_BUF text = {0};
    cps_buf_str(&text, "a section (");
    cps_fw_sections_(false, &text);
    cps_buf_str(&text, ")");
    a->failed = a->failed || text.failed;
    return cps_asm_expected_(a, at, cps_buf_text(&text));
}

struct handlers {
    const struct cps_asm_label *owner[CPS_FW_TABLE_SIZE];
};

static bool place_handler(struct cps_assembler *a, const struct cps_asm_label *label,
                          struct handlers *handlers)
{
    unsigned id = 0;
    if (!cps_fw_packet_(a->names, label->name, label->length, &id))
        return true;
    const struct cps_asm_label *first = handlers->owner[id];
    if (!first)
        handlers->owner[id] = label;
    return !first || first->offset == label->offset ||
           cps_asm_error_(&a->text, 0,
                          "packet 0x%02x has handlers in lines %" PRIu32 " and %" PRIu32
                          ", expected one",
                          id, first->line, label->line);
}

static bool looks_like_packet(const struct cps_asm_label *label)
{
    return label->length > 4 && (!memcmp(label->name, "CP_", 3) || !memcmp(label->name, "PKT", 3) ||
                                 !memcmp(label->name, "UNKN", 4));
}

/* A misspelt packet would silently be left without a handler. Only after a shared handler, where
 * it does little harm, may there be names that come from another register database. */
static bool check_name(struct cps_assembler *a, const struct cps_asm_label *label,
                       const struct handlers *handlers)
{
    unsigned unused = 0;
    if (!looks_like_packet(label) || cps_fw_packet_(a->names, label->name, label->length, &unused))
        return true;
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++) {
        if (handlers->owner[id] && handlers->owner[id]->offset == label->offset)
            return true;
    }
    return cps_asm_error_(&a->text, 0,
                          "label %.*s in line %" PRIu32 " is no packet, expected a packet's name "
                          "or UNKN0 to UNKN127",
                          label->length > 60 ? 60 : (int)label->length, label->name, label->line);
}

static bool find_handlers(struct cps_assembler *a, struct handlers *ret)
{
    bool ok = true;
    for (unsigned step = 0; step < 2; step++) {
        for (size_t i = 0; i < a->labels.count; i++) {
            const struct cps_asm_label *label = &a->labels.list[i];
            if (label->section == a->section)
                ok &= step ? check_name(a, label, ret) : place_handler(a, label, ret);
        }
    }
    return ok;
}

/* The handler of packets without a label: what `#label` after the directive names, else 0. */
static bool read_default(struct cps_assembler *a, const char *at, uint32_t *ret)
{
    at = cps_lex_blank(at);
    *ret = 0;
    if (*at != '#')
        return cps_asm_end_(a, at);
    size_t length = cps_lex_identifier(at + 1);
    const struct cps_asm_label *label =
        cps_asm_labels_find_(&a->labels, a->section, at + 1, length);
    if (!label)
        return cps_asm_expected_(a, at, "a label that is defined");
    *ret = label->offset;
    return cps_asm_end_(a, at + 1 + length);
}

static bool do_jumptbl(struct cps_assembler *a, const char *at)
{
    struct handlers handlers = {0};
    uint32_t fallback = 0;
    uint32_t *table = &a->part[a->part_count - 1].table;
    *table = *table == CPS_FW_NONE ? cps_asm_pc_(a) : *table;
    bool ok = !a->encoding || (read_default(a, at, &fallback) && find_handlers(a, &handlers));
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++) {
        if (!cps_asm_emit_(a, handlers.owner[id] ? handlers.owner[id]->offset : fallback))
            return false;
    }
    return ok;
}

static bool do_directive(struct cps_assembler *a, const char *at)
{
    static const struct {
        const char *name;
        bool (*run)(struct cps_assembler *a, const char *at);
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
    return cps_asm_expected_(a, at, ".align, .jumptbl, .lead or .section");
}

/* ---- statements ---- */

/* "[#label]": where a label is, as the payload of a nop. */
static bool do_offset_word(struct cps_assembler *a, const char *at)
{
    int64_t offset = 0;
    const char *end = at + 1;
    if (!a->encoding)
        return cps_asm_emit_(a, 0);
    const char *expected = cps_lex_labels(&end, cps_asm_find_label_, a, &offset);
    if (!expected && offset > PAYLOAD)
        expected = "labels that make a number of 24 bits";
    if (!expected && *(end = cps_lex_blank(end)) != ']')
        expected = "']'";
    if (expected)
        cps_asm_expected_(a, end, expected);
    return cps_asm_emit_(a, cps_fw_offset_word_(a->gen, (uint32_t)offset)) &&
           (expected || cps_asm_end_(a, end + 1));
}

/* The name in the source rather than in the copy of its line: the copy is soon overwritten. */
static bool define_label(struct cps_assembler *a, const char *at, size_t length)
{
    const char *name = a->text.line + (at - a->text.statement);
    if (!a->encoding) {
        const struct cps_asm_label label = {name,           length,      a->section,
                                            cps_asm_pc_(a), a->position, a->text.number};
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

size_t cps_asm_label_length_(const char *at)
{
    size_t length = cps_lex_identifier(at);
    return length && *cps_lex_blank(at + length) == ':' ? length : 0;
}

const char *cps_asm_behind_label_(const char *at, size_t length)
{
    return cps_lex_blank(cps_lex_blank(at + length) + 1);
}

static bool do_statement(struct cps_assembler *a)
{
    const char *at = cps_lex_blank(a->text.statement);
    for (size_t length; (length = cps_asm_label_length_(at));
         at = cps_asm_behind_label_(at, length)) {
        if (!define_label(a, at, length))
            return false;
    }
    if (*at == '\0')
        return true;
    if (a->isa != &cps_isa_afuc)
        return cps_asm_script_(a, at);
    if (*at == '.')
        return do_directive(a, at);
    if (*at == '[' && *cps_lex_blank(at + 1) == '#')
        return do_offset_word(a, at);
    uint64_t word = 0;
    if (a->encoding) {
        const struct cps_parse_names names = {
            .names = a->names, .label = cps_asm_find_label_, .context = a};
        size_t column = 0;
        struct cps_err *err = cps_parse(a->isa, a->gen, at, cps_asm_pc_(a), &names, &column, &word);
        if (err)
            cps_asm_error_(&a->text, (size_t)(at - a->text.statement) + column, "%s", err->message);
        cps_err_free(err);
    }
    return cps_asm_emit_(a, (uint32_t)word);
}

static void run_pass(struct cps_assembler *a, bool encoding)
{
    a->encoding = encoding;
    a->text.muted = !encoding;
    a->position = 0;
    a->part_count = 0;
    a->scheme = CPS_NAMES_MEASURED;
    memset(a->section_used, 0, sizeof(a->section_used));
    begin_section(a, CPS_FW_SQE);
    cps_asm_rewind_(&a->text);
    while (!a->failed && cps_asm_next_(&a->text)) {
        if (!do_statement(a) && a->position == CPS_FW_MAX_WORDS)
            break;
    }
    if (a->isa != &cps_isa_afuc)
        cps_asm_script_end_(a);
}

void cps_asm_run_(struct cps_assembler *a)
{
    run_pass(a, false);
    cps_asm_labels_sort_(&a->labels);
    run_pass(a, true);
}

static void put_result(struct cps_assembler *a, uint32_t *words, struct cps_asm *ret)
{
    words[0] = a->lead;
    if (a->position)
        memcpy(words + 1, a->words, (size_t)a->position * 4);
    *ret = (struct cps_asm){words, a->position + 1};
}

static struct cps_err *assemble(struct cps_assembler *a, unsigned gen, struct cps_asm *ret)
{
    CPS_TRY(cps_asm_head_(a, gen));
    CPS_TRY(cps_names_create(a->layout, NULL, &a->names));
    cps_asm_run_(a);
    if (a->failed)
        return cps_err_nomem();
    CPS_TRY(cps_asm_errors_(&a->text));
    uint32_t *words = malloc(((size_t)a->position + 1) * 4);
    if (!words)
        return cps_err_nomem();
    put_result(a, words, ret);
    return NULL;
}

void cps_asm_deinit_(struct cps_assembler *a)
{
    cps_buf_deinit(&a->bytes);
    cps_names_destroy(a->names);
    cps_asm_labels_deinit_(&a->labels);
    cps_asm_text_deinit_(&a->text);
    free(a->words);
}

struct cps_err *cps_assemble(const char *name, const char *text, size_t size, unsigned gen,
                             struct cps_asm *ret)
{
    CPS_CLEANUP(cps_asm_deinit_) struct cps_assembler a = {.isa = &cps_isa_afuc};
    cps_asm_text_init_(&a.text, name, text, size);
    return assemble(&a, gen, ret);
}

struct cps_err *cps_program_assemble(const char *name, const char *text, size_t size, unsigned gen,
                                     struct cps_program *ret)
{
    CPS_CLEANUP(cps_asm_deinit_) struct cps_assembler a = {.isa = &cps_isa_afuc};
    CPS_CLEANUP(cps_program_deinit) struct cps_program program = {0};
    cps_asm_text_init_(&a.text, name, text, size);
    a.debug = &program.debug;
    CPS_TRY(assemble(&a, gen, &program.image));
    CPS_TRY(cps_asm_program_(&a, &program));
    *ret = program;
    program = (struct cps_program){0};
    return NULL;
}
