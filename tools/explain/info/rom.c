/* SPDX-License-Identifier: MIT
 * cpscope info and cpscope disasm for VBIOS images of NVIDIA's boards. */
#include <inttypes.h>
#include <string.h>

#include "fw/nv/rom/rom.h"
#include "tools/explain/info/info.h"
#include "tools/cmd/render/doc.h"
#include "trace/out/json.h"

static const char layout[] =
    "{.name:e}: VBIOS of an NVIDIA board\n"
    "{images*  image       0x{offset:04x} {size:5} bytes, PCI {vendor:04x}:{device:04x}, {.code}, "
    "sum {sum}\n}"
    "  version     {version}{version!not found}\n"
    "  chip        {chip?{chip} ({.code}), HWSQ {hwsq}{hwsq!is not in it}}"
    "{chip!not known by the version or the PCI id}\n"
    "  table       {table}{.major? at 0x{table_offset:04x}, version {.major}.{.minor:02x}}\n"
    "{entries*  entry       {.letter} version {version}, 0x{length:04x} bytes at 0x{offset:04x}"
    "{inside!, not in the file}\n}"
    "{init_scripts*  init        0x{offset:04x} {size:5} bytes {operations:4} operations, {name}"
    "{.stop?, {.stop}}\n}"
    "{hwsq_scripts*  hwsq        0x{offset:04x} {size:5} bytes, "
    "{.by?written by {.by}}{.by!entry {number}}"
    "{entry_point?, ENTRY_POINT 0x{entry_point:08x}}\n}"
    "{notes*  note        {.}\n}";

static void put_head(const struct cps_rom *rom, struct json_object *to)
{
    static const char *const kinds[] = {
        [CPS_ROM_BARE] = "none", [CPS_ROM_BMP] = "BMP", [CPS_ROM_BIT] = "BIT"};
    CPS_BUF version = {0};
    enum cps_gen gen = cps_rom_gen_(rom);
    for (unsigned i = 0; i < 5 && rom->has_version; i++)
        cps_buf_printf(&version, "%s%02x", i ? "." : "", rom->version[i]);
    doc_put(to, "kind=vbios version?=%p chip?=%s .code=%s hwsq?=%s table=%s", &version,
            rom->chip ? rom->chip->name : "", rom->chip ? rom->chip->code : "",
            gen ? cps_gen_row(gen)->word : "", kinds[rom->kind]);
    if (rom->kind != CPS_ROM_BARE)
        doc_put(to, "table_offset=%zu table_version=%u .major=%u .minor=%u", rom->table,
                rom->table_version, rom->table_version >> 8, rom->table_version & 0xff);
}

static void put_images(const struct cps_rom *rom, struct json_object *list)
{
    static const char *const sums[] = {
        [CPS_ROM_SUM_NONE] = "none", [CPS_ROM_SUM_GOOD] = "good", [CPS_ROM_SUM_BAD] = "bad"};
    static const char *const codes[] = {"PC", "Open Firmware", "HP PA-RISC", "EFI"};
    for (unsigned i = 0; i < rom->image_count; i++) {
        const struct cps_rom_image *image = &rom->image[i];
        bool is_known = image->code_type < sizeof(codes) / sizeof(codes[0]);
        doc_row(list, "offset=%zu size=%zu vendor=%u device=%u code_type=%u .code=%s sum=%s",
                image->offset, image->size, image->vendor, image->device, image->code_type,
                is_known ? codes[image->code_type] : "unknown code", sums[image->sum]);
    }
}

static void put_entries(const struct cps_rom *rom, struct json_object *list)
{
    for (size_t i = 0; i < rom->entry_count; i++) {
        const struct cps_rom_entry *entry = &rom->entry[i];
        bool is_shown = entry->id > ' ' && entry->id < 0x7f;
        const char letter[2] = {is_shown ? (char)entry->id : '?', '\0'};
        doc_row(list, ".letter=%s id=%u version=%u offset=%u length=%u inside?=%d", letter,
                entry->id, entry->version, entry->offset, entry->length, entry->inside);
    }
}

