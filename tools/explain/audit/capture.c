/* SPDX-License-Identifier: MIT
 * Captures and hardware dumps: for which GPU they are, which packets they hold, and which firmware
 * ran when a dump was taken. */
#include <stdlib.h>

#include "isa/base/within.h"
#include "tools/explain/audit/audit.h"
#include "tools/explain/info/info.h"
#include "tools/run/code.h"
#include "trace/out/json.h"

/* `info` knows it all, and more than a table has room for. */
struct cps_err *audit_capture(struct cps_stream *stream, const char *format,
                              struct json_object *row)
{
    struct json_object *all = json_object_new_object();
    struct cps_err *err = all ? info_capture(stream, format, all) : cps_err_nomem();
    if (!err && !cps_json_complete(all))
        err = cps_err_nomem();
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

enum { LINE = 8 }; /* words of a line of the instruction cache */

struct lines {
    uint32_t all, found; /* lines; those that the image has, wherever they stand */
    bool same;           /* all words stand where the image has them */
};

static struct lines find_lines(const struct cps_fw_icache *cache, const struct cps_fw *fw)
{
    const struct cps_fw_part *part = &fw->part[0];
    struct lines lines = {.same = true};
    for (uint32_t at = 0; at < cache->count; at++) {
        uint32_t where = 0;
        if (cache->mark[at] != CPS_FW_HARDWARE)
            continue;
        lines.same &= at < part->size && fw->words[part->start + at] == cache->word[at];
        if (at % LINE)
            continue;
        lines.all++;
        lines.found += cps_fw_icache_locate_(cache, fw, at, &where);
    }
    return lines;
}

const struct audit_file *audit_dump_nearest(const struct audit *audit,
                                            const struct audit_file *dump)
{
    const struct audit_file *best = NULL;
    struct lines most = {0, 0, false};
    for (size_t i = 0; i < audit->files; i++) {
        const struct identity *image = audit->file[i].image;
        if (!image || image->fw->gen != CPS_A6XX)
            continue;
        struct lines lines = find_lines(&dump->code->cache, image->fw);
        if (lines.found <= most.found && (most.same || !lines.same))
            continue;
        most = lines;
        best = &audit->file[i];
    }
    if (!best)
        return NULL;
    struct json_object *to = cps_json_new_object(dump->row, "nearest");
    cps_json_text(to, "name", best->path);
    cps_json_uint(to, "equal", most.found);
    cps_json_uint(to, "of", most.all);
    cps_json_bool(to, "same_contents", most.same);
    return best;
}
