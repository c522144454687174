/* SPDX-License-Identifier: MIT
 * Fuzz target: VBIOS images. What is found lies in the file, no operation is in two scripts, and
 * the listing of it all is made. The magic takes the place of the first bytes. */
#include <stdlib.h>
#include <string.h>

#include "fw/nv/rom/rom.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool good)
{
    if (!good)
        __builtin_trap();
}

static void check(const struct cps_rom *rom)
{
    size_t walked = 0;
    expect(rom->image_count && rom->image_count <= CPS_ROM_MAX_IMAGES);
    for (size_t i = 0; i < rom->script_count; i++) {
        const struct cps_rom_script *script = &rom->script[i];
        expect(script->offset + script->size <= rom->size || script->end == CPS_ROM_OUTSIDE);
        expect(script->size >= script->count);
        expect(script->end != CPS_ROM_UNKNOWN || script->offset + script->size < rom->size);
        walked += script->count;
    }
    expect(walked <= rom->size);
    for (size_t i = 0; i < rom->hwsq_count; i++) {
        const struct cps_rom_hwsq *script = &rom->hwsq[i];
        expect(script->offset < script->end && script->end <= rom->size && script->code.size);
        expect(script->written || script->code.size == script->end - script->offset);
        expect(!script->written || script->number < rom->script_count);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cps_rom rom = {0};
    CPS_BUF text = {0};
    uint8_t *file = size < 0x48 ? NULL : malloc(size);
    if (!file)
        return 0;
    memcpy(file, data, size);
    memcpy(file, "\x55\xaa", 2);
    memcpy(file + 0x18, "\x40", 2);
    memcpy(file + 0x40, "PCIR\xde\x10", 6);
    struct cps_err *err = cps_rom_parse_("fuzz.rom", file, size, &rom);
    if (!err) {
        check(&rom);
        err = cps_rom_listing_(&rom, CPS_G92, NULL, &text);
        expect(!err);
    }
    cps_err_free(err);
    cps_rom_deinit_(&rom);
    free(file);
    return 0;
}
