/* SPDX-License-Identifier: MIT
 * The assembler for who edits a source. */
#include "fw/asm/asm.h"

#include <string.h>

void cps_asm_check_deinit_(struct cps_asm_check *check)
{
    cps_asm_labels_deinit_(&check->labels);
}

static struct cps_err *read_head_as(struct cps_assembler *a, const struct cps_isa *isa,
                                    unsigned gen)
{
    cps_asm_rewind_(&a->text);
    a->isa = isa;
    return isa == &cps_isa_afuc ? cps_asm_head_(a, gen) : cps_asm_script_head_(a, gen);
}

/* What the source says it is, a script or afuc; else what the caller says. */
static struct cps_err *read_head(struct cps_assembler *a, unsigned gen)
{
    struct cps_err *err = read_head_as(a, NULL, 0);
    if (!err)
        return NULL;
    cps_err_free(err);
    err = read_head_as(a, &cps_isa_afuc, 0);
    if (!err || !gen)
        return err;
    cps_err_free(err);
    return read_head_as(a, cps_gen_isa((enum cps_gen)gen), gen);
}

static struct cps_err *check(struct cps_assembler *a, struct cps_asm_check *ret)
{
    CPS_TRY(cps_names_create(a->layout, NULL, &a->names));
    cps_asm_run_(a);
    if (a->failed || a->text.held.failed)
        return cps_err_nomem();
    ret->gen = a->gen;
    ret->layout = a->layout;
    ret->labels = a->labels;
    a->labels = (struct cps_asm_labels){0};
    return NULL;
}

struct cps_err *cps_asm_check_(const char *text, size_t size, unsigned gen, cps_asm_error_fn *each,
                               void *context, struct cps_asm_check *ret)
{
    CPS_CLEANUP(cps_asm_deinit_) struct cps_assembler a = {.isa = &cps_isa_afuc};
    cps_asm_text_init_(&a.text, "source", text, size);
    struct cps_err *err = read_head(&a, gen);
    if (err) {
        /* That the generation is unknown is an error of no line: the first one says what it should.
         */
        if (err->code == CPS_ERR_NOMEM)
            return err;
        const char *colon = strstr(err->message, ": ");
        each(context, 1, 0, colon ? colon + 2 : err->message);
        cps_err_free(err);
        return NULL;
    }
    a.text.each = each;
    a.text.context = context;
    return check(&a, ret);
}
