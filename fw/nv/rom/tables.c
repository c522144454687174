/* SPDX-License-Identifier: MIT
 * The tables of a VBIOS that the others are found by: BIT, and BMP before it. */
#include <stdlib.h>
#include <string.h>

#include "fw/nv/rom/private.h"
#include "isa/base/list.h"

#define BIT_HEADER 12u /* bytes that every version has */
#define BIT_RECORD 6u

/* 0 if they are not there, as a header is at 0. */
size_t cps_rom_find_(const struct cps_rom *rom, size_t from, const char *what, size_t size)
{
    for (size_t at = from; size <= rom->size && at <= rom->size - size; at++) {
        if (!memcmp(rom->bytes + at, what, size))
            return at;
    }
    return 0;
}

/* An entry of BIT that lies in the file, NULL if there is none. */
static const struct cps_rom_entry *find_entry(const struct cps_rom *rom, char id)
{
    for (size_t i = 0; i < rom->entry_count; i++) {
        if (rom->entry[i].id == (uint8_t)id && rom->entry[i].inside)
            return &rom->entry[i];
    }
    return NULL;
}

static struct cps_err *read_entries(struct cps_rom *rom, size_t at, unsigned count, unsigned stride)
{
    for (unsigned i = 0; i < count; i++, at += stride) {
        struct cps_rom_entry entry = {0};
        if (at > rom->size || rom->size - at < BIT_RECORD) {
            cps_buf_printf(&rom->notes, "BIT: has %u entries, of which %u are in the file\n", count,
                           i);
            break;
        }
        entry.id = rom->bytes[at];
        entry.version = rom->bytes[at + 1];
        cps_rd16(rom_bytes(rom), at + 2, &entry.length);
        cps_rd16(rom_bytes(rom), at + 4, &entry.offset);
        entry.inside = (size_t)entry.offset + entry.length <= rom->size;
        if (!entry.inside)
            cps_buf_printf(&rom->notes,
                           "BIT entry %u: 0x%04x bytes at 0x%04x, which the file does "
                           "not have\n",
                           i, entry.length, entry.offset);
        if (!CPS_LIST_ROOM(rom->entry, rom->entry_count))
            return cps_err_nomem();
        rom->entry[rom->entry_count++] = entry;
    }
    return NULL;
}

static struct cps_err *read_bit(struct cps_rom *rom, size_t at)
{
    uint8_t sum = 0;
    rom->kind = CPS_ROM_BIT;
    rom->table = at;
    if (rom->size - at < BIT_HEADER) {
        cps_buf_printf(&rom->notes, "BIT at 0x%zx: is cut off by the end of the file\n", at);
        return NULL;
    }
    const uint8_t *header = rom->bytes + at;
    unsigned size = header[8];
    rom->table_version = header[7];
    for (size_t i = 0; i < size && at + i < rom->size; i++)
        sum = (uint8_t)(sum + header[i]);
    if (sum)
        cps_buf_printf(&rom->notes, "BIT at 0x%zx: the sum of its header is not 0\n", at);
    if (rom->table_version != 1 || size < BIT_HEADER || header[9] < BIT_RECORD) {
        cps_buf_printf(&rom->notes,
                       "BIT at 0x%zx: version %u, header of %u bytes, entries of %u: "
                       "not looked into, only version 1 with 12 and 6 or more is known\n",
                       at, rom->table_version, size, header[9]);
        return NULL;
    }
    return read_entries(rom, at + size, header[10], header[9]);
}

/* The version as people write it has its most significant byte first, and one more in BIT. */
static void read_version(struct cps_rom *rom, size_t at, bool fifth)
{
    if (at > rom->size || rom->size - at < 5)
        return;
    for (size_t i = 0; i < 4; i++)
        rom->version[i] = rom->bytes[at + 3 - i];
    rom->version[4] = fifth ? rom->bytes[at + 4] : 0;
    rom->has_version = true;
}

/* The pointers of the init tables, of as many as the entry has. */
static void read_pointers(const struct cps_rom *rom, size_t at, size_t length, struct rom_init *ret)
{
    for (size_t i = 0; i < ROM_INIT_POINTERS && (i + 1) * 2 <= length; i++) {
        uint16_t pointer = 0;
        cps_rd16(rom_bytes(rom), at + i * 2, &pointer);
        ret->pointer[i] = pointer;
    }
}

static void follow_bit(struct cps_rom *rom, struct rom_init *ret)
{
    const struct cps_rom_entry *init = find_entry(rom, 'I');
    const struct cps_rom_entry *memory = find_entry(rom, 'M');
    const struct cps_rom_entry *levels = find_entry(rom, 'P');
    const struct cps_rom_entry *info = find_entry(rom, 'i');
    uint16_t pointer = 0;
    if (init)
        read_pointers(rom, init->offset, init->length, ret);
    if (memory && memory->version == 1 && memory->length >= 5)
        rom->groups = rom->bytes[memory->offset + 2];
    else if (memory && memory->version == 2 && memory->length >= 3)
        rom->groups = rom->bytes[memory->offset];
    if (levels && levels->version <= 2 && levels->length >= 2)
        cps_rd16(rom_bytes(rom), levels->offset, &pointer);
    ret->levels = pointer;
    if (info && info->length >= 5)
        read_version(rom, info->offset, true);
}

static void follow_bmp(struct cps_rom *rom, size_t at, struct rom_init *ret)
{
    uint8_t major = 0;
    uint8_t minor = 0;
    rom->kind = CPS_ROM_BMP;
    rom->table = at;
    if (!cps_rd8(rom_bytes(rom), at + 5, &major) || !cps_rd8(rom_bytes(rom), at + 6, &minor)) {
        cps_buf_printf(&rom->notes, "BMP at 0x%zx: is cut off by the end of the file\n", at);
        return;
    }
    unsigned version = rom->table_version = (unsigned)major << 8 | minor;
    read_version(rom, at + 10, false);
    if (version >= 0x510) {
        read_pointers(rom, at + 75, 14, ret);
    } else if (version >= 0x100) {
        ret->pointer[ROM_INIT_SCRIPTS] = at + (version < 0x200 ? 14 : 18);
        ret->most = 2;
    }
}

/* A version's two high bytes tell boards of BIT; two chips have the same and differ by PCI id. */
static void find_chip(struct cps_rom *rom)
{
    const struct cps_rom_image *first = &rom->image[0];
    const struct cps_nvchip *by_pci = cps_nvchip_pci_(first->vendor, first->device);
    const struct cps_nvchip *by_version =
        rom->has_version ? cps_nvchip_bios_((unsigned)rom->version[0] << 8 | rom->version[1])
                         : NULL;
    bool agree = by_pci && by_version && by_pci->bios == by_version->bios;
    rom->chip = !by_version || agree ? by_pci : by_version;
}

struct cps_err *cps_rom_tables_(struct cps_rom *rom, struct rom_init *ret)
{
    size_t bit = cps_rom_find_(rom, 1,
                               "\xff\xb8"
                               "BIT",
                               5);
    size_t bmp = cps_rom_find_(rom, 1,
                               "\xff\x7f"
                               "NV",
                               5);
    ret->most = 256;
    if (bit) {
        CPS_TRY(read_bit(rom, bit));
        follow_bit(rom, ret);
    } else if (bmp) {
        follow_bmp(rom, bmp, ret);
    } else {
        cps_buf_str(&rom->notes, "neither a BIT nor a BMP table: init scripts are not found\n");
    }
    find_chip(rom);
    return NULL;
}
