/* SPDX-License-Identifier: MIT
 * Which generation and layout a source is for: its head says so, or its first word. */
#include <stdio.h>
#include <string.h>

#include "isa/base/lex.h"
#include "fw/asm/asm.h"
#include "fw/image/private.h"

/* The words of the current line's comment; 0 if there is none that is short. */
static int head_words(const struct cps_assembler *a, char word[3][16])
{
    size_t size = 0;
    const char *comment = cps_asm_comment_(&a->text, &size);
    char copy[64];
    if (!comment || size >= sizeof(copy))
        return 0;
    memcpy(copy, comment, size);
    copy[size] = '\0';
    return sscanf(copy, "%15s %15s %15s", word[0], word[1], word[2]);
}

/* "aNxx microcode", how listings begin; in between "pfp" or "me" of a5xx, or the word of a layout
 * that is not the generation's first one. */
static bool read_head_comment(struct cps_assembler *a)
{
    char word[3][16] = {""};
    enum cps_gen gen = CPS_A6XX;
    int count = head_words(a, word);
    if (count < 2 || strcmp(word[count - 1], "microcode") != 0 || strlen(word[0]) != 4 ||
        !cps_gen_parse(word[0], &gen) || !cps_gen_is_afuc(gen))
        return false;
    a->gen = gen;
    a->layout = cps_gen_layout(gen);
    if (count == 3 && gen == CPS_A5XX && !strcmp(word[1], "me"))
        a->layout = CPS_LAYOUT_A5XX_ME;
    a->has_layout = count == 3 && (gen == CPS_A5XX || cps_layout_parse(word[1], &a->layout)) &&
                    cps_layout_gen(a->layout) == gen;
    return true;
}

/* The start of what the current line says after its labels. */
static const char *behind_labels(const struct cps_assembler *a)
{
    const char *at = cps_lex_blank(a->text.statement);
    for (size_t length; (length = cps_asm_label_length_(at));)
        at = cps_asm_behind_label_(at, length);
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
    for (bool begun = false; !begun && cps_asm_next_(&a->text);) {
        has_comment = has_comment || read_head_comment(a);
        has_word = read_first_word(a, &word);
        begun = has_word || is_instruction(a);
    }
    if (a->text.held.failed)
        return cps_err_nomem();
    const struct cps_target *target = has_word ? cps_fw_target_(word) : NULL;
    if (gen)
        a->gen = (enum cps_gen)gen;
    else if (!has_comment && target)
        a->gen = target->gen;
    else if (!has_comment && has_word && word >> 24 <= 1)
        a->gen = word >> 24 ? CPS_A6XX : CPS_A5XX;
    else if (!has_comment)
        return cps_err_new(CPS_ERR_SYNTAX,
                           "%s: generation is unknown, expected a comment '; a6xx microcode' or a "
                           "first word such as [016ee001]",
                           a->text.name);
    if (!a->has_layout || cps_layout_gen(a->layout) != a->gen)
        a->layout = cps_fw_layout_(target ? cps_fw_id_(word) : CPS_FW_NONE, a->gen);
    return NULL;
}

struct cps_err *cps_asm_script_head_(struct cps_assembler *a, unsigned gen)
{
    enum cps_gen found = (enum cps_gen)gen;
    a->text.muted = true;
    while (!found && cps_asm_next_(&a->text) && !is_instruction(a)) {
        char word[3][16] = {""};
        enum cps_gen named = CPS_A6XX;
        if (head_words(a, word) >= 2 && cps_gen_parse(word[0], &named) && !cps_gen_is_afuc(named) &&
            !strcmp(word[1], cps_isa_name(cps_gen_isa(named))))
            found = named;
    }
    if (a->text.held.failed)
        return cps_err_nomem();
    if (!found)
        return cps_err_new(CPS_ERR_SYNTAX,
                           "%s: engine and chip are unknown, expected a comment such as "
                           "'; g92 hwsq', '; seq-new seq' or '; vp1-g80 vp1'",
                           a->text.name);
    a->gen = found;
    a->isa = cps_gen_isa(found);
    a->layout = cps_gen_layout(found);
    return NULL;
}
