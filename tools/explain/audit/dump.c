/* SPDX-License-Identifier: MIT
 * Captures and hardware dumps: for which GPU they are, which packets they hold, and which firmware
 * ran when a dump was taken: as much of it as the dump holds, and the nearest image for the rest. A
 * verdict holds for the firmware that ran if all words that the case executes are the dump's own.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "fw/image/walk.h"
#include "isa/base/shown.h"
#include "isa/base/within.h"
#include "tools/explain/audit/audit.h"
#include "tools/explain/info/info.h"
#include "tools/run/code.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/cmd/render/doc.h"

#define MOST_NODES 65536u /* of a handler */

/* Adds which GPU it is of: older ones have a number, newer ones the chip's id. */
static void put_gpu(struct json_object *row, uint64_t gpu, uint64_t chip)
{
    CPS_BUF text = {0};
    if (gpu && gpu < 1000)
        cps_buf_printf(&text, "gpu %" PRIu64, gpu);
    else if (gpu || chip)
        cps_buf_printf(&text, "chip 0x%08" PRIx64, gpu ? gpu : chip);
    else
        cps_buf_str(&text, "no chip that it names");
    cps_json_buf(row, ".for", &text);
}

/* `info` knows it all, and more than a table has room for. */
struct cps_err *audit_capture(struct cps_stream *stream, const char *format,
                              struct json_object *row)
{
    struct json_object *all = doc_new();
    struct cps_err *err = info_capture(stream, format, false, all);
    struct json_object *packets = cps_json_get(all, "packets");
    uint64_t gpu = (uint64_t)cps_json_get_int(all, "gpu_id", 0);
    uint64_t chip = (uint64_t)cps_json_get_int(all, "chip_id", 0);
    doc_put(row,
            "kind=capture format=%s .title=%s gpu_id=%" PRIu64 " chip_id=%" PRIu64
            " submits=%" PRIu64,
            format, err ? NULL : format, gpu, chip, (uint64_t)cps_json_get_int(all, ".submits", 0));
    put_gpu(row, gpu, chip);
    if (packets)
        cps_json_add(row, "packets", json_object_get(packets));
    json_object_put(all);
    return err;
}

struct cps_err *audit_dump(struct cps_stream *stream, struct code **ret, struct json_object *row)
{
    struct dump *dump = tool_alloc(1, sizeof(*dump));
    struct cps_fw *none = NULL;
    struct cps_err *err = dump_read(dump, stream);
    if (!err)
        err = code_recover(dump, &none, ret);
    doc_put(row, "kind=dump format=%s .title=%s gpu_id=%" PRIu64, dump->format,
            err ? NULL : dump->format, dump->gpu);
    put_gpu(row, dump->gpu, 0);
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

/* The image that has most lines of a dump's instruction cache, wherever they are, or NULL. */
static const struct audit_file *find_nearest(const struct audit *audit, struct audit_file *dump)
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
    if (best)
        audit_put_nearest(dump, best->path, most.found, most.all, most.same);
    return best;
}

/* The questions stay open. */
static struct cps_err *leave_open(struct audit_file *dump, const char *why)
{
    if (!cps_json_get(dump->row, "why"))
        cps_json_text(dump->row, "why", why);
    dump->undecided++;
    return NULL;
}

static bool is_own(const struct code *code, uint32_t at)
{
    return at < code->cache.count && code->cache.mark[at] == CPS_FW_HARDWARE;
}

/* Whether all that a handler can come to is in the dump. */
static struct cps_err *is_whole(struct cps_fw_walk *walk, const struct code *code, uint32_t entry,
                                bool *ret)
{
    cps_fw_walk_clear_(walk);
    CPS_TRY(cps_fw_walk_from_(walk, entry, NULL));
    CPS_TRY(cps_fw_walk_(walk));
    *ret = walk->count > 0;
    for (size_t i = 0; i < walk->count && *ret; i++)
        *ret = is_own(code, walk->node[i].pc);
    return NULL;
}

