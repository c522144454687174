/* SPDX-License-Identifier: MIT
 * cpscope info for firmware. */
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>

#include "tools/info/info.h"

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
        info_add_int(row, "id", id);
        info_add_int(row, "handler", cps_fw_handler(fw, part, id));
        json_object_object_add(row, "name",
                               json_object_new_string(info_packet_name(names, id, scratch)));
        json_object_array_add(table, row);
    }
    return table;
}

static void print_text(const struct cps_fw *fw, const struct cps_names *names)
{
    const struct cps_target *target = cps_target_find(fw->id);
    printf("%s: firmware\n", fw->name);
    printf("  id          0x%03" PRIx32 " (%s)\n", fw->id, target ? target->name : "unknown");
    printf("  generation  %s\n", cps_gen_name(fw->gen));
    printf("  version     0x%03" PRIx32 "\n", fw->version);
    printf("  size        %" PRIu32 " dwords\n", fw->count);
    if (fw->assumed)
        printf("  assumed     %s\n", fw->assumed);
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
    json_object_object_add(json, "kind", json_object_new_string("firmware"));
    info_add_int(json, "id", fw->id);
    json_object_object_add(json, "generation", json_object_new_string(cps_gen_name(fw->gen)));
    info_add_int(json, "version", fw->version);
    info_add_int(json, "dwords", fw->count);
    if (fw->assumed)
        json_object_object_add(json, "assumed", json_object_new_string(fw->assumed));
    for (unsigned i = 0; i < fw->part_count; i++) {
        const struct cps_fw_part *part = &fw->part[i];
        struct json_object *row = json_object_new_object();
        json_object_object_add(row, "name", json_object_new_string(cps_fw_role_name(part->role)));
        info_add_int(row, "start", part->start);
        info_add_int(row, "size", part->size);
        if (part->table != CPS_FW_NONE)
            info_add_int(row, "table", part->table);
        json_object_object_add(row, "packet_table", table_json(fw, part, names));
        json_object_array_add(parts, row);
    }
    json_object_object_add(json, "processors", parts);
}

struct cps_err *info_read_firmware(struct cps_stream *stream, unsigned gen, struct cps_fw **ret)
{
    CPS_FREE uint8_t *bytes = NULL;
    size_t size = 0;
    CPS_TRY(cps_stream_read_all(stream, CPS_FW_MAX_BYTES, &bytes, &size));
    return cps_fw_parse(cps_stream_name(stream), bytes, size, gen, ret);
}

struct cps_err *info_firmware(struct cps_stream *stream, unsigned gen, struct json_object *json)
{
    struct cps_fw *fw = NULL;
    struct cps_names *names = NULL;
    CPS_TRY(info_read_firmware(stream, gen, &fw));
    struct cps_err *err = cps_names_create(fw->layout, NULL, &names);
    if (!err && json)
        print_json(fw, names, json);
    else if (!err)
        print_text(fw, names);
    cps_names_destroy(names);
    cps_fw_destroy(fw);
    return err;
}
