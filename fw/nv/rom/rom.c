/* SPDX-License-Identifier: MIT
 * VBIOS images: headers, and what each part finds. */
#include "fw/nv/rom/rom.h"

#include <inttypes.h>
#include <string.h>

#include "fw/nv/rom/private.h"

#define PCI_POINTER 0x18u /* in an image's header */
#define BLOCK       512u  /* what sizes are counted in */

enum {
    VENDOR_SGS = 0x104a,
    VENDOR_SGS_NVIDIA = 0x12d2,
    VENDOR_NVIDIA = 0x10de,
    LAST_IMAGE = 0x80,
    CODE_PC = 0,
};

bool cps_rom_probe_(const uint8_t *bytes, size_t size)
{
    return size >= PCI_POINTER + 2 && bytes[0] == 0x55 && bytes[1] == 0xaa;
}

/* The bytes that the header counts sum up to 0. */
static enum cps_rom_sum check_sum(const struct cps_rom *rom, size_t at)
{
    size_t size = (size_t)rom->bytes[at + 2] * BLOCK;
    uint8_t sum = 0;
    if (size > rom->size - at)
        return CPS_ROM_SUM_BAD;
    for (size_t i = 0; i < size; i++)
        sum = (uint8_t)(sum + rom->bytes[at + i]);
    return sum ? CPS_ROM_SUM_BAD : CPS_ROM_SUM_GOOD;
}

/* The image at an offset. @last gets whether it says that none follows. */
static struct cps_err *read_image(const struct cps_rom *rom, size_t at, struct cps_rom_image *ret,
                                  bool *last)
{
    const struct cps_bytes bytes = rom_bytes(rom);
    uint16_t pointer = 0;
    uint16_t blocks = 0;
    if (at >= rom->size || !cps_rom_probe_(rom->bytes + at, rom->size - at))
        return cps_err_input(rom->name, at, "no image, expected 55 aa and its header");
    cps_rd16(bytes, at + PCI_POINTER, &pointer);
    size_t pci = at + pointer;
    if (pci > rom->size || rom->size - pci < 0x18)
        return cps_err_input(rom->name, at + PCI_POINTER,
                             "pointer 0x%04x leads out of the file, expected \"PCIR\" there",
                             pointer);
    if (memcmp(rom->bytes + pci, "PCIR", 4) != 0)
        return cps_err_input(rom->name, pci, "found %02x %02x %02x %02x, expected \"PCIR\"",
                             rom->bytes[pci], rom->bytes[pci + 1], rom->bytes[pci + 2],
                             rom->bytes[pci + 3]);
    *ret = (struct cps_rom_image){.offset = at, .code_type = rom->bytes[pci + 0x14]};
    cps_rd16(bytes, pci + 4, &ret->vendor);
    cps_rd16(bytes, pci + 6, &ret->device);
    cps_rd16(bytes, pci + 0x10, &blocks);
    ret->size = (size_t)blocks * BLOCK;
    *last = rom->bytes[pci + 0x15] & LAST_IMAGE;
    if (ret->code_type == CODE_PC)
        ret->sum = check_sum(rom, at);
    return NULL;
}

/* The first image has to be one; what is wrong with later ones is noted. */
static struct cps_err *read_images(struct cps_rom *rom)
{
    bool last = false;
    for (size_t at = 0; !last && rom->image_count < CPS_ROM_MAX_IMAGES;) {
        struct cps_rom_image *image = &rom->image[rom->image_count];
        struct cps_err *err = read_image(rom, at, image, &last);
        if (err && (!rom->image_count || err->code == CPS_ERR_NOMEM))
            return err;
        if (err) {
            cps_buf_printf(&rom->notes,
                           "image %u at 0x%zx: not there, though the one before it "
                           "says that it follows\n",
                           rom->image_count, at);
            cps_err_free(err);
            break;
        }
        if (image->sum == CPS_ROM_SUM_BAD)
            cps_buf_printf(&rom->notes, "image %u at 0x%zx: the sum of its bytes is not 0\n",
                           rom->image_count, at);
        rom->image_count++;
        if (!image->size || image->size > rom->size - at) {
            cps_buf_printf(&rom->notes,
                           "image %u at 0x%zx: has 0x%zx bytes by its header, of "
                           "which 0x%zx are in the file\n",
                           rom->image_count - 1, at, image->size, rom->size - at);
            break;
        }
        at += image->size;
    }
    return NULL;
}

static bool is_nvidia(const struct cps_rom *rom)
{
    uint16_t vendor = rom->image[0].vendor;
    return vendor == VENDOR_NVIDIA || vendor == VENDOR_SGS || vendor == VENDOR_SGS_NVIDIA;
}

struct cps_err *cps_rom_parse_(const char *name, const uint8_t *bytes, size_t size,
                               struct cps_rom *ret)
{
    struct rom_init init = {0};
    *ret = (struct cps_rom){.name = strdup(name), .bytes = bytes, .size = size};
    if (!ret->name)
        return cps_err_nomem();
    CPS_TRY(read_images(ret));
    if (!is_nvidia(ret))
        return cps_err_input(name, 0,
                             "ROM of a board of vendor 0x%04x, expected one of NVIDIA's (0x10de)",
                             ret->image[0].vendor);
    CPS_TRY(cps_rom_tables_(ret, &init));
    CPS_TRY(cps_rom_scripts_(ret, &init));
    CPS_TRY(cps_rom_hwsq_table_(ret));
    CPS_TRY(cps_rom_hwsq_written_(ret, &init));
    return ret->notes.failed ? cps_err_nomem() : NULL;
}

void cps_rom_deinit_(struct cps_rom *rom)
{
    for (size_t i = 0; i < rom->hwsq_count; i++)
        cps_buf_deinit(&rom->hwsq[i].code);
    free(rom->hwsq);
    free(rom->script);
    free(rom->entry);
    free(rom->name);
    cps_buf_deinit(&rom->notes);
    *rom = (struct cps_rom){0};
}

enum cps_gen cps_rom_gen_(const struct cps_rom *rom)
{
    return rom->chip ? rom->chip->hwsq : CPS_GEN_NONE;
}
