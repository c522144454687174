/* SPDX-License-Identifier: MIT
 * The summary of a run without firmware: what a script, or a host, did. */
#include "tools/report/script_summary.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>

#include "tools/info/info.h"

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

static const char *stop_word(const struct play *p)
{
    return cps_event_sub_word(CPS_EV_END, cps_stop_reason(p->stop));
}

/* Of more registers than these, only those that are not 0 are listed. */
#define FEW 16u

static void print_text(const struct play *p)
{
    CPS_BUF why = {0};
    const struct cps_engine *e = p->engine;
    for (unsigned i = 0; i < CPS_UNKNOWN_COUNT; i++) {
        if (p->unknown[i])
            fprintf(stderr, "unknown: %s x%" PRIu64 "\n", unknown_word(i), p->unknown[i]);
    }
    for (size_t i = 0; i < e->ops->regs; i++) {
        if (e->ops->regs <= FEW || scalar(p, i))
            fprintf(stderr, "%s%s=0x%" PRIx64, i ? " " : "", e->ops->reg[i].name, scalar(p, i));
    }
    fprintf(stderr,
            cps_isa_has_code(e->ops->isa)
                ? "\n%" PRIu64 " starts, %" PRIu64 " instructions, %" PRIu64 " ticks, %" PRIu64
                  " register writes, %" PRIu64 " register reads\n"
                : "\n%" PRIu64 " commands into CACHE1, %" PRIu64 " taken, %" PRIu64
                  " ticks, %" PRIu64 " register writes, %" PRIu64 " register reads\n",
            e->packets, e->instructions, time_of(p), e->tap.count[CPS_EV_REG],
            e->tap.count[CPS_EV_REGR]);
    fputs(cps_buf_text(&p->missed), stderr);
    cps_engine_explain(e, p->stop, &why);
    fprintf(stderr, "ended: %s%s%s\n", stop_word(p), why.size ? " " : "", cps_buf_text(&why));
}

static struct json_object *json_unknown(const struct play *p)
{
    struct json_object *list = json_object_new_object();
    for (unsigned i = 0; i < CPS_UNKNOWN_COUNT; i++) {
        if (p->unknown[i])
            info_add_int(list, unknown_word(i), p->unknown[i]);
    }
    return list;
}

static void print_json(const struct play *p)
{
    CPS_BUF why = {0};
    const struct cps_engine *e = p->engine;
    struct json_object *root = json_object_new_object();
    struct json_object *regs = json_object_new_object();
    for (size_t i = 0; i < e->ops->regs; i++)
        info_add_int(regs, e->ops->reg[i].name, scalar(p, i));
    json_object_object_add(root, "engine", json_object_new_string(e->ops->name));
    json_object_object_add(root, "chip", json_object_new_string(cps_gen_name(p->gen)));
    info_add_int(root, "starts", e->packets);
    info_add_int(root, "instructions", e->instructions);
    info_add_int(root, "ticks", time_of(p));
    info_add_int(root, "register_writes", e->tap.count[CPS_EV_REG]);
    info_add_int(root, "register_reads", e->tap.count[CPS_EV_REGR]);
    json_object_object_add(root, "registers", regs);
    json_object_object_add(root, "unknown", json_unknown(p));
    info_add_int(root, "misses", p->misses);
    json_object_object_add(root, "missed", json_object_new_string(cps_buf_text(&p->missed)));
    json_object_object_add(root, "end", json_object_new_string(stop_word(p)));
    cps_engine_explain(e, p->stop, &why);
    if (why.size)
        json_object_object_add(root, "why", json_object_new_string(cps_buf_text(&why)));
    puts(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY));
    json_object_put(root);
}

void script_summary(const struct play *play, bool json)
{
    if (json)
        print_json(play);
    else
        print_text(play);
}
