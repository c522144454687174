/* SPDX-License-Identifier: MIT
 * NVIDIA's chips: what a PCI id, the chip's own id register or a VBIOS say of which engines are
 * there. The rows are nvchip.def's. Not installed.
 *
 * Threads: everything here is constant. */
#ifndef CPS_NVCHIP_H
#define CPS_NVCHIP_H

#include <stdint.h>

#include "isa/target.h"

/** A chip; nvchip.def says what the members are. */
struct cps_nvchip {
    unsigned id;
    const char *name;
    const char *code;
    const char *also;
    enum cps_gen hwsq, pfifo, vp1;
    unsigned bios;
};

/** The first chip of a number, "0x92"; NULL if no row has it. */
const struct cps_nvchip *cps_nvchip_(unsigned id);
/** Chip by its number in the order of the rows, for loops; NULL behind the last one. */
const struct cps_nvchip *cps_nvchip_at_(size_t index);
/** Chip by a name, in whatever case, or "0x" and its number; NULL if no row has it. */
const struct cps_nvchip *cps_nvchip_word_(const char *word);
/** The chip that a PCI device is; NULL if no row says. */
const struct cps_nvchip *cps_nvchip_pci_(unsigned vendor, unsigned device);
/** The chip that a VBIOS is for. @p version  the two high bytes of its version; NULL if unknown */
const struct cps_nvchip *cps_nvchip_bios_(unsigned version);
/** The chip's number that register 0 of a chip gives, as envytools' demmio takes it apart. */
unsigned cps_nvchip_number_(uint32_t boot0);

#endif
