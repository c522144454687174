/* SPDX-License-Identifier: MIT
 * cpscope info for firmware. */
#include "tools/cmd/options/file_part.h"
#include "tools/explain/info/info.h"
#include "tools/cmd/render/doc.h"
#include "trace/out/json.h"

static const char layout[] =
    "{.name:e}: firmware\n"
    "  id          0x{id:03x} ({.target})\n"
    "  generation  {generation}\n"
    "  version     0x{version:03x}\n"
    "  size        {dwords} dwords\n"
    "{assumed?  assumed     {assumed}\n}"
    "{incomplete?  warning     {incomplete}\n}"
    "{processors*  processor   {name}: dwords 0x{start:04x} to 0x{.end:04x}"
    "{table?, packet table at 0x{table:04x}}{table!, no packet table found}\n"
    "{packet_table*    0x{id:02x} 0x{handler:04x} {name}\n}}";

static void put_processor(const struct cps_fw *fw, const struct cps_fw_part *part,
                          const struct cps_names *names, struct json_object *list)
{
    struct json_object *row =
        doc_row(list, "name=%s start=%u .end=%u size=%u", cps_fw_role_name(part->role), part->start,
                part->start + part->size, part->size);
    if (part->table != CPS_FW_NONE)
        doc_put(row, "table=%u", part->table);
    struct json_object *table = cps_json_new_array(row, "packet_table");
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE && part->table != CPS_FW_NONE; id++) {
        char scratch[INFO_NAME_SIZE];
        doc_row(table, "id=%u handler=%u name=%s", id, cps_fw_handler(fw, part, id),
                info_packet_name(names, id, scratch));
    }
}

/* Consumes @p fw. */
static struct cps_err *describe(struct cps_fw *fw, struct json_object *to)
{
    struct cps_names *names = NULL;
    const struct cps_target *target = cps_target_find(fw->id);
    struct cps_err *err = cps_names_create(fw->layout, NULL, &names);
    doc_put(to,
            ".layout=%s .name=%s kind=firmware id=%u .target=%s generation=%s version=%u dwords=%u "
            "assumed=%s incomplete=%s",
            err ? "" : layout, fw->name, fw->id, target ? target->name : "unknown",
            cps_gen_name(fw->gen), fw->version, fw->count, fw->assumed, fw->incomplete);
    struct json_object *processors = cps_json_new_array(to, "processors");
    for (unsigned i = 0; i < fw->part_count && !err; i++)
        put_processor(fw, &fw->part[i], names, processors);
    cps_names_destroy(names);
    cps_fw_destroy(fw);
    return err;
}

struct cps_err *info_read_firmware(struct cps_stream *stream, unsigned gen, struct cps_fw **ret)
{
    CPS_FREE uint8_t *bytes = NULL;
    size_t size = 0;
    CPS_TRY(cps_stream_read_all(stream, CPS_FW_MAX_BYTES, &bytes, &size));
    return cps_fw_parse(cps_stream_name(stream), bytes, size, gen, ret);
}

struct cps_err *info_firmware(struct cps_stream *stream, unsigned gen, struct json_object *to)
{
    struct cps_fw *fw = NULL;
    CPS_TRY(info_read_firmware(stream, gen, &fw));
    return describe(fw, to);
}

struct cps_err *info_read_part(const struct cps_options *opt, const char *path, struct cps_fw **ret)
{
    CPS_CLEANUP(file_part_deinit) struct file_part part = {0};
    CPS_TRY(file_part_read(opt, path, CPS_FW_MAX_BYTES, &part));
    return cps_fw_parse(cps_buf_text(&part.name), part.bytes, part.size, opt->run.gen, ret);
}

struct cps_err *info_part(const struct cps_options *opt, const char *path, struct json_object *to)
{
    struct cps_fw *fw = NULL;
    CPS_TRY(info_read_part(opt, path, &fw));
    return describe(fw, to);
}
