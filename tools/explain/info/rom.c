/* SPDX-License-Identifier: MIT
 * cpscope info and cpscope disasm for VBIOS images of NVIDIA's boards. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fw/nv/rom/rom.h"
#include "tools/explain/info/info.h"
#include "trace/out/json.h"

static const char *const sums[] = {
    [CPS_ROM_SUM_NONE] = "none",
    [CPS_ROM_SUM_GOOD] = "good",
    [CPS_ROM_SUM_BAD] = "bad",
};
static const char *const kinds[] = {
    [CPS_ROM_BARE] = "none",
    [CPS_ROM_BMP] = "BMP",
    [CPS_ROM_BIT] = "BIT",
};
static const char *const origins[] = {
    [CPS_ROM_INIT] = "init", [CPS_ROM_AFTER] = "after", [CPS_ROM_SUB] = "sub",
    [CPS_ROM_CALL] = "call", [CPS_ROM_JUMP] = "jump",   [CPS_ROM_MEMORY] = "memory",
};

static const char *code_name(uint8_t type)
{
    static const char *const names[] = {"PC", "Open Firmware", "HP PA-RISC", "EFI"};
    return type < sizeof(names) / sizeof(names[0]) ? names[type] : "unknown code";
}

static void put_version(const struct cps_rom *rom, struct cps_buf *out)
{
    for (unsigned i = 0; i < 5; i++)
        cps_buf_printf(out, "%s%02x", i ? "." : "", rom->version[i]);
}

static void print_chip(const struct cps_rom *rom)
{
    CPS_BUF version = {0};
    enum cps_gen gen = cps_rom_gen_(rom);
    put_version(rom, &version);
    printf("  version     %s\n", rom->has_version ? cps_buf_text(&version) : "not found");
    if (rom->chip)
        printf("  chip        %s (%s), HWSQ %s\n", rom->chip->name, rom->chip->code,
               gen ? cps_gen_row(gen)->word : "is not in it");
    else
        printf("  chip        not known by the version or the PCI id\n");
}

static void print_script(const struct cps_rom *rom, size_t index)
{
    const struct cps_rom_script *script = &rom->script[index];
    CPS_BUF name = {0};
    cps_rom_script_name_(rom, index, &name);
    printf("  init        0x%04zx %5zu bytes %4u operations, %s", script->offset, script->size,
           script->count, cps_buf_text(&name));
    if (script->end == CPS_ROM_UNKNOWN)
        printf(", stops at 0x%04zx: no source knows operation 0x%02x",
               script->offset + script->size, rom->bytes[script->offset + script->size]);
    else if (script->end != CPS_ROM_DONE)
        printf(", %s", cps_rom_end_text_(script->end));
    printf("\n");
}

static void print_hwsq(const struct cps_rom *rom, const struct cps_rom_hwsq *script)
{
    CPS_BUF name = {0};
    cps_buf_printf(&name, "entry %u", script->number);
    if (script->written) {
        cps_buf_clear(&name);
        cps_buf_str(&name, "written by ");
        cps_rom_script_name_(rom, script->number, &name);
    }
    printf("  hwsq        0x%04zx %5zu bytes, %s", script->offset, script->code.size,
           cps_buf_text(&name));
    if (script->has_entry)
        printf(", ENTRY_POINT 0x%08" PRIx32, script->entry);
    printf("\n");
}

static void print_notes(const struct cps_rom *rom)
{
    const char *at = cps_buf_text(&rom->notes);
    for (size_t length; *at; at += length + 1) {
        length = strcspn(at, "\n");
        printf("  note        %.*s\n", (int)length, at);
    }
}

static void print_text(const struct cps_rom *rom)
{
    info_name(rom->name);
    printf(": VBIOS of an NVIDIA board\n");
    for (unsigned i = 0; i < rom->image_count; i++) {
        const struct cps_rom_image *image = &rom->image[i];
        printf("  image       0x%04zx %5zu bytes, PCI %04x:%04x, %s, sum %s\n", image->offset,
               image->size, image->vendor, image->device, code_name(image->code_type),
               sums[image->sum]);
    }
    print_chip(rom);
    if (rom->kind == CPS_ROM_BARE)
        printf("  table       none\n");
    else
        printf("  table       %s at 0x%04zx, version %u.%02x\n", kinds[rom->kind], rom->table,
               rom->table_version >> 8, rom->table_version & 0xff);
    for (size_t i = 0; i < rom->entry_count; i++)
        printf("  entry       %c version %u, 0x%04x bytes at 0x%04x%s\n",
               rom->entry[i].id > ' ' && rom->entry[i].id < 0x7f ? rom->entry[i].id : '?',
               rom->entry[i].version, rom->entry[i].length, rom->entry[i].offset,
               rom->entry[i].inside ? "" : ", not in the file");
    for (size_t i = 0; i < rom->script_count; i++)
        print_script(rom, i);
    for (size_t i = 0; i < rom->hwsq_count; i++)
        print_hwsq(rom, &rom->hwsq[i]);
    print_notes(rom);
}

static struct json_object *image_json(const struct cps_rom_image *image)
{
    struct json_object *row = json_object_new_object();
    cps_json_uint(row, "offset", image->offset);
    cps_json_uint(row, "size", image->size);
    cps_json_uint(row, "vendor", image->vendor);
    cps_json_uint(row, "device", image->device);
    cps_json_uint(row, "code_type", image->code_type);
    cps_json_text(row, "sum", sums[image->sum]);
    return row;
}

static struct json_object *entry_json(const struct cps_rom_entry *entry)
{
    struct json_object *row = json_object_new_object();
    cps_json_uint(row, "id", entry->id);
    cps_json_uint(row, "version", entry->version);
    cps_json_uint(row, "offset", entry->offset);
    cps_json_uint(row, "length", entry->length);
    cps_json_bool(row, "inside", entry->inside);
    return row;
}

static struct json_object *script_json(const struct cps_rom *rom, size_t index)
{
    static const char *const ends[] = {"done", "joined", "unknown", "cut", "outside"};
    const struct cps_rom_script *script = &rom->script[index];
    struct json_object *row = json_object_new_object();
    CPS_BUF name = {0};
    cps_rom_script_name_(rom, index, &name);
    cps_json_buf(row, "name", &name);
    cps_json_text(row, "origin", origins[script->origin]);
    cps_json_uint(row, "number", script->number);
    cps_json_uint(row, "offset", script->offset);
    cps_json_uint(row, "size", script->size);
    cps_json_uint(row, "operations", script->count);
    cps_json_text(row, "end", ends[script->end]);
    return row;
}

static struct json_object *hwsq_json(const struct cps_rom_hwsq *script)
{
    struct json_object *row = json_object_new_object();
    cps_json_text(row, "origin", script->written ? "written" : "table");
    cps_json_uint(row, "number", script->number);
    cps_json_uint(row, "offset", script->offset);
    cps_json_uint(row, "end", script->end);
    cps_json_uint(row, "size", script->code.size);
    cps_json_uint(row, "register", script->address);
    if (script->has_entry)
        cps_json_uint(row, "entry_point", script->entry);
    return row;
}

static void notes_json(const struct cps_rom *rom, struct json_object *to)
{
    struct json_object *notes = cps_json_new_array(to, "notes");
    const char *at = cps_buf_text(&rom->notes);
    for (size_t length; *at; at += length + 1) {
        length = strcspn(at, "\n");
        cps_json_append(notes, json_object_new_string_len(at, (int)length));
    }
}

static void print_json(const struct cps_rom *rom, struct json_object *to)
{
    CPS_BUF version = {0};
    struct json_object *list = NULL;
    put_version(rom, &version);
    cps_json_text(to, "kind", "vbios");
    if (rom->has_version)
        cps_json_buf(to, "version", &version);
    cps_json_text(to, "chip", rom->chip ? rom->chip->name : NULL);
    if (cps_rom_gen_(rom))
        cps_json_text(to, "hwsq", cps_gen_row(cps_rom_gen_(rom))->word);
    cps_json_text(to, "table", kinds[rom->kind]);
    if (rom->kind != CPS_ROM_BARE) {
        cps_json_uint(to, "table_offset", rom->table);
        cps_json_uint(to, "table_version", rom->table_version);
    }
    list = cps_json_new_array(to, "images");
    for (unsigned i = 0; i < rom->image_count; i++)
        cps_json_append(list, image_json(&rom->image[i]));
    list = cps_json_new_array(to, "entries");
    for (size_t i = 0; i < rom->entry_count; i++)
        cps_json_append(list, entry_json(&rom->entry[i]));
    list = cps_json_new_array(to, "init_scripts");
    for (size_t i = 0; i < rom->script_count; i++)
        cps_json_append(list, script_json(rom, i));
    list = cps_json_new_array(to, "hwsq_scripts");
    for (size_t i = 0; i < rom->hwsq_count; i++)
        cps_json_append(list, hwsq_json(&rom->hwsq[i]));
    notes_json(rom, to);
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

struct cps_err *info_rom(struct cps_stream *stream, struct json_object *json)
{
    CPS_CLEANUP(cps_rom_deinit_) struct cps_rom rom = {0};
    CPS_FREE uint8_t *bytes = NULL;
    size_t size = 0;
    CPS_TRY(cps_stream_read_all(stream, CPS_ROM_MAX_BYTES, &bytes, &size));
    CPS_TRY(cps_rom_parse_(cps_stream_name(stream), bytes, size, &rom));
    if (json)
        print_json(&rom, json);
    else
        print_text(&rom);
    return NULL;
}

struct cps_err *info_rom_listing(struct cps_stream *stream, unsigned gen, const char *rnn_dir,
                                 struct cps_buf *out)
{
    CPS_CLEANUP(cps_rom_deinit_) struct cps_rom rom = {0};
    CPS_FREE uint8_t *bytes = NULL;
    size_t size = 0;
    CPS_TRY(cps_stream_read_all(stream, CPS_ROM_MAX_BYTES, &bytes, &size));
    CPS_TRY(cps_rom_parse_(cps_stream_name(stream), bytes, size, &rom));
    gen = gen ? gen : (unsigned)cps_rom_gen_(&rom);
    if (!gen)
        return cps_err_new(CPS_ERR_INPUT,
                           "%s: %s has no HWSQ, or is not known; expected --engine hwsq and --chip",
                           rom.name, rom.chip ? rom.chip->name : "the chip of this VBIOS");
    return cps_rom_listing_(&rom, (enum cps_gen)gen, rnn_dir, out);
}
