/* SPDX-License-Identifier: MIT
 * The list of tasks, and the result of one. */
#include "tools/explain/prove/task.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cpscope.h"
#include "fw/image/place.h"
#include "tools/cmd/render/doc.h"
#include "tools/cmd/terminal/oom.h"

const struct prove_handler *prove_handler_of(const struct prove *prove,
                                             const struct prove_task *task)
{
    return &prove->part[task->part].handler[task->handler];
}

void prove_packet_name(const struct prove *prove, unsigned part, unsigned id, char ret[48])
{
    enum cps_processor who = cps_role_processor(prove->part[part].code.side[0].part->role, 0);
    const char *name =
        id < PROVE_BOOTSTRAP ? cps_name(prove->stage.names[who], CPS_SPACE_PACKET, id, NULL) : NULL;
    if (id == PROVE_BOOTSTRAP)
        snprintf(ret, 48, "bootstrap");
    else if (name)
        snprintf(ret, 48, "%.47s", name);
    else
        snprintf(ret, 48, "UNKN%u", id);
}

/* Of the packets that share a handler, the one that it is called by. */
static unsigned best_packet(const struct prove *prove, unsigned part, const struct prove_handler *h)
{
    enum cps_processor who = cps_role_processor(prove->part[part].code.side[0].part->role, 0);
    uint32_t table[CPS_FW_TABLE_SIZE] = {0};
    for (unsigned i = 0; i < h->ids && !prove_is_bootstrap(h); i++)
        table[h->id[i]] = 1;
    int best = cps_fw_packet_at_(table, prove->stage.names[who], 1, CPS_FW_NO_PACKET);
    return best < 0 ? h->id[0] : (unsigned)best;
}

static bool is_error_handler(const struct prove *prove, unsigned part,
                             const struct prove_handler *h)
{
    const struct code_side *side = prove->part[part].code.side;
    return !prove_is_bootstrap(h) && cps_fw_is_error_handler_(side[0].table, h->pc[0]) &&
           cps_fw_is_error_handler_(side[1].table, h->pc[1]);
}

/* ---- Which ---- */

/* An argument: a packet's name, its number, or "PROCESSOR:" and either. */
static bool names_handler(const struct prove *prove, unsigned part, const struct prove_handler *h,
                          const char *text)
{
    const char *role = cps_fw_role_name(prove->part[part].code.side[0].part->role);
    const char *colon = strchr(text, ':');
    char *end = NULL;
    if (colon && (strlen(role) != (size_t)(colon - text) ||
                  strncasecmp(role, text, (size_t)(colon - text)) != 0))
        return false;
    text = colon ? colon + 1 : text;
    unsigned long number = strtoul(text, &end, 0);
    bool is_number = isdigit((unsigned char)*text) && !*end;
    if (!strcmp(text, CPS_FW_ERROR_HANDLER) && is_error_handler(prove, part, h))
        return true;
    for (unsigned i = 0; i < h->ids; i++) {
        char name[48];
        prove_packet_name(prove, part, h->id[i], name);
        if (is_number ? number < PROVE_BOOTSTRAP && number == h->id[i] : !strcasecmp(name, text))
            return true;
    }
    return false;
}

static bool is_wanted(const struct prove *prove, unsigned part, const struct prove_handler *h,
                      uint64_t *used)
{
    bool wanted = !prove->names;
    for (unsigned i = 0; i < prove->names; i++) {
        if (!names_handler(prove, part, h, prove->name[i]))
            continue;
        wanted = true;
        *used |= UINT64_C(1) << (i & 63);
    }
    return wanted;
}

static struct cps_err *list_tasks(struct prove *prove)
{
    uint64_t used = 0;
    for (unsigned part = 0; part < prove->parts; part++) {
        for (size_t i = 0; i < prove->part[part].handlers; i++) {
            if (!is_wanted(prove, part, &prove->part[part].handler[i], &used))
                continue;
            TOOL_ROOM(prove->task, prove->tasks);
            prove->task[prove->tasks++] = (struct prove_task){.part = part, .handler = i};
        }
    }
    if (!prove->tasks && !prove->names)
        return cps_err_new(CPS_ERR_INPUT,
                           "%s has no packet table: expected firmware with packet handlers",
                           prove->stage.fw[0]->name);
    for (unsigned i = 0; i < prove->names && i < 64; i++) {
        if (!(used >> i & 1))
            return cps_err_new(CPS_ERR_USAGE, "%s: neither revision has a handler of that name",
                               prove->name[i]);
    }
    return NULL;
}