static struct cps_err *describe(const struct audit_file *dump, const struct cps_fw *fw,
                                const struct audit_file *donor)
{
    struct cps_fw_walk walk;
    struct cps_err *err = NULL;
    bool own[CPS_FW_TABLE_SIZE];
    unsigned handlers = 0, whole = 0;
    cps_fw_own_handlers_(dump->code->cache.table, own);
    cps_fw_walk_init_(fw, &fw->part[0], MOST_NODES, &walk);
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE && !err; id++) {
        bool is = false;
        if (own[id])
            err = is_whole(&walk, dump->code, dump->code->cache.table[id], &is);
        handlers += own[id];
        whole += is;
    }
    cps_fw_walk_deinit_(&walk);
    doc_put(cps_json_new_object(dump->row, "recovered"),
            "from=%s hardware=%u donor=%u unknown=%u handlers=%u whole=%u", donor->path,
            code_words(dump->code, CPS_FW_HARDWARE), code_words(dump->code, CPS_FW_DONOR),
            code_words(dump->code, CPS_FW_UNKNOWN), handlers, whole);
    return err;
}

/* Whether a packet has a handler follows from the packet table, which the dump has. */
static enum verdict limit_verdict(const struct probe *probe, const struct audit_file *dump,
                                  const struct audit_file *donor, enum verdict verdict,
                                  struct cps_buf *why)
{
    uint32_t ran = 0, own = 0;
    if (verdict == VERDICT_NOT_ABOUT)
        return verdict;
    for (uint32_t at = 0; at < probe->covers; at++) {
        ran += probe->cover[at].run != 0;
        own += probe->cover[at].run && is_own(dump->code, at);
    }
    if (own == ran)
        return verdict;
    CPS_BUF was = *why;
    *why = (struct cps_buf){0};
    cps_buf_printf(
        why, "%" PRIu32 " of the %" PRIu32 " words that it executes are the dump's; with those of ",
        own, ran);
    cps_shown_put_(why, donor->path);
    cps_buf_printf(why, ": %s", verdict_word(verdict));
    if (was.size)
        cps_buf_printf(why, ", %s", tool_text(&was));
    return VERDICT_UNDECIDED;
}

static struct cps_err *try_cases(const struct audit *audit, struct audit_file *dump,
                                 const struct audit_file *donor, struct probe *probe)
{
    cps_json_new_array(dump->row, "flaws");
    for (size_t i = 0; i < audit->cases.count; i++) {
        const struct audit_case *c = &audit->cases.item[i];
        CPS_BUF why = {0};
        enum verdict verdict = VERDICT_UNDECIDED;
        CPS_TRY(verdict_of(c, probe->play->fw, probe, &verdict, &why));
        verdict = limit_verdict(probe, dump, donor, verdict, &why);
        audit_add_flaw(dump, c, verdict, tool_text(&why));
    }
    return NULL;
}

static struct cps_err *try_recovered(const struct audit *audit, struct audit_file *dump,
                                     const struct audit_file *donor, struct cps_fw *fw)
{
    struct probe probe = {.play = NULL};
    struct cps_err *err = describe(dump, fw, donor);
    if (err) {
        cps_fw_destroy(fw);
        return err;
    }
    err = probe_open(&probe, audit->config->gen, (const char *[2]){NULL, NULL}, fw);
    if (!err)
        err = try_cases(audit, dump, donor, &probe);
    probe_close(&probe);
    return err;
}

struct cps_err *audit_recovered(const struct audit *audit, struct audit_file *dump)
{
    struct cps_fw *fw = NULL;
    if (dump->code->why.size)
        return leave_open(dump, cps_buf_text(&dump->code->why));
    const struct audit_file *donor = find_nearest(audit, dump);
    if (!donor)
        return leave_open(dump,
                          "the dump does not hold all of its firmware, and no image among the "
                          "files is near it: --known DIR");
    struct cps_err *err = cps_fw_recover_(&dump->code->cache, donor->image->fw, &fw);
    if (!err)
        err = try_recovered(audit, dump, donor, fw);
    if (!err || err->code == CPS_ERR_NOMEM || err->code == CPS_ERR_OS)
        return err;
    leave_open(dump, err->message);
    cps_err_free(err);
    return NULL;
}
