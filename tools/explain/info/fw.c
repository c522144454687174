/* SPDX-License-Identifier: MIT
 * cpscope info for firmware. */
#include <inttypes.h>
#include <stdio.h>

#include "tools/cmd/options/file_part.h"
#include "tools/explain/info/info.h"
#include "trace/out/json.h"

static void table_text(const struct cps_fw *fw, const struct cps_fw_part *part,
                       const struct cps_names *names)
{
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE && part->table != CPS_FW_NONE; id++) {
        char scratch[INFO_NAME_SIZE];
        printf("    0x%02x 0x%04" PRIx32 " %s\n", id, cps_fw_handler(fw, part, id),
               info_packet_name(names, id, scratch));
    }
}

static struct json_object *table_json(const struct cps_fw *fw, const struct cps_fw_part *part,
                                      const struct cps_names *names)
{
    struct json_object *table = json_object_new_array();
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE && part->table != CPS_FW_NONE; id++) {
        char scratch[INFO_NAME_SIZE];
        struct json_object *row = json_object_new_object();
        cps_json_uint(row, "id", id);
        cps_json_uint(row, "handler", cps_fw_handler(fw, part, id));
        cps_json_text(row, "name", info_packet_name(names, id, scratch));
        cps_json_append(table, row);
    }
    return table;
}

static void print_text(const struct cps_fw *fw, const struct cps_names *names)
{
    const struct cps_target *target = cps_target_find(fw->id);
    info_name(fw->name);
    printf(": firmware\n");
    printf("  id          0x%03" PRIx32 " (%s)\n", fw->id, target ? target->name : "unknown");
    printf("  generation  %s\n", cps_gen_name(fw->gen));
    printf("  version     0x%03" PRIx32 "\n", fw->version);
    printf("  size        %" PRIu32 " dwords\n", fw->count);
    if (fw->assumed)
        printf("  assumed     %s\n", fw->assumed);
    if (fw->incomplete)
        printf("  warning     %s\n", fw->incomplete);
    for (unsigned i = 0; i < fw->part_count; i++) {
        const struct cps_fw_part *part = &fw->part[i];
        printf("  processor   %s: dwords 0x%04" PRIx32 " to 0x%04" PRIx32,
               cps_fw_role_name(part->role), part->start, part->start + part->size);
        if (part->table == CPS_FW_NONE)
            printf(", no packet table found\n");
        else
            printf(", packet table at 0x%04" PRIx32 "\n", part->table);
        table_text(fw, part, names);
    }
}

static void print_json(const struct cps_fw *fw, const struct cps_names *names,
                       struct json_object *json)
{
    struct json_object *parts = json_object_new_array();
    cps_json_text(json, "kind", "firmware");
    cps_json_uint(json, "id", fw->id);
    cps_json_text(json, "generation", cps_gen_name(fw->gen));
    cps_json_uint(json, "version", fw->version);
    cps_json_uint(json, "dwords", fw->count);
    if (fw->assumed)
        cps_json_text(json, "assumed", fw->assumed);
    if (fw->incomplete)
        cps_json_text(json, "incomplete", fw->incomplete);
    for (unsigned i = 0; i < fw->part_count; i++) {
        const struct cps_fw_part *part = &fw->part[i];
        struct json_object *row = json_object_new_object();
        cps_json_text(row, "name", cps_fw_role_name(part->role));
        cps_json_uint(row, "start", part->start);
        cps_json_uint(row, "size", part->size);
        if (part->table != CPS_FW_NONE)
            cps_json_uint(row, "table", part->table);
        cps_json_add(row, "packet_table", table_json(fw, part, names));
        cps_json_append(parts, row);
    }
    cps_json_add(json, "processors", parts);
}

struct cps_err *info_read_firmware(struct cps_stream *stream, unsigned gen, struct cps_fw **ret)
{
    CPS_FREE uint8_t *bytes = NULL;
    size_t size = 0;
    CPS_TRY(cps_stream_read_all(stream, CPS_FW_MAX_BYTES, &bytes, &size));
    return cps_fw_parse(cps_stream_name(stream), bytes, size, gen, ret);
}

/* Consumes @p fw. */
static struct cps_err *print(struct cps_fw *fw, struct json_object *json)
{
    struct cps_names *names = NULL;
    struct cps_err *err = cps_names_create(fw->layout, NULL, &names);
    if (!err && json)
        print_json(fw, names, json);
    else if (!err)
        print_text(fw, names);
    cps_names_destroy(names);
    cps_fw_destroy(fw);
    return err;
}

struct cps_err *info_firmware(struct cps_stream *stream, unsigned gen, struct json_object *json)
{
    struct cps_fw *fw = NULL;
    CPS_TRY(info_read_firmware(stream, gen, &fw));
    return print(fw, json);
}

struct cps_err *info_read_part(const struct cps_options *opt, const char *path, struct cps_fw **ret)
{
    CPS_CLEANUP(file_part_deinit) struct file_part part = {0};
    CPS_TRY(file_part_read(opt, path, CPS_FW_MAX_BYTES, &part));
    return cps_fw_parse(cps_buf_text(&part.name), part.bytes, part.size, opt->gen, ret);
}

struct cps_err *info_part(const struct cps_options *opt, const char *path, struct json_object *json)
{
    struct cps_fw *fw = NULL;
    CPS_TRY(info_read_part(opt, path, &fw));
    return print(fw, json);
}
