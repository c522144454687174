/* SPDX-License-Identifier: MIT
 * VBIOS images of NVIDIA's boards: where in them scripts of HWSQ are, and the init scripts that
 * bring others to the code RAM. They are read, never executed. Private to the project.
 *
 * A file has images, each with a header (55 aa), which points to a PCI structure. Scripts are
 * reached from a table: "BIT" from NV40 on, "BMP" before; its pointers of 16 bits count from the
 * start of the file. Scripts of HWSQ are after the letters "HWSQ", or are written to the code
 * RAM by an init script.
 *
 * Sources: envytools, nvbios/ (MIT); nouveau, nvkm/subdev/bios/ and nouveau_bios.c.
 *
 * Threads: there is no state outside of struct cps_rom. */
#ifndef CPS_ROM_H
#define CPS_ROM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/base/buf.h"
#include "isa/nv/nvchip.h"

/** Most images of a file that are looked at; boards have one to three. */
#define CPS_ROM_MAX_IMAGES 16u
/** Largest file; boards have 32 KiB to 1 MiB. */
#define CPS_ROM_MAX_BYTES ((size_t)16 << 20)
/** Most bytes of a script of HWSQ: the code RAM of G92. */
#define CPS_ROM_HWSQ_BYTES 0x200u

/** What the sum of an image's bytes says. */
enum cps_rom_sum {
    CPS_ROM_SUM_NONE, /**< this kind of image has none */
    CPS_ROM_SUM_GOOD, /**< 0, as it has to be */
    CPS_ROM_SUM_BAD,
};
/** One image of the file. */
struct cps_rom_image {
    size_t offset, size; /**< bytes */
    uint16_t vendor, device;
    uint8_t code_type; /**< 0 PC, 1 Open Firmware, 3 EFI */
    enum cps_rom_sum sum;
};

/** Which table the others are found by. */
enum cps_rom_kind {
    CPS_ROM_BARE, /**< none was found */
    CPS_ROM_BMP,
    CPS_ROM_BIT,
};
/** An entry of the BIT table. */
struct cps_rom_entry {
    uint8_t id, version;
    uint16_t offset, length;
    bool inside; /**< of the file; else what is in it is not looked at */
};

/** Who leads to an init script. */
enum cps_rom_origin {
    CPS_ROM_INIT,   /**< the table of init scripts */
    CPS_ROM_AFTER,  /**< the pointer to one that runs after those */
    CPS_ROM_SUB,    /**< another script, by its number in that table */
    CPS_ROM_CALL,   /**< another script, which calls it */
    CPS_ROM_JUMP,   /**< another script, which does not come back */
    CPS_ROM_MEMORY, /**< a level of performance: it changes the memory's clock */
};
/** How the walk over a script ended. */
enum cps_rom_end {
    CPS_ROM_DONE,    /**< at its end */
    CPS_ROM_JOINED,  /**< in the middle of another script, whose operations follow */
    CPS_ROM_UNKNOWN, /**< at an operation of which no source says how long it is */
    CPS_ROM_CUT,     /**< at the end of the file */
    CPS_ROM_OUTSIDE, /**< it is not in the file at all */
};
/** An init script. */
struct cps_rom_script {
    enum cps_rom_origin origin;
    unsigned
        number; /**< its number in the table, or the level; else of the script that leads here */
    size_t offset;
    size_t size;    /**< bytes that were walked over */
    unsigned count; /**< operations */
    enum cps_rom_end end;
};

/** A script of HWSQ. */
struct cps_rom_hwsq {
    bool written;     /**< by an init script; else it is after "HWSQ" */
    unsigned number;  /**< entry after "HWSQ", or index of the init script */
    size_t offset;    /**< of its code in the file, or of the first operation that writes it */
    size_t end;       /**< after it */
    uint32_t address; /**< where it goes: the register of its first word */
    bool has_entry;   /**< `entry` is known: what ENTRY_POINT gets */
    uint32_t entry;
    struct cps_buf code; /**< bytes */
};

/** A VBIOS; all lists are owned. */
struct cps_rom {
    char *name;           /**< path, for messages */
    const uint8_t *bytes; /**< the caller's */
    size_t size;
    struct cps_rom_image image[CPS_ROM_MAX_IMAGES];
    unsigned image_count; /**< at least 1 */
    enum cps_rom_kind kind;
    size_t table;                /**< offset of BIT or BMP */
    unsigned table_version;      /**< BIT: 1; BMP: major << 8 | minor */
    struct cps_rom_entry *entry; /**< of BIT */
    size_t entry_count;
    bool has_version;
    uint8_t version[5];            /**< of the BIOS, as people write it: 05 43 02 11 00 */
    const struct cps_nvchip *chip; /**< NULL: neither version nor PCI id says */
    unsigned groups;               /**< of memory straps: how many values some operations have */
    struct cps_rom_script *script;
    size_t script_count;
    size_t hwsq_table;                  /**< offset of "HWSQ"; 0: it is not there */
    unsigned hwsq_entries, hwsq_length; /**< what is after it */
    struct cps_rom_hwsq *hwsq;
    size_t hwsq_count;
    struct cps_buf notes; /**< what is not as it should be, a line each */
};

/** Whether a file that begins with some bytes may be a ROM for PCI boards. */
bool cps_rom_probe_(const uint8_t *bytes, size_t size);
/**
 * Takes a VBIOS apart.
 * @param name   for messages
 * @param bytes  @p size bytes, which stay the caller's and must outlive @p ret
 * @param ret    the caller calls cps_rom_deinit_() in any case
 * @return NULL, CPS_ERR_NOMEM, or CPS_ERR_INPUT (file, offset) if it is no ROM, or is not NVIDIA's.
 *         What is broken after the first header becomes a note
 */
CPS_MUST_USE struct cps_err *cps_rom_parse_(const char *name, const uint8_t *bytes, size_t size,
                                            struct cps_rom *ret);
/** Releases what it holds. @p rom  parsed, or zero-initialised */
void cps_rom_deinit_(struct cps_rom *rom);

/** "init script 3", "memory script of level 1": which one it is. */
void cps_rom_script_name_(const struct cps_rom *rom, size_t index, struct cps_buf *out);
/** "ends", "is cut off by the end of the file": how the walk ended. */
const char *cps_rom_end_text_(enum cps_rom_end end);
/** The generation of HWSQ that the chip says, CPS_GEN_NONE if it is not known or has none. */
enum cps_gen cps_rom_gen_(const struct cps_rom *rom);

/**
 * Appends a listing: every script of HWSQ as assembly, and every init script after ";".
 * @param gen      of HWSQ
 * @param rnn_dir  as for cps_names_create()
 * @return NULL, CPS_ERR_NOMEM, or what cps_names_create() returns
 */
CPS_MUST_USE struct cps_err *cps_rom_listing_(const struct cps_rom *rom, enum cps_gen gen,
                                              const char *rnn_dir, struct cps_buf *out);

#endif
