/* SPDX-License-Identifier: MIT
 * Images, by their contents. */
#include "tools/explain/audit/audit.h"

#include <string.h>

#include "fw/image/icache.h"
#include "trace/capture/stream.h"

static void own_handlers(const struct cps_fw *fw, unsigned part, bool *ret)
{
    uint32_t table[CPS_FW_TABLE_SIZE];
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++)
        table[id] = cps_fw_handler(fw, &fw->part[part], id);
    cps_fw_own_handlers_(table, ret);
}

struct cps_err *identity_load(const char *path, unsigned gen, struct identity *ret)
{
    memset(ret, 0, sizeof(*ret));
    CPS_TRY(cps_fw_load(path, gen, &ret->fw));
    CPS_TRY(cps_sha256_file(path, ret->sha256));
    for (unsigned i = 0; i < ret->fw->part_count; i++) {
        own_handlers(ret->fw, i, ret->own[i]);
        CPS_TRY(cps_fw_handler_hashes(ret->fw, &ret->fw->part[i], ret->hash[i]));
    }
    return NULL;
}

static unsigned count_handlers(const struct identity *a, unsigned part, bool open)
{
    unsigned count = 0;
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++)
        count += a->own[part][id] && (!open || a->hash[part][id].open);
    return count;
}

unsigned identity_handlers(const struct identity *a)
{
    unsigned count = 0;
    for (unsigned i = 0; i < a->fw->part_count; i++)
        count += count_handlers(a, i, false);
    return count;
}

unsigned identity_equal(const struct identity *a, const struct identity *b)
{
    unsigned count = 0;
    for (unsigned i = 0; i < a->fw->part_count; i++) {
        for (unsigned k = 0; k < b->fw->part_count; k++) {
            bool same_role = a->fw->part[i].role == b->fw->part[k].role;
            for (unsigned id = 0; same_role && id < CPS_FW_TABLE_SIZE; id++)
                count += a->own[i][id] && cps_fw_hash_same(&a->hash[i][id], &b->hash[k][id]);
        }
    }
    return count;
}

void identity_json(const struct identity *a, struct json_object *to)
{
    const struct cps_target *target = cps_target_find(a->fw->id);
    cps_json_uint(to, "id", a->fw->id);
    cps_json_text(to, "chip", target ? target->name : NULL);
    cps_json_text(to, "generation", cps_gen_name(a->fw->gen));
    cps_json_uint(to, "version", a->fw->version);
    cps_json_text(to, "sha256", a->sha256);
    cps_json_uint(to, "dwords", a->fw->count);
    cps_json_text(to, "assumed", a->fw->assumed);
    cps_json_uint(to, "handlers", identity_handlers(a));
    struct json_object *parts = cps_json_new_array(to, "processors");
    for (unsigned i = 0; i < a->fw->part_count; i++) {
        struct json_object *part = json_object_new_object();
        cps_json_text(part, "name", cps_fw_role_name(a->fw->part[i].role));
        cps_json_uint(part, "handlers", count_handlers(a, i, false));
        cps_json_uint(part, "open", count_handlers(a, i, true));
        cps_json_append(parts, part);
    }
}

bool identity_handles(const struct cps_fw *fw, const struct cps_names *names, const char *name,
                      size_t length)
{
    bool own[CPS_FW_TABLE_SIZE];
    uint32_t id = 0;
    own_handlers(fw, 0, own);
    return cps_name_number(names, CPS_SPACE_PACKET, name, length, &id) && id < CPS_FW_TABLE_SIZE &&
           own[id];
}