static struct cps_err *check_pair(const struct prove *prove)
{
    const struct cps_fw *a = prove->stage.fw[0];
    const struct cps_fw *b = prove->stage.fw[1];
    if (a->layout != b->layout)
        return cps_err_new(CPS_ERR_INPUT,
                           "%s and %s number their control registers differently: "
                           "there is no state in which both could begin",
                           a->name, b->name);
    for (unsigned i = 0; i < a->part_count || i < b->part_count; i++) {
        if (i < a->part_count && i < b->part_count && a->part[i].role == b->part[i].role)
            continue;
        return cps_err_new(CPS_ERR_INPUT, "%s and %s have images of different processors", a->name,
                           b->name);
    }
    return NULL;
}

/* ---- What comes of one ---- */

static void add_packet(const struct prove *prove, unsigned part, unsigned id,
                       struct json_object *list)
{
    char name[48];
    prove_packet_name(prove, part, id, name);
    cps_json_append(list, json_object_new_string(name));
}

void prove_put_packets(const struct prove *prove, unsigned part, const struct prove_handler *h,
                       struct json_object *result)
{
    struct json_object *packets = cps_json_new_array(result, "packets");
    unsigned best = best_packet(prove, part, h);
    add_packet(prove, part, best, packets);
    for (unsigned i = 0; i < h->ids; i++) {
        if (h->id[i] != best)
            add_packet(prove, part, h->id[i], packets);
    }
    if (is_error_handler(prove, part, h))
        cps_json_text(result, "name", CPS_FW_ERROR_HANDLER); /* in its place, if it is there */
    else
        json_object_object_del(result, "name");
}

static void put_words(struct json_object *to, const char *key, const uint32_t *word,
                      const uint64_t *address, uint32_t count)
{
    struct json_object *words = cps_json_new_array(to, key);
    for (uint32_t i = 0; i < count && i < WITNESS_MOST; i++)
        cps_json_append(words, json_object_new_int64(word ? word[i] : (int64_t)address[i]));
}

/* Packets whose handlers may read the value that is left; none: no stream shows it. */
static void put_readers(const struct prove *prove, unsigned part, uint64_t left,
                        struct json_object *result)
{
    struct json_object *readers = cps_json_new_array(result, "read_by");
    const struct code_side *side = prove->part[part].code.side;
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++) {
        if ((side[0].reads[id] | side[1].reads[id]) & left)
            add_packet(prove, part, id, readers);
    }
}

/* The state that the solver found, which no stream may be able to show. */
static void put_difference(struct json_object *result, const struct prove_handler *h)
{
    struct json_object *state = cps_json_new_object(result, "state");
    const struct difference *d = &h->difference;
    struct json_object *registers = cps_json_new_object(state, "registers");
    for (unsigned i = 1; i < R_REM; i++) {
        char name[8];
        snprintf(name, sizeof(name), "$%02x", i);
        if (d->r[i])
            cps_json_uint(registers, name, d->r[i]);
    }
    put_words(state, "packet_words", d->data, NULL, d->data_count);
    put_words(state, "control_reads", d->control, NULL, d->control_count);
    put_words(state, "control_numbers", d->control_at, NULL, d->control_count);
    put_words(state, "register_reads", d->regdata, NULL, d->regdata_count);
    put_words(state, "register_numbers", d->regdata_at, NULL, d->regdata_count);
    put_words(state, "memory_reads", d->memdata, NULL, d->memdata_count);
    put_words(state, "memory_addresses", NULL, d->memdata_at, d->memdata_count);
}

