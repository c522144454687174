/* SPDX-License-Identifier: MIT
 * Expands one instruction table to constant data: fields, forms, ops, encs. The file that includes
 * it defines TABLE, the name of the .def file, OP_ID(id), the number of an operation, and, where
 * its rows OP have columns between flow and meaning, MEANING(). */
#include "isa/sets/table.h"

#ifndef MEANING
#define MEANING(...) #__VA_ARGS__
#endif

enum field {
    F_END,
#define FIELD(id, ...) F_##id,
#include TABLE
};

static const struct cps_field fields[] = {
    {0},
#define FIELD(id, text, from, size, as, ...) \
    {.name = text, .low = from, .width = size, .kind = CPS_FIELD_##as, .gens = __VA_ARGS__},
#include TABLE
};

enum form {
#define FORM(id, ...) FORM_##id,
#include TABLE
};

static const struct cps_form forms[] = {
#define FORM(id, mnemonic, text, ignored, ...) {mnemonic, text, ignored, {__VA_ARGS__}},
#include TABLE
};

static const struct cps_op ops[] = {
    {"", CPS_FLOW_NEXT, ""},
#define OP(id, text, kind, flow, ...) {text, CPS_FLOW_##flow, MEANING(__VA_ARGS__)},
#include TABLE
};

static const struct cps_enc encs[] = {
#define ENC(op, gens, form, match, mask, flags) \
    {gens, OP_ID(op), FORM_##form, CPS_ENC_##flags, match, mask},
#include TABLE
};

_Static_assert(sizeof(encs) / sizeof(encs[0]) <= CPS_MAX_ROWS, "rows of " TABLE);

#define EXPANDED                                                                            \
    .fields = fields, .forms = forms, .ops = ops, .op_count = sizeof(ops) / sizeof(ops[0]), \
    .encs = encs, .enc_count = sizeof(encs) / sizeof(encs[0])
