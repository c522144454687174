/* SPDX-License-Identifier: MIT
 * What the files of fw/nv/rom/ share. */
#ifndef CPS_ROM_PRIVATE_H
#define CPS_ROM_PRIVATE_H

#include "fw/nv/rom/rom.h"
#include "isa/base/le.h"

/** Pointers of the init tables, in their order after BIT's entry 'I'. 0: there is none. */
enum {
    ROM_INIT_SCRIPTS,
    ROM_INIT_MACRO_INDEX,
    ROM_INIT_MACROS,
    ROM_INIT_CONDITIONS,
    ROM_INIT_IO_CONDITIONS,
    ROM_INIT_IO_FLAGS,
    ROM_INIT_FUNCTIONS,
    ROM_INIT_AFTER,
    ROM_INIT_XLAT,
    ROM_INIT_POINTERS
};
/** What the tables say about init scripts. */
struct rom_init {
    size_t pointer[ROM_INIT_POINTERS];
    unsigned most; /**< main scripts; the table of old BMPs has two and no end */
    size_t levels; /**< table of levels of performance */
};

/** Flags of init.def. */
enum {
    ROM_OP_GROUPS = 1,
    ROM_OP_END = 2,
    ROM_OP_CALL = 4,
    ROM_OP_JUMP = 8,
    ROM_OP_SUB = 16,
    ROM_OP_WRITE = 32,
    ROM_OP_SEQUENCE = 64,
    ROM_OP_MASKED = 128,
    ROM_OP_MACRO = 256,
    ROM_OP_CHOICE = 512,
};
/** A row of init.def. */
struct rom_op {
    uint8_t op;
    const char *name;
    uint8_t size, item, count;
    unsigned flags;
    const char *text, *item_text;
};

/** The file's bytes. */
static inline struct cps_bytes rom_bytes(const struct cps_rom *rom)
{
    return (struct cps_bytes){rom->bytes, rom->size};
}

/* tables.c: where some bytes are first from offset @p from on, which is not 0; 0 if they do not.
 */
size_t cps_rom_find_(const struct cps_rom *rom, size_t from, const char *what, size_t size);
/* tables.c: finds BIT or BMP, the chip, and what they say about init scripts. */
CPS_MUST_USE struct cps_err *cps_rom_tables_(struct cps_rom *rom, struct rom_init *ret);
/* init.c: walks over all init scripts. */
CPS_MUST_USE struct cps_err *cps_rom_scripts_(struct cps_rom *rom, const struct rom_init *init);
/* init.c: the row of an operation, NULL if there is none. */
const struct rom_op *cps_rom_op_(uint8_t op);
/* init.c: bytes of the operation at an offset, its items counted; 0: unknown, or it leaves the
 * file. @items gets how many. */
size_t cps_rom_op_size_(const struct cps_rom *rom, size_t at, unsigned *items);
/* hwsq.c: finds the scripts of HWSQ after their letters. */
CPS_MUST_USE struct cps_err *cps_rom_hwsq_table_(struct cps_rom *rom);
/* hwsq.c: finds those that init scripts write. */
CPS_MUST_USE struct cps_err *cps_rom_hwsq_written_(struct cps_rom *rom,
                                                   const struct rom_init *init);

#endif