static void put_init_scripts(const struct cps_rom *rom, struct json_object *list)
{
    static const char *const origins[] = {
        [CPS_ROM_INIT] = "init", [CPS_ROM_AFTER] = "after", [CPS_ROM_SUB] = "sub",
        [CPS_ROM_CALL] = "call", [CPS_ROM_JUMP] = "jump",   [CPS_ROM_MEMORY] = "memory",
    };
    static const char *const ends[] = {"done", "joined", "unknown", "cut", "outside"};
    for (size_t i = 0; i < rom->script_count; i++) {
        const struct cps_rom_script *script = &rom->script[i];
        CPS_BUF name = {0};
        CPS_BUF stop = {0};
        cps_rom_script_name_(rom, i, &name);
        if (script->end == CPS_ROM_UNKNOWN)
            cps_buf_printf(&stop, "stops at 0x%04zx: no source knows operation 0x%02x",
                           script->offset + script->size,
                           rom->bytes[script->offset + script->size]);
        else if (script->end != CPS_ROM_DONE)
            cps_buf_str(&stop, cps_rom_end_text_(script->end));
        doc_row(list,
                "name=%p origin=%s number=%u offset=%zu size=%zu operations=%u end=%s .stop=%p",
                &name, origins[script->origin], script->number, script->offset, script->size,
                script->count, ends[script->end], &stop);
    }
}

static void put_hwsq_scripts(const struct cps_rom *rom, struct json_object *list)
{
    for (size_t i = 0; i < rom->hwsq_count; i++) {
        const struct cps_rom_hwsq *script = &rom->hwsq[i];
        CPS_BUF by = {0};
        if (script->written)
            cps_rom_script_name_(rom, script->number, &by);
        struct json_object *row =
            doc_row(list, "origin=%s number=%u offset=%zu end=%zu size=%zu register=%u .by=%p",
                    script->written ? "written" : "table", script->number, script->offset,
                    script->end, script->code.size, script->address, &by);
        if (script->has_entry)
            doc_put(row, "entry_point=%" PRIu32, script->entry);
    }
}

bool info_is_rom(const char *path)
{
    struct cps_stream *stream = NULL;
    const uint8_t *data = NULL;
    size_t size = 0;
    bool is_rom = false;
    struct cps_err *err = strcmp(path, "-") ? cps_stream_open(path, &stream) : cps_err_nomem();
    if (!err)
        err = cps_stream_peek(stream, 64, &data, &size);
    is_rom = !err && cps_rom_probe_(data, size);
    cps_err_free(err);
    cps_stream_close(stream);
    return is_rom;
}

static struct cps_err *read_rom(struct cps_stream *stream, uint8_t **bytes, struct cps_rom *ret)
{
    size_t size = 0;
    CPS_TRY(cps_stream_read_all(stream, CPS_ROM_MAX_BYTES, bytes, &size));
    return cps_rom_parse_(cps_stream_name(stream), *bytes, size, ret);
}

struct cps_err *info_rom(struct cps_stream *stream, struct json_object *to)
{
    CPS_CLEANUP(cps_rom_deinit_) struct cps_rom rom = {0};
    CPS_FREE uint8_t *bytes = NULL;
    CPS_TRY(read_rom(stream, &bytes, &rom));
    doc_put(to, ".layout=%s .name=%s", layout, rom.name);
    put_head(&rom, to);
    put_images(&rom, cps_json_new_array(to, "images"));
    put_entries(&rom, cps_json_new_array(to, "entries"));
    put_init_scripts(&rom, cps_json_new_array(to, "init_scripts"));
    put_hwsq_scripts(&rom, cps_json_new_array(to, "hwsq_scripts"));
    struct json_object *list = cps_json_new_array(to, "notes");
    const char *at = cps_buf_text(&rom.notes);
    for (size_t length; *at; at += length + 1) {
        length = strcspn(at, "\n");
        cps_json_append(list, json_object_new_string_len(at, (int)length));
    }
    return NULL;
}

struct cps_err *info_rom_listing(struct cps_stream *stream, unsigned gen, const char *rnn_dir,
                                 struct cps_buf *out)
{
    CPS_CLEANUP(cps_rom_deinit_) struct cps_rom rom = {0};
    CPS_FREE uint8_t *bytes = NULL;
    CPS_TRY(read_rom(stream, &bytes, &rom));
    gen = gen ? gen : (unsigned)cps_rom_gen_(&rom);
    if (!gen)
        return cps_err_new(CPS_ERR_INPUT,
                           "%s: %s has no HWSQ, or is not known; expected --engine hwsq and --chip",
                           rom.name, rom.chip ? rom.chip->name : "the chip of this VBIOS");
    return cps_rom_listing_(&rom, (enum cps_gen)gen, rnn_dir, out);
}
