/* SPDX-License-Identifier: MIT
 * Captures and hardware dumps: for which GPU they are, which packets they hold, and which firmware
 * ran when a dump was taken. */
#include <stdlib.h>

#include "isa/base/within.h"
#include "tools/audit/audit.h"
#include "tools/info/info.h"
#include "tools/play/code.h"
#include "trace/json.h"

/* `info` knows it all, and more than a table has room for. */
struct cps_err *audit_capture(struct cps_stream *stream, const char *format,
                              struct json_object *row)
{
    struct json_object *all = json_object_new_object();
    struct cps_err *err = all ? info_capture(stream, format, all) : cps_err_nomem();
    cps_json_text(row, "kind", "capture");
    cps_json_text(row, "format", format);
    cps_json_int(row, "gpu_id", cps_json_get_int(all, "gpu_id", 0));
    cps_json_int(row, "chip_id", cps_json_get_int(all, "chip_id", 0));
    cps_json_uint(row, "submits", cps_json_count(cps_json_get(all, "submits")));
    struct json_object *packets = cps_json_get(all, "packets");
    if (packets)
        cps_json_add(row, "packets", json_object_get(packets));
    json_object_put(all);
    return err;
}

static struct cps_err *read_dump(struct cps_stream *stream, struct dump *dump, struct code **code)
{
    struct cps_fw *none = NULL;
    CPS_TRY(dump_read(dump, stream));
    return code_recover(dump, &none, code);
}

struct cps_err *audit_dump(struct cps_stream *stream, struct code **ret, struct json_object *row)
{
    struct dump *dump = calloc(1, sizeof(*dump));
    if (!dump)
        return cps_err_nomem();
    struct cps_err *err = read_dump(stream, dump, ret);
    cps_json_text(row, "kind", "dump");
    cps_json_text(row, "format", dump->format);
    cps_json_uint(row, "gpu_id", dump->gpu);
    if (!err && (*ret)->why.size)
        cps_json_buf(row, "why", &(*ret)->why);
    else if (!err)
        cps_json_uint(row, "version", (*ret)->cache.version >> 20);
    dump_deinit(dump);
    free(dump);
    return err;
}

static uint32_t equal_words(const struct cps_fw_icache *cache, const struct cps_fw *fw)
{
    const struct cps_fw_part *part = &fw->part[0];
    uint32_t equal = 0;
    for (uint32_t at = 0; at < cache->count && at < part->size; at++)
        equal +=
            cache->mark[at] == CPS_FW_HARDWARE && cache->word[at] == fw->words[part->start + at];
    return equal;
}

void audit_dump_nearest(const struct audit *audit, const struct audit_file *dump)
{
    const struct audit_file *best = NULL;
    uint32_t most = 0;
    for (size_t i = 0; i < audit->files; i++) {
        const struct audit_file *other = &audit->file[i];
        uint32_t equal = other->image ? equal_words(&dump->code->cache, other->image->fw) : 0;
        if (equal > most) {
            most = equal;
            best = other;
        }
    }
    if (!best)
        return;
    uint32_t all = code_words(dump->code, CPS_FW_HARDWARE);
    struct json_object *to = cps_json_new_object(dump->row, "nearest");
    cps_json_text(to, "name", best->path);
    cps_json_uint(to, "equal", most);
    cps_json_uint(to, "of", all);
    cps_json_bool(to, "same_contents", most == all);
}