static const char *why_not_reached(const struct stage *stage, const struct prove_part *part)
{
    const struct code_side *side = &part->code.side[0];
    if (cps_gen_row(side->fw->gen)->files > 1 && !*stage->partner)
        return "PFP and ME run together only: a third --fw names the other one's file";
    return "no stream that was run brings the processor to this handler";
}

static struct cps_err *put_witness(const struct prove *prove, const struct prove_part *part,
                                   const struct prove_handler *h, struct json_object *result)
{
    struct witness witness;
    struct cps_err *err = NULL;
    if (prove_is_bootstrap(h))
        witness_boot(part, &prove->stage, &witness);
    else
        err = witness_find(part, &prove->stage, h, &witness);
    cps_json_bool(result, "reached", witness.tried);
    if (!witness.tried)
        cps_json_text(result, "not_reached", why_not_reached(&prove->stage, part));
    cps_json_bool(result, "confirmed", witness.confirmed);
    if (witness.confirmed) {
        struct json_object *to = cps_json_new_object(result, "witness");
        cps_json_text(to, "place", prove_is_bootstrap(h) ? "the boot" : stage_place(witness.place));
        put_words(to, "packet_words", witness.word, NULL, witness.words);
        doc_put(to,
                "packet_header=%u packet_address=%" PRIu64 " inject?=%s"
                " control_registers_only?=%d difference=%s event=%s",
                witness.mark.header, witness.mark.iova, witness.mark.inject, witness.hidden,
                witness.how, witness.seen);
        cps_json_buf(to, "text", &witness.text);
    }
    cps_buf_deinit(&witness.text);
    return err;
}

struct cps_err *prove_task(const struct prove *prove, const struct prove_task *task,
                           struct json_object **ret)
{
    if (task->result) { /* a verdict that was found before, tried on these images */
        if (prove->runs)
            CPS_TRY(crosscheck_task(prove, task, task->result));
        *ret = json_object_get(tool_json(task->result));
        return NULL;
    }
    const struct prove_part *part = &prove->part[task->part];
    struct prove_handler h = *prove_handler_of(prove, task);
    struct json_object *result = doc_new();
    prove_handler(part, &h);
    cps_json_text(result, "processor", cps_fw_role_name(part->code.side[0].part->role));
    prove_put_packets(prove, task->part, &h, result);
    doc_put(result, "old=%u new=%u verdict=%s", h.pc[0], h.pc[1], verdict_name(h.verdict));
    if (h.verdict == VERDICT_BOUNDED)
        cps_json_uint(result, "bound", h.bound);
    doc_put(result, "handler?=%s why?=%s", h.added ? "added" : h.removed ? "removed" : "", h.why);
    struct cps_err *err = NULL;
    if (h.has_difference)
        put_difference(result, &h);
    if (h.has_difference && h.difference.left)
        put_readers(prove, task->part, h.difference.left, result);
    if (h.verdict >= VERDICT_DIFFERENT)
        err = put_witness(prove, part, &h, result);
    /* What the emulator shows needs no proof. */
    if (!err && cps_json_get_bool(result, "confirmed", false))
        cps_json_text(result, "verdict", verdict_name(VERDICT_DIFFERENT));
    if (!err && prove->runs && crosscheck_applies(result))
        err = crosscheck_task(prove, task, result);
    if (err) {
        json_object_put(result);
        return err;
    }
    *ret = tool_json(result);
    return NULL;
}

struct cps_err *prove_open(struct prove *prove)
{
    CPS_TRY(stage_init(prove->config, &prove->stage));
    CPS_TRY(check_pair(prove));
    prove->parts = prove->stage.fw[0]->part_count;
    for (unsigned i = 0; i < prove->parts; i++)
        CPS_TRY(prove_part_init(prove->stage.fw[0], prove->stage.fw[1], i, &prove->part[i]));
    CPS_TRY(list_tasks(prove));
    return prove_keys(prove);
}

void prove_close(struct prove *prove)
{
    for (size_t i = 0; i < prove->tasks; i++)
        json_object_put(prove->task[i].result);
    for (unsigned i = 0; i < prove->parts; i++)
        prove_part_deinit(&prove->part[i]);
    free(prove->task);
    stage_deinit(&prove->stage);
    *prove = (struct prove){0};
}
