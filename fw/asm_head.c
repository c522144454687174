/* SPDX-License-Identifier: MIT
 * Which generation a source is for: its head says so, or its first word. */
#include <stdio.h>
#include <string.h>

#include "../isa/lex.h"
#include "asm.h"
#include "private.h"

/* "aNxx microcode", with "pfp" or "me" in between for a5xx: how listings begin. */
static bool read_head_comment(struct cps_assembler *a)
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

/* The start of what the current line says behind its labels. */
static const char *behind_labels(const struct cps_assembler *a)
{
    const char *at = cps_lex_blank(a->text.statement);
    for (size_t length; (length = cps_asm_label_length_(at));)
        at = cps_lex_blank(at + length + 1);
    return at;
}

/* Whether the current line makes a word; directives come before the first one, too. */
static bool is_instruction(const struct cps_assembler *a)
{
    const char *at = behind_labels(a);
    return *at && *at != '.';
}

/* The first word of the image, if the current line is a literal. */
static bool read_first_word(const struct cps_assembler *a, uint32_t *ret)
{
    uint64_t word = 0;
    if (!cps_lex_raw(behind_labels(a), &word))
        return false;
    *ret = (uint32_t)word;
    return true;
}

struct cps_err *cps_asm_head_(struct cps_assembler *a, unsigned gen)
{
    bool has_comment = false;
    bool has_word = false;
    uint32_t word = 0;
    a->text.muted = true;
    a->layout = CPS_LAYOUT_COUNT;
    for (bool begun = false; !begun && cps_asm_next_(&a->text);) {
        has_comment = has_comment || read_head_comment(a);
        has_word = read_first_word(a, &word);
        begun = has_word || is_instruction(a);
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
        a->layout = cps_fw_layout_(ident ? cps_fw_id_(word) : CPS_FW_NONE, a->gen);
    return NULL;
}
