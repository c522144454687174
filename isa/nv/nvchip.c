/* SPDX-License-Identifier: MIT
 * Rows of nvchip.def, and the ways to find one. */
#include "isa/nv/nvchip.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct cps_nvchip chips[] = {
#define CPS_NONE CPS_GEN_NONE
#define NV_CHIP(id, name, code, also, hwsq, pfifo, vp1, bios, evidence) \
    {id, name, code, also, CPS_##hwsq, CPS_##pfifo, CPS_##vp1, bios},
#include "isa/nv/nvchip.def"
#undef CPS_NONE
};

static const struct {
    unsigned vendor, first, last, id;
} devices[] = {
#define NV_PCI(...) {__VA_ARGS__},
#include "isa/nv/nvchip.def"
};

const struct cps_nvchip *cps_nvchip_at_(size_t index)
{
    return index < sizeof(chips) / sizeof(chips[0]) ? &chips[index] : NULL;
}

const struct cps_nvchip *cps_nvchip_(unsigned id)
{
    const struct cps_nvchip *chip = NULL;
    for (size_t i = 0; (chip = cps_nvchip_at_(i)); i++) {
        if (chip->id == id)
            break;
    }
    return chip;
}

/* Whether @p word is one of @p words, in whatever case. */
static bool is_one_of(const char *words, const char *word)
{
    for (size_t size; (size = strcspn(words, " ")); words += size + (words[size] == ' ')) {
        if (strlen(word) == size && !strncasecmp(words, word, size))
            return true;
    }
    return false;
}

const struct cps_nvchip *cps_nvchip_word_(const char *word)
{
    const struct cps_nvchip *chip = NULL;
    char *end = NULL;
    unsigned long id = strncasecmp(word, "0x", 2) ? 0 : strtoul(word, &end, 16);
    if (end && !*end)
        return id <= UINT32_MAX ? cps_nvchip_((unsigned)id) : NULL;
    for (size_t i = 0; (chip = cps_nvchip_at_(i)); i++) {
        if (is_one_of(chip->name, word) || is_one_of(chip->code, word) ||
            is_one_of(chip->also, word))
            break;
    }
    return chip;
}

/* Chip 3 of the joint venture has two device ids, and two rows. */
const struct cps_nvchip *cps_nvchip_pci_(unsigned vendor, unsigned device)
{
    if (vendor == 0x12d2 && device == 0x0019)
        return cps_nvchip_(3) + 1;
    for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
        if (devices[i].vendor == vendor && device >= devices[i].first && device <= devices[i].last)
            return cps_nvchip_(devices[i].id);
    }
    return NULL;
}

const struct cps_nvchip *cps_nvchip_bios_(unsigned version)
{
    const struct cps_nvchip *chip = NULL;
    for (size_t i = 0; version && (chip = cps_nvchip_at_(i)); i++) {
        if (chip->bios == version)
            break;
    }
    return chip;
}

unsigned cps_nvchip_number_(uint32_t boot0)
{
    if (boot0 & 0x0f000000)
        return boot0 >> 20 & 0xff;
    if (boot0 & 0x0000f000)
        return (boot0 >> 20 & 0xf) + 4;
    return boot0 >> 16 & 0xf;
}
