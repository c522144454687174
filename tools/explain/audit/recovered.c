/* SPDX-License-Identifier: MIT
 * The firmware that ran when a hardware dump was taken: as much of it as the dump holds, and the
 * nearest image for the rest. A case says something of what ran as far as the words that it
 * executes are the dump's own. */
#include <inttypes.h>
#include <stdlib.h>

#include "fw/image/walk.h"
#include "isa/base/cleanup.h"
#include "isa/base/shown.h"
#include "tools/explain/audit/audit.h"
#include "tools/explain/audit/verdict.h"
#include "tools/run/code.h"
#include "trace/out/json.h"

#define MOST_NODES 65536u /* of a handler */

/* Nobody can be asked. */
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

static struct cps_err *count_handlers(struct audit_file *dump, const struct cps_fw *fw,
                                      struct json_object *to)
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
    cps_json_uint(to, "handlers", handlers);
    cps_json_uint(to, "whole", whole);
    return err;
}

static struct cps_err *describe(struct audit_file *dump, const struct cps_fw *fw,
                                const struct audit_file *donor)
{
    struct json_object *to = cps_json_new_object(dump->row, "recovered");
    cps_json_text(to, "from", donor->path);
    cps_json_uint(to, "hardware", code_words(dump->code, CPS_FW_HARDWARE));
    cps_json_uint(to, "donor", code_words(dump->code, CPS_FW_DONOR));
    cps_json_uint(to, "unknown", code_words(dump->code, CPS_FW_UNKNOWN));
    return count_handlers(dump, fw, to);
}

/* Words that the last run executed, and those of them that are the dump's. */
static void count_executed(const struct probe *probe, const struct code *code, uint32_t *ran,
                           uint32_t *own)
{
    *ran = *own = 0;
    for (uint32_t at = 0; at < probe->covers; at++) {
        *ran += probe->cover[at].run != 0;
        *own += probe->cover[at].run && is_own(code, at);
    }
}

/* That a packet has no handler says the packet table, which the dump has. */
static enum verdict limit(const struct probe *probe, const struct audit_file *dump,
                          const struct audit_file *donor, enum verdict verdict, struct cps_buf *why)
{
    uint32_t ran = 0, own = 0;
    if (verdict == VERDICT_NOT_ABOUT)
        return verdict;
    count_executed(probe, dump->code, &ran, &own);
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
        cps_buf_printf(why, ", %s", cps_buf_text(&was));
    return VERDICT_UNDECIDED;
}

static struct cps_err *try_cases(const struct audit *audit, struct audit_file *dump,
                                 const struct audit_file *donor, struct probe *probe)
{
    struct json_object *rows = cps_json_new_array(dump->row, "flaws");
    for (size_t i = 0; i < audit->cases.count; i++) {
        const struct audit_case *c = &audit->cases.item[i];
        CPS_BUF why = {0};
        enum verdict verdict = VERDICT_UNDECIDED;
        CPS_TRY(verdict_of(c, probe->play->fw, probe, &verdict, &why));
        verdict = limit(probe, dump, donor, verdict, &why);
        if (why.failed)
            return cps_err_nomem();
        audit_add_flaw(dump, rows, c, verdict, cps_buf_text(&why));
    }
    return NULL;
}

static struct cps_err *ask(const struct audit *audit, struct audit_file *dump,
                           const struct audit_file *donor, struct cps_fw *fw)
{
    struct probe probe = {.play = NULL};
    struct cps_err *err = describe(dump, fw, donor);
    if (err) {
        cps_fw_destroy(fw);
        return err;
    }
    err = probe_open_image(&probe, audit->opt, fw);
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
    const struct audit_file *donor = audit_dump_nearest(audit, dump);
    if (!donor)
        return leave_open(dump,
                          "the dump does not hold all of its firmware, and no image among the "
                          "files is near it: --known DIR");
    struct cps_err *err = cps_fw_recover_(&dump->code->cache, donor->image->fw, &fw);
    if (!err)
        err = ask(audit, dump, donor, fw);
    if (!err || err->code == CPS_ERR_NOMEM || err->code == CPS_ERR_OS)
        return err;
    leave_open(dump, err->message);
    cps_err_free(err);
    return NULL;
}
