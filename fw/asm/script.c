/* SPDX-License-Identifier: MIT
 * The assembler for scripts (HWSQ, SEQ, VP1): instructions of several units, an end that SEQ needs,
 * bundles of VP1. */
#include <string.h>

#include "isa/base/lex.h"
#include "isa/base/le.h"
#include "fw/asm/asm.h"
#include "fw/nv/script/script.h"

#define BNOP 0xefffffffu

/* The first pass only wants the length: there, every label is somewhere. */
static bool find_label(void *context, const char *name, size_t length, uint32_t *ret)
{
    const struct cps_assembler *a = context;
    *ret = 0;
    return !a->encoding || cps_asm_find_label_(context, name, length, ret);
}

static bool emit_bytes(struct cps_assembler *a)
{
    const uint8_t *bytes = (const uint8_t *)cps_buf_text(&a->bytes);
    const unsigned unit = cps_isa_unit(a->isa);
    a->failed |= a->bytes.failed;
    for (size_t at = 0; at + unit <= a->bytes.size; at += unit) {
        if (!cps_asm_emit_(a, unit == 4 ? cps_le32(bytes + at) : bytes[at]))
            return false;
    }
    return true;
}

/* `.noend`: the words end without the one that ends a script. */
static bool do_noend(struct cps_assembler *a, const char *at)
{
    a->no_end = true;
    return cps_asm_end_(a, at);
}

/* `.names measured`, `.names envytools`: from here on. */
static bool do_names(struct cps_assembler *a, const char *at)
{
    bool measured = cps_lex_take(&at, "measured");
    if (!measured && !cps_lex_take(&at, "envytools"))
        return cps_asm_expected_(a, cps_lex_blank(at), "measured or envytools");
    a->scheme = measured ? CPS_NAMES_MEASURED : CPS_NAMES_ENVYTOOLS;
    return cps_asm_end_(a, at);
}

/* `.align`: up to where a branch can lead. */
static bool do_align(struct cps_assembler *a, const char *at)
{
    while (cps_asm_pc_(a) % 4) {
        if (!cps_asm_emit_(a, BNOP))
            return false;
    }
    return cps_asm_end_(a, at);
}

static const struct directive {
    const char *name;
    const struct cps_isa *isa;
    bool (*run)(struct cps_assembler *a, const char *at);
} directives[] = {
    {".noend", &cps_isa_seq, do_noend},
    {".names", &cps_isa_vp1, do_names},
    {".align", &cps_isa_vp1, do_align},
};

static bool do_directive(struct cps_assembler *a, const char *at)
{
    const char *start = at;
    for (unsigned i = 0; i < sizeof(directives) / sizeof(directives[0]); i++) {
        if (directives[i].isa == a->isa && cps_lex_take(&at, directives[i].name))
            return directives[i].run(a, at);
    }
    return cps_asm_expected_(a, start,
                             a->isa == &cps_isa_seq   ? "a directive (.noend)"
                             : a->isa == &cps_isa_vp1 ? "a directive (.names or .align)"
                                                      : "an instruction");
}

/* Whether the statement's "+", or its absence, is what the hardware makes of its first word. */
static bool check_bundle(struct cps_assembler *a, const char *at, bool plus)
{
    if (!a->encoding || a->bytes.size < 4)
        return true;
    uint32_t word = cps_le32((const uint8_t *)cps_buf_text(&a->bytes));
    bool joins =
        a->position && cps_insn_joins(a->isa, cps_asm_pc_(a), a->words[a->position - 1], word);
    if (joins == plus)
        return true;
    return cps_asm_expected_(a, at,
                             plus ? "a word that joins the bundle before it, or no '+'"
                                  : "'+', because this word joins the bundle before it");
}

bool cps_asm_script_(struct cps_assembler *a, const char *at)
{
    const struct cps_parse_names names = {
        .names = a->names, .label = find_label, .context = a, .scheme = a->scheme};
    size_t column = 0;
    const char *start = at;
    if (*at == '.')
        return do_directive(a, at);
    bool plus = a->isa == &cps_isa_vp1 && cps_lex_take(&at, "+");
    cps_buf_clear(&a->bytes);
    struct cps_err *err =
        cps_parse_bytes(a->isa, a->gen, at, cps_asm_pc_(a), &names, &column, &a->bytes);
    if (err)
        cps_asm_error_(&a->text, (size_t)(at - a->text.statement) + column, "%s", err->message);
    cps_err_free(err);
    if (a->isa == &cps_isa_vp1)
        check_bundle(a, start, plus);
    a->ended = a->bytes.size == 4 && !cps_le32((const uint8_t *)cps_buf_text(&a->bytes));
    return emit_bytes(a);
}

bool cps_asm_script_end_(struct cps_assembler *a)
{
    bool add = a->isa == &cps_isa_seq && !a->ended && !a->no_end;
    a->ended = a->no_end = false;
    return !add || cps_asm_emit_(a, 0);
}

struct cps_err *cps_script_assemble(const char *name, const char *text, size_t size, unsigned gen,
                                    struct cps_buf *ret)
{
    CPS_CLEANUP(cps_asm_deinit_) struct cps_assembler a = {0};
    cps_asm_text_init_(&a.text, name, text, size);
    CPS_TRY(cps_asm_script_head_(&a, gen));
    CPS_TRY(cps_names_create(a.layout, NULL, &a.names));
    cps_asm_run_(&a);
    if (a.failed)
        return cps_err_nomem();
    CPS_TRY(cps_asm_errors_(&a.text));
    for (uint32_t i = 0; i < a.position; i++) {
        uint8_t bytes[4];
        cps_put_le32(bytes, a.words[i]);
        cps_buf_add(ret, (const char *)bytes, cps_isa_unit(a.isa));
    }
    return ret->failed ? cps_err_nomem() : NULL;
}
