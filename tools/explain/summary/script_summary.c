/* SPDX-License-Identifier: MIT
 * The summary of a run without firmware: what a script, or a host, did. */
#include "tools/explain/summary/script_summary.h"

#include <inttypes.h>
#include <stdio.h>

#include "trace/out/json.h"
#include "tools/cmd/terminal/report.h"

static uint64_t scalar(const struct play *p, size_t index)
{
    uint64_t value = 0;
    cps_engine_get(p->engine, (struct cps_place){0, CPS_FILE_SCALAR, index}, &value);
    return value;
}

/* Ticks of the engine's own time. */
static uint64_t time_of(const struct play *p)
{
    return p->engine->time;
}

static const char *unknown_word(unsigned number)
{
    const struct cps_event event = cps_event_make(CPS_EV_ASSUME, CPS_WHAT_UNKNOWN, 0, 0, number, 0);
    return cps_event_unknown(&event);
}

/* Of more registers than these, only those that are not 0 are listed. */
#define FEW 16u

static struct cps_err *print_text(const struct play *p, const struct play_account *account)
{
    const struct cps_engine *e = p->engine;
    for (unsigned i = 0; i < CPS_UNKNOWN_COUNT; i++) {
        if (p->unknown[i])
            report_aside("unknown: %s x%" PRIu64 "\n", unknown_word(i), p->unknown[i]);
    }
    const char *between = "";
    for (size_t i = 0; i < e->ops->regs; i++) {
        if (e->ops->regs > FEW && !scalar(p, i))
            continue;
        report_aside("%s%s=0x%" PRIx64, between, e->ops->reg[i].name, scalar(p, i));
        between = " ";
    }
    report_aside(cps_isa_has_code(e->ops->isa)
                     ? "\n%" PRIu64 " starts, %" PRIu64 " instructions, %" PRIu64 " ticks, %" PRIu64
                       " register writes, %" PRIu64 " register reads\n"
                     : "\n%" PRIu64 " commands into CACHE1, %" PRIu64 " taken, %" PRIu64
                       " ticks, %" PRIu64 " register writes, %" PRIu64 " register reads\n",
                 e->packets, e->instructions, time_of(p), e->tap.count[CPS_EV_REG],
                 e->tap.count[CPS_EV_REGR]);
    fputs(cps_buf_text(&p->missed), stderr);
    play_account_print_end(account);
    return NULL;
}

static struct json_object *json_unknown(const struct play *p)
{
    struct json_object *list = json_object_new_object();
    for (unsigned i = 0; i < CPS_UNKNOWN_COUNT; i++) {
        if (p->unknown[i])
            cps_json_uint(list, unknown_word(i), p->unknown[i]);
    }
    return list;
}

static struct cps_err *print_json(const struct play *p, const struct play_account *account,
                                  int status)
{
    const struct cps_engine *e = p->engine;
    struct json_object *root = json_object_new_object();
    struct json_object *regs = json_object_new_object();
    for (size_t i = 0; i < e->ops->regs; i++)
        cps_json_uint(regs, e->ops->reg[i].name, scalar(p, i));
    play_account_json(account, root);
    cps_json_uint(root, "status", (uint64_t)status);
    cps_json_text(root, "engine", e->ops->name);
    cps_json_text(root, "chip", cps_gen_name(p->gen));
    cps_json_uint(root, "starts", e->packets);
    cps_json_uint(root, "instructions", e->instructions);
    cps_json_uint(root, "ticks", time_of(p));
    cps_json_uint(root, "register_writes", e->tap.count[CPS_EV_REG]);
    cps_json_uint(root, "register_reads", e->tap.count[CPS_EV_REGR]);
    cps_json_add(root, "registers", regs);
    cps_json_add(root, "unknown", json_unknown(p));
    cps_json_uint(root, "misses", p->misses);
    cps_json_buf(root, "missed", &p->missed);
    return report_json(root);
}

struct cps_err *script_summary(const struct play *play, const struct play_account *account,
                               int status, bool json)
{
    if (json)
        return print_json(play, account, status);
    return print_text(play, account);
}
