/* SPDX-License-Identifier: MIT
 * Expands the instruction tables to constant data. */
#include "table.h"

#include <string.h>

enum afuc_field {
    F_END,
#define FIELD(id, ...) F_##id,
#include "afuc.def"
};

static const struct cps_field afuc_fields[] = {
    {0},
#define FIELD(id, name, low, width, kind, gens) {name, low, width, CPS_FIELD_##kind, gens},
#include "afuc.def"
};

enum afuc_form {
#define FORM(id, ...) FORM_##id,
#include "afuc.def"
};

static const struct cps_form afuc_forms[] = {
#define FORM(id, mnemonic, text, ignored, ...) {mnemonic, text, ignored, {__VA_ARGS__}},
#include "afuc.def"
};

static const struct cps_op afuc_ops[] = {
    {"", "", CPS_OP_OWN},
#define OP(id, text, kind, ...) {text, #__VA_ARGS__, CPS_OP_##kind},
#include "afuc.def"
};

static const struct cps_enc afuc_encs[] = {
#define ENC(op, gens, form, match, mask, flags) \
    {CPS_AFUC_##op, gens, FORM_##form, CPS_ENC_##flags, match, mask},
#include "afuc.def"
};

/* The four queue registers have one name when read and another when written. */
static const char *const afuc_source_names[32] = {
    [0x1c] = "rem",
    [0x1d] = "memdata",
    [0x1e] = "regdata",
    [0x1f] = "data",
};
static const char *const afuc_target_names[32] = {
    [0x1c] = "rem",
    [0x1d] = "addr",
    [0x1e] = "usraddr",
    [0x1f] = "data",
};

static const struct cps_isa afuc = {
    .name = "afuc",
    .unit = 4,
    .fields = afuc_fields,
    .forms = afuc_forms,
    .ops = afuc_ops,
    .op_count = sizeof(afuc_ops) / sizeof(afuc_ops[0]),
    .encs = afuc_encs,
    .enc_count = sizeof(afuc_encs) / sizeof(afuc_encs[0]),
    .source_names = afuc_source_names,
    .target_names = afuc_target_names,
};

const struct cps_isa *cps_isa_afuc(void)
{
    return &afuc;
}

const char *cps_op_name(const struct cps_isa *isa, unsigned op)
{
    return op < isa->op_count ? isa->ops[op].text : "";
}
