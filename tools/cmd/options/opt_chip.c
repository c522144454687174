/* SPDX-License-Identifier: MIT
 * --chip-id: the numbers that it says. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "isa/base/lex.h"
#include "tools/cmd/options/opt.h"

/* No number of 32 bits needs more. */
#define MOST_TEXT 32u

bool opt_chip_id(const char *text, struct cps_chip_id *ret)
{
    struct cps_chip_id chip = {.given = true};
    const char *at = text;
    int64_t id = 0;
    int64_t variant = 0;
    if (strpbrk(text, " \t") || strlen(text) >= MOST_TEXT || !cps_lex_number(&at, &id))
        return false;
    chip.has_variant = *at == ':';
    if (chip.has_variant) {
        at++;
        if (!cps_lex_number(&at, &variant))
            return false;
    }
    if (*at || id < 0 || id > UINT32_MAX || variant < 0 || variant > UINT32_MAX)
        return false;
    chip.id = (uint32_t)id;
    chip.variant = (uint32_t)variant;
    *ret = chip;
    return true;
}

void opt_chip_id_text(const struct cps_chip_id *chip, char ret[32])
{
    int length = snprintf(ret, MOST_TEXT, "0x%08" PRIx32, chip->id);
    if (chip->has_variant)
        snprintf(ret + length, MOST_TEXT - (size_t)length, ":0x%08" PRIx32, chip->variant);
}
