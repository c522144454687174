/* SPDX-License-Identifier: MIT
 * The assembler's directives: what begins with a dot. */
#include <inttypes.h>
#include <string.h>

#include "isa/base/lex.h"
#include "fw/asm/asm.h"
#include "fw/image/private.h"

/* Largest `.align`, in bytes: a page. */
#define MAX_ALIGN 4096

/* Fills with nops up to a multiple of @p dwords, counted from the start of the image: where the
 * image lies in memory is a multiple of more than any alignment. */
static bool align(struct cps_assembler *a, uint32_t dwords)
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
    return cps_asm_end_(a, end) && align(a, (uint32_t)bytes / 4);
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
        if (!cps_asm_end_(a, at + length) || !align(a, CPS_FW_ALIGN))
            return false;
        cps_asm_begin_(a, i);
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

/* A misspelt packet would silently be left without a handler. Only behind a shared handler, where
 * it does little harm, may stand names that come from another register database. */
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

/* The handler of packets without a label: what `#label` behind the directive names, else 0. */
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

bool cps_asm_directive_(struct cps_assembler *a, const char *at)
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
