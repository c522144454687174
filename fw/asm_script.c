/* SPDX-License-Identifier: MIT
 * The assembler for scripts (HWSQ, SEQ): instructions of several units, and an end that SEQ needs.
 */
#include <string.h>

#include "../isa/lex.h"
#include "../isa/le.h"
#include "asm.h"
#include "script.h"

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
static bool do_directive(struct cps_assembler *a, const char *at)
{
    static const char name[] = ".noend";
    if (a->isa != &cps_isa_seq || strncmp(at, name, sizeof(name) - 1) != 0)
        return cps_asm_expected_(
            a, at, a->isa == &cps_isa_seq ? "a directive (.noend)" : "an instruction");
    a->no_end = true;
    return cps_asm_end_(a, at + sizeof(name) - 1);
}

bool cps_asm_script_(struct cps_assembler *a, const char *at)
{
    const struct cps_parse_names names = {a->names, find_label, a};
    size_t column = 0;
    if (*at == '.')
        return do_directive(a, at);
    cps_buf_clear(&a->bytes);
    struct cps_err *err =
        cps_parse_bytes(a->isa, a->gen, at, cps_asm_pc_(a), &names, &column, &a->bytes);
    if (err)
        cps_asm_error_(&a->text, (size_t)(at - a->text.statement) + column, "%s", err->message);
    cps_err_free(err);
    a->ended = a->bytes.size == 4 && !cps_le32((const uint8_t *)cps_buf_text(&a->bytes));
    return emit_bytes(a);
}

bool cps_asm_script_end_(struct cps_assembler *a)
{
    bool add = a->isa == &cps_isa_seq && !a->ended && !a->no_end;
    a->ended = a->no_end = false;
    return !add || cps_asm_emit_(a, 0);
}

static struct cps_err *assemble(struct cps_assembler *a, unsigned gen, struct cps_buf *ret)
{
    CPS_TRY(cps_asm_script_head_(a, gen));
    CPS_TRY(cps_names_create(a->layout, NULL, &a->names));
    cps_asm_run_(a);
    if (a->failed)
        return cps_err_nomem();
    CPS_TRY(cps_asm_errors_(&a->text));
    for (uint32_t i = 0; i < a->position; i++) {
        uint8_t bytes[4];
        cps_put_le32(bytes, a->words[i]);
        cps_buf_add(ret, (const char *)bytes, cps_isa_unit(a->isa));
    }
    return ret->failed ? cps_err_nomem() : NULL;
}

struct cps_err *cps_script_assemble(const char *name, const char *text, size_t size, unsigned gen,
                                    struct cps_buf *ret)
{
    CPS_CLEANUP(cps_asm_deinit_) struct cps_assembler a = {0};
    cps_asm_text_init_(&a.text, name, text, size);
    return assemble(&a, gen, ret);
}
