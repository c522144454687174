/* SPDX-License-Identifier: MIT
 * Rows of envytools' tables. */
#include "fw/nv/envy/table.h"

#include <string.h>

static const struct envy_row rows[] = {
#define ROW(table, gens, value, mask, bytes, text) {ENVY_##table, gens, value, mask, bytes, text},
#include "fw/nv/envy/hwsq.def"
#define ROW(table, gens, value, mask, bytes, text) {ENVY_##table, gens, value, mask, bytes, text},
#include "fw/nv/envy/vp1.def"
};

enum { PLAIN, SIGNED };
enum { NOWHERE = ENVY_NOWHERE, BRANCH = ENVY_BRANCH, CALL = ENVY_CALL };
enum { ABSOLUTE, RELATIVE };

static const struct envy_atom atoms[] = {
#define NUM(name_, low_, bits_, low2_, bits2_, shift_, sign_) \
    {.id = #name_,                                            \
     .kind = ENVY_NUM,                                        \
     .low = low_,                                             \
     .bits = bits_,                                           \
     .low2 = low2_,                                           \
     .bits2 = bits2_,                                         \
     .shift = shift_,                                         \
     .is_signed = sign_},
#define TARGET(name_, low_, bits_, shift_, mark_, relative_) \
    {.id = #name_,                                           \
     .kind = ENVY_TARGET,                                    \
     .low = low_,                                            \
     .bits = bits_,                                          \
     .shift = shift_,                                        \
     .is_signed = relative_,                                 \
     .relative = relative_,                                  \
     .mark = (enum envy_mark)(mark_)},
#define REG(id_, name_, low_, bits_, low2_, bits2_, suffix_, zero_, alias_, of_) \
    {.id = #id_,                                                                 \
     .kind = ENVY_REG,                                                           \
     .low = low_,                                                                \
     .bits = bits_,                                                              \
     .low2 = low2_,                                                              \
     .bits2 = bits2_,                                                            \
     .name = name_,                                                              \
     .suffix = suffix_,                                                          \
     .zero = zero_,                                                              \
     .alias = alias_,                                                            \
     .alias_of = of_},
#define TABLE(name_) {.id = #name_, .kind = ENVY_TABLE, .table = ENVY_##name_},
#define CHOICE(id_, bit_, zero_, one_) \
    {.id = #id_, .kind = ENVY_CHOICE, .low = bit_, .bits = 1, .name = zero_, .suffix = one_},
#define NOTHING(name_, low_, bits_) \
    {.id = #name_, .kind = ENVY_NOTHING, .low = low_, .bits = bits_},
#define DISCARD(name_) {.id = #name_, .kind = ENVY_DISCARD},
#include "fw/nv/envy/atom.def"
};

const struct envy_row *cps_envy_rows_(size_t *count)
{
    *count = sizeof(rows) / sizeof(rows[0]);
    return rows;
}

const struct envy_atom *cps_envy_atom_(const char *text, const char **end)
{
    size_t length = strcspn(text + 1, "}");
    *end = text + length + 2;
    for (size_t i = 0; i < sizeof(atoms) / sizeof(atoms[0]); i++) {
        if (strlen(atoms[i].id) == length && !memcmp(atoms[i].id, text + 1, length))
            return &atoms[i];
    }
    return NULL; /* the tables only have names that are there; a test looks at each */
}

enum envy_table cps_envy_table_(enum cps_gen gen)
{
    return cps_gen_isa(gen) == &cps_isa_vp1 ? ENVY_VP1 : ENVY_HWSQ;
}
